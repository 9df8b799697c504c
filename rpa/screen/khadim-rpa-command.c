/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-command"

#include "config.h"

#include <string.h>

#include <gio/gdesktopappinfo.h>

#include "rpa/screen/khadim-rpa-app-private.h"
#include "rpa/screen/khadim-rpa-error.h"

/* From what a person says to a command with arguments. Desktop files are
 * expanded here (Desktop Entry Specification 1.5, "The Exec key") and not
 * launched by GIO, which would have some programs started by the session bus:
 * on another display, in another environment, and as nobody's child. */

#define MAX_ARGUMENTS      1024
#define MAX_ARGUMENT_BYTES (128 * 1024)

void
_khadim_rpa_command_clear (KhadimRpaCommand *self)
{
  g_clear_pointer (&self->argv, g_strfreev);
  g_clear_pointer (&self->wm_class, g_free);
}

/* Desktop files ------------------------------------------------------------ */

static GDesktopAppInfo *
find_by_id (const char *name)
{
  g_autofree char *id = g_str_has_suffix (name, ".desktop") ? g_strdup (name)
                                                            : g_strconcat (name, ".desktop", NULL);

  return strchr (id, '/') == NULL ? g_desktop_app_info_new (id) : NULL;
}

static gboolean
is_called (GDesktopAppInfo *info,
           const char      *name)
{
  g_autofree char *wanted = g_utf8_casefold (name, -1);
  g_autofree char *shown = g_utf8_casefold (g_app_info_get_name (G_APP_INFO (info)), -1);

  return g_str_equal (wanted, shown);
}

static GDesktopAppInfo *
find_by_name (const char *name)
{
  g_autolist(GAppInfo) all = g_app_info_get_all ();

  for (GList *l = all; l != NULL; l = l->next)
    if (G_IS_DESKTOP_APP_INFO (l->data) && g_app_info_should_show (l->data)
        && is_called (l->data, name))
      return g_object_ref (l->data);

  return NULL;
}

/* The best of what the person's search would show, if that is one thing. */
static GDesktopAppInfo *
find_by_search (const char *name)
{
  gchar ***groups = g_desktop_app_info_search (name);
  GDesktopAppInfo *info = NULL;

  if (groups[0] != NULL && g_strv_length (groups[0]) == 1)
    info = g_desktop_app_info_new (groups[0][0]);
  for (guint i = 0; groups[i] != NULL; i++)
    g_strfreev (groups[i]);
  g_free (groups);

  return info;
}

/* Command lines ------------------------------------------------------------ */

static char *
target_to_uri (const char *target)
{
  g_autofree char *scheme = g_uri_parse_scheme (target);
  g_autoptr(GFile) file = scheme == NULL ? g_file_new_for_path (target) : NULL;

  return file != NULL ? g_file_get_uri (file) : g_strdup (target);
}

static char *
target_to_path (const char *target)
{
  g_autofree char *scheme = g_uri_parse_scheme (target);
  g_autoptr(GFile) file =
    scheme != NULL ? g_file_new_for_uri (target) : g_file_new_for_path (target);

  return g_file_get_path (file);
}

/* One argument of an Exec line, with its field codes replaced. */
static char *
expand_inside (GDesktopAppInfo *info,
               const char      *word,
               const char      *target)
{
  GString *text = g_string_new (NULL);

  for (const char *at = word; *at != '\0'; at++)
    {
      if (*at != '%' || at[1] == '\0')
        {
          g_string_append_c (text, *at);
          continue;
        }
      at++;
      if (*at == '%')
        g_string_append_c (text, '%');
      else if (*at == 'c')
        g_string_append (text, g_app_info_get_name (G_APP_INFO (info)));
      else if (*at == 'k' && g_desktop_app_info_get_filename (info) != NULL)
        g_string_append (text, g_desktop_app_info_get_filename (info));
      else if ((*at == 'u' || *at == 'U' || *at == 'f' || *at == 'F') && target != NULL)
        g_string_append (text, target);
    }

  return g_string_free (text, FALSE);
}

static gboolean
is_code (const char *word,
         const char *codes)
{
  return word[0] == '%' && word[1] != '\0' && word[2] == '\0' && strchr (codes, word[1]) != NULL;
}

static void
expand_word (GDesktopAppInfo *info,
             const char      *word,
             const char      *uri,
             const char      *path,
             GPtrArray       *argv)
{
  const char *target = strpbrk (word, "fF") != NULL && path != NULL ? path : uri;
  g_autofree char *icon = NULL;

  if (is_code (word, "uUfF"))
    {
      if (target != NULL)
        g_ptr_array_add (argv, g_strdup (target));
    }
  else if (is_code (word, "i"))
    {
      icon = g_desktop_app_info_get_string (info, "Icon");
      if (icon != NULL)
        {
          g_ptr_array_add (argv, g_strdup ("--icon"));
          g_ptr_array_add (argv, g_steal_pointer (&icon));
        }
    }
  else
    {
      g_ptr_array_add (argv, expand_inside (info, word, target));
    }
}

/* A desktop file without a field code for it still gets its target. */
static gboolean
takes_target (const GStrv words)
{
  for (guint i = 0; words[i] != NULL; i++)
    for (const char *at = strchr (words[i], '%'); at != NULL; at = strchr (at + 1, '%'))
      if (at[1] != '\0' && strchr ("uUfF", at[1]) != NULL)
        return TRUE;

  return FALSE;
}

