/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What was injected. Any thread. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define KHADIM_RPA_N_KEYCODES 256
#define KHADIM_RPA_N_BUTTONS 16

/* What this process holds down, in memory that its guardian shares. Never less
 * than what is down. */
typedef struct
{
  gint keys[KHADIM_RPA_N_KEYCODES];       /* atomic */
  gint buttons[KHADIM_RPA_N_BUTTONS];     /* atomic */
  gint window;                            /* goes when the connection that presses does */
} KhadimRpaHeld;

typedef enum {
  KHADIM_RPA_INJECTED_KEY_PRESS,
  KHADIM_RPA_INJECTED_KEY_RELEASE,
  KHADIM_RPA_INJECTED_MOTION,
} KhadimRpaInjected;

#define KHADIM_RPA_JOURNAL_ENTRIES 2048

typedef struct
{
  KhadimRpaInjected what;
  int a;            /* key, or column */
  int b;            /* 0, or row */
  gint64 time_us;
  gboolean taken;
} KhadimRpaJournalEntry;

/* Events of ours that have not been seen to happen yet. */
typedef struct
{
  GMutex lock;
  KhadimRpaJournalEntry *entries; /* (owned) a ring; guarded by lock, as all below */
  guint first;
  guint n;
} KhadimRpaJournal;

void     _khadim_rpa_journal_init  (KhadimRpaJournal   *self);
void     _khadim_rpa_journal_clear (KhadimRpaJournal   *self);
void     _khadim_rpa_journal_add   (KhadimRpaJournal   *self,
                                    KhadimRpaInjected   what,
                                    int                 a,
                                    int                 b);
gboolean _khadim_rpa_journal_take  (KhadimRpaJournal   *self,
                                    KhadimRpaInjected   what,
                                    int                 a,
                                    int                 b);

G_END_DECLS
