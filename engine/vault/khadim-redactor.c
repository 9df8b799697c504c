/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-redactor"

#include "config.h"

#include "engine/vault/khadim-redactor.h"

#include <string.h>

#include "engine/vault/khadim-redactor-private.h"

/* KhadimRedactor: knows the values that must not be seen, and hides them in
 * what goes to the store, to models and to people. What is applied is an
 * automaton that does not change; adding a value makes a new one at the next
 * use. */
struct _KhadimRedactor
{
  GObject parent_instance;

  GMutex lock; /* guards all below */
  KhadimRedactorPatterns *patterns; /* owned */
  KhadimRedactorAutomaton *automaton; /* owned; NULL if patterns came since */
};

G_DEFINE_FINAL_TYPE (KhadimRedactor, khadim_redactor, G_TYPE_OBJECT)

static void
khadim_redactor_finalize (GObject *object)
{
  KhadimRedactor *self = KHADIM_REDACTOR (object);

  g_clear_pointer (&self->automaton, _khadim_redactor_automaton_unref);
  g_clear_pointer (&self->patterns, _khadim_redactor_patterns_free);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (khadim_redactor_parent_class)->finalize (object);
}

static void
khadim_redactor_class_init (KhadimRedactorClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_redactor_finalize;
}

static void
khadim_redactor_init (KhadimRedactor *self)
{
  g_mutex_init (&self->lock);
  self->patterns = _khadim_redactor_patterns_new ();
}

/**
 * khadim_redactor_new:
 *
 * Makes a redactor that knows nothing yet. Any thread.
 *
 * Returns: (transfer full): the redactor
 */
KhadimRedactor *
khadim_redactor_new (void)
{
  return g_object_new (KHADIM_TYPE_REDACTOR, NULL);
}

/* The name as it can stand in JSON, HTML and an address alike. */
static char *
clean_name (const char *name)
{
  char *clean = g_utf8_make_valid (name, -1);

  for (char *c = clean; *c != '\0'; c++)
    {
      if (g_ascii_iscntrl (*c) || strchr ("\"\\<>&'", *c) != NULL)
        *c = '_';
    }

  return clean;
}

/**
 * khadim_redactor_add:
 * @self: a redactor
 * @name: what to call the value in its place
 * @value: a secret, of at most %KHADIM_REDACTOR_MAX_VALUE_BYTES
 *
 * Hides @value from now on: as it is, and as it stands in JSON, in addresses,
 * in base64, in HTML, in hexadecimal and in UTF-16LE. One of fewer than
 * %KHADIM_REDACTOR_MIN_BYTES bytes is hidden only where no letter, digit,
 * underscore or byte above 127 touches it. An empty one is nothing to hide.
 * If two names have the same value, the first is shown. Any thread.
 */
void
khadim_redactor_add (KhadimRedactor *self,
                     const char     *name,
                     const char     *value)
{
  g_autofree char *clean = NULL;
  guint n_before;

  g_return_if_fail (KHADIM_IS_REDACTOR (self));
  g_return_if_fail (name != NULL);
  g_return_if_fail (value != NULL);
  g_return_if_fail (strlen (value) <= KHADIM_REDACTOR_MAX_VALUE_BYTES);

  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  clean = clean_name (name);
  n_before = self->patterns->list->len;
  _khadim_redactor_forms_add (self->patterns, clean, value);
  if (self->patterns->list->len > n_before)
    g_clear_pointer (&self->automaton, _khadim_redactor_automaton_unref);
}

/* The automaton of all values known now, or NULL if there are none. */
KhadimRedactorAutomaton *
_khadim_redactor_dup_automaton (KhadimRedactor *self)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  if (self->patterns->list->len == 0)
    return NULL;
  if (self->automaton == NULL)
    self->automaton = _khadim_redactor_automaton_new (self->patterns);

  return _khadim_redactor_automaton_ref (self->automaton);
}

gboolean
_khadim_redactor_is_word (guint8 byte)
{
  return g_ascii_isalnum (byte) || byte == '_' || byte >= 0x80;
}

