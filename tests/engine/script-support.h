/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What the tests of the interpreter share; each includes it once. */

#pragma once

#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "engine/json/khadim-json.h"
#include "engine/script/khadim-script.h"

typedef struct {
  KhadimScript *script;
} Fixture;

static inline void
setup (Fixture      *fixture,
       gconstpointer data)
{
  fixture->script = khadim_script_new (1);
}

static inline void
teardown (Fixture      *fixture,
          gconstpointer data)
{
  g_assert_finalize_object (fixture->script);
}

static inline JsonNode *
parse (const char *text)
{
  g_autoptr(GError) error = NULL;
  JsonNode *node = khadim_json_parse (text, -1, NULL, &error);

  g_assert_no_error (error);

  return node;
}

static inline void
assert_node (JsonNode   *node,
             const char *expected)
{
  g_autofree char *text = khadim_json_to_string (node);

  g_assert_cmpstr (text, ==, expected);
}

static inline void
assert_value (KhadimScript *script,
              const char   *expression,
              const char   *expected)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = khadim_script_evaluate (script, expression, &error);

  g_assert_no_error (error);
  assert_node (node, expected);
}

static inline void
assert_message (GError     *error,
                int         code,
                const char *expected)
{
  g_assert_error (error, KHADIM_ENGINE_ERROR, code);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  g_assert_cmpuint (strlen (error->message), <=, KHADIM_SCRIPT_MAX_MESSAGE_BYTES + 256);
  if (strstr (error->message, expected) == NULL || strstr (error->message, "[string") != NULL
      || strstr (error->message, "0x") != NULL)
    g_error ("“%s” is not in “%s”, or what should not be is", expected, error->message);
}

static inline void
assert_fault (KhadimScript *script,
              const char   *expression,
              int           code,
              const char   *expected)
{
  g_autoptr(GError) error = NULL;

  g_test_message ("%.200s", expression);
  g_assert_null (khadim_script_evaluate (script, expression, &error));
  assert_message (error, code, expected);
}

static inline void
assert_run (KhadimScript *script,
            const char   *code,
            const char   *expected)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = khadim_script_run (script, code, &error);

  g_assert_no_error (error);
  assert_node (node, expected);
}

static inline void
assert_run_fault (KhadimScript *script,
                  const char   *source,
                  int           code,
                  const char   *expected)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (khadim_script_run (script, source, &error));
  assert_message (error, code, expected);
}

static inline void
set (KhadimScript *script,
     const char   *name,
     const char   *json)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = parse (json);

  g_assert_true (khadim_script_set (script, name, node, &error));
  g_assert_no_error (error);
}

/* Lua itself, with all of its library: the oracle, and the control that shows
 * that what the sandbox refuses works elsewhere. Returns what the code
 * returns, as text, or NULL if it fails. */
static inline char *
run_plain (const char *code)
{
  lua_State *lua = luaL_newstate ();
  char *result = NULL;

  luaL_openlibs (lua);
  if (luaL_dostring (lua, code) == LUA_OK)
    result = g_strdup (luaL_tolstring (lua, -1, NULL));
  else
    g_test_message ("Lua: %s", lua_tostring (lua, -1));
  lua_close (lua);

  return result;
}

#define ADD(name, func) g_test_add (SUITE name, Fixture, NULL, setup, func, teardown)
