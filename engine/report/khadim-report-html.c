/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-report"

#include "config.h"

#include "engine/report/khadim-report-private.h"

#include <string.h>

#include "engine/base/khadim-time.h"
#include "engine/json/khadim-json.h"
#include "engine/report/khadim-report.h"

/* One file that needs nothing else: style and pictures are in it, no script,
 * nothing is fetched. */
static const char head[] =
  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
  "img-src data:; style-src 'unsafe-inline'\">\n"
  "<style>\n"
  ":root{color-scheme:light dark;--bg:#fafafa;--fg:#1e1e1e;--dim:#5e5c64;--card:#fff;"
  "--line:#d5d5d5;--good:#1a7f37;--bad:#c01c28;--warn:#9c5700}\n"
  "@media(prefers-color-scheme:dark){:root{--bg:#1d1d20;--fg:#f0f0f0;--dim:#a9a8ad;--card:#2a2a2d;"
  "--line:#454548;--good:#57d27c;--bad:#ff7b72;--warn:#f0b24d}}\n"
  "*{box-sizing:border-box}body{margin:0 auto;max-width:60rem;padding:2rem 1rem 4rem;"
  "background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}\n"
  "h1{font-size:1.75rem;margin:0 0 .25rem;line-height:1.2}h2{font-size:1.125rem;margin:2rem 0 .5rem}\n"
  ".dim{color:var(--dim)}.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}\n"
  ".sum{display:flex;flex-wrap:wrap;gap:.5rem 2rem;margin:1rem 0;padding:1rem;background:var(--card);"
  "border:1px solid var(--line);border-radius:12px}.sum div{min-width:7rem}.sum b{display:block;"
  "font-size:1.25rem;font-variant-numeric:tabular-nums}\n"
  "details{background:var(--card);border:1px solid var(--line);border-radius:8px;margin:.375rem 0}\n"
  "summary{display:flex;gap:.75rem;align-items:baseline;padding:.5rem .75rem;cursor:pointer;"
  "border-radius:8px}summary:focus-visible{outline:2px solid var(--good);outline-offset:-2px}\n"
  "summary .t{flex:1;min-width:0;overflow-wrap:anywhere}summary .p,summary .d{color:var(--dim);"
  "font-size:.875rem;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
  "summary .p{max-width:16rem;overflow:hidden;text-overflow:ellipsis}\n"
  ".in{padding:0 .75rem .75rem;border-top:1px solid var(--line)}.in>*{margin:.75rem 0 0}\n"
  "img{display:block;max-width:100%;height:auto;border:1px solid var(--line);border-radius:6px}\n"
  "pre{white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.45 ui-monospace,monospace;"
  "background:var(--bg);padding:.5rem .75rem;border-radius:6px}\n"
  "dl{display:grid;grid-template-columns:max-content 1fr;gap:.125rem 1rem;font-size:.9375rem}"
  "dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}\n"
  "@media(max-width:36rem){summary{flex-wrap:wrap}summary .p{order:3;width:100%;max-width:none}}\n"
  "@media print{details{break-inside:avoid}}\n"
  "</style>\n";

static void
add_text (GString    *html,
          const char *text)
{
  g_autofree char *clipped = _khadim_report_clip (text != NULL ? text : "");
  g_autofree char *valid = g_utf8_make_valid (clipped, -1);
  g_autofree char *escaped = g_markup_escape_text (valid, -1);

  g_string_append (html, escaped);
}

static void
add_field (GString    *html,
           const char *name,
           const char *value)
{
  if (value == NULL || *value == '\0')
    return;
  g_string_append_printf (html, "<dt>%s</dt><dd>", name);
  add_text (html, value);
  g_string_append (html, "</dd>");
}

static void
add_value (GString    *html,
           const char *name,
           JsonNode   *node)
{
  g_autofree char *text = NULL;

  if (node == NULL || JSON_NODE_HOLDS_NULL (node))
    return;
  text = JSON_NODE_HOLDS_VALUE (node) ? khadim_json_to_string (node) : khadim_json_to_pretty (node);
  g_string_append_printf (html, "<p class=\"dim\">%s</p><pre>", name);
  add_text (html, text);
  g_string_append (html, "</pre>");
}

