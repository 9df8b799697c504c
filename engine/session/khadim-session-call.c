/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-session-call"

#include "config.h"

#include "engine/session/khadim-session-private.h"

#include <string.h>

#include "engine/base/khadim-time.h"
#include "engine/json/khadim-json.h"
#include "engine/json/khadim-schema.h"
#include "engine/session/khadim-secrets-private.h"
#include "engine/tool/khadim-tool-call-private.h"
#include "engine/tool/khadim-tool-result.h"

/* How often a call's progress becomes an event at most. */
#define PROGRESS_INTERVAL_US (250 * 1000)

/* One call on its way: schema, permission, PRE_TOOL durable, run, POST_TOOL. */
typedef struct
{
  gatomicrefcount ref_count;

  KhadimSession *session;       /* owned */
  KhadimToolCallRecord *record; /* borrowed from the session's table */
  KhadimToolDomain *domain;     /* owned */
  const KhadimToolInfo *info;
  JsonNode *args;               /* owned; the record's may be redacted */
  KhadimOnSealed on_sealed;
  gint64 deadline_us;
  char *deadline_scope;

  GCancellable *cancellable;
  GSource *timer;               /* or NULL */
  KhadimToolCall *tool_call;    /* or NULL */
  KhadimSecrets *secrets;       /* or NULL */
  gboolean timed_out;
  gboolean resumed;
  gint64 progressed_us;

  KhadimCallDone done;
  gpointer user_data;
} Call;

static void execute (Call *call);

static void
call_unref (Call *call)
{
  if (!g_atomic_ref_count_dec (&call->ref_count))
    return;

  g_clear_object (&call->domain);
  g_clear_pointer (&call->args, json_node_unref);
  g_free (call->deadline_scope);
  g_clear_object (&call->cancellable);
  g_clear_object (&call->tool_call);
  g_clear_pointer (&call->secrets, _khadim_secrets_unref);
  g_object_unref (call->session);
  g_free (call);
}

static Call *
call_ref (Call *call)
{
  g_atomic_ref_count_inc (&call->ref_count);

  return call;
}

/* The end of a call: its timer is stopped, and the player goes on. */
static void
finish (Call         *call,
        KhadimSignal *signal)
{
  KhadimSession *self = call->session;

  if (call->timer != NULL)
    {
      g_source_destroy (call->timer);
      g_clear_pointer (&call->timer, g_source_unref);
    }
  if (self->running == call->cancellable)
    self->running = NULL;
  if (self->fatal != NULL)
    signal->kind = KHADIM_SIGNAL_STOPPED;
  if (signal->step_id == NULL)
    signal->step_id = g_strdup (call->record != NULL ? call->record->step_id : NULL);

  call->done (self, signal, call->user_data);
  _khadim_signal_clear (signal);
  call_unref (call);
}

/* Writes the record's end, with what @signal says, and ends the call. */
static void
conclude (Call         *call,
          KhadimSignal *signal,
          JsonNode     *artifacts)
{
  KhadimSession *self = call->session;
  KhadimToolCallRecord *record = call->record;
  gboolean failed = signal->kind != KHADIM_SIGNAL_OK;

  record->ended_us = khadim_time_now_us ();
  if (record->state != KHADIM_CALL_DENIED)
    record->state = failed ? KHADIM_CALL_FAILED : KHADIM_CALL_COMPLETED;
  if (failed)
    {
      record->error_code = g_strdup (khadim_tool_error_to_code (signal->code));
      record->error_message = _khadim_session_redact (self, signal->message);
      record->error_scope = g_strdup (signal->scope);
    }
  else if (signal->value != NULL)
    record->result = json_node_ref (signal->value);
  g_clear_pointer (&record->detail, json_node_unref);
  if (signal->detail != NULL)
    record->detail = json_node_ref (signal->detail);

  _khadim_session_put_call (self, record);
  _khadim_session_step_complete (self, record, artifacts);
  _khadim_session_commit (self, KHADIM_DURABILITY_PROCESS, NULL, NULL);
  finish (call, signal);
}

