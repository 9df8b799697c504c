/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-matcher"

#include "config.h"

#include "rpa/find/khadim-rpa-matcher.h"

#include <math.h>
#include <string.h>

#include "rpa/screen/khadim-rpa-error.h"

#include "tests/rpa/lib/test-scene.h"

/*
 * The oracle: zero-mean normalised cross-correlation at every position by its
 * definition, in double precision, on grey values of its own.
 */
typedef struct
{
  int     width, height; /* of the positions */
  double *scores;
} Oracle;

static double *
oracle_grey (const KhadimRpaPicture *picture)
{
  int width = khadim_rpa_picture_get_width (picture);
  int height = khadim_rpa_picture_get_height (picture);
  double *grey = g_new (double, (gsize) width * (gsize) height);

  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      {
        guint32 rgb = khadim_rpa_picture_get_rgb (picture, x, y);

        grey[y * width + x] = floor ((9798.0 * (rgb >> 16) + 19235.0 * (rgb >> 8 & 255)
                                      + 3735.0 * (rgb & 255) + 16384.0) / 32768.0);
      }

  return grey;
}

static double
oracle_score (const double *screen,
              int           stride,
              const double *templ,
              int           w,
              int           h)
{
  double mean_s = 0, mean_t = 0, product = 0, energy_s = 0, energy_t = 0;

  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      {
        mean_s += screen[y * stride + x];
        mean_t += templ[y * w + x];
      }
  mean_s /= w * h;
  mean_t /= w * h;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      {
        double s = screen[y * stride + x] - mean_s, t = templ[y * w + x] - mean_t;

        product += s * t;
        energy_s += s * s;
        energy_t += t * t;
      }

  return energy_s < 1e-6 || energy_t < 1e-6 ? 0.0 : product / sqrt (energy_s * energy_t);
}

static Oracle
oracle_new (const KhadimRpaPicture *screen,
            const KhadimRpaPicture *templ)
{
  g_autofree double *s = oracle_grey (screen), *t = oracle_grey (templ);
  int stride = khadim_rpa_picture_get_width (screen);
  int w = khadim_rpa_picture_get_width (templ), h = khadim_rpa_picture_get_height (templ);
  Oracle self = { stride - w + 1, khadim_rpa_picture_get_height (screen) - h + 1, NULL };

  self.scores = g_new (double, (gsize) self.width * (gsize) self.height);
  for (int y = 0; y < self.height; y++)
    for (int x = 0; x < self.width; x++)
      self.scores[y * self.width + x] = oracle_score (s + y * stride + x, stride, t, w, h);

  return self;
}

static double
oracle_best (const Oracle *self)
{
  double best = -2.0;

  for (int i = 0; i < self->width * self->height; i++)
    best = MAX (best, self->scores[i]);

  return best;
}

static gboolean
is_covered (const KhadimRpaMatches *found,
            int                     x,
            int                     y)
{
  for (guint i = 0; i < found->n_matches; i++)
    {
      const KhadimRpaRect *box = &found->matches[i].box;

      if (2 * ABS (box->x - x) < 2 * box->width && 2 * ABS (box->y - y) < 2 * box->height)
        return TRUE;
    }

  return FALSE;
}

/* What was found is what the oracle finds: the best score and a place that has
 * it, the score of every place, and no place above the similarity is left out. */
static void
check_with_oracle (const Oracle           *oracle,
                   const KhadimRpaMatches *found,
                   double                  similarity,
                   gboolean                complete)
{
  double best = oracle_best (oracle);

  if (best < similarity - 1e-9)
    g_assert_cmpuint (found->n_matches, ==, 0);
  if (best > similarity + 1e-9)
    {
      g_assert_cmpuint (found->n_matches, >, 0);
      g_assert_cmpfloat_with_epsilon (found->matches[0].score, best, 1e-9);
    }

  for (guint i = 0; i < found->n_matches; i++)
    {
      const KhadimRpaMatch *match = &found->matches[i];
      double there = oracle->scores[match->box.y * oracle->width + match->box.x];

      g_assert_cmpfloat_with_epsilon (match->score, there, 1e-9);
      g_assert_true (i == 0 || match->score <= found->matches[i - 1].score);
    }

  for (int i = 0; complete && i < oracle->width * oracle->height; i++)
    if (oracle->scores[i] > similarity + 1e-9)
      g_assert_true (is_covered (found, i % oracle->width, i / oracle->width));
}