/* Whether the pattern whose first bytes were seen at @start is there. */
static gboolean
is_match (const guint8                *text,
          gsize                        length,
          const KhadimRedactorPattern *pattern,
          gsize                        start)
{
  gsize end = start + pattern->length;

  if (end > length || memcmp (text + start, pattern->bytes, pattern->length) != 0)
    return FALSE;

  return !pattern->whole_word
         || ((start == 0 || !_khadim_redactor_is_word (text[start - 1]))
             && (end == length || !_khadim_redactor_is_word (text[end])));
}

/* Whether @a gives the name of a run of both. */
static gboolean
leads (const KhadimRedactorRun *a,
       const KhadimRedactorRun *b)
{
  if (a->start != b->start)
    return a->start < b->start;

  return a->name == NULL || (b->name != NULL && a->lead_length >= b->lead_length);
}

/* Adds a match to the runs, which are in order and do not overlap. Matches
 * come nearly in order, so the place is looked for from the end. */
void
_khadim_redactor_runs_add (GArray     *runs,
                           gsize       start,
                           gsize       end,
                           const char *name)
{
  KhadimRedactorRun merged = { start, end, end - start, name };
  guint after = runs->len;
  guint first;

  while (after > 0 && g_array_index (runs, KhadimRedactorRun, after - 1).start >= end)
    after--;

  first = after;
  while (first > 0 && g_array_index (runs, KhadimRedactorRun, first - 1).end > merged.start)
    {
      const KhadimRedactorRun *run = &g_array_index (runs, KhadimRedactorRun, --first);
      gsize merged_end = MAX (merged.end, run->end);

      if (leads (run, &merged))
        merged = *run;
      merged.end = merged_end;
    }

  if (first < after)
    g_array_remove_range (runs, first, after - first);
  g_array_insert_val (runs, first, merged);
}

void
_khadim_redactor_append_marker (GByteArray *output,
                                const char *name)
{
  static const char before[] = "‹secret ";
  static const char after[] = "›";

  g_byte_array_append (output, (const guint8 *) before, sizeof before - 1);
  g_byte_array_append (output, (const guint8 *) name, (guint) strlen (name));
  g_byte_array_append (output, (const guint8 *) after, sizeof after - 1);
}

static GArray *
find_runs (KhadimRedactorAutomaton *automaton,
           const guint8            *text,
           gsize                    length)
{
  g_autoptr(GArray) runs = g_array_new (FALSE, FALSE, sizeof (KhadimRedactorRun));
  g_autoptr(GArray) hits = g_array_new (FALSE, FALSE, sizeof (KhadimRedactorHit));
  guint32 state = 0;
  gsize done = 0;

  while (done < length)
    {
      gsize from = done;

      done += _khadim_redactor_automaton_scan (automaton, &state, text + from, length - from,
                                               hits);
      for (guint i = 0; i < hits->len; i++)
        {
          const KhadimRedactorHit *hit = &g_array_index (hits, KhadimRedactorHit, i);
          gsize start = from + hit->start;

          if (is_match (text, length, hit->pattern, start))
            _khadim_redactor_runs_add (runs, start, start + hit->pattern->length,
                                       hit->pattern->name);
        }
      g_array_set_size (hits, 0);
    }

  return g_steal_pointer (&runs);
}

static GByteArray *
replace_runs (const guint8 *text,
              gsize         length,
              GArray       *runs)
{
  GByteArray *output = g_byte_array_sized_new ((guint) MIN (length + 64, G_MAXUINT));
  gsize done = 0;

  for (guint i = 0; i < runs->len; i++)
    {
      const KhadimRedactorRun *run = &g_array_index (runs, KhadimRedactorRun, i);

      g_byte_array_append (output, text + done, (guint) (run->start - done));
      _khadim_redactor_append_marker (output, run->name);
      done = run->end;
    }
  g_byte_array_append (output, text + done, (guint) (length - done));

  return output;
}

static GByteArray *
apply (KhadimRedactor *self,
       const guint8   *text,
       gsize           length)
{
  g_autoptr(KhadimRedactorAutomaton) automaton = _khadim_redactor_dup_automaton (self);
  g_autoptr(GArray) runs = NULL;

  if (automaton == NULL)
    return NULL;
  runs = find_runs (automaton, text, length);
  if (runs->len == 0)
    return NULL;

  return replace_runs (text, length, runs);
}

