/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/**
 * KhadimVaultError:
 * @KHADIM_VAULT_ERROR_NOT_FOUND: there is no such secret or field
 * @KHADIM_VAULT_ERROR_LOCKED: the vault is locked and was not unlocked
 * @KHADIM_VAULT_ERROR_UNAVAILABLE: nothing keeps secrets here; the text says
 *   what would
 * @KHADIM_VAULT_ERROR_DENIED: a person or a rule said no
 * @KHADIM_VAULT_ERROR_INVALID: a reference, a format or a value is not well
 *   formed
 * @KHADIM_VAULT_ERROR_TIMEOUT: the vault did not answer in time
 *
 * Why a vault has no secret to give.
 */
typedef enum {
  KHADIM_VAULT_ERROR_NOT_FOUND,
  KHADIM_VAULT_ERROR_LOCKED,
  KHADIM_VAULT_ERROR_UNAVAILABLE,
  KHADIM_VAULT_ERROR_DENIED,
  KHADIM_VAULT_ERROR_INVALID,
  KHADIM_VAULT_ERROR_TIMEOUT,
} KhadimVaultError;

#define KHADIM_VAULT_ERROR (khadim_vault_error_quark ())
GQuark khadim_vault_error_quark (void);

G_END_DECLS
