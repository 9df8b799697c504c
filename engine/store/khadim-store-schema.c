/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-store-schema"

#include "config.h"

#include "engine/store/khadim-store-schema-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <gio/gio.h>

#include "engine/base/khadim-fd-private.h"
#include "engine/store/khadim-store.h"

/* "KHAD", in the header of the database */
#define APPLICATION_ID 0x4b484144
#define APPLICATION_ID_TEXT "1263026500"
#define BACKUP_PAGES_PER_STEP -1
#define FUSE_MAGIC 0x65735546

/* Columns stand in the order of the fields of the records. */
static const char schema_1[] =
  "CREATE TABLE sessions ("
  " id TEXT PRIMARY KEY NOT NULL,"
  " parent_session_id TEXT,"
  " parent_call_id TEXT,"
  " driver TEXT,"
  " title TEXT,"
  " automation TEXT,"
  " assets_dir TEXT,"
  " work_dir TEXT,"
  " workspace_id TEXT,"
  " inputs TEXT,"
  " options TEXT,"
  " state TEXT NOT NULL,"
  " outcome TEXT,"
  " error_code TEXT,"
  " error_message TEXT,"
  " output TEXT,"
  " owner TEXT,"
  " created_us INTEGER NOT NULL,"
  " updated_us INTEGER NOT NULL,"
  " ended_us INTEGER NOT NULL"
  ");"
  "CREATE INDEX sessions_by_time ON sessions (created_us) WHERE parent_session_id IS NULL;"
  "CREATE INDEX sessions_by_automation ON sessions (automation, created_us)"
  " WHERE parent_session_id IS NULL;"
  "CREATE INDEX sessions_by_parent ON sessions (parent_session_id, created_us)"
  " WHERE parent_session_id IS NOT NULL;"
  /* Apart, so that a change of state does not write it again */
  "CREATE TABLE documents ("
  " session_id TEXT PRIMARY KEY NOT NULL,"
  " document TEXT NOT NULL"
  ");"
  "CREATE TABLE runs ("
  " id TEXT PRIMARY KEY NOT NULL,"
  " session_id TEXT NOT NULL,"
  " started_by TEXT,"
  " attempt INTEGER NOT NULL,"
  " outcome TEXT,"
  " started_us INTEGER NOT NULL,"
  " ended_us INTEGER NOT NULL"
  ");"
  "CREATE INDEX runs_by_session ON runs (session_id, started_us);"
  "CREATE TABLE tool_calls ("
  " id TEXT PRIMARY KEY NOT NULL,"
  " session_id TEXT NOT NULL,"
  " run_id TEXT,"
  " position TEXT NOT NULL,"
  " step_id TEXT,"
  " title TEXT,"
  " tool TEXT,"
  " args TEXT,"
  " state TEXT NOT NULL,"
  " result TEXT,"
  " detail TEXT,"
  " error_code TEXT,"
  " error_message TEXT,"
  " error_scope TEXT,"
  " audit TEXT,"
  " created_us INTEGER NOT NULL,"
  " started_us INTEGER NOT NULL,"
  " ended_us INTEGER NOT NULL,"
  " UNIQUE (session_id, position)"
  ");"
  "CREATE TABLE events ("
  " session_id TEXT NOT NULL,"
  " seq INTEGER NOT NULL,"
  " time_us INTEGER NOT NULL,"
  " channel TEXT NOT NULL,"
  " event_type TEXT NOT NULL,"
  " content TEXT,"
  " metadata TEXT,"
  " run_id TEXT,"
  " workspace_id TEXT,"
  " PRIMARY KEY (session_id, seq)"
  ") WITHOUT ROWID;"
  /* Each row is one reference to the content under its sum. */
  "CREATE TABLE artifacts ("
  " session_id TEXT NOT NULL,"
  " call_id TEXT,"
  " role TEXT,"
  " name TEXT,"
  " media_type TEXT,"
  " sha256 TEXT NOT NULL,"
  " size_bytes INTEGER NOT NULL,"
  " created_us INTEGER NOT NULL"
  ");"
  "CREATE INDEX artifacts_by_session ON artifacts (session_id);"
  "CREATE INDEX artifacts_by_sum ON artifacts (sha256, session_id);"
  "CREATE TABLE commands ("
  " id INTEGER PRIMARY KEY AUTOINCREMENT,"
  " session_id TEXT NOT NULL,"
  " kind TEXT NOT NULL,"
  " payload TEXT,"
  " by_whom TEXT,"
  " created_us INTEGER NOT NULL,"
  " handled_us INTEGER NOT NULL"
  ");"
  "CREATE INDEX commands_unhandled ON commands (session_id) WHERE handled_us = 0;"
  "CREATE TABLE automations ("
  " name TEXT PRIMARY KEY NOT NULL,"
  " folder TEXT,"
  " title TEXT,"
  " updated_us INTEGER NOT NULL,"
  " last_run_us INTEGER NOT NULL,"
  " last_outcome TEXT"
  ");";

