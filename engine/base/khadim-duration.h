/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The longest duration that a document may ask for: 31 days. */
#define KHADIM_DURATION_MAX_MS (G_GINT64_CONSTANT (31) * 24 * 60 * 60 * 1000)

gboolean khadim_duration_parse (const char  *text,
                                gint64      *out_ms,
                                GError     **error);

G_END_DECLS
