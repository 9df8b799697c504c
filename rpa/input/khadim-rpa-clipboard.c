/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-clipboard"

#include "config.h"

#include "rpa/input/khadim-rpa-clipboard.h"

#include <string.h>

#include <X11/Xatom.h>

#include "rpa/input/khadim-rpa-input-private.h"
#include "rpa/input/khadim-rpa-selection-private.h"
#include "rpa/screen/khadim-rpa-error.h"

/* Reads selections of other clients and owns them itself. The requestor's side
 * (ICCCM 2.4, 2.7.2) is here, the owner's in khadim-rpa-selection.c. */

/* Where owners put what is asked for, by turns: one that answers after its time
 * must not be taken for the next. */
#define PROPERTY        "_KHADIM_CLIPBOARD_%u"
#define N_PROPERTIES    8
#define MAX_FORMATS     32 /* of what is put back after pasting */
#define SAVE_TIMEOUT_MS 2000
#define PASTE_PINGS     3

/* A conversion under way; only on the thread of the display until it is done. */
typedef struct {
  Atom selection;
  Atom target;
  gboolean done;
  gboolean refused;
  gboolean too_large;
  gboolean in_pieces;
  int format;
  GByteArray *data;
} Incoming;

struct _KhadimRpaClipboard
{
  GObject parent_instance;

  /* Owned */
  KhadimRpaDisplay *display;
  KhadimRpaWaiter waiter;
  GMutex action; /* one at a time */

  /* Only on the thread of the display */
  Window window;
  guint filter;
  KhadimRpaServing *serving;
  Incoming *incoming; /* (nullable) not owned */
  guint n_asked;
  Atom property;      /* of the last question */
};

G_DEFINE_FINAL_TYPE (KhadimRpaClipboard, khadim_rpa_clipboard, G_TYPE_OBJECT)

static Atom
get_selection (Display                *x,
               KhadimRpaClipboardKind  kind)
{
  return kind == KHADIM_RPA_CLIPBOARD_KIND_PRIMARY ? XA_PRIMARY
                                                   : XInternAtom (x, "CLIPBOARD", False);
}

/* Reading ------------------------------------------------------------------ */

/* Takes the property off and adds it to what has come so far; returns its type. */
static Atom
take_property (KhadimRpaClipboard *self,
               Display            *x,
               gsize              *out_n_bytes)
{
  Incoming *incoming = self->incoming;
  Atom type = None;
  int format = 0;
  unsigned long n = 0, left = 0;
  unsigned char *data = NULL;
  gsize size;

  *out_n_bytes = 0;
  if (XGetWindowProperty (x, self->window, self->property, 0,
                          KHADIM_RPA_CLIPBOARD_MAX_BYTES / 4, True, AnyPropertyType, &type,
                          &format, &n, &left, &data)
      != Success)
    return None;
  size = n * (format == 32 ? sizeof (long) : (gsize) format / 8);
  if (type != XInternAtom (x, "INCR", False))
    {
      if (left > 0 || incoming->data->len + size > KHADIM_RPA_CLIPBOARD_MAX_BYTES)
        incoming->too_large = TRUE;
      else
        g_byte_array_append (incoming->data, data, (guint) size);
      incoming->format = format;
      *out_n_bytes = size;
    }
  if (data != NULL)
    XFree (data);

  return type;
}

static void
handle_answer (KhadimRpaClipboard *self,
               XSelectionEvent    *event)
{
  Incoming *incoming = self->incoming;
  gsize n_bytes;

  if (incoming == NULL || incoming->in_pieces || event->selection != incoming->selection
      || event->target != incoming->target
      || (event->property != None && event->property != self->property))
    return;
  if (event->property == None)
    incoming->refused = TRUE;
  else if (take_property (self, event->display, &n_bytes)
           == XInternAtom (event->display, "INCR", False))
    {
      incoming->in_pieces = TRUE;
      return;
    }
  incoming->done = TRUE;
}

