/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-guard"

#include "config.h"

#include "rpa/input/khadim-rpa-input-private.h"

#include <X11/Xatom.h>
#include <X11/Xutil.h>

#include "rpa/screen/khadim-rpa-error.h"

/* Nothing is typed or clicked into the wrong window. The check and the event
 * are one step for everybody else: the server is grabbed around both, so that
 * nobody can take the focus in between (X protocol, “GrabServer”). */

/* Identifiers of one client share all bits but these (X.Org gives each client
 * a range of 2^21). */
#define CLIENT_ID_MASK (~0x1fffffUL)

/* The parent of @window; None for the root. */
static Window
get_parent (Display *x,
            Window   window)
{
  Window root, parent = None, *children = NULL;
  guint n;

  if (!XQueryTree (x, window, &root, &parent, &children, &n))
    return None;
  if (children != NULL)
    XFree (children);

  return parent != root ? parent : None;
}

static gboolean
is_inside (Display *x,
           Window   window,
           Window   ancestor)
{
  while (window != None && window != ancestor)
    window = get_parent (x, window);

  return window != None;
}

/* The window below the root that holds @window: its frame, or itself. */
static Window
get_outermost (Display *x,
               Window   window)
{
  Window parent;

  while ((parent = get_parent (x, window)) != None)
    window = parent;

  return window;
}

/* The innermost window under the pointer; None on the bare root. */
static Window
find_under_pointer (Display *x)
{
  Window window = DefaultRootWindow (x), root, child = None;
  int root_x, root_y, win_x, win_y;
  guint mask;

  while (XQueryPointer (x, window, &root, &child, &root_x, &root_y, &win_x, &win_y, &mask)
         && child != None)
    window = child;

  return window != DefaultRootWindow (x) ? window : None;
}

/* The window that has the keyboard; None when it goes to nobody. Without a
 * window manager it goes to whichever is under the pointer. */
Window
_khadim_rpa_find_focus (Display *x)
{
  Window focus = None;
  int revert;

  XGetInputFocus (x, &focus, &revert);

  return focus == PointerRoot || focus == DefaultRootWindow (x) ? find_under_pointer (x) : focus;
}

/* The top-level window around @window: that which the window manager has given a
 * state (ICCCM 4.1.3.1), else the outermost. */
Window
_khadim_rpa_find_top (Display *x,
                      Window   window)
{
  Atom state = XInternAtom (x, "WM_STATE", False);

  for (Window at = window; at != None; at = get_parent (x, at))
    {
      Atom type = None;
      int format;
      unsigned long n, after;
      unsigned char *data = NULL;

      XGetWindowProperty (x, at, state, 0, 0, False, AnyPropertyType, &type, &format, &n, &after,
                          &data);
      if (data != NULL)
        XFree (data);
      if (type != None)
        return at;
    }

  return get_outermost (x, window);
}

static long
get_pid (Display *x,
         Window   window)
{
  Atom type;
  int format;
  unsigned long n = 0, after;
  unsigned char *data = NULL;
  long pid = 0;

  if (XGetWindowProperty (x, window, XInternAtom (x, "_NET_WM_PID", False), 0, 1, False,
                          XA_CARDINAL, &type, &format, &n, &after, &data) == Success &&
      data != NULL && n == 1 && format == 32)
    pid = *(long *) data;
  if (data != NULL)
    XFree (data);

  return pid;
}

/* Who the thief is, for people: the nearest window up the tree with a class. */
static char *
describe (Display *x,
          Window   window)
{
  XClassHint hint = { 0 };
  XTextProperty title = { 0 };
  char *text;

  while (window != None && !XGetClassHint (x, window, &hint))
    window = get_parent (x, window);
  if (window == None)
    return g_strdup ("another window");

  XGetTextProperty (x, window, &title, XInternAtom (x, "_NET_WM_NAME", False));
  if (title.value == NULL)
    XGetWMName (x, window, &title);
  text = g_strdup_printf ("“%.100s” (%.60s, process %ld, window 0x%lx)",
                          title.value != NULL ? (char *) title.value : "",
                          hint.res_class != NULL ? hint.res_class : "?", get_pid (x, window),
                          window);
  if (title.value != NULL)
    XFree (title.value);
  if (hint.res_name != NULL)
    XFree (hint.res_name);
  if (hint.res_class != NULL)
    XFree (hint.res_class);

  return g_utf8_make_valid (text, -1);
}

