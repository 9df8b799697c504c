/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "tests/engine/player-harness.h"

#include <glib/gstdio.h>
#include <string.h>

#include "engine/base/khadim-time.h"
#include "engine/json/khadim-json.h"
#include "engine/store/khadim-store-sqlite.h"
#include "engine/tool/khadim-files-domain.h"
#include "engine/tool/khadim-wait-domain.h"
#include "engine/vault/khadim-vault-memory.h"
#include "tests/engine/test-domain.h"

/* How long a run may take before the test fails. */
#define LIMIT_S 20

void
fixture_set_up (Fixture       *self,
                gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *store = NULL;
  g_autoptr(KhadimToolDomain) files = khadim_files_domain_new ();
  g_autoptr(KhadimToolDomain) wait = khadim_wait_domain_new ();
  g_autoptr(KhadimToolDomain) test = test_domain_new ();
  KhadimToolbox *toolbox;

  self->folder = g_dir_make_tmp ("khadim-player-XXXXXX", &error);
  g_assert_no_error (error);
  store = g_build_filename (self->folder, "store", NULL);
  self->store = khadim_store_sqlite_new (store, &error);
  g_assert_no_error (error);
  self->engine = khadim_engine_new (self->store);
  toolbox = khadim_engine_get_toolbox (self->engine);
  khadim_toolbox_add_domain (toolbox, files);
  khadim_toolbox_add_domain (toolbox, wait);
  khadim_toolbox_add_domain (toolbox, test);
  self->events = g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_event_unref);
}

static void
remove_folder (const char *folder)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        remove_folder (path);
      else
        g_unlink (path);
    }
  g_rmdir (folder);
}

static void
forget_run (Fixture *self)
{
  g_clear_object (&self->session);
  g_clear_pointer (&self->output, json_node_unref);
  g_clear_pointer (&self->code, g_free);
  g_clear_pointer (&self->message, g_free);
  self->ended = FALSE;
}

/* Drops the last reference of ours; the engine thread may hold one for a
 * moment longer. */
static void
assert_goes (gpointer *object)
{
  gint64 limit_us = g_get_monotonic_time () + LIMIT_S * G_USEC_PER_SEC;
  GWeakRef weak;
  gpointer left;

  g_weak_ref_init (&weak, *object);
  g_clear_object (object);
  while ((left = g_weak_ref_get (&weak)) != NULL)
    {
      g_object_unref (left);
      g_assert_cmpint (g_get_monotonic_time (), <, limit_us);
      g_thread_yield ();
    }
  g_weak_ref_clear (&weak);
}

void
fixture_tear_down (Fixture       *self,
                   gconstpointer  data)
{
  forget_run (self);
  assert_goes ((gpointer *) &self->engine);
  assert_goes ((gpointer *) &self->store);
  g_ptr_array_unref (self->events);
  g_free (self->session_id);
  remove_folder (self->folder);
  g_free (self->folder);
}

static void
on_event_cb (KhadimEvent *event,
             gpointer     user_data)
{
  Fixture *self = user_data;

  g_ptr_array_add (self->events, khadim_event_ref (event));
  if (g_strcmp0 (self->stop_at, khadim_event_get_event_type (event)) == 0)
    khadim_session_stop (self->session);
}

static void
on_run_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  Fixture *self = user_data;
  g_autoptr(GError) error = NULL;

  khadim_session_run_finish (self->session, result, &self->outcome, &error);
  g_assert_no_error (error);
  self->ended = TRUE;
}

G_NORETURN static gboolean
on_limit_cb (gpointer user_data)
{
  g_error ("The run did not end in %d s", LIMIT_S);
}

/* Runs self->session to its end, and until all its events have come. */
static KhadimOutcome
run (Fixture *self,
     gint64   since_seq)
{
  guint limit = g_timeout_add_seconds (LIMIT_S, on_limit_cb, NULL);
  JsonNode *output;

  g_free (self->session_id);
  self->session_id = g_strdup (khadim_session_get_id (self->session));
  khadim_session_subscribe (self->session, KHADIM_CHANNEL_ALL, since_seq, on_event_cb, self, NULL);
  khadim_session_run_async (self->session, NULL, on_run_cb, self);
  while (!self->ended)
    g_main_context_iteration (NULL, TRUE);
  while (g_main_context_iteration (NULL, FALSE))
    continue;
  g_source_remove (limit);

  output = khadim_session_get_output (self->session);
  self->output = output != NULL ? json_node_ref (output) : NULL;
  self->code = g_strdup (khadim_session_get_error_code (self->session));
  self->message = g_strdup (khadim_session_get_error_message (self->session));
  if (self->message != NULL)
    g_test_message ("It failed: %s: %s", self->code, self->message);
  g_clear_object (&self->session);

  return self->outcome;
}

