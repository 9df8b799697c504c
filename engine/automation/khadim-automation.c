/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-automation"

#include "config.h"

#include "engine/automation/khadim-automation-private.h"

#include <gio/gio.h>
#include <string.h>

#include "engine/automation/khadim-compiler-private.h"
#include "engine/json/khadim-json.h"
#include "engine/json/khadim-schema.h"
#include "engine/script/khadim-script.h"

#define SCHEMA_PATH "/org/khadim/engine/automation.schema.json"

/* KhadimAutomation: a document that was read, checked and made into steps.
 * Immutable; any thread may hold it. */
struct _KhadimAutomation
{
  GObject parent_instance;

  /* Owned */
  char *folder;
  char *text;
  JsonNode *document;
  KhadimSchema *inputs;     /* NULL when there are none */
  GPtrArray *steps;
};

G_DEFINE_FINAL_TYPE (KhadimAutomation, khadim_automation, G_TYPE_OBJECT)

static void
khadim_automation_finalize (GObject *object)
{
  KhadimAutomation *self = KHADIM_AUTOMATION (object);

  g_free (self->folder);
  g_free (self->text);
  g_clear_pointer (&self->document, json_node_unref);
  g_clear_pointer (&self->inputs, khadim_schema_unref);
  g_clear_pointer (&self->steps, g_ptr_array_unref);

  G_OBJECT_CLASS (khadim_automation_parent_class)->finalize (object);
}

static void
khadim_automation_class_init (KhadimAutomationClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = khadim_automation_finalize;
}

static void
khadim_automation_init (KhadimAutomation *self)
{
}

/* Made by the build from the published schema. */
GResource *_khadim_automation_get_resource (void);

static KhadimSchema *
load_schema (GError **error)
{
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(JsonNode) node = NULL;
  gsize size;
  const char *text;

  bytes = g_resource_lookup_data (_khadim_automation_get_resource (), SCHEMA_PATH,
                                  G_RESOURCE_LOOKUP_FLAGS_NONE, error);
  if (bytes == NULL)
    return NULL;
  text = g_bytes_get_data (bytes, &size);
  node = khadim_json_parse (text, (gssize) size, NULL, error);

  return node != NULL ? khadim_schema_new (node, error) : NULL;
}

/* The published schema, parsed once. */
static KhadimSchema *
get_document_schema (void)
{
  static gsize once = 0;
  static KhadimSchema *schema = NULL;

  if (g_once_init_enter (&once))
    {
      g_autoptr(GError) error = NULL;

      schema = load_schema (&error);
      if (schema == NULL)
        g_error ("The built-in schema of automations: %s", error->message);
      g_once_init_leave (&once, 1);
    }

  return schema;
}

static gboolean
check_version (JsonNode  *document,
               char     **out_place,
               GError   **error)
{
  gint64 version;

  if (!JSON_NODE_HOLDS_OBJECT (document))
    return TRUE;

  version = khadim_json_get_int (json_node_get_object (document), "khadim", 1);
  if (version <= 1)
    return TRUE;

  *out_place = g_strdup ("khadim");
  g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_UNSUPPORTED,
               "khadim: the document has the format %" G_GINT64_FORMAT
               ", this Khadim knows 1; a newer Khadim can play it", version);

  return FALSE;
}

static gboolean
compile_inputs (KhadimAutomation  *self,
                char             **out_place,
                GError           **error)
{
  JsonNode *inputs = khadim_json_get (json_node_get_object (self->document), "inputs");

  if (inputs == NULL)
    return TRUE;

  self->inputs = khadim_schema_new (inputs, error);
  if (self->inputs == NULL)
    {
      *out_place = g_strdup ("inputs");
      g_prefix_error (error, "inputs: ");
    }

  return self->inputs != NULL;
}

static gboolean
check_outputs (KhadimAutomation  *self,
               char             **out_place,
               GError           **error)
{
  JsonObject *outputs = khadim_json_get_object (khadim_automation_get_document (self), "outputs");
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  if (outputs == NULL)
    return TRUE;

  json_object_iter_init_ordered (&iter, outputs);
  while (json_object_iter_next_ordered (&iter, &name, &node))
    if (!khadim_script_check_expression (json_node_get_string (node), error))
      {
        *out_place = g_strdup_printf ("outputs.%s", name);
        g_prefix_error (error, "%s: ", *out_place);
        return FALSE;
      }

  return TRUE;
}

