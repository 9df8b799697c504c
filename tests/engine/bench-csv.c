/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Tables beside the csv module of Python (DictReader and DictWriter, which
 * make and take the same rows), in one run and in turns. One JSON object on
 * stdout; a ratio below 1 means that ours is faster. Times are the least of
 * all rounds, in microseconds; the start of Python is not counted. */

#define G_LOG_DOMAIN "bench-csv"

#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include "engine/json/khadim-json.h"
#include "engine/tool/khadim-csv-private.h"

#define ROUNDS 7
#define ROWS 40000
#define SEED 4180

static const char python_script[] =
  "import csv, io, json, sys, time\n"
  "text = open(sys.argv[1], newline='', encoding='utf-8').read()\n"
  "a = time.perf_counter()\n"
  "rows = list(csv.DictReader(io.StringIO(text, newline=''), strict=True))\n"
  "b = time.perf_counter()\n"
  "o = io.StringIO(newline='')\n"
  "w = csv.DictWriter(o, list(rows[0]))\n"
  "w.writeheader(); w.writerows(rows)\n"
  "c = time.perf_counter()\n"
  "print(json.dumps([len(rows), int((b - a) * 1e6), int((c - b) * 1e6)]))\n";

static char *
make_table (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (SEED);
  GString *text = g_string_new ("id,name,city,amount,note\n");

  for (guint i = 0; i < ROWS; i++)
    g_string_append_printf (text, "%u,Customer %u,\"Köln, %u\",%d.%02u,%s\n", i,
                            g_rand_int (rand) % 1000, i % 7, g_rand_int_range (rand, 0, 9999),
                            i % 100, i % 5 == 0 ? "\"says \"\"no\"\"\"" : "");

  return g_string_free (text, FALSE);
}

static void
time_ours (const char *text,
           gint64     *out_read_us,
           gint64     *out_write_us)
{
  const KhadimCsvFormat format = { .header = TRUE, .max_rows = G_MAXINT64 };
  const KhadimCsvStyle style = { .delimiter = ',', .header = TRUE };
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) table = NULL;
  g_autofree char *written = NULL;
  JsonArray *rows;
  gint64 start = g_get_monotonic_time ();

  table = _khadim_csv_parse (text, &format, NULL, &error);
  *out_read_us = MIN (*out_read_us, g_get_monotonic_time () - start);
  g_assert_no_error (error);
  rows = khadim_json_get_array (json_node_get_object (table), "rows");
  g_assert_cmpuint (json_array_get_length (rows), ==, ROWS);

  start = g_get_monotonic_time ();
  written = _khadim_csv_format (rows, &style, NULL, &error);
  *out_write_us = MIN (*out_write_us, g_get_monotonic_time () - start);
  g_assert_no_error (error);
  g_assert_cmpstr (written, ==, text);
}

static void
time_python (const char *path,
             gint64     *out_read_us,
             gint64     *out_write_us)
{
  const char *const argv[] = { "python3", "-c", python_script, path, NULL };
  g_autoptr(GError) error = NULL;
  g_autofree char *out = NULL;
  g_autoptr(JsonNode) node = NULL;
  JsonArray *times;

  g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, NULL, NULL,
                &error);
  g_assert_no_error (error);
  node = khadim_json_parse (out, -1, NULL, &error);
  g_assert_no_error (error);
  times = json_node_get_array (node);
  g_assert_cmpint (json_array_get_int_element (times, 0), ==, ROWS);
  *out_read_us = MIN (*out_read_us, json_array_get_int_element (times, 1));
  *out_write_us = MIN (*out_write_us, json_array_get_int_element (times, 2));
}

static void
print_pair (const char *name,
            gint64      ours_us,
            gint64      theirs_us)
{
  char ratio[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (ratio, sizeof ratio, "%.3f", (double) ours_us / (double) MAX (theirs_us, 1));
  g_print ("\"%s\":{\"khadim_us\":%" G_GINT64_FORMAT ",\"python_us\":%" G_GINT64_FORMAT
           ",\"ratio\":%s}", name, ours_us, theirs_us, ratio);
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *text = make_table ();
  g_autofree char *path = NULL;
  g_autoptr(GError) error = NULL;
  gint64 best[4] = { G_MAXINT64, G_MAXINT64, G_MAXINT64, G_MAXINT64 };
  int fd = g_file_open_tmp ("khadim-csv-XXXXXX", &path, &error);

  g_assert_no_error (error);
  g_close (fd, NULL);
  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);

  for (guint i = 0; i < ROUNDS; i++)
    {
      time_ours (text, &best[0], &best[1]);
      time_python (path, &best[2], &best[3]);
    }
  remove (path);

  g_print ("{\"rows\":%d,\"bytes\":%" G_GSIZE_FORMAT ",", ROWS, strlen (text));
  print_pair ("read", best[0], best[2]);
  g_print (",");
  print_pair ("write", best[1], best[3]);
  g_print ("}\n");

  return EXIT_SUCCESS;
}
