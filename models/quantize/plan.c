/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every node that TensorFlow Lite has for int8 is quantised, then parts that it would spoil are
 * not: the heads of detectors, where boxes and scores meet in one tensor, where softmax turns bins
 * into distances, and whatever follows. Tensors that must share a scale are groups (union and
 * find); each gets the range that suits the values of all.
 */
#include "models/quantize/plan.h"

#include <float.h>
#include <math.h>

#include "core/graph/work.h"
#include "core/ops/ops.h"
#include "models/quantize/constant.h"
#include "models/quantize/tokens.h"

/* Ranges that differ by more cannot share a scale: the narrow one would keep 5 bits. */
#define UNLIKE 8.0
/* A layer of this share of the work is the network's body, not arithmetic of its head. */
#define HEAVY 0.005
/* Last layers before a float head stay float while they are at most this share of the work. */
#define LAST_LAYERS 0.1
/* Float layers change the groups, and so the scales of others. */
#define MAX_ROUNDS 3

static const struct
{
  SlOpType op;
  SlScales scales;
  gfloat scale; /* of the output, where it is stated */
  gint32 zero_point;
} kinds[] = {
  { SL_OP_CONV_2D, SL_SCALES_LAYER, 0, 0 },
  { SL_OP_DEPTHWISE_CONV_2D, SL_SCALES_LAYER, 0, 0 },
  { SL_OP_FULLY_CONNECTED, SL_SCALES_LAYER, 0, 0 },
  { SL_OP_ADD, SL_SCALES_OWN, 0, 0 },
  { SL_OP_SUB, SL_SCALES_OWN, 0, 0 },
  { SL_OP_MUL, SL_SCALES_OWN, 0, 0 },
  { SL_OP_MEAN, SL_SCALES_OWN, 0, 0 },
  { SL_OP_RELU, SL_SCALES_OWN, 0, 0 },
  { SL_OP_RELU6, SL_SCALES_OWN, 0, 0 },
  { SL_OP_LEAKY_RELU, SL_SCALES_OWN, 0, 0 },
  { SL_OP_PRELU, SL_SCALES_OWN, 0, 0 },
  { SL_OP_HARD_SWISH, SL_SCALES_OWN, 0, 0 },
  { SL_OP_LOGISTIC, SL_SCALES_FIXED, 1.0f / 256, -128 },
  { SL_OP_SOFTMAX, SL_SCALES_FIXED, 1.0f / 256, -128 },
  { SL_OP_TANH, SL_SCALES_FIXED, 1.0f / 128, 0 },
  { SL_OP_CONCATENATION, SL_SCALES_SAME, 0, 0 },
  { SL_OP_MAX_POOL_2D, SL_SCALES_SAME, 0, 0 },
  { SL_OP_AVERAGE_POOL_2D, SL_SCALES_SAME, 0, 0 },
  { SL_OP_RESHAPE, SL_SCALES_SAME, 0, 0 },
  { SL_OP_SQUEEZE, SL_SCALES_SAME, 0, 0 },
  { SL_OP_EXPAND_DIMS, SL_SCALES_SAME, 0, 0 },
  { SL_OP_TRANSPOSE, SL_SCALES_SAME, 0, 0 },
  { SL_OP_PAD, SL_SCALES_SAME, 0, 0 },
  { SL_OP_PADV2, SL_SCALES_SAME, 0, 0 },
  { SL_OP_MIRROR_PAD, SL_SCALES_SAME, 0, 0 },
  { SL_OP_SLICE, SL_SCALES_SAME, 0, 0 },
  { SL_OP_STRIDED_SLICE, SL_SCALES_SAME, 0, 0 },
  { SL_OP_SPLIT, SL_SCALES_SAME, 0, 0 },
  { SL_OP_SPLIT_V, SL_SCALES_SAME, 0, 0 },
  { SL_OP_GATHER, SL_SCALES_SAME, 0, 0 },
  { SL_OP_MAXIMUM, SL_SCALES_SAME, 0, 0 },
  { SL_OP_MINIMUM, SL_SCALES_SAME, 0, 0 },
  { SL_OP_RESIZE_BILINEAR, SL_SCALES_SAME, 0, 0 },
  { SL_OP_RESIZE_NEAREST_NEIGHBOR, SL_SCALES_SAME, 0, 0 },
  { SL_OP_SPACE_TO_DEPTH, SL_SCALES_SAME, 0, 0 },
  { SL_OP_DEPTH_TO_SPACE, SL_SCALES_SAME, 0, 0 },
};