/**
 * khadim_automation_new_from_text:
 * @text: the text of an `automation.json`
 * @folder: the automation's folder, absolute; what the document names
 *   relatively lies in it
 * @toolbox: the tools that its steps may use
 * @out_place: (out) (nullable): on a fault, where it is in the document, such
 *   as `steps[3].target.image`; may be empty
 * @error: (nullable): `KHADIM_ENGINE_ERROR_INVALID` for a document that does
 *   not match, `_LIMIT` for one that is too large or deep, `_UNSUPPORTED` for
 *   what this version cannot play yet, `_NOT_FOUND` for a missing tool; the
 *   message begins with the place
 *
 * Reads a document and makes every check that needs no run. Any thread.
 *
 * Returns: (transfer full) (nullable): the automation
 */
KhadimAutomation *
khadim_automation_new_from_text (const char     *text,
                                 const char     *folder,
                                 KhadimToolbox  *toolbox,
                                 char          **out_place,
                                 GError        **error)
{
  g_autoptr(KhadimAutomation) self = NULL;
  g_autofree char *place = NULL;
  KhadimJsonLimits limits = {
    .max_depth = KHADIM_JSON_MAX_DEPTH,
    .max_bytes = KHADIM_AUTOMATION_MAX_BYTES,
  };
  JsonArray *steps;

  g_return_val_if_fail (text != NULL && folder != NULL, NULL);
  g_return_val_if_fail (KHADIM_IS_TOOLBOX (toolbox), NULL);

  self = g_object_new (KHADIM_TYPE_AUTOMATION, NULL);
  self->folder = g_strdup (folder);
  self->text = g_strdup (text);
  self->document = khadim_json_parse (text, -1, &limits, error);
  if (self->document != NULL && check_version (self->document, &place, error) &&
      khadim_schema_check (get_document_schema (), self->document, KHADIM_SCHEMA_FLAGS_NONE,
                           &place, error) &&
      compile_inputs (self, &place, error) && check_outputs (self, &place, error))
    {
      steps = khadim_json_get_array (json_node_get_object (self->document), "steps");
      self->steps = _khadim_compile_steps (steps, toolbox, folder, &place, error);
    }
  if (self->steps == NULL)
    {
      if (out_place != NULL)
        *out_place = g_steal_pointer (&place);
      return NULL;
    }

  return g_steal_pointer (&self);
}

/* Reads the document's text: a regular file of bounded size without NULs. */
static char *
read_document (const char  *path,
               GError     **error)
{
  g_autoptr(GFile) file = g_file_new_for_path (path);
  g_autoptr(GFileInputStream) stream = g_file_read (file, NULL, error);
  g_autofree char *text = NULL;
  gsize length = 0;

  if (stream == NULL)
    return NULL;
  text = g_malloc (KHADIM_AUTOMATION_MAX_BYTES + 2);
  if (!g_input_stream_read_all (G_INPUT_STREAM (stream), text, KHADIM_AUTOMATION_MAX_BYTES + 1,
                                &length, NULL, error))
    return NULL;
  if (length > KHADIM_AUTOMATION_MAX_BYTES)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_LIMIT,
                   "a document has at most %d bytes", KHADIM_AUTOMATION_MAX_BYTES);
      return NULL;
    }
  text[length] = '\0';
  if (strlen (text) != length)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                   "there is a NUL byte at offset %" G_GSIZE_FORMAT, strlen (text));
      return NULL;
    }

  return g_realloc (g_steal_pointer (&text), length + 1);
}

/**
 * khadim_automation_load:
 * @folder: the folder of an automation
 * @toolbox: the tools that its steps may use
 * @out_place: (out) (nullable): as in khadim_automation_new_from_text()
 * @error: (nullable): as there, or a #GIOErrorEnum
 *
 * Reads `automation.json` in @folder. Blocks on the disk. Any thread.
 *
 * Returns: (transfer full) (nullable): the automation
 */
KhadimAutomation *
khadim_automation_load (const char     *folder,
                        KhadimToolbox  *toolbox,
                        char          **out_place,
                        GError        **error)
{
  g_autofree char *absolute = NULL;
  g_autofree char *path = NULL;
  g_autofree char *text = NULL;
  KhadimAutomation *self = NULL;

  g_return_val_if_fail (folder != NULL, NULL);

  absolute = g_canonicalize_filename (folder, NULL);
  path = g_build_filename (absolute, KHADIM_AUTOMATION_FILE, NULL);
  text = read_document (path, error);
  if (text != NULL)
    self = khadim_automation_new_from_text (text, absolute, toolbox, out_place, error);
  if (self == NULL)
    g_prefix_error (error, "%s: ", path);

  return self;
}

