/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-ewmh"

#include "config.h"

#include "rpa/screen/khadim-rpa-ewmh-private.h"

#include <string.h>

#include <X11/Xatom.h>
#include <X11/Xutil.h>

#define MAX_CLIENTS      4096
#define MAX_STRING_LONGS 1024 /* of 4 bytes */
#define MAX_DEPTH        16

static Atom
atom (Display    *x,
      const char *name)
{
  return XInternAtom (x, name, False);
}

static void *
read_property (Display       *x,
               Window         window,
               const char    *property,
               guint          max_longs,
               int            wanted_format,
               Atom          *out_type,
               unsigned long *out_n)
{
  unsigned char *data = NULL;
  unsigned long rest = 0;
  int format = 0;

  *out_n = 0;
  *out_type = None;
  if (XGetWindowProperty (x, window, atom (x, property), 0, max_longs, False, AnyPropertyType,
                          out_type, &format, out_n, &rest, &data) != Success)
    return NULL;
  if (data != NULL && (format != wanted_format || *out_n == 0))
    {
      XFree (data);
      *out_n = 0;
      return NULL;
    }

  return data;
}

/* Reads up to n_values numbers. */
gboolean
_khadim_rpa_ewmh_get_longs (Display    *x,
                            Window      window,
                            const char *property,
                            long       *out_values,
                            guint       n_values,
                            guint      *out_n)
{
  unsigned long n = 0;
  Atom type;
  long *data = read_property (x, window, property, n_values, 32, &type, &n);

  if (data == NULL)
    return FALSE;
  memcpy (out_values, data, n * sizeof (long));
  XFree (data);
  if (out_n != NULL)
    *out_n = (guint) n;

  return out_n != NULL || n == n_values;
}

/* (element-type long), empty where the property is not there. */
GArray *
_khadim_rpa_ewmh_get_list (Display    *x,
                           Window      window,
                           const char *property)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (long));
  unsigned long n = 0;
  Atom type;
  long *data = read_property (x, window, property, MAX_CLIENTS, 32, &type, &n);

  if (data != NULL)
    {
      g_array_append_vals (list, data, (guint) n);
      XFree (data);
    }

  return list;
}

/* Text of the type STRING is Latin-1; what claims to be UTF-8 may not be. */
char *
_khadim_rpa_ewmh_get_string (Display    *x,
                             Window      window,
                             const char *property)
{
  unsigned long n = 0;
  Atom type;
  char *data = read_property (x, window, property, MAX_STRING_LONGS, 8, &type, &n);
  char *text = NULL;

  if (data == NULL)
    return NULL;
  if (type == XA_STRING)
    text = g_convert (data, (gssize) n, "UTF-8", "ISO-8859-1", NULL, NULL, NULL);
  if (text == NULL)
    text = g_utf8_make_valid (data, (gssize) strnlen (data, n));
  XFree (data);

  return text;
}

static Window
get_window (Display    *x,
            Window      window,
            const char *property)
{
  long value = None;

  _khadim_rpa_ewmh_get_longs (x, window, property, &value, 1, NULL);

  return (Window) value;
}

/* A manager that has ended leaves its window's id on the root, but not the
 * window. */
gboolean
_khadim_rpa_ewmh_has_manager (Display *x)
{
  Window check = get_window (x, DefaultRootWindow (x), "_NET_SUPPORTING_WM_CHECK");

  return check != None && get_window (x, check, "_NET_SUPPORTING_WM_CHECK") == check;
}

gboolean
_khadim_rpa_ewmh_supports (Display    *x,
                           const char *hint)
{
  g_autoptr(GArray) hints = _khadim_rpa_ewmh_get_list (x, DefaultRootWindow (x), "_NET_SUPPORTED");
  Atom wanted = atom (x, hint);

  for (guint i = 0; i < hints->len; i++)
    if ((Atom) g_array_index (hints, long, i) == wanted)
      return TRUE;

  return FALSE;
}

Window
_khadim_rpa_ewmh_get_active (Display *x)
{
  return get_window (x, DefaultRootWindow (x), "_NET_ACTIVE_WINDOW");
}

/* What is mapped on the root: either what a manager would look after, or what
 * asked not to be looked after (override-redirect), such as menus. */
static GArray *
list_mapped (Display  *x,
             gboolean  popups)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (long));
  Window root = None;
  Window parent = None;
  Window *children = NULL;
  unsigned int n = 0;

  if (!XQueryTree (x, DefaultRootWindow (x), &root, &parent, &children, &n))
    return list;
  for (unsigned int i = 0; i < n && list->len < MAX_CLIENTS; i++)
    {
      XWindowAttributes attributes;
      long id = (long) children[i];

      if (XGetWindowAttributes (x, children[i], &attributes)
          && attributes.class == InputOutput && attributes.map_state == IsViewable
          && (attributes.override_redirect != 0) == popups)
        g_array_append_val (list, id);
    }
  if (children != NULL)
    XFree (children);

  return list;
}

