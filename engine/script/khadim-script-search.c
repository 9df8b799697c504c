/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

#include <string.h>

#include "engine/script/khadim-script-pattern.h"

/* string.find, match, gmatch and gsub, as in the Lua 5.4 Reference Manual,
 * 6.4, but for bounds on their arguments and their work. */

/* A step of matching is less than an instruction of Lua: so many are one. */
#define STEPS_PER_INSTRUCTION 8

/* Upvalues of the iterator of gmatch() */
enum {
  GMATCH_SUBJECT = 1,
  GMATCH_PATTERN,
  GMATCH_POSITION,
  GMATCH_LAST,
};

/* Pushes the compiled form of the pattern at @index. */
static KhadimPattern *
push_pattern (lua_State *lua,
              int        index,
              gboolean   may_anchor)
{
  size_t length;
  const char *source = luaL_checklstring (lua, index, &length);
  gsize items_bytes = _khadim_pattern_items_needed (length) * sizeof (KhadimPatternItem);
  KhadimPattern *pattern;
  const char *fault;

  if (length > KHADIM_SCRIPT_MAX_PATTERN_BYTES)
    _khadim_script_raise_limit (lua, KHADIM_SCRIPT_LIMIT_PATTERN);

  _khadim_script_charge (lua, length);
  pattern = lua_newuserdatauv (lua, sizeof *pattern + items_bytes, 0);
  memset (pattern, 0, sizeof *pattern + items_bytes);
  fault = _khadim_pattern_compile (pattern, (KhadimPatternItem *) (pattern + 1), source, length,
                                   may_anchor);
  if (fault != NULL)
    luaL_error (lua, "%s", fault);

  return pattern;
}

static const char *
check_subject (lua_State *lua,
               int        index,
               size_t    *out_length)
{
  const char *subject = luaL_checklstring (lua, index, out_length);

  if (*out_length > KHADIM_SCRIPT_MAX_SUBJECT_BYTES)
    _khadim_script_raise_limit (lua, KHADIM_SCRIPT_LIMIT_SUBJECT);

  return subject;
}

/* Matches at one place with what is left of the call's budget. */
static const guint8 *
match_at (lua_State     *lua,
          KhadimPattern *pattern,
          const guint8  *at)
{
  KhadimScriptState *state = _khadim_script_state_get (lua);
  guint64 budget = KHADIM_SCRIPT_MAX_STEPS - MIN (state->steps, KHADIM_SCRIPT_MAX_STEPS);
  const guint8 *end;

  budget *= STEPS_PER_INSTRUCTION;
  end = _khadim_pattern_match_at (pattern, at, budget);
  if (pattern->exhausted)
    _khadim_script_raise_limit (lua, KHADIM_SCRIPT_LIMIT_STEPS);

  pattern->steps_owed += budget - pattern->steps_left + 1;
  _khadim_script_charge (lua, pattern->steps_owed / STEPS_PER_INSTRUCTION);
  pattern->steps_owed %= STEPS_PER_INSTRUCTION;

  return end;
}

/* The first match from @at on, not ending at @not_end; its end is put in
 * @out_end. */
static const guint8 *
match_from (lua_State      *lua,
            KhadimPattern  *pattern,
            const guint8   *at,
            const guint8   *not_end,
            const guint8  **out_end)
{
  for (; at <= pattern->subject_end; at++)
    {
      const guint8 *end = match_at (lua, pattern, at);

      if (end != NULL && end != not_end)
        {
          *out_end = end;
          return at;
        }
      if (pattern->anchored)
        break;
    }

  return NULL;
}

static void
push_capture (lua_State           *lua,
              const KhadimPattern *pattern,
              guint                index)
{
  const KhadimPatternCapture *capture = &pattern->captures[index];

  if (capture->length == KHADIM_PATTERN_POSITION)
    lua_pushinteger (lua, capture->start - pattern->subject + 1);
  else
    lua_pushlstring (lua, (const char *) capture->start, (size_t) capture->length);
}

/* Pushes the captures; the whole match if there are none and @whole. */
static int
push_captures (lua_State           *lua,
               const KhadimPattern *pattern,
               const guint8        *start,
               const guint8        *end,
               gboolean             whole)
{
  if (pattern->n_captures == 0 && whole)
    {
      lua_pushlstring (lua, (const char *) start, (size_t) (end - start));
      return 1;
    }

  luaL_checkstack (lua, (int) pattern->n_captures, "too many captures");
  for (guint i = 0; i < pattern->n_captures; i++)
    push_capture (lua, pattern, i);

  return (int) pattern->n_captures;
}

/* The argument init: a position from 1, from the end if negative. Returns the
 * offset, or -1 if it lies behind the end. */
