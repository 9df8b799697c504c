/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-spares"

#include "config.h"

#include "rpa/input/khadim-rpa-input-private.h"

#include <X11/XKBlib.h>
#include <X11/Xatom.h>
#include <string.h>

/* Characters that no key has are put on keys that have none, four to a key
 * where the layout has a third level key, else two. All keys are changed by one
 * request: every client reads the whole keyboard again after each, and a window
 * manager that grabs keys takes its time for that.
 *
 * Which keys these are is noted on the root window first, as [window, key, …],
 * so that whoever comes after a crash can put them back. The window is gone
 * when its client is. */
#define NOTE "_KHADIM_SPARE_KEYS"
#define NOTE_MAX (KHADIM_RPA_MAX_SPARES + 1)

static guint
read_note (Display *x,
           long     values[NOTE_MAX])
{
  Atom type = None;
  int format = 0;
  unsigned long n = 0, after;
  unsigned char *data = NULL;

  if (XGetWindowProperty (x, DefaultRootWindow (x), XInternAtom (x, NOTE, False), 0, NOTE_MAX,
                          False, XA_CARDINAL, &type, &format, &n, &after, &data) != Success)
    return 0;
  if (data == NULL || format != 32)
    n = 0;
  for (unsigned long i = 0; i < n; i++)
    values[i] = ((long *) (void *) data)[i];
  if (data != NULL)
    XFree (data);

  return (guint) n;
}

static void
write_note (KhadimRpaInput        *self,
            Display               *x,
            const KhadimRpaKeymap *keymap)
{
  long values[NOTE_MAX] = { (long) self->owner };

  for (guint i = 0; i < keymap->n_spares; i++)
    values[i + 1] = keymap->spares[i];
  XChangeProperty (x, DefaultRootWindow (x), XInternAtom (x, NOTE, False), XA_CARDINAL, 32,
                   PropModeReplace, (unsigned char *) values, (int) keymap->n_spares + 1);
}

/* On any connection whose errors do not end the process. */
static gboolean
is_window (Display *x,
           Window   window)
{
  XWindowAttributes attributes;

  return XGetWindowAttributes (x, window, &attributes) != 0;
}

/* Whether another client that lives has keys bound. */
gboolean
_khadim_rpa_spares_are_taken (KhadimRpaInput *self,
                              Display        *x)
{
  long values[NOTE_MAX];

  return read_note (x, values) > 0 && (Window) values[0] != self->owner
         && is_window (x, (Window) values[0]);
}

static void
fill_key (XkbDescPtr    xkb,
          KeyCode       code,
          int           type,
          const KeySym *symbols,
          guint         n)
{
  KeySym *levels;

  XkbChangeTypesOfKey (xkb, code, n > 0 ? 1 : 0, XkbGroup1Mask, &type, NULL);
  levels = XkbKeySymsPtr (xkb, code);
  for (guint i = 0; n > 0 && i < xkb->map->types[type].num_levels; i++)
    levels[i] = i < n ? symbols[i] : NoSymbol;
}

/* From the lowest to the highest key that changes; those between them are sent
 * as they are. */
static void
send_keys (Display       *x,
           XkbDescPtr     xkb,
           const KeyCode *codes,
           guint          n_codes)
{
  XkbMapChangesRec changes = { .changed = XkbKeySymsMask };
  KeyCode low = codes[0], high = codes[0];

  for (guint i = 1; i < n_codes; i++)
    {
      low = MIN (low, codes[i]);
      high = MAX (high, codes[i]);
    }
  changes.first_key_sym = low;
  changes.num_key_syms = (unsigned char) (high - low + 1);
  XkbChangeMap (x, xkb, &changes);
}

/* How many characters can be bound at a time. */
guint
_khadim_rpa_spares_get_size (const KhadimRpaKeymap *keymap)
{
  return keymap->n_spares * keymap->spare_levels;
}

/* The key of the symbol with this index. */
KhadimRpaKey
_khadim_rpa_spares_get_key (const KhadimRpaKeymap *keymap,
                            guint                  index)
{
  guint level = index % keymap->spare_levels;

  return (KhadimRpaKey) { .code = keymap->spares[index / keymap->spare_levels],
                          .shift = (level & 1) != 0,
                          .level3 = (level & 2) != 0 };
}

/* Binds symbols instead of those that are bound. The program that is typed into
 * must have read all keys that were typed before with another binding. Fails
 * when another client has keys bound. */
gboolean
_khadim_rpa_spares_bind (KhadimRpaInput        *self,
                         Display               *x,
                         const KhadimRpaKeymap *keymap,
                         const KeySym          *symbols,
                         guint                  n)
{
  guint levels = keymap->spare_levels;
  guint n_keys = n == 0 ? 0 : (n - 1) / levels + 1;
  XkbDescPtr xkb;

  g_assert (n <= _khadim_rpa_spares_get_size (keymap));

  xkb = _khadim_rpa_spares_are_taken (self, x)
          ? NULL
          : XkbGetMap (x, XkbAllClientInfoMask, XkbUseCoreKbd);
  if (xkb == NULL)
    return FALSE;
  if (self->n_bound == 0 && n_keys > 0)
    write_note (self, x, keymap);
  for (guint i = 0; i < MAX (n_keys, self->n_bound); i++)
    {
      guint first = MIN (i * levels, n);

      fill_key (xkb, keymap->spares[i], keymap->spare_type, symbols + first,
                MIN (levels, n - first));
      self->bound[i] = keymap->spares[i];
    }
  if (MAX (n_keys, self->n_bound) > 0)
    send_keys (x, xkb, self->bound, MAX (n_keys, self->n_bound));
  self->n_bound = MAX (n_keys, self->n_bound);
  XkbFreeKeyboard (xkb, 0, True);
  XSync (x, False);

  return TRUE;
}

static void
unbind (Display       *x,
        const KeyCode *codes,
        guint          n)
{
  XkbDescPtr xkb = n > 0 ? XkbGetMap (x, XkbAllClientInfoMask, XkbUseCoreKbd) : NULL;

  if (xkb == NULL)
    return;
  for (guint i = 0; i < n; i++)
    fill_key (xkb, codes[i], XkbOneLevelIndex, NULL, 0);
  send_keys (x, xkb, codes, n);
  XkbFreeKeyboard (xkb, 0, True);
}

void
_khadim_rpa_spares_restore (KhadimRpaInput *self,
                            Display        *x)
{
  if (self->n_bound == 0)
    return;

  unbind (x, self->bound, self->n_bound);
  self->n_bound = 0;
  XDeleteProperty (x, DefaultRootWindow (x), XInternAtom (x, NOTE, False));
  XSync (x, False);
}

/* Puts back what a Khadim that died left bound. */
void
_khadim_rpa_spares_recover (Display *x)
{
  long values[NOTE_MAX];
  KeyCode codes[KHADIM_RPA_MAX_SPARES];
  guint n = read_note (x, values), n_codes = 0;
  int min_code, max_code;

  if (n == 0 || is_window (x, (Window) values[0]))
    return;
  XDisplayKeycodes (x, &min_code, &max_code);
  for (guint i = 1; i < n; i++)
    if (values[i] >= min_code && values[i] <= max_code)
      codes[n_codes++] = (KeyCode) values[i];
  unbind (x, codes, n_codes);
  XDeleteProperty (x, DefaultRootWindow (x), XInternAtom (x, NOTE, False));
  XSync (x, False);
}
