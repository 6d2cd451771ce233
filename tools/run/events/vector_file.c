/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Behind a page with what the file is of come blocks of ROWS places: their numbers, their scales,
 * their checksums. A search reads block by block into memory that the processor's cache holds. What
 * a file says is not believed: scales are bounded, and hits are compared with their checksums.
 */
#include "tools/run/events/vector_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "core/base/xxh64.h"
#include "core/graph/tensor.h"

#define HEAD 4096
#define ROWS 1024
/* The largest of 8-bit numbers is 127, so no vector of length 1 has a larger scale. */
#define SCALE_MOST (1.0f / 127)

static gsize
block_bytes (const SlVectorFile *file)
{
  return ROWS * (file->stride + sizeof (gfloat) + sizeof (guint64));
}

static void
make_head (char head[HEAD], const char *hash, guint length)
{
  memset (head, 0, HEAD);
  g_snprintf (head, HEAD, "sightline embeddings 1\n%s\n%u numbers\n", hash, length);
}

/* All of @bytes, or less at the end of the file. */
static gssize
read_at (gint fd, void *bytes, gsize size, gint64 offset)
{
  gsize done = 0;
  while (done < size) {
    const gssize n = pread (fd, (char *) bytes + done, size - done, offset + (gint64) done);
    if (n < 0 && errno != EINTR)
      return -1;
    if (n == 0)
      break;
    done += n > 0 ? (gsize) n : 0;
  }
  return (gssize) done;
}

static gboolean
write_at (gint fd, const void *bytes, gsize size, gint64 offset, GError **error)
{
  gsize done = 0;
  while (done < size) {
    const gssize n = pwrite (fd, (const char *) bytes + done, size - done, offset + (gint64) done);
    if (n < 0 && errno != EINTR)
      return sl_fail (error, SL_ERROR_OPEN, SL_VECTOR_FILE ": %s", g_strerror (errno));
    done += n > 0 ? (gsize) n : 0;
  }
  return TRUE;
}

static gint
open_in (const char *folder, gint flags, GError **error)
{
  g_autofree char *path = g_build_filename (folder, SL_VECTOR_FILE, NULL);
  struct stat status;
  const gint fd = open (path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0640);
  const gint code = errno;
  if (fd >= 0 && fstat (fd, &status) == 0 && S_ISREG (status.st_mode))
    return fd;
  if (fd >= 0)
    close (fd);
  sl_fail (error, code == ENOENT ? SL_ERROR_FORMAT : SL_ERROR_OPEN, "%s: %s", path,
           fd < 0 ? g_strerror (code) : "expected a regular file");
  return -1;
}

gboolean
sl_vector_file_open (SlVectorFile *file, const char *folder, const char *hash, guint length,
                     GError **error)
{
  char wanted[HEAD], found[HEAD];
  *file = (SlVectorFile){ open_in (folder, O_RDWR, NULL), length, sl_search_stride (length) };
  if (file->fd < 0)
    file->fd = open_in (folder, O_RDONLY, error);
  if (file->fd < 0)
    return FALSE;
  make_head (wanted, hash, length);
  if (read_at (file->fd, found, HEAD, 0) == HEAD && memcmp (wanted, found, HEAD) == 0)
    return TRUE;
  sl_vector_file_close (file);
  return sl_fail (error, SL_ERROR_FORMAT, "%s/" SL_VECTOR_FILE ": it is of another model", folder);
}

gboolean
sl_vector_file_create (SlVectorFile *file, const char *folder, const char *hash, guint length,
                       GError **error)
{
  g_autofree char *path = g_build_filename (folder, SL_VECTOR_FILE, NULL);
  char head[HEAD];
  *file = (SlVectorFile){ -1, length, sl_search_stride (length) };
  if (unlink (path) != 0 && errno != ENOENT)
    return sl_fail (error, SL_ERROR_OPEN, "%s: %s", path, g_strerror (errno));
  file->fd = open_in (folder, O_RDWR | O_CREAT | O_EXCL, error);
  make_head (head, hash, length);
  if (file->fd >= 0 && write_at (file->fd, head, HEAD, 0, error))
    return TRUE;
  sl_vector_file_close (file);
  return FALSE;
}

void
sl_vector_file_close (SlVectorFile *file)
{
  if (file->stride > 0 && file->fd >= 0)
    close (file->fd);
  *file = (SlVectorFile){ .fd = -1 };
}

static guint64
checksum (const SlVectorFile *file, const gint8 *numbers, gfloat scale, gint64 id)
{
  return sl_xxh64 (numbers, file->stride, sl_xxh64 (&scale, sizeof scale, (guint64) id));
}

