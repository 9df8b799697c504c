/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Makes calls of a tool domain as the tool runner does, in folders that are
 * removed at the end. For the tests of the domains. */

#pragma once

#include <stdlib.h>
#include <string.h>

#include <gio/gio.h>
#include <glib/gstdio.h>

#include "engine/json/khadim-json.h"
#include "engine/json/khadim-schema.h"
#include "engine/tool/khadim-tool-call-private.h"
#include "engine/tool/khadim-tool-domain.h"
#include "engine/tool/khadim-tool-result.h"

/* No call of a test may take longer */
#define HARNESS_PATIENCE_S 30

typedef struct
{
  KhadimToolDomain *domain;
  char *root;
  char *work;
  char *assets;

  /* For the next calls */
  GCancellable *cancellable;
  gint64 deadline_us;
  gboolean dry_run;
  gboolean resumed;

  KhadimToolResult *result; /* of the call under way */
  char *preview;            /* the last progress of the calls */
} Harness;

static inline void
harness_init (Harness          *self,
              KhadimToolDomain *domain)
{
  g_autofree char *made = g_dir_make_tmp ("khadim-tool-XXXXXX", NULL);

  g_assert_nonnull (made);
  self->domain = domain;
  self->root = realpath (made, NULL);
  self->work = g_build_filename (self->root, "work", NULL);
  self->assets = g_build_filename (self->root, "assets", NULL);
  self->deadline_us = G_MAXINT64;
  g_assert_no_errno (g_mkdir (self->work, 0700));
  g_assert_no_errno (g_mkdir (self->assets, 0700));
  g_assert_no_errno (g_mkdir_with_parents (g_get_home_dir (), 0700));
}

static inline gboolean
harness_out_of_patience_cb (gpointer user_data)
{
  g_error ("%s took longer than %d s", (const char *) user_data, HARNESS_PATIENCE_S);

  return G_SOURCE_REMOVE;
}

static inline void
harness_on_finalized_cb (gpointer  user_data,
                         GObject  *where_it_was)
{
  g_atomic_int_set ((int *) user_data, 1);
  g_main_context_wakeup (NULL);
}

/* The domain goes with its last job, which a cancelled call leaves behind. */
static inline void
harness_finalize_domain (KhadimToolDomain *domain)
{
  guint patience = g_timeout_add_seconds (HARNESS_PATIENCE_S, harness_out_of_patience_cb,
                                          (gpointer) "Finalizing the domain");
  int finalized = 0;

  g_object_weak_ref (G_OBJECT (domain), harness_on_finalized_cb, &finalized);
  g_object_unref (domain);
  while (!g_atomic_int_get (&finalized))
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (patience);
}

static inline void
harness_clear (Harness *self)
{
  const char *const argv[] = { "rm", "-rf", "--", self->root, NULL };

  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL,
                               NULL, NULL, NULL, NULL));
  harness_finalize_domain (self->domain);
  g_clear_object (&self->cancellable);
  g_free (self->preview);
  free (self->root);
  g_free (self->work);
  g_free (self->assets);
}

/* JSON with ' for " */
static inline JsonNode *
harness_json (const char *text)
{
  g_autofree char *json = g_strdelimit (g_strdup (text), "'", '"');
  g_autoptr(GError) error = NULL;
  JsonNode *node = khadim_json_parse (json, -1, NULL, &error);

  g_assert_no_error (error);

  return node;
}

static inline void
harness_on_done_cb (GObject      *source,
                    GAsyncResult *result,
                    gpointer      user_data)
{
  Harness *self = user_data;

  self->result = khadim_tool_domain_run_finish (KHADIM_TOOL_DOMAIN (source), result);
  g_assert_nonnull (self->result);
}

static inline void
harness_on_progress_cb (KhadimToolCall *call,
                        double          fraction,
                        const char     *preview,
                        gpointer        user_data)
{
  static GMutex lock;
  Harness *self = user_data;

  g_mutex_lock (&lock);
  g_free (self->preview);
  self->preview = g_strdup (preview);
  g_mutex_unlock (&lock);
}

static inline void
harness_start (Harness    *self,
               const char *tool,
               JsonNode   *args)
{
  g_autoptr(KhadimToolCall) call = NULL;
  KhadimToolCallSpec spec = {
    .id = "call",
    .session_id = "session",
    .tool = tool,
    .args = args,
    .assets_dir = self->assets,
    .work_dir = self->work,
    .deadline_us = self->deadline_us,
    .dry_run = self->dry_run,
    .resumed = self->resumed,
  };

  self->result = NULL;
  call = _khadim_tool_call_new (&spec);
  _khadim_tool_call_set_hooks (call, harness_on_progress_cb, NULL, NULL, self);
  json_node_unref (args);
  khadim_tool_domain_run_async (self->domain, call, self->cancellable,
                                harness_on_done_cb, self);
}

