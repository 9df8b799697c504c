/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "rpa/find/khadim-rpa-picture.h"

G_BEGIN_DECLS

/**
 * KHADIM_RPA_MATCH_MIN_SIDE_PX:
 *
 * The smallest side of a template; fewer pixels say too little.
 */
#define KHADIM_RPA_MATCH_MIN_SIDE_PX 4

/**
 * KHADIM_RPA_MATCH_MAX_TEMPLATE_PIXELS:
 *
 * The largest template, in pixels: sums of squares fit 31 bits.
 */
#define KHADIM_RPA_MATCH_MAX_TEMPLATE_PIXELS (360 * 360)

/**
 * KHADIM_RPA_MATCH_MAX_SCALES:
 *
 * How many scales one search tries.
 */
#define KHADIM_RPA_MATCH_MAX_SCALES 32

/**
 * KHADIM_RPA_MATCH_MAX_MATCHES:
 *
 * How many matches one search lists.
 */
#define KHADIM_RPA_MATCH_MAX_MATCHES 1024

/**
 * KHADIM_RPA_MATCH_MAX_THREADS:
 *
 * How many threads one search uses.
 */
#define KHADIM_RPA_MATCH_MAX_THREADS 16

/**
 * KhadimRpaMatchOptions:
 * @region: where to look, in pixels of the screen picture; empty for all of it
 * @similarity: the least score of a match, above 0 up to 1
 * @colour_tolerance: how far the colour may be off, in levels of 0 to 255
 *   averaged over a sixteenth of the template; negative for any colour
 * @scales: (nullable): the sizes of the template to try, 1.0 being as it is
 * @n_scales: how many; 0 for 1.0 only
 * @max_matches: the most matches to list
 * @n_threads: how many threads to use
 *
 * How to search. Start from %KHADIM_RPA_MATCH_OPTIONS_INIT.
 */
typedef struct
{
  KhadimRpaRect region;
  double        similarity;
  double        colour_tolerance;
  const double *scales;
  guint         n_scales;
  guint         max_matches;
  guint         n_threads;
} KhadimRpaMatchOptions;

/**
 * KHADIM_RPA_MATCH_OPTIONS_INIT:
 *
 * The defaults: the whole picture, similarity 0.9, colour checked, scale 1, at
 * most 64 matches, one thread.
 */
#define KHADIM_RPA_MATCH_OPTIONS_INIT { { 0, 0, 0, 0 }, 0.9, 24.0, NULL, 0, 64, 1 }

/**
 * KhadimRpaMatch:
 * @box: where, in pixels of the screen picture
 * @score: zero-mean normalised cross-correlation, -1 to 1; for a template of
 *   one colour, 1 less the distance
 * @scale: the size of the template that matched
 * @colour_distance: how far the colour is off, in levels of 0 to 255
 * @contrast: contrast of the place divided by that of the template; far from
 *   1 for a button that is greyed out
 *
 * A place that looks like the template.
 */
typedef struct
{
  KhadimRpaRect box;
  double        score;
  double        scale;
  double        colour_distance;
  double        contrast;
} KhadimRpaMatch;

/**
 * KhadimRpaMatches:
 * @matches: (array length=n_matches): the matches, best first, then from top
 *   to bottom and left to right; none covers half of another
 * @n_matches: how many
 * @nearest: (array length=n_nearest): when nothing matches, the places that
 *   come closest, best first
 * @n_nearest: how many
 *
 * What a search found.
 */
typedef struct
{
  KhadimRpaMatch *matches;
  guint           n_matches;
  KhadimRpaMatch *nearest;
  guint           n_nearest;
} KhadimRpaMatches;

#define KHADIM_RPA_TYPE_MATCHES (khadim_rpa_matches_get_type ())
GType             khadim_rpa_matches_get_type (void);
KhadimRpaMatches *khadim_rpa_matches_copy     (const KhadimRpaMatches *self);
void              khadim_rpa_matches_free     (KhadimRpaMatches       *self);

/**
 * KhadimRpaMatcher:
 *
 * Looks for templates on one picture. What it works out about the picture is
 * kept for the next template. Any thread may use it, several at once.
 */
typedef struct _KhadimRpaMatcher KhadimRpaMatcher;

#define KHADIM_RPA_TYPE_MATCHER (khadim_rpa_matcher_get_type ())
GType khadim_rpa_matcher_get_type (void);

KhadimRpaMatcher *khadim_rpa_matcher_new         (KhadimRpaPicture             *screen);
KhadimRpaMatcher *khadim_rpa_matcher_ref         (KhadimRpaMatcher             *self);
void              khadim_rpa_matcher_unref       (KhadimRpaMatcher             *self);
KhadimRpaPicture *khadim_rpa_matcher_get_picture (KhadimRpaMatcher             *self);
KhadimRpaMatches *khadim_rpa_matcher_find        (KhadimRpaMatcher             *self,
                                                  KhadimRpaPicture             *templ,
                                                  const KhadimRpaMatchOptions  *options,
                                                  GCancellable                 *cancellable,
                                                  GError                      **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimRpaMatches, khadim_rpa_matches_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimRpaMatcher, khadim_rpa_matcher_unref)

G_END_DECLS
