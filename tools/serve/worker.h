/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A worker: takes requests of a broker, runs models, answers. Threads of its own compute; the broker's takes and announces.
 */
#ifndef SL_TOOLS_SERVE_WORKER_H
#define SL_TOOLS_SERVE_WORKER_H

#include "tools/serve/served_model.h"

typedef struct _SlServeWorker SlServeWorker;

typedef enum
{
  SL_SERVE_AWAY,    /* there is no connection */
  SL_SERVE_JOINING, /* connected, and asking what contracts there are */
  SL_SERVE_SERVING,
  SL_SERVE_PAUSED,  /* the queue is full */
  SL_SERVE_LEAVING, /* no more work is wanted, and some may be on its way */
  SL_SERVE_LEFT
} SlServeState;

/**
 * SlServeSettings:
 * @access: how to get to the broker; its topic is the prefix
 * @name: the worker's, its own on its broker
 * @threads: of a model's run; @jobs: frames that are computed at once; @queue: frames that wait at most before other workers get them
 * @batch: frames that are computed in one run at most, of those that wait; 0 = as many as are fastest, which is measured
 * @replace: contracts of others at the broker give way to ours
 */
typedef struct
{
  SlMqttAccess access;
  const char *name;
  guint threads, jobs, queue, batch;
  gboolean replace;
} SlServeSettings;

/** SL_SERVE_EXAMPLE: a location, for messages. */
#define SL_SERVE_EXAMPLE "mqtt://localhost/models"

/** sl_serve_worker_new: starts to serve @models (of SlServedModel), which it holds a reference to. */
SlServeWorker *sl_serve_worker_new (const SlServeSettings *settings, GPtrArray *models, GError **error);
SlServeState sl_serve_worker_state (SlServeWorker *worker);
/** sl_serve_worker_failed: (transfer none) (nullable): why it cannot serve and never will. */
const char *sl_serve_worker_failed (SlServeWorker *worker);
/** sl_serve_worker_drain: takes no more work, and waits until what was taken is answered; for at most @timeout_us. */
gboolean sl_serve_worker_drain (SlServeWorker *worker, gint64 timeout_us);
void sl_serve_worker_free (SlServeWorker *worker);

#endif
