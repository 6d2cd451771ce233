/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A change locks FILE.lock, reads FILE again where it is another one by now, writes FILE.new, syncs
 * it and renames it. So a program that is killed leaves the old file or the new one, two writers
 * take turns, and after a full disk the old file is there. The kernel releases the lock of a
 * program that ends.
 */
#include "tools/serve/face_gallery.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "core/base/printable.h"
#include "postprocess/gallery.h"

#define MAX_BYTES ((gsize) 64 << 20)
/* How long another writer is waited for, and how often it is looked for. */
#define LOCK_US (2 * G_USEC_PER_SEC)
#define POLL_US 5000

struct _SlFaceGallery
{
  char *path, *lock_path, *new_path, *model;
  guint length;
  GMutex lock;
  SlGallery *gallery; /* under the lock (nullable): NULL = it must be read again */
  struct stat stamp;  /* of the file that was read; all 0 = there was none */
};

static gboolean
is_same (const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size
         && a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static gboolean
check (const SlFaceGallery *self, const SlGallery *gallery, GError **error)
{
  const char *model = sl_gallery_model (gallery);
  if (model != NULL && strcmp (model, self->model) != 0) {
    g_autofree char *shown = sl_printable (model, SL_PRINTABLE_NAME);
    return sl_fail (error, SL_ERROR_CONTRACT,
                    "%s: its embeddings are of another model (%s), expected those of %s: take that "
                    "model, or another file and register people again",
                    self->path, shown, self->model);
  }
  return TRUE;
}

/* Under the lock: reads the file where it is not the one that was read last. */
static gboolean
refresh (SlFaceGallery *self, GError **error)
{
  struct stat now = { 0 };
  if (stat (self->path, &now) != 0)
    memset (&now, 0, sizeof now); /* what is wrong, the reader says */
  if (self->gallery != NULL && is_same (&now, &self->stamp))
    return TRUE;
  g_autoptr (SlGallery) gallery = sl_gallery_open (self->path, self->length, error);
  if (gallery == NULL || !check (self, gallery, error))
    return FALSE;
  g_clear_pointer (&self->gallery, sl_gallery_free);
  self->gallery = g_steal_pointer (&gallery);
  self->stamp = now;
  return TRUE;
}

/* A file that is missing is made later, which a missing folder would refuse to each client. */
static gboolean
check_folder (const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  if (g_file_test (folder, G_FILE_TEST_IS_DIR))
    return TRUE;
  g_autofree char *shown = sl_printable (folder, SL_PRINTABLE_NAME);
  return sl_fail (error, SL_ERROR_ARGUMENT, "%s: no such folder; expected one that exists", shown);
}

SlFaceGallery *
sl_face_gallery_new (const char *path, guint length, const char *model, GError **error)
{
  SlFaceGallery *self = g_new0 (SlFaceGallery, 1);
  g_mutex_init (&self->lock);
  self->path = g_strdup (path);
  self->lock_path = g_strconcat (path, ".lock", NULL);
  self->new_path = g_strconcat (path, ".new", NULL);
  self->model = g_strdup (model);
  self->length = length;
  if (check_folder (path, error) && refresh (self, error))
    return self;
  sl_face_gallery_free (self);
  return NULL;
}

void
sl_face_gallery_free (SlFaceGallery *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->gallery, sl_gallery_free);
  g_mutex_clear (&self->lock);
  g_free (self->path);
  g_free (self->lock_path);
  g_free (self->new_path);
  g_free (self->model);
  g_free (self);
}

guint
sl_face_gallery_length (const SlFaceGallery *self)
{
  return self->length;
}

gboolean
sl_face_name_check (const char *name, GError **error)
{
  gboolean plain = g_utf8_validate (name, -1, NULL);
  for (const char *at = name; plain && *at != '\0';)
    plain = sl_is_plain (sl_utf8_next (&at));
  if (plain && name[0] != '\0' && strlen (name) <= SL_FACE_NAME && strpbrk (name, "/\\") == NULL
      && name[0] != SL_GALLERY_MODEL[0] && name[0] != '.' && strcmp (name, "unknown") != 0)
    return TRUE;
  g_autofree char *shown = sl_printable (name, SL_PRINTABLE_LABEL);
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "userid: expected a name of 1 to %d bytes without control characters, / and \\, "
                  "that does not begin with . or @ and is not 'unknown', got '%s'",
                  SL_FACE_NAME, shown);
}

