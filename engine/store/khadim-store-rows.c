/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-store-rows"

#include "config.h"

#include "engine/store/khadim-store-rows-private.h"

#include <unistd.h>

#include <glib/gstdio.h>

#include "engine/store/khadim-artifact-folder-private.h"
#include "engine/store/khadim-owner-lock-private.h"

#define N_OP_KINDS (KHADIM_STORE_OP_COMMAND_HANDLED + 1)

/* KhadimStoreRows: writes batches as rows, and minds whose they are. Used inside
 * of transactions by the thread that writes. */
struct _KhadimStoreRows
{
  /* Owned */
  char *owner_id;
  char *engines_folder;
  char *artifacts_folder;
  char *put_sql[N_OP_KINDS];      /* NULL for what is no record */

  /* Borrowed */
  KhadimDb *db;
};

/* What is known about the session that a batch writes. */
typedef struct
{
  char *session_id;
  gint64 last_seq;                /* -1 if not looked up yet */
} SessionState;

static void
session_state_clear (SessionState *self)
{
  g_clear_pointer (&self->session_id, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SessionState, session_state_clear)

/* INSERT … ON CONFLICT DO UPDATE of all columns but those in @kept. The
 * parameters have the numbers of the fields, from 1. */
static char *
make_put_sql (const KhadimRecordShape *shape,
              const char              *key,
              const char *const       *kept,
              const char              *condition)
{
  g_autoptr(GString) sql = g_string_new (NULL);
  const char *comma = "";

  g_string_append_printf (sql, "INSERT INTO %s (", shape->table);
  for (guint i = 0; i < shape->n_fields; i++)
    if (shape->fields[i].kind != KHADIM_FIELD_DOCUMENT)
      g_string_append_printf (sql, "%s%s", i > 0 ? ", " : "", shape->fields[i].column);
  g_string_append (sql, ") VALUES (");
  for (guint i = 0; i < shape->n_fields; i++)
    if (shape->fields[i].kind != KHADIM_FIELD_DOCUMENT)
      g_string_append_printf (sql, "%s?%u", i > 0 ? ", " : "", i + 1);
  g_string_append_c (sql, ')');
  if (key == NULL)
    return g_string_free (g_steal_pointer (&sql), FALSE);

  g_string_append_printf (sql, " ON CONFLICT (%s) DO UPDATE SET ", key);
  for (guint i = 0; i < shape->n_fields; i++)
    {
      const char *column = shape->fields[i].column;

      if (shape->fields[i].kind == KHADIM_FIELD_DOCUMENT || g_strv_contains (kept, column))
        continue;
      g_string_append_printf (sql, "%s%s = excluded.%s", comma, column, column);
      comma = ", ";
    }
  if (condition != NULL)
    g_string_append_printf (sql, " WHERE %s", condition);

  return g_string_free (g_steal_pointer (&sql), FALSE);
}

/* A row never moves to another session. */
static void
make_all_sql (KhadimStoreRows *self)
{
  static const char *const session_kept[] = { "id", "owner", NULL };
  static const char *const run_kept[] = { "id", "session_id", NULL };
  static const char *const automation_kept[] = { "name", NULL };

  self->put_sql[KHADIM_STORE_OP_SESSION] =
    make_put_sql (&_khadim_session_shape, "id", session_kept, NULL);
  self->put_sql[KHADIM_STORE_OP_RUN] =
    make_put_sql (&_khadim_run_shape, "id", run_kept, "session_id = excluded.session_id");
  self->put_sql[KHADIM_STORE_OP_CALL] =
    make_put_sql (&_khadim_tool_call_shape, "id", run_kept, "session_id = excluded.session_id");
  self->put_sql[KHADIM_STORE_OP_ARTIFACT] =
    make_put_sql (&_khadim_artifact_shape, NULL, NULL, NULL);
  self->put_sql[KHADIM_STORE_OP_AUTOMATION] =
    make_put_sql (&_khadim_automation_shape, "name", automation_kept, NULL);
  self->put_sql[KHADIM_STORE_OP_COMMAND] =
    make_put_sql (&_khadim_command_shape, NULL, NULL, NULL);
}

/*< private >
 * _khadim_store_rows_new:
 * @db: the connection, which outlives the rows
 * @owner_id: the name of this engine
 * @engines_folder: where the locks of all engines lie
 * @artifacts_folder: where artifacts lie
 *
 * Returns: (transfer full): the rows, to be used by one thread
 */
KhadimStoreRows *
_khadim_store_rows_new (KhadimDb   *db,
                        const char *owner_id,
                        const char *engines_folder,
                        const char *artifacts_folder)
{
  KhadimStoreRows *self = g_new0 (KhadimStoreRows, 1);

  self->db = db;
  self->owner_id = g_strdup (owner_id);
  self->engines_folder = g_strdup (engines_folder);
  self->artifacts_folder = g_strdup (artifacts_folder);
  make_all_sql (self);

  return self;
}

/*< private >
 * _khadim_store_rows_free:
 * @self: (nullable) (transfer full): the rows
 */
void
_khadim_store_rows_free (KhadimStoreRows *self)
{
  if (self == NULL)
    return;

  for (guint i = 0; i < N_OP_KINDS; i++)
    g_free (self->put_sql[i]);
  g_free (self->owner_id);
  g_free (self->engines_folder);
  g_free (self->artifacts_folder);
  g_free (self);
}

/* Owners --------------------------------------------------------------------*/

static gboolean
set_not_owner (GError     **error,
               const char  *session_id,
               gboolean     live)
{
  g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_NOT_OWNER,
               live ? "Another running process has the session %s"
                    : "The session %s is of a process that has ended: claim it first",
               session_id);

  return FALSE;
}

