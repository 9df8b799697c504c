/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-player"

#include "config.h"

#include "engine/session/khadim-player-private.h"

#include <string.h>

#include "engine/automation/khadim-condition-private.h"
#include "engine/json/khadim-json.h"

/* Conditions --------------------------------------------------------------- */

typedef enum {
  ANSWER_NO,
  ANSWER_YES,
  ANSWER_LATER, /* a call was made: run again when it has ended */
  ANSWER_GONE,  /* the frame has popped itself */
} Answer;

/* Begins to look at the step's condition. @suffix tells turns apart. */
static Answer
begin_condition (KhadimPlayer *self,
                 KhadimFrame  *frame,
                 const char   *suffix)
{
  KhadimCondition *condition = &frame->step->condition;
  g_autoptr(JsonNode) template = NULL;
  g_autoptr(JsonNode) args = NULL;
  g_autoptr(GError) error = NULL;
  gboolean holds = FALSE;

  if (condition->expression != NULL)
    {
      if (khadim_script_test (self->script, condition->expression, &holds, &error))
        return holds ? ANSWER_YES : ANSWER_NO;
      _khadim_player_pop_error (self, error);
      return ANSWER_GONE;
    }

  template = _khadim_condition_to_args (frame->step->kind, condition->spec, condition->in);
  args = khadim_script_expand (self->script, template, &error);
  if (args == NULL)
    {
      _khadim_player_pop_error (self, error);
      return ANSWER_GONE;
    }
  _khadim_player_call (self, frame,
                       _khadim_condition_get_tool (frame->step->kind, condition->spec), args,
                       suffix);

  return ANSWER_LATER;
}

/* What the call's end says: what is not there in time is a no. */
static Answer
end_condition (KhadimPlayer *self)
{
  gboolean absent = self->signal.kind == KHADIM_SIGNAL_FAILED && self->signal.scope == NULL &&
                    (self->signal.code == KHADIM_TOOL_ERROR_NOT_FOUND ||
                     self->signal.code == KHADIM_TOOL_ERROR_TIMEOUT);

  if (self->signal.kind == KHADIM_SIGNAL_OK)
    return ANSWER_YES;
  if (absent)
    return ANSWER_NO;
  _khadim_player_pop (self);

  return ANSWER_GONE;
}

/* if ----------------------------------------------------------------------- */

enum {
  IF_FRESH,
  IF_LOOKED,
  IF_CHOSEN,
};

static void
choose (KhadimPlayer *self,
        KhadimFrame  *frame,
        Answer        answer)
{
  if (answer == ANSWER_GONE)
    return;
  if (answer == ANSWER_LATER)
    {
      frame->state = IF_LOOKED;
      return;
    }
  frame->state = IF_CHOSEN;
  _khadim_player_push_list (self, answer == ANSWER_YES ? frame->step->steps
                                                       : frame->step->otherwise,
                            frame->position);
}

void
_khadim_player_run_if (KhadimPlayer *self,
                       KhadimFrame  *frame)
{
  if (frame->state == IF_FRESH)
    {
      /* The call may end at once, and the frame is then run again in here. */
      frame->state = IF_LOOKED;
      choose (self, frame, begin_condition (self, frame, "!if"));
    }
  else if (frame->state == IF_LOOKED)
    choose (self, frame, end_condition (self));
  else
    _khadim_player_pop (self);
}

/* Loops -------------------------------------------------------------------- */

enum {
  LOOP_FRESH,
  LOOP_TURN,    /* to begin a turn */
  LOOP_LOOKED,  /* the condition's call has ended */
  LOOP_BODY,    /* a turn has ended */
  LOOP_ASKED,   /* about an item that failed */
  LOOP_DELAY,
};

static char *
turn_position (KhadimFrame *frame)
{
  return g_strdup_printf ("%s[%u]", frame->position, frame->index);
}

