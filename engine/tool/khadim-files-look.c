/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-files-look"

#include "config.h"

#include "engine/tool/khadim-files-private.h"

#include <errno.h>
#include <string.h>

#include "engine/base/khadim-time.h"
#include "engine/json/khadim-json.h"
#include "engine/tool/khadim-tool-io-private.h"

static const char *
kind_of (const struct stat *st)
{
  if (S_ISREG (st->st_mode))
    return "file";
  if (S_ISDIR (st->st_mode))
    return "folder";
  if (S_ISLNK (st->st_mode))
    return "link";

  return "other";
}

/* Names and paths are bytes to the system and UTF-8 in JSON: a name that is
 * not UTF-8 is shown with replacement characters and says so. */
static void
set_path_member (JsonObject *object,
                 const char *member,
                 const char *path)
{
  g_autofree char *shown = g_filename_display_name (path);

  json_object_set_string_member (object, member, shown);
  if (!g_utf8_validate (path, -1, NULL))
    json_object_set_boolean_member (object, "unnameable", TRUE);
}

/* What there is to say about a file: name, path, kind, size in bytes, time of
 * the last change of its content (RFC 3339, UTC). */
JsonObject *
_khadim_files_describe (const char        *path,
                        const struct stat *st)
{
  JsonObject *object = json_object_new ();
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *modified = NULL;

  modified = khadim_time_to_rfc3339 (st->st_mtim.tv_sec * G_USEC_PER_SEC
                                     + st->st_mtim.tv_nsec / 1000);
  set_path_member (object, "name", name);
  set_path_member (object, "path", path);
  json_object_set_string_member (object, "kind", kind_of (st));
  json_object_set_int_member (object, "size", S_ISREG (st->st_mode) ? st->st_size : 0);
  json_object_set_string_member (object, "modified", modified);

  return object;
}

/* The pattern in the arguments, %NULL if there is none. `*` stands for any
 * characters and `?` for one, never for a dot at the start. */
gboolean
_khadim_files_pattern (JsonObject    *args,
                       GPatternSpec **out_pattern,
                       GError       **error)
{
  const char *pattern = khadim_json_get_string (args, "pattern", NULL);

  if (pattern != NULL && strlen (pattern) > KHADIM_FILES_MAX_PATTERN_BYTES)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                   "The pattern is longer than %d bytes", KHADIM_FILES_MAX_PATTERN_BYTES);
      return FALSE;
    }
  if (pattern != NULL && strchr (pattern, '/') != NULL)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                   "The pattern “%s” is for names, and a name holds no “/”", pattern);
      return FALSE;
    }
  *out_pattern = pattern != NULL ? g_pattern_spec_new (pattern) : NULL;

  return TRUE;
}

/* files.list ------------------------------------------------------------ */

typedef struct
{
  GPatternSpec *pattern;     /* owned, may be NULL */
  const char *kind;          /* borrowed, NULL for any */
  GCancellable *cancellable; /* borrowed */
  gboolean hidden;
  gboolean recursive;
  GPtrArray *paths; /* owned, the matches */
  guint n_seen;
} Listing;

static void
listing_clear (Listing *listing)
{
  g_clear_pointer (&listing->pattern, g_pattern_spec_free);
  g_clear_pointer (&listing->paths, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Listing, listing_clear)

static gboolean
list_folder (Listing     *listing,
             const char  *folder,
             guint        depth,
             GError     **error);

static gboolean
list_entry (Listing     *listing,
            const char  *folder,
            const char  *name,
            guint        depth,
            GError     **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  struct stat st;
  gboolean is_folder;

  if (++listing->n_seen > KHADIM_TOOL_IO_MAX_ENTRIES)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                   "“%s” brings the list over %d files", folder, KHADIM_TOOL_IO_MAX_ENTRIES);
      return FALSE;
    }
  /* What vanishes while we look was not there. */
  if ((*name == '.' && !listing->hidden) || lstat (path, &st) != 0)
    return TRUE;

  is_folder = S_ISDIR (st.st_mode);
  if ((listing->pattern == NULL || g_pattern_spec_match_string (listing->pattern, name))
      && (listing->kind == NULL || g_str_equal (listing->kind, kind_of (&st))))
    g_ptr_array_add (listing->paths, g_strdup (path));

  return !is_folder || !listing->recursive || list_folder (listing, path, depth + 1, error);
}

static gboolean
list_folder (Listing     *listing,
             const char  *folder,
             guint        depth,
             GError     **error)
{
  g_autoptr(GPtrArray) names = NULL;
  g_autoptr(GError) local = NULL;

  if (depth > KHADIM_TOOL_IO_MAX_DEPTH)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                   "“%s” is deeper than %d folders", folder, KHADIM_TOOL_IO_MAX_DEPTH);
      return FALSE;
    }

  names = _khadim_tool_io_read_folder (folder, &local);
  if (names == NULL)
    {
      if (depth > 0 && g_error_matches (local, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_NOT_FOUND))
        return TRUE;
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }

  for (guint i = 0; i < names->len; i++)
    {
      if (g_cancellable_set_error_if_cancelled (listing->cancellable, error)
          || !list_entry (listing, folder, g_ptr_array_index (names, i), depth, error))
        return FALSE;
    }

  return TRUE;
}

