/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-player"

#include "config.h"

#include "engine/session/khadim-player-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"

static const KhadimFrameFunc bodies[KHADIM_STEP_N_KINDS] = {
  [KHADIM_STEP_TOOL] = _khadim_player_run_tool,
  [KHADIM_STEP_IF] = _khadim_player_run_if,
  [KHADIM_STEP_FOR_EACH] = _khadim_player_run_for_each,
  [KHADIM_STEP_WHILE] = _khadim_player_run_while,
  [KHADIM_STEP_REPEAT] = _khadim_player_run_repeat,
  [KHADIM_STEP_TRY] = _khadim_player_run_try,
  [KHADIM_STEP_WAIT] = _khadim_player_run_wait,
  [KHADIM_STEP_CALL] = _khadim_player_run_call,
  [KHADIM_STEP_AGENT] = _khadim_player_run_agent,
  [KHADIM_STEP_SCRIPT] = _khadim_player_run_script,
  [KHADIM_STEP_ASK] = _khadim_player_run_ask,
  [KHADIM_STEP_CHECK] = _khadim_player_run_check,
  [KHADIM_STEP_FAIL] = _khadim_player_run_fail,
};

static void run_step (KhadimPlayer *self,
                      KhadimFrame  *frame);

static void
frame_free (gpointer data)
{
  KhadimFrame *frame = data;

  g_free (frame->position);
  g_free (frame->title);
  g_free (frame->deadline_scope);
  g_clear_pointer (&frame->items, json_array_unref);
  _khadim_signal_clear (&frame->kept);
  g_free (frame);
}

static KhadimFrame *
get_top (KhadimPlayer *self)
{
  return self->stack->len > 0 ? self->stack->pdata[self->stack->len - 1] : NULL;
}

/* A new frame on top, under the deadline of the one below. */
KhadimFrame *
_khadim_player_push (KhadimPlayer    *self,
                     KhadimFrameFunc  run,
                     KhadimStep      *step,
                     const char      *position)
{
  KhadimFrame *below = get_top (self);
  KhadimFrame *frame = g_new0 (KhadimFrame, 1);

  frame->run = run;
  frame->step = step;
  frame->position = g_strdup (position);
  if (below != NULL)
    {
      frame->deadline_us = below->deadline_us;
      frame->deadline_scope = g_strdup (below->deadline_scope);
    }
  g_ptr_array_add (self->stack, frame);
  _khadim_signal_clear (&self->signal);

  return frame;
}

/* Takes the top frame away; the player's signal is what became of it. */
void
_khadim_player_pop (KhadimPlayer *self)
{
  KhadimFrame *frame = get_top (self);

  if (frame->scoped)
    khadim_script_pop_scope (self->script);
  g_ptr_array_set_size (self->stack, (int) self->stack->len - 1);
}

void
_khadim_player_pop_ok (KhadimPlayer *self)
{
  _khadim_signal_clear (&self->signal);
  _khadim_player_pop (self);
}

void
_khadim_player_pop_fail (KhadimPlayer    *self,
                         KhadimToolError  code,
                         const char      *message)
{
  KhadimFrame *frame = get_top (self);

  _khadim_signal_fail (&self->signal, code, "%s", message);
  self->signal.step_id = g_strdup (frame->step != NULL ? frame->step->id : NULL);
  _khadim_player_pop (self);
}

/* For a fault of an expression or a template. */
void
_khadim_player_pop_error (KhadimPlayer *self,
                          const GError *error)
{
  gboolean limit = g_error_matches (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT);
  KhadimFrame *frame = get_top (self);
  g_autofree char *message = g_strdup_printf ("%s: %s", frame->step->place, error->message);

  _khadim_player_pop_fail (self, limit ? KHADIM_TOOL_ERROR_LIMIT : KHADIM_TOOL_ERROR_TOOL,
                           message);
}

KhadimCallSpec
_khadim_player_spec (KhadimFrame *frame,
                     const char  *position,
                     const char  *tool,
                     JsonNode    *args)
{
  return (KhadimCallSpec) {
    .position = position,
    .step_id = frame->step->id,
    .title = frame->title != NULL ? frame->title : _khadim_step_get_title (frame->step),
    .tool = tool,
    .args = args,
    .on_sealed = frame->step->on_sealed,
    .deadline_us = frame->deadline_us,
    .deadline_scope = frame->deadline_scope,
  };
}

