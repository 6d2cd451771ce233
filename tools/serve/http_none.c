/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline serve --http` of a build without libsoup: there is never a server. */
#include "sightline/error.h"
#include "tools/serve/http.h"

SlServeHttp *
sl_serve_http_new (const SlHttpOptions *options, GError **error)
{
  g_set_error (
    error, SL_ERROR, SL_ERROR_UNSUPPORTED,
    "--http %s: this build serves no HTTP: expected libsoup 3 when it was made (Debian: libsoup-3.0-dev, meson option http)",
    options->listen);
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
