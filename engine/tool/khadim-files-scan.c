/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-files-scan"

#include "config.h"

#include "engine/tool/khadim-files-scan-private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/tool/khadim-tool-io-private.h"

/* Where nobody tells us of changes (network file systems), we look so often */
#define LOOK_INTERVAL_US (G_USEC_PER_SEC / 2)

/* How browsers and Khadim name what is not complete */
static const char *const partial_suffixes[] = { ".part", ".crdownload", ".wkdownload" };

typedef enum {
  WRITERS_NONE,
  WRITERS_SOME,
  WRITERS_UNKNOWN, /* the file system cannot tell, or the file is not ours */
} Writers;

/* A name as it was seen last. */
typedef struct
{
  dev_t device;
  ino_t inode;
  off_t size;
  struct timespec modified;
  struct timespec status_changed;
  gboolean is_file;
  gint64 since_us;  /* since when it is like this */
  guint look;       /* when it was seen last */
  gboolean original; /* is as it was at the first look */
} Mark;

KhadimFilesScan *
_khadim_files_scan_new (const char       *folder,
                        const char       *name,
                        GPatternSpec     *pattern,
                        KhadimFilesState  state,
                        gint64            stable_us)
{
  KhadimFilesScan *self = g_new0 (KhadimFilesScan, 1);

  self->folder = g_strdup (folder);
  self->name = g_strdup (name);
  self->pattern = pattern != NULL ? g_pattern_spec_copy (pattern) : NULL;
  self->state = state;
  self->stable_us = stable_us;
  self->marks = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  return self;
}

void
_khadim_files_scan_free (KhadimFilesScan *self)
{
  g_free (self->folder);
  g_free (self->name);
  g_clear_pointer (&self->pattern, g_pattern_spec_free);
  g_hash_table_unref (self->marks);
  g_free (self->found);
  g_free (self->obstacle);
  g_free (self);
}

static void
set_obstacle (KhadimFilesScan *self,
              const char      *name,
              const char      *why)
{
  g_autofree char *shown = g_filename_display_name (name);

  g_free (self->obstacle);
  self->obstacle = g_strdup_printf ("“%s” %s", shown, why);
}

static gboolean
is_partial (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (partial_suffixes); i++)
    {
      if (g_str_has_suffix (name, partial_suffixes[i]))
        return TRUE;
    }

  return _khadim_tool_io_is_temp (name);
}

/* A name that is asked for word by word counts whatever it looks like. */
static gboolean
matches (KhadimFilesScan *self,
         const char      *name)
{
  if (self->name != NULL)
    return g_str_equal (self->name, name);
  if (self->pattern != NULL && !g_pattern_spec_match_string (self->pattern, name))
    return FALSE;

  return *name != '.' && !is_partial (name);
}

