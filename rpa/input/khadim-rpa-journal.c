/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-journal"

#include "config.h"

#include "rpa/input/khadim-rpa-journal-private.h"

/* Whose an event is cannot be told by its device: a remote desktop uses the
 * same as we do, and under a virtual server everybody does. So what is
 * injected is noted, and an event that was noted is ours. */

/* An event that has not come by then does not come: the server drops presses
 * of modifiers that are down. */
#define LIFETIME_US G_USEC_PER_SEC

void
_khadim_rpa_journal_init (KhadimRpaJournal *self)
{
  g_mutex_init (&self->lock);
  self->entries = g_new0 (KhadimRpaJournalEntry, KHADIM_RPA_JOURNAL_ENTRIES);
}

void
_khadim_rpa_journal_clear (KhadimRpaJournal *self)
{
  g_clear_pointer (&self->entries, g_free);
  g_mutex_clear (&self->lock);
}

static KhadimRpaJournalEntry *
get_entry (KhadimRpaJournal *self,
           guint             i)
{
  return &self->entries[(self->first + i) % KHADIM_RPA_JOURNAL_ENTRIES];
}

static void
drop_first (KhadimRpaJournal *self)
{
  self->first = (self->first + 1) % KHADIM_RPA_JOURNAL_ENTRIES;
  self->n--;
}

/* Notes an event before it is injected. When nobody takes any, the oldest go. */
void
_khadim_rpa_journal_add (KhadimRpaJournal  *self,
                         KhadimRpaInjected  what,
                         int                a,
                         int                b)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  if (self->n == KHADIM_RPA_JOURNAL_ENTRIES)
    drop_first (self);
  *get_entry (self, self->n++) = (KhadimRpaJournalEntry) {
    .what = what, .a = a, .b = b, .time_us = g_get_monotonic_time (),
  };
}

/* Whether an event that was seen is one of ours; each is taken once. */
gboolean
_khadim_rpa_journal_take (KhadimRpaJournal  *self,
                          KhadimRpaInjected  what,
                          int                a,
                          int                b)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  gint64 oldest_us = g_get_monotonic_time () - LIFETIME_US;

  while (self->n > 0 && (get_entry (self, 0)->taken || get_entry (self, 0)->time_us < oldest_us))
    drop_first (self);
  for (guint i = 0; i < self->n; i++)
    {
      KhadimRpaJournalEntry *entry = get_entry (self, i);

      if (!entry->taken && entry->what == what && entry->a == a && entry->b == b)
        {
          entry->taken = TRUE;
          return TRUE;
        }
    }

  return FALSE;
}