/* The lock's file descriptor; -1 with @error set. */
static int
lock_file (const SlFaceGallery *self, GError **error)
{
  const gint64 until = g_get_monotonic_time () + LOCK_US;
  const int fd = open (self->lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  int failure = fd < 0 ? errno : 0;
  while (fd >= 0 && flock (fd, LOCK_EX | LOCK_NB) != 0) {
    failure = errno;
    if (failure != EWOULDBLOCK || g_get_monotonic_time () >= until)
      break;
    failure = 0;
    g_usleep (POLL_US);
  }
  if (failure == 0)
    return fd;
  if (fd >= 0)
    close (fd);
  sl_fail (error, SL_ERROR_OPEN, "%s: %s", self->lock_path,
           failure == EWOULDBLOCK ? "another program has held it for two seconds: try again later"
                                  : g_strerror (failure));
  return -1;
}

static void
sync_folder (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  const int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  fsync (fd);
  close (fd);
}

/* Under both locks: the file becomes what the gallery is. */
static gboolean
store (SlFaceGallery *self, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (GString) text = sl_gallery_write (self->gallery, self->model);
  if (text->len > MAX_BYTES)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "%s: expected a gallery of at most %" G_GSIZE_FORMAT
                    " MiB: delete people, or register fewer pictures",
                    self->path, MAX_BYTES >> 20);
  g_unlink (self->new_path); /* of a program that was killed, or anybody's link */
  if (!g_file_set_contents_full (self->new_path, text->str, (gssize) text->len,
                                 G_FILE_SET_CONTENTS_DURABLE, 0600, &cause)
      || g_rename (self->new_path, self->path) != 0) {
    sl_fail (error, SL_ERROR_OPEN, "%s: %s; nothing has changed: make room, or give the right",
             self->path, cause != NULL ? cause->message : g_strerror (errno));
    g_unlink (self->new_path);
    return FALSE;
  }
  sync_folder (self->path);
  return stat (self->path, &self->stamp) == 0
         || sl_fail (error, SL_ERROR_OPEN, "%s: %s", self->path, g_strerror (errno));
}

/* Under the lock: what is in memory is what is on the disk again, whatever could not be written. */
static void
forget (SlFaceGallery *self)
{
  g_autoptr (GError) told_later = NULL;
  g_clear_pointer (&self->gallery, sl_gallery_free);
  refresh (self, &told_later);
}

/* Under both locks. @n 0: removes the person. */
static gboolean
change (SlFaceGallery *self, const char *name, const gfloat *vectors, guint n, gboolean *known,
        GError **error)
{
  if (!refresh (self, error))
    return FALSE;
  *known = n > 0 ? sl_gallery_set (self->gallery, name, vectors, n)
                 : sl_gallery_remove (self->gallery, name);
  if (n == 0 && !*known)
    return TRUE;
  const gboolean fits = sl_gallery_n_names (self->gallery) <= SL_FACE_PEOPLE;
  if (fits && store (self, error))
    return TRUE;
  if (!fits)
    sl_fail (error, SL_ERROR_LIMIT, "%s: expected at most %d people: delete some first", self->path,
             SL_FACE_PEOPLE);
  forget (self);
  return FALSE;
}

static gboolean
change_locked (SlFaceGallery *self, const char *name, const gfloat *vectors, guint n,
               gboolean *known, GError **error)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  const int fd = lock_file (self, error);
  const gboolean good = fd >= 0 && change (self, name, vectors, n, known, error);
  if (fd >= 0)
    close (fd);
  return good;
}

gboolean
sl_face_gallery_set (SlFaceGallery *self, const char *name, const gfloat *vectors, guint n,
                     gboolean *known, GError **error)
{
  g_return_val_if_fail (n >= 1 && n <= SL_FACE_PICTURES, FALSE);
  return change_locked (self, name, vectors, n, known, error);
}

gboolean
sl_face_gallery_remove (SlFaceGallery *self, const char *name, gboolean *known, GError **error)
{
  return change_locked (self, name, NULL, 0, known, error);
}

gboolean
sl_face_gallery_refresh (SlFaceGallery *self, GError **error)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  return refresh (self, error);
}

GStrv
sl_face_gallery_names (SlFaceGallery *self, GError **error)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (!refresh (self, error))
    return NULL;
  for (guint i = 0; i < sl_gallery_n_names (self->gallery); i++)
    g_strv_builder_add (names, sl_gallery_name (self->gallery, i));
  return g_strv_builder_end (names);
}

char *
sl_face_gallery_find (SlFaceGallery *self, const gfloat *vector, gfloat least, gfloat *cosine)
{
  SlRanked item;
  SlTopK top = { .capacity = 1, .items = &item };
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (self->gallery != NULL)
    sl_gallery_search (self->gallery, vector, least, &top);
  *cosine = top.count > 0 ? top.items[0].key : 0;
  return top.count > 0 ? g_strdup (sl_gallery_name (self->gallery, top.items[0].index)) : NULL;
}
