/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <sqlite3.h>

#include "engine/event/khadim-event.h"
#include "engine/store/khadim-records-private.h"

G_BEGIN_DECLS

/* A connection with its prepared statements. One thread at a time. */
typedef struct _KhadimDb KhadimDb;

/* A statement in use: given back when it goes out of scope, so that no read
 * transaction stays open. */
typedef sqlite3_stmt KhadimStatement;

typedef enum {
  KHADIM_DB_READ_WRITE,
  KHADIM_DB_QUERY_ONLY,
  KHADIM_DB_CREATE,
} KhadimDbMode;

KhadimDb        *_khadim_db_open         (const char               *path,
                                          KhadimDbMode              mode,
                                          GError                  **error);
void             _khadim_db_free         (KhadimDb                 *self);
sqlite3         *_khadim_db_get_handle   (KhadimDb                 *self);
const char      *_khadim_db_get_path     (KhadimDb                 *self);
gboolean         _khadim_db_in_transaction (KhadimDb               *self);

gboolean         _khadim_db_set_error    (KhadimDb                 *self,
                                          const char               *what,
                                          GError                  **error);
gboolean         _khadim_db_exec         (KhadimDb                 *self,
                                          const char               *sql,
                                          GError                  **error);
gboolean         _khadim_db_get_int      (KhadimDb                 *self,
                                          const char               *sql,
                                          gint64                   *out_value,
                                          GError                  **error);

KhadimStatement *_khadim_db_prepare      (KhadimDb                 *self,
                                          const char               *static_sql,
                                          GError                  **error);
void             _khadim_db_release      (KhadimStatement          *statement);
gboolean         _khadim_db_run          (KhadimDb                 *self,
                                          KhadimStatement          *statement,
                                          GError                  **error);
gboolean         _khadim_db_next         (KhadimDb                 *self,
                                          KhadimStatement          *statement,
                                          gboolean                 *out_row,
                                          GError                  **error);

void             _khadim_db_bind_text    (KhadimStatement          *statement,
                                          int                       index,
                                          const char               *text);
void             _khadim_db_bind_json    (KhadimStatement          *statement,
                                          int                       index,
                                          JsonNode                 *node);
void             _khadim_db_bind_record  (KhadimStatement          *statement,
                                          const KhadimRecordShape  *shape,
                                          gconstpointer             record);

char            *_khadim_db_column_text  (KhadimStatement          *statement,
                                          int                       index);
gboolean         _khadim_db_column_json  (KhadimStatement          *statement,
                                          int                       index,
                                          JsonNode                **out_node,
                                          GError                  **error);
gpointer         _khadim_db_read_record  (KhadimStatement          *statement,
                                          const KhadimRecordShape  *shape,
                                          GError                  **error);
KhadimEvent     *_khadim_db_read_event   (KhadimStatement          *statement,
                                          GError                  **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimDb, _khadim_db_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimStatement, _khadim_db_release)

G_END_DECLS