static KhadimRpaMatches *
find (KhadimRpaPicture            *screen,
      KhadimRpaPicture            *templ,
      const KhadimRpaMatchOptions *options)
{
  g_autoptr(KhadimRpaMatcher) matcher = khadim_rpa_matcher_new (screen);
  g_autoptr(GError) error = NULL;
  KhadimRpaMatches *found = khadim_rpa_matcher_find (matcher, templ, options, NULL, &error);

  g_assert_no_error (error);

  return found;
}

static KhadimRpaPicture *
crop (KhadimRpaPicture *picture,
      int               x,
      int               y,
      int               width,
      int               height)
{
  g_autoptr(GError) error = NULL;
  KhadimRpaPicture *part = khadim_rpa_picture_crop (
    picture, &(KhadimRpaRect) { x, y, width, height }, &error);

  g_assert_no_error (error);
  g_assert_cmpint (khadim_rpa_picture_get_width (part), ==, width);

  return part;
}

/* Only crops with some texture: OpenCV and the definition have no answer else. */
static KhadimRpaPicture *
random_crop (KhadimRpaPicture *screen,
             GRand            *rand,
             int               least,
             int               most)
{
  for (;;)
    {
      int w = g_rand_int_range (rand, least, most + 1);
      int h = g_rand_int_range (rand, least, most + 1);
      int x = g_rand_int_range (rand, 0, khadim_rpa_picture_get_width (screen) - w);
      int y = g_rand_int_range (rand, 0, khadim_rpa_picture_get_height (screen) - h);
      KhadimRpaRect rect = { x, y, w, h };
      double variance;

      khadim_rpa_picture_get_stats (screen, &rect, NULL, &variance);
      if (variance > 0.5)
        return crop (screen, x, y, w, h);
    }
}

static KhadimRpaPicture *
small_desktop (guint32        seed,
               TestSceneTheme theme)
{
  g_autoptr(KhadimRpaPicture) whole = test_scene_desktop (700, 480, seed, theme);

  return crop (whole, 10, 10, 330, 250);
}

static void
check_random_crops (int    n,
                    int    least,
                    int    most,
                    double sigma,
                    double similarity)
{
  g_autoptr(KhadimRpaPicture) screen = small_desktop (1, TEST_SCENE_LIGHT);
  g_autoptr(KhadimRpaMatcher) matcher = khadim_rpa_matcher_new (screen);
  GRand *rand = g_rand_new_with_seed (99);

  for (int i = 0; i < n; i++)
    {
      g_autoptr(KhadimRpaPicture) part = random_crop (screen, rand, least, most);
      g_autoptr(KhadimRpaPicture) templ = sigma > 0.0 ? test_scene_noise (part, rand, sigma)
                                                      : khadim_rpa_picture_ref (part);
      KhadimRpaMatchOptions options = KHADIM_RPA_MATCH_OPTIONS_INIT;
      g_autoptr(KhadimRpaMatches) found = NULL;
      g_autoptr(GError) error = NULL;
      Oracle oracle = oracle_new (screen, templ);

      options.similarity = similarity;
      options.colour_tolerance = -1.0;
      options.max_matches = KHADIM_RPA_MATCH_MAX_MATCHES;
      found = khadim_rpa_matcher_find (matcher, templ, &options, NULL, &error);
      g_assert_no_error (error);
      check_with_oracle (&oracle, found, similarity,
                         found->n_matches < KHADIM_RPA_MATCH_MAX_MATCHES);
      g_free (oracle.scores);
    }
  g_rand_free (rand);
}

static void
test_oracle_small (void)
{
  check_random_crops (30, 8, 12, 0.0, 0.9);
}

static void
test_oracle_medium (void)
{
  check_random_crops (12, 13, 40, 0.0, 0.9);
}

static void
test_oracle_large (void)
{
  check_random_crops (4, 41, 90, 0.0, 0.8);
}

static void
test_oracle_noise (void)
{
  check_random_crops (10, 8, 32, 8.0, 0.7);
}

