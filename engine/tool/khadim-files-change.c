/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-files-change"

#include "config.h"

#include "engine/tool/khadim-files-private.h"

#include <errno.h>
#include <unistd.h>

#include "engine/json/khadim-json.h"
#include "engine/tool/khadim-tool-io-private.h"

static JsonNode *
written (const char *path,
         gint64      size)
{
  JsonObject *object = json_object_new ();
  g_autofree char *shown = g_filename_display_name (path);

  json_object_set_string_member (object, "path", shown);
  json_object_set_int_member (object, "size", size);

  return khadim_json_object (object);
}

/* The bytes that the arguments `text` and `encoding` mean. */
static GBytes *
content_of (JsonObject  *args,
            const char  *path,
            gboolean     continues,
            GError     **error)
{
  const char *text = khadim_json_get_string (args, "text", "");
  const char *encoding = khadim_json_get_string (args, "encoding", "utf-8");
  g_autofree char *line = NULL;
  GBytes *content;

  if (khadim_json_get_boolean (args, "newline", FALSE) && !g_str_has_suffix (text, "\n"))
    text = line = g_strconcat (text, "\n", NULL);
  if (continues && g_ascii_strcasecmp (encoding, "utf-8-bom") == 0)
    encoding = "utf-8";

  content = _khadim_tool_io_encode (text, encoding, error);
  if (content == NULL)
    {
      g_prefix_error (error, "Cannot write “%s”: ", path);
      return NULL;
    }
  if (g_bytes_get_size (content) > KHADIM_TOOL_IO_MAX_BYTES)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                   "Cannot write “%s”: more than %d bytes at once",
                   path, KHADIM_TOOL_IO_MAX_BYTES);
      g_bytes_unref (content);
      return NULL;
    }

  return content;
}

static gboolean
make_folder_for (const char  *path,
                 JsonObject  *args,
                 GError     **error)
{
  g_autofree char *folder = g_path_get_dirname (path);

  return !khadim_json_get_boolean (args, "make_folders", TRUE)
         || _khadim_tool_io_make_folders (folder, NULL, error);
}

/* Whether the call that a crash interrupted had done its work: then what must
 * not be overwritten is our own. */
static gboolean
is_written_already (KhadimToolCall *call,
                    const char     *path,
                    GBytes         *content)
{
  g_autoptr(GBytes) present = NULL;

  if (!khadim_tool_call_is_resumed (call))
    return FALSE;
  present = _khadim_tool_io_read (path, g_bytes_get_size (content), NULL, NULL);

  return present != NULL && g_bytes_equal (present, content);
}

JsonNode *
_khadim_files_write (KhadimToolCall  *call,
                     GCancellable    *cancellable,
                     GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  gboolean overwrite = khadim_json_get_boolean (args, "overwrite", TRUE);
  gboolean make_folders = khadim_json_get_boolean (args, "make_folders", TRUE);
  g_autofree char *path = _khadim_tool_job_path (call, "path", KHADIM_TOOL_PATH_USE_WRITE, error);
  g_autoptr(GBytes) content = NULL;
  gint64 size;

  if (path == NULL)
    return NULL;
  content = content_of (args, path, FALSE, error);
  if (content == NULL)
    return NULL;
  size = (gint64) g_bytes_get_size (content);
  if (is_written_already (call, path, content))
    return written (path, size);
  if (!_khadim_tool_io_check_target (path, overwrite, make_folders, error))
    return NULL;

  if (khadim_tool_call_is_dry_run (call))
    return _khadim_tool_job_would ("write %" G_GINT64_FORMAT " bytes to %s", size, path);

  if (!make_folder_for (path, args, error)
      || !_khadim_tool_io_replace (path, content, overwrite, cancellable, error))
    return NULL;

  return written (path, size);
}

JsonNode *
_khadim_files_append (KhadimToolCall  *call,
                      GCancellable    *cancellable,
                      GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  gboolean make_folders = khadim_json_get_boolean (args, "make_folders", TRUE);
  g_autofree char *path = _khadim_tool_job_path (call, "path", KHADIM_TOOL_PATH_USE_WRITE, error);
  g_autoptr(GBytes) content = NULL;
  struct stat st = { 0 };

  if (path == NULL)
    return NULL;
  content = content_of (args, path, stat (path, &st) == 0 && st.st_size > 0, error);
  if (content == NULL || !_khadim_tool_io_check_target (path, TRUE, make_folders, error))
    return NULL;

  if (khadim_tool_call_is_dry_run (call))
    return _khadim_tool_job_would ("add %" G_GSIZE_FORMAT " bytes to %s",
                                   g_bytes_get_size (content), path);

  if (g_cancellable_set_error_if_cancelled (cancellable, error)
      || !make_folder_for (path, args, error)
      || !_khadim_tool_io_append (path, content, error))
    return NULL;
  if (stat (path, &st) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "look at", path);
      return NULL;
    }

  return written (path, st.st_size);
}

