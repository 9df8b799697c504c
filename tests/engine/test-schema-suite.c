/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* The official test suite of JSON Schema, in tests/data/json-schema-2020-12. */

#define G_LOG_DOMAIN "test-schema-suite"

#include "config.h"

#include "engine/json/khadim-json.h"
#include "engine/json/khadim-schema.h"

#define SUITE_FILES 46
#define SUITE_TESTS 1299

typedef struct {
  guint groups;
  guint tests;
  guint failures;
  guint left_out;
  guint remote;
} Counts;

/* Groups whose schemas refer to documents that the suite serves by HTTP on
 * localhost:1234. Nothing is fetched here, so they must be refused as
 * unsupported, which is tested; their tests are left out. */
static const char *const remote_groups[][2] = {
  { "dynamicRef.json", "strict-tree schema, guards against misspelled properties" },
  { "dynamicRef.json", "tests for implementation dynamic anchor and reference link" },
  { "dynamicRef.json", "$ref and $dynamicAnchor are independent of order - $defs first" },
  { "dynamicRef.json", "$ref and $dynamicAnchor are independent of order - $ref first" },
  { "dynamicRef.json", "$ref to $dynamicRef finds detached $dynamicAnchor" },
  { "refRemote.json", "remote ref" },
  { "refRemote.json", "fragment within remote ref" },
  { "refRemote.json", "anchor within remote ref" },
  { "refRemote.json", "ref within remote ref" },
  { "refRemote.json", "base URI change" },
  { "refRemote.json", "base URI change - change folder" },
  { "refRemote.json", "base URI change - change folder in subschema" },
  { "refRemote.json", "root ref in remote ref" },
  { "refRemote.json", "remote ref with ref to defs" },
  { "refRemote.json", "Location-independent identifier in remote ref" },
  { "refRemote.json", "retrieved nested refs resolve relative to their URI not $id" },
  { "refRemote.json", "remote HTTP ref with different $id" },
  { "refRemote.json", "remote HTTP ref with different URN $id" },
  { "refRemote.json", "remote HTTP ref with nested absolute ref" },
  { "refRemote.json", "$ref to $ref finds detached $anchor" },
  { "vocabulary.json", "schema that uses custom metaschema with with no validation vocabulary" },
  { "vocabulary.json", "ignore unrecognized optional vocabulary" },
};

static gboolean
group_is_remote (const char *file,
                 const char *description)
{
  for (guint i = 0; i < G_N_ELEMENTS (remote_groups); i++)
    {
      if (g_str_equal (remote_groups[i][0], file) && g_str_equal (remote_groups[i][1], description))
        return TRUE;
    }

  return FALSE;
}

static void
run_test (KhadimSchema *schema,
          const char   *file,
          const char   *group,
          JsonObject   *test,
          Counts       *counts)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *place = NULL;
  const char *description = khadim_json_get_string (test, "description", "");
  gboolean expected = khadim_json_get_boolean (test, "valid", FALSE);
  gboolean valid = khadim_schema_check (schema, khadim_json_get (test, "data"),
                                        KHADIM_SCHEMA_FLAGS_NONE, &place, &error);

  counts->tests++;
  g_assert_true (valid == (error == NULL));
  g_assert_true (valid == (place == NULL));
  if (error != NULL)
    {
      g_assert_cmpstr (error->message, !=, "");
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
    }
  if (valid == expected && (valid || g_error_matches (error, KHADIM_ENGINE_ERROR,
                                                      KHADIM_ENGINE_ERROR_INVALID)))
    return;

  counts->failures++;
  g_test_message ("%s: %s: %s: %s", file, group, description,
                  error != NULL ? error->message : "accepted");
}

static void
run_group (const char *file,
           JsonObject *group,
           Counts     *counts)
{
  g_autoptr(GError) error = NULL;
  const char *description = khadim_json_get_string (group, "description", "");
  g_autoptr(KhadimSchema) schema = khadim_schema_new (khadim_json_get (group, "schema"), &error);
  JsonArray *tests = khadim_json_get_array (group, "tests");
  guint n = json_array_get_length (tests);

  counts->groups++;
  if (group_is_remote (file, description))
    {
      counts->left_out += n;
      counts->remote++;
      if (!g_error_matches (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_UNSUPPORTED))
        {
          counts->failures++;
          g_test_message ("%s: %s: not refused as unsupported", file, description);
        }
      return;
    }
  if (schema == NULL)
    {
      counts->failures += n;
      g_test_message ("%s: %s: %s", file, description, error->message);
      return;
    }

  for (guint i = 0; i < n; i++)
    run_test (schema, file, description, json_array_get_object_element (tests, i), counts);
}

