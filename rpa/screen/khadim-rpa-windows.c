/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-windows"

#include "config.h"

#include "rpa/screen/khadim-rpa-windows.h"

#include "rpa/screen/khadim-rpa-display-private.h"
#include "rpa/screen/khadim-rpa-error.h"
#include "rpa/screen/khadim-rpa-ewmh-private.h"
#include "rpa/screen/khadim-rpa-windows-private.h"

/* The top-level windows of a display. What is asked for is done by the window
 * manager some time later or not at all, so every change is followed by looking
 * at each event whether it has come about. What changes windows is in
 * khadim-rpa-windows-act.c. */

/* Qt sends the answer to a ping with StructureNotifyMask, others send it with
 * SubstructureNotifyMask, as wm-spec has it. */
#define ROOT_MASK   (PropertyChangeMask | SubstructureNotifyMask | StructureNotifyMask)
#define WINDOW_MASK (PropertyChangeMask | StructureNotifyMask)

struct _KhadimRpaWindows
{
  GObject parent_instance;

  /* Owned */
  KhadimRpaDisplay *display;
  KhadimRpaWaiter waiter;

  /* Only on the thread of the display */
  GHashTable *answers; /* window → the token of its last ping that came back */
  gulong last_token;
  guint filter;
};

G_DEFINE_FINAL_TYPE (KhadimRpaWindows, khadim_rpa_windows, G_TYPE_OBJECT)

/* Events ------------------------------------------------------------------- */

static void
note_answer (KhadimRpaWindows    *self,
             XClientMessageEvent *event)
{
  if (event->message_type != XInternAtom (event->display, "WM_PROTOCOLS", False)
      || (Atom) event->data.l[0] != XInternAtom (event->display, "_NET_WM_PING", False))
    return;
  g_hash_table_insert (self->answers, GUINT_TO_POINTER ((guint32) event->data.l[2]),
                       GSIZE_TO_POINTER ((gsize) event->data.l[1]));
}

static void
on_event_cb (KhadimRpaDisplay *display,
             XEvent           *event,
             gpointer          user_data)
{
  KhadimRpaWindows *self = user_data;

  if (event != NULL && event->type == ClientMessage)
    note_answer (self, &event->xclient);
  if (event == NULL || event->type == ClientMessage || event->type == PropertyNotify
      || (event->type >= CreateNotify && event->type <= CirculateRequest))
    _khadim_rpa_waiter_bump (&self->waiter);
}

static void
start_in_desktop (KhadimRpaDisplay *display,
                  gpointer          user_data)
{
  KhadimRpaWindows *self = user_data;
  Display *x = _khadim_rpa_display_get_x (display);

  _khadim_rpa_display_select (display, DefaultRootWindow (x), ROOT_MASK);
  self->filter = _khadim_rpa_display_add_filter (display, on_event_cb, self);
}

static void
stop_in_desktop (KhadimRpaDisplay *display,
                 gpointer          user_data)
{
  KhadimRpaWindows *self = user_data;

  if (self->filter != 0)
    _khadim_rpa_display_remove_filter (display, self->filter);
}

static void
khadim_rpa_windows_finalize (GObject *object)
{
  KhadimRpaWindows *self = KHADIM_RPA_WINDOWS (object);

  if (self->display != NULL)
    khadim_rpa_display_run_sync (self->display, stop_in_desktop, self, NULL);
  g_clear_object (&self->display);
  g_hash_table_unref (self->answers);
  _khadim_rpa_waiter_clear (&self->waiter);

  G_OBJECT_CLASS (khadim_rpa_windows_parent_class)->finalize (object);
}

static void
khadim_rpa_windows_class_init (KhadimRpaWindowsClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_rpa_windows_finalize;
}

static void
khadim_rpa_windows_init (KhadimRpaWindows *self)
{
  _khadim_rpa_waiter_init (&self->waiter);
  self->answers = g_hash_table_new (NULL, NULL);
}

