/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-error"

#include "config.h"

#include "engine/base/khadim-error.h"

/* Every code of automation.md has its number, and back. */
static void
test_error_codes (void)
{
  static const char *const documented[] = {
    "not-found", "ambiguous", "timeout", "focus-lost", "app-ended", "app-hung",
    "denied", "secret-missing", "check-failed", "business", "limit", "tool",
  };
  KhadimToolError error;

  for (guint i = 0; i < G_N_ELEMENTS (documented); i++)
    {
      g_assert_true (khadim_tool_error_from_code (documented[i], &error));
      g_assert_cmpstr (khadim_tool_error_to_code (error), ==, documented[i]);
    }

  error = KHADIM_TOOL_ERROR_LIMIT;
  g_assert_false (khadim_tool_error_from_code ("no-such-code", &error));
  g_assert_cmpint (error, ==, KHADIM_TOOL_ERROR_LIMIT);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/engine/error/codes", test_error_codes);

  return g_test_run ();
}
