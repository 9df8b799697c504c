/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-selection"

#include "config.h"

#include "rpa/input/khadim-rpa-selection-private.h"

#include <string.h>

#include <X11/Xatom.h>

#include "rpa/screen/khadim-rpa-display-private.h"

/* The owner's side of selections (ICCCM 2.2 to 2.7): requests are answered by a
 * property of the requestor, in pieces when it is large (INCR). */

#define CHUNK_BYTES (64 * 1024)
#define N_SELECTIONS 2
#define MAX_FEEDS 64

/* Identifiers of one client share all bits but these (X.Org gives each client
 * a range of 2^21). */
#define CLIENT_ID_MASK (~0x1fffffUL)

typedef struct {
  Atom selection;
  Time time;
  KhadimRpaOffer *offer; /* owned */
} Owned;

/* A large answer on its way. */
typedef struct {
  Window requestor;
  Atom property;
  Atom type;
  GBytes *bytes; /* owned */
  gsize offset;
} Feed;

struct _KhadimRpaServing
{
  KhadimRpaDisplay *display; /* not owned */
  Window window;
  Owned owned[N_SELECTIONS];
  GArray *feeds;   /* of Feed */
  Window last_fed; /* has got the bytes of a target */
};

KhadimRpaOffer *
_khadim_rpa_offer_new (void)
{
  KhadimRpaOffer *self = g_new0 (KhadimRpaOffer, 1);

  self->targets = g_array_new (FALSE, FALSE, sizeof (Atom));
  self->bytes = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);

  return self;
}

void
_khadim_rpa_offer_add (KhadimRpaOffer *self,
                       Atom            target,
                       GBytes         *bytes)
{
  g_array_append_val (self->targets, target);
  g_ptr_array_add (self->bytes, g_bytes_ref (bytes));
}

GBytes *
_khadim_rpa_offer_find (KhadimRpaOffer *self,
                        Atom            target)
{
  for (guint i = 0; i < self->targets->len; i++)
    if (g_array_index (self->targets, Atom, i) == target)
      return g_ptr_array_index (self->bytes, i);

  return NULL;
}

void
_khadim_rpa_offer_free (KhadimRpaOffer *self)
{
  g_array_unref (self->targets);
  g_ptr_array_unref (self->bytes);
  g_free (self);
}

static void
feed_clear (gpointer data)
{
  g_bytes_unref (((Feed *) data)->bytes);
}

KhadimRpaServing *
_khadim_rpa_serving_new (KhadimRpaDisplay *display,
                         Window            window)
{
  KhadimRpaServing *self = g_new0 (KhadimRpaServing, 1);

  self->display = display;
  self->window = window;
  self->feeds = g_array_new (FALSE, FALSE, sizeof (Feed));
  g_array_set_clear_func (self->feeds, feed_clear);

  return self;
}

void
_khadim_rpa_serving_free (KhadimRpaServing *self)
{
  for (guint i = 0; i < N_SELECTIONS; i++)
    g_clear_pointer (&self->owned[i].offer, _khadim_rpa_offer_free);
  g_array_unref (self->feeds);
  g_free (self);
}

/* Owning ------------------------------------------------------------------- */

static Bool
is_time_stamp (Display  *x,
               XEvent   *event,
               XPointer  argument)
{
  const KhadimRpaServing *self = (const KhadimRpaServing *) (void *) argument;

  return event->type == PropertyNotify && event->xproperty.window == self->window
         && event->xproperty.atom == XInternAtom (x, "_KHADIM_TIME", False);
}

/* The time of the server, which the property of a window tells when it changes
 * (ICCCM 2.1). */
static Time
get_time (KhadimRpaServing *self,
          Display          *x)
{
  XEvent event;

  XChangeProperty (x, self->window, XInternAtom (x, "_KHADIM_TIME", False), XA_STRING, 8,
                   PropModeAppend, NULL, 0);
  XIfEvent (x, &event, is_time_stamp, (XPointer) self);

  return event.xproperty.time;
}

