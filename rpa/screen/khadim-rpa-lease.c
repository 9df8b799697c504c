/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-lease"

#include "config.h"

#include "rpa/screen/khadim-rpa-lease.h"

#include <string.h>
#include <unistd.h>

#include <X11/Xatom.h>
#include <X11/extensions/Xfixes.h>

#include "rpa/screen/khadim-rpa-display-private.h"
#include "rpa/screen/khadim-rpa-error.h"
#include "rpa/screen/khadim-rpa-ewmh-private.h"
#include "rpa/screen/khadim-rpa-waiter-private.h"

/* Who may use the pointer and the keyboard of a display: the owner of an X
 * selection, whose window says which session and process it is. The server
 * takes the selection away when its client ends, however it ends.
 *
 * Nobody can look at a selection and take it in one step without grabbing the
 * server, and a process that is stopped while it does freezes the desktop. So
 * everybody stands in a list on the root window first, to which the server
 * appends atomically, and takes the selection only as the first one in it whose
 * window is still there. Only who has the lease writes the list anew; whom that
 * drops by accident, as he came just then, notices and stands in line again. */

#define LEASE_SELECTION "_KHADIM_LEASE"
#define LEASE_QUEUE     "_KHADIM_LEASE_QUEUE"
#define LEASE_SESSION   "_KHADIM_LEASE_SESSION"
#define ROOT_MASK       (PropertyChangeMask | SubstructureNotifyMask)
#define MAX_ID_BYTES    256

struct _KhadimRpaLease
{
  GObject parent_instance;

  /* Owned */
  KhadimRpaDisplay *display;
  char *session_id;
  KhadimRpaWaiter waiter;

  gint held; /* atomic */

  /* Only on the thread of the display */
  Window window;
  guint filter;
  int fixes_event;
};

G_DEFINE_FINAL_TYPE (KhadimRpaLease, khadim_rpa_lease, G_TYPE_OBJECT)

static Atom
selection (Display *x)
{
  return XInternAtom (x, LEASE_SELECTION, False);
}

/* The queue ---------------------------------------------------------------- */

/* Ids are used again: a window counts only if it is one of ours. */
static gboolean
is_alive (Display *x,
          Window   window)
{
  g_autofree char *session_id = _khadim_rpa_ewmh_get_string (x, window, LEASE_SESSION);

  return session_id != NULL;
}

/* (element-type long): those who are still there. */
static GArray *
read_queue (Display *x)
{
  GArray *queue = _khadim_rpa_ewmh_get_list (x, DefaultRootWindow (x), LEASE_QUEUE);

  for (guint i = queue->len; i > 0; i--)
    if (!is_alive (x, (Window) g_array_index (queue, long, i - 1)))
      g_array_remove_index (queue, i - 1);

  return queue;
}

static int
find_in_queue (GArray *queue,
               Window  window)
{
  for (guint i = 0; i < queue->len; i++)
    if ((Window) g_array_index (queue, long, i) == window)
      return (int) i;

  return -1;
}

static void
enter_queue (Display *x,
             Window   window)
{
  long id = (long) window;

  XChangeProperty (x, DefaultRootWindow (x), XInternAtom (x, LEASE_QUEUE, False), XA_WINDOW, 32,
                   PropModeAppend, (unsigned char *) &id, 1);
}

static void
leave_queue (Display *x,
             Window   window)
{
  Atom property = XInternAtom (x, LEASE_QUEUE, False);
  g_autoptr(GArray) queue = read_queue (x);
  int at = find_in_queue (queue, window);

  if (at >= 0)
    g_array_remove_index (queue, (guint) at);
  if (queue->len == 0)
    XDeleteProperty (x, DefaultRootWindow (x), property);
  else
    XChangeProperty (x, DefaultRootWindow (x), property, XA_WINDOW, 32, PropModeReplace,
                     (unsigned char *) queue->data, (int) queue->len);
}

/* On the thread of the display --------------------------------------------- */

static void
on_event_cb (KhadimRpaDisplay *display,
             XEvent           *event,
             gpointer          user_data)
{
  KhadimRpaLease *self = user_data;

  if (event == NULL
      || (event->type == SelectionClear && event->xselectionclear.window == self->window))
    {
      g_atomic_int_set (&self->held, FALSE);
      _khadim_rpa_waiter_bump (&self->waiter);
    }
  else if (event->type == self->fixes_event + XFixesSelectionNotify
           || event->type == DestroyNotify || event->type == PropertyNotify)
    {
      _khadim_rpa_waiter_bump (&self->waiter);
    }
}

