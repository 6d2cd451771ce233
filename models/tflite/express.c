/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The passes of core/passes/ made nodes that only our kernels have; here they are undone, and what
 * no reader of TensorFlow Lite's files ever gives is refused. Tensors keep their numbers; those
 * that are added come behind.
 */
#include "models/tflite/express.h"

#include <float.h>
#include <string.h>

#include "sightline/error.h"
#include "core/graph/constants.h"
#include "core/ops/ops.h"
#include "models/tflite/express_places.h"
#include "models/tflite/operators.h"

typedef struct
{
  SlGraph *from, *to;
  SlArena *arena;
  gint32 *alias; /* by tensor: which one stands for it */
  GError **error;
} Express;

static gboolean
refuse (const Express *e, const SlNode *node, const char *what)
{
  return sl_node_error (e->error, node, SL_ERROR_UNSUPPORTED, "TensorFlow Lite has no %s", what);
}

static gboolean
add_node (Express *e, const SlNode *node, SlOpType op, const gint32 *inputs, guint n_inputs,
          const gint32 *outputs, guint n_outputs, const SlOpParams *params)
{
  return sl_graph_add_node (e->to, op, node->index, inputs, n_inputs, outputs, n_outputs, params,
                            e->error);
}

/* A variable tensor like @like, its name with @suffix behind; -1 with the error set. */
static gint32
add_like (Express *e, gint32 like, const char *suffix)
{
  SlTensor tensor = *sl_graph_tensor (e->to, like);
  g_autofree char *name = g_strconcat (tensor.name, suffix, NULL);
  tensor.name = sl_arena_strdup (e->arena, name);
  tensor.data = NULL;
  return sl_graph_add_tensor (e->to, &tensor, e->error);
}

static gint32
add_constant (Express *e, const char *name, SlDtype dtype, guint rank, const gint32 *dims,
              const void *data, gsize bytes)
{
  SlTensor tensor = { .name = name, .dtype = dtype, .rank = rank, .bytes = bytes };
  for (guint i = 0; i < rank; i++)
    tensor.dims[i] = dims[i];
  tensor.data = sl_arena_memdup (e->arena, data, bytes);
  return sl_graph_add_tensor (e->to, &tensor, e->error);
}

static gboolean
add_unary (Express *e, const SlNode *node, SlOpType op, gint32 input, gint32 output,
           const SlOpParams *params)
{
  return add_node (e, node, op, &input, 1, &output, 1, params);
}

/* x times its logistic function. */
static gboolean
add_silu (Express *e, const SlNode *node, gint32 input, gint32 output)
{
  const gint32 gate = add_like (e, output, "/gate");
  const gint32 factors[2] = { input, gate };
  return gate >= 0 && add_unary (e, node, SL_OP_LOGISTIC, input, gate, NULL)
         && add_node (e, node, SL_OP_MUL, factors, 2, &output, 1, NULL);
}

/* x (1 - q) / (1 + q), q = logistic (-x)^2: what x tanh (log (1 + exp x)) is, without numbers that
 * overflow. */
static gboolean
add_mish (Express *e, const SlNode *node, gint32 input, gint32 output)
{
  static const gfloat unit = 1;
  static const char *const names[] = {
    "/negative", "/gate", "/square", "/less", "/more", "/share"
  };
  gint32 parts[G_N_ELEMENTS (names)];
  const gint32 one =
    add_constant (e, "one", SL_DTYPE_F32, 1, (const gint32[]){ 1 }, &unit, sizeof unit);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    parts[i] = add_like (e, output, names[i]);
    if (one < 0 || parts[i] < 0)
      return FALSE;
  }
  const gint32 square[2] = { parts[1], parts[1] }, sides[2] = { one, parts[2] },
               share[2] = { parts[3], parts[4] };
  const gint32 factors[2] = { input, parts[5] };
  return add_unary (e, node, SL_OP_NEG, input, parts[0], NULL)
         && add_unary (e, node, SL_OP_LOGISTIC, parts[0], parts[1], NULL)
         && add_node (e, node, SL_OP_MUL, square, 2, &parts[2], 1, NULL)
         && add_node (e, node, SL_OP_SUB, sides, 2, &parts[3], 1, NULL)
         && add_node (e, node, SL_OP_ADD, sides, 2, &parts[4], 1, NULL)
         && add_node (e, node, SL_OP_DIV, share, 2, &parts[5], 1, NULL)
         && add_node (e, node, SL_OP_MUL, factors, 2, &output, 1, NULL);
}

