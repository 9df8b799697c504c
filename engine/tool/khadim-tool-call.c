/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-tool-call"

#include "config.h"

#include "engine/tool/khadim-tool-call-private.h"

/* KhadimToolCall: one call on its way through a tool domain. It changes
 * nothing after it was made, so a domain may read it on its own thread; the
 * hooks are made to be called from there too. */
struct _KhadimToolCall
{
  GObject parent_instance;

  /* Owned */
  char *id;
  char *session_id;
  char *tool;
  JsonNode *args;
  char *assets_dir;
  char *work_dir;

  gint64 deadline_us;
  gboolean dry_run;
  gboolean resumed;
  JsonNode *note; /* (owned) or NULL */

  GMutex lock; /* guards the hooks, which the runner takes back at the end */
  KhadimToolProgressFunc progress;
  KhadimToolSecretFunc secret;
  KhadimToolNoteFunc write_note;
  gpointer hook_data;
};

G_DEFINE_FINAL_TYPE (KhadimToolCall, khadim_tool_call, G_TYPE_OBJECT)

static void
khadim_tool_call_finalize (GObject *object)
{
  KhadimToolCall *self = KHADIM_TOOL_CALL (object);

  g_free (self->id);
  g_free (self->session_id);
  g_free (self->tool);
  g_clear_pointer (&self->args, json_node_unref);
  g_clear_pointer (&self->note, json_node_unref);
  g_free (self->assets_dir);
  g_free (self->work_dir);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (khadim_tool_call_parent_class)->finalize (object);
}

static void
khadim_tool_call_class_init (KhadimToolCallClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_tool_call_finalize;
}

static void
khadim_tool_call_init (KhadimToolCall *self)
{
  g_mutex_init (&self->lock);
}

KhadimToolCall *
_khadim_tool_call_new (const KhadimToolCallSpec *spec)
{
  KhadimToolCall *self;

  g_return_val_if_fail (spec->id != NULL && spec->tool != NULL, NULL);
  g_return_val_if_fail (JSON_NODE_HOLDS_OBJECT (spec->args), NULL);

  self = g_object_new (KHADIM_TYPE_TOOL_CALL, NULL);
  self->id = g_strdup (spec->id);
  self->session_id = g_strdup (spec->session_id);
  self->tool = g_strdup (spec->tool);
  self->args = json_node_ref (spec->args);
  json_node_seal (self->args);
  self->assets_dir = g_strdup (spec->assets_dir);
  self->work_dir = g_strdup (spec->work_dir);
  self->deadline_us = spec->deadline_us;
  self->dry_run = spec->dry_run;
  self->resumed = spec->resumed;
  self->note = spec->note != NULL ? json_node_ref (spec->note) : NULL;

  return self;
}

/* Called with NULLs when the call has ended, so that a domain that keeps the
 * call longer reaches nothing that is gone. */
void
_khadim_tool_call_set_hooks (KhadimToolCall         *self,
                             KhadimToolProgressFunc  progress,
                             KhadimToolSecretFunc    secret,
                             KhadimToolNoteFunc      note,
                             gpointer                user_data)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  self->progress = progress;
  self->secret = secret;
  self->write_note = note;
  self->hook_data = user_data;
}

/**
 * khadim_tool_call_get_id:
 * @self: a call
 *
 * The call's own id, a UUIDv7, the same after a resume. Any thread.
 *
 * Returns: (transfer none): the id
 */
const char *
khadim_tool_call_get_id (KhadimToolCall *self)
{
  g_return_val_if_fail (KHADIM_IS_TOOL_CALL (self), NULL);

  return self->id;
}

/**
 * khadim_tool_call_get_session_id:
 * @self: a call
 *
 * Whose call it is; what a domain keeps from call to call, it keeps by this.
 * Any thread.
 *
 * Returns: (transfer none): the session's id
 */
