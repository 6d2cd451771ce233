/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the parts of a worker: the broker's side (worker.c), the computing threads (jobs.c) and the reports about both (report.c).
 */
#ifndef SL_TOOLS_SERVE_WORKER_PRIVATE_H
#define SL_TOOLS_SERVE_WORKER_PRIVATE_H

#include "tools/serve/worker.h"

typedef struct _SlServeJobs SlServeJobs;

/** Shared by its owner and the connection's thread. The thread may be inside a call when the owner drops its reference. */
struct _SlServeWorker
{
  gatomicrefcount refs;
  GPtrArray *models;
  SlBroker *broker;
  char *name, *report_topic;
  guint n_jobs, queue_length;
  gboolean replace;
  GHashTable *vital; /* broker's thread: messages that the broker must take and has yet to confirm */
  SlServeJobs *jobs;
  GMutex lock;
  GCond changed;
  /* Under the lock: */
  SlServeState state; /* of the connection that there is, or was */
  gboolean draining, stopping, connected;
  guint marker; /* of the report that ends JOINING or LEAVING */
  GQueue queue; /* of SlWork */
  guint busy, complaints;
  gint64 computed_us, reported, busy_before;
  gint64 progress; /* when a request was last done with, or came while there was none */
  guint64 answered_before;
  char *failed;
  char *away; /* (nullable): why there was no connection last */
};

/** sl_serve_complain_some: messages of strangers about themselves: some are told, so that a flood fills no log. @name: of the model, or the worker */
void sl_serve_complain_some (SlServeWorker *worker, const char *name, const char *text);
/** sl_serve_settle_shares: under the lock: leaves or joins the shared subscriptions as the queue says. */
void sl_serve_settle_shares (SlServeWorker *worker);
/** sl_serve_answer: sends @data as sl_broker_send(). @until: when it is of no use any more */
gint sl_serve_answer (SlServeWorker *worker, const char *response, const void *correlation, guint16 correlation_size, const void *data,
                      gsize size, gint64 until);

#endif
