/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-store"

#include "config.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "tests/engine/store-helpers.h"

typedef struct
{
  char *folder;
  KhadimStore *store;
} Fixture;

static void
set_up (Fixture       *fixture,
        gconstpointer  data)
{
  fixture->folder = make_test_folder ();
  fixture->store = open_store (fixture->folder);
}

static void
tear_down (Fixture       *fixture,
           gconstpointer  data)
{
  if (fixture->store != NULL)
    g_assert_finalize_object (fixture->store);
  remove_tree (fixture->folder);
  g_free (fixture->folder);
}

static void
reopen (Fixture *fixture)
{
  g_assert_finalize_object (fixture->store);
  fixture->store = open_store (fixture->folder);
}

/* Answers of SQLite itself, asked beside the store. */
static char *
ask_sqlite (Fixture    *fixture,
            const char *sql)
{
  g_autofree char *path = g_build_filename (fixture->folder, "khadim.db", NULL);
  g_autofree char *answer = NULL;
  sqlite3_stmt *statement;
  sqlite3 *db;

  g_assert_cmpint (sqlite3_open_v2 (path, &db, SQLITE_OPEN_READWRITE, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL), ==, SQLITE_OK);
  if (sqlite3_step (statement) == SQLITE_ROW)
    answer = g_strdup ((const char *) sqlite3_column_text (statement, 0));
  sqlite3_finalize (statement);
  sqlite3_close (db);

  return g_steal_pointer (&answer);
}

static KhadimSessionRecord *
full_session (void)
{
  KhadimSessionRecord *session = make_session ();

  session->parent_session_id = g_strdup ("parent");
  session->parent_call_id = g_strdup ("call");
  session->driver = g_strdup ("player");
  session->title = g_strdup ("Größe „x“");
  session->automation = g_strdup ("bills");
  session->document = g_strdup ("{\"steps\": []}");
  session->assets_dir = g_strdup ("/a");
  session->work_dir = g_strdup ("/w");
  session->workspace_id = g_strdup ("/w");
  session->inputs = parse_json ("{\"a\":[1,2.5,null,\"x\"]}");
  session->options = parse_json ("{}");
  session->state = KHADIM_SESSION_PAUSED;
  session->outcome = g_strdup ("failed");
  session->error_code = g_strdup ("timeout");
  session->error_message = g_strdup ("Nothing came");
  session->output = parse_json ("null");
  session->updated_us = G_MAXINT64;
  session->ended_us = G_MININT64;

  return session;
}

static void
assert_json_equal (JsonNode *a,
                   JsonNode *b)
{
  if (a == NULL || b == NULL)
    g_assert_true (a == b);
  else
    g_assert_true (khadim_json_equal (a, b));
}

static void
assert_sessions_equal (const KhadimSessionRecord *a,
                       const KhadimSessionRecord *b)
{
  g_assert_cmpstr (a->id, ==, b->id);
  g_assert_cmpstr (a->parent_session_id, ==, b->parent_session_id);
  g_assert_cmpstr (a->parent_call_id, ==, b->parent_call_id);
  g_assert_cmpstr (a->driver, ==, b->driver);
  g_assert_cmpstr (a->title, ==, b->title);
  g_assert_cmpstr (a->automation, ==, b->automation);
  g_assert_cmpstr (a->document, ==, b->document);
  g_assert_cmpstr (a->assets_dir, ==, b->assets_dir);
  g_assert_cmpstr (a->work_dir, ==, b->work_dir);
  g_assert_cmpstr (a->workspace_id, ==, b->workspace_id);
  assert_json_equal (a->inputs, b->inputs);
  assert_json_equal (a->options, b->options);
  g_assert_cmpint (a->state, ==, b->state);
  g_assert_cmpstr (a->outcome, ==, b->outcome);
  g_assert_cmpstr (a->error_code, ==, b->error_code);
  g_assert_cmpstr (a->error_message, ==, b->error_message);
  assert_json_equal (a->output, b->output);
  g_assert_cmpint (a->created_us, ==, b->created_us);
  g_assert_cmpint (a->updated_us, ==, b->updated_us);
  g_assert_cmpint (a->ended_us, ==, b->ended_us);
}

static void
test_session_round_trip (Fixture       *fixture,
                         gconstpointer  data)
{
  g_autoptr(KhadimSessionRecord) full = full_session ();
  g_autoptr(KhadimSessionRecord) bare = make_session ();
  g_autoptr(KhadimSessionRecord) read_full = NULL;
  g_autoptr(KhadimSessionRecord) read_bare = NULL;
  g_autoptr(GError) error = NULL;
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  g_assert_true (khadim_store_batch_is_empty (batch));
  khadim_store_batch_put_session (batch, full);
  khadim_store_batch_put_session (batch, bare);
  g_assert_false (khadim_store_batch_is_empty (batch));
  commit (fixture->store, batch);
  reopen (fixture);

  read_full = khadim_store_get_session (fixture->store, full->id, &error);
  g_assert_no_error (error);
  assert_sessions_equal (full, read_full);
  read_bare = khadim_store_get_session (fixture->store, bare->id, &error);
  g_assert_no_error (error);
  assert_sessions_equal (bare, read_bare);
  g_assert_null (read_bare->inputs);
}

