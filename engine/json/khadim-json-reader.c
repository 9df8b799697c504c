/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* One pass over the bytes that builds the nodes as it goes. Recursion is as
 * deep as the document, which the limit of depth bounds. */

#define G_LOG_DOMAIN "khadim-json-reader"

#include "config.h"

#include "engine/json/khadim-json.h"

#include <math.h>

#include "engine/json/khadim-json-path.h"
#include "engine/json/khadim-json-private.h"
#include "engine/json/khadim-json-scan-private.h"

/* Bytes of a path that an error shows, from its end */
#define ERROR_PATH_BYTES 160
/* Characters of a name that an error shows */
#define ERROR_NAME_CHARS 60
/* 10^22 is the last power of ten that a double holds exactly, and 15 digits
 * always fit its 53 bits: the product or quotient of two exact doubles is
 * rounded once, hence right (Clinger 1990, "How to read floating point numbers
 * accurately"). */
#define EXACT_DIGITS 15
#define EXACT_POWER 22
/* Past this no exponent changes the result; it keeps the sum in range. */
#define EXPONENT_CEILING 100000

/* The way down to the value being read; lives on the stack. */
typedef struct _Frame Frame;
struct _Frame
{
  const Frame *parent;
  gboolean is_member;
  gsize key;
  guint index;
};

typedef struct {
  const char *start;
  const char *at;
  const char *end;

  /* Names of open members and the string being read, each ended by NUL */
  GString *texts;
  const Frame *frame;

  guint depth;
  guint max_depth;
  gsize values_left;
  GError **error;
} Reader;

static JsonNode *read_value (Reader *self);

/* Errors -------------------------------------------------------------------- */

static void
append_frames (Reader      *self,
               const Frame *frame,
               GString     *path)
{
  if (frame == NULL)
    return;

  append_frames (self, frame->parent, path);
  if (frame->is_member)
    khadim_json_path_push_key (path, self->texts->str + frame->key);
  else
    khadim_json_path_push_index (path, frame->index);
}

static char *
reader_describe_path (Reader *self)
{
  g_autoptr(GString) path = g_string_new (NULL);
  const char *start;

  append_frames (self, self->frame, path);
  if (path->len == 0)
    return g_strdup ("");
  if (path->len <= ERROR_PATH_BYTES)
    return g_strdup_printf (", at %s", path->str);

  start = path->str + path->len - ERROR_PATH_BYTES;
  while ((*start & 0xc0) == 0x80)
    start++;

  return g_strdup_printf (", at …%s", start);
}

static void reader_fail (Reader           *self,
                         KhadimEngineError code,
                         const char       *at,
                         const char       *format,
                         ...) G_GNUC_PRINTF (4, 5);

static void
reader_fail (Reader           *self,
             KhadimEngineError code,
             const char       *at,
             const char       *format,
             ...)
{
  g_autofree char *message = NULL;
  g_autofree char *path = reader_describe_path (self);
  gsize line = 1;
  gsize column = 1;
  va_list args;

  for (const char *p = self->start; p < at; p++)
    {
      if (*p == '\n')
        {
          line++;
          column = 1;
        }
      else if ((*p & 0xc0) != 0x80)
        {
          column++;
        }
    }

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (self->error, KHADIM_ENGINE_ERROR, code,
               "line %" G_GSIZE_FORMAT ", column %" G_GSIZE_FORMAT "%s: %s",
               line, column, path, message);
}

/* What stands at @at, for an error. */
static char *
reader_describe (Reader     *self,
                 const char *at)
{
  gunichar c;
  char text[8] = { 0, };

  if (at >= self->end)
    return g_strdup ("the end of the text");

  /* GLib takes NUL for the end of the text. */
  c = *at == '\0' ? 0 : g_utf8_get_char_validated (at, self->end - at);
  if (c == (gunichar) -1 || c == (gunichar) -2)
    return g_strdup_printf ("the byte 0x%02x, which is not UTF-8", (guchar) *at);
  if (!g_unichar_isprint (c))
    return g_strdup_printf ("the character U+%04X", c);

  g_unichar_to_utf8 (c, text);
  return g_strdup_printf ("“%s”", text);
}

static void
reader_fail_expected (Reader     *self,
                      const char *expected)
{
  g_autofree char *found = reader_describe (self, self->at);

  reader_fail (self, KHADIM_ENGINE_ERROR_INVALID, self->at,
               "expected %s, found %s", expected, found);
}

