/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-secrets"

#include "config.h"

#include "engine/session/khadim-secrets-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"

struct _KhadimSecrets
{
  gatomicrefcount ref_count;

  KhadimEngine *engine;    /* owned */
  GPtrArray *references;   /* (owned) of char *, NAME/FIELD, that are still to be read */
  GHashTable *secrets;     /* (owned) NAME/FIELD → KhadimSecret; not changed once loaded */

  GCancellable *cancellable;
  KhadimSecretsDone done;
  gpointer user_data;
};

KhadimSecrets *
_khadim_secrets_new (KhadimEngine *engine)
{
  KhadimSecrets *self = g_new0 (KhadimSecrets, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->engine = g_object_ref (engine);
  self->references = g_ptr_array_new_with_free_func (g_free);
  self->secrets = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                         (GDestroyNotify) khadim_secret_unref);

  return self;
}

void
_khadim_secrets_unref (KhadimSecrets *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_object_unref (self->engine);
  g_ptr_array_unref (self->references);
  g_hash_table_unref (self->secrets);
  g_clear_object (&self->cancellable);
  g_free (self);
}

static void collect (KhadimSecrets *self,
                     JsonNode      *node);

static void
collect_object (KhadimSecrets *self,
                JsonObject    *object,
                JsonNode      *node)
{
  g_autofree char *name = NULL;
  g_autofree char *field = NULL;
  g_autofree char *format = NULL;
  JsonObjectIter iter;
  const char *member;
  JsonNode *value;

  if (json_object_has_member (object, "secret") &&
      khadim_secret_reference_parse (node, &name, &field, &format, NULL))
    {
      g_ptr_array_add (self->references, g_strdup_printf ("%s/%s", name, field));
      return;
    }
  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &member, &value))
    collect (self, value);
}

static void
collect (KhadimSecrets *self,
         JsonNode      *node)
{
  JsonArray *array;

  if (JSON_NODE_HOLDS_OBJECT (node))
    collect_object (self, json_node_get_object (node), node);
  else if (JSON_NODE_HOLDS_ARRAY (node))
    {
      array = json_node_get_array (node);
      for (guint i = 0; i < json_array_get_length (array); i++)
        collect (self, json_array_get_element (array, i));
    }
}

static void load_next (KhadimSecrets *self);

static void
finish (KhadimSecrets *self,
        const GError  *error)
{
  self->done (self, error, self->user_data);
  _khadim_secrets_unref (self);
}

static void
on_lookup_cb (GObject      *object,
              GAsyncResult *result,
              gpointer      user_data)
{
  KhadimSecrets *self = user_data;
  g_autoptr(GError) error = NULL;
  g_autofree char *reference = g_ptr_array_steal_index_fast (self->references,
                                                             self->references->len - 1);
  KhadimSecret *secret = khadim_vault_lookup_finish (KHADIM_VAULT (object), result, &error);

  if (secret == NULL)
    {
      g_prefix_error (&error, "the secret “%s”: ", reference);
      finish (self, error);
      return;
    }
  /* From here on nothing that is stored or shown can hold it. */
  khadim_redactor_add (khadim_engine_get_redactor (self->engine), reference,
                       khadim_secret_get_text (secret));
  g_hash_table_replace (self->secrets, g_steal_pointer (&reference), secret);
  load_next (self);
}

static void
load_next (KhadimSecrets *self)
{
  if (self->references->len == 0)
    {
      finish (self, NULL);
      return;
    }
  khadim_vault_lookup_async (khadim_engine_get_vault (self->engine),
                             self->references->pdata[self->references->len - 1],
                             self->cancellable, on_lookup_cb, self);
}

/* Reads every secret that @args refer to; @done may run before this returns. */
void
_khadim_secrets_load (KhadimSecrets     *self,
                      JsonNode          *args,
                      GCancellable      *cancellable,
                      KhadimSecretsDone  done,
                      gpointer           user_data)
{
  g_atomic_ref_count_inc (&self->ref_count);
  self->cancellable = g_object_ref (cancellable);
  self->done = done;
  self->user_data = user_data;
  collect (self, args);
  load_next (self);
}

/* The text that stands for @reference, formatted. Any thread, once loaded.
 *
 * Returns: (transfer full) (nullable): the text; the caller wipes it */
char *
_khadim_secrets_get (KhadimSecrets  *self,
                     JsonNode       *reference,
                     GError        **error)
{
  g_autofree char *name = NULL;
  g_autofree char *field = NULL;
  g_autofree char *format = NULL;
  g_autofree char *key = NULL;
  g_autoptr(KhadimSecret) formatted = NULL;
  KhadimSecret *secret;

  if (!khadim_secret_reference_parse (reference, &name, &field, &format, error))
    return NULL;
  key = g_strdup_printf ("%s/%s", name, field);
  secret = g_hash_table_lookup (self->secrets, key);
  if (secret == NULL)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_NOT_FOUND,
                   "the secret “%s” was not read for this call", key);
      return NULL;
    }

  if (format == NULL)
    return g_strdup (khadim_secret_get_text (secret));

  formatted = khadim_secret_new_formatted (secret, format, error);

  return formatted != NULL ? g_strdup (khadim_secret_get_text (formatted)) : NULL;
}
