/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/find/khadim-rpa-a11y.h"

G_BEGIN_DECLS

#define _KHADIM_A11Y_IFACE_ACCESSIBLE "org.a11y.atspi.Accessible"
#define _KHADIM_A11Y_IFACE_ACTION     "org.a11y.atspi.Action"
#define _KHADIM_A11Y_IFACE_APP        "org.a11y.atspi.Application"
#define _KHADIM_A11Y_IFACE_COMPONENT  "org.a11y.atspi.Component"
#define _KHADIM_A11Y_IFACE_EDITABLE   "org.a11y.atspi.EditableText"
#define _KHADIM_A11Y_IFACE_SELECTION  "org.a11y.atspi.Selection"
#define _KHADIM_A11Y_IFACE_TEXT       "org.a11y.atspi.Text"
#define _KHADIM_A11Y_IFACE_VALUE      "org.a11y.atspi.Value"
#define _KHADIM_A11Y_IFACE_PROPERTIES "org.freedesktop.DBus.Properties"

#define _KHADIM_A11Y_PATH_ROOT "/org/a11y/atspi/accessible/root"
#define _KHADIM_A11Y_PATH_NULL "/org/a11y/atspi/null"

/* One call; a program that needs longer counts as hung. */
#define _KHADIM_A11Y_CALL_TIMEOUT_MS 2000

#define _KHADIM_A11Y_TEXT_MAX_CHARS 65536

typedef enum {
  KHADIM_A11Y_HAS_COMPONENT = 1 << 0,
  KHADIM_A11Y_HAS_ACTION    = 1 << 1,
  KHADIM_A11Y_HAS_TEXT      = 1 << 2,
  KHADIM_A11Y_HAS_EDITABLE  = 1 << 3,
  KHADIM_A11Y_HAS_VALUE     = 1 << 4,
  KHADIM_A11Y_HAS_SELECTION = 1 << 5,
} KhadimRpaA11yInterfaces;

/* What all nodes of one application share; immutable once the walk is over. */
typedef struct {
  gatomicrefcount ref_count;
  char *bus_name;
  char *name;
  char *toolkit;
  char *version;
  guint32 pid;
  gboolean window_coords; /* GTK 4: extents are positions in the window */
  gboolean logical;       /* GTK 3: extents are in logical pixels */
} KhadimRpaA11yApp;

struct _KhadimRpaA11yNode
{
  gatomicrefcount ref_count;

  /* Owned */
  KhadimRpaA11yApp *app;
  char *path;
  char *top;   /* the path of its top level */
  char *popup; /* the path of the popup that it is in */
  char *name;
  char *description;
  char *text;
  GStrv actions;
  GPtrArray *children; /* of KhadimRpaA11yNode; NULL before it was asked */

  guint role; /* AtspiRole */
  guint64 states;
  KhadimRpaA11yInterfaces interfaces;
  double value;
  int x;
  int y;
  int width;
  int height;
  guint depth;
  gboolean has_value;
  gboolean has_extents;
  gboolean truncated;
  gboolean answered;
  gboolean asked_further;

  /* Only while the walk is on */
  KhadimRpaA11yNode *parent;
  guint pending;
};

KhadimRpaA11yApp  *_khadim_rpa_a11y_app_new    (const char        *bus_name);
KhadimRpaA11yApp  *_khadim_rpa_a11y_app_ref    (KhadimRpaA11yApp  *self);
void               _khadim_rpa_a11y_app_unref  (KhadimRpaA11yApp  *self);

KhadimRpaA11yNode *_khadim_rpa_a11y_node_new   (KhadimRpaA11yApp  *app,
                                                const char        *path);
GPtrArray         *_khadim_rpa_a11y_node_array_new (void);
gboolean           _khadim_rpa_a11y_node_has   (KhadimRpaA11yNode *self,
                                                guint              state);
gboolean           _khadim_rpa_a11y_glob_match (const char        *pattern,
                                                const char        *string);

/* Walks */

typedef struct _KhadimRpaA11yWalk KhadimRpaA11yWalk;

/* Whether to look below a node whose own answers are in. */
typedef gboolean (*KhadimRpaA11yDescendFunc) (KhadimRpaA11yNode *node,
                                              gpointer           user_data);

KhadimRpaA11yWalk *_khadim_rpa_a11y_walk_new      (GDBusConnection           *bus,
                                                   const KhadimRpaA11yLimits *limits);
void               _khadim_rpa_a11y_walk_free     (KhadimRpaA11yWalk         *self);
void               _khadim_rpa_a11y_walk_set_descend_func (KhadimRpaA11yWalk        *self,
                                                           KhadimRpaA11yDescendFunc  func,
                                                           gpointer                  user_data);
void               _khadim_rpa_a11y_walk_add      (KhadimRpaA11yWalk         *self,
                                                   KhadimRpaA11yNode         *node);
gboolean           _khadim_rpa_a11y_walk_run      (KhadimRpaA11yWalk         *self,
                                                   GCancellable              *cancellable,
                                                   GError                   **error);

gboolean           _khadim_rpa_a11y_dont_descend  (KhadimRpaA11yNode         *node,
                                                   gpointer                   user_data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimRpaA11yWalk, _khadim_rpa_a11y_walk_free)

/* The connection */

GDBusConnection *_khadim_rpa_a11y_get_bus (KhadimRpaA11y *self);
gboolean  _khadim_rpa_a11y_find_place (KhadimRpaA11y      *self,
                                       KhadimRpaA11yNode  *top,
                                       KhadimRpaA11yPlace *out_place);
GPtrArray *_khadim_rpa_a11y_list_in_scope (KhadimRpaA11y             *self,
                                           const KhadimRpaA11yScope  *scope,
                                           GCancellable              *cancellable,
                                           GError                   **error);

GVariant *_khadim_rpa_a11y_call (KhadimRpaA11y       *self,
                                 KhadimRpaA11yNode   *node,
                                 const char          *interface,
                                 const char          *method,
                                 GVariant            *args,
                                 const GVariantType  *type,
                                 GCancellable        *cancellable,
                                 GError             **error);
GVariant *_khadim_rpa_a11y_get_property (KhadimRpaA11y      *self,
                                         KhadimRpaA11yNode  *node,
                                         const char         *interface,
                                         const char         *property,
                                         const GVariantType *type,
                                         GCancellable       *cancellable,
                                         GError            **error);
GPtrArray *_khadim_rpa_a11y_walk_scope   (KhadimRpaA11y              *self,
                                           const KhadimRpaA11yScope   *scope,
                                           const KhadimRpaA11yLimits  *limits,
                                           KhadimRpaA11yDescendFunc    descend,
                                           gpointer                    user_data,
                                           GCancellable               *cancellable,
                                           GError                    **error);
GPtrArray *_khadim_rpa_a11y_detail       (KhadimRpaA11y              *self,
                                           GPtrArray                  *nodes,
                                           GCancellable               *cancellable,
                                           GError                    **error);

void       _khadim_rpa_a11y_take_error    (GError                    *dbus_error,
                                           KhadimRpaA11yApp          *app,
                                           GError                   **error);

G_END_DECLS