G_GNUC_PRINTF (3, 4)
static void
conclude_failure (Call            *call,
                  KhadimToolError  code,
                  const char      *format,
                  ...)
{
  KhadimSignal signal = { 0 };
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  _khadim_signal_fail (&signal, code, "%s", message);
  if (code == KHADIM_TOOL_ERROR_CANCELLED)
    signal.kind = KHADIM_SIGNAL_STOPPED;
  conclude (call, &signal, NULL);
}

static void
park (Call *call)
{
  KhadimSignal signal = { .kind = KHADIM_SIGNAL_PARKED };

  _khadim_session_commit (call->session, KHADIM_DURABILITY_PROCESS, NULL, NULL);
  finish (call, &signal);
}

/* Running ------------------------------------------------------------------ */

static JsonNode *
keep_artifacts (Call             *call,
                KhadimToolResult *result)
{
  GPtrArray *artifacts = khadim_tool_result_get_artifacts (result);
  JsonArray *described = json_array_new ();

  for (guint i = 0; artifacts != NULL && i < artifacts->len; i++)
    {
      KhadimToolArtifact *artifact = artifacts->pdata[i];
      g_autoptr(KhadimArtifactRecord) record = khadim_artifact_record_new ();
      JsonObject *object = json_object_new ();

      record->session_id = g_strdup (call->session->record->id);
      record->call_id = g_strdup (call->record->id);
      record->role = g_strdup (artifact->role);
      record->name = _khadim_session_redact (call->session, artifact->name);
      record->media_type = g_strdup (artifact->media_type);
      record->sha256 = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, artifact->bytes);
      record->size_bytes = (gint64) g_bytes_get_size (artifact->bytes);
      record->created_us = khadim_time_now_us ();
      khadim_store_batch_add_artifact (call->session->batch, record, artifact->bytes);

      json_object_set_string_member (object, "role", record->role);
      json_object_set_string_member (object, "name", record->name);
      json_object_set_string_member (object, "media_type", record->media_type);
      json_object_set_string_member (object, "sha256", record->sha256);
      json_array_add_object_element (described, object);
    }

  return khadim_json_array (described);
}

static void
read_failure (Call             *call,
              KhadimToolResult *result,
              KhadimSignal     *signal)
{
  KhadimToolError code = khadim_tool_result_get_code (result);
  gboolean cancelled = code == KHADIM_TOOL_ERROR_CANCELLED;

  if (cancelled && call->timed_out)
    code = KHADIM_TOOL_ERROR_TIMEOUT;
  _khadim_signal_fail (signal, code, "%s",
                       cancelled && call->timed_out ? "its time ran out"
                                                    : khadim_tool_result_get_message (result));
  if (cancelled && call->timed_out)
    signal->scope = g_strdup (call->deadline_scope);
  else if (cancelled)
    signal->kind = KHADIM_SIGNAL_STOPPED;
}

static void seal (Call *call);

static void
on_run_cb (GObject      *object,
           GAsyncResult *async_result,
           gpointer      user_data)
{
  Call *call = user_data;
  KhadimToolDomain *domain = KHADIM_TOOL_DOMAIN (object);
  g_autoptr(KhadimToolResult) result = khadim_tool_domain_run_finish (domain, async_result);
  g_autoptr(JsonNode) artifacts = NULL;
  KhadimSignal signal = { 0 };

  _khadim_tool_call_set_hooks (call->tool_call, NULL, NULL, NULL, NULL);
  if (khadim_tool_result_is_failure (result) && call->resumed &&
      khadim_tool_result_get_code (result) == KHADIM_TOOL_ERROR_SEALED)
    {
      seal (call);
      return;
    }

  artifacts = keep_artifacts (call, result);
  if (khadim_tool_result_is_failure (result))
    read_failure (call, result, &signal);
  else
    signal.value = _khadim_session_redact_json (call->session,
                                                khadim_tool_result_get_value (result));
  signal.detail = _khadim_session_redact_json (call->session,
                                               khadim_tool_result_get_detail (result));
  conclude (call, &signal, artifacts);
}

typedef struct
{
  Call *call;
  double fraction;
  char *preview;
} Progress;

