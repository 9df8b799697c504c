/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <sys/stat.h>

#include "engine/tool/khadim-tool-job-private.h"

G_BEGIN_DECLS

/* The most entries files.list returns */
#define KHADIM_FILES_MAX_LISTED 10000
/* The longest pattern of names */
#define KHADIM_FILES_MAX_PATTERN_BYTES 256

/* Looking */
JsonNode   *_khadim_files_list        (KhadimToolCall       *call,
                                       GCancellable         *cancellable,
                                       GError              **error);
JsonNode   *_khadim_files_info        (KhadimToolCall       *call,
                                       GCancellable         *cancellable,
                                       GError              **error);
JsonNode   *_khadim_files_exists      (KhadimToolCall       *call,
                                       GCancellable         *cancellable,
                                       GError              **error);
JsonNode   *_khadim_files_read        (KhadimToolCall       *call,
                                       GCancellable         *cancellable,
                                       GError              **error);

/* Changing */
JsonNode   *_khadim_files_write       (KhadimToolCall       *call,
                                       GCancellable         *cancellable,
                                       GError              **error);
JsonNode   *_khadim_files_append      (KhadimToolCall       *call,
                                       GCancellable         *cancellable,
                                       GError              **error);
JsonNode   *_khadim_files_copy        (KhadimToolCall       *call,
                                       GCancellable         *cancellable,
                                       GError              **error);
JsonNode   *_khadim_files_move        (KhadimToolCall       *call,
                                       GCancellable         *cancellable,
                                       GError              **error);
JsonNode   *_khadim_files_make_folder (KhadimToolCall       *call,
                                       GCancellable         *cancellable,
                                       GError              **error);
JsonNode   *_khadim_files_delete      (KhadimToolCall       *call,
                                       GCancellable         *cancellable,
                                       GError              **error);

/* Waiting */
void        _khadim_files_wait_async  (KhadimToolDomain     *domain,
                                       KhadimToolCall       *call,
                                       GCancellable         *cancellable,
                                       GAsyncReadyCallback   callback,
                                       gpointer              user_data);

/* What two of the files share */
gboolean    _khadim_files_pattern     (JsonObject           *args,
                                       GPatternSpec        **out_pattern,
                                       GError              **error);
JsonObject *_khadim_files_describe    (const char           *path,
                                       const struct stat    *st);

G_END_DECLS
