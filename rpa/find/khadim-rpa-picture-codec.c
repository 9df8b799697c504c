/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-picture-codec"

#include "config.h"

#include "rpa/find/khadim-rpa-picture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

#include "rpa/screen/khadim-rpa-error.h"

#include "rpa/find/khadim-rpa-picture-private.h"

#ifndef JCS_EXTENSIONS
#error "libjpeg-turbo is needed: rows of blue, green, red, unused"
#endif

/* Level 1 with the Sub filter only: three times as fast as the defaults on
 * screen pictures, for files that are little larger. */
#define PNG_LEVEL 1
#define PNG_BUFFER_BYTES (64 * 1024)

/* RFC 1951: deflate gives at most 258 bytes for 2 bits, 1032 for 1. What claims
 * more than that cannot be true, and no memory is taken for it. */
#define DEFLATE_MAX_RATIO 1032

#define PNG_MAX_CHUNK_BYTES (8 * 1024 * 1024)
#define PNG_MAX_CHUNKS 64

#define MESSAGE_BYTES 160

/* What libpng's callbacks share. Everything that lives across its longjmp is in
 * here rather than in a local variable. */
typedef struct
{
  png_structp   png;
  png_infop     info;
  const guint8 *data;
  gsize         size;
  gsize         offset;
  GByteArray   *out;
  guint8       *pixels;
  guint8      **rows;
  png_uint_32   width;
  png_uint_32   height;
  gboolean      has_alpha;
  gboolean      limited;
  char          message[MESSAGE_BYTES];
} PngState;

G_NORETURN static void
on_png_error (png_structp     png,
              png_const_charp message)
{
  PngState *state = png_get_error_ptr (png);

  g_strlcpy (state->message, message, sizeof state->message);
  png_longjmp (png, 1);
}

static void
on_png_warning (png_structp     png,
                png_const_charp message)
{
  PngState *state = png_get_error_ptr (png);

  /* libpng tells of its limits in a warning, then fails with another text. */
  state->limited = state->limited || strstr (message, "exceeds user limit") != NULL;
  g_debug ("PNG: %s", message);
}

static void
on_png_read (png_structp png,
             png_bytep   buffer,
             size_t      length)
{
  PngState *state = png_get_io_ptr (png);

  if (length > state->size - state->offset)
    png_error (png, "the data ends early");

  memcpy (buffer, state->data + state->offset, length);
  state->offset += length;
}

static void
on_png_write (png_structp png,
              png_bytep   buffer,
              size_t      length)
{
  PngState *state = png_get_io_ptr (png);

  g_byte_array_append (state->out, buffer, (guint) length);
}

static void
on_png_flush (png_structp png)
{
}

static void
set_transforms (PngState *state)
{
  png_set_expand (state->png);
  png_set_scale_16 (state->png);
  png_set_gray_to_rgb (state->png);
  png_set_bgr (state->png);
  png_set_add_alpha (state->png, 0xff, PNG_FILLER_AFTER);
  png_set_interlace_handling (state->png);
}

static gboolean
read_header (PngState *state)
{
  if (setjmp (png_jmpbuf (state->png)) != 0)
    return FALSE;

  png_set_user_limits (state->png, KHADIM_RPA_PICTURE_MAX_SIDE_PX,
                       KHADIM_RPA_PICTURE_MAX_SIDE_PX);
  png_set_chunk_malloc_max (state->png, PNG_MAX_CHUNK_BYTES);
  png_set_chunk_cache_max (state->png, PNG_MAX_CHUNKS);
  png_set_read_fn (state->png, state, on_png_read);
  png_read_info (state->png, state->info);
  state->width = png_get_image_width (state->png, state->info);
  state->height = png_get_image_height (state->png, state->info);
  state->has_alpha = (png_get_color_type (state->png, state->info) & PNG_COLOR_MASK_ALPHA) != 0
                     || png_get_valid (state->png, state->info, PNG_INFO_tRNS) != 0;

  return TRUE;
}

/* What the image data inflates to, which the size of the file bounds. */
static guint64
inflated_bytes (PngState *state)
{
  guint64 bits = (guint64) png_get_bit_depth (state->png, state->info)
                 * png_get_channels (state->png, state->info);

  return (state->width * bits + 7) / 8 * state->height;
}

