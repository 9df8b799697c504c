/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "engine/base/khadim-types.h"
#include "engine/event/khadim-event.h"
#include "engine/store/khadim-records.h"

G_BEGIN_DECLS

/**
 * KhadimStoreError:
 * @KHADIM_STORE_ERROR_BUSY: another process held the database too long
 * @KHADIM_STORE_ERROR_FULL: the disk is full: nothing was written
 * @KHADIM_STORE_ERROR_CORRUPT: the database is damaged
 * @KHADIM_STORE_ERROR_NEWER: a newer Khadim wrote it
 * @KHADIM_STORE_ERROR_UNSUPPORTED: the place cannot hold a store, such as a
 *   network file system
 * @KHADIM_STORE_ERROR_NOT_OWNER: another live process owns the session
 * @KHADIM_STORE_ERROR_NOT_FOUND: no such row
 * @KHADIM_STORE_ERROR_FAILED: none of the others
 *
 * What a caller of a store can act on.
 */
typedef enum {
  KHADIM_STORE_ERROR_BUSY,
  KHADIM_STORE_ERROR_FULL,
  KHADIM_STORE_ERROR_CORRUPT,
  KHADIM_STORE_ERROR_NEWER,
  KHADIM_STORE_ERROR_UNSUPPORTED,
  KHADIM_STORE_ERROR_NOT_OWNER,
  KHADIM_STORE_ERROR_NOT_FOUND,
  KHADIM_STORE_ERROR_FAILED,
} KhadimStoreError;

#define KHADIM_STORE_ERROR (khadim_store_error_quark ())
GQuark khadim_store_error_quark (void);

/**
 * KhadimDurability:
 * @KHADIM_DURABILITY_PROCESS: survives a kill of the process
 * @KHADIM_DURABILITY_MACHINE: survives a loss of power too
 *
 * What a commit outlives.
 */
typedef enum {
  KHADIM_DURABILITY_PROCESS,
  KHADIM_DURABILITY_MACHINE,
} KhadimDurability;

/* Rows that become durable together or not at all. Not thread-safe; given away
 * (transfer full) to khadim_store_commit_async() and khadim_store_commit_sync(). */
typedef struct _KhadimStoreBatch KhadimStoreBatch;

#define KHADIM_TYPE_STORE_BATCH (khadim_store_batch_get_type ())
GType             khadim_store_batch_get_type         (void);

KhadimStoreBatch *khadim_store_batch_new              (void);
void              khadim_store_batch_free             (KhadimStoreBatch             *self);
gboolean          khadim_store_batch_is_empty         (KhadimStoreBatch             *self);
void              khadim_store_batch_put_session      (KhadimStoreBatch             *self,
                                                       const KhadimSessionRecord    *record);
void              khadim_store_batch_put_run          (KhadimStoreBatch             *self,
                                                       const KhadimRunRecord        *record);
void              khadim_store_batch_put_call         (KhadimStoreBatch             *self,
                                                       const KhadimToolCallRecord   *record);
void              khadim_store_batch_add_event        (KhadimStoreBatch             *self,
                                                       KhadimEvent                  *event);
void              khadim_store_batch_add_artifact     (KhadimStoreBatch             *self,
                                                       const KhadimArtifactRecord   *record,
                                                       GBytes                       *bytes);
void              khadim_store_batch_put_automation   (KhadimStoreBatch             *self,
                                                       const KhadimAutomationRecord *record);
void              khadim_store_batch_add_command      (KhadimStoreBatch             *self,
                                                       const KhadimCommandRecord    *record);
void              khadim_store_batch_command_handled  (KhadimStoreBatch             *self,
                                                       gint64                        command_id,
                                                       gint64                        time_us);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimStoreBatch, khadim_store_batch_free)

/**
 * KhadimStoreCommandFunc:
 * @self: the store
 * @command: (transfer none): a command that nobody has handled yet
 * @user_data: as given to khadim_store_watch_commands()
 *
 * Gets the commands for sessions of this engine.
 */
typedef void (*KhadimStoreCommandFunc) (KhadimStore               *self,
                                        const KhadimCommandRecord *command,
                                        gpointer                   user_data);

/**
 * KhadimStoreChangedFunc:
 * @self: the store
 * @user_data: as given to khadim_store_watch_changes()
 *
 * Told that something may have been committed.
 */
typedef void (*KhadimStoreChangedFunc) (KhadimStore *self,
                                        gpointer     user_data);

#define KHADIM_TYPE_STORE (khadim_store_get_type ())
G_DECLARE_DERIVABLE_TYPE (KhadimStore, khadim_store, KHADIM, STORE, GObject)

/**
 * KhadimStoreClass:
 * @parent_class: the parent
 * @commit: queues @batch (transfer full); @task (transfer full) returns a
 *   boolean when it is durable, tasks in the order of their commits
 * @claim_session: makes this engine the owner unless a live one is
 * @release_session: gives up what this engine owns
 * @is_owner_live: whether the engine of that id still runs
 * @watch: adds a watch on the caller's thread-default context; the number of
 *   the watch, 0 on failure
 * @unwatch: removes a watch
 *
 * What a kind of store implements. The other members are the functions of the
 * same name.
 */
struct _KhadimStoreClass
{
  GObjectClass parent_class;

  void                 (*commit)            (KhadimStore             *self,
                                             KhadimStoreBatch        *batch,
                                             KhadimDurability         durability,
                                             GTask                   *task);
  gboolean             (*commit_sync)       (KhadimStore             *self,
                                             KhadimStoreBatch        *batch,
                                             KhadimDurability         durability,
                                             GError                 **error);

