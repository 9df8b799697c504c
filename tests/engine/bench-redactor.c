/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* The redactor beside memmem() for each form of each secret, on the same
 * texts, in turns. One JSON object on stdout: megabytes a second, of the best
 * round, and how many times faster ours is. memmem() only looks for a first
 * occurrence, so it does less where there is one. */

#define G_LOG_DOMAIN "bench-redactor"

#include "config.h"

#include <string.h>

#include "engine/vault/khadim-redactor-private.h"

#define ROUNDS 7
#define PEER_ROUNDS 2
#define N_SECRETS 50
#define TEXT_BYTES (8 * 1024 * 1024)
#define SEED 20260103

typedef struct {
  KhadimRedactor *redactor;
  KhadimRedactorPatterns *patterns; /* the same forms, for the peer */
  char *secrets[N_SECRETS];
} Bench;

static char *
make_secret (GRand *rand)
{
  static const char letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!$%&/()=?+-_ <'";
  guint length = (guint) g_rand_int_range (rand, 10, 48);
  char *secret = g_malloc0 (length + 1);

  for (guint i = 0; i < length; i++)
    secret[i] = letters[g_rand_int_range (rand, 0, (gint32) sizeof letters - 1)];

  return secret;
}

static char *
make_log (GRand *rand)
{
  static const char *const words[] = {
    "connection", "to", "the", "server", "was", "opened", "row", "of", "table", "customer", "in",
    "window", "Save", "as", "https://example.org/api/v1/items?id=", "error:", "at", "line",
  };
  GString *text = g_string_sized_new (TEXT_BYTES + 256);

  while (text->len < TEXT_BYTES)
    g_string_append_printf (text, "%s%c%u ",
                            words[g_rand_int_range (rand, 0, G_N_ELEMENTS (words))],
                            g_rand_boolean (rand) ? ' ' : '\n', g_rand_int (rand) % 1000);

  return g_string_free (text, FALSE);
}

static char *
make_base64 (GRand *rand)
{
  gsize length = TEXT_BYTES / 4 * 3;
  g_autofree guint8 *bytes = g_malloc (length);

  for (gsize i = 0; i < length; i++)
    bytes[i] = (guint8) g_rand_int_range (rand, 0, 256);

  return g_base64_encode (bytes, length);
}

/* A secret in every kilobyte */
static char *
make_leaky (GRand *rand,
            Bench *bench)
{
  g_autofree char *log = make_log (rand);
  GString *text = g_string_sized_new (TEXT_BYTES + TEXT_BYTES / 16);

  for (gsize i = 0; i + 1024 <= strlen (log) && i < TEXT_BYTES; i += 1024)
    {
      g_string_append_len (text, log + i, 1024);
      g_string_append (text, bench->secrets[g_rand_int_range (rand, 0, N_SECRETS)]);
    }

  return g_string_free (text, FALSE);
}

/* Secrets without their last byte, one after the other: all work and nothing
 * to hide */
static char *
make_nearly (Bench *bench)
{
  GString *text = g_string_sized_new (TEXT_BYTES + 256);

  for (guint i = 0; text->len < TEXT_BYTES; i = (i + 1) % N_SECRETS)
    g_string_append_len (text, bench->secrets[i], (gssize) strlen (bench->secrets[i]) - 1);

  return g_string_free (text, FALSE);
}

static gint64
time_ours (Bench      *bench,
           const char *text,
           gsize       length)
{
  gint64 start = g_get_monotonic_time ();
  g_autofree char *result = khadim_redactor_apply (bench->redactor, text, (gssize) length);
  gint64 time = g_get_monotonic_time () - start;

  g_assert_true (result == NULL || result[0] != '\0');

  return time;
}

