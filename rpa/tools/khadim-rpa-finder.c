/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-finder"

#include "config.h"

#include "rpa/tools/khadim-rpa-finder-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"
#include "rpa/find/khadim-rpa-a11y-find.h"
#include "rpa/screen/khadim-rpa-error.h"

/* How long to wait for a change before looking again anyway: not everything
 * that accessibility tells is drawn. */
#define LOOK_AGAIN_MS 100
/* How far a place may move between two looks and still be "still". */
#define STILL_PX 1

static const char *const default_order[] = { "a11y", "text", "image", "window", "screen" };

void
_khadim_rpa_place_clear (KhadimRpaPlace *self)
{
  g_clear_pointer (&self->node, khadim_rpa_a11y_node_unref);
  g_clear_pointer (&self->others, g_array_unref);
  g_clear_pointer (&self->picture, khadim_rpa_picture_unref);
  memset (self, 0, sizeof *self);
}

static void
set_box (JsonObject    *object,
         KhadimRpaRect  box)
{
  json_object_set_int_member (object, "x", box.x);
  json_object_set_int_member (object, "y", box.y);
  json_object_set_int_member (object, "width", box.width);
  json_object_set_int_member (object, "height", box.height);
}

/* What a report shows of it. */
JsonNode *
_khadim_rpa_place_to_json (KhadimRpaPlace *self)
{
  JsonObject *object = json_object_new ();
  JsonObject *box = json_object_new ();
  JsonArray *others = json_array_new ();

  if (self->evidence != NULL)
    {
      json_object_set_string_member (object, "evidence", self->evidence);
      json_object_set_double_member (object, "score", self->score);
      json_object_set_int_member (object, "x", self->x);
      json_object_set_int_member (object, "y", self->y);
      set_box (box, self->box);
      json_object_set_object_member (object, "box", box);
    }
  else
    json_object_unref (box);
  for (guint i = 0; self->others != NULL && i < self->others->len; i++)
    {
      KhadimRpaSpot *spot = &g_array_index (self->others, KhadimRpaSpot, i);
      JsonObject *other = json_object_new ();

      set_box (other, spot->box);
      json_object_set_double_member (other, "score", spot->score);
      json_array_add_object_element (others, other);
    }
  json_object_set_array_member (object, self->evidence != NULL ? "others" : "nearest", others);
  json_object_set_int_member (object, "search_ms", self->elapsed_us / 1000);

  return khadim_json_object (object);
}

/* The window that `in` names; NULL when there is no `in`. */
gboolean
_khadim_rpa_get_in (KhadimRpaDesk    *desk,
                    JsonObject       *in,
                    KhadimRpaWindow **out_window,
                    GError          **error)
{
  KhadimRpaWindowMatch match = { 0 };
  g_autoptr(GError) ended = NULL;

  *out_window = NULL;
  if (in == NULL)
    return TRUE;

  /* A window's id says it all; the rest may have changed since. */
  match.id = (guint32) khadim_json_get_int (in, "id", 0);
  if (match.id == 0)
    {
      match.pid = (guint32) khadim_json_get_int (in, "pid", 0);
      match.app = khadim_json_get_string (in, "app", NULL);
      match.title = khadim_json_get_string (in, "title", NULL);
    }
  *out_window = khadim_rpa_windows_find (desk->windows, &match, error);
  if (*out_window != NULL)
    return TRUE;
  if (!_khadim_rpa_desk_check_app (desk, match.id, (guint32) khadim_json_get_int (in, "pid", 0),
                                   &ended))
    {
      g_clear_error (error);
      g_propagate_error (error, g_steal_pointer (&ended));
    }

  return FALSE;
}

static gboolean
holds (const KhadimRpaRect *rect,
       int                  x,
       int                  y)
{
  return x >= rect->x && y >= rect->y && x < rect->x + rect->width && y < rect->y + rect->height;
}

/* The topmost window at a point, of process @pid unless that is 0; a menu is
 * none, then it is the active window of the process, or its topmost. 0 when
 * there is none. */
