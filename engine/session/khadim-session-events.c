/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-session"

#include "config.h"

#include "engine/session/khadim-session-private.h"

#include "engine/base/khadim-time.h"
#include "engine/session/khadim-subscriber-private.h"

/* A copy of @text without secrets. */
char *
_khadim_session_redact (KhadimSession *self,
                        const char    *text)
{
  KhadimRedactor *redactor = khadim_engine_get_redactor (self->engine);
  char *clean;

  if (text == NULL)
    return NULL;

  clean = khadim_redactor_apply (redactor, text, -1);

  return clean != NULL ? clean : g_strdup (text);
}

/* @node (nullable) without secrets: a new reference to the same node where
 * there is nothing to take out. */
JsonNode *
_khadim_session_redact_json (KhadimSession *self,
                             JsonNode      *node)
{
  if (node == NULL)
    return NULL;

  return khadim_redactor_apply_json (khadim_engine_get_redactor (self->engine), node);
}

/* Adds an event to the batch of the next commit; takes @metadata (nullable). */
void
_khadim_session_emit (KhadimSession *self,
                      KhadimChannel  channel,
                      const char    *event_type,
                      const char    *content,
                      JsonNode      *metadata)
{
  g_autofree char *clean = _khadim_session_redact (self, content);
  g_autoptr(JsonNode) raw = metadata;
  g_autoptr(JsonNode) clean_metadata = _khadim_session_redact_json (self, metadata);
  g_autoptr(KhadimEvent) event = NULL;

  event = khadim_event_new (self->record->id, self->next_seq++, khadim_time_now_us (), channel,
                            event_type, clean, clean_metadata);
  khadim_event_set_run (event, self->run->id, self->record->workspace_id);
  khadim_store_batch_add_event (self->batch, event);
  g_ptr_array_add (self->batch_events, g_steal_pointer (&event));
}

/* Adds a call's present state to the batch and remembers it. Takes nothing:
 * the session's table owns records. */
void
_khadim_session_put_call (KhadimSession        *self,
                          KhadimToolCallRecord *record)
{
  khadim_store_batch_put_call (self->batch, record);
}

void
_khadim_session_put_state (KhadimSession      *self,
                           KhadimSessionState  state)
{
  self->record->state = state;
  self->record->updated_us = khadim_time_now_us ();
  khadim_store_batch_put_session (self->batch, self->record);
}

typedef struct
{
  KhadimSession *session;
  GPtrArray *events;
  KhadimCommitted func;
  gpointer user_data;
} Commit;

static void
commit_free (Commit *self)
{
  g_object_unref (self->session);
  g_ptr_array_unref (self->events);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Commit, commit_free)

/* Events reach nobody before they are durable. */
static void
deliver (KhadimSession *self,
         GPtrArray     *events)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  for (guint i = 0; i < self->subscribers->len; i++)
    for (guint j = 0; j < events->len; j++)
      _khadim_subscriber_push (self->subscribers->pdata[i], events->pdata[j]);
}

static void
on_committed_cb (GObject      *object,
                 GAsyncResult *result,
                 gpointer      user_data)
{
  g_autoptr(Commit) commit = user_data;
  KhadimSession *self = commit->session;
  g_autoptr(GError) error = NULL;

  if (khadim_store_commit_finish (KHADIM_STORE (object), result, &error))
    deliver (self, commit->events);
  else if (self->fatal == NULL)
    self->fatal = g_steal_pointer (&error);

  if (commit->func != NULL)
    commit->func (self, commit->user_data);
}

/* Hands what gathered to the store. @func (nullable) runs when it is durable,
 * or when it could not be written: then self->fatal says why, and nothing
 * that changes the world may follow. */
void
_khadim_session_commit (KhadimSession    *self,
                        KhadimDurability  durability,
                        KhadimCommitted   func,
                        gpointer          user_data)
{
  Commit *commit = g_new0 (Commit, 1);

  g_assert (KHADIM_IS_ENGINE_THREAD (self->engine));

  commit->session = g_object_ref (self);
  commit->events = g_steal_pointer (&self->batch_events);
  commit->func = func;
  commit->user_data = user_data;
  khadim_store_commit_async (khadim_engine_get_store (self->engine),
                             g_steal_pointer (&self->batch), durability, on_committed_cb, commit);
  self->batch = khadim_store_batch_new ();
  self->batch_events = g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_event_unref);
}

/**
 * khadim_session_subscribe: (skip)
 * @self: a session
 * @channels: the channels that are wanted
 * @since_seq: the last event that the subscriber has already, 0 for none
 * @func: called with each later event, once and in order, when it is durable;
 *   on the thread-default main context of the caller
 * @user_data: for @func
 * @destroy: (nullable): frees @user_data when the session ends
 *
 * Follows the events of a session. A subscriber that is slow never holds up
 * the session: what no longer fits its queue is read from the store.
 */
void
khadim_session_subscribe (KhadimSession   *self,
                          KhadimChannel    channels,
                          gint64           since_seq,
                          KhadimEventFunc  func,
                          gpointer         user_data,
                          GDestroyNotify   destroy)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = NULL;
  KhadimSubscriber *subscriber;

  g_return_if_fail (KHADIM_IS_SESSION (self));
  g_return_if_fail (func != NULL);

  subscriber = _khadim_subscriber_new (khadim_engine_get_store (self->engine), self->record->id,
                                       channels, since_seq);
  _khadim_subscriber_set_func (subscriber, func, user_data, destroy);
  locker = g_mutex_locker_new (&self->lock);
  g_ptr_array_add (self->subscribers, subscriber);
}
