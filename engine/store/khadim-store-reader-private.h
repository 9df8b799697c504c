/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/store/khadim-db-private.h"

G_BEGIN_DECLS

/* The connection that reads: any thread, one at a time, never waiting for the
 * writer. */
typedef struct _KhadimStoreReader KhadimStoreReader;

typedef enum {
  KHADIM_STORE_QUERY_SESSION,           /* text: id */
  KHADIM_STORE_QUERY_SESSIONS,          /* limit */
  KHADIM_STORE_QUERY_SESSIONS_OF,       /* text: automation; limit */
  KHADIM_STORE_QUERY_CHILDREN,          /* text: session; limit */
  KHADIM_STORE_QUERY_CALLS,             /* text: session; limit */
  KHADIM_STORE_QUERY_RUNS,              /* text: session; limit */
  KHADIM_STORE_QUERY_ARTIFACTS,         /* text: session; limit */
  KHADIM_STORE_QUERY_COMMANDS,          /* limit */
  KHADIM_STORE_QUERY_COMMANDS_OF,       /* text: session; limit */
  KHADIM_STORE_QUERY_COMMANDS_FOR,      /* text: owner; limit */
  KHADIM_STORE_QUERY_AUTOMATIONS,       /* limit */
} KhadimStoreQuery;

KhadimStoreReader *_khadim_store_reader_new          (const char         *path,
                                                      GError            **error);
void               _khadim_store_reader_free         (KhadimStoreReader  *self);

GPtrArray         *_khadim_store_reader_list         (KhadimStoreReader  *self,
                                                      KhadimStoreQuery    query,
                                                      const char         *text,
                                                      guint               limit,
                                                      GError            **error);
GPtrArray         *_khadim_store_reader_list_events  (KhadimStoreReader  *self,
                                                      const char         *session_id,
                                                      gint64              since_seq,
                                                      guint               limit,
                                                      GError            **error);
gint64             _khadim_store_reader_get_last_seq (KhadimStoreReader  *self,
                                                      const char         *session_id,
                                                      GError            **error);
gboolean           _khadim_store_reader_get_version  (KhadimStoreReader  *self,
                                                      gint64             *out_version,
                                                      GError            **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimStoreReader, _khadim_store_reader_free)

G_END_DECLS