/** The producer and the readers of each tensor; readers of tensor t are readers[first[t]] to
 * readers[first[t + 1] - 1]. */
typedef struct
{
  SlGraph *graph;
  const SlRanges *ranges;
  SlPlan *plan;
  gint32 *producer;
  guint *first, *readers;
  gint32 *group; /* parent of each tensor, itself for a group's first */
  guint64 work;
} Planner;

SlScales
sl_scales_of (SlOpType op)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (kinds[i].op == op)
      return kinds[i].scales;
  return SL_SCALES_NONE;
}

gboolean
sl_scales_data (SlOpType op, guint i)
{
  switch (op) {
    case SL_OP_CONCATENATION:
      return TRUE;
    case SL_OP_ADD:
    case SL_OP_SUB:
    case SL_OP_MUL:
    case SL_OP_MAXIMUM:
    case SL_OP_MINIMUM:
    case SL_OP_PRELU:
      return i < 2;
    case SL_OP_SPLIT:
      return i == 1;
    default:
      return i == 0;
  }
}

static void
index_readers (Planner *p)
{
  const guint n = sl_graph_n_tensors (p->graph), nodes = sl_graph_n_nodes (p->graph);
  guint reads = 0;
  p->producer = g_new (gint32, n);
  p->first = g_new0 (guint, n + 2);
  for (guint i = 0; i < n; i++)
    p->producer[i] = -1;
  for (guint i = 0; i < nodes; i++) {
    const SlNode *node = sl_graph_node (p->graph, i);
    for (guint k = 0; k < node->n_inputs; k++)
      if (node->inputs[k] >= 0 && ++reads > 0)
        p->first[node->inputs[k] + 2]++;
    for (guint k = 0; k < node->n_outputs; k++)
      p->producer[node->outputs[k]] = (gint32) i;
  }
  for (guint i = 2; i < n + 2; i++)
    p->first[i] += p->first[i - 1];
  p->readers = g_new (guint, MAX (reads, 1));
  for (guint i = 0; i < nodes; i++) {
    const SlNode *node = sl_graph_node (p->graph, i);
    for (guint k = 0; k < node->n_inputs; k++)
      if (node->inputs[k] >= 0)
        p->readers[p->first[node->inputs[k] + 1]++] = i;
  }
}

static gboolean
is_constant (const SlTensor *tensor)
{
  return tensor->data != NULL;
}

/* Whether @tensor is of constant floats that codes can stand for. */
static gboolean
has_codes (const SlTensor *tensor)
{
  return is_constant (tensor) && tensor->dtype == SL_DTYPE_F32
         && sl_constant_is_within (tensor, FLT_MAX);
}

static gboolean
has_float_weights (const Planner *p, const SlNode *node)
{
  const SlTensor *bias = sl_node_input (p->graph, node, 2);
  return has_codes (sl_node_input (p->graph, node, 1)) && (bias == NULL || has_codes (bias));
}

static gboolean
can_be_quantized (const Planner *p, const SlNode *node)
{
  const SlScales scales = sl_scales_of (node->op);
  guint variables = 0;
  if (scales == SL_SCALES_NONE || (scales == SL_SCALES_LAYER && !has_float_weights (p, node)))
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlTensor *input = sl_node_input (p->graph, node, i);
    if (input == NULL || !sl_scales_data (node->op, i))
      continue;
    if (input->dtype != SL_DTYPE_F32)
      return FALSE;
    if (is_constant (input) ? !has_codes (input)
                            : sl_ranges_get (p->ranges, node->inputs[i]) == NULL)
      return FALSE;
    variables += !is_constant (input);
  }
  for (guint i = 0; i < node->n_outputs; i++)
    if (sl_ranges_get (p->ranges, node->outputs[i]) == NULL)
      return FALSE;
  return variables > 0;
}

