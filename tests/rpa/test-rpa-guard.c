/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <signal.h>

#include <X11/XKBlib.h>
#include <X11/Xlib.h>
#include <X11/extensions/XInput2.h>
#include <X11/extensions/XTest.h>
#include <X11/keysym.h>

#include "rpa/input/khadim-rpa-input.h"
#include "rpa/screen/khadim-rpa-error.h"
#include "tests/rpa/lib/desk.h"
#include "tests/rpa/lib/target.h"

/* What other people and programs do to the keyboard while a text is typed. The
 * witnesses are clients with connections of their own. */

#define TIMEOUT_MS      20000
#define N_STEALS        200
#define TEXT_CHARS      40
#define FREEZE_MS       1000
#define THIEF_DELAY_US  500

static Desk *desk;
static KhadimRpaDisplay *display;
static KhadimRpaWindows *windows;
static KhadimRpaInput *input;

static char *
repeat (const char *what,
        guint       n)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append (text, what);

  return g_string_free (text, FALSE);
}

static void
assert_arrives (Target     *target,
                const char *expected)
{
  g_autofree char *text = NULL;

  if (target_wait_text (target, expected, TIMEOUT_MS))
    return;
  text = target_text (target);
  g_assert_cmpstr (text, ==, expected);
}

/* The state of the keyboard ------------------------------------------------ */

static void
test_caps (void)
{
  g_autoptr(Target) target = target_new (desk, windows, "gtk3", "Caps");
  const KhadimRpaTypeOptions options = { .window = target->window };
  Display *x = XOpenDisplay (NULL);
  g_autoptr(GError) error = NULL;
  XkbStateRec state;

  XkbLockModifiers (x, XkbUseCoreKbd, LockMask, LockMask);
  XSync (x, False);
  khadim_rpa_input_type (input, "Abc dEF ÄÖ äö", &options, NULL, NULL, &error);
  g_assert_no_error (error);
  assert_arrives (target, "Abc dEF ÄÖ äö");
  XkbGetState (x, XkbUseCoreKbd, &state);
  g_assert_cmpint (state.locked_mods & LockMask, ==, LockMask);
  XkbLockModifiers (x, XkbUseCoreKbd, LockMask, 0);
  XCloseDisplay (x);
}

