/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-json"

#include "config.h"

#include "engine/json/khadim-json.h"

#include <locale.h>
#include <math.h>
#include <sys/stat.h>

#include <glib/gstdio.h>

#include "engine/json/khadim-json-path.h"

#define FUZZ_SEED 20260101
#define FUZZ_ROUNDS 3000

typedef struct {
  const char *text;
  gssize length;
  int code;
  const char *message;
} Refusal;

static JsonNode *
parse_ok (const char *text)
{
  g_autoptr(GError) error = NULL;
  JsonNode *node = khadim_json_parse (text, -1, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (node);

  return node;
}

static void
assert_round_trip (const char *text,
                   const char *expected)
{
  g_autoptr(JsonNode) node = parse_ok (text);
  g_autofree char *written = khadim_json_to_string (node);

  g_assert_cmpstr (written, ==, expected);
}

static void
test_parse_values (void)
{
  assert_round_trip (" null ", "null");
  assert_round_trip ("true", "true");
  assert_round_trip ("\tfalse\r\n", "false");
  assert_round_trip ("[]", "[]");
  assert_round_trip ("{ }", "{}");
  assert_round_trip ("[1, [2, {\"a\": null}], \"x\"]", "[1,[2,{\"a\":null}],\"x\"]");
  assert_round_trip ("{\"z\":1,\"a\":2,\"\":3}", "{\"z\":1,\"a\":2,\"\":3}");
}

static void
test_parse_strings (void)
{
  assert_round_trip ("\"\"", "\"\"");
  assert_round_trip ("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\"");
  assert_round_trip ("\"\\u0041\\u00e9\\u20AC\\uD83D\\uDE00\"", "\"Aé€😀\"");
  assert_round_trip ("\"\\u0001\\u001f\\u007f\"", "\"\\u0001\\u001f\x7f\"");
  assert_round_trip ("\"\\uFFFF\\uE000\\ud7ff\"", "\"\uffff\ue000\ud7ff\"");
  assert_round_trip ("\"خادم\"", "\"خادم\"");
  assert_round_trip ("{\"\\u0061\":1}", "{\"a\":1}");
}

static void
test_parse_numbers (void)
{
  assert_round_trip ("0", "0");
  assert_round_trip ("-0", "0");
  assert_round_trip ("-0.0", "-0.0");
  assert_round_trip ("1.0", "1.0");
  assert_round_trip ("1e2", "100.0");
  assert_round_trip ("1E+2", "100.0");
  assert_round_trip ("0.1", "0.1");
  assert_round_trip ("-12.5e-1", "-1.25");
  assert_round_trip ("9223372036854775807", "9223372036854775807");
  assert_round_trip ("-9223372036854775808", "-9223372036854775808");
  assert_round_trip ("9007199254740993", "9007199254740993");
  assert_round_trip ("1e-400", "0.0");
  assert_round_trip ("0e999999999999", "0.0");
  assert_round_trip ("1.7976931348623157e308", "1.7976931348623157e+308");
  assert_round_trip ("5e-324", "4.94065645841247e-324");
  assert_round_trip ("0.30000000000000004", "0.30000000000000004");
  assert_round_trip ("123456789012345678901234567890.0", "1.2345678901234568e+29");
}

/* Every double reads back as itself; the oracle is the C library's reader. */
static void
test_parse_doubles (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (FUZZ_SEED);

  for (guint i = 0; i < 20000; i++)
    {
      g_autofree char *text = NULL;
      g_autoptr(JsonNode) node = NULL;
      g_autofree char *written = NULL;
      guint digits = g_rand_int_range (rand, 1, 19);

      text = g_strdup_printf ("%" G_GUINT64_FORMAT ".%0*ue%d", (guint64) g_rand_int (rand),
                              (int) digits, g_rand_int (rand), g_rand_int_range (rand, -330, 298));
      node = parse_ok (text);
      g_assert_cmpfloat (json_node_get_double (node), ==, strtod (text, NULL));
      written = khadim_json_to_string (node);
      g_assert_cmpfloat (strtod (written, NULL), ==, json_node_get_double (node));
    }
}

/* Each special byte at each place of strings of each length around a word. */
static void
test_string_places (void)
{
  static const char *const specials[][2] = {
    { "\"", "\\\"" }, { "\\", "\\\\" }, { "\n", "\\n" }, { "\x1f", "\\u001f" }, { "é", "é" },
    { " ", " " }, { "!", "!" }, { "#", "#" }, { "[", "[" }, { "]", "]" }, { "\x7f", "\x7f" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (specials); i++)
    {
      for (gsize length = 0; length < 20; length++)
        {
          for (gsize at = 0; at <= length; at++)
            {
              g_autofree char *before = g_strnfill (at, 'a');
              g_autofree char *after = g_strnfill (length - at, 'z');
              g_autofree char *plain = g_strconcat (before, specials[i][0], after, NULL);
              g_autofree char *quoted = g_strconcat ("\"", before, specials[i][1], after, "\"",
                                                     NULL);
              g_autoptr(JsonNode) node = khadim_json_string (plain);
              g_autofree char *written = khadim_json_to_string (node);
              g_autoptr(JsonNode) read = parse_ok (quoted);

              g_assert_cmpstr (written, ==, quoted);
              g_assert_cmpstr (json_node_get_string (read), ==, plain);
            }
        }
    }
}

/* Few digits are written the short way: as printf() writes them. */
static void
test_write_short_decimals (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (FUZZ_SEED);

  for (guint i = 0; i < 50000; i++)
    {
      double power = pow (10, g_rand_int_range (rand, 0, 10));
      double value = g_rand_int_range (rand, G_MININT, G_MAXINT) / power;
      g_autoptr(JsonNode) node = khadim_json_double (value);
      g_autofree char *written = khadim_json_to_string (node);
      g_autofree char *expected = g_strdup_printf ("%.15g", value);

      g_assert_cmpfloat (strtod (expected, NULL), ==, value);
      if (strpbrk (expected, ".e") == NULL)
        g_assert_true (g_str_has_prefix (written, expected) && g_str_has_suffix (written, ".0"));
      else
        g_assert_cmpstr (written, ==, expected);
    }
}

static const Refusal refusals[] = {
  { "", -1, KHADIM_ENGINE_ERROR_INVALID,
    "line 1, column 1: expected a value, found the end of the text" },
  { " \n ", -1, KHADIM_ENGINE_ERROR_INVALID, "line 2, column 2: expected a value, found*" },
  { "\xef\xbb\xbf{}", -1, KHADIM_ENGINE_ERROR_INVALID, "line 1, column 1: *byte order mark" },
  { "{} x", -1, KHADIM_ENGINE_ERROR_INVALID,
    "line 1, column 4: expected nothing after the value, found “x”" },
  { "[1,]", -1, KHADIM_ENGINE_ERROR_INVALID, "line 1, column 4, at [1]: expected a value, *" },
  { "[1 2]", -1, KHADIM_ENGINE_ERROR_INVALID, "*, at [0]: expected “,” or “]”, found “2”" },
  { "{\"a\":1,}", -1, KHADIM_ENGINE_ERROR_INVALID, "*: expected a name in double quotes, *" },
  { "{'a':1}", -1, KHADIM_ENGINE_ERROR_INVALID, "*: expected a name in double quotes, *" },
  { "{a:1}", -1, KHADIM_ENGINE_ERROR_INVALID, "*: expected a name in double quotes, *" },
  { "{\"a\" 1}", -1, KHADIM_ENGINE_ERROR_INVALID, "*: expected “:”, found “1”" },
  { "{\"a\":}", -1, KHADIM_ENGINE_ERROR_INVALID, "*, at a: expected a value, found “}”" },
  { "[1 // c\n]", -1, KHADIM_ENGINE_ERROR_INVALID, "*found “/”" },
  { "/* c */ 1", -1, KHADIM_ENGINE_ERROR_INVALID, "*found “/”" },
  { "'a'", -1, KHADIM_ENGINE_ERROR_INVALID, "*found “'”" },
  { "nul", -1, KHADIM_ENGINE_ERROR_INVALID, "*found “n”" },
  { "True", -1, KHADIM_ENGINE_ERROR_INVALID, "*found “T”" },
  { "NaN", -1, KHADIM_ENGINE_ERROR_INVALID, "*found “N”" },
  { "-Infinity", -1, KHADIM_ENGINE_ERROR_INVALID, "*expected a digit, found “I”" },
  { "01", -1, KHADIM_ENGINE_ERROR_INVALID, "*cannot begin with the digit 0" },
  { "-01", -1, KHADIM_ENGINE_ERROR_INVALID, "*cannot begin with the digit 0" },
  { "+1", -1, KHADIM_ENGINE_ERROR_INVALID, "*found “+”" },
  { ".5", -1, KHADIM_ENGINE_ERROR_INVALID, "*found “.”" },
  { "1.", -1, KHADIM_ENGINE_ERROR_INVALID, "*a digit after the point*" },
  { "1e", -1, KHADIM_ENGINE_ERROR_INVALID, "*a digit of the exponent*" },
  { "0x10", -1, KHADIM_ENGINE_ERROR_INVALID, "*found “x”" },
  { "-", -1, KHADIM_ENGINE_ERROR_INVALID, "*expected a digit*" },
  { "9223372036854775808", -1, KHADIM_ENGINE_ERROR_INVALID, "*integer is outside*" },
  { "-9223372036854775809", -1, KHADIM_ENGINE_ERROR_INVALID, "*integer is outside*" },
  { "99999999999999999999999999", -1, KHADIM_ENGINE_ERROR_INVALID, "*integer is outside*" },
  { "1e309", -1, KHADIM_ENGINE_ERROR_INVALID, "*too large for a double" },
  { "-1e99999999999999999999", -1, KHADIM_ENGINE_ERROR_INVALID, "*too large for a double" },
  { "\"a", -1, KHADIM_ENGINE_ERROR_INVALID, "line 1, column 1: the string does not end" },
  { "\"a\\", -1, KHADIM_ENGINE_ERROR_INVALID, "*after the backslash, found the end*" },
  { "\"a\\x\"", -1, KHADIM_ENGINE_ERROR_INVALID, "*after the backslash, found “x”" },
  { "\"a\nb\"", -1, KHADIM_ENGINE_ERROR_INVALID, "line 1, column 3: *U+000A as it is" },
  { "\"\\u12\"", -1, KHADIM_ENGINE_ERROR_INVALID, "*four hexadecimal digits" },
  { "\"\\u00g0\"", -1, KHADIM_ENGINE_ERROR_INVALID, "*four hexadecimal digits" },
  { "\"\\u0000\"", -1, KHADIM_ENGINE_ERROR_INVALID, "*U+0000 is not supported" },
  { "\"\\ud800\"", -1, KHADIM_ENGINE_ERROR_INVALID, "*\\ud800 is half of a surrogate pair" },
  { "\"\\udc00\\ud800\"", -1, KHADIM_ENGINE_ERROR_INVALID, "*\\udc00 is half of*" },
  { "\"\\ud800\\u0041\"", -1, KHADIM_ENGINE_ERROR_INVALID, "*\\ud800 is half of*" },
  { "\"é\xff\"", -1, KHADIM_ENGINE_ERROR_INVALID, "line 1, column 3: *byte 0xff*" },
  { "\"\xc0\x80\"", -1, KHADIM_ENGINE_ERROR_INVALID, "*byte 0xc0*" },
  { "\"\xed\xa0\x80\"", -1, KHADIM_ENGINE_ERROR_INVALID, "*byte 0xed*" },
  { "\"\xf4\x90\x80\x80\"", -1, KHADIM_ENGINE_ERROR_INVALID, "*byte 0xf4*" },
  { "\"\xe2\x82", -1, KHADIM_ENGINE_ERROR_INVALID, "*byte 0xe2*" },
  { "\xa0" "1", -1, KHADIM_ENGINE_ERROR_INVALID, "*byte 0xa0*" },
  { "[\0]", 3, KHADIM_ENGINE_ERROR_INVALID, "*, at [0]: expected a value, *U+0000" },
  { "\"\0\"", 3, KHADIM_ENGINE_ERROR_INVALID, "*U+0000 as it is" },
  { "1\0", 2, KHADIM_ENGINE_ERROR_INVALID, "*expected nothing after the value*" },
  { "{\"a\":1,\n \"b\":{},\n \"a\":2}", -1, KHADIM_ENGINE_ERROR_INVALID,
    "line 3, column 2: the name “a” stands twice in one object" },
  { "{\"a\":1,\"\\u0061\":2}", -1, KHADIM_ENGINE_ERROR_INVALID, "*stands twice*" },
  { "{\"steps\":[1,2,3,{\"target\":{\"odd key\":tru}}]}", -1, KHADIM_ENGINE_ERROR_INVALID,
    "line 1, column 38, at steps[3].target[\"odd key\"]: expected a value, found “t”" },
};

static void
test_parse_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    {
      const Refusal *refusal = &refusals[i];
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) node = khadim_json_parse (refusal->text, refusal->length, NULL, &error);

      g_assert_null (node);
      g_assert_error (error, KHADIM_ENGINE_ERROR, refusal->code);
      g_test_message ("%u: %s", i, error->message);
      g_assert_true (g_pattern_match_simple (refusal->message, error->message));
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
    }
}

