/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Keywords that apply subschemas to the same value, and the order of all. */

#define G_LOG_DOMAIN "khadim-schema-evaluate"

#include "config.h"

#include "engine/json/khadim-schema-private.h"

#include "engine/json/khadim-json.h"

/* What stands before a value that is known only at run time */
#define TEMPLATE_MARK "{{"

/* What was looked at -------------------------------------------------------- */

static void
seen_clear (KhadimSchemaSeen *seen)
{
  g_clear_pointer (&seen->names, g_hash_table_unref);
  g_clear_pointer (&seen->indexes, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KhadimSchemaSeen, seen_clear)

void
_khadim_schema_seen_add_name (KhadimSchemaSeen *seen,
                              const char       *name)
{
  if (seen->names == NULL)
    seen->names = g_hash_table_new (g_str_hash, g_str_equal);
  g_hash_table_add (seen->names, (gpointer) name);
}

void
_khadim_schema_seen_add_index (KhadimSchemaSeen *seen,
                               guint             index)
{
  if (seen->indexes == NULL)
    seen->indexes = g_hash_table_new (NULL, NULL);
  g_hash_table_add (seen->indexes, GUINT_TO_POINTER (index));
}

static void
merge_set (GHashTable **into,
           GHashTable  *from,
           GHashFunc    hash,
           GEqualFunc   equal)
{
  GHashTableIter iter;
  gpointer key;

  if (from == NULL)
    return;
  if (*into == NULL)
    *into = g_hash_table_new (hash, equal);

  g_hash_table_iter_init (&iter, from);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_hash_table_add (*into, key);
}

static guint
set_size (GHashTable *set)
{
  return set != NULL ? g_hash_table_size (set) : 0;
}

static gboolean
seen_merge (KhadimSchemaRun         *run,
            const KhadimSchemaFrame *frame,
            KhadimSchemaSeen        *into,
            const KhadimSchemaSeen  *from)
{
  if (into == NULL)
    return TRUE;

  into->all |= from->all;
  into->prefix = MAX (into->prefix, from->prefix);
  merge_set (&into->names, from->names, g_str_hash, g_str_equal);
  merge_set (&into->indexes, from->indexes, NULL, NULL);

  return _khadim_schema_run_spend (run, set_size (from->names) + set_size (from->indexes), frame);
}

/* Values with a meaning of ours --------------------------------------------- */

gboolean
_khadim_schema_is_template (const KhadimSchemaRun *run,
                            JsonNode              *instance)
{
  const char *text;

  if ((run->flags & KHADIM_SCHEMA_FLAGS_TEMPLATES) == 0 || run->literal)
    return FALSE;
  if (!JSON_NODE_HOLDS_VALUE (instance) || json_node_get_value_type (instance) != G_TYPE_STRING)
    return FALSE;

  text = json_node_get_string (instance);

  return text != NULL && strstr (text, TEMPLATE_MARK) != NULL;
}

/* `name/field`, both there. */
static gboolean
is_secret_name (const char *name)
{
  const char *slash = name != NULL ? strchr (name, '/') : NULL;

  return slash != NULL && slash != name && slash[1] != '\0' && strchr (slash + 1, '/') == NULL;
}

/* A format with `%s` once and no other directive. */
static gboolean
is_secret_format (const char *format)
{
  guint n = 0;

  for (const char *p = format; *p != '\0'; p++)
    {
      if (*p != '%')
        continue;
      p++;
      if (*p == 's')
        n++;
      else if (*p != '%')
        return FALSE;
    }

  return n == 1;
}

/* {"secret": "name/field"}, perhaps with a format, and nothing else. */
static gboolean
is_secret_reference (JsonNode *instance)
{
  JsonObject *object;
  const char *format;
  guint members;

  if (!JSON_NODE_HOLDS_OBJECT (instance))
    return FALSE;

  object = json_node_get_object (instance);
  members = json_object_get_size (object);
  if (!is_secret_name (khadim_json_get_string (object, "secret", NULL)))
    return FALSE;
  if (members == 1)
    return TRUE;

  format = khadim_json_get_string (object, "format", NULL);

  return members == 2 && format != NULL && is_secret_format (format);
}

/* Applicators in place ------------------------------------------------------ */

static gboolean
evaluate_quietly (KhadimSchemaRun         *run,
                  const KhadimSubschema   *schema,
                  JsonNode                *instance,
                  const KhadimSchemaFrame *frame,
                  const KhadimSchemaScope *scope,
                  KhadimSchemaSeen        *seen)
{
  gboolean accepted;

  run->quiet++;
  accepted = _khadim_schema_evaluate (run, schema, instance, frame, scope, seen);
  run->quiet--;

  return accepted;
}

/* One branch, whose notes count only if it accepts. */
static gboolean
evaluate_branch (KhadimSchemaRun         *run,
                 const KhadimSubschema   *schema,
                 JsonNode                *instance,
                 const KhadimSchemaFrame *frame,
                 const KhadimSchemaScope *scope,
                 KhadimSchemaSeen        *seen)
{
  g_auto(KhadimSchemaSeen) own = { 0, };

  return _khadim_schema_evaluate (run, schema, instance, frame, scope,
                                  seen != NULL ? &own : NULL)
         && seen_merge (run, frame, seen, &own);
}

/* $dynamicRef (core, 8.2.3.2): the outermost schema on the way here that has
 * the anchor. */
static const KhadimSubschema *
resolve_dynamic (const KhadimSubschema   *schema,
                 const KhadimSchemaScope *scope)
{
  const KhadimSubschema *target = schema->dynamic_ref;

  if (schema->dynamic_anchor == NULL)
    return target;

  for (; scope != NULL; scope = scope->parent)
    {
      const KhadimSubschema *found = g_hash_table_lookup (scope->resource->dynamic_anchors,
                                                          schema->dynamic_anchor);

      if (found != NULL)
        target = found;
    }

  return target;
}

static gboolean
check_references (KhadimSchemaRun         *run,
                  const KhadimSubschema   *schema,
                  JsonNode                *instance,
                  const KhadimSchemaFrame *frame,
                  const KhadimSchemaScope *scope,
                  KhadimSchemaSeen        *seen)
{
  if (schema->ref != NULL
      && !_khadim_schema_evaluate (run, schema->ref, instance, frame, scope, seen))
    return FALSE;
  if (schema->dynamic_ref != NULL
      && !_khadim_schema_evaluate (run, resolve_dynamic (schema, scope), instance, frame, scope,
                                   seen))
    return FALSE;

  for (guint i = 0; schema->all_of != NULL && i < schema->all_of->len; i++)
    {
      if (!_khadim_schema_evaluate (run, g_ptr_array_index (schema->all_of, i), instance, frame,
                                    scope, seen))
        return FALSE;
    }

  return TRUE;
}

/* Runs the branches, until @enough accept; gathers why others refuse. */
static guint
count_branches (KhadimSchemaRun         *run,
                GPtrArray               *branches,
                guint                    enough,
                JsonNode                *instance,
                const KhadimSchemaFrame *frame,
                const KhadimSchemaScope *scope,
                KhadimSchemaSeen        *seen,
                GPtrArray               *failures)
{
  guint accepted = 0;

  for (guint i = 0; i < branches->len && accepted < enough && run->abort_error == NULL; i++)
    {
      KhadimSchemaFailure *failure;

      if (evaluate_branch (run, g_ptr_array_index (branches, i), instance, frame, scope, seen))
        accepted++;
      else if (run->abort_error == NULL
               && (failure = _khadim_schema_run_steal_failure (run)) != NULL)
        g_ptr_array_add (failures, failure);
    }

  return accepted;
}

static gboolean
fail_branches (KhadimSchemaRun         *run,
               const KhadimSchemaFrame *frame,
               GPtrArray               *failures)
{
  if (run->abort_error != NULL)
    return FALSE;
  if (failures->len == 0)
    return _khadim_schema_run_fail (run, frame, "nothing is allowed here");

  g_clear_pointer (&run->failure, _khadim_schema_failure_free);
  run->failure = _khadim_schema_failure_closest (failures, frame->depth);

  return FALSE;
}

static gboolean
check_any_of (KhadimSchemaRun         *run,
              const KhadimSubschema   *schema,
              JsonNode                *instance,
              const KhadimSchemaFrame *frame,
              const KhadimSchemaScope *scope,
              KhadimSchemaSeen        *seen)
{
  g_autoptr(GPtrArray) failures = NULL;
  guint accepted = 0;

  if (schema->any_of == NULL)
    return TRUE;

  failures = g_ptr_array_new_with_free_func ((GDestroyNotify) _khadim_schema_failure_free);
  /* Every branch that accepts has notes to gather, if they are wanted. */
  accepted = count_branches (run, schema->any_of, seen != NULL ? G_MAXUINT : 1, instance, frame,
                             scope, seen, failures);
  if (accepted > 0 && run->abort_error == NULL)
    return TRUE;

  return fail_branches (run, frame, failures);
}

static gboolean
check_one_of (KhadimSchemaRun         *run,
              const KhadimSubschema   *schema,
              JsonNode                *instance,
              const KhadimSchemaFrame *frame,
              const KhadimSchemaScope *scope,
              KhadimSchemaSeen        *seen)
{
  g_autoptr(GPtrArray) failures = NULL;
  guint templates = run->templates;
  guint accepted;

  if (schema->one_of == NULL)
    return TRUE;

  failures = g_ptr_array_new_with_free_func ((GDestroyNotify) _khadim_schema_failure_free);
  accepted = count_branches (run, schema->one_of, G_MAXUINT, instance, frame, scope, seen,
                             failures);
  if (run->abort_error != NULL || accepted == 0)
    return fail_branches (run, frame, failures);
  /* With a value known only later, which one it is is too. */
  if (accepted > 1 && run->templates == templates)
    return _khadim_schema_run_fail (run, frame,
                                    "fits %u of the forms that are allowed here, not just one",
                                    accepted);

  return TRUE;
}

static gboolean
check_not (KhadimSchemaRun         *run,
           const KhadimSubschema   *schema,
           JsonNode                *instance,
           const KhadimSchemaFrame *frame,
           const KhadimSchemaScope *scope)
{
  guint templates = run->templates;
  gboolean accepted;

  if (schema->not_schema == NULL)
    return TRUE;

  accepted = evaluate_quietly (run, schema->not_schema, instance, frame, scope, NULL);
  if (run->abort_error != NULL)
    return FALSE;
  if (accepted && run->templates == templates)
    {
      g_autofree char *found = _khadim_schema_describe (instance);

      return _khadim_schema_run_fail (run, frame, "%s is not allowed here", found);
    }

  return TRUE;
}

/* A condition that hangs on a value known only later: one side must fit. */
static gboolean
check_either (KhadimSchemaRun         *run,
              const KhadimSubschema   *schema,
              JsonNode                *instance,
              const KhadimSchemaFrame *frame,
              const KhadimSchemaScope *scope,
              KhadimSchemaSeen        *seen)
{
  gboolean first;
  gboolean second;

  if (schema->then_schema == NULL || schema->else_schema == NULL)
    return TRUE;

  run->quiet++;
  first = evaluate_branch (run, schema->then_schema, instance, frame, scope, seen);
  run->quiet--;
  second = evaluate_branch (run, schema->else_schema, instance, frame, scope, seen);

  return run->abort_error == NULL && (first || second);
}

static gboolean
check_condition (KhadimSchemaRun         *run,
                 const KhadimSubschema   *schema,
                 JsonNode                *instance,
                 const KhadimSchemaFrame *frame,
                 const KhadimSchemaScope *scope,
                 KhadimSchemaSeen        *seen)
{
  guint templates = run->templates;
  const KhadimSubschema *next;
  gboolean accepted;

  if (schema->if_schema == NULL)
    return TRUE;

  run->quiet++;
  accepted = evaluate_branch (run, schema->if_schema, instance, frame, scope, seen);
  run->quiet--;
  if (run->abort_error != NULL)
    return FALSE;
  if (accepted && run->templates != templates)
    return check_either (run, schema, instance, frame, scope, seen);

  next = accepted ? schema->then_schema : schema->else_schema;

  return next == NULL || _khadim_schema_evaluate (run, next, instance, frame, scope, seen);
}

/* All keywords -------------------------------------------------------------- */

static gboolean
check_contents (KhadimSchemaRun         *run,
                const KhadimSubschema   *schema,
                JsonNode                *instance,
                const KhadimSchemaFrame *frame,
                const KhadimSchemaScope *scope,
                KhadimSchemaSeen        *seen)
{
  if (JSON_NODE_HOLDS_OBJECT (instance))
    return _khadim_schema_check_object (run, schema, instance, frame, scope, seen);
  if (JSON_NODE_HOLDS_ARRAY (instance))
    return _khadim_schema_check_array (run, schema, json_node_get_array (instance), frame,
                                       scope, seen);

  return _khadim_schema_check_scalar (run, schema, instance, frame);
}

static gboolean
check_all (KhadimSchemaRun         *run,
           const KhadimSubschema   *schema,
           JsonNode                *instance,
           const KhadimSchemaFrame *frame,
           const KhadimSchemaScope *scope,
           KhadimSchemaSeen        *seen)
{
  return _khadim_schema_check_value (run, schema, instance, frame)
         && check_contents (run, schema, instance, frame, scope, seen)
         && check_references (run, schema, instance, frame, scope, seen)
         && check_any_of (run, schema, instance, frame, scope, seen)
         && check_one_of (run, schema, instance, frame, scope, seen)
         && check_not (run, schema, instance, frame, scope)
         && check_condition (run, schema, instance, frame, scope, seen)
         && _khadim_schema_check_unevaluated_members (run, schema, instance, frame, scope, seen);
}

static gboolean
schema_has_unevaluated (const KhadimSubschema *schema)
{
  return schema->unevaluated_items != NULL || schema->unevaluated_properties != NULL;
}

static gboolean
check_keywords (KhadimSchemaRun         *run,
                const KhadimSubschema   *schema,
                JsonNode                *instance,
                const KhadimSchemaFrame *frame,
                const KhadimSchemaScope *scope,
                KhadimSchemaSeen        *seen)
{
  KhadimSchemaScope own_scope = { scope, schema->resource };
  g_auto(KhadimSchemaSeen) own = { 0, };

  if (scope == NULL || scope->resource != schema->resource)
    scope = &own_scope;
  if (!schema_has_unevaluated (schema))
    return check_all (run, schema, instance, frame, scope, seen);

  /* unevaluated* sees what stands in its own schema only, not its cousins. */
  return check_all (run, schema, instance, frame, scope, &own)
         && seen_merge (run, frame, seen, &own);
}

/* Whether @instance fits @schema; if not, why is in @run, unless it is quiet.
 * @seen gathers what was looked at, for unevaluatedItems and -Properties. */
gboolean
_khadim_schema_evaluate (KhadimSchemaRun         *run,
                         const KhadimSubschema   *schema,
                         JsonNode                *instance,
                         const KhadimSchemaFrame *frame,
                         const KhadimSchemaScope *scope,
                         KhadimSchemaSeen        *seen)
{
  gboolean accepted;

  if (!_khadim_schema_run_spend (run, 1, frame))
    return FALSE;
  if (schema->is_boolean)
    return schema->accepts || _khadim_schema_run_fail (run, frame, "nothing is allowed here");
  if (_khadim_schema_is_template (run, instance))
    {
      run->templates++;
      return TRUE;
    }
  if (schema->secret && is_secret_reference (instance))
    {
      if (seen != NULL)
        seen->all = TRUE;
      return TRUE;
    }
  if (run->nesting >= KHADIM_SCHEMA_MAX_NESTING)
    return _khadim_schema_run_abort (run, frame, KHADIM_ENGINE_ERROR_LIMIT,
                                     "the schema goes too deep, or refers to itself without end");

  run->nesting++;
  accepted = check_keywords (run, schema, instance, frame, scope, seen);
  run->nesting--;

  return accepted && run->abort_error == NULL;
}

/* For a member or an element: what it looked at is its own business. */
gboolean
_khadim_schema_evaluate_child (KhadimSchemaRun         *run,
                               const KhadimSubschema   *schema,
                               JsonNode                *instance,
                               const KhadimSchemaFrame *frame,
                               const KhadimSchemaScope *scope)
{
  return _khadim_schema_evaluate (run, schema, instance, frame, scope, NULL);
}
