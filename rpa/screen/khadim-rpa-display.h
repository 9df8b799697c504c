/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

#define KHADIM_RPA_TYPE_DISPLAY (khadim_rpa_display_get_type ())

G_DECLARE_FINAL_TYPE (KhadimRpaDisplay, khadim_rpa_display, KHADIM_RPA, DISPLAY, GObject)

/**
 * KhadimRpaDisplayFunc:
 * @display: the display
 * @user_data: as given with the function
 *
 * What is to be done on the thread of a display.
 */
typedef void (*KhadimRpaDisplayFunc) (KhadimRpaDisplay *display,
                                      gpointer          user_data);

KhadimRpaDisplay *khadim_rpa_display_new       (const char            *name,
                                                GError               **error);
const char       *khadim_rpa_display_get_name  (KhadimRpaDisplay      *self);
gboolean          khadim_rpa_display_is_lost   (KhadimRpaDisplay      *self);
void              khadim_rpa_display_run_async (KhadimRpaDisplay      *self,
                                                KhadimRpaDisplayFunc   func,
                                                gpointer               user_data,
                                                GDestroyNotify         destroy);
gboolean          khadim_rpa_display_run_sync  (KhadimRpaDisplay      *self,
                                                KhadimRpaDisplayFunc   func,
                                                gpointer               user_data,
                                                GError               **error);

G_END_DECLS