/**
 * khadim_redactor_apply:
 * @self: a redactor
 * @text: a text
 * @length: bytes of @text, or -1 if it ends with a NUL
 *
 * Puts `‹secret NAME›` in place of every value. Values that overlap are one
 * place, named after the one that begins first, and the longest of those.
 * Any thread; calls do not wait for each other.
 *
 * Returns: (nullable) (transfer full): the new text, or %NULL if there is
 *   nothing to hide in @text
 */
char *
khadim_redactor_apply (KhadimRedactor *self,
                       const char     *text,
                       gssize          length)
{
  GByteArray *output;

  g_return_val_if_fail (KHADIM_IS_REDACTOR (self), NULL);
  g_return_val_if_fail (text != NULL, NULL);

  output = apply (self, (const guint8 *) text, length < 0 ? strlen (text) : (gsize) length);
  if (output == NULL)
    return NULL;
  g_byte_array_append (output, (const guint8 *) "", 1);

  return (char *) g_byte_array_free (output, FALSE);
}

/**
 * khadim_redactor_apply_bytes:
 * @self: a redactor
 * @bytes: data of any kind
 *
 * As khadim_redactor_apply(), for data that may have NULs in it. Any thread.
 *
 * Returns: (nullable) (transfer full): the new data, or %NULL if there is
 *   nothing to hide in @bytes
 */
GBytes *
khadim_redactor_apply_bytes (KhadimRedactor *self,
                             GBytes         *bytes)
{
  GByteArray *output;
  const guint8 *data;
  gsize size;

  g_return_val_if_fail (KHADIM_IS_REDACTOR (self), NULL);
  g_return_val_if_fail (bytes != NULL, NULL);

  data = g_bytes_get_data (bytes, &size);
  output = apply (self, data, size);

  return output != NULL ? g_byte_array_free_to_bytes (output) : NULL;
}

static JsonNode *
apply_to_array (KhadimRedactor *self,
                JsonArray      *array)
{
  guint length = json_array_get_length (array);
  g_autoptr(JsonArray) result = json_array_sized_new (length);

  for (guint i = 0; i < length; i++)
    json_array_add_element (result,
                            khadim_redactor_apply_json (self, json_array_get_element (array, i)));

  return json_node_init_array (json_node_alloc (), result);
}

/* The name of a member in the new object: two names that differ in what is
 * hidden must not become one. */
static char *
free_member_name (JsonObject *object,
                  const char *name)
{
  g_autofree char *free_name = g_strdup (name);

  for (guint i = 2; json_object_has_member (object, free_name); i++)
    {
      g_free (free_name);
      free_name = g_strdup_printf ("%s (%u)", name, i);
    }

  return g_steal_pointer (&free_name);
}

static JsonNode *
apply_to_object (KhadimRedactor *self,
                 JsonObject     *object)
{
  g_autoptr(JsonObject) result = json_object_new ();
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &member))
    {
      g_autofree char *clean = khadim_redactor_apply (self, name, -1);
      g_autofree char *free_name = free_member_name (result, clean != NULL ? clean : name);

      json_object_set_member (result, free_name, khadim_redactor_apply_json (self, member));
    }

  return json_node_init_object (json_node_alloc (), result);
}

/**
 * khadim_redactor_apply_json:
 * @self: a redactor
 * @node: a tree
 *
 * Hides values in all texts and names of a tree. @node is not changed. Any
 * thread.
 *
 * Returns: (transfer full): the new tree
 */
JsonNode *
khadim_redactor_apply_json (KhadimRedactor *self,
                            JsonNode       *node)
{
  g_autofree char *clean = NULL;

  g_return_val_if_fail (KHADIM_IS_REDACTOR (self), NULL);
  g_return_val_if_fail (node != NULL, NULL);

  if (JSON_NODE_HOLDS_ARRAY (node))
    return apply_to_array (self, json_node_get_array (node));
  if (JSON_NODE_HOLDS_OBJECT (node))
    return apply_to_object (self, json_node_get_object (node));
  if (json_node_get_value_type (node) != G_TYPE_STRING)
    return json_node_copy (node);

  clean = khadim_redactor_apply (self, json_node_get_string (node), -1);
  if (clean == NULL)
    return json_node_copy (node);

  return json_node_init_string (json_node_alloc (), clean);
}
