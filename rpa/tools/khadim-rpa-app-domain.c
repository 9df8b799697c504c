/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-app"

#include "config.h"

#include "rpa/tools/khadim-rpa-screen-private.h"

#include "engine/json/khadim-json.h"
#include "rpa/screen/khadim-rpa-app.h"
#include "rpa/screen/khadim-rpa-error.h"

/* How long a program may take to show a window. */
#define OPEN_TIMEOUT_MS 30000

/* The command of a call: its program and arguments, NULL when it has none. */
static GStrv
read_command (JsonObject *args)
{
  JsonArray *list = khadim_json_get_array (args, "command");
  g_autoptr(GPtrArray) argv = NULL;

  if (list == NULL)
    return NULL;

  argv = g_ptr_array_new ();
  for (guint i = 0; i < json_array_get_length (list); i++)
    g_ptr_array_add (argv, g_strdup (json_array_get_string_element (list, i)));
  g_ptr_array_add (argv, NULL);

  return (GStrv) g_ptr_array_free (g_steal_pointer (&argv), FALSE);
}

static KhadimToolResult *
run_open (KhadimRpaDesk  *desk,
          KhadimToolCall *call,
          GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_auto(GStrv) command = read_command (args);
  KhadimRpaAppSpec spec = {
    .name = khadim_json_get_string (args, "name", NULL),
    .argv = (const char *const *) command,
    .target = khadim_json_get_string (args, "open", NULL),
    .work_dir = khadim_tool_call_get_work_dir (call),
  };
  g_autoptr(KhadimRpaApp) app = NULL;
  GError *error = NULL;
  JsonNode *value;

  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (NULL, "open the program");
  app = khadim_rpa_app_open (desk->windows, &spec,
                             _khadim_rpa_get_ms (args, "timeout", OPEN_TIMEOUT_MS), cancellable,
                             &error);
  if (app == NULL)
    return _khadim_rpa_fail (error);

  value = khadim_rpa_window_to_json (khadim_rpa_app_get_window (app));
  json_object_set_int_member (json_node_get_object (value), "pid", khadim_rpa_app_get_pid (app));
  g_ptr_array_add (desk->apps, g_steal_pointer (&app));

  return khadim_tool_result_new (value);
}

static const KhadimRpaTool tools[] = {
  { { .name = "app.open", .title = "Open a program",
      .description = "Opens a program by its name or command, with a file or address if given, "
                     "and gives the window that it opens.",
      .input_schema =
        "{\"type\":\"object\",\"additionalProperties\":false,\"anyOf\":[{\"required\":[\"name\"]},"
        "{\"required\":[\"command\"]},{\"required\":[\"open\"]}],\"properties\":{"
        "\"name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200,"
        "\"description\":\"The name of an installed program\"},"
        "\"command\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":64,"
        "\"items\":{\"type\":\"string\",\"maxLength\":4096},"
        "\"description\":\"The program and its arguments; no shell\"},"
        "\"open\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096,"
        "\"description\":\"A file or an address\"},"
        "\"timeout\":{\"type\":\"string\",\"pattern\":\"^[0-9]+([.][0-9]+)?(ms|s|m|h|d)$\"}}}",
      .flags = KHADIM_TOOL_FLAGS_NEEDS_SCREEN, .risk = KHADIM_TOOL_RISK_MEDIUM },
    run_open },
};

KhadimToolDomain *
_khadim_rpa_app_domain_new (KhadimRpaDesk *desk)
{
  return _khadim_rpa_domain_new (desk, "app", tools, G_N_ELEMENTS (tools));
}

/* Whether a program that a run opened, and whose window is looked for, still
 * runs: else the error says with which code it ended. */
gboolean
_khadim_rpa_desk_check_app (KhadimRpaDesk  *self,
                            guint32         window,
                            guint32         pid,
                            GError        **error)
{
  for (guint i = 0; i < self->apps->len; i++)
    {
      KhadimRpaApp *app = self->apps->pdata[i];
      KhadimRpaWindow *opened = khadim_rpa_app_get_window (app);
      gboolean meant = (pid != 0 && khadim_rpa_app_get_pid (app) == pid) ||
                       (window != 0 && opened != NULL &&
                        khadim_rpa_window_get_id (opened) == window);

      if (meant && !khadim_rpa_app_check (app, error))
        return FALSE;
    }

  return TRUE;
}
