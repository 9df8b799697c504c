/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

#include <string.h>

/* What code sees: an environment that is always empty, whose metatable finds
 * variables and the names of the language, and refuses what neither is. The
 * tables of the library are behind such an empty table too, so that nothing
 * can be put into them. There is no setmetatable(): without it no script has
 * __gc, __close or __index, which run where limits do not reach. */

static const char *const builtins[] = {
  "assert", "defined", "error", "ipairs", "json", "len", "math", "next", "null",
  "pairs", "pcall", "rawequal", "rawlen", "select", "string", "table", "tonumber",
  "tostring", "type", "utf8",
};

static const char *const withheld[] = {
  "collectgarbage", "coroutine", "debug", "dofile", "getmetatable", "io", "load",
  "loadfile", "loadstring", "os", "package", "print", "rawget", "rawset", "require",
  "setmetatable", "unpack", "warn", "xpcall", "_G", "_VERSION",
};

static gboolean
is_listed (const char *const *list,
           gsize              length,
           const char        *name)
{
  for (gsize i = 0; i < length; i++)
    {
      if (g_str_equal (list[i], name))
        return TRUE;
    }

  return FALSE;
}

/* In a `catch`, `error` is the variable that tells what was caught; there it
 * hides the function. */
gboolean
_khadim_script_sandbox_is_builtin (const char *name)
{
  return is_listed (builtins, G_N_ELEMENTS (builtins), name) && !g_str_equal (name, "error");
}

static int
environment_index (lua_State *lua)
{
  const char *name = luaL_checkstring (lua, 2);

  if (_khadim_script_scopes_find (lua, 2))
    return 1;

  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_builtins);
  lua_pushvalue (lua, 2);
  if (lua_rawget (lua, -2) != LUA_TNIL)
    return 1;

  if (is_listed (withheld, G_N_ELEMENTS (withheld), name))
    return luaL_error (lua, "“%s” is not available in scripts", name);

  return luaL_error (lua, "The variable “%s” is not set", name);
}

static int
environment_newindex (lua_State *lua)
{
  luaL_checkstring (lua, 2);
  _khadim_script_scopes_assign (lua, FALSE);

  return 0;
}

static int
library_index (lua_State *lua)
{
  lua_pushvalue (lua, 2);
  lua_rawget (lua, lua_upvalueindex (1));
  if (!lua_isnil (lua, -1))
    return 1;

  return luaL_error (lua, "“%s.%s” is not available in scripts",
                     lua_tostring (lua, lua_upvalueindex (2)), luaL_tolstring (lua, 2, NULL));
}

static int
library_newindex (lua_State *lua)
{
  return luaL_error (lua, "“%s” cannot be changed", lua_tostring (lua, lua_upvalueindex (1)));
}

/* Replaces the library on top of the stack by an empty table that finds the
 * functions and takes nothing. */
void
_khadim_script_sandbox_protect (lua_State  *lua,
                                const char *name)
{
  lua_newtable (lua);
  lua_createtable (lua, 0, 4);
  lua_pushvalue (lua, -3);
  lua_pushstring (lua, name);
  lua_pushcclosure (lua, library_index, 2);
  lua_setfield (lua, -2, "__index");
  lua_pushstring (lua, name);
  lua_pushcclosure (lua, library_newindex, 1);
  lua_setfield (lua, -2, "__newindex");
  lua_pushstring (lua, name);
  lua_setfield (lua, -2, "__name");
  lua_pushboolean (lua, FALSE);
  lua_setfield (lua, -2, "__metatable");
  lua_setmetatable (lua, -2);
  lua_remove (lua, -2);
}

/* A function that reads or changes a table takes a script's own only. */
void
_khadim_script_sandbox_check_table (lua_State *lua,
                                    int        index)
{
  luaL_checktype (lua, index, LUA_TTABLE);
  if (lua_getmetatable (lua, index) == 0)
    return;

  lua_pop (lua, 1);
  luaL_argcheck (lua, _khadim_script_value_is_array (lua, index), index,
                 "a part of the language is no table of values");
}

/* Calls a function of Lua's own library after its texts have been counted as
 * work. It is called as C, so that errors name it as the script does. */
static int
call_charged (lua_State *lua)
{
  lua_CFunction function = lua_tocfunction (lua, lua_upvalueindex (1));
  guint64 steps = 0;

  for (int i = 1; i <= lua_gettop (lua); i++)
    {
      if (lua_type (lua, i) == LUA_TSTRING)
        steps += lua_rawlen (lua, i) / 16;
    }
  _khadim_script_charge (lua, steps);

  return function (lua);
}

void
_khadim_script_sandbox_push_charged (lua_State     *lua,
                                     lua_CFunction  function)
{
  lua_pushcfunction (lua, function);
  lua_pushcclosure (lua, call_charged, 1);
}

static void
open_environment (lua_State *lua)
{
  lua_newtable (lua);
  lua_createtable (lua, 0, 4);
  lua_pushcfunction (lua, environment_index);
  lua_setfield (lua, -2, "__index");
  lua_pushcfunction (lua, environment_newindex);
  lua_setfield (lua, -2, "__newindex");
  lua_pushboolean (lua, FALSE);
  lua_setfield (lua, -2, "__metatable");
  lua_setmetatable (lua, -2);
  lua_rawsetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_environment);
}

/* The null sentinel and the metatable of arrays. The names are what Lua's
 * own messages call them. */
static void
open_types (lua_State *lua)
{
  lua_newuserdatauv (lua, 0, 0);
  lua_createtable (lua, 0, 2);
  lua_pushliteral (lua, "null");
  lua_setfield (lua, -2, "__name");
  lua_pushboolean (lua, FALSE);
  lua_setfield (lua, -2, "__metatable");
  lua_setmetatable (lua, -2);
  lua_rawsetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_null);

  lua_createtable (lua, 0, 2);
  lua_pushliteral (lua, "array");
  lua_setfield (lua, -2, "__name");
  lua_pushboolean (lua, FALSE);
  lua_setfield (lua, -2, "__metatable");
  lua_rawsetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_array);
}

static void
push_registry_table (lua_State  *lua,
                     const void *key)
{
  lua_newtable (lua);
  lua_pushvalue (lua, -1);
  lua_rawsetp (lua, LUA_REGISTRYINDEX, key);
}

/* Fills a new state; each part gets the table of the names on top of the
 * stack. */
void
_khadim_script_sandbox_open (lua_State *lua)
{
  open_types (lua);
  open_environment (lua);
  push_registry_table (lua, &_khadim_script_key_cache);
  push_registry_table (lua, &_khadim_script_key_scopes);
  push_registry_table (lua, &_khadim_script_key_builtins);

  _khadim_script_base_open (lua);
  _khadim_script_math_open (lua);
  _khadim_script_string_open (lua);
  _khadim_script_table_open (lua);
  _khadim_script_json_open (lua);
  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_null);
  lua_setfield (lua, -2, "null");
}
