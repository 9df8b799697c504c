/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What records are made of, described once: copying, freeing, writing to rows
 * and reading from rows all follow these shapes. */

#pragma once

#include "engine/store/khadim-records.h"

G_BEGIN_DECLS

typedef enum {
  KHADIM_FIELD_STRING,          /* char *, TEXT or NULL */
  KHADIM_FIELD_DOCUMENT,        /* char *, in a table of its own: it never changes */
  KHADIM_FIELD_JSON,            /* JsonNode *, TEXT or NULL */
  KHADIM_FIELD_INT64,           /* gint64, INTEGER */
  KHADIM_FIELD_INT,             /* int, INTEGER */
  KHADIM_FIELD_SESSION_STATE,   /* TEXT */
  KHADIM_FIELD_CALL_STATE,      /* TEXT */
} KhadimFieldKind;

typedef struct
{
  const char      *column;
  KhadimFieldKind  kind;
  guint            offset;
} KhadimField;

typedef struct
{
  const char        *table;
  const KhadimField *fields;
  guint              n_fields;
  gsize              size;
} KhadimRecordShape;

extern const KhadimRecordShape _khadim_session_shape;
extern const KhadimRecordShape _khadim_run_shape;
extern const KhadimRecordShape _khadim_tool_call_shape;
extern const KhadimRecordShape _khadim_artifact_shape;
extern const KhadimRecordShape _khadim_command_shape;
extern const KhadimRecordShape _khadim_automation_shape;

gpointer _khadim_record_new  (const KhadimRecordShape *shape);
gpointer _khadim_record_copy (const KhadimRecordShape *shape,
                              gconstpointer            record);
void     _khadim_record_free (const KhadimRecordShape *shape,
                              gpointer                 record);

#define KHADIM_FIELD_AT(Type, record, field) \
  ((Type *) (gpointer) ((char *) (record) + (field)->offset))
#define KHADIM_FIELD_AT_CONST(Type, record, field) \
  ((Type const *) (gconstpointer) ((const char *) (record) + (field)->offset))

G_END_DECLS
