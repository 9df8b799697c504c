/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-store"

#include "config.h"

#include "engine/store/khadim-store.h"

/* KhadimStore: what keeps sessions, behind one interface. */
G_DEFINE_ABSTRACT_TYPE (KhadimStore, khadim_store, G_TYPE_OBJECT)
G_DEFINE_QUARK (khadim-store-error-quark, khadim_store_error)

#define HOME_VARIABLE "KHADIM_HOME"
#define FOLDER_NAME "khadim"

static void
khadim_store_class_init (KhadimStoreClass *klass)
{
}

static void
khadim_store_init (KhadimStore *self)
{
}

/**
 * khadim_store_commit_async:
 * @self: a store
 * @batch: (transfer full): what becomes durable, all or nothing
 * @durability: what it has to outlive
 * @callback: (scope async): called on the caller's thread-default context when
 *   the rows are durable or refused; in the order of the commits
 * @user_data: data of @callback
 *
 * Hands rows to the store's thread. Commits that wait at the same moment share
 * one flush; one that is refused does not take the others with it. Any thread
 * that runs its thread-default context.
 */
void
khadim_store_commit_async (KhadimStore         *self,
                           KhadimStoreBatch    *batch,
                           KhadimDurability     durability,
                           GAsyncReadyCallback  callback,
                           gpointer             user_data)
{
  GTask *task;

  g_return_if_fail (KHADIM_IS_STORE (self));
  g_return_if_fail (batch != NULL);

  task = g_task_new (self, NULL, callback, user_data);
  g_task_set_source_tag (task, khadim_store_commit_async);
  g_task_set_name (task, "khadim_store_commit_async");
  KHADIM_STORE_GET_CLASS (self)->commit (self, batch, durability, task);
}

/**
 * khadim_store_commit_finish:
 * @self: a store
 * @result: what the callback got
 * @error: return location for a %KHADIM_STORE_ERROR: `FULL`, `BUSY`, `CORRUPT`,
 *   `NOT_OWNER`, `NOT_FOUND` (the session of a row is unknown) or `FAILED` (a
 *   gap in the events, a position used twice)
 *
 * Returns: whether the batch is durable; if not, nothing of it was written
 */
gboolean
khadim_store_commit_finish (KhadimStore   *self,
                            GAsyncResult  *result,
                            GError       **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), FALSE);
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, khadim_store_commit_async), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

/**
 * khadim_store_commit_sync:
 * @self: a store
 * @batch: (transfer full): what becomes durable, all or nothing
 * @durability: what it has to outlive
 * @error: return location for a %KHADIM_STORE_ERROR,
 *   see khadim_store_commit_finish()
 *
 * Commits after what was handed over before, and waits. For tests and the
 * command line; any thread.
 *
 * Returns: whether the batch is durable; if not, nothing of it was written
 */
gboolean
khadim_store_commit_sync (KhadimStore       *self,
                          KhadimStoreBatch  *batch,
                          KhadimDurability   durability,
                          GError           **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), FALSE);
  g_return_val_if_fail (batch != NULL, FALSE);

  return KHADIM_STORE_GET_CLASS (self)->commit_sync (self, batch, durability, error);
}

/**
 * khadim_store_get_owner_id:
 * @self: a store
 *
 * The name of this engine in the `owner` of sessions. Any thread.
 *
 * Returns: (transfer none): a UUID
 */
const char *
khadim_store_get_owner_id (KhadimStore *self)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), NULL);

  return KHADIM_STORE_GET_CLASS (self)->get_owner_id (self);
}

/**
 * khadim_store_claim_session:
 * @self: a store
 * @session_id: a session
 * @error: return location for a %KHADIM_STORE_ERROR: `NOT_FOUND`,
 *   `NOT_OWNER` (a live engine has it), or what a commit can say
 *
 * Makes this engine the owner of a session that belongs to nobody, or to an
 * engine that has ended. Of several processes that try, one succeeds. Waits
 * for the store's thread; any thread.
 *
 * Returns: whether this engine owns the session now
 */
gboolean
khadim_store_claim_session (KhadimStore  *self,
                            const char   *session_id,
                            GError      **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), FALSE);
  g_return_val_if_fail (session_id != NULL, FALSE);

  return KHADIM_STORE_GET_CLASS (self)->claim_session (self, session_id, error);
}

/**
 * khadim_store_get_session:
 * @self: a store
 * @session_id: a session
 * @error: return location for a %KHADIM_STORE_ERROR: `NOT_FOUND` …
 *
 * Reads are consistent, see every commit that has completed, and never wait for
 * the writer. Any thread.
 *
 * Returns: (transfer full): the session, or %NULL
 */
KhadimSessionRecord *
khadim_store_get_session (KhadimStore  *self,
                          const char   *session_id,
                          GError      **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), NULL);
  g_return_val_if_fail (session_id != NULL, NULL);

  return KHADIM_STORE_GET_CLASS (self)->get_session (self, session_id, error);
}

