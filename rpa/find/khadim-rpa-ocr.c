/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-ocr"

#include "config.h"

#include "rpa/find/khadim-rpa-ocr.h"

#include <string.h>

#include <leptonica/allheaders.h>
#include <tesseract/capi.h>

#include "rpa/screen/khadim-rpa-error.h"

#include "rpa/find/khadim-rpa-matcher-private.h"
#include "rpa/find/khadim-rpa-ocr-page-private.h"
#include "rpa/find/khadim-rpa-picture-private.h"

#define DEFAULT_LANGUAGES "eng"
#define MAX_LANGUAGES_BYTES 64

#define MAX_ENLARGE 4
#define MAX_WORD_BYTES 1024

/* A region up to this height holds one line. */
#define LINE_HEIGHT_PX 30

/* White around the text, which the recognizer expects; before enlarging. */
#define MARGIN_PX 6

/* What a screen has, made larger. */
#define SCREEN_DPI 96

/* Pages that are kept. */
#define CACHE_PAGES 16

/*
 * Tesseract asks for four OpenMP threads for each layer, which is slower than
 * one on small pictures. No parallel region is active at this nesting level;
 * unlike the environment variable it works after the library is loaded, and for
 * the calling thread only. Weak: Tesseract may be built without OpenMP.
 */
extern void omp_set_max_active_levels (int levels) __attribute__ ((weak));
extern int omp_get_max_active_levels (void) __attribute__ ((weak));

typedef struct
{
  TessBaseAPI *api;
  char        *languages;
} Engine;

typedef struct
{
  char             *key;
  KhadimRpaOcrPage *page;
} CacheEntry;

/* Engines that are not in use, and the pages read last. */
static struct
{
  GMutex     lock;
  Engine    *idle;
  guint      n_busy;
  CacheEntry pages[CACHE_PAGES]; /* the newest first */
} shared;

/* What the recognizer's callback looks at. */
typedef struct
{
  GCancellable *cancellable; /* borrowed */
  gint64        deadline_us;
} Watch;

static void
engine_free (Engine *self)
{
  TessBaseAPIEnd (self->api);
  TessBaseAPIDelete (self->api);
  g_free (self->languages);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Engine, engine_free)

/* Debian's name of what holds a language's data. */
static char *
package_of (const char *language)
{
  g_autofree char *lower = g_ascii_strdown (language, -1);

  return g_strdup_printf ("tesseract-ocr-%s", g_strdelimit (lower, "_", '-'));
}

static gboolean
set_missing (const char  *language,
             GError     **error)
{
  g_autofree char *package = package_of (language);

  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
               "No data to read the language “%s”: install the package %s", language, package);
  return FALSE;
}

/* Tesseract starts if only the first of several languages is there. */
static gboolean
check_loaded (TessBaseAPI  *api,
              const char   *languages,
              GError      **error)
{
  g_auto(GStrv) wanted = g_strsplit (languages, "+", -1);
  char **loaded = TessBaseAPIGetLoadedLanguagesAsVector (api);
  gboolean complete = TRUE;

  for (guint i = 0; wanted[i] != NULL && complete; i++)
    if (!g_strv_contains ((const char *const *) loaded, wanted[i]))
      complete = set_missing (wanted[i], error);
  TessDeleteTextArray (loaded);

  return complete;
}

static Engine *
engine_new (const char  *languages,
            GError     **error)
{
  g_autoptr(Engine) self = g_new0 (Engine, 1);
  g_auto(GStrv) wanted = g_strsplit (languages, "+", -1);

  self->api = TessBaseAPICreate ();
  self->languages = g_strdup (languages);
  TessBaseAPISetVariable (self->api, "debug_file", "/dev/null");
  if (TessBaseAPIInit2 (self->api, NULL, languages, OEM_LSTM_ONLY) != 0)
    {
      set_missing (wanted[0], error);
      return NULL;
    }
  if (!check_loaded (self->api, languages, error))
    return NULL;

  return g_steal_pointer (&self);
}

