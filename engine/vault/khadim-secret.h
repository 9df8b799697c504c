/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

#include "engine/base/khadim-types.h"
#include "engine/vault/khadim-vault-error.h"

G_BEGIN_DECLS

/**
 * KHADIM_SECRET_MAX_BYTES:
 *
 * The longest secret, which is the longest that a redactor hides.
 */
#define KHADIM_SECRET_MAX_BYTES ((gsize) 64 * 1024)

/**
 * KHADIM_SECRET_MAX_NAME_BYTES:
 *
 * The longest name of a secret, and of a field.
 */
#define KHADIM_SECRET_MAX_NAME_BYTES ((gsize) 128)

/**
 * KHADIM_SECRET_MAX_FORMAT_BYTES:
 *
 * The longest format in a reference.
 */
#define KHADIM_SECRET_MAX_FORMAT_BYTES ((gsize) 1024)

/**
 * KhadimSecret:
 *
 * A text that is kept out of swap and core files where the system allows it,
 * and wiped when it goes.
 */
typedef struct _KhadimSecret KhadimSecret;

#define KHADIM_TYPE_SECRET (khadim_secret_get_type ())
GType         khadim_secret_get_type          (void);

KhadimSecret *khadim_secret_new               (const char    *text,
                                               gssize         length,
                                               GError       **error);
KhadimSecret *khadim_secret_new_formatted     (KhadimSecret  *self,
                                               const char    *format,
                                               GError       **error);
KhadimSecret *khadim_secret_ref               (KhadimSecret  *self);
void          khadim_secret_unref             (KhadimSecret  *self);
const char   *khadim_secret_get_text          (KhadimSecret  *self);
gsize         khadim_secret_get_length        (KhadimSecret  *self);

gboolean      khadim_secret_is_reference      (JsonNode      *node);
gboolean      khadim_secret_reference_parse   (JsonNode      *node,
                                               char         **out_name,
                                               char         **out_field,
                                               char         **out_format,
                                               GError       **error);
gboolean      khadim_secret_reference_split   (const char    *reference,
                                               char         **out_name,
                                               char         **out_field,
                                               GError       **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimSecret, khadim_secret_unref)

G_END_DECLS
