/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <json-glib/json-glib.h>

#include "engine/base/khadim-error.h"
#include "engine/base/khadim-types.h"

G_BEGIN_DECLS

/**
 * KhadimToolFlags:
 * @KHADIM_TOOL_FLAGS_NONE: changes the world, must not be repeated blindly
 * @KHADIM_TOOL_FLAGS_READ_ONLY: changes nothing outside the program
 * @KHADIM_TOOL_FLAGS_IDEMPOTENT: doing it twice is the same as doing it once:
 *   a call that a crash interrupted is simply made again
 * @KHADIM_TOOL_FLAGS_NEEDS_SCREEN: needs the display's lease
 * @KHADIM_TOOL_FLAGS_NETWORK: talks to other machines
 * @KHADIM_TOOL_FLAGS_PURE: its result depends on the arguments alone
 * @KHADIM_TOOL_FLAGS_RECOVERS: called again after an interruption, with
 *   [method@Khadim.ToolCall.is_resumed], it finds out what had been done and
 *   does the rest, or fails with `sealed` when it cannot tell
 * @KHADIM_TOOL_FLAGS_NOTES: like the one before, and it tells with
 *   [method@Khadim.ToolCall.note] when what cannot be undone begins: an
 *   interruption before that is none
 *
 * What a tool declares about its effects.
 */
typedef enum {
  KHADIM_TOOL_FLAGS_NONE = 0,
  KHADIM_TOOL_FLAGS_READ_ONLY = 1 << 0,
  KHADIM_TOOL_FLAGS_IDEMPOTENT = 1 << 1,
  KHADIM_TOOL_FLAGS_NEEDS_SCREEN = 1 << 2,
  KHADIM_TOOL_FLAGS_NETWORK = 1 << 3,
  KHADIM_TOOL_FLAGS_PURE = 1 << 4,
  KHADIM_TOOL_FLAGS_RECOVERS = 1 << 5,
  KHADIM_TOOL_FLAGS_NOTES = 1 << 6,
} KhadimToolFlags;

/**
 * KhadimToolRisk:
 * @KHADIM_TOOL_RISK_LOW: reads, or changes what is easily put back
 * @KHADIM_TOOL_RISK_MEDIUM: changes files or programs of the person
 * @KHADIM_TOOL_RISK_HIGH: may destroy, send or spend
 *
 * How much a wrong call of a tool can hurt.
 */
typedef enum {
  KHADIM_TOOL_RISK_LOW,
  KHADIM_TOOL_RISK_MEDIUM,
  KHADIM_TOOL_RISK_HIGH,
} KhadimToolRisk;

/**
 * KhadimToolInfo:
 * @name: `domain.verb`
 * @title: a short phrase for people, such as `Read a text file`
 * @description: what it does, for people and models
 * @input_schema: JSON Schema (2020-12) text of the arguments object
 * @flags: what it does to the world
 * @risk: how much a wrong call can hurt
 *
 * A tool as its domain declares it. Static and immutable.
 */
struct _KhadimToolInfo {
  const char      *name;
  const char      *title;
  const char      *description;
  const char      *input_schema;
  KhadimToolFlags  flags;
  KhadimToolRisk   risk;
};

#define KHADIM_TYPE_TOOL_DOMAIN (khadim_tool_domain_get_type ())
G_DECLARE_DERIVABLE_TYPE (KhadimToolDomain, khadim_tool_domain, KHADIM, TOOL_DOMAIN, GObject)

/**
 * KhadimToolDomainClass:
 * @list: the tools, an array that lives as long as the domain
 * @check: finds faults in arguments that a schema cannot say (a picture that
 *   is not there); called after the schema check, with templates still in
 *   place where @args holds them; may be %NULL
 * @run_async: starts one call, on the engine thread
 * @run_finish: its result, never %NULL: what went wrong is in the result
 * @session_ended: the session that made calls has ended: let go of what is
 *   kept for it; may be %NULL
 *
 * What an implementation of tools provides. All of them run on the engine
 * thread and must not block it.
 */
struct _KhadimToolDomainClass {
  GObjectClass parent_class;

  const KhadimToolInfo *(*list)          (KhadimToolDomain     *self,
                                          guint                *out_n_tools);
  gboolean              (*check)         (KhadimToolDomain     *self,
                                          const KhadimToolInfo *info,
                                          JsonNode             *args,
                                          const char           *assets_dir,
                                          char                **out_place,
                                          GError              **error);
  void                  (*run_async)     (KhadimToolDomain     *self,
                                          KhadimToolCall       *call,
                                          GCancellable         *cancellable,
                                          GAsyncReadyCallback   callback,
                                          gpointer              user_data);
  KhadimToolResult     *(*run_finish)    (KhadimToolDomain     *self,
                                          GAsyncResult         *result);
  void                  (*session_ended) (KhadimToolDomain     *self,
                                          const char           *session_id);

  gpointer padding[8];
};

const char           *khadim_tool_domain_get_name      (KhadimToolDomain     *self);
const KhadimToolInfo *khadim_tool_domain_list          (KhadimToolDomain     *self,
                                                        guint                *out_n_tools);
const KhadimToolInfo *khadim_tool_domain_lookup        (KhadimToolDomain     *self,
                                                        const char           *tool);
gboolean              khadim_tool_domain_check         (KhadimToolDomain     *self,
                                                        const KhadimToolInfo *info,
                                                        JsonNode             *args,
                                                        const char           *assets_dir,
                                                        char                **out_place,
                                                        GError              **error);
void                  khadim_tool_domain_run_async     (KhadimToolDomain     *self,
                                                        KhadimToolCall       *call,
                                                        GCancellable         *cancellable,
                                                        GAsyncReadyCallback   callback,
                                                        gpointer              user_data);
KhadimToolResult     *khadim_tool_domain_run_finish    (KhadimToolDomain     *self,
                                                        GAsyncResult         *result);
void                  khadim_tool_domain_session_ended (KhadimToolDomain     *self,
                                                        const char           *session_id);

G_END_DECLS
