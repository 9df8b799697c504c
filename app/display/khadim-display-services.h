/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* What a display is made of: X server, bus, window manager, accessibility. */

#pragma once

#include "engine/runner/khadim-private-display-private.h"

G_BEGIN_DECLS

gboolean khadim_display_services_start (KhadimPrivateDisplay *record,
                                        const char           *home,
                                        int                   signal_fd,
                                        GError              **error);
GStrv    khadim_display_services_env   (KhadimPrivateDisplay *record);

G_END_DECLS