guint32
_khadim_rpa_window_at (KhadimRpaDesk *desk,
                       int            x,
                       int            y,
                       guint32        pid)
{
  KhadimRpaWindowMatch match = { .pid = pid };
  g_autoptr(GPtrArray) windows = khadim_rpa_windows_list (desk->windows, &match, NULL);
  KhadimRpaWindow *best = NULL, *other = NULL;

  for (guint i = 0; windows != NULL && i < windows->len; i++)
    {
      KhadimRpaWindow *window = windows->pdata[i];
      KhadimRpaWindowState state = khadim_rpa_window_get_state (window);
      KhadimRpaRect frame;

      khadim_rpa_window_get_frame (window, &frame);
      if ((state & KHADIM_RPA_WINDOW_STATE_VISIBLE) == 0 ||
          (state & KHADIM_RPA_WINDOW_STATE_MINIMIZED) != 0)
        continue;
      if (holds (&frame, x, y) &&
          (best == NULL || khadim_rpa_window_get_stacking (window) >
                             khadim_rpa_window_get_stacking (best)))
        best = window;
      if (pid != 0 && (other == NULL || (state & KHADIM_RPA_WINDOW_STATE_ACTIVE) != 0))
        other = window;
    }
  if (best == NULL)
    best = other;

  return best != NULL ? khadim_rpa_window_get_id (best) : 0;
}

/* Looking once ------------------------------------------------------------- */

static gboolean
take_picture (KhadimRpaDesk    *desk,
              KhadimRpaWindow  *window,
              KhadimRpaPlace   *place,
              GError          **error)
{
  KhadimRpaRect client;

  if (window != NULL)
    khadim_rpa_window_get_client (window, &client);
  place->picture = khadim_rpa_capture_take (desk->capture, window != NULL ? &client : NULL,
                                            KHADIM_RPA_CAPTURE_NONE, error);

  return place->picture != NULL;
}

static gboolean
find_by_screen (const KhadimRpaQuest *quest,
                KhadimRpaPlace       *place)
{
  JsonObject *point = khadim_json_get_object (quest->target, "screen");

  if (point == NULL)
    return FALSE;

  place->x = (int) khadim_json_get_int (point, "x", 0);
  place->y = (int) khadim_json_get_int (point, "y", 0);
  place->box = (KhadimRpaRect) { place->x, place->y, 1, 1 };
  place->score = 1;

  return TRUE;
}

static gboolean
find_by (const char            *evidence,
         KhadimRpaDesk         *desk,
         const KhadimRpaQuest  *quest,
         KhadimRpaWindow       *window,
         KhadimRpaPlace        *place,
         GCancellable          *cancellable,
         GError               **error)
{
  if (strcmp (evidence, "a11y") == 0)
    return _khadim_rpa_find_by_a11y (desk, quest, window, place, cancellable, error);
  if (strcmp (evidence, "text") == 0)
    return _khadim_rpa_find_by_text (quest, place, cancellable, error);
  if (strcmp (evidence, "image") == 0)
    return _khadim_rpa_find_by_image (quest, place, cancellable, error);
  if (strcmp (evidence, "window") == 0)
    return _khadim_rpa_find_by_window (desk, quest, window, place, error);

  return find_by_screen (quest, place);
}

/* The kinds of evidence in their order; the first that fits wins. */
static gboolean
try_evidence (KhadimRpaDesk         *desk,
              const KhadimRpaQuest  *quest,
              KhadimRpaWindow       *window,
              KhadimRpaPlace        *place,
              GCancellable          *cancellable,
              GError               **error)
{
  JsonArray *order = khadim_json_get_array (quest->target, "order");
  guint n = order != NULL ? json_array_get_length (order) : G_N_ELEMENTS (default_order);

  for (guint i = 0; i < n; i++)
    {
      const char *evidence = order != NULL ? json_array_get_string_element (order, i)
                                           : default_order[i];
      g_autoptr(GError) fault = NULL;

      if (find_by (evidence, desk, quest, window, place, cancellable, &fault))
        {
          for (gsize j = 0; j < G_N_ELEMENTS (default_order); j++)
            if (strcmp (default_order[j], evidence) == 0)
              place->evidence = default_order[j];
          return TRUE;
        }
      /* A program that does not answer accessibility may still be seen. */
      if (fault != NULL && (g_error_matches (fault, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED) ||
                            g_error_matches (fault, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LOST) ||
                            i + 1 == n))
        {
          g_propagate_error (error, g_steal_pointer (&fault));
          return FALSE;
        }
    }

  return FALSE;
}

static gboolean
look_once (KhadimRpaDesk         *desk,
           const KhadimRpaQuest  *quest,
           KhadimRpaPlace        *place,
           GCancellable          *cancellable,
           GError               **error)
{
  g_autoptr(KhadimRpaWindow) window = NULL;
  guint32 pid = 0;

  place->others = g_array_new (FALSE, FALSE, sizeof (KhadimRpaSpot));
  if (!_khadim_rpa_get_in (desk, quest->in, &window, error) ||
      !take_picture (desk, window, place, error) ||
      !try_evidence (desk, quest, window, place, cancellable, error))
    return FALSE;

  if (place->node != NULL)
    pid = khadim_rpa_a11y_node_get_pid (place->node);
  if (strcmp (place->evidence, "window") != 0)
    place->window = _khadim_rpa_window_at (desk, place->x, place->y, pid);

  return TRUE;
}

