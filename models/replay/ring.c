/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which slot an inference goes to, and which slots a black box is made of. Slots of a live ring,
 * and those that a process left behind. */
#include "models/replay/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/base/xxh64.h"
#include "models/replay/folder.h"
#include "models/replay/slots.h"
#include "core/base/fail.h"

#define SHARED_MEMORY "/dev/shm"
#define BEGIN "sightline-black-box-"
#define END ".ring"
/* Slots at most, for models of tiny tensors; fewer than FEW in memory are worth a disk. */
#define MAX_SLOTS 65536
#define FEW 16
#define ATTEMPTS 10
/* Until the next try to have one more slot, where there was no room; microseconds. */
#define RETRY G_USEC_PER_SEC

/** A slot in use, and what it holds. */
typedef struct
{
  guint slot;
  guint64 number;
  gint64 clock;
} Used;

struct _SlRing
{
  SlSlots slots;
  char *path;
  gboolean removed; /* nothing has the name any more, or another ring */
  guint seconds;
  GMutex lock;
  GQueue used;         /* under the lock; of Used, the oldest first */
  GList *views;        /* under the lock */
  guint n_slots, most; /* the writing thread's */
  gboolean told;       /* the writing thread's: that it is short */
  gint64 retry;        /* the writing thread's: when it may grow again */
  int shortage;        /* the writing thread's: why it could not grow */
  guint64 number;
  SlSlotHead head; /* of the inference that runs */
  const Used *now; /* (nullable): its place */
};

struct _SlRingView
{
  SlRing *ring;
  GArray *slots; /* of Used */
  guint next;    /* under the ring's lock: those before are no longer needed */
};

/* What rings for @folder are called up to the process: the same whatever way leads there. */
static char *
prefix_of (const char *folder)
{
  char *real = realpath (folder, NULL);
  const char *place = real != NULL ? real : folder;
  char *prefix =
    g_strdup_printf (BEGIN "%016" G_GINT64_MODIFIER "x-", sl_xxh64 (place, strlen (place), 0));
  free (real);
  return prefix;
}

/* A file that is ours until it is closed, in @where; -1 with errno set. Processes in containers
 * have the same numbers again and again. */
static int
create (const char *where, const char *folder, char **path)
{
  g_autofree char *prefix = prefix_of (folder);
  int fd = -1;
  for (guint i = 0; i < ATTEMPTS && fd < 0; i++) {
    g_autofree char *name =
      g_strdup_printf ("%s%d-%08x" END, prefix, (int) getpid (), g_random_int ());
    g_free (*path);
    *path = g_build_filename (where, name, NULL);
    fd = open (*path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 && errno != EEXIST)
      break;
  }
  if (fd >= 0)
    sl_black_box_lock (fd, *path, TRUE);
  return fd;
}

/* (transfer full): a folder in memory: what a service manager gave this service for its life and
 * its restarts, else the machine's. systemd empties /dev/shm of the files of a service's user
 * whenever such a service ends. */
static char *
memory_folder (void)
{
  const char *given = g_getenv ("RUNTIME_DIRECTORY");
  return given != NULL && given[0] == '/' ? g_strndup (given, strcspn (given, ":"))
                                          : g_strdup (SHARED_MEMORY);
}

static gboolean
is_memory (const struct statfs *info)
{
  return info->f_type == TMPFS_MAGIC || info->f_type == RAMFS_MAGIC;
}

/* Bytes that the ring may take there beside the @used that it has: half of the memory stays free
 * for other processes; on a disk at least as much as the ring takes stays free, for the black box.
 */
static guint64
room (const char *where, guint64 used)
{
  struct statfs info;
  if (statfs (where, &info) != 0)
    return 0;
  const guint64 size = (guint64) info.f_bsize, available = info.f_bavail * size;
  const guint64 kept = is_memory (&info) ? info.f_blocks * size / 2 : used;
  return available > kept ? (is_memory (&info) ? available - kept : (available - kept) / 2) : 0;
}

static gboolean
refuse (const SlRing *ring, int code, GError **error)
{
  return sl_fail (error, SL_ERROR_OPEN, "%s: cannot be written: %s", ring->path, g_strerror (code));
}

