/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An anonymous mapping, filled by pread() and read-only afterwards, and a flag for each of its
 * pages. The file stays open, so that pages come back from the file that was read, also when
 * another has its name by then.
 */
#include "core/graph/file_image.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "core/base/pages.h"
#include "core/base/thread_count.h"
#include "core/graph/product.h"
#include "core/graph/tensor.h"

/* Filesystems stamp files with the time of the last timer tick, up to 10 ms ago: two writes within
 * a tick look like one. */
#define TICK_NS (20 * G_GINT64_CONSTANT (1000000))

/* Bytes of a file that a thread reads at a time, a huge page, and most threads. */
#define PIECE ((gsize) 2 << 20)
#define MAX_THREADS 4
/* Smaller files have pages of the usual size: a huge page stays in memory for one page of it. */
#define HUGE_BYTES ((gsize) 16 << 20)
#define CHECKSUM_PIECE ((gsize) 1 << 16)
/* How many times the file may be read again before what is spared stays until the last user is
 * done: a file may have thousands of nodes that read the same bytes, one after the other. */
#define MAX_AGAIN 4

/* Flags of a page. */
enum
{
  PAGE_KEPT = 1,  /* some session reads it while it runs */
  PAGE_SPARE = 2, /* may go when nobody uses the image */
  PAGE_GONE = 4,  /* reads as zeros now */
};

struct _SlFileImage
{
  gatomicrefcount refs;
  int fd;
  SlFileStamp stamp;
  guint8 *data;
  gsize size, mapped, page;
  GMutex lock;
  guint users;      /* lock */
  gsize again;      /* lock: bytes that were read again since the first of them came */
  guint8 *pages;    /* lock: PAGE_ flags */
  GArray *products; /* of SlProduct, in floats from the start of the image */
};

static gint64
nanoseconds (const struct timespec *time)
{
  return (gint64) time->tv_sec * 1000000000 + time->tv_nsec;
}

void
sl_file_stamp_init (SlFileStamp *stamp, const struct stat *info)
{
  struct timespec now;
  clock_gettime (CLOCK_REALTIME, &now);
  *stamp = (SlFileStamp){
    .device = (guint64) info->st_dev,
    .inode = (guint64) info->st_ino,
    .size = (gint64) info->st_size,
    .written = nanoseconds (&info->st_mtim),
    .changed = nanoseconds (&info->st_ctim),
    .seen = nanoseconds (&now),
  };
}

gboolean
sl_file_stamp_read (const char *path, SlFileStamp *stamp)
{
  struct stat info;
  if (stat (path, &info) != 0)
    return FALSE;
  sl_file_stamp_init (stamp, &info);
  return TRUE;
}

gboolean
sl_file_stamp_same_content (const SlFileStamp *a, const SlFileStamp *b)
{
  return a->device == b->device && a->inode == b->inode && a->size == b->size
         && a->written == b->written;
}

/* A time to come is of a clock that is wrong, and no such moment. */
gboolean
sl_file_stamp_is_fresh (const SlFileStamp *stamp)
{
  return stamp->seen >= stamp->written && stamp->seen - stamp->written < TICK_NS;
}

gboolean
sl_file_stamp_of (int fd, SlFileStamp *stamp)
{
  struct stat info;
  if (fstat (fd, &info) != 0)
    return FALSE;
  sl_file_stamp_init (stamp, &info);
  return TRUE;
}

/* FALSE when the file ends before, or cannot be read. */
static gboolean
read_range (const SlFileImage *image, gsize from, gsize to, GError **error)
{
  while (from < to) {
    const gssize n = pread (image->fd, image->data + from, to - from, (off_t) from);
    if (n > 0)
      from += (gsize) n;
    else if (n == 0 || errno != EINTR) {
      return sl_fail (error, SL_ERROR_OPEN,
                      "cannot read byte %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT ": %s", from,
                      image->size, n == 0 ? "the file was cut short" : g_strerror (errno));
    }
  }
  return TRUE;
}

/* What the threads that fill an image share. */
typedef struct
{
  const SlFileImage *image;
  gsize next; /* atomic: of the pieces, which are taken in the file's order */
  GMutex lock;
  GError *error; /* lock: (nullable): the first one */
} Filling;

