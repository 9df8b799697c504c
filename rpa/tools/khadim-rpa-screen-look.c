/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-screen"

#include "config.h"

#include "rpa/tools/khadim-rpa-screen-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"
#include "rpa/find/khadim-rpa-a11y-act.h"
#include "rpa/find/khadim-rpa-ocr.h"
#include "rpa/screen/khadim-rpa-error.h"

/* How much of a tree one answer holds. */
#define TREE_MAX_NODES 2000

static gboolean
read_region (JsonObject    *args,
             KhadimRpaRect *out_region)
{
  JsonArray *region = khadim_json_get_array (args, "region");

  if (region == NULL)
    return FALSE;

  out_region->x = (int) json_array_get_int_element (region, 0);
  out_region->y = (int) json_array_get_int_element (region, 1);
  out_region->width = (int) json_array_get_int_element (region, 2);
  out_region->height = (int) json_array_get_int_element (region, 3);

  return TRUE;
}

/* The part of the screen that a call names: a region, a window, or all. */
static KhadimRpaPicture *
take (KhadimRpaDesk  *desk,
      JsonObject     *args,
      GError        **error)
{
  gboolean cursor = khadim_json_get_boolean (args, "cursor", FALSE);
  g_autoptr(KhadimRpaWindow) window = NULL;
  KhadimRpaRect region;
  gboolean whole;

  if (!_khadim_rpa_get_in (desk, khadim_json_get_object (args, "in"), &window, error))
    return NULL;
  whole = !read_region (args, &region) && window == NULL;
  if (window != NULL)
    khadim_rpa_window_get_client (window, &region);

  return khadim_rpa_capture_take (desk->capture, whole ? NULL : &region,
                                  cursor ? KHADIM_RPA_CAPTURE_CURSOR : KHADIM_RPA_CAPTURE_NONE,
                                  error);
}

KhadimToolResult *
_khadim_rpa_run_look (KhadimRpaDesk  *desk,
                      KhadimToolCall *call,
                      GCancellable   *cancellable)
{
  GError *error = NULL;
  g_autoptr(KhadimRpaPicture) picture = take (desk, khadim_tool_call_get_args (call), &error);
  g_autoptr(GBytes) png = NULL;
  KhadimToolResult *result;
  JsonObject *value;

  if (picture != NULL)
    png = khadim_rpa_picture_to_png (picture, &error);
  if (png == NULL)
    return _khadim_rpa_fail (error);

  value = json_object_new ();
  json_object_set_int_member (value, "x", khadim_rpa_picture_get_origin_x (picture));
  json_object_set_int_member (value, "y", khadim_rpa_picture_get_origin_y (picture));
  json_object_set_int_member (value, "width", khadim_rpa_picture_get_width (picture));
  json_object_set_int_member (value, "height", khadim_rpa_picture_get_height (picture));
  result = khadim_tool_result_new (khadim_json_object (value));
  khadim_tool_result_add_artifact (result, "screen", "screen.png", "image/png", png);

  return result;
}

/* The place as a value that later steps can use. */
static JsonNode *
describe_place (KhadimRpaPlace *place)
{
  JsonNode *node = _khadim_rpa_place_to_json (place);

  if (place->window != 0)
    json_object_set_int_member (json_node_get_object (node), "window", place->window);

  return node;
}

KhadimToolResult *
_khadim_rpa_run_find (KhadimRpaDesk  *desk,
                      KhadimToolCall *call,
                      GCancellable   *cancellable)
{
  g_auto(KhadimRpaPlace) place = { 0 };
  KhadimToolResult *failure = NULL;

  if (!_khadim_rpa_locate (desk, call, &place, &failure, cancellable))
    return failure;

  return _khadim_rpa_answer (&place, describe_place (&place), NULL);
}

/* Waiting ------------------------------------------------------------------ */

