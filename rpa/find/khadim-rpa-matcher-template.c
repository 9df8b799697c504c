/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-matcher-template"

#include "config.h"

#include "rpa/find/khadim-rpa-matcher-private.h"

#include <math.h>

#include "rpa/screen/khadim-rpa-error.h"

#include "rpa/find/khadim-rpa-picture-private.h"

/* From this opacity on a pixel of the template counts. */
#define OPAQUE 128

/* How many blocks of a template each look at a position takes at most, the share
 * of the template's energy that is enough for it, and by how many blocks their
 * size is chosen. What the first look cannot exclude gets the second. */
static const struct
{
  int    most_blocks;
  double enough;
  int    judged_by;
} looks[KHADIM_RPA_MAX_LEVELS] = { { 64, 0.75, 12 }, { 256, 0.96, 256 } };

#define PIXELS_PER_BLOCK 16

/* Sizes that give more blocks than this are left out. */
#define MAX_BLOCKS 8192

/* What single precision loses at most of a pixel's squared deviation, and of a
 * product for each grey level of deviation. */
#define ENERGY_SLACK 1e-4
#define PRODUCT_SLACK 2e-5

/* With a mask, the core must tell at least this much. */
#define LEAST_PROBE_SIMILARITY 0.3

/* How many grey levels off, in the mean, make one colour score 0. */
#define FLAT_RANGE 64.0

/* Flat templates: the distance in grey, as a score. */
static double
flat_score (double mean_square)
{
  return 1.0 - MIN (1.0, sqrt (MAX (0.0, mean_square)) / FLAT_RANGE);
}

static void
level_clear (KhadimRpaLevel *level)
{
  g_clear_pointer (&level->shares, g_free);
  g_clear_pointer (&level->offsets, g_free);
}

void
_khadim_rpa_template_free (KhadimRpaTemplate *self)
{
  for (guint i = 0; i < self->n_levels; i++)
    level_clear (&self->levels[i]);
  g_free (self->grey);
  g_free (self->mask);
  khadim_rpa_picture_unref (self->picture);
  g_free (self);
}

static void
take_grey (KhadimRpaTemplate *self)
{
  gint64 squares = 0;

  self->n_pixels = self->core.width * self->core.height;
  self->grey_stride = (gsize) (self->core.width + KHADIM_RPA_ROW_PIXELS - 1)
                      / KHADIM_RPA_ROW_PIXELS * KHADIM_RPA_ROW_PIXELS;
  self->grey = g_new0 (gint8, self->grey_stride * (gsize) self->core.height);
  for (int y = 0; y < self->core.height; y++)
    {
      gint8 *row = self->grey + (gsize) y * self->grey_stride;

      _khadim_rpa_ncc_grey (_khadim_rpa_picture_row (self->picture, self->core.y + y)
                              + (gsize) self->core.x * KHADIM_RPA_PIXEL_BYTES,
                            self->core.width, row);
      for (int x = 0; x < self->core.width; x++)
        {
          self->sum += row[x];
          squares += row[x] * row[x];
        }
    }

  self->norm = sqrt (((double) self->n_pixels * (double) squares
                      - (double) self->sum * (double) self->sum) / self->n_pixels);
}

/* A block of the template, and the part of the template's energy it keeps. */
typedef struct
{
  int    x, y;
  double share;
  double kept;
} Block;

static int
compare_kept (gconstpointer a,
              gconstpointer b)
{
  const Block *one = a, *other = b;

  return one->kept > other->kept ? -1 : one->kept < other->kept;
}

static double
block_sum (const KhadimRpaTemplate *self,
           int                      left,
           int                      top,
           int                      width,
           int                      height)
{
  gint64 sum = 0;

  for (int y = top; y < top + height; y++)
    for (int x = left; x < left + width; x++)
      sum += self->grey[(gsize) y * self->grey_stride + (gsize) x];

  return (double) sum - (double) self->sum * width * height / self->n_pixels;
}

/* All blocks of a size, those first that keep most. What they leave over at the
 * template's edges counts as lost. */
static GArray *
list_blocks (const KhadimRpaTemplate *self,
             int                      width,
             int                      height)
{
  GArray *blocks = g_array_new (FALSE, FALSE, sizeof (Block));
  int left = self->core.width % width / 2, top = self->core.height % height / 2;

  if (self->n_pixels / (width * height) > MAX_BLOCKS)
    return blocks;

  for (int y = top; y + height <= self->core.height; y += height)
    for (int x = left; x + width <= self->core.width; x += width)
      {
        double share = block_sum (self, x, y, width, height) / self->norm;
        Block block = { x, y, share, share * share / (width * height) };

        g_array_append_val (blocks, block);
      }
  g_array_sort (blocks, compare_kept);

  return blocks;
}

