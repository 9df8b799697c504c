/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-a11y-place"

#include "config.h"

#include "rpa/find/khadim-rpa-a11y-place.h"

#include "rpa/screen/khadim-rpa-window-private.h"

/* An application may have several windows of one title, and a top level may be
 * named otherwise than its window: the topmost one with the title counts, else
 * the only one there is. */
static KhadimRpaWindow *
choose (GPtrArray  *windows,
        const char *title)
{
  for (guint i = windows->len; i > 0; i--)
    {
      KhadimRpaWindow *window = g_ptr_array_index (windows, i - 1);

      if (g_strcmp0 (khadim_rpa_window_get_title (window), title) == 0)
        return window;
    }

  return windows->len == 1 ? g_ptr_array_index (windows, 0) : NULL;
}

static void
add_popups (KhadimRpaWindows   *windows,
            guint32             pid,
            KhadimRpaA11yPlace *place)
{
  g_autoptr(GPtrArray) popups = khadim_rpa_windows_list_popups (windows, pid, NULL);

  for (guint i = 0; popups != NULL && i < popups->len; i++)
    if (place->n_popups < KHADIM_RPA_A11Y_MAX_POPUPS)
      place->popups[place->n_popups++] =
        ((KhadimRpaWindow *) g_ptr_array_index (popups, i))->client;
}

static gboolean
find_place (guint32             pid,
            const char         *title,
            KhadimRpaA11yPlace *out_place,
            gpointer            user_data)
{
  const KhadimRpaWindowMatch match = { .pid = pid };
  g_autoptr(GPtrArray) found = khadim_rpa_windows_list (user_data, &match, NULL);
  KhadimRpaWindow *window = found != NULL ? choose (found, title) : NULL;

  if (window == NULL)
    return FALSE;
  out_place->x = window->client.x;
  out_place->y = window->client.y;
  out_place->width = window->client.width;
  out_place->height = window->client.height;
  out_place->has_frame = window->has_shadow;
  out_place->left = window->shadow.left;
  out_place->right = window->shadow.right;
  out_place->top = window->shadow.top;
  add_popups (user_data, pid, out_place);

  return TRUE;
}

/**
 * khadim_rpa_a11y_follow_windows:
 * @self: a connection that no other thread uses yet
 * @windows: the windows of the display that the applications are on
 *
 * Has the windows tell where objects of GTK 4 are, which know their place in
 * their window only.
 */
void
khadim_rpa_a11y_follow_windows (KhadimRpaA11y    *self,
                                KhadimRpaWindows *windows)
{
  g_return_if_fail (KHADIM_RPA_IS_A11Y (self));
  g_return_if_fail (KHADIM_RPA_IS_WINDOWS (windows));

  khadim_rpa_a11y_set_place_func (self, find_place, g_object_ref (windows), g_object_unref);
}
