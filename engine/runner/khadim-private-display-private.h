/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* The record of a private display: written by its supervisor, read by who
 * looks for it. `FOLDER/ID.json`, mode 0600; whoever holds the lock of that
 * file lives. What else belongs to the display lies in `FOLDER/ID/`. */

#pragma once

#include "engine/runner/khadim-private-display.h"

G_BEGIN_DECLS

#define KHADIM_DISPLAY_RECORD_MAX_BYTES (64 * 1024)

struct _KhadimPrivateDisplay {
  char *id;
  char *name;         /* as in DISPLAY */
  char *authority;    /* as in XAUTHORITY */
  char *bus_address;  /* as in DBUS_SESSION_BUS_ADDRESS */
  int width_px;
  int height_px;
  GPid supervisor;
  GPid server;
  GPid manager;
  GPid bus;
  GPid child;         /* 0 while nobody uses the display */
};

char                 *_khadim_display_folder        (void);
char                 *_khadim_display_get_home      (const char            *id);
KhadimPrivateDisplay *_khadim_display_record_new    (void);
gboolean              _khadim_display_record_write  (KhadimPrivateDisplay  *self,
                                                     int                   *lock_fd,
                                                     GError               **error);
void                  _khadim_display_record_remove (const char            *id);
void                  _khadim_display_record_sweep  (void);

G_END_DECLS
