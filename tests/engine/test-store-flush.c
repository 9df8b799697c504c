/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What reaches the disk and when, counted at the system calls; and a disk that
 * is full. */

#define G_LOG_DOMAIN "test-store-flush"

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/engine/store-helpers.h"

#define N_COMMITS 20
#define N_GATHERED 50
#define BIG_BYTES (512 * 1024)
#define SKIPPED 77

static const char *program;

/* Flushes, counted by what is flushed ---------------------------------------*/

static GMutex flush_lock;
static GCond flush_changed;
static guint n_log_flushes;       /* guarded by flush_lock, as all below */
static guint n_other_flushes;
static gboolean gate_closed;
static gboolean at_gate;

static void
count_flush (int fd)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autofree char *path = g_file_read_link (link, NULL);
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&flush_lock);

  if (path == NULL || !g_str_has_suffix (path, "khadim.db-wal"))
    {
      n_other_flushes++;
      return;
    }

  n_log_flushes++;
  at_gate = TRUE;
  g_cond_broadcast (&flush_changed);
  while (gate_closed)
    g_cond_wait (&flush_changed, &flush_lock);
  at_gate = FALSE;
}

/* Calls that fail on purpose: the first after so many, and those behind it. */
typedef struct
{
  gint left;         /* -1 for none */
  gboolean sticky;
  int errsv;
  gboolean came;
} Fault;

static Fault write_fault = { .left = -1 };   /* guarded by flush_lock, as below */
static Fault flush_fault = { .left = -1 };

static gboolean
is_faulty (Fault *fault,
           int    fd)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&flush_lock);
  struct stat info;

  if (fault->left < 0 || fstat (fd, &info) != 0)
    return FALSE;
  if (!S_ISREG (info.st_mode) && !S_ISDIR (info.st_mode))
    return FALSE;
  if (fault->left > 0)
    {
      fault->left--;
      return FALSE;
    }
  if (!fault->sticky)
    fault->left = -1;
  fault->came = TRUE;
  errno = fault->errsv;

  return TRUE;
}

static void
set_fault (Fault    *fault,
           gint      left,
           gboolean  sticky,
           int       errsv)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&flush_lock);

  fault->left = left;
  fault->sticky = sticky;
  fault->errsv = errsv;
  fault->came = FALSE;
}

/* Whether the fault has come to be. */
static gboolean
clear_fault (Fault *fault)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&flush_lock);

  fault->left = -1;

  return fault->came;
}

/* Stand in for those of the C library, for SQLite too. */
int
fdatasync (int fd)
{
  count_flush (fd);

  return is_faulty (&flush_fault, fd) ? -1 : (int) syscall (SYS_fdatasync, fd);
}

int
fsync (int fd)
{
  count_flush (fd);

  return is_faulty (&flush_fault, fd) ? -1 : (int) syscall (SYS_fsync, fd);
}

ssize_t
write (int         fd,
       const void *data,
       size_t      size)
{
  return is_faulty (&write_fault, fd) ? -1 : syscall (SYS_write, fd, data, size);
}

ssize_t
pwrite64 (int         fd,
          const void *data,
          size_t      size,
          off64_t     offset)
{
  return is_faulty (&write_fault, fd) ? -1 : syscall (SYS_pwrite64, fd, data, size, offset);
}

static guint
take_count (guint *counter)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&flush_lock);
  guint count = *counter;

  *counter = 0;

  return count;
}

static void
set_gate (gboolean closed)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&flush_lock);

  gate_closed = closed;
  g_cond_broadcast (&flush_changed);
}

static void
wait_at_gate (void)
{
  gint64 limit_us = g_get_monotonic_time () + WAIT_LIMIT_MS * 1000;
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&flush_lock);

  while (!at_gate)
    g_assert_true (g_cond_wait_until (&flush_changed, &flush_lock, limit_us));
}

static void
commit_event (KhadimStore      *store,
              const char       *id,
              gint64            seq,
              KhadimDurability  durability)
{
  g_autoptr(KhadimEvent) event = make_event (id, seq);
  g_autoptr(GError) error = NULL;
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  khadim_store_batch_add_event (batch, event);
  khadim_store_commit_sync (store, batch, durability, &error);
  g_assert_no_error (error);
}

