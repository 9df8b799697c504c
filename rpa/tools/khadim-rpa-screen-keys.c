/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-screen"

#include "config.h"

#include "rpa/tools/khadim-rpa-screen-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"
#include "rpa/find/khadim-rpa-a11y-act.h"
#include "rpa/screen/khadim-rpa-error.h"

/* How long a field may take to get the focus after a click. */
#define FOCUS_TIMEOUT_MS 2000

/* The window that keys go to: that of the target, `in`, or the active one. */
static gboolean
get_window (KhadimRpaDesk  *desk,
            JsonObject     *args,
            guint32        *out_window,
            GCancellable   *cancellable,
            GError        **error)
{
  g_autoptr(KhadimRpaWindow) window = NULL;

  if (!_khadim_rpa_get_in (desk, khadim_json_get_object (args, "in"), &window, error))
    return FALSE;
  if (window == NULL && khadim_rpa_windows_has_manager (desk->windows))
    {
      window = khadim_rpa_windows_get_active (desk->windows, error);
      if (window == NULL)
        return FALSE;
    }
  *out_window = window != NULL ? khadim_rpa_window_get_id (window) : 0;

  return _khadim_rpa_raise (desk, *out_window, cancellable, error) &&
         (*out_window == 0 ||
          khadim_rpa_input_wait_focus (desk->input, *out_window, FOCUS_TIMEOUT_MS, cancellable,
                                       error));
}

/* How long a field may take to say that it has the focus it was given. */
#define GRAB_TIMEOUT_US 300000

static gboolean
is_focused (KhadimRpaDesk   *desk,
            KhadimRpaPlace  *place,
            GCancellable    *cancellable)
{
  g_autoptr(KhadimRpaA11yNode) now =
    khadim_rpa_a11y_refresh (desk->a11y, place->node, cancellable, NULL);

  return now != NULL && khadim_rpa_a11y_node_has_state (now, "focused");
}

/* Through accessibility the cursor stays where it is in the text. Programs of
 * GTK 4 do not offer it. */
static gboolean
grab_focus (KhadimRpaDesk   *desk,
            KhadimRpaPlace  *place,
            GCancellable    *cancellable)
{
  gint64 deadline_us = g_get_monotonic_time () + GRAB_TIMEOUT_US;

  if (place->node == NULL)
    return FALSE;
  if (is_focused (desk, place, cancellable))
    return TRUE;
  if (!khadim_rpa_a11y_grab_focus (desk->a11y, place->node, cancellable, NULL))
    return FALSE;
  while (!is_focused (desk, place, cancellable))
    if (g_get_monotonic_time () > deadline_us || g_cancellable_is_cancelled (cancellable))
      return FALSE;

  return TRUE;
}

/* A field that has the keyboard already is left alone, another one gets it:
 * gently if its program allows, else by a click as a person would give it. */
static gboolean
focus_field (KhadimRpaDesk   *desk,
             KhadimRpaPlace  *place,
             GCancellable    *cancellable,
             GError         **error)
{
  if (!_khadim_rpa_raise (desk, place->window, cancellable, error))
    return FALSE;
  if (!grab_focus (desk, place, cancellable) &&
      (!khadim_rpa_input_click (desk->input, place->x, place->y, KHADIM_RPA_BUTTON_LEFT, 1, NULL,
                                0, place->window, cancellable, error) ||
       !khadim_rpa_input_settle (desk->input, place->window, FOCUS_TIMEOUT_MS, cancellable, error)))
    return FALSE;

  return place->window == 0 ||
         khadim_rpa_input_wait_focus (desk->input, place->window, FOCUS_TIMEOUT_MS, cancellable,
                                      error);
}

/* Whether the field still has the focus; what accessibility cannot tell is
 * left to the check of the window. */
typedef struct
{
  KhadimRpaDesk *desk;
  KhadimRpaA11yNode *node;
  gint64 checked_us;
} FieldCheck;

#define FIELD_CHECK_INTERVAL_US 200000

