/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <string.h>

#include <glib.h>

G_BEGIN_DECLS

#define KHADIM_JSON_EACH_BYTE(byte) (G_GUINT64_CONSTANT (0x0101010101010101) * (byte))
#define KHADIM_JSON_HIGH_BITS KHADIM_JSON_EACH_BYTE (0x80)

/* Whether some byte of @word is below @limit, or, with @limit 1, is zero. Exact
 * unless only bytes above 0x7f are there, which never count (Warren, "Hacker's
 * Delight", 6-1). */
static inline guint64
_khadim_json_some_below (guint64 word,
                         guint64 limit)
{
  return (word - KHADIM_JSON_EACH_BYTE (limit)) & ~word & KHADIM_JSON_HIGH_BITS;
}

/* The first byte from @at that cannot stand in a JSON string as it is (a
 * quote, a backslash, a control character), or @end. Adds to @inout_high
 * whether there was anything but ASCII on the way. Eight bytes at a time. */
static inline const char *
_khadim_json_skip_plain (const char *at,
                         const char *end,
                         guint64    *inout_high)
{
  guint64 high = 0;

  while (end - at >= (gssize) sizeof (guint64))
    {
      guint64 word;

      memcpy (&word, at, sizeof word);
      if ((_khadim_json_some_below (word, 0x20)
           | _khadim_json_some_below (word ^ KHADIM_JSON_EACH_BYTE ('"'), 1)
           | _khadim_json_some_below (word ^ KHADIM_JSON_EACH_BYTE ('\\'), 1)) != 0)
        break;
      high |= word & KHADIM_JSON_HIGH_BITS;
      at += sizeof word;
    }

  while (at < end && (guchar) *at >= 0x20 && *at != '"' && *at != '\\')
    high |= (guchar) *at++ & 0x80;
  *inout_high |= high;

  return at;
}

G_END_DECLS
