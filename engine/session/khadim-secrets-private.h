/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* The secrets of one call: read from the vault when it is about to run, known
 * to the redactor before the tool gets them. */

#pragma once

#include <json-glib/json-glib.h>

#include "engine/session/khadim-engine.h"

G_BEGIN_DECLS

/* What the schema of a tool says where a secret may stand. */
#define KHADIM_SCHEMA_SECRET_KEYWORD "x-khadim-secret"

typedef struct _KhadimSecrets KhadimSecrets;

/* @error is NULL when all are there. */
typedef void (*KhadimSecretsDone) (KhadimSecrets *self,
                                   const GError  *error,
                                   gpointer       user_data);

KhadimSecrets *_khadim_secrets_new   (KhadimEngine       *engine);
void           _khadim_secrets_unref (KhadimSecrets      *self);
void           _khadim_secrets_load  (KhadimSecrets      *self,
                                      JsonNode           *args,
                                      GCancellable       *cancellable,
                                      KhadimSecretsDone   done,
                                      gpointer            user_data);
char          *_khadim_secrets_get   (KhadimSecrets      *self,
                                      JsonNode           *reference,
                                      GError            **error);

G_END_DECLS
