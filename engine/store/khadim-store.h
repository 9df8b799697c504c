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

/* Rows that become durable together or not at all. Not thread-safe; handed to
 * the store by khadim_store_commit_async(). */
typedef struct _KhadimStoreBatch KhadimStoreBatch;

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

#define KHADIM_TYPE_STORE (khadim_store_get_type ())
G_DECLARE_DERIVABLE_TYPE (KhadimStore, khadim_store, KHADIM, STORE, GObject)

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

G_END_DECLS
