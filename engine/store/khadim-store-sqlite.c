/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-store-sqlite"

#include "config.h"

#include "engine/store/khadim-store-sqlite.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "engine/store/khadim-artifact-folder-private.h"
#include "engine/store/khadim-owner-lock-private.h"
#include "engine/store/khadim-store-reader-private.h"
#include "engine/store/khadim-store-schema-private.h"
#include "engine/store/khadim-store-watch-private.h"
#include "engine/store/khadim-store-writer-private.h"

#define ENGINES_NAME "engines"
#define ARTIFACTS_NAME "artifacts"
#define UNFINISHED_PREFIX KHADIM_STORE_DATABASE_NAME ".new-"
#define THREAD_NAME "khadim-store"
/* Jobs of one transaction: bounds how long the write lock is held. */
#define MAX_GROUP_JOBS 256

/* KhadimStoreSqlite: sessions in one SQLite database. Its thread owns the
 * connection that writes and runs what has gathered as one transaction. */
struct _KhadimStoreSqlite
{
  KhadimStore parent_instance;

  GMutex lock;                  /* guards queue, stopping, watches and job->done */
  GCond changed;
  gboolean stopping;
  guint last_watch_id;

  /* Owned */
  char *folder;
  char *engines_folder;
  char *artifacts_folder;
  KhadimOwnerLock *owner_lock;
  KhadimStoreWriter *writer;    /* used by the thread alone once that runs */
  KhadimStoreReader *reader;
  GThread *thread;
  GPtrArray *queue;
  GHashTable *watches;
};

G_DEFINE_FINAL_TYPE (KhadimStoreSqlite, khadim_store_sqlite, KHADIM_TYPE_STORE)

/* The store's thread --------------------------------------------------------*/

/* Up to a group of jobs that wait, %NULL when the store stops and none is left. */
static GPtrArray *
take_jobs (KhadimStoreSqlite *self)
{
  GPtrArray *jobs = g_ptr_array_new ();
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  guint n_jobs;

  while (self->queue->len == 0 && !self->stopping)
    g_cond_wait (&self->changed, &self->lock);

  n_jobs = MIN (self->queue->len, MAX_GROUP_JOBS);
  for (guint i = 0; i < n_jobs; i++)
    g_ptr_array_add (jobs, g_ptr_array_index (self->queue, i));
  if (n_jobs > 0)
    g_ptr_array_remove_range (self->queue, 0, n_jobs);

  return jobs;
}

static gboolean
on_job_done_cb (gpointer data)
{
  KhadimStoreJob *job = data;

  if (job->error != NULL)
    g_task_return_error (job->task, g_steal_pointer (&job->error));
  else
    g_task_return_boolean (job->task, TRUE);

  return G_SOURCE_REMOVE;
}

/* The task and with it the last reference of the store may go here: so it is
 * let go on the caller's context, never on the store's own thread. */
static void
post_job (KhadimStoreJob *job)
{
  g_autoptr(GSource) source = g_idle_source_new ();

  g_source_set_priority (source, g_task_get_priority (job->task));
  g_source_set_name (source, "khadim-store-commit");
  g_source_set_callback (source, on_job_done_cb, job, (GDestroyNotify) _khadim_store_job_free);
  g_source_attach (source, g_task_get_context (job->task));
}

static void
finish_jobs (KhadimStoreSqlite *self,
             GPtrArray         *jobs)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  for (guint i = 0; i < jobs->len; i++)
    {
      KhadimStoreJob *job = g_ptr_array_index (jobs, i);

      if (job->task != NULL)
        post_job (job);
      else
        job->done = TRUE;
    }
  g_cond_broadcast (&self->changed);
}

static gpointer
run_thread (gpointer data)
{
  KhadimStoreSqlite *self = data;

  for (;;)
    {
      g_autoptr(GPtrArray) jobs = take_jobs (self);

      if (jobs->len == 0)
        return NULL;

      _khadim_store_writer_run (self->writer, jobs);
      finish_jobs (self, jobs);
    }
}

