/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "test-event"

#include "config.h"

#include "engine/event/khadim-event.h"
#include "engine/json/khadim-json.h"

static JsonNode *
parse (const char *text)
{
  g_autoptr(GError) error = NULL;
  JsonNode *node = khadim_json_parse (text, -1, NULL, &error);

  g_assert_no_error (error);

  return node;
}

static void
test_channels (void)
{
  static const char *const documented[] = { "progress", "control", "monitor" };
  KhadimChannel channel = 0;

  for (guint i = 0; i < G_N_ELEMENTS (documented); i++)
    {
      g_assert_true (khadim_channel_from_string (documented[i], &channel));
      g_assert_cmpint (channel, ==, 1 << i);
      g_assert_cmpstr (khadim_channel_to_string (channel), ==, documented[i]);
    }

  g_assert_false (khadim_channel_from_string ("Progress", &channel));
  g_assert_cmpint (channel, ==, KHADIM_CHANNEL_MONITOR);
}

/* The line as the page about the event stream describes it. */
static void
test_line (void)
{
  g_autoptr(JsonNode) metadata = parse ("{\"id\":\"c1\",\"fraction\":0.5,\"args\":[1,null]}");
  g_autoptr(KhadimEvent) event = khadim_event_new ("s1", 7, 1767323045000006,
                                                   KHADIM_CHANNEL_PROGRESS, "step_update",
                                                   "A “line”\nand more", metadata);
  g_autofree char *line = NULL;

  khadim_event_set_run (event, "old", "old");
  khadim_event_set_run (event, "r1", "/home/a");
  line = khadim_event_to_line (event);

  g_assert_cmpstr (line, ==,
                   "{\"seq\":7,\"time\":\"2026-01-02T03:04:05.000006Z\",\"channel\":\"progress\","
                   "\"event_type\":\"step_update\",\"content\":\"A “line”\\nand more\","
                   "\"metadata\":{\"id\":\"c1\",\"fraction\":0.5,\"args\":[1,null]},"
                   "\"session_id\":\"s1\",\"run_id\":\"r1\",\"workspace_id\":\"/home/a\"}");
}

static void
test_line_nulls (void)
{
  g_autoptr(KhadimEvent) event = khadim_event_new ("s1", 1, 0, KHADIM_CHANNEL_MONITOR, "done",
                                                   NULL, NULL);
  g_autofree char *line = khadim_event_to_line (event);

  g_assert_cmpstr (line, ==,
                   "{\"seq\":1,\"time\":\"1970-01-01T00:00:00.000000Z\",\"channel\":\"monitor\","
                   "\"event_type\":\"done\",\"content\":null,\"metadata\":null,"
                   "\"session_id\":\"s1\",\"run_id\":null,\"workspace_id\":null}");
}

/* What a tool printed may hold any bytes; a line is UTF-8 all the same. */
static void
test_not_utf8 (void)
{
  g_autoptr(KhadimEvent) event = khadim_event_new ("s1", 1, 0, KHADIM_CHANNEL_PROGRESS,
                                                   "text_delta", "a\xff" "b", NULL);
  g_autofree char *line = khadim_event_to_line (event);

  g_assert_cmpstr (khadim_event_get_content (event), ==, "a\xef\xbf\xbd" "b");
  g_assert_true (g_utf8_validate (line, -1, NULL));
}

/* An event does not change with the value it was made of. */
static void
test_immutable (void)
{
  g_autoptr(JsonNode) metadata = parse ("{\"list\":[{\"a\":1}],\"n\":1}");
  g_autoptr(JsonNode) original = parse ("{\"list\":[{\"a\":1}],\"n\":1}");
  g_autoptr(JsonNode) open_node = json_node_new (JSON_NODE_OBJECT);
  g_autoptr(JsonArray) array = json_array_new ();
  g_autoptr(KhadimEvent) event = NULL;
  g_autoptr(KhadimEvent) same = NULL;
  JsonObject *object = json_object_new ();
  JsonObject *inner = json_object_new ();

  json_object_set_int_member (inner, "a", 1);
  json_array_add_object_element (array, json_object_ref (inner));
  json_object_set_array_member (object, "list", json_array_ref (array));
  json_object_set_int_member (object, "n", 1);
  json_node_take_object (open_node, object);

  event = khadim_event_new ("s1", 1, 0, KHADIM_CHANNEL_CONTROL, "x", NULL, open_node);
  json_object_set_int_member (object, "n", 2);
  json_object_set_int_member (inner, "a", 2);
  g_assert_true (khadim_json_equal (khadim_event_get_metadata (event), original));
  g_assert_false (khadim_json_equal (open_node, original));
  json_object_unref (inner);

  json_node_seal (metadata);
  same = khadim_event_new ("s1", 1, 0, KHADIM_CHANNEL_CONTROL, "x", NULL, metadata);
  g_assert_true (khadim_event_get_metadata (same) == metadata);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/engine/event/channels", test_channels);
  g_test_add_func ("/engine/event/line", test_line);
  g_test_add_func ("/engine/event/line-nulls", test_line_nulls);
  g_test_add_func ("/engine/event/not-utf8", test_not_utf8);
  g_test_add_func ("/engine/event/immutable", test_immutable);

  return g_test_run ();
}
