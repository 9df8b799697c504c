/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-report"

#include "config.h"

#include "engine/report/khadim-report-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"
#include "engine/report/khadim-report.h"

/* A value that is longer than this is folded. */
#define MAX_OPEN_LINES 6
#define MAX_OPEN_BYTES 300

/* U+2400 SYMBOL FOR NULL; the others follow. */
#define FIRST_CONTROL_PICTURE 0x2400

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
  "h1{font-size:1.75rem;margin:0 0 .25rem;line-height:1.2}"
  "h2{font-size:1.125rem;margin:2rem 0 .5rem}\n"
  ".dim{color:var(--dim)}.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}\n"
  ".sum{display:flex;flex-wrap:wrap;gap:.5rem 2rem;margin:1rem 0;padding:1rem;"
  "background:var(--card);"
  "border:1px solid var(--line);border-radius:12px}.sum div{min-width:7rem}.sum b{display:block;"
  "font-size:1.25rem;font-variant-numeric:tabular-nums}\n"
  "details{background:var(--card);border:1px solid var(--line);border-radius:8px;"
  "margin:.375rem 0}\n"
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
  ".v{border:0;background:none;margin:.5rem 0 0}.v summary{padding:.25rem 0;"
  "color:var(--dim)}"
  ".v pre{margin:.25rem 0 0}summary{list-style:none}summary::-webkit-details-marker{display:none}\n"
  "summary::after{content:\"›\";color:var(--dim);transition:none;align-self:center}"
  "details[open]>summary::after{transform:rotate(90deg)}.v>summary{justify-content:flex-start}\n"
  ".g{border-radius:12px}.g>summary{font-weight:600}.g>.in{padding:.25rem .75rem .5rem}"
  ".g .g,.g details{background:var(--bg)}.g .in pre{background:var(--card)}"
  ".g>.in>details{margin:.375rem 0}.n{font-weight:400}\n"
  ".io{display:grid;grid-template-columns:repeat(auto-fit,minmax(16rem,1fr));gap:0 1rem}"
  ".io p{margin:.5rem 0 .25rem}.io pre{margin:0;background:var(--card);"
  "border:1px solid var(--line)}\n"
  ".why{padding:.75rem 1rem;border:1px solid var(--bad);border-left-width:6px;border-radius:8px;"
  "overflow-wrap:anywhere}.why b{color:var(--bad)}a{color:inherit}\n"
  "@media(max-width:36rem){summary{flex-wrap:wrap}summary .p{order:3;width:100%;max-width:none}}\n"
  "@media print{details{break-inside:avoid}}\n"
  "</style>\n";

/* HTML has no form for control characters: their pictures stand for them. */
static char *
show_controls (const char *text)
{
  GString *shown = g_string_sized_new (strlen (text));

  for (const char *p = text; *p != '\0'; p++)
    if ((guchar) *p < 0x20 && *p != '\n' && *p != '\t')
      g_string_append_unichar (shown, FIRST_CONTROL_PICTURE + (guchar) *p);
    else
      g_string_append_c (shown, *p);

  return g_string_free (shown, FALSE);
}

/* A text as HTML shows it: cut to a bounded length, escaped. */
void
_khadim_report_add_text (GString    *html,
                         const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text != NULL ? text : "", -1);
  g_autofree char *clipped = _khadim_report_clip (valid);
  g_autofree char *shown = show_controls (clipped);
  g_autofree char *escaped = g_markup_escape_text (shown, -1);

  g_string_append (html, escaped);
}

/* One line of a list of facts; nothing when there is no @value. */
void
_khadim_report_add_field (GString    *html,
                          const char *name,
                          const char *value)
{
  if (value == NULL || *value == '\0')
    return;
  g_string_append_printf (html, "<dt>%s</dt><dd>", name);
  _khadim_report_add_text (html, value);
  g_string_append (html, "</dd>");
}

