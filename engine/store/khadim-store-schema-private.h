/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/store/khadim-db-private.h"

G_BEGIN_DECLS

/* One step forward: the SQL that makes @version of the one before. */
typedef struct
{
  int         version;
  const char *sql;
} KhadimMigration;

gboolean  _khadim_store_check_place (const char             *folder,
                                     GError                **error);
gboolean  _khadim_store_is_network_fuse
                                    (const char             *mountinfo,
                                     guint                   device_major,
                                     guint                   device_minor);
gboolean  _khadim_store_create      (const char             *path,
                                     const char             *owner_id,
                                     GError                **error);
KhadimDb *_khadim_store_open        (const char             *path,
                                     GError                **error);
gboolean  _khadim_store_migrate     (KhadimDb               *db,
                                     const KhadimMigration  *migrations,
                                     guint                   n_migrations,
                                     GError                **error);

G_END_DECLS
