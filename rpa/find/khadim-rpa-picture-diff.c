/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-picture-diff"

#include "config.h"

#include "rpa/find/khadim-rpa-picture.h"

#include <string.h>

#include "rpa/screen/khadim-rpa-error.h"

#include "rpa/find/khadim-rpa-picture-private.h"

/* Changes are listed by tiles of this side. */
#define TILE_PX 32

#define MAX_TOLERANCE 255

/* ITU-R BT.601 luma in 256ths, as in all grey values here. */
#define LUMA_RED 77
#define LUMA_GREEN 150
#define LUMA_BLUE 29

/* The colours of two rows, without the fourth byte; no early exit inside a row,
 * so that the loop becomes vector code. */
static gboolean
rows_equal (const guint8 *a,
            const guint8 *b,
            int           width_px)
{
  guint32 different = 0;

  if (memcmp (a, b, (gsize) width_px * KHADIM_RPA_PIXEL_BYTES) == 0)
    return TRUE;

  for (int x = 0; x < width_px; x++)
    {
      guint32 one, other;

      memcpy (&one, a + (gsize) x * KHADIM_RPA_PIXEL_BYTES, sizeof one);
      memcpy (&other, b + (gsize) x * KHADIM_RPA_PIXEL_BYTES, sizeof other);
      different |= one ^ other;
    }

  return (different & KHADIM_RPA_COLOUR_MASK) == 0;
}

/**
 * khadim_rpa_picture_equal_region:
 * @a: a picture
 * @b: another
 * @region: the part to compare, in pixels of both
 *
 * Whether two pictures show the same colours in a region. The place on the
 * screen and the opacity are not compared. Any thread.
 *
 * Returns: whether they do; %FALSE if @region is not wholly in both
 */
gboolean
khadim_rpa_picture_equal_region (const KhadimRpaPicture *a,
                                 const KhadimRpaPicture *b,
                                 const KhadimRpaRect    *region)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);
  g_return_val_if_fail (region != NULL, FALSE);

  if (region->x < 0 || region->y < 0 || region->width < 0 || region->height < 0
      || (gint64) region->x + region->width > MIN (a->width_px, b->width_px)
      || (gint64) region->y + region->height > MIN (a->height_px, b->height_px))
    return FALSE;

  for (int y = region->y; y < region->y + region->height; y++)
    {
      gsize left = (gsize) region->x * KHADIM_RPA_PIXEL_BYTES;

      if (!rows_equal (_khadim_rpa_picture_row (a, y) + left,
                       _khadim_rpa_picture_row (b, y) + left, region->width))
        return FALSE;
    }

  return TRUE;
}

/**
 * khadim_rpa_picture_equal:
 * @a: a picture
 * @b: another
 *
 * Whether two pictures have the same size and colours. Any thread.
 *
 * Returns: whether they do
 */
gboolean
khadim_rpa_picture_equal (const KhadimRpaPicture *a,
                          const KhadimRpaPicture *b)
{
  KhadimRpaRect bounds;

  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  bounds = _khadim_rpa_picture_bounds (a);

  return a->width_px == b->width_px && a->height_px == b->height_px
         && khadim_rpa_picture_equal_region (a, b, &bounds);
}

static inline gboolean
pixel_differs (const guint8 *a,
               const guint8 *b,
               int           tolerance)
{
  return ABS (a[0] - b[0]) > tolerance || ABS (a[1] - b[1]) > tolerance
         || ABS (a[2] - b[2]) > tolerance;
}

/* One row of one tile: counts, and widens the columns that changed. */
static guint
scan_span (const guint8 *a,
           const guint8 *b,
           int           first_x,
           int           end_x,
           int           tolerance,
           int          *left,
           int          *right)
{
  guint changed = 0;

  for (int x = first_x; x < end_x; x++)
    {
      gsize at = (gsize) x * KHADIM_RPA_PIXEL_BYTES;

      if (!pixel_differs (a + at, b + at, tolerance))
        continue;

      changed++;
      *left = MIN (*left, x);
      *right = MAX (*right, x);
    }

  return changed;
}

static void
scan_row (const KhadimRpaPicture *a,
          const KhadimRpaPicture *b,
          int                     y,
          int                     tolerance,
          guint8                 *tiles,
          KhadimRpaPictureDiff   *diff)
{
  const guint8 *row_a = _khadim_rpa_picture_row (a, y);
  const guint8 *row_b = _khadim_rpa_picture_row (b, y);
  int left = a->width_px, right = -1;

  if (memcmp (row_a, row_b, (gsize) a->width_px * KHADIM_RPA_PIXEL_BYTES) == 0)
    return;

  for (int x = 0; x < a->width_px; x += TILE_PX)
    {
      guint changed = scan_span (row_a, row_b, x, MIN (x + TILE_PX, a->width_px), tolerance,
                                 &left, &right);

      diff->changed_pixels += changed;
      tiles[x / TILE_PX] |= changed > 0;
    }

  if (right >= left)
    khadim_rpa_rect_unite (&diff->bounds, &(KhadimRpaRect) { left, y, right - left + 1, 1 });
}

/* A run of tiles grows the rectangle above it if that has the same columns. */
static void
add_run (KhadimRpaPictureDiff *diff,
         const KhadimRpaRect  *run)
{
  for (guint i = 0; i < diff->n_rects; i++)
    {
      KhadimRpaRect *rect = &diff->rects[i];

      if (rect->x == run->x && rect->width == run->width && rect->y + rect->height == run->y)
        {
          rect->height += run->height;
          return;
        }
    }

  if (diff->n_rects < KHADIM_RPA_PICTURE_MAX_DIFF_RECTS)
    diff->rects[diff->n_rects++] = *run;
  else
    khadim_rpa_rect_unite (&diff->rects[diff->n_rects - 1], run);
}

