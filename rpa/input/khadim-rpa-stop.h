/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* How many watches a process may have at a time. */
#define KHADIM_RPA_STOP_MAX_WATCHES 8

void     khadim_rpa_stop_set    (void);
void     khadim_rpa_stop_clear  (void);
gboolean khadim_rpa_stop_is_set (void);

G_END_DECLS
