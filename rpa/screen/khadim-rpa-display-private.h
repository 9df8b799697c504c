/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <X11/Xlib.h>

#include "rpa/screen/khadim-rpa-display.h"

G_BEGIN_DECLS

/* Looks at an event of the display; all filters see all events. When the
 * server has gone, they are called once with NULL. */
typedef void (*KhadimRpaEventFilter) (KhadimRpaDisplay *display,
                                      XEvent           *event,
                                      gpointer          user_data);

/* All of these only on the thread of the display. */
Display      *_khadim_rpa_display_get_x         (KhadimRpaDisplay     *self);
GMainContext *_khadim_rpa_display_get_context   (KhadimRpaDisplay     *self);
gboolean      _khadim_rpa_display_is_own_thread (KhadimRpaDisplay     *self);
void          _khadim_rpa_display_push_trap     (KhadimRpaDisplay     *self);
int           _khadim_rpa_display_pop_trap      (KhadimRpaDisplay     *self);
guint         _khadim_rpa_display_add_filter    (KhadimRpaDisplay     *self,
                                                 KhadimRpaEventFilter  func,
                                                 gpointer              user_data);
void          _khadim_rpa_display_remove_filter (KhadimRpaDisplay     *self,
                                                 guint                 id);
void          _khadim_rpa_display_select        (KhadimRpaDisplay     *self,
                                                 Window                window,
                                                 long                  mask);

/* Any thread. */
void          _khadim_rpa_display_adopt         (Display              *x);
void          _khadim_rpa_display_disown        (Display              *x);

G_END_DECLS
