/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file is a gallery as slgallery's: one format, the same rules and the same search. SQLite's
 * lock makes writers take turns, and a change is whole or not there. A file that was replaced or
 * removed is opened anew. A thread erases what is too old, also where nobody asks.
 */
#include "tools/serve/face_gallery.h"

#include <glib/gstdio.h>
#include <string.h>

#include "core/base/fail.h"
#include "pipelines/gallery/store.h"

/* How often what the rules do not allow is erased. */
#define EXPIRE_US (60 * G_USEC_PER_SEC)

struct _SlFaceGallery
{
  char *path, *key_file, *model;
  guint length;
  SlIdentityRules rules;
  SlCalibration *calibration; /* none: the client states the threshold */
  GThread *thread;
  GMutex lock;
  GCond wake;
  /* The rest is under the lock. */
  gboolean stop;
  SlIdentityCameras cameras;
  SlIdentityStore *store; /* (nullable): it must be opened again */
  SlIdentityTable *table; /* people with names; those before, where the file cannot be read */
  GStatBuf stamp;         /* of the file that is open */
  gint64 expired;         /* monotonic time */
};

static gboolean
is_there (const SlFaceGallery *self)
{
  GStatBuf now;
  return g_stat (self->path, &now) == 0 && now.st_dev == self->stamp.st_dev
         && now.st_ino == self->stamp.st_ino;
}

/* A client is told that a person is registered once a crash of the machine cannot undo it. */
static gboolean
open_store (SlFaceGallery *self, GError **error)
{
  g_autoptr (SlIdentityStore) store = sl_identity_store_new (self->path, self->model, self->length,
                                                             &self->rules, self->key_file, error);
  if (store == NULL || !sl_sql_script (&store->sql, "PRAGMA synchronous=FULL", error))
    return FALSE;
  if (g_stat (self->path, &self->stamp) != 0)
    self->stamp = (GStatBuf){ 0 }; /* removed meanwhile: it is opened anew when it is looked at */
  self->expired = 0;
  self->store = g_steal_pointer (&store);
  return TRUE;
}

static gboolean
load (SlFaceGallery *self, GError **error)
{
  SlIdentityTable *table =
    sl_identity_store_load (self->store, &self->cameras, g_get_real_time (), error);
  if (table == NULL)
    return FALSE;
  sl_identity_table_keep_named (table);
  g_clear_pointer (&self->table, sl_identity_table_free);
  self->table = table;
  return TRUE;
}

/* TRUE: what the rules do not allow is gone; @gone: rows. */
static gboolean
expire (SlFaceGallery *self, guint *gone, GError **error)
{
  const gint64 now = g_get_monotonic_time ();
  *gone = 0;
  if (self->expired != 0 && now - self->expired < EXPIRE_US)
    return TRUE;
  self->expired = now;
  return sl_identity_store_expire (self->store, g_get_real_time (), gone, error);
}

/* Reads the file where it has changed. */
static gboolean
refresh (SlFaceGallery *self, GError **error)
{
  guint gone;
  if (self->store != NULL && !is_there (self))
    g_clear_pointer (&self->store, sl_identity_store_free);
  const gboolean anew = self->store == NULL;
  if ((anew && !open_store (self, error)) || !expire (self, &gone, error))
    return FALSE;
  if ((sl_identity_store_has_changed (self->store) || anew || gone > 0) && !load (self, error)) {
    g_clear_pointer (&self->store, sl_identity_store_free);
    return FALSE;
  }
  return TRUE;
}

static gpointer
tidy (gpointer data)
{
  SlFaceGallery *self = data;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  while (!self->stop) {
    g_autoptr (GError) told_to_clients = NULL;
    if (!g_cond_wait_until (&self->wake, &self->lock, g_get_monotonic_time () + EXPIRE_US))
      refresh (self, &told_to_clients);
  }
  return NULL;
}

SlFaceGallery *
sl_face_gallery_new (const SlServeFaces *faces, guint length, const char *model, GError **error)
{
  SlFaceGallery *self = g_new0 (SlFaceGallery, 1);
  g_mutex_init (&self->lock);
  g_cond_init (&self->wake);
  sl_identity_cameras_init (&self->cameras);
  self->calibration = g_new0 (SlCalibration, 1);
  self->path = g_strdup (faces->gallery);
  self->key_file = g_strdup (faces->key_file);
  self->model = g_strdup (model);
  self->length = length;
  self->rules = (SlIdentityRules){ .keep = faces->keep, .most = SL_IDENTITY_USUAL_MOST };
  if (refresh (self, error)) {
    self->thread = g_thread_new ("sl-faces", tidy, self);
    return self;
  }
  sl_face_gallery_free (self);
  return NULL;
}

void
sl_face_gallery_free (SlFaceGallery *self)
{
  if (self == NULL)
    return;
  g_mutex_lock (&self->lock);
  self->stop = TRUE;
  g_cond_signal (&self->wake);
  g_mutex_unlock (&self->lock);
  if (self->thread != NULL)
    g_thread_join (self->thread);
  sl_identity_store_free (self->store);
  sl_identity_table_free (self->table);
  sl_identity_cameras_clear (&self->cameras);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->wake);
  g_free (self->calibration);
  g_free (self->path);
  g_free (self->key_file);
  g_free (self->model);
  g_free (self);
}

gboolean
sl_face_gallery_set (SlFaceGallery *self, const char *name, const gfloat *vectors, guint n,
                     gboolean *known, GError **error)
{
  g_return_val_if_fail (n >= 1 && n <= SL_FACE_PICTURES, FALSE);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (!refresh (self, error))
    return FALSE;
  g_autoptr (GError) cause = NULL;
  const gsize stride = self->table->stride;
  gint8 *rows = g_aligned_alloc0 (n, stride, 64);
  const SlIdentityLooks looks = { rows, stride, n };
  for (guint i = 0; i < n; i++)
    sl_identity_table_pack (self->table, &vectors[(gsize) i * self->length], rows + i * stride);
  const gboolean good =
    sl_identity_store_register (self->store, name, &looks, g_get_real_time (), known, &cause);
  g_aligned_free (rows);
  if (!good)
    return sl_fail (error, (SlError) cause->code,
                    "%s; nothing has changed: make room, give the right, or "
                    "try again",
                    cause->message);
  return load (self, error);
}

gboolean
sl_face_gallery_remove (SlFaceGallery *self, const char *name, gboolean *known, GError **error)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  return refresh (self, error) && sl_identity_store_unregister (self->store, name, known, error)
         && load (self, error);
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
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  return refresh (self, error) ? sl_identity_store_names (self->store, error) : NULL;
}

char *
sl_face_gallery_find (SlFaceGallery *self, const gfloat *vector, gfloat least, gfloat *cosine)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  const SlIdentityRules rules = { .threshold = (gdouble) least };
  gint8 *row = g_aligned_alloc0 (1, self->table->stride, 64);
  const SlIdentityQuestion question = { .row = row,
                                        .scale =
                                          sl_identity_table_pack (self->table, vector, row) };
  const SlIdentityMatch match =
    sl_identity_table_match (self->table, self->calibration, &rules, &question);
  const SlIdentityPerson *person = sl_identity_table_person (self->table, match.person);
  g_aligned_free (row);
  *cosine = person != NULL ? (gfloat) MIN (match.cosine, 1) : 0;
  return person != NULL ? g_strdup (person->name) : NULL;
}
