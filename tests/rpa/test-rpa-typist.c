/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <glib/gstdio.h>
#include <string.h>

#include "rpa/input/khadim-rpa-input.h"
#include "rpa/screen/khadim-rpa-windows.h"
#include "tests/rpa/lib/desk.h"

/* Real editors of two toolkits; what they save is the judge. */
static const char *const editors[][2] = {
  { "mousepad", "GTK 3" },
  { "featherpad", "Qt 5" },
};

static const char *const layouts[] = { "us", "de", "fr", "ru", "gr" };

typedef struct
{
  KhadimRpaDisplay *display;
  KhadimRpaWindows *windows;
  KhadimRpaInput *input;
  GSubprocess *editor;
  char *path;
  guint32 window;
} Scene;

static void
set_layout (const char *layout)
{
  g_autofree char *ignored = desk_run ("setxkbmap", layout, NULL);
}

static void
scene_open (Scene      *self,
            Desk       *desk,
            const char *editor)
{
  g_autoptr(GError) error = NULL;
  KhadimRpaWindowMatch match = { 0 };
  g_autoptr(KhadimRpaWindow) window = NULL;

  self->display = khadim_rpa_display_new (NULL, &error);
  g_assert_no_error (error);
  self->windows = khadim_rpa_windows_new (self->display, &error);
  g_assert_no_error (error);
  self->input = khadim_rpa_input_new (self->display, &error);
  g_assert_no_error (error);
  self->path = g_build_filename (desk_home (desk), "typed.txt", NULL);
  g_unlink (self->path);
  g_file_set_contents (self->path, "", 0, &error);
  g_assert_no_error (error);
  self->editor = desk_spawn (desk, editor, self->path, NULL);
  match.pid = desk_pid (self->editor);
  window = khadim_rpa_windows_wait_for (self->windows, &match, NULL, 20000, NULL, &error);
  g_assert_no_error (error);
  self->window = khadim_rpa_window_get_id (window);
  khadim_rpa_windows_activate (self->windows, self->window, 5000, NULL, &error);
  g_assert_no_error (error);
}

static void
scene_close (Scene *self)
{
  desk_end (self->editor);
  g_assert_finalize_object (self->input);
  g_assert_finalize_object (self->windows);
  g_object_unref (self->display);
  g_free (self->path);
}

typedef struct
{
  const char *path;
  const char *expected;
  char *found;
} Saved;

static gboolean
is_saved (gpointer user_data)
{
  Saved *saved = user_data;

  g_clear_pointer (&saved->found, g_free);

  return g_file_get_contents (saved->path, &saved->found, NULL, NULL) &&
         strcmp (saved->found, saved->expected) == 0;
}

static void
assert_typed (Scene      *self,
              const char *text)
{
  g_autoptr(GError) error = NULL;
  KhadimRpaTypeOptions options = { .window = self->window };
  KhadimRpaTypeReport report;
  Saved saved = { .path = self->path, .expected = text };
  gboolean good;

  khadim_rpa_input_key (self->input, "ctrl+a", self->window, 1, 0, NULL, &error);
  g_assert_no_error (error);
  khadim_rpa_input_type (self->input, text, &options, &report, NULL, &error);
  g_assert_no_error (error);
  khadim_rpa_input_key (self->input, "ctrl+s", self->window, 1, 0, NULL, &error);
  g_assert_no_error (error);
  good = desk_wait (is_saved, &saved, 10000);
  if (!good)
    g_assert_cmpstr (saved.found, ==, text);
  g_test_message ("%u characters, %u on spare keys, %u barriers, %" G_GINT64_FORMAT " us",
                  report.n_chars, report.n_remaps, report.n_barriers, report.elapsed_us);
  g_free (saved.found);
}

static char *
make_text (void)
{
  /* No blank at a line's beginning, a newline at the end: editors indent and
   * end lines by themselves. */
  GString *text = g_string_new ("x");

  for (int i = 0; i < 300; i++)
    g_string_append_c (text, (char) (' ' + (i * 7) % 95));
  g_string_append (text, "\nGrüße, Ðđ Łł €uro ñandú Ωμέγα Привет, мир עברית اللغة 漢字かな 한글 ½ ™ — “…” \n");
  g_string_append (text, "😀🚀👍\n");

  return g_string_free (text, FALSE);
}

static void
test_layouts (gconstpointer data)
{
  const char *const *editor = data;
  g_autoptr(Desk) desk = desk_new ("openbox", 1280, 800);
  g_autofree char *text = make_text ();
  Scene scene = { 0 };

  scene_open (&scene, desk, editor[0]);
  for (gsize i = 0; i < G_N_ELEMENTS (layouts); i++)
    {
      g_test_message ("layout %s", layouts[i]);
      set_layout (layouts[i]);
      assert_typed (&scene, text);
    }
  scene_close (&scene);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (editors); i++)
    {
      g_autofree char *name = g_strdup_printf ("/rpa/typist/layouts/%s", editors[i][0]);

      g_test_add_data_func (name, editors[i], test_layouts);
    }

  return g_test_run ();
}
