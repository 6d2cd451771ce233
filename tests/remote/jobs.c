/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which requests a worker's thread computes at once, and when each is answered: runs and answers
 * are written down here in place of being made, so that what a batch takes, and whether it fails,
 * is as the test says. Each run gives the first byte of its input.
 */
#include <string.h>

#include "models/batch.h"
#include "sightline/error.h"
#include "tests/elements/support.h"
#include "tools/run/log.h"
#include "tools/serve/jobs.h"

#define MAX_MODELS 2
#define PATIENCE (100 * G_USEC_PER_SEC)

struct _SlBatchSession
{
  guint n, least;
  gboolean failed;
};

/* Sizes and bounds of the batches of the models, in their order; what happens. */
static struct
{
  guint size[MAX_MODELS], least[MAX_MODELS], opened;
  gboolean fails;
  gint64 *late; /* (nullable): until when somebody waits: no longer than until a batch was tried */
  GMutex lock;
  GString *events;
  guint n_answers, n_told;
} script;

G_GNUC_PRINTF (1, 2)
static void
note (const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_mutex_lock (&script.lock);
  g_string_append_vprintf (script.events, format, arguments);
  g_mutex_unlock (&script.lock);
  va_end (arguments);
}

SlBatchSession *
sl_batch_session_new (SlModel *model, SlSession *single, guint n, GError **error)
{
  if (script.size[script.opened] == 0) {
    script.opened++;
    g_set_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED, "no memory for %u", n);
    return NULL;
  }
  SlBatchSession *batch = g_new0 (SlBatchSession, 1);
  batch->n = script.size[script.opened];
  batch->least = script.least[script.opened++];
  return batch;
}

SlBatchSession *
sl_batch_session_new_best (SlModel *model, SlSession *single, guint most, GError **error)
{
  return sl_batch_session_new (model, single, most, error);
}

void
sl_batch_session_free (SlBatchSession *batch)
{
  g_free (batch);
}

guint
sl_batch_session_size (const SlBatchSession *batch)
{
  return batch->n;
}

gdouble
sl_batch_session_times (const SlBatchSession *batch, gdouble *batch_ms, gdouble *single_ms)
{
  return *batch_ms = *single_ms = 1;
}

gboolean
sl_batch_session_pays (const SlBatchSession *batch, guint k)
{
  return !batch->failed && k >= batch->least;
}

SlStatus
sl_batch_session_run (SlBatchSession *batch, SlSession *single, const SlBatchItem *items, guint k)
{
  note ("b%u ", k);
  g_assert_cmpuint (k, <=, batch->n);
  g_assert_null (single);
  batch->failed = script.fails;
  if (script.late != NULL)
    *script.late = 0;
  for (guint i = 0; i < k && !batch->failed; i++)
    memcpy (items[i].outputs[0], items[i].inputs[0], 1);
  return batch->failed ? SL_STATUS_BACKEND_FAILED : SL_STATUS_OK;
}

const char *
sl_batch_session_failure (const SlBatchSession *batch)
{
  return batch->failed ? "the device is gone" : NULL;
}

SlStatus
sl_session_run (SlSession *session, const void *const *inputs, void *const *outputs)
{
  note ("r ");
  memcpy (outputs[0], inputs[0], 1);
  return SL_STATUS_OK;
}

void
sl_run_log (SlLogLevel level, const char *pipeline, const char *event, const char *format, ...)
{
  va_list arguments;
  if (level != SL_LOG_WARNING)
    return;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_assert_cmpstr (
    text, ==,
    "computing 4 frames at once failed, so each is computed by itself from now on: the device is "
    "gone");
  g_assert_cmpstr (pipeline, ==, "m0");
  script.n_told++;
}

void
sl_serve_complain_some (SlServeWorker *worker, const char *name, const char *text)
{
  g_error ("%s: %s", name, text);
}

static void
settle (SlServeWorker *worker)
{
}

