/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-display"

#include "config.h"

#include "rpa/screen/khadim-rpa-display.h"

#include "rpa/screen/khadim-rpa-display-private.h"
#include "rpa/screen/khadim-rpa-error.h"

/* One connection to an X server and the only thread that speaks on it. Others
 * hand closures over; they run one after the other, between events. When the
 * server goes, nothing more runs, and whoever waits is told. */

#define THREAD_NAME "desktop"
#define MAX_TRAPS   8
#define MAX_EVENTS  64 /* before closures get their turn */

typedef struct {
  guint id;
  KhadimRpaEventFilter func;
  gpointer user_data;
} Filter;

/* Shared between the object and its thread, which may end after it. */
typedef struct {
  gatomicrefcount ref_count;
  GMainContext *context;
  GMainLoop *loop;
  char *name;
  gint lost; /* atomic */

  GMutex lock;
  GCond changed; /* a closure has run, or the display is lost */
  gboolean started;

  /* Only on the thread of the display */
  KhadimRpaDisplay *owner; /* not owned */
  Display *x;
  GSource *source;
  GArray *filters; /* of Filter */
  guint next_filter;
  unsigned long trap_serials[MAX_TRAPS];
  int trap_codes[MAX_TRAPS];
  guint n_traps;
} Connection;

struct _KhadimRpaDisplay
{
  GObject parent_instance;

  /* Owned */
  Connection *connection;
  GThread *thread;
};

G_DEFINE_FINAL_TYPE (KhadimRpaDisplay, khadim_rpa_display, G_TYPE_OBJECT)

typedef struct {
  GSource parent;
  GPollFD poll_fd;
  Connection *connection;
} EventSource;

/* Which connection an error belongs to; Xlib has one handler a process. */
static GMutex handlers_lock;
static GHashTable *connections; /* Display → Connection, guarded by handlers_lock */
static GHashTable *adopted;     /* Displays that another part keeps; likewise */
static XErrorHandler previous_handler;
static XIOErrorHandler previous_io_handler;

static void
connection_unref (Connection *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_main_loop_unref (self->loop);
  g_main_context_unref (self->context);
  g_array_unref (self->filters);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self->name);
  g_free (self);
}

/* Errors ------------------------------------------------------------------- */

static Connection *
find_connection (Display *x)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&handlers_lock);

  return g_hash_table_lookup (connections, x);
}

static gboolean
is_adopted (Display *x)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&handlers_lock);

  return g_hash_table_contains (adopted, x);
}

static int
on_x_error_cb (Display     *x,
               XErrorEvent *event)
{
  Connection *self = find_connection (x);

  if (self == NULL && is_adopted (x))
    {
      g_debug ("X error %d of request %d.%d, on a connection of its own", event->error_code,
               event->request_code, event->minor_code);
      return 0;
    }
  if (self == NULL)
    return previous_handler != NULL ? previous_handler (x, event) : 0;

  for (guint i = self->n_traps; i > 0; i--)
    if (event->serial >= self->trap_serials[i - 1])
      {
        if (self->trap_codes[i - 1] == 0)
          self->trap_codes[i - 1] = event->error_code;
        return 0;
      }
  g_debug ("X error %d of request %d.%d", event->error_code, event->request_code,
           event->minor_code);

  return 0;
}

/* Toolkits set handlers of their own whenever they look for errors; ours has to
 * be there when it counts, and hands on what is theirs. */
static void
put_handler_first (void)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&handlers_lock);
  XErrorHandler now = XSetErrorHandler (on_x_error_cb);

  if (now != on_x_error_cb)
    previous_handler = now;
}

static void
mark_lost (Connection *self)
{
  g_mutex_lock (&self->lock);
  g_atomic_int_set (&self->lost, TRUE);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* Instead of ending the process, as Xlib would by default: in the first place
 * when the connection breaks, in the second one for any other reason. */
static int
on_io_error_cb (Display *x)
{
  if (find_connection (x) == NULL && !is_adopted (x))
    return previous_io_handler (x);

  return 0;
}

static void
on_io_error_exit_cb (Display *x,
                     void    *user_data)
{
  mark_lost (user_data);
}

/* With handlers_lock held. */
static void
install_handlers (void)
{
  if (connections != NULL)
    return;

  connections = g_hash_table_new (NULL, NULL);
  adopted = g_hash_table_new (NULL, NULL);
  previous_handler = XSetErrorHandler (on_x_error_cb);
  previous_io_handler = XSetIOErrorHandler (on_io_error_cb);
}

/* Errors of a connection that a part keeps beside the display's are none that
 * end the process either; what the part does when it breaks is its own matter
 * (XSetIOErrorExitHandler). */
void
_khadim_rpa_display_adopt (Display *x)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&handlers_lock);

  install_handlers ();
  g_hash_table_add (adopted, x);
}