/* One flush of the log for each commit of the machine's grade, none for those
 * of the process's, in any order. */
static void
test_grades (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autoptr(KhadimStore) store = open_store (folder);
  g_autofree char *id = put_new_session (store);
  gint64 seq = 0;

  take_count (&n_log_flushes);
  for (guint i = 0; i < N_COMMITS; i++)
    commit_event (store, id, ++seq, KHADIM_DURABILITY_PROCESS);
  g_assert_cmpuint (take_count (&n_log_flushes), ==, 0);

  for (guint i = 0; i < N_COMMITS; i++)
    commit_event (store, id, ++seq, KHADIM_DURABILITY_MACHINE);
  g_assert_cmpuint (take_count (&n_log_flushes), ==, N_COMMITS);

  for (guint i = 0; i < N_COMMITS; i++)
    commit_event (store, id, ++seq, KHADIM_DURABILITY_PROCESS);
  g_assert_cmpuint (take_count (&n_log_flushes), ==, 0);

  g_clear_object (&store);
  remove_tree (folder);
}

static void
on_committed_cb (GObject      *source,
                 GAsyncResult *result,
                 gpointer      data)
{
  guint *n_done = data;
  g_autoptr(GError) error = NULL;

  khadim_store_commit_finish (KHADIM_STORE (source), result, &error);
  g_assert_no_error (error);
  (*n_done)++;
}

static void
commit_later (KhadimStore      *store,
              const char       *id,
              gint64            seq,
              KhadimDurability  durability,
              guint            *n_done)
{
  g_autoptr(KhadimEvent) event = make_event (id, seq);
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  khadim_store_batch_add_event (batch, event);
  khadim_store_commit_async (store, batch, durability, on_committed_cb, n_done);
}

/* What gathers while a flush runs shares the next one. */
static void
test_group_commit (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autoptr(KhadimStore) store = open_store (folder);
  g_autofree char *id = put_new_session (store);
  guint n_done = 0;

  take_count (&n_log_flushes);
  set_gate (TRUE);
  commit_later (store, id, 1, KHADIM_DURABILITY_MACHINE, &n_done);
  wait_at_gate ();
  for (gint64 seq = 2; seq <= N_GATHERED + 1; seq++)
    commit_later (store, id, seq, seq % 2 == 0 ? KHADIM_DURABILITY_MACHINE
                                               : KHADIM_DURABILITY_PROCESS, &n_done);
  g_assert_cmpuint (n_done, ==, 0);

  /* The reader does not wait for it. */
  g_assert_cmpint (last_seq (store, id), ==, 0);
  set_gate (FALSE);
  wait_until (&n_done, N_GATHERED + 1);

  g_assert_cmpuint (take_count (&n_log_flushes), ==, 2);
  g_assert_cmpint (last_seq (store, id), ==, N_GATHERED + 1);
  g_clear_object (&store);
  remove_tree (folder);
}

static void
commit_artifact (KhadimStore      *store,
                 const char       *id,
                 const char       *text,
                 KhadimDurability  durability)
{
  g_autoptr(KhadimArtifactRecord) record = khadim_artifact_record_new ();
  g_autoptr(GBytes) bytes = g_bytes_new (text, strlen (text));
  g_autoptr(GError) error = NULL;
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  record->session_id = g_strdup (id);
  khadim_store_batch_add_artifact (batch, record, bytes);
  khadim_store_commit_sync (store, batch, durability, &error);
  g_assert_no_error (error);
}

/* The content and its folder are flushed for the machine's grade, even if a
 * commit of the process's grade has put it there. */
static void
test_artifacts (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autoptr(KhadimStore) store = open_store (folder);
  g_autofree char *id = put_new_session (store);

  take_count (&n_other_flushes);
  commit_artifact (store, id, "one", KHADIM_DURABILITY_PROCESS);
  g_assert_cmpuint (take_count (&n_other_flushes), ==, 0);
  commit_artifact (store, id, "two", KHADIM_DURABILITY_MACHINE);
  g_assert_cmpuint (take_count (&n_other_flushes), ==, 2);
  commit_artifact (store, id, "one", KHADIM_DURABILITY_MACHINE);
  g_assert_cmpuint (take_count (&n_other_flushes), ==, 2);

  g_clear_object (&store);
  remove_tree (folder);
}

