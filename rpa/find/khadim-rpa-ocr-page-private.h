/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/find/khadim-rpa-ocr-page.h"

G_BEGIN_DECLS

struct _KhadimRpaOcrPage
{
  gatomicrefcount ref_count;
  GArray         *words;   /* owned; of KhadimRpaOcrWord */
  GArray         *lines;   /* owned; of KhadimRpaOcrLine */
  GStringChunk   *strings; /* owned; the words' texts */
};

KhadimRpaOcrPage *_khadim_rpa_ocr_page_new     (void);
void              _khadim_rpa_ocr_page_add     (KhadimRpaOcrPage    *self,
                                                const char          *text,
                                                const KhadimRpaRect *box,
                                                double               confidence);
void              _khadim_rpa_ocr_page_arrange (KhadimRpaOcrPage    *self);

G_END_DECLS
