/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What a store does with a place and a database that are not as they should be:
 * each is refused by name and left as it was. */

#define G_LOG_DOMAIN "test-store-open"

#include "config.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib-unix.h>

#include "engine/store/khadim-store-schema-private.h"
#include "tests/engine/store-helpers.h"

#define NFS_MAGIC 0x6969
#define HEADER_BYTES 100
#define BUSY_MS 50

static long pretended_type;
static gboolean impatient;

/* Stands in for the one of the C library, so that any place can be any kind of
 * file system. */
int
statfs (const char    *path,
        struct statfs *out_info)
{
  int result = (int) syscall (SYS_statfs, path, out_info);

  if (result == 0 && pretended_type != 0)
    out_info->f_type = pretended_type;

  return result;
}

/* The same for how long SQLite waits: whole seconds are too long for a test. */
int
sqlite3_busy_timeout (sqlite3 *db,
                      int      ms)
{
  int (*real) (sqlite3 *, int) = dlsym (RTLD_NEXT, "sqlite3_busy_timeout");

  return real (db, impatient ? BUSY_MS : ms);
}

static void
refused (const char       *folder,
         KhadimStoreError  code)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (khadim_store_sqlite_new (folder, &error));
  g_assert_error (error, KHADIM_STORE_ERROR, (int) code);
}

static char *
sum_of_file (const char *path)
{
  g_autofree char *content = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &content, &size, NULL));

  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, (guint8 *) content, size);
}

static void
run_sql (const char *path,
         const char *sql)
{
  sqlite3 *db;

  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_close (db), ==, SQLITE_OK);
}

/* A store with one session, closed again. */
static char *
make_closed_store (const char  *folder,
                   char       **out_session_id)
{
  KhadimStore *store = open_store (folder);

  *out_session_id = put_new_session (store);
  g_assert_finalize_object (store);

  return g_build_filename (folder, "khadim.db", NULL);
}

static void
test_network (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autofree char *path = g_build_filename (folder, "khadim.db", NULL);
  g_autoptr(KhadimStore) store = NULL;

  pretended_type = NFS_MAGIC;
  refused (folder, KHADIM_STORE_ERROR_UNSUPPORTED);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
  pretended_type = 0xfe534d42;
  refused (folder, KHADIM_STORE_ERROR_UNSUPPORTED);

  /* The same place as what it is. */
  pretended_type = 0;
  store = open_store (folder);
  g_clear_object (&store);
  remove_tree (folder);
}

/* Lines as Linux writes them, of a local and of a remote FUSE. */
static void
test_network_fuse (void)
{
  static const char mountinfo[] =
    "24 29 0:22 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
    "91 29 0:51 / /home/a/remote rw,nosuid - fuse.sshfs host:/home rw,user_id=1000\n"
    "92 29 0:52 / /home/a/vault rw shared:9 master:1 - fuse.gocryptfs /home/a/.v rw\n"
    "93 29 0:5 / /torn\n";

  g_assert_true (_khadim_store_is_network_fuse (mountinfo, 0, 51));
  g_assert_false (_khadim_store_is_network_fuse (mountinfo, 0, 52));
  g_assert_false (_khadim_store_is_network_fuse (mountinfo, 0, 5));
  g_assert_false (_khadim_store_is_network_fuse ("", 0, 0));
}

static void
test_newer (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autofree char *id = NULL;
  g_autofree char *path = make_closed_store (folder, &id);
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;

  run_sql (path, "PRAGMA user_version = 1000000");
  before = sum_of_file (path);
  refused (folder, KHADIM_STORE_ERROR_NEWER);
  after = sum_of_file (path);
  g_assert_cmpstr (before, ==, after);

  remove_tree (folder);
}