/* Waiting ------------------------------------------------------------------ */

static gboolean
is_still (const KhadimRpaPlace *a,
          const KhadimRpaPlace *b)
{
  return a->evidence == b->evidence && ABS (a->box.x - b->box.x) <= STILL_PX &&
         ABS (a->box.y - b->box.y) <= STILL_PX && a->box.width == b->box.width &&
         a->box.height == b->box.height;
}

static gboolean
is_miss (const GError *error)
{
  return error == NULL || g_error_matches (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND) ||
         g_error_matches (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT);
}

/* Lets the screen change, but not longer than @ms. */
static gboolean
wait_a_moment (KhadimRpaDesk   *desk,
               KhadimRpaPlace  *place,
               guint            ms,
               GCancellable    *cancellable,
               GError         **error)
{
  g_autoptr(GError) late = NULL;
  guint64 serial = place->picture != NULL ? khadim_rpa_picture_get_serial (place->picture) : 0;

  if (khadim_rpa_capture_wait_changed (desk->capture, serial, NULL, ms, cancellable, &late) ||
      g_error_matches (late, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&late));

  return FALSE;
}

static void
set_not_found (const KhadimRpaQuest  *quest,
               KhadimRpaPlace        *place,
               GError               **error)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  g_autofree char *text = NULL;

  json_node_set_object (node, quest->target);
  text = khadim_json_to_string (node);
  json_node_unref (node);
  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND,
               "the place is not on the screen: %.500s", text);
}

/* An accessible object is asked again by itself, which is quicker than to look
 * for it: whether it is where it was and still shows. */
static gboolean
is_node_still (KhadimRpaDesk   *desk,
               KhadimRpaPlace  *place,
               GCancellable    *cancellable)
{
  g_autoptr(KhadimRpaA11yNode) now = NULL;
  KhadimRpaPlace again = { .evidence = place->evidence };

  if (place->node == NULL)
    return FALSE;
  now = khadim_rpa_a11y_refresh (desk->a11y, place->node, cancellable, NULL);
  if (now == NULL || !khadim_rpa_a11y_node_has_state (now, "visible") ||
      !khadim_rpa_a11y_node_get_extents (now, &again.box.x, &again.box.y, &again.box.width,
                                         &again.box.height) ||
      !is_still (place, &again))
    return FALSE;
  khadim_rpa_a11y_node_unref (place->node);
  place->node = g_steal_pointer (&now);

  return TRUE;
}

/* A place that was found by how it looks is still when it looks the same. */
static gboolean
is_look_still (KhadimRpaDesk   *desk,
               KhadimRpaPlace  *place)
{
  KhadimRpaRect box = place->box;
  g_autoptr(KhadimRpaPicture) before = NULL;
  g_autoptr(KhadimRpaPicture) now = NULL;

  if (strcmp (place->evidence, "image") != 0 && strcmp (place->evidence, "text") != 0)
    return FALSE;
  now = khadim_rpa_capture_take (desk->capture, &box, KHADIM_RPA_CAPTURE_NONE, NULL);
  box.x -= khadim_rpa_picture_get_origin_x (place->picture);
  box.y -= khadim_rpa_picture_get_origin_y (place->picture);
  before = khadim_rpa_picture_crop (place->picture, &box, NULL);

  return now != NULL && before != NULL && khadim_rpa_picture_equal (before, now);
}

/* After a first find: the same place once more, a moment later. */
static gboolean
confirm (KhadimRpaDesk         *desk,
         const KhadimRpaQuest  *quest,
         KhadimRpaPlace        *place,
         gboolean              *out_still,
         GCancellable          *cancellable,
         GError               **error)
{
  g_auto(KhadimRpaPlace) again = { 0 };
  g_autoptr(GError) miss = NULL;
  g_autoptr(GError) late = NULL;

  *out_still = FALSE;
  /* What moves elsewhere on the screen is not waited for. */
  if (!khadim_rpa_capture_wait_still (desk->capture, &place->box, KHADIM_RPA_STILL_MS,
                                      LOOK_AGAIN_MS, cancellable, &late) &&
      !g_error_matches (late, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT))
    {
      g_propagate_error (error, g_steal_pointer (&late));
      return FALSE;
    }
  *out_still = is_node_still (desk, place, cancellable) || is_look_still (desk, place);
  if (*out_still)
    return TRUE;
  if (look_once (desk, quest, &again, cancellable, &miss))
    *out_still = is_still (place, &again);
  else if (!is_miss (miss))
    {
      g_propagate_error (error, g_steal_pointer (&miss));
      return FALSE;
    }
  _khadim_rpa_place_clear (place);
  *place = again;
  memset (&again, 0, sizeof again);

  return TRUE;
}

