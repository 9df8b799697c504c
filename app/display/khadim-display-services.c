/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-display-services"

#include "config.h"

#include "app/display/khadim-display-services.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gio/gio.h>
#include <glib-unix.h>
#include <glib/gstdio.h>
#include <xcb/xcb.h>

#include "app/display/khadim-display-process.h"

/* For each part of the display to be ready, on a busy machine */
#define READY_US ((gint64) 20 * G_USEC_PER_SEC)
#define COOKIE_BYTES 16
#define COOKIE_NAME "MIT-MAGIC-COOKIE-1"
#define ADDRESS_MAX_BYTES 1024
/* The number under which a service finds the file to answer on */
#define ANSWER_FD 3

typedef struct {
  KhadimPrivateDisplay *record;
  const char *home;
  guint8 cookie[COOKIE_BYTES];
  int signal_fd;
  int log_fd;
} Services;

/* Reads what the signals are; whether none asks to stop and all that was
 * started lives. Who ended is left to be waited for. */
static gboolean
check_signals (Services   *self,
               const char *what,
               GError    **error)
{
  const GPid pids[] = { self->record->server, self->record->bus, self->record->manager };
  struct signalfd_siginfo info;

  while (read (self->signal_fd, &info, sizeof info) == sizeof info)
    if (info.ssi_signo == SIGTERM)
      {
        g_set_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "Stopped while starting");
        return FALSE;
      }

  for (guint i = 0; i < G_N_ELEMENTS (pids); i++)
    {
      siginfo_t ended = { 0 };

      if (pids[i] != 0 &&
          waitid (P_PID, pids[i], &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0)
        {
          g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_FAILED,
                       "A program ended while %s was started; see the lines above", what);
          return FALSE;
        }
    }

  return TRUE;
}

/* Waits until a file can be read, while all that was started lives */
static gboolean
wait_readable (Services   *self,
               int         fd,
               gint64      deadline_us,
               const char *what,
               GError    **error)
{
  struct pollfd files[] = { { fd, POLLIN, 0 }, { self->signal_fd, POLLIN, 0 } };

  while ((files[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0)
    {
      gint64 left_us = deadline_us - g_get_monotonic_time ();

      if (left_us <= 0)
        {
          g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT,
                       "%s was not ready after %d s", what,
                       (int) (READY_US / G_USEC_PER_SEC));
          return FALSE;
        }
      if (poll (files, G_N_ELEMENTS (files), left_us / 1000 + 1) < 0 && errno != EINTR)
        {
          g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_FAILED,
                       "Cannot wait for %s: %s", what, g_strerror (errno));
          return FALSE;
        }
      if (files[0].revents == 0 && files[1].revents != 0 && !check_signals (self, what, error))
        return FALSE;
    }

  return TRUE;
}

/* Reads the line that a service writes when it is ready */
static char *
read_line (Services   *self,
           int         fd,
           const char *what,
           GError    **error)
{
  gint64 deadline_us = g_get_monotonic_time () + READY_US;
  g_autoptr(GString) line = g_string_new (NULL);
  char byte;

  while (line->len < ADDRESS_MAX_BYTES)
    {
      if (!wait_readable (self, fd, deadline_us, what, error))
        return NULL;
      if (read (fd, &byte, 1) != 1 || byte == '\n')
        break;
      g_string_append_c (line, byte);
    }
  if (line->len == 0)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_FAILED,
                   "%s did not say where it is; see the lines above", what);
      return NULL;
    }

  return g_strdup (line->str);
}

/* Starts a service that answers with one line, and reads that */
static char *
start_answering (Services           *self,
                 const char *const  *argv,
                 const char *const  *envp,
                 GPid               *pid,
                 GError            **error)
{
  KhadimDisplayStart start = { argv, envp, SIGKILL, self->log_fd, -1, ANSWER_FD };
  g_autofree char *line = NULL;
  int answer[2];

  if (!g_unix_open_pipe (answer, FD_CLOEXEC, error))
    return NULL;
  start.pass_fd = answer[1];
  if (khadim_display_process_start (&start, pid, error))
    {
      close (answer[1]);
      line = read_line (self, answer[0], argv[0], error);
    }
  else
    close (answer[1]);
  close (answer[0]);
  return g_steal_pointer (&line);
}

