/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <string.h>

#include "rpa/input/khadim-rpa-input.h"
#include "tests/rpa/lib/desk.h"
#include "tests/rpa/lib/target.h"

/* Characters a second and characters wrong, by this library and by "xdotool
 * type" at full speed and at its default pace, in turns into the same window. */

#define ASCII_CHARS    500
#define MIXED_TIMES    5
#define ARRIVAL_MS     3000
#define DEFAULT_PACE   12
#define TARGET_TOOLKIT "gtk3"

static Desk *desk;
static KhadimRpaWindows *windows;
static KhadimRpaInput *input;
static Target *target;

typedef struct {
  double chars_per_second;
  guint n_wrong;
} Result;

static char *
make_ascii (void)
{
  g_autoptr(GRand) random = g_rand_new_with_seed (20);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < ASCII_CHARS; i++)
    g_string_append_c (text, (char) g_rand_int_range (random, 0x21, 0x7f));
  g_string_append_c (text, '\n');

  return g_string_free (text, FALSE);
}

static char *
make_mixed (void)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < MIXED_TIMES; i++)
    g_string_append (text, "café müller 漢字 😀 Привет € “q” — ");
  g_string_append_c (text, '\n');

  return g_string_free (text, FALSE);
}

/* Characters that are not in the longest common subsequence of both. */
static guint
count_wrong (const char *is,
             const char *wanted)
{
  glong n_is, n_wanted;
  g_autofree gunichar *a = g_utf8_to_ucs4_fast (is, -1, &n_is);
  g_autofree gunichar *b = g_utf8_to_ucs4_fast (wanted, -1, &n_wanted);
  g_autofree guint *row = g_new0 (guint, (gsize) n_wanted + 1);

  for (glong i = 0; i < n_is; i++)
    {
      guint diagonal = 0;

      for (glong j = 0; j < n_wanted; j++)
        {
          guint above = row[j + 1];

          row[j + 1] = a[i] == b[j] ? diagonal + 1 : MAX (row[j + 1], row[j]);
          diagonal = above;
        }
    }

  return (guint) MAX (n_is, n_wanted) - row[n_wanted];
}

/* pace_ms < 0: this library */
static Result
measure (const char *text,
         int         pace_ms)
{
  g_autofree char *before = target_text (target);
  g_autofree char *expected = g_strconcat (before, text, NULL);
  g_autofree char *pace = g_strdup_printf ("%d", MAX (pace_ms, 0));
  const KhadimRpaTypeOptions options = { .window = target->window };
  gint64 start_us = g_get_monotonic_time ();
  g_autofree char *output = NULL;
  g_autofree char *is = NULL;
  g_autoptr(GError) error = NULL;
  Result result;

  if (pace_ms < 0)
    khadim_rpa_input_type (input, text, &options, NULL, NULL, &error);
  else
    output = desk_run ("xdotool", "type", "--delay", pace, "--", text, NULL);
  g_assert_no_error (error);
  result.chars_per_second = (double) g_utf8_strlen (text, -1) * G_USEC_PER_SEC
                            / (double) (g_get_monotonic_time () - start_us);
  target_wait_text (target, expected, ARRIVAL_MS);
  is = target_text (target);
  g_assert_true (g_str_has_prefix (is, before));
  result.n_wrong = count_wrong (is + strlen (before), text);

  return result;
}

static void
compare (const char *layout,
         const char *name,
         const char *text)
{
  g_autofree char *output = desk_run ("setxkbmap", layout, NULL);
  Result own = measure (text, -1);
  Result fast = measure (text, 0);
  Result paced = measure (text, DEFAULT_PACE);

  g_print (", \"%s_%s\": {\"chars\": %ld, \"own_per_second\": %.0f, \"own_wrong\": %u, "
           "\"xdotool_per_second\": %.0f, \"xdotool_wrong\": %u, "
           "\"xdotool_paced_per_second\": %.0f, \"xdotool_paced_wrong\": %u, "
           "\"own_over_paced\": %.1f}",
           layout, name, g_utf8_strlen (text, -1), own.chars_per_second, own.n_wrong,
           fast.chars_per_second, fast.n_wrong, paced.chars_per_second, paced.n_wrong,
           own.chars_per_second / paced.chars_per_second);
}

int
main (int    argc,
      char **argv)
{
  static const char * const layouts[] = { "us", "de", "ru" };
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimRpaDisplay) display = NULL;
  g_autofree char *ascii = make_ascii ();
  g_autofree char *mixed = make_mixed ();

  desk = desk_new ("openbox", 1280, 800);
  g_test_init (&argc, &argv, NULL);
  display = khadim_rpa_display_new (NULL, &error);
  g_assert_no_error (error);
  windows = khadim_rpa_windows_new (display, &error);
  g_assert_no_error (error);
  input = khadim_rpa_input_new (display, &error);
  g_assert_no_error (error);
  target = target_new (desk, windows, TARGET_TOOLKIT, "Bench");
  g_print ("{\"benchmark\": \"type\", \"target\": \"%s\"", TARGET_TOOLKIT);
  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++)
    {
      compare (layouts[i], "ascii", ascii);
      compare (layouts[i], "mixed", mixed);
    }
  g_print ("}\n");
  target_free (target);
  g_clear_object (&input);
  g_clear_object (&windows);
  desk_free (desk);

  return 0;
}
