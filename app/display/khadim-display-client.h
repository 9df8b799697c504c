/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Attaches a command to a display that is there. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

int khadim_display_client_run (const char         *id,
                               const char *const  *argv,
                               GError            **error);

G_END_DECLS