/* A door that notes the answers. */
static gboolean
answer (SlServeWorker *worker, SlWork *work, void *const *outputs, const char *refusal,
        gint64 start, gint64 end)
{
  const guint8 first = *(const guint8 *) outputs[0];
  g_assert_null (refusal);
  g_assert_cmpuint (first, ==, work->reply.broker.correlation[0]); /* each gets its own */
  note ("a%u ", first);
  g_mutex_lock (&script.lock);
  script.n_answers++;
  g_mutex_unlock (&script.lock);
  return TRUE;
}

typedef struct
{
  SlServeWorker worker;
  char *path;
} Bed;

/* Threads with @n models, whose sizes and bounds are in the script: 0, there is none. FALSE: they
 * are refused. */
static gboolean
open_bed (Bed *bed, guint n, guint jobs, guint batch)
{
  static const SlModelSettings overrides = { 0 };
  static const SlModelLoadOptions options = { 0 };
  const SlServeSettings settings = { .threads = 1, .jobs = jobs, .batch = batch };
  g_autoptr (GError) error = NULL;
  *bed = (Bed){ .path = test_colour_model (SL_DTYPE_U8) };
  static const SlServeDoor door = { .answer = answer, .settle = settle };
  bed->worker.door = &door;
  bed->worker.n_jobs = jobs;
  bed->worker.name = (char *) "w1";
  bed->worker.models = g_ptr_array_new_with_free_func ((GDestroyNotify) sl_served_model_free);
  for (guint i = 0; i < n; i++) {
    g_autofree char *argument = g_strdup_printf ("m%u=%s", i, bed->path);
    SlServedModel *served = sl_served_model_new (argument, "models", &overrides, &options, &error);
    g_assert_no_error (error);
    g_ptr_array_add (bed->worker.models, served);
  }
  g_mutex_init (&bed->worker.lock);
  g_cond_init (&bed->worker.changed);
  g_queue_init (&bed->worker.queue);
  script.opened = script.n_answers = script.n_told = 0;
  script.events = g_string_new (NULL);
  bed->worker.jobs = sl_serve_jobs_start (&bed->worker, &settings, &error);
  if (bed->worker.jobs == NULL)
    g_assert_cmpstr (error->message, ==, "m0: --batch 4: no memory for 4");
  return bed->worker.jobs != NULL;
}

static SlServeFigures *
figures (const Bed *bed, guint model)
{
  return &((SlServedModel *) bed->worker.models->pdata[model])->figures;
}

/* Under the worker's lock: a request for @model, whose first byte is @number. */
static SlWork *
push (Bed *bed, guint model, guint8 number)
{
  SlWork *work =
    sl_work_new (bed->worker.models->pdata[model], g_strdup ("anyone"), PATIENCE, NULL);
  work->reply.broker.correlation[0] = number;
  memset (work->inputs[0], number, work->served->contract->inputs[0].bytes);
  g_queue_push_tail (&bed->worker.queue, work);
  work->served->figures.waiting++;
  return work;
}

/* @models: of the requests, which wait together, a digit each; they are numbered from @first on. */
static void
push_all (Bed *bed, const char *models, guint8 first)
{
  g_mutex_lock (&bed->worker.lock);
  for (guint i = 0; models[i] != '\0'; i++)
    push (bed, (guint) (models[i] - '0'), (guint8) (first + i));
  g_cond_broadcast (&bed->worker.changed);
  g_mutex_unlock (&bed->worker.lock);
}

/* What happened until the thread has nothing to do. */
static void
expect (Bed *bed, const char *events)
{
  for (gboolean idle = FALSE; !idle; g_usleep (1000)) {
    g_mutex_lock (&bed->worker.lock);
    idle = g_queue_is_empty (&bed->worker.queue) && bed->worker.busy == 0;
    g_mutex_unlock (&bed->worker.lock);
  }
  g_assert_cmpstr (script.events->str, ==, events);
  g_string_truncate (script.events, 0);
}

static void
close_bed (Bed *bed)
{
  g_mutex_lock (&bed->worker.lock);
  bed->worker.stopping = TRUE;
  g_cond_broadcast (&bed->worker.changed);
  g_mutex_unlock (&bed->worker.lock);
  if (bed->worker.jobs != NULL)
    sl_serve_jobs_join (bed->worker.jobs);
  g_ptr_array_unref (bed->worker.models);
  g_mutex_clear (&bed->worker.lock);
  g_cond_clear (&bed->worker.changed);
  test_remove_file (bed->path);
  g_free (bed->path);
  g_string_free (script.events, TRUE);
  script.fails = FALSE;
  script.late = NULL;
}

