/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"

/* Source in, value out. */

typedef struct {
  KhadimScriptMode mode;
  const char *source;
  KhadimScriptSize *size; /* borrowed, nullable */
  JsonNode *result; /* owned */
  GError *error; /* owned */
} Evaluation;

/* A value inside of a text: null is nothing, tables are JSON, numbers are
 * written as Lua writes them. */
static JsonNode *
read_text (lua_State         *lua,
           KhadimScriptSize  *size,
           GError           **error)
{
  g_autoptr(JsonNode) value = NULL;
  g_autofree char *text = NULL;

  if (lua_isnil (lua, -1) || _khadim_script_value_is_null (lua, -1))
    return json_node_init_string (json_node_alloc (), "");

  value = _khadim_script_value_to_json (lua, -1, size, error);
  if (value == NULL || json_node_get_value_type (value) == G_TYPE_STRING)
    return g_steal_pointer (&value);

  text = khadim_json_to_string (value);

  return json_node_init_string (json_node_alloc (), text);
}

static void
read_result (lua_State  *lua,
             Evaluation *evaluation)
{
  int type = lua_type (lua, -1);

  switch (evaluation->mode)
    {
    case KHADIM_SCRIPT_MODE_TEST:
      evaluation->result = json_node_init_boolean (json_node_alloc (),
                                                   lua_toboolean (lua, -1)
                                                   && !_khadim_script_value_is_null (lua, -1));
      break;
    case KHADIM_SCRIPT_MODE_TEXT:
      if (type == LUA_TNUMBER || type == LUA_TBOOLEAN)
        _khadim_script_base_push_text (lua, -1, NULL);
      evaluation->result = read_text (lua, evaluation->size, &evaluation->error);
      break;
    case KHADIM_SCRIPT_MODE_VALUE:
    case KHADIM_SCRIPT_MODE_CODE:
    default:
      evaluation->result = _khadim_script_value_to_json (lua, -1, evaluation->size,
                                                         &evaluation->error);
      break;
    }
}

static int
evaluate_protected (lua_State *lua)
{
  Evaluation *evaluation = lua_touserdata (lua, 1);

  if (evaluation->mode == KHADIM_SCRIPT_MODE_CODE)
    _khadim_script_syntax_load_code (lua, evaluation->source);
  else
    _khadim_script_syntax_load_expression (lua, evaluation->source);

  lua_call (lua, 0, 1);
  read_result (lua, evaluation);

  return 0;
}

/* In an expression of one line its number says nothing. */
static void
drop_line (const char  *source,
           GError     **error)
{
  static const char first_line[] = "line 1: ";

  if (strchr (source, '\n') == NULL && g_str_has_prefix ((*error)->message, first_line))
    {
      g_autofree char *rest = g_strdup ((*error)->message + strlen (first_line));

      g_free ((*error)->message);
      (*error)->message = g_steal_pointer (&rest);
    }
}

/* @size is NULL for a value by itself. */
JsonNode *
_khadim_script_state_evaluate (KhadimScriptState  *state,
                               KhadimScriptMode    mode,
                               const char         *source,
                               KhadimScriptSize   *size,
                               GError            **error)
{
  Evaluation evaluation = { .mode = mode, .source = source, .size = size };

  _khadim_script_state_call (state, evaluate_protected, &evaluation, &evaluation.error);
  if (evaluation.result != NULL)
    return evaluation.result;

  if (mode != KHADIM_SCRIPT_MODE_CODE)
    drop_line (source, &evaluation.error);
  g_propagate_error (error, evaluation.error);

  return NULL;
}