/* Its memory comes just before the bytes do, while the processor's cache has it. */
static gpointer
fill_pieces (gpointer data)
{
  Filling *filling = data;
  const SlFileImage *image = filling->image;
  gsize at;
  while ((at = (gsize) g_atomic_pointer_add (&filling->next, PIECE)) < image->size) {
    g_autoptr (GError) error = NULL;
    sl_pages_fill (image->data + at, MIN (PIECE, image->mapped - at));
    if (read_range (image, at, MIN (at + PIECE, image->size), &error))
      continue;
    g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&filling->lock);
    if (filling->error == NULL)
      filling->error = g_steal_pointer (&error);
    break;
  }
  return NULL;
}

/* On all processors, since the system clears the pages: that takes longer than copying. */
static gboolean
read_all (const SlFileImage *image, GError **error)
{
  Filling filling = { .image = image };
  GThread *threads[MAX_THREADS - 1];
  const gsize pieces = image->size / PIECE;
  const guint n = (guint) MIN (MIN (pieces, MAX_THREADS), sl_threads_resolve (0));
  g_mutex_init (&filling.lock);
  for (guint i = 1; i < n; i++)
    threads[i - 1] = g_thread_try_new ("sl-read", fill_pieces, &filling, NULL);
  fill_pieces (&filling);
  for (guint i = 1; i < n; i++)
    if (threads[i - 1] != NULL)
      g_thread_join (threads[i - 1]);
  g_mutex_clear (&filling.lock);
  if (filling.error != NULL)
    g_propagate_error (error, filling.error);
  return filling.error == NULL;
}

static gboolean
unchanged (const SlFileImage *image)
{
  SlFileStamp now;
  return sl_file_stamp_of (image->fd, &now) && sl_file_stamp_same_content (&now, &image->stamp);
}

/* Whether the file still has the bytes that were read. */
static gboolean
read_again (const SlFileImage *image)
{
  guint8 again[16384];
  for (gsize at = 0; at < image->size;) {
    const gssize n = pread (image->fd, again, MIN (sizeof again, image->size - at), (off_t) at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0 || memcmp (again, image->data + at, (gsize) n) != 0)
      return FALSE;
    at += (gsize) n;
  }
  return TRUE;
}

static gboolean
fill (SlFileImage *image, gboolean *torn, GError **error)
{
  g_autoptr (GError) failed = NULL;
  const gboolean good = read_all (image, &failed);
  *torn =
    !unchanged (image) || (good && sl_file_stamp_is_fresh (&image->stamp) && !read_again (image));
  if (good && !*torn) {
    sl_pages_settle (image->data, image->mapped);
    mprotect (image->data, image->mapped, PROT_READ);
    return TRUE;
  }
  if (*torn)
    sl_fail (
      error, SL_ERROR_OPEN,
      "the file was written to while it was read; write a new file beside it and rename that");
  else
    g_propagate_error (error, g_steal_pointer (&failed));
  return FALSE;
}

static gboolean
allocate (SlFileImage *image, GError **error)
{
  image->page = (gsize) sysconf (_SC_PAGESIZE);
  image->size = (gsize) image->stamp.size;
  image->mapped = sl_pages_round (image->size + SL_TENSOR_PADDING);
  image->data =
    image->size >= HUGE_BYTES ? sl_pages_new (image->mapped) : sl_pages_new_small (image->mapped);
  if (image->data == NULL)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "no memory for the %" G_GSIZE_FORMAT " bytes of the file", image->size);
  image->pages = g_new0 (guint8, image->mapped / image->page);
  return TRUE;
}

SlFileImage *
sl_file_image_new (int fd, SlFileStamp *stamp, gboolean *torn, GError **error)
{
  g_autoptr (SlFileImage) image = g_new0 (SlFileImage, 1);
  g_atomic_ref_count_init (&image->refs);
  g_mutex_init (&image->lock);
  image->fd = fd;
  image->products = sl_products_new ();
  *torn = FALSE;
  if (!sl_file_stamp_of (fd, &image->stamp))
    return sl_fail_null (error, SL_ERROR_OPEN, "%s", g_strerror (errno));
  if (!allocate (image, error) || !fill (image, torn, error))
    return NULL;
  *stamp = image->stamp;
  return g_steal_pointer (&image);
}

