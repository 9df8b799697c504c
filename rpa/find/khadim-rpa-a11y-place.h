/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/find/khadim-rpa-a11y.h"
#include "rpa/screen/khadim-rpa-windows.h"

G_BEGIN_DECLS

void khadim_rpa_a11y_follow_windows (KhadimRpaA11y    *self,
                                     KhadimRpaWindows *windows);

G_END_DECLS
