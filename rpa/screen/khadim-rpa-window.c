/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-window"

#include "config.h"

#include "rpa/screen/khadim-rpa-window.h"

#include <string.h>

#include "rpa/screen/khadim-rpa-window-private.h"

G_DEFINE_BOXED_TYPE (KhadimRpaWindow, khadim_rpa_window,
                     khadim_rpa_window_ref, khadim_rpa_window_unref)

KhadimRpaWindow *
_khadim_rpa_window_new (guint32 id)
{
  KhadimRpaWindow *self = g_new0 (KhadimRpaWindow, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->id = id;
  self->desktop = -1;

  return self;
}

/**
 * khadim_rpa_window_ref:
 * @self: a window
 *
 * Takes another reference. Any thread.
 *
 * Returns: (transfer full): @self
 */
KhadimRpaWindow *
khadim_rpa_window_ref (KhadimRpaWindow *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

/**
 * khadim_rpa_window_unref:
 * @self: (transfer full): a window
 *
 * Gives a reference back. Any thread.
 */
void
khadim_rpa_window_unref (KhadimRpaWindow *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_free (self->title);
  g_free (self->class_name);
  g_free (self->instance);
  g_free (self->type);
  g_free (self->startup_id);
  g_free (self);
}

/**
 * khadim_rpa_window_get_id:
 * @self: a window
 *
 * Any thread.
 *
 * Returns: its X id
 */
guint32
khadim_rpa_window_get_id (KhadimRpaWindow *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->id;
}

/**
 * khadim_rpa_window_get_title:
 * @self: a window
 *
 * `_NET_WM_NAME`, else `WM_NAME`. Any thread.
 *
 * Returns: (transfer none): its title, possibly empty
 */
const char *
khadim_rpa_window_get_title (KhadimRpaWindow *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->title != NULL ? self->title : "";
}

/**
 * khadim_rpa_window_get_class:
 * @self: a window
 *
 * The second string of `WM_CLASS`. Any thread.
 *
 * Returns: (transfer none): its class, possibly empty
 */
const char *
khadim_rpa_window_get_class (KhadimRpaWindow *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->class_name != NULL ? self->class_name : "";
}

/**
 * khadim_rpa_window_get_instance:
 * @self: a window
 *
 * The first string of `WM_CLASS`. Any thread.
 *
 * Returns: (transfer none): its instance, possibly empty
 */
const char *
khadim_rpa_window_get_instance (KhadimRpaWindow *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->instance != NULL ? self->instance : "";
}

/**
 * khadim_rpa_window_get_window_type:
 * @self: a window
 *
 * The first known of `_NET_WM_WINDOW_TYPE`, such as `normal`, `dialog`, `dock`
 * or `desktop`. Any thread.
 *
 * Returns: (transfer none): its type
 */
const char *
khadim_rpa_window_get_window_type (KhadimRpaWindow *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->type != NULL ? self->type : "normal";
}

/**
 * khadim_rpa_window_get_startup_id:
 * @self: a window
 *
 * `_NET_STARTUP_ID`, by which a window belongs to a start. Any thread.
 *
 * Returns: (transfer none): the id, possibly empty
 */
const char *
khadim_rpa_window_get_startup_id (KhadimRpaWindow *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->startup_id != NULL ? self->startup_id : "";
}

/**
 * khadim_rpa_window_get_pid:
 * @self: a window
 *
 * `_NET_WM_PID`. Any thread.
 *
 * Returns: its process, 0 if it does not say
 */
guint32
khadim_rpa_window_get_pid (KhadimRpaWindow *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->pid;
}

/**
 * khadim_rpa_window_get_parent:
 * @self: a window
 *
 * `WM_TRANSIENT_FOR`. Any thread.
 *
 * Returns: the window that it is a dialog of, 0 if none
 */
guint32
khadim_rpa_window_get_parent (KhadimRpaWindow *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->parent;
}

/**
 * khadim_rpa_window_get_desktop:
 * @self: a window
 *
 * `_NET_WM_DESKTOP`. Any thread.
 *
 * Returns: its desktop from 0, -1 for all of them
 */
int
khadim_rpa_window_get_desktop (KhadimRpaWindow *self)
{
  g_return_val_if_fail (self != NULL, -1);

  return self->desktop;
}

/**
 * khadim_rpa_window_get_stacking:
 * @self: a window
 *
 * Any thread.
 *
 * Returns: its place among the windows listed with it, 0 for the lowest
 */
int
khadim_rpa_window_get_stacking (KhadimRpaWindow *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->stacking;
}

/**
 * khadim_rpa_window_get_state:
 * @self: a window
 *
 * Any thread.
 *
 * Returns: its states
 */
KhadimRpaWindowState
khadim_rpa_window_get_state (KhadimRpaWindow *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->state;
}

/**
 * khadim_rpa_window_get_client:
 * @self: a window
 * @out_client: (out): where its contents are, without shadow, in px on the root
 *
 * Any thread.
 */
void
khadim_rpa_window_get_client (KhadimRpaWindow    *self,
                              KhadimRpaRect *out_client)
{
  g_return_if_fail (self != NULL && out_client != NULL);

  *out_client = self->client;
  out_client->x += self->shadow.left;
  out_client->y += self->shadow.top;
  out_client->width -= self->shadow.left + self->shadow.right;
  out_client->height -= self->shadow.top + self->shadow.bottom;
}

/**
 * khadim_rpa_window_get_frame:
 * @self: a window
 * @out_frame: (out): where it is with what the window manager draws around it,
 *   in px on the root
 *
 * Any thread.
 */
void
khadim_rpa_window_get_frame (KhadimRpaWindow    *self,
                             KhadimRpaRect *out_frame)
{
  g_return_if_fail (self != NULL && out_frame != NULL);

  *out_frame = self->frame;
}

/* Matching ----------------------------------------------------------------- */

static gboolean
glob_matches (const char *pattern,
              const char *string)
{
  return strpbrk (pattern, "*?") != NULL ? g_pattern_match_simple (pattern, string)
                                         : g_str_equal (pattern, string);
}

static gboolean
is_app (KhadimRpaWindow *self,
        const char      *app)
{
  g_autofree char *wanted = g_utf8_casefold (app, -1);
  g_autofree char *class_name = g_utf8_casefold (khadim_rpa_window_get_class (self), -1);
  g_autofree char *instance = g_utf8_casefold (khadim_rpa_window_get_instance (self), -1);

  return glob_matches (wanted, class_name) || glob_matches (wanted, instance);
}

static gboolean
is_one_of (guint32        pid,
           const guint32 *pids)
{
  for (guint i = 0; pids[i] != 0; i++)
    if (pids[i] == pid)
      return TRUE;

  return FALSE;
}

/**
 * khadim_rpa_window_matches:
 * @self: a window
 * @match: which are meant
 *
 * Any thread.
 *
 * Returns: whether @self is one of them
 */
gboolean
khadim_rpa_window_matches (KhadimRpaWindow            *self,
                           const KhadimRpaWindowMatch *match)
{
  g_return_val_if_fail (self != NULL && match != NULL, FALSE);

  if (match->id != 0 && match->id != self->id)
    return FALSE;
  if (match->pid != 0 && match->pid != self->pid)
    return FALSE;
  if (match->pids != NULL && !is_one_of (self->pid, match->pids))
    return FALSE;
  if (match->app != NULL && !is_app (self, match->app))
    return FALSE;

  return match->title == NULL || glob_matches (match->title, khadim_rpa_window_get_title (self));
}

/* JSON --------------------------------------------------------------------- */

static void
add_string (JsonBuilder *builder,
            const char  *key,
            const char  *value)
{
  json_builder_set_member_name (builder, key);
  json_builder_add_string_value (builder, value);
}

static void
add_int (JsonBuilder *builder,
         const char  *key,
         gint64       value)
{
  json_builder_set_member_name (builder, key);
  json_builder_add_int_value (builder, value);
}

static void
add_rectangle (JsonBuilder              *builder,
               const char               *key,
               const KhadimRpaRect *rectangle)
{
  json_builder_set_member_name (builder, key);
  json_builder_begin_object (builder);
  add_int (builder, "x", rectangle->x);
  add_int (builder, "y", rectangle->y);
  add_int (builder, "width", rectangle->width);
  add_int (builder, "height", rectangle->height);
  json_builder_end_object (builder);
}

static void
add_state (JsonBuilder          *builder,
           KhadimRpaWindowState  state)
{
  static const char * const names[] = { "active", "minimized", "maximized", "fullscreen",
                                        "above",  "modal",     "attention", "visible" };

  json_builder_set_member_name (builder, "state");
  json_builder_begin_array (builder);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (state & (1u << i))
      json_builder_add_string_value (builder, names[i]);
  json_builder_end_array (builder);
}

/**
 * khadim_rpa_window_to_json:
 * @self: a window
 *
 * Writes it as an object with `id`, `title`, `class`, `instance`, `type`,
 * `pid`, `desktop`, `stacking`, `state` (a list), `frame` and `client` (px on
 * the root). Any thread.
 *
 * Returns: (transfer full): an object
 */
JsonNode *
khadim_rpa_window_to_json (KhadimRpaWindow *self)
{
  g_autoptr(JsonBuilder) builder = json_builder_new ();
  KhadimRpaRect client;

  g_return_val_if_fail (self != NULL, NULL);

  khadim_rpa_window_get_client (self, &client);
  json_builder_begin_object (builder);
  add_int (builder, "id", self->id);
  add_string (builder, "title", khadim_rpa_window_get_title (self));
  add_string (builder, "class", khadim_rpa_window_get_class (self));
  add_string (builder, "instance", khadim_rpa_window_get_instance (self));
  add_string (builder, "type", khadim_rpa_window_get_window_type (self));
  add_int (builder, "pid", self->pid);
  add_int (builder, "desktop", self->desktop);
  add_int (builder, "stacking", self->stacking);
  add_state (builder, self->state);
  add_rectangle (builder, "frame", &self->frame);
  add_rectangle (builder, "client", &client);
  json_builder_end_object (builder);

  return json_builder_get_root (builder);
}
