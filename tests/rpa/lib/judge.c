/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "tests/rpa/lib/judge.h"

#include <X11/XKBlib.h>
#include <X11/extensions/XTest.h>

static void
select_raw (Judge *self)
{
  unsigned char bits[XIMaskLen (XI_LASTEVENT)] = { 0 };
  XIEventMask mask = { .deviceid = XIAllMasterDevices, .mask_len = sizeof bits, .mask = bits };
  int event, error, major = 2, minor = 2;

  g_assert_true (XQueryExtension (self->x, "XInputExtension", &self->opcode, &event, &error));
  g_assert_cmpint (XIQueryVersion (self->x, &major, &minor), ==, Success);
  for (int type = XI_RawKeyPress; type <= XI_RawMotion; type++)
    XISetMask (bits, type);
  XISelectEvents (self->x, DefaultRootWindow (self->x), &mask, 1);
}

/* Needs a desk without a window manager, whose keyboard its window gets. */
Judge *
judge_new (void)
{
  Judge *self = g_new0 (Judge, 1);
  XEvent event;

  self->x = XOpenDisplay (NULL);
  g_assert_nonnull (self->x);
  self->events = g_array_new (FALSE, FALSE, sizeof (JudgeEvent));
  select_raw (self);
  self->window = XCreateSimpleWindow (self->x, DefaultRootWindow (self->x), 100, 100, 400, 300, 0,
                                      0, 0);
  XSelectInput (self->x, self->window, StructureNotifyMask);
  XMapWindow (self->x, self->window);
  XWindowEvent (self->x, self->window, StructureNotifyMask, &event);
  XSetInputFocus (self->x, self->window, RevertToNone, CurrentTime);
  XSync (self->x, False);

  return self;
}

void
judge_free (Judge *self)
{
  XCloseDisplay (self->x);
  g_array_unref (self->events);
  g_free (self);
}

/* Takes in all that has happened so far. */
void
judge_look (Judge *self)
{
  XSync (self->x, False);
  while (XPending (self->x) > 0)
    {
      XEvent event;
      XIRawEvent *raw;
      JudgeEvent seen;

      XNextEvent (self->x, &event);
      if (event.type == MappingNotify)
        XRefreshKeyboardMapping (&event.xmapping);
      if (event.type != GenericEvent || event.xcookie.extension != self->opcode ||
          !XGetEventData (self->x, &event.xcookie))
        continue;
      raw = event.xcookie.data;
      seen = (JudgeEvent) { event.xcookie.evtype, (guint) raw->detail, raw->time };
      g_array_append_val (self->events, seen);
      XFreeEventData (self->x, &event.xcookie);
    }
}

void
judge_forget (Judge *self)
{
  judge_look (self);
  g_array_set_size (self->events, 0);
}

/* How many of a type there were; of any detail when that is 0. */
guint
judge_count (Judge *self,
             int    type,
             guint  detail)
{
  guint n = 0;

  for (guint i = 0; i < self->events->len; i++)
    {
      const JudgeEvent *event = &g_array_index (self->events, JudgeEvent, i);

      n += event->type == type && (detail == 0 || event->detail == detail);
    }

  return n;
}

/* When the last event was that is not of these keys; 0 when there is none. */
Time
judge_last (Judge       *self,
            const guint *without,
            guint        n_without)
{
  for (guint i = self->events->len; i > 0; i--)
    {
      const JudgeEvent *event = &g_array_index (self->events, JudgeEvent, i - 1);
      gboolean left_out = FALSE;

      for (guint j = 0; j < n_without; j++)
        left_out = left_out || (event->type <= XI_RawKeyRelease && event->detail == without[j]);
      if (!left_out)
        return event->time_ms;
    }

  return 0;
}

/* A key that another client presses or releases; returns which it is. */
KeyCode
judge_key (Judge      *self,
           const char *symbol,
           gboolean    press)
{
  KeyCode code = XKeysymToKeycode (self->x, XStringToKeysym (symbol));

  g_assert_cmpuint (code, !=, 0);
  XTestFakeKeyEvent (self->x, code, press, CurrentTime);
  XSync (self->x, False);

  return code;
}

guint
judge_n_keys_down (Judge *self)
{
  char keys[32];
  guint n = 0;

  XQueryKeymap (self->x, keys);
  for (guint i = 0; i < sizeof keys; i++)
    n += (guint) __builtin_popcount ((unsigned char) keys[i]);

  return n;
}

guint
judge_buttons_down (Judge *self)
{
  Window root, child;
  int root_x, root_y, win_x, win_y;
  guint mask = 0;

  XQueryPointer (self->x, DefaultRootWindow (self->x), &root, &child, &root_x, &root_y, &win_x,
                 &win_y, &mask);

  return mask & (Button1Mask | Button2Mask | Button3Mask);
}

/* (element-type KeySym): the first symbols of all keys, two each. */
GArray *
judge_keymap (Judge *self)
{
  GArray *map = g_array_new (FALSE, FALSE, sizeof (KeySym));
  int per_code, min_code, max_code;
  KeySym *symbols;

  XDisplayKeycodes (self->x, &min_code, &max_code);
  symbols = XGetKeyboardMapping (self->x, (KeyCode) min_code, max_code - min_code + 1, &per_code);
  g_assert_nonnull (symbols);
  g_assert_cmpint (per_code, >=, 2);
  for (int i = 0; i <= max_code - min_code; i++)
    g_array_append_vals (map, &symbols[i * per_code], 2);
  XFree (symbols);

  return map;
}

/* Whether somebody has noted that keys are bound. */
gboolean
judge_has_note (Judge *self)
{
  Atom type = None;
  int format;
  unsigned long n = 0, after;
  unsigned char *data = NULL;

  XGetWindowProperty (self->x, DefaultRootWindow (self->x),
                      XInternAtom (self->x, "_KHADIM_SPARE_KEYS", False), 0, 1, False,
                      AnyPropertyType, &type, &format, &n, &after, &data);
  if (data != NULL)
    XFree (data);

  return type != None;
}
