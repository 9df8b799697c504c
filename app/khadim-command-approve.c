/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-approve"

#include "config.h"

#include "app/khadim-cli.h"

#include "app/khadim-questions.h"
#include "engine/base/khadim-error.h"

static KhadimQuestionItem *
find_question (GPtrArray  *questions,
               const char *id)
{
  for (guint i = questions->len; i > 0; i--)
    {
      KhadimQuestionItem *question = questions->pdata[i - 1];

      if (id == NULL || g_strcmp0 (question->id, id) == 0)
        return question;
    }

  return NULL;
}

/* Answers a question of the session or of one that it called. */
static int
answer (KhadimStore *store,
        const char  *session_id,
        const char  *question_id,
        const char  *text)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *root = khadim_questions_get_root (store, session_id, &error);
  g_autoptr(GPtrArray) questions = NULL;
  KhadimQuestionItem *question;

  if (root != NULL)
    questions = khadim_questions_list (store, session_id, &error);
  if (questions == NULL)
    {
      khadim_cli_error ("%s", error->message);
      return g_error_matches (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_NOT_FOUND)
               ? KHADIM_EXIT_USAGE
               : KHADIM_EXIT_FAILED;
    }
  question = find_question (questions, question_id);
  if (question == NULL)
    {
      khadim_cli_error ("the session “%s” has no such open question", session_id);
      return KHADIM_EXIT_USAGE;
    }
  if (!khadim_questions_answer (store, question, text, &error))
    {
      khadim_cli_error ("%s", error->message);
      return g_error_matches (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID)
               ? KHADIM_EXIT_USAGE
               : KHADIM_EXIT_FAILED;
    }
  g_print ("“%s” was answered with “%s”. Go on with: khadim run --resume %s\n", question->text,
           text, root);

  return KHADIM_EXIT_DONE;
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

  if (!khadim_cli_parse ("SESSION ANSWER",
                         "Answers the question that a session waits with.",
                         "SESSION may also be one that was called by another. The answer is kept\n"
                         "until the session goes on:\n"
                         "  khadim approve SESSION allow\n"
                         "  khadim run --resume SESSION",
                         entries, &argc, &argv, 2, 2))
    return KHADIM_EXIT_USAGE;

  store = khadim_cli_open_store ();
  if (store == NULL)
    return KHADIM_EXIT_FAILED;

  return answer (store, argv[1], question, argv[2]);
}
