/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-approve"

#include "config.h"

#include "app/khadim-cli.h"

#include "engine/base/khadim-time.h"
#include "engine/json/khadim-json.h"

static KhadimToolCallRecord *
find_question (GPtrArray  *calls,
               const char *id)
{
  KhadimToolCallRecord *found = NULL;

  for (guint i = 0; i < calls->len; i++)
    {
      KhadimToolCallRecord *call = calls->pdata[i];
      gboolean open = call->state == KHADIM_CALL_APPROVAL_REQUIRED ||
                      call->state == KHADIM_CALL_SEALED;

      if (open && (id == NULL || g_strcmp0 (call->id, id) == 0))
        found = call;
    }

  return found;
}

static gboolean
write_answer (KhadimStore  *store,
              const char   *session_id,
              const char   *question_id,
              const char   *answer,
              GError      **error)
{
  g_autoptr(KhadimStoreBatch) batch = khadim_store_batch_new ();
  g_autoptr(KhadimCommandRecord) command = khadim_command_record_new ();
  JsonObject *payload = json_object_new ();

  json_object_set_string_member (payload, "question", question_id);
  json_object_set_string_member (payload, "answer", answer);
  command->session_id = g_strdup (session_id);
  command->kind = g_strdup ("answer");
  command->payload = khadim_json_object (payload);
  command->by = g_strdup (g_get_user_name ());
  command->created_us = khadim_time_now_us ();
  khadim_store_batch_add_command (batch, command);

  return khadim_store_commit_sync (store, g_steal_pointer (&batch), KHADIM_DURABILITY_MACHINE,
                                   error);
}

int
khadim_command_approve (int    argc,
                        char **argv)
{
  g_autofree char *question = NULL;
  const GOptionEntry entries[] = {
    { "question", 0, 0, G_OPTION_ARG_STRING, &question,
      "The id of the question (default: the one that is open)", "ID" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr(KhadimStore) store = NULL;
  g_autoptr(GPtrArray) calls = NULL;
  g_autoptr(GError) error = NULL;
  KhadimToolCallRecord *call;

  if (!khadim_cli_parse ("SESSION ANSWER",
                         "Answers the question that a session waits with.",
                         "The answer is kept until the session goes on:\n"
                         "  khadim approve SESSION allow\n"
                         "  khadim run --resume SESSION",
                         entries, &argc, &argv, 2, 2))
    return KHADIM_EXIT_USAGE;

  store = khadim_cli_open_store ();
  if (store == NULL)
    return KHADIM_EXIT_FAILED;
  calls = khadim_store_list_calls (store, argv[1], &error);
  if (calls == NULL)
    {
      khadim_cli_error ("%s", error->message);
      return KHADIM_EXIT_FAILED;
    }
  call = find_question (calls, question);
  if (call == NULL)
    {
      khadim_cli_error ("the session “%s” has no such open question", argv[1]);
      return KHADIM_EXIT_USAGE;
    }
  if (!write_answer (store, argv[1], call->id, argv[2], &error))
    {
      khadim_cli_error ("%s", error->message);
      return KHADIM_EXIT_FAILED;
    }
  g_print ("“%s” was answered with “%s”. Go on with: khadim run --resume %s\n", call->title,
           argv[2], argv[1]);

  return KHADIM_EXIT_DONE;
}
