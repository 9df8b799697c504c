/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-session"

#include "config.h"

#include "engine/session/khadim-session-private.h"

#include <string.h>

#include "engine/base/khadim-duration.h"
#include "engine/base/khadim-time.h"
#include "engine/base/khadim-uuid.h"
#include "engine/json/khadim-json.h"
#include "engine/session/khadim-player-private.h"
#include "engine/session/khadim-subscriber-private.h"

/* KhadimSession: one execution of an automation. Once it runs, everything
 * but its subscribers belongs to the engine thread; what it ended with may be
 * read when khadim_session_run_async() has come back. */

G_DEFINE_FINAL_TYPE (KhadimSession, khadim_session, G_TYPE_OBJECT)

typedef struct
{
  KhadimChildDone done;
  gpointer user_data;
} Child;

static void
khadim_session_dispose (GObject *object)
{
  KhadimSession *self = KHADIM_SESSION (object);

  g_clear_pointer (&self->player, _khadim_player_free);
  if (self->watch != 0)
    khadim_store_unwatch (khadim_engine_get_store (self->engine), self->watch);
  self->watch = 0;
  g_clear_object (&self->parent);

  G_OBJECT_CLASS (khadim_session_parent_class)->dispose (object);
}

static void
khadim_session_finalize (GObject *object)
{
  KhadimSession *self = KHADIM_SESSION (object);

  g_clear_object (&self->engine);
  g_clear_object (&self->automation);
  g_clear_object (&self->permissions);
  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->record, khadim_session_record_free);
  g_clear_pointer (&self->run, khadim_run_record_free);
  g_hash_table_unref (self->calls);
  g_ptr_array_unref (self->answers);
  g_clear_pointer (&self->batch, khadim_store_batch_free);
  g_ptr_array_unref (self->batch_events);
  g_ptr_array_unref (self->subscribers);
  g_clear_error (&self->fatal);
  g_clear_pointer (&self->output, json_node_unref);
  g_free (self->error_code);
  g_free (self->error_message);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (khadim_session_parent_class)->finalize (object);
}

static void
khadim_session_class_init (KhadimSessionClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->dispose = khadim_session_dispose;
  object_class->finalize = khadim_session_finalize;
}

static void
khadim_session_init (KhadimSession *self)
{
  g_mutex_init (&self->lock);
  self->calls = g_hash_table_new_full (g_str_hash, g_str_equal, NULL,
                                       (GDestroyNotify) khadim_tool_call_record_free);
  self->answers = g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_command_record_free);
  self->batch = khadim_store_batch_new ();
  self->batch_events = g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_event_unref);
  self->subscribers = g_ptr_array_new_with_free_func ((GDestroyNotify) _khadim_subscriber_unref);
  self->cancellable = g_cancellable_new ();
  self->next_seq = 1;
}

/* What the document itself says about permissions and budget. */
static void
read_document (KhadimSession *self)
{
  JsonObject *document = khadim_automation_get_document (self->automation);
  JsonObject *budget = khadim_json_get_object (document, "budget");
  const char *time;
  gint64 ms = 0;

  self->permissions =
    khadim_permissions_new_from_json (khadim_json_get_object (document, "permissions"));
  if (budget == NULL)
    return;
  self->budget_steps = khadim_json_get_int (budget, "steps", 0);
  time = khadim_json_get_string (budget, "time", NULL);
  if (time != NULL && khadim_duration_parse (time, &ms, NULL))
    self->budget_deadline_us = g_get_monotonic_time () + ms * 1000;
}

static JsonNode *
make_options (const KhadimSessionSpec *spec)
{
  JsonObject *options = json_object_new ();

  if (spec->from_step != NULL)
    json_object_set_string_member (options, "from", spec->from_step);
  if (spec->dry_run)
    json_object_set_boolean_member (options, "dry_run", TRUE);
  if (spec->display != NULL)
    json_object_set_string_member (options, "display", spec->display);

  return khadim_json_object (options);
}

