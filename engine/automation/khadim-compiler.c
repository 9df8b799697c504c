/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-compiler"

#include "config.h"

#include "engine/automation/khadim-compiler-private.h"

#include <string.h>

#include "engine/automation/khadim-automation.h"
#include "engine/automation/khadim-condition-private.h"
#include "engine/base/khadim-duration.h"
#include "engine/json/khadim-json-path.h"
#include "engine/json/khadim-json.h"
#include "engine/json/khadim-schema.h"
#include "engine/script/khadim-script.h"

/* The document has passed its JSON Schema when it comes here: types and
 * names of members are right. What is left are the things that a schema
 * cannot say, each with the place where it is wrong. */
typedef struct
{
  KhadimToolbox *toolbox; /* borrowed */
  const char *folder;     /* borrowed */
  GHashTable *ids;        /* id → place */
  GString *place;
  guint depth;
  guint n_steps;
} Compiler;

/* Keys that every kind of step may have. */
static const char *const common_keys[] = {
  "id", "title", "note", "enabled", "timeout", "retry", "on_error", NULL
};

/* Keys that a kind may have besides. */
static const char *const kind_members[KHADIM_STEP_N_KINDS][8] = {
  [KHADIM_STEP_TOOL] = { "tool", "args", "target", "in", "save", "on_sealed" },
  [KHADIM_STEP_IF] = { "if", "then", "else", "in" },
  [KHADIM_STEP_FOR_EACH] = { "for_each", "as", "key", "on_item_error", "max", "steps" },
  [KHADIM_STEP_WHILE] = { "while", "max", "steps", "in" },
  [KHADIM_STEP_REPEAT] = { "repeat", "as", "max", "steps" },
  [KHADIM_STEP_TRY] = { "try", "catch", "finally" },
  [KHADIM_STEP_WAIT] = { "wait_for", "every", "steps", "max", "save", "in" },
  [KHADIM_STEP_CALL] = { "call", "inputs", "save", "on_sealed" },
  [KHADIM_STEP_AGENT] = { "agent", "tools", "budget", "save", "answer" },
  [KHADIM_STEP_SCRIPT] = { "script", "save" },
  [KHADIM_STEP_ASK] = { "ask", "save" },
  [KHADIM_STEP_CHECK] = { "check", "message", "in" },
  [KHADIM_STEP_FAIL] = { "fail" },
};

static GPtrArray *compile_list (Compiler    *self,
                                JsonArray   *array,
                                GError     **error);

G_GNUC_PRINTF (3, 4)
static gboolean
invalid (Compiler    *self,
         GError     **error,
         const char  *format,
         ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID, "%s: %s",
               self->place->str, message);

  return FALSE;
}

/* Adds the place to an error from elsewhere. */
static gboolean
placed (Compiler  *self,
        GError   **error)
{
  g_prefix_error (error, "%s: ", self->place->str);

  return FALSE;
}

/* The place stays at the fault when something is wrong, so that the caller
 * can tell it: callers leave only on success. */
static gsize
enter (Compiler   *self,
       const char *key)
{
  return khadim_json_path_push_key (self->place, key);
}

static void
leave (Compiler *self,
       gsize     length)
{
  g_string_truncate (self->place, length);
}

static gboolean
check_expression (Compiler    *self,
                  const char  *key,
                  const char  *expression,
                  GError     **error)
{
  gsize length = enter (self, key);

  if (!khadim_script_check_expression (expression, error))
    return placed (self, error);
  leave (self, length);

  return TRUE;
}

static gboolean
check_templates (Compiler    *self,
                 const char  *key,
                 JsonNode    *node,
                 GError     **error)
{
  gsize length = enter (self, key);
  g_autofree char *place = NULL;

  if (!khadim_script_check_templates (node, &place, error))
    {
      if (place != NULL && *place != '\0')
        g_string_append_printf (self->place, "%s%s", *place == '[' ? "" : ".", place);
      return placed (self, error);
    }
  leave (self, length);

  return TRUE;
}