/* Pops with the player's signal and leaves a record of it; @args (nullable). */
void
_khadim_player_pop_settled (KhadimPlayer *self,
                            KhadimFrame  *frame,
                            const char   *tool,
                            JsonNode     *args)
{
  KhadimCallSpec spec = _khadim_player_spec (frame, frame->position, tool, args);

  if (self->signal.step_id == NULL)
    self->signal.step_id = g_strdup (frame->step->id);
  _khadim_session_settle (self->session, &spec, &self->signal);
  _khadim_player_pop (self);
}

/* Going round -------------------------------------------------------------- */

static void
end (KhadimPlayer *self,
     JsonNode     *output)
{
  KhadimSignal signal = { 0 };

  _khadim_signal_take (&signal, &self->signal);
  _khadim_session_player_done (self->session, &signal, output);
  _khadim_signal_clear (&signal);
}

/* What the document's `outputs` say, or NULL with the signal set. */
static JsonNode *
evaluate_outputs (KhadimPlayer *self)
{
  JsonObject *document = khadim_automation_get_document (self->session->automation);
  JsonObject *outputs = khadim_json_get_object (document, "outputs");
  g_autoptr(JsonObject) result = json_object_new ();
  JsonObjectIter iter;
  const char *name;
  JsonNode *expression;

  if (outputs == NULL)
    return khadim_json_null ();

  json_object_iter_init_ordered (&iter, outputs);
  while (json_object_iter_next_ordered (&iter, &name, &expression))
    {
      g_autoptr(GError) error = NULL;
      JsonNode *value = khadim_script_evaluate (self->script, json_node_get_string (expression),
                                                &error);

      if (value == NULL)
        {
          _khadim_signal_fail (&self->signal, KHADIM_TOOL_ERROR_TOOL, "outputs.%s: %s", name,
                               error->message);
          return NULL;
        }
      json_object_set_member (result, name, value);
    }

  return khadim_json_object (g_steal_pointer (&result));
}

/* How long frames are run without a look at what others want. */
#define ROUND_US 20000

/* Runs frames until one has to wait or none is left. Steps that never wait, as
 * in a loop of scripts, let a stop or a pause in between. A call that ends at once
 * wakes a player that is going round already: it only takes the mark away. */
static void
go_round (KhadimPlayer *self)
{
  g_autoptr(KhadimSession) alive G_GNUC_UNUSED = g_object_ref (self->session);
  g_autoptr(JsonNode) output = NULL;
  gint64 end_us;

  if (self->looping)
    return;

  self->looping = TRUE;
  end_us = g_get_monotonic_time () + ROUND_US;
  while (self->stack->len > 0 && !self->waiting)
    {
      KhadimFrame *top = get_top (self);

      top->run (self, top);
      if (!self->waiting && self->stack->len > 0 && g_get_monotonic_time () > end_us)
        _khadim_player_wait (self, 0);
    }
  self->looping = FALSE;
  if (self->waiting)
    return;

  if (self->signal.kind == KHADIM_SIGNAL_OK)
    output = evaluate_outputs (self);
  end (self, output);
}

/* The thing that the top frame waited for is there. */
void
_khadim_player_wake (KhadimPlayer *self)
{
  self->waiting = FALSE;
  go_round (self);
}

static gboolean
on_delay_cb (gpointer user_data)
{
  KhadimPlayer *self = user_data;

  g_clear_pointer (&self->timer, g_source_unref);
  _khadim_player_wake (self);

  return G_SOURCE_REMOVE;
}

/* The top frame is run again after @ms milliseconds. A stop wakes it sooner. */
void
_khadim_player_wait (KhadimPlayer *self,
                     gint64        ms)
{
  self->waiting = TRUE;
  self->timer = g_timeout_source_new ((guint) CLAMP (ms, 0, G_MAXINT));
  g_source_set_callback (self->timer, on_delay_cb, self, NULL);
  g_source_attach (self->timer, _khadim_engine_get_context (self->session->engine));
}

/* Lists -------------------------------------------------------------------- */

/* Whether the time of the frame's step, or of one around it, has run out; the
 * player's signal says so then. It is written down, so that after a crash the
 * run comes out of the same place. */
