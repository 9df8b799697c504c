/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-input"

#include "config.h"

#include "rpa/input/khadim-rpa-input-private.h"

#include <X11/Xatom.h>
#include <X11/extensions/XTest.h>

#include "rpa/input/khadim-rpa-stop.h"
#include "rpa/screen/khadim-rpa-error.h"

/* KhadimRpaInput: keys and the pointer of a display, through XTEST. Its calls
 * block and run on any thread but the display's; one at a time, which the
 * display's lease sees to. */

G_DEFINE_FINAL_TYPE (KhadimRpaInput, khadim_rpa_input, G_TYPE_OBJECT)

typedef struct
{
  KhadimRpaInput *self;
  KhadimRpaInputJob job;
  gpointer user_data;
  gboolean done;
  GError *error;
} Run;

/* Releases are told only once they have been sent: who dies before still has
 * them done for him. */
static void
publish_held (KhadimRpaInput *self)
{
  KhadimRpaHeld *held = self->guardian.held;

  for (guint i = 0; i < KHADIM_RPA_N_KEYCODES; i++)
    g_atomic_int_set (&held->keys[i], self->keys[i]);
  for (guint i = 0; i < KHADIM_RPA_N_BUTTONS; i++)
    g_atomic_int_set (&held->buttons[i], self->buttons[i]);
}

static void
on_run_in_display (KhadimRpaDisplay *display,
                   gpointer          user_data)
{
  Run *run = user_data;
  Display *x = _khadim_rpa_display_get_x (display);

  run->done = run->job (run->self, x, run->user_data, &run->error);
  if (khadim_rpa_stop_is_set ())
    _khadim_rpa_release_held (run->self, x);
  XFlush (x);
  publish_held (run->self);
}

/* Runs @job on the thread of the display and waits for it. */
gboolean
_khadim_rpa_input_run (KhadimRpaInput     *self,
                       KhadimRpaInputJob   job,
                       gpointer            user_data,
                       GError            **error)
{
  Run run = { .self = self, .job = job, .user_data = user_data };

  if (!khadim_rpa_display_run_sync (self->display, on_run_in_display, &run, error))
    return FALSE;
  if (run.error != NULL)
    g_propagate_error (error, run.error);

  return run.done;
}

/* Setting up --------------------------------------------------------------- */

/* The answer to a ping is the same message, sent to the root (EWMH 1.5,
 * “_NET_WM_PING”). */
static void
on_event_in_display (KhadimRpaDisplay *display,
                     XEvent           *event,
                     gpointer          user_data)
{
  KhadimRpaInput *self = user_data;
  Display *x;

  if (event == NULL)
    {
      _khadim_rpa_waiter_bump (&self->waiter);
      return;
    }
  x = event->xany.display;
  if (event->type != ClientMessage || event->xclient.window != DefaultRootWindow (x) ||
      event->xclient.format != 32 ||
      (Atom) event->xclient.data.l[0] != XInternAtom (x, "_NET_WM_PING", False))
    return;

  g_mutex_lock (&self->lock);
  self->answered_token = (guint32) event->xclient.data.l[1];
  g_mutex_unlock (&self->lock);
  _khadim_rpa_waiter_bump (&self->waiter);
}

static gboolean
set_up_in_display (KhadimRpaInput  *self,
                   Display         *x,
                   gpointer         user_data,
                   GError         **error)
{
  int event, base, major, minor;

  if (!XTestQueryExtension (x, &event, &base, &major, &minor))
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
                           "The display has no XTEST: nothing can be typed or clicked on it");
      return FALSE;
    }
  /* Ours go through also while a program holds the server. */
  XTestGrabControl (x, True);
  _khadim_rpa_spares_recover (x);
  self->owner = XCreateWindow (x, DefaultRootWindow (x), -1, -1, 1, 1, 0, 0, InputOnly,
                               CopyFromParent, 0, NULL);
  g_atomic_int_set (&self->guardian.held->window, (gint) self->owner);
  XSync (x, False);
  /* Qt sends its answers with StructureNotifyMask. */
  _khadim_rpa_display_select (self->display, DefaultRootWindow (x),
                              SubstructureNotifyMask | StructureNotifyMask);
  self->filter = _khadim_rpa_display_add_filter (self->display, on_event_in_display, self);
  self->next_token = (guint32) g_random_int ();

  return TRUE;
}

