/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-picture"

#include "config.h"

#include "rpa/find/khadim-rpa-picture.h"

#include <math.h>
#include <string.h>

#include <gdk-pixbuf/gdk-pixbuf.h>
#include <gio/gio.h>
#include <glib/gstdio.h>

#include "rpa/screen/khadim-rpa-error.h"

#include "tests/rpa/lib/test-scene.h"

static guint8 *
random_pixels (int     width,
               int     height,
               guint32 seed)
{
  GRand *rand = g_rand_new_with_seed (seed);
  guint8 *pixels = g_malloc ((gsize) width * (gsize) height * 4);

  for (int i = 0; i < width * height * 4; i++)
    pixels[i] = (guint8) g_rand_int_range (rand, 0, 256);
  g_rand_free (rand);

  return pixels;
}

static KhadimRpaPicture *
random_picture (int     width,
                int     height,
                guint32 seed)
{
  g_autofree guint8 *pixels = random_pixels (width, height, seed);
  g_autoptr(GError) error = NULL;
  KhadimRpaPicture *picture = khadim_rpa_picture_new (pixels, width, height, (gsize) width * 4,
                                                      &error);

  g_assert_no_error (error);

  return picture;
}

/* A picture with a few pixels of another one changed. */
static KhadimRpaPicture *
with_pixels (const KhadimRpaPicture *picture,
             const int              *points,
             guint                   n_points,
             int                     channel)
{
  int width = khadim_rpa_picture_get_width (picture);
  int height = khadim_rpa_picture_get_height (picture);
  gsize stride = khadim_rpa_picture_get_stride (picture);
  g_autofree guint8 *pixels = g_memdup2 (khadim_rpa_picture_get_pixels (picture),
                                         stride * (gsize) height);
  g_autoptr(GError) error = NULL;
  KhadimRpaPicture *changed;

  for (guint i = 0; i < n_points; i++)
    {
      gsize at = (gsize) points[2 * i + 1] * stride + (gsize) points[2 * i] * 4;

      pixels[at + (gsize) channel] ^= 0x40;
    }
  changed = khadim_rpa_picture_new (pixels, width, height, stride, &error);
  g_assert_no_error (error);

  return changed;
}

static GdkPixbuf *
read_with_pixbuf (GBytes *bytes)
{
  g_autoptr(GInputStream) stream = g_memory_input_stream_new_from_bytes (bytes);
  g_autoptr(GError) error = NULL;
  GdkPixbuf *pixbuf = gdk_pixbuf_new_from_stream (stream, NULL, &error);

  g_assert_no_error (error);

  return pixbuf;
}

/* The largest difference of a channel between what we and gdk-pixbuf hold. */
static int
compare_with_pixbuf (const KhadimRpaPicture *picture,
                     GdkPixbuf              *pixbuf,
                     gboolean                alpha,
                     double                 *out_mean)
{
  int n = gdk_pixbuf_get_n_channels (pixbuf), worst = 0;
  double sum = 0.0;

  g_assert_cmpint (gdk_pixbuf_get_width (pixbuf), ==, khadim_rpa_picture_get_width (picture));
  g_assert_cmpint (gdk_pixbuf_get_height (pixbuf), ==, khadim_rpa_picture_get_height (picture));
  g_assert_true (!alpha || n == 4);
  for (int y = 0; y < khadim_rpa_picture_get_height (picture); y++)
    for (int x = 0; x < khadim_rpa_picture_get_width (picture); x++)
      {
        const guint8 *other = gdk_pixbuf_read_pixels (pixbuf)
                              + y * gdk_pixbuf_get_rowstride (pixbuf) + x * n;
        const guint8 *own = khadim_rpa_picture_get_pixels (picture)
                            + (gsize) y * khadim_rpa_picture_get_stride (picture) + x * 4;

        for (int c = 0; c < 3; c++)
          {
            worst = MAX (worst, ABS (own[2 - c] - other[c]));
            sum += ABS (own[2 - c] - other[c]);
          }
        if (alpha)
          worst = MAX (worst, ABS (own[3] - other[3]));
      }
  if (out_mean != NULL)
    *out_mean = sum / (3.0 * khadim_rpa_picture_get_width (picture)
                       * khadim_rpa_picture_get_height (picture));

  return worst;
}

