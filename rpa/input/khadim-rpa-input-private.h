/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What the parts of input share. Functions that end in _in_display run on the
 * thread of the display only. */

#pragma once

#include "rpa/input/khadim-rpa-guardian-private.h"
#include "rpa/input/khadim-rpa-input.h"
#include "rpa/input/khadim-rpa-journal-private.h"
#include "rpa/input/khadim-rpa-keymap-private.h"
#include "rpa/input/khadim-rpa-spares-private.h"
#include "rpa/screen/khadim-rpa-display-private.h"
#include "rpa/screen/khadim-rpa-waiter-private.h"

G_BEGIN_DECLS

/* How long a program may take for an answer, and after a fault. */
#define KHADIM_RPA_PING_TIMEOUT_MS 10000
#define KHADIM_RPA_LAST_PING_TIMEOUT_MS 1500

/* Clicks of two calls this close in time and place would be one double click
 * to programs; toolkits take 400 to 500 ms and a few pixels. */
#define KHADIM_RPA_DOUBLE_CLICK_MS 550
#define KHADIM_RPA_DOUBLE_CLICK_PX 12

struct _KhadimRpaInput
{
  GObject parent_instance;

  /* Owned */
  KhadimRpaDisplay *display;
  GHashTable *answering;          /* windows → whether they answer pings; guarded by lock */
  KhadimRpaWaiter waiter;         /* bumped at each answer */
  KhadimRpaGuardian guardian;
  KhadimRpaJournal journal;

  GMutex lock;
  guint32 answered_token;         /* guarded by lock */

  /* Only on the thread of the display */
  guint filter;
  guint32 next_token;
  gboolean keys[KHADIM_RPA_N_KEYCODES];       /* that are held by us */
  gboolean buttons[KHADIM_RPA_N_BUTTONS];
  Window owner;                               /* lives as long as this client */
  KeyCode bound[KHADIM_RPA_MAX_SPARES];       /* spare keys with symbols of ours */
  guint n_bound;
  gint64 unread_us;               /* when keys were last typed that may still be unread, or 0 */
  Window verified;                /* a focus window that is known to be in the target */
  Window verified_target;
};

/* A job on the thread of the display; FALSE with an error ends the call. */
typedef gboolean (*KhadimRpaInputJob) (KhadimRpaInput  *self,
                                       Display         *x,
                                       gpointer         user_data,
                                       GError         **error);

gboolean _khadim_rpa_input_run            (KhadimRpaInput     *self,
                                           KhadimRpaInputJob   job,
                                           gpointer            user_data,
                                           GError            **error);

/* Injecting; the first two are refused once the stop is set. */
gboolean _khadim_rpa_inject_key           (KhadimRpaInput     *self,
                                           Display            *x,
                                           KeyCode             code,
                                           gboolean            press);
gboolean _khadim_rpa_inject_button        (KhadimRpaInput     *self,
                                           Display            *x,
                                           guint               button,
                                           gboolean            press);
gboolean _khadim_rpa_inject_motion        (KhadimRpaInput     *self,
                                           Display            *x,
                                           int                 to_x,
                                           int                 to_y);
gboolean _khadim_rpa_holds_keys           (KhadimRpaInput     *self);
void     _khadim_rpa_release_held         (KhadimRpaInput     *self,
                                           Display            *x);
gboolean _khadim_rpa_set_stopped          (GError            **error);

/* The guard, to be called with the server grabbed. */
gboolean _khadim_rpa_guard_focus          (KhadimRpaInput     *self,
                                           Display            *x,
                                           Window              target,
                                           GError            **error);
gboolean _khadim_rpa_guard_pointer        (KhadimRpaInput     *self,
                                           Display            *x,
                                           Window              target,
                                           GError            **error);
Window   _khadim_rpa_find_focus           (Display            *x);
Window   _khadim_rpa_find_top             (Display            *x,
                                           Window              window);

/* Spare keys */
guint    _khadim_rpa_spares_get_size      (const KhadimRpaKeymap *keymap);
KhadimRpaKey _khadim_rpa_spares_get_key   (const KhadimRpaKeymap *keymap,
                                           guint               index);
gboolean _khadim_rpa_spares_are_taken     (KhadimRpaInput     *self,
                                           Display            *x);
gboolean _khadim_rpa_spares_bind          (KhadimRpaInput     *self,
                                           Display            *x,
                                           const KhadimRpaKeymap *keymap,
                                           const KeySym       *symbols,
                                           guint               n);
void     _khadim_rpa_spares_restore       (KhadimRpaInput     *self,
                                           Display            *x);

/* Whether the program behind @window has taken all input so far. */
typedef enum {
  KHADIM_RPA_PING_ANSWERED,
  KHADIM_RPA_PING_SILENT, /* it does not take part */
  KHADIM_RPA_PING_LATE,   /* it does, and has not answered in time */
  KHADIM_RPA_PING_FAILED,
} KhadimRpaPing;

KhadimRpaPing _khadim_rpa_ping            (KhadimRpaInput     *self,
                                           guint32             window,
                                           guint               timeout_ms,
                                           GCancellable       *cancellable,
                                           GError            **error);
gboolean _khadim_rpa_pause                (KhadimRpaInput     *self,
                                           gint64              us,
                                           GCancellable       *cancellable,
                                           GError            **error);

G_END_DECLS
