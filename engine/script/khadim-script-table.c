/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

/* table. All functions work raw on a script's own tables and count what they
 * do; sort() is a merge sort, as Lua's own picks its pivots by the clock. */

/* Elements that unpack() gives at once, bounded by Lua's stack. */
#define MAX_UNPACK 10000

static lua_Integer
check_list (lua_State *lua)
{
  _khadim_script_sandbox_check_table (lua, 1);

  return (lua_Integer) lua_rawlen (lua, 1);
}

static int
table_concat (lua_State *lua)
{
  lua_Integer length = check_list (lua);
  size_t separator_length;
  const char *separator = luaL_optlstring (lua, 2, "", &separator_length);
  lua_Integer first = luaL_optinteger (lua, 3, 1);
  lua_Integer last = luaL_optinteger (lua, 4, length);
  gsize n_bytes = 0;
  luaL_Buffer buffer;

  luaL_buffinit (lua, &buffer);
  for (lua_Integer i = first; i <= last; i++)
    {
      int type = lua_rawgeti (lua, 1, i);

      if (type != LUA_TSTRING && type != LUA_TNUMBER)
        return luaL_error (lua, "element %d is %s, which cannot be joined as text", (int) i,
                           luaL_typename (lua, -1));
      n_bytes += lua_rawlen (lua, -1) + separator_length;
      if (n_bytes > KHADIM_SCRIPT_MAX_STRING_BYTES)
        _khadim_script_raise_limit (lua, KHADIM_SCRIPT_LIMIT_STRING);
      _khadim_script_charge (lua, 1);
      luaL_addvalue (&buffer);
      if (i == last)
        break;
      luaL_addlstring (&buffer, separator, separator_length);
    }
  luaL_pushresult (&buffer);

  return 1;
}

static int
table_insert (lua_State *lua)
{
  lua_Integer end = check_list (lua) + 1;
  lua_Integer position = end;

  if (lua_gettop (lua) == 3)
    {
      position = luaL_checkinteger (lua, 2);
      luaL_argcheck (lua, position >= 1 && position <= end, 2, "position is out of bounds");
    }
  else if (lua_gettop (lua) != 2)
    return luaL_error (lua, "wrong number of arguments to “insert”");

  _khadim_script_charge (lua, 2 * (guint64) (end - position) + 1);
  for (lua_Integer i = end; i > position; i--)
    {
      lua_rawgeti (lua, 1, i - 1);
      lua_rawseti (lua, 1, i);
    }
  lua_rawseti (lua, 1, position);

  return 0;
}

static int
table_remove (lua_State *lua)
{
  lua_Integer length = check_list (lua);
  lua_Integer position = luaL_optinteger (lua, 2, length);

  if (lua_gettop (lua) > 1)
    luaL_argcheck (lua, position >= MIN (length, 1) && position <= length + 1, 2,
                   "position is out of bounds");

  lua_rawgeti (lua, 1, position);
  if (length == 0)
    return 1;

  _khadim_script_charge (lua, 2 * (guint64) (length - MIN (position, length)) + 1);
  for (; position < length; position++)
    {
      lua_rawgeti (lua, 1, position + 1);
      lua_rawseti (lua, 1, position);
    }
  lua_pushnil (lua);
  lua_rawseti (lua, 1, position);

  return 1;
}

static int
table_unpack (lua_State *lua)
{
  lua_Integer length = check_list (lua);
  lua_Integer first = luaL_optinteger (lua, 2, 1);
  lua_Integer last = luaL_optinteger (lua, 3, length);

  if (first > last)
    return 0;
  if ((guint64) last - (guint64) first >= MAX_UNPACK)
    return luaL_error (lua, "more than %d elements to unpack", MAX_UNPACK);

  luaL_checkstack (lua, (int) (last - first) + 1, NULL);
  _khadim_script_charge (lua, (guint64) (last - first) + 1);
  for (lua_Integer i = first; i < last; i++)
    lua_rawgeti (lua, 1, i);
  lua_rawgeti (lua, 1, last);

  return (int) (last - first) + 1;
}

/* Whether the element at @a comes after the one at @b: only then a merge
 * takes the later one first, so equal ones keep their order. */
static gboolean
comes_after (lua_State *lua,
             int        a,
             int        b)
{
  gboolean after;

  if (!lua_isfunction (lua, 2))
    return lua_compare (lua, b, a, LUA_OPLT) != 0;

  lua_pushvalue (lua, 2);
  lua_pushvalue (lua, b - 1);
  lua_pushvalue (lua, a - 2);
  lua_call (lua, 2, 1);
  after = lua_toboolean (lua, -1) != 0;
  lua_pop (lua, 1);

  return after;
}

/* Merges @middle - @left and @right - @middle elements of the table at
 * @from, both in order, into the one at @to. */
static void
merge (lua_State  *lua,
       int         from,
       int         to,
       lua_Integer left,
       lua_Integer middle,
       lua_Integer right)
{
  lua_Integer a = left;
  lua_Integer b = middle;

  for (lua_Integer i = left; i < right; i++)
    {
      gboolean take_right;

      _khadim_script_charge (lua, 2);
      if (a == middle || b == right)
        {
          lua_rawgeti (lua, from, a == middle ? b++ : a++);
          lua_rawseti (lua, to, i);
          continue;
        }

      lua_rawgeti (lua, from, a);
      lua_rawgeti (lua, from, b);
      take_right = comes_after (lua, -2, -1);
      if (take_right)
        b++;
      else
        {
          a++;
          lua_insert (lua, -2);
        }
      lua_rawseti (lua, to, i);
      lua_pop (lua, 1);
    }
}

static void
copy_elements (lua_State  *lua,
               int         from,
               int         to,
               lua_Integer length)
{
  _khadim_script_charge (lua, (guint64) length);
  for (lua_Integer i = 1; i <= length; i++)
    {
      lua_rawgeti (lua, from, i);
      lua_rawseti (lua, to, i);
    }
}

/* The list changes at the end only: an error on the way leaves it as it
 * was. */
static int
table_sort (lua_State *lua)
{
  lua_Integer length = check_list (lua);
  int from = 3;
  int to = 4;

  if (!lua_isnoneornil (lua, 2))
    luaL_checktype (lua, 2, LUA_TFUNCTION);

  lua_settop (lua, 2);
  lua_createtable (lua, (int) MIN (length, G_MAXINT), 0);
  lua_createtable (lua, (int) MIN (length, G_MAXINT), 0);
  copy_elements (lua, 1, from, length);

  _khadim_script_enter (lua);
  for (lua_Integer width = 1; width < length; width *= 2)
    {
      for (lua_Integer left = 1; left <= length; left += 2 * width)
        merge (lua, from, to, left, MIN (left + width, length + 1),
               MIN (left + 2 * width, length + 1));
      from = 7 - from;
      to = 7 - to;
    }
  _khadim_script_leave (lua);
  copy_elements (lua, from, 1, length);

  return 0;
}

void
_khadim_script_table_open (lua_State *lua)
{
  static const luaL_Reg functions[] = {
    { "concat", table_concat },
    { "insert", table_insert },
    { "remove", table_remove },
    { "sort", table_sort },
    { "unpack", table_unpack },
    { NULL, NULL },
  };

  luaL_newlib (lua, functions);
  _khadim_script_sandbox_protect (lua, "table");
  lua_setfield (lua, -2, "table");
}