void
_khadim_rpa_display_disown (Display *x)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&handlers_lock);

  g_hash_table_remove (adopted, x);
}

static void
set_handlers (Connection *self)
{
  g_mutex_lock (&handlers_lock);
  install_handlers ();
  g_hash_table_insert (connections, self->x, self);
  g_mutex_unlock (&handlers_lock);
  XSetIOErrorExitHandler (self->x, on_io_error_exit_cb, self);
}

static void
unset_handlers (Connection *self)
{
  g_mutex_lock (&handlers_lock);
  g_hash_table_remove (connections, self->x);
  g_mutex_unlock (&handlers_lock);
}

/* Events ------------------------------------------------------------------- */

static gboolean
has_events (Connection *self)
{
  return !g_atomic_int_get (&self->lost) && XEventsQueued (self->x, QueuedAfterFlush) > 0;
}

static gboolean
event_source_prepare (GSource *source,
                      int     *timeout_ms)
{
  *timeout_ms = -1;

  return has_events (((EventSource *) source)->connection);
}

static gboolean
event_source_check (GSource *source)
{
  EventSource *self = (EventSource *) source;

  return (self->poll_fd.revents & (G_IO_HUP | G_IO_ERR)) != 0
         || ((self->poll_fd.revents & G_IO_IN) != 0 && has_events (self->connection));
}

/* A filter may remove itself or others. */
static void
filter_event (Connection *self,
              XEvent     *event)
{
  g_autoptr(GArray) filters = g_array_copy (self->filters);

  if (event != NULL)
    XGetEventData (self->x, &event->xcookie);
  for (guint i = 0; i < filters->len; i++)
    {
      const Filter *filter = &g_array_index (filters, Filter, i);

      for (guint j = 0; j < self->filters->len; j++)
        if (g_array_index (self->filters, Filter, j).id == filter->id)
          {
            filter->func (self->owner, event, filter->user_data);
            break;
          }
    }
  if (event != NULL)
    XFreeEventData (self->x, &event->xcookie);
}

static gboolean
event_source_dispatch (GSource     *source,
                       GSourceFunc  callback,
                       gpointer     user_data)
{
  EventSource *event_source = (EventSource *) source;
  Connection *self = event_source->connection;

  if ((event_source->poll_fd.revents & (G_IO_HUP | G_IO_ERR)) != 0)
    XPending (self->x);
  for (guint i = 0; i < MAX_EVENTS && has_events (self); i++)
    {
      XEvent event;

      XNextEvent (self->x, &event);
      if (!g_atomic_int_get (&self->lost))
        filter_event (self, &event);
    }

  if (!g_atomic_int_get (&self->lost))
    return G_SOURCE_CONTINUE;
  filter_event (self, NULL);

  return G_SOURCE_REMOVE;
}

static GSourceFuncs event_source_funcs = {
  .prepare = event_source_prepare,
  .check = event_source_check,
  .dispatch = event_source_dispatch,
};

static void
attach_source (Connection *self)
{
  EventSource *source;

  self->source = g_source_new (&event_source_funcs, sizeof (EventSource));
  source = (EventSource *) self->source;
  source->connection = self;
  source->poll_fd.fd = ConnectionNumber (self->x);
  source->poll_fd.events = G_IO_IN | G_IO_HUP | G_IO_ERR;
  g_source_add_poll (self->source, &source->poll_fd);
  g_source_attach (self->source, self->context);
}

/* The thread --------------------------------------------------------------- */

