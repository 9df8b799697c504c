/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-screen"

#include "config.h"

#include "rpa/tools/khadim-rpa-screen-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"
#include "rpa/screen/khadim-rpa-error.h"

/* What a pixel of scrolling is in steps of the wheel, and how much a page is. */
#define PIXELS_A_STEP 100
#define STEPS_A_PAGE 10

static KhadimRpaButton
read_button (JsonObject *args)
{
  const char *name = khadim_json_get_string (args, "button", "left");

  if (strcmp (name, "middle") == 0)
    return KHADIM_RPA_BUTTON_MIDDLE;
  if (strcmp (name, "right") == 0)
    return KHADIM_RPA_BUTTON_RIGHT;
  if (strcmp (name, "back") == 0)
    return KHADIM_RPA_BUTTON_BACK;

  return strcmp (name, "forward") == 0 ? KHADIM_RPA_BUTTON_FORWARD : KHADIM_RPA_BUTTON_LEFT;
}

/* Where a call acts: at its target, at x and y, or where the pointer is. */
static gboolean
get_point (KhadimRpaDesk     *desk,
           KhadimToolCall    *call,
           KhadimRpaPlace    *place,
           KhadimToolResult **out_failure,
           GCancellable      *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  GError *error = NULL;

  if (json_object_has_member (args, "target"))
    return _khadim_rpa_locate (desk, call, place, out_failure, cancellable);

  if (json_object_has_member (args, "x"))
    {
      place->x = (int) khadim_json_get_int (args, "x", 0);
      place->y = (int) khadim_json_get_int (args, "y", 0);
    }
  else if (!khadim_rpa_input_get_pointer (desk->input, &place->x, &place->y, &error))
    {
      *out_failure = _khadim_rpa_fail (error);
      return FALSE;
    }
  place->evidence = "point";
  place->score = 1;
  place->box = (KhadimRpaRect) { place->x, place->y, 1, 1 };
  place->window = _khadim_rpa_window_at (desk, place->x, place->y, 0);

  return TRUE;
}

KhadimToolResult *
_khadim_rpa_run_click (KhadimRpaDesk  *desk,
                       KhadimToolCall *call,
                       GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_auto(KhadimRpaPlace) place = { 0 };
  KhadimToolResult *failure = _khadim_rpa_seal (call);
  GError *error = NULL;

  if (failure != NULL || !get_point (desk, call, &place, &failure, cancellable))
    return failure;
  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (&place, "click");
  if (_khadim_rpa_raise (desk, place.window, cancellable, &error) &&
      khadim_rpa_input_separate_click (desk->input, place.x, place.y, read_button (args),
                                       cancellable, &error) &&
      khadim_tool_call_note (call, NULL, &error))
    khadim_rpa_input_click (desk->input, place.x, place.y, read_button (args),
                            (guint) khadim_json_get_int (args, "count", 1),
                            khadim_json_get_string (args, "keys", NULL),
                            _khadim_rpa_get_ms (args, "hold", 0), place.window, cancellable,
                            &error);
  if (error == NULL)
    khadim_tool_call_note_done (call);

  return _khadim_rpa_answer (&place, NULL, error);
}

KhadimToolResult *
_khadim_rpa_run_move (KhadimRpaDesk  *desk,
                      KhadimToolCall *call,
                      GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_auto(KhadimRpaPlace) place = { 0 };
  KhadimToolResult *failure = NULL;
  GError *error = NULL;

  if (!get_point (desk, call, &place, &failure, cancellable))
    return failure;
  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (&place, "move the pointer");
  khadim_rpa_input_move (desk->input, place.x, place.y, _khadim_rpa_get_ms (args, "duration", 0),
                         cancellable, &error);

  return _khadim_rpa_answer (&place, NULL, error);
}

KhadimToolResult *
_khadim_rpa_run_press (KhadimRpaDesk  *desk,
                       KhadimToolCall *call,
                       GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_auto(KhadimRpaPlace) place = { 0 };
  KhadimToolResult *failure = _khadim_rpa_seal (call);
  GError *error = NULL;

  if (failure != NULL || !get_point (desk, call, &place, &failure, cancellable))
    return failure;
  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (&place, "press the button");
  if (_khadim_rpa_raise (desk, place.window, cancellable, &error) &&
      khadim_rpa_input_move (desk->input, place.x, place.y, 0, cancellable, &error) &&
      khadim_tool_call_note (call, NULL, &error))
    khadim_rpa_input_press (desk->input, read_button (args), place.window, &error);
  if (error == NULL)
    khadim_tool_call_note_done (call);

  return _khadim_rpa_answer (&place, NULL, error);
}

