/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-capture"

#include "config.h"

#include "rpa/screen/khadim-rpa-capture.h"

#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#include <X11/Xutil.h>
#include <X11/extensions/XShm.h>
#include <X11/extensions/Xdamage.h>
#include <X11/extensions/Xfixes.h>

#include "rpa/screen/khadim-rpa-display-private.h"
#include "rpa/screen/khadim-rpa-error.h"
#include "rpa/screen/khadim-rpa-waiter-private.h"

/* Pictures of the root window (MIT-SHM, else XGetImage) and what changed on it
 * (DAMAGE). Pictures carry the serial of the damage seen before they were
 * taken, so that "since then" has an exact meaning: damage that a picture
 * shows may count again, but damage that it does not show always counts. */

#define PIXEL_BYTES 4
#define MAX_HISTORY 256 /* of damaged rectangles; older ones become one */

typedef struct {
  guint64 serial;
  KhadimRpaRect rect;
} Damaged;

struct _KhadimRpaCapture
{
  GObject parent_instance;

  /* Owned */
  KhadimRpaDisplay *display;

  KhadimRpaWaiter waiter; /* its lock also guards history and serial */
  GArray *history;        /* of Damaged, the newest last */
  guint64 serial;

  gint has_shm; /* atomic */
  gboolean has_damage;

  /* Only on the thread of the display */
  XShmSegmentInfo segment;
  gsize segment_bytes;
  gboolean attached;
  Damage damage;
  int damage_event;
  gboolean has_fixes;
  guint filter;
};

G_DEFINE_FINAL_TYPE (KhadimRpaCapture, khadim_rpa_capture, G_TYPE_OBJECT)

/* Damage ------------------------------------------------------------------- */

/* The oldest two become one, which may say too much but never too little. */
static void
forget_oldest (KhadimRpaCapture *self)
{
  Damaged *first = &g_array_index (self->history, Damaged, 0);
  Damaged *second = &g_array_index (self->history, Damaged, 1);

  khadim_rpa_rect_unite (&second->rect, &first->rect);
  g_array_remove_index (self->history, 0);
}

static void
add_damage (KhadimRpaCapture *self,
            const XRectangle *area)
{
  Damaged damaged;

  g_mutex_lock (&self->waiter.lock);
  if (self->history->len >= MAX_HISTORY)
    forget_oldest (self);
  damaged.serial = ++self->serial;
  damaged.rect = (KhadimRpaRect) { area->x, area->y, area->width, area->height };
  g_array_append_val (self->history, damaged);
  g_mutex_unlock (&self->waiter.lock);
  _khadim_rpa_waiter_bump (&self->waiter);
}

static guint64
get_serial (KhadimRpaCapture *self)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->waiter.lock);

  return self->serial;
}

static void
on_event_cb (KhadimRpaDisplay *display,
             XEvent           *event,
             gpointer          user_data)
{
  KhadimRpaCapture *self = user_data;

  if (event == NULL)
    {
      _khadim_rpa_waiter_bump (&self->waiter);
      return;
    }
  if (event->type != self->damage_event + XDamageNotify
      || ((XDamageNotifyEvent *) event)->damage != self->damage)
    return;

  add_damage (self, &((XDamageNotifyEvent *) event)->area);
  if (!((XDamageNotifyEvent *) event)->more)
    XDamageSubtract (event->xany.display, self->damage, None, None);
}

/* Takes in what is known to the server now. */
static void
drain_damage (KhadimRpaCapture *self,
              Display          *x)
{
  XEvent event;

  if (!self->has_damage)
    return;
  XSync (x, False);
  while (XCheckTypedEvent (x, self->damage_event + XDamageNotify, &event))
    on_event_cb (self->display, &event, self);
}

/* Shared memory ------------------------------------------------------------ */

static void
drop_segment (KhadimRpaCapture *self,
              Display          *x)
{
  if (!self->attached)
    return;
  XShmDetach (x, &self->segment);
  XSync (x, False);
  shmdt (self->segment.shmaddr);
  self->attached = FALSE;
  self->segment_bytes = 0;
}

