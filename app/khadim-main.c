/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim"

#include "config.h"

#include "app/khadim-cli.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

static const KhadimCommand commands[] = {
  { "run", "play an automation, or go on with one", khadim_command_run },
  { "check", "look for faults in an automation without running it", khadim_command_check },
  { "automations", "list the automations that are known", khadim_command_automations },
  { "sessions", "list what ran, and what can be resumed", khadim_command_sessions },
  { "approve", "answer a question of a session", khadim_command_approve },
  { "stop", "stop a session that runs", khadim_command_stop },
  { "pause", "pause a session that runs", khadim_command_pause },
  { "continue", "let a session go on that was paused", khadim_command_continue },
  { "doctor", "say what works here and what to install for the rest", khadim_command_doctor },
};

/* Events and paths are UTF-8 whatever the locale: GLib would put a question mark
 * for what the locale lacks. */
static void
print_cb (const char *text)
{
  fputs (text, stdout);
}

static void
print_error_cb (const char *text)
{
  fputs (text, stderr);
}

static void
print_help (void)
{
  g_print ("Usage:\n"
           "  khadim COMMAND [OPTION…] [ARGUMENT…]\n\n"
           "Khadim automates work on a computer: it plays automations in real programs.\n\n"
           "Commands:\n");
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    g_print ("  %-13s %s\n", commands[i].name, commands[i].summary);
  g_print ("\n“khadim COMMAND --help” explains a command.\n\n"
           "Options:\n"
           "  --help        show this\n"
           "  --version     show the version\n\n"
           "Exit codes:\n"
           "  0 done, 1 failed, 2 wrong usage or a faulty document, 3 a question waits for its\n"
           "  answer, 4 a budget is used up, 130 stopped\n\n"
           "Environment:\n"
           "  KHADIM_HOME   the folder of the store (default: $XDG_DATA_HOME/khadim)\n");
}

static const KhadimCommand *
find_command (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (commands[i].name, name) == 0)
      return &commands[i];

  return NULL;
}

int
main (int    argc,
      char **argv)
{
  const KhadimCommand *command;
  g_autofree char *program = NULL;

  setlocale (LC_ALL, "");
  /* A line at a time, so that whoever follows a run sees it as it happens. */
  setvbuf (stdout, NULL, _IOLBF, 0);
  g_set_print_handler (print_cb);
  g_set_printerr_handler (print_error_cb);
  if (argc < 2 || strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0 ||
      strcmp (argv[1], "help") == 0)
    {
      print_help ();
      return argc < 2 ? KHADIM_EXIT_USAGE : KHADIM_EXIT_DONE;
    }
  if (strcmp (argv[1], "--version") == 0)
    {
      g_print ("khadim %s\n", KHADIM_VERSION);
      return KHADIM_EXIT_DONE;
    }
  command = find_command (argv[1]);
  if (command == NULL)
    {
      khadim_cli_error ("there is no command “%s” (try “khadim --help”)", argv[1]);
      return KHADIM_EXIT_USAGE;
    }
  program = g_strdup_printf ("khadim %s", command->name);
  g_set_prgname (program);

  return command->run (argc - 1, argv + 1);
}
