/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* The desk that tools work at: everything that belongs to one display, made
 * when the first tool needs it. Calls of tools run one after another on its
 * own thread and may block there. */

#pragma once

#include "engine/tool/khadim-tool-call.h"
#include "engine/tool/khadim-tool-domain.h"
#include "engine/tool/khadim-tool-result.h"
#include "engine/tool/khadim-toolbox.h"
#include "rpa/find/khadim-rpa-a11y.h"
#include "rpa/find/khadim-rpa-picture.h"
#include "rpa/input/khadim-rpa-clipboard.h"
#include "rpa/input/khadim-rpa-input.h"
#include "rpa/input/khadim-rpa-stop-watch.h"
#include "rpa/screen/khadim-rpa-capture.h"
#include "rpa/screen/khadim-rpa-lease.h"
#include "rpa/screen/khadim-rpa-windows.h"

G_BEGIN_DECLS

#define KHADIM_RPA_TYPE_DESK (khadim_rpa_desk_get_type ())
G_DECLARE_FINAL_TYPE (KhadimRpaDesk, khadim_rpa_desk, KHADIM_RPA, DESK, GObject)

struct _KhadimRpaDesk
{
  GObject parent_instance;

  /* Owned; all set or none */
  KhadimRpaDisplay *display;
  KhadimRpaWindows *windows;
  KhadimRpaCapture *capture;
  KhadimRpaInput *input;

  KhadimRpaStopWatch *stop_watch;
  KhadimToolbox *toolbox;   /* not owned: it owns the domains, and they the desk */
  KhadimRpaClipboard *clipboard; /* NULL until a tool needs it */
  KhadimRpaA11y *a11y;      /* NULL when there is no accessibility bus */
  GError *a11y_error;       /* why */

  GPtrArray *apps;          /* of KhadimRpaApp, that calls have opened */
  KhadimRpaLease *lease;    /* of the run that works at the desk, or NULL; on the desk's thread */
  char *lease_session;      /* whose it is */
  GThreadPool *pool;        /* of one thread */
};

/* What a tool does; never NULL. */
typedef KhadimToolResult *(*KhadimRpaToolFunc) (KhadimRpaDesk  *desk,
                                                KhadimToolCall *call,
                                                GCancellable   *cancellable);

/* A tool and what it does. */
typedef struct
{
  KhadimToolInfo info;
  KhadimRpaToolFunc run;
} KhadimRpaTool;

KhadimRpaDesk    *_khadim_rpa_desk_new       (KhadimToolbox       *toolbox);
gboolean          _khadim_rpa_desk_open      (KhadimRpaDesk       *self,
                                              GError             **error);

gboolean          _khadim_rpa_desk_check_app (KhadimRpaDesk       *self,
                                              guint32              window,
                                              guint32              pid,
                                              GError             **error);

/* A domain of tools that work at a desk. @tools lives as long as the program. */
KhadimToolDomain *_khadim_rpa_domain_new     (KhadimRpaDesk       *desk,
                                              const char          *name,
                                              const KhadimRpaTool *tools,
                                              guint                n_tools);

/* The domains */
KhadimToolDomain *_khadim_rpa_screen_domain_new (KhadimRpaDesk    *desk);
KhadimToolDomain *_khadim_rpa_window_domain_new (KhadimRpaDesk    *desk);
KhadimToolDomain *_khadim_rpa_clipboard_domain_new (KhadimRpaDesk *desk);
KhadimToolDomain *_khadim_rpa_app_domain_new    (KhadimRpaDesk    *desk);

gboolean          _khadim_rpa_domain_check   (KhadimToolDomain     *domain,
                                              const KhadimToolInfo *info,
                                              JsonNode             *args,
                                              const char           *assets_dir,
                                              char                **out_place,
                                              GError              **error);
KhadimToolResult *_khadim_rpa_fail           (GError              *error);

G_END_DECLS