/* Plays a document with these steps, written with ' for ". */
KhadimOutcome
fixture_play (Fixture    *self,
              const char *steps)
{
  g_autoptr(KhadimAutomation) automation = NULL;
  g_autoptr(JsonNode) inputs = NULL;
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;
  KhadimSessionSpec spec = {
    .work_dir = self->folder, .from_step = self->from, .dry_run = self->dry_run,
  };

  forget_run (self);
  g_ptr_array_set_size (self->events, 0);
  text = g_strdup_printf ("{'khadim':1,'name':'Test',%s'steps':[%s]}",
                          self->extra != NULL ? self->extra : "", steps);
  g_strdelimit (text, "'", '"');
  automation = khadim_automation_new_from_text (text, self->folder,
                                                khadim_engine_get_toolbox (self->engine), NULL,
                                                &error);
  g_assert_no_error (error);
  inputs = khadim_automation_complete_inputs (automation, NULL, &error);
  g_assert_no_error (error);
  spec.inputs = inputs;
  self->session = khadim_session_new (self->engine, automation, &spec);

  return run (self, 0);
}

KhadimOutcome
fixture_resume (Fixture *self)
{
  g_autoptr(GError) error = NULL;
  gint64 seq = khadim_store_get_last_seq (self->store, self->session_id, NULL);

  forget_run (self);
  self->session = khadim_session_open (self->engine, self->session_id, &error);
  g_assert_no_error (error);

  return run (self, seq);
}

/* Answers the newest question, as another process would. */
void
fixture_answer (Fixture    *self,
                const char *answer)
{
  g_autoptr(KhadimStoreBatch) batch = khadim_store_batch_new ();
  g_autoptr(KhadimCommandRecord) command = khadim_command_record_new ();
  JsonObject *payload = json_object_new ();
  const char *question = NULL;
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < self->events->len; i++)
    {
      KhadimEvent *event = self->events->pdata[i];

      if (strcmp (khadim_event_get_event_type (event), "question") == 0)
        question = khadim_json_get_string (json_node_get_object (khadim_event_get_metadata (event)),
                                           "id", NULL);
    }
  g_assert_nonnull (question);
  json_object_set_string_member (payload, "question", question);
  json_object_set_string_member (payload, "answer", answer);
  command->session_id = g_strdup (self->session_id);
  command->kind = g_strdup ("answer");
  command->payload = khadim_json_object (payload);
  command->created_us = khadim_time_now_us ();
  khadim_store_batch_add_command (batch, command);
  khadim_store_commit_sync (self->store, g_steal_pointer (&batch), KHADIM_DURABILITY_PROCESS,
                            &error);
  g_assert_no_error (error);
}

void
fixture_store_secret (Fixture    *self,
                      const char *name,
                      const char *value)
{
  g_autoptr(GError) error = NULL;

  khadim_vault_memory_add (KHADIM_VAULT_MEMORY (khadim_engine_get_vault (self->engine)), name,
                           value, &error);
  g_assert_no_error (error);
}

char *
fixture_read_log (Fixture *self)
{
  g_autofree char *path = g_build_filename (self->folder, TEST_DOMAIN_LOG, NULL);
  char *text = NULL;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return g_strdup ("");

  return text;
}

gboolean
fixture_has_file (Fixture    *self,
                  const char *name)
{
  g_autofree char *path = g_build_filename (self->folder, name, NULL);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

guint
fixture_count_events (Fixture    *self,
                      const char *event_type)
{
  guint n = 0;

  for (guint i = 0; i < self->events->len; i++)
    n += strcmp (khadim_event_get_event_type (self->events->pdata[i]), event_type) == 0;

  return n;
}

static gboolean
folder_contains (const char *folder,
                 const char *text)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  gboolean found = FALSE;

  while (dir != NULL && !found && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autofree char *bytes = NULL;
      gsize length = 0;

      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        found = folder_contains (path, text);
      else if (g_file_get_contents (path, &bytes, &length, NULL))
        found = memmem (bytes, length, text, strlen (text)) != NULL;
    }

  return found;
}

/* Whether any file of the store holds @text: the leak hunter. */
gboolean
fixture_store_contains (Fixture    *self,
                        const char *text)
{
  g_autofree char *store = g_build_filename (self->folder, "store", NULL);

  return folder_contains (store, text);
}
