/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

#include "rpa/find/khadim-rpa-picture.h"

G_BEGIN_DECLS

#define KHADIM_RPA_TYPE_WINDOW (khadim_rpa_window_get_type ())

/**
 * KhadimRpaWindow:
 *
 * What a top-level window was like when it was asked. Immutable; may be used
 * from any thread.
 */
typedef struct _KhadimRpaWindow KhadimRpaWindow;

/**
 * KhadimRpaWindowState:
 * @KHADIM_RPA_WINDOW_STATE_ACTIVE: it has the keyboard
 * @KHADIM_RPA_WINDOW_STATE_MINIMIZED: it is iconified
 * @KHADIM_RPA_WINDOW_STATE_MAXIMIZED: it is maximised both ways
 * @KHADIM_RPA_WINDOW_STATE_FULLSCREEN: it covers its monitor
 * @KHADIM_RPA_WINDOW_STATE_ABOVE: it is kept above others
 * @KHADIM_RPA_WINDOW_STATE_MODAL: it is a modal dialog
 * @KHADIM_RPA_WINDOW_STATE_ATTENTION: it asks for attention
 * @KHADIM_RPA_WINDOW_STATE_VISIBLE: it is mapped
 *
 * States of a window, as `_NET_WM_STATE` and the X server tell them.
 */
typedef enum {
  KHADIM_RPA_WINDOW_STATE_ACTIVE     = 1 << 0,
  KHADIM_RPA_WINDOW_STATE_MINIMIZED  = 1 << 1,
  KHADIM_RPA_WINDOW_STATE_MAXIMIZED  = 1 << 2,
  KHADIM_RPA_WINDOW_STATE_FULLSCREEN = 1 << 3,
  KHADIM_RPA_WINDOW_STATE_ABOVE      = 1 << 4,
  KHADIM_RPA_WINDOW_STATE_MODAL      = 1 << 5,
  KHADIM_RPA_WINDOW_STATE_ATTENTION  = 1 << 6,
  KHADIM_RPA_WINDOW_STATE_VISIBLE    = 1 << 7,
} KhadimRpaWindowState;

/**
 * KhadimRpaWindowMatch:
 * @id: only this window; 0 for any
 * @pid: only windows of this process; 0 for any
 * @app: (nullable): only windows whose class or instance is this, in whatever
 *   case; `*` and `?` are wild cards
 * @title: (nullable): only windows with this title; `*` and `?` are wild cards
 * @pids: (nullable) (array zero-terminated=1): only windows of these processes
 *
 * Which windows are meant. All that is given must fit.
 */
typedef struct {
  guint32 id;
  guint32 pid;
  const char *app;
  const char *title;
  const guint32 *pids;
} KhadimRpaWindowMatch;

GType                khadim_rpa_window_get_type        (void);
KhadimRpaWindow     *khadim_rpa_window_ref             (KhadimRpaWindow            *self);
void                 khadim_rpa_window_unref           (KhadimRpaWindow            *self);

guint32              khadim_rpa_window_get_id          (KhadimRpaWindow            *self);
const char          *khadim_rpa_window_get_title       (KhadimRpaWindow            *self);
const char          *khadim_rpa_window_get_class       (KhadimRpaWindow            *self);
const char          *khadim_rpa_window_get_instance    (KhadimRpaWindow            *self);
const char          *khadim_rpa_window_get_window_type (KhadimRpaWindow            *self);
const char          *khadim_rpa_window_get_startup_id  (KhadimRpaWindow            *self);
guint32              khadim_rpa_window_get_pid         (KhadimRpaWindow            *self);
guint32              khadim_rpa_window_get_parent      (KhadimRpaWindow            *self);
int                  khadim_rpa_window_get_desktop     (KhadimRpaWindow            *self);
int                  khadim_rpa_window_get_stacking    (KhadimRpaWindow            *self);
KhadimRpaWindowState khadim_rpa_window_get_state       (KhadimRpaWindow            *self);
void                 khadim_rpa_window_get_client      (KhadimRpaWindow            *self,
                                                        KhadimRpaRect         *out_client);
void                 khadim_rpa_window_get_frame       (KhadimRpaWindow            *self,
                                                        KhadimRpaRect         *out_frame);
gboolean             khadim_rpa_window_matches         (KhadimRpaWindow            *self,
                                                        const KhadimRpaWindowMatch *match);
JsonNode            *khadim_rpa_window_to_json         (KhadimRpaWindow            *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimRpaWindow, khadim_rpa_window_unref)

G_END_DECLS