/* Until the place is gone, or looks other than it did. */
static KhadimToolResult *
wait_away (KhadimRpaDesk  *desk,
           KhadimToolCall *call,
           gboolean        changed,
           GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  guint timeout_ms = _khadim_rpa_get_ms (args, "timeout", KHADIM_RPA_FIND_TIMEOUT_MS);
  gint64 deadline_us = g_get_monotonic_time () + (gint64) timeout_ms * 1000;
  KhadimRpaQuest quest = {
    .target = khadim_json_get_object (args, "target"),
    .in = khadim_json_get_object (args, "in"),
    .assets_dir = khadim_tool_call_get_assets_dir (call),
    .once = TRUE,
  };
  g_autoptr(KhadimRpaPicture) before = NULL;

  while (TRUE)
    {
      g_auto(KhadimRpaPlace) place = { 0 };
      g_autoptr(GError) error = NULL;
      g_autoptr(KhadimRpaPicture) now = NULL;
      gboolean found = _khadim_rpa_find (desk, &quest, &place, cancellable, &error);

      if (!found && !g_error_matches (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND))
        return _khadim_rpa_fail (g_steal_pointer (&error));
      if (!found)
        return _khadim_rpa_answer (NULL, khadim_json_boolean (TRUE), NULL);
      if (changed)
        {
          now = khadim_rpa_capture_take (desk->capture, &place.box, KHADIM_RPA_CAPTURE_NONE, NULL);
          if (before != NULL && now != NULL && !khadim_rpa_picture_equal (before, now))
            return _khadim_rpa_answer (&place, khadim_json_boolean (TRUE), NULL);
          if (before == NULL)
            before = g_steal_pointer (&now);
        }
      if (g_get_monotonic_time () >= deadline_us)
        return _khadim_rpa_answer (&place, NULL,
                                   g_error_new (KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT,
                                                changed ? "the place did not change in time"
                                                        : "the place is still there"));
      if (!khadim_rpa_capture_wait_changed (desk->capture,
                                            khadim_rpa_picture_get_serial (place.picture), NULL,
                                            100, cancellable, &error) &&
          !g_error_matches (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT))
        return _khadim_rpa_fail (g_steal_pointer (&error));
    }
}

KhadimToolResult *
_khadim_rpa_run_wait_for (KhadimRpaDesk  *desk,
                          KhadimToolCall *call,
                          GCancellable   *cancellable)
{
  const char *state = khadim_json_get_string (khadim_tool_call_get_args (call), "state", "shown");

  if (strcmp (state, "gone") == 0 || strcmp (state, "changed") == 0)
    return wait_away (desk, call, strcmp (state, "changed") == 0, cancellable);

  return _khadim_rpa_run_find (desk, call, cancellable);
}

/* Reading ------------------------------------------------------------------ */

/* What an accessible object says: its text, else its name. */
static JsonNode *
read_node (KhadimRpaDesk     *desk,
           KhadimRpaA11yNode *node,
           GCancellable      *cancellable)
{
  g_autofree char *text = khadim_rpa_a11y_get_text (desk->a11y, node, cancellable, NULL);
  const char *name = khadim_rpa_a11y_node_get_name (node);
  JsonObject *value = json_object_new ();
  double number;

  json_object_set_string_member (value, "text",
                                 text != NULL && *text != '\0' ? text
                                 : text != NULL && (name == NULL || *name == '\0') ? ""
                                 : name != NULL ? name : "");
  json_object_set_string_member (value, "name", name != NULL ? name : "");
  json_object_set_string_member (value, "role", khadim_rpa_a11y_node_get_role (node));
  json_object_set_string_member (value, "way", "a11y");
  if (khadim_rpa_a11y_node_get_value (node, &number))
    json_object_set_double_member (value, "value", number);
  json_object_set_boolean_member (value, "checked",
                                  khadim_rpa_a11y_node_has_state (node, "checked"));

  return khadim_json_object (value);
}

