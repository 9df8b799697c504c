/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A desk of a test's own: X server, window manager, session bus, home. */
typedef struct _Desk Desk;

typedef gboolean (*DeskCondition) (gpointer user_data);

Desk        *desk_new      (const char    *wm,
                            int            width,
                            int            height);
void         desk_free     (Desk          *self);
const char  *desk_home     (Desk          *self);
void         desk_stop_server (Desk       *self);
GSubprocess *desk_spawn    (Desk          *self,
                            const char    *argv0,
                            ...) G_GNUC_NULL_TERMINATED;
void         desk_end      (GSubprocess   *process);
void         desk_freeze   (GSubprocess   *process);
guint32      desk_pid      (GSubprocess   *process);
char        *desk_run      (const char    *argv0,
                            ...) G_GNUC_NULL_TERMINATED;
char        *desk_finish   (GSubprocess   *process,
                            int           *out_status);
gboolean     desk_wait     (DeskCondition  condition,
                            gpointer       user_data,
                            int            timeout_ms);
void         desk_click    (int            x,
                            int            y);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Desk, desk_free)

G_END_DECLS