static gint64
time_stream (Bench      *bench,
             const char *text,
             gsize       length)
{
  g_autoptr(KhadimRedactorStream) stream = khadim_redactor_stream_new (bench->redactor);
  gint64 start = g_get_monotonic_time ();

  for (gsize done = 0; done < length; done += 4096)
    g_bytes_unref (khadim_redactor_stream_feed (stream, text + done,
                                                (gssize) MIN (4096, length - done)));
  g_bytes_unref (khadim_redactor_stream_finish (stream));

  return g_get_monotonic_time () - start;
}

static gint64
time_memmem (Bench      *bench,
             const char *text,
             gsize       length,
             gsize      *out_found)
{
  gint64 start = g_get_monotonic_time ();

  *out_found = 0;
  for (guint i = 0; i < bench->patterns->list->len; i++)
    {
      const KhadimRedactorPattern *pattern = bench->patterns->list->pdata[i];

      *out_found += memmem (text, length, pattern->bytes, pattern->length) != NULL;
    }

  return g_get_monotonic_time () - start;
}

static void
print_number (const char *name,
              double      value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  g_print (",\"%s\":%s", name, g_ascii_formatd (text, sizeof text, "%.1f", value));
}

static void
run_case (Bench      *bench,
          const char *name,
          const char *text)
{
  gsize length = strlen (text);
  gint64 ours = G_MAXINT64;
  gint64 stream = G_MAXINT64;
  gint64 theirs = G_MAXINT64;
  gsize found = 0;

  for (guint i = 0; i < ROUNDS; i++)
    {
      gint64 one = time_ours (bench, text, length);
      gint64 other = time_stream (bench, text, length);

      ours = MIN (ours, one);
      stream = MIN (stream, other);
      if (i < PEER_ROUNDS)
        {
          gint64 peer = time_memmem (bench, text, length, &found);

          theirs = MIN (theirs, peer);
        }
    }

  g_print ("{\"name\":\"%s\",\"bytes\":%" G_GSIZE_FORMAT ",\"forms_found\":%" G_GSIZE_FORMAT,
           name, length, found);
  print_number ("khadim_mb_s", (double) length / (double) ours);
  print_number ("khadim_stream_mb_s", (double) length / (double) stream);
  print_number ("memmem_mb_s", (double) length / (double) theirs);
  print_number ("ratio", (double) theirs / (double) ours);
  g_print ("}");
}

static void
run_cases (Bench *bench,
           GRand *rand)
{
  g_autofree char *log = make_log (rand);
  g_autofree char *base64 = make_base64 (rand);
  g_autofree char *leaky = make_leaky (rand, bench);
  g_autofree char *nearly = make_nearly (bench);

  run_case (bench, "log", log);
  g_print (",");
  run_case (bench, "base64", base64);
  g_print (",");
  run_case (bench, "secret-in-each-kilobyte", leaky);
  g_print (",");
  run_case (bench, "nearly-secrets", nearly);
}

int
main (int    argc,
      char **argv)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (SEED);
  Bench bench = { khadim_redactor_new (), _khadim_redactor_patterns_new (), { NULL } };
  gint64 start;

  for (guint i = 0; i < N_SECRETS; i++)
    {
      bench.secrets[i] = make_secret (rand);
      khadim_redactor_add (bench.redactor, "secret", bench.secrets[i]);
      _khadim_redactor_forms_add (bench.patterns, "secret", bench.secrets[i]);
    }

  start = g_get_monotonic_time ();
  g_free (khadim_redactor_apply (bench.redactor, "compile", -1));
  g_print ("{\"benchmark\":\"redactor\",\"secrets\":%u,\"forms\":%u,\"compile_us\":%"
           G_GINT64_FORMAT ",\"cases\":[", N_SECRETS, bench.patterns->list->len,
           g_get_monotonic_time () - start);
  run_cases (&bench, rand);
  g_print ("]}\n");

  for (guint i = 0; i < N_SECRETS; i++)
    g_free (bench.secrets[i]);
  _khadim_redactor_patterns_free (bench.patterns);
  g_object_unref (bench.redactor);

  return 0;
}
