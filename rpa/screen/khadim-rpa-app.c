/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-app"

#include "config.h"

#include "rpa/screen/khadim-rpa-app.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rpa/screen/khadim-rpa-app-private.h"
#include "rpa/screen/khadim-rpa-display-private.h"
#include "rpa/screen/khadim-rpa-error.h"
#include "rpa/screen/khadim-rpa-windows-private.h"

/* A program that we started, and the window that it opened. Which of the new
 * windows that is, the startup id tells (startup-notification 0.2), else the
 * process: each program gets a session of its own, which its children inherit
 * even when they have left it. A program that hands its work over to one that
 * runs already ends at once, and the window is another process's. */

#define MAX_ANCESTORS 64

/* How long a program that has handed over may take to show a new window before
 * one that it brought up counts. */
#define PRESENT_GRACE_MS 1000

struct _KhadimRpaApp
{
  GObject parent_instance;

  /* Owned */
  KhadimRpaWindows *windows;
  KhadimRpaWindow *window;
  char *program;
  char *startup_id;

  KhadimRpaWaiter waiter; /* its lock guards ended and exit_code */
  GPid pid;
  gboolean ended;
  int exit_code;
};

G_DEFINE_FINAL_TYPE (KhadimRpaApp, khadim_rpa_app, G_TYPE_OBJECT)

static void
khadim_rpa_app_finalize (GObject *object)
{
  KhadimRpaApp *self = KHADIM_RPA_APP (object);

  g_clear_object (&self->windows);
  g_clear_pointer (&self->window, khadim_rpa_window_unref);
  g_free (self->program);
  g_free (self->startup_id);
  _khadim_rpa_waiter_clear (&self->waiter);

  G_OBJECT_CLASS (khadim_rpa_app_parent_class)->finalize (object);
}

static void
khadim_rpa_app_class_init (KhadimRpaAppClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_rpa_app_finalize;
}

static void
khadim_rpa_app_init (KhadimRpaApp *self)
{
  _khadim_rpa_waiter_init (&self->waiter);
}

/* Starting ----------------------------------------------------------------- */

/* In the child, before the program is loaded. */
static void
start_session (gpointer user_data)
{
  setsid ();
}

static GStrv
make_environment (KhadimRpaApp           *self,
                  const KhadimRpaAppSpec *spec)
{
  KhadimRpaDisplay *display = _khadim_rpa_windows_get_display (self->windows);
  g_auto(GStrv) environment = g_get_environ ();

  environment = g_environ_setenv (g_steal_pointer (&environment), "DISPLAY",
                                  khadim_rpa_display_get_name (display), TRUE);
  environment = g_environ_setenv (g_steal_pointer (&environment), "DESKTOP_STARTUP_ID",
                                  self->startup_id, TRUE);
  /* Qt looks at the accessibility bus late or, when it is slow, never. */
  environment = g_environ_setenv (g_steal_pointer (&environment),
                                  "QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1", FALSE);
  for (guint i = 0; spec->environment != NULL && spec->environment[i] != NULL; i++)
    {
      g_auto(GStrv) pair = g_strsplit (spec->environment[i], "=", 2);

      if (pair[0] != NULL && pair[1] != NULL)
        environment = g_environ_setenv (g_steal_pointer (&environment), pair[0], pair[1], TRUE);
      else if (pair[0] != NULL)
        environment = g_environ_unsetenv (g_steal_pointer (&environment), pair[0]);
    }

  return g_steal_pointer (&environment);
}

static void
on_child_ended_cb (GPid     pid,
                   int      status,
                   gpointer user_data)
{
  g_autoptr(KhadimRpaApp) self = g_weak_ref_get (user_data);

  g_spawn_close_pid (pid);
  if (self == NULL)
    return;
  g_mutex_lock (&self->waiter.lock);
  self->ended = TRUE;
  self->exit_code = WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
  g_mutex_unlock (&self->waiter.lock);
  _khadim_rpa_waiter_bump (&self->waiter);
  _khadim_rpa_windows_wake (self->windows);
}

static void
weak_ref_free (gpointer data)
{
  g_weak_ref_clear (data);
  g_free (data);
}

/* The source stays until the child has ended, whoever still cares for it, as
 * somebody has to ask for its exit code; it keeps nothing else alive. */
static void
watch_child (KhadimRpaApp *self)
{
  g_autoptr(GSource) source = g_child_watch_source_new (self->pid);
  GWeakRef *weak = g_new0 (GWeakRef, 1);

  g_weak_ref_init (weak, self);
  g_source_set_callback (source, G_SOURCE_FUNC (on_child_ended_cb), weak, weak_ref_free);
  g_source_attach (source, _khadim_rpa_display_get_context (
                             _khadim_rpa_windows_get_display (self->windows)));
}