gboolean
_khadim_session_is_dry_run (KhadimSession *self)
{
  return khadim_json_get_boolean (json_node_get_object (self->record->options), "dry_run", FALSE);
}

/**
 * khadim_session_new:
 * @engine: the engine that runs it
 * @automation: what it plays
 * @spec: how
 *
 * Makes a session; nothing is stored before it runs. Any thread.
 *
 * Returns: (transfer full): the session
 */
KhadimSession *
khadim_session_new (KhadimEngine            *engine,
                    KhadimAutomation        *automation,
                    const KhadimSessionSpec *spec)
{
  KhadimSession *self;
  KhadimSessionRecord *record;

  g_return_val_if_fail (KHADIM_IS_ENGINE (engine), NULL);
  g_return_val_if_fail (KHADIM_IS_AUTOMATION (automation), NULL);

  self = g_object_new (KHADIM_TYPE_SESSION, NULL);
  self->engine = g_object_ref (engine);
  self->automation = g_object_ref (automation);
  read_document (self);

  self->record = record = khadim_session_record_new ();
  record->id = khadim_uuid7_new ();
  record->driver = g_strdup ("player");
  record->title = g_strdup (khadim_automation_get_name (automation));
  record->automation = g_path_get_basename (khadim_automation_get_folder (automation));
  record->document = g_strdup (khadim_automation_get_text (automation));
  record->assets_dir = g_strdup (khadim_automation_get_folder (automation));
  record->work_dir = spec->work_dir != NULL ? g_canonicalize_filename (spec->work_dir, NULL)
                                            : g_get_current_dir ();
  record->workspace_id = g_strdup (record->work_dir);
  record->inputs = spec->inputs != NULL ? json_node_ref (spec->inputs)
                                        : khadim_json_object (json_object_new ());
  record->options = make_options (spec);
  record->owner = g_strdup (khadim_store_get_owner_id (khadim_engine_get_store (engine)));
  record->created_us = record->updated_us = khadim_time_now_us ();

  self->run = khadim_run_record_new ();
  self->run->id = khadim_uuid7_new ();
  self->run->session_id = g_strdup (record->id);
  self->run->trigger = g_strdup (spec->trigger != NULL ? spec->trigger : "person");
  self->run->attempt = 1;
  self->run->started_us = record->created_us;

  return self;
}

/* Resuming ----------------------------------------------------------------- */

static gboolean
load_calls (KhadimSession  *self,
            KhadimStore    *store,
            GError        **error)
{
  g_autoptr(GPtrArray) calls = khadim_store_list_calls (store, self->record->id, error);

  if (calls == NULL)
    return FALSE;

  for (guint i = 0; i < calls->len; i++)
    {
      KhadimToolCallRecord *record = khadim_tool_call_record_copy (calls->pdata[i]);

      g_hash_table_replace (self->calls, record->position, record);
    }

  return TRUE;
}

static gboolean
load_answers (KhadimSession  *self,
              KhadimStore    *store,
              GError        **error)
{
  g_autoptr(GPtrArray) commands = khadim_store_list_commands (store, self->record->id, error);

  if (commands == NULL)
    return FALSE;

  for (guint i = 0; i < commands->len; i++)
    {
      KhadimCommandRecord *command = commands->pdata[i];

      if (command->handled_us == 0 && g_strcmp0 (command->kind, "answer") == 0 &&
          command->payload != NULL && JSON_NODE_HOLDS_OBJECT (command->payload))
        g_ptr_array_add (self->answers, khadim_command_record_copy (command));
    }

  return TRUE;
}

