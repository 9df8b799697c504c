/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Formats of strings (validation, 7.3). An unknown format accepts all. */

#define G_LOG_DOMAIN "khadim-schema-format"

#include "config.h"

#include "engine/json/khadim-schema-private.h"

#include <gio/gio.h>

/* Lengths of RFC 1035 and RFC 5321 */
#define MAX_LABEL_BYTES 63
#define MAX_HOST_BYTES 253
#define MAX_LOCAL_PART_BYTES 64

/* Takes exactly @n digits whose value lies in the bounds. */
static gboolean
take_number (const char **inout_text,
             guint        n,
             int          least,
             int          most,
             int         *out_value)
{
  const char *p = *inout_text;
  int value = 0;

  for (guint i = 0; i < n; i++, p++)
    {
      if (!g_ascii_isdigit (*p))
        return FALSE;
      value = value * 10 + (*p - '0');
    }
  if (value < least || value > most)
    return FALSE;

  *inout_text = p;
  *out_value = value;

  return TRUE;
}

static gboolean
take_char (const char **inout_text,
           const char  *set)
{
  if (**inout_text == '\0' || strchr (set, **inout_text) == NULL)
    return FALSE;

  (*inout_text)++;
  return TRUE;
}

/* full-date of RFC 3339 */
static gboolean
take_date (const char **inout_text)
{
  int year;
  int month;
  int day;

  return take_number (inout_text, 4, 0, 9999, &year)
         && take_char (inout_text, "-")
         && take_number (inout_text, 2, 1, 12, &month)
         && take_char (inout_text, "-")
         && take_number (inout_text, 2, 1, 31, &day)
         && day <= g_date_get_days_in_month ((GDateMonth) month,
                                             (GDateYear) (year == 0 ? 400 : year));
}

/* time-offset of RFC 3339, in minutes */
static gboolean
take_offset (const char **inout_text,
             int         *out_minutes)
{
  gboolean west = **inout_text == '-';
  int hours;
  int minutes;

  *out_minutes = 0;
  if (take_char (inout_text, "Zz"))
    return TRUE;
  if (!take_char (inout_text, "+-") || !take_number (inout_text, 2, 0, 23, &hours)
      || !take_char (inout_text, ":") || !take_number (inout_text, 2, 0, 59, &minutes))
    return FALSE;

  *out_minutes = (west ? -1 : 1) * (hours * 60 + minutes);

  return TRUE;
}

/* full-time of RFC 3339; a leap second is the last one of a day in UTC. */
static gboolean
take_time (const char **inout_text)
{
  int hour;
  int minute;
  int second;
  int offset;

  if (!take_number (inout_text, 2, 0, 23, &hour) || !take_char (inout_text, ":")
      || !take_number (inout_text, 2, 0, 59, &minute) || !take_char (inout_text, ":")
      || !take_number (inout_text, 2, 0, 60, &second))
    return FALSE;
  if (take_char (inout_text, "."))
    {
      if (!take_char (inout_text, "0123456789"))
        return FALSE;
      *inout_text += strspn (*inout_text, "0123456789");
    }
  if (!take_offset (inout_text, &offset))
    return FALSE;

  return second < 60 || (hour * 60 + minute - offset + 2 * 1440) % 1440 == 1439;
}

static gboolean
is_date (const char *text)
{
  return take_date (&text) && *text == '\0';
}

static gboolean
is_time (const char *text)
{
  return take_time (&text) && *text == '\0';
}

static gboolean
is_date_time (const char *text)
{
  return take_date (&text) && take_char (&text, "Tt") && take_time (&text) && *text == '\0';
}

/* RFC 1123 names, in ASCII */
static gboolean
is_hostname (const char *text)
{
  g_auto(GStrv) labels = g_strsplit (text, ".", -1);

  if (text[0] == '\0' || strlen (text) > MAX_HOST_BYTES)
    return FALSE;

  for (guint i = 0; labels[i] != NULL; i++)
    {
      gsize length = strlen (labels[i]);

      if (length == 0 || length > MAX_LABEL_BYTES)
        return FALSE;
      if (labels[i][0] == '-' || labels[i][length - 1] == '-')
        return FALSE;
      for (const char *p = labels[i]; *p != '\0'; p++)
        {
          if (!g_ascii_isalnum (*p) && *p != '-')
            return FALSE;
        }
    }

  return TRUE;
}

