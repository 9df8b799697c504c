/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-files"

#include "config.h"

#include "engine/tool/khadim-files-domain.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/tool/khadim-tool-io-private.h"
#include "tests/engine/tool-harness.h"

static void
set_up (Harness       *h,
        gconstpointer  data)
{
  harness_init (h, khadim_files_domain_new ());
}

static void
tear_down (Harness       *h,
           gconstpointer  data)
{
  harness_clear (h);
}

static void
test_infos (Harness       *h,
            gconstpointer  data)
{
  harness_check_infos (h);
  harness_refuses (h, "files.list", "{'folder':'.'}");
  harness_refuses (h, "files.list", "{'limit':0}");
  harness_refuses (h, "files.read", "{}");
  harness_refuses (h, "files.read", "{'path':'a','max_bytes':16777217}");
  harness_refuses (h, "files.write", "{'path':'a'}");
  harness_refuses (h, "files.copy", "{'from':'a'}");
  harness_refuses (h, "files.delete", "{'path':['a']}");
  harness_refuses (h, "files.wait_for", "{'path':'a','state':'here'}");
}

/* Looking --------------------------------------------------------------- */

static char *
names_of (JsonNode *listing)
{
  JsonArray *entries = khadim_json_get_array (json_node_get_object (listing), "entries");
  g_autoptr(GString) names = g_string_new (NULL);

  for (guint i = 0; i < json_array_get_length (entries); i++)
    {
      JsonObject *entry = json_array_get_object_element (entries, i);

      g_string_append_printf (names, "%s%s:%s", i > 0 ? " " : "",
                              khadim_json_get_string (entry, "name", ""),
                              khadim_json_get_string (entry, "kind", ""));
    }

  return g_string_free (g_steal_pointer (&names), FALSE);
}

static void
assert_lists (Harness    *h,
              const char *args,
              const char *expected)
{
  g_autoptr(JsonNode) listing = harness_ok (h, "files.list", args);
  g_autofree char *names = names_of (listing);

  g_assert_cmpstr (names, ==, expected);
}

static void
test_list (Harness       *h,
           gconstpointer  data)
{
  g_autofree char *sub = harness_path (h, "sub");
  g_autofree char *link = harness_path (h, "link");
  g_autoptr(JsonNode) cut = NULL;

  g_assert_no_errno (g_mkdir (sub, 0700));
  g_assert_no_errno (symlink ("sub", link));
  harness_put (h, "b.csv", "1", -1);
  harness_put (h, "a.txt", "22", -1);
  harness_put (h, "sub/c.csv", "333", -1);
  harness_put (h, ".hidden.csv", "", -1);

  assert_lists (h, "{}", "a.txt:file b.csv:file link:link sub:folder");
  assert_lists (h, "{'path':'sub'}", "c.csv:file");
  assert_lists (h, "{'pattern':'*.csv'}", "b.csv:file");
  assert_lists (h, "{'pattern':'?.*'}", "a.txt:file b.csv:file");
  assert_lists (h, "{'pattern':'*.csv','hidden':true}", ".hidden.csv:file b.csv:file");
  /* The link is not followed, or sub's file would come twice. */
  assert_lists (h, "{'pattern':'*.csv','recursive':true}", "b.csv:file c.csv:file");
  assert_lists (h, "{'kind':'folder'}", "sub:folder");

  cut = harness_ok (h, "files.list", "{'limit':2}");
  g_assert_cmpint (json_array_get_length (khadim_json_get_array (json_node_get_object (cut),
                                                                 "entries")), ==, 2);
  g_assert_true (khadim_json_get_boolean (json_node_get_object (cut), "truncated", FALSE));
}

static void
test_list_errors (Harness       *h,
                  gconstpointer  data)
{
  harness_put (h, "file", "", -1);
  harness_fails (h, "files.list", "{'path':'nowhere'}", KHADIM_TOOL_ERROR_NOT_FOUND, "nowhere");
  harness_fails (h, "files.list", "{'path':'file'}", KHADIM_TOOL_ERROR_NOT_FOUND, "no folder");
  harness_fails (h, "files.list", "{'path':'..'}", KHADIM_TOOL_ERROR_DENIED, h->root);
  harness_fails (h, "files.list", "{'pattern':'a/b'}", KHADIM_TOOL_ERROR_TOOL, "a/b");
}