/* An empty piece is the last one. */
static void
handle_piece (KhadimRpaClipboard *self,
              XPropertyEvent     *event)
{
  gsize n_bytes;

  if (self->incoming == NULL || !self->incoming->in_pieces || event->state != PropertyNewValue
      || event->atom != self->property)
    return;
  take_property (self, event->display, &n_bytes);
  self->incoming->done = n_bytes == 0 || self->incoming->too_large;
}

static void
on_event_cb (KhadimRpaDisplay *display,
             XEvent           *event,
             gpointer          user_data)
{
  KhadimRpaClipboard *self = user_data;

  if (event != NULL && !_khadim_rpa_serving_handle (self->serving, event))
    {
      if (event->type == SelectionNotify && event->xselection.requestor == self->window)
        handle_answer (self, &event->xselection);
      else if (event->type == PropertyNotify && event->xproperty.window == self->window)
        handle_piece (self, &event->xproperty);
      else
        return;
    }
  _khadim_rpa_waiter_bump (&self->waiter);
}

typedef struct {
  KhadimRpaClipboard *clipboard;
  KhadimRpaClipboardKind kind;
  const char *target;
  Atom atom;
  Incoming *incoming;
  KhadimRpaOffer *offer;
  Window window;
  gboolean result;
} Job;

/* Targets that are asked for their effect (ICCCM 2.6.3) or that carry no bytes
 * of the selection. */
static gboolean
is_side_effect (Display *x,
                Atom     target)
{
  static const char * const names[] = { "DELETE",   "INSERT_SELECTION", "INSERT_PROPERTY",
                                        "MULTIPLE", "SAVE_TARGETS",     "TARGETS",
                                        "TIMESTAMP" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (target == XInternAtom (x, names[i], False))
      return TRUE;

  return FALSE;
}

static void
ask_in_display (KhadimRpaDisplay *display,
                gpointer          user_data)
{
  Job *job = user_data;
  Display *x = _khadim_rpa_display_get_x (display);
  KhadimRpaClipboard *self = job->clipboard;
  g_autofree char *property = g_strdup_printf (PROPERTY, self->n_asked++ % N_PROPERTIES);

  job->incoming->selection = get_selection (x, job->kind);
  job->incoming->target =
    job->target != NULL ? XInternAtom (x, job->target, False) : job->atom;
  self->incoming = job->incoming;
  if (job->target == NULL && is_side_effect (x, job->atom))
    {
      job->incoming->refused = job->incoming->done = TRUE;
      return;
    }
  self->property = XInternAtom (x, property, False);
  XDeleteProperty (x, self->window, self->property);
  XConvertSelection (x, job->incoming->selection, job->incoming->target, self->property,
                     self->window, CurrentTime);
}

static void
look_in_display (KhadimRpaDisplay *display,
                 gpointer          user_data)
{
  Job *job = user_data;

  job->result = job->incoming->done;
}

static void
forget_in_display (KhadimRpaDisplay *display,
                   gpointer          user_data)
{
  Job *job = user_data;

  job->clipboard->incoming = NULL;
}

/* Waits until what a function looks at on the thread of the display holds. */
static gboolean
wait_until (KhadimRpaClipboard    *self,
            KhadimRpaDisplayFunc   look,
            Job                   *job,
            guint                  timeout_ms,
            GCancellable          *cancellable,
            GError               **error)
{
  gint64 deadline_us = g_get_monotonic_time () + timeout_ms * G_GINT64_CONSTANT (1000);

  while (TRUE)
    {
      guint64 seen = _khadim_rpa_waiter_get_serial (&self->waiter);

      if (!khadim_rpa_display_run_sync (self->display, look, job, error))
        return FALSE;
      if (job->result)
        return TRUE;
      if (!_khadim_rpa_waiter_wait (&self->waiter, seen, deadline_us, cancellable, error))
        return FALSE;
    }
}

static gboolean
convert (KhadimRpaClipboard  *self,
         Job                 *job,
         Incoming            *incoming,
         guint                timeout_ms,
         GCancellable        *cancellable,
         GError             **error)
{
  gboolean good;

  incoming->data = g_byte_array_new ();
  job->clipboard = self;
  job->incoming = incoming;
  if (!khadim_rpa_display_run_sync (self->display, ask_in_display, job, error))
    return FALSE;
  good = wait_until (self, look_in_display, job, timeout_ms, cancellable, error);
  khadim_rpa_display_run_sync (self->display, forget_in_display, job, NULL);
  if (!good)
    return FALSE;
  if (incoming->refused)
    g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND,
                         "The clipboard holds nothing of this kind");
  else if (incoming->too_large)
    g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
                 "The clipboard holds more than %d bytes", KHADIM_RPA_CLIPBOARD_MAX_BYTES);

  return !incoming->refused && !incoming->too_large;
}

