/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-evidence"

#include "config.h"

#include "rpa/tools/khadim-rpa-finder-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"
#include "rpa/find/khadim-rpa-a11y-find.h"
#include "rpa/find/khadim-rpa-matcher.h"
#include "rpa/find/khadim-rpa-ocr.h"
#include "rpa/screen/khadim-rpa-error.h"

static void
set_center (KhadimRpaPlace *place)
{
  place->x = place->box.x + place->box.width / 2;
  place->y = place->box.y + place->box.height / 2;
}

static void
add_other (KhadimRpaPlace *place,
           KhadimRpaRect   box,
           double          score)
{
  KhadimRpaSpot spot = { box, score };

  if (place->others->len < KHADIM_RPA_MAX_OTHERS)
    g_array_append_val (place->others, spot);
}

/* Boxes of a picture are in its own pixels. */
static KhadimRpaRect
to_root (KhadimRpaPicture *picture,
         KhadimRpaRect     box)
{
  box.x += khadim_rpa_picture_get_origin_x (picture);
  box.y += khadim_rpa_picture_get_origin_y (picture);

  return box;
}

/* Accessibility ------------------------------------------------------------ */

static KhadimRpaA11yMatch *
pick (GPtrArray  *matches,
      JsonObject *evidence)
{
  const char *which = khadim_json_get_string (evidence, "pick", "first");

  return matches->pdata[strcmp (which, "last") == 0 ? matches->len - 1 : 0];
}

/* The evidence as the finder of accessible objects wants it. */
static JsonObject *
strip (JsonObject *evidence)
{
  JsonObject *bare = json_object_new ();
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  json_object_iter_init_ordered (&iter, evidence);
  while (json_object_iter_next_ordered (&iter, &name, &value))
    if (strcmp (name, "pick") != 0)
      json_object_set_member (bare, name, json_node_copy (value));

  return bare;
}

gboolean
_khadim_rpa_find_by_a11y (KhadimRpaDesk         *desk,
                          const KhadimRpaQuest  *quest,
                          KhadimRpaWindow       *window,
                          KhadimRpaPlace        *place,
                          GCancellable          *cancellable,
                          GError               **error)
{
  JsonObject *evidence = khadim_json_get_object (quest->target, "a11y");
  g_autoptr(JsonObject) bare = NULL;
  KhadimRpaA11yLimits limits = { .details = TRUE };
  KhadimRpaA11yScope scope = { 0 };
  g_autoptr(GPtrArray) matches = NULL;
  KhadimRpaA11yMatch *match;

  if (evidence == NULL || desk->a11y == NULL)
    return FALSE;

  if (window != NULL)
    scope.pid = khadim_rpa_window_get_pid (window);
  bare = strip (evidence);
  matches = khadim_rpa_a11y_find (desk->a11y, &scope, bare, &limits, NULL, cancellable, error);
  if (matches == NULL || matches->len == 0)
    return FALSE;

  match = pick (matches, evidence);
  if (!khadim_rpa_a11y_node_get_extents (match->node, &place->box.x, &place->box.y,
                                         &place->box.width, &place->box.height))
    return FALSE;
  place->node = khadim_rpa_a11y_node_ref (match->node);
  place->score = match->score;
  place->window = khadim_rpa_a11y_node_get_pid (match->node); /* made a window by the caller */
  set_center (place);
  for (guint i = 0; i < matches->len; i++)
    {
      KhadimRpaA11yMatch *other = matches->pdata[i];
      KhadimRpaRect box;

      if (other != match && khadim_rpa_a11y_node_get_extents (other->node, &box.x, &box.y,
                                                              &box.width, &box.height))
        add_other (place, box, other->score);
    }

  return TRUE;
}

/* Text --------------------------------------------------------------------- */