static void
push_job (KhadimStoreSqlite *self,
          KhadimStoreJob    *job)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  g_assert (!self->stopping);
  g_ptr_array_add (self->queue, job);
  g_cond_broadcast (&self->changed);
}

static gboolean
run_job (KhadimStoreSqlite  *self,
         KhadimStoreJob     *job,
         GError            **error)
{
  push_job (self, job);

  g_mutex_lock (&self->lock);
  while (!job->done)
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);

  if (job->error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&job->error));
      return FALSE;
    }

  return TRUE;
}

/* Writing -------------------------------------------------------------------*/

static KhadimStoreJob *
commit_job_new (KhadimStoreBatch *batch,
                KhadimDurability  durability)
{
  KhadimStoreJob *job = _khadim_store_job_new (KHADIM_STORE_JOB_COMMIT);

  job->batch = batch;
  job->durability = durability;

  return job;
}

static void
khadim_store_sqlite_commit (KhadimStore      *store,
                            KhadimStoreBatch *batch,
                            KhadimDurability  durability,
                            GTask            *task)
{
  KhadimStoreJob *job = commit_job_new (batch, durability);

  job->task = task;
  push_job (KHADIM_STORE_SQLITE (store), job);
}

static gboolean
khadim_store_sqlite_commit_sync (KhadimStore       *store,
                                 KhadimStoreBatch  *batch,
                                 KhadimDurability   durability,
                                 GError           **error)
{
  g_autoptr(KhadimStoreJob) job = commit_job_new (batch, durability);

  return run_job (KHADIM_STORE_SQLITE (store), job, error);
}

static gboolean
run_session_job (KhadimStore         *store,
                 KhadimStoreJobKind   kind,
                 const char          *session_id,
                 GError             **error)
{
  g_autoptr(KhadimStoreJob) job = _khadim_store_job_new (kind);

  job->session_id = g_strdup (session_id);

  return run_job (KHADIM_STORE_SQLITE (store), job, error);
}

static gboolean
khadim_store_sqlite_claim_session (KhadimStore  *store,
                                   const char   *session_id,
                                   GError      **error)
{
  return run_session_job (store, KHADIM_STORE_JOB_CLAIM, session_id, error);
}

static gboolean
khadim_store_sqlite_release_session (KhadimStore  *store,
                                     const char   *session_id,
                                     GError      **error)
{
  return run_session_job (store, KHADIM_STORE_JOB_RELEASE, session_id, error);
}

static const char *
khadim_store_sqlite_get_owner_id (KhadimStore *store)
{
  return _khadim_owner_lock_get_id (KHADIM_STORE_SQLITE (store)->owner_lock);
}

static gboolean
khadim_store_sqlite_is_owner_live (KhadimStore *store,
                                   const char  *owner_id)
{
  return _khadim_owner_lock_is_live (KHADIM_STORE_SQLITE (store)->engines_folder, owner_id);
}

/* Reading -------------------------------------------------------------------*/

static KhadimSessionRecord *
khadim_store_sqlite_get_session (KhadimStore  *store,
                                 const char   *session_id,
                                 GError      **error)
{
  KhadimStoreSqlite *self = KHADIM_STORE_SQLITE (store);
  g_autoptr(GPtrArray) sessions =
    _khadim_store_reader_list (self->reader, KHADIM_STORE_QUERY_SESSION, session_id, 1, error);

  if (sessions == NULL)
    return NULL;
  if (sessions->len == 0)
    {
      g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_NOT_FOUND,
                   "There is no session %s", session_id);
      return NULL;
    }

  return khadim_session_record_copy (g_ptr_array_index (sessions, 0));
}

