/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* The rows that stores keep. Plain boxed records: every string and node is
 * owned by its record; NULL means "not set". Times are microseconds since
 * 1970 UTC, ids are UUIDv7. */

#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

typedef enum {
  KHADIM_SESSION_READY,     /* nothing to do, or ended */
  KHADIM_SESSION_WORKING,
  KHADIM_SESSION_PAUSED,    /* a person paused it, or it is parked on a question */
} KhadimSessionState;

/* One execution by a driver. */
typedef struct
{
  char               *id;
  char               *parent_session_id;
  char               *parent_call_id;
  char               *driver;         /* "player"; later "agent" */
  char               *title;
  char               *automation;     /* its name, or NULL */
  char               *document;       /* the automation's JSON text at the start */
  char               *assets_dir;     /* absolute */
  char               *work_dir;       /* absolute, the workspace */
  char               *workspace_id;
  JsonNode           *inputs;         /* object */
  JsonNode           *options;        /* object: from, dry_run, display, … */
  KhadimSessionState  state;
  char               *outcome;        /* NULL while it lives; else "completed", "failed", "interrupted" */
  char               *error_code;
  char               *error_message;
  JsonNode           *output;
  char               *owner;          /* the engine process that may write it, or NULL */
  gint64              created_us;
  gint64              updated_us;
  gint64              ended_us;       /* 0 while it lives */
} KhadimSessionRecord;

/* One trigger or user turn of a session. */
typedef struct
{
  char   *id;
  char   *session_id;
  char   *trigger;                    /* "person", "resume", "call", … */
  int     attempt;
  char   *outcome;
  gint64  started_us;
  gint64  ended_us;
} KhadimRunRecord;

typedef enum {
  KHADIM_CALL_PENDING,
  KHADIM_CALL_APPROVAL_REQUIRED,
  KHADIM_CALL_APPROVED,
  KHADIM_CALL_EXECUTING,
  KHADIM_CALL_COMPLETED,
  KHADIM_CALL_FAILED,
  KHADIM_CALL_DENIED,
  KHADIM_CALL_SEALED,
} KhadimCallState;

/* One tool call: the truth from which breakpoints are derived. */
typedef struct
{
  char            *id;
  char            *session_id;
  char            *run_id;
  char            *position;          /* where in the document, unique in the session */
  char            *step_id;
  char            *title;
  char            *tool;
  JsonNode        *args;              /* secrets as references */
  KhadimCallState  state;
  JsonNode        *result;            /* value of a completed call */
  JsonNode        *detail;            /* evidence, candidates */
  char            *error_code;
  char            *error_message;
  char            *error_scope;       /* position of the step whose time ran out, if not its own */
  JsonNode        *audit;             /* array of {time, state, by, note} */
  gint64           created_us;
  gint64           started_us;        /* 0 until it executes */
  gint64           ended_us;          /* 0 until it has ended */
} KhadimToolCallRecord;

/* Something that a call made; the bytes lie in artifacts/<sha256>. */
typedef struct
{
  char   *session_id;
  char   *call_id;
  char   *role;
  char   *name;
  char   *media_type;
  char   *sha256;                     /* lower-case hex */
  gint64  size_bytes;
  gint64  created_us;
} KhadimArtifactRecord;

/* A message from another process to the owner of a session. */
typedef struct
{
  gint64    id;                       /* ascending, given by the store */
  char     *session_id;
  char     *kind;                     /* "answer", "pause", "resume", "stop" */
  JsonNode *payload;
  char     *by;                       /* who, for the audit */
  gint64    created_us;
  gint64    handled_us;               /* 0 until the owner took it */
} KhadimCommandRecord;

/* An automation that the store knows by name. */
typedef struct
{
  char   *name;
  char   *folder;                     /* absolute, canonical */
  char   *title;
  gint64  updated_us;
  gint64  last_run_us;
  char   *last_outcome;
} KhadimAutomationRecord;

#define KHADIM_DECLARE_RECORD(Type, prefix) \
  GType prefix##_get_type (void); \
  Type *prefix##_new (void); \
  Type *prefix##_copy (const Type *self); \
  void prefix##_free (Type *self); \
  G_DEFINE_AUTOPTR_CLEANUP_FUNC (Type, prefix##_free)

KHADIM_DECLARE_RECORD (KhadimSessionRecord, khadim_session_record)
KHADIM_DECLARE_RECORD (KhadimRunRecord, khadim_run_record)
KHADIM_DECLARE_RECORD (KhadimToolCallRecord, khadim_tool_call_record)
KHADIM_DECLARE_RECORD (KhadimArtifactRecord, khadim_artifact_record)
KHADIM_DECLARE_RECORD (KhadimCommandRecord, khadim_command_record)
KHADIM_DECLARE_RECORD (KhadimAutomationRecord, khadim_automation_record)

const char *khadim_session_state_to_string   (KhadimSessionState   self);
const char *khadim_call_state_to_string      (KhadimCallState      self);
gboolean    khadim_call_state_from_string    (const char          *text,
                                              KhadimCallState     *out_state);
gboolean    khadim_session_state_from_string (const char          *text,
                                              KhadimSessionState  *out_state);

G_END_DECLS