static Owned *
find_owned (KhadimRpaServing *self,
            Atom              selection)
{
  for (guint i = 0; i < N_SELECTIONS; i++)
    if (self->owned[i].offer != NULL && self->owned[i].selection == selection)
      return &self->owned[i];

  return NULL;
}

/* Takes the offer and the selection over. */
gboolean
_khadim_rpa_serving_offer (KhadimRpaServing *self,
                           Atom              selection,
                           KhadimRpaOffer   *offer)
{
  Display *x = _khadim_rpa_display_get_x (self->display);
  Owned *owned = find_owned (self, selection);
  Time time = get_time (self, x);

  for (guint i = 0; owned == NULL && i < N_SELECTIONS; i++)
    if (self->owned[i].offer == NULL)
      owned = &self->owned[i];
  g_assert (owned != NULL);
  g_clear_pointer (&owned->offer, _khadim_rpa_offer_free);
  *owned = (Owned) { selection, time, offer };
  self->last_fed = None;
  XSetSelectionOwner (x, selection, self->window, time);
  if (XGetSelectionOwner (x, selection) == self->window)
    return TRUE;
  g_clear_pointer (&owned->offer, _khadim_rpa_offer_free);

  return FALSE;
}

void
_khadim_rpa_serving_withdraw (KhadimRpaServing *self,
                              Atom              selection)
{
  Display *x = _khadim_rpa_display_get_x (self->display);
  Owned *owned = find_owned (self, selection);

  if (owned == NULL)
    return;
  XSetSelectionOwner (x, selection, None, owned->time);
  g_clear_pointer (&owned->offer, _khadim_rpa_offer_free);
}

/* Answering ---------------------------------------------------------------- */

static void
answer_targets (KhadimRpaServing        *self,
                XSelectionRequestEvent  *request,
                Owned                   *owned,
                Atom                     property)
{
  g_autoptr(GArray) atoms = g_array_copy (owned->offer->targets);
  Atom extra[] = { request->target, XInternAtom (request->display, "TIMESTAMP", False) };

  g_array_append_vals (atoms, extra, G_N_ELEMENTS (extra));
  XChangeProperty (request->display, request->requestor, property, XA_ATOM, 32, PropModeReplace,
                   (unsigned char *) atoms->data, (int) atoms->len);
}

static gboolean
answer_bytes (KhadimRpaServing        *self,
              XSelectionRequestEvent  *request,
              GBytes                  *bytes,
              Atom                     property)
{
  Display *x = request->display;
  gsize size = g_bytes_get_size (bytes);
  long announced = (long) size;
  Feed feed = { request->requestor, property, request->target, NULL, 0 };

  if (size <= CHUNK_BYTES)
    {
      XChangeProperty (x, request->requestor, property, request->target, 8, PropModeReplace,
                       g_bytes_get_data (bytes, NULL), (int) size);
      self->last_fed = request->requestor;
      return TRUE;
    }
  if (self->feeds->len >= MAX_FEEDS)
    return FALSE;
  feed.bytes = g_bytes_ref (bytes);
  g_array_append_val (self->feeds, feed);
  _khadim_rpa_display_select (self->display, request->requestor,
                              PropertyChangeMask | StructureNotifyMask);
  XChangeProperty (x, request->requestor, property, XInternAtom (x, "INCR", False), 32,
                   PropModeReplace, (unsigned char *) &announced, 1);

  return TRUE;
}

