/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-windows-act"

#include "config.h"

#include "rpa/screen/khadim-rpa-windows.h"

#include <X11/Xutil.h>

#include "rpa/screen/khadim-rpa-display-private.h"
#include "rpa/screen/khadim-rpa-error.h"
#include "rpa/screen/khadim-rpa-ewmh-private.h"
#include "rpa/screen/khadim-rpa-windows-private.h"

#define SOURCE_PAGER       2 /* wm-spec: a direct action of the person */
#define STATE_REMOVE       0
#define STATE_ADD          1
#define GRAVITY_NORTH_WEST 1
#define MOVERESIZE_X       (1 << 8)
#define MOVERESIZE_Y       (1 << 9)
#define MOVERESIZE_WIDTH   (1 << 10)
#define MOVERESIZE_HEIGHT  (1 << 11)
#define MAX_PARENTS        16
#define HUNG_PING_MS       2000
#define MAX_SIDE_PX        32767

typedef struct {
  guint32 id;
  KhadimRpaPlacement placement;
  KhadimRpaRect wanted; /* of the frame, as far as the window's hints let it */
  gulong token;
} Act;

/* Activation --------------------------------------------------------------- */

static gboolean
ask_to_activate (KhadimRpaWindows *self,
                 Display          *x,
                 gpointer          user_data)
{
  const Act *act = user_data;
  const long data[5] = { SOURCE_PAGER, CurrentTime, 0, 0, 0 };

  if (_khadim_rpa_ewmh_has_manager (x))
    {
      _khadim_rpa_ewmh_ask_manager (x, act->id, "_NET_ACTIVE_WINDOW", data);
    }
  else
    {
      XMapRaised (x, act->id);
      XSetInputFocus (x, act->id, RevertToPointerRoot, CurrentTime);
    }

  return TRUE;
}

static gboolean
is_inside (Display *x,
           Window   window,
           Window   outer)
{
  for (int i = 0; i < MAX_PARENTS && window != None; i++)
    {
      Window root = None;
      Window parent = None;
      Window *children = NULL;
      unsigned int n = 0;

      if (window == outer)
        return TRUE;
      if (!XQueryTree (x, window, &root, &parent, &children, &n))
        return FALSE;
      if (children != NULL)
        XFree (children);
      window = parent;
    }

  return FALSE;
}

/* A manager says that a window is active before it gives it the keyboard. */
static gboolean
is_active (KhadimRpaWindows *self,
           Display          *x,
           gpointer          user_data)
{
  const Act *act = user_data;
  Window focus = None;
  int revert;

  if (_khadim_rpa_ewmh_has_manager (x) && _khadim_rpa_ewmh_get_active (x) != act->id)
    return FALSE;
  XGetInputFocus (x, &focus, &revert);

  return focus != None && focus != PointerRoot && is_inside (x, focus, act->id);
}

static void
explain_not_active (KhadimRpaWindows  *self,
                    KhadimRpaWindow   *window,
                    GError           **error)
{
  g_autoptr(KhadimRpaWindow) active = khadim_rpa_windows_get_active (self, NULL);

  g_clear_error (error);
  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FOCUS_LOST,
               "The window “%s” did not become active; “%s” is",
               khadim_rpa_window_get_title (window),
               active != NULL ? khadim_rpa_window_get_title (active) : "none");
}

/**
 * khadim_rpa_windows_activate:
 * @self: the windows
 * @id: the X id of a window
 * @timeout_ms: how long to wait for it
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Brings a window to the front and gives it the keyboard, and waits until it
 * has it. Blocks; any thread but that of the display. Source:
 * `_NET_ACTIVE_WINDOW` of wm-spec.
 *
 * Errors: #KHADIM_RPA_ERROR with `NOT_FOUND`, `FOCUS_LOST` (another window, such
 * as a dialog of it, kept or took the keyboard), `CANCELLED` or `LOST`.
 *
 * Returns: whether the window is active
 */
gboolean
khadim_rpa_windows_activate (KhadimRpaWindows  *self,
                             guint32            id,
                             guint              timeout_ms,
                             GCancellable      *cancellable,
                             GError           **error)
{
  Act act = { .id = id };
  g_autoptr(KhadimRpaWindow) window = NULL;
  g_autoptr(GError) failure = NULL;
  gboolean done;

  g_return_val_if_fail (KHADIM_RPA_IS_WINDOWS (self), FALSE);

  window = _khadim_rpa_windows_watch (self, id, error);
  if (window == NULL || !_khadim_rpa_windows_run (self, ask_to_activate, &act, NULL, error))
    return FALSE;
  done = _khadim_rpa_windows_wait (self, is_active, &act, _khadim_rpa_deadline (timeout_ms),
                                   cancellable, &failure);
  if (done)
    return TRUE;
  if (g_error_matches (failure, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT))
    explain_not_active (self, window, &failure);
  g_propagate_error (error, g_steal_pointer (&failure));

  return FALSE;
}

