/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* From a document's JSON to steps, with every check that needs no run. */

#pragma once

#include "engine/automation/khadim-step-private.h"
#include "engine/tool/khadim-toolbox.h"

G_BEGIN_DECLS

GPtrArray *_khadim_compile_steps (JsonArray      *array,
                                  KhadimToolbox  *toolbox,
                                  const char     *folder,
                                  char          **out_place,
                                  GError        **error);

G_END_DECLS
