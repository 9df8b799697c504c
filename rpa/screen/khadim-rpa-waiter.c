/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-waiter"

#include "config.h"

#include "rpa/screen/khadim-rpa-waiter-private.h"

#include "rpa/screen/khadim-rpa-error.h"

void
_khadim_rpa_waiter_init (KhadimRpaWaiter *self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  self->serial = 0;
}

void
_khadim_rpa_waiter_clear (KhadimRpaWaiter *self)
{
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
}

void
_khadim_rpa_waiter_bump (KhadimRpaWaiter *self)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  self->serial++;
  g_cond_broadcast (&self->changed);
}

guint64
_khadim_rpa_waiter_get_serial (KhadimRpaWaiter *self)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  return self->serial;
}

gboolean
_khadim_rpa_check_cancelled (GCancellable  *cancellable,
                             GError       **error)
{
  if (!g_cancellable_is_cancelled (cancellable))
    return TRUE;
  g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED, "Cancelled");

  return FALSE;
}

static void
on_cancelled_cb (GCancellable *cancellable,
                 gpointer      user_data)
{
  KhadimRpaWaiter *self = user_data;
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  g_cond_broadcast (&self->changed);
}

/* Waits until the serial is no longer the one seen. Fails with TIMEOUT at the
 * deadline (of the monotonic clock) and with CANCELLED. */
gboolean
_khadim_rpa_waiter_wait (KhadimRpaWaiter  *self,
                         guint64           seen,
                         gint64            deadline_us,
                         GCancellable     *cancellable,
                         GError          **error)
{
  gulong handler = 0;
  gboolean in_time = TRUE;
  gboolean moved;

  if (cancellable != NULL)
    handler = g_cancellable_connect (cancellable, G_CALLBACK (on_cancelled_cb), self, NULL);
  g_mutex_lock (&self->lock);
  while (in_time && self->serial == seen && !g_cancellable_is_cancelled (cancellable))
    in_time = g_cond_wait_until (&self->changed, &self->lock, deadline_us);
  moved = self->serial != seen;
  g_mutex_unlock (&self->lock);
  g_cancellable_disconnect (cancellable, handler);

  if (!_khadim_rpa_check_cancelled (cancellable, error))
    return FALSE;
  if (!moved)
    g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT,
                         "It did not happen in time");

  return moved;
}