/* Modes -------------------------------------------------------------------- */

static void
change_state (Display    *x,
              Window      window,
              gboolean    add,
              const char *first,
              const char *second)
{
  const long data[5] = { add ? STATE_ADD : STATE_REMOVE, (long) XInternAtom (x, first, False),
                         second != NULL ? (long) XInternAtom (x, second, False) : 0,
                         SOURCE_PAGER, 0 };

  _khadim_rpa_ewmh_ask_manager (x, window, "_NET_WM_STATE", data);
}

static void
change_maximized (Display  *x,
                  Window    window,
                  gboolean  add)
{
  change_state (x, window, add, "_NET_WM_STATE_MAXIMIZED_VERT", "_NET_WM_STATE_MAXIMIZED_HORZ");
}

/* XMapWindow() is how ICCCM 4.1.4 has a window come back from its icon. */
static gboolean
ask_for_mode (KhadimRpaWindows *self,
              Display          *x,
              gpointer          user_data)
{
  const Act *act = user_data;
  KhadimRpaWindowMode mode = act->placement.mode;

  if (mode == KHADIM_RPA_WINDOW_MODE_MINIMIZED)
    {
      XIconifyWindow (x, act->id, DefaultScreen (x));
      return TRUE;
    }
  XMapWindow (x, act->id);
  if (mode != KHADIM_RPA_WINDOW_MODE_FULLSCREEN)
    change_state (x, act->id, FALSE, "_NET_WM_STATE_FULLSCREEN", NULL);
  else
    change_state (x, act->id, TRUE, "_NET_WM_STATE_FULLSCREEN", NULL);
  if (mode == KHADIM_RPA_WINDOW_MODE_NORMAL)
    change_maximized (x, act->id, FALSE);
  else if (mode == KHADIM_RPA_WINDOW_MODE_MAXIMIZED)
    change_maximized (x, act->id, TRUE);

  return TRUE;
}

static gboolean
has_mode (KhadimRpaWindows *self,
          Display          *x,
          gpointer          user_data)
{
  const KhadimRpaWindowState modes = KHADIM_RPA_WINDOW_STATE_MINIMIZED
                                     | KHADIM_RPA_WINDOW_STATE_MAXIMIZED
                                     | KHADIM_RPA_WINDOW_STATE_FULLSCREEN;
  const Act *act = user_data;
  g_autoptr(KhadimRpaWindow) window = _khadim_rpa_ewmh_describe (x, act->id);

  if (window == NULL)
    return FALSE;
  switch (act->placement.mode)
    {
    case KHADIM_RPA_WINDOW_MODE_NORMAL:
      return (window->state & modes) == 0
             && (window->state & KHADIM_RPA_WINDOW_STATE_VISIBLE) != 0;
    case KHADIM_RPA_WINDOW_MODE_MAXIMIZED:
      return (window->state & modes) == KHADIM_RPA_WINDOW_STATE_MAXIMIZED;
    case KHADIM_RPA_WINDOW_MODE_MINIMIZED:
      return (window->state & KHADIM_RPA_WINDOW_STATE_MINIMIZED) != 0;
    case KHADIM_RPA_WINDOW_MODE_FULLSCREEN:
      return (window->state & (KHADIM_RPA_WINDOW_STATE_FULLSCREEN
                               | KHADIM_RPA_WINDOW_STATE_MINIMIZED))
             == KHADIM_RPA_WINDOW_STATE_FULLSCREEN;
    case KHADIM_RPA_WINDOW_MODE_KEEP:
    default:
      return TRUE;
    }
}

/* Geometry ----------------------------------------------------------------- */

static int
constrain (int side,
           int base,
           int step,
           int least,
           int most)
{
  side = CLAMP (side, MAX (1, least), most > 0 ? most : MAX_SIDE_PX);
  if (step > 1 && side > base)
    side = base + (side - base) / step * step;

  return side;
}

/* A terminal takes whole characters only, a dialog has a least size: what is
 * wanted is what the window says that it can be (ICCCM 4.1.2.3). */