/* A later put replaces everything but whose the session is. */
static void
test_session_replaced (Fixture       *fixture,
                       gconstpointer  data)
{
  g_autoptr(KhadimSessionRecord) session = full_session ();
  g_autoptr(KhadimSessionRecord) again = make_session ();
  g_autoptr(KhadimSessionRecord) read = NULL;
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  khadim_store_batch_put_session (batch, session);
  commit (fixture->store, batch);

  g_free (again->id);
  again->id = g_strdup (session->id);
  again->document = g_strdup ("{\"steps\":[1]}");
  batch = khadim_store_batch_new ();
  khadim_store_batch_put_session (batch, again);
  commit (fixture->store, batch);

  read = khadim_store_get_session (fixture->store, session->id, NULL);
  assert_sessions_equal (again, read);
  g_assert_cmpstr (read->owner, ==, khadim_store_get_owner_id (fixture->store));
}

/* A batch keeps what records were when they were added. */
static void
test_batch_copies (Fixture       *fixture,
                   gconstpointer  data)
{
  g_autoptr(KhadimSessionRecord) session = make_session ();
  g_autoptr(KhadimSessionRecord) read = NULL;
  g_autoptr(JsonNode) expected = parse_json ("{\"n\":1}");
  KhadimStoreBatch *batch = khadim_store_batch_new ();
  JsonObject *object = json_object_new ();

  json_object_set_int_member (object, "n", 1);
  session->inputs = khadim_json_object (object);
  session->title = g_strdup ("first");
  khadim_store_batch_put_session (batch, session);
  g_assert_false (json_node_is_immutable (session->inputs));
  json_object_set_int_member (json_node_get_object (session->inputs), "n", 2);
  session->title[0] = 'F';
  commit (fixture->store, batch);

  read = khadim_store_get_session (fixture->store, session->id, NULL);
  g_assert_cmpstr (read->title, ==, "first");
  assert_json_equal (read->inputs, expected);
}

static KhadimToolCallRecord *
make_call (const char *session_id,
           const char *position)
{
  KhadimToolCallRecord *call = khadim_tool_call_record_new ();

  call->id = khadim_uuid7_new ();
  call->session_id = g_strdup (session_id);
  call->position = g_strdup (position);

  return call;
}

static void
fill_call (KhadimToolCallRecord *call)
{
  call->run_id = g_strdup ("run");
  call->step_id = g_strdup ("step");
  call->title = g_strdup ("Click");
  call->tool = g_strdup ("screen.click");
  call->args = parse_json ("{\"secret\":\"mail/password\"}");
  call->state = KHADIM_CALL_SEALED;
  call->result = parse_json ("[1]");
  call->detail = parse_json ("{\"score\":0.25}");
  call->error_code = g_strdup ("sealed");
  call->error_message = g_strdup ("m");
  call->error_scope = g_strdup ("1.2");
  call->audit = parse_json ("[{\"time\":1}]");
  call->created_us = 1;
  call->started_us = 2;
  call->ended_us = 3;
}

static void
assert_calls_equal (const KhadimToolCallRecord *a,
                    const KhadimToolCallRecord *b)
{
  g_assert_cmpstr (a->id, ==, b->id);
  g_assert_cmpstr (a->session_id, ==, b->session_id);
  g_assert_cmpstr (a->run_id, ==, b->run_id);
  g_assert_cmpstr (a->position, ==, b->position);
  g_assert_cmpstr (a->step_id, ==, b->step_id);
  g_assert_cmpstr (a->title, ==, b->title);
  g_assert_cmpstr (a->tool, ==, b->tool);
  assert_json_equal (a->args, b->args);
  g_assert_cmpint (a->state, ==, b->state);
  assert_json_equal (a->result, b->result);
  assert_json_equal (a->detail, b->detail);
  g_assert_cmpstr (a->error_code, ==, b->error_code);
  g_assert_cmpstr (a->error_message, ==, b->error_message);
  g_assert_cmpstr (a->error_scope, ==, b->error_scope);
  assert_json_equal (a->audit, b->audit);
  g_assert_cmpint (a->created_us, ==, b->created_us);
  g_assert_cmpint (a->started_us, ==, b->started_us);
  g_assert_cmpint (a->ended_us, ==, b->ended_us);
}

static void
test_calls (Fixture       *fixture,
            gconstpointer  data)
{
  g_autofree char *id = put_new_session (fixture->store);
  g_autoptr(KhadimToolCallRecord) first = make_call (id, "2");
  g_autoptr(KhadimToolCallRecord) second = make_call (id, "1");
  g_autoptr(KhadimToolCallRecord) same_place = make_call (id, "2");
  g_autoptr(GPtrArray) calls = NULL;
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  khadim_store_batch_put_call (batch, first);
  khadim_store_batch_put_call (batch, second);
  commit (fixture->store, batch);

  fill_call (first);
  batch = khadim_store_batch_new ();
  khadim_store_batch_put_call (batch, first);
  commit (fixture->store, batch);

  batch = khadim_store_batch_new ();
  khadim_store_batch_put_call (batch, same_place);
  commit_fails (fixture->store, batch, KHADIM_STORE_ERROR_FAILED);

  calls = khadim_store_list_calls (fixture->store, id, NULL);
  g_assert_cmpuint (calls->len, ==, 2);
  assert_calls_equal (g_ptr_array_index (calls, 0), first);
  assert_calls_equal (g_ptr_array_index (calls, 1), second);
}

/* A row cannot be taken into another session by its id. */
static void
test_call_of_other_session (Fixture       *fixture,
                            gconstpointer  data)
{
  g_autofree char *id = put_new_session (fixture->store);
  g_autofree char *other = put_new_session (fixture->store);
  g_autoptr(KhadimToolCallRecord) call = make_call (id, "1");
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  khadim_store_batch_put_call (batch, call);
  commit (fixture->store, batch);

  g_free (call->session_id);
  call->session_id = g_strdup (other);
  batch = khadim_store_batch_new ();
  khadim_store_batch_put_call (batch, call);
  commit_fails (fixture->store, batch, KHADIM_STORE_ERROR_NOT_OWNER);
}

