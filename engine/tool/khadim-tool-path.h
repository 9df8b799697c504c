/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "engine/base/khadim-error.h"

G_BEGIN_DECLS

/* The longest path a tool takes, in bytes: PATH_MAX of Linux */
#define KHADIM_TOOL_PATH_MAX_BYTES 4096

/**
 * KhadimToolPathUse:
 * @KHADIM_TOOL_PATH_USE_READ: the content is read; relative paths are looked
 *   for in the work folder, then in the automation's folder
 * @KHADIM_TOOL_PATH_USE_WRITE: the content is changed; a symbolic link at the
 *   end is followed
 * @KHADIM_TOOL_PATH_USE_ENTRY: the name itself is changed (moved, deleted); a
 *   symbolic link at the end is not followed
 *
 * What a tool is going to do with a path.
 */
typedef enum {
  KHADIM_TOOL_PATH_USE_READ,
  KHADIM_TOOL_PATH_USE_WRITE,
  KHADIM_TOOL_PATH_USE_ENTRY,
} KhadimToolPathUse;

gboolean  khadim_tool_path_check        (const char         *path,
                                         GError            **error);
char     *khadim_tool_path_resolve      (const char         *path,
                                         KhadimToolPathUse   use,
                                         const char         *work_dir,
                                         const char         *assets_dir,
                                         GError            **error);
gboolean  khadim_tool_path_is_within    (const char         *path,
                                         const char         *folder);
gboolean  khadim_tool_path_is_protected (const char         *path,
                                         const char         *work_dir,
                                         const char         *assets_dir,
                                         const char        **out_what);

G_END_DECLS
