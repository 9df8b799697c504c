/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-tool-encoding"

#include "config.h"

#include "engine/tool/khadim-tool-io-private.h"

#include <string.h>

/* Between the bytes of a file and the UTF-8 text of a value: `utf-8`,
 * `utf-8-bom` (with the mark that some spreadsheets want), `base64`
 * (RFC 4648, for what is no text), or any encoding that iconv knows. */

#define BOM "\357\273\277"

static gboolean
is_encoding (const char *encoding,
             const char *name)
{
  return g_ascii_strcasecmp (encoding, name) == 0;
}

/* Names go to iconv_open(3), where `//` starts options: letters, digits and
 * the marks of registered names are enough. */
static gboolean
check_encoding_name (const char  *encoding,
                     GError     **error)
{
  gsize len = strlen (encoding);

  if (len > 0
      && len <= KHADIM_TOOL_IO_MAX_ENCODING_BYTES
      && strspn (encoding, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._:-") == len)
    return TRUE;

  g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
               "“%.40s” is no name of an encoding", encoding);
  return FALSE;
}

static char *
convert (const char  *data,
         gsize        size,
         const char  *to,
         const char  *from,
         gsize       *out_size,
         GError     **error)
{
  g_autoptr(GError) local = NULL;
  gsize n_read = 0;
  char *converted;

  converted = g_convert (data, (gssize) size, to, from, &n_read, out_size, &local);
  /* Given where to count, it does not mind an end in mid-character. */
  if (converted != NULL && n_read == size)
    return converted;
  g_clear_pointer (&converted, g_free);

  if (g_error_matches (local, G_CONVERT_ERROR, G_CONVERT_ERROR_NO_CONVERSION))
    g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                 "There is no encoding “%s” on this computer",
                 is_encoding (to, "UTF-8") ? from : to);
  else
    g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                 "The content cannot be converted from %s to %s: "
                 "byte %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " is where it fails",
                 from, to, n_read, size);

  return NULL;
}

static char *
check_utf8 (const char  *data,
            gsize        size,
            GError     **error)
{
  const char *end = data;

  if (size == 0 || g_utf8_validate_len (data, size, &end))
    return g_strndup (size > 0 ? data : "", size);

  if (*end == '\0')
    g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                 "Byte %" G_GSIZE_FORMAT " is NUL: that is no text; read it as base64",
                 (gsize) (end - data));
  else
    g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                 "Byte %" G_GSIZE_FORMAT " (0x%02X) is not valid UTF-8: "
                 "name the right encoding, or read it as base64",
                 (gsize) (end - data), (guint) (guchar) *end);

  return NULL;
}

/* Bytes to UTF-8. Bytes are counted from 0 in the errors. A byte order mark is
 * no part of the text. */
char *
_khadim_tool_io_decode (GBytes      *content,
                        const char  *encoding,
                        GError     **error)
{
  gsize size;
  const char *data = g_bytes_get_data (content, &size);
  g_autofree char *converted = NULL;

  if (encoding != NULL && is_encoding (encoding, "base64"))
    return g_base64_encode (size > 0 ? (const guchar *) data : (const guchar *) "", size);

  if (encoding != NULL && !is_encoding (encoding, "utf-8") && !is_encoding (encoding, "utf-8-bom"))
    {
      if (!check_encoding_name (encoding, error))
        return NULL;
      converted = convert (size > 0 ? data : "", size, "UTF-8", encoding, &size, error);
      if (converted == NULL)
        return NULL;
      data = converted;
    }

  if (size >= strlen (BOM) && memcmp (data, BOM, strlen (BOM)) == 0)
    return check_utf8 (data + strlen (BOM), size - strlen (BOM), error);

  return check_utf8 (data, size, error);
}

static GBytes *
decode_base64 (const char  *text,
               GError     **error)
{
  g_autofree guchar *data = NULL;
  gsize len = strlen (text);
  gsize n_data = strspn (text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "+/");
  gsize n_pad = strspn (text + n_data, "=");
  gsize size = 0;

  if (len % 4 != 0 || n_data + n_pad != len || n_pad > 2)
    {
      g_set_error (error, KHADIM_TOOL_ERROR, KHADIM_TOOL_ERROR_TOOL,
                   "The text is not base64: character %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
                   " does not fit", n_data + MIN (n_pad, 2), len);
      return NULL;
    }

  data = g_base64_decode (text, &size);

  return g_bytes_new_take (g_steal_pointer (&data), size);
}

/* UTF-8 to bytes, the reverse of decoding. */
GBytes *
_khadim_tool_io_encode (const char  *text,
                        const char  *encoding,
                        GError     **error)
{
  gsize size = strlen (text);
  char *converted;

  if (encoding == NULL || is_encoding (encoding, "utf-8"))
    return g_bytes_new (text, size);
  if (is_encoding (encoding, "utf-8-bom"))
    {
      converted = g_strconcat (BOM, text, NULL);
      return g_bytes_new_take (converted, size + strlen (BOM));
    }
  if (is_encoding (encoding, "base64"))
    return decode_base64 (text, error);

  if (!check_encoding_name (encoding, error))
    return NULL;
  converted = convert (text, size, encoding, "UTF-8", &size, error);

  return converted != NULL ? g_bytes_new_take (converted, size) : NULL;
}
