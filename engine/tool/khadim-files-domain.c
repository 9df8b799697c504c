/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-files"

#include "config.h"

#include "engine/tool/khadim-files-domain.h"

#include "engine/base/khadim-duration.h"
#include "engine/json/khadim-json.h"
#include "engine/tool/khadim-files-private.h"

/* KhadimFilesDomain: the tools that look at, change and wait for files. It
 * keeps nothing from call to call. */
struct _KhadimFilesDomain
{
  KhadimToolDomain parent_instance;
};

G_DEFINE_FINAL_TYPE (KhadimFilesDomain, khadim_files_domain, KHADIM_TYPE_TOOL_DOMAIN)

enum {
  TOOL_LIST,
  TOOL_INFO,
  TOOL_EXISTS,
  TOOL_READ,
  TOOL_WRITE,
  TOOL_APPEND,
  TOOL_COPY,
  TOOL_MOVE,
  TOOL_MAKE_FOLDER,
  TOOL_DELETE,
  TOOL_WAIT_FOR,
  N_TOOLS
};

static const KhadimToolInfo files_tools[N_TOOLS] = {
  [TOOL_LIST] = {
    .name = "files.list",
    .title = "List a folder",
    .description = "The files and folders in a folder, sorted by path, links not followed. "
                   "Gives {entries: [{name, path, kind, size, modified}], truncated}.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "path": { "type": "string", "title": "Folder", "default": "." },
        "pattern": { "type": "string", "title": "Names", "maxLength": 256,
                     "description": "* for any characters, ? for one, such as *.csv" },
        "recursive": { "type": "boolean", "title": "With the folders inside", "default": false },
        "hidden": { "type": "boolean", "title": "With hidden files", "default": false },
        "kind": { "type": "string", "title": "Kind",
                  "enum": ["any", "file", "folder", "link", "other"], "default": "any" },
        "limit": { "type": "integer", "title": "At most", "minimum": 1, "maximum": 10000,
                   "default": 10000 }
      },
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_READ_ONLY | KHADIM_TOOL_FLAGS_IDEMPOTENT,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
  [TOOL_INFO] = {
    .name = "files.info",
    .title = "Look at a file",
    .description = "Gives {name, path, kind, size, modified, exists}; a file that is not there "
                   "is an error.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": { "path": { "type": "string", "title": "File or folder" } },
      "required": ["path"],
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_READ_ONLY | KHADIM_TOOL_FLAGS_IDEMPOTENT,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
  [TOOL_EXISTS] = {
    .name = "files.exists",
    .title = "Ask whether a file is there",
    .description = "Gives {exists: false}, or what files.info gives.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": { "path": { "type": "string", "title": "File or folder" } },
      "required": ["path"],
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_READ_ONLY | KHADIM_TOOL_FLAGS_IDEMPOTENT,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
  [TOOL_READ] = {
    .name = "files.read",
    .title = "Read a file",
    .description = "Reads a whole file. Gives {text, size}; bytes that the encoding does not "
                   "allow are an error that says where.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "path": { "type": "string", "title": "File" },
        "encoding": { "type": "string", "title": "Encoding", "default": "utf-8",
                      "description": "utf-8, base64 for bytes, or a name such as windows-1252" },
        "max_bytes": { "type": "integer", "title": "At most so many bytes",
                       "minimum": 0, "maximum": 16777216, "default": 16777216,
                       "description": "a larger file is an error" }
      },
      "required": ["path"],
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_READ_ONLY | KHADIM_TOOL_FLAGS_IDEMPOTENT,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
  [TOOL_WRITE] = {
    .name = "files.write",
    .title = "Write a file",
    .description = "Makes a file or replaces all of its content, as a whole or not at all. "
                   "Gives {path, size}.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "path": { "type": "string", "title": "File" },
        "text": { "type": "string", "title": "Content" },
        "encoding": { "type": "string", "title": "Encoding", "default": "utf-8",
                      "description": "utf-8, utf-8-bom, base64, or a name such as windows-1252" },
        "newline": { "type": "boolean", "title": "End with a line break", "default": false },
        "overwrite": { "type": "boolean", "title": "Replace a file of that name",
                       "default": true },
        "make_folders": { "type": "boolean", "title": "Make missing folders", "default": true }
      },
      "required": ["path", "text"],
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_IDEMPOTENT,
    .risk = KHADIM_TOOL_RISK_MEDIUM,
  },
  [TOOL_APPEND] = {
    .name = "files.append",
    .title = "Add to a file",
    .description = "Adds text to the end of a file, which is made if it is not there. "
                   "Gives {path, size}.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "path": { "type": "string", "title": "File" },
        "text": { "type": "string", "title": "Text to add" },
        "encoding": { "type": "string", "title": "Encoding", "default": "utf-8",
                      "description": "utf-8, base64, or a name such as windows-1252" },
        "newline": { "type": "boolean", "title": "End with a line break", "default": false },
        "make_folders": { "type": "boolean", "title": "Make missing folders", "default": true }
      },
      "required": ["path", "text"],
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_NONE,
    .risk = KHADIM_TOOL_RISK_MEDIUM,
  },
  [TOOL_COPY] = {
    .name = "files.copy",
    .title = "Copy a file or folder",
    .description = "Copies a file or a whole folder, as a whole or not at all. "
                   "Gives {from, path}.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "from": { "type": "string", "title": "File or folder" },
        "to": { "type": "string", "title": "Copy",
                "description": "the full new name, or a folder to put it in if it ends in /" },
        "overwrite": { "type": "boolean", "title": "Replace a file of that name",
                       "default": false },
        "make_folders": { "type": "boolean", "title": "Make missing folders", "default": true }
      },
      "required": ["from", "to"],
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_NONE,
    .risk = KHADIM_TOOL_RISK_MEDIUM,
  },
  [TOOL_MOVE] = {
    .name = "files.move",
    .title = "Move or rename a file or folder",
    .description = "Gives a file or folder another name or place. Gives {from, path}.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "from": { "type": "string", "title": "File or folder" },
        "to": { "type": "string", "title": "New name",
                "description": "the full new name, or a folder to put it in if it ends in /" },
        "overwrite": { "type": "boolean", "title": "Replace a file of that name",
                       "default": false },
        "make_folders": { "type": "boolean", "title": "Make missing folders", "default": true }
      },
      "required": ["from", "to"],
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_NONE,
    .risk = KHADIM_TOOL_RISK_MEDIUM,
  },
  [TOOL_MAKE_FOLDER] = {
    .name = "files.make_folder",
    .title = "Make a folder",
    .description = "Makes a folder and what is missing above it; one that is there stays as it "
                   "is. Gives {path, created}.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": { "path": { "type": "string", "title": "Folder" } },
      "required": ["path"],
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_IDEMPOTENT,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
  [TOOL_DELETE] = {
    .name = "files.delete",
    .title = "Delete a file or folder",
    .description = "Puts a file or folder in the Trash, or deletes it for good. The home folder, "
                   "the run's work folder and what is above them are never deleted. "
                   "Gives {path, deleted, to}.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "path": { "type": "string", "title": "File or folder" },
        "permanent": { "type": "boolean", "title": "For good, not to the Trash",
                       "default": false },
        "missing_ok": { "type": "boolean", "title": "Fine if it is not there",
                        "default": false }
      },
      "required": ["path"],
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_NONE,
    .risk = KHADIM_TOOL_RISK_HIGH,
  },
  [TOOL_WAIT_FOR] = {
    .name = "files.wait_for",
    .title = "Wait for a file",
    .description = "Waits until a file is there, has changed or is gone, and nothing writes to "
                   "it any more; partial downloads do not count. The step's timeout bounds it. "
                   "Gives what files.info gives; of several files the one changed last.",
    .input_schema = KHADIM_TOOL_SCHEMA ({
      "type": "object",
      "properties": {
        "path": { "type": "string", "title": "File, or folder if a pattern is given" },
        "pattern": { "type": "string", "title": "Names", "maxLength": 256,
                     "description": "* for any characters, ? for one, such as *.pdf" },
        "state": { "type": "string", "title": "Until it",
                   "enum": ["exists", "gone", "changed"], "default": "exists" },
        "stable": { "type": "string", "title": "Quiet for", "maxLength": 20,
                    "description": "how long nothing may happen: 1s, or 0s for gone, unless given" }
      },
      "required": ["path"],
      "additionalProperties": false
    }),
    .flags = KHADIM_TOOL_FLAGS_READ_ONLY | KHADIM_TOOL_FLAGS_IDEMPOTENT,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
};

