/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/json/khadim-schema.h"

G_BEGIN_DECLS

/* Types of values, as a mask ------------------------------------------------ */

typedef enum {
  KHADIM_SCHEMA_TYPE_NULL = 1 << 0,
  KHADIM_SCHEMA_TYPE_BOOLEAN = 1 << 1,
  KHADIM_SCHEMA_TYPE_INTEGER = 1 << 2,
  KHADIM_SCHEMA_TYPE_NUMBER = 1 << 3,
  KHADIM_SCHEMA_TYPE_STRING = 1 << 4,
  KHADIM_SCHEMA_TYPE_ARRAY = 1 << 5,
  KHADIM_SCHEMA_TYPE_OBJECT = 1 << 6,
} KhadimSchemaType;

typedef enum {
  KHADIM_SCHEMA_DIALECT_2020_12,
  KHADIM_SCHEMA_DIALECT_2019_09,
  KHADIM_SCHEMA_DIALECT_DRAFT_07,
} KhadimSchemaDialect;

#define KHADIM_SCHEMA_N_DIALECTS 3

typedef enum {
  KHADIM_SCHEMA_VOCABULARY_APPLICATOR = 1 << 0,
  KHADIM_SCHEMA_VOCABULARY_UNEVALUATED = 1 << 1,
  KHADIM_SCHEMA_VOCABULARY_VALIDATION = 1 << 2,
  KHADIM_SCHEMA_VOCABULARY_FORMAT_ASSERTION = 1 << 3,
} KhadimSchemaVocabulary;

#define KHADIM_SCHEMA_VOCABULARIES_DEFAULT \
  (KHADIM_SCHEMA_VOCABULARY_APPLICATOR | KHADIM_SCHEMA_VOCABULARY_UNEVALUATED \
   | KHADIM_SCHEMA_VOCABULARY_VALIDATION)

/* The way down to a value; lives on the stack. */
typedef struct _KhadimSchemaFrame KhadimSchemaFrame;
struct _KhadimSchemaFrame
{
  const KhadimSchemaFrame *parent;
  /* NULL for an element of an array */
  const char *key;
  guint index;
  guint depth;
};

char *_khadim_schema_frame_to_place (const KhadimSchemaFrame *frame);

/* A compiled schema --------------------------------------------------------- */

typedef struct _KhadimSubschema KhadimSubschema;
typedef struct _KhadimSchemaPattern KhadimSchemaPattern;

/* What an $id opens: a base address with its anchors. */
typedef struct {
  char *uri;
  JsonNode *node;
  KhadimSchemaDialect dialect;
  guint vocabularies;
  GHashTable *anchors;
  GHashTable *dynamic_anchors;
} KhadimSchemaResource;

typedef struct {
  const char *name;
  KhadimSubschema *subschema;
} KhadimSchemaProperty;

typedef struct {
  KhadimSchemaPattern *pattern;
  KhadimSubschema *subschema;
} KhadimSchemaPatternProperty;

/* One object or boolean of a schema. Names and nodes are borrowed from the
 * schema's own copy of its documents; -1 stands for a bound that is not set. */
struct _KhadimSubschema
{
  KhadimSchemaResource *resource;
  gboolean is_boolean;
  gboolean accepts;

  KhadimSubschema *ref;
  KhadimSubschema *dynamic_ref;
  const char *dynamic_anchor;

  GPtrArray *all_of;
  GPtrArray *any_of;
  GPtrArray *one_of;
  KhadimSubschema *not_schema;
  KhadimSubschema *if_schema;
  KhadimSubschema *then_schema;
  KhadimSubschema *else_schema;

  GArray *properties;
  GHashTable *properties_by_name;
  GArray *pattern_properties;
  GArray *dependent_schemas;
  KhadimSubschema *additional_properties;
  KhadimSubschema *property_names;
  KhadimSubschema *unevaluated_properties;
  JsonArray *required;
  JsonObject *dependent_required;
  gint64 min_properties;
  gint64 max_properties;

