/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*
 * Template matching beside OpenCV's matchTemplate (TM_CCOEFF_NORMED on grey
 * values) in one run: the same screens, templates and number of threads. Writes
 * JSON. Arguments: crops per screen (250), threads (1).
 */

#define G_LOG_DOMAIN "bench-find"

#include "config.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <opencv2/imgproc.hpp>

#include "rpa/find/khadim-rpa-matcher.h"
#include "tests/rpa/lib/test-scene.h"

enum Kind
{
  KIND_CROP,
  KIND_LOW_TEXTURE,
  KIND_NEAR_DUPLICATE,
  KIND_NOISE,
  KIND_ABSENT,
  N_KINDS,
};

static const char *const kind_names[] = { "crop", "low-texture", "near-duplicate", "noise",
                                          "absent" };
static const int sides[] = { 8, 12, 16, 24, 32, 48, 64, 96, 128 };

struct Tally
{
  std::vector<double> own_ms, first_ms, cold_ms, peer_ms;
  int same_place = 0, same_score = 0, both_below = 0, missed = 0;
  int nearest_same = 0;
};

static cv::Mat
to_grey (KhadimRpaPicture *picture)
{
  cv::Mat bgra (khadim_rpa_picture_get_height (picture), khadim_rpa_picture_get_width (picture),
                CV_8UC4, (void *) khadim_rpa_picture_get_pixels (picture),
                khadim_rpa_picture_get_stride (picture));
  cv::Mat grey;

  cv::cvtColor (bgra, grey, cv::COLOR_BGRA2GRAY);

  return grey;
}

/* With one thread the processor time of this process, for which other programs
 * on the machine do not count; with more, what a clock on the wall shows. */
