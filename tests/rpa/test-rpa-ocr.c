/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-ocr"

#include "config.h"

#include "rpa/find/khadim-rpa-ocr.h"

#include <string.h>

#include "rpa/find/khadim-rpa-ocr-page-private.h"
#include "rpa/screen/khadim-rpa-error.h"

#include "tests/rpa/lib/test-scene.h"

#define MAX_BUSY_TRIES 20

#define TEXT "Invoice number 4711\nTotal amount 1,204.50\nSave as draft"

static KhadimRpaOcrPage *
read_all (KhadimRpaPicture          *picture,
          const KhadimRpaOcrOptions *options)
{
  g_autoptr(GError) error = NULL;
  KhadimRpaOcrPage *page = khadim_rpa_ocr_read (picture, NULL, options, NULL, &error);

  g_assert_no_error (error);

  return page;
}

/* The smallest rectangle around pixels that are not the ground, in columns
 * @from to @end: where the ink really is. */
static KhadimRpaRect
ink_box (const KhadimRpaPicture *picture,
         int                     from,
         int                     end,
         int                     top,
         int                     bottom,
         guint32                 ground)
{
  KhadimRpaRect box = { 0 };

  for (int y = top; y < bottom; y++)
    for (int x = from; x < end; x++)
      if (khadim_rpa_picture_get_rgb (picture, x, y) != ground)
        khadim_rpa_rect_unite (&box, &(KhadimRpaRect) { x, y, 1, 1 });

  return box;
}

static void
check_text (guint32     ink,
            guint32     ground,
            const char *font)
{
  g_autoptr(KhadimRpaPicture) picture = test_scene_text (TEXT, font, 360, 110, ink, ground);
  g_autoptr(KhadimRpaOcrPage) page = read_all (picture, NULL);
  g_autofree char *text = khadim_rpa_ocr_page_dup_text (page);

  g_assert_cmpstr (text, ==, TEXT "\n");
  g_assert_cmpuint (khadim_rpa_ocr_page_get_n_lines (page), ==, 3);
  g_assert_cmpuint (khadim_rpa_ocr_page_get_n_words (page), ==, 9);
  g_assert_null (khadim_rpa_ocr_page_get_word (page, 9));
  g_assert_null (khadim_rpa_ocr_page_get_line (page, 3));
  for (guint i = 0; i < 9; i++)
    g_assert_cmpfloat (khadim_rpa_ocr_page_get_word (page, i)->confidence, >, 60.0);
}

static void
test_light (void)
{
  check_text (0x202020, 0xfafafa, "DejaVu Sans 11");
}

static void
test_dark (void)
{
  check_text (0xe8e8e8, 0x242424, "DejaVu Sans 11");
}

static void
test_coloured (void)
{
  check_text (0xffffff, 0x3380e6, "DejaVu Sans 12");
}

