/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-script"

#include "config.h"

#include "engine/script/khadim-script.h"

typedef struct {
  KhadimScript *script;
} Fixture;

static void
setup (Fixture      *fixture,
       gconstpointer data)
{
  fixture->script = khadim_script_new (1);
}

static void
teardown (Fixture      *fixture,
          gconstpointer data)
{
  g_assert_finalize_object (fixture->script);
}

static JsonNode *
parse (const char *text)
{
  g_autoptr(GError) error = NULL;
  JsonNode *node = json_from_string (text, &error);

  g_assert_no_error (error);

  return node;
}

static void
assert_node (JsonNode   *node,
             const char *expected)
{
  g_autofree char *text = json_to_string (node, FALSE);

  g_assert_cmpstr (text, ==, expected);
}

static void
assert_value (KhadimScript *script,
              const char   *expression,
              const char   *expected)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = khadim_script_evaluate (script, expression, &error);

  g_assert_no_error (error);
  assert_node (node, expected);
}

static void
assert_fault (KhadimScript *script,
              const char   *expression,
              int           code,
              const char   *expected)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = khadim_script_evaluate (script, expression, &error);

  g_assert_null (node);
  g_assert_error (error, KHADIM_ENGINE_ERROR, code);
  if (strstr (error->message, expected) == NULL)
    g_error ("“%s” is not in “%s”", expected, error->message);
}

static void
run (KhadimScript *script,
     const char   *code)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = khadim_script_run (script, code, &error);

  g_assert_no_error (error);
  g_assert_nonnull (node);
}

static void
set (KhadimScript *script,
     const char   *name,
     const char   *json)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = parse (json);

  g_assert_true (khadim_script_set (script, name, node, &error));
  g_assert_no_error (error);
}

static void
test_values (Fixture      *fixture,
             gconstpointer data)
{
  static const char *const values[] = {
    "null", "true", "1", "-9223372036854775808", "9223372036854775807", "0.5", "\"\"",
    "\"ä\"", "[]", "{}", "[null,[],{}]", "{\"a\":{\"b\":[1,2,{\"c\":null}]}}",
  };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      set (fixture->script, "x", values[i]);
      assert_value (fixture->script, "x", values[i]);
    }

  assert_value (fixture->script, "nil", "null");
  assert_value (fixture->script, "{1, 2}", "[1,2]");
  assert_value (fixture->script, "{b = 1, a = {}}", "{\"a\":{},\"b\":1}");
  assert_value (fixture->script, "json.array ()", "[]");
  assert_value (fixture->script, "7 // 2", "3");
}

static void
test_bad_values (Fixture      *fixture,
                 gconstpointer data)
{
  const int invalid = KHADIM_ENGINE_ERROR_INVALID;

  assert_fault (fixture->script, "{a = {0, len}}", invalid, "“a[1]” is a function");
  assert_fault (fixture->script, "0/0", invalid, "NaN");
  assert_fault (fixture->script, "{x = math.huge}", invalid, "“x” is an infinite");
  assert_fault (fixture->script, "{1, nil, 3}", invalid, "gap");
  assert_fault (fixture->script, "{[true] = 1}", invalid, "key that is not text");
  assert_fault (fixture->script, "'\\xff'", invalid, "UTF-8");
  assert_fault (fixture->script, "'a\\0b'", invalid, "NUL");
  assert_fault (fixture->script, "string", invalid, "part of the language");
  assert_fault (fixture->script, "(function () local t = {} t.a = {t} return t end) ()", invalid,
                "“a[0]” contains itself");
}

static void
test_undefined (Fixture      *fixture,
                gconstpointer data)
{
  gboolean value = TRUE;
  g_autoptr(GError) error = NULL;

  assert_fault (fixture->script, "nothing + 1", KHADIM_ENGINE_ERROR_INVALID,
                "The variable “nothing” is not set");
  assert_fault (fixture->script, "os.time ()", KHADIM_ENGINE_ERROR_INVALID,
                "“os” is not available in scripts");
  g_assert_false (khadim_script_test (fixture->script, "nothing", &value, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID);
  g_assert_true (value);
  assert_value (fixture->script, "defined 'nothing'", "false");
}

static void
test_scopes (Fixture      *fixture,
             gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) one = json_node_init_int (json_node_alloc (), 1);
  g_autoptr(JsonNode) gone = NULL;

  set (fixture->script, "a", "0");
  khadim_script_push_scope (fixture->script);
  g_assert_true (khadim_script_set_local (fixture->script, "a", one, &error));
  g_assert_true (khadim_script_set_local (fixture->script, "b", one, &error));
  run (fixture->script, "a = a + 1; b = b + 2; c = 'new'");
  assert_value (fixture->script, "{a, b, c}", "[2,3,\"new\"]");
  khadim_script_pop_scope (fixture->script);
  assert_value (fixture->script, "{a, c}", "[0,\"new\"]");
  gone = khadim_script_get (fixture->script, "b");
  g_assert_null (gone);
  g_assert_true (khadim_script_set (fixture->script, "a", NULL, &error));
  assert_value (fixture->script, "defined 'a'", "false");
}

static void
test_templates (Fixture      *fixture,
                gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) tree = parse (
    "{\"n\":\"{{ n }}\",\"t\":\"n={{n}}, {{ {x={1}} }}{{ null }}\",\"{{k}}\":[\"{{ '}}' }}\", 5]}");
  g_autoptr(JsonNode) bad = parse ("{\"a\":{\"b\":[0,1,2,\"x {{ gone }}\"]}}");
  g_autoptr(JsonNode) result = NULL;
  g_autoptr(JsonNode) none = NULL;
  g_autofree char *place = NULL;

  set (fixture->script, "n", "[1]");
  result = khadim_script_expand (fixture->script, tree, &error);
  g_assert_no_error (error);
  assert_node (result, "{\"n\":[1],\"t\":\"n=[1], {\\\"x\\\":[1]}\",\"{{k}}\":[\"}}\",5]}");

  none = khadim_script_expand (fixture->script, bad, &error);
  g_assert_null (none);
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID);
  g_assert_cmpstr (error->message, ==, "a.b[3]: The variable “gone” is not set");
  g_clear_error (&error);
  g_assert_true (khadim_script_check_templates (bad, &place, &error));
  g_assert_null (place);
}

static void
test_limits (Fixture      *fixture,
             gconstpointer data)
{
  const int limit = KHADIM_ENGINE_ERROR_LIMIT;

  assert_fault (fixture->script, "(function () while true do end end) ()", limit, "steps");
  assert_fault (fixture->script, "pcall (function () while true do end end)", limit, "steps");
  assert_fault (fixture->script, "(function () local t = {} for i = 1, 1e9 do t[i] = {} end end) ()",
                limit, "memory");
  assert_value (fixture->script, "1 + 1", "2");
}

#define ADD(name, func) g_test_add ("/engine/script/" name, Fixture, NULL, setup, func, teardown)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("values", test_values);
  ADD ("bad-values", test_bad_values);
  ADD ("undefined", test_undefined);
  ADD ("scopes", test_scopes);
  ADD ("templates", test_templates);
  ADD ("limits", test_limits);

  return g_test_run ();
}
