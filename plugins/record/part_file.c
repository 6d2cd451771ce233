/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lock is flock(2)'s: it ends with the process, and holds between containers that share a
 * folder but no process ids. Between the making of a file and its lock, another process may take it
 * for one that is left: then it has no name any more, and is made again.
 */
#include "plugins/record/part_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODE 0640
#define ATTEMPTS 8

static gboolean
fail (SlPartFile *file, const char *what, GError **error)
{
  const int saved = errno;
  g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (saved), "%s: %s: %s",
               file->name, what, g_strerror (saved));
  return FALSE;
}

static int
lock (int fd, int how)
{
  int locked;
  do
    locked = flock (fd, how);
  while (locked != 0 && errno == EINTR);
  return locked;
}

/* Whether the open file @fd still has a name. */
static gboolean
has_name (int fd)
{
  struct stat status;
  return fstat (fd, &status) == 0 && status.st_nlink > 0;
}

gboolean
sl_part_file_open (SlPartFile *file, gint folder, const char *stem, SlClipFile kind, GError **error)
{
  *file = (SlPartFile){ .fd = -1,
                        .folder = folder,
                        .hidden = sl_clip_part_name (stem, kind),
                        .name = sl_clip_name (stem, kind) };
  for (guint i = 0; i < ATTEMPTS; i++) {
    file->fd =
      openat (folder, file->hidden, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE);
    if (file->fd < 0)
      break;
    /* A file system without locks has no others' files that are left, either: sl_part_file_claim()
     * gives none. */
    if ((lock (file->fd, LOCK_EX) == 0 || errno == ENOLCK || errno == EOPNOTSUPP)
        && has_name (file->fd))
      return TRUE;
    close (file->fd);
    file->fd = -1;
    errno = EBUSY;
  }
  fail (file, "cannot be made", error);
  sl_part_file_abandon (file);
  return FALSE;
}

gboolean
sl_part_file_write (SlPartFile *file, gconstpointer data, gsize bytes, GError **error)
{
  for (const char *at = data; bytes > 0;) {
    const ssize_t written = write (file->fd, at, bytes);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return fail (file, "cannot be written", error);
    at += written;
    bytes -= (gsize) written;
  }
  return TRUE;
}

gboolean
sl_part_file_sync (SlPartFile *file, GError **error)
{
  int synced;
  do
    synced = fsync (file->fd);
  while (synced != 0 && errno == EINTR);
  return synced == 0 || fail (file, "cannot be written", error);
}

static void
clear (SlPartFile *file)
{
  if (file->fd >= 0)
    close (file->fd);
  file->fd = -1;
  g_clear_pointer (&file->hidden, g_free);
  g_clear_pointer (&file->name, g_free);
}

gboolean
sl_part_file_commit (SlPartFile *file, GError **error)
{
  if (renameat (file->folder, file->hidden, file->folder, file->name) != 0)
    return fail (file, "cannot be renamed", error);
  clear (file);
  return TRUE;
}

void
sl_part_file_abandon (SlPartFile *file)
{
  if (file->fd >= 0)
    unlinkat (file->folder, file->hidden, 0);
  clear (file);
}

/* Whether @hidden is still the name of the open file @fd. */
static gboolean
is_named (int fd, gint folder, const char *hidden)
{
  struct stat status, named;
  return fstat (fd, &status) == 0 && S_ISREG (status.st_mode)
         && fstatat (folder, hidden, &named, AT_SYMLINK_NOFOLLOW) == 0
         && status.st_dev == named.st_dev && status.st_ino == named.st_ino;
}

gint
sl_part_file_claim (gint folder, const char *hidden)
{
  /* O_NONBLOCK: a FIFO of that name has no reader. */
  const int fd = openat (folder, hidden, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return -1;
  /* Its writer may have given it its name before the lock was free. */
  if (is_named (fd, folder, hidden) && lock (fd, LOCK_EX | LOCK_NB) == 0
      && is_named (fd, folder, hidden))
    return fd;
  close (fd);
  return -1;
}