static inline KhadimToolResult *
harness_wait (Harness *self)
{
  guint patience = g_timeout_add_seconds (HARNESS_PATIENCE_S, harness_out_of_patience_cb,
                                          (gpointer) "A call");

  while (self->result == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (patience);
  /* What the workers still hold goes. */
  while (g_main_context_iteration (NULL, FALSE))
    ;

  return g_steal_pointer (&self->result);
}

static inline KhadimToolResult *
harness_call_node (Harness    *self,
                   const char *tool,
                   JsonNode   *args)
{
  harness_start (self, tool, args);

  return harness_wait (self);
}

/* Whether the schema of the tool takes the arguments. */
static inline gboolean
harness_accepts (Harness     *self,
                 const char  *tool,
                 JsonNode    *args,
                 GError     **error)
{
  const KhadimToolInfo *info = khadim_tool_domain_lookup (self->domain, tool);
  g_autoptr(GError) local = NULL;
  g_autoptr(KhadimSchema) schema = NULL;

  g_assert_nonnull (info);
  schema = khadim_schema_new_from_string (info->input_schema, &local);
  g_assert_no_error (local);

  return khadim_schema_check (schema, args, KHADIM_SCHEMA_FLAGS_NONE, NULL, error);
}

static inline void
harness_refuses (Harness    *self,
                 const char *tool,
                 const char *args)
{
  g_autoptr(JsonNode) node = harness_json (args);

  if (harness_accepts (self, tool, node, NULL))
    g_error ("The schema of %s takes %s", tool, args);
}

/* A call that must do well, with arguments that its schema takes. */
static inline JsonNode *
harness_ok_node (Harness    *self,
                 const char *tool,
                 JsonNode   *args)
{
  g_autoptr(KhadimToolResult) result = NULL;
  g_autoptr(GError) error = NULL;

  harness_accepts (self, tool, args, &error);
  g_assert_no_error (error);
  result = harness_call_node (self, tool, args);
  if (khadim_tool_result_is_failure (result))
    g_error ("%s: %s", tool, khadim_tool_result_get_message (result));

  return json_node_ref (khadim_tool_result_get_value (result));
}

static inline JsonNode *
harness_ok (Harness    *self,
            const char *tool,
            const char *args)
{
  return harness_ok_node (self, tool, harness_json (args));
}

/* A call that must fail, with @words in its message. */
static inline void
harness_fails (Harness         *self,
               const char      *tool,
               const char      *args,
               KhadimToolError  code,
               const char      *words)
{
  g_autoptr(KhadimToolResult) result = harness_call_node (self, tool, harness_json (args));
  const char *message = khadim_tool_result_get_message (result);

  if (!khadim_tool_result_is_failure (result))
    g_error ("%s %s did not fail", tool, args);
  if (khadim_tool_result_get_code (result) != code || strstr (message, words) == NULL)
    g_error ("%s %s: expected %s and “%s”, got %s: %s", tool, args,
             khadim_tool_error_to_code (code), words,
             khadim_tool_error_to_code (khadim_tool_result_get_code (result)), message);
}

static inline char *
harness_path (Harness    *self,
              const char *name)
{
  return g_build_filename (self->work, name, NULL);
}

static inline void
harness_put (Harness    *self,
             const char *name,
             const char *content,
             gssize      size)
{
  g_autofree char *path = harness_path (self, name);
  g_autoptr(GError) error = NULL;

  g_file_set_contents (path, content, size, &error);
  g_assert_no_error (error);
}

static inline void
harness_assert_content (Harness    *self,
                        const char *name,
                        const char *content,
                        gssize      size)
{
  g_autofree char *path = harness_path (self, name);
  g_autofree char *got = NULL;
  g_autoptr(GError) error = NULL;
  gsize got_size = 0;

  g_file_get_contents (path, &got, &got_size, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (got, got_size, content, size < 0 ? strlen (content) : (gsize) size);
}

static inline gboolean
harness_has (Harness    *self,
             const char *name)
{
  g_autofree char *path = harness_path (self, name);
  GStatBuf st;

  return g_lstat (path, &st) == 0;
}

/* Arguments that are faulty before they are used: the place of the fault. */
static inline void
harness_check_finds (Harness    *self,
                     const char *tool,
                     const char *args,
                     const char *place)
{
  const KhadimToolInfo *info = khadim_tool_domain_lookup (self->domain, tool);
  g_autoptr(JsonNode) node = harness_json (args);
  g_autoptr(GError) error = NULL;
  g_autofree char *found = NULL;

  g_assert_nonnull (info);
  g_assert_cmpint (khadim_tool_domain_check (self->domain, info, node, self->assets,
                                             &found, &error), ==, place == NULL);
  g_assert_cmpstr (found, ==, place);
  if (place != NULL)
    g_assert_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID);
  else
    g_assert_no_error (error);
}

/* Every tool declares itself in full, and its schema takes nothing unknown. */
static inline void
harness_check_infos (Harness *self)
{
  guint n_tools = 0;
  const KhadimToolInfo *infos = khadim_tool_domain_list (self->domain, &n_tools);
  g_autofree char *prefix = g_strconcat (khadim_tool_domain_get_name (self->domain), ".", NULL);

  g_assert_cmpuint (n_tools, >, 0);
  for (guint i = 0; i < n_tools; i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) schema = khadim_json_parse (infos[i].input_schema, -1, NULL, &error);
      JsonObject *object;

      g_assert_no_error (error);
      object = json_node_get_object (schema);
      g_assert_true (g_str_has_prefix (infos[i].name, prefix));
      g_assert_cmpuint (strlen (infos[i].title), >, 0);
      g_assert_cmpuint (strlen (infos[i].description), >, 0);
      g_assert_cmpstr (khadim_json_get_string (object, "type", NULL), ==, "object");
      g_assert_true (json_object_has_member (object, "additionalProperties"));
      g_assert_false (khadim_json_get_boolean (object, "additionalProperties", TRUE));
    }
}
