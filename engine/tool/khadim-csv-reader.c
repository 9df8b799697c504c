/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-csv-reader"

#include "config.h"

#include "engine/tool/khadim-csv-private.h"

#include <csv.h>
#include <string.h>

#include "engine/json/khadim-json.h"

/* How much libcsv gets between two looks at whether to go on */
#define CHUNK_BYTES (64 * 1024)

/* One reading. libcsv splits into cells and calls back; its callbacks cannot
 * stop it, so after an error or the last row they do nothing. */
typedef struct
{
  const KhadimCsvFormat *format; /* borrowed */

  GPtrArray *names;  /* of the columns as they stand in the text */
  GPtrArray *wanted; /* of the columns to give, NULL for all */
  GHashTable *keep;  /* the same as a set; names are owned by `wanted` */
  GString *text;     /* the cells of the record under way, each with a NUL */
  GArray *cells;     /* where in it they begin */
  JsonArray *rows;
  GError *error;
  gboolean full; /* max_rows are there, and another one came */

  guint line;        /* where libcsv is, from 1 */
  guint record_line; /* where the record under way began */
  gboolean after_cr;
  gsize n_cells;
} Reader;

static void
reader_clear (Reader *self)
{
  g_clear_pointer (&self->names, g_ptr_array_unref);
  g_clear_pointer (&self->keep, g_hash_table_unref);
  g_clear_pointer (&self->wanted, g_ptr_array_unref);
  g_clear_pointer (&self->cells, g_array_unref);
  g_string_free (self->text, TRUE);
  g_clear_pointer (&self->rows, json_array_unref);
  g_clear_error (&self->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reader, reader_clear)

static void
fail (Reader          *self,
      KhadimToolError  code,
      guint            line,
      const char      *format,
      ...) G_GNUC_PRINTF (4, 5);

static void
fail (Reader          *self,
      KhadimToolError  code,
      guint            line,
      const char      *format,
      ...)
{
  g_autofree char *words = NULL;
  va_list args;

  if (self->error != NULL)
    return;

  va_start (args, format);
  words = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (&self->error, KHADIM_TOOL_ERROR, code, "Line %u: %s", line, words);
}

static const char *
cell_at (Reader *self,
         guint   i)
{
  return self->text->str + g_array_index (self->cells, gsize, i);
}

static gboolean
is_done (Reader *self)
{
  return self->error != NULL || self->full;
}

/* Line breaks: LF, CR LF, and CR alone. */
static guint
count_breaks (const char *text,
              gsize       size)
{
  guint n = 0;

  for (gsize i = 0; i < size; i++)
    {
      if (text[i] == '\n' || (text[i] == '\r' && (i + 1 == size || text[i + 1] != '\n')))
        n++;
    }

  return n;
}

/* Columns ---------------------------------------------------------------- */

static gboolean
check_names (Reader    *self,
             GPtrArray *names,
             guint      line)
{
  g_autoptr(GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);

      if (*name == '\0')
        fail (self, KHADIM_TOOL_ERROR_TOOL, line, "column %u has no name", i + 1);
      else if (!g_hash_table_add (seen, (gpointer) name))
        fail (self, KHADIM_TOOL_ERROR_TOOL, line, "two columns are named “%s”", name);
    }

  return self->error == NULL;
}

static GPtrArray *
copy_names (JsonArray *columns)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < json_array_get_length (columns); i++)
    {
      JsonNode *column = json_array_get_element (columns, i);
      const char *name = JSON_NODE_HOLDS_VALUE (column) ? json_node_get_string (column) : NULL;

      g_ptr_array_add (names, g_strdup (name != NULL ? name : ""));
    }

  return names;
}

static void
take_header (Reader *self)
{
  self->names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < self->cells->len; i++)
    g_ptr_array_add (self->names, g_strdup (cell_at (self, i)));
  if (!check_names (self, self->names, self->record_line) || self->format->columns == NULL)
    return;

  self->wanted = copy_names (self->format->columns);
  self->keep = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < self->wanted->len; i++)
    {
      const char *name = g_ptr_array_index (self->wanted, i);

      g_hash_table_add (self->keep, (gpointer) name);
      if (!g_ptr_array_find_with_equal_func (self->names, name, g_str_equal, NULL))
        fail (self, KHADIM_TOOL_ERROR_NOT_FOUND, self->record_line,
              "there is no column “%s”", name);
    }
}

