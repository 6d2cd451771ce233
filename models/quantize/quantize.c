/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The steps in order: activation_trace.h runs the float graph, ranges.h learns from it, plan.h
 * decides, int8_graph.h makes the int8 graph, the writer its file. The comparison is between the
 * file, read like any other, and the graph written without quantisation.
 */
#include "models/quantize/quantize.h"

#include <math.h>
#include <string.h>

#include "core/base/percentile.h"
#include "core/base/fail.h"
#include "core/ops/ops.h"
#include "core/passes/prepare.h"
#include "core/runtime/session.h"
#include "models/convert.h"
#include "models/reader.h"
#include "models/state.h"
#include "models/tflite/write.h"
#include "predict/contractspec.h"
#include "models/quantize/agreement.h"
#include "models/quantize/equalize.h"
#include "models/quantize/prune.h"
#include "models/quantize/int8_graph.h"

/* Pictures that the noise of each node is measured on. */
#define NOISE_PICTURES 8
/* What quantising a layer's input must leave of its result, dB: edges of boxes and masks want more
 * than the choice of a class. */
#define CLASSES_SNR 10.0
#define BOXES_SNR 24.0
/* Of the quantised layers, one of so many is kept float at a time. */
#define KEPT_AT_ONCE 12
/* Where there is no noise at all; the worst is the same below 0. */
#define BEST_SNR 200.0

/** A model that runs whole. */
typedef struct
{
  SlGraph *graph;
  SlSession *session;
  void *input, *outputs[SL_MAX_IO];
  GArray *times; /* of gint64, us */
} Whole;

/** Power of a tensor's values and of their errors. */
typedef struct
{
  gdouble signal, noise;
} Power;

struct _SlQuantizer
{
  SlModel *model;
  SlQuantizeOptions options;
  SlGraph *graph, *int8_graph;
  SlActivationTrace *tape, *int8_tape;
  SlRanges *ranges;
  SlPlan *plan;
  Whole whole, int8;
  SlAgreement *agreement;     /* (nullable) */
  Power *noise, output_noise; /* by tensor of both graphs */
  gboolean ended;             /* it has learned */
  gboolean *kept;             /* by node of the float graph: it stays float */
  guint compared, n_quantized, equalized, pruned;
  gsize float_bytes, int8_bytes;
};

static void
whole_clear (Whole *whole)
{
  for (guint i = 0; i < SL_MAX_IO; i++)
    sl_tensor_buffer_free (whole->outputs[i]);
  sl_tensor_buffer_free (whole->input);
  sl_session_free (whole->session);
  sl_graph_unref (whole->graph);
  g_clear_pointer (&whole->times, g_array_unref);
}

void
sl_quantizer_free (SlQuantizer *q)
{
  if (q == NULL)
    return;
  whole_clear (&q->whole);
  whole_clear (&q->int8);
  sl_activation_trace_free (q->tape);
  sl_activation_trace_free (q->int8_tape);
  sl_ranges_free (q->ranges);
  sl_plan_free (q->plan);
  sl_agreement_free (q->agreement);
  sl_graph_unref (q->int8_graph);
  sl_graph_unref (q->graph);
  sl_model_unref (q->model);
  g_free (q->noise);
  g_free (q->kept);
  g_free (q);
}

static gboolean
check_model (const SlModel *model, GError **error)
{
  const SlContract *contract = sl_model_contract (model);
  const SlTensorInfo *input = &contract->inputs[0];
  if (!sl_contract_require_range (contract, error)
      || !sl_state_refuse (sl_model_graph (model),
                           "models are quantised by pictures one by one: this one stays as it is",
                           error))
    return FALSE;
  if (contract->n_inputs == 1 && contract->image.valid && input->dtype == SL_DTYPE_F32)
    return TRUE;
  g_autofree char *text = sl_tensor_infos_describe (contract->inputs, contract->n_inputs);
  return sl_fail (
    error, SL_ERROR_UNSUPPORTED,
    "%s: takes %s; expected one picture of float32, as models have before they are quantised",
    sl_model_path (model), text);
}

