/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-tool-job"

#include "config.h"

#include "engine/tool/khadim-tool-job-private.h"

#include <string.h>

#include "engine/json/khadim-json.h"
#include "engine/tool/khadim-tool-result.h"

typedef struct
{
  KhadimToolCall *call;
  KhadimToolJobFunc func;
} Job;

static void
job_free (gpointer data)
{
  Job *job = data;

  g_object_unref (job->call);
  g_free (job);
}

static void
job_run_in_thread (GTask        *task,
                   gpointer      source,
                   gpointer      task_data,
                   GCancellable *cancellable)
{
  Job *job = task_data;
  g_autoptr(GError) error = NULL;
  JsonNode *value;

  if (g_task_return_error_if_cancelled (task))
    return;

  value = job->func (job->call, cancellable, &error);
  g_task_return_pointer (task,
                         value != NULL ? khadim_tool_result_new (value)
                                       : khadim_tool_result_new_from_error (error),
                         (GDestroyNotify) khadim_tool_result_unref);
}

/* Runs the function that stands in @funcs where the call's tool stands in
 * @infos. When it is cancelled, a tool that only reads is left to itself at
 * once; one that changes something says first what became of it. */
void
_khadim_tool_job_run_async (KhadimToolDomain         *domain,
                            KhadimToolCall           *call,
                            const KhadimToolInfo     *infos,
                            KhadimToolJobFunc const  *funcs,
                            guint                     n_tools,
                            GCancellable             *cancellable,
                            GAsyncReadyCallback       callback,
                            gpointer                  user_data)
{
  g_autoptr(GTask) task = g_task_new (domain, cancellable, callback, user_data);
  const char *tool = khadim_tool_call_get_tool (call);
  guint i = 0;
  gboolean reads;
  Job *job;

  g_task_set_source_tag (task, _khadim_tool_job_run_async);
  g_task_set_name (task, "[khadim] tool job");

  while (i < n_tools && !g_str_equal (infos[i].name, tool))
    i++;
  if (i == n_tools)
    {
      g_task_return_new_error (task, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_NOT_FOUND,
                               "There is no tool “%s”", tool);
      return;
    }

  job = g_new0 (Job, 1);
  job->call = g_object_ref (call);
  job->func = funcs[i];
  g_task_set_task_data (task, job, job_free);

  reads = (infos[i].flags & (KHADIM_TOOL_FLAGS_READ_ONLY | KHADIM_TOOL_FLAGS_PURE)) != 0;
  g_task_set_check_cancellable (task, reads);
  g_task_set_return_on_cancel (task, reads);
  g_task_run_in_thread (task, job_run_in_thread);
}

/* Ends what a domain of jobs started; also for tasks of its own, as long as
 * they return results. */
KhadimToolResult *
_khadim_tool_job_run_finish (KhadimToolDomain *domain,
                             GAsyncResult     *result)
{
  g_autoptr(GError) error = NULL;
  KhadimToolResult *value;

  g_return_val_if_fail (g_task_is_valid (result, domain), NULL);

  value = g_task_propagate_pointer (G_TASK (result), &error);

  return value != NULL ? value : khadim_tool_result_new_from_error (error);
}

/* The path that the argument @member means; `.` if it is not given. */
char *
_khadim_tool_job_path (KhadimToolCall     *call,
                       const char         *member,
                       KhadimToolPathUse   use,
                       GError            **error)
{
  const char *path = khadim_json_get_string (khadim_tool_call_get_args (call), member, ".");

  return khadim_tool_path_resolve (path, use,
                                   khadim_tool_call_get_work_dir (call),
                                   khadim_tool_call_get_assets_dir (call),
                                   error);
}

/* What a dry run says instead of doing it. */
JsonNode *
_khadim_tool_job_would (const char *format,
                        ...)
{
  JsonObject *object = json_object_new ();
  g_autofree char *would = NULL;
  va_list args;

  va_start (args, format);
  would = g_strdup_vprintf (format, args);
  va_end (args);

  json_object_set_boolean_member (object, "dry_run", TRUE);
  json_object_set_string_member (object, "would", would);

  return khadim_json_object (object);
}

/* Whether an argument is given and is no template, which is known only when
 * the step runs. */
gboolean
_khadim_tool_job_is_known (const char *text)
{
  return text != NULL && strstr (text, "{{") == NULL;
}

/* Says that the argument @place is wrong, as @local (transfer full) has it.
 * Always %FALSE. */
gboolean
_khadim_tool_job_fault (const char  *place,
                        GError      *local,
                        char       **out_place,
                        GError     **error)
{
  if (out_place != NULL)
    *out_place = g_strdup (place);
  g_set_error_literal (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID, local->message);
  g_error_free (local);

  return FALSE;
}

/* What can be said of paths and patterns before a run. */
gboolean
_khadim_tool_job_check (JsonObject  *args,
                        char       **out_place,
                        GError     **error)
{
  static const char *const members[] = { "path", "from", "to" };
  GError *local = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    {
      const char *path = khadim_json_get_string (args, members[i], NULL);

      if (_khadim_tool_job_is_known (path) && !khadim_tool_path_check (path, &local))
        return _khadim_tool_job_fault (members[i], local, out_place, error);
    }

  return TRUE;
}