static gboolean
spawn (KhadimRpaApp            *self,
       const KhadimRpaAppSpec  *spec,
       const KhadimRpaCommand  *command,
       GError                 **error)
{
  static gint n_started;
  g_auto(GStrv) environment = NULL;
  g_autoptr(GError) failure = NULL;

  self->program = g_path_get_basename (command->argv[0]);
  self->startup_id = g_strdup_printf ("khadim-%d-%d_TIME0", getpid (),
                                      g_atomic_int_add (&n_started, 1));
  environment = make_environment (self, spec);
  if (g_spawn_async (spec->work_dir, command->argv, environment,
                     G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD
                       | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
                     start_session, NULL, &self->pid, &failure))
    {
      watch_child (self);
      return TRUE;
    }
  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FAILED, "“%s” could not be started: %s",
               command->argv[0], failure->message);

  return FALSE;
}

/* Whose window it is ------------------------------------------------------- */

/* The fields after the name, which is in parentheses and may hold any. */
static gboolean
read_stat (guint32  pid,
           char    *out_state,
           guint32 *out_parent,
           guint32 *out_session)
{
  g_autofree char *path = g_strdup_printf ("/proc/%u/stat", pid);
  g_autofree char *text = NULL;
  const char *at;
  guint group;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return FALSE;
  at = strrchr (text, ')');

  return at != NULL
         && sscanf (at + 1, " %c %u %u %u", out_state, out_parent, &group, out_session) == 4;
}

static gboolean
is_descendant (guint32 pid,
               guint32 ancestor)
{
  for (int i = 0; i < MAX_ANCESTORS && pid > 1; i++)
    {
      guint32 parent = 0;
      guint32 session = 0;
      char state = 0;

      if (pid == ancestor)
        return TRUE;
      if (!read_stat (pid, &state, &parent, &session))
        return FALSE;
      if (session == ancestor)
        return TRUE;
      pid = parent;
    }

  return FALSE;
}

/* Whether anything that the program started is running. */
static gboolean
has_live_session (guint32 id)
{
  g_autoptr(GDir) dir = g_dir_open ("/proc", 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      guint32 pid = (guint32) g_ascii_strtoull (name, NULL, 10);
      guint32 parent = 0;
      guint32 session = 0;
      char state = 0;

      if (pid != 0 && read_stat (pid, &state, &parent, &session) && session == id && state != 'Z')
        return TRUE;
    }

  return FALSE;
}

static gboolean
is_for_people (KhadimRpaWindow *window)
{
  static const char * const others[] = { "dock",  "desktop", "splash", "notification",
                                         "menu",  "toolbar", NULL };

  return !g_strv_contains (others, khadim_rpa_window_get_window_type (window));
}

typedef enum {
  CLAIM_NONE,
  CLAIM_NEW,     /* it is new, no more */
  CLAIM_CLASS,   /* it has the class of the program */
  CLAIM_PROCESS, /* it is of the program's process or its children */
  CLAIM_STARTUP, /* it carries the id of the start */
} Claim;

static Claim
judge (KhadimRpaApp    *self,
       KhadimRpaWindow *window,
       const char      *wm_class)
{
  const KhadimRpaWindowMatch by_class = { .app = wm_class };
  guint32 pid = khadim_rpa_window_get_pid (window);

  if (g_str_equal (khadim_rpa_window_get_startup_id (window), self->startup_id))
    return CLAIM_STARTUP;
  if (pid != 0 && is_descendant (pid, (guint32) self->pid))
    return CLAIM_PROCESS;
  if (khadim_rpa_window_matches (window, &by_class))
    return CLAIM_CLASS;

  return CLAIM_NEW;
}

typedef struct {
  KhadimRpaApp *app;
  const char *wm_class;
  GPtrArray *known;
  KhadimRpaWindow *best;
  Claim claim;
  gboolean handed_over; /* the program and all it started have ended well */
  gboolean presented;   /* windows that were there count, too */
  gboolean failed;
} Search;

static gboolean
was_there (GPtrArray       *known,
           KhadimRpaWindow *window)
{
  for (guint i = 0; i < known->len; i++)
    if (khadim_rpa_window_get_id (g_ptr_array_index (known, i))
        == khadim_rpa_window_get_id (window))
      return TRUE;

  return FALSE;
}

static gboolean
is_running (guint32 pid)
{
  return pid != 0 && (kill ((pid_t) pid, 0) == 0 || errno == EPERM);
}