/* The operator RELU_0_TO_1 came late to TensorFlow Lite; a minimum was always there. */
static gboolean
add_relu_0_to_1 (Express *e, const SlNode *node, gint32 input, gint32 output)
{
  static const gfloat one = 1;
  const gint32 positive = add_like (e, output, "/positive");
  const gint32 operands[2] = { positive, add_constant (e, "one", SL_DTYPE_F32, 1,
                                                       (const gint32[]){ 1 }, &one, sizeof one) };
  return positive >= 0 && operands[1] >= 0 && add_unary (e, node, SL_OP_RELU, input, positive, NULL)
         && add_node (e, node, SL_OP_MINIMUM, operands, 2, &output, 1, NULL);
}

static gboolean
add_activation (Express *e, const SlNode *node, SlActivation activation, gint32 input,
                gint32 output)
{
  static const SlOpType ops[] = {
    [SL_ACTIVATION_RELU] = SL_OP_RELU,
    [SL_ACTIVATION_RELU_N1_TO_1] = SL_OP_RELU_N1_TO_1,
    [SL_ACTIVATION_RELU6] = SL_OP_RELU6,
    [SL_ACTIVATION_LOGISTIC] = SL_OP_LOGISTIC,
    [SL_ACTIVATION_HARD_SWISH] = SL_OP_HARD_SWISH,
    [SL_ACTIVATION_GELU] = SL_OP_GELU,
    [SL_ACTIVATION_GELU_TANH] = SL_OP_GELU,
    [SL_ACTIVATION_TANH] = SL_OP_TANH,
    [SL_ACTIVATION_LEAKY_RELU] = SL_OP_LEAKY_RELU,
  };
  SlOpParams params = { .gelu.approximate = activation == SL_ACTIVATION_GELU_TANH };
  if (activation == SL_ACTIVATION_LEAKY_RELU)
    params = (SlOpParams){ .leaky_relu.alpha = sl_node_slope (node) };
  if (activation == SL_ACTIVATION_SILU)
    return add_silu (e, node, input, output);
  if (activation == SL_ACTIVATION_MISH)
    return add_mish (e, node, input, output);
  if (activation == SL_ACTIVATION_RELU_0_TO_1)
    return add_relu_0_to_1 (e, node, input, output);
  return add_unary (e, node, ops[activation], input, output, &params);
}

/* Paddings of SAME for one dimension. */
static gint32
same_padding (gint32 in, gint32 filter, gint32 stride, gint32 dilation, gint32 *total)
{
  const gint32 out = (in + stride - 1) / stride, covered = (filter - 1) * dilation + 1;
  *total = MAX ((out - 1) * stride + covered - in, 0);
  return *total / 2;
}

static gboolean
is_same (const SlWindow *w, const SlTensor *input, gint32 filter_h, gint32 filter_w)
{
  gint32 total_h, total_w;
  const gint32 top = same_padding (input->dims[1], filter_h, w->stride_h, w->dilation_h, &total_h);
  const gint32 left = same_padding (input->dims[2], filter_w, w->stride_w, w->dilation_w, &total_w);
  return w->pad_top == top && w->pad_bottom == total_h - top && w->pad_left == left
         && w->pad_right == total_w - left;
}

