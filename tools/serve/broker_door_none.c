/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In place of the broker's door, where libmosquitto was not there. */
#include "core/base/fail.h"
#include "tools/serve/serving.h"

static gboolean
open_door (SlServeWorker *worker, const SlServeSettings *settings, GError **error)
{
  return sl_fail (error, SL_ERROR_UNSUPPORTED,
                  "--location: this build has no MQTT: install libmosquitto-dev and build again, "
                  "or serve with --http or --zmq");
}

static void
close_door (SlServeWorker *worker)
{
}

const SlServeDoor sl_serve_broker_door = { .open = open_door, .close = close_door };
