/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Regular expressions of ECMA-262 (with its u flag), as JSON Schema wants them
 * (core, 6.4), said in the language of PCRE2 that GRegex speaks. What ECMA-262
 * does not have is refused, so that a schema means here what it means
 * elsewhere. */

#define G_LOG_DOMAIN "khadim-schema-pattern"

#include "config.h"

#include "engine/json/khadim-schema-private.h"

/* PCRE2 takes limits at the head of a pattern; the lowest one counts. It counts
 * the times that it goes back, so it must not leave that out for a repeat whose
 * run it scanned, or a scan of the whole string would be one step. */
#define LIMITS "(*LIMIT_MATCH=%d)(*LIMIT_HEAP=20000)(*NO_AUTO_POSSESS)"
/* PCRE2 counts attempts anew at each place of the string where a match could
 * begin. Where there are many of them, few attempts are allowed at each at
 * first, fewer still past some length; if they do not suffice, the places are
 * gone through one by one with an eye on the clock. */
#define QUICK_MATCH_STEPS 1000
#define QUICK_SUBJECT_BYTES 65536
#define LARGE_MATCH_STEPS 60
/* Any letter, digit or _ of ASCII; PCRE2's own \w means Unicode here. */
#define WORD "0-9A-Z_a-z"
#define NOT_WORD "\\x{0}-/:-@\\[-\\^`{-\\x{10ffff}"
#define NOT_DIGIT "\\x{0}-/:-\\x{10ffff}"
#define SPACE \
  "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}" \
  "\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
#define NOT_SPACE \
  "\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}" \
  "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}" \
  "\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"
#define AFTER_WORD "(?<=[" WORD "])"
#define NOT_AFTER_WORD "(?<![" WORD "])"
#define BEFORE_WORD "(?=[" WORD "])"
#define NOT_BEFORE_WORD "(?![" WORD "])"
#define BOUNDARY "(?:" AFTER_WORD NOT_BEFORE_WORD "|" NOT_AFTER_WORD BEFORE_WORD ")"
#define NOT_BOUNDARY "(?:" AFTER_WORD BEFORE_WORD "|" NOT_AFTER_WORD NOT_BEFORE_WORD ")"

typedef struct {
  const char *start;
  const char *at;
  gboolean in_class;
  guint groups;
  gboolean alternatives;
  gboolean after_repeat;
  GString *out;
  GError **error;
} Translator;

static const struct
{
  const char *name;
  const char *code;
} categories[] = {
  { "Letter", "L" }, { "Cased_Letter", "L&" }, { "Lowercase_Letter", "Ll" },
  { "Uppercase_Letter", "Lu" }, { "Titlecase_Letter", "Lt" }, { "Modifier_Letter", "Lm" },
  { "Other_Letter", "Lo" }, { "Mark", "M" }, { "Nonspacing_Mark", "Mn" },
  { "Spacing_Mark", "Mc" }, { "Enclosing_Mark", "Me" }, { "Number", "N" },
  { "Decimal_Number", "Nd" }, { "digit", "Nd" }, { "Letter_Number", "Nl" },
  { "Other_Number", "No" }, { "Punctuation", "P" }, { "punct", "P" }, { "Symbol", "S" },
  { "Math_Symbol", "Sm" }, { "Currency_Symbol", "Sc" }, { "Modifier_Symbol", "Sk" },
  { "Other_Symbol", "So" }, { "Separator", "Z" }, { "Space_Separator", "Zs" },
  { "Line_Separator", "Zl" }, { "Paragraph_Separator", "Zp" }, { "Other", "C" },
  { "Control", "Cc" }, { "Format", "Cf" }, { "Unassigned", "Cn" }, { "Private_Use", "Co" },
};

static gboolean
translator_fail (Translator *self,
                 const char *problem)
{
  g_set_error (self->error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
               "the pattern is not a regular expression of ECMA-262: %s at character %ld",
               problem, g_utf8_pointer_to_offset (self->start, self->at) + 1);

  return FALSE;
}

static void
append_class (Translator *self,
              const char *members)
{
  g_string_append_printf (self->out, self->in_class ? "%s" : "[%s]", members);
}

