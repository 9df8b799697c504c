/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "tests/rpa/lib/desk.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <X11/Xlib.h>
#include <X11/extensions/XTest.h>
#include <gio/gunixinputstream.h>
#include <glib-unix.h>
#include <glib/gstdio.h>

#define START_TIMEOUT_MS 20000
#define POLL_MS          10

struct _Desk
{
  char *root;
  char *home;
  GSubprocess *server;
  GSubprocess *bus;
  GSubprocess *wm;
};

static const char bus_config[] =
  "<busconfig><type>session</type><listen>unix:dir=%s</listen>"
  "<servicedir>%s/services</servicedir><auth>EXTERNAL</auth><policy context=\"default\">"
  "<allow send_destination=\"*\" eavesdrop=\"true\"/><allow eavesdrop=\"true\"/>"
  "<allow own=\"*\"/></policy></busconfig>\n";

/* Nothing outlives a test that crashed. */
static void
die_with_parent (gpointer user_data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

static char *
read_line (int fd)
{
  g_autoptr(GInputStream) stream = g_unix_input_stream_new (fd, TRUE);
  g_autoptr(GDataInputStream) lines = g_data_input_stream_new (stream);
  g_autoptr(GError) error = NULL;
  char *line = g_data_input_stream_read_line (lines, NULL, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (line);

  return line;
}

/* Starts a service that writes its address to the descriptor 3. */
static GSubprocess *
start_service (const char * const  *argv,
               char               **out_line)
{
  g_autoptr(GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE
                               | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_autoptr(GError) error = NULL;
  GSubprocess *process;
  int fds[2];

  g_assert_true (g_unix_open_pipe (fds, FD_CLOEXEC, &error));
  g_subprocess_launcher_set_child_setup (launcher, die_with_parent, NULL, NULL);
  g_subprocess_launcher_take_fd (launcher, fds[1], 3);
  process = g_subprocess_launcher_spawnv (launcher, argv, &error);
  g_assert_no_error (error);
  g_clear_object (&launcher);
  *out_line = read_line (fds[0]);

  return process;
}

static void
set_environment (Desk *self)
{
  static const char * const unset[] = { "WAYLAND_DISPLAY", "XDG_CURRENT_DESKTOP", "NO_AT_BRIDGE",
                                        "AT_SPI_BUS_ADDRESS", "DBUS_SESSION_BUS_ADDRESS", NULL };
  static const char * const set[][2] = {
    { "GDK_BACKEND", "x11" },          { "GSK_RENDERER", "cairo" },
    { "ADW_DISABLE_PORTAL", "1" },     { "GIO_USE_VFS", "local" },
    { "GSETTINGS_BACKEND", "memory" }, { "QT_QPA_PLATFORM", "xcb" },
    { "LANG", "C.UTF-8" },
  };
  g_autofree char *run = g_build_filename (self->root, "run", NULL);

  g_assert_cmpint (g_mkdir_with_parents (self->home, 0700), ==, 0);
  g_assert_cmpint (g_mkdir_with_parents (run, 0700), ==, 0);
  for (guint i = 0; unset[i] != NULL; i++)
    g_unsetenv (unset[i]);
  for (guint i = 0; i < G_N_ELEMENTS (set); i++)
    g_setenv (set[i][0], set[i][1], TRUE);
  /* What is meant for the test alone would end the targets at a warning. */
  g_unsetenv ("G_DEBUG");
  g_unsetenv ("MALLOC_CHECK_");
  g_setenv ("HOME", self->home, TRUE);
  g_setenv ("XDG_RUNTIME_DIR", run, TRUE);
}

static void
start_bus (Desk *self)
{
  static const char service[] = "/usr/share/dbus-1/services/org.a11y.Bus.service";
  g_autofree char *services = g_build_filename (self->root, "services", NULL);
  g_autofree char *copy = g_build_filename (services, "org.a11y.Bus.service", NULL);
  g_autofree char *path = g_build_filename (self->root, "bus.conf", NULL);
  g_autofree char *config = g_strdup_printf (bus_config, self->root, self->root);
  g_autofree char *argument = g_strdup_printf ("--config-file=%s", path);
  g_autofree char *address = NULL;
  g_autofree char *contents = NULL;
  const char * const argv[] = { "dbus-daemon", argument, "--nofork", "--print-address=3", NULL };

  g_assert_cmpint (g_mkdir_with_parents (services, 0700), ==, 0);
  g_assert_true (g_file_get_contents (service, &contents, NULL, NULL));
  g_assert_true (g_file_set_contents (copy, contents, -1, NULL));
  g_assert_true (g_file_set_contents (path, config, -1, NULL));
  self->bus = start_service (argv, &address);
  g_setenv ("DBUS_SESSION_BUS_ADDRESS", address, TRUE);
}

static gboolean
has_wm (gpointer user_data)
{
  Display *display = user_data;
  Atom check = XInternAtom (display, "_NET_SUPPORTING_WM_CHECK", False);
  Atom type = None;
  int format;
  unsigned long n_items = 0;
  unsigned long rest;
  unsigned char *data = NULL;

  XGetWindowProperty (display, DefaultRootWindow (display), check, 0, 1, False, AnyPropertyType,
                      &type, &format, &n_items, &rest, &data);
  if (data != NULL)
    XFree (data);

  return n_items > 0;
}

static void
start_wm (Desk       *self,
          const char *wm)
{
  g_autoptr(GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE
                               | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_autoptr(GError) error = NULL;
  Display *display = XOpenDisplay (NULL);

  g_assert_nonnull (display);
  g_subprocess_launcher_set_child_setup (launcher, die_with_parent, NULL, NULL);
  self->wm = g_subprocess_launcher_spawn (launcher, &error, wm, NULL);
  g_assert_no_error (error);
  g_assert_true (desk_wait (has_wm, display, START_TIMEOUT_MS));
  XCloseDisplay (display);
}

/* Changes the environment: call it before anything else starts threads. With
 * a NULL wm there is no window manager. */
Desk *
desk_new (const char *wm,
          int         width,
          int         height)
{
  Desk *self = g_new0 (Desk, 1);
  g_autofree char *size = g_strdup_printf ("%dx%dx24", width, height);
  g_autofree char *number = NULL;
  g_autofree char *name = NULL;
  const char * const argv[] = { "Xvfb",      "-displayfd", "3",   "-screen", "0", size,
                                "-nolisten", "tcp",        "-ac", NULL };

  self->root = g_dir_make_tmp ("khadim-desk-XXXXXX", NULL);
  g_assert_nonnull (self->root);
  self->home = g_build_filename (self->root, "home", NULL);
  set_environment (self);
  self->server = start_service (argv, &number);
  name = g_strdup_printf (":%s", number);
  g_setenv ("DISPLAY", name, TRUE);
  start_bus (self);
  if (wm != NULL)
    start_wm (self, wm);

  return self;
}

static void
remove_tree (const char *path)
{
  g_autoptr(GDir) dir = NULL;
  const char *name;

  if (!g_file_test (path, G_FILE_TEST_IS_SYMLINK))
    dir = g_dir_open (path, 0, NULL);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      remove_tree (child);
    }
  g_remove (path);
}

void
desk_free (Desk *self)
{
  if (self->wm != NULL)
    desk_end (self->wm);
  desk_end (self->bus);
  desk_end (self->server);
  g_clear_object (&self->wm);
  g_clear_object (&self->bus);
  g_clear_object (&self->server);
  remove_tree (self->root);
  g_free (self->root);
  g_free (self->home);
  g_free (self);
}

const char *
desk_home (Desk *self)
{
  return self->home;
}

/* The X server goes, as at the end of a session or after a crash. */
void
desk_stop_server (Desk *self)
{
  desk_end (self->server);
}

static GStrv
gather_arguments (const char *argv0,
                  va_list     arguments)
{
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new ();

  for (const char *s = argv0; s != NULL; s = va_arg (arguments, const char *))
    g_strv_builder_add (builder, s);

  return g_strv_builder_end (builder);
}

/* A program on this desk, whose standard output desk_finish() gives. */
GSubprocess *
desk_spawn (Desk       *self,
            const char *argv0,
            ...)
{
  g_autoptr(GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) argv = NULL;
  GSubprocess *process;
  va_list arguments;

  va_start (arguments, argv0);
  argv = gather_arguments (argv0, arguments);
  va_end (arguments);
  g_subprocess_launcher_set_child_setup (launcher, die_with_parent, NULL, NULL);
  process = g_subprocess_launcher_spawnv (launcher, (const char * const *) argv, &error);
  g_assert_no_error (error);

  return process;
}

void
desk_end (GSubprocess *process)
{
  g_subprocess_force_exit (process);
  g_subprocess_wait (process, NULL, NULL);
}

guint32
desk_pid (GSubprocess *process)
{
  return (guint32) g_ascii_strtoull (g_subprocess_get_identifier (process), NULL, 10);
}

static gboolean
is_frozen (gpointer user_data)
{
  g_autofree char *path = g_strdup_printf ("/proc/%u/stat", desk_pid (user_data));
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));

  return g_str_has_prefix (strrchr (text, ')'), ") T");
}

/* Stops a program as if it hung; it may run on for a moment after the signal. */
void
desk_freeze (GSubprocess *process)
{
  g_subprocess_send_signal (process, SIGSTOP);
  g_assert_true (desk_wait (is_frozen, process, START_TIMEOUT_MS));
}

/* Runs a program to its end and gives what it wrote. */
char *
desk_run (const char *argv0,
          ...)
{
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) argv = NULL;
  char *output = NULL;
  va_list arguments;

  va_start (arguments, argv0);
  argv = gather_arguments (argv0, arguments);
  va_end (arguments);
  process = g_subprocess_newv ((const char * const *) argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, &output, NULL, &error);
  g_assert_no_error (error);

  return output;
}