static char *
nested (guint depth)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < depth; i++)
    g_string_append (text, i % 2 == 0 ? "[" : "{\"k\":");
  g_string_append (text, "0");
  for (guint i = depth; i > 0; i--)
    g_string_append_c (text, i % 2 == 1 ? ']' : '}');

  return g_string_free (text, FALSE);
}

static void
assert_depth (guint                   depth,
              const KhadimJsonLimits *limits,
              gboolean                fits)
{
  g_autofree char *text = nested (depth);
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = khadim_json_parse (text, -1, limits, &error);

  if (fits)
    {
      g_assert_no_error (error);
      g_assert_nonnull (node);
      return;
    }

  g_assert_null (node);
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT);
  g_assert_cmpuint (strlen (error->message), <, 400);
}

static void
test_limits_depth (void)
{
  KhadimJsonLimits limits = { .max_depth = 2 };
  KhadimJsonLimits endless = { .max_depth = G_MAXUINT };

  assert_depth (KHADIM_JSON_MAX_DEPTH, NULL, TRUE);
  assert_depth (KHADIM_JSON_MAX_DEPTH + 1, NULL, FALSE);
  assert_depth (2, &limits, TRUE);
  assert_depth (3, &limits, FALSE);
  assert_depth (KHADIM_JSON_DEPTH_CEILING, &endless, TRUE);
  assert_depth (KHADIM_JSON_DEPTH_CEILING + 1, &endless, FALSE);
  assert_depth (100000, &endless, FALSE);
}

