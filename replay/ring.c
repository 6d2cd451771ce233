/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which slot an inference goes to, and which slots a black box is made of. Slots of a live ring, and those that a process left behind. */
#include "replay/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/xxh64.h"
#include "replay/folder.h"
#include "replay/slots.h"
#include "sightline/error.h"

#define SHARED_MEMORY "/dev/shm"
#define BEGIN "sightline-black-box-"
#define END ".ring"
/* Slots at most, for models of tiny tensors. */
#define MOST_SLOTS 65536

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
  guint n_slots, most; /* the writing thread's */
  guint64 number;
  SlSlotHead head; /* of the inference that runs */
  const Used *now; /* (nullable): its place */
};

struct _SlRingView
{
  GArray *slots; /* of Used */
};

/* What rings for @folder are called up to the process: the same whatever way leads there. */
static char *
prefix_of (const char *folder)
{
  char *real = realpath (folder, NULL);
  const char *place = real != NULL ? real : folder;
  char *prefix = g_strdup_printf (BEGIN "%016" G_GINT64_MODIFIER "x-", sl_xxh64 (place, strlen (place), 0));
  free (real);
  return prefix;
}

/* A file that is ours until it is closed, in @where; -1 with errno set. */
static int
create (const char *where, const char *folder, char **path)
{
  static gint serial;
  g_autofree char *prefix = prefix_of (folder);
  g_autofree char *name = g_strdup_printf ("%s%d-%d" END, prefix, (int) getpid (), g_atomic_int_add (&serial, 1));
  *path = g_build_filename (where, name, NULL);
  const int fd = open (*path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0)
    flock (fd, LOCK_EX);
  return fd;
}

/* (transfer full): a folder in memory: what a service manager gave this service for its life and its restarts, else the machine's. systemd
 * empties /dev/shm of the files of a service's user whenever such a service ends. */
static char *
memory_folder (void)
{
  const char *given = g_getenv ("RUNTIME_DIRECTORY");
  return given != NULL && given[0] == '/' ? g_strndup (given, strcspn (given, ":")) : g_strdup (SHARED_MEMORY);
}

static gboolean
has_room (const char *where, guint64 bytes)
{
  struct statvfs info;
  return statvfs (where, &info) == 0 && (guint64) info.f_bavail * info.f_frsize >= bytes;
}

/* In memory where that has room for all of it, else in the folder. */
static gboolean
open_file (SlRing *ring, const char *folder, guint64 limit, GError **error)
{
  g_autofree char *memory = memory_folder ();
  if (has_room (memory, limit))
    ring->slots.fd = create (memory, folder, &ring->path);
  if (ring->slots.fd < 0) {
    g_free (ring->path);
    ring->slots.fd = create (folder, folder, &ring->path);
  }
  if (ring->slots.fd >= 0 && sl_slots_write_head (&ring->slots, ring->seconds))
    return TRUE;
  g_set_error (error, SL_ERROR, SL_ERROR_OPEN, "%s: the ring of the black box cannot be written: %s", ring->path, g_strerror (errno));
  return FALSE;
}

