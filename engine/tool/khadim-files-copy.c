/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-files-copy"

#include "config.h"

#include "engine/tool/khadim-files-private.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "engine/json/khadim-json.h"
#include "engine/tool/khadim-tool-io-private.h"

/* How often a long copy says how far it is */
#define PROGRESS_US (2 * G_USEC_PER_SEC)

/* From where to where, checked: `from` is there, `to` can be made. */
typedef struct
{
  KhadimToolCall *call; /* borrowed */
  char *from;
  char *to;
  gboolean overwrite;
  struct stat st; /* of `from` */
  gint64 shown_us; /* when progress was shown last */
} Transfer;

static void
transfer_clear (Transfer *transfer)
{
  g_free (transfer->from);
  g_free (transfer->to);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Transfer, transfer_clear)

/* A `to` that ends in a slash is the folder to put it in. */
static char *
resolve_to (KhadimToolCall     *call,
            const char         *from,
            KhadimToolPathUse   use,
            GError            **error)
{
  const char *to = khadim_json_get_string (khadim_tool_call_get_args (call), "to", "");
  g_autofree char *name = g_path_get_basename (from);
  g_autofree char *full = NULL;

  full = g_str_has_suffix (to, "/") ? g_strconcat (to, name, NULL) : g_strdup (to);

  return khadim_tool_path_resolve (full, use,
                                   khadim_tool_call_get_work_dir (call),
                                   khadim_tool_call_get_assets_dir (call),
                                   error);
}

static gboolean
check_relation (Transfer  *transfer,
                GError   **error)
{
  struct stat to;
  gboolean to_exists = lstat (transfer->to, &to) == 0;

  if (to_exists && to.st_dev == transfer->st.st_dev && to.st_ino == transfer->st.st_ino)
    g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                 "“%s” and “%s” are the same", transfer->from, transfer->to);
  else if (khadim_tool_path_is_within (transfer->to, transfer->from))
    g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                 "“%s” lies inside “%s”: a folder cannot go into itself",
                 transfer->to, transfer->from);
  else if (to_exists && (S_ISDIR (to.st_mode) || S_ISDIR (transfer->st.st_mode)))
    g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                 "“%s” exists already, and folders are not overwritten: "
                 "end the path with “/” to put something in a folder", transfer->to);
  else
    return TRUE;

  return FALSE;
}

static gboolean
transfer_prepare (Transfer           *transfer,
                  KhadimToolCall     *call,
                  KhadimToolPathUse   from_use,
                  KhadimToolPathUse   to_use,
                  GError            **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);

  transfer->call = call;
  transfer->shown_us = g_get_monotonic_time ();
  transfer->overwrite = khadim_json_get_boolean (args, "overwrite", FALSE);
  transfer->from = _khadim_tool_job_path (call, "from", from_use, error);
  if (transfer->from == NULL)
    return FALSE;
  if (lstat (transfer->from, &transfer->st) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "read", transfer->from);
      return FALSE;
    }
  transfer->to = resolve_to (call, transfer->from, to_use, error);

  return transfer->to != NULL
         && check_relation (transfer, error)
         && _khadim_tool_io_check_target (transfer->to, transfer->overwrite,
                                          khadim_json_get_boolean (args, "make_folders", TRUE),
                                          error);
}

static gboolean
make_folder_for (KhadimToolCall  *call,
                 const char      *path,
                 GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_autofree char *folder = g_path_get_dirname (path);

  return !khadim_json_get_boolean (args, "make_folders", TRUE)
         || _khadim_tool_io_make_folders (folder, NULL, error);
}

static JsonNode *
transferred (Transfer *transfer)
{
  JsonObject *object = json_object_new ();
  g_autofree char *from = g_filename_display_name (transfer->from);
  g_autofree char *to = g_filename_display_name (transfer->to);

  json_object_set_string_member (object, "from", from);
  json_object_set_string_member (object, "path", to);

  return khadim_json_object (object);
}