static void
progress_free (gpointer data)
{
  Progress *self = data;

  call_unref (self->call);
  g_free (self->preview);
  g_free (self);
}

static gboolean
on_progress_in_engine (gpointer user_data)
{
  Progress *progress = user_data;
  Call *call = progress->call;
  gint64 now_us = g_get_monotonic_time ();
  JsonObject *metadata;

  /* One that arrives after the end would be told after step_complete. */
  if (call->record->ended_us != 0 || now_us - call->progressed_us < PROGRESS_INTERVAL_US)
    return G_SOURCE_REMOVE;

  call->progressed_us = now_us;
  metadata = json_object_new ();
  json_object_set_string_member (metadata, "id", call->record->id);
  if (progress->fraction >= 0)
    json_object_set_double_member (metadata, "fraction", MIN (progress->fraction, 1));
  if (progress->preview != NULL)
    json_object_set_string_member (metadata, "preview", progress->preview);
  _khadim_session_emit (call->session, KHADIM_CHANNEL_PROGRESS, "step_update", progress->preview,
                        khadim_json_object (metadata));
  _khadim_session_commit (call->session, KHADIM_DURABILITY_PROCESS, NULL, NULL);

  return G_SOURCE_REMOVE;
}

/* Called on any thread, with the hooks' lock held. */
static void
on_progress (KhadimToolCall *tool_call,
             double          fraction,
             const char     *preview,
             gpointer        user_data)
{
  Call *call = user_data;
  Progress *progress = g_new0 (Progress, 1);

  progress->call = call_ref (call);
  progress->fraction = fraction;
  progress->preview = g_strdup (preview);
  g_main_context_invoke_full (_khadim_engine_get_context (call->session->engine),
                              G_PRIORITY_DEFAULT, on_progress_in_engine, progress, progress_free);
}

/* Called on any thread, with the hooks' lock held. */
static char *
on_secret (KhadimToolCall  *tool_call,
           JsonNode        *reference,
           gpointer         user_data,
           GError         **error)
{
  Call *call = user_data;

  return _khadim_secrets_get (call->secrets, reference, error);
}

static void
put_note (Call     *call,
          JsonNode *note)
{
  KhadimToolCallRecord *record = call->record;
  JsonObject *detail = json_object_new ();

  json_object_set_member (detail, "note", _khadim_session_redact_json (call->session, note));
  g_clear_pointer (&record->detail, json_node_unref);
  record->detail = khadim_json_object (detail);
  _khadim_session_put_call (call->session, record);
}

/* The note that says that a call has done what it does. */
typedef struct
{
  Call *call;
  JsonNode *note;
} DoneNote;

static void
done_note_free (gpointer data)
{
  DoneNote *self = data;

  call_unref (self->call);
  json_node_unref (self->note);
  g_free (self);
}

static gboolean
on_done_note_in_engine (gpointer user_data)
{
  DoneNote *note = user_data;

  if (note->call->record->ended_us != 0)
    return G_SOURCE_REMOVE;
  put_note (note->call, note->note);
  _khadim_session_commit (note->call->session, KHADIM_DURABILITY_PROCESS, NULL, NULL);

  return G_SOURCE_REMOVE;
}

/* A note on its way to the store, which the tool's thread waits for. */
typedef struct
{
  Call *call;
  JsonNode *note;
  GMutex lock;
  GCond written;
  gboolean done;      /* guarded by lock */
  GError *error;
} Note;

static void
on_note_durable (KhadimSession *self,
                 gpointer       user_data)
{
  Note *note = user_data;

  g_mutex_lock (&note->lock);
  note->error = self->fatal != NULL ? g_error_copy (self->fatal) : NULL;
  note->done = TRUE;
  g_cond_signal (&note->written);
  g_mutex_unlock (&note->lock);
}

static gboolean
on_note_in_engine (gpointer user_data)
{
  Note *note = user_data;

  put_note (note->call, note->note);
  _khadim_session_commit (note->call->session, KHADIM_DURABILITY_MACHINE, on_note_durable, note);

  return G_SOURCE_REMOVE;
}