static void
assert_limit (const char             *text,
              const KhadimJsonLimits *limits,
              const char             *message)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = khadim_json_parse (text, -1, limits, &error);

  if (message == NULL)
    {
      g_assert_no_error (error);
      return;
    }

  g_assert_null (node);
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT);
  g_assert_true (g_pattern_match_simple (message, error->message));
}

static void
test_limits_size (void)
{
  KhadimJsonLimits limits = { .max_bytes = 5, .max_values = 3 };
  g_autofree char *fits = g_strnfill (KHADIM_JSON_MAX_NUMBER_BYTES, '1');
  g_autofree char *long_number = g_strconcat ("0.", fits, NULL);

  assert_limit ("[1,2]", &limits, NULL);
  assert_limit ("[1,2] ", &limits, "*longer than 5 bytes");
  limits.max_bytes = 0;
  assert_limit ("[1,2,3]", &limits, "line 1, column 6, at [2]: *too many values");

  fits[0] = '0';
  fits[1] = '.';
  assert_limit (fits, NULL, NULL);
  assert_limit (long_number, NULL, "*more than 1024 characters");
}

static void
test_write_pretty (void)
{
  g_autoptr(JsonNode) node = parse_ok ("{\"b\":[1,{\"x\":\"y\"}],\"a\":{},\"c\":[]}");
  g_autofree char *pretty = khadim_json_to_pretty (node);

  g_assert_cmpstr (pretty, ==,
                   "{\n  \"b\": [\n    1,\n    {\n      \"x\": \"y\"\n    }\n  ],\n"
                   "  \"a\": {},\n  \"c\": []\n}");
}

