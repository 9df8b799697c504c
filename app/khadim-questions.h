/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* The questions that a session, or one that it called, waits with. */

#pragma once

#include "engine/store/khadim-store.h"

G_BEGIN_DECLS

typedef struct
{
  char *id;           /* of its call */
  char *session_id;   /* whose it is: the session asked for, or one that it called */
  char *text;
  JsonArray *options; /* (nullable): what may be answered; NULL for any text */
} KhadimQuestionItem;

GPtrArray *khadim_questions_list     (KhadimStore         *store,
                                      const char          *session_id,
                                      GError             **error);
void       khadim_questions_print    (GPtrArray           *questions,
                                      const char          *session_id);
gboolean   khadim_questions_answer   (KhadimStore         *store,
                                      KhadimQuestionItem  *question,
                                      const char          *answer,
                                      GError             **error);
gboolean   khadim_questions_ask      (KhadimStore         *store,
                                      GPtrArray           *questions,
                                      GError             **error);
char      *khadim_questions_get_root (KhadimStore         *store,
                                      const char          *session_id,
                                      GError             **error);

G_END_DECLS
