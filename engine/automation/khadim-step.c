/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-step"

#include "config.h"

#include "engine/automation/khadim-step-private.h"

static const char *const kind_keys[KHADIM_STEP_N_KINDS] = {
  [KHADIM_STEP_TOOL] = "tool",
  [KHADIM_STEP_IF] = "if",
  [KHADIM_STEP_FOR_EACH] = "for_each",
  [KHADIM_STEP_WHILE] = "while",
  [KHADIM_STEP_REPEAT] = "repeat",
  [KHADIM_STEP_TRY] = "try",
  [KHADIM_STEP_WAIT] = "wait_for",
  [KHADIM_STEP_CALL] = "call",
  [KHADIM_STEP_AGENT] = "agent",
  [KHADIM_STEP_SCRIPT] = "script",
  [KHADIM_STEP_ASK] = "ask",
  [KHADIM_STEP_CHECK] = "check",
  [KHADIM_STEP_FAIL] = "fail",
};

KhadimStep *
_khadim_step_new (void)
{
  KhadimStep *self = g_new0 (KhadimStep, 1);

  self->enabled = TRUE;
  self->retry_growth = 1;
  self->max = KHADIM_STEP_DEFAULT_MAX;

  return self;
}

void
_khadim_catch_free (KhadimCatch *self)
{
  if (self == NULL)
    return;

  g_free (self->code);
  g_clear_pointer (&self->steps, g_ptr_array_unref);
  g_free (self);
}

void
_khadim_step_free (KhadimStep *self)
{
  if (self == NULL)
    return;

  g_free (self->id);
  g_free (self->title);
  g_free (self->place);
  g_free (self->enabled_expression);
  g_free (self->save);
  g_free (self->tool);
  g_clear_pointer (&self->args, json_node_unref);
  g_free (self->condition.expression);
  g_clear_pointer (&self->condition.spec, json_node_unref);
  g_free (self->condition.in);
  g_free (self->text);
  g_clear_pointer (&self->literal, json_node_unref);
  g_free (self->message);
  g_free (self->as);
  g_free (self->key);
  g_clear_pointer (&self->steps, g_ptr_array_unref);
  g_clear_pointer (&self->otherwise, g_ptr_array_unref);
  g_clear_pointer (&self->catches, g_ptr_array_unref);
  g_clear_pointer (&self->finally, g_ptr_array_unref);
  g_free (self);
}

/* The key of a document that makes a step one of this kind. */
const char *
_khadim_step_kind_to_key (KhadimStepKind self)
{
  g_assert ((guint) self < KHADIM_STEP_N_KINDS);

  return kind_keys[self];
}

/* What a report calls the step. */
const char *
_khadim_step_get_title (KhadimStep *self)
{
  if (self->title != NULL)
    return self->title;

  return self->kind == KHADIM_STEP_TOOL ? self->tool : self->id;
}
