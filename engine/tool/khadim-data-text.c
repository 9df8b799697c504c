/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-data-text"

#include "config.h"

#include "engine/tool/khadim-data-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"
#include "engine/tool/khadim-tool-io-private.h"

/* How many steps one match may take (pcre2api(3), “match limit”): a pattern
 * that backtracks for ever ends after a fraction of a second. */
#define MATCH_LIMIT "(*LIMIT_MATCH=1000000)"

typedef JsonNode *(*TextFunc) (JsonObject    *args,
                               const char    *text,
                               GCancellable  *cancellable,
                               GError       **error);

/* Results ----------------------------------------------------------------- */

static gboolean
check_size (gsize    size,
            GError **error)
{
  if (size <= KHADIM_TOOL_IO_MAX_BYTES)
    return TRUE;

  g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
               "The text would be longer than %d bytes", KHADIM_TOOL_IO_MAX_BYTES);
  return FALSE;
}

static JsonNode *
text_to_json (const char *text)
{
  JsonObject *object = json_object_new ();

  json_object_set_string_member (object, "text", text);

  return khadim_json_object (object);
}

static JsonNode *
parts_to_json (JsonArray *parts)
{
  JsonObject *object = json_object_new ();

  json_object_set_int_member (object, "count", json_array_get_length (parts));
  json_object_set_array_member (object, "parts", parts);

  return khadim_json_object (object);
}

static gboolean
add_part (JsonArray   *parts,
          const char  *text,
          gsize        size,
          GError     **error)
{
  g_autofree char *part = g_strndup (text, size);

  if (json_array_get_length (parts) >= KHADIM_DATA_MAX_PARTS)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                   "The text has more than %d parts", KHADIM_DATA_MAX_PARTS);
      return FALSE;
    }
  json_array_add_string_element (parts, part);

  return TRUE;
}

/* Parts --------------------------------------------------------------------- */

/* Lines end in LF or CR LF; after the last end there is no line. */
static JsonNode *
run_lines (JsonObject    *args,
           const char    *text,
           GCancellable  *cancellable,
           GError       **error)
{
  g_autoptr(JsonArray) parts = json_array_new ();

  while (*text != '\0')
    {
      gsize len = strcspn (text, "\n");
      gsize shown = len > 0 && text[len] == '\n' && text[len - 1] == '\r' ? len - 1 : len;

      if (!add_part (parts, text, shown, error))
        return NULL;
      text += text[len] == '\n' ? len + 1 : len;
    }

  return parts_to_json (g_steal_pointer (&parts));
}

static JsonNode *
run_split (JsonObject    *args,
           const char    *text,
           GCancellable  *cancellable,
           GError       **error)
{
  g_autoptr(JsonArray) parts = json_array_new ();
  const char *separator = khadim_json_get_string (args, "separator", "");
  const char *end;

  while ((end = strstr (text, separator)) != NULL)
    {
      if (!add_part (parts, text, (gsize) (end - text), error))
        return NULL;
      text = end + strlen (separator);
    }
  if (!add_part (parts, text, strlen (text), error))
    return NULL;

  return parts_to_json (g_steal_pointer (&parts));
}

static JsonNode *
run_join (JsonObject    *args,
          const char    *text,
          GCancellable  *cancellable,
          GError       **error)
{
  JsonArray *parts = khadim_json_get_array (args, "parts");
  const char *separator = khadim_json_get_string (args, "separator", "");
  g_autoptr(GString) joined = g_string_new (NULL);

  for (guint i = 0; i < json_array_get_length (parts); i++)
    {
      JsonNode *part = json_array_get_element (parts, i);

      if (json_node_get_value_type (part) != G_TYPE_STRING)
        {
          g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                       "parts[%u] is no text", i);
          return NULL;
        }
      if (i > 0)
        g_string_append (joined, separator);
      g_string_append (joined, json_node_get_string (part));
      if (!check_size (joined->len, error))
        return NULL;
    }

  return text_to_json (joined->str);
}