/* Xau(3): family, address, number, name and data, each with its length in
 * network order. This entry fits any address and any number. */
static gboolean
write_authority (Services  *self,
                 GError   **error)
{
  static const guint8 any[] = { 0xff, 0xff, 0, 0, 0, 0 };
  g_autoptr(GByteArray) bytes = g_byte_array_new ();
  guint16 name_length = htons (strlen (COOKIE_NAME));
  guint16 data_length = htons (COOKIE_BYTES);

  if (getrandom (self->cookie, COOKIE_BYTES, 0) != COOKIE_BYTES)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_FAILED,
                   "No random bytes: %s", g_strerror (errno));
      return FALSE;
    }
  g_byte_array_append (bytes, any, sizeof any);
  g_byte_array_append (bytes, (guint8 *) &name_length, sizeof name_length);
  g_byte_array_append (bytes, (const guint8 *) COOKIE_NAME, strlen (COOKIE_NAME));
  g_byte_array_append (bytes, (guint8 *) &data_length, sizeof data_length);
  g_byte_array_append (bytes, self->cookie, COOKIE_BYTES);

  self->record->authority = g_build_filename (self->home, "authority", NULL);
  return g_file_set_contents_full (self->record->authority, (char *) bytes->data, bytes->len,
                                   G_FILE_SET_CONTENTS_NONE, 0600, error);
}

static gboolean
start_server (Services  *self,
              GError   **error)
{
  g_autofree char *screen = g_strdup_printf ("%dx%dx24", self->record->width_px,
                                             self->record->height_px);
  const char *const argv[] = {
    "Xvfb", "-displayfd", G_STRINGIFY (ANSWER_FD), "-screen", "0", screen, "-dpi", "96",
    "-auth", self->record->authority, "-nolisten", "tcp", "-noreset", NULL,
  };
  g_auto(GStrv) envp = g_get_environ ();
  g_autofree char *number = start_answering (self, argv, (const char *const *) envp,
                                             &self->record->server, error);

  if (number == NULL)
    return FALSE;

  self->record->name = g_strconcat (":", number, NULL);
  return TRUE;
}

/* The programs on the display find accessibility on this bus and nothing else:
 * no portal, no keyring, no notifications of the person's desktop. */
static gboolean
write_bus_config (Services    *self,
                  const char  *path,
                  GError     **error)
{
  static const char accessibility[] = "/usr/share/dbus-1/services/org.a11y.Bus.service";
  g_autofree char *services = g_build_filename (self->home, "services", NULL);
  g_autofree char *service = g_build_filename (services, "org.a11y.Bus.service", NULL);
  g_autofree char *config = NULL;
  g_autofree char *text = NULL;
  gsize length;

  if (!g_file_get_contents (accessibility, &text, &length, error))
    {
      g_prefix_error (error, "No accessibility on this system (Debian: at-spi2-core): ");
      return FALSE;
    }
  config = g_markup_printf_escaped (
    "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\"\n"
    " \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n"
    "<busconfig>\n"
    "  <type>session</type>\n"
    "  <listen>unix:dir=%s</listen>\n"
    "  <auth>EXTERNAL</auth>\n"
    "  <servicedir>%s</servicedir>\n"
    "  <policy context=\"default\">\n"
    "    <allow send_destination=\"*\" eavesdrop=\"true\"/>\n"
    "    <allow eavesdrop=\"true\"/>\n"
    "    <allow own=\"*\"/>\n"
    "  </policy>\n"
    "</busconfig>\n", self->home, services);

  return g_mkdir_with_parents (services, 0700) == 0 &&
         g_file_set_contents (service, text, length, error) &&
         g_file_set_contents (path, config, -1, error);
}

