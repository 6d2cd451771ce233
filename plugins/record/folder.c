/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Everything goes by the folder's descriptor, so that nobody can put another folder in its place
 * while a clip is written. */
#include "plugins/record/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "plugins/record/part_file.h"
#include "core/base/fail.h"

/* Clips of one folder that are kept in mind. */
#define CLIPS_MOST 100000
/* Microseconds since 1970, in 2020: clocks that nobody set are before it. */
#define CLOCK_SET (G_GINT64_CONSTANT (1577836800) * G_USEC_PER_SEC)

typedef struct
{
  char *stem;
  gint64 us;
  guint64 bytes;
  gboolean kept;
} Clip;

static gboolean
fail (const char *path, const char *reason, GError **error)
{
  return sl_fail (
    error, SL_ERROR_OPEN,
    "location=%s: %s; expected a folder that this process may write into: make it, or change its "
    "owner",
    path, reason);
}

/* Whether a file can be made: permissions alone do not tell, as of a file system that is read-only.
 * A full one may have room again. */
static gboolean
try_file (SlFolder *folder, GError **error)
{
  SlPartFile file = SL_PART_FILE_NONE;
  g_autofree char *stem = sl_clip_stem (folder->source, g_get_real_time (), "trial");
  g_autoptr (GError) reason = NULL;
  if (!sl_part_file_open (&file, folder->fd, stem, SL_CLIP_NOTES, &reason)
      && !g_error_matches (reason, G_FILE_ERROR, G_FILE_ERROR_NOSPC)
      && !g_error_matches (reason, G_FILE_ERROR, G_FILE_ERROR_EXIST))
    return fail (folder->path, reason->message, error);
  sl_part_file_abandon (&file);
  return TRUE;
}

gboolean
sl_folder_open (SlFolder *folder, const char *path, const char *source, GError **error)
{
  *folder = (SlFolder){ .fd = -1 };
  if (path == NULL || *path == '\0')
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "location is not set: expected the folder that clips are written into");
  folder->fd = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder->fd < 0)
    return fail (path, g_strerror (errno), error);
  folder->path = g_strdup (path);
  folder->clips_most = CLIPS_MOST;
  folder->source = sl_clip_source (source);
  if (try_file (folder, error))
    return TRUE;
  sl_folder_close (folder);
  return FALSE;
}

/* Whether what is at the folder's path now is the open folder. */
static gboolean
is_there (const SlFolder *folder)
{
  struct stat there, open;
  return stat (folder->path, &there) == 0 && fstat (folder->fd, &open) == 0
         && there.st_dev == open.st_dev && there.st_ino == open.st_ino;
}

