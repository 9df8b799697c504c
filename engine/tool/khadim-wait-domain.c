/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-wait-domain"

#include "config.h"

#include "engine/tool/khadim-wait-domain.h"

#include "engine/json/khadim-json.h"
#include "engine/tool/khadim-tool-call.h"
#include "engine/tool/khadim-tool-result.h"

/* KhadimWaitDomain: the tool `wait`, which lets time pass. */
struct _KhadimWaitDomain
{
  KhadimToolDomain parent_instance;
};

G_DEFINE_FINAL_TYPE (KhadimWaitDomain, khadim_wait_domain, KHADIM_TYPE_TOOL_DOMAIN)

static const KhadimToolInfo tools[] = {
  {
    .name = "wait",
    .title = "Wait",
    .description = "Lets time pass. Prefer wait_for, which ends as soon as it can.",
    .input_schema =
      "{ \"type\": \"object\", \"additionalProperties\": false, \"required\": [\"seconds\"],"
      "  \"properties\": { \"seconds\": { \"type\": \"number\", \"minimum\": 0,"
      "    \"maximum\": 86400, \"description\": \"How long\" } } }",
    .flags = KHADIM_TOOL_FLAGS_READ_ONLY | KHADIM_TOOL_FLAGS_IDEMPOTENT,
    .risk = KHADIM_TOOL_RISK_LOW,
  },
};

static const KhadimToolInfo *
khadim_wait_domain_list (KhadimToolDomain *domain,
                         guint            *out_n_tools)
{
  *out_n_tools = G_N_ELEMENTS (tools);

  return tools;
}

static void
finish_wait (GTask            *task,
             KhadimToolResult *result)
{
  g_task_return_pointer (task, result, (GDestroyNotify) khadim_tool_result_unref);
}

static gboolean
on_time_up_cb (gpointer user_data)
{
  GTask *task = user_data;

  if (!g_task_get_completed (task) && !g_cancellable_is_cancelled (g_task_get_cancellable (task)))
    finish_wait (task, khadim_tool_result_new (khadim_json_null ()));

  return G_SOURCE_REMOVE;
}

/* Either source ends the wait; both hold the task, the loser finds it done. */
static gboolean
on_cancelled_cb (GCancellable *cancellable,
                 gpointer      user_data)
{
  GTask *task = user_data;
  GSource *timer = g_task_get_task_data (task);

  if (!g_source_is_destroyed (timer))
    {
      g_source_destroy (timer);
      finish_wait (task, khadim_tool_result_new_failure (KHADIM_TOOL_ERROR_CANCELLED,
                                                         "the wait was stopped"));
    }

  return G_SOURCE_REMOVE;
}

static void
on_task_completed_cb (GTask   *task,
                      GParamSpec *pspec,
                      gpointer user_data)
{
  g_source_destroy (user_data);
}

static void
watch_cancellable (GTask        *task,
                   GCancellable *cancellable)
{
  g_autoptr(GSource) watch = g_cancellable_source_new (cancellable);

  g_source_set_callback (watch, G_SOURCE_FUNC (on_cancelled_cb), g_object_ref (task),
                         g_object_unref);
  g_source_attach (watch, g_task_get_context (task));
  g_signal_connect_data (task, "notify::completed", G_CALLBACK (on_task_completed_cb),
                         g_source_ref (watch), (GClosureNotify) g_source_unref, 0);
}

static void
khadim_wait_domain_run_async (KhadimToolDomain    *domain,
                              KhadimToolCall      *call,
                              GCancellable        *cancellable,
                              GAsyncReadyCallback  callback,
                              gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (domain, cancellable, callback, user_data);
  double seconds = khadim_json_get_double (khadim_tool_call_get_args (call), "seconds", 0);
  GSource *timer = g_timeout_source_new ((guint) (seconds * 1000));

  g_task_set_source_tag (task, khadim_wait_domain_run_async);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, timer, (GDestroyNotify) g_source_unref);
  g_source_set_callback (timer, on_time_up_cb, g_object_ref (task), g_object_unref);
  g_source_attach (timer, g_task_get_context (task));
  if (cancellable != NULL)
    watch_cancellable (task, cancellable);
}

static KhadimToolResult *
khadim_wait_domain_run_finish (KhadimToolDomain *domain,
                               GAsyncResult     *result)
{
  return g_task_propagate_pointer (G_TASK (result), NULL);
}

static void
khadim_wait_domain_class_init (KhadimWaitDomainClass *klass)
{
  KhadimToolDomainClass *domain_class = KHADIM_TOOL_DOMAIN_CLASS (klass);

  domain_class->list = khadim_wait_domain_list;
  domain_class->run_async = khadim_wait_domain_run_async;
  domain_class->run_finish = khadim_wait_domain_run_finish;
}

static void
khadim_wait_domain_init (KhadimWaitDomain *self)
{
}

/**
 * khadim_wait_domain_new:
 *
 * Any thread.
 *
 * Returns: (transfer full): the domain of the tool `wait`
 */
KhadimToolDomain *
khadim_wait_domain_new (void)
{
  return g_object_new (KHADIM_TYPE_WAIT_DOMAIN, "name", "wait", NULL);
}
