/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

#include "engine/base/khadim-error.h"
#include "engine/base/khadim-types.h"

G_BEGIN_DECLS

#define KHADIM_TYPE_TOOL_RESULT (khadim_tool_result_get_type ())
GType khadim_tool_result_get_type (void);

/**
 * KhadimToolArtifact:
 * @role: what it shows, such as `screen`, `place`, `tree`
 * @name: a file name for people
 * @media_type: such as `image/png`
 * @bytes: the content
 *
 * Something that a call made and that is kept beside its result.
 */
typedef struct {
  char   *role;
  char   *name;
  char   *media_type;
  GBytes *bytes;
} KhadimToolArtifact;

KhadimToolResult *khadim_tool_result_new          (JsonNode         *value);
KhadimToolResult *khadim_tool_result_new_failure  (KhadimToolError   code,
                                                   const char       *format,
                                                   ...) G_GNUC_PRINTF (2, 3);
KhadimToolResult *khadim_tool_result_new_from_error (const GError   *error);
KhadimToolResult *khadim_tool_result_ref          (KhadimToolResult *self);
void              khadim_tool_result_unref        (KhadimToolResult *self);

gboolean          khadim_tool_result_is_failure   (KhadimToolResult *self);
KhadimToolError   khadim_tool_result_get_code     (KhadimToolResult *self);
const char       *khadim_tool_result_get_message  (KhadimToolResult *self);
JsonNode         *khadim_tool_result_get_value    (KhadimToolResult *self);
JsonNode         *khadim_tool_result_get_detail   (KhadimToolResult *self);
void              khadim_tool_result_set_detail   (KhadimToolResult *self,
                                                   JsonNode         *detail);
void              khadim_tool_result_add_artifact (KhadimToolResult *self,
                                                   const char       *role,
                                                   const char       *name,
                                                   const char       *media_type,
                                                   GBytes           *bytes);
GPtrArray        *khadim_tool_result_get_artifacts (KhadimToolResult *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimToolResult, khadim_tool_result_unref)

G_END_DECLS
