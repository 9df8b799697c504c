/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Which key with which modifiers gives a character on the layout that is set
 * now. Only on the thread of the display. */

#pragma once

#include <glib.h>
#include <X11/Xlib.h>

G_BEGIN_DECLS

/* A key and the modifiers that are held with it. */
typedef struct
{
  KeyCode code;       /* 0: there is none */
  gboolean shift;
  gboolean level3;
} KhadimRpaKey;

#define KHADIM_RPA_MAX_SPARES 32

typedef struct
{
  GHashTable *chars;                      /* (owned) code point → KhadimRpaKey */
  GHashTable *symbols;                    /* (owned) keysym → KhadimRpaKey */
  KeyCode spares[KHADIM_RPA_MAX_SPARES];  /* keys without a symbol */
  guint n_spares;
  int spare_type;                         /* of key, to put more symbols on one, and */
  guint spare_levels;                     /* how many that has */
  guint group;
  KeyCode shift;
  KeyCode level3;                         /* 0: the layout has none */
} KhadimRpaKeymap;

KhadimRpaKeymap    *_khadim_rpa_keymap_load   (Display         *x);
void                _khadim_rpa_keymap_free   (KhadimRpaKeymap *self);
const KhadimRpaKey *_khadim_rpa_keymap_get    (KhadimRpaKeymap *self,
                                               gunichar         character);
KeyCode             _khadim_rpa_keymap_symbol (KhadimRpaKeymap *self,
                                               KeySym           symbol);
KeySym              _khadim_rpa_char_to_symbol (gunichar        character);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimRpaKeymap, _khadim_rpa_keymap_free)

G_END_DECLS
