/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-screen-loader"

#include "config.h"

#include "app/khadim-screen-loader.h"

#include <dlfcn.h>

/* The library of the screen's tools and its way in. It is loaded when the
 * first of them is wanted, so that a program that needs no screen starts
 * without X11, accessibility and text recognition. */
#define LIBRARY "libkhadim-rpa.so.0"
#define SYMBOL "khadim_rpa_register"

typedef gboolean (*RegisterFunc) (KhadimToolbox  *toolbox,
                                  GError        **error);

static const char *const domains[] = {
  "screen", "clipboard", "window", "app", NULL
};

static gboolean
load (KhadimToolbox  *toolbox,
      const char     *domain,
      gpointer        user_data,
      GError        **error)
{
  void *library = dlopen (LIBRARY, RTLD_NOW | RTLD_LOCAL);
  RegisterFunc register_domains;

  if (library == NULL)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_UNSUPPORTED,
                   "the tools of the screen cannot be loaded: %s", dlerror ());
      return FALSE;
    }
  /* It stays loaded: its types are registered for good. */
  register_domains = (RegisterFunc) dlsym (library, SYMBOL);
  if (register_domains == NULL)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_UNSUPPORTED,
                   "%s has no tools of the screen", LIBRARY);
      return FALSE;
    }

  return register_domains (toolbox, error);
}

/* Lets @toolbox load the tools of the screen when they are wanted. */
void
khadim_screen_loader_install (KhadimToolbox *toolbox)
{
  khadim_toolbox_set_loader (toolbox, domains, load, NULL, NULL);
}