static gboolean
is_heavy (const Planner *p, guint node)
{
  return (gdouble) sl_node_multiply_adds (p->graph, sl_graph_node (p->graph, node))
         >= HEAVY * (gdouble) p->work;
}

static gboolean
is_of_tokens (const Planner *p, guint node)
{
  return p->plan->dynamic[node];
}

static gboolean
is_output (const Planner *p, gint32 tensor)
{
  for (guint i = 0; i < sl_graph_n_outputs (p->graph); i++)
    if (sl_graph_output (p->graph, i) == tensor)
      return TRUE;
  return FALSE;
}

/* Whether boxes and scores meet here: parts of stated scale beside others, or ranges that no scale
 * suits. */
static gboolean
is_unlike (const Planner *p, const SlNode *node)
{
  gdouble least = INFINITY, most = 0;
  guint fixed = 0, variables = 0;
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlObserved *seen =
      node->inputs[i] >= 0 ? sl_ranges_get (p->ranges, node->inputs[i]) : NULL;
    if (seen == NULL)
      continue;
    const gint32 maker = p->producer[node->inputs[i]];
    const gdouble extreme = MAX (seen->range.high, -seen->range.low);
    fixed +=
      maker >= 0 && sl_scales_of (sl_graph_node (p->graph, (guint) maker)->op) == SL_SCALES_FIXED;
    variables++;
    least = MIN (least, extreme);
    most = MAX (most, extreme);
  }
  return (fixed > 0 && fixed < variables) || most > UNLIKE * least;
}

/* By node: whether one of those that @is_wanted reads, at any distance, what it makes. */
static gboolean *
find_before (const Planner *p, gboolean (*is_wanted) (const Planner *p, guint node))
{
  const guint n = sl_graph_n_nodes (p->graph);
  gboolean *before = g_new0 (gboolean, MAX (n, 1));
  for (guint i = n; i-- > 0;) {
    const SlNode *node = sl_graph_node (p->graph, i);
    for (guint k = 0; k < node->n_outputs; k++)
      for (guint r = p->first[node->outputs[k]]; r < p->first[node->outputs[k] + 1]; r++)
        before[i] |= before[p->readers[r]] || is_wanted (p, p->readers[r]);
  }
  return before;
}

/* What is float because of what it is, or because it follows such a node and the network's body
 * does not come after it. */
static void
spread_float (Planner *p)
{
  const guint n = sl_graph_n_nodes (p->graph);
  g_autofree gboolean *before_body = find_before (p, is_heavy),
                      *is_head = g_new0 (gboolean, MAX (n, 1));
  for (guint i = 0; i < n; i++) {
    const SlNode *node = sl_graph_node (p->graph, i);
    gboolean follows = FALSE;
    for (guint k = 0; k < node->n_inputs; k++)
      if (node->inputs[k] >= 0 && p->producer[node->inputs[k]] >= 0)
        follows |= is_head[p->producer[node->inputs[k]]];
    const gboolean inner_softmax = node->op == SL_OP_SOFTMAX && !is_output (p, node->outputs[0]);
    const gboolean begins = inner_softmax || !p->plan->quantized[i]
                            || (node->op == SL_OP_CONCATENATION && is_unlike (p, node));
    const gboolean passes = sl_scales_of (node->op) != SL_SCALES_LAYER || !is_heavy (p, i);
    if (begins && p->plan->quantized[i])
      p->plan->quantized[i] = FALSE;
    is_head[i] = !before_body[i] && (begins || (follows && passes));
    if (is_head[i])
      p->plan->quantized[i] = FALSE;
  }
}

