/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-store-reader"

#include "config.h"

#include "engine/store/khadim-store-reader-private.h"

#include "engine/store/khadim-store.h"

/* ?1 is the text, ?2 the limit; -1 is none. */
static const struct
{
  const KhadimRecordShape *shape;
  const char *tail;
} queries[] = {
  [KHADIM_STORE_QUERY_SESSION] = {
    &_khadim_session_shape, "WHERE id = ?1 LIMIT ?2",
  },
  [KHADIM_STORE_QUERY_SESSIONS] = {
    &_khadim_session_shape,
    "WHERE parent_session_id IS NULL ORDER BY created_us DESC, id DESC LIMIT ?2",
  },
  [KHADIM_STORE_QUERY_SESSIONS_OF] = {
    &_khadim_session_shape,
    "WHERE parent_session_id IS NULL AND automation = ?1"
    " ORDER BY created_us DESC, id DESC LIMIT ?2",
  },
  [KHADIM_STORE_QUERY_CHILDREN] = {
    &_khadim_session_shape,
    "WHERE parent_session_id = ?1 ORDER BY created_us, id LIMIT ?2",
  },
  [KHADIM_STORE_QUERY_CALLS] = {
    &_khadim_tool_call_shape, "WHERE session_id = ?1 ORDER BY rowid LIMIT ?2",
  },
  [KHADIM_STORE_QUERY_RUNS] = {
    &_khadim_run_shape, "WHERE session_id = ?1 ORDER BY started_us, rowid LIMIT ?2",
  },
  [KHADIM_STORE_QUERY_ARTIFACTS] = {
    &_khadim_artifact_shape, "WHERE session_id = ?1 ORDER BY rowid LIMIT ?2",
  },
  [KHADIM_STORE_QUERY_COMMANDS] = {
    &_khadim_command_shape, "WHERE handled_us = 0 ORDER BY id LIMIT ?2",
  },
  [KHADIM_STORE_QUERY_COMMANDS_OF] = {
    &_khadim_command_shape, "WHERE handled_us = 0 AND session_id = ?1 ORDER BY id LIMIT ?2",
  },
  [KHADIM_STORE_QUERY_COMMANDS_FOR] = {
    &_khadim_command_shape,
    "WHERE handled_us = 0"
    " AND (SELECT owner FROM sessions WHERE sessions.id = commands.session_id) = ?1"
    " ORDER BY id LIMIT ?2",
  },
  [KHADIM_STORE_QUERY_AUTOMATIONS] = {
    &_khadim_automation_shape, "ORDER BY name LIMIT ?2",
  },
};

/* KhadimStoreReader: a connection and its lock. */
struct _KhadimStoreReader
{
  GMutex lock;   /* guards db */

  /* Owned */
  KhadimDb *db;
  char *sql[G_N_ELEMENTS (queries)];
};

static char *
make_sql (const KhadimRecordShape *shape,
          const char              *tail)
{
  g_autoptr(GString) sql = g_string_new ("SELECT ");

  for (guint i = 0; i < shape->n_fields; i++)
    {
      if (i > 0)
        g_string_append (sql, ", ");
      if (shape->fields[i].kind == KHADIM_FIELD_DOCUMENT)
        g_string_append (sql, "(SELECT document FROM documents WHERE session_id = sessions.id)");
      else
        g_string_append (sql, shape->fields[i].column);
    }
  g_string_append_printf (sql, " FROM %s %s", shape->table, tail);

  return g_string_free (g_steal_pointer (&sql), FALSE);
}

/*< private >
 * _khadim_store_reader_new:
 * @path: the database
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Returns: (transfer full): a reader, for any thread
 */
KhadimStoreReader *
_khadim_store_reader_new (const char  *path,
                          GError     **error)
{
  g_autoptr(KhadimDb) db = _khadim_db_open (path, KHADIM_DB_QUERY_ONLY, error);
  KhadimStoreReader *self;

  if (db == NULL)
    return NULL;

  self = g_new0 (KhadimStoreReader, 1);
  g_mutex_init (&self->lock);
  self->db = g_steal_pointer (&db);
  for (guint i = 0; i < G_N_ELEMENTS (queries); i++)
    self->sql[i] = make_sql (queries[i].shape, queries[i].tail);

  return self;
}

/*< private >
 * _khadim_store_reader_free:
 * @self: (nullable) (transfer full): a reader that nobody uses
 */
void
_khadim_store_reader_free (KhadimStoreReader *self)
{
  if (self == NULL)
    return;

  _khadim_db_free (self->db);
  for (guint i = 0; i < G_N_ELEMENTS (queries); i++)
    g_free (self->sql[i]);
  g_mutex_clear (&self->lock);
  g_free (self);
}

