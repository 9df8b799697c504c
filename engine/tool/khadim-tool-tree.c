/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-tool-tree"

#include "config.h"

#include "engine/tool/khadim-tool-io-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Trees of files, walked by file descriptors: nobody can slip a link into the
 * way that leads elsewhere (openat(2), O_NOFOLLOW). */

#define COPY_CHUNK_BYTES (1024 * 1024)

typedef struct
{
  GCancellable *cancellable; /* borrowed */
  const char *path;          /* of the whole tree, for messages; borrowed */
  dev_t device;
  guint n_entries;

  /* Of a copy */
  KhadimToolIoProgress progress;
  gpointer progress_data;
  gint64 n_bytes;
} TreeWalk;

static gboolean
tree_walk_enter (TreeWalk  *walk,
                 guint      depth,
                 GError   **error)
{
  if (g_cancellable_set_error_if_cancelled (walk->cancellable, error))
    return FALSE;

  if (depth > KHADIM_TOOL_IO_MAX_DEPTH)
    g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                 "“%s” is deeper than %d folders", walk->path, KHADIM_TOOL_IO_MAX_DEPTH);
  else if (++walk->n_entries > KHADIM_TOOL_IO_MAX_ENTRIES)
    g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                 "“%s” holds more than %d files", walk->path, KHADIM_TOOL_IO_MAX_ENTRIES);
  else
    return TRUE;

  return FALSE;
}

static gboolean
read_entries (DIR       *dir,
              GPtrArray *names)
{
  struct dirent *entry;

  do
    {
      errno = 0;
      entry = readdir (dir);
      if (entry != NULL && !g_str_equal (entry->d_name, ".") && !g_str_equal (entry->d_name, ".."))
        g_ptr_array_add (names, g_strdup (entry->d_name));
    }
  while (entry != NULL && names->len <= KHADIM_TOOL_IO_MAX_ENTRIES);

  return errno == 0;
}

/* The names in the open folder @fd: all of them or an error, for what is
 * missed would be missing in a copy. */
GPtrArray *
_khadim_tool_io_read_names (int          fd,
                            const char  *path,
                            GError     **error)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  int copy = openat (fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = copy >= 0 ? fdopendir (copy) : NULL;
  gboolean ok = dir != NULL && read_entries (dir, names);

  if (!ok)
    _khadim_tool_io_set_error (error, errno, "list", path);
  if (dir != NULL)
    closedir (dir);
  else if (copy >= 0)
    close (copy);
  if (ok && names->len > KHADIM_TOOL_IO_MAX_ENTRIES)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                   "“%s” holds more than %d files", path, KHADIM_TOOL_IO_MAX_ENTRIES);
      ok = FALSE;
    }

  return ok ? g_steal_pointer (&names) : NULL;
}

/* The same for a path. */
GPtrArray *
_khadim_tool_io_read_folder (const char  *path,
                             GError     **error)
{
  int fd = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  GPtrArray *names;

  if (fd < 0)
    {
      _khadim_tool_io_set_error (error, errno, "list", path);
      return NULL;
    }
  names = _khadim_tool_io_read_names (fd, path, error);
  close (fd);

  return names;
}