/* Waits for a program that is about to end by itself. */
char *
desk_finish (GSubprocess *process,
             int         *out_status)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  char *output = NULL;

  g_subprocess_communicate_utf8 (process, NULL, cancellable, &output, NULL, &error);
  g_assert_no_error (error);
  *out_status = g_subprocess_get_if_exited (process) ? g_subprocess_get_exit_status (process) : -1;

  return output;
}

static gboolean
on_tick_cb (gpointer user_data)
{
  return G_SOURCE_CONTINUE;
}

/* The one wait of all tests: until a condition holds or the time is over. */
gboolean
desk_wait (DeskCondition condition,
           gpointer      user_data,
           int           timeout_ms)
{
  gint64 deadline_us = g_get_monotonic_time () + timeout_ms * G_GINT64_CONSTANT (1000);
  guint tick = g_timeout_add (POLL_MS, on_tick_cb, NULL);
  gboolean holds = condition (user_data);

  while (!holds && g_get_monotonic_time () < deadline_us)
    {
      g_main_context_iteration (NULL, TRUE);
      holds = condition (user_data);
    }
  g_source_remove (tick);

  return holds;
}

/* A click by a connection of its own, as another client would. */
void
desk_click (int x,
            int y)
{
  Display *display = XOpenDisplay (NULL);

  g_assert_nonnull (display);
  XTestFakeMotionEvent (display, -1, x, y, CurrentTime);
  XTestFakeButtonEvent (display, 1, True, CurrentTime);
  XTestFakeButtonEvent (display, 1, False, CurrentTime);
  XSync (display, False);
  XCloseDisplay (display);
}
