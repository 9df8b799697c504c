/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/find/khadim-rpa-matcher.h"

G_BEGIN_DECLS

/* Neighbouring positions that are worked on together. */
#define KHADIM_RPA_LANES 32

/* The rows of a template are padded to a multiple of this. */
#define KHADIM_RPA_ROW_PIXELS 16

/* Block sides are powers of two up to 2^4. */
#define KHADIM_RPA_N_BLOCK_SIDES 5

/* Grey values are kept less this, which makes the sums smaller. */
#define KHADIM_RPA_GREY_OFFSET 128

/* A window whose squared deviation from its mean is less has one grey value:
 * one pixel off by one level gives 1 - 1/n. */
#define KHADIM_RPA_FLAT_ENERGY 0.5f

/* What is known of the picture that is searched. All rows are followed by
 * enough readable bytes for a strip that begins at the last position. */
struct _KhadimRpaMatcher
{
  gatomicrefcount   ref_count;
  KhadimRpaPicture *picture; /* owned */
  int               width_px;
  int               height_px;
  gsize             stride; /* elements of a row, in all planes */
  gint8            *grey;    /* all planes are from _khadim_rpa_plane_new */
  gint32           *sums;    /* integral image, first row and column 0 */
  guint32          *squares; /* integral image of the squares, modulo 2^32 */
  GMutex            lock;    /* guards means and n_means */
  guint             n_means;
  float            *means[KHADIM_RPA_N_BLOCK_SIDES][KHADIM_RPA_N_BLOCK_SIDES];
};

/* The windows of a template's size whose left edges are LANES pixels in a row. */
typedef struct
{
  float energy[KHADIM_RPA_LANES]; /* squared deviation from the mean */
  float mean[KHADIM_RPA_LANES];
  float product[KHADIM_RPA_LANES]; /* with the template, through the blocks */
  float blocks[KHADIM_RPA_LANES];  /* for the energy that the blocks keep, of
                                      which this is one part in their area */
} KhadimRpaStrip;

/* After how many blocks of a level a position may be given up: 12, 24, 48 … */
#define KHADIM_RPA_FIRST_CHECK 12
#define KHADIM_RPA_MAX_CHECKS 12

/* How many blocks the likeliest places are told from. */
#define KHADIM_RPA_GUESS_BLOCKS 16

/* The template seen through some blocks of pixels, those first that tell most. */
typedef struct
{
  const float *means; /* borrowed; block means of the screen, all offsets */
  int          block_width, block_height;
  int          n_blocks;
  gsize       *offsets; /* owned; of each block in the plane of means */
  float       *shares;  /* owned; weight of each block */
  double       kept;    /* the share of the template's energy that they keep */
  double       kept_by_guess;
  float        lost[KHADIM_RPA_MAX_CHECKS]; /* roots of the shares that the
                                               blocks up to a check lose */
  float        energy_slack;  /* what single precision may lose */
  float        product_slack;
} KhadimRpaLevel;

gpointer _khadim_rpa_plane_new  (gsize    n_bytes);
void     _khadim_rpa_plane_free (gpointer plane,
                                 gsize    n_bytes);

void   _khadim_rpa_ncc_grey          (const guint8           *bgrx,
                                      int                     width_px,
                                      gint8                  *grey);
guint32  _khadim_rpa_ncc_scan        (const KhadimRpaMatcher *matcher,
                                      const KhadimRpaLevel   *level,
                                      int                     x,
                                      int                     y,
                                      int                     width,
                                      int                     height,
                                      int                     n_strips,
                                      float                   similarity);
void   _khadim_rpa_ncc_energies      (const KhadimRpaMatcher *matcher,
                                      int                     x,
                                      int                     y,
                                      int                     width,
                                      int                     height,
                                      KhadimRpaStrip         *strip);
