/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/store/khadim-store.h"

G_BEGIN_DECLS

/* The pictures of one report, encoded; what does not fit is left out and said. */
#define KHADIM_REPORT_MAX_PICTURE_BYTES (36 * 1024 * 1024)
/* How much of one value a report shows. */
#define KHADIM_REPORT_MAX_VALUE_BYTES 4000

gboolean khadim_report_write (KhadimStore  *store,
                              const char   *session_id,
                              const char   *folder,
                              char        **out_path,
                              GError      **error);

G_END_DECLS
