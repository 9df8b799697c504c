/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/find/khadim-rpa-picture.h"

G_BEGIN_DECLS

#define KHADIM_RPA_PIXEL_BYTES 4

/* The bits of a pixel, read as a native word, that are colour. */
#define KHADIM_RPA_COLOUR_MASK GUINT32_FROM_LE (0x00ffffffu)

struct _KhadimRpaPicture
{
  gatomicrefcount ref_count;
  GBytes         *bytes; /* owned; what pixels points into */
  const guint8   *pixels;
  int             width_px;
  int             height_px;
  gsize           stride_bytes;
  int             origin_x;
  int             origin_y;
  double          scale;
  guint64         serial;
  gboolean        has_alpha;
};

static inline const guint8 *
_khadim_rpa_picture_row (const KhadimRpaPicture *self,
                         int                     y)
{
  return self->pixels + (gsize) y * self->stride_bytes;
}

static inline KhadimRpaRect
_khadim_rpa_picture_bounds (const KhadimRpaPicture *self)
{
  return (KhadimRpaRect) { 0, 0, self->width_px, self->height_px };
}

KhadimRpaPicture *_khadim_rpa_picture_take       (guint8                 *pixels,
                                                  int                     width_px,
                                                  int                     height_px,
                                                  const KhadimRpaPicture *like);
gboolean          _khadim_rpa_picture_check_size (int                     width_px,
                                                  int                     height_px,
                                                  GError                **error);

G_END_DECLS
