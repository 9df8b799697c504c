/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-tool-temp"

#include "config.h"

#include "engine/tool/khadim-tool-io-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is made under a temporary name beside its place and renamed when it is
 * complete and on the disk: whoever looks, and whenever the process dies,
 * finds the old or the new, never a mix (rename(2)). */

#define TEMP_PREFIX ".khadim-"
#define TEMP_SUFFIX ".tmp"
#define TEMP_RANDOM_CHARS 8
#define TEMP_ATTEMPTS 100

gboolean
_khadim_tool_io_is_temp (const char *name)
{
  return strlen (name) == strlen (TEMP_PREFIX) + TEMP_RANDOM_CHARS + strlen (TEMP_SUFFIX)
         && g_str_has_prefix (name, TEMP_PREFIX)
         && g_str_has_suffix (name, TEMP_SUFFIX);
}

static char *
temp_name (void)
{
  static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  char random[TEMP_RANDOM_CHARS + 1] = { 0 };

  for (guint i = 0; i < TEMP_RANDOM_CHARS; i++)
    random[i] = alphabet[g_random_int_range (0, sizeof alphabet - 1)];

  return g_strconcat (TEMP_PREFIX, random, TEMP_SUFFIX, NULL);
}

/* Removes @path if nobody is at work on it: who is holds its lock. */
static void
remove_leftover (const char *path)
{
  g_autoptr(GError) error = NULL;
  struct stat st;
  int fd;

  if (lstat (path, &st) != 0
      || (!S_ISREG (st.st_mode) && !S_ISDIR (st.st_mode))
      || st.st_uid != geteuid ()
      || st.st_mtime > g_get_real_time () / G_USEC_PER_SEC - KHADIM_TOOL_IO_LEFTOVER_AGE_S)
    return;

  fd = open (path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return;
  if (flock (fd, LOCK_EX | LOCK_NB) == 0
      && !_khadim_tool_io_delete_tree (path, NULL, &error))
    g_debug ("Removing a leftover: %s", error->message);
  close (fd);
}

static void
remove_leftovers (const char *folder)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n_seen = 0;

  while (dir != NULL
         && n_seen++ < KHADIM_TOOL_IO_LEFTOVER_SCAN
         && (name = g_dir_read_name (dir)) != NULL)
    {
      if (_khadim_tool_io_is_temp (name))
        {
          g_autofree char *path = g_build_filename (folder, name, NULL);

          remove_leftover (path);
        }
    }
}

static int
temp_create (const char *path,
             gboolean    is_folder)
{
  if (!is_folder)
    return open (path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

  if (mkdir (path, 0700) != 0)
    return -1;

  return open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Starts what is to become @path. A file gets the mode that the umask leaves;
 * a folder is closed to others until it is complete. */
gboolean
_khadim_tool_temp_open (KhadimToolTemp  *temp,
                        const char      *path,
                        gboolean         is_folder,
                        GError         **error)
{
  temp->fd = -1;
  temp->folder = g_path_get_dirname (path);
  remove_leftovers (temp->folder);

  for (guint i = 0; i < TEMP_ATTEMPTS && temp->fd < 0; i++)
    {
      g_autofree char *name = temp_name ();

      g_free (temp->path);
      temp->path = g_build_filename (temp->folder, name, NULL);
      temp->fd = temp_create (temp->path, is_folder);
      if (temp->fd < 0 && errno != EEXIST)
        break;
    }
  if (temp->fd < 0)
    {
      _khadim_tool_io_set_error (error, errno, "write in", temp->folder);
      g_clear_pointer (&temp->path, g_free);
      return FALSE;
    }

  /* Only tells others that it is in use: one on a file system without locks
   * is protected by its age alone. */
  if (flock (temp->fd, LOCK_EX | LOCK_NB) != 0)
    g_debug ("Locking “%s”: %s", temp->path, g_strerror (errno));

  return TRUE;
}

static int
rename_no_replace (const char *from,
                   const char *to)
{
  struct stat st;

  if (renameat2 (AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return -1;

  /* A file system without the flag. link(2) is as atomic, but for files only;
   * for the rest a look has to do. */
  if (link (from, to) == 0)
    return unlink (from);
  if (errno == EEXIST)
    return -1;
  if (lstat (to, &st) == 0)
    {
      errno = EEXIST;
      return -1;
    }

  return rename (from, to);
}

/* rename(2), which on request refuses to replace anything. Does not wait for
 * the disk. %FALSE with errno in @error's message; EXDEV is left to the
 * caller as %G_IO_ERROR_NOT_SUPPORTED. */
gboolean
_khadim_tool_io_rename (const char  *from,
                        const char  *to,
                        gboolean     overwrite,
                        GError     **error)
{
  if ((overwrite ? rename (from, to) : rename_no_replace (from, to)) == 0)
    return TRUE;

  if (errno == EXDEV)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                 "“%s” is on another file system than “%s”", to, from);
  else
    _khadim_tool_io_set_error (error, errno, "make", to);

  return FALSE;
}

/* Gives the finished thing its name; all of it is on the disk then. */
gboolean
_khadim_tool_temp_commit (KhadimToolTemp  *temp,
                          const char      *path,
                          gboolean         overwrite,
                          GError         **error)
{
  if (fsync (temp->fd) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "write", path);
      return FALSE;
    }
  if (!_khadim_tool_io_rename (temp->path, path, overwrite, error))
    return FALSE;
  g_clear_pointer (&temp->path, g_free);

  return _khadim_tool_io_sync_folder (temp->folder, error);
}

/* Removes what did not get its name. */
void
_khadim_tool_temp_clear (KhadimToolTemp *temp)
{
  g_autoptr(GError) error = NULL;

  if (temp->path != NULL && !_khadim_tool_io_delete_tree (temp->path, NULL, &error))
    g_debug ("Removing what was not finished: %s", error->message);
  if (temp->folder != NULL && temp->fd >= 0)
    close (temp->fd);
  temp->fd = -1;
  g_clear_pointer (&temp->path, g_free);
  g_clear_pointer (&temp->folder, g_free);
}