static gboolean
begin (KhadimRpaClipboard  *self,
       GError             **error)
{
  if (g_mutex_trylock (&self->action))
    return TRUE;
  g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_BUSY,
                       "The clipboard is being used");

  return FALSE;
}

/* STRING is Latin-1, whatever else it is said to be (ICCCM 2.6.2). */
static char *
read_text (Incoming  *incoming,
           gboolean   latin1,
           GError   **error)
{
  const char *bytes = (const char *) incoming->data->data;
  gsize size = incoming->data->len;

  if (size == 0)
    return g_strdup ("");
  if (latin1 && memchr (bytes, '\0', size) == NULL)
    return g_convert (bytes, (gssize) size, "UTF-8", "ISO-8859-1", NULL, NULL, error);
  if (!latin1 && g_utf8_validate_len (bytes, size, NULL))
    return g_strndup (bytes, size);
  g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                       "The text of the clipboard is not UTF-8");

  return NULL;
}

/* From programs that are older than UTF-8 too. */
static char *
convert_text (KhadimRpaClipboard      *self,
              KhadimRpaClipboardKind   kind,
              guint                    timeout_ms,
              GCancellable            *cancellable,
              GError                 **error)
{
  static const char * const targets[] = { "UTF8_STRING", "STRING" };
  char *text = NULL;
  g_autoptr(GError) refused = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (targets); i++)
    {
      Job job = { .kind = kind, .target = targets[i] };
      Incoming incoming = { 0 };

      g_clear_error (&refused);
      if (convert (self, &job, &incoming, timeout_ms, cancellable, &refused))
        text = read_text (&incoming, i == 1, &refused);
      g_clear_pointer (&incoming.data, g_byte_array_unref);
      if (!g_error_matches (refused, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_NOT_FOUND))
        break;
    }
  if (text == NULL)
    g_propagate_error (error, g_steal_pointer (&refused));

  return text;
}

/**
 * khadim_rpa_clipboard_get_text:
 * @self: a clipboard
 * @kind: which one
 * @timeout_ms: how long its owner may take
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Reads the text of a clipboard. Blocks; any thread but that of the display.
 * Source: ICCCM 2.4.
 *
 * Errors: #KHADIM_RPA_ERROR with `NOT_FOUND` (no text), `INVALID` (not UTF-8),
 * `LIMIT`, `TIMEOUT`, `BUSY`, `CANCELLED` or `LOST`.
 *
 * Returns: (transfer full): the text; %NULL on error
 */
char *
khadim_rpa_clipboard_get_text (KhadimRpaClipboard      *self,
                               KhadimRpaClipboardKind   kind,
                               guint                    timeout_ms,
                               GCancellable            *cancellable,
                               GError                 **error)
{
  char *text;

  g_return_val_if_fail (KHADIM_RPA_IS_CLIPBOARD (self), NULL);

  if (!begin (self, error))
    return NULL;
  text = convert_text (self, kind, timeout_ms, cancellable, error);
  g_mutex_unlock (&self->action);

  return text;
}