/* Strings ------------------------------------------------------------------- */

static void
skip_space (Reader *self)
{
  while (self->at < self->end
         && (*self->at == ' ' || *self->at == '\n' || *self->at == '\r' || *self->at == '\t'))
    self->at++;
}

/* Four hexadecimal digits, or -1. */
static int
read_hex4 (Reader     *self,
           const char *at)
{
  int value = 0;

  if (self->end - at < 4)
    return -1;

  for (int i = 0; i < 4; i++)
    {
      int digit = g_ascii_xdigit_value (at[i]);

      if (digit < 0)
        return -1;
      value = value * 16 + digit;
    }

  return value;
}

/* At the u of \uXXXX, one unit or a pair of them (RFC 8259 section 7). */
static gboolean
read_unicode_escape (Reader *self)
{
  const char *escape = self->at - 1;
  int unit = read_hex4 (self, self->at + 1);
  int low;

  if (unit < 0)
    {
      reader_fail (self, KHADIM_ENGINE_ERROR_INVALID, escape,
                   "\\u needs four hexadecimal digits");
      return FALSE;
    }
  if (unit == 0)
    {
      reader_fail (self, KHADIM_ENGINE_ERROR_INVALID, escape,
                   "the character U+0000 is not supported");
      return FALSE;
    }
  self->at += 5;
  if (unit < 0xd800 || unit > 0xdfff)
    {
      g_string_append_unichar (self->texts, unit);
      return TRUE;
    }

  low = -1;
  if (self->end - self->at >= 2 && self->at[0] == '\\' && self->at[1] == 'u')
    low = read_hex4 (self, self->at + 2);
  if (unit >= 0xdc00 || low < 0xdc00 || low > 0xdfff)
    {
      reader_fail (self, KHADIM_ENGINE_ERROR_INVALID, escape,
                   "\\u%04x is half of a surrogate pair", unit);
      return FALSE;
    }
  self->at += 6;
  g_string_append_unichar (self->texts, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));

  return TRUE;
}

static gboolean
read_escape (Reader *self)
{
  static const char from[] = "\"\\/bfnrt";
  static const char to[] = "\"\\/\b\f\n\r\t";
  const char *found;

  self->at++;
  if (self->at < self->end && *self->at == 'u')
    return read_unicode_escape (self);

  found = self->at < self->end && *self->at != '\0' ? strchr (from, *self->at) : NULL;
  if (found == NULL)
    {
      reader_fail_expected (self, "one of \" \\ / b f n r t u after the backslash");
      return FALSE;
    }
  g_string_append_c (self->texts, to[found - from]);
  self->at++;

  return TRUE;
}

/* Appends what stands up to the next quote, backslash or control character. */
static gboolean
read_run (Reader *self)
{
  const char *run = self->at;
  const char *bad;
  guint64 high = 0;
  const char *p = _khadim_json_skip_plain (run, self->end, &high);

  if (high != 0 && !g_utf8_validate_len (run, p - run, &bad))
    {
      g_autofree char *found = reader_describe (self, bad);

      reader_fail (self, KHADIM_ENGINE_ERROR_INVALID, bad, "the string holds %s", found);
      return FALSE;
    }
  g_string_append_len (self->texts, run, p - run);
  self->at = p;

  return TRUE;
}

/* At a quote. The text goes to the end of @texts, with NUL behind it. */
static gboolean
read_text (Reader *self,
           gsize  *out_offset)
{
  const char *start = self->at;

  *out_offset = self->texts->len;
  self->at++;
  while (read_run (self))
    {
      if (self->at >= self->end)
        {
          reader_fail (self, KHADIM_ENGINE_ERROR_INVALID, start, "the string does not end");
          return FALSE;
        }
      if (*self->at == '"')
        {
          self->at++;
          g_string_append_c (self->texts, '\0');
          return TRUE;
        }
      if (*self->at != '\\')
        {
          reader_fail (self, KHADIM_ENGINE_ERROR_INVALID, self->at,
                       "a string cannot hold the control character U+%04X as it is",
                       (guchar) *self->at);
          return FALSE;
        }
      if (!read_escape (self))
        return FALSE;
    }

  return FALSE;
}

static JsonNode *
read_string (Reader *self)
{
  JsonNode *node;
  gsize offset;

  if (!read_text (self, &offset))
    return NULL;

  node = json_node_init_string (json_node_alloc (), self->texts->str + offset);
  g_string_truncate (self->texts, offset);

  return node;
}

