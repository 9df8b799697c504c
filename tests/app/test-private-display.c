/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Real displays: xdpyinfo, xprop and dbus-send look at them from outside, and
 * /proc says which processes are there. */

#define G_LOG_DOMAIN "test-private-display"

#include "config.h"

#include "engine/runner/khadim-private-display.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "engine/runner/khadim-private-display-private.h"

/* For anything that the tests wait for */
#define PATIENCE_US ((gint64) 30 * G_USEC_PER_SEC)
#define LOOK_MS 10
#define SHELL(script) ((const char *const[]) { "sh", "-c", (script), NULL })
#define PERSON_BUS "unix:path=/nonexistent/person"

typedef gboolean (*Condition) (gconstpointer data);

static gboolean
on_look_cb (gpointer user_data)
{
  return G_SOURCE_CONTINUE;
}

/* The one way to wait: until the condition holds, or the test fails */
static void
wait_until (Condition      condition,
            gconstpointer  data,
            const char    *what)
{
  gint64 deadline_us = g_get_monotonic_time () + PATIENCE_US;
  guint look = g_timeout_add (LOOK_MS, on_look_cb, NULL);

  while (!condition (data))
    {
      if (g_get_monotonic_time () > deadline_us)
        g_error ("Waited in vain: %s", what);
      g_main_context_iteration (NULL, TRUE);
    }
  g_source_remove (look);
}

/* A process that has ended and was not waited for counts as gone */
static gboolean
is_gone (gconstpointer data)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/stat", *(const int *) data);
  g_autofree char *text = NULL;

  return !g_file_get_contents (path, &text, NULL, NULL) ||
         strncmp (strrchr (text, ')'), ") Z", 3) == 0;
}

static gboolean
has_no_display (gconstpointer data)
{
  g_autoptr(KhadimPrivateDisplay) display = khadim_private_display_lookup (data, NULL);

  return display == NULL;
}

static gboolean
is_unclaimed (gconstpointer data)
{
  g_autoptr(KhadimPrivateDisplay) display = khadim_private_display_lookup (data, NULL);

  return display != NULL && khadim_private_display_get_child (display) == 0;
}

static void
assert_not_found (const char *id)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (khadim_private_display_lookup (id, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_NOT_FOUND);
}

static GSubprocess *
spawn (guint       unclaimed_s,
       const char *script)
{
  const KhadimPrivateDisplaySpec spec = { 1280, 800, unclaimed_s };
  g_autoptr(GError) error = NULL;
  GSubprocess *process =
    khadim_private_display_spawn (&spec, SHELL (script),
                                  G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE,
                                  &error);

  g_assert_no_error (error);
  return process;
}

/* Waits for the end: the exit code, and what was written */
static int
finish (GSubprocess  *process,
        char        **output)
{
  g_autoptr(GError) error = NULL;

  g_subprocess_communicate_utf8 (process, NULL, NULL, output, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_get_if_exited (process));
  return g_subprocess_get_exit_status (process);
}

/* The next line that a command writes, while it runs */
static char *
read_line (GSubprocess *process)
{
  g_autoptr(GString) line = g_string_new (NULL);
  GInputStream *stream = g_subprocess_get_stdout_pipe (process);
  char byte;

  while (g_input_stream_read (stream, &byte, 1, NULL, NULL) == 1 && byte != '\n')
    g_string_append_c (line, byte);

  return g_strdup (line->str);
}

static gboolean
has_settled (gconstpointer data)
{
  g_autoptr(KhadimPrivateDisplay) display = khadim_private_display_lookup (data, NULL);

  return display != NULL && display->child != display->supervisor;
}

static KhadimPrivateDisplay *
lookup (const char *id)
{
  g_autoptr(GError) error = NULL;
  KhadimPrivateDisplay *display;

  wait_until (has_settled, id, "a display with its command");
  display = khadim_private_display_lookup (id, &error);
  g_assert_no_error (error);
  return display;
}

/* Whether a program that has the cookie gets an answer from the display */
static gboolean
answers (KhadimPrivateDisplay *display)
{
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (
    G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GError) error = NULL;

  g_subprocess_launcher_setenv (launcher, "XAUTHORITY",
                                khadim_private_display_get_authority (display), TRUE);
  process = g_subprocess_launcher_spawn (launcher, &error, "xdpyinfo", "-display",
                                         khadim_private_display_get_name (display), NULL);
  g_assert_no_error (error);
  return g_subprocess_wait_check (process, NULL, NULL);
}

