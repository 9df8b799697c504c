/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What the files of the interpreter share. Functions that take a lua_State
 * may leave by longjmp(): they hold no memory but Lua's own across such a
 * call. The others never do. */

#pragma once

#include <locale.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "engine/script/khadim-script.h"

G_BEGIN_DECLS

/* How deep functions written in C may call back into Lua; Lua's own bound is
 * 200 nested C calls. */
#define KHADIM_SCRIPT_MAX_C_DEPTH 100

/* The hook on the count of instructions runs this often. */
#define KHADIM_SCRIPT_HOOK_PERIOD 1000

/* Memory asked for counts as work: one step for so many bytes. */
#define KHADIM_SCRIPT_BYTES_PER_STEP 256

/* How many compiled expressions are kept. */
#define KHADIM_SCRIPT_CACHE_SIZE 256

typedef enum {
  KHADIM_SCRIPT_LIMIT_NONE,
  KHADIM_SCRIPT_LIMIT_STEPS,
  KHADIM_SCRIPT_LIMIT_MEMORY,
  KHADIM_SCRIPT_LIMIT_TIME,
  KHADIM_SCRIPT_LIMIT_CALLS,
  KHADIM_SCRIPT_LIMIT_STRING,
  KHADIM_SCRIPT_LIMIT_SUBJECT,
  KHADIM_SCRIPT_LIMIT_PATTERN,
  KHADIM_SCRIPT_LIMIT_SOURCE,
  KHADIM_SCRIPT_LIMIT_VALUE,
} KhadimScriptLimit;

typedef struct {
  lua_State *lua; /* owned */
  gsize memory_bytes;
  guint64 steps; /* of this call */
  KhadimScriptLimit limit; /* reached in this call; cannot be swallowed */
  guint c_depth;
  guint call_depth; /* calls from outside, nested */
  guint n_cached;
  guint n_scopes; /* besides the global one */
  gint64 start_us; /* of this call, monotonic */
  gint64 start_cpu_us;
  locale_t locale; /* owned: the C locale */
  locale_t caller_locale;
  guint64 random[4];
} KhadimScriptState;

/* Where the pieces lie in the registry of Lua, by address. */
extern const char _khadim_script_key_null;
extern const char _khadim_script_key_array;
extern const char _khadim_script_key_scopes;
extern const char _khadim_script_key_builtins;
extern const char _khadim_script_key_environment;
extern const char _khadim_script_key_cache;
extern const char _khadim_script_key_box;

/* State: limits and calls */
KhadimScriptState *_khadim_script_state_new         (guint64             seed);
KhadimScriptState *_khadim_script_state_new_checker (void);
void               _khadim_script_state_free        (KhadimScriptState  *state);
KhadimScriptState *_khadim_script_state_get         (lua_State          *lua);
void               _khadim_script_state_begin       (KhadimScriptState  *state);
void               _khadim_script_state_end         (KhadimScriptState  *state);
gboolean           _khadim_script_state_call        (KhadimScriptState  *state,
                                                     lua_CFunction       function,
                                                     gpointer            data,
                                                     GError            **error);
void               _khadim_script_charge            (lua_State          *lua,
                                                     guint64             steps);
G_NORETURN void    _khadim_script_raise_limit       (lua_State          *lua,
                                                     KhadimScriptLimit   limit);
G_NORETURN void    _khadim_script_raise             (lua_State          *lua,
                                                     const GError       *error);
void               _khadim_script_enter             (lua_State          *lua);
void               _khadim_script_leave             (lua_State          *lua);
int                _khadim_script_protect           (lua_State          *lua,
                                                     int                 n_args);
void               _khadim_script_push_clean        (lua_State          *lua,
                                                     int                 index);
gpointer          *_khadim_script_push_box          (lua_State          *lua,
                                                     GDestroyNotify      destroy);

/* Sandbox: what code sees */
void        _khadim_script_sandbox_open         (lua_State     *lua);
void        _khadim_script_sandbox_protect      (lua_State     *lua,
                                                 const char    *name);
void        _khadim_script_sandbox_check_table  (lua_State     *lua,
                                                 int            index);
gboolean    _khadim_script_sandbox_is_builtin   (const char    *name);
void        _khadim_script_sandbox_push_charged (lua_State     *lua,
                                                 lua_CFunction  function);
void        _khadim_script_base_open            (lua_State     *lua);
void        _khadim_script_math_open            (lua_State     *lua);
void        _khadim_script_string_open          (lua_State     *lua);
void        _khadim_script_search_open          (lua_State     *lua);
void        _khadim_script_format_open          (lua_State     *lua);
void        _khadim_script_table_open           (lua_State     *lua);
void        _khadim_script_json_open            (lua_State     *lua);
const char *_khadim_script_base_push_text       (lua_State     *lua,
                                                 int            index,
                                                 size_t        *out_length);

/* Scopes: variables */
gboolean    _khadim_script_scopes_find     (lua_State  *lua,
                                            int         name);
void        _khadim_script_scopes_assign   (lua_State  *lua,
                                            gboolean    local);
void        _khadim_script_scopes_drop     (lua_State  *lua);
JsonNode   *_khadim_script_scopes_read     (lua_State  *lua,
                                            const char *name);
JsonObject *_khadim_script_scopes_snapshot (lua_State  *lua);

/* Values */

/* What values that belong together hold, against their common limits */
typedef struct {
  gsize n_bytes;
  guint n_nodes;
} KhadimScriptSize;

void      _khadim_script_value_push    (lua_State  *lua,
                                        JsonNode   *node);
JsonNode *_khadim_script_value_to_json (lua_State         *lua,
                                        int                index,
                                        KhadimScriptSize  *size,
                                        GError           **error);
gboolean  _khadim_script_value_is_null (lua_State  *lua,
                                        int         index);
gboolean  _khadim_script_value_is_array (lua_State  *lua,
                                         int         index);

/* Order of keys */
void _khadim_script_order_push_keys (lua_State *lua,
                                     int        index);
void _khadim_script_order_push_next (lua_State *lua,
                                     int        index,
                                     int        key_index);

/* Syntax */
void _khadim_script_syntax_load_expression (lua_State  *lua,
                                            const char *expression);
void _khadim_script_syntax_load_code       (lua_State  *lua,
                                            const char *code);

/* Templates */
typedef struct {
  const char *start;
  gsize length;
  gboolean is_expression;
} KhadimScriptPiece;

gboolean _khadim_script_template_next   (const char       **cursor,
                                         KhadimScriptPiece *out_piece,
                                         GError           **error);
gboolean _khadim_script_template_is_one (const char        *text);


/* Evaluation */
typedef enum {
  KHADIM_SCRIPT_MODE_VALUE, /* an expression */
  KHADIM_SCRIPT_MODE_TEXT, /* an expression, as text */
  KHADIM_SCRIPT_MODE_TEST, /* an expression, as true or false */
  KHADIM_SCRIPT_MODE_CODE, /* a script */
} KhadimScriptMode;

JsonNode *_khadim_script_state_evaluate      (KhadimScriptState  *state,
                                              KhadimScriptMode    mode,
                                              const char         *source,
                                              KhadimScriptSize   *size,
                                              GError            **error);
JsonNode *_khadim_script_state_expand        (KhadimScriptState  *state,
                                              JsonNode           *node,
                                              GError            **error);
char     *_khadim_script_state_expand_string (KhadimScriptState  *state,
                                              const char         *text,
                                              GError            **error);

G_END_DECLS
