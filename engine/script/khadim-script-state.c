/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script-private.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The interpreter and its limits. Every limit ends the whole call: it is
 * noted in the state before the error is raised, and pcall() in the sandbox
 * raises it again, so that a script cannot swallow it. */

G_STATIC_ASSERT (LUA_EXTRASPACE >= sizeof (gpointer));

const char _khadim_script_key_null = 'n';
const char _khadim_script_key_array = 'a';
const char _khadim_script_key_scopes = 's';
const char _khadim_script_key_builtins = 'b';
const char _khadim_script_key_environment = 'e';
const char _khadim_script_key_cache = 'c';
const char _khadim_script_key_box = 'x';

/* The name under which code is loaded; luaL_where() writes it with a colon
 * and the line, and people see "line 3" instead. It cannot be in a source. */
#define CHUNK_MARK "\x02:"

/* Before the processor's clock, which costs a system call, is asked. */
#define CPU_CHECK_AFTER_US G_USEC_PER_SEC

/* lua_Alloc; refuses what goes over the limits. Lua then collects garbage,
 * tries again, and raises LUA_ERRMEM. Shrinking is never refused. */
static void *
script_allocate (void  *data,
                 void  *block,
                 size_t old_size,
                 size_t new_size)
{
  KhadimScriptState *state = data;
  void *result;

  if (block == NULL)
    old_size = 0; /* it is a type tag then */

  if (new_size == 0)
    {
      free (block);
      state->memory_bytes -= old_size;
      return NULL;
    }

  if (new_size > old_size)
    {
      gsize growth = new_size - old_size;

      if (new_size > KHADIM_SCRIPT_MAX_BLOCK_BYTES
          || growth > KHADIM_SCRIPT_MAX_MEMORY_BYTES - state->memory_bytes)
        return NULL;

      state->steps += new_size / KHADIM_SCRIPT_BYTES_PER_STEP;
      if (state->call_depth > 0 && state->steps > KHADIM_SCRIPT_MAX_STEPS)
        return NULL;
    }

  result = realloc (block, new_size);
  if (result != NULL)
    state->memory_bytes += new_size - old_size;

  return result;
}

/* Out of protected code nothing raises; this is a fault of this program. */
static int
on_panic_cb (lua_State *lua)
{
  g_error ("Lua raised an error outside of a protected call");

  return 0;
}

static gint64
thread_cpu_us (void)
{
  struct timespec now;

  if (clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now) != 0)
    return g_get_monotonic_time ();

  return (gint64) now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

KhadimScriptState *
_khadim_script_state_get (lua_State *lua)
{
  return *(KhadimScriptState **) lua_getextraspace (lua);
}

void
_khadim_script_raise_limit (lua_State         *lua,
                            KhadimScriptLimit  limit)
{
  KhadimScriptState *state = _khadim_script_state_get (lua);

  state->limit = limit;
  lua_pushnil (lua);
  lua_error (lua);
  g_assert_not_reached ();
}

/* Raises what a function that does not know Lua reports; @error lies in a
 * box. */
void
_khadim_script_raise (lua_State    *lua,
                      const GError *error)
{
  if (g_error_matches (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT))
    _khadim_script_raise_limit (lua, KHADIM_SCRIPT_LIMIT_VALUE);

  luaL_error (lua, "%s", error->message);
  g_assert_not_reached ();
}

void
_khadim_script_charge (lua_State *lua,
                       guint64    steps)
{
  KhadimScriptState *state = _khadim_script_state_get (lua);

  state->steps += steps;
  if (state->steps > KHADIM_SCRIPT_MAX_STEPS)
    _khadim_script_raise_limit (lua, KHADIM_SCRIPT_LIMIT_STEPS);
}

static void
on_count_cb (lua_State *lua,
             lua_Debug *where)
{
  KhadimScriptState *state = _khadim_script_state_get (lua);
  lua_Debug frame;

  _khadim_script_charge (lua, KHADIM_SCRIPT_HOOK_PERIOD);

  if (lua_getstack (lua, KHADIM_SCRIPT_MAX_CALL_DEPTH, &frame) == 1)
    _khadim_script_raise_limit (lua, KHADIM_SCRIPT_LIMIT_CALLS);

  if (g_get_monotonic_time () - state->start_us > CPU_CHECK_AFTER_US
      && (thread_cpu_us () - state->start_cpu_us) / 1000 > KHADIM_SCRIPT_MAX_CPU_MS)
    _khadim_script_raise_limit (lua, KHADIM_SCRIPT_LIMIT_TIME);
}

/* Bounds the nesting of C functions that call Lua. */
void
_khadim_script_enter (lua_State *lua)
{
  KhadimScriptState *state = _khadim_script_state_get (lua);

  if (++state->c_depth > KHADIM_SCRIPT_MAX_C_DEPTH)
    _khadim_script_raise_limit (lua, KHADIM_SCRIPT_LIMIT_CALLS);
}

