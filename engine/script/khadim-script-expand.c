/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

#include <string.h>

/* Templates with values put in. A tree is one call: all its expressions share
 * one budget. */

typedef struct {
  KhadimScriptState *state; /* borrowed */
  GString *place; /* owned */
  KhadimScriptSize size; /* of what was put in so far */
  GError **error;
} Expansion;

static JsonNode *expand_node (Expansion *expansion,
                              JsonNode  *node);

static gboolean
refuse (Expansion  *expansion,
        const char *what)
{
  g_set_error_literal (expansion->error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT, what);

  return FALSE;
}

/* Appends the text of the expression in @piece. */
static gboolean
append_expression (Expansion               *expansion,
                   const KhadimScriptPiece *piece,
                   GString                 *text)
{
  g_autofree char *expression = g_strndup (piece->start, piece->length);
  g_autoptr(JsonNode) value = _khadim_script_state_evaluate (expansion->state,
                                                             KHADIM_SCRIPT_MODE_TEXT,
                                                             expression, &expansion->size,
                                                             expansion->error);

  if (value == NULL)
    return FALSE;
  g_string_append (text, json_node_get_string (value));

  return TRUE;
}

static char *
expand_text (Expansion  *expansion,
             const char *template)
{
  g_autoptr(GString) text = g_string_new (NULL);

  while (*template != '\0')
    {
      KhadimScriptPiece piece;

      if (!_khadim_script_template_next (&template, &piece, expansion->error))
        return NULL;
      if (!piece.is_expression)
        g_string_append_len (text, piece.start, (gssize) piece.length);
      else if (!append_expression (expansion, &piece, text))
        return NULL;
      if (text->len > KHADIM_SCRIPT_MAX_STRING_BYTES)
        {
          refuse (expansion, "The text with its values put in is longer than 16 MiB");
          return NULL;
        }
    }

  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gboolean
check_template_length (Expansion  *expansion,
                       const char *text)
{
  if (strlen (text) > KHADIM_SCRIPT_MAX_TEMPLATE_BYTES)
    return refuse (expansion, "The text with templates is longer than 1 MiB");

  return TRUE;
}

static JsonNode *
expand_string (Expansion *expansion,
               JsonNode  *node)
{
  const char *text = json_node_get_string (node);
  g_autofree char *expanded = NULL;

  if (strstr (text, "{{") == NULL)
    return json_node_copy (node);
  if (!check_template_length (expansion, text))
    return NULL;

  if (_khadim_script_template_is_one (text))
    {
      g_autofree char *expression = g_strndup (text + 2, strlen (text) - 4);

      return _khadim_script_state_evaluate (expansion->state, KHADIM_SCRIPT_MODE_VALUE,
                                            expression, &expansion->size, expansion->error);
    }

  expanded = expand_text (expansion, text);
  if (expanded == NULL)
    return NULL;
  return json_node_init_string (json_node_alloc (), expanded);
}

static JsonNode *
expand_array (Expansion *expansion,
              JsonArray *array)
{
  guint length = json_array_get_length (array);
  g_autoptr(JsonArray) result = json_array_sized_new (length);
  gsize place_length = expansion->place->len;

  for (guint i = 0; i < length; i++)
    {
      JsonNode *element;

      g_string_append_printf (expansion->place, "[%u]", i);
      element = expand_node (expansion, json_array_get_element (array, i));
      if (element == NULL)
        return NULL;
      json_array_add_element (result, element);
      g_string_truncate (expansion->place, place_length);
    }

  return json_node_init_array (json_node_alloc (), result);
}

static JsonNode *
expand_object (Expansion  *expansion,
               JsonObject *object)
{
  g_autoptr(JsonObject) result = json_object_new ();
  gsize place_length = expansion->place->len;
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &member))
    {
      JsonNode *value;

      g_string_append_printf (expansion->place, "%s%s", place_length > 0 ? "." : "", name);
      value = expand_node (expansion, member);
      if (value == NULL)
        return NULL;
      json_object_set_member (result, name, value);
      g_string_truncate (expansion->place, place_length);
    }

  return json_node_init_object (json_node_alloc (), result);
}

static JsonNode *
expand_node (Expansion *expansion,
             JsonNode  *node)
{
  if (JSON_NODE_HOLDS_ARRAY (node))
    return expand_array (expansion, json_node_get_array (node));
  if (JSON_NODE_HOLDS_OBJECT (node))
    return expand_object (expansion, json_node_get_object (node));
  if (json_node_get_value_type (node) == G_TYPE_STRING)
    return expand_string (expansion, node);

  return json_node_copy (node);
}

/* The work of khadim_script_expand(). */
JsonNode *
_khadim_script_state_expand (KhadimScriptState  *state,
                             JsonNode           *node,
                             GError            **error)
{
  g_autoptr(GString) place = g_string_new (NULL);
  g_autoptr(GError) local_error = NULL;
  Expansion expansion = { .state = state, .place = place, .error = &local_error };
  JsonNode *result;

  _khadim_script_state_begin (state);
  result = expand_node (&expansion, node);
  _khadim_script_state_end (state);

  if (result == NULL)
    {
      if (place->len > 0)
        g_prefix_error (&local_error, "%s: ", place->str);
      g_propagate_error (error, g_steal_pointer (&local_error));
    }

  return result;
}

/* The work of khadim_script_expand_string(). */
char *
_khadim_script_state_expand_string (KhadimScriptState  *state,
                                    const char         *text,
                                    GError            **error)
{
  Expansion expansion = { .state = state, .error = error };
  char *result;

  if (!check_template_length (&expansion, text))
    return NULL;

  _khadim_script_state_begin (state);
  result = expand_text (&expansion, text);
  _khadim_script_state_end (state);

  return result;
}
