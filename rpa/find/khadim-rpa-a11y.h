/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "rpa/find/khadim-rpa-a11y-node.h"
#include "rpa/find/khadim-rpa-picture.h"

G_BEGIN_DECLS

#define KHADIM_RPA_TYPE_A11Y (khadim_rpa_a11y_get_type ())

G_DECLARE_FINAL_TYPE (KhadimRpaA11y, khadim_rpa_a11y, KHADIM_RPA, A11Y, GObject)

/**
 * KhadimRpaA11yScope:
 * @pid: only this process; 0 for any
 * @app: (nullable): only applications of this name, as they call themselves or
 *   as their program is called; `*` and `?` are wild cards
 * @window: (nullable): only top levels with this title, the same way
 *
 * Where to look. A scope with neither @pid nor @app reaches every application,
 * which takes as long as the slowest of them.
 */
typedef struct {
  guint32 pid;
  const char *app;
  const char *window;
} KhadimRpaA11yScope;

/**
 * KhadimRpaA11yLimits:
 * @max_nodes: how many nodes to ask, 0 for the default
 * @max_depth: how many levels below the application, 0 for the default
 * @timeout_ms: how long to take, 0 for the default
 * @hidden: also what is not showing, such as the items of a closed menu
 * @details: also extents, text, value, actions and descriptions
 *
 * How far to look. What lies beyond a limit is left out, and the nodes where
 * that happened are marked as truncated.
 */
typedef struct {
  guint max_nodes;
  guint max_depth;
  guint timeout_ms;
  gboolean hidden;
  gboolean details;
} KhadimRpaA11yLimits;

/**
 * KHADIM_RPA_A11Y_MAX_POPUPS:
 *
 * How many popups of a window are looked at.
 */
#define KHADIM_RPA_A11Y_MAX_POPUPS 8

/**
 * KhadimRpaA11yPlace:
 * @x: left edge of the X window on the root, in px
 * @y: its top edge
 * @width: its width
 * @height: its height
 * @has_frame: whether `_GTK_FRAME_EXTENTS` is set
 * @left: its first number, the width of the shadow on the left
 * @right: its second number, the width of the shadow on the right
 * @top: its third number, the height of the shadow above
 * @n_popups: how many of @popups are set
 * @popups: the popups of the process, from the lowest to the topmost
 *
 * Where the X window of a top level is.
 */
typedef struct {
  int x;
  int y;
  int width;
  int height;
  gboolean has_frame;
  int left;
  int right;
  int top;
  guint n_popups;
  KhadimRpaRect popups[KHADIM_RPA_A11Y_MAX_POPUPS];
} KhadimRpaA11yPlace;

/**
 * KhadimRpaA11yPlaceFunc:
 * @pid: the process that the window belongs to
 * @title: its title
 * @out_place: where to put the answer
 * @user_data: as given with the function
 *
 * Finds the X window of a top level. GTK 4 reports positions in the window
 * only, so that nothing but the X server knows where the window is. Called on
 * the thread that asked for the tree.
 *
 * Returns: whether there is such a window
 */
typedef gboolean (*KhadimRpaA11yPlaceFunc) (guint32             pid,
                                            const char         *title,
                                            KhadimRpaA11yPlace *out_place,
                                            gpointer            user_data);

KhadimRpaA11y     *khadim_rpa_a11y_new             (GDBusConnection          *session_bus,
                                                    GCancellable             *cancellable,
                                                    GError                  **error);
void               khadim_rpa_a11y_set_place_func  (KhadimRpaA11y            *self,
                                                    KhadimRpaA11yPlaceFunc    func,
                                                    gpointer                  user_data,
                                                    GDestroyNotify            destroy);
GPtrArray         *khadim_rpa_a11y_list_apps       (KhadimRpaA11y            *self,
                                                    GCancellable             *cancellable,
                                                    GError                  **error);
KhadimRpaA11yNode *khadim_rpa_a11y_snapshot        (KhadimRpaA11y            *self,
                                                    const KhadimRpaA11yScope *scope,
                                                    const KhadimRpaA11yLimits *limits,
                                                    GCancellable             *cancellable,
                                                    GError                  **error);
KhadimRpaA11yNode *khadim_rpa_a11y_refresh         (KhadimRpaA11y            *self,
                                                    KhadimRpaA11yNode        *node,
                                                    GCancellable             *cancellable,
                                                    GError                  **error);
KhadimRpaA11yNode *khadim_rpa_a11y_get_focused     (KhadimRpaA11y            *self,
                                                    const KhadimRpaA11yScope *scope,
                                                    GCancellable             *cancellable,
                                                    GError                  **error);
KhadimRpaA11yNode *khadim_rpa_a11y_get_at_point    (KhadimRpaA11y            *self,
                                                    const KhadimRpaA11yScope *scope,
                                                    int                       x,
                                                    int                       y,
                                                    GCancellable             *cancellable,
                                                    GError                  **error);

G_END_DECLS
