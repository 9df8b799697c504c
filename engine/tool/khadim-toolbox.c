/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-toolbox"

#include "config.h"

#include "engine/tool/khadim-toolbox.h"

#include <string.h>

#include "engine/json/khadim-json.h"
#include "engine/json/khadim-schema.h"

/* KhadimToolbox: the tool domains of an engine, looked up by a tool's name.
 * Domains that are dear to load (the screen's) come by a loader when their
 * first tool is wanted. */
struct _KhadimToolbox
{
  GObject parent_instance;

  GMutex lock;                /* guards what follows */
  GHashTable *domains;        /* (owned) name → KhadimToolDomain */
  GHashTable *schemas;        /* (owned) tool → KhadimSchema */
  GArray *stops;              /* of Stop */
  guint next_stop;

  GStrv loadable;
  KhadimToolboxLoader loader;
  gpointer loader_data;
  GDestroyNotify loader_destroy;
};

typedef struct
{
  guint id;
  KhadimToolboxStopFunc func;
  gpointer user_data;
} Stop;

G_DEFINE_FINAL_TYPE (KhadimToolbox, khadim_toolbox, G_TYPE_OBJECT)

static void
khadim_toolbox_finalize (GObject *object)
{
  KhadimToolbox *self = KHADIM_TOOLBOX (object);

  if (self->loader_destroy != NULL)
    self->loader_destroy (self->loader_data);
  g_strfreev (self->loadable);
  g_array_unref (self->stops);
  g_hash_table_unref (self->schemas);
  g_hash_table_unref (self->domains);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (khadim_toolbox_parent_class)->finalize (object);
}

static void
khadim_toolbox_class_init (KhadimToolboxClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_toolbox_finalize;
}

static void
khadim_toolbox_init (KhadimToolbox *self)
{
  g_mutex_init (&self->lock);
  self->stops = g_array_new (FALSE, FALSE, sizeof (Stop));
  self->domains = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_object_unref);
  self->schemas = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                         (GDestroyNotify) khadim_schema_unref);
}

/**
 * khadim_toolbox_new:
 *
 * Any thread.
 *
 * Returns: (transfer full): an empty toolbox
 */
KhadimToolbox *
khadim_toolbox_new (void)
{
  return g_object_new (KHADIM_TYPE_TOOLBOX, NULL);
}

/**
 * khadim_toolbox_add_domain:
 * @self: a toolbox
 * @domain: a domain; one of the same name is replaced
 *
 * Any thread.
 */
void
khadim_toolbox_add_domain (KhadimToolbox    *self,
                           KhadimToolDomain *domain)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = NULL;

  g_return_if_fail (KHADIM_IS_TOOLBOX (self));
  g_return_if_fail (KHADIM_IS_TOOL_DOMAIN (domain));

  locker = g_mutex_locker_new (&self->lock);
  g_hash_table_insert (self->domains,
                       g_strdup (khadim_tool_domain_get_name (domain)),
                       g_object_ref (domain));
}

/**
 * khadim_toolbox_set_loader: (skip)
 * @self: a toolbox
 * @domains: (array zero-terminated=1): the names that @loader can load
 * @loader: called at the first look-up of one of them
 * @user_data: for @loader
 * @destroy: (nullable): frees @user_data
 *
 * To be called before the first look-up.
 */
void
khadim_toolbox_set_loader (KhadimToolbox       *self,
                           const char *const   *domains,
                           KhadimToolboxLoader  loader,
                           gpointer             user_data,
                           GDestroyNotify       destroy)
{
  g_return_if_fail (KHADIM_IS_TOOLBOX (self));
  g_return_if_fail (loader != NULL && self->loader == NULL);

  self->loadable = g_strdupv ((char **) domains);
  self->loader = loader;
  self->loader_data = user_data;
  self->loader_destroy = destroy;
}

static KhadimToolDomain *
find_domain (KhadimToolbox *self,
             const char    *name)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  KhadimToolDomain *domain = g_hash_table_lookup (self->domains, name);

  return domain != NULL ? g_object_ref (domain) : NULL;
}

/* The lock is not held while the loader runs: it adds domains. */
static KhadimToolDomain *
get_domain (KhadimToolbox  *self,
            const char     *name,
            GError        **error)
{
  KhadimToolDomain *domain = find_domain (self, name);

  if (domain != NULL)
    return domain;

  if (self->loader != NULL && g_strv_contains ((const char *const *) self->loadable, name))
    {
      if (!self->loader (self, name, self->loader_data, error))
        return NULL;
      domain = find_domain (self, name);
    }
  if (domain == NULL)
    g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_NOT_FOUND,
                 "there are no tools named “%s.…”", name);

  return domain;
}

static KhadimSchema *
get_schema (KhadimToolbox         *self,
            const KhadimToolInfo  *info,
            GError               **error)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  KhadimSchema *schema = g_hash_table_lookup (self->schemas, info->name);
  g_autoptr(JsonNode) node = NULL;

  if (schema != NULL)
    return khadim_schema_ref (schema);

  node = khadim_json_parse (info->input_schema, -1, NULL, error);
  if (node != NULL)
    schema = khadim_schema_new (node, error);
  if (schema == NULL)
    {
      g_prefix_error (error, "The schema of “%s”: ", info->name);
      return NULL;
    }
  g_hash_table_insert (self->schemas, g_strdup (info->name), khadim_schema_ref (schema));

  return schema;
}

