/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DEQUANTIZE, an operator, QUANTIZE become the operator on quantised values, as in TensorFlow
 * Lite's quantised models. The bias of a layer becomes int32 of its scale; what is left of it is
 * added apart. Results differ by at most one step from those with the float rounding in between.
 * Operators that only move values need the same quantisation on both sides.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/ops/ops.h"
#include "core/passes/passes.h"

#define MAX_INPUTS 64
/* Units that a whole bias holds, and codes beside it that conversion of sums has room for. */
#define MAX_UNITS 0x1p+30
#define MAX_REST 0x1p+29

typedef enum
{
  LEAVE,
  LAYER, /* weights and bias are constants */
  FREE,  /* input and output may be quantised differently */
  COPY   /* they may not */
} Kind;

static Kind
kind_of (SlOpType op)
{
  switch (op) {
    case SL_OP_CONV_2D:
    case SL_OP_DEPTHWISE_CONV_2D:
    case SL_OP_FULLY_CONNECTED:
      return LAYER;
    case SL_OP_ADD:
    case SL_OP_SUB:
    case SL_OP_MUL:
    case SL_OP_CONCATENATION:
    case SL_OP_MEAN:
    case SL_OP_LOGISTIC:
    case SL_OP_TANH:
    case SL_OP_HARD_SWISH:
    case SL_OP_LEAKY_RELU:
    case SL_OP_ELU:
    case SL_OP_SOFTMAX:
      return FREE;
    case SL_OP_AVERAGE_POOL_2D:
    case SL_OP_MAX_POOL_2D:
    case SL_OP_RELU:
    case SL_OP_RELU6:
    case SL_OP_RESHAPE:
    case SL_OP_TRANSPOSE:
    case SL_OP_SLICE:
    case SL_OP_STRIDED_SLICE:
    case SL_OP_PAD:
    case SL_OP_MIRROR_PAD:
    case SL_OP_GATHER:
    case SL_OP_TILE:
    case SL_OP_RESIZE_NEAREST_NEIGHBOR:
    case SL_OP_RESIZE_BILINEAR:
    case SL_OP_DEPTH_TO_SPACE:
    case SL_OP_SPACE_TO_DEPTH:
      return COPY;
    default:
      return LEAVE;
  }
}

static gboolean
is_codes (const SlTensor *tensor)
{
  return (tensor->dtype == SL_DTYPE_U8 || tensor->dtype == SL_DTYPE_I8) && tensor->quant.count == 1;
}

static gboolean
same_quant (const SlTensor *a, const SlTensor *b)
{
  return sl_tensor_scale (a) == sl_tensor_scale (b)
         && sl_tensor_zero_point (a) == sl_tensor_zero_point (b);
}

/* The codes that float tensor @index is made of, -1 = it is not. */
static gint32
codes_of (const SlPassIndex *index, SlGraph *graph, gint32 tensor, SlDtype dtype)
{
  const SlNode *node = tensor >= 0 ? sl_pass_producer (index, graph, tensor) : NULL;
  if (node == NULL || node->op != SL_OP_DEQUANTIZE)
    return -1;
  const SlTensor *codes = sl_node_input (graph, node, 0);
  return is_codes (codes) && codes->dtype == dtype ? node->inputs[0] : -1;
}

/* A bias of one channel: whole units of what a product of codes stands for, and the rest in codes
 * of the output. What float rounding left of a whole number counts as one. FALSE: it is too large.
 */
static gboolean
split_bias (gdouble bias, gdouble unit, gdouble output, gint32 *whole, gfloat *rest)
{
  const gdouble units = bias / unit, code = fabs (units) < MAX_UNITS ? rint (units) : 0,
                left = (units - code) * unit / output;
  const gboolean is_whole = fabs (units - code) <= fabs (code) * FLT_EPSILON;
  *whole = (gint32) code;
  *rest = is_whole ? 0 : (gfloat) left;
  return fabs (left) < MAX_REST;
}