static gboolean
set_no_session (GError     **error,
                const char  *session_id)
{
  g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_NOT_FOUND,
               "There is no session %s", session_id);

  return FALSE;
}

static gboolean
look_up_owner (KhadimStoreRows  *self,
               const char       *session_id,
               gboolean         *out_found,
               char            **out_owner,
               GError          **error)
{
  g_autoptr(KhadimStatement) statement =
    _khadim_db_prepare (self->db, "SELECT owner FROM sessions WHERE id = ?1", error);

  if (statement == NULL)
    return FALSE;

  _khadim_db_bind_text (statement, 1, session_id);
  if (!_khadim_db_next (self->db, statement, out_found, error))
    return FALSE;
  *out_owner = *out_found ? _khadim_db_column_text (statement, 0) : NULL;

  return TRUE;
}

static gboolean
set_owner (KhadimStoreRows  *self,
           const char       *session_id,
           const char       *owner_id,
           GError          **error)
{
  g_autoptr(KhadimStatement) statement =
    _khadim_db_prepare (self->db, "UPDATE sessions SET owner = ?2 WHERE id = ?1", error);

  if (statement == NULL)
    return FALSE;

  _khadim_db_bind_text (statement, 1, session_id);
  _khadim_db_bind_text (statement, 2, owner_id);

  return _khadim_db_run (self->db, statement, error);
}

/*< private >
 * _khadim_store_rows_claim:
 * @self: the rows
 * @session_id: a session
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Takes a session over inside of a transaction, whose lock makes looking and
 * taking one step for all processes.
 *
 * Returns: whether this engine owns it
 */
gboolean
_khadim_store_rows_claim (KhadimStoreRows  *self,
                          const char       *session_id,
                          GError          **error)
{
  g_autofree char *owner = NULL;
  gboolean found;

  if (!look_up_owner (self, session_id, &found, &owner, error))
    return FALSE;
  if (!found)
    return set_no_session (error, session_id);
  if (g_strcmp0 (owner, self->owner_id) == 0)
    return TRUE;
  if (_khadim_owner_lock_is_live (self->engines_folder, owner))
    return set_not_owner (error, session_id, TRUE);

  return set_owner (self, session_id, self->owner_id, error);
}

