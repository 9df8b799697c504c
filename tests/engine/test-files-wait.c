/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-files-wait"

#include "config.h"

#include "engine/tool/khadim-files-domain.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Another process that works on the folder, a shell script. */
static GSubprocess *
start_writer (Harness    *h,
              const char *script)
{
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GError) error = NULL;
  GSubprocess *writer;

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  g_subprocess_launcher_set_cwd (launcher, h->work);
  writer = g_subprocess_launcher_spawn (launcher, &error, "sh", "-euc", script, NULL);
  g_assert_no_error (error);

  return writer;
}

static void
end_writer (GSubprocess *writer)
{
  g_autoptr(GError) error = NULL;

  g_subprocess_wait_check (writer, NULL, &error);
  g_assert_no_error (error);
}

static gint64
size_found (Harness    *h,
            const char *args,
            const char *name)
{
  g_autoptr(JsonNode) value = harness_ok (h, "files.wait_for", args);
  JsonObject *object = json_node_get_object (value);

  g_assert_cmpstr (khadim_json_get_string (object, "name", NULL), ==, name);

  return khadim_json_get_int (object, "size", -1);
}

/* Quiet that was before the call counts: the third call has less time than
 * quiet is asked for. The first is the control. */
static void
test_there (Harness       *h,
            gconstpointer  data)
{
  const char *args = "{'path':'new','stable':'1500ms'}";

  harness_put (h, "new", "1", -1);
  h->deadline_us = g_get_monotonic_time () + 250 * 1000;
  harness_fails (h, "files.wait_for", args, KHADIM_TOOL_ERROR_TIMEOUT, "new");
  h->deadline_us = G_MAXINT64;
  g_assert_cmpint (size_found (h, args, "new"), ==, 1);
  h->deadline_us = g_get_monotonic_time () + 1200 * 1000;
  g_assert_cmpint (size_found (h, args, "new"), ==, 1);
}

static void
test_appears (Harness       *h,
              gconstpointer  data)
{
  g_autoptr(GSubprocess) writer = start_writer (h, "sleep 0.2; printf 12345 > x.tmp; mv x.tmp x");

  g_assert_cmpint (size_found (h, "{'path':'x','stable':'100ms'}", "x"), ==, 5);
  end_writer (writer);
}

/* The folder itself comes later, too. */
static void
test_folder_appears (Harness       *h,
                     gconstpointer  data)
{
  g_autoptr(GSubprocess) writer = start_writer (h, "sleep 0.1; mkdir d; printf 1 > d/x.csv");

  g_assert_cmpint (size_found (h, "{'path':'d','pattern':'*.csv','stable':'50ms'}", "x.csv"),
                   ==, 1);
  end_writer (writer);
}

/* Each echo opens and closes: only the quiet tells that it is complete. */
static void
test_grows (Harness       *h,
            gconstpointer  data)
{
  g_autoptr(GSubprocess) writer = NULL;
  const char *script = "for i in 1 2 3 4 5 6 7 8 9 10; do echo $i >> x; sleep 0.08; done";

  writer = start_writer (h, script);
  g_assert_cmpint (size_found (h, "{'path':'x','stable':'800ms'}", "x"), ==, 21);
  end_writer (writer);

  /* The control: who does not ask for quiet gets a piece. */
  g_clear_object (&writer);
  json_node_unref (harness_ok (h, "files.delete", "{'path':'x','permanent':true}"));
  writer = start_writer (h, script);
  g_assert_cmpint (size_found (h, "{'path':'x','stable':'0s'}", "x"), <, 21);
  end_writer (writer);
}

/* A writer that pauses for longer than the quiet that is asked for, but keeps
 * the file open. */
static void
test_held_open (Harness       *h,
                gconstpointer  data)
{
  g_autoptr(GSubprocess) writer = NULL;

  writer = start_writer (h, "exec 3> x; printf a >&3; sleep 0.9; printf b >&3; exec 3>&-");
  g_assert_cmpint (size_found (h, "{'path':'x','stable':'50ms'}", "x"), ==, 2);
  end_writer (writer);
  g_assert_nonnull (strstr (h->preview, "“x” is"));
}

