/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-json-writer"

#include "config.h"

#include "engine/json/khadim-json.h"

#include <math.h>

#include "engine/json/khadim-json-private.h"
#include "engine/json/khadim-json-scan-private.h"

#define INDENT_WIDTH 2
/* Digits with which some and every double can be told from its neighbours */
#define DOUBLE_MIN_DIGITS 15
#define DOUBLE_MAX_DIGITS 17

typedef enum {
  STYLE_COMPACT,
  STYLE_PRETTY,
  STYLE_CANONICAL,
} Style;

static void
append_escaped (GString *out,
                guchar   c)
{
  static const char letters[] = "btn\0fr";

  if (c == '"' || c == '\\')
    {
      g_string_append_c (out, '\\');
      g_string_append_c (out, (char) c);
    }
  else if (c >= '\b' && c <= '\r' && c != '\v')
    {
      g_string_append_c (out, '\\');
      g_string_append_c (out, letters[c - '\b']);
    }
  else
    {
      g_string_append_printf (out, "\\u%04x", c);
    }
}

/* @text as a JSON string. Bytes that are not UTF-8 become U+FFFD. */
void
_khadim_json_append_quoted (GString    *out,
                            const char *text)
{
  const char *end = text + strlen (text);
  gsize before = out->len;
  const char *run = text;
  guint64 high = 0;

  g_string_append_c (out, '"');
  while (TRUE)
    {
      const char *p = _khadim_json_skip_plain (run, end, &high);

      g_string_append_len (out, run, p - run);
      if (p == end)
        break;
      append_escaped (out, (guchar) *p);
      run = p + 1;
    }
  g_string_append_c (out, '"');

  if (high != 0 && !g_utf8_validate_len (out->str + before, out->len - before, NULL))
    {
      g_autofree char *valid = g_utf8_make_valid (out->str + before, -1);

      g_string_truncate (out, before);
      g_string_append (out, valid);
    }
}

static void
append_int (GString *out,
            gint64   value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  char *p = digits + sizeof digits;
  guint64 rest = value < 0 ? -(guint64) value : (guint64) value;
  gsize length;

  do
    *--p = (char) ('0' + rest % 10);
  while ((rest /= 10) > 0);
  if (value < 0)
    *--p = '-';

  length = (gsize) (digits + sizeof digits - p);
  g_string_append_len (out, p, (gssize) length);
}

/* A decimal of few digits, such as most that people write. The division is
 * exact but for one rounding, as a reader's would be, so that what gives
 * @value back is what reads back as it. */
static gboolean
append_short_decimal (GString *out,
                      double   value)
{
  static const double powers[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6 };
  double size = fabs (value);

  /* Outside these the text has an exponent. */
  if (!(size >= 1e-4 && size < 1e9))
    return FALSE;

  for (guint places = 1; places < G_N_ELEMENTS (powers); places++)
    {
      double scaled = size * powers[places];
      gint64 whole = (gint64) scaled;

      if ((double) whole != scaled || scaled / powers[places] != size)
        continue;
      if (value < 0)
        g_string_append_c (out, '-');
      append_int (out, whole / (gint64) powers[places]);
      /* The leading 1 keeps the zeros behind the point, and makes way for it. */
      append_int (out, (gint64) powers[places] + whole % (gint64) powers[places]);
      out->str[out->len - places - 1] = '.';
      /* With fewer places the product may just have missed the integer. */
      while (out->str[out->len - 1] == '0' && out->str[out->len - 2] != '.')
        g_string_truncate (out, out->len - 1);
      return TRUE;
    }

  return FALSE;
}

/* The shortest decimal that reads back as @value, with a point or an exponent
 * so that it stays a double. */
void
_khadim_json_append_double (GString *out,
                            double   value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (value))
    {
      g_string_append (out, "null");
      return;
    }

  if (append_short_decimal (out, value))
    return;

  for (int digits = DOUBLE_MIN_DIGITS; digits <= DOUBLE_MAX_DIGITS; digits++)
    {
      char format[8];

      g_snprintf (format, sizeof format, "%%.%dg", digits);
      g_ascii_formatd (text, sizeof text, format, value);
      if (g_ascii_strtod (text, NULL) == value)
        break;
    }

  g_string_append (out, text);
  if (strpbrk (text, ".e") == NULL)
    g_string_append (out, ".0");
}

