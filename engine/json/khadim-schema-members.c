/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Keywords of objects and arrays (core, 10.3 and 11; validation, 6.4, 6.5). */

#define G_LOG_DOMAIN "khadim-schema-members"

#include "config.h"

#include "engine/json/khadim-schema-private.h"

#include "engine/json/khadim-json.h"

/* Up to this many items each is compared with each; more are hashed. */
#define PAIRWISE_ITEMS 12
/* Bytes of canonical text that one step pays for */
#define BYTES_PER_STEP 16

static KhadimSchemaFrame
frame_for_member (const KhadimSchemaFrame *frame,
                  const char              *name)
{
  return (KhadimSchemaFrame) { .parent = frame, .key = name, .depth = frame->depth + 1 };
}

static KhadimSchemaFrame
frame_for_element (const KhadimSchemaFrame *frame,
                   guint                    index)
{
  return (KhadimSchemaFrame) { .parent = frame, .index = index, .depth = frame->depth + 1 };
}

/* minItems and the like; -1 for a bound that is not set. */
static gboolean
check_count (KhadimSchemaRun         *run,
             const KhadimSchemaFrame *frame,
             guint                    count,
             gint64                   least,
             gint64                   most,
             const char              *what)
{
  if ((gint64) count < least)
    return _khadim_schema_run_fail (run, frame, "expected at least %" G_GINT64_FORMAT
                                    " %s%s, found %u", least, what, least == 1 ? "" : "s", count);
  if (most >= 0 && (gint64) count > most)
    return _khadim_schema_run_fail (run, frame, "expected at most %" G_GINT64_FORMAT
                                    " %s%s, found %u", most, what, most == 1 ? "" : "s", count);

  return TRUE;
}

/* Objects ------------------------------------------------------------------- */

static gboolean
check_required (KhadimSchemaRun         *run,
                const KhadimSchemaFrame *frame,
                JsonObject              *object,
                JsonArray               *required,
                const char              *because)
{
  guint n = required != NULL ? json_array_get_length (required) : 0;

  for (guint i = 0; i < n; i++)
    {
      JsonNode *node = json_array_get_element (required, i);
      const char *name;

      if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
        continue;
      name = json_node_get_string (node);
      if (json_object_has_member (object, name))
        continue;
      if (because != NULL)
        return _khadim_schema_run_fail (run, frame, "“%s” is missing, which “%s” needs beside it",
                                        name, because);
      return _khadim_schema_run_fail (run, frame, "“%s” is missing", name);
    }

  return _khadim_schema_run_spend (run, n, frame);
}

static gboolean
check_dependent_required (KhadimSchemaRun         *run,
                          const KhadimSubschema   *schema,
                          JsonObject              *object,
                          const KhadimSchemaFrame *frame)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  if (schema->dependent_required == NULL)
    return TRUE;

  json_object_iter_init_ordered (&iter, schema->dependent_required);
  while (json_object_iter_next_ordered (&iter, &name, &node))
    {
      if (json_object_has_member (object, name) && JSON_NODE_HOLDS_ARRAY (node)
          && !check_required (run, frame, object, json_node_get_array (node), name))
        return FALSE;
    }

  return TRUE;
}

static gboolean
subschema_tells (const KhadimSubschema *schema)
{
  return schema->constant != NULL || schema->enumeration != NULL;
}

/* Members that tell the branches of anyOf and oneOf apart come first, so that
 * the reason why a branch refuses is the right one. */
static gboolean
check_telling_members (KhadimSchemaRun         *run,
                       const KhadimSubschema   *schema,
                       JsonObject              *object,
                       const KhadimSchemaFrame *frame,
                       const KhadimSchemaScope *scope)
{
  for (guint i = 0; schema->properties != NULL && i < schema->properties->len; i++)
    {
      const KhadimSchemaProperty *property = &g_array_index (schema->properties,
                                                             KhadimSchemaProperty, i);
      KhadimSchemaFrame member = frame_for_member (frame, property->name);
      JsonNode *value;

      if (!subschema_tells (property->subschema))
        continue;
      value = json_object_get_member (object, property->name);
      if (value != NULL
          && !_khadim_schema_evaluate_child (run, property->subschema, value, &member, scope))
        return FALSE;
    }

  return TRUE;
}

static gboolean
check_pattern_properties (KhadimSchemaRun         *run,
                          const KhadimSubschema   *schema,
                          const char              *name,
                          JsonNode                *value,
                          const KhadimSchemaFrame *frame,
                          const KhadimSchemaScope *scope,
                          gboolean                *out_known)
{
  for (guint i = 0; schema->pattern_properties != NULL && i < schema->pattern_properties->len; i++)
    {
      const KhadimSchemaPatternProperty *property
        = &g_array_index (schema->pattern_properties, KhadimSchemaPatternProperty, i);
      gboolean matches;

      if (!_khadim_schema_run_match (run, property->pattern, name, frame, &matches))
        return FALSE;
      if (!matches)
        continue;
      *out_known = TRUE;
      if (!_khadim_schema_evaluate_child (run, property->subschema, value, frame, scope))
        return FALSE;
    }

  return TRUE;
}