static gboolean
find_near (KhadimRpaOcrPage        *page,
           const char              *words,
           KhadimRpaOcrFindOptions *options)
{
  KhadimRpaOcrFindOptions plain = KHADIM_RPA_OCR_FIND_OPTIONS_INIT;
  g_autoptr(GArray) found = NULL;
  const KhadimRpaOcrFound *first;

  if (words == NULL)
    return TRUE;

  found = khadim_rpa_ocr_page_find (page, words, &plain, NULL);
  if (found == NULL || found->len == 0)
    return FALSE;

  first = &g_array_index (found, KhadimRpaOcrFound, 0);
  options->has_near = TRUE;
  options->near_x = first->box.x + first->box.width / 2;
  options->near_y = first->box.y + first->box.height / 2;

  return TRUE;
}

gboolean
_khadim_rpa_find_by_text (const KhadimRpaQuest  *quest,
                          KhadimRpaPlace        *place,
                          GCancellable          *cancellable,
                          GError               **error)
{
  JsonObject *evidence = khadim_json_get_object (quest->target, "text");
  const char *words = khadim_json_get_string (quest->target, "text", NULL);
  KhadimRpaOcrOptions read = KHADIM_RPA_OCR_OPTIONS_INIT;
  KhadimRpaOcrFindOptions options = KHADIM_RPA_OCR_FIND_OPTIONS_INIT;
  g_autoptr(KhadimRpaOcrPage) page = NULL;
  g_autoptr(GArray) found = NULL;
  const KhadimRpaOcrFound *first;

  if (evidence == NULL && words == NULL)
    return FALSE;
  if (evidence != NULL)
    {
      words = khadim_json_get_string (evidence, "words", "");
      read.languages = khadim_json_get_string (evidence, "language", NULL);
      options.occurrence = (guint) khadim_json_get_int (evidence, "occurrence", 0);
    }

  page = khadim_rpa_ocr_read (place->picture, NULL, &read, cancellable, error);
  if (page == NULL)
    return FALSE;
  if (evidence != NULL &&
      !find_near (page, khadim_json_get_string (evidence, "near", NULL), &options))
    return FALSE;
  found = khadim_rpa_ocr_page_find (page, words, &options, error);
  if (found == NULL || found->len == 0)
    return FALSE;

  first = &g_array_index (found, KhadimRpaOcrFound, 0);
  place->box = to_root (place->picture, first->box);
  place->score = first->score;
  set_center (place);
  for (guint i = 1; i < found->len; i++)
    {
      const KhadimRpaOcrFound *other = &g_array_index (found, KhadimRpaOcrFound, i);

      add_other (place, to_root (place->picture, other->box), other->score);
    }

  return TRUE;
}

/* Image -------------------------------------------------------------------- */

static guint
read_scales (JsonObject *evidence,
             double     *scales)
{
  JsonArray *list = khadim_json_get_array (evidence, "scales");
  guint n = list != NULL ? json_array_get_length (list) : 0;

  n = MIN (n, KHADIM_RPA_MATCH_MAX_SCALES);
  for (guint i = 0; i < n; i++)
    scales[i] = json_array_get_double_element (list, i);

  return n;
}

static void
set_hot (KhadimRpaPlace *place,
         JsonObject     *evidence,
         double          scale)
{
  JsonArray *hot = khadim_json_get_array (evidence, "hot");

  set_center (place);
  if (hot == NULL)
    return;
  place->x = place->box.x + (int) (scale * (double) json_array_get_int_element (hot, 0));
  place->y = place->box.y + (int) (scale * (double) json_array_get_int_element (hot, 1));
}

static void
read_matches (KhadimRpaPlace         *place,
              const KhadimRpaMatches *matches)
{
  for (guint i = 1; i < matches->n_matches; i++)
    add_other (place, to_root (place->picture, matches->matches[i].box), matches->matches[i].score);
  for (guint i = 0; matches->n_matches == 0 && i < matches->n_nearest; i++)
    add_other (place, to_root (place->picture, matches->nearest[i].box), matches->nearest[i].score);
}