/* Never changed once released: a later version gets a further row. */
static const KhadimMigration migrations_of_store[] = {
  { 1, schema_1 },
};

/* File systems whose locks or shared memory do not reach other machines:
 * linux/magic.h, and those that the kernel does not list there. */
static const struct
{
  guint32 magic;
  const char *name;
} network_file_systems[] = {
  { 0x00006969, "NFS" },
  { 0x0000517b, "SMB" },
  { 0xfe534d42, "SMB" },
  { 0xff534d42, "CIFS" },
  { 0x5346414f, "AFS" },
  { 0x6b414653, "AFS" },
  { 0x73757245, "Coda" },
  { 0x01021997, "9P" },
  { 0x00c36400, "Ceph" },
  { 0x0bd00bd0, "Lustre" },
  { 0x01161970, "GFS2" },
  { 0x7461636f, "OCFS2" },
  { 0x47504653, "GPFS" },
  { 0x19830326, "BeeGFS" },
  { 0x786f4256, "VirtualBox shared folder" },
};

/* FUSE serves local and remote places alike; the kind stands in mountinfo, see
 * proc_pid_mountinfo(5). */
static const char *const network_fuse_kinds[] = {
  "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.davfs", "fuse.glusterfs", "fuse.ceph-fuse",
  "fuse.curlftpfs", "fuse.gvfsd-fuse", "fuse.juicefs", NULL,
};

/* "36 35 98:0 /root /point options [tags…] - kind source options" */
static gboolean
is_network_mount (const char *line,
                  const char *device)
{
  g_auto(GStrv) words = g_strsplit (line, " ", -1);
  guint n_words = g_strv_length (words);

  if (n_words < 3 || !g_str_equal (words[2], device))
    return FALSE;

  for (guint i = 3; i + 1 < n_words; i++)
    {
      if (g_str_equal (words[i], "-"))
        return g_strv_contains (network_fuse_kinds, words[i + 1]);
    }

  return FALSE;
}

/*< private >
 * _khadim_store_is_network_fuse:
 * @mountinfo: the content of `/proc/self/mountinfo`
 * @device_major: of the device that a place lies on
 * @device_minor: of the device that a place lies on
 *
 * Returns: whether that device is a FUSE file system of another machine
 */
gboolean
_khadim_store_is_network_fuse (const char *mountinfo,
                               guint       device_major,
                               guint       device_minor)
{
  g_auto(GStrv) lines = g_strsplit (mountinfo, "\n", -1);
  g_autofree char *device = g_strdup_printf ("%u:%u", device_major, device_minor);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      if (is_network_mount (lines[i], device))
        return TRUE;
    }

  return FALSE;
}

static gboolean
lies_on_network_fuse (const char *folder)
{
  g_autofree char *mountinfo = NULL;
  struct stat info;

  return stat (folder, &info) == 0
         && g_file_get_contents ("/proc/self/mountinfo", &mountinfo, NULL, NULL)
         && _khadim_store_is_network_fuse (mountinfo, major (info.st_dev), minor (info.st_dev));
}

