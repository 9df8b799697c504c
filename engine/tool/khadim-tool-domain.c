/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-tool-domain"

#include "config.h"

#include "engine/tool/khadim-tool-domain.h"

#include "engine/tool/khadim-tool-call.h"
#include "engine/tool/khadim-tool-result.h"

typedef struct
{
  char *name;
} KhadimToolDomainPrivate;

enum {
  PROP_0,
  PROP_NAME,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (KhadimToolDomain, khadim_tool_domain, G_TYPE_OBJECT)

static void
khadim_tool_domain_finalize (GObject *object)
{
  KhadimToolDomain *self = KHADIM_TOOL_DOMAIN (object);
  KhadimToolDomainPrivate *priv = khadim_tool_domain_get_instance_private (self);

  g_clear_pointer (&priv->name, g_free);

  G_OBJECT_CLASS (khadim_tool_domain_parent_class)->finalize (object);
}

static void
khadim_tool_domain_get_property (GObject    *object,
                                 guint       prop_id,
                                 GValue     *value,
                                 GParamSpec *pspec)
{
  KhadimToolDomain *self = KHADIM_TOOL_DOMAIN (object);

  switch (prop_id)
    {
    case PROP_NAME:
      g_value_set_string (value, khadim_tool_domain_get_name (self));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
khadim_tool_domain_set_property (GObject      *object,
                                 guint         prop_id,
                                 const GValue *value,
                                 GParamSpec   *pspec)
{
  KhadimToolDomain *self = KHADIM_TOOL_DOMAIN (object);
  KhadimToolDomainPrivate *priv = khadim_tool_domain_get_instance_private (self);

  switch (prop_id)
    {
    case PROP_NAME:
      priv->name = g_value_dup_string (value);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
khadim_tool_domain_class_init (KhadimToolDomainClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = khadim_tool_domain_finalize;
  object_class->get_property = khadim_tool_domain_get_property;
  object_class->set_property = khadim_tool_domain_set_property;

  properties[PROP_NAME] =
    g_param_spec_string ("name", NULL, NULL, NULL,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
khadim_tool_domain_init (KhadimToolDomain *self)
{
}

/**
 * khadim_tool_domain_get_name:
 * @self: a tool domain
 *
 * The part of a tool's name before the dot. Any thread.
 *
 * Returns: (transfer none): the name
 */
const char *
khadim_tool_domain_get_name (KhadimToolDomain *self)
{
  KhadimToolDomainPrivate *priv = khadim_tool_domain_get_instance_private (self);

  g_return_val_if_fail (KHADIM_IS_TOOL_DOMAIN (self), NULL);

  return priv->name;
}

/**
 * khadim_tool_domain_list:
 * @self: a tool domain
 * @out_n_tools: (out): how many tools
 *
 * The tools of the domain, in the order in which to show them. Any thread.
 *
 * Returns: (array length=out_n_tools) (transfer none): the tools
 */
const KhadimToolInfo *
khadim_tool_domain_list (KhadimToolDomain *self,
                         guint            *out_n_tools)
{
  g_return_val_if_fail (KHADIM_IS_TOOL_DOMAIN (self), NULL);
  g_return_val_if_fail (out_n_tools != NULL, NULL);

  return KHADIM_TOOL_DOMAIN_GET_CLASS (self)->list (self, out_n_tools);
}

/**
 * khadim_tool_domain_lookup:
 * @self: a tool domain
 * @tool: the full name, `domain.verb`
 *
 * Any thread.
 *
 * Returns: (nullable) (transfer none): the tool, or %NULL if the domain has
 *   none of that name
 */
const KhadimToolInfo *
khadim_tool_domain_lookup (KhadimToolDomain *self,
                           const char       *tool)
{
  const KhadimToolInfo *tools;
  guint n_tools = 0;

  g_return_val_if_fail (KHADIM_IS_TOOL_DOMAIN (self), NULL);
  g_return_val_if_fail (tool != NULL, NULL);

  tools = khadim_tool_domain_list (self, &n_tools);
  for (guint i = 0; i < n_tools; i++)
    {
      if (g_str_equal (tools[i].name, tool))
        return &tools[i];
    }

  return NULL;
}

/**
 * khadim_tool_domain_check:
 * @self: a tool domain
 * @info: one of its tools
 * @args: the arguments, an object that the tool's schema accepts; templates
 *   may stand where values will
 * @assets_dir: (nullable): the folder of the automation
 * @out_place: (out) (optional) (transfer full): the place in @args of the
 *   fault, such as `target.image.file`
 * @error: return location
 *
 * Looks for faults that the schema cannot say, without doing anything.
 * Any thread.
 *
 * Returns: whether the arguments may be used; if not, @error is a
 *   %KHADIM_ENGINE_ERROR
 */
gboolean
khadim_tool_domain_check (KhadimToolDomain      *self,
                          const KhadimToolInfo  *info,
                          JsonNode              *args,
                          const char            *assets_dir,
                          char                 **out_place,
                          GError               **error)
{
  KhadimToolDomainClass *klass;

  g_return_val_if_fail (KHADIM_IS_TOOL_DOMAIN (self), FALSE);
  g_return_val_if_fail (info != NULL, FALSE);
  g_return_val_if_fail (args != NULL, FALSE);

  klass = KHADIM_TOOL_DOMAIN_GET_CLASS (self);
  if (klass->check == NULL)
    return TRUE;

  return klass->check (self, info, args, assets_dir, out_place, error);
}

/**
 * khadim_tool_domain_run_async:
 * @self: a tool domain
 * @call: the call, whose arguments have passed the checks
 * @cancellable: (nullable): ends the call early
 * @callback: called on the engine thread
 * @user_data: for @callback
 *
 * Starts a call. Engine thread only.
 */
void
khadim_tool_domain_run_async (KhadimToolDomain    *self,
                              KhadimToolCall      *call,
                              GCancellable        *cancellable,
                              GAsyncReadyCallback  callback,
                              gpointer             user_data)
{
  g_return_if_fail (KHADIM_IS_TOOL_DOMAIN (self));
  g_return_if_fail (KHADIM_IS_TOOL_CALL (call));

  KHADIM_TOOL_DOMAIN_GET_CLASS (self)->run_async (self, call, cancellable, callback, user_data);
}

/**
 * khadim_tool_domain_run_finish:
 * @self: a tool domain
 * @result: what the callback got
 *
 * Ends a call. What went wrong, cancelling included, is a failure inside the
 * result. Engine thread only.
 *
 * Returns: (transfer full): the result
 */
KhadimToolResult *
khadim_tool_domain_run_finish (KhadimToolDomain *self,
                               GAsyncResult     *result)
{
  g_return_val_if_fail (KHADIM_IS_TOOL_DOMAIN (self), NULL);
  g_return_val_if_fail (G_IS_ASYNC_RESULT (result), NULL);

  return KHADIM_TOOL_DOMAIN_GET_CLASS (self)->run_finish (self, result);
}

/**
 * khadim_tool_domain_session_ended:
 * @self: a tool domain
 * @session_id: a session
 *
 * Says that no further call of the session comes. Engine thread only.
 */
void
khadim_tool_domain_session_ended (KhadimToolDomain *self,
                                  const char       *session_id)
{
  KhadimToolDomainClass *klass;

  g_return_if_fail (KHADIM_IS_TOOL_DOMAIN (self));
  g_return_if_fail (session_id != NULL);

  klass = KHADIM_TOOL_DOMAIN_GET_CLASS (self);
  if (klass->session_ended != NULL)
    klass->session_ended (self, session_id);
}
