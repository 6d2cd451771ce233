/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A worker: takes requests of a broker, runs models, answers. Threads of its own compute; the
 * broker's takes and announces.
 */
#pragma once

#include "tools/serve/serving.h"

/** SL_SERVE_EXAMPLE: a location, for messages. */
#define SL_SERVE_EXAMPLE "mqtt://localhost/models"

/** sl_serve_worker_new: starts to serve @models (of SlServedModel), which it holds a reference to.
 */
SlServeWorker *sl_serve_worker_new (const SlServeSettings *settings, GPtrArray *models,
                                    GError **error);
SlServeState sl_serve_worker_state (SlServeWorker *worker);
/** sl_serve_worker_failed: (transfer none) (nullable): why it cannot serve and never will. */
const char *sl_serve_worker_failed (SlServeWorker *worker);
/** sl_serve_worker_drain: takes no more work, and waits until what was taken is answered; for at
 * most @timeout_us. */
gboolean sl_serve_worker_drain (SlServeWorker *worker, gint64 timeout_us);
void sl_serve_worker_free (SlServeWorker *worker);