/*< private >
 * _khadim_store_rows_release:
 * @self: the rows
 * @session_id: a session
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Gives a session up inside of a transaction.
 *
 * Returns: whether it belongs to nobody
 */
gboolean
_khadim_store_rows_release (KhadimStoreRows  *self,
                            const char       *session_id,
                            GError          **error)
{
  g_autofree char *owner = NULL;
  gboolean found;

  if (!look_up_owner (self, session_id, &found, &owner, error))
    return FALSE;
  if (!found)
    return set_no_session (error, session_id);
  if (owner == NULL)
    return TRUE;
  if (g_strcmp0 (owner, self->owner_id) != 0)
    return set_not_owner (error, session_id,
                          _khadim_owner_lock_is_live (self->engines_folder, owner));

  return set_owner (self, session_id, NULL, error);
}

/* A session that belongs to nobody becomes that of its writer; one of an engine
 * that has ended has to be claimed, as its open calls have to be looked at. */
static gboolean
check_owner (KhadimStoreRows  *self,
             SessionState     *state,
             const char       *session_id,
             gboolean         *out_found,
             GError          **error)
{
  g_autofree char *owner = NULL;

  *out_found = TRUE;
  if (g_strcmp0 (state->session_id, session_id) == 0)
    return TRUE;

  if (!look_up_owner (self, session_id, out_found, &owner, error))
    return FALSE;
  if (owner != NULL && !g_str_equal (owner, self->owner_id))
    return set_not_owner (error, session_id,
                          _khadim_owner_lock_is_live (self->engines_folder, owner));
  if (*out_found && owner == NULL && !set_owner (self, session_id, self->owner_id, error))
    return FALSE;

  if (*out_found)
    {
      session_state_clear (state);
      state->session_id = g_strdup (session_id);
      state->last_seq = -1;
    }

  return TRUE;
}

static gboolean
need_owner (KhadimStoreRows  *self,
            SessionState     *state,
            const char       *session_id,
            GError          **error)
{
  gboolean found;

  if (!check_owner (self, state, session_id, &found, error))
    return FALSE;

  return found || set_no_session (error, session_id);
}

/* Kinds of rows ----------------------------------------------------------------------*/

static gboolean
put_record (KhadimStoreRows      *self,
            const KhadimStoreOp  *op,
            GError              **error)
{
  g_autoptr(KhadimStatement) statement =
    _khadim_db_prepare (self->db, self->put_sql[op->kind], error);

  if (statement == NULL)
    return FALSE;

  _khadim_db_bind_record (statement, op->shape, op->record);
  if (!_khadim_db_run (self->db, statement, error))
    return FALSE;
  if (sqlite3_changes (_khadim_db_get_handle (self->db)) == 0)
    {
      g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_NOT_OWNER,
                   "A row of “%s” belongs to another session", op->shape->table);
      return FALSE;
    }

  return TRUE;
}

static gboolean
put_document (KhadimStoreRows            *self,
              const KhadimSessionRecord  *record,
              GError                    **error)
{
  g_autoptr(KhadimStatement) statement =
    _khadim_db_prepare (self->db,
                        "INSERT INTO documents (session_id, document) VALUES (?1, ?2)"
                        " ON CONFLICT (session_id) DO UPDATE SET document = excluded.document"
                        " WHERE document <> excluded.document",
                        error);

  if (statement == NULL)
    return FALSE;

  _khadim_db_bind_text (statement, 1, record->id);
  _khadim_db_bind_text (statement, 2, record->document);

  return _khadim_db_run (self->db, statement, error);
}