static const KhadimToolJobFunc files_jobs[N_TOOLS] = {
  [TOOL_LIST] = _khadim_files_list,
  [TOOL_INFO] = _khadim_files_info,
  [TOOL_EXISTS] = _khadim_files_exists,
  [TOOL_READ] = _khadim_files_read,
  [TOOL_WRITE] = _khadim_files_write,
  [TOOL_APPEND] = _khadim_files_append,
  [TOOL_COPY] = _khadim_files_copy,
  [TOOL_MOVE] = _khadim_files_move,
  [TOOL_MAKE_FOLDER] = _khadim_files_make_folder,
  [TOOL_DELETE] = _khadim_files_delete,
};

static const KhadimToolInfo *
khadim_files_domain_list (KhadimToolDomain *domain,
                          guint            *out_n_tools)
{
  *out_n_tools = N_TOOLS;

  return files_tools;
}

static gboolean
khadim_files_domain_check (KhadimToolDomain      *domain,
                           const KhadimToolInfo  *info,
                           JsonNode              *args,
                           const char            *assets_dir,
                           char                 **out_place,
                           GError               **error)
{
  JsonObject *object = JSON_NODE_HOLDS_OBJECT (args) ? json_node_get_object (args) : NULL;
  const char *pattern = khadim_json_get_string (object, "pattern", NULL);
  const char *stable = khadim_json_get_string (object, "stable", NULL);
  g_autoptr(GPatternSpec) spec = NULL;
  GError *local = NULL;
  gint64 stable_ms;

  if (!_khadim_tool_job_check (object, out_place, error))
    return FALSE;
  if (_khadim_tool_job_is_known (pattern) && !_khadim_files_pattern (object, &spec, &local))
    return _khadim_tool_job_fault ("pattern", local, out_place, error);
  if (_khadim_tool_job_is_known (stable) && !khadim_duration_parse (stable, &stable_ms, &local))
    return _khadim_tool_job_fault ("stable", local, out_place, error);

  return TRUE;
}

