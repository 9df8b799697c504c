/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Holds one display: starts it, runs the command, ends all. */

#pragma once

#include "engine/runner/khadim-private-display.h"

G_BEGIN_DECLS

/* On the claim socket; each is one line */
#define KHADIM_DISPLAY_CLAIM_SOCKET "claim"
#define KHADIM_DISPLAY_CLAIM_OK "ok\n"
#define KHADIM_DISPLAY_CLAIM_BUSY "busy\n"
#define KHADIM_DISPLAY_CLAIM_DONE "done\n"

void khadim_display_supervisor_run (const KhadimPrivateDisplaySpec *spec,
                                    const char *const              *argv,
                                    int                             report_fd);

G_END_DECLS
