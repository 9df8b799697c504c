/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-files-crash"

#include "config.h"

#include "engine/tool/khadim-files-domain.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/tool/khadim-data-domain.h"
#include "engine/tool/khadim-tool-io-private.h"
#include "tests/engine/tool-harness.h"

/* What the disk does when a process is killed, or when it is full. The
 * process that dies, or has the small disk, is this program once more. */

#define CONTENT_BYTES (1024 * 1024)
#define CHUNK_BYTES (64 * 1024)
#define N_BLOWS 60
#define N_COPIED 40
#define EXIT_SKIPPED 77

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

/* The processes that die ----------------------------------------------------- */

static void
say_that_it_begins (void)
{
  g_assert_cmpint (write (STDOUT_FILENO, ".", 1), ==, 1);
}

static GBytes *
content_of_round (guint round)
{
  return g_bytes_new_take (g_strnfill (CONTENT_BYTES, round % 2 == 0 ? 'a' : 'b'), CONTENT_BYTES);
}

static void
replace_for_ever (const char *path)
{
  for (guint round = 0; ; round++)
    {
      g_autoptr(GBytes) content = content_of_round (round);
      g_autoptr(GError) error = NULL;

      say_that_it_begins ();
      _khadim_tool_io_replace (path, content, TRUE, NULL, &error);
      g_assert_no_error (error);
    }
}

/* As it would be without a temporary file. */
static void
write_in_place_for_ever (const char *path)
{
  for (guint round = 0; ; round++)
    {
      g_autoptr(GBytes) content = content_of_round (round);
      const char *data = g_bytes_get_data (content, NULL);
      int fd;

      say_that_it_begins ();
      fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      for (gsize i = 0; i < CONTENT_BYTES; i += CHUNK_BYTES)
        g_assert_cmpint (write (fd, data + i, CHUNK_BYTES), ==, CHUNK_BYTES);
      g_assert_no_errno (fsync (fd));
      close (fd);
    }
}

static void
copy_for_ever (const char *folder)
{
  g_autofree char *from = g_build_filename (folder, "from", NULL);

  for (guint round = 0; ; round++)
    {
      g_autofree char *to = g_strdup_printf ("%s/to-%d-%u", folder, (int) getpid (), round);
      g_autoptr(GError) error = NULL;

      say_that_it_begins ();
      _khadim_tool_io_copy_tree (from, to, FALSE, NULL, NULL, NULL, &error);
      g_assert_no_error (error);
    }
}

/* The blow ------------------------------------------------------------------- */

static GSubprocess *
start_self (const char *mode,
            const char *path)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autoptr(GError) error = NULL;
  GSubprocess *process;

  process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, self, mode, path, NULL);
  g_assert_no_error (error);

  return process;
}

static void
await_begin (GSubprocess *process)
{
  char token;
  gsize n = 0;
  g_autoptr(GError) error = NULL;

  g_input_stream_read_all (g_subprocess_get_stdout_pipe (process), &token, 1, &n, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (n, ==, 1);
}

/* Kills the process at a random point of a round of its work. The sleep waits
 * for nothing: it chooses the point. */
static void
strike (const char *mode,
        const char *path,
        GRand      *rand)
{
  g_autoptr(GSubprocess) process = start_self (mode, path);
  g_autoptr(GError) error = NULL;
  gint64 round_us;

  await_begin (process);
  round_us = g_get_monotonic_time ();
  await_begin (process);
  round_us = g_get_monotonic_time () - round_us;
  for (int i = g_rand_int_range (rand, 0, 2); i > 0; i--)
    await_begin (process);
  g_usleep ((gulong) g_rand_int_range (rand, 0, (gint32) MAX (round_us, 2)));

  g_subprocess_send_signal (process, SIGKILL);
  g_subprocess_wait (process, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_get_if_signaled (process));
}

static gboolean
is_whole (const char *path)
{
  g_autofree char *content = NULL;
  gsize size = 0;

  if (!g_file_get_contents (path, &content, &size, NULL) || size != CONTENT_BYTES)
    return FALSE;
  for (gsize i = 1; i < size; i++)
    {
      if (content[i] != content[0])
        return FALSE;
    }

  return content[0] == 'a' || content[0] == 'b';
}

static void
test_kill_write (Harness       *h,
                 gconstpointer  data)
{
  g_autofree char *path = harness_path (h, "x");
  g_autoptr(GRand) rand = g_rand_new_with_seed (9);

  for (guint i = 0; i < N_BLOWS; i++)
    {
      strike ("--replace", path, rand);
      g_assert_true (is_whole (path));
    }
}

/* The control: the same blows hit a file that is written where it lies. */
static void
test_kill_write_in_place (Harness       *h,
                          gconstpointer  data)
{
  g_autofree char *path = harness_path (h, "x");
  g_autoptr(GRand) rand = g_rand_new_with_seed (9);
  gboolean torn = FALSE;

  for (guint i = 0; i < N_BLOWS && !torn; i++)
    {
      strike ("--in-place", path, rand);
      torn = !is_whole (path);
    }
  g_assert_true (torn);
}

static guint
count_names (const char *folder,
             const char *prefix)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    n += g_str_has_prefix (name, prefix);

  return n;
}