static void
test_runs (Fixture       *fixture,
           gconstpointer  data)
{
  g_autofree char *id = put_new_session (fixture->store);
  g_autoptr(KhadimRunRecord) run = khadim_run_record_new ();
  g_autoptr(GPtrArray) runs = NULL;
  const KhadimRunRecord *read;
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  run->id = khadim_uuid7_new ();
  run->session_id = g_strdup (id);
  khadim_store_batch_put_run (batch, run);
  run->trigger = g_strdup ("person");
  run->attempt = 3;
  run->outcome = g_strdup ("completed");
  run->started_us = 5;
  run->ended_us = 6;
  khadim_store_batch_put_run (batch, run);
  commit (fixture->store, batch);

  runs = khadim_store_list_runs (fixture->store, id, NULL);
  g_assert_cmpuint (runs->len, ==, 1);
  read = g_ptr_array_index (runs, 0);
  g_assert_cmpstr (read->id, ==, run->id);
  g_assert_cmpstr (read->trigger, ==, "person");
  g_assert_cmpint (read->attempt, ==, 3);
  g_assert_cmpstr (read->outcome, ==, "completed");
  g_assert_cmpint (read->started_us, ==, 5);
  g_assert_cmpint (read->ended_us, ==, 6);
}

static void
test_events (Fixture       *fixture,
             gconstpointer  data)
{
  g_autofree char *id = put_new_session (fixture->store);
  g_autoptr(JsonNode) metadata = parse_json ("{\"id\":\"c\",\"args\":{\"x\":[null]}}");
  g_autoptr(KhadimEvent) first = khadim_event_new (id, 1, 77, KHADIM_CHANNEL_CONTROL, "question",
                                                   "Go on?", metadata);
  g_autoptr(GPtrArray) all = NULL;
  g_autoptr(GPtrArray) later = NULL;
  g_autofree char *line = NULL;
  g_autofree char *read_line = NULL;
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  g_assert_cmpint (last_seq (fixture->store, id), ==, 0);
  khadim_event_set_run (first, "r", "/w");
  line = khadim_event_to_line (first);
  khadim_store_batch_add_event (batch, first);
  for (gint64 seq = 2; seq <= 5; seq++)
    {
      g_autoptr(KhadimEvent) event = make_event (id, seq);

      khadim_store_batch_add_event (batch, event);
    }
  commit (fixture->store, batch);
  reopen (fixture);

  all = khadim_store_list_events (fixture->store, id, 0, 0, NULL);
  g_assert_cmpuint (all->len, ==, 5);
  read_line = khadim_event_to_line (g_ptr_array_index (all, 0));
  g_assert_cmpstr (read_line, ==, line);
  later = khadim_store_list_events (fixture->store, id, 2, 2, NULL);
  g_assert_cmpuint (later->len, ==, 2);
  g_assert_cmpint (khadim_event_get_seq (g_ptr_array_index (later, 0)), ==, 3);
  g_assert_cmpint (khadim_event_get_seq (g_ptr_array_index (later, 1)), ==, 4);
  g_assert_cmpint (last_seq (fixture->store, id), ==, 5);
}

static void
commit_events (Fixture          *fixture,
               const char       *id,
               gint64            first,
               gint64            second,
               KhadimStoreError *fails)
{
  g_autoptr(KhadimEvent) a = make_event (id, first);
  g_autoptr(KhadimEvent) b = make_event (id, second);
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  khadim_store_batch_add_event (batch, a);
  khadim_store_batch_add_event (batch, b);
  if (fails != NULL)
    commit_fails (fixture->store, batch, *fails);
  else
    commit (fixture->store, batch);
}

static void
test_events_without_gaps (Fixture       *fixture,
                          gconstpointer  data)
{
  g_autofree char *id = put_new_session (fixture->store);
  KhadimStoreError failed = KHADIM_STORE_ERROR_FAILED;
  KhadimStoreError not_found = KHADIM_STORE_ERROR_NOT_FOUND;

  commit_events (fixture, id, 2, 3, &failed);
  commit_events (fixture, id, 1, 3, &failed);
  commit_events (fixture, id, 1, 1, &failed);
  g_assert_cmpint (last_seq (fixture->store, id), ==, 0);
  commit_events (fixture, id, 1, 2, NULL);
  commit_events (fixture, id, 2, 3, &failed);
  commit_events (fixture, id, 4, 5, &failed);
  g_assert_cmpint (last_seq (fixture->store, id), ==, 2);
  commit_events (fixture, id, 3, 4, NULL);
  commit_events (fixture, "nobody", 1, 2, &not_found);
}