/* Numbers ------------------------------------------------------------------- */

typedef struct {
  gboolean negative;
  gboolean integer;
  gboolean overflow;
  guint64 mantissa;
  guint digits;
  int exponent;
} Number;

static gboolean
at_digit (Reader *self)
{
  return self->at < self->end && g_ascii_isdigit (*self->at);
}

static void
read_digits (Reader *self,
             Number *number,
             int     exponent_step)
{
  for (; at_digit (self); self->at++)
    {
      guint digit = (guint) (*self->at - '0');

      if (__builtin_mul_overflow (number->mantissa, 10, &number->mantissa)
          || __builtin_add_overflow (number->mantissa, digit, &number->mantissa))
        number->overflow = TRUE;
      if (number->digits > 0 || digit > 0)
        number->digits++;
      number->exponent += exponent_step;
    }
}

static gboolean
read_exponent (Reader *self,
               Number *number)
{
  gboolean negative = FALSE;
  int exponent = 0;

  self->at++;
  if (self->at < self->end && (*self->at == '+' || *self->at == '-'))
    negative = *self->at++ == '-';
  if (!at_digit (self))
    {
      reader_fail_expected (self, "a digit of the exponent");
      return FALSE;
    }
  for (; at_digit (self); self->at++)
    exponent = MIN (exponent * 10 + (*self->at - '0'), EXPONENT_CEILING);
  number->exponent += negative ? -exponent : exponent;

  return TRUE;
}

/* The grammar of RFC 8259 section 6. */
static gboolean
scan_number (Reader *self,
             Number *number)
{
  if (*self->at == '-')
    {
      number->negative = TRUE;
      self->at++;
    }
  if (!at_digit (self))
    {
      reader_fail_expected (self, "a digit");
      return FALSE;
    }
  if (*self->at == '0' && self->end - self->at > 1 && g_ascii_isdigit (self->at[1]))
    {
      reader_fail (self, KHADIM_ENGINE_ERROR_INVALID, self->at,
                   "a number cannot begin with the digit 0");
      return FALSE;
    }
  read_digits (self, number, 0);

  number->integer = TRUE;
  if (self->at < self->end && *self->at == '.')
    {
      number->integer = FALSE;
      self->at++;
      if (!at_digit (self))
        {
          reader_fail_expected (self, "a digit after the point");
          return FALSE;
        }
      read_digits (self, number, -1);
    }
  if (self->at < self->end && (*self->at == 'e' || *self->at == 'E'))
    {
      number->integer = FALSE;
      return read_exponent (self, number);
    }

  return TRUE;
}

static JsonNode *
integer_new (Reader       *self,
             const Number *number,
             const char   *start)
{
  guint64 most = (guint64) G_MAXINT64 + (number->negative ? 1 : 0);
  gint64 value;

  if (number->overflow || number->mantissa > most)
    {
      reader_fail (self, KHADIM_ENGINE_ERROR_INVALID, start,
                   "the integer is outside −9223372036854775808 to 9223372036854775807");
      return NULL;
    }

  /* Unsigned, for the one negative number that has no positive. */
  value = (gint64) (number->negative ? -number->mantissa : number->mantissa);

  return json_node_init_int (json_node_alloc (), value);
}

static double
number_to_double (const Number *number,
                  const char   *start,
                  gsize         length)
{
  static const double powers[EXACT_POWER + 1] = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  };
  char text[KHADIM_JSON_MAX_NUMBER_BYTES + 1];

#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ == 0
  if (number->digits <= EXACT_DIGITS && ABS (number->exponent) <= EXACT_POWER)
    {
      double value = (double) number->mantissa;

      if (number->exponent < 0)
        value /= powers[-number->exponent];
      else
        value *= powers[number->exponent];

      return number->negative ? -value : value;
    }
#endif

  memcpy (text, start, length);
  text[length] = '\0';

  return g_ascii_strtod (text, NULL);
}

static JsonNode *
read_number (Reader *self)
{
  const char *start = self->at;
  Number number = { 0, };
  double value;

  if (!scan_number (self, &number))
    return NULL;
  if (self->at - start > KHADIM_JSON_MAX_NUMBER_BYTES)
    {
      reader_fail (self, KHADIM_ENGINE_ERROR_LIMIT, start,
                   "a number of more than %d characters", KHADIM_JSON_MAX_NUMBER_BYTES);
      return NULL;
    }
  if (number.integer)
    return integer_new (self, &number, start);

  value = number_to_double (&number, start, self->at - start);
  if (!isfinite (value))
    {
      reader_fail (self, KHADIM_ENGINE_ERROR_INVALID, start,
                   "the number is too large for a double");
      return NULL;
    }

  return json_node_init_double (json_node_alloc (), value);
}