static gboolean
is_long (const char *text)
{
  guint n_lines = 1;

  for (const char *p = text; *p != '\0'; p++)
    n_lines += *p == '\n';

  return n_lines > MAX_OPEN_LINES || strlen (text) > MAX_OPEN_BYTES;
}

/* A JSON value with a heading; folded when it is long. */
void
_khadim_report_add_value (GString    *html,
                          const char *name,
                          JsonNode   *node)
{
  g_autofree char *text = NULL;
  g_autofree char *size = NULL;

  if (node == NULL || JSON_NODE_HOLDS_NULL (node) ||
      (JSON_NODE_HOLDS_OBJECT (node) && json_object_get_size (json_node_get_object (node)) == 0))
    return;

  text = JSON_NODE_HOLDS_VALUE (node) ? khadim_json_to_string (node) : khadim_json_to_pretty (node);
  size = g_format_size (strlen (text));
  if (is_long (text))
    g_string_append_printf (html, "<details class=\"v\"><summary>%s <span class=\"dim\">%s</span>"
                                  "</summary><pre>", name, size);
  else
    g_string_append_printf (html, "<p class=\"dim\">%s</p><pre>", name);
  _khadim_report_add_text (html, text);
  g_string_append (html, is_long (text) ? "</pre></details>" : "</pre>");
}

/* Seconds as people read them. */
char *
_khadim_report_format_duration (gint64 us)
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

static void
add_number (GString    *html,
            const char *name,
            const char *value,
            const char *class)
{
  g_string_append_printf (html, "<div><span class=\"dim\">%s</span><b class=\"%s\">", name, class);
  _khadim_report_add_text (html, value);
  g_string_append (html, "</b></div>");
}

static void
add_summary (KhadimReportData *self,
             GString          *html)
{
  KhadimSessionRecord *session = self->session;
  gint64 end_us = session->ended_us != 0 ? session->ended_us : session->updated_us;
  g_autofree char *duration = _khadim_report_format_duration (end_us - session->created_us);
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
      g_string_append (html, "<p class=\"why\"><b>");
      _khadim_report_add_text (html, session->error_code);
      g_string_append (html, "</b>: ");
      _khadim_report_add_text (html, session->error_message);
      if (self->n_failed > 0)
        g_string_append (html, " <a href=\"#failed\">The step that failed</a>");
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
      _khadim_report_add_text (html, khadim_event_get_event_type (event));
      g_string_append (html, "</span> ");
      _khadim_report_add_text (html, khadim_event_get_content (event));
      g_string_append (html, "</li>");
    }
  g_string_append (html, "</ul>\n");
}

/* A time as people read it, to the second. */
static char *
format_time (gint64 time_us)
{
  g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc (time_us / G_USEC_PER_SEC);

  return time != NULL ? g_date_time_format (time, "%F %T UTC") : g_strdup ("?");
}

char *
_khadim_report_to_html (KhadimReportData *self)
{
  GString *html = g_string_new (head);
  g_autofree char *begun = format_time (self->session->created_us);

  g_string_append (html, "<title>");
  _khadim_report_add_text (html, self->session->title);
  g_string_append (html, " – report</title>\n</head>\n<body>\n<h1>");
  _khadim_report_add_text (html, self->session->title);
  g_string_append (html, "</h1>\n<p class=\"dim\">");
  _khadim_report_add_text (html, begun);
  g_string_append (html, " · session <code>");
  _khadim_report_add_text (html, self->session->id);
  g_string_append (html, "</code></p>\n");
  add_summary (self, html);
  g_string_append (html, "<div class=\"io\"><div>");
  _khadim_report_add_value (html, "Inputs", self->session->inputs);
  g_string_append (html, "</div><div>");
  _khadim_report_add_value (html, "Output", self->session->output);
  g_string_append (html, "</div></div>\n<h2>Steps</h2>\n");
  _khadim_report_add_steps (self, html);
  add_notes (self, html);
  g_string_append (html, "</body>\n</html>\n");

  return g_string_free (html, FALSE);
}