/* (element-type long), from the bottom up. */
GArray *
_khadim_rpa_ewmh_list_clients (Display *x)
{
  g_autoptr(GArray) list = NULL;

  if (!_khadim_rpa_ewmh_has_manager (x))
    return list_mapped (x, FALSE);
  list = _khadim_rpa_ewmh_get_list (x, DefaultRootWindow (x), "_NET_CLIENT_LIST_STACKING");
  if (list->len > 0)
    return g_steal_pointer (&list);

  return _khadim_rpa_ewmh_get_list (x, DefaultRootWindow (x), "_NET_CLIENT_LIST");
}

/* (element-type long), from the bottom up. */
GArray *
_khadim_rpa_ewmh_list_popups (Display *x)
{
  return list_mapped (x, TRUE);
}

/* Description -------------------------------------------------------------- */

static void
read_names (Display         *x,
            KhadimRpaWindow *self)
{
  XClassHint hint = { 0 };

  self->title = _khadim_rpa_ewmh_get_string (x, self->id, "_NET_WM_NAME");
  if (self->title == NULL)
    self->title = _khadim_rpa_ewmh_get_string (x, self->id, "WM_NAME");
  self->startup_id = _khadim_rpa_ewmh_get_string (x, self->id, "_NET_STARTUP_ID");
  if (!XGetClassHint (x, self->id, &hint))
    return;
  if (hint.res_name != NULL)
    self->instance = g_utf8_make_valid (hint.res_name, -1);
  if (hint.res_class != NULL)
    self->class_name = g_utf8_make_valid (hint.res_class, -1);
  XFree (hint.res_name);
  XFree (hint.res_class);
}

static void
read_type (Display         *x,
           KhadimRpaWindow *self)
{
  static const char * const known[] = { "normal", "dialog",  "dock",   "desktop", "toolbar",
                                        "menu",   "utility", "splash", "notification" };
  g_autoptr(GArray) types = _khadim_rpa_ewmh_get_list (x, self->id, "_NET_WM_WINDOW_TYPE");

  for (guint i = 0; i < types->len; i++)
    for (guint j = 0; j < G_N_ELEMENTS (known); j++)
      {
        g_autofree char *upper = g_ascii_strup (known[j], -1);
        g_autofree char *name = g_strconcat ("_NET_WM_WINDOW_TYPE_", upper, NULL);

        if ((Atom) g_array_index (types, long, i) == atom (x, name))
          {
            self->type = g_strdup (known[j]);
            return;
          }
      }
  if (types->len == 0 && self->parent != None)
    self->type = g_strdup ("dialog");
}

static gboolean
has_atom (Display    *x,
          GArray     *atoms,
          const char *name)
{
  for (guint i = 0; i < atoms->len; i++)
    if ((Atom) g_array_index (atoms, long, i) == atom (x, name))
      return TRUE;

  return FALSE;
}

static void
read_state (Display         *x,
            KhadimRpaWindow *self,
            int              map_state)
{
  static const struct { const char *name; KhadimRpaWindowState state; } known[] = {
    { "_NET_WM_STATE_HIDDEN", KHADIM_RPA_WINDOW_STATE_MINIMIZED },
    { "_NET_WM_STATE_FULLSCREEN", KHADIM_RPA_WINDOW_STATE_FULLSCREEN },
    { "_NET_WM_STATE_ABOVE", KHADIM_RPA_WINDOW_STATE_ABOVE },
    { "_NET_WM_STATE_MODAL", KHADIM_RPA_WINDOW_STATE_MODAL },
    { "_NET_WM_STATE_DEMANDS_ATTENTION", KHADIM_RPA_WINDOW_STATE_ATTENTION },
  };
  g_autoptr(GArray) atoms = _khadim_rpa_ewmh_get_list (x, self->id, "_NET_WM_STATE");

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (has_atom (x, atoms, known[i].name))
      self->state |= known[i].state;
  if (has_atom (x, atoms, "_NET_WM_STATE_MAXIMIZED_HORZ")
      && has_atom (x, atoms, "_NET_WM_STATE_MAXIMIZED_VERT"))
    self->state |= KHADIM_RPA_WINDOW_STATE_MAXIMIZED;
  if (map_state == IsViewable)
    self->state |= KHADIM_RPA_WINDOW_STATE_VISIBLE;
  if (_khadim_rpa_ewmh_get_active (x) == self->id)
    self->state |= KHADIM_RPA_WINDOW_STATE_ACTIVE;
}

static void
read_protocols (Display         *x,
                KhadimRpaWindow *self)
{
  g_autoptr(GArray) protocols = _khadim_rpa_ewmh_get_list (x, self->id, "WM_PROTOCOLS");

  self->has_ping = has_atom (x, protocols, "_NET_WM_PING");
  self->has_delete = has_atom (x, protocols, "WM_DELETE_WINDOW");
}