static gboolean
check_bomb (PngState  *state,
            GError   **error)
{
  if (!_khadim_rpa_picture_check_size ((int) state->width, (int) state->height, error))
    return FALSE;

  if (inflated_bytes (state) / DEFLATE_MAX_RATIO <= state->size)
    return TRUE;

  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
               "PNG, byte 16: %ux%u px cannot come out of %" G_GSIZE_FORMAT " bytes",
               (guint) state->width, (guint) state->height, state->size);
  return FALSE;
}

static gboolean
read_rows (PngState *state)
{
  if (setjmp (png_jmpbuf (state->png)) != 0)
    return FALSE;

  set_transforms (state);
  png_read_update_info (state->png, state->info);
  png_read_image (state->png, state->rows);
  png_read_end (state->png, NULL);

  return TRUE;
}

static gboolean
set_png_error (PngState  *state,
               GError   **error)
{
  g_set_error (error, KHADIM_RPA_ERROR,
               state->limited ? KHADIM_RPA_ERROR_LIMIT : KHADIM_RPA_ERROR_INVALID,
               "PNG, byte %" G_GSIZE_FORMAT ": %s", state->offset, state->message);
  return FALSE;
}

static gboolean
alloc_rows (PngState  *state,
            GError   **error)
{
  gsize row_bytes = (gsize) state->width * KHADIM_RPA_PIXEL_BYTES;

  state->pixels = g_try_malloc (row_bytes * state->height);
  if (state->pixels == NULL)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
                   "No memory for a picture of %ux%u px", (guint) state->width,
                   (guint) state->height);
      return FALSE;
    }

  state->rows = g_new (guint8 *, state->height);
  for (png_uint_32 y = 0; y < state->height; y++)
    state->rows[y] = state->pixels + (gsize) y * row_bytes;

  return TRUE;
}

static gboolean
decode_png (PngState  *state,
            GError   **error)
{
  if (!read_header (state))
    return set_png_error (state, error);

  if (!check_bomb (state, error) || !alloc_rows (state, error))
    return FALSE;

  if (!read_rows (state))
    return set_png_error (state, error);

  return TRUE;
}

static gboolean
check_encoded (gsize    size,
               GError **error)
{
  if (size <= KHADIM_RPA_PICTURE_MAX_ENCODED_BYTES)
    return TRUE;

  g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_LIMIT,
               "PNG of %" G_GSIZE_FORMAT " bytes: more than %d are not read", size,
               KHADIM_RPA_PICTURE_MAX_ENCODED_BYTES);
  return FALSE;
}

/**
 * khadim_rpa_picture_from_png:
 * @png: a PNG file's content, at most
 *   %KHADIM_RPA_PICTURE_MAX_ENCODED_BYTES long
 * @error: return location for an error
 *
 * Reads a PNG (ISO/IEC 15948) of any colour type. The size that the file claims
 * is checked before memory is taken for it, and against what its data can
 * inflate to (RFC 1951). Any thread.
 *
 * Returns: (transfer full) (nullable): the picture, or %NULL with
 *   %KHADIM_RPA_ERROR_INVALID (the text names the byte) or
 *   %KHADIM_RPA_ERROR_LIMIT
 */
