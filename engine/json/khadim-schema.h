/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

#include "engine/base/khadim-error.h"
#include "engine/base/khadim-types.h"

G_BEGIN_DECLS

/* Subschemas of one schema, the metaschemas that it refers to among them */
#define KHADIM_SCHEMA_MAX_SUBSCHEMAS 50000
/* Subschemas inside one another while checking, through references too */
#define KHADIM_SCHEMA_MAX_NESTING 1024
/* Steps of one check: subschemas entered, members visited, values compared */
#define KHADIM_SCHEMA_MAX_STEPS ((guint64) 20 * 1000 * 1000)
/* Bytes of a regular expression, and of a string it is matched with */
#define KHADIM_SCHEMA_MAX_PATTERN_BYTES 8192
#define KHADIM_SCHEMA_MAX_SUBJECT_BYTES (512 * 1024)
/* Attempts of the regular expression engine at one place of a string */
#define KHADIM_SCHEMA_MAX_MATCH_STEPS 3000000
/* For one string, where the expression can match at many places */
#define KHADIM_SCHEMA_MAX_MATCH_MS 1000

/**
 * KhadimSchemaFlags:
 * @KHADIM_SCHEMA_FLAGS_NONE: a plain check
 * @KHADIM_SCHEMA_FLAGS_TEMPLATES: a string that holds `{{` stands for a value
 *   that is known only later, and satisfies whatever its place asks for
 * @KHADIM_SCHEMA_FLAGS_FORMATS: `format` is checked too, not only noted
 *
 * How to check a value.
 */
typedef enum {
  KHADIM_SCHEMA_FLAGS_NONE = 0,
  KHADIM_SCHEMA_FLAGS_TEMPLATES = 1 << 0,
  KHADIM_SCHEMA_FLAGS_FORMATS = 1 << 1,
} KhadimSchemaFlags;

#define KHADIM_TYPE_SCHEMA (khadim_schema_get_type ())
GType khadim_schema_get_type (void);

KhadimSchema *khadim_schema_new             (JsonNode          *schema,
                                             GError           **error);
KhadimSchema *khadim_schema_new_from_string (const char        *text,
                                             GError           **error);
KhadimSchema *khadim_schema_ref             (KhadimSchema      *self);
void          khadim_schema_unref           (KhadimSchema      *self);

JsonNode     *khadim_schema_get_root        (KhadimSchema      *self);
gboolean      khadim_schema_check           (KhadimSchema      *self,
                                             JsonNode          *instance,
                                             KhadimSchemaFlags  flags,
                                             char             **out_place,
                                             GError           **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimSchema, khadim_schema_unref)

G_END_DECLS