static gboolean
read_duration (Compiler    *self,
               JsonObject  *object,
               const char  *key,
               gint64      *out_ms,
               GError     **error)
{
  const char *text = khadim_json_get_string (object, key, NULL);
  gsize length;

  if (text == NULL)
    return TRUE;

  length = enter (self, key);
  if (!khadim_duration_parse (text, out_ms, error))
    return placed (self, error);
  leave (self, length);

  return TRUE;
}

static gboolean
find_kind (Compiler        *self,
           JsonObject      *object,
           KhadimStepKind  *out_kind,
           GError         **error)
{
  int found = -1;

  for (int i = 0; i < KHADIM_STEP_N_KINDS; i++)
    {
      const char *key = _khadim_step_kind_to_key (i);

      if (!json_object_has_member (object, key))
        continue;
      if (found >= 0)
        return invalid (self, error, "a step is one thing, this has both “%s” and “%s”",
                        _khadim_step_kind_to_key (found), key);
      found = i;
    }
  if (found < 0)
    return invalid (self, error,
                    "a step needs one of: tool, if, for_each, while, repeat, try, wait_for, "
                    "call, agent, script, ask, check, fail");
  *out_kind = found;

  return TRUE;
}

static gboolean
check_members (Compiler        *self,
               JsonObject      *object,
               KhadimStepKind   kind,
               GError         **error)
{
  JsonObjectIter iter;
  const char *name;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, NULL))
    {
      gboolean known = g_str_has_prefix (name, "x-") || g_strv_contains (common_keys, name);

      for (gsize i = 0; !known && i < G_N_ELEMENTS (kind_members[0]); i++)
        known = g_strcmp0 (kind_members[kind][i], name) == 0;
      if (!known)
        {
          enter (self, name);
          return invalid (self, error, "a step of the kind “%s” has no “%s”",
                          _khadim_step_kind_to_key (kind), name);
        }
    }

  return TRUE;
}

static gboolean
read_id (Compiler    *self,
         JsonObject  *object,
         KhadimStep  *step,
         GError     **error)
{
  gsize length = enter (self, "id");
  const char *id = khadim_json_get_string (object, "id", "");
  const char *other = g_hash_table_lookup (self->ids, id);

  if (other != NULL)
    return invalid (self, error, "“%s” is the id of %s already", id, other);
  leave (self, length);

  step->id = g_strdup (id);
  step->place = g_strdup (self->place->str);
  step->title = g_strdup (khadim_json_get_string (object, "title", NULL));
  g_hash_table_insert (self->ids, g_strdup (id), g_strdup (step->place));

  return TRUE;
}

static gboolean
read_title (Compiler    *self,
            JsonObject  *object,
            GError     **error)
{
  JsonNode *title = khadim_json_get (object, "title");

  return title == NULL || check_templates (self, "title", title, error);
}

static gboolean
read_enabled (Compiler    *self,
              JsonObject  *object,
              KhadimStep  *step,
              GError     **error)
{
  const char *expression = khadim_json_get_string (object, "enabled", NULL);

  if (expression != NULL && !check_expression (self, "enabled", expression, error))
    return FALSE;
  step->enabled_expression = g_strdup (expression);
  step->enabled = khadim_json_get_boolean (object, "enabled", TRUE);

  return TRUE;
}