/* Files that are not a store's database, with the store that is refused. */
static void
test_foreign (void)
{
  static const char *const contents[] = {
    "",
    "This is not a database at all, but a text that somebody put here by mistake, "
    "longer than the header of a database is.",
  };

  for (guint i = 0; i < G_N_ELEMENTS (contents); i++)
    {
      g_autofree char *folder = make_test_folder ();
      g_autofree char *path = g_build_filename (folder, "khadim.db", NULL);
      g_autofree char *after = NULL;

      g_assert_true (g_file_set_contents (path, contents[i], -1, NULL));
      refused (folder, KHADIM_STORE_ERROR_CORRUPT);
      g_assert_true (g_file_get_contents (path, &after, NULL, NULL));
      g_assert_cmpstr (after, ==, contents[i]);
      remove_tree (folder);
    }
}

static void
test_other_program (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autofree char *path = g_build_filename (folder, "khadim.db", NULL);
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;

  run_sql (path, "CREATE TABLE mine (x); PRAGMA user_version = 1");
  before = sum_of_file (path);
  refused (folder, KHADIM_STORE_ERROR_CORRUPT);
  after = sum_of_file (path);
  g_assert_cmpstr (before, ==, after);

  remove_tree (folder);
}

static void
test_other_mode (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autofree char *id = NULL;
  g_autofree char *path = make_closed_store (folder, &id);

  run_sql (path, "PRAGMA journal_mode = DELETE");
  refused (folder, KHADIM_STORE_ERROR_UNSUPPORTED);
  run_sql (path, "PRAGMA journal_mode = WAL");
  g_object_unref (open_store (folder));

  remove_tree (folder);
}

static void
test_lacks_table (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autofree char *id = NULL;
  g_autofree char *path = make_closed_store (folder, &id);

  run_sql (path, "DROP TABLE commands");
  refused (folder, KHADIM_STORE_ERROR_CORRUPT);

  remove_tree (folder);
}

/* Damage behind the header shows when the pages are read or written. */
static void
test_damaged_pages (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autofree char *id = NULL;
  g_autofree char *path = make_closed_store (folder, &id);
  g_autofree char *content = NULL;
  g_autoptr(KhadimStore) store = NULL;
  g_autoptr(KhadimSessionRecord) session = NULL;
  g_autoptr(GError) error = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &content, &size, NULL));
  for (gsize page = 4096; page < size; page += 4096)
    memset (content + page, 0xa5, HEADER_BYTES);
  g_assert_true (g_file_set_contents (path, content, (gssize) size, NULL));

  store = khadim_store_sqlite_new (folder, &error);
  if (store != NULL)
    {
      g_assert_no_error (error);
      session = khadim_store_get_session (store, id, &error);
      g_assert_null (session);
    }
  g_assert_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_CORRUPT);
  if (store != NULL)
    {
      KhadimStoreBatch *batch = khadim_store_batch_new ();

      session = make_session ();
      khadim_store_batch_put_session (batch, session);
      commit_fails (store, batch, KHADIM_STORE_ERROR_CORRUPT);
    }

  g_clear_object (&store);
  remove_tree (folder);
}

static void
test_no_folder (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autofree char *file = g_build_filename (folder, "file", NULL);
  g_autofree char *below = g_build_filename (file, "store", NULL);

  g_assert_true (g_file_set_contents (file, "x", -1, NULL));
  refused (below, KHADIM_STORE_ERROR_FAILED);

  remove_tree (folder);
}

static KhadimStore *
open_impatient (const char *folder)
{
  KhadimStore *store;

  impatient = TRUE;
  store = open_store (folder);
  impatient = FALSE;

  return store;
}

