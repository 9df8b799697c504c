/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

/* json. */

/* json.array (t): marks a list as an array, so that it is [] when empty. */
static int
json_array (lua_State *lua)
{
  if (lua_isnoneornil (lua, 1))
    lua_newtable (lua);
  else
    {
      _khadim_script_sandbox_check_table (lua, 1);
      lua_settop (lua, 1);
    }
  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_array);
  lua_setmetatable (lua, -2);

  return 1;
}

void
_khadim_script_json_open (lua_State *lua)
{
  static const luaL_Reg functions[] = {
    { "array", json_array },
    { NULL, NULL },
  };

  luaL_newlib (lua, functions);
  _khadim_script_sandbox_protect (lua, "json");
  lua_setfield (lua, -2, "json");
}
