/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Runs a command on a virtual X display of its own. Two processes: the one
 * that was started waits for the exit code; its child, the supervisor, holds
 * the display and may outlive it. */

#define G_LOG_DOMAIN "khadim-display"

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <glib.h>

#include "app/display/khadim-display-client.h"
#include "app/display/khadim-display-supervisor.h"

#define EXIT_USAGE 2

static volatile sig_atomic_t supervisor;

static void
on_terminate_cb (int signal_number)
{
  kill (supervisor, signal_number);
}

/* The command ends by itself on what a terminal sends; this process waits */
static void
set_signals (void)
{
  struct sigaction forward = { .sa_handler = on_terminate_cb };

  signal (SIGINT, SIG_IGN);
  signal (SIGQUIT, SIG_IGN);
  signal (SIGHUP, SIG_IGN);
  sigaction (SIGTERM, &forward, NULL);
}

static int
wait_code (int fd)
{
  int code;
  gssize length;

  do
    length = read (fd, &code, sizeof code);
  while (length < 0 && errno == EINTR);

  if (length == sizeof code)
    return code;
  g_printerr ("khadim-display: the supervisor of the display was killed\n");
  return EXIT_FAILURE;
}

static int
run (const KhadimPrivateDisplaySpec *spec,
     const char *const              *argv)
{
  int report[2];
  pid_t pid;

  if (pipe2 (report, O_CLOEXEC) != 0 || (pid = fork ()) < 0)
    {
      g_printerr ("khadim-display: %s\n", g_strerror (errno));
      return EXIT_FAILURE;
    }
  if (pid == 0)
    {
      close (report[0]);
      khadim_display_supervisor_run (spec, argv, report[1]);
      _exit (EXIT_SUCCESS);
    }

  close (report[1]);
  supervisor = pid;
  set_signals ();
  return wait_code (report[0]);
}

static gboolean
parse_size (const char               *text,
            KhadimPrivateDisplaySpec *spec)
{
  char end;

  return sscanf (text, "%dx%d%c", &spec->width_px, &spec->height_px, &end) == 2 &&
         spec->width_px >= KHADIM_PRIVATE_DISPLAY_MIN_PX &&
         spec->width_px <= KHADIM_PRIVATE_DISPLAY_MAX_PX &&
         spec->height_px >= KHADIM_PRIVATE_DISPLAY_MIN_PX &&
         spec->height_px <= KHADIM_PRIVATE_DISPLAY_MAX_PX;
}

static int
usage (const char *message)
{
  g_printerr ("khadim-display: %s\nTry “khadim-display --help”.\n", message);
  return EXIT_USAGE;
}

int
main (int    argc,
      char **argv)
{
  KhadimPrivateDisplaySpec spec = { 0 };
  g_autofree char *size = g_strdup ("1920x1080");
  g_autofree char *attach = NULL;
  int unclaimed_s = KHADIM_PRIVATE_DISPLAY_UNCLAIMED_S;
  g_auto(GStrv) command = NULL;
  const GOptionEntry entries[] = {
    { "size", 's', 0, G_OPTION_ARG_STRING, &size, "Size of the screen", "WIDTHxHEIGHT" },
    { "unclaimed", 'u', 0, G_OPTION_ARG_INT, &unclaimed_s,
      "How long the display stays when the command was killed", "SECONDS" },
    { "attach", 'a', 0, G_OPTION_ARG_STRING, &attach,
      "Use a display whose command was killed", "ID" },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &command, NULL, "COMMAND…" },
    { NULL },
  };
  g_autoptr(GOptionContext) context = g_option_context_new ("- run a command on its own display");
  g_autoptr(GError) error = NULL;
  int code;

  setlocale (LC_ALL, "");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_strict_posix (context, TRUE);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    return usage (error->message);
  if (command == NULL)
    return usage ("which command?");
  if (unclaimed_s < 1 || !parse_size (size, &spec))
    return usage ("a size such as 1280x800, and at least one second");

  spec.unclaimed_s = unclaimed_s;
  if (attach == NULL)
    return run (&spec, (const char *const *) command);
  code = khadim_display_client_run (attach, (const char *const *) command, &error);
  if (code < 0)
    g_printerr ("khadim-display: %s\n", error->message);
  return code < 0 ? EXIT_FAILURE : code;
}
