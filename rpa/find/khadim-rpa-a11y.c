/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-a11y"

#include "config.h"

#include "rpa/find/khadim-rpa-a11y.h"

#include <math.h>

#include <atspi/atspi.h>

#include "rpa/find/khadim-rpa-a11y-private.h"
#include "rpa/screen/khadim-rpa-error.h"

/* The accessibility bus, spoken to directly (AT-SPI2's D-Bus interfaces, see
 * the XML files of at-spi2-core). The client library keeps a cache that goes
 * stale when nobody listens to events, waits for one answer at a time, and
 * belongs to one thread; here every call has its own time limit, can be
 * cancelled and may be made from any thread. */

#define START_TIMEOUT_MS  10000
#define MAX_APPS          200

struct _KhadimRpaA11y
{
  GObject parent_instance;

  /* Owned */
  GDBusConnection *bus;

  /* Set before the object is shared */
  KhadimRpaA11yPlaceFunc place_func;
  gpointer place_data;
  GDestroyNotify place_destroy;
};

G_DEFINE_FINAL_TYPE (KhadimRpaA11y, khadim_rpa_a11y, G_TYPE_OBJECT)

static void
khadim_rpa_a11y_finalize (GObject *object)
{
  KhadimRpaA11y *self = KHADIM_RPA_A11Y (object);

  g_clear_object (&self->bus);
  if (self->place_destroy != NULL)
    self->place_destroy (self->place_data);

  G_OBJECT_CLASS (khadim_rpa_a11y_parent_class)->finalize (object);
}

static void
khadim_rpa_a11y_class_init (KhadimRpaA11yClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_rpa_a11y_finalize;
}

static void
khadim_rpa_a11y_init (KhadimRpaA11y *self)
{
}

/* Errors ------------------------------------------------------------------- */

static KhadimRpaError
error_code (const GError *failure)
{
  if (g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return KHADIM_RPA_ERROR_CANCELLED;
  if (g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
    return KHADIM_RPA_ERROR_HUNG;
  if (g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_CLOSED))
    return KHADIM_RPA_ERROR_LOST;
  if (failure->domain != G_DBUS_ERROR)
    return KHADIM_RPA_ERROR_FAILED;

  switch (failure->code)
    {
    case G_DBUS_ERROR_NO_REPLY: /* the bus says so when the program ends */
    case G_DBUS_ERROR_SERVICE_UNKNOWN:
    case G_DBUS_ERROR_NAME_HAS_NO_OWNER:
    case G_DBUS_ERROR_DISCONNECTED:
      return KHADIM_RPA_ERROR_ENDED;
    case G_DBUS_ERROR_UNKNOWN_OBJECT:
    case G_DBUS_ERROR_UNKNOWN_METHOD: /* GTK 4 says so of objects that are gone */
      return KHADIM_RPA_ERROR_NOT_FOUND;
    case G_DBUS_ERROR_UNKNOWN_INTERFACE:
    case G_DBUS_ERROR_UNKNOWN_PROPERTY:
    case G_DBUS_ERROR_NOT_SUPPORTED:
      return KHADIM_RPA_ERROR_UNSUPPORTED;
    default:
      return KHADIM_RPA_ERROR_FAILED;
    }
}

/* Translates an error of D-Bus, which it takes; the only place that does. */
void
_khadim_rpa_a11y_take_error (GError            *failure,
                             KhadimRpaA11yApp  *app,
                             GError           **error)
{
  const char *who = app != NULL && app->name != NULL ? app->name : "The accessibility bus";

  g_dbus_error_strip_remote_error (failure);
  g_set_error (error, KHADIM_RPA_ERROR, error_code (failure), "%s: %s", who, failure->message);
  g_error_free (failure);
}

/* Calls -------------------------------------------------------------------- */

GVariant *
_khadim_rpa_a11y_call (KhadimRpaA11y       *self,
                       KhadimRpaA11yNode   *node,
                       const char          *interface,
                       const char          *method,
                       GVariant            *args,
                       const GVariantType  *type,
                       GCancellable        *cancellable,
                       GError             **error)
{
  GError *failure = NULL;
  GVariant *reply =
    g_dbus_connection_call_sync (self->bus, node->app->bus_name, node->path, interface, method,
                                 args, type, G_DBUS_CALL_FLAGS_NONE,
                                 _KHADIM_A11Y_CALL_TIMEOUT_MS, cancellable, &failure);

  if (reply == NULL)
    _khadim_rpa_a11y_take_error (failure, node->app, error);

  return reply;
}

GVariant *
_khadim_rpa_a11y_get_property (KhadimRpaA11y       *self,
                               KhadimRpaA11yNode   *node,
                               const char          *interface,
                               const char          *property,
                               const GVariantType  *type,
                               GCancellable        *cancellable,
                               GError             **error)
{
  g_autoptr(GVariant) value = NULL;
  g_autoptr(GVariant) reply =
    _khadim_rpa_a11y_call (self, node, _KHADIM_A11Y_IFACE_PROPERTIES, "Get",
                           g_variant_new ("(ss)", interface, property), G_VARIANT_TYPE ("(v)"),
                           cancellable, error);

  if (reply == NULL)
    return NULL;
  g_variant_get (reply, "(v)", &value);
  if (!g_variant_is_of_type (value, type))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FAILED, "%s: %s.%s has the type “%s”",
                   khadim_rpa_a11y_node_get_app (node), interface, property,
                   g_variant_get_type_string (value));
      return NULL;
    }

  return g_steal_pointer (&value);
}

