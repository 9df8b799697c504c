/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <X11/Xlib.h>

#include "rpa/screen/khadim-rpa-waiter-private.h"
#include "rpa/screen/khadim-rpa-windows.h"

G_BEGIN_DECLS

/* What a wait looks at, on the thread of the display with a trap set. */
typedef gboolean (*KhadimRpaWindowsCheck) (KhadimRpaWindows *self,
                                           Display          *x,
                                           gpointer          user_data);

KhadimRpaDisplay *_khadim_rpa_windows_get_display (KhadimRpaWindows       *self);
gboolean          _khadim_rpa_windows_run         (KhadimRpaWindows       *self,
                                                   KhadimRpaWindowsCheck   func,
                                                   gpointer                user_data,
                                                   gboolean               *out_result,
                                                   GError                **error);
gboolean          _khadim_rpa_windows_wait        (KhadimRpaWindows       *self,
                                                   KhadimRpaWindowsCheck   check,
                                                   gpointer                user_data,
                                                   gint64                  deadline_us,
                                                   GCancellable           *cancellable,
                                                   GError                **error);
KhadimRpaWindow  *_khadim_rpa_windows_watch       (KhadimRpaWindows       *self,
                                                   guint32                 id,
                                                   GError                **error);
gboolean          _khadim_rpa_windows_has_answer  (KhadimRpaWindows       *self,
                                                   guint32                 id,
                                                   gulong                  token);
gulong            _khadim_rpa_windows_next_token  (KhadimRpaWindows       *self);
void              _khadim_rpa_windows_wake        (KhadimRpaWindows       *self);
gint64            _khadim_rpa_deadline            (guint                   timeout_ms);

G_END_DECLS
