/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The folder .work of the cache has what is not done: downloads, KEY.part and, when all of them is
 * there, KEY.whole, KEY being the hash of their address; folders NAME-XXXXXX, which become NAME in
 * one step; locks, which the kernel releases when a process dies. So a process that is killed
 * leaves nothing that is taken for a model, and the next one continues its part file.
 */
#include "tools/zoo/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "models/zoo/cache.h"
#include "tools/command.h"
#include "tools/zoo/extract.h"
#include "tools/zoo/http.h"
#include "tools/zoo/source.h"

#define WORK ".work"
/* Of what no row limits. */
#define MOST_DOWNLOAD ((guint64) 4 << 30)
#define MOST_LABELS ((guint64) 16 << 20)

typedef struct
{
  const SlZooRow *row;
  const char *sha256;
  char *cache, *work, *folder; /* @folder: of the model */
  char *staging;               /* (nullable) */
} Fetch;

static void
fetch_clear (Fetch *fetch)
{
  g_free (fetch->cache);
  g_free (fetch->work);
  g_free (fetch->folder);
  g_free (fetch->staging);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fetch, fetch_clear)

/* A folder without folders in it. */
static void
remove_folder (const char *path)
{
  const char *name;
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *file = g_build_filename (path, name, NULL);
    unlink (file);
  }
  rmdir (path);
}

/* What processes left that were killed while they made this model's folder. */
static void
remove_leftovers (const Fetch *fetch)
{
  const char *name;
  g_autofree char *prefix = g_strconcat (fetch->row->name, "-", NULL);
  g_autoptr (GDir) dir = g_dir_open (fetch->work, 0, NULL);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    if (!g_str_has_prefix (name, prefix) || strlen (name) != strlen (prefix) + 6)
      continue;
    g_autofree char *path = g_build_filename (fetch->work, name, NULL);
    remove_folder (path);
  }
}

/* (out) @fd: closing it lets the next one in. */
static gboolean
lock (const Fetch *fetch, const char *name, int *fd, GError **error)
{
  g_autofree char *file = g_strconcat (name, ".lock", NULL),
                  *path = g_build_filename (fetch->work, file, NULL);
  *fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (*fd < 0)
    return sl_fail (error, SL_ERROR_OPEN, "%s: cannot be written: %s", path, g_strerror (errno));
  if (flock (*fd, LOCK_EX | LOCK_NB) == 0)
    return TRUE;
  sl_complain ("get", "%s: another process fetches it: waiting", fetch->row->name);
  while (flock (*fd, LOCK_EX) != 0)
    if (errno != EINTR)
      return sl_fail (error, SL_ERROR_OPEN, "%s: cannot be locked: %s", path, g_strerror (errno));
  return TRUE;
}

/* Whether the files beside the model are the same. */
static gboolean
same_files (const SlZooRow *a, const SlZooRow *b)
{
  return strcmp (a->file, b->file) == 0 && g_strcmp0 (a->labels_sha256, b->labels_sha256) == 0
         && g_strcmp0 (a->info, b->info) == 0;
}

/* (transfer full) (nullable): the model's path, where it is here and what the row states. A row
 * that says other things of the same files replaces that which is here. */
static char *
find_here (const Fetch *fetch)
{
  g_autoptr (SlZooRow) here = sl_zoo_cached_row (fetch->row->name);
  if (here == NULL || !same_files (here, fetch->row))
    return NULL;
  g_autofree char *path = g_build_filename (fetch->folder, here->file, NULL),
                  *hash = sl_zoo_hash (path, NULL),
                  *row = g_build_filename (fetch->folder, SL_ZOO_CACHED_ROW, NULL);
  if (g_strcmp0 (hash, fetch->sha256) != 0)
    return NULL;
  if (strcmp (here->text, fetch->row->text) != 0)
    g_file_set_contents (row, fetch->row->text, -1, NULL);
  return g_steal_pointer (&path);
}