/* An engine for this thread alone. Which languages it is for can change. */
static Engine *
engine_acquire (const char  *languages,
                GError     **error)
{
  Engine *self;

  g_mutex_lock (&shared.lock);
  if (shared.n_busy >= KHADIM_RPA_OCR_MAX_ENGINES)
    {
      g_mutex_unlock (&shared.lock);
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_BUSY,
                   "%d regions are being read already", KHADIM_RPA_OCR_MAX_ENGINES);
      return NULL;
    }
  shared.n_busy++;
  self = g_steal_pointer (&shared.idle);
  g_mutex_unlock (&shared.lock);

  if (self != NULL && !g_str_equal (self->languages, languages))
    g_clear_pointer (&self, engine_free);
  if (self == NULL)
    self = engine_new (languages, error);
  if (self == NULL)
    {
      g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&shared.lock);

      shared.n_busy--;
    }

  return self;
}

/* One is kept for the next region: starting one takes as long as reading a few
 * lines. */
static void
engine_release (Engine *self)
{
  Engine *spare;

  TessBaseAPIClear (self->api);
  g_mutex_lock (&shared.lock);
  shared.n_busy--;
  spare = shared.idle;
  shared.idle = self;
  g_mutex_unlock (&shared.lock);

  if (spare != NULL)
    engine_free (spare);
}

static KhadimRpaOcrPage *
cache_look_up (const char *key)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&shared.lock);

  for (guint i = 0; i < CACHE_PAGES; i++)
    if (g_strcmp0 (shared.pages[i].key, key) == 0)
      {
        CacheEntry entry = shared.pages[i];

        memmove (&shared.pages[1], &shared.pages[0], i * sizeof entry);
        shared.pages[0] = entry;
        return khadim_rpa_ocr_page_ref (entry.page);
      }

  return NULL;
}

static void
cache_entry_clear (CacheEntry *entry)
{
  g_clear_pointer (&entry->key, g_free);
  g_clear_pointer (&entry->page, khadim_rpa_ocr_page_unref);
}

static void
cache_insert (const char       *key,
              KhadimRpaOcrPage *page)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&shared.lock);

  cache_entry_clear (&shared.pages[CACHE_PAGES - 1]);
  memmove (&shared.pages[1], &shared.pages[0], (CACHE_PAGES - 1) * sizeof shared.pages[0]);
  shared.pages[0] = (CacheEntry) { g_strdup (key), khadim_rpa_ocr_page_ref (page) };
}

/**
 * khadim_rpa_ocr_drop:
 *
 * Frees the engine that is kept and the pages read last, about 100 MB. They come
 * back when needed. Any thread.
 */
void
khadim_rpa_ocr_drop (void)
{
  Engine *idle;

  g_mutex_lock (&shared.lock);
  idle = g_steal_pointer (&shared.idle);
  for (guint i = 0; i < CACHE_PAGES; i++)
    cache_entry_clear (&shared.pages[i]);
  g_mutex_unlock (&shared.lock);

  if (idle != NULL)
    engine_free (idle);
}

static gboolean
check_languages (const char  *languages,
                 GError     **error)
{
  gsize length = strlen (languages);

  if (length > 0 && length <= MAX_LANGUAGES_BYTES && languages[0] != '+'
      && languages[length - 1] != '+' && strstr (languages, "++") == NULL
      && strspn (languages, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_+") == length)
    return TRUE;

  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
               "languages: “%.*s” is not a list such as eng+deu", MAX_LANGUAGES_BYTES, languages);
  return FALSE;
}

static gboolean
check_options (const KhadimRpaOcrOptions  *options,
               const char                 *languages,
               GError                    **error)
{
  if (!check_languages (languages, error))
    return FALSE;

  if (options->enlarge >= 1 && options->enlarge <= MAX_ENLARGE && options->timeout_ms > 0
      && (guint) options->layout <= KHADIM_RPA_OCR_LAYOUT_SPARSE)
    return TRUE;

  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
               "enlarge %d is not in 1 to %d, or the layout or the timeout is not valid",
               options->enlarge, MAX_ENLARGE);
  return FALSE;
}

static gboolean
check_region (const KhadimRpaPicture     *part,
              const KhadimRpaOcrOptions  *options,
              GError                    **error)
{
  gint64 pixels = (gint64) (part->width_px + 2 * MARGIN_PX) * (part->height_px + 2 * MARGIN_PX)
                  * options->enlarge * options->enlarge;

  if (pixels <= KHADIM_RPA_OCR_MAX_PIXELS)
    return TRUE;

  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
               "A region of %d×%d px, %d times as large, has more than %d pixels",
               part->width_px, part->height_px, options->enlarge, KHADIM_RPA_OCR_MAX_PIXELS);
  return FALSE;
}