/* The child of the root that a window is in: its frame, or itself. */
static Window
find_frame (Display *x,
            Window   window)
{
  for (int i = 0; i < MAX_DEPTH; i++)
    {
      Window root = None;
      Window parent = None;
      Window *children = NULL;
      unsigned int n = 0;

      if (!XQueryTree (x, window, &root, &parent, &children, &n))
        return None;
      if (children != NULL)
        XFree (children);
      if (parent == root || parent == None)
        return window;
      window = parent;
    }

  return window;
}

static gboolean
get_rectangle (Display            *x,
               Window              window,
               KhadimRpaRect *out_rectangle,
               int                *out_map_state)
{
  XWindowAttributes attributes;
  Window child;

  if (!XGetWindowAttributes (x, window, &attributes)
      || !XTranslateCoordinates (x, window, attributes.root, 0, 0, &out_rectangle->x,
                                 &out_rectangle->y, &child))
    return FALSE;
  out_rectangle->width = attributes.width;
  out_rectangle->height = attributes.height;
  if (out_map_state != NULL)
    *out_map_state = attributes.map_state;

  return TRUE;
}

static gboolean
read_border (Display         *x,
             Window           window,
             const char      *property,
             KhadimRpaBorder *out_border)
{
  long values[4];

  if (!_khadim_rpa_ewmh_get_longs (x, window, property, values, 4, NULL))
    return FALSE;
  out_border->left = (int) values[0];
  out_border->right = (int) values[1];
  out_border->top = (int) values[2];
  out_border->bottom = (int) values[3];

  return TRUE;
}

/* A window that draws its own frame has it inside, with a shadow around that
 * is not part of it; another one has it outside. What the manager says counts
 * more than the frame's X window, which with some managers holds a shadow. */
static void
read_frame (Display         *x,
            KhadimRpaWindow *self)
{
  KhadimRpaBorder border = { 0 };
  Window frame;

  self->has_shadow = read_border (x, self->id, "_GTK_FRAME_EXTENTS", &self->shadow);
  self->frame = self->client;
  if (self->has_shadow)
    {
      khadim_rpa_window_get_client (self, &self->frame);
    }
  else if (read_border (x, self->id, "_NET_FRAME_EXTENTS", &border))
    {
      self->frame.x -= border.left;
      self->frame.y -= border.top;
      self->frame.width += border.left + border.right;
      self->frame.height += border.top + border.bottom;
    }
  else
    {
      frame = find_frame (x, self->id);
      if (frame != None && frame != self->id)
        get_rectangle (x, frame, &self->frame, NULL);
    }
}

/* NULL when the window is gone. */
KhadimRpaWindow *
_khadim_rpa_ewmh_describe (Display *x,
                           Window   window)
{
  g_autoptr(KhadimRpaWindow) self = _khadim_rpa_window_new ((guint32) window);
  long value = 0;
  int map_state = IsUnmapped;

  if (!get_rectangle (x, window, &self->client, &map_state))
    return NULL;
  self->parent = (guint32) get_window (x, window, "WM_TRANSIENT_FOR");
  if (_khadim_rpa_ewmh_get_longs (x, window, "_NET_WM_PID", &value, 1, NULL))
    self->pid = (guint32) value;
  if (_khadim_rpa_ewmh_get_longs (x, window, "_NET_WM_DESKTOP", &value, 1, NULL))
    self->desktop = (value & 0xffffffff) == 0xffffffff ? -1 : (int) value;
  read_names (x, self);
  read_type (x, self);
  read_state (x, self, map_state);
  read_protocols (x, self);
  read_frame (x, self);

  return g_steal_pointer (&self);
}

/* Messages ----------------------------------------------------------------- */

static void
send_message (Display    *x,
              Window      to,
              Window      window,
              const char *type,
              const long  data[5],
              long        mask)
{
  XEvent event = { 0 };

  event.xclient.type = ClientMessage;
  event.xclient.window = window;
  event.xclient.message_type = atom (x, type);
  event.xclient.format = 32;
  memcpy (event.xclient.data.l, data, 5 * sizeof (long));
  XSendEvent (x, to, False, mask, &event);
}

/* Asks the window manager to do something with a window. */
void
_khadim_rpa_ewmh_ask_manager (Display    *x,
                              Window      window,
                              const char *message,
                              const long  data[5])
{
  send_message (x, DefaultRootWindow (x), window, message, data,
                SubstructureRedirectMask | SubstructureNotifyMask);
}

/* Sends a window one of its WM_PROTOCOLS. */
void
_khadim_rpa_ewmh_send_protocol (Display    *x,
                                Window      window,
                                const char *protocol,
                                Time        time)
{
  const long data[5] = { (long) atom (x, protocol), (long) time, (long) window, 0, 0 };

  send_message (x, window, window, "WM_PROTOCOLS", data, NoEventMask);
}