static void
heed_hints (Display *x,
            Window   window,
            int     *width,
            int     *height)
{
  XSizeHints hints = { 0 };
  long supplied = 0;
  gboolean least;
  gboolean most;
  gboolean step;
  gboolean base;

  if (!XGetWMNormalHints (x, window, &hints, &supplied))
    return;
  least = (hints.flags & PMinSize) != 0;
  most = (hints.flags & PMaxSize) != 0;
  step = (hints.flags & PResizeInc) != 0;
  base = (hints.flags & PBaseSize) != 0;
  *width = constrain (*width, base ? hints.base_width : least ? hints.min_width : 0,
                      step ? hints.width_inc : 1, least ? hints.min_width : 1,
                      most ? hints.max_width : 0);
  *height = constrain (*height, base ? hints.base_height : least ? hints.min_height : 0,
                       step ? hints.height_inc : 1, least ? hints.min_height : 1,
                       most ? hints.max_height : 0);
}

/* The frame is what a person sees; the X window lies in it, or, where it draws
 * its frame and a shadow itself, around it. */
static gboolean
ask_for_geometry (KhadimRpaWindows *self,
                  Display          *x,
                  gpointer          user_data)
{
  Act *act = user_data;
  const KhadimRpaPlacement *placement = &act->placement;
  g_autoptr(KhadimRpaWindow) window = _khadim_rpa_ewmh_describe (x, act->id);
  long data[5] = { GRAVITY_NORTH_WEST | (SOURCE_PAGER << 12), 0, 0, 0, 0 };
  int width_over;
  int height_over;

  if (window == NULL)
    return FALSE;
  act->wanted = window->frame;
  width_over = window->client.width - window->frame.width;
  height_over = window->client.height - window->frame.height;
  if (placement->move)
    {
      act->wanted.x = placement->x;
      act->wanted.y = placement->y;
      data[0] |= MOVERESIZE_X | MOVERESIZE_Y;
    }
  if (placement->resize)
    {
      int width = placement->width + width_over;
      int height = placement->height + height_over;

      heed_hints (x, act->id, &width, &height);
      act->wanted.width = width - width_over;
      act->wanted.height = height - height_over;
      data[0] |= MOVERESIZE_WIDTH | MOVERESIZE_HEIGHT;
    }
  data[1] = act->wanted.x - window->shadow.left;
  data[2] = act->wanted.y - window->shadow.top;
  data[3] = act->wanted.width + width_over;
  data[4] = act->wanted.height + height_over;
  if (_khadim_rpa_ewmh_has_manager (x))
    _khadim_rpa_ewmh_ask_manager (x, act->id, "_NET_MOVERESIZE_WINDOW", data);
  else
    XMoveResizeWindow (x, act->id, (int) data[1], (int) data[2], (unsigned) data[3],
                       (unsigned) data[4]);

  return TRUE;
}

static gboolean
has_geometry (KhadimRpaWindows *self,
              Display          *x,
              gpointer          user_data)
{
  const Act *act = user_data;
  g_autoptr(KhadimRpaWindow) window = _khadim_rpa_ewmh_describe (x, act->id);

  if (window == NULL)
    return FALSE;
  if (act->placement.move
      && (window->frame.x != act->wanted.x || window->frame.y != act->wanted.y))
    return FALSE;

  return !act->placement.resize
         || (window->frame.width == act->wanted.width
             && window->frame.height == act->wanted.height);
}

static void
explain_not_placed (KhadimRpaWindows  *self,
                    guint32            id,
                    GError           **error)
{
  g_autoptr(KhadimRpaWindow) window = khadim_rpa_windows_get (self, id, NULL);

  if (window == NULL)
    g_prefix_error (error, "The window 0x%x is gone: ", id);
  else
    g_prefix_error (error, "The window “%s” stayed at %d, %d with %d×%d px: ",
                    khadim_rpa_window_get_title (window), window->frame.x, window->frame.y,
                    window->frame.width, window->frame.height);
}

static gboolean
set_mode (KhadimRpaWindows  *self,
          Act               *act,
          gint64             deadline_us,
          GCancellable      *cancellable,
          GError           **error)
{
  if (act->placement.mode == KHADIM_RPA_WINDOW_MODE_KEEP)
    return TRUE;
  if (!khadim_rpa_windows_has_manager (self))
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
                           "Without a window manager, windows can be moved and resized only");
      return FALSE;
    }

  return _khadim_rpa_windows_run (self, ask_for_mode, act, NULL, error)
         && _khadim_rpa_windows_wait (self, has_mode, act, deadline_us, cancellable, error);
}

