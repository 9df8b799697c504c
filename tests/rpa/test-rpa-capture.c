/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <string.h>
#include <unistd.h>

#include <X11/Xlib.h>
#include <X11/extensions/XTest.h>
#include <glib/gstdio.h>

#include "rpa/screen/khadim-rpa-capture.h"
#include "rpa/screen/khadim-rpa-error.h"
#include "tests/rpa/lib/desk.h"

#define WIDTH      1024
#define HEIGHT     768
#define TIMEOUT_MS 5000

static Desk *desk;
static Display *other; /* another client, which draws */
static Window canvas;
static KhadimRpaDisplay *display;
static KhadimRpaCapture *capture;

static void
fill (int           x,
      int           y,
      int           width,
      int           height,
      unsigned long rgb)
{
  XSetForeground (other, DefaultGC (other, DefaultScreen (other)), rgb);
  XFillRectangle (other, canvas, DefaultGC (other, DefaultScreen (other)), x, y, width, height);
  XSync (other, False);
}

/* A window over the whole screen that no window manager touches. */
static void
open_canvas (void)
{
  XSetWindowAttributes attributes = { .override_redirect = True };

  other = XOpenDisplay (NULL);
  g_assert_nonnull (other);
  canvas = XCreateWindow (other, DefaultRootWindow (other), 0, 0, WIDTH, HEIGHT, 0, CopyFromParent,
                          InputOutput, CopyFromParent, CWOverrideRedirect, &attributes);
  XMapRaised (other, canvas);
  XTestFakeMotionEvent (other, -1, WIDTH - 1, HEIGHT - 1, CurrentTime);
  XSync (other, False);
  fill (0, 0, WIDTH, HEIGHT, 0x204060);
  for (int i = 0; i < 200; i++)
    fill (i * 5, (i * 37) % HEIGHT, 90, 40, (unsigned long) i * 0x030507);
}

static KhadimRpaPicture *
take (const KhadimRpaRect    *region,
      KhadimRpaCaptureFlags   flags)
{
  g_autoptr(GError) error = NULL;
  KhadimRpaPicture *picture = khadim_rpa_capture_take (capture, region, flags, &error);

  g_assert_no_error (error);

  return picture;
}

/* ImageMagick sees the same screen. */
static void
test_full (void)
{
  g_autofree char *path = g_build_filename (desk_home (desk), "oracle.png", NULL);
  g_autoptr(KhadimRpaPicture) picture = take (NULL, KHADIM_RPA_CAPTURE_NONE);
  g_autoptr(KhadimRpaPicture) plain = take (NULL, KHADIM_RPA_CAPTURE_NO_SHM);
  g_autoptr(KhadimRpaPicture) oracle = NULL;
  g_autofree char *output = desk_run ("import", "-window", "root", path, NULL);
  g_autoptr(GError) error = NULL;

  g_assert_true (khadim_rpa_capture_uses_shm (capture));
  oracle = khadim_rpa_picture_load (path, &error);
  g_assert_no_error (error);
  g_assert_cmpint (khadim_rpa_picture_get_width (picture), ==, WIDTH);
  g_assert_cmpint (khadim_rpa_picture_get_height (picture), ==, HEIGHT);
  g_assert_true (khadim_rpa_picture_equal (picture, oracle));
  g_assert_true (khadim_rpa_picture_equal (plain, oracle));

  fill (500, 300, 1, 1, 0xfedcba);
  g_clear_pointer (&picture, khadim_rpa_picture_unref);
  picture = take (NULL, KHADIM_RPA_CAPTURE_NONE);
  g_assert_false (khadim_rpa_picture_equal (picture, oracle));
  g_assert_cmphex (khadim_rpa_picture_get_rgb (picture, 500, 300), ==, 0xfedcba);
}

