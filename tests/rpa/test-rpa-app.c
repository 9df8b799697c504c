/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <signal.h>
#include <string.h>

#include "rpa/screen/khadim-rpa-app.h"
#include "rpa/screen/khadim-rpa-error.h"
#include "tests/rpa/lib/desk.h"

#define TIMEOUT_MS 15000
#define SHORT_MS   300

static Desk *desk;
static KhadimRpaDisplay *display;
static KhadimRpaWindows *windows;

static KhadimRpaApp *
open_app (const KhadimRpaAppSpec *spec)
{
  g_autoptr(GError) error = NULL;
  KhadimRpaApp *app = khadim_rpa_app_open (windows, spec, TIMEOUT_MS, NULL, &error);

  g_assert_no_error (error);

  return app;
}

static void
close_app (KhadimRpaApp *app)
{
  g_autoptr(GError) error = NULL;

  khadim_rpa_windows_close (windows, khadim_rpa_window_get_id (khadim_rpa_app_get_window (app)),
                            TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);
}

static void
assert_fails (const KhadimRpaAppSpec *spec,
              guint                   timeout_ms,
              KhadimRpaError          code,
              const char             *text)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (khadim_rpa_app_open (windows, spec, timeout_ms, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, (int) code);
  if (text != NULL && strstr (error->message, text) == NULL)
    g_error ("no “%s” in “%s”", text, error->message);
}

