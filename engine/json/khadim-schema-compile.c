/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* From a document to subschemas: all places that hold a schema are visited
 * once, $id and anchors are noted, and references are resolved afterwards,
 * which may bring in further places and the metaschemas. */

#define G_LOG_DOMAIN "khadim-schema-compile"

#include "config.h"

#include "engine/json/khadim-schema-compile-private.h"

#include "engine/json/khadim-json.h"

/* Freeing ------------------------------------------------------------------- */

void
_khadim_schema_resource_free (gpointer data)
{
  KhadimSchemaResource *self = data;

  g_free (self->uri);
  g_hash_table_unref (self->anchors);
  g_hash_table_unref (self->dynamic_anchors);
  g_free (self);
}

void
_khadim_subschema_free (gpointer data)
{
  KhadimSubschema *self = data;

  g_clear_pointer (&self->all_of, g_ptr_array_unref);
  g_clear_pointer (&self->any_of, g_ptr_array_unref);
  g_clear_pointer (&self->one_of, g_ptr_array_unref);
  g_clear_pointer (&self->prefix_items, g_ptr_array_unref);
  g_clear_pointer (&self->properties, g_array_unref);
  g_clear_pointer (&self->properties_by_name, g_hash_table_unref);
  g_clear_pointer (&self->pattern_properties, g_array_unref);
  g_clear_pointer (&self->dependent_schemas, g_array_unref);
  g_clear_pointer (&self->pattern, _khadim_schema_pattern_free);
  g_free (self);
}

static void
pattern_property_clear (gpointer data)
{
  KhadimSchemaPatternProperty *property = data;

  g_clear_pointer (&property->pattern, _khadim_schema_pattern_free);
}

void
_khadim_schema_reference_free (gpointer data)
{
  KhadimSchemaReference *reference = data;

  g_free (reference->uri);
  g_free (reference->place);
  g_free (reference);
}

/* Errors and addresses ------------------------------------------------------ */

/* Always %FALSE. */
gboolean
_khadim_schema_compiler_fail (KhadimSchemaCompiler *compiler,
                              const char           *place,
                              KhadimEngineError     code,
                              const char           *problem)
{
  g_set_error (compiler->error, KHADIM_ENGINE_ERROR, (int) code, "%s%s%s",
               place, place[0] != '\0' ? ": " : "", problem);

  return FALSE;
}

static gboolean
compiler_fail_at (KhadimSchemaCompiler    *compiler,
                  const KhadimSchemaFrame *frame,
                  KhadimEngineError        code,
                  const char              *problem)
{
  g_autofree char *place = _khadim_schema_frame_to_place (frame);

  return _khadim_schema_compiler_fail (compiler, place, code, problem);
}

/* @uri against @base; %NULL if it is no address. */
static char *
resolve_uri (const char *base,
             const char *uri)
{
  return g_uri_resolve_relative (base, uri, G_URI_FLAGS_ENCODED, NULL);
}

/* Cuts the fragment off @uri, and returns it without its #; "" if none. */
char *
_khadim_schema_cut_fragment (char *uri)
{
  char *mark = strchr (uri, '#');

  if (mark == NULL)
    return g_strdup ("");

  *mark = '\0';

  return g_strdup (mark + 1);
}

static KhadimSchemaResource *
compiler_add_resource (KhadimSchemaCompiler *compiler,
                       const char           *uri,
                       JsonNode             *node,
                       KhadimSchemaResource *parent)
{
  KhadimSchemaResource *resource = g_new0 (KhadimSchemaResource, 1);

  resource->uri = g_strdup (uri);
  resource->node = node;
  resource->vocabularies = KHADIM_SCHEMA_VOCABULARIES_DEFAULT;
  if (parent != NULL)
    {
      resource->dialect = parent->dialect;
      resource->vocabularies = parent->vocabularies;
    }
  resource->anchors = g_hash_table_new (g_str_hash, g_str_equal);
  resource->dynamic_anchors = g_hash_table_new (g_str_hash, g_str_equal);
  g_ptr_array_add (compiler->self->resources, resource);
  g_hash_table_insert (compiler->by_uri, resource->uri, resource);

  return resource;
}

/* Identifiers --------------------------------------------------------------- */