/* Another connection holds the write lock for longer than the store waits. */
static void
test_busy (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autofree char *path = g_build_filename (folder, "khadim.db", NULL);
  g_autoptr(KhadimStore) store = open_impatient (folder);
  g_autofree char *id = put_new_session (store);
  g_autoptr(KhadimSessionRecord) session = make_session ();
  g_autoptr(KhadimSessionRecord) read = NULL;
  g_autoptr(GError) error = NULL;
  KhadimStoreBatch *batch = khadim_store_batch_new ();
  sqlite3 *db;

  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, "BEGIN IMMEDIATE", NULL, NULL, NULL), ==, SQLITE_OK);
  khadim_store_batch_put_session (batch, session);
  commit_fails (store, batch, KHADIM_STORE_ERROR_BUSY);

  /* Readers do not wait for it. */
  read = khadim_store_get_session (store, id, &error);
  g_assert_no_error (error);
  g_assert_nonnull (read);

  g_assert_cmpint (sqlite3_exec (db, "ROLLBACK", NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
  batch = khadim_store_batch_new ();
  khadim_store_batch_put_session (batch, session);
  commit (store, batch);

  g_clear_object (&store);
  remove_tree (folder);
}

/* Migrations ----------------------------------------------------------------*/

/* A database as version 1 left it, by the sqlite3 program; see data/. */
static char *
load_fixture (const char *folder,
              const char *name)
{
  g_autofree char *fixture = g_test_build_filename (G_TEST_DIST, "engine", "data", name, NULL);
  g_autofree char *sql = NULL;
  char *path = g_build_filename (folder, "khadim.db", NULL);

  g_assert_true (g_file_get_contents (fixture, &sql, NULL, NULL));
  run_sql (path, sql);

  return path;
}

/* Every version that was released can be opened and holds what it held. */
static void
test_version_1 (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autofree char *path = load_fixture (folder, "store-v1.sql");
  g_autoptr(KhadimStore) store = open_store (folder);
  g_autoptr(KhadimSessionRecord) session = NULL;
  g_autoptr(GPtrArray) calls = NULL;
  g_autoptr(GPtrArray) events = NULL;
  g_autoptr(GPtrArray) commands = NULL;
  g_autofree char *line = NULL;

  session = khadim_store_get_session (store, "01900000-0000-7000-8000-000000000001", NULL);
  g_assert_cmpstr (session->title, ==, "Bills");
  g_assert_cmpstr (session->document, ==, "{\"steps\":[]}");
  g_assert_cmpint (session->state, ==, KHADIM_SESSION_PAUSED);
  calls = khadim_store_list_calls (store, session->id, NULL);
  g_assert_cmpuint (calls->len, ==, 1);
  g_assert_cmpint (((KhadimToolCallRecord *) g_ptr_array_index (calls, 0))->state, ==,
                   KHADIM_CALL_EXECUTING);
  events = khadim_store_list_events (store, session->id, 0, 0, NULL);
  g_assert_cmpuint (events->len, ==, 2);
  line = khadim_event_to_line (g_ptr_array_index (events, 1));
  g_assert_cmpstr (line, ==,
                   "{\"seq\":2,\"time\":\"2026-01-02T03:04:05.000006Z\",\"channel\":\"control\","
                   "\"event_type\":\"question\",\"content\":\"Go on?\","
                   "\"metadata\":{\"kind\":\"choice\"},"
                   "\"session_id\":\"01900000-0000-7000-8000-000000000001\","
                   "\"run_id\":\"r1\",\"workspace_id\":null}");
  commands = khadim_store_list_commands (store, NULL, NULL);
  g_assert_cmpuint (commands->len, ==, 1);

  g_clear_object (&store);
  remove_tree (folder);
}

static const KhadimMigration two_steps[] = {
  { 1, "CREATE TABLE never (x);" },
  { 2, "CREATE TABLE added (x); INSERT INTO added SELECT count(*) FROM sessions;" },
  { 3, "UPDATE added SET x = x + 41;" },
};

static const KhadimMigration broken_step[] = {
  { 1, "CREATE TABLE never (x);" },
  { 2, "CREATE TABLE added (x); DELETE FROM sessions;" },
  { 3, "INSERT INTO no_such_table VALUES (1);" },
};

static gint64
ask (const char *path,
     const char *sql)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimDb) db = _khadim_db_open (path, KHADIM_DB_READ_WRITE, &error);
  gint64 value;

  g_assert_no_error (error);
  g_assert_true (_khadim_db_get_int (db, sql, &value, &error));

  return value;
}