/* A full disk ---------------------------------------------------------------*/

static gboolean
commit_big (KhadimStore  *store,
            const char   *id,
            GError      **error)
{
  g_autofree char *text = g_strnfill (BIG_BYTES, 'x');
  g_autoptr(KhadimEvent) event = khadim_event_new (id, last_seq (store, id) + 1, 1,
                                                   KHADIM_CHANNEL_PROGRESS, "text_delta", text,
                                                   NULL);
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  khadim_store_batch_add_event (batch, event);

  return khadim_store_commit_sync (store, batch, KHADIM_DURABILITY_MACHINE, error);
}

static gboolean
commit_big_artifact (KhadimStore  *store,
                     const char   *id,
                     GError      **error)
{
  g_autoptr(KhadimArtifactRecord) record = khadim_artifact_record_new ();
  g_autoptr(GBytes) bytes = g_bytes_new_take (g_malloc0 (BIG_BYTES), BIG_BYTES);
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  record->session_id = g_strdup (id);
  khadim_store_batch_add_artifact (batch, record, bytes);

  return khadim_store_commit_sync (store, batch, KHADIM_DURABILITY_PROCESS, error);
}

static void
assert_sound (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "khadim.db", NULL);
  sqlite3_stmt *statement;
  sqlite3 *db;

  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_prepare_v2 (db, "PRAGMA integrity_check", -1, &statement, NULL), ==,
                   SQLITE_OK);
  g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_ROW);
  g_assert_cmpstr ((const char *) sqlite3_column_text (statement, 0), ==, "ok");
  sqlite3_finalize (statement);
  sqlite3_close (db);
}

static guint
count_files (const char *folder,
             const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr(GDir) dir = g_dir_open (path, 0, NULL);
  guint n_files = 0;

  while (g_dir_read_name (dir) != NULL)
    n_files++;

  return n_files;
}

typedef void (*SpaceFunc) (const char *folder);

/* Nothing of what did not fit is there, and all goes on when there is space. */
static void
check_full (const char *folder,
            SpaceFunc   take_space,
            SpaceFunc   give_space)
{
  g_autoptr(KhadimStore) store = open_store (folder);
  g_autofree char *id = put_new_session (store);
  g_autoptr(GError) error = NULL;

  take_space (folder);
  g_assert_false (commit_big (store, id, &error));
  g_assert_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_FULL);
  g_clear_error (&error);
  g_assert_false (commit_big_artifact (store, id, &error));
  g_assert_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_FULL);
  g_clear_error (&error);
  g_assert_cmpint (last_seq (store, id), ==, 0);
  g_assert_cmpuint (count_files (folder, "artifacts"), ==, 0);

  give_space (folder);
  g_assert_true (commit_big (store, id, &error));
  g_assert_no_error (error);
  g_assert_true (commit_big_artifact (store, id, &error));
  g_assert_no_error (error);
  g_assert_cmpint (last_seq (store, id), ==, 1);
  g_assert_cmpuint (count_files (folder, "artifacts"), ==, 1);
  g_clear_object (&store);
  assert_sound (folder);
}

static char *
filler_path (const char *folder)
{
  return g_build_filename (folder, "filler", NULL);
}

static void
fill_disk (const char *folder)
{
  g_autofree char *path = filler_path (folder);
  g_autofree char *block = g_malloc0 (4096);
  int fd = open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

  g_assert_cmpint (fd, >=, 0);
  while (write (fd, block, 4096) > 0)
    ;
  g_assert_cmpint (errno, ==, ENOSPC);
  close (fd);
}

static void
empty_disk (const char *folder)
{
  g_autofree char *path = filler_path (folder);

  g_assert_cmpint (g_unlink (path), ==, 0);
}

static void
set_size_limit (rlim_t bytes)
{
  struct rlimit limit;

  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &limit), ==, 0);
  limit.rlim_cur = MIN (bytes, limit.rlim_max);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &limit), ==, 0);
}

