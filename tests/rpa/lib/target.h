/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/screen/khadim-rpa-windows.h"
#include "tests/rpa/lib/desk.h"

G_BEGIN_DECLS

/* A target program on a desk, with its window and what it writes down. */
typedef struct {
  Desk *desk; /* not owned */
  GSubprocess *process;
  char *folder;
  guint32 window;
} Target;

gboolean target_is_built   (const char       *toolkit);
Target  *target_new        (Desk             *desk,
                            KhadimRpaWindows *windows,
                            const char       *toolkit,
                            const char       *title);
void     target_free       (Target           *self);
char    *target_text       (Target           *self);
char    *target_log        (Target           *self);
gboolean target_wait_text  (Target           *self,
                            const char       *text,
                            int               timeout_ms);
gboolean target_wait_log   (Target           *self,
                            const char       *line,
                            int               timeout_ms);
void     target_clear      (Target           *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Target, target_free)

G_END_DECLS
