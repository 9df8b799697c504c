/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-base"

#include "config.h"

#include "engine/base/khadim-time.h"
#include "engine/base/khadim-uuid.h"

#define N_THREADS 4
#define N_PER_THREAD 5000

/* RFC 9562, 5.7: version and variant, and the time of the first 48 bits. */
static void
test_uuid_form (void)
{
  gint64 before_ms = g_get_real_time () / 1000;
  g_autofree char *id = khadim_uuid7_new ();
  g_autofree char *head = NULL;
  gint64 ms;

  g_assert_true (g_uuid_string_is_valid (id));
  g_assert_cmpint (id[14], ==, '7');
  g_assert_nonnull (strchr ("89ab", id[19]));
  g_assert_null (strpbrk (id, "ABCDEF"));

  head = g_strdup_printf ("%.8s%.4s", id, id + 9);
  ms = (gint64) g_ascii_strtoull (head, NULL, 16);
  g_assert_cmpint (ms, >=, before_ms);
  g_assert_cmpint (ms, <=, g_get_real_time () / 1000 + N_THREADS * N_PER_THREAD);
}

static gpointer
make_ids (gpointer data)
{
  GPtrArray *ids = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < N_PER_THREAD; i++)
    g_ptr_array_add (ids, khadim_uuid7_new ());

  return ids;
}

/* Each thread sees its ids ascend, and no two threads get the same. */
static void
test_uuid_threads (void)
{
  g_autoptr(GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GThread *threads[N_THREADS];

  for (guint i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("test-uuid", make_ids, NULL);

  for (guint i = 0; i < N_THREADS; i++)
    {
      g_autoptr(GPtrArray) ids = g_thread_join (threads[i]);

      for (guint k = 0; k < ids->len; k++)
        {
          if (k > 0)
            g_assert_cmpstr (g_ptr_array_index (ids, k - 1), <, g_ptr_array_index (ids, k));
          g_assert_true (g_hash_table_add (seen, g_strdup (g_ptr_array_index (ids, k))));
        }
    }
}

static void
test_time_rfc3339 (void)
{
  static const struct
  {
    gint64 us;
    const char *text;
  } cases[] = {
    /* Seconds from `date -u -d … +%s`. */
    { 0, "1970-01-01T00:00:00.000000Z" },
    { -1, "1969-12-31T23:59:59.999999Z" },
    { 951782400000001, "2000-02-29T00:00:00.000001Z" },
    { 1767323045000006, "2026-01-02T03:04:05.000006Z" },
    { 253402300799999999, "9999-12-31T23:59:59.999999Z" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = khadim_time_to_rfc3339 (cases[i].us);

      g_assert_cmpstr (text, ==, cases[i].text);
    }

  g_assert_null (khadim_time_to_rfc3339 (253402300800000000));
  g_assert_null (khadim_time_to_rfc3339 (G_MININT64));
  g_assert_null (khadim_time_to_rfc3339 (G_MAXINT64));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/engine/uuid/form", test_uuid_form);
  g_test_add_func ("/engine/uuid/threads", test_uuid_threads);
  g_test_add_func ("/engine/time/rfc3339", test_time_rfc3339);

  return g_test_run ();
}
