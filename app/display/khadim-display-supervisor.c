/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-display-supervisor"

#include "config.h"

#include "app/display/khadim-display-supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "app/display/khadim-display-process.h"
#include "app/display/khadim-display-services.h"

/* For programs to end by themselves once they were asked to */
#define GRACE_US ((gint64) 2 * G_USEC_PER_SEC)
/* Then a process that even SIGKILL does not end, in the kernel, is left */
#define GIVE_UP_US (5 * GRACE_US)
/* Between two looks at what is left, while ending */
#define LOOK_MS 50
#define CLAIM_BACKLOG 4

typedef struct {
  KhadimPrivateDisplay *record;
  char *home;
  guint unclaimed_s;
  int signal_fd;
  int listen_fd;
  int claim_fd;     /* of the process that attached, or -1 */
  int lock_fd;
  int report_fd;    /* to the process that waits for the code, or -1 */
  int exit_code;
  gint64 deadline_us;  /* of an unclaimed display, or 0 */
  gboolean is_child_ours;
  gboolean is_stopping;
  gboolean is_ending;
} Supervisor;

static void
report (Supervisor *self,
        int         exit_code)
{
  if (self->report_fd < 0)
    return;
  if (write (self->report_fd, &exit_code, sizeof exit_code) != sizeof exit_code)
    g_debug ("Nobody waits for the code: %s", g_strerror (errno));
  close (self->report_fd);
  self->report_fd = -1;
}

/* Lets go of the streams of whoever started this, who may wait for their end */
static void
release_streams (void)
{
  int null = open ("/dev/null", O_RDWR | O_CLOEXEC);

  for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
    dup2 (null, fd);
  if (null >= 0)
    close (null);
}

/* Who uses the display has changed: the record says so */
static void
set_child (Supervisor *self,
           GPid        child)
{
  g_autoptr(GError) error = NULL;

  self->record->child = child;
  self->deadline_us = 0;
  if (child == 0 && !self->is_ending)
    self->deadline_us = g_get_monotonic_time () + (gint64) self->unclaimed_s * G_USEC_PER_SEC;
  if (!_khadim_display_record_write (self->record, &self->lock_fd, &error))
    {
      g_printerr ("khadim-display: %s\n", error->message);
      self->is_ending = TRUE;
    }
}

/* The command is gone. One that was killed may be taken up again: then all
 * stays, and who waits learns of it. */
static void
on_child_ended (Supervisor *self,
                int         status)
{
  self->is_child_ours = FALSE;
  self->exit_code = khadim_display_process_exit_code (status);
  if (WIFEXITED (status) || self->is_stopping)
    self->is_ending = TRUE;
  set_child (self, 0);
  if (!self->is_ending)
    {
      report (self, self->exit_code);
      release_streams ();
    }
}

static void
reap (Supervisor *self)
{
  int status;
  GPid pid;

  while ((pid = waitpid (-1, &status, WNOHANG)) > 0)
    {
      if (self->is_child_ours && pid == self->record->child)
        on_child_ended (self, status);
      else if (!self->is_ending && (pid == self->record->server || pid == self->record->bus ||
                                    pid == self->record->manager))
        {
          g_printerr ("khadim-display: the %s of the display has ended\n",
                      pid == self->record->server ? "X server" :
                      pid == self->record->bus ? "bus" : "window manager");
          self->is_ending = TRUE;
        }
      if (pid == self->record->server)
        self->record->server = 0;
    }
}

/* Asked to stop: the command may end in its own way first; asked again, it
 * gets no more time than the rest */
static void
stop (Supervisor *self)
{
  if (self->is_stopping || !self->is_child_ours)
    self->is_ending = TRUE;
  else
    kill (self->record->child, SIGTERM);
  self->is_stopping = TRUE;
}

static void
read_signals (Supervisor *self)
{
  struct signalfd_siginfo info;

  while (read (self->signal_fd, &info, sizeof info) == sizeof info)
    if (info.ssi_signo == SIGTERM)
      stop (self);
  reap (self);
}

