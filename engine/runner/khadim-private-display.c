/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-private-display"

#include "config.h"

#include "engine/runner/khadim-private-display.h"

#include <unistd.h>

#include "engine/runner/khadim-private-display-private.h"

/* Where khadim-display lies, when it is not where it was installed */
#define PROGRAM_FOLDER_VARIABLE "KHADIM_LIBEXECDIR"
#define PROGRAM "khadim-display"

G_DEFINE_BOXED_TYPE (KhadimPrivateDisplay, khadim_private_display,
                     khadim_private_display_copy, khadim_private_display_free)

/**
 * khadim_private_display_copy:
 * @self: a display
 *
 * Copies what is known of a display. Any thread.
 *
 * Returns: (transfer full): the copy
 */
KhadimPrivateDisplay *
khadim_private_display_copy (KhadimPrivateDisplay *self)
{
  KhadimPrivateDisplay *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = g_memdup2 (self, sizeof *self);
  copy->id = g_strdup (self->id);
  copy->name = g_strdup (self->name);
  copy->authority = g_strdup (self->authority);
  copy->bus_address = g_strdup (self->bus_address);
  return copy;
}

/**
 * khadim_private_display_free:
 * @self: (transfer full): a display
 *
 * Frees what is known of a display; the display itself goes on. Any thread.
 */
void
khadim_private_display_free (KhadimPrivateDisplay *self)
{
  g_return_if_fail (self != NULL);

  g_free (self->id);
  g_free (self->name);
  g_free (self->authority);
  g_free (self->bus_address);
  g_free (self);
}

/* The supervisor: where the variable says, beside this program, or installed */
static char *
find_program (GError **error)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *beside = self != NULL ? g_path_get_dirname (self) : NULL;
  const char *const folders[] = { g_getenv (PROGRAM_FOLDER_VARIABLE), beside, KHADIM_LIBEXECDIR };

  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *path =
        folders[i] != NULL ? g_build_filename (folders[i], PROGRAM, NULL) : NULL;

      if (path != NULL && g_file_test (path, G_FILE_TEST_IS_EXECUTABLE))
        return g_steal_pointer (&path);
    }

  g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_UNSUPPORTED,
               "There is no “%s” in %s: private displays need it; %s can name its folder",
               PROGRAM, KHADIM_LIBEXECDIR, PROGRAM_FOLDER_VARIABLE);
  return NULL;
}

static gboolean
check_spec (const KhadimPrivateDisplaySpec *spec,
            GError                        **error)
{
  if (spec->width_px >= KHADIM_PRIVATE_DISPLAY_MIN_PX &&
      spec->width_px <= KHADIM_PRIVATE_DISPLAY_MAX_PX &&
      spec->height_px >= KHADIM_PRIVATE_DISPLAY_MIN_PX &&
      spec->height_px <= KHADIM_PRIVATE_DISPLAY_MAX_PX)
    return TRUE;

  g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
               "A display of %dx%d: both must be from %d to %d", spec->width_px,
               spec->height_px, KHADIM_PRIVATE_DISPLAY_MIN_PX, KHADIM_PRIVATE_DISPLAY_MAX_PX);
  return FALSE;
}

static gboolean
add_spec (GStrvBuilder                    *command,
          const KhadimPrivateDisplaySpec  *spec,
          GError                         **error)
{
  KhadimPrivateDisplaySpec wanted = { 0 };
  g_autofree char *size = NULL;
  g_autofree char *unclaimed = NULL;

  if (spec != NULL)
    wanted = *spec;
  wanted.width_px = wanted.width_px != 0 ? wanted.width_px : 1920;
  wanted.height_px = wanted.height_px != 0 ? wanted.height_px : 1080;
  if (wanted.unclaimed_s == 0)
    wanted.unclaimed_s = KHADIM_PRIVATE_DISPLAY_UNCLAIMED_S;
  if (!check_spec (&wanted, error))
    return FALSE;

  size = g_strdup_printf ("--size=%dx%d", wanted.width_px, wanted.height_px);
  unclaimed = g_strdup_printf ("--unclaimed=%u", wanted.unclaimed_s);
  g_strv_builder_add_many (command, size, unclaimed, NULL);
  return TRUE;
}

static gboolean
add_attach (GStrvBuilder  *command,
            const char    *id,
            GError       **error)
{
  g_autoptr(KhadimPrivateDisplay) display = khadim_private_display_lookup (id, error);
  g_autofree char *attach = NULL;

  if (display == NULL)
    return FALSE;
  if (display->child != 0)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_BUSY,
                   "The display “%s” is in use by process %d", id, (int) display->child);
      return FALSE;
    }

  attach = g_strconcat ("--attach=", id, NULL);
  g_strv_builder_add (command, attach);
  return TRUE;
}

/**
 * khadim_private_display_build_command:
 * @spec: (nullable): what a new display is to be like
 * @id: (nullable): the display to attach to instead
 * @argv: (array zero-terminated=1): the command that uses it
 * @error: return location
 *
 * Builds the command that khadim_private_display_spawn() or, with an id,
 * khadim_private_display_attach() runs, for who would rather become it. Any
 * thread.
 *
 * Returns: (transfer full): the command, or %NULL with the errors of those two
 */
