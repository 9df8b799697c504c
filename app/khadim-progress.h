/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* What a person sees of a run in the terminal. */

#pragma once

#include "engine/event/khadim-event.h"

G_BEGIN_DECLS

typedef struct _KhadimProgress KhadimProgress;

KhadimProgress *khadim_progress_new  (const char     *session_id);
void            khadim_progress_free (KhadimProgress *self);
void            khadim_progress_show (KhadimProgress *self,
                                      KhadimEvent    *event);

G_END_DECLS
