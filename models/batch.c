/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sessions of a batch: inputs are copied behind each other, outputs apart again. */
#include "models/batch.h"

#include <string.h>

#include "models/backend.h"
#include "models/state.h"
#include "core/base/fail.h"

#define MEASURE_US 200000
/* A batch has to be faster by this factor to be chosen. */
#define GAIN 1.05
#define FAILURE_SIZE 256

struct _SlBatchSession
{
  SlSession *session;
  guint n, n_inputs, n_outputs;
  gsize input_bytes[SL_MAX_IO], output_bytes[SL_MAX_IO]; /* of one item */
  void *inputs[SL_MAX_IO], *outputs[SL_MAX_IO];
  gint64 batch_us, singles_us; /* of all at once, and of all one after the other */
  guint least;                 /* items from which on the batch is run */
  gboolean failed;
  char failure[FAILURE_SIZE];
};

/* What is tried: @n inputs, and what single runs make of them. */
typedef struct
{
  guint n, n_inputs, n_outputs;
  void **tensors; /* by item, inputs before outputs */
} Trial;

static void
trial_clear (Trial *trial)
{
  for (guint i = 0; i < trial->n * (trial->n_inputs + trial->n_outputs); i++)
    sl_tensor_buffer_free (trial->tensors[i]);
  g_free (trial->tensors);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Trial, trial_clear)

static SlBatchItem
trial_item (const Trial *trial, guint item)
{
  void **tensors = trial->tensors + item * (trial->n_inputs + trial->n_outputs);
  return (SlBatchItem){ (const void *const *) tensors, (void *const *) tensors + trial->n_inputs };
}

static gboolean
trial_init (Trial *trial, const SlContract *contract, guint n, GError **error)
{
  *trial = (Trial){ .n = n, .n_inputs = contract->n_inputs, .n_outputs = contract->n_outputs };
  const guint all = trial->n_inputs + trial->n_outputs;
  trial->tensors = g_new0 (void *, n *all);
  for (guint i = 0; i < n * all; i++) {
    const guint place = i % all;
    const SlTensorInfo *tensor = place < trial->n_inputs
                                   ? &contract->inputs[place]
                                   : &contract->outputs[place - trial->n_inputs];
    trial->tensors[i] = sl_tensor_buffer_new (tensor->bytes);
    if (trial->tensors[i] == NULL)
      return sl_fail (error, SL_ERROR_LIMIT, "no memory for the inputs and outputs of %u runs", n);
    if (place < trial->n_inputs)
      sl_backend_fill (tensor, place == 0 ? &contract->image : NULL, i / all, trial->tensors[i]);
  }
  return TRUE;
}

/* Whether @whole, of the batch, is @n times what @one is; nothing said of what the numbers are. */
static gboolean
check_tensor (const char *what, const SlTensor *whole, const SlTensorInfo *one, guint n,
              GError **error)
{
  gboolean same = whole->dtype == one->dtype && whole->rank == one->rank && one->rank > 0
                  && whole->bytes == n * one->bytes;
  for (guint i = 0; same && i < one->rank; i++)
    same = whole->dims[i] == one->dims[i] * (i == 0 ? (gint32) n : 1);
  if (same)
    return TRUE;
  g_autofree char *got = sl_tensor_describe (whole), *single = sl_tensor_info_describe (one);
  return sl_fail (
    error, SL_ERROR_UNSUPPORTED,
    "%s '%s' is %s, and %s of single inputs; expected %u of these one after the other", what,
    whole->name, got, single, n);
}