/* Whether another turn may begin; else the frame has popped itself. */
static gboolean
may_turn (KhadimPlayer *self,
          KhadimFrame  *frame)
{
  g_autofree char *position = turn_position (frame);
  g_autofree char *message = NULL;

  if (_khadim_player_time_is_up (self, frame, position, frame->step->id))
    {
      _khadim_player_pop (self);
      return FALSE;
    }
  if (frame->index < frame->step->max)
    return TRUE;

  message = g_strdup_printf ("%s: the loop turned %u times, its “max”", frame->step->place,
                             frame->step->max);
  _khadim_player_pop_fail (self, KHADIM_TOOL_ERROR_LIMIT, message);

  return FALSE;
}

static void
begin_turn (KhadimPlayer *self,
            KhadimFrame  *frame)
{
  g_autofree char *position = turn_position (frame);

  frame->state = LOOP_BODY;
  _khadim_player_push_list (self, frame->step->steps, position);
}

static void
close_scope (KhadimPlayer *self,
             KhadimFrame  *frame)
{
  if (frame->scoped)
    khadim_script_pop_scope (self->script);
  frame->scoped = FALSE;
}

/* Opens a scope with the loop's variable in it; FALSE when the frame popped. */
static gboolean
open_scope (KhadimPlayer *self,
            KhadimFrame  *frame,
            JsonNode     *value)
{
  g_autoptr(GError) error = NULL;

  khadim_script_push_scope (self->script);
  frame->scoped = TRUE;
  if (frame->step->as == NULL ||
      khadim_script_set_local (self->script, frame->step->as, value, &error))
    return TRUE;
  _khadim_player_pop_error (self, error);

  return FALSE;
}

static gboolean
read_items (KhadimPlayer *self,
            KhadimFrame  *frame)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) list = NULL;
  KhadimStep *step = frame->step;
  g_autofree char *message = NULL;

  if (step->text != NULL)
    list = khadim_script_evaluate (self->script, step->text, &error);
  else
    list = khadim_script_expand (self->script, step->literal, &error);
  if (list == NULL)
    {
      _khadim_player_pop_error (self, error);
      return FALSE;
    }
  if (!JSON_NODE_HOLDS_ARRAY (list))
    {
      message = g_strdup_printf ("%s.for_each: “%s” is not a list", step->place, step->text);
      _khadim_player_pop_fail (self, KHADIM_TOOL_ERROR_TOOL, message);
      return FALSE;
    }
  frame->items = json_array_ref (json_node_get_array (list));

  return TRUE;
}

/* What reports call the item: the `key` expression, or its number. */
static char *
name_item (KhadimPlayer *self,
           KhadimFrame  *frame)
{
  g_autoptr(JsonNode) key = NULL;

  if (frame->step->key != NULL)
    key = khadim_script_evaluate (self->script, frame->step->key, NULL);
  if (key != NULL && json_node_get_value_type (key) == G_TYPE_STRING)
    return json_node_dup_string (key);
  if (key != NULL)
    return khadim_json_to_string (key);

  return g_strdup_printf ("%u", frame->index + 1);
}

/* Says which item a turn works with, unless a run before a crash has said it. */
static void
report_item (KhadimPlayer *self,
             KhadimFrame  *frame)
{
  g_autofree char *position = turn_position (frame);
  g_autofree char *name = NULL;
  JsonObject *metadata;

  if (frame->step->key == NULL || _khadim_session_has_position (self->session, position))
    return;

  name = name_item (self, frame);
  metadata = json_object_new ();
  json_object_set_string_member (metadata, "step", frame->step->id);
  json_object_set_string_member (metadata, "position", position);
  _khadim_session_emit (self->session, KHADIM_CHANNEL_MONITOR, "item_started", name,
                        khadim_json_object (metadata));
}

static void
report_skipped (KhadimPlayer *self,
                KhadimFrame  *frame)
{
  g_autofree char *name = name_item (self, frame);
  g_autofree char *text = g_strdup_printf ("The item “%s” was skipped: %s", name,
                                           self->signal.message);
  g_autofree char *position = turn_position (frame);
  JsonObject *metadata;

  if (_khadim_session_has_position (self->session, position) && self->signal.replayed)
    return;

  metadata = json_object_new ();
  json_object_set_string_member (metadata, "step", frame->step->id);
  json_object_set_string_member (metadata, "item", name);
  json_object_set_string_member (metadata, "code", khadim_tool_error_to_code (self->signal.code));
  _khadim_session_emit (self->session, KHADIM_CHANNEL_MONITOR, "system_message", text,
                        khadim_json_object (metadata));
}

