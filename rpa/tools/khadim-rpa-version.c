/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-version"

#include "config.h"

#include "rpa/tools/khadim-rpa-version.h"

/**
 * khadim_rpa_get_version:
 *
 * The version of the library that is loaded. Any thread.
 *
 * Returns: (transfer none): a static string such as `0.1.0`
 */
const char *
khadim_rpa_get_version (void)
{
  return KHADIM_VERSION;
}