static gboolean
set_geometry (KhadimRpaWindows  *self,
              Act               *act,
              gint64             deadline_us,
              GCancellable      *cancellable,
              GError           **error)
{
  if (!act->placement.move && !act->placement.resize)
    return TRUE;

  return _khadim_rpa_windows_run (self, ask_for_geometry, act, NULL, error)
         && _khadim_rpa_windows_wait (self, has_geometry, act, deadline_us, cancellable, error);
}

static gboolean
check_placement (const KhadimRpaPlacement  *placement,
                 GError                   **error)
{
  gboolean sized = placement->width > 0 && placement->width <= MAX_SIDE_PX
                   && placement->height > 0 && placement->height <= MAX_SIDE_PX;
  gboolean there = ABS (placement->x) <= MAX_SIDE_PX && ABS (placement->y) <= MAX_SIDE_PX;

  if ((!placement->resize || sized) && (!placement->move || there))
    return TRUE;
  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
               "%s: not within %d px", placement->resize && !sized ? "width, height" : "x, y",
               MAX_SIDE_PX);

  return FALSE;
}

/**
 * khadim_rpa_windows_place:
 * @self: the windows
 * @id: the X id of a window
 * @placement: where it is to be
 * @timeout_ms: how long to wait for it
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Moves, resizes or shows a window in another way, and waits until it is so. A
 * size that the window says it cannot have becomes the nearest one below that
 * it can. Blocks; any thread but that of the display. Source:
 * `_NET_MOVERESIZE_WINDOW` and `_NET_WM_STATE` of wm-spec.
 *
 * Errors: #KHADIM_RPA_ERROR with `NOT_FOUND`, `INVALID`, `TIMEOUT` (the window
 * manager or the window did something else; the text says what),
 * `UNSUPPORTED` (no window manager), `CANCELLED` or `LOST`.
 *
 * Returns: (transfer full): how the window is now; %NULL on error
 */
KhadimRpaWindow *
khadim_rpa_windows_place (KhadimRpaWindows          *self,
                          guint32                    id,
                          const KhadimRpaPlacement  *placement,
                          guint                      timeout_ms,
                          GCancellable              *cancellable,
                          GError                   **error)
{
  Act act = { .id = id };
  gint64 deadline_us = _khadim_rpa_deadline (timeout_ms);
  g_autoptr(KhadimRpaWindow) window = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_WINDOWS (self), NULL);
  g_return_val_if_fail (placement != NULL, NULL);

  if (!check_placement (placement, error))
    return NULL;
  window = _khadim_rpa_windows_watch (self, id, error);
  if (window == NULL)
    return NULL;
  act.placement = *placement;
  if (act.placement.mode == KHADIM_RPA_WINDOW_MODE_KEEP
      && (placement->move || placement->resize) && khadim_rpa_windows_has_manager (self))
    act.placement.mode = KHADIM_RPA_WINDOW_MODE_NORMAL;
  if (!set_mode (self, &act, deadline_us, cancellable, error)
      || !set_geometry (self, &act, deadline_us, cancellable, error))
    {
      explain_not_placed (self, id, error);
      return NULL;
    }

  return khadim_rpa_windows_get (self, id, error);
}

/* Ping --------------------------------------------------------------------- */

static gboolean
send_ping (KhadimRpaWindows *self,
           Display          *x,
           gpointer          user_data)
{
  Act *act = user_data;

  act->token = _khadim_rpa_windows_next_token (self);
  _khadim_rpa_ewmh_send_protocol (x, act->id, "_NET_WM_PING", (Time) act->token);

  return TRUE;
}

static gboolean
is_answered (KhadimRpaWindows *self,
             Display          *x,
             gpointer          user_data)
{
  const Act *act = user_data;

  return _khadim_rpa_windows_has_answer (self, act->id, act->token);
}

/**
 * khadim_rpa_windows_ping:
 * @self: the windows
 * @id: the X id of a window
 * @timeout_ms: how long to wait
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Asks a window whether it still handles its events, and waits for the answer,
 * which comes after all that was sent to it before. Blocks; any thread but that
 * of the display. Source: `_NET_WM_PING` of wm-spec.
 *
 * Errors: #KHADIM_RPA_ERROR with `NOT_FOUND`, `UNSUPPORTED` (it does not take
 * part), `HUNG` (no answer in time), `CANCELLED` or `LOST`.
 *
 * Returns: whether it answered
 */
