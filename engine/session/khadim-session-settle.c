/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-session"

#include "config.h"

#include "engine/session/khadim-session-private.h"

#include <string.h>

#include "engine/base/khadim-time.h"
#include "engine/base/khadim-uuid.h"
#include "engine/json/khadim-json.h"

void
_khadim_signal_clear (KhadimSignal *self)
{
  g_clear_pointer (&self->message, g_free);
  g_clear_pointer (&self->value, json_node_unref);
  g_clear_pointer (&self->detail, json_node_unref);
  g_clear_pointer (&self->step_id, g_free);
  g_clear_pointer (&self->scope, g_free);
  memset (self, 0, sizeof *self);
}

/* Moves what @from holds. */
void
_khadim_signal_take (KhadimSignal *self,
                     KhadimSignal *from)
{
  if (self == from)
    return;

  _khadim_signal_clear (self);
  *self = *from;
  memset (from, 0, sizeof *from);
}

void
_khadim_signal_fail (KhadimSignal    *self,
                     KhadimToolError  code,
                     const char      *format,
                     ...)
{
  va_list args;

  _khadim_signal_clear (self);
  self->kind = KHADIM_SIGNAL_FAILED;
  self->code = code;
  va_start (args, format);
  self->message = g_strdup_vprintf (format, args);
  va_end (args);
}

/* Adds a line to the record's audit trail and sets its state. */
void
_khadim_session_audit (KhadimToolCallRecord *record,
                       KhadimCallState       state,
                       const char           *by,
                       const char           *note)
{
  g_autofree char *time = khadim_time_to_rfc3339 (khadim_time_now_us ());
  JsonObject *entry = json_object_new ();
  JsonArray *trail = json_array_new ();

  if (record->audit != NULL)
    {
      JsonArray *old = json_node_get_array (record->audit);

      for (guint i = 0; i < json_array_get_length (old); i++)
        json_array_add_element (trail, json_node_copy (json_array_get_element (old, i)));
      json_node_unref (record->audit);
    }
  json_object_set_string_member (entry, "time", time);
  json_object_set_string_member (entry, "state", khadim_call_state_to_string (state));
  if (by != NULL)
    json_object_set_string_member (entry, "by", by);
  if (note != NULL)
    json_object_set_string_member (entry, "note", note);
  json_array_add_object_element (trail, entry);
  record->audit = khadim_json_array (trail);
  record->state = state;
}

/* A new record in the session's table. The audit trail begins when somebody
 * other than the driver has a say: the states of a plain call are in its times. */
KhadimToolCallRecord *
_khadim_session_new_call (KhadimSession        *self,
                          const KhadimCallSpec *spec,
                          KhadimCallState       state)
{
  KhadimToolCallRecord *record = khadim_tool_call_record_new ();

  record->id = khadim_uuid7_new ();
  record->session_id = g_strdup (self->record->id);
  record->run_id = g_strdup (self->run->id);
  record->position = g_strdup (spec->position);
  record->step_id = g_strdup (spec->step_id);
  record->title = _khadim_session_redact (self, spec->title);
  record->tool = g_strdup (spec->tool);
  record->args = _khadim_session_redact_json (self, spec->args);
  record->state = state;
  record->created_us = khadim_time_now_us ();
  g_hash_table_replace (self->calls, record->position, record);

  return record;
}

void
_khadim_session_step_start (KhadimSession        *self,
                            KhadimToolCallRecord *record)
{
  JsonObject *metadata = json_object_new ();

  json_object_set_string_member (metadata, "id", record->id);
  json_object_set_string_member (metadata, "tool", record->tool);
  json_object_set_string_member (metadata, "title", record->title);
  json_object_set_string_member (metadata, "step", record->step_id);
  json_object_set_string_member (metadata, "position", record->position);
  if (record->args != NULL)
    json_object_set_member (metadata, "args", json_node_copy (record->args));
  _khadim_session_emit (self, KHADIM_CHANNEL_PROGRESS, "step_start", record->title,
                        khadim_json_object (metadata));
}

static JsonNode *
describe_error (KhadimToolCallRecord *record)
{
  JsonObject *error = json_object_new ();

  json_object_set_string_member (error, "code", record->error_code);
  json_object_set_string_member (error, "message", record->error_message);
  if (record->detail != NULL)
    json_object_set_member (error, "detail", json_node_copy (record->detail));

  return khadim_json_object (error);
}

