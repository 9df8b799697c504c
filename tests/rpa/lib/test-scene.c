/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-scene"

#include "config.h"

#include "tests/rpa/lib/test-scene.h"

#include <math.h>

#include <gdk-pixbuf/gdk-pixbuf.h>
#include <pango/pangocairo.h>

#define WINDOW_WIDTH 620
#define WINDOW_HEIGHT 420
#define ROW_HEIGHT 22
#define BUTTON_WIDTH 96
#define BUTTON_HEIGHT 28

typedef struct
{
  double ground[3];
  double surface[3];
  double ink[3];
  double accent[3];
} Palette;

static const Palette palettes[] = {
  [TEST_SCENE_LIGHT] = { { .75, .78, .82 }, { .98, .98, .98 }, { .13, .13, .15 }, { .2, .5, .9 } },
  [TEST_SCENE_DARK] = { { .12, .13, .15 }, { .19, .19, .20 }, { .92, .92, .92 }, { .2, .5, .9 } },
};

static const char *const words[] = {
  "Open", "Save", "Save as", "Cancel", "Invoice", "Customer", "Amount", "Total", "2026-03-14",
  "Print", "Export", "Settings", "1,204.50", "Pending", "Paid", "Berlin", "Zürich", "Delete",
  "Address", "Article", "Quantity", "Price", "Search", "Help",
};

static void
set_colour (cairo_t      *cr,
            const double *rgb)
{
  cairo_set_source_rgb (cr, rgb[0], rgb[1], rgb[2]);
}

static void
show_text (cairo_t    *cr,
           double      x,
           double      y,
           const char *text,
           const char *font)
{
  PangoLayout *layout = pango_cairo_create_layout (cr);
  PangoFontDescription *description = pango_font_description_from_string (font);

  pango_layout_set_font_description (layout, description);
  pango_layout_set_text (layout, text, -1);
  cairo_move_to (cr, x, y);
  pango_cairo_show_layout (cr, layout);
  pango_font_description_free (description);
  g_object_unref (layout);
}

static void
draw_button (cairo_t       *cr,
             double         x,
             double         y,
             const char    *label,
             const Palette *palette)
{
  cairo_pattern_t *shade = cairo_pattern_create_linear (0, y, 0, y + BUTTON_HEIGHT);

  cairo_pattern_add_color_stop_rgb (shade, 0, palette->surface[0], palette->surface[1],
                                    palette->surface[2]);
  cairo_pattern_add_color_stop_rgb (shade, 1, palette->surface[0] * .92,
                                    palette->surface[1] * .92, palette->surface[2] * .92);
  cairo_rectangle (cr, x + .5, y + .5, BUTTON_WIDTH - 1, BUTTON_HEIGHT - 1);
  cairo_set_source (cr, shade);
  cairo_fill_preserve (cr);
  set_colour (cr, palette->ground);
  cairo_set_line_width (cr, 1);
  cairo_stroke (cr);
  set_colour (cr, palette->ink);
  show_text (cr, x + 14, y + 6, label, "DejaVu Sans 9");
  cairo_pattern_destroy (shade);
}

/* Rows that differ in a number only: near duplicates. */
static void
draw_rows (cairo_t       *cr,
           double         x,
           double         y,
           int            n,
           GRand         *rand,
           const Palette *palette)
{
  for (int i = 0; i < n; i++)
    {
      g_autofree char *text = g_strdup_printf ("%s  no. %d   %s", words[4], 1000 + i,
                                               words[g_rand_int_range (rand, 0,
                                                                       G_N_ELEMENTS (words))]);

      cairo_rectangle (cr, x + 4.5, y + i * ROW_HEIGHT + 4.5, 12, 12);
      set_colour (cr, palette->ink);
      cairo_set_line_width (cr, 1);
      cairo_stroke (cr);
      show_text (cr, x + 24, y + i * ROW_HEIGHT + 3, text, "DejaVu Sans 10");
    }
}