/* From 1 to 3 in one go, after a copy of 1. */
static void
test_migrates (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autofree char *path = load_fixture (folder, "store-v1.sql");
  g_autofree char *copy = g_strconcat (path, ".v1", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimDb) db = _khadim_db_open (path, KHADIM_DB_READ_WRITE, &error);

  g_assert_no_error (error);
  g_assert_true (_khadim_store_migrate (db, two_steps, G_N_ELEMENTS (two_steps), &error));
  g_assert_no_error (error);
  g_assert_true (_khadim_store_migrate (db, two_steps, G_N_ELEMENTS (two_steps), &error));
  g_clear_pointer (&db, _khadim_db_free);

  g_assert_cmpint (ask (path, "SELECT x FROM added"), ==, 42);
  g_assert_cmpint (ask (path, "PRAGMA user_version"), ==, 3);
  g_assert_cmpint (ask (copy, "PRAGMA user_version"), ==, 1);
  g_assert_cmpint (ask (copy, "SELECT count(*) FROM sessions"), ==, 1);
  remove_tree (folder);
}

/* A step that fails takes the ones before it back. */
static void
test_migration_fails (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autofree char *path = load_fixture (folder, "store-v1.sql");
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimDb) db = _khadim_db_open (path, KHADIM_DB_READ_WRITE, &error);

  g_assert_no_error (error);
  g_assert_false (_khadim_store_migrate (db, broken_step, G_N_ELEMENTS (broken_step), &error));
  g_assert_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_FAILED);
  g_clear_pointer (&db, _khadim_db_free);

  g_assert_cmpint (ask (path, "PRAGMA user_version"), ==, 1);
  g_assert_cmpint (ask (path, "SELECT count(*) FROM sessions"), ==, 1);
  g_assert_cmpint (ask (path, "SELECT count(*) FROM sqlite_schema WHERE name = 'added'"), ==, 0);
  remove_tree (folder);
}

/* Processes -----------------------------------------------------------------*/

#define N_PROCESSES 4
#define N_ROUNDS 12
#define N_EVENTS 25
#define RACE_OPTION "--race"
#define NEW_SESSION "new"

static const char *program;

enum { START_FD = 3, RESULT_FD = 4, DONE_FD = 5 };

/* Every commit of every process succeeds, however many of them write. */
static void
put_session_with_events (KhadimStore *store)
{
  g_autofree char *id = put_new_session (store);

  for (gint64 seq = 1; seq <= N_EVENTS; seq++)
    {
      g_autoptr(KhadimEvent) event = make_event (id, seq);
      KhadimStoreBatch *batch = khadim_store_batch_new ();

      khadim_store_batch_add_event (batch, event);
      commit (store, batch);
    }
}

/* One of several processes: waits for the start, opens the store, claims the
 * session or makes a new one, tells how it went, and stays until all have. */
static int
run_racer (const char *folder,
           const char *session_id)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimStore) store = NULL;
  char result = '1';
  char byte;

  if (read (START_FD, &byte, 1) != 0)
    return 1;

  store = khadim_store_sqlite_new (folder, &error);
  if (store != NULL && g_str_equal (session_id, NEW_SESSION))
    put_session_with_events (store);
  else if (store != NULL)
    khadim_store_claim_session (store, session_id, &error);

  if (g_error_matches (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_NOT_OWNER))
    result = '0';
  else if (error != NULL)
    {
      g_printerr ("%s\n", error->message);
      result = 'x';
    }

  return write (RESULT_FD, &result, 1) != 1 || read (DONE_FD, &byte, 1) != 0;
}

static GPid
start_racer (const char *folder,
             const char *session_id,
             int         start_fd,
             int         result_fd,
             int         done_fd)
{
  const char *argv[] = { program, RACE_OPTION, folder, session_id, NULL };
  int sources[] = { start_fd, result_fd, done_fd };
  int targets[] = { START_FD, RESULT_FD, DONE_FD };
  g_autoptr(GError) error = NULL;
  GPid pid;

  g_spawn_async_with_pipes_and_fds (NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                                    -1, -1, -1, sources, targets, G_N_ELEMENTS (sources), &pid,
                                    NULL, NULL, NULL, &error);
  g_assert_no_error (error);

  return pid;
}