/* As many of the first blocks as are enough. */
static int
count_blocks (GArray *blocks,
              int     most,
              double  enough,
              double *out_kept)
{
  int n = 0;

  *out_kept = 0.0;
  while (n < (int) blocks->len && n < most && *out_kept < enough)
    *out_kept += g_array_index (blocks, Block, n++).kept;

  return n;
}

static void
level_init (KhadimRpaLevel   *level,
            KhadimRpaMatcher *matcher,
            int               n_pixels,
            GArray           *blocks,
            int               n,
            int               log_width,
            int               log_height)
{
  int check = 0;

  *level = (KhadimRpaLevel) { NULL };
  level->means = _khadim_rpa_matcher_get_means (matcher, log_width, log_height);
  level->block_width = 1 << log_width;
  level->block_height = 1 << log_height;
  level->n_blocks = n;
  level->lost[0] = 1.0f; /* no blocks exclude nothing */
  level->offsets = g_new (gsize, (gsize) n);
  level->shares = g_new (float, (gsize) n);
  for (int i = 0; i < n; i++)
    {
      const Block *block = &g_array_index (blocks, Block, i);

      level->offsets[i] = (gsize) block->y * matcher->stride + (gsize) block->x;
      level->shares[i] = (float) block->share;
      level->kept = MIN (1.0, level->kept + block->kept);
      if (i < KHADIM_RPA_GUESS_BLOCKS)
        level->kept_by_guess = level->kept;
      if (i + 1 == MIN (KHADIM_RPA_FIRST_CHECK << check, n))
        level->lost[check++] = (float) sqrt (1.0 - level->kept);
    }
  level->energy_slack = (float) (ENERGY_SLACK * n_pixels);
  level->product_slack = (float) (PRODUCT_SLACK * sqrt (n_pixels));
}

/* How good a block size is: the fewer blocks are enough the better; if they are
 * not, the more they keep. */
static double
worth_of (GArray *blocks,
          int     judged_by,
          double  enough)
{
  double kept;
  int n = count_blocks (blocks, judged_by, enough, &kept);

  return n == 0 ? 0.0 : kept >= enough ? 1.0 + 1.0 / n : kept;
}

/* Exact scores of large templates are dear, so more blocks pay. */
static int
most_blocks (const KhadimRpaTemplate *self,
             guint                    look)
{
  return MAX (looks[look].most_blocks, look > 0 ? self->n_pixels / PIXELS_PER_BLOCK : 0);
}

static void
add_level (KhadimRpaTemplate *self,
           KhadimRpaMatcher  *matcher,
           GArray            *sizes[KHADIM_RPA_N_BLOCK_SIDES][KHADIM_RPA_N_BLOCK_SIDES],
           guint              look)
{
  double best_worth = 0.0, kept;
  int best_w = 0, best_h = 0, n;

  for (int w = 0; w < KHADIM_RPA_N_BLOCK_SIDES; w++)
    for (int h = 0; h < KHADIM_RPA_N_BLOCK_SIDES; h++)
      {
        double worth = worth_of (sizes[w][h], looks[look].judged_by, looks[look].enough);

        if (worth > best_worth && _khadim_rpa_matcher_may_have_means (matcher, w, h))
          {
            best_worth = worth;
            best_w = w;
            best_h = h;
          }
      }

  n = count_blocks (sizes[best_w][best_h], most_blocks (self, look), looks[look].enough, &kept);
  level_init (&self->levels[self->n_levels++], matcher, self->n_pixels, sizes[best_w][best_h], n,
              best_w, best_h);
}

