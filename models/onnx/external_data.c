/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes are read from the file into the graph's memory, and again when they are needed once more
 * and the file is still the same.
 */
#include "models/onnx/external_data.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "core/graph/constants.h"
#include "models/data_file.h"
#include "models/onnx/reader.h"

/* Bytes of one constant in a file beside the model, and of all together. */
#define MAX_EXTERNAL SL_MAX_TENSOR_BYTES
#define MAX_COPIED (G_GUINT64_CONSTANT (4) << 30)

/* Where the bytes of a constant are: @relative to @folder, neither of which has a link. */
typedef struct
{
  char *folder, *relative;
  guint64 offset;
  gsize bytes;
  SlFileStamp stamp;
} Piece;

gboolean
onnx_may_copy (Lower *o, const char *constant, guint64 bytes)
{
  o->copied += bytes;
  if (o->copied > o->may_copy + o->granted)
    lower_fail (
      o, SL_ERROR_LIMIT,
      "constant '%s': copies of the constants would be much larger than the files that hold them",
      constant);
  return o->error == NULL;
}

/* Opens @relative below @folder without following a link. */
static int
open_below (const char *folder, const char *relative)
{
  g_auto (GStrv) parts = g_strsplit (relative, "/", -1);
  int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (guint i = 0; parts[i] != NULL && fd >= 0; i++) {
    const int how = parts[i + 1] != NULL ? O_RDONLY | O_DIRECTORY : O_RDONLY | O_NONBLOCK;
    const int next = openat (fd, parts[i], how | O_NOFOLLOW | O_CLOEXEC), failed = errno;
    close (fd);
    fd = next;
    errno = failed;
  }
  return fd;
}

/* Whether the name that a constant gives for its file can be one in the model's folder. */
static gboolean
stays_inside (const char *location)
{
  g_auto (GStrv) parts = g_strsplit (location, "/", -1);
  gboolean inside =
    location[0] != '\0' && !g_path_is_absolute (location) && strchr (location, '\\') == NULL;
  for (guint i = 0; parts[i] != NULL; i++)
    inside = inside && strcmp (parts[i], "..") != 0;
  return inside;
}

/* A file beside the model, or below it: names that lead elsewhere are refused, links that do, too.
 * Sets folder and name of @piece. */
static int
open_beside (Lower *o, const OnnxExternal *where, Piece *piece, struct stat *status)
{
  if (!stays_inside (where->location)) {
    lower_fail (
      o, SL_ERROR_FORMAT,
      "constant '%s': its data would lie in '%s'; expected a file inside the model's folder",
      where->constant, where->location);
    return -1;
  }
  g_autofree char *path = g_build_filename (onnx_reader (o)->folder, where->location, NULL);
  g_autofree char *folder = realpath (onnx_reader (o)->folder, NULL),
                  *real = folder != NULL ? realpath (path, NULL) : NULL;
  int failed = errno;
  const gsize length = folder != NULL ? strlen (folder) : 0, skipped = length > 1 ? length + 1 : 1;
  if (real != NULL
      && (strncmp (real, folder, length) != 0 || (length > 1 && real[length] != '/'))) {
    lower_fail (
      o, SL_ERROR_FORMAT,
      "constant '%s': '%s' is a link out of the model's folder; put the file itself there",
      where->constant, where->location);
    return -1;
  }
  const int fd = real != NULL ? open_below (folder, real + skipped) : -1;
  if (real != NULL)
    failed = errno;
  if (fd >= 0 && fstat (fd, status) == 0 && S_ISREG (status->st_mode)) {
    piece->folder = g_strdup (folder);
    piece->relative = g_strdup (real + skipped);
    return fd;
  }
  lower_fail (o, SL_ERROR_OPEN,
              "constant '%s': cannot read its data in '%s': %s; put that file beside the model",
              where->constant, path, fd >= 0 ? "not a file" : g_strerror (failed));
  if (fd >= 0)
    close (fd);
  return -1;
}

static gboolean
read_piece (void *memory, gpointer data, GError **error)
{
  const Piece *piece = data;
  const int fd = open_below (piece->folder, piece->relative);
  gsize got = 0;
  gssize n = 1;
  while (fd >= 0 && got < piece->bytes && n > 0) {
    n = pread (fd, (guint8 *) memory + got, piece->bytes - got, (off_t) (piece->offset + got));
    got += n > 0 ? (gsize) n : 0;
  }
  SlFileStamp now;
  const gboolean good = got == piece->bytes && fd >= 0 && sl_file_stamp_of (fd, &now)
                        && sl_file_stamp_same_content (&now, &piece->stamp);
  if (fd >= 0)
    close (fd);
  return good
         || sl_fail (error, SL_ERROR_OPEN,
                     "the file '%s' with the model's weights has changed since it was opened; load "
                     "the model again",
                     piece->relative);
}

static void
piece_free (gpointer data)
{
  Piece *piece = data;
  g_free (piece->folder);
  g_free (piece->relative);
  g_free (piece);
}

/* (nullable): takes @piece. A file that was just written to may be so again without a trace: what
 * was read of it stays. */
static const guint8 *
read_bytes (Lower *o, Piece *piece)
{
  if (!sl_file_stamp_is_fresh (&piece->stamp))
    return sl_graph_make_constant (o->graph, piece->bytes, read_piece, piece, piece_free,
                                   &o->error);
  guint8 *data = sl_tensor_alloc (o->arena, piece->bytes);
  const gboolean good = read_piece (data, piece, &o->error);
  piece_free (piece);
  return good ? data : NULL;
}

static gboolean
check_place (Lower *o, const OnnxExternal *where, gsize bytes, guint64 size)
{
  if (bytes > MAX_EXTERNAL)
    lower_fail (o, SL_ERROR_LIMIT, "constant '%s': it has more than 1 GiB", where->constant);
  else if (where->offset > size || bytes > size - where->offset
           || (where->has_length && where->length != bytes))
    lower_fail (o, SL_ERROR_FORMAT,
                "constant '%s': %" G_GSIZE_FORMAT " bytes from byte %" G_GUINT64_FORMAT
                " of '%s', which has %" G_GUINT64_FORMAT "; the files do not belong together",
                where->constant, bytes, where->offset, where->location, size);
  return o->error == NULL;
}

const guint8 *
onnx_read_external (Lower *o, const OnnxExternal *where, gsize bytes)
{
  struct stat status;
  Piece *piece = g_new0 (Piece, 1);
  const guint8 *data = NULL;
  const int fd = open_beside (o, where, piece, &status);
  if (fd >= 0 && check_place (o, where, bytes, (guint64) status.st_size)) {
    const guint64 size = MIN ((guint64) status.st_size, MAX_COPIED / 4);
    o->may_copy = MAX (o->may_copy, 4 * size + 4 * (guint64) onnx_reader (o)->file->pb.size);
    sl_file_stamp_init (&piece->stamp, &status);
    piece->offset = where->offset;
    piece->bytes = bytes;
    if (onnx_may_copy (o, where->constant, bytes))
      data = read_bytes (o, g_steal_pointer (&piece));
  }
  if (data != NULL)
    sl_data_files_note (&onnx_reader (o)->data_files, where->location, where->offset, data, bytes);
  if (piece != NULL)
    piece_free (piece);
  if (fd >= 0)
    close (fd);
  return data;
}
