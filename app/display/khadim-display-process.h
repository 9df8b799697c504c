/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

/* Starting, watching and ending the processes of a display. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * KhadimDisplayStart:
 * @argv: the command
 * @envp: its environment
 * @death_signal: what it gets when its parent dies
 * @log_fd: standard output and error, -1 for those of the parent, and then the
 *   standard input too
 * @pass_fd: a file that it gets as @as_fd, -1 for none
 * @as_fd: see @pass_fd
 *
 * How to start a process. With @log_fd it gets a session of its own, so that
 * no key in a terminal reaches it.
 */
typedef struct {
  const char *const *argv;
  const char *const *envp;
  int death_signal;
  int log_fd;
  int pass_fd;
  int as_fd;
} KhadimDisplayStart;

gboolean  khadim_display_process_start       (const KhadimDisplayStart *start,
                                              GPid                     *pid,
                                              GError                  **error);
GArray   *khadim_display_process_descendants (GPid                      root);
int       khadim_display_process_exit_code   (int                       status);
int       khadim_display_process_signals     (GError                  **error);

G_END_DECLS