/* Where memory is meant to be, unless that has next to no room, else in the folder. */
static gboolean
open_file (SlRing *ring, const char *folder, GError **error)
{
  g_autofree char *memory = memory_folder ();
  const guint64 few = MIN (ring->most, FEW) * (guint64) ring->slots.size + ring->slots.first;
  ring->slots.fd = room (memory, 0) >= few ? create (memory, folder, &ring->path) : -1;
  if (ring->slots.fd < 0)
    ring->slots.fd = create (folder, folder, &ring->path);
  if (ring->slots.fd >= 0 && sl_slots_write_head (&ring->slots, ring->seconds))
    return TRUE;
  return refuse (ring, errno, error);
}

const char *
sl_ring_path (const SlRing *ring, gboolean *in_memory)
{
  struct statfs info;
  *in_memory = fstatfs (ring->slots.fd, &info) == 0 && is_memory (&info);
  return ring->path;
}

guint
sl_ring_most (const SlBlackBoxInfo *info, guint64 limit, GError **error)
{
  SlSlots slots;
  sl_slots_init (&slots, info, -1);
  const guint most = (guint) MIN (limit / slots.size, MAX_SLOTS);
  if (most == 0)
    sl_fail (error, SL_ERROR_LIMIT,
             "expected at least %" G_GSIZE_FORMAT
             " bytes for the black box, what an inference of this "
             "model takes, got %" G_GUINT64_FORMAT ": set black-box-limit",
             slots.size, limit);
  return most;
}

SlRing *
sl_ring_new (const SlBlackBoxInfo *info, const char *folder, guint seconds, guint64 limit,
             GError **error)
{
  g_autoptr (SlRing) ring = g_new0 (SlRing, 1);
  g_mutex_init (&ring->lock);
  ring->seconds = seconds;
  sl_slots_init (&ring->slots, info, -1);
  ring->most = sl_ring_most (info, limit, error);
  return ring->most > 0 && open_file (ring, folder, error) ? g_steal_pointer (&ring) : NULL;
}

void
sl_ring_remove (SlRing *ring)
{
  if (ring == NULL || ring->slots.fd < 0 || ring->removed)
    return;
  g_unlink (ring->path);
  ring->removed = TRUE;
}

void
sl_ring_free (SlRing *ring)
{
  if (ring == NULL)
    return;
  sl_ring_remove (ring);
  if (ring->slots.fd >= 0)
    close (ring->slots.fd);
  g_queue_clear_full (&ring->used, g_free);
  g_mutex_clear (&ring->lock);
  g_free (ring->path);
  g_free (ring);
}

/* Whether a black box that is being written is still to have it. */
static gboolean
is_wanted (const SlRing *ring, const Used *used)
{
  for (const GList *link = ring->views; link != NULL; link = link->next) {
    const SlRingView *view = link->data;
    const Used *first =
      view->next < view->slots->len ? &g_array_index (view->slots, Used, view->next) : NULL;
    if (first != NULL && used->number >= first->number
        && used->number <= g_array_index (view->slots, Used, view->slots->len - 1).number)
      return TRUE;
  }
  return FALSE;
}

/* One slot more, all of whose bytes are there. FALSE, and not asked again for a while, where there
 * is no room. */
static gboolean
grow (SlRing *ring, gint64 now)
{
  if (ring->n_slots == ring->most || now < ring->retry)
    return FALSE;
  g_autofree char *where = g_path_get_dirname (ring->path);
  const guint64 used = ring->slots.first + (guint64) ring->n_slots * ring->slots.size;
  int code = ENOSPC;
  if (room (where, used) >= ring->slots.size)
    code = posix_fallocate (ring->slots.fd, (off_t) used, (off_t) ring->slots.size);
  if (code == 0) {
    ring->n_slots++;
    return TRUE;
  }
  ring->retry = now + RETRY;
  ring->shortage = code;
  return FALSE;
}

/* (nullable): where the next inference goes: the oldest that is out of time or, where all have
 * theirs, a new one, as long as there is room.
 * @tight: (out): there was none */
static GList *
next_slot (SlRing *ring, gint64 now, gboolean *tight)
{
  g_mutex_lock (&ring->lock);
  GList *oldest = g_queue_peek_head_link (&ring->used);
  const Used *used = oldest != NULL ? oldest->data : NULL;
  const gboolean wanted = used != NULL && is_wanted (ring, used);
  const gboolean spent =
    used != NULL && !wanted && now - used->clock > (gint64) ring->seconds * G_USEC_PER_SEC;
  g_mutex_unlock (&ring->lock);
  if (!spent && grow (ring, now)) {
    Used *fresh = g_new0 (Used, 1);
    fresh->slot = ring->n_slots - 1;
    return g_list_prepend (NULL, fresh);
  }
  *tight = !spent && ring->n_slots < ring->most;
  if (oldest == NULL || wanted)
    return NULL;
  g_mutex_lock (&ring->lock);
  g_queue_unlink (&ring->used, oldest);
  g_mutex_unlock (&ring->lock);
  return oldest;
}

