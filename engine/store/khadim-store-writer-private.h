/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "engine/store/khadim-db-private.h"
#include "engine/store/khadim-store-batch-private.h"

G_BEGIN_DECLS

typedef enum {
  KHADIM_STORE_JOB_COMMIT,
  KHADIM_STORE_JOB_CLAIM,
  KHADIM_STORE_JOB_RELEASE,
} KhadimStoreJobKind;

/* What a caller waits for. */
typedef struct
{
  KhadimStoreJobKind kind;
  KhadimDurability durability;
  gboolean done;              /* guarded by the lock of the queue */

  /* Owned */
  KhadimStoreBatch *batch;    /* of a COMMIT */
  char *session_id;           /* of the others */
  GTask *task;                /* NULL if the caller blocks */
  GPtrArray *made_sums;       /* contents that it put into place */
  GError *error;              /* NULL if all went well */
} KhadimStoreJob;

/* The connection that writes, used by the store's thread alone. */
typedef struct _KhadimStoreWriter KhadimStoreWriter;

KhadimStoreWriter *_khadim_store_writer_new  (KhadimDb           *db,
                                              const char         *owner_id,
                                              const char         *engines_folder,
                                              const char         *artifacts_folder,
                                              const char         *marker_path,
                                              GError            **error);
void               _khadim_store_writer_free (KhadimStoreWriter  *self);
void               _khadim_store_writer_run  (KhadimStoreWriter  *self,
                                              GPtrArray          *jobs);

KhadimStoreJob    *_khadim_store_job_new     (KhadimStoreJobKind  kind);
void               _khadim_store_job_free    (KhadimStoreJob     *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimStoreWriter, _khadim_store_writer_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimStoreJob, _khadim_store_job_free)

G_END_DECLS