/* Somebody else holds Shift: not a letter is typed. */
static void
test_modifiers (void)
{
  g_autoptr(Target) target = target_new (desk, windows, "gtk3", "Modifiers");
  const KhadimRpaTypeOptions options = { .window = target->window };
  Display *x = XOpenDisplay (NULL);
  KeyCode shift = XKeysymToKeycode (x, XK_Shift_L);
  g_autoptr(GError) error = NULL;

  XTestFakeKeyEvent (x, shift, True, CurrentTime);
  XSync (x, False);
  g_assert_false (khadim_rpa_input_type (input, "abc", &options, NULL, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_BUSY);
  g_clear_error (&error);
  XTestFakeKeyEvent (x, shift, False, CurrentTime);
  XSync (x, False);
  khadim_rpa_input_type (input, "xyz", &options, NULL, NULL, &error);
  g_assert_no_error (error);
  assert_arrives (target, "xyz");
  XCloseDisplay (x);
}

static void
test_refused (void)
{
  g_autoptr(GError) error = NULL;

  g_assert_false (khadim_rpa_input_type (input, "a\x1b", NULL, NULL, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (khadim_rpa_input_type (input, "a\xff", NULL, NULL, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
}

static gboolean
on_thaw_cb (gpointer user_data)
{
  kill ((pid_t) GPOINTER_TO_INT (user_data), SIGCONT);

  return G_SOURCE_REMOVE;
}

static gpointer
run_loop (gpointer user_data)
{
  g_main_loop_run (user_data);

  return NULL;
}

/* A program that does not read for a while gets every character all the same. */
static void
test_frozen (gconstpointer toolkit)
{
  g_autoptr(Target) target = target_new (desk, windows, toolkit, "Frozen");
  const KhadimRpaTypeOptions options = { .window = target->window };
  g_autoptr(GMainContext) context = g_main_context_new ();
  g_autoptr(GMainLoop) loop = g_main_loop_new (context, FALSE);
  g_autoptr(GSource) thaw = g_timeout_source_new (FREEZE_MS);
  g_autoptr(GString) text = g_string_new (NULL);
  g_autoptr(GError) error = NULL;
  pid_t pid = (pid_t) desk_pid (target->process);
  GThread *thread;

  for (gunichar c = 0x4e00; c < 0x4e00 + 300; c++)
    g_string_append_unichar (text, c);
  g_source_set_callback (thaw, on_thaw_cb, GINT_TO_POINTER (pid), NULL);
  g_source_attach (thaw, context);
  kill (pid, SIGSTOP);
  thread = g_thread_new ("thaw", run_loop, loop);
  khadim_rpa_input_type (input, text->str, &options, NULL, NULL, &error);
  g_assert_no_error (error);
  g_main_loop_quit (loop);
  g_thread_join (thread);
  assert_arrives (target, text->str);
}

/* Thieves ------------------------------------------------------------------ */

typedef struct {
  Display *x;
  Window window;
  guint at;       /* takes the focus at this key */
  guint n_seen;   /* keys that went over the desk */
  guint n_stolen; /* keys that arrived at the thief */
  gboolean has_focus;
  int opcode;
} Thief;

static void
thief_init (Thief *self)
{
  unsigned char bits[XIMaskLen (XI_LASTEVENT)] = { 0 };
  XIEventMask mask = { XIAllMasterDevices, sizeof bits, bits };
  XSetWindowAttributes attributes = { .override_redirect = True,
                                      .event_mask = KeyPressMask | KeyReleaseMask };
  int event, fault, major = 2, minor = 2;

  self->x = XOpenDisplay (NULL);
  g_assert_nonnull (self->x);
  g_assert_true (XQueryExtension (self->x, "XInputExtension", &self->opcode, &event, &fault));
  g_assert_cmpint (XIQueryVersion (self->x, &major, &minor), ==, Success);
  self->window = XCreateWindow (self->x, DefaultRootWindow (self->x), 0, 0, 50, 50, 0,
                                CopyFromParent, InputOutput, CopyFromParent,
                                CWOverrideRedirect | CWEventMask, &attributes);
  XStoreName (self->x, self->window, "Thief");
  XMapWindow (self->x, self->window);
  XISetMask (bits, XI_RawKeyPress);
  XISelectEvents (self->x, DefaultRootWindow (self->x), &mask, 1);
  XSync (self->x, False);
}

static void
thief_handle (Thief  *self,
              XEvent *event)
{
  if (event->type == KeyPress || event->type == KeyRelease)
    self->n_stolen++;
  if (event->type != GenericEvent || event->xcookie.extension != self->opcode)
    return;
  self->n_seen++;
  if (self->n_seen < self->at || self->has_focus)
    return;
  XSetInputFocus (self->x, self->window, RevertToPointerRoot, CurrentTime);
  self->has_focus = TRUE;
}

static gint thief_ends; /* atomic */

static gpointer
thief_run (gpointer user_data)
{
  Thief *self = user_data;
  GPollFD fd = { ConnectionNumber (self->x), G_IO_IN, 0 };

  while (!g_atomic_int_get (&thief_ends))
    {
      while (XPending (self->x) > 0)
        {
          XEvent event;

          XNextEvent (self->x, &event);
          thief_handle (self, &event);
        }
      g_poll (&fd, 1, 5);
    }

  return NULL;
}

static void
activate (Target *target)
{
  g_autoptr(GError) error = NULL;

  khadim_rpa_windows_activate (windows, target->window, TIMEOUT_MS, NULL, &error);
  g_assert_no_error (error);
}

static gboolean
has_focus (gpointer user_data)
{
  Thief *thief = user_data;
  Window focus;
  int revert;
  Display *x = XOpenDisplay (NULL);

  XGetInputFocus (x, &focus, &revert);
  XCloseDisplay (x);

  return focus != thief->window && focus != None && focus != PointerRoot;
}

/* Gives the keyboard back to the target, as a window manager would. */
static void
give_back (Thief  *thief,
           Target *target)
{
  Display *x = XOpenDisplay (NULL);

  XSetInputFocus (x, target->window, RevertToPointerRoot, CurrentTime);
  XSync (x, False);
  XCloseDisplay (x);
  activate (target);
  g_assert_true (desk_wait (has_focus, thief, TIMEOUT_MS));
}

static void
test_stolen_focus (void)
{
  g_autoptr(Target) target = target_new (desk, windows, "gtk3", "Victim");
  KhadimRpaTypeOptions options = { .window = target->window };
  g_autofree char *text = repeat ("x", TEXT_CHARS);
  g_autoptr(GRand) random = g_rand_new_with_seed (3);
  g_autoptr(GString) expected = g_string_new (NULL);
  Thief thief = { 0 };
  guint n_lost = 0;

  thief_init (&thief);
  for (guint i = 0; i < N_STEALS; i++)
    {
      KhadimRpaTypeReport report = { 0 };
      g_autoptr(GError) error = NULL;
      GThread *thread;

      /* At full speed most texts are through before the thief is there. */
      options.delay_us = i % 4 == 0 ? 0 : THIEF_DELAY_US;
      thief.n_seen = 0;
      thief.has_focus = FALSE;
      thief.at = (guint) g_rand_int_range (random, 1, TEXT_CHARS);
      g_atomic_int_set (&thief_ends, FALSE);
      thread = g_thread_new ("thief", thief_run, &thief);
      if (!khadim_rpa_input_type (input, text, &options, &report, NULL, &error))
        {
          g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FOCUS_LOST);
          n_lost++;
        }
      g_atomic_int_set (&thief_ends, TRUE);
      g_thread_join (thread);
      for (guint j = 0; j < report.n_chars; j++)
        g_string_append_c (expected, 'x');
      give_back (&thief, target);
    }
  g_test_message ("%u of %u texts lost the keyboard", n_lost, N_STEALS);
  g_assert_cmpuint (n_lost, >, N_STEALS / 4);
  g_assert_cmpuint (thief.n_stolen, ==, 0);
  assert_arrives (target, expected->str);
  XCloseDisplay (thief.x);
}

/* The thief does get keys from somebody who does not look. */
static void
test_stolen_control (void)
{
  g_autoptr(Target) target = target_new (desk, windows, "gtk3", "Victim");
  Display *x = XOpenDisplay (NULL);
  KeyCode code = XKeysymToKeycode (x, XK_x);
  Thief thief = { .at = 5 };
  GThread *thread;

  thief_init (&thief);
  g_atomic_int_set (&thief_ends, FALSE);
  thread = g_thread_new ("thief", thief_run, &thief);
  for (guint i = 0; i < 5000; i++)
    {
      XTestFakeKeyEvent (x, code, True, CurrentTime);
      XTestFakeKeyEvent (x, code, False, CurrentTime);
      XSync (x, False);
    }
  g_atomic_int_set (&thief_ends, TRUE);
  g_thread_join (thread);
  while (XPending (thief.x) > 0)
    {
      XEvent event;

      XNextEvent (thief.x, &event);
      thief_handle (&thief, &event);
    }
  g_assert_cmpuint (thief.n_stolen, >, 0);
  XCloseDisplay (thief.x);
  XCloseDisplay (x);
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

  g_test_add_func ("/rpa/guard/caps", test_caps);
  g_test_add_func ("/rpa/guard/modifiers", test_modifiers);
  g_test_add_func ("/rpa/guard/refused", test_refused);
  g_test_add_data_func ("/rpa/guard/frozen/gtk3", "gtk3", test_frozen);
  g_test_add_data_func ("/rpa/guard/frozen/gtk4", "gtk4", test_frozen);
  g_test_add_func ("/rpa/guard/stolen", test_stolen_focus);
  g_test_add_func ("/rpa/guard/stolen-control", test_stolen_control);

  result = g_test_run ();
  g_clear_object (&input);
  g_clear_object (&windows);
  g_clear_object (&display);
  desk_free (desk);

  return result;
}
