/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-pointer"

#include "config.h"

#include "rpa/input/khadim-rpa-keys-private.h"

#include <X11/Xatom.h>

#include "rpa/screen/khadim-rpa-error.h"

/* How often the pointer is placed on its way, when the way takes time. */
#define STEP_US 10000

/* The buttons that a wheel's steps are (X protocol convention). */
#define WHEEL_UP 4
#define WHEEL_DOWN 5
#define WHEEL_LEFT 6
#define WHEEL_RIGHT 7

/* How many steps one call may scroll each way. */
#define MAX_STEPS 1000

typedef struct
{
  int x;
  int y;
  guint button;
  guint count;
  Window window;      /* 0: not guarded */
  gboolean moves;
  gboolean press;
} PointerJob;

static gboolean
check_point (Display  *x,
             int       px,
             int       py,
             GError  **error)
{
  int screen = DefaultScreen (x);

  if (px >= 0 && py >= 0 && px < DisplayWidth (x, screen) && py < DisplayHeight (x, screen))
    return TRUE;

  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
               "the point %d, %d is not on the screen of %d x %d", px, py,
               DisplayWidth (x, screen), DisplayHeight (x, screen));

  return FALSE;
}

/* Moves, looks what is under the pointer, and presses, as one step for
 * everybody else. */
static gboolean
press_in_display (KhadimRpaInput  *self,
                  Display         *x,
                  gpointer         user_data,
                  GError         **error)
{
  PointerJob *job = user_data;
  gboolean good;

  if (job->moves && !check_point (x, job->x, job->y, error))
    return FALSE;

  XGrabServer (x);
  good = !job->moves || _khadim_rpa_inject_motion (self, x, job->x, job->y);
  if (!good)
    _khadim_rpa_set_stopped (error);
  if (good && job->press && job->window != None)
    good = _khadim_rpa_guard_pointer (self, x, job->window, error);
  for (guint i = 0; good && job->press && i < job->count; i++)
    {
      good = _khadim_rpa_inject_button (self, x, job->button, TRUE);
      if (!good)
        _khadim_rpa_set_stopped (error);
      else if (job->count > 1 ||
               (job->button >= WHEEL_UP && job->button <= WHEEL_RIGHT))
        _khadim_rpa_inject_button (self, x, job->button, FALSE);
    }
  XUngrabServer (x);
  XFlush (x);

  return good;
}

static gboolean
release_in_display (KhadimRpaInput  *self,
                    Display         *x,
                    gpointer         user_data,
                    GError         **error)
{
  PointerJob *job = user_data;

  if (job->button < KHADIM_RPA_N_BUTTONS && self->buttons[job->button])
    _khadim_rpa_inject_button (self, x, job->button, FALSE);
  XFlush (x);

  return TRUE;
}

static gboolean
get_pointer_in_display (KhadimRpaInput  *self,
                        Display         *x,
                        gpointer         user_data,
                        GError         **error)
{
  PointerJob *job = user_data;
  Window root, child;
  int win_x, win_y;
  guint mask;

  XQueryPointer (x, DefaultRootWindow (x), &root, &child, &job->x, &job->y, &win_x, &win_y, &mask);

  return TRUE;
}

/**
 * khadim_rpa_input_get_pointer:
 * @self: the input
 * @out_x: (out): column on the root, in pixels
 * @out_y: (out): row
 * @error: (nullable): `KHADIM_RPA_ERROR_LOST`
 *
 * Any thread but the display's.
 *
 * Returns: whether it is known
 */
gboolean
khadim_rpa_input_get_pointer (KhadimRpaInput  *self,
                              int             *out_x,
                              int             *out_y,
                              GError         **error)
{
  PointerJob job = { 0 };

  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (self), FALSE);

  if (!_khadim_rpa_input_run (self, get_pointer_in_display, &job, error))
    return FALSE;
  *out_x = job.x;
  *out_y = job.y;

  return TRUE;
}

static gboolean
move_to (KhadimRpaInput  *self,
         int              x,
         int              y,
         GError         **error)
{
  PointerJob job = { .x = x, .y = y, .moves = TRUE };

  return _khadim_rpa_input_run (self, press_in_display, &job, error);
}

