/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-schema"

#include "config.h"

#include "engine/json/khadim-schema.h"

#include "engine/json/khadim-json.h"

#define FUZZ_SEED 20260102
#define THREADS 4
#define ROUNDS_PER_THREAD 300

#define DRAFT_07 "\"$schema\":\"http://json-schema.org/draft-07/schema#\","
#define DRAFT_2019 "\"$schema\":\"https://json-schema.org/draft/2019-09/schema\","

/* A document much like those of automations. */
static const char steps_schema[] =
  "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
  "\"type\":\"object\",\"required\":[\"name\",\"steps\"],\"additionalProperties\":false,"
  "\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":20},"
  "\"retries\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":10},"
  "\"tags\":{\"type\":\"array\",\"uniqueItems\":true,\"items\":{\"type\":\"string\"}},"
  "\"steps\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"oneOf\":["
  "{\"$ref\":\"#/$defs/click\"},{\"$ref\":\"#/$defs/type\"},{\"$ref\":\"#/$defs/wait\"}]}}},"
  "\"$defs\":{"
  "\"click\":{\"type\":\"object\",\"required\":[\"tool\",\"target\"],"
  "\"properties\":{\"target\":{\"$ref\":\"#/$defs/target\"},\"tool\":{\"const\":\"click\"},"
  "\"button\":{\"enum\":[\"left\",\"middle\",\"right\"]}},\"unevaluatedProperties\":false},"
  "\"type\":{\"type\":\"object\",\"required\":[\"tool\",\"text\"],"
  "\"properties\":{\"tool\":{\"const\":\"type\"},"
  "\"text\":{\"type\":\"string\",\"x-khadim-secret\":true}},\"additionalProperties\":false},"
  "\"wait\":{\"type\":\"object\",\"required\":[\"tool\"],"
  "\"properties\":{\"tool\":{\"const\":\"wait\"},"
  "\"seconds\":{\"type\":\"number\",\"exclusiveMinimum\":0,\"multipleOf\":0.1}}},"
  "\"target\":{\"type\":\"object\",\"minProperties\":1,\"properties\":{"
  "\"image\":{\"type\":\"string\",\"pattern\":\"\\\\.png$\"},"
  "\"text\":{\"anyOf\":[{\"type\":\"string\"},"
  "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}]}},"
  "\"propertyNames\":{\"maxLength\":8},\"additionalProperties\":false}}}";

typedef struct {
  const char *schema;
  const char *instance;
  /* NULL if it fits */
  const char *place;
  const char *message;
} Case;

static JsonNode *
parse_ok (const char *text)
{
  g_autoptr(GError) error = NULL;
  JsonNode *node = khadim_json_parse (text, -1, NULL, &error);

  g_assert_no_error (error);

  return node;
}

static KhadimSchema *
schema_ok (const char *text)
{
  g_autoptr(GError) error = NULL;
  KhadimSchema *schema = khadim_schema_new_from_string (text, &error);

  g_assert_no_error (error);

  return schema;
}

static void
assert_fits (KhadimSchema     *schema,
             const char       *instance,
             KhadimSchemaFlags flags)
{
  g_autoptr(JsonNode) node = parse_ok (instance);
  g_autoptr(GError) error = NULL;
  g_autofree char *place = NULL;

  g_assert_true (khadim_schema_check (schema, node, flags, &place, &error));
  g_assert_no_error (error);
  g_assert_null (place);
}

