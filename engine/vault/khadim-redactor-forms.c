/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-redactor"

#include "config.h"

#include "engine/vault/khadim-redactor-private.h"

#include <string.h>

/* The forms in which a value may stand in a text: as it is, in JSON
 * (RFC 8259), in an address (RFC 3986, and application/x-www-form-urlencoded),
 * in base64 (RFC 4648, both alphabets), in HTML, in hexadecimal, in UTF-16LE.
 * Not found are values in two encodings at once, and base64 broken into
 * lines. */

void
_khadim_wipe_buffer_append (KhadimWipeBuffer *self,
                            const void       *data,
                            gsize             length)
{
  if (self->length + length >= self->capacity)
    {
      gsize capacity = MAX (64, (self->length + length + 1) * 2);
      guint8 *grown = g_malloc (capacity);

      if (self->data != NULL)
        {
          memcpy (grown, self->data, self->length);
          explicit_bzero (self->data, self->capacity);
          g_free (self->data);
        }
      self->data = grown;
      self->capacity = capacity;
    }

  memcpy (self->data + self->length, data, length);
  self->length += length;
  self->data[self->length] = '\0';
}

/* Takes @length bytes away from the start. */
void
_khadim_wipe_buffer_drop (KhadimWipeBuffer *self,
                          gsize             length)
{
  if (length == 0)
    return;

  memmove (self->data, self->data + length, self->length - length);
  explicit_bzero (self->data + self->length - length, length);
  self->length -= length;
}

void
_khadim_wipe_buffer_clear (KhadimWipeBuffer *self)
{
  if (self->data != NULL)
    explicit_bzero (self->data, self->capacity);
  g_clear_pointer (&self->data, g_free);
  self->length = 0;
  self->capacity = 0;
}

static void
append_text (KhadimWipeBuffer *buffer,
             const char       *text)
{
  _khadim_wipe_buffer_append (buffer, text, strlen (text));
}

static void
append_byte (KhadimWipeBuffer *buffer,
             guint8            byte)
{
  _khadim_wipe_buffer_append (buffer, &byte, 1);
}

static void
append_hex (KhadimWipeBuffer *buffer,
            guint             value,
            guint             n_digits,
            gboolean          upper)
{
  const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";

  for (guint i = n_digits; i > 0; i--)
    append_byte (buffer, (guint8) digits[(value >> (4 * (i - 1))) & 0xf]);
}

static void
pattern_clear (gpointer data)
{
  KhadimRedactorPattern *pattern = data;

  explicit_bzero (pattern->bytes, pattern->length);
  g_free (pattern->bytes);
}

static void
pattern_release (gpointer data)
{
  g_atomic_rc_box_release_full (data, pattern_clear);
}

/* FNV-1a, by Fowler, Noll and Vo */
static guint
pattern_hash (gconstpointer data)
{
  const KhadimRedactorPattern *pattern = data;
  guint32 hash = 2166136261u;

  for (gsize i = 0; i < pattern->length; i++)
    hash = (hash ^ pattern->bytes[i]) * 16777619u;

  return hash;
}

static gboolean
pattern_equal (gconstpointer a,
               gconstpointer b)
{
  const KhadimRedactorPattern *first = a;
  const KhadimRedactorPattern *second = b;

  return first->length == second->length
         && memcmp (first->bytes, second->bytes, first->length) == 0;
}

KhadimRedactorPatterns *
_khadim_redactor_patterns_new (void)
{
  KhadimRedactorPatterns *self = g_new0 (KhadimRedactorPatterns, 1);

  self->list = g_ptr_array_new_with_free_func (pattern_release);
  self->set = g_hash_table_new (pattern_hash, pattern_equal);

  return self;
}

void
_khadim_redactor_patterns_free (KhadimRedactorPatterns *self)
{
  g_hash_table_unref (self->set);
  g_ptr_array_unref (self->list);
  g_free (self);
}

/* Copies in what is not there yet. */
void
_khadim_redactor_patterns_add (KhadimRedactorPatterns *self,
                               const guint8           *bytes,
                               gsize                   length,
                               const char             *name,
                               gboolean                whole_word)
{
  KhadimRedactorPattern candidate = { (guint8 *) bytes, length, name, whole_word };
  KhadimRedactorPattern *pattern;

  if (length == 0 || (!whole_word && length < KHADIM_REDACTOR_MIN_BYTES)
      || g_hash_table_contains (self->set, &candidate))
    return;

  pattern = g_atomic_rc_box_dup (sizeof candidate, &candidate);
  pattern->bytes = g_memdup2 (bytes, length);
  pattern->name = g_intern_string (name);
  g_ptr_array_add (self->list, pattern);
  g_hash_table_add (self->set, pattern);
}

