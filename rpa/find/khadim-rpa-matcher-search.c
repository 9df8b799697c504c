/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-matcher-search"

#include "config.h"

#include "rpa/find/khadim-rpa-matcher-private.h"

#include <math.h>
#include <string.h>

#include "rpa/find/khadim-rpa-picture-private.h"

/* Positions are worked on in bands of rows; cancelling is seen between them. */
#define MIN_BAND_ROWS 4
#define MAX_BAND_ROWS 32

/* A band is searched in pieces this wide, so that what neighbouring rows read
 * stays in the processor's cache; at most 32 strips. */
#define PIECE_PX 512

/* How many of the likeliest places a band keeps for when nothing matches. */
#define BAND_GUESSES 6

/* How many of them all are looked at closely, and how far around. */
#define MAX_GUESSES 48
#define GUESS_RADIUS 3

/* A cell whose best has this score cannot get a better one. */
#define PERFECT (1.0 - 1e-12)

#define NO_SCORE (-2.0)

/* More than single precision loses of a score. */
#define SCORE_SLACK 2e-4

/* How many rows are compared to find one that is equal. */
#define EQUAL_BUDGET_ROWS 200000

/* A similarity that no position fails. */
#define EVERYTHING (-2.0f)

typedef struct
{
  const KhadimRpaSearch *search;
  int                    band_rows;
  int                    cell_width;
  guint                  n_cells;
  guint                  n_bands;
  gboolean               guesses_only; /* the second pass, when nothing matches */
  int                    next_band; /* atomic */
  int                    stopped;   /* atomic */
  GMutex                 lock;      /* guards hits and nearest */
  GArray                *hits;
  GArray                *nearest;
} Job;

/* What one thread knows about the band it works on: the best place of each cell
 * of half the template's size. */
typedef struct
{
  Job            *job;
  KhadimRpaMatch *cells; /* owned */
  KhadimRpaMatch  guesses[BAND_GUESSES];
  guint           n_guesses;
} Band;

static KhadimRpaMatch
match_at (const KhadimRpaSearch *search,
          int                    x,
          int                    y)
{
  KhadimRpaMatch match = { { x, y, search->templ->width, search->templ->height } };

  match.scale = search->scale;

  return match;
}

/* Best first, then from top to bottom and left to right. */
static int
compare_matches (gconstpointer a,
                 gconstpointer b)
{
  const KhadimRpaMatch *one = a, *other = b;

  if (one->score != other->score)
    return one->score > other->score ? -1 : 1;
  if (one->box.y != other->box.y)
    return one->box.y < other->box.y ? -1 : 1;
  if (one->box.x != other->box.x)
    return one->box.x < other->box.x ? -1 : 1;

  return (one->scale > other->scale) - (one->scale < other->scale);
}

/* Whether the places are less than half a template apart. */
static gboolean
is_same_place (const KhadimRpaMatch *a,
               const KhadimRpaMatch *b)
{
  int dx = 2 * a->box.x + a->box.width - 2 * b->box.x - b->box.width;
  int dy = 2 * a->box.y + a->box.height - 2 * b->box.y - b->box.height;

  return ABS (dx) < MAX (a->box.width, b->box.width)
         && ABS (dy) < MAX (a->box.height, b->box.height);
}

/*
 * _khadim_rpa_matches_thin:
 *
 * Non-maximum suppression: sorts, and leaves of places that overlap the best.
 */
void
_khadim_rpa_matches_thin (GArray *matches,
                          guint   most)
{
  KhadimRpaMatch *all = (KhadimRpaMatch *) (gpointer) matches->data;
  guint kept = 0;

  g_array_sort (matches, compare_matches);
  for (guint i = 0; i < matches->len && kept < most; i++)
    {
      gboolean covered = FALSE;

      for (guint k = 0; k < kept && !covered; k++)
        covered = is_same_place (&all[k], &all[i]);
      if (!covered)
        all[kept++] = all[i];
    }
  g_array_set_size (matches, kept);
}

static void
note_guess (Band           *band,
            KhadimRpaMatch  guess)
{
  guint worst = 0;

  if (band->n_guesses < BAND_GUESSES)
    {
      band->guesses[band->n_guesses++] = guess;
      return;
    }

  for (guint i = 1; i < BAND_GUESSES; i++)
    if (band->guesses[i].score < band->guesses[worst].score)
      worst = i;
  if (guess.score > band->guesses[worst].score)
    band->guesses[worst] = guess;
}

static double
worst_guess (const Band *band)
{
  double worst = band->n_guesses < BAND_GUESSES ? NO_SCORE : 2.0;

  for (guint i = 0; i < band->n_guesses; i++)
    worst = MIN (worst, band->guesses[i].score);

  return worst;
}

