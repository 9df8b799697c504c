/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-uuid"

#include "config.h"

#include "engine/base/khadim-uuid.h"

#include <errno.h>
#include <sys/random.h>

#define UUID_BYTES 16
#define COUNTER_MAX 0xfff
#define COUNTER_SEED_MASK 0x7ff

G_LOCK_DEFINE_STATIC (uuid);
static guint64 last_ms;   /* guarded by uuid */
static guint16 counter;   /* guarded by uuid */

static void
fill_random (guint8 *bytes,
             gsize   n_bytes)
{
  gsize done = 0;

  while (done < n_bytes)
    {
      gssize n = getrandom (bytes + done, n_bytes - done, 0);

      if (n > 0)
        done += (gsize) n;
      else if (errno != EINTR)
        g_error ("No random numbers: %s", g_strerror (errno));
    }
}

/* RFC 9562, 6.2, method 1: rand_a is a counter that each millisecond seeds
 * with its top bit clear; when it overflows, the time runs ahead. */
static void
take_tick (guint16  seed,
           guint64 *out_ms,
           guint16 *out_counter)
{
  guint64 now_ms = (guint64) (g_get_real_time () / 1000);

  G_LOCK (uuid);
  if (now_ms > last_ms || counter == COUNTER_MAX)
    {
      last_ms = MAX (now_ms, last_ms + 1);
      counter = seed & COUNTER_SEED_MASK;
    }
  else
    {
      counter++;
    }
  *out_ms = last_ms;
  *out_counter = counter;
  G_UNLOCK (uuid);
}

/**
 * khadim_uuid7_new:
 *
 * A new UUID of version 7 (RFC 9562, 5.7): 48 bits of milliseconds, a counter
 * of 12 bits, 62 random bits. Later ones of a process sort after earlier ones,
 * even if the clock is set back. Any thread.
 *
 * Returns: (transfer full): 36 lower-case characters
 */
char *
khadim_uuid7_new (void)
{
  guint8 b[UUID_BYTES];
  guint64 ms;
  guint16 tick;

  fill_random (b, sizeof b);
  take_tick ((guint16) (b[6] << 8 | b[7]), &ms, &tick);

  for (int i = 0; i < 6; i++)
    b[i] = (guint8) (ms >> (8 * (5 - i)));
  b[6] = (guint8) (0x70 | tick >> 8);
  b[7] = (guint8) (tick & 0xff);
  b[8] = (guint8) (0x80 | (b[8] & 0x3f));

  return g_strdup_printf ("%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
                          "%02x%02x%02x%02x%02x%02x",
                          b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7],
                          b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}
