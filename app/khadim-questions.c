/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-questions"

#include "config.h"

#include "app/khadim-questions.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/khadim-error.h"
#include "engine/base/khadim-time.h"
#include "engine/json/khadim-json.h"

/* How many events are read at a time. */
#define PAGE 1000

/* How long an answer may be that is typed in. */
#define MAX_ANSWER_BYTES 65536

/* How deep sessions that were called are looked into, and up from. */
#define MAX_DEPTH 64

static void
question_free (gpointer data)
{
  KhadimQuestionItem *self = data;

  g_free (self->id);
  g_free (self->session_id);
  g_free (self->text);
  g_clear_pointer (&self->options, json_array_unref);
  g_free (self);
}

/* Listing ------------------------------------------------------------------ */

/* Takes the words and the options from the event that asked. */
static void
read_event (KhadimQuestionItem *self,
            KhadimEvent        *event)
{
  JsonNode *metadata = khadim_event_get_metadata (event);
  JsonObject *object = metadata != NULL && JSON_NODE_HOLDS_OBJECT (metadata)
                         ? json_node_get_object (metadata)
                         : NULL;
  JsonArray *options;

  if (object == NULL || strcmp (khadim_event_get_event_type (event), "question") != 0 ||
      strcmp (khadim_json_get_string (object, "id", ""), self->id) != 0)
    return;

  options = khadim_json_get_array (object, "options");
  g_free (self->text);
  self->text = g_strdup (khadim_event_get_content (event));
  g_clear_pointer (&self->options, json_array_unref);
  if (options != NULL)
    self->options = json_array_ref (options);
}

static gboolean
read_events (KhadimStore         *store,
             KhadimQuestionItem  *self,
             GError             **error)
{
  gint64 seq = 0;

  while (TRUE)
    {
      g_autoptr(GPtrArray) page = khadim_store_list_events (store, self->session_id, seq, PAGE,
                                                            error);

      if (page == NULL)
        return FALSE;
      if (page->len == 0)
        return TRUE;
      for (guint i = 0; i < page->len; i++)
        {
          read_event (self, page->pdata[i]);
          seq = khadim_event_get_seq (page->pdata[i]);
        }
    }
}

static gboolean
collect_own (KhadimStore  *store,
             const char   *session_id,
             GPtrArray    *questions,
             GError      **error)
{
  g_autoptr(GPtrArray) calls = khadim_store_list_calls (store, session_id, error);

  for (guint i = 0; calls != NULL && i < calls->len; i++)
    {
      KhadimToolCallRecord *call = calls->pdata[i];
      KhadimQuestionItem *question;

      if (call->state != KHADIM_CALL_APPROVAL_REQUIRED && call->state != KHADIM_CALL_SEALED)
        continue;
      question = g_new0 (KhadimQuestionItem, 1);
      question->id = g_strdup (call->id);
      question->session_id = g_strdup (session_id);
      question->text = g_strdup (call->title);
      g_ptr_array_add (questions, question);
      if (!read_events (store, question, error))
        return FALSE;
    }

  return calls != NULL;
}

static gboolean
collect (KhadimStore  *store,
         const char   *session_id,
         guint         depth,
         GPtrArray    *questions,
         GError      **error)
{
  g_autoptr(GPtrArray) children = NULL;

  if (!collect_own (store, session_id, questions, error))
    return FALSE;
  children = khadim_store_list_children (store, session_id, error);
  for (guint i = 0; children != NULL && depth < MAX_DEPTH && i < children->len; i++)
    {
      KhadimSessionRecord *child = children->pdata[i];

      if (child->outcome == NULL && !collect (store, child->id, depth + 1, questions, error))
        return FALSE;
    }

  return children != NULL;
}

/* The open questions of a session and of those that it called: a new array of
 * KhadimQuestionItem, or NULL with @error set. Blocks on the disk. */
GPtrArray *
khadim_questions_list (KhadimStore  *store,
                       const char   *session_id,
                       GError      **error)
{
  g_autoptr(GPtrArray) questions = g_ptr_array_new_with_free_func (question_free);

  if (!collect (store, session_id, 0, questions, error))
    return NULL;

  return g_steal_pointer (&questions);
}

/* The session at the top that @session_id was called for: the one to resume. */
char *
khadim_questions_get_root (KhadimStore  *store,
                           const char   *session_id,
                           GError      **error)
{
  g_autofree char *id = g_strdup (session_id);

  for (guint i = 0; i < MAX_DEPTH; i++)
    {
      g_autoptr(KhadimSessionRecord) record = khadim_store_get_session (store, id, error);

      if (record == NULL)
        return NULL;
      if (record->parent_session_id == NULL)
        break;
      g_free (id);
      id = g_strdup (record->parent_session_id);
    }

  return g_steal_pointer (&id);
}

/* Saying ------------------------------------------------------------------- */

