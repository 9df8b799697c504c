/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <X11/Xlib.h>
#include <glib.h>

#include "rpa/screen/khadim-rpa-display.h"

G_BEGIN_DECLS

/* What is offered on a selection: bytes for each target. */
typedef struct {
  GArray *targets;  /* of Atom */
  GPtrArray *bytes; /* of GBytes, one a target */
} KhadimRpaOffer;

KhadimRpaOffer *_khadim_rpa_offer_new  (void);
void            _khadim_rpa_offer_add  (KhadimRpaOffer *self,
                                        Atom            target,
                                        GBytes         *bytes);
GBytes         *_khadim_rpa_offer_find (KhadimRpaOffer *self,
                                        Atom            target);
void            _khadim_rpa_offer_free (KhadimRpaOffer *self);

/* Serves what is offered to whoever asks. All of it on the thread of the
 * display. */
typedef struct _KhadimRpaServing KhadimRpaServing;

KhadimRpaServing *_khadim_rpa_serving_new      (KhadimRpaDisplay *display,
                                                Window            window);
void              _khadim_rpa_serving_free     (KhadimRpaServing *self);
gboolean          _khadim_rpa_serving_offer    (KhadimRpaServing *self,
                                                Atom              selection,
                                                KhadimRpaOffer   *offer);
void              _khadim_rpa_serving_withdraw (KhadimRpaServing *self,
                                                Atom              selection);
gboolean          _khadim_rpa_serving_handle   (KhadimRpaServing *self,
                                                XEvent           *event);
gboolean          _khadim_rpa_serving_has_fed  (KhadimRpaServing *self,
                                                Window            window);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimRpaOffer, _khadim_rpa_offer_free)

G_END_DECLS
