/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/input/khadim-rpa-input-private.h"

G_BEGIN_DECLS

#define KHADIM_RPA_COMBO_MAX_KEYS 8
#define KHADIM_RPA_COMBO_MAX_BYTES 200

/* Keys that are held together, in the order they are pressed. */
typedef struct
{
  KeySym symbols[KHADIM_RPA_COMBO_MAX_KEYS];
  guint n;
} KhadimRpaCombo;

gboolean _khadim_rpa_combo_parse (const char      *keys,
                                  KhadimRpaCombo  *out_combo,
                                  GError         **error);
gboolean _khadim_rpa_hold_keys   (KhadimRpaInput  *self,
                                  const char      *keys,
                                  gboolean         press,
                                  GError         **error);

G_END_DECLS
