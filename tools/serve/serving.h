/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A worker's state, and what its threads do to it: shared by the doors, through which requests come
 * and answers go (broker_door.c: MQTT, zmq_door.c: ZeroMQ, http_door.c: HTTP), the computing
 * threads (jobs.c) and the reports about both (report.c).
 */
#pragma once

#include "tools/serve/served_model.h"

typedef struct _SlServeWorker SlServeWorker;
typedef struct _SlServeJobs SlServeJobs;
typedef struct _SlZmqDoor SlZmqDoor;
typedef struct _SlHttpDoor SlHttpDoor;

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
 * SlServeFaces: @model: (nullable): name of the model that makes embeddings of faces; NULL = no
 * faces. @gallery: the file of the people that it knows, @key_file: (nullable): of its key; @keep:
 * microseconds after which anything there is erased
 */
typedef struct
{
  const char *model, *gallery, *key_file;
  gint64 keep;
} SlServeFaces;

/**
 * SlServeSettings:
 * @access: how to get to the broker; its topic is the prefix
 * @endpoint: (nullable): ZeroMQ's address to listen at; then there is no broker
 * @pictures: (nullable): the door for pictures by HTTP; then there is neither
 * @faces: of the door for pictures
 * @label_map: (nullable): file with the class numbers that ZeroMQ's clients know
 * @patience_ms: how long a client of ZeroMQ waits for an answer
 * @threshold: least confidence of an object for clients of ZeroMQ, below 0 = the decoder's own
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
  const char *endpoint, *label_map;
  SlHttpDoor *pictures;
  SlServeFaces faces;
  guint patience_ms;
  gdouble threshold;
  const char *name;
  guint threads, jobs, queue, batch;
  gboolean replace;
} SlServeSettings;

/**
 * SlServeDoor: how requests come to a worker and answers go back.
 * @open: begins to take requests; the worker's jobs have started
 * @answer: computing threads: sends @outputs, or @refusal (nullable), the reason why there are
 * none. Returns whether outputs were sent
 * @settle: under the lock: the length of the queue has changed
 * @drain: takes no more requests, and waits until all that were taken are answered, at most up to
 * @until. Returns whether they are
 * @close: no job runs any more; also after a failed @open
 * @await: (nullable): a computing thread without work, which is counted as idle, takes requests
 * itself, or waits until there may be one; called while the worker receives
 * @interrupt: (nullable): ends all waiting in @await; also after a failed @open
 */
typedef struct
{
  gboolean (*open) (SlServeWorker *worker, const SlServeSettings *settings, GError **error);
  gboolean (*answer) (SlServeWorker *worker, SlWork *work, void *const *outputs,
                      const char *refusal, gint64 start, gint64 end);
  void (*settle) (SlServeWorker *worker);
  gboolean (*drain) (SlServeWorker *worker, gint64 until);
  void (*close) (SlServeWorker *worker);
  void (*await) (SlServeWorker *worker);
  void (*interrupt) (SlServeWorker *worker);
} SlServeDoor;

extern const SlServeDoor sl_serve_broker_door, sl_serve_zmq_door, sl_serve_http_door;

/** Shared by its owner and the door's thread. The thread may be inside a call when the owner drops
 * its reference. */
struct _SlServeWorker
{
  gatomicrefcount refs;
  const SlServeDoor *door;
  GPtrArray *models;
  char *name;
  char *address; /* the broker's, or the one that is listened at */
  guint n_jobs, queue_length;
  SlServeJobs *jobs;
  GMutex lock;
  GCond changed;
  /* Under the lock: */
  SlServeState state; /* of the connection that there is, or was */
  gboolean draining, stopping, connected;
  gboolean receives; /* computing threads take requests themselves */
  guint idle;        /* those that do now */
  GQueue queue;      /* of SlWork */
  guint busy, complaints;
  gint64 computed_us;
  gint64 progress; /* when a request was last done with, or came while there was none */
  char *failed;
  char *away; /* (nullable): why there was no connection last */

  /* Of the broker's door: */
  SlBroker *broker;
  char *report_topic;
  gboolean replace;
  GHashTable
    *vital; /* broker's thread: messages that the broker must take and has yet to confirm */
  /* Under the lock: */
  guint marker; /* of the report that ends JOINING or LEAVING */
  gint64 reported, busy_before;
  guint64 answered_before;

  SlZmqDoor *zmq;   /* (nullable): ZeroMQ's door */
  SlHttpDoor *http; /* (nullable): the door for pictures by HTTP */
};

/** sl_serve_worker_take: takes @work (transfer full) into the queue, whose room was asked for. */
void sl_serve_worker_take (SlServeWorker *worker, SlWork *work);
/** sl_serve_worker_changed: under the lock: the queue or the work on it has changed. Nothing waits
 * at @changed while computing threads take requests themselves: a system call less. */
static inline void
sl_serve_worker_changed (SlServeWorker *worker)
{
  if (!worker->receives)
    g_cond_broadcast (&worker->changed);
}
/** sl_serve_worker_wait: under the lock: waits until @done of the state, the connection is lost, or
 * @until. Returns @done. */
gboolean sl_serve_worker_wait (SlServeWorker *worker, gboolean (*done) (SlServeWorker *worker),
                               gint64 until);
/** sl_serve_worker_unref: a GDestroyNotify. */
void sl_serve_worker_unref (gpointer worker);
/** sl_serve_complain_some: messages of strangers about themselves: some are told, so that a flood
 * fills no log. @name: of the model, or the worker */
void sl_serve_complain_some (SlServeWorker *worker, const char *name, const char *text);
