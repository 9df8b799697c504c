/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-vault"

#include "config.h"

#include "engine/vault/khadim-vault.h"

#include <string.h>

#include "engine/json/khadim-json.h"
#include "engine/vault/khadim-vault-memory.h"

/* How long a wait may take before the test fails, and how long a vault that
 * does not answer has */
#define WAIT_MS 10000
#define SHORT_TIMEOUT_MS 20

typedef struct {
  KhadimVault *vault;
  GAsyncResult *result;
} Fixture;

static void
setup (Fixture      *fixture,
       gconstpointer data)
{
  g_autoptr(GError) error = NULL;

  fixture->vault = khadim_vault_memory_new ();
  g_assert_true (khadim_vault_memory_add (KHADIM_VAULT_MEMORY (fixture->vault),
                                          "sap-login/password", "hunter2", &error));
  g_assert_no_error (error);
}

static void
teardown (Fixture      *fixture,
          gconstpointer data)
{
  g_clear_object (&fixture->result);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_finalize_object (fixture->vault);
}

static void
on_ready_cb (GObject      *source,
             GAsyncResult *result,
             gpointer      user_data)
{
  Fixture *fixture = user_data;

  g_assert_null (fixture->result);
  fixture->result = g_object_ref (result);
}

static gboolean
on_late_cb (gpointer data)
{
  g_error ("The vault has not answered in %d ms", WAIT_MS);

  return G_SOURCE_REMOVE;
}

static GAsyncResult *
wait_for_result (Fixture *fixture)
{
  guint guard = g_timeout_add (WAIT_MS, on_late_cb, NULL);

  while (fixture->result == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (guard);

  return fixture->result;
}

static void
assert_lookup (Fixture    *fixture,
               const char *reference,
               const char *expected)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimSecret) secret = NULL;

  khadim_vault_lookup_async (fixture->vault, reference, NULL, on_ready_cb, fixture);
  secret = khadim_vault_lookup_finish (fixture->vault, wait_for_result (fixture), &error);
  g_clear_object (&fixture->result);
  g_assert_no_error (error);
  g_assert_cmpstr (khadim_secret_get_text (secret), ==, expected);
}

static void
assert_lookup_error (Fixture      *fixture,
                     const char   *reference,
                     GCancellable *cancellable,
                     GQuark        domain,
                     int           code)
{
  g_autoptr(GError) error = NULL;

  khadim_vault_lookup_async (fixture->vault, reference, cancellable, on_ready_cb, fixture);
  g_assert_null (khadim_vault_lookup_finish (fixture->vault, wait_for_result (fixture), &error));
  g_clear_object (&fixture->result);
  g_assert_error (error, domain, code);
}

static void
test_lookup (Fixture      *fixture,
             gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimSecret) secret = NULL;

  assert_lookup (fixture, "sap-login/password", "hunter2");
  assert_lookup_error (fixture, "sap-login/user", NULL, KHADIM_VAULT_ERROR,
                       KHADIM_VAULT_ERROR_NOT_FOUND);
  assert_lookup_error (fixture, "sap-login", NULL, KHADIM_VAULT_ERROR,
                       KHADIM_VAULT_ERROR_INVALID);
  secret = khadim_vault_lookup_sync (fixture->vault, "sap-login/password", NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (khadim_secret_get_text (secret), ==, "hunter2");
}

static void
test_store (Fixture      *fixture,
            gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimSecret) secret = khadim_secret_new ("näme", -1, &error);
  g_auto(GStrv) references = NULL;
  static const char *const expected[] = { "a b/user", "sap-login/password", NULL };

  khadim_vault_store_async (fixture->vault, "a b/user", secret, NULL, on_ready_cb, fixture);
  g_assert_true (khadim_vault_store_finish (fixture->vault, wait_for_result (fixture), &error));
  g_clear_object (&fixture->result);
  assert_lookup (fixture, "a b/user", "näme");

  khadim_vault_list_async (fixture->vault, NULL, on_ready_cb, fixture);
  references = khadim_vault_list_finish (fixture->vault, wait_for_result (fixture), &error);
  g_clear_object (&fixture->result);
  g_assert_cmpstrv (references, expected);

  khadim_vault_clear_async (fixture->vault, "a b/user", NULL, on_ready_cb, fixture);
  g_assert_true (khadim_vault_clear_finish (fixture->vault, wait_for_result (fixture), &error));
  g_clear_object (&fixture->result);
  g_assert_no_error (error);
  assert_lookup_error (fixture, "a b/user", NULL, KHADIM_VAULT_ERROR,
                       KHADIM_VAULT_ERROR_NOT_FOUND);

  khadim_vault_clear_async (fixture->vault, "a b/user", NULL, on_ready_cb, fixture);
  g_assert_false (khadim_vault_clear_finish (fixture->vault, wait_for_result (fixture), &error));
  g_assert_error (error, KHADIM_VAULT_ERROR, KHADIM_VAULT_ERROR_NOT_FOUND);
}

static void
test_refusals (Fixture      *fixture,
               gconstpointer data)
{
  static const int states[][2] = {
    { KHADIM_VAULT_MEMORY_LOCKED, KHADIM_VAULT_ERROR_LOCKED },
    { KHADIM_VAULT_MEMORY_UNAVAILABLE, KHADIM_VAULT_ERROR_UNAVAILABLE },
    { KHADIM_VAULT_MEMORY_DENIED, KHADIM_VAULT_ERROR_DENIED },
  };
  KhadimVaultMemory *memory = KHADIM_VAULT_MEMORY (fixture->vault);

  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    {
      khadim_vault_memory_set_state (memory, (KhadimVaultMemoryState) states[i][0]);
      assert_lookup_error (fixture, "sap-login/password", NULL, KHADIM_VAULT_ERROR, states[i][1]);
    }
  khadim_vault_memory_set_state (memory, KHADIM_VAULT_MEMORY_OPEN);
  assert_lookup (fixture, "sap-login/password", "hunter2");
}

