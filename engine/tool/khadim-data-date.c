/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-data-date"

#include "config.h"

#include "engine/tool/khadim-data-private.h"

#include <locale.h>
#include <string.h>
#include <time.h>

#include "engine/json/khadim-json.h"

/* Dates of documents, with the time zone always given: the result depends on
 * the arguments, not on where and when the run is. Names of months and days
 * are English, formats those of strftime(3). */

/* The longest text that a format may give */
#define MAX_TEXT_BYTES 1024

static locale_t
neutral_locale (void)
{
  static gsize locale = 0;

  if (g_once_init_enter (&locale))
    g_once_init_leave (&locale, (gsize) newlocale (LC_ALL_MASK, "C", (locale_t) 0));

  return (locale_t) locale;
}

static GTimeZone *
zone_of (JsonObject  *args,
         GError     **error)
{
  const char *name = khadim_json_get_string (args, "timezone", "");
  GTimeZone *zone = *name != '\0' ? g_time_zone_new_identifier (name) : NULL;

  if (zone == NULL)
    g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                 "There is no time zone “%s”: write one such as UTC, +02:00 or Europe/Berlin",
                 name);

  return zone;
}

/* GDateTime moves what does not exist (an hour that summer time skips). */
static GDateTime *
make_date (const struct tm  *tm,
           GTimeZone        *zone,
           const char       *text,
           GError          **error)
{
  g_autoptr(GDateTime) date = NULL;

  date = g_date_time_new (zone, tm->tm_year + 1900, tm->tm_mon + 1, tm->tm_mday,
                          tm->tm_hour, tm->tm_min, tm->tm_sec);
  if (date == NULL
      || g_date_time_get_hour (date) != tm->tm_hour || g_date_time_get_minute (date) != tm->tm_min)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                   "“%s” is no date and time that exists in that time zone", text);
      return NULL;
    }

  return g_steal_pointer (&date);
}

static GDateTime *
parse_with_format (const char  *text,
                   const char  *format,
                   GTimeZone   *zone,
                   GError     **error)
{
  struct tm tm = { .tm_mday = 1, .tm_year = 70 };
  const char *end = strptime_l (text, format, &tm, neutral_locale ());

  if (end == NULL || *end != '\0')
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                   "“%.100s” is no date of the form “%s”", text, format);
      return NULL;
    }
  if (strstr (format, "%z") != NULL)
    {
      g_autoptr(GTimeZone) given = g_time_zone_new_offset ((gint32) tm.tm_gmtoff);
      g_autoptr(GDateTime) date = make_date (&tm, given, text, error);

      return date != NULL ? g_date_time_to_timezone (date, zone) : NULL;
    }

  return make_date (&tm, zone, text, error);
}

/* ISO 8601, a date alone is its midnight. */
static GDateTime *
parse_iso (const char  *text,
           GTimeZone   *zone,
           GError     **error)
{
  g_autofree char *midnight = NULL;
  g_autoptr(GDateTime) date = NULL;

  if (strpbrk (text, "Tt ") == NULL)
    midnight = g_strconcat (text, "T00:00:00", NULL);
  date = g_date_time_new_from_iso8601 (midnight != NULL ? midnight : text, zone);
  if (date == NULL)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                   "“%.100s” is no date such as 2026-12-31 or 2026-12-31T23:59:59Z; "
                   "say its format", text);
      return NULL;
    }

  return g_date_time_to_timezone (date, zone);
}