static void
ask_about_item (KhadimPlayer *self,
                KhadimFrame  *frame)
{
  g_autofree char *turn = turn_position (frame);
  g_autofree char *position = g_strconcat (turn, "!on_item_error", NULL);
  g_autofree char *name = name_item (self, frame);
  g_autofree char *text = NULL;
  g_autoptr(JsonNode) options = khadim_json_array (json_array_new ());
  KhadimCallSpec spec = _khadim_player_spec (frame, position, "ask", NULL);
  KhadimQuestion question = { .kind = "choice", .options = options };

  json_array_add_string_element (json_node_get_array (options), "skip");
  json_array_add_string_element (json_node_get_array (options), "stop");
  text = g_strdup_printf ("The item “%s” failed: %s. Skip it, or stop?", name,
                          self->signal.message);
  question.question = text;
  frame->state = LOOP_ASKED;
  _khadim_signal_take (&frame->kept, &self->signal);
  self->waiting = TRUE;
  _khadim_session_question (self->session, &spec, &question, _khadim_player_on_call, self);
}

static void
next_item (KhadimPlayer *self,
           KhadimFrame  *frame)
{
  close_scope (self, frame);
  _khadim_signal_clear (&self->signal);
  frame->index++;
  frame->state = LOOP_TURN;
}

static void
end_item (KhadimPlayer *self,
          KhadimFrame  *frame)
{
  gboolean own = self->signal.kind == KHADIM_SIGNAL_FAILED && self->signal.scope == NULL;

  if (self->signal.kind == KHADIM_SIGNAL_OK)
    next_item (self, frame);
  else if (own && frame->step->on_item_error == KHADIM_ON_ITEM_ERROR_SKIP)
    {
      report_skipped (self, frame);
      next_item (self, frame);
    }
  else if (own && frame->step->on_item_error == KHADIM_ON_ITEM_ERROR_ASK)
    ask_about_item (self, frame);
  else
    _khadim_player_pop (self);
}

static void
end_item_question (KhadimPlayer *self,
                   KhadimFrame  *frame)
{
  gboolean skip = self->signal.kind == KHADIM_SIGNAL_OK &&
                  strcmp (json_node_get_string (self->signal.value), "skip") == 0;

  if (skip)
    {
      next_item (self, frame);
      return;
    }
  if (self->signal.kind != KHADIM_SIGNAL_PARKED)
    _khadim_signal_take (&self->signal, &frame->kept);
  _khadim_player_pop (self);
}

void
_khadim_player_run_for_each (KhadimPlayer *self,
                             KhadimFrame  *frame)
{
  switch (frame->state)
    {
    case LOOP_FRESH:
      if (read_items (self, frame))
        frame->state = LOOP_TURN;
      break;

    case LOOP_TURN:
      if (frame->index >= json_array_get_length (frame->items))
        _khadim_player_pop_ok (self);
      else if (may_turn (self, frame) &&
               open_scope (self, frame, json_array_get_element (frame->items, frame->index)))
        {
          report_item (self, frame);
          begin_turn (self, frame);
        }
      break;

    case LOOP_BODY:
      end_item (self, frame);
      break;

    case LOOP_ASKED:
      end_item_question (self, frame);
      break;

    default:
      g_assert_not_reached ();
    }
}

static gboolean
read_turns (KhadimPlayer *self,
            KhadimFrame  *frame)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) number = NULL;
  KhadimStep *step = frame->step;
  gint64 n = 0;

  number = step->text != NULL ? khadim_script_evaluate (self->script, step->text, &error)
                              : json_node_ref (step->literal);
  if (number == NULL)
    {
      _khadim_player_pop_error (self, error);
      return FALSE;
    }
  if (JSON_NODE_HOLDS_VALUE (number) && (json_node_get_value_type (number) == G_TYPE_INT64 ||
                                         json_node_get_value_type (number) == G_TYPE_DOUBLE))
    n = json_node_get_int (number);
  else
    n = -1;
  if (n < 0)
    {
      g_autofree char *message = g_strdup_printf ("%s.repeat: “%s” is not a number of turns",
                                                  step->place, step->text);

      _khadim_player_pop_fail (self, KHADIM_TOOL_ERROR_TOOL, message);
      return FALSE;
    }
  frame->n_turns = (guint) MIN (n, G_MAXUINT32);

  return TRUE;
}

