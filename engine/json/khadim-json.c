/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-json"

#include "config.h"

#include "engine/json/khadim-json.h"

#include <math.h>

#include "engine/json/khadim-json-private.h"

/* 2^63, the first double past the integers */
#define INT64_END 9223372036854775808.0

/* The integer that @value is exactly. */
gboolean
_khadim_json_double_to_int (double  value,
                            gint64 *out_value)
{
  /* NaN fails the first comparison. */
  if (!(value >= -INT64_END && value < INT64_END) || floor (value) != value)
    return FALSE;

  *out_value = (gint64) value;
  return TRUE;
}

/* At most @max_chars characters of @text, with an ellipsis if some are left
 * out. */
char *
_khadim_json_shorten (const char *text,
                      gsize       max_chars)
{
  const char *end = text;

  for (gsize i = 0; *end != '\0'; i++)
    {
      if (i == max_chars)
        return g_strdup_printf ("%.*s…", (int) (end - text), text);
      end = g_utf8_next_char (end);
    }

  return g_strdup (text);
}

static JsonObject *
copy_object (JsonObject *object)
{
  JsonObject *copy = json_object_new ();
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &value))
    json_object_set_member (copy, name, khadim_json_copy (value));

  return copy;
}

static JsonArray *
copy_array (JsonArray *array)
{
  guint length = json_array_get_length (array);
  JsonArray *copy = json_array_sized_new (length);

  for (guint i = 0; i < length; i++)
    json_array_add_element (copy, khadim_json_copy (json_array_get_element (array, i)));

  return copy;
}

/**
 * khadim_json_copy:
 * @node: a value
 *
 * A copy that shares nothing with @node, whereas that of `json_node_copy()`
 * shares its members. Any thread.
 *
 * Returns: (transfer full): the copy, not sealed
 */
JsonNode *
khadim_json_copy (JsonNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);

  if (JSON_NODE_HOLDS_OBJECT (node))
    return khadim_json_object (copy_object (json_node_get_object (node)));
  if (JSON_NODE_HOLDS_ARRAY (node))
    return khadim_json_array (copy_array (json_node_get_array (node)));
  if (JSON_NODE_HOLDS_NULL (node))
    return khadim_json_null ();

  return json_node_copy (node);
}

/**
 * khadim_json_get:
 * @object: (nullable): an object
 * @member: a name
 *
 * Any thread.
 *
 * Returns: (nullable) (transfer none): the value of the member; %NULL if there
 *   is none
 */
JsonNode *
khadim_json_get (JsonObject *object,
                 const char *member)
{
  g_return_val_if_fail (member != NULL, NULL);

  return object != NULL ? json_object_get_member (object, member) : NULL;
}

static GType
member_type (JsonNode *node)
{
  if (node == NULL || !JSON_NODE_HOLDS_VALUE (node))
    return G_TYPE_INVALID;

  return json_node_get_value_type (node);
}

/**
 * khadim_json_get_string:
 * @object: (nullable): an object
 * @member: a name
 * @fallback: (nullable): for a member that is missing or no string
 *
 * Any thread.
 *
 * Returns: (nullable) (transfer none): the text
 */
const char *
khadim_json_get_string (JsonObject *object,
                        const char *member,
                        const char *fallback)
{
  JsonNode *node = khadim_json_get (object, member);

  if (member_type (node) != G_TYPE_STRING)
    return fallback;

  return json_node_get_string (node);
}

/**
 * khadim_json_get_int:
 * @object: (nullable): an object
 * @member: a name
 * @fallback: for a member that is missing or no integer
 *
 * A double that is an integer, such as `3.0`, counts as one. Any thread.
 *
 * Returns: the number
 */
gint64
khadim_json_get_int (JsonObject *object,
                     const char *member,
                     gint64      fallback)
{
  JsonNode *node = khadim_json_get (object, member);
  GType type = member_type (node);
  gint64 value;

  if (type == G_TYPE_INT64)
    return json_node_get_int (node);
  if (type == G_TYPE_DOUBLE
      && _khadim_json_double_to_int (json_node_get_double (node), &value))
    return value;

  return fallback;
}