/* The segment is marked for removal as soon as the server has it: nothing is
 * left behind when either side is killed. */
static gboolean
attach_segment (KhadimRpaCapture *self,
                Display          *x,
                gsize             size_bytes)
{
  int id = shmget (IPC_PRIVATE, size_bytes, IPC_CREAT | 0600);
  void *address;
  gboolean failed;

  if (id < 0)
    return FALSE;
  address = shmat (id, NULL, 0);
  if (address == (void *) -1)
    {
      shmctl (id, IPC_RMID, NULL);
      return FALSE;
    }
  self->segment.shmid = id;
  self->segment.shmaddr = address;
  self->segment.readOnly = False;
  _khadim_rpa_display_push_trap (self->display);
  XShmAttach (x, &self->segment);
  failed = _khadim_rpa_display_pop_trap (self->display) != 0;
  shmctl (id, IPC_RMID, NULL);
  if (failed)
    {
      shmdt (address);
      return FALSE;
    }
  self->attached = TRUE;
  self->segment_bytes = size_bytes;

  return TRUE;
}

/* A server on another machine has the extension but cannot attach. */
static gboolean
require_segment (KhadimRpaCapture *self,
                 Display          *x,
                 gsize             size_bytes)
{
  if (!g_atomic_int_get (&self->has_shm))
    return FALSE;
  if (self->attached && self->segment_bytes >= size_bytes)
    return TRUE;
  drop_segment (self, x);
  if (!attach_segment (self, x, size_bytes))
    g_atomic_int_set (&self->has_shm, FALSE);

  return g_atomic_int_get (&self->has_shm);
}

/* Pictures ----------------------------------------------------------------- */

typedef struct {
  KhadimRpaCapture *self;
  KhadimRpaRect region; /* width 0: everything */
  KhadimRpaCaptureFlags flags;
  guint8 *pixels;
  guint64 serial;
  int width;
  int height;
  GError *error;
} Take;

static gboolean
is_bgrx (const XImage *image)
{
  return image->bits_per_pixel == 32 && image->byte_order == LSBFirst
         && image->red_mask == 0xff0000 && image->green_mask == 0xff00 && image->blue_mask == 0xff;
}

static gboolean
copy_pixels (Take         *take,
             const XImage *image)
{
  gsize row_bytes = (gsize) take->region.width * PIXEL_BYTES;

  if (!is_bgrx (image))
    {
      g_set_error (&take->error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
                   "The screen has %d bits a pixel in an unknown order; 24 or 32 bits in the order "
                   "blue, green, red are needed", image->bits_per_pixel);
      return FALSE;
    }
  take->pixels = g_malloc (row_bytes * take->region.height);
  if ((gsize) image->bytes_per_line == row_bytes)
    memcpy (take->pixels, image->data, row_bytes * take->region.height);
  else
    for (int y = 0; y < take->region.height; y++)
      memcpy (take->pixels + y * row_bytes, image->data + (gsize) y * image->bytes_per_line,
              row_bytes);

  return TRUE;
}

static gboolean
fail_read (Take *take)
{
  g_set_error_literal (&take->error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FAILED,
                       "The X server did not give the picture");

  return FALSE;
}

static gboolean
read_shm (Take    *take,
          Display *x)
{
  KhadimRpaCapture *self = take->self;
  int screen = DefaultScreen (x);
  XImage *image =
    XShmCreateImage (x, DefaultVisual (x, screen), DefaultDepth (x, screen), ZPixmap,
                     self->segment.shmaddr, &self->segment, take->region.width,
                     take->region.height);
  gboolean failed;

  if (image == NULL)
    return fail_read (take);
  _khadim_rpa_display_push_trap (self->display);
  XShmGetImage (x, DefaultRootWindow (x), image, take->region.x, take->region.y, AllPlanes);
  failed = _khadim_rpa_display_pop_trap (self->display) != 0;
  if (failed)
    fail_read (take);
  else
    copy_pixels (take, image);
  image->data = NULL;
  XDestroyImage (image);

  return take->error == NULL;
}