/* Refuses a model whose layers' weights have 8 bits. */
static gboolean
check_weights (const SlQuantizer *q, GError **error)
{
  guint floats = 0, codes = 0;
  for (guint i = 0; i < sl_graph_n_nodes (q->graph); i++) {
    const SlNode *node = sl_graph_node (q->graph, i);
    const SlTensor *weights = sl_op_is_layer (node->op) ? sl_node_input (q->graph, node, 1) : NULL;
    floats += weights != NULL && weights->dtype == SL_DTYPE_F32;
    codes += weights != NULL && (weights->dtype == SL_DTYPE_I8 || weights->dtype == SL_DTYPE_U8);
  }
  if (codes == 0 || floats > 0)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_UNSUPPORTED,
    "%s: its %u layers have weights of 8 bits: it is quantised already; expected the float model "
    "that it was made from",
    sl_model_path (q->model), codes);
}

static gboolean
start (Whole *whole, SlGraph *graph, guint threads, GError **error)
{
  whole_clear (whole);
  *whole = (Whole){ .graph = graph };
  whole->times = g_array_new (FALSE, FALSE, sizeof (gint64));
  if (!sl_graph_prepare (graph, error))
    return FALSE;
  whole->session = sl_session_new (graph, threads, error);
  gboolean good = whole->session != NULL;
  whole->input = sl_tensor_buffer_new (sl_graph_input_tensor (graph, 0)->bytes);
  for (guint i = 0; i < sl_graph_n_outputs (graph) && good; i++) {
    whole->outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes);
    good = whole->outputs[i] != NULL && whole->input != NULL;
    if (!good)
      sl_fail (error, SL_ERROR_LIMIT, "not enough memory for the model's inputs and outputs");
  }
  return good;
}

/* (transfer full): the graph that @bytes are of. */
static SlGraph *
read_back (const SlQuantizer *q, GBytes *bytes, GError **error)
{
  SlModelMetadata metadata = { 0 };
  g_autoptr (SlGraph) graph = sl_graph_new (bytes);
  const SlReaderSource source = { sl_model_path (q->model), NULL };
  const gboolean good = sl_reader_tflite.read (bytes, &source, graph, &metadata, error);
  sl_model_metadata_clear (&metadata);
  return good ? g_steal_pointer (&graph) : NULL;
}

static gboolean
start_floats (SlQuantizer *q, GError **error)
{
  g_autoptr (GBytes) floats = sl_tflite_write (q->graph, sl_model_contract (q->model), error);
  SlGraph *graph = floats != NULL ? read_back (q, floats, error) : NULL;
  q->float_bytes = floats != NULL ? g_bytes_get_size (floats) : 0;
  return graph != NULL && start (&q->whole, graph, q->options.threads, error);
}

SlQuantizer *
sl_quantizer_new (SlModel *model, const SlQuantizeOptions *options, GError **error)
{
  g_autoptr (SlQuantizer) q = g_new0 (SlQuantizer, 1);
  if (!check_model (model, error))
    return NULL;
  q->model = sl_model_ref (model);
  q->options = *options;
  q->graph = sl_model_express (model, error);
  if (q->graph == NULL || !check_weights (q, error))
    return NULL;
  /* The model as it came is what the other is compared with. */
  if (options->prune > 0 && !start_floats (q, error)) {
    g_prefix_error (error, "%s: ", sl_model_path (model));
    return NULL;
  }
  q->pruned = options->prune > 0 ? sl_prune (q->graph, options->prune, options->prune_blocks) : 0;
  q->equalized = options->equalize ? sl_equalize (q->graph) : 0;
  q->kept = g_new0 (gboolean, MAX (sl_graph_n_nodes (q->graph), 1));
  q->ranges = sl_ranges_new (q->graph);
  q->noise = g_new0 (Power, sl_graph_n_tensors (q->graph));
  q->tape = sl_activation_trace_new (q->graph, options->threads, error);
  if (q->tape == NULL)
    g_prefix_error (error, "%s: ", sl_model_path (model));
  return q->tape != NULL ? g_steal_pointer (&q) : NULL;
}

