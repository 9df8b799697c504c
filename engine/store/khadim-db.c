/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-db"

#include "config.h"

#include "engine/store/khadim-db-private.h"

#include <errno.h>

#include "engine/json/khadim-json.h"
#include "engine/store/khadim-store.h"

/* How long a connection waits for a lock of another one */
#define BUSY_TIMEOUT_MS 5000
/* What SQLite may map and keep of the log after a checkpoint */
#define JOURNAL_SIZE_LIMIT_BYTES "16777216"
#define MAX_TEXT_BYTES (256 * 1024 * 1024)

/* KhadimDb: one connection to SQLite. */
struct _KhadimDb
{
  sqlite3 *handle;

  /* Owned */
  char *path;
  GHashTable *statements;   /* address of static SQL → sqlite3_stmt */
};

static const char connection_sql[] =
  "PRAGMA trusted_schema = OFF;"
  "PRAGMA cell_size_check = ON;"
  "PRAGMA temp_store = MEMORY;"
  "PRAGMA synchronous = NORMAL;"
  "PRAGMA wal_autocheckpoint = 1000;"
  "PRAGMA journal_size_limit = " JOURNAL_SIZE_LIMIT_BYTES ";";

static gboolean
is_no_space (int errsv)
{
  return errsv == ENOSPC || errsv == EDQUOT || errsv == EFBIG;
}

static int
last_errno_of (sqlite3_file *file)
{
  int errsv = 0;

  if (file != NULL && file->pMethods != NULL)
    file->pMethods->xFileControl (file, SQLITE_FCNTL_LAST_ERRNO, &errsv);

  return errsv;
}

/* What the connection keeps may have been overwritten by its clearing up; each
 * of its files keeps its own. */
static gboolean
failed_for_space (sqlite3 *handle)
{
  sqlite3_file *database = NULL;
  sqlite3_file *log = NULL;

  if (is_no_space (sqlite3_system_errno (handle)))
    return TRUE;

  sqlite3_file_control (handle, "main", SQLITE_FCNTL_FILE_POINTER, &database);
  sqlite3_file_control (handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);

  return is_no_space (last_errno_of (database)) || is_no_space (last_errno_of (log));
}

/* SQLite's result codes, https://www.sqlite.org/rescode.html */
static KhadimStoreError
classify (sqlite3 *handle,
          int      code)
{
  switch (code & 0xff)
    {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return KHADIM_STORE_ERROR_BUSY;
    case SQLITE_FULL:
      return KHADIM_STORE_ERROR_FULL;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return KHADIM_STORE_ERROR_CORRUPT;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return failed_for_space (handle) ? KHADIM_STORE_ERROR_FULL : KHADIM_STORE_ERROR_FAILED;
    default:
      return KHADIM_STORE_ERROR_FAILED;
    }
}

/*< private >
 * _khadim_db_set_error:
 * @self: a connection
 * @what: what was tried
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Sets @error to what the last call on the connection said.
 *
 * Returns: %FALSE
 */
gboolean
_khadim_db_set_error (KhadimDb    *self,
                      const char  *what,
                      GError     **error)
{
  int code = sqlite3_extended_errcode (self->handle);

  g_set_error (error, KHADIM_STORE_ERROR, (int) classify (self->handle, code),
               "%s “%s”: %s (SQLite %d)", what, self->path,
               sqlite3_errmsg (self->handle), code);

  return FALSE;
}

static int
mode_to_flags (KhadimDbMode mode)
{
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
              | SQLITE_OPEN_NOFOLLOW;

  return mode == KHADIM_DB_CREATE ? flags | SQLITE_OPEN_CREATE : flags;
}

static void
finalize_statement (gpointer data)
{
  sqlite3_finalize (data);
}

/*< private >
 * _khadim_db_open:
 * @path: the database
 * @mode: whether it may be made, or only be read
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Opens a connection with the settings that all connections have. One thread at
 * a time may use it.
 *
 * Returns: (transfer full): a connection
 */