/* The bias of layer @node, -1 when it does not fit. */
static gint32
whole_bias (SlGraph *graph, SlNode *node, const SlTensor *input, const SlTensor *output)
{
  const SlQuant weights = sl_node_input (graph, node, 1)->quant;
  SlTensor made = *sl_node_input (graph, node, 2);
  const gfloat *bias = made.data;
  const gsize n = made.bytes / sizeof (gfloat);
  gint32 *codes = sl_arena_alloc (graph->arena, n * sizeof codes[0] + SL_TENSOR_PADDING);
  gfloat *rest = sl_arena_alloc (graph->arena, n * sizeof rest[0]);
  gboolean is_whole = TRUE;
  for (gsize i = 0; i < n; i++) {
    const gfloat unit = sl_tensor_scale (input) * weights.scale[weights.count > 1 ? i : 0];
    if (!split_bias ((gdouble) bias[i], (gdouble) unit, (gdouble) sl_tensor_scale (output),
                     &codes[i], &rest[i]))
      return -1;
    is_whole &= rest[i] == 0;
  }
  if (!is_whole && node->op == SL_OP_FULLY_CONNECTED)
    node->params.fully_connected.rest = rest;
  else if (!is_whole)
    node->params.window.rest = rest;
  made.dtype = SL_DTYPE_I32;
  made.quant = (SlQuant){ 0 };
  made.data = codes;
  return sl_graph_add_tensor (graph, &made, NULL);
}

static gboolean
take_layer (SlGraph *graph, SlNode *node, gint32 *inputs, const SlTensor *output)
{
  const SlTensor *weights = sl_node_input (graph, node, 1), *bias = sl_node_input (graph, node, 2);
  const SlTensor input = *sl_graph_tensor (graph, inputs[0]);
  if (weights->data == NULL || weights->dtype != output->dtype || weights->quant.count < 1)
    return FALSE;
  for (guint i = 0; i < weights->quant.count && weights->quant.count > 1; i++)
    if (weights->quant.zero_point[i] != 0)
      return FALSE;
  if (bias == NULL)
    return TRUE;
  if (bias->data == NULL || bias->dtype != SL_DTYPE_F32)
    return FALSE;
  inputs[2] = whole_bias (graph, node, &input, output);
  return inputs[2] >= 0;
}

/* Inputs that are parameters: axes, sizes, orders. */
static gboolean
is_parameter (const SlTensor *tensor)
{
  return tensor != NULL && tensor->data != NULL
         && (tensor->dtype == SL_DTYPE_I32 || tensor->dtype == SL_DTYPE_I64);
}

static gboolean
take_inputs (const SlPassIndex *index, SlGraph *graph, SlNode *node, Kind kind,
             const SlTensor *output, gint32 *inputs)
{
  const guint n = kind == LAYER ? 1 : node->n_inputs;
  for (guint i = 0; i < n; i++) {
    if (is_parameter (sl_node_input (graph, node, i)))
      continue;
    inputs[i] = codes_of (index, graph, node->inputs[i], output->dtype);
    if (inputs[i] < 0 || (kind == COPY && !same_quant (sl_graph_tensor (graph, inputs[i]), output)))
      return FALSE;
  }
  return kind != LAYER || take_layer (graph, node, inputs, output);
}

/* DEQUANTIZE, then RESHAPE or TRANSPOSE: the other way round, so that the codes meet what comes
 * behind. */
