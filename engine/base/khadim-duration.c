/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-duration"

#include "config.h"

#include "engine/base/khadim-duration.h"

#include <string.h>

#include "engine/base/khadim-error.h"

static const struct
{
  const char *unit;
  double ms;
} units[] = {
  { "ms", 1 },
  { "s", 1000 },
  { "m", 60 * 1000 },
  { "h", 60 * 60 * 1000 },
  { "d", 24 * 60 * 60 * 1000 },
};

static double
unit_ms (const char *unit)
{
  for (gsize i = 0; i < G_N_ELEMENTS (units); i++)
    if (strcmp (units[i].unit, unit) == 0)
      return units[i].ms;

  return 0;
}

/**
 * khadim_duration_parse:
 * @text: a number with a unit: `500ms`, `1.5s`, `2m`, `1h`, `1d`
 * @out_ms: (out): where to put the duration in milliseconds, rounded;
 *   untouched on failure
 * @error: (nullable): `KHADIM_ENGINE_ERROR_INVALID`, or
 *   `KHADIM_ENGINE_ERROR_LIMIT` beyond `KHADIM_DURATION_MAX_MS`
 *
 * Reads a duration as documents write it. Any thread.
 *
 * Returns: whether @text is a duration
 */
gboolean
khadim_duration_parse (const char  *text,
                       gint64      *out_ms,
                       GError     **error)
{
  char *end = NULL;
  double number, factor;

  g_return_val_if_fail (text != NULL && out_ms != NULL, FALSE);

  /* g_ascii_strtod() would take signs, spaces, hexadecimals and “inf”. */
  number = g_ascii_isdigit (text[0]) && text[1] != 'x' && text[1] != 'X'
             ? g_ascii_strtod (text, &end)
             : -1;
  factor = end != NULL ? unit_ms (end) : 0;
  if (number < 0 || factor <= 0)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                   "“%.40s” is not a duration; write it like “500ms”, “10s” or “2m”", text);
      return FALSE;
    }
  if (number * factor > (double) KHADIM_DURATION_MAX_MS)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT,
                   "“%.40s” is longer than 31 days", text);
      return FALSE;
    }
  *out_ms = (gint64) (number * factor + 0.5);

  return TRUE;
}
