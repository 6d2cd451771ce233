/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/events/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/base/utc.h"
#include "plugins/record/part_file.h"

void
sl_clip_files_free (gpointer data)
{
  SlClipFiles *files = data;
  g_free (files->source);
  g_free (files);
}

/* (transfer full) (nullable): what @name says, if it is that of a whole file. */
static SlClipFiles *
read_name (const char *name, char **stem)
{
  g_autofree char *source = sl_clip_name_source (name);
  gboolean part;
  SlClipFile file;
  gint64 us;
  if (source == NULL || !sl_clip_name_read (name, source, &part, stem, &file, &us))
    return NULL;
  if (part) {
    g_clear_pointer (stem, g_free);
    return NULL;
  }
  SlClipFiles *files = g_new0 (SlClipFiles, 1);
  files->source = g_steal_pointer (&source);
  files->us = us;
  files->has = 1u << file;
  return files;
}

static gboolean
is_stem (const char *stem)
{
  g_autofree char *name = sl_clip_name (stem, SL_CLIP_VIDEO), *again = NULL;
  SlClipFiles *files = read_name (name, &again);
  const gboolean same = files != NULL && strcmp (again, stem) == 0;
  g_clear_pointer (&files, sl_clip_files_free);
  return same;
}

static gint
open_folder (const char *folder, GError **error)
{
  const gint fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    sl_fail (error, SL_ERROR_OPEN, "%s: %s", folder, g_strerror (errno));
  return fd;
}

SlClipFiles *
sl_clip_files_of (const char *folder, const char *stem)
{
  g_autofree char *name = sl_clip_name (stem, SL_CLIP_VIDEO), *again = NULL;
  const gint fd = open_folder (folder, NULL);
  SlClipFiles *files = fd >= 0 ? read_name (name, &again) : NULL;
  if (files != NULL)
    files->has = 0;
  for (guint i = 0; files != NULL && i < SL_CLIP_NAMES; i++) {
    g_autofree char *file = sl_clip_name (stem, (SlClipFile) i);
    struct stat status;
    if (fstatat (fd, file, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG (status.st_mode))
      continue;
    files->has |= 1u << i;
    files->bytes += (guint64) status.st_size;
  }
  if (fd >= 0)
    close (fd);
  if (files != NULL && (files->has & 1u << SL_CLIP_VIDEO) == 0)
    g_clear_pointer (&files, sl_clip_files_free);
  return files;
}

static gboolean
has_no_video (gpointer stem, gpointer files, gpointer data)
{
  return (((SlClipFiles *) files)->has & 1u << SL_CLIP_VIDEO) == 0;
}

GHashTable *
sl_clip_files_list (const char *folder, guint most, GError **error)
{
  const gint fd = open_folder (folder, error);
  DIR *names = fd >= 0 ? fdopendir (fd) : NULL;
  const struct dirent *entry;
  if (names == NULL) {
    if (fd >= 0)
      close (fd);
    return NULL;
  }
  GHashTable *all = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, sl_clip_files_free);
  while ((entry = readdir (names)) != NULL) {
    g_autofree char *stem = NULL;
    SlClipFiles *files = read_name (entry->d_name, &stem);
    SlClipFiles *known = files != NULL ? g_hash_table_lookup (all, stem) : NULL;
    if (known != NULL) {
      known->has |= files->has;
      sl_clip_files_free (files);
    } else if (files != NULL && g_hash_table_size (all) < most) {
      g_hash_table_insert (all, g_steal_pointer (&stem), files);
    } else {
      g_clear_pointer (&files, sl_clip_files_free);
    }
  }
  closedir (names);
  g_hash_table_foreach_remove (all, has_no_video, NULL);
  return all;
}

