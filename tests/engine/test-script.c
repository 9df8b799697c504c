/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-script"

#include "config.h"

#include "tests/engine/script-support.h"

#define SUITE "/engine/script/"

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
  assert_run (fixture->script, "a = a + 1; b = b + 2; c = 'new'", "null");
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

/* Faults of syntax are found without running, each with its place. */
static void
test_check (void)
{
  static const char *const bad[] = {
    "", " \n", "1 +", "1, 2", "1; x = 2", ";", "1) + (2", "x = 1", "return 1", "'a", "--[[",
    "1 --[[",
  };
  static const char *const good[] = {
    "1", "a.b[3] == 'x' -- why", "(function () return 1 end) ()", "{1, 2}", "not x", "f 'x'",
  };
  g_autoptr(GError) error = NULL;
  g_autofree char *large = g_strnfill (KHADIM_SCRIPT_MAX_EXPRESSION_BYTES + 1, '1');
  GString *ors = g_string_new ("return x");
  g_autofree char *chain = NULL;

  while (ors->len + 10 < KHADIM_SCRIPT_MAX_CODE_BYTES)
    g_string_append (ors, " or x");
  chain = g_string_free (ors, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_assert_false (khadim_script_check_expression (bad[i], &error));
      assert_message (error, KHADIM_ENGINE_ERROR_INVALID, "");
      g_clear_error (&error);
    }
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    {
      g_assert_true (khadim_script_check_expression (good[i], &error));
      g_assert_no_error (error);
    }

  /* What takes the compiler longest: still at once */
  g_assert_true (khadim_script_check_code (chain, &error));
  g_assert_no_error (error);

  g_assert_false (khadim_script_check_expression (large, &error));
  assert_message (error, KHADIM_ENGINE_ERROR_LIMIT, "too long");
  g_clear_error (&error);
  g_assert_true (khadim_script_check_code ("local a = 1\nb = a\nreturn b", &error));
  g_assert_false (khadim_script_check_code ("local a = 1\nif b then", &error));
  assert_message (error, KHADIM_ENGINE_ERROR_INVALID, "line 2: 'end' expected");
}

static void
test_check_templates (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) good = parse ("{\"a\":[\"{{ x }}{{ '}}' }}\",1,null,\"}} {\"]}");
  g_autoptr(JsonNode) bad = parse ("{\"x\":\"{{ 1 }}\",\"a\":{\"b\":[0,\"{{ 1 + }}\"]}}");
  g_autoptr(JsonNode) open = parse ("[\"{{ x }\"]");
  g_autofree char *place = NULL;

  g_assert_true (khadim_script_check_templates (good, &place, &error));
  g_assert_null (place);
  g_assert_false (khadim_script_check_templates (bad, &place, &error));
  assert_message (error, KHADIM_ENGINE_ERROR_INVALID, "unexpected symbol");
  g_assert_cmpstr (place, ==, "a.b[1]");
  g_clear_pointer (&place, g_free);
  g_clear_error (&error);
  g_assert_false (khadim_script_check_templates (open, &place, &error));
  assert_message (error, KHADIM_ENGINE_ERROR_INVALID, "“{{” has no “}}”");
  g_assert_cmpstr (place, ==, "[0]");
}

