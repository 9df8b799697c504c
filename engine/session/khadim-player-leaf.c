/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-player"

#include "config.h"

#include "engine/session/khadim-player-private.h"

#include <string.h>

#include "engine/automation/khadim-condition-private.h"
#include "engine/json/khadim-json.h"

enum {
  LEAF_FRESH,
  LEAF_CALLED,
  LEAF_COMPARED,
};

/* Pops with the signal; a value that is wanted is saved first. */
static void
pop_saved (KhadimPlayer *self,
           KhadimFrame  *frame)
{
  g_autoptr(JsonNode) nothing = NULL;
  g_autoptr(GError) error = NULL;
  JsonNode *value = self->signal.value;

  if (self->signal.kind == KHADIM_SIGNAL_OK && frame->step->save != NULL)
    {
      if (value == NULL)
        value = nothing = khadim_json_null ();
      if (!khadim_script_set (self->script, frame->step->save, value, &error))
        {
          _khadim_player_pop_error (self, error);
          return;
        }
    }
  _khadim_player_pop (self);
}

void
_khadim_player_run_tool (KhadimPlayer *self,
                         KhadimFrame  *frame)
{
  g_autoptr(JsonNode) args = NULL;
  g_autoptr(GError) error = NULL;

  if (frame->state == LEAF_CALLED)
    {
      pop_saved (self, frame);
      return;
    }
  args = khadim_script_expand (self->script, frame->step->args, &error);
  if (args == NULL)
    {
      _khadim_player_pop_error (self, error);
      return;
    }
  frame->state = LEAF_CALLED;
  _khadim_player_call (self, frame, frame->step->tool, args, "");
}

/* A person reads it, so a template in it must not keep it from them. */
static char *
expand_text (KhadimPlayer  *self,
             const char    *text,
             GError       **error)
{
  return khadim_script_expand_string (self->script, text, error);
}

void
_khadim_player_run_fail (KhadimPlayer *self,
                         KhadimFrame  *frame)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *message = expand_text (self, frame->step->text, &error);

  if (message == NULL)
    {
      _khadim_player_pop_error (self, error);
      return;
    }
  _khadim_signal_fail (&self->signal, KHADIM_TOOL_ERROR_BUSINESS, "%s", message);
  _khadim_player_pop_settled (self, frame, "fail", NULL);
}

void
_khadim_player_run_agent (KhadimPlayer *self,
                          KhadimFrame  *frame)
{
  _khadim_signal_fail (&self->signal, KHADIM_TOOL_ERROR_TOOL,
                       "an agent step needs a model, and agents are not there yet");
  _khadim_player_pop_settled (self, frame, "agent", NULL);
}

void
_khadim_player_run_script (KhadimPlayer *self,
                           KhadimFrame  *frame)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) value = khadim_script_run (self->script, frame->step->text, &error);

  _khadim_signal_clear (&self->signal);
  if (value != NULL && frame->step->save != NULL)
    khadim_script_set (self->script, frame->step->save, value, &error);
  if (error == NULL)
    self->signal.value = g_steal_pointer (&value);
  else
    _khadim_signal_fail (&self->signal,
                         error->code == KHADIM_ENGINE_ERROR_LIMIT ? KHADIM_TOOL_ERROR_LIMIT
                                                                  : KHADIM_TOOL_ERROR_TOOL,
                         "%s.script: %s", frame->step->place, error->message);
  _khadim_player_pop_settled (self, frame, "script", NULL);
}

/* ask ---------------------------------------------------------------------- */

static void
begin_ask (KhadimPlayer *self,
           KhadimFrame  *frame,
           JsonNode     *ask)
{
  JsonObject *object = json_node_get_object (ask);
  JsonArray *options = khadim_json_get_array (object, "options");
  g_autoptr(JsonNode) choices = NULL;
  KhadimCallSpec spec = _khadim_player_spec (frame, frame->position, "ask", ask);
  KhadimQuestion question = {
    .kind = khadim_json_get_string (object, "kind", "text"),
    .question = khadim_json_get_string (object, "question", ""),
  };

  if (strcmp (question.kind, "confirm") == 0)
    {
      choices = khadim_json_array (json_array_new ());
      json_array_add_string_element (json_node_get_array (choices), "yes");
      json_array_add_string_element (json_node_get_array (choices), "no");
    }
  else if (options != NULL)
    choices = khadim_json_array (json_array_ref (options));
  question.options = choices;
  self->waiting = TRUE;
  _khadim_session_question (self->session, &spec, &question, _khadim_player_on_call, self);
}