/* The likeliest of a strip; the others of a band are elsewhere. */
static void
note_strip (Band                 *band,
            const KhadimRpaStrip *strip,
            int                   n,
            int                   x,
            int                   y)
{
  KhadimRpaMatch guess = match_at (band->job->search, x, y);
  float guesses[KHADIM_RPA_LANES];

  if ((double) _khadim_rpa_ncc_guess (&band->job->search->templ->levels[0], strip, guesses)
      <= worst_guess (band))
    return;

  guess.score = NO_SCORE;
  for (int i = 0; i < n; i++)
    if ((double) guesses[i] > guess.score)
      {
        guess.score = (double) guesses[i];
        guess.box.x = x + i;
      }

  for (guint i = 0; i < band->n_guesses; i++)
    if (is_same_place (&band->guesses[i], &guess))
      {
        if (guess.score > band->guesses[i].score)
          band->guesses[i] = guess;
        return;
      }
  note_guess (band, guess);
}

/* A position that no bound excludes: the exact score. @upper is no less. */
static void
check_position (Band   *band,
                double  upper,
                int     x,
                int     y)
{
  const KhadimRpaSearch *search = band->job->search;
  KhadimRpaMatch *best = &band->cells[(x - search->anchors.x) / band->job->cell_width];
  KhadimRpaMatch match;

  if (best->score >= PERFECT || best->score >= upper)
    return;

  match = match_at (search, x, y);
  _khadim_rpa_template_rate (search->templ, search->matcher, &match);
  if (match.score >= search->similarity && match.score > best->score)
    *best = match;
}

/* No score at a position of the strip is above, as seen through all blocks of
 * the last level. */
static double
upper_of (const KhadimRpaLevel *level,
          const KhadimRpaStrip *strip,
          int                   lane)
{
  double energy = (double) strip->energy[lane];
  double blocks = level->block_width * level->block_height * (double) strip->blocks[lane];
  double rest = MAX (0.0, energy - blocks) + (double) level->energy_slack
                + energy * SCORE_SLACK;
  double upper = (double) strip->product[lane] + (double) level->product_slack
                 + sqrt (rest * (1.0 - level->kept));

  return upper / sqrt (energy) + SCORE_SLACK;
}

static void
check_strip (Band                 *band,
             const KhadimRpaStrip *strip,
             int                   n,
             int                   x,
             int                   y)
{
  const KhadimRpaTemplate *templ = band->job->search->templ;

  for (int i = 0; i < n; i++)
    {
      double upper;

      if (strip->energy[i] < KHADIM_RPA_FLAT_ENERGY)
        continue;

      upper = upper_of (&templ->levels[templ->n_levels - 1], strip, i);
      if (upper >= templ->probe_similarity)
        check_position (band, templ->mask != NULL ? 1.0 : upper, x + i, y);
    }
}

static void
search_strip (Band *band,
              int   x,
              int   y)
{
  const KhadimRpaSearch *search = band->job->search;
  const KhadimRpaTemplate *templ = search->templ;
  gboolean guess = band->job->guesses_only;
  int most = guess ? KHADIM_RPA_GUESS_BLOCKS : G_MAXINT;
  float least = guess ? EVERYTHING : (float) templ->probe_similarity;
  int n = MIN (KHADIM_RPA_LANES, search->anchors.x + search->anchors.width - x);
  gsize position = (gsize) (y + templ->core.y) * search->matcher->stride
                   + (gsize) (x + templ->core.x);
  KhadimRpaStrip strip;
  gboolean may = TRUE;

  _khadim_rpa_ncc_energies (search->matcher, x + templ->core.x, y + templ->core.y,
                            templ->core.width, templ->core.height, &strip);
  for (guint i = 0; i < (guess ? 1 : templ->n_levels) && may; i++)
    may = _khadim_rpa_ncc_bounds (&templ->levels[i], position, most, least, &strip);

  if (guess)
    note_strip (band, &strip, n, x, y);
  else if (may)
    check_strip (band, &strip, n, x, y);
}

static void
search_flat (Band *band,
             int   x,
             int   n,
             int   y)
{
  for (int i = 0; i < n; i++)
    check_position (band, 1.0, x + i, y);
}

/* A row of a piece: a quick look at all of it, a closer one at what is left. */
static void
search_row (Band *band,
            int   x,
            int   n,
            int   y)
{
  const KhadimRpaSearch *search = band->job->search;
  const KhadimRpaTemplate *templ = search->templ;
  int n_strips = (n + KHADIM_RPA_LANES - 1) / KHADIM_RPA_LANES;
  guint32 left;

  if (templ->norm <= 0.0)
    {
      search_flat (band, x, n, y);
      return;
    }

  left = _khadim_rpa_ncc_scan (search->matcher, &templ->levels[0], x + templ->core.x,
                               y + templ->core.y, templ->core.width, templ->core.height, n_strips,
                               band->job->guesses_only ? EVERYTHING
                                                       : (float) templ->probe_similarity);
  for (int s = 0; s < n_strips; s++)
    if ((left >> s & 1) != 0)
      search_strip (band, x + s * KHADIM_RPA_LANES, y);
}