/* Fewer than are faster at once are computed and answered one after the other, and are no batch. */
static void
test_few (void)
{
  Bed bed;
  script.size[0] = 4;
  script.least[0] = 3;
  g_assert_true (open_bed (&bed, 1, 1, 4));
  push_all (&bed, "00", 1);
  expect (&bed, "r a1 r a2 ");
  g_assert_cmpuint (figures (&bed, 0)->batches, ==, 0);
  push_all (&bed, "000000", 1);
  expect (&bed, "b4 a1 a2 a3 a4 r a5 r a6 ");
  push_all (&bed, "000", 1);
  expect (&bed, "b3 a1 a2 a3 ");
  g_assert_cmpuint (figures (&bed, 0)->batches, ==, 2);
  g_assert_cmpuint (figures (&bed, 0)->batched, ==, 7);
  g_assert_cmpuint (figures (&bed, 0)->answered, ==, 11);
  g_assert_cmpuint (figures (&bed, 0)->waiting, ==, 0);
  close_bed (&bed);
}

/* A batch that fails is reported once and runs as single inferences. A request whose client no
 * longer waits is not computed. */
static void
test_failed (void)
{
  Bed bed;
  script.size[0] = 4;
  script.least[0] = 2;
  script.fails = TRUE;
  g_assert_true (open_bed (&bed, 1, 1, 4));
  push_all (&bed, "0000", 1);
  expect (&bed, "b4 r a1 r a2 r a3 r a4 ");
  push_all (&bed, "000", 1);
  expect (&bed, "r a1 r a2 r a3 ");
  g_assert_cmpuint (script.n_told, ==, 1);
  g_assert_cmpuint (figures (&bed, 0)->batches, ==, 0);
  g_assert_cmpuint (figures (&bed, 0)->batched, ==, 0);
  close_bed (&bed);
  script.fails = TRUE;
  g_assert_true (open_bed (&bed, 1, 1, 4));
  g_mutex_lock (&bed.worker.lock);
  for (guint8 i = 1; i <= 4; i++) {
    SlWork *work = push (&bed, 0, i);
    script.late = i == 3 ? &work->until : script.late;
  }
  g_cond_broadcast (&bed.worker.changed);
  g_mutex_unlock (&bed.worker.lock);
  expect (&bed, "b4 r a1 r a2 r a4 ");
  g_assert_cmpuint (figures (&bed, 0)->stale, ==, 1);
  close_bed (&bed);
}

/* Each model has its own size; requests for others keep their places. */
static void
test_two_models (void)
{
  Bed bed;
  script.size[0] = script.least[0] = script.least[1] = 2;
  script.size[1] = 3;
  g_assert_true (open_bed (&bed, 2, 1, 4));
  push_all (&bed, "0101011", 1);
  expect (&bed, "b2 a1 a3 b3 a2 a4 a6 r a5 r a7 ");
  g_assert_cmpuint (figures (&bed, 0)->batched, ==, 2);
  g_assert_cmpuint (figures (&bed, 1)->batched, ==, 3);
  close_bed (&bed);
}

/* What a further thread cannot have is refused where it was asked for by number alone. */
static void
test_second_thread (void)
{
  Bed bed;
  script.size[0] = 4;
  script.size[1] = 0;
  g_assert_true (open_bed (&bed, 1, 2, 0));
  g_assert_cmpuint (((SlServedModel *) bed.worker.models->pdata[0])->batch, ==, 4);
  close_bed (&bed);
  g_assert_false (open_bed (&bed, 1, 2, 4));
  close_bed (&bed);
}

int
main (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/serve/jobs/few", test_few);
  g_test_add_func ("/serve/jobs/failed", test_failed);
  g_test_add_func ("/serve/jobs/two-models", test_two_models);
  g_test_add_func ("/serve/jobs/second-thread", test_second_thread);
  return test_elements_run ();
}
