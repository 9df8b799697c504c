/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Why a value does not fit, in words for people. */

#define G_LOG_DOMAIN "khadim-schema-failure"

#include "config.h"

#include "engine/json/khadim-schema-private.h"

#include "engine/json/khadim-json-path.h"
#include "engine/json/khadim-json-private.h"
#include "engine/json/khadim-json.h"

/* Characters of a value, and values of a list, that a message shows */
#define SHOWN_CHARS 60
#define SHOWN_VALUES 12
/* Characters of words that are compared for "did you mean" */
#define WORD_CHARS 40
/* References followed to gather the names that an object can have */
#define NAMES_DEPTH 4

static const struct
{
  KhadimSchemaType type;
  const char *words;
} type_words[] = {
  { KHADIM_SCHEMA_TYPE_STRING, "a string" },
  { KHADIM_SCHEMA_TYPE_NUMBER, "a number" },
  { KHADIM_SCHEMA_TYPE_INTEGER, "an integer" },
  { KHADIM_SCHEMA_TYPE_BOOLEAN, "true or false" },
  { KHADIM_SCHEMA_TYPE_OBJECT, "an object" },
  { KHADIM_SCHEMA_TYPE_ARRAY, "an array" },
  { KHADIM_SCHEMA_TYPE_NULL, "null" },
};

static void
append_frame (GString                 *place,
              const KhadimSchemaFrame *frame)
{
  if (frame == NULL || frame->depth == 0)
    return;

  append_frame (place, frame->parent);
  if (frame->key != NULL)
    khadim_json_path_push_key (place, frame->key);
  else
    khadim_json_path_push_index (place, frame->index);
}

char *
_khadim_schema_frame_to_place (const KhadimSchemaFrame *frame)
{
  GString *place = g_string_new (NULL);

  append_frame (place, frame);

  return g_string_free (place, FALSE);
}

/* A value, shortened. */
char *
_khadim_schema_describe (JsonNode *instance)
{
  g_autofree char *text = NULL;
  guint n;

  switch (json_node_get_node_type (instance))
    {
    case JSON_NODE_OBJECT:
      n = json_object_get_size (json_node_get_object (instance));
      return n == 0 ? g_strdup ("an empty object")
                    : g_strdup_printf ("an object with %u member%s", n, n == 1 ? "" : "s");

    case JSON_NODE_ARRAY:
      n = json_array_get_length (json_node_get_array (instance));
      return n == 0 ? g_strdup ("an empty array")
                    : g_strdup_printf ("an array of %u item%s", n, n == 1 ? "" : "s");

    case JSON_NODE_VALUE:
    case JSON_NODE_NULL:
    default:
      text = khadim_json_to_string (instance);
      return _khadim_json_shorten (text, SHOWN_CHARS);
    }
}

/* Making failures ----------------------------------------------------------- */

void
_khadim_schema_failure_free (KhadimSchemaFailure *self)
{
  if (self == NULL)
    return;

  g_free (self->place);
  g_free (self->problem);
  g_free (self->found);
  g_clear_pointer (&self->values, g_ptr_array_unref);
  g_free (self);
}

KhadimSchemaFailure *
_khadim_schema_run_steal_failure (KhadimSchemaRun *run)
{
  return g_steal_pointer (&run->failure);
}

static KhadimSchemaFailure *
run_new_failure (KhadimSchemaRun         *run,
                 const KhadimSchemaFrame *frame)
{
  g_clear_pointer (&run->failure, _khadim_schema_failure_free);
  run->failure = g_new0 (KhadimSchemaFailure, 1);
  run->failure->place = _khadim_schema_frame_to_place (frame);
  run->failure->depth = frame->depth;

  return run->failure;
}

/* Stops the whole check. Always %FALSE. */
gboolean
_khadim_schema_run_abort (KhadimSchemaRun         *run,
                          const KhadimSchemaFrame *frame,
                          KhadimEngineError        code,
                          const char              *problem)
{
  if (run->abort_error == NULL)
    {
      run_new_failure (run, frame);
      run->abort_error = g_error_new_literal (KHADIM_ENGINE_ERROR, (int) code, problem);
    }

  return FALSE;
}

