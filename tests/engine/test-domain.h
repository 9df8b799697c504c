/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Tools for tests: they write down what they do in a file of the work folder. */

#pragma once

#include "engine/tool/khadim-tool-domain.h"

#define TEST_DOMAIN_LOG "log.txt"

#define TEST_TYPE_DOMAIN (test_domain_get_type ())
G_DECLARE_FINAL_TYPE (TestDomain, test_domain, TEST, DOMAIN, KhadimToolDomain)

KhadimToolDomain *test_domain_new (void);