/* Where the window is missing, the whole screen says most about why. */
static void
show_screen (KhadimRpaDesk  *desk,
             KhadimRpaPlace *place)
{
  g_autoptr(GError) error = NULL;

  if (place->picture == NULL && !take_picture (desk, NULL, place, &error))
    g_debug ("No picture of the screen: %s", error->message);
}

/* Looks until the place is there and still, or the time is up: then the error
 * is NOT_FOUND, and @out_place has the last picture and the nearest misses. */
gboolean
_khadim_rpa_find (KhadimRpaDesk         *desk,
                  const KhadimRpaQuest  *quest,
                  KhadimRpaPlace        *out_place,
                  GCancellable          *cancellable,
                  GError               **error)
{
  gint64 begun_us = g_get_monotonic_time ();
  gboolean still = FALSE;

  while (TRUE)
    {
      g_autoptr(GError) miss = NULL;
      gboolean found;

      _khadim_rpa_place_clear (out_place);
      found = look_once (desk, quest, out_place, cancellable, &miss);
      if (!found && !is_miss (miss))
        {
          g_propagate_error (error, g_steal_pointer (&miss));
          return FALSE;
        }
      while (found && !still && !quest->once && g_get_monotonic_time () < quest->deadline_us)
        {
          if (!confirm (desk, quest, out_place, &still, cancellable, error))
            return FALSE;
          found = out_place->evidence != NULL;
        }
      out_place->elapsed_us = g_get_monotonic_time () - begun_us;
      if (found && (still || quest->once))
        return TRUE;
      if (quest->once || g_get_monotonic_time () >= quest->deadline_us)
        {
          out_place->evidence = NULL;
          show_screen (desk, out_place);
          if (miss != NULL)
            g_propagate_error (error, g_steal_pointer (&miss));
          else
            set_not_found (quest, out_place, error);
          return FALSE;
        }
      if (!wait_a_moment (desk, out_place, LOOK_AGAIN_MS, cancellable, error))
        return FALSE;
    }
}

/* Checking a document ------------------------------------------------------ */

static gboolean
has_template (JsonObject *object,
              const char *member)
{
  const char *text = khadim_json_get_string (object, member, "");

  return strstr (text, "{{") != NULL;
}

static gboolean
check_image (JsonObject  *image,
             const char  *assets_dir,
             GError     **error)
{
  const char *file = khadim_json_get_string (image, "file", "");
  g_autofree char *path = g_canonicalize_filename (file, assets_dir);
  g_autofree char *folder = g_strconcat (assets_dir, "/", NULL);

  if (has_template (image, "file"))
    return TRUE;
  if (!g_str_has_prefix (path, folder))
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                   "%s lies outside the automation's folder", file);
      return FALSE;
    }
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_NOT_FOUND,
                   "no such file %s", file);
      return FALSE;
    }

  return TRUE;
}

static gboolean
check_target (JsonObject  *args,
              const char  *member,
              const char  *assets_dir,
              char       **out_place,
              GError     **error)
{
  JsonObject *target = khadim_json_get_object (args, member);
  JsonObject *image = target != NULL ? khadim_json_get_object (target, "image") : NULL;

  if (target == NULL)
    return TRUE;
  if (image != NULL && !check_image (image, assets_dir, error))
    {
      *out_place = g_strdup_printf ("%s.image.file", member);
      return FALSE;
    }
  if (json_object_has_member (target, "point") && json_object_get_size (target) == 1 &&
      !json_object_has_member (args, "in"))
    {
      *out_place = g_strdup_printf ("%s.point", member);
      g_set_error_literal (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                           "a point needs “window” beside it, or “in” at the step");
      return FALSE;
    }

  return TRUE;
}

/* What a schema cannot say about arguments; @out_place is where they are
 * wrong. */
gboolean
_khadim_rpa_domain_check (KhadimToolDomain      *domain,
                          const KhadimToolInfo  *info,
                          JsonNode              *args,
                          const char            *assets_dir,
                          char                 **out_place,
                          GError               **error)
{
  JsonObject *object = json_node_get_object (args);
  const char *keys = khadim_json_get_string (object, "keys", NULL);

  if (!check_target (object, "target", assets_dir, out_place, error) ||
      !check_target (object, "to", assets_dir, out_place, error))
    return FALSE;
  if (keys == NULL || has_template (object, "keys") || strcmp (keys, "all") == 0 ||
      khadim_rpa_input_check_keys (keys, error))
    return TRUE;
  *out_place = g_strdup ("keys");

  return FALSE;
}
