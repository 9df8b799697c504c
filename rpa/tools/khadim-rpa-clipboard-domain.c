/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-clipboard"

#include "config.h"

#include "rpa/tools/khadim-rpa-screen-private.h"

#include "engine/json/khadim-json.h"
#include "rpa/screen/khadim-rpa-error.h"

/* How long the program that has the clipboard may take, how long a window may
 * take to get the keyboard, and how long its program to read what is pasted. */
#define READ_TIMEOUT_MS 5000
#define FOCUS_TIMEOUT_MS 2000
#define PASTE_TIMEOUT_MS 10000

#define OBJECT "{\"type\":\"object\",\"additionalProperties\":false"
#define KIND "\"kind\":{\"enum\":[\"clipboard\",\"selection\"]}"
#define TEXT "\"text\":{\"type\":\"string\",\"maxLength\":1000000}"

/* Opened when it is first needed; on the desk's thread. */
static KhadimRpaClipboard *
open_clipboard (KhadimRpaDesk  *desk,
                GError        **error)
{
  if (desk->clipboard == NULL)
    desk->clipboard = khadim_rpa_clipboard_new (desk->display, error);

  return desk->clipboard;
}

/* What was copied, or what is selected just now. */
static KhadimRpaClipboardKind
get_kind (JsonObject *args)
{
  return g_str_equal (khadim_json_get_string (args, "kind", ""), "selection")
           ? KHADIM_RPA_CLIPBOARD_KIND_PRIMARY
           : KHADIM_RPA_CLIPBOARD_KIND_CLIPBOARD;
}

static KhadimToolResult *
run_get (KhadimRpaDesk  *desk,
         KhadimToolCall *call,
         GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  GError *error = NULL;
  KhadimRpaClipboard *clipboard = open_clipboard (desk, &error);
  g_autofree char *text = NULL;
  JsonObject *value;

  if (clipboard != NULL)
    text = khadim_rpa_clipboard_get_text (clipboard, get_kind (args), READ_TIMEOUT_MS, cancellable,
                                          &error);
  if (text == NULL)
    return _khadim_rpa_fail (error);

  value = json_object_new ();
  json_object_set_string_member (value, "text", text);

  return khadim_tool_result_new (khadim_json_object (value));
}

static KhadimToolResult *
run_set (KhadimRpaDesk  *desk,
         KhadimToolCall *call,
         GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  GError *error = NULL;
  KhadimRpaClipboard *clipboard;

  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (NULL, "put a text on the clipboard");
  clipboard = open_clipboard (desk, &error);
  if (clipboard == NULL ||
      !khadim_rpa_clipboard_set_text (clipboard, get_kind (args),
                                      khadim_json_get_string (args, "text", ""), &error))
    return _khadim_rpa_fail (error);

  return khadim_tool_result_new (NULL);
}

/* The window that is pasted into: `in`, or the active one. */
static KhadimRpaWindow *
get_window (KhadimRpaDesk  *desk,
            JsonObject     *args,
            GError        **error)
{
  KhadimRpaWindow *window = NULL;

  if (_khadim_rpa_get_in (desk, khadim_json_get_object (args, "in"), &window, error) &&
      window == NULL)
    window = khadim_rpa_windows_get_active (desk->windows, error);

  return window;
}

static KhadimToolResult *
run_paste (KhadimRpaDesk  *desk,
           KhadimToolCall *call,
           GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  GError *error = NULL;
  KhadimRpaClipboard *clipboard = open_clipboard (desk, &error);
  g_autoptr(KhadimRpaWindow) window = NULL;
  guint32 id;

  if (clipboard != NULL)
    window = get_window (desk, args, &error);
  if (window == NULL)
    return _khadim_rpa_fail (error);
  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (NULL, "paste a text");

  id = khadim_rpa_window_get_id (window);
  if (!_khadim_rpa_raise (desk, id, cancellable, &error) ||
      !khadim_rpa_input_wait_focus (desk->input, id, FOCUS_TIMEOUT_MS, cancellable, &error) ||
      !khadim_rpa_clipboard_paste (clipboard, desk->input,
                                   khadim_json_get_string (args, "text", ""), id,
                                   khadim_json_get_boolean (args, "restore", TRUE),
                                   PASTE_TIMEOUT_MS, cancellable, &error))
    return _khadim_rpa_fail (error);

  return khadim_tool_result_new (NULL);
}

static const KhadimRpaTool tools[] = {
  { { .name = "clipboard.get", .title = "Read the clipboard",
      .description = "Reads the text on the clipboard, or that which is selected (kind).",
      .input_schema = OBJECT ",\"properties\":{" KIND "}}",
      .flags = KHADIM_TOOL_FLAGS_NEEDS_SCREEN | KHADIM_TOOL_FLAGS_IDEMPOTENT |
               KHADIM_TOOL_FLAGS_READ_ONLY,
      .risk = KHADIM_TOOL_RISK_LOW },
    run_get },
  { { .name = "clipboard.set", .title = "Set the clipboard",
      .description = "Puts a text on the clipboard.",
      .input_schema = OBJECT ",\"required\":[\"text\"],\"properties\":{" TEXT "," KIND "}}",
      .flags = KHADIM_TOOL_FLAGS_NEEDS_SCREEN | KHADIM_TOOL_FLAGS_IDEMPOTENT,
      .risk = KHADIM_TOOL_RISK_LOW },
    run_set },
  { { .name = "clipboard.paste", .title = "Paste a text",
      .description = "Pastes a text with Ctrl+V into the window that has the keyboard, or into "
                     "another one, and puts back what was on the clipboard unless restore is "
                     "false.",
      .input_schema = OBJECT ",\"required\":[\"text\"],\"properties\":{" TEXT
        ",\"restore\":{\"type\":\"boolean\"},\"in\":" KHADIM_RPA_SCHEMA_IN "}}",
      .flags = KHADIM_TOOL_FLAGS_NEEDS_SCREEN, .risk = KHADIM_TOOL_RISK_MEDIUM },
    run_paste },
};

KhadimToolDomain *
_khadim_rpa_clipboard_domain_new (KhadimRpaDesk *desk)
{
  return _khadim_rpa_domain_new (desk, "clipboard", tools, G_N_ELEMENTS (tools));
}
