/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-answer"

#include "config.h"

#include "rpa/tools/khadim-rpa-screen-private.h"

#include "engine/base/khadim-duration.h"
#include "engine/json/khadim-json.h"
#include "rpa/screen/khadim-rpa-error.h"

/* How long a window may take to come to the front. */
#define RAISE_TIMEOUT_MS 3000

/* How long before a step's deadline looking ends, for the answer. */
#define DEADLINE_MARGIN_US 300000

/* The colours of marks: the place that was taken, others, near misses. */
#define RGB_PLACE 0x1a9a3cu
#define RGB_OTHER 0xe0a000u
#define RGB_MISS 0xd03030u

/* A duration of the arguments in milliseconds. */
guint
_khadim_rpa_get_ms (JsonObject *args,
                    const char *member,
                    guint       fallback)
{
  const char *text = khadim_json_get_string (args, member, NULL);
  gint64 ms = fallback;

  if (text != NULL && !khadim_duration_parse (text, &ms, NULL))
    return fallback;

  return (guint) MIN (ms, G_MAXUINT);
}

/* Brings a window to the front when it is not there. */
gboolean
_khadim_rpa_raise (KhadimRpaDesk  *desk,
                   guint32         window,
                   GCancellable   *cancellable,
                   GError        **error)
{
  g_autoptr(KhadimRpaWindow) known = NULL;

  if (window == 0 || !khadim_rpa_windows_has_manager (desk->windows))
    return TRUE;
  known = khadim_rpa_windows_get (desk->windows, window, error);
  if (known == NULL)
    return FALSE;
  if ((khadim_rpa_window_get_state (known) & KHADIM_RPA_WINDOW_STATE_ACTIVE) != 0)
    return TRUE;

  return khadim_rpa_windows_activate (desk->windows, window, RAISE_TIMEOUT_MS, cancellable, error);
}

static KhadimRpaMark
make_mark (KhadimRpaPicture *picture,
           KhadimRpaRect     box,
           guint32           rgb,
           int               number)
{
  box.x -= khadim_rpa_picture_get_origin_x (picture);
  box.y -= khadim_rpa_picture_get_origin_y (picture);

  return (KhadimRpaMark) { .box = box, .rgb = rgb, .number = number };
}

/* The picture with everything that fits, or nearly fits, drawn in. */
static GBytes *
draw (KhadimRpaPlace *place)
{
  KhadimRpaMark marks[KHADIM_RPA_MAX_OTHERS + 1];
  guint n = 0;
  gboolean found = place->evidence != NULL;
  g_autoptr(KhadimRpaPicture) marked = NULL;

  for (guint i = 0; place->others != NULL && i < place->others->len && i < KHADIM_RPA_MAX_OTHERS;
       i++)
    marks[n++] = make_mark (place->picture, g_array_index (place->others, KhadimRpaSpot, i).box,
                            found ? RGB_OTHER : RGB_MISS, (int) i + (found ? 2 : 1));
  if (found)
    {
      marks[n] = make_mark (place->picture, place->box, RGB_PLACE, -1);
      marks[n].has_hot = TRUE;
      marks[n].hot_x = place->x - khadim_rpa_picture_get_origin_x (place->picture);
      marks[n].hot_y = place->y - khadim_rpa_picture_get_origin_y (place->picture);
      n++;
    }
  marked = khadim_rpa_picture_draw (place->picture, marks, n);

  return khadim_rpa_picture_to_jpeg (marked, KHADIM_RPA_REPORT_QUALITY, KHADIM_RPA_REPORT_MAX_PX,
                                     NULL);
}

/* A picture is for the report; without one the step is as good. */
static void
add_picture (KhadimToolResult *result,
             KhadimRpaPlace   *place)
{
  gboolean found = place->evidence != NULL;
  g_autoptr(GBytes) jpeg = place->picture != NULL ? draw (place) : NULL;

  if (jpeg != NULL)
    khadim_tool_result_add_artifact (result, found ? "place" : "screen",
                                     found ? "place.jpg" : "screen.jpg", "image/jpeg", jpeg);
}

KhadimToolResult *
_khadim_rpa_answer (KhadimRpaPlace *place,
                    JsonNode       *value,
                    GError         *error)
{
  KhadimToolResult *result;

  if (error != NULL)
    {
      g_clear_pointer (&value, json_node_unref);
      result = _khadim_rpa_fail (error);
    }
  else
    result = khadim_tool_result_new (value);
  if (place == NULL)
    return result;

  khadim_tool_result_set_detail (result, _khadim_rpa_place_to_json (place));
  add_picture (result, place);

  return result;
}

KhadimToolResult *
_khadim_rpa_seal (KhadimToolCall *call)
{
  JsonNode *note = khadim_tool_call_get_note (call);

  if (!khadim_tool_call_is_resumed (call) || note == NULL)
    return NULL;
  /* All that was missing is the picture for the report. */
  if (khadim_json_get_boolean (json_node_get_object (note), "done", FALSE))
    return khadim_tool_result_new (NULL);

  return khadim_tool_result_new_failure (KHADIM_TOOL_ERROR_SEALED,
                                         "it was interrupted while it acted, and what became of it "
                                         "is not known");
}

/* What a dry run says instead of doing. */
KhadimToolResult *
_khadim_rpa_dry (KhadimRpaPlace *place,
                 const char     *would)
{
  JsonObject *object = json_object_new ();

  json_object_set_boolean_member (object, "dry_run", TRUE);
  json_object_set_string_member (object, "would", would);

  return _khadim_rpa_answer (place, khadim_json_object (object), NULL);
}

/* Finds what the argument @member of a call describes, which is "target" in
 * all tools and, where there are two places, also "to". */
gboolean
_khadim_rpa_locate_member (KhadimRpaDesk     *desk,
                           KhadimToolCall    *call,
                           const char        *member,
                           KhadimRpaPlace    *out_place,
                           KhadimToolResult **out_failure,
                           GCancellable      *cancellable)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  gint64 call_deadline_us = khadim_tool_call_get_deadline_us (call);
  guint timeout_ms = _khadim_rpa_get_ms (args, "timeout", KHADIM_RPA_FIND_TIMEOUT_MS);
  KhadimRpaQuest quest = {
    .target = khadim_json_get_object (args, member),
    .in = khadim_json_get_object (args, "in"),
    .assets_dir = khadim_tool_call_get_assets_dir (call),
    .deadline_us = g_get_monotonic_time () + (gint64) timeout_ms * 1000,
  };
  GError *error = NULL;

  /* A step's own time is what its place is waited for; what is not found in
   * it is not found, which says more than that the time was up. */
  if (call_deadline_us > 0)
    {
      call_deadline_us -= DEADLINE_MARGIN_US;
      quest.deadline_us = json_object_has_member (args, "timeout")
                            ? MIN (quest.deadline_us, call_deadline_us)
                            : call_deadline_us;
    }
  quest.once = timeout_ms == 0;
  if (_khadim_rpa_find (desk, &quest, out_place, cancellable, &error))
    return TRUE;
  *out_failure = _khadim_rpa_answer (out_place, NULL, error);

  return FALSE;
}

gboolean
_khadim_rpa_locate (KhadimRpaDesk     *desk,
                    KhadimToolCall    *call,
                    KhadimRpaPlace    *out_place,
                    KhadimToolResult **out_failure,
                    GCancellable      *cancellable)
{
  return _khadim_rpa_locate_member (desk, call, "target", out_place, out_failure, cancellable);
}
