/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

#include "engine/base/khadim-types.h"

G_BEGIN_DECLS

/**
 * KHADIM_REDACTOR_MIN_BYTES:
 *
 * A value that is shorter is hidden as a whole word only, and in no encoded
 * form: everywhere else it would hide what is no secret.
 */
#define KHADIM_REDACTOR_MIN_BYTES 4

/**
 * KHADIM_REDACTOR_MAX_VALUE_BYTES:
 *
 * The longest value.
 */
#define KHADIM_REDACTOR_MAX_VALUE_BYTES ((gsize) 64 * 1024)

#define KHADIM_TYPE_REDACTOR (khadim_redactor_get_type ())
G_DECLARE_FINAL_TYPE (KhadimRedactor, khadim_redactor, KHADIM, REDACTOR, GObject)

KhadimRedactor *khadim_redactor_new         (void);
void            khadim_redactor_add         (KhadimRedactor *self,
                                             const char     *name,
                                             const char     *value);
char           *khadim_redactor_apply       (KhadimRedactor *self,
                                             const char     *text,
                                             gssize          length);
GBytes         *khadim_redactor_apply_bytes (KhadimRedactor *self,
                                             GBytes         *bytes);
JsonNode       *khadim_redactor_apply_json  (KhadimRedactor *self,
                                             JsonNode       *node);

/**
 * KhadimRedactorStream:
 *
 * Hides values in a text that comes in pieces.
 */
typedef struct _KhadimRedactorStream KhadimRedactorStream;

#define KHADIM_TYPE_REDACTOR_STREAM (khadim_redactor_stream_get_type ())
GType                 khadim_redactor_stream_get_type (void);

KhadimRedactorStream *khadim_redactor_stream_new      (KhadimRedactor       *redactor);
KhadimRedactorStream *khadim_redactor_stream_copy     (KhadimRedactorStream *self);
void                  khadim_redactor_stream_free     (KhadimRedactorStream *self);
GBytes               *khadim_redactor_stream_feed     (KhadimRedactorStream *self,
                                                       const char           *data,
                                                       gssize                length);
GBytes               *khadim_redactor_stream_finish   (KhadimRedactorStream *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimRedactorStream, khadim_redactor_stream_free)

G_END_DECLS