static gboolean
answer (KhadimRpaServing        *self,
        XSelectionRequestEvent  *request,
        Atom                     property)
{
  Display *x = request->display;
  Owned *owned = find_owned (self, request->selection);
  GBytes *bytes;
  long time;

  if (owned == NULL || (request->time != CurrentTime && request->time < owned->time))
    return FALSE;
  if (request->target == XInternAtom (x, "TARGETS", False))
    {
      answer_targets (self, request, owned, property);
      return TRUE;
    }
  if (request->target == XInternAtom (x, "TIMESTAMP", False))
    {
      time = (long) owned->time;
      XChangeProperty (x, request->requestor, property, XA_INTEGER, 32, PropModeReplace,
                       (unsigned char *) &time, 1);
      return TRUE;
    }
  bytes = _khadim_rpa_offer_find (owned->offer, request->target);

  return bytes != NULL && answer_bytes (self, request, bytes, property);
}

static void
handle_request (KhadimRpaServing       *self,
                XSelectionRequestEvent *request)
{
  Atom property = request->property != None ? request->property : request->target;
  XEvent reply = { .xselection = { .type = SelectionNotify,
                                   .display = request->display,
                                   .requestor = request->requestor,
                                   .selection = request->selection,
                                   .target = request->target,
                                   .time = request->time } };

  _khadim_rpa_display_push_trap (self->display);
  if (answer (self, request, property))
    reply.xselection.property = property;
  XSendEvent (request->display, request->requestor, False, NoEventMask, &reply);
  _khadim_rpa_display_pop_trap (self->display);
}

/* The requestor has taken a piece: here is the next one, the last is empty. */
static void
feed_next (KhadimRpaServing *self,
           Display          *x,
           guint             index)
{
  Feed *feed = &g_array_index (self->feeds, Feed, index);
  gsize size = 0;
  const guint8 *data = g_bytes_get_data (feed->bytes, &size);
  gsize n = MIN (size - feed->offset, CHUNK_BYTES);

  _khadim_rpa_display_push_trap (self->display);
  XChangeProperty (x, feed->requestor, feed->property, feed->type, 8, PropModeReplace,
                   data + feed->offset, (int) n);
  feed->offset += n;
  if (_khadim_rpa_display_pop_trap (self->display) == 0 && n > 0)
    return;
  self->last_fed = feed->requestor;
  g_array_remove_index (self->feeds, index);
}

static gboolean
handle_property (KhadimRpaServing *self,
                 XPropertyEvent   *event)
{
  if (event->state != PropertyDelete)
    return FALSE;
  for (guint i = 0; i < self->feeds->len; i++)
    {
      const Feed *feed = &g_array_index (self->feeds, Feed, i);

      if (feed->requestor == event->window && feed->property == event->atom)
        {
          feed_next (self, event->display, i);
          return TRUE;
        }
    }

  return FALSE;
}

static void
drop_feeds (KhadimRpaServing *self,
            Window            window)
{
  for (guint i = self->feeds->len; i > 0; i--)
    if (g_array_index (self->feeds, Feed, i - 1).requestor == window)
      g_array_remove_index (self->feeds, i - 1);
}

/* Returns whether something was served. */
gboolean
_khadim_rpa_serving_handle (KhadimRpaServing *self,
                            XEvent           *event)
{
  Owned *owned;

  if (event->type == SelectionRequest && event->xselectionrequest.owner == self->window)
    {
      handle_request (self, &event->xselectionrequest);
      return TRUE;
    }
  if (event->type == SelectionClear && event->xselectionclear.window == self->window)
    {
      owned = find_owned (self, event->xselectionclear.selection);
      if (owned != NULL && event->xselectionclear.time >= owned->time)
        g_clear_pointer (&owned->offer, _khadim_rpa_offer_free);
      return FALSE;
    }
  if (event->type == DestroyNotify)
    drop_feeds (self, event->xdestroywindow.window);

  return event->type == PropertyNotify && handle_property (self, &event->xproperty);
}

/* Whether the client of a window has got what is offered now. */
gboolean
_khadim_rpa_serving_has_fed (KhadimRpaServing *self,
                             Window            window)
{
  return self->last_fed != None
         && (self->last_fed & CLIENT_ID_MASK) == (window & CLIENT_ID_MASK);
}
