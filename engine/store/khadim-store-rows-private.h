/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/store/khadim-db-private.h"
#include "engine/store/khadim-store-batch-private.h"

G_BEGIN_DECLS

typedef struct _KhadimStoreRows KhadimStoreRows;

KhadimStoreRows *_khadim_store_rows_new     (KhadimDb          *db,
                                             const char        *owner_id,
                                             const char        *engines_folder,
                                             const char        *artifacts_folder);
void             _khadim_store_rows_free    (KhadimStoreRows   *self);

gboolean         _khadim_store_rows_apply   (KhadimStoreRows   *self,
                                             KhadimStoreBatch  *batch,
                                             GError           **error);
gboolean         _khadim_store_rows_claim   (KhadimStoreRows   *self,
                                             const char        *session_id,
                                             GError           **error);
gboolean         _khadim_store_rows_release (KhadimStoreRows   *self,
                                             const char        *session_id,
                                             GError           **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimStoreRows, _khadim_store_rows_free)

G_END_DECLS
