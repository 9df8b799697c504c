/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-stop"

#include "config.h"

#include "rpa/input/khadim-rpa-stop-watch.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <X11/XKBlib.h>
#include <X11/extensions/XInput2.h>
#include <X11/extensions/XTest.h>
#include <X11/keysym.h>

#include "rpa/input/khadim-rpa-input-private.h"
#include "rpa/input/khadim-rpa-keys-private.h"
#include "rpa/input/khadim-rpa-stop-private.h"
#include "rpa/screen/khadim-rpa-error.h"

/* Sees the keys of the stop, and the pointer pushed into the corner, on a
 * connection and a thread of its own. Raw events (XI 2.1) come to the root
 * also while another client holds the keyboard, which a grabbed key does not. */

#define THREAD_NAME "stop"

struct _KhadimRpaStopWatch
{
  GObject parent_instance;

  /* Owned */
  KhadimRpaInput *input;
  GThread *thread;
  gpointer user_data;
  GDestroyNotify destroy;
  int wake_fd;

  KhadimRpaStopFunc func;
  KhadimRpaCombo combo;
  gboolean corner;
  gint quits; /* atomic */

  GMutex lock;
  GCond changed;
  gboolean started; /* guarded by lock */
  GError *error;    /* (owned) why it did not start; guarded by lock */

  /* Only on the thread of the watch */
  Display *x;
  int opcode;
  gint lost;
  gboolean handled;                         /* what was held has been released */
  guint8 parts[KHADIM_RPA_N_KEYCODES];      /* which keys of the combination these are, as bits */
  gboolean pressed[KHADIM_RPA_N_KEYCODES];  /* by anybody but us */
  gboolean injected[KHADIM_RPA_N_KEYCODES]; /* pressed by us, as events tell */
};

G_DEFINE_FINAL_TYPE (KhadimRpaStopWatch, khadim_rpa_stop_watch, G_TYPE_OBJECT)

/* Stopping ----------------------------------------------------------------- */

static void
release_in_display (KhadimRpaDisplay *display,
                    gpointer          user_data)
{
  /* Every job does so when the stop is set; this one has nothing else to do. */
  khadim_rpa_input_release_all (user_data);
}

/* At once on the connection of the watch, as the thread of the display may be
 * busy; and once more by that, as presses that it sent just now may come after
 * these releases. */
static void
release_held (KhadimRpaStopWatch *self)
{
  KhadimRpaHeld *held = self->input->guardian.held;

  self->handled = TRUE;
  for (guint i = 0; i < KHADIM_RPA_N_KEYCODES; i++)
    if (g_atomic_int_get (&held->keys[i]))
      {
        _khadim_rpa_journal_add (&self->input->journal, KHADIM_RPA_INJECTED_KEY_RELEASE, (int) i,
                                 0);
        XTestFakeKeyEvent (self->x, i, False, CurrentTime);
      }
  for (guint i = 0; i < KHADIM_RPA_N_BUTTONS; i++)
    if (g_atomic_int_get (&held->buttons[i]))
      XTestFakeButtonEvent (self->x, i, False, CurrentTime);
  XFlush (self->x);
  khadim_rpa_display_run_async (self->input->display, release_in_display,
                                g_object_ref (self->input), g_object_unref);
}

static void
stop (KhadimRpaStopWatch *self,
      KhadimRpaStopCause  cause)
{
  gboolean first = !khadim_rpa_stop_is_set ();

  khadim_rpa_stop_set ();
  release_held (self);
  g_debug ("Stopped by %s", cause == KHADIM_RPA_STOP_CAUSE_KEYS ? "keys" : "the corner");
  if (first && self->func != NULL)
    self->func (cause, self->user_data);
}

/* Keys --------------------------------------------------------------------- */

