/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

#include <stdlib.h>
#include <string.h>

/* The order of keys. Lua's own depends on the addresses and the time with
 * which it seeds its hashes; a run that is played again must go the same way,
 * so here keys go: numbers, texts by their bytes, false, true. */

typedef enum {
  RANK_NUMBER,
  RANK_TEXT,
  RANK_FALSE,
  RANK_TRUE,
  RANK_NONE,
} Rank;

typedef struct {
  Rank rank;
  gboolean is_integer;
  lua_Integer integer;
  double number;
  const char *text; /* borrowed from the table */
  size_t length;
} Key;

static Key
key_read (lua_State *lua,
          int        index)
{
  Key key = { .rank = RANK_NONE };

  switch (lua_type (lua, index))
    {
    case LUA_TNUMBER:
      key.rank = RANK_NUMBER;
      key.is_integer = lua_isinteger (lua, index) != 0;
      key.integer = lua_tointeger (lua, index);
      key.number = lua_tonumber (lua, index);
      break;
    case LUA_TSTRING:
      key.rank = RANK_TEXT;
      key.text = lua_tolstring (lua, index, &key.length);
      break;
    case LUA_TBOOLEAN:
      key.rank = lua_toboolean (lua, index) ? RANK_TRUE : RANK_FALSE;
      break;
    default:
      break;
    }

  return key;
}

static void
key_push (lua_State *lua,
          const Key *key)
{
  if (key->rank == RANK_TEXT)
    lua_pushlstring (lua, key->text, key->length);
  else if (key->rank != RANK_NUMBER)
    lua_pushboolean (lua, key->rank == RANK_TRUE);
  else if (key->is_integer)
    lua_pushinteger (lua, key->integer);
  else
    lua_pushnumber (lua, key->number);
}

static int
key_compare_numbers (const Key *a,
                     const Key *b)
{
  if (a->is_integer && b->is_integer)
    return (a->integer > b->integer) - (a->integer < b->integer);
  if (a->number < b->number || a->number > b->number)
    return a->number < b->number ? -1 : 1;

  return b->is_integer - a->is_integer;
}

static int
key_compare (const void *first,
             const void *second)
{
  const Key *a = first;
  const Key *b = second;
  int order;

  if (a->rank != b->rank)
    return a->rank < b->rank ? -1 : 1;
  if (a->rank == RANK_NUMBER)
    return key_compare_numbers (a, b);
  if (a->rank != RANK_TEXT)
    return 0;

  order = memcmp (a->text, b->text, MIN (a->length, b->length));
  if (order != 0)
    return order;

  return (a->length > b->length) - (a->length < b->length);
}

static void
check_key (lua_State *lua,
           const Key *key)
{
  if (key->rank == RANK_NONE)
    luaL_error (lua, "a table with keys that are not numbers, texts or booleans has no order");
}

static guint
count_keys (lua_State *lua,
            int        index)
{
  guint n_keys = 0;
  guint64 steps = 0;

  lua_pushnil (lua);
  while (lua_next (lua, index) != 0)
    {
      n_keys++;
      if (lua_type (lua, -2) == LUA_TSTRING)
        steps += lua_rawlen (lua, -2) / 16;
      lua_pop (lua, 1);
    }
  _khadim_script_charge (lua, steps + (guint64) n_keys * (g_bit_storage (n_keys) + 1));

  return n_keys;
}

/* Pushes an array of the keys of the table at @index, in order. */
void
_khadim_script_order_push_keys (lua_State *lua,
                                int        index)
{
  guint n_keys = count_keys (lua, index);
  Key *keys = lua_newuserdatauv (lua, MAX (n_keys, 1) * sizeof (Key), 0);
  guint i = 0;

  lua_pushnil (lua);
  while (lua_next (lua, index) != 0)
    {
      lua_pop (lua, 1);
      keys[i] = key_read (lua, -1);
      check_key (lua, &keys[i]);
      i++;
    }
  qsort (keys, n_keys, sizeof (Key), key_compare);

  lua_createtable (lua, (int) n_keys, 0);
  for (i = 0; i < n_keys; i++)
    {
      key_push (lua, &keys[i]);
      lua_rawseti (lua, -2, (lua_Integer) i + 1);
    }
  lua_remove (lua, -2);
}

/* Pushes the key after the one at @key_index, or nil; nil comes before the
 * first. Looks at every key: for a walk there is pairs(). */
void
_khadim_script_order_push_next (lua_State *lua,
                                int        index,
                                int        key_index)
{
  gboolean from_start = lua_isnil (lua, key_index);
  Key after = key_read (lua, key_index);
  Key best = { .rank = RANK_NONE };

  if (!from_start)
    check_key (lua, &after);
  count_keys (lua, index);

  lua_pushnil (lua);
  while (lua_next (lua, index) != 0)
    {
      Key key;

      lua_pop (lua, 1);
      key = key_read (lua, -1);
      check_key (lua, &key);
      if ((from_start || key_compare (&key, &after) > 0) && key_compare (&key, &best) < 0)
        best = key;
    }

  if (best.rank == RANK_NONE)
    lua_pushnil (lua);
  else
    key_push (lua, &best);
}
