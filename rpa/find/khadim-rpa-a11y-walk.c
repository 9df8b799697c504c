/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-a11y-walk"

#include "config.h"

#include "rpa/find/khadim-rpa-a11y-private.h"

#include <math.h>

#include <atspi/atspi.h>

#include "rpa/screen/khadim-rpa-error.h"

/* Asks a tree breadth first with many calls under way at once: a call costs an
 * application little, but waiting for each answer before the next question
 * costs a millisecond or more. All answers come in on a context of the walk's
 * own, which runs only inside _khadim_rpa_a11y_walk_run().
 *
 * Properties are asked one by one: GetAll ends programs of Qt 5. */

#define DEFAULT_MAX_NODES  2000
#define DEFAULT_MAX_DEPTH  40
#define DEFAULT_TIMEOUT_MS 5000
#define MAX_NODES_LIMIT    100000
#define MAX_DEPTH_LIMIT    200
#define MAX_CALLS          64
#define MAX_CHILDREN       5000
#define MAX_ACTIONS        64
#define SNAPSHOT_MAX_CHARS 4096
#define EXTENT_MAX_PX      100000

typedef enum {
  ASK_NAME,
  ASK_ROLE,
  ASK_STATE,
  ASK_INTERFACES,
  ASK_CHILD_COUNT,
  ASK_CHILDREN,
  ASK_DESCRIPTION,
  ASK_EXTENTS,
  ASK_CHARACTER_COUNT,
  ASK_TEXT,
  ASK_VALUE,
  ASK_ACTIONS,
} Ask;

struct _KhadimRpaA11yWalk
{
  GDBusConnection *bus;
  GMainContext *context;
  GCancellable *inner; /* stops what is under way */
  GPtrArray *roots;
  GQueue ready;        /* of KhadimRpaA11yNode, not owned */
  GHashTable *hung;    /* set of KhadimRpaA11yApp, not owned */

  KhadimRpaA11yLimits limits;
  KhadimRpaA11yDescendFunc descend;
  gpointer descend_data;

  guint n_nodes;
  guint n_calls;
  gboolean expired;
  gboolean cancelled;
  GError *first_error;
};

typedef struct {
  KhadimRpaA11yWalk *walk;
  KhadimRpaA11yNode *node;
  Ask ask;
} Question;

static void node_answered (KhadimRpaA11yWalk *self,
                           KhadimRpaA11yNode *node);

static guint
limit_or (guint value,
          guint fallback,
          guint most)
{
  return value == 0 ? fallback : MIN (value, most);
}

KhadimRpaA11yWalk *
_khadim_rpa_a11y_walk_new (GDBusConnection           *bus,
                           const KhadimRpaA11yLimits *limits)
{
  KhadimRpaA11yWalk *self = g_new0 (KhadimRpaA11yWalk, 1);

  self->bus = g_object_ref (bus);
  self->context = g_main_context_new ();
  self->inner = g_cancellable_new ();
  self->hung = g_hash_table_new (NULL, NULL);
  self->roots = g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_rpa_a11y_node_unref);
  if (limits != NULL)
    self->limits = *limits;
  self->limits.max_nodes = limit_or (self->limits.max_nodes, DEFAULT_MAX_NODES, MAX_NODES_LIMIT);
  self->limits.max_depth = limit_or (self->limits.max_depth, DEFAULT_MAX_DEPTH, MAX_DEPTH_LIMIT);
  self->limits.timeout_ms = limit_or (self->limits.timeout_ms, DEFAULT_TIMEOUT_MS, G_MAXUINT);

  return self;
}

void
_khadim_rpa_a11y_walk_free (KhadimRpaA11yWalk *self)
{
  g_assert (self->n_calls == 0);

  g_queue_clear (&self->ready);
  g_ptr_array_unref (self->roots);
  g_hash_table_unref (self->hung);
  g_object_unref (self->inner);
  g_main_context_unref (self->context);
  g_object_unref (self->bus);
  g_clear_error (&self->first_error);
  g_free (self);
}