/* Exactly @n_digits hexadecimal digits, or -1. */
static gint64
hex_value (const char *text,
           guint       n_digits)
{
  gint64 value = 0;

  for (guint i = 0; i < n_digits; i++)
    {
      int digit = g_ascii_xdigit_value (text[i]);

      if (digit < 0)
        return -1;
      value = value * 16 + digit;
    }

  return value;
}

static gboolean
append_code (Translator *self,
             gint64      code,
             gsize       length)
{
  if (code < 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    return translator_fail (self, "a wrong character code");

  g_string_append_printf (self->out, "\\x{%x}", (guint) code);
  self->at += length;

  return TRUE;
}

/* \uXXXX, a pair of them, or \u{X…}; at the backslash. */
static gboolean
translate_unicode (Translator *self)
{
  const char *p = self->at + 2;
  gint64 code;
  gint64 low;

  if (*p == '{')
    {
      gsize digits = strspn (p + 1, "0123456789abcdefABCDEF");

      if (digits == 0 || digits > 6 || p[1 + digits] != '}')
        return translator_fail (self, "a wrong character code");

      return append_code (self, hex_value (p + 1, (guint) digits), digits + 4);
    }

  code = hex_value (p, 4);
  if (code >= 0xd800 && code <= 0xdbff && p[4] == '\\' && p[5] == 'u')
    {
      low = hex_value (p + 6, 4);
      if (low >= 0xdc00 && low <= 0xdfff)
        return append_code (self, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), 12);
    }

  return append_code (self, code, 6);
}

