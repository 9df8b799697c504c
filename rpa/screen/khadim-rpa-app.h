/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "rpa/screen/khadim-rpa-windows.h"

G_BEGIN_DECLS

#define KHADIM_RPA_TYPE_APP (khadim_rpa_app_get_type ())

G_DECLARE_FINAL_TYPE (KhadimRpaApp, khadim_rpa_app, KHADIM_RPA, APP, GObject)

/**
 * KhadimRpaAppSpec:
 * @name: (nullable): the id of a desktop file, the name it shows, or a program
 *   in `PATH`
 * @argv: (nullable) (array zero-terminated=1): a program with its arguments,
 *   which no shell sees
 * @target: (nullable): a file or a URL to open; alone, with the program that
 *   the person has chosen for its kind
 * @work_dir: (nullable): where it starts; %NULL for where we are
 * @environment: (nullable) (array zero-terminated=1): `NAME=VALUE` to set, or
 *   `NAME` to unset, for the program alone
 *
 * What to open: @name, @argv or @target, or @name with @target.
 */
typedef struct {
  const char *name;
  const char * const *argv;
  const char *target;
  const char *work_dir;
  const char * const *environment;
} KhadimRpaAppSpec;

KhadimRpaApp    *khadim_rpa_app_open       (KhadimRpaWindows        *windows,
                                            const KhadimRpaAppSpec  *spec,
                                            guint                    timeout_ms,
                                            GCancellable            *cancellable,
                                            GError                 **error);
KhadimRpaWindow *khadim_rpa_app_get_window (KhadimRpaApp            *self);
guint32          khadim_rpa_app_get_pid    (KhadimRpaApp            *self);
gboolean         khadim_rpa_app_has_ended  (KhadimRpaApp            *self,
                                            int                     *out_exit_code);
gboolean         khadim_rpa_app_wait_ended (KhadimRpaApp            *self,
                                            guint                    timeout_ms,
                                            GCancellable            *cancellable,
                                            int                     *out_exit_code,
                                            GError                 **error);
gboolean         khadim_rpa_app_check      (KhadimRpaApp            *self,
                                            GError                 **error);

G_END_DECLS
