/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-matcher"

#include "config.h"

#include "rpa/find/khadim-rpa-matcher.h"

#include <math.h>
#include <sys/mman.h>

#include "rpa/screen/khadim-rpa-error.h"

#include "rpa/find/khadim-rpa-matcher-private.h"
#include "rpa/find/khadim-rpa-picture-private.h"

/* How many places a search reports when nothing matches. */
#define MAX_NEAREST 5

/* Readable elements after each row: one strip, a template's padding, and the
 * first column of the integral images. */
#define ROW_PADDING (3 * KHADIM_RPA_LANES + 1)

/* How many sizes of blocks are kept for a picture. */
#define MAX_PLANES 6

#define MIN_SCALE 0.1
#define MAX_SCALE 10.0

/* Scales closer to 1 than this leave the template as it is. */
#define SCALE_EPSILON 1e-6

G_DEFINE_BOXED_TYPE (KhadimRpaMatcher,
                     khadim_rpa_matcher,
                     khadim_rpa_matcher_ref,
                     khadim_rpa_matcher_unref)

G_DEFINE_BOXED_TYPE (KhadimRpaMatches,
                     khadim_rpa_matches,
                     khadim_rpa_matches_copy,
                     khadim_rpa_matches_free)

/**
 * khadim_rpa_matches_copy:
 * @self: matches
 *
 * Any thread.
 *
 * Returns: (transfer full): a copy
 */
KhadimRpaMatches *
khadim_rpa_matches_copy (const KhadimRpaMatches *self)
{
  KhadimRpaMatches *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = g_memdup2 (self, sizeof *self);
  copy->matches = g_memdup2 (self->matches, self->n_matches * sizeof *self->matches);
  copy->nearest = g_memdup2 (self->nearest, self->n_nearest * sizeof *self->nearest);

  return copy;
}

/**
 * khadim_rpa_matches_free:
 * @self: (transfer full) (nullable): matches
 *
 * Any thread.
 */
void
khadim_rpa_matches_free (KhadimRpaMatches *self)
{
  if (self == NULL)
    return;

  g_free (self->matches);
  g_free (self->nearest);
  g_free (self);
}

/* Zeroed memory in large pages where the system has them: the planes of a screen
 * would otherwise cost a page fault for every 4 kB. */
gpointer
_khadim_rpa_plane_new (gsize n_bytes)
{
  gpointer plane = mmap (NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (plane == MAP_FAILED)
    g_error ("No memory for %" G_GSIZE_FORMAT " bytes", n_bytes);
#ifdef MADV_HUGEPAGE
  if (madvise (plane, n_bytes, MADV_HUGEPAGE) != 0)
    g_debug ("No large pages");
#endif

  return plane;
}

void
_khadim_rpa_plane_free (gpointer plane,
                        gsize    n_bytes)
{
  if (plane != NULL)
    munmap (plane, n_bytes);
}

/* Elements of a plane: one row more than the picture for the integral images,
 * and one for what is read past the last. */
static gsize
plane_length (const KhadimRpaMatcher *self)
{
  return self->stride * (gsize) (self->height_px + 2);
}

/**
 * khadim_rpa_matcher_new:
 * @screen: the picture to search
 *
 * Makes a picture ready for searches. Any thread; costs about 3 ms a megapixel
 * and 9 bytes a pixel, and 4 bytes a pixel for each of up to seven block sizes
 * that templates need.
 *
 * Returns: (transfer full): the matcher
 */
KhadimRpaMatcher *
khadim_rpa_matcher_new (KhadimRpaPicture *screen)
{
  KhadimRpaMatcher *self;
  gsize n;

  g_return_val_if_fail (screen != NULL, NULL);

  self = g_new0 (KhadimRpaMatcher, 1);
  g_atomic_ref_count_init (&self->ref_count);
  g_mutex_init (&self->lock);
  self->picture = khadim_rpa_picture_ref (screen);
  self->width_px = screen->width_px;
  self->height_px = screen->height_px;
  self->stride = (gsize) screen->width_px + ROW_PADDING;
  n = plane_length (self);
  self->grey = _khadim_rpa_plane_new (n * sizeof *self->grey);
  self->sums = _khadim_rpa_plane_new (n * sizeof *self->sums);
  self->squares = _khadim_rpa_plane_new (n * sizeof *self->squares);
  for (int y = 0; y < screen->height_px; y++)
    _khadim_rpa_ncc_grey (_khadim_rpa_picture_row (screen, y), screen->width_px,
                          self->grey + (gsize) y * self->stride);
  _khadim_rpa_ncc_integrals (self);

  return self;
}

/**
 * khadim_rpa_matcher_ref:
 * @self: a matcher
 *
 * Takes a reference. Any thread.
 *
 * Returns: (transfer full): @self
 */
KhadimRpaMatcher *
khadim_rpa_matcher_ref (KhadimRpaMatcher *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

/**
 * khadim_rpa_matcher_unref:
 * @self: (transfer full) (nullable): a matcher
 *
 * Drops a reference; with the last one the matcher is freed. Any thread.
 */
void
khadim_rpa_matcher_unref (KhadimRpaMatcher *self)
{
  gsize n;

  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;

  n = plane_length (self);
  for (guint w = 0; w < KHADIM_RPA_N_BLOCK_SIDES; w++)
    for (guint h = 0; h < KHADIM_RPA_N_BLOCK_SIDES; h++)
      _khadim_rpa_plane_free (self->means[w][h], n * sizeof *self->means[w][h]);
  _khadim_rpa_plane_free (self->grey, n * sizeof *self->grey);
  _khadim_rpa_plane_free (self->sums, n * sizeof *self->sums);
  _khadim_rpa_plane_free (self->squares, n * sizeof *self->squares);
  g_mutex_clear (&self->lock);
  khadim_rpa_picture_unref (self->picture);
  g_free (self);
}

/**
 * khadim_rpa_matcher_get_picture:
 * @self: a matcher
 *
 * Any thread.
 *
 * Returns: (transfer none): the picture that it searches
 */
KhadimRpaPicture *
khadim_rpa_matcher_get_picture (KhadimRpaMatcher *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->picture;
}

/* Whether the means of blocks of a size are there or may be worked out: many
 * templates on one picture must not take ever more memory. Blocks of one pixel,
 * which fit every template, always may. */
gboolean
_khadim_rpa_matcher_may_have_means (KhadimRpaMatcher *self,
                                    int               log_width,
                                    int               log_height)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  return self->n_means < MAX_PLANES || self->means[log_width][log_height] != NULL
         || (log_width == 0 && log_height == 0);
}

/* The means of all blocks of a size, worked out when first needed. */
const float *
_khadim_rpa_matcher_get_means (KhadimRpaMatcher *self,
                               int               log_width,
                               int               log_height)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  float **means = &self->means[log_width][log_height];

  if (*means == NULL)
    {
      self->n_means++;
      *means = _khadim_rpa_plane_new (plane_length (self) * sizeof **means);
      _khadim_rpa_ncc_means (self, 1 << log_width, 1 << log_height, *means);
    }

  return *means;
}

