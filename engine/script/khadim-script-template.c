/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

#include <string.h>

/* Templates: text with {{ expression }} in it. The end of an expression is
 * found as Lua reads it: }} inside of quotes, long brackets, comments or
 * braces of the expression itself does not end it. So {{ "{{" }} writes two
 * braces. */

/* Past the quoted text that begins at @text; at the end if it is not
 * closed. */
static const char *
skip_quoted (const char *text)
{
  char quote = *text++;

  while (*text != '\0' && *text != quote)
    {
      if (*text == '\\' && text[1] != '\0')
        text++;
      text++;
    }

  return *text == '\0' ? text : text + 1;
}

/* Past the long bracket, [[…]] or [==[…]==], that begins at @text; @text
 * itself if none does. */
static const char *
skip_long_bracket (const char *text)
{
  gsize level = strspn (text + 1, "=");
  const char *end;

  if (text[0] != '[' || text[1 + level] != '[')
    return text;

  for (end = strchr (text + 2 + level, ']'); end != NULL; end = strchr (end + 1, ']'))
    {
      if (strspn (end + 1, "=") == level && end[1 + level] == ']')
        return end + 2 + level;
    }

  return text + strlen (text);
}

static const char *
skip_comment (const char *text)
{
  const char *end = skip_long_bracket (text + 2);

  return end != text + 2 ? end : text + strcspn (text, "\n");
}

/* The }} that ends the expression at @text, or NULL. */
static const char *
find_end (const char *text)
{
  guint n_open = 0;

  while (*text != '\0')
    {
      const char *next = text + 1;

      if (n_open == 0 && text[0] == '}' && text[1] == '}')
        return text;

      if (*text == '"' || *text == '\'')
        next = skip_quoted (text);
      else if (*text == '[')
        next = MAX (skip_long_bracket (text), next);
      else if (text[0] == '-' && text[1] == '-')
        next = skip_comment (text);
      else if (*text == '{')
        n_open++;
      else if (*text == '}' && n_open > 0)
        n_open--;

      text = next;
    }

  return NULL;
}

/* Reads the piece at @cursor and moves on; an error if an expression has no
 * end. At the end of the text the piece has no length. */
gboolean
_khadim_script_template_next (const char        **cursor,
                              KhadimScriptPiece  *out_piece,
                              GError            **error)
{
  const char *start = *cursor;
  const char *end;

  if (!g_str_has_prefix (start, "{{"))
    {
      end = strstr (start, "{{");
      *cursor = end != NULL ? end : start + strlen (start);
      *out_piece = (KhadimScriptPiece) { start, (gsize) (*cursor - start), FALSE };
      return TRUE;
    }

  end = find_end (start + 2);
  if (end == NULL)
    {
      g_set_error_literal (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                           "“{{” has no “}}” that ends it");
      return FALSE;
    }

  *cursor = end + 2;
  *out_piece = (KhadimScriptPiece) { start + 2, (gsize) (end - start - 2), TRUE };

  return TRUE;
}

/* Whether a text is one template and nothing else. */
gboolean
_khadim_script_template_is_one (const char *text)
{
  const char *end;

  if (!g_str_has_prefix (text, "{{"))
    return FALSE;
  end = find_end (text + 2);

  return end != NULL && end[2] == '\0';
}

typedef struct {
  KhadimScriptState *checker; /* owned */
  GString *place; /* owned */
  GError **error;
} Check;

static gboolean check_node (Check    *check,
                            JsonNode *node);

static int
load_protected (lua_State *lua)
{
  _khadim_script_syntax_load_expression (lua, lua_touserdata (lua, 1));

  return 0;
}

static gboolean
check_text (Check      *check,
            const char *text)
{
  if (strlen (text) > KHADIM_SCRIPT_MAX_TEMPLATE_BYTES && strstr (text, "{{") != NULL)
    {
      g_set_error_literal (check->error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT,
                           "The text with templates is longer than 1 MiB");
      return FALSE;
    }

  while (*text != '\0')
    {
      KhadimScriptPiece piece;
      g_autofree char *expression = NULL;

      if (!_khadim_script_template_next (&text, &piece, check->error))
        return FALSE;
      if (!piece.is_expression)
        continue;

      expression = g_strndup (piece.start, piece.length);
      if (!_khadim_script_state_call (check->checker, load_protected, expression, check->error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
check_array (Check     *check,
             JsonArray *array)
{
  gsize length = check->place->len;

  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      g_string_append_printf (check->place, "[%u]", i);
      if (!check_node (check, json_array_get_element (array, i)))
        return FALSE;
      g_string_truncate (check->place, length);
    }

  return TRUE;
}

static gboolean
check_object (Check      *check,
              JsonObject *object)
{
  gsize length = check->place->len;
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &member))
    {
      g_string_append_printf (check->place, "%s%s", length > 0 ? "." : "", name);
      if (!check_node (check, member))
        return FALSE;
      g_string_truncate (check->place, length);
    }

  return TRUE;
}

static gboolean
check_node (Check    *check,
            JsonNode *node)
{
  if (JSON_NODE_HOLDS_ARRAY (node))
    return check_array (check, json_node_get_array (node));
  if (JSON_NODE_HOLDS_OBJECT (node))
    return check_object (check, json_node_get_object (node));
  if (json_node_get_value_type (node) == G_TYPE_STRING)
    return check_text (check, json_node_get_string (node));

  return TRUE;
}

/**
 * khadim_script_check_templates:
 * @node: a tree
 * @out_place: (out) (optional) (transfer full): where the first fault is, in
 *   the form `a.b[3]` with positions from 0; empty if @node itself is the
 *   text; untouched on success
 * @error: return location
 *
 * Whether all templates in the texts of a tree are well formed; nothing runs.
 * Any thread.
 *
 * Returns: %FALSE with %KHADIM_ENGINE_ERROR_INVALID, or with
 *   %KHADIM_ENGINE_ERROR_LIMIT if one is too long
 */
gboolean
khadim_script_check_templates (JsonNode  *node,
                               char     **out_place,
                               GError   **error)
{
  g_autoptr(GString) place = g_string_new (NULL);
  Check check = { .place = place, .error = error };
  gboolean ok;

  g_return_val_if_fail (node != NULL, FALSE);

  check.checker = _khadim_script_state_new_checker ();
  ok = check_node (&check, node);
  _khadim_script_state_free (check.checker);
  if (!ok && out_place != NULL)
    *out_place = g_strdup (place->str);

  return ok;
}