/* Templates of another screen: mostly absent. */
static void
test_oracle_absent (void)
{
  g_autoptr(KhadimRpaPicture) screen = small_desktop (1, TEST_SCENE_LIGHT);
  g_autoptr(KhadimRpaPicture) other = small_desktop (77, TEST_SCENE_DARK);
  KhadimRpaMatchOptions options = KHADIM_RPA_MATCH_OPTIONS_INIT;
  GRand *rand = g_rand_new_with_seed (5);
  guint n_absent = 0;

  options.colour_tolerance = -1.0;
  for (int i = 0; i < 12; i++)
    {
      g_autoptr(KhadimRpaPicture) templ = random_crop (other, rand, 14, 34);
      g_autoptr(KhadimRpaMatches) found = find (screen, templ, &options);
      Oracle oracle = oracle_new (screen, templ);

      check_with_oracle (&oracle, found, options.similarity, FALSE);
      if (found->n_matches == 0)
        {
          n_absent++;
          g_assert_cmpuint (found->n_nearest, >, 0);
          g_assert_cmpfloat (found->nearest[0].score, <, options.similarity);
          g_assert_cmpfloat (found->nearest[0].score, >, oracle_best (&oracle) - 0.25);
        }
      g_free (oracle.scores);
    }
  g_rand_free (rand);
  g_assert_cmpuint (n_absent, >=, 6);
}

/* Rows that differ in one digit: the right one is best, at 1. */
static void
test_near_duplicates (void)
{
  g_autoptr(KhadimRpaPicture) screen = test_scene_desktop (700, 480, 1, TEST_SCENE_LIGHT);

  for (int row = 0; row < 12; row++)
    {
      g_autoptr(KhadimRpaPicture) templ = crop (screen, 50, 100 + row * 22, 130, 20);
      g_autoptr(KhadimRpaMatches) found = find (screen, templ, NULL);

      g_assert_cmpuint (found->n_matches, >, 1);
      g_assert_cmpint (found->matches[0].box.x, ==, 50);
      g_assert_cmpint (found->matches[0].box.y, ==, 100 + row * 22);
      g_assert_cmpfloat (found->matches[0].score, >, 1.0 - 1e-9);
      g_assert_cmpfloat (found->matches[1].score, <, 1.0 - 1e-6);
    }
}

/* The only place where a template is and the same without it. */
static void
test_present_absent (void)
{
  g_autoptr(KhadimRpaPicture) ground = test_scene_text ("", "DejaVu Sans 10", 300, 200, 0,
                                                        0xf0f0f0);
  g_autoptr(KhadimRpaPicture) text = test_scene_text ("Invoice 17", "DejaVu Sans 10", 300, 200, 0,
                                                      0xf0f0f0);
  g_autoptr(KhadimRpaPicture) templ = crop (text, 5, 4, 80, 22);
  g_autoptr(KhadimRpaMatches) there = find (text, templ, NULL);
  g_autoptr(KhadimRpaMatches) not_there = find (ground, templ, NULL);

  g_assert_cmpuint (there->n_matches, ==, 1);
  g_assert_cmpint (there->matches[0].box.x, ==, 5);
  g_assert_cmpint (there->matches[0].box.y, ==, 4);
  g_assert_cmpint (there->matches[0].box.width, ==, 80);
  g_assert_cmpfloat_with_epsilon (there->matches[0].contrast, 1.0, 1e-9);
  g_assert_cmpuint (not_there->n_matches, ==, 0);
}

/* Two inks with the same grey value. */
static void
test_colour (void)
{
  const guint32 red = 0xdc3c3c, green = 0x3c7d50;
  g_autoptr(KhadimRpaPicture) red_text = test_scene_text ("Stop", "DejaVu Sans Bold 24", 140, 60,
                                                          0xffffff, red);
  g_autoptr(KhadimRpaPicture) green_text = test_scene_text ("Stop", "DejaVu Sans Bold 24", 140, 60,
                                                            0xffffff, green);
  g_autoptr(KhadimRpaPicture) templ = crop (red_text, 5, 5, 100, 45);
  g_autoptr(KhadimRpaMatches) same = find (red_text, templ, NULL);
  g_autoptr(KhadimRpaMatches) other = find (green_text, templ, NULL);
  g_autoptr(KhadimRpaMatches) any = NULL;
  KhadimRpaMatchOptions options = KHADIM_RPA_MATCH_OPTIONS_INIT;

  g_assert_cmpuint (same->n_matches, ==, 1);
  g_assert_cmpuint (other->n_matches, ==, 0);
  g_assert_cmpfloat (other->nearest[0].score, >, 0.9);
  g_assert_cmpfloat (other->nearest[0].colour_distance, >, 24.0);

  options.colour_tolerance = -1.0;
  any = find (green_text, templ, &options);
  g_assert_cmpuint (any->n_matches, ==, 1);
}