static gboolean
load_run (KhadimSession  *self,
          KhadimStore    *store,
          GError        **error)
{
  g_autoptr(GPtrArray) runs = khadim_store_list_runs (store, self->record->id, error);
  gint64 seq;

  if (runs == NULL)
    return FALSE;
  if (runs->len == 0)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                   "the session “%s” has no run", self->record->id);
      return FALSE;
    }
  self->run = khadim_run_record_copy (runs->pdata[runs->len - 1]);
  seq = khadim_store_get_last_seq (store, self->record->id, error);
  if (seq < 0)
    return FALSE;
  self->next_seq = seq + 1;

  return TRUE;
}

static gboolean
load (KhadimSession  *self,
      const char     *session_id,
      GError        **error)
{
  KhadimStore *store = khadim_engine_get_store (self->engine);

  self->record = khadim_store_get_session (store, session_id, error);
  if (self->record == NULL)
    return FALSE;
  if (self->record->outcome != NULL)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                   "the session has ended already (%s)", self->record->outcome);
      return FALSE;
    }
  if (!khadim_store_claim_session (store, session_id, error))
    return FALSE;
  g_free (self->record->owner);
  self->record->owner = g_strdup (khadim_store_get_owner_id (store));
  self->automation = khadim_automation_new_from_text (self->record->document,
                                                      self->record->assets_dir,
                                                      khadim_engine_get_toolbox (self->engine),
                                                      NULL, error);
  if (self->automation == NULL)
    return FALSE;
  read_document (self);

  return load_calls (self, store, error) && load_answers (self, store, error) &&
         load_run (self, store, error);
}

/**
 * khadim_session_open:
 * @engine: the engine that is to run it
 * @session_id: a session that was parked, or whose process died
 * @error: (nullable): `KHADIM_STORE_ERROR_NOT_FOUND`, `_NOT_OWNER` when a live
 *   process runs it, `KHADIM_ENGINE_ERROR_INVALID` when it has ended
 *
 * Takes a session up again: [method@Khadim.Session.run_async] goes on where
 * it was, with the document as it was when it started. Blocks on the disk.
 * Any thread.
 *
 * Returns: (transfer full) (nullable): the session
 */
KhadimSession *
khadim_session_open (KhadimEngine  *engine,
                     const char    *session_id,
                     GError       **error)
{
  g_autoptr(KhadimSession) self = NULL;

  g_return_val_if_fail (KHADIM_IS_ENGINE (engine), NULL);
  g_return_val_if_fail (session_id != NULL, NULL);

  self = g_object_new (KHADIM_TYPE_SESSION, NULL);
  self->engine = g_object_ref (engine);
  self->resumed = TRUE;
  if (!load (self, session_id, error))
    return NULL;

  return g_steal_pointer (&self);
}

/* Children ----------------------------------------------------------------- */

static void
adopt (KhadimSession *self,
       KhadimSession *parent)
{
  self->parent = g_object_ref (parent);
  self->depth = parent->depth + 1;
}

KhadimSession *
_khadim_session_new_child (KhadimSession    *parent,
                           KhadimAutomation *automation,
                           JsonNode         *inputs,
                           const char       *parent_call_id)
{
  KhadimSessionSpec spec = {
    .work_dir = parent->record->work_dir,
    .inputs = inputs,
    .trigger = "call",
    .dry_run = _khadim_session_is_dry_run (parent),
  };
  KhadimSession *self = khadim_session_new (parent->engine, automation, &spec);

  adopt (self, parent);
  self->record->parent_session_id = g_strdup (parent->record->id);
  self->record->parent_call_id = g_strdup (parent_call_id);

  return self;
}

/* A child that has ended before the parent heard of it gives what it ended
 * with: it is opened without being run. */
