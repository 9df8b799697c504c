/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-a11y-find"

#include "config.h"

#include "rpa/find/khadim-rpa-a11y-find.h"

#include <atspi/atspi.h>

#include "rpa/find/khadim-rpa-a11y-private.h"
#include "rpa/screen/khadim-rpa-error.h"

#define MAX_ENTRIES      32
#define MAX_STRING_BYTES 4096
#define MAX_INDEX        100000
#define MAX_MATCHES      100

/* What each part of an entry is worth when it fits. */
#define SCORE_EXACT   1.0
#define SCORE_PATTERN 0.9
#define SCORE_NO_NAME 0.7
#define SCORE_SKIPPED 0.98 /* for each level that the chain leaves out */

typedef struct {
  const char *role;
  const char *name;
  int index; /* -1: any */
} Entry;

typedef struct {
  const char *app;
  const char *state;
  GArray *entries; /* of Entry */
} Evidence;

static void
evidence_clear (Evidence *self)
{
  g_clear_pointer (&self->entries, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Evidence, evidence_clear)

/**
 * khadim_rpa_a11y_match_free:
 * @self: (transfer full): a match
 *
 * Frees a match. Any thread.
 */
void
khadim_rpa_a11y_match_free (KhadimRpaA11yMatch *self)
{
  g_return_if_fail (self != NULL);

  khadim_rpa_a11y_node_unref (self->node);
  g_free (self);
}

/* Reading ------------------------------------------------------------------ */

static gboolean
fail_at (GError     **error,
         const char  *place,
         const char  *problem)
{
  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID, "%s: %s", place, problem);

  return FALSE;
}

static gboolean
read_string (JsonObject   *object,
             const char   *key,
             const char   *place,
             const char  **out_string,
             GError      **error)
{
  JsonNode *node = json_object_get_member (object, key);
  g_autofree char *where = g_strdup_printf ("%s.%s", place, key);

  if (node == NULL)
    return TRUE;
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
    return fail_at (error, where, "not a string");
  if (strlen (json_node_get_string (node)) > MAX_STRING_BYTES)
    return fail_at (error, where, "longer than 4096 bytes");
  *out_string = json_node_get_string (node);

  return TRUE;
}

static gboolean
read_index (JsonObject  *object,
            const char  *place,
            int         *out_index,
            GError     **error)
{
  JsonNode *node = json_object_get_member (object, "index");
  g_autofree char *where = g_strdup_printf ("%s.index", place);

  if (node == NULL)
    return TRUE;
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_INT64)
    return fail_at (error, where, "not an integer");
  if (json_node_get_int (node) < 0 || json_node_get_int (node) > MAX_INDEX)
    return fail_at (error, where, "not between 0 and 100000");
  *out_index = (int) json_node_get_int (node);

  return TRUE;
}

static gboolean
check_keys (JsonObject          *object,
            const char          *place,
            const char * const  *known,
            GError             **error)
{
  g_autoptr(GList) keys = json_object_get_members (object);

  for (GList *l = keys; l != NULL; l = l->next)
    {
      const char *key = l->data;
      g_autofree char *where = g_strdup_printf ("%s.%s", place, key);

      if (!g_strv_contains (known, key) && !g_str_has_prefix (key, "x-"))
        return fail_at (error, where, "unknown key");
    }

  return TRUE;
}

static gboolean
read_entry (JsonNode    *node,
            guint        i,
            Entry       *out_entry,
            GError     **error)
{
  static const char * const known[] = { "role", "name", "index", NULL };
  g_autofree char *place = g_strdup_printf ("a11y.path[%u]", i);
  JsonObject *object;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    return fail_at (error, place, "not an object");
  object = json_node_get_object (node);
  out_entry->index = -1;
  if (!check_keys (object, place, known, error)
      || !read_string (object, "role", place, &out_entry->role, error)
      || !read_string (object, "name", place, &out_entry->name, error)
      || !read_index (object, place, &out_entry->index, error))
    return FALSE;
  if (out_entry->role == NULL && out_entry->name == NULL)
    return fail_at (error, place, "has neither a role nor a name");

  return TRUE;
}