/* @artifacts: (nullable) (transfer none): an array that describes them */
void
_khadim_session_step_complete (KhadimSession        *self,
                               KhadimToolCallRecord *record,
                               JsonNode             *artifacts)
{
  gboolean failed = record->state != KHADIM_CALL_COMPLETED;
  gint64 begun = record->started_us > 0 ? record->started_us : record->created_us;
  JsonObject *metadata = json_object_new ();

  json_object_set_string_member (metadata, "id", record->id);
  json_object_set_string_member (metadata, "tool", record->tool);
  json_object_set_string_member (metadata, "step", record->step_id);
  json_object_set_string_member (metadata, "position", record->position);
  json_object_set_boolean_member (metadata, "is_error", failed);
  json_object_set_int_member (metadata, "duration_ms", MAX (record->ended_us - begun, 0) / 1000);
  if (failed)
    json_object_set_member (metadata, "error", describe_error (record));
  else if (record->result != NULL)
    json_object_set_member (metadata, "result", json_node_copy (record->result));
  if (artifacts != NULL)
    json_object_set_member (metadata, "artifacts", json_node_copy (artifacts));
  _khadim_session_emit (self, KHADIM_CHANNEL_PROGRESS, "step_complete",
                        failed ? record->error_message : record->title,
                        khadim_json_object (metadata));
}

static void
recall_failure (KhadimToolCallRecord *record,
                KhadimSignal         *signal)
{
  KhadimToolError code = KHADIM_TOOL_ERROR_TOOL;

  if (record->error_code != NULL)
    khadim_tool_error_from_code (record->error_code, &code);
  _khadim_signal_fail (signal, code, "%s",
                       record->error_message != NULL ? record->error_message : "it failed");
  signal->scope = g_strdup (record->error_scope);
  signal->detail = record->detail != NULL ? json_node_ref (record->detail) : NULL;
  signal->step_id = g_strdup (record->step_id);
  if (code == KHADIM_TOOL_ERROR_CANCELLED)
    signal->kind = KHADIM_SIGNAL_STOPPED;
}

/* Whether what happened at @position is known from before; then @signal is it. */
gboolean
_khadim_session_recall (KhadimSession *self,
                        const char    *position,
                        KhadimSignal  *signal)
{
  KhadimToolCallRecord *record = g_hash_table_lookup (self->calls, position);

  if (record == NULL)
    return FALSE;

  if (record->state == KHADIM_CALL_COMPLETED)
    {
      _khadim_signal_clear (signal);
      signal->value = record->result != NULL ? json_node_ref (record->result) : NULL;
    }
  else if (record->state == KHADIM_CALL_FAILED || record->state == KHADIM_CALL_DENIED)
    recall_failure (record, signal);
  else
    return FALSE;
  signal->replayed = TRUE;

  return TRUE;
}

/* Whether anything was done at @prefix or inside it: then a delay before it
 * has been waited for already. */
gboolean
_khadim_session_has_position (KhadimSession *self,
                              const char    *prefix)
{
  GHashTableIter iter;
  gpointer key;
  gsize length = strlen (prefix);

  if (!self->resumed)
    return FALSE;

  g_hash_table_iter_init (&iter, self->calls);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    if (strncmp (key, prefix, length) == 0 && strchr (".[!", ((char *) key)[length]) != NULL)
      return TRUE;

  return FALSE;
}

/* Records a step that no tool runs and that has its end already, as @signal
 * says; a record from before is left as it is. */
void
_khadim_session_settle (KhadimSession        *self,
                        const KhadimCallSpec *spec,
                        KhadimSignal         *signal)
{
  KhadimToolCallRecord *record;

  if (g_hash_table_contains (self->calls, spec->position))
    return;

  record = _khadim_session_new_call (self, spec,
                                     signal->kind == KHADIM_SIGNAL_OK ? KHADIM_CALL_COMPLETED
                                                                      : KHADIM_CALL_FAILED);
  record->started_us = record->ended_us = record->created_us;
  if (signal->kind == KHADIM_SIGNAL_OK)
    record->result = _khadim_session_redact_json (self, signal->value);
  else
    {
      record->error_code = g_strdup (khadim_tool_error_to_code (signal->code));
      record->error_message = _khadim_session_redact (self, signal->message);
      record->error_scope = g_strdup (signal->scope);
    }
  _khadim_session_step_start (self, record);
  _khadim_session_put_call (self, record);
  _khadim_session_step_complete (self, record, NULL);
  _khadim_session_commit (self, KHADIM_DURABILITY_PROCESS, NULL, NULL);
}

static void
emit_question (KhadimSession        *self,
               KhadimToolCallRecord *record,
               const KhadimQuestion *question)
{
  JsonObject *metadata = json_object_new ();

  json_object_set_string_member (metadata, "id", record->id);
  json_object_set_string_member (metadata, "kind", question->kind);
  json_object_set_string_member (metadata, "step", record->step_id);
  json_object_set_string_member (metadata, "tool", record->tool);
  if (question->options != NULL)
    json_object_set_member (metadata, "options", json_node_copy (question->options));
  _khadim_session_emit (self, KHADIM_CHANNEL_CONTROL, "question", question->question,
                        khadim_json_object (metadata));
}