gboolean
_khadim_player_time_is_up (KhadimPlayer *self,
                           KhadimFrame  *frame,
                           const char   *position,
                           const char   *step_id)
{
  g_autofree char *mark = g_strconcat (position, "!timeout", NULL);
  KhadimCallSpec spec = {
    .position = mark, .step_id = step_id, .title = "timeout", .tool = "timeout",
  };

  if (_khadim_session_recall (self->session, mark, &self->signal))
    return TRUE;
  if (frame->deadline_us == 0 || g_get_monotonic_time () < frame->deadline_us)
    return FALSE;

  _khadim_signal_fail (&self->signal, KHADIM_TOOL_ERROR_TIMEOUT, "the time of “%s” ran out",
                       frame->deadline_scope);
  self->signal.scope = g_strdup (frame->deadline_scope);
  self->signal.step_id = g_strdup (step_id);
  _khadim_session_settle (self->session, &spec, &self->signal);

  return TRUE;
}

static gboolean
is_stopped (KhadimPlayer *self)
{
  return self->session->fatal != NULL ||
         g_cancellable_is_cancelled (self->session->cancellable);
}

/* Whether the time of the budget is used up; calls look for themselves. */
static gboolean
is_out_of_time (KhadimPlayer *self)
{
  gint64 deadline_us = self->session->budget_deadline_us;

  return deadline_us > 0 && g_get_monotonic_time () > deadline_us;
}

static void
run_list (KhadimPlayer *self,
          KhadimFrame  *frame)
{
  g_autofree char *position = NULL;
  KhadimStep *step;

  if (self->signal.kind == KHADIM_SIGNAL_OK && is_stopped (self))
    self->signal.kind = KHADIM_SIGNAL_STOPPED;
  else if (self->signal.kind == KHADIM_SIGNAL_OK && is_out_of_time (self))
    self->signal.kind = KHADIM_SIGNAL_BUDGET;
  if (self->signal.kind != KHADIM_SIGNAL_OK || frame->index >= frame->steps->len)
    {
      _khadim_player_pop (self);
      return;
    }
  if (self->session->paused)
    {
      self->waiting = TRUE;
      return;
    }

  step = frame->steps->pdata[frame->index];
  position = *frame->position != '\0' ? g_strconcat (frame->position, ".", step->id, NULL)
                                      : g_strdup (step->id);
  if (_khadim_player_time_is_up (self, frame, position, step->id))
    {
      _khadim_player_pop (self);
      return;
    }
  frame->index++;
  _khadim_player_push (self, run_step, step, position);
}

void
_khadim_player_push_list (KhadimPlayer *self,
                          GPtrArray    *steps,
                          const char   *position)
{
  KhadimFrame *frame = _khadim_player_push (self, run_list, NULL, position);

  frame->steps = steps;
}

/* Steps: enabled, timeout, retry, on_error --------------------------------- */

enum {
  STEP_FRESH,
  STEP_BODY,
  STEP_DELAY,
  STEP_ASKED,
};

static char *
attempt_position (KhadimFrame *frame)
{
  if (frame->index == 0)
    return g_strdup (frame->position);

  return g_strdup_printf ("%s#%u", frame->position, frame->index + 1);
}

static void
begin_attempt (KhadimPlayer *self,
               KhadimFrame  *frame)
{
  g_autofree char *position = attempt_position (frame);
  KhadimStep *step = frame->step;
  KhadimFrame *body;
  gint64 deadline_us = g_get_monotonic_time () + step->timeout_ms * 1000;

  frame->state = STEP_BODY;
  body = _khadim_player_push (self, bodies[step->kind], step, position);
  /* A title that cannot be filled in is shown as it is written. */
  if (step->title != NULL && strstr (step->title, "{{") != NULL)
    body->title = khadim_script_expand_string (self->script, step->title, NULL);
  if (step->timeout_ms > 0 && (body->deadline_us == 0 || deadline_us < body->deadline_us))
    {
      body->deadline_us = deadline_us;
      g_free (body->deadline_scope);
      body->deadline_scope = g_steal_pointer (&position);
    }
}

static gboolean
is_enabled (KhadimPlayer  *self,
            KhadimStep    *step,
            gboolean      *out_enabled,
            GError       **error)
{
  *out_enabled = step->enabled;
  if (step->enabled_expression == NULL)
    return TRUE;

  return khadim_script_test (self->script, step->enabled_expression, out_enabled, error);
}

