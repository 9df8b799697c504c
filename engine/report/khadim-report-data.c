/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-report"

#include "config.h"

#include "engine/report/khadim-report-private.h"

#include <string.h>

#include "engine/base/khadim-time.h"
#include "engine/json/khadim-json.h"

/* The forms of a report that machines read. */

/* XML 1.0 has no form at all for control characters and for U+FFFE and U+FFFF
 * (section 2.2). */
static char *
escape_xml (const char *text)
{
  g_autofree char *clean = g_utf8_make_valid (text != NULL ? text : "", -1);

  for (char *p = clean; *p != '\0'; p++)
    if ((guchar) *p < 0x20 && *p != '\n' && *p != '\t')
      *p = ' ';
    else if (g_str_has_prefix (p, "\xEF\xBF\xBE") || g_str_has_prefix (p, "\xEF\xBF\xBF"))
      memset (p, ' ', 3);

  return g_markup_escape_text (clean, -1);
}

typedef enum
{
  VERDICT_PASSED,
  VERDICT_FAILURE,  /* a check does not hold */
  VERDICT_ERROR,    /* anything else that failed */
  VERDICT_SKIPPED,  /* not ended, or it failed and the run went on to its end */
} Verdict;

static Verdict
judge (KhadimReportData     *self,
       KhadimToolCallRecord *call)
{
  gboolean completed = g_strcmp0 (self->session->outcome, "completed") == 0;

  if (call->state == KHADIM_CALL_COMPLETED)
    return VERDICT_PASSED;
  if (completed || !_khadim_report_is_failed (call))
    return VERDICT_SKIPPED;

  return g_strcmp0 (call->error_code, "check-failed") == 0 ? VERDICT_FAILURE : VERDICT_ERROR;
}

static const char *const verdict_elements[] = {
  [VERDICT_FAILURE] = "failure",
  [VERDICT_ERROR] = "error",
  [VERDICT_SKIPPED] = "skipped",
};

static void
add_verdict (GString    *xml,
             Verdict     verdict,
             const char *code,
             const char *message)
{
  g_autofree char *type = escape_xml (code);
  g_autofree char *text = escape_xml (message);
  const char *element = verdict_elements[verdict];

  g_string_append_printf (xml, ">\n      <%s", element);
  if (code != NULL && verdict != VERDICT_SKIPPED)
    g_string_append_printf (xml, " type=\"%s\"", type);
  if (message != NULL)
    g_string_append_printf (xml, " message=\"%s\"", text);
  g_string_append (xml, "/>\n    </testcase>\n");
}

