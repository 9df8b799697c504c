/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <stdio.h>

#include "rpa/input/khadim-rpa-input.h"

/* Types, with a key and a button held, until it is killed. */

int
main (int    argc,
      char **argv)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(KhadimRpaDisplay) display = khadim_rpa_display_new (NULL, &error);
  g_autoptr(KhadimRpaInput) input =
    display != NULL ? khadim_rpa_input_new (display, &error) : NULL;
  KhadimRpaTypeOptions options = { .delay_us = 1000 };

  if (input != NULL && khadim_rpa_input_key_down (input, "ctrl", 0, &error) &&
      khadim_rpa_input_press (input, KHADIM_RPA_BUTTON_LEFT, 0, &error))
    while (khadim_rpa_input_type (input, "漢字かな and letters", &options, NULL, NULL, &error))
      continue;
  g_printerr ("%s\n", error->message);

  return 1;
}
