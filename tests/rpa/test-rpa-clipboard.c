/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <signal.h>
#include <string.h>

#include <X11/Xatom.h>
#include <X11/Xlib.h>

#include "rpa/input/khadim-rpa-clipboard.h"
#include "rpa/screen/khadim-rpa-error.h"
#include "tests/rpa/lib/desk.h"
#include "tests/rpa/lib/target.h"

/* xclip is the other client. */

#define TIMEOUT_MS  20000
#define SHORT_MS    300
#define LARGE_LINES 100000

static Desk *desk;
static KhadimRpaDisplay *display;
static KhadimRpaWindows *windows;
static KhadimRpaInput *input;
static KhadimRpaClipboard *clipboard;

static const char text[] = "Grüße, 漢字 😀\n\tline 2";

static char *
make_large (void)
{
  GString *large = g_string_new (NULL);

  for (guint i = 0; i < LARGE_LINES; i++)
    g_string_append_printf (large, "Zeile %06u: äöü 漢字\n", i);

  return g_string_free (large, FALSE);
}

static char *
read_by_xclip (void)
{
  return desk_run ("xclip", "-o", "-selection", "clipboard", "-t", "UTF8_STRING", NULL);
}

static char *
get (void)
{
  return khadim_rpa_clipboard_get_text (clipboard, KHADIM_RPA_CLIPBOARD_KIND_CLIPBOARD,
                                        TIMEOUT_MS, NULL, NULL);
}

static gboolean
holds (gpointer user_data)
{
  g_autofree char *is = get ();

  return g_strcmp0 (is, user_data) == 0;
}

/* xclip offers a text until it is ended. */
static GSubprocess *
offer_by_xclip (const char *what)
{
  g_autofree char *path = g_build_filename (desk_home (desk), "offer", NULL);
  GSubprocess *process;

  g_assert_true (g_file_set_contents (path, what, -1, NULL));
  process = desk_spawn (desk, "xclip", "-quiet", "-i", "-selection", "clipboard", "-t",
                        "UTF8_STRING", path, NULL);
  g_assert_true (desk_wait (holds, (gpointer) what, TIMEOUT_MS));

  return process;
}

static void
test_set (void)
{
  g_autofree char *large = make_large ();
  const char * const texts[] = { text, large, "" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autofree char *is = NULL;
      g_autofree char *own = NULL;

      khadim_rpa_clipboard_set_text (clipboard, KHADIM_RPA_CLIPBOARD_KIND_CLIPBOARD, texts[i],
                                     &error);
      g_assert_no_error (error);
      is = read_by_xclip ();
      g_assert_cmpuint (strlen (is), ==, strlen (texts[i]));
      g_assert_cmpstr (is, ==, texts[i]);
      own = get ();
      g_assert_cmpstr (own, ==, texts[i]);
    }
}

static void
test_get (void)
{
  g_autofree char *large = make_large ();
  g_autoptr(GSubprocess) first = offer_by_xclip (text);
  g_autoptr(GSubprocess) second = offer_by_xclip (large);

  desk_end (first);
  desk_end (second);
}