/**
 * khadim_automation_get_name:
 * @self: an automation
 *
 * Returns: (transfer none): its name for people
 */
const char *
khadim_automation_get_name (KhadimAutomation *self)
{
  g_return_val_if_fail (KHADIM_IS_AUTOMATION (self), NULL);

  return khadim_json_get_string (khadim_automation_get_document (self), "name", "");
}

/**
 * khadim_automation_get_folder:
 * @self: an automation
 *
 * Returns: (transfer none): its folder, absolute
 */
const char *
khadim_automation_get_folder (KhadimAutomation *self)
{
  g_return_val_if_fail (KHADIM_IS_AUTOMATION (self), NULL);

  return self->folder;
}

/**
 * khadim_automation_get_text:
 * @self: an automation
 *
 * The document as it was read: what a session keeps, so that a later edit
 * does not change a run under way.
 *
 * Returns: (transfer none): the text
 */
const char *
khadim_automation_get_text (KhadimAutomation *self)
{
  g_return_val_if_fail (KHADIM_IS_AUTOMATION (self), NULL);

  return self->text;
}

/**
 * khadim_automation_get_document:
 * @self: an automation
 *
 * Returns: (transfer none): the document; not to be changed
 */
JsonObject *
khadim_automation_get_document (KhadimAutomation *self)
{
  g_return_val_if_fail (KHADIM_IS_AUTOMATION (self), NULL);

  return json_node_get_object (self->document);
}

GPtrArray *
_khadim_automation_get_steps (KhadimAutomation *self)
{
  return self->steps;
}

/**
 * khadim_automation_has_step:
 * @self: an automation
 * @id: the id of a step
 *
 * Returns: whether a step of that id stands at the top of the document, where
 *   a run can begin
 */
gboolean
khadim_automation_has_step (KhadimAutomation *self,
                            const char       *id)
{
  g_return_val_if_fail (KHADIM_IS_AUTOMATION (self), FALSE);

  for (guint i = 0; i < self->steps->len; i++)
    if (strcmp (((KhadimStep *) self->steps->pdata[i])->id, id) == 0)
      return TRUE;

  return FALSE;
}

/* A value of the terminal is text; its schema tells what it is meant to be. */
static JsonNode *
read_input (const char *text,
            const char *type)
{
  g_autoptr(JsonNode) node = NULL;

  if (type == NULL || strcmp (type, "string") != 0)
    node = khadim_json_parse (text, -1, NULL, NULL);
  if (node != NULL)
    return g_steal_pointer (&node);

  return khadim_json_string (text);
}

/**
 * khadim_automation_parse_input:
 * @self: an automation
 * @assignment: `key=value`; a value whose property is not a string is read as
 *   JSON
 * @inputs: the object that gets the member
 * @error: (nullable): `KHADIM_ENGINE_ERROR_INVALID` without a `=`, or for an
 *   input that the automation does not have
 *
 * Reads an input as a terminal gives it. Any thread.
 *
 * Returns: whether it was taken
 */
gboolean
khadim_automation_parse_input (KhadimAutomation  *self,
                               const char        *assignment,
                               JsonObject        *inputs,
                               GError           **error)
{
  const char *equals;
  g_autofree char *key = NULL;
  JsonObject *schema, *properties, *property;

  g_return_val_if_fail (KHADIM_IS_AUTOMATION (self), FALSE);

  equals = strchr (assignment, '=');
  if (equals == NULL || equals == assignment || !g_utf8_validate (assignment, -1, NULL))
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                   "an input is written KEY=VALUE");
      return FALSE;
    }
  key = g_strndup (assignment, equals - assignment);
  schema = khadim_json_get_object (khadim_automation_get_document (self), "inputs");
  properties = schema != NULL ? khadim_json_get_object (schema, "properties") : NULL;
  property = properties != NULL ? khadim_json_get_object (properties, key) : NULL;
  if (property == NULL)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                   "the automation has no input “%s”", key);
      return FALSE;
    }
  json_object_set_member (inputs, key,
                          read_input (equals + 1, khadim_json_get_string (property, "type", NULL)));

  return TRUE;
}

