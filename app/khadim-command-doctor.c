/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-doctor"

#include "config.h"

#include "app/khadim-cli.h"

#include "engine/json/khadim-json.h"
#include "engine/runner/khadim-private-display.h"
#include "engine/store/khadim-store-sqlite.h"

/* A thing that works here, or what to do about it. */
typedef struct
{
  const char *name;
  gboolean good;
  gboolean needed;      /* without it nothing runs */
  char *found;
  const char *advice;
} Finding;

static void
finding_free (gpointer data)
{
  Finding *self = data;

  g_free (self->found);
  g_free (self);
}

static Finding *
add (GPtrArray  *findings,
     const char *name,
     gboolean    good,
     char       *found,
     const char *advice)
{
  Finding *finding = g_new0 (Finding, 1);

  finding->name = name;
  finding->good = good;
  finding->found = found;
  finding->advice = advice;
  g_ptr_array_add (findings, finding);

  return finding;
}

static void
look_at_store (GPtrArray *findings)
{
  g_autofree char *folder = khadim_store_default_folder ();
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimStore) store = khadim_store_sqlite_new (folder, &error);
  Finding *finding;

  finding = add (findings, "store", store != NULL,
                 store != NULL ? g_steal_pointer (&folder) : g_strdup (error->message),
                 "set KHADIM_HOME to a folder on a local disk that can be written");
  finding->needed = TRUE;
}

static void
look_at_screen_tools (GPtrArray *findings)
{
  g_autoptr(KhadimToolbox) toolbox = khadim_toolbox_new ();
  g_autoptr(GError) error = NULL;
  gboolean good;

  khadim_cli_add_domains (toolbox);
  good = khadim_toolbox_lookup (toolbox, "screen.click", NULL, NULL, &error) != NULL;
  add (findings, "screen tools", good, g_strdup (good ? "loaded" : error->message),
       "install the package with libkhadim-rpa");
}

static void
look_at_display (GPtrArray *findings)
{
  const char *display = g_getenv ("DISPLAY");
  const char *wayland = g_getenv ("WAYLAND_DISPLAY");

  if (display != NULL)
    add (findings, "display", TRUE, g_strdup_printf ("X11, %s", display), NULL);
  else if (wayland != NULL)
    add (findings, "display", FALSE, g_strdup_printf ("Wayland, %s: not built yet", wayland),
         "play on a private display: khadim run --display private");
  else
    add (findings, "display", FALSE, g_strdup ("none"),
         "play on a private display: khadim run --display private");
}

static void
look_for_program (GPtrArray  *findings,
                  const char *name,
                  const char *program,
                  const char *advice)
{
  char *path = g_find_program_in_path (program);
  gboolean good = path != NULL;

  add (findings, name, good, good ? path : g_strdup_printf ("no program “%s”", program), advice);
}

/* A file that belongs to a package, below one of the folders for data. */
static void
look_for_data (GPtrArray  *findings,
               const char *name,
               const char *relative,
               const char *advice)
{
  const char *const *folders = g_get_system_data_dirs ();

  for (gsize i = 0; folders[i] != NULL; i++)
    {
      g_autofree char *path = g_build_filename (folders[i], relative, NULL);

      if (g_file_test (path, G_FILE_TEST_EXISTS))
        {
          add (findings, name, TRUE, g_steal_pointer (&path), NULL);
          return;
        }
    }
  add (findings, name, FALSE, g_strdup_printf ("no file %s", relative), advice);
}

static void
look_at_private_display (GPtrArray *findings)
{
  const char *const argv[] = { "khadim", NULL };
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) command = khadim_private_display_build_command (NULL, NULL, argv, &error);

  add (findings, "private display", command != NULL,
       g_strdup (command != NULL ? command[0] : error->message),
       "install the package with khadim-display, or set KHADIM_LIBEXECDIR to its folder");
}

static void
print_finding (Finding  *finding,
               gboolean  json)
{
  JsonObject *object;
  g_autoptr(JsonNode) node = NULL;
  g_autofree char *text = NULL;

  if (!json)
    {
      g_print ("%s %-18s %s\n", finding->good ? "✓" : "✗", finding->name, finding->found);
      if (!finding->good && finding->advice != NULL)
        g_print ("  %-18s → %s\n", "", finding->advice);
      return;
    }
  object = json_object_new ();
  node = khadim_json_object (object);
  json_object_set_string_member (object, "name", finding->name);
  json_object_set_boolean_member (object, "good", finding->good);
  json_object_set_boolean_member (object, "needed", finding->needed);
  json_object_set_string_member (object, "found", finding->found);
  if (finding->advice != NULL && !finding->good)
    json_object_set_string_member (object, "advice", finding->advice);
  text = khadim_json_to_string (node);
  g_print ("%s\n", text);
}

int
khadim_command_doctor (int    argc,
                       char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Write one JSON object a line", NULL },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func (finding_free);
  gboolean good = TRUE;

  if (!khadim_cli_parse ("", "Says what works here, and what to install for the rest.",
                         "Exit code 1 when something is missing without which nothing runs.",
                         entries, &argc, &argv, 0, 0))
    return KHADIM_EXIT_USAGE;

  look_at_store (findings);
  look_at_screen_tools (findings);
  look_at_display (findings);
  look_for_data (findings, "accessibility", "dbus-1/services/org.a11y.Bus.service",
                 "install the package at-spi2-core, or targets with “a11y” are not found");
  look_for_data (findings, "text recognition", "tesseract-ocr/5/tessdata/eng.traineddata",
                 "install the package tesseract-ocr-eng, or targets with “text” are not found");
  look_at_private_display (findings);
  look_for_program (findings, "virtual X server", "Xvfb", "install the package xvfb");
  look_for_program (findings, "window manager", "openbox", "install the package openbox");
  look_for_program (findings, "session bus", "dbus-daemon", "install the package dbus-daemon");
  for (guint i = 0; i < findings->len; i++)
    {
      Finding *finding = findings->pdata[i];

      print_finding (finding, json);
      good = good && (finding->good || !finding->needed);
    }

  return good ? KHADIM_EXIT_DONE : KHADIM_EXIT_FAILED;
}
