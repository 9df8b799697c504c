/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <X11/Xlib.h>

#include "rpa/screen/khadim-rpa-error.h"
#include "rpa/screen/khadim-rpa-lease.h"
#include "rpa/screen/khadim-rpa-monitor.h"
#include "tests/rpa/lib/desk.h"

#define TIMEOUT_MS 10000
#define SHORT_MS   100

static Desk *desk;
static KhadimRpaDisplay *display;
static char *self_path;

static KhadimRpaLease *
acquire (const char *session_id)
{
  g_autoptr(GError) error = NULL;
  KhadimRpaLease *lease =
    khadim_rpa_lease_acquire (display, session_id, TIMEOUT_MS, NULL, &error);

  g_assert_no_error (error);

  return lease;
}

/* What the server says, by a connection of its own. */
static gboolean
is_owned (void)
{
  Display *x = XOpenDisplay (NULL);
  Window owner = XGetSelectionOwner (x, XInternAtom (x, "_KHADIM_LEASE", False));

  XCloseDisplay (x);

  return owner != None;
}

static void
test_exclusive (void)
{
  g_autoptr(KhadimRpaLease) first = NULL;
  g_autoptr(KhadimRpaLease) again = NULL;
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autofree char *session_id = NULL;
  g_autoptr(GError) error = NULL;
  guint32 pid = 0;

  g_assert_false (khadim_rpa_lease_get_holder (display, NULL, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND);
  g_clear_error (&error);
  first = acquire ("session-1");
  g_assert_true (khadim_rpa_lease_is_held (first));
  g_assert_true (is_owned ());
  g_assert_true (khadim_rpa_lease_get_holder (display, &session_id, &pid, &error));
  g_assert_cmpstr (session_id, ==, "session-1");
  g_assert_cmpuint (pid, ==, getpid ());

  g_assert_null (khadim_rpa_lease_acquire (display, "session-2", SHORT_MS, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_BUSY);
  g_assert_nonnull (strstr (error->message, "session-1"));
  g_clear_error (&error);
  g_cancellable_cancel (cancellable);
  g_assert_null (
    khadim_rpa_lease_acquire (display, "session-2", TIMEOUT_MS, cancellable, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_null (khadim_rpa_lease_acquire (display, "", SHORT_MS, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);

  khadim_rpa_lease_release (first);
  g_assert_false (khadim_rpa_lease_is_held (first));
  g_assert_false (is_owned ());
  again = acquire ("session-2");
  g_assert_true (khadim_rpa_lease_is_held (again));
}

typedef struct {
  KhadimRpaLease *lease;
  guint order;
} Waiting;

static guint n_acquired;

static void
on_acquired_cb (GObject      *source,
                GAsyncResult *result,
                gpointer      user_data)
{
  Waiting *waiting = user_data;
  g_autoptr(GError) error = NULL;

  waiting->lease =
    khadim_rpa_lease_acquire_finish (KHADIM_RPA_DISPLAY (source), result, &error);
  g_assert_no_error (error);
  waiting->order = ++n_acquired;
  khadim_rpa_lease_release (waiting->lease);
}

/* The first one in it is the holder. */
static gboolean
has_queue (gpointer user_data)
{
  g_autofree char *text = desk_run ("xprop", "-root", "_KHADIM_LEASE_QUEUE", NULL);
  guint wanted = GPOINTER_TO_UINT (user_data);
  guint n = 0;

  for (const char *at = strstr (text, "0x"); at != NULL; at = strstr (at + 2, "0x"))
    n++;

  return n == wanted;
}

static gboolean
all_acquired (gpointer user_data)
{
  return n_acquired == GPOINTER_TO_UINT (user_data);
}

/* First come, first served. */
static void
test_queue (void)
{
  g_autoptr(KhadimRpaLease) first = acquire ("first");
  Waiting waiting[5] = { 0 };

  n_acquired = 0;
  for (guint i = 0; i < G_N_ELEMENTS (waiting); i++)
    {
      khadim_rpa_lease_acquire_async (display, "next", TIMEOUT_MS, NULL, on_acquired_cb,
                                      &waiting[i]);
      g_assert_true (desk_wait (has_queue, GUINT_TO_POINTER (i + 2), TIMEOUT_MS));
    }
  g_assert_cmpuint (n_acquired, ==, 0);
  khadim_rpa_lease_release (first);
  g_assert_true (
    desk_wait (all_acquired, GUINT_TO_POINTER (G_N_ELEMENTS (waiting)), TIMEOUT_MS));
  for (guint i = 0; i < G_N_ELEMENTS (waiting); i++)
    {
      g_assert_cmpuint (waiting[i].order, ==, i + 1);
      g_object_unref (waiting[i].lease);
    }
  g_assert_true (has_queue (GUINT_TO_POINTER (0)));
}

static char *
read_line (GSubprocess *process)
{
  g_autoptr(GDataInputStream) lines =
    g_data_input_stream_new (g_subprocess_get_stdout_pipe (process));
  g_autoptr(GError) error = NULL;
  char *line = g_data_input_stream_read_line (lines, NULL, NULL, &error);

  g_assert_no_error (error);

  return line;
}

/* The server frees the lease of a process that is killed. */
static void
test_killed (void)
{
  g_autoptr(GSubprocess) child = desk_spawn (desk, self_path, "--hold", NULL);
  g_autofree char *line = read_line (child);
  g_autoptr(KhadimRpaLease) lease = NULL;
  g_autofree char *session_id = NULL;
  g_autoptr(GError) error = NULL;
  guint32 pid = 0;

  g_assert_cmpstr (line, ==, "held");
  g_assert_true (khadim_rpa_lease_get_holder (display, &session_id, &pid, &error));
  g_assert_cmpstr (session_id, ==, "child");
  g_assert_cmpuint (pid, ==, desk_pid (child));
  g_assert_null (khadim_rpa_lease_acquire (display, "me", SHORT_MS, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_BUSY);

  g_subprocess_send_signal (child, SIGKILL);
  lease = acquire ("me");
  g_assert_true (khadim_rpa_lease_is_held (lease));
  g_subprocess_wait (child, NULL, NULL);
}

/* One that is killed while it waits does not hold up those behind it. */
static void
test_killed_waiter (void)
{
  g_autoptr(KhadimRpaLease) first = acquire ("first");
  g_autoptr(GSubprocess) child = desk_spawn (desk, self_path, "--hold", NULL);
  Waiting waiting = { 0 };

  n_acquired = 0;
  g_assert_true (desk_wait (has_queue, GUINT_TO_POINTER (2), TIMEOUT_MS));
  khadim_rpa_lease_acquire_async (display, "behind", TIMEOUT_MS, NULL, on_acquired_cb, &waiting);
  g_assert_true (desk_wait (has_queue, GUINT_TO_POINTER (3), TIMEOUT_MS));
  desk_freeze (child);
  khadim_rpa_lease_release (first);
  g_assert_cmpuint (n_acquired, ==, 0);
  g_subprocess_send_signal (child, SIGKILL);
  g_assert_true (desk_wait (all_acquired, GUINT_TO_POINTER (1), TIMEOUT_MS));
  g_object_unref (waiting.lease);
  g_subprocess_wait (child, NULL, NULL);
}

static gboolean
is_not_held (gpointer user_data)
{
  return !khadim_rpa_lease_is_held (user_data);
}

static void
test_taken (void)
{
  g_autoptr(KhadimRpaLease) lease = acquire ("mine");
  Display *x = XOpenDisplay (NULL);
  Window window = XCreateSimpleWindow (x, DefaultRootWindow (x), 0, 0, 1, 1, 0, 0, 0);

  XSetSelectionOwner (x, XInternAtom (x, "_KHADIM_LEASE", False), window, CurrentTime);
  XSync (x, False);
  g_assert_true (desk_wait (is_not_held, lease, TIMEOUT_MS));
  XCloseDisplay (x);
}

static void
test_monitors (void)
{
  g_autoptr(GPtrArray) one = NULL;
  g_autoptr(GPtrArray) two = NULL;
  g_autofree char *left = NULL;
  g_autofree char *right = NULL;
  g_autoptr(GError) error = NULL;
  const KhadimRpaMonitor *monitor;

  one = khadim_rpa_monitor_list (display, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (one->len, ==, 1);
  monitor = g_ptr_array_index (one, 0);
  g_assert_cmpstr (monitor->name, ==, "screen");
  g_assert_cmpint (monitor->area.width, ==, 1280);
  g_assert_cmpint (monitor->area.height, ==, 800);
  g_assert_cmpfloat (monitor->scale, ==, 1.0);

  left = desk_run ("xrandr", "--setmonitor", "L", "640/170x800/210+0+0", "screen", NULL);
  right = desk_run ("xrandr", "--setmonitor", "R", "640/170x800/210+640+0", "none", NULL);
  two = khadim_rpa_monitor_list (display, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (two->len, ==, 2);
  monitor = g_ptr_array_index (two, 1);
  g_assert_cmpstr (monitor->name, ==, "R");
  g_assert_cmpint (monitor->area.x, ==, 640);
  g_assert_cmpint (monitor->width_mm, ==, 170);
}

/* The child of test_killed(): holds the lease until it is killed. */
static int
hold (void)
{
  g_autoptr(KhadimRpaDisplay) own = khadim_rpa_display_new (NULL, NULL);
  g_autoptr(KhadimRpaLease) lease =
    khadim_rpa_lease_acquire (own, "child", TIMEOUT_MS, NULL, NULL);
  g_autoptr(GMainLoop) loop = g_main_loop_new (NULL, FALSE);

  g_print ("%s\n", lease != NULL ? "held" : "failed");
  fflush (stdout);
  g_main_loop_run (loop);

  return 0;
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr(GError) error = NULL;
  int result;

  if (argc > 1 && g_str_equal (argv[1], "--hold"))
    return hold ();
  g_test_init (&argc, &argv, NULL);
  self_path = g_file_read_link ("/proc/self/exe", NULL);
  desk = desk_new (NULL, 1280, 800);
  display = khadim_rpa_display_new (NULL, &error);
  g_assert_no_error (error);

  g_test_add_func ("/rpa/lease/exclusive", test_exclusive);
  g_test_add_func ("/rpa/lease/queue", test_queue);
  g_test_add_func ("/rpa/lease/killed", test_killed);
  g_test_add_func ("/rpa/lease/killed-waiter", test_killed_waiter);
  g_test_add_func ("/rpa/lease/taken", test_taken);
  g_test_add_func ("/rpa/monitor/list", test_monitors);
  result = g_test_run ();

  g_object_unref (display);
  desk_free (desk);
  g_free (self_path);

  return result;
}
