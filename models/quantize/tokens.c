/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/quantize/tokens.h"

#include <float.h>

#include "core/graph/work.h"
#include "core/ops/ops.h"
#include "models/quantize/constant.h"

/* Smaller layers gain nothing. */
#define MIN_WEIGHTS 1024
/* Layers of this share of the work make a network one of tokens. */
#define HEAVY 0.005
/* Nodes between the two products of attention, and columns of keys and values. */
#define MAX_BETWEEN 12
/* Of fewer keys packing takes longer than 8 bits save. */
#define MIN_KEYS 64
#define MAX_COLUMNS 512

/* A convolution whose window is a pixel: a matrix of rows, one for each pixel. */
static gboolean
is_pointwise (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *weights = sl_node_input (graph, node, 1);
  return node->op == SL_OP_CONV_2D && weights->dims[1] == 1 && weights->dims[2] == 1
         && weights->dims[3] == sl_node_input (graph, node, 0)->dims[3]
         && sl_tensor_count (sl_node_input (graph, node, 0)) / (gsize) weights->dims[3]
              == sl_tensor_count (sl_node_output (graph, node, 0)) / (gsize) weights->dims[0];
}

static gboolean
has_weights (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *weights = sl_node_input (graph, node, 1),
                 *bias = sl_node_input (graph, node, 2);
  return (node->op == SL_OP_FULLY_CONNECTED || is_pointwise (graph, node))
         && input->dtype == SL_DTYPE_F32 && weights->data != NULL && weights->dtype == SL_DTYPE_F32
         && weights->bytes >= MIN_WEIGHTS * sizeof (gfloat)
         && sl_constant_is_within (weights, FLT_MAX)
         && (bias == NULL
             || (bias->data != NULL && bias->dtype == SL_DTYPE_F32
                 && sl_constant_is_within (bias, FLT_MAX)));
}

static gboolean
is_of_tokens (const SlGraph *graph)
{
  guint64 work = 0;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++)
    work += sl_node_multiply_adds (graph, sl_graph_node (graph, i));
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    if (node->op != SL_OP_FULLY_CONNECTED || !has_weights (graph, node))
      continue;
    const SlTensor *output = sl_node_output (graph, node, 0);
    const gboolean many_rows = sl_tensor_count (output) > (gsize) output->dims[output->rank - 1];
    if (many_rows && (gdouble) sl_node_multiply_adds (graph, node) >= HEAVY * (gdouble) work)
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_convolution (SlOpType op)
{
  return op == SL_OP_CONV_2D || op == SL_OP_DEPTHWISE_CONV_2D;
}

/* Nodes that are no convolutions stay quantised where quantised nodes alone, or the model's caller,
 * make what they read. Returns how many do not. */
static guint
leave_behind_floats (const SlGraph *graph, gboolean *quantized, gboolean *is_float)
{
  guint changed = 0;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    for (guint k = 0; quantized[i] && !is_convolution (node->op) && k < node->n_inputs; k++)
      if (node->inputs[k] >= 0 && is_float[node->inputs[k]]) {
        quantized[i] = FALSE;
        changed++;
      }
    for (guint k = 0; !quantized[i] && k < node->n_outputs; k++)
      is_float[node->outputs[k]] = TRUE;
  }
  return changed;
}

/* The same of those that read what they make. */
static guint
leave_before_floats (const SlGraph *graph, gboolean *quantized, gboolean *read_as_float)
{
  guint changed = 0;
  for (guint i = sl_graph_n_nodes (graph); i-- > 0;) {
    const SlNode *node = sl_graph_node (graph, i);
    for (guint k = 0; quantized[i] && !is_convolution (node->op) && k < node->n_outputs; k++)
      if (read_as_float[node->outputs[k]]) {
        quantized[i] = FALSE;
        changed++;
      }
    for (guint k = 0; !quantized[i] && k < node->n_inputs; k++)
      if (node->inputs[k] >= 0)
        read_as_float[node->inputs[k]] = TRUE;
  }
  return changed;
}

static gint32
producer_of (const SlGraph *graph, gint32 tensor)
{
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++)
    for (guint k = 0; k < sl_graph_node (graph, i)->n_outputs; k++)
      if (sl_graph_node (graph, i)->outputs[k] == tensor)
        return (gint32) i;
  return -1;
}

