/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-a11y"

#include "config.h"

#include "rpa/find/khadim-rpa-a11y.h"

#include "rpa/find/khadim-rpa-a11y-private.h"
#include "rpa/screen/khadim-rpa-error.h"

/* The accessibility bus, spoken to directly (AT-SPI2's D-Bus interfaces, see
 * the XML files of at-spi2-core). The client library keeps a cache that goes
 * stale when nobody listens to events, waits for one answer at a time, and
 * belongs to one thread; here every call has its own time limit, can be
 * cancelled and may be made from any thread. */

#define START_TIMEOUT_MS 10000

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

GDBusConnection *
_khadim_rpa_a11y_get_bus (KhadimRpaA11y *self)
{
  return self->bus;
}

gboolean
_khadim_rpa_a11y_find_place (KhadimRpaA11y      *self,
                             KhadimRpaA11yNode  *top,
                             KhadimRpaA11yPlace *out_place)
{
  return self->place_func != NULL
         && self->place_func (top->app->pid, top->name, out_place, self->place_data);
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
