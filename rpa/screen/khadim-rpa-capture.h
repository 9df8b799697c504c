/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "rpa/find/khadim-rpa-picture.h"
#include "rpa/screen/khadim-rpa-display.h"

G_BEGIN_DECLS

#define KHADIM_RPA_TYPE_CAPTURE (khadim_rpa_capture_get_type ())

G_DECLARE_FINAL_TYPE (KhadimRpaCapture, khadim_rpa_capture, KHADIM_RPA, CAPTURE, GObject)

/**
 * KhadimRpaCaptureFlags:
 * @KHADIM_RPA_CAPTURE_NONE: nothing special
 * @KHADIM_RPA_CAPTURE_CURSOR: with the pointer drawn in
 * @KHADIM_RPA_CAPTURE_NO_SHM: through the connection, as from a remote server
 *
 * How to take a picture.
 */
typedef enum {
  KHADIM_RPA_CAPTURE_NONE   = 0,
  KHADIM_RPA_CAPTURE_CURSOR = 1 << 0,
  KHADIM_RPA_CAPTURE_NO_SHM = 1 << 1,
} KhadimRpaCaptureFlags;

KhadimRpaCapture *khadim_rpa_capture_new           (KhadimRpaDisplay       *display,
                                                    GError                **error);
KhadimRpaPicture *khadim_rpa_capture_take          (KhadimRpaCapture       *self,
                                                    const KhadimRpaRect    *region,
                                                    KhadimRpaCaptureFlags   flags,
                                                    GError                **error);
gboolean          khadim_rpa_capture_get_size      (KhadimRpaCapture       *self,
                                                    int                    *out_width,
                                                    int                    *out_height,
                                                    GError                **error);
gboolean          khadim_rpa_capture_uses_shm      (KhadimRpaCapture       *self);
gboolean          khadim_rpa_capture_has_damage    (KhadimRpaCapture       *self);
gboolean          khadim_rpa_capture_changed_since (KhadimRpaCapture       *self,
                                                    guint64                 serial,
                                                    const KhadimRpaRect    *region,
                                                    KhadimRpaRect          *out_changed);
gboolean          khadim_rpa_capture_wait_changed  (KhadimRpaCapture       *self,
                                                    guint64                 serial,
                                                    const KhadimRpaRect    *region,
                                                    guint                   timeout_ms,
                                                    GCancellable           *cancellable,
                                                    GError                **error);
gboolean          khadim_rpa_capture_wait_still    (KhadimRpaCapture       *self,
                                                    const KhadimRpaRect    *region,
                                                    guint                   still_ms,
                                                    guint                   timeout_ms,
                                                    GCancellable           *cancellable,
                                                    GError                **error);

G_END_DECLS
