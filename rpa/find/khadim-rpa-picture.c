/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-picture"

#include "config.h"

#include "rpa/find/khadim-rpa-picture.h"

#include <math.h>
#include <string.h>

#include "rpa/screen/khadim-rpa-error.h"

#include "rpa/find/khadim-rpa-picture-private.h"

G_DEFINE_BOXED_TYPE (KhadimRpaPicture,
                     khadim_rpa_picture,
                     khadim_rpa_picture_ref,
                     khadim_rpa_picture_unref)

/**
 * khadim_rpa_rect_intersect:
 * @a: a rectangle
 * @b: another, in the same pixels
 * @out_common: (out) (optional): where to put what they share; set to an empty
 *   rectangle when they share nothing
 *
 * What two rectangles share. Any thread.
 *
 * Returns: whether they share at least a pixel
 */
gboolean
khadim_rpa_rect_intersect (const KhadimRpaRect *a,
                           const KhadimRpaRect *b,
                           KhadimRpaRect       *out_common)
{
  gint64 left, top, right, bottom;
  gboolean common;

  g_return_val_if_fail (a != NULL, FALSE);
  g_return_val_if_fail (b != NULL, FALSE);

  left = MAX (a->x, b->x);
  top = MAX (a->y, b->y);
  right = MIN ((gint64) a->x + a->width, (gint64) b->x + b->width);
  bottom = MIN ((gint64) a->y + a->height, (gint64) b->y + b->height);
  common = right > left && bottom > top;

  if (out_common != NULL && common)
    *out_common = (KhadimRpaRect) { (int) left, (int) top, (int) (right - left),
                                    (int) (bottom - top) };
  else if (out_common != NULL)
    *out_common = (KhadimRpaRect) { 0 };

  return common;
}

/**
 * khadim_rpa_rect_unite:
 * @self: a rectangle, made larger
 * @other: what it shall also hold; an empty one changes nothing
 *
 * Grows a rectangle so that it holds another too. Any thread.
 */
void
khadim_rpa_rect_unite (KhadimRpaRect       *self,
                       const KhadimRpaRect *other)
{
  int right, bottom;

  g_return_if_fail (self != NULL);
  g_return_if_fail (other != NULL);

  if (other->width <= 0 || other->height <= 0)
    return;

  if (self->width <= 0 || self->height <= 0)
    {
      *self = *other;
      return;
    }

  right = MAX (self->x + self->width, other->x + other->width);
  bottom = MAX (self->y + self->height, other->y + other->height);
  self->x = MIN (self->x, other->x);
  self->y = MIN (self->y, other->y);
  self->width = right - self->x;
  self->height = bottom - self->y;
}

gboolean
_khadim_rpa_picture_check_size (int      width_px,
                                int      height_px,
                                GError **error)
{
  if (width_px < 1 || height_px < 1)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "A picture of %d×%d px has no pixels", width_px, height_px);
      return FALSE;
    }

  if (width_px > KHADIM_RPA_PICTURE_MAX_SIDE_PX
      || height_px > KHADIM_RPA_PICTURE_MAX_SIDE_PX
      || (gint64) width_px * height_px > KHADIM_RPA_PICTURE_MAX_PIXELS)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
                   "A picture of %d×%d px is larger than %d px a side or %d px in all",
                   width_px, height_px, KHADIM_RPA_PICTURE_MAX_SIDE_PX,
                   KHADIM_RPA_PICTURE_MAX_PIXELS);
      return FALSE;
    }

  return TRUE;
}

static gboolean
check_stride (int      width_px,
              gsize    stride_bytes,
              GError **error)
{
  gsize least = (gsize) width_px * KHADIM_RPA_PIXEL_BYTES;

  if (stride_bytes >= least && stride_bytes % KHADIM_RPA_PIXEL_BYTES == 0
      && stride_bytes <= (gsize) 2 * KHADIM_RPA_PICTURE_MAX_SIDE_PX * KHADIM_RPA_PIXEL_BYTES)
    return TRUE;

  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
               "A row of %" G_GSIZE_FORMAT " bytes does not fit %d pixels of 4 bytes",
               stride_bytes, width_px);
  return FALSE;
}