static void
consider (Search          *search,
          KhadimRpaWindow *window)
{
  Claim claim;

  if (was_there (search->known, window) || !is_for_people (window)
      || (khadim_rpa_window_get_state (window) & KHADIM_RPA_WINDOW_STATE_VISIBLE) == 0)
    return;
  claim = judge (search->app, window, search->wm_class);
  /* A new window that is of another process may be anybody's: only a program
   * that has handed over can have asked for it. In a sandbox, processes have
   * other numbers outside. */
  if (claim <= CLAIM_CLASS && !search->handed_over
      && (claim == CLAIM_NEW || is_running (khadim_rpa_window_get_pid (window))))
    return;
  if (claim < search->claim)
    return;
  g_clear_pointer (&search->best, khadim_rpa_window_unref);
  search->best = khadim_rpa_window_ref (window);
  search->claim = claim;
}

/* A program that has handed over may bring up a window that was there. */
static void
consider_presented (Search *search)
{
  g_autoptr(KhadimRpaWindow) active =
    khadim_rpa_windows_get_active (search->app->windows, NULL);
  const KhadimRpaWindowMatch by_class = { .app = search->wm_class };

  if (active != NULL && khadim_rpa_window_matches (active, &by_class))
    search->best = g_steal_pointer (&active);
}

static gboolean
look_for_window (KhadimRpaWindows *windows,
                 Display          *x,
                 gpointer          user_data)
{
  Search *search = user_data;
  g_autoptr(GPtrArray) all = khadim_rpa_windows_list (windows, NULL, NULL);
  int exit_code = 0;
  gboolean ended = khadim_rpa_app_has_ended (search->app, &exit_code);

  search->handed_over =
    ended && exit_code == 0 && !has_live_session ((guint32) search->app->pid);
  search->failed = ended && exit_code != 0;
  for (guint i = 0; all != NULL && i < all->len; i++)
    consider (search, g_ptr_array_index (all, i));
  if (search->best == NULL && search->handed_over && search->presented)
    consider_presented (search);

  return search->best != NULL || search->failed;
}

static gboolean
look_for_end (KhadimRpaWindows *windows,
              Display          *x,
              gpointer          user_data)
{
  Search *search = user_data;

  return look_for_window (windows, x, search) || search->handed_over;
}

static gboolean
fail_ended (KhadimRpaApp  *self,
            GError       **error)
{
  int exit_code = 0;

  khadim_rpa_app_has_ended (self, &exit_code);
  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_ENDED,
               "“%s” has ended with the code %d", self->program, exit_code);

  return FALSE;
}

/* A window of the program, or the end of the program; after that a new window
 * for a while, and then any that it may have brought up. */
static gboolean
wait_in_steps (Search        *search,
               gint64         deadline_us,
               GCancellable  *cancellable,
               GError       **error)
{
  KhadimRpaWindows *windows = search->app->windows;
  gint64 grace_us;

  if (!_khadim_rpa_windows_wait (windows, look_for_end, search, deadline_us, cancellable, error))
    return FALSE;
  grace_us = MIN (deadline_us, _khadim_rpa_deadline (PRESENT_GRACE_MS));
  if (search->best != NULL || search->failed
      || _khadim_rpa_windows_wait (windows, look_for_window, search, grace_us, cancellable, NULL))
    return TRUE;
  search->presented = TRUE;

  return _khadim_rpa_windows_wait (windows, look_for_window, search, deadline_us, cancellable,
                                   error);
}

static gboolean
wait_for_window (KhadimRpaApp  *self,
                 Search        *search,
                 gint64         deadline_us,
                 GCancellable  *cancellable,
                 GError       **error)
{
  if (!wait_in_steps (search, deadline_us, cancellable, error))
    {
      g_prefix_error (error, "Waiting for a window of “%s”: ", self->program);
      return FALSE;
    }
  self->window = search->best;

  return self->window != NULL || fail_ended (self, error);
}

/**
 * khadim_rpa_app_open:
 * @windows: the windows of the display to open it on
 * @spec: what to open
 * @timeout_ms: how long to wait for its window
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Starts a program and waits for the window that it opens. When the window
 * does not come, the program goes on. Blocks; any thread but that of the
 * display.
 *
 * Errors: #KHADIM_RPA_ERROR with `INVALID` (@spec), `NOT_FOUND` (no such
 * application, program or file), `UNSUPPORTED` (it runs in a terminal),
 * `FAILED` (it could not be started), `ENDED` (it ended with a code other than
 * 0 before it had a window), `TIMEOUT`, `CANCELLED` or `LOST`.
 *
 * Returns: (transfer full): the program with its window; %NULL on error
 */