/* Dark on light is what the recognizer was trained with. */
static gboolean
is_dark (const guint8 *grey,
         gsize         n)
{
  gsize n_dark = 0;

  for (gsize i = 0; i < n; i++)
    n_dark += grey[i] < KHADIM_RPA_GREY_OFFSET;

  return n_dark > n / 2;
}

/* Grey values in rows without padding, dark on light. */
static guint8 *
take_grey (const KhadimRpaPicture *part)
{
  gsize width = (gsize) part->width_px, n = width * (gsize) part->height_px;
  guint8 *grey = g_malloc (n);

  for (int y = 0; y < part->height_px; y++)
    _khadim_rpa_ncc_grey (_khadim_rpa_picture_row (part, y), part->width_px,
                          (gint8 *) grey + (gsize) y * width);
  for (gsize i = 0; i < n; i++)
    grey[i] ^= 0x80;

  if (is_dark (grey, n))
    for (gsize i = 0; i < n; i++)
      grey[i] = (guint8) ~grey[i];

  return grey;
}

static char *
cache_key (const guint8              *grey,
           const KhadimRpaPicture    *part,
           const KhadimRpaRect       *region,
           const KhadimRpaOcrOptions *options,
           const char                *languages)
{
  g_autofree char *digest = g_compute_checksum_for_data (
    G_CHECKSUM_SHA256, grey, (gsize) part->width_px * (gsize) part->height_px);

  return g_strdup_printf ("%s %d,%d %d×%d %s %d %d %g", digest, region->x, region->y,
                          part->width_px, part->height_px, languages, options->layout,
                          options->enlarge, options->min_confidence);
}

/* The row's value at the picture's edge goes on into the margin. */
static PIX *
make_pix (const guint8           *grey,
          const KhadimRpaPicture *part,
          int                     enlarge)
{
  int width = part->width_px + 2 * MARGIN_PX, height = part->height_px + 2 * MARGIN_PX;
  PIX *pix = pixCreate (width, height, 8), *large;
  l_uint32 *data = pixGetData (pix);
  int words_per_line = pixGetWpl (pix);

  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      {
        int from_x = CLAMP (x - MARGIN_PX, 0, part->width_px - 1);
        int from_y = CLAMP (y - MARGIN_PX, 0, part->height_px - 1);

        SET_DATA_BYTE (data + (gsize) y * (gsize) words_per_line, x,
                       grey[(gsize) from_y * (gsize) part->width_px + (gsize) from_x]);
      }
  if (enlarge == 1)
    return pix;

  large = pixScaleGrayLI (pix, (float) enlarge, (float) enlarge);
  pixDestroy (&pix);

  return large;
}

static TessPageSegMode
mode_of (const KhadimRpaOcrOptions *options,
         const KhadimRpaPicture    *part)
{
  switch (options->layout)
    {
    case KHADIM_RPA_OCR_LAYOUT_BLOCK:
      return PSM_SINGLE_BLOCK;
    case KHADIM_RPA_OCR_LAYOUT_LINE:
      return PSM_SINGLE_LINE;
    case KHADIM_RPA_OCR_LAYOUT_WORD:
      return PSM_SINGLE_WORD;
    case KHADIM_RPA_OCR_LAYOUT_SPARSE:
      return PSM_SPARSE_TEXT;
    case KHADIM_RPA_OCR_LAYOUT_PAGE:
      return PSM_AUTO;
    case KHADIM_RPA_OCR_LAYOUT_AUTO:
    default:
      return part->height_px <= LINE_HEIGHT_PX ? PSM_SINGLE_LINE : PSM_SPARSE_TEXT;
    }
}

/* One threshold for the whole (Otsu) is best for a line on one ground; windows,
 * pictures and bars side by side need one for each place (Sauvola). */
static const char *
threshold_of (TessPageSegMode mode)
{
  return mode == PSM_SPARSE_TEXT || mode == PSM_AUTO ? "2" : "0";
}