/* \p{…} and \P{…}. */
static gboolean
translate_property (Translator *self)
{
  const char *name = self->at + 3;
  const char *end = self->at[2] == '{' ? strchr (name, '}') : NULL;
  g_autofree char *text = NULL;
  const char *code;

  if (end == NULL || end == name)
    return translator_fail (self, "\\p needs a property in braces");

  text = g_strndup (name, (gsize) (end - name));
  code = text;
  if (g_str_has_prefix (code, "General_Category="))
    code += strlen ("General_Category=");
  else if (g_str_has_prefix (code, "gc="))
    code += strlen ("gc=");
  for (guint i = 0; i < G_N_ELEMENTS (categories); i++)
    {
      if (g_str_equal (categories[i].name, code))
        code = categories[i].code;
    }
  if (strspn (code, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_=&")
      != strlen (code))
    return translator_fail (self, "an unknown property");

  g_string_append_printf (self->out, "\\%c{%s}", self->at[1], code);
  self->at = end + 1;

  return TRUE;
}

/* A reference to a group: \1 or \k<name>. */
static gboolean
translate_reference (Translator *self)
{
  const char *p = self->at + 1;
  gsize length;

  if (self->in_class)
    return translator_fail (self, "a reference to a group inside a class");

  if (*p == 'k')
    {
      const char *end = p[1] == '<' ? strchr (p, '>') : NULL;

      if (end == NULL)
        return translator_fail (self, "\\k needs a name in angle brackets");
      g_string_append_len (self->out, self->at, end + 1 - self->at);
      self->at = end + 1;
      return TRUE;
    }

  length = strspn (p, "0123456789");
  g_string_append_printf (self->out, "\\g{%.*s}", (int) length, p);
  self->at += 1 + length;

  return TRUE;
}

/* Escapes of one letter that stand for themselves or for a class. */
static gboolean
translate_letter (Translator *self,
                  char        letter)
{
  switch (letter)
    {
    case 'd':
      append_class (self, "0-9");
      break;

    case 'D':
      append_class (self, NOT_DIGIT);
      break;

    case 'w':
      append_class (self, WORD);
      break;

    case 'W':
      append_class (self, NOT_WORD);
      break;

    case 's':
      append_class (self, SPACE);
      break;

    case 'S':
      append_class (self, NOT_SPACE);
      break;

    case 'b':
      g_string_append (self->out, self->in_class ? "\\x{8}" : BOUNDARY);
      break;

    case 'v':
      g_string_append (self->out, "\\x{b}");
      break;

    case 'f':
    case 'n':
    case 'r':
    case 't':
      g_string_append_printf (self->out, "\\%c", letter);
      break;

    default:
      return translator_fail (self, "an unknown escape");
    }
  self->at += 2;

  return TRUE;
}

static gboolean
translate_escape (Translator *self)
{
  char c = self->at[1];

  if (c == 'u')
    return translate_unicode (self);
  if (c == 'x')
    return append_code (self, hex_value (self->at + 2, 2), 4);
  if (c == 'p' || c == 'P')
    return translate_property (self);
  if (c == 'k' || (c >= '1' && c <= '9'))
    return translate_reference (self);
  if (c == '0' && !g_ascii_isdigit (self->at[2]))
    return append_code (self, 0, 2);
  if (c == 'c' && g_ascii_isalpha (self->at[2]))
    return append_code (self, self->at[2] & 0x1f, 3);
  if (c == 'B' && !self->in_class)
    {
      g_string_append (self->out, NOT_BOUNDARY);
      self->at += 2;
      return TRUE;
    }
  if (g_ascii_isalnum (c))
    return translate_letter (self, c);
  if (c == '\0' || !g_ascii_ispunct (c))
    return translator_fail (self, "a lone backslash");

  g_string_append_printf (self->out, "\\%c", c);
  self->at += 2;

  return TRUE;
}

/* At a parenthesis: only the groups that ECMA-262 has. */
static gboolean
translate_group (Translator *self)
{
  const char *p = self->at + 1;

  if (*p == '*')
    return translator_fail (self, "nothing to repeat");
  if (*p == '?' && p[1] == '<')
    {
      if (p[2] != '=' && p[2] != '!' && p[2] != '_' && !g_ascii_isalpha (p[2]))
        return translator_fail (self, "an unknown kind of group");
      p += 3;
    }
  else if (*p == '?')
    {
      gsize flags = strspn (p + 1, "ims-");

      if (p[1 + flags] != ':' && (flags > 0 || (p[1] != '=' && p[1] != '!')))
        return translator_fail (self, "an unknown kind of group");
      p += 2 + flags;
    }
  g_string_append_len (self->out, self->at, p - self->at);
  self->at = p;
  self->groups++;

  return TRUE;
}

static void
translate_class_start (Translator *self)
{
  if (g_str_has_prefix (self->at, "[^]"))
    {
      g_string_append (self->out, "[\\x{0}-\\x{10ffff}]");
      self->at += 3;
    }
  else if (g_str_has_prefix (self->at, "[]"))
    {
      g_string_append (self->out, "(?!)");
      self->at += 2;
    }
  else
    {
      self->in_class = TRUE;
      g_string_append_c (self->out, '[');
      self->at++;
      if (*self->at == '^')
        {
          g_string_append_c (self->out, '^');
          self->at++;
        }
    }
}

static gboolean
translate_one (Translator *self)
{
  char c = *self->at;
  gboolean after_repeat = self->after_repeat;

  self->after_repeat = !self->in_class && strchr ("*+?}", c) != NULL;
  /* PCRE2 would take it for a possessive repeat. */
  if (after_repeat && c == '+')
    return translator_fail (self, "nothing to repeat");

  if (c == '\\')
    return translate_escape (self);
  if (c == '[' && !self->in_class)
    {
      translate_class_start (self);
      return TRUE;
    }
  if (c == '(' && !self->in_class)
    return translate_group (self);

  if (c == '[')
    g_string_append (self->out, "\\[");
  else if (c == '.' && !self->in_class)
    g_string_append (self->out, "[^\\n\\r\\x{2028}\\x{2029}]");
  else
    g_string_append_c (self->out, c);
  if (c == ']')
    self->in_class = FALSE;
  else if (c == ')' && !self->in_class && self->groups > 0)
    self->groups--;
  else if (c == '|' && !self->in_class && self->groups == 0)
    self->alternatives = TRUE;
  self->at++;

  return TRUE;
}

struct _KhadimSchemaPattern
{
  char *text;
  char *translated;
  /* It can match at the beginning only */
  gboolean anchored;
  GRegex *full;
  GRegex *quick;
};

static GRegex *
compile_with_limit (const char *translated,
                    int         steps,
                    GError    **error)
{
  g_autofree char *limits = g_strdup_printf (LIMITS, steps);
  g_autofree char *text = g_strconcat (limits, translated, NULL);
  g_autoptr(GError) regex_error = NULL;
  GRegex *regex = g_regex_new (text, G_REGEX_DOLLAR_ENDONLY, 0, &regex_error);

  if (regex == NULL)
    g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                 "the pattern is not a regular expression: %s", regex_error->message);

  return regex;
}