/* A hit of another colour is none, but near. */
static void
check_colour (Band           *band,
              KhadimRpaMatch *match)
{
  const KhadimRpaSearch *search = band->job->search;

  match->colour_distance = _khadim_rpa_template_colour_off (search->templ, search->matcher,
                                                            match->box.x, match->box.y);
  if (search->colour_tolerance < 0.0 || match->colour_distance <= search->colour_tolerance)
    return;

  note_guess (band, *match);
  match->score = NO_SCORE;
}

static void
finish_band (Band *band)
{
  Job *job = band->job;

  for (guint i = 0; i < job->n_cells; i++)
    if (band->cells[i].score > NO_SCORE)
      check_colour (band, &band->cells[i]);

  g_mutex_lock (&job->lock);
  for (guint i = 0; i < job->n_cells; i++)
    if (band->cells[i].score > NO_SCORE)
      g_array_append_val (job->hits, band->cells[i]);
  g_array_append_vals (job->nearest, band->guesses, band->n_guesses);
  g_mutex_unlock (&job->lock);
}

static void
search_band (Band *band,
             guint number)
{
  Job *job = band->job;
  const KhadimRpaRect *anchors = &job->search->anchors;
  int first = anchors->y + (int) number * job->band_rows;
  int end = MIN (first + job->band_rows, anchors->y + anchors->height);

  band->n_guesses = 0;
  for (guint i = 0; i < job->n_cells; i++)
    band->cells[i].score = NO_SCORE;

  for (int left = anchors->x; left < anchors->x + anchors->width; left += PIECE_PX)
    for (int y = first; y < end; y++)
      search_row (band, left, MIN (PIECE_PX, anchors->x + anchors->width - left), y);

  finish_band (band);
}

static gpointer
search_bands (gpointer data)
{
  Job *job = data;
  Band band = { job };
  g_autofree KhadimRpaMatch *cells = g_new (KhadimRpaMatch, job->n_cells);

  band.cells = cells;
  while (!g_atomic_int_get (&job->stopped))
    {
      guint number = (guint) g_atomic_int_add (&job->next_band, 1);

      if (number >= job->n_bands)
        break;
      if (g_cancellable_is_cancelled (job->search->cancellable))
        g_atomic_int_set (&job->stopped, TRUE);
      else
        search_band (&band, number);
    }

  return NULL;
}

/* Climbs from a guess to the best score around it. */
static void
refine_guess (const KhadimRpaSearch *search,
              KhadimRpaMatch        *guess)
{
  KhadimRpaRect around = { guess->box.x - GUESS_RADIUS, guess->box.y - GUESS_RADIUS,
                           2 * GUESS_RADIUS + 1, 2 * GUESS_RADIUS + 1 };
  KhadimRpaMatch best = *guess;

  best.score = NO_SCORE;
  if (!khadim_rpa_rect_intersect (&around, &search->anchors, &around))
    return;

  for (int y = around.y; y < around.y + around.height; y++)
    for (int x = around.x; x < around.x + around.width; x++)
      {
        KhadimRpaMatch match = match_at (search, x, y);

        _khadim_rpa_template_rate (search->templ, search->matcher, &match);
        if (match.score > best.score)
          best = match;
      }

  best.colour_distance = _khadim_rpa_template_colour_off (search->templ, search->matcher,
                                                          best.box.x, best.box.y);
  *guess = best;
}

static void
refine_guesses (const KhadimRpaSearch *search,
                GArray                *nearest)
{
  _khadim_rpa_matches_thin (nearest, MAX_GUESSES);
  for (guint i = 0; i < nearest->len; i++)
    refine_guess (search, &g_array_index (nearest, KhadimRpaMatch, i));
}

static void
run_threads (Job *job)
{
  GThread *threads[KHADIM_RPA_MATCH_MAX_THREADS];
  guint n = MIN (job->search->n_threads, MIN (job->n_bands, G_N_ELEMENTS (threads))) - 1;

  job->next_band = 0;
  for (guint i = 0; i < n; i++)
    threads[i] = g_thread_new ("matcher", search_bands, job);
  search_bands (job);
  for (guint i = 0; i < n; i++)
    g_thread_join (threads[i]);
}

/*
 * _khadim_rpa_search_run:
 * @hits: gets every place that matches, or one of each half template around it
 * @nearest: gets the places that come closest if there is no match
 *
 * Every position whose score reaches the similarity is found: the bounds only
 * exclude what cannot. What is nearest below it is a good guess, not a promise.
 *
 * Returns: FALSE when cancelled
 */