void
sl_quantizer_spec (const SlQuantizer *q, SlNormalizeSpec *spec)
{
  const SlTensor *input = sl_graph_input_tensor (q->graph, 0);
  const gint32 *dims = input->dims + (input->rank == 4 ? 1 : 0);
  sl_contract_spec (sl_model_contract (q->model), spec);
  /* The graph takes NHWC where the model began by making it that. */
  spec->layout = dims[2] == sl_model_contract (q->model)->image.channels && dims[0] == spec->height
                   ? SL_LAYOUT_NHWC
                   : SL_LAYOUT_NCHW;
}

gsize
sl_quantizer_tensor_bytes (const SlQuantizer *q)
{
  return sl_graph_input_tensor (q->graph, 0)->bytes;
}

gboolean
sl_quantizer_learn (SlQuantizer *q, guint pass, const void *tensor, GError **error)
{
  if (!sl_activation_trace_run (q->tape, tensor, error))
    return FALSE;
  if (pass == 0)
    sl_ranges_limits (q->ranges, q->tape);
  else
    sl_ranges_count (q->ranges, q->tape);
  return TRUE;
}

gboolean
sl_quantizer_learn_once (SlQuantizer *q, const void *tensor, GError **error)
{
  const gboolean good = sl_activation_trace_run (q->tape, tensor, error);
  if (good)
    sl_ranges_once (q->ranges, q->tape);
  return good;
}

static gboolean
start_comparison (SlQuantizer *q, GBytes *file, GError **error)
{
  guint n;
  if (q->whole.graph == NULL && !start_floats (q, error))
    return FALSE;
  SlGraph *graph = read_back (q, file, error);
  if (graph == NULL || !start (&q->int8, graph, q->options.threads, error))
    return FALSE;
  q->int8_bytes = g_bytes_get_size (file);
  if (q->options.what == SL_QUANTIZE_FLOAT16) {
    sl_graph_unref (q->int8_graph);
    q->int8_graph = sl_weights_graph_new (q->graph, SL_WEIGHTS_F16, TRUE, &n, error);
  }
  q->int8_tape = q->int8_graph != NULL
                   ? sl_activation_trace_new (q->int8_graph, q->options.threads, error)
                   : NULL;
  return q->int8_tape != NULL;
}

/* The graph with fewer bits, as learned. */
static SlGraph *
make_int8 (SlQuantizer *q, GError **error)
{
  const gboolean of_classes = q->agreement != NULL && sl_agreement_is_of_classes (q->agreement);
  const SlPlanOptions how = { .method = q->options.method,
                              .percent = q->options.percent,
                              .least_snr = of_classes ? CLASSES_SNR : BOXES_SNR,
                              .float_head = q->options.float_head,
                              .per_tensor = q->options.per_tensor,
                              .kept = q->kept };
  if (!q->ended)
    sl_ranges_end (q->ranges);
  q->ended = TRUE;
  q->plan = sl_plan_new (q->graph, q->ranges, &how);
  q->n_quantized = q->plan->n_quantized + q->plan->n_dynamic;
  SlGraph *graph =
    q->n_quantized > 0 ? sl_int8_graph_new (q->graph, q->plan, q->ranges, error) : NULL;
  if (graph != NULL && q->options.uint8)
    sl_int8_graph_to_uint8 (graph);
  return graph;
}

