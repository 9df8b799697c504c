/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* A process that commits numbered batches is killed from outside at random
 * microseconds. What it acknowledged is there afterwards, and only whole
 * batches; a writer that acknowledges too early is found out. */

#define G_LOG_DOMAIN "test-store-kill"

#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib-unix.h>

#include "tests/engine/store-helpers.h"

#define N_KILLS 120
#define N_STORES 8
#define MAX_LIES 200
#define MAX_LIFE_US 30000
#define N_IN_FLIGHT 4
#define EVENTS_PER_BATCH 2
#define ARTIFACT_BYTES 5000
/* Of the newest artifacts, so many have their contents checked. */
#define N_CHECKED 2 * N_IN_FLIGHT
#define ACK_FD 3

static const char *program;

/* The process that is killed ------------------------------------------------*/

typedef struct
{
  KhadimStore *store;
  const char *session_id;
  KhadimDurability durability;
  gboolean lies;
  guint32 next;
  guint32 n_done;
} Writer;

static void
acknowledge (guint32 number)
{
  if (write (ACK_FD, &number, sizeof number) != sizeof number)
    g_error ("Acknowledging: %s", g_strerror (errno));
}

static void
add_artifact (KhadimStoreBatch *batch,
              const char       *session_id,
              guint32           number)
{
  g_autoptr(KhadimArtifactRecord) artifact = khadim_artifact_record_new ();
  char *text = g_strdup_printf ("%*u", ARTIFACT_BYTES, number);
  g_autoptr(GBytes) bytes = g_bytes_new_take (text, ARTIFACT_BYTES);

  artifact->session_id = g_strdup (session_id);
  khadim_store_batch_add_artifact (batch, artifact, bytes);
}

/* A call, two events, an artifact and the session itself: what a step writes. */
static KhadimStoreBatch *
make_batch (Writer  *writer,
            guint32  number)
{
  g_autoptr(KhadimToolCallRecord) call = khadim_tool_call_record_new ();
  g_autoptr(KhadimSessionRecord) session = make_session ();
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  call->id = khadim_uuid7_new ();
  call->session_id = g_strdup (writer->session_id);
  call->position = g_strdup_printf ("%u", number);
  khadim_store_batch_put_call (batch, call);
  for (gint64 i = 1; i <= EVENTS_PER_BATCH; i++)
    {
      gint64 seq = ((gint64) number - 1) * EVENTS_PER_BATCH + i;
      g_autoptr(KhadimEvent) event = make_event (writer->session_id, seq);

      khadim_store_batch_add_event (batch, event);
    }
  add_artifact (batch, writer->session_id, number);
  g_free (session->id);
  session->id = g_strdup (writer->session_id);
  session->updated_us = number;
  khadim_store_batch_put_session (batch, session);

  return batch;
}

static void on_committed_cb (GObject      *source,
                             GAsyncResult *result,
                             gpointer      data);

static void
start_commit (Writer *writer)
{
  guint32 number = writer->next++;

  if (writer->lies)
    acknowledge (number);
  khadim_store_commit_async (writer->store, make_batch (writer, number), writer->durability,
                             on_committed_cb, writer);
}

static void
on_committed_cb (GObject      *source,
                 GAsyncResult *result,
                 gpointer      data)
{
  Writer *writer = data;
  g_autoptr(GError) error = NULL;

  if (!khadim_store_commit_finish (writer->store, result, &error))
    g_error ("Committing: %s", error->message);
  writer->n_done++;
  if (!writer->lies)
    acknowledge (writer->n_done);
  start_commit (writer);
}