static KhadimSession *
open_ended_child (KhadimSession        *parent,
                  KhadimSessionRecord  *record)
{
  KhadimSession *self = g_object_new (KHADIM_TYPE_SESSION, NULL);

  self->engine = g_object_ref (parent->engine);
  self->output = record->output != NULL ? json_node_ref (record->output) : NULL;
  self->error_code = g_strdup (record->error_code);
  self->error_message = g_strdup (record->error_message);
  self->outcome = strcmp (record->outcome, "completed") == 0     ? KHADIM_OUTCOME_COMPLETED
                  : strcmp (record->outcome, "interrupted") == 0 ? KHADIM_OUTCOME_INTERRUPTED
                  : strcmp (record->outcome, "budget") == 0      ? KHADIM_OUTCOME_BUDGET
                                                                 : KHADIM_OUTCOME_FAILED;
  self->record = khadim_session_record_copy (record);

  return self;
}

KhadimSession *
_khadim_session_open_child (KhadimSession  *parent,
                            const char     *session_id,
                            GError        **error)
{
  KhadimStore *store = khadim_engine_get_store (parent->engine);
  g_autoptr(KhadimSessionRecord) record = khadim_store_get_session (store, session_id, error);
  KhadimSession *self;

  if (record == NULL)
    return NULL;
  self = record->outcome != NULL ? open_ended_child (parent, record)
                                 : khadim_session_open (parent->engine, session_id, error);
  if (self != NULL)
    adopt (self, parent);

  return self;
}

static void
on_child_run_cb (GObject      *object,
                 GAsyncResult *result,
                 gpointer      user_data)
{
  g_autofree Child *child = user_data;
  KhadimSession *self = KHADIM_SESSION (object);
  g_autoptr(GError) error = NULL;

  if (!khadim_session_run_finish (self, result, NULL, &error))
    {
      self->outcome = KHADIM_OUTCOME_FAILED;
      self->error_message = g_strdup (error->message);
    }
  child->done (self, child->user_data);
}

void
_khadim_session_run_child (KhadimSession   *self,
                           KhadimChildDone  done,
                           gpointer         user_data)
{
  Child *child;

  if (self->record->outcome != NULL)
    {
      done (self, user_data);
      return;
    }
  child = g_new0 (Child, 1);
  child->done = done;
  child->user_data = user_data;
  khadim_session_run_async (self, NULL, on_child_run_cb, child);
}

/* Running ------------------------------------------------------------------ */

/* A person's command from another process, or a call of the API. */
static void
stop_in_engine (KhadimSession *self)
{
  g_cancellable_cancel (self->cancellable);
  if (self->running != NULL)
    g_cancellable_cancel (self->running);
  if (self->player == NULL)
    return;
  if (self->player->child != NULL)
    stop_in_engine (self->player->child);
  else if (self->player->timer != NULL || self->paused)
    {
      self->paused = FALSE;
      if (self->player->timer != NULL)
        {
          g_source_destroy (self->player->timer);
          g_clear_pointer (&self->player->timer, g_source_unref);
        }
      _khadim_player_wake (self->player);
    }
}

static void
set_paused (KhadimSession *self,
            gboolean       paused)
{
  gboolean wake = self->paused && !paused && self->player != NULL && self->player->waiting &&
                  self->running == NULL && self->player->timer == NULL &&
                  self->player->child == NULL;

  if (self->paused == paused)
    return;

  self->paused = paused;
  _khadim_session_emit (self, KHADIM_CHANNEL_MONITOR, "state_changed",
                        paused ? "PAUSED" : "WORKING", NULL);
  _khadim_session_put_state (self, paused ? KHADIM_SESSION_PAUSED : KHADIM_SESSION_WORKING);
  _khadim_session_commit (self, KHADIM_DURABILITY_PROCESS, NULL, NULL);
  if (wake)
    _khadim_player_wake (self->player);
}

static void
on_command_cb (KhadimStore               *store,
               const KhadimCommandRecord *command,
               gpointer                   user_data)
{
  KhadimSession *self = user_data;

  if (strcmp (command->session_id, self->record->id) != 0 || self->task == NULL)
    return;

  if (strcmp (command->kind, "answer") == 0)
    {
      g_ptr_array_add (self->answers, khadim_command_record_copy (command));
      return;
    }
  khadim_store_batch_command_handled (self->batch, command->id, khadim_time_now_us ());
  if (strcmp (command->kind, "stop") == 0)
    stop_in_engine (self);
  else if (strcmp (command->kind, "pause") == 0)
    set_paused (self, TRUE);
  else if (strcmp (command->kind, "resume") == 0)
    set_paused (self, FALSE);
  _khadim_session_commit (self, KHADIM_DURABILITY_PROCESS, NULL, NULL);
}