/* A form being made */
typedef struct {
  KhadimRedactorPatterns *patterns;
  const char *name;
  const guint8 *value;
  gsize length;
} Source;

static void
add_form (const Source           *source,
          const KhadimWipeBuffer *form)
{
  _khadim_redactor_patterns_add (source->patterns, form->data, form->length, source->name, FALSE);
}

/* What writers of JSON do differently */
typedef enum {
  JSON_SLASH = 1 << 0, /* \/ */
  JSON_ASCII = 1 << 1, /* \u for what is not ASCII */
  JSON_UPPER = 1 << 2, /* upper case in \u */
  JSON_HTML = 1 << 3, /* \u for < > & and ' */
  JSON_ALL = (1 << 4) - 1,
} JsonStyle;

static void
append_json_unit (KhadimWipeBuffer *form,
                  guint             unit,
                  JsonStyle         style)
{
  append_text (form, "\\u");
  append_hex (form, unit, 4, (style & JSON_UPPER) != 0);
}

static void
append_json_char (KhadimWipeBuffer *form,
                  gunichar          c,
                  JsonStyle         style)
{
  static const char short_escapes[] = "\"\\\b\f\n\r\t";
  static const char short_names[] = "\"\\bfnrt";
  const char *found = c < 0x80 ? strchr (short_escapes, (int) c) : NULL;
  char utf8[6];

  if (found != NULL && c != 0)
    {
      append_byte (form, '\\');
      append_byte (form, (guint8) short_names[found - short_escapes]);
    }
  else if (c == '/' && (style & JSON_SLASH) != 0)
    append_text (form, "\\/");
  else if (c < 0x20 || (c < 0x80 && (style & JSON_HTML) != 0 && strchr ("<>&'", (int) c) != NULL)
           || (c >= 0x80 && c < 0x10000 && (style & JSON_ASCII) != 0))
    append_json_unit (form, c, style);
  else if (c >= 0x10000 && (style & JSON_ASCII) != 0)
    {
      append_json_unit (form, 0xd800 + ((c - 0x10000) >> 10), style);
      append_json_unit (form, 0xdc00 + ((c - 0x10000) & 0x3ff), style);
    }
  else
    _khadim_wipe_buffer_append (form, utf8, (gsize) g_unichar_to_utf8 (c, utf8));
}

static void
add_json_forms (const Source *source)
{
  for (guint style = 0; style <= JSON_ALL; style++)
    {
      g_auto(KhadimWipeBuffer) form = { NULL };
      const char *end = (const char *) source->value + source->length;

      for (const char *c = (const char *) source->value; c < end; c = g_utf8_next_char (c))
        append_json_char (&form, g_utf8_get_char (c), style);
      add_form (source, &form);
    }
}

/* What writers of addresses do differently */
typedef enum {
  URI_LOWER = 1 << 0, /* lower case digits */
  URI_PLUS = 1 << 1, /* + for a space */
  URI_COMPONENT = 1 << 2, /* keeps what encodeURIComponent() of ECMAScript keeps */
  URI_PATH = 1 << 3, /* keeps the slash */
  URI_ALL = (1 << 4) - 1,
} UriStyle;

static void
append_uri_byte (KhadimWipeBuffer *form,
                 guint8            byte,
                 UriStyle          style)
{
  if (g_ascii_isalnum (byte) || (byte != 0 && strchr ("-._~", byte) != NULL)
      || ((style & URI_COMPONENT) != 0 && byte != 0 && strchr ("!*'()", byte) != NULL)
      || ((style & URI_PATH) != 0 && byte == '/'))
    append_byte (form, byte);
  else if (byte == ' ' && (style & URI_PLUS) != 0)
    append_byte (form, '+');
  else
    {
      append_byte (form, '%');
      append_hex (form, byte, 2, (style & URI_LOWER) == 0);
    }
}

static void
add_uri_forms (const Source *source)
{
  for (guint style = 0; style <= URI_ALL; style++)
    {
      g_auto(KhadimWipeBuffer) form = { NULL };

      for (gsize i = 0; i < source->length; i++)
        append_uri_byte (&form, source->value[i], style);
      add_form (source, &form);
    }
}