static gboolean
set_lost (Display     *x,
          Window       thief,
          const char  *what,
          GError     **error)
{
  g_autofree char *name = thief != None ? describe (x, thief) : g_strdup ("no window");

  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FOCUS_LOST, "%s: %s", what, name);

  return FALSE;
}

/* Whether the keyboard goes to @target now. */
gboolean
_khadim_rpa_guard_focus (KhadimRpaInput  *self,
                         Display         *x,
                         Window           target,
                         GError         **error)
{
  Window focus = _khadim_rpa_find_focus (x);
  gboolean inside;

  if (focus != None && focus == self->verified && target == self->verified_target)
    return TRUE;

  _khadim_rpa_display_push_trap (self->display);
  inside = focus != None && is_inside (x, focus, target);
  if (!inside)
    set_lost (x, focus, "Another window has the keyboard", error);
  _khadim_rpa_display_pop_trap (self->display);
  self->verified = inside ? focus : None;
  self->verified_target = target;

  return inside;
}

/* Whether the pointer is over @target, or over a window of the same program
 * that has no frame, such as its menus. */
gboolean
_khadim_rpa_guard_pointer (KhadimRpaInput  *self,
                           Display         *x,
                           Window           target,
                           GError         **error)
{
  Window root, child = None, outermost;
  int root_x, root_y, win_x, win_y;
  guint mask;
  gboolean good;

  _khadim_rpa_display_push_trap (self->display);
  XQueryPointer (x, DefaultRootWindow (x), &root, &child, &root_x, &root_y, &win_x, &win_y, &mask);
  outermost = get_outermost (x, target);
  good = child != None &&
         (child == outermost || (child & CLIENT_ID_MASK) == (target & CLIENT_ID_MASK));
  if (!good)
    set_lost (x, child, "Another window is under the pointer", error);
  _khadim_rpa_display_pop_trap (self->display);

  return good;
}

/* Waiting for the focus ---------------------------------------------------- */

/* How often the focus is looked at: no event tells about windows of others. */
#define LOOK_US 5000

static gboolean
look_in_display (KhadimRpaInput  *self,
                 Display         *x,
                 gpointer         user_data,
                 GError         **error)
{
  self->verified = None;

  return _khadim_rpa_guard_focus (self, x, *(Window *) user_data, error);
}

/**
 * khadim_rpa_input_wait_focus:
 * @self: the input
 * @window: a top-level window
 * @timeout_ms: how long to wait
 * @cancellable: (nullable): ends the wait
 * @error: (nullable): `KHADIM_RPA_ERROR_FOCUS_LOST` with the name of the
 *   window that has the keyboard, `_CANCELLED`, `_LOST`
 *
 * Waits until @window has the keyboard: for a moment after a menu or a dialog
 * has gone, nobody has it. Blocks; any thread but the display's.
 *
 * Returns: whether it has
 */
gboolean
khadim_rpa_input_wait_focus (KhadimRpaInput  *self,
                             guint32          window,
                             guint            timeout_ms,
                             GCancellable    *cancellable,
                             GError         **error)
{
  gint64 deadline_us = g_get_monotonic_time () + (gint64) timeout_ms * 1000;
  Window target = window;

  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (self), FALSE);

  while (TRUE)
    {
      g_autoptr(GError) other = NULL;

      if (_khadim_rpa_input_run (self, look_in_display, &target, &other))
        return TRUE;
      if (!g_error_matches (other, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FOCUS_LOST) ||
          g_get_monotonic_time () >= deadline_us)
        {
          g_propagate_error (error, g_steal_pointer (&other));
          return FALSE;
        }
      if (!_khadim_rpa_pause (self, LOOK_US, cancellable, error))
        return FALSE;
    }
}