static KhadimRpaPicture *
picture_alloc (GBytes                 *bytes,
               const guint8           *pixels,
               int                     width_px,
               int                     height_px,
               gsize                   stride_bytes,
               const KhadimRpaPicture *like)
{
  KhadimRpaPicture *self = g_new0 (KhadimRpaPicture, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->bytes = g_bytes_ref (bytes);
  self->pixels = pixels;
  self->width_px = width_px;
  self->height_px = height_px;
  self->stride_bytes = stride_bytes;
  self->scale = 1.0;

  if (like != NULL)
    {
      self->origin_x = like->origin_x;
      self->origin_y = like->origin_y;
      self->scale = like->scale;
      self->serial = like->serial;
      self->has_alpha = like->has_alpha;
    }

  return self;
}

/*
 * _khadim_rpa_picture_take:
 * @pixels: (transfer full): rows without padding, from g_malloc
 * @like: (nullable): whose place and kind the picture gets
 */
KhadimRpaPicture *
_khadim_rpa_picture_take (guint8                 *pixels,
                          int                     width_px,
                          int                     height_px,
                          const KhadimRpaPicture *like)
{
  gsize stride = (gsize) width_px * KHADIM_RPA_PIXEL_BYTES;
  g_autoptr(GBytes) bytes = g_bytes_new_take (pixels, stride * (gsize) height_px);

  return picture_alloc (bytes, pixels, width_px, height_px, stride, like);
}

/**
 * khadim_rpa_picture_new:
 * @pixels: the first byte of the first row
 * @width_px: columns
 * @height_px: rows
 * @stride_bytes: from row to row, at least four times @width_px
 * @error: return location for an error
 *
 * A picture from a copy of pixels in the byte order blue, green, red, unused
 * (what X11 calls depth 24, 32 bits a pixel, little-endian). Any thread.
 *
 * Returns: (transfer full) (nullable): the picture, or %NULL with
 *   %KHADIM_RPA_ERROR_INVALID or %KHADIM_RPA_ERROR_LIMIT
 */
KhadimRpaPicture *
khadim_rpa_picture_new (const guint8  *pixels,
                        int            width_px,
                        int            height_px,
                        gsize          stride_bytes,
                        GError       **error)
{
  gsize row_bytes;
  guint8 *copy;

  g_return_val_if_fail (pixels != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!_khadim_rpa_picture_check_size (width_px, height_px, error)
      || !check_stride (width_px, stride_bytes, error))
    return NULL;

  row_bytes = (gsize) width_px * KHADIM_RPA_PIXEL_BYTES;
  copy = g_malloc (row_bytes * (gsize) height_px);
  for (int y = 0; y < height_px; y++)
    memcpy (copy + (gsize) y * row_bytes, pixels + (gsize) y * stride_bytes, row_bytes);

  return _khadim_rpa_picture_take (copy, width_px, height_px, NULL);
}

/**
 * khadim_rpa_picture_new_from_bytes:
 * @bytes: the rows; must not change as long as the picture lives
 * @width_px: columns
 * @height_px: rows
 * @stride_bytes: from row to row
 * @error: return location for an error
 *
 * A picture that uses pixels without copying them; see [ctor@Picture.new] for
 * their form. Any thread.
 *
 * Returns: (transfer full) (nullable): the picture, or %NULL with
 *   %KHADIM_RPA_ERROR_INVALID or %KHADIM_RPA_ERROR_LIMIT
 */
KhadimRpaPicture *
khadim_rpa_picture_new_from_bytes (GBytes  *bytes,
                                   int      width_px,
                                   int      height_px,
                                   gsize    stride_bytes,
                                   GError **error)
{
  const guint8 *pixels;
  gsize size, needed;

  g_return_val_if_fail (bytes != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!_khadim_rpa_picture_check_size (width_px, height_px, error)
      || !check_stride (width_px, stride_bytes, error))
    return NULL;

  pixels = g_bytes_get_data (bytes, &size);
  needed = stride_bytes * (gsize) (height_px - 1) + (gsize) width_px * KHADIM_RPA_PIXEL_BYTES;
  if (size < needed || (guintptr) pixels % KHADIM_RPA_PIXEL_BYTES != 0)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "%d×%d px need %" G_GSIZE_FORMAT " aligned bytes, there are %" G_GSIZE_FORMAT,
                   width_px, height_px, needed, size);
      return NULL;
    }

  return picture_alloc (bytes, pixels, width_px, height_px, stride_bytes, NULL);
}

