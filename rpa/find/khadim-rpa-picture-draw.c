/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-picture-draw"

#include "config.h"

#include "rpa/find/khadim-rpa-picture.h"

#include <string.h>

#include "rpa/find/khadim-rpa-picture-private.h"

#define LINE_PX 2
#define HALO_PX 1
#define CROSS_ARM_PX 9

/* Digits of 3×5 dots, drawn larger. */
#define DIGIT_COLUMNS 3
#define DIGIT_ROWS 5
#define DOT_PX 2
#define DIGIT_GAP_PX 2
#define LABEL_PAD_PX 2
#define MAX_DIGITS 10

/* Marks further out than this cannot touch a picture. */
#define MAX_COORDINATE (2 * KHADIM_RPA_PICTURE_MAX_SIDE_PX)

/* Above this grey value a colour gets a black halo, below it a white one. */
#define HALO_THRESHOLD 128

/* Rows from top to bottom; bit 2 is the left dot. */
static const guint8 digits[10][DIGIT_ROWS] = {
  { 7, 5, 5, 5, 7 }, { 2, 6, 2, 2, 7 }, { 7, 1, 7, 4, 7 }, { 7, 1, 3, 1, 7 }, { 5, 5, 7, 1, 1 },
  { 7, 4, 7, 1, 7 }, { 7, 4, 7, 5, 7 }, { 7, 1, 1, 2, 2 }, { 7, 5, 7, 5, 7 }, { 7, 5, 7, 1, 7 },
};

typedef struct
{
  guint8 *pixels;
  int     width_px;
  int     height_px;
} Canvas;

static void
fill (Canvas        *canvas,
      KhadimRpaRect  rect,
      guint32        rgb)
{
  KhadimRpaRect bounds = { 0, 0, canvas->width_px, canvas->height_px };
  const guint8 pixel[KHADIM_RPA_PIXEL_BYTES] = { (guint8) rgb, (guint8) (rgb >> 8),
                                                 (guint8) (rgb >> 16), 0xff };

  if (!khadim_rpa_rect_intersect (&bounds, &rect, &rect))
    return;

  for (int y = rect.y; y < rect.y + rect.height; y++)
    for (int x = rect.x; x < rect.x + rect.width; x++)
      memcpy (canvas->pixels
                + ((gsize) y * (gsize) canvas->width_px + (gsize) x) * KHADIM_RPA_PIXEL_BYTES,
              pixel, sizeof pixel);
}

static guint32
halo_of (guint32 rgb)
{
  guint32 grey = (77 * (rgb >> 16 & 0xff) + 150 * (rgb >> 8 & 0xff) + 29 * (rgb & 0xff)) >> 8;

  return grey > HALO_THRESHOLD ? 0x000000 : 0xffffff;
}

/* The ring of @thickness around @box that begins @gap outside it. */
static void
fill_ring (Canvas              *canvas,
           const KhadimRpaRect *box,
           int                  gap,
           int                  thickness,
           guint32              rgb)
{
  int outer = gap + thickness;
  int x = box->x - outer, y = box->y - outer;
  int width = box->width + 2 * outer, height = box->height + 2 * outer;

  fill (canvas, (KhadimRpaRect) { x, y, width, thickness }, rgb);
  fill (canvas, (KhadimRpaRect) { x, y + height - thickness, width, thickness }, rgb);
  fill (canvas, (KhadimRpaRect) { x, y, thickness, height }, rgb);
  fill (canvas, (KhadimRpaRect) { x + width - thickness, y, thickness, height }, rgb);
}

static void
draw_box (Canvas              *canvas,
          const KhadimRpaMark *mark)
{
  guint32 halo = halo_of (mark->rgb);

  fill_ring (canvas, &mark->box, 0, HALO_PX, halo);
  fill_ring (canvas, &mark->box, HALO_PX, LINE_PX, mark->rgb);
  fill_ring (canvas, &mark->box, HALO_PX + LINE_PX, HALO_PX, halo);
}

static void
draw_arms (Canvas              *canvas,
           const KhadimRpaMark *mark,
           int                  grow_px,
           guint32              rgb)
{
  int arm = CROSS_ARM_PX + grow_px, half = LINE_PX / 2 + grow_px;

  fill (canvas,
        (KhadimRpaRect) { mark->hot_x - arm, mark->hot_y - half, 2 * arm + 1, 2 * half + 1 }, rgb);
  fill (canvas,
        (KhadimRpaRect) { mark->hot_x - half, mark->hot_y - arm, 2 * half + 1, 2 * arm + 1 }, rgb);
}