KhadimRpaApp *
khadim_rpa_app_open (KhadimRpaWindows        *windows,
                     const KhadimRpaAppSpec  *spec,
                     guint                    timeout_ms,
                     GCancellable            *cancellable,
                     GError                 **error)
{
  gint64 deadline_us = _khadim_rpa_deadline (timeout_ms);
  g_autoptr(KhadimRpaApp) self = NULL;
  g_autoptr(GPtrArray) known = NULL;
  g_auto(KhadimRpaCommand) command = { 0 };
  Search search = { 0 };

  g_return_val_if_fail (KHADIM_RPA_IS_WINDOWS (windows), NULL);
  g_return_val_if_fail (spec != NULL, NULL);

  if (!_khadim_rpa_check_cancelled (cancellable, error)
      || !_khadim_rpa_command_resolve (spec, &command, error))
    return NULL;
  known = khadim_rpa_windows_list (windows, NULL, error);
  if (known == NULL)
    return NULL;

  self = g_object_new (KHADIM_RPA_TYPE_APP, NULL);
  self->windows = g_object_ref (windows);
  if (!spawn (self, spec, &command, error))
    return NULL;
  search = (Search) { .app = self, .wm_class = command.wm_class, .known = known };
  if (!wait_for_window (self, &search, deadline_us, cancellable, error))
    return NULL;

  return g_steal_pointer (&self);
}

/**
 * khadim_rpa_app_get_window:
 * @self: a program
 *
 * Any thread.
 *
 * Returns: (transfer none): the window that it opened, as it was then
 */
KhadimRpaWindow *
khadim_rpa_app_get_window (KhadimRpaApp *self)
{
  g_return_val_if_fail (KHADIM_RPA_IS_APP (self), NULL);

  return self->window;
}

/**
 * khadim_rpa_app_get_pid:
 * @self: a program
 *
 * The process of its window where that says so, which is another one than was
 * started when it is a child of it or ran already. Any thread.
 *
 * Returns: the process
 */
guint32
khadim_rpa_app_get_pid (KhadimRpaApp *self)
{
  guint32 pid;

  g_return_val_if_fail (KHADIM_RPA_IS_APP (self), 0);

  pid = self->window != NULL ? khadim_rpa_window_get_pid (self->window) : 0;

  return pid != 0 ? pid : (guint32) self->pid;
}

/**
 * khadim_rpa_app_has_ended:
 * @self: a program
 * @out_exit_code: (out) (optional): its exit code, or 128 and the number of the
 *   signal that ended it
 *
 * Whether the process that was started has ended. Any thread.
 *
 * Returns: whether it has
 */
gboolean
khadim_rpa_app_has_ended (KhadimRpaApp *self,
                          int          *out_exit_code)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_APP (self), FALSE);

  locker = g_mutex_locker_new (&self->waiter.lock);
  if (self->ended && out_exit_code != NULL)
    *out_exit_code = self->exit_code;

  return self->ended;
}

/**
 * khadim_rpa_app_wait_ended:
 * @self: a program
 * @timeout_ms: how long to wait
 * @cancellable: (nullable): stops waiting
 * @out_exit_code: (out) (optional): as khadim_rpa_app_has_ended()
 * @error: where to put an error
 *
 * Waits until the process that was started has ended. Blocks; any thread but
 * that of the display.
 *
 * Errors: #KHADIM_RPA_ERROR with `TIMEOUT` or `CANCELLED`.
 *
 * Returns: whether it has ended
 */
gboolean
khadim_rpa_app_wait_ended (KhadimRpaApp  *self,
                           guint          timeout_ms,
                           GCancellable  *cancellable,
                           int           *out_exit_code,
                           GError       **error)
{
  gint64 deadline_us = _khadim_rpa_deadline (timeout_ms);

  g_return_val_if_fail (KHADIM_RPA_IS_APP (self), FALSE);

  while (_khadim_rpa_check_cancelled (cancellable, error))
    {
      guint64 seen = _khadim_rpa_waiter_get_serial (&self->waiter);

      if (khadim_rpa_app_has_ended (self, out_exit_code))
        return TRUE;
      if (!_khadim_rpa_waiter_wait (&self->waiter, seen, deadline_us, cancellable, error))
        return FALSE;
    }

  return FALSE;
}

/**
 * khadim_rpa_app_check:
 * @self: a program
 * @error: where to put an error
 *
 * Whether the program is there still, to be asked when its window is gone or a
 * step cannot act. Any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `ENDED`; the text has the exit code.
 *
 * Returns: whether it is
 */
gboolean
khadim_rpa_app_check (KhadimRpaApp  *self,
                      GError       **error)
{
  guint32 pid;

  g_return_val_if_fail (KHADIM_RPA_IS_APP (self), FALSE);

  pid = khadim_rpa_app_get_pid (self);
  if (pid == (guint32) self->pid)
    return !khadim_rpa_app_has_ended (self, NULL) || fail_ended (self, error);
  if (is_running (pid))
    return TRUE;
  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_ENDED,
               "The process %u of “%s” has ended", pid, self->program);

  return FALSE;
}