static gboolean
same_time (const struct timespec *a,
           const struct timespec *b)
{
  return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static gboolean
is_like (const Mark        *mark,
         const struct stat *st)
{
  return mark->device == st->st_dev
         && mark->inode == st->st_ino
         && mark->size == st->st_size
         && same_time (&mark->modified, &st->st_mtim);
}

static void
note (KhadimFilesScan *self,
      const char      *name,
      gint64           now_us)
{
  g_autofree char *path = g_build_filename (self->folder, name, NULL);
  Mark *mark = g_hash_table_lookup (self->marks, name);
  struct stat st;

  if (stat (path, &st) != 0)
    return;

  if (mark == NULL)
    {
      mark = g_new0 (Mark, 1);
      mark->original = self->n_looks == 1;
      mark->since_us = now_us;
      g_hash_table_insert (self->marks, g_strdup (name), mark);
    }
  else if (!is_like (mark, &st))
    {
      mark->original = FALSE;
      mark->since_us = now_us;
      set_obstacle (self, name, "is still changing");
    }
  mark->device = st.st_dev;
  mark->inode = st.st_ino;
  mark->size = st.st_size;
  mark->modified = st.st_mtim;
  mark->status_changed = st.st_ctim;
  mark->is_file = S_ISREG (st.st_mode);
  mark->look = self->n_looks;
}

/* Whether something is under way to @name: a browser keeps a partial file
 * beside it (Firefox also an empty one under the final name). */
static gboolean
has_partial (GPtrArray  *partials,
             const char *name,
             const Mark *mark)
{
  const char *dot = strrchr (name, '.');
  gsize stem = dot != NULL && dot != name ? (gsize) (dot - name) : strlen (name);
  gsize len = mark->size == 0 ? stem : strlen (name);

  for (guint i = 0; i < partials->len; i++)
    {
      const char *partial = g_ptr_array_index (partials, i);

      if (strncmp (partial, name, len) == 0 && !g_str_equal (partial, name)
          && (mark->size == 0 || partial[len] == '.'))
        return TRUE;
    }

  return FALSE;
}

/* Whether anybody has the file open for writing: only then does the kernel
 * refuse a read lease (fcntl(2), F_SETLEASE). The lease is given back at once;
 * should a writer come in this very moment, the signal that announces it is
 * one that nobody minds. */
static Writers
count_writers (const char *path)
{
  Writers writers = WRITERS_UNKNOWN;
  int fd = open (path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

  if (fd < 0)
    return WRITERS_UNKNOWN;

  if (fcntl (fd, F_SETSIG, SIGURG) == 0)
    {
      if (fcntl (fd, F_SETLEASE, F_RDLCK) == 0)
        writers = fcntl (fd, F_SETLEASE, F_UNLCK) == 0 ? WRITERS_NONE : WRITERS_UNKNOWN;
      else if (errno == EAGAIN)
        writers = WRITERS_SOME;
    }
  close (fd);

  return writers;
}

/* Whether the system's clock shows that nothing has happened to it for long
 * enough, so that there is nothing to wait for. */
static gboolean
is_old (KhadimFilesScan *self,
        const Mark      *mark)
{
  gint64 changed_us = mark->status_changed.tv_sec * G_USEC_PER_SEC
                      + mark->status_changed.tv_nsec / 1000;

  return g_get_real_time () - changed_us >= MAX (self->stable_us, 1);
}

static void
look_again_at (KhadimFilesScan *self,
               gint64           when_us)
{
  self->next_us = MIN (self->next_us, when_us);
}

/* Whether the file is there and nothing happens to it any more. */
static gboolean
is_settled (KhadimFilesScan *self,
            GPtrArray       *partials,
            const char      *name,
            Mark            *mark,
            gint64           now_us)
{
  g_autofree char *path = g_build_filename (self->folder, name, NULL);
  gboolean stable = now_us - mark->since_us >= self->stable_us;
  Writers writers;

  if (has_partial (partials, name, mark))
    {
      set_obstacle (self, name, "is still being downloaded");
      return FALSE;
    }
  if (!mark->is_file)
    {
      look_again_at (self, mark->since_us + self->stable_us);
      return stable;
    }
  if (!stable && !is_old (self, mark))
    {
      look_again_at (self, mark->since_us + self->stable_us);
      return FALSE;
    }

  writers = count_writers (path);
  if (writers == WRITERS_SOME)
    {
      set_obstacle (self, name, "is held open for writing by a program");
      return FALSE;
    }
  /* The clock of a file system that keeps no leases may be another's. */
  if (!stable && writers == WRITERS_UNKNOWN)
    look_again_at (self, mark->since_us + self->stable_us);

  return stable || writers == WRITERS_NONE;
}

static gboolean
is_newer (const Mark *a,
          const Mark *b)
{
  if (a->modified.tv_sec != b->modified.tv_sec)
    return a->modified.tv_sec > b->modified.tv_sec;

  return a->modified.tv_nsec > b->modified.tv_nsec;
}

static gboolean
forget_unseen (gpointer key,
               gpointer value,
               gpointer user_data)
{
  KhadimFilesScan *self = user_data;

  return ((Mark *) value)->look != self->n_looks;
}

/* Of several that are settled, the one changed last; then the first name. */
static void
pick (KhadimFilesScan *self,
      GPtrArray       *partials,
      gint64           now_us)
{
  GHashTableIter iter;
  const char *name;
  const char *best_name = NULL;
  Mark *mark;
  const Mark *best = NULL;

  g_hash_table_iter_init (&iter, self->marks);
  while (g_hash_table_iter_next (&iter, (gpointer *) &name, (gpointer *) &mark))
    {
      if (self->state == KHADIM_FILES_STATE_CHANGED && mark->original)
        continue;
      if (!is_settled (self, partials, name, mark, now_us))
        continue;
      if (best == NULL || is_newer (mark, best)
          || (!is_newer (best, mark) && strcmp (name, best_name) < 0))
        {
          best = mark;
          best_name = name;
        }
    }
  if (best != NULL)
    {
      self->done = TRUE;
      self->found = g_build_filename (self->folder, best_name, NULL);
    }
}

static void
judge_gone (KhadimFilesScan *self,
            gint64           now_us)
{
  if (g_hash_table_size (self->marks) > 0)
    {
      self->gone_since_us = 0;
      return;
    }

  if (self->gone_since_us == 0)
    self->gone_since_us = now_us;
  self->done = now_us - self->gone_since_us >= self->stable_us;
  look_again_at (self, self->gone_since_us + self->stable_us);
}

static gboolean
read_folder (KhadimFilesScan  *self,
             GPtrArray        *partials,
             GCancellable     *cancellable,
             gint64            now_us,
             GError          **error)
{
  g_autoptr(GError) local = NULL;
  g_autoptr(GPtrArray) names = _khadim_tool_io_read_folder (self->folder, &local);

  /* A folder that is not there yet holds nothing. */
  if (names == NULL && !g_error_matches (local, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_NOT_FOUND))
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }

  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      if (matches (self, name))
        note (self, name, now_us);
      if (is_partial (name))
        g_ptr_array_add (partials, g_strdup (name));
    }

  return TRUE;
}

/* Looks once. May block. Afterwards `done`, `found`, `obstacle` and `next_us`
 * say where things stand. */
gboolean
_khadim_files_scan_look (KhadimFilesScan  *self,
                         GCancellable     *cancellable,
                         GError          **error)
{
  g_autoptr(GPtrArray) partials = g_ptr_array_new_with_free_func (g_free);
  gint64 now_us = g_get_monotonic_time ();

  self->n_looks++;
  self->next_us = now_us + LOOK_INTERVAL_US;
  g_clear_pointer (&self->obstacle, g_free);
  if (!read_folder (self, partials, cancellable, now_us, error))
    return FALSE;
  g_hash_table_foreach_remove (self->marks, forget_unseen, self);

  if (self->state == KHADIM_FILES_STATE_GONE)
    judge_gone (self, now_us);
  else
    pick (self, partials, now_us);

  return TRUE;
}