static void
test_kill_copy (Harness       *h,
                gconstpointer  data)
{
  g_autofree char *from = harness_path (h, "from");
  g_autoptr(GRand) rand = g_rand_new_with_seed (9);
  g_autoptr(GDir) dir = NULL;
  const char *name;
  guint n_copies = 0;

  g_assert_no_errno (g_mkdir (from, 0700));
  for (guint i = 0; i < N_COPIED; i++)
    {
      g_autofree char *file = g_strdup_printf ("from/%u", i);

      harness_put (h, file, file, -1);
    }
  for (guint i = 0; i < N_BLOWS / 3; i++)
    strike ("--copy", h->work, rand);

  dir = g_dir_open (h->work, 0, NULL);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *copy = harness_path (h, name);

      if (g_str_has_prefix (name, "to-"))
        {
          n_copies++;
          g_assert_cmpuint (count_names (copy, ""), ==, N_COPIED);
        }
    }
  g_assert_cmpuint (n_copies, >, 0);

  /* The control: some blows fell into a copy. */
  g_assert_cmpuint (count_names (h->work, ".khadim-"), >, 0);
}

/* Leftovers ------------------------------------------------------------------ */

static void
make_old (const char *path)
{
  struct timespec times[2] = { { 0 } };

  times[0].tv_sec = times[1].tv_sec =
    (time_t) (g_get_real_time () / G_USEC_PER_SEC) - 2 * KHADIM_TOOL_IO_LEFTOVER_AGE_S;
  g_assert_no_errno (utimensat (AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW));
}

/* What killed runs left goes at the next write; what is young, locked, or
 * somebody else's by its name, stays. */
static void
test_leftovers (Harness       *h,
                gconstpointer  data)
{
  const char *const names[] = {
    ".khadim-oldfile0.tmp", ".khadim-locked00.tmp", ".khadim-young000.tmp",
    ".khadim-short.tmp", "khadim-visible0.tmp",
  };
  g_autofree char *folder = harness_path (h, ".khadim-oldtree0.tmp");
  g_autofree char *locked = harness_path (h, names[1]);
  int fd;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = harness_path (h, names[i]);

      harness_put (h, names[i], "x", -1);
      if (i != 2)
        make_old (path);
    }
  g_assert_no_errno (g_mkdir (folder, 0700));
  harness_put (h, ".khadim-oldtree0.tmp/x", "x", -1);
  make_old (folder);
  fd = open (locked, O_RDONLY | O_CLOEXEC);
  g_assert_no_errno (flock (fd, LOCK_EX));

  json_node_unref (harness_ok (h, "files.write", "{'path':'a','text':'a'}"));
  g_assert_false (harness_has (h, names[0]));
  g_assert_false (harness_has (h, ".khadim-oldtree0.tmp"));
  for (guint i = 1; i < G_N_ELEMENTS (names); i++)
    g_assert_true (harness_has (h, names[i]));

  close (fd);
  json_node_unref (harness_ok (h, "files.write", "{'path':'a','text':'a'}"));
  g_assert_false (harness_has (h, names[1]));
}