static bool
on_progress_cb (void *data,
                int   n_words)
{
  Watch *watch = data;

  return g_cancellable_is_cancelled (watch->cancellable)
         || g_get_monotonic_time () >= watch->deadline_us;
}

static gboolean
check_watch (const Watch  *watch,
             GError      **error)
{
  if (g_cancellable_is_cancelled (watch->cancellable))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED,
                   "Reading was cancelled");
      return FALSE;
    }

  if (g_get_monotonic_time () >= watch->deadline_us)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT,
                   "Reading took longer than allowed");
      return FALSE;
    }

  return TRUE;
}

static int
recognize (Engine *engine,
           Watch  *watch)
{
  ETEXT_DESC *monitor = TessMonitorCreate ();
  int levels = omp_get_max_active_levels != NULL ? omp_get_max_active_levels () : 0;
  int failed;

  TessMonitorSetCancelFunc (monitor, on_progress_cb);
  TessMonitorSetCancelThis (monitor, watch);
  if (omp_set_max_active_levels != NULL)
    omp_set_max_active_levels (0);
  failed = TessBaseAPIRecognize (engine->api, monitor);
  if (omp_set_max_active_levels != NULL)
    omp_set_max_active_levels (levels);
  TessMonitorDelete (monitor);

  return failed;
}

/* From the enlarged picture with its margin back to the picture. */
static KhadimRpaRect
place_word (int                        left,
            int                        top,
            int                        right,
            int                        bottom,
            const KhadimRpaRect       *region,
            int                        enlarge)
{
  KhadimRpaRect box = { region->x + left / enlarge - MARGIN_PX,
                        region->y + top / enlarge - MARGIN_PX,
                        (right + enlarge - 1) / enlarge - left / enlarge,
                        (bottom + enlarge - 1) / enlarge - top / enlarge };

  if (!khadim_rpa_rect_intersect (&box, region, &box))
    return (KhadimRpaRect) { 0 };

  return box;
}

static void
add_word (KhadimRpaOcrPage          *page,
          TessResultIterator        *results,
          const KhadimRpaRect       *region,
          const KhadimRpaOcrOptions *options)
{
  const TessPageIterator *place = TessResultIteratorGetPageIteratorConst (results);
  char *text = TessResultIteratorGetUTF8Text (results, RIL_WORD);
  double confidence = (double) TessResultIteratorConfidence (results, RIL_WORD);
  int left = 0, top = 0, right = 0, bottom = 0;
  KhadimRpaRect box = { 0 };

  if (TessPageIteratorBoundingBox (place, RIL_WORD, &left, &top, &right, &bottom))
    box = place_word (left, top, right, bottom, region, options->enlarge);

  if (text != NULL && text[0] != '\0' && text[0] != ' ' && strlen (text) <= MAX_WORD_BYTES
      && g_utf8_validate (text, -1, NULL) && box.width > 0
      && confidence >= options->min_confidence)
    _khadim_rpa_ocr_page_add (page, text, &box, CLAMP (confidence, 0.0, 100.0));
  if (text != NULL)
    TessDeleteText (text);
}

static KhadimRpaOcrPage *
take_words (Engine                     *engine,
            const KhadimRpaRect        *region,
            const KhadimRpaOcrOptions  *options,
            GError                    **error)
{
  g_autoptr(KhadimRpaOcrPage) page = _khadim_rpa_ocr_page_new ();
  TessResultIterator *results = TessBaseAPIGetIterator (engine->api);
  gboolean more = results != NULL;

  while (more && page->words->len <= KHADIM_RPA_OCR_MAX_WORDS)
    {
      add_word (page, results, region, options);
      more = TessResultIteratorNext (results, RIL_WORD);
    }
  if (results != NULL)
    TessResultIteratorDelete (results);

  if (page->words->len > KHADIM_RPA_OCR_MAX_WORDS)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
                   "The region has more than %d words", KHADIM_RPA_OCR_MAX_WORDS);
      return NULL;
    }

  _khadim_rpa_ocr_page_arrange (page);

  return g_steal_pointer (&page);
}