gboolean
_khadim_schema_run_spend (KhadimSchemaRun         *run,
                          guint64                  steps,
                          const KhadimSchemaFrame *frame)
{
  if (run->abort_error != NULL)
    return FALSE;
  if (steps > run->steps_left)
    {
      run->steps_left = 0;
      return _khadim_schema_run_abort (run, frame, KHADIM_ENGINE_ERROR_LIMIT,
                                       "the check takes too many steps");
    }
  run->steps_left -= steps;

  return TRUE;
}

/* All of these are always %FALSE. */
gboolean
_khadim_schema_run_fail (KhadimSchemaRun         *run,
                         const KhadimSchemaFrame *frame,
                         const char              *format,
                         ...)
{
  va_list args;

  if (run->quiet > 0 || run->abort_error != NULL)
    return FALSE;

  va_start (args, format);
  run_new_failure (run, frame)->problem = g_strdup_vprintf (format, args);
  va_end (args);

  return FALSE;
}

static const char *
instance_get_word (JsonNode *instance)
{
  if (!JSON_NODE_HOLDS_VALUE (instance)
      || json_node_get_value_type (instance) != G_TYPE_STRING)
    return NULL;

  return json_node_get_string (instance);
}

gboolean
_khadim_schema_run_fail_type (KhadimSchemaRun         *run,
                              const KhadimSchemaFrame *frame,
                              guint                    types,
                              JsonNode                *instance)
{
  KhadimSchemaFailure *failure;

  if (run->quiet > 0 || run->abort_error != NULL)
    return FALSE;

  failure = run_new_failure (run, frame);
  failure->types = types;
  failure->found = _khadim_schema_describe (instance);
  failure->word = instance_get_word (instance);

  return FALSE;
}

gboolean
_khadim_schema_run_fail_value (KhadimSchemaRun         *run,
                               const KhadimSchemaFrame *frame,
                               JsonNode                *constant,
                               JsonArray               *enumeration,
                               JsonNode                *instance)
{
  KhadimSchemaFailure *failure;
  guint n = enumeration != NULL ? json_array_get_length (enumeration) : 0;

  if (run->quiet > 0 || run->abort_error != NULL)
    return FALSE;

  failure = run_new_failure (run, frame);
  failure->values = g_ptr_array_new ();
  if (constant != NULL)
    g_ptr_array_add (failure->values, constant);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (failure->values, json_array_get_element (enumeration, i));
  failure->found = _khadim_schema_describe (instance);
  failure->word = instance_get_word (instance);

  return FALSE;
}

/* Did you mean -------------------------------------------------------------- */

/* Edits that make one word of the other: a letter added, left out, changed, or
 * two neighbours swapped (optimal string alignment; Damerau 1964). */
static guint
edit_distance (const char *a,
               const char *b)
{
  g_autofree gunichar *x = g_utf8_to_ucs4_fast (a, -1, NULL);
  g_autofree gunichar *y = g_utf8_to_ucs4_fast (b, -1, NULL);
  guint rows[3][WORD_CHARS + 1];
  guint *before = rows[0];
  guint *last = rows[1];
  guint *row = rows[2];
  guint width = 0;

  while (y[width] != 0)
    {
      last[width] = width;
      width++;
    }
  last[width] = width;

  for (guint i = 1; x[i - 1] != 0; i++)
    {
      guint *swap = before;

      row[0] = i;
      for (guint j = 1; j <= width; j++)
        {
          row[j] = last[j - 1] + (x[i - 1] == y[j - 1] ? 0 : 1);
          row[j] = MIN (row[j], MIN (last[j], row[j - 1]) + 1);
          if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1])
            row[j] = MIN (row[j], before[j - 2] + 1);
        }
      before = last;
      last = row;
      row = swap;
    }

  return last[width];
}