/* Whether only float nodes read what @node makes, and the caller of the model, who gets floats. */
static gboolean
feeds_float (const Planner *p, const SlNode *node)
{
  guint readers = 0;
  for (guint k = 0; k < node->n_outputs; k++) {
    readers += is_output (p, node->outputs[k]);
    for (guint r = p->first[node->outputs[k]]; r < p->first[node->outputs[k] + 1]; r++, readers++)
      if (p->plan->quantized[p->readers[r]])
        return FALSE;
  }
  return readers > 0;
}

/* A classifier's last layer is most of its weights and loses least, and enlarged maps are large. */
static gboolean
is_better_quantized (SlOpType op)
{
  return op == SL_OP_FULLY_CONNECTED || op == SL_OP_RESIZE_BILINEAR
         || op == SL_OP_RESIZE_NEAREST_NEIGHBOR;
}

/* What only moves values to float nodes is float, too, and so are the last layers before them, if
 * they are light. Layers of tokens take floats, but they are no head. */
static void
widen_head (Planner *p)
{
  guint64 last = 0;
  g_autofree gboolean *before_tokens = find_before (p, is_of_tokens);
  g_autoptr (GArray) layers = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = sl_graph_n_nodes (p->graph); i-- > 0;) {
    const SlNode *node = sl_graph_node (p->graph, i);
    if (!p->plan->quantized[i] || is_better_quantized (node->op) || !feeds_float (p, node)
        || before_tokens[i])
      continue;
    if (sl_scales_of (node->op) != SL_SCALES_LAYER) {
      p->plan->quantized[i] = FALSE;
    } else {
      last += sl_node_multiply_adds (p->graph, node);
      g_array_append_val (layers, i);
    }
  }
  for (guint i = 0; i < layers->len && (gdouble) last <= LAST_LAYERS * (gdouble) p->work; i++)
    p->plan->quantized[g_array_index (layers, guint, i)] = FALSE;
}

static gint32
find (const Planner *p, gint32 tensor)
{
  while (p->group[tensor] != tensor)
    tensor = p->group[tensor] = p->group[p->group[tensor]];
  return tensor;
}

static void
join_groups (Planner *p)
{
  for (guint i = 0; i < sl_graph_n_nodes (p->graph); i++) {
    const SlNode *node = sl_graph_node (p->graph, i);
    if (!p->plan->quantized[i] || sl_scales_of (node->op) != SL_SCALES_SAME)
      continue;
    for (guint k = 0; k < node->n_inputs; k++) {
      const SlTensor *input = sl_node_input (p->graph, node, k);
      if (input != NULL && sl_scales_data (node->op, k) && !is_constant (input))
        p->group[find (p, node->inputs[k])] = find (p, node->outputs[0]);
    }
    for (guint k = 1; k < node->n_outputs; k++)
      p->group[find (p, node->outputs[k])] = find (p, node->outputs[0]);
  }
}

static gdouble
logistic (gdouble x)
{
  return 1 / (1 + exp (-x));
}

static gdouble
silu (gdouble x)
{
  return x * logistic (x);
}

static gdouble
hard_swish (gdouble x)
{
  return x * CLAMP (x / 6 + 0.5, 0, 1);
}

/* The curve that @tensor goes through, and nothing else reads it. */
static SlCurve
curve_of (const Planner *p, gint32 tensor)
{
  const guint from = p->first[tensor], to = p->first[tensor + 1];
  if (is_output (p, tensor) || to == from)
    return NULL;
  const SlNode *one = sl_graph_node (p->graph, p->readers[from]);
  if (to - from == 1)
    return one->op == SL_OP_LOGISTIC ? logistic : one->op == SL_OP_HARD_SWISH ? hard_swish : NULL;
  const SlNode *two = sl_graph_node (p->graph, p->readers[from + 1]);
  if (to - from != 2 || one->op != SL_OP_LOGISTIC || two->op != SL_OP_MUL)
    return NULL;
  return two->inputs[0] == one->outputs[0] || two->inputs[1] == one->outputs[0] ? silu : NULL;
}

