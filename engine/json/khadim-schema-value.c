/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Keywords that look at one value by itself (validation, 6.1 to 6.3). */

#define G_LOG_DOMAIN "khadim-schema-value"

#include "config.h"

#include "engine/json/khadim-schema-private.h"

#include "engine/json/khadim-json.h"

/* Bytes of a string that one step pays for, and steps that take about a
 * microsecond otherwise */
#define BYTES_PER_STEP 16
#define STEPS_PER_US 10

static guint
instance_types (JsonNode *instance)
{
  switch (json_node_get_node_type (instance))
    {
    case JSON_NODE_OBJECT:
      return KHADIM_SCHEMA_TYPE_OBJECT;

    case JSON_NODE_ARRAY:
      return KHADIM_SCHEMA_TYPE_ARRAY;

    case JSON_NODE_NULL:
      return KHADIM_SCHEMA_TYPE_NULL;

    case JSON_NODE_VALUE:
    default:
      break;
    }

  if (json_node_get_value_type (instance) == G_TYPE_STRING)
    return KHADIM_SCHEMA_TYPE_STRING;
  if (json_node_get_value_type (instance) == G_TYPE_BOOLEAN)
    return KHADIM_SCHEMA_TYPE_BOOLEAN;
  if (_khadim_schema_number_is_integer (instance))
    return KHADIM_SCHEMA_TYPE_NUMBER | KHADIM_SCHEMA_TYPE_INTEGER;

  return KHADIM_SCHEMA_TYPE_NUMBER;
}

static gboolean
objects_match (KhadimSchemaRun         *run,
               JsonObject              *instance,
               JsonObject              *value,
               const KhadimSchemaFrame *frame)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  if (json_object_get_size (instance) != json_object_get_size (value))
    return FALSE;

  json_object_iter_init (&iter, instance);
  while (json_object_iter_next (&iter, &name, &member))
    {
      JsonNode *other = json_object_get_member (value, name);

      if (other == NULL || !_khadim_schema_values_match (run, member, other, frame))
        return FALSE;
    }

  return TRUE;
}

static gboolean
arrays_match (KhadimSchemaRun         *run,
              JsonArray               *instance,
              JsonArray               *value,
              const KhadimSchemaFrame *frame)
{
  guint length = json_array_get_length (instance);

  if (length != json_array_get_length (value))
    return FALSE;

  for (guint i = 0; i < length; i++)
    {
      if (!_khadim_schema_values_match (run, json_array_get_element (instance, i),
                                        json_array_get_element (value, i), frame))
        return FALSE;
    }

  return TRUE;
}

/* Whether @instance equals @value, or may do so once its templates are known. */
gboolean
_khadim_schema_values_match (KhadimSchemaRun         *run,
                             JsonNode                *instance,
                             JsonNode                *value,
                             const KhadimSchemaFrame *frame)
{
  if (!_khadim_schema_run_spend (run, 1, frame))
    return FALSE;
  if (_khadim_schema_is_template (run, instance))
    {
      run->templates++;
      return TRUE;
    }

  if (JSON_NODE_HOLDS_OBJECT (instance) && JSON_NODE_HOLDS_OBJECT (value))
    return objects_match (run, json_node_get_object (instance), json_node_get_object (value),
                          frame);
  if (JSON_NODE_HOLDS_ARRAY (instance) && JSON_NODE_HOLDS_ARRAY (value))
    return arrays_match (run, json_node_get_array (instance), json_node_get_array (value), frame);

  return khadim_json_equal (instance, value);
}

static gboolean
enumeration_holds (KhadimSchemaRun         *run,
                   JsonArray               *enumeration,
                   JsonNode                *instance,
                   const KhadimSchemaFrame *frame)
{
  guint length = json_array_get_length (enumeration);

  for (guint i = 0; i < length; i++)
    {
      if (_khadim_schema_values_match (run, instance, json_array_get_element (enumeration, i),
                                       frame))
        return TRUE;
    }

  return FALSE;
}

/* type, const and enum. */
gboolean
_khadim_schema_check_value (KhadimSchemaRun         *run,
                            const KhadimSubschema   *schema,
                            JsonNode                *instance,
                            const KhadimSchemaFrame *frame)
{
  if (schema->types != 0 && (schema->types & instance_types (instance)) == 0)
    return _khadim_schema_run_fail_type (run, frame, schema->types, instance);
  if (schema->constant != NULL
      && !_khadim_schema_values_match (run, instance, schema->constant, frame))
    return _khadim_schema_run_fail_value (run, frame, schema->constant, NULL, instance);
  if (schema->enumeration != NULL
      && !enumeration_holds (run, schema->enumeration, instance, frame))
    return _khadim_schema_run_fail_value (run, frame, NULL, schema->enumeration, instance);

  return TRUE;
}

static gboolean
fail_bound (KhadimSchemaRun         *run,
            const KhadimSchemaFrame *frame,
            const char              *words,
            JsonNode                *bound,
            JsonNode                *instance)
{
  g_autofree char *expected = _khadim_schema_describe (bound);
  g_autofree char *found = _khadim_schema_describe (instance);

  return _khadim_schema_run_fail (run, frame, "expected %s %s, found %s", words, expected, found);
}