static void
lower_limit (const char *folder)
{
  set_size_limit (BIG_BYTES / 2);
}

static void
raise_limit (const char *folder)
{
  set_size_limit (RLIM_INFINITY);
}

/* A small file system of its own, that nobody else sees. */
static gboolean
mount_small (const char *folder)
{
  int flags = geteuid () == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;

  return unshare (flags) == 0
         && mount ("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
         && mount ("none", folder, "tmpfs", 0, "size=4m,mode=0700") == 0;
}

/* The same when the store is opened. */
static void
check_full_at_open (const char *folder)
{
  g_autofree char *place = g_build_filename (folder, "second", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimStore) store = NULL;

  fill_disk (folder);
  g_assert_null (khadim_store_sqlite_new (place, &error));
  g_assert_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_FULL);
  empty_disk (folder);
  store = open_store (place);
  g_free (put_new_session (store));
}

static int
run_full_disk (const char *folder)
{
  if (!mount_small (folder))
    return SKIPPED;

  check_full (folder, fill_disk, empty_disk);
  check_full_at_open (folder);

  return 0;
}

static int
run_size_limit (const char *folder)
{
  signal (SIGXFSZ, SIG_IGN);
  check_full (folder, lower_limit, raise_limit);

  return 0;
}

/* In a process of its own: limits and mounts are of the whole process. */
static void
test_in_child (gconstpointer data)
{
  g_autofree char *folder = make_test_folder ();
  const char *argv[] = { program, data, folder, NULL };
  g_autoptr(GError) error = NULL;
  g_autofree char *message = NULL;
  int status;

  g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, &message, &status,
                &error);
  g_assert_no_error (error);
  remove_tree (folder);

  if (WIFEXITED (status) && WEXITSTATUS (status) == SKIPPED)
    g_test_skip ("No file system can be mounted here");
  else if (status != 0)
    g_error ("%s", message);
}

/* Every system call ---------------------------------------------------------*/

static gboolean
commit_with_artifact (KhadimStore  *store,
                      const char   *id,
                      GError      **error)
{
  g_autoptr(KhadimArtifactRecord) record = khadim_artifact_record_new ();
  g_autoptr(KhadimEvent) event = make_event (id, 1);
  g_autoptr(GBytes) bytes = g_bytes_new_static ("hello", 5);
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  record->session_id = g_strdup (id);
  khadim_store_batch_add_event (batch, event);
  khadim_store_batch_add_artifact (batch, record, bytes);

  return khadim_store_commit_sync (store, batch, KHADIM_DURABILITY_MACHINE, error);
}

/* One commit whose call number @number of a kind fails; nothing of it stays,
 * and it can be done again. FALSE if there are fewer calls. */
static gboolean
commit_with_fault (Fault    *fault,
                   gint      number,
                   gboolean  sticky,
                   int       errsv)
{
  g_autofree char *folder = make_memory_folder ();
  g_autoptr(KhadimStore) store = open_store (folder);
  g_autofree char *id = put_new_session (store);
  int code = errsv == ENOSPC ? KHADIM_STORE_ERROR_FULL : KHADIM_STORE_ERROR_FAILED;
  g_autoptr(GError) error = NULL;
  gboolean committed;
  gboolean came;

  set_fault (fault, number, sticky, errsv);
  committed = commit_with_artifact (store, id, &error);
  came = clear_fault (fault);
  g_assert_true (committed != came);

  if (came)
    {
      g_assert_error (error, KHADIM_STORE_ERROR, code);
      g_clear_error (&error);
      g_assert_cmpint (last_seq (store, id), ==, 0);
      g_assert_cmpuint (count_files (folder, "artifacts"), ==, 0);
      g_assert_true (commit_with_artifact (store, id, &error));
      g_assert_no_error (error);
    }

  g_assert_cmpint (last_seq (store, id), ==, 1);
  g_clear_object (&store);
  assert_sound (folder);
  remove_tree (folder);

  return came;
}