static GPtrArray *
khadim_store_sqlite_list_sessions (KhadimStore  *store,
                                   const char   *automation,
                                   guint         limit,
                                   GError      **error)
{
  return _khadim_store_reader_list (KHADIM_STORE_SQLITE (store)->reader,
                                    automation != NULL ? KHADIM_STORE_QUERY_SESSIONS_OF
                                                       : KHADIM_STORE_QUERY_SESSIONS,
                                    automation, limit, error);
}

static GPtrArray *
khadim_store_sqlite_list_children (KhadimStore  *store,
                                   const char   *parent_session_id,
                                   GError      **error)
{
  return _khadim_store_reader_list (KHADIM_STORE_SQLITE (store)->reader,
                                    KHADIM_STORE_QUERY_CHILDREN, parent_session_id, 0, error);
}

static GPtrArray *
khadim_store_sqlite_list_calls (KhadimStore  *store,
                                const char   *session_id,
                                GError      **error)
{
  return _khadim_store_reader_list (KHADIM_STORE_SQLITE (store)->reader,
                                    KHADIM_STORE_QUERY_CALLS, session_id, 0, error);
}

static GPtrArray *
khadim_store_sqlite_list_runs (KhadimStore  *store,
                               const char   *session_id,
                               GError      **error)
{
  return _khadim_store_reader_list (KHADIM_STORE_SQLITE (store)->reader,
                                    KHADIM_STORE_QUERY_RUNS, session_id, 0, error);
}

static GPtrArray *
khadim_store_sqlite_list_events (KhadimStore  *store,
                                 const char   *session_id,
                                 gint64        since_seq,
                                 guint         limit,
                                 GError      **error)
{
  return _khadim_store_reader_list_events (KHADIM_STORE_SQLITE (store)->reader, session_id,
                                           since_seq, limit, error);
}

static gint64
khadim_store_sqlite_get_last_seq (KhadimStore  *store,
                                  const char   *session_id,
                                  GError      **error)
{
  return _khadim_store_reader_get_last_seq (KHADIM_STORE_SQLITE (store)->reader, session_id,
                                            error);
}

static GPtrArray *
khadim_store_sqlite_list_artifacts (KhadimStore  *store,
                                    const char   *session_id,
                                    GError      **error)
{
  return _khadim_store_reader_list (KHADIM_STORE_SQLITE (store)->reader,
                                    KHADIM_STORE_QUERY_ARTIFACTS, session_id, 0, error);
}

static char *
khadim_store_sqlite_get_artifact_path (KhadimStore *store,
                                       const char  *sha256)
{
  if (!_khadim_artifact_is_sum (sha256))
    return NULL;

  return _khadim_artifact_path (KHADIM_STORE_SQLITE (store)->artifacts_folder, sha256);
}

static GPtrArray *
khadim_store_sqlite_list_commands (KhadimStore  *store,
                                   const char   *session_id,
                                   GError      **error)
{
  return _khadim_store_reader_list (KHADIM_STORE_SQLITE (store)->reader,
                                    session_id != NULL ? KHADIM_STORE_QUERY_COMMANDS_OF
                                                       : KHADIM_STORE_QUERY_COMMANDS,
                                    session_id, 0, error);
}

static GPtrArray *
khadim_store_sqlite_list_automations (KhadimStore  *store,
                                      GError      **error)
{
  return _khadim_store_reader_list (KHADIM_STORE_SQLITE (store)->reader,
                                    KHADIM_STORE_QUERY_AUTOMATIONS, NULL, 0, error);
}

/* Watching ------------------------------------------------------------------*/

static guint
khadim_store_sqlite_watch (KhadimStore             *store,
                           KhadimStoreCommandFunc   on_command,
                           KhadimStoreChangedFunc   on_changed,
                           gpointer                 user_data,
                           GDestroyNotify           destroy,
                           GError                 **error)
{
  KhadimStoreSqlite *self = KHADIM_STORE_SQLITE (store);
  KhadimStoreWatch *watch = _khadim_store_watch_new (store, self->reader, self->folder,
                                                     on_command, on_changed, user_data,
                                                     destroy, error);
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = NULL;

  if (watch == NULL)
    return 0;

  locker = g_mutex_locker_new (&self->lock);
  self->last_watch_id++;
  g_hash_table_insert (self->watches, GUINT_TO_POINTER (self->last_watch_id), watch);

  return self->last_watch_id;
}

