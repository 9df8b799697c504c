/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-store-watch"

#include "config.h"

#include "engine/store/khadim-store-watch-private.h"

#include <errno.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <glib-unix.h>

/* Not more often than this does a watch look, however many commits there are. */
#define LOOK_INTERVAL_MS 5
/* The log changes before the commit can be seen. A process that is killed in
 * between touches no marker, so a watch looks once more after this time. */
#define SETTLE_MS 100
#define EVENT_BUFFER_BYTES 4096
#define MAX_COMMANDS_PER_LOOK 1000
#define NO_VERSION -1

/* KhadimStoreWatch: notices commits of all processes by inotify(7). Lives on the
 * thread that made it. */
struct _KhadimStoreWatch
{
  gatomicrefcount ref_count;
  GWeakRef store;
  int fd;
  gboolean ended;
  gint64 version;            /* of the last look */
  gint64 looked_us;          /* monotonic */
  KhadimStoreCommandFunc on_command;
  KhadimStoreChangedFunc on_changed;
  gpointer user_data;
  GDestroyNotify destroy;

  /* Owned */
  GSource *event_source;
  GSource *look_source;      /* the look that is due, or NULL */
  GSource *settle_source;    /* the look after the log's last change, or NULL */
  GHashTable *given;         /* numbers of commands that were given */

  /* Borrowed from the store */
  KhadimStoreReader *reader;
};

static KhadimStoreWatch *
watch_ref (KhadimStoreWatch *self)
{
  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

static void
watch_unref (gpointer data)
{
  KhadimStoreWatch *self = data;

  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  close (self->fd);
  g_hash_table_unref (self->given);
  g_weak_ref_clear (&self->store);
  if (self->destroy != NULL)
    self->destroy (self->user_data);
  g_free (self);
}

static void
clear_source (GSource **source)
{
  if (*source == NULL)
    return;

  g_source_destroy (*source);
  g_clear_pointer (source, g_source_unref);
}

static void
set_timer (KhadimStoreWatch  *self,
           GSource          **source,
           guint              delay_ms,
           GSourceFunc        func)
{
  clear_source (source);
  *source = g_timeout_source_new (delay_ms);
  g_source_set_priority (*source, G_PRIORITY_DEFAULT);
  g_source_set_callback (*source, func, watch_ref (self), watch_unref);
  g_source_attach (*source, g_main_context_get_thread_default ());
}

/* The callback may end the watch or claim sessions. Commands that are no longer
 * for this engine are forgotten: it may get their sessions back. */
static gboolean
give_commands (KhadimStoreWatch  *self,
               KhadimStore       *store,
               GError           **error)
{
  g_autoptr(GHashTable) before = NULL;
  g_autoptr(GPtrArray) commands =
    _khadim_store_reader_list (self->reader, KHADIM_STORE_QUERY_COMMANDS_FOR,
                               khadim_store_get_owner_id (store), MAX_COMMANDS_PER_LOOK,
                               error);

  if (commands == NULL)
    return FALSE;

  before = g_steal_pointer (&self->given);
  self->given = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  for (guint i = 0; i < commands->len; i++)
    {
      const KhadimCommandRecord *command = g_ptr_array_index (commands, i);

      g_hash_table_add (self->given, g_memdup2 (&command->id, sizeof command->id));
    }

  for (guint i = 0; i < commands->len && !self->ended; i++)
    {
      const KhadimCommandRecord *command = g_ptr_array_index (commands, i);

      if (!g_hash_table_contains (before, &command->id))
        self->on_command (store, command, self->user_data);
    }

  return TRUE;
}

static gboolean on_settle_cb (gpointer data);

/* What cannot be read now, such as a busy database, is looked at again. */
static void
look (KhadimStoreWatch *self,
      KhadimStore      *store)
{
  g_autoptr(GError) error = NULL;
  gint64 version;

  self->looked_us = g_get_monotonic_time ();
  if (_khadim_store_reader_get_version (self->reader, &version, &error)
      && version == self->version)
    return;

  self->version = version;
  if (error == NULL && self->on_changed != NULL)
    self->on_changed (store, self->user_data);
  if (error == NULL && self->on_command != NULL)
    give_commands (self, store, &error);

  if (error != NULL)
    {
      g_debug ("Looking for changes: %s", error->message);
      self->version = NO_VERSION;
      set_timer (self, &self->settle_source, SETTLE_MS, on_settle_cb);
    }
}

static gboolean
on_look_cb (gpointer data)
{
  KhadimStoreWatch *self = data;
  g_autoptr(KhadimStore) store = g_weak_ref_get (&self->store);

  if (store == NULL || self->ended)
    return G_SOURCE_REMOVE;

  clear_source (&self->look_source);
  look (self, store);

  return G_SOURCE_REMOVE;
}

static gboolean
on_settle_cb (gpointer data)
{
  KhadimStoreWatch *self = data;
  g_autoptr(KhadimStore) store = g_weak_ref_get (&self->store);

  if (store == NULL || self->ended)
    return G_SOURCE_REMOVE;

  clear_source (&self->settle_source);
  look (self, store);

  return G_SOURCE_REMOVE;
}

/* Empties the descriptor; says what changed. */
static void
read_events (int       fd,
             gboolean *out_marker,
             gboolean *out_log)
{
  char buffer[EVENT_BUFFER_BYTES] __attribute__ ((aligned (__alignof__ (struct inotify_event))));
  gssize size;

  while ((size = read (fd, buffer, sizeof buffer)) > 0)
    {
      for (char *at = buffer; at < buffer + size;)
        {
          const struct inotify_event *event = (gpointer) at;

          if ((event->mask & IN_Q_OVERFLOW) != 0
              || (event->len > 0 && g_str_equal (event->name, KHADIM_STORE_MARKER_NAME)))
            *out_marker = TRUE;
          else if (event->len > 0 && g_str_has_prefix (event->name, KHADIM_STORE_DATABASE_NAME))
            *out_log = TRUE;
          at += sizeof *event + event->len;
        }
    }
}

static gboolean
on_inotify_cb (int          fd,
               GIOCondition condition,
               gpointer     data)
{
  KhadimStoreWatch *self = data;
  g_autoptr(KhadimStore) store = g_weak_ref_get (&self->store);
  gint64 since_us = g_get_monotonic_time () - self->looked_us;
  gboolean marker = FALSE;
  gboolean log = FALSE;

  if (store == NULL || self->ended)
    return G_SOURCE_REMOVE;

  read_events (fd, &marker, &log);
  if (log)
    set_timer (self, &self->settle_source, SETTLE_MS, on_settle_cb);
  if (!marker || self->look_source != NULL)
    return G_SOURCE_CONTINUE;

  if (since_us >= LOOK_INTERVAL_MS * 1000)
    look (self, store);
  else
    set_timer (self, &self->look_source, LOOK_INTERVAL_MS, on_look_cb);

  return G_SOURCE_CONTINUE;
}

static gboolean
begin (KhadimStoreWatch  *self,
       const char        *folder,
       GError           **error)
{
  self->fd = inotify_init1 (IN_CLOEXEC | IN_NONBLOCK);
  if (self->fd < 0
      || inotify_add_watch (self->fd, folder, IN_MODIFY | IN_ATTRIB | IN_MOVED_TO) < 0)
    {
      int errsv = errno;

      g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_FAILED,
                   "Watching “%s”: %s", folder, g_strerror (errsv));
      return FALSE;
    }

  self->event_source = g_unix_fd_source_new (self->fd, G_IO_IN);
  g_source_set_callback (self->event_source, G_SOURCE_FUNC (on_inotify_cb), watch_ref (self),
                         watch_unref);
  g_source_attach (self->event_source, g_main_context_get_thread_default ());

  return TRUE;
}