gboolean
khadim_rpa_windows_ping (KhadimRpaWindows  *self,
                         guint32            id,
                         guint              timeout_ms,
                         GCancellable      *cancellable,
                         GError           **error)
{
  Act act = { .id = id };
  g_autoptr(KhadimRpaWindow) window = NULL;
  g_autoptr(GError) failure = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_WINDOWS (self), FALSE);

  window = _khadim_rpa_windows_watch (self, id, error);
  if (window == NULL)
    return FALSE;
  if (!window->has_ping)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
                   "The window “%s” does not answer pings", khadim_rpa_window_get_title (window));
      return FALSE;
    }
  if (!_khadim_rpa_windows_run (self, send_ping, &act, NULL, error))
    return FALSE;
  if (_khadim_rpa_windows_wait (self, is_answered, &act, _khadim_rpa_deadline (timeout_ms),
                                cancellable, &failure))
    return TRUE;
  if (g_error_matches (failure, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT))
    g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_HUNG,
                 "The window “%s” did not answer within %u ms",
                 khadim_rpa_window_get_title (window), timeout_ms);
  else
    g_propagate_error (error, g_steal_pointer (&failure));

  return FALSE;
}

/* Closing ------------------------------------------------------------------ */

static gboolean
send_delete (KhadimRpaWindows *self,
             Display          *x,
             gpointer          user_data)
{
  const Act *act = user_data;

  _khadim_rpa_ewmh_send_protocol (x, act->id, "WM_DELETE_WINDOW", CurrentTime);

  return TRUE;
}

/* Not closed in time: does it ask something, or does it not answer at all? */
static void
explain_not_closed (KhadimRpaWindows  *self,
                    KhadimRpaWindow   *window,
                    GCancellable      *cancellable,
                    GError           **error)
{
  g_autoptr(GPtrArray) all = khadim_rpa_windows_list (self, NULL, NULL);
  g_autoptr(GError) ping = NULL;

  if (!khadim_rpa_windows_ping (self, window->id, HUNG_PING_MS, cancellable, &ping)
      && g_error_matches (ping, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_HUNG))
    {
      g_clear_error (error);
      g_propagate_error (error, g_steal_pointer (&ping));
      return;
    }
  for (guint i = 0; all != NULL && i < all->len; i++)
    {
      KhadimRpaWindow *other = g_ptr_array_index (all, i);

      if (other->parent == window->id)
        {
          g_prefix_error (error, "The window “%s” is still there and shows “%s”: ",
                          khadim_rpa_window_get_title (window),
                          khadim_rpa_window_get_title (other));
          return;
        }
    }
  g_prefix_error (error, "The window “%s” is still there: ",
                  khadim_rpa_window_get_title (window));
}

/**
 * khadim_rpa_windows_close:
 * @self: the windows
 * @id: the X id of a window
 * @timeout_ms: how long to wait until it is gone
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Asks a window to close, as the cross in its corner does, and waits until it
 * is gone. Its program is never killed. Blocks; any thread but that of the
 * display. Source: `WM_DELETE_WINDOW` of the ICCCM.
 *
 * Errors: #KHADIM_RPA_ERROR with `NOT_FOUND`, `UNSUPPORTED` (it cannot be
 * asked), `TIMEOUT` (still there; the text names a dialog that it shows),
 * `HUNG` (still there, and does not answer), `CANCELLED` or `LOST`.
 *
 * Returns: whether the window is gone
 */
gboolean
khadim_rpa_windows_close (KhadimRpaWindows  *self,
                          guint32            id,
                          guint              timeout_ms,
                          GCancellable      *cancellable,
                          GError           **error)
{
  Act act = { .id = id };
  g_autoptr(KhadimRpaWindow) window = NULL;
  g_autoptr(GError) failure = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_WINDOWS (self), FALSE);

  window = _khadim_rpa_windows_watch (self, id, error);
  if (window == NULL)
    return FALSE;
  if (!window->has_delete)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
                   "The window “%s” cannot be asked to close",
                   khadim_rpa_window_get_title (window));
      return FALSE;
    }
  if (!_khadim_rpa_windows_run (self, send_delete, &act, NULL, error))
    return FALSE;
  if (khadim_rpa_windows_wait_gone (self, id, timeout_ms, cancellable, &failure))
    return TRUE;
  if (g_error_matches (failure, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT))
    explain_not_closed (self, window, cancellable, &failure);
  g_propagate_error (error, g_steal_pointer (&failure));

  return FALSE;
}
