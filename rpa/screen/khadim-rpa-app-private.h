/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/screen/khadim-rpa-app.h"

G_BEGIN_DECLS

/* What a spec comes to. */
typedef struct {
  GStrv argv;
  char *wm_class; /* what the desktop file says, else the program's name */
} KhadimRpaCommand;

gboolean _khadim_rpa_command_resolve (const KhadimRpaAppSpec  *spec,
                                      KhadimRpaCommand        *out_command,
                                      GError                 **error);
void     _khadim_rpa_command_clear   (KhadimRpaCommand        *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KhadimRpaCommand, _khadim_rpa_command_clear)

G_END_DECLS