static void
on_progress_cb (gint64   n_bytes,
                guint    n_entries,
                gpointer user_data)
{
  Transfer *transfer = user_data;
  gint64 now_us = g_get_monotonic_time ();
  gboolean whole = S_ISREG (transfer->st.st_mode) && transfer->st.st_size > 0;
  g_autofree char *size = NULL;

  if (now_us - transfer->shown_us < PROGRESS_US)
    return;

  transfer->shown_us = now_us;
  size = g_format_size ((guint64) n_bytes);
  khadim_tool_call_progress (transfer->call,
                             whole ? (double) n_bytes / (double) transfer->st.st_size : -1, size);
}

static gboolean
copy (Transfer      *transfer,
      GCancellable  *cancellable,
      GError       **error)
{
  return _khadim_tool_io_copy_tree (transfer->from, transfer->to, transfer->overwrite,
                                    on_progress_cb, transfer, cancellable, error);
}

JsonNode *
_khadim_files_copy (KhadimToolCall  *call,
                    GCancellable    *cancellable,
                    GError         **error)
{
  g_auto(Transfer) transfer = { 0 };

  if (!transfer_prepare (&transfer, call, KHADIM_TOOL_PATH_USE_READ,
                         KHADIM_TOOL_PATH_USE_WRITE, error))
    return NULL;
  if (access (transfer.from, R_OK) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "read", transfer.from);
      return NULL;
    }

  if (khadim_tool_call_is_dry_run (call))
    return _khadim_tool_job_would ("copy %s to %s", transfer.from, transfer.to);

  if (!make_folder_for (call, transfer.to, error)
      || !copy (&transfer, cancellable, error))
    return NULL;

  return transferred (&transfer);
}

static gboolean
check_movable (KhadimToolCall  *call,
               const char      *path,
               GError         **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  const char *what = NULL;

  if (khadim_tool_path_is_protected (path, khadim_tool_call_get_work_dir (call),
                                     khadim_tool_call_get_assets_dir (call), &what))
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_DENIED,
                   "“%s” is never moved: it is or holds %s", path, what);
      return FALSE;
    }
  if (access (folder, W_OK | X_OK) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "move something from", folder);
      return FALSE;
    }

  return TRUE;
}

/* To another file system: the old goes when the new is on the disk, so a
 * crash between leaves both. */
static gboolean
move_by_copy (Transfer      *transfer,
              GCancellable  *cancellable,
              GError       **error)
{
  return copy (transfer, cancellable, error)
         && _khadim_tool_io_delete_tree (transfer->from, NULL, error);
}

static gboolean
move (Transfer      *transfer,
      GCancellable  *cancellable,
      GError       **error)
{
  g_autoptr(GError) local = NULL;
  g_autofree char *from_folder = g_path_get_dirname (transfer->from);
  g_autofree char *to_folder = g_path_get_dirname (transfer->to);

  if (_khadim_tool_io_rename (transfer->from, transfer->to, transfer->overwrite, &local))
    return _khadim_tool_io_sync_folder (to_folder, error)
           && _khadim_tool_io_sync_folder (from_folder, error);

  if (g_error_matches (local, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED))
    return move_by_copy (transfer, cancellable, error);

  g_propagate_error (error, g_steal_pointer (&local));

  return FALSE;
}

JsonNode *
_khadim_files_move (KhadimToolCall  *call,
                    GCancellable    *cancellable,
                    GError         **error)
{
  g_auto(Transfer) transfer = { 0 };

  if (!transfer_prepare (&transfer, call, KHADIM_TOOL_PATH_USE_ENTRY,
                         KHADIM_TOOL_PATH_USE_ENTRY, error)
      || !check_movable (call, transfer.from, error))
    return NULL;

  if (khadim_tool_call_is_dry_run (call))
    return _khadim_tool_job_would ("move %s to %s", transfer.from, transfer.to);

  if (g_cancellable_set_error_if_cancelled (cancellable, error)
      || !make_folder_for (call, transfer.to, error)
      || !move (&transfer, cancellable, error))
    return NULL;

  return transferred (&transfer);
}