/* $id (core, 8.2.1). */
static gboolean
compiler_read_id (KhadimSchemaCompiler    *compiler,
                  JsonNode                *node,
                  const char              *id,
                  KhadimSchemaResource   **inout_resource,
                  const KhadimSchemaFrame *frame)
{
  g_autofree char *uri = resolve_uri ((*inout_resource)->uri, id);
  g_autofree char *fragment = NULL;
  KhadimSchemaResource *other;

  if (uri != NULL)
    fragment = _khadim_schema_cut_fragment (uri);
  if (uri == NULL || fragment[0] != '\0')
    return compiler_fail_at (compiler, frame, KHADIM_ENGINE_ERROR_INVALID,
                             "$id is not an address without a fragment");

  other = g_hash_table_lookup (compiler->by_uri, uri);
  if (other != NULL && other->node != node)
    {
      g_autofree char *problem = g_strdup_printf ("another schema has the $id %s too", id);

      return compiler_fail_at (compiler, frame, KHADIM_ENGINE_ERROR_INVALID, problem);
    }
  *inout_resource = other != NULL ? other
                                  : compiler_add_resource (compiler, uri, node, *inout_resource);

  return TRUE;
}

static gboolean
compiler_add_anchor (KhadimSchemaCompiler    *compiler,
                     KhadimSubschema         *schema,
                     JsonObject              *object,
                     const char              *keyword,
                     const KhadimSchemaFrame *frame)
{
  const char *name = khadim_json_get_string (object, keyword, NULL);
  KhadimSubschema *other;

  /* Before $anchor, it was an $id of just a fragment. */
  if (name != NULL && g_str_equal (keyword, "$id"))
    name = name[0] == '#' && name[1] != '\0' ? name + 1 : NULL;
  if (name == NULL)
    return TRUE;

  other = g_hash_table_lookup (schema->resource->anchors, name);
  if (other != NULL && other != schema)
    {
      g_autofree char *problem = g_strdup_printf ("another schema has the anchor “%s” too", name);

      return compiler_fail_at (compiler, frame, KHADIM_ENGINE_ERROR_INVALID, problem);
    }
  g_hash_table_insert (schema->resource->anchors, (gpointer) name, schema);
  if (g_str_equal (keyword, "$dynamicAnchor"))
    g_hash_table_insert (schema->resource->dynamic_anchors, (gpointer) name, schema);

  return TRUE;
}

static gboolean
compiler_add_reference (KhadimSchemaCompiler    *compiler,
                        KhadimSubschema         *schema,
                        JsonObject              *object,
                        const char              *keyword,
                        const KhadimSchemaFrame *frame)
{
  const char *text = khadim_json_get_string (object, keyword, NULL);
  g_autofree char *uri = NULL;
  KhadimSchemaReference *reference;

  if (text == NULL)
    return TRUE;

  uri = resolve_uri (schema->resource->uri, text);
  if (uri == NULL)
    {
      g_autofree char *problem = g_strdup_printf ("%s is not an address: %s", keyword, text);

      return compiler_fail_at (compiler, frame, KHADIM_ENGINE_ERROR_INVALID, problem);
    }

  reference = g_new0 (KhadimSchemaReference, 1);
  reference->from = schema;
  reference->dynamic = !g_str_equal (keyword, "$ref");
  reference->uri = g_steal_pointer (&uri);
  reference->place = _khadim_schema_frame_to_place (frame);
  g_queue_push_tail (&compiler->references, reference);

  return TRUE;
}

/* Subschemas ---------------------------------------------------------------- */

/* One member that is a schema. */
static gboolean
compile_member (KhadimSchemaCompiler    *compiler,
                KhadimSubschema         *schema,
                JsonObject              *object,
                const char              *keyword,
                KhadimSubschema        **out_subschema,
                const KhadimSchemaFrame *frame)
{
  KhadimSchemaFrame member = { frame, keyword, 0, frame->depth + 1 };
  JsonNode *node = khadim_json_get (object, keyword);

  if (node == NULL)
    return TRUE;

  *out_subschema = _khadim_schema_compile_node (compiler, node, schema->resource, &member);

  return *out_subschema != NULL;
}

