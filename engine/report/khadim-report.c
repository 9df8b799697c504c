/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-report"

#include "config.h"

#include "engine/report/khadim-report.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "engine/base/khadim-error.h"
#include "engine/json/khadim-json.h"
#include "engine/report/khadim-report-private.h"

/* How many events are read at a time. */
#define PAGE 1000

/* How deep automations that call each other are shown. */
#define MAX_DEPTH 64

void
_khadim_report_data_free (KhadimReportData *self)
{
  _khadim_report_data_clear (self);
  g_free (self);
}

void
_khadim_report_data_clear (KhadimReportData *self)
{
  g_clear_pointer (&self->session, khadim_session_record_free);
  g_clear_pointer (&self->calls, g_ptr_array_unref);
  g_clear_pointer (&self->artifacts, g_hash_table_unref);
  g_clear_pointer (&self->children, g_hash_table_unref);
  g_clear_pointer (&self->items, g_hash_table_unref);
  g_clear_pointer (&self->notes, g_ptr_array_unref);
}

gboolean
_khadim_report_is_failed (const KhadimToolCallRecord *call)
{
  return call->state == KHADIM_CALL_FAILED || call->state == KHADIM_CALL_DENIED;
}

gint64
_khadim_report_call_us (const KhadimToolCallRecord *call)
{
  gint64 begun_us = call->started_us != 0 ? call->started_us : call->created_us;

  return call->ended_us > begun_us ? call->ended_us - begun_us : 0;
}

/* As much of a text as a report shows, cut between characters. */
char *
_khadim_report_clip (const char *text)
{
  const char *end;

  if (strlen (text) <= KHADIM_REPORT_MAX_VALUE_BYTES)
    return g_strdup (text);

  end = g_utf8_find_prev_char (text, text + KHADIM_REPORT_MAX_VALUE_BYTES);

  return g_strdup_printf ("%.*s…", (int) (end - text), text);
}

/* Gathering ---------------------------------------------------------------- */

static gboolean
read_artifacts (KhadimReportData  *self,
                const char        *session_id,
                GError           **error)
{
  g_autoptr(GPtrArray) list = khadim_store_list_artifacts (self->store, session_id, error);

  if (list == NULL)
    return FALSE;

  for (guint i = 0; i < list->len; i++)
    {
      KhadimArtifactRecord *record = list->pdata[i];
      GPtrArray *of_call = g_hash_table_lookup (self->artifacts, record->call_id);

      if (of_call == NULL)
        {
          of_call = g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_artifact_record_free);
          g_hash_table_insert (self->artifacts, g_strdup (record->call_id), of_call);
        }
      g_ptr_array_add (of_call, khadim_artifact_record_copy (record));
    }

  return TRUE;
}

static gboolean
is_note (KhadimEvent *event)
{
  const char *type = khadim_event_get_event_type (event);

  return strcmp (type, "retry") == 0 || strcmp (type, "system_message") == 0 ||
         strcmp (type, "question") == 0 || strcmp (type, "question_answered") == 0 ||
         strcmp (type, "agent_resumed") == 0;
}

/* Which item of a list the turn of a loop worked with. */
static void
read_item (KhadimReportData *self,
           KhadimEvent      *event)
{
  JsonNode *metadata = khadim_event_get_metadata (event);
  const char *position = NULL;

  if (metadata != NULL && JSON_NODE_HOLDS_OBJECT (metadata))
    position = khadim_json_get_string (json_node_get_object (metadata), "position", NULL);
  if (position != NULL && khadim_event_get_content (event) != NULL)
    g_hash_table_insert (self->items, g_strdup (position),
                         g_strdup (khadim_event_get_content (event)));
}

static gboolean
read_notes (KhadimReportData  *self,
            const char        *session_id,
            GError           **error)
{
  gint64 seq = 0;

  while (TRUE)
    {
      g_autoptr(GPtrArray) page = khadim_store_list_events (self->store, session_id, seq, PAGE,
                                                            error);

      if (page == NULL)
        return FALSE;
      if (page->len == 0)
        return TRUE;
      for (guint i = 0; i < page->len; i++)
        {
          if (is_note (page->pdata[i]))
            g_ptr_array_add (self->notes, khadim_event_ref (page->pdata[i]));
          else if (strcmp (khadim_event_get_event_type (page->pdata[i]), "item_started") == 0)
            read_item (self, page->pdata[i]);
          seq = khadim_event_get_seq (page->pdata[i]);
        }
    }
}

