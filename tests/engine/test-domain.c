/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "tests/engine/test-domain.h"

#include <stdio.h>
#include <string.h>

#include "engine/json/khadim-json.h"
#include "engine/tool/khadim-tool-call.h"
#include "engine/tool/khadim-tool-result.h"

struct _TestDomain
{
  KhadimToolDomain parent_instance;
};

G_DEFINE_FINAL_TYPE (TestDomain, test_domain, KHADIM_TYPE_TOOL_DOMAIN)

static const KhadimToolInfo tools[] = {
  {
    .name = "test.log", .title = "Write a line", .description = "Writes a line.",
    .input_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"text\"],"
                    "\"properties\":{\"text\":{\"type\":\"string\"}}}",
  },
  {
    .name = "test.fail", .title = "Fail", .description = "Fails, the first times or always.",
    .input_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"code\"],"
                    "\"properties\":{\"code\":{\"type\":\"string\"},\"text\":{\"type\":\"string\"},"
                    "\"times\":{\"type\":\"integer\"}}}",
  },
  {
    .name = "test.use_secret", .title = "Use a secret", .description = "Writes it down.",
    .input_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"value\"],"
                    "\"properties\":{\"value\":{\"type\":\"string\",\"x-khadim-secret\":true}}}",
  },
  {
    .name = "test.look", .title = "Look", .description = "Does nothing, and says so.",
    .input_schema = "{\"type\":\"object\",\"additionalProperties\":false}",
    .flags = KHADIM_TOOL_FLAGS_READ_ONLY | KHADIM_TOOL_FLAGS_IDEMPOTENT,
  },
  {
    .name = "test.noop", .title = "Nothing", .description = "Does nothing.",
    .input_schema = "{\"type\":\"object\",\"additionalProperties\":false}",
  },
};

static const KhadimToolInfo *
test_domain_list (KhadimToolDomain *domain,
                  guint            *out_n_tools)
{
  *out_n_tools = G_N_ELEMENTS (tools);

  return tools;
}

/* Appends a line; gives how many there are now. */
static gint64
write_line (KhadimToolCall *call,
            const char     *text)
{
  g_autofree char *path = g_build_filename (khadim_tool_call_get_work_dir (call), TEST_DOMAIN_LOG,
                                            NULL);
  g_autofree char *whole = NULL;
  FILE *file = fopen (path, "a");
  gint64 n = 0;

  g_assert_nonnull (file);
  fprintf (file, "%s\n", text);
  fclose (file);
  g_file_get_contents (path, &whole, NULL, NULL);
  for (const char *p = whole; *p != '\0'; p++)
    n += *p == '\n';

  return n;
}

static KhadimToolResult *
run_log (KhadimToolCall *call)
{
  const char *text = khadim_json_get_string (khadim_tool_call_get_args (call), "text", "");
  JsonObject *value = json_object_new ();

  json_object_set_string_member (value, "text", text);
  if (!khadim_tool_call_is_dry_run (call))
    json_object_set_int_member (value, "count", write_line (call, text));

  return khadim_tool_result_new (khadim_json_object (value));
}

static KhadimToolResult *
run_fail (KhadimToolCall *call)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  const char *text = khadim_json_get_string (args, "text", NULL);
  gint64 times = khadim_json_get_int (args, "times", G_MAXINT64);
  KhadimToolError code = KHADIM_TOOL_ERROR_TOOL;
  gint64 n = text != NULL ? write_line (call, text) : 0;

  if (n > times)
    return khadim_tool_result_new (NULL);
  g_assert_true (khadim_tool_error_from_code (khadim_json_get_string (args, "code", ""), &code));

  return khadim_tool_result_new_failure (code, "it was told to");
}

static KhadimToolResult *
run_use_secret (KhadimToolCall *call)
{
  JsonNode *reference = khadim_json_get (khadim_tool_call_get_args (call), "value");
  g_autoptr(GError) error = NULL;
  g_autofree char *value = khadim_tool_call_resolve_secret (call, reference, &error);
  JsonObject *object = json_object_new ();

  g_assert_no_error (error);
  write_line (call, value);
  json_object_set_string_member (object, "echo", value);

  return khadim_tool_result_new (khadim_json_object (object));
}

static void
test_domain_run_async (KhadimToolDomain    *domain,
                       KhadimToolCall      *call,
                       GCancellable        *cancellable,
                       GAsyncReadyCallback  callback,
                       gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (domain, cancellable, callback, user_data);
  const char *tool = khadim_tool_call_get_tool (call);
  KhadimToolResult *result;

  g_task_set_source_tag (task, test_domain_run_async);
  g_task_set_check_cancellable (task, FALSE);
  if (strcmp (tool, "test.log") == 0)
    result = run_log (call);
  else if (strcmp (tool, "test.fail") == 0)
    result = run_fail (call);
  else if (strcmp (tool, "test.use_secret") == 0)
    result = run_use_secret (call);
  else
    result = khadim_tool_result_new (NULL);
  g_task_return_pointer (task, result, (GDestroyNotify) khadim_tool_result_unref);
}

static KhadimToolResult *
test_domain_run_finish (KhadimToolDomain *domain,
                        GAsyncResult     *result)
{
  return g_task_propagate_pointer (G_TASK (result), NULL);
}

static void
test_domain_class_init (TestDomainClass *klass)
{
  KhadimToolDomainClass *domain_class = KHADIM_TOOL_DOMAIN_CLASS (klass);

  domain_class->list = test_domain_list;
  domain_class->run_async = test_domain_run_async;
  domain_class->run_finish = test_domain_run_finish;
}

static void
test_domain_init (TestDomain *self)
{
}

KhadimToolDomain *
test_domain_new (void)
{
  return g_object_new (TEST_TYPE_DOMAIN, "name", "test", NULL);
}