/* Forgets what was made and compared. */
static void
reset (SlQuantizer *q)
{
  g_clear_pointer (&q->agreement, sl_agreement_free);
  g_clear_pointer (&q->int8_tape, sl_activation_trace_free);
  g_clear_pointer (&q->int8_graph, sl_graph_unref);
  g_clear_pointer (&q->plan, sl_plan_free);
  memset (q->noise, 0, sl_graph_n_tensors (q->graph) * sizeof q->noise[0]);
  q->output_noise = (Power){ 0 };
  q->compared = 0;
}

GBytes *
sl_quantizer_finish (SlQuantizer *q, GError **error)
{
  const SlQuantizeWhat what = q->options.what;
  reset (q);
  q->agreement = sl_agreement_new (sl_model_contract (q->model));
  q->int8_graph = what == SL_QUANTIZE_ALL
                    ? make_int8 (q, error)
                    : sl_weights_graph_new (
                      q->graph, what == SL_QUANTIZE_FLOAT16 ? SL_WEIGHTS_F16 : SL_WEIGHTS_I8, FALSE,
                      &q->n_quantized, error);
  if (q->n_quantized == 0 && (error == NULL || *error == NULL))
    return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                         "%s: no node of it can %s: there is nothing to quantise",
                         sl_model_path (q->model),
                         what == SL_QUANTIZE_ALL ? "compute with 8 bits" : "have such weights");
  g_autoptr (GBytes) file = q->int8_graph != NULL
                              ? sl_tflite_write (q->int8_graph, sl_model_contract (q->model), error)
                              : NULL;
  if (file == NULL || !start_comparison (q, file, error)) {
    g_prefix_error (error, "%s: ", sl_model_path (q->model));
    return NULL;
  }
  return g_steal_pointer (&file);
}

/* The picture as @tensor takes it: its floats quantised. */
static void
put_input (const SlTensor *tensor, const gfloat *values, void *input)
{
  if (tensor->dtype == SL_DTYPE_F32) {
    memcpy (input, values, tensor->bytes);
    return;
  }
  const gfloat scale = sl_tensor_scale (tensor),
               zero_point = (gfloat) sl_tensor_zero_point (tensor);
  const gboolean is_signed = tensor->dtype == SL_DTYPE_I8;
  for (gsize i = 0; i < tensor->bytes; i++) {
    const gfloat value = nearbyintf (values[i] / scale + zero_point);
    if (is_signed)
      ((gint8 *) input)[i] = (gint8) CLAMP (value, -128, 127);
    else
      ((guint8 *) input)[i] = (guint8) CLAMP (value, 0, 255);
  }
}

static gboolean
run_whole (Whole *whole, const void *tensor, GError **error)
{
  const void *inputs[1] = { whole->input };
  put_input (sl_graph_input_tensor (whole->graph, 0), tensor, whole->input);
  const gint64 started = g_get_monotonic_time ();
  const SlStatus status = sl_session_run (whole->session, inputs, whole->outputs);
  const gint64 took = g_get_monotonic_time () - started;
  g_array_append_val (whole->times, took);
  if (status == SL_STATUS_OK)
    return TRUE;
  return sl_fail (error, SL_ERROR_BACKEND, "%s", sl_session_status_text (whole->session, status));
}

/* Values whose powers are added to sums of their own: each sum waits for its last addition. */
#define LANES 4

/* The powers of @n values. */
static inline void
add_lanes (Power *sums, const gfloat *want, const gfloat *got, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    /* Infinity that stays what it is, as in a mask, says nothing of the others. */
    const gboolean skipped = isinf (want[i]) && want[i] == got[i];
    const gdouble signal = skipped ? 0 : (gdouble) want[i],
                  noise = skipped ? 0 : (gdouble) (want[i] - got[i]);
    sums[i].signal += signal * signal;
    sums[i].noise += noise * noise;
  }
}

