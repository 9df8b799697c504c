/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-vault-memory"

#include "config.h"

#include "engine/vault/khadim-vault-memory.h"

/* KhadimVaultMemory: keeps secrets for as long as it lives. For containers,
 * which get theirs at the start, and for tests. */
struct _KhadimVaultMemory
{
  KhadimVault parent_instance;

  GMutex lock; /* guards all below */
  GHashTable *secrets; /* owned: reference to KhadimSecret */
  KhadimVaultMemoryState state;
};

G_DEFINE_FINAL_TYPE (KhadimVaultMemory, khadim_vault_memory, KHADIM_TYPE_VAULT)

static gboolean
on_silent_cancelled_cb (GCancellable *cancellable,
                        gpointer      user_data)
{
  GTask *task = user_data;

  g_task_return_error_if_cancelled (task);

  return G_SOURCE_REMOVE;
}

static void
wait_in_silence (GTask *task)
{
  g_autoptr(GSource) source = g_cancellable_source_new (g_task_get_cancellable (task));

  g_task_attach_source (task, source, G_SOURCE_FUNC (on_silent_cancelled_cb));
}

/* Refuses @task as the state says, or, if silent, leaves it until it is
 * cancelled. Returns whether the call is to be answered. */
static gboolean
may_answer (KhadimVaultMemory *self,
            GTask             *task)
{
  static const struct
  {
    int code;
    const char *text;
  } refusals[] = {
    [KHADIM_VAULT_MEMORY_LOCKED] = { KHADIM_VAULT_ERROR_LOCKED, "The vault is locked" },
    [KHADIM_VAULT_MEMORY_UNAVAILABLE] = { KHADIM_VAULT_ERROR_UNAVAILABLE,
                                          "Nothing keeps secrets here" },
    [KHADIM_VAULT_MEMORY_DENIED] = { KHADIM_VAULT_ERROR_DENIED, "The secret was refused" },
  };

  if (self->state == KHADIM_VAULT_MEMORY_OPEN)
    return TRUE;

  if (self->state == KHADIM_VAULT_MEMORY_SILENT)
    wait_in_silence (task);
  else
    g_task_return_new_error (task, KHADIM_VAULT_ERROR, refusals[self->state].code, "%s",
                             refusals[self->state].text);

  return FALSE;
}

static GTask *
task_new (KhadimVault         *vault,
          GCancellable        *cancellable,
          GAsyncReadyCallback  callback,
          gpointer             user_data,
          gpointer             tag,
          const char          *name)
{
  GTask *task = g_task_new (vault, cancellable, callback, user_data);

  g_task_set_source_tag (task, tag);
  g_task_set_name (task, name);

  return task;
}

static void
return_not_found (GTask      *task,
                  const char *reference)
{
  g_task_return_new_error (task, KHADIM_VAULT_ERROR, KHADIM_VAULT_ERROR_NOT_FOUND,
                           "There is no secret “%s”", reference);
}

static void
khadim_vault_memory_lookup_async (KhadimVault         *vault,
                                  const char          *name,
                                  const char          *field,
                                  GCancellable        *cancellable,
                                  GAsyncReadyCallback  callback,
                                  gpointer             user_data)
{
  KhadimVaultMemory *self = KHADIM_VAULT_MEMORY (vault);
  g_autofree char *reference = g_strdup_printf ("%s/%s", name, field);
  g_autoptr(GTask) task = task_new (vault, cancellable, callback, user_data,
                                    khadim_vault_memory_lookup_async, "memory lookup");
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  KhadimSecret *secret;

  if (!may_answer (self, task))
    return;

  secret = g_hash_table_lookup (self->secrets, reference);
  if (secret == NULL)
    return_not_found (task, reference);
  else
    g_task_return_pointer (task, khadim_secret_ref (secret), (GDestroyNotify) khadim_secret_unref);
}