/* Scale and zero point of int8 values over @range. */
static void
set_quantization (SlPlan *plan, gint32 tensor, SlRange range)
{
  const gdouble width = range.high - range.low;
  const gfloat scale = width > 1e-30 ? (gfloat) (width / 255) : 1.0f / 128;
  plan->scale[tensor] = scale;
  plan->zero_point[tensor] =
    (gint32) CLAMP (nearbyint (-128 - range.low / (gdouble) scale), -128, 127);
}

/* A stated scale of any of its tensors is the whole group's. */
static gboolean
set_fixed (Planner *p, const GArray *members, gint32 group)
{
  for (guint i = 0; i < members->len; i++) {
    const gint32 maker = p->producer[g_array_index (members, gint32, i)];
    if (maker < 0 || !p->plan->quantized[maker])
      continue;
    const SlOpType op = sl_graph_node (p->graph, (guint) maker)->op;
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
      if (kinds[k].op != op || kinds[k].scales != SL_SCALES_FIXED)
        continue;
      p->plan->scale[group] = kinds[k].scale;
      p->plan->zero_point[group] = kinds[k].zero_point;
      return TRUE;
    }
  }
  return FALSE;
}

/* Whether PADV2 makes @tensor: the lowest float of its border needs no code of its own. */
static gboolean
is_bordered (const Planner *p, gint32 tensor)
{
  return p->producer[tensor] >= 0
         && sl_graph_node (p->graph, (guint) p->producer[tensor])->op == SL_OP_PADV2;
}

static void
choose_scales (Planner *p, const SlPlanOptions *options)
{
  const guint n = sl_graph_n_tensors (p->graph);
  g_autoptr (GHashTable) groups =
    g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  for (gint32 i = 0; i < (gint32) n; i++) {
    if (sl_ranges_get (p->ranges, i) == NULL)
      continue;
    const gpointer key = GINT_TO_POINTER (find (p, i));
    GArray *members = g_hash_table_lookup (groups, key);
    if (members == NULL) {
      members = g_array_new (FALSE, FALSE, sizeof (gint32));
      g_hash_table_insert (groups, key, members);
    }
    g_array_append_val (members, i);
  }
  for (gint32 i = 0; i < (gint32) n; i++) {
    const GArray *members = g_hash_table_lookup (groups, GINT_TO_POINTER (i));
    if (members == NULL || set_fixed (p, members, i))
      continue;
    g_autofree const SlObserved **seen = g_new (const SlObserved *, members->len);
    guint n_seen = 0;
    for (guint k = 0; k < members->len; k++)
      if (!is_bordered (p, g_array_index (members, gint32, k)))
        seen[n_seen++] = sl_ranges_get (p->ranges, g_array_index (members, gint32, k));
    const SlCurve curve = members->len == 1 ? curve_of (p, i) : NULL;
    set_quantization (p->plan, i,
                      sl_ranges_choose (seen, n_seen, options->method, options->percent, curve));
  }
  for (gint32 i = 0; i < (gint32) n; i++) {
    p->plan->scale[i] = p->plan->scale[find (p, i)];
    p->plan->zero_point[i] = p->plan->zero_point[find (p, i)];
  }
}

/* Noise of quantising a layer's input, as it comes out of the layer, against the variance of what
 * should come out; dB. */
static gdouble
snr_through (const Planner *p, const SlNode *node)
{
  const SlObserved *in = sl_ranges_get (p->ranges, node->inputs[0]),
                   *out = sl_ranges_get (p->ranges, node->outputs[0]);
  const SlTensor *weights = sl_node_input (p->graph, node, 1),
                 *output = sl_node_output (p->graph, node, 0);
  const gfloat *w = weights->data;
  const gfloat scale = p->plan->scale[node->inputs[0]];
  const gint32 zero_point = p->plan->zero_point[node->inputs[0]];
  const SlRange range = { (gdouble) (scale * (gfloat) (-128 - zero_point)),
                          (gdouble) (scale * (gfloat) (127 - zero_point)) };
  gdouble squares = 0, variance = 0;
  for (gsize i = 0; i < weights->bytes / sizeof (gfloat); i++)
    squares += (gdouble) w[i] * (gdouble) w[i];
  for (gint32 c = 0; c < output->dims[output->rank - 1]; c++)
    variance += out->variances[c];
  const gdouble noise = squares * sl_ranges_noise (in, range);
  return noise > 0 ? 10 * log10 (MAX (variance, 1e-30) / noise) : INFINITY;
}