/* Called on the tool's thread. */
static gboolean
on_note (KhadimToolCall  *tool_call,
         JsonNode        *node,
         gboolean         done,
         gpointer         user_data,
         GError         **error)
{
  Note note = { .call = user_data, .note = node };
  DoneNote *last;
  gboolean good;

  if (done)
    {
      last = g_new0 (DoneNote, 1);
      last->call = call_ref (user_data);
      last->note = json_node_ref (node);
      g_main_context_invoke_full (_khadim_engine_get_context (last->call->session->engine),
                                  G_PRIORITY_DEFAULT, on_done_note_in_engine, last,
                                  done_note_free);
      return TRUE;
    }

  g_mutex_init (&note.lock);
  g_cond_init (&note.written);
  g_main_context_invoke (_khadim_engine_get_context (note.call->session->engine),
                         on_note_in_engine, &note);
  g_mutex_lock (&note.lock);
  while (!note.done)
    g_cond_wait (&note.written, &note.lock);
  g_mutex_unlock (&note.lock);
  g_mutex_clear (&note.lock);
  g_cond_clear (&note.written);
  good = note.error == NULL;
  if (!good)
    g_propagate_error (error, note.error);

  return good;
}

static JsonNode *
get_note (KhadimToolCallRecord *record)
{
  if (record->detail == NULL || !JSON_NODE_HOLDS_OBJECT (record->detail))
    return NULL;

  return khadim_json_get (json_node_get_object (record->detail), "note");
}

static gboolean
on_deadline_cb (gpointer user_data)
{
  Call *call = user_data;

  call->timed_out = TRUE;
  g_cancellable_cancel (call->cancellable);

  return G_SOURCE_REMOVE;
}

static void
start_timer (Call *call)
{
  gint64 left_us = call->deadline_us - g_get_monotonic_time ();

  if (call->deadline_us == 0)
    return;

  call->timer = g_timeout_source_new ((guint) CLAMP (left_us / 1000, 0, G_MAXINT));
  g_source_set_callback (call->timer, on_deadline_cb, call, NULL);
  g_source_attach (call->timer, _khadim_engine_get_context (call->session->engine));
}

static void
run (Call *call)
{
  KhadimSession *self = call->session;
  KhadimToolCallSpec spec = {
    .id = call->record->id,
    .session_id = self->record->id,
    .tool = call->record->tool,
    .args = call->args,
    .assets_dir = self->record->assets_dir,
    .work_dir = self->record->work_dir,
    .deadline_us = call->deadline_us,
    .dry_run = _khadim_session_is_dry_run (self) &&
               (call->info->flags & KHADIM_TOOL_FLAGS_READ_ONLY) == 0,
    .resumed = call->resumed,
    .note = call->resumed ? get_note (call->record) : NULL,
  };

  call->tool_call = _khadim_tool_call_new (&spec);
  _khadim_tool_call_set_hooks (call->tool_call, on_progress, on_secret, on_note, call);
  self->running = call->cancellable;
  start_timer (call);
  khadim_tool_domain_run_async (call->domain, call->tool_call, call->cancellable, on_run_cb, call);
}

static void
on_secrets_cb (KhadimSecrets *secrets,
               const GError  *error,
               gpointer       user_data)
{
  Call *call = user_data;

  if (error != NULL)
    conclude_failure (call, KHADIM_TOOL_ERROR_SECRET_MISSING, "%s", error->message);
  else
    run (call);
}

/* TOOL_EXECUTING is durable: from here on a crash seals the call. */
static void
on_executing (KhadimSession *self,
              gpointer       user_data)
{
  Call *call = user_data;
  KhadimSignal signal = { .kind = KHADIM_SIGNAL_STOPPED };

  if (self->fatal != NULL)
    {
      finish (call, &signal);
      return;
    }
  if (g_cancellable_is_cancelled (self->cancellable))
    {
      conclude_failure (call, KHADIM_TOOL_ERROR_CANCELLED, "stopped before it began");
      return;
    }
  call->secrets = _khadim_secrets_new (self->engine);
  if (strstr (call->info->input_schema, KHADIM_SCHEMA_SECRET_KEYWORD) == NULL)
    {
      run (call);
      return;
    }
  _khadim_secrets_load (call->secrets, call->args, call->cancellable, on_secrets_cb, call);
}

