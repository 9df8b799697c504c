/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-ocr-find"

#include "config.h"

#include "rpa/find/khadim-rpa-ocr-page.h"

#include <string.h>

#include "rpa/screen/khadim-rpa-error.h"

#include "rpa/find/khadim-rpa-ocr-page-private.h"

/* Edit costs. What readers of print take for each other is nearly the same. */
#define COST_EDIT 1.0
#define COST_CONFUSED 0.15
#define COST_SPACE 0.4

/* Places that are this much worse than the best are not listed. */
#define BEST_MARGIN 0.1

/* Characters of a class are taken for each other. */
static const char *const confused[] = { "1lI|!i", "0OoQD", "5Ss", "8B", "2Zz", "6G", ".,", "-–—",
                                        "'’`", "\"”“", "uv", "ce" };

/* One character taken for two. */
static const struct
{
  const char *two;
  gunichar    one;
} joined[] = { { "rn", 'm' }, { "vv", 'w' }, { "cl", 'd' }, { "ri", 'n' }, { "nn", 'm' } };

/* The page as one line of characters; spaces between words. */
typedef struct
{
  gunichar *chars;    /* owned */
  guint    *words;    /* owned; the word of each character, of spaces the next */
  guint    *offsets;  /* owned; place in its word */
  guint     length;
} Stream;

typedef struct
{
  double cost;
  guint  first; /* where in the stream the match begins */
} Cell;

typedef struct
{
  double cost;
  guint  first;
  guint  end;
} Candidate;

static void
stream_clear (Stream *self)
{
  g_free (self->chars);
  g_free (self->words);
  g_free (self->offsets);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stream, stream_clear)

static gunichar *
fold (const char *text,
      gboolean    match_case,
      glong      *out_length)
{
  g_autofree char *normal = g_utf8_normalize (text, -1, G_NORMALIZE_ALL_COMPOSE);
  gunichar *chars = g_utf8_to_ucs4_fast (normal != NULL ? normal : "", -1, out_length);

  for (glong i = 0; i < *out_length && !match_case; i++)
    chars[i] = g_unichar_tolower (chars[i]);

  return chars;
}

static void
append_char (GArray  *chars,
             GArray  *words,
             GArray  *offsets,
             gunichar c,
             guint    word,
             guint    offset)
{
  g_array_append_val (chars, c);
  g_array_append_val (words, word);
  g_array_append_val (offsets, offset);
}

static Stream
stream_init (const KhadimRpaOcrPage *page,
             gboolean                match_case)
{
  GArray *chars = g_array_new (FALSE, FALSE, sizeof (gunichar));
  GArray *words = g_array_new (FALSE, FALSE, sizeof (guint));
  GArray *offsets = g_array_new (FALSE, FALSE, sizeof (guint));
  Stream self;

  for (guint w = 0; w < page->words->len; w++)
    {
      glong length = 0;
      g_autofree gunichar *folded = fold (khadim_rpa_ocr_page_get_word (page, w)->text, match_case,
                                          &length);

      if (w > 0)
        append_char (chars, words, offsets, ' ', w, 0);
      for (glong i = 0; i < length; i++)
        append_char (chars, words, offsets, folded[i], w, (guint) i);
    }

  self.length = chars->len;
  self.chars = (gunichar *) (gpointer) g_array_free (chars, FALSE);
  self.words = (guint *) (gpointer) g_array_free (words, FALSE);
  self.offsets = (guint *) (gpointer) g_array_free (offsets, FALSE);

  return self;
}

static double
replace_cost (gunichar a,
              gunichar b)
{
  if (a == b)
    return 0.0;
  if (g_unichar_tolower (a) == g_unichar_tolower (b))
    return COST_EDIT;

  for (guint i = 0; i < G_N_ELEMENTS (confused); i++)
    if (g_utf8_strchr (confused[i], -1, a) != NULL && g_utf8_strchr (confused[i], -1, b) != NULL)
      return COST_CONFUSED;

  return COST_EDIT;
}

static double
drop_cost (gunichar c)
{
  return c == ' ' ? COST_SPACE : COST_EDIT;
}

static gboolean
is_joined (gunichar first,
           gunichar second,
           gunichar one)
{
  for (guint i = 0; i < G_N_ELEMENTS (joined); i++)
    if (joined[i].one == one && (gunichar) joined[i].two[0] == first
        && (gunichar) joined[i].two[1] == second)
      return TRUE;

  return FALSE;
}

static void
take_cheaper (Cell       *cell,
              const Cell *from,
              double      cost)
{
  if (from->cost + cost < cell->cost)
    {
      cell->cost = from->cost + cost;
      cell->first = from->first;
    }
}

