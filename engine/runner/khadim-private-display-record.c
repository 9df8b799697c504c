/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-display-record"

#include "config.h"

#include "engine/runner/khadim-private-display-private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "engine/base/khadim-uuid.h"
#include "engine/json/khadim-json.h"

static gboolean
fail_errno (GError    **error,
            const char *what,
            const char *path)
{
  int saved = errno;

  g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_FAILED, "%s “%s”: %s",
               what, path, g_strerror (saved));
  return FALSE;
}

/* The folder of all records of this person, made when it is not there */
char *
_khadim_display_folder (void)
{
  char *folder = g_build_filename (g_get_user_runtime_dir (), "khadim", "displays", NULL);

  if (g_mkdir_with_parents (folder, 0700) != 0)
    g_debug ("Cannot make “%s”: %s", folder, g_strerror (errno));

  return folder;
}

/* The folder of one display's own files */
char *
_khadim_display_get_home (const char *id)
{
  g_autofree char *folder = _khadim_display_folder ();

  return g_build_filename (folder, id, NULL);
}

static char *
get_path (const char *id)
{
  g_autofree char *folder = _khadim_display_folder ();
  g_autofree char *name = g_strconcat (id, ".json", NULL);

  return g_build_filename (folder, name, NULL);
}

KhadimPrivateDisplay *
_khadim_display_record_new (void)
{
  KhadimPrivateDisplay *self = g_new0 (KhadimPrivateDisplay, 1);

  self->id = khadim_uuid7_new ();
  return self;
}

static char *
record_to_json (KhadimPrivateDisplay *self)
{
  JsonObject *object = json_object_new ();
  g_autoptr(JsonNode) node = NULL;

  json_object_set_string_member (object, "id", self->id);
  json_object_set_string_member (object, "display", self->name);
  json_object_set_string_member (object, "authority", self->authority);
  json_object_set_string_member (object, "bus", self->bus_address);
  json_object_set_int_member (object, "width_px", self->width_px);
  json_object_set_int_member (object, "height_px", self->height_px);
  json_object_set_int_member (object, "supervisor_pid", self->supervisor);
  json_object_set_int_member (object, "server_pid", self->server);
  json_object_set_int_member (object, "manager_pid", self->manager);
  json_object_set_int_member (object, "bus_pid", self->bus);
  json_object_set_int_member (object, "child_pid", self->child);

  node = khadim_json_object (object);
  return khadim_json_to_string (node);
}

/* Writes the record so that a reader sees the old one or the new one, both
 * locked: the lock is taken before the file gets its name. */
