/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-error"

#include "config.h"

#include "rpa/screen/khadim-rpa-error.h"

G_DEFINE_QUARK (khadim-rpa-error-quark, khadim_rpa_error)