/* How many of the processes succeeded; none may fail otherwise. */
static guint
race (const char *folder,
      const char *session_id)
{
  GPid pids[N_PROCESSES];
  int start[2];
  int result[2];
  int done[2];
  guint n_won = 0;

  g_assert_true (g_unix_open_pipe (start, FD_CLOEXEC, NULL));
  g_assert_true (g_unix_open_pipe (result, FD_CLOEXEC, NULL));
  g_assert_true (g_unix_open_pipe (done, FD_CLOEXEC, NULL));
  for (guint i = 0; i < N_PROCESSES; i++)
    pids[i] = start_racer (folder, session_id, start[0], result[1], done[0]);
  close (start[0]);
  close (result[1]);
  close (done[0]);

  close (start[1]);
  for (guint i = 0; i < N_PROCESSES; i++)
    {
      char byte;

      g_assert_cmpint (read (result[0], &byte, 1), ==, 1);
      g_assert_cmpint (byte, !=, 'x');
      n_won += byte == '1';
    }
  close (done[1]);
  close (result[0]);

  for (guint i = 0; i < N_PROCESSES; i++)
    {
      int status;

      g_assert_cmpint (waitpid (pids[i], &status, 0), ==, pids[i]);
      g_assert_true (WIFEXITED (status) && WEXITSTATUS (status) == 0);
    }

  return n_won;
}

/* Of the processes that claim the session of an ended engine, one gets it. */
static void
test_race_claim (void)
{
  for (guint round = 0; round < N_ROUNDS; round++)
    {
      g_autofree char *folder = make_test_folder ();
      g_autofree char *id = NULL;
      g_autofree char *path = make_closed_store (folder, &id);

      g_assert_cmpuint (race (folder, id), ==, 1);
      g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS));
      remove_tree (folder);
    }
}

/* All that open a place at the same moment, where no store is, get the same. */
static void
test_race_create (void)
{
  for (guint round = 0; round < N_ROUNDS; round++)
    {
      g_autofree char *folder = make_test_folder ();
      g_autoptr(KhadimStore) store = NULL;
      g_autoptr(GPtrArray) sessions = NULL;

      g_assert_cmpuint (race (folder, NEW_SESSION), ==, N_PROCESSES);
      store = open_store (folder);
      sessions = khadim_store_list_sessions (store, NULL, 0, NULL);
      g_assert_cmpuint (sessions->len, ==, N_PROCESSES);
      for (guint i = 0; i < sessions->len; i++)
        {
          const KhadimSessionRecord *session = g_ptr_array_index (sessions, i);

          g_assert_cmpint (last_seq (store, session->id), ==, N_EVENTS);
        }
      g_clear_object (&store);
      remove_tree (folder);
    }
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);

  if (argc == 4 && g_str_equal (argv[1], RACE_OPTION))
    return run_racer (argv[2], argv[3]);

  program = self;
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/engine/store/open/network", test_network);
  g_test_add_func ("/engine/store/open/network-fuse", test_network_fuse);
  g_test_add_func ("/engine/store/open/newer", test_newer);
  g_test_add_func ("/engine/store/open/foreign", test_foreign);
  g_test_add_func ("/engine/store/open/other-program", test_other_program);
  g_test_add_func ("/engine/store/open/other-mode", test_other_mode);
  g_test_add_func ("/engine/store/open/lacks-table", test_lacks_table);
  g_test_add_func ("/engine/store/open/damaged-pages", test_damaged_pages);
  g_test_add_func ("/engine/store/open/no-folder", test_no_folder);
  g_test_add_func ("/engine/store/open/busy", test_busy);
  g_test_add_func ("/engine/store/open/version-1", test_version_1);
  g_test_add_func ("/engine/store/migrate/steps", test_migrates);
  g_test_add_func ("/engine/store/migrate/fails", test_migration_fails);
  g_test_add_func ("/engine/store/race/claim", test_race_claim);
  g_test_add_func ("/engine/store/race/create", test_race_create);

  return g_test_run ();
}
