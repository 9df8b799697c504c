/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-subscriber"

#include "config.h"

#include "engine/session/khadim-subscriber-private.h"

#include "engine/session/khadim-session-private.h"

/* How many events are read from the store at a time. */
#define PAGE 256

/* The engine pushes, the subscriber's own context drains. What does not fit
 * the queue is dropped from it and read from the store instead: events are
 * durable before they are pushed. */
struct _KhadimSubscriber
{
  gatomicrefcount ref_count;

  /* Owned, set once */
  KhadimStore *store;
  char *session_id;
  GMainContext *context;
  KhadimChannel channels;
  KhadimEventFunc func;
  gpointer user_data;
  GDestroyNotify destroy;

  GMutex lock;          /* guards what follows */
  GQueue queue;         /* of KhadimEvent */
  gint64 pushed_seq;    /* the newest event there is */
  gboolean scheduled;

  gint64 seen_seq;      /* only on the subscriber's context */
};

KhadimSubscriber *
_khadim_subscriber_new (KhadimStore   *store,
                        const char    *session_id,
                        KhadimChannel  channels,
                        gint64         since_seq)
{
  KhadimSubscriber *self = g_new0 (KhadimSubscriber, 1);

  g_atomic_ref_count_init (&self->ref_count);
  g_mutex_init (&self->lock);
  g_queue_init (&self->queue);
  self->store = g_object_ref (store);
  self->session_id = g_strdup (session_id);
  self->context = g_main_context_ref_thread_default ();
  self->channels = channels;
  self->seen_seq = since_seq;

  return self;
}

void
_khadim_subscriber_set_func (KhadimSubscriber *self,
                             KhadimEventFunc   func,
                             gpointer          user_data,
                             GDestroyNotify    destroy)
{
  self->func = func;
  self->user_data = user_data;
  self->destroy = destroy;
}

void
_khadim_subscriber_unref (KhadimSubscriber *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  if (self->destroy != NULL)
    self->destroy (self->user_data);
  g_queue_clear_full (&self->queue, (GDestroyNotify) khadim_event_unref);
  g_mutex_clear (&self->lock);
  g_object_unref (self->store);
  g_main_context_unref (self->context);
  g_free (self->session_id);
  g_free (self);
}

static void
hand_over (KhadimSubscriber *self,
           KhadimEvent      *event)
{
  self->seen_seq = khadim_event_get_seq (event);
  if ((khadim_event_get_channel (event) & self->channels) != 0)
    self->func (event, self->user_data);
}

/* Reads what is missing before @until (exclusive). An error leaves the gap
 * for the next try, which the next event makes. */
static gboolean
catch_up (KhadimSubscriber *self,
          gint64            until)
{
  while (self->seen_seq + 1 < until)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(GPtrArray) events = khadim_store_list_events (self->store, self->session_id,
                                                              self->seen_seq, PAGE, &error);

      if (events == NULL || events->len == 0)
        {
          g_debug ("Events after %" G_GINT64_FORMAT ": %s", self->seen_seq,
                   error != NULL ? error->message : "none yet");
          return FALSE;
        }
      for (guint i = 0; i < events->len && self->seen_seq + 1 < until; i++)
        hand_over (self, events->pdata[i]);
    }

  return TRUE;
}

static KhadimEvent *
pop (KhadimSubscriber *self,
     gint64           *out_pushed_seq)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  KhadimEvent *event = g_queue_pop_head (&self->queue);

  *out_pushed_seq = self->pushed_seq;
  if (event == NULL)
    self->scheduled = FALSE;

  return event;
}

static gboolean
on_drain_cb (gpointer user_data)
{
  KhadimSubscriber *self = user_data;
  gint64 pushed_seq;

  while (TRUE)
    {
      g_autoptr(KhadimEvent) event = pop (self, &pushed_seq);

      if (event == NULL)
        break;
      if (khadim_event_get_seq (event) > self->seen_seq &&
          catch_up (self, khadim_event_get_seq (event)))
        hand_over (self, event);
    }
  catch_up (self, pushed_seq + 1);

  return G_SOURCE_REMOVE;
}

/* Schedules a drain; the lock is held. */
static void
schedule (KhadimSubscriber *self)
{
  g_autoptr(GSource) source = NULL;

  if (self->scheduled)
    return;

  self->scheduled = TRUE;
  g_atomic_ref_count_inc (&self->ref_count);
  source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, on_drain_cb, self, (GDestroyNotify) _khadim_subscriber_unref);
  g_source_attach (source, self->context);
}

/* Called by the engine with each durable event, in order. */
void
_khadim_subscriber_push (KhadimSubscriber *self,
                         KhadimEvent      *event)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);

  self->pushed_seq = khadim_event_get_seq (event);
  if (self->queue.length < KHADIM_SUBSCRIBER_QUEUE_MAX)
    g_queue_push_tail (&self->queue, khadim_event_ref (event));
  schedule (self);
}