static void G_GNUC_NORETURN
run_writer (const char *folder,
            const char *session_id,
            const char *grade,
            gboolean    lies)
{
  Writer writer = { .session_id = session_id, .lies = lies };
  g_autoptr(GError) error = NULL;

  writer.durability = g_str_equal (grade, "machine") ? KHADIM_DURABILITY_MACHINE
                                                     : KHADIM_DURABILITY_PROCESS;
  writer.store = open_store (folder);
  if (!khadim_store_claim_session (writer.store, session_id, &error))
    g_error ("Claiming: %s", error->message);
  writer.n_done = (guint32) (last_seq (writer.store, session_id) / EVENTS_PER_BATCH);
  writer.next = writer.n_done + 1;

  for (guint i = 0; i < N_IN_FLIGHT; i++)
    start_commit (&writer);
  for (;;)
    g_main_context_iteration (NULL, TRUE);
}

/* The one that kills --------------------------------------------------------*/

static GPid
start_writer (const char *folder,
              const char *session_id,
              const char *grade,
              const char *mode,
              int        *out_ack_fd)
{
  const char *argv[] = { program, mode, folder, session_id, grade, NULL };
  int target = ACK_FD;
  g_autoptr(GError) error = NULL;
  int ack[2];
  GPid pid;

  g_assert_true (g_unix_open_pipe (ack, FD_CLOEXEC, NULL));
  g_spawn_async_with_pipes_and_fds (NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                                    -1, -1, -1, &ack[1], &target, 1, &pid, NULL, NULL, NULL,
                                    &error);
  g_assert_no_error (error);
  close (ack[1]);
  *out_ack_fd = ack[0];

  return pid;
}

/* Reads acknowledgements until a moment, or until there are no more if it is 0;
 * gives the last number. */
static guint32
read_acks (int     fd,
           gint64  until_us,
           guint32 last)
{
  for (;;)
    {
      gint64 left_us = until_us != 0 ? until_us - g_get_monotonic_time () : 0;
      struct timespec timeout = {
        .tv_sec = MAX (left_us, 0) / G_USEC_PER_SEC,
        .tv_nsec = MAX (left_us, 0) % G_USEC_PER_SEC * 1000,
      };
      struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
      guint32 number;

      if (until_us != 0 && (left_us <= 0 || ppoll (&poll_fd, 1, &timeout, NULL) == 0))
        return last;
      if (read (fd, &number, sizeof number) != sizeof number)
        return last;
      last = number;
    }
}

/* A life from its first acknowledgement, or from its start, to a random moment. */
static guint32
live_and_kill (const char *folder,
               const char *session_id,
               const char *grade,
               const char *mode,
               gboolean    from_start)
{
  int ack_fd;
  GPid pid = start_writer (folder, session_id, grade, mode, &ack_fd);
  guint32 last = 0;
  int status;

  if (!from_start)
    g_assert_cmpint (read (ack_fd, &last, sizeof last), ==, sizeof last);
  last = read_acks (ack_fd,
                    g_get_monotonic_time () + g_test_rand_int_range (1, MAX_LIFE_US), last);
  g_assert_cmpint (kill (pid, SIGKILL), ==, 0);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
  last = read_acks (ack_fd, 0, last);
  close (ack_fd);

  return last;
}

static gint64
ask (sqlite3    *db,
     const char *sql)
{
  sqlite3_stmt *statement;
  gint64 value;

  g_assert_cmpint (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_ROW);
  value = sqlite3_column_int64 (statement, 0);
  sqlite3_finalize (statement);

  return value;
}

/* The contents of the newest rows are there, and whole. */
static void
check_contents (sqlite3    *db,
                const char *folder)
{
  sqlite3_stmt *statement;

  g_assert_cmpint (sqlite3_prepare_v2 (db, "SELECT sha256 FROM artifacts"
                                           " ORDER BY rowid DESC LIMIT ?1",
                                       -1, &statement, NULL),
                   ==, SQLITE_OK);
  sqlite3_bind_int (statement, 1, N_CHECKED);
  while (sqlite3_step (statement) == SQLITE_ROW)
    {
      const char *sum = (const char *) sqlite3_column_text (statement, 0);
      g_autofree char *path = g_build_filename (folder, "artifacts", sum, NULL);
      g_autofree char *content = NULL;
      g_autofree char *sum_now = NULL;
      gsize size;

      g_assert_true (g_file_get_contents (path, &content, &size, NULL));
      sum_now = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (guint8 *) content, size);
      g_assert_cmpstr (sum_now, ==, sum);
    }
  sqlite3_finalize (statement);
}

