/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-tool-path"

#include "config.h"

#include "engine/tool/khadim-tool-path.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

/* root/
 *   work/        the work folder: in.txt, both.txt, sub/
 *   assets/      the automation: shipped.txt, both.txt
 *   outside/     secret.txt
 */
typedef struct
{
  char *root;
  char *work;
  char *assets;
  char *outside;
} Fixture;

static char *
make_folder (const char *parent,
             const char *name)
{
  char *path = g_build_filename (parent, name, NULL);

  g_assert_no_errno (g_mkdir (path, 0700));

  return path;
}

static void
make_file (const char *folder,
           const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr(GError) error = NULL;

  g_file_set_contents (path, name, -1, &error);
  g_assert_no_error (error);
}

static void
make_link (const char *folder,
           const char *name,
           const char *target)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_assert_no_errno (symlink (target, path));
}

static void
set_up (Fixture       *fixture,
        gconstpointer  data)
{
  g_autofree char *sub = NULL;
  g_autofree char *made = g_dir_make_tmp ("khadim-path-XXXXXX", NULL);

  g_assert_nonnull (made);
  fixture->root = realpath (made, NULL);
  fixture->work = make_folder (fixture->root, "work");
  fixture->assets = make_folder (fixture->root, "assets");
  fixture->outside = make_folder (fixture->root, "outside");
  sub = make_folder (fixture->work, "sub");
  make_file (fixture->work, "in.txt");
  make_file (fixture->work, "both.txt");
  make_file (fixture->assets, "both.txt");
  make_file (fixture->assets, "shipped.txt");
  make_file (fixture->outside, "secret.txt");
}

static void
tear_down (Fixture       *fixture,
           gconstpointer  data)
{
  const char *const argv[] = { "rm", "-rf", "--", fixture->root, NULL };

  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL,
                               NULL, NULL, NULL, NULL));
  free (fixture->root);
  g_free (fixture->work);
  g_free (fixture->assets);
  g_free (fixture->outside);
}

static void
assert_resolves (Fixture           *fixture,
                 const char        *path,
                 KhadimToolPathUse  use,
                 const char        *folder,
                 const char        *name)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *expected = g_build_filename (folder, name, NULL);
  g_autofree char *got = NULL;

  got = khadim_tool_path_resolve (path, use, fixture->work, fixture->assets, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (got, ==, expected);
}

static void
assert_refused (Fixture           *fixture,
                const char        *path,
                KhadimToolPathUse  use,
                KhadimToolError    code,
                const char        *words)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *got = NULL;

  got = khadim_tool_path_resolve (path, use, fixture->work, fixture->assets, &error);
  g_assert_null (got);
  g_assert_error (error, KHADIM_TOOL_ERROR, code);
  g_assert_nonnull (strstr (error->message, words));
}

static void
test_relative (Fixture       *f,
               gconstpointer  data)
{
  assert_resolves (f, "in.txt", KHADIM_TOOL_PATH_USE_READ, f->work, "in.txt");
  assert_resolves (f, "./sub/../in.txt", KHADIM_TOOL_PATH_USE_READ, f->work, "in.txt");
  assert_resolves (f, "both.txt", KHADIM_TOOL_PATH_USE_READ, f->work, "both.txt");
  assert_resolves (f, "shipped.txt", KHADIM_TOOL_PATH_USE_READ, f->assets, "shipped.txt");
  assert_resolves (f, "nowhere.txt", KHADIM_TOOL_PATH_USE_READ, f->work, "nowhere.txt");
  assert_resolves (f, "shipped.txt", KHADIM_TOOL_PATH_USE_WRITE, f->work, "shipped.txt");
  assert_resolves (f, "new/deep//x.txt", KHADIM_TOOL_PATH_USE_WRITE, f->work, "new/deep/x.txt");
  assert_resolves (f, "shipped.txt", KHADIM_TOOL_PATH_USE_ENTRY, f->work, "shipped.txt");
  assert_resolves (f, "~x", KHADIM_TOOL_PATH_USE_WRITE, f->work, "~x");
}

static void
test_absolute (Fixture       *f,
               gconstpointer  data)
{
  g_autofree char *secret = g_build_filename (f->outside, "secret.txt", NULL);

  assert_resolves (f, secret, KHADIM_TOOL_PATH_USE_READ, f->outside, "secret.txt");
  assert_resolves (f, secret, KHADIM_TOOL_PATH_USE_WRITE, f->outside, "secret.txt");
  assert_resolves (f, "~/a", KHADIM_TOOL_PATH_USE_WRITE, g_get_home_dir (), "a");
  assert_resolves (f, "/", KHADIM_TOOL_PATH_USE_READ, "/", NULL);
}