static gboolean
check_field (gpointer   user_data,
             GError   **error)
{
  FieldCheck *check = user_data;
  gint64 now_us = g_get_monotonic_time ();
  g_autoptr(KhadimRpaA11yNode) now = NULL;

  if (check->node == NULL || now_us - check->checked_us < FIELD_CHECK_INTERVAL_US)
    return TRUE;

  check->checked_us = now_us;
  now = khadim_rpa_a11y_refresh (check->desk->a11y, check->node, NULL, NULL);
  if (now == NULL || khadim_rpa_a11y_node_has_state (now, "focused"))
    return TRUE;
  g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FOCUS_LOST,
                       "The field no longer has the keyboard");

  return FALSE;
}

static gboolean
type (KhadimRpaDesk   *desk,
      JsonObject      *args,
      const char      *text,
      KhadimRpaPlace  *place,
      guint32          window,
      GCancellable    *cancellable,
      GError         **error)
{
  FieldCheck check = { .desk = desk };
  KhadimRpaTypeOptions options = {
    .window = window, .delay_us = 1000 * _khadim_rpa_get_ms (args, "delay", 0),
    .check = check_field, .check_data = &check,
  };
  gboolean good = TRUE;

  if (place->node != NULL && khadim_rpa_a11y_node_has_state (place->node, "focused"))
    check.node = place->node;
  if (khadim_json_get_boolean (args, "clear", FALSE))
    good = khadim_rpa_input_key (desk->input, "ctrl+a", window, 1, 0, cancellable, error) &&
           khadim_rpa_input_key (desk->input, "Delete", window, 1, 0, cancellable, error);
  good = good && khadim_rpa_input_type (desk->input, text, &options, NULL, cancellable, error);
  if (good && khadim_json_get_boolean (args, "enter", FALSE))
    good = khadim_rpa_input_key (desk->input, "Return", window, 1, 0, cancellable, error) &&
           khadim_rpa_input_settle (desk->input, window, FOCUS_TIMEOUT_MS, cancellable, error);

  return good;
}

/* After a crash in the middle ---------------------------------------------- */

/* What a field holds, as its program tells; NULL when it does not. */
static char *
read_field (KhadimRpaDesk   *desk,
            KhadimRpaPlace  *place,
            GCancellable    *cancellable)
{
  if (place->node == NULL)
    return NULL;

  return khadim_rpa_a11y_get_text (desk->a11y, place->node, cancellable, NULL);
}

static char *
digest (const char *text,
        gsize       length)
{
  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) text, length);
}

/* Notes what the field held before, as length and sum: enough to tell later
 * what was added, without keeping what may be private. */
static gboolean
note_field (KhadimRpaDesk   *desk,
            KhadimToolCall  *call,
            KhadimRpaPlace  *place,
            gboolean         cleared,
            GCancellable    *cancellable,
            GError         **error)
{
  g_autofree char *before = cleared ? g_strdup ("") : read_field (desk, place, cancellable);
  g_autofree char *sum = NULL;
  JsonObject *note = json_object_new ();

  if (before != NULL)
    {
      sum = digest (before, strlen (before));
      json_object_set_int_member (note, "bytes", (gint64) strlen (before));
      json_object_set_string_member (note, "sha256", sum);
    }

  return khadim_tool_call_note (call, khadim_json_object (note), error);
}

/* How much of @text the interrupted attempt had typed, by what the field holds
 * now; NULL when that cannot be told: then nobody knows. */
static const char *
find_rest (KhadimRpaDesk   *desk,
           KhadimToolCall  *call,
           KhadimRpaPlace  *place,
           const char      *text,
           GCancellable    *cancellable)
{
  JsonObject *note = json_node_get_object (khadim_tool_call_get_note (call));
  const char *sum = khadim_json_get_string (note, "sha256", NULL);
  gsize length = (gsize) khadim_json_get_int (note, "bytes", 0);
  g_autofree char *now = sum != NULL ? read_field (desk, place, cancellable) : NULL;
  g_autofree char *now_sum = NULL;

  if (now == NULL || strlen (now) < length)
    return NULL;
  now_sum = digest (now, length);
  if (strcmp (now_sum, sum) != 0 || !g_str_has_prefix (text, now + length))
    return NULL;

  return text + strlen (now + length);
}

static void
wipe (char *text)
{
  if (text == NULL)
    return;
  explicit_bzero (text, strlen (text));
  g_free (text);
}

static gboolean
is_done (KhadimToolCall *call)
{
  JsonNode *note = khadim_tool_call_get_note (call);

  return khadim_tool_call_is_resumed (call) && note != NULL &&
         khadim_json_get_boolean (json_node_get_object (note), "done", FALSE);
}

