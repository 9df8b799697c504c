/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-a11y-node"

#include "config.h"

#include "rpa/find/khadim-rpa-a11y-node.h"

#include <string.h>

#include <atspi/atspi.h>

#include "rpa/find/khadim-rpa-a11y-private.h"

G_DEFINE_BOXED_TYPE (KhadimRpaA11yNode, khadim_rpa_a11y_node,
                     khadim_rpa_a11y_node_ref, khadim_rpa_a11y_node_unref)

KhadimRpaA11yApp *
_khadim_rpa_a11y_app_new (const char *bus_name)
{
  KhadimRpaA11yApp *self = g_new0 (KhadimRpaA11yApp, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->bus_name = g_strdup (bus_name);

  return self;
}

KhadimRpaA11yApp *
_khadim_rpa_a11y_app_ref (KhadimRpaA11yApp *self)
{
  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

void
_khadim_rpa_a11y_app_unref (KhadimRpaA11yApp *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_free (self->bus_name);
  g_free (self->name);
  g_free (self->toolkit);
  g_free (self->version);
  g_free (self);
}

KhadimRpaA11yNode *
_khadim_rpa_a11y_node_new (KhadimRpaA11yApp *app,
                           const char       *path)
{
  KhadimRpaA11yNode *self = g_new0 (KhadimRpaA11yNode, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->app = _khadim_rpa_a11y_app_ref (app);
  self->path = g_strdup (path);

  return self;
}

GPtrArray *
_khadim_rpa_a11y_node_array_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_rpa_a11y_node_unref);
}

gboolean
_khadim_rpa_a11y_node_has (KhadimRpaA11yNode *self,
                           guint              state)
{
  return (self->states & (G_GUINT64_CONSTANT (1) << state)) != 0;
}

/* Matches with `*` and `?` as wild cards; without any of them exactly. */
gboolean
_khadim_rpa_a11y_glob_match (const char *pattern,
                             const char *string)
{
  if (strpbrk (pattern, "*?") == NULL)
    return g_strcmp0 (pattern, string) == 0;

  return g_pattern_match_simple (pattern, string != NULL ? string : "");
}

/**
 * khadim_rpa_a11y_node_ref:
 * @self: a node
 *
 * Takes another reference. Any thread.
 *
 * Returns: (transfer full): @self
 */
KhadimRpaA11yNode *
khadim_rpa_a11y_node_ref (KhadimRpaA11yNode *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

/**
 * khadim_rpa_a11y_node_unref:
 * @self: (transfer full): a node
 *
 * Gives a reference back. Any thread.
 */
void
khadim_rpa_a11y_node_unref (KhadimRpaA11yNode *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  _khadim_rpa_a11y_app_unref (self->app);
  g_free (self->path);
  g_clear_pointer (&self->top, g_ref_string_release);
  g_clear_pointer (&self->popup, g_ref_string_release);
  g_free (self->name);
  g_free (self->description);
  g_free (self->text);
  g_strfreev (self->actions);
  g_clear_pointer (&self->children, g_ptr_array_unref);
  g_free (self);
}

/**
 * khadim_rpa_a11y_node_get_role:
 * @self: a node
 *
 * The role as AT-SPI names it, such as `push button`. Any thread.
 *
 * Returns: (transfer none): the name of the role
 */
const char *
khadim_rpa_a11y_node_get_role (KhadimRpaA11yNode *self)
{
  static char *names[ATSPI_ROLE_LAST_DEFINED];
  static GMutex lock;
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  if (self->role >= ATSPI_ROLE_LAST_DEFINED)
    return "unknown";

  locker = g_mutex_locker_new (&lock);
  if (names[self->role] == NULL)
    names[self->role] = atspi_role_get_name (self->role);

  return names[self->role];
}

/**
 * khadim_rpa_a11y_node_get_name:
 * @self: a node
 *
 * Any thread.
 *
 * Returns: (transfer none): the accessible name, possibly empty
 */
const char *
khadim_rpa_a11y_node_get_name (KhadimRpaA11yNode *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->name != NULL ? self->name : "";
}

/**
 * khadim_rpa_a11y_node_get_description:
 * @self: a node
 *
 * Any thread.
 *
 * Returns: (transfer none): the description, empty where details were not asked
 */
const char *
khadim_rpa_a11y_node_get_description (KhadimRpaA11yNode *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->description != NULL ? self->description : "";
}

/**
 * khadim_rpa_a11y_node_get_app:
 * @self: a node
 *
 * What the application calls itself. Any thread.
 *
 * Returns: (transfer none): the name, possibly empty
 */
const char *
khadim_rpa_a11y_node_get_app (KhadimRpaA11yNode *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->app->name != NULL ? self->app->name : "";
}

/**
 * khadim_rpa_a11y_node_get_pid:
 * @self: a node
 *
 * Any thread.
 *
 * Returns: the process of the application, 0 if not known
 */
guint32
khadim_rpa_a11y_node_get_pid (KhadimRpaA11yNode *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->app->pid;
}

/**
 * khadim_rpa_a11y_node_has_state:
 * @self: a node
 * @state: the name of an AT-SPI state, such as `checked` or `showing`
 *
 * Any thread.
 *
 * Returns: whether @self has it; %FALSE for a name that is not a state
 */
gboolean
khadim_rpa_a11y_node_has_state (KhadimRpaA11yNode *self,
                                const char        *state)
{
  g_autoptr(GTypeClass) klass = NULL;
  const GEnumValue *value;

  g_return_val_if_fail (self != NULL && state != NULL, FALSE);

  klass = g_type_class_ref (ATSPI_TYPE_STATE_TYPE);
  value = g_enum_get_value_by_nick (G_ENUM_CLASS (klass), state);

  return value != NULL && _khadim_rpa_a11y_node_has (self, value->value);
}

/**
 * khadim_rpa_a11y_node_dup_states:
 * @self: a node
 *
 * Any thread.
 *
 * Returns: (transfer full): the names of its states
 */
char **
khadim_rpa_a11y_node_dup_states (KhadimRpaA11yNode *self)
{
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new ();
  g_autoptr(GTypeClass) klass = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  klass = g_type_class_ref (ATSPI_TYPE_STATE_TYPE);
  for (guint i = 1; i < ATSPI_STATE_LAST_DEFINED; i++)
    {
      const GEnumValue *value = g_enum_get_value (G_ENUM_CLASS (klass), i);

      if (value != NULL && _khadim_rpa_a11y_node_has (self, i))
        g_strv_builder_add (builder, value->value_nick);
    }

  return g_strv_builder_end (builder);
}

/**
 * khadim_rpa_a11y_node_get_extents:
 * @self: a node
 * @out_x: (out) (optional): left edge on the screen, in px
 * @out_y: (out) (optional): top edge on the screen, in px
 * @out_width: (out) (optional): width in px
 * @out_height: (out) (optional): height in px
 *
 * Where the object was. Any thread.
 *
 * Returns: whether that is known; it is not where details were not asked, the
 *   object is not drawn, or its window was not found
 */
gboolean
khadim_rpa_a11y_node_get_extents (KhadimRpaA11yNode *self,
                                  int               *out_x,
                                  int               *out_y,
                                  int               *out_width,
                                  int               *out_height)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (!self->has_extents)
    return FALSE;
  if (out_x != NULL)
    *out_x = self->x;
  if (out_y != NULL)
    *out_y = self->y;
  if (out_width != NULL)
    *out_width = self->width;
  if (out_height != NULL)
    *out_height = self->height;

  return TRUE;
}

/**
 * khadim_rpa_a11y_node_get_text:
 * @self: a node
 *
 * What the object says through its Text interface. Any thread.
 *
 * Returns: (transfer none) (nullable): the text; %NULL without the interface or
 *   where details were not asked
 */
const char *
khadim_rpa_a11y_node_get_text (KhadimRpaA11yNode *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->text;
}

/**
 * khadim_rpa_a11y_node_get_value:
 * @self: a node
 * @out_value: (out): the number
 *
 * What the object says through its Value interface. Any thread.
 *
 * Returns: whether it has a value and details were asked
 */
gboolean
khadim_rpa_a11y_node_get_value (KhadimRpaA11yNode *self,
                                double            *out_value)
{
  g_return_val_if_fail (self != NULL && out_value != NULL, FALSE);

  if (self->has_value)
    *out_value = self->value;

  return self->has_value;
}

/**
 * khadim_rpa_a11y_node_get_actions:
 * @self: a node
 *
 * Any thread.
 *
 * Returns: (transfer none) (array zero-terminated=1): the names of its actions
 */
const char * const *
khadim_rpa_a11y_node_get_actions (KhadimRpaA11yNode *self)
{
  static const char * const none[] = { NULL };

  g_return_val_if_fail (self != NULL, NULL);

  return self->actions != NULL ? (const char * const *) self->actions : none;
}

/**
 * khadim_rpa_a11y_node_get_n_children:
 * @self: a node
 *
 * Any thread.
 *
 * Returns: how many children were asked
 */
guint
khadim_rpa_a11y_node_get_n_children (KhadimRpaA11yNode *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->children != NULL ? self->children->len : 0;
}

/**
 * khadim_rpa_a11y_node_get_child:
 * @self: a node
 * @index: which, from 0
 *
 * Any thread.
 *
 * Returns: (transfer none): the child
 */
KhadimRpaA11yNode *
khadim_rpa_a11y_node_get_child (KhadimRpaA11yNode *self,
                                guint              index)
{
  g_return_val_if_fail (index < khadim_rpa_a11y_node_get_n_children (self), NULL);

  return g_ptr_array_index (self->children, index);
}

/**
 * khadim_rpa_a11y_node_is_truncated:
 * @self: a node
 *
 * Whether a limit kept something from being asked below @self. Any thread.
 *
 * Returns: whether there may be children that are not here
 */
gboolean
khadim_rpa_a11y_node_is_truncated (KhadimRpaA11yNode *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->truncated;
}

/**
 * khadim_rpa_a11y_node_count:
 * @self: a node
 *
 * Any thread.
 *
 * Returns: how many nodes there are in its tree, with itself
 */
guint
khadim_rpa_a11y_node_count (KhadimRpaA11yNode *self)
{
  guint count = 1;

  g_return_val_if_fail (self != NULL, 0);

  for (guint i = 0; i < khadim_rpa_a11y_node_get_n_children (self); i++)
    count += khadim_rpa_a11y_node_count (khadim_rpa_a11y_node_get_child (self, i));

  return count;
}

/**
 * khadim_rpa_a11y_node_equal:
 * @self: a node
 * @other: another
 *
 * Whether both are of the same object, at whatever time. Any thread.
 *
 * Returns: whether they are
 */
gboolean
khadim_rpa_a11y_node_equal (KhadimRpaA11yNode *self,
                            KhadimRpaA11yNode *other)
{
  g_return_val_if_fail (self != NULL && other != NULL, FALSE);

  return g_strcmp0 (self->app->bus_name, other->app->bus_name) == 0
         && g_strcmp0 (self->path, other->path) == 0;
}

static void
add_string (JsonBuilder *builder,
            const char  *key,
            const char  *value)
{
  if (value == NULL || *value == '\0')
    return;
  json_builder_set_member_name (builder, key);
  json_builder_add_string_value (builder, value);
}

static void
add_strings (JsonBuilder        *builder,
             const char         *key,
             const char * const *values)
{
  if (values[0] == NULL)
    return;
  json_builder_set_member_name (builder, key);
  json_builder_begin_array (builder);
  for (guint i = 0; values[i] != NULL; i++)
    json_builder_add_string_value (builder, values[i]);
  json_builder_end_array (builder);
}

static void
add_int (JsonBuilder *builder,
         const char  *key,
         int          value)
{
  json_builder_set_member_name (builder, key);
  json_builder_add_int_value (builder, value);
}

static void
add_extents (JsonBuilder       *builder,
             KhadimRpaA11yNode *self)
{
  if (!self->has_extents)
    return;
  add_int (builder, "x", self->x);
  add_int (builder, "y", self->y);
  add_int (builder, "width", self->width);
  add_int (builder, "height", self->height);
}

static void
add_node (JsonBuilder       *builder,
          KhadimRpaA11yNode *self)
{
  g_auto(GStrv) states = khadim_rpa_a11y_node_dup_states (self);

  json_builder_begin_object (builder);
  add_string (builder, "role", khadim_rpa_a11y_node_get_role (self));
  add_string (builder, "name", self->name);
  add_string (builder, "description", self->description);
  add_strings (builder, "states", (const char * const *) states);
  add_extents (builder, self);
  add_string (builder, "text", self->text);
  if (self->has_value)
    {
      json_builder_set_member_name (builder, "value");
      json_builder_add_double_value (builder, self->value);
    }
  add_strings (builder, "actions", khadim_rpa_a11y_node_get_actions (self));
  if (self->truncated)
    {
      json_builder_set_member_name (builder, "truncated");
      json_builder_add_boolean_value (builder, TRUE);
    }
  if (khadim_rpa_a11y_node_get_n_children (self) > 0)
    {
      json_builder_set_member_name (builder, "children");
      json_builder_begin_array (builder);
      for (guint i = 0; i < self->children->len; i++)
        add_node (builder, g_ptr_array_index (self->children, i));
      json_builder_end_array (builder);
    }
  json_builder_end_object (builder);
}

/**
 * khadim_rpa_a11y_node_to_json:
 * @self: a node
 *
 * Writes the tree as an object with `role`, `name`, `description`, `states`,
 * `x`, `y`, `width`, `height` (px on the screen), `text`, `value`, `actions`,
 * `truncated` and `children`; what is empty or not known is left out. Any
 * thread.
 *
 * Returns: (transfer full): an object
 */
JsonNode *
khadim_rpa_a11y_node_to_json (KhadimRpaA11yNode *self)
{
  g_autoptr(JsonBuilder) builder = json_builder_new ();

  g_return_val_if_fail (self != NULL, NULL);

  add_node (builder, self);

  return json_builder_get_root (builder);
}