  GPtrArray *prefix_items;
  KhadimSubschema *items;
  KhadimSubschema *contains;
  KhadimSubschema *unevaluated_items;
  gint64 min_items;
  gint64 max_items;
  gint64 min_contains;
  gint64 max_contains;
  gboolean unique_items;

  guint types;
  JsonNode *constant;
  JsonArray *enumeration;
  JsonNode *minimum;
  JsonNode *maximum;
  JsonNode *exclusive_minimum;
  JsonNode *exclusive_maximum;
  JsonNode *multiple_of;
  gint64 min_length;
  gint64 max_length;
  KhadimSchemaPattern *pattern;
  const char *format;
  gboolean secret;
};

struct _KhadimSchema
{
  gatomicrefcount ref_count;

  /* Owned */
  JsonNode *root;
  GPtrArray *documents;
  GPtrArray *resources;
  GPtrArray *subschemas;

  /* Borrowed from subschemas */
  KhadimSubschema *start;
};

gboolean        _khadim_schema_compile           (KhadimSchema        *self,
                                                  GError             **error);
gboolean        _khadim_schema_dialect_lookup    (const char          *uri,
                                                  KhadimSchemaDialect *out_dialect);
JsonNode       *_khadim_schema_load_metaschema   (const char          *uri);
void            _khadim_schema_resource_free     (gpointer             data);
void            _khadim_subschema_free           (gpointer             data);

/* A check ------------------------------------------------------------------- */

typedef struct _KhadimSchemaScope KhadimSchemaScope;
struct _KhadimSchemaScope
{
  const KhadimSchemaScope *parent;
  const KhadimSchemaResource *resource;
};

/* Why a value does not fit. @types and @values say what would have fit, if it
 * is that simple; else @problem is the whole sentence. */
typedef struct {
  char *place;
  guint depth;
  guint types;
  GPtrArray *values;
  char *problem;
  char *found;
  const char *word;
} KhadimSchemaFailure;

typedef struct {
  KhadimSchemaFlags flags;
  guint64 steps_left;
  guint nesting;
  /* Failures are not worth describing */
  guint quiet;
  /* The value is a member's name, never a template */
  gboolean literal;
  /* Strings so far that stood for a value known later */
  guint templates;
  KhadimSchemaFailure *failure;
  GError *abort_error;
} KhadimSchemaRun;

/* Which members or elements of one value some keyword has looked at. */
typedef struct {
  gboolean all;
  guint prefix;
  GHashTable *names;
  GHashTable *indexes;
} KhadimSchemaSeen;

gboolean _khadim_schema_evaluate       (KhadimSchemaRun         *run,
                                        const KhadimSubschema   *schema,
                                        JsonNode                *instance,
                                        const KhadimSchemaFrame *frame,
                                        const KhadimSchemaScope *scope,
                                        KhadimSchemaSeen        *seen);
gboolean _khadim_schema_evaluate_child (KhadimSchemaRun         *run,
                                        const KhadimSubschema   *schema,
                                        JsonNode                *instance,
                                        const KhadimSchemaFrame *frame,
                                        const KhadimSchemaScope *scope);
gboolean _khadim_schema_check_object   (KhadimSchemaRun         *run,
                                        const KhadimSubschema   *schema,
                                        JsonNode                *instance,
                                        const KhadimSchemaFrame *frame,
                                        const KhadimSchemaScope *scope,
                                        KhadimSchemaSeen        *seen);
gboolean _khadim_schema_check_array    (KhadimSchemaRun         *run,
                                        const KhadimSubschema   *schema,
                                        JsonArray               *array,
                                        const KhadimSchemaFrame *frame,
                                        const KhadimSchemaScope *scope,
                                        KhadimSchemaSeen        *seen);
gboolean _khadim_schema_check_unevaluated_members
                                       (KhadimSchemaRun         *run,
                                        const KhadimSubschema   *schema,
                                        JsonNode                *instance,
                                        const KhadimSchemaFrame *frame,
                                        const KhadimSchemaScope *scope,
                                        KhadimSchemaSeen        *seen);
