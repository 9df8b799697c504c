/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-json-node"

#include "config.h"

#include "engine/base/khadim-json-node-private.h"

static JsonNode *copy_deep (JsonNode *node);

static void
copy_member (JsonObject *object,
             const char *name,
             JsonNode   *member,
             gpointer    user_data)
{
  json_object_set_member (user_data, name, copy_deep (member));
}

static void
copy_element (JsonArray *array,
              guint      index,
              JsonNode  *element,
              gpointer   user_data)
{
  json_array_add_element (user_data, copy_deep (element));
}

/* json_node_copy() shares objects and arrays with the original. */
static JsonNode *
copy_deep (JsonNode *node)
{
  JsonNode *copy;

  if (json_node_is_immutable (node))
    return json_node_ref (node);

  if (JSON_NODE_HOLDS_OBJECT (node))
    {
      copy = json_node_new (JSON_NODE_OBJECT);
      json_node_take_object (copy, json_object_new ());
      json_object_foreach_member (json_node_get_object (node), copy_member,
                                  json_node_get_object (copy));
      return copy;
    }

  if (JSON_NODE_HOLDS_ARRAY (node))
    {
      JsonArray *array = json_node_get_array (node);

      copy = json_node_new (JSON_NODE_ARRAY);
      json_node_take_array (copy, json_array_sized_new (json_array_get_length (array)));
      json_array_foreach_element (array, copy_element, json_node_get_array (copy));
      return copy;
    }

  return json_node_copy (node);
}

/*< private >
 * _khadim_json_node_hold:
 * @node: (nullable): a value
 *
 * What a record keeps of @node: @node itself if it is sealed, or a sealed copy
 * that later changes of @node do not reach. Any thread.
 *
 * Returns: (nullable) (transfer full): a sealed value
 */
JsonNode *
_khadim_json_node_hold (JsonNode *node)
{
  JsonNode *held;

  if (node == NULL)
    return NULL;

  held = copy_deep (node);
  json_node_seal (held);

  return held;
}
