/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every file is written first, under a name that is locked, and only then they are renamed. A
 * process that dies leaves a hidden .NAME.new, which the next one overwrites.
 */
#include "pipelines/description/edit_write.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "core/base/utc.h"

/* @target: behind links; @fd: of @fresh, locked */
typedef struct
{
  const SlEditFile *file;
  char *target, *folder, *fresh, *backup;
  int fd;
  gboolean renamed;
} Job;

void
sl_edit_file_clear (gpointer data)
{
  SlEditFile *file = data;
  g_free (file->path);
  g_bytes_unref (file->before);
  g_bytes_unref (file->after);
}

static gboolean
fail (const Job *job, const char *what, int problem, GError **error)
{
  return sl_fail (error, SL_ERROR_OPEN, "%s: %s: %s; nothing was changed", job->file->path, what,
                  g_strerror (problem));
}

static void
job_clear (gpointer data)
{
  Job *job = data;
  if (job->fd >= 0) {
    if (!job->renamed)
      g_unlink (job->fresh);
    close (job->fd);
  }
  free (job->target);
  g_free (job->folder);
  g_free (job->fresh);
  g_free (job->backup);
}

static gboolean
job_init (Job *job, const SlEditFile *file, GError **error)
{
  *job = (Job){ .file = file, .fd = -1, .target = realpath (file->path, NULL) };
  if (job->target == NULL)
    return fail (job, "it is not there any more", errno, error);
  g_autofree char *name = g_path_get_basename (job->target);
  job->folder = g_path_get_dirname (job->target);
  job->fresh = g_strdup_printf ("%s/.%s.new", job->folder, name);
  return TRUE;
}

gboolean
sl_edit_check_writable_file (const char *path, GError **error)
{
  const SlEditFile file = { .path = (char *) path };
  Job job;
  struct stat info;
  gboolean good = job_init (&job, &file, error);
  if (good && (g_access (job.target, W_OK) != 0 || g_access (job.folder, W_OK | X_OK) != 0))
    good = sl_fail (
      error, SL_ERROR_OPEN,
      "%s: this user (%u) cannot write %s: expected a file and a folder that it can write; change "
      "their owner or mode",
      path, (guint) geteuid (), g_access (job.target, W_OK) != 0 ? "the file" : "into its folder");
  else if (good && stat (job.target, &info) == 0 && info.st_uid != geteuid () && geteuid () != 0)
    good = sl_fail (
      error, SL_ERROR_OPEN,
      "%s: it belongs to user %u, and this is user %u: expected a file of its own, since a new one "
      "would not keep its owner",
      path, (guint) info.st_uid, (guint) geteuid ());
  job_clear (&job);
  return good;
}

/* Whether the file at @target is @bytes, and no more. */
static gboolean
has_contents (const char *target, GBytes *bytes)
{
  g_autofree char *text = NULL;
  gsize length = 0;
  return g_file_get_contents (target, &text, &length, NULL) && length == g_bytes_get_size (bytes)
         && (length == 0 || memcmp (text, g_bytes_get_data (bytes, NULL), length) == 0);
}

static gboolean
write_all (int fd, GBytes *bytes)
{
  gsize length;
  const char *at = g_bytes_get_data (bytes, &length);
  while (length > 0) {
    const gssize n = write (fd, at, length);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return FALSE;
    at += n;
    length -= (gsize) n;
  }
  return TRUE;
}

/* Opens the name beside the file, for this process alone. */
static gboolean
open_fresh (Job *job, GError **error)
{
  struct stat opened, named;
  job->fd = open (job->fresh, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (job->fd < 0)
    return fail (job, "no file can be made beside it", errno, error);
  if (flock (job->fd, LOCK_EX | LOCK_NB) == 0 && fstat (job->fd, &opened) == 0
      && lstat (job->fresh, &named) == 0 && opened.st_ino == named.st_ino)
    return TRUE;
  close (job->fd);
  job->fd = -1;
  return sl_fail (error, SL_ERROR_OPEN,
                  "%s: another program writes it right now; nothing was changed, try again",
                  job->file->path);
}

/* (element-type utf8) (transfer full): names of extended attributes; labels of security modules are
 * the system's. */
static GPtrArray *
list_attributes (gssize (*list) (gpointer file, char *names, gsize size), gpointer file)
{
  GPtrArray *all = g_ptr_array_new_with_free_func (g_free);
  gssize size = list (file, NULL, 0);
  g_autofree char *names = size > 0 ? g_malloc ((gsize) size) : NULL;
  size = names != NULL ? list (file, names, (gsize) size) : 0;
  for (const char *name = names; name != NULL && name < names + size; name += strlen (name) + 1)
    if (!g_str_has_prefix (name, "security."))
      g_ptr_array_add (all, g_strdup (name));
  return all;
}

static gssize
list_old (gpointer path, char *names, gsize size)
{
  return listxattr (path, names, size);
}

static gssize
list_fresh (gpointer fd, char *names, gsize size)
{
  return flistxattr (*(int *) fd, names, size);
}

static gboolean
copy_attribute (const Job *job, const char *name)
{
  gssize size = getxattr (job->target, name, NULL, 0);
  g_autofree void *value = size > 0 ? g_malloc ((gsize) size) : NULL;
  size = size > 0 ? getxattr (job->target, name, value, (gsize) size) : size;
  return size >= 0 && fsetxattr (job->fd, name, value, (gsize) size, 0) == 0;
}

/* Access lists are among the extended attributes, and a new file may have one of its folder's. */
static gboolean
copy_attributes (Job *job, GError **error)
{
  g_autoptr (GPtrArray) old = list_attributes (list_old, job->target),
                        fresh = list_attributes (list_fresh, &job->fd);
  gboolean good = TRUE;
  for (guint i = 0; good && i < fresh->len; i++)
    good = g_ptr_array_find_with_equal_func (old, fresh->pdata[i], g_str_equal, NULL)
           || fremovexattr (job->fd, fresh->pdata[i]) == 0;
  for (guint i = 0; good && i < old->len; i++)
    good = copy_attribute (job, old->pdata[i]);
  return good
         || fail (job, "a new file cannot have its extended attributes and access list", errno,
                  error);
}

/* Owner, mode and attributes of the old file, contents, on the disk. */
static gboolean
fill_fresh (Job *job, GError **error)
{
  struct stat old, made;
  if (stat (job->target, &old) != 0 || fstat (job->fd, &made) != 0)
    return fail (job, "it cannot be looked at", errno, error);
  if ((old.st_uid != made.st_uid || old.st_gid != made.st_gid)
      && fchown (job->fd, old.st_uid, old.st_gid) != 0)
    return fail (job, "a new file cannot have its owner", errno, error);
  if (ftruncate (job->fd, 0) != 0 || !write_all (job->fd, job->file->after)
      || fchmod (job->fd, old.st_mode & 07777) != 0)
    return fail (job, "it cannot be written", errno, error);
  return copy_attributes (job, error)
         && (fsync (job->fd) == 0 || fail (job, "it cannot be written", errno, error));
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Of the copies the last ones stay. */
static void
drop_backups (const Job *job)
{
  g_autofree char *base = g_path_get_basename (job->target);
  g_autofree char *prefix = g_strconcat (base, ".bak-", NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) folder = g_dir_open (job->folder, 0, NULL);
  const char *name;
  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL)
    if (g_str_has_prefix (name, prefix))
      g_ptr_array_add (names, g_build_filename (job->folder, name, NULL));
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i + SL_EDIT_BACKUPS < names->len; i++)
    g_unlink (names->pdata[i]);
}