/* Characters ---------------------------------------------------------------- */

/* White space as Unicode has it, such as no-break spaces. */
static JsonNode *
run_trim (JsonObject    *args,
          const char    *text,
          GCancellable  *cancellable,
          GError       **error)
{
  const char *end = text + strlen (text);
  g_autofree char *trimmed = NULL;

  while (text < end && g_unichar_isspace (g_utf8_get_char (text)))
    text = g_utf8_next_char (text);
  while (end > text && g_unichar_isspace (g_utf8_get_char (g_utf8_prev_char (end))))
    end = g_utf8_prev_char (end);
  trimmed = g_strndup (text, (gsize) (end - text));

  return text_to_json (trimmed);
}

/* One character for one, whatever the language of the person is: what a run
 * gives does not depend on the computer. */
static JsonNode *
map_characters (const char *text,
                gunichar  (*map) (gunichar character))
{
  g_autoptr(GString) mapped = g_string_sized_new (strlen (text));

  for (; *text != '\0'; text = g_utf8_next_char (text))
    g_string_append_unichar (mapped, map (g_utf8_get_char (text)));

  return text_to_json (mapped->str);
}

static JsonNode *
run_upper (JsonObject    *args,
           const char    *text,
           GCancellable  *cancellable,
           GError       **error)
{
  return map_characters (text, g_unichar_toupper);
}

static JsonNode *
run_lower (JsonObject    *args,
           const char    *text,
           GCancellable  *cancellable,
           GError       **error)
{
  return map_characters (text, g_unichar_tolower);
}

static JsonNode *
run_pad (JsonObject    *args,
         const char    *text,
         GCancellable  *cancellable,
         GError       **error)
{
  gint64 width = khadim_json_get_int (args, "width", 0);
  const char *fill = khadim_json_get_string (args, "fill", " ");
  gboolean at_start = g_str_equal (khadim_json_get_string (args, "side", "start"), "start");
  g_autoptr(GString) padded = g_string_new (NULL);

  if (g_utf8_strlen (fill, -1) != 1)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                   "“fill” must be one character, not “%s”", fill);
      return NULL;
    }

  width = CLAMP (width, 0, KHADIM_DATA_MAX_WIDTH) - g_utf8_strlen (text, -1);
  if (!at_start)
    g_string_append (padded, text);
  for (; width > 0; width--)
    g_string_append (padded, fill);
  if (at_start)
    g_string_append (padded, text);

  return text_to_json (padded->str);
}

/* Patterns ------------------------------------------------------------------ */

static GRegex *
compile (JsonObject  *args,
         GError     **error)
{
  const char *pattern = khadim_json_get_string (args, "pattern", "");
  GRegexCompileFlags flags = G_REGEX_MULTILINE;
  g_autoptr(GError) local = NULL;
  g_autoptr(GRegex) plain = NULL;
  g_autofree char *limited = NULL;

  if (strlen (pattern) > KHADIM_DATA_MAX_PATTERN_BYTES)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                   "The pattern is longer than %d bytes", KHADIM_DATA_MAX_PATTERN_BYTES);
      return NULL;
    }
  if (khadim_json_get_boolean (args, "ignore_case", FALSE))
    flags |= G_REGEX_CASELESS;

  /* As it is first, for places in the errors that the person recognises. */
  plain = g_regex_new (pattern, flags, 0, &local);
  if (plain == NULL)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL, "%s", local->message);
      return NULL;
    }
  limited = g_strconcat (MATCH_LIMIT, pattern, NULL);

  return g_regex_new (limited, flags, 0, error);
}

static void
set_match_error (const GError  *local,
                 GError       **error)
{
  if (g_error_matches (local, G_IO_ERROR, G_IO_ERROR_CANCELLED)
      || local->domain == KHADIM_TOOL_ERROR)
    g_propagate_error (error, g_error_copy (local));
  else
    g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                 "The pattern takes too long on this text: %s", local->message);
}

