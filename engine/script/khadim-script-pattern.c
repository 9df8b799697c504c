/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-pattern.h"

#include <string.h>

/* A pattern is compiled into a row of items. Faults in it are found here,
 * whether or not a match would come to them. */

typedef enum {
  ITEM_DONE,
  ITEM_SET,
  ITEM_OPEN,
  ITEM_POSITION,
  ITEM_CLOSE,
  ITEM_BALANCE,
  ITEM_FRONTIER,
  ITEM_BACK,
  ITEM_END,
} ItemKind;

typedef struct {
  const guint8 *at;
  const guint8 *end;
  KhadimPatternItem *item; /* the next one to write */
  guint n_captures;
  guint n_repeats;
  gboolean open[KHADIM_PATTERN_MAX_CAPTURES];
} Compiler;

static void
set_add (KhadimPatternItem *item,
         guint8             byte)
{
  item->set[byte / 32] |= 1u << (byte % 32);
}

static gboolean
set_has (const KhadimPatternItem *item,
         guint8                   byte)
{
  return (item->set[byte / 32] & (1u << (byte % 32))) != 0;
}

static void
set_invert (KhadimPatternItem *item)
{
  for (guint i = 0; i < G_N_ELEMENTS (item->set); i++)
    item->set[i] = ~item->set[i];
}

static gboolean
is_in_class (guint8 byte,
             guint8 class)
{
  switch (class)
    {
    case 'a':
      return g_ascii_isalpha (byte);
    case 'c':
      return g_ascii_iscntrl (byte);
    case 'd':
      return g_ascii_isdigit (byte);
    case 'g':
      return g_ascii_isgraph (byte);
    case 'l':
      return g_ascii_islower (byte);
    case 'p':
      return g_ascii_ispunct (byte);
    case 's':
      return byte == ' ' || (byte >= '\t' && byte <= '\r');
    case 'u':
      return g_ascii_isupper (byte);
    case 'w':
      return g_ascii_isalnum (byte);
    case 'x':
      return g_ascii_isxdigit (byte);
    default:
      return FALSE;
    }
}

/* Adds what % and @class stand for: a class, its opposite if it is upper
 * case, or the byte itself. */
static void
set_add_class (KhadimPatternItem *item,
               guint8             class)
{
  guint8 lower = (guint8) g_ascii_tolower (class);

  if (lower == '\0' || strchr ("acdglpsuwx", lower) == NULL)
    {
      set_add (item, class);
      return;
    }

  for (guint byte = 0; byte < 256; byte++)
    {
      if (is_in_class ((guint8) byte, lower) == (class == lower))
        set_add (item, (guint8) byte);
    }
}

/* The ] that closes the set whose content begins at @at; a ] that comes first
 * is one of its bytes. */
static const guint8 *
find_set_end (const guint8 *at,
              const guint8 *end)
{
  gboolean first = TRUE;

  while (at < end && (first || *at != ']'))
    {
      if (*at == '%' && at + 1 < end)
        at++;
      at++;
      first = FALSE;
    }

  return at < end ? at : NULL;
}

/* Reads the set behind the [ at the compiler's place. */
static const char *
compile_set (Compiler *compiler)
{
  KhadimPatternItem *item = compiler->item;
  const guint8 *at = compiler->at + 1;
  gboolean invert = at < compiler->end && *at == '^';
  const guint8 *end;

  if (invert)
    at++;
  end = find_set_end (at, compiler->end);
  if (end == NULL)
    return "malformed pattern (missing ']')";

  for (; at < end; at++)
    {
      if (*at == '%')
        set_add_class (item, *++at);
      else if (at + 2 < end && at[1] == '-')
        {
          for (guint byte = at[0]; byte <= at[2]; byte++)
            set_add (item, (guint8) byte);
          at += 2;
        }
      else
        set_add (item, *at);
    }

  if (invert)
    set_invert (item);
  compiler->at = end + 1;

  return NULL;
}

static const char *
compile_repeat (Compiler *compiler)
{
  KhadimPatternItem *item = compiler->item++;

  item->kind = ITEM_SET;
  if (compiler->at == compiler->end || *compiler->at == '\0'
      || strchr ("*+-?", *compiler->at) == NULL)
    return NULL;

  item->repeat = *compiler->at++;
  if (++compiler->n_repeats > KHADIM_PATTERN_MAX_REPEATS)
    return "pattern too complex";

  return NULL;
}

static const char *
compile_open (Compiler *compiler)
{
  KhadimPatternItem *item = compiler->item++;

  if (compiler->n_captures == KHADIM_PATTERN_MAX_CAPTURES)
    return "too many captures";

  item->index = (guint8) compiler->n_captures++;
  compiler->at++;
  if (compiler->at < compiler->end && *compiler->at == ')')
    {
      compiler->at++;
      item->kind = ITEM_POSITION;
      return NULL;
    }
  item->kind = ITEM_OPEN;
  compiler->open[item->index] = TRUE;

  return NULL;
}