static gboolean
tear_down_in_display (KhadimRpaInput  *self,
                      Display         *x,
                      gpointer         user_data,
                      GError         **error)
{
  if (self->filter != 0)
    _khadim_rpa_display_remove_filter (self->display, self->filter);
  self->filter = 0;
  _khadim_rpa_release_held (self, x);
  _khadim_rpa_spares_restore (self, x);
  if (self->owner != None)
    XDestroyWindow (x, self->owner);
  XFlush (x);

  return TRUE;
}

static void
khadim_rpa_input_finalize (GObject *object)
{
  KhadimRpaInput *self = KHADIM_RPA_INPUT (object);

  if (self->display != NULL && self->guardian.held != NULL)
    _khadim_rpa_input_run (self, tear_down_in_display, NULL, NULL);
  _khadim_rpa_guardian_clear (&self->guardian);
  g_clear_object (&self->display);
  _khadim_rpa_journal_clear (&self->journal);
  g_hash_table_unref (self->answering);
  _khadim_rpa_waiter_clear (&self->waiter);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (khadim_rpa_input_parent_class)->finalize (object);
}

static void
khadim_rpa_input_class_init (KhadimRpaInputClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_rpa_input_finalize;
}

static void
khadim_rpa_input_init (KhadimRpaInput *self)
{
  g_mutex_init (&self->lock);
  _khadim_rpa_waiter_init (&self->waiter);
  _khadim_rpa_journal_init (&self->journal);
  self->guardian = (KhadimRpaGuardian) { .held_fd = -1, .life_fd = -1 };
  self->answering = g_hash_table_new (NULL, NULL);
}

/**
 * khadim_rpa_input_new:
 * @display: the display
 * @error: (nullable): `KHADIM_RPA_ERROR_UNSUPPORTED` without XTEST or the
 *   program `khadim-rpa-guardian`, `_FAILED`, `_LOST`
 *
 * Makes the hands of a display. Keys that a Khadim which died left bound are
 * put back. A guardian process is started that lets go of what is held when
 * this process is killed. Any thread but the display's.
 *
 * Returns: (transfer full) (nullable): the input
 */
KhadimRpaInput *
khadim_rpa_input_new (KhadimRpaDisplay  *display,
                      GError           **error)
{
  g_autoptr(KhadimRpaInput) self = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_DISPLAY (display), NULL);

  self = g_object_new (KHADIM_RPA_TYPE_INPUT, NULL);
  self->display = g_object_ref (display);
  if (!_khadim_rpa_guardian_init (&self->guardian, error) ||
      !_khadim_rpa_input_run (self, set_up_in_display, NULL, error) ||
      !_khadim_rpa_guardian_start (&self->guardian, khadim_rpa_display_get_name (display), error))
    return NULL;

  return g_steal_pointer (&self);
}

/* Injecting ---------------------------------------------------------------- */

gboolean
_khadim_rpa_set_stopped (GError **error)
{
  g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED,
                       "Stopped by the emergency stop");

  return FALSE;
}

/* Presses are refused once the stop is set; releases never are. */
gboolean
_khadim_rpa_inject_key (KhadimRpaInput *self,
                        Display        *x,
                        KeyCode         code,
                        gboolean        press)
{
  if (press && khadim_rpa_stop_is_set ())
    return FALSE;

  if (press)
    g_atomic_int_set (&self->guardian.held->keys[code], TRUE);
  _khadim_rpa_journal_add (&self->journal,
                           press ? KHADIM_RPA_INJECTED_KEY_PRESS : KHADIM_RPA_INJECTED_KEY_RELEASE,
                           code, 0);
  XTestFakeKeyEvent (x, code, press, CurrentTime);
  self->keys[code] = press;

  return TRUE;
}

gboolean
_khadim_rpa_inject_button (KhadimRpaInput *self,
                           Display        *x,
                           guint           button,
                           gboolean        press)
{
  if (press && khadim_rpa_stop_is_set ())
    return FALSE;

  if (press && button < KHADIM_RPA_N_BUTTONS)
    g_atomic_int_set (&self->guardian.held->buttons[button], TRUE);
  XTestFakeButtonEvent (x, button, press, CurrentTime);
  if (button < KHADIM_RPA_N_BUTTONS)
    self->buttons[button] = press;

  return TRUE;
}

