/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-desk"

#include "config.h"

#include "rpa/tools/khadim-rpa-desk-private.h"

#include "rpa/find/khadim-rpa-a11y-place.h"
#include "rpa/screen/khadim-rpa-error.h"

/* How long a run waits for another one on the same display. */
#define LEASE_TIMEOUT_MS (60 * 60 * 1000)

G_DEFINE_FINAL_TYPE (KhadimRpaDesk, khadim_rpa_desk, G_TYPE_OBJECT)

static void run_job (gpointer data,
                     gpointer user_data);

static void
khadim_rpa_desk_finalize (GObject *object)
{
  KhadimRpaDesk *self = KHADIM_RPA_DESK (object);

  g_thread_pool_free (self->pool, FALSE, TRUE);
  g_clear_object (&self->lease);
  g_free (self->lease_session);
  g_ptr_array_unref (self->apps);
  g_clear_object (&self->a11y);
  g_clear_error (&self->a11y_error);
  g_clear_object (&self->stop_watch);
  g_clear_object (&self->clipboard);
  g_clear_object (&self->input);
  g_clear_object (&self->capture);
  g_clear_object (&self->windows);
  g_clear_object (&self->display);

  G_OBJECT_CLASS (khadim_rpa_desk_parent_class)->finalize (object);
}

static void
khadim_rpa_desk_class_init (KhadimRpaDeskClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_rpa_desk_finalize;
}

static void
khadim_rpa_desk_init (KhadimRpaDesk *self)
{
  self->apps = g_ptr_array_new_with_free_func (g_object_unref);
  self->pool = g_thread_pool_new (run_job, NULL, 1, FALSE, NULL);
}

KhadimRpaDesk *
_khadim_rpa_desk_new (KhadimToolbox *toolbox)
{
  KhadimRpaDesk *self = g_object_new (KHADIM_RPA_TYPE_DESK, NULL);

  self->toolbox = toolbox;

  return self;
}

static void
on_stop (KhadimRpaStopCause cause,
         gpointer           user_data)
{
  KhadimRpaDesk *self = user_data;

  khadim_toolbox_stop (self->toolbox);
}

/* Without accessibility the other kinds of evidence still work. */
static void
open_a11y (KhadimRpaDesk *self)
{
  g_autoptr(GDBusConnection) bus = g_bus_get_sync (G_BUS_TYPE_SESSION, NULL, &self->a11y_error);

  if (bus == NULL)
    return;
  self->a11y = khadim_rpa_a11y_new (bus, NULL, &self->a11y_error);
  if (self->a11y != NULL)
    khadim_rpa_a11y_follow_windows (self->a11y, self->windows);
}

/* Connects to the display of this process; on the desk's thread. */
gboolean
_khadim_rpa_desk_open (KhadimRpaDesk  *self,
                       GError        **error)
{
  if (self->display != NULL && !khadim_rpa_display_is_lost (self->display))
    return TRUE;
  if (self->display != NULL)
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LOST, "The display is gone");
      return FALSE;
    }

  self->display = khadim_rpa_display_new (NULL, error);
  if (self->display != NULL)
    self->windows = khadim_rpa_windows_new (self->display, error);
  if (self->windows != NULL)
    self->capture = khadim_rpa_capture_new (self->display, error);
  if (self->capture != NULL)
    self->input = khadim_rpa_input_new (self->display, error);
  if (self->input != NULL)
    self->stop_watch = khadim_rpa_stop_watch_new (self->input, NULL, TRUE, on_stop, self, NULL,
                                                  error);
  if (self->stop_watch == NULL)
    {
      g_clear_object (&self->input);
      g_clear_object (&self->capture);
      g_clear_object (&self->windows);
      g_clear_object (&self->display);
      return FALSE;
    }
  open_a11y (self);

  return TRUE;
}