JsonNode *
_khadim_files_make_folder (KhadimToolCall  *call,
                           GCancellable    *cancellable,
                           GError         **error)
{
  g_autofree char *path = _khadim_tool_job_path (call, "path", KHADIM_TOOL_PATH_USE_WRITE, error);
  g_autofree char *shown = NULL;
  gboolean made = FALSE;
  JsonObject *object;
  struct stat st;

  if (path == NULL)
    return NULL;

  if (khadim_tool_call_is_dry_run (call))
    {
      if (stat (path, &st) == 0 && S_ISDIR (st.st_mode))
        return _khadim_tool_job_would ("leave the folder %s as it is", path);
      if (!_khadim_tool_io_check_target (path, FALSE, TRUE, error))
        return NULL;
      return _khadim_tool_job_would ("make the folder %s", path);
    }
  if (!_khadim_tool_io_make_folders (path, &made, error))
    return NULL;

  object = json_object_new ();
  shown = g_filename_display_name (path);
  json_object_set_string_member (object, "path", shown);
  json_object_set_boolean_member (object, "created", made);

  return khadim_json_object (object);
}

/* files.delete ---------------------------------------------------------- */

static JsonNode *
deleted (const char *path,
         const char *how)
{
  JsonObject *object = json_object_new ();
  g_autofree char *shown = g_filename_display_name (path);

  json_object_set_string_member (object, "path", shown);
  json_object_set_boolean_member (object, "deleted", how != NULL);
  if (how != NULL)
    json_object_set_string_member (object, "to", how);

  return khadim_json_object (object);
}

static gboolean
check_deletable (KhadimToolCall  *call,
                 const char      *path,
                 GError         **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  const char *what = NULL;

  if (khadim_tool_path_is_protected (path, khadim_tool_call_get_work_dir (call),
                                     khadim_tool_call_get_assets_dir (call), &what))
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_DENIED,
                   "“%s” is never deleted: it is or holds %s", path, what);
      return FALSE;
    }
  if (access (folder, W_OK | X_OK) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "delete in", folder);
      return FALSE;
    }

  return TRUE;
}

/* Freedesktop Trash specification 1.0, by GIO. */
static gboolean
move_to_trash (const char    *path,
               GCancellable  *cancellable,
               GError       **error)
{
  g_autoptr(GFile) file = g_file_new_for_path (path);
  g_autoptr(GError) local = NULL;

  if (g_file_trash (file, cancellable, &local))
    return TRUE;

  if (g_error_matches (local, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_propagate_error (error, g_steal_pointer (&local));
  else if (g_error_matches (local, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED))
    g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                 "“%s” lies where there is no Trash: "
                 "`\"permanent\": true` deletes it for good (%s)", path, local->message);
  else
    g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                 "Cannot put “%s” in the Trash: %s", path, local->message);

  return FALSE;
}

JsonNode *
_khadim_files_delete (KhadimToolCall  *call,
                      GCancellable    *cancellable,
                      GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  gboolean permanent = khadim_json_get_boolean (args, "permanent", FALSE);
  g_autofree char *path = _khadim_tool_job_path (call, "path", KHADIM_TOOL_PATH_USE_ENTRY, error);
  struct stat st;

  if (path == NULL)
    return NULL;
  if (lstat (path, &st) != 0)
    {
      if (errno == ENOENT && khadim_json_get_boolean (args, "missing_ok", FALSE))
        return deleted (path, NULL);
      _khadim_tool_io_set_error (error, errno, "delete", path);
      return NULL;
    }
  if (!check_deletable (call, path, error))
    return NULL;

  if (khadim_tool_call_is_dry_run (call))
    return _khadim_tool_job_would (permanent ? "delete %s for good" : "put %s in the Trash", path);

  if (permanent ? !_khadim_tool_io_delete_tree (path, cancellable, error)
                : !move_to_trash (path, cancellable, error))
    return NULL;

  return deleted (path, permanent ? "nowhere" : "trash");
}