static gboolean
read_path (JsonObject  *object,
           GArray      *entries,
           GError     **error)
{
  JsonNode *node = json_object_get_member (object, "path");
  JsonArray *path;

  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    return fail_at (error, "a11y.path", "not an array");
  path = json_node_get_array (node);
  if (json_array_get_length (path) == 0 || json_array_get_length (path) > MAX_ENTRIES)
    return fail_at (error, "a11y.path", "has not 1 to 32 entries");

  for (guint i = 0; i < json_array_get_length (path); i++)
    {
      Entry entry = { 0 };

      if (!read_entry (json_array_get_element (path, i), i, &entry, error))
        return FALSE;
      g_array_append_val (entries, entry);
    }

  return TRUE;
}

static gboolean
is_state (const char *name)
{
  g_autoptr(GTypeClass) klass = g_type_class_ref (ATSPI_TYPE_STATE_TYPE);

  return g_enum_get_value_by_nick (G_ENUM_CLASS (klass), name) != NULL;
}

static gboolean
read_evidence (JsonObject  *object,
               Evidence    *out_evidence,
               GError     **error)
{
  static const char * const known[] = { "app", "path", "state", NULL };

  out_evidence->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  if (!check_keys (object, "a11y", known, error)
      || !read_string (object, "app", "a11y", &out_evidence->app, error)
      || !read_string (object, "state", "a11y", &out_evidence->state, error)
      || !read_path (object, out_evidence->entries, error))
    return FALSE;
  if (out_evidence->state != NULL && !is_state (out_evidence->state))
    return fail_at (error, "a11y.state", "not the name of an AT-SPI state");

  return TRUE;
}

/**
 * khadim_rpa_a11y_check_evidence:
 * @evidence: what khadim_rpa_a11y_find() would take
 * @error: where to put an error
 *
 * Checks evidence without looking. Any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `INVALID`, naming the place.
 *
 * Returns: whether @evidence is well formed
 */
gboolean
khadim_rpa_a11y_check_evidence (JsonObject  *evidence,
                                GError     **error)
{
  g_auto(Evidence) read = { 0 };

  g_return_val_if_fail (evidence != NULL, FALSE);

  return read_evidence (evidence, &read, error);
}

/* Matching ----------------------------------------------------------------- */

/* at-spi2-core 2.50 calls the push button a button. */
static const char *
canonical_role (const char *role)
{
  return g_str_equal (role, "button") ? "push button" : role;
}

static double
score_entry (const Entry       *entry,
             KhadimRpaA11yNode *node)
{
  g_autofree char *name = NULL;

  if (entry->role != NULL
      && !_khadim_rpa_a11y_glob_match (canonical_role (entry->role),
                                       canonical_role (khadim_rpa_a11y_node_get_role (node))))
    return 0;
  if (entry->name == NULL)
    return SCORE_NO_NAME;
  if (g_str_equal (entry->name, khadim_rpa_a11y_node_get_name (node)))
    return SCORE_EXACT;

  /* GTK 3 pads the names of menu items that have a key: “Save      ”. */
  name = g_strstrip (g_strdup (khadim_rpa_a11y_node_get_name (node)));
  if (g_str_equal (entry->name, name))
    return SCORE_EXACT;

  return _khadim_rpa_a11y_glob_match (entry->name, name) ? SCORE_PATTERN : 0;
}

typedef struct {
  const Entry *entry;
  double base; /* the score of the chain so far */
  int seen;
  GPtrArray *out;
} Collect;

static void
add_match (GPtrArray         *matches,
           KhadimRpaA11yNode *node,
           double             score)
{
  KhadimRpaA11yMatch *match = g_new0 (KhadimRpaA11yMatch, 1);

  match->node = khadim_rpa_a11y_node_ref (node);
  match->score = score;
  g_ptr_array_add (matches, match);
}

/* The index counts what fits the entry below one parent, in the order of the
 * tree. */