KhadimRpaPicture *
khadim_rpa_picture_from_png (GBytes  *png,
                             GError **error)
{
  KhadimRpaPicture *self = NULL;
  PngState state = { NULL };

  g_return_val_if_fail (png != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  state.data = g_bytes_get_data (png, &state.size);
  if (!check_encoded (state.size, error))
    return NULL;

  state.png = png_create_read_struct (PNG_LIBPNG_VER_STRING, &state, on_png_error,
                                      on_png_warning);
  state.info = png_create_info_struct (state.png);
  if (decode_png (&state, error))
    {
      self = _khadim_rpa_picture_take (g_steal_pointer (&state.pixels), (int) state.width,
                                       (int) state.height, NULL);
      self->has_alpha = state.has_alpha;
    }

  png_destroy_read_struct (&state.png, &state.info, NULL);
  g_free (state.rows);
  g_free (state.pixels);

  return self;
}

static gboolean
write_png (PngState               *state,
           const KhadimRpaPicture *self)
{
  int colour = self->has_alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB;

  if (setjmp (png_jmpbuf (state->png)) != 0)
    return FALSE;

  png_set_write_fn (state->png, state, on_png_write, on_png_flush);
  png_set_compression_buffer_size (state->png, PNG_BUFFER_BYTES);
  png_set_compression_level (state->png, PNG_LEVEL);
  png_set_filter (state->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
  png_set_user_limits (state->png, KHADIM_RPA_PICTURE_MAX_SIDE_PX,
                       KHADIM_RPA_PICTURE_MAX_SIDE_PX);
  png_set_IHDR (state->png, state->info, (png_uint_32) self->width_px,
                (png_uint_32) self->height_px, 8, colour, PNG_INTERLACE_NONE,
                PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info (state->png, state->info);
  png_set_bgr (state->png);
  if (!self->has_alpha)
    png_set_filler (state->png, 0, PNG_FILLER_AFTER);

  for (int y = 0; y < self->height_px; y++)
    png_write_row (state->png, _khadim_rpa_picture_row (self, y));
  png_write_end (state->png, NULL);

  return TRUE;
}

/**
 * khadim_rpa_picture_to_png:
 * @self: a picture
 * @error: return location for an error
 *
 * Writes a PNG (ISO/IEC 15948) of 24 bits a pixel, 32 with opacity, made for
 * speed. Any thread; costs about 10 ms a megapixel.
 *
 * Returns: (transfer full) (nullable): the file's content, or %NULL with
 *   %KHADIM_RPA_ERROR_FAILED
 */
GBytes *
khadim_rpa_picture_to_png (const KhadimRpaPicture  *self,
                           GError                 **error)
{
  PngState state = { NULL };
  g_autoptr(GByteArray) out = NULL;
  gboolean written;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  out = g_byte_array_sized_new (PNG_BUFFER_BYTES);
  state.out = out;
  state.png = png_create_write_struct (PNG_LIBPNG_VER_STRING, &state, on_png_error,
                                       on_png_warning);
  state.info = png_create_info_struct (state.png);
  written = write_png (&state, self);
  png_destroy_write_struct (&state.png, &state.info);

  if (!written)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FAILED, "Writing a PNG: %s",
                   state.message);
      return NULL;
    }

  return g_byte_array_free_to_bytes (g_steal_pointer (&out));
}

typedef struct
{
  struct jpeg_error_mgr base;
  jmp_buf               jump;
  char                  message[JMSG_LENGTH_MAX];
} JpegError;

G_NORETURN static void
on_jpeg_error (j_common_ptr info)
{
  JpegError *failure = (JpegError *) info->err;

  failure->base.format_message (info, failure->message);
  longjmp (failure->jump, 1);
}

static void
on_jpeg_message (j_common_ptr info)
{
}

static gboolean
write_jpeg (struct jpeg_compress_struct  *info,
            JpegError                    *failure,
            const KhadimRpaPicture       *self,
            int                           quality,
            guint8                      **out_data,
            unsigned long                *out_size)
{
  if (setjmp (failure->jump) != 0)
    return FALSE;

  jpeg_create_compress (info);
  jpeg_mem_dest (info, out_data, out_size);
  info->image_width = (JDIMENSION) self->width_px;
  info->image_height = (JDIMENSION) self->height_px;
  info->input_components = KHADIM_RPA_PIXEL_BYTES;
  info->in_color_space = JCS_EXT_BGRX;
  jpeg_set_defaults (info);
  jpeg_set_quality (info, quality, TRUE);
  jpeg_start_compress (info, TRUE);
  while (info->next_scanline < info->image_height)
    {
      JSAMPROW row = (JSAMPROW) _khadim_rpa_picture_row (self, (int) info->next_scanline);

      jpeg_write_scanlines (info, &row, 1);
    }
  jpeg_finish_compress (info);

  return TRUE;
}

/**
 * khadim_rpa_picture_to_jpeg:
 * @self: a picture
 * @quality: 1 to 100
 * @max_side_px: pictures with a longer side are made smaller first; 0 for never
 * @error: return location for an error
 *
 * Writes a JPEG (ISO/IEC 10918-1, baseline); opacity is left out. Any thread.
 *
 * Returns: (transfer full) (nullable): the file's content, or %NULL with
 *   %KHADIM_RPA_ERROR_INVALID for a quality or a side out of range,
 *   %KHADIM_RPA_ERROR_FAILED otherwise
 */
GBytes *
khadim_rpa_picture_to_jpeg (KhadimRpaPicture  *self,
                            int                quality,
                            int                max_side_px,
                            GError           **error)
{
  struct jpeg_compress_struct info = { NULL };
  JpegError failure = { 0 };
  g_autoptr(KhadimRpaPicture) small = NULL;
  guint8 *data = NULL;
  unsigned long size = 0;
  gboolean written;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (quality < 1 || quality > 100 || max_side_px < 0)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_INVALID,
                   "JPEG: quality %d is not in 1 to 100, or the side %d px is negative", quality,
                   max_side_px);
      return NULL;
    }

  small = max_side_px > 0 ? khadim_rpa_picture_fit (self, max_side_px, error)
                          : khadim_rpa_picture_ref (self);
  if (small == NULL)
    return NULL;

  info.err = jpeg_std_error (&failure.base);
  failure.base.error_exit = on_jpeg_error;
  failure.base.output_message = on_jpeg_message;
  written = write_jpeg (&info, &failure, small, quality, &data, &size);
  jpeg_destroy_compress (&info);

  if (!written)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FAILED, "Writing a JPEG: %s",
                   failure.message);
      free (data);
      return NULL;
    }

  return g_bytes_new_with_free_func (data, size, free, data);
}

