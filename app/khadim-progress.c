/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: GPL-3.0-or-later
 */

#define G_LOG_DOMAIN "khadim-progress"

#include "config.h"

#include "app/khadim-progress.h"

#include <string.h>

#include "engine/json/khadim-json.h"

typedef void (*ShowFunc) (KhadimEvent *event,
                          JsonObject  *metadata);

static const char *
get_content (KhadimEvent *event)
{
  const char *content = khadim_event_get_content (event);

  return content != NULL ? content : "";
}

static void
show_complete (KhadimEvent *event,
               JsonObject  *metadata)
{
  gboolean failed = khadim_json_get_boolean (metadata, "is_error", FALSE);

  g_print ("%s %s: %s (%" G_GINT64_FORMAT " ms)\n", failed ? "✗" : "✓",
           khadim_json_get_string (metadata, "position", ""), get_content (event),
           khadim_json_get_int (metadata, "duration_ms", 0));
}

static void
show_update (KhadimEvent *event,
             JsonObject  *metadata)
{
  double fraction = khadim_json_get_double (metadata, "fraction", -1);

  if (fraction >= 0)
    g_print ("  %3.0f %% %s\n", fraction * 100, get_content (event));
  else
    g_print ("  … %s\n", get_content (event));
}

static void
show_retry (KhadimEvent *event,
            JsonObject  *metadata)
{
  g_print ("↻ %s: attempt %" G_GINT64_FORMAT " in %" G_GINT64_FORMAT " ms\n",
           khadim_json_get_string (metadata, "step", ""),
           khadim_json_get_int (metadata, "attempt", 0),
           khadim_json_get_int (metadata, "delay_ms", 0));
}

static void
show_message (KhadimEvent *event,
              JsonObject  *metadata)
{
  g_print ("! %s\n", get_content (event));
}

static void
show_error (KhadimEvent *event,
            JsonObject  *metadata)
{
  if (khadim_event_get_channel (event) == KHADIM_CHANNEL_PROGRESS)
    g_print ("Failed at “%s” (%s): %s\n", khadim_json_get_string (metadata, "step", "?"),
             khadim_json_get_string (metadata, "code", "?"), get_content (event));
}

static void
show_done (KhadimEvent *event,
           JsonObject  *metadata)
{
  JsonNode *output = khadim_json_get (metadata, "output");
  g_autofree char *text = output != NULL && !JSON_NODE_HOLDS_NULL (output)
                            ? khadim_json_to_string (output)
                            : NULL;

  g_print ("Ended: %s%s%s\n", khadim_json_get_string (metadata, "reason", ""),
           text != NULL ? ", " : "", text != NULL ? text : "");
}

static const struct
{
  const char *event_type;
  ShowFunc show;
} shows[] = {
  { "step_complete", show_complete },
  { "step_update", show_update },
  { "retry", show_retry },
  { "system_message", show_message },
  { "error", show_error },
  { "done", show_done },
};

/* Shows what a person wants to know of an event, which may be nothing. */
void
khadim_progress_show (KhadimEvent *event)
{
  JsonNode *metadata = khadim_event_get_metadata (event);
  g_autoptr(JsonObject) none = json_object_new ();
  JsonObject *object = metadata != NULL && JSON_NODE_HOLDS_OBJECT (metadata)
                         ? json_node_get_object (metadata)
                         : none;

  for (gsize i = 0; i < G_N_ELEMENTS (shows); i++)
    if (strcmp (khadim_event_get_event_type (event), shows[i].event_type) == 0)
      shows[i].show (event, object);
}