/* A name that is not UTF-8 must not break the JSON, and is not hidden. */
static void
test_list_bytes (Harness       *h,
                 gconstpointer  data)
{
  g_autoptr(JsonNode) listing = NULL;
  JsonObject *entry;

  harness_put (h, "caf\351", "", 0);
  listing = harness_ok (h, "files.list", "{}");
  entry = json_array_get_object_element (khadim_json_get_array (json_node_get_object (listing),
                                                                "entries"), 0);
  g_assert_true (g_utf8_validate (khadim_json_get_string (entry, "path", NULL), -1, NULL));
  g_assert_true (khadim_json_get_boolean (entry, "unnameable", FALSE));
}

static void
test_info (Harness       *h,
           gconstpointer  data)
{
  g_autoptr(JsonNode) info = NULL;
  g_autoptr(JsonNode) missing = NULL;
  g_autofree char *path = harness_path (h, "a.txt");
  struct timespec times[2] = { { 1000000000, 0 }, { 1000000000, 250000000 } };
  JsonObject *object;

  harness_put (h, "a.txt", "hello", -1);
  g_assert_no_errno (utimensat (AT_FDCWD, path, times, 0));
  info = harness_ok (h, "files.info", "{'path':'a.txt'}");
  object = json_node_get_object (info);
  g_assert_cmpstr (khadim_json_get_string (object, "name", NULL), ==, "a.txt");
  g_assert_cmpstr (khadim_json_get_string (object, "path", NULL), ==, path);
  g_assert_cmpstr (khadim_json_get_string (object, "kind", NULL), ==, "file");
  g_assert_cmpint (khadim_json_get_int (object, "size", -1), ==, 5);
  g_assert_true (g_str_has_prefix (khadim_json_get_string (object, "modified", ""),
                                   "2001-09-09T01:46:40.25"));

  harness_fails (h, "files.info", "{'path':'b'}", KHADIM_TOOL_ERROR_NOT_FOUND, "b");
  missing = harness_ok (h, "files.exists", "{'path':'b'}");
  g_assert_false (khadim_json_get_boolean (json_node_get_object (missing), "exists", TRUE));
  harness_fails (h, "files.exists", "{'path':'../x'}", KHADIM_TOOL_ERROR_DENIED, "x");
}

static void
assert_reads (Harness    *h,
              const char *args,
              const char *expected)
{
  g_autoptr(JsonNode) value = harness_ok (h, "files.read", args);

  g_assert_cmpstr (khadim_json_get_string (json_node_get_object (value), "text", NULL), ==,
                   expected);
}

static void
test_read (Harness       *h,
           gconstpointer  data)
{
  g_autofree char *shipped = g_build_filename (h->assets, "shipped", NULL);

  harness_put (h, "utf8", "grün\r\n", -1);
  harness_put (h, "latin1", "gr\374n", -1);
  harness_put (h, "utf16", "\377\376g\000r\000", 6);
  harness_put (h, "bom", "\357\273\277x", -1);
  harness_put (h, "bytes", "\000\001\377", 3);
  harness_put (h, "empty", "", 0);
  g_assert_true (g_file_set_contents (shipped, "from the automation", -1, NULL));

  assert_reads (h, "{'path':'utf8'}", "grün\r\n");
  assert_reads (h, "{'path':'latin1','encoding':'windows-1252'}", "grün");
  assert_reads (h, "{'path':'utf16','encoding':'utf-16'}", "gr");
  assert_reads (h, "{'path':'bom'}", "x");
  assert_reads (h, "{'path':'bytes','encoding':'base64'}", "AAH/");
  assert_reads (h, "{'path':'empty'}", "");
  assert_reads (h, "{'path':'empty','encoding':'base64'}", "");
  assert_reads (h, "{'path':'shipped'}", "from the automation");
}

