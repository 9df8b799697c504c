/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "rpa/find/khadim-rpa-ocr-page.h"
#include "rpa/find/khadim-rpa-picture.h"

G_BEGIN_DECLS

/**
 * KHADIM_RPA_OCR_MAX_PIXELS:
 *
 * The largest region that is read, after it is made larger.
 */
#define KHADIM_RPA_OCR_MAX_PIXELS (48 * 1024 * 1024)

/**
 * KHADIM_RPA_OCR_MAX_WORDS:
 *
 * How many words of a region are kept; more is an error.
 */
#define KHADIM_RPA_OCR_MAX_WORDS 20000

/**
 * KHADIM_RPA_OCR_MAX_ENGINES:
 *
 * How many regions are read at the same time.
 */
#define KHADIM_RPA_OCR_MAX_ENGINES 4

/**
 * KhadimRpaOcrLayout:
 * @KHADIM_RPA_OCR_LAYOUT_AUTO: a line if the region is as high as one, else
 *   sparse, which suits windows best
 * @KHADIM_RPA_OCR_LAYOUT_PAGE: columns and blocks are looked for
 * @KHADIM_RPA_OCR_LAYOUT_BLOCK: one block of lines
 * @KHADIM_RPA_OCR_LAYOUT_LINE: one line
 * @KHADIM_RPA_OCR_LAYOUT_WORD: one word
 * @KHADIM_RPA_OCR_LAYOUT_SPARSE: single words anywhere
 *
 * How the text lies in the region.
 */
typedef enum {
  KHADIM_RPA_OCR_LAYOUT_AUTO,
  KHADIM_RPA_OCR_LAYOUT_PAGE,
  KHADIM_RPA_OCR_LAYOUT_BLOCK,
  KHADIM_RPA_OCR_LAYOUT_LINE,
  KHADIM_RPA_OCR_LAYOUT_WORD,
  KHADIM_RPA_OCR_LAYOUT_SPARSE,
} KhadimRpaOcrLayout;

/**
 * KhadimRpaOcrOptions:
 * @languages: (nullable): Tesseract's names joined by `+`, such as `eng+deu`;
 *   %NULL for `eng`
 * @layout: how the text lies
 * @enlarge: how many times the region is made larger first, 1 to 4
 * @min_confidence: words below it are left out, 0 to 100
 * @timeout_ms: the longest it may take, in milliseconds
 *
 * How to read. Start from %KHADIM_RPA_OCR_OPTIONS_INIT.
 */
typedef struct
{
  const char        *languages;
  KhadimRpaOcrLayout layout;
  int                enlarge;
  double             min_confidence;
  guint              timeout_ms;
} KhadimRpaOcrOptions;

/**
 * KHADIM_RPA_OCR_OPTIONS_INIT:
 *
 * The defaults: English, layout as the region suggests, twice as large, words of
 * any confidence above 20, 20 s.
 */
#define KHADIM_RPA_OCR_OPTIONS_INIT { NULL, KHADIM_RPA_OCR_LAYOUT_AUTO, 2, 20.0, 20000 }

KhadimRpaOcrPage *khadim_rpa_ocr_read (KhadimRpaPicture           *picture,
                                       const KhadimRpaRect        *region,
                                       const KhadimRpaOcrOptions  *options,
                                       GCancellable               *cancellable,
                                       GError                    **error);
void              khadim_rpa_ocr_drop (void);

G_END_DECLS