static const char *
compile_close (Compiler *compiler)
{
  KhadimPatternItem *item = compiler->item++;

  for (guint i = compiler->n_captures; i > 0; i--)
    {
      if (compiler->open[i - 1])
        {
          compiler->open[i - 1] = FALSE;
          compiler->at++;
          item->kind = ITEM_CLOSE;
          item->index = (guint8) (i - 1);
          return NULL;
        }
    }

  return "invalid pattern capture";
}

static const char *
compile_back_reference (Compiler *compiler)
{
  KhadimPatternItem *item = compiler->item++;
  guint number = (guint) (compiler->at[1] - '0');

  if (number == 0 || number > compiler->n_captures || compiler->open[number - 1])
    return "invalid capture index in pattern";

  item->kind = ITEM_BACK;
  item->index = (guint8) (number - 1);
  compiler->at += 2;

  return NULL;
}

static const char *
compile_balance (Compiler *compiler)
{
  KhadimPatternItem *item = compiler->item++;

  if (compiler->end - compiler->at < 4)
    return "malformed pattern (missing arguments to '%b')";

  item->kind = ITEM_BALANCE;
  item->pair[0] = compiler->at[2];
  item->pair[1] = compiler->at[3];
  compiler->at += 4;

  return NULL;
}

static const char *
compile_frontier (Compiler *compiler)
{
  const char *fault;

  if (compiler->end - compiler->at < 3 || compiler->at[2] != '[')
    return "missing '[' after '%f' in pattern";

  compiler->at += 2;
  fault = compile_set (compiler);
  compiler->item++->kind = ITEM_FRONTIER;

  return fault;
}

static const char *
compile_escape (Compiler *compiler)
{
  if (compiler->end - compiler->at < 2)
    return "malformed pattern (ends with '%')";

  if (compiler->at[1] == 'b')
    return compile_balance (compiler);
  if (compiler->at[1] == 'f')
    return compile_frontier (compiler);
  if (g_ascii_isdigit (compiler->at[1]))
    return compile_back_reference (compiler);

  set_add_class (compiler->item, compiler->at[1]);
  compiler->at += 2;

  return compile_repeat (compiler);
}

static const char *
compile_item (Compiler *compiler)
{
  const char *fault;

  switch (*compiler->at)
    {
    case '(':
      return compile_open (compiler);
    case ')':
      return compile_close (compiler);
    case '%':
      return compile_escape (compiler);
    case '[':
      fault = compile_set (compiler);
      return fault != NULL ? fault : compile_repeat (compiler);
    case '$':
      if (compiler->at + 1 == compiler->end)
        {
          compiler->at++;
          compiler->item++->kind = ITEM_END;
          return NULL;
        }
      break;
    case '.':
      set_invert (compiler->item);
      compiler->at++;
      return compile_repeat (compiler);
    default:
      break;
    }

  set_add (compiler->item, *compiler->at++);

  return compile_repeat (compiler);
}

/* How many items a pattern of @length bytes may need. */
gsize
_khadim_pattern_items_needed (gsize length)
{
  return length + 1;
}

/* Compiles @pattern into @items, which are zero and stay the caller's. If
 * @may_anchor, a ^ at the start ties a match to where it is looked for.
 * Returns NULL, or what is wrong. */
const char *
_khadim_pattern_compile (KhadimPattern     *self,
                         KhadimPatternItem *items,
                         const char        *pattern,
                         gsize              length,
                         gboolean           may_anchor)
{
  Compiler compiler = { (const guint8 *) pattern, (const guint8 *) pattern + length, items };
  const char *fault;

  self->items = items;
  self->anchored = may_anchor && length > 0 && pattern[0] == '^';
  if (self->anchored)
    compiler.at++;

  while (compiler.at < compiler.end)
    {
      fault = compile_item (&compiler);
      if (fault != NULL)
        return fault;
    }

  for (guint i = 0; i < compiler.n_captures; i++)
    {
      if (compiler.open[i])
        return "unfinished capture";
    }

  compiler.item->kind = ITEM_DONE;
  self->n_captures = compiler.n_captures;

  return NULL;
}

/* Sets the text in which to look. */
void
_khadim_pattern_set_subject (KhadimPattern *self,
                             const char    *subject,
                             gsize          length)
{
  self->subject = (const guint8 *) subject;
  self->subject_end = self->subject + length;
}

static gboolean
spend (KhadimPattern *self,
       guint64        n_steps)
{
  if (self->steps_left < n_steps)
    {
      self->steps_left = 0;
      self->exhausted = TRUE;
      return FALSE;
    }
  self->steps_left -= n_steps;

  return TRUE;
}

