/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/input/khadim-rpa-input.h"
#include "rpa/input/khadim-rpa-stop.h"

G_BEGIN_DECLS

/* The keys that stop, where a person has not chosen others. */
#define KHADIM_RPA_STOP_DEFAULT_KEYS "ctrl+alt+Escape"

/**
 * KhadimRpaStopCause:
 * @KHADIM_RPA_STOP_CAUSE_KEYS: the keys of the stop were pressed
 * @KHADIM_RPA_STOP_CAUSE_CORNER: the pointer was pushed into the corner
 *
 * How a person stopped all input.
 */
typedef enum {
  KHADIM_RPA_STOP_CAUSE_KEYS,
  KHADIM_RPA_STOP_CAUSE_CORNER,
} KhadimRpaStopCause;

/**
 * KhadimRpaStopFunc:
 * @cause: how
 * @user_data: as given to the watch
 *
 * Called once all input has been stopped by a person, on a thread of the
 * watch's own. It must not end the watch.
 */
typedef void (*KhadimRpaStopFunc) (KhadimRpaStopCause cause,
                                   gpointer           user_data);

#define KHADIM_RPA_TYPE_STOP_WATCH (khadim_rpa_stop_watch_get_type ())
G_DECLARE_FINAL_TYPE (KhadimRpaStopWatch, khadim_rpa_stop_watch, KHADIM_RPA, STOP_WATCH, GObject)

KhadimRpaStopWatch *khadim_rpa_stop_watch_new (KhadimRpaInput     *input,
                                               const char         *keys,
                                               gboolean            corner,
                                               KhadimRpaStopFunc   func,
                                               gpointer            user_data,
                                               GDestroyNotify      destroy,
                                               GError            **error);

G_END_DECLS
