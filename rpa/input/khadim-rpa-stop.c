/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-stop"

#include "config.h"

#include "rpa/input/khadim-rpa-stop.h"

/* The emergency stop of this process: one flag that is looked at before every
 * injected event, and that needs no thread to be responsive. */
static gint stopped;

/**
 * khadim_rpa_stop_set:
 *
 * Stops all input of this process: nothing more is injected but what releases
 * keys and buttons. Any thread, also in a signal handler.
 */
void
khadim_rpa_stop_set (void)
{
  g_atomic_int_set (&stopped, TRUE);
}

/**
 * khadim_rpa_stop_clear:
 *
 * Allows input again, when a person has started a new run. Any thread.
 */
void
khadim_rpa_stop_clear (void)
{
  g_atomic_int_set (&stopped, FALSE);
}

/**
 * khadim_rpa_stop_is_set:
 *
 * Any thread.
 *
 * Returns: whether input is stopped
 */
gboolean
khadim_rpa_stop_is_set (void)
{
  return g_atomic_int_get (&stopped);
}
