/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-tool-io"

#include "config.h"

#include "engine/tool/khadim-tool-io-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_CHUNK_BYTES (1024 * 1024)

typedef struct
{
  int number;
  KhadimToolError code;
  const char *words;
} ErrnoWords;

static const ErrnoWords errno_words[] = {
  { ENOENT, KHADIM_TOOL_ERROR_NOT_FOUND, "it does not exist" },
  { ENOTDIR, KHADIM_TOOL_ERROR_NOT_FOUND, "part of the path is no folder" },
  { EACCES, KHADIM_TOOL_ERROR_DENIED, "the permissions of the file forbid it" },
  { EPERM, KHADIM_TOOL_ERROR_DENIED, "the system forbids it" },
  { EROFS, KHADIM_TOOL_ERROR_DENIED, "the file system is read-only" },
  { EEXIST, KHADIM_TOOL_ERROR_TOOL, "it exists already" },
  { EISDIR, KHADIM_TOOL_ERROR_TOOL, "it is a folder" },
  { ENOTEMPTY, KHADIM_TOOL_ERROR_TOOL, "it is a folder that is not empty" },
  { ENOSPC, KHADIM_TOOL_ERROR_TOOL, "the disk is full" },
  { EDQUOT, KHADIM_TOOL_ERROR_TOOL, "the disk is full for this user (quota)" },
  { EFBIG, KHADIM_TOOL_ERROR_LIMIT, "the file would be larger than allowed" },
  { ENAMETOOLONG, KHADIM_TOOL_ERROR_LIMIT, "the name is too long" },
  { EMFILE, KHADIM_TOOL_ERROR_LIMIT, "too many files are open" },
  { ELOOP, KHADIM_TOOL_ERROR_TOOL, "it is a symbolic link, or a loop of them" },
};

/* The one place where the numbers of the system become the tools' errors:
 * “Cannot DOING “PATH”: …”. */
void
_khadim_tool_io_set_error (GError     **error,
                           int          saved_errno,
                           const char  *doing,
                           const char  *path)
{
  KhadimToolError code = KHADIM_TOOL_ERROR_TOOL;
  const char *words = g_strerror (saved_errno);
  g_autofree char *shown = g_filename_display_name (path);

  for (guint i = 0; i < G_N_ELEMENTS (errno_words); i++)
    {
      if (errno_words[i].number == saved_errno)
        {
          code = errno_words[i].code;
          words = errno_words[i].words;
        }
    }
  g_set_error (error, KHADIM_TOOL_ERROR, code, "Cannot %s “%s”: %s", doing, shown, words);
}

static gboolean
read_all (int            fd,
          GByteArray    *content,
          gsize          max_bytes,
          const char    *path,
          GCancellable  *cancellable,
          GError       **error)
{
  g_autofree guint8 *chunk = g_malloc (READ_CHUNK_BYTES);

  while (!g_cancellable_set_error_if_cancelled (cancellable, error))
    {
      gssize n = TEMP_FAILURE_RETRY (read (fd, chunk, READ_CHUNK_BYTES));

      if (n < 0)
        {
          _khadim_tool_io_set_error (error, errno, "read", path);
          return FALSE;
        }
      if (n == 0)
        return TRUE;
      if (content->len + (gsize) n > max_bytes)
        {
          g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                       "“%s” is larger than %" G_GSIZE_FORMAT " bytes, the most that is read",
                       path, max_bytes);
          return FALSE;
        }
      g_byte_array_append (content, chunk, (guint) n);
    }

  return FALSE;
}

/* Reads a whole file; one that is no plain file (a pipe, a device) could keep
 * us for ever and is refused. */
GBytes *
_khadim_tool_io_read (const char    *path,
                      gsize          max_bytes,
                      GCancellable  *cancellable,
                      GError       **error)
{
  g_autoptr(GByteArray) content = g_byte_array_new ();
  struct stat st;
  gboolean ok = FALSE;
  int fd = open (path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

  if (fd < 0)
    {
      _khadim_tool_io_set_error (error, errno, "read", path);
      return NULL;
    }

  if (fstat (fd, &st) != 0)
    _khadim_tool_io_set_error (error, errno, "read", path);
  else if (S_ISDIR (st.st_mode))
    _khadim_tool_io_set_error (error, EISDIR, "read", path);
  else if (!S_ISREG (st.st_mode))
    g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                 "Cannot read “%s”: it is no plain file", path);
  else
    ok = read_all (fd, content, max_bytes, path, cancellable, error);
  close (fd);

  return ok ? g_byte_array_free_to_bytes (g_steal_pointer (&content)) : NULL;
}

gboolean
_khadim_tool_io_write_all (int          fd,
                           const void  *data,
                           gsize        size,
                           const char  *path,
                           GError     **error)
{
  const guint8 *next = data;

  while (size > 0)
    {
      gssize n = TEMP_FAILURE_RETRY (write (fd, next, size));

      if (n < 0)
        {
          _khadim_tool_io_set_error (error, errno, "write", path);
          return FALSE;
        }
      next += n;
      size -= (gsize) n;
    }

  return TRUE;
}

/* Makes sure that the names in a folder are on the disk. */
gboolean
_khadim_tool_io_sync_folder (const char  *folder,
                             GError     **error)
{
  int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int saved_errno = 0;

  /* EINVAL: the file system has nothing to flush (fsync(2)). */
  if (fd < 0 || (fsync (fd) != 0 && errno != EINVAL))
    saved_errno = errno;
  if (fd >= 0)
    close (fd);
  if (saved_errno != 0)
    _khadim_tool_io_set_error (error, saved_errno, "flush the folder", folder);

  return saved_errno == 0;
}