static void
collect_below (Collect           *collect,
               KhadimRpaA11yNode *node,
               double             skipped)
{
  for (guint i = 0; i < khadim_rpa_a11y_node_get_n_children (node); i++)
    {
      KhadimRpaA11yNode *child = khadim_rpa_a11y_node_get_child (node, i);
      double score = score_entry (collect->entry, child);

      if (score > 0)
        {
          if (collect->entry->index < 0 || collect->entry->index == collect->seen)
            add_match (collect->out, child, collect->base * score * skipped);
          collect->seen++;
        }
      collect_below (collect, child, skipped * SCORE_SKIPPED);
    }
}

static GPtrArray *
match_array_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) khadim_rpa_a11y_match_free);
}

/* One object may be reached by several chains; the best one counts. */
static void
merge_same (GPtrArray *matches)
{
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < matches->len;)
    {
      KhadimRpaA11yMatch *match = g_ptr_array_index (matches, i);
      KhadimRpaA11yMatch *first = g_hash_table_lookup (seen, match->node);

      if (first == NULL)
        {
          g_hash_table_insert (seen, match->node, match);
          i++;
          continue;
        }
      first->score = MAX (first->score, match->score);
      g_ptr_array_remove_index (matches, i);
    }
}

static GPtrArray *
follow_chain (const Evidence *evidence,
              GPtrArray      *roots)
{
  g_autoptr(GPtrArray) level = match_array_new ();

  for (guint i = 0; i < roots->len; i++)
    add_match (level, g_ptr_array_index (roots, i), 1.0);
  for (guint e = 0; e < evidence->entries->len; e++)
    {
      g_autoptr(GPtrArray) next = match_array_new ();

      for (guint i = 0; i < level->len; i++)
        {
          KhadimRpaA11yMatch *from = g_ptr_array_index (level, i);
          Collect collect = { &g_array_index (evidence->entries, Entry, e), from->score, 0, next };

          collect_below (&collect, from->node, 1.0);
        }
      merge_same (next);
      g_ptr_array_unref (level);
      level = g_steal_pointer (&next);
    }

  return g_steal_pointer (&level);
}

static gboolean
is_top_role (guint role)
{
  return role == ATSPI_ROLE_FRAME || role == ATSPI_ROLE_DIALOG || role == ATSPI_ROLE_ALERT
         || role == ATSPI_ROLE_WINDOW || role == ATSPI_ROLE_FILE_CHOOSER;
}

/* When the chain starts at a window, other windows need not be looked into. */
static gboolean
descend_for (KhadimRpaA11yNode *node,
             gpointer           user_data)
{
  const Evidence *evidence = user_data;
  const Entry *first = &g_array_index (evidence->entries, Entry, 0);

  if (node->depth != 1 || first->role == NULL || !is_top_role (node->role))
    return TRUE;
  for (guint role = 0; role < ATSPI_ROLE_LAST_DEFINED; role++)
    {
      g_autofree char *name = is_top_role (role) ? atspi_role_get_name (role) : NULL;

      if (name != NULL && g_str_equal (name, first->role))
        return score_entry (first, node) > 0;
    }

  return TRUE;
}

static gboolean
is_any_truncated (KhadimRpaA11yNode *node)
{
  if (node->truncated)
    return TRUE;
  for (guint i = 0; i < khadim_rpa_a11y_node_get_n_children (node); i++)
    if (is_any_truncated (khadim_rpa_a11y_node_get_child (node, i)))
      return TRUE;

  return FALSE;
}

