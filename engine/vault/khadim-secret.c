/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-secret"

#include "config.h"

#include "engine/vault/khadim-secret.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* KhadimSecret: each has pages of its own, so that locking one into memory
 * and wiping it touches nothing else. */
struct _KhadimSecret
{
  gatomicrefcount ref_count;

  char *text; /* owned: mapped, with a NUL behind it */
  gsize length;
  gsize mapped_bytes;
};

G_DEFINE_BOXED_TYPE (KhadimSecret, khadim_secret, khadim_secret_ref, khadim_secret_unref)
G_DEFINE_QUARK (khadim-vault-error-quark, khadim_vault_error)

/* Locking is best effort: RLIMIT_MEMLOCK may be used up, and the secret is
 * needed all the same. */
static char *
map_pages (gsize size)
{
  void *pages = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (pages == MAP_FAILED)
    g_error ("No memory for a secret");
  if (mlock (pages, size) != 0)
    g_debug ("A secret cannot be locked into memory: %s", g_strerror (errno));
  if (madvise (pages, size, MADV_DONTDUMP) != 0)
    g_debug ("A secret cannot be kept out of core files: %s", g_strerror (errno));

  return pages;
}

static KhadimSecret *
secret_alloc (gsize length)
{
  gsize page_bytes = (gsize) sysconf (_SC_PAGESIZE);
  KhadimSecret *self = g_new0 (KhadimSecret, 1);

  g_atomic_ref_count_init (&self->ref_count);
  self->length = length;
  self->mapped_bytes = (length / page_bytes + 1) * page_bytes;
  self->text = map_pages (self->mapped_bytes);

  return self;
}

/**
 * khadim_secret_new:
 * @text: the secret
 * @length: bytes of @text, or -1 if it ends with a NUL
 * @error: return location
 *
 * Copies a secret into memory of its own. The caller wipes @text. Any thread.
 *
 * Returns: (transfer full): the secret, or %NULL with
 *   %KHADIM_VAULT_ERROR_INVALID if it is longer than
 *   %KHADIM_SECRET_MAX_BYTES or has a NUL in it
 */
KhadimSecret *
khadim_secret_new (const char  *text,
                   gssize       length,
                   GError     **error)
{
  KhadimSecret *self;
  gsize n_bytes;

  g_return_val_if_fail (text != NULL, NULL);

  n_bytes = length < 0 ? strlen (text) : (gsize) length;
  if (n_bytes > KHADIM_SECRET_MAX_BYTES)
    {
      g_set_error_literal (error, KHADIM_VAULT_ERROR, KHADIM_VAULT_ERROR_INVALID,
                           "The secret is longer than 64 KiB");
      return NULL;
    }
  if (memchr (text, '\0', n_bytes) != NULL)
    {
      g_set_error_literal (error, KHADIM_VAULT_ERROR, KHADIM_VAULT_ERROR_INVALID,
                           "The secret has a NUL in it");
      return NULL;
    }

  self = secret_alloc (n_bytes);
  memcpy (self->text, text, n_bytes);

  return self;
}

/* Whether a format has one %s, any number of %%, and no other %. */
static gboolean
check_format (const char  *format,
              GError     **error)
{
  guint n_places = 0;

  for (const char *c = strchr (format, '%'); c != NULL; c = strchr (c + 2, '%'))
    {
      if (c[1] != 's' && c[1] != '%')
        {
          g_set_error (error, KHADIM_VAULT_ERROR, KHADIM_VAULT_ERROR_INVALID,
                       "“format” may have %%s and %%%% in it, not “%%%.*s”",
                       c[1] == '\0' ? 0 : (int) (g_utf8_next_char (c + 1) - c - 1), c + 1);
          return FALSE;
        }
      n_places += c[1] == 's';
    }

  if (n_places != 1 || strlen (format) > KHADIM_SECRET_MAX_FORMAT_BYTES)
    {
      g_set_error_literal (error, KHADIM_VAULT_ERROR, KHADIM_VAULT_ERROR_INVALID,
                           n_places != 1 ? "“format” must have %s in it once"
                                         : "“format” is longer than 1024 bytes");
      return FALSE;
    }

  return TRUE;
}

/**
 * khadim_secret_new_formatted:
 * @self: a secret
 * @format: a format as in a reference
 * @error: return location
 *
 * Puts a secret into a text such as `Bearer %s`. Any thread.
 *
 * Returns: (transfer full): the text, or %NULL with
 *   %KHADIM_VAULT_ERROR_INVALID if @format is not well formed
 */
KhadimSecret *
khadim_secret_new_formatted (KhadimSecret  *self,
                             const char    *format,
                             GError       **error)
{
  KhadimSecret *formatted;
  char *end;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (format != NULL, NULL);

  if (!check_format (format, error))
    return NULL;

  formatted = secret_alloc (self->length + strlen (format));
  end = formatted->text;
  for (const char *c = format; *c != '\0'; c++)
    {
      if (*c != '%')
        *end++ = *c;
      else if (*++c == '%')
        *end++ = '%';
      else
        end = (char *) memcpy (end, self->text, self->length) + self->length;
    }
  formatted->length = (gsize) (end - formatted->text);

  return formatted;
}

/**
 * khadim_secret_ref:
 * @self: a secret
 *
 * Any thread.
 *
 * Returns: (transfer full): @self
 */