/* RFC 3339 */
static char *
format_iso (GDateTime *date)
{
  return g_date_time_format (date, g_date_time_get_utc_offset (date) == 0
                                     ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%dT%H:%M:%S%:z");
}

static JsonNode *
date_to_json (GDateTime *date)
{
  JsonObject *object = json_object_new ();
  g_autofree char *iso = format_iso (date);

  json_object_set_string_member (object, "iso", iso);
  json_object_set_int_member (object, "unix", g_date_time_to_unix (date));
  json_object_set_int_member (object, "year", g_date_time_get_year (date));
  json_object_set_int_member (object, "month", g_date_time_get_month (date));
  json_object_set_int_member (object, "day", g_date_time_get_day_of_month (date));
  json_object_set_int_member (object, "hour", g_date_time_get_hour (date));
  json_object_set_int_member (object, "minute", g_date_time_get_minute (date));
  json_object_set_int_member (object, "second", g_date_time_get_second (date));
  json_object_set_int_member (object, "weekday", g_date_time_get_day_of_week (date));

  return khadim_json_object (object);
}

JsonNode *
_khadim_data_parse_date (KhadimToolCall  *call,
                         GCancellable    *cancellable,
                         GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  const char *text = khadim_json_get_string (args, "text", "");
  const char *format = khadim_json_get_string (args, "format", NULL);
  g_autoptr(GTimeZone) zone = zone_of (args, error);
  g_autoptr(GDateTime) date = NULL;

  if (zone == NULL)
    return NULL;
  date = format != NULL ? parse_with_format (text, format, zone, error)
                        : parse_iso (text, zone, error);

  return date != NULL ? date_to_json (date) : NULL;
}

static void
to_tm (GDateTime *date,
       struct tm *tm)
{
  memset (tm, 0, sizeof *tm);
  tm->tm_year = g_date_time_get_year (date) - 1900;
  tm->tm_mon = g_date_time_get_month (date) - 1;
  tm->tm_mday = g_date_time_get_day_of_month (date);
  tm->tm_hour = g_date_time_get_hour (date);
  tm->tm_min = g_date_time_get_minute (date);
  tm->tm_sec = g_date_time_get_second (date);
  tm->tm_wday = g_date_time_get_day_of_week (date) % 7;
  tm->tm_yday = g_date_time_get_day_of_year (date) - 1;
  tm->tm_gmtoff = (long) (g_date_time_get_utc_offset (date) / G_USEC_PER_SEC);
  tm->tm_zone = g_date_time_get_timezone_abbreviation (date);
  tm->tm_isdst = g_date_time_is_daylight_savings (date);
}

/* strftime(3) has no way to know an empty text from one that does not fit: a
 * byte in front makes it one. */
static char *
format_date (GDateTime   *date,
             const char  *format,
             GError     **error)
{
  g_autofree char *marked = g_strconcat ("|", format, NULL);
  char text[MAX_TEXT_BYTES];
  struct tm tm;

  to_tm (date, &tm);
  if (strftime_l (text, sizeof text, marked, &tm, neutral_locale ()) == 0)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                   "The format “%s” gives more than %d bytes", format, MAX_TEXT_BYTES);
      return NULL;
    }

  return g_strdup (text + 1);
}

static GDateTime *
date_of (JsonObject  *args,
         GTimeZone   *zone,
         GError     **error)
{
  const char *text = khadim_json_get_string (args, "time", NULL);
  g_autoptr(GDateTime) date = NULL;
  gint64 seconds = khadim_json_get_int (args, "time", 0);

  if (text != NULL)
    return parse_iso (text, zone, error);

  date = g_date_time_new_from_unix_utc (seconds);
  if (date == NULL)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                   "%" G_GINT64_FORMAT " is no time in seconds", seconds);
      return NULL;
    }

  return g_date_time_to_timezone (date, zone);
}

JsonNode *
_khadim_data_format_date (KhadimToolCall  *call,
                          GCancellable    *cancellable,
                          GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  const char *format = khadim_json_get_string (args, "format", "%Y-%m-%d");
  g_autoptr(GTimeZone) zone = zone_of (args, error);
  g_autoptr(GDateTime) date = NULL;
  g_autofree char *text = NULL;
  JsonObject *object;

  if (zone == NULL)
    return NULL;
  if (strlen (format) > KHADIM_DATA_MAX_FORMAT_BYTES)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                   "The format is longer than %d bytes", KHADIM_DATA_MAX_FORMAT_BYTES);
      return NULL;
    }
  date = date_of (args, zone, error);
  if (date == NULL)
    return NULL;
  text = format_date (date, format, error);
  if (text == NULL)
    return NULL;

  object = json_object_new ();
  json_object_set_string_member (object, "text", text);

  return khadim_json_object (object);
}