/* An array of schemas. */
static gboolean
compile_list (KhadimSchemaCompiler    *compiler,
              KhadimSubschema         *schema,
              JsonObject              *object,
              const char              *keyword,
              GPtrArray              **out_list,
              const KhadimSchemaFrame *frame)
{
  KhadimSchemaFrame member = { frame, keyword, 0, frame->depth + 1 };
  JsonArray *array = khadim_json_get_array (object, keyword);

  if (array == NULL)
    return TRUE;

  *out_list = g_ptr_array_new ();
  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      KhadimSchemaFrame element = { &member, NULL, i, member.depth + 1 };
      KhadimSubschema *subschema;

      subschema = _khadim_schema_compile_node (compiler, json_array_get_element (array, i),
                                               schema->resource, &element);
      if (subschema == NULL)
        return FALSE;
      g_ptr_array_add (*out_list, subschema);
    }

  return TRUE;
}

/* An object whose members are schemas. */
static gboolean
compile_map (KhadimSchemaCompiler    *compiler,
             KhadimSubschema         *schema,
             JsonObject              *object,
             const char              *keyword,
             GArray                 **out_map,
             const KhadimSchemaFrame *frame)
{
  KhadimSchemaFrame member = { frame, keyword, 0, frame->depth + 1 };
  JsonObject *map = khadim_json_get_object (object, keyword);
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  if (map == NULL)
    return TRUE;

  *out_map = g_array_new (FALSE, FALSE, sizeof (KhadimSchemaProperty));
  json_object_iter_init_ordered (&iter, map);
  while (json_object_iter_next_ordered (&iter, &name, &node))
    {
      KhadimSchemaFrame element = { &member, name, 0, member.depth + 1 };
      KhadimSchemaProperty property = { name, NULL };

      property.subschema = _khadim_schema_compile_node (compiler, node, schema->resource, &element);
      if (property.subschema == NULL)
        return FALSE;
      g_array_append_val (*out_map, property);
    }

  return TRUE;
}

static gboolean
compile_properties (KhadimSchemaCompiler    *compiler,
                    KhadimSubschema         *schema,
                    JsonObject              *object,
                    const KhadimSchemaFrame *frame)
{
  if (!compile_map (compiler, schema, object, "properties", &schema->properties, frame))
    return FALSE;
  if (schema->properties == NULL)
    return TRUE;

  schema->properties_by_name = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < schema->properties->len; i++)
    {
      const KhadimSchemaProperty *property = &g_array_index (schema->properties,
                                                             KhadimSchemaProperty, i);

      g_hash_table_insert (schema->properties_by_name, (gpointer) property->name,
                           property->subschema);
    }

  return TRUE;
}

static KhadimSchemaPattern *
compile_pattern (KhadimSchemaCompiler    *compiler,
                 const char              *text,
                 const KhadimSchemaFrame *frame)
{
  g_autoptr(GError) error = NULL;
  KhadimSchemaPattern *pattern = _khadim_schema_pattern_new (text, &error);

  if (pattern == NULL)
    compiler_fail_at (compiler, frame, (KhadimEngineError) error->code, error->message);

  return pattern;
}

static gboolean
compile_pattern_properties (KhadimSchemaCompiler    *compiler,
                            KhadimSubschema         *schema,
                            JsonObject              *object,
                            const KhadimSchemaFrame *frame)
{
  KhadimSchemaFrame member = { frame, "patternProperties", 0, frame->depth + 1 };
  g_autoptr(GArray) map = NULL;

  if (!compile_map (compiler, schema, object, "patternProperties", &map, frame))
    return FALSE;
  if (map == NULL)
    return TRUE;

  schema->pattern_properties = g_array_new (FALSE, FALSE, sizeof (KhadimSchemaPatternProperty));
  g_array_set_clear_func (schema->pattern_properties, pattern_property_clear);
  for (guint i = 0; i < map->len; i++)
    {
      const KhadimSchemaProperty *entry = &g_array_index (map, KhadimSchemaProperty, i);
      KhadimSchemaFrame element = { &member, entry->name, 0, member.depth + 1 };
      KhadimSchemaPatternProperty property = { NULL, entry->subschema };

      property.pattern = compile_pattern (compiler, entry->name, &element);
      if (property.pattern == NULL)
        return FALSE;
      g_array_append_val (schema->pattern_properties, property);
    }

  return TRUE;
}