/**
 * khadim_rpa_windows_new:
 * @display: the display
 * @error: where to put an error
 *
 * Starts to follow the windows of a display. Any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `LOST`.
 *
 * Returns: (transfer full): the windows; %NULL on error
 */
KhadimRpaWindows *
khadim_rpa_windows_new (KhadimRpaDisplay  *display,
                        GError           **error)
{
  g_autoptr(KhadimRpaWindows) self = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_DISPLAY (display), NULL);

  self = g_object_new (KHADIM_RPA_TYPE_WINDOWS, NULL);
  self->display = g_object_ref (display);
  if (!khadim_rpa_display_run_sync (display, start_in_desktop, self, error))
    return NULL;

  return g_steal_pointer (&self);
}

/* Running and waiting ------------------------------------------------------ */

KhadimRpaDisplay *
_khadim_rpa_windows_get_display (KhadimRpaWindows *self)
{
  return self->display;
}

gint64
_khadim_rpa_deadline (guint timeout_ms)
{
  return g_get_monotonic_time () + timeout_ms * G_GINT64_CONSTANT (1000);
}

typedef struct {
  KhadimRpaWindows *self;
  KhadimRpaWindowsCheck func;
  gpointer user_data;
  gboolean result;
} Run;

static void
run_in_desktop (KhadimRpaDisplay *display,
                gpointer          user_data)
{
  Run *run = user_data;

  _khadim_rpa_display_push_trap (display);
  run->result = run->func (run->self, _khadim_rpa_display_get_x (display), run->user_data);
  _khadim_rpa_display_pop_trap (display);
}

/* Runs something on the thread of the display, with X errors kept away. */
gboolean
_khadim_rpa_windows_run (KhadimRpaWindows       *self,
                         KhadimRpaWindowsCheck   func,
                         gpointer                user_data,
                         gboolean               *out_result,
                         GError                **error)
{
  Run run = { self, func, user_data, FALSE };

  if (!khadim_rpa_display_run_sync (self->display, run_in_desktop, &run, error))
    return FALSE;
  if (out_result != NULL)
    *out_result = run.result;

  return TRUE;
}

/* Looks again at each event, until the check holds. */
gboolean
_khadim_rpa_windows_wait (KhadimRpaWindows       *self,
                          KhadimRpaWindowsCheck   check,
                          gpointer                user_data,
                          gint64                  deadline_us,
                          GCancellable           *cancellable,
                          GError                **error)
{
  while (_khadim_rpa_check_cancelled (cancellable, error))
    {
      guint64 seen = _khadim_rpa_waiter_get_serial (&self->waiter);
      gboolean holds = FALSE;

      if (!_khadim_rpa_windows_run (self, check, user_data, &holds, error))
        return FALSE;
      if (holds)
        return TRUE;
      if (!_khadim_rpa_waiter_wait (&self->waiter, seen, deadline_us, cancellable, error))
        return FALSE;
    }

  return FALSE;
}

/* Has all waits look again. */
void
_khadim_rpa_windows_wake (KhadimRpaWindows *self)
{
  _khadim_rpa_waiter_bump (&self->waiter);
}

gulong
_khadim_rpa_windows_next_token (KhadimRpaWindows *self)
{
  if (self->last_token == 0)
    self->last_token = g_random_int_range (1, G_MAXINT32 / 2);

  return ++self->last_token;
}

gboolean
_khadim_rpa_windows_has_answer (KhadimRpaWindows *self,
                                guint32           id,
                                gulong            token)
{
  return GPOINTER_TO_SIZE (g_hash_table_lookup (self->answers, GUINT_TO_POINTER (id))) == token;
}

/* Lists -------------------------------------------------------------------- */

static gboolean
check_manager (KhadimRpaWindows *self,
               Display          *x,
               gpointer          user_data)
{
  return _khadim_rpa_ewmh_has_manager (x);
}