static gboolean
bind (SlBatchSession *batch, const SlGraph *graph, const SlContract *contract, GError **error)
{
  gboolean memory = TRUE;
  batch->n_inputs = contract->n_inputs;
  batch->n_outputs = contract->n_outputs;
  if (sl_graph_n_inputs (graph) != contract->n_inputs
      || sl_graph_n_outputs (graph) != contract->n_outputs)
    return sl_fail (error, SL_ERROR_UNSUPPORTED, "it has other inputs or outputs then");
  for (guint i = 0; i < contract->n_inputs; i++) {
    const SlTensor *whole = sl_graph_input_tensor (graph, i);
    if (!check_tensor ("input", whole, &contract->inputs[i], batch->n, error))
      return FALSE;
    batch->input_bytes[i] = contract->inputs[i].bytes;
    memory &= (batch->inputs[i] = sl_tensor_buffer_new (whole->bytes)) != NULL;
  }
  for (guint i = 0; i < contract->n_outputs; i++) {
    const SlTensor *whole = sl_graph_output_tensor (graph, i);
    if (!check_tensor ("output", whole, &contract->outputs[i], batch->n, error))
      return FALSE;
    batch->output_bytes[i] = contract->outputs[i].bytes;
    memory &= (batch->outputs[i] = sl_tensor_buffer_new (whole->bytes)) != NULL;
  }
  if (!memory)
    sl_fail (error, SL_ERROR_LIMIT, "no memory for inputs and outputs");
  return memory;
}

/* A runtime that takes no other sizes than the file states says so in its own words at best. */
static gboolean
check_external (SlExternalModel *external, GError **error)
{
  guint n;
  const SlTensor *inputs = sl_external_model_edges (external, FALSE, &n);
  for (guint i = 0; i < n; i++)
    if (strcmp (sl_external_model_name (external), "onnxruntime") == 0 && inputs[i].rank > 0
        && inputs[i].dims[0] >= 0)
      return sl_fail (
        error, SL_ERROR_UNSUPPORTED,
        "the file states %d as the first dimension of input '%s', and %s takes no other: export it "
        "with that one open",
        inputs[i].dims[0], inputs[i].name, sl_external_model_title (external));
  return TRUE;
}

static SlStatus
run_batch (SlBatchSession *batch, const SlBatchItem *items, guint k)
{
  for (guint i = 0; i < batch->n_inputs; i++)
    for (guint item = 0; item < k; item++)
      memcpy ((guint8 *) batch->inputs[i] + item * batch->input_bytes[i], items[item].inputs[i],
              batch->input_bytes[i]);
  const SlStatus status =
    sl_session_run (batch->session, (const void *const *) batch->inputs, batch->outputs);
  for (guint i = 0; status == SL_STATUS_OK && i < batch->n_outputs; i++)
    for (guint item = 0; item < k; item++)
      memcpy (items[item].outputs[i],
              (const guint8 *) batch->outputs[i] + item * batch->output_bytes[i],
              batch->output_bytes[i]);
  return status;
}

static gboolean
good (const SlSession *session, SlStatus status, GError **error)
{
  if (status != SL_STATUS_OK)
    sl_fail (error, SL_ERROR_BACKEND, "%s", sl_session_status_text (session, status));
  return status == SL_STATUS_OK;
}

/* All of them in a row, so that other programs have as long to get in the way as in a run of the
 * batch. */
static gboolean
run_singles (SlBatchSession *batch, SlSession *single, const Trial *trial, GError **error)
{
  const gint64 start = g_get_monotonic_time ();
  for (guint item = 0; item < batch->n; item++) {
    const SlBatchItem tried = trial_item (trial, item);
    if (!good (single, sl_session_run (single, tried.inputs, tried.outputs), error))
      return FALSE;
  }
  batch->singles_us = MIN (batch->singles_us, MAX (g_get_monotonic_time () - start, 1));
  return TRUE;
}

static gboolean
run_whole (SlBatchSession *batch, const SlBatchItem *items, GError **error)
{
  const gint64 start = g_get_monotonic_time ();
  if (!good (batch->session, run_batch (batch, items, batch->n), error))
    return FALSE;
  batch->batch_us = MIN (batch->batch_us, MAX (g_get_monotonic_time () - start, 1));
  return TRUE;
}

