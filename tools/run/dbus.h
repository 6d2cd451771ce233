/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The settings of pipelines at run time as properties on a message bus: one object
 * /org/sightline/pipelines/NAME for each, interface org.sightline.Pipeline. Main thread.
 */
#pragma once

#include "tools/run/http/http.h"
#include "tools/run/worker.h"

typedef struct _SlRunDbus SlRunDbus;

/** sl_run_dbus_check: FALSE with SL_ERROR_ARGUMENT set when @bus (nullable) is neither "session"
 * nor "system". */
gboolean sl_run_dbus_check (const char *bus, GError **error);
/** sl_run_dbus_new: connects, and takes the name org.sightline.Run. @bus: of
 * sl_run_dbus_check(); @workers: (element-type SlWorker), and @http: (nullable): its
 * audit log has the changes; both must live as long. NULL with SL_ERROR_OPEN set. */
SlRunDbus *sl_run_dbus_new (const char *bus, GPtrArray *workers, SlRunHttp *http, GError **error);
/** sl_run_dbus_changed: tells the bus that a setting of @worker has changed. */
void sl_run_dbus_changed (SlRunDbus *dbus, SlWorker *worker, SlLiveKind kind);
/** sl_run_dbus_free: NULL is legal. */
void sl_run_dbus_free (SlRunDbus *dbus);
