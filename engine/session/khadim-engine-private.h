/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/session/khadim-engine.h"

G_BEGIN_DECLS

GMainContext *_khadim_engine_get_context (KhadimEngine *self);

/* Whether the calling thread is the engine's. */
#define KHADIM_IS_ENGINE_THREAD(engine) \
  (g_main_context_is_owner (_khadim_engine_get_context (engine)))

G_END_DECLS