void
_khadim_rpa_a11y_walk_set_descend_func (KhadimRpaA11yWalk        *self,
                                        KhadimRpaA11yDescendFunc  func,
                                        gpointer                  user_data)
{
  self->descend = func;
  self->descend_data = user_data;
}

void
_khadim_rpa_a11y_walk_add (KhadimRpaA11yWalk *self,
                           KhadimRpaA11yNode *node)
{
  g_ptr_array_add (self->roots, khadim_rpa_a11y_node_ref (node));
  g_queue_push_tail (&self->ready, node);
  self->n_nodes++;
}

/* For walks that look at the roots only. */
gboolean
_khadim_rpa_a11y_dont_descend (KhadimRpaA11yNode *node,
                               gpointer           user_data)
{
  return FALSE;
}

/* Answers ------------------------------------------------------------------ */

static GVariant *
unbox (GVariant           *reply,
       const GVariantType *type)
{
  g_autoptr(GVariant) outer = g_variant_get_child_value (reply, 0);
  g_autoptr(GVariant) inner = NULL;

  if (!g_variant_is_of_type (outer, G_VARIANT_TYPE_VARIANT))
    return NULL;
  inner = g_variant_get_variant (outer);
  if (!g_variant_is_of_type (inner, type))
    return NULL;

  return g_steal_pointer (&inner);
}

static char *
unbox_string (GVariant *reply)
{
  g_autoptr(GVariant) value = unbox (reply, G_VARIANT_TYPE_STRING);

  return value != NULL ? g_variant_dup_string (value, NULL) : NULL;
}

/* GTK 4.8 says of top levels only that they are showing: below them, what is
 * visible counts as showing. */
static void
take_state (KhadimRpaA11yNode *node,
            GVariant          *reply)
{
  g_autoptr(GVariant) words = g_variant_get_child_value (reply, 0);
  gsize n_words = 0;
  const guint32 *word = g_variant_get_fixed_array (words, &n_words, sizeof (guint32));

  if (n_words > 0)
    node->states = word[0];
  if (n_words > 1)
    node->states |= (guint64) word[1] << 32;
  if (node->app->window_coords && node->depth != 1
      && _khadim_rpa_a11y_node_has (node, ATSPI_STATE_VISIBLE))
    node->states |= G_GUINT64_CONSTANT (1) << ATSPI_STATE_SHOWING;
}

static void
take_interfaces (KhadimRpaA11yNode *node,
                 GVariant          *reply)
{
  static const struct { const char *name; KhadimRpaA11yInterfaces flag; } known[] = {
    { _KHADIM_A11Y_IFACE_COMPONENT, KHADIM_A11Y_HAS_COMPONENT },
    { _KHADIM_A11Y_IFACE_ACTION, KHADIM_A11Y_HAS_ACTION },
    { _KHADIM_A11Y_IFACE_TEXT, KHADIM_A11Y_HAS_TEXT },
    { _KHADIM_A11Y_IFACE_EDITABLE, KHADIM_A11Y_HAS_EDITABLE },
    { _KHADIM_A11Y_IFACE_VALUE, KHADIM_A11Y_HAS_VALUE },
    { _KHADIM_A11Y_IFACE_SELECTION, KHADIM_A11Y_HAS_SELECTION },
  };
  g_autofree const char **names = NULL;

  g_variant_get (reply, "(^a&s)", &names);
  for (guint i = 0; names[i] != NULL; i++)
    for (guint j = 0; j < G_N_ELEMENTS (known); j++)
      if (g_str_equal (names[i], known[j].name))
        node->interfaces |= known[j].flag;
}

/* A child may live in another process: an embedded plug. */
static KhadimRpaA11yNode *
child_new (KhadimRpaA11yNode *parent,
           const char        *bus_name,
           const char        *path)
{
  KhadimRpaA11yApp *app = NULL;
  KhadimRpaA11yNode *child;

  if (g_strcmp0 (bus_name, parent->app->bus_name) == 0)
    {
      child = _khadim_rpa_a11y_node_new (parent->app, path);
    }
  else
    {
      app = _khadim_rpa_a11y_app_new (bus_name);
      app->name = g_strdup (parent->app->name);
      app->pid = parent->app->pid;
      app->window_coords = parent->app->window_coords;
      child = _khadim_rpa_a11y_node_new (app, path);
      _khadim_rpa_a11y_app_unref (app);
    }
  child->depth = parent->depth + 1;
  child->parent = parent;

  return child;
}