static void
test_held_open_timeout (Harness       *h,
                        gconstpointer  data)
{
  g_autofree char *path = harness_path (h, "x");
  int fd = open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

  g_assert_cmpint (fd, >=, 0);
  h->deadline_us = g_get_monotonic_time () + 400 * 1000;
  harness_fails (h, "files.wait_for", "{'path':'x','stable':'50ms'}",
                 KHADIM_TOOL_ERROR_TIMEOUT, "held open for writing");
  close (fd);
  h->deadline_us = G_MAXINT64;
  g_assert_cmpint (size_found (h, "{'path':'x','stable':'50ms'}", "x"), ==, 0);
}

/* Downloads as Chromium (rename at the end) and Firefox (an empty file under
 * the final name, the content beside it) make them. */
static void
test_downloads (Harness       *h,
                gconstpointer  data)
{
  g_autoptr(GSubprocess) chromium = NULL;
  g_autoptr(GSubprocess) firefox = NULL;

  chromium = start_writer (h, "printf 12 > a.pdf.crdownload; sleep 0.4;"
                              "printf 3 >> a.pdf.crdownload; mv a.pdf.crdownload a.pdf");
  g_assert_cmpint (size_found (h, "{'path':'.','pattern':'a*','stable':'50ms'}", "a.pdf"), ==, 3);
  end_writer (chromium);

  firefox = start_writer (h, "printf 12 > b.Xy1.pdf.part; : > b.pdf; sleep 0.4;"
                             "mv b.Xy1.pdf.part b.pdf");
  g_assert_cmpint (size_found (h, "{'path':'b.pdf','stable':'50ms'}", "b.pdf"), ==, 2);
  end_writer (firefox);

  /* Asked for by its name, a partial file counts. */
  harness_put (h, "c.part", "1", -1);
  g_assert_cmpint (size_found (h, "{'path':'c.part','stable':'50ms'}", "c.part"), ==, 1);
}

static void
test_newest (Harness       *h,
             gconstpointer  data)
{
  const char *const names[] = { "a.csv", "c.csv", "b.csv", "d.csv" };
  const time_t times[] = { 1000, 3000, 3000, 2000 };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = harness_path (h, names[i]);
      struct timespec stamps[2] = { { times[i], 0 }, { times[i], 0 } };

      harness_put (h, names[i], "x", -1);
      g_assert_no_errno (utimensat (AT_FDCWD, path, stamps, 0));
    }
  g_assert_cmpint (size_found (h, "{'path':'.','pattern':'*.csv','stable':'300ms'}", "b.csv"),
                   ==, 1);
}

static void
test_gone (Harness       *h,
           gconstpointer  data)
{
  g_autoptr(GSubprocess) writer = NULL;
  g_autoptr(JsonNode) value = NULL;

  harness_put (h, "lock", "", 0);
  writer = start_writer (h, "sleep 0.2; rm lock");
  value = harness_ok (h, "files.wait_for", "{'path':'lock','state':'gone'}");
  g_assert_false (khadim_json_get_boolean (json_node_get_object (value), "exists", TRUE));
  g_assert_false (harness_has (h, "lock"));
  end_writer (writer);

  harness_put (h, "lock", "", 0);
  h->deadline_us = g_get_monotonic_time () + 200 * 1000;
  harness_fails (h, "files.wait_for", "{'path':'lock','state':'gone'}",
                 KHADIM_TOOL_ERROR_TIMEOUT, "was still there");
}

static void
test_changed (Harness       *h,
              gconstpointer  data)
{
  g_autoptr(GSubprocess) writer = NULL;

  harness_put (h, "x", "old", -1);
  h->deadline_us = g_get_monotonic_time () + 400 * 1000;
  harness_fails (h, "files.wait_for", "{'path':'x','state':'changed','stable':'10ms'}",
                 KHADIM_TOOL_ERROR_TIMEOUT, "had not changed");

  h->deadline_us = G_MAXINT64;
  writer = start_writer (h, "sleep 0.3; printf new > x.new; mv x.new x");
  g_assert_cmpint (size_found (h, "{'path':'x','state':'changed','stable':'50ms'}", "x"), ==, 3);
  harness_assert_content (h, "x", "new", -1);
  end_writer (writer);
}