static gboolean
read_policies (Compiler    *self,
               JsonObject  *object,
               KhadimStep  *step,
               GError     **error)
{
  const char *on_error = khadim_json_get_string (object, "on_error", "fail");
  const char *on_sealed = khadim_json_get_string (object, "on_sealed", "ask");

  if (strcmp (on_error, "heal") == 0)
    {
      enter (self, "on_error");
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_UNSUPPORTED,
                   "%s: “heal” needs a model, and agents are not there yet; use “ask”",
                   self->place->str);
      return FALSE;
    }
  step->on_error = strcmp (on_error, "continue") == 0 ? KHADIM_ON_ERROR_CONTINUE
                   : strcmp (on_error, "ask") == 0    ? KHADIM_ON_ERROR_ASK
                                                      : KHADIM_ON_ERROR_FAIL;
  step->on_sealed = strcmp (on_sealed, "continue") == 0 ? KHADIM_ON_SEALED_CONTINUE
                    : strcmp (on_sealed, "redo") == 0   ? KHADIM_ON_SEALED_REDO
                    : strcmp (on_sealed, "fail") == 0   ? KHADIM_ON_SEALED_FAIL
                                                        : KHADIM_ON_SEALED_ASK;

  return TRUE;
}

static gboolean
read_retry (Compiler    *self,
            JsonObject  *object,
            KhadimStep  *step,
            GError     **error)
{
  JsonObject *retry = khadim_json_get_object (object, "retry");
  gsize length;

  if (retry == NULL)
    return TRUE;

  length = enter (self, "retry");
  step->retry_times = (guint) khadim_json_get_int (retry, "times", 0);
  step->retry_growth = khadim_json_get_double (retry, "growth", 1);
  if (!read_duration (self, retry, "delay", &step->retry_delay_ms, error))
    return FALSE;
  leave (self, length);

  return TRUE;
}

static gboolean
read_save (Compiler    *self,
           JsonObject  *object,
           const char  *key,
           char       **out_name,
           GError     **error)
{
  const char *name = khadim_json_get_string (object, key, NULL);
  gsize length;

  if (name == NULL)
    return TRUE;

  length = enter (self, key);
  if (!khadim_script_is_name (name) || strcmp (name, "inputs") == 0 || strcmp (name, "error") == 0)
    return invalid (self, error, "“%s” cannot be the name of a variable", name);
  leave (self, length);
  *out_name = g_strdup (name);

  return TRUE;
}

static gboolean
read_common (Compiler    *self,
             JsonObject  *object,
             KhadimStep  *step,
             GError     **error)
{
  return read_id (self, object, step, error) &&
         read_title (self, object, error) &&
         read_enabled (self, object, step, error) &&
         read_duration (self, object, "timeout", &step->timeout_ms, error) &&
         read_retry (self, object, step, error) &&
         read_policies (self, object, step, error) &&
         read_save (self, object, "save", &step->save, error) &&
         read_save (self, object, "as", &step->as, error);
}

/* Arguments, target and window of a tool step are one object for its schema. */
static JsonNode *
merge_args (JsonObject *object)
{
  JsonObject *args = khadim_json_get_object (object, "args");
  JsonNode *target = khadim_json_get (object, "target");
  const char *in = khadim_json_get_string (object, "in", NULL);
  JsonObject *merged = json_object_new ();
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  json_node_take_object (node, merged);
  if (args != NULL)
    {
      json_object_iter_init_ordered (&iter, args);
      while (json_object_iter_next_ordered (&iter, &name, &value))
        json_object_set_member (merged, name, json_node_copy (value));
    }
  if (target != NULL)
    json_object_set_member (merged, "target", json_node_copy (target));
  if (in != NULL)
    {
      g_autofree char *template = g_strdup_printf ("{{ %s }}", in);

      json_object_set_string_member (merged, "in", template);
    }

  return node;
}

/* Where a fault inside merged arguments stands in the document. */
static void
push_args_place (Compiler   *self,
                 const char *place)
{
  gboolean outside = place == NULL || g_str_has_prefix (place, "target") || strcmp (place, "in") == 0;

  if (!outside)
    enter (self, "args");
  if (place != NULL && *place != '\0')
    g_string_append_printf (self->place, "%s%s", *place == '[' ? "" : ".", place);
}