/* The lowest value of the type of @like: no other value is lower than a border of it. */
static gint32
add_lowest (Express *e, gint32 like)
{
  const SlTensor *tensor = sl_graph_tensor (e->to, like);
  const gfloat real = -FLT_MAX;
  const gint8 byte = G_MININT8;
  const gint16 word = G_MININT16;
  const guint8 natural = 0;
  const void *values[SL_DTYPE_COUNT] = {
    [SL_DTYPE_F32] = &real, [SL_DTYPE_I8] = &byte, [SL_DTYPE_I16] = &word, [SL_DTYPE_U8] = &natural
  };
  SlTensor lowest = { .name = "lowest", .dtype = tensor->dtype, .quant = tensor->quant };
  lowest.bytes = sl_dtype_size (tensor->dtype);
  lowest.data = sl_arena_memdup (e->arena, values[tensor->dtype], lowest.bytes);
  return sl_graph_add_tensor (e->to, &lowest, e->error);
}

/* *@input becomes itself with a border of zeros, or of the lowest value for a maximum. */
static gboolean
add_pad (Express *e, const SlNode *node, const SlWindow *w, gint32 *input)
{
  const gint32 pads[8] = { 0, 0, w->pad_top, w->pad_bottom, w->pad_left, w->pad_right, 0, 0 };
  const gboolean maximum = node->op == SL_OP_MAX_POOL_2D;
  const gint32 padded = add_like (e, *input, "/padded");
  if (padded < 0)
    return FALSE;
  SlTensor *tensor = (SlTensor *) sl_graph_tensor (e->to, padded);
  tensor->dims[1] += w->pad_top + w->pad_bottom;
  tensor->dims[2] += w->pad_left + w->pad_right;
  gsize elements = 0;
  if (!sl_tensor_elements (tensor, &elements)
      || !g_size_checked_mul (&tensor->bytes, elements, sl_dtype_size (tensor->dtype)))
    return sl_node_error (e->error, node, SL_ERROR_LIMIT, "its input with borders is too large");
  const gint32 operands[3] = { *input,
                               add_constant (e, "paddings", SL_DTYPE_I32, 2,
                                             (const gint32[]){ 4, 2 }, pads, sizeof pads),
                               maximum ? add_lowest (e, *input) : -1 };
  *input = padded;
  return operands[1] >= 0 && (!maximum || operands[2] >= 0)
         && add_node (e, node, maximum ? SL_OP_PADV2 : SL_OP_PAD, operands, maximum ? 3 : 2,
                      &padded, 1, NULL);
}

static gboolean
settle_padding (Express *e, const SlNode *node, SlOpParams *params, gint32 *inputs)
{
  SlWindow *w = &params->window;
  const gboolean pools = node->op == SL_OP_MAX_POOL_2D || node->op == SL_OP_AVERAGE_POOL_2D
                         || node->op == SL_OP_L2_POOL_2D;
  const gboolean layer = node->op == SL_OP_CONV_2D || node->op == SL_OP_DEPTHWISE_CONV_2D;
  if ((!pools && !layer && node->op != SL_OP_TRANSPOSE_CONV) || w->padding != SL_PADDING_EXPLICIT)
    return TRUE;
  const SlTensor *weights = pools ? NULL : sl_graph_tensor (e->to, inputs[1]);
  const SlTensor *outer = node->op == SL_OP_TRANSPOSE_CONV ? sl_node_output (e->from, node, 0)
                                                           : sl_graph_tensor (e->to, inputs[0]);
  const gint32 filter_h = pools ? w->filter_h : weights->dims[1],
               filter_w = pools ? w->filter_w : weights->dims[2];
  if (w->pad_top == 0 && w->pad_bottom == 0 && w->pad_left == 0 && w->pad_right == 0)
    w->padding = SL_PADDING_VALID;
  else if (is_same (w, outer, filter_h, filter_w))
    w->padding = SL_PADDING_SAME;
  else if (!layer && node->op != SL_OP_MAX_POOL_2D)
    return refuse (e, node, "padding of its own for it; expected what SAME or VALID gives");
  else if (!add_pad (e, node, w, &inputs[0]))
    return FALSE;
  else
    w->padding = SL_PADDING_VALID;
  return TRUE;
}

