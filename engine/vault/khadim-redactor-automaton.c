/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-redactor"

#include "config.h"

#include "engine/vault/khadim-redactor-private.h"

#include <string.h>

/* The automaton of Aho and Corasick ("Efficient string matching: an aid to
 * bibliographic search", Communications of the ACM 18, 1975), with the
 * failure transitions resolved into a full table over the classes of bytes
 * that occur. It holds the first bytes of each pattern only, so that it stays
 * small with long ones; who gets a hit compares the rest. */

/* How much of a pattern is in the automaton */
#define PREFIX_BYTES 8

#define NO_STATE G_MAXUINT32

struct _KhadimRedactorAutomaton
{
  gatomicrefcount ref_count;

  GPtrArray *patterns; /* owned */
  guint8 classes[256];
  guint n_classes;
  guint n_states;

  /* By row and class: the offset of the next row. States with output come
   * last, so that one comparison finds them. */
  guint32 *table; /* owned, wiped */
  guint32 first_hit; /* the offset of the first row with output */

  /* By row */
  guint8 *depths; /* owned */
  guint32 *outputs; /* owned: the first pattern + 1 of its own, or 0 */
  guint32 *links; /* owned: the next row with output along failures, or 0 */

  guint32 *siblings; /* owned, by pattern: the next one + 1 with the same prefix */
};

/* While it is built, states are numbered as they are found. */
typedef struct {
  KhadimRedactorAutomaton *automaton;
  guint32 *next; /* owned, wiped: by state and class */
  guint32 *failures; /* owned */
  guint32 *order; /* owned: the states by depth */
  guint32 *rows; /* owned: the row of each state */
} Builder;

static gsize
prefix_length (const KhadimRedactorPattern *pattern)
{
  return MIN (pattern->length, PREFIX_BYTES);
}

static void
free_wiped (gpointer data,
            gsize    size)
{
  if (data == NULL)
    return;

  explicit_bzero (data, size);
  g_free (data);
}

/* Class 0 is all bytes that are in no prefix. */
static gsize
assign_classes (KhadimRedactorAutomaton *self)
{
  gsize n_bytes = 0;

  self->n_classes = 1;
  for (guint i = 0; i < self->patterns->len; i++)
    {
      const KhadimRedactorPattern *pattern = self->patterns->pdata[i];

      n_bytes += prefix_length (pattern);
      for (gsize j = 0; j < prefix_length (pattern); j++)
        {
          if (self->classes[pattern->bytes[j]] == 0 && self->n_classes < 256)
            self->classes[pattern->bytes[j]] = (guint8) self->n_classes++;
        }
    }

  return n_bytes;
}

static void
insert_pattern (Builder *builder,
                guint    index)
{
  KhadimRedactorAutomaton *self = builder->automaton;
  const KhadimRedactorPattern *pattern = self->patterns->pdata[index];
  guint32 state = 0;

  for (gsize i = 0; i < prefix_length (pattern); i++)
    {
      guint32 *edge = &builder->next[state * self->n_classes + self->classes[pattern->bytes[i]]];

      if (*edge == NO_STATE)
        {
          *edge = self->n_states++;
          self->depths[*edge] = (guint8) (i + 1);
        }
      state = *edge;
    }

  self->siblings[index] = self->outputs[state];
  self->outputs[state] = index + 1;
}

/* Resolves one edge: what is missing goes where the failure would go. */
static void
resolve_edge (Builder *builder,
              guint32  state,
              guint    class,
              guint   *n_queued)
{
  KhadimRedactorAutomaton *self = builder->automaton;
  guint32 *edge = &builder->next[state * self->n_classes + class];
  guint32 failure = builder->failures[state];
  guint32 fallback = state == 0 ? 0 : builder->next[failure * self->n_classes + class];

  if (*edge == NO_STATE)
    {
      *edge = fallback;
      return;
    }

  builder->failures[*edge] = fallback;
  self->links[*edge] = self->outputs[fallback] != 0 ? fallback : self->links[fallback];
  builder->order[(*n_queued)++] = *edge;
}

/* Breadth first: what a failure leads to is less deep, and so is complete. */
static void
resolve_failures (Builder *builder)
{
  KhadimRedactorAutomaton *self = builder->automaton;
  guint n_queued = 1;

  builder->order[0] = 0;
  for (guint i = 0; i < n_queued; i++)
    {
      for (guint class = 0; class < self->n_classes; class++)
        resolve_edge (builder, builder->order[i], class, &n_queued);
    }
}

static gboolean
has_output (const KhadimRedactorAutomaton *self,
            guint32                        state)
{
  return self->outputs[state] != 0 || self->links[state] != 0;
}

static void
permute (guint32       *values,
         const guint32 *rows,
         guint          n_values)
{
  g_autofree guint32 *old = g_memdup2 (values, n_values * sizeof *values);

  for (guint i = 0; i < n_values; i++)
    values[rows[i]] = old[i];
}

/* Writes the table with the states that have output last; the root stays
 * first, as it has none. */
