/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* One follower of a session's events, on a context of its own. */

#pragma once

#include "engine/session/khadim-session.h"

G_BEGIN_DECLS

typedef struct _KhadimSubscriber KhadimSubscriber;

KhadimSubscriber *_khadim_subscriber_new      (KhadimStore      *store,
                                               const char       *session_id,
                                               KhadimChannel     channels,
                                               gint64            since_seq);
void              _khadim_subscriber_set_func (KhadimSubscriber *self,
                                               KhadimEventFunc   func,
                                               gpointer          user_data,
                                               GDestroyNotify    destroy);
void              _khadim_subscriber_push     (KhadimSubscriber *self,
                                               KhadimEvent      *event);
void              _khadim_subscriber_unref    (KhadimSubscriber *self);

G_END_DECLS
