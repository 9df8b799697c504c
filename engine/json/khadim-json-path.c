/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-json-path"

#include "config.h"

#include "engine/json/khadim-json-path.h"

#include "engine/json/khadim-json-private.h"

/* Digits of an array index in a pointer, as many as fit a guint. */
#define POINTER_MAX_DIGITS 9

static gboolean
key_is_plain (const char *key)
{
  if (!g_ascii_isalpha (key[0]) && key[0] != '_' && key[0] != '$')
    return FALSE;

  for (const char *p = key; *p != '\0'; p++)
    {
      if (!g_ascii_isalnum (*p) && *p != '_' && *p != '-' && *p != '$')
        return FALSE;
    }

  return TRUE;
}

/**
 * khadim_json_path_push_key:
 * @path: a path, empty for the root
 * @key: a member's name
 *
 * Goes into a member: `a.b`, or `a["odd key"]` where the name is not a plain
 * word. Any thread.
 *
 * Returns: the length before, for `g_string_truncate()`
 */
gsize
khadim_json_path_push_key (GString    *path,
                           const char *key)
{
  gsize before;

  g_return_val_if_fail (path != NULL, 0);
  g_return_val_if_fail (key != NULL, path->len);

  before = path->len;
  if (key_is_plain (key))
    {
      if (before > 0)
        g_string_append_c (path, '.');
      g_string_append (path, key);
    }
  else
    {
      g_string_append_c (path, '[');
      _khadim_json_append_quoted (path, key);
      g_string_append_c (path, ']');
    }

  return before;
}

/**
 * khadim_json_path_push_index:
 * @path: a path, empty for the root
 * @index: the number of an element, from 0
 *
 * Goes into an element: `a[3]`. Any thread.
 *
 * Returns: the length before, for `g_string_truncate()`
 */
gsize
khadim_json_path_push_index (GString *path,
                             guint    index)
{
  gsize before;

  g_return_val_if_fail (path != NULL, 0);

  before = path->len;
  g_string_append_printf (path, "[%u]", index);

  return before;
}

/* Reference token of RFC 6901 section 4: ~1 is / and ~0 is ~. */
static char *
pointer_token (const char *start,
               const char *end)
{
  g_autoptr(GString) token = g_string_sized_new (end - start);

  for (const char *p = start; p < end; p++)
    {
      if (*p != '~')
        g_string_append_c (token, *p);
      else if (p + 1 < end && (p[1] == '0' || p[1] == '1'))
        g_string_append_c (token, *++p == '0' ? '~' : '/');
      else
        return NULL;
    }

  return g_string_free (g_steal_pointer (&token), FALSE);
}

static JsonNode *
array_get_token (JsonArray  *array,
                 const char *token)
{
  gsize length = strlen (token);
  guint index;

  if (length == 0 || length > POINTER_MAX_DIGITS || strspn (token, "0123456789") != length)
    return NULL;
  if (token[0] == '0' && length > 1)
    return NULL;

  index = (guint) g_ascii_strtoull (token, NULL, 10);
  if (index >= json_array_get_length (array))
    return NULL;

  return json_array_get_element (array, index);
}

/**
 * khadim_json_pointer_get:
 * @root: a value
 * @pointer: a JSON pointer, such as `/steps/3/target`; "" for @root
 *
 * Follows a JSON pointer (RFC 6901). Any thread.
 *
 * Returns: (nullable) (transfer none): the value there; %NULL if there is none
 *   or @pointer is not well formed
 */
JsonNode *
khadim_json_pointer_get (JsonNode   *root,
                         const char *pointer)
{
  JsonNode *node = root;

  g_return_val_if_fail (root != NULL, NULL);
  g_return_val_if_fail (pointer != NULL, NULL);

  while (*pointer != '\0' && node != NULL)
    {
      g_autofree char *token = NULL;
      const char *end;

      if (*pointer != '/')
        return NULL;
      pointer++;
      end = strchrnul (pointer, '/');
      token = pointer_token (pointer, end);
      pointer = end;

      if (token == NULL)
        return NULL;
      if (JSON_NODE_HOLDS_OBJECT (node))
        node = json_object_get_member (json_node_get_object (node), token);
      else if (JSON_NODE_HOLDS_ARRAY (node))
        node = array_get_token (json_node_get_array (node), token);
      else
        return NULL;
    }

  return node;
}