/* What killing really leaves is what the cleaning looks for. */
static void
test_leftovers_of_kill (Harness       *h,
                        gconstpointer  data)
{
  g_autofree char *path = harness_path (h, "x");
  g_autoptr(GRand) rand = g_rand_new_with_seed (9);
  g_autoptr(GDir) dir = NULL;
  const char *name;

  for (guint i = 0; i < N_BLOWS && count_names (h->work, ".khadim-") == 0; i++)
    strike ("--replace", path, rand);
  g_assert_cmpuint (count_names (h->work, ".khadim-"), >, 0);

  dir = g_dir_open (h->work, 0, NULL);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *left = harness_path (h, name);

      g_assert_true (_khadim_tool_io_is_temp (name) || g_str_equal (name, "x"));
      make_old (left);
    }
  json_node_unref (harness_ok (h, "files.write", "{'path':'a','text':'a'}"));
  g_assert_cmpuint (count_names (h->work, ".khadim-"), ==, 0);
}

/* The small disk ------------------------------------------------------------- */

static void
fails_full (Harness    *h,
            const char *tool,
            const char *format,
            int         n_bytes)
{
  g_autofree char *text = g_strnfill ((gsize) n_bytes, 'n');
  g_autoptr(GString) args = g_string_new (format);

  g_string_replace (args, "%s", text, 0);
  harness_fails (h, tool, args->str, KHADIM_TOOL_ERROR_TOOL, "the disk is full");
}

/* A megabyte of disk, 400 kB of it taken by `a`. */
static void
check_full_disk (Harness *h)
{
  g_autofree char *old = g_strnfill (400 * 1000, 'o');

  harness_put (h, "a", old, -1);
  fails_full (h, "files.write", "{'path':'a','text':'%s'}", 900 * 1000);
  harness_assert_content (h, "a", old, -1);
  fails_full (h, "files.append", "{'path':'a','text':'%s'}", 900 * 1000);
  harness_assert_content (h, "a", old, -1);
  g_assert_cmpuint (count_names (h->work, ""), ==, 1);

  json_node_unref (harness_ok (h, "files.copy", "{'from':'a','to':'b'}"));
  harness_fails (h, "files.copy", "{'from':'a','to':'c'}", KHADIM_TOOL_ERROR_TOOL,
                 "the disk is full");
  g_assert_cmpuint (count_names (h->work, ""), ==, 2);

  /* The control: with room it is done. */
  json_node_unref (harness_ok (h, "files.delete", "{'path':'b','permanent':true}"));
  json_node_unref (harness_ok (h, "files.copy", "{'from':'a','to':'c'}"));
  harness_assert_content (h, "c", old, -1);
}

static void
check_full_disk_tables (Harness *h)
{
  harness_put (h, "t.csv", "a\n1\n", -1);
  fails_full (h, "data.write_csv", "{'path':'t.csv','rows':[{'a':'%s'}]}", 900 * 1000);
  harness_assert_content (h, "t.csv", "a\n1\n", -1);
  fails_full (h, "data.append_csv", "{'path':'t.csv','rows':[{'a':'%s'}]}", 900 * 1000);
  harness_assert_content (h, "t.csv", "a\n1\n", -1);
}

/* A limit on the size of files is the other way not to get one's bytes. */
static void
check_size_limit (Harness *h)
{
  struct rlimit limit = { 1000, RLIM_INFINITY };

  g_assert_true (signal (SIGXFSZ, SIG_IGN) != SIG_ERR);
  harness_put (h, "s", "old", -1);
  g_assert_no_errno (setrlimit (RLIMIT_FSIZE, &limit));
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *text = g_strnfill (1100, 'n');
      g_autofree char *args = g_strdup_printf ("{'path':'s','text':'%s'}", text);

      harness_fails (h, i == 0 ? "files.write" : "files.append", args,
                     KHADIM_TOOL_ERROR_LIMIT, "larger than allowed");
      harness_assert_content (h, "s", "old", -1);
    }
}

/* A folder that is mounted a second time is still the work folder; what is
 * mounted inside a folder does not go with it. */