static void
emit_done (KhadimSession *self,
           const char    *reason)
{
  JsonObject *metadata = json_object_new ();

  json_object_set_string_member (metadata, "reason", reason);
  if (self->output != NULL)
    json_object_set_member (metadata, "output", json_node_copy (self->output));
  _khadim_session_emit (self, KHADIM_CHANNEL_PROGRESS, "done", NULL,
                        khadim_json_object (metadata));
}

static JsonNode *
describe_failure (KhadimSession *self,
                  KhadimSignal  *signal)
{
  JsonObject *metadata = json_object_new ();

  json_object_set_string_member (metadata, "code", self->error_code);
  json_object_set_string_member (metadata, "phase", "tool");
  json_object_set_boolean_member (metadata, "retryable",
                                  signal->code != KHADIM_TOOL_ERROR_BUSINESS &&
                                    signal->code != KHADIM_TOOL_ERROR_DENIED);
  if (signal->step_id != NULL)
    json_object_set_string_member (metadata, "step", signal->step_id);

  return khadim_json_object (metadata);
}

static const char *
get_outcome_word (KhadimOutcome outcome)
{
  switch (outcome)
    {
    case KHADIM_OUTCOME_COMPLETED:
      return "completed";
    case KHADIM_OUTCOME_INTERRUPTED:
      return "interrupted";
    case KHADIM_OUTCOME_BUDGET:
      return "budget";
    case KHADIM_OUTCOME_FAILED:
      return "failed";
    case KHADIM_OUTCOME_PARKED:
    default:
      return NULL;
    }
}

/* The rows and the one terminal event of a run that has ended. */
static void
write_end (KhadimSession *self,
           KhadimSignal  *signal)
{
  const char *word = get_outcome_word (self->outcome);
  gint64 now_us = khadim_time_now_us ();

  if (self->outcome == KHADIM_OUTCOME_FAILED)
    {
      g_autoptr(JsonNode) metadata = describe_failure (self, signal);

      _khadim_session_emit (self, KHADIM_CHANNEL_PROGRESS, "error", self->error_message,
                            json_node_ref (metadata));
      _khadim_session_emit (self, KHADIM_CHANNEL_MONITOR, "error", self->error_message,
                            json_node_ref (metadata));
    }
  else
    emit_done (self, word);

  self->record->outcome = g_strdup (word);
  self->record->error_code = g_strdup (self->error_code);
  self->record->error_message = g_strdup (self->error_message);
  self->record->output = self->output != NULL ? json_node_ref (self->output) : NULL;
  self->record->ended_us = now_us;
  _khadim_session_put_state (self, KHADIM_SESSION_READY);
  self->run->outcome = g_strdup (word);
  self->run->ended_us = now_us;
  khadim_store_batch_put_run (self->batch, self->run);
}

static void
on_end_durable (KhadimSession *self,
                gpointer       user_data)
{
  g_autoptr(GTask) task = g_steal_pointer (&self->task);
  GPtrArray *domains = khadim_toolbox_list_domains (khadim_engine_get_toolbox (self->engine));

  for (guint i = 0; i < domains->len; i++)
    khadim_tool_domain_session_ended (domains->pdata[i], self->record->id);
  g_ptr_array_unref (domains);
  if (self->watch != 0)
    khadim_store_unwatch (khadim_engine_get_store (self->engine), self->watch);
  self->watch = 0;

  khadim_toolbox_remove_stop_func (khadim_engine_get_toolbox (self->engine), self->stop_func);
  if (self->fatal != NULL)
    g_task_return_error (task, g_error_copy (self->fatal));
  else
    g_task_return_boolean (task, TRUE);
}