static GDestroyNotify
free_func_of (const KhadimRecordShape *shape)
{
  if (shape == &_khadim_session_shape)
    return (GDestroyNotify) khadim_session_record_free;
  if (shape == &_khadim_run_shape)
    return (GDestroyNotify) khadim_run_record_free;
  if (shape == &_khadim_tool_call_shape)
    return (GDestroyNotify) khadim_tool_call_record_free;
  if (shape == &_khadim_artifact_shape)
    return (GDestroyNotify) khadim_artifact_record_free;
  if (shape == &_khadim_command_shape)
    return (GDestroyNotify) khadim_command_record_free;

  return (GDestroyNotify) khadim_automation_record_free;
}

static void
bind_limit (KhadimStatement *statement,
            int              index,
            guint            limit)
{
  sqlite3_bind_int64 (statement, index, limit > 0 ? (gint64) limit : -1);
}

/*< private >
 * _khadim_store_reader_list:
 * @self: a reader
 * @query: which rows
 * @text: (nullable): what the query is about
 * @limit: at most so many, 0 for all
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Returns: (transfer full): the records
 */
GPtrArray *
_khadim_store_reader_list (KhadimStoreReader  *self,
                           KhadimStoreQuery    query,
                           const char         *text,
                           guint               limit,
                           GError            **error)
{
  const KhadimRecordShape *shape = queries[query].shape;
  g_autoptr(GPtrArray) records = g_ptr_array_new_with_free_func (free_func_of (shape));
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  g_autoptr(KhadimStatement) statement = _khadim_db_prepare (self->db, self->sql[query], error);
  gboolean row;

  if (statement == NULL)
    return NULL;

  if (text != NULL)
    _khadim_db_bind_text (statement, 1, text);
  bind_limit (statement, 2, limit);

  for (;;)
    {
      gpointer record;

      if (!_khadim_db_next (self->db, statement, &row, error))
        return NULL;
      if (!row)
        return g_steal_pointer (&records);

      record = _khadim_db_read_record (statement, shape, error);
      if (record == NULL)
        return NULL;
      g_ptr_array_add (records, record);
    }
}

/*< private >
 * _khadim_store_reader_list_events:
 * @self: a reader
 * @session_id: a session
 * @since_seq: the last number that the caller has
 * @limit: at most so many, 0 for all
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Returns: (transfer full): the events, in order
 */
GPtrArray *
_khadim_store_reader_list_events (KhadimStoreReader  *self,
                                  const char         *session_id,
                                  gint64              since_seq,
                                  guint               limit,
                                  GError            **error)
{
  g_autoptr(GPtrArray) events =
    g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_event_unref);
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  g_autoptr(KhadimStatement) statement =
    _khadim_db_prepare (self->db,
                        "SELECT session_id, seq, time_us, channel, event_type, content, metadata,"
                        " run_id, workspace_id FROM events"
                        " WHERE session_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
                        error);
  gboolean row;

  if (statement == NULL)
    return NULL;

  _khadim_db_bind_text (statement, 1, session_id);
  sqlite3_bind_int64 (statement, 2, since_seq);
  bind_limit (statement, 3, limit);

  for (;;)
    {
      KhadimEvent *event;

      if (!_khadim_db_next (self->db, statement, &row, error))
        return NULL;
      if (!row)
        return g_steal_pointer (&events);

      event = _khadim_db_read_event (statement, error);
      if (event == NULL)
        return NULL;
      g_ptr_array_add (events, event);
    }
}

/*< private >
 * _khadim_store_reader_get_last_seq:
 * @self: a reader
 * @session_id: a session
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Returns: the number of the last event, 0 for none, -1 on failure
 */
gint64
_khadim_store_reader_get_last_seq (KhadimStoreReader  *self,
                                   const char         *session_id,
                                   GError            **error)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  g_autoptr(KhadimStatement) statement =
    _khadim_db_prepare (self->db, "SELECT max(seq) FROM events WHERE session_id = ?1", error);
  gboolean row;

  if (statement == NULL)
    return -1;

  _khadim_db_bind_text (statement, 1, session_id);
  if (!_khadim_db_next (self->db, statement, &row, error))
    return -1;

  return sqlite3_column_int64 (statement, 0);
}

/*< private >
 * _khadim_store_reader_get_version:
 * @self: a reader
 * @out_version: (out): a number that differs after every commit of any other
 *   connection, the store's writer included
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Returns: whether it could be read
 */
gboolean
_khadim_store_reader_get_version (KhadimStoreReader  *self,
                                  gint64             *out_version,
                                  GError            **error)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  return _khadim_db_get_int (self->db, "PRAGMA data_version", out_version, error);
}
