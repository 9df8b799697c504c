/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-engine"

#include "config.h"

#include "engine/session/khadim-engine-private.h"

#include "engine/vault/khadim-vault-memory.h"

/* KhadimEngine: the engine thread and what its sessions share. Set it up
 * before the first session runs; after that it changes no more. */
struct _KhadimEngine
{
  GObject parent_instance;

  /* Owned */
  KhadimStore *store;
  KhadimToolbox *toolbox;
  KhadimRedactor *redactor;
  KhadimVault *vault;
  KhadimPermissions *permissions;
  GMainContext *context;
  GMainLoop *loop;
  GThread *thread;

  gboolean can_ask;
};

G_DEFINE_FINAL_TYPE (KhadimEngine, khadim_engine, G_TYPE_OBJECT)

static gpointer
engine_thread (gpointer data)
{
  g_autoptr(GMainLoop) loop = data;
  GMainContext *context = g_main_loop_get_context (loop);

  g_main_context_push_thread_default (context);
  g_main_loop_run (loop);
  /* What was posted before the quit is still done: it frees what it holds. */
  while (g_main_context_iteration (context, FALSE))
    continue;
  g_main_context_pop_thread_default (context);

  return NULL;
}

static gboolean
on_quit_cb (gpointer user_data)
{
  g_main_loop_quit (user_data);

  return G_SOURCE_REMOVE;
}

/* The last reference may be dropped on the engine's own thread: then nobody
 * can join it, and it ends by itself. */
static void
stop_thread (KhadimEngine *self)
{
  g_autoptr(GSource) source = g_idle_source_new ();

  if (self->thread == NULL)
    return;

  g_source_set_callback (source, on_quit_cb, g_main_loop_ref (self->loop),
                         (GDestroyNotify) g_main_loop_unref);
  g_source_attach (source, self->context);
  if (self->thread == g_thread_self ())
    g_thread_unref (g_steal_pointer (&self->thread));
  else
    g_thread_join (g_steal_pointer (&self->thread));
}

static void
khadim_engine_dispose (GObject *object)
{
  KhadimEngine *self = KHADIM_ENGINE (object);

  stop_thread (self);
  g_clear_object (&self->store);
  g_clear_object (&self->toolbox);
  g_clear_object (&self->vault);
  g_clear_object (&self->permissions);

  G_OBJECT_CLASS (khadim_engine_parent_class)->dispose (object);
}

static void
khadim_engine_finalize (GObject *object)
{
  KhadimEngine *self = KHADIM_ENGINE (object);

  g_clear_object (&self->redactor);
  g_clear_pointer (&self->loop, g_main_loop_unref);
  g_clear_pointer (&self->context, g_main_context_unref);

  G_OBJECT_CLASS (khadim_engine_parent_class)->finalize (object);
}

static void
khadim_engine_class_init (KhadimEngineClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->dispose = khadim_engine_dispose;
  object_class->finalize = khadim_engine_finalize;
}

static void
khadim_engine_init (KhadimEngine *self)
{
  self->toolbox = khadim_toolbox_new ();
  self->redactor = khadim_redactor_new ();
  self->vault = khadim_vault_memory_new ();
  self->permissions = khadim_permissions_new ();
  self->context = g_main_context_new ();
  self->loop = g_main_loop_new (self->context, FALSE);
}

/**
 * khadim_engine_new:
 * @store: where sessions are kept
 *
 * Makes an engine and starts its thread. It has no tools yet and a vault that
 * forgets: see [method@Khadim.Engine.get_toolbox] and
 * [method@Khadim.Engine.set_vault]. Any thread.
 *
 * Returns: (transfer full): the engine
 */
KhadimEngine *
khadim_engine_new (KhadimStore *store)
{
  KhadimEngine *self;

  g_return_val_if_fail (KHADIM_IS_STORE (store), NULL);

  self = g_object_new (KHADIM_TYPE_ENGINE, NULL);
  self->store = g_object_ref (store);
  self->thread = g_thread_new ("khadim-engine", engine_thread, g_main_loop_ref (self->loop));

  return self;
}

GMainContext *
_khadim_engine_get_context (KhadimEngine *self)
{
  return self->context;
}

/**
 * khadim_engine_get_store:
 * @self: an engine
 *
 * Returns: (transfer none): where sessions are kept
 */
KhadimStore *
khadim_engine_get_store (KhadimEngine *self)
{
  g_return_val_if_fail (KHADIM_IS_ENGINE (self), NULL);

  return self->store;
}

/**
 * khadim_engine_get_toolbox:
 * @self: an engine
 *
 * Returns: (transfer none): the tools of its sessions
 */
KhadimToolbox *
khadim_engine_get_toolbox (KhadimEngine *self)
{
  g_return_val_if_fail (KHADIM_IS_ENGINE (self), NULL);

  return self->toolbox;
}

/**
 * khadim_engine_get_redactor:
 * @self: an engine
 *
 * Returns: (transfer none): what takes secrets out of everything that is
 *   stored or shown
 */
KhadimRedactor *
khadim_engine_get_redactor (KhadimEngine *self)
{
  g_return_val_if_fail (KHADIM_IS_ENGINE (self), NULL);

  return self->redactor;
}

/**
 * khadim_engine_get_vault:
 * @self: an engine
 *
 * Returns: (transfer none): where secrets come from
 */
KhadimVault *
khadim_engine_get_vault (KhadimEngine *self)
{
  g_return_val_if_fail (KHADIM_IS_ENGINE (self), NULL);

  return self->vault;
}

/**
 * khadim_engine_set_vault:
 * @self: an engine
 * @vault: where secrets come from
 *
 * To be called before the first session runs.
 */
void
khadim_engine_set_vault (KhadimEngine *self,
                         KhadimVault  *vault)
{
  g_return_if_fail (KHADIM_IS_ENGINE (self));

  g_set_object (&self->vault, vault);
}

/**
 * khadim_engine_get_permissions:
 * @self: an engine
 *
 * Returns: (transfer none): what the person allows; see
 *   [method@Khadim.Engine.set_permissions]
 */
KhadimPermissions *
khadim_engine_get_permissions (KhadimEngine *self)
{
  g_return_val_if_fail (KHADIM_IS_ENGINE (self), NULL);

  return self->permissions;
}

/**
 * khadim_engine_set_permissions:
 * @self: an engine
 * @permissions: what the person allows
 *
 * Of these and a document's own permissions, the stricter word holds. To be
 * called before the first session runs.
 */
void
khadim_engine_set_permissions (KhadimEngine      *self,
                               KhadimPermissions *permissions)
{
  g_return_if_fail (KHADIM_IS_ENGINE (self));

  g_set_object (&self->permissions, permissions);
}

/**
 * khadim_engine_get_can_ask:
 * @self: an engine
 *
 * Returns: whether there is a way to ask a person; %FALSE by default
 */
gboolean
khadim_engine_get_can_ask (KhadimEngine *self)
{
  g_return_val_if_fail (KHADIM_IS_ENGINE (self), FALSE);

  return self->can_ask;
}

/**
 * khadim_engine_set_can_ask:
 * @self: an engine
 * @can_ask: whether questions reach a person
 *
 * Without it, what needs a permission is denied, and an `ask` step fails.
 * With it, a session with an open question is parked until it has its answer.
 * To be called before the first session runs.
 */
void
khadim_engine_set_can_ask (KhadimEngine *self,
                           gboolean      can_ask)
{
  g_return_if_fail (KHADIM_IS_ENGINE (self));

  self->can_ask = can_ask;
}