/* Writing ------------------------------------------------------------------ */

static void
offer_in_display (KhadimRpaDisplay *display,
                  gpointer          user_data)
{
  Job *job = user_data;
  Display *x = _khadim_rpa_display_get_x (display);

  job->result = _khadim_rpa_serving_offer (job->clipboard->serving,
                                           get_selection (x, job->kind),
                                           g_steal_pointer (&job->offer));
}

static void
withdraw_in_display (KhadimRpaDisplay *display,
                     gpointer          user_data)
{
  Job *job = user_data;
  Display *x = _khadim_rpa_display_get_x (display);

  _khadim_rpa_serving_withdraw (job->clipboard->serving, get_selection (x, job->kind));
}

static void
name_targets_in_display (KhadimRpaDisplay *display,
                         gpointer          user_data)
{
  static const char * const names[] = { "UTF8_STRING", "text/plain;charset=utf-8", "text/plain" };
  Job *job = user_data;
  Display *x = _khadim_rpa_display_get_x (display);
  GBytes *bytes = g_ptr_array_index (job->offer->bytes, 0);

  g_array_index (job->offer->targets, Atom, 0) = XInternAtom (x, names[0], False);
  for (guint i = 1; i < G_N_ELEMENTS (names); i++)
    _khadim_rpa_offer_add (job->offer, XInternAtom (x, names[i], False), bytes);
}

/* Takes the offer over. */
static gboolean
own (KhadimRpaClipboard      *self,
     KhadimRpaClipboardKind   kind,
     KhadimRpaOffer          *offer,
     GError                 **error)
{
  Job job = { .clipboard = self, .kind = kind, .offer = offer };
  gboolean good = khadim_rpa_display_run_sync (self->display, offer_in_display, &job, error);

  g_clear_pointer (&job.offer, _khadim_rpa_offer_free);
  if (good && !job.result)
    g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_BUSY,
                         "Another program has taken the clipboard");

  return good && job.result;
}

static gboolean
own_text (KhadimRpaClipboard      *self,
          KhadimRpaClipboardKind   kind,
          const char              *text,
          GError                 **error)
{
  g_autoptr(GBytes) bytes = NULL;
  gsize size = strlen (text);
  Job job = { .kind = kind };

  if (size > KHADIM_RPA_CLIPBOARD_MAX_BYTES || !g_utf8_validate_len (text, size, NULL))
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "The text is not UTF-8 of at most %d bytes", KHADIM_RPA_CLIPBOARD_MAX_BYTES);
      return FALSE;
    }
  bytes = g_bytes_new (text, size);
  job.offer = _khadim_rpa_offer_new ();
  _khadim_rpa_offer_add (job.offer, None, bytes);
  if (!khadim_rpa_display_run_sync (self->display, name_targets_in_display, &job, error))
    {
      _khadim_rpa_offer_free (job.offer);
      return FALSE;
    }

  return own (self, kind, job.offer, error);
}

/**
 * khadim_rpa_clipboard_set_text:
 * @self: a clipboard
 * @kind: which one
 * @text: UTF-8
 * @error: where to put an error
 *
 * Offers a text on a clipboard until another program takes it or the last
 * reference to @self is dropped. Any thread but that of the display. Source:
 * ICCCM 2.1, 2.2.
 *
 * Errors: #KHADIM_RPA_ERROR with `INVALID` (not UTF-8, or too large), `BUSY` or
 * `LOST`.
 *
 * Returns: whether it is offered
 */
gboolean
khadim_rpa_clipboard_set_text (KhadimRpaClipboard      *self,
                               KhadimRpaClipboardKind   kind,
                               const char              *text,
                               GError                 **error)
{
  gboolean good;

  g_return_val_if_fail (KHADIM_RPA_IS_CLIPBOARD (self), FALSE);
  g_return_val_if_fail (text != NULL, FALSE);

  if (!begin (self, error))
    return FALSE;
  good = own_text (self, kind, text, error);
  g_mutex_unlock (&self->action);

  return good;
}