/* Says once in a ring's life that it is shorter than it should be. */
static gboolean
tell_tight (SlRing *ring, gboolean tight, GError **error)
{
  if (!tight || ring->told)
    return TRUE;
  ring->told = TRUE;
  return sl_fail (error, SL_ERROR_LIMIT,
                  "%s: there is room for %u inferences, fewer than in %u seconds", ring->path,
                  ring->n_slots, ring->seconds);
}

gboolean
sl_ring_begin (SlRing *ring, guint64 pts, const void *const *inputs, GError **error)
{
  const gint64 now = g_get_monotonic_time ();
  gboolean tight = FALSE;
  GList *place = next_slot (ring, now, &tight);
  const guint64 number = ++ring->number;
  ring->now = NULL;
  if (place == NULL)
    return ring->n_slots > 0 || refuse (ring, ring->shortage, error);
  Used *used = place->data;
  used->number = number;
  used->clock = now;
  g_mutex_lock (&ring->lock);
  g_queue_push_tail_link (&ring->used, place);
  g_mutex_unlock (&ring->lock);
  ring->head =
    (SlSlotHead){ .number = number, .pts = pts, .time = g_get_real_time (), .clock = now };
  if (!sl_slots_begin (&ring->slots, used->slot, &ring->head, inputs))
    return refuse (ring, errno, error);
  ring->now = used;
  return tell_tight (ring, tight, error);
}

gboolean
sl_ring_end (SlRing *ring, const void *const *outputs, GError **error)
{
  const Used *used = ring->now;
  ring->now = NULL;
  return used == NULL || sl_slots_end (&ring->slots, used->slot, &ring->head, outputs)
         || refuse (ring, errno, error);
}

static gboolean
is_recent (const Used *used, const Used *newest, guint seconds)
{
  return newest->clock - used->clock <= (gint64) seconds * G_USEC_PER_SEC;
}

SlRingView *
sl_ring_view (SlRing *ring)
{
  g_mutex_lock (&ring->lock);
  const Used *newest = g_queue_peek_tail (&ring->used);
  GArray *slots = g_array_new (FALSE, FALSE, sizeof (Used));
  for (const GList *link = ring->used.head; link != NULL; link = link->next)
    if (is_recent (link->data, newest, ring->seconds))
      g_array_append_vals (slots, link->data, 1);
  SlRingView *view = slots->len > 0 ? g_new0 (SlRingView, 1) : NULL;
  if (view != NULL) {
    *view = (SlRingView){ .ring = ring, .slots = g_array_ref (slots) };
    ring->views = g_list_prepend (ring->views, view);
  }
  g_mutex_unlock (&ring->lock);
  g_array_unref (slots);
  return view;
}

void
sl_ring_view_free (SlRingView *view)
{
  if (view == NULL)
    return;
  g_mutex_lock (&view->ring->lock);
  view->ring->views = g_list_remove (view->ring->views, view);
  g_mutex_unlock (&view->ring->lock);
  g_array_unref (view->slots);
  g_free (view);
}

static void
advance (SlRingView *view, guint next)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&view->ring->lock);
  view->next = next;
}

/* @view: (nullable): whose places they are */
static gboolean
write_slots (const SlSlots *slots, const GArray *places, SlRingView *view, SlBlackBoxWriter *writer,
             guint *n, GError **error)
{
  g_autofree guint8 *buffer = g_try_malloc (slots->size);
  *n = 0;
  if (buffer == NULL)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "no memory for an inference of %" G_GSIZE_FORMAT " bytes", slots->size);
  for (guint i = 0; i < places->len; i++) {
    const Used *used = &g_array_index (places, Used, i);
    SlBlackBoxInference inference;
    const gboolean whole =
      sl_slots_read (slots, used->slot, buffer, &inference) && inference.number == used->number;
    if (view != NULL)
      advance (view, i + 1);
    if (!whole)
      continue; /* it could not be recorded */
    if (!sl_black_box_writer_add (writer, &inference, error))
      return FALSE;
    (*n)++;
  }
  return TRUE;
}

