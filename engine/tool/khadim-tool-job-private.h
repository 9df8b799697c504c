/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Tools that are one function: it runs in the thread pool and may block. */

#pragma once

#include <gio/gio.h>
#include <json-glib/json-glib.h>

#include "engine/tool/khadim-tool-call.h"
#include "engine/tool/khadim-tool-domain.h"
#include "engine/tool/khadim-tool-path.h"

G_BEGIN_DECLS

/* A JSON Schema as it reads, made a string: no backslashes. */
#define KHADIM_TOOL_SCHEMA(...) #__VA_ARGS__

/**
 * KhadimToolJobFunc:
 * @call: what is asked for; its arguments have passed the schema
 * @cancellable: (nullable): looked at wherever the work takes long
 * @error: return location
 *
 * Does the work of one call, off the engine thread.
 *
 * Returns: (transfer full): the value of the result, or %NULL with an error
 */
typedef JsonNode *(*KhadimToolJobFunc) (KhadimToolCall  *call,
                                        GCancellable    *cancellable,
                                        GError         **error);

void              _khadim_tool_job_run_async  (KhadimToolDomain     *domain,
                                               KhadimToolCall       *call,
                                               const KhadimToolInfo *infos,
                                               KhadimToolJobFunc const *funcs,
                                               guint                 n_tools,
                                               GCancellable         *cancellable,
                                               GAsyncReadyCallback   callback,
                                               gpointer              user_data);
KhadimToolResult *_khadim_tool_job_run_finish (KhadimToolDomain     *domain,
                                               GAsyncResult         *result);

char             *_khadim_tool_job_path       (KhadimToolCall       *call,
                                               const char           *member,
                                               KhadimToolPathUse     use,
                                               GError              **error);
JsonNode         *_khadim_tool_job_would      (const char           *format,
                                               ...) G_GNUC_PRINTF (1, 2);

gboolean          _khadim_tool_job_is_known   (const char           *text);
gboolean          _khadim_tool_job_check      (JsonObject           *args,
                                               char                **out_place,
                                               GError              **error);
gboolean          _khadim_tool_job_fault      (const char           *place,
                                               GError               *local,
                                               char                **out_place,
                                               GError              **error);

G_END_DECLS