/* One column of the table: the phrase against the stream up to character @at. */
static void
fill_column (const Stream   *stream,
             guint           at,
             const gunichar *phrase,
             glong           length,
             const Cell     *before2,
             const Cell     *before,
             Cell           *column)
{
  gunichar c = stream->chars[at];

  column[0] = (Cell) { 0.0, at + 1 };
  for (glong i = 1; i <= length; i++)
    {
      column[i] = (Cell) { before[i - 1].cost + replace_cost (phrase[i - 1], c),
                           before[i - 1].first };
      take_cheaper (&column[i], &column[i - 1], drop_cost (phrase[i - 1]));
      take_cheaper (&column[i], &before[i], drop_cost (c));
      if (at > 0 && is_joined (stream->chars[at - 1], c, phrase[i - 1]))
        take_cheaper (&column[i], &before2[i - 1], COST_CONFUSED);
      if (i > 1 && is_joined (phrase[i - 2], phrase[i - 1], c))
        take_cheaper (&column[i], &before[i - 2], COST_CONFUSED);
    }
}

/* Between two letters or digits a word goes on; quotes, dots and the like that
 * stick to a word are no part of it. */
static gboolean
is_edge (const Stream *stream,
         guint         at)
{
  return at == 0 || at == stream->length || !g_unichar_isalnum (stream->chars[at - 1])
         || !g_unichar_isalnum (stream->chars[at]);
}

static gboolean
at_word_edges (const Stream *stream,
               guint         first,
               guint         end)
{
  return is_edge (stream, first) && is_edge (stream, end);
}

/*
 * Approximate matching anywhere in a text by dynamic programming (Sellers, "The
 * theory and computation of evolutionary distances", 1980), with costs of print.
 */
static GArray *
list_candidates (const Stream                  *stream,
                 const gunichar                *phrase,
                 glong                          length,
                 const KhadimRpaOcrFindOptions *options)
{
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  g_autofree Cell *cells = g_new (Cell, 3 * (gsize) (length + 1));
  Cell *columns[3] = { cells, cells + length + 1, cells + 2 * (length + 1) };
  double most = (1.0 - options->min_score) * (double) length + 1e-9;

  columns[1][0] = columns[0][0] = (Cell) { 0.0, 0 };
  for (glong i = 1; i <= length; i++)
    columns[0][i] = columns[1][i] = (Cell) { columns[1][i - 1].cost + drop_cost (phrase[i - 1]),
                                             0 };

  for (guint at = 0; at < stream->length; at++)
    {
      Cell *column = columns[2];
      Candidate candidate;

      fill_column (stream, at, phrase, length, columns[0], columns[1], column);
      candidate = (Candidate) { column[length].cost, column[length].first, at + 1 };
      if (candidate.cost <= most && candidate.end > candidate.first
          && (!options->whole_words || at_word_edges (stream, candidate.first, candidate.end)))
        g_array_append_val (candidates, candidate);
      columns[2] = columns[0];
      columns[0] = columns[1];
      columns[1] = column;
    }

  return candidates;
}

static int
compare_costs (gconstpointer a,
               gconstpointer b)
{
  const Candidate *one = a, *other = b;

  if (one->cost != other->cost)
    return one->cost < other->cost ? -1 : 1;

  return one->first < other->first ? -1 : one->first > other->first;
}

static int
compare_places (gconstpointer a,
                gconstpointer b)
{
  const Candidate *one = a, *other = b;

  return one->first < other->first ? -1 : one->first > other->first;
}

/* Of places that overlap the best; none that is much worse than the best. */
static void
thin_candidates (GArray *candidates,
                 glong   length)
{
  Candidate *all = (Candidate *) (gpointer) candidates->data;
  guint kept = 0;

  g_array_sort (candidates, compare_costs);
  for (guint i = 0; i < candidates->len && kept < KHADIM_RPA_OCR_MAX_FOUND; i++)
    {
      gboolean covered = all[i].cost > all[0].cost + BEST_MARGIN * (double) length;

      for (guint k = 0; k < kept && !covered; k++)
        covered = all[i].first < all[k].end && all[k].first < all[i].end;
      if (!covered)
        all[kept++] = all[i];
    }
  g_array_set_size (candidates, kept);
  g_array_sort (candidates, compare_places);
}

/* The part of a word's box that its characters @from to @end take, if all were
 * equally wide. */
static KhadimRpaRect
part_of_box (const KhadimRpaOcrWord *word,
             guint                   from,
             guint                   end)
{
  int length = (int) MAX (1, g_utf8_strlen (word->text, -1));
  int left = word->box.width * (int) from / length;
  int right = word->box.width * MIN ((int) end, length) / length;

  return (KhadimRpaRect) { word->box.x + left, word->box.y, MAX (1, right - left),
                           word->box.height };
}

