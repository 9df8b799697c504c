/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* The player walks the steps of an automation with a stack of frames of its
 * own instead of C's: a frame's `run` is called when it is on top, with what
 * became of the frame that was above it, and pushes a frame, pops itself, or
 * waits for something that is not there yet. */

#pragma once

#include "engine/script/khadim-script.h"
#include "engine/session/khadim-session-private.h"

G_BEGIN_DECLS

typedef struct _KhadimFrame KhadimFrame;
typedef void (*KhadimFrameFunc) (KhadimPlayer *player,
                                 KhadimFrame  *frame);

struct _KhadimFrame
{
  KhadimFrameFunc run;
  KhadimStep *step;             /* borrowed; NULL for the list at the top */
  GPtrArray *steps;             /* borrowed; of a list */
  char *position;               /* see below */
  char *title;                  /* the step's, without templates, or NULL */
  guint state;
  guint index;                  /* of a list or a loop, or the attempt */
  gint64 deadline_us;           /* monotonic, 0: none */
  char *deadline_scope;         /* position of the step whose deadline it is */
  JsonArray *items;             /* of for_each, or NULL */
  guint n_turns;                /* of repeat */
  gboolean scoped;              /* a scope of variables was opened */
  KhadimSignal kept;            /* of try: what it ends with */
};

/* A position names a place in the run as a path: `each[3].enter#2` is the
 * second attempt of the step `enter` in the fourth turn of `each`. The same
 * run gives the same positions, so what was recorded under one is found again
 * after a crash. */

struct _KhadimPlayer
{
  KhadimSession *session;       /* borrowed: it owns the player */
  KhadimScript *script;
  GPtrArray *stack;             /* of KhadimFrame */
  KhadimSignal signal;          /* what became of the last frame */
  gboolean waiting;
  gboolean looping;
  GSource *timer;               /* of a delay, or NULL */
  KhadimSession *child;         /* of the `call` under way, or NULL */
};

/* khadim-player.c */
KhadimFrame *_khadim_player_push       (KhadimPlayer         *self,
                                        KhadimFrameFunc       run,
                                        KhadimStep           *step,
                                        const char           *position);
void         _khadim_player_push_list  (KhadimPlayer         *self,
                                        GPtrArray            *steps,
                                        const char           *position);
void         _khadim_player_pop        (KhadimPlayer         *self);
void         _khadim_player_pop_ok     (KhadimPlayer         *self);
void         _khadim_player_pop_fail   (KhadimPlayer         *self,
                                        KhadimToolError       code,
                                        const char           *message);
void         _khadim_player_pop_error  (KhadimPlayer         *self,
                                        const GError         *error);
void         _khadim_player_pop_settled (KhadimPlayer        *self,
                                        KhadimFrame          *frame,
                                        const char           *tool,
                                        JsonNode             *args);
void         _khadim_player_call       (KhadimPlayer         *self,
                                        KhadimFrame          *frame,
                                        const char           *tool,
                                        JsonNode             *args,
                                        const char           *suffix);
void         _khadim_player_wait       (KhadimPlayer         *self,
                                        gint64                ms);
void         _khadim_player_wake       (KhadimPlayer         *self);
gboolean     _khadim_player_time_is_up (KhadimPlayer         *self,
                                        KhadimFrame          *frame,
                                        const char           *position,
                                        const char           *step_id);
KhadimCallSpec _khadim_player_spec     (KhadimFrame          *frame,
                                        const char           *position,
                                        const char           *tool,
                                        JsonNode             *args);
void         _khadim_player_on_call    (KhadimSession        *session,
                                        KhadimSignal         *signal,
                                        gpointer              user_data);

/* khadim-player-block.c, khadim-player-leaf.c: the bodies of steps */
void         _khadim_player_run_if       (KhadimPlayer *self, KhadimFrame *frame);
void         _khadim_player_run_for_each (KhadimPlayer *self, KhadimFrame *frame);
void         _khadim_player_run_while    (KhadimPlayer *self, KhadimFrame *frame);
void         _khadim_player_run_repeat   (KhadimPlayer *self, KhadimFrame *frame);
void         _khadim_player_run_try      (KhadimPlayer *self, KhadimFrame *frame);
void         _khadim_player_run_wait     (KhadimPlayer *self, KhadimFrame *frame);
void         _khadim_player_run_tool     (KhadimPlayer *self, KhadimFrame *frame);
void         _khadim_player_run_call     (KhadimPlayer *self, KhadimFrame *frame);
void         _khadim_player_run_agent    (KhadimPlayer *self, KhadimFrame *frame);
void         _khadim_player_run_script   (KhadimPlayer *self, KhadimFrame *frame);
void         _khadim_player_run_ask      (KhadimPlayer *self, KhadimFrame *frame);
void         _khadim_player_run_check    (KhadimPlayer *self, KhadimFrame *frame);
void         _khadim_player_run_fail     (KhadimPlayer *self, KhadimFrame *frame);

G_END_DECLS