static void
add_tile_row (KhadimRpaPictureDiff *diff,
              const guint8         *tiles,
              int                   n_tiles,
              int                   y)
{
  for (int i = 0; i < n_tiles; i++)
    {
      int first = i;
      KhadimRpaRect run;

      if (!tiles[i])
        continue;

      while (i < n_tiles && tiles[i])
        i++;
      run = (KhadimRpaRect) { first * TILE_PX, y, (i - first) * TILE_PX, TILE_PX };
      if (khadim_rpa_rect_intersect (&run, &diff->bounds, &run))
        add_run (diff, &run);
    }
}

/* The bounds must be whole before the tiles are cut to them. */
static void
list_tiles (const KhadimRpaPicture *a,
            const guint8           *tiles,
            KhadimRpaPictureDiff   *diff)
{
  int n_columns = (a->width_px + TILE_PX - 1) / TILE_PX;

  for (int y = 0; y < a->height_px; y += TILE_PX)
    add_tile_row (diff, tiles + (gsize) (y / TILE_PX) * (gsize) n_columns, n_columns, y);
}

/**
 * khadim_rpa_picture_diff:
 * @a: a picture
 * @b: another of the same size
 * @tolerance: how far apart a colour channel may be and still count as the
 *   same, 0 to 255
 * @out_diff: (out caller-allocates): where to put what differs
 * @error: return location for an error
 *
 * Finds where two pictures differ. Any thread; about 1 ms a megapixel when most
 * rows are the same.
 *
 * Returns: whether they could be compared; otherwise
 *   %KHADIM_RPA_ERROR_INVALID
 */
gboolean
khadim_rpa_picture_diff (const KhadimRpaPicture  *a,
                         const KhadimRpaPicture  *b,
                         guint                    tolerance,
                         KhadimRpaPictureDiff    *out_diff,
                         GError                 **error)
{
  g_autofree guint8 *tiles = NULL;
  gsize n_columns, n_rows;

  g_return_val_if_fail (a != NULL && b != NULL, FALSE);
  g_return_val_if_fail (out_diff != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (a->width_px != b->width_px || a->height_px != b->height_px || tolerance > MAX_TOLERANCE)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "Pictures of %d×%d and %d×%d px, or the tolerance %u, cannot be compared",
                   a->width_px, a->height_px, b->width_px, b->height_px, tolerance);
      return FALSE;
    }

  memset (out_diff, 0, sizeof *out_diff);
  n_columns = (gsize) (a->width_px + TILE_PX - 1) / TILE_PX;
  n_rows = (gsize) (a->height_px + TILE_PX - 1) / TILE_PX;
  tiles = g_new0 (guint8, n_columns * n_rows);
  for (int y = 0; y < a->height_px; y++)
    scan_row (a, b, y, (int) tolerance, tiles + (gsize) (y / TILE_PX) * n_columns, out_diff);
  list_tiles (a, tiles, out_diff);
  out_diff->fraction = (double) out_diff->changed_pixels
                       / ((double) a->width_px * (double) a->height_px);

  return TRUE;
}

static guint64
sum_row (const guint8 *row,
         int           width_px,
         guint64      *sum_of_squares)
{
  guint64 sum = 0, squares = 0;

  for (int x = 0; x < width_px; x++)
    {
      const guint8 *pixel = row + (gsize) x * KHADIM_RPA_PIXEL_BYTES;
      guint32 grey = (LUMA_BLUE * (guint32) pixel[0] + LUMA_GREEN * (guint32) pixel[1]
                      + LUMA_RED * (guint32) pixel[2]) >> 8;

      sum += grey;
      squares += (guint64) grey * grey;
    }

  *sum_of_squares += squares;
  return sum;
}

/**
 * khadim_rpa_picture_get_stats:
 * @self: a picture
 * @region: (nullable): the part to look at, %NULL for all
 * @out_mean: (out) (optional): where to put the mean grey value, 0 to 255
 * @out_variance: (out) (optional): where to put the variance of the grey values
 *
 * How bright and how varied a picture is: a variance near 0 means a flat
 * surface, which is a poor thing to look for. Any thread.
 *
 * Returns: whether @region holds any pixel
 */
gboolean
khadim_rpa_picture_get_stats (const KhadimRpaPicture *self,
                              const KhadimRpaRect    *region,
                              double                 *out_mean,
                              double                 *out_variance)
{
  KhadimRpaRect bounds;
  guint64 sum = 0, squares = 0;
  double n, mean;

  g_return_val_if_fail (self != NULL, FALSE);

  bounds = _khadim_rpa_picture_bounds (self);
  if (region != NULL && !khadim_rpa_rect_intersect (&bounds, region, &bounds))
    return FALSE;

  for (int y = bounds.y; y < bounds.y + bounds.height; y++)
    sum += sum_row (_khadim_rpa_picture_row (self, y)
                      + (gsize) bounds.x * KHADIM_RPA_PIXEL_BYTES,
                    bounds.width, &squares);

  n = (double) bounds.width * (double) bounds.height;
  mean = (double) sum / n;
  if (out_mean != NULL)
    *out_mean = mean;
  if (out_variance != NULL)
    *out_variance = MAX (0.0, (double) squares / n - mean * mean);

  return TRUE;
}
