/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-condition"

#include "config.h"

#include "engine/automation/khadim-condition-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"

static gboolean
looks_inside (JsonObject *spec)
{
  return json_object_has_member (spec, "text") || json_object_has_member (spec, "contains") ||
         json_object_has_member (spec, "value") || json_object_has_member (spec, "same_as");
}

/* The tool that answers a condition's object form: a `check` that looks at
 * what is inside reads it, everything else waits. */
const char *
_khadim_condition_get_tool (KhadimStepKind  kind,
                            JsonNode       *spec)
{
  JsonObject *object = json_node_get_object (spec);
  gboolean file = json_object_has_member (object, "file");

  if (kind != KHADIM_STEP_CHECK)
    return file ? "files.wait_for" : "screen.wait_for";
  if (looks_inside (object))
    return file ? "files.read" : "screen.read";

  return file ? "files.exists" : "screen.wait_for";
}

static void
copy_member (JsonObject *from,
             const char *name,
             JsonObject *to,
             const char *as)
{
  JsonNode *value = khadim_json_get (from, name);

  if (value != NULL)
    json_object_set_member (to, as, json_node_copy (value));
}

/* The arguments for that tool, templates in place. */
JsonNode *
_khadim_condition_to_args (KhadimStepKind  kind,
                           JsonNode       *spec,
                           const char     *in)
{
  JsonObject *object = json_node_get_object (spec);
  JsonObject *args = json_object_new ();
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  gboolean waits = g_str_has_suffix (_khadim_condition_get_tool (kind, spec), ".wait_for");

  json_node_take_object (node, args);
  copy_member (object, "target", args, "target");
  copy_member (object, "file", args, "path");
  if (waits)
    {
      copy_member (object, "state", args, "state");
      copy_member (object, "stable", args, "stable");
      copy_member (object, "timeout", args, "timeout");
      /* A condition is a question about now; only `wait_for` waits. */
      if (kind != KHADIM_STEP_WAIT && !json_object_has_member (args, "timeout"))
        json_object_set_string_member (args, "timeout", "0s");
    }
  if (in != NULL)
    {
      g_autofree char *template = g_strdup_printf ("{{ %s }}", in);

      json_object_set_string_member (args, "in", template);
    }

  return node;
}

static char *
judge_text (JsonObject *spec,
            const char *text)
{
  const char *wanted = khadim_json_get_string (spec, "text", NULL);
  const char *part = khadim_json_get_string (spec, "contains", NULL);

  if (wanted != NULL && strcmp (wanted, text) != 0)
    return g_strdup_printf ("the text is “%.200s”, not “%.200s”", text, wanted);
  if (part != NULL && strstr (text, part) == NULL)
    return g_strdup_printf ("the text “%.200s” does not contain “%.200s”", text, part);

  return NULL;
}

static char *
judge_value (JsonNode   *wanted,
             JsonObject *result)
{
  JsonNode *value = khadim_json_get (result, "value");
  g_autofree char *found = NULL;
  g_autofree char *expected = NULL;

  if (value != NULL && khadim_json_equal (value, wanted))
    return NULL;

  found = value != NULL ? khadim_json_to_string (value) : g_strdup ("nothing");
  expected = khadim_json_to_string (wanted);

  return g_strdup_printf ("the value is %.200s, not %.200s", found, expected);
}

/* Whether what a check read is what it should be: NULL, or what is wrong. */
char *
_khadim_condition_judge (JsonNode *spec,
                         JsonNode *result)
{
  JsonObject *object = json_node_get_object (spec);
  JsonObject *found = JSON_NODE_HOLDS_OBJECT (result) ? json_node_get_object (result) : NULL;
  JsonNode *value = khadim_json_get (object, "value");
  char *wrong = NULL;

  if (found == NULL)
    return g_strdup ("there is nothing to look at");
  if (json_object_has_member (object, "file") && !looks_inside (object))
    {
      gboolean wanted = khadim_json_get_boolean (object, "exists", TRUE);

      if (khadim_json_get_boolean (found, "exists", FALSE) != wanted)
        wrong = g_strdup (wanted ? "there is no such file" : "the file is there");
      return wrong;
    }

  wrong = judge_text (object, khadim_json_get_string (found, "text", ""));
  if (wrong == NULL && value != NULL)
    wrong = judge_value (value, found);

  return wrong;
}
