/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* The object form of conditions, `wait_for` and `check`: which tool tells
 * whether it holds, and with which arguments. */

#pragma once

#include <json-glib/json-glib.h>

#include "engine/automation/khadim-step-private.h"

G_BEGIN_DECLS

const char *_khadim_condition_get_tool (KhadimStepKind  kind,
                                        JsonNode       *spec);
JsonNode   *_khadim_condition_to_args  (KhadimStepKind  kind,
                                        JsonNode       *spec,
                                        const char     *in);
char       *_khadim_condition_judge    (JsonNode       *spec,
                                        JsonNode       *result);

G_END_DECLS
