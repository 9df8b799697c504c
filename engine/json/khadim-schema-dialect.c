/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* $schema and $vocabulary: which keywords there are. Tools of others still
 * write draft-07 and 2019-09. */

#define G_LOG_DOMAIN "khadim-schema-dialect"

#include "config.h"

#include "engine/json/khadim-schema-compile-private.h"

#include "engine/json/khadim-json.h"

#define VOCABULARY_PREFIX "https://json-schema.org/draft/2020-12/vocab/"
/* Metaschemas looked for in one document */
#define MAX_OWN_METASCHEMAS 16

static gboolean
fail_at (KhadimSchemaCompiler    *compiler,
         const KhadimSchemaFrame *frame,
         KhadimEngineError        code,
         const char              *problem)
{
  g_autofree char *place = _khadim_schema_frame_to_place (frame);

  return _khadim_schema_compiler_fail (compiler, place, code, problem);
}

static const struct
{
  const char *name;
  guint vocabulary;
} vocabularies[] = {
  { "core", 0 },
  { "applicator", KHADIM_SCHEMA_VOCABULARY_APPLICATOR },
  { "unevaluated", KHADIM_SCHEMA_VOCABULARY_UNEVALUATED },
  { "validation", KHADIM_SCHEMA_VOCABULARY_VALIDATION },
  { "meta-data", 0 },
  { "format-annotation", 0 },
  { "format-assertion", KHADIM_SCHEMA_VOCABULARY_FORMAT_ASSERTION },
  { "content", 0 },
};

static gboolean
vocabulary_lookup (const char *uri,
                   guint      *inout_mask)
{
  if (!g_str_has_prefix (uri, VOCABULARY_PREFIX))
    return FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (vocabularies); i++)
    {
      if (g_str_equal (vocabularies[i].name, uri + strlen (VOCABULARY_PREFIX)))
        {
          *inout_mask |= vocabularies[i].vocabulary;
          return TRUE;
        }
    }

  return FALSE;
}

/* $vocabulary (core, 8.1.2) of the metaschema @meta. */
static gboolean
read_vocabularies (KhadimSchemaCompiler    *compiler,
                            JsonObject              *meta,
                            guint                   *out_vocabularies,
                            const KhadimSchemaFrame *frame)
{
  JsonObject *members = khadim_json_get_object (meta, "$vocabulary");
  JsonObjectIter iter;
  const char *uri;
  guint mask = 0;

  if (members == NULL)
    return TRUE;

  json_object_iter_init_ordered (&iter, members);
  while (json_object_iter_next_ordered (&iter, &uri, NULL))
    {
      g_autofree char *problem = NULL;

      if (vocabulary_lookup (uri, &mask) || !khadim_json_get_boolean (members, uri, TRUE))
        continue;
      problem = g_strdup_printf ("the vocabulary %s is not supported", uri);
      return fail_at (compiler, frame, KHADIM_ENGINE_ERROR_UNSUPPORTED, problem);
    }
  *out_vocabularies = mask;

  return TRUE;
}

/* A schema with @uri for its $id anywhere in the document. */
static JsonObject *
find_by_id (JsonNode   *node,
            const char *uri)
{
  JsonObject *found = NULL;

  if (JSON_NODE_HOLDS_OBJECT (node))
    {
      JsonObject *object = json_node_get_object (node);
      g_autoptr(GList) values = json_object_get_values (object);

      if (g_str_equal (khadim_json_get_string (object, "$id", ""), uri))
        return object;
      for (GList *l = values; l != NULL && found == NULL; l = l->next)
        found = find_by_id (l->data, uri);
    }
  else if (JSON_NODE_HOLDS_ARRAY (node))
    {
      JsonArray *array = json_node_get_array (node);

      for (guint i = 0; i < json_array_get_length (array) && found == NULL; i++)
        found = find_by_id (json_array_get_element (array, i), uri);
    }

  return found;
}

/* The dialect whose metaschema is at @uri, with or without an empty fragment.
 * draft-06 lacks nothing of draft-07 but if, then and else. */
gboolean
_khadim_schema_dialect_lookup (const char          *uri,
                               KhadimSchemaDialect *out_dialect)
{
  static const struct
  {
    const char *path;
    KhadimSchemaDialect dialect;
  } dialects[] = {
    { "json-schema.org/draft/2020-12/schema", KHADIM_SCHEMA_DIALECT_2020_12 },
    { "json-schema.org/draft/2019-09/schema", KHADIM_SCHEMA_DIALECT_2019_09 },
    { "json-schema.org/draft-07/schema", KHADIM_SCHEMA_DIALECT_DRAFT_07 },
    { "json-schema.org/draft-06/schema", KHADIM_SCHEMA_DIALECT_DRAFT_07 },
  };
  const char *path = strstr (uri, "://");

  if (path == NULL)
    return FALSE;

  path += strlen ("://");
  for (guint i = 0; i < G_N_ELEMENTS (dialects); i++)
    {
      gsize length = strlen (dialects[i].path);

      if (strncmp (path, dialects[i].path, length) == 0
          && (path[length] == '\0' || g_str_equal (path + length, "#")))
        {
          *out_dialect = dialects[i].dialect;
          return TRUE;
        }
    }

  return FALSE;
}

/* $schema: one of the dialects, or a metaschema that the document brings
 * along. Without it, both stay as they are. */
gboolean
_khadim_schema_compiler_read_dialect (KhadimSchemaCompiler    *compiler,
                                      JsonObject              *object,
                                      KhadimSchemaDialect     *inout_dialect,
                                      guint                   *inout_vocabularies,
                                      const KhadimSchemaFrame *frame)
{
  const char *uri = khadim_json_get_string (object, "$schema", NULL);
  g_autofree char *problem = NULL;
  JsonObject *meta;

  if (uri == NULL)
    return TRUE;
  if (_khadim_schema_dialect_lookup (uri, inout_dialect))
    {
      *inout_vocabularies = KHADIM_SCHEMA_VOCABULARIES_DEFAULT;
      if (*inout_dialect == KHADIM_SCHEMA_DIALECT_DRAFT_07)
        *inout_vocabularies &= ~(guint) KHADIM_SCHEMA_VOCABULARY_UNEVALUATED;
      return TRUE;
    }

  if (++compiler->own_metaschemas > MAX_OWN_METASCHEMAS)
    return fail_at (compiler, frame, KHADIM_ENGINE_ERROR_LIMIT,
                    "the schema names too many metaschemas of its own");
  meta = find_by_id (compiler->self->root, uri);
  if (meta != NULL)
    {
      *inout_dialect = KHADIM_SCHEMA_DIALECT_2020_12;
      return read_vocabularies (compiler, meta, inout_vocabularies, frame);
    }

  problem = g_strdup_printf ("the dialect %s is not supported, only draft 2020-12, 2019-09, 07 "
                             "and 06", uri);

  return fail_at (compiler, frame, KHADIM_ENGINE_ERROR_UNSUPPORTED, problem);
}
