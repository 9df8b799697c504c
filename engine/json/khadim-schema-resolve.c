/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* From references to the subschemas they lead to (core, 8.2.3, 9.2). */

#define G_LOG_DOMAIN "khadim-schema-resolve"

#include "config.h"

#include "engine/json/khadim-schema-compile-private.h"

#include "engine/json/khadim-json-path.h"
#include "engine/json/khadim-json.h"

/* Always %FALSE. */
static gboolean
reference_fail (KhadimSchemaCompiler        *compiler,
                const KhadimSchemaReference *reference,
                KhadimEngineError            code,
                const char                  *problem)
{
  return _khadim_schema_compiler_fail (compiler, reference->place, code, problem);
}

/* The resource that has the $id of @node already. */
static KhadimSchemaResource *
compiler_find_by_id (KhadimSchemaCompiler *compiler,
                     JsonNode             *node)
{
  const char *id = khadim_json_get_string (json_node_get_object (node), "$id", "");
  g_autofree char *uri = g_strdup (id);
  g_autofree char *fragment G_GNUC_UNUSED = _khadim_schema_cut_fragment (uri);

  return g_hash_table_lookup (compiler->by_uri, uri);
}

/* The resource at @uri, loading a metaschema if need be. */
static KhadimSchemaResource *
compiler_find_resource (KhadimSchemaCompiler        *compiler,
                        const KhadimSchemaReference *reference,
                        const char                  *uri)
{
  KhadimSchemaResource *resource = g_hash_table_lookup (compiler->by_uri, uri);
  g_autofree char *problem = NULL;
  JsonNode *node;

  if (resource != NULL)
    return resource;

  node = _khadim_schema_load_metaschema (uri);
  if (node != NULL)
    {
      /* It may be there by its other address, with http for https. */
      resource = compiler_find_by_id (compiler, node);
      if (resource != NULL)
        {
          json_node_unref (node);
          return resource;
        }
      if (_khadim_schema_compiler_add_document (compiler, uri, node) == NULL)
        return NULL;
      return g_hash_table_lookup (compiler->by_uri, uri);
    }

  if (g_str_has_prefix (uri, KHADIM_SCHEMA_DEFAULT_BASE))
    problem = g_strdup ("it refers to another document, and the schema has no $id");
  else
    problem = g_strdup_printf ("%s is another document, which is not fetched", uri);
  reference_fail (compiler, reference, KHADIM_ENGINE_ERROR_UNSUPPORTED, problem);

  return NULL;
}

/* The nearest visited schema above @pointer tells the base of one that was not
 * visited, since no known keyword holds it. */
static KhadimSchemaResource *
compiler_find_base (KhadimSchemaCompiler *compiler,
                    KhadimSchemaResource *resource,
                    const char           *pointer)
{
  g_autofree char *above = g_strdup (pointer);
  char *slash;

  while ((slash = strrchr (above, '/')) != NULL)
    {
      JsonNode *node;
      const KhadimSubschema *schema;

      *slash = '\0';
      node = khadim_json_pointer_get (resource->node, above);
      schema = node != NULL ? g_hash_table_lookup (compiler->by_node, node) : NULL;
      if (schema != NULL)
        return schema->resource;
    }

  return resource;
}

static KhadimSubschema *
compiler_find_pointer (KhadimSchemaCompiler        *compiler,
                       const KhadimSchemaReference *reference,
                       KhadimSchemaResource        *resource,
                       const char                  *pointer)
{
  JsonNode *node = khadim_json_pointer_get (resource->node, pointer);
  KhadimSchemaFrame frame = { 0, };
  KhadimSchemaResource *base;
  KhadimSubschema *schema;

  if (node == NULL)
    {
      g_autofree char *problem = g_strdup_printf ("there is no #%s", pointer);

      reference_fail (compiler, reference, KHADIM_ENGINE_ERROR_INVALID, problem);
      return NULL;
    }

  schema = g_hash_table_lookup (compiler->by_node, node);
  if (schema != NULL)
    return schema;

  base = compiler_find_base (compiler, resource, pointer);

  return _khadim_schema_compile_node (compiler, node, base, &frame);
}

static KhadimSubschema *
compiler_find_anchor (KhadimSchemaCompiler        *compiler,
                      const KhadimSchemaReference *reference,
                      KhadimSchemaResource        *resource,
                      const char                  *anchor)
{
  KhadimSubschema *schema = g_hash_table_lookup (resource->anchors, anchor);
  g_autofree char *problem = NULL;

  if (schema != NULL)
    return schema;

  problem = g_strdup_printf ("there is no anchor “%s”", anchor);
  reference_fail (compiler, reference, KHADIM_ENGINE_ERROR_INVALID, problem);

  return NULL;
}

static gboolean
compiler_resolve (KhadimSchemaCompiler        *compiler,
                  const KhadimSchemaReference *reference)
{
  g_autofree char *uri = g_strdup (reference->uri);
  g_autofree char *escaped = _khadim_schema_cut_fragment (uri);
  g_autofree char *fragment = g_uri_unescape_string (escaped, NULL);
  KhadimSchemaResource *resource = compiler_find_resource (compiler, reference, uri);
  KhadimSubschema *target;
  gboolean is_anchor;

  if (resource == NULL)
    return FALSE;
  if (fragment == NULL)
    return reference_fail (compiler, reference, KHADIM_ENGINE_ERROR_INVALID,
                           "the fragment of the reference is not well formed");

  is_anchor = fragment[0] != '\0' && fragment[0] != '/';
  target = is_anchor ? compiler_find_anchor (compiler, reference, resource, fragment)
                     : compiler_find_pointer (compiler, reference, resource, fragment);
  if (target == NULL)
    return FALSE;

  if (!reference->dynamic)
    {
      reference->from->ref = target;
      return TRUE;
    }
  reference->from->dynamic_ref = target;
  /* The key of the table lives as long as the document. "" is the anchor of
   * $recursiveAnchor. */
  g_hash_table_lookup_extended (resource->dynamic_anchors, fragment,
                                (gpointer *) &reference->from->dynamic_anchor, NULL);

  return TRUE;
}

gboolean
_khadim_schema_compiler_resolve (KhadimSchemaCompiler *compiler)
{
  KhadimSchemaReference *reference;
  gboolean resolved = TRUE;

  while (resolved && (reference = g_queue_pop_head (&compiler->references)) != NULL)
    {
      resolved = compiler_resolve (compiler, reference);
      _khadim_schema_reference_free (reference);
    }

  return resolved;
}
