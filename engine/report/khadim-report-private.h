/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What the forms of a report are made from: rows of the store, from which
 * secrets were taken before they were written. */

#pragma once

#include "engine/store/khadim-store.h"

G_BEGIN_DECLS

typedef struct
{
  KhadimStore *store;               /* borrowed */
  KhadimSessionRecord *session;     /* owned */
  GPtrArray *calls;                 /* (owned) of KhadimToolCallRecord, in their order */
  GHashTable *artifacts;            /* (owned) call id → GPtrArray of KhadimArtifactRecord */
  GPtrArray *notes;                 /* (owned) of KhadimEvent: retries and messages */
  guint n_failed;
  guint n_checks_failed;
} KhadimReportData;

void   _khadim_report_data_clear (KhadimReportData *self);
char  *_khadim_report_to_html    (KhadimReportData *self);
char  *_khadim_report_to_junit   (KhadimReportData *self);
char  *_khadim_report_to_json    (KhadimReportData *self);
gint64 _khadim_report_call_us    (const KhadimToolCallRecord *call);
char  *_khadim_report_clip       (const char       *text);
gboolean _khadim_report_is_failed (const KhadimToolCallRecord *call);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KhadimReportData, _khadim_report_data_clear)

G_END_DECLS
