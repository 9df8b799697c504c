/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

#include "engine/tool/khadim-toolbox.h"

G_BEGIN_DECLS

/* The name of the document in an automation's folder, and how folders end. */
#define KHADIM_AUTOMATION_FILE "automation.json"
#define KHADIM_AUTOMATION_SUFFIX ".khadim"
/* The largest document that is read. */
#define KHADIM_AUTOMATION_MAX_BYTES (4 * 1024 * 1024)

#define KHADIM_TYPE_AUTOMATION (khadim_automation_get_type ())
G_DECLARE_FINAL_TYPE (KhadimAutomation, khadim_automation, KHADIM, AUTOMATION, GObject)

KhadimAutomation *khadim_automation_load            (const char        *folder,
                                                     KhadimToolbox     *toolbox,
                                                     char             **out_place,
                                                     GError           **error);
KhadimAutomation *khadim_automation_new_from_text   (const char        *text,
                                                     const char        *folder,
                                                     KhadimToolbox     *toolbox,
                                                     char             **out_place,
                                                     GError           **error);
const char       *khadim_automation_get_name        (KhadimAutomation  *self);
const char       *khadim_automation_get_folder      (KhadimAutomation  *self);
const char       *khadim_automation_get_text        (KhadimAutomation  *self);
JsonObject       *khadim_automation_get_document    (KhadimAutomation  *self);
gboolean          khadim_automation_has_step        (KhadimAutomation  *self,
                                                     const char        *id);
gboolean          khadim_automation_parse_input     (KhadimAutomation  *self,
                                                     const char        *assignment,
                                                     JsonObject        *inputs,
                                                     GError           **error);
JsonNode         *khadim_automation_complete_inputs (KhadimAutomation  *self,
                                                     JsonObject        *given,
                                                     GError           **error);
char             *khadim_automation_resolve         (const char        *name,
                                                     const char        *base_folder,
                                                     GError           **error);

G_END_DECLS