/* The one of @words that was most likely meant, or %NULL. */
static const char *
closest_word (const char *word,
              GPtrArray  *words)
{
  const char *closest = NULL;
  guint length = (guint) g_utf8_strlen (word, -1);
  guint least = MAX (1, length / 3) + 1;

  if (length > WORD_CHARS)
    return NULL;

  for (guint i = 0; i < words->len; i++)
    {
      const char *other = g_ptr_array_index (words, i);
      guint distance;

      if (g_utf8_strlen (other, -1) > WORD_CHARS)
        continue;
      distance = edit_distance (word, other);
      if (distance < least)
        {
          least = distance;
          closest = other;
        }
    }

  return closest;
}

static void gather_names (const KhadimSubschema *schema,
                          guint                  depth,
                          GPtrArray             *names);

static void
gather_names_of_all (GPtrArray *schemas,
                     guint      depth,
                     GPtrArray *names)
{
  for (guint i = 0; schemas != NULL && i < schemas->len; i++)
    gather_names (g_ptr_array_index (schemas, i), depth, names);
}

/* The members that @schema knows, what it refers to included. */
static void
gather_names (const KhadimSubschema *schema,
              guint                  depth,
              GPtrArray             *names)
{
  if (schema == NULL || depth == 0)
    return;

  for (guint i = 0; schema->properties != NULL && i < schema->properties->len; i++)
    {
      const KhadimSchemaProperty *property = &g_array_index (schema->properties,
                                                             KhadimSchemaProperty, i);

      if (!property->subschema->is_boolean || property->subschema->accepts)
        g_ptr_array_add (names, (gpointer) property->name);
    }

  gather_names (schema->ref, depth - 1, names);
  gather_names (schema->dynamic_ref, depth - 1, names);
  gather_names (schema->then_schema, depth - 1, names);
  gather_names (schema->else_schema, depth - 1, names);
  gather_names_of_all (schema->all_of, depth - 1, names);
  gather_names_of_all (schema->any_of, depth - 1, names);
  gather_names_of_all (schema->one_of, depth - 1, names);
}

/* @frame is that of the member. */
gboolean
_khadim_schema_run_fail_name (KhadimSchemaRun         *run,
                              const KhadimSchemaFrame *frame,
                              const KhadimSubschema   *schema,
                              JsonObject              *object,
                              const char              *name)
{
  g_autoptr(GPtrArray) names = NULL;
  g_autofree char *shown = NULL;
  const char *closest;

  if (run->quiet > 0 || run->abort_error != NULL)
    return FALSE;

  names = g_ptr_array_new ();
  gather_names (schema, NAMES_DEPTH, names);
  for (guint i = names->len; i > 0; i--)
    {
      if (json_object_has_member (object, g_ptr_array_index (names, i - 1)))
        g_ptr_array_remove_index (names, i - 1);
    }

  shown = _khadim_json_shorten (name, SHOWN_CHARS);
  closest = closest_word (name, names);
  if (closest != NULL)
    return _khadim_schema_run_fail (run, frame, "“%s” is not known here; did you mean “%s”?",
                                    shown, closest);

  return _khadim_schema_run_fail (run, frame, "“%s” is not known here", shown);
}

/* Choosing and saying ------------------------------------------------------- */

static gboolean
failure_is_simple (const KhadimSchemaFailure *self)
{
  return self->problem == NULL;
}

/* How near a branch came. One for another type, or with another value in the
 * member that tells branches apart, was hardly meant. */
static guint
failure_rank (const KhadimSchemaFailure *self,
              guint                      depth)
{
  guint below = self->depth - depth;

  if (failure_is_simple (self) && below == 0)
    return self->values != NULL ? 1 : 0;
  if (failure_is_simple (self) && self->values != NULL && below == 1)
    return 2;

  return 3 + below;
}