static gboolean
subschema_refuses (const KhadimSubschema *schema)
{
  return schema->is_boolean && !schema->accepts;
}

/* One member against properties, patternProperties and additionalProperties. */
static gboolean
check_member (KhadimSchemaRun         *run,
              const KhadimSubschema   *schema,
              JsonObject              *object,
              const char              *name,
              JsonNode                *value,
              const KhadimSchemaFrame *frame,
              const KhadimSchemaScope *scope,
              KhadimSchemaSeen        *seen)
{
  const KhadimSubschema *subschema = NULL;
  gboolean known = FALSE;

  if (schema->properties_by_name != NULL)
    subschema = g_hash_table_lookup (schema->properties_by_name, name);
  if (subschema != NULL)
    {
      known = TRUE;
      if (subschema_refuses (subschema))
        return _khadim_schema_run_fail_name (run, frame, schema, object, name);
      /* Those that tell were checked before. */
      if (!subschema_tells (subschema)
          && !_khadim_schema_evaluate_child (run, subschema, value, frame, scope))
        return FALSE;
    }
  if (!check_pattern_properties (run, schema, name, value, frame, scope, &known))
    return FALSE;

  if (!known && schema->additional_properties != NULL)
    {
      known = TRUE;
      if (subschema_refuses (schema->additional_properties))
        return _khadim_schema_run_fail_name (run, frame, schema, object, name);
      if (!_khadim_schema_evaluate_child (run, schema->additional_properties, value, frame, scope))
        return FALSE;
    }
  if (known && seen != NULL)
    _khadim_schema_seen_add_name (seen, name);

  return TRUE;
}

static gboolean
check_members (KhadimSchemaRun         *run,
               const KhadimSubschema   *schema,
               JsonObject              *object,
               const KhadimSchemaFrame *frame,
               const KhadimSchemaScope *scope,
               KhadimSchemaSeen        *seen)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  if (schema->properties == NULL && schema->pattern_properties == NULL
      && schema->additional_properties == NULL)
    return TRUE;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &value))
    {
      KhadimSchemaFrame member = frame_for_member (frame, name);

      if (!_khadim_schema_run_spend (run, 1, frame)
          || !check_member (run, schema, object, name, value, &member, scope, seen))
        return FALSE;
    }

  return TRUE;
}

/* The name itself as a value. What is said of it is turned into words at once,
 * since it lives no longer than this. */
static gboolean
check_name (KhadimSchemaRun         *run,
            const KhadimSubschema   *schema,
            const char              *name,
            const KhadimSchemaFrame *frame,
            const KhadimSchemaScope *scope)
{
  g_autoptr(JsonNode) node = khadim_json_string (name);
  KhadimSchemaFrame root = { 0, };
  KhadimSchemaFailure *failure;
  g_autofree char *text = NULL;
  gboolean literal = run->literal;
  gboolean accepted;

  run->literal = TRUE;
  accepted = _khadim_schema_evaluate_child (run, schema, node, &root, scope);
  run->literal = literal;
  if (accepted || run->abort_error != NULL)
    return accepted;

  failure = _khadim_schema_run_steal_failure (run);
  if (failure != NULL)
    text = _khadim_schema_failure_to_text (failure);
  _khadim_schema_failure_free (failure);

  return _khadim_schema_run_fail (run, frame, "the name does not fit: %s",
                                  text != NULL ? text : "");
}

static gboolean
check_names (KhadimSchemaRun         *run,
             const KhadimSubschema   *schema,
             JsonObject              *object,
             const KhadimSchemaFrame *frame,
             const KhadimSchemaScope *scope)
{
  JsonObjectIter iter;
  const char *name;

  if (schema->property_names == NULL)
    return TRUE;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, NULL))
    {
      KhadimSchemaFrame member = frame_for_member (frame, name);

      if (!check_name (run, schema->property_names, name, &member, scope))
        return FALSE;
    }

  return TRUE;
}

