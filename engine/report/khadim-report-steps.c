/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-report"

#include "config.h"

#include "engine/report/khadim-report-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"
#include "engine/report/khadim-report.h"

/* The steps of a report's page: those of one turn of a loop together. */

/* A page under way. */
typedef struct
{
  KhadimReportData *data;         /* borrowed */
  GString *html;                  /* borrowed */
  KhadimToolCallRecord *failed;   /* (nullable): what “#failed” leads to */
  gsize budget;                   /* bytes that pictures may still take */
} Page;

/* How many matches or misses are listed. */
#define MAX_SPOTS 5

/* The formats of pictures that browsers show and that cannot hold code. */
static const char *const picture_types[] = { "image/png", "image/jpeg", "image/webp", NULL };

/* A step ------------------------------------------------------------------- */

/* Further matches, or after a failure the places that were nearest to it. */
static void
add_spots (GString    *html,
           const char *name,
           JsonArray  *spots)
{
  guint n = spots != NULL ? json_array_get_length (spots) : 0;
  g_autoptr(GString) text = g_string_new (NULL);

  for (guint i = 0; i < MIN (n, MAX_SPOTS); i++)
    {
      JsonNode *node = json_array_get_element (spots, i);
      JsonObject *spot = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;

      if (spot == NULL)
        continue;
      g_string_append_printf (text, "%s%d %% at %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT,
                              text->len > 0 ? "; " : "",
                              (int) (khadim_json_get_double (spot, "score", 0) * 100 + 0.5),
                              khadim_json_get_int (spot, "x", 0),
                              khadim_json_get_int (spot, "y", 0));
    }
  if (n > MAX_SPOTS)
    g_string_append_printf (text, "; %u more", n - MAX_SPOTS);
  _khadim_report_add_field (html, name, text->str);
}

/* How the place was found: the evidence, its score, how long. */
static void
add_evidence (GString  *html,
              JsonNode *detail)
{
  JsonObject *object = detail != NULL && JSON_NODE_HOLDS_OBJECT (detail)
                         ? json_node_get_object (detail)
                         : NULL;
  g_autofree char *score = NULL;
  g_autofree char *search = NULL;
  const char *evidence;

  if (object == NULL || !json_object_has_member (object, "search_ms"))
    return;

  evidence = khadim_json_get_string (object, "evidence", NULL);
  search = _khadim_report_format_duration (khadim_json_get_int (object, "search_ms", 0) * 1000);
  if (evidence != NULL)
    score = g_strdup_printf ("%d %%",
                             (int) (khadim_json_get_double (object, "score", 0) * 100 + 0.5));
  _khadim_report_add_field (html, "Found by", evidence);
  _khadim_report_add_field (html, "Score", score);
  _khadim_report_add_field (html, "Search", search);
  add_spots (html, "Other matches", khadim_json_get_array (object, "others"));
  add_spots (html, "Nearest places", khadim_json_get_array (object, "nearest"));
}

/* How many bytes a picture takes in the page (RFC 4648, section 4). */
static gsize
get_encoded_size (gsize size)
{
  return (size + 2) / 3 * 4;
}

static void
add_picture (Page                 *page,
             KhadimArtifactRecord *record,
             const char           *alt)
{
  g_autofree char *path = khadim_store_get_artifact_path (page->data->store, record->sha256);
  gsize size = get_encoded_size ((gsize) MAX (record->size_bytes, 0));
  g_autofree char *bytes = NULL;
  g_autofree char *base64 = NULL;
  gsize length = 0;

  if (size > page->budget || path == NULL || !g_file_get_contents (path, &bytes, &length, NULL))
    {
      g_string_append (page->html, "<p class=\"warn\">A picture is left out: the report would be "
                                   "too large, or its file is gone.</p>");
      return;
    }

  page->budget -= MIN (page->budget, get_encoded_size (length));
  base64 = g_base64_encode ((const guchar *) bytes, length);
  g_string_append_printf (page->html, "<img loading=\"lazy\" alt=\"%s\" src=\"data:%s;base64,", alt,
                          record->media_type);
  g_string_append (page->html, base64);
  g_string_append (page->html, "\">\n");
}