gboolean _khadim_rpa_ncc_bounds      (const KhadimRpaLevel   *level,
                                      gsize                   position,
                                      int                     most_blocks,
                                      float                   similarity,
                                      KhadimRpaStrip         *strip);
float  _khadim_rpa_ncc_guess         (const KhadimRpaLevel   *level,
                                      const KhadimRpaStrip   *strip,
                                      float                  *guesses);
gint64 _khadim_rpa_ncc_dot           (const gint8            *window,
                                      gsize                   window_stride,
                                      const gint8            *templ,
                                      gsize                   templ_stride,
                                      int                     height);
void   _khadim_rpa_ncc_integrals     (KhadimRpaMatcher       *matcher);
void   _khadim_rpa_ncc_means         (const KhadimRpaMatcher *matcher,
                                      int                     block_width,
                                      int                     block_height,
                                      float                  *means);

gboolean _khadim_rpa_matcher_may_have_means (KhadimRpaMatcher *self,
                                             int               log_width,
                                             int               log_height);
const float *_khadim_rpa_matcher_get_means (KhadimRpaMatcher *self,
                                            int               log_width,
                                            int               log_height);

/* Colour is compared in a grid of cells. */
#define KHADIM_RPA_COLOUR_CELLS 4

/* Mean blue, green and red of each cell. */
typedef struct
{
  double mean[KHADIM_RPA_COLOUR_CELLS * KHADIM_RPA_COLOUR_CELLS][3];
} KhadimRpaColours;

#define KHADIM_RPA_MAX_LEVELS 2

/* A template made ready for one picture. With a mask, the search is done with
 * the largest opaque rectangle, and what it finds is checked with the mask. */
typedef struct
{
  KhadimRpaPicture *picture; /* owned */
  int               width, height;
  KhadimRpaRect     core;    /* what is searched for; all without a mask */
  int               n_pixels; /* of the core */
  gint8            *grey;     /* owned; of the core */
  gsize             grey_stride;
  gint64            sum;
  double            norm; /* 0 for one colour only */
  guint8           *mask; /* owned, nullable; width × height of 0 and 1 */
  gint64            mask_count;
  double            mask_norm;
  double            mask_mean;
  KhadimRpaColours  colours;
  KhadimRpaLevel    levels[KHADIM_RPA_MAX_LEVELS];
  guint             n_levels;
  double            probe_similarity; /* the least score of the core */
} KhadimRpaTemplate;

KhadimRpaTemplate *_khadim_rpa_template_new        (KhadimRpaMatcher        *matcher,
                                                    KhadimRpaPicture        *picture,
                                                    double                   similarity,
                                                    GError                 **error);
void               _khadim_rpa_template_free       (KhadimRpaTemplate       *self);
void               _khadim_rpa_template_rate       (const KhadimRpaTemplate *self,
                                                    const KhadimRpaMatcher  *matcher,
                                                    KhadimRpaMatch          *match);
double             _khadim_rpa_template_colour_off (const KhadimRpaTemplate *self,
                                                    const KhadimRpaMatcher  *matcher,
                                                    int                      x,
                                                    int                      y);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimRpaTemplate, _khadim_rpa_template_free)

/* One template at one size on one picture. */
typedef struct
{
  KhadimRpaMatcher        *matcher;  /* borrowed */
  const KhadimRpaTemplate *templ;    /* borrowed */
  KhadimRpaRect            anchors;  /* where the top left corner may be */
  double                   similarity;
  double                   colour_tolerance;
  double                   scale;
  guint                    n_threads;
  GCancellable            *cancellable; /* borrowed */
} KhadimRpaSearch;

gboolean _khadim_rpa_search_run   (const KhadimRpaSearch *self,
                                   GArray                *hits,
                                   GArray                *nearest);
gboolean _khadim_rpa_search_equal (const KhadimRpaSearch *self,
                                   GArray                *hits);
void     _khadim_rpa_matches_thin (GArray                *matches,
                                   guint                  most);

G_END_DECLS