/* Places that hold schemas, but do not apply them. */
static gboolean
compile_definitions (KhadimSchemaCompiler    *compiler,
                     KhadimSubschema         *schema,
                     JsonObject              *object,
                     const KhadimSchemaFrame *frame)
{
  g_autoptr(GArray) definitions = NULL;
  g_autoptr(GArray) old_definitions = NULL;
  KhadimSubschema *content = NULL;

  return compile_map (compiler, schema, object, "$defs", &definitions, frame)
         && compile_map (compiler, schema, object, "definitions", &old_definitions, frame)
         && compile_member (compiler, schema, object, "contentSchema", &content, frame);
}

/* Up to 2019-09, items could be an array, with additionalItems beside it. */
static gboolean
compile_items (KhadimSchemaCompiler    *compiler,
               KhadimSubschema         *schema,
               JsonObject              *object,
               const KhadimSchemaFrame *frame)
{
  const char *prefix = "prefixItems";
  const char *rest = "items";

  if (schema->resource->dialect != KHADIM_SCHEMA_DIALECT_2020_12)
    {
      if (khadim_json_get_array (object, "items") == NULL)
        return compile_member (compiler, schema, object, "items", &schema->items, frame);
      prefix = "items";
      rest = "additionalItems";
    }

  return compile_list (compiler, schema, object, prefix, &schema->prefix_items, frame)
         && compile_member (compiler, schema, object, rest, &schema->items, frame);
}

/* Up to draft-07, dependencies held schemas and arrays of names alike. */
static gboolean
compile_dependencies (KhadimSchemaCompiler    *compiler,
                      KhadimSubschema         *schema,
                      JsonObject              *object,
                      const KhadimSchemaFrame *frame)
{
  KhadimSchemaFrame member = { frame, "dependencies", 0, frame->depth + 1 };
  JsonObject *map = khadim_json_get_object (object, "dependencies");
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  if (map == NULL)
    return TRUE;

  schema->dependent_required = map;
  schema->dependent_schemas = g_array_new (FALSE, FALSE, sizeof (KhadimSchemaProperty));
  json_object_iter_init_ordered (&iter, map);
  while (json_object_iter_next_ordered (&iter, &name, &node))
    {
      KhadimSchemaFrame element = { &member, name, 0, member.depth + 1 };
      KhadimSchemaProperty property = { name, NULL };

      if (JSON_NODE_HOLDS_ARRAY (node))
        continue;
      property.subschema = _khadim_schema_compile_node (compiler, node, schema->resource,
                                                        &element);
      if (property.subschema == NULL)
        return FALSE;
      g_array_append_val (schema->dependent_schemas, property);
    }

  return TRUE;
}

static gboolean
compile_dependent_schemas (KhadimSchemaCompiler    *compiler,
                           KhadimSubschema         *schema,
                           JsonObject              *object,
                           const KhadimSchemaFrame *frame)
{
  if (schema->resource->dialect == KHADIM_SCHEMA_DIALECT_DRAFT_07)
    return compile_dependencies (compiler, schema, object, frame);

  return compile_map (compiler, schema, object, "dependentSchemas", &schema->dependent_schemas,
                      frame);
}

static gboolean
compile_applicators (KhadimSchemaCompiler    *compiler,
                     KhadimSubschema         *schema,
                     JsonObject              *object,
                     const KhadimSchemaFrame *frame)
{
  struct
  {
    const char *keyword;
    KhadimSubschema **place;
  } members[] = {
    { "not", &schema->not_schema },
    { "if", &schema->if_schema },
    { "then", &schema->then_schema },
    { "else", &schema->else_schema },
    { "additionalProperties", &schema->additional_properties },
    { "propertyNames", &schema->property_names },
    { "contains", &schema->contains },
  };

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    {
      if (!compile_member (compiler, schema, object, members[i].keyword, members[i].place, frame))
        return FALSE;
    }

  return compile_list (compiler, schema, object, "allOf", &schema->all_of, frame)
         && compile_list (compiler, schema, object, "anyOf", &schema->any_of, frame)
         && compile_list (compiler, schema, object, "oneOf", &schema->one_of, frame)
         && compile_items (compiler, schema, object, frame)
         && compile_properties (compiler, schema, object, frame)
         && compile_pattern_properties (compiler, schema, object, frame)
         && compile_dependent_schemas (compiler, schema, object, frame);
}

