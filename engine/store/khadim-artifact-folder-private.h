/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

gboolean _khadim_artifact_is_sum (const char  *sha256);
char    *_khadim_artifact_path   (const char  *folder,
                                  const char  *sha256);
gboolean _khadim_artifact_write  (const char  *folder,
                                  const char  *owner_id,
                                  const char  *sha256,
                                  GBytes      *bytes,
                                  gboolean     sync,
                                  gboolean    *out_made,
                                  GError     **error);
void     _khadim_artifact_clean  (const char  *folder,
                                  const char  *engines_folder,
                                  const char  *prefix);

G_END_DECLS
