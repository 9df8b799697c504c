/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

gint64  khadim_time_now_us     (void);
char   *khadim_time_to_rfc3339 (gint64 us);

G_END_DECLS