/* The key of the same name on the other side counts too. */
static KeySym
get_twin (KeySym symbol)
{
  static const KeySym twins[][2] = {
    { XK_Control_L, XK_Control_R }, { XK_Alt_L, XK_Alt_R },     { XK_Shift_L, XK_Shift_R },
    { XK_Super_L, XK_Super_R },     { XK_Meta_L, XK_Meta_R },   { XK_Hyper_L, XK_Hyper_R },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (twins); i++)
    if (symbol == twins[i][0] || symbol == twins[i][1])
      return symbol == twins[i][0] ? twins[i][1] : twins[i][0];

  return NoSymbol;
}

static void
learn_keys (KhadimRpaStopWatch *self)
{
  int min_code, max_code;

  XDisplayKeycodes (self->x, &min_code, &max_code);
  for (int code = min_code; code <= max_code; code++)
    {
      KeySym symbol = XkbKeycodeToKeysym (self->x, (KeyCode) code, 0, 0);

      self->parts[code] = 0;
      for (guint i = 0; symbol != NoSymbol && i < self->combo.n; i++)
        if (symbol == self->combo.symbols[i] || get_twin (symbol) == self->combo.symbols[i])
          self->parts[code] |= (guint8) (1 << i);
    }
}

/* Binding a spare key changes one, and need not be looked at. */
static void
on_mapping (KhadimRpaStopWatch *self,
            XMappingEvent      *event)
{
  XRefreshKeyboardMapping (event);
  if (event->request != MappingPointer &&
      (event->count != 1 || self->parts[event->first_keycode & 0xff] != 0))
    learn_keys (self);
}

/* A modifier may also be one that we hold: then the server does not tell of
 * the person's. */
static gboolean
is_complete (KhadimRpaStopWatch *self)
{
  guint there = 0;

  for (guint i = 0; i < KHADIM_RPA_N_KEYCODES; i++)
    if (self->parts[i] != 0 && (self->pressed[i] || self->injected[i]))
      there |= self->parts[i];

  return there == (1u << self->combo.n) - 1;
}

static void
on_key (KhadimRpaStopWatch *self,
        guint               code,
        gboolean            press)
{
  /* The server repeats a key that we hold. */
  if (press && self->injected[code])
    return;
  if (_khadim_rpa_journal_take (&self->input->journal,
                                press ? KHADIM_RPA_INJECTED_KEY_PRESS
                                      : KHADIM_RPA_INJECTED_KEY_RELEASE, (int) code, 0))
    {
      self->injected[code] = press;
      return;
    }

  if (!press)
    self->injected[code] = FALSE;
  self->pressed[code] = press;
  if (press && self->parts[code] != 0 && is_complete (self))
    stop (self, KHADIM_RPA_STOP_CAUSE_KEYS);
}

/* The corner --------------------------------------------------------------- */

/* Where XTEST put the pointer; other devices tell how far they went. */
static gboolean
is_own_motion (KhadimRpaStopWatch *self,
               XIRawEvent         *event)
{
  const XIValuatorState *valuators = &event->valuators;

  return valuators->mask_len > 0 && XIMaskIsSet (valuators->mask, 0) &&
         XIMaskIsSet (valuators->mask, 1) &&
         _khadim_rpa_journal_take (&self->input->journal, KHADIM_RPA_INJECTED_MOTION,
                                   (int) event->raw_values[0], (int) event->raw_values[1]);
}

static void
on_motion (KhadimRpaStopWatch *self,
           XIRawEvent         *event)
{
  Window root, child;
  int x = -1, y = -1, win_x, win_y;
  guint mask;

  if (is_own_motion (self, event))
    return;
  XQueryPointer (self->x, DefaultRootWindow (self->x), &root, &child, &x, &y, &win_x, &win_y,
                 &mask);
  if (x == 0 && y == 0)
    stop (self, KHADIM_RPA_STOP_CAUSE_CORNER);
}

/* The thread --------------------------------------------------------------- */