gboolean
sl_ring_write (SlRingView *view, SlBlackBoxWriter *writer, guint *n, GError **error)
{
  if (!write_slots (&view->ring->slots, view->slots, view, writer, n, error))
    return FALSE;
  if (*n == 0)
    sl_fail (error, SL_ERROR_OPEN, "%s: none of its inferences could be read", view->ring->path);
  return *n > 0;
}

static gint
by_number (gconstpointer a, gconstpointer b)
{
  const Used *one = a, *other = b;
  return one->number < other->number ? -1 : one->number > other->number;
}

/* (transfer full): the slots of a file that has @size bytes and are to be in a black box. */
static GArray *
find_slots (const SlSlots *slots, guint64 size, guint seconds)
{
  GArray *places = g_array_new (FALSE, FALSE, sizeof (Used));
  const guint64 n = size > slots->first
                      ? MIN ((size - slots->first + slots->size - 1) / slots->size, MAX_SLOTS)
                      : 0;
  for (guint i = 0; i < n; i++) {
    SlSlotHead head;
    if (sl_slots_peek (slots, i, &head))
      g_array_append_vals (places, &(Used){ i, head.number, head.clock }, 1);
  }
  g_array_sort (places, by_number);
  guint old = 0;
  while (old < places->len
         && !is_recent (&g_array_index (places, Used, old),
                        &g_array_index (places, Used, places->len - 1), seconds))
    old++;
  return g_array_remove_range (places, 0, old);
}

/* TRUE when there is nothing left to do with the ring. */
static gboolean
recover_file (int fd, const char *ring, guint64 size, const char *folder, SlRingRecovered recovered,
              gpointer data)
{
  guint seconds = 0, n = 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (SlBlackBoxInfo) info = sl_slots_read_head (fd, &seconds, &error);
  SlSlots slots;
  if (error != NULL) {
    g_prefix_error (&error, "%s: ", ring);
    recovered (ring, 0, error, data);
    return FALSE;
  }
  if (info == NULL)
    return size > 0; /* an empty one is just being made */
  sl_slots_init (&slots, info, fd);
  g_autoptr (GArray) places = find_slots (&slots, size, seconds);
  if (places->len == 0)
    return TRUE;
  g_autofree char *path = sl_black_box_path (folder, info->model, &info->created);
  g_free (info->reason);
  info->reason = g_strdup ("the process that recorded is no more: it crashed or was killed");
  g_autoptr (SlBlackBoxWriter) writer = sl_black_box_writer_new (path, info, &error);
  gboolean good = writer != NULL && write_slots (&slots, places, NULL, writer, &n, &error);
  if (good && n == 0)
    return TRUE;
  good = good && sl_black_box_writer_finish (writer, &error);
  recovered (path, n, error, data);
  return good;
}

/* Only regular files of ours that nobody holds. */
static void
recover_path (const char *path, const char *folder, SlRingRecovered recovered, gpointer data)
{
  struct stat info;
  const int fd = open (path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return;
  if (fstat (fd, &info) == 0 && S_ISREG (info.st_mode) && info.st_uid == geteuid ()
      && sl_black_box_lock (fd, path, FALSE)
      && recover_file (fd, path, (guint64) info.st_size, folder, recovered, data))
    g_unlink (path);
  close (fd);
}

void
sl_ring_recover (const char *folder, guint keep, SlRingRecovered recovered, gpointer data)
{
  g_autofree char *memory = memory_folder ();
  const char *const places[] = { folder, memory, SHARED_MEMORY };
  const guint n = strcmp (memory, SHARED_MEMORY) == 0 ? 2 : G_N_ELEMENTS (places);
  g_autofree char *prefix = prefix_of (folder);
  for (guint i = 0; i < n; i++) {
    GDir *dir = g_dir_open (places[i], 0, NULL);
    for (const char *name = dir != NULL ? g_dir_read_name (dir) : NULL; name != NULL;
         name = g_dir_read_name (dir)) {
      g_autofree char *path = g_build_filename (places[i], name, NULL);
      if (g_str_has_prefix (name, prefix) && g_str_has_suffix (name, END))
        recover_path (path, folder, recovered, data);
    }
    g_clear_pointer (&dir, g_dir_close);
  }
  sl_black_box_prune (folder, keep, NULL);
}