/* A vault that says nothing: the time and the cancellable end the call. */
static void
test_silent (Fixture      *fixture,
             gconstpointer data)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();

  khadim_vault_memory_set_state (KHADIM_VAULT_MEMORY (fixture->vault),
                                 KHADIM_VAULT_MEMORY_SILENT);
  g_assert_cmpuint (khadim_vault_get_timeout (fixture->vault), >, SHORT_TIMEOUT_MS);
  g_cancellable_cancel (cancellable);
  assert_lookup_error (fixture, "sap-login/password", cancellable, G_IO_ERROR,
                       G_IO_ERROR_CANCELLED);

  khadim_vault_set_timeout (fixture->vault, SHORT_TIMEOUT_MS);
  assert_lookup_error (fixture, "sap-login/password", NULL, KHADIM_VAULT_ERROR,
                       KHADIM_VAULT_ERROR_TIMEOUT);
}

static void
test_secret (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimSecret) secret = khadim_secret_new ("abc-not-this", 3, &error);
  g_autoptr(KhadimSecret) again = khadim_secret_ref (secret);
  g_autoptr(KhadimSecret) formatted = khadim_secret_new_formatted (secret, "100%% %s!", &error);
  g_autofree char *large = g_strnfill (KHADIM_SECRET_MAX_BYTES + 1, 'x');

  g_assert_no_error (error);
  g_assert_cmpstr (khadim_secret_get_text (again), ==, "abc");
  g_assert_cmpuint (khadim_secret_get_length (secret), ==, 3);
  g_assert_cmpstr (khadim_secret_get_text (formatted), ==, "100% abc!");
  g_assert_cmpuint (khadim_secret_get_length (formatted), ==, 9);

  g_assert_null (khadim_secret_new (large, -1, &error));
  g_assert_error (error, KHADIM_VAULT_ERROR, KHADIM_VAULT_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (khadim_secret_new ("a\0b", 3, &error));
  g_assert_error (error, KHADIM_VAULT_ERROR, KHADIM_VAULT_ERROR_INVALID);
}

static gboolean
parse_reference (const char  *text,
                 char       **out_name,
                 char       **out_field,
                 char       **out_format,
                 GError     **error)
{
  g_autoptr(GError) parse_error = NULL;
  g_autoptr(JsonNode) node = khadim_json_parse (text, -1, NULL, &parse_error);

  g_assert_no_error (parse_error);

  return khadim_secret_reference_parse (node, out_name, out_field, out_format, error);
}

static void
test_reference (void)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *name = NULL;
  g_autofree char *field = NULL;
  g_autofree char *format = NULL;

  g_assert_true (parse_reference ("{\"secret\":\"sap/login/password\"}", &name, &field, &format,
                                  &error));
  g_assert_cmpstr (name, ==, "sap/login");
  g_assert_cmpstr (field, ==, "password");
  g_assert_null (format);
  g_clear_pointer (&name, g_free);
  g_clear_pointer (&field, g_free);

  g_assert_true (parse_reference ("{\"secret\":\"a/b\",\"format\":\"%% Bearer %s %%\"}", &name,
                                  &field, &format, &error));
  g_assert_cmpstr (format, ==, "%% Bearer %s %%");
  g_assert_no_error (error);
}

static void
test_bad_references (void)
{
  static const char *const texts[] = {
    "\"a/b\"", "{}", "[]", "null", "{\"format\":\"%s\"}", "{\"secret\":1}", "{\"secret\":\"a\"}",
    "{\"secret\":\"/a\"}", "{\"secret\":\"a/\"}", "{\"secret\":\"a\\n/b\"}",
    "{\"secret\":\"a/b\",\"other\":1}", "{\"secret\":\"a/b\",\"format\":null}",
    "{\"secret\":\"a/b\",\"format\":\"\"}", "{\"secret\":\"a/b\",\"format\":\"%s%s\"}",
    "{\"secret\":\"a/b\",\"format\":\"%d %s\"}", "{\"secret\":\"a/b\",\"format\":\"%s %\"}",
    "{\"secret\":\"a/b\",\"format\":\"%%s\"}", "{\"secret\":\"a/b\",\"format\":\"%ä %s\"}",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr(GError) error = NULL;
      char *name = NULL;
      char *field = NULL;
      char *format = NULL;

      g_assert_false (parse_reference (texts[i], &name, &field, &format, &error));
      g_assert_error (error, KHADIM_VAULT_ERROR, KHADIM_VAULT_ERROR_INVALID);
      g_assert_true (name == NULL && field == NULL && format == NULL);
    }
}

#define ADD(name, func) g_test_add ("/engine/vault/" name, Fixture, NULL, setup, func, teardown)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("lookup", test_lookup);
  ADD ("store", test_store);
  ADD ("refusals", test_refusals);
  ADD ("silent", test_silent);
  g_test_add_func ("/engine/vault/secret", test_secret);
  g_test_add_func ("/engine/vault/reference", test_reference);
  g_test_add_func ("/engine/vault/bad-references", test_bad_references);

  return g_test_run ();
}
