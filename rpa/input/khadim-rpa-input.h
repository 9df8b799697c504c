/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "rpa/screen/khadim-rpa-display.h"

G_BEGIN_DECLS

/* How much one call may type. */
#define KHADIM_RPA_TYPE_MAX_CHARS 100000
/* How often one call may repeat a key, how long it may hold one. */
#define KHADIM_RPA_KEY_MAX_REPEAT 100
#define KHADIM_RPA_KEY_MAX_HOLD_MS 300000
/* How many points a path may have. */
#define KHADIM_RPA_PATH_MAX_POINTS 1000

#define KHADIM_RPA_TYPE_INPUT (khadim_rpa_input_get_type ())
G_DECLARE_FINAL_TYPE (KhadimRpaInput, khadim_rpa_input, KHADIM_RPA, INPUT, GObject)

/**
 * KhadimRpaButton:
 * @KHADIM_RPA_BUTTON_LEFT: the left button
 * @KHADIM_RPA_BUTTON_MIDDLE: the middle button
 * @KHADIM_RPA_BUTTON_RIGHT: the right button
 * @KHADIM_RPA_BUTTON_BACK: the button that goes back
 * @KHADIM_RPA_BUTTON_FORWARD: the button that goes forward
 *
 * A button of the pointer, by its number in the X protocol.
 */
typedef enum {
  KHADIM_RPA_BUTTON_LEFT = 1,
  KHADIM_RPA_BUTTON_MIDDLE = 2,
  KHADIM_RPA_BUTTON_RIGHT = 3,
  KHADIM_RPA_BUTTON_BACK = 8,
  KHADIM_RPA_BUTTON_FORWARD = 9,
} KhadimRpaButton;

/**
 * KhadimRpaFocusCheckFunc:
 * @user_data: as given in the options
 * @error: where to put what has the focus instead
 *
 * Looks whether the widget that is meant still has the focus; called between
 * batches of keys, on the thread that called the input.
 *
 * Returns: whether it has
 */
typedef gboolean (*KhadimRpaFocusCheckFunc) (gpointer   user_data,
                                             GError   **error);

/**
 * KhadimRpaTypeOptions:
 * @window: the top-level window that must have the keyboard; 0 for whichever
 *   has it at the first key
 * @delay_us: time between two keys, in microseconds; 0 for full speed
 * @check: (nullable): looks at the widget between batches
 * @check_data: for @check
 *
 * How to type.
 */
typedef struct {
  guint32 window;
  guint delay_us;
  KhadimRpaFocusCheckFunc check;
  gpointer check_data;
} KhadimRpaTypeOptions;

/**
 * KhadimRpaTypeReport:
 * @n_chars: characters typed
 * @n_remaps: characters that were on no key
 * @n_barriers: times that the program was waited for
 * @answers: whether the program answers `_NET_WM_PING`
 * @elapsed_us: how long it took
 *
 * What typing did.
 */
typedef struct {
  guint n_chars;
  guint n_remaps;
  guint n_barriers;
  gboolean answers;
  gint64 elapsed_us;
} KhadimRpaTypeReport;

KhadimRpaInput *khadim_rpa_input_new         (KhadimRpaDisplay            *display,
                                              GError                     **error);
gboolean        khadim_rpa_input_type        (KhadimRpaInput              *self,
                                              const char                  *text,
                                              const KhadimRpaTypeOptions  *options,
                                              KhadimRpaTypeReport         *out_report,
                                              GCancellable                *cancellable,
                                              GError                     **error);
gboolean        khadim_rpa_input_check_keys  (const char                  *keys,
                                              GError                     **error);
gboolean        khadim_rpa_input_key         (KhadimRpaInput              *self,
                                              const char                  *keys,
                                              guint32                      window,
                                              guint                        repeat,
                                              guint                        hold_ms,
                                              GCancellable                *cancellable,
                                              GError                     **error);
gboolean        khadim_rpa_input_key_down    (KhadimRpaInput              *self,
                                              const char                  *keys,
                                              guint32                      window,
                                              GError                     **error);
gboolean        khadim_rpa_input_key_up      (KhadimRpaInput              *self,
                                              const char                  *keys,
                                              GError                     **error);
gboolean        khadim_rpa_input_move        (KhadimRpaInput              *self,
                                              int                          x,
                                              int                          y,
                                              guint                        duration_ms,
                                              GCancellable                *cancellable,
                                              GError                     **error);
gboolean        khadim_rpa_input_click       (KhadimRpaInput              *self,
                                              int                          x,
                                              int                          y,
                                              KhadimRpaButton              button,
                                              guint                        count,
                                              const char                  *keys,
                                              guint                        hold_ms,
                                              guint32                      window,
                                              GCancellable                *cancellable,
                                              GError                     **error);
gboolean        khadim_rpa_input_separate_click (KhadimRpaInput           *self,
                                              int                          x,
                                              int                          y,
                                              KhadimRpaButton              button,
                                              GCancellable                *cancellable,
                                              GError                     **error);
gboolean        khadim_rpa_input_press       (KhadimRpaInput              *self,
                                              KhadimRpaButton              button,
                                              guint32                      window,
                                              GError                     **error);
gboolean        khadim_rpa_input_release     (KhadimRpaInput              *self,
                                              KhadimRpaButton              button,
                                              GError                     **error);
gboolean        khadim_rpa_input_drag        (KhadimRpaInput              *self,
                                              const int                   *points,
                                              guint                        n_points,
                                              KhadimRpaButton              button,
                                              const char                  *keys,
                                              guint                        duration_ms,
                                              guint32                      window,
                                              GCancellable                *cancellable,
                                              GError                     **error);
gboolean        khadim_rpa_input_scroll      (KhadimRpaInput              *self,
                                              int                          x,
                                              int                          y,
                                              int                          steps_x,
                                              int                          steps_y,
                                              const char                  *keys,
                                              guint32                      window,
                                              GCancellable                *cancellable,
                                              GError                     **error);
gboolean        khadim_rpa_input_get_pointer (KhadimRpaInput              *self,
                                              int                         *out_x,
                                              int                         *out_y,
                                              GError                     **error);
gboolean        khadim_rpa_input_wait_focus  (KhadimRpaInput              *self,
                                              guint32                      window,
                                              guint                        timeout_ms,
                                              GCancellable                *cancellable,
                                              GError                     **error);
void            khadim_rpa_input_release_all (KhadimRpaInput              *self);
gboolean        khadim_rpa_input_settle      (KhadimRpaInput              *self,
                                              guint32                      window,
                                              guint                        timeout_ms,
                                              GCancellable                *cancellable,
                                              GError                     **error);

G_END_DECLS
