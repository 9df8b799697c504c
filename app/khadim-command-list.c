/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-list"

#include "config.h"

#include "app/khadim-cli.h"

#include <string.h>

#include "app/khadim-questions.h"
#include "engine/base/khadim-time.h"
#include "engine/json/khadim-json.h"

/* How many sessions are listed without --limit. */
#define DEFAULT_LIMIT 20

static void
set_text (JsonObject *object,
          const char *name,
          const char *text)
{
  if (text != NULL)
    json_object_set_string_member (object, name, text);
  else
    json_object_set_null_member (object, name);
}

static void
set_time (JsonObject *object,
          const char *name,
          gint64      time_us)
{
  g_autofree char *text = time_us != 0 ? khadim_time_to_rfc3339 (time_us) : NULL;

  set_text (object, name, text);
}

static void
print_line (JsonObject *object)
{
  g_autoptr(JsonNode) node = khadim_json_object (object);
  g_autofree char *text = khadim_json_to_string (node);

  g_print ("%s\n", text);
}

/* khadim automations ------------------------------------------------------- */

static void
print_automation (KhadimAutomationRecord *record,
                  gboolean                json)
{
  g_autofree char *time = NULL;
  JsonObject *object;

  if (!json)
    {
      time = record->last_run_us != 0 ? khadim_cli_time (record->last_run_us) : g_strdup ("never");
      g_print ("%-28s %-20s %-12s %s\n", record->name, time,
               record->last_outcome != NULL ? record->last_outcome : "", record->folder);
      return;
    }
  object = json_object_new ();
  set_text (object, "name", record->name);
  set_text (object, "title", record->title);
  set_text (object, "folder", record->folder);
  set_time (object, "last_run", record->last_run_us);
  set_text (object, "last_outcome", record->last_outcome);
  print_line (object);
}

int
khadim_command_automations (int    argc,
                            char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Write one JSON object a line", NULL },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr(KhadimStore) store = NULL;
  g_autoptr(GPtrArray) list = NULL;
  g_autoptr(GError) error = NULL;

  if (!khadim_cli_parse ("", "Lists the automations that have been run from this store.", NULL,
                         entries, &argc, &argv, 0, 0))
    return KHADIM_EXIT_USAGE;

  store = khadim_cli_open_store ();
  if (store == NULL)
    return KHADIM_EXIT_FAILED;
  list = khadim_store_list_automations (store, &error);
  if (list == NULL)
    {
      khadim_cli_error ("%s", error->message);
      return KHADIM_EXIT_FAILED;
    }
  if (!json && list->len == 0)
    g_print ("None yet: “khadim run FOLDER” plays one.\n");
  else if (!json)
    g_print ("%-28s %-20s %-12s %s\n", "NAME", "LAST RUN", "OUTCOME", "FOLDER");
  for (guint i = 0; i < list->len; i++)
    print_automation (list->pdata[i], json);

  return KHADIM_EXIT_DONE;
}

/* khadim sessions ---------------------------------------------------------- */

static const char *
describe_session (KhadimStore         *store,
                  KhadimSessionRecord *record)
{
  if (record->outcome != NULL)
    return record->outcome;
  if (khadim_store_is_session_live (store, record))
    return record->state == KHADIM_SESSION_PAUSED ? "paused" : "running";

  return record->state == KHADIM_SESSION_PAUSED ? "question" : "resumable";
}

/* What the session waits for; NULL when that is nothing or cannot be read. */
static char *
get_question (KhadimStore         *store,
              KhadimSessionRecord *record,
              const char          *state)
{
  g_autoptr(GPtrArray) questions = NULL;

  if (strcmp (state, "question") != 0)
    return NULL;
  questions = khadim_questions_list (store, record->id, NULL);
  if (questions == NULL || questions->len == 0)
    return NULL;

  return g_strdup (((KhadimQuestionItem *) questions->pdata[questions->len - 1])->text);
}

static void
print_session (KhadimStore         *store,
               KhadimSessionRecord *record,
               gboolean             json)
{
  g_autofree char *time = khadim_cli_time (record->created_us);
  const char *state = describe_session (store, record);
  g_autofree char *question = get_question (store, record, state);
  const char *note = record->error_message != NULL ? record->error_message : question;
  JsonObject *object;

  if (!json)
    {
      g_print ("%s  %s  %-11s  %s%s%s\n", record->id, time, state, record->title,
               note != NULL ? ": " : "", note != NULL ? note : "");
      return;
    }
  object = json_object_new ();
  set_text (object, "id", record->id);
  set_text (object, "title", record->title);
  set_text (object, "automation", record->automation);
  set_text (object, "state", state);
  set_text (object, "parent_session_id", record->parent_session_id);
  set_text (object, "question", question);
  set_text (object, "error_code", record->error_code);
  set_text (object, "error_message", record->error_message);
  set_time (object, "created", record->created_us);
  set_time (object, "ended", record->ended_us);
  print_line (object);
}

int
khadim_command_sessions (int    argc,
                         char **argv)
{
  gboolean json = FALSE;
  int limit = DEFAULT_LIMIT;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Write one JSON object a line", NULL },
    { "limit", 0, 0, G_OPTION_ARG_INT, &limit, "Show at most N (default 20)", "N" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr(KhadimStore) store = NULL;
  g_autoptr(GPtrArray) list = NULL;
  g_autoptr(GError) error = NULL;

  if (!khadim_cli_parse ("[NAME]",
                         "Lists sessions, the newest first; with NAME, those of an automation.",
                         "States: running, paused, question (answer with “khadim approve”),\n"
                         "resumable (its process died: “khadim run --resume ID”), and how it\n"
                         "ended: completed, failed, interrupted, budget.",
                         entries, &argc, &argv, 0, 1))
    return KHADIM_EXIT_USAGE;
  if (limit < 1)
    {
      khadim_cli_error ("--limit is at least 1");
      return KHADIM_EXIT_USAGE;
    }

  store = khadim_cli_open_store ();
  if (store == NULL)
    return KHADIM_EXIT_FAILED;
  list = khadim_store_list_sessions (store, argc > 1 ? argv[1] : NULL, (guint) limit, &error);
  if (list == NULL)
    {
      khadim_cli_error ("%s", error->message);
      return KHADIM_EXIT_FAILED;
    }
  if (!json && list->len == 0)
    g_print ("None yet.\n");
  for (guint i = 0; i < list->len; i++)
    print_session (store, list->pdata[i], json);

  return KHADIM_EXIT_DONE;
}
