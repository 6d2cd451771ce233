/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In place of ZeroMQ's door, where libzmq was not there. */
#include "core/base/fail.h"
#include "tools/serve/serving.h"

static gboolean
open_door (SlServeWorker *worker, const SlServeSettings *settings, GError **error)
{
  return sl_fail (error, SL_ERROR_UNSUPPORTED, "--zmq: this build has no ZeroMQ (libzmq)");
}

static void
close_door (SlServeWorker *worker)
{
}

const SlServeDoor sl_serve_zmq_door = { .open = open_door, .close = close_door };
