/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-json-node"

#include "config.h"

#include "engine/base/khadim-json-node-private.h"

#include "engine/json/khadim-json.h"

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
  if (json_node_is_immutable (node))
    return json_node_ref (node);

  held = khadim_json_copy (node);
  json_node_seal (held);

  return held;
}