/* Checks arguments as far as they are known before the run. */
static gboolean
check_args (Compiler    *self,
            const char  *tool,
            JsonNode    *args,
            GError     **error)
{
  g_autoptr(KhadimToolDomain) domain = NULL;
  g_autoptr(KhadimSchema) schema = NULL;
  const KhadimToolInfo *info;
  g_autofree char *place = NULL;

  info = khadim_toolbox_lookup (self->toolbox, tool, &domain, &schema, error);
  if (info == NULL)
    {
      enter (self, "tool");
      return placed (self, error);
    }
  if (!khadim_schema_check (schema, args, KHADIM_SCHEMA_FLAGS_TEMPLATES, &place, error) ||
      !khadim_tool_domain_check (domain, info, args, self->folder, &place, error) ||
      !khadim_script_check_templates (args, &place, error))
    {
      push_args_place (self, place);
      return placed (self, error);
    }

  return TRUE;
}

static gboolean
compile_tool (Compiler    *self,
              JsonObject  *object,
              KhadimStep  *step,
              GError     **error)
{
  const char *in = khadim_json_get_string (object, "in", NULL);

  if (in != NULL && !check_expression (self, "in", in, error))
    return FALSE;
  step->tool = g_strdup (khadim_json_get_string (object, "tool", ""));
  step->args = merge_args (object);

  return check_args (self, step->tool, step->args, error);
}

/* A list of steps under @key; a missing one is an empty list. */
static gboolean
compile_member (Compiler    *self,
                JsonObject  *object,
                const char  *key,
                GPtrArray  **out_steps,
                GError     **error)
{
  JsonArray *array = khadim_json_get_array (object, key);
  gsize length;

  if (array == NULL)
    {
      *out_steps = g_ptr_array_new ();
      return TRUE;
    }

  length = enter (self, key);
  *out_steps = compile_list (self, array, error);
  if (*out_steps == NULL)
    return FALSE;
  leave (self, length);

  return TRUE;
}

static gboolean
require (Compiler    *self,
         JsonObject  *object,
         const char  *kind,
         const char  *key,
         GError     **error)
{
  if (json_object_has_member (object, key))
    return TRUE;

  return invalid (self, error, "“%s” needs “%s”", kind, key);
}

/* The tool that tells whether the object form of a condition holds, with its
 * arguments: the player calls it, the compiler checks it. */
static gboolean
check_condition_tool (Compiler        *self,
                      KhadimStepKind   kind,
                      const char      *key,
                      JsonNode        *spec,
                      const char      *in,
                      GError         **error)
{
  g_autoptr(JsonNode) args = _khadim_condition_to_args (kind, spec, in);
  const char *tool = _khadim_condition_get_tool (kind, spec);
  gsize length = enter (self, key);

  if (!check_args (self, tool, args, error))
    return FALSE;
  leave (self, length);

  return TRUE;
}

static gboolean
read_condition (Compiler    *self,
                JsonObject  *object,
                const char  *key,
                KhadimStep  *step,
                GError     **error)
{
  JsonNode *node = khadim_json_get (object, key);
  const char *in = khadim_json_get_string (object, "in", NULL);
  JsonObject *spec;

  if (JSON_NODE_HOLDS_VALUE (node))
    {
      const char *expression = json_node_get_string (node);

      if (!check_expression (self, key, expression, error))
        return FALSE;
      step->condition.expression = g_strdup (expression);
      return TRUE;
    }

  spec = json_node_get_object (node);
  if (json_object_has_member (spec, "expression"))
    {
      gsize length = enter (self, key);
      const char *expression = khadim_json_get_string (spec, "expression", "");

      if (json_object_get_size (spec) > 1)
        return invalid (self, error, "“expression” stands alone");
      if (!check_expression (self, "expression", expression, error))
        return FALSE;
      leave (self, length);
      step->condition.expression = g_strdup (expression);
      return TRUE;
    }
  if (json_object_has_member (spec, "target") == json_object_has_member (spec, "file"))
    {
      enter (self, key);
      return invalid (self, error, "either “target” or “file” is needed");
    }
  if (!check_templates (self, key, node, error) ||
      !check_condition_tool (self, step->kind, key, node, in, error))
    return FALSE;
  step->condition.spec = json_node_copy (node);
  if (in != NULL)
    {
      step->condition.in = g_strdup (in);
      return check_expression (self, "in", in, error);
    }

  return TRUE;
}

