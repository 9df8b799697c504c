/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/json/khadim-json.h"

G_BEGIN_DECLS

KhadimJsonLimits _khadim_json_limits_fill (const KhadimJsonLimits *limits);
void     _khadim_json_set_size_error (GError    **error,
                                     gsize       max_bytes);

void     _khadim_json_append_quoted (GString    *out,
                                     const char *text);
void     _khadim_json_append_double (GString    *out,
                                     double      value);
gboolean _khadim_json_double_to_int (double      value,
                                     gint64     *out_value);
char    *_khadim_json_shorten       (const char *text,
                                     gsize       max_chars);

G_END_DECLS
