/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A worker: takes requests of a broker, runs models, answers. Threads of its own compute; the broker's takes and announces.
 */
#ifndef SL_TOOLS_SERVE_WORKER_H
#define SL_TOOLS_SERVE_WORKER_H

#include "tools/serve/served.h"

G_BEGIN_DECLS

typedef struct _SlServeWorker SlServeWorker;

/**
 * SlServeSettings:
 * @access: how to get to the broker; its topic is the prefix
 * @name: the worker's, its own on its broker
 * @threads: of a model's run; @jobs: frames that are computed at once; @queue: frames that wait at most before other workers get them
 * @replace: contracts of others at the broker give way to ours
 */
typedef struct
{
  SlMqttAccess access;
  const char *name;
  guint threads, jobs, queue;
  gboolean replace;
} SlServeSettings;

/** SL_SERVE_EXAMPLE: a location, for messages. */
#define SL_SERVE_EXAMPLE "mqtt://localhost/models"

/** sl_serve_worker_new: starts to serve @models (of SlServed), which it holds a reference to. */
SlServeWorker *sl_serve_worker_new (const SlServeSettings *settings, GPtrArray *models, GError **error);
/** sl_serve_worker_failed: (transfer none) (nullable): why it cannot serve and never will. */
const char *sl_serve_worker_failed (SlServeWorker *worker);
/** sl_serve_worker_drain: takes no more work, and waits until what was taken is answered; for at most @timeout_us. */
gboolean sl_serve_worker_drain (SlServeWorker *worker, gint64 timeout_us);
void sl_serve_worker_free (SlServeWorker *worker);

G_END_DECLS

#endif