static gboolean
compile_if (Compiler    *self,
            JsonObject  *object,
            KhadimStep  *step,
            GError     **error)
{
  return require (self, object, "if", "then", error) &&
         read_condition (self, object, "if", step, error) &&
         compile_member (self, object, "then", &step->steps, error) &&
         compile_member (self, object, "else", &step->otherwise, error);
}

static gboolean
read_loop (Compiler    *self,
           JsonObject  *object,
           KhadimStep  *step,
           GError     **error)
{
  const char *kind = _khadim_step_kind_to_key (step->kind);

  step->max = (guint) khadim_json_get_int (object, "max", KHADIM_STEP_DEFAULT_MAX);

  return require (self, object, kind, "steps", error) &&
         compile_member (self, object, "steps", &step->steps, error);
}

/* A list or a number stands in the document itself, or an expression gives it. */
static gboolean
read_expression_or_literal (Compiler    *self,
                            JsonObject  *object,
                            const char  *key,
                            KhadimStep  *step,
                            GError     **error)
{
  const char *expression = khadim_json_get_string (object, key, NULL);

  if (expression == NULL)
    {
      step->literal = json_node_copy (khadim_json_get (object, key));
      return check_templates (self, key, step->literal, error);
    }
  step->text = g_strdup (expression);

  return check_expression (self, key, expression, error);
}

static gboolean
compile_for_each (Compiler    *self,
                  JsonObject  *object,
                  KhadimStep  *step,
                  GError     **error)
{
  const char *on_item_error = khadim_json_get_string (object, "on_item_error", "stop");
  const char *key = khadim_json_get_string (object, "key", NULL);

  step->on_item_error = strcmp (on_item_error, "skip") == 0  ? KHADIM_ON_ITEM_ERROR_SKIP
                        : strcmp (on_item_error, "ask") == 0 ? KHADIM_ON_ITEM_ERROR_ASK
                                                             : KHADIM_ON_ITEM_ERROR_STOP;
  if (key != NULL && !check_expression (self, "key", key, error))
    return FALSE;
  step->key = g_strdup (key);

  return require (self, object, "for_each", "as", error) &&
         read_expression_or_literal (self, object, "for_each", step, error) &&
         read_loop (self, object, step, error);
}

static gboolean
compile_while (Compiler    *self,
               JsonObject  *object,
               KhadimStep  *step,
               GError     **error)
{
  return read_condition (self, object, "while", step, error) &&
         read_loop (self, object, step, error);
}

static gboolean
compile_repeat (Compiler    *self,
                JsonObject  *object,
                KhadimStep  *step,
                GError     **error)
{
  return read_expression_or_literal (self, object, "repeat", step, error) &&
         read_loop (self, object, step, error);
}

static gboolean
compile_catches (Compiler    *self,
                 JsonObject  *object,
                 KhadimStep  *step,
                 GError     **error)
{
  JsonObject *codes = khadim_json_get_object (object, "catch");
  gsize length = enter (self, "catch");
  g_autoptr(GList) names = codes != NULL ? json_object_get_members (codes) : NULL;

  for (GList *l = names; l != NULL; l = l->next)
    {
      const char *name = l->data;
      g_autoptr(KhadimCatch) catch = g_new0 (KhadimCatch, 1);
      KhadimToolError code;

      if (strcmp (name, "*") != 0)
        {
          if (!khadim_tool_error_from_code (name, &code) || code == KHADIM_TOOL_ERROR_CANCELLED)
            {
              enter (self, name);
              return invalid (self, error, "“%s” is not the code of an error", name);
            }
          catch->code = g_strdup (name);
        }
      if (!compile_member (self, codes, name, &catch->steps, error))
        return FALSE;
      g_ptr_array_add (step->catches, g_steal_pointer (&catch));
    }
  leave (self, length);

  return TRUE;
}