static gboolean
read_plain (Take    *take,
            Display *x)
{
  XImage *image;

  _khadim_rpa_display_push_trap (take->self->display);
  image = XGetImage (x, DefaultRootWindow (x), take->region.x, take->region.y, take->region.width,
                     take->region.height, AllPlanes, ZPixmap);
  _khadim_rpa_display_pop_trap (take->self->display);
  if (image == NULL)
    return fail_read (take);
  copy_pixels (take, image);
  XDestroyImage (image);

  return take->error == NULL;
}

static guint8
blend (guint8 below,
       guint8 above,
       guint8 alpha)
{
  return (guint8) MIN (255, above + (below * (255 - alpha) + 127) / 255);
}

/* Cursor pixels are premultiplied, one in each unsigned long. */
static void
draw_cursor_pixel (guint8        *pixel,
                   unsigned long  argb)
{
  guint8 alpha = (guint8) (argb >> 24);

  pixel[0] = blend (pixel[0], (guint8) argb, alpha);
  pixel[1] = blend (pixel[1], (guint8) (argb >> 8), alpha);
  pixel[2] = blend (pixel[2], (guint8) (argb >> 16), alpha);
}

static void
draw_cursor (Take    *take,
             Display *x)
{
  XFixesCursorImage *cursor = XFixesGetCursorImage (x);
  KhadimRpaRect at;
  KhadimRpaRect common;

  if (cursor == NULL)
    return;
  at = (KhadimRpaRect) { cursor->x - cursor->xhot, cursor->y - cursor->yhot, cursor->width,
                         cursor->height };
  if (khadim_rpa_rect_intersect (&at, &take->region, &common))
    for (int y = common.y; y < common.y + common.height; y++)
      for (int px = common.x; px < common.x + common.width; px++)
        {
          gsize to = (gsize) (y - take->region.y) * take->region.width + (px - take->region.x);

          draw_cursor_pixel (take->pixels + to * PIXEL_BYTES,
                             cursor->pixels[(y - at.y) * at.width + (px - at.x)]);
        }
  XFree (cursor);
}

static gboolean
get_root_size (Display *x,
               int     *out_width,
               int     *out_height)
{
  XWindowAttributes attributes;

  if (!XGetWindowAttributes (x, DefaultRootWindow (x), &attributes))
    return FALSE;
  *out_width = attributes.width;
  *out_height = attributes.height;

  return TRUE;
}

/* Asked each time, as a screen may change its size at any time. */
static gboolean
clip_region (Take    *take,
             Display *x)
{
  KhadimRpaRect screen = { 0 };
  KhadimRpaRect wanted = take->region;

  if (!get_root_size (x, &screen.width, &screen.height))
    return fail_read (take);
  if (wanted.width == 0)
    wanted = screen;
  if (khadim_rpa_rect_intersect (&wanted, &screen, &take->region))
    return TRUE;
  g_set_error (&take->error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
               "region: %d×%d px at %d, %d is not on the screen of %d×%d px", wanted.width,
               wanted.height, wanted.x, wanted.y, screen.width, screen.height);

  return FALSE;
}

static void
take_in_desktop (KhadimRpaDisplay *display,
                 gpointer          user_data)
{
  Take *take = user_data;
  KhadimRpaCapture *self = take->self;
  Display *x = _khadim_rpa_display_get_x (display);
  gsize size_bytes;

  if (!clip_region (take, x))
    return;
  size_bytes = (gsize) take->region.width * take->region.height * PIXEL_BYTES;
  drain_damage (self, x);
  take->serial = get_serial (self);
  if ((take->flags & KHADIM_RPA_CAPTURE_NO_SHM) == 0 && require_segment (self, x, size_bytes))
    read_shm (take, x);
  else
    read_plain (take, x);
  if (take->error == NULL && (take->flags & KHADIM_RPA_CAPTURE_CURSOR) && self->has_fixes)
    draw_cursor (take, x);
}

/* Life --------------------------------------------------------------------- */