/* Seconds as people read them. */
static char *
format_duration (gint64 us)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (us < 1000)
    return g_strdup ("< 1 ms");
  if (us < G_USEC_PER_SEC)
    return g_strdup_printf ("%" G_GINT64_FORMAT " ms", us / 1000);
  if (us < 120 * (gint64) G_USEC_PER_SEC)
    {
      g_ascii_formatd (number, sizeof number, "%.1f", (double) us / G_USEC_PER_SEC);
      return g_strconcat (number, " s", NULL);
    }

  return g_strdup_printf ("%" G_GINT64_FORMAT " min %" G_GINT64_FORMAT " s",
                          us / (60 * (gint64) G_USEC_PER_SEC), us / G_USEC_PER_SEC % 60);
}

/* How the place was found: the evidence, how sure, how long. */
static void
add_evidence (GString  *html,
              JsonNode *detail)
{
  JsonObject *object = detail != NULL && JSON_NODE_HOLDS_OBJECT (detail)
                         ? json_node_get_object (detail)
                         : NULL;
  JsonArray *others;
  g_autofree char *score = NULL;
  g_autofree char *search = NULL;
  const char *evidence;

  if (object == NULL)
    return;
  evidence = khadim_json_get_string (object, "evidence", NULL);
  others = khadim_json_get_array (object, evidence != NULL ? "others" : "nearest");
  search = g_strdup_printf ("%" G_GINT64_FORMAT " ms", khadim_json_get_int (object, "search_ms", 0));
  if (evidence != NULL)
    score = g_strdup_printf ("%d %%",
                             (int) (khadim_json_get_double (object, "score", 0) * 100 + 0.5));
  add_field (html, "Found by", evidence);
  add_field (html, "Sure", score);
  add_field (html, "Search", search);
  if (others != NULL && json_array_get_length (others) > 0)
    {
      g_autofree char *n = g_strdup_printf ("%u", json_array_get_length (others));

      add_field (html, evidence != NULL ? "Other matches" : "Nearest places", n);
    }
}

static void
add_pictures (KhadimReportData     *self,
              GString              *html,
              KhadimToolCallRecord *call,
              gsize                *budget)
{
  GPtrArray *artifacts = g_hash_table_lookup (self->artifacts, call->id);

  for (guint i = 0; artifacts != NULL && i < artifacts->len; i++)
    {
      KhadimArtifactRecord *record = artifacts->pdata[i];
      g_autofree char *path = khadim_store_get_artifact_path (self->store, record->sha256);
      g_autofree char *bytes = NULL;
      g_autofree char *base64 = NULL;
      gsize length = 0;

      if (!g_str_has_prefix (record->media_type, "image/"))
        continue;
      if ((gsize) record->size_bytes > *budget || path == NULL ||
          !g_file_get_contents (path, &bytes, &length, NULL))
        {
          g_string_append (html, "<p class=\"warn\">A picture is left out: the report would be too "
                                 "large, or its file is gone.</p>");
          continue;
        }
      *budget -= MIN (*budget, length);
      base64 = g_base64_encode ((const guchar *) bytes, length);
      g_string_append_printf (html, "<img loading=\"lazy\" alt=\"%s\" src=\"data:%s;base64,",
                              strcmp (record->role, "place") == 0
                                ? "The screen with the place that was found drawn in"
                                : "The screen",
                              record->media_type);
      g_string_append (html, base64);
      g_string_append (html, "\">\n");
    }
}