KhadimToolResult *
_khadim_rpa_run_release (KhadimRpaDesk  *desk,
                         KhadimToolCall *call,
                         GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  GError *error = NULL;

  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (NULL, "release the button");
  if (strcmp (khadim_json_get_string (args, "button", "left"), "all") == 0)
    khadim_rpa_input_release_all (desk->input);
  else
    khadim_rpa_input_release (desk->input, read_button (args), &error);

  return _khadim_rpa_answer (NULL, NULL, error);
}

static guint
read_path (JsonObject *args,
           int         points[2 * KHADIM_RPA_PATH_MAX_POINTS])
{
  JsonArray *path = khadim_json_get_array (args, "path");
  guint n = path != NULL ? MIN (json_array_get_length (path), KHADIM_RPA_PATH_MAX_POINTS) : 0;

  for (guint i = 0; i < n; i++)
    {
      JsonArray *point = json_array_get_array_element (path, i);

      points[2 * i] = (int) json_array_get_int_element (point, 0);
      points[2 * i + 1] = (int) json_array_get_int_element (point, 1);
    }

  return n;
}

/* From a target to another, or along a path. */
static gboolean
find_path (KhadimRpaDesk     *desk,
           KhadimToolCall    *call,
           KhadimRpaPlace    *from,
           int                points[2 * KHADIM_RPA_PATH_MAX_POINTS],
           guint             *out_n,
           KhadimToolResult **out_failure,
           GCancellable      *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_auto(KhadimRpaPlace) to = { 0 };

  *out_n = read_path (args, points);
  if (!json_object_has_member (args, "to"))
    {
      from->window = _khadim_rpa_window_at (desk, points[0], points[1], 0);
      return TRUE;
    }
  if (!_khadim_rpa_locate (desk, call, from, out_failure, cancellable) ||
      !_khadim_rpa_locate_member (desk, call, "to", &to, out_failure, cancellable))
    return FALSE;
  points[0] = from->x;
  points[1] = from->y;
  points[2] = to.x;
  points[3] = to.y;
  *out_n = 2;

  return TRUE;
}

KhadimToolResult *
_khadim_rpa_run_drag (KhadimRpaDesk  *desk,
                      KhadimToolCall *call,
                      GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_autofree int *points = g_new0 (int, 2 * KHADIM_RPA_PATH_MAX_POINTS);
  g_auto(KhadimRpaPlace) from = { 0 };
  KhadimToolResult *failure = _khadim_rpa_seal (call);
  GError *error = NULL;
  guint n = 0;

  if (failure != NULL || !find_path (desk, call, &from, points, &n, &failure, cancellable))
    return failure;
  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (from.evidence != NULL ? &from : NULL, "drag");
  if (_khadim_rpa_raise (desk, from.window, cancellable, &error) &&
      khadim_tool_call_note (call, NULL, &error))
    khadim_rpa_input_drag (desk->input, points, n, read_button (args),
                           khadim_json_get_string (args, "keys", NULL),
                           _khadim_rpa_get_ms (args, "duration", 300), from.window, cancellable,
                           &error);
  if (error == NULL)
    khadim_tool_call_note_done (call);

  return _khadim_rpa_answer (from.evidence != NULL ? &from : NULL, NULL, error);
}

static int
to_steps (JsonObject *args,
          const char *member)
{
  const char *unit = khadim_json_get_string (args, "unit", "step");
  gint64 amount = khadim_json_get_int (args, member, 0);

  if (strcmp (unit, "pixel") == 0)
    amount = (amount + (amount < 0 ? -PIXELS_A_STEP / 2 : PIXELS_A_STEP / 2)) / PIXELS_A_STEP;
  else if (strcmp (unit, "page") == 0)
    amount *= STEPS_A_PAGE;

  return (int) amount;
}

KhadimToolResult *
_khadim_rpa_run_scroll (KhadimRpaDesk  *desk,
                        KhadimToolCall *call,
                        GCancellable   *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_auto(KhadimRpaPlace) place = { 0 };
  KhadimToolResult *failure = _khadim_rpa_seal (call);
  JsonObject *value;
  GError *error = NULL;
  int dx = to_steps (args, "dx"), dy = to_steps (args, "dy");

  if (failure != NULL || !get_point (desk, call, &place, &failure, cancellable))
    return failure;
  if (khadim_tool_call_is_dry_run (call))
    return _khadim_rpa_dry (&place, "scroll");
  if (_khadim_rpa_raise (desk, place.window, cancellable, &error) &&
      khadim_tool_call_note (call, NULL, &error))
    khadim_rpa_input_scroll (desk->input, place.x, place.y, dx, dy,
                             khadim_json_get_string (args, "keys", NULL), place.window,
                             cancellable, &error);
  if (error == NULL)
    khadim_tool_call_note_done (call);
  /* What was asked for in another unit became this. */
  value = json_object_new ();
  json_object_set_int_member (value, "steps_x", dx);
  json_object_set_int_member (value, "steps_y", dy);

  return _khadim_rpa_answer (&place, khadim_json_object (value), error);
}
