/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What files.wait_for knows about a folder from look to look. */

#pragma once

#include <gio/gio.h>

#include "engine/base/khadim-error.h"

G_BEGIN_DECLS

typedef enum {
  KHADIM_FILES_STATE_EXISTS,
  KHADIM_FILES_STATE_GONE,
  KHADIM_FILES_STATE_CHANGED,
} KhadimFilesState;

/**
 * KhadimFilesScan:
 * @folder: where to look
 * @name: (nullable): the one name that counts
 * @pattern: (nullable): the names that count, if @name is %NULL; %NULL for all
 * @state: what to look for
 * @stable_us: how long nothing may have happened
 * @marks: name to what was seen of it
 * @n_looks: how many looks there were
 * @gone_since_us: since when nothing matches, 0 if something does
 * @found: the path of the file that is as wanted, once there is one
 * @next_us: when to look again at the latest
 * @obstacle: why what is there does not count yet, for people
 *
 * Used by one thread at a time. Times are those of g_get_monotonic_time().
 */
typedef struct
{
  char *folder;
  char *name;
  GPatternSpec *pattern;
  KhadimFilesState state;
  gint64 stable_us;

  GHashTable *marks;
  guint n_looks;
  gint64 gone_since_us;
  gboolean done;
  char *found;
  gint64 next_us;
  char *obstacle;
} KhadimFilesScan;

KhadimFilesScan *_khadim_files_scan_new  (const char        *folder,
                                          const char        *name,
                                          GPatternSpec      *pattern,
                                          KhadimFilesState   state,
                                          gint64             stable_us);
void             _khadim_files_scan_free (KhadimFilesScan   *self);
gboolean         _khadim_files_scan_look (KhadimFilesScan   *self,
                                          GCancellable      *cancellable,
                                          GError           **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (KhadimFilesScan, _khadim_files_scan_free)

G_END_DECLS