/* Whether every index is a constant that counts from the start, as TensorFlow Lite's do. */
static gboolean
are_plain_indices (const SlTensor *indices)
{
  gsize n = 0;
  if (indices == NULL || indices->data == NULL || !sl_tensor_elements (indices, &n))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if (indices->dtype == SL_DTYPE_I64 ? ((const gint64 *) indices->data)[i] < 0
                                       : ((const gint32 *) indices->data)[i] < 0)
      return FALSE;
  return TRUE;
}

static gboolean
check_node (const Express *e, const SlNode *node)
{
  if (node->op != SL_OP_SILU && node->op != SL_OP_MISH && tfl_op_row (node->op) == NULL
      && !sl_express_places_fits (e->from, node))
    return refuse (e, node, "such operator");
  if ((node->op == SL_OP_GATHER || node->op == SL_OP_GATHER_ND)
      && node->params.axis.indexing != SL_INDEX_LIMITED
      && !are_plain_indices (sl_node_input (e->from, node, 1)))
    return refuse (e, node, "indices that count from the end");
  for (guint i = 0; i < node->n_outputs; i++) {
    const SlDtype dtype = sl_node_output (e->from, node, i)->dtype;
    if (dtype == SL_DTYPE_F16 || dtype == SL_DTYPE_F64)
      return refuse (e, node,
                     dtype == SL_DTYPE_F16 ? "kernels for float16 results"
                                           : "kernels for float64 results");
  }
  return TRUE;
}

/* TensorFlow Lite's convolutions want a bias, if of zeros. */
static gboolean
add_bias (Express *e, const SlNode *node, gint32 *inputs, guint *n_inputs)
{
  const gboolean layer = node->op == SL_OP_CONV_2D || node->op == SL_OP_DEPTHWISE_CONV_2D;
  const SlTensor *output = sl_node_output (e->from, node, 0);
  if (!layer || sl_node_input (e->from, node, 2) != NULL || output->dtype != SL_DTYPE_F32)
    return TRUE;
  const gsize bytes = (gsize) output->dims[3] * sizeof (gfloat);
  g_autofree gfloat *zeros = g_malloc0 (bytes);
  inputs[2] = add_constant (e, "bias", SL_DTYPE_F32, 1, &output->dims[3], zeros, bytes);
  *n_inputs = 3;
  return inputs[2] >= 0;
}

static gboolean
express_node (Express *e, const SlNode *node)
{
  SlNode copy = *node;
  gint32 inputs[SL_MAX_OPERANDS];
  if (!check_node (e, node))
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    inputs[i] = node->inputs[i] < 0 ? -1 : e->alias[node->inputs[i]];
  if (node->op == SL_OP_SILU)
    return add_silu (e, node, inputs[0], node->outputs[0]);
  if (node->op == SL_OP_MISH)
    return add_mish (e, node, inputs[0], node->outputs[0]);
  if (sl_express_places_fits (e->from, node))
    return sl_express_places (e->to, e->from, node, inputs, e->error);
  if (node->op == SL_OP_RELU_0_TO_1 && sl_node_output (e->from, node, 0)->dtype == SL_DTYPE_F32)
    return add_relu_0_to_1 (e, node, inputs[0], node->outputs[0]);
  if (!add_bias (e, node, inputs, &copy.n_inputs))
    return FALSE;
  if (!settle_padding (e, node, &copy.params, inputs))
    return FALSE;
  SlActivation *activation = sl_node_activation (&copy);
  gint32 before = -1;
  const SlActivation stated = activation != NULL ? *activation : SL_ACTIVATION_NONE;
  if (tfl_activation_number (stated) < 0) {
    before = add_like (e, node->outputs[0], "/linear");
    *activation = SL_ACTIVATION_NONE;
    if (before < 0)
      return FALSE;
  }
  if (!add_node (e, node, node->op, inputs, copy.n_inputs, before >= 0 ? &before : node->outputs,
                 node->n_outputs, &copy.params))
    return FALSE;
  return before < 0 || add_activation (e, node, stated, before, node->outputs[0]);
}