static KhadimToolError
get_tool_error (const GError *error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return KHADIM_TOOL_ERROR_CANCELLED;
  if (error->domain != KHADIM_RPA_ERROR)
    return KHADIM_TOOL_ERROR_TOOL;

  switch ((KhadimRpaError) error->code)
    {
    case KHADIM_RPA_ERROR_NOT_FOUND:
      return KHADIM_TOOL_ERROR_NOT_FOUND;
    case KHADIM_RPA_ERROR_LIMIT:
      return KHADIM_TOOL_ERROR_LIMIT;
    case KHADIM_RPA_ERROR_LOST:
      return KHADIM_TOOL_ERROR_DISPLAY_LOST;
    case KHADIM_RPA_ERROR_TIMEOUT:
      return KHADIM_TOOL_ERROR_TIMEOUT;
    case KHADIM_RPA_ERROR_FOCUS_LOST:
      return KHADIM_TOOL_ERROR_FOCUS_LOST;
    case KHADIM_RPA_ERROR_HUNG:
      return KHADIM_TOOL_ERROR_APP_HUNG;
    case KHADIM_RPA_ERROR_ENDED:
      return KHADIM_TOOL_ERROR_APP_ENDED;
    case KHADIM_RPA_ERROR_CANCELLED:
      return KHADIM_TOOL_ERROR_CANCELLED;
    case KHADIM_RPA_ERROR_INVALID:
    case KHADIM_RPA_ERROR_UNSUPPORTED:
    case KHADIM_RPA_ERROR_BUSY:
    case KHADIM_RPA_ERROR_FAILED:
    default:
      return KHADIM_TOOL_ERROR_TOOL;
    }
}

/* A failure with the code that documents catch; takes @error. */
KhadimToolResult *
_khadim_rpa_fail (GError *error)
{
  g_autoptr(GError) owned = error;

  return khadim_tool_result_new_failure (get_tool_error (owned), "%s", owned->message);
}

/* The domains -------------------------------------------------------------- */

#define KHADIM_RPA_TYPE_DOMAIN (khadim_rpa_domain_get_type ())
G_DECLARE_FINAL_TYPE (KhadimRpaDomain, khadim_rpa_domain, KHADIM_RPA, DOMAIN, KhadimToolDomain)

struct _KhadimRpaDomain
{
  KhadimToolDomain parent_instance;

  KhadimRpaDesk *desk;          /* owned */
  const KhadimRpaTool *tools;   /* static */
  KhadimToolInfo *infos;        /* owned */
  guint n_tools;
};

G_DEFINE_FINAL_TYPE (KhadimRpaDomain, khadim_rpa_domain, KHADIM_TYPE_TOOL_DOMAIN)

typedef struct
{
  KhadimToolCall *call;
  KhadimRpaToolFunc run;
  char *ended_session;      /* instead: a session to clean up after */
} Job;

static void
job_free (gpointer data)
{
  Job *job = data;

  g_clear_object (&job->call);
  g_free (job->ended_session);
  g_free (job);
}

/* One run at a time uses the pointer and the keyboard; whoever comes second
 * says so and waits. A run keeps the display until it ends, and so do the
 * automations that it calls. */
static gboolean
take_lease (KhadimRpaDesk   *desk,
            KhadimToolCall  *call,
            GCancellable    *cancellable,
            GError         **error)
{
  const char *session = khadim_tool_call_get_session_id (call);
  g_autoptr(GError) busy = NULL;

  if (desk->lease != NULL && khadim_rpa_lease_is_held (desk->lease))
    return TRUE;

  g_clear_object (&desk->lease);
  /* Another stop than the one that ended the run before. */
  khadim_rpa_stop_clear ();
  desk->lease = khadim_rpa_lease_acquire (desk->display, session, 0, cancellable, &busy);
  if (desk->lease == NULL && g_error_matches (busy, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_BUSY))
    {
      khadim_tool_call_progress (call, -1, busy->message);
      desk->lease = khadim_rpa_lease_acquire (desk->display, session, LEASE_TIMEOUT_MS,
                                              cancellable, error);
    }
  else if (desk->lease == NULL)
    g_propagate_error (error, g_steal_pointer (&busy));
  g_free (desk->lease_session);
  desk->lease_session = g_strdup (session);

  return desk->lease != NULL;
}

/* What a run leaves pressed is released, and the display is free for others. */
static void
end_session (KhadimRpaDesk *desk,
             const char    *session)
{
  if (desk->lease == NULL || g_strcmp0 (desk->lease_session, session) != 0)
    return;

  khadim_rpa_input_release_all (desk->input);
  khadim_rpa_lease_release (desk->lease);
  g_clear_object (&desk->lease);
}