/**
 * khadim_rpa_picture_ref:
 * @self: a picture
 *
 * Takes a reference. Any thread.
 *
 * Returns: (transfer full): @self
 */
KhadimRpaPicture *
khadim_rpa_picture_ref (KhadimRpaPicture *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

/**
 * khadim_rpa_picture_unref:
 * @self: (transfer full) (nullable): a picture
 *
 * Drops a reference; with the last one the picture is freed. Any thread.
 */
void
khadim_rpa_picture_unref (KhadimRpaPicture *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_bytes_unref (self->bytes);
  g_free (self);
}

/**
 * khadim_rpa_picture_get_width:
 * @self: a picture
 *
 * Any thread.
 *
 * Returns: its columns, in pixels
 */
int
khadim_rpa_picture_get_width (const KhadimRpaPicture *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->width_px;
}

/**
 * khadim_rpa_picture_get_height:
 * @self: a picture
 *
 * Any thread.
 *
 * Returns: its rows, in pixels
 */
int
khadim_rpa_picture_get_height (const KhadimRpaPicture *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->height_px;
}

/**
 * khadim_rpa_picture_get_stride:
 * @self: a picture
 *
 * Any thread.
 *
 * Returns: the bytes from the start of a row to the start of the next
 */
gsize
khadim_rpa_picture_get_stride (const KhadimRpaPicture *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->stride_bytes;
}

/**
 * khadim_rpa_picture_get_pixels: (skip)
 * @self: a picture
 *
 * The first byte of the first row. Any thread.
 *
 * Returns: (transfer none): the pixels, valid as long as @self
 */
const guint8 *
khadim_rpa_picture_get_pixels (const KhadimRpaPicture *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->pixels;
}

/**
 * khadim_rpa_picture_get_has_alpha:
 * @self: a picture
 *
 * Whether the fourth byte of a pixel is its opacity, as in pictures read from
 * PNG files with transparency. Any thread.
 *
 * Returns: whether it is
 */
gboolean
khadim_rpa_picture_get_has_alpha (const KhadimRpaPicture *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->has_alpha;
}

/**
 * khadim_rpa_picture_get_rgb:
 * @self: a picture
 * @x: column
 * @y: row
 *
 * The colour of one pixel. Any thread.
 *
 * Returns: 0xRRGGBB, 0 outside the picture
 */
guint32
khadim_rpa_picture_get_rgb (const KhadimRpaPicture *self,
                            int                     x,
                            int                     y)
{
  const guint8 *pixel;

  g_return_val_if_fail (self != NULL, 0);

  if (x < 0 || y < 0 || x >= self->width_px || y >= self->height_px)
    return 0;

  pixel = _khadim_rpa_picture_row (self, y) + (gsize) x * KHADIM_RPA_PIXEL_BYTES;

  return (guint32) pixel[2] << 16 | (guint32) pixel[1] << 8 | pixel[0];
}

/**
 * khadim_rpa_picture_place:
 * @self: a picture
 * @origin_x: the screen column of its left edge, in screen pixels
 * @origin_y: the screen row of its top edge
 * @scale: pixels of the picture for each pixel of the screen; above 0
 * @serial: the serial of the screen layout that it was taken under
 *
 * The same pixels with the record of where on the screen they come from.
 * Any thread.
 *
 * Returns: (transfer full): a picture that shares the pixels of @self
 */
KhadimRpaPicture *
khadim_rpa_picture_place (KhadimRpaPicture *self,
                          int               origin_x,
                          int               origin_y,
                          double            scale,
                          guint64           serial)
{
  KhadimRpaPicture *placed;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (isfinite (scale) && scale > 0.0, NULL);

  placed = picture_alloc (self->bytes, self->pixels, self->width_px, self->height_px,
                          self->stride_bytes, self);
  placed->origin_x = origin_x;
  placed->origin_y = origin_y;
  placed->scale = scale;
  placed->serial = serial;

  return placed;
}

/**
 * khadim_rpa_picture_get_origin_x:
 * @self: a picture
 *
 * Any thread.
 *
 * Returns: the screen column of its left edge, in screen pixels
 */
int
khadim_rpa_picture_get_origin_x (const KhadimRpaPicture *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->origin_x;
}

/**
 * khadim_rpa_picture_get_origin_y:
 * @self: a picture
 *
 * Any thread.
 *
 * Returns: the screen row of its top edge, in screen pixels
 */
int
khadim_rpa_picture_get_origin_y (const KhadimRpaPicture *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->origin_y;
}

/**
 * khadim_rpa_picture_get_scale:
 * @self: a picture
 *
 * Any thread.
 *
 * Returns: pixels of the picture for each pixel of the screen
 */
double
khadim_rpa_picture_get_scale (const KhadimRpaPicture *self)
{
  g_return_val_if_fail (self != NULL, 1.0);

  return self->scale;
}

/**
 * khadim_rpa_picture_get_serial:
 * @self: a picture
 *
 * Any thread.
 *
 * Returns: the serial of the screen layout that it was taken under
 */
guint64
khadim_rpa_picture_get_serial (const KhadimRpaPicture *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->serial;
}

/**
 * khadim_rpa_picture_to_screen:
 * @self: a picture
 * @x: a column of the picture, in its pixels
 * @y: a row
 * @out_screen_x: (out): where to put the column on the screen
 * @out_screen_y: (out): where to put the row
 * @error: return location for an error
 *
 * Converts a point of the picture with the picture's own record. Any thread.
 *
 * Returns: whether the point lies in the picture; otherwise
 *   %KHADIM_RPA_ERROR_INVALID
 */
gboolean
khadim_rpa_picture_to_screen (const KhadimRpaPicture  *self,
                              double                   x,
                              double                   y,
                              int                     *out_screen_x,
                              int                     *out_screen_y,
                              GError                 **error)
{
  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (out_screen_x != NULL && out_screen_y != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!(x >= 0.0 && y >= 0.0 && x < self->width_px && y < self->height_px))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "The point %g, %g lies outside the picture of %d×%d px", x, y,
                   self->width_px, self->height_px);
      return FALSE;
    }

  *out_screen_x = self->origin_x + (int) floor (x / self->scale);
  *out_screen_y = self->origin_y + (int) floor (y / self->scale);

  return TRUE;
}