void
_khadim_player_run_ask (KhadimPlayer *self,
                        KhadimFrame  *frame)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) ask = NULL;

  if (frame->state == LEAF_CALLED)
    {
      pop_saved (self, frame);
      return;
    }
  ask = khadim_script_expand (self->script, frame->step->literal, &error);
  if (ask == NULL)
    {
      _khadim_player_pop_error (self, error);
      return;
    }
  frame->state = LEAF_CALLED;
  begin_ask (self, frame, ask);
}

/* check -------------------------------------------------------------------- */

/* Ends a check that does not hold, for the reason @wrong. */
static void
settle_check (KhadimPlayer *self,
              KhadimFrame  *frame,
              const char   *wrong)
{
  g_autoptr(JsonNode) detail = NULL;
  g_autofree char *message = NULL;
  g_autofree char *base = NULL;
  KhadimStep *step = frame->step;

  if (wrong == NULL)
    {
      _khadim_signal_clear (&self->signal);
      _khadim_player_pop_settled (self, frame, "check", NULL);
      return;
    }
  if (step->message != NULL)
    message = expand_text (self, step->message, NULL);
  detail = self->signal.detail != NULL ? json_node_ref (self->signal.detail) : NULL;
  base = g_strdup (wrong);
  _khadim_signal_fail (&self->signal, KHADIM_TOOL_ERROR_CHECK_FAILED, "%s%s%s",
                       message != NULL ? message : "", message != NULL ? ": " : "", base);
  self->signal.detail = g_steal_pointer (&detail);
  _khadim_player_pop_settled (self, frame, "check", NULL);
}

static void
check_expression (KhadimPlayer *self,
                  KhadimFrame  *frame)
{
  const char *expression = frame->step->condition.expression;
  g_autoptr(GError) error = NULL;
  g_autofree char *wrong = NULL;
  gboolean holds = FALSE;

  if (!khadim_script_test (self->script, expression, &holds, &error))
    {
      _khadim_player_pop_error (self, error);
      return;
    }
  if (!holds)
    wrong = g_strdup_printf ("“%s” does not hold", expression);
  settle_check (self, frame, wrong);
}

/* The tool of the check with its arguments; @suffix tells its calls apart. */
static void
call_check_tool (KhadimPlayer *self,
                 KhadimFrame  *frame)
{
  KhadimCondition *condition = &frame->step->condition;
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) template = NULL;
  g_autoptr(JsonNode) args = NULL;

  template = _khadim_condition_to_args (KHADIM_STEP_CHECK, condition->spec, condition->in);
  args = khadim_script_expand (self->script, template, &error);
  if (args == NULL)
    {
      _khadim_player_pop_error (self, error);
      return;
    }
  frame->state = LEAF_CALLED;
  _khadim_player_call (self, frame,
                       _khadim_condition_get_tool (KHADIM_STEP_CHECK, condition->spec), args,
                       "!look");
}

/* A file that must be the same as another: reads the other one too. */
static gboolean
read_other (KhadimPlayer *self,
            KhadimFrame  *frame)
{
  JsonObject *spec = json_node_get_object (frame->step->condition.spec);
  const char *same_as = khadim_json_get_string (spec, "same_as", NULL);
  g_autoptr(GError) error = NULL;
  g_autofree char *path = NULL;
  g_autoptr(JsonNode) args = NULL;

  if (same_as == NULL)
    return FALSE;

  path = expand_text (self, same_as, &error);
  if (path == NULL)
    {
      _khadim_player_pop_error (self, error);
      return TRUE;
    }
  args = khadim_json_object (json_object_new ());
  json_object_set_string_member (json_node_get_object (args), "path", path);
  _khadim_signal_take (&frame->kept, &self->signal);
  frame->state = LEAF_COMPARED;
  _khadim_player_call (self, frame, "files.read", args, "!other");

  return TRUE;
}