/* Another command wants the display: one at a time, and only this person's */
static void
accept_claim (Supervisor *self)
{
  struct ucred peer = { 0 };
  socklen_t length = sizeof peer;
  int fd = accept4 (self->listen_fd, NULL, NULL, SOCK_CLOEXEC);

  if (fd < 0)
    return;
  if (getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.uid != geteuid () ||
      self->record->child != 0)
    {
      if (send (fd, KHADIM_DISPLAY_CLAIM_BUSY, strlen (KHADIM_DISPLAY_CLAIM_BUSY),
                MSG_NOSIGNAL) < 0)
        g_debug ("A claim went away: %s", g_strerror (errno));
      close (fd);
      return;
    }

  self->claim_fd = fd;
  set_child (self, peer.pid);
  if (send (fd, KHADIM_DISPLAY_CLAIM_OK, strlen (KHADIM_DISPLAY_CLAIM_OK), MSG_NOSIGNAL) < 0)
    g_debug ("A claim went away: %s", g_strerror (errno));
}

/* The one that attached says “done”, or is gone */
static void
read_claim (Supervisor *self)
{
  char text[sizeof KHADIM_DISPLAY_CLAIM_DONE] = { 0 };
  gssize length = recv (self->claim_fd, text, sizeof text - 1, 0);

  if (length > 0 && strcmp (text, KHADIM_DISPLAY_CLAIM_DONE) == 0)
    {
      self->is_ending = TRUE;
      return;
    }

  close (self->claim_fd);
  self->claim_fd = -1;
  set_child (self, 0);
}

/* Waits for the next thing that happens, and does it */
static void
step (Supervisor *self)
{
  struct pollfd files[] = {
    { self->signal_fd, POLLIN, 0 },
    { self->listen_fd, POLLIN, 0 },
    { self->claim_fd, POLLIN, 0 },
    { self->report_fd, 0, 0 },
  };
  gint64 left_us = self->deadline_us - g_get_monotonic_time ();
  int timeout_ms = -1;

  if (self->deadline_us != 0)
    timeout_ms = left_us > 0 ? left_us / 1000 + 1 : 0;
  if (self->deadline_us != 0 && left_us <= 0)
    self->is_ending = TRUE;
  if (self->is_ending || poll (files, G_N_ELEMENTS (files), timeout_ms) < 0)
    return;

  if (files[0].revents != 0)
    read_signals (self);
  if (files[1].revents != 0 && !self->is_ending)
    accept_claim (self);
  if (files[2].revents != 0)
    read_claim (self);
  if (files[3].revents != 0 && self->report_fd >= 0)
    self->is_ending = TRUE;
}

/* Sends a signal to every process below this one but the X server; how many
 * there were */
static guint
signal_programs (Supervisor *self,
                 int         signal_number)
{
  g_autoptr(GArray) pids = khadim_display_process_descendants (getpid ());
  guint count = 0;

  for (guint i = 0; i < pids->len; i++)
    {
      GPid pid = g_array_index (pids, GPid, i);

      if (pid == self->record->server)
        continue;
      kill (pid, signal_number);
      count++;
    }

  return count;
}

static void
wait_signals (Supervisor *self)
{
  struct pollfd file = { self->signal_fd, POLLIN, 0 };

  if (poll (&file, 1, LOOK_MS) > 0)
    read_signals (self);
}

/* Asks what was started on the display to end; after a while it must. What a
 * program left behind is below this process too, which is its reaper. */
static void
end_programs (Supervisor *self)
{
  gint64 start_us = g_get_monotonic_time ();
  gint64 passed_us = 0;

  signal_programs (self, SIGTERM);
  while (signal_programs (self, passed_us < GRACE_US ? 0 : SIGKILL) > 0 && passed_us < GIVE_UP_US)
    {
      wait_signals (self);
      passed_us = g_get_monotonic_time () - start_us;
    }
}