/* How many batches SQLite itself finds, all of them whole. */
static guint32
count_batches (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "khadim.db", NULL);
  gint64 n_calls;
  sqlite3 *db;

  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (ask (db, "SELECT count(*) FROM pragma_integrity_check"
                            " WHERE integrity_check = 'ok'"),
                   ==, 1);
  n_calls = ask (db, "SELECT count(*) FROM tool_calls");
  g_assert_cmpint (ask (db, "SELECT count(*) FROM events"), ==, n_calls * EVENTS_PER_BATCH);
  g_assert_cmpint (ask (db, "SELECT coalesce(max(seq), 0) FROM events"), ==,
                   n_calls * EVENTS_PER_BATCH);
  g_assert_cmpint (ask (db, "SELECT coalesce(max(CAST(position AS INTEGER)), 0)"
                            " FROM tool_calls"),
                   ==, n_calls);
  g_assert_cmpint (ask (db, "SELECT updated_us FROM sessions"), ==, n_calls);
  g_assert_cmpint (ask (db, "SELECT count(*) FROM artifacts"), ==, n_calls);
  check_contents (db, folder);
  sqlite3_close (db);

  return (guint32) n_calls;
}

static char *
make_store_with_session (const char *folder)
{
  KhadimStore *store = open_store (folder);
  char *id = put_new_session (store);

  g_assert_finalize_object (store);

  return id;
}

typedef struct
{
  guint n_batches;
  guint n_unsaid;    /* kills between a commit and its acknowledgement */
} Lives;

/* One store, killed again and again: every process takes the session over from
 * the one before. */
static void
kill_repeatedly (guint  n_kills,
                 Lives *lives)
{
  g_autofree char *folder = make_test_folder ();
  g_autofree char *id = make_store_with_session (folder);
  guint32 n_batches = 0;

  for (guint i = 0; i < n_kills; i++)
    {
      guint32 last = live_and_kill (folder, id, i % 2 == 0 ? "process" : "machine", "--writer",
                                    i % 4 == 3);
      guint32 n_now = count_batches (folder);

      g_assert_cmpuint (n_now, >=, MAX (last, n_batches));
      g_assert_cmpuint (n_now, <=, MAX (last, n_batches) + N_IN_FLIGHT);
      lives->n_unsaid += n_now > MAX (last, n_batches);
      n_batches = n_now;
    }
  lives->n_batches += n_batches;
  remove_tree (folder);
}

static void
test_kill (void)
{
  Lives lives = { 0 };

  for (guint i = 0; i < N_STORES; i++)
    kill_repeatedly (N_KILLS / N_STORES, &lives);

  g_test_message ("%u kills, %u batches, %u kills between commit and acknowledgement", N_KILLS,
                  lives.n_batches, lives.n_unsaid);
  g_assert_cmpuint (lives.n_batches, >, N_KILLS);
}

/* The positive control: the harness finds a writer that acknowledges first. */
static void
test_lies (void)
{
  g_autofree char *folder = make_test_folder ();
  g_autofree char *id = make_store_with_session (folder);
  gboolean found = FALSE;
  guint i;

  for (i = 0; i < MAX_LIES && !found; i++)
    {
      guint32 last = live_and_kill (folder, id, "machine", "--liar", FALSE);

      found = count_batches (folder) < last;
    }

  g_test_message ("Found after %u kills", i);
  g_assert_true (found);
  remove_tree (folder);
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);

  if (argc == 5 && g_str_equal (argv[1], "--writer"))
    run_writer (argv[2], argv[3], argv[4], FALSE);
  if (argc == 5 && g_str_equal (argv[1], "--liar"))
    run_writer (argv[2], argv[3], argv[4], TRUE);

  program = self;
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/engine/store/kill/acknowledged", test_kill);
  g_test_add_func ("/engine/store/kill/control", test_lies);

  return g_test_run ();
}