/* A turn of `repeat` or `while` has ended: on to the next, or out. */
static void
end_turn (KhadimPlayer *self,
          KhadimFrame  *frame)
{
  if (self->signal.kind == KHADIM_SIGNAL_OK)
    next_item (self, frame);
  else
    _khadim_player_pop (self);
}

void
_khadim_player_run_repeat (KhadimPlayer *self,
                           KhadimFrame  *frame)
{
  g_autoptr(JsonNode) number = NULL;

  switch (frame->state)
    {
    case LOOP_FRESH:
      if (read_turns (self, frame))
        frame->state = LOOP_TURN;
      break;

    case LOOP_TURN:
      number = khadim_json_int (frame->index + 1);
      if (frame->index >= frame->n_turns)
        _khadim_player_pop_ok (self);
      else if (may_turn (self, frame) && open_scope (self, frame, number))
        begin_turn (self, frame);
      break;

    case LOOP_BODY:
      end_turn (self, frame);
      break;

    default:
      g_assert_not_reached ();
    }
}

static void
turn_while (KhadimPlayer *self,
            KhadimFrame  *frame,
            Answer        answer)
{
  if (answer == ANSWER_YES)
    begin_turn (self, frame);
  else if (answer == ANSWER_NO)
    _khadim_player_pop_ok (self);
}

void
_khadim_player_run_while (KhadimPlayer *self,
                          KhadimFrame  *frame)
{
  g_autofree char *suffix = NULL;

  switch (frame->state)
    {
    case LOOP_FRESH:
    case LOOP_TURN:
      if (!may_turn (self, frame))
        break;
      suffix = g_strdup_printf ("[%u]!while", frame->index);
      frame->state = LOOP_LOOKED;
      turn_while (self, frame, begin_condition (self, frame, suffix));
      break;

    case LOOP_LOOKED:
      turn_while (self, frame, end_condition (self));
      break;

    case LOOP_BODY:
      end_turn (self, frame);
      break;

    default:
      g_assert_not_reached ();
    }
}

/* wait_for ----------------------------------------------------------------- */

/* Waits between two looks, unless a run before a crash has done so. */
static void
pause_wait (KhadimPlayer *self,
            KhadimFrame  *frame)
{
  g_autofree char *next = NULL;

  frame->index++;
  next = turn_position (frame);
  frame->state = LOOP_DELAY;
  if (!_khadim_session_has_position (self->session, next))
    _khadim_player_wait (self, frame->step->every_ms);
}

static void
end_look (KhadimPlayer *self,
          KhadimFrame  *frame)
{
  Answer answer;

  if (self->signal.kind != KHADIM_SIGNAL_OK)
    {
      _khadim_player_pop (self);
      return;
    }
  answer = begin_condition (self, frame, "");
  if (answer == ANSWER_YES)
    _khadim_player_pop_ok (self);
  else if (answer == ANSWER_NO)
    pause_wait (self, frame);
}

static void
end_wait_call (KhadimPlayer *self,
               KhadimFrame  *frame)
{
  g_autoptr(GError) error = NULL;

  if (self->signal.kind == KHADIM_SIGNAL_OK && frame->step->save != NULL &&
      !khadim_script_set (self->script, frame->step->save, self->signal.value, &error))
    _khadim_player_pop_error (self, error);
  else
    _khadim_player_pop (self);
}

/* With an expression: its steps look, it judges, again and again. With a
 * target or a file: one call that waits by itself. */
