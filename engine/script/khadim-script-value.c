/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

#include <math.h>
#include <string.h>

/* Values between JSON and Lua: null is one sentinel, an array is a table with
 * the array metatable, integers stay integers. The way out walks tables raw,
 * so that it raises nothing and may hold memory of its own. */

typedef struct {
  lua_State *lua; /* borrowed */
  GString *path; /* owned */
  const void *ancestors[KHADIM_SCRIPT_MAX_VALUE_DEPTH + 1];
  guint depth;
  KhadimScriptSize *size; /* borrowed */
  GError **error;
} Reader;

static JsonNode *read_value (Reader *reader,
                             int     index);

gboolean
_khadim_script_value_is_null (lua_State *lua,
                              int        index)
{
  gboolean is_null;

  if (lua_type (lua, index) != LUA_TUSERDATA)
    return FALSE;

  index = lua_absindex (lua, index);
  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_null);
  is_null = lua_rawequal (lua, index, -1) != 0;
  lua_pop (lua, 1);

  return is_null;
}

gboolean
_khadim_script_value_is_array (lua_State *lua,
                               int        index)
{
  gboolean is_array;

  if (lua_getmetatable (lua, index) == 0)
    return FALSE;

  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_array);
  is_array = lua_rawequal (lua, -1, -2) != 0;
  lua_pop (lua, 2);

  return is_array;
}

static void push_value (lua_State *lua,
                        JsonNode  *node,
                        guint      depth);

static void
push_array (lua_State *lua,
            JsonArray *array,
            guint      depth)
{
  guint length = json_array_get_length (array);

  lua_createtable (lua, (int) length, 0);
  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_array);
  lua_setmetatable (lua, -2);

  for (guint i = 0; i < length; i++)
    {
      push_value (lua, json_array_get_element (array, i), depth + 1);
      lua_rawseti (lua, -2, (lua_Integer) i + 1);
    }
}

static void
push_object (lua_State  *lua,
             JsonObject *object,
             guint       depth)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  lua_createtable (lua, 0, (int) json_object_get_size (object));
  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, &member))
    {
      lua_pushstring (lua, name);
      push_value (lua, member, depth + 1);
      lua_rawset (lua, -3);
    }
}

static void
push_scalar (lua_State *lua,
             JsonNode  *node)
{
  GType type = json_node_get_value_type (node);

  if (type == G_TYPE_INT64)
    lua_pushinteger (lua, json_node_get_int (node));
  else if (type == G_TYPE_DOUBLE)
    lua_pushnumber (lua, json_node_get_double (node));
  else if (type == G_TYPE_BOOLEAN)
    lua_pushboolean (lua, json_node_get_boolean (node));
  else
    lua_pushstring (lua, json_node_get_string (node));
}

static void
push_value (lua_State *lua,
            JsonNode  *node,
            guint      depth)
{
  if (depth > KHADIM_SCRIPT_MAX_VALUE_DEPTH)
    _khadim_script_raise_limit (lua, KHADIM_SCRIPT_LIMIT_VALUE);

  luaL_checkstack (lua, 8, NULL);
  switch (json_node_get_node_type (node))
    {
    case JSON_NODE_NULL:
      lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_null);
      break;
    case JSON_NODE_ARRAY:
      push_array (lua, json_node_get_array (node), depth);
      break;
    case JSON_NODE_OBJECT:
      push_object (lua, json_node_get_object (node), depth);
      break;
    case JSON_NODE_VALUE:
    default:
      push_scalar (lua, node);
      break;
    }
}

/* Pushes a copy of @node. */
void
_khadim_script_value_push (lua_State *lua,
                           JsonNode  *node)
{
  push_value (lua, node, 0);
}

static JsonNode *
reader_refuse (Reader     *reader,
               int         code,
               const char *what)
{
  if (reader->path->len > 0)
    g_set_error (reader->error, KHADIM_ENGINE_ERROR, code, "“%s” %s", reader->path->str, what);
  else
    g_set_error (reader->error, KHADIM_ENGINE_ERROR, code, "The value %s", what);

  return NULL;
}