static void
test_write_canonical (void)
{
  static const char *const pairs[][2] = {
    { "{\"b\":1,\"a\":[true,null]}", "{\"a\":[true,null],\"b\":1}" },
    { "{\"é\":1,\"z\":2,\"Z\":3,\"😀\":4,\"\uffff\":5}",
      "{\"Z\":3,\"z\":2,\"é\":1,\"\uffff\":5,\"😀\":4}" },
    { "[1.0,1e2,-0.0,0.5,1e300]", "[1,100,0,0.5,1e+300]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    {
      g_autoptr(JsonNode) node = parse_ok (pairs[i][0]);
      g_autofree char *canonical = khadim_json_to_canonical (node);

      g_assert_cmpstr (canonical, ==, pairs[i][1]);
    }
}

/* What a program puts into a node: bad UTF-8 and numbers that JSON lacks. */
static void
test_write_bad_values (void)
{
  g_autoptr(JsonNode) text = khadim_json_string ("a\xff" "b");
  g_autoptr(JsonNode) number = json_node_init_double (json_node_alloc (), NAN);
  g_autoptr(JsonNode) infinite = khadim_json_double (INFINITY);
  g_autofree char *written_text = khadim_json_to_string (text);
  g_autofree char *written_number = khadim_json_to_string (number);

  g_assert_cmpstr (written_text, ==, "\"a\uFFFD" "b\"");
  g_assert_cmpstr (written_number, ==, "null");
  g_assert_true (JSON_NODE_HOLDS_NULL (infinite));
}

/* A locale with a decimal comma, made for this test alone. */
static void
set_comma_locale (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "de_DE.UTF-8", NULL);
  const char *argv[] = { "localedef", "-c", "-i", "de_DE", "-f", "UTF-8", path, NULL };
  g_autoptr(GError) error = NULL;
  int status = 0;

  g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, &status,
                &error);
  g_assert_no_error (error);
  g_assert_cmpint (status, ==, 0);
  g_setenv ("LOCPATH", folder, TRUE);
  g_assert_nonnull (setlocale (LC_NUMERIC, "de_DE.UTF-8"));
  g_assert_cmpstr (localeconv ()->decimal_point, ==, ",");
}