static void
khadim_store_sqlite_unwatch (KhadimStore *store,
                             guint        watch_id)
{
  KhadimStoreSqlite *self = KHADIM_STORE_SQLITE (store);
  gpointer watch = NULL;

  g_mutex_lock (&self->lock);
  g_hash_table_steal_extended (self->watches, GUINT_TO_POINTER (watch_id), NULL, &watch);
  g_mutex_unlock (&self->lock);

  g_return_if_fail (watch != NULL);
  _khadim_store_watch_free (watch);
}

/* Life ----------------------------------------------------------------------*/

static void
stop_thread (KhadimStoreSqlite *self)
{
  if (self->thread == NULL)
    return;

  g_mutex_lock (&self->lock);
  self->stopping = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);

  g_thread_join (g_steal_pointer (&self->thread));
}

/* What was handed over is written first; the owner's lock goes last, as it says
 * that this engine may still write. */
static void
khadim_store_sqlite_dispose (GObject *object)
{
  KhadimStoreSqlite *self = KHADIM_STORE_SQLITE (object);

  g_hash_table_remove_all (self->watches);
  stop_thread (self);
  g_clear_pointer (&self->reader, _khadim_store_reader_free);
  g_clear_pointer (&self->writer, _khadim_store_writer_free);
  g_clear_pointer (&self->owner_lock, _khadim_owner_lock_free);

  G_OBJECT_CLASS (khadim_store_sqlite_parent_class)->dispose (object);
}

static void
khadim_store_sqlite_finalize (GObject *object)
{
  KhadimStoreSqlite *self = KHADIM_STORE_SQLITE (object);

  g_free (self->folder);
  g_free (self->engines_folder);
  g_free (self->artifacts_folder);
  g_ptr_array_unref (self->queue);
  g_hash_table_unref (self->watches);
  g_cond_clear (&self->changed);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (khadim_store_sqlite_parent_class)->finalize (object);
}

static void
khadim_store_sqlite_class_init (KhadimStoreSqliteClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  KhadimStoreClass *store_class = KHADIM_STORE_CLASS (klass);

  object_class->dispose = khadim_store_sqlite_dispose;
  object_class->finalize = khadim_store_sqlite_finalize;

  store_class->commit = khadim_store_sqlite_commit;
  store_class->commit_sync = khadim_store_sqlite_commit_sync;
  store_class->get_owner_id = khadim_store_sqlite_get_owner_id;
  store_class->claim_session = khadim_store_sqlite_claim_session;
  store_class->release_session = khadim_store_sqlite_release_session;
  store_class->is_owner_live = khadim_store_sqlite_is_owner_live;
  store_class->get_session = khadim_store_sqlite_get_session;
  store_class->list_sessions = khadim_store_sqlite_list_sessions;
  store_class->list_children = khadim_store_sqlite_list_children;
  store_class->list_calls = khadim_store_sqlite_list_calls;
  store_class->list_runs = khadim_store_sqlite_list_runs;
  store_class->list_events = khadim_store_sqlite_list_events;
  store_class->get_last_seq = khadim_store_sqlite_get_last_seq;
  store_class->list_artifacts = khadim_store_sqlite_list_artifacts;
  store_class->get_artifact_path = khadim_store_sqlite_get_artifact_path;
  store_class->list_commands = khadim_store_sqlite_list_commands;
  store_class->list_automations = khadim_store_sqlite_list_automations;
  store_class->watch = khadim_store_sqlite_watch;
  store_class->unwatch = khadim_store_sqlite_unwatch;
}