static void
add_pictures (Page                 *page,
              KhadimToolCallRecord *call)
{
  GPtrArray *artifacts = g_hash_table_lookup (page->data->artifacts, call->id);
  gboolean failed = _khadim_report_is_failed (call);

  for (guint i = 0; artifacts != NULL && i < artifacts->len; i++)
    {
      KhadimArtifactRecord *record = artifacts->pdata[i];
      gboolean place = g_strcmp0 (record->role, "place") == 0;

      if (g_strv_contains (picture_types, record->media_type))
        add_picture (page, record,
                     !place   ? "The screen"
                     : failed ? "The screen with the nearest places drawn in"
                              : "The screen with the place that was found drawn in");
    }
}

/* The mark of a state; it is said in words too, not by its colour alone. */
static void
add_mark (GString  *html,
          gboolean  failed,
          gboolean  done)
{
  g_string_append_printf (html, "<span class=\"%s\" role=\"img\" aria-label=\"%s\">%s</span>",
                          failed ? "bad" : done ? "good" : "warn",
                          failed ? "failed" : done ? "done" : "not ended",
                          failed ? "✗" : done ? "✓" : "…");
}

static void
add_failure (GString              *html,
             KhadimToolCallRecord *call)
{
  g_string_append (html, "<p class=\"why\"><b>");
  _khadim_report_add_text (html, call->error_code);
  g_string_append (html, "</b>: ");
  _khadim_report_add_text (html, call->error_message);
  g_string_append (html, "</p>");
}

static void
begin_step (Page                 *page,
            KhadimToolCallRecord *call)
{
  gboolean failed = _khadim_report_is_failed (call);
  g_autofree char *duration = _khadim_report_format_duration (_khadim_report_call_us (call));
  const char *mark = strrchr (call->position, '!');

  g_string_append_printf (page->html, "<details%s%s><summary>",
                          call == page->failed ? " id=\"failed\"" : "", failed ? " open" : "");
  add_mark (page->html, failed, call->state == KHADIM_CALL_COMPLETED);
  g_string_append (page->html, "<span class=\"t\">");
  _khadim_report_add_text (page->html, call->title);
  /* A call that a step makes besides its own, such as a look. */
  if (mark != NULL)
    {
      g_string_append (page->html, " <span class=\"dim\">· ");
      _khadim_report_add_text (page->html, mark + 1);
      g_string_append (page->html, "</span>");
    }
  g_string_append (page->html, "</span><span class=\"p\">");
  _khadim_report_add_text (page->html, call->position);
  g_string_append_printf (page->html, "</span><span class=\"d\">%s</span></summary>\n"
                                      "<div class=\"in\">", duration);
}

static void add_range (Page  *page,
                       guint  begin,
                       guint  end,
                       gsize  outer);

/* The steps of the automation that a call was for; they share the budget. */
static void
add_child (Page                 *page,
           KhadimToolCallRecord *call)
{
  KhadimReportData *child = g_hash_table_lookup (page->data->children, call->id);
  KhadimReportData *own = page->data;

  if (child == NULL)
    return;

  page->data = child;
  g_string_append (page->html, "<p class=\"dim\">");
  _khadim_report_add_text (page->html, child->session->title);
  g_string_append (page->html, "</p>\n");
  add_range (page, 0, child->calls->len, 0);
  page->data = own;
}

static void
add_step (Page                 *page,
          KhadimToolCallRecord *call)
{
  begin_step (page, call);
  if (_khadim_report_is_failed (call))
    add_failure (page->html, call);
  g_string_append (page->html, "<dl>");
  _khadim_report_add_field (page->html, "Tool", call->tool);
  add_evidence (page->html, call->detail);
  g_string_append (page->html, "</dl>");
  add_pictures (page, call);
  _khadim_report_add_value (page->html, "Arguments", call->args);
  _khadim_report_add_value (page->html, "Result", call->result);
  add_child (page, call);
  g_string_append (page->html, "</div></details>\n");
}

/* The turns of loops ------------------------------------------------------- */

/* The length of the turn at the beginning of @position that is longer than
 * @outer, as “each[0]” of “each[0].sum”; 0 when there is none. */
