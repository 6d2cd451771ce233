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
#include "core/base/thread_pool.h"
#include "core/base/xxh64.h"
#include "core/graph/tensor.h"

#define HEAD 4096
#define ROWS 1024
/* Blocks that a thread takes at once, about how long that takes, and threads of a search. */
#define PIECE 4
#define PIECE_US 300
#define THREADS_MOST 4
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
sl_vector_file_exists (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, SL_VECTOR_FILE, NULL);
  return g_file_test (path, G_FILE_TEST_EXISTS);
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

/* Of one thread: @code: of an error, 0 = none */
typedef struct
{
  gint8 *block;
  SlSearchHit *hits;
  guint n;
  gint code;
} Worker;

typedef struct
{
  const SlVectorFile *file;
  gint64 places;
  const guint8 *mask; /* (nullable) */
  const gint8 *query;
  gfloat scale;
  guint most;
  Worker *workers;
} Scan;

/* FALSE at the end of the file, which may be shorter than it was, and where it cannot be read. */
static gboolean
scan_block (const Scan *scan, Worker *worker, gint64 first)
{
  const SlVectorFile *file = scan->file;
  const gsize bytes = ROWS * (file->stride + sizeof (gfloat)); /* without the checksums */
  const guint count = (guint) MIN (scan->places - first, ROWS);
  gfloat *scales = (gfloat *) (gpointer) (worker->block + ROWS * file->stride);
  const gssize got =
    read_at (file->fd, worker->block, bytes, HEAD + first / ROWS * (gint64) block_bytes (file));
  if (got < 0)
    worker->code = errno;
  if (got <= 0)
    return FALSE;
  memset (worker->block + got, 0, bytes - (gsize) got);
  bound_scales (scales, count, scan->mask != NULL ? scan->mask + first : NULL);
  const SlSearchTable table = { count, file->stride, worker->block, scales };
  worker->n = sl_search_more (&table, (gsize) first, scan->query, scan->scale, scan->most,
                              worker->hits, worker->n);
  return TRUE;
}

static void
scan_piece (const void *data, guint item, guint thread)
{
  const Scan *scan = data;
  const gint64 end = MIN (scan->places, (item + G_GINT64_CONSTANT (1)) * PIECE * ROWS);
  for (gint64 first = (gint64) item * PIECE * ROWS; first < end; first += ROWS)
    if (!scan_block (scan, &scan->workers[thread], first))
      return;
}

static gint
best_first (gconstpointer a, gconstpointer b)
{
  const SlSearchHit *first = a, *second = b;
  if (first->cosine != second->cosine)
    return first->cosine < second->cosine ? 1 : -1;
  return first->row < second->row ? -1 : first->row > second->row;
}

/* The best of all @threads. */
static void
collect (const Scan *scan, guint threads, SlSearchHit *hits, guint *n)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (SlSearchHit));
  for (guint i = 0; i < threads; i++)
    g_array_append_vals (all, scan->workers[i].hits, scan->workers[i].n);
  g_array_sort (all, best_first);
  *n = MIN (all->len, scan->most);
  if (*n > 0)
    memcpy (hits, all->data, *n * sizeof *hits);
}

/* FALSE where there is no memory. */
static gboolean
prepare_workers (const Scan *scan, guint threads)
{
  gboolean good = TRUE;
  for (guint i = 0; i < threads; i++) {
    Worker *worker = &scan->workers[i];
    worker->hits = g_new (SlSearchHit, scan->most);
    worker->block = sl_tensor_buffer_new (ROWS * (scan->file->stride + sizeof (gfloat)));
    good = good && worker->block != NULL;
  }
  return good;
}

gboolean
sl_vector_file_search (const SlVectorFile *file, gint64 places, const guint8 *mask,
                       const gfloat *vector, guint most, SlSearchHit *hits, guint *n,
                       GError **error)
{
  const guint items = (guint) ((places + PIECE * ROWS - 1) / (PIECE * ROWS));
  SlPool *pool =
    items > 1 ? sl_pool_new (CLAMP (g_get_num_processors (), 2, THREADS_MOST), NULL) : NULL;
  const guint threads = sl_pool_threads (pool);
  g_autofree Worker *workers = g_new0 (Worker, threads);
  gint8 *query = sl_tensor_buffer_new (file->stride);
  Scan scan = { file, places, mask, query, 0, most, workers };
  gint code = prepare_workers (&scan, threads) && query != NULL ? 0 : ENOMEM;
  *n = 0;
  if (code == 0) {
    scan.scale = sl_search_pack (vector, file->length, query);
    sl_pool_run (pool, scan_piece, &scan, items, PIECE_US * items);
    collect (&scan, threads, hits, n);
  }
  for (guint i = 0; i < threads; i++) {
    code = workers[i].code != 0 ? workers[i].code : code;
    sl_tensor_buffer_free (workers[i].block);
    g_free (workers[i].hits);
  }
  sl_tensor_buffer_free (query);
  sl_pool_free (pool);
  return code == 0 || sl_fail (error, SL_ERROR_OPEN, SL_VECTOR_FILE ": %s", g_strerror (code));
}