static void
make_window (KhadimRpaLease *self,
             Display        *x)
{
  long pid = getpid ();

  self->window = XCreateWindow (x, DefaultRootWindow (x), -1, -1, 1, 1, 0, 0, InputOnly,
                                CopyFromParent, 0, NULL);
  XChangeProperty (x, self->window, XInternAtom (x, LEASE_SESSION, False),
                   XInternAtom (x, "UTF8_STRING", False), 8, PropModeReplace,
                   (const unsigned char *) self->session_id, (int) strlen (self->session_id));
  XChangeProperty (x, self->window, XInternAtom (x, "_NET_WM_PID", False), XA_CARDINAL, 32,
                   PropModeReplace, (const unsigned char *) &pid, 1);
}

static void
start_in_desktop (KhadimRpaDisplay *display,
                  gpointer          user_data)
{
  KhadimRpaLease *self = user_data;
  Display *x = _khadim_rpa_display_get_x (display);
  int error_base;
  int major;
  int minor;

  if (!XFixesQueryExtension (x, &self->fixes_event, &error_base)
      || !XFixesQueryVersion (x, &major, &minor))
    return;
  make_window (self, x);
  XFixesSelectSelectionInput (x, self->window, selection (x),
                              XFixesSetSelectionOwnerNotifyMask
                                | XFixesSelectionWindowDestroyNotifyMask
                                | XFixesSelectionClientCloseNotifyMask);
  _khadim_rpa_display_select (display, DefaultRootWindow (x), ROOT_MASK);
  self->filter = _khadim_rpa_display_add_filter (display, on_event_cb, self);
}

static void
try_in_desktop (KhadimRpaDisplay *display,
                gpointer          user_data)
{
  KhadimRpaLease *self = user_data;
  Display *x = _khadim_rpa_display_get_x (display);
  g_autoptr(GArray) queue = NULL;

  _khadim_rpa_display_push_trap (display);
  queue = read_queue (x);
  if (find_in_queue (queue, self->window) < 0)
    {
      enter_queue (x, self->window);
      g_clear_pointer (&queue, g_array_unref);
      queue = read_queue (x);
    }
  if (find_in_queue (queue, self->window) == 0 && XGetSelectionOwner (x, selection (x)) == None)
    {
      XSetSelectionOwner (x, selection (x), self->window, CurrentTime);
      g_atomic_int_set (&self->held, XGetSelectionOwner (x, selection (x)) == self->window);
    }
  _khadim_rpa_display_pop_trap (display);
}

static void
stop_in_desktop (KhadimRpaDisplay *display,
                 gpointer          user_data)
{
  KhadimRpaLease *self = user_data;
  Display *x = _khadim_rpa_display_get_x (display);
  gboolean held = g_atomic_int_compare_and_exchange (&self->held, TRUE, FALSE);

  if (self->filter != 0)
    _khadim_rpa_display_remove_filter (display, self->filter);
  self->filter = 0;
  if (self->window == None)
    return;
  _khadim_rpa_display_push_trap (display);
  if (held)
    leave_queue (x, self->window);
  XDestroyWindow (x, self->window);
  _khadim_rpa_display_pop_trap (display);
  self->window = None;
}

/* Life --------------------------------------------------------------------- */

static void
khadim_rpa_lease_finalize (GObject *object)
{
  KhadimRpaLease *self = KHADIM_RPA_LEASE (object);

  if (self->display != NULL)
    khadim_rpa_display_run_sync (self->display, stop_in_desktop, self, NULL);
  g_clear_object (&self->display);
  g_free (self->session_id);
  _khadim_rpa_waiter_clear (&self->waiter);

  G_OBJECT_CLASS (khadim_rpa_lease_parent_class)->finalize (object);
}

static void
khadim_rpa_lease_class_init (KhadimRpaLeaseClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_rpa_lease_finalize;
}

static void
khadim_rpa_lease_init (KhadimRpaLease *self)
{
  _khadim_rpa_waiter_init (&self->waiter);
}

