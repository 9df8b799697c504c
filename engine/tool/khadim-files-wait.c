/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-files-wait"

#include "config.h"

#include "engine/tool/khadim-files-private.h"

#include "engine/base/khadim-duration.h"
#include "engine/json/khadim-json.h"
#include "engine/tool/khadim-files-scan-private.h"
#include "engine/tool/khadim-tool-result.h"

/* files.wait_for: a monitor on the folder and a timer, both on the engine
 * thread, say when to look; the look is a job of the thread pool. So a wait of
 * hours keeps no thread. */

/* Events come in bursts: one look for all of this time */
#define BURST_US (50 * 1000)
/* How often it may say what it waits for */
#define PROGRESS_US (2 * G_USEC_PER_SEC)
/* The runner cancels at the deadline; that close to it, time is what ran out */
#define DEADLINE_SLACK_US (20 * 1000)

typedef struct
{
  /* Owned */
  KhadimToolCall *call;
  KhadimFilesScan *scan; /* the job's while `looking` */
  GMainContext *context;
  GFileMonitor *monitor;
  GSource *timer;
  GSource *cancelled;

  char *shown; /* the obstacle that was shown last */
  gint64 shown_us;

  gboolean looking;
  gboolean stirred; /* an event came while looking */
  gboolean finished;
} Wait;

static void
wait_stop (Wait *wait)
{
  if (wait->timer != NULL)
    g_source_destroy (wait->timer);
  g_clear_pointer (&wait->timer, g_source_unref);
  if (wait->cancelled != NULL)
    g_source_destroy (wait->cancelled);
  g_clear_pointer (&wait->cancelled, g_source_unref);
  if (wait->monitor != NULL)
    g_file_monitor_cancel (wait->monitor);
  g_clear_object (&wait->monitor);
}

static void
wait_free (gpointer data)
{
  Wait *wait = data;

  wait_stop (wait);
  g_clear_object (&wait->call);
  g_clear_pointer (&wait->scan, _khadim_files_scan_free);
  g_clear_pointer (&wait->context, g_main_context_unref);
  g_free (wait->shown);
  g_free (wait);
}

static void
finish (GTask            *task,
        KhadimToolResult *result)
{
  Wait *wait = g_task_get_task_data (task);

  wait->finished = TRUE;
  wait_stop (wait);
  g_task_return_pointer (task, result, (GDestroyNotify) khadim_tool_result_unref);
}

static const char *
missed (KhadimFilesState state)
{
  switch (state)
    {
    case KHADIM_FILES_STATE_GONE:
      return "was still there when the time was up";
    case KHADIM_FILES_STATE_CHANGED:
      return "had not changed when the time was up";
    case KHADIM_FILES_STATE_EXISTS:
    default:
      return "was not there when the time was up";
    }
}

/* Why it took too long. What the scan knows is out of reach while a look is
 * under way. */
static void
finish_timeout (GTask *task)
{
  Wait *wait = g_task_get_task_data (task);
  JsonObject *args = khadim_tool_call_get_args (wait->call);
  const char *pattern = khadim_json_get_string (args, "pattern", NULL);
  g_autofree char *where = NULL;

  where = g_build_filename (khadim_json_get_string (args, "path", "."), pattern, NULL);
  if (!wait->looking && wait->scan->obstacle != NULL)
    finish (task, khadim_tool_result_new_failure (KHADIM_TOOL_ERROR_TIMEOUT,
                                                  "“%s” had not settled when the time was up: %s",
                                                  where, wait->scan->obstacle));
  else
    finish (task, khadim_tool_result_new_failure (KHADIM_TOOL_ERROR_TIMEOUT,
                                                  "“%s” %s (in “%s”)",
                                                  where, missed (wait->scan->state),
                                                  wait->scan->folder));
}

static gboolean
is_late (Wait *wait)
{
  gint64 deadline_us = khadim_tool_call_get_deadline_us (wait->call);

  return deadline_us != G_MAXINT64
         && g_get_monotonic_time () >= deadline_us - DEADLINE_SLACK_US;
}

static gboolean
on_cancelled_cb (GCancellable *cancellable,
                 gpointer      user_data)
{
  g_autoptr(GTask) task = g_object_ref (G_TASK (user_data));

  if (is_late (g_task_get_task_data (task)))
    finish_timeout (task);
  else
    finish (task, khadim_tool_result_new_failure (KHADIM_TOOL_ERROR_CANCELLED,
                                                  "The wait was cancelled"));

  return G_SOURCE_REMOVE;
}

static void
start_look (GTask *task);

static gboolean
on_timer_cb (gpointer user_data)
{
  g_autoptr(GTask) task = g_object_ref (G_TASK (user_data));
  Wait *wait = g_task_get_task_data (task);

  g_clear_pointer (&wait->timer, g_source_unref);
  if (is_late (wait))
    finish_timeout (task);
  else
    start_look (task);

  return G_SOURCE_REMOVE;
}

