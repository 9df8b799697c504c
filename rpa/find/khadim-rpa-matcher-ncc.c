/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-matcher-ncc"

#include "config.h"

#include "rpa/find/khadim-rpa-matcher-private.h"

#include <math.h>
#include <string.h>

/*
 * The inner loops of the matcher, in plain C that becomes vector code. Where the
 * compiler and the C library can choose at load time, there is a second version
 * for processors with 256-bit vectors.
 */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && __GNUC__ >= 12
#define VECTOR_CODE __attribute__ ((target_clones ("arch=x86-64-v3", "default")))
#else
#define VECTOR_CODE
#endif

/* ITU-R BT.601 luma in 32768ths: the grey values of OpenCV to the bit. */
#define LUMA_RED 9798
#define LUMA_GREEN 19235
#define LUMA_BLUE 3735
#define LUMA_SHIFT 15

#define LANES KHADIM_RPA_LANES

/* More than single precision loses of an energy or a score. */
#define RELATIVE_SLACK 1e-4f

/* Vectors of the compiler (GCC and Clang), of whatever length the processor has. */
typedef float Floats __attribute__ ((vector_size (32)));
typedef float UnalignedFloats __attribute__ ((vector_size (32), aligned (4), may_alias));

#define N_VECTORS (LANES * sizeof (float) / sizeof (Floats))

VECTOR_CODE void
_khadim_rpa_ncc_grey (const guint8 *bgrx,
                      int           width_px,
                      gint8        *grey)
{
  for (int x = 0; x < width_px; x++)
    {
      int luma = (LUMA_BLUE * bgrx[4 * x] + LUMA_GREEN * bgrx[4 * x + 1]
                  + LUMA_RED * bgrx[4 * x + 2] + (1 << (LUMA_SHIFT - 1))) >> LUMA_SHIFT;

      grey[x] = (gint8) (luma - KHADIM_RPA_GREY_OFFSET);
    }
}

/* Summed-area tables (Crow, 1984), as in Lewis, "Fast normalized
 * cross-correlation", 1995. */
void
_khadim_rpa_ncc_integrals (KhadimRpaMatcher *matcher)
{
  gsize stride = matcher->stride;

  for (int y = 0; y < matcher->height_px; y++)
    {
      const gint8 *grey = matcher->grey + (gsize) y * stride;
      const gint32 *sums_above = matcher->sums + (gsize) y * stride;
      const guint32 *squares_above = matcher->squares + (gsize) y * stride;
      gint32 *sums = matcher->sums + (gsize) (y + 1) * stride;
      guint32 *squares = matcher->squares + (gsize) (y + 1) * stride;
      gint32 sum = 0;
      guint32 square = 0;

      for (int x = 0; x < matcher->width_px; x++)
        {
          sum += grey[x];
          square += (guint32) (grey[x] * grey[x]);
          sums[x + 1] = (gint32) ((guint32) sums_above[x + 1] + (guint32) sum);
          squares[x + 1] = squares_above[x + 1] + square;
        }
    }
}

VECTOR_CODE static void
means_row (const gint32 *top,
           const gint32 *bottom,
           int           block_width,
           int           n,
           float         factor,
           float        *means)
{
  for (int x = 0; x < n; x++)
    {
      guint32 sum = (guint32) bottom[x + block_width] - (guint32) bottom[x]
                    - (guint32) top[x + block_width] + (guint32) top[x];

      means[x] = (float) (gint32) sum * factor;
    }
}

void
_khadim_rpa_ncc_means (const KhadimRpaMatcher *matcher,
                       int                     block_width,
                       int                     block_height,
                       float                  *means)
{
  float factor = 1.0f / (float) (block_width * block_height);
  gsize stride = matcher->stride;

  for (int y = 0; y + block_height <= matcher->height_px; y++)
    means_row (matcher->sums + (gsize) y * stride,
               matcher->sums + (gsize) (y + block_height) * stride, block_width,
               matcher->width_px - block_width + 1, factor, means + (gsize) y * stride);
}

/* The squared deviation from the mean, and the mean, of the windows at LANES
 * positions. Returns the largest deviation. */