GStrv
khadim_private_display_build_command (const KhadimPrivateDisplaySpec *spec,
                                      const char                     *id,
                                      const char *const              *argv,
                                      GError                        **error)
{
  g_autoptr(GStrvBuilder) command = g_strv_builder_new ();
  g_autofree char *program = NULL;

  g_return_val_if_fail (argv != NULL && argv[0] != NULL, NULL);

  program = find_program (error);
  if (program == NULL)
    return NULL;
  g_strv_builder_add (command, program);
  if (id != NULL ? !add_attach (command, id, error) : !add_spec (command, spec, error))
    return NULL;

  g_strv_builder_add (command, "--");
  g_strv_builder_addv (command, (const char **) argv);
  return g_strv_builder_end (command);
}

/**
 * khadim_private_display_spawn:
 * @spec: (nullable): what the display is to be like
 * @argv: (array zero-terminated=1): the command that uses it
 * @flags: which of the standard streams to have
 * @error: return location
 *
 * Starts a display and, when it is ready, a command on it.
 *
 * The process that is returned has the standard streams and the exit code of
 * the command: 128 and the signal's number when that was killed. The command
 * finds `DISPLAY`, `XAUTHORITY`, `DBUS_SESSION_BUS_ADDRESS`,
 * `KHADIM_DISPLAY_ID` and, the bus of the person, `KHADIM_PERSON_BUS` in its
 * environment. When it exits, the display and what was started on it end.
 * When it is killed they stay for khadim_private_display_attach(), for a time.
 * `SIGTERM` to the process ends all. Any thread.
 *
 * Returns: (transfer full): the process, or %NULL with
 *   %KHADIM_ENGINE_ERROR_INVALID, %KHADIM_ENGINE_ERROR_UNSUPPORTED or a
 *   #GSpawnError
 */
GSubprocess *
khadim_private_display_spawn (const KhadimPrivateDisplaySpec *spec,
                              const char *const              *argv,
                              GSubprocessFlags                flags,
                              GError                        **error)
{
  g_auto(GStrv) command = khadim_private_display_build_command (spec, NULL, argv, error);

  if (command == NULL)
    return NULL;

  return g_subprocess_newv ((const char *const *) command, flags, error);
}

/**
 * khadim_private_display_attach:
 * @id: a display that nobody uses
 * @argv: (array zero-terminated=1): the command that uses it from now on
 * @flags: which of the standard streams to have
 * @error: return location
 *
 * Starts a command on a display whose last command was killed; otherwise like
 * khadim_private_display_spawn(). When another was quicker, the process says
 * so and exits with 1. Any thread.
 *
 * Returns: (transfer full): the process, or %NULL with
 *   %KHADIM_ENGINE_ERROR_INVALID, %KHADIM_ENGINE_ERROR_NOT_FOUND when the
 *   display is gone, %KHADIM_ENGINE_ERROR_BUSY when it is in use,
 *   %KHADIM_ENGINE_ERROR_UNSUPPORTED or a #GSpawnError
 */
GSubprocess *
khadim_private_display_attach (const char         *id,
                               const char *const  *argv,
                               GSubprocessFlags    flags,
                               GError            **error)
{
  g_auto(GStrv) command = NULL;

  g_return_val_if_fail (id != NULL, NULL);

  command = khadim_private_display_build_command (NULL, id, argv, error);
  if (command == NULL)
    return NULL;

  return g_subprocess_newv ((const char *const *) command, flags, error);
}

/**
 * khadim_private_display_get_id:
 * @self: a display
 *
 * Which display it is. Any thread.
 *
 * Returns: (transfer none): a UUID
 */
const char *
khadim_private_display_get_id (KhadimPrivateDisplay *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->id;
}

/**
 * khadim_private_display_get_name:
 * @self: a display
 *
 * The display's name for programs. Any thread.
 *
 * Returns: (transfer none): as in `DISPLAY`
 */
const char *
khadim_private_display_get_name (KhadimPrivateDisplay *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->name;
}

/**
 * khadim_private_display_get_authority:
 * @self: a display
 *
 * The file with the cookie without which the server lets nobody in. Any
 * thread.
 *
 * Returns: (transfer none) (type filename): as in `XAUTHORITY`
 */
const char *
khadim_private_display_get_authority (KhadimPrivateDisplay *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->authority;
}

/**
 * khadim_private_display_get_bus:
 * @self: a display
 *
 * The session bus of the programs on the display. Any thread.
 *
 * Returns: (transfer none): as in `DBUS_SESSION_BUS_ADDRESS`
 */
const char *
khadim_private_display_get_bus (KhadimPrivateDisplay *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->bus_address;
}

/**
 * khadim_private_display_get_width_px:
 * @self: a display
 *
 * The width it was started with. Any thread.
 *
 * Returns: pixels
 */
int
khadim_private_display_get_width_px (KhadimPrivateDisplay *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->width_px;
}

/**
 * khadim_private_display_get_height_px:
 * @self: a display
 *
 * The height it was started with. Any thread.
 *
 * Returns: pixels
 */
int
khadim_private_display_get_height_px (KhadimPrivateDisplay *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->height_px;
}

/**
 * khadim_private_display_get_supervisor:
 * @self: a display
 *
 * The process that holds the display; `SIGTERM` ends both. Any thread.
 *
 * Returns: a process id
 */
int
khadim_private_display_get_supervisor (KhadimPrivateDisplay *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->supervisor;
}

/**
 * khadim_private_display_get_child:
 * @self: a display
 *
 * The process that uses the display. Any thread.
 *
 * Returns: a process id, 0 when nobody did at the time of the look-up
 */
int
khadim_private_display_get_child (KhadimPrivateDisplay *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->child;
}