static void
test_lists_of_sessions (Fixture       *fixture,
                        gconstpointer  data)
{
  char *ids[4];
  static const char *const automations[] = { "a", "b", "a", "a" };
  g_autoptr(GPtrArray) all = NULL;
  g_autoptr(GPtrArray) some = NULL;
  g_autoptr(GPtrArray) children = NULL;
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      g_autoptr(KhadimSessionRecord) session = make_session ();

      session->created_us = i + 1;
      session->automation = g_strdup (automations[i]);
      session->parent_session_id = i == 3 ? g_strdup (ids[0]) : NULL;
      ids[i] = g_strdup (session->id);
      khadim_store_batch_put_session (batch, session);
    }
  commit (fixture->store, batch);

  all = khadim_store_list_sessions (fixture->store, NULL, 2, NULL);
  g_assert_cmpuint (all->len, ==, 2);
  g_assert_cmpstr (((KhadimSessionRecord *) g_ptr_array_index (all, 0))->id, ==, ids[2]);
  g_assert_cmpstr (((KhadimSessionRecord *) g_ptr_array_index (all, 1))->id, ==, ids[1]);
  some = khadim_store_list_sessions (fixture->store, "a", 0, NULL);
  g_assert_cmpuint (some->len, ==, 2);
  g_assert_cmpstr (((KhadimSessionRecord *) g_ptr_array_index (some, 1))->id, ==, ids[0]);
  children = khadim_store_list_children (fixture->store, ids[0], NULL);
  g_assert_cmpuint (children->len, ==, 1);
  g_assert_cmpstr (((KhadimSessionRecord *) g_ptr_array_index (children, 0))->id, ==, ids[3]);
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    g_free (ids[i]);
}

static void
test_automations (Fixture       *fixture,
                  gconstpointer  data)
{
  g_autoptr(KhadimAutomationRecord) automation = khadim_automation_record_new ();
  g_autoptr(GPtrArray) list = NULL;
  const KhadimAutomationRecord *read;
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  automation->name = g_strdup ("b");
  khadim_store_batch_put_automation (batch, automation);
  automation->folder = g_strdup ("/f");
  automation->title = g_strdup ("T");
  automation->updated_us = 1;
  automation->last_run_us = 2;
  automation->last_outcome = g_strdup ("completed");
  khadim_store_batch_put_automation (batch, automation);
  automation->name[0] = 'a';
  khadim_store_batch_put_automation (batch, automation);
  commit (fixture->store, batch);

  list = khadim_store_list_automations (fixture->store, NULL);
  g_assert_cmpuint (list->len, ==, 2);
  read = g_ptr_array_index (list, 1);
  g_assert_cmpstr (read->name, ==, "b");
  g_assert_cmpstr (read->folder, ==, "/f");
  g_assert_cmpstr (read->title, ==, "T");
  g_assert_cmpint (read->updated_us, ==, 1);
  g_assert_cmpint (read->last_run_us, ==, 2);
  g_assert_cmpstr (read->last_outcome, ==, "completed");
}

static void
add_command (KhadimStore *store,
             const char  *session_id,
             const char  *kind)
{
  g_autoptr(KhadimCommandRecord) command = khadim_command_record_new ();
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  command->session_id = g_strdup (session_id);
  command->kind = g_strdup (kind);
  command->payload = parse_json ("{\"value\":1}");
  command->by = g_strdup ("somebody");
  command->created_us = 9;
  khadim_store_batch_add_command (batch, command);
  commit (store, batch);
}

static void
handle_command (KhadimStore *store,
                gint64       id)
{
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  khadim_store_batch_command_handled (batch, id, khadim_time_now_us ());
  commit (store, batch);
}

static void
test_commands (Fixture       *fixture,
               gconstpointer  data)
{
  g_autofree char *id = put_new_session (fixture->store);
  g_autofree char *other = put_new_session (fixture->store);
  g_autoptr(GPtrArray) commands = NULL;
  g_autoptr(GPtrArray) rest = NULL;
  g_autoptr(GPtrArray) all = NULL;
  const KhadimCommandRecord *first;
  KhadimStoreBatch *batch;

  add_command (fixture->store, id, "pause");
  add_command (fixture->store, id, "answer");
  add_command (fixture->store, other, "stop");
  commands = khadim_store_list_commands (fixture->store, id, NULL);
  g_assert_cmpuint (commands->len, ==, 2);
  first = g_ptr_array_index (commands, 0);
  g_assert_cmpstr (first->kind, ==, "pause");
  g_assert_cmpstr (first->by, ==, "somebody");
  g_assert_cmpint (first->created_us, ==, 9);
  g_assert_cmpint (first->handled_us, ==, 0);
  g_assert_true (JSON_NODE_HOLDS_OBJECT (first->payload));

  handle_command (fixture->store, first->id);
  rest = khadim_store_list_commands (fixture->store, id, NULL);
  g_assert_cmpuint (rest->len, ==, 1);
  g_assert_cmpint (((KhadimCommandRecord *) g_ptr_array_index (rest, 0))->id, >, first->id);
  all = khadim_store_list_commands (fixture->store, NULL, NULL);
  g_assert_cmpuint (all->len, ==, 2);

  batch = khadim_store_batch_new ();
  khadim_store_batch_command_handled (batch, 12345, 1);
  commit_fails (fixture->store, batch, KHADIM_STORE_ERROR_NOT_FOUND);
}

static void
test_not_found (Fixture       *fixture,
                gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimCommandRecord) command = khadim_command_record_new ();
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  g_assert_null (khadim_store_get_session (fixture->store, "nobody", &error));
  g_assert_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_false (khadim_store_claim_session (fixture->store, "nobody", &error));
  g_assert_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_false (khadim_store_release_session (fixture->store, "nobody", &error));
  g_assert_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_NOT_FOUND);

  command->session_id = g_strdup ("nobody");
  command->kind = g_strdup ("stop");
  khadim_store_batch_add_command (batch, command);
  commit_fails (fixture->store, batch, KHADIM_STORE_ERROR_NOT_FOUND);
}

/* Artifacts -----------------------------------------------------------------*/