gboolean
_khadim_rpa_inject_motion (KhadimRpaInput *self,
                           Display        *x,
                           int             to_x,
                           int             to_y)
{
  if (khadim_rpa_stop_is_set ())
    return FALSE;

  _khadim_rpa_journal_add (&self->journal, KHADIM_RPA_INJECTED_MOTION, to_x, to_y);

  return XTestFakeMotionEvent (x, DefaultScreen (x), to_x, to_y, CurrentTime) != 0;
}

/* Whether keys are held that the caller has pressed. */
gboolean
_khadim_rpa_holds_keys (KhadimRpaInput *self)
{
  for (guint i = 0; i < KHADIM_RPA_N_KEYCODES; i++)
    if (self->keys[i])
      return TRUE;

  return FALSE;
}

void
_khadim_rpa_release_held (KhadimRpaInput *self,
                          Display        *x)
{
  for (guint i = 0; i < KHADIM_RPA_N_KEYCODES; i++)
    if (self->keys[i])
      _khadim_rpa_inject_key (self, x, (KeyCode) i, FALSE);
  for (guint i = 0; i < KHADIM_RPA_N_BUTTONS; i++)
    if (self->buttons[i])
      _khadim_rpa_inject_button (self, x, i, FALSE);
  XFlush (x);
}

static gboolean
release_all_in_display (KhadimRpaInput  *self,
                        Display         *x,
                        gpointer         user_data,
                        GError         **error)
{
  _khadim_rpa_release_held (self, x);

  return TRUE;
}

/**
 * khadim_rpa_input_release_all:
 * @self: the input
 *
 * Releases every key and button that was pressed and not released. Any thread
 * but the display's.
 */
void
khadim_rpa_input_release_all (KhadimRpaInput *self)
{
  g_return_if_fail (KHADIM_RPA_IS_INPUT (self));

  _khadim_rpa_input_run (self, release_all_in_display, NULL, NULL);
}

/* Pings -------------------------------------------------------------------- */

typedef struct
{
  Window window;
  guint32 token;
  gboolean advertised;
} PingJob;

static gboolean
advertises_ping (Display *x,
                 Window   window)
{
  Atom ping = XInternAtom (x, "_NET_WM_PING", False);
  Atom *protocols = NULL;
  int n = 0;
  gboolean found = FALSE;

  if (!XGetWMProtocols (x, window, &protocols, &n))
    return FALSE;
  for (int i = 0; i < n; i++)
    found = found || protocols[i] == ping;
  XFree (protocols);

  return found;
}

static gboolean
ping_in_display (KhadimRpaInput  *self,
                 Display         *x,
                 gpointer         user_data,
                 GError         **error)
{
  PingJob *job = user_data;
  XEvent event = { 0 };

  _khadim_rpa_display_push_trap (self->display);
  job->advertised = advertises_ping (x, job->window);
  if (job->advertised)
    {
      job->token = self->next_token++;
      event.xclient.type = ClientMessage;
      event.xclient.window = job->window;
      event.xclient.message_type = XInternAtom (x, "WM_PROTOCOLS", False);
      event.xclient.format = 32;
      event.xclient.data.l[0] = (long) XInternAtom (x, "_NET_WM_PING", False);
      event.xclient.data.l[1] = (long) job->token;
      event.xclient.data.l[2] = (long) job->window;
      XSendEvent (x, job->window, False, NoEventMask, &event);
      XFlush (x);
    }
  if (_khadim_rpa_display_pop_trap (self->display) != 0)
    job->advertised = FALSE;

  return TRUE;
}

static gboolean
has_answered (KhadimRpaInput *self,
              guint32         token)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  return self->answered_token == token;
}

static void
remember_answer (KhadimRpaInput *self,
                 guint32         window,
                 gboolean        answers)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  if (answers)
    g_hash_table_add (self->answering, GUINT_TO_POINTER (window));
  else
    g_hash_table_remove (self->answering, GUINT_TO_POINTER (window));
}

