/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* What the subcommands of `khadim` share. */

#pragma once

#include <gio/gio.h>

#include "engine/automation/khadim-automation.h"
#include "engine/session/khadim-session.h"

G_BEGIN_DECLS

/* Exit codes, in the help and the README. */
typedef enum {
  KHADIM_EXIT_DONE = 0,
  KHADIM_EXIT_FAILED = 1,
  KHADIM_EXIT_USAGE = 2,
  KHADIM_EXIT_QUESTION = 3,
  KHADIM_EXIT_BUDGET = 4,
  KHADIM_EXIT_INTERRUPTED = 130,
} KhadimExit;

typedef int (*KhadimCommandFunc) (int    argc,
                                  char **argv);

typedef struct {
  const char *name;
  const char *summary;
  KhadimCommandFunc run;
} KhadimCommand;

G_GNUC_PRINTF (1, 2)
void          khadim_cli_error         (const char          *format,
                                        ...);
gboolean      khadim_cli_parse         (const char          *usage,
                                        const char          *summary,
                                        const char          *description,
                                        const GOptionEntry  *entries,
                                        int                 *argc,
                                        char              ***argv,
                                        int                  min_args,
                                        int                  max_args);
KhadimStore  *khadim_cli_open_store    (void);
KhadimEngine *khadim_cli_new_engine    (KhadimStore         *store);
void          khadim_cli_add_domains   (KhadimToolbox       *toolbox);
char         *khadim_cli_find          (const char          *name,
                                        KhadimStore         *store);
char         *khadim_cli_time          (gint64               time_us);

int khadim_command_run         (int argc, char **argv);
int khadim_command_check       (int argc, char **argv);
int khadim_command_automations (int argc, char **argv);
int khadim_command_sessions    (int argc, char **argv);
int khadim_command_approve     (int argc, char **argv);
int khadim_command_stop        (int argc, char **argv);
int khadim_command_pause       (int argc, char **argv);
int khadim_command_continue    (int argc, char **argv);
int khadim_command_doctor      (int argc, char **argv);

G_END_DECLS