/* Start -------------------------------------------------------------------- */

static GVariant *
call_a11y_bus (GDBusConnection     *session_bus,
               const char          *interface,
               const char          *method,
               GVariant            *args,
               const GVariantType  *type,
               GCancellable        *cancellable,
               GError             **error)
{
  GError *failure = NULL;
  GVariant *reply =
    g_dbus_connection_call_sync (session_bus, "org.a11y.Bus", "/org/a11y/bus", interface, method,
                                 args, type, G_DBUS_CALL_FLAGS_NONE, START_TIMEOUT_MS,
                                 cancellable, &failure);

  if (reply == NULL)
    _khadim_rpa_a11y_take_error (failure, NULL, error);

  return reply;
}

/* Qt looks at this to decide whether to build its tree. It stays set, as other
 * programs may have come to rely on it by the time we end. */
static gboolean
enable (GDBusConnection  *session_bus,
        GCancellable     *cancellable,
        GError          **error)
{
  g_autoptr(GVariant) reply =
    call_a11y_bus (session_bus, _KHADIM_A11Y_IFACE_PROPERTIES, "Set",
                   g_variant_new ("(ssv)", "org.a11y.Status", "IsEnabled",
                                  g_variant_new_boolean (TRUE)),
                   NULL, cancellable, error);

  return reply != NULL;
}

static char *
find_address (GDBusConnection  *session_bus,
              GCancellable     *cancellable,
              GError          **error)
{
  g_autoptr(GDBusConnection) bus = NULL;
  g_autoptr(GVariant) reply = NULL;
  GError *failure = NULL;
  char *address = NULL;

  if (session_bus == NULL && g_getenv ("AT_SPI_BUS_ADDRESS") != NULL)
    return g_strdup (g_getenv ("AT_SPI_BUS_ADDRESS"));

  bus = session_bus != NULL ? g_object_ref (session_bus)
                            : g_bus_get_sync (G_BUS_TYPE_SESSION, cancellable, &failure);
  if (bus == NULL)
    {
      _khadim_rpa_a11y_take_error (failure, NULL, error);
      return NULL;
    }
  if (!enable (bus, cancellable, error))
    return NULL;
  reply = call_a11y_bus (bus, "org.a11y.Bus", "GetAddress", NULL, G_VARIANT_TYPE ("(s)"),
                         cancellable, error);
  if (reply != NULL)
    g_variant_get (reply, "(s)", &address);

  return address;
}

