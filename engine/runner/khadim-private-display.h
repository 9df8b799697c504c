/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* A virtual X display with a window manager and buses of its own, which a
 * supervisor, the program khadim-display, holds for one run. */

#pragma once

#include <gio/gio.h>

#include "engine/base/khadim-error.h"

G_BEGIN_DECLS

#define KHADIM_PRIVATE_DISPLAY_MIN_PX 200
#define KHADIM_PRIVATE_DISPLAY_MAX_PX 8192
/* How long a display whose run was killed waits for the next one */
#define KHADIM_PRIVATE_DISPLAY_UNCLAIMED_S 600

/**
 * KhadimPrivateDisplaySpec:
 * @width_px: of the screen, 0 for 1920
 * @height_px: of the screen, 0 for 1080
 * @unclaimed_s: seconds that the display stays after its command was killed,
 *   0 for %KHADIM_PRIVATE_DISPLAY_UNCLAIMED_S
 *
 * What a new display is to be like.
 */
typedef struct {
  int width_px;
  int height_px;
  guint unclaimed_s;
} KhadimPrivateDisplaySpec;

#define KHADIM_TYPE_PRIVATE_DISPLAY (khadim_private_display_get_type ())
typedef struct _KhadimPrivateDisplay KhadimPrivateDisplay;

GType                 khadim_private_display_get_type       (void);
KhadimPrivateDisplay *khadim_private_display_copy           (KhadimPrivateDisplay           *self);
void                  khadim_private_display_free           (KhadimPrivateDisplay           *self);

GSubprocess          *khadim_private_display_spawn          (const KhadimPrivateDisplaySpec *spec,
                                                             const char *const              *argv,
                                                             GSubprocessFlags                flags,
                                                             GError                        **error);
GSubprocess          *khadim_private_display_attach         (const char                     *id,
                                                             const char *const              *argv,
                                                             GSubprocessFlags                flags,
                                                             GError                        **error);
GStrv                 khadim_private_display_build_command  (const KhadimPrivateDisplaySpec *spec,
                                                             const char                     *id,
                                                             const char *const              *argv,
                                                             GError                        **error);
KhadimPrivateDisplay *khadim_private_display_lookup         (const char                     *id,
                                                             GError                        **error);
GPtrArray            *khadim_private_display_list           (GError                        **error);
gboolean              khadim_private_display_note_session   (const char                     *id,
                                                             const char                     *session,
                                                             GError                        **error);
KhadimPrivateDisplay *khadim_private_display_find_session   (const char                     *session,
                                                             GError                        **error);

const char           *khadim_private_display_get_id         (KhadimPrivateDisplay           *self);
const char           *khadim_private_display_get_name       (KhadimPrivateDisplay           *self);
const char           *khadim_private_display_get_authority  (KhadimPrivateDisplay           *self);
const char           *khadim_private_display_get_bus        (KhadimPrivateDisplay           *self);
int                   khadim_private_display_get_width_px   (KhadimPrivateDisplay           *self);
int                   khadim_private_display_get_height_px  (KhadimPrivateDisplay           *self);
int                   khadim_private_display_get_supervisor (KhadimPrivateDisplay           *self);
int                   khadim_private_display_get_child      (KhadimPrivateDisplay           *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimPrivateDisplay, khadim_private_display_free)

G_END_DECLS