static void
set_unknown_tool (KhadimToolDomain  *domain,
                  const char        *tool,
                  GError           **error)
{
  g_autoptr(GString) known = g_string_new (NULL);
  guint n_tools = 0;
  const KhadimToolInfo *tools = khadim_tool_domain_list (domain, &n_tools);

  for (guint i = 0; i < n_tools; i++)
    g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", tools[i].name);
  g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_NOT_FOUND,
               "there is no tool “%s”; there are %s", tool, known->str);
}

/**
 * khadim_toolbox_lookup:
 * @self: a toolbox
 * @tool: a tool's name, `domain.verb`
 * @out_domain: (out) (optional) (transfer full): whose it is
 * @out_schema: (out) (optional) (transfer full): the schema of its arguments,
 *   made once
 * @error: (nullable): `KHADIM_ENGINE_ERROR_NOT_FOUND` for an unknown tool, or
 *   why its domain cannot be loaded
 *
 * Any thread.
 *
 * Returns: (nullable) (transfer none): what the tool says of itself; it lives
 *   as long as the domain
 */
const KhadimToolInfo *
khadim_toolbox_lookup (KhadimToolbox     *self,
                       const char        *tool,
                       KhadimToolDomain **out_domain,
                       KhadimSchema     **out_schema,
                       GError           **error)
{
  g_autoptr(KhadimToolDomain) domain = NULL;
  g_autoptr(KhadimSchema) schema = NULL;
  g_autofree char *name = NULL;
  const KhadimToolInfo *info;

  g_return_val_if_fail (KHADIM_IS_TOOLBOX (self), NULL);
  g_return_val_if_fail (tool != NULL, NULL);

  name = g_strndup (tool, strcspn (tool, "."));
  domain = get_domain (self, name, error);
  if (domain == NULL)
    return NULL;

  info = khadim_tool_domain_lookup (domain, tool);
  if (info == NULL)
    {
      set_unknown_tool (domain, tool, error);
      return NULL;
    }
  if (out_schema != NULL)
    {
      schema = get_schema (self, info, error);
      if (schema == NULL)
        return NULL;
      *out_schema = g_steal_pointer (&schema);
    }
  if (out_domain != NULL)
    *out_domain = g_steal_pointer (&domain);

  return info;
}

/**
 * khadim_toolbox_list_domains:
 * @self: a toolbox
 *
 * The domains that are loaded now. Any thread.
 *
 * Returns: (transfer container) (element-type KhadimToolDomain): them
 */
GPtrArray *
khadim_toolbox_list_domains (KhadimToolbox *self)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = NULL;
  GPtrArray *list = g_ptr_array_new_with_free_func (g_object_unref);
  GHashTableIter iter;
  gpointer domain;

  g_return_val_if_fail (KHADIM_IS_TOOLBOX (self), list);

  locker = g_mutex_locker_new (&self->lock);
  g_hash_table_iter_init (&iter, self->domains);
  while (g_hash_table_iter_next (&iter, NULL, &domain))
    g_ptr_array_add (list, g_object_ref (domain));

  return list;
}

/**
 * khadim_toolbox_add_stop_func: (skip)
 * @self: a toolbox
 * @func: told of each emergency stop, with a lock held: it must not block and
 *   must not call the toolbox
 * @user_data: for @func; it must live until the function is removed
 *
 * Any thread.
 *
 * Returns: an id for khadim_toolbox_remove_stop_func(), never 0
 */
guint
khadim_toolbox_add_stop_func (KhadimToolbox         *self,
                              KhadimToolboxStopFunc  func,
                              gpointer               user_data)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = NULL;
  Stop stop = { .func = func, .user_data = user_data };

  g_return_val_if_fail (KHADIM_IS_TOOLBOX (self), 0);

  locker = g_mutex_locker_new (&self->lock);
  stop.id = ++self->next_stop;
  g_array_append_val (self->stops, stop);

  return stop.id;
}

/**
 * khadim_toolbox_remove_stop_func:
 * @self: a toolbox
 * @id: what khadim_toolbox_add_stop_func() gave
 *
 * When this returns, the function is not running and will not be called. Any
 * thread.
 */
void
khadim_toolbox_remove_stop_func (KhadimToolbox *self,
                                 guint          id)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = NULL;

  g_return_if_fail (KHADIM_IS_TOOLBOX (self));

  locker = g_mutex_locker_new (&self->lock);
  for (guint i = 0; i < self->stops->len; i++)
    if (g_array_index (self->stops, Stop, i).id == id)
      {
        g_array_remove_index (self->stops, i);
        return;
      }
}

/**
 * khadim_toolbox_stop:
 * @self: a toolbox
 *
 * A person has asked for an emergency stop, in a way that a domain watches:
 * everything that runs with these tools ends. Any thread.
 */
void
khadim_toolbox_stop (KhadimToolbox *self)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = NULL;

  g_return_if_fail (KHADIM_IS_TOOLBOX (self));

  locker = g_mutex_locker_new (&self->lock);
  for (guint i = 0; i < self->stops->len; i++)
    {
      Stop *stop = &g_array_index (self->stops, Stop, i);

      stop->func (stop->user_data);
    }
}