static void
append_number (GString  *out,
               JsonNode *node,
               Style     style)
{
  gint64 integer;

  if (json_node_get_value_type (node) == G_TYPE_INT64)
    append_int (out, json_node_get_int (node));
  else if (style == STYLE_CANONICAL
           && _khadim_json_double_to_int (json_node_get_double (node), &integer))
    append_int (out, integer);
  else
    _khadim_json_append_double (out, json_node_get_double (node));
}

static void
append_value (GString  *out,
              JsonNode *node,
              Style     style)
{
  const char *text;

  switch (json_node_get_value_type (node))
    {
    case G_TYPE_STRING:
      text = json_node_get_string (node);
      _khadim_json_append_quoted (out, text != NULL ? text : "");
      break;

    case G_TYPE_BOOLEAN:
      g_string_append (out, json_node_get_boolean (node) ? "true" : "false");
      break;

    default:
      append_number (out, node, style);
      break;
    }
}

static void
append_break (GString *out,
              Style    style,
              guint    depth)
{
  if (style == STYLE_PRETTY)
    g_string_append_printf (out, "\n%*s", (int) depth * INDENT_WIDTH, "");
}

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  /* The order of UTF-8 bytes is that of code points. */
  return strcmp (a, b);
}

static void append_node (GString  *out,
                         JsonNode *node,
                         Style     style,
                         guint     depth);

static void
append_member (GString    *out,
               const char *name,
               JsonNode   *value,
               gboolean    first,
               Style       style,
               guint       depth)
{
  if (!first)
    g_string_append_c (out, ',');
  append_break (out, style, depth);
  _khadim_json_append_quoted (out, name);
  g_string_append (out, style == STYLE_PRETTY ? ": " : ":");
  append_node (out, value, style, depth);
}

static void
append_members_sorted (GString    *out,
                       JsonObject *object,
                       guint       depth)
{
  g_autoptr(GList) names = json_object_get_members (object);

  names = g_list_sort (names, compare_names);
  for (GList *l = names; l != NULL; l = l->next)
    append_member (out, l->data, json_object_get_member (object, l->data), l->prev == NULL,
                   STYLE_CANONICAL, depth);
}

static void
append_object (GString    *out,
               JsonObject *object,
               Style       style,
               guint       depth)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;
  gboolean first = TRUE;

  g_string_append_c (out, '{');
  if (style == STYLE_CANONICAL)
    append_members_sorted (out, object, depth + 1);

  json_object_iter_init_ordered (&iter, object);
  while (style != STYLE_CANONICAL && json_object_iter_next_ordered (&iter, &name, &value))
    {
      append_member (out, name, value, first, style, depth + 1);
      first = FALSE;
    }
  if (!first)
    append_break (out, style, depth);
  g_string_append_c (out, '}');
}

static void
append_array (GString   *out,
              JsonArray *array,
              Style      style,
              guint      depth)
{
  guint length = json_array_get_length (array);

  g_string_append_c (out, '[');
  for (guint i = 0; i < length; i++)
    {
      if (i > 0)
        g_string_append_c (out, ',');
      append_break (out, style, depth + 1);
      append_node (out, json_array_get_element (array, i), style, depth + 1);
    }
  if (length > 0)
    append_break (out, style, depth);
  g_string_append_c (out, ']');
}

static void
append_node (GString  *out,
             JsonNode *node,
             Style     style,
             guint     depth)
{
  switch (json_node_get_node_type (node))
    {
    case JSON_NODE_OBJECT:
      append_object (out, json_node_get_object (node), style, depth);
      break;

    case JSON_NODE_ARRAY:
      append_array (out, json_node_get_array (node), style, depth);
      break;

    case JSON_NODE_VALUE:
      append_value (out, node, style);
      break;

    case JSON_NODE_NULL:
    default:
      g_string_append (out, "null");
      break;
    }
}

static char *
write_node (JsonNode *node,
            Style     style)
{
  GString *out = g_string_new (NULL);

  append_node (out, node, style, 0);

  return g_string_free (out, FALSE);
}