/* The sum of "hello" by sha256sum(1). */
#define HELLO_SUM "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

static KhadimArtifactRecord *
make_artifact (const char *session_id)
{
  KhadimArtifactRecord *artifact = khadim_artifact_record_new ();

  artifact->session_id = g_strdup (session_id);
  artifact->call_id = g_strdup ("c");
  artifact->role = g_strdup ("screen");
  artifact->name = g_strdup ("a.txt");
  artifact->media_type = g_strdup ("text/plain");
  artifact->created_us = 4;

  return artifact;
}

static void
test_artifacts (Fixture       *fixture,
                gconstpointer  data)
{
  g_autofree char *id = put_new_session (fixture->store);
  g_autofree char *other = put_new_session (fixture->store);
  g_autoptr(KhadimArtifactRecord) artifact = make_artifact (id);
  g_autoptr(KhadimArtifactRecord) shared = make_artifact (other);
  g_autoptr(GBytes) bytes = g_bytes_new_static ("hello", 5);
  g_autoptr(GPtrArray) list = NULL;
  g_autofree char *path = khadim_store_get_artifact_path (fixture->store, HELLO_SUM);
  g_autofree char *content = NULL;
  const KhadimArtifactRecord *read;
  KhadimStoreBatch *batch = khadim_store_batch_new ();
  GStatBuf info;

  khadim_store_batch_add_artifact (batch, artifact, bytes);
  shared->sha256 = g_strdup (HELLO_SUM);
  khadim_store_batch_add_artifact (batch, shared, NULL);
  commit (fixture->store, batch);

  list = khadim_store_list_artifacts (fixture->store, id, NULL);
  g_assert_cmpuint (list->len, ==, 1);
  read = g_ptr_array_index (list, 0);
  g_assert_cmpstr (read->sha256, ==, HELLO_SUM);
  g_assert_cmpint (read->size_bytes, ==, 5);
  g_assert_cmpstr (read->call_id, ==, "c");
  g_assert_cmpstr (read->role, ==, "screen");
  g_assert_cmpstr (read->name, ==, "a.txt");
  g_assert_cmpstr (read->media_type, ==, "text/plain");
  g_assert_cmpint (read->created_us, ==, 4);
  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "hello");
  g_assert_cmpint (g_stat (path, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0600);
}

static void
test_artifact_refused (Fixture       *fixture,
                       gconstpointer  data)
{
  g_autofree char *id = put_new_session (fixture->store);
  g_autoptr(KhadimArtifactRecord) artifact = make_artifact (id);
  g_autoptr(KhadimArtifactRecord) missing = make_artifact (id);
  g_autoptr(KhadimArtifactRecord) hello = make_artifact (id);
  g_autoptr(GBytes) bytes = g_bytes_new_static ("hello", 5);
  g_autofree char *path = khadim_store_get_artifact_path (fixture->store, HELLO_SUM);
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  artifact->sha256 = g_strdup (HELLO_SUM);
  artifact->sha256[0] = '3';
  khadim_store_batch_add_artifact (batch, artifact, bytes);
  commit_fails (fixture->store, batch, KHADIM_STORE_ERROR_FAILED);

  batch = khadim_store_batch_new ();
  missing->sha256 = g_strdup (artifact->sha256);
  khadim_store_batch_add_artifact (batch, missing, NULL);
  commit_fails (fixture->store, batch, KHADIM_STORE_ERROR_NOT_FOUND);

  batch = khadim_store_batch_new ();
  g_free (missing->sha256);
  missing->sha256 = g_strdup ("../../etc/passwd");
  khadim_store_batch_add_artifact (batch, missing, NULL);
  commit_fails (fixture->store, batch, KHADIM_STORE_ERROR_FAILED);
  g_assert_null (khadim_store_get_artifact_path (fixture->store, "../khadim.db"));

  /* The content of a refused batch does not stay. */
  batch = khadim_store_batch_new ();
  khadim_store_batch_add_artifact (batch, hello, bytes);
  khadim_store_batch_add_artifact (batch, artifact, NULL);
  commit_fails (fixture->store, batch, KHADIM_STORE_ERROR_NOT_FOUND);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));

  /* Unless it was there before. */
  batch = khadim_store_batch_new ();
  khadim_store_batch_add_artifact (batch, hello, bytes);
  commit (fixture->store, batch);
  batch = khadim_store_batch_new ();
  khadim_store_batch_add_artifact (batch, hello, bytes);
  khadim_store_batch_add_artifact (batch, artifact, NULL);
  commit_fails (fixture->store, batch, KHADIM_STORE_ERROR_NOT_FOUND);
  g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS));
}

/* What a loss of power cut off is written again. */
static void
test_artifact_torn (Fixture       *fixture,
                    gconstpointer  data)
{
  g_autofree char *id = put_new_session (fixture->store);
  g_autoptr(KhadimArtifactRecord) artifact = make_artifact (id);
  g_autoptr(GBytes) bytes = g_bytes_new_static ("hello", 5);
  g_autofree char *path = khadim_store_get_artifact_path (fixture->store, HELLO_SUM);
  g_autofree char *content = NULL;
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  g_assert_true (g_file_set_contents (path, "he", -1, NULL));
  khadim_store_batch_add_artifact (batch, artifact, bytes);
  commit (fixture->store, batch);
  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "hello");
}

