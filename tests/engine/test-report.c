/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "engine/report/khadim-report.h"

#include <string.h>

#include "engine/base/khadim-time.h"
#include "engine/base/khadim-uuid.h"
#include "tests/engine/player-harness.h"

static const char *const names[] = { "index.html", "junit.xml", "report.json" };

static char *
read_report (Fixture    *fixture,
             const char *name)
{
  g_autofree char *path = g_build_filename (fixture->folder, "report", name, NULL);
  g_autoptr(GError) error = NULL;
  char *text = NULL;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);

  return text;
}

static void
write_report (Fixture *fixture)
{
  g_autofree char *folder = g_build_filename (fixture->folder, "report", NULL);
  g_autofree char *path = NULL;
  g_autofree char *expected = g_build_filename (folder, "index.html", NULL);
  g_autoptr(GError) error = NULL;

  khadim_report_write (fixture->store, fixture->session_id, folder, &path, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (path, ==, expected);
}

static void
play_with (Fixture    *fixture,
           const char *steps)
{
  g_assert_cmpint (fixture_play (fixture, steps), ==, KHADIM_OUTCOME_FAILED);
  write_report (fixture);
}

#define VALUE "correct horse battery"

static void
test_secret (Fixture       *fixture,
             gconstpointer  data)
{
  fixture_store_secret (fixture, "mail/password", VALUE);
  play_with (fixture,
             "{'id':'l','tool':'test.use_secret',"
             " 'args':{'value':{'secret':'mail/password','format':'Bearer %s'}}},"
             "{'id':'echo','title':'It is " VALUE "','fail':'No: " VALUE "'}");
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *text = read_report (fixture, names[i]);

      g_assert_null (strstr (text, VALUE));
      g_assert_nonnull (strstr (text, "mail/password"));
    }
}

/* The control: the same text, not known as a secret, is in each of them. */
static void
test_secret_control (Fixture       *fixture,
                     gconstpointer  data)
{
  play_with (fixture, "{'id':'echo','title':'It is " VALUE "','fail':'No: " VALUE "'}");
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *text = read_report (fixture, names[i]);

      g_assert_nonnull (strstr (text, VALUE));
    }
}

/* Pictures ----------------------------------------------------------------- */

static void
add_picture (Fixture    *fixture,
             const char *media_type,
             gsize       size,
             char        content)
{
  g_autoptr(KhadimStoreBatch) batch = khadim_store_batch_new ();
  g_autoptr(KhadimArtifactRecord) record = khadim_artifact_record_new ();
  g_autoptr(GPtrArray) calls = NULL;
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) error = NULL;
  char *data = g_malloc (size);

  calls = khadim_store_list_calls (fixture->store, fixture->session_id, &error);
  g_assert_no_error (error);
  memset (data, content, size);
  bytes = g_bytes_new_take (data, size);
  record->session_id = g_strdup (fixture->session_id);
  record->call_id = g_strdup (((KhadimToolCallRecord *) calls->pdata[0])->id);
  record->role = g_strdup ("place");
  record->name = g_strdup_printf ("%c.jpg", content);
  record->media_type = g_strdup (media_type);
  record->created_us = khadim_time_now_us ();
  khadim_store_batch_add_artifact (batch, record, bytes);
  khadim_store_commit_sync (fixture->store, g_steal_pointer (&batch), KHADIM_DURABILITY_PROCESS,
                            &error);
  g_assert_no_error (error);
}

static guint
count (const char *text,
       const char *part)
{
  guint n = 0;

  for (const char *p = strstr (text, part); p != NULL; p = strstr (p + 1, part))
    n++;

  return n;
}

/* Four pictures of a little more than a quarter of what may be in a page. */
static void
test_picture_budget (Fixture       *fixture,
                     gconstpointer  data)
{
  g_autofree char *text = NULL;
  gsize size = KHADIM_REPORT_MAX_PICTURE_BYTES / 4 / 4 * 3 + 3;

  fixture_play (fixture, "{'id':'a','script':'x = 1'}");
  for (char c = 'a'; c <= 'd'; c++)
    add_picture (fixture, "image/jpeg", size, c);
  write_report (fixture);
  text = read_report (fixture, "index.html");
  g_assert_cmpuint (count (text, "<img "), ==, 3);
  g_assert_cmpuint (count (text, "A picture is left out"), ==, 1);
  g_assert_cmpuint (strlen (text), <, KHADIM_REPORT_MAX_PICTURE_BYTES + 20000);
}

/* Only what a browser shows as a picture is put in, whatever a tool says. */
static void
test_picture_types (Fixture       *fixture,
                    gconstpointer  data)
{
  g_autofree char *text = NULL;

  fixture_play (fixture, "{'id':'a','script':'x = 1'}");
  add_picture (fixture, "image/x\" onerror=\"alert(1)", 10, 'a');
  add_picture (fixture, "image/svg+xml", 10, 'b');
  add_picture (fixture, "image/png", 10, 'c');
  write_report (fixture);
  text = read_report (fixture, "index.html");
  g_assert_cmpuint (count (text, "<img "), ==, 1);
  g_assert_null (strstr (text, "onerror"));
}

/* Errors ------------------------------------------------------------------- */

static void
test_no_session (Fixture       *fixture,
                 gconstpointer  data)
{
  g_autofree char *id = khadim_uuid7_new ();
  g_autofree char *folder = g_build_filename (fixture->folder, "report", NULL);
  g_autoptr(GError) error = NULL;

  g_assert_false (khadim_report_write (fixture->store, id, folder, NULL, &error));
  g_assert_error (error, KHADIM_STORE_ERROR, KHADIM_STORE_ERROR_NOT_FOUND);
  g_assert_false (g_file_test (folder, G_FILE_TEST_EXISTS));
}

static void
test_no_folder (Fixture       *fixture,
                gconstpointer  data)
{
  g_autofree char *folder = g_build_filename (fixture->folder, "file", "report", NULL);
  g_autofree char *file = g_build_filename (fixture->folder, "file", NULL);
  g_autoptr(GError) error = NULL;

  fixture_play (fixture, "{'id':'a','script':'x = 1'}");
  g_assert_true (g_file_set_contents (file, "x", 1, NULL));
  g_assert_false (khadim_report_write (fixture->store, fixture->session_id, folder, NULL, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOTDIR);
}

#define ADD(path, func) \
  g_test_add ("/engine/report/" path, Fixture, NULL, fixture_set_up, func, fixture_tear_down)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  ADD ("secret", test_secret);
  ADD ("secret-control", test_secret_control);
  ADD ("picture-budget", test_picture_budget);
  ADD ("picture-types", test_picture_types);
  ADD ("no-session", test_no_session);
  ADD ("no-folder", test_no_folder);

  return g_test_run ();
}