static void
test_region (void)
{
  const KhadimRpaRect middle = { 301, 203, 77, 55 };
  const KhadimRpaRect corner = { WIDTH - 10, HEIGHT - 20, 100, 100 };
  const KhadimRpaRect outside = { WIDTH, 0, 10, 10 };
  const KhadimRpaRect empty = { 5, 5, 0, 10 };
  g_autoptr(KhadimRpaPicture) full = take (NULL, KHADIM_RPA_CAPTURE_NONE);
  g_autoptr(KhadimRpaPicture) crop = khadim_rpa_picture_crop (full, &middle, NULL);
  g_autoptr(KhadimRpaPicture) part = take (&middle, KHADIM_RPA_CAPTURE_NONE);
  g_autoptr(KhadimRpaPicture) plain = take (&middle, KHADIM_RPA_CAPTURE_NO_SHM);
  g_autoptr(KhadimRpaPicture) clipped = take (&corner, KHADIM_RPA_CAPTURE_NONE);
  g_autoptr(GError) error = NULL;

  g_assert_true (khadim_rpa_picture_equal (part, crop));
  g_assert_true (khadim_rpa_picture_equal (plain, crop));
  g_assert_cmpint (khadim_rpa_picture_get_origin_x (part), ==, 301);
  g_assert_cmpint (khadim_rpa_picture_get_origin_y (part), ==, 203);
  g_assert_cmpint (khadim_rpa_picture_get_width (clipped), ==, 10);
  g_assert_cmpint (khadim_rpa_picture_get_height (clipped), ==, 20);

  g_assert_null (khadim_rpa_capture_take (capture, &outside, KHADIM_RPA_CAPTURE_NONE, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (khadim_rpa_capture_take (capture, &empty, KHADIM_RPA_CAPTURE_NONE, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
}

static void
test_changed (void)
{
  const KhadimRpaRect around = { 390, 290, 60, 60 };
  const KhadimRpaRect elsewhere = { 0, 0, 100, 100 };
  g_autoptr(KhadimRpaPicture) before = take (NULL, KHADIM_RPA_CAPTURE_NONE);
  guint64 serial = khadim_rpa_picture_get_serial (before);
  g_autoptr(KhadimRpaPicture) after = NULL;
  KhadimRpaRect changed = { 0 };
  g_autoptr(GError) error = NULL;

  g_assert_true (khadim_rpa_capture_has_damage (capture));
  g_assert_false (khadim_rpa_capture_changed_since (capture, serial, NULL, NULL));
  fill (400, 300, 20, 10, 0xffffff);
  fill (430, 330, 5, 5, 0xffffff);
  g_assert_true (
    khadim_rpa_capture_wait_changed (capture, serial, &around, TIMEOUT_MS, NULL, &error));
  g_assert_no_error (error);
  after = take (NULL, KHADIM_RPA_CAPTURE_NONE);
  g_assert_true (khadim_rpa_capture_changed_since (capture, serial, NULL, &changed));
  g_assert_cmpint (changed.x, ==, 400);
  g_assert_cmpint (changed.y, ==, 300);
  g_assert_cmpint (changed.width, ==, 35);
  g_assert_cmpint (changed.height, ==, 35);
  g_assert_false (khadim_rpa_capture_changed_since (capture, serial, &elsewhere, NULL));
  g_assert_false (khadim_rpa_capture_changed_since (
    capture, khadim_rpa_picture_get_serial (after), NULL, NULL));

  g_assert_false (
    khadim_rpa_capture_wait_changed (capture, serial, &elsewhere, 50, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT);
}

/* However much is drawn, what was drawn is known. */
static void
test_much_damage (void)
{
  const KhadimRpaRect first = { 10, 10, 4, 4 };
  g_autoptr(KhadimRpaPicture) before = take (NULL, KHADIM_RPA_CAPTURE_NONE);
  g_autoptr(KhadimRpaPicture) after = NULL;
  KhadimRpaRect changed = { 0 };

  fill (10, 10, 4, 4, 0x112233);
  for (int i = 0; i < 1000; i++)
    fill (300 + (i * 7) % 500, 300 + (i * 13) % 400, 2, 2, (unsigned long) i);
  after = take (NULL, KHADIM_RPA_CAPTURE_NONE);
  g_assert_true (khadim_rpa_capture_changed_since (
    capture, khadim_rpa_picture_get_serial (before), &first, &changed));
  g_assert_cmpint (changed.x, ==, 10);
  g_assert_cmpint (changed.width, ==, 4);
}

static gpointer
draw_often (gpointer user_data)
{
  gint *stop = user_data;

  for (unsigned long i = 0; !g_atomic_int_get (stop); i++)
    fill (600, 600, 10, 10, i * 0x010101);

  return NULL;
}

static void
test_still (void)
{
  const KhadimRpaRect busy = { 590, 590, 40, 40 };
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  gint stop = FALSE;
  GThread *thread = g_thread_new ("draws", draw_often, &stop);
  g_autoptr(KhadimRpaPicture) before = NULL;
  guint64 serial;

  g_assert_false (khadim_rpa_capture_wait_still (capture, &busy, 1000, 1200, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT);
  g_clear_error (&error);
  /* Events without end do not keep others from their turn. */
  for (int i = 0; i < 20; i++)
    khadim_rpa_picture_unref (take (&busy, KHADIM_RPA_CAPTURE_NONE));
  g_atomic_int_set (&stop, TRUE);
  g_thread_join (thread);
  g_assert_true (khadim_rpa_capture_wait_still (capture, &busy, 100, TIMEOUT_MS, NULL, &error));
  g_assert_no_error (error);
  before = take (&busy, KHADIM_RPA_CAPTURE_NONE);
  serial = khadim_rpa_picture_get_serial (before);
  g_assert_false (khadim_rpa_capture_changed_since (capture, serial, &busy, NULL));

  g_cancellable_cancel (cancellable);
  g_assert_false (
    khadim_rpa_capture_wait_changed (capture, serial, &busy, TIMEOUT_MS, cancellable, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED);
}

static void
test_cursor (void)
{
  const KhadimRpaRect far = { 0, 0, 150, 150 };
  g_autoptr(KhadimRpaPicture) without = NULL;
  g_autoptr(KhadimRpaPicture) with = NULL;
  KhadimRpaPictureDiff diff;

  XTestFakeMotionEvent (other, -1, 300, 300, CurrentTime);
  XSync (other, False);
  without = take (NULL, KHADIM_RPA_CAPTURE_NONE);
  with = take (NULL, KHADIM_RPA_CAPTURE_CURSOR);
  g_assert_true (khadim_rpa_picture_diff (without, with, 0, &diff, NULL));
  g_assert_cmpuint (diff.changed_pixels, >, 20);
  g_assert_cmpint (diff.bounds.x, >, 300 - 64);
  g_assert_cmpint (diff.bounds.x + diff.bounds.width, <, 300 + 64);
  g_assert_cmpint (diff.bounds.y, >, 300 - 64);
  g_assert_true (khadim_rpa_picture_equal_region (without, with, &far));
  XTestFakeMotionEvent (other, -1, WIDTH - 1, HEIGHT - 1, CurrentTime);
  XSync (other, False);
}

/* A segment that outlives both sides would stay until the next boot. */
static void
test_no_leak (void)
{
  g_autoptr(KhadimRpaPicture) picture = take (NULL, KHADIM_RPA_CAPTURE_NONE);
  g_autofree char *contents = NULL;
  g_auto(GStrv) lines = NULL;
  int found = 0;

  g_assert_true (g_file_get_contents ("/proc/sysvipc/shm", &contents, NULL, NULL));
  lines = g_strsplit (contents, "\n", -1);
  for (guint i = 1; lines[i] != NULL; i++)
    {
      int key, id, creator;
      unsigned int mode;
      unsigned long size;

      if (sscanf (lines[i], "%d %d %o %lu %d", &key, &id, &mode, &size, &creator) != 5
          || creator != getpid ())
        continue;
      found++;
      g_assert_cmphex (mode & 01000, ==, 01000); /* SHM_DEST */
    }
  g_assert_cmpint (found, ==, 1);
}

static void
test_resize (void)
{
  g_autofree char *made =
    desk_run ("xrandr", "--newmode", "800x600", "40", "800", "840", "968", "1056", "600", "601",
              "605", "628", NULL);
  g_autofree char *added = desk_run ("xrandr", "--addmode", "screen", "800x600", NULL);
  g_autofree char *set = desk_run ("xrandr", "--output", "screen", "--mode", "800x600", NULL);
  g_autoptr(KhadimRpaPicture) picture = take (NULL, KHADIM_RPA_CAPTURE_NONE);
  g_autofree char *back = NULL;
  g_autofree char *mode = g_strdup_printf ("%dx%d", WIDTH, HEIGHT);
  g_autoptr(KhadimRpaPicture) again = NULL;
  g_autoptr(GError) error = NULL;
  int width = 0;
  int height = 0;

  g_assert_cmpint (khadim_rpa_picture_get_width (picture), ==, 800);
  g_assert_cmpint (khadim_rpa_picture_get_height (picture), ==, 600);
  g_assert_true (khadim_rpa_capture_get_size (capture, &width, &height, &error));
  g_assert_no_error (error);
  g_assert_cmpint (width, ==, 800);
  back = desk_run ("xrandr", "--output", "screen", "--mode", mode, NULL);
  again = take (NULL, KHADIM_RPA_CAPTURE_NONE);
  g_assert_cmpint (khadim_rpa_picture_get_width (again), ==, WIDTH);
}

static void
test_no_display (void)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (khadim_rpa_display_new (":9999", &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LOST);
}

static gpointer
wait_for_nothing (gpointer user_data)
{
  GError *error = NULL;

  khadim_rpa_capture_wait_changed (capture, G_MAXUINT64, NULL, 60000, NULL, &error);

  return error;
}

/* The last one: the server is gone after it. Xlib would end the process. */
static void
test_lost (void)
{
  GThread *thread = g_thread_new ("waits", wait_for_nothing, NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(GError) waited = NULL;

  XCloseDisplay (other);
  desk_stop_server (desk);
  waited = g_thread_join (thread);
  g_assert_error (waited, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LOST);
  g_assert_null (khadim_rpa_capture_take (capture, NULL, KHADIM_RPA_CAPTURE_NONE, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LOST);
  g_assert_true (khadim_rpa_display_is_lost (display));
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr(GError) error = NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  desk = desk_new (NULL, WIDTH, HEIGHT);
  open_canvas ();
  display = khadim_rpa_display_new (NULL, &error);
  g_assert_no_error (error);
  capture = khadim_rpa_capture_new (display, &error);
  g_assert_no_error (error);

  g_test_add_func ("/rpa/capture/full", test_full);
  g_test_add_func ("/rpa/capture/region", test_region);
  g_test_add_func ("/rpa/capture/changed", test_changed);
  g_test_add_func ("/rpa/capture/much-damage", test_much_damage);
  g_test_add_func ("/rpa/capture/still", test_still);
  g_test_add_func ("/rpa/capture/cursor", test_cursor);
  g_test_add_func ("/rpa/capture/no-leak", test_no_leak);
  g_test_add_func ("/rpa/capture/resize", test_resize);
  g_test_add_func ("/rpa/capture/no-display", test_no_display);
  g_test_add_func ("/rpa/capture/lost", test_lost);
  result = g_test_run ();

  g_object_unref (capture);
  g_object_unref (display);
  desk_free (desk);

  return result;
}