static void
draw_window (cairo_t       *cr,
             double         x,
             double         y,
             GRand         *rand,
             const Palette *palette)
{
  cairo_rectangle (cr, x, y, WINDOW_WIDTH, WINDOW_HEIGHT);
  set_colour (cr, palette->surface);
  cairo_fill (cr);
  cairo_rectangle (cr, x, y, WINDOW_WIDTH, 30);
  set_colour (cr, palette->accent);
  cairo_fill (cr);
  cairo_set_source_rgb (cr, 1, 1, 1);
  show_text (cr, x + 240, y + 6, words[g_rand_int_range (rand, 0, G_N_ELEMENTS (words))],
             "DejaVu Sans Bold 10");
  for (int i = 0; i < 5; i++)
    draw_button (cr, x + 12 + i * (BUTTON_WIDTH + 10), y + 40,
                 words[g_rand_int_range (rand, 0, G_N_ELEMENTS (words))], palette);
  draw_rows (cr, x + 10, y + 80, 12, rand, palette);
  for (int i = 0; i < 6; i++)
    {
      set_colour (cr, palette->ink);
      show_text (cr, x + 340, y + 84 + i * 26,
                 words[g_rand_int_range (rand, 0, G_N_ELEMENTS (words))], "DejaVu Serif 12");
    }
  draw_button (cr, x + WINDOW_WIDTH - 220, y + WINDOW_HEIGHT - 40, "Cancel", palette);
  draw_button (cr, x + WINDOW_WIDTH - 110, y + WINDOW_HEIGHT - 40, "OK", palette);
}

static void
draw_ground (cairo_t       *cr,
             int            width_px,
             int            height_px,
             const Palette *palette)
{
  cairo_pattern_t *shade = cairo_pattern_create_linear (0, 0, width_px, height_px);

  cairo_pattern_add_color_stop_rgb (shade, 0, palette->ground[0], palette->ground[1],
                                    palette->ground[2]);
  cairo_pattern_add_color_stop_rgb (shade, 1, palette->ground[0] * .7, palette->ground[1] * .8,
                                    palette->ground[2]);
  cairo_set_source (cr, shade);
  cairo_paint (cr);
  cairo_pattern_destroy (shade);
}

static KhadimRpaPicture *
take_surface (cairo_surface_t *surface)
{
  g_autoptr(GError) error = NULL;
  KhadimRpaPicture *picture;

  cairo_surface_flush (surface);
  picture = khadim_rpa_picture_new (cairo_image_surface_get_data (surface),
                                    cairo_image_surface_get_width (surface),
                                    cairo_image_surface_get_height (surface),
                                    (gsize) cairo_image_surface_get_stride (surface), &error);
  g_assert_no_error (error);
  cairo_surface_destroy (surface);

  return picture;
}

/* A patch that looks like a photograph: smooth hills with grain. */
static void
draw_photograph (cairo_surface_t *surface,
                 int              left,
                 int              top,
                 GRand           *rand)
{
  int stride = cairo_image_surface_get_stride (surface);
  guint8 *data;

  cairo_surface_flush (surface);
  data = cairo_image_surface_get_data (surface);
  for (int y = top; y < top + 160; y++)
    for (int x = left; x < left + 240; x++)
      for (int c = 0; c < 3; c++)
        {
          double hills = 128 + 60 * sin (x / (23.0 + 5 * c)) + 50 * cos (y / (17.0 - 3 * c));

          data[y * stride + x * 4 + c] =
            (guint8) CLAMP (hills + g_rand_int_range (rand, -12, 13), 0, 255);
        }
  cairo_surface_mark_dirty (surface);
}

KhadimRpaPicture *
test_scene_desktop (int            width_px,
                    int            height_px,
                    guint32        seed,
                    TestSceneTheme theme)
{
  const Palette *palette = &palettes[theme];
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, width_px, height_px);
  cairo_t *cr = cairo_create (surface);
  GRand *rand = g_rand_new_with_seed (seed);

  draw_ground (cr, width_px, height_px, palette);
  for (int y = 20; y + WINDOW_HEIGHT <= height_px; y += WINDOW_HEIGHT + 30)
    for (int x = 20; x + WINDOW_WIDTH <= width_px; x += WINDOW_WIDTH + 20)
      draw_window (cr, x, y, rand, palette);
  cairo_destroy (cr);
  if (width_px >= 260 && height_px >= 180)
    draw_photograph (surface, width_px - 250, height_px - 170, rand);
  g_rand_free (rand);

  return take_surface (surface);
}

