/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/base/file_uri.h"

#include "core/base/fail.h"
#include "core/base/printable.h"

char *
sl_file_uri_path (const char *uri, GError **error)
{
  g_autofree char *host = NULL;
  g_autofree char *path = g_filename_from_uri (uri, &host, error);
  if (path == NULL || host == NULL || *host == '\0' || g_ascii_strcasecmp (host, "localhost") == 0)
    return g_steal_pointer (&path);
  g_autofree char *shown = sl_printable (host, SL_PRINTABLE_NAME);
  return sl_fail_null (error, SL_ERROR_ARGUMENT,
                       "the file is on another machine, '%s': expected file:///PATH", shown);
}