static int
open_folder (TreeWalk    *walk,
             int          parent,
             const char  *name,
             GError     **error)
{
  int fd = openat (parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

  if (fd < 0)
    _khadim_tool_io_set_error (error, errno, "open a folder in", walk->path);

  return fd;
}

/* Deleting -------------------------------------------------------------- */

static gboolean
delete_entry (TreeWalk    *walk,
              int          parent,
              const char  *name,
              guint        depth,
              gboolean     really,
              GError     **error);

static gboolean
delete_children (TreeWalk  *walk,
                 int        fd,
                 guint      depth,
                 gboolean   really,
                 GError   **error)
{
  g_autoptr(GPtrArray) names = _khadim_tool_io_read_names (fd, walk->path, error);

  if (names == NULL)
    return FALSE;
  for (guint i = 0; i < names->len; i++)
    {
      if (!delete_entry (walk, fd, g_ptr_array_index (names, i), depth + 1, really, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
delete_folder (TreeWalk    *walk,
               int          parent,
               const char  *name,
               guint        depth,
               gboolean     really,
               GError     **error)
{
  int fd = open_folder (walk, parent, name, error);
  gboolean ok;

  if (fd < 0)
    return FALSE;
  ok = delete_children (walk, fd, depth, really, error);
  close (fd);

  return ok;
}

/* One pass over a tree: with @really false it only looks for what would stop
 * the deletion half way. */
static gboolean
delete_entry (TreeWalk    *walk,
              int          parent,
              const char  *name,
              guint        depth,
              gboolean     really,
              GError     **error)
{
  struct stat st;
  gboolean is_folder;

  if (!tree_walk_enter (walk, depth, error))
    return FALSE;
  if (fstatat (parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "delete", walk->path);
      return FALSE;
    }

  is_folder = S_ISDIR (st.st_mode);
  if (depth == 0)
    walk->device = st.st_dev;
  if (st.st_dev != walk->device)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_DENIED,
                   "Cannot delete “%s”: another file system is mounted in it at “%s”",
                   walk->path, name);
      return FALSE;
    }
  if (is_folder && !delete_folder (walk, parent, name, depth, really, error))
    return FALSE;
  if (really && unlinkat (parent, name, is_folder ? AT_REMOVEDIR : 0) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "delete something in", walk->path);
      return FALSE;
    }

  return TRUE;
}

/* Deletes a file, a link (not what it points to) or a whole folder for good.
 * First looks at all of it, so that limits and mounts stop it before anything
 * is gone. */
gboolean
_khadim_tool_io_delete_tree (const char    *path,
                             GCancellable  *cancellable,
                             GError       **error)
{
  TreeWalk look = { cancellable, path };
  TreeWalk act = { cancellable, path };

  return delete_entry (&look, AT_FDCWD, path, 0, FALSE, error)
         && delete_entry (&act, AT_FDCWD, path, 0, TRUE, error);
}

/* Copying --------------------------------------------------------------- */

static void
count_copied (TreeWalk *walk,
              gssize    n)
{
  walk->n_bytes += n;
  if (walk->progress != NULL)
    walk->progress (walk->n_bytes, walk->n_entries, walk->progress_data);
}

/* The kernel copies (and shares blocks where the file system can); what it
 * does not take goes through a buffer, the end of the file too. */
static gboolean
copy_content (TreeWalk    *walk,
              int          from,
              int          to,
              const char  *to_path,
              GError     **error)
{
  g_autofree guint8 *chunk = g_malloc (COPY_CHUNK_BYTES);
  gboolean by_kernel = TRUE;

  while (!g_cancellable_set_error_if_cancelled (walk->cancellable, error))
    {
      gssize n = 0;

      if (by_kernel)
        n = copy_file_range (from, NULL, to, NULL, COPY_CHUNK_BYTES, 0);
      by_kernel = n > 0;
      if (!by_kernel)
        {
          n = TEMP_FAILURE_RETRY (read (from, chunk, COPY_CHUNK_BYTES));
          if (n < 0)
            {
              _khadim_tool_io_set_error (error, errno, "read a file of", walk->path);
              return FALSE;
            }
          if (n == 0)
            return TRUE;
          if (!_khadim_tool_io_write_all (to, chunk, (gsize) n, to_path, error))
            return FALSE;
        }
      count_copied (walk, n);
    }

  return FALSE;
}

static int
open_source (TreeWalk    *walk,
             int          parent,
             const char  *name,
             struct stat *st,
             GError     **error)
{
  int fd = openat (parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

  if (fd < 0 || fstat (fd, st) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "read a file of", walk->path);
      if (fd >= 0)
        close (fd);
      return -1;
    }
  if (!S_ISREG (st->st_mode))
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                   "Cannot copy “%s”: “%s” is no plain file", walk->path, name);
      close (fd);
      return -1;
    }

  return fd;
}

static gboolean
copy_to_open_file (TreeWalk    *walk,
                   int          parent,
                   const char  *name,
                   int          to,
                   const char  *to_path,
                   GError     **error)
{
  struct stat st;
  int from = open_source (walk, parent, name, &st, error);
  gboolean ok;

  if (from < 0)
    return FALSE;
  /* First, so that the copy is never open to more people than the original. */
  ok = fchmod (to, st.st_mode & 0777) == 0;
  if (!ok)
    _khadim_tool_io_set_error (error, errno, "set the mode of", to_path);
  else
    ok = copy_content (walk, from, to, to_path, error);
  close (from);

  return ok;
}

