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
  GHashTable *children;             /* (owned) call id → KhadimReportData of what it called */
  GHashTable *items;                /* (owned) turn, as “each[0]” → the key of its item */
  GPtrArray *notes;                 /* (owned) of KhadimEvent: retries and messages */
  guint n_failed;
} KhadimReportData;

void      _khadim_report_data_free       (KhadimReportData           *self);
void      _khadim_report_data_clear      (KhadimReportData           *self);
char     *_khadim_report_to_html         (KhadimReportData           *self);
char     *_khadim_report_to_junit        (KhadimReportData           *self);
char     *_khadim_report_to_json         (KhadimReportData           *self);
gint64    _khadim_report_call_us         (const KhadimToolCallRecord *call);
gboolean  _khadim_report_is_failed       (const KhadimToolCallRecord *call);
char     *_khadim_report_clip            (const char                 *text);
char     *_khadim_report_format_duration (gint64                      us);
void      _khadim_report_add_text        (GString                    *html,
                                          const char                 *text);
void      _khadim_report_add_field       (GString                    *html,
                                          const char                 *name,
                                          const char                 *value);
void      _khadim_report_add_value       (GString                    *html,
                                          const char                 *name,
                                          JsonNode                   *node);
void      _khadim_report_add_steps       (KhadimReportData           *self,
                                          GString                    *html);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KhadimReportData, _khadim_report_data_clear)

G_END_DECLS