/* The old file under a second name; where the file system has none, a copy. */
static gboolean
keep_old (Job *job, GError **error)
{
  for (gint64 now = g_get_real_time ();; now += 1000) {
    g_autoptr (GString) name = g_string_new (job->target);
    g_string_append (name, ".bak-");
    const gsize base = name->len;
    sl_utc_append (name, now);
    for (gsize i = name->len; i > base; i--)
      if (name->str[i - 1] == ':')
        g_string_erase (name, (gssize) i - 1, 1);
    g_free (job->backup);
    job->backup = g_strdup (name->str);
    if (link (job->target, job->backup) == 0)
      return TRUE;
    if (errno != EEXIST)
      break;
  }
  g_autoptr (GError) reason = NULL;
  if (g_file_set_contents_full (job->backup, g_bytes_get_data (job->file->before, NULL),
                                (gssize) g_bytes_get_size (job->file->before),
                                G_FILE_SET_CONTENTS_CONSISTENT, 0600, &reason))
    return TRUE;
  g_clear_pointer (&job->backup, g_free);
  return sl_fail (error, SL_ERROR_OPEN, "%s: no copy of it can be kept: %s; nothing was changed",
                  job->file->path, reason->message);
}

static void
sync_folder (const char *folder)
{
  const int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    fsync (fd);
    close (fd);
  }
}

static gboolean
replace (Job *job, gboolean *conflict, GError **error)
{
  if (!has_contents (job->target, job->file->before)) {
    *conflict = TRUE;
    return sl_fail (error, SL_ERROR_OPEN,
                    "%s: it was changed on the disk meanwhile; nothing was changed",
                    job->file->path);
  }
  if (!keep_old (job, error))
    return FALSE;
  if (rename (job->fresh, job->target) != 0) {
    const int problem = errno;
    g_unlink (job->backup);
    return fail (job, "it cannot be replaced", problem, error);
  }
  job->renamed = TRUE;
  sync_folder (job->folder);
  return TRUE;
}

/* What was replaced before another file failed. */
static void
put_back (const Job *job, GError **error)
{
  if (g_rename (job->backup, job->target) == 0)
    sync_folder (job->folder);
  else
    sl_fail_prefix (error,
                    "%s: it is changed, and cannot be put back (%s): rename %s to it; then: ",
                    job->file->path, g_strerror (errno), job->backup);
}

gboolean
sl_edit_write (const GArray *files, gboolean *conflict, GError **error)
{
  g_autoptr (GArray) jobs = g_array_new (FALSE, TRUE, sizeof (Job));
  gboolean good = TRUE;
  *conflict = FALSE;
  g_array_set_clear_func (jobs, job_clear);
  g_array_set_size (jobs, files->len);
  for (guint i = 0; i < files->len; i++)
    g_array_index (jobs, Job, i).fd = -1;
  for (guint i = 0; good && i < files->len; i++) {
    Job *job = &g_array_index (jobs, Job, i);
    good = job_init (job, &g_array_index (files, SlEditFile, i), error) && open_fresh (job, error)
           && fill_fresh (job, error);
  }
  for (guint i = 0; good && i < files->len; i++)
    good = replace (&g_array_index (jobs, Job, i), conflict, error);
  for (guint i = 0; i < files->len; i++) {
    Job *job = &g_array_index (jobs, Job, i);
    if (job->renamed && !good)
      put_back (job, error);
    else if (job->renamed)
      drop_backups (job);
  }
  return good;
}
