/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/store/khadim-store.h"

G_BEGIN_DECLS

#define KHADIM_TYPE_STORE_SQLITE (khadim_store_sqlite_get_type ())
G_DECLARE_FINAL_TYPE (KhadimStoreSqlite, khadim_store_sqlite, KHADIM, STORE_SQLITE, KhadimStore)

KhadimStore *khadim_store_sqlite_new (const char  *folder,
                                      GError     **error);

G_END_DECLS