static void
assert_all_gone (KhadimPrivateDisplay *display)
{
  g_autofree char *home = _khadim_display_get_home (display->id);

  wait_until (is_gone, &display->server, "the end of the X server");
  wait_until (is_gone, &display->bus, "the end of the bus");
  wait_until (is_gone, &display->manager, "the end of the window manager");
  wait_until (is_gone, &display->supervisor, "the end of the supervisor");
  assert_not_found (display->id);
  g_assert_false (answers (display));
}

static void
test_run (void)
{
  g_autoptr(GSubprocess) process = spawn (0,
    "echo $KHADIM_DISPLAY_ID; echo $KHADIM_PERSON_BUS; cat; xdpyinfo | grep dimensions; exit 7");
  g_autoptr(KhadimPrivateDisplay) display = NULL;
  g_autoptr(GPtrArray) list = NULL;
  g_autofree char *id = read_line (process);
  g_autofree char *bus = read_line (process);
  g_autofree char *home = NULL;
  g_autofree char *output = NULL;

  g_assert_cmpstr (bus, ==, PERSON_BUS);
  display = lookup (id);
  g_assert_cmpstr (khadim_private_display_get_id (display), ==, id);
  g_assert_cmpint (khadim_private_display_get_width_px (display), ==, 1280);
  g_assert_cmpint (khadim_private_display_get_height_px (display), ==, 800);
  g_assert_cmpint (khadim_private_display_get_child (display), >, 0);
  list = khadim_private_display_list (NULL);
  g_assert_cmpuint (list->len, ==, 1);

  g_assert_cmpint (finish (process, &output), ==, 7);
  g_assert_nonnull (strstr (output, "1280x800 pixels"));
  assert_all_gone (display);
  home = _khadim_display_get_home (id);
  g_assert_false (g_file_test (home, G_FILE_TEST_EXISTS));
}

/* The cookie lets in; without it the same program stays outside. */
static void
test_cookie (void)
{
  g_autoptr(GSubprocess) process = spawn (0,
    "xdpyinfo >/dev/null 2>&1 && echo in;"
    "XAUTHORITY=/dev/null xdpyinfo >/dev/null 2>&1 || echo out;"
    "stat -c %a $XAUTHORITY $(dirname $XAUTHORITY) $(dirname $XAUTHORITY).json");
  g_autofree char *output = NULL;

  g_assert_cmpint (finish (process, &output), ==, 0);
  g_assert_cmpstr (output, ==, "in\nout\n600\n700\n600\n");
}

static void
test_services (void)
{
  g_autoptr(GSubprocess) process = spawn (0,
    "xprop -root _NET_SUPPORTING_WM_CHECK;"
    "dbus-send --print-reply --dest=org.a11y.Bus /org/a11y/bus"
    " org.freedesktop.DBus.Properties.Get string:org.a11y.Status string:IsEnabled;"
    "dbus-send --print-reply --dest=org.freedesktop.DBus /"
    " org.freedesktop.DBus.ListActivatableNames");
  g_autofree char *output = NULL;

  g_assert_cmpint (finish (process, &output), ==, 0);
  g_assert_nonnull (strstr (output, "window id # 0x"));
  g_assert_nonnull (strstr (output, "boolean true"));
  g_assert_nonnull (strstr (output, "org.a11y.Bus"));
  g_assert_null (strstr (output, "portal"));
}

/* The command is killed: the display and its programs stay, another command
 * takes them up, and its exit ends them. */
