/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gtk/gtk.h>

#include "target-log.h"

/* target-gtk4 FOLDER [TITLE]: a window with one of each, in GTK 4 */

static GtkWidget *view;
static guint pending;
static gboolean ended;

static gboolean
on_flush_cb (gpointer user_data)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (view));
  GtkTextIter start, end;
  g_autofree char *text = NULL;

  gtk_text_buffer_get_bounds (buffer, &start, &end);
  text = gtk_text_buffer_get_text (buffer, &start, &end, TRUE);
  target_write_text (text);
  pending = 0;

  return G_SOURCE_REMOVE;
}

static void
on_changed_cb (void)
{
  if (pending == 0)
    pending = g_timeout_add (20, on_flush_cb, NULL);
}

static void
on_clicked_cb (GtkWidget  *widget,
               const char *name)
{
  target_log ("clicked", name);
}

static void
on_destroy_cb (void)
{
  ended = TRUE;
}

static void
on_map_cb (GtkWidget *widget)
{
  gtk_widget_grab_focus (view);
  target_log ("shown", "window");
}

int
main (int    argc,
      char **argv)
{
  GtkWidget *window, *box, *button, *toggle, *scroller;

  if (argc < 2)
    return 2;
  gtk_init ();
  g_strlcpy (target_folder, argv[1], sizeof target_folder);
  window = gtk_window_new ();
  gtk_window_set_title (GTK_WINDOW (window), argc > 2 ? argv[2] : "GTK 4 target");
  gtk_window_set_default_size (GTK_WINDOW (window), 500, 400);
  box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  view = gtk_text_view_new ();
  scroller = gtk_scrolled_window_new ();
  button = gtk_button_new_with_label ("Press");
  toggle = gtk_check_button_new_with_label ("Toggle");
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), view);
  gtk_widget_set_vexpand (scroller, TRUE);
  gtk_box_append (GTK_BOX (box), scroller);
  gtk_box_append (GTK_BOX (box), gtk_entry_new ());
  gtk_box_append (GTK_BOX (box), button);
  gtk_box_append (GTK_BOX (box), toggle);
  gtk_window_set_child (GTK_WINDOW (window), box);
  g_signal_connect (gtk_text_view_get_buffer (GTK_TEXT_VIEW (view)), "changed",
                    G_CALLBACK (on_changed_cb), NULL);
  g_signal_connect (button, "clicked", G_CALLBACK (on_clicked_cb), (gpointer) "button");
  g_signal_connect (toggle, "toggled", G_CALLBACK (on_clicked_cb), (gpointer) "toggle");
  g_signal_connect (window, "destroy", G_CALLBACK (on_destroy_cb), NULL);
  g_signal_connect_after (window, "map", G_CALLBACK (on_map_cb), NULL);
  gtk_widget_show (window);
  while (!ended)
    g_main_context_iteration (NULL, TRUE);

  return 0;
}