static void
choose_levels (KhadimRpaTemplate *self,
               KhadimRpaMatcher  *matcher)
{
  GArray *sizes[KHADIM_RPA_N_BLOCK_SIDES][KHADIM_RPA_N_BLOCK_SIDES];

  for (int w = 0; w < KHADIM_RPA_N_BLOCK_SIDES; w++)
    for (int h = 0; h < KHADIM_RPA_N_BLOCK_SIDES; h++)
      sizes[w][h] = list_blocks (self, 1 << w, 1 << h);

  for (guint i = 0; i < G_N_ELEMENTS (looks); i++)
    {
      double before = i == 0 ? 0.0 : self->levels[self->n_levels - 1].kept;

      if (before < looks[i].enough && (i == 0 || looks[i].most_blocks < self->n_pixels))
        add_level (self, matcher, sizes, i);
    }

  for (int w = 0; w < KHADIM_RPA_N_BLOCK_SIDES; w++)
    for (int h = 0; h < KHADIM_RPA_N_BLOCK_SIDES; h++)
      g_array_unref (sizes[w][h]);
}

static void
add_colour (double       sums[3],
            const guint8 *row,
            int           from,
            int           to)
{
  for (int x = from; x < to; x++)
    for (int c = 0; c < 3; c++)
      sums[c] += row[x * KHADIM_RPA_PIXEL_BYTES + c];
}

static void
average_cell (const KhadimRpaPicture  *picture,
              const KhadimRpaTemplate *templ,
              int                      left,
              int                      top,
              const KhadimRpaRect     *cell,
              double                  *mean)
{
  double sums[3] = { 0.0 };
  int count = 0;

  for (int y = cell->y; y < cell->y + cell->height; y++)
    {
      const guint8 *row = _khadim_rpa_picture_row (picture, top + y)
                          + (gsize) left * KHADIM_RPA_PIXEL_BYTES;

      if (templ->mask == NULL)
        {
          add_colour (sums, row, cell->x, cell->x + cell->width);
          count += cell->width;
          continue;
        }
      for (int x = cell->x; x < cell->x + cell->width; x++)
        if (templ->mask[(gsize) y * (gsize) templ->width + (gsize) x] != 0)
          {
            add_colour (sums, row, x, x + 1);
            count++;
          }
    }

  for (int c = 0; c < 3; c++)
    mean[c] = count > 0 ? sums[c] / count : 0.0;
}

static void
take_colours (KhadimRpaColours        *colours,
              const KhadimRpaPicture  *picture,
              const KhadimRpaTemplate *templ,
              int                      left,
              int                      top)
{
  const int n = KHADIM_RPA_COLOUR_CELLS;

  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      {
        int x = templ->width * i / n, y = templ->height * j / n;
        KhadimRpaRect cell = { x, y, templ->width * (i + 1) / n - x,
                               templ->height * (j + 1) / n - y };

        average_cell (picture, templ, left, top, &cell, colours->mean[j * n + i]);
      }
}

/* How far two colours are apart when brightness is left out. */
static double
colour_distance (const double *a,
                 const double *b)
{
  double blue = a[0] - b[0], green = a[1] - b[1], red = a[2] - b[2];
  double grey = .114 * blue + .587 * green + .299 * red;

  return sqrt ((blue - grey) * (blue - grey) + (red - grey) * (red - grey));
}

double
_khadim_rpa_template_colour_off (const KhadimRpaTemplate *self,
                                 const KhadimRpaMatcher  *matcher,
                                 int                      x,
                                 int                      y)
{
  KhadimRpaColours colours;
  double worst = 0.0;

  take_colours (&colours, matcher->picture, self, x, y);
  for (guint i = 0; i < G_N_ELEMENTS (colours.mean); i++)
    worst = MAX (worst, colour_distance (self->colours.mean[i], colours.mean[i]));

  return worst;
}

static gint64
take_mask (KhadimRpaTemplate *self)
{
  gint64 count = 0;

  self->mask = g_new (guint8, (gsize) self->width * (gsize) self->height);
  for (int y = 0; y < self->height; y++)
    for (int x = 0; x < self->width; x++)
      {
        guint8 alpha = _khadim_rpa_picture_row (self->picture, y)[x * KHADIM_RPA_PIXEL_BYTES + 3];
        guint8 counts = alpha >= OPAQUE;

        self->mask[(gsize) y * (gsize) self->width + (gsize) x] = counts;
        count += counts;
      }

  return count;
}

/* The largest rectangle under a row of bars that ends above row @end. */
static void
widest_under (const int     *bars,
              int            n,
              int            end,
              KhadimRpaRect *best)
{
  for (int left = 0; left < n; left++)
    {
      int height = bars[left];

      for (int right = left; right < n && bars[right] > 0; right++)
        {
          height = MIN (height, bars[right]);
          if (height * (right - left + 1) > best->width * best->height)
            *best = (KhadimRpaRect) { left, end - height, right - left + 1, height };
        }
    }
}

