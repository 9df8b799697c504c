/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* The steps of a document as the player walks them. */

#pragma once

#include <json-glib/json-glib.h>

#include "engine/base/khadim-error.h"

G_BEGIN_DECLS

/* How deep steps may nest, how many a document may hold in all. */
#define KHADIM_STEP_MAX_DEPTH 32
#define KHADIM_STEP_MAX_COUNT 5000
/* How often a loop without `max` may turn. */
#define KHADIM_STEP_DEFAULT_MAX 10000

typedef enum {
  KHADIM_STEP_TOOL,
  KHADIM_STEP_IF,
  KHADIM_STEP_FOR_EACH,
  KHADIM_STEP_WHILE,
  KHADIM_STEP_REPEAT,
  KHADIM_STEP_TRY,
  KHADIM_STEP_WAIT,
  KHADIM_STEP_CALL,
  KHADIM_STEP_AGENT,
  KHADIM_STEP_SCRIPT,
  KHADIM_STEP_ASK,
  KHADIM_STEP_CHECK,
  KHADIM_STEP_FAIL,
} KhadimStepKind;

#define KHADIM_STEP_N_KINDS (KHADIM_STEP_FAIL + 1)

typedef enum {
  KHADIM_ON_ERROR_FAIL,
  KHADIM_ON_ERROR_CONTINUE,
  KHADIM_ON_ERROR_ASK,
} KhadimOnError;

typedef enum {
  KHADIM_ON_SEALED_ASK,
  KHADIM_ON_SEALED_CONTINUE,
  KHADIM_ON_SEALED_REDO,
  KHADIM_ON_SEALED_FAIL,
} KhadimOnSealed;

typedef enum {
  KHADIM_ON_ITEM_ERROR_STOP,
  KHADIM_ON_ITEM_ERROR_SKIP,
  KHADIM_ON_ITEM_ERROR_ASK,
} KhadimOnItemError;

/* What `if`, `while`, `wait_for` and `check` look at: an expression, or the
 * arguments of a tool that tells. */
typedef struct
{
  char *expression;           /* NULL when it is a tool's word */
  JsonNode *spec;             /* the object as written, or NULL */
  char *in;                   /* the window it is looked for in, an expression, or NULL */
} KhadimCondition;

typedef struct
{
  char *code;                 /* NULL for `*` */
  GPtrArray *steps;
} KhadimCatch;

typedef struct _KhadimStep KhadimStep;

struct _KhadimStep
{
  KhadimStepKind kind;
  char *id;
  char *title;                /* or NULL */
  char *place;                /* such as steps[3].then[0] */

  gboolean enabled;
  char *enabled_expression;   /* or NULL */
  gint64 timeout_ms;          /* 0: none */
  guint retry_times;
  gint64 retry_delay_ms;
  double retry_growth;
  KhadimOnError on_error;
  KhadimOnSealed on_sealed;
  char *save;                 /* or NULL */

  char *tool;
  JsonNode *args;             /* with `target` and `in` merged, templates in place */

  KhadimCondition condition;
  char *text;                 /* script, agent goal, fail message, call name, for_each or repeat
                               * expression */
  JsonNode *literal;          /* for_each array, repeat number, ask object, call inputs, or NULL */
  char *message;              /* of a check, or NULL */

  char *as;
  char *key;
  guint max;
  KhadimOnItemError on_item_error;
  gint64 every_ms;            /* wait_for with steps */

  GPtrArray *steps;           /* then, the loop's, try's or the wait's steps */
  GPtrArray *otherwise;       /* else */
  GPtrArray *catches;         /* of KhadimCatch */
  GPtrArray *finally;
};

KhadimStep *_khadim_step_new              (void);
void        _khadim_step_free             (KhadimStep     *self);
void        _khadim_catch_free            (KhadimCatch    *self);
const char *_khadim_step_kind_to_key      (KhadimStepKind  self);
const char *_khadim_step_get_title        (KhadimStep     *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimStep, _khadim_step_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimCatch, _khadim_catch_free)

G_END_DECLS
