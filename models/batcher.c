/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams that share a batch. Invariant: a stream is in the queue while it waits; the thread that
 * takes it out, under the lock, runs the batch, and only that thread uses its tensors until it is
 * done.
 */
#include "models/batcher.h"

#include "core/base/fail.h"

/* A stream that has handed in nothing for so long is not waited for. */
#define IDLE_US G_TIME_SPAN_SECOND
/* How often a stream that waits for another to make the batch looks whether it is given up. */
#define LOOK_US (50 * G_TIME_SPAN_MILLISECOND)

typedef enum
{
  RESTS,
  WAITS,
  RUNS,  /* in a batch */
  ALONE, /* its own session runs it, or is to */
} State;

typedef struct _Batcher Batcher;

struct _SlBatchStream
{
  Batcher *batcher;
  SlSession *single;
  SlBatchStream *next;   /* of all */
  SlBatchStream *behind; /* in the queue */
  State state;
  SlBatchItem item;
  gint64 since, last, waited; /* handed in; got its last results, 0 = never or resting; waited */
  gboolean cancelled, told;
};

struct _Batcher
{
  guint refs;  /* under table_lock */
  Batcher *up; /* under table_lock: of the table */
  SlModel *model;
  guint n, threads;
  gint64 timeout;
  SlBatchSession *batch; /* NULL while a stream makes it; set under table_lock */
  GMutex lock;
  GCond changed;
  /* The rest is under the lock. */
  SlBatchStream *streams, *first, *last; /* all; the queue */
  guint n_waiting;
  gboolean running;
  guint64 runs, inputs;
};

/* A batcher is in the table before its batch is made and proven, which is done with nothing locked.
 */
static GMutex table_lock;
static GCond table_changed; /* a batch is made, or will not be */
static Batcher *table;

/* (nullable): as it is now; locked. */
static Batcher *
find (SlModel *model, guint threads, guint n, gint64 timeout)
{
  Batcher *found = table;
  while (found != NULL
         && (sl_model_graph (found->model) != sl_model_graph (model)
             || sl_model_external (found->model) != sl_model_external (model)
             || found->threads != threads || found->n != n || found->timeout != timeout))
    found = found->up;
  return found;
}

/* One whose batch is to be made, in the table; locked. */
static Batcher *
add (SlModel *model, SlSession *single, guint n, gint64 timeout)
{
  Batcher *batcher = g_new0 (Batcher, 1);
  batcher->refs = 1;
  batcher->model = sl_model_ref (model);
  batcher->n = n;
  batcher->threads = sl_session_threads (single);
  batcher->timeout = timeout;
  g_mutex_init (&batcher->lock);
  g_cond_init (&batcher->changed);
  batcher->up = table;
  table = batcher;
  return batcher;
}

static void
let_go (Batcher *batcher)
{
  g_mutex_lock (&table_lock);
  const gboolean gone = --batcher->refs == 0;
  Batcher **at = &table;
  while (gone && *at != batcher)
    at = &(*at)->up;
  if (gone) {
    *at = batcher->up;
    g_cond_broadcast (&table_changed);
  }
  g_mutex_unlock (&table_lock);
  if (!gone)
    return;
  sl_batch_session_free (batcher->batch);
  sl_model_unref (batcher->model);
  g_mutex_clear (&batcher->lock);
  g_cond_clear (&batcher->changed);
  g_free (batcher);
}

/* (transfer full): one that was made, or, with *@found FALSE, one to make; NULL where @single was
 * cancelled meanwhile. */
static Batcher *
find_or_add (SlModel *model, SlSession *single, guint n, gint64 timeout, gboolean *found)
{
  const guint threads = sl_session_threads (single);
  gboolean cancelled = FALSE;
  Batcher *batcher;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&table_lock);
  while ((batcher = find (model, threads, n, timeout)) != NULL && batcher->batch == NULL
         && !cancelled) {
    g_cond_wait_until (&table_changed, &table_lock, g_get_monotonic_time () + LOOK_US);
    cancelled = sl_session_is_cancelled (single);
  }
  *found = batcher != NULL;
  if (*found && batcher->batch == NULL)
    batcher = NULL;
  else if (*found)
    batcher->refs++;
  else
    batcher = add (model, single, n, timeout);
  return batcher;
}

