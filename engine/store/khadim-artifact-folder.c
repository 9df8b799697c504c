/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-artifact"

#include "config.h"

#include "engine/store/khadim-artifact-folder-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <gio/gio.h>

#include "engine/base/khadim-fd-private.h"
#include "engine/store/khadim-owner-lock-private.h"
#include "engine/store/khadim-store.h"

#define SUM_CHARS 64
#define NEW_PREFIX ".new-"

static gboolean
set_error (GError     **error,
           const char  *path,
           int          errsv)
{
  gboolean full = errsv == ENOSPC || errsv == EDQUOT || errsv == EFBIG;

  g_set_error (error, KHADIM_STORE_ERROR,
               full ? KHADIM_STORE_ERROR_FULL : KHADIM_STORE_ERROR_FAILED,
               "Writing “%s”: %s", path, g_strerror (errsv));

  return FALSE;
}

/*< private >
 * _khadim_artifact_is_sum:
 * @sha256: text from anywhere
 *
 * Returns: whether it is 64 lower-case hexadecimal digits, and so safe as a
 *   file name
 */
gboolean
_khadim_artifact_is_sum (const char *sha256)
{
  return strlen (sha256) == SUM_CHARS
         && strspn (sha256, "0123456789abcdef") == SUM_CHARS;
}

char *
_khadim_artifact_path (const char *folder,
                       const char *sha256)
{
  return g_build_filename (folder, sha256, NULL);
}

static gboolean
write_all (int           fd,
           const guint8 *data,
           gsize         size)
{
  gsize done = 0;

  while (done < size)
    {
      gssize n = write (fd, data + done, size - done);

      if (n >= 0)
        done += (gsize) n;
      else if (errno != EINTR)
        return FALSE;
    }

  return TRUE;
}

static gboolean
sync_path (const char  *path,
           int          flags,
           GError     **error)
{
  g_auto(KhadimFd) fd = open (path, O_RDONLY | O_CLOEXEC | flags);

  if (fd < 0 || fsync (fd) != 0)
    return set_error (error, path, errno);

  return TRUE;
}

static gboolean
write_new (const char  *path,
           GBytes      *bytes,
           gboolean     sync,
           GError     **error)
{
  g_auto(KhadimFd) fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  if (fd < 0 || !write_all (fd, data, size) || (sync && fsync (fd) != 0))
    return set_error (error, path, errno);

  return TRUE;
}

/* A file of another length is what a loss of power left. */
static gboolean
is_there (const char *path,
          GBytes     *bytes)
{
  struct stat info;

  return stat (path, &info) == 0
         && S_ISREG (info.st_mode)
         && (gsize) info.st_size == g_bytes_get_size (bytes);
}

/*< private >
 * _khadim_artifact_write:
 * @folder: where artifacts lie
 * @owner_id: the name of this engine
 * @sha256: the sum of @bytes
 * @bytes: the content
 * @sync: whether it has to outlive a loss of power
 * @out_made: (out): whether it was not there before and is now, which may be so
 *   although it could not be flushed
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Puts content under its sum: whole or not at all. Content that is there is
 * used again. One thread per engine.
 *
 * Returns: whether it is there now
 */
gboolean
_khadim_artifact_write (const char  *folder,
                        const char  *owner_id,
                        const char  *sha256,
                        GBytes      *bytes,
                        gboolean     sync,
                        gboolean    *out_made,
                        GError     **error)
{
  g_autofree char *path = _khadim_artifact_path (folder, sha256);
  g_autofree char *new_name = g_strconcat (NEW_PREFIX, owner_id, NULL);
  g_autofree char *new_path = g_build_filename (folder, new_name, NULL);

  *out_made = FALSE;
  if (is_there (path, bytes))
    return !sync || (sync_path (path, 0, error) && sync_path (folder, O_DIRECTORY, error));

  if (!write_new (new_path, bytes, sync, error))
    {
      unlink (new_path);
      return FALSE;
    }
  if (rename (new_path, path) != 0)
    {
      set_error (error, path, errno);
      unlink (new_path);
      return FALSE;
    }
  *out_made = TRUE;

  return !sync || sync_path (folder, O_DIRECTORY, error);
}

/*< private >
 * _khadim_artifact_clean:
 * @folder: a folder of the store
 * @engines_folder: where the locks of all engines lie
 * @prefix: (nullable): what stands before the engine's name in the names of
 *   unfinished files, %NULL for those of artifacts
 *
 * Removes what engines that have ended left unfinished.
 */
void
_khadim_artifact_clean (const char *folder,
                        const char *engines_folder,
                        const char *prefix)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  if (prefix == NULL)
    prefix = NEW_PREFIX;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *owner_id = NULL;
      g_autofree char *path = NULL;

      if (!g_str_has_prefix (name, prefix))
        continue;

      /* SQLite's own files of an unfinished database have a suffix. */
      owner_id = g_strndup (name + strlen (prefix), 36);
      path = g_build_filename (folder, name, NULL);
      if (!_khadim_owner_lock_is_live (engines_folder, owner_id))
        unlink (path);
    }
}
