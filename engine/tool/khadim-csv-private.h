/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Tables as comma separated values (RFC 4180). */

#pragma once

#include <gio/gio.h>
#include <json-glib/json-glib.h>

#include "engine/base/khadim-error.h"

G_BEGIN_DECLS

#define KHADIM_CSV_MAX_COLUMNS 1000
#define KHADIM_CSV_MAX_ROWS 100000
#define KHADIM_CSV_MAX_CELLS 1000000

/**
 * KhadimCsvFormat:
 * @delimiter: between cells; 0 to find out, from the first record
 * @header: whether the first record names the columns
 * @columns: (nullable): with a header, the columns that are wanted; without,
 *   their names
 * @max_rows: where to stop; the rest is not looked at
 *
 * How to read a table.
 */
typedef struct
{
  char delimiter;
  gboolean header;
  JsonArray *columns;
  gint64 max_rows;
} KhadimCsvFormat;

/**
 * KhadimCsvStyle:
 * @delimiter: between cells
 * @header: whether the first record names the columns
 * @crlf: whether lines end in CR LF, else in LF
 * @columns: (nullable): what to write in which order; %NULL for the members
 *   of the first row
 *
 * How to write a table.
 */
typedef struct
{
  char delimiter;
  gboolean header;
  gboolean crlf;
  JsonArray *columns;
} KhadimCsvStyle;

char      _khadim_csv_find_delimiter (const char             *text);
JsonNode *_khadim_csv_parse          (const char             *text,
                                      const KhadimCsvFormat  *format,
                                      GCancellable           *cancellable,
                                      GError                **error);
char     *_khadim_csv_format         (JsonArray              *rows,
                                      const KhadimCsvStyle   *style,
                                      GCancellable           *cancellable,
                                      GError                **error);

G_END_DECLS