static gboolean
set_network_error (GError     **error,
                   const char  *folder,
                   const char  *kind)
{
  g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_UNSUPPORTED,
               "“%s” lies on a network file system (%s), where a store is not safe: "
               "choose a local folder by KHADIM_HOME",
               folder, kind);

  return FALSE;
}

/*< private >
 * _khadim_store_check_place:
 * @folder: a folder that exists
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * The write-ahead log needs memory shared between all who use the database
 * (https://www.sqlite.org/wal.html), which network file systems lack.
 *
 * Returns: whether a store can lie there; if not, `UNSUPPORTED`
 */
gboolean
_khadim_store_check_place (const char  *folder,
                           GError     **error)
{
  struct statfs info;

  if (statfs (folder, &info) != 0)
    {
      g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_FAILED,
                   "Looking at “%s”: %s", folder, g_strerror (errno));
      return FALSE;
    }

  for (guint i = 0; i < G_N_ELEMENTS (network_file_systems); i++)
    {
      if (network_file_systems[i].magic == (guint32) info.f_type)
        return set_network_error (error, folder, network_file_systems[i].name);
    }
  if ((guint32) info.f_type == FUSE_MAGIC && lies_on_network_fuse (folder))
    return set_network_error (error, folder, "FUSE");

  return TRUE;
}

static int
newest_version (const KhadimMigration *migrations,
                guint                  n_migrations)
{
  return migrations[n_migrations - 1].version;
}

static gboolean
set_newer_error (KhadimDb  *db,
                 gint64     version,
                 int        newest,
                 GError   **error)
{
  g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_NEWER,
               "“%s” was written by a newer Khadim: its schema is %" G_GINT64_FORMAT
               ", this version knows %d",
               _khadim_db_get_path (db), version, newest);

  return FALSE;
}

static gboolean
copy_pages (KhadimDb    *target,
            KhadimDb    *source,
            GError     **error)
{
  sqlite3_backup *backup = sqlite3_backup_init (_khadim_db_get_handle (target), "main",
                                                _khadim_db_get_handle (source), "main");

  if (backup == NULL)
    return _khadim_db_set_error (target, "Copying to", error);

  sqlite3_backup_step (backup, BACKUP_PAGES_PER_STEP);
  if (sqlite3_backup_finish (backup) != SQLITE_OK)
    return _khadim_db_set_error (target, "Copying to", error);

  return TRUE;
}

/* The copy is whole before it gets its name. A second connection reads it, as
 * the backup API does not copy from one that writes. */
static gboolean
back_up (KhadimDb  *db,
         gint64     version,
         GError   **error)
{
  const char *path = _khadim_db_get_path (db);
  g_autofree char *copy_path = g_strdup_printf ("%s.v%" G_GINT64_FORMAT, path, version);
  g_autofree char *new_path = g_strdup_printf ("%s.new", copy_path);
  g_autoptr(KhadimDb) source = _khadim_db_open (path, KHADIM_DB_QUERY_ONLY, error);
  g_autoptr(KhadimDb) target = NULL;

  if (source == NULL)
    return FALSE;

  unlink (new_path);
  target = _khadim_db_open (new_path, KHADIM_DB_CREATE, error);
  if (target == NULL || !copy_pages (target, source, error))
    {
      unlink (new_path);
      return FALSE;
    }
  g_clear_pointer (&target, _khadim_db_free);

  if (chmod (new_path, 0600) != 0 || rename (new_path, copy_path) != 0)
    {
      g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_FAILED,
                   "Copying to “%s”: %s", copy_path, g_strerror (errno));
      return FALSE;
    }

  return TRUE;
}

static gboolean
run_migrations (KhadimDb               *db,
                gint64                  version,
                const KhadimMigration  *migrations,
                guint                   n_migrations,
                GError                **error)
{
  g_autofree char *set_version = NULL;

  for (guint i = 0; i < n_migrations; i++)
    {
      if (migrations[i].version > version && !_khadim_db_exec (db, migrations[i].sql, error))
        {
          g_prefix_error (error, "Migrating to schema %d: ", migrations[i].version);
          return FALSE;
        }
    }

  set_version = g_strdup_printf ("PRAGMA application_id = " APPLICATION_ID_TEXT ";"
                                 "PRAGMA user_version = %d",
                                 newest_version (migrations, n_migrations));

  return _khadim_db_exec (db, set_version, error);
}