static gboolean
copy_link (TreeWalk    *walk,
           int          parent,
           const char  *name,
           int          to_parent,
           GError     **error)
{
  char target[PATH_MAX + 1] = { 0 };
  gssize n = readlinkat (parent, name, target, sizeof target - 1);

  if (n < 0 || symlinkat (target, to_parent, name) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "copy a link of", walk->path);
      return FALSE;
    }

  return TRUE;
}

static gboolean
copy_file (TreeWalk    *walk,
           int          parent,
           const char  *name,
           int          to_parent,
           GError     **error)
{
  int to = openat (to_parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  gboolean ok;

  if (to < 0)
    {
      _khadim_tool_io_set_error (error, errno, "write a copy of", name);
      return FALSE;
    }
  ok = copy_to_open_file (walk, parent, name, to, name, error);
  close (to);

  return ok;
}

static gboolean
copy_children (TreeWalk  *walk,
               int        from,
               int        to,
               guint      depth,
               GError   **error);

static gboolean
copy_folder (TreeWalk    *walk,
             int          parent,
             const char  *name,
             int          to_parent,
             guint        depth,
             GError     **error)
{
  int from = open_folder (walk, parent, name, error);
  struct stat st;
  gboolean ok = FALSE;
  int to;

  if (from < 0)
    return FALSE;

  to = mkdirat (to_parent, name, 0700) == 0
         ? openat (to_parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
  if (to < 0 || fstat (from, &st) != 0)
    _khadim_tool_io_set_error (error, errno, "make a copy of", name);
  else
    ok = copy_children (walk, from, to, depth, error);
  if (ok && fchmod (to, st.st_mode & 0777) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "set the mode of", name);
      ok = FALSE;
    }
  if (to >= 0)
    close (to);
  close (from);

  return ok;
}

static gboolean
copy_entry (TreeWalk    *walk,
            int          parent,
            const char  *name,
            int          to_parent,
            guint        depth,
            GError     **error)
{
  struct stat st;

  if (!tree_walk_enter (walk, depth, error))
    return FALSE;
  if (fstatat (parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "copy a file of", walk->path);
      return FALSE;
    }

  if (S_ISLNK (st.st_mode))
    return copy_link (walk, parent, name, to_parent, error);
  if (S_ISDIR (st.st_mode))
    return copy_folder (walk, parent, name, to_parent, depth, error);

  return copy_file (walk, parent, name, to_parent, error);
}

static gboolean
copy_children (TreeWalk  *walk,
               int        from,
               int        to,
               guint      depth,
               GError   **error)
{
  g_autoptr(GPtrArray) names = _khadim_tool_io_read_names (from, walk->path, error);

  if (names == NULL)
    return FALSE;
  for (guint i = 0; i < names->len; i++)
    {
      if (!copy_entry (walk, from, g_ptr_array_index (names, i), to, depth + 1, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
copy_whole_folder (TreeWalk        *walk,
                   KhadimToolTemp  *temp,
                   mode_t           mode,
                   GError         **error)
{
  int from = open_folder (walk, AT_FDCWD, walk->path, error);
  gboolean ok;

  if (from < 0)
    return FALSE;
  ok = copy_children (walk, from, temp->fd, 0, error);
  close (from);
  if (!ok)
    return FALSE;

  /* One flush for all the files instead of one for each. */
  if (fchmod (temp->fd, mode & 0777) != 0 || syncfs (temp->fd) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "copy", walk->path);
      return FALSE;
    }

  return TRUE;
}

/* Copies a file or a whole folder to @to, which takes its name when all of it
 * is on the disk. Links inside are copied as links. Modes are kept, owners
 * and times are new. */
gboolean
_khadim_tool_io_copy_tree (const char            *from,
                           const char            *to,
                           gboolean               overwrite,
                           KhadimToolIoProgress   progress,
                           gpointer               progress_data,
                           GCancellable          *cancellable,
                           GError               **error)
{
  g_auto(KhadimToolTemp) temp = { NULL, NULL, -1 };
  TreeWalk walk = { cancellable, from, .progress = progress, .progress_data = progress_data };
  struct stat st;

  if (lstat (from, &st) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "copy", from);
      return FALSE;
    }
  if (!_khadim_tool_temp_open (&temp, to, S_ISDIR (st.st_mode), error))
    return FALSE;
  if (S_ISDIR (st.st_mode)
        ? !copy_whole_folder (&walk, &temp, st.st_mode, error)
        : !copy_to_open_file (&walk, AT_FDCWD, from, temp.fd, to, error))
    return FALSE;

  return _khadim_tool_temp_commit (&temp, to, overwrite, error);
}