static gboolean
start (KhadimRpaLease  *self,
       GError         **error)
{
  if (!khadim_rpa_display_run_sync (self->display, start_in_desktop, self, error))
    return FALSE;
  if (self->filter != 0)
    return TRUE;
  g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
                       "The X server has no XFIXES extension");

  return FALSE;
}

static void
explain_busy (KhadimRpaDisplay  *display,
              GError           **error)
{
  g_autofree char *session_id = NULL;
  guint32 pid = 0;

  if (!khadim_rpa_lease_get_holder (display, &session_id, &pid, NULL))
    return;
  g_clear_error (error);
  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_BUSY,
               "The session %s (process %u) uses the display", session_id, pid);
}

static gboolean
wait_for_lease (KhadimRpaLease  *self,
                gint64           deadline_us,
                GCancellable    *cancellable,
                GError         **error)
{
  while (_khadim_rpa_check_cancelled (cancellable, error))
    {
      guint64 seen = _khadim_rpa_waiter_get_serial (&self->waiter);

      if (!khadim_rpa_display_run_sync (self->display, try_in_desktop, self, error))
        return FALSE;
      if (khadim_rpa_lease_is_held (self))
        return TRUE;
      if (!_khadim_rpa_waiter_wait (&self->waiter, seen, deadline_us, cancellable, error))
        return FALSE;
    }

  return FALSE;
}

/**
 * khadim_rpa_lease_acquire:
 * @display: the display
 * @session_id: who wants it
 * @timeout_ms: how long to wait; 0 not to wait at all
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Waits, after those who came before, until nobody else uses the pointer and
 * the keyboard of a display. The lease ends with khadim_rpa_lease_release(),
 * with its last reference, and with the process, however that ends. Blocks; any
 * thread but that of the display. Source: ICCCM 2 (selections) and the XFIXES
 * protocol.
 *
 * Errors: #KHADIM_RPA_ERROR with `BUSY` (the text says who has it),
 * `CANCELLED`, `INVALID` (@session_id), `UNSUPPORTED` or `LOST`.
 *
 * Returns: (transfer full): the lease; %NULL on error
 */
KhadimRpaLease *
khadim_rpa_lease_acquire (KhadimRpaDisplay  *display,
                          const char        *session_id,
                          guint              timeout_ms,
                          GCancellable      *cancellable,
                          GError           **error)
{
  g_autoptr(KhadimRpaLease) self = NULL;
  g_autoptr(GError) failure = NULL;
  gint64 deadline_us = g_get_monotonic_time () + timeout_ms * G_GINT64_CONSTANT (1000);

  g_return_val_if_fail (KHADIM_RPA_IS_DISPLAY (display), NULL);
  g_return_val_if_fail (session_id != NULL, NULL);

  if (*session_id == '\0' || strlen (session_id) > MAX_ID_BYTES)
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                           "session_id: empty or longer than 256 bytes");
      return NULL;
    }
  self = g_object_new (KHADIM_RPA_TYPE_LEASE, NULL);
  self->display = g_object_ref (display);
  self->session_id = g_strdup (session_id);
  if (!start (self, error))
    return NULL;
  if (wait_for_lease (self, deadline_us, cancellable, &failure))
    return g_steal_pointer (&self);

  if (g_error_matches (failure, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT))
    explain_busy (display, &failure);
  g_propagate_error (error, g_steal_pointer (&failure));

  return NULL;
}

typedef struct {
  char *session_id;
  guint timeout_ms;
} Acquire;

static void
acquire_free (gpointer data)
{
  Acquire *acquire = data;

  g_free (acquire->session_id);
  g_free (acquire);
}

static void
acquire_in_thread (GTask        *task,
                   gpointer      source_object,
                   gpointer      task_data,
                   GCancellable *cancellable)
{
  Acquire *acquire = task_data;
  GError *error = NULL;
  KhadimRpaLease *lease = khadim_rpa_lease_acquire (
    source_object, acquire->session_id, acquire->timeout_ms, cancellable, &error);

  if (lease != NULL)
    g_task_return_pointer (task, lease, g_object_unref);
  else
    g_task_return_error (task, error);
}

/**
 * khadim_rpa_lease_acquire_async:
 * @display: the display
 * @session_id: who wants it
 * @timeout_ms: how long to wait
 * @cancellable: (nullable): stops waiting
 * @callback: called when it is there or not
 * @user_data: for @callback
 *
 * As khadim_rpa_lease_acquire(), without blocking. Any thread.
 */