/* Pasting ------------------------------------------------------------------ */

/* What the clipboard holds, in all formats that are plain bytes; NULL when it is
 * empty. What its owner does not give in time is left out. */
static KhadimRpaOffer *
save (KhadimRpaClipboard *self,
      GCancellable       *cancellable)
{
  g_autoptr(KhadimRpaOffer) offer = _khadim_rpa_offer_new ();
  Job job = { .target = "TARGETS" };
  Incoming targets = { 0 };
  gsize left = KHADIM_RPA_CLIPBOARD_MAX_BYTES;
  guint n = 0;

  if (convert (self, &job, &targets, SAVE_TIMEOUT_MS, cancellable, NULL) && targets.format == 32)
    n = MIN (targets.data->len / sizeof (long), MAX_FORMATS);
  for (guint i = 0; i < n; i++)
    {
      Incoming incoming = { 0 };
      Job one = { .atom = (Atom) ((const long *) (void *) targets.data->data)[i] };

      if (convert (self, &one, &incoming, SAVE_TIMEOUT_MS, cancellable, NULL)
          && incoming.format == 8 && incoming.data->len <= left)
        {
          g_autoptr(GBytes) bytes = g_byte_array_free_to_bytes (g_steal_pointer (&incoming.data));

          left -= g_bytes_get_size (bytes);
          _khadim_rpa_offer_add (offer, one.atom, bytes);
        }
      g_clear_pointer (&incoming.data, g_byte_array_unref);
    }
  g_clear_pointer (&targets.data, g_byte_array_unref);

  return offer->targets->len > 0 ? g_steal_pointer (&offer) : NULL;
}

static void
look_for_fed_in_display (KhadimRpaDisplay *display,
                         gpointer          user_data)
{
  Job *job = user_data;

  job->result = _khadim_rpa_serving_has_fed (job->clipboard->serving, job->window);
}

static gboolean
press_paste (KhadimRpaClipboard  *self,
             KhadimRpaInput      *input,
             guint32              window,
             guint                timeout_ms,
             GCancellable        *cancellable,
             GError             **error)
{
  Job job = { .clipboard = self, .window = window };

  /* GTK 4 asks what is offered when the owner changes, and pastes nothing before
   * it knows: it reads of the change, then gets the answer, then handles it. */
  for (guint i = 0; i < PASTE_PINGS; i++)
    if (!khadim_rpa_input_settle (input, window, timeout_ms, cancellable, error))
      return FALSE;
  if (!khadim_rpa_input_key (input, "ctrl+v", window, 1, 0, cancellable, error))
    return FALSE;
  if (!wait_until (self, look_for_fed_in_display, &job, timeout_ms, cancellable, error))
    {
      g_prefix_error (error, "The program did not take the text from the clipboard: ");
      return FALSE;
    }

  return khadim_rpa_input_settle (input, window, timeout_ms, cancellable, error);
}

/* Leaves the clipboard as it was. Takes the offer over. */
static gboolean
put_back (KhadimRpaClipboard  *self,
          KhadimRpaOffer      *saved,
          GError             **error)
{
  Job job = { .clipboard = self };

  if (saved != NULL)
    return own (self, KHADIM_RPA_CLIPBOARD_KIND_CLIPBOARD, saved, error);

  return khadim_rpa_display_run_sync (self->display, withdraw_in_display, &job, error);
}

/**
 * khadim_rpa_clipboard_paste:
 * @self: a clipboard
 * @input: the input of the same display
 * @text: UTF-8
 * @window: the X id of the window that is to get it
 * @restore: whether the clipboard is to hold afterwards what it held before
 * @timeout_ms: how long the program may take
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Puts a text into a window through the clipboard and Ctrl+V, and waits until
 * the program has taken it. Blocks; any thread but that of the display.
 *
 * Errors: #KHADIM_RPA_ERROR with `INVALID`, `FOCUS_LOST`, `TIMEOUT` (the program
 * did not take it), `HUNG`, `BUSY`, `CANCELLED` or `LOST`.
 *
 * Returns: whether the program has taken it
 */
