/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Files as the tools of `files` and `data` read and replace them. Nothing
 * here belongs on the engine thread: it all waits for disks. */

#pragma once

#include <gio/gio.h>

#include "engine/base/khadim-error.h"

G_BEGIN_DECLS

/* The most a tool reads into, or writes from, one value */
#define KHADIM_TOOL_IO_MAX_BYTES (16 * 1024 * 1024)
/* Names of encodings are short: longer ones are mistakes */
#define KHADIM_TOOL_IO_MAX_ENCODING_BYTES 40
/* Leftovers of killed runs are removed after this long */
#define KHADIM_TOOL_IO_LEFTOVER_AGE_S (60 * 60)
/* How many names are looked at for leftovers at a write */
#define KHADIM_TOOL_IO_LEFTOVER_SCAN 10000
/* How deep a tree of folders may be that is copied or deleted */
#define KHADIM_TOOL_IO_MAX_DEPTH 128
/* How many files and folders a folder or a tree may hold */
#define KHADIM_TOOL_IO_MAX_ENTRIES 100000

/**
 * KhadimToolTemp:
 * @folder: where it is
 * @path: its own path, `FOLDER/.khadim-XXXXXXXX.tmp`
 * @fd: open; holds the lock by which others know that it is in use
 *
 * A file or folder in the making, that takes its name when it is complete.
 */
typedef struct
{
  char *folder;
  char *path;
  int fd;
} KhadimToolTemp;

/**
 * KhadimToolIoProgress:
 * @n_bytes: how much is copied so far
 * @n_entries: files and folders that were begun
 * @user_data: for the function
 *
 * Called after each piece of a copy, on its thread.
 */
typedef void (*KhadimToolIoProgress) (gint64   n_bytes,
                                      guint    n_entries,
                                      gpointer user_data);

void      _khadim_tool_io_set_error   (GError              **error,
                                       int                   saved_errno,
                                       const char           *doing,
                                       const char           *path);

GBytes   *_khadim_tool_io_read        (const char           *path,
                                       gsize                 max_bytes,
                                       GCancellable         *cancellable,
                                       GError              **error);
gboolean  _khadim_tool_io_write_all   (int                   fd,
                                       const void           *data,
                                       gsize                 size,
                                       const char           *path,
                                       GError              **error);
gboolean  _khadim_tool_io_sync_folder (const char           *folder,
                                       GError              **error);

/* Replacing a file as a whole */
gboolean  _khadim_tool_io_check_target (const char          *path,
                                        gboolean             overwrite,
                                        gboolean             make_folders,
                                        GError             **error);
gboolean  _khadim_tool_io_replace     (const char           *path,
                                       GBytes               *content,
                                       gboolean              overwrite,
                                       GCancellable         *cancellable,
                                       GError              **error);
gboolean  _khadim_tool_io_append      (const char           *path,
                                       GBytes               *content,
                                       GError              **error);
gboolean  _khadim_tool_io_make_folders (const char          *path,
                                        gboolean            *out_made,
                                        GError             **error);

gboolean  _khadim_tool_temp_open      (KhadimToolTemp       *temp,
                                       const char           *path,
                                       gboolean              is_folder,
                                       GError              **error);
gboolean  _khadim_tool_temp_commit    (KhadimToolTemp       *temp,
                                       const char           *path,
                                       gboolean              overwrite,
                                       GError              **error);
void      _khadim_tool_temp_clear     (KhadimToolTemp       *temp);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KhadimToolTemp, _khadim_tool_temp_clear)

gboolean  _khadim_tool_io_rename      (const char           *from,
                                       const char           *to,
                                       gboolean              overwrite,
                                       GError              **error);
gboolean  _khadim_tool_io_is_temp     (const char           *name);

/* Text and bytes */
char     *_khadim_tool_io_decode      (GBytes               *content,
                                       const char           *encoding,
                                       GError              **error);
GBytes   *_khadim_tool_io_encode      (const char           *text,
                                       const char           *encoding,
                                       GError              **error);

/* Trees */
GPtrArray *_khadim_tool_io_read_names (int                   fd,
                                       const char           *path,
                                       GError              **error);
GPtrArray *_khadim_tool_io_read_folder (const char          *path,
                                        GError             **error);
gboolean  _khadim_tool_io_copy_tree   (const char           *from,
                                       const char           *to,
                                       gboolean              overwrite,
                                       KhadimToolIoProgress  progress,
                                       gpointer              progress_data,
                                       GCancellable         *cancellable,
                                       GError              **error);
gboolean  _khadim_tool_io_delete_tree (const char           *path,
                                       GCancellable         *cancellable,
                                       GError              **error);

G_END_DECLS