static void
add_groups (JsonObject *object,
            GMatchInfo *match)
{
  JsonArray *groups = json_array_new ();

  for (int i = 1; i < g_match_info_get_match_count (match); i++)
    {
      g_autofree char *group = g_match_info_fetch (match, i);

      json_array_add_string_element (groups, group != NULL ? group : "");
    }
  json_object_set_array_member (object, "groups", groups);
}

static JsonObject *
match_to_json (GMatchInfo *match)
{
  JsonObject *object = json_object_new ();
  g_autofree char *whole = g_match_info_fetch (match, 0);

  json_object_set_string_member (object, "text", whole);
  add_groups (object, match);

  return object;
}

static JsonNode *
matches_to_json (JsonArray *matches)
{
  JsonObject *object = json_object_new ();
  guint count = json_array_get_length (matches);
  const char *first = "";

  if (count > 0)
    first = khadim_json_get_string (json_array_get_object_element (matches, 0), "text", "");
  json_object_set_int_member (object, "count", count);
  json_object_set_string_member (object, "text", first);
  json_object_set_array_member (object, "matches", matches);

  return khadim_json_object (object);
}

static JsonNode *
run_extract (JsonObject    *args,
             const char    *text,
             GCancellable  *cancellable,
             GError       **error)
{
  gboolean all = khadim_json_get_boolean (args, "all", FALSE);
  g_autoptr(GRegex) regex = compile (args, error);
  g_autoptr(GMatchInfo) match = NULL;
  g_autoptr(GError) local = NULL;
  g_autoptr(JsonArray) matches = json_array_new ();

  if (regex == NULL)
    return NULL;

  g_regex_match_full (regex, text, -1, 0, 0, &match, &local);
  while (local == NULL && g_match_info_matches (match)
         && !g_cancellable_set_error_if_cancelled (cancellable, &local))
    {
      if (json_array_get_length (matches) >= KHADIM_DATA_MAX_PARTS)
        {
          g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                       "The pattern matches more than %d times", KHADIM_DATA_MAX_PARTS);
          return NULL;
        }
      json_array_add_object_element (matches, match_to_json (match));
      if (!all)
        break;
      g_match_info_next (match, &local);
    }
  if (local != NULL)
    {
      set_match_error (local, error);
      return NULL;
    }

  return matches_to_json (g_steal_pointer (&matches));
}

typedef struct
{
  const char *with;
  GCancellable *cancellable;
  GError *error;
} Replacing;

static gboolean
on_replace_cb (const GMatchInfo *match,
               GString          *result,
               gpointer          user_data)
{
  Replacing *replacing = user_data;
  g_autofree char *with = NULL;

  with = g_match_info_expand_references (match, replacing->with, &replacing->error);
  if (with != NULL)
    g_string_append (result, with);

  return with == NULL
         || !check_size (result->len, &replacing->error)
         || g_cancellable_set_error_if_cancelled (replacing->cancellable, &replacing->error);
}

static JsonNode *
replace_pattern (JsonObject    *args,
                 const char    *text,
                 GCancellable  *cancellable,
                 GError       **error)
{
  Replacing replacing = { khadim_json_get_string (args, "with", ""), cancellable };
  g_autoptr(GRegex) regex = compile (args, error);
  g_autoptr(GError) local = NULL;
  g_autofree char *replaced = NULL;

  if (regex == NULL)
    return NULL;
  if (!g_regex_check_replacement (replacing.with, NULL, &local))
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                   "“with” is wrong: %s", local->message);
      return NULL;
    }

  replaced = g_regex_replace_eval (regex, text, -1, 0, 0, on_replace_cb, &replacing, &local);
  if (replacing.error != NULL)
    {
      g_clear_error (&local);
      local = replacing.error;
    }
  if (local != NULL)
    {
      set_match_error (local, error);
      return NULL;
    }

  return check_size (strlen (replaced), error) ? text_to_json (replaced) : NULL;
}