/* Greyed out: the correlation is the same, the contrast tells. */
static void
test_contrast (void)
{
  g_autoptr(KhadimRpaPicture) on = test_scene_text ("Apply", "DejaVu Sans 12", 120, 40, 0x000000,
                                                    0xf0f0f0);
  g_autoptr(KhadimRpaPicture) off = test_scene_text ("Apply", "DejaVu Sans 12", 120, 40, 0xb0b0b0,
                                                     0xf0f0f0);
  g_autoptr(KhadimRpaPicture) templ = crop (on, 4, 4, 60, 24);
  g_autoptr(KhadimRpaMatches) found = find (off, templ, NULL);

  g_assert_cmpuint (found->n_matches, ==, 1);
  g_assert_cmpfloat (found->matches[0].contrast, <, 0.4);
}

static KhadimRpaPicture *
flat_picture (int     width,
              int     height,
              guint32 rgb)
{
  return test_scene_text ("", "DejaVu Sans 10", width, height, rgb, rgb);
}

/* One colour: found where that colour is, and not where it is not. */
static void
test_flat (void)
{
  g_autoptr(KhadimRpaPicture) screen = test_scene_desktop (700, 480, 1, TEST_SCENE_LIGHT);
  g_autoptr(KhadimRpaPicture) bar = flat_picture (30, 20, 0x3380e6);
  g_autoptr(KhadimRpaPicture) same_grey = flat_picture (30, 20, 0x767676);
  g_autoptr(KhadimRpaPicture) other = flat_picture (30, 20, 0xd02090);
  g_autoptr(KhadimRpaMatches) in_bar = find (screen, bar, NULL);
  g_autoptr(KhadimRpaMatches) in_none = find (screen, other, NULL);
  g_autoptr(KhadimRpaMatches) in_grey = find (screen, same_grey, NULL);

  g_assert_cmpuint (in_bar->n_matches, >, 10);
  for (guint i = 0; i < in_bar->n_matches; i++)
    {
      const KhadimRpaRect *box = &in_bar->matches[i].box;

      g_assert_cmpint (box->y, >=, 18);
      g_assert_cmpint (box->y + box->height, <=, 52);
    }
  g_assert_cmpfloat (in_bar->matches[0].score, >, 0.98);
  g_assert_cmpuint (in_none->n_matches, ==, 0);
  g_assert_cmpuint (in_grey->n_matches, ==, 0);
}

/* A template whose corners are transparent, over a ground that has changed. */
static void
test_mask (void)
{
  g_autoptr(KhadimRpaPicture) light = test_scene_text ("@", "DejaVu Sans Bold 40", 200, 90,
                                                       0x202020, 0xf0f0f0);
  g_autoptr(KhadimRpaPicture) part = crop (light, 5, 10, 60, 60);
  g_autoptr(KhadimRpaPicture) changed_ground = test_scene_new_ground (light, 35, 40, 26);
  g_autoptr(KhadimRpaPicture) masked = test_scene_disc (part, 26);
  KhadimRpaMatchOptions options = KHADIM_RPA_MATCH_OPTIONS_INIT;
  g_autoptr(KhadimRpaMatches) with = NULL, without = NULL;

  options.similarity = 0.95;
  options.colour_tolerance = -1.0;
  with = find (changed_ground, masked, &options);
  without = find (changed_ground, part, &options);
  g_assert_cmpuint (with->n_matches, ==, 1);
  g_assert_cmpint (with->matches[0].box.x, ==, 5);
  g_assert_cmpint (with->matches[0].box.y, ==, 10);
  g_assert_cmpfloat (with->matches[0].score, >, 1.0 - 1e-9);
  g_assert_cmpuint (without->n_matches, ==, 0);
}