static void
assert_refused (KhadimSchema     *schema,
                const char       *instance,
                KhadimSchemaFlags flags,
                const char       *expected_place,
                const char       *expected_message)
{
  g_autoptr(JsonNode) node = parse_ok (instance);
  g_autoptr(GError) error = NULL;
  g_autofree char *place = NULL;

  g_assert_false (khadim_schema_check (schema, node, flags, &place, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID);
  g_test_message ("%s", error->message);
  if (expected_place != NULL)
    g_assert_cmpstr (place, ==, expected_place);
  if (expected_message != NULL)
    g_assert_cmpstr (error->message, ==, expected_message);
}

static void
run_cases (const Case       *cases,
           guint             n_cases,
           KhadimSchemaFlags flags)
{
  for (guint i = 0; i < n_cases; i++)
    {
      const Case *one = &cases[i];
      g_autoptr(KhadimSchema) schema = schema_ok (one->schema);

      if (one->place == NULL)
        assert_fits (schema, one->instance, flags);
      else
        assert_refused (schema, one->instance, flags, one->place, one->message);
    }
}

static void
test_messages (void)
{
  static const Case cases[] = {
    { steps_schema,
      "{\"name\":\"a\",\"steps\":[{\"tool\":\"click\",\"target\":{\"text\":\"OK\"}}]}",
      NULL, NULL },
    { steps_schema, "[]", "", "expected an object, found an empty array" },
    { steps_schema, "{\"name\":\"a\"}", "", "“steps” is missing" },
    { steps_schema, "{\"name\":7,\"steps\":[]}", "name", "name: expected a string, found 7" },
    { steps_schema, "{\"name\":\"\",\"steps\":[]}", "name",
      "name: expected at least 1 character, found 0" },
    { steps_schema, "{\"name\":\"خادم خادم خادم خادم خادم\",\"steps\":[]}", "name",
      "name: expected at most 20 characters, found 24" },
    { steps_schema, "{\"name\":\"a\",\"steps\":[]}", "steps",
      "steps: expected at least 1 item, found 0" },
    { steps_schema, "{\"name\":\"a\",\"steps\":[],\"retry\":1}", "steps", NULL },
    { steps_schema, "{\"retrys\":1,\"name\":\"a\",\"steps\":[]}", "retrys",
      "retrys: “retrys” is not known here; did you mean “retries”?" },
    { steps_schema, "{\"flux\":1,\"name\":\"a\",\"steps\":[]}", "flux",
      "flux: “flux” is not known here" },
    { steps_schema, "{\"name\":\"a\",\"retries\":11,\"steps\":[]}", "retries",
      "retries: expected at most 10, found 11" },
    { steps_schema, "{\"name\":\"a\",\"retries\":1.5,\"steps\":[]}", "retries",
      "retries: expected an integer, found 1.5" },
    { steps_schema, "{\"name\":\"a\",\"tags\":[\"x\",\"y\",\"x\"],\"steps\":[]}", "tags[2]",
      "tags[2]: expected items that differ, found that of [0] again" },
  };

  run_cases (cases, G_N_ELEMENTS (cases), KHADIM_SCHEMA_FLAGS_NONE);
}

/* What is said of a step is about the tool that it names. */
static void
test_messages_branches (void)
{
  static const char *const steps[][3] = {
    { "{\"tool\":\"click\"}", "steps[0]", "steps[0]: “target” is missing" },
    { "{\"tool\":\"type\"}", "steps[0]", "steps[0]: “text” is missing" },
    { "{\"tool\":\"clik\"}", "steps[0].tool",
      "steps[0].tool: expected one of \"click\", \"type\", \"wait\", found \"clik\"; "
      "did you mean “click”?" },
    { "7", "steps[0]", "steps[0]: expected an object, found 7" },
    { "{\"tool\":\"click\",\"target\":{\"image\":\"a.jpg\"}}", "steps[0].target.image",
      "steps[0].target.image: expected text of the form \\.png$, found \"a.jpg\"" },
    { "{\"tool\":\"click\",\"target\":{}}", "steps[0].target",
      "steps[0].target: expected at least 1 member, found 0" },
    { "{\"tool\":\"click\",\"target\":{\"txt\":\"a\"}}", "steps[0].target.txt",
      "steps[0].target.txt: “txt” is not known here; did you mean “text”?" },
    { "{\"tool\":\"click\",\"target\":{\"text\":5}}", "steps[0].target.text",
      "steps[0].target.text: expected a string or an array, found 5" },
    { "{\"tool\":\"click\",\"target\":{\"text\":[\"a\",5]}}", "steps[0].target.text[1]",
      "steps[0].target.text[1]: expected a string, found 5" },
    { "{\"tool\":\"click\",\"target\":{\"text\":\"a\"},\"buton\":\"left\"}", "steps[0].buton",
      "steps[0].buton: “buton” is not known here; did you mean “button”?" },
    { "{\"tool\":\"click\",\"target\":{\"text\":\"a\"},\"button\":\"lft\"}", "steps[0].button",
      "steps[0].button: expected one of \"left\", \"middle\", \"right\", found \"lft\"; "
      "did you mean “left”?" },
    { "{\"tool\":\"wait\",\"seconds\":0.25}", "steps[0].seconds",
      "steps[0].seconds: expected a multiple of 0.1, found 0.25" },
    { "{\"tool\":\"wait\",\"seconds\":0}", "steps[0].seconds",
      "steps[0].seconds: expected more than 0, found 0" },
  };
  g_autoptr(KhadimSchema) schema = schema_ok (steps_schema);

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"name\":\"a\",\"steps\":[%s]}", steps[i][0]);

      assert_refused (schema, text, KHADIM_SCHEMA_FLAGS_NONE, steps[i][1], steps[i][2]);
    }
}

