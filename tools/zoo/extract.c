/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Archives are read in place: each part is found in a pass of its own, and nothing but the file
 * that the row states is written. Every byte that is written goes through the hash.
 */
#include "tools/zoo/extract.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "tools/zoo/tar.h"

#define PIECE 65536

/* The file as it is written. */
typedef struct
{
  const SlZooFile *file;
  const char *path;
  int fd;
  guint64 size;
  GChecksum *hash;
} Output;

/* Where bytes are read: one of both. */
typedef struct
{
  SlTar *tar;
  GInputStream *stream;
  guint64 left; /* G_MAXUINT64 = unknown */
} Input;

static GInputStream *
open_file (const char *place, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (GFile) file = g_file_new_for_path (place);
  GFileInputStream *stream = g_file_read (file, NULL, &cause);
  if (stream == NULL)
    sl_fail (error, SL_ERROR_OPEN, "%s: cannot be read: %s", place, cause->message);
  return (GInputStream *) stream;
}

/* 0 at the end; below 0 an error. */
static gssize
read_piece (Input *input, guint8 *piece, GError **error)
{
  const gsize n = (gsize) MIN (input->left, PIECE);
  g_autoptr (GError) cause = NULL;
  gssize got = (gssize) n;
  if (n == 0)
    return 0;
  if (input->tar != NULL)
    return sl_tar_read (input->tar, piece, n, error) ? (gssize) n : -1;
  got = g_input_stream_read (input->stream, piece, n, NULL, &cause);
  if (got < 0)
    sl_fail (error, SL_ERROR_OPEN, "the file cannot be read: %s", cause->message);
  return got;
}

static gboolean
write_piece (Output *output, const guint8 *piece, gsize n, GError **error)
{
  g_checksum_update (output->hash, piece, (gssize) n);
  output->size += n;
  while (n > 0) {
    const gssize written = write (output->fd, piece, n);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return sl_fail (error, SL_ERROR_OPEN, "%s: cannot be written: %s; make room and run it again",
                      output->path, g_strerror (errno));
    piece += written;
    n -= (gsize) written;
  }
  return TRUE;
}

/* Moves past the bytes before the slice and leaves as many as it has. */
static gboolean
enter_slice (Input *input, const SlZooSlice *slice, GError **error)
{
  guint8 piece[PIECE];
  const guint64 end = slice->first + slice->length;
  if (slice->length == 0)
    return TRUE;
  if (input->left != G_MAXUINT64 && end > input->left)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "expected a file of at least %" G_GUINT64_FORMAT
                    " bytes, got %" G_GUINT64_FORMAT,
                    end, input->left);
  input->left = slice->first;
  while (input->left > 0) {
    const gssize n = read_piece (input, piece, error);
    if (n < 0)
      return FALSE;
    if (n == 0)
      break;
    input->left -= (guint64) n;
  }
  if (input->left > 0)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "expected a file of at least %" G_GUINT64_FORMAT " bytes", end);
  input->left = slice->length;
  return TRUE;
}

static gboolean
copy (Input *input, Output *output, GError **error)
{
  guint8 piece[PIECE];
  if (!enter_slice (input, &output->file->slice, error))
    return FALSE;
  for (;;) {
    const gssize n = read_piece (input, piece, error);
    if (n <= 0)
      return n == 0;
    if ((guint64) n > output->file->most - output->size)
      return sl_fail (error, SL_ERROR_LIMIT,
                      "the file has more than the %" G_GUINT64_FORMAT " bytes that the row states",
                      output->file->most);
    if (!write_piece (output, piece, (gsize) n, error))
      return FALSE;
    if (input->left != G_MAXUINT64)
      input->left -= (guint64) n;
  }
}

static gboolean
copy_part (const char *place, const char *part, Output *output, GError **error)
{
  g_autoptr (GInputStream) packed = open_file (place, error);
  if (packed == NULL)
    return FALSE;
  g_autoptr (GZlibDecompressor) unpack = g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP);
  g_autoptr (GInputStream) stream = g_converter_input_stream_new (packed, G_CONVERTER (unpack));
  g_autoptr (SlTar) tar = sl_tar_new (stream, SL_TAR_MOST);
  Input input = { .tar = tar };
  return sl_tar_find (tar, part, &input.left, error) && copy (&input, output, error);
}

static gboolean
copy_parts (const char *place, Output *output, GError **error)
{
  const char *const *paths = output->file->paths;
  if (paths == NULL) {
    g_autoptr (GInputStream) stream = open_file (place, error);
    Input input = { .stream = stream, .left = G_MAXUINT64 };
    return stream != NULL && copy (&input, output, error);
  }
  for (guint i = 0; paths[i] != NULL; i++)
    if (!copy_part (place, paths[i], output, error))
      return FALSE;
  return TRUE;
}

static gboolean
check_hash (const Output *output, GError **error)
{
  const SlZooFile *file = output->file;
  const char *got = g_checksum_get_string (output->hash);
  if (file->size > 0 && output->size != file->size)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "the file is not the one that the row describes: expected %" G_GUINT64_FORMAT
                    " bytes, got %" G_GUINT64_FORMAT,
                    file->size, output->size);
  return g_str_equal (got, file->sha256)
         || sl_fail (error, SL_ERROR_FORMAT,
                     "the file is not the one that the row describes: expected sha256 %s, got %s; "
                     "nothing of it was kept",
                     file->sha256, got);
}

gboolean
sl_zoo_extract (const char *place, const SlZooFile *file, const char *to, GError **error)
{
  g_autoptr (GChecksum) hash = g_checksum_new (G_CHECKSUM_SHA256);
  Output output = { .file = file, .path = to, .hash = hash };
  output.fd = open (to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (output.fd < 0)
    return sl_fail (error, SL_ERROR_OPEN, "%s: cannot be written: %s", to, g_strerror (errno));
  gboolean good = copy_parts (place, &output, error) && check_hash (&output, error);
  const gboolean stored = fsync (output.fd) == 0; /* before the folder gets its name */
  const gboolean closed = close (output.fd) == 0;
  if (good && !(stored && closed))
    good = sl_fail (error, SL_ERROR_OPEN, "%s: cannot be written: %s", to, g_strerror (errno));
  if (!good)
    unlink (to);
  return good;
}

char *
sl_zoo_hash (const char *path, GError **error)
{
  guint8 piece[PIECE];
  g_autoptr (GInputStream) stream = open_file (path, error);
  g_autoptr (GChecksum) hash = g_checksum_new (G_CHECKSUM_SHA256);
  Input input = { .stream = stream, .left = G_MAXUINT64 };
  gssize n = stream != NULL ? 1 : -1;
  while (n > 0 && (n = read_piece (&input, piece, error)) > 0)
    g_checksum_update (hash, piece, n);
  return n == 0 ? g_strdup (g_checksum_get_string (hash)) : NULL;
}
