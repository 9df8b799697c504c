/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

#include <string.h>

/* string and utf8. What Lua's own library does in one pass over its
 * arguments is taken from there and counted as work by their length. */

static const char *const from_string[] = {
  "byte", "char", "len", "lower", "reverse", "sub", "upper",
};

static const char *const from_utf8[] = {
  "char", "codepoint", "len", "offset",
};

/* Fills @total bytes at @to with the first @unit of them, by doubling. */
static void
fill_repeated (char  *to,
               gsize  unit,
               gsize  total)
{
  for (gsize done = unit; done < total; done *= 2)
    memcpy (to + done, to, MIN (done, total - done));
}

static int
string_rep (lua_State *lua)
{
  size_t length;
  size_t separator_length;
  const char *text = luaL_checklstring (lua, 1, &length);
  lua_Integer times = luaL_checkinteger (lua, 2);
  const char *separator = luaL_optlstring (lua, 3, "", &separator_length);
  gsize unit = length + separator_length;
  luaL_Buffer buffer;
  gsize total;
  char *to;

  if (times <= 0 || unit == 0)
    {
      lua_pushliteral (lua, "");
      return 1;
    }
  if (unit > KHADIM_SCRIPT_MAX_STRING_BYTES / (guint64) times)
    _khadim_script_raise_limit (lua, KHADIM_SCRIPT_LIMIT_STRING);

  total = unit * (gsize) times;
  to = luaL_buffinitsize (lua, &buffer, total);
  memcpy (to, text, length);
  memcpy (to + length, separator, separator_length);
  fill_repeated (to, unit, total);
  luaL_pushresultsize (&buffer, total - separator_length);

  return 1;
}

/* The iterator of utf8.codes(): from the position of one character to that of
 * the next. Lua's own may run over any number of bytes at once. */
static int
codes_next (lua_State *lua)
{
  size_t length;
  const char *text = luaL_checklstring (lua, 1, &length);
  lua_Integer offset = luaL_checkinteger (lua, 2);
  gunichar character;

  luaL_argcheck (lua, offset >= 0 && offset <= (lua_Integer) length, 2, "out of bounds");
  if (offset > 0)
    offset += g_utf8_skip[(guint8) text[offset - 1]] - 1;
  if (offset >= (lua_Integer) length)
    return 0;

  character = g_utf8_get_char_validated (text + offset, (gssize) length - (gssize) offset);
  if (character >= 0x110000)
    return luaL_error (lua, "invalid UTF-8 code");
  lua_pushinteger (lua, offset + 1);
  lua_pushinteger (lua, character);

  return 2;
}

static int
utf8_codes (lua_State *lua)
{
  luaL_checkstring (lua, 1);
  lua_pushcfunction (lua, codes_next);
  lua_pushvalue (lua, 1);
  lua_pushinteger (lua, 0);

  return 3;
}

/* Takes functions of the library on top of the stack into the table below
 * it, with their work counted. */
static void
take_charged (lua_State         *lua,
              const char *const *names,
              gsize              n_names)
{
  for (gsize i = 0; i < n_names; i++)
    {
      lua_getfield (lua, -1, names[i]);
      _khadim_script_sandbox_push_charged (lua, lua_tocfunction (lua, -1));
      lua_setfield (lua, -4, names[i]);
      lua_pop (lua, 1);
    }
}

/* Makes ("x"):upper() find the bounded functions and hides the metatable;
 * the arithmetic on texts that Lua's library has put there stays. */
static void
set_string_metatable (lua_State *lua,
                      int        library)
{
  lua_pushliteral (lua, "");
  lua_getmetatable (lua, -1);
  lua_pushvalue (lua, library);
  lua_setfield (lua, -2, "__index");
  lua_pushboolean (lua, FALSE);
  lua_setfield (lua, -2, "__metatable");
  lua_pop (lua, 2);
}

void
_khadim_script_string_open (lua_State *lua)
{
  lua_newtable (lua);
  luaopen_string (lua);
  take_charged (lua, from_string, G_N_ELEMENTS (from_string));
  lua_pop (lua, 1);
  lua_pushcfunction (lua, string_rep);
  lua_setfield (lua, -2, "rep");
  _khadim_script_search_open (lua);
  _khadim_script_format_open (lua);
  _khadim_script_sandbox_protect (lua, "string");
  set_string_metatable (lua, lua_absindex (lua, -1));
  lua_setfield (lua, -2, "string");

  lua_newtable (lua);
  luaopen_utf8 (lua);
  take_charged (lua, from_utf8, G_N_ELEMENTS (from_utf8));
  lua_getfield (lua, -1, "charpattern");
  lua_setfield (lua, -3, "charpattern");
  lua_pop (lua, 1);
  lua_pushcfunction (lua, utf8_codes);
  lua_setfield (lua, -2, "codes");
  _khadim_script_sandbox_protect (lua, "utf8");
  lua_setfield (lua, -2, "utf8");
}
