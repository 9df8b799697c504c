/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Patterns as Lua has them (Lua 5.4 Reference Manual, 6.4.1), with a count of
 * steps: a pattern such as "a*a*a*a*b" takes time that no hook of Lua can
 * bound. Knows nothing of the interpreter. Private. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define KHADIM_PATTERN_MAX_CAPTURES 32

/* Items with * + - or ?; matching is that deep a recursion */
#define KHADIM_PATTERN_MAX_REPEATS 250

typedef struct {
  guint8 kind;
  guint8 repeat; /* '*', '+', '-', '?', or 0 */
  guint8 index; /* of a capture */
  guint8 pair[2]; /* of %b */
  guint32 set[8]; /* the bytes that match, a bit each */
} KhadimPatternItem;

typedef struct {
  const guint8 *start;
  gssize length; /* or KHADIM_PATTERN_POSITION */
} KhadimPatternCapture;

#define KHADIM_PATTERN_POSITION (-2)

typedef struct {
  KhadimPatternItem *items; /* borrowed */
  gboolean anchored;
  guint n_captures;
  KhadimPatternCapture captures[KHADIM_PATTERN_MAX_CAPTURES];

  const guint8 *subject; /* borrowed */
  const guint8 *subject_end;
  guint64 steps_left;
  guint64 steps_owed; /* the caller's: taken and not yet counted */
  gboolean exhausted; /* no step was left: the answer is not known */
} KhadimPattern;

gsize         _khadim_pattern_items_needed (gsize              length);
const char   *_khadim_pattern_compile      (KhadimPattern     *self,
                                            KhadimPatternItem *items,
                                            const char        *pattern,
                                            gsize              length,
                                            gboolean           may_anchor);
void          _khadim_pattern_set_subject  (KhadimPattern     *self,
                                            const char        *subject,
                                            gsize              length);
const guint8 *_khadim_pattern_match_at     (KhadimPattern     *self,
                                            const guint8      *at,
                                            guint64            max_steps);

G_END_DECLS