/**
 * khadim_rpa_windows_has_manager:
 * @self: the windows
 *
 * Whether a window manager runs. Without one, windows are those on the root,
 * and modes cannot be changed. Any thread.
 *
 * Returns: whether one does
 */
gboolean
khadim_rpa_windows_has_manager (KhadimRpaWindows *self)
{
  gboolean has_manager = FALSE;

  g_return_val_if_fail (KHADIM_RPA_IS_WINDOWS (self), FALSE);

  _khadim_rpa_windows_run (self, check_manager, NULL, &has_manager, NULL);

  return has_manager;
}

typedef struct {
  const KhadimRpaWindowMatch *match;
  GPtrArray *known; /* these do not count */
  GPtrArray *found;
  gboolean shown;  /* only what is on the screen or iconified */
  gboolean popups; /* what no manager looks after, instead */
} Listing;

/* A manager lists a window before it has put it in its place. */
static gboolean
is_shown (KhadimRpaWindow *window)
{
  return (window->state
          & (KHADIM_RPA_WINDOW_STATE_VISIBLE | KHADIM_RPA_WINDOW_STATE_MINIMIZED)) != 0;
}

static gboolean
is_known (GPtrArray       *known,
          KhadimRpaWindow *window)
{
  for (guint i = 0; known != NULL && i < known->len; i++)
    if (khadim_rpa_window_get_id (g_ptr_array_index (known, i))
        == khadim_rpa_window_get_id (window))
      return TRUE;

  return FALSE;
}

static gboolean
list_windows (KhadimRpaWindows *self,
              Display          *x,
              gpointer          user_data)
{
  Listing *listing = user_data;
  g_autoptr(GArray) ids = listing->popups ? _khadim_rpa_ewmh_list_popups (x)
                                          : _khadim_rpa_ewmh_list_clients (x);

  g_ptr_array_set_size (listing->found, 0);
  for (guint i = 0; i < ids->len; i++)
    {
      g_autoptr(KhadimRpaWindow) window =
        _khadim_rpa_ewmh_describe (x, (Window) g_array_index (ids, long, i));

      if (window == NULL)
        continue;
      window->stacking = (int) i;
      if ((!listing->shown || is_shown (window))
          && (listing->match == NULL || khadim_rpa_window_matches (window, listing->match))
          && !is_known (listing->known, window))
        g_ptr_array_add (listing->found, g_steal_pointer (&window));
    }

  return listing->found->len > 0;
}

/**
 * khadim_rpa_windows_list:
 * @self: the windows
 * @match: (nullable): which are meant; %NULL for all
 * @error: where to put an error
 *
 * Any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `LOST`.
 *
 * Returns: (transfer container) (element-type KhadimRpaWindow): the windows,
 *   from the lowest to the topmost; %NULL on error
 */
GPtrArray *
khadim_rpa_windows_list (KhadimRpaWindows            *self,
                         const KhadimRpaWindowMatch  *match,
                         GError                     **error)
{
  g_autoptr(GPtrArray) found =
    g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_rpa_window_unref);
  Listing listing = { .match = match, .found = found };

  g_return_val_if_fail (KHADIM_RPA_IS_WINDOWS (self), NULL);

  if (!_khadim_rpa_windows_run (self, list_windows, &listing, NULL, error))
    return NULL;

  return g_steal_pointer (&found);
}

/**
 * khadim_rpa_windows_list_popups:
 * @self: the windows
 * @pid: only those of this process; 0 for all
 * @error: where to put an error
 *
 * Lists the windows that no window manager looks after: menus, drop-down lists,
 * tooltips. Any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `LOST`.
 *
 * Returns: (transfer container) (element-type KhadimRpaWindow): those that are
 *   mapped, from the lowest to the topmost; %NULL on error
 */
