/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-records"

#include "config.h"

#include "engine/store/khadim-records.h"

#include "engine/base/khadim-json-node-private.h"
#include "engine/store/khadim-records-private.h"

#define FIELD_AS(Type, name, column, kind) \
  { column, KHADIM_FIELD_##kind, G_STRUCT_OFFSET (Type, name) }
#define FIELD(Type, name, kind) FIELD_AS (Type, name, #name, kind)

static const KhadimField session_fields[] = {
  FIELD (KhadimSessionRecord, id, STRING),
  FIELD (KhadimSessionRecord, parent_session_id, STRING),
  FIELD (KhadimSessionRecord, parent_call_id, STRING),
  FIELD (KhadimSessionRecord, driver, STRING),
  FIELD (KhadimSessionRecord, title, STRING),
  FIELD (KhadimSessionRecord, automation, STRING),
  FIELD (KhadimSessionRecord, document, DOCUMENT),
  FIELD (KhadimSessionRecord, assets_dir, STRING),
  FIELD (KhadimSessionRecord, work_dir, STRING),
  FIELD (KhadimSessionRecord, workspace_id, STRING),
  FIELD (KhadimSessionRecord, inputs, JSON),
  FIELD (KhadimSessionRecord, options, JSON),
  FIELD (KhadimSessionRecord, state, SESSION_STATE),
  FIELD (KhadimSessionRecord, outcome, STRING),
  FIELD (KhadimSessionRecord, error_code, STRING),
  FIELD (KhadimSessionRecord, error_message, STRING),
  FIELD (KhadimSessionRecord, output, JSON),
  FIELD (KhadimSessionRecord, owner, STRING),
  FIELD (KhadimSessionRecord, created_us, INT64),
  FIELD (KhadimSessionRecord, updated_us, INT64),
  FIELD (KhadimSessionRecord, ended_us, INT64),
};

static const KhadimField run_fields[] = {
  FIELD (KhadimRunRecord, id, STRING),
  FIELD (KhadimRunRecord, session_id, STRING),
  FIELD_AS (KhadimRunRecord, trigger, "started_by", STRING),
  FIELD (KhadimRunRecord, attempt, INT),
  FIELD (KhadimRunRecord, outcome, STRING),
  FIELD (KhadimRunRecord, started_us, INT64),
  FIELD (KhadimRunRecord, ended_us, INT64),
};

static const KhadimField tool_call_fields[] = {
  FIELD (KhadimToolCallRecord, id, STRING),
  FIELD (KhadimToolCallRecord, session_id, STRING),
  FIELD (KhadimToolCallRecord, run_id, STRING),
  FIELD (KhadimToolCallRecord, position, STRING),
  FIELD (KhadimToolCallRecord, step_id, STRING),
  FIELD (KhadimToolCallRecord, title, STRING),
  FIELD (KhadimToolCallRecord, tool, STRING),
  FIELD (KhadimToolCallRecord, args, JSON),
  FIELD (KhadimToolCallRecord, state, CALL_STATE),
  FIELD (KhadimToolCallRecord, result, JSON),
  FIELD (KhadimToolCallRecord, detail, JSON),
  FIELD (KhadimToolCallRecord, error_code, STRING),
  FIELD (KhadimToolCallRecord, error_message, STRING),
  FIELD (KhadimToolCallRecord, error_scope, STRING),
  FIELD (KhadimToolCallRecord, audit, JSON),
  FIELD (KhadimToolCallRecord, created_us, INT64),
  FIELD (KhadimToolCallRecord, started_us, INT64),
  FIELD (KhadimToolCallRecord, ended_us, INT64),
};

static const KhadimField artifact_fields[] = {
  FIELD (KhadimArtifactRecord, session_id, STRING),
  FIELD (KhadimArtifactRecord, call_id, STRING),
  FIELD (KhadimArtifactRecord, role, STRING),
  FIELD (KhadimArtifactRecord, name, STRING),
  FIELD (KhadimArtifactRecord, media_type, STRING),
  FIELD (KhadimArtifactRecord, sha256, STRING),
  FIELD (KhadimArtifactRecord, size_bytes, INT64),
  FIELD (KhadimArtifactRecord, created_us, INT64),
};

static const KhadimField command_fields[] = {
  FIELD (KhadimCommandRecord, id, INT64),
  FIELD (KhadimCommandRecord, session_id, STRING),
  FIELD (KhadimCommandRecord, kind, STRING),
  FIELD (KhadimCommandRecord, payload, JSON),
  FIELD_AS (KhadimCommandRecord, by, "by_whom", STRING),
  FIELD (KhadimCommandRecord, created_us, INT64),
  FIELD (KhadimCommandRecord, handled_us, INT64),
};

static const KhadimField automation_fields[] = {
  FIELD (KhadimAutomationRecord, name, STRING),
  FIELD (KhadimAutomationRecord, folder, STRING),
  FIELD (KhadimAutomationRecord, title, STRING),
  FIELD (KhadimAutomationRecord, updated_us, INT64),
  FIELD (KhadimAutomationRecord, last_run_us, INT64),
  FIELD (KhadimAutomationRecord, last_outcome, STRING),
};

const KhadimRecordShape _khadim_session_shape = {
  .table = "sessions",
  .fields = session_fields,
  .n_fields = G_N_ELEMENTS (session_fields),
  .size = sizeof (KhadimSessionRecord),
};

const KhadimRecordShape _khadim_run_shape = {
  .table = "runs",
  .fields = run_fields,
  .n_fields = G_N_ELEMENTS (run_fields),
  .size = sizeof (KhadimRunRecord),
};

const KhadimRecordShape _khadim_tool_call_shape = {
  .table = "tool_calls",
  .fields = tool_call_fields,
  .n_fields = G_N_ELEMENTS (tool_call_fields),
  .size = sizeof (KhadimToolCallRecord),
};

const KhadimRecordShape _khadim_artifact_shape = {
  .table = "artifacts",
  .fields = artifact_fields,
  .n_fields = G_N_ELEMENTS (artifact_fields),
  .size = sizeof (KhadimArtifactRecord),
};

const KhadimRecordShape _khadim_command_shape = {
  .table = "commands",
  .fields = command_fields,
  .n_fields = G_N_ELEMENTS (command_fields),
  .size = sizeof (KhadimCommandRecord),
};

const KhadimRecordShape _khadim_automation_shape = {
  .table = "automations",
  .fields = automation_fields,
  .n_fields = G_N_ELEMENTS (automation_fields),
  .size = sizeof (KhadimAutomationRecord),
};

static const char *const session_states[] = {
  [KHADIM_SESSION_READY] = "READY",
  [KHADIM_SESSION_WORKING] = "WORKING",
  [KHADIM_SESSION_PAUSED] = "PAUSED",
};

static const char *const call_states[] = {
  [KHADIM_CALL_PENDING] = "PENDING",
  [KHADIM_CALL_APPROVAL_REQUIRED] = "APPROVAL_REQUIRED",
  [KHADIM_CALL_APPROVED] = "APPROVED",
  [KHADIM_CALL_EXECUTING] = "EXECUTING",
  [KHADIM_CALL_COMPLETED] = "COMPLETED",
  [KHADIM_CALL_FAILED] = "FAILED",
  [KHADIM_CALL_DENIED] = "DENIED",
  [KHADIM_CALL_SEALED] = "SEALED",
};

static gboolean
is_string (const KhadimField *field)
{
  return field->kind == KHADIM_FIELD_STRING || field->kind == KHADIM_FIELD_DOCUMENT;
}

/*< private >
 * _khadim_record_new:
 * @shape: a kind of record
 *
 * Returns: (transfer full): a record with nothing set
 */
gpointer
_khadim_record_new (const KhadimRecordShape *shape)
{
  return g_malloc0 (shape->size);
}

/*< private >
 * _khadim_record_copy:
 * @shape: the kind of @record
 * @record: (nullable): a record
 *
 * Returns: (nullable) (transfer full): a copy that shares nothing changeable
 */
gpointer
_khadim_record_copy (const KhadimRecordShape *shape,
                     gconstpointer            record)
{
  gpointer copy;

  if (record == NULL)
    return NULL;

  copy = g_memdup2 (record, shape->size);
  for (guint i = 0; i < shape->n_fields; i++)
    {
      const KhadimField *field = &shape->fields[i];

      if (is_string (field))
        {
          char **text = KHADIM_FIELD_AT (char *, copy, field);

          *text = g_strdup (*text);
        }
      else if (field->kind == KHADIM_FIELD_JSON)
        {
          JsonNode **node = KHADIM_FIELD_AT (JsonNode *, copy, field);

          *node = _khadim_json_node_hold (*node);
        }
    }

  return copy;
}

/*< private >
 * _khadim_record_free:
 * @shape: the kind of @record
 * @record: (nullable) (transfer full): a record
 */
void
_khadim_record_free (const KhadimRecordShape *shape,
                     gpointer                 record)
{
  if (record == NULL)
    return;

  for (guint i = 0; i < shape->n_fields; i++)
    {
      const KhadimField *field = &shape->fields[i];

      if (is_string (field))
        g_free (*KHADIM_FIELD_AT (char *, record, field));
      else if (field->kind == KHADIM_FIELD_JSON)
        g_clear_pointer (KHADIM_FIELD_AT (JsonNode *, record, field), json_node_unref);
    }
  g_free (record);
}

/* All records have the same functions: new (nothing set), copy (%NULL gives
 * %NULL; values that are not sealed are copied too), free (takes %NULL). Any
 * thread; a record belongs to one thread at a time. */
#define DEFINE_RECORD(Type, prefix, shape) \
  Type * \
  prefix##_new (void) \
  { \
    return _khadim_record_new (&shape); \
  } \
  Type * \
  prefix##_copy (const Type *self) \
  { \
    return _khadim_record_copy (&shape, self); \
  } \
  void \
  prefix##_free (Type *self) \
  { \
    _khadim_record_free (&shape, self); \
  } \
  G_DEFINE_BOXED_TYPE (Type, prefix, prefix##_copy, prefix##_free)

DEFINE_RECORD (KhadimSessionRecord, khadim_session_record, _khadim_session_shape)
DEFINE_RECORD (KhadimRunRecord, khadim_run_record, _khadim_run_shape)
DEFINE_RECORD (KhadimToolCallRecord, khadim_tool_call_record, _khadim_tool_call_shape)
DEFINE_RECORD (KhadimArtifactRecord, khadim_artifact_record, _khadim_artifact_shape)
DEFINE_RECORD (KhadimCommandRecord, khadim_command_record, _khadim_command_shape)
DEFINE_RECORD (KhadimAutomationRecord, khadim_automation_record, _khadim_automation_shape)

static gboolean
find_name (const char *const *names,
           guint              n_names,
           const char        *text,
           guint             *out_index)
{
  for (guint i = 0; i < n_names; i++)
    {
      if (g_str_equal (names[i], text))
        {
          *out_index = i;
          return TRUE;
        }
    }

  return FALSE;
}

/**
 * khadim_session_state_to_string:
 * @self: a state
 *
 * The state as stores and `state_changed` events write it, such as `READY`.
 * Any thread.
 *
 * Returns: (transfer none): a static string
 */
const char *
khadim_session_state_to_string (KhadimSessionState self)
{
  g_return_val_if_fail ((guint) self < G_N_ELEMENTS (session_states), "READY");

  return session_states[self];
}

/**
 * khadim_call_state_to_string:
 * @self: a state
 *
 * The state as stores write it, such as `EXECUTING`. Any thread.
 *
 * Returns: (transfer none): a static string
 */
const char *
khadim_call_state_to_string (KhadimCallState self)
{
  g_return_val_if_fail ((guint) self < G_N_ELEMENTS (call_states), "PENDING");

  return call_states[self];
}

/**
 * khadim_call_state_from_string:
 * @text: a state as stores write it
 * @out_state: (out): where to put the state; untouched on failure
 *
 * The reverse of khadim_call_state_to_string(). Any thread.
 *
 * Returns: whether @text names a state
 */
gboolean
khadim_call_state_from_string (const char      *text,
                               KhadimCallState *out_state)
{
  guint index;

  g_return_val_if_fail (text != NULL, FALSE);
  g_return_val_if_fail (out_state != NULL, FALSE);

  if (!find_name (call_states, G_N_ELEMENTS (call_states), text, &index))
    return FALSE;
  *out_state = (KhadimCallState) index;

  return TRUE;
}

/**
 * khadim_session_state_from_string:
 * @text: a state as stores write it
 * @out_state: (out): where to put the state; untouched on failure
 *
 * The reverse of khadim_session_state_to_string(). Any thread.
 *
 * Returns: whether @text names a state
 */
gboolean
khadim_session_state_from_string (const char         *text,
                                  KhadimSessionState *out_state)
{
  guint index;

  g_return_val_if_fail (text != NULL, FALSE);
  g_return_val_if_fail (out_state != NULL, FALSE);

  if (!find_name (session_states, G_N_ELEMENTS (session_states), text, &index))
    return FALSE;
  *out_state = (KhadimSessionState) index;

  return TRUE;
}