/**
 * khadim_json_to_string:
 * @node: a value
 *
 * JSON text (RFC 8259) without white space: members in the order in which they
 * were added, integers as such, doubles as the shortest decimal that reads back
 * the same (`1.0` stays `1.0`), whatever the locale. Always valid UTF-8: bytes
 * that are not become U+FFFD. Any thread.
 *
 * Returns: (transfer full): the text
 */
char *
khadim_json_to_string (JsonNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);

  return write_node (node, STYLE_COMPACT);
}

/**
 * khadim_json_to_pretty:
 * @node: a value
 *
 * As [func@Khadim.json_to_string], for people: one member or element a line,
 * indented by two spaces, no line end after the last. Any thread.
 *
 * Returns: (transfer full): the text
 */
char *
khadim_json_to_pretty (JsonNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);

  return write_node (node, STYLE_PRETTY);
}

/**
 * khadim_json_to_canonical:
 * @node: a value
 *
 * The one text of all values that are equal by [func@Khadim.json_equal], for
 * hashes and keys: no white space, members sorted by code point, a double that
 * is an integer written as one. (Not RFC 8785, which sorts by UTF-16 units and
 * rounds integers to doubles.) Any thread.
 *
 * Returns: (transfer full): the text
 */
char *
khadim_json_to_canonical (JsonNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);

  return write_node (node, STYLE_CANONICAL);
}

static gboolean
objects_equal (JsonObject *a,
               JsonObject *b)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  if (json_object_get_size (a) != json_object_get_size (b))
    return FALSE;

  json_object_iter_init (&iter, a);
  while (json_object_iter_next (&iter, &name, &value))
    {
      JsonNode *other = json_object_get_member (b, name);

      if (other == NULL || !khadim_json_equal (value, other))
        return FALSE;
    }

  return TRUE;
}

static gboolean
arrays_equal (JsonArray *a,
              JsonArray *b)
{
  guint length = json_array_get_length (a);

  if (length != json_array_get_length (b))
    return FALSE;

  for (guint i = 0; i < length; i++)
    {
      if (!khadim_json_equal (json_array_get_element (a, i), json_array_get_element (b, i)))
        return FALSE;
    }

  return TRUE;
}

static gboolean
numbers_equal (JsonNode *a,
               JsonNode *b)
{
  gboolean a_integer = json_node_get_value_type (a) == G_TYPE_INT64;
  gboolean b_integer = json_node_get_value_type (b) == G_TYPE_INT64;
  gint64 value;

  if (a_integer && b_integer)
    return json_node_get_int (a) == json_node_get_int (b);
  if (!a_integer && !b_integer)
    return json_node_get_double (a) == json_node_get_double (b);
  if (b_integer)
    return numbers_equal (b, a);

  return _khadim_json_double_to_int (json_node_get_double (b), &value)
         && value == json_node_get_int (a);
}

static gboolean
values_equal (JsonNode *a,
              JsonNode *b)
{
  GType a_type = json_node_get_value_type (a);
  GType b_type = json_node_get_value_type (b);

  if (a_type == G_TYPE_STRING || b_type == G_TYPE_STRING)
    return a_type == b_type
           && g_strcmp0 (json_node_get_string (a), json_node_get_string (b)) == 0;
  if (a_type == G_TYPE_BOOLEAN || b_type == G_TYPE_BOOLEAN)
    return a_type == b_type && json_node_get_boolean (a) == json_node_get_boolean (b);

  return numbers_equal (a, b);
}

/**
 * khadim_json_equal:
 * @a: a value
 * @b: another
 *
 * Equality as JSON Schema has it (core, 4.2.2): numbers by their mathematical
 * value, so that 1 equals 1.0, and objects whatever the order of their members.
 * Any thread.
 *
 * Returns: whether @a and @b are equal
 */
gboolean
khadim_json_equal (JsonNode *a,
                   JsonNode *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  if (json_node_get_node_type (a) != json_node_get_node_type (b))
    return FALSE;

  switch (json_node_get_node_type (a))
    {
    case JSON_NODE_OBJECT:
      return objects_equal (json_node_get_object (a), json_node_get_object (b));

    case JSON_NODE_ARRAY:
      return arrays_equal (json_node_get_array (a), json_node_get_array (b));

    case JSON_NODE_VALUE:
      return values_equal (a, b);

    case JSON_NODE_NULL:
    default:
      return TRUE;
    }
}