/* On a straight line that begins and ends slowly. */
static gboolean
glide (KhadimRpaInput  *self,
       int              from_x,
       int              from_y,
       int              x,
       int              y,
       gint64           duration_us,
       GCancellable    *cancellable,
       GError         **error)
{
  gint64 n = duration_us / STEP_US;

  for (gint64 i = 1; i < n; i++)
    {
      double t = (double) i / (double) n;
      double share = t * t * (3 - 2 * t);

      if (!move_to (self, from_x + (int) (share * (x - from_x)),
                    from_y + (int) (share * (y - from_y)), error) ||
          !_khadim_rpa_pause (self, STEP_US, cancellable, error))
        return FALSE;
    }

  return move_to (self, x, y, error);
}

/**
 * khadim_rpa_input_move:
 * @self: the input
 * @x: column on the root, in pixels
 * @y: row
 * @duration_ms: how long it is on its way; 0 for at once
 * @cancellable: (nullable): stops it on its way
 * @error: (nullable): `KHADIM_RPA_ERROR_INVALID` for a point that is not on
 *   the screen, `_CANCELLED`, `_LOST`
 *
 * Moves the pointer. Blocks; any thread but the display's.
 *
 * Returns: whether it is there
 */
gboolean
khadim_rpa_input_move (KhadimRpaInput  *self,
                       int              x,
                       int              y,
                       guint            duration_ms,
                       GCancellable    *cancellable,
                       GError         **error)
{
  int from_x, from_y;

  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (self), FALSE);

  return khadim_rpa_input_get_pointer (self, &from_x, &from_y, error) &&
         glide (self, from_x, from_y, x, y, (gint64) duration_ms * 1000, cancellable, error);
}

/* The last click of any Khadim on a display stands on its root window: a run
 * that was killed and resumed clicks soon after the one before it. */
#define CLICK_NOTE "_KHADIM_LAST_CLICK"

typedef struct
{
  gint32 time_ms;       /* monotonic, the low bits */
  gint32 x;
  gint32 y;
  gint32 button;
} ClickNote;

static gint32
now_ms (void)
{
  return (gint32) ((g_get_monotonic_time () / 1000) & G_MAXINT32);
}

static gboolean
write_click_in_display (KhadimRpaInput  *self,
                        Display         *x,
                        gpointer         user_data,
                        GError         **error)
{
  ClickNote *note = user_data;
  long values[] = { note->time_ms, note->x, note->y, note->button };

  XChangeProperty (x, DefaultRootWindow (x), XInternAtom (x, CLICK_NOTE, False), XA_CARDINAL, 32,
                   PropModeReplace, (unsigned char *) values, G_N_ELEMENTS (values));
  XFlush (x);

  return TRUE;
}

static gboolean
read_click_in_display (KhadimRpaInput  *self,
                       Display         *x,
                       gpointer         user_data,
                       GError         **error)
{
  ClickNote *note = user_data;
  Atom type;
  int format;
  unsigned long n = 0, after;
  unsigned char *data = NULL;
  long *values;

  XGetWindowProperty (x, DefaultRootWindow (x), XInternAtom (x, CLICK_NOTE, False), 0, 4, False,
                      XA_CARDINAL, &type, &format, &n, &after, &data);
  values = (long *) data;
  if (data != NULL && format == 32 && n == 4)
    *note = (ClickNote) { (gint32) values[0], (gint32) values[1], (gint32) values[2],
                          (gint32) values[3] };
  if (data != NULL)
    XFree (data);

  return TRUE;
}

/**
 * khadim_rpa_input_separate_click:
 * @self: the input
 * @x: where the next click will be, in pixels of the root
 * @y: row
 * @button: with which button
 * @cancellable: (nullable): ends the wait
 * @error: (nullable): `KHADIM_RPA_ERROR_CANCELLED`, `_LOST`
 *
 * Waits until a click there would not be taken as one double click with the
 * click before, also one of a run that was killed, for who means two clicks.
 * Blocks; any thread but the display's.
 *
 * Returns: whether the click may be made
 */