/* Seconds in the form of XML, whatever the locale. */
static void
add_seconds (GString *xml,
             gint64   us)
{
  char seconds[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (seconds, sizeof seconds, "%.3f", (double) MAX (us, 0) / G_USEC_PER_SEC);
  g_string_append_printf (xml, " time=\"%s\"", seconds);
}

static void
add_case (KhadimReportData     *self,
          GString              *xml,
          KhadimToolCallRecord *call,
          const char           *suite)
{
  g_autofree char *name = escape_xml (call->position);
  g_autofree char *title = escape_xml (call->title);
  Verdict verdict = judge (self, call);

  g_string_append_printf (xml, "    <testcase classname=\"%s\" name=\"%s: %s\"", suite, name,
                          title);
  add_seconds (xml, _khadim_report_call_us (call));
  if (verdict == VERDICT_PASSED)
    g_string_append (xml, "/>\n");
  else
    add_verdict (xml, verdict, call->error_code, call->error_message);
}

/* Whether the run failed outside of its calls, as at an expression. */
static gboolean
is_failed_itself (KhadimReportData *self)
{
  return self->session->error_code != NULL && self->n_failed == 0;
}

/* A run that failed outside of its calls is a case of its own, or a reader
 * would take it for one that passed. */
static void
add_run_case (KhadimReportData *self,
              GString          *xml,
              const char       *suite)
{
  g_string_append_printf (xml, "    <testcase classname=\"%s\" name=\"the run\" time=\"0.000\"",
                          suite);
  add_verdict (xml, VERDICT_ERROR, self->session->error_code, self->session->error_message);
}

/* JUnit XML in the form of Apache Ant's junitreport. */
char *
_khadim_report_to_junit (KhadimReportData *self)
{
  GString *xml = g_string_new ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
  g_autofree char *suite = escape_xml (self->session->title);
  g_autofree char *stamp = khadim_time_to_rfc3339 (self->session->created_us);
  guint n[VERDICT_SKIPPED + 1] = { 0 };
  guint n_own = is_failed_itself (self) ? 1 : 0;

  for (guint i = 0; i < self->calls->len; i++)
    n[judge (self, self->calls->pdata[i])]++;
  g_string_append_printf (xml,
                          "  <testsuite name=\"%s\" tests=\"%u\" failures=\"%u\" errors=\"%u\" "
                          "skipped=\"%u\" timestamp=\"%s\"",
                          suite, self->calls->len + n_own, n[VERDICT_FAILURE],
                          n[VERDICT_ERROR] + n_own, n[VERDICT_SKIPPED], stamp);
  add_seconds (xml, self->session->ended_us - self->session->created_us);
  g_string_append (xml, ">\n");
  for (guint i = 0; i < self->calls->len; i++)
    add_case (self, xml, self->calls->pdata[i], suite);
  if (n_own > 0)
    add_run_case (self, xml, suite);
  g_string_append (xml, "  </testsuite>\n</testsuites>\n");

  return g_string_free (xml, FALSE);
}

static void
set_text (JsonObject *object,
          const char *name,
          const char *text)
{
  if (text != NULL)
    json_object_set_string_member (object, name, text);
}

static void
set_node (JsonObject *object,
          const char *name,
          JsonNode   *node)
{
  if (node != NULL)
    json_object_set_member (object, name, json_node_ref (node));
}

static void
set_time (JsonObject *object,
          const char *name,
          gint64      time_us)
{
  g_autofree char *text = time_us != 0 ? khadim_time_to_rfc3339 (time_us) : NULL;

  set_text (object, name, text);
}

static JsonArray *
describe_artifacts (KhadimReportData     *self,
                    KhadimToolCallRecord *call)
{
  GPtrArray *artifacts = g_hash_table_lookup (self->artifacts, call->id);
  JsonArray *list = json_array_new ();

  for (guint i = 0; artifacts != NULL && i < artifacts->len; i++)
    {
      KhadimArtifactRecord *record = artifacts->pdata[i];
      JsonObject *object = json_object_new ();

      set_text (object, "role", record->role);
      set_text (object, "name", record->name);
      set_text (object, "media_type", record->media_type);
      set_text (object, "sha256", record->sha256);
      json_object_set_int_member (object, "size", record->size_bytes);
      json_array_add_object_element (list, object);
    }

  return list;
}

static JsonArray *describe_calls (KhadimReportData *self);

/* The session that a call was for. */
static JsonObject *
describe_child (KhadimReportData *child)
{
  JsonObject *object = json_object_new ();

  set_text (object, "session_id", child->session->id);
  set_text (object, "title", child->session->title);
  set_text (object, "outcome", child->session->outcome);
  json_object_set_array_member (object, "steps", describe_calls (child));

  return object;
}

static JsonObject *
describe_call (KhadimReportData     *self,
               KhadimToolCallRecord *call)
{
  KhadimReportData *child = g_hash_table_lookup (self->children, call->id);
  JsonObject *object = json_object_new ();

  set_text (object, "id", call->id);
  set_text (object, "position", call->position);
  set_text (object, "step", call->step_id);
  set_text (object, "title", call->title);
  set_text (object, "tool", call->tool);
  set_text (object, "state", khadim_call_state_to_string (call->state));
  set_node (object, "args", call->args);
  set_node (object, "result", call->result);
  set_node (object, "detail", call->detail);
  set_text (object, "error_code", call->error_code);
  set_text (object, "error_message", call->error_message);
  set_time (object, "started", call->started_us);
  json_object_set_int_member (object, "duration_ms", _khadim_report_call_us (call) / 1000);
  json_object_set_array_member (object, "artifacts", describe_artifacts (self, call));
  if (child != NULL)
    json_object_set_object_member (object, "called", describe_child (child));

  return object;
}

static JsonArray *
describe_calls (KhadimReportData *self)
{
  JsonArray *calls = json_array_new ();

  for (guint i = 0; i < self->calls->len; i++)
    json_array_add_object_element (calls, describe_call (self, self->calls->pdata[i]));

  return calls;
}

char *
_khadim_report_to_json (KhadimReportData *self)
{
  JsonObject *report = json_object_new ();
  g_autoptr(JsonNode) node = khadim_json_object (report);

  set_text (report, "session_id", self->session->id);
  set_text (report, "title", self->session->title);
  set_text (report, "automation", self->session->automation);
  set_text (report, "outcome", self->session->outcome);
  set_text (report, "error_code", self->session->error_code);
  set_text (report, "error_message", self->session->error_message);
  set_node (report, "inputs", self->session->inputs);
  set_node (report, "output", self->session->output);
  set_time (report, "started", self->session->created_us);
  set_time (report, "ended", self->session->ended_us);
  json_object_set_array_member (report, "steps", describe_calls (self));

  return khadim_json_to_pretty (node);
}
