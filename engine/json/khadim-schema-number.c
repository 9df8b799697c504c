/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Exact comparison and division of the numbers of JSON. A double stands for
 * the shortest decimal that reads back as it: 0.3 is a multiple of 0.1. */

#define G_LOG_DOMAIN "khadim-schema-number"

#include "config.h"

#include "engine/json/khadim-schema-private.h"

#include <math.h>

#include "engine/json/khadim-json-private.h"

/* 2^63, the first double past the integers */
#define INT64_END 9223372036854775808.0

__extension__ typedef unsigned __int128 Wide;

/* |value| = mantissa * 10^exponent */
typedef struct {
  guint64 mantissa;
  int exponent;
} Decimal;

static Decimal
decimal_from_double (double value)
{
  g_autoptr(GString) text = g_string_new (NULL);
  Decimal decimal = { 0, };
  gboolean fraction = FALSE;
  const char *p;

  _khadim_json_append_double (text, fabs (value));
  for (p = text->str; g_ascii_isdigit (*p) || *p == '.'; p++)
    {
      if (*p == '.')
        {
          fraction = TRUE;
          continue;
        }
      decimal.mantissa = decimal.mantissa * 10 + (guint64) (*p - '0');
      decimal.exponent -= fraction ? 1 : 0;
    }
  if (*p == 'e')
    decimal.exponent += (int) g_ascii_strtoll (p + 1, NULL, 10);

  return decimal;
}

static Decimal
decimal_from_number (JsonNode *number)
{
  Decimal decimal = { 0, };
  gint64 value;

  if (json_node_get_value_type (number) != G_TYPE_INT64)
    return decimal_from_double (json_node_get_double (number));

  value = json_node_get_int (number);
  decimal.mantissa = value < 0 ? -(guint64) value : (guint64) value;

  return decimal;
}

/* mantissa * 10^power mod divisor */
static guint64
scaled_remainder (guint64 mantissa,
                  guint   power,
                  guint64 divisor)
{
  guint64 remainder = mantissa % divisor;

  for (guint i = 0; i < power && remainder != 0; i++)
    remainder = (guint64) ((Wide) remainder * 10 % divisor);

  return remainder;
}

/* Whether @number divided by @divisor is an integer. */
gboolean
_khadim_schema_number_is_multiple (JsonNode *number,
                                   JsonNode *divisor)
{
  Decimal a = decimal_from_number (number);
  Decimal b = decimal_from_number (divisor);

  if (b.mantissa == 0)
    return FALSE;
  if (a.mantissa == 0)
    return TRUE;
  if (a.exponent >= b.exponent)
    return scaled_remainder (a.mantissa, (guint) (a.exponent - b.exponent), b.mantissa) == 0;

  for (int i = a.exponent; i < b.exponent; i++)
    {
      if (__builtin_mul_overflow (b.mantissa, 10, &b.mantissa) || b.mantissa > a.mantissa)
        return FALSE;
    }

  return a.mantissa % b.mantissa == 0;
}

gboolean
_khadim_schema_number_is_integer (JsonNode *number)
{
  double value;

  if (json_node_get_value_type (number) == G_TYPE_INT64)
    return TRUE;

  value = json_node_get_double (number);

  return floor (value) == value;
}

static int
compare_int_double (gint64 a,
                    double b)
{
  gint64 whole;
  double rest;

  if (b >= INT64_END)
    return -1;
  if (b < -INT64_END)
    return 1;

  whole = (gint64) b;
  if (a != whole)
    return a < whole ? -1 : 1;
  rest = b - (double) whole;

  return rest > 0 ? -1 : rest < 0 ? 1 : 0;
}

/* As strcmp(), by mathematical value. */
int
_khadim_schema_number_compare (JsonNode *a,
                               JsonNode *b)
{
  gboolean a_integer = json_node_get_value_type (a) == G_TYPE_INT64;
  gboolean b_integer = json_node_get_value_type (b) == G_TYPE_INT64;
  double x;
  double y;

  if (a_integer && b_integer)
    {
      gint64 i = json_node_get_int (a);
      gint64 j = json_node_get_int (b);

      return i < j ? -1 : i > j ? 1 : 0;
    }
  if (a_integer)
    return compare_int_double (json_node_get_int (a), json_node_get_double (b));
  if (b_integer)
    return -compare_int_double (json_node_get_int (b), json_node_get_double (a));

  x = json_node_get_double (a);
  y = json_node_get_double (b);

  return x < y ? -1 : x > y ? 1 : 0;
}
