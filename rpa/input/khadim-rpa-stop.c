/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-stop"

#include "config.h"

#include "rpa/input/khadim-rpa-stop-private.h"

#include <errno.h>
#include <unistd.h>

/* The emergency stop of this process: one flag that is looked at before every
 * injected event, and that needs no thread to be responsive. */
static gint stopped;

/* Who is woken when it changes: descriptors + 1, 0 where there is none. */
static gint wake_fds[KHADIM_RPA_STOP_MAX_WATCHES];

/* Safe in a signal handler, as write() is. */
static void
wake_watches (void)
{
  static const guint64 one = 1;
  int saved = errno;

  for (guint i = 0; i < G_N_ELEMENTS (wake_fds); i++)
    {
      int fd = g_atomic_int_get (&wake_fds[i]) - 1;

      /* Full means that it is awake already. */
      if (fd >= 0 && write (fd, &one, sizeof one) < 0)
        continue;
    }
  errno = saved;
}

gboolean
_khadim_rpa_stop_attach (int fd)
{
  for (guint i = 0; i < G_N_ELEMENTS (wake_fds); i++)
    if (g_atomic_int_compare_and_exchange (&wake_fds[i], 0, fd + 1))
      return TRUE;

  return FALSE;
}

void
_khadim_rpa_stop_detach (int fd)
{
  for (guint i = 0; i < G_N_ELEMENTS (wake_fds); i++)
    if (g_atomic_int_compare_and_exchange (&wake_fds[i], fd + 1, 0))
      return;
}

/**
 * khadim_rpa_stop_set:
 *
 * Stops all input of this process: nothing more is injected but what releases
 * keys and buttons, and a watch releases them at once. Any thread, also in a
 * signal handler.
 */
void
khadim_rpa_stop_set (void)
{
  g_atomic_int_set (&stopped, TRUE);
  wake_watches ();
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
  wake_watches ();
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
