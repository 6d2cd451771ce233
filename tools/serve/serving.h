/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A worker's state, and what its threads do to it: shared by the broker's side (worker.c), the
 * computing threads (jobs.c) and the reports about both (report.c).
 */
#pragma once

#include "tools/serve/served_model.h"

typedef struct _SlServeWorker SlServeWorker;
typedef struct _SlServeJobs SlServeJobs;

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
 * @threads: of a model's run; @jobs: frames that are computed at once; @queue: frames that wait at
 * most before other workers get them
 * @batch: frames that are computed in one run at most, of those that wait; 0 = as many as are
 * fastest, which is measured
 * @replace: contracts of others at the broker give way to ours
 */
typedef struct
{
  SlMqttAccess access;
  const char *name;
  guint threads, jobs, queue, batch;
  gboolean replace;
} SlServeSettings;

/** Shared by its owner and the connection's thread. The thread may be inside a call when the owner
 * drops its reference. */
struct _SlServeWorker
{
  gatomicrefcount refs;
  GPtrArray *models;
  SlBroker *broker;
  char *name, *report_topic;
  guint n_jobs, queue_length;
  gboolean replace;
  GHashTable
    *vital; /* broker's thread: messages that the broker must take and has yet to confirm */
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

/** sl_serve_complain_some: messages of strangers about themselves: some are told, so that a flood
 * fills no log. @name: of the model, or the worker */
void sl_serve_complain_some (SlServeWorker *worker, const char *name, const char *text);
/** sl_serve_set_shares: under the lock: joins or leaves the shared subscriptions. */
void sl_serve_set_shares (SlServeWorker *worker, gboolean join);
/** sl_serve_settle_shares: under the lock: leaves or joins the shared subscriptions as the queue
 * says. */
void sl_serve_settle_shares (SlServeWorker *worker);
/** sl_serve_answer: sends @data as sl_broker_send(). @until: when it is of no use any more */
gint sl_serve_answer (SlServeWorker *worker, const char *response, const void *correlation,
                      guint16 correlation_size, const void *data, gsize size, gint64 until);