/* Without a header the first record says how many columns there are; those
 * without names are c1, c2 … */
static void
make_names (Reader *self)
{
  if (self->format->columns != NULL)
    {
      self->names = copy_names (self->format->columns);
      check_names (self, self->names, 1);
      return;
    }

  self->names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < self->cells->len; i++)
    g_ptr_array_add (self->names, g_strdup_printf ("c%u", i + 1));
}

/* Records ----------------------------------------------------------------- */

static void
add_row (Reader *self)
{
  JsonObject *row = NULL;

  if (self->cells->len != self->names->len)
    {
      fail (self, KHADIM_TOOL_ERROR_TOOL, self->record_line,
            "%u cells, but there are %u columns", self->cells->len, self->names->len);
      return;
    }
  if (json_array_get_length (self->rows) >= self->format->max_rows)
    {
      self->full = TRUE;
      return;
    }
  if (json_array_get_length (self->rows) >= KHADIM_CSV_MAX_ROWS)
    {
      fail (self, KHADIM_TOOL_ERROR_LIMIT, self->record_line, "more than %d rows",
            KHADIM_CSV_MAX_ROWS);
      return;
    }

  row = json_object_new ();
  for (guint i = 0; i < self->cells->len; i++)
    {
      const char *name = g_ptr_array_index (self->names, i);

      if (self->keep == NULL || g_hash_table_contains (self->keep, name))
        json_object_set_string_member (row, name, cell_at (self, i));
    }
  json_array_add_object_element (self->rows, row);
}

static void
end_record (Reader *self)
{
  if (self->names == NULL && self->format->header)
    {
      take_header (self);
    }
  else
    {
      if (self->names == NULL)
        make_names (self);
      if (self->error == NULL)
        add_row (self);
    }

  g_string_truncate (self->text, 0);
  g_array_set_size (self->cells, 0);
}

static void
on_cell_cb (void   *text,
            size_t  size,
            void   *data)
{
  Reader *self = data;
  gsize offset = self->text->len;

  if (is_done (self))
    return;

  if (self->cells->len == 0)
    self->record_line = self->line;
  self->line += count_breaks (text, size);
  self->after_cr = FALSE;

  if (self->cells->len >= KHADIM_CSV_MAX_COLUMNS)
    fail (self, KHADIM_TOOL_ERROR_LIMIT, self->line, "more than %d columns",
          KHADIM_CSV_MAX_COLUMNS);
  else if (++self->n_cells > KHADIM_CSV_MAX_CELLS)
    fail (self, KHADIM_TOOL_ERROR_LIMIT, self->line, "more than %d cells", KHADIM_CSV_MAX_CELLS);
  else
    {
      g_string_append_len (self->text, size > 0 ? text : "", (gssize) size);
      g_string_append_c (self->text, '\0');
      g_array_append_val (self->cells, offset);
    }
}

/* At each line break outside quotes, and at the end of the text. A line with
 * nothing in it is no record. */
static void
on_record_cb (int   character,
              void *data)
{
  Reader *self = data;

  if (is_done (self))
    return;

  if (self->cells->len > 0)
    {
      end_record (self);
      self->after_cr = FALSE;
    }
  if (!(character == CSV_LF && self->after_cr))
    self->line++;
  self->after_cr = character == CSV_CR;
}

/* The whole ----------------------------------------------------------------- */

/* libcsv takes spaces around a cell away, RFC 4180 does not. */
static int
is_no_space (unsigned char character)
{
  return 0;
}

static void
fail_parse (Reader     *self,
            const char *text,
            gsize       offset)
{
  guint line = 1 + count_breaks (text, offset);

  fail (self, KHADIM_TOOL_ERROR_TOOL, line,
        "a quotation mark in the middle of a cell: "
        "the cell must be in quotation marks, and those in it doubled");
}

