/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline run --http` of a build without libsoup: there is never a server. */
#include "sightline/error.h"
#include "tools/run/http/http.h"

SlRunHttp *
sl_run_http_new (const SlHttpSettings *settings, const char *origin, GPtrArray *workers,
                 GError **error)
{
  g_set_error (
    error, SL_ERROR, SL_ERROR_UNSUPPORTED,
    "%s: this build serves no HTTP: expected libsoup 3 when it was made (Debian: libsoup-3.0-dev, meson option http)",
    origin);
  return NULL;
}

void
sl_run_http_start (SlRunHttp *http)
{
}

void
sl_run_http_free (SlRunHttp *http)
{
}

void
sl_run_http_tick (SlRunHttp *http)
{
}

void
sl_run_http_adopt (SlRunHttp *http, SlWorker *worker, GstElement *pipeline)
{
}

void
sl_run_http_drop (SlRunHttp *http, SlWorker *worker)
{
}
