/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline run --http` of a build without libsoup: there is never a server. */
#include "core/base/fail.h"
#include "tools/run/http/http.h"

SlRunHttp *
sl_run_http_new (const SlHttpSettings *settings, const char *origin, GPtrArray *workers,
                 GError **error)
{
  return sl_fail_null (
    error, SL_ERROR_UNSUPPORTED,
    "%s: this build serves no HTTP: expected libsoup 3 when it was made (Debian: libsoup-3.0-dev, "
    "meson option http)",
    origin);
}

gboolean
sl_run_http_check (const SlHttpSettings *settings, GError **error)
{
  return TRUE;
}

gboolean
sl_run_http_search (SlRunHttp *http, const SlModelSettings *settings, GError **error)
{
  g_return_val_if_reached (FALSE);
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
sl_run_http_posted (SlRunHttp *http, SlWorker *worker, GstMessage *message)
{
}

void
sl_run_http_drop (SlRunHttp *http, SlWorker *worker)
{
}

void
sl_run_http_audit (SlRunHttp *http, const char *user, const char *address, const char *message)
{
}
