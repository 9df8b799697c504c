/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/input/khadim-rpa-stop.h"

G_BEGIN_DECLS

/* @fd is an eventfd that is written to whenever the stop changes. */
gboolean _khadim_rpa_stop_attach (int fd);
void     _khadim_rpa_stop_detach (int fd);

G_END_DECLS