static gboolean
check_dependent_schemas (KhadimSchemaRun         *run,
                         const KhadimSubschema   *schema,
                         JsonNode                *instance,
                         const KhadimSchemaFrame *frame,
                         const KhadimSchemaScope *scope,
                         KhadimSchemaSeen        *seen)
{
  JsonObject *object = json_node_get_object (instance);

  for (guint i = 0; schema->dependent_schemas != NULL && i < schema->dependent_schemas->len; i++)
    {
      const KhadimSchemaProperty *property = &g_array_index (schema->dependent_schemas,
                                                             KhadimSchemaProperty, i);

      if (json_object_has_member (object, property->name)
          && !_khadim_schema_evaluate (run, property->subschema, instance, frame, scope, seen))
        return FALSE;
    }

  return TRUE;
}

gboolean
_khadim_schema_check_object (KhadimSchemaRun         *run,
                             const KhadimSubschema   *schema,
                             JsonNode                *instance,
                             const KhadimSchemaFrame *frame,
                             const KhadimSchemaScope *scope,
                             KhadimSchemaSeen        *seen)
{
  JsonObject *object = json_node_get_object (instance);

  return check_telling_members (run, schema, object, frame, scope)
         && check_required (run, frame, object, schema->required, NULL)
         && check_dependent_required (run, schema, object, frame)
         && check_members (run, schema, object, frame, scope, seen)
         && check_names (run, schema, object, frame, scope)
         && check_count (run, frame, json_object_get_size (object), schema->min_properties,
                         schema->max_properties, "member")
         && check_dependent_schemas (run, schema, instance, frame, scope, seen);
}

/* Arrays -------------------------------------------------------------------- */

static gboolean
check_items (KhadimSchemaRun         *run,
             const KhadimSubschema   *schema,
             JsonArray               *array,
             const KhadimSchemaFrame *frame,
             const KhadimSchemaScope *scope,
             KhadimSchemaSeen        *seen)
{
  guint length = json_array_get_length (array);
  guint prefix = schema->prefix_items != NULL ? MIN (schema->prefix_items->len, length) : 0;

  for (guint i = 0; i < length && (i < prefix || schema->items != NULL); i++)
    {
      const KhadimSubschema *subschema = schema->items;
      KhadimSchemaFrame element = frame_for_element (frame, i);

      if (i < prefix)
        subschema = g_ptr_array_index (schema->prefix_items, i);
      else if (subschema_refuses (subschema))
        return _khadim_schema_run_fail (run, frame, "expected at most %u item%s, found %u", prefix,
                                        prefix == 1 ? "" : "s", length);
      if (!_khadim_schema_evaluate_child (run, subschema, json_array_get_element (array, i),
                                          &element, scope))
        return FALSE;
    }

  if (seen != NULL)
    {
      seen->all |= schema->items != NULL;
      seen->prefix = MAX (seen->prefix, prefix);
    }

  return TRUE;
}

static gboolean
check_contains (KhadimSchemaRun         *run,
                const KhadimSubschema   *schema,
                JsonArray               *array,
                const KhadimSchemaFrame *frame,
                const KhadimSchemaScope *scope,
                KhadimSchemaSeen        *seen)
{
  gint64 least = schema->min_contains >= 0 ? schema->min_contains : 1;
  guint length = json_array_get_length (array);
  guint certain = 0;
  guint count = 0;

  if (schema->contains == NULL)
    return TRUE;

  for (guint i = 0; i < length; i++)
    {
      KhadimSchemaFrame element = frame_for_element (frame, i);
      guint templates = run->templates;
      gboolean accepted;

      run->quiet++;
      accepted = _khadim_schema_evaluate_child (run, schema->contains,
                                                json_array_get_element (array, i), &element,
                                                scope);
      run->quiet--;
      if (run->abort_error != NULL)
        return FALSE;
      if (!accepted)
        continue;
      count++;
      certain += run->templates == templates ? 1 : 0;
      /* Before 2020-12 unevaluatedItems did not look at contains. */
      if (seen != NULL && schema->resource->dialect == KHADIM_SCHEMA_DIALECT_2020_12)
        _khadim_schema_seen_add_index (seen, i);
    }

  return check_count (run, frame, count, least, -1, "fitting item")
         && check_count (run, frame, certain, -1, schema->max_contains, "fitting item");
}

static gboolean
fail_twins (KhadimSchemaRun         *run,
            const KhadimSchemaFrame *frame,
            guint                    first,
            guint                    second)
{
  KhadimSchemaFrame element = frame_for_element (frame, second);

  return _khadim_schema_run_fail (run, &element, "expected items that differ, found that of [%u] "
                                  "again", first);
}

static gboolean
check_unique_pairwise (KhadimSchemaRun         *run,
                       JsonArray               *array,
                       const KhadimSchemaFrame *frame)
{
  guint length = json_array_get_length (array);

  for (guint i = 1; i < length; i++)
    {
      for (guint j = 0; j < i; j++)
        {
          guint templates = run->templates;

          if (_khadim_schema_values_match (run, json_array_get_element (array, i),
                                           json_array_get_element (array, j), frame)
              && run->templates == templates)
            return fail_twins (run, frame, j, i);
          if (run->abort_error != NULL)
            return FALSE;
        }
    }

  return TRUE;
}