/*< private >
 * _khadim_store_watch_new:
 * @store: whose changes
 * @reader: the store's reader, which outlives the watch
 * @folder: where the database lies
 * @on_command: (nullable): gets commands for this engine, or
 * @on_changed: (nullable): is told of changes
 * @user_data: data of both
 * @destroy: (nullable): frees @user_data when the watch ends, also on failure
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Watches from the caller's thread-default context.
 *
 * Returns: (transfer full): a watch
 */
KhadimStoreWatch *
_khadim_store_watch_new (KhadimStore             *store,
                         KhadimStoreReader       *reader,
                         const char              *folder,
                         KhadimStoreCommandFunc   on_command,
                         KhadimStoreChangedFunc   on_changed,
                         gpointer                 user_data,
                         GDestroyNotify           destroy,
                         GError                 **error)
{
  KhadimStoreWatch *self = g_new0 (KhadimStoreWatch, 1);

  g_atomic_ref_count_init (&self->ref_count);
  g_weak_ref_init (&self->store, store);
  self->reader = reader;
  self->on_command = on_command;
  self->on_changed = on_changed;
  self->user_data = user_data;
  self->destroy = destroy;
  self->version = NO_VERSION;
  self->given = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  /* The watch stands before the first look, so that nothing falls between. */
  if (!begin (self, folder, error))
    {
      _khadim_store_watch_free (self);
      return NULL;
    }
  if (on_command != NULL)
    set_timer (self, &self->look_source, 0, on_look_cb);
  else if (!_khadim_store_reader_get_version (reader, &self->version, error))
    {
      _khadim_store_watch_free (self);
      return NULL;
    }

  return self;
}

/*< private >
 * _khadim_store_watch_free:
 * @self: (transfer full): a watch
 *
 * Ends it. On its thread, or when its store is disposed of.
 */
void
_khadim_store_watch_free (KhadimStoreWatch *self)
{
  self->ended = TRUE;
  clear_source (&self->event_source);
  clear_source (&self->look_source);
  clear_source (&self->settle_source);
  watch_unref (self);
}
