/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What the parts of a session share: the object, its events, its calls and
 * its driver. Everything here runs on the engine thread. */

#pragma once

#include "engine/automation/khadim-automation-private.h"
#include "engine/session/khadim-engine-private.h"
#include "engine/session/khadim-session.h"
#include "engine/store/khadim-store.h"

G_BEGIN_DECLS

/* How deep automations may call each other. */
#define KHADIM_SESSION_MAX_CALL_DEPTH 16
/* How many events may wait for a subscriber before it is fed from the store. */
#define KHADIM_SUBSCRIBER_QUEUE_MAX 1024

typedef struct _KhadimPlayer KhadimPlayer;

struct _KhadimSession
{
  GObject parent_instance;

  /* Owned */
  KhadimEngine *engine;
  KhadimAutomation *automation;
  KhadimPermissions *permissions;
  KhadimSessionRecord *record;
  KhadimRunRecord *run;
  GHashTable *calls;            /* position → KhadimToolCallRecord */
  GPtrArray *answers;           /* KhadimCommandRecords that wait for their question */
  KhadimStoreBatch *batch;      /* what the next commit makes durable */
  GPtrArray *batch_events;      /* its events, for the subscribers */
  GCancellable *cancellable;    /* stops the whole session */
  KhadimPlayer *player;
  GTask *task;                  /* of khadim_session_run_async() */
  GError *fatal;                /* the store failed: nothing more is done */
  KhadimSession *parent;        /* of a `call`, or NULL */
  JsonNode *output;
  char *error_code;
  char *error_message;

  GMutex lock;                  /* guards subscribers */
  GPtrArray *subscribers;
  GCancellable *running;        /* of the call that runs, or NULL; engine thread */

  guint watch;                  /* of commands */
  guint stop_func;              /* of the toolbox */
  guint depth;                  /* of calls */
  gint64 next_seq;
  gint64 budget_steps;          /* 0: no limit */
  gint64 budget_deadline_us;    /* monotonic, 0: none */
  gint64 n_calls;
  gboolean resumed;             /* replaying what was done before */
  gboolean paused;
  gboolean parked;
  KhadimOutcome outcome;
};

/* What became of a step that leaves a record. */
typedef enum {
  KHADIM_SIGNAL_OK,
  KHADIM_SIGNAL_FAILED,
  KHADIM_SIGNAL_PARKED,
  KHADIM_SIGNAL_STOPPED,
  KHADIM_SIGNAL_BUDGET,
} KhadimSignalKind;

typedef struct
{
  KhadimSignalKind kind;
  KhadimToolError code;
  char *message;
  JsonNode *value;
  JsonNode *detail;
  char *step_id;
  char *scope;                  /* position of the outer step whose time ran out */
  gboolean replayed;
} KhadimSignal;

void _khadim_signal_clear   (KhadimSignal       *self);
void _khadim_signal_take    (KhadimSignal       *self,
                             KhadimSignal       *from);
void _khadim_signal_fail    (KhadimSignal       *self,
                             KhadimToolError     code,
                             const char         *format,
                             ...) G_GNUC_PRINTF (3, 4);

/* One call as the player asks for it. Strings and nodes are borrowed. */
typedef struct
{
  const char *position;
  const char *step_id;
  const char *title;
  const char *tool;
  JsonNode *args;
  KhadimOnSealed on_sealed;
  gint64 deadline_us;           /* monotonic, 0: none */
  const char *deadline_scope;   /* position of the step whose deadline it is */
} KhadimCallSpec;

/* @signal is the callee's; what it holds may be taken. */
typedef void (*KhadimCallDone) (KhadimSession *self,
                                KhadimSignal  *signal,
                                gpointer       user_data);

/* khadim-session-events.c */
void      _khadim_session_emit          (KhadimSession          *self,
                                         KhadimChannel           channel,
                                         const char             *event_type,
                                         const char             *content,
                                         JsonNode               *metadata);
void      _khadim_session_put_call      (KhadimSession          *self,
                                         KhadimToolCallRecord   *record);
void      _khadim_session_put_state     (KhadimSession          *self,
                                         KhadimSessionState      state);
typedef void (*KhadimCommitted)         (KhadimSession          *self,
                                         gpointer                user_data);
void      _khadim_session_commit        (KhadimSession          *self,
                                         KhadimDurability        durability,
                                         KhadimCommitted         func,
                                         gpointer                user_data);
char     *_khadim_session_redact        (KhadimSession          *self,
                                         const char             *text);
JsonNode *_khadim_session_redact_json   (KhadimSession          *self,
                                         JsonNode               *node);

/* khadim-session-call.c */
void      _khadim_session_call          (KhadimSession          *self,
                                         const KhadimCallSpec   *spec,
                                         KhadimCallDone          done,
                                         gpointer                user_data);
/* khadim-session-settle.c */
KhadimToolCallRecord *_khadim_session_new_call (KhadimSession   *self,
                                         const KhadimCallSpec   *spec,
                                         KhadimCallState         state);
void      _khadim_session_audit         (KhadimToolCallRecord   *record,
                                         KhadimCallState         state,
                                         const char             *by,
                                         const char             *note);
void      _khadim_session_step_start    (KhadimSession          *self,
                                         KhadimToolCallRecord   *record);
void      _khadim_session_step_complete (KhadimSession          *self,
                                         KhadimToolCallRecord   *record,
                                         JsonNode               *artifacts);
gboolean  _khadim_session_recall        (KhadimSession          *self,
                                         const char             *position,
                                         KhadimSignal           *signal);
gboolean  _khadim_session_has_position  (KhadimSession          *self,
                                         const char             *prefix);
void      _khadim_session_settle        (KhadimSession          *self,
                                         const KhadimCallSpec   *spec,
                                         KhadimSignal           *signal);
typedef struct
{
  const char *kind;             /* permission, choice, text, confirm */
  const char *question;
  JsonNode *options;            /* array or NULL */
} KhadimQuestion;
JsonNode *_khadim_session_ask           (KhadimSession          *self,
                                         KhadimToolCallRecord   *record,
                                         KhadimCallState         waiting,
                                         const KhadimQuestion   *question);
void      _khadim_session_question      (KhadimSession          *self,
                                         const KhadimCallSpec   *spec,
                                         const KhadimQuestion   *question,
                                         KhadimCallDone          done,
                                         gpointer                user_data);

/* khadim-player.c */
KhadimPlayer *_khadim_player_new        (KhadimSession          *session);
void          _khadim_player_free       (KhadimPlayer           *self);
void          _khadim_player_run        (KhadimPlayer           *self);

/* khadim-session.c */
gboolean  _khadim_session_is_dry_run    (KhadimSession          *self);
void      _khadim_session_player_done   (KhadimSession          *self,
                                         KhadimSignal           *signal,
                                         JsonNode               *output);
KhadimSession *_khadim_session_new_child (KhadimSession         *parent,
                                         KhadimAutomation       *automation,
                                         JsonNode               *inputs,
                                         const char             *parent_call_id);
KhadimSession *_khadim_session_open_child (KhadimSession        *parent,
                                         const char             *session_id,
                                         GError                **error);
typedef void (*KhadimChildDone)         (KhadimSession          *child,
                                         gpointer                user_data);
void      _khadim_session_run_child     (KhadimSession          *self,
                                         KhadimChildDone         done,
                                         gpointer                user_data);

G_END_DECLS