static void
test_killed (void)
{
  g_autoptr(GSubprocess) process = spawn (0,
    "echo $KHADIM_DISPLAY_ID; sleep 1000 >/dev/null & echo $!; kill -9 $$");
  g_autoptr(GSubprocess) killed = NULL;
  g_autoptr(GSubprocess) second = NULL;
  g_autoptr(KhadimPrivateDisplay) display = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *id = read_line (process);
  g_autofree char *program = read_line (process);
  g_autofree char *output = NULL;
  int pid = atoi (program);

  g_assert_cmpint (finish (process, NULL), ==, 128 + SIGKILL);
  wait_until (is_unclaimed, id, "an unclaimed display");
  display = lookup (id);
  g_assert_true (answers (display));
  g_assert_false (is_gone (&pid));

  killed = khadim_private_display_attach (id, SHELL ("kill -9 $$"), 0, &error);
  g_assert_no_error (error);
  g_assert_cmpint (finish (killed, NULL), ==, 128 + SIGKILL);
  wait_until (is_unclaimed, id, "an unclaimed display again");
  g_assert_true (answers (display));

  second = khadim_private_display_attach (id,
    SHELL ("echo $DISPLAY; xdpyinfo >/dev/null && exit 3"),
    G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (finish (second, &output), ==, 3);
  g_strchomp (output);
  g_assert_cmpstr (output, ==, khadim_private_display_get_name (display));
  assert_all_gone (display);
  wait_until (is_gone, &pid, "the end of the program that was left");
}

/* The note of the session is there as long as the display is. */
static void
test_session (void)
{
  g_autoptr(GSubprocess) process = spawn (0, "echo $KHADIM_DISPLAY_ID; cat");
  g_autoptr(KhadimPrivateDisplay) display = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *id = read_line (process);

  g_assert_null (khadim_private_display_find_session ("a-session", &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_true (khadim_private_display_note_session (id, "a-session", &error));
  g_assert_no_error (error);
  display = khadim_private_display_find_session ("a-session", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (khadim_private_display_get_id (display), ==, id);

  g_assert_cmpint (finish (process, NULL), ==, 0);
  g_assert_false (khadim_private_display_note_session (id, "a-session", &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_NOT_FOUND);
}

static void
test_busy (void)
{
  g_autoptr(GSubprocess) process = spawn (0, "echo $KHADIM_DISPLAY_ID; exec sleep 1000");
  g_autoptr(KhadimPrivateDisplay) display = NULL;
  g_autoptr(GSubprocess) direct = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *id = read_line (process);
  g_autofree char *program =
    g_build_filename (g_getenv ("KHADIM_LIBEXECDIR"), "khadim-display", NULL);
  g_autofree char *message = NULL;

  display = lookup (id);
  g_assert_null (khadim_private_display_attach (id, SHELL ("true"), 0, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_BUSY);
  g_clear_error (&error);

  direct = g_subprocess_new (G_SUBPROCESS_FLAGS_STDERR_PIPE, &error, program, "--attach", id,
                             "--", "true", NULL);
  g_subprocess_communicate_utf8 (direct, NULL, NULL, NULL, &message, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_subprocess_get_exit_status (direct), ==, 1);
  g_assert_nonnull (strstr (message, "in use"));

  g_subprocess_send_signal (process, SIGTERM);
  g_assert_cmpint (finish (process, NULL), ==, 128 + SIGTERM);
  assert_all_gone (display);
}

/* Nobody comes back: the time of the display runs out. */
static void
test_unclaimed (void)
{
  g_autoptr(GSubprocess) process = spawn (2, "echo $KHADIM_DISPLAY_ID; kill -9 $$");
  g_autoptr(KhadimPrivateDisplay) display = NULL;
  g_autofree char *id = read_line (process);

  g_assert_cmpint (finish (process, NULL), ==, 128 + SIGKILL);
  display = lookup (id);
  g_assert_true (answers (display));
  wait_until (has_no_display, id, "the end of the unclaimed display");
  assert_all_gone (display);
}

/* What one process of the display takes with it when it is killed */
static void
check_killed (int      offset,
              int      exit_code,
              gboolean is_swept)
{
  g_autoptr(GSubprocess) process = spawn (0, "echo $KHADIM_DISPLAY_ID; exec sleep 1000");
  g_autoptr(KhadimPrivateDisplay) display = NULL;
  g_autofree char *id = read_line (process);
  g_autofree char *home = _khadim_display_get_home (id);

  display = lookup (id);
  g_assert_true (answers (display));
  kill (G_STRUCT_MEMBER (GPid, display, offset), SIGKILL);
  g_assert_cmpint (finish (process, NULL), ==, exit_code);
  assert_all_gone (display);
  wait_until (is_gone, &display->child, "the end of the command");

  /* Files that a killed supervisor left are removed by the next one */
  g_assert_true (g_file_test (home, G_FILE_TEST_EXISTS) == is_swept);
  if (is_swept)
    {
      g_autoptr(GSubprocess) next = spawn (0, "exit 0");

      g_assert_cmpint (finish (next, NULL), ==, 0);
      g_assert_false (g_file_test (home, G_FILE_TEST_EXISTS));
    }
}

static void
test_supervisor_killed (void)
{
  check_killed (G_STRUCT_OFFSET (KhadimPrivateDisplay, supervisor), 1, TRUE);
}

static void
test_server_killed (void)
{
  check_killed (G_STRUCT_OFFSET (KhadimPrivateDisplay, server), 128 + SIGTERM, FALSE);
}

/* The process that waits is killed: nobody would learn of the end */
static void
test_waiter_killed (void)
{
  g_autoptr(GSubprocess) process = spawn (0, "echo $KHADIM_DISPLAY_ID; exec sleep 1000");
  g_autoptr(KhadimPrivateDisplay) display = NULL;
  g_autofree char *id = read_line (process);

  display = lookup (id);
  g_subprocess_force_exit (process);
  wait_until (has_no_display, id, "the end of the display");
  assert_all_gone (display);
}

static void
test_errors (void)
{
  const KhadimPrivateDisplaySpec small = { 10, 800, 0 };
  g_autoptr(GError) error = NULL;
  g_autofree char *id = g_uuid_string_random ();
  g_autofree char *folder = g_strdup (g_getenv ("KHADIM_LIBEXECDIR"));

  g_assert_null (khadim_private_display_spawn (&small, SHELL ("true"), 0, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (khadim_private_display_lookup ("../../etc/passwd", &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (khadim_private_display_attach (id, SHELL ("true"), 0, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_NOT_FOUND);
  g_clear_error (&error);

  g_setenv ("KHADIM_LIBEXECDIR", "/nonexistent", TRUE);
  g_assert_null (khadim_private_display_spawn (NULL, SHELL ("true"), 0, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_UNSUPPORTED);
  g_setenv ("KHADIM_LIBEXECDIR", folder, TRUE);
}

/* A part is not installed: the error names it, and nothing is left. */
static void
test_not_installed (void)
{
  g_autofree char *path = g_strdup (g_getenv ("PATH"));
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GPtrArray) list = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *message = NULL;

  g_setenv ("PATH", "/nonexistent", TRUE);
  process = khadim_private_display_spawn (NULL, SHELL ("true"), G_SUBPROCESS_FLAGS_STDERR_PIPE,
                                          &error);
  g_setenv ("PATH", path, TRUE);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, NULL, &message, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_subprocess_get_exit_status (process), ==, 1);
  g_assert_nonnull (strstr (message, "Xvfb"));
  list = khadim_private_display_list (NULL);
  g_assert_cmpuint (list->len, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *runtime = g_dir_make_tmp ("kd-XXXXXX", NULL);
  g_autofree char *remove = g_strdup_printf ("rm -rf %s", runtime);
  int result;

  g_setenv ("XDG_RUNTIME_DIR", runtime, TRUE);
  g_setenv ("DBUS_SESSION_BUS_ADDRESS", PERSON_BUS, TRUE);
  g_unsetenv ("KHADIM_PERSON_BUS");
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/app/private-display/run", test_run);
  g_test_add_func ("/app/private-display/cookie", test_cookie);
  g_test_add_func ("/app/private-display/services", test_services);
  g_test_add_func ("/app/private-display/killed", test_killed);
  g_test_add_func ("/app/private-display/session", test_session);
  g_test_add_func ("/app/private-display/busy", test_busy);
  g_test_add_func ("/app/private-display/unclaimed", test_unclaimed);
  g_test_add_func ("/app/private-display/supervisor-killed", test_supervisor_killed);
  g_test_add_func ("/app/private-display/server-killed", test_server_killed);
  g_test_add_func ("/app/private-display/waiter-killed", test_waiter_killed);
  g_test_add_func ("/app/private-display/errors", test_errors);
  g_test_add_func ("/app/private-display/not-installed", test_not_installed);

  result = g_test_run ();
  g_assert_true (g_spawn_command_line_sync (remove, NULL, NULL, NULL, NULL));
  return result;
}
