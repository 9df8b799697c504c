/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* A run on a private display: the same command, started again on it. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

const char *khadim_private_run_get_display (void);
int         khadim_private_run_again       (const char        *session,
                                            const char *const *argv);

G_END_DECLS