static void
test_no_work_folder (Fixture       *f,
                     gconstpointer  data)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (khadim_tool_path_resolve ("in.txt", KHADIM_TOOL_PATH_USE_READ, NULL,
                                           f->assets, &error));
  g_assert_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_DENIED);
}

/* By names alone; inside them `..` is fine (test_relative). */
static void
test_dots (Fixture       *f,
           gconstpointer  data)
{
  const KhadimToolPathUse uses[] = {
    KHADIM_TOOL_PATH_USE_READ, KHADIM_TOOL_PATH_USE_WRITE, KHADIM_TOOL_PATH_USE_ENTRY
  };

  for (guint i = 0; i < G_N_ELEMENTS (uses); i++)
    {
      assert_refused (f, "../outside/secret.txt", uses[i], KHADIM_TOOL_ERROR_DENIED, f->outside);
      assert_refused (f, "sub/../../outside", uses[i], KHADIM_TOOL_ERROR_DENIED, f->outside);
      assert_refused (f, "..", uses[i], KHADIM_TOOL_ERROR_DENIED, f->root);
      assert_refused (f, "../work/in.txt", uses[i], KHADIM_TOOL_ERROR_DENIED, "in.txt");
      assert_refused (f, "nowhere/../in.txt", uses[i], KHADIM_TOOL_ERROR_NOT_FOUND, "nowhere");
      assert_refused (f, "in.txt/../both.txt", uses[i], KHADIM_TOOL_ERROR_NOT_FOUND, "in.txt");
    }
}

/* The folder next door whose name starts alike is not inside. */
static void
test_neighbour (Fixture       *f,
                gconstpointer  data)
{
  g_autofree char *neighbour = make_folder (f->root, "work2");

  make_file (neighbour, "x");
  make_link (f->work, "near", "../work2/x");
  assert_refused (f, "near", KHADIM_TOOL_PATH_USE_READ, KHADIM_TOOL_ERROR_DENIED, neighbour);
  g_assert_false (khadim_tool_path_is_within (neighbour, f->work));
  g_assert_true (khadim_tool_path_is_within (f->work, f->work));
  g_assert_true (khadim_tool_path_is_within (neighbour, "/"));
}

static void
test_links_out (Fixture       *f,
                gconstpointer  data)
{
  g_autofree char *secret = g_build_filename (f->outside, "secret.txt", NULL);

  make_link (f->work, "file-link", secret);
  make_link (f->work, "folder-link", "../outside");
  make_link (f->work, "chain", "sub/../folder-link");
  make_link (f->work, "dangling", "../outside/not-yet.txt");

  assert_refused (f, "file-link", KHADIM_TOOL_PATH_USE_READ, KHADIM_TOOL_ERROR_DENIED, secret);
  assert_refused (f, "file-link", KHADIM_TOOL_PATH_USE_WRITE, KHADIM_TOOL_ERROR_DENIED, secret);
  assert_refused (f, "folder-link/secret.txt", KHADIM_TOOL_PATH_USE_READ,
                  KHADIM_TOOL_ERROR_DENIED, secret);
  assert_refused (f, "folder-link/new.txt", KHADIM_TOOL_PATH_USE_WRITE,
                  KHADIM_TOOL_ERROR_DENIED, f->outside);
  assert_refused (f, "folder-link/secret.txt", KHADIM_TOOL_PATH_USE_ENTRY,
                  KHADIM_TOOL_ERROR_DENIED, secret);
  assert_refused (f, "folder-link/", KHADIM_TOOL_PATH_USE_ENTRY,
                  KHADIM_TOOL_ERROR_DENIED, f->outside);
  assert_refused (f, "folder-link/./.", KHADIM_TOOL_PATH_USE_ENTRY,
                  KHADIM_TOOL_ERROR_DENIED, f->outside);
  assert_refused (f, "chain/secret.txt", KHADIM_TOOL_PATH_USE_READ,
                  KHADIM_TOOL_ERROR_DENIED, secret);
  assert_refused (f, "dangling", KHADIM_TOOL_PATH_USE_WRITE, KHADIM_TOOL_ERROR_DENIED, "not-yet");
  assert_refused (f, "folder-link/../in.txt", KHADIM_TOOL_PATH_USE_READ,
                  KHADIM_TOOL_ERROR_DENIED, "in.txt");

  /* The link itself lies inside: it may be moved or deleted. */
  assert_resolves (f, "file-link", KHADIM_TOOL_PATH_USE_ENTRY, f->work, "file-link");
}

