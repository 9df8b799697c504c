/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What the tests of stores share: folders, records, bounded waits. */

#pragma once

#include <glib/gstdio.h>

#include "engine/base/khadim-time.h"
#include "engine/base/khadim-uuid.h"
#include "engine/json/khadim-json.h"
#include "engine/store/khadim-store-sqlite.h"

#define WAIT_LIMIT_MS 20000

static inline JsonNode *
parse_json (const char *text)
{
  g_autoptr(GError) error = NULL;
  JsonNode *node = khadim_json_parse (text, -1, NULL, &error);

  g_assert_no_error (error);
  json_node_seal (node);

  return node;
}

static inline void
remove_tree (const char *path)
{
  g_autoptr(GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      if (g_file_test (child, G_FILE_TEST_IS_DIR) && !g_file_test (child, G_FILE_TEST_IS_SYMLINK))
        remove_tree (child);
      else
        g_assert_cmpint (g_unlink (child), ==, 0);
    }
  g_assert_cmpint (g_rmdir (path), ==, 0);
}

static inline char *
make_test_folder (void)
{
  g_autoptr(GError) error = NULL;
  char *folder = g_dir_make_tmp ("khadim-test-XXXXXX", &error);

  g_assert_no_error (error);

  return folder;
}

/* In memory if there is such a place: for tests that flush very often. */
static inline char *
make_memory_folder (void)
{
  g_autofree char *folder = g_strdup ("/dev/shm/khadim-test-XXXXXX");

  return g_mkdtemp (folder) != NULL ? g_steal_pointer (&folder) : make_test_folder ();
}

static inline KhadimStore *
open_store (const char *folder)
{
  g_autoptr(GError) error = NULL;
  KhadimStore *store = khadim_store_sqlite_new (folder, &error);

  g_assert_no_error (error);
  g_assert_nonnull (store);

  return store;
}

static inline KhadimSessionRecord *
make_session (void)
{
  KhadimSessionRecord *session = khadim_session_record_new ();

  session->id = khadim_uuid7_new ();
  session->created_us = khadim_time_now_us ();

  return session;
}

static inline KhadimEvent *
make_event (const char *session_id,
            gint64      seq)
{
  return khadim_event_new (session_id, seq, khadim_time_now_us (), KHADIM_CHANNEL_PROGRESS,
                           "step_start", "A step", NULL);
}

static inline void
commit (KhadimStore      *store,
        KhadimStoreBatch *batch)
{
  g_autoptr(GError) error = NULL;

  khadim_store_commit_sync (store, batch, KHADIM_DURABILITY_PROCESS, &error);
  g_assert_no_error (error);
}

static inline void
commit_fails (KhadimStore      *store,
              KhadimStoreBatch *batch,
              KhadimStoreError  code)
{
  g_autoptr(GError) error = NULL;

  g_assert_false (khadim_store_commit_sync (store, batch, KHADIM_DURABILITY_PROCESS, &error));
  g_assert_error (error, KHADIM_STORE_ERROR, (int) code);
}

/* Puts a new session into the store and gives its id. */
static inline char *
put_new_session (KhadimStore *store)
{
  g_autoptr(KhadimSessionRecord) session = make_session ();
  KhadimStoreBatch *batch = khadim_store_batch_new ();

  khadim_store_batch_put_session (batch, session);
  commit (store, batch);

  return g_steal_pointer (&session->id);
}

static inline gint64
last_seq (KhadimStore *store,
          const char  *session_id)
{
  g_autoptr(GError) error = NULL;
  gint64 seq = khadim_store_get_last_seq (store, session_id, &error);

  g_assert_no_error (error);

  return seq;
}

static inline gboolean
on_wait_limit_cb (gpointer data)
{
  g_error ("Nothing happened for %d ms", WAIT_LIMIT_MS);

  return G_SOURCE_REMOVE;
}

/* Runs the default context until a counter reaches a value. */
static inline void
wait_until (const guint *counter,
            guint        value)
{
  guint limit_id = g_timeout_add (WAIT_LIMIT_MS, on_wait_limit_cb, NULL);

  while (*counter < value)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (limit_id);
}
