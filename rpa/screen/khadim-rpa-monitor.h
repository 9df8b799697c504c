/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/find/khadim-rpa-picture.h"
#include "rpa/screen/khadim-rpa-display.h"

G_BEGIN_DECLS

#define KHADIM_RPA_TYPE_MONITOR (khadim_rpa_monitor_get_type ())

/**
 * KhadimRpaMonitor:
 * @name: what the server calls it
 * @area: where it is on the root, in px
 * @width_mm: its physical width, 0 if not known
 * @height_mm: its physical height, 0 if not known
 * @primary: whether it is the main one
 * @scale: by how much applications presumably enlarge what they draw
 *
 * A monitor.
 */
typedef struct {
  char *name;
  KhadimRpaRect area;
  int width_mm;
  int height_mm;
  gboolean primary;
  double scale;
} KhadimRpaMonitor;

GType             khadim_rpa_monitor_get_type (void);
KhadimRpaMonitor *khadim_rpa_monitor_copy     (const KhadimRpaMonitor *self);
void              khadim_rpa_monitor_free     (KhadimRpaMonitor       *self);
GPtrArray        *khadim_rpa_monitor_list     (KhadimRpaDisplay       *display,
                                               GError                **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimRpaMonitor, khadim_rpa_monitor_free)

G_END_DECLS