/* (transfer full): one whose batch is made, by another stream or by this one. */
static Batcher *
join (SlModel *model, SlSession *single, guint n, gint64 timeout, GError **error)
{
  gboolean found;
  Batcher *batcher = find_or_add (model, single, n, timeout, &found);
  if (batcher == NULL)
    sl_fail (error, SL_ERROR_UNSUPPORTED, "%s",
             sl_session_status_text (single, SL_STATUS_CANCELLED));
  if (batcher == NULL || found)
    return batcher;
  SlBatchSession *batch = sl_batch_session_new (model, single, n, error);
  if (batch == NULL) {
    let_go (batcher);
    return NULL;
  }
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&table_lock);
  batcher->batch = batch;
  g_cond_broadcast (&table_changed);
  return batcher;
}

SlBatchStream *
sl_batch_stream_new (SlModel *model, SlSession *single, guint n, gint64 timeout_us, GError **error)
{
  Batcher *batcher = join (model, single, n, timeout_us, error);
  if (batcher == NULL)
    return NULL;
  SlBatchStream *stream = g_new0 (SlBatchStream, 1);
  stream->batcher = batcher;
  stream->single = single;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&batcher->lock);
  stream->next = batcher->streams;
  batcher->streams = stream;
  return stream;
}

void
sl_batch_stream_free (SlBatchStream *stream)
{
  if (stream == NULL)
    return;
  Batcher *batcher = stream->batcher;
  g_mutex_lock (&batcher->lock);
  SlBatchStream **at = &batcher->streams;
  while (*at != stream)
    at = &(*at)->next;
  *at = stream->next;
  g_cond_broadcast (&batcher->changed);
  g_mutex_unlock (&batcher->lock);
  let_go (batcher);
  g_free (stream);
}

/* Whether a stream that rests may hand in something soon. */
static gboolean
is_fresh (const SlBatchStream *stream, gint64 now)
{
  return stream->last > 0 && now - stream->last < IDLE_US;
}

/* How many streams may hand in something soon, those that wait included. */
static guint
count_expected (const Batcher *batcher, gint64 now)
{
  guint n = 0;
  for (const SlBatchStream *stream = batcher->streams; stream != NULL; stream = stream->next)
    n += stream->state != RESTS || is_fresh (stream, now);
  return n;
}

static gboolean
is_due (const Batcher *batcher, gint64 now)
{
  return batcher->n_waiting >= batcher->n || sl_batch_session_failure (batcher->batch) != NULL
         || now - batcher->first->since >= batcher->timeout
         || batcher->n_waiting >= count_expected (batcher, now);
}

/* When is_due() may change by itself: the first has waited long enough, or another is not expected
 * any more. */
static gint64
next_look (const Batcher *batcher, gint64 now)
{
  gint64 at = batcher->first->since + batcher->timeout;
  for (const SlBatchStream *stream = batcher->streams; stream != NULL; stream = stream->next)
    if (stream->state == RESTS && is_fresh (stream, now))
      at = MIN (at, stream->last + IDLE_US);
  return at;
}

static void
enqueue (Batcher *batcher, SlBatchStream *stream)
{
  stream->behind = NULL;
  if (batcher->last != NULL)
    batcher->last->behind = stream;
  else
    batcher->first = stream;
  batcher->last = stream;
  batcher->n_waiting++;
}

static void
dequeue (Batcher *batcher, SlBatchStream *stream)
{
  SlBatchStream *before = NULL, *at = batcher->first;
  for (; at != stream; at = at->behind)
    before = at;
  if (before != NULL)
    before->behind = stream->behind;
  else
    batcher->first = stream->behind;
  if (batcher->last == stream)
    batcher->last = before;
  batcher->n_waiting--;
}

/* The first of the queue are run, by this thread or each by its own. Locked, but while the batch
 * runs. */