static void
test_read_errors (Harness       *h,
                  gconstpointer  data)
{
  g_autofree char *pipe_path = harness_path (h, "pipe");

  harness_put (h, "latin1", "gr\374n", -1);
  harness_put (h, "nul", "ab\000c", 4);
  harness_put (h, "long", "123456", -1);
  harness_put (h, "odd", "a\000b", 3);
  g_assert_no_errno (mkfifo (pipe_path, 0600));

  harness_fails (h, "files.read", "{'path':'latin1'}", KHADIM_TOOL_ERROR_TOOL, "Byte 2 (0xFC)");
  harness_fails (h, "files.read", "{'path':'nul'}", KHADIM_TOOL_ERROR_TOOL, "Byte 2 is NUL");
  harness_fails (h, "files.read", "{'path':'latin1','encoding':'no-such'}",
                 KHADIM_TOOL_ERROR_TOOL, "no encoding “no-such”");
  harness_fails (h, "files.read", "{'path':'latin1','encoding':'ascii//IGNORE'}",
                 KHADIM_TOOL_ERROR_TOOL, "no name");
  harness_fails (h, "files.read", "{'path':'odd','encoding':'utf-16le'}",
                 KHADIM_TOOL_ERROR_TOOL, "byte 2 of 3");
  harness_fails (h, "files.read", "{'path':'long','max_bytes':5}", KHADIM_TOOL_ERROR_LIMIT, "5");
  assert_reads (h, "{'path':'long','max_bytes':6}", "123456");
  harness_fails (h, "files.read", "{'path':'.'}", KHADIM_TOOL_ERROR_TOOL, "folder");
  harness_fails (h, "files.read", "{'path':'pipe'}", KHADIM_TOOL_ERROR_TOOL, "no plain file");
  harness_fails (h, "files.read", "{'path':'nowhere'}", KHADIM_TOOL_ERROR_NOT_FOUND, "nowhere");
}

/* Changing -------------------------------------------------------------- */

static void
test_write (Harness       *h,
            gconstpointer  data)
{
  g_autofree char *path = harness_path (h, "a.txt");
  g_autofree char *link = harness_path (h, "link");
  g_autoptr(JsonNode) value = NULL;
  struct stat st;

  value = harness_ok (h, "files.write", "{'path':'a.txt','text':'gr\\u00fcn'}");
  g_assert_cmpint (khadim_json_get_int (json_node_get_object (value), "size", 0), ==, 5);
  harness_assert_content (h, "a.txt", "grün", -1);

  /* Replacing keeps the mode; a link stays one. */
  g_assert_no_errno (chmod (path, 0640));
  g_assert_no_errno (symlink ("a.txt", link));
  json_node_unref (harness_ok (h, "files.write",
                               "{'path':'link','text':'x','newline':true}"));
  harness_assert_content (h, "a.txt", "x\n", -1);
  g_assert_no_errno (lstat (path, &st));
  g_assert_cmpint (st.st_mode & 07777, ==, 0640);
  g_assert_no_errno (lstat (link, &st));
  g_assert_true (S_ISLNK (st.st_mode));

  json_node_unref (harness_ok (h, "files.write",
                               "{'path':'n/e/w','text':'gr\\u00fcn','encoding':'latin1'}"));
  harness_assert_content (h, "n/e/w", "gr\374n", -1);
  json_node_unref (harness_ok (h, "files.write",
                               "{'path':'b','text':'AAH/','encoding':'base64'}"));
  harness_assert_content (h, "b", "\000\001\377", 3);
  json_node_unref (harness_ok (h, "files.write",
                               "{'path':'m','text':'x','encoding':'utf-8-bom'}"));
  harness_assert_content (h, "m", "\357\273\277x", -1);
}

static void
assert_no_temp (Harness *h)
{
  g_autoptr(JsonNode) listing = NULL;
  g_autofree char *names = NULL;

  listing = harness_ok (h, "files.list",
                        "{'pattern':'.khadim-*','hidden':true,'recursive':true}");
  names = names_of (listing);
  g_assert_cmpstr (names, ==, "");
}

