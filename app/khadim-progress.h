/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* What a person sees of a run in the terminal. */

#pragma once

#include "engine/event/khadim-event.h"

G_BEGIN_DECLS

void khadim_progress_show (KhadimEvent *event);

G_END_DECLS
