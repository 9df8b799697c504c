/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <X11/Xlib.h>
#include <X11/Xutil.h>

#include "rpa/screen/khadim-rpa-error.h"
#include "rpa/screen/khadim-rpa-windows.h"
#include "tests/rpa/lib/desk.h"

/* Runs with each window manager and without; xwininfo and xprop are the
 * witnesses. */

#define TIMEOUT_MS 10000
#define SHORT_MS   300

static Desk *desk;
static KhadimRpaDisplay *display;
static KhadimRpaWindows *windows;

static KhadimRpaWindow *
wait_for (GSubprocess *process)
{
  const KhadimRpaWindowMatch match = { .pid = desk_pid (process) };
  g_autoptr(GError) error = NULL;
  KhadimRpaWindow *window =
    khadim_rpa_windows_wait_for (windows, &match, NULL, TIMEOUT_MS, NULL, &error);

  g_assert_no_error (error);

  return window;
}

static int
read_number (const char *text,
             const char *label)
{
  const char *at = strstr (text, label);

  g_assert_nonnull (at);

  return (int) g_ascii_strtoll (at + strlen (label), NULL, 10);
}

/* What xwininfo says of a window, and xprop of the frame around it. */
static KhadimRpaRect
witness (guint32  id,
         gboolean frame)
{
  g_autofree char *name = g_strdup_printf ("0x%x", id);
  g_autofree char *text = desk_run ("xwininfo", "-id", name, NULL);
  g_autofree char *border = desk_run ("xprop", "-id", name, "_NET_FRAME_EXTENTS", NULL);
  KhadimRpaRect rect = { read_number (text, "Absolute upper-left X:"),
                         read_number (text, "Absolute upper-left Y:"),
                         read_number (text, "Width:"), read_number (text, "Height:") };
  int left = 0, right = 0, top = 0, bottom = 0;

  if (!frame || strchr (border, '=') == NULL)
    return rect;
  g_assert_cmpint (
    sscanf (strchr (border, '='), "= %d, %d, %d, %d", &left, &right, &top, &bottom), ==, 4);

  return (KhadimRpaRect) { rect.x - left, rect.y - top, rect.width + left + right,
                           rect.height + top + bottom };
}

static gboolean
rect_equal (KhadimRpaRect a,
            KhadimRpaRect b)
{
  return a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
}

/* zenity makes up its mind about its size when it is shown already. */
static gboolean
agrees (gpointer user_data)
{
  guint32 id = GPOINTER_TO_UINT (user_data);
  g_autoptr(KhadimRpaWindow) window = khadim_rpa_windows_get (windows, id, NULL);
  KhadimRpaRect client, frame;

  khadim_rpa_window_get_client (window, &client);
  khadim_rpa_window_get_frame (window, &frame);

  return rect_equal (client, witness (id, FALSE)) && rect_equal (frame, witness (id, TRUE))
         && frame.height > client.height;
}

static void
assert_rect (KhadimRpaRect is,
             KhadimRpaRect wanted)
{
  g_assert_cmpint (is.x, ==, wanted.x);
  g_assert_cmpint (is.y, ==, wanted.y);
  g_assert_cmpint (is.width, ==, wanted.width);
  g_assert_cmpint (is.height, ==, wanted.height);
}