static JsonNode *
read_number (Reader *reader,
             int     index)
{
  double number;

  if (lua_isinteger (reader->lua, index))
    return json_node_init_int (json_node_alloc (), lua_tointeger (reader->lua, index));

  number = lua_tonumber (reader->lua, index);
  if (isnan (number))
    return reader_refuse (reader, KHADIM_ENGINE_ERROR_INVALID, "is not a number (NaN)");
  if (isinf (number))
    return reader_refuse (reader, KHADIM_ENGINE_ERROR_INVALID, "is an infinite number");

  return json_node_init_double (json_node_alloc (), number);
}

/* Whether a text can stand in JSON; adds it to the size. */
static gboolean
check_text (Reader     *reader,
            const char *text,
            size_t      length)
{
  reader->size->n_bytes += length;
  if (reader->size->n_bytes > KHADIM_SCRIPT_MAX_VALUE_BYTES)
    {
      reader_refuse (reader, KHADIM_ENGINE_ERROR_LIMIT, "holds more than 16 MiB of text");
      return FALSE;
    }
  if (memchr (text, '\0', length) != NULL)
    {
      reader_refuse (reader, KHADIM_ENGINE_ERROR_INVALID, "holds a text with a NUL in it");
      return FALSE;
    }
  if (!g_utf8_validate_len (text, length, NULL))
    {
      reader_refuse (reader, KHADIM_ENGINE_ERROR_INVALID, "holds a text that is not UTF-8");
      return FALSE;
    }

  return TRUE;
}

static JsonNode *
read_string (Reader *reader,
             int     index)
{
  size_t length;
  const char *text = lua_tolstring (reader->lua, index, &length);

  if (!check_text (reader, text, length))
    return NULL;

  return json_node_init_string (json_node_alloc (), text);
}

/* Whether the keys are 1 to @length and nothing else. */
static gboolean
has_only_elements (lua_State *lua,
                   int        index,
                   lua_Integer length)
{
  lua_Integer n_keys = 0;

  lua_pushnil (lua);
  while (lua_next (lua, index) != 0)
    {
      lua_pop (lua, 1);
      if (!lua_isinteger (lua, -1) || lua_tointeger (lua, -1) < 1
          || lua_tointeger (lua, -1) > length)
        {
          lua_pop (lua, 1);
          return FALSE;
        }
      n_keys++;
    }

  return n_keys == length;
}

static JsonNode *
read_elements (Reader *reader,
               int     index)
{
  lua_State *lua = reader->lua;
  lua_Integer length = (lua_Integer) lua_rawlen (lua, index);
  gsize path_length = reader->path->len;
  g_autoptr(JsonArray) array = NULL;

  if (!has_only_elements (lua, index, length))
    return reader_refuse (reader, KHADIM_ENGINE_ERROR_INVALID,
                          "is an array with a gap or with names in it");

  array = json_array_sized_new ((guint) length);
  for (lua_Integer i = 0; i < length; i++)
    {
      JsonNode *element;

      g_string_append_printf (reader->path, "[%d]", (int) i);
      lua_rawgeti (lua, index, i + 1);
      element = read_value (reader, -1);
      lua_pop (lua, 1);
      if (element == NULL)
        return NULL;
      json_array_add_element (array, element);
      g_string_truncate (reader->path, path_length);
    }

  return json_node_init_array (json_node_alloc (), array);
}

typedef struct {
  const char *name; /* borrowed from the table */
  JsonNode *value; /* owned until it is in the object */
} Member;

static void
member_clear (gpointer data)
{
  Member *member = data;

  g_clear_pointer (&member->value, json_node_unref);
}

static int
member_compare (gconstpointer a,
                gconstpointer b)
{
  return strcmp (((const Member *) a)->name, ((const Member *) b)->name);
}

/* Reads the member whose key and value are on top of the stack. */
static gboolean
read_member (Reader *reader,
             GArray *members)
{
  gsize path_length = reader->path->len;
  Member member = { NULL, NULL };
  size_t length;

  if (lua_type (reader->lua, -2) != LUA_TSTRING)
    {
      reader_refuse (reader, KHADIM_ENGINE_ERROR_INVALID, "has a key that is not text");
      return FALSE;
    }

  member.name = lua_tolstring (reader->lua, -2, &length);
  if (!check_text (reader, member.name, length))
    return FALSE;

  if (path_length > 0)
    g_string_append_c (reader->path, '.');
  g_string_append (reader->path, member.name);
  member.value = read_value (reader, -1);
  if (member.value == NULL)
    return FALSE;

  g_string_truncate (reader->path, path_length);
  g_array_append_val (members, member);

  return TRUE;
}