KhadimDb *
_khadim_db_open (const char    *path,
                 KhadimDbMode   mode,
                 GError       **error)
{
  g_autoptr(KhadimDb) self = g_new0 (KhadimDb, 1);
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *real_folder = realpath (folder, NULL);
  g_autofree char *name = g_path_get_basename (path);

  /* NOFOLLOW is for the database itself; the way to it may hold links. */
  self->path = g_build_filename (real_folder != NULL ? real_folder : folder, name, NULL);
  self->statements = g_hash_table_new_full (NULL, NULL, NULL, finalize_statement);

  if (sqlite3_open_v2 (self->path, &self->handle, mode_to_flags (mode), NULL) != SQLITE_OK)
    {
      _khadim_db_set_error (self, "Opening", error);
      return NULL;
    }

  sqlite3_busy_timeout (self->handle, BUSY_TIMEOUT_MS);
  sqlite3_limit (self->handle, SQLITE_LIMIT_LENGTH, MAX_TEXT_BYTES);
  sqlite3_db_config (self->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  if (!_khadim_db_exec (self, connection_sql, error))
    return NULL;
  if (mode == KHADIM_DB_QUERY_ONLY && !_khadim_db_exec (self, "PRAGMA query_only = ON", error))
    return NULL;

  return g_steal_pointer (&self);
}

/*< private >
 * _khadim_db_free:
 * @self: (nullable) (transfer full): a connection
 */
void
_khadim_db_free (KhadimDb *self)
{
  if (self == NULL)
    return;

  g_clear_pointer (&self->statements, g_hash_table_unref);
  sqlite3_close (self->handle);
  g_free (self->path);
  g_free (self);
}

sqlite3 *
_khadim_db_get_handle (KhadimDb *self)
{
  return self->handle;
}

const char *
_khadim_db_get_path (KhadimDb *self)
{
  return self->path;
}

gboolean
_khadim_db_in_transaction (KhadimDb *self)
{
  return sqlite3_get_autocommit (self->handle) == 0;
}

/*< private >
 * _khadim_db_exec:
 * @self: a connection
 * @sql: statements that give no rows of interest
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Returns: whether all of them ran
 */
gboolean
_khadim_db_exec (KhadimDb    *self,
                 const char  *sql,
                 GError     **error)
{
  if (sqlite3_exec (self->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
    return _khadim_db_set_error (self, "Writing", error);

  return TRUE;
}

/*< private >
 * _khadim_db_get_int:
 * @self: a connection
 * @sql: static SQL that gives one number
 * @out_value: (out): the number; untouched on failure
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Returns: whether there was one
 */
gboolean
_khadim_db_get_int (KhadimDb    *self,
                    const char  *sql,
                    gint64      *out_value,
                    GError     **error)
{
  g_autoptr(KhadimStatement) statement = _khadim_db_prepare (self, sql, error);
  gboolean row;

  if (statement == NULL || !_khadim_db_next (self, statement, &row, error))
    return FALSE;

  *out_value = row ? sqlite3_column_int64 (statement, 0) : 0;

  return TRUE;
}

/*< private >
 * _khadim_db_prepare:
 * @self: a connection
 * @static_sql: one statement, whose address names it
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * The statement, ready for its parameters; made once per connection.
 *
 * Returns: (transfer full): to be given back by _khadim_db_release()
 */
KhadimStatement *
_khadim_db_prepare (KhadimDb    *self,
                    const char  *static_sql,
                    GError     **error)
{
  sqlite3_stmt *statement = g_hash_table_lookup (self->statements, static_sql);

  if (statement != NULL)
    return statement;

  if (sqlite3_prepare_v3 (self->handle, static_sql, -1, SQLITE_PREPARE_PERSISTENT,
                          &statement, NULL) != SQLITE_OK)
    {
      _khadim_db_set_error (self, "Using", error);
      return NULL;
    }
  g_hash_table_insert (self->statements, (gpointer) static_sql, statement);

  return statement;
}

/*< private >
 * _khadim_db_release:
 * @statement: (nullable) (transfer full): a statement in use
 */
void
_khadim_db_release (KhadimStatement *statement)
{
  if (statement == NULL)
    return;

  sqlite3_reset (statement);
  sqlite3_clear_bindings (statement);
}

/*< private >
 * _khadim_db_run:
 * @self: a connection
 * @statement: a statement that gives no rows
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Returns: whether it ran
 */
gboolean
_khadim_db_run (KhadimDb         *self,
                KhadimStatement  *statement,
                GError          **error)
{
  if (sqlite3_step (statement) != SQLITE_DONE)
    return _khadim_db_set_error (self, "Writing", error);

  return TRUE;
}

/*< private >
 * _khadim_db_next:
 * @self: a connection
 * @statement: a statement that gives rows
 * @out_row: (out): whether there is a further row
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Returns: whether it could be read
 */
gboolean
_khadim_db_next (KhadimDb         *self,
                 KhadimStatement  *statement,
                 gboolean         *out_row,
                 GError          **error)
{
  int code = sqlite3_step (statement);

  if (code != SQLITE_ROW && code != SQLITE_DONE)
    return _khadim_db_set_error (self, "Reading", error);
  *out_row = code == SQLITE_ROW;

  return TRUE;
}

/* Text that is not UTF-8 would make the row unreadable for others. */
void
_khadim_db_bind_text (KhadimStatement *statement,
                      int              index,
                      const char      *text)
{
  if (text == NULL)
    sqlite3_bind_null (statement, index);
  else if (g_utf8_validate (text, -1, NULL))
    sqlite3_bind_text (statement, index, text, -1, SQLITE_TRANSIENT);
  else
    sqlite3_bind_text (statement, index, g_utf8_make_valid (text, -1), -1, g_free);
}

void
_khadim_db_bind_json (KhadimStatement *statement,
                      int              index,
                      JsonNode        *node)
{
  if (node == NULL)
    sqlite3_bind_null (statement, index);
  else
    sqlite3_bind_text (statement, index, khadim_json_to_string (node), -1, g_free);
}

static void
bind_field (KhadimStatement   *statement,
            int                index,
            const KhadimField *field,
            gconstpointer      record)
{
  switch (field->kind)
    {
    case KHADIM_FIELD_STRING:
      _khadim_db_bind_text (statement, index,
                            *KHADIM_FIELD_AT_CONST (char *, record, field));
      break;
    case KHADIM_FIELD_JSON:
      _khadim_db_bind_json (statement, index,
                            *KHADIM_FIELD_AT_CONST (JsonNode *, record, field));
      break;
    case KHADIM_FIELD_INT64:
      sqlite3_bind_int64 (statement, index, *KHADIM_FIELD_AT_CONST (gint64, record, field));
      break;
    case KHADIM_FIELD_INT:
      sqlite3_bind_int (statement, index, *KHADIM_FIELD_AT_CONST (int, record, field));
      break;
    case KHADIM_FIELD_SESSION_STATE:
      sqlite3_bind_text (statement, index,
                         khadim_session_state_to_string (
                           *KHADIM_FIELD_AT_CONST (KhadimSessionState, record, field)),
                         -1, SQLITE_STATIC);
      break;
    case KHADIM_FIELD_CALL_STATE:
      sqlite3_bind_text (statement, index,
                         khadim_call_state_to_string (
                           *KHADIM_FIELD_AT_CONST (KhadimCallState, record, field)),
                         -1, SQLITE_STATIC);
      break;
    case KHADIM_FIELD_DOCUMENT:
      break;
    default:
      g_assert_not_reached ();
    }
}

/*< private >
 * _khadim_db_bind_record:
 * @statement: a statement with a parameter for each field, ?1 being the first
 * @shape: the kind of @record
 * @record: a record
 *
 * Binds all fields but the document, which has its own table.
 */
void
_khadim_db_bind_record (KhadimStatement         *statement,
                        const KhadimRecordShape *shape,
                        gconstpointer            record)
{
  for (guint i = 0; i < shape->n_fields; i++)
    bind_field (statement, (int) i + 1, &shape->fields[i], record);
}

char *
_khadim_db_column_text (KhadimStatement *statement,
                        int              index)
{
  return g_strdup ((const char *) sqlite3_column_text (statement, index));
}

/*< private >
 * _khadim_db_column_json:
 * @statement: a statement with a row
 * @index: a column, from 0
 * @out_node: (out) (transfer full) (nullable): the value, sealed
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * The store wrote this itself, so that only its depth and size are free.
 *
 * Returns: whether the column holds JSON or nothing
 */
gboolean
_khadim_db_column_json (KhadimStatement  *statement,
                        int               index,
                        JsonNode        **out_node,
                        GError          **error)
{
  static const KhadimJsonLimits limits = {
    .max_depth = KHADIM_JSON_DEPTH_CEILING,
    .max_bytes = MAX_TEXT_BYTES,
    .max_values = MAX_TEXT_BYTES,
  };
  const char *text = (const char *) sqlite3_column_text (statement, index);
  g_autoptr(GError) local_error = NULL;
  JsonNode *node;

  *out_node = NULL;
  if (text == NULL)
    return TRUE;

  node = khadim_json_parse (text, sqlite3_column_bytes (statement, index), &limits, &local_error);
  if (node == NULL)
    {
      g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_CORRUPT,
                   "Column “%s” does not hold JSON: %s",
                   sqlite3_column_name (statement, index), local_error->message);
      return FALSE;
    }
  json_node_seal (node);
  *out_node = node;

  return TRUE;
}

static gboolean
set_state_error (KhadimStatement  *statement,
                 int               index,
                 GError          **error)
{
  g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_CORRUPT,
               "Column “%s” does not hold a state",
               sqlite3_column_name (statement, index));

  return FALSE;
}

static gboolean
read_field (KhadimStatement    *statement,
            int                 index,
            const KhadimField  *field,
            gpointer            record,
            GError            **error)
{
  const char *text;

  switch (field->kind)
    {
    case KHADIM_FIELD_STRING:
    case KHADIM_FIELD_DOCUMENT:
      *KHADIM_FIELD_AT (char *, record, field) = _khadim_db_column_text (statement, index);
      return TRUE;
    case KHADIM_FIELD_JSON:
      return _khadim_db_column_json (statement, index,
                                     KHADIM_FIELD_AT (JsonNode *, record, field), error);
    case KHADIM_FIELD_INT64:
      *KHADIM_FIELD_AT (gint64, record, field) = sqlite3_column_int64 (statement, index);
      return TRUE;
    case KHADIM_FIELD_INT:
      *KHADIM_FIELD_AT (int, record, field) = sqlite3_column_int (statement, index);
      return TRUE;
    case KHADIM_FIELD_SESSION_STATE:
      text = (const char *) sqlite3_column_text (statement, index);
      return (text != NULL
              && khadim_session_state_from_string (text, KHADIM_FIELD_AT (KhadimSessionState,
                                                                          record, field)))
             || set_state_error (statement, index, error);
    case KHADIM_FIELD_CALL_STATE:
      text = (const char *) sqlite3_column_text (statement, index);
      return (text != NULL
              && khadim_call_state_from_string (text, KHADIM_FIELD_AT (KhadimCallState,
                                                                       record, field)))
             || set_state_error (statement, index, error);
    default:
      g_assert_not_reached ();
    }
}

/*< private >
 * _khadim_db_read_record:
 * @statement: a statement whose row has a column for each field, in order
 * @shape: the kind of record
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Returns: (transfer full): the record of the row
 */
gpointer
_khadim_db_read_record (KhadimStatement          *statement,
                        const KhadimRecordShape  *shape,
                        GError                  **error)
{
  gpointer record = _khadim_record_new (shape);

  for (guint i = 0; i < shape->n_fields; i++)
    {
      if (!read_field (statement, (int) i, &shape->fields[i], record, error))
        {
          _khadim_record_free (shape, record);
          return NULL;
        }
    }

  return record;
}

/*< private >
 * _khadim_db_read_event:
 * @statement: a statement whose row has the columns of `events`, in order
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Returns: (transfer full): the event of the row
 */
KhadimEvent *
_khadim_db_read_event (KhadimStatement  *statement,
                       GError          **error)
{
  const char *channel_name = (const char *) sqlite3_column_text (statement, 3);
  const char *event_type = (const char *) sqlite3_column_text (statement, 4);
  g_autoptr(JsonNode) metadata = NULL;
  KhadimChannel channel;
  KhadimEvent *event;

  if (!_khadim_db_column_json (statement, 6, &metadata, error))
    return NULL;
  if (channel_name == NULL || event_type == NULL
      || sqlite3_column_int64 (statement, 1) < 1
      || !khadim_channel_from_string (channel_name, &channel)
      || (metadata != NULL && !JSON_NODE_HOLDS_OBJECT (metadata)))
    {
      g_set_error_literal (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_CORRUPT,
                           "A row of “events” is not an event");
      return NULL;
    }

  event = khadim_event_new ((const char *) sqlite3_column_text (statement, 0),
                            sqlite3_column_int64 (statement, 1),
                            sqlite3_column_int64 (statement, 2),
                            channel, event_type,
                            (const char *) sqlite3_column_text (statement, 5),
                            metadata);
  khadim_event_set_run (event,
                        (const char *) sqlite3_column_text (statement, 7),
                        (const char *) sqlite3_column_text (statement, 8));

  return event;
}