static gboolean
compile_try (Compiler    *self,
             JsonObject  *object,
             KhadimStep  *step,
             GError     **error)
{
  step->catches = g_ptr_array_new_with_free_func ((GDestroyNotify) _khadim_catch_free);

  if (!json_object_has_member (object, "catch") && !json_object_has_member (object, "finally"))
    return invalid (self, error, "“try” needs “catch” or “finally”");

  return compile_member (self, object, "try", &step->steps, error) &&
         compile_catches (self, object, step, error) &&
         compile_member (self, object, "finally", &step->finally, error);
}

static gboolean
compile_wait (Compiler    *self,
              JsonObject  *object,
              KhadimStep  *step,
              GError     **error)
{
  gboolean expression = khadim_json_get_string (object, "wait_for", NULL) != NULL;

  step->every_ms = 500;
  step->max = (guint) khadim_json_get_int (object, "max", KHADIM_STEP_DEFAULT_MAX);
  if (expression && !json_object_has_member (object, "steps"))
    return invalid (self, error,
                    "nothing would change what the expression looks at: “wait_for” with an "
                    "expression needs “steps” that look again");
  if (!expression && json_object_has_member (object, "steps"))
    {
      enter (self, "steps");
      return invalid (self, error, "only “wait_for” with an expression has “steps”");
    }

  return read_condition (self, object, "wait_for", step, error) &&
         read_duration (self, object, "every", &step->every_ms, error) &&
         compile_member (self, object, "steps", &step->steps, error);
}

static gboolean
compile_call (Compiler    *self,
              JsonObject  *object,
              KhadimStep  *step,
              GError     **error)
{
  const char *name = khadim_json_get_string (object, "call", "");
  JsonNode *inputs = khadim_json_get (object, "inputs");
  gsize length = enter (self, "call");
  g_autofree char *folder = khadim_automation_resolve (name, self->folder, error);

  if (folder == NULL)
    return placed (self, error);
  leave (self, length);
  step->text = g_strdup (name);
  if (inputs == NULL)
    return TRUE;
  step->literal = json_node_copy (inputs);

  return check_templates (self, "inputs", inputs, error);
}

static gboolean
read_text (Compiler    *self,
           JsonObject  *object,
           const char  *key,
           char       **out_text,
           GError     **error)
{
  JsonNode *node = khadim_json_get (object, key);

  if (node == NULL)
    return TRUE;
  *out_text = json_node_dup_string (node);

  return check_templates (self, key, node, error);
}

static gboolean
compile_script (Compiler    *self,
                JsonObject  *object,
                KhadimStep  *step,
                GError     **error)
{
  gsize length = enter (self, "script");

  step->text = g_strdup (khadim_json_get_string (object, "script", ""));
  if (!khadim_script_check_code (step->text, error))
    return placed (self, error);
  leave (self, length);

  return TRUE;
}

static gboolean
compile_ask (Compiler    *self,
             JsonObject  *object,
             KhadimStep  *step,
             GError     **error)
{
  JsonNode *node = khadim_json_get (object, "ask");
  JsonObject *ask;

  if (JSON_NODE_HOLDS_OBJECT (node))
    {
      gboolean choice;

      step->literal = json_node_copy (node);
      ask = json_node_get_object (node);
      choice = strcmp (khadim_json_get_string (ask, "kind", ""), "choice") == 0;
      if (choice != json_object_has_member (ask, "options"))
        {
          enter (self, "ask");
          return invalid (self, error, "“choice” and “options” go together");
        }
    }
  else
    {
      ask = json_object_new ();
      json_object_set_string_member (ask, "question", json_node_get_string (node));
      step->literal = json_node_new (JSON_NODE_OBJECT);
      json_node_take_object (step->literal, ask);
    }

  return check_templates (self, "ask", node, error);
}