/**
 * khadim_rpa_a11y_new:
 * @session_bus: (nullable): the session bus whose accessibility bus is meant;
 *   %NULL for the one at `AT_SPI_BUS_ADDRESS`, else that of the session
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Connects to the accessibility bus, starts it where it is not there yet, and
 * tells the session that somebody looks (`org.a11y.Status.IsEnabled`), without
 * which Qt programs show no tree. Blocks; any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `CANCELLED`, `ENDED` (nothing on the session
 * bus provides accessibility), `HUNG` or `FAILED`.
 *
 * Returns: (transfer full): the connection, %NULL on error
 */
KhadimRpaA11y *
khadim_rpa_a11y_new (GDBusConnection  *session_bus,
                     GCancellable     *cancellable,
                     GError          **error)
{
  g_autoptr(KhadimRpaA11y) self = NULL;
  g_autofree char *address = NULL;
  GError *failure = NULL;

  g_return_val_if_fail (session_bus == NULL || G_IS_DBUS_CONNECTION (session_bus), NULL);

  address = find_address (session_bus, cancellable, error);
  if (address == NULL)
    return NULL;

  self = g_object_new (KHADIM_RPA_TYPE_A11Y, NULL);
  self->bus =
    g_dbus_connection_new_for_address_sync (address,
                                            G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT
                                              | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
                                            NULL, cancellable, &failure);
  if (self->bus == NULL)
    {
      _khadim_rpa_a11y_take_error (failure, NULL, error);
      return NULL;
    }

  return g_steal_pointer (&self);
}

/**
 * khadim_rpa_a11y_set_place_func:
 * @self: a connection that no other thread uses yet
 * @func: (nullable): finds the X window of a top level
 * @user_data: for @func
 * @destroy: (nullable): frees @user_data
 *
 * Says where windows are. Without it, objects of GTK 4 have no extents.
 */
void
khadim_rpa_a11y_set_place_func (KhadimRpaA11y          *self,
                                KhadimRpaA11yPlaceFunc  func,
                                gpointer                user_data,
                                GDestroyNotify          destroy)
{
  g_return_if_fail (KHADIM_RPA_IS_A11Y (self));

  if (self->place_destroy != NULL)
    self->place_destroy (self->place_data);
  self->place_func = func;
  self->place_data = user_data;
  self->place_destroy = destroy;
}

/* Applications ------------------------------------------------------------- */

static guint32
get_pid (KhadimRpaA11y *self,
         const char    *bus_name,
         GCancellable  *cancellable)
{
  guint32 pid = 0;
  g_autoptr(GVariant) reply =
    g_dbus_connection_call_sync (self->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                 "org.freedesktop.DBus", "GetConnectionUnixProcessID",
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

static GPtrArray *
node_array_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_rpa_a11y_node_unref);
}

/* The roots of all applications, or of one process, not asked yet. */
static GPtrArray *
list_roots (KhadimRpaA11y  *self,
            guint32         pid,
            GCancellable   *cancellable,
            GError        **error)
{
  g_autoptr(GPtrArray) roots = node_array_new ();
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
  app->window_coords = app->toolkit != NULL && g_ascii_strcasecmp (app->toolkit, "gtk") == 0
                       && app->version != NULL && g_ascii_strtoull (app->version, NULL, 10) >= 4;
}

static gboolean
dont_descend (KhadimRpaA11yNode *node,
              gpointer           user_data)
{
  return FALSE;
}

/* Asks the roots for their names, all at once, and leaves out those that do
 * not answer. When none does, that is the error. */
