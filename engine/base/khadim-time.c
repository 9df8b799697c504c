/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-time"

#include "config.h"

#include "engine/base/khadim-time.h"

/**
 * khadim_time_now_us:
 *
 * The wall clock as records and events keep it. Any thread.
 *
 * Returns: microseconds since 1970 UTC
 */
gint64
khadim_time_now_us (void)
{
  return g_get_real_time ();
}

/**
 * khadim_time_to_rfc3339:
 * @us: microseconds since 1970 UTC
 *
 * A time as events write it (RFC 3339): in UTC, with six decimals, such as
 * `2026-01-02T03:04:05.000006Z`. Any thread.
 *
 * Returns: (nullable) (transfer full): the text; %NULL outside of the years 1
 *   to 9999, for which the RFC has no form
 */
char *
khadim_time_to_rfc3339 (gint64 us)
{
  gint64 seconds = us / G_USEC_PER_SEC;
  int fraction = (int) (us % G_USEC_PER_SEC);
  g_autoptr(GDateTime) time = NULL;

  if (fraction < 0)
    {
      fraction += G_USEC_PER_SEC;
      seconds--;
    }

  time = g_date_time_new_from_unix_utc (seconds);
  if (time == NULL)
    return NULL;

  return g_strdup_printf ("%04d-%02d-%02dT%02d:%02d:%02d.%06dZ",
                          g_date_time_get_year (time),
                          g_date_time_get_month (time),
                          g_date_time_get_day_of_month (time),
                          g_date_time_get_hour (time),
                          g_date_time_get_minute (time),
                          g_date_time_get_second (time),
                          fraction);
}