/* The control for the test above: links that stay inside work. */
static void
test_links_inside (Fixture       *f,
                   gconstpointer  data)
{
  g_autofree char *in = g_build_filename (f->work, "in.txt", NULL);
  g_autofree char *linked_work = g_build_filename (f->root, "linked-work", NULL);
  g_autoptr(GError) error = NULL;
  g_autofree char *got = NULL;

  make_link (f->work, "absolute", in);
  make_link (f->work, "relative", "sub/../in.txt");
  make_link (f->work, "folder", "sub");
  assert_resolves (f, "absolute", KHADIM_TOOL_PATH_USE_READ, f->work, "in.txt");
  assert_resolves (f, "relative", KHADIM_TOOL_PATH_USE_WRITE, f->work, "in.txt");
  assert_resolves (f, "folder/new", KHADIM_TOOL_PATH_USE_WRITE, f->work, "sub/new");
  assert_resolves (f, "folder/../in.txt", KHADIM_TOOL_PATH_USE_READ, f->work, "in.txt");

  /* The work folder may be reached by a link. */
  make_link (f->root, "linked-work", "work");
  got = khadim_tool_path_resolve ("in.txt", KHADIM_TOOL_PATH_USE_READ, linked_work, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (got, ==, in);
}

static void
test_assets_links (Fixture       *f,
                   gconstpointer  data)
{
  make_link (f->assets, "shipped-out", "../outside/secret.txt");
  assert_refused (f, "shipped-out", KHADIM_TOOL_PATH_USE_READ, KHADIM_TOOL_ERROR_DENIED,
                  "automation");
}

/* Random trees of folders and links ---------------------------------------- */

#define N_ENTRIES 40
#define N_PATHS 10000

static char *
random_path (GRand *rand,
             int    max_names)
{
  static const char *const names[] = { "..", ".", "", "a", "b", "c", "d", "e", "a", "b", "c" };
  g_autoptr(GString) path = g_string_new (NULL);

  for (int i = g_rand_int_range (rand, 1, max_names + 1); i > 0; i--)
    g_string_append_printf (path, "%s%s", names[g_rand_int_range (rand, 0, G_N_ELEMENTS (names))],
                            i > 1 ? "/" : "");

  return g_string_free (g_steal_pointer (&path), FALSE);
}

/* Links lead inside, above, outside, nowhere and in circles. */
static void
grow (Fixture *f,
      GRand   *rand)
{
  for (guint i = 0; i < N_ENTRIES; i++)
    {
      g_autofree char *name = random_path (rand, 3);
      g_autofree char *path = g_build_filename (f->work, name, NULL);
      g_autofree char *target = random_path (rand, 4);
      g_autofree char *absolute = g_build_filename (f->work, target, NULL);

      if (*target == '/' || *target == '\0')
        continue;
      if (i % 2 == 0 || symlink (i % 3 == 0 ? absolute : target, path) != 0)
        g_mkdir_with_parents (path, 0700);
    }
}

/* What the kernel reaches, realpath(3) tells: it is what we say, or, if it
 * lies outside, we refuse. */
static void
test_random (Fixture       *f,
             gconstpointer  data)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (20);
  guint n_inside = 0;
  guint n_outside = 0;

  grow (f, rand);
  for (guint i = 0; i < N_PATHS; i++)
    {
      g_autofree char *path = random_path (rand, 7);
      g_autofree char *joined = g_strconcat (f->work, "/", path, NULL);
      g_autofree char *got = NULL;
      g_autoptr(GError) error = NULL;
      char *real = realpath (joined, NULL);

      if (*path != '/' && *path != '\0' && real != NULL)
        {
          got = khadim_tool_path_resolve (path, KHADIM_TOOL_PATH_USE_WRITE, f->work, NULL, &error);
          if (!khadim_tool_path_is_within (real, f->work))
            {
              n_outside++;
              g_assert_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_DENIED);
            }
          else if (khadim_tool_path_check (path, NULL))
            {
              n_inside++;
              g_assert_no_error (error);
              g_assert_cmpstr (got, ==, real);
            }
          else
            {
              g_assert_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_DENIED);
            }
        }
      free (real);
    }
  g_assert_cmpuint (n_inside, >, 100);
  g_assert_cmpuint (n_outside, >, 100);
}

