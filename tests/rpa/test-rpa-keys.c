/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <string.h>

#include <X11/XKBlib.h>

#include "rpa/input/khadim-rpa-input.h"
#include "rpa/screen/khadim-rpa-error.h"
#include "tests/rpa/lib/desk.h"
#include "tests/rpa/lib/judge.h"

/* Keys and the pointer, as another client sees them: the raw events of all
 * devices, and what comes to its windows. */

#define TIMEOUT_MS 10000

typedef struct
{
  Desk *desk;
  Judge *judge;
  KhadimRpaDisplay *display;
  KhadimRpaInput *input;
} Scene;

static void
scene_open (Scene         *self,
            gconstpointer  data)
{
  g_autoptr(GError) error = NULL;

  self->desk = desk_new (NULL, 1280, 800);
  self->judge = judge_new ();
  self->display = khadim_rpa_display_new (NULL, &error);
  g_assert_no_error (error);
  self->input = khadim_rpa_input_new (self->display, &error);
  g_assert_no_error (error);
  judge_forget (self->judge);
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

static void
scene_close (Scene         *self,
             gconstpointer  data)
{
  sync_input (self);
  g_assert_cmpuint (judge_n_keys_down (self->judge), ==, 0);
  g_assert_cmpuint (judge_buttons_down (self->judge), ==, 0);
  g_assert_finalize_object (self->input);
  g_object_unref (self->display);
  judge_free (self->judge);
  desk_free (self->desk);
}

/* What happened since the last time: "+Control_L" for a key that is pressed,
 * "-1" for a button that is released, "~" for any number of motions. */
static char *
get_events (Scene *self)
{
  GString *text = g_string_new (NULL);

  sync_input (self);
  judge_look (self->judge);
  for (guint i = 0; i < self->judge->events->len; i++)
    {
      const JudgeEvent *event = &g_array_index (self->judge->events, JudgeEvent, i);
      KeySym symbol = XkbKeycodeToKeysym (self->judge->x, (KeyCode) event->detail, 0, 0);

      if (event->type == XI_RawMotion)
        {
          if (text->len == 0 || text->str[text->len - 1] != '~')
            g_string_append (text, text->len > 0 ? " ~" : "~");
          continue;
        }
      if (text->len > 0)
        g_string_append_c (text, ' ');
      g_string_append_c (text, event->type == XI_RawKeyPress || event->type == XI_RawButtonPress
                                 ? '+' : '-');
      if (event->type == XI_RawKeyPress || event->type == XI_RawKeyRelease)
        g_string_append (text, symbol != NoSymbol ? XKeysymToString (symbol) : "?");
      else
        g_string_append_printf (text, "%u", event->detail);
    }
  g_array_set_size (self->judge->events, 0);

  return g_string_free (text, FALSE);
}

static void
assert_events (Scene      *self,
               const char *expected)
{
  g_autofree char *found = get_events (self);

  g_assert_cmpstr (found, ==, expected);
}

static void
press (Scene      *self,
       const char *keys,
       guint       repeat,
       guint       hold_ms)
{
  g_autoptr(GError) error = NULL;

  khadim_rpa_input_key (self->input, keys, 0, repeat, hold_ms, NULL, &error);
  g_assert_no_error (error);
  sync_input (self);
}

/* Keys ----------------------------------------------------------------------- */

static void
test_combos (Scene         *self,
             gconstpointer  data)
{
  static const char *const combos[][2] = {
    { "ctrl+shift+Left", "+Control_L +Shift_L +Left -Left -Shift_L -Control_L" },
    { "Return", "+Return -Return" },
    { "ENTER", "+Return -Return" },
    { "pgdn", "+Next -Next" },
    { "alt+F4", "+Alt_L +F4 -F4 -Alt_L" },
    { "ctrl+a", "+Control_L +a -a -Control_L" },
    { "ctrl+A", "+Control_L +Shift_L +a -a -Shift_L -Control_L" },
    { "super", "+Super_L -Super_L" },
    { "+", "+Shift_L +equal -equal -Shift_L" },
    { "ctrl++", "+Control_L +Shift_L +equal -equal -Shift_L -Control_L" },
    { "5", "+5 -5" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (combos); i++)
    {
      g_test_message ("%s", combos[i][0]);
      press (self, combos[i][0], 1, 0);
      assert_events (self, combos[i][1]);
    }
}

static void
test_repeat (Scene         *self,
             gconstpointer  data)
{
  press (self, "a", 3, 0);
  assert_events (self, "+a -a +a -a +a -a");
  press (self, "Down", KHADIM_RPA_KEY_MAX_REPEAT, 0);
  judge_look (self->judge);
  g_assert_cmpuint (judge_count (self->judge, XI_RawKeyPress, 0), ==, KHADIM_RPA_KEY_MAX_REPEAT);
  g_assert_cmpuint (judge_count (self->judge, XI_RawKeyRelease, 0), ==, KHADIM_RPA_KEY_MAX_REPEAT);
}

static void
test_hold (Scene         *self,
           gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  const JudgeEvent *events;

  /* A modifier, which the server does not repeat. */
  press (self, "shift", 1, 300);
  judge_look (self->judge);
  g_assert_cmpuint (self->judge->events->len, ==, 2);
  events = &g_array_index (self->judge->events, JudgeEvent, 0);
  g_assert_cmpuint (events[1].time_ms - events[0].time_ms, >=, 299);
  judge_forget (self->judge);

  khadim_rpa_input_key_down (self->input, "ctrl+shift", 0, &error);
  g_assert_no_error (error);
  sync_input (self);
  g_assert_cmpuint (judge_n_keys_down (self->judge), ==, 2);
  khadim_rpa_input_key_up (self->input, "shift", &error);
  g_assert_no_error (error);
  sync_input (self);
  g_assert_cmpuint (judge_n_keys_down (self->judge), ==, 1);
  khadim_rpa_input_key_up (self->input, NULL, &error);
  g_assert_no_error (error);
  assert_events (self, "+Control_L +Shift_L -Shift_L -Control_L");
}

typedef struct
{
  Scene *scene;
  GCancellable *cancellable;
  GError *error;
} Holding;

static gpointer
hold_long (gpointer user_data)
{
  Holding *self = user_data;

  khadim_rpa_input_key (self->scene->input, "shift", 0, 1, KHADIM_RPA_KEY_MAX_HOLD_MS,
                        self->cancellable, &self->error);

  return NULL;
}

static gboolean
is_down (gpointer user_data)
{
  Scene *self = user_data;

  return judge_n_keys_down (self->judge) == 1;
}

static void
test_cancel (Scene         *self,
             gconstpointer  data)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  Holding holding = { self, cancellable, NULL };
  g_autoptr(GThread) thread = g_thread_new ("hold", hold_long, &holding);

  g_assert_true (desk_wait (is_down, self, TIMEOUT_MS));
  g_cancellable_cancel (cancellable);
  g_thread_join (g_steal_pointer (&thread));
  g_assert_error (holding.error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_CANCELLED);
  g_clear_error (&holding.error);
  assert_events (self, "+Shift_L -Shift_L");
}

/* A key that the layout lacks is lent one, and that is taken back. */
static void
test_lent (Scene         *self,
           gconstpointer  data)
{
  g_autoptr(GArray) before = judge_keymap (self->judge);
  g_autoptr(GArray) after = NULL;

  press (self, "ctrl+ф", 1, 0);
  judge_look (self->judge);
  g_assert_cmpuint (judge_count (self->judge, XI_RawKeyPress, 0), ==, 2);
  after = judge_keymap (self->judge);
  g_assert_cmpmem (after->data, after->len * sizeof (KeySym), before->data,
                   before->len * sizeof (KeySym));
  g_assert_false (judge_has_note (self->judge));
}

static void
assert_refused (Scene      *self,
                const char *keys,
                guint       repeat,
                guint       hold_ms,
                int         code)
{
  g_autoptr(GError) error = NULL;

  g_assert_false (khadim_rpa_input_key (self->input, keys, 0, repeat, hold_ms, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, code);
}

static void
test_keys_refused (Scene         *self,
                   gconstpointer  data)
{
  assert_refused (self, "a", 0, 0, KHADIM_RPA_ERROR_LIMIT);
  assert_refused (self, "a", KHADIM_RPA_KEY_MAX_REPEAT + 1, 0, KHADIM_RPA_ERROR_LIMIT);
  assert_refused (self, "a", 1, KHADIM_RPA_KEY_MAX_HOLD_MS + 1, KHADIM_RPA_ERROR_LIMIT);
  assert_refused (self, "a+b+c+d+e+f+g+h+i", 1, 0, KHADIM_RPA_ERROR_LIMIT);
  assert_refused (self, "", 1, 0, KHADIM_RPA_ERROR_INVALID);
  assert_refused (self, "ctrl+nokey", 1, 0, KHADIM_RPA_ERROR_INVALID);
  assert_refused (self, "+a", 1, 0, KHADIM_RPA_ERROR_INVALID);
  assert_refused (self, "ctrl+\xff", 1, 0, KHADIM_RPA_ERROR_INVALID);
  assert_events (self, "");
}

/* The pointer ---------------------------------------------------------------- */

/* A window of another client, and what comes to it. */
typedef struct
{
  Display *x;
  Window window;
} Other;

static void
other_open (Other *self,
            int    x,
            int    y)
{
  XEvent event;

  self->x = XOpenDisplay (NULL);
  g_assert_nonnull (self->x);
  self->window = XCreateSimpleWindow (self->x, DefaultRootWindow (self->x), x, y, 200, 200, 0, 0,
                                      0);
  XSelectInput (self->x, self->window, StructureNotifyMask);
  XMapRaised (self->x, self->window);
  XWindowEvent (self->x, self->window, StructureNotifyMask, &event);
  XSelectInput (self->x, self->window, ButtonPressMask | ButtonReleaseMask);
  XSync (self->x, True);
}

/* "+1 at 10,20" for a button that was pressed there, in its window. */
static char *
other_take (Other *self)
{
  GString *text = g_string_new (NULL);

  XSync (self->x, False);
  while (XPending (self->x) > 0)
    {
      XEvent event;

      XNextEvent (self->x, &event);
      if (event.type == ButtonPress || event.type == ButtonRelease)
        g_string_append_printf (text, "%s%s%u at %d,%d", text->len > 0 ? " " : "",
                                event.type == ButtonPress ? "+" : "-", event.xbutton.button,
                                event.xbutton.x, event.xbutton.y);
    }

  return g_string_free (text, FALSE);
}

static void
assert_taken (Other      *other,
              const char *expected)
{
  g_autofree char *found = other_take (other);

  g_assert_cmpstr (found, ==, expected);
}

static void
click (Scene           *self,
       KhadimRpaButton  button,
       guint            count,
       const char      *keys)
{
  g_autoptr(GError) error = NULL;

  khadim_rpa_input_click (self->input, 610, 420, button, count, keys, 0, 0, NULL, &error);
  g_assert_no_error (error);
  sync_input (self);
}

static void
test_click (Scene         *self,
            gconstpointer  data)
{
  Other other;

  other_open (&other, 600, 400);
  click (self, KHADIM_RPA_BUTTON_LEFT, 1, NULL);
  assert_taken (&other, "+1 at 10,20 -1 at 10,20");
  assert_events (self, "~ +1 -1");
  click (self, KHADIM_RPA_BUTTON_RIGHT, 1, NULL);
  assert_taken (&other, "+3 at 10,20 -3 at 10,20");
  click (self, KHADIM_RPA_BUTTON_BACK, 1, NULL);
  assert_taken (&other, "+8 at 10,20 -8 at 10,20");
  get_events (self);
  click (self, KHADIM_RPA_BUTTON_LEFT, 2, NULL);
  assert_events (self, "~ +1 -1 +1 -1");
  click (self, KHADIM_RPA_BUTTON_MIDDLE, 3, "ctrl+shift");
  assert_events (self, "+Control_L +Shift_L ~ +2 -2 +2 -2 +2 -2 -Shift_L -Control_L");
  XCloseDisplay (other.x);
}

static void
test_drag (Scene         *self,
           gconstpointer  data)
{
  static const int points[] = { 610, 410, 700, 500, 640, 590 };
  g_autoptr(GError) error = NULL;
  Other other;
  int x, y;
  guint n;

  other_open (&other, 600, 400);
  khadim_rpa_input_drag (self->input, points, 3, KHADIM_RPA_BUTTON_LEFT, "alt", 200, 0, NULL,
                         &error);
  g_assert_no_error (error);
  sync_input (self);
  assert_taken (&other, "+1 at 10,10 -1 at 40,190");
  judge_look (self->judge);
  n = judge_count (self->judge, XI_RawMotion, 0);
  g_assert_cmpuint (n, >=, 10);
  assert_events (self, "+Alt_L ~ +1 ~ -1 -Alt_L");
  khadim_rpa_input_get_pointer (self->input, &x, &y, &error);
  g_assert_no_error (error);
  g_assert_cmpint (x, ==, 640);
  g_assert_cmpint (y, ==, 590);
  XCloseDisplay (other.x);
}

static void
test_scroll (Scene         *self,
             gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *found = NULL;
  g_autofree char *mixed = NULL;

  khadim_rpa_input_scroll (self->input, 300, 300, 0, 3, NULL, 0, NULL, &error);
  g_assert_no_error (error);
  found = get_events (self);
  g_assert_cmpstr (found, ==, "~ +5 -5 ~ +5 -5 ~ +5 -5");
  khadim_rpa_input_scroll (self->input, 300, 300, -1, -2, "ctrl", 0, NULL, &error);
  g_assert_no_error (error);
  mixed = get_events (self);
  g_assert_cmpstr (mixed, ==, "+Control_L ~ +4 -4 ~ +4 -4 ~ +6 -6 -Control_L");
  g_assert_false (khadim_rpa_input_scroll (self->input, 300, 300, 0, 1001, NULL, 0, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT);
}

static void
test_press (Scene         *self,
            gconstpointer  data)
{
  g_autoptr(GError) error = NULL;

  khadim_rpa_input_press (self->input, KHADIM_RPA_BUTTON_LEFT, 0, &error);
  g_assert_no_error (error);
  sync_input (self);
  g_assert_cmpuint (judge_buttons_down (self->judge), ==, Button1Mask);
  khadim_rpa_input_release (self->input, KHADIM_RPA_BUTTON_LEFT, &error);
  g_assert_no_error (error);
  assert_events (self, "+1 -1");
  g_assert_false (khadim_rpa_input_move (self->input, 1280, 0, 0, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID);
}

/* Nothing is clicked that lies over the window that is meant. */
static void
test_guard (Scene         *self,
            gconstpointer  data)
{
  guint32 window = (guint32) self->judge->window;
  g_autoptr(GError) error = NULL;
  Other thief;

  khadim_rpa_input_click (self->input, 200, 200, KHADIM_RPA_BUTTON_LEFT, 1, NULL, 0, window, NULL,
                          &error);
  g_assert_no_error (error);
  other_open (&thief, 150, 150);
  g_assert_false (khadim_rpa_input_click (self->input, 200, 200, KHADIM_RPA_BUTTON_LEFT, 1, NULL, 0,
                                          window, NULL, &error));
  g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FOCUS_LOST);
  g_clear_error (&error);
  sync_input (self);
  assert_taken (&thief, "");
  /* The control: who does not say which is meant clicks it. */
  khadim_rpa_input_click (self->input, 200, 200, KHADIM_RPA_BUTTON_LEFT, 1, NULL, 0, 0, NULL,
                          &error);
  g_assert_no_error (error);
  sync_input (self);
  assert_taken (&thief, "+1 at 50,50 -1 at 50,50");
  XCloseDisplay (thief.x);
}

typedef struct
{
  Other *thief;
  gint ends;        /* atomic */
  guint n;
} Thieving;

/* Comes and goes over the point, as fast as it can. */
static gpointer
come_and_go (gpointer user_data)
{
  Thieving *self = user_data;

  while (!g_atomic_int_get (&self->ends))
    {
      XMapRaised (self->thief->x, self->thief->window);
      XSync (self->thief->x, False);
      XUnmapWindow (self->thief->x, self->thief->window);
      XSync (self->thief->x, False);
      self->n++;
    }

  return NULL;
}

static guint
click_many (Scene   *self,
            guint32  window,
            guint    n)
{
  guint n_lost = 0;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(GError) error = NULL;

      if (khadim_rpa_input_click (self->input, 200, 200, KHADIM_RPA_BUTTON_LEFT, 1, NULL, 0, window,
                                  NULL, &error))
        continue;
      g_assert_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FOCUS_LOST);
      n_lost++;
    }

  return n_lost;
}

static guint
click_beside_thief (Scene   *self,
                    guint32  window)
{
  Other other;
  Thieving thieving = { .thief = &other };
  g_autoptr(GThread) thread = NULL;
  guint n_lost, n_taken = 0;

  other_open (&other, 150, 150);
  /* A press may come while it is there, its release when it is gone. */
  XSelectInput (other.x, other.window, ButtonPressMask);
  thread = g_thread_new ("thief", come_and_go, &thieving);
  n_lost = click_many (self, window, 1000);
  g_atomic_int_set (&thieving.ends, TRUE);
  g_thread_join (g_steal_pointer (&thread));
  sync_input (self);
  XSync (other.x, False);
  while (XPending (other.x) > 0)
    {
      XEvent event;

      XNextEvent (other.x, &event);
      n_taken += event.type == ButtonPress;
    }
  g_test_message ("%u clicks refused, %u taken, by a thief who came %u times", n_lost, n_taken,
                  thieving.n);
  XCloseDisplay (other.x);

  return n_taken;
}

static void
test_guard_race (Scene         *self,
                 gconstpointer  data)
{
  g_assert_cmpuint (click_beside_thief (self, (guint32) self->judge->window), ==, 0);
  /* The control */
  g_assert_cmpuint (click_beside_thief (self, 0), >, 0);
}

int
main (int    argc,
      char **argv)
{
  static const struct
  {
    const char *name;
    void (*test) (Scene         *self,
                  gconstpointer  data);
  } tests[] = {
    { "/rpa/keys/combos", test_combos },     { "/rpa/keys/repeat", test_repeat },
    { "/rpa/keys/hold", test_hold },         { "/rpa/keys/cancel", test_cancel },
    { "/rpa/keys/lent", test_lent },         { "/rpa/keys/refused", test_keys_refused },
    { "/rpa/pointer/click", test_click },    { "/rpa/pointer/drag", test_drag },
    { "/rpa/pointer/scroll", test_scroll },  { "/rpa/pointer/press", test_press },
    { "/rpa/pointer/guard", test_guard },    { "/rpa/pointer/guard-race", test_guard_race },
  };

  g_test_init (&argc, &argv, NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].name, Scene, NULL, scene_open, tests[i].test, scene_close);

  return g_test_run ();
}