static void
lead (Batcher *batcher, gint64 now)
{
  SlBatchStream *taken[SL_MAX_BATCH];
  SlBatchItem items[SL_MAX_BATCH];
  const guint k = MIN (batcher->n_waiting, batcher->n);
  const gboolean together = sl_batch_session_pays (batcher->batch, k);
  SlStatus status = SL_STATUS_BACKEND_FAILED;
  for (guint i = 0; i < k; i++) {
    taken[i] = batcher->first;
    items[i] = taken[i]->item;
    dequeue (batcher, taken[i]);
    taken[i]->state = together ? RUNS : ALONE;
    taken[i]->waited = now - taken[i]->since;
  }
  if (together) {
    batcher->running = TRUE;
    g_mutex_unlock (&batcher->lock);
    status = sl_batch_session_run (batcher->batch, NULL, items, k);
    g_mutex_lock (&batcher->lock);
    batcher->running = FALSE;
    batcher->runs++;
    batcher->inputs += k;
  }
  for (guint i = 0; i < k; i++)
    if (together)
      taken[i]->state = status == SL_STATUS_OK ? RESTS : ALONE;
  g_cond_broadcast (&batcher->changed);
}

SlStatus
sl_batch_stream_run (SlBatchStream *stream, const void *const *inputs, void *const *outputs)
{
  Batcher *batcher = stream->batcher;
  SlStatus status = SL_STATUS_OK;
  g_mutex_lock (&batcher->lock);
  stream->item = (SlBatchItem){ inputs, outputs };
  stream->since = g_get_monotonic_time ();
  stream->state = WAITS;
  enqueue (batcher, stream);
  while (stream->state == WAITS || stream->state == RUNS) {
    const gint64 now = g_get_monotonic_time ();
    if (stream->state == WAITS && stream->cancelled) {
      dequeue (batcher, stream);
      stream->state = RESTS;
      status = SL_STATUS_CANCELLED;
      g_cond_broadcast (&batcher->changed);
    } else if (stream->state == WAITS && !batcher->running && is_due (batcher, now)) {
      lead (batcher, now);
    } else if (batcher->running) {
      g_cond_wait (&batcher->changed, &batcher->lock);
    } else {
      g_cond_wait_until (&batcher->changed, &batcher->lock, next_look (batcher, now));
    }
  }
  const gboolean alone = stream->state == ALONE;
  g_mutex_unlock (&batcher->lock);
  if (alone)
    status = sl_session_run (stream->single, inputs, outputs);
  g_mutex_lock (&batcher->lock);
  stream->state = RESTS;
  stream->last = status == SL_STATUS_OK ? g_get_monotonic_time () : 0;
  if (stream->last == 0)
    g_cond_broadcast (&batcher->changed);
  g_mutex_unlock (&batcher->lock);
  return status;
}

gint64
sl_batch_stream_waited (const SlBatchStream *stream)
{
  return stream->waited;
}

void
sl_batch_stream_cancel (SlBatchStream *stream, gboolean cancelled)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&stream->batcher->lock);
  stream->cancelled = cancelled;
  if (cancelled)
    stream->last = 0;
  g_cond_broadcast (&stream->batcher->changed);
}

void
sl_batch_stream_expect (SlBatchStream *stream)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&stream->batcher->lock);
  stream->last = g_get_monotonic_time ();
}

void
sl_batch_stream_rest (SlBatchStream *stream)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&stream->batcher->lock);
  stream->last = 0;
  g_cond_broadcast (&stream->batcher->changed);
}

char *
sl_batch_stream_take_notice (SlBatchStream *stream)
{
  const char *failure = NULL;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&stream->batcher->lock);
  if (!stream->told && !stream->batcher->running)
    failure = sl_batch_session_failure (stream->batcher->batch);
  stream->told |= failure != NULL;
  return failure != NULL ? g_strdup_printf (
           "running %u inputs at once failed, so each is run by itself from here on: %s",
           stream->batcher->n, failure)
                         : NULL;
}

const SlBatchSession *
sl_batch_stream_session (const SlBatchStream *stream)
{
  return stream->batcher->batch;
}

guint64
sl_batch_stream_count (SlBatchStream *stream, guint64 *inputs)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&stream->batcher->lock);
  const guint64 runs = stream->batcher->runs;
  *inputs = stream->batcher->inputs;
  return runs;
}
