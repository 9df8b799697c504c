/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "engine/base/khadim-types.h"
#include "engine/vault/khadim-secret.h"
#include "engine/vault/khadim-vault-error.h"

G_BEGIN_DECLS

/**
 * KHADIM_VAULT_DEFAULT_TIMEOUT_MS:
 *
 * How long a vault may take, in milliseconds: a person may have to unlock it.
 */
#define KHADIM_VAULT_DEFAULT_TIMEOUT_MS 120000

#define KHADIM_TYPE_VAULT (khadim_vault_get_type ())
G_DECLARE_DERIVABLE_TYPE (KhadimVault, khadim_vault, KHADIM, VAULT, GObject)

/**
 * KhadimVaultClass:
 * @lookup_async: reads a field
 * @lookup_finish: its result
 * @list_async: lists the references
 * @list_finish: its result
 * @store_async: writes a field
 * @store_finish: its result
 * @clear_async: removes a field
 * @clear_finish: its result
 *
 * What a back end implements. Arguments are checked before, and the time
 * limit is kept: the back end gets a cancellable that is cancelled then, and
 * calls back when it can, in the thread's default context.
 */
struct _KhadimVaultClass
{
  GObjectClass parent_class;

  void          (*lookup_async)  (KhadimVault          *self,
                                  const char           *name,
                                  const char           *field,
                                  GCancellable         *cancellable,
                                  GAsyncReadyCallback   callback,
                                  gpointer              user_data);
  KhadimSecret *(*lookup_finish) (KhadimVault          *self,
                                  GAsyncResult         *result,
                                  GError              **error);
  void          (*list_async)    (KhadimVault          *self,
                                  GCancellable         *cancellable,
                                  GAsyncReadyCallback   callback,
                                  gpointer              user_data);
  char        **(*list_finish)   (KhadimVault          *self,
                                  GAsyncResult         *result,
                                  GError              **error);
  void          (*store_async)   (KhadimVault          *self,
                                  const char           *name,
                                  const char           *field,
                                  KhadimSecret         *secret,
                                  GCancellable         *cancellable,
                                  GAsyncReadyCallback   callback,
                                  gpointer              user_data);
  gboolean      (*store_finish)  (KhadimVault          *self,
                                  GAsyncResult         *result,
                                  GError              **error);
  void          (*clear_async)   (KhadimVault          *self,
                                  const char           *name,
                                  const char           *field,
                                  GCancellable         *cancellable,
                                  GAsyncReadyCallback   callback,
                                  gpointer              user_data);
  gboolean      (*clear_finish)  (KhadimVault          *self,
                                  GAsyncResult         *result,
                                  GError              **error);

  /*< private >*/
  gpointer padding[8];
};

void          khadim_vault_set_timeout   (KhadimVault          *self,
                                          guint                 timeout_ms);
guint         khadim_vault_get_timeout   (KhadimVault          *self);

void          khadim_vault_lookup_async  (KhadimVault          *self,
                                          const char           *reference,
                                          GCancellable         *cancellable,
                                          GAsyncReadyCallback   callback,
                                          gpointer              user_data);
KhadimSecret *khadim_vault_lookup_finish (KhadimVault          *self,
                                          GAsyncResult         *result,
                                          GError              **error);
KhadimSecret *khadim_vault_lookup_sync   (KhadimVault          *self,
                                          const char           *reference,
                                          GCancellable         *cancellable,
                                          GError              **error);
void          khadim_vault_list_async    (KhadimVault          *self,
                                          GCancellable         *cancellable,
                                          GAsyncReadyCallback   callback,
                                          gpointer              user_data);
char        **khadim_vault_list_finish   (KhadimVault          *self,
                                          GAsyncResult         *result,
                                          GError              **error);
void          khadim_vault_store_async   (KhadimVault          *self,
                                          const char           *reference,
                                          KhadimSecret         *secret,
                                          GCancellable         *cancellable,
                                          GAsyncReadyCallback   callback,
                                          gpointer              user_data);
gboolean      khadim_vault_store_finish  (KhadimVault          *self,
                                          GAsyncResult         *result,
                                          GError              **error);
void          khadim_vault_clear_async   (KhadimVault          *self,
                                          const char           *reference,
                                          GCancellable         *cancellable,
                                          GAsyncReadyCallback   callback,
                                          gpointer              user_data);
gboolean      khadim_vault_clear_finish  (KhadimVault          *self,
                                          GAsyncResult         *result,
                                          GError              **error);

G_END_DECLS
