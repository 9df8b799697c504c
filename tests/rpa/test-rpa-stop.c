/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <signal.h>
#include <string.h>

#include "rpa/input/khadim-rpa-stop-watch.h"
#include "rpa/screen/khadim-rpa-error.h"
#include "tests/rpa/lib/desk.h"
#include "tests/rpa/lib/judge.h"

/* How long after the press of the keys something may still be injected. */
#define MAX_STOP_MS 50
#define N_STOPS 50
#define N_STOPS_SLOW 500
#define TIMEOUT_MS 10000

typedef struct
{
  Desk *desk;
  Judge *judge;
  KhadimRpaDisplay *display;
  KhadimRpaInput *input;
  KhadimRpaStopWatch *watch;
  gint n_stops;               /* atomic */
  gint cause;                 /* atomic */
} Scene;

static void
on_stop_cb (KhadimRpaStopCause cause,
            gpointer           user_data)
{
  Scene *self = user_data;

  g_atomic_int_set (&self->cause, (gint) cause);
  g_atomic_int_inc (&self->n_stops);
}

static void
scene_open (Scene *self)
{
  g_autoptr(GError) error = NULL;

  self->desk = desk_new (NULL, 1280, 800);
  self->judge = judge_new ();
  self->display = khadim_rpa_display_new (NULL, &error);
  g_assert_no_error (error);
  self->input = khadim_rpa_input_new (self->display, &error);
  g_assert_no_error (error);
  self->watch =
    khadim_rpa_stop_watch_new (self->input, NULL, TRUE, on_stop_cb, self, NULL, &error);
  g_assert_no_error (error);
  khadim_rpa_input_move (self->input, 300, 200, 0, NULL, &error);
  g_assert_no_error (error);
  judge_forget (self->judge);
}

static void
scene_close (Scene *self)
{
  khadim_rpa_stop_clear ();
  g_assert_finalize_object (self->watch);
  g_assert_finalize_object (self->input);
  g_object_unref (self->display);
  judge_free (self->judge);
  desk_free (self->desk);
}

/* In the middle of things ---------------------------------------------------- */

typedef gboolean (*Work) (KhadimRpaInput  *input,
                          GError         **error);

static gboolean
type_fast (KhadimRpaInput  *input,
           GError         **error)
{
  g_autofree char *text = g_strnfill (20000, 'x');

  return khadim_rpa_input_type (input, text, NULL, NULL, NULL, error);
}

static gboolean
type_capitals_slowly (KhadimRpaInput  *input,
                      GError         **error)
{
  KhadimRpaTypeOptions options = { .delay_us = 500 };
  g_autofree char *text = g_strnfill (20000, 'X');

  return khadim_rpa_input_type (input, text, &options, NULL, NULL, error);
}

static gboolean
drag (KhadimRpaInput  *input,
      GError         **error)
{
  static const int points[] = { 300, 200, 450, 350, 300, 200 };

  return khadim_rpa_input_drag (input, points, 3, KHADIM_RPA_BUTTON_LEFT, "shift", 20000, 0, NULL,
                                error);
}

static gboolean
hold_key (KhadimRpaInput  *input,
          GError         **error)
{
  return khadim_rpa_input_key (input, "shift+b", 0, 1, 20000, NULL, error);
}

/* The key stays down when the call is over. */
static gboolean
keep_key (KhadimRpaInput  *input,
          GError         **error)
{
  return khadim_rpa_input_key_down (input, "c", 0, error) &&
         khadim_rpa_input_press (input, KHADIM_RPA_BUTTON_RIGHT, 0, error);
}

static gboolean
wait_long (KhadimRpaInput  *input,
           GError         **error)
{
  KhadimRpaTypeOptions options = { .delay_us = 20 * G_USEC_PER_SEC };

  return khadim_rpa_input_type (input, "dd", &options, NULL, NULL, error);
}

static const struct
{
  Work work;
  guint max_events;   /* the stop comes after any number of these */
  gboolean cancelled; /* the call is still on then */
} works[] = {
  { type_fast, 400, TRUE }, { type_capitals_slowly, 40, TRUE }, { drag, 10, TRUE },
  { hold_key, 2, TRUE },    { keep_key, 2, FALSE },             { wait_long, 2, TRUE },
};