static void
report_started (Connection *self)
{
  g_mutex_lock (&self->lock);
  self->started = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

static gpointer
run_thread (gpointer user_data)
{
  Connection *self = user_data;

  g_main_context_push_thread_default (self->context);
  self->x = XOpenDisplay (self->name);
  if (self->x != NULL)
    {
      set_handlers (self);
      attach_source (self);
    }
  report_started (self);
  if (self->x != NULL)
    {
      g_main_loop_run (self->loop);
      g_source_destroy (self->source);
      g_source_unref (self->source);
      unset_handlers (self);
      XCloseDisplay (self->x);
    }
  g_main_context_pop_thread_default (self->context);
  connection_unref (self);

  return NULL;
}

static gboolean
on_quit_cb (gpointer user_data)
{
  Connection *self = user_data;

  g_main_loop_quit (self->loop);

  return G_SOURCE_REMOVE;
}

static void
khadim_rpa_display_finalize (GObject *object)
{
  KhadimRpaDisplay *self = KHADIM_RPA_DISPLAY (object);

  if (self->thread != NULL)
    {
      g_autoptr(GSource) quit = g_idle_source_new ();

      g_source_set_callback (quit, on_quit_cb, self->connection, NULL);
      if (self->thread == g_thread_self ())
        {
          g_main_loop_quit (self->connection->loop);
          g_thread_unref (self->thread);
        }
      else
        {
          g_source_attach (quit, self->connection->context);
          g_thread_join (self->thread);
        }
    }
  connection_unref (self->connection);

  G_OBJECT_CLASS (khadim_rpa_display_parent_class)->finalize (object);
}

static void
khadim_rpa_display_class_init (KhadimRpaDisplayClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_rpa_display_finalize;
}

static void
khadim_rpa_display_init (KhadimRpaDisplay *self)
{
  Connection *connection = g_new0 (Connection, 1);

  g_atomic_ref_count_init (&connection->ref_count);
  connection->context = g_main_context_new ();
  connection->loop = g_main_loop_new (connection->context, FALSE);
  connection->filters = g_array_new (FALSE, FALSE, sizeof (Filter));
  connection->owner = self;
  g_mutex_init (&connection->lock);
  g_cond_init (&connection->changed);
  self->connection = connection;
}

static void
start_thread (KhadimRpaDisplay *self)
{
  Connection *connection = self->connection;

  g_atomic_ref_count_inc (&connection->ref_count);
  self->thread = g_thread_new (THREAD_NAME, run_thread, connection);
  g_mutex_lock (&connection->lock);
  while (!connection->started)
    g_cond_wait (&connection->changed, &connection->lock);
  g_mutex_unlock (&connection->lock);
}

/**
 * khadim_rpa_display_new:
 * @name: (nullable): such as `:0`; %NULL for `DISPLAY`
 * @error: where to put an error
 *
 * Connects to an X server and starts the thread that speaks with it. Blocks
 * while it connects; any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `LOST` when there is no such display.
 *
 * Returns: (transfer full): the display; %NULL on error
 */
KhadimRpaDisplay *
khadim_rpa_display_new (const char  *name,
                        GError     **error)
{
  g_autoptr(KhadimRpaDisplay) self = g_object_new (KHADIM_RPA_TYPE_DISPLAY, NULL);

  XInitThreads ();
  self->connection->name = g_strdup (XDisplayName (name));
  start_thread (self);
  if (self->connection->x == NULL)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LOST,
                   "There is no X server at “%s”", self->connection->name);
      return NULL;
    }

  return g_steal_pointer (&self);
}

/**
 * khadim_rpa_display_get_name:
 * @self: a display
 *
 * Any thread.
 *
 * Returns: (transfer none): its name, such as `:0`
 */
const char *
khadim_rpa_display_get_name (KhadimRpaDisplay *self)
{
  g_return_val_if_fail (KHADIM_RPA_IS_DISPLAY (self), NULL);

  return self->connection->name;
}

/**
 * khadim_rpa_display_is_lost:
 * @self: a display
 *
 * Any thread.
 *
 * Returns: whether the server has gone
 */
gboolean
khadim_rpa_display_is_lost (KhadimRpaDisplay *self)
{
  g_return_val_if_fail (KHADIM_RPA_IS_DISPLAY (self), TRUE);

  return g_atomic_int_get (&self->connection->lost);
}

/* Closures ----------------------------------------------------------------- */

typedef struct {
  KhadimRpaDisplay *display;
  KhadimRpaDisplayFunc func;
  gpointer user_data;
  GDestroyNotify destroy;
} Closure;

static gboolean
on_closure_cb (gpointer user_data)
{
  Closure *closure = user_data;

  if (!khadim_rpa_display_is_lost (closure->display))
    {
      closure->func (closure->display, closure->user_data);
      XFlush (closure->display->connection->x);
    }

  return G_SOURCE_REMOVE;
}

static void
closure_free (gpointer user_data)
{
  Closure *closure = user_data;

  if (closure->destroy != NULL)
    closure->destroy (closure->user_data);
  g_object_unref (closure->display);
  g_free (closure);
}

/**
 * khadim_rpa_display_run_async:
 * @self: a display
 * @func: (scope async): what to do
 * @user_data: for @func
 * @destroy: (nullable): frees @user_data, on the thread of the display
 *
 * Has something done on the thread of the display, after what was handed over
 * before. When the display is lost, only @destroy is called. Any thread.
 */
void
khadim_rpa_display_run_async (KhadimRpaDisplay     *self,
                              KhadimRpaDisplayFunc  func,
                              gpointer              user_data,
                              GDestroyNotify        destroy)
{
  g_autoptr(GSource) source = g_idle_source_new ();
  Closure *closure;

  g_return_if_fail (KHADIM_RPA_IS_DISPLAY (self));
  g_return_if_fail (func != NULL);

  closure = g_new0 (Closure, 1);
  closure->display = g_object_ref (self);
  closure->func = func;
  closure->user_data = user_data;
  closure->destroy = destroy;
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, on_closure_cb, closure, closure_free);
  g_source_attach (source, self->connection->context);
}

