/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/tool/khadim-toolbox.h"

G_BEGIN_DECLS

gboolean khadim_rpa_register (KhadimToolbox  *toolbox,
                              GError        **error);

G_END_DECLS
