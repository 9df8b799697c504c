/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <glib/gstdio.h>
#include <sqlite3.h>

#include "engine/json/khadim-json.h"
#include "tests/engine/player-harness.h"

/* Steps per second of a tool that does nothing, with every state written down:
 * a tool that only reads (a kill of the process is survived) and one that
 * changes (a loss of power is). Beside them, in the same run, the same number
 * of bare transactions of SQLite on the same disk, two and one a step. */
#define STEPS 2000

static double
play (const char *tool)
{
  Fixture fixture = { 0 };
  g_autofree char *steps = NULL;
  gint64 begun_us;
  double seconds;

  fixture_set_up (&fixture, NULL);
  steps = g_strdup_printf ("{'id':'r','repeat':%d,'steps':[{'id':'n','tool':'%s'}]}", STEPS, tool);
  begun_us = g_get_monotonic_time ();
  if (fixture_play (&fixture, steps) != KHADIM_OUTCOME_COMPLETED)
    g_error ("The run failed: %s", fixture.message);
  seconds = (double) (g_get_monotonic_time () - begun_us) / G_USEC_PER_SEC;
  fixture_tear_down (&fixture, NULL);

  return STEPS / seconds;
}

static void
must (int code)
{
  if (code != SQLITE_OK)
    g_error ("SQLite: %s", sqlite3_errstr (code));
}

/* What the disk gives at best: one row a transaction. */
static double
commit_bare (const char *synchronous,
             guint       commits_a_step)
{
  g_autofree char *folder = g_dir_make_tmp ("khadim-bench-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "bare.db", NULL);
  g_autofree char *pragma = g_strdup_printf ("PRAGMA journal_mode=WAL; PRAGMA synchronous=%s;"
                                             "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)",
                                             synchronous);
  sqlite3 *db = NULL;
  gint64 begun_us;
  double seconds;

  must (sqlite3_open (path, &db));
  must (sqlite3_exec (db, pragma, NULL, NULL, NULL));
  begun_us = g_get_monotonic_time ();
  for (guint i = 0; i < STEPS * commits_a_step; i++)
    must (sqlite3_exec (db, "INSERT INTO t (b) VALUES ('x')", NULL, NULL, NULL));
  seconds = (double) (g_get_monotonic_time () - begun_us) / G_USEC_PER_SEC;
  must (sqlite3_close (db));
  for (gsize i = 0; i < 3; i++)
    {
      static const char *const ends[] = { "", "-wal", "-shm" };
      g_autofree char *file = g_strconcat (path, ends[i], NULL);

      g_unlink (file);
    }
  g_rmdir (folder);

  return STEPS / seconds;
}

static void
add (JsonObject *result,
     const char *name,
     double      ours,
     double      bare)
{
  JsonObject *object = json_object_new ();

  json_object_set_double_member (object, "steps_per_second", ours);
  json_object_set_double_member (object, "bare_sqlite_per_second", bare);
  json_object_set_double_member (object, "ratio", ours / bare);
  json_object_set_object_member (result, name, object);
}

int
main (int    argc,
      char **argv)
{
  JsonObject *result = json_object_new ();
  g_autoptr(JsonNode) node = khadim_json_object (result);
  g_autofree char *text = NULL;

  add (result, "process", play ("test.look"), commit_bare ("NORMAL", 2));
  add (result, "machine", play ("test.noop"), commit_bare ("FULL", 1));
  text = khadim_json_to_string (node);
  g_print ("%s\n", text);

  return 0;
}