static gboolean
is_address (const char   *text,
            GSocketFamily family)
{
  g_autoptr(GInetAddress) address = NULL;

  /* A scope such as %eth0 is no part of the address itself. */
  if (strchr (text, '%') != NULL)
    return FALSE;
  address = g_inet_address_new_from_string (text);

  return address != NULL && g_inet_address_get_family (address) == family;
}

static gboolean
is_ipv4 (const char *text)
{
  return is_address (text, G_SOCKET_FAMILY_IPV4);
}

static gboolean
is_ipv6 (const char *text)
{
  return is_address (text, G_SOCKET_FAMILY_IPV6);
}

/* The domain of a mail address: a name, or an address in brackets. */
static gboolean
is_mail_domain (const char *text)
{
  gsize length = strlen (text);
  g_autofree char *inner = NULL;

  if (text[0] != '[' || length < 2 || text[length - 1] != ']')
    return is_hostname (text);

  inner = g_strndup (text + 1, length - 2);
  if (g_ascii_strncasecmp (inner, "IPv6:", 5) == 0)
    return is_ipv6 (inner + 5);

  return is_ipv4 (inner);
}

/* Mailbox of RFC 5321, without quoted strings */
static gboolean
is_email (const char *text)
{
  static const char specials[] = "!#$%&'*+-/=?^_`{|}~";
  const char *at = strrchr (text, '@');
  gboolean after_dot = TRUE;

  if (at == NULL || at == text || at - text > MAX_LOCAL_PART_BYTES)
    return FALSE;

  for (const char *p = text; p < at; p++)
    {
      if (*p == '.' && after_dot)
        return FALSE;
      if (*p != '.' && !g_ascii_isalnum (*p) && strchr (specials, *p) == NULL)
        return FALSE;
      after_dot = *p == '.';
    }

  return !after_dot && is_mail_domain (at + 1);
}

/* The characters of RFC 3986, and escapes of two digits. */
static gboolean
has_uri_characters (const char *text)
{
  for (const char *p = text; *p != '\0'; p++)
    {
      if (*p == '%' && !(g_ascii_isxdigit (p[1]) && g_ascii_isxdigit (p[2])))
        return FALSE;
      if (!g_ascii_isalnum (*p) && strchr ("-._~:/?#[]@!$&'()*+,;=%", *p) == NULL)
        return FALSE;
    }

  return TRUE;
}

static gboolean
is_uri (const char *text)
{
  return has_uri_characters (text) && g_uri_is_valid (text, G_URI_FLAGS_ENCODED, NULL);
}

static gboolean
is_uri_reference (const char *text)
{
  g_autofree char *resolved = NULL;

  if (!has_uri_characters (text))
    return FALSE;
  resolved = g_uri_resolve_relative ("http://localhost/", text, G_URI_FLAGS_ENCODED, NULL);

  return resolved != NULL;
}

static gboolean
is_uuid (const char *text)
{
  static const guint groups[] = { 8, 4, 4, 4, 12 };

  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    {
      gsize digits = strspn (text, "0123456789abcdefABCDEF");

      if (digits != groups[i])
        return FALSE;
      text += digits;
      if (i + 1 < G_N_ELEMENTS (groups) && *text++ != '-')
        return FALSE;
    }

  return *text == '\0';
}

static gboolean
is_regex (const char *text)
{
  g_autoptr(KhadimSchemaPattern) pattern = _khadim_schema_pattern_new (text, NULL);

  return pattern != NULL;
}

/* RFC 6901 */
static gboolean
is_json_pointer (const char *text)
{
  if (text[0] != '\0' && text[0] != '/')
    return FALSE;

  for (const char *p = text; *p != '\0'; p++)
    {
      if (*p == '~' && p[1] != '0' && p[1] != '1')
        return FALSE;
    }

  return TRUE;
}

/* Whether @text is in @format, one of the names of the specification. */
gboolean
_khadim_schema_format_check (const char *format,
                             const char *text)
{
  static const struct
  {
    const char *name;
    gboolean (*check) (const char *text);
  } formats[] = {
    { "date-time", is_date_time },
    { "date", is_date },
    { "time", is_time },
    { "email", is_email },
    { "hostname", is_hostname },
    { "ipv4", is_ipv4 },
    { "ipv6", is_ipv6 },
    { "uri", is_uri },
    { "uri-reference", is_uri_reference },
    { "uuid", is_uuid },
    { "regex", is_regex },
    { "json-pointer", is_json_pointer },
  };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      if (g_str_equal (formats[i].name, format))
        return formats[i].check (text);
    }

  return TRUE;
}