static void
test_every_call (void)
{
  static const struct
  {
    Fault *fault;
    int errsv;
    gint least;
  } kinds[] = {
    { &write_fault, ENOSPC, 6 },
    { &write_fault, EIO, 6 },
    { &flush_fault, EIO, 3 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (int sticky = 0; sticky <= 1; sticky++)
      {
        gint n_calls = 0;

        while (commit_with_fault (kinds[i].fault, n_calls, sticky, kinds[i].errsv))
          n_calls++;
        g_test_message ("%d calls failed, each once", n_calls);
        g_assert_cmpint (n_calls, >=, kinds[i].least);
      }
}

/* Whether a new store can be opened although a write fails; if not, it can
 * afterwards. */
static gboolean
open_with_fault (gint number)
{
  g_autofree char *folder = make_memory_folder ();
  g_autofree char *place = g_build_filename (folder, "store", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimStore) store = NULL;
  gboolean came;

  set_fault (&write_fault, number, TRUE, ENOSPC);
  store = khadim_store_sqlite_new (place, &error);
  came = clear_fault (&write_fault);

  if (store == NULL)
    {
      g_assert_true (came);
      g_assert_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_FULL);
      store = open_store (place);
    }
  g_free (put_new_session (store));
  g_clear_object (&store);
  assert_sound (place);
  remove_tree (folder);

  return came;
}

static void
test_every_write_at_open (void)
{
  gint n_calls = 0;

  while (open_with_fault (n_calls))
    n_calls++;
  g_assert_cmpint (n_calls, >=, 10);
}

typedef struct
{
  guint n_done;
  guint n_full;
} Outcomes;

static void
on_outcome_cb (GObject      *source,
               GAsyncResult *result,
               gpointer      data)
{
  Outcomes *outcomes = data;
  g_autoptr(GError) error = NULL;

  outcomes->n_done++;
  if (!khadim_store_commit_finish (KHADIM_STORE (source), result, &error))
    {
      g_assert_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_FULL);
      outcomes->n_full++;
    }
}

/* A disk that is full for a group is full for all of it, and for nobody before
 * or after. */
static void
test_group_full (void)
{
  g_autofree char *folder = make_memory_folder ();
  g_autoptr(KhadimStore) store = open_store (folder);
  g_autofree char *id = put_new_session (store);
  Outcomes outcomes = { 0 };

  set_gate (TRUE);
  for (gint64 seq = 1; seq <= N_GATHERED; seq++)
    {
      g_autoptr(KhadimEvent) event = make_event (id, seq);
      KhadimStoreBatch *batch = khadim_store_batch_new ();

      khadim_store_batch_add_event (batch, event);
      khadim_store_commit_async (store, batch, KHADIM_DURABILITY_MACHINE, on_outcome_cb,
                                 &outcomes);
      if (seq == 1)
        wait_at_gate ();
    }
  set_fault (&write_fault, 0, TRUE, ENOSPC);
  set_gate (FALSE);
  wait_until (&outcomes.n_done, N_GATHERED);
  g_assert_true (clear_fault (&write_fault));

  g_assert_cmpuint (outcomes.n_full, ==, N_GATHERED - 1);
  g_assert_cmpint (last_seq (store, id), ==, 1);
  commit_event (store, id, 2, KHADIM_DURABILITY_MACHINE);
  g_clear_object (&store);
  assert_sound (folder);
  remove_tree (folder);
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);

  if (argc == 3 && g_str_equal (argv[1], "--full-disk"))
    return run_full_disk (argv[2]);
  if (argc == 3 && g_str_equal (argv[1], "--size-limit"))
    return run_size_limit (argv[2]);

  program = self;
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/engine/store/flush/grades", test_grades);
  g_test_add_func ("/engine/store/flush/group", test_group_commit);
  g_test_add_func ("/engine/store/flush/artifacts", test_artifacts);
  g_test_add_data_func ("/engine/store/full/disk", "--full-disk", test_in_child);
  g_test_add_data_func ("/engine/store/full/size-limit", "--size-limit", test_in_child);
  g_test_add_func ("/engine/store/fault/commit", test_every_call);
  g_test_add_func ("/engine/store/fault/group", test_group_full);
  g_test_add_func ("/engine/store/fault/open", test_every_write_at_open);

  return g_test_run ();
}
