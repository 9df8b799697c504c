/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#pragma once

#include "engine/tool/khadim-toolbox.h"

G_BEGIN_DECLS

void khadim_screen_loader_install (KhadimToolbox *toolbox);

G_END_DECLS