GPtrArray *
khadim_rpa_windows_list_popups (KhadimRpaWindows  *self,
                                guint32            pid,
                                GError           **error)
{
  const KhadimRpaWindowMatch match = { .pid = pid };
  g_autoptr(GPtrArray) found =
    g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_rpa_window_unref);
  Listing listing = { .match = &match, .found = found, .popups = TRUE };

  g_return_val_if_fail (KHADIM_RPA_IS_WINDOWS (self), NULL);

  if (!_khadim_rpa_windows_run (self, list_windows, &listing, NULL, error))
    return NULL;

  return g_steal_pointer (&found);
}

typedef struct {
  guint32 id;
  gboolean watch;
  KhadimRpaWindow *window;
} Description;

static gboolean
describe_window (KhadimRpaWindows *self,
                 Display          *x,
                 gpointer          user_data)
{
  Description *description = user_data;

  if (description->watch)
    _khadim_rpa_display_select (self->display, description->id, WINDOW_MASK);
  description->window = _khadim_rpa_ewmh_describe (x, description->id);

  return description->window != NULL;
}

static KhadimRpaWindow *
describe (KhadimRpaWindows  *self,
          guint32            id,
          gboolean           watch,
          GError           **error)
{
  Description description = { id, watch, NULL };

  if (!_khadim_rpa_windows_run (self, describe_window, &description, NULL, error))
    return NULL;
  if (description.window == NULL)
    g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND, "There is no window 0x%x",
                 id);

  return description.window;
}

/* The same, and its events are looked at from now on. */
KhadimRpaWindow *
_khadim_rpa_windows_watch (KhadimRpaWindows  *self,
                           guint32            id,
                           GError           **error)
{
  return describe (self, id, TRUE, error);
}

/**
 * khadim_rpa_windows_get:
 * @self: the windows
 * @id: the X id of a window
 * @error: where to put an error
 *
 * Any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `NOT_FOUND` or `LOST`.
 *
 * Returns: (transfer full): how the window is now; %NULL on error
 */
KhadimRpaWindow *
khadim_rpa_windows_get (KhadimRpaWindows  *self,
                        guint32            id,
                        GError           **error)
{
  g_return_val_if_fail (KHADIM_RPA_IS_WINDOWS (self), NULL);

  return describe (self, id, FALSE, error);
}

static char *
match_to_text (const KhadimRpaWindowMatch *match)
{
  GString *text = g_string_new (NULL);

  if (match->id != 0)
    g_string_append_printf (text, " 0x%x", match->id);
  if (match->app != NULL)
    g_string_append_printf (text, " of “%s”", match->app);
  if (match->pid != 0)
    g_string_append_printf (text, " of process %u", match->pid);
  if (match->title != NULL)
    g_string_append_printf (text, " with the title “%s”", match->title);

  return g_string_free (text, FALSE);
}

/**
 * khadim_rpa_windows_find:
 * @self: the windows
 * @match: which is meant
 * @error: where to put an error
 *
 * Finds the topmost of the windows that are meant. Any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `NOT_FOUND` or `LOST`.
 *
 * Returns: (transfer full): the window; %NULL on error
 */
KhadimRpaWindow *
khadim_rpa_windows_find (KhadimRpaWindows            *self,
                         const KhadimRpaWindowMatch  *match,
                         GError                     **error)
{
  g_autoptr(GPtrArray) found = NULL;
  g_autofree char *text = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_WINDOWS (self), NULL);
  g_return_val_if_fail (match != NULL, NULL);

  found = khadim_rpa_windows_list (self, match, error);
  if (found == NULL)
    return NULL;
  if (found->len > 0)
    return khadim_rpa_window_ref (g_ptr_array_index (found, found->len - 1));
  text = match_to_text (match);
  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND, "There is no window%s", text);

  return NULL;
}

static gboolean
describe_active (KhadimRpaWindows *self,
                 Display          *x,
                 gpointer          user_data)
{
  Description *description = user_data;
  int revert;
  Window focus = _khadim_rpa_ewmh_get_active (x);

  if (focus == None && !_khadim_rpa_ewmh_has_manager (x))
    XGetInputFocus (x, &focus, &revert);
  if (focus != None && focus != PointerRoot)
    description->window = _khadim_rpa_ewmh_describe (x, focus);

  return description->window != NULL;
}

