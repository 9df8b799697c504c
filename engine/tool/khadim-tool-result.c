/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-tool-result"

#include "config.h"

#include "engine/tool/khadim-tool-result.h"

#include <gio/gio.h>

/* KhadimToolResult: what one call gave: a value or a failure, with what it
 * made and what it can say about itself. Owned by one thread at a time. */
struct _KhadimToolResult
{
  gatomicrefcount ref_count;
  gboolean failure;
  KhadimToolError code;

  /* Owned */
  char *message;
  JsonNode *value;
  JsonNode *detail;
  GPtrArray *artifacts;
};

G_DEFINE_BOXED_TYPE (KhadimToolResult, khadim_tool_result,
                     khadim_tool_result_ref, khadim_tool_result_unref)

static void
artifact_free (gpointer data)
{
  KhadimToolArtifact *artifact = data;

  g_free (artifact->role);
  g_free (artifact->name);
  g_free (artifact->media_type);
  g_bytes_unref (artifact->bytes);
  g_free (artifact);
}

static KhadimToolResult *
tool_result_alloc (void)
{
  KhadimToolResult *self = g_new0 (KhadimToolResult, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->artifacts = g_ptr_array_new_with_free_func (artifact_free);

  return self;
}

/**
 * khadim_tool_result_new:
 * @value: (nullable) (transfer full): the value; %NULL for JSON null
 *
 * A call that did what it was asked to. Any thread.
 *
 * Returns: (transfer full): a result
 */
KhadimToolResult *
khadim_tool_result_new (JsonNode *value)
{
  KhadimToolResult *self = tool_result_alloc ();

  self->value = value != NULL ? value : json_node_new (JSON_NODE_NULL);
  json_node_seal (self->value);

  return self;
}

/**
 * khadim_tool_result_new_failure:
 * @code: why
 * @format: a sentence for people, that names the thing and says what to do
 * @...: arguments of @format
 *
 * A call that failed. Any thread.
 *
 * Returns: (transfer full): a result
 */
KhadimToolResult *
khadim_tool_result_new_failure (KhadimToolError  code,
                                const char      *format,
                                ...)
{
  KhadimToolResult *self = tool_result_alloc ();
  va_list args;

  self->failure = TRUE;
  self->code = code;
  self->value = json_node_new (JSON_NODE_NULL);
  json_node_seal (self->value);
  va_start (args, format);
  self->message = g_strdup_vprintf (format, args);
  va_end (args);

  return self;
}

static KhadimToolError
tool_error_from_gerror (const GError *error)
{
  if (error->domain == KHADIM_TOOL_ERROR)
    return (KhadimToolError) error->code;

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return KHADIM_TOOL_ERROR_CANCELLED;
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT))
    return KHADIM_TOOL_ERROR_TIMEOUT;
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND)
      || g_error_matches (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_NOT_FOUND))
    return KHADIM_TOOL_ERROR_NOT_FOUND;
  if (g_error_matches (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_DENIED))
    return KHADIM_TOOL_ERROR_DENIED;
  if (g_error_matches (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT))
    return KHADIM_TOOL_ERROR_LIMIT;

  return KHADIM_TOOL_ERROR_TOOL;
}

/**
 * khadim_tool_result_new_from_error:
 * @error: what a function said
 *
 * A failure with the message of @error and the code that fits it: that of a
 * %KHADIM_TOOL_ERROR as it is, others by their meaning, `tool` if none fits.
 * Any thread.
 *
 * Returns: (transfer full): a result
 */
KhadimToolResult *
khadim_tool_result_new_from_error (const GError *error)
{
  g_return_val_if_fail (error != NULL, NULL);

  return khadim_tool_result_new_failure (tool_error_from_gerror (error), "%s", error->message);
}

/**
 * khadim_tool_result_ref:
 * @self: a result
 *
 * Any thread.
 *
 * Returns: (transfer full): @self
 */
KhadimToolResult *
khadim_tool_result_ref (KhadimToolResult *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

/**
 * khadim_tool_result_unref:
 * @self: (transfer full): a result
 *
 * Any thread.
 */
void
khadim_tool_result_unref (KhadimToolResult *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_free (self->message);
  g_clear_pointer (&self->value, json_node_unref);
  g_clear_pointer (&self->detail, json_node_unref);
  g_ptr_array_unref (self->artifacts);
  g_free (self);
}

/**
 * khadim_tool_result_is_failure:
 * @self: a result
 *
 * Returns: whether the call failed
 */
gboolean
khadim_tool_result_is_failure (KhadimToolResult *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->failure;
}

/**
 * khadim_tool_result_get_code:
 * @self: a failure
 *
 * Returns: why the call failed
 */
KhadimToolError
khadim_tool_result_get_code (KhadimToolResult *self)
{
  g_return_val_if_fail (self != NULL && self->failure, KHADIM_TOOL_ERROR_TOOL);

  return self->code;
}

/**
 * khadim_tool_result_get_message:
 * @self: a result
 *
 * Returns: (nullable) (transfer none): the sentence for people of a failure
 */
const char *
khadim_tool_result_get_message (KhadimToolResult *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->message;
}

/**
 * khadim_tool_result_get_value:
 * @self: a result
 *
 * Returns: (transfer none): the value, JSON null for a failure; sealed
 */
JsonNode *
khadim_tool_result_get_value (KhadimToolResult *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->value;
}

/**
 * khadim_tool_result_get_detail:
 * @self: a result
 *
 * What the call says about itself for the report: the evidence that found the
 * place, its score, the candidates of a failure.
 *
 * Returns: (nullable) (transfer none): a sealed object
 */
JsonNode *
khadim_tool_result_get_detail (KhadimToolResult *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->detail;
}

/**
 * khadim_tool_result_set_detail:
 * @self: a result
 * @detail: (nullable) (transfer full): an object
 *
 * See [method@Khadim.ToolResult.get_detail].
 */
void
khadim_tool_result_set_detail (KhadimToolResult *self,
                               JsonNode         *detail)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (detail == NULL || JSON_NODE_HOLDS_OBJECT (detail));

  g_clear_pointer (&self->detail, json_node_unref);
  self->detail = detail;
  if (detail != NULL)
    json_node_seal (detail);
}

/**
 * khadim_tool_result_add_artifact:
 * @self: a result
 * @role: what it shows, such as `screen` or `place`
 * @name: a file name for people
 * @media_type: such as `image/png`
 * @bytes: (transfer none): the content
 *
 * Keeps something that the call made beside its result.
 */
void
khadim_tool_result_add_artifact (KhadimToolResult *self,
                                 const char       *role,
                                 const char       *name,
                                 const char       *media_type,
                                 GBytes           *bytes)
{
  KhadimToolArtifact *artifact;

  g_return_if_fail (self != NULL);
  g_return_if_fail (role != NULL && name != NULL && media_type != NULL && bytes != NULL);

  artifact = g_new0 (KhadimToolArtifact, 1);
  artifact->role = g_strdup (role);
  artifact->name = g_strdup (name);
  artifact->media_type = g_strdup (media_type);
  artifact->bytes = g_bytes_ref (bytes);
  g_ptr_array_add (self->artifacts, artifact);
}

/**
 * khadim_tool_result_get_artifacts:
 * @self: a result
 *
 * Returns: (transfer none) (element-type KhadimToolArtifact): what the call
 *   made, in order
 */
GPtrArray *
khadim_tool_result_get_artifacts (KhadimToolResult *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->artifacts;
}
