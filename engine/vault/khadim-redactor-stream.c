/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-redactor"

#include "config.h"

#include "engine/vault/khadim-redactor-private.h"

#include <string.h>

/* Text that comes in pieces. What is held back is only what may be the
 * beginning of a value: the depth of the automaton says how much, and a value
 * whose first bytes were seen is compared as far as it has come. */

typedef struct {
  const KhadimRedactorPattern *pattern; /* borrowed from the automaton */
  gsize start; /* in the text held back */
  gsize n_compared;
} Candidate;

struct _KhadimRedactorStream
{
  gatomicrefcount ref_count;

  KhadimRedactor *redactor; /* owned */
  KhadimRedactorAutomaton *automaton; /* owned; taken at the first piece */
  gboolean started;
  guint32 state;
  int before; /* the byte before what is held back, or -1 */
  KhadimWipeBuffer held;
  GArray *candidates; /* owned */
  GArray *runs; /* owned, places in the text held back */
  GArray *hits; /* owned, empty between calls */
};

G_DEFINE_BOXED_TYPE (KhadimRedactorStream, khadim_redactor_stream, khadim_redactor_stream_copy,
                     khadim_redactor_stream_free)

/**
 * khadim_redactor_stream_new:
 * @redactor: a redactor
 *
 * Begins a text. It hides the values that @redactor knows when the first
 * piece comes. Any thread; a stream is used by one at a time.
 *
 * Returns: (transfer full): the stream
 */