static inline __attribute__ ((always_inline)) float
window_energies (const KhadimRpaMatcher *matcher,
                 gsize                   top,
                 int                     width,
                 int                     height,
                 float                  *energies,
                 float                  *means)
{
  gsize bottom = top + (gsize) height * matcher->stride;
  const guint32 *s0 = (const guint32 *) matcher->sums + top;
  const guint32 *s1 = (const guint32 *) matcher->sums + bottom;
  const guint32 *q0 = matcher->squares + top;
  const guint32 *q1 = matcher->squares + bottom;
  double factor = 1.0 / ((double) width * height);
  float largest = 0.0f;

  for (int i = 0; i < LANES; i++)
    {
      gint32 sum = (gint32) (s1[i + width] - s1[i] - s0[i + width] + s0[i]);
      gint32 squares = (gint32) (q1[i + width] - q1[i] - q0[i + width] + q0[i]);
      double mean = sum * factor;

      means[i] = (float) mean;
      energies[i] = (float) (squares - sum * mean);
    }
  for (int i = 0; i < LANES; i++)
    {
      energies[i] = MAX (energies[i], 0.0f); /* rounding, or no window */
      largest = MAX (largest, energies[i]);
    }

  return largest;
}

static inline __attribute__ ((always_inline)) void
clear_floats (Floats *floats)
{
  for (gsize v = 0; v < N_VECTORS; v++)
    floats[v] = (Floats) { 0 };
}

/* Adds blocks @from to @end of a level to the products and energies. */
static inline __attribute__ ((always_inline)) void
add_blocks (const KhadimRpaLevel *level,
            const float          *corner,
            int                   from,
            int                   end,
            const float          *window_means,
            Floats               *products,
            Floats               *blocks)
{
  const UnalignedFloats *mean = (const UnalignedFloats *) window_means;

  for (int b = from; b < end; b++)
    {
      const UnalignedFloats *means = (const UnalignedFloats *) (corner + level->offsets[b]);
      float share = level->shares[b];

      for (gsize v = 0; v < N_VECTORS; v++)
        {
          Floats deviation = means[v] - mean[v];

          products[v] += share * deviation;
          blocks[v] += deviation * deviation;
        }
    }
}

/* Whether <Pt, Pw> + |t - Pt| |w - Pw| >= s |w| at any of the positions, without
 * the roots of the left side. Windows of one grey value never do. */
static inline __attribute__ ((always_inline)) gboolean
may_reach (const KhadimRpaLevel *level,
           float                 lost,
           float                 similarity,
           const float          *energies,
           const float          *products,
           const float          *blocks)
{
  float area = (float) (level->block_width * level->block_height);
  float slack = level->energy_slack, product_slack = level->product_slack;
  float best = -1.0f;

  for (int i = 0; i < LANES; i++)
    {
      float energy = energies[i];
      float rest = MAX (0.0f, energy - area * blocks[i]) + energy * RELATIVE_SLACK + slack;
      float missing = (similarity - RELATIVE_SLACK) * sqrtf (energy) - products[i] - product_slack;
      float wanted = MAX (missing, 0.0f);
      float margin = lost * lost * rest - wanted * wanted;

      best = MAX (best, energy >= KHADIM_RPA_FLAT_ENERGY ? margin : -1.0f);
    }

  return best >= 0.0f;
}

/*
 * An upper bound of the product at each position of a strip. Let t be the
 * template and w the window, both less their means, t of length 1, and P the
 * projection on pictures that are constant in each block and 0 elsewhere. Then
 *
 *   <t, w> = <Pt, Pw> + <t - Pt, w - Pw>
 *         <= <Pt, Pw> + |t - Pt| |w - Pw|
 *
 * by Cauchy and Schwarz, and |w - Pw|² = |w|² - |Pw|². The first product needs
 * one multiplication a block instead of one a pixel. (The idea is that of
 * bounded partial correlation: Di Stefano and Mattoccia, 2003.)
 *
 * Looks at @n_strips strips from (@x, @y) on through the first few blocks only.
 * Returns a bit for each strip that is left.
 */
