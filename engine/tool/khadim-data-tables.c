/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-data-tables"

#include "config.h"

#include "engine/tool/khadim-data-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/json/khadim-json.h"
#include "engine/tool/khadim-csv-private.h"
#include "engine/tool/khadim-tool-io-private.h"

/* How far into a file the names of its columns may reach */
#define HEADER_BYTES (64 * 1024)

/* 0 for `auto`; the schema knows the rest. */
static char
delimiter_of (JsonObject *args,
              const char *fallback)
{
  const char *text = khadim_json_get_string (args, "delimiter", fallback);

  if (g_str_equal (text, "auto"))
    return 0;

  return g_str_equal (text, "tab") ? '\t' : *text;
}

static void
format_init (KhadimCsvFormat *format,
             JsonObject      *args)
{
  format->delimiter = delimiter_of (args, "auto");
  format->header = khadim_json_get_boolean (args, "header", TRUE);
  format->columns = khadim_json_get_array (args, "columns");
  format->max_rows = khadim_json_get_int (args, "max_rows", G_MAXINT64);
}

static void
style_init (KhadimCsvStyle *style,
            JsonObject     *args)
{
  style->delimiter = delimiter_of (args, ",");
  style->header = khadim_json_get_boolean (args, "header", TRUE);
  style->crlf = g_str_equal (khadim_json_get_string (args, "newline", "lf"), "crlf");
  style->columns = khadim_json_get_array (args, "columns");
}

JsonNode *
_khadim_data_parse_csv (KhadimToolCall  *call,
                        GCancellable    *cancellable,
                        GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  KhadimCsvFormat format;

  format_init (&format, args);

  return _khadim_csv_parse (khadim_json_get_string (args, "text", ""), &format,
                            cancellable, error);
}

JsonNode *
_khadim_data_read_csv (KhadimToolCall  *call,
                       GCancellable    *cancellable,
                       GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_autofree char *path = _khadim_tool_job_path (call, "path", KHADIM_TOOL_PATH_USE_READ, error);
  g_autoptr(GBytes) content = NULL;
  g_autofree char *text = NULL;
  KhadimCsvFormat format;
  JsonNode *value = NULL;

  if (path == NULL)
    return NULL;
  content = _khadim_tool_io_read (path, KHADIM_TOOL_IO_MAX_BYTES, cancellable, error);
  if (content == NULL)
    return NULL;

  format_init (&format, args);
  text = _khadim_tool_io_decode (content, khadim_json_get_string (args, "encoding", NULL), error);
  if (text != NULL)
    value = _khadim_csv_parse (text, &format, cancellable, error);
  if (value == NULL)
    g_prefix_error (error, "Cannot read the table “%s”: ", path);

  return value;
}

JsonNode *
_khadim_data_to_csv (KhadimToolCall  *call,
                     GCancellable    *cancellable,
                     GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  JsonObject *object;
  KhadimCsvStyle style;
  g_autofree char *text = NULL;

  style_init (&style, args);
  text = _khadim_csv_format (khadim_json_get_array (args, "rows"), &style, cancellable, error);
  if (text == NULL)
    return NULL;

  object = json_object_new ();
  json_object_set_string_member (object, "text", text);

  return khadim_json_object (object);
}

JsonNode *
_khadim_data_write_csv (KhadimToolCall  *call,
                        GCancellable    *cancellable,
                        GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  JsonArray *rows = khadim_json_get_array (args, "rows");
  g_autoptr(JsonNode) value = NULL;
  KhadimCsvStyle style;
  g_autofree char *text = NULL;

  style_init (&style, args);
  text = _khadim_csv_format (rows, &style, cancellable, error);
  if (text == NULL)
    return NULL;
  value = _khadim_data_write_text (call, text, cancellable, error);
  if (value == NULL)
    return NULL;

  json_object_set_int_member (json_node_get_object (value), "count",
                              json_array_get_length (rows));

  return g_steal_pointer (&value);
}

/* data.append_csv --------------------------------------------------------- */

/* What a table on the disk is like: how to go on with it. */
typedef struct
{
  JsonNode *head; /* what reading its first record gave */
  gboolean crlf;
  gboolean ends_open; /* its last line has no end */
  gint64 size;
} Present;