static void
test_unfinished_cleaned (Fixture       *fixture,
                         gconstpointer  data)
{
  const char *living = khadim_store_get_owner_id (fixture->store);
  g_autofree char *dead_path = g_build_filename (
    fixture->folder, "artifacts", ".new-01900000-0000-7000-8000-000000000000", NULL);
  g_autofree char *dead_db = g_build_filename (
    fixture->folder, "khadim.db.new-01900000-0000-7000-8000-000000000000-wal", NULL);
  g_autofree char *dead_lock = g_build_filename (
    fixture->folder, "engines", "01900000-0000-7000-8000-000000000000.lock", NULL);
  g_autofree char *name = g_strconcat (".new-", living, NULL);
  g_autofree char *living_path = g_build_filename (fixture->folder, "artifacts", name, NULL);
  g_autofree char *lock_name = g_strconcat (living, ".lock", NULL);
  g_autofree char *living_lock = g_build_filename (fixture->folder, "engines", lock_name, NULL);
  g_autoptr(KhadimStore) second = NULL;

  g_assert_true (g_file_set_contents (dead_path, "x", -1, NULL));
  g_assert_true (g_file_set_contents (dead_db, "x", -1, NULL));
  g_assert_true (g_file_set_contents (dead_lock, "", -1, NULL));
  g_assert_true (g_file_set_contents (living_path, "x", -1, NULL));
  second = open_store (fixture->folder);

  g_assert_false (g_file_test (dead_path, G_FILE_TEST_EXISTS));
  g_assert_false (g_file_test (dead_db, G_FILE_TEST_EXISTS));
  g_assert_false (g_file_test (dead_lock, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (living_path, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (living_lock, G_FILE_TEST_EXISTS));
}

/* Owners --------------------------------------------------------------------*/

static void
test_owner (Fixture       *fixture,
            gconstpointer  data)
{
  g_autofree char *id = put_new_session (fixture->store);
  g_autoptr(KhadimStore) other = open_store (fixture->folder);
  g_autoptr(KhadimSessionRecord) session = NULL;
  g_autoptr(KhadimEvent) event = make_event (id, 1);
  g_autoptr(GError) error = NULL;
  KhadimStoreBatch *batch;

  g_assert_cmpstr (khadim_store_get_owner_id (other), !=,
                   khadim_store_get_owner_id (fixture->store));
  session = khadim_store_get_session (other, id, &error);
  g_assert_no_error (error);
  g_assert_true (khadim_store_is_session_live (other, session));

  /* Another live engine has it. */
  batch = khadim_store_batch_new ();
  khadim_store_batch_add_event (batch, event);
  commit_fails (other, batch, KHADIM_STORE_ERROR_NOT_OWNER);
  batch = khadim_store_batch_new ();
  khadim_store_batch_put_session (batch, session);
  commit_fails (other, batch, KHADIM_STORE_ERROR_NOT_OWNER);
  g_assert_false (khadim_store_claim_session (other, id, &error));
  g_assert_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_NOT_OWNER);
  g_clear_error (&error);
  g_assert_false (khadim_store_release_session (other, id, &error));
  g_assert_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_NOT_OWNER);
  g_clear_error (&error);

  /* Claiming what one has is fine; released, it can be claimed by others. */
  g_assert_true (khadim_store_claim_session (fixture->store, id, &error));
  g_assert_true (khadim_store_release_session (fixture->store, id, &error));
  g_assert_true (khadim_store_claim_session (other, id, &error));
  g_assert_no_error (error);
  batch = khadim_store_batch_new ();
  khadim_store_batch_add_event (batch, event);
  commit (other, batch);
  batch = khadim_store_batch_new ();
  khadim_store_batch_add_event (batch, event);
  commit_fails (fixture->store, batch, KHADIM_STORE_ERROR_NOT_OWNER);
}

/* An engine that has ended keeps its name in the session until it is claimed. */
static void
test_owner_ended (Fixture       *fixture,
                  gconstpointer  data)
{
  g_autofree char *id = put_new_session (fixture->store);
  g_autoptr(KhadimSessionRecord) session = NULL;
  g_autoptr(KhadimSessionRecord) claimed = NULL;
  g_autoptr(KhadimEvent) event = make_event (id, 1);
  g_autoptr(GError) error = NULL;
  KhadimStoreBatch *batch;

  reopen (fixture);
  session = khadim_store_get_session (fixture->store, id, &error);
  g_assert_nonnull (session->owner);
  g_assert_false (khadim_store_is_session_live (fixture->store, session));
  batch = khadim_store_batch_new ();
  khadim_store_batch_add_event (batch, event);
  commit_fails (fixture->store, batch, KHADIM_STORE_ERROR_NOT_OWNER);

  g_assert_true (khadim_store_claim_session (fixture->store, id, &error));
  g_assert_no_error (error);
  claimed = khadim_store_get_session (fixture->store, id, &error);
  g_assert_cmpstr (claimed->owner, ==, khadim_store_get_owner_id (fixture->store));
  batch = khadim_store_batch_new ();
  khadim_store_batch_add_event (batch, event);
  commit (fixture->store, batch);
}

/* A session of nobody becomes its writer's. */
static void
test_owner_none (Fixture       *fixture,
                 gconstpointer  data)
{
  g_autofree char *id = put_new_session (fixture->store);
  g_autoptr(KhadimSessionRecord) session = NULL;
  g_autoptr(KhadimEvent) event = make_event (id, 1);
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  g_assert_true (khadim_store_release_session (fixture->store, id, NULL));
  khadim_store_batch_add_event (batch, event);
  commit (fixture->store, batch);
  session = khadim_store_get_session (fixture->store, id, NULL);
  g_assert_cmpstr (session->owner, ==, khadim_store_get_owner_id (fixture->store));
}

