/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A build without libsoup reads models from folders only. */
#include "core/base/fail.h"
#include "tools/zoo/http.h"

gboolean
sl_zoo_download (const SlZooDownload *download, GError **error)
{
  return sl_fail (
    error, SL_ERROR_UNSUPPORTED,
    "this build has no libsoup, which downloads %s; build with -Dhttp=enabled, or set "
    "SIGHTLINE_ZOO_MIRROR to a folder that has the file",
    download->uri);
}