static gboolean
start_bus (Services  *self,
           GError   **error)
{
  g_autofree char *path = g_build_filename (self->home, "bus.conf", NULL);
  g_autofree char *config = g_strconcat ("--config-file=", path, NULL);
  const char *const argv[] = {
    "dbus-daemon", config, "--nofork", "--nopidfile",
    "--print-address=" G_STRINGIFY (ANSWER_FD), NULL,
  };
  g_auto(GStrv) envp = khadim_display_services_env (self->record);

  if (!write_bus_config (self, path, error))
    return FALSE;

  /* For what the bus starts: accessibility is enabled here, and neither asked
   * of the person's settings nor written to them. */
  envp = g_environ_setenv (envp, "GSETTINGS_BACKEND", "memory", TRUE);
  self->record->bus_address = start_answering (self, argv, (const char *const *) envp,
                                               &self->record->bus, error);
  return self->record->bus_address != NULL;
}

static xcb_atom_t
get_atom (xcb_connection_t *connection,
          const char       *name)
{
  xcb_intern_atom_cookie_t cookie =
    xcb_intern_atom (connection, FALSE, strlen (name), name);
  g_autofree xcb_intern_atom_reply_t *reply =
    xcb_intern_atom_reply (connection, cookie, NULL);

  return reply != NULL ? reply->atom : XCB_ATOM_NONE;
}

/* Extended Window Manager Hints, _NET_SUPPORTING_WM_CHECK: set on the root
 * window by a window manager that is ready */
static gboolean
has_manager (xcb_connection_t *connection,
             xcb_window_t      root,
             xcb_atom_t        check)
{
  xcb_get_property_cookie_t cookie =
    xcb_get_property (connection, FALSE, root, check, XCB_ATOM_WINDOW, 0, 1);
  g_autofree xcb_get_property_reply_t *reply =
    xcb_get_property_reply (connection, cookie, NULL);

  return reply != NULL && xcb_get_property_value_length (reply) == sizeof (xcb_window_t);
}

static gboolean
wait_manager (Services    *self,
              const char  *name,
              GError     **error)
{
  char method[] = COOKIE_NAME;
  xcb_auth_info_t auth = { strlen (method), method, COOKIE_BYTES, (char *) self->cookie };
  xcb_connection_t *connection =
    xcb_connect_to_display_with_auth_info (self->record->name, &auth, NULL);
  gint64 deadline_us = g_get_monotonic_time () + READY_US;
  gboolean ready = FALSE;

  if (xcb_connection_has_error (connection) == 0)
    {
      const guint32 events = XCB_EVENT_MASK_PROPERTY_CHANGE;
      xcb_window_t root = xcb_setup_roots_iterator (xcb_get_setup (connection)).data->root;
      xcb_atom_t check = get_atom (connection, "_NET_SUPPORTING_WM_CHECK");

      xcb_change_window_attributes (connection, root, XCB_CW_EVENT_MASK, &events);
      while (!(ready = has_manager (connection, root, check)))
        {
          g_autofree xcb_generic_event_t *event = xcb_poll_for_event (connection);

          if (event == NULL &&
              !wait_readable (self, xcb_get_file_descriptor (connection), deadline_us, name,
                              error))
            break;
        }
    }
  else
    g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_FAILED,
                 "The X server “%s” let nobody in", self->record->name);

  xcb_disconnect (connection);
  return ready;
}

/* Openbox with the system's settings, not the person's; else Metacity */
static gboolean
start_manager (Services  *self,
               GError   **error)
{
  static const char openbox_config[] = "/etc/xdg/openbox/rc.xml";
  const char *const openbox[] = {
    "openbox", "--sm-disable", "--config-file", openbox_config, NULL,
  };
  const char *const metacity[] = { "metacity", "--sm-disable", "--no-composite", NULL };
  g_autofree char *found = g_find_program_in_path ("openbox");
  const char *const *argv = found != NULL ? openbox : metacity;
  g_auto(GStrv) envp = khadim_display_services_env (self->record);
  KhadimDisplayStart start = {
    argv, (const char *const *) envp, SIGKILL, self->log_fd, -1, -1,
  };

  if (khadim_display_process_start (&start, &self->record->manager, error))
    return wait_manager (self, argv[0], error);

  g_prefix_error (error, "No window manager (Debian: openbox): ");
  return FALSE;
}