static char *
nearest_folder (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  struct stat st;

  while (lstat (folder, &st) != 0 && errno == ENOENT && !g_str_equal (folder, "/"))
    {
      g_autofree char *above = g_path_get_dirname (folder);

      g_free (folder);
      folder = g_steal_pointer (&above);
    }

  return g_steal_pointer (&folder);
}

/* Whether a file could be made or replaced at @path, without doing it. */
gboolean
_khadim_tool_io_check_target (const char  *path,
                              gboolean     overwrite,
                              gboolean     make_folders,
                              GError     **error)
{
  g_autofree char *folder = make_folders ? nearest_folder (path) : g_path_get_dirname (path);
  struct stat st;

  if (lstat (path, &st) == 0)
    {
      if (!overwrite)
        _khadim_tool_io_set_error (error, EEXIST, "make", path);
      else if (S_ISDIR (st.st_mode))
        _khadim_tool_io_set_error (error, EISDIR, "write", path);
      else if (!S_ISREG (st.st_mode))
        g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                     "Cannot write “%s”: it is no plain file", path);
      if (!overwrite || !S_ISREG (st.st_mode))
        return FALSE;
    }

  if (stat (folder, &st) != 0)
    _khadim_tool_io_set_error (error, errno, "write in", folder);
  else if (!S_ISDIR (st.st_mode))
    _khadim_tool_io_set_error (error, ENOTDIR, "write in", folder);
  else if (access (folder, W_OK | X_OK) != 0)
    _khadim_tool_io_set_error (error, errno, "write in", folder);
  else
    return TRUE;

  return FALSE;
}

/* Mode and owner of what is replaced stay, from before the first byte of the
 * new content, which is nobody else's business either. The owner can change
 * only if the system lets us; the mode must not suffer from that, so it comes
 * last. */
static gboolean
keep_mode (int          fd,
           const char  *path,
           GError     **error)
{
  struct stat old;

  if (lstat (path, &old) != 0)
    return TRUE;

  if (fchown (fd, old.st_uid, old.st_gid) != 0)
    g_debug ("The owner of “%s” cannot be kept: %s", path, g_strerror (errno));
  if (fchmod (fd, old.st_mode & 07777) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "keep the mode of", path);
      return FALSE;
    }

  return TRUE;
}

/* Makes or replaces the file @path as a whole: temporary file, fsync, rename,
 * fsync of the folder. After a crash, a full disk or an error the old content
 * is there, whole. */
gboolean
_khadim_tool_io_replace (const char    *path,
                         GBytes        *content,
                         gboolean       overwrite,
                         GCancellable  *cancellable,
                         GError       **error)
{
  g_auto(KhadimToolTemp) temp = { NULL, NULL, -1 };

  return _khadim_tool_io_check_target (path, overwrite, FALSE, error)
         && !g_cancellable_set_error_if_cancelled (cancellable, error)
         && _khadim_tool_temp_open (&temp, path, FALSE, error)
         && keep_mode (temp.fd, path, error)
         && _khadim_tool_io_write_all (temp.fd, g_bytes_get_data (content, NULL),
                                       g_bytes_get_size (content), path, error)
         && _khadim_tool_temp_commit (&temp, path, overwrite, error);
}

/* Takes back a part that did not fit, unless another wrote behind it. */
static void
take_back (int    fd,
           off_t  old_size,
           gsize  wanted)
{
  struct stat st;

  if (fstat (fd, &st) == 0
      && st.st_size > old_size
      && (gsize) (st.st_size - old_size) < wanted
      && ftruncate (fd, old_size) != 0)
    g_debug ("Taking back a part of an append: %s", g_strerror (errno));
}

/* Adds to the end of a file, which is made if it is not there, and waits for
 * the disk. What does not fit as a whole is not added. */
gboolean
_khadim_tool_io_append (const char  *path,
                        GBytes      *content,
                        GError     **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  gsize size = g_bytes_get_size (content);
  struct stat st;
  gboolean ok;
  int fd = open (path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);

  if (fd < 0 || fstat (fd, &st) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "append to", path);
      if (fd >= 0)
        close (fd);
      return FALSE;
    }

  ok = _khadim_tool_io_write_all (fd, g_bytes_get_data (content, NULL), size, path, error);
  if (!ok)
    take_back (fd, st.st_size, size);
  else if (fsync (fd) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "append to", path);
      ok = FALSE;
    }
  close (fd);

  return ok && _khadim_tool_io_sync_folder (folder, error);
}

/* Makes @path and what is missing above it, each name on the disk. */
gboolean
_khadim_tool_io_make_folders (const char  *path,
                              gboolean    *out_made,
                              GError     **error)
{
  g_autofree char *above = g_path_get_dirname (path);
  struct stat st;

  if (stat (path, &st) == 0)
    {
      if (S_ISDIR (st.st_mode))
        return TRUE;
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                   "Cannot make the folder “%s”: a file has that name", path);
      return FALSE;
    }
  if (errno != ENOENT)
    {
      _khadim_tool_io_set_error (error, errno, "make the folder", path);
      return FALSE;
    }

  if (!_khadim_tool_io_make_folders (above, NULL, error))
    return FALSE;
  if (mkdir (path, 0777) != 0 && errno != EEXIST)
    {
      _khadim_tool_io_set_error (error, errno, "make the folder", path);
      return FALSE;
    }
  if (out_made != NULL)
    *out_made = TRUE;

  return _khadim_tool_io_sync_folder (above, error);
}