VECTOR_CODE guint32
_khadim_rpa_ncc_scan (const KhadimRpaMatcher *matcher,
                      const KhadimRpaLevel   *level,
                      int                     x,
                      int                     y,
                      int                     width,
                      int                     height,
                      int                     n_strips,
                      float                   similarity)
{
  int n_blocks = MIN (KHADIM_RPA_FIRST_CHECK, level->n_blocks);
  guint32 left = 0;

  for (int s = 0; s < n_strips; s++)
    {
      gsize position = (gsize) y * matcher->stride + (gsize) (x + s * LANES);
      Floats products[N_VECTORS], blocks[N_VECTORS];
      float energies[LANES], means[LANES];

      if (window_energies (matcher, position, width, height, energies, means)
          < KHADIM_RPA_FLAT_ENERGY)
        continue;

      clear_floats (products);
      clear_floats (blocks);
      add_blocks (level, level->means + position, 0, n_blocks, means, products, blocks);
      if (may_reach (level, level->lost[0], similarity, energies, (const float *) products,
                     (const float *) blocks))
        left |= 1u << s;
    }

  return left;
}

/* Fills the strip's energies. */
VECTOR_CODE void
_khadim_rpa_ncc_energies (const KhadimRpaMatcher *matcher,
                          int                     x,
                          int                     y,
                          int                     width,
                          int                     height,
                          KhadimRpaStrip         *strip)
{
  window_energies (matcher, (gsize) y * matcher->stride + (gsize) x, width, height, strip->energy,
                   strip->mean);
}

/*
 * Fills the strip's products, and the energies that at most @most_blocks of the
 * level keep. @position is where the strip begins in the plane of means. Returns
 * FALSE, often after few blocks, if no position can reach the similarity.
 */
VECTOR_CODE gboolean
_khadim_rpa_ncc_bounds (const KhadimRpaLevel *level,
                        gsize                 position,
                        int                   most_blocks,
                        float                 similarity,
                        KhadimRpaStrip       *strip)
{
  Floats products[N_VECTORS], blocks[N_VECTORS];
  int n_blocks = MIN (most_blocks, level->n_blocks), b = 0, check = 0;
  gboolean may;

  clear_floats (products);
  clear_floats (blocks);
  do
    {
      int end = MIN (KHADIM_RPA_FIRST_CHECK << check, n_blocks);

      add_blocks (level, level->means + position, b, end, strip->mean, products, blocks);
      may = may_reach (level, level->lost[check++], similarity, strip->energy,
                       (const float *) products, (const float *) blocks);
      b = end;
    }
  while (may && b < n_blocks);

  memcpy (strip->product, products, sizeof products);
  memcpy (strip->blocks, blocks, sizeof blocks);

  return may;
}

/* About the best score in a strip: what the blocks say of the template and of the
 * windows, as if the rest were alike. */
VECTOR_CODE float
_khadim_rpa_ncc_guess (const KhadimRpaLevel *level,
                       const KhadimRpaStrip *strip,
                       float                *guesses)
{
  float area = (float) (level->block_width * level->block_height);
  float kept = (float) level->kept_by_guess, best = -1.0f;

  for (int i = 0; i < LANES; i++)
    {
      float energy = MAX (strip->energy[i], 1.0f);
      float guess = strip->product[i] * sqrtf (energy)
                    / MAX (kept * energy, area * strip->blocks[i]);

      guesses[i] = strip->energy[i] >= KHADIM_RPA_FLAT_ENERGY ? guess : -1.0f;
      best = MAX (best, guesses[i]);
    }

  return best;
}

/* The rows of @templ are padded with zeros. */
VECTOR_CODE gint64
_khadim_rpa_ncc_dot (const gint8 *window,
                     gsize        window_stride,
                     const gint8 *templ,
                     gsize        templ_stride,
                     int          height)
{
  gint64 total = 0;

  for (int y = 0; y < height; y++)
    {
      const gint8 *a = window + (gsize) y * window_stride;
      const gint8 *b = templ + (gsize) y * templ_stride;
      gint32 sum = 0;

      for (gsize strip = 0; strip < templ_stride; strip += KHADIM_RPA_ROW_PIXELS)
        for (int i = 0; i < KHADIM_RPA_ROW_PIXELS; i++)
          sum += a[strip + (gsize) i] * b[strip + (gsize) i];
      total += sum;
    }

  return total;
}