/* Under the lock: another process may have migrated while this one waited. */
static gboolean
migrate_locked (KhadimDb               *db,
                const KhadimMigration  *migrations,
                guint                   n_migrations,
                GError                **error)
{
  int newest = newest_version (migrations, n_migrations);
  gint64 version;

  if (!_khadim_db_get_int (db, "PRAGMA user_version", &version, error))
    return FALSE;
  if (version > newest)
    return set_newer_error (db, version, newest, error);
  if (version == newest)
    return TRUE;
  if (version > 0 && !back_up (db, version, error))
    return FALSE;

  return run_migrations (db, version, migrations, n_migrations, error)
         && _khadim_db_exec (db, "COMMIT", error);
}

/*< private >
 * _khadim_store_migrate:
 * @db: a connection outside of a transaction
 * @migrations: all steps, ascending
 * @n_migrations: how many
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Brings the database forward: under an exclusive lock, all steps or none, and
 * after a copy `<database>.v<old version>`. A newer database is left alone.
 *
 * Returns: whether the database has the newest schema
 */
gboolean
_khadim_store_migrate (KhadimDb               *db,
                       const KhadimMigration  *migrations,
                       guint                   n_migrations,
                       GError                **error)
{
  int newest = newest_version (migrations, n_migrations);
  gboolean done;
  gint64 version;

  if (!_khadim_db_get_int (db, "PRAGMA user_version", &version, error))
    return FALSE;
  if (version > newest)
    return set_newer_error (db, version, newest, error);
  if (version == newest)
    return TRUE;

  if (!_khadim_db_exec (db, "BEGIN EXCLUSIVE", error))
    return FALSE;
  done = migrate_locked (db, migrations, n_migrations, error);
  if (_khadim_db_in_transaction (db))
    _khadim_db_exec (db, "ROLLBACK", NULL);

  return done;
}

/* An empty or foreign file is never taken over: it may be all that is left of
 * something. */
static gboolean
check_identity (KhadimDb  *db,
                GError   **error)
{
  gint64 application_id;

  if (!_khadim_db_get_int (db, "PRAGMA application_id", &application_id, error))
    return FALSE;
  if (application_id != APPLICATION_ID)
    {
      g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_CORRUPT,
                   "“%s” is not a database of Khadim", _khadim_db_get_path (db));
      return FALSE;
    }

  return TRUE;
}

/* A file system may refuse the shared memory that the mode needs; then the
 * database silently stays in another. */
static gboolean
check_mode (KhadimDb  *db,
            GError   **error)
{
  g_autoptr(KhadimStatement) statement = _khadim_db_prepare (db, "PRAGMA journal_mode", error);
  gboolean row;

  if (statement == NULL || !_khadim_db_next (db, statement, &row, error))
    return FALSE;
  if (!row || g_strcmp0 ((const char *) sqlite3_column_text (statement, 0), "wal") != 0)
    {
      g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_UNSUPPORTED,
                   "“%s” cannot be used in the write-ahead mode", _khadim_db_get_path (db));
      return FALSE;
    }

  return TRUE;
}

static gboolean
check_tables (KhadimDb  *db,
              GError   **error)
{
  gint64 n_tables;

  if (!_khadim_db_get_int (db,
                           "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN"
                           " ('sessions', 'documents', 'runs', 'tool_calls', 'events',"
                           "  'artifacts', 'commands', 'automations')",
                           &n_tables, error))
    return FALSE;
  if (n_tables != 8)
    {
      g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_CORRUPT,
                   "“%s” lacks tables", _khadim_db_get_path (db));
      return FALSE;
    }

  return TRUE;
}

/*< private >
 * _khadim_store_open:
 * @path: a database that exists
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Opens the writing connection and migrates. A database that is damaged, foreign
 * or newer is not changed: not even its log is moved into it at closing.
 *
 * Returns: (transfer full): the connection
 */