void
_khadim_script_leave (lua_State *lua)
{
  _khadim_script_state_get (lua)->c_depth--;
}

/* What LUA_ERRMEM means: the allocator also refuses when the steps are used
 * up. */
static KhadimScriptLimit
find_memory_limit (KhadimScriptState *state)
{
  return state->steps > KHADIM_SCRIPT_MAX_STEPS ? KHADIM_SCRIPT_LIMIT_STEPS
                                                : KHADIM_SCRIPT_LIMIT_MEMORY;
}

/* lua_pcall() that lets no limit be swallowed. */
int
_khadim_script_protect (lua_State *lua,
                        int        n_args)
{
  KhadimScriptState *state = _khadim_script_state_get (lua);
  guint depth = state->c_depth;
  int status;

  _khadim_script_enter (lua);
  status = lua_pcall (lua, n_args, LUA_MULTRET, 0);
  state->c_depth = depth;

  if (state->limit != KHADIM_SCRIPT_LIMIT_NONE)
    _khadim_script_raise_limit (lua, state->limit);
  if (status == LUA_ERRMEM)
    _khadim_script_raise_limit (lua, find_memory_limit (state));

  return status;
}

/* Pushes the message at @index as people read it. */
void
_khadim_script_push_clean (lua_State *lua,
                           int        index)
{
  const char *text = lua_tostring (lua, index);
  const char *mark;
  luaL_Buffer buffer;

  luaL_buffinit (lua, &buffer);
  while ((mark = strstr (text, CHUNK_MARK)) != NULL)
    {
      luaL_addlstring (&buffer, text, (size_t) (mark - text));
      luaL_addstring (&buffer, "line ");
      text = mark + strlen (CHUNK_MARK);
    }
  luaL_addstring (&buffer, text);
  luaL_pushresult (&buffer);
}

/* The message of an error object of any kind; leaves text on the stack. */
static void
push_message (lua_State *lua,
              int        index)
{
  int type;

  index = lua_absindex (lua, index);
  type = lua_type (lua, index);

  if (type == LUA_TTABLE)
    {
      lua_pushstring (lua, "message");
      lua_rawget (lua, index);
      if (lua_type (lua, -1) == LUA_TSTRING)
        return;
      lua_pop (lua, 1);
    }

  if (type == LUA_TSTRING)
    _khadim_script_push_clean (lua, index);
  else if (type == LUA_TNUMBER)
    _khadim_script_base_push_text (lua, index, NULL);
  else
    lua_pushfstring (lua, "The script raised %s without a message",
                     type == LUA_TNIL ? "an error" : lua_typename (lua, type));
}

static int
describe_protected (lua_State *lua)
{
  char **out_message = lua_touserdata (lua, 1);
  const char *message;

  push_message (lua, 2);
  message = lua_tostring (lua, -1);
  *out_message = g_utf8_make_valid (
    message, (gssize) strnlen (message, KHADIM_SCRIPT_MAX_MESSAGE_BYTES));

  return 0;
}

static void
set_limit_error (KhadimScriptLimit   limit,
                 GError            **error)
{
  static const char *const texts[] = {
    [KHADIM_SCRIPT_LIMIT_NONE] = "",
    [KHADIM_SCRIPT_LIMIT_STEPS] = "The script works too long: more than 10 million steps",
    [KHADIM_SCRIPT_LIMIT_MEMORY] = "The script needs more than 64 MiB of memory",
    [KHADIM_SCRIPT_LIMIT_TIME] = "The script works too long: more than 5 seconds",
    [KHADIM_SCRIPT_LIMIT_CALLS] = "The script’s functions call each other too deep",
    [KHADIM_SCRIPT_LIMIT_STRING] = "The script makes a text of more than 16 MiB",
    [KHADIM_SCRIPT_LIMIT_SUBJECT] = "The text to search is longer than 4 MiB",
    [KHADIM_SCRIPT_LIMIT_PATTERN] = "The pattern is longer than 4096 bytes or nested too deep",
    [KHADIM_SCRIPT_LIMIT_SOURCE] = "The expression (16 KiB) or the script (64 KiB) is too long",
    [KHADIM_SCRIPT_LIMIT_VALUE] = "The value is too large or nested too deep",
  };

  g_set_error_literal (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT, texts[limit]);
}

/* Turns the error on top of the stack into a GError, in protected mode: the
 * object may be anything, and to describe it takes memory. */
