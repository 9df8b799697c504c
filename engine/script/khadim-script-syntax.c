/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

#include <string.h>

/* Source text of expressions and scripts. */

/* Makes luaL_where() write the mark that _khadim_script_push_clean() knows. */
#define CHUNK_NAME "=\x02"

static const char *const keywords[] = {
  "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if",
  "in", "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
};

static void
load (lua_State  *lua,
      const char *text,
      size_t      length)
{
  _khadim_script_charge (lua, length / 16);
  if (luaL_loadbufferx (lua, text, length, CHUNK_NAME, "t") != LUA_OK)
    lua_error (lua);

  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_environment);
  lua_setupvalue (lua, -2, 1);
}

static size_t
check_length (lua_State  *lua,
              const char *text,
              gsize       limit)
{
  size_t length = strlen (text);

  if (length > limit)
    _khadim_script_raise_limit (lua, KHADIM_SCRIPT_LIMIT_SOURCE);

  return length;
}

static void
compile_expression (lua_State  *lua,
                    const char *expression)
{
  /* Behind "return" alone "1, 2" and ";" would pass as well; in parentheses
   * alone "1) + (2" would. */
  lua_pushfstring (lua, "return (%s\n)", expression);
  load (lua, lua_tostring (lua, -1), lua_rawlen (lua, -1));
  lua_pop (lua, 2);

  lua_pushfstring (lua, "return %s", expression);
  load (lua, lua_tostring (lua, -1), lua_rawlen (lua, -1));
  lua_remove (lua, -2);
}

/* Pushes @expression as a function. Those that passed are kept, as loops ask
 * for the same ones again and again. */
void
_khadim_script_syntax_load_expression (lua_State  *lua,
                                       const char *expression)
{
  KhadimScriptState *state = _khadim_script_state_get (lua);
  size_t length = check_length (lua, expression, KHADIM_SCRIPT_MAX_EXPRESSION_BYTES);

  if (strspn (expression, " \t\r\n") == length)
    luaL_error (lua, "The expression is empty");

  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_cache);
  if (lua_istable (lua, -1) && state->n_cached >= KHADIM_SCRIPT_CACHE_SIZE)
    {
      lua_pop (lua, 1);
      lua_newtable (lua);
      lua_pushvalue (lua, -1);
      lua_rawsetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_cache);
      state->n_cached = 0;
    }

  lua_pushlstring (lua, expression, length);
  if (lua_istable (lua, -2))
    {
      lua_pushvalue (lua, -1);
      if (lua_rawget (lua, -3) == LUA_TFUNCTION)
        return;
      lua_pop (lua, 1);
    }

  compile_expression (lua, expression);
  if (lua_istable (lua, -3))
    {
      lua_pushvalue (lua, -2);
      lua_pushvalue (lua, -2);
      lua_rawset (lua, -5);
      state->n_cached++;
    }
}

/* Pushes @code as a function. */
void
_khadim_script_syntax_load_code (lua_State  *lua,
                                 const char *code)
{
  size_t length = check_length (lua, code, KHADIM_SCRIPT_MAX_CODE_BYTES);

  load (lua, code, length);
}

static int
check_expression_protected (lua_State *lua)
{
  _khadim_script_syntax_load_expression (lua, lua_touserdata (lua, 1));

  return 0;
}

static int
check_code_protected (lua_State *lua)
{
  _khadim_script_syntax_load_code (lua, lua_touserdata (lua, 1));

  return 0;
}

static gboolean
check (const char     *text,
       lua_CFunction   function,
       GError        **error)
{
  KhadimScriptState *state = _khadim_script_state_new_checker ();
  gboolean ok = _khadim_script_state_call (state, function, (gpointer) text, error);

  _khadim_script_state_free (state);

  return ok;
}

/**
 * khadim_script_check_expression:
 * @expression: an expression of Lua 5.4
 * @error: return location
 *
 * Whether an expression is well formed; nothing runs. Any thread.
 *
 * Returns: %FALSE with %KHADIM_ENGINE_ERROR_INVALID, or with
 *   %KHADIM_ENGINE_ERROR_LIMIT if it is too long
 */
gboolean
khadim_script_check_expression (const char  *expression,
                                GError     **error)
{
  g_return_val_if_fail (expression != NULL, FALSE);

  return check (expression, check_expression_protected, error);
}

/**
 * khadim_script_check_code:
 * @code: a script in Lua 5.4
 * @error: return location
 *
 * Whether a script is well formed; nothing runs. Any thread.
 *
 * Returns: %FALSE with %KHADIM_ENGINE_ERROR_INVALID, whose text has the line,
 *   or with %KHADIM_ENGINE_ERROR_LIMIT if it is too long
 */
gboolean
khadim_script_check_code (const char  *code,
                          GError     **error)
{
  g_return_val_if_fail (code != NULL, FALSE);

  return check (code, check_code_protected, error);
}

static gboolean
is_keyword (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (keywords); i++)
    {
      if (g_str_equal (keywords[i], name))
        return TRUE;
    }

  return FALSE;
}

/**
 * khadim_script_is_name:
 * @name: a text
 *
 * Whether @name can name a variable: a Lua identifier of ASCII letters,
 * digits and underscores, no keyword, and no name of the language such as
 * `string` or `null`. Any thread.
 *
 * Returns: whether it can
 */
gboolean
khadim_script_is_name (const char *name)
{
  g_return_val_if_fail (name != NULL, FALSE);

  if (!g_ascii_isalpha (name[0]) && name[0] != '_')
    return FALSE;

  for (const char *c = name; *c != '\0'; c++)
    {
      if (!g_ascii_isalnum (*c) && *c != '_')
        return FALSE;
    }

  return strlen (name) <= KHADIM_SCRIPT_MAX_NAME_BYTES && !is_keyword (name)
         && !g_str_equal (name, "_ENV") && !_khadim_script_sandbox_is_builtin (name);
}