static gboolean
resolve_info (GDesktopAppInfo   *info,
              const char        *target,
              KhadimRpaCommand  *out_command,
              GError           **error)
{
  g_autofree char *line = g_desktop_app_info_get_string (info, "Exec");
  g_autofree char *uri = target != NULL ? target_to_uri (target) : NULL;
  g_autofree char *path = target != NULL ? target_to_path (target) : NULL;
  g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func (g_free);
  g_auto(GStrv) words = NULL;
  const char *id = g_app_info_get_id (G_APP_INFO (info));

  if (g_desktop_app_info_get_boolean (info, "Terminal"))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
                   "“%s” runs in a terminal: open a terminal with it", id);
      return FALSE;
    }
  if (line == NULL || !g_shell_parse_argv (line, NULL, &words, NULL))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
                   "The desktop file “%s” has no command that can be run", id);
      return FALSE;
    }
  for (guint i = 0; words[i] != NULL; i++)
    expand_word (info, words[i], uri, path, argv);
  if (target != NULL && !takes_target (words))
    g_ptr_array_add (argv, g_strdup (path != NULL ? path : uri));
  g_ptr_array_add (argv, NULL);

  out_command->wm_class = g_strdup (g_desktop_app_info_get_startup_wm_class (info));
  out_command->argv = (GStrv) g_ptr_array_free (g_steal_pointer (&argv), FALSE);
  if (out_command->wm_class == NULL)
    out_command->wm_class = g_path_get_basename (out_command->argv[0]);

  return TRUE;
}

/* Specs -------------------------------------------------------------------- */

static gboolean
resolve_name (const KhadimRpaAppSpec  *spec,
              KhadimRpaCommand        *out_command,
              GError                 **error)
{
  g_autoptr(GDesktopAppInfo) info = find_by_id (spec->name);
  g_autofree char *program = NULL;
  const char *argv[] = { NULL, spec->target, NULL };

  if (info == NULL)
    info = find_by_name (spec->name);
  if (info != NULL)
    return resolve_info (info, spec->target, out_command, error);

  program = g_find_program_in_path (spec->name);
  if (program != NULL)
    {
      argv[0] = program;
      out_command->argv = g_strdupv ((char **) argv);
      out_command->wm_class = g_path_get_basename (program);
      return TRUE;
    }
  info = find_by_search (spec->name);
  if (info != NULL)
    return resolve_info (info, spec->target, out_command, error);
  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND,
               "There is no application or program “%s”", spec->name);

  return FALSE;
}

static GAppInfo *
find_default (const char *target)
{
  g_autofree char *scheme = g_uri_parse_scheme (target);
  g_autofree char *type = NULL;
  g_autofree char *path = target_to_path (target);

  if (scheme != NULL && !g_str_equal (scheme, "file"))
    return g_app_info_get_default_for_uri_scheme (scheme);
  type = g_content_type_guess (path, NULL, 0, NULL);

  return g_app_info_get_default_for_type (type, FALSE);
}

static gboolean
resolve_target (const KhadimRpaAppSpec  *spec,
                KhadimRpaCommand        *out_command,
                GError                 **error)
{
  g_autofree char *path = target_to_path (spec->target);
  g_autoptr(GAppInfo) info = NULL;

  if (path != NULL && !g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND, "There is no file “%s”",
                   path);
      return FALSE;
    }
  info = find_default (spec->target);
  if (info == NULL || !G_IS_DESKTOP_APP_INFO (info))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND,
                   "No application is set for “%s”: name one", spec->target);
      return FALSE;
    }

  return resolve_info (G_DESKTOP_APP_INFO (info), spec->target, out_command, error);
}

static gboolean
check_argv (const char * const  *argv,
            GError             **error)
{
  gsize n_bytes = 0;
  guint n = 0;

  for (; argv[n] != NULL; n++)
    n_bytes += strlen (argv[n]);
  if (n > 0 && n <= MAX_ARGUMENTS && n_bytes <= MAX_ARGUMENT_BYTES && *argv[0] != '\0')
    return TRUE;
  g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                       "command: has no program, more than 1024 arguments or over 128 KiB");

  return FALSE;
}

static gboolean
resolve_argv (const char * const  *argv,
              KhadimRpaCommand    *out_command,
              GError             **error)
{
  g_autofree char *program = NULL;

  if (!check_argv (argv, error))
    return FALSE;
  program = g_find_program_in_path (argv[0]);
  if (program == NULL)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND,
                   "There is no program “%s”", argv[0]);
      return FALSE;
    }
  out_command->argv = g_strdupv ((char **) argv);
  out_command->wm_class = g_path_get_basename (program);

  return TRUE;
}

gboolean
_khadim_rpa_command_resolve (const KhadimRpaAppSpec  *spec,
                             KhadimRpaCommand        *out_command,
                             GError                 **error)
{
  if (spec->argv != NULL && spec->name == NULL && spec->target == NULL)
    return resolve_argv (spec->argv, out_command, error);
  if (spec->argv == NULL && spec->name != NULL && *spec->name != '\0')
    return resolve_name (spec, out_command, error);
  if (spec->argv == NULL && spec->name == NULL && spec->target != NULL && *spec->target != '\0')
    return resolve_target (spec, out_command, error);
  g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                       "name, command, target: give one of them, or a name with a target");

  return FALSE;
}
