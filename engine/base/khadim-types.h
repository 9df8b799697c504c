/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Forward typedefs of the engine, so that headers include only this. */

#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

typedef struct _KhadimEngine KhadimEngine;
typedef struct _KhadimEvent KhadimEvent;
typedef struct _KhadimRedactor KhadimRedactor;
typedef struct _KhadimSchema KhadimSchema;
typedef struct _KhadimScript KhadimScript;
typedef struct _KhadimSession KhadimSession;
typedef struct _KhadimStore KhadimStore;
typedef struct _KhadimToolCall KhadimToolCall;
typedef struct _KhadimToolDomain KhadimToolDomain;
typedef struct _KhadimToolInfo KhadimToolInfo;
typedef struct _KhadimToolResult KhadimToolResult;
typedef struct _KhadimVault KhadimVault;

G_END_DECLS
