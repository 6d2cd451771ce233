/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening files by name. Pipes and devices are refused before they are opened: reading them could block for ever.
 */
#include "models/file.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"

static GBytes *
refuse (GError **error, const char *problem, const char *expected)
{
  g_set_error (error, SL_ERROR, SL_ERROR_OPEN, "%s; expected %s", problem, expected);
  return NULL;
}

GBytes *
sl_file_map (const char *path, const char *expected, GError **error)
{
  g_autoptr (GError) cause = NULL;
  GStatBuf info;
  if (g_stat (path, &info) != 0) {
    const int saved = errno;
    return refuse (error, saved == ENOENT ? "no such file, check the path" : g_strerror (saved), expected);
  }
  if (S_ISDIR (info.st_mode))
    return refuse (error, "is a directory", expected);
  if (!S_ISREG (info.st_mode))
    return refuse (error, "is not a regular file", expected);
  g_autoptr (GMappedFile) map = g_mapped_file_new (path, FALSE, &cause);
  if (map == NULL)
    return refuse (error, g_access (path, R_OK) != 0 ? g_strerror (errno) : cause->message, expected);
  return g_mapped_file_get_bytes (map);
}