static void
test_expand_string (Fixture      *fixture,
                    gconstpointer data)
{
  static const char *const texts[][2] = {
    { "", "" }, { "plain } text }}", "plain } text }}" }, { "{{ 1 }}", "1" },
    { "{{ 0.1 + 0.2 }} {{ 6 / 2 }} {{ 2^53 }}", "0.3 3.0 9.007199254741e+15" },
    { "{{ true }}{{ nil }}{{ null }}", "true" }, { "{{ \"{{\" }}{{ '}}' }}", "{{}}" },
    { "{{ [[}}]] }}|{{ [==[}} ]] ]==] }}", "}}|}} ]] " }, { "{{ ({a={b=1}}).a }}", "{\"b\":1}" },
    { "{{ 1 --[[ }} ]] }}", "1" }, { "{{ '\\'}}' }}", "'}}" }, { "ä{{ 'ö' }}ü", "äöü" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autofree char *text = khadim_script_expand_string (fixture->script, texts[i][0], &error);

      g_assert_no_error (error);
      g_assert_cmpstr (text, ==, texts[i][1]);
    }
}

/* Random expressions with all that may hold a brace. */
static void
append_expression (GString *text,
                   GRand   *rand,
                   guint    depth)
{
  static const char *const leaves[] = {
    "1", "'}}'", "\"{{\"", "'\\'}}'", "[[}}]]", "[==[ }}]] ]==]", "'\\\\'", "nil", "true", "{}",
    "2 --[[ }} ]]", "'[['", "'--'", "{}", "-1", "- -1", "#'}}'",
  };

  if (depth == 0 || g_rand_int_range (rand, 0, 4) == 0)
    {
      g_string_append (text, leaves[g_rand_int_range (rand, 0, G_N_ELEMENTS (leaves))]);
      return;
    }

  g_string_append (text, "{a=");
  for (guint i = 0; i < 2; i++)
    {
      append_expression (text, rand, depth - 1);
      g_string_append (text, i == 0 ? ",b=" : "}");
    }
}

/* A template ends where its expression does. */
static void
test_template_end (Fixture      *fixture,
                   gconstpointer data)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (3);

  for (guint i = 0; i < 2000; i++)
    {
      GString *expression = g_string_new (NULL);
      g_autofree char *text = NULL;
      g_autofree char *result = NULL;
      g_autofree char *expected = NULL;
      g_autofree char *inner = NULL;
      g_autoptr(GError) error = NULL;

      append_expression (expression, rand, 3);
      inner = g_string_free (expression, FALSE);
      text = g_strdup_printf ("<{{%s}}>{{ 1 }}", inner);
      result = khadim_script_expand_string (fixture->script, text, &error);
      g_test_message ("%s", text);
      g_assert_no_error (error);
      g_free (text);
      text = g_strdup_printf ("{{ %s }}", inner);
      expected = khadim_script_expand_string (fixture->script, text, &error);
      g_assert_no_error (error);
      g_free (text);
      text = g_strdup_printf ("<%s>1", expected);
      g_assert_cmpstr (result, ==, text);
    }
}

static void
test_expand_bounds (Fixture      *fixture,
                    gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *large = g_strnfill (KHADIM_SCRIPT_MAX_TEMPLATE_BYTES + 1, 'x');
  g_autofree char *many = NULL;
  GString *text = g_string_new (NULL);

  g_assert_null (khadim_script_expand_string (fixture->script, large, &error));
  assert_message (error, KHADIM_ENGINE_ERROR_LIMIT, "1 MiB");
  g_clear_error (&error);

  for (guint i = 0; i < 20; i++)
    g_string_append (text, "{{ ('x'):rep (1000000) }}");
  many = g_string_free (text, FALSE);
  g_assert_null (khadim_script_expand_string (fixture->script, many, &error));
  assert_message (error, KHADIM_ENGINE_ERROR_LIMIT, "16 MiB");
}

static void
test_test (Fixture      *fixture,
           gconstpointer data)
{
  static const char *const holds[] = { "true", "0", "''", "{}", "1 == 1", "null == null" };
  static const char *const fails[] = { "false", "nil", "null", "1 == 2", "not 0" };
  gboolean value;

  for (guint i = 0; i < G_N_ELEMENTS (holds); i++)
    g_assert_true (khadim_script_test (fixture->script, holds[i], &value, NULL) && value);
  for (guint i = 0; i < G_N_ELEMENTS (fails); i++)
    g_assert_true (khadim_script_test (fixture->script, fails[i], &value, NULL) && !value);
}

static void
test_names (Fixture      *fixture,
            gconstpointer data)
{
  static const char *const good[] = { "a", "_", "A1_b", "os", "row" };
  static const char *const bad[] = {
    "", "1a", "a b", "ä", "end", "nil", "string", "null", "_ENV", "json", "len", "a.b",
  };
  g_autofree char *large = g_strnfill (KHADIM_SCRIPT_MAX_NAME_BYTES + 1, 'a');
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    g_assert_true (khadim_script_is_name (good[i]));
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_false (khadim_script_is_name (bad[i]));
  g_assert_false (khadim_script_is_name (large));

  g_assert_false (khadim_script_set (fixture->script, "string", NULL, &error));
  assert_message (error, KHADIM_ENGINE_ERROR_INVALID, "“string” cannot be the name");
  assert_run_fault (fixture->script, "x = 1\nstring = 2", KHADIM_ENGINE_ERROR_INVALID,
                    "line 2: “string” cannot be the name");
}

