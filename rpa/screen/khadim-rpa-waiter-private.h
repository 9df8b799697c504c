/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Lets any thread wait until something may have changed: the thread of the
 * display bumps a serial at each event that matters, and who waits looks again
 * whenever it has moved since the last look. Nothing is missed, as the serial
 * is read before looking. */
typedef struct {
  GMutex lock;
  GCond changed;
  guint64 serial; /* guarded by lock */
} KhadimRpaWaiter;

void     _khadim_rpa_waiter_init       (KhadimRpaWaiter  *self);
void     _khadim_rpa_waiter_clear      (KhadimRpaWaiter  *self);
void     _khadim_rpa_waiter_bump       (KhadimRpaWaiter  *self);
guint64  _khadim_rpa_waiter_get_serial (KhadimRpaWaiter  *self);
gboolean _khadim_rpa_waiter_wait       (KhadimRpaWaiter  *self,
                                        guint64           seen,
                                        gint64            deadline_us,
                                        GCancellable     *cancellable,
                                        GError          **error);
gboolean _khadim_rpa_check_cancelled   (GCancellable     *cancellable,
                                        GError          **error);

G_END_DECLS
