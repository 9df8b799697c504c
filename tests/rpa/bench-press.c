/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <glib/gstdio.h>
#include <string.h>

#include "engine/json/khadim-json.h"
#include "engine/tool/khadim-tool-call-private.h"
#include "engine/tool/khadim-tool-result.h"
#include "engine/tool/khadim-toolbox.h"
#include "rpa/find/khadim-rpa-picture.h"
#include "rpa/tools/khadim-rpa-register.h"
#include "tests/rpa/lib/desk.h"

/* Time from a window becoming visible to the press in it, as the window's own
 * client sees both, while screen.click waits for a picture in it. */
#define ROUNDS 40
#define WIDTH 320
#define HEIGHT 160
#define CROP 64
#define LIMIT_US (20 * G_USEC_PER_SEC)

typedef struct
{
  Display *x;
  Window window;
  KhadimToolDomain *domain;
  char *folder;
  gboolean done;
} Bench;

static void
on_run_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  Bench *self = user_data;
  g_autoptr(KhadimToolResult) answer =
    khadim_tool_domain_run_finish (KHADIM_TOOL_DOMAIN (object), result);

  if (khadim_tool_result_is_failure (answer))
    g_error ("The click failed: %s", khadim_tool_result_get_message (answer));
  self->done = TRUE;
}

static void
start_click (Bench *self)
{
  g_autoptr(JsonNode) args = khadim_json_parse (
    "{\"target\":{\"image\":{\"file\":\"crop.png\",\"hot\":[32,32]}},\"count\":1}", -1, NULL, NULL);
  KhadimToolCallSpec spec = {
    .id = "bench", .session_id = "01234567-89ab-7cde-8f01-23456789abcd", .tool = "screen.click",
    .args = args, .assets_dir = self->folder, .work_dir = self->folder,
  };
  g_autoptr(KhadimToolCall) call = _khadim_tool_call_new (&spec);

  self->done = FALSE;
  khadim_tool_domain_run_async (self->domain, call, NULL, on_run_cb, self);
}

/* Blocks of colour that no other window has. */
static void
paint (guint32 *pixels,
       guint32  seed)
{
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++)
      pixels[y * WIDTH + x] = ((guint32) (x / 8 * 73856093) ^ (guint32) (y / 8 * 19349663) ^ seed) &
                              0xffffff;
}

static void
save_crop (Bench   *self,
           guint32 *pixels)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_build_filename (self->folder, "crop.png", NULL);
  g_autoptr(KhadimRpaPicture) picture =
    khadim_rpa_picture_new ((guint8 *) (pixels + 48 * WIDTH + 96), CROP, CROP, WIDTH * 4, &error);

  if (picture == NULL || !khadim_rpa_picture_save_png (picture, path, &error))
    g_error ("%s", error->message);
}

static void
make_window (Bench   *self,
             guint32 *pixels)
{
  int screen = DefaultScreen (self->x);
  Pixmap pixmap;
  XImage *image;

  self->window = XCreateSimpleWindow (self->x, DefaultRootWindow (self->x), 0, 0, WIDTH, HEIGHT, 0,
                                      0, 0);
  pixmap = XCreatePixmap (self->x, self->window, WIDTH, HEIGHT,
                          (guint) DefaultDepth (self->x, screen));
  image = XCreateImage (self->x, DefaultVisual (self->x, screen),
                        (guint) DefaultDepth (self->x, screen), ZPixmap, 0, (char *) pixels, WIDTH,
                        HEIGHT, 32, WIDTH * 4);
  XPutImage (self->x, pixmap, DefaultGC (self->x, screen), image, 0, 0, 0, 0, WIDTH, HEIGHT);
  image->data = NULL;
  XDestroyImage (image);
  XSetWindowBackgroundPixmap (self->x, self->window, pixmap);
  XFreePixmap (self->x, pixmap);
  XSelectInput (self->x, self->window, ButtonPressMask | ExposureMask);
}

/* The time of the first event of @type, which is waited for. */
static gint64
wait_event (Bench *self,
            int    type)
{
  gint64 limit_us = g_get_monotonic_time () + LIMIT_US;
  XEvent event;

  while (!XCheckTypedEvent (self->x, type, &event))
    {
      if (g_get_monotonic_time () > limit_us)
        g_error ("No event of type %d", type);
      g_main_context_iteration (NULL, FALSE);
      g_thread_yield ();
    }

  return g_get_monotonic_time ();
}

static double
run_round (Bench *self,
           GRand *random)
{
  g_autofree guint32 *pixels = g_new (guint32, WIDTH * HEIGHT);
  gint64 until_us, shown_us, pressed_us;

  paint (pixels, (guint32) g_rand_int (random));
  save_crop (self, pixels);
  make_window (self, pixels);
  start_click (self);
  /* The click looks for a while before there is anything to find, and long
   * enough after the one before not to be kept apart from it. */
  until_us = g_get_monotonic_time () + g_rand_int_range (random, 650000, 900000);
  while (g_get_monotonic_time () < until_us)
    g_main_context_iteration (NULL, FALSE);
  XMapWindow (self->x, self->window);
  XFlush (self->x);
  shown_us = wait_event (self, Expose);
  pressed_us = wait_event (self, ButtonPress);
  while (!self->done)
    g_main_context_iteration (NULL, TRUE);
  XDestroyWindow (self->x, self->window);
  XSync (self->x, True);

  return (double) (pressed_us - shown_us) / 1000;
}

static int
compare (gconstpointer a,
         gconstpointer b)
{
  double first = *(const double *) a, second = *(const double *) b;

  return first < second ? -1 : first > second;
}

int
main (int    argc,
      char **argv)
{
  g_autoptr(Desk) desk = desk_new ("openbox", 1920, 1080);
  g_autoptr(KhadimToolbox) toolbox = khadim_toolbox_new ();
  g_autoptr(GRand) random = g_rand_new_with_seed (1);
  g_autoptr(GError) error = NULL;
  Bench bench = { .x = XOpenDisplay (NULL) };
  double times[ROUNDS];

  bench.folder = g_dir_make_tmp ("khadim-press-XXXXXX", &error);
  if (bench.x == NULL || bench.folder == NULL || !khadim_rpa_register (toolbox, &error) ||
      khadim_toolbox_lookup (toolbox, "screen.click", &bench.domain, NULL, &error) == NULL)
    g_error ("%s", error != NULL ? error->message : "no display");
  for (int i = 0; i < ROUNDS; i++)
    times[i] = run_round (&bench, random);
  qsort (times, ROUNDS, sizeof *times, compare);
  g_print ("{\"rounds\":%d,\"p50_ms\":%.1f,\"p95_ms\":%.1f,\"max_ms\":%.1f}\n", ROUNDS,
           times[ROUNDS / 2], times[ROUNDS * 95 / 100], times[ROUNDS - 1]);
  g_object_unref (bench.domain);
  XCloseDisplay (bench.x);

  return 0;
}