static KhadimRpaOcrPage *
read_with (Engine                     *engine,
           const guint8               *grey,
           const KhadimRpaPicture     *part,
           const KhadimRpaRect        *region,
           const KhadimRpaOcrOptions  *options,
           Watch                      *watch,
           GError                    **error)
{
  PIX *pix = make_pix (grey, part, options->enlarge);
  TessPageSegMode mode = mode_of (options, part);
  int failed;

  TessBaseAPISetPageSegMode (engine->api, mode);
  TessBaseAPISetVariable (engine->api, "thresholding_method", threshold_of (mode));
  TessBaseAPISetImage2 (engine->api, pix);
  TessBaseAPISetSourceResolution (engine->api, SCREEN_DPI * options->enlarge);
  pixDestroy (&pix);
  failed = recognize (engine, watch);

  if (!check_watch (watch, error))
    return NULL;
  if (failed != 0)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FAILED,
                   "The region %d,%d %d×%d could not be read", region->x, region->y,
                   region->width, region->height);
      return NULL;
    }

  return take_words (engine, region, options, error);
}

static KhadimRpaOcrPage *
read_part (const KhadimRpaPicture     *part,
           const KhadimRpaRect        *region,
           const KhadimRpaOcrOptions  *options,
           const char                 *languages,
           Watch                      *watch,
           GError                    **error)
{
  g_autofree guint8 *grey = take_grey (part);
  g_autofree char *key = cache_key (grey, part, region, options, languages);
  KhadimRpaOcrPage *page = cache_look_up (key);
  Engine *engine;

  if (page != NULL)
    return page;

  engine = engine_acquire (languages, error);
  if (engine == NULL)
    return NULL;

  page = read_with (engine, grey, part, region, options, watch, error);
  engine_release (engine);
  if (page != NULL)
    cache_insert (key, page);

  return page;
}

/**
 * khadim_rpa_ocr_read:
 * @picture: a picture
 * @region: (nullable): the part to read, in pixels of the picture; %NULL for all
 * @options: (nullable): how to read, %NULL for the defaults
 * @cancellable: (nullable): looked at between words
 * @error: return location for an error
 *
 * Reads the text on a picture by Tesseract's LSTM recognizer, light on dark
 * too. The same pixels read the same way again cost no more than a look-up.
 * Boxes are in pixels of the picture. Any thread; blocks about 20 ms for a line
 * and a second or two for a screen, so crop.
 *
 * Returns: (transfer full) (nullable): what was read, without words if there are
 *   none, or %NULL with %KHADIM_RPA_ERROR_INVALID, %KHADIM_RPA_ERROR_LIMIT,
 *   %KHADIM_RPA_ERROR_UNSUPPORTED (no data for a language; the text names the
 *   package), %KHADIM_RPA_ERROR_BUSY, %KHADIM_RPA_ERROR_TIMEOUT,
 *   %KHADIM_RPA_ERROR_CANCELLED or %KHADIM_RPA_ERROR_FAILED
 */
KhadimRpaOcrPage *
khadim_rpa_ocr_read (KhadimRpaPicture           *picture,
                     const KhadimRpaRect        *region,
                     const KhadimRpaOcrOptions  *options,
                     GCancellable               *cancellable,
                     GError                    **error)
{
  const KhadimRpaOcrOptions defaults = KHADIM_RPA_OCR_OPTIONS_INIT;
  g_autoptr(KhadimRpaPicture) part = NULL;
  const char *languages;
  KhadimRpaRect bounds, box;
  Watch watch;

  g_return_val_if_fail (picture != NULL, NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (options == NULL)
    options = &defaults;
  languages = options->languages != NULL ? options->languages : DEFAULT_LANGUAGES;
  bounds = _khadim_rpa_picture_bounds (picture);
  if (!check_options (options, languages, error))
    return NULL;

  part = khadim_rpa_picture_crop (picture, region != NULL ? region : &bounds, error);
  if (part == NULL || !check_region (part, options, error))
    return NULL;

  khadim_rpa_rect_intersect (&bounds, region != NULL ? region : &bounds, &box);
  watch.cancellable = cancellable;
  watch.deadline_us = g_get_monotonic_time () + (gint64) options->timeout_ms * 1000;
  if (!check_watch (&watch, error))
    return NULL;

  return read_part (part, &box, options, languages, &watch, error);
}