/* A failure that trying again, or a person's word, can help. */
static gboolean
is_own_failure (KhadimPlayer *self,
                KhadimFrame  *frame)
{
  g_autofree char *position = attempt_position (frame);

  if (self->signal.kind != KHADIM_SIGNAL_FAILED)
    return FALSE;
  if (self->signal.scope != NULL && strcmp (self->signal.scope, position) == 0)
    g_clear_pointer (&self->signal.scope, g_free);

  return self->signal.scope == NULL;
}

static gboolean
may_retry (KhadimPlayer *self,
           KhadimFrame  *frame)
{
  KhadimToolError code = self->signal.code;

  return frame->index < frame->step->retry_times && code != KHADIM_TOOL_ERROR_BUSINESS &&
         code != KHADIM_TOOL_ERROR_DENIED && code != KHADIM_TOOL_ERROR_SECRET_MISSING;
}

static void
retry (KhadimPlayer *self,
       KhadimFrame  *frame)
{
  KhadimStep *step = frame->step;
  double delay_ms = (double) step->retry_delay_ms;
  g_autofree char *next = NULL;
  JsonObject *metadata;

  for (guint i = 0; i < frame->index; i++)
    delay_ms *= step->retry_growth;
  delay_ms = MIN (delay_ms, 24 * 60 * 60 * 1000.0);
  frame->index++;
  next = attempt_position (frame);
  if (_khadim_session_has_position (self->session, next))
    {
      begin_attempt (self, frame);
      return;
    }

  metadata = json_object_new ();
  json_object_set_string_member (metadata, "step", step->id);
  json_object_set_int_member (metadata, "attempt", frame->index + 1);
  json_object_set_int_member (metadata, "delay_ms", (gint64) delay_ms);
  json_object_set_string_member (metadata, "code", khadim_tool_error_to_code (self->signal.code));
  _khadim_session_emit (self->session, KHADIM_CHANNEL_MONITOR, "retry", self->signal.message,
                        khadim_json_object (metadata));
  frame->state = STEP_DELAY;
  _khadim_player_wait (self, (gint64) delay_ms);
}

static void
ask_about_failure (KhadimPlayer *self,
                   KhadimFrame  *frame)
{
  g_autofree char *attempt = attempt_position (frame);
  g_autofree char *position = g_strconcat (attempt, "!on_error", NULL);
  g_autofree char *text = NULL;
  g_autoptr(JsonNode) options = khadim_json_array (json_array_new ());
  JsonArray *names = json_node_get_array (options);
  KhadimCallSpec spec = _khadim_player_spec (frame, position, "ask", NULL);
  KhadimQuestion question = { .kind = "choice", .options = options };

  json_array_add_string_element (names, "retry");
  json_array_add_string_element (names, "continue");
  json_array_add_string_element (names, "fail");
  text = g_strdup_printf ("“%s” failed: %s. Try again, go on without it, or fail?", spec.title,
                          self->signal.message);
  question.question = text;
  frame->state = STEP_ASKED;
  _khadim_signal_take (&frame->kept, &self->signal);
  self->waiting = TRUE;
  _khadim_session_question (self->session, &spec, &question, _khadim_player_on_call, self);
}

static void
on_answer (KhadimPlayer *self,
           KhadimFrame  *frame)
{
  const char *answer;

  if (self->signal.kind == KHADIM_SIGNAL_PARKED)
    {
      _khadim_player_pop (self);
      return;
    }
  answer = self->signal.kind == KHADIM_SIGNAL_OK ? json_node_get_string (self->signal.value)
                                                 : "fail";
  if (strcmp (answer, "retry") == 0)
    {
      frame->index++;
      begin_attempt (self, frame);
    }
  else if (strcmp (answer, "continue") == 0)
    _khadim_player_pop_ok (self);
  else
    {
      _khadim_signal_take (&self->signal, &frame->kept);
      _khadim_player_pop (self);
    }
}

static void
on_body_end (KhadimPlayer *self,
             KhadimFrame  *frame)
{
  if (!is_own_failure (self, frame))
    _khadim_player_pop (self);
  else if (may_retry (self, frame))
    retry (self, frame);
  else if (frame->step->on_error == KHADIM_ON_ERROR_CONTINUE)
    _khadim_player_pop_ok (self);
  else if (frame->step->on_error == KHADIM_ON_ERROR_ASK)
    ask_about_failure (self, frame);
  else
    _khadim_player_pop (self);
}