static void
test_bad_form (Fixture       *f,
               gconstpointer  data)
{
  g_autofree char *longest = g_strnfill (KHADIM_TOOL_PATH_MAX_BYTES, 'x');
  g_autofree char *too_long = g_strnfill (KHADIM_TOOL_PATH_MAX_BYTES + 1, 'x');

  make_link (f->work, "loop", "loop");
  assert_refused (f, "", KHADIM_TOOL_PATH_USE_READ, KHADIM_TOOL_ERROR_TOOL, "empty");
  assert_refused (f, "loop", KHADIM_TOOL_PATH_USE_READ, KHADIM_TOOL_ERROR_TOOL, "loop");
  assert_refused (f, too_long, KHADIM_TOOL_PATH_USE_WRITE, KHADIM_TOOL_ERROR_LIMIT, "4096");
  assert_resolves (f, longest, KHADIM_TOOL_PATH_USE_WRITE, f->work, longest);
}

/* What names alone tell. */
static void
test_check (Fixture       *f,
            gconstpointer  data)
{
  g_autofree char *too_long = g_strnfill (KHADIM_TOOL_PATH_MAX_BYTES + 1, 'x');
  const char *const good[] = { "a", "a/../b", "/..", "~", "~/../x", "..a", "a/.." };
  const char *const bad[] = { "..", "../a", "a/../../b", "./..", "~a/../.." };
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    {
      g_assert_true (khadim_tool_path_check (good[i], &error));
      g_assert_no_error (error);
    }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_assert_false (khadim_tool_path_check (bad[i], &error));
      g_assert_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_DENIED);
      g_clear_error (&error);
    }
  g_assert_false (khadim_tool_path_check ("", &error));
  g_assert_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL);
  g_clear_error (&error);
  g_assert_false (khadim_tool_path_check (too_long, &error));
  g_assert_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT);
}

static void
assert_protected (Fixture    *f,
                  const char *path,
                  gboolean    expected)
{
  const char *what = NULL;

  g_assert_cmpint (khadim_tool_path_is_protected (path, f->work, f->assets, &what), ==, expected);
  g_assert_cmpint (what != NULL, ==, expected);
}

static void
test_protected (Fixture       *f,
                gconstpointer  data)
{
  g_autofree char *sub = g_build_filename (f->work, "sub", NULL);
  g_autofree char *in = g_build_filename (f->work, "in.txt", NULL);
  g_autofree char *round = g_build_filename (f->work, "sub", "..", NULL);
  g_autofree char *link = g_build_filename (f->root, "to-work", NULL);
  g_autofree char *by_link = g_build_filename (f->root, "to-work", ".", NULL);

  make_link (f->root, "to-work", "work");
  g_assert_no_errno (g_mkdir_with_parents (g_get_home_dir (), 0700));
  assert_protected (f, "/", TRUE);
  assert_protected (f, "/tmp/..", TRUE);
  assert_protected (f, g_get_home_dir (), TRUE);
  assert_protected (f, f->work, TRUE);
  assert_protected (f, f->root, TRUE);
  assert_protected (f, f->assets, TRUE);
  assert_protected (f, round, TRUE);
  assert_protected (f, by_link, TRUE);

  assert_protected (f, link, FALSE);
  assert_protected (f, sub, FALSE);
  assert_protected (f, in, FALSE);
  assert_protected (f, f->outside, FALSE);
}

#define ADD(path, func) \
  g_test_add ("/engine/tool-path/" path, Fixture, NULL, set_up, func, tear_down)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  ADD ("relative", test_relative);
  ADD ("absolute", test_absolute);
  ADD ("no-work-folder", test_no_work_folder);
  ADD ("dots", test_dots);
  ADD ("neighbour", test_neighbour);
  ADD ("links-out", test_links_out);
  ADD ("links-inside", test_links_inside);
  ADD ("assets-links", test_assets_links);
  ADD ("random", test_random);
  ADD ("bad-form", test_bad_form);
  ADD ("check", test_check);
  ADD ("protected", test_protected);

  return g_test_run ();
}