static const char *
get_text (KhadimSignal *signal)
{
  if (signal->value == NULL || !JSON_NODE_HOLDS_OBJECT (signal->value))
    return "";

  return khadim_json_get_string (json_node_get_object (signal->value), "text", "");
}

static gboolean
is_absent (KhadimSignal *signal)
{
  return signal->kind == KHADIM_SIGNAL_FAILED && signal->scope == NULL &&
         (signal->code == KHADIM_TOOL_ERROR_NOT_FOUND ||
          signal->code == KHADIM_TOOL_ERROR_TIMEOUT);
}

static void
judge (KhadimPlayer *self,
       KhadimFrame  *frame)
{
  KhadimCondition *condition = &frame->step->condition;
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) spec = NULL;
  g_autofree char *wrong = NULL;

  if (is_absent (&self->signal))
    {
      wrong = g_strdup (self->signal.message);
      settle_check (self, frame, wrong);
      return;
    }
  if (self->signal.kind != KHADIM_SIGNAL_OK)
    {
      _khadim_player_pop (self);
      return;
    }
  spec = khadim_script_expand (self->script, condition->spec, &error);
  if (spec == NULL)
    {
      _khadim_player_pop_error (self, error);
      return;
    }
  if (strcmp (_khadim_condition_get_tool (KHADIM_STEP_CHECK, spec), "screen.wait_for") != 0)
    wrong = _khadim_condition_judge (spec, self->signal.value);
  if (wrong != NULL || !read_other (self, frame))
    settle_check (self, frame, wrong);
}

static void
compare (KhadimPlayer *self,
         KhadimFrame  *frame)
{
  g_autofree char *wrong = NULL;

  if (is_absent (&self->signal))
    wrong = g_strdup (self->signal.message);
  else if (self->signal.kind != KHADIM_SIGNAL_OK)
    {
      _khadim_player_pop (self);
      return;
    }
  else if (strcmp (get_text (&self->signal), get_text (&frame->kept)) != 0)
    wrong = g_strdup ("the files differ");
  settle_check (self, frame, wrong);
}

void
_khadim_player_run_check (KhadimPlayer *self,
                          KhadimFrame  *frame)
{
  if (frame->step->condition.expression != NULL)
    check_expression (self, frame);
  else if (frame->state == LEAF_FRESH)
    call_check_tool (self, frame);
  else if (frame->state == LEAF_CALLED)
    judge (self, frame);
  else
    compare (self, frame);
}

/* call --------------------------------------------------------------------- */

static void
end_call (KhadimPlayer         *self,
          KhadimFrame          *frame,
          KhadimToolCallRecord *record)
{
  KhadimSession *session = self->session;

  record->ended_us = g_get_real_time ();
  if (self->signal.kind == KHADIM_SIGNAL_OK)
    {
      record->state = KHADIM_CALL_COMPLETED;
      record->result = _khadim_session_redact_json (session, self->signal.value);
    }
  else
    {
      record->state = KHADIM_CALL_FAILED;
      record->error_code = g_strdup (khadim_tool_error_to_code (self->signal.code));
      record->error_message = g_strdup (self->signal.message);
      record->error_scope = g_strdup (self->signal.scope);
    }
  _khadim_session_put_call (session, record);
  _khadim_session_step_complete (session, record, NULL);
  _khadim_session_commit (session, KHADIM_DURABILITY_PROCESS, NULL, NULL);
}

static void
on_child_done (KhadimSession *child,
               gpointer       user_data)
{
  KhadimPlayer *self = user_data;
  KhadimSignal *signal = &self->signal;
  KhadimToolError code = KHADIM_TOOL_ERROR_TOOL;

  _khadim_signal_clear (signal);
  switch (child->outcome)
    {
    case KHADIM_OUTCOME_COMPLETED:
      signal->value = child->output != NULL ? json_node_ref (child->output) : khadim_json_null ();
      break;

    case KHADIM_OUTCOME_PARKED:
      signal->kind = KHADIM_SIGNAL_PARKED;
      break;

    case KHADIM_OUTCOME_INTERRUPTED:
      signal->kind = KHADIM_SIGNAL_STOPPED;
      break;

    case KHADIM_OUTCOME_BUDGET:
      signal->kind = KHADIM_SIGNAL_BUDGET;
      break;

    case KHADIM_OUTCOME_FAILED:
    default:
      if (child->error_code != NULL)
        khadim_tool_error_from_code (child->error_code, &code);
      _khadim_signal_fail (signal, code, "%s", child->error_message);
      break;
    }
  g_clear_object (&self->child);
  _khadim_player_wake (self);
}