static void
write_table (Builder *builder)
{
  KhadimRedactorAutomaton *self = builder->automaton;
  guint n_classes = self->n_classes;
  g_autofree guint8 *depths = g_memdup2 (self->depths, self->n_states);
  guint32 row = 0;

  for (guint pass = 0; pass < 2; pass++)
    {
      if (pass == 1)
        self->first_hit = row * n_classes;
      for (guint i = 0; i < self->n_states; i++)
        {
          if (has_output (self, builder->order[i]) == (pass == 1))
            builder->rows[builder->order[i]] = row++;
        }
    }

  self->table = g_new (guint32, (gsize) self->n_states * n_classes);
  for (guint state = 0; state < self->n_states; state++)
    {
      guint32 *cells = &self->table[builder->rows[state] * n_classes];

      for (guint class = 0; class < n_classes; class++)
        cells[class] = builder->rows[builder->next[state * n_classes + class]] * n_classes;
      self->depths[builder->rows[state]] = depths[state];
      if (self->links[state] != 0)
        self->links[state] = builder->rows[self->links[state]];
    }
  permute (self->links, builder->rows, self->n_states);
  permute (self->outputs, builder->rows, self->n_states);
}

static void
build (KhadimRedactorAutomaton *self,
       gsize                    max_states)
{
  gsize n_cells = max_states * self->n_classes;
  Builder builder = { .automaton = self };

  g_assert (n_cells < NO_STATE);
  builder.next = g_new (guint32, n_cells);
  memset (builder.next, 0xff, n_cells * sizeof (guint32));
  builder.failures = g_new0 (guint32, max_states);
  builder.order = g_new0 (guint32, max_states);
  builder.rows = g_new0 (guint32, max_states);
  self->n_states = 1;

  for (guint i = 0; i < self->patterns->len; i++)
    insert_pattern (&builder, i);
  resolve_failures (&builder);
  write_table (&builder);

  free_wiped (builder.next, n_cells * sizeof (guint32));
  g_free (builder.failures);
  g_free (builder.order);
  g_free (builder.rows);
}

static gpointer
acquire_pattern (gconstpointer pattern,
                 gpointer      user_data)
{
  return g_atomic_rc_box_acquire ((gpointer) pattern);
}

/* Compiles the patterns that are there now; ones that come later are not in
 * it. */
KhadimRedactorAutomaton *
_khadim_redactor_automaton_new (const KhadimRedactorPatterns *patterns)
{
  KhadimRedactorAutomaton *self = g_new0 (KhadimRedactorAutomaton, 1);
  gsize max_states;

  g_atomic_ref_count_init (&self->ref_count);
  self->patterns = g_ptr_array_copy (patterns->list, acquire_pattern, NULL);
  max_states = assign_classes (self) + 1;
  self->depths = g_new0 (guint8, max_states);
  self->outputs = g_new0 (guint32, max_states);
  self->links = g_new0 (guint32, max_states);
  self->siblings = g_new0 (guint32, self->patterns->len + 1);
  build (self, max_states);

  return self;
}

KhadimRedactorAutomaton *
_khadim_redactor_automaton_ref (KhadimRedactorAutomaton *self)
{
  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

void
_khadim_redactor_automaton_unref (KhadimRedactorAutomaton *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  free_wiped (self->table, (gsize) self->n_states * self->n_classes * sizeof (guint32));
  explicit_bzero (self->classes, sizeof self->classes);
  g_free (self->depths);
  g_free (self->outputs);
  g_free (self->links);
  g_free (self->siblings);
  g_ptr_array_unref (self->patterns);
  g_free (self);
}

/* Adds the patterns whose prefix ends before @end. */
static void
add_hits (const KhadimRedactorAutomaton *self,
          guint32                        row,
          gsize                          end,
          GArray                        *hits)
{
  for (; row != 0; row = self->links[row])
    {
      for (guint32 i = self->outputs[row]; i != 0; i = self->siblings[i - 1])
        {
          const KhadimRedactorPattern *pattern = self->patterns->pdata[i - 1];
          KhadimRedactorHit hit = { pattern, end - prefix_length (pattern) };

          g_array_append_val (hits, hit);
        }
    }
}

/* Goes on from @state (0 at the start) over @data until something is seen,
 * and adds that to @hits with its place from the start of @data, which is
 * negative modulo 2^64 if it began before. Returns how far it came. */
gsize
_khadim_redactor_automaton_scan (KhadimRedactorAutomaton *self,
                                 guint32                 *state,
                                 const guint8            *data,
                                 gsize                    length,
                                 GArray                  *hits)
{
  const guint32 *table = self->table;
  const guint8 *classes = self->classes;
  guint32 first_hit = self->first_hit;
  guint32 row = *state;
  gsize i;

  for (i = 0; i < length; i++)
    {
      row = table[row + classes[data[i]]];
      if (G_UNLIKELY (row >= first_hit))
        {
          i++;
          add_hits (self, row / self->n_classes, i, hits);
          break;
        }
    }
  *state = row;

  return i;
}

/* How many of the bytes before may be the beginning of a pattern. */
guint
_khadim_redactor_automaton_depth (KhadimRedactorAutomaton *self,
                                  guint32                  state)
{
  return self->depths[state / self->n_classes];
}