/* Errors: %KHADIM_ENGINE_ERROR_INVALID, %KHADIM_ENGINE_ERROR_LIMIT. */
KhadimSchemaPattern *
_khadim_schema_pattern_new (const char *text,
                            GError    **error)
{
  g_autoptr(GString) out = g_string_new (NULL);
  g_autoptr(KhadimSchemaPattern) self = NULL;
  Translator translator = { .start = text, .at = text, .out = out, .error = error };

  if (strlen (text) > KHADIM_SCHEMA_MAX_PATTERN_BYTES)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT,
                   "the pattern is longer than %d bytes", KHADIM_SCHEMA_MAX_PATTERN_BYTES);
      return NULL;
    }

  while (*translator.at != '\0')
    {
      if (!translate_one (&translator))
        return NULL;
    }

  self = g_new0 (KhadimSchemaPattern, 1);
  self->text = g_strdup (text);
  self->anchored = text[0] == '^' && !translator.alternatives;
  self->full = compile_with_limit (out->str, KHADIM_SCHEMA_MAX_MATCH_STEPS, error);
  if (self->full == NULL)
    return NULL;
  if (!self->anchored)
    {
      self->quick = compile_with_limit (out->str, QUICK_MATCH_STEPS, error);
      if (self->quick == NULL)
        return NULL;
      self->translated = g_string_free (g_steal_pointer (&out), FALSE);
    }

  return g_steal_pointer (&self);
}

void
_khadim_schema_pattern_free (KhadimSchemaPattern *self)
{
  if (self == NULL)
    return;

  g_clear_pointer (&self->full, g_regex_unref);
  g_clear_pointer (&self->quick, g_regex_unref);
  g_free (self->translated);
  g_free (self->text);
  g_free (self);
}

const char *
_khadim_schema_pattern_get_text (const KhadimSchemaPattern *self)
{
  return self->text;
}

static gboolean
set_match_error (GError **error)
{
  /* What GLib says is about the translated pattern. */
  g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT,
               "the pattern takes too long to match");

  return FALSE;
}

/* One place after the other, each with all the attempts. */
static gboolean
match_each_place (const KhadimSchemaPattern *self,
                  const char                *text,
                  gsize                      length,
                  gboolean                  *out_matches,
                  GError                   **error)
{
  gint64 deadline_us = g_get_monotonic_time () + KHADIM_SCHEMA_MAX_MATCH_MS * 1000;
  const char *at = text;

  while (TRUE)
    {
      g_autoptr(GError) match_error = NULL;

      *out_matches = g_regex_match_full (self->full, text, (gssize) length, (int) (at - text),
                                         G_REGEX_MATCH_ANCHORED, NULL, &match_error);
      if (match_error != NULL || g_get_monotonic_time () > deadline_us)
        return set_match_error (error);
      if (*out_matches || *at == '\0')
        return TRUE;
      at = g_utf8_next_char (at);
    }
}

/* The form that a string of @length is tried with first. Large strings are
 * rare enough to compile one for each. */
static GRegex *
pattern_get_first (const KhadimSchemaPattern *self,
                   gsize                      length)
{
  if (self->anchored)
    return g_regex_ref (self->full);
  if (length <= QUICK_SUBJECT_BYTES)
    return g_regex_ref (self->quick);

  return compile_with_limit (self->translated, LARGE_MATCH_STEPS, NULL);
}

/* Whether the pattern is found anywhere in @text.
 * Errors: %KHADIM_ENGINE_ERROR_LIMIT. */
gboolean
_khadim_schema_pattern_match (const KhadimSchemaPattern *self,
                              const char                *text,
                              gboolean                  *out_matches,
                              GError                   **error)
{
  g_autoptr(GError) match_error = NULL;
  g_autoptr(GRegex) regex = NULL;
  gsize length = strlen (text);

  if (length > KHADIM_SCHEMA_MAX_SUBJECT_BYTES)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT,
                   "the text is longer than the %d bytes that a pattern is matched with",
                   KHADIM_SCHEMA_MAX_SUBJECT_BYTES);
      return FALSE;
    }

  regex = pattern_get_first (self, length);
  if (regex == NULL)
    return set_match_error (error);
  *out_matches = g_regex_match_full (regex, text, (gssize) length, 0, 0, NULL, &match_error);
  if (match_error == NULL)
    return TRUE;
  if (self->anchored)
    return set_match_error (error);

  return match_each_place (self, text, length, out_matches, error);
}
