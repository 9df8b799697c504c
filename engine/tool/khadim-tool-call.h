/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

#include "engine/base/khadim-error.h"
#include "engine/base/khadim-types.h"

G_BEGIN_DECLS

#define KHADIM_TYPE_TOOL_CALL (khadim_tool_call_get_type ())
G_DECLARE_FINAL_TYPE (KhadimToolCall, khadim_tool_call, KHADIM, TOOL_CALL, GObject)

const char *khadim_tool_call_get_id          (KhadimToolCall *self);
const char *khadim_tool_call_get_session_id  (KhadimToolCall *self);
const char *khadim_tool_call_get_tool        (KhadimToolCall *self);
JsonObject *khadim_tool_call_get_args        (KhadimToolCall *self);
const char *khadim_tool_call_get_assets_dir  (KhadimToolCall *self);
const char *khadim_tool_call_get_work_dir    (KhadimToolCall *self);
gint64      khadim_tool_call_get_deadline_us (KhadimToolCall *self);
gboolean    khadim_tool_call_is_dry_run      (KhadimToolCall *self);
gboolean    khadim_tool_call_is_resumed      (KhadimToolCall *self);
void        khadim_tool_call_progress        (KhadimToolCall *self,
                                              double          fraction,
                                              const char     *preview);
gboolean    khadim_tool_call_note            (KhadimToolCall *self,
                                              JsonNode       *note,
                                              GError        **error);
void        khadim_tool_call_note_done       (KhadimToolCall *self);
JsonNode   *khadim_tool_call_get_note        (KhadimToolCall *self);
char       *khadim_tool_call_resolve_secret  (KhadimToolCall *self,
                                              JsonNode       *reference,
                                              GError        **error);

G_END_DECLS