static void
test_new (void)
{
  g_autofree guint8 *pixels = random_pixels (10, 5, 1);
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimRpaPicture) picture = khadim_rpa_picture_new (pixels, 8, 5, 40, &error);
  guint32 expected = (guint32) pixels[40 + 2] << 16 | (guint32) pixels[40 + 1] << 8 | pixels[40];

  g_assert_no_error (error);
  g_assert_cmpint (khadim_rpa_picture_get_width (picture), ==, 8);
  g_assert_cmpint (khadim_rpa_picture_get_height (picture), ==, 5);
  g_assert_cmphex (khadim_rpa_picture_get_rgb (picture, 0, 1), ==, expected);
  g_assert_false (khadim_rpa_picture_get_has_alpha (picture));

  memset (pixels, 0, 200);
  g_assert_cmphex (khadim_rpa_picture_get_rgb (picture, 0, 1), ==, expected);
  g_assert_cmphex (khadim_rpa_picture_get_rgb (picture, 8, 1), ==, 0);
  g_assert_cmphex (khadim_rpa_picture_get_rgb (picture, -1, 1), ==, 0);
}

static void
test_new_refused (void)
{
  static const struct
  {
    int   width, height;
    gsize stride;
    int   code;
  } cases[] = {
    { 0, 5, 40, KHADIM_RPA_ERROR_INVALID },
    { 5, -1, 40, KHADIM_RPA_ERROR_INVALID },
    { 10, 5, 36, KHADIM_RPA_ERROR_INVALID },
    { 9, 5, 37, KHADIM_RPA_ERROR_INVALID },
    { 10, 6, 40, KHADIM_RPA_ERROR_INVALID },
    { 40000, 1, 160000, KHADIM_RPA_ERROR_LIMIT },
    { 1, 40000, 4, KHADIM_RPA_ERROR_LIMIT },
    { 32000, 32000, 128000, KHADIM_RPA_ERROR_LIMIT },
  };
  g_autoptr(GBytes) bytes = g_bytes_new_take (random_pixels (10, 5, 1), 200);
  g_autoptr(KhadimRpaPicture) good = NULL;
  g_autoptr(GError) none = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;

      g_assert_null (khadim_rpa_picture_new_from_bytes (bytes, cases[i].width, cases[i].height,
                                                        cases[i].stride, &error));
      g_assert_error (error, KHADIM_RPA_ERROR, cases[i].code);
    }

  good = khadim_rpa_picture_new_from_bytes (bytes, 10, 5, 40, &none);
  g_assert_no_error (none);
  g_assert_true (khadim_rpa_picture_get_pixels (good) == g_bytes_get_data (bytes, NULL));
}

static void
test_crop (void)
{
  g_autoptr(KhadimRpaPicture) whole = random_picture (40, 30, 2);
  g_autoptr(KhadimRpaPicture) placed = khadim_rpa_picture_place (whole, 100, 200, 2.0, 7);
  g_autoptr(KhadimRpaPicture) part = NULL, edge = NULL;
  g_autoptr(GError) error = NULL;
  int x, y;

  part = khadim_rpa_picture_crop (placed, &(KhadimRpaRect) { 10, 4, 8, 6 }, &error);
  g_assert_no_error (error);
  g_assert_cmpint (khadim_rpa_picture_get_width (part), ==, 8);
  g_assert_true (khadim_rpa_picture_get_pixels (part)
                 == khadim_rpa_picture_get_pixels (whole) + 4 * 160 + 40);
  g_assert_cmphex (khadim_rpa_picture_get_rgb (part, 3, 2), ==,
                   khadim_rpa_picture_get_rgb (whole, 13, 6));
  g_assert_cmpint (khadim_rpa_picture_get_origin_x (part), ==, 105);
  g_assert_cmpint (khadim_rpa_picture_get_origin_y (part), ==, 202);
  g_assert_cmpuint (khadim_rpa_picture_get_serial (part), ==, 7);

  g_assert_true (khadim_rpa_picture_to_screen (part, 6, 3, &x, &y, &error));
  g_assert_cmpint (x, ==, 108);
  g_assert_cmpint (y, ==, 203);

  edge = khadim_rpa_picture_crop (whole, &(KhadimRpaRect) { -5, 25, 10, 100 }, &error);
  g_assert_no_error (error);
  g_assert_cmpint (khadim_rpa_picture_get_width (edge), ==, 5);
  g_assert_cmpint (khadim_rpa_picture_get_height (edge), ==, 5);
}