SlFileImage *
sl_file_image_ref (SlFileImage *image)
{
  g_atomic_ref_count_inc (&image->refs);
  return image;
}

void
sl_file_image_unref (SlFileImage *image)
{
  if (image == NULL || !g_atomic_ref_count_dec (&image->refs))
    return;
  sl_pages_free (image->data, image->mapped);
  close (image->fd);
  g_array_unref (image->products);
  g_free (image->pages);
  g_mutex_clear (&image->lock);
  g_free (image);
}

static void
drop_bytes (gpointer image)
{
  sl_file_image_unref (image);
}

GBytes *
sl_file_image_bytes (SlFileImage *image)
{
  return g_bytes_new_with_free_func (image->data, image->size, drop_bytes,
                                     sl_file_image_ref (image));
}

gboolean
sl_file_image_holds (const SlFileImage *image, const void *data)
{
  return (guintptr) data - (guintptr) image->data < image->size;
}

gboolean
sl_file_image_multiply (SlFileImage *image, const gfloat *data, gsize n, const gfloat *by,
                        gsize n_by, gsize window)
{
  const gsize at = (gsize) ((guintptr) data - (guintptr) image->data);
  if (!sl_file_image_holds (image, data) || n > (image->size - at) / sizeof *data
      || at % sizeof *data != 0)
    return FALSE;
  /* The whole image would cost a look at each of its pages, for each layer. */
  guint8 *first = image->data + at / image->page * image->page;
  const gsize bytes = (gsize) ((const guint8 *) (data + n) - first);
  if (mprotect (first, bytes, PROT_READ | PROT_WRITE) != 0)
    return FALSE;
  const gsize start = at / sizeof *data;
  sl_products_add (image->products, start, start + n, by, n_by, window);
  sl_product_apply (&g_array_index (image->products, SlProduct, image->products->len - 1),
                    (gfloat *) (gpointer) image->data, start, start + n);
  mprotect (first, bytes, PROT_READ);
  return TRUE;
}

char *
sl_file_image_checksum (SlFileImage *image, GChecksumType type, gsize *size, GError **error)
{
  g_autoptr (GChecksum) sum = g_checksum_new (type);
  g_autofree guint8 *piece = g_malloc (CHECKSUM_PIECE);
  gsize at = 0;
  while (at < image->size) {
    const gssize n = pread (image->fd, piece, MIN (CHECKSUM_PIECE, image->size - at), (off_t) at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    g_checksum_update (sum, piece, n);
    at += (gsize) n;
  }
  *size = image->size;
  if (at == image->size && unchanged (image))
    return g_strdup (g_checksum_get_string (sum));
  return sl_fail_null (error, SL_ERROR_OPEN,
                       "the model file has changed since it was loaded; load the model again");
}

/* One past the last page of those from @first on whose flags under @mask are @flags. */
static gsize
run_end (const SlFileImage *image, gsize first, gsize end, guint8 mask, guint8 flags)
{
  while (first < end && (image->pages[first] & mask) == flags)
    first++;
  return first;
}

/* With the lock, and no other user: gives spare pages of @first..@end back to the system. */
static void
give_back (SlFileImage *image, gsize first, gsize end)
{
  const guint8 mask = PAGE_KEPT | PAGE_SPARE | PAGE_GONE;
  for (gsize i = first; i < end; i++) {
    const gsize stop = run_end (image, i, end, mask, PAGE_SPARE);
    if (stop == i
        || madvise (image->data + i * image->page, (stop - i) * image->page, MADV_DONTNEED) != 0)
      continue;
    for (; i < stop; i++)
      image->pages[i] |= PAGE_GONE;
  }
}

/* The pages that hold some of the bytes, or, @whole, nothing but those. */
static gboolean
find_pages (const SlFileImage *image, const void *data, gsize bytes, gboolean whole, gsize *first,
            gsize *end)
{
  const guintptr start = (guintptr) image->data, at = (guintptr) data;
  if (!sl_file_image_holds (image, data) || bytes == 0)
    return FALSE;
  const gsize from = at - start, to = from + MIN (bytes, image->size - from),
              round = image->page - 1;
  *first = (whole ? from + round : from) / image->page;
  *end = (whole ? to : to + round) / image->page;
  return *first < *end;
}

/* With the lock: reads pages @first..@end, which went. */
static gboolean
read_pages (const SlFileImage *image, gsize first, gsize end)
{
  if (!read_range (image, first * image->page, MIN (end * image->page, image->size), NULL))
    return FALSE;
  for (guint k = 0; k < image->products->len; k++)
    sl_product_apply (&g_array_index (image->products, SlProduct, k),
                      (gfloat *) (gpointer) image->data, first * image->page / sizeof (gfloat),
                      end * image->page / sizeof (gfloat));
  return TRUE;
}

/* With the lock: reads those of pages @first..@end that went, the first of which is @gone. */
static gboolean
bring_back (SlFileImage *image, gsize first, gsize gone, gsize end)
{
  guint8 *start = image->data + first * image->page;
  const gsize bytes = (end - first) * image->page;
  gboolean good = unchanged (image) && mprotect (start, bytes, PROT_READ | PROT_WRITE) == 0;
  for (gsize i = gone; good && i < end; i = run_end (image, i, end, PAGE_GONE, 0)) {
    const gsize stop = run_end (image, i, end, PAGE_GONE, PAGE_GONE);
    good = read_pages (image, i, stop);
    i = stop;
  }
  mprotect (start, bytes, PROT_READ);
  if (!good || !unchanged (image))
    return FALSE;
  for (gsize i = gone; i < end; i++)
    image->pages[i] &= (guint8) ~PAGE_GONE;
  return TRUE;
}

void
sl_file_image_use (SlFileImage *image)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&image->lock);
  image->users++;
}

