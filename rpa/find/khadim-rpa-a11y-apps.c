/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-a11y-apps"

#include "config.h"

#include "rpa/find/khadim-rpa-a11y.h"

#include "rpa/find/khadim-rpa-a11y-private.h"
#include "rpa/screen/khadim-rpa-error.h"

/* Which applications show a tree, and what they and their toolkits are. */

#define MAX_APPS 200

/* 0 when the application has just gone. */
static guint32
get_pid (KhadimRpaA11y *self,
         const char    *bus_name,
         GCancellable  *cancellable)
{
  guint32 pid = 0;
  g_autoptr(GVariant) reply =
    g_dbus_connection_call_sync (_khadim_rpa_a11y_get_bus (self), "org.freedesktop.DBus",
                                 "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                 "GetConnectionUnixProcessID",
                                 g_variant_new ("(s)", bus_name), G_VARIANT_TYPE ("(u)"),
                                 G_DBUS_CALL_FLAGS_NONE, _KHADIM_A11Y_CALL_TIMEOUT_MS,
                                 cancellable, NULL);

  if (reply != NULL)
    g_variant_get (reply, "(u)", &pid);

  return pid;
}

static gboolean
is_program (guint32     pid,
            const char *pattern)
{
  g_autofree char *path = g_strdup_printf ("/proc/%u/exe", pid);
  g_autofree char *target = g_file_read_link (path, NULL);
  g_autofree char *name = target != NULL ? g_path_get_basename (target) : NULL;

  return name != NULL && _khadim_rpa_a11y_glob_match (pattern, name);
}

static gboolean
has_name (KhadimRpaA11yApp *app,
          const char       *pattern)
{
  g_autofree char *wanted = g_utf8_casefold (pattern, -1);
  g_autofree char *name = g_utf8_casefold (app->name != NULL ? app->name : "", -1);

  return _khadim_rpa_a11y_glob_match (wanted, name) || is_program (app->pid, pattern);
}

/* The roots of all applications, or of one process, not asked yet. */
static GPtrArray *
list_roots (KhadimRpaA11y  *self,
            guint32         pid,
            GCancellable   *cancellable,
            GError        **error)
{
  g_autoptr(GPtrArray) roots = _khadim_rpa_a11y_node_array_new ();
  g_autoptr(KhadimRpaA11yNode) desktop = NULL;
  g_autoptr(GVariant) reply = NULL;
  g_autoptr(GVariantIter) iter = NULL;
  KhadimRpaA11yApp *registry = _khadim_rpa_a11y_app_new ("org.a11y.atspi.Registry");
  const char *bus_name;
  const char *path;

  desktop = _khadim_rpa_a11y_node_new (registry, _KHADIM_A11Y_PATH_ROOT);
  _khadim_rpa_a11y_app_unref (registry);
  reply = _khadim_rpa_a11y_call (self, desktop, _KHADIM_A11Y_IFACE_ACCESSIBLE, "GetChildren", NULL,
                                 G_VARIANT_TYPE ("(a(so))"), cancellable, error);
  if (reply == NULL)
    return NULL;

  g_variant_get (reply, "(a(so))", &iter);
  while (roots->len < MAX_APPS && g_variant_iter_next (iter, "(&s&o)", &bus_name, &path))
    {
      KhadimRpaA11yApp *app = _khadim_rpa_a11y_app_new (bus_name);

      app->pid = get_pid (self, bus_name, cancellable);
      if (pid == 0 || app->pid == pid)
        g_ptr_array_add (roots, _khadim_rpa_a11y_node_new (app, path));
      _khadim_rpa_a11y_app_unref (app);
    }

  return g_steal_pointer (&roots);
}

static char *
get_app_string (KhadimRpaA11y     *self,
                KhadimRpaA11yNode *root,
                const char        *property,
                GCancellable      *cancellable)
{
  g_autoptr(GVariant) value =
    _khadim_rpa_a11y_get_property (self, root, _KHADIM_A11Y_IFACE_APP, property,
                                   G_VARIANT_TYPE_STRING, cancellable, NULL);

  return value != NULL ? g_variant_dup_string (value, NULL) : NULL;
}