/* The members come in the order of their names, so that equal tables give
 * equal text. */
static JsonNode *
read_members (Reader *reader,
              int     index)
{
  g_autoptr(GArray) members = g_array_new (FALSE, FALSE, sizeof (Member));
  g_autoptr(JsonObject) object = json_object_new ();

  g_array_set_clear_func (members, member_clear);
  lua_pushnil (reader->lua);
  while (lua_next (reader->lua, index) != 0)
    {
      if (!read_member (reader, members))
        return NULL;
      lua_pop (reader->lua, 1);
    }

  g_array_sort (members, member_compare);
  for (guint i = 0; i < members->len; i++)
    {
      Member *member = &g_array_index (members, Member, i);

      json_object_set_member (object, member->name, g_steal_pointer (&member->value));
    }

  return json_node_init_object (json_node_alloc (), object);
}

static gboolean
contains_itself (Reader     *reader,
                 const void *table)
{
  for (guint i = 0; i < reader->depth; i++)
    {
      if (reader->ancestors[i] == table)
        return TRUE;
    }

  return FALSE;
}

static JsonNode *
read_table (Reader *reader,
            int     index)
{
  lua_State *lua = reader->lua;
  const void *table = lua_topointer (lua, index);
  gboolean is_array = _khadim_script_value_is_array (lua, index);
  JsonNode *node;

  if (contains_itself (reader, table))
    return reader_refuse (reader, KHADIM_ENGINE_ERROR_INVALID, "contains itself");
  if (reader->depth >= KHADIM_SCRIPT_MAX_VALUE_DEPTH || !lua_checkstack (lua, 8))
    return reader_refuse (reader, KHADIM_ENGINE_ERROR_LIMIT, "is nested too deep");
  if (!is_array && lua_getmetatable (lua, index) != 0)
    return reader_refuse (reader, KHADIM_ENGINE_ERROR_INVALID,
                          "is a part of the language, which is no value");

  reader->ancestors[reader->depth++] = table;
  if (is_array || lua_rawlen (lua, index) > 0)
    node = read_elements (reader, index);
  else
    node = read_members (reader, index);
  reader->depth--;

  return node;
}

static JsonNode *
read_value (Reader *reader,
            int     index)
{
  lua_State *lua = reader->lua;

  index = lua_absindex (lua, index);
  if (++reader->size->n_nodes > KHADIM_SCRIPT_MAX_VALUE_NODES)
    return reader_refuse (reader, KHADIM_ENGINE_ERROR_LIMIT, "holds more than a million values");

  switch (lua_type (lua, index))
    {
    case LUA_TNIL:
      return json_node_init_null (json_node_alloc ());
    case LUA_TBOOLEAN:
      return json_node_init_boolean (json_node_alloc (), lua_toboolean (lua, index));
    case LUA_TNUMBER:
      return read_number (reader, index);
    case LUA_TSTRING:
      return read_string (reader, index);
    case LUA_TTABLE:
      return read_table (reader, index);
    case LUA_TFUNCTION:
      return reader_refuse (reader, KHADIM_ENGINE_ERROR_INVALID,
                            "is a function, which is no value");
    default:
      if (_khadim_script_value_is_null (lua, index))
        return json_node_init_null (json_node_alloc ());
      return reader_refuse (reader, KHADIM_ENGINE_ERROR_INVALID, "is no value");
    }
}

/* Copies the value at @index out; raises nothing and leaves the stack as it
 * was. nil becomes null. What it holds is added to @size, which is NULL for a
 * value by itself. */
JsonNode *
_khadim_script_value_to_json (lua_State         *lua,
                              int                index,
                              KhadimScriptSize  *size,
                              GError           **error)
{
  g_autoptr(GString) path = g_string_new (NULL);
  KhadimScriptSize own_size = { 0, 0 };
  Reader reader = {
    .lua = lua,
    .path = path,
    .size = size != NULL ? size : &own_size,
    .error = error,
  };
  int top = lua_gettop (lua);
  JsonNode *node;

  if (!lua_checkstack (lua, 8))
    return reader_refuse (&reader, KHADIM_ENGINE_ERROR_LIMIT, "is nested too deep");

  node = read_value (&reader, index);
  lua_settop (lua, top);

  return node;
}
