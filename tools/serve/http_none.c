/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline serve --http` of a build without libsoup: there is never a server. */
#include "core/base/fail.h"
#include "tools/serve/http.h"

SlServeHttp *
sl_serve_http_new (const SlHttpOptions *options, const SlServePictures *pictures, GError **error)
{
  return sl_fail_null (
    error, SL_ERROR_UNSUPPORTED,
    "--http %s: this build serves no HTTP: expected libsoup 3 when it was made (Debian: "
    "libsoup-3.0-dev, meson option http)",
    options->listen);
}

SlHttpDoor *
sl_serve_http_pictures (const SlServeHttp *http)
{
  return NULL;
}

void
sl_serve_http_free (SlServeHttp *http)
{
}

void
sl_serve_http_report (SlServeHttp *http, SlServeReport *report)
{
}
