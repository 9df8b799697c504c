/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "rpa/find/khadim-rpa-picture.h"

G_BEGIN_DECLS

/*
 * Pictures for tests, drawn with real fonts: text, buttons, rows that look
 * nearly the same, flat areas, a gradient and a photograph-like noise patch.
 * The same seed gives the same picture.
 */
typedef enum
{
  TEST_SCENE_LIGHT,
  TEST_SCENE_DARK,
} TestSceneTheme;

KhadimRpaPicture *test_scene_desktop (int              width_px,
                                      int              height_px,
                                      guint32          seed,
                                      TestSceneTheme   theme);
KhadimRpaPicture *test_scene_text    (const char      *text,
                                      const char      *font,
                                      int              width_px,
                                      int              height_px,
                                      guint32          ink_rgb,
                                      guint32          ground_rgb);
KhadimRpaPicture *test_scene_noise   (KhadimRpaPicture *picture,
                                      GRand            *rand,
                                      double            sigma);

/* Transparent outside a disc in the middle. */
KhadimRpaPicture *test_scene_disc       (KhadimRpaPicture *picture,
                                         int               radius_px);

/* Other colours outside a disc. */
KhadimRpaPicture *test_scene_new_ground (KhadimRpaPicture *picture,
                                         int               middle_x,
                                         int               middle_y,
                                         int               radius_px);

G_END_DECLS
