/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <X11/Xlib.h>

G_BEGIN_DECLS

void _khadim_rpa_spares_recover (Display *x);

G_END_DECLS
