/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <unistd.h>

#include <glib.h>

G_BEGIN_DECLS

/* A file descriptor that g_auto() closes; -1 is none. */
typedef int KhadimFd;

static inline void
_khadim_fd_close (KhadimFd fd)
{
  close (fd);
}

static inline int
_khadim_fd_steal (KhadimFd *fd)
{
  int stolen = *fd;

  *fd = -1;

  return stolen;
}

G_DEFINE_AUTO_CLEANUP_FREE_FUNC (KhadimFd, _khadim_fd_close, -1)

G_END_DECLS