static gssize
check_start (lua_State *lua,
             int        index,
             size_t     length)
{
  lua_Integer position = luaL_optinteger (lua, index, 1);

  if (position < 0)
    position = position < -(lua_Integer) length ? 1 : (lua_Integer) length + position + 1;
  if (position == 0)
    position = 1;

  return position - 1 > (lua_Integer) length ? -1 : (gssize) (position - 1);
}

static int
find_plain (lua_State  *lua,
            const char *subject,
            size_t      length,
            gsize       start)
{
  size_t text_length;
  const char *text = luaL_checklstring (lua, 2, &text_length);
  const char *found;

  _khadim_script_charge (lua, (length - start + text_length) / 16 + 1);
  found = memmem (subject + start, length - start, text, text_length);
  if (found == NULL)
    {
      lua_pushnil (lua);
      return 1;
    }

  lua_pushinteger (lua, found - subject + 1);
  lua_pushinteger (lua, found - subject + (lua_Integer) text_length);

  return 2;
}

static gboolean
has_specials (lua_State *lua,
              int        index)
{
  size_t length;
  const char *source = luaL_checklstring (lua, index, &length);

  for (size_t i = 0; i < length; i++)
    {
      if (source[i] != '\0' && strchr ("^$*+?.([%-", source[i]) != NULL)
        return TRUE;
    }

  return FALSE;
}

static int
find_or_match (lua_State *lua,
               gboolean   find)
{
  size_t length;
  const char *subject = check_subject (lua, 1, &length);
  gssize start = check_start (lua, 3, length);
  KhadimPattern *pattern;
  const guint8 *found;
  const guint8 *end = NULL;
  int n_results = 0;

  if (start >= 0 && find && (lua_toboolean (lua, 4) || !has_specials (lua, 2)))
    return find_plain (lua, subject, length, (gsize) start);

  pattern = push_pattern (lua, 2, TRUE);
  _khadim_pattern_set_subject (pattern, subject, length);
  found = start < 0 ? NULL
                    : match_from (lua, pattern, pattern->subject + start, NULL, &end);
  if (found == NULL)
    {
      lua_pushnil (lua);
      return 1;
    }

  if (find)
    {
      lua_pushinteger (lua, found - pattern->subject + 1);
      lua_pushinteger (lua, end - pattern->subject);
      n_results = 2;
    }

  return n_results + push_captures (lua, pattern, found, end, !find);
}

static int
string_find (lua_State *lua)
{
  return find_or_match (lua, TRUE);
}

static int
string_match (lua_State *lua)
{
  return find_or_match (lua, FALSE);
}

static int
gmatch_next (lua_State *lua)
{
  size_t length;
  const char *subject = lua_tolstring (lua, lua_upvalueindex (GMATCH_SUBJECT), &length);
  KhadimPattern *pattern = lua_touserdata (lua, lua_upvalueindex (GMATCH_PATTERN));
  lua_Integer position = lua_tointeger (lua, lua_upvalueindex (GMATCH_POSITION));
  lua_Integer last = lua_tointeger (lua, lua_upvalueindex (GMATCH_LAST));
  const guint8 *found;
  const guint8 *end = NULL;

  _khadim_pattern_set_subject (pattern, subject, length);
  if (position > (lua_Integer) length)
    return 0;
  found = match_from (lua, pattern, pattern->subject + position,
                      last < 0 ? NULL : pattern->subject + last, &end);
  if (found == NULL)
    {
      lua_pushinteger (lua, (lua_Integer) length + 1);
      lua_replace (lua, lua_upvalueindex (GMATCH_POSITION));
      return 0;
    }

  lua_pushinteger (lua, end - pattern->subject);
  lua_pushvalue (lua, -1);
  lua_replace (lua, lua_upvalueindex (GMATCH_POSITION));
  lua_replace (lua, lua_upvalueindex (GMATCH_LAST));

  return push_captures (lua, pattern, found, end, TRUE);
}

static int
string_gmatch (lua_State *lua)
{
  size_t length;
  gssize start;

  check_subject (lua, 1, &length);
  start = check_start (lua, 3, length);
  lua_settop (lua, 2);
  lua_pushvalue (lua, 1);
  push_pattern (lua, 2, FALSE);
  lua_pushinteger (lua, start < 0 ? (lua_Integer) length + 1 : (lua_Integer) start);
  lua_pushinteger (lua, -1);
  lua_pushcclosure (lua, gmatch_next, 4);

  return 1;
}

typedef struct {
  lua_State *lua;
  KhadimPattern *pattern;
  const guint8 *start; /* of the match */
  const guint8 *end;
  luaL_Buffer buffer;
} Substitution;

static void
check_result_size (Substitution *sub)
{
  if (luaL_bufflen (&sub->buffer) > KHADIM_SCRIPT_MAX_STRING_BYTES)
    _khadim_script_raise_limit (sub->lua, KHADIM_SCRIPT_LIMIT_STRING);
}