/**
 * khadim_store_list_sessions:
 * @self: a store
 * @automation: (nullable): only sessions of this automation
 * @limit: at most so many, 0 for all
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Sessions that no other session began, newest first: see
 * khadim_store_list_children(). Any thread.
 *
 * Returns: (transfer full) (element-type KhadimSessionRecord): the sessions
 */
GPtrArray *
khadim_store_list_sessions (KhadimStore  *self,
                            const char   *automation,
                            guint         limit,
                            GError      **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), NULL);

  return KHADIM_STORE_GET_CLASS (self)->list_sessions (self, automation, limit, error);
}

/**
 * khadim_store_list_children:
 * @self: a store
 * @parent_session_id: a session
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Sessions that a session began, oldest first. Any thread.
 *
 * Returns: (transfer full) (element-type KhadimSessionRecord): the sessions
 */
GPtrArray *
khadim_store_list_children (KhadimStore  *self,
                            const char   *parent_session_id,
                            GError      **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), NULL);
  g_return_val_if_fail (parent_session_id != NULL, NULL);

  return KHADIM_STORE_GET_CLASS (self)->list_children (self, parent_session_id, error);
}

/**
 * khadim_store_list_calls:
 * @self: a store
 * @session_id: a session
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * The tool calls of a session in the order in which they were first put. Any
 * thread.
 *
 * Returns: (transfer full) (element-type KhadimToolCallRecord): the calls
 */
GPtrArray *
khadim_store_list_calls (KhadimStore  *self,
                         const char   *session_id,
                         GError      **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), NULL);
  g_return_val_if_fail (session_id != NULL, NULL);

  return KHADIM_STORE_GET_CLASS (self)->list_calls (self, session_id, error);
}

/**
 * khadim_store_list_runs:
 * @self: a store
 * @session_id: a session
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * The runs of a session, oldest first. Any thread.
 *
 * Returns: (transfer full) (element-type KhadimRunRecord): the runs
 */
GPtrArray *
khadim_store_list_runs (KhadimStore  *self,
                        const char   *session_id,
                        GError      **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), NULL);
  g_return_val_if_fail (session_id != NULL, NULL);

  return KHADIM_STORE_GET_CLASS (self)->list_runs (self, session_id, error);
}

/**
 * khadim_store_list_events:
 * @self: a store
 * @session_id: a session
 * @since_seq: the last number that the caller has, 0 for none
 * @limit: at most so many, 0 for all
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * The events after @since_seq, in order. Any thread.
 *
 * Returns: (transfer full) (element-type KhadimEvent): the events
 */
GPtrArray *
khadim_store_list_events (KhadimStore  *self,
                          const char   *session_id,
                          gint64        since_seq,
                          guint         limit,
                          GError      **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), NULL);
  g_return_val_if_fail (session_id != NULL, NULL);

  return KHADIM_STORE_GET_CLASS (self)->list_events (self, session_id, since_seq, limit, error);
}

/**
 * khadim_store_get_last_seq:
 * @self: a store
 * @session_id: a session
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * The number of the last event. Any thread.
 *
 * Returns: the number, 0 if there is no event, -1 on failure
 */
gint64
khadim_store_get_last_seq (KhadimStore  *self,
                           const char   *session_id,
                           GError      **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), -1);
  g_return_val_if_fail (session_id != NULL, -1);

  return KHADIM_STORE_GET_CLASS (self)->get_last_seq (self, session_id, error);
}

/**
 * khadim_store_list_artifacts:
 * @self: a store
 * @session_id: a session
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * What the calls of a session made, in the order in which it was added. Any
 * thread.
 *
 * Returns: (transfer full) (element-type KhadimArtifactRecord): the artifacts
 */
GPtrArray *
khadim_store_list_artifacts (KhadimStore  *self,
                             const char   *session_id,
                             GError      **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), NULL);
  g_return_val_if_fail (session_id != NULL, NULL);

  return KHADIM_STORE_GET_CLASS (self)->list_artifacts (self, session_id, error);
}

/**
 * khadim_store_get_artifact_path:
 * @self: a store
 * @sha256: the sum of an artifact, 64 lower-case hexadecimal digits
 *
 * Where the content lies; whether it does is not looked at. Any thread.
 *
 * Returns: (nullable) (transfer full): an absolute path, %NULL if @sha256 is not a
 *   sum
 */
char *
khadim_store_get_artifact_path (KhadimStore *self,
                                const char  *sha256)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), NULL);
  g_return_val_if_fail (sha256 != NULL, NULL);

  return KHADIM_STORE_GET_CLASS (self)->get_artifact_path (self, sha256);
}

/**
 * khadim_store_list_commands:
 * @self: a store
 * @session_id: (nullable): a session, %NULL for all
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * The commands that nobody has handled yet, oldest first. Any thread.
 *
 * Returns: (transfer full) (element-type KhadimCommandRecord): the commands
 */