static GPtrArray *
name_roots (KhadimRpaA11y  *self,
            GPtrArray      *roots,
            GCancellable   *cancellable,
            GError        **error)
{
  g_autoptr(KhadimRpaA11yWalk) walk = _khadim_rpa_a11y_walk_new (self->bus, NULL);
  g_autoptr(GPtrArray) answered = node_array_new ();

  _khadim_rpa_a11y_walk_set_descend_func (walk, dont_descend, NULL);
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
static GPtrArray *
list_in_scope (KhadimRpaA11y             *self,
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

  return list_in_scope (self, &scope, cancellable, error);
}

/* Places ------------------------------------------------------------------- */

typedef struct {
  int x;
  int y;
  int scale;
} Offset;

/* GTK 4 gives positions in the window, without its shadow and, where a window
 * manager draws no frame, without a plain border, in logical pixels. */
static gboolean
find_offset (KhadimRpaA11y     *self,
             KhadimRpaA11yNode *top,
             Offset            *out_offset)
{
  KhadimRpaA11yPlace place = { 0 };
  int bare_width;
  int scale;
  int border;

  if (self->place_func == NULL || !top->has_extents
      || !self->place_func (top->app->pid, top->name, &place, self->place_data))
    return FALSE;

  bare_width = place.width - (place.has_frame ? place.left + place.right : 0);
  scale = MAX (1, (int) lround (bare_width / (double) top->width));
  border = (place.width - top->width * scale) / 2;
  out_offset->x = place.x + (place.has_frame ? place.left : border);
  out_offset->y = place.y + (place.has_frame ? place.top : border);
  out_offset->scale = scale;

  return TRUE;
}

static void
apply_offset (KhadimRpaA11yNode *node,
              const Offset      *offset)
{
  if (offset == NULL)
    {
      node->has_extents = FALSE;
      return;
    }
  node->x = offset->x + node->x * offset->scale;
  node->y = offset->y + node->y * offset->scale;
  node->width *= offset->scale;
  node->height *= offset->scale;
}

static void
finish_tree (KhadimRpaA11yNode *node,
             char              *top,
             const Offset      *offset,
             gboolean           move)
{
  node->top = g_ref_string_acquire (top);
  if (move && node->has_extents)
    apply_offset (node, offset);
  for (guint i = 0; i < khadim_rpa_a11y_node_get_n_children (node); i++)
    finish_tree (khadim_rpa_a11y_node_get_child (node, i), top, offset, move);
}

static void
finish_app (KhadimRpaA11y     *self,
            KhadimRpaA11yNode *root)
{
  for (guint i = 0; i < khadim_rpa_a11y_node_get_n_children (root); i++)
    {
      KhadimRpaA11yNode *top = khadim_rpa_a11y_node_get_child (root, i);
      g_autoptr(GRefString) path = g_ref_string_new (top->path);
      Offset offset;
      gboolean placed = root->app->window_coords && find_offset (self, top, &offset);

      finish_tree (top, path, placed ? &offset : NULL, root->app->window_coords);
    }
}

/* Walks over applications -------------------------------------------------- */

typedef struct {
  const char *window;
  KhadimRpaA11yDescendFunc descend;
  gpointer user_data;
} ScopeFilter;

static gboolean
is_top_in_scope (KhadimRpaA11yNode *node,
                 const char        *window)
{
  return window == NULL || _khadim_rpa_a11y_glob_match (window, node->name);
}

static gboolean
descend_in_scope (KhadimRpaA11yNode *node,
                  gpointer           user_data)
{
  const ScopeFilter *filter = user_data;

  if (node->depth == 1 && !is_top_in_scope (node, filter->window))
    return FALSE;

  return filter->descend == NULL || filter->descend (node, filter->user_data);
}

static void
drop_other_tops (KhadimRpaA11yNode *root,
                 const char        *window)
{
  for (guint i = khadim_rpa_a11y_node_get_n_children (root); i > 0; i--)
    if (!is_top_in_scope (g_ptr_array_index (root->children, i - 1), window))
      g_ptr_array_remove_index (root->children, i - 1);
}

static gboolean
has_window (GPtrArray *roots)
{
  for (guint i = 0; i < roots->len; i++)
    if (khadim_rpa_a11y_node_get_n_children (g_ptr_array_index (roots, i)) > 0)
      return TRUE;

  return FALSE;
}

/* The trees of all applications in a scope. */
GPtrArray *
_khadim_rpa_a11y_walk_scope (KhadimRpaA11y              *self,
                             const KhadimRpaA11yScope   *scope,
                             const KhadimRpaA11yLimits  *limits,
                             KhadimRpaA11yDescendFunc    descend,
                             gpointer                    user_data,
                             GCancellable               *cancellable,
                             GError                    **error)
{
  ScopeFilter filter = { scope->window, descend, user_data };
  g_autoptr(GPtrArray) roots = list_in_scope (self, scope, cancellable, error);
  g_autoptr(KhadimRpaA11yWalk) walk = NULL;

  if (roots == NULL)
    return NULL;
  walk = _khadim_rpa_a11y_walk_new (self->bus, limits);
  _khadim_rpa_a11y_walk_set_descend_func (walk, descend_in_scope, &filter);
  for (guint i = 0; i < roots->len; i++)
    {
      KhadimRpaA11yNode *named = g_ptr_array_index (roots, i);

      roots->pdata[i] = _khadim_rpa_a11y_node_new (named->app, named->path);
      khadim_rpa_a11y_node_unref (named);
      _khadim_rpa_a11y_walk_add (walk, roots->pdata[i]);
    }
  if (!_khadim_rpa_a11y_walk_run (walk, cancellable, error))
    return NULL;

  for (guint i = 0; i < roots->len; i++)
    {
      drop_other_tops (g_ptr_array_index (roots, i), scope->window);
      finish_app (self, g_ptr_array_index (roots, i));
    }
  if (scope->window != NULL && !has_window (roots))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND,
                   "No window “%s” shows an accessible tree", scope->window);
      return NULL;
    }

  return g_steal_pointer (&roots);
}