/* Appends capture @number, where 0 is the match, and 1 too if there are no
 * captures. */
static void
add_capture (Substitution *sub,
             guint         number)
{
  if (number == 0 || (number == 1 && sub->pattern->n_captures == 0))
    luaL_addlstring (&sub->buffer, (const char *) sub->start, (size_t) (sub->end - sub->start));
  else if (number > sub->pattern->n_captures)
    luaL_error (sub->lua, "invalid capture index %%%d in replacement string", (int) number);
  else
    {
      push_capture (sub->lua, sub->pattern, number - 1);
      luaL_addvalue (&sub->buffer);
    }
}

static void
add_template (Substitution *sub)
{
  size_t length;
  const char *text = lua_tolstring (sub->lua, 3, &length);

  _khadim_script_charge (sub->lua, length / 16);
  for (size_t i = 0; i < length; i++)
    {
      if (text[i] != '%')
        {
          luaL_addchar (&sub->buffer, text[i]);
          continue;
        }

      i++;
      if (i < length && text[i] == '%')
        luaL_addchar (&sub->buffer, '%');
      else if (i < length && g_ascii_isdigit (text[i]))
        add_capture (sub, (guint) (text[i] - '0'));
      else
        luaL_error (sub->lua, "invalid use of '%%' in replacement string");
      check_result_size (sub);
    }
}

/* Appends what the table or the function at 3 gives for the match. */
static void
add_looked_up (Substitution *sub)
{
  lua_State *lua = sub->lua;

  if (lua_istable (lua, 3))
    {
      if (sub->pattern->n_captures > 0)
        push_capture (lua, sub->pattern, 0);
      else
        push_captures (lua, sub->pattern, sub->start, sub->end, TRUE);
      lua_rawget (lua, 3);
    }
  else
    {
      lua_pushvalue (lua, 3);
      _khadim_script_enter (lua);
      lua_call (lua, push_captures (lua, sub->pattern, sub->start, sub->end, TRUE), 1);
      _khadim_script_leave (lua);
    }

  if (!lua_toboolean (lua, -1))
    {
      lua_pop (lua, 1);
      lua_pushlstring (lua, (const char *) sub->start, (size_t) (sub->end - sub->start));
    }
  else if (!lua_isstring (lua, -1))
    luaL_error (lua, "invalid replacement value (a %s)", luaL_typename (lua, -1));

  luaL_addvalue (&sub->buffer);
}

static void
check_replacement (lua_State *lua)
{
  int type = lua_type (lua, 3);

  luaL_argexpected (lua,
                    type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TTABLE
                      || type == LUA_TFUNCTION,
                    3, "string/function/table");
  if (type == LUA_TTABLE)
    _khadim_script_sandbox_check_table (lua, 3);
  else if (type == LUA_TNUMBER)
    lua_tostring (lua, 3);
}

static int
string_gsub (lua_State *lua)
{
  size_t length;
  const char *subject = check_subject (lua, 1, &length);
  lua_Integer max_n = luaL_optinteger (lua, 4, (lua_Integer) length + 1);
  Substitution sub = { .lua = lua };
  const guint8 *at;
  const guint8 *last = NULL;
  lua_Integer n = 0;

  check_replacement (lua);
  sub.pattern = push_pattern (lua, 2, TRUE);
  _khadim_pattern_set_subject (sub.pattern, subject, length);
  luaL_buffinit (lua, &sub.buffer);

  at = sub.pattern->subject;
  while (n < max_n)
    {
      sub.start = at;
      sub.end = match_at (lua, sub.pattern, at);
      if (sub.end != NULL && sub.end != last)
        {
          n++;
          if (lua_type (lua, 3) == LUA_TSTRING)
            add_template (&sub);
          else
            add_looked_up (&sub);
          at = last = sub.end;
        }
      else if (at < sub.pattern->subject_end)
        luaL_addchar (&sub.buffer, (char) *at++);
      else
        break;

      check_result_size (&sub);
      if (sub.pattern->anchored)
        break;
    }

  luaL_addlstring (&sub.buffer, (const char *) at, (size_t) (sub.pattern->subject_end - at));
  check_result_size (&sub);
  luaL_pushresult (&sub.buffer);
  lua_pushinteger (lua, n);

  return 2;
}

/* Adds the functions to the table on top of the stack. */
void
_khadim_script_search_open (lua_State *lua)
{
  static const luaL_Reg functions[] = {
    { "find", string_find },
    { "gmatch", string_gmatch },
    { "gsub", string_gsub },
    { "match", string_match },
    { NULL, NULL },
  };

  luaL_setfuncs (lua, functions, 0);
}