/* org.a11y.Status.IsEnabled makes toolkits show their trees */
static gboolean
enable_accessibility (Services  *self,
                      GError   **error)
{
  g_autoptr(GDBusConnection) bus = NULL;
  g_autoptr(GVariant) reply = NULL;

  bus = g_dbus_connection_new_for_address_sync (self->record->bus_address,
    G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
    G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, NULL, NULL, error);
  if (bus == NULL)
    return FALSE;

  reply = g_dbus_connection_call_sync (bus, "org.a11y.Bus", "/org/a11y/bus",
    "org.freedesktop.DBus.Properties", "Set",
    g_variant_new ("(ssv)", "org.a11y.Status", "IsEnabled", g_variant_new_boolean (TRUE)),
    NULL, G_DBUS_CALL_FLAGS_NONE, READY_US / 1000, NULL, error);
  return reply != NULL && g_dbus_connection_close_sync (bus, NULL, error);
}

/* The environment of what runs on the display */
GStrv
khadim_display_services_env (KhadimPrivateDisplay *record)
{
  static const char *const foreign[] = {
    "WAYLAND_DISPLAY", "AT_SPI_BUS_ADDRESS", "NO_AT_BRIDGE", "GTK_A11Y", "XDG_CURRENT_DESKTOP",
    "DESKTOP_STARTUP_ID", "XDG_ACTIVATION_TOKEN", "SESSION_MANAGER", "WINDOWID",
    "DBUS_SESSION_BUS_ADDRESS",
  };
  GStrv envp = g_get_environ ();
  const char *person = g_environ_getenv (envp, "DBUS_SESSION_BUS_ADDRESS");

  if (person != NULL)
    envp = g_environ_setenv (envp, "KHADIM_PERSON_BUS", person, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS (foreign); i++)
    envp = g_environ_unsetenv (envp, foreign[i]);

  envp = g_environ_setenv (envp, "DISPLAY", record->name, TRUE);
  envp = g_environ_setenv (envp, "XAUTHORITY", record->authority, TRUE);
  envp = g_environ_setenv (envp, "KHADIM_DISPLAY_ID", record->id, TRUE);
  envp = g_environ_setenv (envp, "XDG_SESSION_TYPE", "x11", TRUE);
  envp = g_environ_setenv (envp, "GDK_BACKEND", "x11", TRUE);
  envp = g_environ_setenv (envp, "QT_QPA_PLATFORM", "xcb", TRUE);
  envp = g_environ_setenv (envp, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1", TRUE);
  envp = g_environ_setenv (envp, "ADW_DISABLE_PORTAL", "1", TRUE);
  if (record->bus_address != NULL)
    envp = g_environ_setenv (envp, "DBUS_SESSION_BUS_ADDRESS", record->bus_address, TRUE);
  return envp;
}

/* What the services wrote, to standard error: a start that failed shows why */
static void
show_log (const char *path)
{
  g_autofree char *text = NULL;

  if (g_file_get_contents (path, &text, NULL, NULL) && *text != '\0')
    g_printerr ("%s", text);
}

/* Starts all services one after the other, each when the one before is ready;
 * the record has their process ids also when one of them failed. */
gboolean
khadim_display_services_start (KhadimPrivateDisplay *record,
                               const char           *home,
                               int                   signal_fd,
                               GError              **error)
{
  Services self = { .record = record, .home = home, .signal_fd = signal_fd };
  g_autofree char *log = g_build_filename (home, "log", NULL);
  gboolean ready;

  self.log_fd = open (log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (self.log_fd < 0)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_FAILED,
                   "Cannot write “%s”: %s", log, g_strerror (errno));
      return FALSE;
    }

  ready = write_authority (&self, error) && start_server (&self, error) &&
          start_bus (&self, error) && start_manager (&self, error) &&
          enable_accessibility (&self, error);
  close (self.log_fd);
  if (!ready)
    show_log (log);
  return ready;
}