static void
set_error (KhadimScriptState  *state,
           int                 status,
           GError            **error)
{
  lua_State *lua = state->lua;
  g_autofree char *message = NULL;

  if (state->limit == KHADIM_SCRIPT_LIMIT_NONE && status == LUA_ERRMEM)
    state->limit = find_memory_limit (state);
  if (state->limit != KHADIM_SCRIPT_LIMIT_NONE)
    {
      set_limit_error (state->limit, error);
      return;
    }

  state->steps = 0;
  lua_pushcfunction (lua, describe_protected);
  lua_pushlightuserdata (lua, &message);
  lua_pushvalue (lua, -3);
  if (lua_pcall (lua, 2, 0, 0) != LUA_OK)
    {
      set_limit_error (KHADIM_SCRIPT_LIMIT_MEMORY, error);
      return;
    }

  g_set_error_literal (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID, message);
}

/* A call from outside: the budget is new, and text is compared and numbers
 * are written as in the C locale whatever the program's is. Calls nest, and
 * then share one budget. */
void
_khadim_script_state_begin (KhadimScriptState *state)
{
  if (state->call_depth++ > 0)
    return;

  state->steps = 0;
  state->limit = KHADIM_SCRIPT_LIMIT_NONE;
  state->c_depth = 0;
  state->start_us = g_get_monotonic_time ();
  state->start_cpu_us = thread_cpu_us ();
  state->caller_locale = uselocale (state->locale);
}

void
_khadim_script_state_end (KhadimScriptState *state)
{
  if (--state->call_depth > 0)
    return;

  uselocale (state->caller_locale);
  if (state->limit != KHADIM_SCRIPT_LIMIT_NONE)
    lua_gc (state->lua, LUA_GCCOLLECT);
}

gboolean
_khadim_script_state_call (KhadimScriptState  *state,
                           lua_CFunction       function,
                           gpointer            data,
                           GError            **error)
{
  lua_State *lua = state->lua;
  int top = lua_gettop (lua);
  int status;

  _khadim_script_state_begin (state);
  lua_pushcfunction (lua, function);
  lua_pushlightuserdata (lua, data);
  status = lua_pcall (lua, 1, 0, 0);
  if (status != LUA_OK)
    set_error (state, status, error);
  lua_settop (lua, top);
  _khadim_script_state_end (state);

  return status == LUA_OK;
}

typedef struct {
  gpointer data;
  GDestroyNotify destroy;
} Box;

static int
box_collect (lua_State *lua)
{
  Box *box = lua_touserdata (lua, 1);

  if (box->data != NULL)
    box->destroy (box->data);
  box->data = NULL;

  return 0;
}

/* Pushes a box whose content @destroy frees when Lua collects it: what is not
 * Lua's own survives a longjmp() so. Fill it at once. */
gpointer *
_khadim_script_push_box (lua_State      *lua,
                         GDestroyNotify  destroy)
{
  Box *box = lua_newuserdatauv (lua, sizeof *box, 0);

  box->data = NULL;
  box->destroy = destroy;
  lua_rawgetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_box);
  lua_setmetatable (lua, -2);

  return &box->data;
}

static int
open_protected (lua_State *lua)
{
  gboolean sandbox = *(gboolean *) lua_touserdata (lua, 1);

  lua_createtable (lua, 0, 1);
  lua_pushcfunction (lua, box_collect);
  lua_setfield (lua, -2, "__gc");
  lua_rawsetp (lua, LUA_REGISTRYINDEX, &_khadim_script_key_box);

  if (sandbox)
    _khadim_script_sandbox_open (lua);

  return 0;
}

/* SplitMix64 fills the state of xoshiro256** as its authors advise. */
static void
seed_random (KhadimScriptState *state,
             guint64            seed)
{
  for (guint i = 0; i < G_N_ELEMENTS (state->random); i++)
    {
      guint64 z = (seed += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15));

      z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
      z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
      state->random[i] = z ^ (z >> 31);
    }
}

static KhadimScriptState *
state_new (gboolean sandbox,
           guint64  seed)
{
  KhadimScriptState *state = g_new0 (KhadimScriptState, 1);
  g_autoptr(GError) error = NULL;

  seed_random (state, seed);
  state->locale = newlocale (LC_ALL_MASK, "C", (locale_t) 0);
  state->lua = lua_newstate (script_allocate, state);
  if (state->lua == NULL)
    g_error ("No memory for a Lua interpreter");

  lua_atpanic (state->lua, on_panic_cb);
  *(KhadimScriptState **) lua_getextraspace (state->lua) = state;
  if (!_khadim_script_state_call (state, open_protected, &sandbox, &error))
    g_error ("The Lua interpreter does not start: %s", error->message);
  lua_sethook (state->lua, on_count_cb, LUA_MASKCOUNT, KHADIM_SCRIPT_HOOK_PERIOD);

  return state;
}

KhadimScriptState *
_khadim_script_state_new (guint64 seed)
{
  return state_new (TRUE, seed);
}

/* An interpreter that only reads source and runs nothing. */
KhadimScriptState *
_khadim_script_state_new_checker (void)
{
  return state_new (FALSE, 0);
}

void
_khadim_script_state_free (KhadimScriptState *state)
{
  lua_close (state->lua);
  freelocale (state->locale);
  g_free (state);
}
