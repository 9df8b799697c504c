/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/tool/khadim-tool-call.h"

G_BEGIN_DECLS

typedef void  (*KhadimToolProgressFunc) (KhadimToolCall *call,
                                         double          fraction,
                                         const char     *preview,
                                         gpointer        user_data);
typedef char *(*KhadimToolSecretFunc)   (KhadimToolCall *call,
                                         JsonNode       *reference,
                                         gpointer        user_data,
                                         GError        **error);

typedef gboolean (*KhadimToolNoteFunc) (KhadimToolCall *call,
                                        JsonNode       *note,
                                        gboolean        done,
                                        gpointer        user_data,
                                        GError        **error);

/* What the tool runner knows about a call. The strings are copied. */
typedef struct
{
  const char *id;
  const char *session_id;
  const char *tool;
  JsonNode   *args;
  const char *assets_dir;
  const char *work_dir;
  gint64      deadline_us;
  gboolean    dry_run;
  gboolean    resumed;
  JsonNode   *note;   /* of the attempt that was interrupted, or NULL */
} KhadimToolCallSpec;

KhadimToolCall *_khadim_tool_call_new        (const KhadimToolCallSpec *spec);
void            _khadim_tool_call_set_hooks  (KhadimToolCall           *self,
                                              KhadimToolProgressFunc    progress,
                                              KhadimToolSecretFunc      secret,
                                              KhadimToolNoteFunc        note,
                                              gpointer                  user_data);

G_END_DECLS