KhadimDb *
_khadim_store_open (const char  *path,
                    GError     **error)
{
  g_autoptr(KhadimDb) db = _khadim_db_open (path, KHADIM_DB_READ_WRITE, error);

  if (db == NULL)
    return NULL;

  sqlite3_db_config (_khadim_db_get_handle (db), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  if (!check_identity (db, error)
      || !_khadim_store_migrate (db, migrations_of_store, G_N_ELEMENTS (migrations_of_store),
                                 error)
      || !check_mode (db, error)
      || !check_tables (db, error))
    return NULL;
  sqlite3_db_config (_khadim_db_get_handle (db), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);

  return g_steal_pointer (&db);
}

/* Closed before SQLite opens it: closing a descriptor frees the locks that the
 * process has on the file. */
static gboolean
make_empty (const char  *path,
            GError     **error)
{
  g_auto(KhadimFd) fd = open (path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int errsv = errno;

  if (fd >= 0)
    return TRUE;

  g_set_error (error, KHADIM_STORE_ERROR,
               errsv == ENOSPC || errsv == EDQUOT ? KHADIM_STORE_ERROR_FULL
                                                  : KHADIM_STORE_ERROR_FAILED,
               "Making “%s”: %s", path, g_strerror (errsv));

  return FALSE;
}

/* The write-ahead mode comes last: with it on, closing would have to move the
 * log into the database, and cannot say that it failed. */
static gboolean
fill_new (const char  *path,
          GError     **error)
{
  g_autoptr(KhadimDb) db = NULL;

  if (!make_empty (path, error))
    return FALSE;

  db = _khadim_db_open (path, KHADIM_DB_READ_WRITE, error);

  return db != NULL
         && _khadim_db_exec (db, "PRAGMA synchronous = FULL", error)
         && _khadim_store_migrate (db, migrations_of_store, G_N_ELEMENTS (migrations_of_store),
                                   error)
         && _khadim_db_exec (db, "PRAGMA journal_mode = WAL", error);
}

static gboolean
give_name (const char  *new_path,
           const char  *path,
           GError     **error)
{
  int errsv;

  if (renameat2 (AT_FDCWD, new_path, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
    return TRUE;

  /* Not every file system knows the flag. */
  errsv = errno;
  if ((errsv == EINVAL || errsv == ENOSYS) && link (new_path, path) == 0)
    {
      unlink (new_path);
      return TRUE;
    }
  if (errsv == EINVAL || errsv == ENOSYS)
    errsv = errno;
  unlink (new_path);
  if (errsv == EEXIST)
    return TRUE;

  g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_FAILED,
               "Making “%s”: %s", path, g_strerror (errsv));

  return FALSE;
}

/* A folder above the store may not be ours to open, and not every file system
 * can flush one. */
static gboolean
sync_folder (const char  *path,
             GError     **error)
{
  g_auto(KhadimFd) fd = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  if (fd >= 0 && fsync (fd) == 0)
    return TRUE;
  if (errno == EACCES || errno == EINVAL)
    return TRUE;

  g_set_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_FAILED,
               "Flushing “%s”: %s", path, g_strerror (errno));

  return FALSE;
}

/*< private >
 * _khadim_store_create:
 * @path: where no database is
 * @owner_id: the name of this engine
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Makes an empty database under another name and gives it @path when it is
 * whole. If another process was faster, its database stays.
 *
 * Returns: whether there is a database now
 */
gboolean
_khadim_store_create (const char  *path,
                      const char  *owner_id,
                      GError     **error)
{
  g_autofree char *new_path = g_strconcat (path, ".new-", owner_id, NULL);
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *parent = g_path_get_dirname (folder);

  if (!fill_new (new_path, error))
    {
      unlink (new_path);
      return FALSE;
    }

  /* The names have to outlive a loss of power, as what is committed does. */
  return give_name (new_path, path, error)
         && sync_folder (folder, error)
         && sync_folder (parent, error);
}
