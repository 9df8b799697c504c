/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-script"

#include "config.h"

#include "engine/script/khadim-script.h"

#include "engine/script/khadim-script-private.h"

/**
 * KhadimScript:
 *
 * The interpreter of a run, with its variables in scopes. Conditions,
 * templates and scripts are Lua 5.4 (Lua 5.4 Reference Manual, 2020-2023),
 * without anything that reaches out of the interpreter, and with limits on
 * what one call may do: the constants of this class.
 *
 * There are `assert`, `error`, `ipairs`, `next`, `pairs`, `pcall`,
 * `rawequal`, `rawlen`, `select`, `tonumber`, `tostring` and `type`; `math`
 * without `randomseed`; `string` without `dump`, `pack`, `packsize` and
 * `unpack`; of `table` `concat`, `insert`, `remove`, `sort` and `unpack`;
 * and `utf8`. Besides:
 *
 * - `null` is the null of JSON: a value of its own, which holds as true in
 *   Lua, as all but false and nil do. khadim_script_test() takes it for false.
 * - `len (v)` is the number of characters, elements or members.
 * - `defined (name)` says whether a variable is set. To read one that is not
 *   is an error.
 * - `json.encode (v)`, `json.decode (text)`, and `json.array (t)`, which
 *   marks a list as an array: an empty table is an object otherwise.
 *
 * What differs from Lua:
 *
 * - Names that are not local are variables, and stay after the script.
 * - `pairs` and `next` go by the keys in order: numbers, texts, booleans.
 *   `math.random` starts from the seed, `sort` is stable, and no text has an
 *   address in it, so that a run goes the same way each time.
 * - Limits end the whole call; `pcall` does not catch them.
 * - There are no metatables, and so no `__gc`, `__close` or `__index`.
 * - In `string.format` there are no `%p` and `%q`. A fault in a pattern is
 *   found whether or not a match comes to it.
 *
 * An interpreter belongs to the thread that uses it.
 */
struct _KhadimScript
{
  GObject parent_instance;

  KhadimScriptState *state; /* owned */
};

G_DEFINE_FINAL_TYPE (KhadimScript, khadim_script, G_TYPE_OBJECT)

static void
khadim_script_finalize (GObject *object)
{
  KhadimScript *self = KHADIM_SCRIPT (object);

  g_clear_pointer (&self->state, _khadim_script_state_free);

  G_OBJECT_CLASS (khadim_script_parent_class)->finalize (object);
}

static void
khadim_script_class_init (KhadimScriptClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_script_finalize;
}

static void
khadim_script_init (KhadimScript *self)
{
}

/**
 * khadim_script_new:
 * @seed: what `math.random` starts from; the same seed gives the same numbers
 *
 * Makes an interpreter without variables. It belongs to the thread that uses
 * it: calls from two threads at once are not allowed.
 *
 * Returns: (transfer full): the interpreter
 */
KhadimScript *
khadim_script_new (guint64 seed)
{
  KhadimScript *self = g_object_new (KHADIM_TYPE_SCRIPT, NULL);

  self->state = _khadim_script_state_new (seed);

  return self;
}

/**
 * khadim_script_push_scope:
 * @self: an interpreter
 *
 * Opens a scope inside of the innermost one. What khadim_script_set_local()
 * sets in it vanishes with khadim_script_pop_scope().
 */
void
khadim_script_push_scope (KhadimScript *self)
{
  g_return_if_fail (KHADIM_IS_SCRIPT (self));

  self->state->n_scopes++;
}

/**
 * khadim_script_pop_scope:
 * @self: an interpreter
 *
 * Closes the innermost scope; the global one stays.
 */
void
khadim_script_pop_scope (KhadimScript *self)
{
  g_return_if_fail (KHADIM_IS_SCRIPT (self));
  g_return_if_fail (self->state->n_scopes > 0);

  _khadim_script_scopes_drop (self->state->lua);
  self->state->n_scopes--;
}

typedef struct {
  const char *name;
  JsonNode *value;
  gboolean local;
} Access;