static void
run_job (gpointer data,
         gpointer user_data)
{
  g_autoptr(GTask) task = data;
  KhadimRpaDomain *self = g_task_get_source_object (task);
  Job *job = g_task_get_task_data (task);
  KhadimToolResult *result;
  GError *error = NULL;

  if (job->ended_session != NULL)
    {
      end_session (self->desk, job->ended_session);
      g_task_return_boolean (task, TRUE);
      return;
    }
  if (g_cancellable_set_error_if_cancelled (g_task_get_cancellable (task), &error) ||
      !_khadim_rpa_desk_open (self->desk, &error) ||
      !take_lease (self->desk, job->call, g_task_get_cancellable (task), &error))
    result = _khadim_rpa_fail (error);
  else
    result = job->run (self->desk, job->call, g_task_get_cancellable (task));
  g_task_return_pointer (task, result, (GDestroyNotify) khadim_tool_result_unref);
}

static KhadimRpaToolFunc
find_func (KhadimRpaDomain *self,
           const char      *tool)
{
  for (guint i = 0; i < self->n_tools; i++)
    if (g_str_equal (self->tools[i].info.name, tool))
      return self->tools[i].run;

  g_assert_not_reached ();
}

static void
khadim_rpa_domain_run_async (KhadimToolDomain    *domain,
                             KhadimToolCall      *call,
                             GCancellable        *cancellable,
                             GAsyncReadyCallback  callback,
                             gpointer             user_data)
{
  KhadimRpaDomain *self = KHADIM_RPA_DOMAIN (domain);
  GTask *task = g_task_new (self, cancellable, callback, user_data);
  Job *job = g_new0 (Job, 1);

  job->call = g_object_ref (call);
  job->run = find_func (self, khadim_tool_call_get_tool (call));
  g_task_set_source_tag (task, khadim_rpa_domain_run_async);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, job, job_free);
  g_thread_pool_push (self->desk->pool, task, NULL);
}

static void
khadim_rpa_domain_session_ended (KhadimToolDomain *domain,
                                 const char       *session_id)
{
  KhadimRpaDomain *self = KHADIM_RPA_DOMAIN (domain);
  GTask *task = g_task_new (self, NULL, NULL, NULL);
  Job *job = g_new0 (Job, 1);

  job->ended_session = g_strdup (session_id);
  g_task_set_source_tag (task, khadim_rpa_domain_session_ended);
  g_task_set_task_data (task, job, job_free);
  g_thread_pool_push (self->desk->pool, task, NULL);
}

static KhadimToolResult *
khadim_rpa_domain_run_finish (KhadimToolDomain *domain,
                              GAsyncResult     *result)
{
  return g_task_propagate_pointer (G_TASK (result), NULL);
}

static const KhadimToolInfo *
khadim_rpa_domain_list (KhadimToolDomain *domain,
                        guint            *out_n_tools)
{
  KhadimRpaDomain *self = KHADIM_RPA_DOMAIN (domain);

  *out_n_tools = self->n_tools;

  return self->infos;
}

static void
khadim_rpa_domain_finalize (GObject *object)
{
  KhadimRpaDomain *self = KHADIM_RPA_DOMAIN (object);

  g_object_unref (self->desk);
  g_free (self->infos);

  G_OBJECT_CLASS (khadim_rpa_domain_parent_class)->finalize (object);
}

static void
khadim_rpa_domain_class_init (KhadimRpaDomainClass *klass)
{
  KhadimToolDomainClass *domain_class = KHADIM_TOOL_DOMAIN_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = khadim_rpa_domain_finalize;
  domain_class->list = khadim_rpa_domain_list;
  domain_class->check = _khadim_rpa_domain_check;
  domain_class->run_async = khadim_rpa_domain_run_async;
  domain_class->run_finish = khadim_rpa_domain_run_finish;
  domain_class->session_ended = khadim_rpa_domain_session_ended;
}

static void
khadim_rpa_domain_init (KhadimRpaDomain *self)
{
}

KhadimToolDomain *
_khadim_rpa_domain_new (KhadimRpaDesk       *desk,
                        const char          *name,
                        const KhadimRpaTool *tools,
                        guint                n_tools)
{
  KhadimRpaDomain *self = g_object_new (KHADIM_RPA_TYPE_DOMAIN, "name", name, NULL);

  self->desk = g_object_ref (desk);
  self->tools = tools;
  self->n_tools = n_tools;
  self->infos = g_new (KhadimToolInfo, n_tools);
  for (guint i = 0; i < n_tools; i++)
    self->infos[i] = tools[i].info;

  return KHADIM_TOOL_DOMAIN (self);
}
