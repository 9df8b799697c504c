/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

void     _khadim_json_append_quoted (GString    *out,
                                     const char *text);
void     _khadim_json_append_double (GString    *out,
                                     double      value);
gboolean _khadim_json_double_to_int (double      value,
                                     gint64     *out_value);
char    *_khadim_json_shorten       (const char *text,
                                     gsize       max_chars);

G_END_DECLS