static KhadimRpaA11yNode *
gather_roots (GPtrArray *roots)
{
  KhadimRpaA11yApp *registry = NULL;
  KhadimRpaA11yNode *desktop;

  if (roots->len == 1)
    return khadim_rpa_a11y_node_ref (g_ptr_array_index (roots, 0));

  registry = _khadim_rpa_a11y_app_new ("org.a11y.atspi.Registry");
  desktop = _khadim_rpa_a11y_node_new (registry, _KHADIM_A11Y_PATH_ROOT);
  desktop->role = ATSPI_ROLE_DESKTOP_FRAME;
  desktop->children = g_ptr_array_ref (roots);
  _khadim_rpa_a11y_app_unref (registry);

  return desktop;
}

/**
 * khadim_rpa_a11y_snapshot:
 * @self: a connection
 * @scope: where to look
 * @limits: (nullable): how far
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Asks for the tree of an application, breadth first, so that a limit cuts off
 * what is deepest. An object that goes away meanwhile is left out. Blocks at
 * most for the time limit and a few seconds; any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `CANCELLED`, `NOT_FOUND` (no such application
 * or window), `TIMEOUT`, `HUNG`, `ENDED`, `LOST` or `FAILED`.
 *
 * Returns: (transfer full): the node of the application, whose children are its
 *   windows; where more than one is in @scope, a `desktop frame` with all of
 *   them; %NULL on error
 */
KhadimRpaA11yNode *
khadim_rpa_a11y_snapshot (KhadimRpaA11y              *self,
                          const KhadimRpaA11yScope   *scope,
                          const KhadimRpaA11yLimits  *limits,
                          GCancellable               *cancellable,
                          GError                    **error)
{
  g_autoptr(GPtrArray) roots = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_A11Y (self), NULL);
  g_return_val_if_fail (scope != NULL, NULL);

  roots = _khadim_rpa_a11y_walk_scope (self, scope, limits, NULL, NULL, cancellable, error);

  return roots != NULL ? gather_roots (roots) : NULL;
}

/* Single objects ----------------------------------------------------------- */

static KhadimRpaA11yNode *
copy_unasked (KhadimRpaA11yNode *node,
              const char        *path)
{
  return _khadim_rpa_a11y_node_new (node->app, path);
}

static gboolean
detail_walk (KhadimRpaA11y  *self,
             GPtrArray      *fresh,
             GCancellable   *cancellable,
             GError        **error)
{
  const KhadimRpaA11yLimits limits = { .max_nodes = 2 * MAX_APPS, .details = TRUE };
  g_autoptr(KhadimRpaA11yWalk) walk = _khadim_rpa_a11y_walk_new (self->bus, &limits);

  _khadim_rpa_a11y_walk_set_descend_func (walk, dont_descend, NULL);
  for (guint i = 0; i < fresh->len; i++)
    _khadim_rpa_a11y_walk_add (walk, g_ptr_array_index (fresh, i));

  return _khadim_rpa_a11y_walk_run (walk, cancellable, error);
}