/* An option in the form in which it is typed. */
static char *
option_to_text (JsonNode *option)
{
  return json_node_get_value_type (option) == G_TYPE_STRING ? json_node_dup_string (option)
                                                            : khadim_json_to_string (option);
}

/* “skip|stop”, or NULL when any text will do. */
static char *
list_options (KhadimQuestionItem *self)
{
  GString *list;

  if (self->options == NULL)
    return NULL;

  list = g_string_new (NULL);
  for (guint i = 0; i < json_array_get_length (self->options); i++)
    {
      g_autofree char *text = option_to_text (json_array_get_element (self->options, i));

      g_string_append_printf (list, "%s%s", i > 0 ? "|" : "", text);
    }

  return g_string_free (list, FALSE);
}

/* Says what a session waits for, and how it is answered and gone on with. */
void
khadim_questions_print (GPtrArray  *questions,
                        const char *session_id)
{
  for (guint i = 0; i < questions->len; i++)
    {
      KhadimQuestionItem *question = questions->pdata[i];
      g_autofree char *options = list_options (question);

      g_print ("? %s\n  Answer: khadim approve %s %s\n", question->text, session_id,
               options != NULL ? options : "TEXT");
    }
  if (questions->len > 0)
    g_print ("  Then:   khadim run --resume %s\n", session_id);
}

/* Answering ---------------------------------------------------------------- */

/* @answer as the question takes it; NULL with @error set when it does not. */
static JsonNode *
read_answer (KhadimQuestionItem  *self,
             const char          *answer,
             GError             **error)
{
  g_autofree char *list = list_options (self);

  if (!g_utf8_validate (answer, -1, NULL))
    {
      g_set_error_literal (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                           "the answer is not UTF-8");
      return NULL;
    }
  if (self->options == NULL)
    return khadim_json_string (answer);

  for (guint i = 0; i < json_array_get_length (self->options); i++)
    {
      JsonNode *option = json_array_get_element (self->options, i);
      g_autofree char *text = option_to_text (option);

      if (strcmp (text, answer) == 0)
        return json_node_copy (option);
    }
  g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
               "“%s” is none of the answers: %s", answer, list);

  return NULL;
}

/* Writes the answer down for the session whose question it is, which takes it
 * when it goes on. KHADIM_ENGINE_ERROR_INVALID when it is none of the options. */
gboolean
khadim_questions_answer (KhadimStore         *store,
                         KhadimQuestionItem  *question,
                         const char          *answer,
                         GError             **error)
{
  g_autoptr(KhadimStoreBatch) batch = khadim_store_batch_new ();
  g_autoptr(KhadimCommandRecord) command = khadim_command_record_new ();
  JsonNode *value = read_answer (question, answer, error);
  JsonObject *payload;

  if (value == NULL)
    return FALSE;

  payload = json_object_new ();
  json_object_set_string_member (payload, "question", question->id);
  json_object_set_member (payload, "answer", value);
  command->session_id = g_strdup (question->session_id);
  command->kind = g_strdup ("answer");
  command->payload = khadim_json_object (payload);
  command->by = g_strdup (g_get_user_name ());
  command->created_us = khadim_time_now_us ();
  khadim_store_batch_add_command (batch, command);

  return khadim_store_commit_sync (store, g_steal_pointer (&batch), KHADIM_DURABILITY_MACHINE,
                                   error);
}

/* A line of standard input without its end; NULL at the end of the input. */
static char *
read_line (void)
{
  g_autofree char *line = g_malloc (MAX_ANSWER_BYTES);

  if (fgets (line, MAX_ANSWER_BYTES, stdin) == NULL)
    return NULL;
  line[strcspn (line, "\r\n")] = '\0';

  return g_steal_pointer (&line);
}

static gboolean
ask_one (KhadimStore         *store,
         KhadimQuestionItem  *question,
         GError             **error)
{
  g_autofree char *options = list_options (question);

  while (TRUE)
    {
      g_autofree char *line = NULL;
      g_autoptr(GError) wrong = NULL;

      g_print ("? %s\n  %s%s> ", question->text, options != NULL ? options : "",
               options != NULL ? " " : "");
      fflush (stdout);
      line = read_line ();
      if (line == NULL)
        {
          g_print ("\n");
          return FALSE;
        }
      if (khadim_questions_answer (store, question, line, &wrong))
        return TRUE;
      if (!g_error_matches (wrong, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID))
        {
          g_propagate_error (error, g_steal_pointer (&wrong));
          return FALSE;
        }
      g_print ("  %s\n", wrong->message);
    }
}

/* Asks the person at the terminal until each question has a fitting answer.
 * FALSE when the input is at its end, or with @error set. */
gboolean
khadim_questions_ask (KhadimStore  *store,
                      GPtrArray    *questions,
                      GError      **error)
{
  for (guint i = 0; i < questions->len; i++)
    if (!ask_one (store, questions->pdata[i], error))
      return FALSE;

  return questions->len > 0;
}
