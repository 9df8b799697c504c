/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-keymap"

#include "config.h"

#include "rpa/input/khadim-rpa-keymap-private.h"

#include <X11/XKBlib.h>
#include <X11/keysym.h>
#include <xkbcommon/xkbcommon.h>

/* What a level is asked for: no modifier, Shift, the third level, both. */
#define N_WAYS 4

static gboolean
is_keypad (KeySym symbol)
{
  return symbol >= XK_KP_Space && symbol <= XK_KP_9;
}

/* The level that @mask gives on a key of this type (XKB protocol, section
 * 17.2: the first entry whose modifiers are exactly those held, else 0). */
static int
get_level (XkbKeyTypePtr type,
           unsigned int  mask)
{
  for (int i = 0; i < type->map_count; i++)
    if (type->map[i].active && type->map[i].mods.mask == (mask & type->mods.mask))
      return type->map[i].level;

  return 0;
}

static unsigned int
find_level3 (XkbDescPtr       xkb,
             KhadimRpaKeymap *self)
{
  for (int code = xkb->min_key_code; code <= xkb->max_key_code; code++)
    for (int i = 0; i < XkbKeyNumSyms (xkb, code); i++)
      if (XkbKeySymsPtr (xkb, code)[i] == XK_ISO_Level3_Shift && xkb->map->modmap[code] != 0)
        {
          self->level3 = (KeyCode) code;
          return xkb->map->modmap[code];
        }

  return 0;
}

/* The first key found with the fewest modifiers stays. */
static void
add (GHashTable         *table,
     gulong              what,
     const KhadimRpaKey *key)
{
  gpointer index = GSIZE_TO_POINTER (what);

  if (what != 0 && !g_hash_table_contains (table, index))
    g_hash_table_insert (table, index, g_memdup2 (key, sizeof *key));
}

static void
add_way (KhadimRpaKeymap *self,
         XkbDescPtr       xkb,
         int              code,
         int              group,
         unsigned int     level3_mask,
         guint            way)
{
  KhadimRpaKey key = {
    .code = (KeyCode) code, .shift = (way & 1) != 0, .level3 = (way & 2) != 0,
  };
  unsigned int mask = (key.shift ? ShiftMask : 0) | (key.level3 ? level3_mask : 0);
  XkbKeyTypePtr type;
  int level;
  KeySym symbol;

  if (XkbKeyNumGroups (xkb, code) == 0 || (key.level3 && level3_mask == 0))
    return;
  group = group % XkbKeyNumGroups (xkb, code);
  type = XkbKeyKeyType (xkb, code, group);
  level = get_level (type, mask);
  if (level >= type->num_levels)
    return;

  symbol = XkbKeySymEntry (xkb, code, level, group);
  add (self->symbols, symbol, &key);
  if (!is_keypad (symbol))
    add (self->chars, xkb_keysym_to_utf32 ((xkb_keysym_t) symbol), &key);
}

static void
find_spares (KhadimRpaKeymap *self,
             XkbDescPtr       xkb)
{
  for (int code = xkb->max_key_code; code >= xkb->min_key_code; code--)
    {
      gboolean empty = xkb->map->modmap[code] == 0;

      for (int i = 0; empty && i < XkbKeyNumSyms (xkb, code); i++)
        empty = XkbKeySymsPtr (xkb, code)[i] == NoSymbol;
      if (empty && self->n_spares < KHADIM_RPA_MAX_SPARES)
        self->spares[self->n_spares++] = (KeyCode) code;
    }
}

/* Whether Shift, the third level key and both lead to the levels 1, 2 and 3. */
static gboolean
is_four_level (XkbKeyTypePtr type,
               unsigned int  level3_mask)
{
  if (type->num_levels != N_WAYS || type->mods.mask != (ShiftMask | level3_mask))
    return FALSE;

  return get_level (type, ShiftMask) == 1 && get_level (type, level3_mask) == 2
         && get_level (type, ShiftMask | level3_mask) == 3;
}

static void
choose_spare_type (KhadimRpaKeymap *self,
                   XkbDescPtr       xkb,
                   unsigned int     level3_mask)
{
  self->spare_type = XkbTwoLevelIndex;
  self->spare_levels = 2;
  for (int i = 0; level3_mask != 0 && i < xkb->map->num_types && self->spare_levels == 2; i++)
    if (is_four_level (&xkb->map->types[i], level3_mask))
      {
        self->spare_type = i;
        self->spare_levels = N_WAYS;
      }
}

/* Reads the keyboard map with the group (layout) that is active now. NULL
 * when the server has no XKB. */
KhadimRpaKeymap *
_khadim_rpa_keymap_load (Display *x)
{
  XkbDescPtr xkb = XkbGetMap (x, XkbAllClientInfoMask, XkbUseCoreKbd);
  KhadimRpaKeymap *self;
  XkbStateRec state = { 0 };
  unsigned int level3_mask;

  if (xkb == NULL)
    return NULL;

  self = g_new0 (KhadimRpaKeymap, 1);
  self->chars = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self->symbols = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  XkbGetState (x, XkbUseCoreKbd, &state);
  level3_mask = find_level3 (xkb, self);
  for (guint way = 0; way < N_WAYS; way++)
    for (int code = xkb->min_key_code; code <= xkb->max_key_code; code++)
      add_way (self, xkb, code, state.group, level3_mask, way);
  find_spares (self, xkb);
  choose_spare_type (self, xkb, level3_mask);
  self->group = state.group;
  self->shift = _khadim_rpa_keymap_symbol (self, XK_Shift_L);
  XkbFreeKeyboard (xkb, 0, True);

  return self;
}

void
_khadim_rpa_keymap_free (KhadimRpaKeymap *self)
{
  if (self == NULL)
    return;

  g_hash_table_unref (self->chars);
  g_hash_table_unref (self->symbols);
  g_free (self);
}

/* The key that gives exactly @character; NULL when none does. */
const KhadimRpaKey *
_khadim_rpa_keymap_get (KhadimRpaKeymap *self,
                        gunichar         character)
{
  KeySym symbol = character == '\n' ? XK_Return : character == '\t' ? XK_Tab : NoSymbol;

  if (symbol != NoSymbol)
    return g_hash_table_lookup (self->symbols, GSIZE_TO_POINTER (symbol));

  return g_hash_table_lookup (self->chars, GSIZE_TO_POINTER ((gsize) character));
}

/* The key that has @symbol without a modifier; 0 when none has. */
KeyCode
_khadim_rpa_keymap_symbol (KhadimRpaKeymap *self,
                           KeySym           symbol)
{
  const KhadimRpaKey *key = g_hash_table_lookup (self->symbols, GSIZE_TO_POINTER (symbol));

  return key != NULL && !key->shift && !key->level3 ? key->code : 0;
}

/* The symbol that stands for @character: Latin-1 as itself, the rest in the
 * range that the X protocol gives to Unicode (appendix A, “KEYSYM encoding”). */
KeySym
_khadim_rpa_char_to_symbol (gunichar character)
{
  if (character == '\n')
    return XK_Return;
  if (character == '\t')
    return XK_Tab;

  return character < 0x100 ? character : 0x01000000 | character;
}
