/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-csv-writer"

#include "config.h"

#include "engine/tool/khadim-csv-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"
#include "engine/tool/khadim-tool-io-private.h"

/* RFC 4180: what holds a delimiter, a quotation mark or a line break goes in
 * quotation marks, and those inside are doubled. Spaces at the ends too, for
 * readers that would take them away; and what is empty in a table of one
 * column, where it would be no record. */
static void
append_cell (GString              *text,
             const char           *cell,
             const KhadimCsvStyle *style,
             gboolean              only)
{
  const char special[] = { style->delimiter, '"', '\r', '\n', '\0' };
  gsize len = strlen (cell);

  if (!(only && len == 0)
      && strpbrk (cell, special) == NULL
      && (len == 0 || (cell[0] != ' ' && cell[len - 1] != ' ')))
    {
      g_string_append_len (text, cell, (gssize) len);
      return;
    }

  g_string_append_c (text, '"');
  for (const char *c = cell; *c != '\0'; c++)
    {
      if (*c == '"')
        g_string_append_c (text, '"');
      g_string_append_c (text, *c);
    }
  g_string_append_c (text, '"');
}

static void
append_break (GString              *text,
              const KhadimCsvStyle *style)
{
  g_string_append (text, style->crlf ? "\r\n" : "\n");
}

/* Strings as they are, null as nothing, numbers and booleans as JSON has
 * them. */
static char *
cell_text (JsonNode *value)
{
  if (value == NULL || JSON_NODE_HOLDS_NULL (value))
    return g_strdup ("");
  if (!JSON_NODE_HOLDS_VALUE (value))
    return NULL;
  if (json_node_get_value_type (value) == G_TYPE_STRING)
    return g_strdup (json_node_get_string (value));

  return khadim_json_to_string (value);
}

/* What to write: the names in order, and as a set. */
typedef struct
{
  GPtrArray *names;
  GHashTable *set; /* names are owned by `names` */
} Columns;

static void
columns_clear (Columns *columns)
{
  g_hash_table_unref (columns->set);
  g_ptr_array_unref (columns->names);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Columns, columns_clear)

static void
take_columns (GPtrArray            *names,
              JsonArray            *rows,
              const KhadimCsvStyle *style)
{
  if (style->columns != NULL)
    {
      for (guint i = 0; i < json_array_get_length (style->columns); i++)
        g_ptr_array_add (names, g_strdup (json_array_get_string_element (style->columns, i)));
    }
  else if (json_array_get_length (rows) > 0
           && JSON_NODE_HOLDS_OBJECT (json_array_get_element (rows, 0)))
    {
      JsonObjectIter iter;
      const char *name;

      json_object_iter_init_ordered (&iter, json_array_get_object_element (rows, 0));
      while (json_object_iter_next_ordered (&iter, &name, NULL))
        g_ptr_array_add (names, g_strdup (name));
    }
}

static gboolean
choose_columns (Columns               *columns,
                JsonArray             *rows,
                const KhadimCsvStyle  *style,
                GError               **error)
{
  take_columns (columns->names, rows, style);
  for (guint i = 0; i < columns->names->len; i++)
    {
      const char *name = g_ptr_array_index (columns->names, i);

      if (name == NULL || *name == '\0' || !g_hash_table_add (columns->set, (gpointer) name))
        {
          g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                       "Column %u has no name, or one that another has", i + 1);
          return FALSE;
        }
    }
  if (columns->names->len == 0)
    {
      g_set_error_literal (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                           "There are neither columns nor a first row to take them from");
      return FALSE;
    }

  return TRUE;
}

/* A member that is no column would be lost. */
static gboolean
check_members (JsonObject  *row,
               guint        number,
               Columns     *columns,
               GError     **error)
{
  JsonObjectIter iter;
  const char *name;

  json_object_iter_init (&iter, row);
  while (json_object_iter_next (&iter, &name, NULL))
    {
      if (!g_hash_table_contains (columns->set, name))
        {
          g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                       "Row %u has “%s”, which is no column", number, name);
          return FALSE;
        }
    }

  return TRUE;
}

static gboolean
append_row (GString               *text,
            JsonNode              *node,
            guint                  number,
            Columns               *columns,
            const KhadimCsvStyle  *style,
            GError               **error)
{
  JsonObject *row;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                   "Row %u is no object of columns and cells", number);
      return FALSE;
    }
  row = json_node_get_object (node);
  if (!check_members (row, number, columns, error))
    return FALSE;

  for (guint i = 0; i < columns->names->len; i++)
    {
      const char *name = g_ptr_array_index (columns->names, i);
      g_autofree char *cell = cell_text (khadim_json_get (row, name));

      if (cell == NULL)
        {
          g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                       "Row %u: “%s” is no text, number or boolean", number, name);
          return FALSE;
        }
      if (i > 0)
        g_string_append_c (text, style->delimiter);
      append_cell (text, cell, style, columns->names->len == 1);
    }
  append_break (text, style);

  return TRUE;
}

static void
append_header (GString              *text,
               GPtrArray            *columns,
               const KhadimCsvStyle *style)
{
  for (guint i = 0; i < columns->len; i++)
    {
      if (i > 0)
        g_string_append_c (text, style->delimiter);
      append_cell (text, g_ptr_array_index (columns, i), style, columns->len == 1);
    }
  append_break (text, style);
}

/* Writes a table of `[{column: cell}]`. A column that a row has not is an
 * empty cell; a member that is no column is an error. Rows are counted from 1
 * in the errors. */
char *
_khadim_csv_format (JsonArray             *rows,
                    const KhadimCsvStyle  *style,
                    GCancellable          *cancellable,
                    GError               **error)
{
  g_auto(Columns) columns = {
    g_ptr_array_new_with_free_func (g_free), g_hash_table_new (g_str_hash, g_str_equal)
  };
  g_autoptr(GString) text = g_string_new (NULL);

  if (!choose_columns (&columns, rows, style, error))
    return NULL;

  if (style->header)
    append_header (text, columns.names, style);
  for (guint i = 0; i < json_array_get_length (rows); i++)
    {
      if (g_cancellable_set_error_if_cancelled (cancellable, error)
          || !append_row (text, json_array_get_element (rows, i), i + 1, &columns, style, error))
        return NULL;
      if (text->len > KHADIM_TOOL_IO_MAX_BYTES)
        {
          g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_LIMIT,
                       "Row %u brings the table over %d bytes", i + 1, KHADIM_TOOL_IO_MAX_BYTES);
          return NULL;
        }
    }

  return g_string_free (g_steal_pointer (&text), FALSE);
}
