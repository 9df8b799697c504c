/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-private-run"

#include "config.h"

#include "app/khadim-private-run.h"

#include <errno.h>
#include <unistd.h>

#include "app/khadim-cli.h"
#include "engine/runner/khadim-private-display.h"

/* The private display that this process runs on: its id, or %NULL. */
const char *
khadim_private_run_get_display (void)
{
  return g_getenv ("KHADIM_DISPLAY_ID");
}

/* The display that @session was on, if it is to be gone on with; %NULL when a
 * new one is needed. */
static char *
find_display (const char *session)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimPrivateDisplay) display = NULL;

  if (session == NULL)
    return NULL;
  display = khadim_private_display_find_session (session, &error);
  if (display != NULL)
    return g_strdup (khadim_private_display_get_id (display));

  khadim_cli_error ("display-lost: %s; it goes on on a new one", error->message);
  return NULL;
}

/* Becomes the supervisor of a display, which runs this program again with the
 * arguments @argv: on a new display, or on the one that @session was on.
 * Returns only when that fails: the exit code. */
int
khadim_private_run_again (const char        *session,
                          const char *const *argv)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GStrvBuilder) again = g_strv_builder_new ();
  g_autofree char *self = g_file_read_link ("/proc/self/exe", &error);
  g_autofree char *id = find_display (session);
  g_auto(GStrv) inner = NULL;
  g_auto(GStrv) command = NULL;

  if (self != NULL)
    {
      g_strv_builder_add (again, self);
      g_strv_builder_addv (again, (const char **) argv);
      inner = g_strv_builder_end (again);
      command = khadim_private_display_build_command (NULL, id, (const char *const *) inner,
                                                      &error);
    }
  if (command == NULL)
    {
      khadim_cli_error ("%s", error->message);
      return KHADIM_EXIT_FAILED;
    }

  execv (command[0], command);
  khadim_cli_error ("“%s”: %s", command[0], g_strerror (errno));
  return KHADIM_EXIT_FAILED;
}