gboolean
_khadim_rpa_search_run (const KhadimRpaSearch *self,
                        GArray                *hits,
                        GArray                *nearest)
{
  g_autoptr(GArray) guesses = g_array_new (FALSE, FALSE, sizeof (KhadimRpaMatch));
  guint n_before = hits->len;
  Job job = { self };

  job.band_rows = CLAMP (self->templ->height / 2, MIN_BAND_ROWS, MAX_BAND_ROWS);
  job.cell_width = MAX (1, self->templ->width / 2);
  job.n_cells = (guint) ((self->anchors.width - 1) / job.cell_width + 1);
  job.n_bands = (guint) ((self->anchors.height - 1) / job.band_rows + 1);
  job.hits = hits;
  job.nearest = guesses;
  g_mutex_init (&job.lock);
  run_threads (&job);
  job.guesses_only = TRUE;
  if (hits->len == n_before && self->templ->norm > 0.0)
    run_threads (&job);
  g_mutex_clear (&job.lock);

  if (job.stopped)
    return FALSE;

  if (hits->len == n_before)
    {
      refine_guesses (self, guesses);
      g_array_append_vals (nearest, guesses->data, guesses->len);
    }

  return TRUE;
}

/* The pair of neighbouring pixels that differ most: few places have it. */
static void
find_rarest_pair (const KhadimRpaPicture *picture,
                  int                    *out_x,
                  int                    *out_y)
{
  int most = -1;

  for (int y = 0; y < picture->height_px; y++)
    {
      const guint8 *row = _khadim_rpa_picture_row (picture, y);

      for (int x = 0; x + 1 < picture->width_px; x++)
        {
          const guint8 *pixel = row + (gsize) x * KHADIM_RPA_PIXEL_BYTES;
          int step = ABS (pixel[0] - pixel[4]) + ABS (pixel[1] - pixel[5])
                     + ABS (pixel[2] - pixel[6]);

          if (step > most)
            {
              most = step;
              *out_x = x;
              *out_y = y;
            }
        }
    }
}

/* @budget is taken the rows that are compared. */
static gboolean
is_equal_at (const KhadimRpaSearch *self,
             int                    x,
             int                    y,
             int                   *budget)
{
  const KhadimRpaPicture *templ = self->templ->picture;

  for (int row = 0; row < templ->height_px; row++, (*budget)--)
    {
      const guint8 *a = _khadim_rpa_picture_row (templ, row);
      const guint8 *b = _khadim_rpa_picture_row (self->matcher->picture, y + row)
                        + (gsize) x * KHADIM_RPA_PIXEL_BYTES;

      for (int i = 0; i < templ->width_px * KHADIM_RPA_PIXEL_BYTES; i += KHADIM_RPA_PIXEL_BYTES)
        if (a[i] != b[i] || a[i + 1] != b[i + 1] || a[i + 2] != b[i + 2])
          return FALSE;
    }

  return TRUE;
}

static guint32
colour_at (const guint8 *row,
           int           x)
{
  guint32 pixel;

  memcpy (&pixel, row + (gsize) x * KHADIM_RPA_PIXEL_BYTES, sizeof pixel);

  return pixel & KHADIM_RPA_COLOUR_MASK;
}

/*
 * _khadim_rpa_search_equal:
 * @hits: gets the first place, from the top, that equals the template
 *
 * Returns: whether there is one; FALSE too when it would take longer to tell than
 * a search by score
 */
gboolean
_khadim_rpa_search_equal (const KhadimRpaSearch *self,
                          GArray                *hits)
{
  const KhadimRpaPicture *templ = self->templ->picture;
  const KhadimRpaRect *anchors = &self->anchors;
  int pair_x = 0, pair_y = 0, budget = EQUAL_BUDGET_ROWS;
  guint32 left, right;

  find_rarest_pair (templ, &pair_x, &pair_y);
  left = colour_at (_khadim_rpa_picture_row (templ, pair_y), pair_x);
  right = colour_at (_khadim_rpa_picture_row (templ, pair_y), pair_x + 1);

  for (int y = anchors->y; y < anchors->y + anchors->height && budget > 0; y++)
    {
      const guint8 *row = _khadim_rpa_picture_row (self->matcher->picture, y + pair_y);

      for (int x = anchors->x; x < anchors->x + anchors->width; x++)
        if (colour_at (row, x + pair_x) == left && colour_at (row, x + pair_x + 1) == right
            && is_equal_at (self, x, y, &budget))
          {
            KhadimRpaMatch match = match_at (self, x, y);

            match.score = match.contrast = 1.0;
            g_array_append_val (hits, match);
            return TRUE;
          }
    }

  return FALSE;
}