static void
start_in_desktop (KhadimRpaDisplay *display,
                  gpointer          user_data)
{
  KhadimRpaCapture *self = user_data;
  Display *x = _khadim_rpa_display_get_x (display);
  int error_base;
  int event_base;
  int major;
  int minor;

  g_atomic_int_set (&self->has_shm, XShmQueryExtension (x));
  self->has_fixes = XFixesQueryExtension (x, &event_base, &error_base)
                    && XFixesQueryVersion (x, &major, &minor);
  self->has_damage = XDamageQueryExtension (x, &self->damage_event, &error_base)
                     && XDamageQueryVersion (x, &major, &minor);
  if (!self->has_damage)
    return;
  self->damage = XDamageCreate (x, DefaultRootWindow (x), XDamageReportDeltaRectangles);
  XDamageSubtract (x, self->damage, None, None);
  self->filter = _khadim_rpa_display_add_filter (display, on_event_cb, self);
}

static void
stop_in_desktop (KhadimRpaDisplay *display,
                 gpointer          user_data)
{
  KhadimRpaCapture *self = user_data;
  Display *x = _khadim_rpa_display_get_x (display);

  if (self->filter != 0)
    _khadim_rpa_display_remove_filter (display, self->filter);
  if (self->damage != None)
    XDamageDestroy (x, self->damage);
  drop_segment (self, x);
}

static void
khadim_rpa_capture_finalize (GObject *object)
{
  KhadimRpaCapture *self = KHADIM_RPA_CAPTURE (object);

  if (self->display != NULL
      && !khadim_rpa_display_run_sync (self->display, stop_in_desktop, self, NULL)
      && self->attached)
    shmdt (self->segment.shmaddr);
  g_clear_object (&self->display);
  g_array_unref (self->history);
  _khadim_rpa_waiter_clear (&self->waiter);

  G_OBJECT_CLASS (khadim_rpa_capture_parent_class)->finalize (object);
}

static void
khadim_rpa_capture_class_init (KhadimRpaCaptureClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_rpa_capture_finalize;
}

static void
khadim_rpa_capture_init (KhadimRpaCapture *self)
{
  _khadim_rpa_waiter_init (&self->waiter);
  self->history = g_array_new (FALSE, FALSE, sizeof (Damaged));
}

/**
 * khadim_rpa_capture_new:
 * @display: the display to take pictures of
 * @error: where to put an error
 *
 * Prepares taking pictures and starts to follow what changes. Any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `LOST`.
 *
 * Returns: (transfer full): a capture; %NULL on error
 */
KhadimRpaCapture *
khadim_rpa_capture_new (KhadimRpaDisplay  *display,
                        GError           **error)
{
  g_autoptr(KhadimRpaCapture) self = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_DISPLAY (display), NULL);

  self = g_object_new (KHADIM_RPA_TYPE_CAPTURE, NULL);
  self->display = g_object_ref (display);
  if (!khadim_rpa_display_run_sync (display, start_in_desktop, self, error))
    return NULL;

  return g_steal_pointer (&self);
}

/**
 * khadim_rpa_capture_take:
 * @self: a capture
 * @region: (nullable): what to take, in px on the screen; what is outside is
 *   left out; %NULL for everything
 * @flags: how
 * @error: where to put an error
 *
 * Takes a picture of the screen as it is now. The picture knows where it is
 * from and the serial to ask about changes with. Blocks for some milliseconds;
 * any thread. Source: the MIT-SHM and XFIXES protocols.
 *
 * Errors: #KHADIM_RPA_ERROR with `INVALID` (@region is not on the screen),
 * `UNSUPPORTED` (the pixel format), `LOST` or `FAILED`.
 *
 * Returns: (transfer full): the picture; %NULL on error
 */