typedef struct
{
  KhadimRpaInput *input;
  Work work;
  GError *error;
} Worker;

static gpointer
run_work (gpointer user_data)
{
  Worker *self = user_data;

  self->work (self->input, &self->error);

  return NULL;
}

typedef struct
{
  Judge *judge;
  guint n;
} Wanted;

static gboolean
has_events (gpointer user_data)
{
  Wanted *wanted = user_data;

  judge_look (wanted->judge);

  return wanted->judge->events->len >= wanted->n;
}

/* Nothing but what the person holds. */
static gboolean
is_released (gpointer user_data)
{
  Wanted *wanted = user_data;

  return judge_n_keys_down (wanted->judge) == wanted->n && judge_buttons_down (wanted->judge) == 0;
}

static Time
find_press (Judge *judge,
            guint  code)
{
  for (guint i = 0; i < judge->events->len; i++)
    {
      const JudgeEvent *event = &g_array_index (judge->events, JudgeEvent, i);

      if (event->type == XI_RawKeyPress && event->detail == code)
        return event->time_ms;
    }
  g_assert_not_reached ();
}

static gboolean
is_stopped (gpointer user_data)
{
  Scene *scene = user_data;

  return g_atomic_int_get (&scene->n_stops) > 0;
}

/* The server has done all that was injected so far: it does what clients send
 * in no order between them. */
static void
sync_input (Scene *self)
{
  g_autoptr(GError) error = NULL;
  int x, y;

  khadim_rpa_input_get_pointer (self->input, &x, &y, &error);
  g_assert_no_error (error);
}

/* A person stops; returns how long after it something was injected. */
static long
press_stop (Scene *self)
{
  Judge *judge = self->judge;
  guint own[3];
  Wanted wanted = { judge, 3 };
  Time begun;

  own[0] = judge_key (judge, "Control_L", TRUE);
  own[1] = judge_key (judge, "Alt_L", TRUE);
  own[2] = judge_key (judge, "Escape", TRUE);
  g_assert_true (desk_wait (is_stopped, self, TIMEOUT_MS));
  g_assert_true (desk_wait (is_released, &wanted, TIMEOUT_MS));
  /* Whatever the display still has to do comes before this. */
  sync_input (self);
  judge_look (judge);
  begun = find_press (judge, own[2]);
  judge_key (judge, "Escape", FALSE);
  judge_key (judge, "Alt_L", FALSE);
  judge_key (judge, "Control_L", FALSE);

  return MAX ((long) (judge_last (judge, own, 3) - begun), 0);
}

static long
stop_once (Scene *self,
           guint  i)
{
  guint kind = i % G_N_ELEMENTS (works);
  Worker worker = { .input = self->input, .work = works[kind].work };
  Wanted wanted = { self->judge, (guint) g_test_rand_int_range (1, (gint) works[kind].max_events) };
  g_autoptr(GThread) thread = NULL;
  long late_ms;

  judge_forget (self->judge);
  g_atomic_int_set (&self->n_stops, 0);
  thread = g_thread_new ("worker", run_work, &worker);
  g_assert_true (desk_wait (has_events, &wanted, TIMEOUT_MS));
  if (!works[kind].cancelled)
    g_thread_join (g_steal_pointer (&thread));
  late_ms = press_stop (self);
  if (thread != NULL)
    g_thread_join (g_steal_pointer (&thread));

  g_assert_cmpuint (judge_n_keys_down (self->judge), ==, 0);
  g_assert_cmpint (g_atomic_int_get (&self->n_stops), ==, 1);
  g_assert_cmpint (g_atomic_int_get (&self->cause), ==, KHADIM_RPA_STOP_CAUSE_KEYS);
  if (works[kind].cancelled)
    g_assert_error (worker.error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED);
  g_clear_error (&worker.error);
  khadim_rpa_stop_clear ();

  return late_ms;
}

static void
test_keys (void)
{
  Scene scene = { 0 };
  guint n = g_test_slow () ? N_STOPS_SLOW : N_STOPS;
  long worst_ms = 0;

  scene_open (&scene);
  for (guint i = 0; i < n; i++)
    {
      long late_ms = stop_once (&scene, i);

      g_assert_cmpint (late_ms, <=, MAX_STOP_MS);
      worst_ms = MAX (worst_ms, late_ms);
    }
  g_test_message ("%u stops, the last event at most %ld ms after the press", n, worst_ms);
  scene_close (&scene);
}