static void
test_snapshot (Fixture      *fixture,
               gconstpointer data)
{
  g_autoptr(JsonObject) object = NULL;
  g_autoptr(JsonNode) node = NULL;
  g_autoptr(JsonNode) inner = json_node_init_int (json_node_alloc (), 2);

  set (fixture->script, "b", "[]");
  set (fixture->script, "a", "1");
  assert_run (fixture->script, "function f () end; c = {f}", "null");
  khadim_script_push_scope (fixture->script);
  g_assert_true (khadim_script_set_local (fixture->script, "a", inner, NULL));
  object = khadim_script_snapshot (fixture->script);
  node = khadim_json_object (json_object_ref (object));
  assert_node (node, "{\"a\":2,\"b\":[]}");
}

/* A value that is held often counts as often as it comes out. */
static void
test_shared_values (Fixture      *fixture,
                    gconstpointer data)
{
  g_autoptr(JsonNode) tree = parse ("[\"{{ t }}\",\"{{ t }}\",{\"a\":\"{{ t }}\"}]");
  g_autoptr(JsonObject) snapshot = NULL;
  g_autoptr(GError) error = NULL;

  assert_run (fixture->script,
              "s = ('x'):rep (1000000) t = {} for i = 1, 7 do t[i] = s end "
              "u, v, w = t, len, t", "null");
  g_assert_null (khadim_script_expand (fixture->script, tree, &error));
  assert_message (error, KHADIM_ENGINE_ERROR_LIMIT, "[2].a: ");
  snapshot = khadim_script_snapshot (fixture->script);
  g_assert_false (json_object_has_member (snapshot, "v"));
  g_assert_true (JSON_NODE_HOLDS_ARRAY (json_object_get_member (snapshot, "t")));
  g_assert_cmpstr (json_object_get_string_member (snapshot, "w"), ==,
                   "‹“[1]” holds more than 16 MiB of text›");
  assert_fault (fixture->script, "{t, t, t}", KHADIM_ENGINE_ERROR_LIMIT, "16 MiB");
}

/* What goes in is a copy, and so is what comes out. */
static void
test_copies (Fixture      *fixture,
             gconstpointer data)
{
  g_autoptr(JsonNode) node = parse ("{\"a\":[1]}");
  g_autoptr(JsonNode) out = NULL;

  g_assert_true (khadim_script_set (fixture->script, "x", node, NULL));
  out = khadim_script_get (fixture->script, "x");
  assert_run (fixture->script, "x.a[1] = 2; x.a[2] = null", "null");
  assert_node (node, "{\"a\":[1]}");
  assert_node (out, "{\"a\":[1]}");
  assert_value (fixture->script, "x", "{\"a\":[2,null]}");
}

/* A value that is nested deeper than JSON may be here. */
static void
test_deep_value (Fixture      *fixture,
                 gconstpointer data)
{
  g_autoptr(JsonNode) node = json_node_init_int (json_node_alloc (), 1);
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < KHADIM_SCRIPT_MAX_VALUE_DEPTH + 1; i++)
    {
      g_autoptr(JsonArray) array = json_array_new ();

      json_array_add_element (array, g_steal_pointer (&node));
      node = json_node_init_array (json_node_alloc (), array);
    }
  g_assert_false (khadim_script_set (fixture->script, "x", node, &error));
  assert_message (error, KHADIM_ENGINE_ERROR_LIMIT, "nested too deep");
  assert_value (fixture->script, "defined 'x'", "false");
  assert_fault (fixture->script,
                "(function () local t = 1 for i = 1, 70 do t = {t} end return t end) ()",
                KHADIM_ENGINE_ERROR_LIMIT, "nested too deep");
}

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
  g_test_add_func (SUITE "check", test_check);
  g_test_add_func (SUITE "check-templates", test_check_templates);
  ADD ("expand-string", test_expand_string);
  ADD ("template-end", test_template_end);
  ADD ("expand-bounds", test_expand_bounds);
  ADD ("test", test_test);
  ADD ("names", test_names);
  ADD ("snapshot", test_snapshot);
  ADD ("shared-values", test_shared_values);
  ADD ("copies", test_copies);
  ADD ("deep-value", test_deep_value);

  return g_test_run ();
}