gboolean _khadim_schema_check_scalar   (KhadimSchemaRun         *run,
                                        const KhadimSubschema   *schema,
                                        JsonNode                *instance,
                                        const KhadimSchemaFrame *frame);
gboolean _khadim_schema_check_value    (KhadimSchemaRun         *run,
                                        const KhadimSubschema   *schema,
                                        JsonNode                *instance,
                                        const KhadimSchemaFrame *frame);
gboolean _khadim_schema_run_match      (KhadimSchemaRun           *run,
                                        const KhadimSchemaPattern *pattern,
                                        const char                *text,
                                        const KhadimSchemaFrame   *frame,
                                        gboolean                  *out_matches);
gboolean _khadim_schema_values_match   (KhadimSchemaRun         *run,
                                        JsonNode                *instance,
                                        JsonNode                *value,
                                        const KhadimSchemaFrame *frame);
gboolean _khadim_schema_is_template    (const KhadimSchemaRun   *run,
                                        JsonNode                *instance);

void     _khadim_schema_seen_add_name  (KhadimSchemaSeen        *seen,
                                        const char              *name);
void     _khadim_schema_seen_add_index (KhadimSchemaSeen        *seen,
                                        guint                    index);

gboolean _khadim_schema_run_spend      (KhadimSchemaRun         *run,
                                        guint64                  steps,
                                        const KhadimSchemaFrame *frame);
gboolean _khadim_schema_run_abort      (KhadimSchemaRun         *run,
                                        const KhadimSchemaFrame *frame,
                                        KhadimEngineError        code,
                                        const char              *problem);
gboolean _khadim_schema_run_fail       (KhadimSchemaRun         *run,
                                        const KhadimSchemaFrame *frame,
                                        const char              *format,
                                        ...) G_GNUC_PRINTF (3, 4);
gboolean _khadim_schema_run_fail_type  (KhadimSchemaRun         *run,
                                        const KhadimSchemaFrame *frame,
                                        guint                    types,
                                        JsonNode                *instance);
gboolean _khadim_schema_run_fail_value (KhadimSchemaRun         *run,
                                        const KhadimSchemaFrame *frame,
                                        JsonNode                *constant,
                                        JsonArray               *enumeration,
                                        JsonNode                *instance);
gboolean _khadim_schema_run_fail_name  (KhadimSchemaRun         *run,
                                        const KhadimSchemaFrame *frame,
                                        const KhadimSubschema   *schema,
                                        JsonObject              *object,
                                        const char              *name);

KhadimSchemaFailure *_khadim_schema_run_steal_failure (KhadimSchemaRun *run);
void     _khadim_schema_failure_free    (KhadimSchemaFailure     *self);
KhadimSchemaFailure *_khadim_schema_failure_closest   (GPtrArray       *failures,
                                                       guint            depth);
char    *_khadim_schema_failure_to_text (const KhadimSchemaFailure *self);
char    *_khadim_schema_describe        (JsonNode                *instance);

/* Numbers, patterns, formats ------------------------------------------------ */

gboolean _khadim_schema_number_is_integer  (JsonNode    *number);
int      _khadim_schema_number_compare     (JsonNode    *a,
                                            JsonNode    *b);
gboolean _khadim_schema_number_is_multiple (JsonNode    *number,
                                            JsonNode    *divisor);

KhadimSchemaPattern *_khadim_schema_pattern_new (const char *text,
                                                 GError    **error);
void     _khadim_schema_pattern_free           (KhadimSchemaPattern       *self);
const char *_khadim_schema_pattern_get_text    (const KhadimSchemaPattern *self);
gboolean _khadim_schema_pattern_match          (const KhadimSchemaPattern *self,
                                                const char                *text,
                                                gboolean                  *out_matches,
                                                GError                   **error);

gboolean _khadim_schema_format_check       (const char  *format,
                                            const char  *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimSchemaPattern, _khadim_schema_pattern_free)

G_END_DECLS
