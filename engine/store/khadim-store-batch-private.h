/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/store/khadim-records-private.h"
#include "engine/store/khadim-store.h"

G_BEGIN_DECLS

typedef enum {
  KHADIM_STORE_OP_SESSION,
  KHADIM_STORE_OP_RUN,
  KHADIM_STORE_OP_CALL,
  KHADIM_STORE_OP_EVENT,
  KHADIM_STORE_OP_ARTIFACT,
  KHADIM_STORE_OP_AUTOMATION,
  KHADIM_STORE_OP_COMMAND,
  KHADIM_STORE_OP_COMMAND_HANDLED,
} KhadimStoreOpKind;

/* One row of a batch. */
typedef struct
{
  KhadimStoreOpKind kind;

  /* Owned: of the kind's type, NULL for EVENT and COMMAND_HANDLED */
  gpointer record;
  const KhadimRecordShape *shape;

  KhadimEvent *event;
  GBytes *bytes;
  gint64 command_id;
  gint64 time_us;
} KhadimStoreOp;

GPtrArray *_khadim_store_batch_get_ops (KhadimStoreBatch *self);

G_END_DECLS
