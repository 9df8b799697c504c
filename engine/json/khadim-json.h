/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* The one reader and writer of JSON, on the value types of json-glib. Nothing
 * else in Khadim parses JSON text. */

#pragma once

#include <json-glib/json-glib.h>

#include "engine/base/khadim-error.h"
#include "engine/base/khadim-types.h"

G_BEGIN_DECLS

/* Arrays and objects inside one another */
#define KHADIM_JSON_MAX_DEPTH 64
#define KHADIM_JSON_MAX_BYTES ((gsize) 16 * 1024 * 1024)
/* Values of a document, each a few dozen bytes of memory */
#define KHADIM_JSON_MAX_VALUES ((gsize) 2 * 1024 * 1024)
/* What a caller's own limit of depth is capped to */
#define KHADIM_JSON_DEPTH_CEILING 512
/* Bytes of one number as written */
#define KHADIM_JSON_MAX_NUMBER_BYTES 1024

/**
 * KhadimJsonLimits:
 * @max_depth: arrays and objects inside one another, 0 for
 *   %KHADIM_JSON_MAX_DEPTH; never more than %KHADIM_JSON_DEPTH_CEILING
 * @max_bytes: of the text, 0 for %KHADIM_JSON_MAX_BYTES
 * @max_values: of the document, 0 for %KHADIM_JSON_MAX_VALUES
 *
 * How much a reader takes.
 */
typedef struct {
  guint max_depth;
  gsize max_bytes;
  gsize max_values;
} KhadimJsonLimits;

JsonNode   *khadim_json_parse        (const char             *text,
                                      gssize                  length,
                                      const KhadimJsonLimits *limits,
                                      GError                **error);
JsonNode   *khadim_json_load_file    (const char             *path,
                                      const KhadimJsonLimits *limits,
                                      GError                **error);

char       *khadim_json_to_string    (JsonNode               *node);
char       *khadim_json_to_pretty    (JsonNode               *node);
char       *khadim_json_to_canonical (JsonNode               *node);
gboolean    khadim_json_equal        (JsonNode               *a,
                                      JsonNode               *b);
JsonNode   *khadim_json_copy         (JsonNode               *node);

JsonNode   *khadim_json_get          (JsonObject             *object,
                                      const char             *member);
const char *khadim_json_get_string   (JsonObject             *object,
                                      const char             *member,
                                      const char             *fallback);
gint64      khadim_json_get_int      (JsonObject             *object,
                                      const char             *member,
                                      gint64                  fallback);
double      khadim_json_get_double   (JsonObject             *object,
                                      const char             *member,
                                      double                  fallback);
gboolean    khadim_json_get_boolean  (JsonObject             *object,
                                      const char             *member,
                                      gboolean                fallback);
JsonObject *khadim_json_get_object   (JsonObject             *object,
                                      const char             *member);
JsonArray  *khadim_json_get_array    (JsonObject             *object,
                                      const char             *member);

JsonNode   *khadim_json_null         (void);
JsonNode   *khadim_json_boolean      (gboolean                value);
JsonNode   *khadim_json_int          (gint64                  value);
JsonNode   *khadim_json_double       (double                  value);
JsonNode   *khadim_json_string       (const char             *value);
JsonNode   *khadim_json_object       (JsonObject             *object);
JsonNode   *khadim_json_array        (JsonArray              *array);

G_END_DECLS
