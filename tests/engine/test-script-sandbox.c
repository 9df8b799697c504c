/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-script-sandbox"

#include "config.h"

#include "tests/engine/script-support.h"

#define SUITE "/engine/script-sandbox/"

typedef struct {
  const char *code; /* what succeeds in Lua and returns "out" */
  const char *fault; /* part of the message here */
} Escape;

/* Each of these works in Lua itself. */
static void
test_escapes (Fixture      *fixture,
              gconstpointer data)
{
  static const Escape escapes[] = {
    { "return io.open ('/etc/passwd') and 'out'", "“io” is not available" },
    { "return os.getenv ('PATH') and 'out'", "“os” is not available" },
    { "return os.time () > 0 and 'out'", "“os” is not available" },
    { "return require 'string' and 'out'", "“require” is not available" },
    { "return package.path and 'out'", "“package” is not available" },
    { "return debug.getregistry () and 'out'", "“debug” is not available" },
    { "return load 'return \"out\"' ()", "“load” is not available" },
    { "return coroutine.wrap (function () return 'out' end) ()", "“coroutine” is not" },
    { "collectgarbage () return 'out'", "“collectgarbage” is not available" },
    { "return getmetatable ('').__index and 'out'", "“getmetatable” is not available" },
    { "return setmetatable ({}, {__index = {x = 'out'}}).x", "“setmetatable” is not" },
    { "rawset (string, 'x', 'out') return string.x", "“rawset” is not available" },
    { "return rawget (string, 'len') and 'out'", "“rawget” is not available" },
    { "return _G.string and 'out'", "“_G” is not available" },
    { "return dofile and 'out'", "“dofile” is not available" },
    { "return xpcall (error, tostring) == false and 'out'", "“xpcall” is not available" },
    { "return #string.dump (function () end) > 0 and 'out'", "“string.dump” is not" },
    { "return ('').dump and 'out'", "“string.dump” is not available" },
    { "string.upper = function () return 'out' end return ('x'):upper ()", "cannot be changed" },
    { "math.pi = 3 return math.pi == 3 and 'out'", "“math” cannot be changed" },
    { "table.insert (string, 'out') return string[1]", "part of the language" },
    { "table.sort (string) return 'out'", "part of the language" },
    { "_ENV.string = {x = 'out'} return string.x", "cannot be the name" },
    { "_ENV[1] = 'out' return _ENV[1]", "cannot be the name" },
    { "table.insert (_ENV, 'out') return _ENV[1]", "part of the language" },
    { "for k in pairs (string) do return 'out' end", "part of the language" },
    { "for k in pairs (_ENV) do return 'out' end", "part of the language" },
    { "return next (_ENV) and 'out'", "part of the language" },
    { "return tostring (print):find '0x' and 'out'", "“print” is not available" },
    { "return ('%p'):format ({}) and 'out'", "invalid conversion" },
    { "math.randomseed (1) return 'out'", "“math.randomseed” is not available" },
    { "return nothing == nil and 'out'", "“nothing” is not set" },
    { "local t = setmetatable ({}, {__gc = function () OUT = 'out' end}) t = nil "
      "collectgarbage () return OUT", "“setmetatable” is not available" },
    { "do local x <close> = setmetatable ({}, {__close = function () OUT = 'out' end}) end "
      "return OUT", "“setmetatable” is not available" },
    { "do local x <close> = 1 end", "variable 'x' got a non-closable value" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (escapes); i++)
    {
      g_autofree char *plain = run_plain (escapes[i].code);

      g_test_message ("%s", escapes[i].code);
      if (strstr (escapes[i].code, "out") != NULL)
        g_assert_cmpstr (plain, ==, "out");
      assert_run_fault (fixture->script, escapes[i].code, KHADIM_ENGINE_ERROR_INVALID,
                        escapes[i].fault);
    }
}

/* No value tells its address, and no text of one does. */
static void
test_addresses (Fixture      *fixture,
                gconstpointer data)
{
  const char *code = "local t = {} for _, v in ipairs {{}, function () end, pcall} do "
                     "t[#t + 1] = tostring (v) end return table.concat (t, ' ')";
  g_autofree char *plain = run_plain (code);

  g_assert_nonnull (strstr (plain, "0x"));
  assert_run (fixture->script, code, "\"table function function\"");
  assert_run (fixture->script, "return ('%s %s'):format (json.array (), null)", "\"array null\"");
  assert_run_fault (fixture->script, "error ({})", KHADIM_ENGINE_ERROR_INVALID, "raised table");
}

/* Precompiled code is refused, whatever it does. */
static void
test_bytecode (Fixture      *fixture,
               gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *plain = run_plain ("local code = string.dump (function () return 'out' end) "
                                      "return load (code) ()");
  static const char code[] = "\x1bLua";

  g_assert_cmpstr (plain, ==, "out");
  g_assert_null (khadim_script_run (fixture->script, code, &error));
  assert_message (error, KHADIM_ENGINE_ERROR_INVALID, "attempt to load a binary chunk");
  g_clear_error (&error);
  g_assert_false (khadim_script_check_code (code, &error));
  assert_message (error, KHADIM_ENGINE_ERROR_INVALID, "binary chunk");
}

/* What reaches a limit, and what makes sure that the same a little smaller
 * does not. */
static void
test_limits (Fixture      *fixture,
             gconstpointer data)
{
  static const char *const pairs[][3] = {
    { "while true do end", "for i = 1, 100000 do end return 'in'", "steps" },
    { "::a:: goto a", "do goto a end ::a:: return 'in'", "steps" },
    { "for i = 1, 1e9 do end", "for i = 1, 1000 do end return 'in'", "steps" },
    { "local function f () return f () end f ()",
      "local function f (n) if n == 0 then return 'in' end return f (n - 1) end return f (100000)",
      "steps" },
    { "local function f () return 1 + f () end f ()",
      "local function f (n) return n == 0 and 'in' or (f (n - 1)) end return f (1000)",
      "too deep" },
    { "local function f () pcall (f) end f ()",
      "local function f (n) if n > 0 then pcall (f, n - 1) end end f (50) return 'in'",
      "too deep" },
    { "local function f () return (('x'):gsub ('x', f)) end f ()",
      "local function f (n) return n == 0 and 'in' or (('x'):gsub ('x', function () "
      "return f (n - 1) end)) end return f (50)", "too deep" },
    { "local function f () table.sort ({1, 2}, f) end f ()",
      "local n = 0 table.sort ({1, 2}, function () n = n + 1 end) return n > 0 and 'in'",
      "too deep" },
    { "local t = {} for i = 1, 1e9 do t[i] = {} end",
      "local t = {} for i = 1, 100000 do t[i] = {} end return 'in'", "memory" },
    { "local t = {} for i = 1, 1e9 do t[i] = i end",
      "local t = {} for i = 1, 500000 do t[i] = i end return 'in'", "" },
    { "local t = {} for i = 1, 1e6 do t['k' .. i] = ('x'):rep (1000) .. i end",
      "local t = {} for i = 1, 1000 do t['k' .. i] = ('x'):rep (1000) .. i end return 'in'",
      "memory" },
    { "local t = {} while true do table.insert (t, 1, 'x') end",
      "local t = {} for i = 1, 1000 do table.insert (t, 1, 'x') end return 'in'", "steps" },
    { "local t = {} for i = 1, 2e5 do t[i] = i end while true do next (t) end",
      "local t = {} for i = 1, 100 do t[i] = i end next (t) return 'in'", "steps" },
    { "local t = {} for i = 1, 2e5 do t[i] = i end while true do pairs (t) end",
      "local t = {} for i = 1, 100 do t[i] = i end pairs (t) return 'in'", "steps" },
    { "local s = ('x'):rep (1e6) while true do tonumber (s) end", "return tonumber ('1') and 'in'",
      "steps" },
    { "local s = ('ä'):rep (1e6) while true do utf8.len (s) end", "return utf8.len ('x') and 'in'",
      "steps" },
    { "local s = ('ä'):rep (1e6) while true do len (s) end", "return len ('x') and 'in'", "steps" },
    { "local s = json.encode ({('x'):rep (1e6)}) while true do json.decode (s) end",
      "return json.decode (json.encode ({'in'}))[1]", "steps" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    {
      g_autofree char *caught = g_strdup_printf (
        "for i = 1, 3 do pcall (function () pcall (function () %s end) end) end return 'caught'",
        pairs[i][0]);

      g_test_message ("%s", pairs[i][0]);
      assert_run (fixture->script, pairs[i][1], "\"in\"");
      assert_run_fault (fixture->script, pairs[i][0], KHADIM_ENGINE_ERROR_LIMIT, pairs[i][2]);
      assert_run_fault (fixture->script, caught, KHADIM_ENGINE_ERROR_LIMIT, pairs[i][2]);
    }
}

/* Errors of other kinds can be caught, so the ones above are special. */
static void
test_pcall (Fixture      *fixture,
            gconstpointer data)
{
  assert_run (fixture->script, "return {pcall (error, 'x')}", "[false,\"x\"]");
  assert_run (fixture->script, "return {pcall (function () error ('x') end)}",
              "[false,\"line 1: x\"]");
  assert_run (fixture->script, "local ok, e = pcall (error, {code = 5}) return {ok, e}",
              "[false,{\"code\":5}]");
  assert_run (fixture->script, "return {pcall (function (...) return ... end, 1, 2)}",
              "[true,1,2]");
  assert_run (fixture->script, "return {pcall (function () return gone end)}",
              "[false,\"line 1: The variable “gone” is not set\"]");
}

static void
test_error_objects (Fixture      *fixture,
                    gconstpointer data)
{
  const int invalid = KHADIM_ENGINE_ERROR_INVALID;

  assert_run_fault (fixture->script, "error ('a fault')", invalid, "line 1: a fault");
  assert_run_fault (fixture->script, "\n\nlocal x = nil + 1", invalid,
                    "line 3: attempt to perform arithmetic on a nil value");
  assert_run_fault (fixture->script, "error ({message = 'told'})", invalid, "told");
  assert_run_fault (fixture->script, "error ({message = {}})", invalid, "without a message");
  assert_run_fault (fixture->script, "error ()", invalid, "without a message");
  assert_run_fault (fixture->script, "error (12)", invalid, "12");
  assert_run_fault (fixture->script, "error (len)", invalid, "raised function");
  assert_run_fault (fixture->script, "error (null)", invalid, "without a message");
  assert_run_fault (fixture->script, "error (('x'):rep (1e6) .. '!')", invalid, "xxx");
  assert_run_fault (fixture->script, "error ('\\xff')", invalid, "\xef\xbf\xbd");
  assert_run_fault (fixture->script, "local t = {} t.x.y = 1", invalid, "field 'x'");
  assert_run_fault (fixture->script, "return null.x", invalid, "attempt to index a null value");
  assert_run_fault (fixture->script, "return null .. 'x'", invalid, "concatenate a null value");
  assert_run_fault (fixture->script, "local s = 'a", invalid, "line 1: unfinished string");
}

/* After each kind of limit the same interpreter works on, with its
 * variables. */
static void
test_usable_after_limits (Fixture      *fixture,
                          gconstpointer data)
{
  set (fixture->script, "kept", "{\"a\":[1,2]}");

  for (guint i = 0; i < 3; i++)
    {
      assert_run_fault (fixture->script, "while true do end", KHADIM_ENGINE_ERROR_LIMIT, "steps");
      assert_run_fault (fixture->script, "local t = {} while true do t = {t, t, {}} end",
                        KHADIM_ENGINE_ERROR_LIMIT, "");
      assert_run_fault (fixture->script, "local function f () return 1 + f () end f ()",
                        KHADIM_ENGINE_ERROR_LIMIT, "too deep");
      assert_value (fixture->script, "kept", "{\"a\":[1,2]}");
    }
}

/* Variables count too: an interpreter that is full says so, and is free again
 * when they are gone. */
static void
test_full_memory (Fixture      *fixture,
                  gconstpointer data)
{
  assert_run (fixture->script, "kept = {} for i = 1, 50 do kept[i] = ('x'):rep (1e6) .. i end",
              "null");
  assert_run_fault (fixture->script,
                    "local t = {} for i = 1, 50 do t[i] = ('x'):rep (1e6) .. i end",
                    KHADIM_ENGINE_ERROR_LIMIT, "memory");
  assert_value (fixture->script, "#kept", "50");
  g_assert_true (khadim_script_set (fixture->script, "kept", NULL, NULL));
  assert_run (fixture->script, "local t = {} for i = 1, 50 do t[i] = ('x'):rep (1e6) .. i end",
              "null");
}

static void
test_deep_source (Fixture      *fixture,
                  gconstpointer data)
{
  g_autofree char *open = g_strnfill (5000, '(');
  g_autofree char *close = g_strnfill (5000, ')');
  g_autofree char *deep = g_strconcat (open, "1", close, NULL);
  g_autofree char *minus = g_strnfill (5000, '~');
  g_autofree char *chain = g_strconcat (minus, "1", NULL);

  assert_fault (fixture->script, deep, KHADIM_ENGINE_ERROR_INVALID, "overflow");
  assert_fault (fixture->script, chain, KHADIM_ENGINE_ERROR_INVALID, "overflow");
  assert_value (fixture->script, "((((1))))", "1");
}

/* Two interpreters with the same seed do the same; the order of keys does not
 * depend on hashes, as it does in Lua. */
static void
test_deterministic (Fixture      *fixture,
                    gconstpointer data)
{
  const char *code =
    "local t = {} for i = 1, 100 do t['k' .. i] = i end t[3] = 1 t[-1] = 2 t[0.5] = 3 t[true] = 4 "
    "local r = {} for k in pairs (t) do r[#r + 1] = tostring (k) end "
    "for i = 1, 20 do r[#r + 1] = math.random (1000) r[#r + 1] = math.random () end "
    "return table.concat (r, ' ')";
  g_autoptr(KhadimScript) same = khadim_script_new (1);
  g_autoptr(KhadimScript) other = khadim_script_new (2);
  g_autoptr(JsonNode) first = khadim_script_run (fixture->script, code, NULL);
  g_autoptr(JsonNode) second = khadim_script_run (same, code, NULL);
  g_autoptr(JsonNode) third = khadim_script_run (other, code, NULL);

  g_assert_nonnull (first);
  g_assert_cmpstr (json_node_get_string (second), ==, json_node_get_string (first));
  g_assert_cmpstr (json_node_get_string (third), !=, json_node_get_string (first));
  g_assert_true (g_str_has_prefix (json_node_get_string (first), "-1 0.5 3 k1 k10 k100 k11 "));

  assert_run (fixture->script,
              "local t, r = {b = 1, a = 2, c = 3}, '' local k = next (t) "
              "while k do r = r .. k k = next (t, k) end return r", "\"abc\"");
  assert_run (fixture->script,
              "local t, r = {a = 1, b = 2, c = 3}, '' for k in pairs (t) do r = r .. k t.b = nil "
              "t.d = 4 end return r", "\"ac\"");
  assert_run_fault (fixture->script, "for k in pairs ({[{}] = 1}) do end",
                    KHADIM_ENGINE_ERROR_INVALID, "has no order");
}

/* Comparing two long texts is one instruction; only the clock sees it. */
static void
test_time (Fixture      *fixture,
           gconstpointer data)
{
  assert_run_fault (fixture->script,
                    "local a, b = ('x'):rep (8e6) .. 'a', ('x'):rep (8e6) .. 'a' "
                    "while a == b do end",
                    KHADIM_ENGINE_ERROR_LIMIT, "seconds");
}

/* The generator is xoshiro256**, seeded by SplitMix64: the first numbers were
 * computed in Python, from the papers, for the seed 1. */
static void
test_random (Fixture      *fixture,
             gconstpointer data)
{
  assert_run (fixture->script, "return {math.random (0), math.random (0), math.random (0)}",
              "[-5480124913605472059,-8846382939111011094,-7856363154187860716]");
  assert_run (fixture->script,
              "for i = 1, 2000 do local a, b, c = math.random (), math.random (6), "
              "math.random (-3, 3) if a < 0 or a >= 1 or b < 1 or b > 6 or c < -3 or c > 3 then "
              "return false end end return true", "true");
  assert_run (fixture->script,
              "local n = {0, 0, 0} for i = 1, 3000 do local r = math.random (3) n[r] = n[r] + 1 "
              "end return n[1] > 900 and n[2] > 900 and n[3] > 900", "true");
  assert_run (fixture->script, "return math.random (math.mininteger, math.maxinteger) ~= 0",
              "true");
  assert_run_fault (fixture->script, "return math.random (2, 1)", KHADIM_ENGINE_ERROR_INVALID,
                    "interval is empty");
}

static void append_call (GString *text,
                         GRand   *rand,
                         guint    depth);

static void
append_argument (GString *text,
                 GRand   *rand,
                 guint    depth)
{
  static const char *const leaves[] = {
    "nil", "null", "true", "0", "1", "-1", "3", "1.5", "0/0", "math.huge", "math.maxinteger",
    "math.mininteger", "''", "'a'", "'%d+'", "'(a*)'", "'%'", "'[a'", "'ab12 ä'", "'\\0'", "'%s %d'",
    "'\\xff\\xfe'", "{}", "{1, 2, 3}", "{3, 1, 'x', a = 1}", "json.array ()", "len", "string",
    "function (...) return ... end", "function (a, b) return a end", "v", "w", "'[1, {}]'", "1e15",
    "('x'):rep (300)", "{{}, {}, {}}",
  };

  if (depth > 0 && g_rand_int_range (rand, 0, 3) == 0)
    append_call (text, rand, depth - 1);
  else
    g_string_append (text, leaves[g_rand_int_range (rand, 0, G_N_ELEMENTS (leaves))]);
}

static void
append_call (GString *text,
             GRand   *rand,
             guint    depth)
{
  static const char *const functions[] = {
    "assert", "defined", "error", "ipairs", "len", "next", "pairs", "pcall", "rawequal", "rawlen",
    "select", "tonumber", "tostring", "type", "json.array", "json.decode", "json.encode",
    "math.floor", "math.max", "math.random", "math.tointeger", "math.fmod", "string.byte",
    "string.char", "string.find", "string.format", "string.gmatch", "string.gsub", "string.len",
    "string.lower", "string.match", "string.rep", "string.reverse", "string.sub", "table.concat",
    "table.insert", "table.remove", "table.sort", "table.unpack", "utf8.char", "utf8.codepoint",
    "utf8.codes", "utf8.len", "utf8.offset",
  };
  guint n_arguments = (guint) g_rand_int_range (rand, 0, 5);

  g_string_append (text, functions[g_rand_int_range (rand, 0, G_N_ELEMENTS (functions))]);
  g_string_append (text, " (");
  for (guint i = 0; i < n_arguments; i++)
    {
      g_string_append (text, i > 0 ? ", " : "");
      append_argument (text, rand, depth);
    }
  g_string_append (text, ")");
}

/* Random calls with arguments that do not fit: each ends with a value or one
 * of the two errors, and the interpreter lives on. */
static void
test_random_calls (Fixture      *fixture,
                   gconstpointer data)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (5);
  guint n_rounds = g_test_slow () ? 300000 : 3000;
  guint n_values = 0;

  set (fixture->script, "v", "[1,{\"a\":null},\"x\"]");
  set (fixture->script, "w", "{\"k\":[],\"l\":2}");
  for (guint i = 0; i < n_rounds; i++)
    {
      GString *code = g_string_new ("return ");
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) node = NULL;
      g_autofree char *text = NULL;

      append_call (code, rand, 3);
      text = g_string_free (code, FALSE);
      node = khadim_script_run (fixture->script, text, &error);
      if (node == NULL && error->code != KHADIM_ENGINE_ERROR_LIMIT)
        g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID);
      n_values += node != NULL;
    }
  g_assert_cmpuint (n_values, >, n_rounds / 10);
  assert_value (fixture->script, "1 + 1", "2");
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("escapes", test_escapes);
  ADD ("addresses", test_addresses);
  ADD ("bytecode", test_bytecode);
  ADD ("limits", test_limits);
  ADD ("pcall", test_pcall);
  ADD ("error-objects", test_error_objects);
  ADD ("usable-after-limits", test_usable_after_limits);
  ADD ("full-memory", test_full_memory);
  ADD ("deep-source", test_deep_source);
  ADD ("deterministic", test_deterministic);
  ADD ("random", test_random);
  ADD ("random-calls", test_random_calls);
  /* It takes five seconds: in the slow suite. */
  if (g_test_slow ())
    ADD ("time", test_time);

  return g_test_run ();
}
