/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-control"

#include "config.h"

#include "app/khadim-cli.h"

#include "engine/base/khadim-time.h"
#include "engine/json/khadim-json.h"

static gboolean
write_command (KhadimStore  *store,
               const char   *session_id,
               const char   *kind,
               GError      **error)
{
  g_autoptr(KhadimStoreBatch) batch = khadim_store_batch_new ();
  g_autoptr(KhadimCommandRecord) command = khadim_command_record_new ();

  command->session_id = g_strdup (session_id);
  command->kind = g_strdup (kind);
  command->payload = khadim_json_object (json_object_new ());
  command->by = g_strdup (g_get_user_name ());
  command->created_us = khadim_time_now_us ();
  khadim_store_batch_add_command (batch, command);

  return khadim_store_commit_sync (store, g_steal_pointer (&batch), KHADIM_DURABILITY_MACHINE,
                                   error);
}

/* Only a session that a process runs can be told something. */
static gboolean
check_live (KhadimStore *store,
            const char  *session_id)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimSessionRecord) record = khadim_store_get_session (store, session_id, &error);

  if (record == NULL)
    khadim_cli_error ("%s", error->message);
  else if (record->outcome != NULL)
    khadim_cli_error ("the session has ended already (%s)", record->outcome);
  else if (!khadim_store_is_session_live (store, record))
    khadim_cli_error ("the session does not run; “khadim sessions” says what it waits for");
  else
    return TRUE;

  return FALSE;
}

static int
tell (int          argc,
      char       **argv,
      const char  *kind,
      const char  *summary,
      const char  *said)
{
  g_autoptr(KhadimStore) store = NULL;
  g_autoptr(GError) error = NULL;

  if (!khadim_cli_parse ("SESSION", summary,
                         "Exit codes: 0 it was told, 1 the store cannot be written, 2 there is no\n"
                         "such session, or it does not run.",
                         NULL, &argc, &argv, 1, 1))
    return KHADIM_EXIT_USAGE;

  store = khadim_cli_open_store ();
  if (store == NULL)
    return KHADIM_EXIT_FAILED;
  if (!check_live (store, argv[1]))
    return KHADIM_EXIT_USAGE;
  if (!write_command (store, argv[1], kind, &error))
    {
      khadim_cli_error ("%s", error->message);
      return KHADIM_EXIT_FAILED;
    }
  g_print ("%s\n", said);

  return KHADIM_EXIT_DONE;
}

int
khadim_command_stop (int    argc,
                     char **argv)
{
  return tell (argc, argv, "stop",
               "Stops a session that runs: what it does is cancelled, no other step begins.",
               "The session was told to stop.");
}

int
khadim_command_pause (int    argc,
                      char **argv)
{
  return tell (argc, argv, "pause",
               "Pauses a session that runs: the step under way ends, no other begins.",
               "The session was told to pause. Go on with: khadim continue SESSION");
}

int
khadim_command_continue (int    argc,
                         char **argv)
{
  return tell (argc, argv, "resume", "Lets a session go on that was paused.",
               "The session was told to go on.");
}
