/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Our reader and writer beside those of json-glib on the same documents, in
 * turns. One JSON object on stdout; a ratio below 1 means that ours is faster.
 * Times are the least of all rounds, in microseconds. */

#define G_LOG_DOMAIN "bench-json"

#include "config.h"

#include "engine/json/khadim-json.h"
#include "engine/json/khadim-schema.h"

#define ROUNDS 15
#define ROWS 20000
#define SEED 20260103

static const char row_schema[] =
  "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"id\",\"name\"],"
  "\"properties\":{\"id\":{\"type\":\"integer\",\"minimum\":0},\"name\":{\"type\":\"string\","
  "\"minLength\":1},\"paid\":{\"type\":\"boolean\"},\"note\":{\"type\":[\"string\",\"null\"]}},"
  "\"additionalProperties\":false}}";

static char *
make_records (GRand *rand)
{
  GString *text = g_string_new ("[");

  for (guint i = 0; i < ROWS; i++)
    g_string_append_printf (text, "%s{\"id\": %u, \"name\": \"Customer %u\", \"paid\": %s, "
                            "\"note\": null}", i > 0 ? ",\n" : "", g_rand_int (rand), i,
                            i % 3 == 0 ? "true" : "false");

  return g_string_free (g_string_append_c (text, ']'), FALSE);
}

static char *
make_numbers (GRand *rand)
{
  GString *text = g_string_new ("[");

  for (guint i = 0; i < ROWS * 4; i++)
    g_string_append_printf (text, "%s%d.%03u", i > 0 ? "," : "",
                            g_rand_int_range (rand, -100000, 100000),
                            (guint) g_rand_int_range (rand, 0, 1000));

  return g_string_free (g_string_append_c (text, ']'), FALSE);
}

static char *
make_strings (GRand *rand)
{
  GString *text = g_string_new ("[");

  for (guint i = 0; i < ROWS; i++)
    g_string_append_printf (text, "%s\"Grüße aus %u, \\\"quoted\\\" and \\u00e9scaped, "
                            "مرحبا\\n and some plain text behind it\"", i > 0 ? "," : "",
                            g_rand_int (rand));

  return g_string_free (g_string_append_c (text, ']'), FALSE);
}

static gint64
time_ours (const char *text,
           gsize       length)
{
  g_autoptr(GError) error = NULL;
  gint64 start = g_get_monotonic_time ();
  g_autoptr(JsonNode) node = khadim_json_parse (text, (gssize) length, NULL, &error);
  gint64 end = g_get_monotonic_time ();

  g_assert_no_error (error);

  return end - start;
}

static gint64
time_theirs (const char *text,
             gsize       length)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonParser) parser = json_parser_new ();
  gint64 start = g_get_monotonic_time ();
  gboolean loaded = json_parser_load_from_data (parser, text, (gssize) length, &error);
  gint64 end = g_get_monotonic_time ();

  g_assert_no_error (error);
  g_assert_true (loaded);

  return end - start;
}

static gint64
time_our_writer (JsonNode *node)
{
  gint64 start = g_get_monotonic_time ();
  g_autofree char *text = khadim_json_to_string (node);

  return g_get_monotonic_time () - start;
}

static gint64
time_their_writer (JsonNode *node)
{
  gint64 start = g_get_monotonic_time ();
  g_autofree char *text = json_to_string (node, FALSE);

  return g_get_monotonic_time () - start;
}

static void
print_pair (const char *name,
            gint64      ours,
            gint64      theirs)
{
  char ratio[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (ratio, sizeof ratio, "%.3f", (double) ours / (double) MAX (theirs, 1));
  g_print ("\"%s\":{\"khadim_us\":%" G_GINT64_FORMAT ",\"json_glib_us\":%" G_GINT64_FORMAT
           ",\"ratio\":%s}", name, ours, theirs, ratio);
}

static void
run_case (const char *name,
          const char *text)
{
  gsize length = strlen (text);
  g_autoptr(JsonNode) node = khadim_json_parse (text, (gssize) length, NULL, NULL);
  gint64 best[4] = { G_MAXINT64, G_MAXINT64, G_MAXINT64, G_MAXINT64 };

  g_assert_nonnull (node);
  for (guint i = 0; i < ROUNDS; i++)
    {
      best[0] = MIN (best[0], time_ours (text, length));
      best[1] = MIN (best[1], time_theirs (text, length));
      best[2] = MIN (best[2], time_our_writer (node));
      best[3] = MIN (best[3], time_their_writer (node));
    }

  g_print ("{\"name\":\"%s\",\"bytes\":%" G_GSIZE_FORMAT ",", name, length);
  print_pair ("read", best[0], best[1]);
  g_print (",");
  print_pair ("write", best[2], best[3]);
  g_print ("}");
}

/* No peer of json-glib: its parsing is what the time is held against. */
static void
run_schema (const char *text)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) node = khadim_json_parse (text, -1, NULL, &error);
  g_autoptr(KhadimSchema) schema = khadim_schema_new_from_string (row_schema, &error);
  gint64 best[2] = { G_MAXINT64, G_MAXINT64 };

  g_assert_no_error (error);
  for (guint i = 0; i < ROUNDS; i++)
    {
      gint64 start = g_get_monotonic_time ();
      gboolean fits = khadim_schema_check (schema, node, KHADIM_SCHEMA_FLAGS_NONE, NULL, NULL);

      best[0] = MIN (best[0], g_get_monotonic_time () - start);
      g_assert_true (fits);
      best[1] = MIN (best[1], time_theirs (text, strlen (text)));
    }

  g_print ("{\"name\":\"records\",");
  print_pair ("check", best[0], best[1]);
  g_print ("}");
}

int
main (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (SEED);
  g_autofree char *records = make_records (rand);
  g_autofree char *numbers = make_numbers (rand);
  g_autofree char *strings = make_strings (rand);

  g_print ("{\"benchmark\":\"json\",\"rounds\":%d,\"cases\":[", ROUNDS);
  run_case ("records", records);
  g_print (",");
  run_case ("numbers", numbers);
  g_print (",");
  run_case ("strings", strings);
  g_print ("],\"schema\":");
  run_schema (records);
  g_print ("}\n");

  return 0;
}
