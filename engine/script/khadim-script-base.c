/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

#include <math.h>
#include <string.h>

/* The functions without a table, and math. What Lua's own library has and
 * what is bounded and the same each time is taken from there. */

static const char *const from_base[] = {
  "assert", "error", "ipairs", "rawequal", "rawlen", "select",
};

static const char *const from_math[] = {
  "abs", "acos", "asin", "atan", "ceil", "cos", "deg", "exp", "floor", "fmod", "huge",
  "log", "max", "maxinteger", "min", "mininteger", "modf", "pi", "rad", "sin", "sqrt",
  "tan", "tointeger", "type", "ult",
};

static int
base_next (lua_State *lua)
{
  _khadim_script_sandbox_check_table (lua, 1);
  lua_settop (lua, 2);
  _khadim_script_order_push_next (lua, 1, 2);
  if (lua_isnil (lua, -1))
    return 1;

  lua_pushvalue (lua, -1);
  lua_rawget (lua, 1);

  return 2;
}

/* Upvalues: the table, its keys as they were at the start, the position.
 * Keys removed since then are left out. */
static int
pairs_next (lua_State *lua)
{
  lua_Integer position = lua_tointeger (lua, lua_upvalueindex (3));

  do
    {
      lua_settop (lua, 0);
      _khadim_script_charge (lua, 1);
      position++;
      if (lua_rawgeti (lua, lua_upvalueindex (2), position) == LUA_TNIL)
        return 1;
      lua_pushvalue (lua, -1);
    }
  while (lua_rawget (lua, lua_upvalueindex (1)) == LUA_TNIL);

  lua_pushinteger (lua, position);
  lua_replace (lua, lua_upvalueindex (3));

  return 2;
}

static int
base_pairs (lua_State *lua)
{
  _khadim_script_sandbox_check_table (lua, 1);
  lua_pushvalue (lua, 1);
  _khadim_script_order_push_keys (lua, 1);
  lua_pushinteger (lua, 0);
  lua_pushcclosure (lua, pairs_next, 3);

  return 1;
}

static int
base_pcall (lua_State *lua)
{
  int status;

  luaL_checkany (lua, 1);
  status = _khadim_script_protect (lua, lua_gettop (lua) - 1);
  if (status == LUA_OK)
    {
      lua_pushboolean (lua, TRUE);
      lua_insert (lua, 1);
      return lua_gettop (lua);
    }

  lua_pushboolean (lua, FALSE);
  if (lua_type (lua, -2) == LUA_TSTRING)
    _khadim_script_push_clean (lua, -2);
  else
    lua_pushvalue (lua, -2);

  return 2;
}

static int
base_type (lua_State *lua)
{
  luaL_checkany (lua, 1);
  if (_khadim_script_value_is_null (lua, 1))
    lua_pushliteral (lua, "null");
  else
    lua_pushstring (lua, luaL_typename (lua, 1));

  return 1;
}

/* Pushes a value as text; nothing in it depends on an address. */
const char *
_khadim_script_base_push_text (lua_State *lua,
                               int        index,
                               size_t    *out_length)
{
  switch (lua_type (lua, index))
    {
    case LUA_TSTRING:
      lua_pushvalue (lua, index);
      break;
    case LUA_TNUMBER:
      if (!lua_isinteger (lua, index) && isnan (lua_tonumber (lua, index)))
        lua_pushliteral (lua, "nan");
      else
        lua_pushvalue (lua, index);
      break;
    case LUA_TBOOLEAN:
      lua_pushstring (lua, lua_toboolean (lua, index) ? "true" : "false");
      break;
    case LUA_TUSERDATA:
      lua_pushliteral (lua, "null");
      break;
    case LUA_TTABLE:
      lua_pushstring (lua, _khadim_script_value_is_array (lua, index) ? "array" : "table");
      break;
    default:
      lua_pushstring (lua, luaL_typename (lua, index));
      break;
    }

  return lua_tolstring (lua, -1, out_length);
}

static int
base_tostring (lua_State *lua)
{
  luaL_checkany (lua, 1);
  _khadim_script_base_push_text (lua, 1, NULL);

  return 1;
}

