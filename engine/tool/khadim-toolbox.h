/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "engine/tool/khadim-tool-domain.h"

G_BEGIN_DECLS

#define KHADIM_TYPE_TOOLBOX (khadim_toolbox_get_type ())
G_DECLARE_FINAL_TYPE (KhadimToolbox, khadim_toolbox, KHADIM, TOOLBOX, GObject)

/**
 * KhadimToolboxLoader:
 * @self: the toolbox
 * @domain: the name of the domain that is wanted
 * @user_data: as given
 * @error: where to put the reason why it cannot be had
 *
 * Called once, the first time that a tool of a domain that comes from
 * elsewhere is looked up. It adds the domain with
 * khadim_toolbox_add_domain().
 *
 * Returns: whether the domain is there now
 */
typedef gboolean (*KhadimToolboxLoader) (KhadimToolbox  *self,
                                         const char     *domain,
                                         gpointer        user_data,
                                         GError        **error);

/**
 * KhadimToolboxStopFunc:
 * @user_data: as given to khadim_toolbox_add_stop_func()
 *
 * Told of an emergency stop, on any thread; must not block.
 */
typedef void (*KhadimToolboxStopFunc) (gpointer user_data);

KhadimToolbox        *khadim_toolbox_new         (void);
void                  khadim_toolbox_add_domain  (KhadimToolbox         *self,
                                                  KhadimToolDomain      *domain);
void                  khadim_toolbox_set_loader  (KhadimToolbox         *self,
                                                  const char *const     *domains,
                                                  KhadimToolboxLoader    loader,
                                                  gpointer               user_data,
                                                  GDestroyNotify         destroy);
const KhadimToolInfo *khadim_toolbox_lookup      (KhadimToolbox         *self,
                                                  const char            *tool,
                                                  KhadimToolDomain     **out_domain,
                                                  KhadimSchema         **out_schema,
                                                  GError               **error);
GPtrArray            *khadim_toolbox_list_domains (KhadimToolbox        *self);
guint                 khadim_toolbox_add_stop_func (KhadimToolbox        *self,
                                                    KhadimToolboxStopFunc func,
                                                    gpointer              user_data);
void                  khadim_toolbox_remove_stop_func (KhadimToolbox     *self,
                                                    guint                 id);
void                  khadim_toolbox_stop          (KhadimToolbox        *self);

G_END_DECLS