static gboolean
put_session (KhadimStoreRows      *self,
             SessionState         *state,
             const KhadimStoreOp  *op,
             GError              **error)
{
  const KhadimSessionRecord *record = op->record;
  gboolean found;

  if (!check_owner (self, state, record->id, &found, error)
      || !put_record (self, op, error))
    return FALSE;
  if (!found && !set_owner (self, record->id, self->owner_id, error))
    return FALSE;

  return record->document == NULL || put_document (self, record, error);
}

static gboolean
look_up_last_seq (KhadimStoreRows  *self,
                  const char       *session_id,
                  gint64           *out_seq,
                  GError          **error)
{
  g_autoptr(KhadimStatement) statement =
    _khadim_db_prepare (self->db, "SELECT max(seq) FROM events WHERE session_id = ?1", error);
  gboolean row;

  if (statement == NULL)
    return FALSE;

  _khadim_db_bind_text (statement, 1, session_id);
  if (!_khadim_db_next (self->db, statement, &row, error))
    return FALSE;
  *out_seq = sqlite3_column_int64 (statement, 0);

  return TRUE;
}

static gboolean
check_seq (KhadimStoreRows  *self,
           SessionState     *state,
           KhadimEvent      *event,
           GError          **error)
{
  gint64 seq = khadim_event_get_seq (event);

  if (state->last_seq < 0
      && !look_up_last_seq (self, state->session_id, &state->last_seq, error))
    return FALSE;
  if (seq != state->last_seq + 1)
    {
      g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_FAILED,
                   "Event %" G_GINT64_FORMAT " of session %s cannot follow %" G_GINT64_FORMAT,
                   seq, state->session_id, state->last_seq);
      return FALSE;
    }
  state->last_seq = seq;

  return TRUE;
}

static gboolean
add_event (KhadimStoreRows  *self,
           SessionState     *state,
           KhadimEvent      *event,
           GError          **error)
{
  g_autoptr(KhadimStatement) statement = NULL;

  if (!check_seq (self, state, event, error))
    return FALSE;

  statement = _khadim_db_prepare (self->db,
                                  "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                                  error);
  if (statement == NULL)
    return FALSE;

  _khadim_db_bind_text (statement, 1, khadim_event_get_session_id (event));
  sqlite3_bind_int64 (statement, 2, khadim_event_get_seq (event));
  sqlite3_bind_int64 (statement, 3, khadim_event_get_time_us (event));
  _khadim_db_bind_text (statement, 4, khadim_channel_to_string (khadim_event_get_channel (event)));
  _khadim_db_bind_text (statement, 5, khadim_event_get_event_type (event));
  _khadim_db_bind_text (statement, 6, khadim_event_get_content (event));
  _khadim_db_bind_json (statement, 7, khadim_event_get_metadata (event));
  _khadim_db_bind_text (statement, 8, khadim_event_get_run_id (event));
  _khadim_db_bind_text (statement, 9, khadim_event_get_workspace_id (event));

  return _khadim_db_run (self->db, statement, error);
}

/* Under the write lock nobody removes contents, so that what is there stays. */
static gboolean
add_artifact (KhadimStoreRows      *self,
              const KhadimStoreOp  *op,
              GError              **error)
{
  const KhadimArtifactRecord *record = op->record;
  g_autofree char *path = _khadim_artifact_path (self->artifacts_folder, record->sha256);
  gboolean made;

  if (g_access (path, F_OK) != 0)
    {
      if (op->bytes == NULL)
        {
          g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_NOT_FOUND,
                       "There is no artifact %s", record->sha256);
          return FALSE;
        }
      if (!_khadim_artifact_write (self->artifacts_folder, self->owner_id, record->sha256,
                                   op->bytes, TRUE, &made, error))
        return FALSE;
    }

  return put_record (self, op, error);
}

