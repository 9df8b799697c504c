/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <string.h>

#include "rpa/input/khadim-rpa-clipboard.h"
#include "rpa/screen/khadim-rpa-error.h"
#include "tests/rpa/lib/desk.h"
#include "tests/rpa/lib/target.h"

/* xclip is the other client. */

#define TIMEOUT_MS  20000
#define SHORT_MS    300
#define LARGE_LINES 100000

static Desk *desk;
static KhadimRpaDisplay *display;
static KhadimRpaWindows *windows;
static KhadimRpaInput *input;
static KhadimRpaClipboard *clipboard;

static const char text[] = "Grüße, 漢字 😀\n\tline 2";

static char *
make_large (void)
{
  GString *large = g_string_new (NULL);

  for (guint i = 0; i < LARGE_LINES; i++)
    g_string_append_printf (large, "Zeile %06u: äöü 漢字\n", i);

  return g_string_free (large, FALSE);
}

static char *
read_by_xclip (void)
{
  return desk_run ("xclip", "-o", "-selection", "clipboard", "-t", "UTF8_STRING", NULL);
}

static char *
get (void)
{
  return khadim_rpa_clipboard_get_text (clipboard, KHADIM_RPA_CLIPBOARD_KIND_CLIPBOARD,
                                        TIMEOUT_MS, NULL, NULL);
}

static gboolean
holds (gpointer user_data)
{
  g_autofree char *is = get ();

  return g_strcmp0 (is, user_data) == 0;
}

/* xclip offers a text until it is ended. */
static GSubprocess *
offer_by_xclip (const char *what)
{
  g_autofree char *path = g_build_filename (desk_home (desk), "offer", NULL);
  GSubprocess *process;

  g_assert_true (g_file_set_contents (path, what, -1, NULL));
  process = desk_spawn (desk, "xclip", "-quiet", "-i", "-selection", "clipboard", "-t",
                        "UTF8_STRING", path, NULL);
  g_assert_true (desk_wait (holds, (gpointer) what, TIMEOUT_MS));

  return process;
}

static void
test_set (void)
{
  g_autofree char *large = make_large ();
  const char * const texts[] = { text, large, "" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autofree char *is = NULL;
      g_autofree char *own = NULL;

      khadim_rpa_clipboard_set_text (clipboard, KHADIM_RPA_CLIPBOARD_KIND_CLIPBOARD, texts[i],
                                     &error);
      g_assert_no_error (error);
      is = read_by_xclip ();
      g_assert_cmpuint (strlen (is), ==, strlen (texts[i]));
      g_assert_cmpstr (is, ==, texts[i]);
      own = get ();
      g_assert_cmpstr (own, ==, texts[i]);
    }
}

static void
test_get (void)
{
  g_autofree char *large = make_large ();
  g_autoptr(GSubprocess) first = offer_by_xclip (text);
  g_autoptr(GSubprocess) second = offer_by_xclip (large);

  desk_end (first);
  desk_end (second);
}

static void
test_nothing (void)
{
  g_autoptr(GSubprocess) xclip = offer_by_xclip (text);
  g_autoptr(GError) error = NULL;

  desk_end (xclip);
  g_assert_null (khadim_rpa_clipboard_get_text (clipboard, KHADIM_RPA_CLIPBOARD_KIND_CLIPBOARD,
                                                TIMEOUT_MS, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_false (khadim_rpa_clipboard_set_text (clipboard, KHADIM_RPA_CLIPBOARD_KIND_CLIPBOARD,
                                                 "a\xff", &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
}

static void
test_paste (gconstpointer toolkit)
{
  g_autoptr(Target) target = NULL;
  g_autoptr(GSubprocess) before = NULL;
  g_autofree char *was = g_strdup_printf ("what was there before %s", (const char *) toolkit);
  g_autofree char *after = NULL;
  g_autoptr(GString) large = g_string_new (text);
  g_autoptr(GError) error = NULL;

  if (!target_is_built (toolkit))
    {
      g_test_skip ("This target could not be built here");
      return;
    }
  for (guint i = 0; i < 5000; i++)
    g_string_append_printf (large, "%u äöü 漢字\n", i);
  target = target_new (desk, windows, toolkit, "Paste");
  before = offer_by_xclip (was);
  khadim_rpa_clipboard_paste (clipboard, input, large->str, target->window, TRUE, TIMEOUT_MS, NULL,
                              &error);
  g_assert_no_error (error);
  g_assert_true (target_wait_text (target, large->str, TIMEOUT_MS));
  after = read_by_xclip ();
  g_assert_cmpstr (after, ==, was);
  desk_end (before);
}

/* A program that does not know Ctrl+V: told, and the clipboard is as before. */
static void
test_paste_refused (void)
{
  g_autoptr(GSubprocess) zenity = desk_spawn (desk, "zenity", "--info", "--text=no text", NULL);
  g_autoptr(GSubprocess) before = NULL;
  g_autoptr(KhadimRpaWindow) window = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *after = NULL;
  const KhadimRpaWindowMatch match = { .pid = desk_pid (zenity) };

  window = khadim_rpa_windows_wait_for (windows, &match, NULL, TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);
  khadim_rpa_windows_activate (windows, khadim_rpa_window_get_id (window), TIMEOUT_MS, NULL,
                               &error);
  g_assert_no_error (error);
  before = offer_by_xclip ("kept");
  g_assert_false (khadim_rpa_clipboard_paste (clipboard, input, text,
                                              khadim_rpa_window_get_id (window), TRUE, SHORT_MS,
                                              NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT);
  after = read_by_xclip ();
  g_assert_cmpstr (after, ==, "kept");
  desk_end (before);
  desk_end (zenity);
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
  clipboard = khadim_rpa_clipboard_new (display, &error);
  g_assert_no_error (error);

  g_test_add_func ("/rpa/clipboard/set", test_set);
  g_test_add_func ("/rpa/clipboard/get", test_get);
  g_test_add_func ("/rpa/clipboard/nothing", test_nothing);
  g_test_add_data_func ("/rpa/clipboard/paste/gtk3", "gtk3", test_paste);
  g_test_add_data_func ("/rpa/clipboard/paste/gtk4", "gtk4", test_paste);
  g_test_add_data_func ("/rpa/clipboard/paste/qt5", "qt5", test_paste);
  g_test_add_func ("/rpa/clipboard/paste-refused", test_paste_refused);

  result = g_test_run ();
  g_clear_object (&clipboard);
  g_clear_object (&input);
  g_clear_object (&windows);
  g_clear_object (&display);
  desk_free (desk);

  return result;
}