/* The digits of base64 that depend on the value alone, when it begins
 * @shift bytes into a group of three. A digit at either end that mixes bits
 * of a neighbour stays outside. */
static void
add_base64_form (const Source *source,
                 guint         shift,
                 const char   *digits)
{
  g_auto(KhadimWipeBuffer) form = { NULL };
  gsize first = (8 * shift + 5) / 6;
  gsize end = 8 * (shift + source->length) / 6;

  for (gsize i = first; i < end; i++)
    {
      gsize bit = 6 * i - 8 * shift;
      guint pair = (guint) source->value[bit / 8] << 8;

      if (bit / 8 + 1 < source->length)
        pair |= source->value[bit / 8 + 1];
      append_byte (&form, (guint8) digits[(pair >> (10 - bit % 8)) & 0x3f]);
    }
  add_form (source, &form);
}

static void
add_base64_forms (const Source *source)
{
  static const char standard[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  static const char for_uri[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

  for (guint shift = 0; shift < 3; shift++)
    {
      add_base64_form (source, shift, standard);
      add_base64_form (source, shift, for_uri);
    }
}

static const char *
html_escape (guint8      byte,
             const char *quote,
             const char *apostrophe)
{
  switch (byte)
    {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return quote;
    case '\'':
      return apostrophe;
    default:
      return NULL;
    }
}

static void
add_html_form (const Source *source,
               const char   *quote,
               const char   *apostrophe)
{
  g_auto(KhadimWipeBuffer) form = { NULL };

  for (gsize i = 0; i < source->length; i++)
    {
      const char *escape = html_escape (source->value[i], quote, apostrophe);

      if (escape != NULL)
        append_text (&form, escape);
      else
        append_byte (&form, source->value[i]);
    }
  add_form (source, &form);
}

static void
add_html_forms (const Source *source)
{
  static const char *const quotes[] = { "&quot;", "&#34;", "\"" };
  static const char *const apostrophes[] = { "&#39;", "&#039;", "&#x27;", "&apos;", "'" };

  for (guint i = 0; i < G_N_ELEMENTS (quotes); i++)
    {
      for (guint j = 0; j < G_N_ELEMENTS (apostrophes); j++)
        add_html_form (source, quotes[i], apostrophes[j]);
    }
}

static void
add_hex_form (const Source *source,
              gboolean      upper)
{
  g_auto(KhadimWipeBuffer) form = { NULL };

  for (gsize i = 0; i < source->length; i++)
    append_hex (&form, source->value[i], 2, upper);
  add_form (source, &form);
}

static void
append_utf16_unit (KhadimWipeBuffer *form,
                   guint             unit)
{
  append_byte (form, unit & 0xff);
  append_byte (form, (guint8) (unit >> 8));
}

static void
add_utf16_form (const Source *source)
{
  g_auto(KhadimWipeBuffer) form = { NULL };
  const char *end = (const char *) source->value + source->length;

  for (const char *c = (const char *) source->value; c < end; c = g_utf8_next_char (c))
    {
      gunichar character = g_utf8_get_char (c);

      if (character >= 0x10000)
        {
          append_utf16_unit (&form, 0xd800 + ((character - 0x10000) >> 10));
          character = 0xdc00 + ((character - 0x10000) & 0x3ff);
        }
      append_utf16_unit (&form, character);
    }
  add_form (source, &form);
}

/* Adds all forms of @value. */
void
_khadim_redactor_forms_add (KhadimRedactorPatterns *patterns,
                            const char             *name,
                            const char             *value)
{
  Source source = { patterns, name, (const guint8 *) value, strlen (value) };

  if (source.length < KHADIM_REDACTOR_MIN_BYTES)
    {
      _khadim_redactor_patterns_add (patterns, source.value, source.length, name, TRUE);
      return;
    }

  _khadim_redactor_patterns_add (patterns, source.value, source.length, name, FALSE);
  if (g_utf8_validate_len (value, source.length, NULL))
    {
      add_json_forms (&source);
      add_utf16_form (&source);
    }
  add_uri_forms (&source);
  add_base64_forms (&source);
  add_html_forms (&source);
  add_hex_form (&source, FALSE);
  add_hex_form (&source, TRUE);
}
