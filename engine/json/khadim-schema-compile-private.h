/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/json/khadim-schema-private.h"

G_BEGIN_DECLS

/* What relative addresses of a schema without $id are relative to (RFC 3986,
 * 5.1.4); nothing is ever fetched from it. */
#define KHADIM_SCHEMA_DEFAULT_BASE "khadim-schema://local/"

/* A reference to resolve once all is visited. */
typedef struct {
  KhadimSubschema *from;
  gboolean dynamic;
  char *uri;
  char *place;
} KhadimSchemaReference;

typedef struct {
  KhadimSchema *self;
  /* JsonNode to KhadimSubschema, and address to KhadimSchemaResource */
  GHashTable *by_node;
  GHashTable *by_uri;
  GQueue references;
  guint own_metaschemas;
  GError **error;
} KhadimSchemaCompiler;

gboolean         _khadim_schema_compiler_fail         (KhadimSchemaCompiler    *compiler,
                                                       const char              *place,
                                                       KhadimEngineError        code,
                                                       const char              *problem);
KhadimSubschema *_khadim_schema_compile_node          (KhadimSchemaCompiler    *compiler,
                                                       JsonNode                *node,
                                                       KhadimSchemaResource    *resource,
                                                       const KhadimSchemaFrame *frame);
KhadimSubschema *_khadim_schema_compiler_add_document (KhadimSchemaCompiler    *compiler,
                                                       const char              *uri,
                                                       JsonNode                *node);
gboolean         _khadim_schema_compiler_read_dialect (KhadimSchemaCompiler    *compiler,
                                                       JsonObject              *object,
                                                       KhadimSchemaDialect     *inout_dialect,
                                                       guint                   *inout_vocabularies,
                                                       const KhadimSchemaFrame *frame);
gboolean         _khadim_schema_compiler_resolve      (KhadimSchemaCompiler    *compiler);
void             _khadim_schema_reference_free        (gpointer                 data);
char            *_khadim_schema_cut_fragment          (char                    *uri);

G_END_DECLS
