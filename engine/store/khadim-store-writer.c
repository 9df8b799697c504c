/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-store-writer"

#include "config.h"

#include "engine/store/khadim-store-writer-private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "engine/base/khadim-fd-private.h"
#include "engine/store/khadim-artifact-folder-private.h"
#include "engine/store/khadim-store-rows-private.h"

/* KhadimStoreWriter: turns jobs into transactions. */
struct _KhadimStoreWriter
{
  KhadimFd marker_fd;
  KhadimDurability synchronous;   /* what the connection is set to */

  /* Owned */
  KhadimDb *db;
  KhadimStoreRows *rows;
  char *owner_id;
  char *artifacts_folder;
};

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
  self->artifacts_folder = g_strdup (artifacts_folder);
  self->rows = _khadim_store_rows_new (db, owner_id, engines_folder, artifacts_folder);

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
  /* The statements of the rows go with the connection. */
  g_clear_pointer (&self->db, _khadim_db_free);
  g_clear_pointer (&self->rows, _khadim_store_rows_free);
  g_free (self->owner_id);
  g_free (self->artifacts_folder);
  g_free (self);
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
  gboolean written;
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

  written = _khadim_artifact_write (self->artifacts_folder, self->owner_id, sum, op->bytes,
                                    job->durability == KHADIM_DURABILITY_MACHINE, &made, error);
  if (made)
    g_ptr_array_add (job->made_sums, g_steal_pointer (&sum));

  return written;
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
apply_job (KhadimStoreWriter  *self,
           KhadimStoreJob     *job,
           GError            **error)
{
  switch (job->kind)
    {
    case KHADIM_STORE_JOB_COMMIT:
      return _khadim_store_rows_apply (self->rows, job->batch, error);
    case KHADIM_STORE_JOB_CLAIM:
      return _khadim_store_rows_claim (self->rows, job->session_id, error);
    case KHADIM_STORE_JOB_RELEASE:
      return _khadim_store_rows_release (self->rows, job->session_id, error);
    default:
      g_assert_not_reached ();
    }
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
