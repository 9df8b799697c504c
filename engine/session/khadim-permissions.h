/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/tool/khadim-tool-domain.h"

G_BEGIN_DECLS

/**
 * KhadimPermission:
 * @KHADIM_PERMISSION_ALLOW: the call is made
 * @KHADIM_PERMISSION_ASK: a person is asked first
 * @KHADIM_PERMISSION_DENY: the call is not made
 *
 * What a rule says about a call, from the mildest to the strictest.
 */
typedef enum {
  KHADIM_PERMISSION_ALLOW,
  KHADIM_PERMISSION_ASK,
  KHADIM_PERMISSION_DENY,
} KhadimPermission;

#define KHADIM_TYPE_PERMISSIONS (khadim_permissions_get_type ())
G_DECLARE_FINAL_TYPE (KhadimPermissions, khadim_permissions, KHADIM, PERMISSIONS, GObject)

KhadimPermissions *khadim_permissions_new           (void);
KhadimPermissions *khadim_permissions_new_from_json (JsonObject           *rules);
KhadimPermission   khadim_permissions_decide        (KhadimPermissions    *self,
                                                     const KhadimToolInfo *info,
                                                     const char          **out_rule);

G_END_DECLS