KhadimSecret *
khadim_secret_ref (KhadimSecret *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

/**
 * khadim_secret_unref:
 * @self: a secret
 *
 * Drops a reference; with the last one the memory is wiped. Any thread.
 */
void
khadim_secret_unref (KhadimSecret *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  explicit_bzero (self->text, self->mapped_bytes);
  munmap (self->text, self->mapped_bytes);
  g_free (self);
}

/**
 * khadim_secret_get_text:
 * @self: a secret
 *
 * The secret itself. Copy it nowhere but where it is used. Any thread.
 *
 * Returns: (transfer none): the text, with a NUL at its end
 */
const char *
khadim_secret_get_text (KhadimSecret *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->text;
}

/**
 * khadim_secret_get_length:
 * @self: a secret
 *
 * Any thread.
 *
 * Returns: the length of the text in bytes
 */
gsize
khadim_secret_get_length (KhadimSecret *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->length;
}

static gboolean
is_name (const char *name,
         gsize       length)
{
  if (length == 0 || length > KHADIM_SECRET_MAX_NAME_BYTES
      || !g_utf8_validate_len (name, length, NULL))
    return FALSE;

  for (const char *c = name; c < name + length; c = g_utf8_next_char (c))
    {
      if (!g_unichar_isprint (g_utf8_get_char (c)))
        return FALSE;
    }

  return TRUE;
}

/**
 * khadim_secret_reference_split:
 * @reference: `name/field`
 * @out_name: (out) (transfer full): the part before the last slash
 * @out_field: (out) (transfer full): the part after it
 * @error: return location
 *
 * Takes a reference apart. Both parts are printable texts of at most
 * %KHADIM_SECRET_MAX_NAME_BYTES; the outputs are untouched on failure. Any
 * thread.
 *
 * Returns: %FALSE with %KHADIM_VAULT_ERROR_INVALID
 */
gboolean
khadim_secret_reference_split (const char  *reference,
                               char       **out_name,
                               char       **out_field,
                               GError     **error)
{
  const char *slash;

  g_return_val_if_fail (reference != NULL, FALSE);
  g_return_val_if_fail (out_name != NULL && out_field != NULL, FALSE);

  slash = strrchr (reference, '/');
  if (slash == NULL || !is_name (reference, (gsize) (slash - reference))
      || !is_name (slash + 1, strlen (slash + 1)))
    {
      g_set_error_literal (error, KHADIM_VAULT_ERROR, KHADIM_VAULT_ERROR_INVALID,
                           "A secret is written as “name/field”, each of 1 to 128 bytes");
      return FALSE;
    }

  *out_name = g_strndup (reference, (gsize) (slash - reference));
  *out_field = g_strdup (slash + 1);

  return TRUE;
}

/**
 * khadim_secret_is_reference:
 * @node: a value
 *
 * Whether @node is an object with a member `secret`, so that it must be a
 * reference. Any thread.
 *
 * Returns: whether it is
 */
gboolean
khadim_secret_is_reference (JsonNode *node)
{
  g_return_val_if_fail (node != NULL, FALSE);

  return JSON_NODE_HOLDS_OBJECT (node)
         && json_object_has_member (json_node_get_object (node), "secret");
}

/* Refuses members that a reference does not have, and ones that are no text. */
static gboolean
check_members (JsonObject  *object,
               GError     **error)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &member))
    {
      if (!g_str_equal (name, "secret") && !g_str_equal (name, "format"))
        {
          g_set_error (error, KHADIM_VAULT_ERROR, KHADIM_VAULT_ERROR_INVALID,
                       "A secret has “secret” and “format”, not “%s”", name);
          return FALSE;
        }
      if (json_node_get_value_type (member) != G_TYPE_STRING)
        {
          g_set_error (error, KHADIM_VAULT_ERROR, KHADIM_VAULT_ERROR_INVALID,
                       "“%s” of a secret must be text", name);
          return FALSE;
        }
    }

  return TRUE;
}

/**
 * khadim_secret_reference_parse:
 * @node: `{"secret": "name/field"}`, with an optional `"format": "Bearer %s"`
 * @out_name: (out) (transfer full): the name
 * @out_field: (out) (transfer full): the field
 * @out_format: (out) (nullable) (transfer full): the format, with one `%s`
 *   and any number of `%%`; %NULL if there is none
 * @error: return location
 *
 * Reads a reference to a secret as it stands in a document. The outputs are
 * untouched on failure. Any thread.
 *
 * Returns: %FALSE with %KHADIM_VAULT_ERROR_INVALID
 */
gboolean
khadim_secret_reference_parse (JsonNode  *node,
                               char     **out_name,
                               char     **out_field,
                               char     **out_format,
                               GError   **error)
{
  JsonObject *object;
  const char *format = NULL;

  g_return_val_if_fail (node != NULL, FALSE);
  g_return_val_if_fail (out_format != NULL, FALSE);

  if (!khadim_secret_is_reference (node))
    {
      g_set_error_literal (error, KHADIM_VAULT_ERROR, KHADIM_VAULT_ERROR_INVALID,
                           "A secret is written as {\"secret\": \"name/field\"}");
      return FALSE;
    }

  object = json_node_get_object (node);
  if (!check_members (object, error))
    return FALSE;
  if (json_object_has_member (object, "format"))
    format = json_object_get_string_member (object, "format");
  if (format != NULL && !check_format (format, error))
    return FALSE;
  if (!khadim_secret_reference_split (json_object_get_string_member (object, "secret"), out_name,
                                      out_field, error))
    return FALSE;

  *out_format = g_strdup (format);

  return TRUE;
}
