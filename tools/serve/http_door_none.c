/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In place of the door for pictures by HTTP, where libsoup or GdkPixbuf was not there. */
#include "core/base/fail.h"
#include "tools/serve/serving.h"

static gboolean
open_door (SlServeWorker *worker, const SlServeSettings *settings, GError **error)
{
  return sl_fail (
    error, SL_ERROR_UNSUPPORTED,
    "--http: this build takes no pictures by HTTP: expected libsoup 3 and GdkPixbuf when it was "
    "made");
}

static void
close_door (SlServeWorker *worker)
{
}

const SlServeDoor sl_serve_http_door = { .open = open_door, .close = close_door };
