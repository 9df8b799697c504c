/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-cli"

#include "config.h"

#include "app/khadim-cli.h"

#include <locale.h>
#include <stdlib.h>

#include "app/khadim-screen-loader.h"
#include "engine/store/khadim-store-sqlite.h"
#include "engine/tool/khadim-data-domain.h"
#include "engine/tool/khadim-files-domain.h"
#include "engine/tool/khadim-wait-domain.h"

/* Says on standard error what went wrong. */
void
khadim_cli_error (const char *format,
                  ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_printerr ("khadim: %s\n", message);
}

/* Reads the options of a subcommand and checks how many arguments are left. */
gboolean
khadim_cli_parse (const char           *usage,
                  const char           *summary,
                  const char           *description,
                  const GOptionEntry   *entries,
                  int                  *argc,
                  char               ***argv,
                  int                   min_args,
                  int                   max_args)
{
  g_autoptr(GOptionContext) context = g_option_context_new (usage);
  g_autoptr(GError) error = NULL;

  g_option_context_set_summary (context, summary);
  g_option_context_set_description (context, description);
  if (entries != NULL)
    g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, argc, argv, &error))
    {
      khadim_cli_error ("%s (try “%s --help”)", error->message, g_get_prgname ());
      return FALSE;
    }
  /* GLib leaves the “--” that ends the options. */
  if (*argc > 1 && g_strcmp0 ((*argv)[1], "--") == 0)
    {
      for (int i = 1; i < *argc; i++)
        (*argv)[i] = (*argv)[i + 1];
      (*argc)--;
    }
  if (*argc - 1 < min_args || *argc - 1 > max_args)
    {
      khadim_cli_error ("%s %s (try “%s --help”)",
                        *argc - 1 < min_args ? "something is missing: " : "too many arguments: ",
                        usage, g_get_prgname ());
      return FALSE;
    }

  return TRUE;
}

/* The person's store; NULL when it cannot be opened, which has been said. */
KhadimStore *
khadim_cli_open_store (void)
{
  g_autofree char *folder = khadim_store_default_folder ();
  g_autoptr(GError) error = NULL;
  KhadimStore *store = khadim_store_sqlite_new (folder, &error);

  if (store == NULL)
    khadim_cli_error ("the store in %s: %s", folder, error->message);

  return store;
}

/* The tools that every automation may use; those of the screen are loaded
 * when the first of them is wanted. */
void
khadim_cli_add_domains (KhadimToolbox *toolbox)
{
  g_autoptr(KhadimToolDomain) files = khadim_files_domain_new ();
  g_autoptr(KhadimToolDomain) data = khadim_data_domain_new ();
  g_autoptr(KhadimToolDomain) wait = khadim_wait_domain_new ();

  khadim_toolbox_add_domain (toolbox, files);
  khadim_toolbox_add_domain (toolbox, data);
  khadim_toolbox_add_domain (toolbox, wait);
  khadim_screen_loader_install (toolbox);
}

/* An engine whose questions reach a person by `khadim approve`. */
KhadimEngine *
khadim_cli_new_engine (KhadimStore *store)
{
  KhadimEngine *engine = khadim_engine_new (store);

  khadim_engine_set_can_ask (engine, TRUE);
  khadim_cli_add_domains (khadim_engine_get_toolbox (engine));

  return engine;
}

/* The folder of an automation by its name: a folder, one of the person's, or
 * one that was run before. NULL, which has been said, when there is none. */
char *
khadim_cli_find (const char  *name,
                 KhadimStore *store)
{
  g_autofree char *here = g_get_current_dir ();
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) known = NULL;
  char *folder = khadim_automation_resolve (name, here, &error);

  if (folder != NULL)
    return folder;

  known = store != NULL ? khadim_store_list_automations (store, NULL) : NULL;
  for (guint i = 0; known != NULL && i < known->len; i++)
    {
      KhadimAutomationRecord *record = known->pdata[i];

      if (g_strcmp0 (record->name, name) == 0 || g_strcmp0 (record->title, name) == 0)
        return g_strdup (record->folder);
    }
  khadim_cli_error ("%s", error->message);

  return NULL;
}

/* A time of the store in the person's own zone. */
char *
khadim_cli_time (gint64 time_us)
{
  g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc (time_us / G_USEC_PER_SEC);
  g_autoptr(GDateTime) local = utc != NULL ? g_date_time_to_local (utc) : NULL;

  return local != NULL ? g_date_time_format (local, "%F %T") : g_strdup ("?");
}