gboolean
khadim_rpa_clipboard_paste (KhadimRpaClipboard  *self,
                            KhadimRpaInput      *input,
                            const char          *text,
                            guint32              window,
                            gboolean             restore,
                            guint                timeout_ms,
                            GCancellable        *cancellable,
                            GError             **error)
{
  KhadimRpaOffer *saved;
  gboolean good;

  g_return_val_if_fail (KHADIM_RPA_IS_CLIPBOARD (self), FALSE);
  g_return_val_if_fail (KHADIM_RPA_IS_INPUT (input), FALSE);
  g_return_val_if_fail (text != NULL, FALSE);

  if (!begin (self, error))
    return FALSE;
  saved = restore ? save (self, cancellable) : NULL;
  good = own_text (self, KHADIM_RPA_CLIPBOARD_KIND_CLIPBOARD, text, error)
         && press_paste (self, input, window, timeout_ms, cancellable, error);
  if (restore)
    good = put_back (self, g_steal_pointer (&saved), good ? error : NULL) && good;
  g_mutex_unlock (&self->action);

  return good;
}

/* Object ------------------------------------------------------------------- */

static void
start_in_display (KhadimRpaDisplay *display,
                  gpointer          user_data)
{
  KhadimRpaClipboard *self = user_data;
  Display *x = _khadim_rpa_display_get_x (display);

  self->window = XCreateWindow (x, DefaultRootWindow (x), -1, -1, 1, 1, 0, 0, InputOnly,
                                CopyFromParent, 0, NULL);
  _khadim_rpa_display_select (display, self->window, PropertyChangeMask);
  self->serving = _khadim_rpa_serving_new (display, self->window);
  self->filter = _khadim_rpa_display_add_filter (display, on_event_cb, self);
}

static void
stop_in_display (KhadimRpaDisplay *display,
                 gpointer          user_data)
{
  KhadimRpaClipboard *self = user_data;

  if (self->filter == 0)
    return;
  _khadim_rpa_display_remove_filter (display, self->filter);
  XDestroyWindow (_khadim_rpa_display_get_x (display), self->window);
}

static void
khadim_rpa_clipboard_finalize (GObject *object)
{
  KhadimRpaClipboard *self = KHADIM_RPA_CLIPBOARD (object);

  if (self->display != NULL)
    khadim_rpa_display_run_sync (self->display, stop_in_display, self, NULL);
  g_clear_pointer (&self->serving, _khadim_rpa_serving_free);
  g_clear_object (&self->display);
  _khadim_rpa_waiter_clear (&self->waiter);
  g_mutex_clear (&self->action);

  G_OBJECT_CLASS (khadim_rpa_clipboard_parent_class)->finalize (object);
}

static void
khadim_rpa_clipboard_class_init (KhadimRpaClipboardClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_rpa_clipboard_finalize;
}

static void
khadim_rpa_clipboard_init (KhadimRpaClipboard *self)
{
  _khadim_rpa_waiter_init (&self->waiter);
  g_mutex_init (&self->action);
}

/**
 * khadim_rpa_clipboard_new:
 * @display: the display
 * @error: where to put an error
 *
 * Any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `LOST`.
 *
 * Returns: (transfer full): the clipboards of a display; %NULL on error
 */
KhadimRpaClipboard *
khadim_rpa_clipboard_new (KhadimRpaDisplay  *display,
                          GError           **error)
{
  g_autoptr(KhadimRpaClipboard) self = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_DISPLAY (display), NULL);

  self = g_object_new (KHADIM_RPA_TYPE_CLIPBOARD, NULL);
  self->display = g_object_ref (display);
  if (!khadim_rpa_display_run_sync (display, start_in_display, self, error))
    return NULL;

  return g_steal_pointer (&self);
}