static void
execute (Call *call)
{
  KhadimSession *self = call->session;
  /* A tool that notes has changed nothing before its note, which is flushed. */
  gboolean changes = (call->info->flags & (KHADIM_TOOL_FLAGS_READ_ONLY |
                                           KHADIM_TOOL_FLAGS_NOTES)) == 0 &&
                     !_khadim_session_is_dry_run (self);

  call->record->state = KHADIM_CALL_EXECUTING;
  if (call->record->started_us == 0)
    {
      call->record->started_us = khadim_time_now_us ();
      _khadim_session_step_start (self, call->record);
    }
  _khadim_session_put_call (self, call->record);
  _khadim_session_commit (self, changes ? KHADIM_DURABILITY_MACHINE : KHADIM_DURABILITY_PROCESS,
                          on_executing, call);
}

/* Sealing ------------------------------------------------------------------ */

static JsonNode *
make_options (const char *const *names)
{
  JsonArray *options = json_array_new ();

  for (gsize i = 0; names[i] != NULL; i++)
    json_array_add_string_element (options, names[i]);

  return khadim_json_array (options);
}

static void
go_on_sealed (Call       *call,
              const char *decision,
              const char *by)
{
  KhadimSignal signal = { 0 };

  if (strcmp (decision, "redo") == 0)
    {
      /* From the beginning, as if it had never been tried: what the attempt
       * before noted must not seal it again. */
      _khadim_session_audit (call->record, KHADIM_CALL_EXECUTING, by, "done again");
      g_clear_pointer (&call->record->detail, json_node_unref);
      call->resumed = FALSE;
      execute (call);
      return;
    }
  if (strcmp (decision, "continue") == 0)
    {
      _khadim_session_audit (call->record, KHADIM_CALL_COMPLETED, by,
                             "taken as done; its outcome is unknown");
      conclude (call, &signal, NULL);
      return;
    }
  _khadim_session_audit (call->record, KHADIM_CALL_FAILED, by, "given up");
  conclude_failure (call, KHADIM_TOOL_ERROR_SEALED,
                    "it was interrupted, and what became of it is unknown");
}

static void
ask_sealed (Call *call)
{
  static const char *const names[] = { "continue", "redo", "fail", NULL };
  g_autoptr(JsonNode) options = make_options (names);
  g_autoptr(JsonNode) answer = NULL;
  g_autofree char *text = NULL;
  KhadimQuestion question = { .kind = "choice", .options = options };

  text = g_strdup_printf ("“%s” was interrupted, and what became of it is unknown. Go on as if it "
                          "had been done, do it again, or fail?", call->record->title);
  question.question = text;
  answer = _khadim_session_ask (call->session, call->record, KHADIM_CALL_SEALED, &question);
  if (answer == NULL)
    park (call);
  else
    go_on_sealed (call, json_node_get_string (answer), "person");
}

/* A call that was under way when the process died, and that must not simply
 * be made again. */
static void
seal (Call *call)
{
  switch (call->on_sealed)
    {
    case KHADIM_ON_SEALED_CONTINUE:
      go_on_sealed (call, "continue", "on_sealed");
      break;

    case KHADIM_ON_SEALED_REDO:
      go_on_sealed (call, "redo", "on_sealed");
      break;

    case KHADIM_ON_SEALED_FAIL:
      go_on_sealed (call, "fail", "on_sealed");
      break;

    case KHADIM_ON_SEALED_ASK:
      if (khadim_engine_get_can_ask (call->session->engine))
        ask_sealed (call);
      else
        go_on_sealed (call, "fail", "nobody to ask");
      break;

    default:
      g_assert_not_reached ();
    }
}

/* Before it runs ----------------------------------------------------------- */

static void
deny (Call       *call,
      const char *by,
      const char *message)
{
  _khadim_session_audit (call->record, KHADIM_CALL_DENIED, by, message);
  conclude_failure (call, KHADIM_TOOL_ERROR_DENIED, "%s", message);
}