static void
test_crop_refused (void)
{
  g_autoptr(KhadimRpaPicture) whole = random_picture (40, 30, 2);
  g_autoptr(GError) error = NULL;
  int x = -7, y = -7;

  g_assert_null (khadim_rpa_picture_crop (whole, &(KhadimRpaRect) { 40, 0, 5, 5 }, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (khadim_rpa_picture_crop (whole, &(KhadimRpaRect) { 1, 1, 0, 5 }, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_clear_error (&error);

  g_assert_false (khadim_rpa_picture_to_screen (whole, 40, 0, &x, &y, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (khadim_rpa_picture_to_screen (whole, NAN, 0, &x, &y, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_assert_cmpint (x, ==, -7);
}

static void
test_png_write (void)
{
  g_autoptr(KhadimRpaPicture) scene = test_scene_desktop (700, 480, 3, TEST_SCENE_LIGHT);
  g_autoptr(KhadimRpaPicture) part = NULL, back = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) png = NULL;
  g_autoptr(GdkPixbuf) pixbuf = NULL;

  part = khadim_rpa_picture_crop (scene, &(KhadimRpaRect) { 13, 7, 601, 399 }, &error);
  png = khadim_rpa_picture_to_png (part, &error);
  g_assert_no_error (error);

  pixbuf = read_with_pixbuf (png);
  g_assert_cmpint (compare_with_pixbuf (part, pixbuf, FALSE, NULL), ==, 0);

  back = khadim_rpa_picture_from_png (png, &error);
  g_assert_no_error (error);
  g_assert_true (khadim_rpa_picture_equal (part, back));
}

/* Colour types and depths written by ImageMagick, read by us and by gdk-pixbuf. */
static void
test_png_kinds (void)
{
  static const char *const kinds[] = {
    "-type Grayscale -depth 8",       "-threshold 50% -type Bilevel",
    "-colors 13 -type Palette",       "-type TrueColor -depth 16 -define png:bit-depth=16",
    "-interlace PNG -type TrueColor", "-type Grayscale -depth 4",
  };
  g_autofree char *convert = g_find_program_in_path ("convert");
  g_autoptr(GError) error = NULL;
  g_autofree char *folder = NULL;

  if (convert == NULL)
    {
      g_test_skip ("ImageMagick is not installed");
      return;
    }

  folder = g_dir_make_tmp ("khadim-picture-XXXXXX", &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *path = g_build_filename (folder, "kind.png", NULL);
      g_autofree char *command = g_strdup_printf ("%s -size 61x43 plasma:red-blue %s %s", convert,
                                                  kinds[i], path);
      g_autoptr(GdkPixbuf) pixbuf = NULL;
      g_autoptr(KhadimRpaPicture) picture = NULL;
      int status;

      g_assert_true (g_spawn_command_line_sync (command, NULL, NULL, &status, &error));
      g_assert_true (g_spawn_check_wait_status (status, &error));
      picture = khadim_rpa_picture_load (path, &error);
      g_assert_no_error (error);
      pixbuf = gdk_pixbuf_new_from_file (path, &error);
      g_assert_no_error (error);
      g_assert_cmpint (compare_with_pixbuf (picture, pixbuf, FALSE, NULL), <=, 1);
      g_assert_cmpint (g_unlink (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_png_alpha (void)
{
  g_autoptr(GdkPixbuf) pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, TRUE, 8, 20, 10);
  guint8 *pixels = gdk_pixbuf_get_pixels (pixbuf);
  g_autofree char *data = NULL;
  g_autoptr(GBytes) png = NULL, again = NULL;
  g_autoptr(KhadimRpaPicture) picture = NULL;
  g_autoptr(GdkPixbuf) back = NULL;
  g_autoptr(GError) error = NULL;
  gsize size;

  for (int i = 0; i < gdk_pixbuf_get_rowstride (pixbuf) * 10; i++)
    pixels[i] = (guint8) (i * 37);
  g_assert_true (gdk_pixbuf_save_to_buffer (pixbuf, &data, &size, "png", &error, NULL));
  png = g_bytes_new (data, size);

  picture = khadim_rpa_picture_from_png (png, &error);
  g_assert_no_error (error);
  g_assert_true (khadim_rpa_picture_get_has_alpha (picture));
  g_assert_cmpint (compare_with_pixbuf (picture, pixbuf, TRUE, NULL), ==, 0);

  again = khadim_rpa_picture_to_png (picture, &error);
  g_assert_no_error (error);
  back = read_with_pixbuf (again);
  g_assert_cmpint (compare_with_pixbuf (picture, back, TRUE, NULL), ==, 0);
}

/* Cut anywhere, it is refused with the place; whole, it is read. */
static void
test_png_truncated (void)
{
  g_autoptr(KhadimRpaPicture) picture = random_picture (37, 23, 4), whole = NULL;
  g_autoptr(GError) none = NULL;
  g_autoptr(GBytes) png = khadim_rpa_picture_to_png (picture, &none);
  gsize size = g_bytes_get_size (png);

  for (gsize n = 0; n < size; n += 1 + n / 16)
    {
      g_autoptr(GBytes) cut = g_bytes_new_from_bytes (png, 0, n);
      g_autoptr(GError) error = NULL;

      g_assert_null (khadim_rpa_picture_from_png (cut, &error));
      g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, "byte "));
    }

  whole = khadim_rpa_picture_from_png (png, &none);
  g_assert_no_error (none);
  g_assert_true (khadim_rpa_picture_equal (whole, picture));
}

/* Any one byte changed: refused, or a picture of the same size; never a crash. */
static void
test_png_damaged (void)
{
  g_autoptr(KhadimRpaPicture) picture = random_picture (16, 16, 4);
  g_autoptr(GError) none = NULL;
  g_autoptr(GBytes) png = khadim_rpa_picture_to_png (picture, &none);
  gsize size = g_bytes_get_size (png);
  guint n_refused = 0;

  for (gsize at = 0; at < size; at++)
    {
      guint8 *copy = g_memdup2 (g_bytes_get_data (png, NULL), size);
      g_autoptr(GBytes) damaged = NULL;
      g_autoptr(KhadimRpaPicture) read = NULL;
      g_autoptr(GError) error = NULL;

      copy[at] ^= 0x55;
      damaged = g_bytes_new_take (copy, size);
      read = khadim_rpa_picture_from_png (damaged, &error);
      g_assert_true ((read != NULL) != (error != NULL));
      n_refused += read == NULL;
    }
  g_assert_cmpuint (n_refused, >, size * 9 / 10);
}

static guint32
crc_of (const guint8 *data,
        gsize         size)
{
  guint32 crc = 0xffffffff;

  for (gsize i = 0; i < size; i++)
    {
      crc ^= data[i];
      for (int bit = 0; bit < 8; bit++)
        crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
    }

  return ~crc;
}

/* A real small PNG that claims another size. */
static GBytes *
claim_size (guint32 width,
            guint32 height)
{
  g_autoptr(KhadimRpaPicture) picture = random_picture (8, 8, 5);
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) png = khadim_rpa_picture_to_png (picture, &error);
  gsize size = g_bytes_get_size (png);
  guint8 *copy = g_memdup2 (g_bytes_get_data (png, NULL), size);
  guint32 crc;

  width = GUINT32_TO_BE (width);
  height = GUINT32_TO_BE (height);
  memcpy (copy + 16, &width, 4);
  memcpy (copy + 20, &height, 4);
  crc = GUINT32_TO_BE (crc_of (copy + 12, 17));
  memcpy (copy + 29, &crc, 4);

  return g_bytes_new_take (copy, size);
}

static void
test_png_bomb (void)
{
  g_autoptr(GBytes) honest = claim_size (8, 8);
  g_autoptr(GBytes) bomb = claim_size (8000, 8000);
  g_autoptr(GBytes) wide = claim_size (1000000, 8);
  g_autoptr(GBytes) large = claim_size (30000, 30000);
  g_autoptr(KhadimRpaPicture) picture = NULL;
  g_autoptr(GError) error = NULL;

  picture = khadim_rpa_picture_from_png (honest, &error);
  g_assert_no_error (error);

  g_assert_null (khadim_rpa_picture_from_png (bomb, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "cannot come out of"));
  g_clear_error (&error);

  g_assert_null (khadim_rpa_picture_from_png (wide, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT);
  g_clear_error (&error);
  g_assert_null (khadim_rpa_picture_from_png (large, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT);
}

static void
test_png_too_long (void)
{
  gsize size = (gsize) KHADIM_RPA_PICTURE_MAX_ENCODED_BYTES + 1;
  g_autoptr(GBytes) bytes = g_bytes_new_take (g_malloc0 (size), size);
  g_autoptr(GError) error = NULL;

  g_assert_null (khadim_rpa_picture_from_png (bytes, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT);
}

static void
test_jpeg (void)
{
  g_autoptr(KhadimRpaPicture) scene = test_scene_desktop (700, 480, 3, TEST_SCENE_DARK);
  g_autoptr(KhadimRpaPicture) small = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) jpeg = NULL, reduced = NULL;
  g_autoptr(GdkPixbuf) pixbuf = NULL, reduced_pixbuf = NULL;
  double mean;

  jpeg = khadim_rpa_picture_to_jpeg (scene, 95, 0, &error);
  g_assert_no_error (error);
  pixbuf = read_with_pixbuf (jpeg);
  compare_with_pixbuf (scene, pixbuf, FALSE, &mean);
  g_assert_cmpfloat (mean, <, 3.0);

  reduced = khadim_rpa_picture_to_jpeg (scene, 80, 350, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (reduced), <, g_bytes_get_size (jpeg));
  small = khadim_rpa_picture_fit (scene, 350, &error);
  reduced_pixbuf = read_with_pixbuf (reduced);
  g_assert_cmpint (gdk_pixbuf_get_width (reduced_pixbuf), ==, 350);
  compare_with_pixbuf (small, reduced_pixbuf, FALSE, &mean);
  g_assert_cmpfloat (mean, <, 6.0);

  g_assert_null (khadim_rpa_picture_to_jpeg (scene, 0, 0, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (khadim_rpa_picture_to_jpeg (scene, 80, -1, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
}

static void
test_files (void)
{
  g_autoptr(KhadimRpaPicture) picture = random_picture (33, 21, 6), back = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("khadim-picture-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "a.png", NULL);
  g_autofree char *inside = g_build_filename (path, "b.png", NULL);

  g_assert_null (khadim_rpa_picture_load (path, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND);
  g_assert_nonnull (strstr (error->message, path));
  g_clear_error (&error);
  g_assert_null (khadim_rpa_picture_load (folder, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FAILED);
  g_clear_error (&error);

  g_assert_true (khadim_rpa_picture_save_png (picture, path, &error));
  back = khadim_rpa_picture_load (path, &error);
  g_assert_no_error (error);
  g_assert_true (khadim_rpa_picture_equal (picture, back));
  g_assert_false (khadim_rpa_picture_save_png (picture, inside, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FAILED);
  g_clear_error (&error);

  g_assert_true (g_file_set_contents (path, "GIF89a", -1, &error));
  g_assert_null (khadim_rpa_picture_load (path, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_assert_true (g_str_has_prefix (error->message, path));

  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_equal (void)
{
  const int point[] = { 20, 10 };
  g_autoptr(KhadimRpaPicture) a = random_picture (40, 30, 7);
  g_autoptr(KhadimRpaPicture) filler = with_pixels (a, point, 1, 3);
  g_autoptr(KhadimRpaPicture) colour = with_pixels (a, point, 1, 0);
  g_autoptr(KhadimRpaPicture) narrow = random_picture (39, 30, 7);

  g_assert_true (khadim_rpa_picture_equal (a, filler));
  g_assert_false (khadim_rpa_picture_equal (a, colour));
  g_assert_false (khadim_rpa_picture_equal (a, narrow));
  g_assert_true (khadim_rpa_picture_equal_region (a, colour, &(KhadimRpaRect) { 21, 0, 19, 30 }));
  g_assert_true (khadim_rpa_picture_equal_region (a, colour, &(KhadimRpaRect) { 0, 0, 20, 30 }));
  g_assert_false (khadim_rpa_picture_equal_region (a, colour, &(KhadimRpaRect) { 20, 10, 1, 1 }));
  g_assert_false (khadim_rpa_picture_equal_region (a, a, &(KhadimRpaRect) { 20, 10, 21, 1 }));
}

static gboolean
in_rects (const KhadimRpaPictureDiff *diff,
          int                         x,
          int                         y)
{
  for (guint i = 0; i < diff->n_rects; i++)
    {
      const KhadimRpaRect *rect = &diff->rects[i];

      if (x >= rect->x && y >= rect->y && x < rect->x + rect->width && y < rect->y + rect->height)
        return TRUE;
    }

  return FALSE;
}

static void
test_diff (void)
{
  const int points[] = { 5, 3, 6, 3, 70, 90, 199, 149 };
  g_autoptr(KhadimRpaPicture) a = random_picture (200, 150, 8);
  g_autoptr(KhadimRpaPicture) b = with_pixels (a, points, 4, 1);
  g_autoptr(KhadimRpaPicture) other = random_picture (200, 149, 8);
  g_autoptr(GError) error = NULL;
  KhadimRpaPictureDiff diff;

  g_assert_true (khadim_rpa_picture_diff (a, b, 0, &diff, &error));
  g_assert_cmpuint (diff.changed_pixels, ==, 4);
  g_assert_cmpfloat_with_epsilon (diff.fraction, 4.0 / 30000, 1e-12);
  g_assert_cmpint (diff.bounds.x, ==, 5);
  g_assert_cmpint (diff.bounds.y, ==, 3);
  g_assert_cmpint (diff.bounds.width, ==, 195);
  g_assert_cmpint (diff.bounds.height, ==, 147);
  g_assert_cmpuint (diff.n_rects, ==, 3);
  for (guint i = 0; i < 4; i++)
    g_assert_true (in_rects (&diff, points[2 * i], points[2 * i + 1]));
  g_assert_false (in_rects (&diff, 120, 40));

  g_assert_true (khadim_rpa_picture_diff (a, b, 0x40, &diff, &error));
  g_assert_cmpuint (diff.changed_pixels, ==, 0);
  g_assert_cmpuint (diff.n_rects, ==, 0);
  g_assert_cmpint (diff.bounds.width, ==, 0);

  g_assert_false (khadim_rpa_picture_diff (a, other, 0, &diff, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
}

/* More changed tiles than the list holds: still every change is in it. */
static void
test_diff_many (void)
{
  g_autoptr(GArray) points = g_array_new (FALSE, FALSE, sizeof (int));
  g_autoptr(KhadimRpaPicture) a = random_picture (2048, 2048, 9), b = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree KhadimRpaPictureDiff *diff = g_new (KhadimRpaPictureDiff, 1);

  for (int y = 0; y < 2048; y += 64)
    for (int x = y / 64 % 2 * 32; x < 2048; x += 64)
      {
        g_array_append_val (points, x);
        g_array_append_val (points, y);
      }
  b = with_pixels (a, (const int *) points->data, points->len / 2, 2);
  g_assert_true (khadim_rpa_picture_diff (a, b, 0, diff, &error));
  g_assert_cmpuint (diff->changed_pixels, ==, points->len / 2);
  g_assert_cmpuint (diff->n_rects, ==, KHADIM_RPA_PICTURE_MAX_DIFF_RECTS);
  for (guint i = 0; i < points->len; i += 2)
    g_assert_true (in_rects (diff, g_array_index (points, int, i),
                             g_array_index (points, int, i + 1)));
}

static void
test_resize (void)
{
  g_autoptr(KhadimRpaPicture) a = random_picture (64, 48, 10);
  g_autoptr(KhadimRpaPicture) placed = khadim_rpa_picture_place (a, 3, 4, 1.0, 9);
  g_autoptr(KhadimRpaPicture) same = NULL, half = NULL, twice = NULL;
  g_autoptr(GError) error = NULL;

  same = khadim_rpa_picture_resize (a, 64, 48, &error);
  g_assert_true (khadim_rpa_picture_equal (a, same));

  half = khadim_rpa_picture_resize (placed, 32, 24, &error);
  g_assert_cmpfloat (khadim_rpa_picture_get_scale (half), ==, 0.5);
  g_assert_cmpint (khadim_rpa_picture_get_origin_y (half), ==, 4);
  for (int y = 0; y < 24; y++)
    for (int x = 0; x < 32; x++)
      {
        guint sum = (khadim_rpa_picture_get_rgb (a, 2 * x, 2 * y) & 255)
                    + (khadim_rpa_picture_get_rgb (a, 2 * x + 1, 2 * y) & 255)
                    + (khadim_rpa_picture_get_rgb (a, 2 * x, 2 * y + 1) & 255)
                    + (khadim_rpa_picture_get_rgb (a, 2 * x + 1, 2 * y + 1) & 255);

        g_assert_cmpuint (khadim_rpa_picture_get_rgb (half, x, y) & 255, ==, (sum + 2) / 4);
      }

  twice = khadim_rpa_picture_resize (a, 128, 96, &error);
  g_assert_cmphex (khadim_rpa_picture_get_rgb (twice, 0, 0), ==,
                   khadim_rpa_picture_get_rgb (a, 0, 0));
  g_assert_cmphex (khadim_rpa_picture_get_rgb (twice, 127, 95), ==,
                   khadim_rpa_picture_get_rgb (a, 63, 47));

  g_assert_null (khadim_rpa_picture_resize (a, 0, 10, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (khadim_rpa_picture_fit (a, 0, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
}

static void
test_stats (void)
{
  g_autoptr(KhadimRpaPicture) a = random_picture (64, 48, 11);
  KhadimRpaRect region = { 10, 5, 20, 15 };
  double mean, variance, sum = 0, squares = 0;

  for (int y = 5; y < 20; y++)
    for (int x = 10; x < 30; x++)
      {
        guint32 rgb = khadim_rpa_picture_get_rgb (a, x, y);
        double grey = .299 * (rgb >> 16) + .587 * (rgb >> 8 & 255) + .114 * (rgb & 255);

        sum += grey;
        squares += grey * grey;
      }

  g_assert_true (khadim_rpa_picture_get_stats (a, &region, &mean, &variance));
  g_assert_cmpfloat_with_epsilon (mean, sum / 300, 1.0);
  g_assert_cmpfloat_with_epsilon (variance, squares / 300 - sum / 300 * sum / 300, 20.0);
  g_assert_false (khadim_rpa_picture_get_stats (a, &(KhadimRpaRect) { 64, 0, 5, 5 }, &mean, NULL));
}

static void
test_draw (void)
{
  g_autoptr(KhadimRpaPicture) a = random_picture (200, 150, 12), before = NULL, drawn = NULL;
  g_autoptr(KhadimRpaPicture) far = NULL;
  KhadimRpaMark mark = { { 50, 60, 40, 20 }, TRUE, 150, 100, 17, 0xff0000 };
  KhadimRpaMark outside = { { G_MAXINT, 0, G_MAXINT, 4 }, FALSE, 0, 0, -1, 0xff0000 };
  KhadimRpaRect inside = { 50, 60, 40, 20 };
  guint n_label = 0;

  before = with_pixels (a, NULL, 0, 0);
  drawn = khadim_rpa_picture_draw (a, &mark, 1);
  g_assert_true (khadim_rpa_picture_equal (a, before));
  g_assert_true (khadim_rpa_picture_equal_region (a, drawn, &inside));
  g_assert_cmphex (khadim_rpa_picture_get_rgb (drawn, 70, 58), ==, 0xff0000);
  g_assert_cmphex (khadim_rpa_picture_get_rgb (drawn, 70, 59), ==, 0xffffff);
  g_assert_cmphex (khadim_rpa_picture_get_rgb (drawn, 70, 56), ==, 0xffffff);
  g_assert_cmphex (khadim_rpa_picture_get_rgb (drawn, 150, 100), ==, 0xff0000);
  g_assert_cmphex (khadim_rpa_picture_get_rgb (drawn, 199, 149), ==,
                   khadim_rpa_picture_get_rgb (a, 199, 149));
  for (int y = 40; y < 56; y++)
    for (int x = 46; x < 66; x++)
      n_label += khadim_rpa_picture_get_rgb (drawn, x, y) == 0xffffff;
  g_assert_cmpuint (n_label, >, 30);

  far = khadim_rpa_picture_draw (a, &outside, 1);
  g_assert_true (khadim_rpa_picture_equal (a, far));
}

static gpointer
use_picture (gpointer data)
{
  KhadimRpaPicture *picture = data;

  for (int i = 0; i < 2000; i++)
    {
      g_autoptr(KhadimRpaPicture) part =
        khadim_rpa_picture_crop (picture, &(KhadimRpaRect) { i % 10, 0, 10, 10 }, NULL);

      g_assert_cmpint (khadim_rpa_picture_get_width (part), ==, 10);
    }

  return NULL;
}

static void
test_threads (void)
{
  KhadimRpaPicture *picture = random_picture (64, 48, 13);
  GThread *threads[4];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("picture", use_picture, picture);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  khadim_rpa_picture_unref (picture);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/rpa/picture/new", test_new);
  g_test_add_func ("/rpa/picture/new-refused", test_new_refused);
  g_test_add_func ("/rpa/picture/crop", test_crop);
  g_test_add_func ("/rpa/picture/crop-refused", test_crop_refused);
  g_test_add_func ("/rpa/picture/png-write", test_png_write);
  g_test_add_func ("/rpa/picture/png-kinds", test_png_kinds);
  g_test_add_func ("/rpa/picture/png-alpha", test_png_alpha);
  g_test_add_func ("/rpa/picture/png-truncated", test_png_truncated);
  g_test_add_func ("/rpa/picture/png-damaged", test_png_damaged);
  g_test_add_func ("/rpa/picture/png-bomb", test_png_bomb);
  g_test_add_func ("/rpa/picture/png-too-long", test_png_too_long);
  g_test_add_func ("/rpa/picture/jpeg", test_jpeg);
  g_test_add_func ("/rpa/picture/files", test_files);
  g_test_add_func ("/rpa/picture/equal", test_equal);
  g_test_add_func ("/rpa/picture/diff", test_diff);
  g_test_add_func ("/rpa/picture/diff-many", test_diff_many);
  g_test_add_func ("/rpa/picture/resize", test_resize);
  g_test_add_func ("/rpa/picture/stats", test_stats);
  g_test_add_func ("/rpa/picture/draw", test_draw);
  g_test_add_func ("/rpa/picture/threads", test_threads);

  return g_test_run ();
}
