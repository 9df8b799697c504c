/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-schema"

#include "config.h"

#include "engine/json/khadim-schema.h"

#include <gio/gio.h>

#include "engine/json/khadim-json.h"
#include "engine/json/khadim-schema-private.h"
#include "engine/json/khadim-schema-resources.h"

#define METASCHEMA_HOST "://json-schema.org/"
#define METASCHEMA_FOLDER "/org/khadim/json-schema/"

/* KhadimSchema: a compiled JSON Schema. Nothing of it changes once it is made,
 * so any number of threads can check with it. */

G_DEFINE_BOXED_TYPE (KhadimSchema, khadim_schema, khadim_schema_ref, khadim_schema_unref)

/* The metaschema at @uri from our own resources; %NULL if there is none. */
JsonNode *
_khadim_schema_load_metaschema (const char *uri)
{
  g_autofree char *path = NULL;
  g_autoptr(GBytes) bytes = NULL;
  JsonNode *node;
  gsize length;
  const char *text;

  /* draft-07 has http for its own address, later ones https; people mix them. */
  if (!g_str_has_prefix (uri, "http" METASCHEMA_HOST)
      && !g_str_has_prefix (uri, "https" METASCHEMA_HOST))
    return NULL;

  path = g_strconcat (METASCHEMA_FOLDER, strstr (uri, METASCHEMA_HOST) + strlen (METASCHEMA_HOST),
                      NULL);
  bytes = g_resource_lookup_data (_khadim_schema_get_resource (), path,
                                  G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  if (bytes == NULL)
    return NULL;

  text = g_bytes_get_data (bytes, &length);
  node = khadim_json_parse (text, (gssize) length, NULL, NULL);
  if (node != NULL)
    json_node_seal (node);

  return node;
}

static KhadimSchema *
schema_compile (JsonNode *schema,
                GError  **error)
{
  g_autoptr(KhadimSchema) self = g_new0 (KhadimSchema, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->root = khadim_json_copy (schema);
  json_node_seal (self->root);
  self->documents = g_ptr_array_new_with_free_func ((GDestroyNotify) json_node_unref);
  self->resources = g_ptr_array_new_with_free_func (_khadim_schema_resource_free);
  self->subschemas = g_ptr_array_new_with_free_func (_khadim_subschema_free);

  if (!_khadim_schema_compile (self, error))
    return NULL;

  return g_steal_pointer (&self);
}

/* The metaschema that schemas are checked with; it is right, so it is there. */
static KhadimSchema *
get_metaschema (KhadimSchemaDialect dialect)
{
  static const char *const uris[KHADIM_SCHEMA_N_DIALECTS] = {
    [KHADIM_SCHEMA_DIALECT_2020_12] = "https://json-schema.org/draft/2020-12/schema",
    [KHADIM_SCHEMA_DIALECT_2019_09] = "https://json-schema.org/draft/2019-09/schema",
    [KHADIM_SCHEMA_DIALECT_DRAFT_07] = "http://json-schema.org/draft-07/schema",
  };
  static gsize once[KHADIM_SCHEMA_N_DIALECTS];

  if (g_once_init_enter (&once[dialect]))
    {
      g_autoptr(JsonNode) node = _khadim_schema_load_metaschema (uris[dialect]);
      KhadimSchema *metaschema = schema_compile (node, NULL);

      g_assert (metaschema != NULL);
      g_once_init_leave (&once[dialect], (gsize) metaschema);
    }

  return (KhadimSchema *) once[dialect];
}

/* A schema of an unknown dialect is checked only by what it compiles to. */
static gboolean
check_by_metaschema (JsonNode *schema,
                     GError  **error)
{
  KhadimSchemaDialect dialect = KHADIM_SCHEMA_DIALECT_2020_12;
  const char *uri = NULL;

  if (JSON_NODE_HOLDS_OBJECT (schema))
    uri = khadim_json_get_string (json_node_get_object (schema), "$schema", NULL);
  if (uri != NULL && !_khadim_schema_dialect_lookup (uri, &dialect))
    return TRUE;
  if (khadim_schema_check (get_metaschema (dialect), schema, KHADIM_SCHEMA_FLAGS_NONE, NULL,
                           error))
    return TRUE;

  g_prefix_error (error, "the schema is not one: ");

  return FALSE;
}

/**
 * khadim_schema_new:
 * @schema: (transfer none): a JSON Schema, which is copied
 * @error: return location
 *
 * Compiles a schema of JSON Schema draft 2020-12
 * (https://json-schema.org/draft/2020-12): every keyword of its core, applicator,
 * unevaluated and validation vocabularies; `format` is checked on request, and
 * what describes content is only noted. `x-khadim-secret: true` lets a place
 * hold `{"secret": "name/field"}`, with `"format"` beside it if wanted.
 *
 * A `$schema` of draft 2019-09 or draft-07 is read as that draft (draft-06 as
 * draft-07), as tools of others still have it.
 *
 * Nothing is fetched: references lead to places in @schema or to the
 * metaschemas of the drafts. Regular expressions are those of ECMA-262.
 *
 * Errors: %KHADIM_ENGINE_ERROR_INVALID for what is no schema,
 * %KHADIM_ENGINE_ERROR_UNSUPPORTED for another dialect, an unknown vocabulary
 * or a reference to another document, %KHADIM_ENGINE_ERROR_LIMIT.
 *
 * Any thread.
 *
 * Returns: (transfer full): the schema, or %NULL with @error set
 */
KhadimSchema *
khadim_schema_new (JsonNode *schema,
                   GError  **error)
{
  g_return_val_if_fail (schema != NULL, NULL);

  if (!check_by_metaschema (schema, error))
    return NULL;

  return schema_compile (schema, error);
}

/**
 * khadim_schema_new_from_string:
 * @text: a JSON Schema as JSON text
 * @error: return location
 *
 * As [ctor@Khadim.Schema.new], from text. Any thread.
 *
 * Errors: those of [ctor@Khadim.Schema.new] and [func@Khadim.json_parse].
 *
 * Returns: (transfer full): the schema, or %NULL with @error set
 */
KhadimSchema *
khadim_schema_new_from_string (const char *text,
                               GError    **error)
{
  g_autoptr(JsonNode) node = NULL;

  g_return_val_if_fail (text != NULL, NULL);

  node = khadim_json_parse (text, -1, NULL, error);

  return node != NULL ? khadim_schema_new (node, error) : NULL;
}

/**
 * khadim_schema_ref:
 * @self: a schema
 *
 * Any thread.
 *
 * Returns: (transfer full): @self
 */
KhadimSchema *
khadim_schema_ref (KhadimSchema *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

/**
 * khadim_schema_unref:
 * @self: (transfer full): a schema
 *
 * Any thread.
 */
void
khadim_schema_unref (KhadimSchema *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_ptr_array_unref (self->subschemas);
  g_ptr_array_unref (self->resources);
  g_ptr_array_unref (self->documents);
  json_node_unref (self->root);
  g_free (self);
}

/**
 * khadim_schema_get_root:
 * @self: a schema
 *
 * Any thread.
 *
 * Returns: (transfer none): the schema as JSON; sealed
 */
JsonNode *
khadim_schema_get_root (KhadimSchema *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->root;
}

static void
run_report (KhadimSchemaRun *run,
            char           **out_place,
            GError         **error)
{
  g_autofree char *text = NULL;
  const char *place = run->failure->place;

  if (out_place != NULL)
    *out_place = g_strdup (place);

  if (run->abort_error != NULL)
    {
      g_propagate_prefixed_error (error, g_steal_pointer (&run->abort_error), "%s%s",
                                  place, place[0] != '\0' ? ": " : "");
      return;
    }

  text = _khadim_schema_failure_to_text (run->failure);
  g_set_error_literal (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID, text);
}

/**
 * khadim_schema_check:
 * @self: a schema
 * @instance: the value to check
 * @flags: how
 * @out_place: (out) (optional) (transfer full): where the fault is, such as
 *   `steps[3].target`, "" for @instance itself; untouched if it fits
 * @error: return location
 *
 * Whether @instance fits the schema. The message names the place, what was
 * expected and what was found; where several forms are allowed, it is about the
 * one that came nearest; for an unknown name it says which was likely meant.
 *
 * The work is bounded by %KHADIM_SCHEMA_MAX_STEPS.
 *
 * Errors: %KHADIM_ENGINE_ERROR_INVALID if it does not fit, and
 * %KHADIM_ENGINE_ERROR_LIMIT if that cannot be told within the limits.
 *
 * Any thread; @instance must not change meanwhile.
 *
 * Returns: whether it fits
 */
gboolean
khadim_schema_check (KhadimSchema     *self,
                     JsonNode         *instance,
                     KhadimSchemaFlags flags,
                     char            **out_place,
                     GError          **error)
{
  KhadimSchemaRun run = { .flags = flags, .steps_left = KHADIM_SCHEMA_MAX_STEPS };
  KhadimSchemaFrame frame = { 0, };
  gboolean accepted;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (instance != NULL, FALSE);

  accepted = _khadim_schema_evaluate (&run, self->start, instance, &frame, NULL, NULL);
  if (!accepted)
    run_report (&run, out_place, error);

  _khadim_schema_failure_free (run.failure);
  g_clear_error (&run.abort_error);

  return accepted;
}