static int
compare_calls (gconstpointer a,
               gconstpointer b)
{
  const KhadimToolCallRecord *first = *(KhadimToolCallRecord *const *) a;
  const KhadimToolCallRecord *second = *(KhadimToolCallRecord *const *) b;

  /* Ids are UUIDv7: they stand in the order of their making. */
  return strcmp (first->id, second->id);
}

static gboolean gather (KhadimReportData  *self,
                        const char        *session_id,
                        guint              depth,
                        GError           **error);

/* What the session called, each under the call that it was called by. */
static gboolean
read_children (KhadimReportData  *self,
               const char        *session_id,
               guint              depth,
               GError           **error)
{
  g_autoptr(GPtrArray) list = khadim_store_list_children (self->store, session_id, error);

  for (guint i = 0; list != NULL && depth < MAX_DEPTH && i < list->len; i++)
    {
      KhadimSessionRecord *record = list->pdata[i];
      KhadimReportData *child;

      if (record->parent_call_id == NULL)
        continue;
      child = g_new0 (KhadimReportData, 1);
      child->store = self->store;
      g_hash_table_insert (self->children, g_strdup (record->parent_call_id), child);
      if (!gather (child, record->id, depth + 1, error))
        return FALSE;
    }

  return list != NULL;
}

static gboolean
gather (KhadimReportData  *self,
        const char        *session_id,
        guint              depth,
        GError           **error)
{
  self->session = khadim_store_get_session (self->store, session_id, error);
  if (self->session == NULL)
    return FALSE;
  self->calls = khadim_store_list_calls (self->store, session_id, error);
  if (self->calls == NULL)
    return FALSE;
  g_ptr_array_sort (self->calls, compare_calls);
  for (guint i = 0; i < self->calls->len; i++)
    {
      KhadimToolCallRecord *call = self->calls->pdata[i];

      self->n_failed += _khadim_report_is_failed (call);
    }
  self->artifacts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                           (GDestroyNotify) g_ptr_array_unref);
  self->children = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                          (GDestroyNotify) _khadim_report_data_free);
  self->items = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->notes = g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_event_unref);

  return read_artifacts (self, session_id, error) && read_notes (self, session_id, error) &&
         read_children (self, session_id, depth, error);
}

/* Writing ------------------------------------------------------------------ */

static gboolean
write_file (const char  *folder,
            const char  *name,
            const char  *text,
            GError     **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  return g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, error);
}

/**
 * khadim_report_write:
 * @store: where the session is kept
 * @session_id: the session
 * @folder: where the report goes; made when it is not there, files of an
 *   earlier report are replaced
 * @out_path: (out) (optional): the path of `index.html`
 * @error: (nullable): a `KHADIM_STORE_ERROR` or #GFileError
 *
 * Writes `index.html` (one file with its pictures in it), `junit.xml` and
 * `report.json`. Blocks on the disk. Any thread.
 *
 * Returns: whether all three are there
 */
gboolean
khadim_report_write (KhadimStore  *store,
                     const char   *session_id,
                     const char   *folder,
                     char        **out_path,
                     GError      **error)
{
  g_auto(KhadimReportData) data = { .store = store };
  g_autofree char *html = NULL;
  g_autofree char *junit = NULL;
  g_autofree char *json = NULL;

  g_return_val_if_fail (KHADIM_IS_STORE (store), FALSE);
  g_return_val_if_fail (session_id != NULL && folder != NULL, FALSE);

  if (!gather (&data, session_id, 0, error))
    return FALSE;
  if (g_mkdir_with_parents (folder, 0700) != 0)
    {
      g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno), "cannot make %s: %s",
                   folder, g_strerror (errno));
      return FALSE;
    }
  html = _khadim_report_to_html (&data);
  junit = _khadim_report_to_junit (&data);
  json = _khadim_report_to_json (&data);
  if (!write_file (folder, "report.json", json, error) ||
      !write_file (folder, "junit.xml", junit, error) ||
      !write_file (folder, "index.html", html, error))
    return FALSE;
  if (out_path != NULL)
    {
      g_autofree char *path = g_build_filename (folder, "index.html", NULL);

      *out_path = g_canonicalize_filename (path, NULL);
    }

  return TRUE;
}
