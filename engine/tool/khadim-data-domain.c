/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-data"

#include "config.h"

#include "engine/tool/khadim-data-domain.h"

#include "engine/json/khadim-json.h"
#include "engine/tool/khadim-data-private.h"

/* KhadimDataDomain: the tools for tables, JSON, texts and dates. It keeps
 * nothing from call to call. */
struct _KhadimDataDomain
{
  KhadimToolDomain parent_instance;
};

G_DEFINE_FINAL_TYPE (KhadimDataDomain, khadim_data_domain, KHADIM_TYPE_TOOL_DOMAIN)

enum {
  TOOL_READ_CSV,
  TOOL_WRITE_CSV,
  TOOL_APPEND_CSV,
  TOOL_PARSE_CSV,
  TOOL_TO_CSV,
  TOOL_READ_JSON,
  TOOL_WRITE_JSON,
  TOOL_PARSE_JSON,
  TOOL_TO_JSON,
  TOOL_TEXT,
  TOOL_PARSE_DATE,
  TOOL_FORMAT_DATE,
  N_TOOLS
};

#define PURE (KHADIM_TOOL_FLAGS_READ_ONLY | KHADIM_TOOL_FLAGS_IDEMPOTENT | KHADIM_TOOL_FLAGS_PURE)

static const KhadimToolInfo data_tools[N_TOOLS] = {
  [TOOL_READ_CSV] = {
    .name = "data.read_csv",
    .title = "Read a table from a CSV file",
    .description = "Gives {columns: [name], rows: [{name: cell}], count, truncated, delimiter}. "
                   "Cells are texts. Every line must have as many cells as there are columns.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "path": { "type": "string", "title": "File" },
        "delimiter": { "type": "string", "title": "Between cells",
                       "enum": ["auto", ",", ";", "tab"], "default": "auto" },
        "header": { "type": "boolean", "title": "First line names the columns",
                    "default": true },
        "columns": { "type": "array", "title": "Columns",
                     "items": { "type": "string", "minLength": 1 }, "minItems": 1,
                     "maxItems": 1000, "uniqueItems": true,
                     "description": "those that are wanted; without a header, their names" },
        "encoding": { "type": "string", "title": "Encoding", "default": "utf-8",
                      "description": "utf-8, or a name such as windows-1252" },
        "max_rows": { "type": "integer", "title": "At most so many rows",
                      "minimum": 0, "maximum": 100000,
                      "description": "the rest is left out, and truncated says so" }
      },
      "required": ["path"],
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_READ_ONLY | KHADIM_TOOL_FLAGS_IDEMPOTENT,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
  [TOOL_WRITE_CSV] = {
    .name = "data.write_csv",
    .title = "Write a table to a CSV file",
    .description = "Makes the file or replaces all of it, as a whole or not at all. "
                   "Gives {path, size, count}.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "path": { "type": "string", "title": "File" },
        "rows": { "type": "array", "title": "Rows", "items": { "type": "object" } },
        "columns": { "type": "array", "title": "Columns in order",
                     "items": { "type": "string", "minLength": 1 }, "minItems": 1,
                     "maxItems": 1000, "uniqueItems": true,
                     "description": "if not given, those of the first row" },
        "delimiter": { "type": "string", "title": "Between cells", "enum": [",", ";", "tab"],
                       "default": "," },
        "header": { "type": "boolean", "title": "First line names the columns",
                    "default": true },
        "newline": { "type": "string", "title": "Lines end in", "enum": ["lf", "crlf"],
                     "default": "lf" },
        "encoding": { "type": "string", "title": "Encoding", "default": "utf-8",
                      "description": "utf-8, utf-8-bom, or a name such as windows-1252" }
      },
      "required": ["path", "rows"],
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_IDEMPOTENT,
    .risk = KHADIM_TOOL_RISK_MEDIUM,
  },
  [TOOL_APPEND_CSV] = {
    .name = "data.append_csv",
    .title = "Add rows to a CSV file",
    .description = "Adds rows to a UTF-8 table, in the order of its columns and in its style; "
                   "a file that is not there is made with a header. Gives {path, size, count}.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "path": { "type": "string", "title": "File" },
        "rows": { "type": "array", "title": "Rows", "items": { "type": "object" } },
        "columns": { "type": "array", "title": "Columns of a new file",
                     "items": { "type": "string", "minLength": 1 }, "minItems": 1,
                     "maxItems": 1000, "uniqueItems": true },
        "delimiter": { "type": "string", "title": "Between cells of a new file",
                       "enum": [",", ";", "tab"], "default": "," },
        "newline": { "type": "string", "title": "Lines of a new file end in",
                     "enum": ["lf", "crlf"], "default": "lf" }
      },
      "required": ["path", "rows"],
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_NONE,
    .risk = KHADIM_TOOL_RISK_MEDIUM,
  },
  [TOOL_PARSE_CSV] = {
    .name = "data.parse_csv",
    .title = "Read a table from a CSV text",
    .description = "As data.read_csv, from a text.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "text": { "type": "string", "title": "Text" },
        "delimiter": { "type": "string", "title": "Between cells",
                       "enum": ["auto", ",", ";", "tab"], "default": "auto" },
        "header": { "type": "boolean", "title": "First line names the columns",
                    "default": true },
        "columns": { "type": "array", "title": "Columns",
                     "items": { "type": "string", "minLength": 1 }, "minItems": 1,
                     "maxItems": 1000, "uniqueItems": true,
                     "description": "those that are wanted; without a header, their names" },
        "max_rows": { "type": "integer", "title": "At most so many rows",
                      "minimum": 0, "maximum": 100000 }
      },
      "required": ["text"],
      "additionalProperties": false
    }),
    .flags = PURE,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
  [TOOL_TO_CSV] = {
    .name = "data.to_csv",
    .title = "Make a CSV text of a table",
    .description = "As data.write_csv, to a text. Gives {text}.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "rows": { "type": "array", "title": "Rows", "items": { "type": "object" } },
        "columns": { "type": "array", "title": "Columns in order",
                     "items": { "type": "string", "minLength": 1 }, "minItems": 1,
                     "maxItems": 1000, "uniqueItems": true },
        "delimiter": { "type": "string", "title": "Between cells", "enum": [",", ";", "tab"],
                       "default": "," },
        "header": { "type": "boolean", "title": "First line names the columns",
                    "default": true },
        "newline": { "type": "string", "title": "Lines end in", "enum": ["lf", "crlf"],
                     "default": "lf" }
      },
      "required": ["rows"],
      "additionalProperties": false
    }),
    .flags = PURE,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
  [TOOL_READ_JSON] = {
    .name = "data.read_json",
    .title = "Read a JSON file",
    .description = "Gives the value in the file.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": { "path": { "type": "string", "title": "File" } },
      "required": ["path"],
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_READ_ONLY | KHADIM_TOOL_FLAGS_IDEMPOTENT,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
  [TOOL_WRITE_JSON] = {
    .name = "data.write_json",
    .title = "Write a JSON file",
    .description = "Makes the file or replaces all of it, as a whole or not at all. "
                   "Gives {path, size}.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "path": { "type": "string", "title": "File" },
        "value": { "title": "Value" },
        "pretty": { "type": "boolean", "title": "On several lines", "default": true }
      },
      "required": ["path", "value"],
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_IDEMPOTENT,
    .risk = KHADIM_TOOL_RISK_MEDIUM,
  },
  [TOOL_PARSE_JSON] = {
    .name = "data.parse_json",
    .title = "Read a JSON text",
    .description = "Gives the value in the text.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": { "text": { "type": "string", "title": "Text" } },
      "required": ["text"],
      "additionalProperties": false
    }),
    .flags = PURE,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
  [TOOL_TO_JSON] = {
    .name = "data.to_json",
    .title = "Make a JSON text of a value",
    .description = "Gives {text}.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "value": { "title": "Value" },
        "pretty": { "type": "boolean", "title": "On several lines", "default": false }
      },
      "required": ["value"],
      "additionalProperties": false
    }),
    .flags = PURE,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
  [TOOL_TEXT] = {
    .name = "data.text",
    .title = "Work on a text",
    .description = "lines and split (at separator) give {parts, count}; join (parts, separator), "
                   "trim, upper, lower, pad (to width) and replace (find or pattern, with) give "
                   "{text}; extract (pattern) gives {count, text, matches: [{text, groups}]}.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "operation": { "type": "string", "title": "Operation",
                       "enum": ["lines", "split", "join", "trim", "upper", "lower", "pad",
                                "replace", "extract"] },
        "text": { "type": "string", "title": "Text" },
        "parts": { "type": "array", "title": "Parts to join", "items": { "type": "string" } },
        "separator": { "type": "string", "title": "Between parts" },
        "width": { "type": "integer", "title": "Characters to pad to",
                   "minimum": 0, "maximum": 10000 },
        "side": { "type": "string", "title": "Pad at the", "enum": ["start", "end"],
                  "default": "start" },
        "fill": { "type": "string", "title": "Character to pad with", "default": " " },
        "find": { "type": "string", "title": "Text to replace" },
        "pattern": { "type": "string", "title": "Pattern", "maxLength": 1000,
                     "description": "a regular expression of Perl" },
        "with": { "type": "string", "title": "Replacement",
                  "description": "for a pattern, \\1 is its first group" },
        "all": { "type": "boolean", "title": "All matches", "default": false },
        "ignore_case": { "type": "boolean", "title": "Pattern ignores case", "default": false }
      },
      "required": ["operation"],
      "additionalProperties": false
    }),
    .flags = PURE,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
  [TOOL_PARSE_DATE] = {
    .name = "data.parse_date",
    .title = "Read a date",
    .description = "Gives {iso, unix, year, month, day, hour, minute, second, weekday} in the "
                   "time zone; weekday 1 is Monday.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "text": { "type": "string", "title": "Date", "maxLength": 200 },
        "format": { "type": "string", "title": "Format", "maxLength": 200,
                    "description": "of strptime, such as %d.%m.%Y; if not given, ISO 8601" },
        "timezone": { "type": "string", "title": "Time zone", "minLength": 1,
                      "description": "such as UTC, +02:00 or Europe/Berlin" }
      },
      "required": ["text", "timezone"],
      "additionalProperties": false
    }),
    .flags = PURE,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
  [TOOL_FORMAT_DATE] = {
    .name = "data.format_date",
    .title = "Write a date",
    .description = "Gives {text}. Names of months and days are English.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "time": { "type": ["string", "integer"], "title": "Time",
                  "description": "ISO 8601, or seconds since 1970" },
        "format": { "type": "string", "title": "Format", "maxLength": 200,
                    "default": "%Y-%m-%d", "description": "of strftime, such as %d.%m.%Y" },
        "timezone": { "type": "string", "title": "Time zone", "minLength": 1,
                      "description": "such as UTC, +02:00 or Europe/Berlin" }
      },
      "required": ["time", "timezone"],
      "additionalProperties": false
    }),
    .flags = PURE,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
};