const char *
khadim_tool_call_get_session_id (KhadimToolCall *self)
{
  g_return_val_if_fail (KHADIM_IS_TOOL_CALL (self), NULL);

  return self->session_id;
}

/**
 * khadim_tool_call_get_tool:
 * @self: a call
 *
 * Any thread.
 *
 * Returns: (transfer none): the tool's name, `domain.verb`
 */
const char *
khadim_tool_call_get_tool (KhadimToolCall *self)
{
  g_return_val_if_fail (KHADIM_IS_TOOL_CALL (self), NULL);

  return self->tool;
}

/**
 * khadim_tool_call_get_args:
 * @self: a call
 *
 * The arguments, checked against the tool's schema; secrets stand in them as
 * references. Any thread.
 *
 * Returns: (transfer none): a sealed object
 */
JsonObject *
khadim_tool_call_get_args (KhadimToolCall *self)
{
  g_return_val_if_fail (KHADIM_IS_TOOL_CALL (self), NULL);

  return json_node_get_object (self->args);
}

/**
 * khadim_tool_call_get_assets_dir:
 * @self: a call
 *
 * The folder of the automation, for what it ships. Any thread.
 *
 * Returns: (nullable) (transfer none): an absolute path
 */
const char *
khadim_tool_call_get_assets_dir (KhadimToolCall *self)
{
  g_return_val_if_fail (KHADIM_IS_TOOL_CALL (self), NULL);

  return self->assets_dir;
}

/**
 * khadim_tool_call_get_work_dir:
 * @self: a call
 *
 * Where relative paths start. Any thread.
 *
 * Returns: (transfer none): an absolute path
 */
const char *
khadim_tool_call_get_work_dir (KhadimToolCall *self)
{
  g_return_val_if_fail (KHADIM_IS_TOOL_CALL (self), NULL);

  return self->work_dir;
}

/**
 * khadim_tool_call_get_deadline_us:
 * @self: a call
 *
 * When the step's time is up. The runner cancels the call then; a tool that
 * waits stops by itself, so that it can say what it waited for. Any thread.
 *
 * Returns: microseconds on the clock of g_get_monotonic_time(), or
 *   %G_MAXINT64
 */
gint64
khadim_tool_call_get_deadline_us (KhadimToolCall *self)
{
  g_return_val_if_fail (KHADIM_IS_TOOL_CALL (self), G_MAXINT64);

  return self->deadline_us;
}

/**
 * khadim_tool_call_is_dry_run:
 * @self: a call
 *
 * Whether the call only looks: it resolves its target and changes nothing.
 * Any thread.
 *
 * Returns: whether this is a dry run
 */
gboolean
khadim_tool_call_is_dry_run (KhadimToolCall *self)
{
  g_return_val_if_fail (KHADIM_IS_TOOL_CALL (self), FALSE);

  return self->dry_run;
}

/**
 * khadim_tool_call_is_resumed:
 * @self: a call
 *
 * Whether this call had begun when the process before this one died: only
 * idempotent tools, and tools told to `redo`, see that. Any thread.
 *
 * Returns: whether the call may have had its effect already
 */
gboolean
khadim_tool_call_is_resumed (KhadimToolCall *self)
{
  g_return_val_if_fail (KHADIM_IS_TOOL_CALL (self), FALSE);

  return self->resumed;
}

/**
 * khadim_tool_call_progress:
 * @self: a call
 * @fraction: 0 to 1, or negative if unknown
 * @preview: (nullable): a few words for people
 *
 * Says how far the call is; becomes a `step_update`. Any thread; nothing
 * happens once the call has ended.
 */
void
khadim_tool_call_progress (KhadimToolCall *self,
                           double          fraction,
                           const char     *preview)
{
  g_return_if_fail (KHADIM_IS_TOOL_CALL (self));

  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  if (self->progress != NULL)
    self->progress (self, fraction, preview, self->hook_data);
}

