/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-check"

#include "config.h"

#include "app/khadim-cli.h"

#include "engine/json/khadim-json.h"

static void
print_json (const char   *folder,
            const char   *place,
            const GError *error)
{
  JsonObject *object = json_object_new ();
  g_autoptr(JsonNode) node = khadim_json_object (object);
  g_autofree char *text = NULL;

  json_object_set_string_member (object, "folder", folder);
  json_object_set_boolean_member (object, "valid", error == NULL);
  if (error != NULL)
    {
      json_object_set_string_member (object, "place", place != NULL ? place : "");
      json_object_set_string_member (object, "message", error->message);
    }
  text = khadim_json_to_string (node);
  g_print ("%s\n", text);
}

static gboolean
check (const char    *name,
       KhadimToolbox *toolbox,
       gboolean       json)
{
  g_autofree char *folder = khadim_cli_find (name, NULL);
  g_autoptr(KhadimAutomation) automation = NULL;
  g_autofree char *place = NULL;
  g_autoptr(GError) error = NULL;

  if (folder == NULL)
    return FALSE;

  automation = khadim_automation_load (folder, toolbox, &place, &error);
  if (json)
    print_json (folder, place, error);
  else if (automation != NULL)
    g_print ("%s: no faults\n", folder);
  if (automation == NULL && !json)
    khadim_cli_error ("%s", error->message);

  return automation != NULL;
}

int
khadim_command_check (int    argc,
                      char **argv)
{
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Write one JSON object for each automation", NULL },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr(KhadimToolbox) toolbox = khadim_toolbox_new ();
  gboolean good = TRUE;

  if (!khadim_cli_parse ("NAME|FOLDER…",
                         "Looks for faults in automations without running them: the document, its\n"
                         "expressions, the arguments of its tools, the files it names.",
                         "Exit code 2 when there is a fault; the message begins with its place.",
                         entries, &argc, &argv, 1, 1000))
    return KHADIM_EXIT_USAGE;

  khadim_cli_add_domains (toolbox);
  for (int i = 1; i < argc; i++)
    good = check (argv[i], toolbox, json) && good;

  return good ? KHADIM_EXIT_DONE : KHADIM_EXIT_USAGE;
}
