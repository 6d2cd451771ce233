/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* No message shows any part of the file's contents. */
#include "core/base/secretfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Its group may read it: so services are given secrets. */
#define TOO_OPEN (S_IWGRP | S_IRWXO)

static gboolean
fail (GError **error, GFileError code, const char *path, const char *why)
{
  g_set_error (error, G_FILE_ERROR, (gint) code, "%s: %s", path, why);
  return FALSE;
}

static gboolean
check_file (int fd, const char *path, char **warning, GError **error)
{
  struct stat about;
  if (fstat (fd, &about) != 0 || !S_ISREG (about.st_mode))
    return fail (error, G_FILE_ERROR_INVAL, path, "expected a regular file with the secret in it");
  if ((about.st_mode & TOO_OPEN) != 0)
    *warning = g_strdup_printf (
      "%s: other users may read or change this secret (mode %04o): chmod 600, or 640 for a group "
      "of its own",
      path, (guint) about.st_mode & 07777);
  return TRUE;
}

static gboolean
read_all (int fd, const char *path, char buffer[SL_SECRET_MAX + 2], gsize *length, GError **error)
{
  gssize got = 1;
  *length = 0;
  while (got != 0 && *length < SL_SECRET_MAX + 2) {
    got = read (fd, buffer + *length, SL_SECRET_MAX + 2 - *length);
    if (got < 0 && errno != EINTR)
      return fail (error, g_file_error_from_errno (errno), path, g_strerror (errno));
    *length += (gsize) MAX (got, 0);
  }
  if (*length > 0 && buffer[*length - 1] == '\n')
    --*length;
  if (*length > 0 && buffer[*length - 1] == '\r')
    --*length;
  if (*length == 0)
    return fail (error, G_FILE_ERROR_INVAL, path, "is empty: expected the secret in it");
  if (*length > SL_SECRET_MAX)
    return fail (error, G_FILE_ERROR_INVAL, path,
                 "is longer than 4096 bytes: expected the secret, and nothing else, in it");
  if (memchr (buffer, '\n', *length) != NULL || memchr (buffer, '\0', *length) != NULL)
    return fail (error, G_FILE_ERROR_INVAL, path,
                 "has several lines: expected the secret, and nothing else, in it");
  return TRUE;
}

char *
sl_secret_file_read (const char *path, char **warning, GError **error)
{
  char buffer[SL_SECRET_MAX + 2];
  gsize length;
  char *secret = NULL;
  *warning = NULL;
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    fail (error, g_file_error_from_errno (errno), path, g_strerror (errno));
    return NULL;
  }
  if (check_file (fd, path, warning, error) && read_all (fd, path, buffer, &length, error))
    secret = g_strndup (buffer, length);
  else
    g_clear_pointer (warning, g_free);
  memset (buffer, 0, sizeof buffer);
  close (fd);
  return secret;
}
