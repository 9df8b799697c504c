/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-register"

#include "config.h"

#include "rpa/tools/khadim-rpa-register.h"

#include "rpa/tools/khadim-rpa-desk-private.h"

/**
 * khadim_rpa_register:
 * @toolbox: the tools of an engine
 * @error: (nullable): not set at present
 *
 * Adds the domains of the screen, which all work at the display of this
 * process. The display is connected to when the first call is made, so that a
 * document can be checked where there is none. Any thread.
 *
 * Returns: whether they are there
 */
gboolean
khadim_rpa_register (KhadimToolbox  *toolbox,
                     GError        **error)
{
  g_autoptr(KhadimRpaDesk) desk = _khadim_rpa_desk_new (toolbox);
  g_autoptr(KhadimToolDomain) screen = _khadim_rpa_screen_domain_new (desk);
  g_autoptr(KhadimToolDomain) window = _khadim_rpa_window_domain_new (desk);
  g_autoptr(KhadimToolDomain) clipboard = _khadim_rpa_clipboard_domain_new (desk);
  g_autoptr(KhadimToolDomain) app = _khadim_rpa_app_domain_new (desk);

  g_return_val_if_fail (KHADIM_IS_TOOLBOX (toolbox), FALSE);

  khadim_toolbox_add_domain (toolbox, screen);
  khadim_toolbox_add_domain (toolbox, window);
  khadim_toolbox_add_domain (toolbox, clipboard);
  khadim_toolbox_add_domain (toolbox, app);

  return TRUE;
}