/* A barrier: an answer says that the program has read everything that was
 * sent to it before, as toolkits answer in the order of events. */
KhadimRpaPing
_khadim_rpa_ping (KhadimRpaInput  *self,
                  guint32          window,
                  guint            timeout_ms,
                  GCancellable    *cancellable,
                  GError         **error)
{
  PingJob job = { .window = window };
  gint64 deadline_us = g_get_monotonic_time () + (gint64) timeout_ms * 1000;
  guint64 seen = _khadim_rpa_waiter_get_serial (&self->waiter);
  g_autoptr(GError) late = NULL;

  if (!_khadim_rpa_input_run (self, ping_in_display, &job, error))
    return KHADIM_RPA_PING_FAILED;
  if (!job.advertised)
    return KHADIM_RPA_PING_SILENT;

  while (!has_answered (self, job.token))
    {
      if (khadim_rpa_display_is_lost (self->display))
        {
          g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LOST,
                               "The display is gone");
          return KHADIM_RPA_PING_FAILED;
        }
      if (!_khadim_rpa_waiter_wait (&self->waiter, seen, deadline_us, cancellable, &late))
        {
          if (g_error_matches (late, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT))
            return KHADIM_RPA_PING_LATE;
          g_propagate_error (error, g_steal_pointer (&late));
          return KHADIM_RPA_PING_FAILED;
        }
      seen = _khadim_rpa_waiter_get_serial (&self->waiter);
    }
  remember_answer (self, window, TRUE);

  return KHADIM_RPA_PING_ANSWERED;
}

/* Lets time pass between two events, sooner at a cancel. */
gboolean
_khadim_rpa_pause (KhadimRpaInput  *self,
                   gint64           us,
                   GCancellable    *cancellable,
                   GError         **error)
{
  gint64 deadline_us = g_get_monotonic_time () + us;
  GPollFD cancel = { 0 };
  gboolean can_poll = g_cancellable_make_pollfd (cancellable, &cancel);

  while (us > 0 && !khadim_rpa_stop_is_set () && !g_cancellable_is_cancelled (cancellable))
    {
      gint64 left_us = deadline_us - g_get_monotonic_time ();
      struct timespec left = { .tv_nsec = (long) (MIN (left_us, 20000) * 1000) };

      if (left_us <= 0)
        break;
      if (can_poll && left_us >= 1000)
        g_poll (&cancel, 1, (int) MIN (left_us / 1000, 20));
      else
        nanosleep (&left, NULL);
    }
  if (can_poll)
    g_cancellable_release_fd (cancellable);
  if (khadim_rpa_stop_is_set ())
    return _khadim_rpa_set_stopped (error);

  return _khadim_rpa_check_cancelled (cancellable, error);
}

/**
 * khadim_rpa_input_settle:
 * @self: the input
 * @window: a top-level window
 * @timeout_ms: how long to wait
 * @cancellable: (nullable): ends the wait
 * @error: (nullable): `KHADIM_RPA_ERROR_HUNG` when a program that has answered
 *   before does not, `_CANCELLED`, `_LOST`
 *
 * Waits until the program behind @window has read everything that was typed
 * and clicked so far, as it tells by `_NET_WM_PING`. A program that does not
 * know the ping is not waited for.
 *
 * Returns: whether it has, or cannot tell
 */
gboolean
khadim_rpa_input_settle (KhadimRpaInput  *self,
                         guint32          window,
                         guint            timeout_ms,
                         GCancellable    *cancellable,
                         GError         **error)
{
  gboolean known;

  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (self), FALSE);

  g_mutex_lock (&self->lock);
  known = g_hash_table_contains (self->answering, GUINT_TO_POINTER (window));
  g_mutex_unlock (&self->lock);
  switch (_khadim_rpa_ping (self, window, timeout_ms, cancellable, error))
    {
    case KHADIM_RPA_PING_ANSWERED:
      return TRUE;

    case KHADIM_RPA_PING_SILENT:
      return TRUE;

    case KHADIM_RPA_PING_LATE:
      if (!known)
        return TRUE;
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_HUNG,
                           "The program does not answer");
      return FALSE;

    case KHADIM_RPA_PING_FAILED:
    default:
      return FALSE;
    }
}