/* The same objects as they are now, with all details, without children; those
 * that are gone are left out. */
GPtrArray *
_khadim_rpa_a11y_detail (KhadimRpaA11y  *self,
                         GPtrArray      *nodes,
                         GCancellable   *cancellable,
                         GError        **error)
{
  g_autoptr(GPtrArray) asked = node_array_new ();
  g_autoptr(GPtrArray) fresh = node_array_new ();

  for (guint i = 0; i < nodes->len; i++)
    {
      KhadimRpaA11yNode *node = g_ptr_array_index (nodes, i);

      g_ptr_array_add (asked, copy_unasked (node, node->path));
      g_ptr_array_add (asked, copy_unasked (node, node->top != NULL ? node->top : node->path));
    }
  if (!detail_walk (self, asked, cancellable, error))
    return NULL;

  for (guint i = 0; i < nodes->len; i++)
    {
      KhadimRpaA11yNode *node = g_ptr_array_index (asked, 2 * i);
      KhadimRpaA11yNode *top = g_ptr_array_index (asked, 2 * i + 1);
      g_autoptr(GRefString) path = g_ref_string_new (top->path);
      Offset offset;
      gboolean placed = node->app->window_coords && find_offset (self, top, &offset);

      if (!node->answered)
        continue;
      finish_tree (node, path, placed ? &offset : NULL, node->app->window_coords);
      g_ptr_array_add (fresh, khadim_rpa_a11y_node_ref (node));
    }

  return g_steal_pointer (&fresh);
}

/**
 * khadim_rpa_a11y_refresh:
 * @self: a connection
 * @node: a node of a snapshot or a search
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Asks the object of @node again. Blocks; any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `CANCELLED`, `NOT_FOUND` (the object is gone),
 * `ENDED` (its application is), `HUNG`, `LOST` or `FAILED`.
 *
 * Returns: (transfer full): how it is now, with details and without children;
 *   %NULL on error
 */
KhadimRpaA11yNode *
khadim_rpa_a11y_refresh (KhadimRpaA11y      *self,
                         KhadimRpaA11yNode  *node,
                         GCancellable       *cancellable,
                         GError            **error)
{
  g_autoptr(GPtrArray) nodes = node_array_new ();
  g_autoptr(GPtrArray) fresh = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_A11Y (self), NULL);
  g_return_val_if_fail (node != NULL, NULL);

  g_ptr_array_add (nodes, khadim_rpa_a11y_node_ref (node));
  fresh = _khadim_rpa_a11y_detail (self, nodes, cancellable, error);
  if (fresh == NULL)
    return NULL;
  if (fresh->len == 0)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND, "%s: The %s “%s” is gone",
                   khadim_rpa_a11y_node_get_app (node), khadim_rpa_a11y_node_get_role (node),
                   khadim_rpa_a11y_node_get_name (node));
      return NULL;
    }

  return khadim_rpa_a11y_node_ref (g_ptr_array_index (fresh, 0));
}

/* The deepest one: containers may claim the focus of what is in them. */
static KhadimRpaA11yNode *
find_focused (KhadimRpaA11yNode *node)
{
  for (guint i = 0; i < khadim_rpa_a11y_node_get_n_children (node); i++)
    {
      KhadimRpaA11yNode *found = find_focused (khadim_rpa_a11y_node_get_child (node, i));

      if (found != NULL)
        return found;
    }

  return _khadim_rpa_a11y_node_has (node, ATSPI_STATE_FOCUSED) ? node : NULL;
}

/**
 * khadim_rpa_a11y_get_focused:
 * @self: a connection
 * @scope: where to look
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Finds the object that has the keyboard focus in its window. Blocks; any
 * thread.
 *
 * Errors: as khadim_rpa_a11y_snapshot(); `NOT_FOUND` also when nothing there
 * has the focus.
 *
 * Returns: (transfer full): the object with details, without children; %NULL on
 *   error
 */