static void
test_nothing (void)
{
  g_autoptr(GSubprocess) xclip = offer_by_xclip (text);
  g_autoptr(GError) error = NULL;

  desk_end (xclip);
  g_assert_null (khadim_rpa_clipboard_get_text (clipboard, KHADIM_RPA_CLIPBOARD_KIND_CLIPBOARD,
                                                TIMEOUT_MS, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_false (khadim_rpa_clipboard_set_text (clipboard, KHADIM_RPA_CLIPBOARD_KIND_CLIPBOARD,
                                                 "a\xff", &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
}

static Window
get_owner (Display *x)
{
  return XGetSelectionOwner (x, XInternAtom (x, "CLIPBOARD", False));
}

typedef struct
{
  Display *x;
  Window owner;
} Owned;

static gboolean
has_other_owner (gpointer user_data)
{
  const Owned *owned = user_data;
  Window owner = get_owner (owned->x);

  return owner != None && owner != owned->owner;
}

/* Waits for the owner alone, not for what it answers. */
static GSubprocess *
own_by_xclip (const char *what,
              gssize      size,
              const char *target)
{
  static guint number;
  g_autofree char *name = g_strdup_printf ("own-%u", number++);
  g_autofree char *path = g_build_filename (desk_home (desk), name, NULL);
  Owned owned = { XOpenDisplay (NULL) };
  GSubprocess *process;

  g_assert_nonnull (owned.x);
  owned.owner = get_owner (owned.x);
  g_assert_true (g_file_set_contents (path, what, size, NULL));
  process = desk_spawn (desk, "xclip", "-quiet", "-i", "-selection", "clipboard", "-t", target,
                        path, NULL);
  g_assert_true (desk_wait (has_other_owner, &owned, TIMEOUT_MS));
  XCloseDisplay (owned.x);

  return process;
}

/* A program that is older than UTF-8: refuses until it is asked for STRING. */
static gpointer
serve_latin1 (gpointer user_data)
{
  static const unsigned char latin1[] = "Gr\xfc\xdf\x65";
  Display *x = user_data;
  gboolean served = FALSE;

  while (!served)
    {
      XEvent event, answer = { 0 };

      XNextEvent (x, &event);
      if (event.type != SelectionRequest)
        continue;
      served = event.xselectionrequest.target == XA_STRING;
      if (served)
        XChangeProperty (x, event.xselectionrequest.requestor, event.xselectionrequest.property,
                         XA_STRING, 8, PropModeReplace, latin1, sizeof latin1 - 1);
      answer.xselection.type = SelectionNotify;
      answer.xselection.requestor = event.xselectionrequest.requestor;
      answer.xselection.selection = event.xselectionrequest.selection;
      answer.xselection.target = event.xselectionrequest.target;
      answer.xselection.property = served ? event.xselectionrequest.property : None;
      XSendEvent (x, event.xselectionrequest.requestor, False, NoEventMask, &answer);
      XFlush (x);
    }

  return NULL;
}

static void
test_latin1 (void)
{
  Display *x = XOpenDisplay (NULL);
  Window window;
  g_autoptr(GThread) thread = NULL;
  g_autofree char *is = NULL;

  g_assert_nonnull (x);
  window = XCreateSimpleWindow (x, DefaultRootWindow (x), 0, 0, 1, 1, 0, 0, 0);
  XSetSelectionOwner (x, XInternAtom (x, "CLIPBOARD", False), window, CurrentTime);
  g_assert_cmpuint (get_owner (x), ==, window);
  thread = g_thread_new ("latin1", serve_latin1, x);
  is = get ();
  g_assert_cmpstr (is, ==, "Grüße");
  g_thread_join (g_steal_pointer (&thread));
  XCloseDisplay (x);
}

static void
assert_refused (const char *what,
                gssize      size,
                int         code)
{
  g_autoptr(GSubprocess) owner = own_by_xclip (what, size, "UTF8_STRING");
  g_autoptr(GError) error = NULL;

  g_assert_null (khadim_rpa_clipboard_get_text (clipboard, KHADIM_RPA_CLIPBOARD_KIND_CLIPBOARD,
                                                TIMEOUT_MS, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, code);
  desk_end (owner);
}

static void
test_refused (void)
{
  g_autofree char *too_long = g_strnfill (KHADIM_RPA_CLIPBOARD_MAX_BYTES + 1, 'x');

  assert_refused ("bad \xff", -1, KHADIM_RPA_ERROR_INVALID);
  assert_refused ("a\0b", 3, KHADIM_RPA_ERROR_INVALID);
  assert_refused (too_long, -1, KHADIM_RPA_ERROR_LIMIT);
}

typedef struct
{
  guint timeout_ms;
  GCancellable *cancellable;
  char *text;
  GError *error;
} Getting;

static gpointer
run_get (gpointer user_data)
{
  Getting *self = user_data;

  self->text =
    khadim_rpa_clipboard_get_text (clipboard, KHADIM_RPA_CLIPBOARD_KIND_CLIPBOARD,
                                   self->timeout_ms, self->cancellable, &self->error);

  return NULL;
}

/* Programs that stand still: what the first one answers after its time is not
 * taken for what the second one has. */
static void
test_frozen (void)
{
  g_autoptr(GSubprocess) first = own_by_xclip ("first", -1, "UTF8_STRING");
  g_autoptr(GSubprocess) second = NULL;
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GThread) thread = NULL;
  Getting late = { .timeout_ms = SHORT_MS };
  Getting cancelled = { .timeout_ms = TIMEOUT_MS, .cancellable = cancellable };
  Getting good = { .timeout_ms = TIMEOUT_MS };

  g_subprocess_send_signal (first, SIGSTOP);
  run_get (&late);
  g_assert_error (late.error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT);
  g_cancellable_cancel (cancellable);
  run_get (&cancelled);
  g_assert_error (cancelled.error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED);

  second = own_by_xclip ("second", -1, "UTF8_STRING");
  g_subprocess_send_signal (second, SIGSTOP);
  thread = g_thread_new ("get", run_get, &good);
  /* It answers, sees that it has lost the clipboard, and ends. */
  g_subprocess_send_signal (first, SIGCONT);
  g_subprocess_wait (first, NULL, NULL);
  g_subprocess_send_signal (second, SIGCONT);
  g_thread_join (g_steal_pointer (&thread));
  g_assert_no_error (good.error);
  g_assert_cmpstr (good.text, ==, "second");
  desk_end (second);
  g_free (good.text);
  g_error_free (late.error);
  g_error_free (cancelled.error);
}

static void
test_paste (gconstpointer toolkit)
{
  g_autoptr(Target) target = NULL;
  g_autoptr(GSubprocess) before = NULL;
  g_autofree char *was = g_strdup_printf ("what was there before %s", (const char *) toolkit);
  g_autofree char *after = NULL;
  g_autoptr(GString) large = g_string_new (text);
  g_autoptr(GError) error = NULL;

  if (!target_is_built (toolkit))
    {
      g_test_skip ("This target could not be built here");
      return;
    }
  for (guint i = 0; i < 5000; i++)
    g_string_append_printf (large, "%u äöü 漢字\n", i);
  target = target_new (desk, windows, toolkit, "Paste");
  before = offer_by_xclip (was);
  khadim_rpa_clipboard_paste (clipboard, input, large->str, target->window, TRUE, TIMEOUT_MS, NULL,
                              &error);
  g_assert_no_error (error);
  g_assert_true (target_wait_text (target, large->str, TIMEOUT_MS));
  after = read_by_xclip ();
  g_assert_cmpstr (after, ==, was);
  desk_end (before);
}

/* A program that does not know Ctrl+V: told, and the clipboard is as before. */
static void
test_paste_refused (void)
{
  g_autoptr(GSubprocess) zenity = desk_spawn (desk, "zenity", "--info", "--text=no text", NULL);
  g_autoptr(GSubprocess) before = NULL;
  g_autoptr(KhadimRpaWindow) window = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *after = NULL;
  const KhadimRpaWindowMatch match = { .pid = desk_pid (zenity) };

  window = khadim_rpa_windows_wait_for (windows, &match, NULL, TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);
  khadim_rpa_windows_activate (windows, khadim_rpa_window_get_id (window), TIMEOUT_MS, NULL,
                               &error);
  g_assert_no_error (error);
  before = offer_by_xclip ("kept");
  g_assert_false (khadim_rpa_clipboard_paste (clipboard, input, text,
                                              khadim_rpa_window_get_id (window), TRUE, SHORT_MS,
                                              NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT);
  after = read_by_xclip ();
  g_assert_cmpstr (after, ==, "kept");
  desk_end (before);
  desk_end (zenity);
}

int
main (int    argc,
      char **argv)
{
  g_autoptr(GError) error = NULL;
  int result;

  desk = desk_new ("openbox", 1280, 800);
  g_test_init (&argc, &argv, NULL);
  display = khadim_rpa_display_new (NULL, &error);
  g_assert_no_error (error);
  windows = khadim_rpa_windows_new (display, &error);
  g_assert_no_error (error);
  input = khadim_rpa_input_new (display, &error);
  g_assert_no_error (error);
  clipboard = khadim_rpa_clipboard_new (display, &error);
  g_assert_no_error (error);

  g_test_add_func ("/rpa/clipboard/set", test_set);
  g_test_add_func ("/rpa/clipboard/get", test_get);
  g_test_add_func ("/rpa/clipboard/nothing", test_nothing);
  g_test_add_func ("/rpa/clipboard/latin1", test_latin1);
  g_test_add_func ("/rpa/clipboard/refused", test_refused);
  g_test_add_func ("/rpa/clipboard/frozen", test_frozen);
  g_test_add_data_func ("/rpa/clipboard/paste/gtk3", "gtk3", test_paste);
  g_test_add_data_func ("/rpa/clipboard/paste/gtk4", "gtk4", test_paste);
  g_test_add_data_func ("/rpa/clipboard/paste/qt5", "qt5", test_paste);
  g_test_add_func ("/rpa/clipboard/paste-refused", test_paste_refused);

  result = g_test_run ();
  g_clear_object (&clipboard);
  g_clear_object (&input);
  g_clear_object (&windows);
  g_clear_object (&display);
  desk_free (desk);

  return result;
}