static void
on_event (KhadimRpaStopWatch *self,
          XEvent             *event)
{
  XGenericEventCookie *cookie = &event->xcookie;
  XIRawEvent *raw;

  if (event->type == MappingNotify)
    on_mapping (self, &event->xmapping);
  if (event->type != GenericEvent || cookie->extension != self->opcode ||
      !XGetEventData (self->x, cookie))
    return;

  raw = cookie->data;
  if (cookie->evtype == XI_RawMotion && self->corner)
    on_motion (self, raw);
  else if (cookie->evtype == XI_RawKeyPress || cookie->evtype == XI_RawKeyRelease)
    on_key (self, (guint) raw->detail & 0xff, cookie->evtype == XI_RawKeyPress);
  XFreeEventData (self->x, cookie);
}

static void
on_io_error_cb (Display *x,
                void    *user_data)
{
  KhadimRpaStopWatch *self = user_data;

  g_atomic_int_set (&self->lost, TRUE);
}

static gboolean
select_events (KhadimRpaStopWatch  *self,
               GError             **error)
{
  unsigned char bits[XIMaskLen (XI_LASTEVENT)] = { 0 };
  XIEventMask mask = { .deviceid = XIAllMasterDevices, .mask_len = sizeof bits, .mask = bits };
  int event, first_error, major = 2, minor = 2;

  if (!XQueryExtension (self->x, "XInputExtension", &self->opcode, &event, &first_error) ||
      XIQueryVersion (self->x, &major, &minor) != Success || (major == 2 && minor < 1))
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
                           "The display has no raw events (XI 2.1): the emergency stop would not "
                           "be seen");
      return FALSE;
    }
  XISetMask (bits, XI_RawKeyPress);
  XISetMask (bits, XI_RawKeyRelease);
  if (self->corner)
    XISetMask (bits, XI_RawMotion);
  XISelectEvents (self->x, DefaultRootWindow (self->x), &mask, 1);
  XTestGrabControl (self->x, True);
  learn_keys (self);
  XSync (self->x, False);

  return TRUE;
}

static gboolean
open_display (KhadimRpaStopWatch  *self,
              GError             **error)
{
  const char *name = khadim_rpa_display_get_name (self->input->display);

  self->x = XOpenDisplay (name);
  if (self->x == NULL)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LOST,
                   "There is no X server at “%s”", name);
      return FALSE;
    }
  _khadim_rpa_display_adopt (self->x);
  XSetIOErrorExitHandler (self->x, on_io_error_cb, self);

  return select_events (self, error);
}

/* A stop that a program has set is carried out here too. */
static void
on_wake (KhadimRpaStopWatch *self)
{
  guint64 count;

  if (read (self->wake_fd, &count, sizeof count) < 0 && errno != EAGAIN)
    g_debug ("Reading an eventfd: %s", g_strerror (errno));
  if (!khadim_rpa_stop_is_set ())
    self->handled = FALSE;
  else if (!self->handled)
    release_held (self);
}

static void
watch (KhadimRpaStopWatch *self)
{
  struct pollfd fds[] = {
    { .fd = ConnectionNumber (self->x), .events = POLLIN },
    { .fd = self->wake_fd, .events = POLLIN },
  };

  while (!g_atomic_int_get (&self->quits) && !g_atomic_int_get (&self->lost))
    {
      XEvent event;

      if (XPending (self->x) > 0)
        {
          XNextEvent (self->x, &event);
          if (!g_atomic_int_get (&self->lost))
            on_event (self, &event);
        }
      else if (!g_atomic_int_get (&self->lost) && poll (fds, G_N_ELEMENTS (fds), -1) > 0 &&
               (fds[1].revents & POLLIN) != 0)
        on_wake (self);
    }
}

static gpointer
run_thread (gpointer user_data)
{
  KhadimRpaStopWatch *self = user_data;
  GError *error = NULL;
  gboolean good = open_display (self, &error);

  g_mutex_lock (&self->lock);
  self->error = error;
  self->started = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  if (good)
    watch (self);
  if (self->x != NULL)
    {
      _khadim_rpa_display_disown (self->x);
      XCloseDisplay (self->x);
    }

  return NULL;
}