static guint
swap_move (SlGraph *graph, SlPassIndex *index, SlNode *move)
{
  SlNode *dequantize = sl_pass_producer (index, graph, move->inputs[0]);
  if (dequantize == NULL || dequantize->op != SL_OP_DEQUANTIZE
      || (move->n_inputs != 1 && !is_parameter (sl_node_input (graph, move, 1)))
      || index->consumers[move->inputs[0]] != 1 || !is_codes (sl_node_input (graph, dequantize, 0)))
    return 0;
  SlTensor codes = *sl_node_input (graph, dequantize, 0);
  const SlTensor *shape = sl_node_output (graph, move, 0);
  codes.rank = shape->rank;
  memcpy (codes.dims, shape->dims, sizeof codes.dims);
  codes.data = NULL;
  const gint32 between = sl_graph_add_tensor (graph, &codes, NULL);
  if (between < 0)
    return 0;
  gint32 *inputs = sl_arena_memdup (graph->arena, move->inputs, move->n_inputs * sizeof inputs[0]);
  inputs[0] = dequantize->inputs[0];
  dequantize->op = move->op;
  dequantize->params = move->params;
  dequantize->inputs = inputs;
  dequantize->n_inputs = move->n_inputs;
  dequantize->outputs = sl_arena_memdup (graph->arena, &between, sizeof between);
  move->op = SL_OP_DEQUANTIZE;
  move->params = (SlOpParams){ 0 };
  move->inputs = dequantize->outputs;
  move->n_inputs = 1;
  return 1;
}

/* The mean of a whole picture, quantised alike on both sides, is a pool's: TensorFlow Lite rounds
 * that in integers. */
static void
pool_of_mean (SlGraph *graph, SlNode *node, gint32 codes, const SlTensor *output)
{
  const SlTensor *input = sl_graph_tensor (graph, codes);
  if (input->rank != 4 || output->rank != 4 || !same_quant (input, output) || output->dims[1] != 1
      || output->dims[2] != 1 || output->dims[3] != input->dims[3]
      || output->dims[0] != input->dims[0] || input->dims[1] > G_MAXINT16
      || input->dims[2] > G_MAXINT16)
    return;
  node->op = SL_OP_AVERAGE_POOL_2D;
  node->n_inputs = 1;
  node->params = (SlOpParams){ .window = { .padding = SL_PADDING_VALID,
                                           .stride_h = 1,
                                           .stride_w = 1,
                                           .dilation_h = 1,
                                           .dilation_w = 1,
                                           .filter_h = input->dims[1],
                                           .filter_w = input->dims[2] } };
}

/* Layers that round rows of floats while the model runs keep floats on both sides. */
static Kind
kind_of_node (const SlNode *node)
{
  const gboolean dynamic =
    node->op == SL_OP_FULLY_CONNECTED && node->params.fully_connected.dynamic;
  return dynamic ? LEAVE : kind_of (node->op);
}

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *quantize)
{
  gint32 inputs[MAX_INPUTS];
  if (quantize->op == SL_OP_RESHAPE || quantize->op == SL_OP_TRANSPOSE)
    return swap_move (graph, index, quantize);
  if (quantize->op != SL_OP_QUANTIZE || sl_node_input (graph, quantize, 0)->dtype != SL_DTYPE_F32
      || index->consumers[quantize->inputs[0]] != 1)
    return 0;
  SlNode *node = sl_pass_producer (index, graph, quantize->inputs[0]);
  const SlTensor output = *sl_node_output (graph, quantize, 0);
  const Kind kind = node != NULL ? kind_of_node (node) : LEAVE;
  const SlActivation *activation = kind != LEAVE ? sl_node_activation (node) : NULL;
  if (kind == LEAVE || node->n_inputs > MAX_INPUTS || node->n_outputs != 1 || !is_codes (&output)
      || (activation != NULL && sl_activation_is_curve (*activation)))
    return 0;
  memcpy (inputs, node->inputs, node->n_inputs * sizeof inputs[0]);
  if (!take_inputs (index, graph, node, kind, &output, inputs))
    return 0;
  if (node->op == SL_OP_MEAN)
    pool_of_mean (graph, node, inputs[0], &output);
  node->inputs = sl_arena_memdup (graph->arena, inputs, node->n_inputs * sizeof inputs[0]);
  node->outputs = quantize->outputs;
  node->name = quantize->name;
  index->producer[quantize->outputs[0]] = index->producer[quantize->inputs[0]];
  quantize->op = SL_OP_INVALID;
  return 1;
}

const SlPass sl_pass_fold_qdq = { "fold_qdq", .step = step };