static void
take_children (KhadimRpaA11yWalk *self,
               KhadimRpaA11yNode *node,
               GVariant          *reply)
{
  g_autoptr(GVariantIter) iter = NULL;
  const char *bus_name;
  const char *path;

  node->children =
    g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_rpa_a11y_node_unref);
  g_variant_get (reply, "(a(so))", &iter);
  while (g_variant_iter_next (iter, "(&s&o)", &bus_name, &path))
    {
      KhadimRpaA11yNode *child;

      if (g_str_equal (path, _KHADIM_A11Y_PATH_NULL))
        continue;
      if (self->n_nodes >= self->limits.max_nodes || node->children->len >= MAX_CHILDREN)
        {
          node->truncated = TRUE;
          return;
        }
      child = child_new (node, bus_name, path);
      g_ptr_array_add (node->children, child);
      g_queue_push_tail (&self->ready, child);
      self->n_nodes++;
    }
}

static gboolean
is_sane_extent (int value)
{
  return value > -EXTENT_MAX_PX && value < EXTENT_MAX_PX;
}

/* What is not drawn reports INT_MIN or an empty rectangle. */
static void
take_extents (KhadimRpaA11yNode *node,
              GVariant          *reply)
{
  int x, y, width, height;

  g_variant_get (reply, "((iiii))", &x, &y, &width, &height);
  if (!is_sane_extent (x) || !is_sane_extent (y) || width <= 0 || height <= 0
      || !is_sane_extent (width) || !is_sane_extent (height))
    return;

  node->x = x;
  node->y = y;
  node->width = width;
  node->height = height;
  node->has_extents = TRUE;
}

static void
take_value (KhadimRpaA11yNode *node,
            GVariant          *reply)
{
  g_autoptr(GVariant) value = unbox (reply, G_VARIANT_TYPE_DOUBLE);

  if (value == NULL || !isfinite (g_variant_get_double (value)))
    return;
  node->value = g_variant_get_double (value);
  node->has_value = TRUE;
}

static void
take_actions (KhadimRpaA11yNode *node,
              GVariant          *reply)
{
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new ();
  g_autoptr(GVariantIter) iter = NULL;
  const char *name;
  guint n = 0;

  g_variant_get (reply, "(a(sss))", &iter);
  while (n++ < MAX_ACTIONS && g_variant_iter_next (iter, "(&s&s&s)", &name, NULL, NULL))
    g_strv_builder_add (builder, name);
  g_clear_pointer (&node->actions, g_strfreev);
  node->actions = g_strv_builder_end (builder);
}

/* Questions ---------------------------------------------------------------- */

static void ask (KhadimRpaA11yWalk  *self,
                 KhadimRpaA11yNode  *node,
                 Ask                 what,
                 const char         *interface,
                 const char         *method,
                 GVariant           *args,
                 const GVariantType *type);

static void
ask_text (KhadimRpaA11yWalk *self,
          KhadimRpaA11yNode *node,
          GVariant          *reply)
{
  g_autoptr(GVariant) count = unbox (reply, G_VARIANT_TYPE_INT32);
  int n = count != NULL ? g_variant_get_int32 (count) : 0;

  if (n <= 0)
    node->text = g_strdup ("");
  else
    ask (self, node, ASK_TEXT, _KHADIM_A11Y_IFACE_TEXT, "GetText",
         g_variant_new ("(ii)", 0, MIN (n, SNAPSHOT_MAX_CHARS)), G_VARIANT_TYPE ("(s)"));
}