static gboolean
check_number (KhadimSchemaRun         *run,
              const KhadimSubschema   *schema,
              JsonNode                *instance,
              const KhadimSchemaFrame *frame)
{
  if (schema->minimum != NULL && _khadim_schema_number_compare (instance, schema->minimum) < 0)
    return fail_bound (run, frame, "at least", schema->minimum, instance);
  if (schema->maximum != NULL && _khadim_schema_number_compare (instance, schema->maximum) > 0)
    return fail_bound (run, frame, "at most", schema->maximum, instance);
  if (schema->exclusive_minimum != NULL
      && _khadim_schema_number_compare (instance, schema->exclusive_minimum) <= 0)
    return fail_bound (run, frame, "more than", schema->exclusive_minimum, instance);
  if (schema->exclusive_maximum != NULL
      && _khadim_schema_number_compare (instance, schema->exclusive_maximum) >= 0)
    return fail_bound (run, frame, "less than", schema->exclusive_maximum, instance);
  if (schema->multiple_of != NULL
      && !_khadim_schema_number_is_multiple (instance, schema->multiple_of))
    return fail_bound (run, frame, "a multiple of", schema->multiple_of, instance);

  return TRUE;
}

static gboolean
check_length (KhadimSchemaRun         *run,
              const KhadimSubschema   *schema,
              const char              *text,
              const KhadimSchemaFrame *frame)
{
  gint64 length;

  if (schema->min_length < 0 && schema->max_length < 0)
    return TRUE;

  length = g_utf8_strlen (text, -1);
  if (length < schema->min_length)
    return _khadim_schema_run_fail (run, frame,
                                    "expected at least %" G_GINT64_FORMAT " character%s, found %"
                                    G_GINT64_FORMAT, schema->min_length,
                                    schema->min_length == 1 ? "" : "s", length);
  if (schema->max_length >= 0 && length > schema->max_length)
    return _khadim_schema_run_fail (run, frame,
                                    "expected at most %" G_GINT64_FORMAT " character%s, found %"
                                    G_GINT64_FORMAT, schema->max_length,
                                    schema->max_length == 1 ? "" : "s", length);

  return TRUE;
}

/* Matches, and pays for the time that it took. %FALSE stops the check. */
gboolean
_khadim_schema_run_match (KhadimSchemaRun           *run,
                          const KhadimSchemaPattern *pattern,
                          const char                *text,
                          const KhadimSchemaFrame   *frame,
                          gboolean                  *out_matches)
{
  g_autoptr(GError) error = NULL;
  gint64 start_us = g_get_monotonic_time ();
  gint64 spent_us;

  if (!_khadim_schema_pattern_match (pattern, text, out_matches, &error))
    return _khadim_schema_run_abort (run, frame, KHADIM_ENGINE_ERROR_LIMIT, error->message);

  spent_us = g_get_monotonic_time () - start_us;

  return _khadim_schema_run_spend (run, 1 + (guint64) MAX (spent_us, 0) * STEPS_PER_US, frame);
}

static gboolean
check_pattern (KhadimSchemaRun         *run,
               const KhadimSubschema   *schema,
               JsonNode                *instance,
               const KhadimSchemaFrame *frame)
{
  g_autofree char *found = NULL;
  gboolean matches;

  if (schema->pattern == NULL)
    return TRUE;
  if (!_khadim_schema_run_match (run, schema->pattern, json_node_get_string (instance), frame,
                                 &matches))
    return FALSE;
  if (matches)
    return TRUE;

  found = _khadim_schema_describe (instance);

  return _khadim_schema_run_fail (run, frame, "expected text of the form %s, found %s",
                                  _khadim_schema_pattern_get_text (schema->pattern), found);
}

static gboolean
format_counts (const KhadimSchemaRun *run,
               const KhadimSubschema *schema)
{
  if (schema->format == NULL)
    return FALSE;

  return (run->flags & KHADIM_SCHEMA_FLAGS_FORMATS) != 0
         || (schema->resource->vocabularies & KHADIM_SCHEMA_VOCABULARY_FORMAT_ASSERTION) != 0;
}

static gboolean
check_string (KhadimSchemaRun         *run,
              const KhadimSubschema   *schema,
              JsonNode                *instance,
              const KhadimSchemaFrame *frame)
{
  const char *text = json_node_get_string (instance);
  g_autofree char *found = NULL;

  if (!_khadim_schema_run_spend (run, strlen (text) / BYTES_PER_STEP, frame)
      || !check_length (run, schema, text, frame)
      || !check_pattern (run, schema, instance, frame))
    return FALSE;
  if (!format_counts (run, schema) || _khadim_schema_format_check (schema->format, text))
    return TRUE;

  found = _khadim_schema_describe (instance);

  return _khadim_schema_run_fail (run, frame, "expected text in the format “%s”, found %s",
                                  schema->format, found);
}

/* Keywords of numbers and strings. */
gboolean
_khadim_schema_check_scalar (KhadimSchemaRun         *run,
                             const KhadimSubschema   *schema,
                             JsonNode                *instance,
                             const KhadimSchemaFrame *frame)
{
  GType type;

  if (!JSON_NODE_HOLDS_VALUE (instance))
    return TRUE;

  type = json_node_get_value_type (instance);
  if (type == G_TYPE_STRING)
    return check_string (run, schema, instance, frame);
  if (type == G_TYPE_BOOLEAN)
    return TRUE;

  return check_number (run, schema, instance, frame);
}