/**
 * khadim_tool_call_note:
 * @self: a call
 * @note: (nullable) (transfer full): what will tell, after a crash, how far
 *   the call had come; an object; %NULL for an empty one
 * @error: (nullable): a `KHADIM_STORE_ERROR` when it could not be written:
 *   then nothing may be done
 *
 * Says that what cannot be undone begins now. Returns when that is on disk. A
 * call of a tool with %KHADIM_TOOL_FLAGS_NOTES that is interrupted before its
 * note has done nothing and is made again; after it, the tool gets the note
 * back and finds out. Blocks; any thread but the engine's.
 *
 * Returns: whether the note is durable
 */
gboolean
khadim_tool_call_note (KhadimToolCall  *self,
                       JsonNode        *note,
                       GError         **error)
{
  g_autoptr(JsonNode) owned = note;
  KhadimToolNoteFunc write_note;
  gpointer hook_data;

  g_return_val_if_fail (KHADIM_IS_TOOL_CALL (self), FALSE);

  if (owned == NULL)
    {
      owned = json_node_new (JSON_NODE_OBJECT);
      json_node_take_object (owned, json_object_new ());
    }
  /* The lock is not held while it waits: the runner keeps its data until the
   * call has ended, which it cannot before this returns. */
  g_mutex_lock (&self->lock);
  write_note = self->write_note;
  hook_data = self->hook_data;
  g_mutex_unlock (&self->lock);

  return write_note == NULL || write_note (self, owned, FALSE, hook_data, error);
}

/**
 * khadim_tool_call_note_done:
 * @self: a call that has noted what it began
 *
 * Says that it is done, and that only what is told about it is missing: an
 * interruption from here on loses nothing. Does not wait. Any thread but the
 * engine's.
 */
void
khadim_tool_call_note_done (KhadimToolCall *self)
{
  g_autoptr(JsonNode) note = json_node_new (JSON_NODE_OBJECT);
  KhadimToolNoteFunc write_note;
  gpointer hook_data;

  g_return_if_fail (KHADIM_IS_TOOL_CALL (self));

  json_node_take_object (note, json_object_new ());
  json_object_set_boolean_member (json_node_get_object (note), "done", TRUE);
  g_mutex_lock (&self->lock);
  write_note = self->write_note;
  hook_data = self->hook_data;
  g_mutex_unlock (&self->lock);
  if (write_note != NULL)
    write_note (self, note, TRUE, hook_data, NULL);
}

/**
 * khadim_tool_call_get_note:
 * @self: a call
 *
 * What the attempt that was interrupted had noted. Any thread.
 *
 * Returns: (transfer none) (nullable): an object; %NULL when there was no such
 *   attempt, or it had noted nothing
 */
JsonNode *
khadim_tool_call_get_note (KhadimToolCall *self)
{
  g_return_val_if_fail (KHADIM_IS_TOOL_CALL (self), NULL);

  return self->note;
}

/**
 * khadim_tool_call_resolve_secret:
 * @self: a call
 * @reference: an object `{"secret": "name/field"}`, with an optional `format`
 * @error: return location
 *
 * Reads a secret at the moment of its use. The value is known to the
 * redaction from then on. Wipe it with explicit_bzero() before freeing it.
 * Any thread.
 *
 * Returns: (transfer full): the value, or %NULL with
 *   %KHADIM_TOOL_ERROR_SECRET_MISSING or %KHADIM_TOOL_ERROR_DENIED
 */
char *
khadim_tool_call_resolve_secret (KhadimToolCall *self,
                                 JsonNode       *reference,
                                 GError        **error)
{
  g_return_val_if_fail (KHADIM_IS_TOOL_CALL (self), NULL);
  g_return_val_if_fail (reference != NULL, NULL);

  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  if (self->secret == NULL)
    {
      g_set_error_literal (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_DENIED,
                           "The call has ended: its secrets are out of reach");
      return NULL;
    }

  return self->secret (self, reference, self->hook_data, error);
}