/* All of the file at @source becomes @whole. @continued: a process before this one began it. */
static gboolean
download (const Fetch *fetch, const SlZooSource *source, const char *part, const char *whole,
          gboolean *continued, GError **error)
{
  const guint64 most = fetch->row->download > 0 ? fetch->row->download : MOST_DOWNLOAD;
  const SlZooDownload request = { source->place, part, fetch->row->name, most };
  const gboolean is_whole = g_file_test (whole, G_FILE_TEST_EXISTS);
  *continued = is_whole || g_file_test (part, G_FILE_TEST_EXISTS);
  if (is_whole)
    return TRUE;
  if (!sl_zoo_download (&request, error))
    return FALSE;
  return g_rename (part, whole) == 0
         || sl_fail (error, SL_ERROR_OPEN, "%s: cannot be written: %s", whole, g_strerror (errno));
}

/* The paths of the model in the archive; NULL-terminated, NULL where it is none. */
static GStrv
model_paths (const SlZooRow *row, const SlZooSource *source)
{
  if (source->path == NULL)
    return NULL;
  g_autofree char *all =
    g_strconcat (source->path, row->parts != NULL ? " " : "", row->parts, NULL);
  return row->parts != NULL ? g_strsplit (all, " ", -1) : g_strdupv ((char *[]){ all, NULL });
}

static gboolean
stage_text (const Fetch *fetch, const char *name, const char *text, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autofree char *path = g_build_filename (fetch->staging, name, NULL);
  return text == NULL || g_file_set_contents (path, text, -1, &cause)
         || sl_fail (error, SL_ERROR_OPEN, "%s", cause->message);
}

/* Everything of the model's folder into the folder that becomes it. */
static gboolean
stage (const Fetch *fetch, const SlZooSource *source, const char *place, GError **error)
{
  const SlZooRow *row = fetch->row;
  g_auto (GStrv) paths = model_paths (row, source);
  const SlZooFile model = { .paths = (const char *const *) paths,
                            .slice = row->slice,
                            .size = row->size,
                            .most = row->size > 0 ? row->size : MOST_DOWNLOAD,
                            .sha256 = fetch->sha256 },
                  labels = { .paths = (const char *[]){ row->labels_source, NULL },
                             .slice = row->labels_slice,
                             .most = MOST_LABELS,
                             .sha256 = row->labels_sha256 };
  g_autofree char *to = g_build_filename (fetch->staging, row->file, NULL),
                  *names = g_strconcat (row->name, ".txt", NULL),
                  *labels_to = g_build_filename (fetch->staging, names, NULL),
                  *info = g_strconcat (row->file, ".modelinfo", NULL);
  return sl_zoo_extract (place, &model, to, error)
         && (row->labels_source == NULL || sl_zoo_extract (place, &labels, labels_to, error))
         && stage_text (fetch, info, row->info, error)
         && stage_text (fetch, SL_ZOO_CACHED_ROW, row->text, error);
}

/* The staged folder becomes the model's. One that was there before makes room in one step. */
static gboolean
publish (const Fetch *fetch, GError **error)
{
  g_autofree char *old = g_strdup_printf ("%s/%s-before", fetch->work, fetch->row->name);
  remove_folder (old);
  const gboolean was_there = g_rename (fetch->folder, old) == 0;
  const gboolean good =
    chmod (fetch->staging, 0755) == 0 && g_rename (fetch->staging, fetch->folder) == 0;
  if (!good)
    sl_fail (error, SL_ERROR_OPEN, "%s: cannot be made: %s", fetch->folder, g_strerror (errno));
  if (!good && was_there && g_rename (old, fetch->folder) != 0)
    g_prefix_error (error, "%s has what was there before; ", old);
  if (good)
    remove_folder (old);
  return good;
}

static gboolean
make (Fetch *fetch, const SlZooSource *source, const char *place, GError **error)
{
  g_autofree char *name = g_strdup_printf ("%s-XXXXXX", fetch->row->name);
  fetch->staging = g_build_filename (fetch->work, name, NULL);
  if (g_mkdtemp (fetch->staging) == NULL)
    return sl_fail (error, SL_ERROR_OPEN, "%s: no folder can be made there: %s", fetch->work,
                    g_strerror (errno));
  const gboolean good = stage (fetch, source, place, error) && publish (fetch, error);
  if (!good)
    remove_folder (fetch->staging);
  g_clear_pointer (&fetch->staging, g_free);
  return good;
}