/* Literals, arrays and objects ---------------------------------------------- */

static gboolean
take_word (Reader     *self,
           const char *word)
{
  gsize length = strlen (word);

  if ((gsize) (self->end - self->at) < length || memcmp (self->at, word, length) != 0)
    return FALSE;

  self->at += length;
  return TRUE;
}

static JsonNode *
read_literal (Reader *self)
{
  if (take_word (self, "true"))
    return json_node_init_boolean (json_node_alloc (), TRUE);
  if (take_word (self, "false"))
    return json_node_init_boolean (json_node_alloc (), FALSE);
  if (take_word (self, "null"))
    return json_node_init_null (json_node_alloc ());

  reader_fail_expected (self, "a value");
  return NULL;
}

/* Past an opening bracket: whether the container is empty, its end taken. */
static gboolean
take_end (Reader *self,
          char    end)
{
  skip_space (self);
  if (self->at >= self->end || *self->at != end)
    return FALSE;

  self->at++;
  return TRUE;
}

/* After an element or a member: a comma, or the end. */
static gboolean
read_separator (Reader   *self,
                char      end,
                gboolean *out_ended)
{
  skip_space (self);
  *out_ended = self->at < self->end && *self->at == end;
  if (*out_ended || (self->at < self->end && *self->at == ','))
    {
      self->at++;
      return TRUE;
    }

  reader_fail_expected (self, end == ']' ? "“,” or “]”" : "“,” or “}”");
  return FALSE;
}

static gboolean
read_elements (Reader    *self,
               JsonArray *array)
{
  Frame frame = { .parent = self->frame };
  gboolean ended = take_end (self, ']');

  self->frame = &frame;
  while (!ended)
    {
      JsonNode *element = read_value (self);

      if (element == NULL)
        return FALSE;
      json_array_add_element (array, element);
      if (!read_separator (self, ']', &ended))
        return FALSE;
      frame.index++;
    }
  self->frame = frame.parent;

  return TRUE;
}

/* The name of a member and the colon. */
static gboolean
read_name (Reader     *self,
           JsonObject *object,
           gsize      *out_key)
{
  const char *start;

  skip_space (self);
  start = self->at;
  if (start >= self->end || *start != '"')
    {
      reader_fail_expected (self, "a name in double quotes");
      return FALSE;
    }
  if (!read_text (self, out_key))
    return FALSE;
  if (json_object_has_member (object, self->texts->str + *out_key))
    {
      g_autofree char *name = _khadim_json_shorten (self->texts->str + *out_key,
                                                    ERROR_NAME_CHARS);

      reader_fail (self, KHADIM_ENGINE_ERROR_INVALID, start,
                   "the name “%s” stands twice in one object", name);
      return FALSE;
    }

  skip_space (self);
  if (self->at >= self->end || *self->at != ':')
    {
      reader_fail_expected (self, "“:”");
      return FALSE;
    }
  self->at++;

  return TRUE;
}

static gboolean
read_member (Reader     *self,
             JsonObject *object)
{
  Frame frame = { .parent = self->frame, .is_member = TRUE };
  JsonNode *value;

  if (!read_name (self, object, &frame.key))
    return FALSE;

  self->frame = &frame;
  value = read_value (self);
  if (value == NULL)
    return FALSE;
  self->frame = frame.parent;

  json_object_set_member (object, self->texts->str + frame.key, value);
  g_string_truncate (self->texts, frame.key);

  return TRUE;
}

static gboolean
read_members (Reader     *self,
              JsonObject *object)
{
  gboolean ended = take_end (self, '}');

  while (!ended)
    {
      if (!read_member (self, object) || !read_separator (self, '}', &ended))
        return FALSE;
    }

  return TRUE;
}

