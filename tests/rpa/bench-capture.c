/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <X11/Xlib.h>

#include "rpa/screen/khadim-rpa-capture.h"
#include "tests/rpa/lib/desk.h"

/* Pictures of a whole screen a second: through shared memory, through the
 * connection, and by ImageMagick's import, in turns on the same server in the
 * same run. */

#define WIDTH  1920
#define HEIGHT 1080
#define ROUNDS 5

typedef void (*BenchFunc) (gpointer user_data);

static KhadimRpaCapture *capture;
static char *path;

static void
take (gpointer user_data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimRpaPicture) picture =
    khadim_rpa_capture_take (capture, NULL, GPOINTER_TO_UINT (user_data), &error);

  g_assert_no_error (error);
}

static void
take_small (gpointer user_data)
{
  const KhadimRpaRect region = { 500, 400, 200, 100 };
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimRpaPicture) picture =
    khadim_rpa_capture_take (capture, &region, KHADIM_RPA_CAPTURE_NONE, &error);

  g_assert_no_error (error);
}

static void
take_and_write (gpointer user_data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimRpaPicture) picture =
    khadim_rpa_capture_take (capture, NULL, KHADIM_RPA_CAPTURE_NONE, &error);

  g_assert_true (khadim_rpa_picture_save_png (picture, path, &error));
}

static void
run_import (gpointer user_data)
{
  g_autofree char *output = desk_run ("import", "-window", "root", path, NULL);
}

static double
measure_ms (BenchFunc func,
            gpointer  user_data,
            int       n)
{
  gint64 start_us = g_get_monotonic_time ();

  for (int i = 0; i < n; i++)
    func (user_data);

  return (double) (g_get_monotonic_time () - start_us) / 1000.0 / n;
}

/* Something to compress. */
static void
paint (void)
{
  Display *x = XOpenDisplay (NULL);

  g_assert_nonnull (x);
  for (int i = 0; i < 500; i++)
    {
      XSetForeground (x, DefaultGC (x, 0), (unsigned long) i * 0x010307);
      XFillRectangle (x, DefaultRootWindow (x), DefaultGC (x, 0), (i * 97) % WIDTH,
                      (i * 61) % HEIGHT, 120, 30);
    }
  XSync (x, False);
  XCloseDisplay (x);
}

int
main (void)
{
  static const struct { const char *name; BenchFunc func; guint flags; int n; } all[] = {
    { "shm", take, KHADIM_RPA_CAPTURE_NONE, 50 },
    { "xgetimage", take, KHADIM_RPA_CAPTURE_NO_SHM, 3 },
    { "shm_200x100", take_small, 0, 500 },
    { "shm_png_file", take_and_write, 0, 5 },
    { "import_png_file", run_import, 0, 2 },
  };
  g_autoptr(Desk) desk = desk_new (NULL, WIDTH, HEIGHT);
  g_autoptr(KhadimRpaDisplay) display = khadim_rpa_display_new (NULL, NULL);
  double best[G_N_ELEMENTS (all)];

  path = g_build_filename (desk_home (desk), "picture.png", NULL);
  capture = khadim_rpa_capture_new (display, NULL);
  paint ();
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    best[i] = G_MAXDOUBLE;
  for (int round = 0; round < ROUNDS; round++)
    for (guint i = 0; i < G_N_ELEMENTS (all); i++)
      best[i] = MIN (best[i], measure_ms (all[i].func, GUINT_TO_POINTER (all[i].flags), all[i].n));

  g_print ("{\"benchmark\": \"capture\", \"width\": %d, \"height\": %d, \"rounds\": %d", WIDTH,
           HEIGHT, ROUNDS);
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    g_print (", \"%s_ms\": %.3f", all[i].name, best[i]);
  g_print (", \"shm_per_second\": %.0f, \"xgetimage_over_shm\": %.1f, "
           "\"import_over_shm_png\": %.1f}\n",
           1000.0 / best[0], best[1] / best[0], best[4] / best[3]);
  g_object_unref (capture);
  g_free (path);

  return 0;
}