static void
begin_step (KhadimPlayer *self,
            KhadimFrame  *frame)
{
  g_autoptr(GError) error = NULL;
  gboolean enabled;

  if (!is_enabled (self, frame->step, &enabled, &error))
    _khadim_player_pop_error (self, error);
  else if (enabled)
    begin_attempt (self, frame);
  else
    _khadim_player_pop_ok (self);
}

static void
run_step (KhadimPlayer *self,
          KhadimFrame  *frame)
{
  switch (frame->state)
    {
    case STEP_FRESH:
      begin_step (self, frame);
      break;

    case STEP_BODY:
      on_body_end (self, frame);
      break;

    case STEP_DELAY:
      if (is_stopped (self))
        {
          _khadim_signal_clear (&self->signal);
          self->signal.kind = KHADIM_SIGNAL_STOPPED;
          _khadim_player_pop (self);
        }
      else
        begin_attempt (self, frame);
      break;

    case STEP_ASKED:
      on_answer (self, frame);
      break;

    default:
      g_assert_not_reached ();
    }
}

/* A call has ended, at once or later. */
void
_khadim_player_on_call (KhadimSession *session,
                        KhadimSignal  *signal,
                        gpointer       user_data)
{
  KhadimPlayer *self = user_data;

  _khadim_signal_take (&self->signal, signal);
  _khadim_player_wake (self);
}

/* Makes a call for the top frame, which is run again when it has ended.
 * @suffix tells calls of one step apart. */
void
_khadim_player_call (KhadimPlayer *self,
                     KhadimFrame  *frame,
                     const char   *tool,
                     JsonNode     *args,
                     const char   *suffix)
{
  g_autofree char *position = g_strconcat (frame->position, suffix, NULL);
  KhadimCallSpec spec = _khadim_player_spec (frame, position, tool, args);

  self->waiting = TRUE;
  _khadim_session_call (self->session, &spec, _khadim_player_on_call, self);
}

/* -------------------------------------------------------------------------- */

/* The same for every run of a session, so that a resume draws the same
 * numbers: FNV-1a of its id. */
static guint64
make_seed (const char *session_id)
{
  guint64 hash = G_GUINT64_CONSTANT (14695981039346656037);

  for (const char *p = session_id; *p != '\0'; p++)
    hash = (hash ^ (guchar) *p) * G_GUINT64_CONSTANT (1099511628211);

  return hash;
}

KhadimPlayer *
_khadim_player_new (KhadimSession *session)
{
  KhadimPlayer *self = g_new0 (KhadimPlayer, 1);

  self->session = session;
  self->script = khadim_script_new (make_seed (session->record->id));
  self->stack = g_ptr_array_new_with_free_func (frame_free);

  return self;
}

void
_khadim_player_free (KhadimPlayer *self)
{
  if (self->timer != NULL)
    {
      g_source_destroy (self->timer);
      g_source_unref (self->timer);
    }
  _khadim_signal_clear (&self->signal);
  g_clear_object (&self->child);
  g_ptr_array_unref (self->stack);
  g_object_unref (self->script);
  g_free (self);
}

/* Starts at the top, or at the step that the run is to begin with. */
void
_khadim_player_run (KhadimPlayer *self)
{
  GPtrArray *steps = _khadim_automation_get_steps (self->session->automation);
  JsonObject *options = json_node_get_object (self->session->record->options);
  const char *from = khadim_json_get_string (options, "from", NULL);
  g_autoptr(GError) error = NULL;
  KhadimFrame *frame;

  if (!khadim_script_set (self->script, "inputs", self->session->record->inputs, &error))
    {
      _khadim_signal_fail (&self->signal, KHADIM_TOOL_ERROR_LIMIT, "inputs: %s", error->message);
      end (self, NULL);
      return;
    }
  frame = _khadim_player_push (self, run_list, NULL, "");
  frame->steps = steps;
  while (from != NULL && frame->index < steps->len &&
         strcmp (((KhadimStep *) steps->pdata[frame->index])->id, from) != 0)
    frame->index++;
  go_round (self);
}