void
_khadim_player_run_wait (KhadimPlayer *self,
                         KhadimFrame  *frame)
{
  switch (frame->state)
    {
    case LOOP_FRESH:
      if (frame->step->condition.expression != NULL)
        frame->state = LOOP_TURN;
      else
        {
          frame->state = LOOP_LOOKED;
          begin_condition (self, frame, "");
        }
      break;

    case LOOP_DELAY:
    case LOOP_TURN:
      if (may_turn (self, frame))
        begin_turn (self, frame);
      break;

    case LOOP_LOOKED:
      end_wait_call (self, frame);
      break;

    case LOOP_BODY:
      end_look (self, frame);
      break;

    default:
      g_assert_not_reached ();
    }
}

/* try ---------------------------------------------------------------------- */

enum {
  TRY_FRESH,
  TRY_TRIED,
  TRY_CAUGHT,
  TRY_FINALLY,
};

static KhadimCatch *
find_catch (KhadimStep   *step,
            KhadimSignal *signal)
{
  const char *code = khadim_tool_error_to_code (signal->code);
  KhadimCatch *other = NULL;

  if (signal->kind != KHADIM_SIGNAL_FAILED || signal->scope != NULL)
    return NULL;

  for (guint i = 0; i < step->catches->len; i++)
    {
      KhadimCatch *candidate = step->catches->pdata[i];

      if (candidate->code == NULL)
        other = candidate;
      else if (strcmp (candidate->code, code) == 0)
        return candidate;
    }

  return other;
}

/* The variable `error` of a `catch`. */
static JsonNode *
describe_error (KhadimSignal *signal)
{
  JsonObject *error = json_object_new ();
  JsonObject *detail = signal->detail != NULL && JSON_NODE_HOLDS_OBJECT (signal->detail)
                         ? json_node_get_object (signal->detail)
                         : NULL;

  json_object_set_string_member (error, "code", khadim_tool_error_to_code (signal->code));
  json_object_set_string_member (error, "message", signal->message);
  json_object_set_string_member (error, "step", signal->step_id != NULL ? signal->step_id : "");
  if (detail != NULL && json_object_has_member (detail, "picture"))
    json_object_set_member (error, "picture",
                            json_node_copy (json_object_get_member (detail, "picture")));

  return khadim_json_object (error);
}

/* `finally` runs after an end, not when the run only rests or is stopped. */
static void
begin_finally (KhadimPlayer *self,
               KhadimFrame  *frame)
{
  gboolean over = self->signal.kind == KHADIM_SIGNAL_OK ||
                  self->signal.kind == KHADIM_SIGNAL_FAILED;

  close_scope (self, frame);
  if (!over)
    {
      _khadim_player_pop (self);
      return;
    }
  _khadim_signal_take (&frame->kept, &self->signal);
  frame->state = TRY_FINALLY;
  /* It has its own time: what put things in order must not be cut short by
   * the deadline that brought it here. */
  frame->deadline_us = 0;
  _khadim_player_push_list (self, frame->step->finally, frame->position);
}

static void
end_tried (KhadimPlayer *self,
           KhadimFrame  *frame)
{
  KhadimCatch *catch = find_catch (frame->step, &self->signal);
  g_autoptr(JsonNode) error_value = NULL;
  g_autoptr(GError) error = NULL;

  if (catch == NULL)
    {
      begin_finally (self, frame);
      return;
    }
  error_value = describe_error (&self->signal);
  khadim_script_push_scope (self->script);
  frame->scoped = TRUE;
  frame->state = TRY_CAUGHT;
  if (khadim_script_set_local (self->script, "error", error_value, &error))
    _khadim_player_push_list (self, catch->steps, frame->position);
  else
    _khadim_player_pop_error (self, error);
}

void
_khadim_player_run_try (KhadimPlayer *self,
                        KhadimFrame  *frame)
{
  switch (frame->state)
    {
    case TRY_FRESH:
      frame->state = TRY_TRIED;
      _khadim_player_push_list (self, frame->step->steps, frame->position);
      break;

    case TRY_TRIED:
      end_tried (self, frame);
      break;

    case TRY_CAUGHT:
      begin_finally (self, frame);
      break;

    case TRY_FINALLY:
      if (self->signal.kind == KHADIM_SIGNAL_OK)
        _khadim_signal_take (&self->signal, &frame->kept);
      _khadim_player_pop (self);
      break;

    default:
      g_assert_not_reached ();
    }
}
