/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* The interpreter beside Lua itself with its own library, on the same code,
 * in turns. One JSON object on stdout: microseconds of the best round, and
 * how many times longer ours takes. */

#define G_LOG_DOMAIN "bench-script"

#include "config.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "engine/json/khadim-json.h"
#include "engine/script/khadim-script.h"

#define ROUNDS 7
#define N_EVALUATIONS 20000

static const char *const codes[][2] = {
  { "arithmetic", "local s = 0 for i = 1, 1000000 do s = s + i % 7 end return s" },
  { "variables", "x = 0 for i = 1, 200000 do x = x + 1 end return x" },
  { "tables", "local t = {} for i = 1, 200000 do t[i] = i * 2 end return #t" },
  { "pairs", "local t = {} for i = 1, 50000 do t['k' .. i] = i end local n = 0 "
             "for k, v in pairs (t) do n = n + v end return n" },
  { "sort", "local t = {} for i = 1, 50000 do t[i] = (i * 7919) % 100003 end table.sort (t) "
            "return t[1]" },
  { "find", "local s, n = ('some words and 12345 numbers '):rep (20), 0 "
            "for i = 1, 5000 do if s:find ('(%d+) numbers $') then n = n + 1 end end return n" },
  { "gsub", "local s, n = ('row 17 of 200; '):rep (2000), 0 "
            "for i = 1, 10 do n = n + select (2, s:gsub ('%d+', '<%0>')) end return n" },
  { "format", "local n = 0 for i = 1, 50000 do n = n + #('%05d %s %.2f'):format (i, 'x', i / 3) "
              "end return n" },
};

static gint64
time_ours (KhadimScript *script,
           const char   *code)
{
  g_autoptr(GError) error = NULL;
  gint64 start = g_get_monotonic_time ();
  g_autoptr(JsonNode) node = khadim_script_run (script, code, &error);
  gint64 time = g_get_monotonic_time () - start;

  g_assert_no_error (error);
  g_assert_nonnull (node);

  return time;
}

static gint64
time_theirs (lua_State  *lua,
             const char *code)
{
  gint64 start = g_get_monotonic_time ();
  int status = luaL_dostring (lua, code);
  gint64 time = g_get_monotonic_time () - start;

  g_assert_cmpint (status, ==, LUA_OK);
  lua_settop (lua, 0);

  return time;
}

static void
print_pair (const char *name,
            gint64      ours,
            gint64      theirs)
{
  char ratio[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (ratio, sizeof ratio, "%.2f", (double) ours / (double) MAX (theirs, 1));
  g_print ("{\"name\":\"%s\",\"khadim_us\":%" G_GINT64_FORMAT ",\"lua_us\":%" G_GINT64_FORMAT
           ",\"ratio\":%s},", name, ours, theirs, ratio);
}

static void
run_codes (KhadimScript *script,
           lua_State    *lua)
{
  for (guint i = 0; i < G_N_ELEMENTS (codes); i++)
    {
      gint64 best[2] = { G_MAXINT64, G_MAXINT64 };

      for (guint round = 0; round < ROUNDS; round++)
        {
          gint64 ours = time_ours (script, codes[i][1]);
          gint64 theirs = time_theirs (lua, codes[i][1]);

          best[0] = MIN (best[0], ours);
          best[1] = MIN (best[1], theirs);
        }
      print_pair (codes[i][0], best[0], best[1]);
    }
}

/* What a loop of a document asks for: nanoseconds for one. */
static gint64
time_condition (KhadimScript *script)
{
  gint64 start = g_get_monotonic_time ();
  gboolean value = FALSE;

  for (guint i = 0; i < N_EVALUATIONS; i++)
    khadim_script_test (script, "row.total > 100 and row.name ~= ''", &value, NULL);
  g_assert_true (value);

  return (g_get_monotonic_time () - start) * 1000 / N_EVALUATIONS;
}

static gint64
time_template (KhadimScript *script)
{
  gint64 start = g_get_monotonic_time ();

  for (guint i = 0; i < N_EVALUATIONS; i++)
    g_free (khadim_script_expand_string (script, "{{ row.name }}: {{ row.total * 2 }}", NULL));

  return (g_get_monotonic_time () - start) * 1000 / N_EVALUATIONS;
}

static gint64
time_start (void)
{
  gint64 start = g_get_monotonic_time ();

  for (guint i = 0; i < 200; i++)
    g_object_unref (khadim_script_new (i));

  return (g_get_monotonic_time () - start) * 1000 / 200;
}

int
main (int    argc,
      char **argv)
{
  g_autoptr(KhadimScript) script = khadim_script_new (1);
  g_autoptr(JsonNode) row = khadim_json_parse ("{\"total\":150,\"name\":\"Bolts\"}", -1, NULL,
                                               NULL);
  lua_State *lua = luaL_newstate ();

  luaL_openlibs (lua);
  khadim_script_set (script, "row", row, NULL);
  g_print ("{\"benchmark\":\"script\",\"cases\":[");
  run_codes (script, lua);
  g_print ("{\"name\":\"condition\",\"khadim_ns\":%" G_GINT64_FORMAT "},", time_condition (script));
  g_print ("{\"name\":\"template\",\"khadim_ns\":%" G_GINT64_FORMAT "},", time_template (script));
  g_print ("{\"name\":\"start\",\"khadim_ns\":%" G_GINT64_FORMAT "}]}\n", time_start ());
  lua_close (lua);

  return 0;
}