/* Another client has the keyboard and the pointer. */
static void
test_foreign_grab (void)
{
  Scene scene = { 0 };
  Display *other;
  g_autoptr(GError) error = NULL;

  scene_open (&scene);
  other = XOpenDisplay (NULL);
  g_assert_cmpint (XGrabKeyboard (other, DefaultRootWindow (other), False, GrabModeAsync,
                                  GrabModeAsync, CurrentTime), ==, GrabSuccess);
  g_assert_cmpint (XGrabPointer (other, DefaultRootWindow (other), False, ButtonPressMask,
                                 GrabModeAsync, GrabModeAsync, None, None, CurrentTime), ==,
                   GrabSuccess);
  khadim_rpa_input_key_down (scene.input, "e", 0, &error);
  g_assert_no_error (error);
  g_assert_cmpint (press_stop (&scene), <=, MAX_STOP_MS);
  g_assert_true (khadim_rpa_stop_is_set ());
  XCloseDisplay (other);
  scene_close (&scene);
}

/* What Khadim itself presses does not stop it, and nothing goes after a stop. */
static void
test_own_keys (void)
{
  Scene scene = { 0 };
  g_autoptr(GError) error = NULL;

  scene_open (&scene);
  khadim_rpa_input_key (scene.input, "ctrl+alt+Escape", 0, 20, 0, NULL, &error);
  g_assert_no_error (error);
  /* Longer than it takes until the server repeats it. */
  khadim_rpa_input_key (scene.input, "ctrl+alt+Escape", 0, 1, 1000, NULL, &error);
  g_assert_no_error (error);
  sync_input (&scene);
  g_assert_false (khadim_rpa_stop_is_set ());
  press_stop (&scene);
  g_assert_true (khadim_rpa_stop_is_set ());
  g_assert_false (khadim_rpa_input_key (scene.input, "f", 0, 1, 0, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED);
  scene_close (&scene);
}

static void
test_corner (void)
{
  Scene scene = { 0 };
  g_autoptr(GError) error = NULL;

  scene_open (&scene);
  for (int i = 0; i < 20; i++)
    {
      khadim_rpa_input_move (scene.input, 0, 0, 30, NULL, &error);
      g_assert_no_error (error);
      khadim_rpa_input_move (scene.input, 300, 200, 0, NULL, &error);
      g_assert_no_error (error);
    }
  g_assert_false (khadim_rpa_stop_is_set ());
  khadim_rpa_input_key_down (scene.input, "g", 0, &error);
  g_assert_no_error (error);
  desk_click (10, 10);
  g_assert_false (khadim_rpa_stop_is_set ());
  desk_click (0, 0);
  g_assert_true (desk_wait (is_stopped, &scene, TIMEOUT_MS));
  g_assert_cmpint (g_atomic_int_get (&scene.cause), ==, KHADIM_RPA_STOP_CAUSE_CORNER);
  g_assert_true (desk_wait (is_released, &(Wanted) { scene.judge, 0 }, TIMEOUT_MS));
  scene_close (&scene);
}

/* As a signal handler or the tray would. */
static void
test_program (void)
{
  Scene scene = { 0 };
  g_autoptr(GError) error = NULL;

  scene_open (&scene);
  for (int i = 0; i < 2; i++)
    {
      khadim_rpa_input_key_down (scene.input, "h", 0, &error);
      g_assert_no_error (error);
      sync_input (&scene);
      g_assert_cmpuint (judge_n_keys_down (scene.judge), ==, 1);
      khadim_rpa_stop_set ();
      g_assert_true (desk_wait (is_released, &(Wanted) { scene.judge, 0 }, TIMEOUT_MS));
      khadim_rpa_stop_clear ();
    }
  g_assert_cmpint (g_atomic_int_get (&scene.n_stops), ==, 0);
  scene_close (&scene);
}

static void
test_refused (void)
{
  Scene scene = { 0 };
  KhadimRpaStopWatch *watches[KHADIM_RPA_STOP_MAX_WATCHES] = { NULL };
  g_autoptr(GError) error = NULL;

  scene_open (&scene);
  g_assert_null (khadim_rpa_stop_watch_new (scene.input, "ctrl+nokey", FALSE, NULL, NULL, NULL,
                                            &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
  g_clear_error (&error);
  for (guint i = 1; i < G_N_ELEMENTS (watches); i++)
    {
      watches[i] = khadim_rpa_stop_watch_new (scene.input, "F9", FALSE, NULL, NULL, NULL, &error);
      g_assert_no_error (error);
    }
  g_assert_null (khadim_rpa_stop_watch_new (scene.input, NULL, FALSE, NULL, NULL, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT);
  for (guint i = 1; i < G_N_ELEMENTS (watches); i++)
    g_object_unref (watches[i]);
  scene_close (&scene);
}

/* Without a goodbye ---------------------------------------------------------- */

typedef struct
{
  Judge *judge;
  GArray *keymap;
} Before;

static gboolean
is_at_work (gpointer user_data)
{
  Wanted *wanted = user_data;

  return has_events (wanted) && judge_has_note (wanted->judge) &&
         judge_n_keys_down (wanted->judge) > 0 && judge_buttons_down (wanted->judge) != 0;
}

static gboolean
is_as_before (gpointer user_data)
{
  Before *before = user_data;
  g_autoptr(GArray) keymap = judge_keymap (before->judge);

  return judge_n_keys_down (before->judge) == 0 && judge_buttons_down (before->judge) == 0 &&
         !judge_has_note (before->judge) && keymap->len == before->keymap->len &&
         memcmp (keymap->data, before->keymap->data, keymap->len * sizeof (KeySym)) == 0;
}

static GSubprocess *
start_victim (Desk  *desk,
              Judge *judge)
{
  g_autofree char *path = g_test_build_filename (G_TEST_BUILT, "rpa", "input-victim", NULL);
  GSubprocess *victim;
  Wanted wanted = { judge, (guint) g_test_rand_int_range (20, 80) };

  judge_forget (judge);
  victim = desk_spawn (desk, path, NULL);
  g_assert_true (desk_wait (is_at_work, &wanted, TIMEOUT_MS));

  return victim;
}

static void
test_killed (void)
{
  g_autoptr(Desk) desk = desk_new (NULL, 1280, 800);
  g_autoptr(Judge) judge = judge_new ();
  g_autoptr(GArray) keymap = judge_keymap (judge);
  Before before = { judge, keymap };
  guint n = g_test_slow () ? 50 : 10;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(GSubprocess) victim = start_victim (desk, judge);

      desk_end (victim);
      g_assert_true (desk_wait (is_as_before, &before, TIMEOUT_MS));
    }
}

/* The control: it is the guardian that does it. */
static void
test_killed_both (void)
{
  g_autoptr(Desk) desk = desk_new (NULL, 1280, 800);
  g_autoptr(Judge) judge = judge_new ();
  g_autoptr(GArray) keymap = judge_keymap (judge);
  Before before = { judge, keymap };
  g_autoptr(GSubprocess) victim = start_victim (desk, judge);
  g_autofree char *children =
    g_strdup_printf ("/proc/%1$u/task/%1$u/children", desk_pid (victim));
  g_autofree char *guardian = NULL;

  g_assert_true (g_file_get_contents (children, &guardian, NULL, NULL));
  g_assert_cmpint (kill ((pid_t) g_ascii_strtoull (guardian, NULL, 10), SIGKILL), ==, 0);
  desk_end (victim);
  g_assert_false (desk_wait (is_as_before, &before, 500));
  g_assert_cmpuint (judge_n_keys_down (judge), >, 0);
  g_assert_true (judge_has_note (judge));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/rpa/stop/keys", test_keys);
  g_test_add_func ("/rpa/stop/foreign-grab", test_foreign_grab);
  g_test_add_func ("/rpa/stop/own-keys", test_own_keys);
  g_test_add_func ("/rpa/stop/corner", test_corner);
  g_test_add_func ("/rpa/stop/program", test_program);
  g_test_add_func ("/rpa/stop/refused", test_refused);
  g_test_add_func ("/rpa/stop/killed", test_killed);
  g_test_add_func ("/rpa/stop/killed-both", test_killed_both);

  return g_test_run ();
}