/**
 * khadim_rpa_windows_get_active:
 * @self: the windows
 * @error: where to put an error
 *
 * Any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `NOT_FOUND` (no window is active) or `LOST`.
 *
 * Returns: (transfer full): the window that has the keyboard; %NULL on error
 */
KhadimRpaWindow *
khadim_rpa_windows_get_active (KhadimRpaWindows  *self,
                               GError           **error)
{
  Description description = { 0 };

  g_return_val_if_fail (KHADIM_RPA_IS_WINDOWS (self), NULL);

  if (!_khadim_rpa_windows_run (self, describe_active, &description, NULL, error))
    return NULL;
  if (description.window == NULL)
    g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND,
                         "No window is active");

  return description.window;
}

/* Waits -------------------------------------------------------------------- */

/**
 * khadim_rpa_windows_wait_for:
 * @self: the windows
 * @match: which is meant
 * @known: (nullable) (element-type KhadimRpaWindow): windows that do not count,
 *   such as a list from before; %NULL to accept those that are there already
 * @timeout_ms: how long to wait
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Waits until a window is there. Blocks; any thread but that of the display.
 *
 * Errors: #KHADIM_RPA_ERROR with `TIMEOUT`, `CANCELLED` or `LOST`.
 *
 * Returns: (transfer full): the topmost of the windows that are meant; %NULL on
 *   error
 */
KhadimRpaWindow *
khadim_rpa_windows_wait_for (KhadimRpaWindows            *self,
                             const KhadimRpaWindowMatch  *match,
                             GPtrArray                   *known,
                             guint                        timeout_ms,
                             GCancellable                *cancellable,
                             GError                     **error)
{
  g_autoptr(GPtrArray) found =
    g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_rpa_window_unref);
  Listing listing = { .match = match, .known = known, .found = found, .shown = TRUE };
  g_autofree char *text = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_WINDOWS (self), NULL);
  g_return_val_if_fail (match != NULL, NULL);

  if (_khadim_rpa_windows_wait (self, list_windows, &listing, _khadim_rpa_deadline (timeout_ms),
                                cancellable, error))
    return khadim_rpa_window_ref (g_ptr_array_index (found, found->len - 1));
  text = match_to_text (match);
  g_prefix_error (error, "Waiting for a window%s: ", text);

  return NULL;
}

/* A window that is hidden for good keeps its id, but is no client any more. */
static gboolean
is_gone (KhadimRpaWindows *self,
         Display          *x,
         gpointer          user_data)
{
  const guint32 *id = user_data;
  g_autoptr(GArray) clients = _khadim_rpa_ewmh_list_clients (x);

  for (guint i = 0; i < clients->len; i++)
    if ((guint32) g_array_index (clients, long, i) == *id)
      return FALSE;

  return TRUE;
}

/**
 * khadim_rpa_windows_wait_gone:
 * @self: the windows
 * @id: the X id of a window
 * @timeout_ms: how long to wait
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Waits until a window is closed or hidden for good. Blocks; any thread but
 * that of the display.
 *
 * Errors: #KHADIM_RPA_ERROR with `TIMEOUT`, `CANCELLED` or `LOST`.
 *
 * Returns: whether the window is gone
 */
gboolean
khadim_rpa_windows_wait_gone (KhadimRpaWindows  *self,
                              guint32            id,
                              guint              timeout_ms,
                              GCancellable      *cancellable,
                              GError           **error)
{
  g_return_val_if_fail (KHADIM_RPA_IS_WINDOWS (self), FALSE);

  return _khadim_rpa_windows_wait (self, is_gone, &id, _khadim_rpa_deadline (timeout_ms),
                                   cancellable, error);
}