static gboolean
compile_unevaluated (KhadimSchemaCompiler    *compiler,
                     KhadimSubschema         *schema,
                     JsonObject              *object,
                     const KhadimSchemaFrame *frame)
{
  return compile_member (compiler, schema, object, "unevaluatedProperties",
                         &schema->unevaluated_properties, frame)
         && compile_member (compiler, schema, object, "unevaluatedItems",
                            &schema->unevaluated_items, frame);
}

/* Assertions ---------------------------------------------------------------- */

static guint
type_from_name (const char *name)
{
  static const struct
  {
    const char *name;
    KhadimSchemaType type;
  } names[] = {
    { "null", KHADIM_SCHEMA_TYPE_NULL },       { "boolean", KHADIM_SCHEMA_TYPE_BOOLEAN },
    { "integer", KHADIM_SCHEMA_TYPE_INTEGER }, { "number", KHADIM_SCHEMA_TYPE_NUMBER },
    { "string", KHADIM_SCHEMA_TYPE_STRING },   { "array", KHADIM_SCHEMA_TYPE_ARRAY },
    { "object", KHADIM_SCHEMA_TYPE_OBJECT },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      if (g_str_equal (names[i].name, name))
        return names[i].type;
    }

  return 0;
}

static guint
read_types (JsonObject *object)
{
  JsonArray *array = khadim_json_get_array (object, "type");
  guint n = array != NULL ? json_array_get_length (array) : 0;
  guint types = type_from_name (khadim_json_get_string (object, "type", ""));

  for (guint i = 0; i < n; i++)
    {
      JsonNode *node = json_array_get_element (array, i);

      if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
        types |= type_from_name (json_node_get_string (node));
    }

  return types;
}

static JsonNode *
read_number (JsonObject *object,
             const char *keyword)
{
  JsonNode *node = khadim_json_get (object, keyword);

  if (node == NULL || !JSON_NODE_HOLDS_VALUE (node))
    return NULL;
  if (json_node_get_value_type (node) == G_TYPE_STRING
      || json_node_get_value_type (node) == G_TYPE_BOOLEAN)
    return NULL;

  return node;
}

/* A bound that is not set, or wrong, is -1; one past the integers never binds
 * from above and always from below. */
static gint64
read_bound (JsonObject *object,
            const char *keyword)
{
  JsonNode *node = read_number (object, keyword);

  if (node == NULL)
    return -1;
  if (json_node_get_value_type (node) == G_TYPE_DOUBLE
      && json_node_get_double (node) >= (double) G_MAXINT64)
    return G_MAXINT64;

  return khadim_json_get_int (object, keyword, -1);
}

static void
read_bounds (KhadimSubschema *schema,
             JsonObject      *object)
{
  schema->min_length = read_bound (object, "minLength");
  schema->max_length = read_bound (object, "maxLength");
  schema->min_items = read_bound (object, "minItems");
  schema->max_items = read_bound (object, "maxItems");
  schema->min_contains = read_bound (object, "minContains");
  schema->max_contains = read_bound (object, "maxContains");
  schema->min_properties = read_bound (object, "minProperties");
  schema->max_properties = read_bound (object, "maxProperties");
}

static void
clear_bounds (KhadimSubschema *schema)
{
  schema->min_length = schema->max_length = -1;
  schema->min_items = schema->max_items = -1;
  schema->min_contains = schema->max_contains = -1;
  schema->min_properties = schema->max_properties = -1;
}

static gboolean
compile_assertions (KhadimSchemaCompiler    *compiler,
                    KhadimSubschema         *schema,
                    JsonObject              *object,
                    const KhadimSchemaFrame *frame)
{
  KhadimSchemaFrame member = { frame, "pattern", 0, frame->depth + 1 };
  const char *pattern;

  read_bounds (schema, object);
  schema->types = read_types (object);
  schema->constant = khadim_json_get (object, "const");
  schema->enumeration = khadim_json_get_array (object, "enum");
  schema->minimum = read_number (object, "minimum");
  schema->maximum = read_number (object, "maximum");
  schema->exclusive_minimum = read_number (object, "exclusiveMinimum");
  schema->exclusive_maximum = read_number (object, "exclusiveMaximum");
  schema->multiple_of = read_number (object, "multipleOf");
  schema->unique_items = khadim_json_get_boolean (object, "uniqueItems", FALSE);
  schema->required = khadim_json_get_array (object, "required");
  if (schema->resource->dialect != KHADIM_SCHEMA_DIALECT_DRAFT_07)
    schema->dependent_required = khadim_json_get_object (object, "dependentRequired");
  else
    schema->min_contains = schema->max_contains = -1;

  pattern = khadim_json_get_string (object, "pattern", NULL);
  if (pattern == NULL)
    return TRUE;
  schema->pattern = compile_pattern (compiler, pattern, &member);

  return schema->pattern != NULL;
}

