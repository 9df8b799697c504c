/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/tool/khadim-tool-domain.h"

G_BEGIN_DECLS

#define KHADIM_TYPE_DATA_DOMAIN (khadim_data_domain_get_type ())
G_DECLARE_FINAL_TYPE (KhadimDataDomain, khadim_data_domain, KHADIM, DATA_DOMAIN,
                      KhadimToolDomain)

KhadimToolDomain *khadim_data_domain_new (void);

G_END_DECLS