static void
read_outcome (KhadimSession *self,
              KhadimSignal  *signal)
{
  switch (signal->kind)
    {
    case KHADIM_SIGNAL_OK:
      self->outcome = KHADIM_OUTCOME_COMPLETED;
      break;

    case KHADIM_SIGNAL_FAILED:
      self->outcome = KHADIM_OUTCOME_FAILED;
      self->error_code = g_strdup (khadim_tool_error_to_code (signal->code));
      self->error_message = _khadim_session_redact (self, signal->message);
      break;

    case KHADIM_SIGNAL_PARKED:
      self->outcome = KHADIM_OUTCOME_PARKED;
      break;

    case KHADIM_SIGNAL_BUDGET:
      self->outcome = KHADIM_OUTCOME_BUDGET;
      break;

    case KHADIM_SIGNAL_STOPPED:
    default:
      self->outcome = KHADIM_OUTCOME_INTERRUPTED;
      break;
    }
}

/* The player has come to its end, or to rest. */
void
_khadim_session_player_done (KhadimSession *self,
                             KhadimSignal  *signal,
                             JsonNode      *output)
{
  read_outcome (self, signal);
  self->output = _khadim_session_redact_json (self, output);
  if (self->outcome == KHADIM_OUTCOME_PARKED)
    {
      _khadim_session_emit (self, KHADIM_CHANNEL_MONITOR, "state_changed", "PAUSED", NULL);
      _khadim_session_put_state (self, KHADIM_SESSION_PAUSED);
    }
  else
    write_end (self, signal);
  _khadim_session_commit (self, KHADIM_DURABILITY_MACHINE, on_end_durable, NULL);
}

static void
emit_resumed (KhadimSession *self)
{
  JsonObject *metadata = json_object_new ();

  json_object_set_string_member (metadata, "strategy", "replay");
  json_object_set_int_member (metadata, "calls", g_hash_table_size (self->calls));
  _khadim_session_emit (self, KHADIM_CHANNEL_MONITOR, "agent_resumed", NULL,
                        khadim_json_object (metadata));
}

static void
on_start_durable (KhadimSession *self,
                  gpointer       user_data)
{
  if (self->fatal != NULL)
    {
      on_end_durable (self, NULL);
      return;
    }
  self->player = _khadim_player_new (self);
  _khadim_player_run (self->player);
}

static void
on_emergency_stop (gpointer user_data)
{
  khadim_session_stop (user_data);
}

static gboolean
run_in_engine (gpointer user_data)
{
  KhadimSession *self = user_data;
  g_autoptr(GError) error = NULL;

  self->watch = khadim_store_watch_commands (khadim_engine_get_store (self->engine), on_command_cb,
                                             self, NULL, &error);
  if (self->watch == 0)
    g_debug ("No commands from other processes: %s", error->message);
  self->stop_func = khadim_toolbox_add_stop_func (khadim_engine_get_toolbox (self->engine),
                                                  on_emergency_stop, self);
  /* The session's row comes first: the others belong to it. */
  _khadim_session_put_state (self, KHADIM_SESSION_WORKING);
  if (self->resumed)
    emit_resumed (self);
  else
    khadim_store_batch_put_run (self->batch, self->run);
  _khadim_session_emit (self, KHADIM_CHANNEL_MONITOR, "state_changed", "WORKING", NULL);
  _khadim_session_commit (self, KHADIM_DURABILITY_PROCESS, on_start_durable, NULL);

  return G_SOURCE_REMOVE;
}

/**
 * khadim_session_get_id:
 * @self: a session
 *
 * Returns: (transfer none): its id, a UUIDv7
 */
const char *
khadim_session_get_id (KhadimSession *self)
{
  g_return_val_if_fail (KHADIM_IS_SESSION (self), NULL);

  return self->record->id;
}

