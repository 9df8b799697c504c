/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-display-process"

#include "config.h"

#include "app/display/khadim-display-process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/khadim-error.h"

typedef struct {
  GPid parent;
  int death_signal;
  gboolean own_session;
} Setup;

/* Between fork and exec: only what is safe for signals */
static void
on_child_setup_cb (gpointer user_data)
{
  const Setup *setup = user_data;
  sigset_t none;

  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);
  signal (SIGINT, SIG_DFL);
  signal (SIGQUIT, SIG_DFL);
  signal (SIGHUP, SIG_DFL);
  signal (SIGPIPE, SIG_DFL);
  if (setup->own_session)
    setsid ();
  prctl (PR_SET_PDEATHSIG, setup->death_signal);
  if (getppid () != setup->parent)
    _exit (EXIT_FAILURE);
}

/* Starts a process that is to be waited for with waitpid(). */
gboolean
khadim_display_process_start (const KhadimDisplayStart *start,
                              GPid                     *pid,
                              GError                  **error)
{
  Setup setup = { getpid (), start->death_signal, start->log_fd >= 0 };
  GSpawnFlags flags = G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD;

  if (start->log_fd < 0)
    flags |= G_SPAWN_CHILD_INHERITS_STDIN;

  return g_spawn_async_with_pipes_and_fds (NULL, start->argv, start->envp, flags,
                                           on_child_setup_cb, &setup,
                                           -1, start->log_fd, start->log_fd,
                                           &start->pass_fd, &start->as_fd,
                                           start->pass_fd >= 0 ? 1 : 0,
                                           pid, NULL, NULL, NULL, error);
}

/* The parent of a process, from /proc/PID/stat (proc(5)); 0 when it is gone */
static GPid
get_parent (const char *pid)
{
  g_autofree char *path = g_build_filename ("/proc", pid, "stat", NULL);
  g_autofree char *text = NULL;
  const char *end;
  int parent = 0;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 0;

  /* The name of the program is in brackets and may hold anything */
  end = strrchr (text, ')');
  if (end == NULL || sscanf (end, ") %*c %d", &parent) != 1)
    return 0;

  return parent;
}

static GHashTable *
read_parents (void)
{
  g_autoptr(GDir) dir = g_dir_open ("/proc", 0, NULL);
  GHashTable *parents = g_hash_table_new (NULL, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (g_ascii_isdigit (*name))
      g_hash_table_insert (parents, GINT_TO_POINTER (atoi (name)),
                           GINT_TO_POINTER (get_parent (name)));

  return parents;
}

/* All living and dead-but-not-waited-for processes below one: an array of GPid */
GArray *
khadim_display_process_descendants (GPid root)
{
  g_autoptr(GHashTable) parents = read_parents ();
  GArray *found = g_array_new (FALSE, FALSE, sizeof (GPid));

  g_array_append_val (found, root);
  for (guint i = 0; i < found->len; i++)
    {
      GHashTableIter iter;
      gpointer pid;
      gpointer parent;

      g_hash_table_iter_init (&iter, parents);
      while (g_hash_table_iter_next (&iter, &pid, &parent))
        if (GPOINTER_TO_INT (parent) == g_array_index (found, GPid, i))
          {
            GPid child = GPOINTER_TO_INT (pid);

            g_array_append_val (found, child);
          }
    }

  return g_array_remove_index (found, 0);
}

/* As a shell says it: the code, or 128 and the signal */
int
khadim_display_process_exit_code (int status)
{
  return WIFSIGNALED (status) ? 128 + WTERMSIG (status) : WEXITSTATUS (status);
}

/* From now on SIGCHLD and SIGTERM come through the file that is returned, and
 * what a terminal sends is for the command alone. */
int
khadim_display_process_signals (GError **error)
{
  sigset_t set;
  int fd;

  sigemptyset (&set);
  sigaddset (&set, SIGCHLD);
  sigaddset (&set, SIGTERM);
  sigprocmask (SIG_BLOCK, &set, NULL);
  signal (SIGINT, SIG_IGN);
  signal (SIGQUIT, SIG_IGN);
  signal (SIGHUP, SIG_IGN);
  signal (SIGPIPE, SIG_IGN);

  fd = signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0)
    g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_FAILED,
                 "Cannot watch for signals: %s", g_strerror (errno));
  return fd;
}