gboolean
khadim_rpa_input_separate_click (KhadimRpaInput   *self,
                                 int               x,
                                 int               y,
                                 KhadimRpaButton   button,
                                 GCancellable     *cancellable,
                                 GError          **error)
{
  ClickNote last = { 0 };
  gint32 since_ms;

  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (self), FALSE);

  if (!_khadim_rpa_input_run (self, read_click_in_display, &last, error))
    return FALSE;
  since_ms = now_ms () - last.time_ms;
  if (last.button != (gint32) button || ABS (last.x - x) > KHADIM_RPA_DOUBLE_CLICK_PX ||
      ABS (last.y - y) > KHADIM_RPA_DOUBLE_CLICK_PX || since_ms < 0 ||
      since_ms >= KHADIM_RPA_DOUBLE_CLICK_MS)
    return TRUE;

  return _khadim_rpa_pause (self, (KHADIM_RPA_DOUBLE_CLICK_MS - since_ms) * G_GINT64_CONSTANT (1000),
                            cancellable, error);
}

/**
 * khadim_rpa_input_click:
 * @self: the input
 * @x: column on the root, in pixels
 * @y: row
 * @button: which button
 * @count: 1 to 3 clicks
 * @keys: (nullable): keys that are held meanwhile, such as `ctrl`
 * @hold_ms: how long the button is held at a single click
 * @window: the top-level window that must be under the pointer; 0 for any
 * @cancellable: (nullable): ends a hold
 * @error: (nullable): `KHADIM_RPA_ERROR_FOCUS_LOST` when another window is at
 *   the point, `_INVALID`, `_CANCELLED`, `_LOST`
 *
 * Moves to the point and clicks. Blocks; any thread but the display's.
 *
 * Returns: whether it was done
 */
gboolean
khadim_rpa_input_click (KhadimRpaInput   *self,
                        int               x,
                        int               y,
                        KhadimRpaButton   button,
                        guint             count,
                        const char       *keys,
                        guint             hold_ms,
                        guint32           window,
                        GCancellable     *cancellable,
                        GError          **error)
{
  PointerJob job = {
    .x = x, .y = y, .button = button, .count = count, .window = window, .moves = TRUE,
    .press = TRUE,
  };
  ClickNote note = { .x = x, .y = y, .button = button };
  gboolean good;

  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (self), FALSE);
  g_return_val_if_fail (count >= 1 && count <= 3, FALSE);

  good = _khadim_rpa_hold_keys (self, keys, TRUE, error) &&
         _khadim_rpa_input_run (self, press_in_display, &job, error) &&
         (hold_ms == 0 || _khadim_rpa_pause (self, (gint64) hold_ms * 1000, cancellable, error));
  good = _khadim_rpa_input_run (self, release_in_display, &job, good ? error : NULL) && good;
  note.time_ms = now_ms ();
  _khadim_rpa_input_run (self, write_click_in_display, &note, NULL);

  return _khadim_rpa_hold_keys (self, keys, FALSE, good ? error : NULL) && good;
}

/**
 * khadim_rpa_input_press:
 * @self: the input
 * @button: which button
 * @window: the top-level window that must be under the pointer; 0 for any
 * @error: (nullable): as for khadim_rpa_input_click()
 *
 * Presses a button where the pointer is; it stays pressed. Any thread but the
 * display's.
 *
 * Returns: whether it was done
 */
gboolean
khadim_rpa_input_press (KhadimRpaInput   *self,
                        KhadimRpaButton   button,
                        guint32           window,
                        GError          **error)
{
  PointerJob job = { .button = button, .count = 1, .window = window, .press = TRUE };

  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (self), FALSE);

  return _khadim_rpa_input_run (self, press_in_display, &job, error);
}

/**
 * khadim_rpa_input_release:
 * @self: the input
 * @button: which button
 * @error: (nullable): `KHADIM_RPA_ERROR_LOST`
 *
 * Releases a button that was pressed. Any thread but the display's.
 *
 * Returns: whether it was done
 */
gboolean
khadim_rpa_input_release (KhadimRpaInput   *self,
                          KhadimRpaButton   button,
                          GError          **error)
{
  PointerJob job = { .button = button };

  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (self), FALSE);

  return _khadim_rpa_input_run (self, release_in_display, &job, error);
}

static gboolean
follow_path (KhadimRpaInput  *self,
             const int       *points,
             guint            n_points,
             gint64           duration_us,
             GCancellable    *cancellable,
             GError         **error)
{
  /* Programs tell a drag from a click by more than one motion. */
  gint64 leg_us = MAX (duration_us / (n_points - 1), 5 * STEP_US);

  for (guint i = 1; i < n_points; i++)
    if (!glide (self, points[2 * i - 2], points[2 * i - 1], points[2 * i], points[2 * i + 1],
                leg_us, cancellable, error))
      return FALSE;

  return TRUE;
}

