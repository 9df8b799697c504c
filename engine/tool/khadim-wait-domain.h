/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/tool/khadim-tool-domain.h"

G_BEGIN_DECLS

#define KHADIM_TYPE_WAIT_DOMAIN (khadim_wait_domain_get_type ())
G_DECLARE_FINAL_TYPE (KhadimWaitDomain, khadim_wait_domain, KHADIM, WAIT_DOMAIN, KhadimToolDomain)

KhadimToolDomain *khadim_wait_domain_new (void);

G_END_DECLS