static gboolean
start (KhadimRpaStopWatch  *self,
       GError             **error)
{
  gboolean good;

  self->wake_fd = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (self->wake_fd < 0 || !_khadim_rpa_stop_attach (self->wake_fd))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
                   "No more than %d watches for the emergency stop",
                   KHADIM_RPA_STOP_MAX_WATCHES);
      return FALSE;
    }
  self->thread = g_thread_new (THREAD_NAME, run_thread, self);
  g_mutex_lock (&self->lock);
  while (!self->started)
    g_cond_wait (&self->changed, &self->lock);
  good = self->error == NULL;
  if (!good)
    g_propagate_error (error, g_steal_pointer (&self->error));
  g_mutex_unlock (&self->lock);

  return good;
}

/* The object --------------------------------------------------------------- */

static void
khadim_rpa_stop_watch_finalize (GObject *object)
{
  KhadimRpaStopWatch *self = KHADIM_RPA_STOP_WATCH (object);
  static const guint64 one = 1;

  g_atomic_int_set (&self->quits, TRUE);
  if (self->thread != NULL)
    {
      if (write (self->wake_fd, &one, sizeof one) < 0)
        g_debug ("The watch is awake already");
      g_thread_join (self->thread);
    }
  if (self->wake_fd >= 0)
    {
      _khadim_rpa_stop_detach (self->wake_fd);
      close (self->wake_fd);
    }
  if (self->destroy != NULL)
    self->destroy (self->user_data);
  g_clear_object (&self->input);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);

  G_OBJECT_CLASS (khadim_rpa_stop_watch_parent_class)->finalize (object);
}

static void
khadim_rpa_stop_watch_class_init (KhadimRpaStopWatchClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_rpa_stop_watch_finalize;
}

static void
khadim_rpa_stop_watch_init (KhadimRpaStopWatch *self)
{
  self->wake_fd = -1;
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
}

/**
 * khadim_rpa_stop_watch_new:
 * @input: what is stopped
 * @keys: (nullable): keys that stop when they are held together; %NULL for
 *   %KHADIM_RPA_STOP_DEFAULT_KEYS
 * @corner: whether the pointer pushed by hand into the top left corner stops
 * @func: (nullable) (scope notified) (closure user_data) (destroy destroy):
 *   told of each stop by a person
 * @user_data: for @func
 * @destroy: (nullable): frees @user_data
 * @error: (nullable): `KHADIM_RPA_ERROR_INVALID` for keys that are none,
 *   `_LIMIT` with too many watches, `_UNSUPPORTED` without XI 2.1, `_LOST`
 *
 * Watches for the emergency stop until the object goes. What @input itself
 * injects does not stop it. At a stop, nothing more is injected and everything
 * that is held is released, within 50 ms; see khadim_rpa_stop_set(). Follows
 * the XI 2.2 protocol, section “RawEvent”. Any thread but the display's.
 *
 * Returns: (transfer full) (nullable): the watch
 */
KhadimRpaStopWatch *
khadim_rpa_stop_watch_new (KhadimRpaInput     *input,
                           const char         *keys,
                           gboolean            corner,
                           KhadimRpaStopFunc   func,
                           gpointer            user_data,
                           GDestroyNotify      destroy,
                           GError            **error)
{
  g_autoptr(KhadimRpaStopWatch) self = NULL;
  KhadimRpaCombo combo = { 0 };

  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (input), NULL);

  self = g_object_new (KHADIM_RPA_TYPE_STOP_WATCH, NULL);
  self->input = g_object_ref (input);
  self->func = func;
  self->user_data = user_data;
  self->destroy = destroy;
  self->corner = corner;
  if (!_khadim_rpa_combo_parse (keys != NULL ? keys : KHADIM_RPA_STOP_DEFAULT_KEYS, &combo, error))
    return NULL;
  self->combo = combo;
  if (!start (self, error))
    return NULL;

  return g_steal_pointer (&self);
}
