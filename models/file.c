/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening files by name. Pipes and devices are refused before they are opened: reading them could
 * block for ever.
 */
#include "models/file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"

static int
refuse (GError **error, const char *problem, const char *expected)
{
  sl_fail (error, SL_ERROR_OPEN, "%s; expected %s", problem, expected);
  return -1;
}

static int
refuse_errno (GError **error, int code, const char *expected)
{
  return refuse (error, code == ENOENT ? "no such file, check the path" : g_strerror (code),
                 expected);
}

/* What kind of file it is, for a message; NULL for a regular file. */
static const char *
complaint (const struct stat *info)
{
  return S_ISREG (info->st_mode)   ? NULL
         : S_ISDIR (info->st_mode) ? "is a directory"
                                   : "is not a regular file";
}

int
sl_file_open (const char *path, const char *expected, SlFileStamp *stamp, GError **error)
{
  struct stat info;
  if (stat (path, &info) != 0)
    return refuse_errno (error, errno, expected);
  if (complaint (&info) != NULL)
    return refuse (error, complaint (&info), expected);
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return refuse_errno (error, errno, expected);
  /* Another file may have the name by now. */
  const int failed = fstat (fd, &info) != 0 ? errno : 0;
  if (failed == 0 && complaint (&info) == NULL) {
    sl_file_stamp_init (stamp, &info);
    return fd;
  }
  close (fd);
  return failed != 0 ? refuse_errno (error, failed, expected)
                     : refuse (error, complaint (&info), expected);
}

GBytes *
sl_file_read (const char *path, const char *expected, gsize most, GError **error)
{
  SlFileStamp stamp;
  const int fd = sl_file_open (path, expected, &stamp, error);
  if (fd < 0)
    return NULL;
  /* One byte more than the file has, to see its end without growing. */
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  gssize n = 1;
  for (gsize got = 0; n != 0 && got <= most; got = bytes->len) {
    const gsize room = got < (guint64) stamp.size ? (gsize) stamp.size - got + 1 : 4096;
    g_byte_array_set_size (bytes, (guint) (got + MIN (room, most + 1 - got)));
    n = read (fd, bytes->data + got, bytes->len - got);
    g_byte_array_set_size (bytes, (guint) (got + (gsize) MAX (n, 0)));
    if (n < 0 && errno != EINTR) {
      refuse_errno (error, errno, expected);
      close (fd);
      return NULL;
    }
  }
  close (fd);
  return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
}
