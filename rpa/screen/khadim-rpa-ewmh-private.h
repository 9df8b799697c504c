/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <X11/Xlib.h>
#include <glib.h>

#include "rpa/screen/khadim-rpa-window-private.h"

G_BEGIN_DECLS

/* Properties and messages of the Extended Window Manager Hints (freedesktop.org
 * wm-spec 1.5) and the ICCCM. All of it runs on the thread of the display with
 * an error trap set: a window may be gone at any time, which shows as a
 * property that is not there. */

gboolean         _khadim_rpa_ewmh_get_longs    (Display    *x,
                                                Window      window,
                                                const char *property,
                                                long       *out_values,
                                                guint       n_values,
                                                guint      *out_n);
GArray          *_khadim_rpa_ewmh_get_list     (Display    *x,
                                                Window      window,
                                                const char *property);
char            *_khadim_rpa_ewmh_get_string   (Display    *x,
                                                Window      window,
                                                const char *property);
gboolean         _khadim_rpa_ewmh_has_manager  (Display    *x);
gboolean         _khadim_rpa_ewmh_supports     (Display    *x,
                                                const char *hint);
Window           _khadim_rpa_ewmh_get_active   (Display    *x);
GArray          *_khadim_rpa_ewmh_list_clients (Display    *x);
GArray          *_khadim_rpa_ewmh_list_popups  (Display    *x);
KhadimRpaWindow *_khadim_rpa_ewmh_describe     (Display    *x,
                                                Window      window);
void             _khadim_rpa_ewmh_ask_manager  (Display    *x,
                                                Window      window,
                                                const char *message,
                                                const long  data[5]);
void             _khadim_rpa_ewmh_send_protocol (Display    *x,
                                                 Window      window,
                                                 const char *protocol,
                                                 Time        time);

G_END_DECLS