static void
take_child_count (KhadimRpaA11yWalk *self,
                  KhadimRpaA11yNode *node,
                  GVariant          *reply)
{
  g_autoptr(GVariant) count = unbox (reply, G_VARIANT_TYPE_INT32);
  int n = count != NULL ? g_variant_get_int32 (count) : -1;

  if (n > 0 && n <= MAX_CHILDREN)
    ask (self, node, ASK_CHILDREN, _KHADIM_A11Y_IFACE_ACCESSIBLE, "GetChildren", NULL,
         G_VARIANT_TYPE ("(a(so))"));
  else
    node->truncated = n != 0;
}

static void
take_answer (KhadimRpaA11yWalk *self,
             KhadimRpaA11yNode *node,
             Ask                what,
             GVariant          *reply)
{
  switch (what)
    {
    case ASK_NAME:
      node->name = unbox_string (reply);
      break;
    case ASK_ROLE:
      g_variant_get (reply, "(u)", &node->role);
      node->answered = TRUE;
      break;
    case ASK_STATE:
      take_state (node, reply);
      break;
    case ASK_INTERFACES:
      take_interfaces (node, reply);
      break;
    case ASK_CHILD_COUNT:
      take_child_count (self, node, reply);
      break;
    case ASK_CHILDREN:
      take_children (self, node, reply);
      break;
    case ASK_DESCRIPTION:
      node->description = unbox_string (reply);
      break;
    case ASK_EXTENTS:
      take_extents (node, reply);
      break;
    case ASK_CHARACTER_COUNT:
      ask_text (self, node, reply);
      break;
    case ASK_TEXT:
      g_variant_get (reply, "(s)", &node->text);
      break;
    case ASK_VALUE:
      take_value (node, reply);
      break;
    case ASK_ACTIONS:
      take_actions (node, reply);
      break;
    default:
      g_assert_not_reached ();
    }
}

/* An object that went away while it was asked is left out, as it is not there;
 * one whose application does not answer marks what is above it. */