static void
emit_permission (Call       *call,
                 const char *event_type,
                 const char *decision)
{
  JsonObject *metadata = json_object_new ();

  json_object_set_string_member (metadata, "id", call->record->id);
  json_object_set_string_member (metadata, "tool", call->record->tool);
  if (decision != NULL)
    json_object_set_string_member (metadata, "decision", decision);
  else
    {
      json_object_set_member (metadata, "args", json_node_copy (call->record->args));
      json_object_set_int_member (metadata, "risk", call->info->risk);
    }
  _khadim_session_emit (call->session, KHADIM_CHANNEL_CONTROL, event_type, call->record->title,
                        khadim_json_object (metadata));
}

static void
ask_permission (Call *call)
{
  static const char *const names[] = { "allow", "deny", NULL };
  g_autoptr(JsonNode) options = make_options (names);
  g_autoptr(JsonNode) answer = NULL;
  g_autofree char *text = g_strdup_printf ("May “%s” be done (%s)?", call->record->title,
                                           call->record->tool);
  KhadimQuestion question = { .kind = "permission", .question = text, .options = options };
  gboolean first = call->record->state != KHADIM_CALL_APPROVAL_REQUIRED;

  answer = _khadim_session_ask (call->session, call->record, KHADIM_CALL_APPROVAL_REQUIRED,
                                &question);
  if (answer == NULL)
    {
      if (first)
        emit_permission (call, "permission_required", NULL);
      park (call);
      return;
    }
  emit_permission (call, "permission_decided", json_node_get_string (answer));
  if (strcmp (json_node_get_string (answer), "allow") != 0)
    {
      deny (call, "person", "a person refused it");
      return;
    }
  _khadim_session_audit (call->record, KHADIM_CALL_APPROVED, "person", NULL);
  execute (call);
}

static void
check_permission (Call *call)
{
  KhadimSession *self = call->session;
  const char *rule = NULL, *own_rule = NULL;
  KhadimPermission person, document;
  g_autofree char *message = NULL;

  person = khadim_permissions_decide (khadim_engine_get_permissions (self->engine), call->info,
                                      &rule);
  document = khadim_permissions_decide (self->permissions, call->info, &own_rule);
  if (document > person)
    rule = own_rule;

  switch (MAX (person, document))
    {
    case KHADIM_PERMISSION_ALLOW:
      execute (call);
      break;

    case KHADIM_PERMISSION_ASK:
      if (khadim_engine_get_can_ask (self->engine))
        ask_permission (call);
      else
        deny (call, "gate", "it needs a permission, and there is nobody to ask");
      break;

    case KHADIM_PERMISSION_DENY:
    default:
      message = rule != NULL ? g_strdup_printf ("the rule “%s” forbids it", rule)
                             : g_strdup ("only tools that change nothing are allowed here");
      deny (call, "gate", message);
      break;
    }
}

/* A template that gives a number stands well where a tool wants a text. */
static void
make_texts (JsonObject   *args,
            KhadimSchema *schema)
{
  JsonNode *root = khadim_schema_get_root (schema);
  JsonObject *properties = JSON_NODE_HOLDS_OBJECT (root)
                             ? khadim_json_get_object (json_node_get_object (root), "properties")
                             : NULL;
  g_autoptr(GList) names = json_object_get_members (args);

  for (GList *l = names; properties != NULL && l != NULL; l = l->next)
    {
      JsonObject *property = khadim_json_get_object (properties, l->data);
      JsonNode *value = json_object_get_member (args, l->data);
      g_autofree char *text = NULL;

      if (property == NULL || !JSON_NODE_HOLDS_VALUE (value) ||
          json_node_get_value_type (value) == G_TYPE_STRING ||
          g_strcmp0 (khadim_json_get_string (property, "type", NULL), "string") != 0)
        continue;
      text = khadim_json_to_string (value);
      json_object_set_string_member (args, l->data, text);
    }
}