/* What would also have fitted. */
static void
failure_merge (KhadimSchemaFailure       *self,
               const KhadimSchemaFailure *other)
{
  self->types |= other->types;
  if (other->values == NULL)
    return;

  if (self->values == NULL)
    self->values = g_ptr_array_new ();
  for (guint i = 0; i < other->values->len; i++)
    {
      if (!g_ptr_array_find (self->values, g_ptr_array_index (other->values, i), NULL))
        g_ptr_array_add (self->values, g_ptr_array_index (other->values, i));
    }
}

/* The failure of the branch that came nearest at a value at @depth, taken out of
 * @failures; with those that ask for something as simple at the same place. */
KhadimSchemaFailure *
_khadim_schema_failure_closest (GPtrArray *failures,
                                guint      depth)
{
  KhadimSchemaFailure *best = g_ptr_array_index (failures, 0);
  guint index = 0;
  guint rank = failure_rank (best, depth);

  for (guint i = 1; i < failures->len; i++)
    {
      KhadimSchemaFailure *other = g_ptr_array_index (failures, i);

      if (failure_rank (other, depth) > rank)
        {
          best = other;
          rank = failure_rank (other, depth);
        }
    }

  for (guint i = 0; failure_is_simple (best) && i < failures->len; i++)
    {
      KhadimSchemaFailure *other = g_ptr_array_index (failures, i);

      if (other != best && failure_is_simple (other) && g_str_equal (other->place, best->place))
        failure_merge (best, other);
    }

  g_ptr_array_find (failures, best, &index);

  return g_ptr_array_steal_index (failures, index);
}

static void
append_types (GString *text,
              guint    types)
{
  if ((types & KHADIM_SCHEMA_TYPE_NUMBER) != 0)
    types &= ~(guint) KHADIM_SCHEMA_TYPE_INTEGER;

  for (guint i = 0; i < G_N_ELEMENTS (type_words); i++)
    {
      if ((types & type_words[i].type) == 0)
        continue;
      if (text->len > 0)
        g_string_append (text, " or ");
      g_string_append (text, type_words[i].words);
    }
}

static void
append_values (GString   *text,
               GPtrArray *values)
{
  guint shown = MIN (values->len, SHOWN_VALUES);

  if (text->len > 0)
    g_string_append (text, " or ");
  if (values->len == 0)
    g_string_append (text, "nothing at all");
  if (values->len > 1)
    g_string_append (text, "one of ");

  for (guint i = 0; i < shown; i++)
    {
      g_autofree char *value = khadim_json_to_string (g_ptr_array_index (values, i));
      g_autofree char *short_value = _khadim_json_shorten (value, SHOWN_CHARS);

      if (i > 0)
        g_string_append (text, ", ");
      g_string_append (text, short_value);
    }
  if (values->len > shown)
    g_string_append_printf (text, " and %u others", values->len - shown);
}

static const char *
failure_closest_value (const KhadimSchemaFailure *self)
{
  g_autoptr(GPtrArray) words = g_ptr_array_new ();

  if (self->word == NULL || self->values == NULL)
    return NULL;

  for (guint i = 0; i < self->values->len; i++)
    {
      const char *word = instance_get_word (g_ptr_array_index (self->values, i));

      if (word != NULL)
        g_ptr_array_add (words, (gpointer) word);
    }

  return closest_word (self->word, words);
}

/* The sentence, with the place in front unless that is the root. */
char *
_khadim_schema_failure_to_text (const KhadimSchemaFailure *self)
{
  g_autoptr(GString) expected = g_string_new (NULL);
  g_autoptr(GString) text = g_string_new (NULL);
  const char *closest;

  if (self->place[0] != '\0')
    g_string_append_printf (text, "%s: ", self->place);
  if (!failure_is_simple (self))
    {
      g_string_append (text, self->problem);
      return g_string_free (g_steal_pointer (&text), FALSE);
    }

  append_types (expected, self->types);
  if (self->values != NULL)
    append_values (expected, self->values);
  g_string_append_printf (text, "expected %s, found %s", expected->str, self->found);

  closest = failure_closest_value (self);
  if (closest != NULL)
    g_string_append_printf (text, "; did you mean “%s”?", closest);

  return g_string_free (g_steal_pointer (&text), FALSE);
}