gboolean
sl_folder_follow (SlFolder *folder, GError **error)
{
  if (is_there (folder))
    return TRUE;
  const gint fd = open (folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return sl_fail (error, SL_ERROR_OPEN, "the folder is not there any more (%s): make it again",
                    g_strerror (errno));
  close (folder->fd);
  folder->fd = fd;
  sl_folder_clean (folder);
  return TRUE;
}

void
sl_folder_close (SlFolder *folder)
{
  if (folder->fd >= 0)
    close (folder->fd);
  folder->fd = -1;
  g_clear_pointer (&folder->path, g_free);
  g_clear_pointer (&folder->source, g_free);
}

/* (nullable) */
static DIR *
list (const SlFolder *folder)
{
  const int fd = openat (folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *names = fd >= 0 ? fdopendir (fd) : NULL;
  if (names == NULL && fd >= 0)
    close (fd);
  return names;
}

/* Bytes on the disk; FALSE when it is no regular file. */
static gboolean
measure (const SlFolder *folder, const char *name, guint64 *bytes)
{
  struct stat status;
  if (fstatat (folder->fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG (status.st_mode))
    return FALSE;
  *bytes = (guint64) status.st_size;
  return TRUE;
}

static void
remove_file (const SlFolder *folder, const char *stem, SlClipFile file)
{
  g_autofree char *name = sl_clip_name (stem, file);
  guint64 bytes;
  if (measure (folder, name, &bytes))
    unlinkat (folder->fd, name, 0);
}

/* The clip got its name last: what has its name already goes with it, and before it, or nobody
 * would find it. */
static gboolean
clean_part (const SlFolder *folder, const char *hidden, const char *stem, SlClipFile file)
{
  g_autofree char *video = sl_clip_name (stem, SL_CLIP_VIDEO);
  guint64 bytes;
  const gint fd = sl_part_file_claim (folder->fd, hidden);
  if (fd < 0)
    return FALSE;
  if (file == SL_CLIP_VIDEO && !measure (folder, video, &bytes)) {
    remove_file (folder, stem, SL_CLIP_NOTES);
    remove_file (folder, stem, SL_CLIP_PICTURE);
  }
  const gboolean cleaned = unlinkat (folder->fd, hidden, 0) == 0;
  close (fd);
  return cleaned;
}

guint
sl_folder_clean (SlFolder *folder)
{
  DIR *names = list (folder);
  const struct dirent *entry;
  guint cleaned = 0;
  while (names != NULL && (entry = readdir (names)) != NULL) {
    g_autofree char *stem = NULL;
    gboolean part;
    SlClipFile file;
    gint64 us;
    if (sl_clip_name_read (entry->d_name, folder->source, &part, &stem, &file, &us) && part)
      cleaned += clean_part (folder, entry->d_name, stem, file) ? 1 : 0;
  }
  if (names != NULL)
    closedir (names);
  return cleaned;
}

static void
free_clip (gpointer data)
{
  Clip *clip = data;
  g_free (clip->stem);
  g_free (clip);
}

static gint
by_time (gconstpointer a, gconstpointer b)
{
  const Clip *first = *(Clip *const *) a, *second = *(Clip *const *) b;
  return first->us < second->us ? -1 : first->us > second->us;
}

/* The oldest are what matters. */
static void
forget_newest (GPtrArray *clips, GHashTable *by_stem, guint most)
{
  g_ptr_array_sort (clips, by_time);
  for (guint i = most; i < clips->len; i++)
    g_hash_table_remove (by_stem, ((Clip *) clips->pdata[i])->stem);
  g_ptr_array_set_size (clips, (gint) most);
}

/* A person may set the mark while clips are deleted. */
static gboolean
is_kept (const SlFolder *folder, const char *stem)
{
  g_autofree char *mark = sl_clip_name (stem, SL_CLIP_KEEP);
  struct stat status;
  return fstatat (folder->fd, mark, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* (transfer full): whole files by their clips, oldest first. @total: bytes of clips without the
 * mark. */
static GPtrArray *
list_clips (const SlFolder *folder, guint64 *total)
{
  g_autoptr (GHashTable) by_stem = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *clips = g_ptr_array_new_with_free_func (free_clip);
  DIR *names = list (folder);
  const struct dirent *entry;
  *total = 0;
  while (names != NULL && (entry = readdir (names)) != NULL) {
    g_autofree char *stem = NULL;
    gboolean part;
    SlClipFile file;
    gint64 us;
    guint64 bytes;
    if (!sl_clip_name_read (entry->d_name, folder->source, &part, &stem, &file, &us) || part
        || !measure (folder, entry->d_name, &bytes))
      continue;
    Clip *clip = g_hash_table_lookup (by_stem, stem);
    if (clip == NULL) {
      if (clips->len >= 2 * folder->clips_most)
        forget_newest (clips, by_stem, folder->clips_most);
      clip = g_new0 (Clip, 1);
      clip->stem = g_steal_pointer (&stem);
      clip->us = us;
      g_ptr_array_add (clips, clip);
      g_hash_table_insert (by_stem, clip->stem, clip);
    }
    clip->bytes += bytes;
    clip->kept = clip->kept || file == SL_CLIP_KEEP;
    *total += bytes;
  }
  for (guint i = 0; i < clips->len; i++)
    *total -= ((Clip *) clips->pdata[i])->kept ? ((Clip *) clips->pdata[i])->bytes : 0;
  if (names != NULL)
    closedir (names);
  g_ptr_array_sort (clips, by_time);
  return clips;
}

/* A file system that does not say counts as empty. */
static gboolean
would_have_room (const SlFolder *folder, guint64 more)
{
  struct statvfs status;
  return folder->min_free == 0 || fstatvfs (folder->fd, &status) != 0
         || (guint64) status.f_bavail * (guint64) status.f_frsize + more >= folder->min_free;
}

gboolean
sl_folder_has_room (SlFolder *folder)
{
  return would_have_room (folder, 0);
}

gboolean
sl_folder_trim (SlFolder *folder, gint64 now, guint *sacrificed)
{
  guint64 total;
  g_autoptr (GPtrArray) clips = list_clips (folder, &total);
  const gboolean helps = would_have_room (folder, total);
  *sacrificed = 0;
  for (guint i = 0; i < clips->len; i++) {
    const Clip *clip = clips->pdata[i];
    const gboolean many = folder->max_bytes > 0 && total > folder->max_bytes && i + 1 < clips->len;
    /* Without a clock that was set a clip's age is not known. */
    const gboolean old = folder->keep > 0 && clip->us >= CLOCK_SET && now - clip->us > folder->keep;
    const gboolean space = !old && !many && helps && !sl_folder_has_room (folder);
    if (clip->kept || (!old && !many && !space) || is_kept (folder, clip->stem))
      continue;
    /* The clip without its notes would be worse than the notes without the clip. */
    remove_file (folder, clip->stem, SL_CLIP_VIDEO);
    remove_file (folder, clip->stem, SL_CLIP_NOTES);
    remove_file (folder, clip->stem, SL_CLIP_PICTURE);
    remove_file (folder, clip->stem, SL_CLIP_REVIEWED);
    total -= clip->bytes;
    *sacrificed += space ? 1 : 0;
  }
  return sl_folder_has_room (folder);
}
