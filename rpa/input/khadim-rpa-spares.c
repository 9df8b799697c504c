/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-spares"

#include "config.h"

#include "rpa/input/khadim-rpa-input-private.h"

#include <X11/Xatom.h>
#include <string.h>

/* Characters that no key has are put on keys that have none. Which keys these
 * are is noted on the root window first, so that whoever comes after a crash
 * can put them back. */
#define NOTE "_KHADIM_SPARE_KEYS"

static void
write_note (Display       *x,
            const KeyCode *codes,
            guint          n)
{
  long values[KHADIM_RPA_MAX_SPARES];

  for (guint i = 0; i < n; i++)
    values[i] = codes[i];
  XChangeProperty (x, DefaultRootWindow (x), XInternAtom (x, NOTE, False), XA_CARDINAL, 32,
                   PropModeReplace, (unsigned char *) values, (int) n);
}

static void
unbind (Display *x,
        KeyCode  code)
{
  KeySym none[2] = { NoSymbol, NoSymbol };

  XChangeKeyboardMapping (x, code, 2, none, 1);
}

/* Binds @n keys. The program that is typed into must have read all keys that
 * were typed before with another binding. */
gboolean
_khadim_rpa_spares_bind (KhadimRpaInput *self,
                         Display        *x,
                         const KeyCode  *codes,
                         const KeySym   *symbols,
                         guint           n)
{
  g_assert (n <= KHADIM_RPA_MAX_SPARES);

  if (self->n_bound < n)
    {
      memcpy (self->bound, codes, n * sizeof *codes);
      self->n_bound = n;
      write_note (x, codes, n);
    }
  for (guint i = 0; i < n; i++)
    {
      KeySym both[2] = { symbols[i], symbols[i] };

      XChangeKeyboardMapping (x, codes[i], 2, both, 1);
    }
  XSync (x, False);

  return TRUE;
}

void
_khadim_rpa_spares_restore (KhadimRpaInput *self,
                            Display        *x)
{
  if (self->n_bound == 0)
    return;

  for (guint i = 0; i < self->n_bound; i++)
    unbind (x, self->bound[i]);
  self->n_bound = 0;
  XDeleteProperty (x, DefaultRootWindow (x), XInternAtom (x, NOTE, False));
  XSync (x, False);
}

/* Puts back what a Khadim that died left bound. */
void
_khadim_rpa_spares_recover (Display *x)
{
  Atom note = XInternAtom (x, NOTE, False), type;
  int format, min_code, max_code;
  unsigned long n = 0, after;
  unsigned char *data = NULL;

  XDisplayKeycodes (x, &min_code, &max_code);
  if (XGetWindowProperty (x, DefaultRootWindow (x), note, 0, KHADIM_RPA_MAX_SPARES, True,
                          XA_CARDINAL, &type, &format, &n, &after, &data) != Success)
    return;
  for (unsigned long i = 0; data != NULL && format == 32 && i < n; i++)
    {
      long code = ((long *) data)[i];

      if (code >= min_code && code <= max_code)
        unbind (x, (KeyCode) code);
    }
  if (data != NULL)
    XFree (data);
  XSync (x, False);
}
