/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* The store beside a bare loop of sqlite3 that writes the same rows, in turns.
 * One JSON object on stdout: commits per second, batches of six rows; a ratio
 * above 1 means that the store is faster. The folder is that of TMPDIR. */

#define G_LOG_DOMAIN "bench-store"

#include "config.h"

#include <sqlite3.h>

#include "tests/engine/store-helpers.h"

#define ROUNDS 5
#define N_PROCESS 4000
#define N_MACHINE 200
#define N_IN_FLIGHT 64
#define N_NOTICES 300
#define EVENTS_PER_BATCH 4
#define METADATA \
  "{\"id\":\"0190a0b0-0000-7000-8000-000000000000\",\"tool\":\"screen.click\"," \
  "\"title\":\"Click “Save”\",\"args\":{\"target\":{\"name\":\"Save\",\"role\":\"button\"}}}"
#define RESULT "{\"x\":100,\"y\":200,\"score\":0.97}"

typedef struct
{
  KhadimStore *store;
  char *session_id;
  KhadimDurability durability;
  JsonNode *metadata;
  JsonNode *result;
  guint next;
  guint n_done;
  guint n_all;
} Writer;

static KhadimStoreBatch *
make_batch (Writer *writer)
{
  g_autoptr(KhadimToolCallRecord) call = khadim_tool_call_record_new ();
  g_autoptr(KhadimSessionRecord) session = khadim_session_record_new ();
  KhadimStoreBatch *batch = khadim_store_batch_new ();
  guint number = writer->next++;

  session->id = g_strdup (writer->session_id);
  session->title = g_strdup ("Bills");
  session->updated_us = number;
  khadim_store_batch_put_session (batch, session);

  call->id = khadim_uuid7_new ();
  call->session_id = g_strdup (writer->session_id);
  call->position = g_strdup_printf ("%u", number);
  call->tool = g_strdup ("screen.click");
  call->args = json_node_ref (writer->metadata);
  call->result = json_node_ref (writer->result);
  khadim_store_batch_put_call (batch, call);

  for (gint64 i = 1; i <= EVENTS_PER_BATCH; i++)
    {
      g_autoptr(KhadimEvent) event =
        khadim_event_new (writer->session_id, (gint64) number * EVENTS_PER_BATCH + i,
                          khadim_time_now_us (), KHADIM_CHANNEL_PROGRESS, "step_start",
                          "Click “Save”", writer->metadata);

      khadim_store_batch_add_event (batch, event);
    }

  return batch;
}

static void on_committed_cb (GObject      *source,
                             GAsyncResult *result,
                             gpointer      data);

static void
start_commit (Writer *writer)
{
  if (writer->next < writer->n_all)
    khadim_store_commit_async (writer->store, make_batch (writer), writer->durability,
                               on_committed_cb, writer);
}

static void
on_committed_cb (GObject      *source,
                 GAsyncResult *result,
                 gpointer      data)
{
  Writer *writer = data;
  g_autoptr(GError) error = NULL;

  khadim_store_commit_finish (writer->store, result, &error);
  g_assert_no_error (error);
  writer->n_done++;
  start_commit (writer);
}

/* Commits of the store per second, so many of them at once. */
static double
time_store (KhadimDurability durability,
            guint            n_commits,
            guint            n_in_flight)
{
  g_autofree char *folder = make_test_folder ();
  Writer writer = { .durability = durability, .n_all = n_commits };
  gint64 start;
  gint64 end;

  writer.store = open_store (folder);
  writer.session_id = put_new_session (writer.store);
  writer.metadata = parse_json (METADATA);
  writer.result = parse_json (RESULT);

  start = g_get_monotonic_time ();
  for (guint i = 0; i < n_in_flight; i++)
    start_commit (&writer);
  while (writer.n_done < n_commits)
    g_main_context_iteration (NULL, TRUE);
  end = g_get_monotonic_time ();

  json_node_unref (writer.metadata);
  json_node_unref (writer.result);
  g_free (writer.session_id);
  g_object_unref (writer.store);
  remove_tree (folder);

  return (double) n_commits * G_USEC_PER_SEC / (double) (end - start);
}

/* The bare loop -------------------------------------------------------------*/

static void
exec (sqlite3    *db,
      const char *sql)
{
  g_assert_cmpint (sqlite3_exec (db, sql, NULL, NULL, NULL), ==, SQLITE_OK);
}

static sqlite3_stmt *
prepare (sqlite3    *db,
         const char *sql)
{
  sqlite3_stmt *statement;

  g_assert_cmpint (sqlite3_prepare_v3 (db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL),
                   ==, SQLITE_OK);

  return statement;
}

static void
run (sqlite3_stmt *statement)
{
  g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_DONE);
  sqlite3_reset (statement);
}

static void
bind (sqlite3_stmt *statement,
      int           index,
      const char   *text)
{
  sqlite3_bind_text (statement, index, text, -1, SQLITE_TRANSIENT);
}

enum { BEGIN, COMMIT, SESSION, CALL, EVENT, N_STATEMENTS };

static void
write_bare (sqlite3_stmt *const *statements,
            const char          *session_id,
            guint                number)
{
  g_autofree char *position = g_strdup_printf ("%u", number);
  g_autofree char *call_id = khadim_uuid7_new ();

  run (statements[BEGIN]);
  bind (statements[SESSION], 1, session_id);
  sqlite3_bind_int64 (statements[SESSION], 2, number);
  run (statements[SESSION]);
  bind (statements[CALL], 1, call_id);
  bind (statements[CALL], 2, session_id);
  bind (statements[CALL], 3, position);
  bind (statements[CALL], 4, METADATA);
  bind (statements[CALL], 5, RESULT);
  run (statements[CALL]);
  for (gint64 i = 1; i <= EVENTS_PER_BATCH; i++)
    {
      bind (statements[EVENT], 1, session_id);
      sqlite3_bind_int64 (statements[EVENT], 2, (gint64) number * EVENTS_PER_BATCH + i);
      sqlite3_bind_int64 (statements[EVENT], 3, khadim_time_now_us ());
      bind (statements[EVENT], 4, METADATA);
      run (statements[EVENT]);
    }
  run (statements[COMMIT]);
}