static gboolean
check_unique (KhadimSchemaRun         *run,
              const KhadimSubschema   *schema,
              JsonArray               *array,
              const KhadimSchemaFrame *frame)
{
  g_autoptr(GHashTable) texts = NULL;
  guint length = json_array_get_length (array);

  if (!schema->unique_items)
    return TRUE;
  if (length <= PAIRWISE_ITEMS)
    return check_unique_pairwise (run, array, frame);

  texts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < length; i++)
    {
      g_autofree char *text = khadim_json_to_canonical (json_array_get_element (array, i));
      gpointer first;

      if (!_khadim_schema_run_spend (run, 1 + strlen (text) / BYTES_PER_STEP, frame))
        return FALSE;
      if ((run->flags & KHADIM_SCHEMA_FLAGS_TEMPLATES) != 0 && strstr (text, "{{") != NULL)
        continue;
      if (g_hash_table_lookup_extended (texts, text, NULL, &first))
        return fail_twins (run, frame, GPOINTER_TO_UINT (first), i);
      g_hash_table_insert (texts, g_steal_pointer (&text), GUINT_TO_POINTER (i));
    }

  return TRUE;
}

gboolean
_khadim_schema_check_array (KhadimSchemaRun         *run,
                            const KhadimSubschema   *schema,
                            JsonArray               *array,
                            const KhadimSchemaFrame *frame,
                            const KhadimSchemaScope *scope,
                            KhadimSchemaSeen        *seen)
{
  return check_count (run, frame, json_array_get_length (array), schema->min_items,
                      schema->max_items, "item")
         && check_items (run, schema, array, frame, scope, seen)
         && check_contains (run, schema, array, frame, scope, seen)
         && check_unique (run, schema, array, frame);
}

/* What no other keyword has looked at --------------------------------------- */

static gboolean
check_unevaluated_properties (KhadimSchemaRun         *run,
                              const KhadimSubschema   *schema,
                              JsonObject              *object,
                              const KhadimSchemaFrame *frame,
                              const KhadimSchemaScope *scope,
                              KhadimSchemaSeen        *seen)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  json_object_iter_init_ordered (&iter, object);
  while (!seen->all && json_object_iter_next_ordered (&iter, &name, &value))
    {
      KhadimSchemaFrame member = frame_for_member (frame, name);

      if (seen->names != NULL && g_hash_table_contains (seen->names, name))
        continue;
      if (subschema_refuses (schema->unevaluated_properties))
        return _khadim_schema_run_fail_name (run, &member, schema, object, name);
      if (!_khadim_schema_evaluate_child (run, schema->unevaluated_properties, value, &member,
                                          scope))
        return FALSE;
    }
  seen->all = TRUE;

  return TRUE;
}

static gboolean
check_unevaluated_items (KhadimSchemaRun         *run,
                         const KhadimSubschema   *schema,
                         JsonArray               *array,
                         const KhadimSchemaFrame *frame,
                         const KhadimSchemaScope *scope,
                         KhadimSchemaSeen        *seen)
{
  guint length = json_array_get_length (array);

  for (guint i = seen->prefix; !seen->all && i < length; i++)
    {
      KhadimSchemaFrame element = frame_for_element (frame, i);

      if (seen->indexes != NULL && g_hash_table_contains (seen->indexes, GUINT_TO_POINTER (i)))
        continue;
      if (subschema_refuses (schema->unevaluated_items))
        return _khadim_schema_run_fail (run, &element, "no item is allowed here");
      if (!_khadim_schema_evaluate_child (run, schema->unevaluated_items,
                                          json_array_get_element (array, i), &element, scope))
        return FALSE;
    }
  seen->all = TRUE;

  return TRUE;
}

/* @seen is set if @schema has one of the keywords. */
gboolean
_khadim_schema_check_unevaluated_members (KhadimSchemaRun         *run,
                                          const KhadimSubschema   *schema,
                                          JsonNode                *instance,
                                          const KhadimSchemaFrame *frame,
                                          const KhadimSchemaScope *scope,
                                          KhadimSchemaSeen        *seen)
{
  if (schema->unevaluated_properties != NULL && JSON_NODE_HOLDS_OBJECT (instance))
    return check_unevaluated_properties (run, schema, json_node_get_object (instance), frame,
                                         scope, seen);
  if (schema->unevaluated_items != NULL && JSON_NODE_HOLDS_ARRAY (instance))
    return check_unevaluated_items (run, schema, json_node_get_array (instance), frame, scope,
                                    seen);

  return TRUE;
}