KhadimRedactorStream *
khadim_redactor_stream_new (KhadimRedactor *redactor)
{
  KhadimRedactorStream *self;

  g_return_val_if_fail (KHADIM_IS_REDACTOR (redactor), NULL);

  self = g_new0 (KhadimRedactorStream, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->redactor = g_object_ref (redactor);
  self->before = -1;
  self->candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  self->runs = g_array_new (FALSE, FALSE, sizeof (KhadimRedactorRun));
  self->hits = g_array_new (FALSE, FALSE, sizeof (KhadimRedactorHit));

  return self;
}

/**
 * khadim_redactor_stream_copy:
 * @self: a stream
 *
 * Any thread.
 *
 * Returns: (transfer full): another reference to the same stream
 */
KhadimRedactorStream *
khadim_redactor_stream_copy (KhadimRedactorStream *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

/**
 * khadim_redactor_stream_free:
 * @self: a stream
 *
 * Drops a reference. What is held back is lost with the last one: see
 * khadim_redactor_stream_finish(). Any thread.
 */
void
khadim_redactor_stream_free (KhadimRedactorStream *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  _khadim_wipe_buffer_clear (&self->held);
  g_array_unref (self->candidates);
  g_array_unref (self->runs);
  g_array_unref (self->hits);
  g_clear_pointer (&self->automaton, _khadim_redactor_automaton_unref);
  g_object_unref (self->redactor);
  g_free (self);
}

/* Looks for beginnings in the bytes from @from on. */
static void
find_candidates (KhadimRedactorStream *self,
                 gsize                 from)
{
  while (from < self->held.length)
    {
      gsize start = from;

      from += _khadim_redactor_automaton_scan (self->automaton, &self->state,
                                               self->held.data + start,
                                               self->held.length - start, self->hits);
      for (guint i = 0; i < self->hits->len; i++)
        {
          const KhadimRedactorHit *hit = &g_array_index (self->hits, KhadimRedactorHit, i);
          Candidate candidate = { hit->pattern, start + hit->start, 0 };

          g_array_append_val (self->candidates, candidate);
        }
      g_array_set_size (self->hits, 0);
    }
}

typedef enum {
  FIT_NO,
  FIT_YES,
  FIT_UNKNOWN,
} Fit;

static gboolean
is_word_before (KhadimRedactorStream *self,
                gsize                 start)
{
  if (start > 0)
    return _khadim_redactor_is_word (self->held.data[start - 1]);

  return self->before >= 0 && _khadim_redactor_is_word ((guint8) self->before);
}

/* Compares a candidate as far as the text has come. */
static Fit
compare_candidate (KhadimRedactorStream *self,
                   Candidate            *candidate,
                   gboolean              final)
{
  const KhadimRedactorPattern *pattern = candidate->pattern;
  gsize end = candidate->start + pattern->length;
  gsize n_there = MIN (pattern->length, self->held.length - candidate->start);

  if (memcmp (self->held.data + candidate->start + candidate->n_compared,
              pattern->bytes + candidate->n_compared, n_there - candidate->n_compared) != 0)
    return FIT_NO;

  candidate->n_compared = n_there;
  if (n_there < pattern->length)
    return final ? FIT_NO : FIT_UNKNOWN;
  if (!pattern->whole_word)
    return FIT_YES;
  if (is_word_before (self, candidate->start))
    return FIT_NO;
  if (end == self->held.length)
    return final ? FIT_YES : FIT_UNKNOWN;

  return _khadim_redactor_is_word (self->held.data[end]) ? FIT_NO : FIT_YES;
}

/* Sorts the candidates into runs, those that are out, and those that wait. */
static void
settle_candidates (KhadimRedactorStream *self,
                   gboolean              final)
{
  guint n_waiting = 0;

  for (guint i = 0; i < self->candidates->len; i++)
    {
      Candidate candidate = g_array_index (self->candidates, Candidate, i);
      Fit fit = compare_candidate (self, &candidate, final);

      if (fit == FIT_YES)
        _khadim_redactor_runs_add (self->runs, candidate.start,
                                   candidate.start + candidate.pattern->length,
                                   candidate.pattern->name);
      else if (fit == FIT_UNKNOWN)
        g_array_index (self->candidates, Candidate, n_waiting++) = candidate;
    }
  g_array_set_size (self->candidates, n_waiting);
}

/* Before this place nothing that is still to come can begin. */
static gsize
find_safe_end (KhadimRedactorStream *self,
               gboolean              final)
{
  gsize safe = self->held.length;

  if (final)
    return safe;

  safe -= MIN (safe, _khadim_redactor_automaton_depth (self->automaton, self->state));
  for (guint i = 0; i < self->candidates->len; i++)
    safe = MIN (safe, g_array_index (self->candidates, Candidate, i).start);

  return safe;
}

/* Writes the text before @safe and the markers of the runs that begin in it;
 * a run that goes on stays, without a name, as its marker is written. */
static GByteArray *
write_runs (KhadimRedactorStream *self,
            gsize                 safe)
{
  GByteArray *output = g_byte_array_new ();
  gsize done = 0;
  guint n_done = 0;

  for (; n_done < self->runs->len; n_done++)
    {
      KhadimRedactorRun *run = &g_array_index (self->runs, KhadimRedactorRun, n_done);

      if (run->start >= safe)
        break;
      g_byte_array_append (output, self->held.data + done, (guint) (run->start - done));
      if (run->name != NULL)
        _khadim_redactor_append_marker (output, run->name);
      done = MIN (run->end, safe);
      if (run->end > safe)
        {
          run->start = safe;
          run->name = NULL;
          break;
        }
    }
  g_byte_array_append (output, self->held.data + done, (guint) (safe - done));
  if (n_done > 0)
    g_array_remove_range (self->runs, 0, n_done);

  return output;
}

/* Moves all places to where the text held back now begins. */
static void
drop_written (KhadimRedactorStream *self,
              gsize                 safe)
{
  if (safe == 0)
    return;

  self->before = self->held.data[safe - 1];
  _khadim_wipe_buffer_drop (&self->held, safe);
  for (guint i = 0; i < self->candidates->len; i++)
    g_array_index (self->candidates, Candidate, i).start -= safe;
  for (guint i = 0; i < self->runs->len; i++)
    {
      KhadimRedactorRun *run = &g_array_index (self->runs, KhadimRedactorRun, i);

      run->start -= safe;
      run->end -= safe;
    }
}

static GBytes *
advance (KhadimRedactorStream *self,
         const guint8         *data,
         gsize                 length,
         gboolean              final)
{
  gsize from = self->held.length;
  GByteArray *output;
  gsize safe;

  if (!self->started)
    self->automaton = _khadim_redactor_dup_automaton (self->redactor);
  self->started = TRUE;
  if (self->automaton == NULL)
    return g_bytes_new (data, length);

  if (length > 0)
    _khadim_wipe_buffer_append (&self->held, data, length);
  find_candidates (self, from);
  settle_candidates (self, final);
  safe = find_safe_end (self, final);
  output = write_runs (self, safe);
  drop_written (self, safe);

  return g_byte_array_free_to_bytes (output);
}

/**
 * khadim_redactor_stream_feed:
 * @self: a stream
 * @data: the next piece; it may end anywhere, within a character too
 * @length: bytes of @data, or -1 if it ends with a NUL
 *
 * Takes the next piece. Together the results are what
 * khadim_redactor_apply_bytes() makes of the whole; what may be the beginning
 * of a value is held back.
 *
 * Returns: (transfer full): what can be shown now; may be empty
 */
GBytes *
khadim_redactor_stream_feed (KhadimRedactorStream *self,
                             const char           *data,
                             gssize                length)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (data != NULL || length == 0, NULL);

  return advance (self, (const guint8 *) data, length < 0 ? strlen (data) : (gsize) length, FALSE);
}

/**
 * khadim_redactor_stream_finish:
 * @self: a stream
 *
 * Ends the text. The stream can be used for another one then.
 *
 * Returns: (transfer full): what was held back; may be empty
 */
GBytes *
khadim_redactor_stream_finish (KhadimRedactorStream *self)
{
  GBytes *rest;

  g_return_val_if_fail (self != NULL, NULL);

  rest = advance (self, NULL, 0, TRUE);
  g_clear_pointer (&self->automaton, _khadim_redactor_automaton_unref);
  self->started = FALSE;
  self->state = 0;
  self->before = -1;

  return rest;
}
