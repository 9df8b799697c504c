/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-permissions"

#include "config.h"

#include "engine/session/khadim-permissions.h"

#include <string.h>

#include "engine/json/khadim-json.h"

typedef enum {
  MODE_AUTO,
  MODE_ASK,
  MODE_READ_ONLY,
} Mode;

/* KhadimPermissions: a mode and rules by the tool's name. A rule that denies
 * beats one that asks, which beats one that allows; the mode decides what no
 * rule names. Immutable. */
struct _KhadimPermissions
{
  GObject parent_instance;

  Mode mode;
  GPtrArray *rules[KHADIM_PERMISSION_DENY + 1]; /* (owned) patterns with `*` and `?` */
};

G_DEFINE_FINAL_TYPE (KhadimPermissions, khadim_permissions, G_TYPE_OBJECT)

static void
khadim_permissions_finalize (GObject *object)
{
  KhadimPermissions *self = KHADIM_PERMISSIONS (object);

  for (int i = 0; i <= KHADIM_PERMISSION_DENY; i++)
    g_ptr_array_unref (self->rules[i]);

  G_OBJECT_CLASS (khadim_permissions_parent_class)->finalize (object);
}

static void
khadim_permissions_class_init (KhadimPermissionsClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_permissions_finalize;
}

static void
khadim_permissions_init (KhadimPermissions *self)
{
  for (int i = 0; i <= KHADIM_PERMISSION_DENY; i++)
    self->rules[i] = g_ptr_array_new_with_free_func (g_free);
}

/**
 * khadim_permissions_new:
 *
 * Any thread.
 *
 * Returns: (transfer full): permissions that allow everything
 */
KhadimPermissions *
khadim_permissions_new (void)
{
  return g_object_new (KHADIM_TYPE_PERMISSIONS, NULL);
}

static void
read_rules (KhadimPermissions *self,
            JsonObject        *rules,
            const char        *key,
            KhadimPermission   permission)
{
  JsonArray *patterns = khadim_json_get_array (rules, key);

  for (guint i = 0; patterns != NULL && i < json_array_get_length (patterns); i++)
    g_ptr_array_add (self->rules[permission],
                     g_strdup (json_array_get_string_element (patterns, i)));
}

/**
 * khadim_permissions_new_from_json:
 * @rules: (nullable): the `permissions` of a document that its schema has
 *   passed: `mode`, `allow`, `ask`, `deny`
 *
 * Any thread.
 *
 * Returns: (transfer full): the permissions
 */
KhadimPermissions *
khadim_permissions_new_from_json (JsonObject *rules)
{
  KhadimPermissions *self = khadim_permissions_new ();
  const char *mode;

  if (rules == NULL)
    return self;

  mode = khadim_json_get_string (rules, "mode", "auto");
  self->mode = strcmp (mode, "ask") == 0         ? MODE_ASK
               : strcmp (mode, "read-only") == 0 ? MODE_READ_ONLY
                                                 : MODE_AUTO;
  read_rules (self, rules, "allow", KHADIM_PERMISSION_ALLOW);
  read_rules (self, rules, "ask", KHADIM_PERMISSION_ASK);
  read_rules (self, rules, "deny", KHADIM_PERMISSION_DENY);

  return self;
}

static KhadimPermission
decide_by_mode (KhadimPermissions    *self,
                const KhadimToolInfo *info)
{
  gboolean reads = (info->flags & KHADIM_TOOL_FLAGS_READ_ONLY) != 0;

  if (reads || self->mode == MODE_AUTO)
    return KHADIM_PERMISSION_ALLOW;

  return self->mode == MODE_ASK ? KHADIM_PERMISSION_ASK : KHADIM_PERMISSION_DENY;
}

/**
 * khadim_permissions_decide:
 * @self: permissions
 * @info: the tool that is to be called
 * @out_rule: (out) (optional) (nullable) (transfer none): the rule that
 *   decided, %NULL when it was the mode
 *
 * Any thread.
 *
 * Returns: what is to be done with a call of the tool
 */
KhadimPermission
khadim_permissions_decide (KhadimPermissions     *self,
                           const KhadimToolInfo  *info,
                           const char           **out_rule)
{
  g_return_val_if_fail (KHADIM_IS_PERMISSIONS (self), KHADIM_PERMISSION_DENY);

  for (int permission = KHADIM_PERMISSION_DENY; permission >= 0; permission--)
    for (guint i = 0; i < self->rules[permission]->len; i++)
      {
        const char *pattern = self->rules[permission]->pdata[i];

        if (!g_pattern_match_simple (pattern, info->name))
          continue;
        if (out_rule != NULL)
          *out_rule = pattern;
        return permission;
      }
  if (out_rule != NULL)
    *out_rule = NULL;

  return decide_by_mode (self, info);
}