gboolean
_khadim_display_record_write (KhadimPrivateDisplay *self,
                              int                  *lock_fd,
                              GError              **error)
{
  g_autofree char *path = get_path (self->id);
  g_autofree char *temporary = g_strconcat (path, ".new", NULL);
  g_autofree char *text = record_to_json (self);
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
  gsize length = strlen (text);
  int fd = open (temporary, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

  if (fd < 0)
    return fail_errno (error, "Cannot write", temporary);
  if (fcntl (fd, F_OFD_SETLK, &lock) != 0 ||
      write (fd, text, length) != (gssize) length ||
      g_rename (temporary, path) != 0)
    {
      fail_errno (error, "Cannot write", path);
      close (fd);
      g_unlink (temporary);
      return FALSE;
    }

  if (*lock_fd >= 0)
    close (*lock_fd);
  *lock_fd = fd;
  return TRUE;
}

/* Removes the files of one display, and nothing that a link points to */
static void
remove_home (const char *home)
{
  g_autoptr(GDir) dir = g_dir_open (home, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (home, name, NULL);

      if (g_unlink (path) != 0 && errno == EISDIR)
        remove_home (path);
    }
  g_rmdir (home);
}

void
_khadim_display_record_remove (const char *id)
{
  g_autofree char *path = get_path (id);
  g_autofree char *home = _khadim_display_get_home (id);

  g_unlink (path);
  remove_home (home);
}

/* Whether somebody holds the lock of an open record */
static gboolean
is_held (int fd)
{
  struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

  return fcntl (fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static char *
read_all (int         fd,
          const char *path,
          GError    **error)
{
  g_autofree char *text = g_malloc (KHADIM_DISPLAY_RECORD_MAX_BYTES + 1);
  struct stat info;
  gssize length;

  if (fstat (fd, &info) != 0 || (length = read (fd, text, KHADIM_DISPLAY_RECORD_MAX_BYTES)) < 0)
    {
      fail_errno (error, "Cannot read", path);
      return NULL;
    }
  if (info.st_uid != geteuid () || info.st_size > KHADIM_DISPLAY_RECORD_MAX_BYTES)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                   "“%s” is not a record of this person’s displays", path);
      return NULL;
    }

  text[length] = '\0';
  return g_steal_pointer (&text);
}

static KhadimPrivateDisplay *
record_from_json (const char *text,
                  const char *path,
                  GError    **error)
{
  g_autoptr(JsonNode) node = khadim_json_parse (text, -1, NULL, error);
  g_autoptr(KhadimPrivateDisplay) self = NULL;
  JsonObject *object;

  if (node == NULL)
    {
      g_prefix_error (error, "“%s”: ", path);
      return NULL;
    }
  if (!JSON_NODE_HOLDS_OBJECT (node) ||
      khadim_json_get_string (json_node_get_object (node), "display", NULL) == NULL)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_BUSY,
                   "The display of “%s” is not ready yet", path);
      return NULL;
    }

  object = json_node_get_object (node);
  self = g_new0 (KhadimPrivateDisplay, 1);
  self->id = g_strdup (khadim_json_get_string (object, "id", ""));
  self->name = g_strdup (khadim_json_get_string (object, "display", ""));
  self->authority = g_strdup (khadim_json_get_string (object, "authority", ""));
  self->bus_address = g_strdup (khadim_json_get_string (object, "bus", ""));
  self->width_px = khadim_json_get_int (object, "width_px", 0);
  self->height_px = khadim_json_get_int (object, "height_px", 0);
  self->supervisor = khadim_json_get_int (object, "supervisor_pid", 0);
  self->server = khadim_json_get_int (object, "server_pid", 0);
  self->manager = khadim_json_get_int (object, "manager_pid", 0);
  self->bus = khadim_json_get_int (object, "bus_pid", 0);
  self->child = khadim_json_get_int (object, "child_pid", 0);
  return g_steal_pointer (&self);
}

/**
 * khadim_private_display_lookup:
 * @id: which display, as its command gets in `KHADIM_DISPLAY_ID`
 * @error: return location
 *
 * Looks up a display that is alive. Any thread.
 *
 * Returns: (transfer full): what is known of it, or %NULL with
 *   %KHADIM_ENGINE_ERROR_INVALID, %KHADIM_ENGINE_ERROR_NOT_FOUND (also when it
 *   has ended), %KHADIM_ENGINE_ERROR_BUSY (while it starts) or %KHADIM_ENGINE_ERROR_FAILED
 */
KhadimPrivateDisplay *
khadim_private_display_lookup (const char *id,
                               GError    **error)
{
  g_autofree char *path = NULL;
  g_autofree char *text = NULL;
  gboolean held;
  int fd;

  g_return_val_if_fail (id != NULL, NULL);

  if (!g_uuid_string_is_valid (id))
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                   "“%s” is not the id of a display", id);
      return NULL;
    }

  path = get_path (id);
  fd = open (path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 && errno != ENOENT)
    {
      fail_errno (error, "Cannot open", path);
      return NULL;
    }
  held = fd >= 0 && is_held (fd);
  text = held ? read_all (fd, path, error) : NULL;
  if (fd >= 0)
    close (fd);
  if (!held)
    g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_NOT_FOUND,
                 "There is no display “%s” any more", id);

  return text != NULL ? record_from_json (text, path, error) : NULL;
}

