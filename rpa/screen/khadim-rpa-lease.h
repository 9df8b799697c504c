/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "rpa/screen/khadim-rpa-display.h"

G_BEGIN_DECLS

#define KHADIM_RPA_TYPE_LEASE (khadim_rpa_lease_get_type ())

G_DECLARE_FINAL_TYPE (KhadimRpaLease, khadim_rpa_lease, KHADIM_RPA, LEASE, GObject)

KhadimRpaLease *khadim_rpa_lease_acquire        (KhadimRpaDisplay     *display,
                                                 const char           *session_id,
                                                 guint                 timeout_ms,
                                                 GCancellable         *cancellable,
                                                 GError              **error);
void            khadim_rpa_lease_acquire_async  (KhadimRpaDisplay     *display,
                                                 const char           *session_id,
                                                 guint                 timeout_ms,
                                                 GCancellable         *cancellable,
                                                 GAsyncReadyCallback   callback,
                                                 gpointer              user_data);
KhadimRpaLease *khadim_rpa_lease_acquire_finish (KhadimRpaDisplay     *display,
                                                 GAsyncResult         *result,
                                                 GError              **error);
gboolean        khadim_rpa_lease_is_held        (KhadimRpaLease       *self);
void            khadim_rpa_lease_release        (KhadimRpaLease       *self);
gboolean        khadim_rpa_lease_get_holder     (KhadimRpaDisplay     *display,
                                                 char                **out_session_id,
                                                 guint32              *out_pid,
                                                 GError              **error);

G_END_DECLS
