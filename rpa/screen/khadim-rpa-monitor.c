/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-monitor"

#include "config.h"

#include "rpa/screen/khadim-rpa-monitor.h"

#include <math.h>
#include <string.h>

#include <X11/extensions/Xrandr.h>

#include "rpa/screen/khadim-rpa-display-private.h"
#include "rpa/screen/khadim-rpa-error.h"
#include "rpa/screen/khadim-rpa-ewmh-private.h"

#define NORMAL_DPI 96.0
#define SCALE_STEP 0.25
#define SCALE_MAX  4.0

G_DEFINE_BOXED_TYPE (KhadimRpaMonitor, khadim_rpa_monitor,
                     khadim_rpa_monitor_copy, khadim_rpa_monitor_free)

/**
 * khadim_rpa_monitor_copy:
 * @self: a monitor
 *
 * Any thread.
 *
 * Returns: (transfer full): a copy
 */
KhadimRpaMonitor *
khadim_rpa_monitor_copy (const KhadimRpaMonitor *self)
{
  KhadimRpaMonitor *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = g_memdup2 (self, sizeof *self);
  copy->name = g_strdup (self->name);

  return copy;
}

/**
 * khadim_rpa_monitor_free:
 * @self: (transfer full): a monitor
 *
 * Any thread.
 */
void
khadim_rpa_monitor_free (KhadimRpaMonitor *self)
{
  g_return_if_fail (self != NULL);

  g_free (self->name);
  g_free (self);
}

/* Desktops write the scale that they use into the resource Xft.dpi. */
static double
guess_scale (Display *x)
{
  g_autofree char *resources =
    _khadim_rpa_ewmh_get_string (x, DefaultRootWindow (x), "RESOURCE_MANAGER");
  const char *at = resources != NULL ? strstr (resources, "Xft.dpi:") : NULL;
  double dpi = at != NULL ? g_ascii_strtod (at + strlen ("Xft.dpi:"), NULL) : NORMAL_DPI;
  double scale = round (dpi / NORMAL_DPI / SCALE_STEP) * SCALE_STEP;

  return CLAMP (scale, 1.0, SCALE_MAX);
}

static KhadimRpaMonitor *
monitor_new (Display              *x,
             const XRRMonitorInfo *info,
             double                scale)
{
  KhadimRpaMonitor *self = g_new0 (KhadimRpaMonitor, 1);
  char *name = XGetAtomName (x, info->name);

  if (name != NULL)
    {
      self->name = g_utf8_make_valid (name, -1);
      XFree (name);
    }
  self->area = (KhadimRpaRect) { info->x, info->y, info->width, info->height };
  self->width_mm = info->mwidth;
  self->height_mm = info->mheight;
  self->primary = info->primary != 0;
  self->scale = scale;

  return self;
}

static void
list_in_desktop (KhadimRpaDisplay *display,
                 gpointer          user_data)
{
  GPtrArray *list = user_data;
  Display *x = _khadim_rpa_display_get_x (display);
  double scale = guess_scale (x);
  int n = 0;
  XRRMonitorInfo *monitors;

  _khadim_rpa_display_push_trap (display);
  monitors = XRRGetMonitors (x, DefaultRootWindow (x), True, &n);
  for (int i = 0; monitors != NULL && i < n; i++)
    g_ptr_array_add (list, monitor_new (x, &monitors[i], scale));
  if (monitors != NULL)
    XRRFreeMonitors (monitors);
  _khadim_rpa_display_pop_trap (display);
}

/**
 * khadim_rpa_monitor_list:
 * @display: the display
 * @error: where to put an error
 *
 * Lists the monitors that are in use. Any thread. Source: the RANDR 1.5
 * protocol.
 *
 * Errors: #KHADIM_RPA_ERROR with `UNSUPPORTED` (the server has none to tell) or
 * `LOST`.
 *
 * Returns: (transfer container) (element-type KhadimRpaMonitor): the monitors;
 *   %NULL on error
 */
GPtrArray *
khadim_rpa_monitor_list (KhadimRpaDisplay  *display,
                         GError           **error)
{
  g_autoptr(GPtrArray) list =
    g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_rpa_monitor_free);

  g_return_val_if_fail (KHADIM_RPA_IS_DISPLAY (display), NULL);

  if (!khadim_rpa_display_run_sync (display, list_in_desktop, list, error))
    return NULL;
  if (list->len == 0)
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
                           "The X server does not tell its monitors");
      return NULL;
    }

  return g_steal_pointer (&list);
}