static void
test_write_errors (Harness       *h,
                   gconstpointer  data)
{
  g_autofree char *pipe_path = harness_path (h, "pipe");
  g_autofree char *null_link = harness_path (h, "null");

  harness_put (h, "a", "old", -1);
  g_assert_no_errno (mkfifo (pipe_path, 0600));
  g_assert_no_errno (symlink ("/dev/null", null_link));

  harness_fails (h, "files.write", "{'path':'a','text':'','overwrite':false}",
                 KHADIM_TOOL_ERROR_TOOL, "exists already");
  harness_fails (h, "files.write", "{'path':'a','text':'*','encoding':'base64'}",
                 KHADIM_TOOL_ERROR_TOOL, "base64");
  harness_fails (h, "files.write", "{'path':'a','text':'\\u20ac','encoding':'latin1'}",
                 KHADIM_TOOL_ERROR_TOOL, "byte 0");
  harness_assert_content (h, "a", "old", -1);
  harness_fails (h, "files.write", "{'path':'a/b','text':''}", KHADIM_TOOL_ERROR_NOT_FOUND, "a");
  harness_fails (h, "files.write", "{'path':'.','text':''}", KHADIM_TOOL_ERROR_TOOL, "folder");
  harness_fails (h, "files.write", "{'path':'pipe','text':''}", KHADIM_TOOL_ERROR_TOOL, "plain");
  harness_fails (h, "files.write", "{'path':'null','text':''}", KHADIM_TOOL_ERROR_DENIED, "null");
  harness_fails (h, "files.write", "{'path':'/dev/null','text':''}", KHADIM_TOOL_ERROR_TOOL,
                 "plain");
  harness_fails (h, "files.write", "{'path':'x/y','text':'','make_folders':false}",
                 KHADIM_TOOL_ERROR_NOT_FOUND, "x");
  harness_fails (h, "files.write", "{'path':'../a','text':''}", KHADIM_TOOL_ERROR_DENIED, "a");
  assert_no_temp (h);
}

/* A call made again after a crash finds its own file. */
static void
test_write_resumed (Harness       *h,
                    gconstpointer  data)
{
  const char *args = "{'path':'a','text':'mine','overwrite':false}";

  json_node_unref (harness_ok (h, "files.write", args));
  harness_fails (h, "files.write", args, KHADIM_TOOL_ERROR_TOOL, "exists already");
  h->resumed = TRUE;
  json_node_unref (harness_ok (h, "files.write", args));
  harness_put (h, "a", "not mine", -1);
  harness_fails (h, "files.write", args, KHADIM_TOOL_ERROR_TOOL, "exists already");
  harness_assert_content (h, "a", "not mine", -1);
}

static void
test_append (Harness       *h,
             gconstpointer  data)
{
  g_autoptr(JsonNode) value = NULL;

  json_node_unref (harness_ok (h, "files.append",
                               "{'path':'l/log','text':'one','newline':true}"));
  value = harness_ok (h, "files.append", "{'path':'l/log','text':'two\\n','newline':true}");
  harness_assert_content (h, "l/log", "one\ntwo\n", -1);
  g_assert_cmpint (khadim_json_get_int (json_node_get_object (value), "size", 0), ==, 8);

  /* The mark stands at the start of a file or nowhere. */
  json_node_unref (harness_ok (h, "files.append",
                               "{'path':'b','text':'1','encoding':'utf-8-bom'}"));
  json_node_unref (harness_ok (h, "files.append",
                               "{'path':'b','text':'2','encoding':'utf-8-bom'}"));
  harness_assert_content (h, "b", "\357\273\27712", -1);
  harness_fails (h, "files.append", "{'path':'/dev/null','text':''}", KHADIM_TOOL_ERROR_TOOL,
                 "plain");
}

static void
test_copy (Harness       *h,
           gconstpointer  data)
{
  g_autofree char *big = g_strnfill (3 * 1024 * 1024 + 17, 'k');
  g_autofree char *a = harness_path (h, "a");
  g_autofree char *copied = harness_path (h, "d/e/a");
  struct stat st;

  harness_put (h, "a", big, -1);
  g_assert_no_errno (chmod (a, 0750));
  json_node_unref (harness_ok (h, "files.copy", "{'from':'a','to':'b'}"));
  harness_assert_content (h, "b", big, -1);
  harness_assert_content (h, "a", big, -1);
  json_node_unref (harness_ok (h, "files.copy", "{'from':'a','to':'d/e/'}"));
  harness_assert_content (h, "d/e/a", big, -1);
  g_assert_no_errno (lstat (copied, &st));
  g_assert_cmpint (st.st_mode & 07777, ==, 0750);

  harness_put (h, "small", "s", -1);
  harness_fails (h, "files.copy", "{'from':'small','to':'b'}", KHADIM_TOOL_ERROR_TOOL, "exists");
  harness_assert_content (h, "b", big, -1);
  json_node_unref (harness_ok (h, "files.copy", "{'from':'small','to':'b','overwrite':true}"));
  harness_assert_content (h, "b", "s", -1);
}