static FILE *
open_bounded (const char  *path,
              GError     **error)
{
  FILE *file = fopen (path, "rbe");
  int saved = errno;

  if (file == NULL)
    g_set_error (error, KHADIM_RPA_ERROR,
                 saved == ENOENT ? KHADIM_RPA_ERROR_NOT_FOUND : KHADIM_RPA_ERROR_FAILED,
                 "%s: %s", path, g_strerror (saved));

  return file;
}

/* Reads at most one byte more than is allowed, whatever kind of file it is. */
static GBytes *
read_bounded (const char  *path,
              GError     **error)
{
  g_autoptr(GByteArray) content = g_byte_array_new ();
  g_autofree guint8 *buffer = g_malloc (PNG_BUFFER_BYTES);
  FILE *file = open_bounded (path, error);
  gboolean failed;
  gsize got;

  if (file == NULL)
    return NULL;

  do
    {
      got = fread (buffer, 1, PNG_BUFFER_BYTES, file);
      g_byte_array_append (content, buffer, (guint) got);
    }
  while (got > 0 && content->len <= KHADIM_RPA_PICTURE_MAX_ENCODED_BYTES);
  failed = ferror (file) != 0;
  fclose (file);

  if (failed)
    {
      g_set_error (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FAILED, "%s: cannot be read", path);
      return NULL;
    }

  return g_byte_array_free_to_bytes (g_steal_pointer (&content));
}

/**
 * khadim_rpa_picture_load:
 * @path: (type filename): a PNG file
 * @error: return location for an error
 *
 * Reads a PNG file; see [func@Picture.from_png]. Any thread; blocks on the disk.
 *
 * Returns: (transfer full) (nullable): the picture, or %NULL with
 *   %KHADIM_RPA_ERROR_NOT_FOUND, %KHADIM_RPA_ERROR_INVALID,
 *   %KHADIM_RPA_ERROR_LIMIT or %KHADIM_RPA_ERROR_FAILED; the text begins with
 *   @path
 */
KhadimRpaPicture *
khadim_rpa_picture_load (const char  *path,
                         GError     **error)
{
  g_autoptr(GBytes) content = NULL;
  KhadimRpaPicture *self;

  g_return_val_if_fail (path != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  content = read_bounded (path, error);
  if (content == NULL)
    return NULL;

  self = khadim_rpa_picture_from_png (content, error);
  if (self == NULL)
    g_prefix_error (error, "%s: ", path);

  return self;
}

/**
 * khadim_rpa_picture_save_png:
 * @self: a picture
 * @path: (type filename): the file to write or replace
 * @error: return location for an error
 *
 * Writes a PNG file: all of it or none. Any thread; blocks on the disk.
 *
 * Returns: whether it is written; otherwise %KHADIM_RPA_ERROR_FAILED
 */
gboolean
khadim_rpa_picture_save_png (const KhadimRpaPicture  *self,
                             const char              *path,
                             GError                 **error)
{
  g_autoptr(GBytes) png = NULL;
  g_autoptr(GError) local = NULL;
  const char *data;
  gsize size;

  g_return_val_if_fail (self != NULL, FALSE);
  g_return_val_if_fail (path != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  png = khadim_rpa_picture_to_png (self, error);
  if (png == NULL)
    return FALSE;

  data = g_bytes_get_data (png, &size);
  if (g_file_set_contents_full (path, data, (gssize) size, G_FILE_SET_CONTENTS_CONSISTENT, 0644,
                                &local))
    return TRUE;

  g_set_error_literal (error, KHADIM_RPA_ERROR, KHADIM_RPA_ERROR_FAILED, local->message);
  return FALSE;
}
