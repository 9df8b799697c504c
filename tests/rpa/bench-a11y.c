/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <atspi/atspi.h>

#include "rpa/find/khadim-rpa-a11y-place.h"
#include "tests/rpa/lib/desk.h"

/* The tree of an application with role, name, states, description and extents
 * of each node: ours, and that of the client library libatspi with its cache
 * emptied before each round, in turns on the same applications in one run. */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AtspiAccessible, g_object_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AtspiComponent, g_object_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AtspiStateSet, g_object_unref)

#define ROUNDS     7
#define TIMEOUT_MS 20000

static KhadimRpaA11y *a11y;

static guint
walk_ours (guint32 pid)
{
  const KhadimRpaA11yScope scope = { .pid = pid };
  const KhadimRpaA11yLimits limits = { .details = TRUE, .hidden = TRUE };
  g_autoptr(KhadimRpaA11yNode) root =
    khadim_rpa_a11y_snapshot (a11y, &scope, &limits, NULL, NULL);

  return root != NULL ? khadim_rpa_a11y_node_count (root) : 0;
}

static guint
walk_library_node (AtspiAccessible *node)
{
  g_autofree char *name = atspi_accessible_get_name (node, NULL);
  g_autofree char *description = atspi_accessible_get_description (node, NULL);
  g_autofree char *role = atspi_accessible_get_role_name (node, NULL);
  g_autoptr(AtspiStateSet) states G_GNUC_UNUSED = atspi_accessible_get_state_set (node);
  g_autoptr(AtspiComponent) component = atspi_accessible_get_component_iface (node);
  int n_children = atspi_accessible_get_child_count (node, NULL);
  AtspiRect *rect = NULL;
  guint count = 1;

  if (component != NULL)
    rect = atspi_component_get_extents (component, ATSPI_COORD_TYPE_WINDOW, NULL);
  g_free (rect);
  for (int i = 0; i < n_children; i++)
    {
      g_autoptr(AtspiAccessible) child = atspi_accessible_get_child_at_index (node, i, NULL);

      if (child != NULL)
        count += walk_library_node (child);
    }

  return count;
}

static guint
walk_library (guint32 pid)
{
  g_autoptr(AtspiAccessible) desktop = atspi_get_desktop (0);
  int n_apps = atspi_accessible_get_child_count (desktop, NULL);

  for (int i = 0; i < n_apps; i++)
    {
      g_autoptr(AtspiAccessible) app = atspi_accessible_get_child_at_index (desktop, i, NULL);

      if (app != NULL && atspi_accessible_get_process_id (app, NULL) == pid)
        {
          atspi_accessible_clear_cache (app);
          return walk_library_node (app);
        }
    }

  return 0;
}

static gboolean
has_tree (gpointer user_data)
{
  return walk_ours (GPOINTER_TO_UINT (user_data)) > 20;
}

static double
measure_ms (guint   (*walk) (guint32 pid),
            guint32   pid,
            guint    *out_nodes)
{
  gint64 start_us = g_get_monotonic_time ();

  *out_nodes = walk (pid);

  return (double) (g_get_monotonic_time () - start_us) / 1000.0;
}

static void
compare (Desk       *desk,
         const char *program)
{
  g_autoptr(GSubprocess) process = desk_spawn (desk, program, NULL);
  double ours_ms = G_MAXDOUBLE;
  double library_ms = G_MAXDOUBLE;
  guint ours = 0;
  guint library = 0;

  g_assert_true (desk_wait (has_tree, GUINT_TO_POINTER (desk_pid (process)), TIMEOUT_MS));
  for (int round = 0; round < ROUNDS; round++)
    {
      ours_ms = MIN (ours_ms, measure_ms (walk_ours, desk_pid (process), &ours));
      library_ms = MIN (library_ms, measure_ms (walk_library, desk_pid (process), &library));
    }
  g_print ("{\"benchmark\": \"a11y\", \"program\": \"%s\", \"rounds\": %d, \"nodes\": %u, "
           "\"ours_ms\": %.2f, \"libatspi_nodes\": %u, \"libatspi_ms\": %.2f, "
           "\"libatspi_over_ours\": %.1f}\n",
           program, ROUNDS, ours, ours_ms, library, library_ms, library_ms / ours_ms);
  desk_end (process);
}

int
main (void)
{
  g_autoptr(Desk) desk = desk_new ("openbox", 1280, 800);

  a11y = khadim_rpa_a11y_new (NULL, NULL, NULL);
  atspi_init ();
  compare (desk, "galculator");
  compare (desk, "featherpad");
  compare (desk, "gnome-calculator");
  g_object_unref (a11y);

  return 0;
}