/**
 * khadim_rpa_picture_crop:
 * @self: a picture
 * @region: the part wanted, in pixels of the picture; what lies outside the
 *   picture is left out
 * @error: return location for an error
 *
 * A part of a picture. The pixels are shared, not copied, and the record of the
 * place follows. Any thread.
 *
 * Returns: (transfer full) (nullable): the part, or %NULL with
 *   %KHADIM_RPA_ERROR_INVALID when nothing of @region lies in the picture
 */
KhadimRpaPicture *
khadim_rpa_picture_crop (KhadimRpaPicture     *self,
                         const KhadimRpaRect  *region,
                         GError              **error)
{
  KhadimRpaPicture *part;
  KhadimRpaRect bounds, common;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (region != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  bounds = _khadim_rpa_picture_bounds (self);
  if (!khadim_rpa_rect_intersect (&bounds, region, &common))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "The region %d,%d %d×%d lies outside the picture of %d×%d px", region->x,
                   region->y, region->width, region->height, self->width_px, self->height_px);
      return NULL;
    }

  part = picture_alloc (self->bytes,
                        _khadim_rpa_picture_row (self, common.y)
                          + (gsize) common.x * KHADIM_RPA_PIXEL_BYTES,
                        common.width, common.height, self->stride_bytes, self);
  part->origin_x = self->origin_x + (int) floor (common.x / self->scale);
  part->origin_y = self->origin_y + (int) floor (common.y / self->scale);

  return part;
}
