/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _KhadimOwnerLock KhadimOwnerLock;

KhadimOwnerLock *_khadim_owner_lock_new      (const char       *folder,
                                              GError          **error);
void             _khadim_owner_lock_free     (KhadimOwnerLock  *self);
const char      *_khadim_owner_lock_get_id   (KhadimOwnerLock  *self);

gboolean         _khadim_owner_lock_is_live  (const char       *folder,
                                              const char       *owner_id);
void             _khadim_owner_lock_clean    (const char       *folder);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimOwnerLock, _khadim_owner_lock_free)

G_END_DECLS