/* No shell sees the arguments; the exit code is that of the program. */
static void
test_command (void)
{
  const char * const argv[] = { "zenity", "--question", "--title=$(id) `id` ; *", "--text=t",
                                NULL };
  const KhadimRpaAppSpec spec = { .argv = argv };
  g_autoptr(KhadimRpaApp) app = open_app (&spec);
  g_autofree char *exe = NULL;
  g_autofree char *link = NULL;
  g_autoptr(GError) error = NULL;
  int exit_code = -1;

  g_assert_cmpstr (khadim_rpa_window_get_title (khadim_rpa_app_get_window (app)), ==,
                   "$(id) `id` ; *");
  exe = g_strdup_printf ("/proc/%u/exe", khadim_rpa_app_get_pid (app));
  link = g_file_read_link (exe, NULL);
  g_assert_true (g_str_has_suffix (link, "/zenity"));
  g_assert_false (khadim_rpa_app_has_ended (app, NULL));
  g_assert_true (khadim_rpa_app_check (app, &error));
  g_assert_false (khadim_rpa_app_wait_ended (app, SHORT_MS, NULL, &exit_code, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT);
  g_clear_error (&error);

  close_app (app);
  g_assert_true (khadim_rpa_app_wait_ended (app, TIMEOUT_MS, NULL, &exit_code, &error));
  g_assert_no_error (error);
  g_assert_cmpint (exit_code, ==, 1);
  g_assert_false (khadim_rpa_app_check (app, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_ENDED);
  g_assert_nonnull (strstr (error->message, "the code 1"));
}

/* The window belongs to a child, whose parent is there or has left it; another
 * window that comes up meanwhile does not count. */
static void
check_child (const char *script)
{
  const char * const argv[] = { "sh", "-c", script, NULL };
  const KhadimRpaAppSpec spec = { .argv = argv };
  g_autoptr(GSubprocess) other = desk_spawn (desk, "zenity", "--info", "--title=other", NULL);
  g_autoptr(KhadimRpaApp) app = open_app (&spec);

  g_assert_cmpstr (khadim_rpa_window_get_title (khadim_rpa_app_get_window (app)), ==, "child");
  g_assert_cmpuint (khadim_rpa_app_get_pid (app), !=, 0);
  close_app (app);
  desk_end (other);
}

static void
test_child (void)
{
  check_child ("zenity --info --title=child; exit 3");
}

static void
test_orphan (void)
{
  check_child ("(zenity --info --title=child &) ; exit 0");
}

/* Without the id of the start, the process tells. */
static void
test_no_startup_id (void)
{
  check_child ("unset DESKTOP_STARTUP_ID; zenity --info --title=child; exit 3");
}

static void
write_desktop_file (const char *name,
                    const char *contents)
{
  g_autofree char *folder =
    g_build_filename (desk_home (desk), ".local", "share", "applications", NULL);
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *text = g_strconcat ("[Desktop Entry]\nType=Application\n", contents, NULL);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
check_title (const KhadimRpaAppSpec *spec,
             const char             *title)
{
  g_autoptr(KhadimRpaApp) app = open_app (spec);

  g_assert_cmpstr (khadim_rpa_window_get_title (khadim_rpa_app_get_window (app)), ==, title);
  close_app (app);
}

static void
test_desktop_file (void)
{
  const KhadimRpaAppSpec by_id = { .name = "khadim-test" };
  const KhadimRpaAppSpec by_name = { .name = "wunderliches ding" };
  const KhadimRpaAppSpec with_file = { .name = "khadim-test.desktop", .target = "/a b/c%d" };
  const KhadimRpaAppSpec with_url = { .name = "khadim-plain", .target = "https://a.example/?x=1" };
  const KhadimRpaAppSpec terminal = { .name = "khadim-terminal" };

  check_title (&by_id, "Wunderliches Ding : 100% \"q\"");
  check_title (&by_name, "Wunderliches Ding : 100% \"q\"");
  check_title (&with_file, "Wunderliches Ding /a b/c%d: 100% \"q\"");
  check_title (&with_url, "plain");
  assert_fails (&terminal, TIMEOUT_MS, KHADIM_RPA_ERROR_UNSUPPORTED, "terminal");
}

static void
test_environment (void)
{
  const char * const argv[] = { "sh", "-c", "zenity --info --title=\"$K:$DISPLAY:$LANG:$PWD\"",
                                NULL };
  const char * const environment[] = { "K=a=b", "LANG", NULL };
  const KhadimRpaAppSpec spec = { .argv = argv, .environment = environment, .work_dir = "/usr" };
  g_autofree char *title = g_strdup_printf ("a=b:%s::/usr", khadim_rpa_display_get_name (display));

  check_title (&spec, title);
}

/* The second start hands over to the first one, and ends. */
static void
test_handed_over (void)
{
  g_autofree char *path = g_build_filename (desk_home (desk), "note.txt", NULL);
  const KhadimRpaAppSpec spec = { .name = "mousepad" };
  const KhadimRpaAppSpec file = { .name = "mousepad", .target = path };
  g_autoptr(KhadimRpaApp) first = NULL;
  g_autoptr(KhadimRpaApp) second = NULL;
  g_autoptr(GError) error = NULL;
  int exit_code = -1;

  g_assert_true (g_file_set_contents (path, "text\n", -1, NULL));
  first = open_app (&spec);
  second = open_app (&file);
  g_assert_cmpuint (khadim_rpa_app_get_pid (second), ==, khadim_rpa_app_get_pid (first));
  g_assert_true (khadim_rpa_app_wait_ended (second, TIMEOUT_MS, NULL, &exit_code, &error));
  g_assert_cmpint (exit_code, ==, 0);
  g_assert_true (khadim_rpa_app_check (second, &error));
  g_assert_no_error (error);

  kill ((pid_t) khadim_rpa_app_get_pid (first), SIGKILL);
  g_assert_true (khadim_rpa_app_wait_ended (first, TIMEOUT_MS, NULL, &exit_code, &error));
  g_assert_cmpint (exit_code, ==, 128 + SIGKILL);
  g_assert_false (khadim_rpa_app_check (second, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_ENDED);
}

static void
test_failures (void)
{
  const char * const fails[] = { "sh", "-c", "exit 7", NULL };
  const char * const nothing[] = { "sleep", "0.1", NULL };
  const char * const windowless[] = { "sleep", "2", NULL };
  const char * const none[] = { NULL };
  const char * const missing[] = { "/nonexistent/program", NULL };
  const KhadimRpaAppSpec specs[] = {
    { .argv = fails },
    { .argv = nothing },
    { .argv = windowless },
    { .argv = none },
    { .argv = missing },
    { .name = "no such application" },
    { .target = "/nonexistent/file.txt" },
    { .target = "nosuchscheme:x" },
    { .argv = fails, .name = "x" },
    { .argv = fails, .work_dir = "/nonexistent" },
  };
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;

  assert_fails (&specs[0], TIMEOUT_MS, KHADIM_RPA_ERROR_ENDED, "the code 7");
  assert_fails (&specs[1], SHORT_MS, KHADIM_RPA_ERROR_TIMEOUT, "sleep");
  assert_fails (&specs[2], SHORT_MS, KHADIM_RPA_ERROR_TIMEOUT, "sleep");
  assert_fails (&specs[3], TIMEOUT_MS, KHADIM_RPA_ERROR_INVALID, "command");
  assert_fails (&specs[4], TIMEOUT_MS, KHADIM_RPA_ERROR_NOT_FOUND, "/nonexistent/program");
  assert_fails (&specs[5], TIMEOUT_MS, KHADIM_RPA_ERROR_NOT_FOUND, "no such application");
  assert_fails (&specs[6], TIMEOUT_MS, KHADIM_RPA_ERROR_NOT_FOUND, "/nonexistent/file.txt");
  assert_fails (&specs[7], TIMEOUT_MS, KHADIM_RPA_ERROR_NOT_FOUND, "nosuchscheme");
  assert_fails (&specs[8], TIMEOUT_MS, KHADIM_RPA_ERROR_INVALID, "name, command");
  assert_fails (&specs[9], TIMEOUT_MS, KHADIM_RPA_ERROR_FAILED, "/nonexistent");
  g_cancellable_cancel (cancellable);
  g_assert_null (khadim_rpa_app_open (windows, &specs[2], TIMEOUT_MS, cancellable, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED);
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr(GError) error = NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  desk = desk_new ("openbox", 1280, 800);
  write_desktop_file ("khadim-test.desktop",
                      "Name=Wunderliches Ding\nStartupWMClass=zenity\n"
                      "Exec=zenity --info \"--title=%c %f: 100%% \\\\\"q\\\\\"\" --text=t\n");
  write_desktop_file ("khadim-plain.desktop",
                      "Name=Plain\nExec=zenity --info --title=plain --text=%u\n");
  write_desktop_file ("khadim-terminal.desktop", "Name=Terminal\nTerminal=true\nExec=true\n");
  display = khadim_rpa_display_new (NULL, &error);
  g_assert_no_error (error);
  windows = khadim_rpa_windows_new (display, &error);
  g_assert_no_error (error);

  g_test_add_func ("/rpa/app/command", test_command);
  g_test_add_func ("/rpa/app/child", test_child);
  g_test_add_func ("/rpa/app/orphan", test_orphan);
  g_test_add_func ("/rpa/app/no-startup-id", test_no_startup_id);
  g_test_add_func ("/rpa/app/desktop-file", test_desktop_file);
  g_test_add_func ("/rpa/app/environment", test_environment);
  g_test_add_func ("/rpa/app/handed-over", test_handed_over);
  g_test_add_func ("/rpa/app/failures", test_failures);
  result = g_test_run ();

  g_object_unref (windows);
  g_object_unref (display);
  desk_free (desk);

  return result;
}
