/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-data-values"

#include "config.h"

#include "engine/tool/khadim-data-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"
#include "engine/tool/khadim-tool-io-private.h"

JsonNode *
_khadim_data_write_text (KhadimToolCall  *call,
                         const char      *text,
                         GCancellable    *cancellable,
                         GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_autofree char *path = _khadim_tool_job_path (call, "path", KHADIM_TOOL_PATH_USE_WRITE, error);
  g_autofree char *folder = NULL;
  g_autofree char *shown = NULL;
  g_autoptr(GBytes) content = NULL;
  JsonObject *object;

  if (path == NULL || !_khadim_tool_io_check_target (path, TRUE, TRUE, error))
    return NULL;
  content = _khadim_tool_io_encode (text, khadim_json_get_string (args, "encoding", NULL), error);
  if (content == NULL)
    return NULL;

  if (khadim_tool_call_is_dry_run (call))
    return _khadim_tool_job_would ("write %" G_GSIZE_FORMAT " bytes to %s",
                                   g_bytes_get_size (content), path);

  folder = g_path_get_dirname (path);
  if (!_khadim_tool_io_make_folders (folder, NULL, error)
      || !_khadim_tool_io_replace (path, content, TRUE, cancellable, error))
    return NULL;

  object = json_object_new ();
  shown = g_filename_display_name (path);
  json_object_set_string_member (object, "path", shown);
  json_object_set_int_member (object, "size", (gint64) g_bytes_get_size (content));

  return khadim_json_object (object);
}

JsonNode *
_khadim_data_parse_json (KhadimToolCall  *call,
                         GCancellable    *cancellable,
                         GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);

  return khadim_json_parse (khadim_json_get_string (args, "text", ""), -1, NULL, error);
}

JsonNode *
_khadim_data_read_json (KhadimToolCall  *call,
                        GCancellable    *cancellable,
                        GError         **error)
{
  g_autofree char *path = _khadim_tool_job_path (call, "path", KHADIM_TOOL_PATH_USE_READ, error);
  g_autoptr(GBytes) content = NULL;
  g_autofree char *text = NULL;
  JsonNode *value = NULL;

  if (path == NULL)
    return NULL;
  content = _khadim_tool_io_read (path, KHADIM_TOOL_IO_MAX_BYTES, cancellable, error);
  if (content == NULL)
    return NULL;

  text = _khadim_tool_io_decode (content, "utf-8", error);
  if (text != NULL)
    value = khadim_json_parse (text, -1, NULL, error);
  if (value == NULL)
    g_prefix_error (error, "Cannot read the JSON file “%s”: ", path);

  return value;
}

static char *
format_value (JsonObject *args,
              gboolean    pretty)
{
  JsonNode *value = khadim_json_get (args, "value");

  return pretty ? khadim_json_to_pretty (value) : khadim_json_to_string (value);
}

JsonNode *
_khadim_data_to_json (KhadimToolCall  *call,
                      GCancellable    *cancellable,
                      GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  JsonObject *object = json_object_new ();
  g_autofree char *text = NULL;

  text = format_value (args, khadim_json_get_boolean (args, "pretty", FALSE));
  json_object_set_string_member (object, "text", text);

  return khadim_json_object (object);
}

JsonNode *
_khadim_data_write_json (KhadimToolCall  *call,
                         GCancellable    *cancellable,
                         GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_autofree char *text = NULL;
  g_autofree char *line = NULL;

  text = format_value (args, khadim_json_get_boolean (args, "pretty", TRUE));
  line = g_str_has_suffix (text, "\n") ? g_strdup (text) : g_strconcat (text, "\n", NULL);

  return _khadim_data_write_text (call, line, cancellable, error);
}
