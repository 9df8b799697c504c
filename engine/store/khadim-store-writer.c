/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-store-writer"

#include "config.h"

#include "engine/store/khadim-store-writer-private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <glib/gstdio.h>

#include "engine/base/khadim-fd-private.h"
#include "engine/store/khadim-artifact-folder-private.h"
#include "engine/store/khadim-owner-lock-private.h"

#define N_OP_KINDS (KHADIM_STORE_OP_COMMAND_HANDLED + 1)

/* KhadimStoreWriter: turns jobs into transactions. */
struct _KhadimStoreWriter
{
  KhadimFd marker_fd;
  KhadimDurability synchronous;   /* what the connection is set to */

  /* Owned */
  KhadimDb *db;
  char *owner_id;
  char *engines_folder;
  char *artifacts_folder;
  char *put_sql[N_OP_KINDS];      /* NULL for what is no record */
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

/*< private >
 * _khadim_store_job_new:
 * @kind: what is to be done
 *
 * Returns: (transfer full): a job
 */
KhadimStoreJob *
_khadim_store_job_new (KhadimStoreJobKind kind)
{
  KhadimStoreJob *self = g_new0 (KhadimStoreJob, 1);

  self->kind = kind;
  self->made_sums = g_ptr_array_new_with_free_func (g_free);

  return self;
}

/*< private >
 * _khadim_store_job_free:
 * @self: (nullable) (transfer full): a job
 */
void
_khadim_store_job_free (KhadimStoreJob *self)
{
  if (self == NULL)
    return;

  g_clear_pointer (&self->batch, khadim_store_batch_free);
  g_free (self->session_id);
  g_clear_object (&self->task);
  g_ptr_array_unref (self->made_sums);
  g_clear_error (&self->error);
  g_free (self);
}

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
make_all_sql (KhadimStoreWriter *self)
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
 * _khadim_store_writer_new:
 * @db: (transfer full): the connection
 * @owner_id: the name of this engine
 * @engines_folder: where the locks of all engines lie
 * @artifacts_folder: where artifacts lie
 * @marker_path: a file that is touched after each commit
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Returns: (transfer full): a writer, to be used by one thread
 */
KhadimStoreWriter *
_khadim_store_writer_new (KhadimDb    *db,
                          const char  *owner_id,
                          const char  *engines_folder,
                          const char  *artifacts_folder,
                          const char  *marker_path,
                          GError     **error)
{
  g_autoptr(KhadimStoreWriter) self = g_new0 (KhadimStoreWriter, 1);

  self->db = db;
  self->synchronous = KHADIM_DURABILITY_PROCESS;
  self->owner_id = g_strdup (owner_id);
  self->engines_folder = g_strdup (engines_folder);
  self->artifacts_folder = g_strdup (artifacts_folder);
  make_all_sql (self);

  self->marker_fd = open (marker_path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (self->marker_fd < 0)
    {
      int errsv = errno;

      g_set_error (error, KHADIM_STORE_ERROR,
                   errsv == ENOSPC ? KHADIM_STORE_ERROR_FULL : KHADIM_STORE_ERROR_FAILED,
                   "Opening “%s”: %s", marker_path, g_strerror (errsv));
      return NULL;
    }

  return g_steal_pointer (&self);
}

/*< private >
 * _khadim_store_writer_free:
 * @self: (nullable) (transfer full): a writer
 */
void
_khadim_store_writer_free (KhadimStoreWriter *self)
{
  if (self == NULL)
    return;

  if (self->marker_fd >= 0)
    close (self->marker_fd);
  g_clear_pointer (&self->db, _khadim_db_free);
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
look_up_owner (KhadimStoreWriter  *self,
               const char         *session_id,
               gboolean           *out_found,
               char              **out_owner,
               GError            **error)
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
set_owner (KhadimStoreWriter  *self,
           const char         *session_id,
           const char         *owner_id,
           GError            **error)
{
  g_autoptr(KhadimStatement) statement =
    _khadim_db_prepare (self->db, "UPDATE sessions SET owner = ?2 WHERE id = ?1", error);

  if (statement == NULL)
    return FALSE;

  _khadim_db_bind_text (statement, 1, session_id);
  _khadim_db_bind_text (statement, 2, owner_id);

  return _khadim_db_run (self->db, statement, error);
}

/* The write lock makes looking and taking one step for all processes. */
static gboolean
claim (KhadimStoreWriter  *self,
       const char         *session_id,
       GError            **error)
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

static gboolean
release (KhadimStoreWriter  *self,
         const char         *session_id,
         GError            **error)
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
check_owner (KhadimStoreWriter  *self,
             SessionState       *state,
             const char         *session_id,
             gboolean           *out_found,
             GError            **error)
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
need_owner (KhadimStoreWriter  *self,
            SessionState       *state,
            const char         *session_id,
            GError            **error)
{
  gboolean found;

  if (!check_owner (self, state, session_id, &found, error))
    return FALSE;

  return found || set_no_session (error, session_id);
}

/* Rows ----------------------------------------------------------------------*/

static gboolean
put_record (KhadimStoreWriter    *self,
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
put_document (KhadimStoreWriter          *self,
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
put_session (KhadimStoreWriter    *self,
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
look_up_last_seq (KhadimStoreWriter  *self,
                  const char         *session_id,
                  gint64             *out_seq,
                  GError            **error)
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
check_seq (KhadimStoreWriter  *self,
           SessionState       *state,
           KhadimEvent        *event,
           GError            **error)
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
add_event (KhadimStoreWriter  *self,
           SessionState       *state,
           KhadimEvent        *event,
           GError            **error)
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
add_artifact (KhadimStoreWriter    *self,
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
add_command (KhadimStoreWriter    *self,
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
look_up_command (KhadimStoreWriter  *self,
                 gint64              command_id,
                 char              **out_session_id,
                 GError            **error)
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
mark_handled (KhadimStoreWriter    *self,
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
apply_op (KhadimStoreWriter    *self,
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

static gboolean
apply_batch (KhadimStoreWriter  *self,
             KhadimStoreBatch   *batch,
             GError            **error)
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

static gboolean
apply_job (KhadimStoreWriter  *self,
           KhadimStoreJob     *job,
           GError            **error)
{
  switch (job->kind)
    {
    case KHADIM_STORE_JOB_COMMIT:
      return apply_batch (self, job->batch, error);
    case KHADIM_STORE_JOB_CLAIM:
      return claim (self, job->session_id, error);
    case KHADIM_STORE_JOB_RELEASE:
      return release (self, job->session_id, error);
    default:
      g_assert_not_reached ();
    }
}

/* Contents ------------------------------------------------------------------*/

static gboolean
prepare_artifact (KhadimStoreWriter  *self,
                  KhadimStoreJob     *job,
                  KhadimStoreOp      *op,
                  GError            **error)
{
  KhadimArtifactRecord *record = op->record;
  g_autofree char *sum = NULL;
  gboolean made;

  if (op->bytes != NULL)
    {
      sum = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, op->bytes);
      record->size_bytes = (gint64) g_bytes_get_size (op->bytes);
      if (record->sha256 == NULL)
        record->sha256 = g_strdup (sum);
    }

  if (!_khadim_artifact_is_sum (record->sha256)
      || (sum != NULL && !g_str_equal (sum, record->sha256)))
    {
      g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_FAILED,
                   "“%s” is not the sum of the artifact “%s”", record->sha256,
                   record->name != NULL ? record->name : "");
      return FALSE;
    }
  if (op->bytes == NULL)
    return TRUE;

  if (!_khadim_artifact_write (self->artifacts_folder, self->owner_id, sum, op->bytes,
                               job->durability == KHADIM_DURABILITY_MACHINE, &made, error))
    return FALSE;
  if (made)
    g_ptr_array_add (job->made_sums, g_steal_pointer (&sum));

  return TRUE;
}

/* Before the transaction: flushing large files must not hold the write lock. */
static void
prepare_contents (KhadimStoreWriter *self,
                  KhadimStoreJob    *job)
{
  GPtrArray *ops;

  if (job->kind != KHADIM_STORE_JOB_COMMIT)
    return;

  ops = _khadim_store_batch_get_ops (job->batch);
  for (guint i = 0; i < ops->len; i++)
    {
      KhadimStoreOp *op = g_ptr_array_index (ops, i);

      if (op->kind == KHADIM_STORE_OP_ARTIFACT
          && !prepare_artifact (self, job, op, &job->error))
        return;
    }
}

static void
remove_if_unused (KhadimStoreWriter *self,
                  const char        *sum)
{
  g_autoptr(KhadimStatement) statement =
    _khadim_db_prepare (self->db, "SELECT 1 FROM artifacts WHERE sha256 = ?1", NULL);
  g_autofree char *path = _khadim_artifact_path (self->artifacts_folder, sum);
  gboolean row;

  if (statement == NULL)
    return;

  _khadim_db_bind_text (statement, 1, sum);
  if (_khadim_db_next (self->db, statement, &row, NULL) && !row)
    unlink (path);
}

/* Contents of a refused batch go again, unless another batch has come to use
 * them; if the database cannot say, they stay. */
static void
remove_contents (KhadimStoreWriter *self,
                 KhadimStoreJob    *job)
{
  if (job->error == NULL || job->made_sums->len == 0)
    return;
  if (!_khadim_db_exec (self->db, "BEGIN IMMEDIATE", NULL))
    return;

  for (guint i = 0; i < job->made_sums->len; i++)
    remove_if_unused (self, g_ptr_array_index (job->made_sums, i));
  _khadim_db_exec (self->db, "ROLLBACK", NULL);
}

/* Transactions --------------------------------------------------------------*/

static void
fail_all (GPtrArray    *jobs,
          const GError *error)
{
  for (guint i = 0; i < jobs->len; i++)
    {
      KhadimStoreJob *job = g_ptr_array_index (jobs, i);

      if (job->error == NULL)
        job->error = g_error_copy (error);
    }
}

/* With FULL, SQLite flushes the log at each commit; with NORMAL, only before it
 * moves the log into the database (https://www.sqlite.org/pragma.html). */
static gboolean
set_synchronous (KhadimStoreWriter  *self,
                 GPtrArray          *jobs,
                 GError            **error)
{
  KhadimDurability wanted = KHADIM_DURABILITY_PROCESS;

  for (guint i = 0; i < jobs->len; i++)
    {
      KhadimStoreJob *job = g_ptr_array_index (jobs, i);

      if (job->error == NULL && job->durability == KHADIM_DURABILITY_MACHINE)
        wanted = KHADIM_DURABILITY_MACHINE;
    }
  if (wanted == self->synchronous)
    return TRUE;

  if (!_khadim_db_exec (self->db,
                        wanted == KHADIM_DURABILITY_MACHINE ? "PRAGMA synchronous = FULL"
                                                            : "PRAGMA synchronous = NORMAL",
                        error))
    return FALSE;
  self->synchronous = wanted;

  return TRUE;
}

static gboolean
run_statement (KhadimStoreWriter  *self,
               const char         *static_sql,
               GError            **error)
{
  g_autoptr(KhadimStatement) statement = _khadim_db_prepare (self->db, static_sql, error);

  return statement != NULL && _khadim_db_run (self->db, statement, error);
}

/* A job that fails by its own fault leaves those of the others; a failure that
 * ends the transaction, such as a full disk, is everybody's. */
static gboolean
apply_with_savepoint (KhadimStoreWriter  *self,
                      KhadimStoreJob     *job,
                      GError            **error)
{
  if (!run_statement (self, "SAVEPOINT job", error))
    return FALSE;

  if (!apply_job (self, job, &job->error))
    {
      if (!_khadim_db_in_transaction (self->db)
          || !run_statement (self, "ROLLBACK TO job", NULL))
        {
          if (error != NULL)
            *error = g_error_copy (job->error);
          return FALSE;
        }
    }

  return run_statement (self, "RELEASE job", error);
}

static gboolean
run_transaction (KhadimStoreWriter  *self,
                 GPtrArray          *jobs,
                 GError            **error)
{
  gboolean any = FALSE;

  if (!set_synchronous (self, jobs, error) || !run_statement (self, "BEGIN IMMEDIATE", error))
    return FALSE;

  for (guint i = 0; i < jobs->len; i++)
    {
      KhadimStoreJob *job = g_ptr_array_index (jobs, i);

      if (job->error != NULL)
        continue;
      if (jobs->len == 1)
        apply_job (self, job, &job->error);
      else if (!apply_with_savepoint (self, job, error))
        return FALSE;
      any = any || job->error == NULL;
    }

  return !any || run_statement (self, "COMMIT", error);
}

/* Watchers in all processes look when the marker changes: the log itself
 * changes a moment before the commit can be seen. */
static void
touch_marker (KhadimStoreWriter *self)
{
  if (futimens (self->marker_fd, NULL) != 0)
    g_debug ("Touching the marker: %s", g_strerror (errno));
}

/*< private >
 * _khadim_store_writer_run:
 * @self: a writer
 * @jobs: (element-type KhadimStoreJob): what waits, in order
 *
 * Runs all jobs in one transaction, and sets the error of those that failed.
 */
void
_khadim_store_writer_run (KhadimStoreWriter *self,
                          GPtrArray         *jobs)
{
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < jobs->len; i++)
    prepare_contents (self, g_ptr_array_index (jobs, i));

  if (!run_transaction (self, jobs, &error))
    fail_all (jobs, error);
  if (_khadim_db_in_transaction (self->db))
    _khadim_db_exec (self->db, "ROLLBACK", NULL);
  else
    touch_marker (self);

  for (guint i = 0; i < jobs->len; i++)
    remove_contents (self, g_ptr_array_index (jobs, i));
}
