/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <X11/Xlib.h>
#include <X11/extensions/XInput2.h>
#include <glib.h>

G_BEGIN_DECLS

/* Another client of the X server, which sees every event of every device as
 * the server tells of it, and can press keys as a person would. */
typedef struct
{
  int type;           /* XI_RawKeyPress and so on */
  guint detail;       /* key or button */
  Time time_ms;       /* of the server */
} JudgeEvent;

typedef struct
{
  Display *x;
  int opcode;
  GArray *events;     /* of JudgeEvent */
  Window window;      /* an own window that can have the keyboard */
} Judge;

Judge    *judge_new          (void);
void      judge_free         (Judge      *self);
void      judge_look         (Judge      *self);
void      judge_forget       (Judge      *self);
guint     judge_count        (Judge      *self,
                              int         type,
                              guint       detail);
Time      judge_last         (Judge      *self,
                              const guint *without,
                              guint       n_without);
KeyCode   judge_key          (Judge      *self,
                              const char *symbol,
                              gboolean    press);
guint     judge_n_keys_down  (Judge      *self);
guint     judge_buttons_down (Judge      *self);
GArray   *judge_keymap       (Judge      *self);
gboolean  judge_has_note     (Judge      *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Judge, judge_free)

G_END_DECLS