/* len(): characters of a text, elements of an array, members of a table. */
static int
base_len (lua_State *lua)
{
  lua_Integer n = 0;

  if (lua_type (lua, 1) == LUA_TSTRING)
    {
      size_t length;
      const char *text = lua_tolstring (lua, 1, &length);

      _khadim_script_charge (lua, length / 8);
      luaL_argcheck (lua, g_utf8_validate_len (text, length, NULL), 1, "text is not UTF-8");
      lua_pushinteger (lua, g_utf8_strlen (text, (gssize) length));
      return 1;
    }

  _khadim_script_sandbox_check_table (lua, 1);
  if (_khadim_script_value_is_array (lua, 1) || lua_rawlen (lua, 1) > 0)
    {
      lua_pushinteger (lua, (lua_Integer) lua_rawlen (lua, 1));
      return 1;
    }

  lua_pushnil (lua);
  while (lua_next (lua, 1) != 0)
    {
      n++;
      lua_pop (lua, 1);
    }
  _khadim_script_charge (lua, (guint64) n);
  lua_pushinteger (lua, n);

  return 1;
}

static int
base_defined (lua_State *lua)
{
  luaL_checkstring (lua, 1);
  lua_pushboolean (lua, _khadim_script_scopes_find (lua, 1));

  return 1;
}

/* Takes the named functions out of the library on top of the stack into the
 * table below it. */
static void
take (lua_State         *lua,
      const char *const *names,
      gsize              n_names)
{
  for (gsize i = 0; i < n_names; i++)
    {
      lua_getfield (lua, -1, names[i]);
      lua_setfield (lua, -3, names[i]);
    }
}

void
_khadim_script_base_open (lua_State *lua)
{
  static const luaL_Reg functions[] = {
    { "defined", base_defined },
    { "len", base_len },
    { "next", base_next },
    { "pairs", base_pairs },
    { "pcall", base_pcall },
    { "tostring", base_tostring },
    { "type", base_type },
    { NULL, NULL },
  };

  luaL_setfuncs (lua, functions, 0);

  /* The library opens into the table of globals, which no code sees here. */
  luaopen_base (lua);
  take (lua, from_base, G_N_ELEMENTS (from_base));
  lua_getfield (lua, -1, "tonumber");
  _khadim_script_sandbox_push_charged (lua, lua_tocfunction (lua, -1));
  lua_setfield (lua, -4, "tonumber");
  lua_pop (lua, 2);
  lua_newtable (lua);
  lua_rawseti (lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}

static guint64
rotate_left (guint64 x,
             guint   bits)
{
  return (x << bits) | (x >> (64 - bits));
}

/* xoshiro256** 1.0 by Blackman and Vigna. */
static guint64
random_next (KhadimScriptState *state)
{
  guint64 *s = state->random;
  guint64 result = rotate_left (s[1] * 5, 7) * 9;
  guint64 t = s[1] << 17;

  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate_left (s[3], 45);

  return result;
}

/* Even in 0 to @limit: what would make the low ones likelier is thrown
 * away. */
static guint64
random_up_to (KhadimScriptState *state,
              guint64            limit)
{
  guint64 mask = G_MAXUINT64;
  guint64 value;

  while ((mask >> 1) >= limit && mask > 0)
    mask >>= 1;
  do
    value = random_next (state) & mask;
  while (value > limit);

  return value;
}

/* random (), random (m), random (m, n), random (0) as in Lua's manual. */
static int
math_random (lua_State *lua)
{
  KhadimScriptState *state = _khadim_script_state_get (lua);
  lua_Integer low = 1;
  lua_Integer high;

  switch (lua_gettop (lua))
    {
    case 0:
      lua_pushnumber (lua, (double) (random_next (state) >> 11) * 0x1.0p-53);
      return 1;
    case 1:
      high = luaL_checkinteger (lua, 1);
      if (high == 0)
        {
          lua_pushinteger (lua, (lua_Integer) random_next (state));
          return 1;
        }
      break;
    case 2:
      low = luaL_checkinteger (lua, 1);
      high = luaL_checkinteger (lua, 2);
      break;
    default:
      return luaL_error (lua, "wrong number of arguments");
    }

  luaL_argcheck (lua, low <= high, lua_gettop (lua), "interval is empty");
  lua_pushinteger (lua, (lua_Integer) ((guint64) low
                                       + random_up_to (state, (guint64) high - (guint64) low)));

  return 1;
}

void
_khadim_script_math_open (lua_State *lua)
{
  lua_newtable (lua);
  luaopen_math (lua);
  take (lua, from_math, G_N_ELEMENTS (from_math));
  lua_pop (lua, 1);
  lua_pushcfunction (lua, math_random);
  lua_setfield (lua, -2, "random");
  _khadim_script_sandbox_protect (lua, "math");
  lua_setfield (lua, -2, "math");
}
