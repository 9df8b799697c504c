/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-json-file"

#include "config.h"

#include "engine/json/khadim-json.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/json/khadim-json-private.h"

#define READ_BLOCK_BYTES 65536

static void
set_file_error (GError    **error,
                int         number,
                const char *verb)
{
  KhadimEngineError code = KHADIM_ENGINE_ERROR_FAILED;

  if (number == ENOENT || number == ENOTDIR)
    code = KHADIM_ENGINE_ERROR_NOT_FOUND;
  else if (number == EACCES || number == EPERM)
    code = KHADIM_ENGINE_ERROR_DENIED;

  g_set_error (error, KHADIM_ENGINE_ERROR, code, "cannot be %s: %s", verb, g_strerror (number));
}

/* Reads @fd to its end; the size of a file can change meanwhile. */
static GString *
read_bounded (int      fd,
              gsize    max_bytes,
              GError **error)
{
  g_autoptr(GString) text = g_string_new (NULL);

  while (TRUE)
    {
      gsize before = text->len;
      gssize got;

      g_string_set_size (text, before + READ_BLOCK_BYTES);
      got = TEMP_FAILURE_RETRY (read (fd, text->str + before, READ_BLOCK_BYTES));
      if (got < 0)
        {
          set_file_error (error, errno, "read");
          return NULL;
        }
      g_string_set_size (text, before + (gsize) got);
      if (got == 0)
        return g_steal_pointer (&text);
      if (text->len > max_bytes)
        {
          _khadim_json_set_size_error (error, max_bytes);
          return NULL;
        }
    }
}

static int
open_regular (const char *path,
              gsize       max_bytes,
              GError    **error)
{
  struct stat info;
  /* O_NONBLOCK, so that a pipe with no writer does not hold us up. */
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

  if (fd < 0)
    {
      set_file_error (error, errno, "opened");
      return -1;
    }
  if (fstat (fd, &info) < 0)
    set_file_error (error, errno, "read");
  else if (!S_ISREG (info.st_mode))
    g_set_error (error, KHADIM_ENGINE_ERROR, KHADIM_ENGINE_ERROR_INVALID, "is not a file");
  else if ((guint64) info.st_size > max_bytes)
    _khadim_json_set_size_error (error, max_bytes);
  else
    return fd;

  close (fd);
  return -1;
}

/**
 * khadim_json_load_file:
 * @path: of a regular file
 * @limits: (nullable): how much to take, %NULL for the defaults
 * @error: return location
 *
 * Reads a file as [func@Khadim.json_parse] does. A file larger than the limit is
 * refused before it is read, and anything but a regular file too. Blocks for as
 * long as the disk does. Any thread.
 *
 * Errors: those of [func@Khadim.json_parse], %KHADIM_ENGINE_ERROR_NOT_FOUND,
 * %KHADIM_ENGINE_ERROR_DENIED and %KHADIM_ENGINE_ERROR_FAILED; the texts begin
 * with the path.
 *
 * Returns: (transfer full): the value, or %NULL with @error set
 */
JsonNode *
khadim_json_load_file (const char             *path,
                       const KhadimJsonLimits *limits,
                       GError                **error)
{
  KhadimJsonLimits full = _khadim_json_limits_fill (limits);
  g_autofree char *name = NULL;
  g_autoptr(GString) text = NULL;
  JsonNode *node = NULL;
  int fd;

  g_return_val_if_fail (path != NULL, NULL);

  name = g_filename_display_name (path);
  fd = open_regular (path, full.max_bytes, error);
  if (fd >= 0)
    {
      text = read_bounded (fd, full.max_bytes, error);
      close (fd);
    }
  if (text != NULL)
    node = khadim_json_parse (text->str, (gssize) text->len, &full, error);
  if (node == NULL)
    g_prefix_error (error, "%s: ", name);

  return node;
}
