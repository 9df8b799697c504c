/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-vault"

#include "config.h"

#include "engine/vault/khadim-vault.h"

#include <string.h>

/* KhadimVault: where secrets are kept. Whatever the back end does, a call
 * ends: with its answer, with the time, or with the cancellable. */

typedef struct {
  guint timeout_ms;
} KhadimVaultPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (KhadimVault, khadim_vault, G_TYPE_OBJECT)

/* A call on its way. The back end's callback holds one reference, the sources
 * hold none: they are destroyed with the answer. */
typedef struct {
  gatomicrefcount ref_count;
  GTask *task; /* owned until it is answered, then NULL */
  GCancellable *cancellable; /* owned; the back end's own */
  GSource *timer; /* owned */
  GSource *cancel_watch; /* owned, NULL if the caller gave no cancellable */
} Call;

static void
khadim_vault_class_init (KhadimVaultClass *klass)
{
}

static void
khadim_vault_init (KhadimVault *self)
{
  KhadimVaultPrivate *priv = khadim_vault_get_instance_private (self);

  priv->timeout_ms = KHADIM_VAULT_DEFAULT_TIMEOUT_MS;
}

/**
 * khadim_vault_set_timeout:
 * @self: a vault
 * @timeout_ms: milliseconds, at least 1
 *
 * How long calls that begin from now on may take. Set it before the vault is
 * used.
 */
void
khadim_vault_set_timeout (KhadimVault *self,
                          guint        timeout_ms)
{
  KhadimVaultPrivate *priv = khadim_vault_get_instance_private (self);

  g_return_if_fail (KHADIM_IS_VAULT (self));
  g_return_if_fail (timeout_ms > 0);

  priv->timeout_ms = timeout_ms;
}

/**
 * khadim_vault_get_timeout:
 * @self: a vault
 *
 * Any thread.
 *
 * Returns: how long a call may take, in milliseconds
 */
guint
khadim_vault_get_timeout (KhadimVault *self)
{
  KhadimVaultPrivate *priv = khadim_vault_get_instance_private (self);

  g_return_val_if_fail (KHADIM_IS_VAULT (self), 0);

  return priv->timeout_ms;
}

static void
clear_source (GSource **source)
{
  if (*source == NULL)
    return;

  g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}

static Call *
call_ref (Call *call)
{
  g_atomic_ref_count_inc (&call->ref_count);

  return call;
}

static void
call_unref (Call *call)
{
  if (!g_atomic_ref_count_dec (&call->ref_count))
    return;

  g_assert (call->task == NULL);
  g_clear_object (&call->cancellable);
  g_free (call);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Call, call_unref)

/* The task, for the one who answers it; NULL if it is answered. */
static GTask *
call_steal_task (Call *call)
{
  clear_source (&call->timer);
  clear_source (&call->cancel_watch);

  return g_steal_pointer (&call->task);
}

static gboolean
on_call_timeout_cb (gpointer data)
{
  g_autoptr(Call) call = call_ref (data);
  g_autoptr(GTask) task = call_steal_task (call);

  g_cancellable_cancel (call->cancellable);
  g_task_return_new_error (task, KHADIM_VAULT_ERROR, KHADIM_VAULT_ERROR_TIMEOUT,
                           "The vault did not answer in time");

  return G_SOURCE_REMOVE;
}

static gboolean
on_call_cancelled_cb (GCancellable *cancellable,
                      gpointer      data)
{
  g_autoptr(Call) call = call_ref (data);
  g_autoptr(GTask) task = call_steal_task (call);

  g_cancellable_cancel (call->cancellable);
  g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_CANCELLED, "The call was cancelled");

  return G_SOURCE_REMOVE;
}

/* Watches over @task; the caller hands the result to the back end. */
static Call *
call_new (KhadimVault *self,
          GTask       *task)
{
  KhadimVaultPrivate *priv = khadim_vault_get_instance_private (self);
  GCancellable *cancellable = g_task_get_cancellable (task);
  Call *call = g_new0 (Call, 1);

  g_atomic_ref_count_init (&call->ref_count);
  call->task = g_object_ref (task);
  call->cancellable = g_cancellable_new ();
  call->timer = g_timeout_source_new (priv->timeout_ms);
  g_source_set_callback (call->timer, on_call_timeout_cb, call, NULL);
  g_source_attach (call->timer, g_task_get_context (task));

  if (cancellable != NULL)
    {
      call->cancel_watch = g_cancellable_source_new (cancellable);
      g_source_set_callback (call->cancel_watch, G_SOURCE_FUNC (on_call_cancelled_cb), call,
                             NULL);
      g_source_attach (call->cancel_watch, g_task_get_context (task));
    }

  return call;
}

static GTask *
task_new (KhadimVault         *self,
          GCancellable        *cancellable,
          GAsyncReadyCallback  callback,
          gpointer             user_data,
          gpointer             tag,
          const char          *name)
{
  GTask *task = g_task_new (self, cancellable, callback, user_data);

  g_task_set_source_tag (task, tag);
  g_task_set_name (task, name);
  g_task_set_check_cancellable (task, FALSE);

  return task;
}