/* A command's answer to the question with this id, taken from the list. */
static KhadimCommandRecord *
take_answer (KhadimSession *self,
             const char    *question_id)
{
  for (guint i = 0; i < self->answers->len; i++)
    {
      KhadimCommandRecord *command = self->answers->pdata[i];
      JsonObject *payload = json_node_get_object (command->payload);

      if (strcmp (khadim_json_get_string (payload, "question", ""), question_id) == 0)
        return g_ptr_array_steal_index (self->answers, i);
    }

  return NULL;
}

static gboolean
is_option (const KhadimQuestion *question,
           JsonNode             *answer)
{
  JsonArray *options;

  if (question->options == NULL)
    return JSON_NODE_HOLDS_VALUE (answer);

  options = json_node_get_array (question->options);
  for (guint i = 0; i < json_array_get_length (options); i++)
    if (khadim_json_equal (json_array_get_element (options, i), answer))
      return TRUE;

  return FALSE;
}

static void
emit_answered (KhadimSession        *self,
               KhadimToolCallRecord *record,
               KhadimCommandRecord  *command)
{
  JsonObject *metadata = json_object_new ();
  JsonNode *answer = khadim_json_get (json_node_get_object (command->payload), "answer");

  json_object_set_string_member (metadata, "id", record->id);
  if (command->by != NULL)
    json_object_set_string_member (metadata, "by", command->by);
  json_object_set_member (metadata, "answer", json_node_copy (answer));
  _khadim_session_emit (self, KHADIM_CHANNEL_CONTROL, "question_answered", NULL,
                        khadim_json_object (metadata));
}

/* Asks about @record, which is in the state @waiting as long as the question
 * is open, or finds the answer that was given meanwhile. An answer that is
 * none of the options is refused, and the question stays open.
 *
 * Returns: (transfer full) (nullable): the answer; NULL when the session is
 * to be parked on the question, whose record and event are in the batch */
JsonNode *
_khadim_session_ask (KhadimSession        *self,
                     KhadimToolCallRecord *record,
                     KhadimCallState       waiting,
                     const KhadimQuestion *question)
{
  KhadimCommandRecord *found;

  while ((found = take_answer (self, record->id)) != NULL)
    {
      g_autoptr(KhadimCommandRecord) command = found;
      JsonNode *answer = khadim_json_get (json_node_get_object (command->payload), "answer");

      khadim_store_batch_command_handled (self->batch, command->id, khadim_time_now_us ());
      if (answer != NULL && is_option (question, answer))
        {
          emit_answered (self, record, command);
          return json_node_ref (answer);
        }
      _khadim_session_emit (self, KHADIM_CHANNEL_MONITOR, "system_message",
                            "An answer was none of the options; the question is still open.",
                            NULL);
    }

  if (record->state != waiting)
    {
      _khadim_session_audit (record, waiting, NULL, question->question);
      emit_question (self, record, question);
    }
  _khadim_session_put_call (self, record);
  self->parked = TRUE;

  return NULL;
}

/* A question that is a step of its own: its record's result is the answer. */
void
_khadim_session_question (KhadimSession        *self,
                          const KhadimCallSpec *spec,
                          const KhadimQuestion *question,
                          KhadimCallDone        done,
                          gpointer              user_data)
{
  KhadimSignal signal = { 0 };
  KhadimToolCallRecord *record;
  g_autoptr(JsonNode) answer = NULL;

  if (_khadim_session_recall (self, spec->position, &signal))
    {
      done (self, &signal, user_data);
      _khadim_signal_clear (&signal);
      return;
    }
  if (!khadim_engine_get_can_ask (self->engine))
    {
      _khadim_signal_fail (&signal, KHADIM_TOOL_ERROR_DENIED,
                           "there is nobody to ask: “%s”", question->question);
      _khadim_session_settle (self, spec, &signal);
      done (self, &signal, user_data);
      _khadim_signal_clear (&signal);
      return;
    }

  record = g_hash_table_lookup (self->calls, spec->position);
  if (record == NULL)
    {
      record = _khadim_session_new_call (self, spec, KHADIM_CALL_PENDING);
      _khadim_session_step_start (self, record);
    }
  answer = _khadim_session_ask (self, record, KHADIM_CALL_APPROVAL_REQUIRED, question);
  if (answer == NULL)
    signal.kind = KHADIM_SIGNAL_PARKED;
  else
    {
      _khadim_session_audit (record, KHADIM_CALL_COMPLETED, "person", NULL);
      record->ended_us = khadim_time_now_us ();
      record->result = _khadim_session_redact_json (self, answer);
      signal.value = json_node_ref (record->result);
      _khadim_session_put_call (self, record);
      _khadim_session_step_complete (self, record, NULL);
    }
  _khadim_session_commit (self, KHADIM_DURABILITY_PROCESS, NULL, NULL);
  done (self, &signal, user_data);
  _khadim_signal_clear (&signal);
}
