/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-store-batch"

#include "config.h"

#include "engine/store/khadim-store-batch-private.h"

/* KhadimStoreBatch: copies of rows that wait for their commit. */
struct _KhadimStoreBatch
{
  gatomicrefcount ref_count;   /* for language bindings; one owner otherwise */

  /* Owned */
  GPtrArray *ops;
};

static KhadimStoreBatch *
store_batch_ref (KhadimStoreBatch *self)
{
  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

G_DEFINE_BOXED_TYPE (KhadimStoreBatch, khadim_store_batch,
                     store_batch_ref, khadim_store_batch_free)

static void
store_op_free (gpointer data)
{
  KhadimStoreOp *op = data;

  if (op->shape != NULL)
    _khadim_record_free (op->shape, op->record);
  g_clear_pointer (&op->event, khadim_event_unref);
  g_clear_pointer (&op->bytes, g_bytes_unref);
  g_free (op);
}

static KhadimStoreOp *
add_op (KhadimStoreBatch  *self,
        KhadimStoreOpKind  kind)
{
  KhadimStoreOp *op = g_new0 (KhadimStoreOp, 1);

  op->kind = kind;
  g_ptr_array_add (self->ops, op);

  return op;
}

static KhadimStoreOp *
add_record (KhadimStoreBatch        *self,
            KhadimStoreOpKind        kind,
            const KhadimRecordShape *shape,
            gconstpointer            record)
{
  KhadimStoreOp *op = add_op (self, kind);

  op->shape = shape;
  op->record = _khadim_record_copy (shape, record);

  return op;
}

/**
 * khadim_store_batch_new:
 *
 * Rows that become durable together or not at all, in the order in which they
 * are added. One thread at a time.
 *
 * Returns: (transfer full): an empty batch
 */
KhadimStoreBatch *
khadim_store_batch_new (void)
{
  KhadimStoreBatch *self = g_new0 (KhadimStoreBatch, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->ops = g_ptr_array_new_with_free_func (store_op_free);

  return self;
}

/**
 * khadim_store_batch_free:
 * @self: (nullable) (transfer full): a batch that is not to be committed
 */
void
khadim_store_batch_free (KhadimStoreBatch *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_ptr_array_unref (self->ops);
  g_free (self);
}

/**
 * khadim_store_batch_is_empty:
 * @self: a batch
 *
 * Returns: whether nothing was added
 */
gboolean
khadim_store_batch_is_empty (KhadimStoreBatch *self)
{
  g_return_val_if_fail (self != NULL, TRUE);

  return self->ops->len == 0;
}

/*< private >
 * _khadim_store_batch_get_ops:
 * @self: a batch
 *
 * Returns: (transfer none) (element-type KhadimStoreOp): its rows, in order
 */
GPtrArray *
_khadim_store_batch_get_ops (KhadimStoreBatch *self)
{
  return self->ops;
}

/**
 * khadim_store_batch_put_session:
 * @self: a batch
 * @record: (transfer none): the session, with its id
 *
 * Adds a session or replaces it. A new one belongs to this engine. Whose it is
 * never changes by a later put, whatever @record says:
 * see khadim_store_claim_session() and khadim_store_release_session().
 */
void
khadim_store_batch_put_session (KhadimStoreBatch          *self,
                                const KhadimSessionRecord *record)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (record != NULL && record->id != NULL);

  add_record (self, KHADIM_STORE_OP_SESSION, &_khadim_session_shape, record);
}

/**
 * khadim_store_batch_put_run:
 * @self: a batch
 * @record: (transfer none): the run, with its id and session
 *
 * Adds a run or replaces it.
 */
void
khadim_store_batch_put_run (KhadimStoreBatch      *self,
                            const KhadimRunRecord *record)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (record != NULL && record->id != NULL && record->session_id != NULL);

  add_record (self, KHADIM_STORE_OP_RUN, &_khadim_run_shape, record);
}

/**
 * khadim_store_batch_put_call:
 * @self: a batch
 * @record: (transfer none): the tool call, with its id, session and position
 *
 * Adds a tool call or replaces it. Two calls of a session cannot have the same
 * position.
 */
void
khadim_store_batch_put_call (KhadimStoreBatch           *self,
                             const KhadimToolCallRecord *record)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (record != NULL && record->id != NULL);
  g_return_if_fail (record->session_id != NULL && record->position != NULL);

  add_record (self, KHADIM_STORE_OP_CALL, &_khadim_tool_call_shape, record);
}

/**
 * khadim_store_batch_add_event:
 * @self: a batch
 * @event: (transfer none): the next event of its session
 *
 * Adds an event. Its sequence number has to follow that of the session's last
 * event without a gap, or the batch is refused.
 */
void
khadim_store_batch_add_event (KhadimStoreBatch *self,
                              KhadimEvent      *event)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (event != NULL);

  add_op (self, KHADIM_STORE_OP_EVENT)->event = khadim_event_ref (event);
}

/**
 * khadim_store_batch_add_artifact:
 * @self: a batch
 * @record: (transfer none): what it is and whose, with its session; the sum is
 *   checked if it is set, and set if it is not
 * @bytes: (nullable) (transfer none): the content; %NULL for what the store has
 *   already under the record's sum
 *
 * Adds an artifact: its content is in its place before the row is.
 */
void
khadim_store_batch_add_artifact (KhadimStoreBatch           *self,
                                 const KhadimArtifactRecord *record,
                                 GBytes                     *bytes)
{
  KhadimStoreOp *op;

  g_return_if_fail (self != NULL);
  g_return_if_fail (record != NULL && record->session_id != NULL);
  g_return_if_fail (bytes != NULL || record->sha256 != NULL);

  op = add_record (self, KHADIM_STORE_OP_ARTIFACT, &_khadim_artifact_shape, record);
  op->bytes = bytes != NULL ? g_bytes_ref (bytes) : NULL;
}

/**
 * khadim_store_batch_put_automation:
 * @self: a batch
 * @record: (transfer none): the automation, with its name
 *
 * Adds an automation or replaces it. No session is needed.
 */
void
khadim_store_batch_put_automation (KhadimStoreBatch             *self,
                                   const KhadimAutomationRecord *record)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (record != NULL && record->name != NULL);

  add_record (self, KHADIM_STORE_OP_AUTOMATION, &_khadim_automation_shape, record);
}

/**
 * khadim_store_batch_add_command:
 * @self: a batch
 * @record: (transfer none): the command, with its session and kind; the store
 *   gives the id
 *
 * Adds a command for the owner of a session. Every process may.
 */
void
khadim_store_batch_add_command (KhadimStoreBatch          *self,
                                const KhadimCommandRecord *record)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (record != NULL && record->session_id != NULL && record->kind != NULL);

  add_record (self, KHADIM_STORE_OP_COMMAND, &_khadim_command_shape, record);
}

/**
 * khadim_store_batch_command_handled:
 * @self: a batch
 * @command_id: a command of a session that this engine owns
 * @time_us: when, in microseconds since 1970 UTC
 *
 * Marks a command as handled, together with what it led to.
 */
void
khadim_store_batch_command_handled (KhadimStoreBatch *self,
                                    gint64            command_id,
                                    gint64            time_us)
{
  KhadimStoreOp *op;

  g_return_if_fail (self != NULL);
  g_return_if_fail (time_us != 0);

  op = add_op (self, KHADIM_STORE_OP_COMMAND_HANDLED);
  op->command_id = command_id;
  op->time_us = time_us;
}