gint
sl_clip_file_open (const char *folder, const char *stem, SlClipFile file, guint64 *size,
                   GError **error)
{
  g_autofree char *name = sl_clip_name (stem, file);
  struct stat status;
  if (!is_stem (stem))
    return sl_fail (error, SL_ERROR_ARGUMENT, "%s: no name of a clip", stem), -1;
  const gint at = open_folder (folder, error);
  if (at < 0)
    return -1;
  const gint fd = openat (at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  const gint code = errno;
  close (at);
  if (fd >= 0 && fstat (fd, &status) == 0 && S_ISREG (status.st_mode)) {
    *size = (guint64) status.st_size;
    return fd;
  }
  sl_fail (error, SL_ERROR_OPEN, "%s: %s", name, fd < 0 ? g_strerror (code) : "no regular file");
  if (fd >= 0)
    close (fd);
  return -1;
}

GBytes *
sl_clip_file_read (const char *folder, const char *stem, SlClipFile file, gsize most,
                   GError **error)
{
  guint64 size;
  gsize length = 0;
  gssize n = 1;
  const gint fd = sl_clip_file_open (folder, stem, file, &size, error);
  if (fd < 0)
    return NULL;
  most = (gsize) MIN ((guint64) most, size);
  char *bytes = g_malloc (most + 1);
  while (length < most && n > 0) {
    n = read (fd, bytes + length, most - length);
    length += n > 0 ? (gsize) n : 0;
  }
  const gint code = errno;
  close (fd);
  bytes[length] = '\0';
  if (n >= 0)
    return g_bytes_new_take (bytes, length);
  g_free (bytes);
  return sl_fail_null (error, SL_ERROR_OPEN, "%s: %s", stem, g_strerror (code));
}

static gboolean
change (gint fd, const char *name, gboolean make, GError **error)
{
  const gint made =
    make ? openat (fd, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666) : -1;
  if (made >= 0)
    close (made);
  if (make ? made >= 0 : unlinkat (fd, name, 0) == 0 || errno == ENOENT)
    return TRUE;
  return sl_fail (error, SL_ERROR_OPEN,
                  "%s: %s; expected a folder that this process may write into", name,
                  g_strerror (errno));
}

/* Its folder, if the clip is there; below 0 with @error set. */
static gint
open_folder_of (const char *folder, const char *stem, GError **error)
{
  SlClipFiles *files = sl_clip_files_of (folder, stem);
  if (files == NULL)
    return sl_fail (error, SL_ERROR_OPEN, "%s: the clip is gone", stem), -1;
  sl_clip_files_free (files);
  return open_folder (folder, error);
}

gboolean
sl_clip_files_keep (const char *folder, const char *stem, gboolean keep, GError **error)
{
  g_autofree char *mark = sl_clip_name (stem, SL_CLIP_KEEP);
  const gint fd = open_folder_of (folder, stem, error);
  const gboolean done = fd >= 0 && change (fd, mark, keep, error);
  if (done)
    fsync (fd);
  if (fd >= 0)
    close (fd);
  return done;
}

static char *
write_review (const char *user, gint64 us)
{
  GString *json = g_string_new ("{");
  sl_json_append_text (json, "user", *user != '\0' ? user : NULL);
  g_string_append (json, ",\"time\":\"");
  sl_utc_append (json, us);
  g_string_append (json, "\"}\n");
  return g_string_free (json, FALSE);
}

gboolean
sl_clip_files_review (const char *folder, const char *stem, const char *user, gint64 us,
                      GError **error)
{
  g_autofree char *json = user != NULL ? write_review (user, us) : NULL;
  g_autofree char *mark = sl_clip_name (stem, SL_CLIP_REVIEWED);
  SlPartFile file = SL_PART_FILE_NONE;
  const gint fd = open_folder_of (folder, stem, error);
  if (fd < 0)
    return FALSE;
  const gboolean done = json == NULL ? change (fd, mark, FALSE, error)
                                     : sl_part_file_open (&file, fd, stem, SL_CLIP_REVIEWED, error)
                                         && sl_part_file_write (&file, json, strlen (json), error)
                                         && sl_part_file_sync (&file, error)
                                         && sl_part_file_commit (&file, error);
  sl_part_file_abandon (&file);
  if (done)
    fsync (fd);
  close (fd);
  return done;
}

/* Whether a writer has the hidden file. */
static gboolean
is_written (gint folder, const char *hidden)
{
  struct stat status;
  const gint claimed = sl_part_file_claim (folder, hidden);
  if (claimed >= 0)
    close (claimed);
  return claimed < 0 && fstatat (folder, hidden, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

gboolean
sl_clip_is_recorded (const char *folder, const char *source, gint64 us)
{
  const gint fd = open_folder (folder, NULL);
  DIR *names = fd >= 0 ? fdopendir (fd) : NULL;
  const struct dirent *entry;
  gboolean recorded = FALSE;
  while (names != NULL && !recorded && (entry = readdir (names)) != NULL) {
    g_autofree char *stem = NULL;
    gboolean part;
    SlClipFile file;
    gint64 began;
    recorded = sl_clip_name_read (entry->d_name, source, &part, &stem, &file, &began) && part
               && file == SL_CLIP_VIDEO && began <= us && is_written (fd, entry->d_name);
  }
  if (names != NULL)
    closedir (names);
  else if (fd >= 0)
    close (fd);
  return recorded;
}

gboolean
sl_clip_files_delete (const char *folder, const char *stem, GError **error)
{
  static const SlClipFile order[] = { SL_CLIP_VIDEO, SL_CLIP_NOTES, SL_CLIP_PICTURE,
                                      SL_CLIP_REVIEWED, SL_CLIP_KEEP };
  if (!is_stem (stem))
    return sl_fail (error, SL_ERROR_ARGUMENT, "%s: no name of a clip", stem);
  const gint fd = open_folder (folder, error);
  gboolean done = fd >= 0;
  for (guint i = 0; done && i < G_N_ELEMENTS (order); i++) {
    g_autofree char *name = sl_clip_name (stem, order[i]);
    done = change (fd, name, FALSE, error);
  }
  if (fd >= 0)
    close (fd);
  return done;
}