/* @n elements of @tensor from @first, as floats. */
static void
put_floats (const SlTensor *tensor, const void *data, gsize first, gsize n, gfloat *values)
{
  const gfloat scale = sl_tensor_scale (tensor);
  const gint32 zero_point = sl_tensor_zero_point (tensor);
  const gint8 *i8 = (const gint8 *) data + first;
  const guint8 *u8 = (const guint8 *) data + first;
  if (tensor->dtype == SL_DTYPE_I8)
    for (gsize i = 0; i < n; i++)
      values[i] = scale * (gfloat) (i8[i] - zero_point);
  else
    for (gsize i = 0; i < n; i++)
      values[i] = scale * (gfloat) (u8[i] - zero_point);
}

static void
add_power (Power *power, const SlTensor *tensor, const gfloat *want, const void *got)
{
  const gsize count = sl_tensor_count (tensor);
  Power sums[LANES] = { { 0 } };
  gfloat values[64 * LANES];
  for (gsize first = 0, n; first < count; first += n) {
    const gfloat *floats = values;
    n = MIN (count - first, G_N_ELEMENTS (values));
    if (tensor->dtype == SL_DTYPE_F32)
      floats = (const gfloat *) got + first;
    else
      put_floats (tensor, got, first, n, values);
    for (gsize i = 0; i + LANES <= n; i += LANES)
      add_lanes (sums, want + first + i, floats + i, LANES);
    add_lanes (sums, want + first + n - n % LANES, floats + n - n % LANES, n % LANES);
  }
  for (gsize i = 0; i < LANES; i++) {
    power->signal += sums[i].signal;
    power->noise += sums[i].noise;
  }
}

static gboolean
measure_nodes (SlQuantizer *q, const void *tensor, GError **error)
{
  const SlTensor *input = sl_graph_input_tensor (q->int8_graph, 0);
  g_autofree void *values = g_malloc (input->bytes);
  put_input (input, tensor, values);
  if (!sl_activation_trace_run (q->tape, tensor, error)
      || !sl_activation_trace_run (q->int8_tape, values, error))
    return FALSE;
  for (gint32 i = 0; i < (gint32) sl_graph_n_tensors (q->graph); i++) {
    const SlTensor *made = sl_graph_tensor (q->int8_graph, i);
    const void *want = sl_activation_trace_data (q->tape, i),
               *got = sl_activation_trace_data (q->int8_tape, i);
    if (want != NULL && got != NULL && sl_graph_tensor (q->graph, i)->dtype == SL_DTYPE_F32)
      add_power (&q->noise[i], made, want, got);
  }
  return TRUE;
}

gboolean
sl_quantizer_compare (SlQuantizer *q, const void *tensor, GError **error)
{
  if (!run_whole (&q->whole, tensor, error) || !run_whole (&q->int8, tensor, error)
      || (q->compared < NOISE_PICTURES && !measure_nodes (q, tensor, error)))
    return FALSE;
  q->compared++;
  for (guint i = 0; i < sl_graph_n_outputs (q->whole.graph); i++)
    if (sl_graph_output_tensor (q->whole.graph, i)->dtype == SL_DTYPE_F32)
      add_power (&q->output_noise, sl_graph_output_tensor (q->int8.graph, i), q->whole.outputs[i],
                 q->int8.outputs[i]);
  if (q->agreement != NULL)
    sl_agreement_add (q->agreement, (const void *const *) q->whole.outputs,
                      (const void *const *) q->int8.outputs);
  return TRUE;
}

/* Results that are no numbers, or too large for one, are the worst there are. */
static gdouble
snr_of (const Power *power)
{
  if (!isfinite (power->signal) || !isfinite (power->noise))
    return -BEST_SNR;
  return power->noise > 0 ? CLAMP (10 * log10 (power->signal / power->noise), -BEST_SNR, BEST_SNR)
                          : BEST_SNR;
}