/* Downloads, and once more from the start where a continued download has other bytes. */
static gboolean
fetch_keyed (Fetch *fetch, const SlZooSource *source, const char *key, gboolean keep,
             GError **error)
{
  g_autofree char *part_name = g_strconcat (key, ".part", NULL),
                  *part = g_build_filename (fetch->work, part_name, NULL),
                  *whole_name = g_strconcat (key, ".whole", NULL),
                  *whole = g_build_filename (fetch->work, whole_name, NULL);
  for (gboolean continued = TRUE;;) {
    g_autoptr (GError) cause = NULL;
    if (!download (fetch, source, part, whole, &continued, error))
      return FALSE;
    const gboolean good = make (fetch, source, whole, &cause);
    const gboolean other = g_error_matches (cause, SL_ERROR, SL_ERROR_FORMAT)
                           || g_error_matches (cause, SL_ERROR, SL_ERROR_LIMIT);
    if ((good && !keep) || other)
      unlink (whole);
    if (good)
      return TRUE;
    if (continued && other)
      continue;
    g_propagate_prefixed_error (error, g_steal_pointer (&cause), "%s: ", source->place);
    return FALSE;
  }
}

static gboolean
fetch_remote (Fetch *fetch, const SlZooSource *source, gboolean keep, GError **error)
{
  g_autofree char *hash = g_compute_checksum_for_string (G_CHECKSUM_SHA256, source->place, -1),
                  *key = g_strndup (hash, 16);
  int fd = -1;
  if (!lock (fetch, key, &fd, error))
    return FALSE;
  const gboolean good = fetch_keyed (fetch, source, key, keep, error);
  close (fd);
  return good;
}

static gboolean
fetch_locked (Fetch *fetch, gboolean keep, GError **error)
{
  g_autoptr (SlZooSource) source = sl_zoo_source_new (fetch->row, error);
  if (source == NULL)
    return FALSE;
  remove_leftovers (fetch);
  if (!source->is_local)
    return fetch_remote (fetch, source, keep, error);
  return make (fetch, source, source->place, error)
         || sl_fail_prefix (error, "%s: ", source->place);
}

static gboolean
check_hash_known (const SlZooRow *row, const char *sha256, GError **error)
{
  if (row->sha256 != NULL && sha256 != NULL && strcmp (row->sha256, sha256) != 0)
    return sl_fail (error, SL_ERROR_ARGUMENT, "--sha256 %s: the row of %s states %s", sha256,
                    row->name, row->sha256);
  return row->sha256 != NULL || sha256 != NULL
         || sl_fail (error, SL_ERROR_ARGUMENT,
                     "the row of %s was not tried and states no hash; find the sha256 of %s at its "
                     "makers and state --sha256 HEX",
                     row->name, row->source);
}

char *
sl_zoo_fetch (const SlZooRow *row, const char *sha256, gboolean keep, gboolean *moved,
              GError **error)
{
  g_auto (Fetch) fetch = { .row = row };
  int fd = -1;
  *moved = FALSE;
  if (!check_hash_known (row, sha256, error))
    return NULL;
  fetch.sha256 = row->sha256 != NULL ? row->sha256 : sha256;
  fetch.cache = sl_zoo_cache ();
  fetch.work = g_build_filename (fetch.cache, WORK, NULL);
  fetch.folder = g_build_filename (fetch.cache, row->name, NULL);
  if (g_mkdir_with_parents (fetch.work, 0755) != 0)
    return sl_fail_null (error, SL_ERROR_OPEN,
                         "%s: the cache cannot be made: %s; set XDG_CACHE_HOME to a folder that "
                         "you may write to",
                         fetch.work, g_strerror (errno));
  if (!lock (&fetch, row->name, &fd, error))
    return NULL;
  char *path = find_here (&fetch);
  if (path == NULL && fetch_locked (&fetch, keep, error)) {
    *moved = TRUE;
    path = g_build_filename (fetch.folder, row->file, NULL);
  }
  close (fd);
  return path;
}