static KhadimSecret *
khadim_vault_memory_lookup_finish (KhadimVault   *vault,
                                   GAsyncResult  *result,
                                   GError       **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

static int
compare_references (gconstpointer a,
                    gconstpointer b)
{
  return g_strcmp0 (*(const char *const *) a, *(const char *const *) b);
}

static void
khadim_vault_memory_list_async (KhadimVault         *vault,
                                GCancellable        *cancellable,
                                GAsyncReadyCallback  callback,
                                gpointer             user_data)
{
  KhadimVaultMemory *self = KHADIM_VAULT_MEMORY (vault);
  g_autoptr(GTask) task = task_new (vault, cancellable, callback, user_data,
                                    khadim_vault_memory_list_async, "memory list");
  g_autoptr(GPtrArray) references = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  GHashTableIter iter;
  gpointer reference;

  if (!may_answer (self, task))
    return;

  g_hash_table_iter_init (&iter, self->secrets);
  while (g_hash_table_iter_next (&iter, &reference, NULL))
    g_ptr_array_add (references, g_strdup (reference));
  g_ptr_array_sort (references, compare_references);
  g_ptr_array_add (references, NULL);
  g_task_return_pointer (task, g_ptr_array_steal (references, NULL), (GDestroyNotify) g_strfreev);
}

static char **
khadim_vault_memory_list_finish (KhadimVault   *vault,
                                 GAsyncResult  *result,
                                 GError       **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

static void
khadim_vault_memory_store_async (KhadimVault         *vault,
                                 const char          *name,
                                 const char          *field,
                                 KhadimSecret        *secret,
                                 GCancellable        *cancellable,
                                 GAsyncReadyCallback  callback,
                                 gpointer             user_data)
{
  KhadimVaultMemory *self = KHADIM_VAULT_MEMORY (vault);
  g_autoptr(GTask) task = task_new (vault, cancellable, callback, user_data,
                                    khadim_vault_memory_store_async, "memory store");
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  if (!may_answer (self, task))
    return;

  g_hash_table_replace (self->secrets, g_strdup_printf ("%s/%s", name, field),
                        khadim_secret_ref (secret));
  g_task_return_boolean (task, TRUE);
}

static gboolean
khadim_vault_memory_change_finish (KhadimVault   *vault,
                                   GAsyncResult  *result,
                                   GError       **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

static void
khadim_vault_memory_clear_async (KhadimVault         *vault,
                                 const char          *name,
                                 const char          *field,
                                 GCancellable        *cancellable,
                                 GAsyncReadyCallback  callback,
                                 gpointer             user_data)
{
  KhadimVaultMemory *self = KHADIM_VAULT_MEMORY (vault);
  g_autofree char *reference = g_strdup_printf ("%s/%s", name, field);
  g_autoptr(GTask) task = task_new (vault, cancellable, callback, user_data,
                                    khadim_vault_memory_clear_async, "memory clear");
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  if (!may_answer (self, task))
    return;

  if (g_hash_table_remove (self->secrets, reference))
    g_task_return_boolean (task, TRUE);
  else
    return_not_found (task, reference);
}

static void
khadim_vault_memory_finalize (GObject *object)
{
  KhadimVaultMemory *self = KHADIM_VAULT_MEMORY (object);

  g_clear_pointer (&self->secrets, g_hash_table_unref);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (khadim_vault_memory_parent_class)->finalize (object);
}

static void
khadim_vault_memory_class_init (KhadimVaultMemoryClass *klass)
{
  KhadimVaultClass *vault_class = KHADIM_VAULT_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = khadim_vault_memory_finalize;
  vault_class->lookup_async = khadim_vault_memory_lookup_async;
  vault_class->lookup_finish = khadim_vault_memory_lookup_finish;
  vault_class->list_async = khadim_vault_memory_list_async;
  vault_class->list_finish = khadim_vault_memory_list_finish;
  vault_class->store_async = khadim_vault_memory_store_async;
  vault_class->store_finish = khadim_vault_memory_change_finish;
  vault_class->clear_async = khadim_vault_memory_clear_async;
  vault_class->clear_finish = khadim_vault_memory_change_finish;
}

static void
khadim_vault_memory_init (KhadimVaultMemory *self)
{
  g_mutex_init (&self->lock);
  self->secrets = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                         (GDestroyNotify) khadim_secret_unref);
}

/**
 * khadim_vault_memory_new:
 *
 * Makes an empty vault, which may be used from any thread.
 *
 * Returns: (transfer full): the vault
 */
KhadimVault *
khadim_vault_memory_new (void)
{
  return g_object_new (KHADIM_TYPE_VAULT_MEMORY, NULL);
}

/**
 * khadim_vault_memory_add:
 * @self: a vault in memory
 * @reference: `name/field`
 * @text: the secret
 * @error: return location
 *
 * Puts in a secret at once, whatever the state. Any thread.
 *
 * Returns: %FALSE with %KHADIM_VAULT_ERROR_INVALID
 */
gboolean
khadim_vault_memory_add (KhadimVaultMemory  *self,
                         const char         *reference,
                         const char         *text,
                         GError            **error)
{
  g_autofree char *name = NULL;
  g_autofree char *field = NULL;
  KhadimSecret *secret;

  g_return_val_if_fail (KHADIM_IS_VAULT_MEMORY (self), FALSE);
  g_return_val_if_fail (reference != NULL && text != NULL, FALSE);

  if (!khadim_secret_reference_split (reference, &name, &field, error))
    return FALSE;
  secret = khadim_secret_new (text, -1, error);
  if (secret == NULL)
    return FALSE;

  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  g_hash_table_replace (self->secrets, g_strdup (reference), secret);

  return TRUE;
}

/**
 * khadim_vault_memory_set_state:
 * @self: a vault in memory
 * @state: how to behave from now on
 *
 * Lets the vault refuse as others do. Any thread.
 */
void
khadim_vault_memory_set_state (KhadimVaultMemory      *self,
                               KhadimVaultMemoryState  state)
{
  g_return_if_fail (KHADIM_IS_VAULT_MEMORY (self));

  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  self->state = state;
}
