/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* The tools of the domains, and what they share. Each runs on the desk's
 * thread and never returns NULL. */

#pragma once

#include "rpa/tools/khadim-rpa-finder-private.h"

G_BEGIN_DECLS

/* Pictures for reports: decisions of the store allow at most 1600 px. */
#define KHADIM_RPA_REPORT_MAX_PX 1280
#define KHADIM_RPA_REPORT_QUALITY 75

/* Finds the place of a call that has a `target`. On a miss the failure, with
 * the screen and the nearest places, is in @out_failure. */
gboolean          _khadim_rpa_locate          (KhadimRpaDesk     *desk,
                                               KhadimToolCall    *call,
                                               KhadimRpaPlace    *out_place,
                                               KhadimToolResult **out_failure,
                                               GCancellable      *cancellable);
gboolean          _khadim_rpa_locate_member   (KhadimRpaDesk     *desk,
                                               KhadimToolCall    *call,
                                               const char        *member,
                                               KhadimRpaPlace    *out_place,
                                               KhadimToolResult **out_failure,
                                               GCancellable      *cancellable);
/* The answer of a tool that acted at @place (nullable), or its failure when
 * @error is set; takes @error and @value. */
KhadimToolResult *_khadim_rpa_answer          (KhadimRpaPlace    *place,
                                               JsonNode          *value,
                                               GError            *error);
gboolean          _khadim_rpa_raise           (KhadimRpaDesk     *desk,
                                               guint32            window,
                                               GCancellable      *cancellable,
                                               GError           **error);
guint             _khadim_rpa_get_ms          (JsonObject        *args,
                                               const char        *member,
                                               guint              fallback);
/* The end of a call that was interrupted after it had begun to act: done, or
 * sealed; NULL when it had not begun. */
KhadimToolResult *_khadim_rpa_seal            (KhadimToolCall    *call);
KhadimToolResult *_khadim_rpa_dry             (KhadimRpaPlace    *place,
                                               const char        *would);

KhadimToolResult *_khadim_rpa_run_look        (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_find        (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_wait_for    (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_read        (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_tree        (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_pointer     (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_click       (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_move        (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_press       (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_release     (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_drag        (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_scroll      (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_type        (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_key         (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_key_down    (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_key_up      (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_select_text (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_invoke      (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);
KhadimToolResult *_khadim_rpa_run_set_value   (KhadimRpaDesk *desk, KhadimToolCall *call,
                                               GCancellable *cancellable);

G_END_DECLS