static JsonNode *
run_replace (JsonObject    *args,
             const char    *text,
             GCancellable  *cancellable,
             GError       **error)
{
  const char *find = khadim_json_get_string (args, "find", NULL);
  const char *with = khadim_json_get_string (args, "with", "");
  g_autoptr(GString) replaced = g_string_new (NULL);
  const char *end;

  if (find == NULL)
    return replace_pattern (args, text, cancellable, error);

  while ((end = strstr (text, find)) != NULL)
    {
      g_string_append_len (replaced, text, end - text);
      g_string_append (replaced, with);
      text = end + strlen (find);
      if (!check_size (replaced->len, error))
        return NULL;
    }
  g_string_append (replaced, text);

  return check_size (replaced->len, error) ? text_to_json (replaced->str) : NULL;
}

/* The tool ------------------------------------------------------------------ */

static const struct {
  const char *name;
  const char *needs[3]; /* arguments: `a+` is one not empty, `a|b` one of two */
  TextFunc run;
} operations[] = {
  { "lines", { "text" }, run_lines },
  { "split", { "text", "separator+" }, run_split },
  { "join", { "parts", "separator" }, run_join },
  { "trim", { "text" }, run_trim },
  { "upper", { "text" }, run_upper },
  { "lower", { "text" }, run_lower },
  { "pad", { "text", "width" }, run_pad },
  { "replace", { "text", "find+|pattern+", "with" }, run_replace },
  { "extract", { "text", "pattern+" }, run_extract },
};

/* Whether exactly one of the arguments of @need is given. */
static gboolean
has_argument (JsonObject *args,
              const char *need)
{
  g_auto(GStrv) names = g_strsplit (need, "|", -1);
  guint n_given = 0;

  for (guint i = 0; names[i] != NULL; i++)
    {
      char *plus = strchr (names[i], '+');

      if (plus != NULL)
        *plus = '\0';
      if (json_object_has_member (args, names[i])
          && (plus == NULL || *khadim_json_get_string (args, names[i], "x") != '\0'))
        n_given++;
    }

  return n_given == 1;
}

static gboolean
check_needs (JsonObject         *args,
             const char         *name,
             const char *const  *needs,
             guint               n_needs,
             char              **out_place,
             GError            **error)
{
  for (guint i = 0; i < n_needs && needs[i] != NULL; i++)
    {
      if (has_argument (args, needs[i]))
        continue;
      if (out_place != NULL)
        *out_place = g_strndup (needs[i], strcspn (needs[i], "+|"));
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                   "The operation “%s” needs one of “%s” (+ is not empty)", name, needs[i]);
      return FALSE;
    }

  return TRUE;
}

/* What the schema cannot say: which arguments belong to which operation, and
 * whether a pattern is one. */
gboolean
_khadim_data_check_text (JsonObject  *args,
                         char       **out_place,
                         GError     **error)
{
  const char *name = khadim_json_get_string (args, "operation", "");
  g_autoptr(GRegex) regex = NULL;
  GError *local = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (operations); i++)
    {
      if (g_str_equal (operations[i].name, name)
          && !check_needs (args, name, operations[i].needs,
                           G_N_ELEMENTS (operations[i].needs), out_place, error))
        return FALSE;
    }
  if (_khadim_tool_job_is_known (khadim_json_get_string (args, "pattern", NULL)))
    {
      regex = compile (args, &local);
      if (regex == NULL)
        return _khadim_tool_job_fault ("pattern", local, out_place, error);
    }

  return TRUE;
}

JsonNode *
_khadim_data_text (KhadimToolCall  *call,
                   GCancellable    *cancellable,
                   GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  const char *name = khadim_json_get_string (args, "operation", "");
  const char *text = khadim_json_get_string (args, "text", "");

  if (!_khadim_data_check_text (args, NULL, error) || !check_size (strlen (text), error))
    return NULL;

  for (guint i = 0; i < G_N_ELEMENTS (operations); i++)
    {
      if (g_str_equal (operations[i].name, name))
        return operations[i].run (args, text, cancellable, error);
    }

  g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
               "There is no operation “%s”", name);
  return NULL;
}