KhadimRpaPicture *
khadim_rpa_capture_take (KhadimRpaCapture       *self,
                         const KhadimRpaRect    *region,
                         KhadimRpaCaptureFlags   flags,
                         GError                **error)
{
  Take take = { .self = self, .flags = flags };
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(KhadimRpaPicture) picture = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_CAPTURE (self), NULL);

  if (region != NULL && (region->width <= 0 || region->height <= 0))
    {
      g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID, "region: is empty");
      return NULL;
    }
  if (region != NULL)
    take.region = *region;
  if (!khadim_rpa_display_run_sync (self->display, take_in_desktop, &take, error))
    {
      g_clear_error (&take.error);
      g_free (take.pixels);
      return NULL;
    }
  if (take.error != NULL)
    {
      g_propagate_error (error, take.error);
      return NULL;
    }

  bytes = g_bytes_new_take (take.pixels,
                            (gsize) take.region.width * take.region.height * PIXEL_BYTES);
  picture = khadim_rpa_picture_new_from_bytes (bytes, take.region.width, take.region.height,
                                               (gsize) take.region.width * PIXEL_BYTES, error);
  if (picture == NULL)
    return NULL;

  return khadim_rpa_picture_place (picture, take.region.x, take.region.y, 1.0, take.serial);
}

static void
size_in_desktop (KhadimRpaDisplay *display,
                 gpointer          user_data)
{
  Take *take = user_data;

  get_root_size (_khadim_rpa_display_get_x (display), &take->width, &take->height);
}

/**
 * khadim_rpa_capture_get_size:
 * @self: a capture
 * @out_width: (out): width of the screen in px
 * @out_height: (out): height of the screen in px
 * @error: where to put an error
 *
 * Any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `LOST`.
 *
 * Returns: whether the size is known
 */
gboolean
khadim_rpa_capture_get_size (KhadimRpaCapture  *self,
                             int               *out_width,
                             int               *out_height,
                             GError           **error)
{
  Take take = { .self = self };

  g_return_val_if_fail (KHADIM_RPA_IS_CAPTURE (self), FALSE);
  g_return_val_if_fail (out_width != NULL && out_height != NULL, FALSE);

  if (!khadim_rpa_display_run_sync (self->display, size_in_desktop, &take, error))
    return FALSE;
  *out_width = take.width;
  *out_height = take.height;

  return TRUE;
}

/**
 * khadim_rpa_capture_uses_shm:
 * @self: a capture
 *
 * Whether pictures come through shared memory, as far as is known before the
 * first one. Any thread.
 *
 * Returns: whether they do
 */
gboolean
khadim_rpa_capture_uses_shm (KhadimRpaCapture *self)
{
  g_return_val_if_fail (KHADIM_RPA_IS_CAPTURE (self), FALSE);

  return g_atomic_int_get (&self->has_shm);
}

/**
 * khadim_rpa_capture_has_damage:
 * @self: a capture
 *
 * Whether the server tells what changes. Any thread.
 *
 * Returns: whether it does
 */
gboolean
khadim_rpa_capture_has_damage (KhadimRpaCapture *self)
{
  g_return_val_if_fail (KHADIM_RPA_IS_CAPTURE (self), FALSE);

  return self->has_damage;
}

/* Changes ------------------------------------------------------------------ */

static gboolean
changed_since_locked (KhadimRpaCapture    *self,
                      guint64              serial,
                      const KhadimRpaRect *region,
                      KhadimRpaRect       *out_changed)
{
  gboolean changed = FALSE;

  for (guint i = self->history->len; i > 0; i--)
    {
      const Damaged *damaged = &g_array_index (self->history, Damaged, i - 1);
      KhadimRpaRect part = damaged->rect;

      if (damaged->serial <= serial)
        break;
      if (region != NULL && !khadim_rpa_rect_intersect (&damaged->rect, region, &part))
        continue;
      if (changed && out_changed != NULL)
        khadim_rpa_rect_unite (out_changed, &part);
      else if (out_changed != NULL)
        *out_changed = part;
      changed = TRUE;
      if (out_changed == NULL)
        break;
    }

  return changed;
}

/**
 * khadim_rpa_capture_changed_since:
 * @self: a capture
 * @serial: the serial of a picture
 * @region: (nullable): where to look; %NULL for everywhere
 * @out_changed: (out) (optional): the smallest rectangle around what changed
 *
 * Whether something was drawn since a picture was taken, even if it looks the
 * same. What was drawn just now may not be known yet. Where the server does
 * not tell (see khadim_rpa_capture_has_damage()), nothing ever changes. Any
 * thread. Source: the DAMAGE protocol.
 *
 * Returns: whether something was drawn
 */