static void
test_messages_others (void)
{
  static const Case cases[] = {
    { "{\"anyOf\":[{\"type\":\"integer\"},{\"enum\":[\"auto\"]}]}", "\"atuo\"", "",
      "expected an integer or \"auto\", found \"atuo\"; did you mean “auto”?" },
    { "{\"type\":[\"integer\",\"number\",\"null\"]}", "\"a\"", "",
      "expected a number or null, found \"a\"" },
    { "{\"const\":{\"a\":1}}", "{\"a\":2}", "",
      "expected {\"a\":1}, found an object with 1 member" },
    { "{\"properties\":{\"a b\":{\"items\":false}}}", "{\"a b\":[1]}", "[\"a b\"]",
      "[\"a b\"]: expected at most 0 items, found 1" },
    { "{\"propertyNames\":{\"pattern\":\"^[a-z]+$\"}}", "{\"A\":1}", "A",
      "A: the name does not fit: expected text of the form ^[a-z]+$, found \"A\"" },
    { "{\"not\":{\"type\":\"null\"}}", "null", "", "null is not allowed here" },
    { "{\"oneOf\":[{\"minimum\":1},{\"minimum\":2}]}", "3", "",
      "fits 2 of the forms that are allowed here, not just one" },
    { "{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}", "",
      "“b” is missing, which “a” needs beside it" },
    { "{\"contains\":{\"type\":\"null\"},\"minContains\":2}", "[null]", "",
      "expected at least 2 fitting items, found 1" },
    { "{\"unevaluatedItems\":false,\"prefixItems\":[true]}", "[1,2]", "[1]",
      "[1]: no item is allowed here" },
    { "false", "1", "", "nothing is allowed here" },
    { "{\"properties\":{\"a\":false}}", "{\"a\":1}", "a", "a: “a” is not known here" },
    { "{\"enum\":[]}", "1", "", "expected nothing at all, found 1" },
    { "{\"if\":{\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]}}", "{\"a\":1}", "",
      "“b” is missing" },
    { "{\"enum\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14]}", "15", "",
      "expected one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 others, found 15" },
    { "{\"anyOf\":[{\"type\":\"string\"},{\"properties\":{\"a\":{\"type\":\"null\"}}}]}",
      "{\"a\":1}", "a", "a: expected null, found 1" },
    { "{\"anyOf\":[{\"required\":[\"a\"]},{\"items\":{\"items\":{\"const\":1}}}]}", "[[2]]",
      NULL, NULL },
    { "{\"anyOf\":[false,false]}", "1", "", "nothing is allowed here" },
    { "{\"properties\":{\"a\":true,\"b\":true},\"additionalProperties\":false}",
      "{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\":1}",
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL },
    { "{\"type\":\"null\"}",
      "\"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg\"", "",
      "expected null, found \"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeefffffffff…" },
  };

  run_cases (cases, G_N_ELEMENTS (cases), KHADIM_SCHEMA_FLAGS_NONE);
}