/* Results have to be the same, and of different inputs different, or nothing is proven. */
static gboolean
compare (const SlBatchSession *batch, const SlContract *contract, const Trial *trial,
         const SlBatchItem *items, GError **error)
{
  gboolean tells = FALSE;
  for (guint item = 0; item < batch->n; item++)
    for (guint i = 0; i < batch->n_outputs; i++) {
      const SlTensorInfo *tensor = &contract->outputs[i];
      const void *alone = trial_item (trial, item).outputs[i];
      const gdouble apart = sl_backend_difference (tensor, alone, items[item].outputs[i]);
      const gdouble limit = sl_dtype_is_float (tensor->dtype) ? SL_BATCH_AGREEMENT : 0;
      if (!(apart <= limit))
        return sl_fail (
          error, SL_ERROR_UNSUPPORTED,
          "output %u of input %u in a batch of %u is %.3g of its largest magnitude away from that "
          "of a single run; at most %.3g is allowed",
          i, item, batch->n, apart, limit);
      tells |=
        item > 0
        && sl_backend_difference (tensor, alone, trial_item (trial, item - 1).outputs[i]) > limit;
    }
  if (!tells)
    sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "different inputs, which are made up, give the same results, so nothing shows that those of "
      "a batch are right");
  return tells;
}

static gboolean
prove (SlBatchSession *batch, SlSession *single, const SlContract *contract, GError **error)
{
  g_auto (Trial) alone = { 0 }, together = { 0 };
  SlBatchItem items[SL_MAX_BATCH];
  if (!trial_init (&alone, contract, batch->n, error)
      || !trial_init (&together, contract, batch->n, error))
    return FALSE;
  for (guint i = 0; i < batch->n; i++)
    items[i] = trial_item (&together, i);
  batch->singles_us = batch->batch_us = G_MAXINT64;
  if (!run_singles (batch, single, &alone, error) || !run_whole (batch, items, error)
      || !compare (batch, contract, &alone, items, error))
    return FALSE;
  const gint64 end = g_get_monotonic_time () + MEASURE_US;
  do {
    if (!run_whole (batch, items, error) || !run_singles (batch, single, &alone, error))
      return FALSE;
  } while (g_get_monotonic_time () < end);
  batch->least =
    (guint) CLAMP (batch->batch_us * batch->n / batch->singles_us + 1, 2, (gint64) batch->n);
  return TRUE;
}

/* Who cancels the single session cancels all of it. */
static gboolean
prove_unless_cancelled (SlBatchSession *batch, SlSession *single, const SlContract *contract,
                        GError **error)
{
  sl_session_link (single, batch->session);
  const gboolean proven = prove (batch, single, contract, error);
  sl_session_link (single, NULL);
  return proven;
}

static gboolean
goes_on (const SlSession *single, GError **error)
{
  return good (single, sl_session_is_cancelled (single) ? SL_STATUS_CANCELLED : SL_STATUS_OK,
               error);
}

static gboolean
make (SlBatchSession *batch, SlModel *model, SlSession *single, GError **error)
{
  const SlContract *contract = sl_model_contract (model);
  if (!sl_state_refuse (sl_model_graph (model), "a batch has frames of several streams", error))
    return FALSE;
  if (sl_graph_n_held (sl_model_graph (model)) > 0)
    return sl_fail (error, SL_ERROR_UNSUPPORTED,
                    "it has inputs from other branches, which are each stream's own");
  if (sl_model_external (model) != NULL && sl_session_external (single) == NULL)
    return sl_fail (error, SL_ERROR_UNSUPPORTED, "%s failed",
                    sl_external_model_title (sl_model_external (model)));
  if (sl_model_external (model) != NULL && !check_external (sl_model_external (model), error))
    return FALSE;
  g_autoptr (SlGraph) graph =
    goes_on (single, error) ? sl_model_batch_graph (model, batch->n, error) : NULL;
  if (graph == NULL || !bind (batch, graph, contract, error) || !goes_on (single, error))
    return FALSE;
  SlExternalModel *external = sl_session_external (single);
  const guint threads = sl_session_threads (single);
  batch->session = external != NULL ? sl_session_new_external (graph, external, threads, error)
                                    : sl_session_new (graph, threads, error);
  return batch->session != NULL && prove_unless_cancelled (batch, single, contract, error);
}

