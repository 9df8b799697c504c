/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gtk/gtk.h>

#include "target-log.h"

/* target-gtk3 FOLDER [TITLE]: a window with one of each, in GTK 3 */

static GtkWidget *view;
static guint pending;

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

static gboolean
on_key_cb (GtkWidget   *widget,
           GdkEventKey *event)
{
  g_autofree char *name =
    g_strdup_printf ("%s %u", gdk_keyval_name (event->keyval), (unsigned) event->state & 0xff);

  target_log (event->type == GDK_KEY_PRESS ? "press" : "release", name);

  return FALSE;
}

static gboolean
on_button_cb (GtkWidget      *widget,
              GdkEventButton *event)
{
  g_autofree char *name = g_strdup_printf ("%u at %d %d with %u", event->button,
                                           (int) event->x_root, (int) event->y_root,
                                           (unsigned) event->state & 0xff);

  target_log (event->type == GDK_BUTTON_PRESS     ? "button"
              : event->type == GDK_2BUTTON_PRESS  ? "double"
              : event->type == GDK_3BUTTON_PRESS  ? "triple"
              : event->type == GDK_BUTTON_RELEASE ? "up"
                                                  : "other",
              name);

  return FALSE;
}

static gboolean
on_scroll_cb (GtkWidget      *widget,
              GdkEventScroll *event)
{
  static const char * const names[] = { "up", "down", "left", "right", "smooth" };

  target_log ("scroll", names[event->direction]);

  return FALSE;
}

static void
on_map_cb (GtkWidget *widget)
{
  gtk_widget_grab_focus (view);
  target_log ("shown", "window");
}

static GtkWidget *
add_pad (void)
{
  GtkWidget *pad = gtk_event_box_new ();

  gtk_widget_set_size_request (pad, 300, 60);
  gtk_widget_add_events (pad, GDK_BUTTON_PRESS_MASK | GDK_BUTTON_RELEASE_MASK | GDK_SCROLL_MASK);
  g_signal_connect (pad, "button-press-event", G_CALLBACK (on_button_cb), NULL);
  g_signal_connect (pad, "button-release-event", G_CALLBACK (on_button_cb), NULL);
  g_signal_connect (pad, "scroll-event", G_CALLBACK (on_scroll_cb), NULL);

  return pad;
}

int
main (int    argc,
      char **argv)
{
  GtkWidget *window, *box, *button, *toggle, *scroller;

  gtk_init (&argc, &argv);
  if (argc < 2)
    return 2;
  g_strlcpy (target_folder, argv[1], sizeof target_folder);
  window = gtk_window_new (GTK_WINDOW_TOPLEVEL);
  gtk_window_set_title (GTK_WINDOW (window), argc > 2 ? argv[2] : "GTK 3 target");
  gtk_window_set_default_size (GTK_WINDOW (window), 500, 400);
  box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  view = gtk_text_view_new ();
  scroller = gtk_scrolled_window_new (NULL, NULL);
  button = gtk_button_new_with_label ("Press");
  toggle = gtk_check_button_new_with_label ("Toggle");
  gtk_container_add (GTK_CONTAINER (scroller), view);
  gtk_box_pack_start (GTK_BOX (box), add_pad (), FALSE, FALSE, 0);
  gtk_box_pack_start (GTK_BOX (box), scroller, TRUE, TRUE, 0);
  gtk_box_pack_start (GTK_BOX (box), gtk_entry_new (), FALSE, FALSE, 0);
  gtk_box_pack_start (GTK_BOX (box), button, FALSE, FALSE, 0);
  gtk_box_pack_start (GTK_BOX (box), toggle, FALSE, FALSE, 0);
  gtk_container_add (GTK_CONTAINER (window), box);
  g_signal_connect (gtk_text_view_get_buffer (GTK_TEXT_VIEW (view)), "changed",
                    G_CALLBACK (on_changed_cb), NULL);
  g_signal_connect (button, "clicked", G_CALLBACK (on_clicked_cb), (gpointer) "button");
  g_signal_connect (toggle, "toggled", G_CALLBACK (on_clicked_cb), (gpointer) "toggle");
  g_signal_connect (window, "key-press-event", G_CALLBACK (on_key_cb), NULL);
  g_signal_connect (window, "key-release-event", G_CALLBACK (on_key_cb), NULL);
  g_signal_connect (window, "destroy", G_CALLBACK (gtk_main_quit), NULL);
  g_signal_connect (window, "map-event", G_CALLBACK (on_map_cb), NULL);
  gtk_widget_show_all (window);
  gtk_main ();

  return 0;
}
