/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-picture-resize"

#include "config.h"

#include "rpa/find/khadim-rpa-picture.h"

#include <math.h>

#include "rpa/screen/khadim-rpa-error.h"

#include "rpa/find/khadim-rpa-picture-private.h"

/* The sources of one pixel along one axis, and their shares, which add up to 1. */
typedef struct
{
  int    first;
  int    count;
  float *shares;
} Taps;

typedef struct
{
  Taps  *taps;
  float *pool;
  int    length;
} Axis;

static void
axis_clear (Axis *self)
{
  g_clear_pointer (&self->taps, g_free);
  g_clear_pointer (&self->pool, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Axis, axis_clear)

/* Area averaging: each source counts by how much of it the pixel covers. */
static double
share_of_area (double left,
               double right,
               int    source)
{
  return MAX (0.0, MIN (right, source + 1.0) - MAX (left, source));
}

/* Linear interpolation between the middles of the sources. */
static double
share_of_line (double middle,
               int    source)
{
  return MAX (0.0, 1.0 - fabs (middle - (source + 0.5)));
}

static void
fill_taps (Taps   *taps,
           int     target,
           double  ratio,
           int     source_length)
{
  double left = target * ratio, right = left + ratio;
  double middle = (left + right) / 2.0, sum = 0.0;
  gboolean shrinks = ratio > 1.0;
  int first = (int) floor (shrinks ? left : middle - 0.5);
  int last = (int) ceil (shrinks ? right : middle + 0.5) - 1;

  taps->first = CLAMP (first, 0, source_length - 1);
  taps->count = CLAMP (last, taps->first, source_length - 1) - taps->first + 1;
  for (int i = 0; i < taps->count; i++)
    {
      int source = taps->first + i;
      double share = shrinks ? share_of_area (left, right, source)
                             : share_of_line (middle, source);

      taps->shares[i] = (float) share;
      sum += share;
    }
  for (int i = 0; i < taps->count; i++)
    taps->shares[i] = (float) (taps->shares[i] / sum);
}

static Axis
axis_init (int source_length,
           int target_length)
{
  Axis self;
  double ratio = (double) source_length / target_length;
  gsize most = (gsize) ceil (MAX (1.0, ratio)) + 2;

  self.length = target_length;
  self.taps = g_new (Taps, (gsize) target_length);
  self.pool = g_new (float, (gsize) target_length * most);
  for (int i = 0; i < target_length; i++)
    {
      self.taps[i].shares = self.pool + (gsize) i * most;
      fill_taps (&self.taps[i], i, ratio, source_length);
    }

  return self;
}

static void
blend_rows (const KhadimRpaPicture *source,
            const Taps             *taps,
            float                  *sums)
{
  int n = source->width_px * KHADIM_RPA_PIXEL_BYTES;

  for (int i = 0; i < n; i++)
    sums[i] = 0.0f;

  for (int t = 0; t < taps->count; t++)
    {
      const guint8 *row = _khadim_rpa_picture_row (source, taps->first + t);
      float share = taps->shares[t];

      for (int i = 0; i < n; i++)
        sums[i] += share * row[i];
    }
}

static void
blend_columns (const float *sums,
               const Axis  *axis,
               guint8      *out)
{
  for (int x = 0; x < axis->length; x++)
    {
      const Taps *taps = &axis->taps[x];
      const float *at = sums + (gsize) taps->first * KHADIM_RPA_PIXEL_BYTES;
      float pixel[KHADIM_RPA_PIXEL_BYTES] = { 0.5f, 0.5f, 0.5f, 0.5f };

      for (int t = 0; t < taps->count; t++)
        for (int c = 0; c < KHADIM_RPA_PIXEL_BYTES; c++)
          pixel[c] += taps->shares[t] * at[t * KHADIM_RPA_PIXEL_BYTES + c];

      for (int c = 0; c < KHADIM_RPA_PIXEL_BYTES; c++)
        out[x * KHADIM_RPA_PIXEL_BYTES + c] = (guint8) MIN (pixel[c], 255.0f);
    }
}

/**
 * khadim_rpa_picture_resize:
 * @self: a picture
 * @width_px: the columns wanted
 * @height_px: the rows wanted
 * @error: return location for an error
 *
 * A larger or smaller copy: area averaging where it shrinks, linear
 * interpolation where it grows. The copy's scale is that of its columns; where
 * it lies on the screen follows. Any thread.
 *
 * Returns: (transfer full) (nullable): the copy, or %NULL with
 *   %KHADIM_RPA_ERROR_INVALID or %KHADIM_RPA_ERROR_LIMIT
 */
KhadimRpaPicture *
khadim_rpa_picture_resize (KhadimRpaPicture  *self,
                           int                width_px,
                           int                height_px,
                           GError           **error)
{
  KhadimRpaPicture *copy;
  g_auto(Axis) across = { NULL };
  g_auto(Axis) down = { NULL };
  g_autofree float *sums = NULL;
  guint8 *pixels;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!_khadim_rpa_picture_check_size (width_px, height_px, error))
    return NULL;

  across = axis_init (self->width_px, width_px);
  down = axis_init (self->height_px, height_px);
  sums = g_new (float, (gsize) self->width_px * KHADIM_RPA_PIXEL_BYTES);
  pixels = g_malloc ((gsize) width_px * (gsize) height_px * KHADIM_RPA_PIXEL_BYTES);
  for (int y = 0; y < height_px; y++)
    {
      blend_rows (self, &down.taps[y], sums);
      blend_columns (sums, &across,
                     pixels + (gsize) y * (gsize) width_px * KHADIM_RPA_PIXEL_BYTES);
    }

  copy = _khadim_rpa_picture_take (pixels, width_px, height_px, self);
  copy->scale = self->scale * width_px / self->width_px;

  return copy;
}

/**
 * khadim_rpa_picture_fit:
 * @self: a picture
 * @max_side_px: the longest side allowed
 * @error: return location for an error
 *
 * A picture whose longer side is at most @max_side_px, in the same proportions;
 * @self if it is small enough. Any thread.
 *
 * Returns: (transfer full) (nullable): the picture, or %NULL with
 *   %KHADIM_RPA_ERROR_INVALID
 */
KhadimRpaPicture *
khadim_rpa_picture_fit (KhadimRpaPicture  *self,
                        int                max_side_px,
                        GError           **error)
{
  int longer;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  longer = MAX (self->width_px, self->height_px);
  if (max_side_px >= longer)
    return khadim_rpa_picture_ref (self);

  if (max_side_px < 1)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "No picture has sides of at most %d px", max_side_px);
      return NULL;
    }

  return khadim_rpa_picture_resize (
    self, MAX (1, (int) ((gint64) self->width_px * max_side_px / longer)),
    MAX (1, (int) ((gint64) self->height_px * max_side_px / longer)), error);
}