gboolean
_khadim_rpa_find_by_image (const KhadimRpaQuest  *quest,
                           KhadimRpaPlace        *place,
                           GCancellable          *cancellable,
                           GError               **error)
{
  JsonObject *evidence = khadim_json_get_object (quest->target, "image");
  KhadimRpaMatchOptions options = KHADIM_RPA_MATCH_OPTIONS_INIT;
  double scales[KHADIM_RPA_MATCH_MAX_SCALES];
  g_autofree char *path = NULL;
  g_autoptr(KhadimRpaPicture) templ = NULL;
  g_autoptr(KhadimRpaMatcher) matcher = NULL;
  g_autoptr(KhadimRpaMatches) matches = NULL;

  if (evidence == NULL)
    return FALSE;

  path = g_canonicalize_filename (khadim_json_get_string (evidence, "file", ""),
                                  quest->assets_dir);
  templ = khadim_rpa_picture_load (path, error);
  if (templ == NULL)
    return FALSE;
  options.similarity = khadim_json_get_double (evidence, "similarity", 0.9);
  options.n_scales = read_scales (evidence, scales);
  options.scales = scales;
  matcher = khadim_rpa_matcher_new (place->picture);
  matches = khadim_rpa_matcher_find (matcher, templ, &options, cancellable, error);
  if (matches == NULL)
    return FALSE;

  read_matches (place, matches);
  if (matches->n_matches == 0)
    return FALSE;
  place->box = to_root (place->picture, matches->matches[0].box);
  place->score = matches->matches[0].score;
  set_hot (place, evidence, matches->matches[0].scale);

  return TRUE;
}

/* A point of a window ------------------------------------------------------ */

static void
set_point (KhadimRpaPlace *place,
           JsonObject     *point)
{
  const char *from = khadim_json_get_string (point, "from", "top-left");
  gboolean right = g_str_has_suffix (from, "right");
  gboolean bottom = g_str_has_prefix (from, "bottom");
  int dx = (int) khadim_json_get_int (point, "dx", 0);
  int dy = (int) khadim_json_get_int (point, "dy", 0);

  /* The distance from the nearest corner keeps where things are kept when a
   * window grows; the share is for what grows with it. */
  if (json_object_has_member (point, "dx") || json_object_has_member (point, "dy"))
    {
      place->x = right ? place->box.x + place->box.width - dx : place->box.x + dx;
      place->y = bottom ? place->box.y + place->box.height - dy : place->box.y + dy;
      return;
    }
  place->x = place->box.x + (int) (khadim_json_get_double (point, "x", 0.5) * place->box.width);
  place->y = place->box.y + (int) (khadim_json_get_double (point, "y", 0.5) * place->box.height);
}

gboolean
_khadim_rpa_find_by_window (KhadimRpaDesk         *desk,
                            const KhadimRpaQuest  *quest,
                            KhadimRpaWindow       *window,
                            KhadimRpaPlace        *place,
                            GError               **error)
{
  JsonObject *evidence = khadim_json_get_object (quest->target, "window");
  JsonObject *point = khadim_json_get_object (quest->target, "point");
  KhadimRpaWindowMatch match = { 0 };
  g_autoptr(KhadimRpaWindow) found = window != NULL ? khadim_rpa_window_ref (window) : NULL;

  if (evidence == NULL && (point == NULL || window == NULL))
    return FALSE;
  if (evidence != NULL)
    {
      g_autoptr(GError) miss = NULL;

      match.id = window != NULL ? khadim_rpa_window_get_id (window) : 0;
      match.app = khadim_json_get_string (evidence, "app", NULL);
      match.title = khadim_json_get_string (evidence, "title", NULL);
      g_clear_pointer (&found, khadim_rpa_window_unref);
      found = khadim_rpa_windows_find (desk->windows, &match, &miss);
      if (found == NULL && !g_error_matches (miss, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND))
        g_propagate_error (error, g_steal_pointer (&miss));
      if (found == NULL)
        return FALSE;
    }
  khadim_rpa_window_get_client (found, &place->box);
  place->window = khadim_rpa_window_get_id (found);
  place->score = 1;
  set_center (place);
  if (point != NULL)
    set_point (place, point);

  return TRUE;
}