static void
add_defaults (JsonObject *schema,
              JsonObject *inputs)
{
  JsonObject *properties = khadim_json_get_object (schema, "properties");
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  json_object_iter_init_ordered (&iter, properties);
  while (json_object_iter_next_ordered (&iter, &name, &node))
    {
      JsonNode *fallback = JSON_NODE_HOLDS_OBJECT (node)
                             ? khadim_json_get (json_node_get_object (node), "default")
                             : NULL;

      if (fallback != NULL && !json_object_has_member (inputs, name))
        json_object_set_member (inputs, name, json_node_copy (fallback));
    }
}

/**
 * khadim_automation_complete_inputs:
 * @self: an automation
 * @given: (nullable): the inputs of a run
 * @error: (nullable): `KHADIM_ENGINE_ERROR_INVALID`, the message begins with
 *   `inputs.`
 *
 * Adds the defaults and checks against the automation's `inputs`. Any thread.
 *
 * Returns: (transfer full) (nullable): the inputs of the run, an object
 */
JsonNode *
khadim_automation_complete_inputs (KhadimAutomation  *self,
                                   JsonObject        *given,
                                   GError           **error)
{
  g_autoptr(JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  g_autofree char *place = NULL;
  JsonObject *inputs = json_object_new ();
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  g_return_val_if_fail (KHADIM_IS_AUTOMATION (self), NULL);

  json_node_take_object (node, inputs);
  if (given != NULL)
    {
      json_object_iter_init_ordered (&iter, given);
      while (json_object_iter_next_ordered (&iter, &name, &value))
        json_object_set_member (inputs, name, json_node_copy (value));
    }
  if (self->inputs == NULL)
    {
      if (json_object_get_size (inputs) == 0)
        return g_steal_pointer (&node);
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                   "inputs: the automation takes none");
      return NULL;
    }

  add_defaults (khadim_json_get_object (khadim_automation_get_document (self), "inputs"), inputs);
  if (!khadim_schema_check (self->inputs, node, KHADIM_SCHEMA_FLAGS_NONE, &place, error))
    {
      g_prefix_error (error, "inputs: ");
      return NULL;
    }

  return g_steal_pointer (&node);
}

static gboolean
holds_automation (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, KHADIM_AUTOMATION_FILE, NULL);

  return g_file_test (path, G_FILE_TEST_IS_REGULAR);
}

/* A name means a folder beside the one that names it, then one of the
 * person's automations. */
static char *
resolve_name (const char *name,
              const char *base_folder)
{
  g_autofree char *file = g_strconcat (name, KHADIM_AUTOMATION_SUFFIX, NULL);
  g_autofree char *beside = g_build_filename (base_folder, "..", file, NULL);
  g_autofree char *own = g_build_filename (g_get_user_data_dir (), "khadim", "automations", file,
                                           NULL);

  if (holds_automation (beside))
    return g_canonicalize_filename (beside, NULL);
  if (holds_automation (own))
    return g_canonicalize_filename (own, NULL);

  return NULL;
}

/**
 * khadim_automation_resolve:
 * @name: the folder of an automation, relative to @base_folder, or the name
 *   of one
 * @base_folder: an absolute folder
 * @error: (nullable): `KHADIM_ENGINE_ERROR_NOT_FOUND`, or `_INVALID` for a
 *   name that cannot be one
 *
 * Finds the folder that @name stands for: that folder itself, `NAME.khadim`
 * beside @base_folder, or in the person's `khadim/automations`. Any thread.
 *
 * Returns: (transfer full) (nullable): its absolute path
 */
char *
khadim_automation_resolve (const char  *name,
                           const char  *base_folder,
                           GError     **error)
{
  g_autofree char *folder = NULL;
  char *found = NULL;

  g_return_val_if_fail (name != NULL && base_folder != NULL, NULL);

  if (*name == '\0' || strlen (name) > 4096)
    {
      g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID,
                   "an automation's name has 1 to 4096 bytes");
      return NULL;
    }
  folder = g_canonicalize_filename (name, base_folder);
  if (holds_automation (folder))
    return g_steal_pointer (&folder);
  if (strchr (name, '/') == NULL)
    found = resolve_name (name, base_folder);
  if (found == NULL)
    g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_NOT_FOUND,
                 "there is no automation “%s”: no folder %s with a file %s", name, folder,
                 KHADIM_AUTOMATION_FILE);

  return found;
}