/**
 * khadim_rpa_input_drag:
 * @self: the input
 * @points: (array): columns and rows on the root by turns, in pixels
 * @n_points: how many points, 2 to %KHADIM_RPA_PATH_MAX_POINTS
 * @button: which button is held
 * @keys: (nullable): keys that are held meanwhile
 * @duration_ms: how long it takes
 * @window: the top-level window that must be under the first point; 0 for any
 * @cancellable: (nullable): lets go where the pointer is
 * @error: (nullable): as for khadim_rpa_input_click()
 *
 * Presses at the first point, moves along the path and releases at the last.
 * Blocks; any thread but the display's.
 *
 * Returns: whether it was done
 */
gboolean
khadim_rpa_input_drag (KhadimRpaInput   *self,
                       const int        *points,
                       guint             n_points,
                       KhadimRpaButton   button,
                       const char       *keys,
                       guint             duration_ms,
                       guint32           window,
                       GCancellable     *cancellable,
                       GError          **error)
{
  PointerJob job = {
    .button = button, .count = 1, .window = window, .moves = TRUE, .press = TRUE,
  };
  gboolean good;

  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (self), FALSE);
  g_return_val_if_fail (n_points >= 2 && n_points <= KHADIM_RPA_PATH_MAX_POINTS, FALSE);

  job.x = points[0];
  job.y = points[1];
  good = _khadim_rpa_hold_keys (self, keys, TRUE, error) &&
         _khadim_rpa_input_run (self, press_in_display, &job, error) &&
         follow_path (self, points, n_points, (gint64) duration_ms * 1000, cancellable, error);
  good = _khadim_rpa_input_run (self, release_in_display, &job, good ? error : NULL) && good;

  return _khadim_rpa_hold_keys (self, keys, FALSE, good ? error : NULL) && good;
}

static gboolean
turn_wheel (KhadimRpaInput  *self,
            PointerJob      *job,
            int              steps,
            guint            back,
            guint            forward,
            GCancellable    *cancellable,
            GError         **error)
{
  job->button = steps < 0 ? back : forward;
  for (int i = 0; i < ABS (steps); i++)
    if (!_khadim_rpa_check_cancelled (cancellable, error) ||
        !_khadim_rpa_input_run (self, press_in_display, job, error))
      return FALSE;

  return TRUE;
}

/**
 * khadim_rpa_input_scroll:
 * @self: the input
 * @x: column on the root, in pixels
 * @y: row
 * @steps_x: steps of the wheel to the right, to the left when negative
 * @steps_y: steps down, up when negative
 * @keys: (nullable): keys that are held meanwhile
 * @window: the top-level window that must be under the pointer; 0 for any
 * @cancellable: (nullable): stops between two steps
 * @error: (nullable): as for khadim_rpa_input_click(); `_LIMIT` beyond 1000
 *   steps
 *
 * Turns the wheel over a point. Blocks; any thread but the display's.
 *
 * Returns: whether it was done
 */
gboolean
khadim_rpa_input_scroll (KhadimRpaInput  *self,
                         int              x,
                         int              y,
                         int              steps_x,
                         int              steps_y,
                         const char      *keys,
                         guint32          window,
                         GCancellable    *cancellable,
                         GError         **error)
{
  PointerJob job = {
    .x = x, .y = y, .count = 1, .window = window, .moves = TRUE, .press = TRUE,
  };
  gboolean good;

  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (self), FALSE);

  if (ABS (steps_x) > MAX_STEPS || ABS (steps_y) > MAX_STEPS)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
                   "one call scrolls at most %d steps", MAX_STEPS);
      return FALSE;
    }
  good = _khadim_rpa_hold_keys (self, keys, TRUE, error) &&
         turn_wheel (self, &job, steps_y, WHEEL_UP, WHEEL_DOWN, cancellable, error) &&
         turn_wheel (self, &job, steps_x, WHEEL_LEFT, WHEEL_RIGHT, cancellable, error);

  return _khadim_rpa_hold_keys (self, keys, FALSE, good ? error : NULL) && good;
}
