/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

#include "engine/base/khadim-types.h"

G_BEGIN_DECLS

/**
 * KhadimChannel:
 * @KHADIM_CHANNEL_PROGRESS: what a chat view shows
 * @KHADIM_CHANNEL_CONTROL: questions and their answers
 * @KHADIM_CHANNEL_MONITOR: what an observer counts
 *
 * The channels of the event stream, usable as a mask.
 */
typedef enum {
  KHADIM_CHANNEL_PROGRESS = 1 << 0,
  KHADIM_CHANNEL_CONTROL = 1 << 1,
  KHADIM_CHANNEL_MONITOR = 1 << 2,
} KhadimChannel;

#define KHADIM_CHANNEL_ALL \
  (KHADIM_CHANNEL_PROGRESS | KHADIM_CHANNEL_CONTROL | KHADIM_CHANNEL_MONITOR)

const char *khadim_channel_to_string   (KhadimChannel  self);
gboolean    khadim_channel_from_string (const char    *text,
                                        KhadimChannel *out_channel);

#define KHADIM_TYPE_EVENT (khadim_event_get_type ())
GType khadim_event_get_type (void);

KhadimEvent   *khadim_event_new              (const char    *session_id,
                                              gint64         seq,
                                              gint64         time_us,
                                              KhadimChannel  channel,
                                              const char    *event_type,
                                              const char    *content,
                                              JsonNode      *metadata);
KhadimEvent   *khadim_event_ref              (KhadimEvent   *self);
void           khadim_event_unref            (KhadimEvent   *self);
void           khadim_event_set_run          (KhadimEvent   *self,
                                              const char    *run_id,
                                              const char    *workspace_id);

gint64         khadim_event_get_seq          (KhadimEvent   *self);
gint64         khadim_event_get_time_us      (KhadimEvent   *self);
KhadimChannel  khadim_event_get_channel      (KhadimEvent   *self);
const char    *khadim_event_get_event_type   (KhadimEvent   *self);
const char    *khadim_event_get_content      (KhadimEvent   *self);
JsonNode      *khadim_event_get_metadata     (KhadimEvent   *self);
const char    *khadim_event_get_session_id   (KhadimEvent   *self);
const char    *khadim_event_get_run_id       (KhadimEvent   *self);
const char    *khadim_event_get_workspace_id (KhadimEvent   *self);

JsonNode      *khadim_event_to_json          (KhadimEvent   *self);
char          *khadim_event_to_line          (KhadimEvent   *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimEvent, khadim_event_unref)

G_END_DECLS
