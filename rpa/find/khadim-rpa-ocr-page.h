/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/find/khadim-rpa-picture.h"

G_BEGIN_DECLS

/**
 * KHADIM_RPA_OCR_MAX_PHRASE_CHARS:
 *
 * The longest phrase that is looked for.
 */
#define KHADIM_RPA_OCR_MAX_PHRASE_CHARS 256

/**
 * KHADIM_RPA_OCR_MAX_FOUND:
 *
 * How many places of a phrase are listed.
 */
#define KHADIM_RPA_OCR_MAX_FOUND 256

/**
 * KhadimRpaOcrWord:
 * @box: where, in pixels of the picture
 * @text: the word, UTF-8
 * @confidence: how sure the reader is, 0 to 100
 * @line: the number of its line
 *
 * A word that was read.
 */
typedef struct
{
  KhadimRpaRect box;
  const char   *text;
  double        confidence;
  guint         line;
} KhadimRpaOcrWord;

/**
 * KhadimRpaOcrLine:
 * @box: where, in pixels of the picture
 * @first_word: the number of its first word
 * @n_words: how many follow each other
 * @confidence: the mean of its words
 *
 * A line of words.
 */
typedef struct
{
  KhadimRpaRect box;
  guint         first_word;
  guint         n_words;
  double        confidence;
} KhadimRpaOcrLine;

/**
 * KhadimRpaOcrFindOptions:
 * @match_case: whether capitals matter
 * @whole_words: whether the phrase must begin and end with a word
 * @min_score: the least score, above 0 up to 1
 * @occurrence: which one from the top, from 1; 0 for all
 * @has_near: whether the one nearest to (@near_x, @near_y) comes first
 * @near_x: column, in pixels of the picture
 * @near_y: row
 *
 * How to look for a phrase. Start from %KHADIM_RPA_OCR_FIND_OPTIONS_INIT.
 */
typedef struct
{
  gboolean match_case;
  gboolean whole_words;
  double   min_score;
  guint    occurrence;
  gboolean has_near;
  int      near_x;
  int      near_y;
} KhadimRpaOcrFindOptions;

/**
 * KHADIM_RPA_OCR_FIND_OPTIONS_INIT:
 *
 * The defaults: any case, whole words, score 0.8, all occurrences.
 */
#define KHADIM_RPA_OCR_FIND_OPTIONS_INIT { FALSE, TRUE, 0.8, 0, FALSE, 0, 0 }

/**
 * KhadimRpaOcrFound:
 * @box: around all of it, in pixels of the picture
 * @head: the part in its first line: where to click
 * @first_word: the number of its first word
 * @n_words: how many
 * @score: 1 less the edit distance for each character of the phrase; what
 *   readers of print confuse costs little
 *
 * A place of a phrase.
 */
typedef struct
{
  KhadimRpaRect box;
  KhadimRpaRect head;
  guint         first_word;
  guint         n_words;
  double        score;
} KhadimRpaOcrFound;

/**
 * KhadimRpaOcrPage:
 *
 * What was read on a picture. It never changes; any thread may use it.
 */
typedef struct _KhadimRpaOcrPage KhadimRpaOcrPage;

#define KHADIM_RPA_TYPE_OCR_PAGE (khadim_rpa_ocr_page_get_type ())
GType khadim_rpa_ocr_page_get_type (void);

KhadimRpaOcrPage *khadim_rpa_ocr_page_ref   (KhadimRpaOcrPage *self);
void              khadim_rpa_ocr_page_unref (KhadimRpaOcrPage *self);

guint                   khadim_rpa_ocr_page_get_n_words (const KhadimRpaOcrPage *self);
const KhadimRpaOcrWord *khadim_rpa_ocr_page_get_word    (const KhadimRpaOcrPage *self,
                                                         guint                   index);
guint                   khadim_rpa_ocr_page_get_n_lines (const KhadimRpaOcrPage *self);
const KhadimRpaOcrLine *khadim_rpa_ocr_page_get_line    (const KhadimRpaOcrPage *self,
                                                         guint                   index);
char                   *khadim_rpa_ocr_page_dup_text    (const KhadimRpaOcrPage *self);

GArray *khadim_rpa_ocr_page_find (const KhadimRpaOcrPage         *self,
                                  const char                     *phrase,
                                  const KhadimRpaOcrFindOptions  *options,
                                  GError                        **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimRpaOcrPage, khadim_rpa_ocr_page_unref)

G_END_DECLS