static void
test_locale (void)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("khadim-locale-XXXXXX", &error);
  const char *argv[] = { "rm", "-r", folder, NULL };

  g_assert_no_error (error);
  set_comma_locale (folder);
  assert_round_trip ("[0.5,1234567890123456789.25]", "[0.5,1.2345678901234568e+18]");
  setlocale (LC_NUMERIC, "C");
  g_unsetenv ("LOCPATH");
  g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
                &error);
  g_assert_no_error (error);
}

static void
test_equal (void)
{
  static const struct
  {
    const char *a;
    const char *b;
    gboolean equal;
  } cases[] = {
    { "1", "1.0", TRUE },
    { "0", "-0.0", TRUE },
    { "1", "true", FALSE },
    { "0", "false", FALSE },
    { "0", "null", FALSE },
    { "\"1\"", "1", FALSE },
    { "9007199254740993", "9007199254740992.0", FALSE },
    { "9223372036854775807", "9223372036854775808.0", FALSE },
    { "-9223372036854775808", "-9223372036854775808.0", TRUE },
    { "[1,2]", "[1.0,2.0]", TRUE },
    { "[1,2]", "[2,1]", FALSE },
    { "[1]", "[1,1]", FALSE },
    { "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", TRUE },
    { "{\"a\":1}", "{\"a\":1,\"b\":2}", FALSE },
    { "{\"a\":1}", "{\"b\":1}", FALSE },
    { "{}", "[]", FALSE },
    { "\"é\"", "\"\\u00e9\"", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(JsonNode) a = parse_ok (cases[i].a);
      g_autoptr(JsonNode) b = parse_ok (cases[i].b);
      g_autofree char *a_text = khadim_json_to_canonical (a);
      g_autofree char *b_text = khadim_json_to_canonical (b);

      g_test_message ("%s %s", cases[i].a, cases[i].b);
      g_assert_cmpint (khadim_json_equal (a, b), ==, cases[i].equal);
      g_assert_cmpint (khadim_json_equal (b, a), ==, cases[i].equal);
      g_assert_cmpint (strcmp (a_text, b_text) == 0, ==, cases[i].equal);
    }
}

static void
test_getters (void)
{
  g_autoptr(JsonNode) node = parse_ok ("{\"s\":\"x\",\"i\":3,\"d\":4.0,\"f\":4.5,\"b\":true,"
                                       "\"n\":null,\"o\":{},\"a\":[]}");
  JsonObject *object = json_node_get_object (node);
  static const char *const members[] = { "s", "i", "d", "f", "b", "n", "o", "a", "none" };

  g_assert_cmpstr (khadim_json_get_string (object, "s", NULL), ==, "x");
  g_assert_cmpint (khadim_json_get_int (object, "i", 0), ==, 3);
  g_assert_cmpint (khadim_json_get_int (object, "d", 0), ==, 4);
  g_assert_cmpint (khadim_json_get_int (object, "f", 7), ==, 7);
  g_assert_cmpfloat (khadim_json_get_double (object, "i", 0), ==, 3);
  g_assert_cmpfloat (khadim_json_get_double (object, "f", 0), ==, 4.5);
  g_assert_true (khadim_json_get_boolean (object, "b", FALSE));
  g_assert_nonnull (khadim_json_get_object (object, "o"));
  g_assert_nonnull (khadim_json_get_array (object, "a"));
  g_assert_nonnull (khadim_json_get (object, "n"));
  g_assert_null (khadim_json_get (object, "none"));

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    {
      const char *name = members[i];

      if (!g_str_equal (name, "s"))
        g_assert_cmpstr (khadim_json_get_string (object, name, "no"), ==, "no");
      if (!g_str_equal (name, "i") && !g_str_equal (name, "d"))
        g_assert_cmpint (khadim_json_get_int (object, name, -1), ==, -1);
      if (!g_str_equal (name, "b"))
        g_assert_false (khadim_json_get_boolean (object, name, FALSE));
      if (!g_str_equal (name, "o"))
        g_assert_null (khadim_json_get_object (object, name));
      if (!g_str_equal (name, "a"))
        g_assert_null (khadim_json_get_array (object, name));
    }

  g_assert_cmpint (khadim_json_get_int (NULL, "x", 5), ==, 5);
}

static void
test_builders (void)
{
  JsonObject *object = json_object_new ();
  JsonArray *array = json_array_new ();
  g_autoptr(JsonNode) node = NULL;
  g_autofree char *text = NULL;

  json_array_add_element (array, khadim_json_int (G_MININT64));
  json_array_add_element (array, khadim_json_double (0.25));
  json_array_add_element (array, khadim_json_boolean (FALSE));
  json_array_add_element (array, khadim_json_string ("t"));
  json_array_add_element (array, khadim_json_string (NULL));
  json_object_set_member (object, "a", khadim_json_array (array));
  json_object_set_member (object, "n", khadim_json_null ());
  node = khadim_json_object (object);
  text = khadim_json_to_string (node);

  g_assert_cmpstr (text, ==, "{\"a\":[-9223372036854775808,0.25,false,\"t\",null],\"n\":null}");
}

static void
test_copy (void)
{
  static const char text[] = "{\"a\":[1,2.5,\"x\",null,{\"b\":true}]}";
  g_autoptr(JsonNode) node = parse_ok (text);
  g_autoptr(JsonNode) copy = khadim_json_copy (node);
  g_autofree char *written = NULL;

  json_array_add_null_element (khadim_json_get_array (json_node_get_object (node), "a"));
  json_object_remove_member (json_node_get_object (node), "a");
  written = khadim_json_to_string (copy);
  g_assert_cmpstr (written, ==, text);
}

static void
test_path (void)
{
  g_autoptr(GString) path = g_string_new (NULL);
  gsize before;

  g_assert_cmpuint (khadim_json_path_push_key (path, "steps"), ==, 0);
  g_assert_cmpuint (khadim_json_path_push_index (path, 3), ==, 5);
  before = khadim_json_path_push_key (path, "target");
  khadim_json_path_push_key (path, "odd \"key\"");
  khadim_json_path_push_key (path, "x-khadim");
  g_assert_cmpstr (path->str, ==, "steps[3].target[\"odd \\\"key\\\"\"].x-khadim");
  g_string_truncate (path, before);
  khadim_json_path_push_key (path, "");
  khadim_json_path_push_key (path, "1a");
  g_assert_cmpstr (path->str, ==, "steps[3][\"\"][\"1a\"]");
}

/* The examples of RFC 6901 section 5, and what is not a pointer. */
static void
test_pointer (void)
{
  static const char *const found[][2] = {
    { "", NULL }, { "/foo", "[\"bar\",\"baz\"]" }, { "/foo/0", "\"bar\"" }, { "/", "0" },
    { "/a~1b", "1" }, { "/c%d", "2" }, { "/e^f", "3" }, { "/g|h", "4" }, { "/i\\j", "5" },
    { "/k\"l", "6" }, { "/ ", "7" }, { "/m~0n", "8" },
  };
  static const char *const missing[] = {
    "foo", "/foo/2", "/foo/-", "/foo/00", "/foo/+0", "/foo/", "/foo/0/x", "/none", "/a~2b",
    "/m~", "/foo/99999999999999999999",
  };
  g_autoptr(JsonNode) root = parse_ok ("{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,"
                                       "\"e^f\":3,\"g|h\":4,\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,"
                                       "\"m~n\":8}");

  for (guint i = 0; i < G_N_ELEMENTS (found); i++)
    {
      JsonNode *node = khadim_json_pointer_get (root, found[i][0]);
      g_autofree char *text = NULL;

      g_assert_nonnull (node);
      text = khadim_json_to_string (node);
      if (found[i][1] == NULL)
        g_assert_true (node == root);
      else
        g_assert_cmpstr (text, ==, found[i][1]);
    }

  for (guint i = 0; i < G_N_ELEMENTS (missing); i++)
    g_assert_null (khadim_json_pointer_get (root, missing[i]));
}

static void
assert_load_error (const char             *path,
                   const KhadimJsonLimits *limits,
                   int                     code)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = khadim_json_load_file (path, limits, &error);

  g_assert_null (node);
  g_assert_error (error, KHADIM_ENGINE_ERROR, code);
  g_assert_true (g_str_has_prefix (error->message, path));
}