static KhadimRpaRect
largest_opaque (const KhadimRpaTemplate *self)
{
  g_autofree int *bars = g_new0 (int, (gsize) self->width);
  KhadimRpaRect best = { 0, 0, 0, 0 };

  for (int y = 0; y < self->height; y++)
    {
      for (int x = 0; x < self->width; x++)
        bars[x] = self->mask[(gsize) y * (gsize) self->width + (gsize) x] != 0 ? bars[x] + 1 : 0;
      widest_under (bars, self->width, y + 1, &best);
    }

  return best;
}

static double
grey_of (const guint8 *pixel)
{
  gint8 grey;

  _khadim_rpa_ncc_grey (pixel, 1, &grey);

  return grey;
}

static void
sum_masked (const KhadimRpaTemplate *self,
            const KhadimRpaPicture  *picture,
            int                      left,
            int                      top,
            double                  *out_sum,
            double                  *out_squares,
            double                  *out_products)
{
  *out_sum = *out_squares = *out_products = 0.0;
  for (int y = 0; y < self->height; y++)
    for (int x = 0; x < self->width; x++)
      {
        const guint8 *own = _khadim_rpa_picture_row (self->picture, y);
        const guint8 *other = _khadim_rpa_picture_row (picture, top + y);
        double value;

        if (self->mask[(gsize) y * (gsize) self->width + (gsize) x] == 0)
          continue;

        value = grey_of (other + (gsize) (left + x) * KHADIM_RPA_PIXEL_BYTES);
        *out_sum += value;
        *out_squares += value * value;
        *out_products += value * grey_of (own + (gsize) x * KHADIM_RPA_PIXEL_BYTES);
      }
}

/*
 * A masked score of s means that the two, at length 1, are √(2 − 2s) apart, so
 * in the core at most that; as the core holds the share e of the template's
 * energy, the angle there has a sine of at most √((2 − 2s) / e).
 */
static gboolean
set_probe (KhadimRpaTemplate  *self,
           double              similarity,
           GError            **error)
{
  double share = self->norm * self->norm / MAX (self->mask_norm * self->mask_norm, 1.0);
  double sine_squared = 2.0 * (1.0 - similarity) / MAX (share, 1e-9);

  self->probe_similarity = sine_squared < 1.0 ? sqrt (1.0 - sine_squared) - 1e-9 : 0.0;
  if (self->probe_similarity >= LEAST_PROBE_SIMILARITY)
    return TRUE;

  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
               "The largest opaque rectangle of the template, %d×%d px at %d,%d, holds %.0f %% "
               "of its contrast: too little at similarity %.2f",
               self->core.width, self->core.height, self->core.x, self->core.y, share * 100.0,
               similarity);
  return FALSE;
}

static gboolean
prepare_mask (KhadimRpaTemplate  *self,
              double              similarity,
              GError            **error)
{
  double sum, squares, products;

  self->mask_count = take_mask (self);
  if (self->mask_count == (gint64) self->width * self->height)
    {
      g_clear_pointer (&self->mask, g_free);
      return TRUE;
    }

  self->core = largest_opaque (self);
  if (self->core.width < KHADIM_RPA_MATCH_MIN_SIDE_PX
      || self->core.height < KHADIM_RPA_MATCH_MIN_SIDE_PX)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "No rectangle of %d×%d px of the template is opaque",
                   KHADIM_RPA_MATCH_MIN_SIDE_PX, KHADIM_RPA_MATCH_MIN_SIDE_PX);
      return FALSE;
    }

  sum_masked (self, self->picture, 0, 0, &sum, &squares, &products);
  self->mask_mean = sum / (double) self->mask_count;
  self->mask_norm = sqrt (MAX (0.0, squares - sum * self->mask_mean));

  return TRUE;
}

static gboolean
check_template (const KhadimRpaPicture  *picture,
                GError                 **error)
{
  if (picture->width_px < KHADIM_RPA_MATCH_MIN_SIDE_PX
      || picture->height_px < KHADIM_RPA_MATCH_MIN_SIDE_PX)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "A template of %d×%d px is too small: %d px a side at least",
                   picture->width_px, picture->height_px, KHADIM_RPA_MATCH_MIN_SIDE_PX);
      return FALSE;
    }

  if ((gint64) picture->width_px * picture->height_px > KHADIM_RPA_MATCH_MAX_TEMPLATE_PIXELS)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
                   "A template of %d×%d px has more than %d pixels", picture->width_px,
                   picture->height_px, KHADIM_RPA_MATCH_MAX_TEMPLATE_PIXELS);
      return FALSE;
    }

  return TRUE;
}