static double
now_ms (int threads)
{
  struct timespec now;

  clock_gettime (threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);

  return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

static KhadimRpaPicture *
random_crop (KhadimRpaPicture *screen,
             GRand            *rand,
             Kind              kind)
{
  for (;;)
    {
      int w = sides[g_rand_int_range (rand, 0, G_N_ELEMENTS (sides))];
      int h = sides[g_rand_int_range (rand, 0, G_N_ELEMENTS (sides))];
      KhadimRpaRect rect = { g_rand_int_range (rand, 0, khadim_rpa_picture_get_width (screen) - w),
                             g_rand_int_range (rand, 0,
                                               khadim_rpa_picture_get_height (screen) - h),
                             w, h };
      double variance;

      if (kind == KIND_NEAR_DUPLICATE)
        rect = { 20 + 640 * g_rand_int_range (rand, 0, 2) + 10,
                 20 + 80 + 22 * g_rand_int_range (rand, 0, 12), 140, 20 };
      khadim_rpa_picture_get_stats (screen, &rect, NULL, &variance);
      if (variance < 0.25 || (kind == KIND_LOW_TEXTURE && variance > 40.0)
          || ((kind == KIND_CROP || kind == KIND_ABSENT) && variance < 100.0))
        continue;

      return khadim_rpa_picture_crop (screen, &rect, NULL);
    }
}

static double
percentile (std::vector<double> values,
            double              share)
{
  if (values.empty ())
    return 0.0;
  std::sort (values.begin (), values.end ());

  return values[(size_t) std::min ((double) values.size () - 1.0, share * values.size ())];
}

static void
run_one (KhadimRpaMatcher *matcher,
         const cv::Mat    &grey,
         KhadimRpaPicture *templ,
         int               threads,
         Tally            *tally)
{
  KhadimRpaMatchOptions options = KHADIM_RPA_MATCH_OPTIONS_INIT;
  KhadimRpaPicture *screen = khadim_rpa_matcher_get_picture (matcher);
  double start, score;
  cv::Point place;
  cv::Mat scores;

  options.colour_tolerance = -1.0;
  options.n_threads = (guint) threads;
  start = now_ms (threads);
  g_autoptr(KhadimRpaMatches) found = khadim_rpa_matcher_find (matcher, templ, &options, NULL,
                                                               NULL);
  tally->own_ms.push_back (now_ms (threads) - start);

  options.max_matches = 1;
  start = now_ms (threads);
  {
    g_autoptr(KhadimRpaMatches) first = khadim_rpa_matcher_find (matcher, templ, &options, NULL,
                                                                 NULL);

    g_assert ((first->n_matches > 0) == (found->n_matches > 0));
  }
  tally->first_ms.push_back (now_ms (threads) - start);
  options.max_matches = 64;

  start = now_ms (threads);
  {
    g_autoptr(KhadimRpaMatcher) cold = khadim_rpa_matcher_new (screen);
    g_autoptr(KhadimRpaMatches) again = khadim_rpa_matcher_find (cold, templ, &options, NULL, NULL);

    g_assert (again->n_matches == found->n_matches);
  }
  tally->cold_ms.push_back (now_ms (threads) - start);

  start = now_ms (threads);
  cv::matchTemplate (grey, to_grey (templ), scores, cv::TM_CCOEFF_NORMED);
  cv::minMaxLoc (scores, NULL, &score, NULL, &place);
  tally->peer_ms.push_back (now_ms (threads) - start);

  if (found->n_matches > 0)
    {
      const KhadimRpaMatch *best = &found->matches[0];
      bool same = best->box.x == place.x && best->box.y == place.y;

      tally->same_place += same;
      tally->same_score += !same && best->score >= score - 1e-3;
      tally->missed += !same && best->score < score - 1e-3;
    }
  else
    {
      tally->both_below += score < options.similarity + 1e-3;
      tally->missed += score >= options.similarity + 1e-3;
      tally->nearest_same += found->n_nearest > 0 && found->nearest[0].box.x == place.x
                             && found->nearest[0].box.y == place.y;
    }
  if (g_getenv ("BENCH_VERBOSE") != NULL)
    fprintf (stderr, "%dx%d own %.1f cold %.1f peer %.1f score %.3f own-score %.3f n %u\n",
             khadim_rpa_picture_get_width (templ), khadim_rpa_picture_get_height (templ),
             tally->own_ms.back (), tally->cold_ms.back (), tally->peer_ms.back (), score,
             found->n_matches > 0 ? found->matches[0].score : found->nearest[0].score,
             found->n_matches);
}

static void
print_tally (const char  *name,
             const Tally &tally,
             const char  *end)
{
  double own = percentile (tally.own_ms, .5), peer = percentile (tally.peer_ms, .5);

  printf ("      \"%s\": {\"n\": %zu, \"own_p50_ms\": %.2f, \"own_p95_ms\": %.2f, "
          "\"first_p50_ms\": %.2f, \"first_p95_ms\": %.2f, "
          "\"cold_p50_ms\": %.2f, \"cold_p95_ms\": %.2f, \"opencv_p50_ms\": %.2f, "
          "\"opencv_p95_ms\": %.2f, \"ratio_p50\": %.1f, \"ratio_p95\": %.1f, "
          "\"ratio_cold_p50\": %.1f, \"ratio_first_p50\": %.1f, "
          "\"same_place\": %d, \"same_score_elsewhere\": %d, "
          "\"both_below\": %d, \"missed\": %d, \"nearest_same\": %d}%s\n",
          name, tally.own_ms.size (), own, percentile (tally.own_ms, .95),
          percentile (tally.first_ms, .5), percentile (tally.first_ms, .95),
          percentile (tally.cold_ms, .5), percentile (tally.cold_ms, .95), peer,
          percentile (tally.peer_ms, .95), peer / own,
          percentile (tally.peer_ms, .95) / percentile (tally.own_ms, .95),
          peer / percentile (tally.cold_ms, .5), peer / percentile (tally.first_ms, .5),
          tally.same_place, tally.same_score,
          tally.both_below, tally.missed, tally.nearest_same, end);
}

static void
add (Tally       *sum,
     const Tally &part)
{
  sum->own_ms.insert (sum->own_ms.end (), part.own_ms.begin (), part.own_ms.end ());
  sum->first_ms.insert (sum->first_ms.end (), part.first_ms.begin (), part.first_ms.end ());
  sum->cold_ms.insert (sum->cold_ms.end (), part.cold_ms.begin (), part.cold_ms.end ());
  sum->peer_ms.insert (sum->peer_ms.end (), part.peer_ms.begin (), part.peer_ms.end ());
  sum->same_place += part.same_place;
  sum->same_score += part.same_score;
  sum->both_below += part.both_below;
  sum->missed += part.missed;
  sum->nearest_same += part.nearest_same;
}

static void
run_screen (const char *name,
            int         width,
            int         height,
            int         n_crops,
            int         threads,
            const char *end)
{
  g_autoptr(KhadimRpaPicture) screen = test_scene_desktop (width, height, 1, TEST_SCENE_LIGHT);
  g_autoptr(KhadimRpaPicture) other = test_scene_desktop (width, height, 9, TEST_SCENE_DARK);
  g_autoptr(KhadimRpaMatcher) matcher = khadim_rpa_matcher_new (screen);
  GRand *rand = g_rand_new_with_seed (4711);
  cv::Mat grey = to_grey (screen);
  Tally tallies[N_KINDS], all;

  for (int i = 0; i < n_crops; i++)
    {
      Kind kind = (Kind) (i % N_KINDS);
      g_autoptr(KhadimRpaPicture) crop = random_crop (kind == KIND_ABSENT ? other : screen, rand,
                                                      kind);
      g_autoptr(KhadimRpaPicture) templ = kind == KIND_NOISE ? test_scene_noise (crop, rand, 6.0)
                                                             : khadim_rpa_picture_ref (crop);

      if (g_getenv ("BENCH_VERBOSE") != NULL)
        fprintf (stderr, "%s ", kind_names[kind]);
      run_one (matcher, grey, templ, threads, &tallies[kind]);
    }

  printf ("    \"%s\": {\n", name);
  for (int k = 0; k < N_KINDS; k++)
    {
      print_tally (kind_names[k], tallies[k], ",");
      add (&all, tallies[k]);
    }
  print_tally ("all", all, "");
  printf ("    }%s\n", end);
  g_rand_free (rand);
}

int
main (int    argc,
      char **argv)
{
  int n_crops = argc > 1 ? atoi (argv[1]) : 250;
  int threads = argc > 2 ? atoi (argv[2]) : 1;

  cv::setNumThreads (threads);
  printf ("{\n  \"threads\": %d,\n  \"opencv\": \"%s\",\n  \"screens\": {\n", threads, CV_VERSION);
  run_screen ("1920x1080", 1920, 1080, n_crops, threads, ",");
  run_screen ("3840x2160", 3840, 2160, n_crops, threads, "");
  printf ("  }\n}\n");

  return 0;
}