static const KhadimToolJobFunc data_jobs[N_TOOLS] = {
  [TOOL_READ_CSV] = _khadim_data_read_csv,
  [TOOL_WRITE_CSV] = _khadim_data_write_csv,
  [TOOL_APPEND_CSV] = _khadim_data_append_csv,
  [TOOL_PARSE_CSV] = _khadim_data_parse_csv,
  [TOOL_TO_CSV] = _khadim_data_to_csv,
  [TOOL_READ_JSON] = _khadim_data_read_json,
  [TOOL_WRITE_JSON] = _khadim_data_write_json,
  [TOOL_PARSE_JSON] = _khadim_data_parse_json,
  [TOOL_TO_JSON] = _khadim_data_to_json,
  [TOOL_TEXT] = _khadim_data_text,
  [TOOL_PARSE_DATE] = _khadim_data_parse_date,
  [TOOL_FORMAT_DATE] = _khadim_data_format_date,
};

static const KhadimToolInfo *
khadim_data_domain_list (KhadimToolDomain *domain,
                         guint            *out_n_tools)
{
  *out_n_tools = N_TOOLS;

  return data_tools;
}

static gboolean
khadim_data_domain_check (KhadimToolDomain      *domain,
                          const KhadimToolInfo  *info,
                          JsonNode              *args,
                          const char            *assets_dir,
                          char                 **out_place,
                          GError               **error)
{
  JsonObject *object = JSON_NODE_HOLDS_OBJECT (args) ? json_node_get_object (args) : NULL;

  return _khadim_tool_job_check (object, out_place, error)
         && (info != &data_tools[TOOL_TEXT]
             || _khadim_data_check_text (object, out_place, error));
}

static void
khadim_data_domain_run_async (KhadimToolDomain    *domain,
                              KhadimToolCall      *call,
                              GCancellable        *cancellable,
                              GAsyncReadyCallback  callback,
                              gpointer             user_data)
{
  _khadim_tool_job_run_async (domain, call, data_tools, data_jobs, N_TOOLS,
                              cancellable, callback, user_data);
}

static void
khadim_data_domain_class_init (KhadimDataDomainClass *klass)
{
  KhadimToolDomainClass *domain_class = KHADIM_TOOL_DOMAIN_CLASS (klass);

  domain_class->list = khadim_data_domain_list;
  domain_class->check = khadim_data_domain_check;
  domain_class->run_async = khadim_data_domain_run_async;
  domain_class->run_finish = _khadim_tool_job_run_finish;
}

static void
khadim_data_domain_init (KhadimDataDomain *self)
{
}

/**
 * khadim_data_domain_new:
 *
 * The tools `data.…`: CSV and JSON as files and as texts, text operations,
 * dates. Any thread.
 *
 * Returns: (transfer full): a tool domain
 */
KhadimToolDomain *
khadim_data_domain_new (void)
{
  return g_object_new (KHADIM_TYPE_DATA_DOMAIN, "name", "data", NULL);
}