static void
look_at (GTask  *task,
         gint64  when_us)
{
  Wait *wait = g_task_get_task_data (task);
  gint64 deadline_us = khadim_tool_call_get_deadline_us (wait->call);

  if (wait->timer != NULL)
    g_source_destroy (wait->timer);
  g_clear_pointer (&wait->timer, g_source_unref);

  wait->timer = g_timeout_source_new (0);
  g_source_set_ready_time (wait->timer, MIN (when_us, deadline_us));
  g_source_set_callback (wait->timer, on_timer_cb, g_object_ref (task), g_object_unref);
  g_source_attach (wait->timer, wait->context);
}

static void
on_monitor_changed_cb (GFileMonitor      *monitor,
                       GFile             *file,
                       GFile             *other,
                       GFileMonitorEvent  event,
                       gpointer           user_data)
{
  GTask *task = user_data;
  Wait *wait = g_task_get_task_data (task);
  gint64 soon_us = g_get_monotonic_time () + BURST_US;

  if (wait->looking)
    wait->stirred = TRUE;
  else if (!wait->finished
           && (wait->timer == NULL || g_source_get_ready_time (wait->timer) > soon_us))
    look_at (task, soon_us);
}

static JsonNode *
found_to_json (Wait *wait)
{
  JsonObject *object;
  struct stat st;

  if (wait->scan->found != NULL && stat (wait->scan->found, &st) == 0)
    {
      object = _khadim_files_describe (wait->scan->found, &st);
      json_object_set_boolean_member (object, "exists", TRUE);
    }
  else
    {
      object = json_object_new ();
      json_object_set_boolean_member (object, "exists", FALSE);
    }

  return khadim_json_object (object);
}

/* Says what it waits for, when that is another thing than before. */
static void
show_obstacle (Wait *wait)
{
  gint64 now_us = g_get_monotonic_time ();

  if (wait->scan->obstacle == NULL
      || g_strcmp0 (wait->scan->obstacle, wait->shown) == 0
      || (wait->shown != NULL && now_us - wait->shown_us < PROGRESS_US))
    return;

  g_free (wait->shown);
  wait->shown = g_strdup (wait->scan->obstacle);
  wait->shown_us = now_us;
  khadim_tool_call_progress (wait->call, -1, wait->shown);
}

static void
on_look_done_cb (GObject      *source,
                 GAsyncResult *result,
                 gpointer      user_data)
{
  g_autoptr(GTask) task = user_data;
  Wait *wait = g_task_get_task_data (task);
  g_autoptr(GError) error = NULL;
  g_autoptr(JsonNode) value = g_task_propagate_pointer (G_TASK (result), &error);
  gboolean stirred = wait->stirred;

  wait->looking = FALSE;
  wait->stirred = FALSE;
  if (wait->finished)
    return;

  if (error != NULL)
    finish (task, khadim_tool_result_new_from_error (error));
  else if (value != NULL)
    finish (task, khadim_tool_result_new (g_steal_pointer (&value)));
  else if (is_late (wait))
    finish_timeout (task);
  else
    {
      show_obstacle (wait);
      look_at (task, stirred ? MIN (wait->scan->next_us, g_get_monotonic_time () + BURST_US)
                             : wait->scan->next_us);
    }
}

static void
look_in_thread (GTask        *look,
                gpointer      source,
                gpointer      task_data,
                GCancellable *cancellable)
{
  Wait *wait = g_task_get_task_data (G_TASK (task_data));
  GError *error = NULL;

  if (!_khadim_files_scan_look (wait->scan, cancellable, &error))
    g_task_return_error (look, error);
  else
    g_task_return_pointer (look, wait->scan->done ? found_to_json (wait) : NULL,
                           (GDestroyNotify) json_node_unref);
}

static void
start_look (GTask *task)
{
  Wait *wait = g_task_get_task_data (task);
  g_autoptr(GTask) look = NULL;

  look = g_task_new (g_task_get_source_object (task), g_task_get_cancellable (task),
                     on_look_done_cb, g_object_ref (task));
  g_task_set_name (look, "[khadim] files.wait_for look");
  g_task_set_check_cancellable (look, FALSE);
  g_task_set_task_data (look, g_object_ref (task), g_object_unref);
  wait->looking = TRUE;
  g_task_run_in_thread (look, look_in_thread);
}