static void
ask_toolkit (KhadimRpaA11y     *self,
             KhadimRpaA11yNode *root,
             GCancellable      *cancellable)
{
  KhadimRpaA11yApp *app = root->app;

  app->toolkit = get_app_string (self, root, "ToolkitName", cancellable);
  app->version = get_app_string (self, root, "Version", cancellable);
  if (app->toolkit == NULL || app->version == NULL || g_ascii_strcasecmp (app->toolkit, "gtk") != 0)
    return;
  app->window_coords = g_ascii_strtoull (app->version, NULL, 10) >= 4;
  app->logical = !app->window_coords;
}

/* Asks the roots for their names, all at once, and leaves out those that do
 * not answer. When none does, that is the error. */
static GPtrArray *
name_roots (KhadimRpaA11y  *self,
            GPtrArray      *roots,
            GCancellable   *cancellable,
            GError        **error)
{
  GDBusConnection *bus = _khadim_rpa_a11y_get_bus (self);
  g_autoptr(KhadimRpaA11yWalk) walk = _khadim_rpa_a11y_walk_new (bus, NULL);
  g_autoptr(GPtrArray) answered = _khadim_rpa_a11y_node_array_new ();

  _khadim_rpa_a11y_walk_set_descend_func (walk, _khadim_rpa_a11y_dont_descend, NULL);
  for (guint i = 0; i < roots->len; i++)
    _khadim_rpa_a11y_walk_add (walk, g_ptr_array_index (roots, i));
  if (!_khadim_rpa_a11y_walk_run (walk, cancellable, error))
    return NULL;

  for (guint i = 0; i < roots->len; i++)
    {
      KhadimRpaA11yNode *root = g_ptr_array_index (roots, i);

      if (!root->answered)
        continue;
      root->app->name = g_strdup (root->name);
      g_ptr_array_add (answered, khadim_rpa_a11y_node_ref (root));
    }

  return g_steal_pointer (&answered);
}

static gboolean
fail_no_app (const KhadimRpaA11yScope  *scope,
             GError                   **error)
{
  if (scope->pid != 0)
    g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND,
                 "Process %u shows no accessible tree", scope->pid);
  else
    g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND,
                 "No application “%s” shows an accessible tree",
                 scope->app != NULL ? scope->app : "*");

  return FALSE;
}

/* The applications of a scope, named, with their toolkits. */
GPtrArray *
_khadim_rpa_a11y_list_in_scope (KhadimRpaA11y             *self,
                                const KhadimRpaA11yScope  *scope,
                                GCancellable              *cancellable,
                                GError                   **error)
{
  g_autoptr(GPtrArray) roots = list_roots (self, scope->pid, cancellable, error);
  g_autoptr(GPtrArray) named = NULL;

  if (roots == NULL)
    return NULL;
  named = name_roots (self, roots, cancellable, error);
  if (named == NULL)
    return NULL;

  for (guint i = named->len; i > 0; i--)
    {
      KhadimRpaA11yNode *root = g_ptr_array_index (named, i - 1);

      if (scope->app != NULL && !has_name (root->app, scope->app))
        g_ptr_array_remove_index (named, i - 1);
      else
        ask_toolkit (self, root, cancellable);
    }
  if (named->len == 0)
    {
      fail_no_app (scope, error);
      return NULL;
    }

  return g_steal_pointer (&named);
}

/**
 * khadim_rpa_a11y_list_apps:
 * @self: a connection
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Lists the applications that show a tree and answer. Blocks; any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `CANCELLED`, `NOT_FOUND` (there is none),
 * `HUNG`, `LOST` or `FAILED`.
 *
 * Returns: (transfer container) (element-type KhadimRpaA11yNode): a node for
 *   each, without children; %NULL on error
 */
GPtrArray *
khadim_rpa_a11y_list_apps (KhadimRpaA11y  *self,
                           GCancellable   *cancellable,
                           GError        **error)
{
  const KhadimRpaA11yScope scope = { 0 };

  g_return_val_if_fail (KHADIM_RPA_IS_A11Y (self), NULL);

  return _khadim_rpa_a11y_list_in_scope (self, &scope, cancellable, error);
}