static void
khadim_files_domain_run_async (KhadimToolDomain    *domain,
                               KhadimToolCall      *call,
                               GCancellable        *cancellable,
                               GAsyncReadyCallback  callback,
                               gpointer             user_data)
{
  if (g_str_equal (khadim_tool_call_get_tool (call), files_tools[TOOL_WAIT_FOR].name))
    _khadim_files_wait_async (domain, call, cancellable, callback, user_data);
  else
    _khadim_tool_job_run_async (domain, call, files_tools, files_jobs, N_TOOLS,
                                cancellable, callback, user_data);
}

static void
khadim_files_domain_class_init (KhadimFilesDomainClass *klass)
{
  KhadimToolDomainClass *domain_class = KHADIM_TOOL_DOMAIN_CLASS (klass);

  domain_class->list = khadim_files_domain_list;
  domain_class->check = khadim_files_domain_check;
  domain_class->run_async = khadim_files_domain_run_async;
  domain_class->run_finish = _khadim_tool_job_run_finish;
}

static void
khadim_files_domain_init (KhadimFilesDomain *self)
{
}

/**
 * khadim_files_domain_new:
 *
 * The tools `files.…`: list, info, exists, read, write, append, copy, move,
 * make_folder, delete and wait_for. Any thread.
 *
 * Returns: (transfer full): a tool domain
 */
KhadimToolDomain *
khadim_files_domain_new (void)
{
  return g_object_new (KHADIM_TYPE_FILES_DOMAIN, "name", "files", NULL);
}