static void
feed (Reader            *self,
      struct csv_parser *parser,
      const char        *text,
      GCancellable      *cancellable)
{
  gsize size = strlen (text);
  gsize offset = 0;

  while (offset < size && !is_done (self)
         && !g_cancellable_set_error_if_cancelled (cancellable, &self->error))
    {
      gsize chunk = MIN (size - offset, CHUNK_BYTES);
      gsize n = csv_parse (parser, text + offset, chunk, on_cell_cb, on_record_cb, self);

      offset += n;
      if (n < chunk)
        fail_parse (self, text, offset);
    }
  if (!is_done (self) && csv_fini (parser, on_cell_cb, on_record_cb, self) != 0)
    fail (self, KHADIM_TOOL_ERROR_TOOL, self->cells->len > 0 ? self->record_line : self->line,
          "a cell that begins with a quotation mark does not end with one");
}

static JsonArray *
names_to_json (GPtrArray *names)
{
  JsonArray *array = json_array_new ();

  for (guint i = 0; names != NULL && i < names->len; i++)
    json_array_add_string_element (array, g_ptr_array_index (names, i));

  return array;
}

static JsonNode *
reader_to_json (Reader *self,
                char    delimiter)
{
  JsonObject *object = json_object_new ();
  const char text[] = { delimiter, '\0' };

  json_object_set_array_member (object, "columns",
                                names_to_json (self->wanted != NULL ? self->wanted
                                                                    : self->names));
  json_object_set_int_member (object, "count", json_array_get_length (self->rows));
  json_object_set_boolean_member (object, "truncated", self->full);
  json_object_set_string_member (object, "delimiter", text);
  json_object_set_array_member (object, "rows", g_steal_pointer (&self->rows));

  return khadim_json_object (object);
}

/* Which of the usual delimiters stands most often in the first record,
 * outside of quotation marks; a comma if there is none. */
char
_khadim_csv_find_delimiter (const char *text)
{
  static const char candidates[] = { ',', ';', '\t' };
  guint counts[G_N_ELEMENTS (candidates)] = { 0 };
  gboolean quoted = FALSE;
  guint best = 0;

  while (*text == '\n' || *text == '\r')
    text++;
  for (; *text != '\0' && (quoted || (*text != '\n' && *text != '\r')); text++)
    {
      if (*text == '"')
        quoted = !quoted;
      for (guint i = 0; i < G_N_ELEMENTS (candidates) && !quoted; i++)
        counts[i] += *text == candidates[i];
    }
  for (guint i = 1; i < G_N_ELEMENTS (candidates); i++)
    {
      if (counts[i] > counts[best])
        best = i;
    }

  return candidates[best];
}

/* Reads a table: `{columns, rows: [{column: cell}], count, truncated,
 * delimiter}`. Cells are strings. Every record must have as many cells as
 * there are columns, and each column its own name. */
JsonNode *
_khadim_csv_parse (const char             *text,
                   const KhadimCsvFormat  *format,
                   GCancellable           *cancellable,
                   GError                **error)
{
  g_auto(Reader) self = { .format = format, .line = 1 };
  struct csv_parser parser;
  char delimiter;

  delimiter = format->delimiter != 0 ? format->delimiter : _khadim_csv_find_delimiter (text);
  self.text = g_string_new (NULL);
  self.cells = g_array_new (FALSE, FALSE, sizeof (gsize));
  self.rows = json_array_new ();
  if (csv_init (&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL) != 0)
    g_error ("libcsv cannot start");
  csv_set_delim (&parser, (unsigned char) delimiter);
  csv_set_space_func (&parser, is_no_space);

  feed (&self, &parser, text, cancellable);
  csv_free (&parser);

  if (self.names == NULL && !format->header)
    make_names (&self);
  else if (self.names == NULL)
    fail (&self, KHADIM_TOOL_ERROR_TOOL, 1, "there is no line with the names of the columns");
  if (self.error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&self.error));
      return NULL;
    }

  return reader_to_json (&self, delimiter);
}