static int
compare_paths (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static JsonNode *
listing_to_json (Listing *listing,
                 gint64   limit)
{
  JsonObject *object = json_object_new ();
  JsonArray *entries = json_array_new ();

  g_ptr_array_sort (listing->paths, compare_paths);
  for (guint i = 0; i < listing->paths->len && i < limit; i++)
    {
      const char *path = g_ptr_array_index (listing->paths, i);
      struct stat st;

      if (lstat (path, &st) == 0)
        json_array_add_object_element (entries, _khadim_files_describe (path, &st));
    }
  json_object_set_array_member (object, "entries", entries);
  json_object_set_boolean_member (object, "truncated", listing->paths->len > limit);

  return khadim_json_object (object);
}

JsonNode *
_khadim_files_list (KhadimToolCall  *call,
                    GCancellable    *cancellable,
                    GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_autofree char *folder = _khadim_tool_job_path (call, "path", KHADIM_TOOL_PATH_USE_READ, error);
  const char *kind = khadim_json_get_string (args, "kind", "any");
  g_auto(Listing) listing = {
    .kind = g_str_equal (kind, "any") ? NULL : kind,
    .cancellable = cancellable,
    .hidden = khadim_json_get_boolean (args, "hidden", FALSE),
    .recursive = khadim_json_get_boolean (args, "recursive", FALSE),
    .paths = g_ptr_array_new_with_free_func (g_free),
  };

  if (folder == NULL
      || !_khadim_files_pattern (args, &listing.pattern, error)
      || !list_folder (&listing, folder, 0, error))
    return NULL;

  return listing_to_json (&listing, khadim_json_get_int (args, "limit", KHADIM_FILES_MAX_LISTED));
}

/* The others ------------------------------------------------------------ */

JsonNode *
_khadim_files_info (KhadimToolCall  *call,
                    GCancellable    *cancellable,
                    GError         **error)
{
  g_autofree char *path = _khadim_tool_job_path (call, "path", KHADIM_TOOL_PATH_USE_READ, error);
  JsonObject *object;
  struct stat st;

  if (path == NULL)
    return NULL;
  if (stat (path, &st) != 0)
    {
      _khadim_tool_io_set_error (error, errno, "look at", path);
      return NULL;
    }

  object = _khadim_files_describe (path, &st);
  json_object_set_boolean_member (object, "exists", TRUE);

  return khadim_json_object (object);
}

JsonNode *
_khadim_files_exists (KhadimToolCall  *call,
                      GCancellable    *cancellable,
                      GError         **error)
{
  g_autofree char *path = _khadim_tool_job_path (call, "path", KHADIM_TOOL_PATH_USE_READ, error);
  JsonObject *object;
  struct stat st;

  if (path == NULL)
    return NULL;

  if (stat (path, &st) == 0)
    {
      object = _khadim_files_describe (path, &st);
      json_object_set_boolean_member (object, "exists", TRUE);
      return khadim_json_object (object);
    }
  if (errno != ENOENT && errno != ENOTDIR)
    {
      _khadim_tool_io_set_error (error, errno, "look at", path);
      return NULL;
    }

  object = json_object_new ();
  json_object_set_boolean_member (object, "exists", FALSE);

  return khadim_json_object (object);
}

JsonNode *
_khadim_files_read (KhadimToolCall  *call,
                    GCancellable    *cancellable,
                    GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  g_autofree char *path = _khadim_tool_job_path (call, "path", KHADIM_TOOL_PATH_USE_READ, error);
  gint64 max_bytes = khadim_json_get_int (args, "max_bytes", KHADIM_TOOL_IO_MAX_BYTES);
  g_autoptr(GBytes) content = NULL;
  g_autofree char *text = NULL;
  JsonObject *object;

  if (path == NULL)
    return NULL;
  content = _khadim_tool_io_read (path, (gsize) CLAMP (max_bytes, 0, KHADIM_TOOL_IO_MAX_BYTES),
                                  cancellable, error);
  if (content == NULL)
    return NULL;
  text = _khadim_tool_io_decode (content, khadim_json_get_string (args, "encoding", NULL), error);
  if (text == NULL)
    {
      g_prefix_error (error, "Cannot read “%s”: ", path);
      return NULL;
    }

  object = json_object_new ();
  json_object_set_string_member (object, "text", text);
  json_object_set_int_member (object, "size", (gint64) g_bytes_get_size (content));

  return khadim_json_object (object);
}
