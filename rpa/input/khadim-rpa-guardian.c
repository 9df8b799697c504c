/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-guardian"

#include "config.h"

#include "rpa/input/khadim-rpa-guardian-private.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <glib-unix.h>

#include "rpa/screen/khadim-rpa-error.h"

/* A process that is killed cannot let go of the keys it holds, and the X
 * server does not do it for it. Its guardian does: a child that waits for the
 * end of a pipe. */

#define PROGRAM "khadim-rpa-guardian"
#define PROGRAM_FOLDER_VARIABLE "KHADIM_LIBEXECDIR"

static char *
find_program (GError **error)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = g_path_get_dirname (self != NULL ? self : "/");
  g_autofree char *near = g_build_filename (folder, "..", "rpa", NULL);
  g_autofree char *nearer = g_build_filename (folder, "..", "..", "rpa", NULL);
  const char *const folders[] = {
    g_getenv (PROGRAM_FOLDER_VARIABLE), folder, near, nearer, KHADIM_LIBEXECDIR,
  };

  for (gsize i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *path =
        folders[i] != NULL ? g_build_filename (folders[i], PROGRAM, NULL) : NULL;

      if (path != NULL && g_file_test (path, G_FILE_TEST_IS_EXECUTABLE))
        return g_steal_pointer (&path);
    }
  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
               "There is no “%s” in %s: without it keys would stay pressed after a crash; %s can "
               "name its folder", PROGRAM, KHADIM_LIBEXECDIR, PROGRAM_FOLDER_VARIABLE);

  return NULL;
}

static gboolean
set_failed (const char  *what,
            GError     **error)
{
  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FAILED, "%s: %s", what,
               g_strerror (errno));

  return FALSE;
}

/* Makes the memory that is shared with the guardian (memfd_create(2)). */
gboolean
_khadim_rpa_guardian_init (KhadimRpaGuardian  *self,
                           GError            **error)
{
  void *memory;

  self->life_fd = -1;
  self->held_fd = memfd_create (PROGRAM, MFD_CLOEXEC);
  if (self->held_fd < 0 || ftruncate (self->held_fd, sizeof (KhadimRpaHeld)) != 0)
    return set_failed ("No memory to share with the guardian", error);
  memory = mmap (NULL, sizeof (KhadimRpaHeld), PROT_READ | PROT_WRITE, MAP_SHARED, self->held_fd,
                 0);
  if (memory == MAP_FAILED)
    return set_failed ("No memory to share with the guardian", error);
  self->held = memory;

  return TRUE;
}

gboolean
_khadim_rpa_guardian_start (KhadimRpaGuardian  *self,
                            const char         *display_name,
                            GError            **error)
{
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GSubprocess) process = NULL;
  g_autofree char *program = find_program (error);
  int life[2];

  if (program == NULL || !g_unix_open_pipe (life, FD_CLOEXEC, error))
    return FALSE;

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE |
                                        G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_subprocess_launcher_take_fd (launcher, life[0], KHADIM_RPA_GUARDIAN_LIFE_FD);
  g_subprocess_launcher_take_fd (launcher, g_steal_fd (&self->held_fd),
                                 KHADIM_RPA_GUARDIAN_HELD_FD);
  process = g_subprocess_launcher_spawn (launcher, error, program, display_name, NULL);
  if (process == NULL)
    {
      close (life[1]);
      return FALSE;
    }
  self->life_fd = life[1];

  return TRUE;
}

/* The guardian goes too, without doing anything. */
void
_khadim_rpa_guardian_clear (KhadimRpaGuardian *self)
{
  static const char bye = KHADIM_RPA_GUARDIAN_BYE;

  if (self->life_fd >= 0 && write (self->life_fd, &bye, 1) != 1)
    g_debug ("The guardian has gone before: %s", g_strerror (errno));
  if (self->life_fd >= 0)
    close (self->life_fd);
  if (self->held_fd >= 0)
    close (self->held_fd);
  if (self->held != NULL)
    munmap (self->held, sizeof (KhadimRpaHeld));
  *self = (KhadimRpaGuardian) { .held_fd = -1, .life_fd = -1 };
}