static void
end_server (Supervisor *self)
{
  gint64 deadline_us = g_get_monotonic_time () + GRACE_US;

  if (self->record->server != 0)
    kill (self->record->server, SIGTERM);
  while (self->record->server != 0)
    {
      wait_signals (self);
      if (self->record->server != 0 && g_get_monotonic_time () >= deadline_us)
        kill (self->record->server, SIGKILL);
    }
}

static gboolean
listen_for_claims (Supervisor *self,
                   GError    **error)
{
  g_autofree char *path = g_build_filename (self->home, KHADIM_DISPLAY_CLAIM_SOCKET, NULL);
  struct sockaddr_un address = { .sun_family = AF_UNIX };

  if (g_strlcpy (address.sun_path, path, sizeof address.sun_path) >= sizeof address.sun_path)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT,
                   "“%s” is too long for a socket: set XDG_RUNTIME_DIR to a shorter one", path);
      return FALSE;
    }

  self->listen_fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (self->listen_fd >= 0 &&
      bind (self->listen_fd, (struct sockaddr *) &address, sizeof address) == 0 &&
      listen (self->listen_fd, CLAIM_BACKLOG) == 0)
    return TRUE;

  g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_FAILED,
               "Cannot listen on “%s”: %s", path, g_strerror (errno));
  return FALSE;
}

static gboolean
start_child (Supervisor         *self,
             const char *const  *argv,
             GError            **error)
{
  g_auto(GStrv) envp = khadim_display_services_env (self->record);
  KhadimDisplayStart start = { argv, (const char *const *) envp, SIGTERM, -1, -1, -1 };
  GPid pid;

  /* The command may look itself up at once: until its number is known, this
   * process stands for it. */
  set_child (self, getpid ());
  if (!khadim_display_process_start (&start, &pid, error))
    return FALSE;

  self->is_child_ours = TRUE;
  set_child (self, pid);
  return TRUE;
}

static gboolean
start_all (Supervisor         *self,
           const char *const  *argv,
           GError            **error)
{
  _khadim_display_record_sweep ();
  self->signal_fd = khadim_display_process_signals (error);
  if (self->signal_fd < 0)
    return FALSE;
  if (prctl (PR_SET_CHILD_SUBREAPER, 1) != 0 || g_mkdir_with_parents (self->home, 0700) != 0)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_FAILED,
                   "Cannot make “%s”: %s", self->home, g_strerror (errno));
      return FALSE;
    }

  return _khadim_display_record_write (self->record, &self->lock_fd, error) &&
         listen_for_claims (self, error) &&
         khadim_display_services_start (self->record, self->home, self->signal_fd, error) &&
         start_child (self, argv, error);
}

/* Runs one display from its start to its end, and writes the exit code of the
 * command to the file: when that was killed at once, otherwise when all has
 * ended. */
void
khadim_display_supervisor_run (const KhadimPrivateDisplaySpec *spec,
                               const char *const              *argv,
                               int                             report_fd)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimPrivateDisplay) record = _khadim_display_record_new ();
  g_autofree char *home = _khadim_display_get_home (record->id);
  Supervisor self = {
    .record = record, .home = home, .unclaimed_s = spec->unclaimed_s,
    .signal_fd = -1, .listen_fd = -1, .claim_fd = -1, .lock_fd = -1, .report_fd = report_fd,
    .exit_code = EXIT_FAILURE,
  };

  record->supervisor = getpid ();
  record->width_px = spec->width_px;
  record->height_px = spec->height_px;
  if (!start_all (&self, argv, &error))
    {
      g_printerr ("khadim-display: %s\n", error->message);
      self.is_ending = TRUE;
    }
  reap (&self);
  while (!self.is_ending)
    step (&self);

  end_programs (&self);
  end_server (&self);
  _khadim_display_record_remove (record->id);
  report (&self, self.exit_code);
}