/* One schema ---------------------------------------------------------------- */

static gboolean
compile_identity (KhadimSchemaCompiler    *compiler,
                  KhadimSubschema         *schema,
                  JsonNode                *node,
                  const KhadimSchemaFrame *frame)
{
  KhadimSchemaResource *resource = schema->resource;
  JsonObject *object = json_node_get_object (node);

  switch (resource->dialect)
    {
    case KHADIM_SCHEMA_DIALECT_DRAFT_07:
      return compiler_add_anchor (compiler, schema, object, "$id", frame)
             && compiler_add_reference (compiler, schema, object, "$ref", frame);

    case KHADIM_SCHEMA_DIALECT_2019_09:
      if (resource->node == node && khadim_json_get_boolean (object, "$recursiveAnchor", FALSE))
        g_hash_table_insert (resource->dynamic_anchors, (gpointer) "", schema);
      return compiler_add_anchor (compiler, schema, object, "$anchor", frame)
             && compiler_add_reference (compiler, schema, object, "$ref", frame)
             && compiler_add_reference (compiler, schema, object, "$recursiveRef", frame);

    case KHADIM_SCHEMA_DIALECT_2020_12:
    default:
      return compiler_add_anchor (compiler, schema, object, "$anchor", frame)
             && compiler_add_anchor (compiler, schema, object, "$dynamicAnchor", frame)
             && compiler_add_reference (compiler, schema, object, "$ref", frame)
             && compiler_add_reference (compiler, schema, object, "$dynamicRef", frame);
    }
}

/* Up to draft-07, $ref stood for all that is beside it. */
static gboolean
is_only_reference (JsonObject         *object,
                   KhadimSchemaDialect dialect)
{
  return dialect == KHADIM_SCHEMA_DIALECT_DRAFT_07
         && khadim_json_get_string (object, "$ref", NULL) != NULL;
}

static gboolean
compile_keywords (KhadimSchemaCompiler    *compiler,
                  KhadimSubschema         *schema,
                  JsonNode                *node,
                  const KhadimSchemaFrame *frame)
{
  JsonObject *object = json_node_get_object (node);
  guint known = schema->resource->vocabularies;

  clear_bounds (schema);
  if (!compile_identity (compiler, schema, node, frame)
      || !compile_definitions (compiler, schema, object, frame))
    return FALSE;
  if (is_only_reference (object, schema->resource->dialect))
    return TRUE;

  schema->format = khadim_json_get_string (object, "format", NULL);
  schema->secret = khadim_json_get_boolean (object, "x-khadim-secret", FALSE);

  return ((known & KHADIM_SCHEMA_VOCABULARY_APPLICATOR) == 0
          || compile_applicators (compiler, schema, object, frame))
         && ((known & KHADIM_SCHEMA_VOCABULARY_UNEVALUATED) == 0
             || compile_unevaluated (compiler, schema, object, frame))
         && ((known & KHADIM_SCHEMA_VOCABULARY_VALIDATION) == 0
             || compile_assertions (compiler, schema, object, frame));
}

static gboolean
node_is_boolean (JsonNode *node)
{
  return JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_BOOLEAN;
}

static gboolean
compiler_may_enter (KhadimSchemaCompiler    *compiler,
                    JsonNode                *node,
                    const KhadimSchemaFrame *frame)
{
  if (frame->depth > KHADIM_JSON_DEPTH_CEILING)
    return compiler_fail_at (compiler, frame, KHADIM_ENGINE_ERROR_LIMIT, "the schema is too deep");
  if (compiler->self->subschemas->len >= KHADIM_SCHEMA_MAX_SUBSCHEMAS)
    return compiler_fail_at (compiler, frame, KHADIM_ENGINE_ERROR_LIMIT,
                             "the schema has too many subschemas");
  if (!JSON_NODE_HOLDS_OBJECT (node) && !node_is_boolean (node))
    return compiler_fail_at (compiler, frame, KHADIM_ENGINE_ERROR_INVALID,
                             "a schema is an object, true or false");

  return TRUE;
}