/* What is still to be typed: all of it, or after an interruption the rest. */
static const char *
get_rest (KhadimRpaDesk   *desk,
          KhadimToolCall  *call,
          KhadimRpaPlace  *place,
          const char      *text,
          GCancellable    *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);

  if (!khadim_tool_call_is_resumed (call) || khadim_tool_call_get_note (call) == NULL)
    return text;
  /* Return may have emptied the field, or moved on. */
  if (khadim_json_get_boolean (args, "enter", FALSE))
    return NULL;
  if (khadim_json_get_boolean (args, "clear", FALSE) && place->evidence != NULL)
    return text;

  return find_rest (desk, call, place, text, cancellable);
}

static char *
get_text (KhadimToolCall  *call,
          GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  JsonNode *text = khadim_json_get (args, "text");

  if (JSON_NODE_HOLDS_OBJECT (text))
    return khadim_tool_call_resolve_secret (call, text, error);

  return g_strdup (khadim_json_get_string (args, "text", ""));
}

static KhadimToolResult *
type_at (KhadimRpaDesk   *desk,
         KhadimToolCall  *call,
         KhadimRpaPlace  *place,
         guint32          window,
         GCancellable    *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  GError *error = NULL;
  char *text = get_text (call, &error);
  const char *rest = text != NULL ? get_rest (desk, call, place, text, cancellable) : NULL;
  gboolean unknown = text != NULL && rest == NULL;

  if (rest != NULL && (rest != text || note_field (desk, call, place,
                                                   khadim_json_get_boolean (args, "clear", FALSE),
                                                   cancellable, &error)))
    type (desk, args, rest, place, window, cancellable, &error);
  wipe (text);
  if (unknown)
    return _khadim_rpa_seal (call);
  if (error == NULL)
    khadim_tool_call_note_done (call);

  return _khadim_rpa_answer (place->evidence != NULL ? place : NULL, NULL, error);
}

KhadimToolResult *
_khadim_rpa_run_type (KhadimRpaDesk  *desk,
                      KhadimToolCall *call,
                      GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_auto(KhadimRpaPlace) place = { 0 };
  KhadimToolResult *failure = NULL;
  GError *error = NULL;
  guint32 window = 0;
  gboolean targeted = json_object_has_member (args, "target");

  if (is_done (call))
    return khadim_tool_result_new (NULL);
  if (targeted && !_khadim_rpa_locate (desk, call, &place, &failure, cancellable))
    return failure;
  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (targeted ? &place : NULL, "type");

  if (targeted)
    {
      window = place.window;
      focus_field (desk, &place, cancellable, &error);
    }
  else
    get_window (desk, args, &window, cancellable, &error);
  if (error != NULL)
    return _khadim_rpa_answer (targeted ? &place : NULL, NULL, error);

  return type_at (desk, call, &place, window, cancellable);
}

KhadimToolResult *
_khadim_rpa_run_key (KhadimRpaDesk  *desk,
                     KhadimToolCall *call,
                     GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_auto(KhadimRpaPlace) place = { 0 };
  KhadimToolResult *failure = _khadim_rpa_seal (call);
  GError *error = NULL;
  guint32 window = 0;
  gboolean targeted = json_object_has_member (args, "target");

  if (failure != NULL ||
      (targeted && !_khadim_rpa_locate (desk, call, &place, &failure, cancellable)))
    return failure;
  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (targeted ? &place : NULL, "press keys");
  if (targeted)
    {
      window = place.window;
      focus_field (desk, &place, cancellable, &error);
    }
  else
    get_window (desk, args, &window, cancellable, &error);
  if (error == NULL && khadim_tool_call_note (call, NULL, &error) &&
      khadim_rpa_input_key (desk->input, khadim_json_get_string (args, "keys", ""), window,
                            (guint) khadim_json_get_int (args, "repeat", 1),
                            _khadim_rpa_get_ms (args, "hold", 0), cancellable, &error))
    khadim_rpa_input_settle (desk->input, window, FOCUS_TIMEOUT_MS, cancellable, NULL);
  if (error == NULL)
    khadim_tool_call_note_done (call);

  return _khadim_rpa_answer (targeted ? &place : NULL, NULL, error);
}