static void
present_clear (Present *present)
{
  g_clear_pointer (&present->head, json_node_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Present, present_clear)

static gssize
read_ends (int     fd,
           char   *head,
           gsize   head_size,
           char   *out_last,
           gint64 *out_size)
{
  gssize n = pread (fd, head, head_size, 0);
  struct stat st;

  if (n <= 0 || fstat (fd, &st) != 0)
    return n;
  *out_size = st.st_size;

  return pread (fd, out_last, 1, st.st_size - 1) == 1 ? n : -1;
}

/* Cuts the text after the first line break outside quotation marks. */
static void
keep_first_record (char *text)
{
  gboolean quoted = FALSE;

  for (char *c = text; *c != '\0'; c++)
    {
      if (*c == '"')
        quoted = !quoted;
      if (*c == '\n' && !quoted)
        {
          c[1] = '\0';
          return;
        }
    }
}

static gboolean
take_present (Present       *present,
              char          *head,
              gsize          size,
              char           last,
              GCancellable  *cancellable,
              GError       **error)
{
  KhadimCsvFormat format = { .header = TRUE, .max_rows = 0 };
  g_autoptr(GBytes) bytes = NULL;
  g_autofree char *text = NULL;

  head[size] = '\0';
  keep_first_record (head);
  present->ends_open = last != '\n';
  present->crlf = g_str_has_suffix (head, "\r\n");
  bytes = g_bytes_new (head, strlen (head));
  text = _khadim_tool_io_decode (bytes, "utf-8", error);
  if (text != NULL)
    present->head = _khadim_csv_parse (text, &format, cancellable, error);

  return present->head != NULL;
}

/* %TRUE with `head` unset if there is no file, or an empty one. */
static gboolean
look_at_present (Present       *present,
                 const char    *path,
                 GCancellable  *cancellable,
                 GError       **error)
{
  g_autofree char *head = g_malloc (HEADER_BYTES + 1);
  char last = '\0';
  gssize n;
  int fd = open (path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

  if (fd < 0 && errno == ENOENT)
    return TRUE;

  n = fd >= 0 ? read_ends (fd, head, HEADER_BYTES, &last, &present->size) : -1;
  if (n < 0)
    _khadim_tool_io_set_error (error, errno, "read", path);
  if (fd >= 0)
    close (fd);
  if (n <= 0)
    return n == 0;

  if (!take_present (present, head, (gsize) n, last, cancellable, error))
    {
      g_prefix_error (error, "Cannot go on with the table “%s”: ", path);
      return FALSE;
    }

  return TRUE;
}

/* The new rows, in the order and the style of those that are there. */
static GBytes *
format_new_rows (Present       *present,
                 JsonObject    *args,
                 GCancellable  *cancellable,
                 GError       **error)
{
  KhadimCsvStyle style;
  g_autofree char *text = NULL;
  char *whole;

  style_init (&style, args);
  if (present->head != NULL)
    {
      JsonObject *head = json_node_get_object (present->head);

      style.header = FALSE;
      style.crlf = present->crlf;
      style.columns = khadim_json_get_array (head, "columns");
      style.delimiter = *khadim_json_get_string (head, "delimiter", ",");
    }
  text = _khadim_csv_format (khadim_json_get_array (args, "rows"), &style, cancellable, error);
  if (text == NULL)
    return NULL;
  whole = g_strconcat (present->head == NULL || !present->ends_open ? "" : style.crlf ? "\r\n"
                                                                                      : "\n",
                       text, NULL);

  return g_bytes_new_take (whole, strlen (whole));
}

static JsonNode *
appended (const char *path,
          gint64      size,
          guint       count)
{
  JsonObject *object = json_object_new ();
  g_autofree char *shown = g_filename_display_name (path);

  json_object_set_string_member (object, "path", shown);
  json_object_set_int_member (object, "size", size);
  json_object_set_int_member (object, "count", count);

  return khadim_json_object (object);
}

JsonNode *
_khadim_data_append_csv (KhadimToolCall  *call,
                         GCancellable    *cancellable,
                         GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  guint count = json_array_get_length (khadim_json_get_array (args, "rows"));
  g_autofree char *path = _khadim_tool_job_path (call, "path", KHADIM_TOOL_PATH_USE_WRITE, error);
  g_auto(Present) present = { NULL };
  g_autoptr(GBytes) content = NULL;

  if (path == NULL
      || !_khadim_tool_io_check_target (path, TRUE, FALSE, error)
      || !look_at_present (&present, path, cancellable, error))
    return NULL;
  content = format_new_rows (&present, args, cancellable, error);
  if (content == NULL)
    return NULL;

  if (khadim_tool_call_is_dry_run (call))
    return _khadim_tool_job_would ("add %u rows to %s", count, path);
  if (!_khadim_tool_io_append (path, content, error))
    return NULL;

  return appended (path, present.size + (gint64) g_bytes_get_size (content), count);
}