gboolean
khadim_rpa_capture_changed_since (KhadimRpaCapture    *self,
                                  guint64              serial,
                                  const KhadimRpaRect *region,
                                  KhadimRpaRect       *out_changed)
{
  g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = NULL;

  g_return_val_if_fail (KHADIM_RPA_IS_CAPTURE (self), FALSE);

  locker = g_mutex_locker_new (&self->waiter.lock);

  return changed_since_locked (self, serial, region, out_changed);
}

static gboolean
require_damage (KhadimRpaCapture  *self,
                GError           **error)
{
  if (khadim_rpa_display_is_lost (self->display))
    g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LOST, "The X server has gone");
  else if (!self->has_damage)
    g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_UNSUPPORTED,
                         "The X server does not tell what changes: compare pictures");
  else
    return TRUE;

  return FALSE;
}

/**
 * khadim_rpa_capture_wait_changed:
 * @self: a capture
 * @serial: the serial of a picture
 * @region: (nullable): where to look; %NULL for everywhere
 * @timeout_ms: how long to wait
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Waits until something is drawn. Blocks; any thread but that of the display.
 *
 * Errors: #KHADIM_RPA_ERROR with `TIMEOUT`, `CANCELLED`, `UNSUPPORTED` (the
 * server does not tell) or `LOST`.
 *
 * Returns: whether something was drawn since @serial
 */
gboolean
khadim_rpa_capture_wait_changed (KhadimRpaCapture     *self,
                                 guint64               serial,
                                 const KhadimRpaRect  *region,
                                 guint                 timeout_ms,
                                 GCancellable         *cancellable,
                                 GError              **error)
{
  gint64 deadline_us = g_get_monotonic_time () + timeout_ms * G_GINT64_CONSTANT (1000);

  g_return_val_if_fail (KHADIM_RPA_IS_CAPTURE (self), FALSE);

  while (require_damage (self, error))
    {
      guint64 seen = _khadim_rpa_waiter_get_serial (&self->waiter);

      if (khadim_rpa_capture_changed_since (self, serial, region, NULL))
        return TRUE;
      if (!_khadim_rpa_waiter_wait (&self->waiter, seen, deadline_us, cancellable, error))
        return FALSE;
    }

  return FALSE;
}

/**
 * khadim_rpa_capture_wait_still:
 * @self: a capture
 * @region: (nullable): where to look; %NULL for everywhere
 * @still_ms: how long nothing must be drawn
 * @timeout_ms: how long to wait for that
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Waits until nothing has been drawn for a while, counted from now. A blinking
 * text cursor keeps a region from being still: compare pictures then. Blocks;
 * any thread but that of the display.
 *
 * Errors: #KHADIM_RPA_ERROR with `TIMEOUT`, `CANCELLED`, `UNSUPPORTED` (the
 * server does not tell) or `LOST`.
 *
 * Returns: whether the region is still
 */
gboolean
khadim_rpa_capture_wait_still (KhadimRpaCapture     *self,
                               const KhadimRpaRect  *region,
                               guint                 still_ms,
                               guint                 timeout_ms,
                               GCancellable         *cancellable,
                               GError              **error)
{
  gint64 deadline_us = g_get_monotonic_time () + timeout_ms * G_GINT64_CONSTANT (1000);

  g_return_val_if_fail (KHADIM_RPA_IS_CAPTURE (self), FALSE);

  while (require_damage (self, error))
    {
      g_autoptr(GError) quiet = NULL;
      gint64 left_ms = (deadline_us - g_get_monotonic_time ()) / 1000;

      if (left_ms < still_ms)
        {
          g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT,
                       "The screen was not still for %u ms within %u ms", still_ms, timeout_ms);
          return FALSE;
        }
      if (khadim_rpa_capture_wait_changed (self, get_serial (self), region, still_ms, cancellable,
                                           &quiet))
        continue;
      if (g_error_matches (quiet, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_TIMEOUT))
        return TRUE;
      g_propagate_error (error, g_steal_pointer (&quiet));
      return FALSE;
    }

  return FALSE;
}