static void
test_mask_refused (void)
{
  g_autoptr(KhadimRpaPicture) light = test_scene_text ("@", "DejaVu Sans Bold 40", 200, 90,
                                                       0x202020, 0xf0f0f0);
  g_autoptr(KhadimRpaPicture) part = crop (light, 5, 10, 60, 60);
  g_autoptr(KhadimRpaPicture) dot = test_scene_disc (part, 1);
  g_autoptr(KhadimRpaPicture) blank = crop (light, 130, 5, 60, 60);
  g_autoptr(KhadimRpaPicture) flat = test_scene_disc (blank, 20);
  g_autoptr(KhadimRpaMatcher) matcher = khadim_rpa_matcher_new (light);
  g_autoptr(GError) error = NULL;

  g_assert_null (khadim_rpa_matcher_find (matcher, dot, NULL, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (khadim_rpa_matcher_find (matcher, flat, NULL, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED);
}

static void
test_scales (void)
{
  const double scales[] = { 0.8, 1.0, 1.25, 1.5, 2.0 };
  g_autoptr(KhadimRpaPicture) small = test_scene_text ("Export", "DejaVu Sans 12", 120, 40,
                                                       0x101010, 0xffffff);
  g_autoptr(KhadimRpaPicture) screen = NULL;
  g_autoptr(KhadimRpaPicture) templ = crop (small, 6, 6, 64, 22);
  KhadimRpaMatchOptions options = KHADIM_RPA_MATCH_OPTIONS_INIT;
  g_autoptr(KhadimRpaMatches) plain = NULL, scaled = NULL;
  g_autoptr(GError) error = NULL;

  screen = khadim_rpa_picture_resize (small, 180, 60, &error);
  g_assert_no_error (error);
  plain = find (screen, templ, &options);
  g_assert_cmpuint (plain->n_matches, ==, 0);

  options.scales = scales;
  options.n_scales = G_N_ELEMENTS (scales);
  scaled = find (screen, templ, &options);
  g_assert_cmpuint (scaled->n_matches, ==, 1);
  g_assert_cmpfloat (scaled->matches[0].scale, ==, 1.5);
  g_assert_cmpint (scaled->matches[0].box.width, ==, 96);
  g_assert_cmpint (ABS (scaled->matches[0].box.x - 9), <=, 1);
  g_assert_cmpint (ABS (scaled->matches[0].box.y - 9), <=, 1);
}

static void
test_region (void)
{
  g_autoptr(KhadimRpaPicture) screen = test_scene_desktop (1300, 700, 1, TEST_SCENE_LIGHT);
  g_autoptr(KhadimRpaPicture) ok = crop (screen, 20 + 510, 20 + 380, 96, 28);
  KhadimRpaMatchOptions options = KHADIM_RPA_MATCH_OPTIONS_INIT;
  g_autoptr(KhadimRpaMatches) all = NULL, right = NULL, tight = NULL, none = NULL, small = NULL;

  options.similarity = 0.99;
  all = find (screen, ok, &options);
  g_assert_cmpuint (all->n_matches, ==, 2);
  g_assert_cmpint (all->matches[0].box.x, ==, 530);
  g_assert_cmpint (all->matches[1].box.x, ==, 1170);

  options.region = (KhadimRpaRect) { 640, 0, 10000, 10000 };
  right = find (screen, ok, &options);
  g_assert_cmpuint (right->n_matches, ==, 1);
  g_assert_cmpint (right->matches[0].box.x, ==, 1170);

  options.region = (KhadimRpaRect) { 530, 400, 96, 28 };
  tight = find (screen, ok, &options);
  g_assert_cmpuint (tight->n_matches, ==, 1);

  options.region = (KhadimRpaRect) { 531, 400, 96, 28 };
  none = find (screen, ok, &options);
  g_assert_cmpuint (none->n_matches, ==, 0);

  options.region = (KhadimRpaRect) { 530, 400, 95, 28 };
  small = find (screen, ok, &options);
  g_assert_cmpuint (small->n_matches + small->n_nearest, ==, 0);
}

/* The first equal place is enough, and is the same that a full search lists
 * first. */
static void
test_first (void)
{
  g_autoptr(KhadimRpaPicture) screen = test_scene_desktop (1300, 1100, 1, TEST_SCENE_LIGHT);
  g_autoptr(KhadimRpaPicture) ok = crop (screen, 20 + 640 + 510, 20 + 380, 96, 28);
  KhadimRpaMatchOptions options = KHADIM_RPA_MATCH_OPTIONS_INIT;
  g_autoptr(KhadimRpaMatches) all = find (screen, ok, &options), first = NULL;

  options.max_matches = 1;
  first = find (screen, ok, &options);
  g_assert_cmpuint (all->n_matches, >=, 4);
  g_assert_cmpuint (first->n_matches, ==, 1);
  g_assert_cmpint (first->matches[0].box.x, ==, all->matches[0].box.x);
  g_assert_cmpint (first->matches[0].box.y, ==, all->matches[0].box.y);
  g_assert_cmpint (first->matches[0].box.x, ==, 530);
}

static void
test_threads (void)
{
  g_autoptr(KhadimRpaPicture) screen = test_scene_desktop (1300, 1100, 1, TEST_SCENE_LIGHT);
  GRand *rand = g_rand_new_with_seed (3);

  for (int i = 0; i < 6; i++)
    {
      g_autoptr(KhadimRpaPicture) templ = random_crop (screen, rand, 8, 60);
      KhadimRpaMatchOptions options = KHADIM_RPA_MATCH_OPTIONS_INIT;
      g_autoptr(KhadimRpaMatches) one = find (screen, templ, &options), four = NULL;

      options.n_threads = 4;
      four = find (screen, templ, &options);
      g_assert_cmpuint (one->n_matches, ==, four->n_matches);
      g_assert_cmpmem (one->matches, one->n_matches * sizeof *one->matches, four->matches,
                       four->n_matches * sizeof *four->matches);
    }
  g_rand_free (rand);
}

typedef struct
{
  KhadimRpaMatcher *matcher;
  KhadimRpaPicture *templ;
} Shared;

static gpointer
find_in_thread (gpointer data)
{
  Shared *shared = data;
  g_autoptr(GError) error = NULL;
  KhadimRpaMatches *found = khadim_rpa_matcher_find (shared->matcher, shared->templ, NULL, NULL,
                                                     &error);

  g_assert_no_error (error);

  return found;
}

/* Several searches on one matcher at once. */
static void
test_shared (void)
{
  g_autoptr(KhadimRpaPicture) screen = test_scene_desktop (700, 480, 1, TEST_SCENE_LIGHT);
  g_autoptr(KhadimRpaMatcher) matcher = khadim_rpa_matcher_new (screen);
  Shared shared[4];
  GThread *threads[4];

  for (int i = 0; i < 4; i++)
    {
      shared[i] = (Shared) { matcher, crop (screen, 60 + 9 * i, 100 + 22 * i, 20 + 13 * i, 18) };
      threads[i] = g_thread_new ("find", find_in_thread, &shared[i]);
    }
  for (int i = 0; i < 4; i++)
    {
      g_autoptr(KhadimRpaMatches) found = g_thread_join (threads[i]);

      g_assert_cmpuint (found->n_matches, >, 0);
      g_assert_cmpfloat (found->matches[0].score, >, 1.0 - 1e-9);
      khadim_rpa_picture_unref (shared[i].templ);
    }
}

static void
test_cancel (void)
{
  g_autoptr(KhadimRpaPicture) screen = test_scene_desktop (700, 480, 1, TEST_SCENE_LIGHT);
  g_autoptr(KhadimRpaPicture) templ = crop (screen, 50, 100, 40, 20);
  g_autoptr(KhadimRpaMatcher) matcher = khadim_rpa_matcher_new (screen);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(KhadimRpaMatches) found = NULL;
  g_autoptr(GError) error = NULL;

  found = khadim_rpa_matcher_find (matcher, templ, NULL, cancellable, &error);
  g_assert_no_error (error);
  g_assert_nonnull (found);

  g_cancellable_cancel (cancellable);
  g_assert_null (khadim_rpa_matcher_find (matcher, templ, NULL, cancellable, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED);
}

static void
refuse (KhadimRpaMatcher            *matcher,
        KhadimRpaPicture            *templ,
        const KhadimRpaMatchOptions *options,
        int                          code)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (khadim_rpa_matcher_find (matcher, templ, options, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, code);
}

static void
test_refused (void)
{
  const double scales[40] = { 1.0, 20.0 };
  g_autoptr(KhadimRpaPicture) screen = test_scene_desktop (700, 600, 1, TEST_SCENE_LIGHT);
  g_autoptr(KhadimRpaMatcher) matcher = khadim_rpa_matcher_new (screen);
  g_autoptr(KhadimRpaPicture) good = crop (screen, 50, 100, 40, 20);
  g_autoptr(KhadimRpaPicture) thin = crop (screen, 50, 100, 40, 3);
  g_autoptr(KhadimRpaPicture) large = crop (screen, 0, 0, 361, 360);
  KhadimRpaMatchOptions options = KHADIM_RPA_MATCH_OPTIONS_INIT;

  refuse (matcher, thin, NULL, KHADIM_RPA_ERROR_INVALID);
  refuse (matcher, large, NULL, KHADIM_RPA_ERROR_LIMIT);
  options.similarity = 0.0;
  refuse (matcher, good, &options, KHADIM_RPA_ERROR_INVALID);
  options.similarity = NAN;
  refuse (matcher, good, &options, KHADIM_RPA_ERROR_INVALID);
  options.similarity = 0.9;
  options.max_matches = 0;
  refuse (matcher, good, &options, KHADIM_RPA_ERROR_LIMIT);
  options.max_matches = 4;
  options.n_threads = 100;
  refuse (matcher, good, &options, KHADIM_RPA_ERROR_LIMIT);
  options.n_threads = 1;
  options.scales = scales;
  options.n_scales = 2;
  refuse (matcher, good, &options, KHADIM_RPA_ERROR_INVALID);
  options.n_scales = 40;
  refuse (matcher, good, &options, KHADIM_RPA_ERROR_LIMIT);
}

/* A pattern that blocks of every size average away. */
static void
test_dither (void)
{
  const int width = 300, height = 200;
  g_autofree guint32 *pixels = g_new (guint32, (gsize) (width * height));
  g_autoptr(KhadimRpaPicture) screen = NULL, templ = NULL;
  g_autoptr(KhadimRpaMatches) found = NULL;
  g_autoptr(GError) error = NULL;

  for (int i = 0; i < width * height; i++)
    {
      int x = i % width, y = i / width;
      gboolean inside = x >= 101 && x < 201 && y >= 53 && y < 149;

      pixels[i] = inside && (x + y) % 2 == 0 ? 0x303030 : 0xb0b0b0;
    }
  screen = khadim_rpa_picture_new ((const guint8 *) pixels, width, height, (gsize) width * 4,
                                   &error);
  g_assert_no_error (error);
  templ = crop (screen, 101, 53, 100, 96);
  found = find (screen, templ, NULL);
  g_assert_cmpuint (found->n_matches, ==, 1);
  g_assert_cmpint (found->matches[0].box.x, ==, 101);
  g_assert_cmpint (found->matches[0].box.y, ==, 53);
  g_assert_cmpfloat (found->matches[0].score, >, 1.0 - 1e-9);
}

/* As large as the picture, and larger. */
static void
test_sizes (void)
{
  g_autoptr(KhadimRpaPicture) screen = small_desktop (1, TEST_SCENE_LIGHT);
  g_autoptr(KhadimRpaPicture) part = crop (screen, 0, 0, 329, 250);
  g_autoptr(KhadimRpaMatches) whole = find (screen, screen, NULL);
  g_autoptr(KhadimRpaMatches) larger = find (part, screen, NULL);

  g_assert_cmpuint (whole->n_matches, ==, 1);
  g_assert_cmpuint (larger->n_matches + larger->n_nearest, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/rpa/matcher/oracle-small", test_oracle_small);
  g_test_add_func ("/rpa/matcher/oracle-medium", test_oracle_medium);
  g_test_add_func ("/rpa/matcher/oracle-large", test_oracle_large);
  g_test_add_func ("/rpa/matcher/oracle-noise", test_oracle_noise);
  g_test_add_func ("/rpa/matcher/oracle-absent", test_oracle_absent);
  g_test_add_func ("/rpa/matcher/near-duplicates", test_near_duplicates);
  g_test_add_func ("/rpa/matcher/present-absent", test_present_absent);
  g_test_add_func ("/rpa/matcher/colour", test_colour);
  g_test_add_func ("/rpa/matcher/contrast", test_contrast);
  g_test_add_func ("/rpa/matcher/flat", test_flat);
  g_test_add_func ("/rpa/matcher/mask", test_mask);
  g_test_add_func ("/rpa/matcher/mask-refused", test_mask_refused);
  g_test_add_func ("/rpa/matcher/scales", test_scales);
  g_test_add_func ("/rpa/matcher/region", test_region);
  g_test_add_func ("/rpa/matcher/first", test_first);
  g_test_add_func ("/rpa/matcher/threads", test_threads);
  g_test_add_func ("/rpa/matcher/shared", test_shared);
  g_test_add_func ("/rpa/matcher/cancel", test_cancel);
  g_test_add_func ("/rpa/matcher/refused", test_refused);
  g_test_add_func ("/rpa/matcher/dither", test_dither);
  g_test_add_func ("/rpa/matcher/sizes", test_sizes);

  return g_test_run ();
}
