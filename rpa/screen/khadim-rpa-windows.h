/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "rpa/screen/khadim-rpa-display.h"
#include "rpa/screen/khadim-rpa-window.h"

G_BEGIN_DECLS

#define KHADIM_RPA_TYPE_WINDOWS (khadim_rpa_windows_get_type ())

G_DECLARE_FINAL_TYPE (KhadimRpaWindows, khadim_rpa_windows, KHADIM_RPA, WINDOWS, GObject)

/**
 * KhadimRpaWindowMode:
 * @KHADIM_RPA_WINDOW_MODE_KEEP: as it is
 * @KHADIM_RPA_WINDOW_MODE_NORMAL: none of the others
 * @KHADIM_RPA_WINDOW_MODE_MAXIMIZED: maximised both ways
 * @KHADIM_RPA_WINDOW_MODE_MINIMIZED: iconified
 * @KHADIM_RPA_WINDOW_MODE_FULLSCREEN: over its whole monitor
 *
 * How a window is to be shown.
 */
typedef enum {
  KHADIM_RPA_WINDOW_MODE_KEEP,
  KHADIM_RPA_WINDOW_MODE_NORMAL,
  KHADIM_RPA_WINDOW_MODE_MAXIMIZED,
  KHADIM_RPA_WINDOW_MODE_MINIMIZED,
  KHADIM_RPA_WINDOW_MODE_FULLSCREEN,
} KhadimRpaWindowMode;

/**
 * KhadimRpaPlacement:
 * @mode: how it is to be shown
 * @move: whether @x and @y count
 * @resize: whether @width and @height count
 * @x: left edge of the frame on the root, in px
 * @y: top edge of the frame on the root, in px
 * @width: width of the frame in px
 * @height: height of the frame in px
 *
 * Where a window is to be. To move or resize it, it is taken out of whatever
 * mode holds it in place.
 */
typedef struct {
  KhadimRpaWindowMode mode;
  gboolean move;
  gboolean resize;
  int x;
  int y;
  int width;
  int height;
} KhadimRpaPlacement;

KhadimRpaWindows *khadim_rpa_windows_new         (KhadimRpaDisplay            *display,
                                                  GError                     **error);
gboolean          khadim_rpa_windows_has_manager (KhadimRpaWindows            *self);
GPtrArray        *khadim_rpa_windows_list        (KhadimRpaWindows            *self,
                                                  const KhadimRpaWindowMatch  *match,
                                                  GError                     **error);
GPtrArray        *khadim_rpa_windows_list_popups (KhadimRpaWindows            *self,
                                                  guint32                      pid,
                                                  GError                     **error);
KhadimRpaWindow  *khadim_rpa_windows_get         (KhadimRpaWindows            *self,
                                                  guint32                      id,
                                                  GError                     **error);
KhadimRpaWindow  *khadim_rpa_windows_find        (KhadimRpaWindows            *self,
                                                  const KhadimRpaWindowMatch  *match,
                                                  GError                     **error);
KhadimRpaWindow  *khadim_rpa_windows_get_active  (KhadimRpaWindows            *self,
                                                  GError                     **error);
KhadimRpaWindow  *khadim_rpa_windows_wait_for    (KhadimRpaWindows            *self,
                                                  const KhadimRpaWindowMatch  *match,
                                                  GPtrArray                   *known,
                                                  guint                        timeout_ms,
                                                  GCancellable                *cancellable,
                                                  GError                     **error);
gboolean          khadim_rpa_windows_wait_gone   (KhadimRpaWindows            *self,
                                                  guint32                      id,
                                                  guint                        timeout_ms,
                                                  GCancellable                *cancellable,
                                                  GError                     **error);
gboolean          khadim_rpa_windows_activate    (KhadimRpaWindows            *self,
                                                  guint32                      id,
                                                  guint                        timeout_ms,
                                                  GCancellable                *cancellable,
                                                  GError                     **error);
KhadimRpaWindow  *khadim_rpa_windows_place       (KhadimRpaWindows            *self,
                                                  guint32                      id,
                                                  const KhadimRpaPlacement    *placement,
                                                  guint                        timeout_ms,
                                                  GCancellable                *cancellable,
                                                  GError                     **error);
gboolean          khadim_rpa_windows_close       (KhadimRpaWindows            *self,
                                                  guint32                      id,
                                                  guint                        timeout_ms,
                                                  GCancellable                *cancellable,
                                                  GError                     **error);
gboolean          khadim_rpa_windows_ping        (KhadimRpaWindows            *self,
                                                  guint32                      id,
                                                  guint                        timeout_ms,
                                                  GCancellable                *cancellable,
                                                  GError                     **error);

G_END_DECLS