void
khadim_rpa_lease_acquire_async (KhadimRpaDisplay     *display,
                                const char           *session_id,
                                guint                 timeout_ms,
                                GCancellable         *cancellable,
                                GAsyncReadyCallback   callback,
                                gpointer              user_data)
{
  g_autoptr(GTask) task = NULL;
  Acquire *acquire;

  g_return_if_fail (KHADIM_RPA_IS_DISPLAY (display));
  g_return_if_fail (session_id != NULL);

  task = g_task_new (display, cancellable, callback, user_data);
  g_task_set_source_tag (task, khadim_rpa_lease_acquire_async);
  g_task_set_name (task, "khadim-rpa-lease-acquire");
  g_task_set_check_cancellable (task, FALSE);
  acquire = g_new0 (Acquire, 1);
  acquire->session_id = g_strdup (session_id);
  acquire->timeout_ms = timeout_ms;
  g_task_set_task_data (task, acquire, acquire_free);
  g_task_run_in_thread (task, acquire_in_thread);
}

/**
 * khadim_rpa_lease_acquire_finish:
 * @display: the display
 * @result: what the callback got
 * @error: where to put an error
 *
 * Errors: those of khadim_rpa_lease_acquire().
 *
 * Returns: (transfer full): the lease; %NULL on error
 */
KhadimRpaLease *
khadim_rpa_lease_acquire_finish (KhadimRpaDisplay  *display,
                                 GAsyncResult      *result,
                                 GError           **error)
{
  g_return_val_if_fail (g_task_is_valid (result, display), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/**
 * khadim_rpa_lease_is_held:
 * @self: a lease
 *
 * Any thread; it is an atomic read, to be looked at before each event.
 *
 * Returns: whether the lease still holds: it was not released, nobody took it,
 *   and the server is there
 */
gboolean
khadim_rpa_lease_is_held (KhadimRpaLease *self)
{
  g_return_val_if_fail (KHADIM_RPA_IS_LEASE (self), FALSE);

  return g_atomic_int_get (&self->held);
}

/**
 * khadim_rpa_lease_release:
 * @self: a lease
 *
 * Gives the display back; the next one in line gets it. Any thread.
 */
void
khadim_rpa_lease_release (KhadimRpaLease *self)
{
  g_return_if_fail (KHADIM_RPA_IS_LEASE (self));

  khadim_rpa_display_run_sync (self->display, stop_in_desktop, self, NULL);
}

typedef struct {
  char *session_id;
  long pid;
  Window owner;
} Holder;

static void
holder_in_desktop (KhadimRpaDisplay *display,
                   gpointer          user_data)
{
  Holder *holder = user_data;
  Display *x = _khadim_rpa_display_get_x (display);

  _khadim_rpa_display_push_trap (display);
  holder->owner = XGetSelectionOwner (x, selection (x));
  if (holder->owner != None)
    {
      holder->session_id = _khadim_rpa_ewmh_get_string (x, holder->owner, LEASE_SESSION);
      _khadim_rpa_ewmh_get_longs (x, holder->owner, "_NET_WM_PID", &holder->pid, 1, NULL);
    }
  _khadim_rpa_display_pop_trap (display);
}

/**
 * khadim_rpa_lease_get_holder:
 * @display: the display
 * @out_session_id: (out) (optional) (transfer full): who has it
 * @out_pid: (out) (optional): in which process
 * @error: where to put an error
 *
 * Any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `NOT_FOUND` (nobody has it) or `LOST`.
 *
 * Returns: whether somebody has the lease
 */
gboolean
khadim_rpa_lease_get_holder (KhadimRpaDisplay  *display,
                             char             **out_session_id,
                             guint32           *out_pid,
                             GError           **error)
{
  Holder holder = { 0 };

  g_return_val_if_fail (KHADIM_RPA_IS_DISPLAY (display), FALSE);

  if (!khadim_rpa_display_run_sync (display, holder_in_desktop, &holder, error))
    return FALSE;
  if (holder.owner == None)
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND,
                           "Nobody uses the display");
      return FALSE;
    }
  if (out_session_id != NULL)
    *out_session_id = holder.session_id != NULL ? holder.session_id : g_strdup ("");
  else
    g_free (holder.session_id);
  if (out_pid != NULL)
    *out_pid = (guint32) holder.pid;

  return TRUE;
}
