/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/session/khadim-permissions.h"
#include "engine/store/khadim-store.h"
#include "engine/tool/khadim-toolbox.h"
#include "engine/vault/khadim-redactor.h"
#include "engine/vault/khadim-vault.h"

G_BEGIN_DECLS

#define KHADIM_TYPE_ENGINE (khadim_engine_get_type ())
G_DECLARE_FINAL_TYPE (KhadimEngine, khadim_engine, KHADIM, ENGINE, GObject)

KhadimEngine      *khadim_engine_new             (KhadimStore        *store);
KhadimStore       *khadim_engine_get_store       (KhadimEngine       *self);
KhadimToolbox     *khadim_engine_get_toolbox     (KhadimEngine       *self);
KhadimRedactor    *khadim_engine_get_redactor    (KhadimEngine       *self);
KhadimVault       *khadim_engine_get_vault       (KhadimEngine       *self);
void               khadim_engine_set_vault       (KhadimEngine       *self,
                                                  KhadimVault        *vault);
KhadimPermissions *khadim_engine_get_permissions (KhadimEngine       *self);
void               khadim_engine_set_permissions (KhadimEngine       *self,
                                                  KhadimPermissions  *permissions);
gboolean           khadim_engine_get_can_ask     (KhadimEngine       *self);
void               khadim_engine_set_can_ask     (KhadimEngine       *self,
                                                  gboolean            can_ask);

G_END_DECLS