static void
on_progress_cb (gint64   n_bytes,
                guint    n_entries,
                gpointer user_data)
{
  gint64 *last = user_data;

  g_assert_cmpint (n_bytes, >, *last);
  *last = n_bytes;
}

static void
test_copy_progress (Harness       *h,
                    gconstpointer  data)
{
  g_autofree char *big = g_strnfill (3 * 1024 * 1024 + 17, 'k');
  g_autofree char *from = harness_path (h, "a");
  g_autofree char *to = harness_path (h, "b");
  g_autoptr(GError) error = NULL;
  gint64 last = 0;

  harness_put (h, "a", big, -1);
  _khadim_tool_io_copy_tree (from, to, FALSE, on_progress_cb, &last, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (last, ==, 3 * 1024 * 1024 + 17);
}

/* Nothing in /proc knows its size. */
static void
test_copy_sizeless (Harness       *h,
                    gconstpointer  data)
{
  g_autofree char *version = NULL;

  g_assert_true (g_file_get_contents ("/proc/version", &version, NULL, NULL));
  json_node_unref (harness_ok (h, "files.copy", "{'from':'/proc/version','to':'v'}"));
  harness_assert_content (h, "v", version, -1);
}

static void
test_copy_folder (Harness       *h,
                  gconstpointer  data)
{
  g_autofree char *sub = harness_path (h, "from/sub");
  g_autofree char *link = harness_path (h, "from/link");
  g_autofree char *copied = harness_path (h, "to/link");
  g_autofree char *target = NULL;

  g_assert_no_errno (g_mkdir_with_parents (sub, 0700));
  g_assert_no_errno (symlink ("../outside", link));
  harness_put (h, "from/sub/x", "x", -1);
  harness_put (h, "from/.y", "y", -1);
  json_node_unref (harness_ok (h, "files.copy", "{'from':'from','to':'to'}"));
  harness_assert_content (h, "to/sub/x", "x", -1);
  harness_assert_content (h, "to/.y", "y", -1);
  target = g_file_read_link (copied, NULL);
  g_assert_cmpstr (target, ==, "../outside");

  harness_fails (h, "files.copy", "{'from':'from','to':'to','overwrite':true}",
                 KHADIM_TOOL_ERROR_TOOL, "not overwritten");
  harness_fails (h, "files.copy", "{'from':'from','to':'from/sub/again'}",
                 KHADIM_TOOL_ERROR_TOOL, "into itself");
  harness_fails (h, "files.copy", "{'from':'from','to':'from'}", KHADIM_TOOL_ERROR_TOOL, "same");
  assert_no_temp (h);
}

/* Half a folder is no folder. */
static void
test_copy_fails_whole (Harness       *h,
                       gconstpointer  data)
{
  g_autofree char *folder = harness_path (h, "from");
  g_autofree char *pipe_path = harness_path (h, "from/pipe");

  g_assert_no_errno (g_mkdir (folder, 0700));
  harness_put (h, "from/a", "a", -1);
  g_assert_no_errno (mkfifo (pipe_path, 0600));
  harness_fails (h, "files.copy", "{'from':'from','to':'to'}", KHADIM_TOOL_ERROR_TOOL, "pipe");
  g_assert_false (harness_has (h, "to"));
  assert_no_temp (h);
}

static void
test_copy_too_deep (Harness       *h,
                    gconstpointer  data)
{
  g_autoptr(GString) deep = g_string_new (h->work);

  for (guint i = 0; i < 140; i++)
    g_string_append (deep, "/d");
  g_assert_no_errno (g_mkdir_with_parents (deep->str, 0700));
  harness_fails (h, "files.copy", "{'from':'d','to':'e'}", KHADIM_TOOL_ERROR_LIMIT, "deeper");
  harness_fails (h, "files.list", "{'recursive':true}", KHADIM_TOOL_ERROR_LIMIT, "deeper");
  harness_fails (h, "files.delete", "{'path':'d','permanent':true}", KHADIM_TOOL_ERROR_LIMIT,
                 "deeper");
  g_assert_true (g_file_test (deep->str, G_FILE_TEST_IS_DIR));
}

static void
test_move (Harness       *h,
           gconstpointer  data)
{
  g_autofree char *link = harness_path (h, "link");

  harness_put (h, "a", "a", -1);
  json_node_unref (harness_ok (h, "files.move", "{'from':'a','to':'d/b'}"));
  harness_assert_content (h, "d/b", "a", -1);
  g_assert_false (harness_has (h, "a"));

  harness_put (h, "c", "c", -1);
  harness_fails (h, "files.move", "{'from':'c','to':'d/b'}", KHADIM_TOOL_ERROR_TOOL, "exists");
  harness_assert_content (h, "c", "c", -1);
  harness_assert_content (h, "d/b", "a", -1);
  json_node_unref (harness_ok (h, "files.move", "{'from':'c','to':'d/b','overwrite':true}"));
  harness_assert_content (h, "d/b", "c", -1);

  /* The link moves, not what it points to. */
  g_assert_no_errno (symlink ("d/b", link));
  json_node_unref (harness_ok (h, "files.move", "{'from':'link','to':'link2'}"));
  g_assert_true (harness_has (h, "d/b"));
  g_assert_false (harness_has (h, "link"));

  json_node_unref (harness_ok (h, "files.move", "{'from':'d','to':'moved'}"));
  harness_assert_content (h, "moved/b", "c", -1);
  harness_fails (h, "files.move", "{'from':'moved','to':'moved/in'}", KHADIM_TOOL_ERROR_TOOL,
                 "itself");
  harness_fails (h, "files.move", "{'from':'.','to':'/var/tmp/never'}",
                 KHADIM_TOOL_ERROR_DENIED, "work folder");
  harness_fails (h, "files.move", "{'from':'nowhere','to':'x'}", KHADIM_TOOL_ERROR_NOT_FOUND,
                 "nowhere");
}

/* From one file system to another, here from the disk to memory. */
static void
test_move_across (Harness       *h,
                  gconstpointer  data)
{
  g_autofree char *folder = g_strdup ("/dev/shm/khadim-move-XXXXXX");
  g_autofree char *args = NULL;
  g_autofree char *moved = NULL;
  g_autofree char *content = NULL;
  g_autofree char *from = harness_path (h, "d");
  struct stat here;
  struct stat there;

  if (g_mkdtemp (folder) == NULL
      || stat (folder, &there) != 0 || stat (h->work, &here) != 0 || there.st_dev == here.st_dev)
    {
      g_test_skip ("No second file system at /dev/shm");
      return;
    }

  g_assert_no_errno (g_mkdir (from, 0700));
  harness_put (h, "d/x", "x", -1);
  args = g_strdup_printf ("{'from':'d','to':'%s/'}", folder);
  json_node_unref (harness_ok (h, "files.move", args));
  moved = g_build_filename (folder, "d", "x", NULL);
  g_assert_true (g_file_get_contents (moved, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "x");
  g_assert_false (harness_has (h, "d"));

  g_clear_pointer (&args, g_free);
  args = g_strdup_printf ("{'path':'%s','permanent':true}", folder);
  json_node_unref (harness_ok (h, "files.delete", args));
  g_assert_false (g_file_test (folder, G_FILE_TEST_EXISTS));
}

static void
test_make_folder (Harness       *h,
                  gconstpointer  data)
{
  g_autoptr(JsonNode) first = harness_ok (h, "files.make_folder", "{'path':'a/b/c'}");
  g_autoptr(JsonNode) second = harness_ok (h, "files.make_folder", "{'path':'a/b/c'}");

  g_assert_true (khadim_json_get_boolean (json_node_get_object (first), "created", FALSE));
  g_assert_false (khadim_json_get_boolean (json_node_get_object (second), "created", TRUE));
  harness_put (h, "file", "", -1);
  harness_fails (h, "files.make_folder", "{'path':'file'}", KHADIM_TOOL_ERROR_TOOL, "file");
  harness_fails (h, "files.make_folder", "{'path':'file/x'}", KHADIM_TOOL_ERROR_NOT_FOUND, "file");
}

static void
test_delete (Harness       *h,
             gconstpointer  data)
{
  g_autofree char *sub = harness_path (h, "d/sub");
  g_autofree char *link = harness_path (h, "d/link");
  g_autoptr(JsonNode) missing = NULL;

  g_assert_no_errno (g_mkdir_with_parents (sub, 0700));
  harness_put (h, "d/sub/x", "x", -1);
  harness_put (h, "kept", "kept", -1);
  g_assert_no_errno (symlink ("../kept", link));

  json_node_unref (harness_ok (h, "files.delete", "{'path':'d','permanent':true}"));
  g_assert_false (harness_has (h, "d"));
  harness_assert_content (h, "kept", "kept", -1);

  harness_fails (h, "files.delete", "{'path':'d'}", KHADIM_TOOL_ERROR_NOT_FOUND, "d");
  missing = harness_ok (h, "files.delete", "{'path':'d','missing_ok':true}");
  g_assert_false (khadim_json_get_boolean (json_node_get_object (missing), "deleted", TRUE));
}

/* By default it can be got back. */
static void
test_delete_trash (Harness       *h,
                   gconstpointer  data)
{
  g_autofree char *trashed = g_build_filename (g_get_user_data_dir (), "Trash", "files",
                                               "a.txt", NULL);
  g_autofree char *content = NULL;

  harness_put (h, "a.txt", "precious", -1);
  json_node_unref (harness_ok (h, "files.delete", "{'path':'a.txt'}"));
  g_assert_false (harness_has (h, "a.txt"));
  g_assert_true (g_file_get_contents (trashed, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "precious");

  harness_fails (h, "files.delete", "{'path':'/dev/shm/../null','permanent':false}",
                 KHADIM_TOOL_ERROR_TOOL, "Trash");
  g_assert_true (g_file_test ("/dev/null", G_FILE_TEST_EXISTS));
}

/* Whatever form it is asked in. Everything here would go without the guard:
 * test_delete is the control. The root is only asked for in dry runs, which
 * pass the same guard: a test that fails must not take the computer along. */
static void
test_delete_protected (Harness       *h,
                       gconstpointer  data)
{
  g_autofree char *sub = harness_path (h, "sub");
  g_autofree char *up_link = harness_path (h, "sub/up");
  g_autofree char *root_link = g_build_filename (h->root, "to-work", NULL);
  const char *const forms[] = {
    "/", "//", "/.", "/tmp/..", "~", "~/", "~/.", ".", "./", "sub/..", "sub/up/", "sub/up/sub/..",
    "%s", "%s/", "%s/.", "%s/sub/..", "%s/..", "%s/../to-work/", "%s/../to-work/.",
    "%s/../assets",
  };

  g_assert_no_errno (g_mkdir (sub, 0700));
  g_assert_no_errno (symlink ("..", up_link));
  g_assert_no_errno (symlink ("work", root_link));
  harness_put (h, "sub/x", "x", -1);

  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    {
      g_autoptr(GString) path = g_string_new (forms[i]);
      g_autofree char *permanent = NULL;
      g_autofree char *trash = NULL;

      g_string_replace (path, "%s", h->work, 0);
      h->dry_run = *forms[i] == '/';
      permanent = g_strdup_printf ("{'path':'%s','permanent':true}", path->str);
      trash = g_strdup_printf ("{'path':'%s'}", path->str);
      harness_fails (h, "files.delete", permanent, KHADIM_TOOL_ERROR_DENIED, "never deleted");
      harness_fails (h, "files.delete", trash, KHADIM_TOOL_ERROR_DENIED, "never deleted");
    }
  harness_assert_content (h, "sub/x", "x", -1);
}

/* Dry runs, cancelling -------------------------------------------------- */

static void
test_dry_run (Harness       *h,
              gconstpointer  data)
{
  const struct {
    const char *tool;
    const char *args;
    const char *would;
  } calls[] = {
    { "files.write", "{'path':'n/x','text':'12'}", "write 2 bytes" },
    { "files.append", "{'path':'a','text':'12'}", "add 2 bytes" },
    { "files.copy", "{'from':'a','to':'n/'}", "copy" },
    { "files.move", "{'from':'a','to':'b'}", "move" },
    { "files.make_folder", "{'path':'n'}", "make the folder" },
    { "files.delete", "{'path':'a'}", "Trash" },
    { "files.delete", "{'path':'a','permanent':true}", "for good" },
  };

  harness_put (h, "a", "a", -1);
  h->dry_run = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_autoptr(JsonNode) value = harness_ok (h, calls[i].tool, calls[i].args);
      JsonObject *object = json_node_get_object (value);

      g_assert_true (khadim_json_get_boolean (object, "dry_run", FALSE));
      g_assert_nonnull (strstr (khadim_json_get_string (object, "would", ""), calls[i].would));
      assert_lists (h, "{'hidden':true}", "a:file");
      harness_assert_content (h, "a", "a", -1);
    }

  /* What would fail fails now. */
  harness_fails (h, "files.copy", "{'from':'x','to':'y'}", KHADIM_TOOL_ERROR_NOT_FOUND, "x");
  harness_fails (h, "files.write", "{'path':'a/x','text':''}", KHADIM_TOOL_ERROR_NOT_FOUND, "a");
  harness_fails (h, "files.delete", "{'path':'.'}", KHADIM_TOOL_ERROR_DENIED, "never");
  harness_fails (h, "files.make_folder", "{'path':'a'}", KHADIM_TOOL_ERROR_TOOL, "exists");
}

static void
test_cancelled (Harness       *h,
                gconstpointer  data)
{
  h->cancellable = g_cancellable_new ();
  g_cancellable_cancel (h->cancellable);
  harness_put (h, "a", "a", -1);
  harness_fails (h, "files.read", "{'path':'a'}", KHADIM_TOOL_ERROR_CANCELLED, "");
  harness_fails (h, "files.write", "{'path':'b','text':''}", KHADIM_TOOL_ERROR_CANCELLED, "");
  harness_fails (h, "files.copy", "{'from':'a','to':'b'}", KHADIM_TOOL_ERROR_CANCELLED, "");
  g_assert_false (harness_has (h, "b"));
  assert_no_temp (&(Harness) { .domain = h->domain, .work = h->work, .root = h->root,
                               .assets = h->assets, .deadline_us = G_MAXINT64 });
}

/* Before a run, and with templates where values will be. */
static void
test_check (Harness       *h,
            gconstpointer  data)
{
  harness_check_finds (h, "files.read", "{'path':'../x'}", "path");
  harness_check_finds (h, "files.read", "{'path':''}", "path");
  harness_check_finds (h, "files.copy", "{'from':'a','to':'a/../../b'}", "to");
  harness_check_finds (h, "files.list", "{'pattern':'a/b'}", "pattern");
  harness_check_finds (h, "files.wait_for", "{'path':'a','stable':'soon'}", "stable");
  harness_check_finds (h, "files.read", "{'path':'a/../x'}", NULL);
  harness_check_finds (h, "files.read", "{'path':'/../x'}", NULL);
  harness_check_finds (h, "files.read", "{'path':'../{{ x }}'}", NULL);
  harness_check_finds (h, "files.list", "{'pattern':'{{ a/b }}'}", NULL);
  harness_check_finds (h, "files.wait_for", "{'path':'a','stable':'{{ s }}'}", NULL);
  harness_check_finds (h, "files.wait_for", "{'path':'a','stable':'2s','pattern':'*'}", NULL);
}

static void
test_unknown (Harness       *h,
              gconstpointer  data)
{
  harness_fails (h, "files.explode", "{}", KHADIM_TOOL_ERROR_NOT_FOUND, "files.explode");
}

#define ADD(path, func) g_test_add ("/engine/files/" path, Harness, NULL, set_up, func, tear_down)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  ADD ("infos", test_infos);
  ADD ("list", test_list);
  ADD ("list/errors", test_list_errors);
  ADD ("list/bytes", test_list_bytes);
  ADD ("info", test_info);
  ADD ("read", test_read);
  ADD ("read/errors", test_read_errors);
  ADD ("write", test_write);
  ADD ("write/errors", test_write_errors);
  ADD ("write/resumed", test_write_resumed);
  ADD ("append", test_append);
  ADD ("copy", test_copy);
  ADD ("copy/progress", test_copy_progress);
  ADD ("copy/sizeless", test_copy_sizeless);
  ADD ("copy/folder", test_copy_folder);
  ADD ("copy/fails-whole", test_copy_fails_whole);
  ADD ("copy/too-deep", test_copy_too_deep);
  ADD ("move", test_move);
  ADD ("move/across", test_move_across);
  ADD ("make-folder", test_make_folder);
  ADD ("delete", test_delete);
  ADD ("delete/trash", test_delete_trash);
  ADD ("delete/protected", test_delete_protected);
  ADD ("dry-run", test_dry_run);
  ADD ("cancelled", test_cancelled);
  ADD ("check", test_check);
  ADD ("unknown", test_unknown);

  return g_test_run ();
}