SlRing *
sl_ring_new (const SlBlackBoxInfo *info, const char *folder, guint seconds, guint64 limit, GError **error)
{
  g_autoptr (SlRing) ring = g_new0 (SlRing, 1);
  g_mutex_init (&ring->lock);
  ring->seconds = seconds;
  sl_slots_init (&ring->slots, info, -1);
  ring->most = (guint) MIN (limit / ring->slots.size, MOST_SLOTS);
  if (ring->most == 0) {
    g_set_error (error, SL_ERROR, SL_ERROR_LIMIT,
                 "expected at least %" G_GSIZE_FORMAT " bytes for the black box, what an inference of this "
                 "model takes, got %" G_GUINT64_FORMAT ": set black-box-limit",
                 ring->slots.size, limit);
    return NULL;
  }
  return open_file (ring, folder, limit, error) ? g_steal_pointer (&ring) : NULL;
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

/* (nullable): where the next inference goes: the oldest that is out of time or, where all have theirs, a new one. */
static GList *
next_slot (SlRing *ring, gint64 now)
{
  GList *oldest = g_queue_peek_head_link (&ring->used);
  const Used *used = oldest != NULL ? oldest->data : NULL;
  const gboolean spent = used != NULL && now - used->clock > (gint64) ring->seconds * G_USEC_PER_SEC;
  if (spent || ring->n_slots == ring->most) {
    if (oldest != NULL)
      g_queue_unlink (&ring->used, oldest);
    return oldest;
  }
  Used *fresh = g_new0 (Used, 1);
  fresh->slot = ring->n_slots++;
  return g_list_prepend (NULL, fresh);
}

static gboolean
refuse (const SlRing *ring, GError **error)
{
  g_set_error (error, SL_ERROR, SL_ERROR_OPEN, "%s: the ring of the black box cannot be written: %s", ring->path, g_strerror (errno));
  return FALSE;
}

/* Where there is no room for one more, the ring has those that it has. */
static gboolean
shrink (SlRing *ring, GError **error)
{
  g_mutex_lock (&ring->lock);
  GList *last = g_queue_pop_tail_link (&ring->used);
  g_mutex_unlock (&ring->lock);
  ring->now = NULL;
  g_free (last->data);
  g_list_free_1 (last);
  ring->most = ring->n_slots = ring->n_slots - 1;
  return ring->most > 0 || refuse (ring, error);
}

gboolean
sl_ring_begin (SlRing *ring, guint64 pts, const void *const *inputs, GError **error)
{
  const gint64 now = g_get_monotonic_time ();
  if (ring->most == 0)
    return TRUE; /* which has been told */
  g_mutex_lock (&ring->lock);
  const guint before = ring->n_slots;
  GList *place = next_slot (ring, now);
  Used *used = place->data;
  used->number = ++ring->number;
  used->clock = now;
  g_queue_push_tail_link (&ring->used, place);
  g_mutex_unlock (&ring->lock);
  ring->now = used;
  ring->head = (SlSlotHead){ .number = used->number, .pts = pts, .time = g_get_real_time (), .clock = now };
  if (sl_slots_begin (&ring->slots, used->slot, &ring->head, inputs))
    return TRUE;
  return ring->n_slots > before ? shrink (ring, error) : refuse (ring, error);
}

gboolean
sl_ring_end (SlRing *ring, const void *const *outputs, GError **error)
{
  const Used *used = ring->now;
  ring->now = NULL;
  return used == NULL || sl_slots_end (&ring->slots, used->slot, &ring->head, outputs) || refuse (ring, error);
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
  g_mutex_unlock (&ring->lock);
  if (slots->len == 0) {
    g_array_unref (slots);
    return NULL;
  }
  SlRingView *view = g_new0 (SlRingView, 1);
  view->slots = slots;
  return view;
}

void
sl_ring_view_free (SlRingView *view)
{
  if (view == NULL)
    return;
  g_array_unref (view->slots);
  g_free (view);
}

static gboolean
write_slots (const SlSlots *slots, const GArray *places, SlBlackBoxWriter *writer, guint *n, GError **error)
{
  g_autofree guint8 *buffer = g_try_malloc (slots->size);
  *n = 0;
  if (buffer == NULL) {
    g_set_error (error, SL_ERROR, SL_ERROR_LIMIT, "no memory for an inference of %" G_GSIZE_FORMAT " bytes", slots->size);
    return FALSE;
  }
  for (guint i = 0; i < places->len; i++) {
    const Used *used = &g_array_index (places, Used, i);
    SlBlackBoxInference inference;
    if (!sl_slots_read (slots, used->slot, buffer, &inference) || inference.number != used->number)
      continue; /* overwritten by now */
    if (!sl_black_box_writer_add (writer, &inference, error))
      return FALSE;
    (*n)++;
  }
  return TRUE;
}

gboolean
sl_ring_write (SlRing *ring, const SlRingView *view, SlBlackBoxWriter *writer, guint *n, GError **error)
{
  return write_slots (&ring->slots, view->slots, writer, n, error);
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
  const guint64 n = size > slots->first ? MIN ((size - slots->first + slots->size - 1) / slots->size, MOST_SLOTS) : 0;
  for (guint i = 0; i < n; i++) {
    SlSlotHead head;
    if (sl_slots_peek (slots, i, &head))
      g_array_append_vals (places, &(Used){ i, head.number, head.clock }, 1);
  }
  g_array_sort (places, by_number);
  guint old = 0;
  while (old < places->len && !is_recent (&g_array_index (places, Used, old), &g_array_index (places, Used, places->len - 1), seconds))
    old++;
  return g_array_remove_range (places, 0, old);
}

/* TRUE when there is nothing left to do with the ring. */
static gboolean
recover_file (int fd, guint64 size, const char *folder, SlRingRecovered recovered, gpointer data)
{
  guint seconds = 0, n = 0;
  g_autoptr (SlBlackBoxInfo) info = sl_slots_read_head (fd, &seconds);
  SlSlots slots;
  if (info == NULL)
    return size > 0; /* an empty one is just being made */
  sl_slots_init (&slots, info, fd);
  g_autoptr (GArray) places = find_slots (&slots, size, seconds);
  g_autoptr (GError) error = NULL;
  if (places->len == 0)
    return TRUE;
  g_autofree char *path = sl_black_box_path (folder, &info->created);
  g_free (info->reason);
  info->reason = g_strdup ("the process that recorded is no more: it crashed or was killed");
  g_autoptr (SlBlackBoxWriter) writer = sl_black_box_writer_new (path, info, &error);
  gboolean good = writer != NULL && write_slots (&slots, places, writer, &n, &error);
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
  if (fstat (fd, &info) == 0 && S_ISREG (info.st_mode) && info.st_uid == geteuid () && sl_black_box_lock (fd, path, FALSE)
      && recover_file (fd, (guint64) info.st_size, folder, recovered, data))
    g_unlink (path);
  close (fd);
}

void
sl_ring_recover (const char *folder, guint keep, SlRingRecovered recovered, gpointer data)
{
  g_autofree char *memory = memory_folder ();
  const char *const places[] = { SHARED_MEMORY, memory, folder };
  g_autofree char *prefix = prefix_of (folder);
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    GDir *dir = g_dir_open (places[i], 0, NULL);
    for (const char *name = dir != NULL ? g_dir_read_name (dir) : NULL; name != NULL; name = g_dir_read_name (dir)) {
      g_autofree char *path = g_build_filename (places[i], name, NULL);
      if (g_str_has_prefix (name, prefix) && g_str_has_suffix (name, END))
        recover_path (path, folder, recovered, data);
    }
    g_clear_pointer (&dir, g_dir_close);
  }
  sl_black_box_prune (folder, keep, NULL);
}