static void
test_list (void)
{
  g_autoptr(GSubprocess) zenity =
    desk_spawn (desk, "zenity", "--info", "--title=Grüße *1*", "--text=t", NULL);
  g_autoptr(KhadimRpaWindow) window = wait_for (zenity);
  const KhadimRpaWindowMatch by_app = { .app = "ZENITY", .title = "Gr*" };
  const KhadimRpaWindowMatch wrong = { .app = "zenity", .title = "Gr" };
  g_autoptr(KhadimRpaWindow) found = NULL;
  g_autoptr(GPtrArray) all = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) json = khadim_rpa_window_to_json (window);

  g_assert_cmpstr (khadim_rpa_window_get_title (window), ==, "Grüße *1*");
  g_assert_cmpstr (khadim_rpa_window_get_class (window), ==, "Zenity");
  g_assert_cmpstr (khadim_rpa_window_get_instance (window), ==, "zenity");
  g_assert_cmpstr (khadim_rpa_window_get_window_type (window), ==, "dialog");
  g_assert_cmpstr (json_object_get_string_member (json_node_get_object (json), "title"), ==,
                   "Grüße *1*");
  g_assert_true (
    desk_wait (agrees, GUINT_TO_POINTER (khadim_rpa_window_get_id (window)), TIMEOUT_MS));

  found = khadim_rpa_windows_find (windows, &by_app, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (khadim_rpa_window_get_id (found), ==, khadim_rpa_window_get_id (window));
  g_assert_null (khadim_rpa_windows_find (windows, &wrong, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND);
  g_clear_error (&error);
  all = khadim_rpa_windows_list (windows, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (all->len, ==, 1);
  desk_end (zenity);
}

static void
assert_active (guint32 id)
{
  g_autofree char *text = desk_run ("xprop", "-root", "_NET_ACTIVE_WINDOW", NULL);
  g_autofree char *wanted = g_strdup_printf ("window id # 0x%x", id);

  g_assert_nonnull (strstr (text, wanted));
}

static void
test_activate (void)
{
  g_autoptr(GSubprocess) first = desk_spawn (desk, "zenity", "--info", "--title=first", NULL);
  g_autoptr(KhadimRpaWindow) one = wait_for (first);
  g_autoptr(GSubprocess) second = desk_spawn (desk, "zenity", "--info", "--title=second", NULL);
  g_autoptr(KhadimRpaWindow) two = wait_for (second);
  g_autoptr(KhadimRpaWindow) active = NULL;
  g_autoptr(GPtrArray) all = NULL;
  g_autoptr(GError) error = NULL;

  for (int i = 0; i < 10; i++)
    {
      guint32 id = khadim_rpa_window_get_id (i % 2 == 0 ? one : two);

      g_assert_true (khadim_rpa_windows_activate (windows, id, TIMEOUT_MS, NULL, &error));
      g_assert_no_error (error);
      assert_active (id);
    }
  active = khadim_rpa_windows_get_active (windows, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (khadim_rpa_window_get_title (active), ==, "second");
  g_assert_true (khadim_rpa_window_get_state (active) & KHADIM_RPA_WINDOW_STATE_ACTIVE);
  all = khadim_rpa_windows_list (windows, NULL, NULL);
  g_assert_cmpuint (khadim_rpa_window_get_id (g_ptr_array_index (all, all->len - 1)), ==,
                    khadim_rpa_window_get_id (two));

  g_assert_false (khadim_rpa_windows_activate (windows, 0x7654321, SHORT_MS, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND);
  desk_end (first);
  desk_end (second);
}

/* A window that wants no keyboard does not get it. */
static void
test_focus_lost (void)
{
  g_autoptr(GSubprocess) zenity = desk_spawn (desk, "zenity", "--info", "--title=keeps", NULL);
  g_autoptr(KhadimRpaWindow) keeps = wait_for (zenity);
  Display *x = XOpenDisplay (NULL);
  Window window = XCreateSimpleWindow (x, DefaultRootWindow (x), 0, 0, 200, 100, 0, 0, 0);
  XWMHints hints = { .flags = InputHint, .input = False };
  const KhadimRpaWindowMatch match = { .id = (guint32) window };
  g_autoptr(KhadimRpaWindow) shown = NULL;
  g_autoptr(GError) error = NULL;

  XSetWMHints (x, window, &hints);
  XMapWindow (x, window);
  XSync (x, False);
  shown = khadim_rpa_windows_wait_for (windows, &match, NULL, TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (
    khadim_rpa_windows_activate (windows, (guint32) window, SHORT_MS, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FOCUS_LOST);
  XCloseDisplay (x);
  desk_end (zenity);
}

static void
check_mode (guint32              id,
            KhadimRpaWindowMode  mode,
            const char          *state)
{
  const KhadimRpaPlacement placement = { .mode = mode };
  g_autofree char *name = g_strdup_printf ("0x%x", id);
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimRpaWindow) window =
    khadim_rpa_windows_place (windows, id, &placement, TIMEOUT_MS, NULL, &error);
  g_autofree char *text = desk_run ("xprop", "-id", name, "_NET_WM_STATE", NULL);

  g_assert_no_error (error);
  if (state != NULL)
    g_assert_nonnull (strstr (text, state));
  else
    g_assert_null (strstr (text, "_STATE_HIDDEN"));
}

static void
test_place (void)
{
  g_autoptr(GSubprocess) mousepad = desk_spawn (desk, "mousepad", "--disable-server", NULL);
  g_autoptr(KhadimRpaWindow) window = wait_for (mousepad);
  guint32 id = khadim_rpa_window_get_id (window);
  const KhadimRpaPlacement there = { .move = TRUE, .resize = TRUE, .x = 111, .y = 77,
                                     .width = 600, .height = 400 };
  const KhadimRpaPlacement moved = { .move = TRUE, .x = 33, .y = 44 };
  const KhadimRpaPlacement wrong = { .resize = TRUE, .width = 0, .height = 5 };
  g_autoptr(KhadimRpaWindow) placed = NULL;
  g_autoptr(KhadimRpaWindow) again = NULL;
  g_autoptr(GError) error = NULL;

  placed = khadim_rpa_windows_place (windows, id, &there, TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);
  assert_rect (witness (id, TRUE), (KhadimRpaRect) { 111, 77, 600, 400 });

  check_mode (id, KHADIM_RPA_WINDOW_MODE_MAXIMIZED, "MAXIMIZED_VERT");
  check_mode (id, KHADIM_RPA_WINDOW_MODE_FULLSCREEN, "FULLSCREEN");
  check_mode (id, KHADIM_RPA_WINDOW_MODE_NORMAL, NULL);
  check_mode (id, KHADIM_RPA_WINDOW_MODE_MINIMIZED, "HIDDEN");
  check_mode (id, KHADIM_RPA_WINDOW_MODE_MAXIMIZED, "MAXIMIZED_HORZ");
  again = khadim_rpa_windows_place (windows, id, &moved, TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);
  assert_rect (witness (id, TRUE), (KhadimRpaRect) { 33, 44, 600, 400 });

  g_assert_null (khadim_rpa_windows_place (windows, id, &wrong, TIMEOUT_MS, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  desk_end (mousepad);
}

/* The nearest size below that a window says it can have. */
static void
test_hints (void)
{
  Display *x = XOpenDisplay (NULL);
  Window window = XCreateSimpleWindow (x, DefaultRootWindow (x), 0, 0, 200, 100, 0, 0, 0);
  XSizeHints hints = { .flags = PMinSize | PResizeInc | PBaseSize, .min_width = 122,
                       .min_height = 90, .base_width = 10, .base_height = 10, .width_inc = 8,
                       .height_inc = 16 };
  const KhadimRpaWindowMatch match = { .id = (guint32) window };
  const KhadimRpaPlacement small = { .resize = TRUE, .width = 30, .height = 30 };
  const KhadimRpaPlacement odd = { .resize = TRUE, .width = 303, .height = 303 };
  g_autoptr(KhadimRpaWindow) shown = NULL;
  g_autoptr(KhadimRpaWindow) placed = NULL;
  g_autoptr(GError) error = NULL;
  KhadimRpaRect client;

  XSetWMNormalHints (x, window, &hints);
  XMapWindow (x, window);
  XSync (x, False);
  shown = khadim_rpa_windows_wait_for (windows, &match, NULL, TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);
  placed = khadim_rpa_windows_place (windows, match.id, &odd, TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);
  khadim_rpa_window_get_client (placed, &client);
  g_assert_cmpint ((client.width - 10) % 8, ==, 0);
  g_assert_cmpint ((client.height - 10) % 16, ==, 0);
  g_clear_pointer (&placed, khadim_rpa_window_unref);
  placed = khadim_rpa_windows_place (windows, match.id, &small, TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);
  assert_rect (witness (match.id, FALSE),
               (KhadimRpaRect) { witness (match.id, FALSE).x, witness (match.id, FALSE).y, 122,
                                 90 });
  XCloseDisplay (x);
}

static void
test_close (void)
{
  g_autoptr(GSubprocess) zenity = desk_spawn (desk, "zenity", "--question", "--title=c", NULL);
  g_autoptr(KhadimRpaWindow) window = wait_for (zenity);
  g_autoptr(GError) error = NULL;
  g_autofree char *output = NULL;
  int status = -1;

  g_assert_true (khadim_rpa_windows_close (windows, khadim_rpa_window_get_id (window), TIMEOUT_MS,
                                           NULL, &error));
  g_assert_no_error (error);
  output = desk_finish (zenity, &status);
  g_assert_cmpint (status, ==, 1);
  g_assert_false (khadim_rpa_windows_close (windows, khadim_rpa_window_get_id (window), SHORT_MS,
                                            NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND);
}

static void
test_hung (void)
{
  g_autoptr(GSubprocess) zenity = desk_spawn (desk, "zenity", "--info", "--title=h", NULL);
  g_autoptr(KhadimRpaWindow) window = wait_for (zenity);
  guint32 id = khadim_rpa_window_get_id (window);
  g_autoptr(GError) error = NULL;

  g_assert_true (khadim_rpa_windows_ping (windows, id, TIMEOUT_MS, NULL, &error));
  g_assert_no_error (error);
  desk_freeze (zenity);
  g_assert_false (khadim_rpa_windows_ping (windows, id, SHORT_MS, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_HUNG);
  g_clear_error (&error);
  g_assert_false (khadim_rpa_windows_close (windows, id, SHORT_MS, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_HUNG);
  g_clear_error (&error);
  g_subprocess_send_signal (zenity, SIGCONT);
  g_assert_true (khadim_rpa_windows_wait_gone (windows, id, TIMEOUT_MS, NULL, &error));
  g_assert_no_error (error);
  desk_end (zenity);
}

/* Qt 5 answers too. */
static void
test_ping_qt (void)
{
  g_autoptr(GSubprocess) featherpad = desk_spawn (desk, "featherpad", NULL);
  g_autoptr(KhadimRpaWindow) window = wait_for (featherpad);
  g_autoptr(GError) error = NULL;

  g_assert_true (khadim_rpa_windows_ping (windows, khadim_rpa_window_get_id (window), 3000, NULL,
                                          &error));
  g_assert_no_error (error);
  desk_end (featherpad);
}

static void
test_no_protocols (void)
{
  Display *x = XOpenDisplay (NULL);
  Window window = XCreateSimpleWindow (x, DefaultRootWindow (x), 0, 0, 200, 100, 0, 0, 0);
  const KhadimRpaWindowMatch match = { .id = (guint32) window };
  g_autoptr(KhadimRpaWindow) shown = NULL;
  g_autoptr(GError) error = NULL;

  XMapWindow (x, window);
  XSync (x, False);
  shown = khadim_rpa_windows_wait_for (windows, &match, NULL, TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (khadim_rpa_windows_close (windows, match.id, SHORT_MS, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  g_assert_false (khadim_rpa_windows_ping (windows, match.id, SHORT_MS, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED);
  XCloseDisplay (x);
}

static int n_foreign_errors;

static int
on_foreign_error_cb (Display     *x,
                     XErrorEvent *event)
{
  n_foreign_errors++;

  return 0;
}

/* A toolkit in the same process gets its own errors and none of ours. */
static void
test_errors (void)
{
  Display *x = XOpenDisplay (NULL);
  XErrorHandler before = XSetErrorHandler (on_foreign_error_cb);
  g_autoptr(GError) error = NULL;

  g_assert_null (khadim_rpa_windows_get (windows, 0x7654321, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND);
  g_assert_cmpint (n_foreign_errors, ==, 0);
  XMapWindow (x, 0x7654321);
  XSync (x, False);
  g_assert_cmpint (n_foreign_errors, ==, 1);
  XSetErrorHandler (before);
  XCloseDisplay (x);
}

static void
test_wait (void)
{
  const KhadimRpaWindowMatch never = { .title = "never" };
  const KhadimRpaWindowMatch zenitys = { .app = "zenity" };
  g_autoptr(GSubprocess) old = desk_spawn (desk, "zenity", "--info", "--title=old", NULL);
  g_autoptr(KhadimRpaWindow) first = wait_for (old);
  g_autoptr(GPtrArray) known = khadim_rpa_windows_list (windows, NULL, NULL);
  g_autoptr(GSubprocess) new = desk_spawn (desk, "zenity", "--info", "--title=new", NULL);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(KhadimRpaWindow) second = NULL;
  g_autoptr(GError) error = NULL;

  second = khadim_rpa_windows_wait_for (windows, &zenitys, known, TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (khadim_rpa_window_get_pid (second), ==, desk_pid (new));
  g_assert_null (khadim_rpa_windows_wait_for (windows, &never, NULL, 50, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT);
  g_clear_error (&error);
  g_cancellable_cancel (cancellable);
  g_assert_null (
    khadim_rpa_windows_wait_for (windows, &never, NULL, TIMEOUT_MS, cancellable, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED);
  desk_end (old);
  desk_end (new);
}

/* Without a manager: what is on the root can be listed, moved, given the
 * keyboard and closed; nobody could maximise it. */
static void
test_bare (void)
{
  g_autoptr(GSubprocess) zenity = desk_spawn (desk, "zenity", "--info", "--title=bare", NULL);
  g_autoptr(KhadimRpaWindow) window = wait_for (zenity);
  guint32 id = khadim_rpa_window_get_id (window);
  const KhadimRpaPlacement there = { .move = TRUE, .x = 50, .y = 60 };
  const KhadimRpaPlacement big = { .mode = KHADIM_RPA_WINDOW_MODE_MAXIMIZED };
  g_autoptr(KhadimRpaWindow) placed = NULL;
  g_autoptr(KhadimRpaWindow) active = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_false (khadim_rpa_windows_has_manager (windows));
  placed = khadim_rpa_windows_place (windows, id, &there, TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (witness (id, FALSE).x, ==, 50);
  g_assert_cmpint (witness (id, FALSE).y, ==, 60);
  g_assert_null (khadim_rpa_windows_place (windows, id, &big, TIMEOUT_MS, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  g_assert_true (khadim_rpa_windows_activate (windows, id, TIMEOUT_MS, NULL, &error));
  g_assert_no_error (error);
  active = khadim_rpa_windows_get_active (windows, &error);
  g_assert_no_error (error);
  g_assert_true (khadim_rpa_windows_close (windows, id, TIMEOUT_MS, NULL, &error));
  g_assert_no_error (error);
  desk_end (zenity);
}

static void
add_tests (void)
{
  g_test_add_func ("/rpa/windows/list", test_list);
  g_test_add_func ("/rpa/windows/wait", test_wait);
  g_test_add_func ("/rpa/windows/errors", test_errors);
  g_test_add_func ("/rpa/windows/activate", test_activate);
  g_test_add_func ("/rpa/windows/focus-lost", test_focus_lost);
  g_test_add_func ("/rpa/windows/place", test_place);
  g_test_add_func ("/rpa/windows/hints", test_hints);
  g_test_add_func ("/rpa/windows/close", test_close);
  g_test_add_func ("/rpa/windows/hung", test_hung);
  g_test_add_func ("/rpa/windows/ping-qt", test_ping_qt);
  g_test_add_func ("/rpa/windows/no-protocols", test_no_protocols);
}

int
main (int   argc,
      char *argv[])
{
  const char *wm;
  g_autoptr(GError) error = NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  wm = argc > 1 ? argv[1] : NULL;
  desk = desk_new (wm, 1280, 800);
  display = khadim_rpa_display_new (NULL, &error);
  g_assert_no_error (error);
  windows = khadim_rpa_windows_new (display, &error);
  g_assert_no_error (error);
  if (wm != NULL)
    add_tests ();
  else
    g_test_add_func ("/rpa/windows/bare", test_bare);
  result = g_test_run ();

  g_object_unref (windows);
  g_object_unref (display);
  desk_free (desk);

  return result;
}
