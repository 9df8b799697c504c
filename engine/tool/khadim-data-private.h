/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/tool/khadim-tool-job-private.h"

G_BEGIN_DECLS

/* The longest pattern of data.text, in bytes */
#define KHADIM_DATA_MAX_PATTERN_BYTES 1000
/* The most parts or matches of one call */
#define KHADIM_DATA_MAX_PARTS 100000
/* The widest that a text is padded to, in characters */
#define KHADIM_DATA_MAX_WIDTH 10000
/* The longest format of a date, in bytes */
#define KHADIM_DATA_MAX_FORMAT_BYTES 200

/* Tables */
JsonNode *_khadim_data_parse_csv   (KhadimToolCall  *call,
                                    GCancellable    *cancellable,
                                    GError         **error);
JsonNode *_khadim_data_read_csv    (KhadimToolCall  *call,
                                    GCancellable    *cancellable,
                                    GError         **error);
JsonNode *_khadim_data_to_csv      (KhadimToolCall  *call,
                                    GCancellable    *cancellable,
                                    GError         **error);
JsonNode *_khadim_data_write_csv   (KhadimToolCall  *call,
                                    GCancellable    *cancellable,
                                    GError         **error);
JsonNode *_khadim_data_append_csv  (KhadimToolCall  *call,
                                    GCancellable    *cancellable,
                                    GError         **error);

/* JSON */
JsonNode *_khadim_data_parse_json  (KhadimToolCall  *call,
                                    GCancellable    *cancellable,
                                    GError         **error);
JsonNode *_khadim_data_read_json   (KhadimToolCall  *call,
                                    GCancellable    *cancellable,
                                    GError         **error);
JsonNode *_khadim_data_to_json     (KhadimToolCall  *call,
                                    GCancellable    *cancellable,
                                    GError         **error);
JsonNode *_khadim_data_write_json  (KhadimToolCall  *call,
                                    GCancellable    *cancellable,
                                    GError         **error);

/* Text and dates */
JsonNode *_khadim_data_text        (KhadimToolCall  *call,
                                    GCancellable    *cancellable,
                                    GError         **error);
gboolean  _khadim_data_check_text  (JsonObject      *args,
                                    char           **out_place,
                                    GError         **error);
JsonNode *_khadim_data_parse_date  (KhadimToolCall  *call,
                                    GCancellable    *cancellable,
                                    GError         **error);
JsonNode *_khadim_data_format_date (KhadimToolCall  *call,
                                    GCancellable    *cancellable,
                                    GError         **error);

/* Writes a text that a tool made to the file in the argument `path`. */
JsonNode *_khadim_data_write_text  (KhadimToolCall  *call,
                                    const char      *text,
                                    GCancellable    *cancellable,
                                    GError         **error);

G_END_DECLS