static int
set_protected (lua_State *lua)
{
  Access *access = lua_touserdata (lua, 1);

  lua_pushstring (lua, access->name);
  if (access->value == NULL)
    lua_pushnil (lua);
  else
    _khadim_script_value_push (lua, access->value);
  _khadim_script_scopes_assign (lua, access->local);

  return 0;
}

static gboolean
set_variable (KhadimScript  *self,
              Access        *access,
              GError       **error)
{
  if (!khadim_script_is_name (access->name))
    {
      g_autofree char *name = g_utf8_make_valid (access->name, -1);

      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                   "“%.100s” cannot be the name of a variable", name);
      return FALSE;
    }

  if (!_khadim_script_state_call (self->state, set_protected, access, error))
    {
      g_prefix_error (error, "Variable “%s”: ", access->name);
      return FALSE;
    }

  return TRUE;
}

/**
 * khadim_script_set:
 * @self: an interpreter
 * @name: a name as in khadim_script_is_name()
 * @value: (nullable): what to copy in; %NULL removes the variable
 * @error: return location
 *
 * Sets a variable in the innermost scope that has it, else in the global one.
 *
 * Returns: %FALSE with %KHADIM_ENGINE_ERROR_INVALID if @name is no name, or
 *   %KHADIM_ENGINE_ERROR_LIMIT if @value is too large
 */
