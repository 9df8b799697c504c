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

/* XML 1.0 has no form at all for control characters (section 2.2). */
static char *
escape_xml (const char *text)
{
  g_autofree char *clean = g_utf8_make_valid (text != NULL ? text : "", -1);

  for (char *p = clean; *p != '\0'; p++)
    if ((guchar) *p < 0x20 && *p != '\n' && *p != '\t')
      *p = ' ';

  return g_markup_escape_text (clean, -1);
}

static void
add_case (GString              *xml,
          KhadimToolCallRecord *call,
          const char           *suite)
{
  g_autofree char *name = escape_xml (call->position);
  g_autofree char *title = escape_xml (call->title);
  g_autofree char *message = escape_xml (call->error_message);
  g_autofree char *code = escape_xml (call->error_code);
  char seconds[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (seconds, sizeof seconds, "%.3f",
                   (double) _khadim_report_call_us (call) / G_USEC_PER_SEC);
  g_string_append_printf (xml, "    <testcase classname=\"%s\" name=\"%s: %s\" time=\"%s\"", suite,
                          name, title, seconds);
  /* A check that does not hold is a failure, anything else an error. */
  if (g_strcmp0 (call->error_code, "check-failed") == 0)
    g_string_append_printf (xml, ">\n      <failure type=\"%s\" message=\"%s\"/>\n    </testcase>\n",
                            code, message);
  else if (_khadim_report_is_failed (call))
    g_string_append_printf (xml, ">\n      <error type=\"%s\" message=\"%s\"/>\n    </testcase>\n",
                            code, message);
  else if (call->state != KHADIM_CALL_COMPLETED)
    g_string_append (xml, ">\n      <skipped/>\n    </testcase>\n");
  else
    g_string_append (xml, "/>\n");
}

/* JUnit XML in the form of Apache Ant's junitreport. */
char *
_khadim_report_to_junit (KhadimReportData *self)
{
  GString *xml = g_string_new ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
  g_autofree char *suite = escape_xml (self->session->title);
  g_autofree char *stamp = khadim_time_to_rfc3339 (self->session->created_us);
  guint n_skipped = 0;

  for (guint i = 0; i < self->calls->len; i++)
    {
      KhadimToolCallRecord *call = self->calls->pdata[i];

      n_skipped += !_khadim_report_is_failed (call) && call->state != KHADIM_CALL_COMPLETED;
    }
  g_string_append_printf (xml,
                          "  <testsuite name=\"%s\" tests=\"%u\" failures=\"%u\" errors=\"%u\" "
                          "skipped=\"%u\" timestamp=\"%s\">\n",
                          suite, self->calls->len, self->n_checks_failed,
                          self->n_failed - self->n_checks_failed, n_skipped, stamp);
  for (guint i = 0; i < self->calls->len; i++)
    add_case (xml, self->calls->pdata[i], suite);
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

static JsonObject *
describe_call (KhadimReportData     *self,
               KhadimToolCallRecord *call)
{
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

  return object;
}

char *
_khadim_report_to_json (KhadimReportData *self)
{
  JsonObject *report = json_object_new ();
  g_autoptr(JsonNode) node = khadim_json_object (report);
  JsonArray *calls = json_array_new ();

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
  for (guint i = 0; i < self->calls->len; i++)
    json_array_add_object_element (calls, describe_call (self, self->calls->pdata[i]));
  json_object_set_array_member (report, "steps", calls);

  return khadim_json_to_pretty (node);
}
