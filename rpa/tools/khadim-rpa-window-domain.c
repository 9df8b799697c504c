/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-window"

#include "config.h"

#include "rpa/tools/khadim-rpa-screen-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"
#include "rpa/screen/khadim-rpa-error.h"

/* How long a window may take to do what it was asked to. */
#define TIMEOUT_MS 5000

#define OBJECT "{\"type\":\"object\",\"additionalProperties\":false"
#define WINDOW "\"window\":" KHADIM_RPA_SCHEMA_IN
#define ACTS (KHADIM_TOOL_FLAGS_NEEDS_SCREEN | KHADIM_TOOL_FLAGS_IDEMPOTENT)

static KhadimRpaWindow *
get_window (KhadimRpaDesk   *desk,
            KhadimToolCall  *call,
            GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  KhadimRpaWindow *window = NULL;

  if (_khadim_rpa_get_in (desk, khadim_json_get_object (args, "window"), &window, error) &&
      window == NULL)
    window = khadim_rpa_windows_get_active (desk->windows, error);

  return window;
}

static KhadimToolResult *
run_list (KhadimRpaDesk  *desk,
          KhadimToolCall *call,
          GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  KhadimRpaWindowMatch match = {
    .app = khadim_json_get_string (args, "app", NULL),
    .title = khadim_json_get_string (args, "title", NULL),
  };
  GError *error = NULL;
  g_autoptr(GPtrArray) windows = khadim_rpa_windows_list (desk->windows, &match, &error);
  JsonObject *value;
  JsonArray *list;

  if (windows == NULL)
    return _khadim_rpa_fail (error);

  list = json_array_new ();
  for (guint i = 0; i < windows->len; i++)
    json_array_add_element (list, khadim_rpa_window_to_json (windows->pdata[i]));
  value = json_object_new ();
  json_object_set_array_member (value, "windows", list);

  return khadim_tool_result_new (khadim_json_object (value));
}

static KhadimToolResult *
run_activate (KhadimRpaDesk  *desk,
              KhadimToolCall *call,
              GCancellable   *cancellable)
{
  GError *error = NULL;
  g_autoptr(KhadimRpaWindow) window = get_window (desk, call, &error);

  if (window != NULL && khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (NULL, "activate the window");
  if (window == NULL ||
      !khadim_rpa_windows_activate (desk->windows, khadim_rpa_window_get_id (window), TIMEOUT_MS,
                                    cancellable, &error))
    return _khadim_rpa_fail (error);

  return khadim_tool_result_new (khadim_rpa_window_to_json (window));
}

static KhadimRpaWindowMode
read_mode (JsonObject *args)
{
  const char *state = khadim_json_get_string (args, "state", "");

  if (strcmp (state, "normal") == 0)
    return KHADIM_RPA_WINDOW_MODE_NORMAL;
  if (strcmp (state, "maximized") == 0)
    return KHADIM_RPA_WINDOW_MODE_MAXIMIZED;
  if (strcmp (state, "minimized") == 0)
    return KHADIM_RPA_WINDOW_MODE_MINIMIZED;
  if (strcmp (state, "fullscreen") == 0)
    return KHADIM_RPA_WINDOW_MODE_FULLSCREEN;

  return KHADIM_RPA_WINDOW_MODE_KEEP;
}

static KhadimToolResult *
run_place (KhadimRpaDesk  *desk,
           KhadimToolCall *call,
           GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  KhadimRpaPlacement placement = {
    .mode = read_mode (args),
    .move = json_object_has_member (args, "x"),
    .resize = json_object_has_member (args, "width"),
    .x = (int) khadim_json_get_int (args, "x", 0),
    .y = (int) khadim_json_get_int (args, "y", 0),
    .width = (int) khadim_json_get_int (args, "width", 0),
    .height = (int) khadim_json_get_int (args, "height", 0),
  };
  GError *error = NULL;
  g_autoptr(KhadimRpaWindow) window = get_window (desk, call, &error);
  g_autoptr(KhadimRpaWindow) placed = NULL;

  if (window != NULL && khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (NULL, "place the window");
  if (window != NULL)
    placed = khadim_rpa_windows_place (desk->windows, khadim_rpa_window_get_id (window), &placement,
                                       TIMEOUT_MS, cancellable, &error);
  if (placed == NULL)
    return _khadim_rpa_fail (error);

  return khadim_tool_result_new (khadim_rpa_window_to_json (placed));
}

static KhadimToolResult *
run_close (KhadimRpaDesk  *desk,
           KhadimToolCall *call,
           GCancellable   *cancellable)
{
  GError *error = NULL;
  g_autoptr(KhadimRpaWindow) window = get_window (desk, call, &error);

  /* After a crash: one that is gone was closed. */
  if (window == NULL && khadim_tool_call_is_resumed (call) &&
      g_error_matches (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND))
    {
      g_error_free (error);
      return khadim_tool_result_new (NULL);
    }
  if (window != NULL && khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (NULL, "close the window");
  if (window == NULL ||
      !khadim_rpa_windows_close (desk->windows, khadim_rpa_window_get_id (window), TIMEOUT_MS,
                                 cancellable, &error))
    return _khadim_rpa_fail (error);

  return khadim_tool_result_new (NULL);
}

static const KhadimRpaTool tools[] = {
  { { .name = "window.list", .title = "List windows",
      .description = "Lists the windows of the screen, those of a program or title if named.",
      .input_schema = OBJECT ",\"properties\":{\"app\":{\"type\":\"string\"},"
        "\"title\":{\"type\":\"string\"}}}",
      .flags = ACTS | KHADIM_TOOL_FLAGS_READ_ONLY, .risk = KHADIM_TOOL_RISK_LOW },
    run_list },
  { { .name = "window.activate", .title = "Activate a window",
      .description = "Brings a window to the front and gives it the keyboard.",
      .input_schema = OBJECT ",\"required\":[\"window\"],\"properties\":{" WINDOW "}}",
      .flags = ACTS, .risk = KHADIM_TOOL_RISK_LOW },
    run_activate },
  { { .name = "window.place", .title = "Place a window",
      .description = "Moves, resizes, maximises, minimises or restores a window.",
      .input_schema = OBJECT ",\"dependentRequired\":{\"x\":[\"y\"],\"y\":[\"x\"],"
        "\"width\":[\"height\"],\"height\":[\"width\"]},\"properties\":{" WINDOW
        ",\"x\":{\"type\":\"integer\"},\"y\":{\"type\":\"integer\"}"
        ",\"width\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":32767}"
        ",\"height\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":32767}"
        ",\"state\":{\"enum\":[\"normal\",\"maximized\",\"minimized\",\"fullscreen\"]}}}",
      .flags = ACTS, .risk = KHADIM_TOOL_RISK_LOW },
    run_place },
  { { .name = "window.close", .title = "Close a window",
      .description = "Asks a window to close, as its close button does.",
      .input_schema = OBJECT ",\"properties\":{" WINDOW "}}",
      .flags = KHADIM_TOOL_FLAGS_NEEDS_SCREEN | KHADIM_TOOL_FLAGS_RECOVERS,
      .risk = KHADIM_TOOL_RISK_MEDIUM },
    run_close },
};

KhadimToolDomain *
_khadim_rpa_window_domain_new (KhadimRpaDesk *desk)
{
  return _khadim_rpa_domain_new (desk, "window", tools, G_N_ELEMENTS (tools));
}
