/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

#include "engine/base/khadim-error.h"
#include "engine/base/khadim-types.h"

G_BEGIN_DECLS

/**
 * KHADIM_SCRIPT_MAX_STEPS:
 *
 * The work of one call: instructions of the Lua machine, and what the library
 * does in C counted by characters and elements.
 */
#define KHADIM_SCRIPT_MAX_STEPS G_GUINT64_CONSTANT (10000000)

/**
 * KHADIM_SCRIPT_MAX_MEMORY_BYTES:
 *
 * What one interpreter may hold, variables included.
 */
#define KHADIM_SCRIPT_MAX_MEMORY_BYTES ((gsize) 64 * 1024 * 1024)

/**
 * KHADIM_SCRIPT_MAX_BLOCK_BYTES:
 *
 * The largest single string or table part inside the interpreter.
 */
#define KHADIM_SCRIPT_MAX_BLOCK_BYTES ((gsize) 32 * 1024 * 1024)

/**
 * KHADIM_SCRIPT_MAX_STRING_BYTES:
 *
 * The longest text that a library function makes or that a result holds.
 */
#define KHADIM_SCRIPT_MAX_STRING_BYTES ((gsize) 16 * 1024 * 1024)

/**
 * KHADIM_SCRIPT_MAX_SUBJECT_BYTES:
 *
 * The longest text that patterns search.
 */
#define KHADIM_SCRIPT_MAX_SUBJECT_BYTES ((gsize) 4 * 1024 * 1024)

/**
 * KHADIM_SCRIPT_MAX_PATTERN_BYTES:
 *
 * The longest pattern.
 */
#define KHADIM_SCRIPT_MAX_PATTERN_BYTES ((gsize) 4096)

/**
 * KHADIM_SCRIPT_MAX_VALUE_BYTES:
 *
 * The size of a value that goes in or comes out: its texts and keys together.
 */
#define KHADIM_SCRIPT_MAX_VALUE_BYTES ((gsize) 16 * 1024 * 1024)

/**
 * KHADIM_SCRIPT_MAX_VALUE_NODES:
 *
 * How many values an array, an object and all inside them may be.
 */
#define KHADIM_SCRIPT_MAX_VALUE_NODES 1000000

/**
 * KHADIM_SCRIPT_MAX_VALUE_DEPTH:
 *
 * How deep arrays and objects may be nested.
 */
#define KHADIM_SCRIPT_MAX_VALUE_DEPTH 64

/**
 * KHADIM_SCRIPT_MAX_EXPRESSION_BYTES:
 *
 * The longest expression.
 */
#define KHADIM_SCRIPT_MAX_EXPRESSION_BYTES ((gsize) 16 * 1024)

/**
 * KHADIM_SCRIPT_MAX_CODE_BYTES:
 *
 * The longest script. Lua's compiler takes time with the square of the length
 * of some sources, and no hook reaches into it.
 */
#define KHADIM_SCRIPT_MAX_CODE_BYTES ((gsize) 64 * 1024)

/**
 * KHADIM_SCRIPT_MAX_TEMPLATE_BYTES:
 *
 * The longest text with templates in it.
 */
#define KHADIM_SCRIPT_MAX_TEMPLATE_BYTES ((gsize) 1024 * 1024)

/**
 * KHADIM_SCRIPT_MAX_MESSAGE_BYTES:
 *
 * The longest message of a fault; what is longer is cut.
 */
#define KHADIM_SCRIPT_MAX_MESSAGE_BYTES ((gsize) 2048)

/**
 * KHADIM_SCRIPT_MAX_CALL_DEPTH:
 *
 * How deep functions may call each other.
 */
#define KHADIM_SCRIPT_MAX_CALL_DEPTH 3000

/**
 * KHADIM_SCRIPT_MAX_CPU_MS:
 *
 * The processor time of one call, in milliseconds: a last resort for what the
 * count of steps does not see.
 */
#define KHADIM_SCRIPT_MAX_CPU_MS 5000

/**
 * KHADIM_SCRIPT_MAX_NAME_BYTES:
 *
 * The longest name of a variable.
 */
#define KHADIM_SCRIPT_MAX_NAME_BYTES ((gsize) 128)

#define KHADIM_TYPE_SCRIPT (khadim_script_get_type ())
G_DECLARE_FINAL_TYPE (KhadimScript, khadim_script, KHADIM, SCRIPT, GObject)

KhadimScript *khadim_script_new              (guint64        seed);
void          khadim_script_push_scope       (KhadimScript  *self);
void          khadim_script_pop_scope        (KhadimScript  *self);
gboolean      khadim_script_set              (KhadimScript  *self,
                                              const char    *name,
                                              JsonNode      *value,
                                              GError       **error);
gboolean      khadim_script_set_local        (KhadimScript  *self,
                                              const char    *name,
                                              JsonNode      *value,
                                              GError       **error);
JsonNode     *khadim_script_get              (KhadimScript  *self,
                                              const char    *name);
JsonObject   *khadim_script_snapshot         (KhadimScript  *self);
JsonNode     *khadim_script_evaluate         (KhadimScript  *self,
                                              const char    *expression,
                                              GError       **error);
gboolean      khadim_script_test             (KhadimScript  *self,
                                              const char    *expression,
                                              gboolean      *out_value,
                                              GError       **error);
JsonNode     *khadim_script_run              (KhadimScript  *self,
                                              const char    *code,
                                              GError       **error);
JsonNode     *khadim_script_expand           (KhadimScript  *self,
                                              JsonNode      *node,
                                              GError       **error);
char         *khadim_script_expand_string    (KhadimScript  *self,
                                              const char    *text,
                                              GError       **error);
gboolean      khadim_script_check_expression (const char    *expression,
                                              GError       **error);
gboolean      khadim_script_check_code       (const char    *code,
                                              GError       **error);
gboolean      khadim_script_check_templates  (JsonNode      *node,
                                              char         **out_place,
                                              GError       **error);
gboolean      khadim_script_is_name          (const char    *name);

G_END_DECLS
