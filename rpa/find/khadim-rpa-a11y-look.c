/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-a11y-look"

#include "config.h"

#include "rpa/find/khadim-rpa-a11y.h"

#include <math.h>

#include <atspi/atspi.h>

#include "rpa/find/khadim-rpa-a11y-private.h"
#include "rpa/screen/khadim-rpa-error.h"

/* Trees of applications and single objects in them, with their places on the
 * screen. */

#define MAX_DETAILED 600

/* Places ------------------------------------------------------------------- */

typedef struct {
  int x;
  int y;
  int scale;
  char *popup; /* the path of the popup that this is for; not owned */
  guint n_popups;
  const KhadimRpaRect *popups;
} Offset;

/* By how much the toolkit enlarges what it draws. */
static int
find_scale (KhadimRpaA11yNode        *top,
            const KhadimRpaA11yPlace *place)
{
  int bare_width = place->width - (place->has_frame ? place->left + place->right : 0);

  return MAX (1, (int) lround (bare_width / (double) top->width));
}

/* GTK 4 gives positions in the window, without its shadow and, where a window
 * manager draws no frame, without a plain border; GTK 3 gives them on the
 * screen; both in logical pixels. Others give what is wanted. */
static gboolean
find_offset (KhadimRpaA11y      *self,
             KhadimRpaA11yNode  *top,
             KhadimRpaA11yPlace *place,
             Offset             *out_offset)
{
  gboolean placed = (top->app->window_coords || top->app->logical) && top->has_extents
                    && _khadim_rpa_a11y_find_place (self, top, place);
  int border;

  *out_offset = (Offset) { .scale = placed ? find_scale (top, place) : 1 };
  if (!top->app->window_coords)
    return TRUE;
  if (!placed)
    return FALSE;

  border = (place->width - top->width * out_offset->scale) / 2;
  out_offset->x = place->x + (place->has_frame ? place->left : border);
  out_offset->y = place->y + (place->has_frame ? place->top : border);
  out_offset->n_popups = place->n_popups;
  out_offset->popups = place->popups;

  return TRUE;
}

/* A popup of GTK 4 has a window of its own, but the tree has it in the one it
 * came from, at the place of what opened it: only its size tells. */
static gboolean
enter_popup (KhadimRpaA11yNode *node,
             const Offset      *offset,
             Offset            *out_offset)
{
  if (!node->has_extents || node->depth == 1
      || (node->role != ATSPI_ROLE_FILLER && node->role != ATSPI_ROLE_PANEL
          && node->role != ATSPI_ROLE_MENU && node->role != ATSPI_ROLE_POPUP_MENU))
    return FALSE;
  for (guint i = 0; i < offset->n_popups; i++)
    {
      const KhadimRpaRect *popup = &offset->popups[i];

      if (popup->width != node->width * offset->scale
          || popup->height != node->height * offset->scale)
        continue;
      *out_offset = *offset;
      out_offset->x = popup->x - node->x * offset->scale;
      out_offset->y = popup->y - node->y * offset->scale;
      out_offset->popup = node->path;
      return TRUE;
    }

  return FALSE;
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
             const Offset      *offset)
{
  Offset popup;

  node->top = g_ref_string_acquire (top);
  if (offset != NULL && enter_popup (node, offset, &popup))
    offset = &popup;
  if (offset != NULL && offset->popup != NULL)
    node->popup = g_ref_string_new_intern (offset->popup);
  if (node->has_extents)
    apply_offset (node, offset);
  for (guint i = 0; i < khadim_rpa_a11y_node_get_n_children (node); i++)
    finish_tree (khadim_rpa_a11y_node_get_child (node, i), top, offset);
}

static void
finish_app (KhadimRpaA11y     *self,
            KhadimRpaA11yNode *root)
{
  for (guint i = 0; i < khadim_rpa_a11y_node_get_n_children (root); i++)
    {
      KhadimRpaA11yNode *top = khadim_rpa_a11y_node_get_child (root, i);
      g_autoptr(GRefString) path = g_ref_string_new (top->path);
      KhadimRpaA11yPlace place = { 0 };
      Offset offset;
      gboolean placed = find_offset (self, top, &place, &offset);

      finish_tree (top, path, placed ? &offset : NULL);
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
  g_autoptr(GPtrArray) roots = _khadim_rpa_a11y_list_in_scope (self, scope, cancellable, error);
  g_autoptr(KhadimRpaA11yWalk) walk = NULL;

  if (roots == NULL)
    return NULL;
  walk = _khadim_rpa_a11y_walk_new (_khadim_rpa_a11y_get_bus (self), limits);
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
  const KhadimRpaA11yLimits limits = { .max_nodes = MAX_DETAILED, .details = TRUE };
  GDBusConnection *bus = _khadim_rpa_a11y_get_bus (self);
  g_autoptr(KhadimRpaA11yWalk) walk = _khadim_rpa_a11y_walk_new (bus, &limits);

  _khadim_rpa_a11y_walk_set_descend_func (walk, _khadim_rpa_a11y_dont_descend, NULL);
  for (guint i = 0; i < fresh->len; i++)
    _khadim_rpa_a11y_walk_add (walk, g_ptr_array_index (fresh, i));

  return _khadim_rpa_a11y_walk_run (walk, cancellable, error);
}

static void
finish_detail (KhadimRpaA11y     *self,
               KhadimRpaA11yNode *node,
               KhadimRpaA11yNode *top,
               KhadimRpaA11yNode *popup)
{
  g_autoptr(GRefString) path = g_ref_string_new (top->path);
  KhadimRpaA11yPlace place = { 0 };
  Offset offset;
  Offset inner;
  gboolean placed = find_offset (self, top, &place, &offset);

  if (placed && enter_popup (popup, &offset, &inner))
    offset = inner;
  finish_tree (node, path, placed ? &offset : NULL);
}

/* The same objects as they are now, with all details, without children; those
 * that are gone are left out. */
GPtrArray *
_khadim_rpa_a11y_detail (KhadimRpaA11y  *self,
                         GPtrArray      *nodes,
                         GCancellable   *cancellable,
                         GError        **error)
{
  g_autoptr(GPtrArray) asked = _khadim_rpa_a11y_node_array_new ();
  g_autoptr(GPtrArray) fresh = _khadim_rpa_a11y_node_array_new ();

  for (guint i = 0; i < nodes->len; i++)
    {
      KhadimRpaA11yNode *node = g_ptr_array_index (nodes, i);

      g_ptr_array_add (asked, copy_unasked (node, node->path));
      g_ptr_array_add (asked, copy_unasked (node, node->top != NULL ? node->top : node->path));
      g_ptr_array_add (asked, copy_unasked (node, node->popup != NULL ? node->popup : node->path));
    }
  if (!detail_walk (self, asked, cancellable, error))
    return NULL;

  for (guint i = 0; i < nodes->len; i++)
    {
      KhadimRpaA11yNode *node = g_ptr_array_index (asked, 3 * i);

      if (!node->answered)
        continue;
      finish_detail (self, node, g_ptr_array_index (asked, 3 * i + 1),
                     g_ptr_array_index (asked, 3 * i + 2));
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
  g_autoptr(GPtrArray) nodes = _khadim_rpa_a11y_node_array_new ();
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

static gboolean
lies_nearer (KhadimRpaA11yNode *node,
             KhadimRpaA11yNode *other)
{
  if ((node->popup != NULL) != (other->popup != NULL))
    return node->popup != NULL;

  return (gint64) node->width * node->height <= (gint64) other->width * other->height;
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
      && (*best == NULL || lies_nearer (node, *best)))
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