static void
run_groups (const char *file,
            JsonNode   *groups,
            Counts     *counts)
{
  JsonArray *array = json_node_get_array (groups);

  for (guint i = 0; i < json_array_get_length (array); i++)
    run_group (file, json_array_get_object_element (array, i), counts);
}

/* Two groups hold U+0000, which the reader refuses as it must; they are run
 * with U+0001 in its place. */
static JsonNode *
load_groups (const char *path,
             guint      *inout_nul_files)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GError) nul_error = NULL;
  g_autofree char *bytes = NULL;
  g_autoptr(GString) text = NULL;
  JsonNode *groups = khadim_json_load_file (path, NULL, &nul_error);

  if (groups != NULL)
    return groups;

  g_assert_error (nul_error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID);
  g_assert_nonnull (strstr (nul_error->message, "U+0000"));
  g_assert_true (g_file_get_contents (path, &bytes, NULL, &error));
  text = g_string_new (bytes);
  g_string_replace (text, "\\u0000", "\\u0001", 0);
  groups = khadim_json_parse (text->str, -1, NULL, &error);
  g_assert_no_error (error);
  *inout_nul_files += 1;

  return groups;
}

static void
test_suite (void)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *folder = g_test_build_filename (G_TEST_DIST, "data", "json-schema-2020-12",
                                                   NULL);
  g_autoptr(GDir) dir = g_dir_open (folder, 0, &error);
  Counts counts = { 0, };
  guint files = 0;
  guint nul_files = 0;
  const char *name;

  g_assert_no_error (error);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autoptr(JsonNode) groups = NULL;

      if (!g_str_has_suffix (name, ".json"))
        continue;
      groups = load_groups (path, &nul_files);
      run_groups (name, groups, &counts);
      files++;
    }

  g_test_message ("%u files, %u groups, %u tests passed, %u failed, %u left out", files,
                  counts.groups, counts.tests - counts.failures, counts.failures, counts.left_out);
  g_assert_cmpuint (files, ==, SUITE_FILES);
  g_assert_cmpuint (nul_files, ==, 2);
  g_assert_cmpuint (counts.tests + counts.left_out, ==, SUITE_TESTS);
  g_assert_cmpuint (counts.remote, ==, G_N_ELEMENTS (remote_groups));
  g_assert_cmpuint (counts.failures, ==, 0);
}

/* The same counting sees a wrong "valid", a schema that does not compile, and a
 * group that should be refused and is not. */
static void
test_suite_control (void)
{
  static const char *const wrong[][2] = {
    { "a.json", "[{\"description\":\"a\",\"schema\":{\"type\":\"string\"},\"tests\":["
                "{\"description\":\"t\",\"data\":\"x\",\"valid\":true},"
                "{\"description\":\"t\",\"data\":\"x\",\"valid\":false},"
                "{\"description\":\"t\",\"data\":1,\"valid\":true}]}]" },
    { "a.json", "[{\"description\":\"a\",\"schema\":{\"$ref\":\"#/none\"},\"tests\":["
                "{\"description\":\"t\",\"data\":1,\"valid\":true},"
                "{\"description\":\"t\",\"data\":1,\"valid\":false}]}]" },
    { "refRemote.json", "[{\"description\":\"remote ref\",\"schema\":true,\"tests\":[]}]" },
  };
  static const guint failures[] = { 2, 2, 1 };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) groups = khadim_json_parse (wrong[i][1], -1, NULL, &error);
      Counts counts = { 0, };

      g_assert_no_error (error);
      run_groups (wrong[i][0], groups, &counts);
      g_assert_cmpuint (counts.failures, ==, failures[i]);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/engine/schema-suite/control", test_suite_control);
  g_test_add_func ("/engine/schema-suite/required", test_suite);

  return g_test_run ();
}
