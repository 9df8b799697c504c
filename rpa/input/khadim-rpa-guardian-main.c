/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-guardian"

#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <X11/Xlib.h>
#include <X11/extensions/XTest.h>

#include "rpa/input/khadim-rpa-guardian-private.h"
#include "rpa/input/khadim-rpa-spares-private.h"

/* Waits for the end of its parent; if that did not say goodbye, releases what
 * it held and puts back the keys it had bound. */

/* How long the server may take to see that the parent's connection is gone. */
#define GONE_TIMEOUT_MS 2000

static int
on_x_error_cb (Display     *x,
               XErrorEvent *event)
{
  /* The window of a parent that has gone already. */
  return 0;
}

/* It outlives what ends its parent. */
static void
ignore_signals (void)
{
  static const int signals[] = { SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM };

  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    signal (signals[i], SIG_IGN);
  if (setsid () < 0)
    g_debug ("Leads a group already: %s", g_strerror (errno));
}

static KhadimRpaHeld *
map_held (void)
{
  void *memory = mmap (NULL, sizeof (KhadimRpaHeld), PROT_READ, MAP_SHARED,
                       KHADIM_RPA_GUARDIAN_HELD_FD, 0);

  return memory != MAP_FAILED ? memory : NULL;
}

/* Returns whether the parent left in good order. */
static gboolean
wait_for_parent (void)
{
  char byte = 0;
  ssize_t n;

  do
    n = read (KHADIM_RPA_GUARDIAN_LIFE_FD, &byte, 1);
  while (n < 0 && errno == EINTR);

  return n == 1 && byte == KHADIM_RPA_GUARDIAN_BYE;
}

static gboolean
is_there (Display *x,
          Window   window)
{
  XWindowAttributes attributes;

  return window != None && XGetWindowAttributes (x, window, &attributes);
}

/* What the parent sent before its end may still be unread, such as presses;
 * its window goes after that. */
static void
wait_for_connection (Display *x,
                     Window   window)
{
  gint64 deadline_us = g_get_monotonic_time () + GONE_TIMEOUT_MS * 1000;
  struct pollfd fd = { .fd = ConnectionNumber (x), .events = POLLIN };
  gint64 left_us;

  XSelectInput (x, window, StructureNotifyMask);
  while (is_there (x, window) && (left_us = deadline_us - g_get_monotonic_time ()) > 0)
    {
      XEvent event;

      if (XPending (x) > 0)
        XNextEvent (x, &event);
      else
        poll (&fd, 1, (int) (left_us / 1000) + 1);
    }
}

static void
release_all (Display       *x,
             KhadimRpaHeld *held)
{
  for (guint i = 0; i < KHADIM_RPA_N_KEYCODES; i++)
    if (g_atomic_int_get (&held->keys[i]))
      XTestFakeKeyEvent (x, i, False, CurrentTime);
  for (guint i = 0; i < KHADIM_RPA_N_BUTTONS; i++)
    if (g_atomic_int_get (&held->buttons[i]))
      XTestFakeButtonEvent (x, i, False, CurrentTime);
  XSync (x, False);
}

int
main (int    argc,
      char **argv)
{
  KhadimRpaHeld *held = map_held ();
  Display *x = argc == 2 ? XOpenDisplay (argv[1]) : NULL;

  ignore_signals ();
  if (x == NULL || held == NULL)
    {
      g_printerr ("khadim-rpa-guardian is started by Khadim, with a display\n");
      return 1;
    }
  XSetErrorHandler (on_x_error_cb);
  XTestGrabControl (x, True);
  XSync (x, False);
  if (!wait_for_parent ())
    {
      wait_for_connection (x, (Window) g_atomic_int_get (&held->window));
      release_all (x, held);
      _khadim_rpa_spares_recover (x);
    }
  XCloseDisplay (x);

  return 0;
}
