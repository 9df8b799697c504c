/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

/* Variables lie in one table a scope; the tables are made when something is
 * put into them. Element 1 is the global scope. */

static void
push_scope_table (lua_State *lua,
                  int        scopes,
                  guint      level,
                  gboolean   create)
{
  if (lua_rawgeti (lua, scopes, (lua_Integer) level) == LUA_TTABLE || !create)
    return;

  lua_pop (lua, 1);
  lua_newtable (lua);
  lua_pushvalue (lua, -1);
  lua_rawseti (lua, scopes, (lua_Integer) level);
}

/* The innermost level that has @name, with its value left on the stack; 0 and
 * nothing pushed if none has. */
static guint
find_level (lua_State  *lua,
            int         scopes,
            const char *name)
{
  for (guint level = _khadim_script_state_get (lua)->n_scopes + 1; level > 0; level--)
    {
      push_scope_table (lua, scopes, level, FALSE);
      if (lua_istable (lua, -1))
        {
          lua_pushstring (lua, name);
          if (lua_rawget (lua, -2) != LUA_TNIL)
            {
              lua_remove (lua, -2);
              return level;
            }
          lua_pop (lua, 1);
        }
      lua_pop (lua, 1);
    }

  return 0;
}

/* Pushes the value of a variable; if there is none, pushes nothing and
 * returns FALSE. */
gboolean
_khadim_script_scopes_find (lua_State  *lua,
                            const char *name)
{
  int scopes;

  luaL_checkstack (lua, 6, NULL);
  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_scopes);
  scopes = lua_absindex (lua, -1);
  if (find_level (lua, scopes, name) == 0)
    {
      lua_remove (lua, scopes);
      return FALSE;
    }
  lua_remove (lua, scopes);

  return TRUE;
}

/* Pops a value and gives it to the variable @name: in the innermost scope if
 * @local, else in the innermost that has it, else in the global one. nil
 * removes. */
void
_khadim_script_scopes_assign (lua_State  *lua,
                              const char *name,
                              gboolean    local)
{
  guint level = _khadim_script_state_get (lua)->n_scopes + 1;
  int value = lua_gettop (lua);
  int scopes;

  luaL_checkstack (lua, 8, NULL);
  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_scopes);
  scopes = lua_absindex (lua, -1);
  if (!local)
    level = MAX (find_level (lua, scopes, name), 1);

  push_scope_table (lua, scopes, level, TRUE);
  lua_pushstring (lua, name);
  lua_pushvalue (lua, value);
  lua_rawset (lua, -3);
  lua_settop (lua, value - 1);
}

static void
copy_members (lua_State *lua,
              int        from,
              int        to)
{
  lua_pushnil (lua);
  while (lua_next (lua, from) != 0)
    {
      lua_pushvalue (lua, -2);
      lua_insert (lua, -2);
      lua_rawset (lua, to);
    }
}

/* Pushes a table of all variables, the inner ones before the outer. */
void
_khadim_script_scopes_push_all (lua_State *lua)
{
  guint n_levels = _khadim_script_state_get (lua)->n_scopes + 1;
  int all;
  int scopes;

  lua_newtable (lua);
  all = lua_absindex (lua, -1);
  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_scopes);
  scopes = lua_absindex (lua, -1);
  for (guint level = 1; level <= n_levels; level++)
    {
      push_scope_table (lua, scopes, level, FALSE);
      if (lua_istable (lua, -1))
        copy_members (lua, lua_absindex (lua, -1), all);
      lua_pop (lua, 1);
    }
  lua_settop (lua, all);
}

/* Empties the innermost scope. Takes no memory, and so raises nothing. */
void
_khadim_script_scopes_drop (lua_State *lua)
{
  lua_Integer level = (lua_Integer) _khadim_script_state_get (lua)->n_scopes + 1;

  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_scopes);
  if (lua_rawgeti (lua, -1, level) == LUA_TTABLE)
    {
      lua_pushnil (lua);
      lua_rawseti (lua, -3, level);
    }
  lua_pop (lua, 2);
}