static gsize
get_turn_length (const char *position,
                 gsize       outer)
{
  const char *end = strchr (position + outer, ']');

  return end != NULL ? (gsize) (end - position) + 1 : 0;
}

/* Where the calls of the turn of call @begin end. */
static guint
find_turn_end (GPtrArray *calls,
               guint      begin,
               guint      end,
               gsize      length)
{
  KhadimToolCallRecord *first = calls->pdata[begin];
  guint i = begin + 1;

  for (; i < end; i++)
    {
      const KhadimToolCallRecord *call = calls->pdata[i];

      if (strncmp (call->position, first->position, length) != 0)
        break;
    }

  return i;
}

/* “Anna”, the item's key; else the number of the turn. */
static void
add_turn_name (Page       *page,
               const char *turn)
{
  const char *item = g_hash_table_lookup (page->data->items, turn);
  const char *number = strrchr (turn, '[');

  if (item != NULL)
    _khadim_report_add_text (page->html, item);
  else
    g_string_append_printf (page->html, "Turn %" G_GUINT64_FORMAT,
                            g_ascii_strtoull (number + 1, NULL, 10) + 1);
}

static void
begin_turn (Page       *page,
            const char *turn,
            guint       begin,
            guint       end)
{
  GPtrArray *calls = page->data->calls;
  const KhadimToolCallRecord *first = calls->pdata[begin];
  const KhadimToolCallRecord *last = calls->pdata[end - 1];
  gint64 end_us = MAX (last->ended_us, first->created_us);
  g_autofree char *duration = _khadim_report_format_duration (end_us - first->created_us);
  gboolean failed = FALSE;
  gboolean done = TRUE;

  for (guint i = begin; i < end; i++)
    {
      const KhadimToolCallRecord *call = calls->pdata[i];

      failed = failed || _khadim_report_is_failed (call);
      done = done && call->state == KHADIM_CALL_COMPLETED;
    }
  g_string_append_printf (page->html, "<details class=\"g\"%s><summary>",
                          failed || !done ? " open" : "");
  add_mark (page->html, failed, done);
  g_string_append (page->html, "<span class=\"t\">");
  add_turn_name (page, turn);
  g_string_append_printf (page->html, "</span><span class=\"p n\">%u %s · ", end - begin,
                          end - begin == 1 ? "step" : "steps");
  _khadim_report_add_text (page->html, turn);
  g_string_append_printf (page->html, "</span><span class=\"d n\">%s</span></summary>\n"
                                      "<div class=\"in\">", duration);
}

/* The calls from @begin to @end, which all lie in the turn that is the first
 * @outer bytes of their position. Documents bound how deep loops are nested. */
static void
add_range (Page  *page,
           guint  begin,
           guint  end,
           gsize  outer)
{
  GPtrArray *calls = page->data->calls;

  while (begin < end)
    {
      KhadimToolCallRecord *call = calls->pdata[begin];
      gsize length = get_turn_length (call->position, outer);
      g_autofree char *turn = NULL;
      guint next;

      if (length == 0)
        {
          add_step (page, call);
          begin++;
          continue;
        }
      next = find_turn_end (calls, begin, end, length);
      turn = g_strndup (call->position, length);
      begin_turn (page, turn, begin, next);
      add_range (page, begin, next, length);
      g_string_append (page->html, "</div></details>\n");
      begin = next;
    }
}

/* The call that ended the run: the last one that failed. */
static KhadimToolCallRecord *
find_failed (GPtrArray *calls)
{
  for (guint i = calls->len; i > 0; i--)
    if (_khadim_report_is_failed (calls->pdata[i - 1]))
      return calls->pdata[i - 1];

  return NULL;
}

/* All steps, with those of a turn of a loop in a fold of their own, which is
 * open when something in it failed. */
void
_khadim_report_add_steps (KhadimReportData *data,
                          GString          *html)
{
  Page page = {
    .data = data,
    .html = html,
    .failed = find_failed (data->calls),
    .budget = KHADIM_REPORT_MAX_PICTURE_BYTES,
  };

  add_range (&page, 0, data->calls->len, 0);
}
