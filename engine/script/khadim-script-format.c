/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

#include <stdio.h>
#include <string.h>

/* string.format, as in the Lua 5.4 Reference Manual, 6.4, without %p, whose
 * addresses differ from run to run, and %q, for which there is json.encode. */

/* The longest number: 309 digits, 99 behind the point, sign and point */
#define MAX_NUMBER 512

typedef struct {
  char text[32]; /* the specification, with its % and length modifier */
  char conversion;
  gsize width;
  gssize precision; /* -1 if there is none */
  gboolean to_left;
} Spec;

static const struct
{
  char conversion;
  const char *flags;
  gboolean has_precision;
} conversions[] = {
  { 'd', "-+0 ", TRUE }, { 'i', "-+0 ", TRUE }, { 'c', "-", FALSE }, { 's', "-", TRUE },
  { 'x', "-#0", TRUE }, { 'X', "-#0", TRUE }, { 'o', "-#0", TRUE }, { 'a', "-+#0 ", TRUE },
  { 'A', "-+#0 ", TRUE }, { 'e', "-+#0 ", TRUE }, { 'E', "-+#0 ", TRUE }, { 'f', "-+#0 ", TRUE },
  { 'F', "-+#0 ", TRUE }, { 'g', "-+#0 ", TRUE }, { 'G', "-+#0 ", TRUE },
};

/* Reads at most two digits. */
static gsize
read_digits (const char **at)
{
  gsize value = 0;

  for (guint i = 0; i < 2 && g_ascii_isdigit (**at); i++)
    value = value * 10 + (gsize) (*(*at)++ - '0');

  return value;
}

static gboolean
is_allowed (const Spec *spec,
            const char *flags,
            gsize       n_flags)
{
  for (guint i = 0; i < G_N_ELEMENTS (conversions); i++)
    {
      if (conversions[i].conversion == spec->conversion)
        return strspn (flags, conversions[i].flags) >= n_flags
               && (spec->precision < 0 || conversions[i].has_precision);
    }

  return FALSE;
}

/* Reads the specification behind the % at @at and moves on. */
static void
read_spec (lua_State   *lua,
           const char **at,
           Spec        *spec)
{
  const char *start = ++*at;
  gsize n_flags = strspn (start, "-+ #0");
  gsize length;

  spec->to_left = memchr (start, '-', n_flags) != NULL;
  *at += n_flags;
  spec->width = read_digits (at);
  spec->precision = -1;
  if (**at == '.')
    {
      ++*at;
      spec->precision = (gssize) read_digits (at);
    }
  spec->conversion = **at;
  length = (gsize) (*at - start);

  if (n_flags > 5 || !is_allowed (spec, start, n_flags))
    luaL_error (lua, "invalid conversion '%%%s' to 'format'",
                lua_pushlstring (lua, start, length + (**at != '\0')));

  ++*at;
  g_snprintf (spec->text, sizeof spec->text, "%%%.*s%s%c", (int) length, start,
              strchr ("dixXo", spec->conversion) != NULL ? "ll" : "", spec->conversion);
}

/* The format is made of checked parts and has one conversion of the right
 * type. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void
add_number (lua_State   *lua,
            luaL_Buffer *buffer,
            const Spec  *spec,
            int          argument)
{
  char text[MAX_NUMBER];
  int length;

  if (strchr ("dixXo", spec->conversion) != NULL)
    length = snprintf (text, sizeof text, spec->text,
                       (long long) luaL_checkinteger (lua, argument));
  else
    length = snprintf (text, sizeof text, spec->text, luaL_checknumber (lua, argument));

  luaL_addlstring (buffer, text, (size_t) CLAMP (length, 0, MAX_NUMBER - 1));
}
#pragma GCC diagnostic pop

static void
add_padding (luaL_Buffer *buffer,
             gsize        n)
{
  for (gsize i = 0; i < n; i++)
    luaL_addchar (buffer, ' ');
}

static void
add_text (luaL_Buffer *buffer,
          const Spec  *spec,
          const char  *text,
          gsize        length)
{
  gsize n_padding = length < spec->width ? spec->width - length : 0;

  add_padding (buffer, spec->to_left ? 0 : n_padding);
  luaL_addlstring (buffer, text, length);
  add_padding (buffer, spec->to_left ? n_padding : 0);
}

/* The text of the argument stays in its place on the stack, below the
 * buffer. */
static void
add_string (lua_State   *lua,
            luaL_Buffer *buffer,
            const Spec  *spec,
            int          argument)
{
  size_t length;
  const char *text;

  luaL_checkany (lua, argument);
  text = lua_tolstring (lua, argument, &length);
  _khadim_script_charge (lua, length / 16);
  if (spec->precision >= 0)
    length = MIN (length, (size_t) spec->precision);
  add_text (buffer, spec, text, length);
}

static void
add_conversion (lua_State   *lua,
                luaL_Buffer *buffer,
                const char **at,
                int          argument)
{
  Spec spec;

  read_spec (lua, at, &spec);
  if (spec.conversion == 's')
    add_string (lua, buffer, &spec, argument);
  else if (spec.conversion == 'c')
    {
      char byte = (char) luaL_checkinteger (lua, argument);

      add_text (buffer, &spec, &byte, 1);
    }
  else
    add_number (lua, buffer, &spec, argument);
}

/* Makes texts of the arguments that have none, before the buffer takes the
 * top of the stack; numbers keep their value. */
static void
prepare_arguments (lua_State *lua)
{
  int n_arguments = lua_gettop (lua);

  for (int i = 2; i <= n_arguments; i++)
    {
      if (lua_type (lua, i) == LUA_TNUMBER || lua_type (lua, i) == LUA_TSTRING)
        continue;
      _khadim_script_base_push_text (lua, i, NULL);
      lua_replace (lua, i);
    }
}

static int
string_format (lua_State *lua)
{
  size_t length;
  const char *format = luaL_checklstring (lua, 1, &length);
  const char *at = format;
  int argument = 1;
  luaL_Buffer buffer;

  luaL_argcheck (lua, strlen (format) == length, 1, "format has a NUL in it");
  _khadim_script_charge (lua, length);
  prepare_arguments (lua);
  luaL_buffinit (lua, &buffer);

  while (*at != '\0')
    {
      if (at[0] != '%')
        luaL_addchar (&buffer, *at++);
      else if (at[1] == '%')
        {
          luaL_addchar (&buffer, '%');
          at += 2;
        }
      else
        add_conversion (lua, &buffer, &at, ++argument);

      if (luaL_bufflen (&buffer) > KHADIM_SCRIPT_MAX_STRING_BYTES)
        _khadim_script_raise_limit (lua, KHADIM_SCRIPT_LIMIT_STRING);
    }
  luaL_pushresult (&buffer);

  return 1;
}

/* Adds format() to the table on top of the stack. */
void
_khadim_script_format_open (lua_State *lua)
{
  lua_pushcfunction (lua, string_format);
  lua_setfield (lua, -2, "format");
}
