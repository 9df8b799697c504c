/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-tool-path"

#include "config.h"

#include "engine/tool/khadim-tool-path.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* As many as the kernel follows (path_resolution(7)) */
#define MAX_LINKS 40

/* A walk over the names of a path as the kernel makes it: `place` is always a
 * path without symbolic links, `rest` holds the names still to go. */
typedef struct
{
  GString *place;
  GQueue rest;
  guint n_links;
  gboolean missing; /* `place` does not exist: nothing below it can */
} PathWalk;

static void
path_walk_clear (PathWalk *walk)
{
  g_string_free (walk->place, TRUE);
  g_queue_clear_full (&walk->rest, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PathWalk, path_walk_clear)

/* Puts the names of @path before what is left to walk. */
static void
path_walk_push (PathWalk   *walk,
                const char *path)
{
  g_auto(GStrv) names = g_strsplit (path, "/", -1);

  for (guint i = g_strv_length (names); i > 0; i--)
    {
      if (*names[i - 1] != '\0' && !g_str_equal (names[i - 1], "."))
        g_queue_push_head (&walk->rest, g_strdup (names[i - 1]));
    }
}

static void
path_walk_up (PathWalk *walk)
{
  const char *slash = strrchr (walk->place->str, '/');

  g_string_truncate (walk->place, slash != NULL ? (gsize) (slash - walk->place->str) : 0);
}

/* Replaces the link that `place` is by what it points to. */
static gboolean
path_walk_link (PathWalk  *walk,
                GError   **error)
{
  g_autofree char *target = NULL;

  if (++walk->n_links > MAX_LINKS)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                   "“%s” is a loop of symbolic links", walk->place->str);
      return FALSE;
    }

  target = g_file_read_link (walk->place->str, error);
  if (target == NULL)
    return FALSE;

  if (*target == '/')
    g_string_truncate (walk->place, 0);
  else
    path_walk_up (walk);
  path_walk_push (walk, target);

  return TRUE;
}

static gboolean
path_walk_step (PathWalk    *walk,
                const char  *name,
                gboolean     follow_last,
                GError     **error)
{
  struct stat st;

  if (g_str_equal (name, ".."))
    {
      if (walk->missing)
        {
          g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_NOT_FOUND,
                       "“%s” is no folder, so nothing is above it", walk->place->str);
          return FALSE;
        }
      path_walk_up (walk);
      return TRUE;
    }

  g_string_append_c (walk->place, '/');
  g_string_append (walk->place, name);
  if (walk->missing)
    return TRUE;

  if (lstat (walk->place->str, &st) != 0)
    walk->missing = TRUE;
  else if (S_ISLNK (st.st_mode) && (follow_last || !g_queue_is_empty (&walk->rest)))
    return path_walk_link (walk, error);
  else
    walk->missing = !S_ISDIR (st.st_mode);

  return TRUE;
}

/* The path that the kernel would reach from @start by @path: no links, no
 * `.` or `..`, no end slash. What does not exist yet is taken as it is. */
static char *
walk_path (const char  *start,
           const char  *path,
           gboolean     follow_last,
           GError     **error)
{
  g_auto(PathWalk) walk = { g_string_new (NULL), G_QUEUE_INIT };
  char *name;

  path_walk_push (&walk, path);
  if (*path != '/')
    path_walk_push (&walk, start);
  /* `link/` and `link/.` are what the link points to. */
  follow_last = follow_last || g_str_has_suffix (path, "/") || g_str_has_suffix (path, "/.");

  while ((name = g_queue_pop_head (&walk.rest)) != NULL)
    {
      g_autofree char *owned = name;

      if (!path_walk_step (&walk, owned, follow_last, error))
        return NULL;
    }

  return g_strdup (walk.place->len > 0 ? walk.place->str : "/");
}

/* Whether the names of @path alone climb above where they start, whatever the
 * file system says. */
static gboolean
climbs_out (const char *path)
{
  g_auto(GStrv) names = g_strsplit (path, "/", -1);
  int depth = 0;

  for (guint i = 0; names[i] != NULL; i++)
    {
      if (g_str_equal (names[i], ".."))
        depth--;
      else if (*names[i] != '\0' && !g_str_equal (names[i], "."))
        depth++;
      if (depth < 0)
        return TRUE;
    }

  return FALSE;
}