/* The matches as they are now, best first, else in the order of the tree. */
static GPtrArray *
detail_matches (KhadimRpaA11y  *self,
                GPtrArray      *matches,
                const char     *state,
                GCancellable   *cancellable,
                GError        **error)
{
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();
  g_autoptr(GPtrArray) fresh = NULL;
  GPtrArray *detailed;

  for (guint i = 0; i < matches->len && nodes->len < MAX_MATCHES; i++)
    {
      KhadimRpaA11yMatch *match = g_ptr_array_index (matches, i);

      if (state == NULL || khadim_rpa_a11y_node_has_state (match->node, state))
        g_ptr_array_add (nodes, match->node);
    }
  detailed = match_array_new ();
  if (nodes->len == 0)
    return detailed;
  fresh = _khadim_rpa_a11y_detail (self, nodes, cancellable, error);
  if (fresh == NULL)
    {
      g_ptr_array_unref (detailed);
      return NULL;
    }
  for (guint i = 0; i < matches->len; i++)
    for (guint j = 0; j < fresh->len; j++)
      {
        KhadimRpaA11yMatch *match = g_ptr_array_index (matches, i);
        KhadimRpaA11yNode *node = g_ptr_array_index (fresh, j);

        if (khadim_rpa_a11y_node_equal (match->node, node))
          add_match (detailed, node, match->score);
      }

  return detailed;
}

static int
compare_scores (gconstpointer a,
                gconstpointer b)
{
  const KhadimRpaA11yMatch *first = *(const KhadimRpaA11yMatch * const *) a;
  const KhadimRpaA11yMatch *second = *(const KhadimRpaA11yMatch * const *) b;

  return (first->score < second->score) - (first->score > second->score);
}

/**
 * khadim_rpa_a11y_find:
 * @self: a connection
 * @scope: (nullable): where to look; the evidence's `app` is added to it
 * @evidence: an object with `app` (optional), `path` and `state` (optional)
 * @limits: (nullable): how far to look
 * @out_truncated: (out) (optional): whether a limit kept something from being
 *   looked at, so that there may be more
 * @cancellable: (nullable): stops waiting
 * @error: where to put an error
 *
 * Finds objects by a chain of descendants: each entry of `path` has `role`,
 * `name` and `index` (which of those that fit below the one before, from 0, in
 * the order of the tree), and may skip levels. `app`, `role` and `name` are
 * exact unless they hold `*` or `?`; spaces around a name do not count. `state` is a state that the last one must
 * have. Blocks as khadim_rpa_a11y_snapshot() does; any thread.
 *
 * Errors: #KHADIM_RPA_ERROR with `INVALID` (naming the place) and those of
 * khadim_rpa_a11y_snapshot(); no match is not an error.
 *
 * Returns: (transfer container) (element-type KhadimRpaA11yMatch): at most 100
 *   matches, best first, equal ones in the order of the tree; %NULL on error
 */
GPtrArray *
khadim_rpa_a11y_find (KhadimRpaA11y              *self,
                      const KhadimRpaA11yScope   *scope,
                      JsonObject                 *evidence,
                      const KhadimRpaA11yLimits  *limits,
                      gboolean                   *out_truncated,
                      GCancellable               *cancellable,
                      GError                    **error)
{
  g_auto(Evidence) read = { 0 };
  KhadimRpaA11yScope narrowed = { 0 };
  KhadimRpaA11yLimits bare = { 0 };
  g_autoptr(GPtrArray) roots = NULL;
  g_autoptr(GPtrArray) matches = NULL;
  GPtrArray *detailed;
  gboolean truncated = FALSE;

  g_return_val_if_fail (KHADIM_RPA_IS_A11Y (self), NULL);
  g_return_val_if_fail (evidence != NULL, NULL);

  if (!read_evidence (evidence, &read, error))
    return NULL;
  if (scope != NULL)
    narrowed = *scope;
  if (narrowed.app == NULL)
    narrowed.app = read.app;
  if (limits != NULL)
    bare = *limits;
  bare.details = FALSE;
  roots = _khadim_rpa_a11y_walk_scope (self, &narrowed, &bare, descend_for, &read, cancellable,
                                       error);
  if (roots == NULL)
    return NULL;

  for (guint i = 0; i < roots->len; i++)
    truncated = truncated || is_any_truncated (g_ptr_array_index (roots, i));
  matches = follow_chain (&read, roots);
  g_ptr_array_sort (matches, compare_scores);
  detailed = detail_matches (self, matches, read.state, cancellable, error);
  if (detailed != NULL && out_truncated != NULL)
    *out_truncated = truncated || matches->len > MAX_MATCHES;

  return detailed;
}