static void
check_mounts (Harness *h)
{
  g_autofree char *tree = harness_path (h, "tree");
  g_autofree char *inner = harness_path (h, "tree/inner");
  g_autofree char *twin = harness_path (h, "twin");

  g_assert_no_errno (g_mkdir_with_parents (inner, 0700));
  g_assert_no_errno (g_mkdir (twin, 0700));
  harness_put (h, "tree/a", "a", -1);
  g_assert_no_errno (mount ("none", inner, "tmpfs", 0, "size=64k"));
  harness_put (h, "tree/inner/b", "b", -1);
  g_assert_no_errno (mount (h->work, twin, NULL, MS_BIND, NULL));

  harness_fails (h, "files.delete", "{'path':'tree','permanent':true}", KHADIM_TOOL_ERROR_DENIED,
                 "another file system");
  harness_assert_content (h, "tree/a", "a", -1);
  harness_assert_content (h, "tree/inner/b", "b", -1);
  harness_fails (h, "files.delete", "{'path':'twin','permanent':true}", KHADIM_TOOL_ERROR_DENIED,
                 "work folder");
  harness_assert_content (h, "tree/a", "a", -1);

  /* The control: without the mounts they go. */
  g_assert_no_errno (umount (inner));
  g_assert_no_errno (umount2 (twin, MNT_DETACH));
  json_node_unref (harness_ok (h, "files.delete", "{'path':'tree','permanent':true}"));
  json_node_unref (harness_ok (h, "files.delete", "{'path':'twin','permanent':true}"));
}

static void
check_read_only (Harness *h)
{
  harness_put (h, "r", "old", -1);
  g_assert_no_errno (mount (NULL, h->work, NULL, MS_REMOUNT | MS_RDONLY, NULL));
  harness_fails (h, "files.write", "{'path':'r','text':'new'}", KHADIM_TOOL_ERROR_DENIED,
                 "read-only");
  harness_fails (h, "files.delete", "{'path':'r'}", KHADIM_TOOL_ERROR_DENIED, "read-only");
  harness_fails (h, "files.move", "{'from':'r','to':'q'}", KHADIM_TOOL_ERROR_DENIED, "read-only");
  h->dry_run = TRUE;
  harness_fails (h, "files.write", "{'path':'r','text':'new'}", KHADIM_TOOL_ERROR_DENIED,
                 "read-only");
  harness_assert_content (h, "r", "old", -1);
}

/* In a process of its own, before it has threads: they would not see the
 * mount. */
static int
run_on_small_disk (const char *folder)
{
  Harness h = { 0 };

  if (unshare (CLONE_NEWNS) != 0
      || mount ("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0
      || mount ("none", folder, "tmpfs", 0, "size=1m") != 0)
    return EXIT_SKIPPED;

  h.work = h.root = h.assets = (char *) folder;
  h.deadline_us = G_MAXINT64;
  h.domain = khadim_files_domain_new ();
  check_full_disk (&h);
  json_node_unref (harness_ok (&h, "files.delete", "{'path':'c','permanent':true}"));
  g_object_unref (h.domain);
  h.domain = khadim_data_domain_new ();
  check_full_disk_tables (&h);
  g_object_unref (h.domain);
  h.domain = khadim_files_domain_new ();
  check_mounts (&h);
  check_size_limit (&h);
  check_read_only (&h);
  g_object_unref (h.domain);

  return EXIT_SUCCESS;
}

static void
test_small_disk (Harness       *h,
                gconstpointer  data)
{
  g_autoptr(GSubprocess) process = start_self ("--small-disk", h->work);
  g_autoptr(GError) error = NULL;

  g_subprocess_wait (process, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_get_if_exited (process));
  if (g_subprocess_get_exit_status (process) == EXIT_SKIPPED)
    g_test_skip ("May not mount a small disk");
  else
    g_assert_cmpint (g_subprocess_get_exit_status (process), ==, EXIT_SUCCESS);
}

#define ADD(path, func) \
  g_test_add ("/engine/files-crash/" path, Harness, NULL, set_up, func, tear_down)

int
main (int    argc,
      char **argv)
{
  if (argc == 3 && g_str_equal (argv[1], "--replace"))
    replace_for_ever (argv[2]);
  if (argc == 3 && g_str_equal (argv[1], "--in-place"))
    write_in_place_for_ever (argv[2]);
  if (argc == 3 && g_str_equal (argv[1], "--copy"))
    copy_for_ever (argv[2]);
  if (argc == 3 && g_str_equal (argv[1], "--small-disk"))
    return run_on_small_disk (argv[2]);

  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  ADD ("kill-write", test_kill_write);
  ADD ("kill-write-in-place", test_kill_write_in_place);
  ADD ("kill-copy", test_kill_copy);
  ADD ("leftovers", test_leftovers);
  ADD ("leftovers-of-kill", test_leftovers_of_kill);
  ADD ("small-disk", test_small_disk);

  return g_test_run ();
}
