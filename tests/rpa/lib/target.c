/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "tests/rpa/lib/target.h"

#include <string.h>

#include <glib/gstdio.h>

#define START_TIMEOUT_MS 20000

static char *
get_path (const char *toolkit)
{
  g_autofree char *name = g_strdup_printf ("target-%s", toolkit);

  return g_test_build_filename (G_TEST_BUILT, "rpa", "targets", name, NULL);
}

gboolean
target_is_built (const char *toolkit)
{
  g_autofree char *path = get_path (toolkit);

  return g_file_test (path, G_FILE_TEST_IS_EXECUTABLE);
}

/* Starts a target, makes its window active and waits until it is. */
Target *
target_new (Desk             *desk,
            KhadimRpaWindows *windows,
            const char       *toolkit,
            const char       *title)
{
  Target *self = g_new0 (Target, 1);
  g_autofree char *path = get_path (toolkit);
  g_autofree char *folder = g_build_filename (desk_home (desk), "target-XXXXXX", NULL);
  g_autoptr(KhadimRpaWindow) window = NULL;
  g_autoptr(GError) error = NULL;
  KhadimRpaWindowMatch match = { 0 };

  self->desk = desk;
  self->folder = g_strdup (g_mkdtemp (folder));
  g_assert_nonnull (self->folder);
  self->process = desk_spawn (desk, path, self->folder, title, NULL);
  match.pid = desk_pid (self->process);
  window = khadim_rpa_windows_wait_for (windows, &match, NULL, START_TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);
  self->window = khadim_rpa_window_get_id (window);
  g_assert_true (target_wait_log (self, "shown window", START_TIMEOUT_MS));
  khadim_rpa_windows_activate (windows, self->window, START_TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);
  khadim_rpa_windows_ping (windows, self->window, START_TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);

  return self;
}

void
target_free (Target *self)
{
  desk_end (self->process);
  g_object_unref (self->process);
  g_free (self->folder);
  g_free (self);
}

static char *
read_file (Target     *self,
           const char *name)
{
  g_autofree char *path = g_build_filename (self->folder, name, NULL);
  char *contents = NULL;

  if (!g_file_get_contents (path, &contents, NULL, NULL))
    return g_strdup ("");

  return contents;
}

char *
target_text (Target *self)
{
  return read_file (self, "text");
}

char *
target_log (Target *self)
{
  return read_file (self, "log");
}

typedef struct {
  Target *target;
  const char *wanted;
} Wait;

static gboolean
has_text (gpointer user_data)
{
  const Wait *wait = user_data;
  g_autofree char *text = target_text (wait->target);

  return g_strcmp0 (text, wait->wanted) == 0;
}

gboolean
target_wait_text (Target     *self,
                  const char *text,
                  int         timeout_ms)
{
  Wait wait = { self, text };

  return desk_wait (has_text, &wait, timeout_ms);
}

static gboolean
has_line (gpointer user_data)
{
  const Wait *wait = user_data;
  g_autofree char *log = target_log (wait->target);

  return strstr (log, wait->wanted) != NULL;
}

gboolean
target_wait_log (Target     *self,
                 const char *line,
                 int         timeout_ms)
{
  Wait wait = { self, line };

  return desk_wait (has_line, &wait, timeout_ms);
}

/* Forgets what was written down. */
void
target_clear (Target *self)
{
  static const char * const names[] = { "text", "log" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (self->folder, names[i], NULL);

      g_remove (path);
    }
}
