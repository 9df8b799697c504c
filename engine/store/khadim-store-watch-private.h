/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/store/khadim-store-reader-private.h"
#include "engine/store/khadim-store.h"

G_BEGIN_DECLS

typedef struct _KhadimStoreWatch KhadimStoreWatch;

KhadimStoreWatch *_khadim_store_watch_new  (KhadimStore             *store,
                                            KhadimStoreReader       *reader,
                                            const char              *folder,
                                            KhadimStoreCommandFunc   on_command,
                                            KhadimStoreChangedFunc   on_changed,
                                            gpointer                 user_data,
                                            GDestroyNotify           destroy,
                                            GError                 **error);
void              _khadim_store_watch_free (KhadimStoreWatch        *self);

#define KHADIM_STORE_DATABASE_NAME "khadim.db"
#define KHADIM_STORE_MARKER_NAME "khadim.changed"

G_END_DECLS