static void
khadim_store_sqlite_init (KhadimStoreSqlite *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  self->queue = g_ptr_array_new ();
  self->watches = g_hash_table_new_full (NULL, NULL, NULL,
                                         (GDestroyNotify) _khadim_store_watch_free);
}

static gboolean
make_folder (const char  *path,
             GError     **error)
{
  int errsv;

  if (g_mkdir_with_parents (path, 0700) == 0)
    return TRUE;

  errsv = errno;
  g_set_error (error, KHADIM_STORE_ERROR,
               errsv == ENOSPC || errsv == EDQUOT ? KHADIM_STORE_ERROR_FULL
                                                  : KHADIM_STORE_ERROR_FAILED,
               "Making “%s”: %s", path, g_strerror (errsv));

  return FALSE;
}

static gboolean
prepare_folders (KhadimStoreSqlite  *self,
                 GError            **error)
{
  if (!make_folder (self->folder, error)
      || !_khadim_store_check_place (self->folder, error)
      || !make_folder (self->engines_folder, error)
      || !make_folder (self->artifacts_folder, error))
    return FALSE;

  self->owner_lock = _khadim_owner_lock_new (self->engines_folder, error);
  if (self->owner_lock == NULL)
    return FALSE;

  _khadim_artifact_clean (self->artifacts_folder, self->engines_folder, NULL);
  _khadim_artifact_clean (self->folder, self->engines_folder, UNFINISHED_PREFIX);
  _khadim_owner_lock_clean (self->engines_folder);

  return TRUE;
}

static gboolean
open_database (KhadimStoreSqlite  *self,
               GError            **error)
{
  const char *owner_id = _khadim_owner_lock_get_id (self->owner_lock);
  g_autofree char *path = g_build_filename (self->folder, KHADIM_STORE_DATABASE_NAME, NULL);
  g_autofree char *marker = g_build_filename (self->folder, KHADIM_STORE_MARKER_NAME, NULL);
  g_autoptr(KhadimDb) db = NULL;

  if (g_access (path, F_OK) != 0 && !_khadim_store_create (path, owner_id, error))
    return FALSE;

  db = _khadim_store_open (path, error);
  if (db == NULL)
    return FALSE;

  self->writer = _khadim_store_writer_new (g_steal_pointer (&db), owner_id, self->engines_folder,
                                           self->artifacts_folder, marker, error);
  if (self->writer == NULL)
    return FALSE;
  self->reader = _khadim_store_reader_new (path, error);

  return self->reader != NULL;
}

/**
 * khadim_store_sqlite_new:
 * @folder: where the store lies or is made, with mode 0700
 * @error: return location for a %KHADIM_STORE_ERROR: `UNSUPPORTED` on a network
 *   file system, `NEWER`, `CORRUPT`, `FULL`, `BUSY`, `FAILED`; what is there is
 *   left as it is
 *
 * Opens `khadim.db` in @folder, in the write-ahead mode of SQLite
 * (https://www.sqlite.org/wal.html), with the contents of artifacts in
 * `artifacts/` and the locks of engines in `engines/`. Any number of processes
 * may. Any thread; dropping the last reference waits until all is written.
 *
 * Returns: (transfer full): a store
 */
KhadimStore *
khadim_store_sqlite_new (const char  *folder,
                         GError     **error)
{
  g_autoptr(KhadimStoreSqlite) self = NULL;

  g_return_val_if_fail (folder != NULL, NULL);

  self = g_object_new (KHADIM_TYPE_STORE_SQLITE, NULL);
  self->folder = g_canonicalize_filename (folder, NULL);
  self->engines_folder = g_build_filename (self->folder, ENGINES_NAME, NULL);
  self->artifacts_folder = g_build_filename (self->folder, ARTIFACTS_NAME, NULL);
  if (!prepare_folders (self, error) || !open_database (self, error))
    return NULL;

  self->thread = g_thread_new (THREAD_NAME, run_thread, self);

  return KHADIM_STORE (g_steal_pointer (&self));
}