/* Commits -------------------------------------------------------------------*/

#define N_ASYNC 200

typedef struct
{
  guint n_done;
  guint n_refused;
  gboolean out_of_order;
} AsyncCounts;

typedef struct
{
  AsyncCounts *counts;
  guint number;
} AsyncOne;

static void
on_committed_cb (GObject      *source,
                 GAsyncResult *result,
                 gpointer      data)
{
  g_autofree AsyncOne *one = data;
  g_autoptr(GError) error = NULL;

  if (!khadim_store_commit_finish (KHADIM_STORE (source), result, &error))
    {
      g_assert_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_FAILED);
      one->counts->n_refused++;
    }
  one->counts->out_of_order |= one->number != one->counts->n_done;
  one->counts->n_done++;
}

static void
commit_number (Fixture     *fixture,
               AsyncCounts *counts,
               guint        number,
               const char  *session_id,
               gint64       seq)
{
  g_autoptr(KhadimEvent) event = make_event (session_id, seq);
  KhadimStoreBatch *batch = khadim_store_batch_new ();
  AsyncOne *one = g_new (AsyncOne, 1);

  one->counts = counts;
  one->number = number;
  khadim_store_batch_add_event (batch, event);
  khadim_store_commit_async (fixture->store, batch, KHADIM_DURABILITY_PROCESS, on_committed_cb,
                             one);
}

/* Every tenth is refused by its own fault; the others of its group stay. */
static void
test_async (Fixture       *fixture,
            gconstpointer  data)
{
  g_autofree char *id = put_new_session (fixture->store);
  AsyncCounts counts = { 0 };
  gint64 seq = 0;

  for (guint i = 0; i < N_ASYNC; i++)
    commit_number (fixture, &counts, i, id, i % 10 == 9 ? seq + 2 : ++seq);
  wait_until (&counts.n_done, N_ASYNC);

  g_assert_false (counts.out_of_order);
  g_assert_cmpuint (counts.n_refused, ==, N_ASYNC / 10);
  g_assert_cmpint (last_seq (fixture->store, id), ==, N_ASYNC - N_ASYNC / 10);
}

/* The last reference may be dropped with commits under way. */
static void
test_dispose_writes (Fixture       *fixture,
                     gconstpointer  data)
{
  g_autofree char *id = put_new_session (fixture->store);
  AsyncCounts counts = { 0 };

  for (guint i = 0; i < N_ASYNC; i++)
    commit_number (fixture, &counts, i, id, i + 1);
  g_clear_object (&fixture->store);
  wait_until (&counts.n_done, N_ASYNC);

  g_assert_cmpuint (counts.n_refused, ==, 0);
  fixture->store = open_store (fixture->folder);
  g_assert_cmpint (last_seq (fixture->store, id), ==, N_ASYNC);
}

/* Watches -------------------------------------------------------------------*/

typedef struct
{
  guint n_calls;
  gint64 last_id;
  guint n_freed;
} Watched;

static void
on_command_cb (KhadimStore               *store,
               const KhadimCommandRecord *command,
               gpointer                   data)
{
  Watched *watched = data;

  g_assert_cmpint (command->id, >, watched->last_id);
  watched->last_id = command->id;
  watched->n_calls++;
}

static void
on_changed_cb (KhadimStore *store,
               gpointer     data)
{
  Watched *watched = data;

  watched->n_calls++;
}

static void
on_watch_freed_cb (gpointer data)
{
  Watched *watched = data;

  watched->n_freed++;
}

