/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

/* Variables lie in one table a scope; the tables are made when something is
 * put into them. Element 1 is the global scope. */

/* Pushes the table of a scope, which is made if need be. */
static void
push_scope_table (lua_State *lua,
                  int        scopes,
                  guint      level)
{
  if (lua_rawgeti (lua, scopes, (lua_Integer) level) == LUA_TTABLE)
    return;

  lua_pop (lua, 1);
  lua_newtable (lua);
  lua_pushvalue (lua, -1);
  lua_rawseti (lua, scopes, (lua_Integer) level);
}

/* The innermost level that has the name at @name, with its value left on the
 * stack; 0 and nothing pushed if none has. */
static guint
find_level (lua_State *lua,
            int        scopes,
            int        name)
{
  for (guint level = _khadim_script_state_get (lua)->n_scopes + 1; level > 0; level--)
    {
      if (lua_rawgeti (lua, scopes, (lua_Integer) level) == LUA_TTABLE)
        {
          lua_pushvalue (lua, name);
          if (lua_rawget (lua, -2) != LUA_TNIL)
            {
              lua_replace (lua, -2);
              return level;
            }
          lua_pop (lua, 1);
        }
      lua_pop (lua, 1);
    }

  return 0;
}

/* Pushes the value of the variable whose name is at @name; if there is none,
 * pushes nothing and returns FALSE. */
gboolean
_khadim_script_scopes_find (lua_State *lua,
                            int        name)
{
  int scopes;

  name = lua_absindex (lua, name);
  luaL_checkstack (lua, 6, NULL);
  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_scopes);
  scopes = lua_gettop (lua);
  if (find_level (lua, scopes, name) == 0)
    {
      lua_pop (lua, 1);
      return FALSE;
    }
  lua_replace (lua, scopes);

  return TRUE;
}

/* Gives the value on top of the stack to the variable whose name is below it,
 * and pops both: in the innermost scope if @local, else in the innermost that
 * has it, else in the global one. nil removes. A name that is not set yet is
 * checked. */
void
_khadim_script_scopes_assign (lua_State *lua,
                              gboolean   local)
{
  guint level = _khadim_script_state_get (lua)->n_scopes + 1;
  int value = lua_gettop (lua);
  int name = value - 1;
  int scopes;

  luaL_checkstack (lua, 8, NULL);
  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_scopes);
  scopes = lua_gettop (lua);
  if (!local)
    level = find_level (lua, scopes, name);
  if (local || level == 0)
    {
      const char *text = lua_tostring (lua, name);

      if (!khadim_script_is_name (text))
        luaL_error (lua, "“%s” cannot be the name of a variable", text);
      level = MAX (level, 1);
    }

  push_scope_table (lua, scopes, level);
  lua_pushvalue (lua, name);
  lua_pushvalue (lua, value);
  lua_rawset (lua, -3);
  lua_settop (lua, name - 1);
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

/* Pushes the value of @name in the scope at @scope without taking memory, for
 * the functions below that raise nothing. */
static gboolean
push_member (lua_State  *lua,
             int         scope,
             const char *name)
{
  lua_pushnil (lua);
  while (lua_next (lua, scope) != 0)
    {
      if (g_str_equal (lua_tostring (lua, -2), name))
        {
          lua_remove (lua, -2);
          return TRUE;
        }
      lua_pop (lua, 1);
    }

  return FALSE;
}

/* Copies a variable out; NULL if it is not set or no value. Raises nothing. */
JsonNode *
_khadim_script_scopes_read (lua_State  *lua,
                            const char *name)
{
  int top = lua_gettop (lua);
  JsonNode *value = NULL;

  if (!lua_checkstack (lua, 6))
    return NULL;

  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_scopes);
  for (guint level = _khadim_script_state_get (lua)->n_scopes + 1; level > 0; level--)
    {
      lua_settop (lua, top + 1);
      if (lua_rawgeti (lua, top + 1, (lua_Integer) level) == LUA_TTABLE
          && push_member (lua, top + 2, name))
        {
          value = _khadim_script_value_to_json (lua, -1, NULL, NULL);
          break;
        }
    }
  lua_settop (lua, top);

  return value;
}

/* Adds the names of the scope on top of the stack, with the index of the
 * scope. */
static void
add_names (lua_State  *lua,
           GHashTable *names,
           guint       level)
{
  int scope = lua_gettop (lua);

  lua_pushnil (lua);
  while (lua_next (lua, scope) != 0)
    {
      g_hash_table_replace (names, g_strdup (lua_tostring (lua, -2)), GUINT_TO_POINTER (level));
      lua_pop (lua, 1);
    }
}

static GHashTable *
list_names (lua_State *lua,
            int        scopes)
{
  GHashTable *names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint level = 1; level <= _khadim_script_state_get (lua)->n_scopes + 1; level++)
    {
      if (lua_rawgeti (lua, scopes, (lua_Integer) level) == LUA_TTABLE)
        add_names (lua, names, level);
      lua_pop (lua, 1);
    }

  return names;
}

/* The variable on top of the stack for a snapshot: NULL if it is no value, a
 * text about it if it is too large. */
static JsonNode *
read_for_snapshot (lua_State        *lua,
                   KhadimScriptSize *size)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *text = NULL;
  KhadimScriptSize before = *size;
  JsonNode *value = _khadim_script_value_to_json (lua, -1, size, &error);

  if (value != NULL)
    return value;

  *size = before;
  if (!g_error_matches (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT))
    return NULL;
  text = g_strdup_printf ("‹%s›", error->message);

  return json_node_init_string (json_node_alloc (), text);
}

static int
compare_names (gconstpointer a,
               gconstpointer b)
{
  return g_strcmp0 (a, b);
}

/* Copies all variables out, the inner ones before the outer. Takes no memory
 * of Lua's, and raises nothing. */
JsonObject *
_khadim_script_scopes_snapshot (lua_State *lua)
{
  JsonObject *object = json_object_new ();
  int top = lua_gettop (lua);
  KhadimScriptSize size = { 0, 0 };
  g_autoptr(GHashTable) names = NULL;
  g_autoptr(GList) sorted = NULL;

  if (!lua_checkstack (lua, 8))
    return object;

  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_scopes);
  names = list_names (lua, top + 1);
  sorted = g_list_sort (g_hash_table_get_keys (names), compare_names);
  for (GList *name = sorted; name != NULL; name = name->next)
    {
      guint level = GPOINTER_TO_UINT (g_hash_table_lookup (names, name->data));
      JsonNode *value;

      lua_rawgeti (lua, top + 1, (lua_Integer) level);
      push_member (lua, top + 2, name->data);
      value = read_for_snapshot (lua, &size);
      if (value != NULL)
        json_object_set_member (object, name->data, value);
      lua_settop (lua, top + 1);
    }
  lua_settop (lua, top);

  return object;
}