/* Tools of others bring schemas that are not well formed. */
static void
test_bad_schemas (void)
{
  static const struct
  {
    const char *schema;
    int code;
    const char *message;
  } cases[] = {
    { "{", KHADIM_ENGINE_ERROR_INVALID, "*line 1, column 2*" },
    { "7", KHADIM_ENGINE_ERROR_INVALID, "*expected true or false or an object, found 7" },
    { "{\"type\":\"strng\"}", KHADIM_ENGINE_ERROR_INVALID, "*type: *did you mean “string”?" },
    { "{\"properties\":{\"a\":{\"minLength\":-1}}}", KHADIM_ENGINE_ERROR_INVALID,
      "*properties.a.minLength: expected at least 0, found -1" },
    { "{\"items\":[{}]}", KHADIM_ENGINE_ERROR_INVALID, "*items: expected *" },
    { "{\"pattern\":\"(\"}", KHADIM_ENGINE_ERROR_INVALID, "pattern: *regular expression*" },
    { "{\"patternProperties\":{\"[a\":{}}}", KHADIM_ENGINE_ERROR_INVALID,
      "patternProperties*regular expression*" },
    { "{\"$ref\":\"#/$defs/none\"}", KHADIM_ENGINE_ERROR_INVALID, "there is no #/$defs/none" },
    { "{\"not\":{\"$ref\":\"#none\"}}", KHADIM_ENGINE_ERROR_INVALID,
      "not: there is no anchor “none”" },
    { "{\"$ref\":\"#/const\",\"const\":5}", KHADIM_ENGINE_ERROR_INVALID,
      "*a schema is an object, true or false" },
    { "{\"$ref\":\"#/%zz\"}", KHADIM_ENGINE_ERROR_INVALID, "*" },
    { "{\"$ref\":\"http://[\"}", KHADIM_ENGINE_ERROR_INVALID, "$ref is not an address*" },
    { "{\"$ref\":\"https://example.org/a.json\"}", KHADIM_ENGINE_ERROR_UNSUPPORTED,
      "*https://example.org/a.json is another document, which is not fetched" },
    { "{\"$ref\":\"other.json\"}", KHADIM_ENGINE_ERROR_UNSUPPORTED, "*another document*" },
    { "{\"$ref\":\"https://json-schema.org/draft/2020-12/none\"}",
      KHADIM_ENGINE_ERROR_UNSUPPORTED, "*not fetched" },
    { "{" DRAFT_07 "\"items\":[{\"type\":\"strng\"}]}", KHADIM_ENGINE_ERROR_INVALID,
      "*items[0].type: *did you mean “string”?" },
    { "{" DRAFT_2019 "\"minItems\":\"1\"}", KHADIM_ENGINE_ERROR_INVALID, "*minItems: *" },
    { "{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}",
      KHADIM_ENGINE_ERROR_UNSUPPORTED, "*draft-04/schema# is not supported*" },
    { "{\"$schema\":\"https://example.org/dialect\"}", KHADIM_ENGINE_ERROR_UNSUPPORTED,
      "*the dialect https://example.org/dialect is not supported*" },
    { "{\"$defs\":{\"a\":{\"$id\":\"x\"},\"b\":{\"$id\":\"x\"}}}", KHADIM_ENGINE_ERROR_INVALID,
      "$defs.b: another schema has the $id x too" },
    { "{\"$defs\":{\"a\":{\"$anchor\":\"x\"},\"b\":{\"$anchor\":\"x\"}}}",
      KHADIM_ENGINE_ERROR_INVALID, "$defs.b: another schema has the anchor “x” too" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(KhadimSchema) schema = khadim_schema_new_from_string (cases[i].schema, &error);

      g_assert_null (schema);
      g_test_message ("%s", error->message);
      g_assert_error (error, KHADIM_ENGINE_ERROR, cases[i].code);
      g_assert_true (g_pattern_match_simple (cases[i].message, error->message));
    }
}

/* A string with a template satisfies what its place asks for, and only there. */
static void
test_templates (void)
{
  static const struct
  {
    const char *schema;
    const char *instance;
    gboolean fits;
  } cases[] = {
    { "{\"type\":\"integer\"}", "\"{{n}}\"", TRUE },
    { "{\"enum\":[1,2]}", "\"{{n}}\"", TRUE },
    { "{\"type\":\"string\",\"maxLength\":3}", "\"{{name}}\"", TRUE },
    { "{\"type\":\"string\",\"pattern\":\"^a\",\"format\":\"uuid\"}", "\"x {{name}}\"", TRUE },
    { "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}", "[1,\"{{n}}\"]", TRUE },
    { "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}", "[\"x\",\"{{n}}\"]", FALSE },
    { "{\"const\":{\"a\":[1,2]}}", "{\"a\":[1,\"{{n}}\"]}", TRUE },
    { "{\"const\":{\"a\":[1,2]}}", "{\"a\":[2,\"{{n}}\"]}", FALSE },
    { "{\"uniqueItems\":true}", "[\"{{a}}\",\"{{a}}\",1]", TRUE },
    { "{\"uniqueItems\":true}", "[1,\"{{a}}\",1]", FALSE },
    { "{\"contains\":{\"const\":5},\"maxContains\":1}", "[5,\"{{a}}\"]", TRUE },
    { "{\"contains\":{\"const\":5}}", "[\"{{a}}\"]", TRUE },
    { "{\"contains\":{\"const\":5},\"maxContains\":1}", "[5,5,\"{{a}}\"]", FALSE },
    { "{\"not\":{\"properties\":{\"a\":{\"const\":1}}}}", "{\"a\":\"{{x}}\"}", TRUE },
    { "{\"not\":{\"properties\":{\"a\":{\"const\":1}}}}", "{\"a\":1}", FALSE },
    { "{\"oneOf\":[{\"properties\":{\"k\":{\"const\":1}}},{\"properties\":{\"k\":{\"const\":2}}}]}",
      "{\"k\":\"{{k}}\"}", TRUE },
    { "{\"if\":{\"properties\":{\"k\":{\"const\":1}}},\"then\":{\"required\":[\"a\"]},"
      "\"else\":{\"required\":[\"b\"]}}", "{\"k\":\"{{k}}\",\"b\":1}", TRUE },
    { "{\"if\":{\"properties\":{\"k\":{\"const\":1}}},\"then\":{\"required\":[\"a\"]},"
      "\"else\":{\"required\":[\"b\"]}}", "{\"k\":\"{{k}}\"}", FALSE },
    { "{\"additionalProperties\":false}", "{\"a\":\"{{x}}\"}", FALSE },
    { "{\"required\":[\"a\"]}", "{\"b\":\"{{x}}\"}", FALSE },
    { "{\"propertyNames\":{\"maxLength\":3}}", "{\"{{name}}\":1}", FALSE },
    { "false", "\"{{x}}\"", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(KhadimSchema) schema = schema_ok (cases[i].schema);
      g_autoptr(JsonNode) node = parse_ok (cases[i].instance);

      g_test_message ("%s %s", cases[i].schema, cases[i].instance);
      g_assert_cmpint (khadim_schema_check (schema, node, KHADIM_SCHEMA_FLAGS_TEMPLATES, NULL,
                                            NULL),
                       ==, cases[i].fits);
    }
}

/* Without the flag a template is a string like others. */
static void
test_templates_off (void)
{
  g_autoptr(KhadimSchema) schema = schema_ok ("{\"type\":\"integer\"}");

  assert_fits (schema, "\"{{n}}\"", KHADIM_SCHEMA_FLAGS_TEMPLATES);
  assert_refused (schema, "\"{{n}}\"", KHADIM_SCHEMA_FLAGS_NONE, "", NULL);
  assert_refused (schema, "\"{n}\"", KHADIM_SCHEMA_FLAGS_TEMPLATES, "", NULL);
}

static void
test_secrets (void)
{
  static const char schema[] =
    "{\"properties\":{\"open\":{\"type\":\"string\",\"x-khadim-secret\":true,\"minLength\":2},"
    "\"closed\":{\"type\":\"string\"},\"any\":{\"type\":\"object\"},"
    "\"not\":{\"type\":\"string\",\"x-khadim-secret\":false}}}";
  static const Case cases[] = {
    { schema, "{\"open\":{\"secret\":\"mail/password\"}}", NULL, NULL },
    { schema, "{\"open\":{\"secret\":\"a/b\",\"format\":\"Bearer %s\"}}", NULL, NULL },
    { schema, "{\"open\":{\"secret\":\"a/b\",\"format\":\"%s 100%%\"}}", NULL, NULL },
    { schema, "{\"open\":\"plain\"}", NULL, NULL },
    { schema, "{\"any\":{\"secret\":\"a/b\"}}", NULL, NULL },
    { "{\"x-khadim-secret\":true,\"type\":\"string\"}", "{\"secret\":\"a/b\"}", NULL, NULL },
    { "{\"allOf\":[{\"x-khadim-secret\":true,\"type\":\"string\"}],"
      "\"unevaluatedProperties\":false}", "{\"secret\":\"a/b\"}", NULL, NULL },
    { "{\"allOf\":[{\"type\":\"object\"}],\"unevaluatedProperties\":false}",
      "{\"secret\":\"a/b\"}", "secret", NULL },
    { schema, "{\"open\":\"p\"}", "open", NULL },
    { schema, "{\"closed\":{\"secret\":\"a/b\"}}", "closed",
      "closed: expected a string, found an object with 1 member" },
    { schema, "{\"not\":{\"secret\":\"a/b\"}}", "not", NULL },
    { schema, "{\"open\":{\"secret\":\"a\"}}", "open", NULL },
    { schema, "{\"open\":{\"secret\":\"a/\"}}", "open", NULL },
    { schema, "{\"open\":{\"secret\":\"/b\"}}", "open", NULL },
    { schema, "{\"open\":{\"secret\":\"a/b/c\"}}", "open", NULL },
    { schema, "{\"open\":{\"secret\":7}}", "open", NULL },
    { schema, "{\"open\":{\"secret\":\"a/b\",\"more\":1}}", "open", NULL },
    { schema, "{\"open\":{\"secret\":\"a/b\",\"format\":\"Bearer\"}}", "open", NULL },
    { schema, "{\"open\":{\"secret\":\"a/b\",\"format\":\"%n\"}}", "open", NULL },
    { schema, "{\"open\":{\"secret\":\"a/b\",\"format\":\"%s%s\"}}", "open", NULL },
    { schema, "{\"open\":{\"format\":\"%s\"}}", "open", NULL },
  };

  run_cases (cases, G_N_ELEMENTS (cases), KHADIM_SCHEMA_FLAGS_NONE);
  run_cases (cases, G_N_ELEMENTS (cases), KHADIM_SCHEMA_FLAGS_TEMPLATES);
}

static void
test_numbers (void)
{
  static const Case cases[] = {
    { "{\"multipleOf\":0.01}", "19.99", NULL, NULL },
    { "{\"multipleOf\":0.1}", "0.3", NULL, NULL },
    { "{\"multipleOf\":0.1}", "0.35", "", NULL },
    { "{\"multipleOf\":1e-300}", "1e300", NULL, NULL },
    { "{\"multipleOf\":3}", "9007199254740993", NULL, NULL },
    { "{\"multipleOf\":3}", "9007199254740994", "", NULL },
    { "{\"multipleOf\":7}", "1e300", "", NULL },
    { "{\"multipleOf\":2.5}", "-7.5", NULL, NULL },
    { "{\"multipleOf\":1e300}", "1", "", NULL },
    { "{\"multipleOf\":9223372036854775807}", "-9223372036854775808", "", NULL },
    { "{\"maximum\":9007199254740992.0}", "9007199254740993", "", NULL },
    { "{\"maximum\":9223372036854775807}", "9223372036854775808.0", "", NULL },
    { "{\"minimum\":-9223372036854775808}", "-1e300", "", NULL },
    { "{\"exclusiveMinimum\":1}", "1.0000000000000002", NULL, NULL },
    { "{\"type\":\"integer\"}", "1e300", NULL, NULL },
    { "{\"maxLength\":1e300}", "\"abc\"", NULL, NULL },
    { "{\"minLength\":1e300}", "\"abc\"", "", NULL },
    { "{\"maxItems\":2.0}", "[1,2,3]", "", NULL },
  };

  run_cases (cases, G_N_ELEMENTS (cases), KHADIM_SCHEMA_FLAGS_NONE);
}

/* What the older drafts have otherwise. */
static void
test_dialects (void)
{
  static const char tree[] =
    "{" DRAFT_2019 "\"$id\":\"https://example.org/strict\",\"$recursiveAnchor\":true,"
    "\"$ref\":\"tree\",\"unevaluatedProperties\":false,\"$defs\":{\"tree\":{"
    "\"$id\":\"tree\",\"$recursiveAnchor\":true,\"properties\":{\"data\":true,"
    "\"children\":{\"items\":{\"$recursiveRef\":\"#\"}}}}}}";
  static const Case cases[] = {
    { "{" DRAFT_07 "\"items\":[{\"type\":\"string\"}],\"additionalItems\":false}", "[\"a\"]",
      NULL, NULL },
    { "{" DRAFT_07 "\"items\":[{\"type\":\"string\"}],\"additionalItems\":false}", "[1]",
      "[0]", "[0]: expected a string, found 1" },
    { "{" DRAFT_07 "\"items\":[{\"type\":\"string\"}],\"additionalItems\":false}",
      "[\"a\",1]", "", "expected at most 1 item, found 2" },
    { "{" DRAFT_07 "\"items\":{},\"additionalItems\":false}", "[1]", NULL, NULL },
    { "{" DRAFT_07 "\"prefixItems\":[false]}", "[1]", NULL, NULL },
    { "{" DRAFT_07 "\"dependencies\":{\"a\":[\"b\"],\"c\":{\"required\":[\"d\"]}}}",
      "{\"a\":1}", "", "“b” is missing, which “a” needs beside it" },
    { "{" DRAFT_07 "\"dependencies\":{\"a\":[\"b\"],\"c\":{\"required\":[\"d\"]}}}",
      "{\"c\":1}", "", "“d” is missing" },
    { "{" DRAFT_07 "\"dependentRequired\":{\"a\":[\"b\"]},\"unevaluatedProperties\":false}",
      "{\"a\":1}", NULL, NULL },
    { "{" DRAFT_07 "\"properties\":{\"a\":{\"$ref\":\"#/definitions/t\",\"maxLength\":1}},"
      "\"definitions\":{\"t\":{\"type\":\"string\"}}}", "{\"a\":\"abc\"}", NULL, NULL },
    { "{" DRAFT_07 "\"$ref\":\"#t\",\"definitions\":{\"x\":{\"$id\":\"#t\","
      "\"type\":\"string\"}}}", "1", "", NULL },
    { "{" DRAFT_07 "\"contains\":{\"const\":1},\"minContains\":0}", "[]", "", NULL },
    { "{" DRAFT_07 "\"if\":{\"const\":1},\"then\":false}", "1", "", NULL },
    { "{\"$schema\":\"http://json-schema.org/draft-06/schema#\",\"exclusiveMinimum\":1}", "1",
      "", NULL },
    { "{" DRAFT_07 "\"$ref\":\"http://json-schema.org/draft-07/schema#\"}", "{\"type\":1}",
      "type", NULL },
    { "{\"allOf\":[{\"$ref\":\"http://json-schema.org/draft-07/schema\"},"
      "{\"$ref\":\"https://json-schema.org/draft-07/schema#\"}]}", "{}", NULL, NULL },
    { "{" DRAFT_2019 "\"items\":[{\"type\":\"string\"}],\"additionalItems\":false}", "[1]",
      "[0]", NULL },
    { "{" DRAFT_2019 "\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}", "", NULL },
    { "{" DRAFT_2019 "\"contains\":{\"const\":1},\"unevaluatedItems\":false}", "[1]", "[0]",
      NULL },
    { "{\"contains\":{\"const\":1},\"unevaluatedItems\":false}", "[1]", NULL, NULL },
    { tree, "{\"children\":[{\"data\":1}]}", NULL, NULL },
    { tree, "{\"children\":[{\"daat\":1}]}", "children[0].daat", NULL },
    { "{\"$schema\":\"http://json-schema.org/draft/2020-12/schema#\",\"type\":\"null\"}", "1",
      "", NULL },
  };

  run_cases (cases, G_N_ELEMENTS (cases), KHADIM_SCHEMA_FLAGS_NONE);
}

/* A metaschema that the document brings along says which keywords count. */
static void
test_vocabularies (void)
{
  static const char form[] =
    "{\"$id\":\"https://example.org/s\",\"$schema\":\"https://example.org/m\",\"minimum\":5,"
    "\"not\":{\"const\":1},\"format\":\"date\",\"$defs\":{\"m\":{\"$id\":\"https://example.org/m\","
    "\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
    "\"$vocabulary\":{\"https://json-schema.org/draft/2020-12/vocab/core\":true,"
    "\"https://example.org/optional\":false,\"%s\":true}}}}";
  g_autofree char *validation = g_strdup_printf (
    form, "https://json-schema.org/draft/2020-12/vocab/validation");
  g_autofree char *formats = g_strdup_printf (
    form, "https://json-schema.org/draft/2020-12/vocab/format-assertion");
  g_autofree char *unknown = g_strdup_printf (form, "https://example.org/required");
  g_autoptr(KhadimSchema) with_validation = schema_ok (validation);
  g_autoptr(KhadimSchema) with_formats = schema_ok (formats);
  g_autoptr(GError) error = NULL;

  assert_refused (with_validation, "4", KHADIM_SCHEMA_FLAGS_NONE, "", NULL);
  assert_fits (with_validation, "7", KHADIM_SCHEMA_FLAGS_NONE);
  assert_fits (with_formats, "1", KHADIM_SCHEMA_FLAGS_NONE);

  g_assert_null (khadim_schema_new_from_string (unknown, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_UNSUPPORTED);
}

static void
test_format_vocabulary (void)
{
  static const char text[] =
    "{\"$schema\":\"https://example.org/m\",\"$defs\":{\"m\":{\"$id\":\"https://example.org/m\","
    "\"$vocabulary\":{\"https://json-schema.org/draft/2020-12/vocab/format-assertion\":true}}},"
    "\"format\":\"date\"}";
  g_autoptr(KhadimSchema) schema = schema_ok (text);

  assert_fits (schema, "\"2024-01-01\"", KHADIM_SCHEMA_FLAGS_NONE);
  assert_refused (schema, "\"2024-13-01\"", KHADIM_SCHEMA_FLAGS_NONE, "", NULL);
}

static void
assert_over_limit (const char *schema_text,
                   JsonNode   *node,
                   const char *message)
{
  g_autoptr(KhadimSchema) schema = schema_ok (schema_text);
  g_autoptr(GError) error = NULL;
  g_autofree char *place = NULL;

  g_assert_false (khadim_schema_check (schema, node, KHADIM_SCHEMA_FLAGS_NONE, &place, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT);
  g_test_message ("%s", error->message);
  g_assert_nonnull (place);
  g_assert_nonnull (strstr (error->message, message));
}

static void
test_limits (void)
{
  /* Each level doubles the work: 2^40 steps without a budget. */
  g_autoptr(GString) doubling = g_string_new ("{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
  g_autofree char *many = g_strnfill (40, 'a');
  g_autofree char *subject = g_strconcat (many, "!", NULL);
  g_autofree char *huge = g_strnfill (KHADIM_SCHEMA_MAX_SUBJECT_BYTES + 1, 'a');
  g_autoptr(JsonNode) one = khadim_json_int (1);
  g_autoptr(JsonNode) subject_node = khadim_json_string (subject);
  g_autoptr(JsonNode) huge_node = khadim_json_string (huge);

  for (guint i = 0; i < 40; i++)
    g_string_append_printf (doubling, "\"d%u\":{\"anyOf\":[{\"$ref\":\"#/$defs/d%u\"},"
                            "{\"$ref\":\"#/$defs/d%u\"}]},", i, i + 1, i + 1);
  g_string_append (doubling, "\"d40\":false}}");

  assert_over_limit (doubling->str, one, "too many steps");
  assert_over_limit ("{\"not\":{\"$ref\":\"#\"}}", one, "refers to itself without end");
  assert_over_limit ("{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},"
                     "\"b\":{\"$ref\":\"#/$defs/a\"}}}", one, "refers to itself without end");
  assert_over_limit ("{\"pattern\":\"^(a+)+$\"}", subject_node, "takes too long");
  assert_over_limit ("{\"pattern\":\"b\"}", huge_node, "longer than");
  huge[KHADIM_SCHEMA_MAX_SUBJECT_BYTES / 2] = '\0';
  json_node_set_string (huge_node, huge);
  assert_over_limit ("{\"pattern\":\"a{0,900}a{0,900}[bc]\"}", huge_node, "takes too long");
}

/* Many equal items cost what they weigh, not their square. */
static void
test_limits_large (void)
{
  g_autoptr(KhadimSchema) schema = schema_ok ("{\"uniqueItems\":true,"
                                              "\"items\":{\"type\":\"integer\"}}");
  JsonArray *array = json_array_new ();
  g_autoptr(JsonNode) node = khadim_json_array (array);
  g_autoptr(GError) error = NULL;
  g_autofree char *place = NULL;

  for (guint i = 0; i < 200000; i++)
    json_array_add_int_element (array, i);
  g_assert_true (khadim_schema_check (schema, node, KHADIM_SCHEMA_FLAGS_NONE, NULL, &error));
  g_assert_no_error (error);

  json_array_add_element (array, khadim_json_double (77.0));
  g_assert_false (khadim_schema_check (schema, node, KHADIM_SCHEMA_FLAGS_NONE, &place, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID);
  g_assert_cmpstr (place, ==, "[200000]");
}

static void
test_schema_limits (void)
{
  g_autoptr(GString) wide = g_string_new ("{\"allOf\":[");
  g_autoptr(GError) error = NULL;
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  g_autoptr(JsonNode) deep = NULL;
  g_autofree char *pattern = g_strnfill (KHADIM_SCHEMA_MAX_PATTERN_BYTES + 1, 'a');
  g_autofree char *long_pattern = g_strdup_printf ("{\"pattern\":\"%s\"}", pattern);

  for (guint i = 0; i <= KHADIM_SCHEMA_MAX_SUBSCHEMAS; i++)
    g_string_append (wide, i == 0 ? "true" : ",true");
  g_string_append (wide, "]}");
  g_assert_null (khadim_schema_new_from_string (wide->str, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT);
  g_clear_error (&error);

  /* Deeper than any text that the reader takes */
  json_node_take_object (node, json_object_new ());
  for (guint i = 0; i < KHADIM_JSON_DEPTH_CEILING + 10; i++)
    {
      JsonObject *object = json_object_new ();

      json_object_set_member (object, "not", node);
      node = khadim_json_object (object);
    }
  deep = node;
  g_assert_null (khadim_schema_new (deep, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT);
  g_clear_error (&error);

  g_assert_null (khadim_schema_new_from_string (long_pattern, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT);
}

/* Every one that is named has to be looked for in the whole document. */
static void
test_metaschema_limit (void)
{
  g_autoptr(GString) text = g_string_new ("{\"$defs\":{\"m\":{"
                                           "\"$id\":\"https://example.org/m\"}");
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < 17; i++)
    g_string_append_printf (text, ",\"s%u\":{\"$id\":\"https://example.org/s%u\","
                            "\"$schema\":\"https://example.org/m\"}", i, i);
  g_string_append (text, "}}");

  g_assert_null (khadim_schema_new_from_string (text->str, &error));
  g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT);
}

/* The schema keeps a copy: what happens to the original does not matter. */
static void
test_copy (void)
{
  g_autoptr(JsonNode) node = parse_ok ("{\"properties\":{\"a\":{\"type\":\"string\"}}}");
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimSchema) schema = khadim_schema_new (node, &error);
  g_autoptr(KhadimSchema) again = khadim_schema_ref (schema);
  g_autofree char *text = NULL;

  g_assert_no_error (error);
  json_object_remove_member (json_node_get_object (node), "properties");
  assert_refused (again, "{\"a\":1}", KHADIM_SCHEMA_FLAGS_NONE, "a", NULL);
  text = khadim_json_to_string (khadim_schema_get_root (schema));
  g_assert_cmpstr (text, ==, "{\"properties\":{\"a\":{\"type\":\"string\"}}}");
  g_assert_true (json_node_is_immutable (khadim_schema_get_root (schema)));
}

static gpointer
check_in_thread (gpointer data)
{
  KhadimSchema *schema = data;

  for (guint i = 0; i < ROUNDS_PER_THREAD; i++)
    {
      assert_fits (schema, "{\"name\":\"a\",\"steps\":[{\"tool\":\"wait\",\"seconds\":0.3}]}",
                   KHADIM_SCHEMA_FLAGS_NONE);
      g_assert_cmpint (json_object_get_size (json_node_get_object (
                         khadim_schema_get_root (schema))), ==, 6);
    }

  return NULL;
}

static void
test_threads (void)
{
  g_autoptr(KhadimSchema) schema = schema_ok (steps_schema);
  GThread *threads[THREADS];

  for (guint i = 0; i < THREADS; i++)
    threads[i] = g_thread_new ("check", check_in_thread, schema);
  for (guint i = 0; i < THREADS; i++)
    g_thread_join (threads[i]);
}

/* Changes one byte or cuts; what still is JSON is used both as a schema and as
 * an instance. Warnings are fatal. */
static guint
try_mutation (KhadimSchema *metaschema,
              const char   *text,
              gsize         length)
{
  g_autoptr(JsonNode) node = khadim_json_parse (text, (gssize) length, NULL, NULL);
  g_autoptr(GError) schema_error = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimSchema) schema = NULL;
  gboolean fits;

  if (node == NULL)
    return 0;

  schema = khadim_schema_new (node, &schema_error);
  g_assert_true ((schema != NULL) != (schema_error != NULL));
  fits = khadim_schema_check (metaschema, node, KHADIM_SCHEMA_FLAGS_TEMPLATES, NULL, &error);
  g_assert_true (fits == (error == NULL));
  if (schema == NULL)
    return 1;
  g_clear_error (&error);
  fits = khadim_schema_check (schema, node, KHADIM_SCHEMA_FLAGS_FORMATS, NULL, &error);
  g_assert_true (fits == (error == NULL));

  return 2;
}

static void
test_mutation (void)
{
  g_autoptr(KhadimSchema) metaschema
    = schema_ok ("{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}");
  g_autoptr(GRand) rand = g_rand_new_with_seed (FUZZ_SEED);
  g_autofree char *copy = g_strdup (steps_schema);
  gsize length = strlen (steps_schema);
  guint counts[3] = { 0, };

  for (gsize i = 0; i < length; i++)
    {
      for (guint round = 0; round < 2; round++)
        {
          copy[i] = (char) g_rand_int_range (rand, 0x20, 0x7f);
          counts[try_mutation (metaschema, copy, length)]++;
        }
      copy[i] = steps_schema[i];
      counts[try_mutation (metaschema, copy, i)]++;
    }

  g_test_message ("%u no JSON, %u no schema, %u schemas", counts[0], counts[1], counts[2]);
  g_assert_cmpuint (counts[0], >, 0);
  g_assert_cmpuint (counts[1], >, 0);
  g_assert_cmpuint (counts[2], >, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/engine/schema/messages", test_messages);
  g_test_add_func ("/engine/schema/messages/branches", test_messages_branches);
  g_test_add_func ("/engine/schema/messages/others", test_messages_others);
  g_test_add_func ("/engine/schema/bad-schemas", test_bad_schemas);
  g_test_add_func ("/engine/schema/templates", test_templates);
  g_test_add_func ("/engine/schema/templates/off", test_templates_off);
  g_test_add_func ("/engine/schema/secrets", test_secrets);
  g_test_add_func ("/engine/schema/numbers", test_numbers);
  g_test_add_func ("/engine/schema/dialects", test_dialects);
  g_test_add_func ("/engine/schema/vocabularies", test_vocabularies);
  g_test_add_func ("/engine/schema/vocabularies/format", test_format_vocabulary);
  g_test_add_func ("/engine/schema/limits", test_limits);
  g_test_add_func ("/engine/schema/limits/large", test_limits_large);
  g_test_add_func ("/engine/schema/limits/schema", test_schema_limits);
  g_test_add_func ("/engine/schema/limits/metaschemas", test_metaschema_limit);
  g_test_add_func ("/engine/schema/copy", test_copy);
  g_test_add_func ("/engine/schema/threads", test_threads);
  g_test_add_func ("/engine/schema/mutation", test_mutation);

  return g_test_run ();
}