gboolean
khadim_script_set (KhadimScript  *self,
                   const char    *name,
                   JsonNode      *value,
                   GError       **error)
{
  Access access = { .name = name, .value = value, .local = FALSE };

  g_return_val_if_fail (KHADIM_IS_SCRIPT (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);

  return set_variable (self, &access, error);
}

/**
 * khadim_script_set_local:
 * @self: an interpreter
 * @name: a name as in khadim_script_is_name()
 * @value: (nullable): what to copy in; %NULL removes the variable
 * @error: return location
 *
 * Sets a variable in the innermost scope, over one of the same name outside.
 *
 * Returns: %FALSE with %KHADIM_ENGINE_ERROR_INVALID if @name is no name, or
 *   %KHADIM_ENGINE_ERROR_LIMIT if @value is too large
 */
gboolean
khadim_script_set_local (KhadimScript  *self,
                         const char    *name,
                         JsonNode      *value,
                         GError       **error)
{
  Access access = { .name = name, .value = value, .local = TRUE };

  g_return_val_if_fail (KHADIM_IS_SCRIPT (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);

  return set_variable (self, &access, error);
}

/**
 * khadim_script_get:
 * @self: an interpreter
 * @name: a name
 *
 * Looks for a variable from the innermost scope outwards.
 *
 * Returns: (nullable) (transfer full): a copy of its value; %NULL if it is
 *   not set or is no JSON value, such as a function
 */
JsonNode *
khadim_script_get (KhadimScript *self,
                   const char   *name)
{
  g_return_val_if_fail (KHADIM_IS_SCRIPT (self), NULL);
  g_return_val_if_fail (name != NULL, NULL);

  return _khadim_script_scopes_read (self->state->lua, name);
}

/**
 * khadim_script_snapshot:
 * @self: an interpreter
 *
 * All variables, the inner ones before outer ones of the same name, in the
 * order of their names. Those that are no JSON values, such as functions, are
 * left out; in place of those that are too large, or more than fits into
 * %KHADIM_SCRIPT_MAX_VALUE_BYTES with those before, stands a text that says
 * so.
 *
 * Returns: (transfer full): the variables
 */
JsonObject *
khadim_script_snapshot (KhadimScript *self)
{
  g_return_val_if_fail (KHADIM_IS_SCRIPT (self), NULL);

  return _khadim_script_scopes_snapshot (self->state->lua);
}

/**
 * khadim_script_evaluate:
 * @self: an interpreter
 * @expression: an expression of Lua 5.4
 * @error: return location
 *
 * Computes an expression. nil becomes null; a variable that is not set is an
 * error.
 *
 * Returns: (transfer full): the value, or %NULL with
 *   %KHADIM_ENGINE_ERROR_INVALID (a fault, or a result that is no JSON value)
 *   or %KHADIM_ENGINE_ERROR_LIMIT
 */
JsonNode *
khadim_script_evaluate (KhadimScript  *self,
                        const char    *expression,
                        GError       **error)
{
  g_return_val_if_fail (KHADIM_IS_SCRIPT (self), NULL);
  g_return_val_if_fail (expression != NULL, NULL);

  return _khadim_script_state_evaluate (self->state, KHADIM_SCRIPT_MODE_VALUE, expression, NULL,
                                        error);
}

/**
 * khadim_script_test:
 * @self: an interpreter
 * @expression: an expression of Lua 5.4
 * @out_value: (out): whether it holds; untouched on failure
 * @error: return location
 *
 * Computes a condition: false, nil and null do not hold, everything else
 * does, 0 and the empty text included.
 *
 * Returns: %FALSE with %KHADIM_ENGINE_ERROR_INVALID or
 *   %KHADIM_ENGINE_ERROR_LIMIT
 */
gboolean
khadim_script_test (KhadimScript  *self,
                    const char    *expression,
                    gboolean      *out_value,
                    GError       **error)
{
  g_autoptr(JsonNode) value = NULL;

  g_return_val_if_fail (KHADIM_IS_SCRIPT (self), FALSE);
  g_return_val_if_fail (expression != NULL, FALSE);
  g_return_val_if_fail (out_value != NULL, FALSE);

  value = _khadim_script_state_evaluate (self->state, KHADIM_SCRIPT_MODE_TEST, expression, NULL,
                                         error);
  if (value == NULL)
    return FALSE;
  *out_value = json_node_get_boolean (value);

  return TRUE;
}

/**
 * khadim_script_run:
 * @self: an interpreter
 * @code: a script in Lua 5.4
 * @error: return location
 *
 * Runs a script. What it assigns to names that are not `local` are variables:
 * in the innermost scope that has the name, else in the global one.
 * Assignments before a fault stay.
 *
 * Returns: (transfer full): what the script returns, null if nothing, or %NULL
 *   with %KHADIM_ENGINE_ERROR_INVALID, whose text has the line, or
 *   %KHADIM_ENGINE_ERROR_LIMIT
 */
JsonNode *
khadim_script_run (KhadimScript  *self,
                   const char    *code,
                   GError       **error)
{
  g_return_val_if_fail (KHADIM_IS_SCRIPT (self), NULL);
  g_return_val_if_fail (code != NULL, NULL);

  return _khadim_script_state_evaluate (self->state, KHADIM_SCRIPT_MODE_CODE, code, NULL, error);
}

/**
 * khadim_script_expand:
 * @self: an interpreter
 * @node: a tree
 * @error: return location
 *
 * Puts values in place of `{{ expression }}` in every text of a tree; keys
 * stay. A text that is one template and nothing else becomes its value, of
 * any type; inside of a longer text null is written as nothing and a table as
 * JSON. `{{ "{{" }}` writes two braces. @node is not changed.
 *
 * Returns: (transfer full): the new tree, or %NULL with
 *   %KHADIM_ENGINE_ERROR_INVALID or %KHADIM_ENGINE_ERROR_LIMIT; the text
 *   begins with the place in @node, as `a.b[3]: ` with positions from 0
 */
JsonNode *
khadim_script_expand (KhadimScript  *self,
                      JsonNode      *node,
                      GError       **error)
{
  g_return_val_if_fail (KHADIM_IS_SCRIPT (self), NULL);
  g_return_val_if_fail (node != NULL, NULL);

  return _khadim_script_state_expand (self->state, node, error);
}

/**
 * khadim_script_expand_string:
 * @self: an interpreter
 * @text: a text with templates
 * @error: return location
 *
 * As khadim_script_expand(), for one text; the result is text always.
 *
 * Returns: (transfer full): the new text, or %NULL with
 *   %KHADIM_ENGINE_ERROR_INVALID or %KHADIM_ENGINE_ERROR_LIMIT
 */
char *
khadim_script_expand_string (KhadimScript  *self,
                             const char    *text,
                             GError       **error)
{
  g_return_val_if_fail (KHADIM_IS_SCRIPT (self), NULL);
  g_return_val_if_fail (text != NULL, NULL);

  return _khadim_script_state_expand_string (self->state, text, error);
}