/* The identity of a schema: which resource it belongs to or opens. */
static gboolean
compiler_identify (KhadimSchemaCompiler    *compiler,
                   JsonNode                *node,
                   KhadimSchemaResource   **inout_resource,
                   const KhadimSchemaFrame *frame)
{
  JsonObject *object = json_node_get_object (node);
  const char *id = khadim_json_get_string (object, "$id", NULL);
  KhadimSchemaDialect dialect = (*inout_resource)->dialect;
  guint vocabularies = (*inout_resource)->vocabularies;

  if (id == NULL && (*inout_resource)->node != node)
    return TRUE;
  if (!_khadim_schema_compiler_read_dialect (compiler, object, &dialect, &vocabularies, frame))
    return FALSE;

  if (dialect == KHADIM_SCHEMA_DIALECT_DRAFT_07 && id != NULL
      && (id[0] == '#' || is_only_reference (object, dialect)))
    id = NULL;
  if (id != NULL && !compiler_read_id (compiler, node, id, inout_resource, frame))
    return FALSE;
  if ((*inout_resource)->node == node)
    {
      (*inout_resource)->dialect = dialect;
      (*inout_resource)->vocabularies = vocabularies;
    }

  return TRUE;
}

KhadimSubschema *
_khadim_schema_compile_node (KhadimSchemaCompiler    *compiler,
                             JsonNode                *node,
                             KhadimSchemaResource    *resource,
                             const KhadimSchemaFrame *frame)
{
  KhadimSubschema *schema = g_hash_table_lookup (compiler->by_node, node);

  if (schema != NULL)
    return schema;
  if (!compiler_may_enter (compiler, node, frame))
    return NULL;
  if (JSON_NODE_HOLDS_OBJECT (node) && !compiler_identify (compiler, node, &resource, frame))
    return NULL;

  schema = g_new0 (KhadimSubschema, 1);
  schema->resource = resource;
  g_ptr_array_add (compiler->self->subschemas, schema);
  g_hash_table_insert (compiler->by_node, node, schema);

  if (node_is_boolean (node))
    {
      schema->is_boolean = TRUE;
      schema->accepts = json_node_get_boolean (node);
      return schema;
    }

  return compile_keywords (compiler, schema, node, frame) ? schema : NULL;
}

/* Entry --------------------------------------------------------------------- */

/* A document of its own: @node becomes owned. */
KhadimSubschema *
_khadim_schema_compiler_add_document (KhadimSchemaCompiler *compiler,
                                      const char           *uri,
                                      JsonNode             *node)
{
  KhadimSchemaFrame frame = { 0, };
  KhadimSchemaResource *resource;

  g_ptr_array_add (compiler->self->documents, node);
  resource = compiler_add_resource (compiler, uri, node, NULL);

  return _khadim_schema_compile_node (compiler, node, resource, &frame);
}

/* Errors: %KHADIM_ENGINE_ERROR_INVALID, %KHADIM_ENGINE_ERROR_LIMIT,
 * %KHADIM_ENGINE_ERROR_UNSUPPORTED. */
gboolean
_khadim_schema_compile (KhadimSchema *self,
                        GError      **error)
{
  KhadimSchemaCompiler compiler = { .self = self, .error = error };
  gboolean compiled;

  compiler.by_node = g_hash_table_new (NULL, NULL);
  compiler.by_uri = g_hash_table_new (g_str_hash, g_str_equal);
  g_queue_init (&compiler.references);

  self->start = _khadim_schema_compiler_add_document (&compiler, KHADIM_SCHEMA_DEFAULT_BASE,
                                                      json_node_ref (self->root));
  compiled = self->start != NULL && _khadim_schema_compiler_resolve (&compiler);

  g_queue_clear_full (&compiler.references, _khadim_schema_reference_free);
  g_hash_table_unref (compiler.by_node);
  g_hash_table_unref (compiler.by_uri);

  return compiled;
}
