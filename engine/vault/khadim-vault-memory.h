/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/vault/khadim-vault.h"

G_BEGIN_DECLS

/**
 * KhadimVaultMemoryState:
 * @KHADIM_VAULT_MEMORY_OPEN: answers
 * @KHADIM_VAULT_MEMORY_LOCKED: refuses as a locked vault does
 * @KHADIM_VAULT_MEMORY_UNAVAILABLE: refuses as if nothing kept secrets
 * @KHADIM_VAULT_MEMORY_DENIED: refuses as if a person had said no
 * @KHADIM_VAULT_MEMORY_SILENT: never answers
 *
 * How a vault in memory behaves.
 */
typedef enum {
  KHADIM_VAULT_MEMORY_OPEN,
  KHADIM_VAULT_MEMORY_LOCKED,
  KHADIM_VAULT_MEMORY_UNAVAILABLE,
  KHADIM_VAULT_MEMORY_DENIED,
  KHADIM_VAULT_MEMORY_SILENT,
} KhadimVaultMemoryState;

#define KHADIM_TYPE_VAULT_MEMORY (khadim_vault_memory_get_type ())
G_DECLARE_FINAL_TYPE (KhadimVaultMemory, khadim_vault_memory, KHADIM, VAULT_MEMORY, KhadimVault)

KhadimVault *khadim_vault_memory_new       (void);
gboolean     khadim_vault_memory_add       (KhadimVaultMemory       *self,
                                            const char              *reference,
                                            const char              *text,
                                            GError                 **error);
void         khadim_vault_memory_set_state (KhadimVaultMemory       *self,
                                            KhadimVaultMemoryState   state);

G_END_DECLS