static KhadimSession *
open_child (KhadimPlayer         *self,
            KhadimFrame          *frame,
            JsonNode             *inputs,
            KhadimToolCallRecord *record,
            GError              **error)
{
  KhadimSession *session = self->session;
  g_autoptr(KhadimAutomation) automation = NULL;
  g_autoptr(JsonNode) complete = NULL;
  g_autofree char *folder = NULL;

  if (session->depth >= KHADIM_SESSION_MAX_CALL_DEPTH)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT,
                   "automations call each other more than %d deep", KHADIM_SESSION_MAX_CALL_DEPTH);
      return NULL;
    }
  folder = khadim_automation_resolve (frame->step->text, session->record->assets_dir, error);
  if (folder == NULL)
    return NULL;
  automation = khadim_automation_load (folder, khadim_engine_get_toolbox (session->engine), NULL,
                                       error);
  if (automation == NULL)
    return NULL;
  complete = khadim_automation_complete_inputs (automation, json_node_get_object (inputs), error);
  if (complete == NULL)
    return NULL;

  return _khadim_session_new_child (session, automation, complete, record->id);
}

/* The child of a call that was under way when the process died. */
static KhadimSession *
find_child (KhadimPlayer         *self,
            KhadimToolCallRecord *record,
            GError              **error)
{
  KhadimStore *store = khadim_engine_get_store (self->session->engine);
  g_autoptr(GPtrArray) children = NULL;

  children = khadim_store_list_children (store, self->session->record->id, error);
  for (guint i = 0; children != NULL && i < children->len; i++)
    {
      KhadimSessionRecord *child = children->pdata[i];

      if (g_strcmp0 (child->parent_call_id, record->id) == 0)
        return _khadim_session_open_child (self->session, child->id, error);
    }

  return NULL;
}

static void
begin_call (KhadimPlayer *self,
            KhadimFrame  *frame)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) template = NULL;
  g_autoptr(JsonNode) inputs = NULL;
  KhadimCallSpec spec = _khadim_player_spec (frame, frame->position, "automation.run", NULL);
  KhadimToolCallRecord *record = g_hash_table_lookup (self->session->calls, frame->position);

  template = frame->step->literal != NULL ? json_node_ref (frame->step->literal)
                                          : khadim_json_object (json_object_new ());
  inputs = khadim_script_expand (self->script, template, &error);
  if (inputs == NULL)
    {
      _khadim_player_pop_error (self, error);
      return;
    }
  spec.args = inputs;
  frame->state = LEAF_CALLED;
  if (record != NULL)
    self->child = find_child (self, record, &error);
  else
    {
      record = _khadim_session_new_call (self->session, &spec, KHADIM_CALL_EXECUTING);
      record->started_us = record->created_us;
      _khadim_session_step_start (self->session, record);
      _khadim_session_put_call (self->session, record);
      _khadim_session_commit (self->session, KHADIM_DURABILITY_PROCESS, NULL, NULL);
    }
  if (self->child == NULL && error == NULL)
    self->child = open_child (self, frame, inputs, record, &error);
  if (self->child == NULL)
    {
      _khadim_signal_fail (&self->signal, KHADIM_TOOL_ERROR_TOOL, "%s", error->message);
      return;
    }
  self->waiting = TRUE;
  _khadim_session_run_child (self->child, on_child_done, self);
}

void
_khadim_player_run_call (KhadimPlayer *self,
                         KhadimFrame  *frame)
{
  KhadimToolCallRecord *record = g_hash_table_lookup (self->session->calls, frame->position);
  gboolean over;

  if (frame->state == LEAF_FRESH)
    {
      if (_khadim_session_recall (self->session, frame->position, &self->signal))
        pop_saved (self, frame);
      else
        begin_call (self, frame);
      return;
    }
  over = self->signal.kind == KHADIM_SIGNAL_OK || self->signal.kind == KHADIM_SIGNAL_FAILED;
  if (over)
    end_call (self, frame, record);
  pop_saved (self, frame);
}