/* The store's own tables and settings, and nothing of the store above them. */
static double
time_bare (KhadimDurability durability,
           guint            n_commits)
{
  static const char *const sql[N_STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [SESSION] = "INSERT INTO sessions (id, title, state, created_us, updated_us, ended_us)"
                " VALUES (?1, 'Bills', 'WORKING', 0, ?2, 0)"
                " ON CONFLICT (id) DO UPDATE SET updated_us = excluded.updated_us",
    [CALL] = "INSERT INTO tool_calls (id, session_id, position, tool, args, state, result,"
             " created_us, started_us, ended_us)"
             " VALUES (?1, ?2, ?3, 'screen.click', ?4, 'PENDING', ?5, 0, 0, 0)",
    [EVENT] = "INSERT INTO events VALUES (?1, ?2, ?3, 'progress', 'step_start',"
              " 'Click “Save”', ?4, NULL, NULL)",
  };
  g_autofree char *folder = make_test_folder ();
  g_autofree char *path = g_build_filename (folder, "khadim.db", NULL);
  g_autofree char *session_id = NULL;
  sqlite3_stmt *statements[N_STATEMENTS];
  KhadimStore *store = open_store (folder);
  gint64 start;
  gint64 end;
  sqlite3 *db;

  session_id = put_new_session (store);
  g_object_unref (store);
  g_assert_cmpint (sqlite3_open_v2 (path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL),
                   ==, SQLITE_OK);
  exec (db, durability == KHADIM_DURABILITY_MACHINE ? "PRAGMA synchronous = FULL"
                                                    : "PRAGMA synchronous = NORMAL");
  for (guint i = 0; i < N_STATEMENTS; i++)
    statements[i] = prepare (db, sql[i]);

  start = g_get_monotonic_time ();
  for (guint i = 0; i < n_commits; i++)
    write_bare (statements, session_id, i);
  end = g_get_monotonic_time ();

  for (guint i = 0; i < N_STATEMENTS; i++)
    sqlite3_finalize (statements[i]);
  sqlite3_close (db);
  remove_tree (folder);

  return (double) n_commits * G_USEC_PER_SEC / (double) (end - start);
}

static void
print_number (const char *name,
              double      value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (text, sizeof text, "%.3f", value);
  g_print (",\"%s\":%s", name, text);
}

/* Noticing ------------------------------------------------------------------*/

static void
on_changed_cb (KhadimStore *store,
               gpointer     data)
{
  gint64 *noticed_us = data;

  *noticed_us = g_get_monotonic_time ();
}

static int
compare_times (gconstpointer a,
               gconstpointer b)
{
  gint64 first = *(const gint64 *) a;
  gint64 second = *(const gint64 *) b;

  return (first > second) - (first < second);
}

/* From the return of a commit of one engine to the call of a watch of another. */
static void
time_notices (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autoptr(GArray) times = g_array_new (FALSE, FALSE, sizeof (gint64));
  KhadimStore *writer = open_store (folder);
  KhadimStore *watcher = open_store (folder);
  gint64 noticed_us = 0;

  g_assert_cmpuint (khadim_store_watch_changes (watcher, on_changed_cb, &noticed_us, NULL, NULL),
                    !=, 0);
  for (guint i = 0; i < N_NOTICES; i++)
    {
      gint64 left_us;
      gint64 committed_us;

      noticed_us = 0;
      g_free (put_new_session (writer));
      committed_us = g_get_monotonic_time ();
      while (noticed_us == 0)
        g_main_context_iteration (NULL, TRUE);
      left_us = MAX (noticed_us - committed_us, 0);
      g_array_append_val (times, left_us);
    }
  g_object_unref (watcher);
  g_object_unref (writer);
  remove_tree (folder);

  g_array_sort (times, compare_times);
  g_print ("\"notice_us\":{\"median\":%" G_GINT64_FORMAT ",\"p99\":%" G_GINT64_FORMAT "}",
           g_array_index (times, gint64, N_NOTICES / 2),
           g_array_index (times, gint64, N_NOTICES * 99 / 100));
}

static void
run_case (const char       *name,
          KhadimDurability  durability,
          guint             n_commits)
{
  double one = 0.0;
  double many = 0.0;
  double bare = 0.0;

  for (guint i = 0; i < ROUNDS; i++)
    {
      one = MAX (one, time_store (durability, n_commits, 1));
      many = MAX (many, time_store (durability, n_commits, N_IN_FLIGHT));
      bare = MAX (bare, time_bare (durability, n_commits));
    }

  g_print ("{\"name\":\"%s\",\"commits\":%u", name, n_commits);
  print_number ("store_one_at_a_time", one);
  print_number ("store_64_in_flight", many);
  print_number ("sqlite", bare);
  print_number ("ratio_one_at_a_time", one / bare);
  print_number ("ratio_64_in_flight", many / bare);
  g_print ("}");
}

int
main (int    argc,
      char **argv)
{
  g_print ("{\"benchmark\":\"store\",\"unit\":\"commits per second\",\"rows\":6,\"cases\":[");
  run_case ("process", KHADIM_DURABILITY_PROCESS, N_PROCESS);
  g_print (",");
  run_case ("machine", KHADIM_DURABILITY_MACHINE, N_MACHINE);
  g_print ("],");
  time_notices ();
  g_print ("}\n");

  return 0;
}