static JsonNode *
read_picture (KhadimRpaPicture  *picture,
              JsonObject        *args,
              GCancellable      *cancellable,
              GError           **error)
{
  KhadimRpaOcrOptions options = KHADIM_RPA_OCR_OPTIONS_INIT;
  g_autoptr(KhadimRpaOcrPage) page = NULL;
  g_autofree char *text = NULL;
  JsonObject *value;

  options.languages = khadim_json_get_string (args, "language", NULL);
  page = khadim_rpa_ocr_read (picture, NULL, &options, cancellable, error);
  if (page == NULL)
    return NULL;

  text = khadim_rpa_ocr_page_dup_text (page);
  value = json_object_new ();
  json_object_set_string_member (value, "text", g_strstrip (text));
  json_object_set_string_member (value, "way", "ocr");
  json_object_set_int_member (value, "words", khadim_rpa_ocr_page_get_n_words (page));

  return khadim_json_object (value);
}

static KhadimToolResult *
read_place (KhadimRpaDesk  *desk,
            KhadimToolCall *call,
            GCancellable   *cancellable)
{
  g_auto(KhadimRpaPlace) place = { 0 };
  KhadimToolResult *failure = NULL;
  g_autoptr(KhadimRpaPicture) crop = NULL;
  JsonNode *value = NULL;
  GError *error = NULL;

  if (!_khadim_rpa_locate (desk, call, &place, &failure, cancellable))
    return failure;
  if (place.node != NULL)
    return _khadim_rpa_answer (&place, read_node (desk, place.node, cancellable), NULL);

  crop = khadim_rpa_capture_take (desk->capture, &place.box, KHADIM_RPA_CAPTURE_NONE, &error);
  if (crop != NULL)
    value = read_picture (crop, khadim_tool_call_get_args (call), cancellable, &error);

  return _khadim_rpa_answer (&place, value, error);
}

KhadimToolResult *
_khadim_rpa_run_read (KhadimRpaDesk  *desk,
                      KhadimToolCall *call,
                      GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_autoptr(KhadimRpaPicture) picture = NULL;
  JsonNode *value = NULL;
  GError *error = NULL;

  if (json_object_has_member (args, "target"))
    return read_place (desk, call, cancellable);

  picture = take (desk, args, &error);
  if (picture != NULL)
    value = read_picture (picture, args, cancellable, &error);

  return _khadim_rpa_answer (NULL, value, error);
}

KhadimToolResult *
_khadim_rpa_run_tree (KhadimRpaDesk  *desk,
                      KhadimToolCall *call,
                      GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_autoptr(KhadimRpaWindow) window = NULL;
  g_autoptr(KhadimRpaA11yNode) tree = NULL;
  KhadimRpaA11yScope scope = { 0 };
  KhadimRpaA11yLimits limits = {
    .max_nodes = (guint) khadim_json_get_int (args, "limit", TREE_MAX_NODES),
    .max_depth = (guint) khadim_json_get_int (args, "depth", 0),
    .details = TRUE,
  };
  GError *error = NULL;

  if (desk->a11y == NULL)
    return khadim_tool_result_new_failure (KHADIM_TOOL_ERROR_TOOL, "there is no accessibility: %s",
                                           desk->a11y_error->message);
  if (!_khadim_rpa_get_in (desk, khadim_json_get_object (args, "in"), &window, &error))
    return _khadim_rpa_fail (error);
  scope.pid = window != NULL ? khadim_rpa_window_get_pid (window) : 0;
  scope.app = khadim_json_get_string (args, "app", NULL);
  tree = khadim_rpa_a11y_snapshot (desk->a11y, &scope, &limits, cancellable, &error);
  if (tree == NULL)
    return _khadim_rpa_fail (error);

  return khadim_tool_result_new (khadim_rpa_a11y_node_to_json (tree));
}

KhadimToolResult *
_khadim_rpa_run_pointer (KhadimRpaDesk  *desk,
                         KhadimToolCall *call,
                         GCancellable   *cancellable)
{
  JsonObject *value = json_object_new ();
  GError *error = NULL;
  int x = 0, y = 0;

  khadim_rpa_input_get_pointer (desk->input, &x, &y, &error);
  json_object_set_int_member (value, "x", x);
  json_object_set_int_member (value, "y", y);

  return _khadim_rpa_answer (NULL, khadim_json_object (value), error);
}