/**
 * khadim_json_get_double:
 * @object: (nullable): an object
 * @member: a name
 * @fallback: for a member that is missing or no number
 *
 * Any thread.
 *
 * Returns: the number
 */
double
khadim_json_get_double (JsonObject *object,
                        const char *member,
                        double      fallback)
{
  JsonNode *node = khadim_json_get (object, member);
  GType type = member_type (node);

  if (type == G_TYPE_INT64)
    return (double) json_node_get_int (node);
  if (type == G_TYPE_DOUBLE)
    return json_node_get_double (node);

  return fallback;
}

/**
 * khadim_json_get_boolean:
 * @object: (nullable): an object
 * @member: a name
 * @fallback: for a member that is missing or no boolean
 *
 * Any thread.
 *
 * Returns: the value
 */
gboolean
khadim_json_get_boolean (JsonObject *object,
                         const char *member,
                         gboolean    fallback)
{
  JsonNode *node = khadim_json_get (object, member);

  return member_type (node) == G_TYPE_BOOLEAN ? json_node_get_boolean (node) : fallback;
}

/**
 * khadim_json_get_object:
 * @object: (nullable): an object
 * @member: a name
 *
 * Any thread.
 *
 * Returns: (nullable) (transfer none): the member; %NULL if it is missing or no
 *   object
 */
JsonObject *
khadim_json_get_object (JsonObject *object,
                        const char *member)
{
  JsonNode *node = khadim_json_get (object, member);

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
}

/**
 * khadim_json_get_array:
 * @object: (nullable): an object
 * @member: a name
 *
 * Any thread.
 *
 * Returns: (nullable) (transfer none): the member; %NULL if it is missing or no
 *   array
 */
JsonArray *
khadim_json_get_array (JsonObject *object,
                       const char *member)
{
  JsonNode *node = khadim_json_get (object, member);

  return node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
}

/**
 * khadim_json_null:
 *
 * Any thread.
 *
 * Returns: (transfer full): null
 */
JsonNode *
khadim_json_null (void)
{
  return json_node_init_null (json_node_alloc ());
}

/**
 * khadim_json_boolean:
 * @value: a boolean
 *
 * Any thread.
 *
 * Returns: (transfer full): the value
 */
JsonNode *
khadim_json_boolean (gboolean value)
{
  return json_node_init_boolean (json_node_alloc (), value);
}

/**
 * khadim_json_int:
 * @value: a number
 *
 * Any thread.
 *
 * Returns: (transfer full): the value
 */
JsonNode *
khadim_json_int (gint64 value)
{
  return json_node_init_int (json_node_alloc (), value);
}

/**
 * khadim_json_double:
 * @value: a number
 *
 * What JSON cannot write (NaN and the infinities) becomes null. Any thread.
 *
 * Returns: (transfer full): the value
 */
JsonNode *
khadim_json_double (double value)
{
  if (!isfinite (value))
    return khadim_json_null ();

  return json_node_init_double (json_node_alloc (), value);
}

/**
 * khadim_json_string:
 * @value: (nullable): UTF-8 text
 *
 * %NULL becomes null. Any thread.
 *
 * Returns: (transfer full): the value
 */
JsonNode *
khadim_json_string (const char *value)
{
  if (value == NULL)
    return khadim_json_null ();

  return json_node_init_string (json_node_alloc (), value);
}

/**
 * khadim_json_object:
 * @object: (transfer full): an object
 *
 * Any thread.
 *
 * Returns: (transfer full): the value that holds @object
 */
JsonNode *
khadim_json_object (JsonObject *object)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);

  g_return_val_if_fail (object != NULL, node);

  json_node_take_object (node, object);

  return node;
}

/**
 * khadim_json_array:
 * @array: (transfer full): an array
 *
 * Any thread.
 *
 * Returns: (transfer full): the value that holds @array
 */
JsonNode *
khadim_json_array (JsonArray *array)
{
  JsonNode *node = json_node_new (JSON_NODE_ARRAY);

  g_return_val_if_fail (array != NULL, node);

  json_node_take_array (node, array);

  return node;
}
