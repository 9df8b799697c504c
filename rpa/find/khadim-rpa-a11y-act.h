/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/find/khadim-rpa-a11y.h"

G_BEGIN_DECLS

gboolean khadim_rpa_a11y_invoke      (KhadimRpaA11y      *self,
                                      KhadimRpaA11yNode  *node,
                                      const char         *action,
                                      GCancellable       *cancellable,
                                      GError            **error);
gboolean khadim_rpa_a11y_set_value   (KhadimRpaA11y      *self,
                                      KhadimRpaA11yNode  *node,
                                      const char         *value,
                                      GCancellable       *cancellable,
                                      GError            **error);
char    *khadim_rpa_a11y_get_text    (KhadimRpaA11y      *self,
                                      KhadimRpaA11yNode  *node,
                                      GCancellable       *cancellable,
                                      GError            **error);
gboolean khadim_rpa_a11y_select_text (KhadimRpaA11y      *self,
                                      KhadimRpaA11yNode  *node,
                                      const char         *from_text,
                                      const char         *to_text,
                                      GCancellable       *cancellable,
                                      GError            **error);
gboolean khadim_rpa_a11y_grab_focus  (KhadimRpaA11y      *self,
                                      KhadimRpaA11yNode  *node,
                                      GCancellable       *cancellable,
                                      GError            **error);

G_END_DECLS