GPtrArray *
khadim_store_list_commands (KhadimStore  *self,
                            const char   *session_id,
                            GError      **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), NULL);

  return KHADIM_STORE_GET_CLASS (self)->list_commands (self, session_id, error);
}

/**
 * khadim_store_list_automations:
 * @self: a store
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * The automations by name. Any thread.
 *
 * Returns: (transfer full) (element-type KhadimAutomationRecord): the automations
 */
GPtrArray *
khadim_store_list_automations (KhadimStore  *self,
                               GError      **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), NULL);

  return KHADIM_STORE_GET_CLASS (self)->list_automations (self, error);
}

/**
 * khadim_store_release_session:
 * @self: a store
 * @session_id: a session
 * @error: return location for a %KHADIM_STORE_ERROR: `NOT_OWNER`,
 *   `NOT_FOUND`, or what a commit can say
 *
 * Gives a session up, so that another engine can claim it. Waits for the
 * store's thread; any thread.
 *
 * Returns: whether the session belongs to nobody now
 */
gboolean
khadim_store_release_session (KhadimStore  *self,
                              const char   *session_id,
                              GError      **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), FALSE);
  g_return_val_if_fail (session_id != NULL, FALSE);

  return KHADIM_STORE_GET_CLASS (self)->release_session (self, session_id, error);
}

/**
 * khadim_store_is_session_live:
 * @self: a store
 * @record: a session
 *
 * Whether the owner that @record names still runs, this engine or another.
 * Any thread.
 *
 * Returns: whether somebody holds the owner's lock
 */
gboolean
khadim_store_is_session_live (KhadimStore               *self,
                              const KhadimSessionRecord *record)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), FALSE);
  g_return_val_if_fail (record != NULL, FALSE);

  if (record->owner == NULL)
    return FALSE;

  return KHADIM_STORE_GET_CLASS (self)->is_owner_live (self, record->owner);
}

/**
 * khadim_store_watch_commands:
 * @self: a store
 * @func: (scope notified) (closure user_data) (destroy destroy): gets commands
 * @user_data: data of @func
 * @destroy: (nullable): frees @user_data when the watch ends, also on failure
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Calls @func on the caller's thread-default context for every unhandled
 * command of a session that this engine owns: those that wait already, those of
 * sessions that it claims later, and those that other processes add. Each once,
 * in order; a command stays unhandled until
 * khadim_store_batch_command_handled() is committed.
 *
 * Returns: a number for khadim_store_unwatch(), 0 on failure
 */
guint
khadim_store_watch_commands (KhadimStore             *self,
                             KhadimStoreCommandFunc   func,
                             gpointer                 user_data,
                             GDestroyNotify           destroy,
                             GError                 **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), 0);
  g_return_val_if_fail (func != NULL, 0);

  return KHADIM_STORE_GET_CLASS (self)->watch (self, func, NULL, user_data, destroy, error);
}

/**
 * khadim_store_watch_changes:
 * @self: a store
 * @func: (scope notified) (closure user_data) (destroy destroy): told of changes
 * @user_data: data of @func
 * @destroy: (nullable): frees @user_data when the watch ends, also on failure
 * @error: return location for a %KHADIM_STORE_ERROR
 *
 * Calls @func on the caller's thread-default context when this or another
 * process has committed something. Several commits may give one call; the caller
 * reads what is new, such as the events after the last one that it has.
 *
 * Returns: a number for khadim_store_unwatch(), 0 on failure
 */
guint
khadim_store_watch_changes (KhadimStore             *self,
                            KhadimStoreChangedFunc   func,
                            gpointer                 user_data,
                            GDestroyNotify           destroy,
                            GError                 **error)
{
  g_return_val_if_fail (KHADIM_IS_STORE (self), 0);
  g_return_val_if_fail (func != NULL, 0);

  return KHADIM_STORE_GET_CLASS (self)->watch (self, NULL, func, user_data, destroy, error);
}

/**
 * khadim_store_unwatch:
 * @self: a store
 * @watch_id: the number of a watch
 *
 * Ends a watch. On the thread that began it.
 */
void
khadim_store_unwatch (KhadimStore *self,
                      guint        watch_id)
{
  g_return_if_fail (KHADIM_IS_STORE (self));
  g_return_if_fail (watch_id != 0);

  KHADIM_STORE_GET_CLASS (self)->unwatch (self, watch_id);
}

/**
 * khadim_store_default_folder:
 *
 * Where the store of this person lies: `$KHADIM_HOME`, or `khadim` in
 * `$XDG_DATA_HOME` (XDG Base Directory Specification). Any thread.
 *
 * Returns: (transfer full): a path
 */
char *
khadim_store_default_folder (void)
{
  const char *home = g_getenv (HOME_VARIABLE);

  if (home != NULL && *home != '\0')
    return g_canonicalize_filename (home, NULL);

  return g_build_filename (g_get_user_data_dir (), FOLDER_NAME, NULL);
}