/* Where the numbers, the scale and the checksum at @place are. */
static void
find_place (const SlVectorFile *file, gint64 place, gint64 at[3])
{
  const gint64 row = place % ROWS, block = HEAD + place / ROWS * (gint64) block_bytes (file),
               scales = block + ROWS * (gint64) file->stride,
               checksums = scales + ROWS * (gint64) sizeof (gfloat);
  at[0] = block + row * (gint64) file->stride;
  at[1] = scales + row * (gint64) sizeof (gfloat);
  at[2] = checksums + row * (gint64) sizeof (guint64);
}

static gboolean
put (SlVectorFile *file, gint64 place, const gint8 *numbers, gfloat scale, guint64 sum,
     GError **error)
{
  gint64 at[3];
  find_place (file, place, at);
  return write_at (file->fd, numbers, file->stride, at[0], error)
         && write_at (file->fd, &scale, sizeof scale, at[1], error)
         && write_at (file->fd, &sum, sizeof sum, at[2], error);
}

gboolean
sl_vector_file_write (SlVectorFile *file, gint64 place, gint64 id, const gfloat *vector,
                      GError **error)
{
  g_autofree gint8 *numbers = g_malloc0 (file->stride);
  const gfloat scale = sl_search_pack (vector, file->length, numbers);
  return put (file, place, numbers, scale, checksum (file, numbers, scale, id), error);
}

gboolean
sl_vector_file_wipe (SlVectorFile *file, gint64 place, GError **error)
{
  g_autofree gint8 *numbers = g_malloc0 (file->stride);
  return put (file, place, numbers, 0, 0, error);
}

gboolean
sl_vector_file_sync (SlVectorFile *file, GError **error)
{
  return fdatasync (file->fd) == 0
         || sl_fail (error, SL_ERROR_OPEN, SL_VECTOR_FILE ": %s", g_strerror (errno));
}

gboolean
sl_vector_file_read (const SlVectorFile *file, gint64 place, gint64 id, gfloat *vector)
{
  g_autofree gint8 *numbers = g_malloc0 (file->stride);
  gfloat scale;
  guint64 sum;
  gint64 at[3];
  find_place (file, place, at);
  if (read_at (file->fd, numbers, file->stride, at[0]) != (gssize) file->stride
      || read_at (file->fd, &scale, sizeof scale, at[1]) != sizeof scale
      || read_at (file->fd, &sum, sizeof sum, at[2]) != sizeof sum
      || sum != checksum (file, numbers, scale, id))
    return FALSE;
  for (guint i = 0; i < file->length; i++)
    vector[i] = numbers[i];
  return TRUE;
}

/* What does not count, and what no vector has, gets the scale 0. */
static void
bound_scales (gfloat *scales, guint n, const guint8 *mask)
{
  for (guint i = 0; i < n; i++)
    if (!(scales[i] > 0 && scales[i] <= SCALE_MOST) || (mask != NULL && mask[i] == 0))
      scales[i] = 0;
}

gboolean
sl_vector_file_search (const SlVectorFile *file, gint64 places, const guint8 *mask,
                       const gfloat *vector, guint most, SlSearchHit *hits, guint *n,
                       GError **error)
{
  const gsize bytes = ROWS * (file->stride + sizeof (gfloat)); /* without the checksums */
  gint8 *query = sl_tensor_buffer_new (file->stride), *block = sl_tensor_buffer_new (bytes);
  gboolean good = query != NULL && block != NULL;
  const gfloat scale = good ? sl_search_pack (vector, file->length, query) : 0;
  gfloat *scales = (gfloat *) (gpointer) (block + ROWS * file->stride);
  *n = 0;
  if (!good)
    sl_fail (error, SL_ERROR_LIMIT, SL_VECTOR_FILE ": no memory for %" G_GSIZE_FORMAT " bytes",
             bytes);
  for (gint64 first = 0; good && first < places; first += ROWS) {
    const guint count = (guint) MIN (places - first, ROWS);
    const gssize got =
      read_at (file->fd, block, bytes, HEAD + first / ROWS * (gint64) block_bytes (file));
    if (got < 0)
      good = sl_fail (error, SL_ERROR_OPEN, SL_VECTOR_FILE ": %s", g_strerror (errno));
    if (got <= 0) /* it is shorter than it was */
      break;
    memset (block + got, 0, bytes - (gsize) got);
    bound_scales (scales, count, mask != NULL ? mask + first : NULL);
    const SlSearchTable table = { count, file->stride, block, scales };
    *n = sl_search_more (&table, (gsize) first, query, scale, most, hits, *n);
  }
  sl_tensor_buffer_free (query);
  sl_tensor_buffer_free (block);
  return good;
}