static gboolean
check_scales (const KhadimRpaMatchOptions  *options,
              GError                      **error)
{
  if (options->n_scales > KHADIM_RPA_MATCH_MAX_SCALES)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
                   "%u scales are more than %d", options->n_scales, KHADIM_RPA_MATCH_MAX_SCALES);
      return FALSE;
    }

  for (guint i = 0; i < options->n_scales; i++)
    {
      double scale = options->scales[i];

      if (!(scale >= MIN_SCALE && scale <= MAX_SCALE))
        {
          g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                       "scales[%u]: %g is not in %g to %g", i, scale, MIN_SCALE, MAX_SCALE);
          return FALSE;
        }
    }

  return TRUE;
}

static gboolean
check_options (const KhadimRpaMatchOptions  *options,
               GError                      **error)
{
  if (!(options->similarity > 0.0 && options->similarity <= 1.0))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "similarity: %g is not above 0 and up to 1", options->similarity);
      return FALSE;
    }

  if (options->max_matches < 1 || options->max_matches > KHADIM_RPA_MATCH_MAX_MATCHES
      || options->n_threads < 1 || options->n_threads > KHADIM_RPA_MATCH_MAX_THREADS)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
                   "%u matches or %u threads: 1 to %d and 1 to %d are allowed",
                   options->max_matches, options->n_threads, KHADIM_RPA_MATCH_MAX_MATCHES,
                   KHADIM_RPA_MATCH_MAX_THREADS);
      return FALSE;
    }

  return check_scales (options, error);
}

/* Where the top left corner of a template of a size may be; none is no error. */
static gboolean
find_anchors (const KhadimRpaMatcher      *self,
              const KhadimRpaMatchOptions *options,
              const KhadimRpaTemplate     *templ,
              KhadimRpaRect               *anchors)
{
  KhadimRpaRect bounds = { 0, 0, self->width_px, self->height_px };

  *anchors = bounds;
  if (options->region.width > 0 && options->region.height > 0
      && !khadim_rpa_rect_intersect (&bounds, &options->region, anchors))
    return FALSE;

  anchors->width -= templ->width - 1;
  anchors->height -= templ->height - 1;

  return anchors->width > 0 && anchors->height > 0;
}

static gboolean
find_at_scale (KhadimRpaMatcher             *self,
               KhadimRpaPicture             *picture,
               double                        scale,
               const KhadimRpaMatchOptions  *options,
               GCancellable                 *cancellable,
               GArray                       *hits,
               GArray                       *nearest,
               GError                      **error)
{
  g_autoptr(KhadimRpaTemplate) templ = NULL;
  KhadimRpaSearch search = { self };

  templ = _khadim_rpa_template_new (self, picture, options->similarity, error);
  if (templ == NULL)
    return FALSE;

  if (!find_anchors (self, options, templ, &search.anchors))
    return TRUE;

  search.templ = templ;
  search.similarity = options->similarity;
  search.colour_tolerance = options->colour_tolerance;
  search.scale = scale;
  search.n_threads = options->n_threads;
  search.cancellable = cancellable;
  if (options->max_matches == 1 && templ->mask == NULL
      && _khadim_rpa_search_equal (&search, hits))
    return TRUE;

  if (_khadim_rpa_search_run (&search, hits, nearest))
    return TRUE;

  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED,
               "The search for a template of %d×%d px was cancelled", picture->width_px,
               picture->height_px);
  return FALSE;
}