  const char          *(*get_owner_id)      (KhadimStore             *self);
  gboolean             (*claim_session)     (KhadimStore             *self,
                                             const char              *session_id,
                                             GError                 **error);
  gboolean             (*release_session)   (KhadimStore             *self,
                                             const char              *session_id,
                                             GError                 **error);
  gboolean             (*is_owner_live)     (KhadimStore             *self,
                                             const char              *owner_id);

  KhadimSessionRecord *(*get_session)       (KhadimStore             *self,
                                             const char              *session_id,
                                             GError                 **error);
  GPtrArray           *(*list_sessions)     (KhadimStore             *self,
                                             const char              *automation,
                                             guint                    limit,
                                             GError                 **error);
  GPtrArray           *(*list_children)     (KhadimStore             *self,
                                             const char              *parent_session_id,
                                             GError                 **error);
  GPtrArray           *(*list_calls)        (KhadimStore             *self,
                                             const char              *session_id,
                                             GError                 **error);
  GPtrArray           *(*list_runs)         (KhadimStore             *self,
                                             const char              *session_id,
                                             GError                 **error);
  GPtrArray           *(*list_events)       (KhadimStore             *self,
                                             const char              *session_id,
                                             gint64                   since_seq,
                                             guint                    limit,
                                             GError                 **error);
  gint64               (*get_last_seq)      (KhadimStore             *self,
                                             const char              *session_id,
                                             GError                 **error);
  GPtrArray           *(*list_artifacts)    (KhadimStore             *self,
                                             const char              *session_id,
                                             GError                 **error);
  char                *(*get_artifact_path) (KhadimStore             *self,
                                             const char              *sha256);
  GPtrArray           *(*list_commands)     (KhadimStore             *self,
                                             const char              *session_id,
                                             GError                 **error);
  GPtrArray           *(*list_automations)  (KhadimStore             *self,
                                             GError                 **error);

  guint                (*watch)             (KhadimStore             *self,
                                             KhadimStoreCommandFunc   on_command,
                                             KhadimStoreChangedFunc   on_changed,
                                             gpointer                 user_data,
                                             GDestroyNotify           destroy,
                                             GError                 **error);
  void                 (*unwatch)           (KhadimStore             *self,
                                             guint                    watch_id);
};

void                 khadim_store_commit_async    (KhadimStore           *self,
                                                   KhadimStoreBatch      *batch,
                                                   KhadimDurability       durability,
                                                   GAsyncReadyCallback    callback,
                                                   gpointer               user_data);
gboolean             khadim_store_commit_finish   (KhadimStore           *self,
                                                   GAsyncResult          *result,
                                                   GError               **error);
gboolean             khadim_store_commit_sync     (KhadimStore           *self,
                                                   KhadimStoreBatch      *batch,
                                                   KhadimDurability       durability,
                                                   GError               **error);

const char          *khadim_store_get_owner_id    (KhadimStore           *self);
gboolean             khadim_store_claim_session   (KhadimStore           *self,
                                                   const char            *session_id,
                                                   GError               **error);

KhadimSessionRecord *khadim_store_get_session     (KhadimStore           *self,
                                                   const char            *session_id,
                                                   GError               **error);
GPtrArray           *khadim_store_list_sessions   (KhadimStore           *self,
                                                   const char            *automation,
                                                   guint                  limit,
                                                   GError               **error);
GPtrArray           *khadim_store_list_children   (KhadimStore           *self,
                                                   const char            *parent_session_id,
                                                   GError               **error);
GPtrArray           *khadim_store_list_calls      (KhadimStore           *self,
                                                   const char            *session_id,
                                                   GError               **error);
GPtrArray           *khadim_store_list_runs       (KhadimStore           *self,
                                                   const char            *session_id,
                                                   GError               **error);
GPtrArray           *khadim_store_list_events     (KhadimStore           *self,
                                                   const char            *session_id,
                                                   gint64                 since_seq,
                                                   guint                  limit,
                                                   GError               **error);
gint64               khadim_store_get_last_seq    (KhadimStore           *self,
                                                   const char            *session_id,
                                                   GError               **error);
GPtrArray           *khadim_store_list_artifacts  (KhadimStore           *self,
                                                   const char            *session_id,
                                                   GError               **error);
char                *khadim_store_get_artifact_path (KhadimStore         *self,
                                                   const char            *sha256);
GPtrArray           *khadim_store_list_commands   (KhadimStore           *self,
                                                   const char            *session_id,
                                                   GError               **error);
GPtrArray           *khadim_store_list_automations (KhadimStore          *self,
                                                   GError               **error);

gboolean             khadim_store_release_session (KhadimStore           *self,
                                                   const char            *session_id,
                                                   GError               **error);
gboolean             khadim_store_is_session_live (KhadimStore           *self,
                                                   const KhadimSessionRecord *record);

guint                khadim_store_watch_commands  (KhadimStore           *self,
                                                   KhadimStoreCommandFunc func,
                                                   gpointer               user_data,
                                                   GDestroyNotify         destroy,
                                                   GError               **error);
guint                khadim_store_watch_changes   (KhadimStore           *self,
                                                   KhadimStoreChangedFunc func,
                                                   gpointer               user_data,
                                                   GDestroyNotify         destroy,
                                                   GError               **error);
void                 khadim_store_unwatch         (KhadimStore           *self,
                                                   guint                  watch_id);

char                *khadim_store_default_folder  (void);

G_END_DECLS