/* Puts @layer among the worst, which are in order. */
static void
add_worst (SlQuantizeReport *report, SlLayerNoise layer)
{
  guint at = report->n_worst < SL_QUANTIZE_WORST ? report->n_worst++ : SL_QUANTIZE_WORST;
  while (at > 0 && report->worst[at - 1].snr > layer.snr) {
    if (at < SL_QUANTIZE_WORST)
      report->worst[at] = report->worst[at - 1];
    at--;
  }
  if (at < SL_QUANTIZE_WORST)
    report->worst[at] = layer;
}

static gdouble
noise_ratio (const SlQuantizer *q, gint32 tensor)
{
  const Power *power = &q->noise[tensor];
  if (!isfinite (power->signal) || !isfinite (power->noise))
    return INFINITY;
  return power->signal > 0 ? power->noise / power->signal : 0;
}

/* What a layer adds to the noise of its inputs; below 0 when it is float, or no layer. */
static gdouble
added_noise (const SlQuantizer *q, guint index)
{
  const SlNode *node = sl_graph_node (q->graph, index);
  gdouble before = 0;
  if ((!q->plan->quantized[index] && !q->plan->dynamic[index])
      || sl_scales_of (node->op) == SL_SCALES_SAME)
    return -1;
  for (guint i = 0; i < node->n_inputs; i++)
    before = node->inputs[i] >= 0 ? MAX (before, noise_ratio (q, node->inputs[i])) : before;
  const gdouble after = noise_ratio (q, node->outputs[0]);
  return after > before ? after - before : 0;
}

guint
sl_quantizer_keep (SlQuantizer *q)
{
  if (q->options.what != SL_QUANTIZE_ALL || q->compared == 0)
    return 0;
  const guint wanted = q->n_quantized / KEPT_AT_ONCE + 1;
  guint kept = 0;
  for (; kept < wanted; kept++) {
    gint worst = -1;
    gdouble most = -1;
    for (guint i = 0; i < sl_graph_n_nodes (q->graph); i++) {
      const gdouble added = q->kept[i] ? -1 : added_noise (q, i);
      if (added > most) {
        most = added;
        worst = (gint) i;
      }
    }
    if (worst < 0)
      break;
    q->kept[worst] = TRUE;
  }
  return kept;
}

void
sl_quantizer_report (SlQuantizer *q, SlQuantizeReport *report)
{
  *report = (SlQuantizeReport){
    .agreement = NAN, .compared = q->compared, .what = q->options.what, .quantized = q->n_quantized
  };
  report->nodes = sl_graph_n_nodes (q->int8_graph);
  report->dynamic = q->plan != NULL ? q->plan->n_dynamic : 0;
  report->equalized = q->equalized;
  report->pruned = q->pruned;
  for (guint i = 0; i < sl_graph_n_nodes (q->graph); i++) {
    if (!q->kept[i])
      continue;
    if (report->n_kept < SL_QUANTIZE_KEPT)
      report->kept[report->n_kept] = sl_graph_node (q->graph, i)->name;
    report->n_kept++;
  }
  report->float_bytes = q->float_bytes;
  report->quantized_bytes = q->int8_bytes;
  report->float_ms = sl_percentile_median_ms (q->whole.times);
  report->quantized_ms = sl_percentile_median_ms (q->int8.times);
  report->output_snr = snr_of (&q->output_noise);
  if (q->agreement != NULL && q->compared > 0) {
    report->measure = sl_agreement_measure (q->agreement);
    report->agreement = sl_agreement_value (q->agreement);
  }
  for (guint i = 0; i < sl_graph_n_nodes (q->graph) && q->compared > 0; i++) {
    const SlNode *node = sl_graph_node (q->graph, i);
    /* Its border is the lowest float, or the lowest code. */
    if (node->op == SL_OP_PADV2)
      continue;
    add_worst (report, (SlLayerNoise){ sl_op_name (node->op), node->name,
                                       snr_of (&q->noise[node->outputs[0]]) });
  }
}