static KhadimRpaPicture *
scale_template (KhadimRpaPicture  *templ,
                double             scale,
                GError           **error)
{
  if (fabs (scale - 1.0) < SCALE_EPSILON)
    return khadim_rpa_picture_ref (templ);

  return khadim_rpa_picture_resize (
    templ, MAX (KHADIM_RPA_MATCH_MIN_SIDE_PX, (int) lround (templ->width_px * scale)),
    MAX (KHADIM_RPA_MATCH_MIN_SIDE_PX, (int) lround (templ->height_px * scale)), error);
}

static KhadimRpaMatches *
take_matches (GArray *hits,
              GArray *nearest,
              guint   max_matches)
{
  KhadimRpaMatches *self = g_new0 (KhadimRpaMatches, 1);

  _khadim_rpa_matches_thin (hits, max_matches);
  self->n_matches = hits->len;
  if (hits->len > 0)
    {
      self->matches = (KhadimRpaMatch *) (gpointer) g_array_free (hits, FALSE);
      g_array_unref (nearest);
      return self;
    }

  _khadim_rpa_matches_thin (nearest, MAX_NEAREST);
  self->n_nearest = nearest->len;
  self->nearest = (KhadimRpaMatch *) (gpointer) g_array_free (nearest, FALSE);
  g_array_unref (hits);

  return self;
}

static gboolean
find_at_scales (KhadimRpaMatcher             *self,
                KhadimRpaPicture             *templ,
                const KhadimRpaMatchOptions  *options,
                GCancellable                 *cancellable,
                GArray                       *hits,
                GArray                       *nearest,
                GError                      **error)
{
  for (guint i = 0; i < MAX (options->n_scales, 1); i++)
    {
      double scale = options->n_scales == 0 ? 1.0 : options->scales[i];
      g_autoptr(KhadimRpaPicture) scaled = scale_template (templ, scale, error);

      if (scaled == NULL)
        return FALSE;
      if (!find_at_scale (self, scaled, scale, options, cancellable, hits, nearest, error))
        {
          if (options->n_scales > 0)
            g_prefix_error (error, "scales[%u]: ", i);
          return FALSE;
        }
    }

  return TRUE;
}

/**
 * khadim_rpa_matcher_find:
 * @self: a matcher
 * @templ: what to look for; if it has opacity, only pixels that are at least
 *   half opaque count
 * @options: (nullable): how to search, %NULL for the defaults
 * @cancellable: (nullable): looked at many times a second
 * @error: return location for an error
 *
 * Finds every place where the zero-mean normalised cross-correlation of grey
 * values (Lewis, "Fast normalized cross-correlation", 1995; the measure that
 * OpenCV calls TM_CCOEFF_NORMED) reaches the similarity and the colour agrees.
 * Templates of one colour are compared by grey distance instead. Nothing that
 * reaches the similarity is missed: positions are excluded by upper bounds only,
 * and scores are exact. Of overlapping places the best is listed; with
 * `max_matches` 1 the first that equals the template is enough.
 *
 * To find nothing is no error. Any thread; blocks while it searches.
 *
 * Returns: (transfer full) (nullable): what was found, or %NULL with
 *   %KHADIM_RPA_ERROR_INVALID, %KHADIM_RPA_ERROR_LIMIT,
 *   %KHADIM_RPA_ERROR_UNSUPPORTED (a mask that leaves too little) or
 *   %KHADIM_RPA_ERROR_CANCELLED
 */
KhadimRpaMatches *
khadim_rpa_matcher_find (KhadimRpaMatcher             *self,
                         KhadimRpaPicture             *templ,
                         const KhadimRpaMatchOptions  *options,
                         GCancellable                 *cancellable,
                         GError                      **error)
{
  const KhadimRpaMatchOptions defaults = KHADIM_RPA_MATCH_OPTIONS_INIT;
  g_autoptr(GArray) hits = NULL, nearest = NULL;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (templ != NULL, NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (options == NULL)
    options = &defaults;
  if (!check_options (options, error))
    return NULL;

  hits = g_array_new (FALSE, FALSE, sizeof (KhadimRpaMatch));
  nearest = g_array_new (FALSE, FALSE, sizeof (KhadimRpaMatch));
  if (!find_at_scales (self, templ, options, cancellable, hits, nearest, error))
    return NULL;

  return take_matches (g_steal_pointer (&hits), g_steal_pointer (&nearest),
                       options->max_matches);
}
