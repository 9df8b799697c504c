/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/find/khadim-rpa-a11y.h"

G_BEGIN_DECLS

/**
 * KhadimRpaA11yMatch:
 * @node: the object, with details, without children
 * @score: how well it fits, above 0 and at most 1
 *
 * One answer to a search.
 */
typedef struct {
  KhadimRpaA11yNode *node;
  double score;
} KhadimRpaA11yMatch;

void       khadim_rpa_a11y_match_free     (KhadimRpaA11yMatch         *self);
gboolean   khadim_rpa_a11y_check_evidence (JsonObject                 *evidence,
                                           GError                    **error);
GPtrArray *khadim_rpa_a11y_find           (KhadimRpaA11y              *self,
                                           const KhadimRpaA11yScope   *scope,
                                           JsonObject                 *evidence,
                                           const KhadimRpaA11yLimits  *limits,
                                           gboolean                   *out_truncated,
                                           GCancellable               *cancellable,
                                           GError                    **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimRpaA11yMatch, khadim_rpa_a11y_match_free)

G_END_DECLS
