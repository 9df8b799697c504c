/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-error"

#include "config.h"

#include "engine/base/khadim-error.h"

static const char *const tool_error_codes[] = {
  [KHADIM_TOOL_ERROR_NOT_FOUND] = "not-found",
  [KHADIM_TOOL_ERROR_AMBIGUOUS] = "ambiguous",
  [KHADIM_TOOL_ERROR_TIMEOUT] = "timeout",
  [KHADIM_TOOL_ERROR_FOCUS_LOST] = "focus-lost",
  [KHADIM_TOOL_ERROR_APP_ENDED] = "app-ended",
  [KHADIM_TOOL_ERROR_APP_HUNG] = "app-hung",
  [KHADIM_TOOL_ERROR_DENIED] = "denied",
  [KHADIM_TOOL_ERROR_SECRET_MISSING] = "secret-missing",
  [KHADIM_TOOL_ERROR_CHECK_FAILED] = "check-failed",
  [KHADIM_TOOL_ERROR_BUSINESS] = "business",
  [KHADIM_TOOL_ERROR_LIMIT] = "limit",
  [KHADIM_TOOL_ERROR_TOOL] = "tool",
  [KHADIM_TOOL_ERROR_DISPLAY_LOST] = "display-lost",
  [KHADIM_TOOL_ERROR_SEALED] = "sealed",
  [KHADIM_TOOL_ERROR_CANCELLED] = "cancelled",
};

G_DEFINE_QUARK (khadim-engine-error-quark, khadim_engine_error)
G_DEFINE_QUARK (khadim-tool-error-quark, khadim_tool_error)

/**
 * khadim_tool_error_to_code:
 * @self: a tool error
 *
 * The code as documents and events write it, such as `not-found`.
 *
 * Any thread.
 *
 * Returns: (transfer none): a static string
 */
const char *
khadim_tool_error_to_code (KhadimToolError self)
{
  g_return_val_if_fail ((guint) self < G_N_ELEMENTS (tool_error_codes), "tool");

  return tool_error_codes[self];
}

/**
 * khadim_tool_error_from_code:
 * @code: a code as documents write it
 * @out_error: (out): where to put the error; untouched on failure
 *
 * The reverse of [func@Khadim.ToolError.to_code]. Any thread.
 *
 * Returns: whether @code is known
 */
gboolean
khadim_tool_error_from_code (const char      *code,
                             KhadimToolError *out_error)
{
  g_return_val_if_fail (code != NULL, FALSE);
  g_return_val_if_fail (out_error != NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (tool_error_codes); i++)
    {
      if (g_str_equal (tool_error_codes[i], code))
        {
          *out_error = (KhadimToolError) i;
          return TRUE;
        }
    }

  return FALSE;
}