/*
 * _khadim_rpa_template_new:
 *
 * Any thread. Fails with INVALID, LIMIT, or UNSUPPORTED for a mask that leaves
 * too little.
 */
KhadimRpaTemplate *
_khadim_rpa_template_new (KhadimRpaMatcher  *matcher,
                          KhadimRpaPicture  *picture,
                          double             similarity,
                          GError           **error)
{
  g_autoptr(KhadimRpaTemplate) self = NULL;

  if (!check_template (picture, error))
    return NULL;

  self = g_new0 (KhadimRpaTemplate, 1);
  self->picture = khadim_rpa_picture_ref (picture);
  self->width = picture->width_px;
  self->height = picture->height_px;
  self->core = _khadim_rpa_picture_bounds (picture);
  self->probe_similarity = similarity;
  if (picture->has_alpha && !prepare_mask (self, similarity, error))
    return NULL;

  take_grey (self);
  take_colours (&self->colours, picture, self, 0, 0);
  if (self->mask != NULL && !set_probe (self, similarity, error))
    return NULL;

  if (self->norm > 0.0)
    choose_levels (self, matcher);

  return g_steal_pointer (&self);
}

static void
rate_masked (const KhadimRpaTemplate *self,
             const KhadimRpaMatcher  *matcher,
             KhadimRpaMatch          *match)
{
  double sum, squares, products, energy;

  sum_masked (self, matcher->picture, match->box.x, match->box.y, &sum, &squares, &products);
  energy = squares - sum * sum / (double) self->mask_count;
  if (energy < KHADIM_RPA_FLAT_ENERGY)
    return;

  match->score = (products - sum * self->mask_mean) / (self->mask_norm * sqrt (energy));
  match->contrast = sqrt (energy) / self->mask_norm;
}

/* The sum of a window and of its squares, from the integral images. */
static void
sum_window (const KhadimRpaTemplate *self,
            const KhadimRpaMatcher  *matcher,
            const KhadimRpaRect     *box,
            double                  *out_sum,
            double                  *out_squares)
{
  gsize top = (gsize) box->y * matcher->stride + (gsize) box->x;
  gsize bottom = top + (gsize) self->height * matcher->stride;
  gsize right = (gsize) self->width;
  const guint32 *sums = (const guint32 *) matcher->sums;
  const guint32 *squares = matcher->squares;

  *out_sum = (gint32) (sums[bottom + right] - sums[bottom] - sums[top + right] + sums[top]);
  *out_squares = (gint32) (squares[bottom + right] - squares[bottom] - squares[top + right]
                           + squares[top]);
}

/* Exact: the products are sums of integers. */
static void
rate_whole (const KhadimRpaTemplate *self,
            const KhadimRpaMatcher  *matcher,
            KhadimRpaMatch          *match)
{
  double sum, squares, mean, energy;
  gint64 product;

  sum_window (self, matcher, &match->box, &sum, &squares);
  mean = sum / self->n_pixels;
  energy = squares - sum * mean;
  if (self->norm <= 0.0)
    {
      double off = mean - (double) self->sum / self->n_pixels;

      match->score = flat_score (energy / self->n_pixels + off * off);
      match->contrast = 1.0;
      return;
    }

  if (energy < KHADIM_RPA_FLAT_ENERGY)
    return;

  product = _khadim_rpa_ncc_dot (
    matcher->grey + (gsize) match->box.y * matcher->stride + (gsize) match->box.x,
    matcher->stride, self->grey, self->grey_stride, self->height);
  match->score = ((double) product - mean * (double) self->sum) / (self->norm * sqrt (energy));
  match->contrast = sqrt (energy) / self->norm;
}

/*
 * _khadim_rpa_template_rate:
 * @match: its place is given; score and contrast are set, not the colour
 */
void
_khadim_rpa_template_rate (const KhadimRpaTemplate *self,
                           const KhadimRpaMatcher  *matcher,
                           KhadimRpaMatch          *match)
{
  match->score = 0.0;
  match->contrast = 0.0;
  if (self->mask != NULL)
    rate_masked (self, matcher, match);
  else
    rate_whole (self, matcher, match);
  match->score = CLAMP (match->score, -1.0, 1.0);
}
