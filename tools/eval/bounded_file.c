/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/eval/bounded_file.h"

#include <glib/gstdio.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/fail.h"

static char *
refuse (GError **error, SlError code, const char *path, const char *reason, const char *what)
{
  return sl_fail_null (error, code, "%s: %s; expected %s", path, reason, what);
}

/* At most @size bytes; -1 with errno set. */
static gssize
read_up_to (int fd, char *data, gsize size)
{
  gsize at = 0;
  while (at < size) {
    const gssize n = read (fd, data + at, size - at);
    if (n == 0)
      break;
    if (n < 0 && errno != EINTR)
      return -1;
    at += n > 0 ? (gsize) n : 0;
  }
  return (gssize) at;
}

/* One byte more is asked for than the file had: it may grow meanwhile. */
static char *
read_open (int fd, const char *path, const char *what, gsize most, gsize *length, GError **error)
{
  GStatBuf status;
  if (fstat (fd, &status) != 0)
    return refuse (error, SL_ERROR_OPEN, path, g_strerror (errno), what);
  if (!S_ISREG (status.st_mode))
    return refuse (error, SL_ERROR_OPEN, path, "is no regular file", what);
  const gsize size = (gsize) status.st_size;
  g_autofree char *data = size <= most ? g_try_malloc (size + 1) : NULL;
  const gssize n = data != NULL ? read_up_to (fd, data, size + 1) : 0;
  if (n < 0)
    return refuse (error, SL_ERROR_OPEN, path, g_strerror (errno), what);
  if (data == NULL || (gsize) n > size) {
    g_autofree char *reason = data != NULL ? g_strdup ("grows while it is read")
                                           : g_strdup_printf ("%" G_GSIZE_FORMAT " bytes", size);
    g_autofree char *bound =
      g_strdup_printf ("%s of at most %" G_GSIZE_FORMAT " bytes", what, most);
    return refuse (error, SL_ERROR_LIMIT, path, reason, bound);
  }
  data[n] = '\0';
  if (length != NULL)
    *length = (gsize) n;
  return g_steal_pointer (&data);
}

char *
sl_bounded_file_read (const char *path, const char *what, gsize most, gsize *length, GError **error)
{
  /* Without waiting: a named pipe has no writer. */
  const int fd = g_open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  if (fd < 0)
    return refuse (error, SL_ERROR_OPEN, path,
                   errno == ENOENT ? "no such file, check the path" : g_strerror (errno), what);
  char *data = read_open (fd, path, what, most, length, error);
  close (fd);
  return data;
}