static void
test_watch_commands (Fixture       *fixture,
                     gconstpointer  data)
{
  g_autofree char *id = put_new_session (fixture->store);
  g_autoptr(KhadimStore) other = open_store (fixture->folder);
  g_autofree char *others_id = put_new_session (other);
  g_autoptr(GError) error = NULL;
  Watched watched = { 0 };
  guint watch_id;

  /* One that waits already, two that come, of which one is not for us. */
  add_command (other, id, "pause");
  add_command (other, others_id, "stop");
  watch_id = khadim_store_watch_commands (fixture->store, on_command_cb, &watched,
                                          on_watch_freed_cb, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (watch_id, !=, 0);
  wait_until (&watched.n_calls, 1);
  add_command (other, id, "resume");
  wait_until (&watched.n_calls, 2);

  /* A session that is claimed brings what waits for it, though it is older. */
  watched.last_id = 0;
  g_assert_true (khadim_store_release_session (other, others_id, NULL));
  g_assert_true (khadim_store_claim_session (fixture->store, others_id, NULL));
  wait_until (&watched.n_calls, 3);
  g_assert_cmpint (watched.last_id, ==, 2);

  khadim_store_unwatch (fixture->store, watch_id);
  g_assert_cmpuint (watched.n_freed, ==, 1);
}

static void
test_watch_changes (Fixture       *fixture,
                    gconstpointer  data)
{
  g_autoptr(KhadimStore) other = open_store (fixture->folder);
  Watched watched = { 0 };
  guint n_before;

  g_assert_cmpuint (khadim_store_watch_changes (fixture->store, on_changed_cb, &watched,
                                                on_watch_freed_cb, NULL),
                    !=, 0);
  for (guint i = 0; i < 20; i++)
    {
      g_autofree char *id = NULL;

      n_before = watched.n_calls;
      id = put_new_session (other);
      wait_until (&watched.n_calls, n_before + 1);
      g_assert_cmpstr (id, !=, "");
    }
  g_assert_cmpuint (watched.n_calls, <=, 40);

  /* A store that goes ends its watches. */
  g_assert_finalize_object (g_steal_pointer (&fixture->store));
  g_assert_cmpuint (watched.n_freed, ==, 1);
}

/* A process that is killed after its commit touches no marker: the log itself
 * is noticed too. */
static void
test_watch_log (Fixture       *fixture,
                gconstpointer  data)
{
  Watched watched = { 0 };
  g_autofree char *answer = NULL;

  g_assert_cmpuint (khadim_store_watch_changes (fixture->store, on_changed_cb, &watched, NULL,
                                                NULL),
                    !=, 0);
  answer = ask_sqlite (fixture, "INSERT INTO automations VALUES ('x', NULL, NULL, 0, 0, NULL)");
  wait_until (&watched.n_calls, 1);
}

/* Other -------------------------------------------------------------------- */

static void
test_database (Fixture       *fixture,
               gconstpointer  data)
{
  g_autofree char *mode = ask_sqlite (fixture, "PRAGMA journal_mode");
  g_autofree char *version = ask_sqlite (fixture, "PRAGMA user_version");
  g_autofree char *application = ask_sqlite (fixture, "PRAGMA application_id");
  g_autofree char *path = g_build_filename (fixture->folder, "khadim.db", NULL);
  g_autofree char *fresh = g_build_filename (fixture->folder, "new", "store", NULL);
  g_autoptr(KhadimStore) store = open_store (fresh);
  GStatBuf info;

  g_assert_cmpstr (mode, ==, "wal");
  g_assert_cmpstr (version, ==, "1");
  g_assert_cmpstr (application, ==, "1263026500");
  g_assert_cmpint (g_stat (path, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0600);
  g_assert_cmpint (g_stat (fresh, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0700);
}

static void
test_default_folder (void)
{
  g_autofree char *by_data = NULL;
  g_autofree char *by_home = NULL;
  g_autofree char *expected = g_build_filename (g_get_user_data_dir (), "khadim", NULL);

  g_unsetenv ("KHADIM_HOME");
  by_data = khadim_store_default_folder ();
  g_assert_cmpstr (by_data, ==, expected);
  g_setenv ("KHADIM_HOME", "/somewhere/else", TRUE);
  by_home = khadim_store_default_folder ();
  g_assert_cmpstr (by_home, ==, "/somewhere/else");
  g_unsetenv ("KHADIM_HOME");
}

static void
test_states (void)
{
  static const char *const session_states[] = { "READY", "WORKING", "PAUSED" };
  static const char *const call_states[] = {
    "PENDING", "APPROVAL_REQUIRED", "APPROVED", "EXECUTING",
    "COMPLETED", "FAILED", "DENIED", "SEALED",
  };
  KhadimSessionState session_state = KHADIM_SESSION_PAUSED;
  KhadimCallState call_state = KHADIM_CALL_SEALED;

  for (guint i = 0; i < G_N_ELEMENTS (session_states); i++)
    {
      g_assert_true (khadim_session_state_from_string (session_states[i], &session_state));
      g_assert_cmpint (session_state, ==, i);
      g_assert_cmpstr (khadim_session_state_to_string (session_state), ==, session_states[i]);
    }
  for (guint i = 0; i < G_N_ELEMENTS (call_states); i++)
    {
      g_assert_true (khadim_call_state_from_string (call_states[i], &call_state));
      g_assert_cmpint (call_state, ==, i);
      g_assert_cmpstr (khadim_call_state_to_string (call_state), ==, call_states[i]);
    }
  g_assert_false (khadim_session_state_from_string ("ready", &session_state));
  g_assert_false (khadim_call_state_from_string ("", &call_state));
}

#define ADD(path, func) g_test_add (path, Fixture, NULL, set_up, func, tear_down)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/engine/store/default-folder", test_default_folder);
  g_test_add_func ("/engine/store/states", test_states);
  ADD ("/engine/store/database", test_database);
  ADD ("/engine/store/session/round-trip", test_session_round_trip);
  ADD ("/engine/store/session/replaced", test_session_replaced);
  ADD ("/engine/store/session/lists", test_lists_of_sessions);
  ADD ("/engine/store/batch-copies", test_batch_copies);
  ADD ("/engine/store/calls", test_calls);
  ADD ("/engine/store/calls/other-session", test_call_of_other_session);
  ADD ("/engine/store/runs", test_runs);
  ADD ("/engine/store/events", test_events);
  ADD ("/engine/store/events/gaps", test_events_without_gaps);
  ADD ("/engine/store/automations", test_automations);
  ADD ("/engine/store/commands", test_commands);
  ADD ("/engine/store/not-found", test_not_found);
  ADD ("/engine/store/artifacts", test_artifacts);
  ADD ("/engine/store/artifacts/refused", test_artifact_refused);
  ADD ("/engine/store/artifacts/torn", test_artifact_torn);
  ADD ("/engine/store/unfinished-cleaned", test_unfinished_cleaned);
  ADD ("/engine/store/owner/live", test_owner);
  ADD ("/engine/store/owner/ended", test_owner_ended);
  ADD ("/engine/store/owner/none", test_owner_none);
  ADD ("/engine/store/async", test_async);
  ADD ("/engine/store/dispose-writes", test_dispose_writes);
  ADD ("/engine/store/watch/commands", test_watch_commands);
  ADD ("/engine/store/watch/changes", test_watch_changes);
  ADD ("/engine/store/watch/log", test_watch_log);

  return g_test_run ();
}