/* @tensor comes as floats: so do those who make it, back to the layers before. */
static void
make_float (Planner *p, gint32 tensor)
{
  const gint32 maker = tensor >= 0 ? p->producer[tensor] : -1;
  if (maker < 0 || !p->plan->quantized[maker])
    return;
  const SlNode *node = sl_graph_node (p->graph, (guint) maker);
  p->plan->quantized[maker] = FALSE;
  for (guint i = 0; i < node->n_inputs && sl_scales_of (node->op) != SL_SCALES_LAYER; i++)
    make_float (p, node->inputs[i]);
}

/* Layers that a scale for the whole of their input leaves too little of stay float. Returns how
 * many became so. */
static guint
keep_precise (Planner *p, gdouble least)
{
  guint n = 0;
  for (guint i = sl_graph_n_nodes (p->graph); i-- > 0;) {
    const SlNode *node = sl_graph_node (p->graph, i);
    if (!p->plan->quantized[i] || sl_scales_of (node->op) != SL_SCALES_LAYER)
      continue;
    if (snr_through (p, node) >= least)
      continue;
    p->plan->quantized[i] = FALSE;
    make_float (p, node->inputs[0]);
    n++;
  }
  return n;
}

static void
reset_groups (Planner *p)
{
  for (gint32 i = 0; i < (gint32) sl_graph_n_tensors (p->graph); i++)
    p->group[i] = i;
}

SlPlan *
sl_plan_new (SlGraph *graph, const SlRanges *ranges, const SlPlanOptions *options)
{
  const guint n = sl_graph_n_tensors (graph), nodes = sl_graph_n_nodes (graph);
  SlPlan *plan = g_new0 (SlPlan, 1);
  Planner p = { .graph = graph, .ranges = ranges, .plan = plan };
  plan->per_tensor = options->per_tensor;
  plan->quantized = g_new0 (gboolean, MAX (nodes, 1));
  plan->dynamic = g_new0 (gboolean, MAX (nodes, 1));
  plan->scale = g_new0 (gfloat, n);
  plan->zero_point = g_new0 (gint32, n);
  p.group = g_new (gint32, n);
  index_readers (&p);
  for (guint i = 0; i < nodes; i++) {
    plan->quantized[i] = can_be_quantized (&p, sl_graph_node (graph, i))
                         && (options->kept == NULL || !options->kept[i]);
    p.work += sl_node_multiply_adds (graph, sl_graph_node (graph, i));
  }
  sl_tokens_plan (graph, ranges, options->kept, plan->quantized, plan->dynamic);
  if (options->float_head) {
    spread_float (&p);
    widen_head (&p);
  }
  guint changed = 1;
  for (guint round = 0; changed > 0; round++) {
    reset_groups (&p);
    join_groups (&p);
    choose_scales (&p, options);
    changed = options->float_head && round < MAX_ROUNDS ? keep_precise (&p, options->least_snr) : 0;
  }
  for (guint i = 0; i < nodes; i++) {
    plan->n_quantized += plan->quantized[i] != FALSE;
    plan->n_dynamic += plan->dynamic[i] != FALSE;
  }
  g_free (p.producer);
  g_free (p.first);
  g_free (p.readers);
  g_free (p.group);
  return plan;
}

void
sl_plan_free (SlPlan *plan)
{
  if (plan == NULL)
    return;
  g_free (plan->quantized);
  g_free (plan->dynamic);
  g_free (plan->scale);
  g_free (plan->zero_point);
  g_free (plan);
}