/* The place behind the text in balance that begins at @at, or NULL. */
static const guint8 *
match_balance (KhadimPattern           *self,
               const KhadimPatternItem *item,
               const guint8            *at)
{
  gsize n_open = 1;

  if (at == self->subject_end || *at != item->pair[0])
    return NULL;

  for (at++; at < self->subject_end; at++)
    {
      if (!spend (self, 1))
        return NULL;
      if (*at == item->pair[1] && --n_open == 0)
        return at + 1;
      if (*at == item->pair[0] && *at != item->pair[1])
        n_open++;
    }

  return NULL;
}

static const guint8 *
match_frontier (KhadimPattern           *self,
                const KhadimPatternItem *item,
                const guint8            *at)
{
  guint8 before = at == self->subject ? '\0' : at[-1];
  guint8 here = at == self->subject_end ? '\0' : *at;

  return !set_has (item, before) && set_has (item, here) ? at : NULL;
}

static const guint8 *
match_back_reference (KhadimPattern           *self,
                      const KhadimPatternItem *item,
                      const guint8            *at)
{
  const KhadimPatternCapture *capture = &self->captures[item->index];

  if (capture->length < 0 || self->subject_end - at < capture->length
      || !spend (self, (guint64) capture->length / 16)
      || memcmp (at, capture->start, (gsize) capture->length) != 0)
    return NULL;

  return at + capture->length;
}

static const guint8 *
match_end (KhadimPattern           *self,
           const KhadimPatternItem *item,
           const guint8            *at)
{
  return at == self->subject_end ? at : NULL;
}

/* Captures hold what the last way through set them to, and every way that
 * succeeds goes through all items: nothing has to be undone. */
static const guint8 *
match_capture (KhadimPattern           *self,
               const KhadimPatternItem *item,
               const guint8            *at)
{
  KhadimPatternCapture *capture = &self->captures[item->index];

  if (item->kind == ITEM_CLOSE)
    capture->length = at - capture->start;
  else
    *capture = (KhadimPatternCapture) { at, KHADIM_PATTERN_POSITION };

  return at;
}

/* Goes over an item that has one way only. */
static const guint8 *
match_single (KhadimPattern           *self,
              const KhadimPatternItem *item,
              const guint8            *at)
{
  switch ((ItemKind) item->kind)
    {
    case ITEM_SET:
      return at < self->subject_end && set_has (item, *at) ? at + 1 : NULL;
    case ITEM_BALANCE:
      return match_balance (self, item, at);
    case ITEM_FRONTIER:
      return match_frontier (self, item, at);
    case ITEM_BACK:
      return match_back_reference (self, item, at);
    case ITEM_END:
      return match_end (self, item, at);
    case ITEM_OPEN:
    case ITEM_POSITION:
    case ITEM_CLOSE:
      return match_capture (self, item, at);
    case ITEM_DONE:
    default:
      return NULL;
    }
}

static const guint8 *match_items (KhadimPattern           *self,
                                  const KhadimPatternItem *item,
                                  const guint8            *at);

/* * and +: the most first. */
static const guint8 *
match_greedy (KhadimPattern           *self,
              const KhadimPatternItem *item,
              const guint8            *at)
{
  const guint8 *least = item->repeat == '+' ? at + 1 : at;
  const guint8 *most = at;

  while (most < self->subject_end && set_has (item, *most))
    most++;
  if (!spend (self, (guint64) (most - at)))
    return NULL;

  for (; most >= least && !self->exhausted; most--)
    {
      const guint8 *end = match_items (self, item + 1, most);

      if (end != NULL)
        return end;
    }

  return NULL;
}

/* -: the least first. */
static const guint8 *
match_lazy (KhadimPattern           *self,
            const KhadimPatternItem *item,
            const guint8            *at)
{
  while (at != NULL && !self->exhausted)
    {
      const guint8 *end = match_items (self, item + 1, at);

      if (end != NULL)
        return end;
      at = match_single (self, item, at);
    }

  return NULL;
}

static const guint8 *
match_items (KhadimPattern           *self,
             const KhadimPatternItem *item,
             const guint8            *at)
{
  while (at != NULL && item->kind != ITEM_DONE)
    {
      const guint8 *end;

      if (!spend (self, 1))
        return NULL;
      if (item->repeat == '*' || item->repeat == '+')
        return match_greedy (self, item, at);
      if (item->repeat == '-')
        return match_lazy (self, item, at);

      end = match_single (self, item, at);
      if (item->repeat == '?')
        {
          if (end != NULL)
            end = match_items (self, item + 1, end);
          if (end != NULL || self->exhausted)
            return end;
          end = at;
        }
      at = end;
      item++;
    }

  return at;
}

/* Matches the pattern at one place of the subject. Returns where the match
 * ends, or NULL: then self->exhausted says whether @max_steps were too few. */
const guint8 *
_khadim_pattern_match_at (KhadimPattern *self,
                          const guint8  *at,
                          guint64        max_steps)
{
  self->steps_left = max_steps;
  self->exhausted = FALSE;

  return match_items (self, self->items, at);
}
