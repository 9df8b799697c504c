/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-event"

#include "config.h"

#include "engine/event/khadim-event.h"

#include "engine/base/khadim-json-node-private.h"
#include "engine/base/khadim-time.h"
#include "engine/json/khadim-json.h"

/* KhadimEvent: one line of a session's event stream. Immutable once it is
 * shared, so any thread may read it. */
struct _KhadimEvent
{
  gatomicrefcount ref_count;
  gint64 seq;
  gint64 time_us;
  KhadimChannel channel;

  /* Owned */
  char *session_id;
  char *event_type;
  char *content;
  JsonNode *metadata;
  char *run_id;
  char *workspace_id;
};

G_DEFINE_BOXED_TYPE (KhadimEvent, khadim_event, khadim_event_ref, khadim_event_unref)

static const struct
{
  KhadimChannel channel;
  const char *name;
} channels[] = {
  { KHADIM_CHANNEL_PROGRESS, "progress" },
  { KHADIM_CHANNEL_CONTROL, "control" },
  { KHADIM_CHANNEL_MONITOR, "monitor" },
};

/**
 * khadim_channel_to_string:
 * @self: one channel, not a mask
 *
 * The channel as the event stream writes it, such as `progress`. Any thread.
 *
 * Returns: (transfer none): a static string
 */
const char *
khadim_channel_to_string (KhadimChannel self)
{
  for (guint i = 0; i < G_N_ELEMENTS (channels); i++)
    {
      if (channels[i].channel == self)
        return channels[i].name;
    }

  g_return_val_if_reached ("progress");
}

/**
 * khadim_channel_from_string:
 * @text: a name as the event stream writes it
 * @out_channel: (out): where to put the channel; untouched on failure
 *
 * The reverse of khadim_channel_to_string(). Any thread.
 *
 * Returns: whether @text names a channel
 */
gboolean
khadim_channel_from_string (const char    *text,
                            KhadimChannel *out_channel)
{
  g_return_val_if_fail (text != NULL, FALSE);
  g_return_val_if_fail (out_channel != NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (channels); i++)
    {
      if (g_str_equal (channels[i].name, text))
        {
          *out_channel = channels[i].channel;
          return TRUE;
        }
    }

  return FALSE;
}

/**
 * khadim_event_new:
 * @session_id: the session
 * @seq: its place in the session's stream: 1, 2, 3 … without gaps
 * @time_us: when, in microseconds since 1970 UTC
 * @channel: one channel
 * @event_type: such as `step_start`
 * @content: (nullable): a sentence for people; what is not UTF-8 is replaced
 * @metadata: (nullable) (transfer none): an object for machines; copied unless
 *   it is sealed
 *
 * An event of a session. Any thread.
 *
 * Returns: (transfer full): an event
 */
