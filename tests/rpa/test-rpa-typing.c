/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <signal.h>
#include <string.h>

#include "rpa/input/khadim-rpa-input.h"
#include "rpa/input/khadim-rpa-stop.h"
#include "rpa/screen/khadim-rpa-error.h"
#include "tests/rpa/lib/desk.h"
#include "tests/rpa/lib/target.h"

/* What arrived is read from the file that the target writes. */

#define TIMEOUT_MS 20000
#define N_ASCII    1000
#define N_REPEATS  3
#define FREEZE_MS  1000

static Desk *desk;
static KhadimRpaDisplay *display;
static KhadimRpaWindows *windows;
static KhadimRpaInput *input;

static const char * const layouts[] = { "us", "de", "fr", "ru", "gr" };

static const char mixed[] =
  "café müller naïve Ångström ß ÿ “q” ‘r’ — … € £ ¥ § ¶ ™ "
  "Привет, мир! Ёжик Щука Καλημέρα Ωμέγα ψυχή שלום עולם مرحبا नमस्ते "
  "漢字かな交じり文 한국어 ไทย ąęłżźć ČŠŽ őű ğİı ∑∫√∞≠≤≥ ←↑→↓ ½¾ "
  "😀🎉🚀👩‍💻❤️ ⅷ ½ Ǆ ﬁ ẞ x² e\u0301 zß水🍌\t|\n";

static void
set_layout (const char *layout)
{
  g_autofree char *output = desk_run ("setxkbmap", layout, NULL);
}

static void
append_ascii (GString *text,
              GRand   *random)
{
  for (guint i = 0; i < N_ASCII; i++)
    g_string_append_c (text, i % 100 == 99 ? '\n' : (char) g_rand_int_range (random, 0x20, 0x7f));
}

static void
type (Target              *target,
      const char          *text,
      KhadimRpaTypeReport *out_report)
{
  const KhadimRpaTypeOptions options = { .window = target->window };
  g_autoptr(GError) error = NULL;
  gboolean good = khadim_rpa_input_type (input, text, &options, out_report, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (good);
}

static void
assert_arrives (Target     *target,
                const char *expected)
{
  g_autofree char *text = NULL;

  if (target_wait_text (target, expected, TIMEOUT_MS))
    return;
  text = target_text (target);
  g_assert_cmpstr (text, ==, expected);
}

static void
test_layouts (gconstpointer toolkit)
{
  g_autoptr(Target) target = NULL;
  g_autoptr(GString) expected = g_string_new (NULL);
  g_autoptr(GRand) random = g_rand_new_with_seed (20);

  if (!target_is_built (toolkit))
    {
      g_test_skip ("This target could not be built here");
      return;
    }
  target = target_new (desk, windows, toolkit, "Layouts");
  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++)
    {
      set_layout (layouts[i]);
      for (guint j = 0; j < N_REPEATS; j++)
        {
          g_autoptr(GString) text = g_string_new (NULL);
          gint64 start_us = g_get_monotonic_time ();
          KhadimRpaTypeReport report = { 0 };

          append_ascii (text, random);
          g_string_append (text, mixed);
          g_string_append (expected, text->str);
          type (target, text->str, &report);
          g_test_message ("%s %s: %u characters, %u bound, %u barriers, %" G_GINT64_FORMAT " ms",
                          (const char *) toolkit, layouts[i], report.n_chars, report.n_remaps,
                          report.n_barriers, (g_get_monotonic_time () - start_us) / 1000);
          g_assert_cmpuint (report.n_chars, ==, g_utf8_strlen (text->str, -1));
          g_assert_true (report.answers);
          assert_arrives (target, expected->str);
        }
    }
  set_layout ("us");
}

int
main (int    argc,
      char **argv)
{
  g_autoptr(GError) error = NULL;
  int result;

  desk = desk_new ("openbox", 1280, 800);
  g_test_init (&argc, &argv, NULL);
  display = khadim_rpa_display_new (NULL, &error);
  g_assert_no_error (error);
  windows = khadim_rpa_windows_new (display, &error);
  g_assert_no_error (error);
  input = khadim_rpa_input_new (display, &error);
  g_assert_no_error (error);

  g_test_add_data_func ("/rpa/typing/layouts/gtk3", "gtk3", test_layouts);
  g_test_add_data_func ("/rpa/typing/layouts/gtk4", "gtk4", test_layouts);
  g_test_add_data_func ("/rpa/typing/layouts/qt5", "qt5", test_layouts);

  result = g_test_run ();
  g_clear_object (&input);
  g_clear_object (&windows);
  g_clear_object (&display);
  desk_free (desk);

  return result;
}
