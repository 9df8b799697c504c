/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "engine/automation/khadim-automation.h"
#include "engine/event/khadim-event.h"
#include "engine/session/khadim-engine.h"

G_BEGIN_DECLS

/**
 * KhadimOutcome:
 * @KHADIM_OUTCOME_COMPLETED: everything was done
 * @KHADIM_OUTCOME_FAILED: an error ended it
 * @KHADIM_OUTCOME_INTERRUPTED: a person stopped it
 * @KHADIM_OUTCOME_PARKED: it waits for an answer and can be resumed
 * @KHADIM_OUTCOME_BUDGET: its budget is used up
 *
 * How a session's run came to its end, or to rest.
 */
typedef enum {
  KHADIM_OUTCOME_COMPLETED,
  KHADIM_OUTCOME_FAILED,
  KHADIM_OUTCOME_INTERRUPTED,
  KHADIM_OUTCOME_PARKED,
  KHADIM_OUTCOME_BUDGET,
} KhadimOutcome;

#define KHADIM_TYPE_SESSION (khadim_session_get_type ())
G_DECLARE_FINAL_TYPE (KhadimSession, khadim_session, KHADIM, SESSION, GObject)

/**
 * KhadimSessionSpec:
 * @work_dir: (nullable): the run's work folder, absolute; the current folder
 *   by default
 * @inputs: (nullable): the inputs, completed by
 *   khadim_automation_complete_inputs()
 * @from_step: (nullable): the id of the top step to begin with
 * @dry_run: whether nothing is to be changed
 * @trigger: (nullable): what asked for the run; "person" by default
 * @display: (nullable): which display it plays on, for the record
 *
 * What a new session is to play, besides its automation.
 */
typedef struct {
  const char *work_dir;
  JsonNode   *inputs;
  const char *from_step;
  gboolean    dry_run;
  const char *trigger;
  const char *display;
} KhadimSessionSpec;

typedef void (*KhadimEventFunc) (KhadimEvent *event,
                                 gpointer     user_data);

KhadimSession *khadim_session_new         (KhadimEngine             *engine,
                                           KhadimAutomation         *automation,
                                           const KhadimSessionSpec  *spec);
KhadimSession *khadim_session_open        (KhadimEngine             *engine,
                                           const char               *session_id,
                                           GError                  **error);
const char    *khadim_session_get_id      (KhadimSession            *self);
void           khadim_session_subscribe   (KhadimSession            *self,
                                           KhadimChannel             channels,
                                           gint64                    since_seq,
                                           KhadimEventFunc           func,
                                           gpointer                  user_data,
                                           GDestroyNotify            destroy);
void           khadim_session_run_async   (KhadimSession            *self,
                                           GCancellable             *cancellable,
                                           GAsyncReadyCallback       callback,
                                           gpointer                  user_data);
gboolean       khadim_session_run_finish  (KhadimSession            *self,
                                           GAsyncResult             *result,
                                           KhadimOutcome            *out_outcome,
                                           GError                  **error);
void           khadim_session_stop        (KhadimSession            *self);
JsonNode      *khadim_session_get_output  (KhadimSession            *self);
const char    *khadim_session_get_error_code    (KhadimSession      *self);
const char    *khadim_session_get_error_message (KhadimSession      *self);

G_END_DECLS
