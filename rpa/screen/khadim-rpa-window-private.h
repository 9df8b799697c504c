/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/screen/khadim-rpa-window.h"

G_BEGIN_DECLS

/* The four numbers of _GTK_FRAME_EXTENTS or _NET_FRAME_EXTENTS, in px. */
typedef struct {
  int left;
  int right;
  int top;
  int bottom;
} KhadimRpaBorder;

struct _KhadimRpaWindow
{
  gatomicrefcount ref_count;

  guint32 id;
  guint32 pid;
  guint32 parent; /* WM_TRANSIENT_FOR */
  int desktop;    /* -1: on all, or not told */
  int stacking;   /* from the bottom */
  KhadimRpaWindowState state;
  KhadimRpaRect client;
  KhadimRpaRect frame;
  KhadimRpaBorder shadow; /* inside the client rectangle */
  gboolean has_shadow;
  gboolean has_ping;
  gboolean has_delete;

  char *title;
  char *class_name;
  char *instance;
  char *type;
  char *startup_id;
};

KhadimRpaWindow *_khadim_rpa_window_new (guint32 id);

G_END_DECLS