static char *
resolve_in_folder (const char  *path,
                   gboolean     follow_last,
                   const char  *folder,
                   const char  *folder_name,
                   GError     **error)
{
  g_autofree char *real_folder = walk_path ("/", folder, TRUE, error);
  g_autofree char *real_path = NULL;

  if (real_folder == NULL)
    return NULL;

  real_path = walk_path (real_folder, path, follow_last, error);
  if (real_path == NULL)
    return NULL;

  if (climbs_out (path) || !khadim_tool_path_is_within (real_path, real_folder))
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_DENIED,
                   "“%s” leads out of the %s to “%s”; "
                   "give the absolute path if that is meant",
                   path, folder_name, real_path);
      return NULL;
    }

  return g_steal_pointer (&real_path);
}

static gboolean
exists (const char *path)
{
  struct stat st;

  return stat (path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

static char *
resolve_for_reading (const char  *path,
                     const char  *work_dir,
                     const char  *assets_dir,
                     GError     **error)
{
  g_autofree char *in_work = resolve_in_folder (path, TRUE, work_dir, "work folder", error);
  g_autofree char *in_assets = NULL;

  if (in_work == NULL)
    return NULL;
  if (assets_dir == NULL || exists (in_work))
    return g_steal_pointer (&in_work);

  in_assets = resolve_in_folder (path, TRUE, assets_dir, "automation's folder", error);
  if (in_assets == NULL)
    return NULL;

  return exists (in_assets) ? g_steal_pointer (&in_assets) : g_steal_pointer (&in_work);
}

static gboolean
check_form (const char  *path,
            GError     **error)
{
  if (*path == '\0')
    {
      g_set_error_literal (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                           "The path is empty");
      return FALSE;
    }
  if (strlen (path) > KHADIM_TOOL_PATH_MAX_BYTES)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                   "The path “%.40s…” is longer than %d bytes",
                   path, KHADIM_TOOL_PATH_MAX_BYTES);
      return FALSE;
    }

  return TRUE;
}

/**
 * khadim_tool_path_check:
 * @path: a path as a step gives it
 * @error: return location for a %KHADIM_TOOL_ERROR
 *
 * Finds what is wrong with a path before any file system is asked. Any thread.
 *
 * Returns: whether khadim_tool_path_resolve() may take @path; if not,
 *   %KHADIM_TOOL_ERROR_TOOL if it is empty, %KHADIM_TOOL_ERROR_LIMIT if it is
 *   too long, %KHADIM_TOOL_ERROR_DENIED if it is relative and its names lead
 *   out of their folder
 */
gboolean
khadim_tool_path_check (const char  *path,
                        GError     **error)
{
  g_return_val_if_fail (path != NULL, FALSE);

  if (!check_form (path, error))
    return FALSE;
  if (*path != '/' && !g_str_equal (path, "~") && !g_str_has_prefix (path, "~/")
      && climbs_out (path))
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_DENIED,
                   "“%s” leads out of its folder; give the absolute path if that is meant", path);
      return FALSE;
    }

  return TRUE;
}

/**
 * khadim_tool_path_resolve:
 * @path: a path as a step gives it: relative, absolute, or starting with `~/`
 * @use: what it is for
 * @work_dir: the run's work folder, absolute
 * @assets_dir: (nullable): the automation's own folder, absolute
 * @error: return location for a %KHADIM_TOOL_ERROR
 *
 * Finds what a step's path means. A relative path starts at the work folder;
 * for reading, what is not there is looked for in the automation's folder. It
 * never leaves its folder, neither by `..` nor by a symbolic link.
 * An absolute path may lead anywhere: whether that is wanted is for the
 * permissions to say. Reads the file system, so not for the engine thread.
 *
 * Names are walked as path_resolution(7) has it, so that `..` after a link is
 * above what the link points to. A NUL byte ends a C string and so cannot get
 * here; the JSON reader refuses it.
 *
 * Returns: (transfer full): an absolute path that need not exist, without
 *   `..`; for writing also without symbolic links. %NULL with
 *   %KHADIM_TOOL_ERROR_DENIED if it leaves its folder,
 *   %KHADIM_TOOL_ERROR_LIMIT if it is too long, %KHADIM_TOOL_ERROR_NOT_FOUND
 *   if it goes up from what is no folder, %KHADIM_TOOL_ERROR_TOOL if it is
 *   empty or a loop of links
 */