static void
add_call (KhadimReportData     *self,
          GString              *html,
          KhadimToolCallRecord *call,
          gsize                *budget)
{
  gboolean failed = _khadim_report_is_failed (call);
  gboolean done = call->state == KHADIM_CALL_COMPLETED;
  g_autofree char *duration = format_duration (_khadim_report_call_us (call));

  g_string_append_printf (html,
                          "<details%s><summary><span class=\"%s\" aria-label=\"%s\">%s</span>"
                          "<span class=\"t\">",
                          failed ? " open" : "", failed ? "bad" : done ? "good" : "warn",
                          failed ? "failed" : done ? "done" : "not ended",
                          failed ? "✗" : done ? "✓" : "…");
  add_text (html, call->title);
  g_string_append (html, "</span><span class=\"p\">");
  add_text (html, call->position);
  g_string_append_printf (html, "</span><span class=\"d\">%s</span></summary>\n<div class=\"in\">",
                          duration);
  if (failed)
    {
      g_string_append (html, "<p class=\"bad\"><b>");
      add_text (html, call->error_code);
      g_string_append (html, "</b>: ");
      add_text (html, call->error_message);
      g_string_append (html, "</p>");
    }
  g_string_append (html, "<dl>");
  add_field (html, "Tool", call->tool);
  add_evidence (html, call->detail);
  g_string_append (html, "</dl>");
  add_pictures (self, html, call, budget);
  add_value (html, "Arguments", call->args);
  add_value (html, "Result", call->result);
  g_string_append (html, "</div></details>\n");
}

static void
add_number (GString    *html,
            const char *name,
            const char *value,
            const char *class)
{
  g_string_append_printf (html, "<div><span class=\"dim\">%s</span><b class=\"%s\">", name, class);
  add_text (html, value);
  g_string_append (html, "</b></div>");
}

static void
add_summary (KhadimReportData *self,
             GString          *html)
{
  KhadimSessionRecord *session = self->session;
  gint64 end_us = session->ended_us != 0 ? session->ended_us : session->updated_us;
  g_autofree char *duration = format_duration (end_us - session->created_us);
  g_autofree char *steps = g_strdup_printf ("%u", self->calls->len);
  g_autofree char *failed = g_strdup_printf ("%u", self->n_failed);
  const char *outcome = session->outcome != NULL ? session->outcome : "not ended";
  gboolean good = strcmp (outcome, "completed") == 0;

  g_string_append (html, "<div class=\"sum\">");
  add_number (html, "Outcome", outcome, good ? "good" : "bad");
  add_number (html, "Time", duration, "");
  add_number (html, "Steps", steps, "");
  add_number (html, "Failed", failed, self->n_failed > 0 ? "bad" : "");
  g_string_append (html, "</div>\n");
  if (session->error_message != NULL)
    {
      g_string_append (html, "<p class=\"bad\"><b>");
      add_text (html, session->error_code);
      g_string_append (html, "</b>: ");
      add_text (html, session->error_message);
      g_string_append (html, "</p>\n");
    }
}

static void
add_notes (KhadimReportData *self,
           GString          *html)
{
  if (self->notes->len == 0)
    return;

  g_string_append (html, "<h2>What happened besides</h2>\n<ul>");
  for (guint i = 0; i < self->notes->len; i++)
    {
      KhadimEvent *event = self->notes->pdata[i];

      g_string_append (html, "<li><span class=\"dim\">");
      add_text (html, khadim_event_get_event_type (event));
      g_string_append (html, "</span> ");
      add_text (html, khadim_event_get_content (event));
      g_string_append (html, "</li>");
    }
  g_string_append (html, "</ul>\n");
}

char *
_khadim_report_to_html (KhadimReportData *self)
{
  GString *html = g_string_new (head);
  gsize budget = KHADIM_REPORT_MAX_PICTURE_BYTES;
  g_autofree char *begun = khadim_time_to_rfc3339 (self->session->created_us);

  g_string_append (html, "<title>");
  add_text (html, self->session->title);
  g_string_append (html, " – report</title>\n</head>\n<body>\n<h1>");
  add_text (html, self->session->title);
  g_string_append (html, "</h1>\n<p class=\"dim\">");
  add_text (html, begun);
  g_string_append (html, " · session ");
  add_text (html, self->session->id);
  g_string_append (html, "</p>\n");
  add_summary (self, html);
  add_value (html, "Inputs", self->session->inputs);
  add_value (html, "Output", self->session->output);
  g_string_append (html, "<h2>Steps</h2>\n");
  for (guint i = 0; i < self->calls->len; i++)
    add_call (self, html, self->calls->pdata[i], &budget);
  add_notes (self, html);
  g_string_append (html, "</body>\n</html>\n");

  return g_string_free (html, FALSE);
}
