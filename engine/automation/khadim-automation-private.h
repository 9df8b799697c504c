/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/automation/khadim-automation.h"
#include "engine/automation/khadim-step-private.h"

G_BEGIN_DECLS

GPtrArray *_khadim_automation_get_steps (KhadimAutomation *self);

G_END_DECLS