KhadimToolResult *
_khadim_rpa_run_key_down (KhadimRpaDesk  *desk,
                          KhadimToolCall *call,
                          GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  KhadimToolResult *failure = _khadim_rpa_seal (call);
  GError *error = NULL;
  guint32 window = 0;

  if (failure != NULL)
    return failure;
  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (NULL, "press keys");
  if (get_window (desk, args, &window, cancellable, &error) &&
      khadim_tool_call_note (call, NULL, &error))
    khadim_rpa_input_key_down (desk->input, khadim_json_get_string (args, "keys", ""), window,
                               &error);
  if (error == NULL)
    khadim_tool_call_note_done (call);

  return _khadim_rpa_answer (NULL, NULL, error);
}

KhadimToolResult *
_khadim_rpa_run_key_up (KhadimRpaDesk  *desk,
                        KhadimToolCall *call,
                        GCancellable   *cancellable)
{
  const char *keys = khadim_json_get_string (khadim_tool_call_get_args (call), "keys", "all");
  GError *error = NULL;

  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (NULL, "release keys");
  khadim_rpa_input_key_up (desk->input, strcmp (keys, "all") == 0 ? NULL : keys, &error);

  return _khadim_rpa_answer (NULL, NULL, error);
}

/* Through the tree --------------------------------------------------------- */

static gboolean
locate_node (KhadimRpaDesk     *desk,
             KhadimToolCall    *call,
             KhadimRpaPlace    *place,
             KhadimToolResult **out_failure,
             GCancellable      *cancellable)
{
  if (!_khadim_rpa_locate (desk, call, place, out_failure, cancellable))
    return FALSE;
  if (place->node != NULL)
    return TRUE;

  *out_failure = _khadim_rpa_answer (
    place, NULL,
    g_error_new (KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
                 "the place was found by its %s; this tool needs the evidence “a11y”",
                 place->evidence));

  return FALSE;
}

KhadimToolResult *
_khadim_rpa_run_invoke (KhadimRpaDesk  *desk,
                        KhadimToolCall *call,
                        GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_auto(KhadimRpaPlace) place = { 0 };
  KhadimToolResult *failure = _khadim_rpa_seal (call);
  GError *error = NULL;

  if (failure != NULL || !locate_node (desk, call, &place, &failure, cancellable))
    return failure;
  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (&place, "invoke");
  if (khadim_tool_call_note (call, NULL, &error))
    khadim_rpa_a11y_invoke (desk->a11y, place.node, khadim_json_get_string (args, "action", NULL),
                          cancellable, &error);
  if (error == NULL)
    khadim_tool_call_note_done (call);

  return _khadim_rpa_answer (&place, NULL, error);
}

KhadimToolResult *
_khadim_rpa_run_set_value (KhadimRpaDesk  *desk,
                           KhadimToolCall *call,
                           GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  JsonNode *value = khadim_json_get (args, "value");
  g_auto(KhadimRpaPlace) place = { 0 };
  KhadimToolResult *failure = NULL;
  GError *error = NULL;
  char *text = NULL;

  if (!locate_node (desk, call, &place, &failure, cancellable))
    return failure;
  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (&place, "set the value");
  text = JSON_NODE_HOLDS_OBJECT (value) ? khadim_tool_call_resolve_secret (call, value, &error)
                                        : g_strdup (khadim_json_get_string (args, "value", ""));
  if (text != NULL)
    khadim_rpa_a11y_set_value (desk->a11y, place.node, text, cancellable, &error);
  wipe (text);

  return _khadim_rpa_answer (&place, NULL, error);
}

KhadimToolResult *
_khadim_rpa_run_select_text (KhadimRpaDesk  *desk,
                             KhadimToolCall *call,
                             GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_auto(KhadimRpaPlace) place = { 0 };
  KhadimToolResult *failure = NULL;
  GError *error = NULL;

  if (!locate_node (desk, call, &place, &failure, cancellable))
    return failure;
  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (&place, "select text");
  khadim_rpa_a11y_select_text (desk->a11y, place.node, khadim_json_get_string (args, "from", ""),
                               khadim_json_get_string (args, "to", NULL), cancellable, &error);

  return _khadim_rpa_answer (&place, NULL, error);
}