KhadimRpaA11yNode *
khadim_rpa_a11y_get_focused (KhadimRpaA11y             *self,
                             const KhadimRpaA11yScope  *scope,
                             GCancellable              *cancellable,
                             GError                   **error)
{
  g_autoptr(KhadimRpaA11yNode) root = NULL;
  KhadimRpaA11yNode *found;

  g_return_val_if_fail (KHADIM_RPA_IS_A11Y (self), NULL);
  g_return_val_if_fail (scope != NULL, NULL);

  root = khadim_rpa_a11y_snapshot (self, scope, NULL, cancellable, error);
  if (root == NULL)
    return NULL;
  found = find_focused (root);
  if (found == NULL)
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND,
                           "No accessible object has the focus");
      return NULL;
    }

  return khadim_rpa_a11y_refresh (self, found, cancellable, error);
}

static gboolean
contains (KhadimRpaA11yNode *node,
          int                x,
          int                y)
{
  return node->has_extents && x >= node->x && y >= node->y && x < node->x + node->width
         && y < node->y + node->height;
}

/* What holds other objects and says nothing itself, such as the viewport that
 * fills a text of Qt. */
static gboolean
is_mere_container (KhadimRpaA11yNode *node)
{
  if (*khadim_rpa_a11y_node_get_name (node) != '\0')
    return FALSE;

  return node->role == ATSPI_ROLE_FILLER || node->role == ATSPI_ROLE_PANEL
         || node->role == ATSPI_ROLE_VIEWPORT || node->role == ATSPI_ROLE_SCROLL_PANE
         || node->role == ATSPI_ROLE_UNKNOWN || node->role == ATSPI_ROLE_REDUNDANT_OBJECT;
}

/* The smallest one, and of equal ones the deepest. A child may stick out of
 * its parent, so all are looked at. */
static void
find_smallest (KhadimRpaA11yNode  *node,
               int                 x,
               int                 y,
               KhadimRpaA11yNode **best)
{
  if (contains (node, x, y) && !is_mere_container (node)
      && (*best == NULL
          || (gint64) node->width * node->height <= (gint64) (*best)->width * (*best)->height))
    *best = node;
  for (guint i = 0; i < khadim_rpa_a11y_node_get_n_children (node); i++)
    find_smallest (khadim_rpa_a11y_node_get_child (node, i), x, y, best);
}

/**
 * khadim_rpa_a11y_get_at_point:
 * @self: a connection
 * @scope: where to look; name the window, as others may lie above it
 * @x: px on the screen
 * @y: px on the screen
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Finds the smallest showing object at a point that is more than a nameless
 * container. The tree is searched by
 * extents: the toolkits' own answers name hidden pages of notebooks (GTK 3) or
 * take other coordinates than they say (Qt). Blocks; any thread.
 *
 * Errors: as khadim_rpa_a11y_snapshot(); `NOT_FOUND` also when nothing is
 * there.
 *
 * Returns: (transfer full): the object; %NULL on error
 */
KhadimRpaA11yNode *
khadim_rpa_a11y_get_at_point (KhadimRpaA11y             *self,
                              const KhadimRpaA11yScope  *scope,
                              int                        x,
                              int                        y,
                              GCancellable              *cancellable,
                              GError                   **error)
{
  const KhadimRpaA11yLimits limits = { .details = TRUE };
  g_autoptr(KhadimRpaA11yNode) root = NULL;
  KhadimRpaA11yNode *best = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_A11Y (self), NULL);
  g_return_val_if_fail (scope != NULL, NULL);

  root = khadim_rpa_a11y_snapshot (self, scope, &limits, cancellable, error);
  if (root == NULL)
    return NULL;
  find_smallest (root, x, y, &best);
  if (best == NULL)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND,
                   "There is no accessible object at %d, %d", x, y);
      return NULL;
    }

  return khadim_rpa_a11y_node_ref (best);
}
