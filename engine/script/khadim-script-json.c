/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"

/* json. What is not Lua's own lies in boxes, so that an error frees it. */

static int
json_encode (lua_State *lua)
{
  GError **error = (GError **) _khadim_script_push_box (lua, (GDestroyNotify) g_error_free);
  JsonNode **node = (JsonNode **) _khadim_script_push_box (lua, (GDestroyNotify) json_node_unref);
  char **text = (char **) _khadim_script_push_box (lua, g_free);

  luaL_checkany (lua, 1);
  *node = _khadim_script_value_to_json (lua, 1, NULL, error);
  if (*node == NULL)
    _khadim_script_raise (lua, *error);

  *text = khadim_json_to_string (*node);
  if (strlen (*text) > KHADIM_SCRIPT_MAX_STRING_BYTES)
    _khadim_script_raise_limit (lua, KHADIM_SCRIPT_LIMIT_STRING);
  _khadim_script_charge (lua, strlen (*text) / 2);
  lua_pushstring (lua, *text);

  return 1;
}

static int
json_decode (lua_State *lua)
{
  const KhadimJsonLimits limits = {
    .max_depth = KHADIM_SCRIPT_MAX_VALUE_DEPTH,
    .max_bytes = KHADIM_SCRIPT_MAX_VALUE_BYTES,
    .max_values = KHADIM_SCRIPT_MAX_VALUE_NODES,
  };
  size_t length;
  const char *text = luaL_checklstring (lua, 1, &length);
  GError **error = (GError **) _khadim_script_push_box (lua, (GDestroyNotify) g_error_free);
  JsonNode **node = (JsonNode **) _khadim_script_push_box (lua, (GDestroyNotify) json_node_unref);

  _khadim_script_charge (lua, length / 2);
  *node = khadim_json_parse (text, (gssize) length, &limits, error);
  if (*node == NULL)
    _khadim_script_raise (lua, *error);
  _khadim_script_value_push (lua, *node);

  return 1;
}

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
    { "decode", json_decode },
    { "encode", json_encode },
    { NULL, NULL },
  };

  luaL_newlib (lua, functions);
  _khadim_script_sandbox_protect (lua, "json");
  lua_setfield (lua, -2, "json");
}