static void
draw_digit (Canvas  *canvas,
            int      x,
            int      y,
            int      digit,
            guint32  rgb)
{
  for (int row = 0; row < DIGIT_ROWS; row++)
    for (int column = 0; column < DIGIT_COLUMNS; column++)
      {
        if ((digits[digit][row] >> (DIGIT_COLUMNS - 1 - column) & 1) == 0)
          continue;
        fill (canvas,
              (KhadimRpaRect) { x + column * DOT_PX, y + row * DOT_PX, DOT_PX, DOT_PX }, rgb);
      }
}

/* Above the box's left corner, or inside it where there is no room above. */
static void
draw_number (Canvas              *canvas,
             const KhadimRpaMark *mark)
{
  char text[MAX_DIGITS + 1];
  int n = g_snprintf (text, sizeof text, "%d", mark->number);
  int step = DIGIT_COLUMNS * DOT_PX + DIGIT_GAP_PX;
  int width = n * step - DIGIT_GAP_PX + 2 * LABEL_PAD_PX;
  int height = DIGIT_ROWS * DOT_PX + 2 * LABEL_PAD_PX;
  int ring = LINE_PX + 2 * HALO_PX;
  int x = CLAMP (mark->box.x - ring, 0, MAX (0, canvas->width_px - width));
  int y = mark->box.y - ring - height >= 0 ? mark->box.y - ring - height : mark->box.y;

  y = CLAMP (y, 0, MAX (0, canvas->height_px - height));
  fill (canvas, (KhadimRpaRect) { x, y, width, height }, mark->rgb);
  for (int i = 0; i < n; i++)
    draw_digit (canvas, x + LABEL_PAD_PX + i * step, y + LABEL_PAD_PX, text[i] - '0',
                halo_of (mark->rgb));
}

static gboolean
is_near (int coordinate)
{
  return coordinate >= -MAX_COORDINATE && coordinate <= MAX_COORDINATE;
}

static void
draw_mark (Canvas              *canvas,
           const KhadimRpaMark *mark)
{
  if (!is_near (mark->box.x) || !is_near (mark->box.y) || !is_near (mark->box.width)
      || !is_near (mark->box.height) || !is_near (mark->hot_x) || !is_near (mark->hot_y))
    return;

  if (mark->box.width > 0 && mark->box.height > 0)
    draw_box (canvas, mark);

  if (mark->has_hot)
    {
      draw_arms (canvas, mark, HALO_PX, halo_of (mark->rgb));
      draw_arms (canvas, mark, 0, mark->rgb);
    }

  if (mark->number >= 0)
    draw_number (canvas, mark);
}

/**
 * khadim_rpa_picture_draw:
 * @self: a picture
 * @marks: (array length=n_marks): what to draw, the last one on top; parts that
 *   lie outside the picture are left out
 * @n_marks: how many
 *
 * A copy with marks drawn in: outlines just outside their boxes, crosses at hot
 * spots, numbers, each with a contrasting halo so that it shows on any ground.
 * Any thread.
 *
 * Returns: (transfer full): the copy
 */
KhadimRpaPicture *
khadim_rpa_picture_draw (KhadimRpaPicture    *self,
                         const KhadimRpaMark *marks,
                         guint                n_marks)
{
  Canvas canvas;
  gsize row_bytes;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (marks != NULL || n_marks == 0, NULL);

  row_bytes = (gsize) self->width_px * KHADIM_RPA_PIXEL_BYTES;
  canvas.width_px = self->width_px;
  canvas.height_px = self->height_px;
  canvas.pixels = g_malloc (row_bytes * (gsize) self->height_px);
  for (int y = 0; y < self->height_px; y++)
    memcpy (canvas.pixels + (gsize) y * row_bytes, _khadim_rpa_picture_row (self, y), row_bytes);

  for (guint i = 0; i < n_marks; i++)
    draw_mark (&canvas, &marks[i]);

  return _khadim_rpa_picture_take (canvas.pixels, self->width_px, self->height_px, self);
}