char *
khadim_tool_path_resolve (const char         *path,
                          KhadimToolPathUse   use,
                          const char         *work_dir,
                          const char         *assets_dir,
                          GError            **error)
{
  g_autofree char *expanded = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  if (!check_form (path, error))
    return NULL;

  if (g_str_equal (path, "~") || g_str_has_prefix (path, "~/"))
    expanded = g_build_filename (g_get_home_dir (), path + 1, NULL);
  else if (*path == '/')
    expanded = g_strdup (path);

  if (expanded != NULL)
    return walk_path ("/", expanded, use != KHADIM_TOOL_PATH_USE_ENTRY, error);

  if (work_dir == NULL || *work_dir != '/')
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_DENIED,
                   "“%s” is relative, and this run has no work folder", path);
      return NULL;
    }
  if (use == KHADIM_TOOL_PATH_USE_READ)
    return resolve_for_reading (path, work_dir, assets_dir, error);

  return resolve_in_folder (path, use == KHADIM_TOOL_PATH_USE_WRITE,
                            work_dir, "work folder", error);
}

/**
 * khadim_tool_path_is_within:
 * @path: an absolute path without links and `..`
 * @folder: another
 *
 * Compares names only; see khadim_tool_path_resolve() for the real ones.
 * Any thread.
 *
 * Returns: whether @path is @folder or below it
 */
gboolean
khadim_tool_path_is_within (const char *path,
                            const char *folder)
{
  gsize len;

  g_return_val_if_fail (path != NULL, FALSE);
  g_return_val_if_fail (folder != NULL, FALSE);

  if (g_str_equal (folder, "/"))
    return *path == '/';

  len = strlen (folder);

  return strncmp (path, folder, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/* Whether the folder with the status @st is @path or above it. Compares
 * identities, so that bind mounts do not deceive. */
static gboolean
holds (const struct stat *st,
       const char        *path)
{
  g_autofree char *place = walk_path ("/", path, TRUE, NULL);

  while (place != NULL)
    {
      struct stat above;
      g_autofree char *parent = NULL;

      if (stat (place, &above) == 0 && above.st_dev == st->st_dev && above.st_ino == st->st_ino)
        return TRUE;
      if (g_str_equal (place, "/"))
        return FALSE;

      parent = g_path_get_dirname (place);
      g_free (place);
      place = g_steal_pointer (&parent);
    }

  return FALSE;
}

/**
 * khadim_tool_path_is_protected:
 * @path: an absolute path
 * @work_dir: (nullable): the run's work folder
 * @assets_dir: (nullable): the automation's own folder
 * @out_what: (out) (optional) (transfer none): what @path holds, for people;
 *   untouched if it is not protected
 *
 * Whether deleting or moving @path would take away the root, the home folder,
 * the run's work folder or the automation: @path is one of them or above.
 * A symbolic link at the end of @path is not followed, for the link alone
 * would go. Reads the file system, so not for the engine thread.
 *
 * Returns: whether @path must be left alone
 */
gboolean
khadim_tool_path_is_protected (const char  *path,
                               const char  *work_dir,
                               const char  *assets_dir,
                               const char **out_what)
{
  const struct {
    const char *path;
    const char *what;
  } guarded[] = {
    { "/", "the root of the file system" },
    { g_get_home_dir (), "the home folder" },
    { work_dir, "the run's work folder" },
    { assets_dir, "the automation's folder" },
  };
  struct stat st;

  g_return_val_if_fail (path != NULL, TRUE);

  if (lstat (path, &st) != 0 || !S_ISDIR (st.st_mode))
    return FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (guarded); i++)
    {
      if (guarded[i].path != NULL && holds (&st, guarded[i].path))
        {
          if (out_what != NULL)
            *out_what = guarded[i].what;
          return TRUE;
        }
    }

  return FALSE;
}