/* The monitor makes it quick; without one the timer alone has to do. */
static void
start_monitor (GTask *task)
{
  Wait *wait = g_task_get_task_data (task);
  g_autoptr(GFile) folder = g_file_new_for_path (wait->scan->folder);
  g_autoptr(GError) error = NULL;

  wait->monitor = g_file_monitor_directory (folder, G_FILE_MONITOR_NONE, NULL, &error);
  if (wait->monitor == NULL)
    {
      g_debug ("Watching “%s”: %s", wait->scan->folder, error->message);
      return;
    }
  g_file_monitor_set_rate_limit (wait->monitor, BURST_US / 1000);
  g_signal_connect_object (wait->monitor, "changed", G_CALLBACK (on_monitor_changed_cb), task, 0);
}

/* Starting -------------------------------------------------------------- */

static gboolean
parse_state (const char       *text,
             KhadimFilesState *out_state)
{
  static const char *const names[] = { "exists", "gone", "changed" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      if (g_str_equal (names[i], text))
        {
          *out_state = (KhadimFilesState) i;
          return TRUE;
        }
    }

  return FALSE;
}

static KhadimFilesScan *
new_scan (KhadimToolCall  *call,
          GError         **error)
{
  JsonObject *args = khadim_tool_call_get_args (call);
  const char *state_name = khadim_json_get_string (args, "state", "exists");
  KhadimFilesState state = KHADIM_FILES_STATE_EXISTS;
  g_autoptr(GPatternSpec) pattern = NULL;
  g_autofree char *path = NULL;
  g_autofree char *folder = NULL;
  g_autofree char *name = NULL;
  const char *stable;
  gint64 stable_ms;

  if (!parse_state (state_name, &state))
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                   "“%s” is no state to wait for", state_name);
      return NULL;
    }
  stable = khadim_json_get_string (args, "stable",
                                   state == KHADIM_FILES_STATE_GONE ? "0s" : "1s");
  if (!khadim_duration_parse (stable, &stable_ms, error)
      || !_khadim_files_pattern (args, &pattern, error))
    return NULL;
  path = _khadim_tool_job_path (call, "path", KHADIM_TOOL_PATH_USE_READ, error);
  if (path == NULL)
    return NULL;
  if (pattern != NULL)
    return _khadim_files_scan_new (path, NULL, pattern, state, stable_ms * 1000);

  folder = g_path_get_dirname (path);
  name = g_path_get_basename (path);

  return _khadim_files_scan_new (folder, name, NULL, state, stable_ms * 1000);
}

static void
prepare_in_thread (GTask        *prepare,
                   gpointer      source,
                   gpointer      task_data,
                   GCancellable *cancellable)
{
  GError *error = NULL;
  KhadimFilesScan *scan = new_scan (task_data, &error);

  if (scan != NULL)
    g_task_return_pointer (prepare, scan, (GDestroyNotify) _khadim_files_scan_free);
  else
    g_task_return_error (prepare, error);
}

static void
on_prepared_cb (GObject      *source,
                GAsyncResult *result,
                gpointer      user_data)
{
  g_autoptr(GTask) task = user_data;
  Wait *wait = g_task_get_task_data (task);
  GCancellable *cancellable = g_task_get_cancellable (task);
  g_autoptr(GError) error = NULL;

  wait->scan = g_task_propagate_pointer (G_TASK (result), &error);
  if (wait->scan == NULL)
    {
      finish (task, khadim_tool_result_new_from_error (error));
      return;
    }

  if (cancellable != NULL)
    {
      wait->cancelled = g_cancellable_source_new (cancellable);
      g_source_set_callback (wait->cancelled, G_SOURCE_FUNC (on_cancelled_cb),
                             g_object_ref (task), g_object_unref);
      g_source_attach (wait->cancelled, wait->context);
    }
  start_monitor (task);
  start_look (task);
}

/* Starts files.wait_for. Engine thread; the callback gets a task that
 * _khadim_tool_job_run_finish() reads. */
void
_khadim_files_wait_async (KhadimToolDomain    *domain,
                          KhadimToolCall      *call,
                          GCancellable        *cancellable,
                          GAsyncReadyCallback  callback,
                          gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (domain, cancellable, callback, user_data);
  g_autoptr(GTask) prepare = NULL;
  Wait *wait = g_new0 (Wait, 1);

  g_task_set_source_tag (task, _khadim_files_wait_async);
  g_task_set_name (task, "[khadim] files.wait_for");
  g_task_set_check_cancellable (task, FALSE);
  wait->call = g_object_ref (call);
  wait->context = g_main_context_ref_thread_default ();
  g_task_set_task_data (task, wait, wait_free);

  /* Paths are walked on the disk, so not here. */
  prepare = g_task_new (domain, cancellable, on_prepared_cb, g_object_ref (task));
  g_task_set_name (prepare, "[khadim] files.wait_for paths");
  g_task_set_task_data (prepare, g_object_ref (call), g_object_unref);
  g_task_set_return_on_cancel (prepare, TRUE);
  g_task_run_in_thread (prepare, prepare_in_thread);
}
