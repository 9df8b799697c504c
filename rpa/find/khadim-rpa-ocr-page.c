/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-ocr-page"

#include "config.h"

#include "rpa/find/khadim-rpa-ocr-page.h"

#include "rpa/find/khadim-rpa-ocr-page-private.h"

#define STRING_BLOCK_BYTES 4096

/* Words further apart than this many times their height are no phrase. */
#define MAX_GAP_HEIGHTS 2

G_DEFINE_BOXED_TYPE (KhadimRpaOcrPage,
                     khadim_rpa_ocr_page,
                     khadim_rpa_ocr_page_ref,
                     khadim_rpa_ocr_page_unref)

KhadimRpaOcrPage *
_khadim_rpa_ocr_page_new (void)
{
  KhadimRpaOcrPage *self = g_new0 (KhadimRpaOcrPage, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->words = g_array_new (FALSE, FALSE, sizeof (KhadimRpaOcrWord));
  self->lines = g_array_new (FALSE, FALSE, sizeof (KhadimRpaOcrLine));
  self->strings = g_string_chunk_new (STRING_BLOCK_BYTES);

  return self;
}

/*
 * _khadim_rpa_ocr_page_add:
 *
 * Adds a word. Only before the page is arranged and handed out.
 */
void
_khadim_rpa_ocr_page_add (KhadimRpaOcrPage    *self,
                          const char          *text,
                          const KhadimRpaRect *box,
                          double               confidence)
{
  KhadimRpaOcrWord word = { *box, g_string_chunk_insert (self->strings, text), confidence };

  g_array_append_val (self->words, word);
}

static int
compare_left (gconstpointer a,
              gconstpointer b)
{
  const KhadimRpaOcrWord *one = a, *other = b;

  return one->box.x < other->box.x ? -1 : one->box.x > other->box.x;
}

static int
middle_of (const KhadimRpaRect *box)
{
  return 2 * box->y + box->height;
}

/* From top to bottom; of one row, which the caller numbered, from left to
 * right. */
static int
compare_rows (gconstpointer a,
              gconstpointer b)
{
  const KhadimRpaOcrLine *one = a, *other = b;

  if (one->n_words != other->n_words)
    return one->n_words < other->n_words ? -1 : 1;

  return one->box.x < other->box.x ? -1 : one->box.x > other->box.x;
}

static int
compare_middles (gconstpointer a,
                 gconstpointer b)
{
  const KhadimRpaOcrLine *one = a, *other = b;
  int first = middle_of (&one->box), second = middle_of (&other->box);

  return first < second ? -1 : first > second;
}

/* The gap to a line that a word goes on, or a negative number. Both stand at
 * the same height and not far from each other. */
static int
gap_after (const KhadimRpaRect *line,
           const KhadimRpaRect *word)
{
  int common = MIN (line->y + line->height, word->y + word->height) - MAX (line->y, word->y);
  int higher = MAX (line->height, word->height);
  int gap = word->x - (line->x + line->width);

  if (2 * common < MIN (line->height, word->height) || gap > MAX_GAP_HEIGHTS * higher
      || 2 * gap < -higher)
    return -1;

  return MAX (gap, 0);
}

/* The line that a word goes on, or a new one. */
static guint
line_of (GArray                 *lines,
         const KhadimRpaOcrWord *word)
{
  const KhadimRpaOcrLine fresh = { { 0 }, lines->len, 0, 0.0 };
  int best_gap = G_MAXINT;
  guint best = lines->len;

  for (guint i = 0; i < lines->len; i++)
    {
      int gap = gap_after (&g_array_index (lines, KhadimRpaOcrLine, i).box, &word->box);

      if (gap >= 0 && gap < best_gap)
        {
          best_gap = gap;
          best = i;
        }
    }
  if (best == lines->len)
    g_array_append_val (lines, fresh);

  return best;
}

static void
collect_lines (KhadimRpaOcrPage *self)
{
  g_array_sort (self->words, compare_left);
  for (guint i = 0; i < self->words->len; i++)
    {
      KhadimRpaOcrWord *word = &g_array_index (self->words, KhadimRpaOcrWord, i);

      word->line = line_of (self->lines, word);
      khadim_rpa_rect_unite (&g_array_index (self->lines, KhadimRpaOcrLine, word->line).box,
                             &word->box);
    }
}

/* Lines whose middles are less than half their height apart are one row. While
 * lines are sorted, n_words holds the number of the row. */
static void
sort_lines (KhadimRpaOcrPage *self)
{
  int row_middle = 0;
  guint row = 0;

  g_array_sort (self->lines, compare_middles);
  for (guint i = 0; i < self->lines->len; i++)
    {
      KhadimRpaOcrLine *line = &g_array_index (self->lines, KhadimRpaOcrLine, i);

      if (i == 0 || middle_of (&line->box) - row_middle > line->box.height)
        {
          row = i;
          row_middle = middle_of (&line->box);
        }
      line->n_words = row;
    }
  g_array_sort (self->lines, compare_rows);
}

/* Puts the words in the order of their lines. Until then
 * first_word holds the number that the words know the line by. */
static void
move_words (KhadimRpaOcrPage *self,
            GArray           *ordered,
            guint             number)
{
  KhadimRpaOcrLine *line = &g_array_index (self->lines, KhadimRpaOcrLine, number);
  guint old_number = line->first_word;
  double sum = 0.0;

  line->first_word = ordered->len;
  for (guint i = 0; i < self->words->len; i++)
    {
      KhadimRpaOcrWord word = g_array_index (self->words, KhadimRpaOcrWord, i);

      if (word.line != old_number)
        continue;
      word.line = number;
      sum += word.confidence;
      g_array_append_val (ordered, word);
    }
  line->n_words = ordered->len - line->first_word;
  line->confidence = sum / line->n_words;
}

/*
 * _khadim_rpa_ocr_page_arrange:
 *
 * Makes lines of the words by where they are: what the recognizer takes for
 * columns of a page are the cells of a table or the buttons of a bar here.
 */
void
_khadim_rpa_ocr_page_arrange (KhadimRpaOcrPage *self)
{
  GArray *ordered = g_array_new (FALSE, FALSE, sizeof (KhadimRpaOcrWord));

  collect_lines (self);
  sort_lines (self);
  for (guint i = 0; i < self->lines->len; i++)
    move_words (self, ordered, i);

  g_array_unref (self->words);
  self->words = ordered;
}

/**
 * khadim_rpa_ocr_page_ref:
 * @self: a page
 *
 * Takes a reference. Any thread.
 *
 * Returns: (transfer full): @self
 */
KhadimRpaOcrPage *
khadim_rpa_ocr_page_ref (KhadimRpaOcrPage *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

/**
 * khadim_rpa_ocr_page_unref:
 * @self: (transfer full) (nullable): a page
 *
 * Drops a reference; with the last one the page is freed. Any thread.
 */
void
khadim_rpa_ocr_page_unref (KhadimRpaOcrPage *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_array_unref (self->words);
  g_array_unref (self->lines);
  g_string_chunk_free (self->strings);
  g_free (self);
}

/**
 * khadim_rpa_ocr_page_get_n_words:
 * @self: a page
 *
 * Any thread.
 *
 * Returns: how many words were read
 */
guint
khadim_rpa_ocr_page_get_n_words (const KhadimRpaOcrPage *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->words->len;
}

/**
 * khadim_rpa_ocr_page_get_word:
 * @self: a page
 * @index: which word, in reading order from 0
 *
 * Any thread.
 *
 * Returns: (transfer none) (nullable): the word, valid as long as @self, or
 *   %NULL past the last one
 */
const KhadimRpaOcrWord *
khadim_rpa_ocr_page_get_word (const KhadimRpaOcrPage *self,
                              guint                   index)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (index >= self->words->len)
    return NULL;

  return &g_array_index (self->words, KhadimRpaOcrWord, index);
}

/**
 * khadim_rpa_ocr_page_get_n_lines:
 * @self: a page
 *
 * Any thread.
 *
 * Returns: how many lines were read
 */
guint
khadim_rpa_ocr_page_get_n_lines (const KhadimRpaOcrPage *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->lines->len;
}

/**
 * khadim_rpa_ocr_page_get_line:
 * @self: a page
 * @index: which line, from 0
 *
 * Any thread.
 *
 * Returns: (transfer none) (nullable): the line, valid as long as @self, or
 *   %NULL past the last one
 */
const KhadimRpaOcrLine *
khadim_rpa_ocr_page_get_line (const KhadimRpaOcrPage *self,
                              guint                   index)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (index >= self->lines->len)
    return NULL;

  return &g_array_index (self->lines, KhadimRpaOcrLine, index);
}

/**
 * khadim_rpa_ocr_page_dup_text:
 * @self: a page
 *
 * All of the text: words with spaces between them, a newline after each line.
 * Any thread.
 *
 * Returns: (transfer full): the text, UTF-8
 */
char *
khadim_rpa_ocr_page_dup_text (const KhadimRpaOcrPage *self)
{
  GString *text;

  g_return_val_if_fail (self != NULL, NULL);

  text = g_string_new (NULL);
  for (guint i = 0; i < self->words->len; i++)
    {
      const KhadimRpaOcrWord *word = khadim_rpa_ocr_page_get_word (self, i);
      const KhadimRpaOcrWord *next = khadim_rpa_ocr_page_get_word (self, i + 1);

      g_string_append (text, word->text);
      g_string_append_c (text, next != NULL && next->line == word->line ? ' ' : '\n');
    }

  return g_string_free (text, FALSE);
}