/* The product of queries and keys of which scores or shares @tensor are; -1 = of none. */
static gint32
product_before (const SlGraph *graph, gint32 tensor, guint depth)
{
  const gint32 i = producer_of (graph, tensor);
  const SlNode *node = i >= 0 ? sl_graph_node (graph, (guint) i) : NULL;
  gint32 found = -1;
  if (node == NULL || depth > MAX_BETWEEN || node->op == SL_OP_BATCH_MATMUL)
    return node != NULL && node->op == SL_OP_BATCH_MATMUL ? i : -1;
  const gboolean masked = node->op == SL_OP_ADD || node->op == SL_OP_MUL || node->op == SL_OP_DIV
                          || node->op == SL_OP_SELECT;
  if (!masked && node->op != SL_OP_RESHAPE && node->op != SL_OP_SOFTMAX)
    return -1;
  for (guint k = 0; found < 0 && k < (masked ? node->n_inputs : 1); k++)
    if (sl_node_input (graph, node, k)->data == NULL)
      found = product_before (graph, node->inputs[k], depth + 1);
  return found;
}

static gint32
columns_of (const SlTensor *tensor)
{
  return tensor->dims[tensor->rank - 1];
}

/* Whether @node is a product of floats whose second operand may have 8 bits. */
static gboolean
is_product (const SlGraph *graph, const SlRanges *ranges, const SlNode *node)
{
  const SlTensor *a = sl_node_input (graph, node, 0), *b = sl_node_input (graph, node, 1);
  const SlObserved *seen = sl_ranges_get (ranges, node->inputs[1]);
  return node->op == SL_OP_BATCH_MATMUL && a->data == NULL && b->data == NULL
         && a->dtype == SL_DTYPE_F32 && b->dtype == SL_DTYPE_F32 && seen != NULL
         && seen->range.high > seen->range.low && !node->params.matmul.transpose_a
         && MIN (b->dims[b->rank - 1], b->dims[b->rank - 2]) <= MAX_COLUMNS;
}

/* The two products of attention. */
static void
plan_attention (const SlGraph *graph, const SlRanges *ranges, const gboolean *kept,
                gboolean *dynamic)
{
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    const gboolean wanted =
      is_product (graph, ranges, node) && columns_of (sl_node_input (graph, node, 0)) >= MIN_KEYS;
    const gint32 shares = wanted ? producer_of (graph, node->inputs[0]) : -1;
    if (shares < 0 || sl_graph_node (graph, (guint) shares)->op != SL_OP_SOFTMAX)
      continue;
    const gint32 scores = product_before (graph, node->inputs[0], 0);
    if (scores < 0 || !is_product (graph, ranges, sl_graph_node (graph, (guint) scores))
        || (kept != NULL && (kept[i] || kept[scores])))
      continue;
    dynamic[i] = dynamic[scores] = TRUE;
  }
}

/* Pointwise convolutions that read floats are matrices, too: they round their rows, and write
 * floats. Returns how many there are. */
static guint
plan_pointwise (const SlGraph *graph, gboolean *quantized, const gboolean *is_float,
                gboolean *dynamic)
{
  guint found = 0;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    if (!quantized[i] || node->op != SL_OP_CONV_2D || !is_float[node->inputs[0]]
        || !has_weights (graph, node))
      continue;
    dynamic[i] = TRUE;
    quantized[i] = FALSE;
    found++;
  }
  return found;
}

void
sl_tokens_plan (const SlGraph *graph, const SlRanges *ranges, const gboolean *kept,
                gboolean *quantized, gboolean *dynamic)
{
  const guint nodes = sl_graph_n_nodes (graph), tensors = sl_graph_n_tensors (graph);
  if (!is_of_tokens (graph))
    return;
  for (guint i = 0; i < nodes; i++) {
    const SlNode *node = sl_graph_node (graph, i);
    dynamic[i] =
      node->op == SL_OP_FULLY_CONNECTED && has_weights (graph, node) && (kept == NULL || !kept[i]);
    if (node->op == SL_OP_FULLY_CONNECTED)
      quantized[i] = FALSE;
  }
  plan_attention (graph, ranges, kept, dynamic);
  g_autofree gboolean *is_float = g_new0 (gboolean, MAX (tensors, 1)),
                      *read_as_float = g_new0 (gboolean, MAX (tensors, 1));
  do
    while (leave_behind_floats (graph, quantized, is_float)
           + leave_before_floats (graph, quantized, read_as_float))
      ;
  while (plan_pointwise (graph, quantized, is_float, dynamic));
}