static void
on_cancelled_cb (GCancellable *cancellable,
                 gpointer      user_data)
{
  khadim_session_stop (user_data);
}

/**
 * khadim_session_run_async:
 * @self: a session that does not run yet
 * @cancellable: (nullable): stops the session, as
 *   [method@Khadim.Session.stop] does
 * @callback: called when it has ended or is parked
 * @user_data: for @callback
 *
 * Runs the session on the engine thread. @callback is called on the
 * thread-default main context of the caller.
 */
void
khadim_session_run_async (KhadimSession       *self,
                          GCancellable        *cancellable,
                          GAsyncReadyCallback  callback,
                          gpointer             user_data)
{
  g_return_if_fail (KHADIM_IS_SESSION (self));
  g_return_if_fail (self->task == NULL);

  self->task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (self->task, khadim_session_run_async);
  g_task_set_name (self->task, "khadim_session_run");
  /* A stop is an outcome, not an error. */
  g_task_set_check_cancellable (self->task, FALSE);
  if (cancellable != NULL)
    g_cancellable_connect (cancellable, G_CALLBACK (on_cancelled_cb), g_object_ref (self),
                           g_object_unref);
  g_main_context_invoke_full (_khadim_engine_get_context (self->engine), G_PRIORITY_DEFAULT,
                              run_in_engine, g_object_ref (self), g_object_unref);
}

/**
 * khadim_session_run_finish:
 * @self: a session
 * @result: what the callback got
 * @out_outcome: (out) (optional): how it ended
 * @error: (nullable): a `KHADIM_STORE_ERROR` when the session could not be
 *   written down; a step that fails is an outcome, not an error
 *
 * Returns: whether the end of the run is durable
 */
gboolean
khadim_session_run_finish (KhadimSession  *self,
                           GAsyncResult   *result,
                           KhadimOutcome  *out_outcome,
                           GError        **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);

  if (!g_task_propagate_boolean (G_TASK (result), error))
    return FALSE;
  if (out_outcome != NULL)
    *out_outcome = self->outcome;

  return TRUE;
}

static gboolean
on_stop_cb (gpointer user_data)
{
  stop_in_engine (user_data);

  return G_SOURCE_REMOVE;
}

/**
 * khadim_session_stop:
 * @self: a session
 *
 * Stops what runs: the call under way is cancelled, no other begins, and the
 * run ends as interrupted. Any thread.
 */
void
khadim_session_stop (KhadimSession *self)
{
  g_autoptr(GSource) source = NULL;

  g_return_if_fail (KHADIM_IS_SESSION (self));

  /* Never at once, even on the engine thread: the caller may hold a lock. */
  source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_HIGH);
  g_source_set_callback (source, on_stop_cb, g_object_ref (self), g_object_unref);
  g_source_attach (source, _khadim_engine_get_context (self->engine));
}

/**
 * khadim_session_get_output:
 * @self: a session that has ended
 *
 * Returns: (transfer none) (nullable): what the run returned
 */
JsonNode *
khadim_session_get_output (KhadimSession *self)
{
  g_return_val_if_fail (KHADIM_IS_SESSION (self), NULL);

  return self->output;
}

/**
 * khadim_session_get_error_code:
 * @self: a session that has ended
 *
 * Returns: (transfer none) (nullable): why it failed, such as `not-found`
 */
const char *
khadim_session_get_error_code (KhadimSession *self)
{
  g_return_val_if_fail (KHADIM_IS_SESSION (self), NULL);

  return self->error_code;
}

/**
 * khadim_session_get_error_message:
 * @self: a session that has ended
 *
 * Returns: (transfer none) (nullable): why it failed, for people
 */
const char *
khadim_session_get_error_message (KhadimSession *self)
{
  g_return_val_if_fail (KHADIM_IS_SESSION (self), NULL);

  return self->error_message;
}