static gboolean
add_command (KhadimStoreRows      *self,
             const KhadimStoreOp  *op,
             GError              **error)
{
  const KhadimCommandRecord *record = op->record;
  g_autoptr(KhadimStatement) statement =
    _khadim_db_prepare (self->db, self->put_sql[op->kind], error);
  g_autofree char *owner = NULL;
  gboolean found;

  if (statement == NULL || !look_up_owner (self, record->session_id, &found, &owner, error))
    return FALSE;
  if (!found)
    return set_no_session (error, record->session_id);

  _khadim_db_bind_record (statement, op->shape, op->record);
  /* The store gives the number. */
  sqlite3_bind_null (statement, 1);

  return _khadim_db_run (self->db, statement, error);
}

static gboolean
look_up_command (KhadimStoreRows  *self,
                 gint64            command_id,
                 char            **out_session_id,
                 GError          **error)
{
  g_autoptr(KhadimStatement) statement =
    _khadim_db_prepare (self->db, "SELECT session_id FROM commands WHERE id = ?1", error);
  gboolean row;

  if (statement == NULL)
    return FALSE;

  sqlite3_bind_int64 (statement, 1, command_id);
  if (!_khadim_db_next (self->db, statement, &row, error))
    return FALSE;
  if (!row)
    {
      g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_NOT_FOUND,
                   "There is no command %" G_GINT64_FORMAT, command_id);
      return FALSE;
    }
  *out_session_id = _khadim_db_column_text (statement, 0);

  return TRUE;
}

static gboolean
mark_handled (KhadimStoreRows      *self,
              SessionState         *state,
              const KhadimStoreOp  *op,
              GError              **error)
{
  g_autoptr(KhadimStatement) statement =
    _khadim_db_prepare (self->db, "UPDATE commands SET handled_us = ?2 WHERE id = ?1", error);
  g_autofree char *session_id = NULL;

  if (statement == NULL
      || !look_up_command (self, op->command_id, &session_id, error)
      || !need_owner (self, state, session_id, error))
    return FALSE;

  sqlite3_bind_int64 (statement, 1, op->command_id);
  sqlite3_bind_int64 (statement, 2, op->time_us);

  return _khadim_db_run (self->db, statement, error);
}

static gboolean
apply_op (KhadimStoreRows      *self,
          SessionState         *state,
          const KhadimStoreOp  *op,
          GError              **error)
{
  const KhadimRunRecord *run = op->record;
  const KhadimToolCallRecord *call = op->record;
  const KhadimArtifactRecord *artifact = op->record;

  switch (op->kind)
    {
    case KHADIM_STORE_OP_SESSION:
      return put_session (self, state, op, error);
    case KHADIM_STORE_OP_RUN:
      return need_owner (self, state, run->session_id, error) && put_record (self, op, error);
    case KHADIM_STORE_OP_CALL:
      return need_owner (self, state, call->session_id, error) && put_record (self, op, error);
    case KHADIM_STORE_OP_EVENT:
      return need_owner (self, state, khadim_event_get_session_id (op->event), error)
             && add_event (self, state, op->event, error);
    case KHADIM_STORE_OP_ARTIFACT:
      return need_owner (self, state, artifact->session_id, error)
             && add_artifact (self, op, error);
    case KHADIM_STORE_OP_AUTOMATION:
      return put_record (self, op, error);
    case KHADIM_STORE_OP_COMMAND:
      return add_command (self, op, error);
    case KHADIM_STORE_OP_COMMAND_HANDLED:
      return mark_handled (self, state, op, error);
    default:
      g_assert_not_reached ();
    }
}

/*< private >
 * _khadim_store_rows_apply:
 * @self: the rows
 * @batch: what to write
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Writes a batch inside of a transaction.
 *
 * Returns: whether all of it could be written
 */
gboolean
_khadim_store_rows_apply (KhadimStoreRows   *self,
                          KhadimStoreBatch  *batch,
                          GError           **error)
{
  GPtrArray *ops = _khadim_store_batch_get_ops (batch);
  g_auto(SessionState) state = { 0 };

  for (guint i = 0; i < ops->len; i++)
    {
      if (!apply_op (self, &state, g_ptr_array_index (ops, i), error))
        return FALSE;
    }

  return TRUE;
}