/* The TRANSPOSE to NHWC that alone reads the first input; NULL where it is another. */
static const SlNode *
find_transpose (const SlGraph *graph)
{
  static const gint32 to_nhwc[4] = { 0, 2, 3, 1 };
  const SlNode *found = NULL;
  guint readers = 0;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    for (guint k = 0; k < node->n_inputs; k++) {
      if (node->inputs[k] != sl_graph_input (graph, 0))
        continue;
      readers++;
      found = node;
    }
  }
  const SlTensor *order =
    readers == 1 && found->op == SL_OP_TRANSPOSE ? sl_node_input (graph, found, 1) : NULL;
  const gboolean fits = order != NULL && order->dtype == SL_DTYPE_I32
                        && order->bytes == sizeof to_nhwc && order->data != NULL;
  return fits && memcmp (order->data, to_nhwc, sizeof to_nhwc) == 0 ? found : NULL;
}

static gboolean
copy_tensors (Express *e)
{
  for (guint i = 0; i < sl_graph_n_tensors (e->from); i++) {
    if (sl_graph_add_tensor (e->to, sl_graph_tensor (e->from, (gint32) i), e->error) < 0)
      return FALSE;
    e->alias[i] = (gint32) i;
  }
  return TRUE;
}

static gboolean
copy_io (Express *e)
{
  gint32 inputs[SL_MAX_IO], outputs[SL_MAX_IO];
  for (guint i = 0; i < sl_graph_n_inputs (e->from); i++)
    inputs[i] = e->alias[sl_graph_input (e->from, i)];
  for (guint i = 0; i < sl_graph_n_outputs (e->from); i++)
    outputs[i] = sl_graph_output (e->from, i);
  return sl_graph_set_io (e->to, inputs, sl_graph_n_inputs (e->from), outputs,
                          sl_graph_n_outputs (e->from), e->error);
}

static void
drop_reference (gpointer graph)
{
  sl_graph_done_constants (graph);
  sl_graph_unref (graph);
}

static SlGraph *
start (Express *e, SlGraph *graph, GError **error)
{
  e->from = graph;
  e->error = error;
  e->to = sl_graph_new (NULL);
  e->arena = sl_graph_arena (e->to);
  e->alias = sl_arena_alloc (e->arena, MAX (sl_graph_n_tensors (graph), 1) * sizeof e->alias[0]);
  sl_graph_use_constants (graph);
  sl_graph_set_source (e->to, sl_graph_ref (graph), drop_reference);
  return e->to;
}

SlGraph *
sl_tflite_express (SlGraph *graph, gboolean nhwc, GError **error)
{
  Express e;
  g_autoptr (SlGraph) to = start (&e, graph, error);
  const SlNode *transpose = nhwc ? find_transpose (graph) : NULL;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++)
    if (!sl_graph_need_inputs (graph, sl_graph_node (graph, i), error)) /* both have them */
      return NULL;
  if (!copy_tensors (&e))
    return NULL;
  if (transpose != NULL) {
    SlTensor *input = (SlTensor *) sl_graph_tensor (to, transpose->outputs[0]);
    input->name = sl_graph_input_tensor (graph, 0)->name;
    e.alias[sl_graph_input (graph, 0)] = transpose->outputs[0];
  }
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++)
    if (sl_graph_node (graph, i) != transpose && !express_node (&e, sl_graph_node (graph, i)))
      return NULL;
  return copy_io (&e) ? g_steal_pointer (&to) : NULL;
}