KhadimEvent *
khadim_event_new (const char    *session_id,
                  gint64         seq,
                  gint64         time_us,
                  KhadimChannel  channel,
                  const char    *event_type,
                  const char    *content,
                  JsonNode      *metadata)
{
  KhadimEvent *self;

  g_return_val_if_fail (session_id != NULL, NULL);
  g_return_val_if_fail (seq >= 1, NULL);
  g_return_val_if_fail (event_type != NULL, NULL);
  g_return_val_if_fail (metadata == NULL || JSON_NODE_HOLDS_OBJECT (metadata), NULL);

  self = g_new0 (KhadimEvent, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->session_id = g_strdup (session_id);
  self->seq = seq;
  self->time_us = time_us;
  self->channel = channel;
  self->event_type = g_strdup (event_type);
  self->content = content != NULL ? g_utf8_make_valid (content, -1) : NULL;
  self->metadata = _khadim_json_node_hold (metadata);

  return self;
}

/**
 * khadim_event_ref:
 * @self: an event
 *
 * Any thread.
 *
 * Returns: (transfer full): @self
 */
KhadimEvent *
khadim_event_ref (KhadimEvent *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

/**
 * khadim_event_unref:
 * @self: (transfer full): an event
 *
 * Any thread.
 */
void
khadim_event_unref (KhadimEvent *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_free (self->session_id);
  g_free (self->event_type);
  g_free (self->content);
  g_clear_pointer (&self->metadata, json_node_unref);
  g_free (self->run_id);
  g_free (self->workspace_id);
  g_free (self);
}

/**
 * khadim_event_set_run:
 * @self: an event that nobody else has yet
 * @run_id: (nullable): the run
 * @workspace_id: (nullable): the workspace
 *
 * Says whose event it is, before it is shared.
 */
void
khadim_event_set_run (KhadimEvent *self,
                      const char  *run_id,
                      const char  *workspace_id)
{
  g_autofree char *old_run_id = NULL;
  g_autofree char *old_workspace_id = NULL;

  g_return_if_fail (self != NULL);

  old_run_id = g_steal_pointer (&self->run_id);
  old_workspace_id = g_steal_pointer (&self->workspace_id);
  self->run_id = g_strdup (run_id);
  self->workspace_id = g_strdup (workspace_id);
}

/**
 * khadim_event_get_seq:
 * @self: an event
 *
 * Returns: its place in the session's stream, from 1
 */
gint64
khadim_event_get_seq (KhadimEvent *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->seq;
}

/**
 * khadim_event_get_time_us:
 * @self: an event
 *
 * Returns: when, in microseconds since 1970 UTC
 */
gint64
khadim_event_get_time_us (KhadimEvent *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->time_us;
}

/**
 * khadim_event_get_channel:
 * @self: an event
 *
 * Returns: its channel
 */
KhadimChannel
khadim_event_get_channel (KhadimEvent *self)
{
  g_return_val_if_fail (self != NULL, KHADIM_CHANNEL_PROGRESS);

  return self->channel;
}

/**
 * khadim_event_get_event_type:
 * @self: an event
 *
 * Returns: (transfer none): such as `step_start`
 */
const char *
khadim_event_get_event_type (KhadimEvent *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->event_type;
}

/**
 * khadim_event_get_content:
 * @self: an event
 *
 * Returns: (nullable) (transfer none): the sentence for people
 */
const char *
khadim_event_get_content (KhadimEvent *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->content;
}

/**
 * khadim_event_get_metadata:
 * @self: an event
 *
 * Returns: (nullable) (transfer none): the object for machines, sealed
 */
JsonNode *
khadim_event_get_metadata (KhadimEvent *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->metadata;
}

/**
 * khadim_event_get_session_id:
 * @self: an event
 *
 * Returns: (transfer none): the session
 */
const char *
khadim_event_get_session_id (KhadimEvent *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->session_id;
}

/**
 * khadim_event_get_run_id:
 * @self: an event
 *
 * Returns: (nullable) (transfer none): the run
 */
const char *
khadim_event_get_run_id (KhadimEvent *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->run_id;
}

/**
 * khadim_event_get_workspace_id:
 * @self: an event
 *
 * Returns: (nullable) (transfer none): the workspace
 */
const char *
khadim_event_get_workspace_id (KhadimEvent *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->workspace_id;
}

static void
set_string_or_null (JsonObject *object,
                    const char *name,
                    const char *value)
{
  if (value != NULL)
    json_object_set_string_member (object, name, value);
  else
    json_object_set_null_member (object, name);
}

/**
 * khadim_event_to_json:
 * @self: an event
 *
 * The envelope in which events leave the process: all nine members, those that
 * are not set as null. Any thread.
 *
 * Returns: (transfer full): an object
 */
JsonNode *
khadim_event_to_json (KhadimEvent *self)
{
  g_autoptr(JsonObject) object = NULL;
  g_autofree char *time = NULL;
  JsonNode *node;

  g_return_val_if_fail (self != NULL, NULL);

  object = json_object_new ();
  time = khadim_time_to_rfc3339 (self->time_us);
  json_object_set_int_member (object, "seq", self->seq);
  set_string_or_null (object, "time", time);
  json_object_set_string_member (object, "channel", khadim_channel_to_string (self->channel));
  json_object_set_string_member (object, "event_type", self->event_type);
  set_string_or_null (object, "content", self->content);
  if (self->metadata != NULL)
    json_object_set_member (object, "metadata", json_node_ref (self->metadata));
  else
    json_object_set_null_member (object, "metadata");
  set_string_or_null (object, "session_id", self->session_id);
  set_string_or_null (object, "run_id", self->run_id);
  set_string_or_null (object, "workspace_id", self->workspace_id);

  node = json_node_new (JSON_NODE_OBJECT);
  json_node_take_object (node, g_steal_pointer (&object));

  return node;
}

/**
 * khadim_event_to_line:
 * @self: an event
 *
 * The envelope as one line of JSON (RFC 8259) without its line end: what
 * `khadim exec --json` prints. Any thread.
 *
 * Returns: (transfer full): JSON text without line breaks
 */
char *
khadim_event_to_line (KhadimEvent *self)
{
  g_autoptr(JsonNode) node = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  node = khadim_event_to_json (self);

  return khadim_json_to_string (node);
}