static JsonNode *
read_container (Reader *self)
{
  gboolean is_array = *self->at == '[';
  g_autoptr(JsonNode) node = NULL;
  gboolean read;

  if (self->depth == self->max_depth)
    {
      reader_fail (self, KHADIM_ENGINE_ERROR_LIMIT, self->at,
                   "more than %u arrays and objects inside one another", self->max_depth);
      return NULL;
    }

  self->depth++;
  self->at++;
  if (is_array)
    {
      node = khadim_json_array (json_array_new ());
      read = read_elements (self, json_node_get_array (node));
    }
  else
    {
      node = khadim_json_object (json_object_new ());
      read = read_members (self, json_node_get_object (node));
    }
  self->depth--;

  return read ? g_steal_pointer (&node) : NULL;
}

static JsonNode *
read_value (Reader *self)
{
  skip_space (self);
  if (self->values_left == 0)
    {
      reader_fail (self, KHADIM_ENGINE_ERROR_LIMIT, self->at, "the document has too many values");
      return NULL;
    }
  self->values_left--;

  if (self->at >= self->end)
    {
      reader_fail_expected (self, "a value");
      return NULL;
    }

  switch (*self->at)
    {
    case '{':
    case '[':
      return read_container (self);

    case '"':
      return read_string (self);

    case '-':
    case '0' ... '9':
      return read_number (self);

    default:
      return read_literal (self);
    }
}

/* Entry --------------------------------------------------------------------- */

/* @limits with the defaults filled in. */
KhadimJsonLimits
_khadim_json_limits_fill (const KhadimJsonLimits *limits)
{
  KhadimJsonLimits full = { 0, };

  if (limits != NULL)
    full = *limits;
  if (full.max_depth == 0)
    full.max_depth = KHADIM_JSON_MAX_DEPTH;
  full.max_depth = MIN (full.max_depth, KHADIM_JSON_DEPTH_CEILING);
  if (full.max_bytes == 0)
    full.max_bytes = KHADIM_JSON_MAX_BYTES;
  if (full.max_values == 0)
    full.max_values = KHADIM_JSON_MAX_VALUES;

  return full;
}

void
_khadim_json_set_size_error (GError **error,
                             gsize    max_bytes)
{
  g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT,
               "the text is longer than %" G_GSIZE_FORMAT " bytes", max_bytes);
}

static JsonNode *
read_document (Reader *self)
{
  g_autoptr(JsonNode) node = NULL;

  if (self->end - self->at >= 3 && memcmp (self->at, "\xef\xbb\xbf", 3) == 0)
    {
      reader_fail (self, KHADIM_ENGINE_ERROR_INVALID, self->at,
                   "the text begins with a byte order mark");
      return NULL;
    }

  node = read_value (self);
  if (node == NULL)
    return NULL;

  skip_space (self);
  if (self->at < self->end)
    {
      reader_fail_expected (self, "nothing after the value");
      return NULL;
    }

  return g_steal_pointer (&node);
}

/**
 * khadim_json_parse:
 * @text: JSON text
 * @length: of @text in bytes, -1 if it ends with NUL
 * @limits: (nullable): how much to take, %NULL for the defaults
 * @error: return location
 *
 * Reads one JSON value as RFC 8259 writes it, and nothing laxer: no comments, no
 * byte order mark, no NUL (nor `\u0000`), no half of a surrogate pair, no name
 * twice in one object, no integer outside 64 bits, no number past the range of
 * doubles. Integers stay integers.
 *
 * Errors: %KHADIM_ENGINE_ERROR_INVALID and %KHADIM_ENGINE_ERROR_LIMIT, whose
 * texts begin with the place: `line 3, column 7, at steps[3].target: …`, columns
 * in characters from 1.
 *
 * Any thread.
 *
 * Returns: (transfer full): the value, or %NULL with @error set
 */
JsonNode *
khadim_json_parse (const char             *text,
                   gssize                  length,
                   const KhadimJsonLimits *limits,
                   GError                **error)
{
  KhadimJsonLimits full = _khadim_json_limits_fill (limits);
  JsonNode *node;
  Reader reader = { 0, };
  gsize bytes;

  g_return_val_if_fail (text != NULL, NULL);

  bytes = length >= 0 ? (gsize) length : strlen (text);
  if (bytes > full.max_bytes)
    {
      _khadim_json_set_size_error (error, full.max_bytes);
      return NULL;
    }

  reader.start = reader.at = text;
  reader.end = text + bytes;
  reader.texts = g_string_new (NULL);
  reader.max_depth = full.max_depth;
  reader.values_left = full.max_values;
  reader.error = error;
  node = read_document (&reader);
  g_string_free (reader.texts, TRUE);

  return node;
}
