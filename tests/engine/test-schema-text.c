/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What schemas ask of strings: pattern and format. */

#define G_LOG_DOMAIN "test-schema-text"

#include "config.h"

#include "engine/json/khadim-json.h"
#include "engine/json/khadim-schema.h"

static KhadimSchema *
schema_ok (const char *text)
{
  g_autoptr(GError) error = NULL;
  KhadimSchema *schema = khadim_schema_new_from_string (text, &error);

  g_assert_no_error (error);

  return schema;
}

static void
test_formats (void)
{
  static const char *const good[][2] = {
    { "date-time", "2024-02-29T23:59:59.5Z" }, { "date-time", "1990-12-31t23:59:60z" },
    { "date-time", "1990-12-31T15:59:60-08:00" }, { "date", "2000-02-29" },
    { "time", "08:30:06+01:00" }, { "email", "a.b+c@example.org" }, { "email", "a@[127.0.0.1]" },
    { "hostname", "a-1.example" }, { "ipv4", "192.168.0.1" }, { "ipv6", "::1" },
    { "uri", "https://example.org/a?b#c" }, { "uri", "urn:isbn:1" }, { "uri-reference", "../a#b" },
    { "uuid", "2EB8AA08-aa98-11ea-b4aa-73b441d16380" }, { "regex", "^a+$" },
    { "json-pointer", "/a~0b/~1" }, { "no-such-format", "anything" },
    { "email", "a@[IPv6:::1]" },
  };
  static const char *const bad[][2] = {
    { "date-time", "2023-02-29T00:00:00Z" }, { "date-time", "2024-01-01 00:00:00Z" },
    { "date-time", "2024-01-01T00:00:00" }, { "date-time", "1990-12-31T22:59:60Z" },
    { "date-time", "2024-01-01T24:00:00Z" }, { "date", "1900-02-29" }, { "date", "2024-1-1" },
    { "time", "08:30:06" }, { "email", "a@" }, { "email", ".a@b.c" }, { "email", "a..b@c.d" },
    { "hostname", "-a" }, { "hostname", "a..b" }, { "hostname", "" }, { "ipv4", "256.0.0.1" },
    { "ipv4", "::1" }, { "ipv6", "1.2.3.4" }, { "ipv6", "::1%eth0" }, { "uri", "/a" },
    { "uri", "http://a b" }, { "uri", "http://a/%z1" }, { "uri-reference", "a\\b" },
    { "uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d1638" }, { "regex", "a(" }, { "regex", "\\a" },
    { "json-pointer", "a" }, { "json-pointer", "/~2" }, { "time", "08:30:06.Z" },
    { "time", "08:30:06+1:00" }, { "hostname", "a_b" }, { "email", "a(b@c.d" },
    { "hostname", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.org" },
    { "email", "a@[::1]" }, { "uuid", "2eb8aa08+aa98-11ea-b4aa-73b441d16380" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (good) + G_N_ELEMENTS (bad); i++)
    {
      gboolean fits = i < G_N_ELEMENTS (good);
      const char *const *pair = fits ? good[i] : bad[i - G_N_ELEMENTS (good)];
      g_autofree char *text = g_strdup_printf ("{\"format\":\"%s\"}", pair[0]);
      g_autoptr(KhadimSchema) schema = schema_ok (text);
      g_autoptr(JsonNode) node = khadim_json_string (pair[1]);

      g_test_message ("%s %s", pair[0], pair[1]);
      g_assert_cmpint (khadim_schema_check (schema, node, KHADIM_SCHEMA_FLAGS_FORMATS, NULL, NULL),
                       ==, fits);
      g_assert_true (khadim_schema_check (schema, node, KHADIM_SCHEMA_FLAGS_NONE, NULL, NULL));
    }
}

/* Regular expressions mean what ECMA-262 says. */
static void
test_patterns (void)
{
  static const struct
  {
    const char *pattern;
    const char *text;
    int matches;
  } cases[] = {
    { "^a$", "a\n", FALSE }, { "^a$", "a", TRUE }, { "b", "abc", TRUE },
    { "^\\d$", "5", TRUE }, { "^\\d$", "٥", FALSE }, { "^[\\d]$", "٥", FALSE },
    { "^\\w$", "é", FALSE }, { "^\\W$", "é", TRUE }, { "^[\\W]$", "é", TRUE },
    { "^[^\\W]$", "a", TRUE }, { "^\\D$", "٥", TRUE }, { "^\\s$", "\u00a0", TRUE },
    { "^\\s$", "\ufeff", TRUE }, { "^\\S$", "\u2003", FALSE }, { "^[\\S]$", "x", TRUE },
    { "^.$", "😀", TRUE }, { "^.$", "\n", FALSE }, { "^[^]$", "\n", TRUE }, { "[]", "a", FALSE },
    { "^\\u{1F600}$", "😀", TRUE }, { "^\\uD83D\\uDE00$", "😀", TRUE }, { "^\\u0041$", "A", TRUE },
    { "^\\x41$", "A", TRUE }, { "^\\cA$", "\x01", TRUE }, { "^\\v$", "\v", TRUE },
    { "^\\v$", "\n", FALSE }, { "^[\\b]$", "\b", TRUE }, { "\\bfoo\\b", "a foo b", TRUE },
    { "\\bfoo\\b", "éfoo", TRUE }, { "\\Bo", "foo", TRUE }, { "^\\p{Letter}+$", "Ünïcode", TRUE },
    { "^\\p{Lu}$", "a", FALSE }, { "^\\P{L}$", "1", TRUE }, { "^(a)\\1$", "aa", TRUE },
    { "^(?<x>a)\\k<x>$", "aa", TRUE }, { "^(?:ab)+$", "abab", TRUE }, { "^(?=a)a$", "a", TRUE },
    { "(?<=a)b", "ab", TRUE }, { "(?<!a)b", "ab", FALSE }, { "^[[a]$", "[", TRUE },
    { "^\\/\\.$", "/.", TRUE }, { "^a{2,3}$", "aa", TRUE }, { "^[a-z]$", "-", FALSE },
    { "^(?i:a)$", "A", TRUE }, { "^a+?$", "aa", TRUE }, { "^[*+]+$", "+*", TRUE },
    { "^\\*+$", "**", TRUE },
    { "^\\p{gc=Lu}$", "A", TRUE }, { "^\\p{General_Category=Decimal_Number}$", "٥", TRUE },
    { "\\0", "a", FALSE }, { "^\\u{20AC}$", "€", TRUE }, { "a|^b", "cb", FALSE },
    { "^b|a", "ca", TRUE }, { "^(?:b|a)", "ca", FALSE },
    /* Not of ECMA-262 */
    { "\\p{L-u}", "", -1 }, { "[\\1]", "", -1 }, { "\\k", "", -1 }, { "\\u{}", "", -1 },
    { "\\u{110000}", "", -1 }, { "(?<1>a)", "", -1 }, { "\\p{Nonsense}", "", -1 },
    { "\\a", "", -1 }, { "\\Z", "", -1 }, { "\\Qa\\E", "", -1 }, { "(?>a)", "", -1 },
    { "(?R)", "", -1 }, { "(?P<a>b)", "", -1 }, { "(*COMMIT)", "", -1 }, { "(?i)a", "", -1 },
    { "\\u12", "", -1 }, { "\\ud800", "", -1 }, { "\\p{}", "", -1 }, { "\\", "", -1 },
    { "a**", "", -1 }, { "a*+", "", -1 }, { "a++", "", -1 }, { "a{2}+", "", -1 },
    { "(?C1)", "", -1 }, { "\\01", "", -1 }, { "[z-a]", "", -1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) node = khadim_json_string (cases[i].text);
      JsonObject *object = json_object_new ();
      g_autoptr(JsonNode) document = khadim_json_object (object);
      g_autoptr(KhadimSchema) schema = NULL;

      g_test_message ("%s", cases[i].pattern);
      json_object_set_string_member (object, "pattern", cases[i].pattern);
      schema = khadim_schema_new (document, &error);
      if (cases[i].matches < 0)
        {
          g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID);
          continue;
        }
      g_assert_no_error (error);
      g_assert_cmpint (khadim_schema_check (schema, node, KHADIM_SCHEMA_FLAGS_NONE, NULL, NULL),
                       ==, cases[i].matches);
    }
}

/* What takes many attempts, but not too many, is matched to the end. */
static void
test_limits_patterns (void)
{
  g_autofree char *items = g_strnfill (20000, ',');
  g_autofree char *quoted = g_strdup_printf ("x\"%s\"", items);
  g_autofree char *open = g_strdup_printf ("x\"%s", items);
  g_autofree char *large = g_strnfill (KHADIM_SCHEMA_MAX_SUBJECT_BYTES - 1, 'a');
  g_autoptr(KhadimSchema) anchored = schema_ok ("{\"pattern\":\"^(?:a|b)*$\"}");
  g_autoptr(KhadimSchema) loose = schema_ok ("{\"pattern\":\"\\\"(?:,|b)*\\\"\"}");
  g_autoptr(KhadimSchema) late = schema_ok ("{\"pattern\":\"b|z$\"}");
  g_autoptr(JsonNode) node = khadim_json_string (quoted);
  g_autoptr(GError) error = NULL;

  g_assert_true (khadim_schema_check (loose, node, KHADIM_SCHEMA_FLAGS_NONE, NULL, &error));
  json_node_set_string (node, open);
  g_assert_false (khadim_schema_check (loose, node, KHADIM_SCHEMA_FLAGS_NONE, NULL, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID);
  g_clear_error (&error);

  json_node_set_string (node, items);
  g_assert_false (khadim_schema_check (anchored, node, KHADIM_SCHEMA_FLAGS_NONE, NULL, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID);
  g_clear_error (&error);

  large[KHADIM_SCHEMA_MAX_SUBJECT_BYTES - 2] = 'z';
  json_node_set_string (node, large);
  g_assert_true (khadim_schema_check (late, node, KHADIM_SCHEMA_FLAGS_NONE, NULL, &error));
  g_assert_no_error (error);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/engine/schema-text/formats", test_formats);
  g_test_add_func ("/engine/schema-text/patterns", test_patterns);
  g_test_add_func ("/engine/schema-text/limits", test_limits_patterns);

  return g_test_run ();
}