static void
on_lookup_ready_cb (GObject      *source,
                    GAsyncResult *result,
                    gpointer      user_data)
{
  KhadimVault *self = KHADIM_VAULT (source);
  g_autoptr(Call) call = user_data;
  g_autoptr(GTask) task = call_steal_task (call);
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimSecret) secret = NULL;

  secret = KHADIM_VAULT_GET_CLASS (self)->lookup_finish (self, result, &error);
  if (task == NULL)
    return;
  if (secret != NULL)
    g_task_return_pointer (task, g_steal_pointer (&secret), (GDestroyNotify) khadim_secret_unref);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

/**
 * khadim_vault_lookup_async:
 * @self: a vault
 * @reference: `name/field`
 * @cancellable: (nullable): ends the call at once
 * @callback: called in the thread's default context of now
 * @user_data: for @callback
 *
 * Reads a secret. Any thread with a main context, if the back end allows it.
 */
void
khadim_vault_lookup_async (KhadimVault         *self,
                           const char          *reference,
                           GCancellable        *cancellable,
                           GAsyncReadyCallback  callback,
                           gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *name = NULL;
  g_autofree char *field = NULL;
  Call *call;

  g_return_if_fail (KHADIM_IS_VAULT (self));
  g_return_if_fail (reference != NULL);

  task = task_new (self, cancellable, callback, user_data, khadim_vault_lookup_async,
                   "vault lookup");
  if (!khadim_secret_reference_split (reference, &name, &field, &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  call = call_new (self, task);
  KHADIM_VAULT_GET_CLASS (self)->lookup_async (self, name, field, call->cancellable,
                                               on_lookup_ready_cb, call);
}

/**
 * khadim_vault_lookup_finish:
 * @self: a vault
 * @result: what the callback got
 * @error: return location
 *
 * Ends khadim_vault_lookup_async().
 *
 * Returns: (transfer full): the secret, or %NULL with a code of
 *   #KhadimVaultError, or %G_IO_ERROR_CANCELLED
 */
KhadimSecret *
khadim_vault_lookup_finish (KhadimVault   *self,
                            GAsyncResult  *result,
                            GError       **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, khadim_vault_lookup_async), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

static void
on_sync_ready_cb (GObject      *source,
                  GAsyncResult *result,
                  gpointer      user_data)
{
  GAsyncResult **out_result = user_data;

  *out_result = g_object_ref (result);
}

/**
 * khadim_vault_lookup_sync:
 * @self: a vault
 * @reference: `name/field`
 * @cancellable: (nullable): ends the call at once
 * @error: return location
 *
 * Reads a secret and waits for it, on a context of its own. For worker
 * threads, the terminal and tests; never on the engine's or the window's
 * thread.
 *
 * Returns: (transfer full): the secret, or %NULL with an error as
 *   khadim_vault_lookup_finish() has
 */
KhadimSecret *
khadim_vault_lookup_sync (KhadimVault   *self,
                          const char    *reference,
                          GCancellable  *cancellable,
                          GError       **error)
{
  g_autoptr(GMainContext) context = g_main_context_new ();
  g_autoptr(GAsyncResult) result = NULL;

  g_return_val_if_fail (KHADIM_IS_VAULT (self), NULL);
  g_return_val_if_fail (reference != NULL, NULL);

  g_main_context_push_thread_default (context);
  khadim_vault_lookup_async (self, reference, cancellable, on_sync_ready_cb, &result);
  while (result == NULL)
    g_main_context_iteration (context, TRUE);
  g_main_context_pop_thread_default (context);

  return khadim_vault_lookup_finish (self, result, error);
}

static void
on_list_ready_cb (GObject      *source,
                  GAsyncResult *result,
                  gpointer      user_data)
{
  KhadimVault *self = KHADIM_VAULT (source);
  g_autoptr(Call) call = user_data;
  g_autoptr(GTask) task = call_steal_task (call);
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) references = NULL;

  references = KHADIM_VAULT_GET_CLASS (self)->list_finish (self, result, &error);
  if (task == NULL)
    return;
  if (references != NULL)
    g_task_return_pointer (task, g_steal_pointer (&references), (GDestroyNotify) g_strfreev);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

/**
 * khadim_vault_list_async:
 * @self: a vault
 * @cancellable: (nullable): ends the call at once
 * @callback: called in the thread's default context of now
 * @user_data: for @callback
 *
 * Lists what is in the vault, without the secrets themselves.
 */
void
khadim_vault_list_async (KhadimVault         *self,
                         GCancellable        *cancellable,
                         GAsyncReadyCallback  callback,
                         gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  Call *call;

  g_return_if_fail (KHADIM_IS_VAULT (self));

  task = task_new (self, cancellable, callback, user_data, khadim_vault_list_async, "vault list");
  call = call_new (self, task);
  KHADIM_VAULT_GET_CLASS (self)->list_async (self, call->cancellable, on_list_ready_cb, call);
}

/**
 * khadim_vault_list_finish:
 * @self: a vault
 * @result: what the callback got
 * @error: return location
 *
 * Ends khadim_vault_list_async().
 *
 * Returns: (transfer full) (array zero-terminated=1): references,
 *   `name/field`, in the order of their bytes, or %NULL with a code of
 *   #KhadimVaultError, or %G_IO_ERROR_CANCELLED
 */
char **
khadim_vault_list_finish (KhadimVault   *self,
                          GAsyncResult  *result,
                          GError       **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, khadim_vault_list_async), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

/* Answers a call that changes the vault. */
static void
return_change (Call     *call,
               gboolean  ok,
               GError   *error)
{
  g_autoptr(GTask) task = call_steal_task (call);

  if (task == NULL)
    g_clear_error (&error);
  else if (ok)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
on_store_ready_cb (GObject      *source,
                   GAsyncResult *result,
                   gpointer      user_data)
{
  KhadimVault *self = KHADIM_VAULT (source);
  g_autoptr(Call) call = user_data;
  GError *error = NULL;
  gboolean ok = KHADIM_VAULT_GET_CLASS (self)->store_finish (self, result, &error);

  return_change (call, ok, error);
}

/**
 * khadim_vault_store_async:
 * @self: a vault
 * @reference: `name/field`
 * @secret: what to keep
 * @cancellable: (nullable): ends the call at once; the secret may have been
 *   stored all the same
 * @callback: called in the thread's default context of now
 * @user_data: for @callback
 *
 * Stores a secret, in place of what was there.
 */
void
khadim_vault_store_async (KhadimVault         *self,
                          const char          *reference,
                          KhadimSecret        *secret,
                          GCancellable        *cancellable,
                          GAsyncReadyCallback  callback,
                          gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *name = NULL;
  g_autofree char *field = NULL;
  Call *call;

  g_return_if_fail (KHADIM_IS_VAULT (self));
  g_return_if_fail (reference != NULL);
  g_return_if_fail (secret != NULL);

  task = task_new (self, cancellable, callback, user_data, khadim_vault_store_async,
                   "vault store");
  if (!khadim_secret_reference_split (reference, &name, &field, &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  call = call_new (self, task);
  KHADIM_VAULT_GET_CLASS (self)->store_async (self, name, field, secret, call->cancellable,
                                              on_store_ready_cb, call);
}

/**
 * khadim_vault_store_finish:
 * @self: a vault
 * @result: what the callback got
 * @error: return location
 *
 * Ends khadim_vault_store_async().
 *
 * Returns: %FALSE with a code of #KhadimVaultError, or %G_IO_ERROR_CANCELLED
 */
gboolean
khadim_vault_store_finish (KhadimVault   *self,
                           GAsyncResult  *result,
                           GError       **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, khadim_vault_store_async), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

static void
on_clear_ready_cb (GObject      *source,
                   GAsyncResult *result,
                   gpointer      user_data)
{
  KhadimVault *self = KHADIM_VAULT (source);
  g_autoptr(Call) call = user_data;
  GError *error = NULL;
  gboolean ok = KHADIM_VAULT_GET_CLASS (self)->clear_finish (self, result, &error);

  return_change (call, ok, error);
}

/**
 * khadim_vault_clear_async:
 * @self: a vault
 * @reference: `name/field`
 * @cancellable: (nullable): ends the call at once; the secret may have been
 *   removed all the same
 * @callback: called in the thread's default context of now
 * @user_data: for @callback
 *
 * Removes a secret. That there is none is %KHADIM_VAULT_ERROR_NOT_FOUND.
 */
void
khadim_vault_clear_async (KhadimVault         *self,
                          const char          *reference,
                          GCancellable        *cancellable,
                          GAsyncReadyCallback  callback,
                          gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *name = NULL;
  g_autofree char *field = NULL;
  Call *call;

  g_return_if_fail (KHADIM_IS_VAULT (self));
  g_return_if_fail (reference != NULL);

  task = task_new (self, cancellable, callback, user_data, khadim_vault_clear_async,
                   "vault clear");
  if (!khadim_secret_reference_split (reference, &name, &field, &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  call = call_new (self, task);
  KHADIM_VAULT_GET_CLASS (self)->clear_async (self, name, field, call->cancellable,
                                              on_clear_ready_cb, call);
}

/**
 * khadim_vault_clear_finish:
 * @self: a vault
 * @result: what the callback got
 * @error: return location
 *
 * Ends khadim_vault_clear_async().
 *
 * Returns: %FALSE with a code of #KhadimVaultError, or %G_IO_ERROR_CANCELLED
 */
gboolean
khadim_vault_clear_finish (KhadimVault   *self,
                           GAsyncResult  *result,
                           GError       **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, khadim_vault_clear_async), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}
