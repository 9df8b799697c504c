/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-owner-lock"

#include "config.h"

#include "engine/store/khadim-owner-lock-private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <gio/gio.h>

#include "engine/base/khadim-fd-private.h"
#include "engine/base/khadim-uuid.h"
#include "engine/store/khadim-store.h"

#define LOCK_SUFFIX ".lock"

/* KhadimOwnerLock: says that an engine lives. The kernel frees an
 * open-file-description lock (fcntl(2), F_OFD_SETLK) when the last copy of the
 * descriptor is closed, so also when the process is killed. */
struct _KhadimOwnerLock
{
  KhadimFd fd;

  /* Owned */
  char *id;
  char *path;
};

static char *
lock_path (const char *folder,
           const char *owner_id)
{
  g_autofree char *name = g_strconcat (owner_id, LOCK_SUFFIX, NULL);

  return g_build_filename (folder, name, NULL);
}

/* An owner holds a write lock. Those who look or clean use read locks, so that
 * none of them takes another for an owner. */
static int
lock_control (int    fd,
              int    command,
              short *type)
{
  struct flock lock = { .l_type = *type, .l_whence = SEEK_SET };
  int result = fcntl (fd, command, &lock);

  *type = lock.l_type;

  return result;
}

/* Whether the name still leads to the open file: cleaners remove dead ones. */
static gboolean
is_same_file (int         fd,
              const char *path)
{
  struct stat open_file;
  struct stat named_file;

  return fstat (fd, &open_file) == 0
         && stat (path, &named_file) == 0
         && open_file.st_dev == named_file.st_dev
         && open_file.st_ino == named_file.st_ino;
}

static gboolean
set_error (GError     **error,
           const char  *path,
           int          errsv)
{
  gboolean full = errsv == ENOSPC || errsv == EDQUOT;

  g_set_error (error, KHADIM_STORE_ERROR,
               full ? KHADIM_STORE_ERROR_FULL : KHADIM_STORE_ERROR_FAILED,
               "Locking “%s”: %s", path, g_strerror (errsv));

  return FALSE;
}

/* A cleaner may take the new file for a dead one before it is locked; then it
 * is made again. */
static gboolean
take_lock (KhadimOwnerLock  *self,
           GError          **error)
{
  for (;;)
    {
      short type = F_WRLCK;
      g_auto(KhadimFd) fd = open (self->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

      if (fd < 0)
        return set_error (error, self->path, errno);
      if (lock_control (fd, F_OFD_SETLKW, &type) < 0)
        return set_error (error, self->path, errno);
      if (is_same_file (fd, self->path))
        {
          self->fd = _khadim_fd_steal (&fd);
          return TRUE;
        }
    }
}

/*< private >
 * _khadim_owner_lock_new:
 * @folder: where the locks of all engines lie
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Makes a name for this engine and holds its lock until the object is freed or
 * the process ends. A child that forks without exec keeps it held. Any thread.
 *
 * Returns: (transfer full): the lock
 */
KhadimOwnerLock *
_khadim_owner_lock_new (const char  *folder,
                        GError     **error)
{
  g_autoptr(KhadimOwnerLock) self = g_new0 (KhadimOwnerLock, 1);

  self->fd = -1;
  self->id = khadim_uuid7_new ();
  self->path = lock_path (folder, self->id);
  if (!take_lock (self, error))
    return NULL;

  return g_steal_pointer (&self);
}

/*< private >
 * _khadim_owner_lock_free:
 * @self: (nullable) (transfer full): a lock
 *
 * Removes the file and frees the lock. Any thread.
 */
void
_khadim_owner_lock_free (KhadimOwnerLock *self)
{
  if (self == NULL)
    return;

  if (self->fd >= 0)
    {
      unlink (self->path);
      close (self->fd);
    }
  g_free (self->id);
  g_free (self->path);
  g_free (self);
}

/*< private >
 * _khadim_owner_lock_get_id:
 * @self: a lock
 *
 * Returns: (transfer none): the name of this engine, a UUID
 */
const char *
_khadim_owner_lock_get_id (KhadimOwnerLock *self)
{
  return self->id;
}

/*< private >
 * _khadim_owner_lock_is_live:
 * @folder: where the locks of all engines lie
 * @owner_id: (nullable): the name of an engine
 *
 * Looks without taking the lock, so two who look do not see each other. A lock
 * that cannot be looked at counts as held: taking over is what cannot be undone.
 * Any thread.
 *
 * Returns: whether that engine still runs
 */
gboolean
_khadim_owner_lock_is_live (const char *folder,
                            const char *owner_id)
{
  g_autofree char *path = NULL;
  g_auto(KhadimFd) fd = -1;
  short type = F_RDLCK;

  if (owner_id == NULL || !g_uuid_string_is_valid (owner_id))
    return FALSE;

  path = lock_path (folder, owner_id);
  fd = open (path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0)
    return errno != ENOENT;
  if (lock_control (fd, F_OFD_GETLK, &type) < 0)
    return TRUE;

  return type != F_UNLCK;
}

static void
clean_one (const char *path)
{
  g_auto(KhadimFd) fd = open (path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  short type = F_RDLCK;

  if (fd >= 0 && lock_control (fd, F_OFD_SETLK, &type) == 0 && is_same_file (fd, path))
    unlink (path);
}

/*< private >
 * _khadim_owner_lock_clean:
 * @folder: where the locks of all engines lie
 *
 * Removes the files of engines that have ended. Any thread.
 */
void
_khadim_owner_lock_clean (const char *folder)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (g_str_has_suffix (name, LOCK_SUFFIX))
        clean_one (path);
    }
}