gboolean
sl_file_image_is_there (SlFileImage *image, const void *data, gsize bytes)
{
  gsize first, end;
  if (!find_pages (image, data, bytes, FALSE, &first, &end))
    return TRUE;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&image->lock);
  return run_end (image, first, end, PAGE_GONE, 0) == end;
}

gboolean
sl_file_image_need (SlFileImage *image, const void *data, gsize bytes, GError **error)
{
  gsize first, end;
  if (!find_pages (image, data, bytes, FALSE, &first, &end))
    return TRUE;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&image->lock);
  const gsize gone = run_end (image, first, end, PAGE_GONE, 0);
  if (gone < end)
    image->again += (end - gone) * image->page;
  if (gone == end || bring_back (image, first, gone, end)) {
    for (gsize i = first; i < end; i++)
      image->pages[i] &= (guint8) ~PAGE_SPARE;
    return TRUE;
  }
  return sl_fail (
    error, SL_ERROR_OPEN,
    "the model file has changed since it was loaded, and its weights are needed once more; load "
    "the model again");
}

static void
flag (SlFileImage *image, const void *data, gsize bytes, guint8 flags)
{
  gsize first, end;
  const gboolean spare = flags == PAGE_SPARE;
  if (!find_pages (image, data, bytes, spare, &first, &end))
    return;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&image->lock);
  for (gsize i = first; i < end; i++)
    image->pages[i] |= flags;
  if (spare && image->users == 1 && image->again / MAX_AGAIN <= image->size)
    give_back (image, first, end);
}

void
sl_file_image_keep (SlFileImage *image, const void *data, gsize bytes)
{
  flag (image, data, bytes, PAGE_KEPT);
}

void
sl_file_image_spare (SlFileImage *image, const void *data, gsize bytes)
{
  flag (image, data, bytes, PAGE_SPARE);
}

void
sl_file_image_spare_rest (SlFileImage *image)
{
  sl_file_image_spare (image, image->data, image->size);
}

void
sl_file_image_done (SlFileImage *image)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&image->lock);
  image->users--;
  if (image->users > 0)
    return;
  image->again = 0;
  give_back (image, 0, image->mapped / image->page);
}

gsize
sl_file_image_resident (SlFileImage *image)
{
  gsize pages = 0;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&image->lock);
  for (gsize i = 0; i < image->mapped / image->page; i++)
    pages += (image->pages[i] & PAGE_GONE) == 0;
  return pages * image->page;
}