typedef struct
{
  GCancellable *cancellable;
  gint64 when_us;
} Canceller;

static gboolean
on_time_to_cancel_cb (gpointer user_data)
{
  Canceller *canceller = user_data;

  canceller->when_us = g_get_monotonic_time ();
  g_cancellable_cancel (canceller->cancellable);

  return G_SOURCE_REMOVE;
}

/* Far below the interval of looks: nobody waits for the next one. */
static void
test_cancel (Harness       *h,
             gconstpointer  data)
{
  Canceller canceller = { g_cancellable_new (), 0 };

  h->cancellable = canceller.cancellable;
  g_timeout_add (120, on_time_to_cancel_cb, &canceller);
  harness_fails (h, "files.wait_for", "{'path':'never'}", KHADIM_TOOL_ERROR_CANCELLED, "cancelled");
  g_assert_cmpint (g_get_monotonic_time () - canceller.when_us, <, 400 * 1000);
}

/* The runner cancels when the time is up; what is said is what was waited for. */
static void
test_cancel_at_deadline (Harness       *h,
                         gconstpointer  data)
{
  Canceller canceller = { g_cancellable_new (), 0 };

  h->cancellable = canceller.cancellable;
  h->deadline_us = g_get_monotonic_time () + 100 * 1000;
  g_timeout_add (95, on_time_to_cancel_cb, &canceller);
  harness_fails (h, "files.wait_for", "{'path':'never'}", KHADIM_TOOL_ERROR_TIMEOUT, "never");
}

/* More waits than GTask has threads (10) leave room for other calls: each of
 * them keeps a timer, not a thread. */
static void
test_many (Harness       *h,
           gconstpointer  data)
{
  Harness waits[40];
  g_autoptr(JsonNode) value = NULL;

  harness_put (h, "a", "a", -1);
  for (guint i = 0; i < G_N_ELEMENTS (waits); i++)
    {
      waits[i] = *h;
      waits[i].cancellable = g_cancellable_new ();
      harness_start (&waits[i], "files.wait_for", harness_json ("{'path':'never'}"));
    }
  value = harness_ok (h, "files.read", "{'path':'a'}");
  for (guint i = 0; i < G_N_ELEMENTS (waits); i++)
    {
      g_autoptr(KhadimToolResult) result = NULL;

      g_assert_null (waits[i].result);
      g_cancellable_cancel (waits[i].cancellable);
      result = harness_wait (&waits[i]);
      g_assert_cmpint (khadim_tool_result_get_code (result), ==, KHADIM_TOOL_ERROR_CANCELLED);
      g_object_unref (waits[i].cancellable);
    }
}

static void
test_errors (Harness       *h,
             gconstpointer  data)
{
  g_autofree char *long_name = g_strnfill (300, 'x');
  g_autofree char *args = g_strdup_printf ("{'path':'%s','pattern':'*'}", long_name);

  /* What can never become true is not waited for. */
  harness_fails (h, "files.wait_for", args, KHADIM_TOOL_ERROR_LIMIT, "name is too long");
  harness_fails (h, "files.wait_for", "{'path':'../x'}", KHADIM_TOOL_ERROR_DENIED, "x");
  harness_fails (h, "files.wait_for", "{'path':'x','stable':'soon'}", KHADIM_TOOL_ERROR_TOOL,
                 "soon");
  harness_fails (h, "files.wait_for", "{'path':'x','state':'here'}", KHADIM_TOOL_ERROR_TOOL,
                 "here");
}

#define ADD(path, func) \
  g_test_add ("/engine/files-wait/" path, Harness, NULL, set_up, func, tear_down)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  ADD ("there", test_there);
  ADD ("appears", test_appears);
  ADD ("folder-appears", test_folder_appears);
  ADD ("grows", test_grows);
  ADD ("held-open", test_held_open);
  ADD ("held-open-timeout", test_held_open_timeout);
  ADD ("downloads", test_downloads);
  ADD ("newest", test_newest);
  ADD ("gone", test_gone);
  ADD ("changed", test_changed);
  ADD ("cancel", test_cancel);
  ADD ("cancel-at-deadline", test_cancel_at_deadline);
  ADD ("many", test_many);
  ADD ("errors", test_errors);

  return g_test_run ();
}