/* Boxes against where the ink is. */
static void
test_boxes (void)
{
  g_autoptr(KhadimRpaPicture) picture = test_scene_text ("Cancel      Export", "DejaVu Sans 12",
                                                         300, 60, 0, 0xffffff);
  g_autoptr(KhadimRpaOcrPage) page = NULL, part = NULL;
  g_autoptr(GError) error = NULL;
  KhadimRpaRect region = { 90, 2, 200, 40 };
  KhadimRpaRect first = ink_box (picture, 0, 80, 0, 60, 0xffffff);
  KhadimRpaRect second = ink_box (picture, 80, 300, 0, 60, 0xffffff);

  page = read_all (picture, NULL);
  g_assert_cmpuint (khadim_rpa_ocr_page_get_n_words (page), ==, 2);
  for (guint i = 0; i < 2; i++)
    {
      const KhadimRpaOcrWord *word = khadim_rpa_ocr_page_get_word (page, i);
      const KhadimRpaRect *ink = i == 0 ? &first : &second;

      g_assert_cmpint (ABS (word->box.x - ink->x), <=, 3);
      g_assert_cmpint (ABS (word->box.x + word->box.width - ink->x - ink->width), <=, 3);
      g_assert_cmpint (ABS (2 * word->box.y + word->box.height - 2 * ink->y - ink->height), <=, 6);
      g_assert_cmpint (word->box.height, <=, 2 * ink->height);
    }

  part = khadim_rpa_ocr_read (picture, &region, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (khadim_rpa_ocr_page_get_n_words (part), ==, 1);
  g_assert_cmpstr (khadim_rpa_ocr_page_get_word (part, 0)->text, ==, "Export");
  g_assert_cmpint (ABS (khadim_rpa_ocr_page_get_word (part, 0)->box.x - second.x), <=, 3);
}

/* A window: what is on its buttons is read, with boxes inside the buttons. */
static void
test_window (void)
{
  g_autoptr(KhadimRpaPicture) screen = test_scene_desktop (700, 700, 1, TEST_SCENE_LIGHT);
  g_autoptr(KhadimRpaOcrPage) page = read_all (screen, NULL);
  g_autoptr(GArray) rows = NULL, cancel = NULL;
  g_autoptr(GError) error = NULL;
  const KhadimRpaOcrFound *found;

  rows = khadim_rpa_ocr_page_find (page, "Invoice no. 1007", NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (rows->len, >=, 1);
  found = &g_array_index (rows, KhadimRpaOcrFound, 0);
  for (guint i = 1; i < rows->len; i++)
    if (g_array_index (rows, KhadimRpaOcrFound, i).score > found->score)
      found = &g_array_index (rows, KhadimRpaOcrFound, i);
  g_assert_cmpint (found->box.y, >=, 100 + 7 * 22);
  g_assert_cmpint (found->box.y + found->box.height, <=, 100 + 8 * 22);

  cancel = khadim_rpa_ocr_page_find (page, "Cancel", NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (cancel->len, >=, 1);
  found = &g_array_index (cancel, KhadimRpaOcrFound, cancel->len - 1);
  g_assert_cmpint (found->box.x, >=, 20 + 400);
  g_assert_cmpint (found->box.x + found->box.width, <=, 20 + 400 + 96);
  g_assert_cmpint (found->box.y, >=, 20 + 380);
}

static void
test_empty (void)
{
  g_autoptr(KhadimRpaPicture) blank = test_scene_text ("", "DejaVu Sans 10", 200, 80, 0, 0xffffff);
  g_autoptr(KhadimRpaOcrPage) page = read_all (blank, NULL);
  g_autofree char *text = khadim_rpa_ocr_page_dup_text (page);

  g_assert_cmpuint (khadim_rpa_ocr_page_get_n_words (page), ==, 0);
  g_assert_cmpuint (khadim_rpa_ocr_page_get_n_lines (page), ==, 0);
  g_assert_cmpstr (text, ==, "");
}

static void
test_cache (void)
{
  g_autoptr(KhadimRpaPicture) one = test_scene_text ("Berlin", "DejaVu Sans 12", 120, 40, 0,
                                                     0xffffff);
  g_autoptr(KhadimRpaPicture) same = test_scene_text ("Berlin", "DejaVu Sans 12", 120, 40, 0,
                                                      0xffffff);
  g_autoptr(KhadimRpaPicture) other = test_scene_text ("Dublin", "DejaVu Sans 12", 120, 40, 0,
                                                       0xffffff);
  KhadimRpaOcrOptions options = KHADIM_RPA_OCR_OPTIONS_INIT;
  g_autoptr(KhadimRpaOcrPage) first = read_all (one, NULL), again = read_all (same, NULL);
  g_autoptr(KhadimRpaOcrPage) differs = read_all (other, NULL), line = NULL, fresh = NULL;

  g_assert_true (first == again);
  g_assert_cmpstr (khadim_rpa_ocr_page_get_word (differs, 0)->text, ==, "Dublin");
  options.layout = KHADIM_RPA_OCR_LAYOUT_LINE;
  line = read_all (one, &options);
  g_assert_true (line != first);

  khadim_rpa_ocr_drop ();
  fresh = read_all (one, NULL);
  g_assert_true (fresh != first);
  g_assert_cmpstr (khadim_rpa_ocr_page_get_word (fresh, 0)->text, ==, "Berlin");
}

static void
test_layouts (void)
{
  g_autoptr(KhadimRpaPicture) picture = test_scene_text ("Settings", "DejaVu Sans 14", 140, 44, 0,
                                                         0xffffff);

  for (int layout = KHADIM_RPA_OCR_LAYOUT_AUTO; layout <= KHADIM_RPA_OCR_LAYOUT_SPARSE; layout++)
    {
      KhadimRpaOcrOptions options = KHADIM_RPA_OCR_OPTIONS_INIT;
      g_autoptr(KhadimRpaOcrPage) page = NULL;
      g_autoptr(GArray) found = NULL;
      g_autoptr(GError) error = NULL;

      options.layout = (KhadimRpaOcrLayout) layout;
      page = read_all (picture, &options);
      found = khadim_rpa_ocr_page_find (page, "Settings", NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (found->len, ==, 1);
    }
}

static void
refuse (KhadimRpaPicture          *picture,
        const KhadimRpaRect       *region,
        const KhadimRpaOcrOptions *options,
        GCancellable              *cancellable,
        int                        code,
        const char                *says)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (khadim_rpa_ocr_read (picture, region, options, cancellable, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, code);
  if (says != NULL)
    g_assert_nonnull (strstr (error->message, says));
}

static void
test_languages (void)
{
  g_autoptr(KhadimRpaPicture) picture = test_scene_text ("Print", "DejaVu Sans 12", 120, 40, 0,
                                                         0xffffff);
  KhadimRpaOcrOptions options = KHADIM_RPA_OCR_OPTIONS_INIT;
  g_autoptr(KhadimRpaOcrPage) page = NULL;

  options.languages = "xx_yy";
  refuse (picture, NULL, &options, NULL, KHADIM_RPA_ERROR_UNSUPPORTED, "tesseract-ocr-xx-yy");
  options.languages = "eng+xxz";
  refuse (picture, NULL, &options, NULL, KHADIM_RPA_ERROR_UNSUPPORTED, "tesseract-ocr-xxz");
  options.languages = "../eng";
  refuse (picture, NULL, &options, NULL, KHADIM_RPA_ERROR_INVALID, NULL);
  options.languages = "eng+";
  refuse (picture, NULL, &options, NULL, KHADIM_RPA_ERROR_INVALID, NULL);
  options.languages = "";
  refuse (picture, NULL, &options, NULL, KHADIM_RPA_ERROR_INVALID, NULL);
  options.languages = "eng";
  page = read_all (picture, &options);
  g_assert_cmpuint (khadim_rpa_ocr_page_get_n_words (page), ==, 1);
}

static void
test_refused (void)
{
  g_autoptr(KhadimRpaPicture) picture = test_scene_text ("Print", "DejaVu Sans 12", 120, 40, 0,
                                                         0xffffff);
  g_autoptr(KhadimRpaPicture) large = test_scene_text ("", "DejaVu Sans 12", 4000, 4000, 0,
                                                       0xffffff);
  KhadimRpaOcrOptions options = KHADIM_RPA_OCR_OPTIONS_INIT;

  refuse (picture, &(KhadimRpaRect) { 200, 0, 10, 10 }, NULL, NULL, KHADIM_RPA_ERROR_INVALID, NULL);
  refuse (large, NULL, NULL, NULL, KHADIM_RPA_ERROR_LIMIT, NULL);
  options.enlarge = 5;
  refuse (picture, NULL, &options, NULL, KHADIM_RPA_ERROR_INVALID, NULL);
  options.enlarge = 2;
  options.timeout_ms = 0;
  refuse (picture, NULL, &options, NULL, KHADIM_RPA_ERROR_INVALID, NULL);
}

/* A page that takes much longer than allowed ends early, and the engine is good
 * for the next. */
static void
test_timeout (void)
{
  g_autoptr(KhadimRpaPicture) screen = test_scene_desktop (1300, 950, 3, TEST_SCENE_LIGHT);
  g_autoptr(KhadimRpaPicture) small = test_scene_text ("Help", "DejaVu Sans 12", 120, 40, 0,
                                                       0xffffff);
  KhadimRpaOcrOptions options = KHADIM_RPA_OCR_OPTIONS_INIT;
  g_autoptr(KhadimRpaOcrPage) page = NULL;

  options.timeout_ms = 30;
  refuse (screen, NULL, &options, NULL, KHADIM_RPA_ERROR_TIMEOUT, NULL);
  page = read_all (small, NULL);
  g_assert_cmpuint (khadim_rpa_ocr_page_get_n_words (page), ==, 1);
}

static gpointer
cancel_when_asked (gpointer data)
{
  GAsyncQueue *queue = data;
  GCancellable *cancellable = g_async_queue_pop (queue);

  g_cancellable_cancel (cancellable);
  g_object_unref (cancellable);

  return NULL;
}

static void
test_cancel (void)
{
  g_autoptr(KhadimRpaPicture) screen = test_scene_desktop (1300, 950, 4, TEST_SCENE_DARK);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GAsyncQueue) queue = g_async_queue_new ();
  GThread *thread = g_thread_new ("cancel", cancel_when_asked, queue);
  g_autoptr(KhadimRpaOcrPage) page = NULL;

  g_async_queue_push (queue, g_object_ref (cancellable));
  refuse (screen, NULL, NULL, cancellable, KHADIM_RPA_ERROR_CANCELLED, NULL);
  g_thread_join (thread);
  refuse (screen, NULL, NULL, cancellable, KHADIM_RPA_ERROR_CANCELLED, NULL);
}

typedef struct
{
  KhadimRpaPicture *picture;
  const char       *word;
} Job;

static gpointer
read_in_thread (gpointer data)
{
  Job *job = data;
  g_autoptr(KhadimRpaOcrPage) page = read_all (job->picture, NULL);

  g_assert_cmpuint (khadim_rpa_ocr_page_get_n_words (page), ==, 1);
  g_assert_cmpstr (khadim_rpa_ocr_page_get_word (page, 0)->text, ==, job->word);

  return NULL;
}

static void
test_threads (void)
{
  static const char *const words[] = { "Article", "Quantity", "Customer" };
  GThread *threads[G_N_ELEMENTS (words)];
  Job jobs[G_N_ELEMENTS (words)];

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      jobs[i] = (Job) { test_scene_text (words[i], "DejaVu Sans 13", 150, 44, 0, 0xffffff),
                        words[i] };
      threads[i] = g_thread_new ("ocr", read_in_thread, &jobs[i]);
    }
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    {
      g_thread_join (threads[i]);
      khadim_rpa_picture_unref (jobs[i].picture);
    }
}

typedef struct
{
  guint32       seed;
  GCancellable *cancellable;
} Reader;

/* Reads one screen after the other until it is told that others do. */
static gpointer
keep_reading (gpointer data)
{
  Reader *reader = data;

  for (guint32 i = 0; i < MAX_BUSY_TRIES && !g_cancellable_is_cancelled (reader->cancellable); i++)
    {
      g_autoptr(KhadimRpaPicture) screen = test_scene_desktop (700, 480, reader->seed + i,
                                                               TEST_SCENE_LIGHT);
      g_autoptr(GError) error = NULL;
      g_autoptr(KhadimRpaOcrPage) page = khadim_rpa_ocr_read (screen, NULL, NULL,
                                                              reader->cancellable, &error);

      if (g_error_matches (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_BUSY))
        {
          g_cancellable_cancel (reader->cancellable);
          return GINT_TO_POINTER (TRUE);
        }
      g_assert_true (page != NULL
                     || g_error_matches (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED));
    }

  return NULL;
}

/* More readers than engines: one of them is told so, and none waits. */
static void
test_busy (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  GThread *threads[2 * KHADIM_RPA_OCR_MAX_ENGINES];
  Reader readers[2 * KHADIM_RPA_OCR_MAX_ENGINES];
  gboolean busy = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    {
      readers[i] = (Reader) { 1000 * (i + 1), cancellable };
      threads[i] = g_thread_new ("reader", keep_reading, &readers[i]);
    }
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    busy = GPOINTER_TO_INT (g_thread_join (threads[i])) || busy;
  g_assert_true (busy);
}

/* A page made by hand: lines are separated by newlines, each character is 10 px
 * wide and each line 20 px high. */
static KhadimRpaOcrPage *
page_of (const char *text)
{
  KhadimRpaOcrPage *page = _khadim_rpa_ocr_page_new ();
  g_auto(GStrv) lines = g_strsplit (text, "\n", -1);

  for (int l = 0; lines[l] != NULL; l++)
    {
      g_auto(GStrv) words = g_strsplit (lines[l], " ", -1);
      int x = 0;

      for (int w = 0; words[w] != NULL; w++)
        {
          int n = (int) g_utf8_strlen (words[w], -1);

          _khadim_rpa_ocr_page_add (page, words[w], &(KhadimRpaRect) { x, 20 * l, 10 * n, 16 },
                                    90.0);
          x += 10 * (n + 1);
        }
    }
  _khadim_rpa_ocr_page_arrange (page);

  return page;
}

static GArray *
find_in (const char                    *text,
         const char                    *phrase,
         const KhadimRpaOcrFindOptions *options)
{
  g_autoptr(KhadimRpaOcrPage) page = page_of (text);
  g_autoptr(GError) error = NULL;
  GArray *found = khadim_rpa_ocr_page_find (page, phrase, options, &error);

  g_assert_no_error (error);

  return found;
}

static void
check_found (GArray *found,
             guint   index,
             int     x,
             int     y,
             int     width,
             double  score)
{
  const KhadimRpaOcrFound *place = &g_array_index (found, KhadimRpaOcrFound, index);

  g_assert_cmpuint (index, <, found->len);
  g_assert_cmpint (place->box.x, ==, x);
  g_assert_cmpint (place->box.y, ==, y);
  g_assert_cmpint (place->box.width, ==, width);
  g_assert_cmpfloat_with_epsilon (place->score, score, 1e-9);
}

/* Rows of two columns and a bar of buttons, added in any order: cells that stand
 * apart are lines of their own, in reading order. */
static void
test_arrange (void)
{
  g_autoptr(KhadimRpaOcrPage) page = _khadim_rpa_ocr_page_new ();
  g_autofree char *text = NULL;

  _khadim_rpa_ocr_page_add (page, "Pear", &(KhadimRpaRect) { 10, 41, 40, 12 }, 80.0);
  _khadim_rpa_ocr_page_add (page, "2.50", &(KhadimRpaRect) { 200, 40, 40, 12 }, 90.0);
  _khadim_rpa_ocr_page_add (page, "juice", &(KhadimRpaRect) { 60, 22, 40, 14 }, 60.0);
  _khadim_rpa_ocr_page_add (page, "Apple", &(KhadimRpaRect) { 10, 20, 45, 12 }, 70.0);
  _khadim_rpa_ocr_page_add (page, "1.20", &(KhadimRpaRect) { 200, 18, 40, 12 }, 90.0);
  _khadim_rpa_ocr_page_arrange (page);

  text = khadim_rpa_ocr_page_dup_text (page);
  g_assert_cmpstr (text, ==, "Apple juice\n1.20\nPear\n2.50\n");
  g_assert_cmpfloat (khadim_rpa_ocr_page_get_line (page, 0)->confidence, ==, 65.0);
  g_assert_cmpint (khadim_rpa_ocr_page_get_line (page, 0)->box.width, ==, 90);
  g_assert_cmpuint (khadim_rpa_ocr_page_get_line (page, 2)->first_word, ==, 3);
  g_assert_cmpuint (khadim_rpa_ocr_page_get_word (page, 4)->line, ==, 3);
}

static void
test_find (void)
{
  const char *text = "Open Save Save as\nClose Save Savings";
  g_autoptr(GArray) save = find_in (text, "save", NULL);
  g_autoptr(GArray) save_as = find_in (text, " Save\tas ", NULL);
  g_autoptr(GArray) none = find_in (text, "Print", NULL);

  g_assert_cmpuint (save->len, ==, 3);
  check_found (save, 0, 50, 0, 40, 1.0);
  check_found (save, 1, 100, 0, 40, 1.0);
  check_found (save, 2, 60, 20, 40, 1.0);
  g_assert_cmpuint (save_as->len, ==, 1);
  check_found (save_as, 0, 100, 0, 70, 1.0);
  g_assert_cmpuint (g_array_index (save_as, KhadimRpaOcrFound, 0).n_words, ==, 2);
  g_assert_cmpuint (none->len, ==, 0);
}

static void
test_find_options (void)
{
  const char *text = "Save save SAVE\nsave Savings";
  KhadimRpaOcrFindOptions options = KHADIM_RPA_OCR_FIND_OPTIONS_INIT;
  g_autoptr(GArray) matched = NULL, second = NULL, near = NULL, parts = NULL, fifth = NULL;

  options.match_case = TRUE;
  matched = find_in (text, "save", &options);
  g_assert_cmpuint (matched->len, ==, 2);
  check_found (matched, 0, 50, 0, 40, 1.0);

  options.match_case = FALSE;
  options.occurrence = 2;
  second = find_in (text, "save", &options);
  g_assert_cmpuint (second->len, ==, 1);
  check_found (second, 0, 50, 0, 40, 1.0);
  options.occurrence = 5;
  fifth = find_in (text, "save", &options);
  g_assert_cmpuint (fifth->len, ==, 0);

  options.occurrence = 0;
  options.has_near = TRUE;
  options.near_x = 110;
  options.near_y = 4;
  near = find_in (text, "save", &options);
  g_assert_cmpuint (near->len, ==, 4);
  check_found (near, 0, 100, 0, 40, 1.0);
  check_found (near, 1, 50, 0, 40, 1.0);

  options.has_near = FALSE;
  options.whole_words = FALSE;
  parts = find_in (text, "saving", &options);
  g_assert_cmpuint (parts->len, ==, 1);
  check_found (parts, 0, 50, 20, 60, 1.0);
}

/* What print readers confuse is found, with a score below 1; what is really
 * another word is not. */
static void
test_find_confused (void)
{
  static const struct
  {
    const char *read, *phrase;
    gboolean    found;
  } cases[] = {
    { "lnvoice", "Invoice", TRUE },     { "1nv0ice", "Invoice", TRUE },
    { "Forrnat", "Format", TRUE },      { "Modem", "Modern", TRUE },
    { "Saveas", "Save as", TRUE },      { "Sa ve", "Save", TRUE },
    { "B0x", "Box", TRUE },             { "Custumer", "Customer", TRUE },
    { "Invoke", "Invoice", FALSE },     { "Cancel", "Save", FALSE },
    { "OK", "No", FALSE },              { "0K", "OK", TRUE },
    { "Page 1", "Page 2", FALSE },      { "Item 17", "Item 19", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("xx %s yy", cases[i].read);
      KhadimRpaOcrFindOptions options = KHADIM_RPA_OCR_FIND_OPTIONS_INIT;
      g_autoptr(GArray) found = NULL;

      options.min_score = 0.86;
      found = find_in (text, cases[i].phrase, &options);
      g_test_message ("“%s” for “%s”", cases[i].read, cases[i].phrase);
      g_assert_cmpuint (found->len, ==, cases[i].found ? 1 : 0);
      if (cases[i].found)
        g_assert_cmpfloat (g_array_index (found, KhadimRpaOcrFound, 0).score, <, 1.0);
    }
}

/* The right one hides those that only resemble it. */
static void
test_find_best (void)
{
  g_autoptr(GArray) found = find_in ("Invoke 1nvoice Invoice", "Invoice", NULL);

  g_assert_cmpuint (found->len, ==, 2);
  check_found (found, 1, 150, 0, 70, 1.0);
}

static void
test_find_lines (void)
{
  g_autoptr(GArray) found = find_in ("please Save\nas draft now", "Save as draft", NULL);
  const KhadimRpaOcrFound *place = &g_array_index (found, KhadimRpaOcrFound, 0);

  g_assert_cmpuint (found->len, ==, 1);
  g_assert_cmpint (place->box.x, ==, 0);
  g_assert_cmpint (place->box.height, ==, 36);
  g_assert_cmpint (place->head.x, ==, 70);
  g_assert_cmpint (place->head.y, ==, 0);
  g_assert_cmpint (place->head.width, ==, 40);
  g_assert_cmpuint (place->n_words, ==, 3);
}

static void
test_find_refused (void)
{
  g_autoptr(KhadimRpaOcrPage) page = page_of ("Zürich Straße"), empty = _khadim_rpa_ocr_page_new ();
  g_autofree char *huge = g_strnfill (KHADIM_RPA_OCR_MAX_PHRASE_CHARS + 1, 'a');
  KhadimRpaOcrFindOptions options = KHADIM_RPA_OCR_FIND_OPTIONS_INIT;
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) found = NULL, none = NULL;

  g_assert_null (khadim_rpa_ocr_page_find (page, "  ", NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (khadim_rpa_ocr_page_find (page, "a\xff", NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (khadim_rpa_ocr_page_find (page, huge, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT);
  g_clear_error (&error);
  options.min_score = 0.0;
  g_assert_null (khadim_rpa_ocr_page_find (page, "a", &options, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_clear_error (&error);

  found = khadim_rpa_ocr_page_find (page, "zu\xcc\x88rich", NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (found->len, ==, 1);
  none = khadim_rpa_ocr_page_find (empty, "a", NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (none->len, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/rpa/ocr/light", test_light);
  g_test_add_func ("/rpa/ocr/dark", test_dark);
  g_test_add_func ("/rpa/ocr/coloured", test_coloured);
  g_test_add_func ("/rpa/ocr/boxes", test_boxes);
  g_test_add_func ("/rpa/ocr/window", test_window);
  g_test_add_func ("/rpa/ocr/empty", test_empty);
  g_test_add_func ("/rpa/ocr/cache", test_cache);
  g_test_add_func ("/rpa/ocr/layouts", test_layouts);
  g_test_add_func ("/rpa/ocr/languages", test_languages);
  g_test_add_func ("/rpa/ocr/refused", test_refused);
  g_test_add_func ("/rpa/ocr/timeout", test_timeout);
  g_test_add_func ("/rpa/ocr/cancel", test_cancel);
  g_test_add_func ("/rpa/ocr/threads", test_threads);
  g_test_add_func ("/rpa/ocr/busy", test_busy);
  g_test_add_func ("/rpa/ocr/arrange", test_arrange);
  g_test_add_func ("/rpa/ocr/find", test_find);
  g_test_add_func ("/rpa/ocr/find-options", test_find_options);
  g_test_add_func ("/rpa/ocr/find-confused", test_find_confused);
  g_test_add_func ("/rpa/ocr/find-best", test_find_best);
  g_test_add_func ("/rpa/ocr/find-lines", test_find_lines);
  g_test_add_func ("/rpa/ocr/find-refused", test_find_refused);

  return g_test_run ();
}