static void
test_load_file (void)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("khadim-test-json-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "a.json", NULL);
  g_autofree char *pipe_path = g_build_filename (folder, "pipe", NULL);
  g_autoptr(JsonNode) node = NULL;
  KhadimJsonLimits limits = { .max_bytes = 3 };

  g_assert_no_error (error);
  g_assert_true (g_file_set_contents (path, "[12]", -1, &error));
  node = khadim_json_load_file (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (node);

  assert_load_error (path, &limits, KHADIM_ENGINE_ERROR_LIMIT);
  assert_load_error (folder, NULL, KHADIM_ENGINE_ERROR_INVALID);
  assert_load_error ("/dev/zero", NULL, KHADIM_ENGINE_ERROR_INVALID);
  g_assert_cmpint (mkfifo (pipe_path, 0600), ==, 0);
  assert_load_error (pipe_path, NULL, KHADIM_ENGINE_ERROR_INVALID);
  g_assert_true (g_file_set_contents (path, "[", -1, &error));
  assert_load_error (path, NULL, KHADIM_ENGINE_ERROR_INVALID);

  g_unlink (pipe_path);
  g_unlink (path);
  assert_load_error (path, NULL, KHADIM_ENGINE_ERROR_NOT_FOUND);
  g_rmdir (folder);
}

static const char sample[] =
  "{\"name\":\"Rechnungen \\u00fc\\ud83d\\ude00 é\",\"steps\":[{\"tool\":\"click\","
  "\"at\":[1,-2.5e3,0.1],\"on\":true,\"off\":false,\"none\":null},"
  "{\"odd key\":{\"\":[[],{}]}}], \"n\": 1234567890}";

/* A value or an error, and a value reads back as itself. Warnings are fatal. */
static gboolean
check_any (const char *text,
           gsize       length)
{
  /* A block of just this size, so that memory checkers see a read past it. */
  g_autofree char *copy = g_memdup2 (text, length);
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = khadim_json_parse (copy != NULL ? copy : "", (gssize) length,
                                                NULL, &error);
  g_autoptr(JsonNode) again = NULL;
  g_autofree char *written = NULL;

  g_assert_true ((node != NULL) != (error != NULL));
  if (node == NULL)
    return FALSE;

  written = khadim_json_to_string (node);
  again = parse_ok (written);
  g_assert_true (khadim_json_equal (node, again));

  return TRUE;
}

static void
test_mutation_truncated (void)
{
  gsize length = strlen (sample);

  g_assert_true (check_any (sample, length));
  for (gsize i = 0; i < length; i++)
    g_assert_false (check_any (sample, i));
}

static void
test_mutation_flipped (void)
{
  g_autofree char *copy = g_strdup (sample);
  gsize length = strlen (sample);
  guint valid = 0;

  for (gsize i = 0; i < length; i++)
    {
      for (guint bit = 0; bit < 8; bit++)
        {
          copy[i] = (char) (sample[i] ^ (1 << bit));
          valid += check_any (copy, length) ? 1 : 0;
        }
      copy[i] = sample[i];
    }

  /* Flips inside names and numbers keep the text valid: both ways were seen. */
  g_assert_cmpuint (valid, >, length);
  g_assert_cmpuint (valid, <, length * 8);
}

static void
test_mutation_random (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (FUZZ_SEED);
  static const char pool[] = "{}[]\",:\\u0d8-+.eE19 \n\xc3\xa9\xff";

  for (guint round = 0; round < FUZZ_ROUNDS; round++)
    {
      g_autoptr(GString) text = g_string_new (sample);
      int changes = g_rand_int_range (rand, 1, 6);

      for (int i = 0; i < changes; i++)
        {
          gssize at = g_rand_int_range (rand, 0, (int) text->len);
          char c = pool[g_rand_int_range (rand, 0, sizeof pool)];

          if (g_rand_boolean (rand))
            text->str[at] = c;
          else if (g_rand_boolean (rand))
            g_string_insert_c (text, at, c);
          else
            g_string_erase (text, at, MIN (3, (gssize) text->len - at));
        }
      check_any (text->str, text->len);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/engine/json/parse/values", test_parse_values);
  g_test_add_func ("/engine/json/parse/strings", test_parse_strings);
  g_test_add_func ("/engine/json/parse/numbers", test_parse_numbers);
  g_test_add_func ("/engine/json/parse/doubles", test_parse_doubles);
  g_test_add_func ("/engine/json/parse/refused", test_parse_refused);
  g_test_add_func ("/engine/json/limits/depth", test_limits_depth);
  g_test_add_func ("/engine/json/limits/size", test_limits_size);
  g_test_add_func ("/engine/json/string-places", test_string_places);
  g_test_add_func ("/engine/json/write/short-decimals", test_write_short_decimals);
  g_test_add_func ("/engine/json/write/pretty", test_write_pretty);
  g_test_add_func ("/engine/json/write/canonical", test_write_canonical);
  g_test_add_func ("/engine/json/write/bad-values", test_write_bad_values);
  g_test_add_func ("/engine/json/locale", test_locale);
  g_test_add_func ("/engine/json/equal", test_equal);
  g_test_add_func ("/engine/json/getters", test_getters);
  g_test_add_func ("/engine/json/builders", test_builders);
  g_test_add_func ("/engine/json/copy", test_copy);
  g_test_add_func ("/engine/json/path", test_path);
  g_test_add_func ("/engine/json/pointer", test_pointer);
  g_test_add_func ("/engine/json/load-file", test_load_file);
  g_test_add_func ("/engine/json/mutation/truncated", test_mutation_truncated);
  g_test_add_func ("/engine/json/mutation/flipped", test_mutation_flipped);
  g_test_add_func ("/engine/json/mutation/random", test_mutation_random);

  return g_test_run ();
}
