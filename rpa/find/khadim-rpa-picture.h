/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/**
 * KHADIM_RPA_PICTURE_MAX_SIDE_PX:
 *
 * The widest and highest picture: the largest screen that X11 can describe.
 */
#define KHADIM_RPA_PICTURE_MAX_SIDE_PX 32767

/**
 * KHADIM_RPA_PICTURE_MAX_PIXELS:
 *
 * The largest picture in pixels (256 MiB of memory).
 */
#define KHADIM_RPA_PICTURE_MAX_PIXELS (64 * 1024 * 1024)

/**
 * KHADIM_RPA_PICTURE_MAX_ENCODED_BYTES:
 *
 * The largest PNG that is read.
 */
#define KHADIM_RPA_PICTURE_MAX_ENCODED_BYTES (64 * 1024 * 1024)

/**
 * KHADIM_RPA_PICTURE_MAX_DIFF_RECTS:
 *
 * How many rectangles a difference lists; more are merged into its bounds.
 */
#define KHADIM_RPA_PICTURE_MAX_DIFF_RECTS 256

/**
 * KhadimRpaRect:
 * @x: left edge, in pixels of the picture or screen that is spoken of
 * @y: top edge
 * @width: columns, 0 when empty
 * @height: rows, 0 when empty
 *
 * A rectangle of whole pixels.
 */
typedef struct
{
  int x;
  int y;
  int width;
  int height;
} KhadimRpaRect;

gboolean khadim_rpa_rect_intersect (const KhadimRpaRect *a,
                                    const KhadimRpaRect *b,
                                    KhadimRpaRect       *out_common);
void     khadim_rpa_rect_unite     (KhadimRpaRect       *self,
                                    const KhadimRpaRect *other);

/**
 * KhadimRpaPicture:
 *
 * A picture of a screen or of a part of it, 32 bits a pixel in the byte order
 * blue, green, red, and a fourth byte that is the opacity if the picture has
 * one and means nothing otherwise. It never changes; any thread may use it.
 */
typedef struct _KhadimRpaPicture KhadimRpaPicture;

#define KHADIM_RPA_TYPE_PICTURE (khadim_rpa_picture_get_type ())
GType khadim_rpa_picture_get_type (void);

KhadimRpaPicture *khadim_rpa_picture_new            (const guint8            *pixels,
                                                     int                      width_px,
                                                     int                      height_px,
                                                     gsize                    stride_bytes,
                                                     GError                 **error);
KhadimRpaPicture *khadim_rpa_picture_new_from_bytes (GBytes                  *bytes,
                                                     int                      width_px,
                                                     int                      height_px,
                                                     gsize                    stride_bytes,
                                                     GError                 **error);
KhadimRpaPicture *khadim_rpa_picture_ref            (KhadimRpaPicture        *self);
void              khadim_rpa_picture_unref          (KhadimRpaPicture        *self);

int           khadim_rpa_picture_get_width     (const KhadimRpaPicture *self);
int           khadim_rpa_picture_get_height    (const KhadimRpaPicture *self);
gsize         khadim_rpa_picture_get_stride    (const KhadimRpaPicture *self);
const guint8 *khadim_rpa_picture_get_pixels    (const KhadimRpaPicture *self);
gboolean      khadim_rpa_picture_get_has_alpha (const KhadimRpaPicture *self);
guint32       khadim_rpa_picture_get_rgb       (const KhadimRpaPicture *self,
                                                int                     x,
                                                int                     y);

KhadimRpaPicture *khadim_rpa_picture_place        (KhadimRpaPicture       *self,
                                                   int                     origin_x,
                                                   int                     origin_y,
                                                   double                  scale,
                                                   guint64                 serial);