static GStrv
list_ids (GError **error)
{
  g_autofree char *folder = _khadim_display_folder ();
  g_autoptr(GDir) dir = g_dir_open (folder, 0, error);
  g_autoptr(GStrvBuilder) ids = g_strv_builder_new ();
  const char *name;

  if (dir == NULL)
    return NULL;
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *id = g_strndup (name, strcspn (name, "."));

      if (g_str_has_suffix (name, ".json") && g_uuid_string_is_valid (id))
        g_strv_builder_add (ids, id);
    }

  return g_strv_builder_end (ids);
}

/**
 * khadim_private_display_list:
 * @error: return location
 *
 * Lists the displays of this person that are alive. Any thread.
 *
 * Returns: (transfer container) (element-type KhadimPrivateDisplay): the
 *   displays in no order, or %NULL with a #GFileError
 */
GPtrArray *
khadim_private_display_list (GError **error)
{
  g_autoptr(GPtrArray) displays = NULL;
  g_auto(GStrv) ids = list_ids (error);

  if (ids == NULL)
    return NULL;

  displays = g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_private_display_free);
  for (guint i = 0; ids[i] != NULL; i++)
    {
      KhadimPrivateDisplay *display = khadim_private_display_lookup (ids[i], NULL);

      if (display != NULL)
        g_ptr_array_add (displays, display);
    }

  return g_steal_pointer (&displays);
}

static char *
get_session_path (const char *id)
{
  g_autofree char *home = _khadim_display_get_home (id);

  return g_build_filename (home, "session", NULL);
}

/**
 * khadim_private_display_note_session:
 * @id: a display that is alive
 * @session: the session that plays on it
 * @error: return location
 *
 * Notes which session plays on a display, so that a resume finds it. Any
 * thread.
 *
 * Returns: %FALSE with a #GFileError or the errors of
 *   khadim_private_display_lookup()
 */
gboolean
khadim_private_display_note_session (const char *id,
                                     const char *session,
                                     GError    **error)
{
  g_autoptr(KhadimPrivateDisplay) display = NULL;
  g_autofree char *path = NULL;

  g_return_val_if_fail (id != NULL, FALSE);
  g_return_val_if_fail (session != NULL, FALSE);

  display = khadim_private_display_lookup (id, error);
  if (display == NULL)
    return FALSE;

  path = get_session_path (id);
  return g_file_set_contents_full (path, session, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600,
                                   error);
}

/**
 * khadim_private_display_find_session:
 * @session: a session
 * @error: return location
 *
 * Finds the display that a session played on, if that is still alive. Any
 * thread.
 *
 * Returns: (transfer full): the display, or %NULL with
 *   %KHADIM_ENGINE_ERROR_NOT_FOUND or a #GFileError
 */
KhadimPrivateDisplay *
khadim_private_display_find_session (const char *session,
                                     GError    **error)
{
  g_autoptr(GPtrArray) displays = khadim_private_display_list (error);

  g_return_val_if_fail (session != NULL, NULL);

  for (guint i = 0; displays != NULL && i < displays->len; i++)
    {
      KhadimPrivateDisplay *display = g_ptr_array_index (displays, i);
      g_autofree char *path = get_session_path (display->id);
      g_autofree char *text = NULL;

      if (g_file_get_contents (path, &text, NULL, NULL) && strcmp (text, session) == 0)
        return khadim_private_display_copy (display);
    }
  if (displays != NULL)
    g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_NOT_FOUND,
                 "The session “%s” has no display any more", session);

  return NULL;
}

/* Removes what displays left behind whose supervisor was killed */
void
_khadim_display_record_sweep (void)
{
  g_auto(GStrv) ids = list_ids (NULL);

  for (guint i = 0; ids != NULL && ids[i] != NULL; i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(KhadimPrivateDisplay) display = khadim_private_display_lookup (ids[i], &error);

      if (g_error_matches (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_NOT_FOUND))
        _khadim_display_record_remove (ids[i]);
    }
}