static gboolean
look_up (Call          *call,
         const char    *tool,
         KhadimSchema **out_schema,
         GError       **error)
{
  KhadimToolbox *toolbox = khadim_engine_get_toolbox (call->session->engine);

  call->info = khadim_toolbox_lookup (toolbox, tool, &call->domain, out_schema, error);
  if (call->info == NULL)
    return FALSE;
  make_texts (json_node_get_object (call->args), *out_schema);

  return khadim_schema_check (*out_schema, call->args, KHADIM_SCHEMA_FLAGS_NONE, NULL, error);
}

/* A record from before the crash says how far it had come. */
static void
take_up (Call *call)
{
  KhadimToolFlags again = KHADIM_TOOL_FLAGS_READ_ONLY | KHADIM_TOOL_FLAGS_IDEMPOTENT |
                          KHADIM_TOOL_FLAGS_RECOVERS | KHADIM_TOOL_FLAGS_NOTES;

  switch (call->record->state)
    {
    case KHADIM_CALL_EXECUTING:
      call->resumed = TRUE;
      if ((call->info->flags & again) != 0)
        execute (call);
      else
        seal (call);
      break;

    case KHADIM_CALL_SEALED:
      call->resumed = TRUE;
      seal (call);
      break;

    case KHADIM_CALL_APPROVED:
      execute (call);
      break;

    case KHADIM_CALL_PENDING:
    case KHADIM_CALL_APPROVAL_REQUIRED:
    case KHADIM_CALL_COMPLETED:
    case KHADIM_CALL_FAILED:
    case KHADIM_CALL_DENIED:
    default:
      check_permission (call);
      break;
    }
}

static Call *
call_new (KhadimSession        *self,
          const KhadimCallSpec *spec,
          KhadimCallDone        done,
          gpointer              user_data)
{
  Call *call = g_new0 (Call, 1);

  g_atomic_ref_count_init (&call->ref_count);
  call->session = g_object_ref (self);
  call->args = json_node_ref (spec->args);
  call->on_sealed = spec->on_sealed;
  call->deadline_us = spec->deadline_us;
  call->deadline_scope = g_strdup (spec->deadline_scope);
  call->cancellable = g_cancellable_new ();
  call->done = done;
  call->user_data = user_data;
  call->record = g_hash_table_lookup (self->calls, spec->position);

  return call;
}

static gboolean
is_over_budget (KhadimSession *self)
{
  self->n_calls++;

  return (self->budget_steps > 0 && self->n_calls > self->budget_steps) ||
         (self->budget_deadline_us > 0 && g_get_monotonic_time () > self->budget_deadline_us);
}

static void
begin (KhadimSession        *self,
       const KhadimCallSpec *spec,
       KhadimCallDone        done,
       gpointer              user_data)
{
  Call *call = call_new (self, spec, done, user_data);
  g_autoptr(KhadimSchema) schema = NULL;
  g_autoptr(GError) error = NULL;
  KhadimCallSpec checked = *spec;
  gboolean good = look_up (call, spec->tool, &schema, &error);

  checked.args = call->args;
  if (call->record == NULL)
    call->record = _khadim_session_new_call (self, &checked, KHADIM_CALL_PENDING);
  if (good)
    take_up (call);
  else
    conclude_failure (call, KHADIM_TOOL_ERROR_TOOL, "%s", error->message);
}

/* Makes a call, or recalls what became of it before a resume. The arguments
 * are the callee's. @done runs once, perhaps before this returns. */
void
_khadim_session_call (KhadimSession        *self,
                      const KhadimCallSpec *spec,
                      KhadimCallDone        done,
                      gpointer              user_data)
{
  KhadimSignal signal = { 0 };

  if (_khadim_session_recall (self, spec->position, &signal))
    ;
  else if (self->fatal != NULL || g_cancellable_is_cancelled (self->cancellable))
    signal.kind = KHADIM_SIGNAL_STOPPED;
  else if (is_over_budget (self))
    signal.kind = KHADIM_SIGNAL_BUDGET;
  else
    {
      begin (self, spec, done, user_data);
      return;
    }

  done (self, &signal, user_data);
  _khadim_signal_clear (&signal);
}
