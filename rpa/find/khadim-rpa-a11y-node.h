/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define KHADIM_RPA_TYPE_A11Y_NODE (khadim_rpa_a11y_node_get_type ())

/**
 * KhadimRpaA11yNode:
 *
 * What one accessible object was like when it was asked, and what is needed to
 * ask it again. Immutable; may be used from any thread.
 */
typedef struct _KhadimRpaA11yNode KhadimRpaA11yNode;

GType              khadim_rpa_a11y_node_get_type        (void);
KhadimRpaA11yNode *khadim_rpa_a11y_node_ref             (KhadimRpaA11yNode *self);
void               khadim_rpa_a11y_node_unref           (KhadimRpaA11yNode *self);

const char        *khadim_rpa_a11y_node_get_role        (KhadimRpaA11yNode *self);
const char        *khadim_rpa_a11y_node_get_name        (KhadimRpaA11yNode *self);
const char        *khadim_rpa_a11y_node_get_description (KhadimRpaA11yNode *self);
const char        *khadim_rpa_a11y_node_get_app         (KhadimRpaA11yNode *self);
guint32            khadim_rpa_a11y_node_get_pid         (KhadimRpaA11yNode *self);
gboolean           khadim_rpa_a11y_node_has_state       (KhadimRpaA11yNode *self,
                                                         const char        *state);
char             **khadim_rpa_a11y_node_dup_states      (KhadimRpaA11yNode *self);
gboolean           khadim_rpa_a11y_node_get_extents     (KhadimRpaA11yNode *self,
                                                         int               *out_x,
                                                         int               *out_y,
                                                         int               *out_width,
                                                         int               *out_height);
const char        *khadim_rpa_a11y_node_get_text        (KhadimRpaA11yNode *self);
gboolean           khadim_rpa_a11y_node_get_value       (KhadimRpaA11yNode *self,
                                                         double            *out_value);
const char * const *khadim_rpa_a11y_node_get_actions    (KhadimRpaA11yNode *self);
guint              khadim_rpa_a11y_node_get_n_children  (KhadimRpaA11yNode *self);
KhadimRpaA11yNode *khadim_rpa_a11y_node_get_child       (KhadimRpaA11yNode *self,
                                                         guint              index);
gboolean           khadim_rpa_a11y_node_is_truncated    (KhadimRpaA11yNode *self);
guint              khadim_rpa_a11y_node_count           (KhadimRpaA11yNode *self);
gboolean           khadim_rpa_a11y_node_equal           (KhadimRpaA11yNode *self,
                                                         KhadimRpaA11yNode *other);
JsonNode          *khadim_rpa_a11y_node_to_json         (KhadimRpaA11yNode *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimRpaA11yNode, khadim_rpa_a11y_node_unref)

G_END_DECLS