int               khadim_rpa_picture_get_origin_x (const KhadimRpaPicture *self);
int               khadim_rpa_picture_get_origin_y (const KhadimRpaPicture *self);
double            khadim_rpa_picture_get_scale    (const KhadimRpaPicture *self);
guint64           khadim_rpa_picture_get_serial   (const KhadimRpaPicture *self);
gboolean          khadim_rpa_picture_to_screen    (const KhadimRpaPicture *self,
                                                   double                  x,
                                                   double                  y,
                                                   int                    *out_screen_x,
                                                   int                    *out_screen_y,
                                                   GError                **error);

KhadimRpaPicture *khadim_rpa_picture_crop         (KhadimRpaPicture       *self,
                                                   const KhadimRpaRect    *region,
                                                   GError                **error);
KhadimRpaPicture *khadim_rpa_picture_resize       (KhadimRpaPicture       *self,
                                                   int                     width_px,
                                                   int                     height_px,
                                                   GError                **error);
KhadimRpaPicture *khadim_rpa_picture_fit          (KhadimRpaPicture       *self,
                                                   int                     max_side_px,
                                                   GError                **error);

GBytes           *khadim_rpa_picture_to_png       (const KhadimRpaPicture *self,
                                                   GError                **error);
GBytes           *khadim_rpa_picture_to_jpeg      (KhadimRpaPicture       *self,
                                                   int                     quality,
                                                   int                     max_side_px,
                                                   GError                **error);
KhadimRpaPicture *khadim_rpa_picture_from_png     (GBytes                 *png,
                                                   GError                **error);
KhadimRpaPicture *khadim_rpa_picture_load         (const char             *path,
                                                   GError                **error);
gboolean          khadim_rpa_picture_save_png     (const KhadimRpaPicture *self,
                                                   const char             *path,
                                                   GError                **error);

/**
 * KhadimRpaPictureDiff:
 * @changed_pixels: how many pixels differ by more than the tolerance
 * @fraction: @changed_pixels as a share of the pixels compared, 0 to 1
 * @bounds: the smallest rectangle around all of them; empty when none
 * @n_rects: how many of @rects are used
 * @rects: rectangles of tiles that hold every changed pixel
 *
 * Where two pictures differ, in pixels of the pictures.
 */
typedef struct
{
  guint64       changed_pixels;
  double        fraction;
  KhadimRpaRect bounds;
  guint         n_rects;
  KhadimRpaRect rects[KHADIM_RPA_PICTURE_MAX_DIFF_RECTS];
} KhadimRpaPictureDiff;

gboolean khadim_rpa_picture_equal        (const KhadimRpaPicture *a,
                                          const KhadimRpaPicture *b);
gboolean khadim_rpa_picture_equal_region (const KhadimRpaPicture *a,
                                          const KhadimRpaPicture *b,
                                          const KhadimRpaRect    *region);
gboolean khadim_rpa_picture_diff         (const KhadimRpaPicture *a,
                                          const KhadimRpaPicture *b,
                                          guint                   tolerance,
                                          KhadimRpaPictureDiff   *out_diff,
                                          GError                **error);
gboolean khadim_rpa_picture_get_stats    (const KhadimRpaPicture *self,
                                          const KhadimRpaRect    *region,
                                          double                 *out_mean,
                                          double                 *out_variance);

/**
 * KhadimRpaMark:
 * @box: the rectangle to outline, empty for none
 * @has_hot: whether (@hot_x, @hot_y) is drawn as a cross
 * @hot_x: column of the hot spot
 * @hot_y: row of the hot spot
 * @number: the number to write at the box's corner, negative for none
 * @rgb: the colour, 0xRRGGBB
 *
 * What [method@Picture.draw] draws, in pixels of the picture.
 */
typedef struct
{
  KhadimRpaRect box;
  gboolean      has_hot;
  int           hot_x;
  int           hot_y;
  int           number;
  guint32       rgb;
} KhadimRpaMark;

KhadimRpaPicture *khadim_rpa_picture_draw (KhadimRpaPicture    *self,
                                           const KhadimRpaMark *marks,
                                           guint                n_marks);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimRpaPicture, khadim_rpa_picture_unref)

G_END_DECLS
