/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a target writes down, into the folder that it was started with: "text"
 * is what its text view holds now, "log" has a line for each thing that
 * happened to it. Without libraries, so that targets of every toolkit share
 * it. */

static char target_folder[4096];

static inline void
target_log (const char *what,
            const char *which)
{
  char path[4200];
  FILE *file;

  snprintf (path, sizeof path, "%s/log", target_folder);
  file = fopen (path, "a");
  if (file == NULL)
    return;
  fprintf (file, "%s %s\n", what, which);
  fclose (file);
}

static inline void
target_write_text (const char *text)
{
  char path[4200], next[4200];
  FILE *file;

  snprintf (path, sizeof path, "%s/text", target_folder);
  snprintf (next, sizeof next, "%s/text.new", target_folder);
  file = fopen (next, "w");
  if (file == NULL)
    return;
  fwrite (text, 1, strlen (text), file);
  fclose (file);
  rename (next, path);
}