static void
take_failure (KhadimRpaA11yWalk *self,
              KhadimRpaA11yNode *node,
              Ask                what,
              GError            *failure)
{
  if (g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
    g_hash_table_add (self->hung, node->app);
  if (g_hash_table_contains (self->hung, node->app)
      || g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    node->truncated = TRUE;
  if (what == ASK_ROLE && node->parent == NULL && self->first_error == NULL)
    _khadim_rpa_a11y_take_error (g_error_copy (failure), node->app, &self->first_error);
}

static void
on_answer_cb (GObject      *source,
              GAsyncResult *result,
              gpointer      user_data)
{
  g_autofree Question *question = user_data;
  KhadimRpaA11yWalk *self = question->walk;
  KhadimRpaA11yNode *node = question->node;
  g_autoptr(GError) failure = NULL;
  g_autoptr(GVariant) reply =
    g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, &failure);

  if (reply != NULL)
    take_answer (self, node, question->ask, reply);
  else
    take_failure (self, node, question->ask, failure);

  self->n_calls--;
  node->pending--;
  if (node->pending == 0)
    node_answered (self, node);
}

static void
ask (KhadimRpaA11yWalk  *self,
     KhadimRpaA11yNode  *node,
     Ask                 what,
     const char         *interface,
     const char         *method,
     GVariant           *args,
     const GVariantType *type)
{
  Question *question = g_new0 (Question, 1);

  question->walk = self;
  question->node = node;
  question->ask = what;
  self->n_calls++;
  node->pending++;
  g_dbus_connection_call (self->bus, node->app->bus_name, node->path, interface, method,
                          args, type, G_DBUS_CALL_FLAGS_NO_AUTO_START,
                          _KHADIM_A11Y_CALL_TIMEOUT_MS, self->inner, on_answer_cb, question);
}

static void
ask_property (KhadimRpaA11yWalk *self,
              KhadimRpaA11yNode *node,
              Ask                what,
              const char        *interface,
              const char        *property)
{
  ask (self, node, what, _KHADIM_A11Y_IFACE_PROPERTIES, "Get",
       g_variant_new ("(ss)", interface, property), G_VARIANT_TYPE ("(v)"));
}

static void
ask_extents (KhadimRpaA11yWalk *self,
             KhadimRpaA11yNode *node)
{
  if (node->interfaces & KHADIM_A11Y_HAS_COMPONENT)
    ask (self, node, ASK_EXTENTS, _KHADIM_A11Y_IFACE_COMPONENT, "GetExtents",
         g_variant_new ("(u)", node->app->window_coords ? ATSPI_COORD_TYPE_WINDOW
                                                        : ATSPI_COORD_TYPE_SCREEN),
         G_VARIANT_TYPE ("((iiii))"));
}

static void
ask_details (KhadimRpaA11yWalk *self,
             KhadimRpaA11yNode *node)
{
  ask_property (self, node, ASK_DESCRIPTION, _KHADIM_A11Y_IFACE_ACCESSIBLE, "Description");
  if ((node->interfaces & KHADIM_A11Y_HAS_TEXT) && node->role != ATSPI_ROLE_PASSWORD_TEXT)
    ask_property (self, node, ASK_CHARACTER_COUNT, _KHADIM_A11Y_IFACE_TEXT, "CharacterCount");
  if (node->interfaces & KHADIM_A11Y_HAS_VALUE)
    ask_property (self, node, ASK_VALUE, _KHADIM_A11Y_IFACE_VALUE, "CurrentValue");
  if (node->interfaces & KHADIM_A11Y_HAS_ACTION)
    ask (self, node, ASK_ACTIONS, _KHADIM_A11Y_IFACE_ACTION, "GetActions", NULL,
         G_VARIANT_TYPE ("(a(sss))"));
}

static gboolean
is_wanted (KhadimRpaA11yWalk *self,
           KhadimRpaA11yNode *node)
{
  return self->limits.hidden || node->parent == NULL
         || _khadim_rpa_a11y_node_has (node, ATSPI_STATE_SHOWING);
}

static gboolean
may_descend (KhadimRpaA11yWalk *self,
             KhadimRpaA11yNode *node)
{
  if (self->descend != NULL && !self->descend (node, self->descend_data))
    return FALSE;
  if (node->depth < self->limits.max_depth)
    return TRUE;
  node->truncated = TRUE;

  return FALSE;
}

static gboolean
may_ask (KhadimRpaA11yWalk *self,
         KhadimRpaA11yNode *node)
{
  return !self->expired && !self->cancelled && !g_hash_table_contains (self->hung, node->app);
}

/* An object that manages its descendants may have as many as a sheet has
 * cells; making a list of them all would never end. */
static void
ask_children (KhadimRpaA11yWalk *self,
              KhadimRpaA11yNode *node)
{
  if (_khadim_rpa_a11y_node_has (node, ATSPI_STATE_MANAGES_DESCENDANTS))
    ask_property (self, node, ASK_CHILD_COUNT, _KHADIM_A11Y_IFACE_ACCESSIBLE, "ChildCount");
  else
    ask (self, node, ASK_CHILDREN, _KHADIM_A11Y_IFACE_ACCESSIBLE, "GetChildren", NULL,
         G_VARIANT_TYPE ("(a(so))"));
}

/* The first answers say what else there is to ask; after the second ones, the
 * node is done. */
static void
node_answered (KhadimRpaA11yWalk *self,
               KhadimRpaA11yNode *node)
{
  if (!node->answered || node->asked_further || !is_wanted (self, node))
    return;
  if (!may_ask (self, node))
    {
      node->truncated = TRUE;
      return;
    }

  node->asked_further = TRUE;
  if (may_descend (self, node))
    ask_children (self, node);
  /* With GTK 4, only extents tell what is in a popup. */
  if (self->limits.details || node->app->window_coords)
    ask_extents (self, node);
  if (self->limits.details)
    ask_details (self, node);
}

static void
start_node (KhadimRpaA11yWalk *self,
            KhadimRpaA11yNode *node)
{
  ask_property (self, node, ASK_NAME, _KHADIM_A11Y_IFACE_ACCESSIBLE, "Name");
  ask (self, node, ASK_STATE, _KHADIM_A11Y_IFACE_ACCESSIBLE, "GetState", NULL,
       G_VARIANT_TYPE ("(au)"));
  ask (self, node, ASK_INTERFACES, _KHADIM_A11Y_IFACE_ACCESSIBLE, "GetInterfaces", NULL,
       G_VARIANT_TYPE ("(as)"));
  ask (self, node, ASK_ROLE, _KHADIM_A11Y_IFACE_ACCESSIBLE, "GetRole", NULL,
       G_VARIANT_TYPE ("(u)"));
}

/* The run ------------------------------------------------------------------ */

static gboolean
on_expired_cb (gpointer user_data)
{
  KhadimRpaA11yWalk *self = user_data;

  self->expired = TRUE;
  g_cancellable_cancel (self->inner);

  return G_SOURCE_REMOVE;
}

static gboolean
on_cancelled_cb (GCancellable *cancellable,
                 gpointer      user_data)
{
  KhadimRpaA11yWalk *self = user_data;

  self->cancelled = TRUE;
  g_cancellable_cancel (self->inner);

  return G_SOURCE_REMOVE;
}

static GSource *
attach (KhadimRpaA11yWalk *self,
        GSource           *source,
        GSourceFunc        func)
{
  g_source_set_callback (source, func, self, NULL);
  g_source_attach (source, self->context);

  return source;
}

static void
run_loop (KhadimRpaA11yWalk *self)
{
  while (self->n_calls > 0 || !g_queue_is_empty (&self->ready))
    {
      while (!g_queue_is_empty (&self->ready) && self->n_calls < MAX_CALLS)
        {
          KhadimRpaA11yNode *node = g_queue_pop_head (&self->ready);

          if (may_ask (self, node))
            start_node (self, node);
          else
            node->truncated = TRUE;
        }
      if (self->n_calls > 0)
        g_main_context_iteration (self->context, TRUE);
    }
}

/* Leaves out what did not answer or is not showing, and lets go of what was
 * needed only on the way. */
static void
tidy (KhadimRpaA11yWalk *self,
      KhadimRpaA11yNode *node)
{
  if (node->children != NULL)
    for (guint i = node->children->len; i > 0; i--)
      {
        KhadimRpaA11yNode *child = g_ptr_array_index (node->children, i - 1);

        if (!child->answered && child->truncated)
          node->truncated = TRUE;
        if (!child->answered || !is_wanted (self, child))
          g_ptr_array_remove_index (node->children, i - 1);
        else
          tidy (self, child);
      }
  node->parent = NULL;
}

static gboolean
check_outcome (KhadimRpaA11yWalk  *self,
               GError            **error)
{
  if (self->cancelled)
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED,
                           "Looking at the accessible tree was cancelled");
      return FALSE;
    }
  for (guint i = 0; i < self->roots->len; i++)
    if (((KhadimRpaA11yNode *) g_ptr_array_index (self->roots, i))->answered)
      return TRUE;
  if (self->roots->len == 0)
    return TRUE;
  if (self->expired || self->first_error == NULL)
    g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT,
                 "The accessible tree did not answer within %u ms", self->limits.timeout_ms);
  else
    g_propagate_error (error, g_steal_pointer (&self->first_error));

  return FALSE;
}

gboolean
_khadim_rpa_a11y_walk_run (KhadimRpaA11yWalk  *self,
                           GCancellable       *cancellable,
                           GError            **error)
{
  g_autoptr(GSource) timer = NULL;
  g_autoptr(GSource) cancel = NULL;

  g_main_context_push_thread_default (self->context);
  timer = attach (self, g_timeout_source_new (self->limits.timeout_ms), on_expired_cb);
  if (cancellable != NULL)
    cancel = attach (self, g_cancellable_source_new (cancellable), G_SOURCE_FUNC (on_cancelled_cb));
  if (g_cancellable_is_cancelled (cancellable))
    on_cancelled_cb (cancellable, self);

  run_loop (self);

  g_source_destroy (timer);
  if (cancel != NULL)
    g_source_destroy (cancel);
  g_main_context_pop_thread_default (self->context);
  for (guint i = 0; i < self->roots->len; i++)
    tidy (self, g_ptr_array_index (self->roots, i));

  return check_outcome (self, error);
}
