/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "rpa/input/khadim-rpa-journal-private.h"

G_BEGIN_DECLS

/* The descriptors of the guardian: one ends when its parent does, the other
 * is the memory that says what the parent holds. */
#define KHADIM_RPA_GUARDIAN_LIFE_FD 3
#define KHADIM_RPA_GUARDIAN_HELD_FD 4

/* Written by a parent that leaves in good order. */
#define KHADIM_RPA_GUARDIAN_BYE 'b'

typedef struct
{
  KhadimRpaHeld *held;      /* mapped */
  int held_fd;
  int life_fd;              /* -1 before it is started */
} KhadimRpaGuardian;

gboolean _khadim_rpa_guardian_init  (KhadimRpaGuardian  *self,
                                     GError            **error);
gboolean _khadim_rpa_guardian_start (KhadimRpaGuardian  *self,
                                     const char         *display_name,
                                     GError            **error);
void     _khadim_rpa_guardian_clear (KhadimRpaGuardian  *self);

G_END_DECLS