static KhadimRpaOcrFound
place_candidate (const KhadimRpaOcrPage *page,
                 const Stream           *stream,
                 const Candidate        *candidate,
                 glong                   length)
{
  KhadimRpaOcrFound found = { { 0 } };
  guint last = candidate->end - 1;

  found.score = MAX (0.0, 1.0 - candidate->cost / (double) length);
  found.first_word = stream->words[candidate->first];
  found.n_words = stream->words[last] - found.first_word + 1;
  for (guint i = 0; i < found.n_words; i++)
    {
      const KhadimRpaOcrWord *word = khadim_rpa_ocr_page_get_word (page, found.first_word + i);
      const KhadimRpaOcrWord *first = khadim_rpa_ocr_page_get_word (page, found.first_word);
      guint from = i == 0 ? stream->offsets[candidate->first] : 0;
      guint end = i + 1 == found.n_words ? stream->offsets[last] + 1 : G_MAXINT;
      KhadimRpaRect part = part_of_box (word, from, end);

      khadim_rpa_rect_unite (&found.box, &part);
      if (word->line == first->line)
        khadim_rpa_rect_unite (&found.head, &part);
    }

  return found;
}

static gint64
distance_squared (const KhadimRpaOcrFound       *found,
                  const KhadimRpaOcrFindOptions *options)
{
  gint64 dx = (gint64) found->head.x + found->head.width / 2 - options->near_x;
  gint64 dy = (gint64) found->head.y + found->head.height / 2 - options->near_y;

  return dx * dx + dy * dy;
}

static int
compare_distances (gconstpointer a,
                   gconstpointer b,
                   gpointer      options)
{
  gint64 one = distance_squared (a, options), other = distance_squared (b, options);

  return one < other ? -1 : one > other;
}

static GArray *
take_found (const KhadimRpaOcrPage        *page,
            const Stream                  *stream,
            GArray                        *candidates,
            glong                          length,
            const KhadimRpaOcrFindOptions *options)
{
  GArray *places = g_array_new (FALSE, FALSE, sizeof (KhadimRpaOcrFound));

  for (guint i = 0; i < candidates->len; i++)
    {
      KhadimRpaOcrFound found = place_candidate (
        page, stream, &g_array_index (candidates, Candidate, i), length);

      if (options->occurrence == 0 || options->occurrence == i + 1)
        g_array_append_val (places, found);
    }
  if (options->has_near)
    g_array_sort_with_data (places, compare_distances, (gpointer) options);

  return places;
}

static gboolean
check_find (const char                     *phrase,
            glong                           length,
            const KhadimRpaOcrFindOptions  *options,
            GError                        **error)
{
  if (length < 1 || !(options->min_score > 0.0 && options->min_score <= 1.0))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "Looking for “%s” at a score of %g: no phrase, or not above 0 and up to 1",
                   phrase, options->min_score);
      return FALSE;
    }

  if (length > KHADIM_RPA_OCR_MAX_PHRASE_CHARS)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
                   "A phrase of %ld characters is longer than %d", length,
                   KHADIM_RPA_OCR_MAX_PHRASE_CHARS);
      return FALSE;
    }

  return TRUE;
}

/* Words of the phrase are one space apart, as in the stream. */
static char *
single_spaces (const char *phrase)
{
  g_auto(GStrv) parts = g_strsplit_set (phrase, " \t\n", -1);
  g_autoptr(GPtrArray) words = g_ptr_array_new ();

  for (guint i = 0; parts[i] != NULL; i++)
    if (parts[i][0] != '\0')
      g_ptr_array_add (words, parts[i]);
  g_ptr_array_add (words, NULL);

  return g_strjoinv (" ", (char **) words->pdata);
}

/**
 * khadim_rpa_ocr_page_find:
 * @self: a page
 * @phrase: what to look for, UTF-8; it may go on from one line to the next
 * @options: (nullable): how to look, %NULL for the defaults
 * @error: return location for an error
 *
 * Finds a phrase among the words that were read, allowing for what readers of
 * print confuse (l, 1 and I; 0 and O; rn and m; a lost space). Places much worse
 * than the best one are left out. Any thread.
 *
 * Returns: (transfer full) (element-type KhadimRpaOcrFound) (nullable): the
 *   places in reading order, or by distance if a point is given; empty when
 *   there is none; %NULL with %KHADIM_RPA_ERROR_INVALID or
 *   %KHADIM_RPA_ERROR_LIMIT
 */
GArray *
khadim_rpa_ocr_page_find (const KhadimRpaOcrPage         *self,
                          const char                     *phrase,
                          const KhadimRpaOcrFindOptions  *options,
                          GError                        **error)
{
  const KhadimRpaOcrFindOptions defaults = KHADIM_RPA_OCR_FIND_OPTIONS_INIT;
  g_autofree char *tidy = NULL;
  g_autofree gunichar *chars = NULL;
  g_autoptr(GArray) candidates = NULL;
  g_auto(Stream) stream = { NULL };
  glong length = 0;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (phrase != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (options == NULL)
    options = &defaults;
  if (!g_utf8_validate (phrase, -1, NULL))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "The phrase to look for is not UTF-8");
      return NULL;
    }

  tidy = single_spaces (phrase);
  chars = fold (tidy, options->match_case, &length);
  if (!check_find (tidy, length, options, error))
    return NULL;

  stream = stream_init (self, options->match_case);
  candidates = list_candidates (&stream, chars, length, options);
  thin_candidates (candidates, length);

  return take_found (self, &stream, candidates, length, options);
}
