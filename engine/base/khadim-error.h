/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/**
 * KhadimEngineError:
 * @KHADIM_ENGINE_ERROR_INVALID: a document, an argument or a message is not
 *   well formed; the text names the place
 * @KHADIM_ENGINE_ERROR_LIMIT: a named limit on size, depth, time or count was
 *   reached
 * @KHADIM_ENGINE_ERROR_NOT_FOUND: what was asked for does not exist
 * @KHADIM_ENGINE_ERROR_EXISTS: what was to be made exists already
 * @KHADIM_ENGINE_ERROR_BUSY: another process or call holds it
 * @KHADIM_ENGINE_ERROR_DENIED: a rule, or nobody to ask, forbids it
 * @KHADIM_ENGINE_ERROR_UNSUPPORTED: this version or this machine cannot do it;
 *   the text says what would
 * @KHADIM_ENGINE_ERROR_FAILED: none of the others
 *
 * What a caller of the engine can act on.
 */
typedef enum {
  KHADIM_ENGINE_ERROR_INVALID,
  KHADIM_ENGINE_ERROR_LIMIT,
  KHADIM_ENGINE_ERROR_NOT_FOUND,
  KHADIM_ENGINE_ERROR_EXISTS,
  KHADIM_ENGINE_ERROR_BUSY,
  KHADIM_ENGINE_ERROR_DENIED,
  KHADIM_ENGINE_ERROR_UNSUPPORTED,
  KHADIM_ENGINE_ERROR_FAILED,
} KhadimEngineError;

#define KHADIM_ENGINE_ERROR (khadim_engine_error_quark ())
GQuark khadim_engine_error_quark (void);

/**
 * KhadimToolError:
 * @KHADIM_TOOL_ERROR_NOT_FOUND: `not-found`: no place, file or window matches
 * @KHADIM_TOOL_ERROR_AMBIGUOUS: `ambiguous`: several match and nothing says which
 * @KHADIM_TOOL_ERROR_TIMEOUT: `timeout`
 * @KHADIM_TOOL_ERROR_FOCUS_LOST: `focus-lost`: another window took the keyboard
 * @KHADIM_TOOL_ERROR_APP_ENDED: `app-ended`: the program is gone
 * @KHADIM_TOOL_ERROR_APP_HUNG: `app-hung`: the program does not answer
 * @KHADIM_TOOL_ERROR_DENIED: `denied`: a rule or a person said no
 * @KHADIM_TOOL_ERROR_SECRET_MISSING: `secret-missing`
 * @KHADIM_TOOL_ERROR_CHECK_FAILED: `check-failed`: a `check` step does not hold
 * @KHADIM_TOOL_ERROR_BUSINESS: `business`: raised by a `fail` step
 * @KHADIM_TOOL_ERROR_LIMIT: `limit`: a named limit was reached
 * @KHADIM_TOOL_ERROR_TOOL: `tool`: anything else a tool reports
 * @KHADIM_TOOL_ERROR_DISPLAY_LOST: `display-lost`: the display is gone
 * @KHADIM_TOOL_ERROR_SEALED: `sealed`: interrupted, outcome unknown
 * @KHADIM_TOOL_ERROR_CANCELLED: `cancelled`: stopped by a person; `catch`
 *   cannot list it
 *
 * Why a step failed: the codes that `catch` can list.
 */
typedef enum {
  KHADIM_TOOL_ERROR_NOT_FOUND,
  KHADIM_TOOL_ERROR_AMBIGUOUS,
  KHADIM_TOOL_ERROR_TIMEOUT,
  KHADIM_TOOL_ERROR_FOCUS_LOST,
  KHADIM_TOOL_ERROR_APP_ENDED,
  KHADIM_TOOL_ERROR_APP_HUNG,
  KHADIM_TOOL_ERROR_DENIED,
  KHADIM_TOOL_ERROR_SECRET_MISSING,
  KHADIM_TOOL_ERROR_CHECK_FAILED,
  KHADIM_TOOL_ERROR_BUSINESS,
  KHADIM_TOOL_ERROR_LIMIT,
  KHADIM_TOOL_ERROR_TOOL,
  KHADIM_TOOL_ERROR_DISPLAY_LOST,
  KHADIM_TOOL_ERROR_SEALED,
  KHADIM_TOOL_ERROR_CANCELLED,
} KhadimToolError;

#define KHADIM_TOOL_ERROR (khadim_tool_error_quark ())
GQuark khadim_tool_error_quark (void);

const char *khadim_tool_error_to_code   (KhadimToolError  self);
gboolean    khadim_tool_error_from_code (const char      *code,
                                         KhadimToolError *out_error);

G_END_DECLS