static gboolean
compile_check (Compiler    *self,
               JsonObject  *object,
               KhadimStep  *step,
               GError     **error)
{
  return read_text (self, object, "message", &step->message, error) &&
         read_condition (self, object, "check", step, error);
}

static gboolean
compile_kind (Compiler    *self,
              JsonObject  *object,
              KhadimStep  *step,
              GError     **error)
{
  switch (step->kind)
    {
    case KHADIM_STEP_TOOL:
      return compile_tool (self, object, step, error);
    case KHADIM_STEP_IF:
      return compile_if (self, object, step, error);
    case KHADIM_STEP_FOR_EACH:
      return compile_for_each (self, object, step, error);
    case KHADIM_STEP_WHILE:
      return compile_while (self, object, step, error);
    case KHADIM_STEP_REPEAT:
      return compile_repeat (self, object, step, error);
    case KHADIM_STEP_TRY:
      return compile_try (self, object, step, error);
    case KHADIM_STEP_WAIT:
      return compile_wait (self, object, step, error);
    case KHADIM_STEP_CALL:
      return compile_call (self, object, step, error);
    case KHADIM_STEP_SCRIPT:
      return compile_script (self, object, step, error);
    case KHADIM_STEP_ASK:
      return compile_ask (self, object, step, error);
    case KHADIM_STEP_CHECK:
      return compile_check (self, object, step, error);
    case KHADIM_STEP_AGENT:
      return read_text (self, object, "agent", &step->text, error);
    case KHADIM_STEP_FAIL:
      return read_text (self, object, "fail", &step->text, error);
    default:
      g_assert_not_reached ();
    }
}

static KhadimStep *
compile_step (Compiler    *self,
              JsonObject  *object,
              GError     **error)
{
  g_autoptr(KhadimStep) step = _khadim_step_new ();

  if (++self->n_steps > KHADIM_STEP_MAX_COUNT)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT,
                   "%s: an automation holds at most %d steps", self->place->str,
                   KHADIM_STEP_MAX_COUNT);
      return NULL;
    }
  if (!find_kind (self, object, &step->kind, error) ||
      !check_members (self, object, step->kind, error) ||
      !read_common (self, object, step, error) ||
      !compile_kind (self, object, step, error))
    return NULL;

  return g_steal_pointer (&step);
}

static GPtrArray *
compile_list (Compiler   *self,
              JsonArray  *array,
              GError    **error)
{
  g_autoptr(GPtrArray) steps = g_ptr_array_new_with_free_func ((GDestroyNotify) _khadim_step_free);

  if (++self->depth > KHADIM_STEP_MAX_DEPTH)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT,
                   "%s: steps nest more than %d deep", self->place->str, KHADIM_STEP_MAX_DEPTH);
      return NULL;
    }
  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      gsize length = khadim_json_path_push_index (self->place, i);
      KhadimStep *step = compile_step (self, json_array_get_object_element (array, i), error);

      if (step == NULL)
        return NULL;
      g_ptr_array_add (steps, step);
      leave (self, length);
    }
  self->depth--;

  return g_steal_pointer (&steps);
}

/* Makes steps of the list of a document that its schema has passed. On a
 * fault, @out_place is where it is and the message begins with it. */
GPtrArray *
_khadim_compile_steps (JsonArray      *array,
                       KhadimToolbox  *toolbox,
                       const char     *folder,
                       char          **out_place,
                       GError        **error)
{
  Compiler self = { .toolbox = toolbox, .folder = folder };
  GPtrArray *steps;

  self.ids = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self.place = g_string_new (NULL);
  enter (&self, "steps");

  steps = compile_list (&self, array, error);

  g_hash_table_unref (self.ids);
  if (steps == NULL)
    *out_place = g_string_free (self.place, FALSE);
  else
    g_string_free (self.place, TRUE);

  return steps;
}