KhadimRpaPicture *
test_scene_text (const char *text,
                 const char *font,
                 int         width_px,
                 int         height_px,
                 guint32     ink_rgb,
                 guint32     ground_rgb)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, width_px, height_px);
  cairo_t *cr = cairo_create (surface);

  cairo_set_source_rgb (cr, (ground_rgb >> 16 & 255) / 255.0, (ground_rgb >> 8 & 255) / 255.0,
                        (ground_rgb & 255) / 255.0);
  cairo_paint (cr);
  cairo_set_source_rgb (cr, (ink_rgb >> 16 & 255) / 255.0, (ink_rgb >> 8 & 255) / 255.0,
                        (ink_rgb & 255) / 255.0);
  show_text (cr, 8, 6, text, font);
  cairo_destroy (cr);

  return take_surface (surface);
}

/* Gaussian noise of @sigma grey levels on each channel. */
KhadimRpaPicture *
test_scene_noise (KhadimRpaPicture *picture,
                  GRand            *rand,
                  double            sigma)
{
  int width = khadim_rpa_picture_get_width (picture);
  int height = khadim_rpa_picture_get_height (picture);
  g_autofree guint8 *pixels = g_malloc ((gsize) width * (gsize) height * 4);
  g_autoptr(GError) error = NULL;
  KhadimRpaPicture *noisy;

  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      for (int c = 0; c < 3; c++)
        {
          const guint8 *row = khadim_rpa_picture_get_pixels (picture)
                              + (gsize) y * khadim_rpa_picture_get_stride (picture);
          double radius = sqrt (-2.0 * log (1.0 - g_rand_double (rand)));
          double grain = sigma * radius * cos (2.0 * G_PI * g_rand_double (rand));

          pixels[((gsize) y * (gsize) width + (gsize) x) * 4 + (gsize) c] =
            (guint8) CLAMP (lrint (row[x * 4 + c] + grain), 0, 255);
        }

  noisy = khadim_rpa_picture_new (pixels, width, height, (gsize) width * 4, &error);
  g_assert_no_error (error);

  return noisy;
}

static gboolean
in_disc (int x,
         int y,
         int middle_x,
         int middle_y,
         int radius_px)
{
  int dx = x - middle_x, dy = y - middle_y;

  return dx * dx + dy * dy <= radius_px * radius_px;
}

/* Opacity comes with PNG files only, so through one that gdk-pixbuf writes. */
KhadimRpaPicture *
test_scene_disc (KhadimRpaPicture *picture,
                 int               radius_px)
{
  int width = khadim_rpa_picture_get_width (picture);
  int height = khadim_rpa_picture_get_height (picture);
  g_autoptr(GdkPixbuf) pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, TRUE, 8, width, height);
  g_autofree char *data = NULL;
  g_autoptr(GBytes) png = NULL;
  g_autoptr(GError) error = NULL;
  KhadimRpaPicture *disc;
  gsize size;

  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      {
        guint8 *pixel = gdk_pixbuf_get_pixels (pixbuf) + y * gdk_pixbuf_get_rowstride (pixbuf)
                        + x * 4;
        guint32 rgb = khadim_rpa_picture_get_rgb (picture, x, y);

        pixel[0] = (guint8) (rgb >> 16);
        pixel[1] = (guint8) (rgb >> 8);
        pixel[2] = (guint8) rgb;
        pixel[3] = in_disc (x, y, width / 2, height / 2, radius_px) ? 255 : 0;
      }
  g_assert_true (gdk_pixbuf_save_to_buffer (pixbuf, &data, &size, "png", &error, NULL));
  png = g_bytes_new (data, size);
  disc = khadim_rpa_picture_from_png (png, &error);
  g_assert_no_error (error);

  return disc;
}

KhadimRpaPicture *
test_scene_new_ground (KhadimRpaPicture *picture,
                       int               middle_x,
                       int               middle_y,
                       int               radius_px)
{
  int width = khadim_rpa_picture_get_width (picture);
  int height = khadim_rpa_picture_get_height (picture);
  g_autofree guint32 *pixels = g_new (guint32, (gsize) width * (gsize) height);
  g_autoptr(GError) error = NULL;
  KhadimRpaPicture *changed;

  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      {
        guint32 rgb = khadim_rpa_picture_get_rgb (picture, x, y);

        if (!in_disc (x, y, middle_x, middle_y, radius_px))
          rgb = (x / 7 + y / 5) % 2 == 0 ? 0x203040 : 0xa0c0d0;
        pixels[y * width + x] = GUINT32_TO_LE (rgb);
      }
  changed = khadim_rpa_picture_new ((const guint8 *) pixels, width, height, (gsize) width * 4,
                                    &error);
  g_assert_no_error (error);

  return changed;
}
