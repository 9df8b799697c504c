/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-display-client"

#include "config.h"

#include "app/display/khadim-display-client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/display/khadim-display-process.h"
#include "app/display/khadim-display-services.h"
#include "app/display/khadim-display-supervisor.h"

/* Connects to the supervisor; a file, or -1 */
static int
claim (KhadimPrivateDisplay *display,
       GError              **error)
{
  g_autofree char *home = _khadim_display_get_home (display->id);
  g_autofree char *path = g_build_filename (home, KHADIM_DISPLAY_CLAIM_SOCKET, NULL);
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  char answer[sizeof KHADIM_DISPLAY_CLAIM_BUSY] = { 0 };
  int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

  g_strlcpy (address.sun_path, path, sizeof address.sun_path);
  if (fd < 0 || connect (fd, (struct sockaddr *) &address, sizeof address) != 0 ||
      recv (fd, answer, sizeof answer - 1, 0) <= 0)
    g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_NOT_FOUND,
                 "The display “%s” does not answer: %s", display->id, g_strerror (errno));
  else if (strcmp (answer, KHADIM_DISPLAY_CLAIM_OK) != 0)
    g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_BUSY,
                 "The display “%s” is in use", display->id);
  else
    return fd;

  if (fd >= 0)
    close (fd);
  return -1;
}

/* Waits for the command to end; a stop is handed on to it. Its status. */
static int
wait_child (GPid child,
            int  signal_fd)
{
  struct pollfd file = { signal_fd, POLLIN, 0 };
  int status = 0;

  while (waitpid (child, &status, WNOHANG) == 0)
    {
      struct signalfd_siginfo info;

      if (poll (&file, 1, -1) > 0 && read (signal_fd, &info, sizeof info) == sizeof info &&
          info.ssi_signo == SIGTERM)
        kill (child, SIGTERM);
    }

  return status;
}

/* Tells the supervisor to end all, and waits until it has */
static void
finish (int fd)
{
  char byte;

  if (send (fd, KHADIM_DISPLAY_CLAIM_DONE, strlen (KHADIM_DISPLAY_CLAIM_DONE), MSG_NOSIGNAL) > 0)
    while (recv (fd, &byte, 1, 0) < 0 && errno == EINTR)
      continue;
}

/* Runs a command on a display that nobody uses. Returns its exit code as a
 * shell says it, or -1 with an error. */
int
khadim_display_client_run (const char         *id,
                           const char *const  *argv,
                           GError            **error)
{
  g_autoptr(KhadimPrivateDisplay) display = khadim_private_display_lookup (id, error);
  g_auto(GStrv) envp = NULL;
  KhadimDisplayStart start = { argv, NULL, SIGTERM, -1, -1, -1 };
  int signal_fd = display != NULL ? khadim_display_process_signals (error) : -1;
  int claim_fd = signal_fd >= 0 ? claim (display, error) : -1;
  int status;
  GPid child;

  if (claim_fd < 0)
    return -1;

  envp = khadim_display_services_env (display);
  start.envp = (const char *const *) envp;
  if (!khadim_display_process_start (&start, &child, error))
    {
      close (claim_fd);
      return -1;
    }

  status = wait_child (child, signal_fd);
  if (WIFEXITED (status))
    finish (claim_fd);
  close (claim_fd);
  return khadim_display_process_exit_code (status);
}