SlBatchSession *
sl_batch_session_new (SlModel *model, SlSession *single, guint n, GError **error)
{
  GError *failed = NULL;
  if (n < 2 || n > SL_MAX_BATCH)
    return sl_fail_null (error, SL_ERROR_ARGUMENT, "a batch of %u; expected 2..%d", n,
                         SL_MAX_BATCH);
  g_autoptr (SlBatchSession) batch = g_new0 (SlBatchSession, 1);
  batch->n = n;
  if (make (batch, model, single, &failed))
    return g_steal_pointer (&batch);
  sl_fail (error, SL_ERROR_UNSUPPORTED, "the model cannot be run in batches of %u: %s", n,
           failed->message);
  g_error_free (failed);
  return NULL;
}

SlBatchSession *
sl_batch_session_new_best (SlModel *model, SlSession *single, guint most, GError **error)
{
  g_autoptr (SlBatchSession) best = NULL;
  g_autoptr (GError) failed = NULL;
  gdouble gain = 0, batch_ms = 0, single_ms = 0;
  for (guint n = 2; n <= MIN (most, SL_MAX_BATCH); n *= 2) {
    g_autoptr (SlBatchSession) next =
      sl_batch_session_new (model, single, n, best == NULL ? &failed : NULL);
    if (next == NULL || sl_batch_session_times (next, &batch_ms, &single_ms) <= gain)
      break;
    gain = sl_batch_session_times (next, &batch_ms, &single_ms);
    sl_batch_session_free (best);
    best = g_steal_pointer (&next);
  }
  if (gain >= GAIN)
    return g_steal_pointer (&best);
  if (failed != NULL)
    g_propagate_error (error, g_steal_pointer (&failed));
  else
    sl_fail (error, SL_ERROR_UNSUPPORTED,
             "no batch is faster: a frame takes %.3g times as long in the best one",
             gain > 0 ? 1 / gain : 1);
  return NULL;
}

void
sl_batch_session_free (SlBatchSession *batch)
{
  if (batch == NULL)
    return;
  sl_session_free (batch->session);
  for (guint i = 0; i < SL_MAX_IO; i++) {
    sl_tensor_buffer_free (batch->inputs[i]);
    sl_tensor_buffer_free (batch->outputs[i]);
  }
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
  *batch_ms = (gdouble) batch->batch_us / 1e3;
  *single_ms = (gdouble) batch->singles_us / 1e3 / batch->n;
  return (gdouble) batch->singles_us / (gdouble) batch->batch_us;
}

gboolean
sl_batch_session_pays (const SlBatchSession *batch, guint k)
{
  return !batch->failed && k >= batch->least;
}

SlStatus
sl_batch_session_run (SlBatchSession *batch, SlSession *single, const SlBatchItem *items, guint k)
{
  g_return_val_if_fail (k >= 1 && k <= batch->n, SL_STATUS_BACKEND_FAILED);
  SlStatus status = SL_STATUS_OK;
  if (single == NULL || sl_batch_session_pays (batch, k)) {
    status = run_batch (batch, items, k);
    if (status == SL_STATUS_BACKEND_FAILED) {
      batch->failed = TRUE;
      g_strlcpy (batch->failure, sl_session_status_text (batch->session, status),
                 sizeof batch->failure);
    }
    if (status != SL_STATUS_BACKEND_FAILED || single == NULL)
      return status;
  }
  status = SL_STATUS_OK;
  for (guint i = 0; i < k && status == SL_STATUS_OK; i++)
    status = sl_session_run (single, items[i].inputs, items[i].outputs);
  return status;
}

const char *
sl_batch_session_failure (const SlBatchSession *batch)
{
  return batch->failed ? batch->failure : NULL;
}