typedef struct {
  KhadimRpaDisplayFunc func;
  gpointer user_data;
  Connection *connection;
  gboolean done;
} Call;

static void
run_call (KhadimRpaDisplay *display,
          gpointer          user_data)
{
  Call *call = user_data;

  call->func (display, call->user_data);
}

/* Also called when the closure did not run because the display is lost. */
static void
finish_call (gpointer user_data)
{
  Call *call = user_data;
  Connection *connection = call->connection;

  g_mutex_lock (&connection->lock);
  call->done = TRUE;
  g_cond_broadcast (&connection->changed);
  g_mutex_unlock (&connection->lock);
}

/**
 * khadim_rpa_display_run_sync:
 * @self: a display
 * @func: (scope call): what to do
 * @user_data: for @func
 * @error: where to put an error
 *
 * Has something done on the thread of the display and waits until it is. Any
 * thread; on that of the display itself, it is done at once.
 *
 * Errors: #KHADIM_RPA_ERROR with `LOST` when the server has gone, before or
 * meanwhile.
 *
 * Returns: whether it was done
 */
gboolean
khadim_rpa_display_run_sync (KhadimRpaDisplay      *self,
                             KhadimRpaDisplayFunc   func,
                             gpointer               user_data,
                             GError               **error)
{
  Connection *connection;

  g_return_val_if_fail (KHADIM_RPA_IS_DISPLAY (self), FALSE);
  g_return_val_if_fail (func != NULL, FALSE);

  connection = self->connection;
  if (_khadim_rpa_display_is_own_thread (self))
    {
      func (self, user_data);
    }
  else
    {
      Call call = { func, user_data, connection, FALSE };

      khadim_rpa_display_run_async (self, run_call, &call, finish_call);
      g_mutex_lock (&connection->lock);
      while (!call.done)
        g_cond_wait (&connection->changed, &connection->lock);
      g_mutex_unlock (&connection->lock);
    }
  if (!khadim_rpa_display_is_lost (self))
    return TRUE;
  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LOST, "The X server at “%s” has gone",
               connection->name);

  return FALSE;
}

/* On the thread of the display --------------------------------------------- */

Display *
_khadim_rpa_display_get_x (KhadimRpaDisplay *self)
{
  g_assert (_khadim_rpa_display_is_own_thread (self));

  return self->connection->x;
}

GMainContext *
_khadim_rpa_display_get_context (KhadimRpaDisplay *self)
{
  return self->connection->context;
}

gboolean
_khadim_rpa_display_is_own_thread (KhadimRpaDisplay *self)
{
  return self->thread == g_thread_self ();
}

/* From here on, errors of requests are kept instead of logged. */
void
_khadim_rpa_display_push_trap (KhadimRpaDisplay *self)
{
  Connection *connection = self->connection;

  g_assert (connection->n_traps < MAX_TRAPS);
  put_handler_first ();
  connection->trap_serials[connection->n_traps] = NextRequest (connection->x);
  connection->trap_codes[connection->n_traps] = 0;
  connection->n_traps++;
}

/* Waits for the server and returns the code of the first error since the trap
 * was set, 0 for none. */
int
_khadim_rpa_display_pop_trap (KhadimRpaDisplay *self)
{
  Connection *connection = self->connection;

  g_assert (connection->n_traps > 0);
  XSync (connection->x, False);
  connection->n_traps--;

  return connection->trap_codes[connection->n_traps];
}

guint
_khadim_rpa_display_add_filter (KhadimRpaDisplay     *self,
                                KhadimRpaEventFilter  func,
                                gpointer              user_data)
{
  Filter filter = { ++self->connection->next_filter, func, user_data };

  g_assert (_khadim_rpa_display_is_own_thread (self));
  g_array_append_val (self->connection->filters, filter);

  return filter.id;
}

void
_khadim_rpa_display_remove_filter (KhadimRpaDisplay *self,
                                   guint             id)
{
  GArray *filters = self->connection->filters;

  g_assert (_khadim_rpa_display_is_own_thread (self));
  for (guint i = 0; i < filters->len; i++)
    if (g_array_index (filters, Filter, i).id == id)
      {
        g_array_remove_index (filters, i);
        return;
      }
}

/* Adds to what is selected on a window already: each part that uses the
 * display wants its own events, and XSelectInput() would take those of the
 * others away. */
void
_khadim_rpa_display_select (KhadimRpaDisplay *self,
                            Window            window,
                            long              mask)
{
  Display *x = _khadim_rpa_display_get_x (self);
  XWindowAttributes attributes;

  if (XGetWindowAttributes (x, window, &attributes)
      && (attributes.your_event_mask & mask) != mask)
    XSelectInput (x, window, attributes.your_event_mask | mask);
}
