/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Places inside a document: `steps[3].target` for people, `/steps/3/target`
 * (RFC 6901) for schemas. */

#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

gsize     khadim_json_path_push_key   (GString    *path,
                                       const char *key);
gsize     khadim_json_path_push_index (GString    *path,
                                       guint       index);

JsonNode *khadim_json_pointer_get     (JsonNode   *root,
                                       const char *pointer);

G_END_DECLS
