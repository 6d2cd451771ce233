/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Nodes -> XNNPACK subgraphs. One function per operator family, listed in a table by SlOpType; a
 * node is supported when its function succeeds on a scratch subgraph. Constants are referenced in
 * place until XNNPACK packs them while the runtime is created; inputs and outputs are the caller's
 * memory, nothing is copied.
 */
#include "core/backends/xnnpack/xnn.h"

#include <math.h>
#include <xnnpack.h>

#include "core/base/fail.h"
#include "core/ops/ops.h"

#if defined(__aarch64__) || defined(__arm__)
#define ON_ARM TRUE
#else
#define ON_ARM FALSE
#endif

G_STATIC_ASSERT (XNN_EXTRA_BYTES <= SL_TENSOR_PADDING);

/** A subgraph being built. */
typedef struct
{
  const SlGraph *graph;
  xnn_subgraph_t subgraph;
  GHashTable *values; /* tensor index + 1 -> value id + 1 */
  SlArena *arena;     /* outlives the runtime: XNNPACK keeps pointers to scales */
} Builder;

struct _SlXnnRuntime
{
  xnn_runtime_t runtime;
  SlArena *arena;
  guint n_externals;
  struct xnn_external_value *externals;
};

typedef enum xnn_status (*DefineFunction) (Builder *builder, const SlNode *node);

static const char *
status_text (enum xnn_status status)
{
  switch (status) {
    case xnn_status_success:
      return "success";
    case xnn_status_uninitialized:
      return "uninitialized";
    case xnn_status_invalid_parameter:
      return "invalid parameter";
    case xnn_status_invalid_state:
      return "invalid state";
    case xnn_status_unsupported_parameter:
      return "unsupported parameter";
    case xnn_status_unsupported_hardware:
      return "unsupported hardware";
    case xnn_status_out_of_memory:
      return "out of memory";
    default:
      return "unknown status";
  }
}

static enum xnn_datatype
activation_type (SlDtype dtype)
{
  switch (dtype) {
    case SL_DTYPE_F32:
      return xnn_datatype_fp32;
    case SL_DTYPE_I8:
      return xnn_datatype_qint8;
    case SL_DTYPE_U8:
      return xnn_datatype_quint8;
    default:
      return xnn_datatype_invalid;
  }
}

static void
copy_dims (const SlTensor *tensor, size_t dims[SL_MAX_RANK])
{
  for (guint i = 0; i < tensor->rank; i++)
    dims[i] = (size_t) tensor->dims[i];
}

static enum xnn_status
define_value (Builder *builder, const SlTensor *tensor, uint32_t external_id, uint32_t flags,
              uint32_t *id)
{
  size_t dims[SL_MAX_RANK];
  const enum xnn_datatype type = activation_type (tensor->dtype);
  if (type == xnn_datatype_invalid || tensor->rank > XNN_MAX_TENSOR_DIMS)
    return xnn_status_unsupported_parameter;
  copy_dims (tensor, dims);
  if (type == xnn_datatype_fp32)
    return xnn_define_tensor_value (builder->subgraph, type, tensor->rank, dims, tensor->data,
                                    external_id, flags, id);
  if (tensor->quant.count != 1)
    return xnn_status_unsupported_parameter;
  return xnn_define_quantized_tensor_value (builder->subgraph, type, sl_tensor_zero_point (tensor),
                                            sl_tensor_scale (tensor), tensor->rank, dims,
                                            tensor->data, external_id, flags, id);
}

/* The value of an activation tensor, defined on first use. */
static enum xnn_status
value_of (Builder *builder, gint32 tensor, uint32_t *id)
{
  const gpointer key = GINT_TO_POINTER (tensor + 1);
  const guint known = GPOINTER_TO_UINT (g_hash_table_lookup (builder->values, key));
  if (known != 0) {
    *id = known - 1;
    return xnn_status_success;
  }
  const enum xnn_status status =
    define_value (builder, sl_graph_tensor (builder->graph, tensor), XNN_INVALID_VALUE_ID, 0, id);
  if (status == xnn_status_success)
    g_hash_table_insert (builder->values, key, GUINT_TO_POINTER (*id + 1));
  return status;
}

static enum xnn_status
io_values (Builder *builder, const SlNode *node, guint n_inputs, uint32_t *inputs, uint32_t *output)
{
  for (guint i = 0; i < n_inputs; i++) {
    const enum xnn_status status = value_of (builder, node->inputs[i], &inputs[i]);
    if (status != xnn_status_success)
      return status;
  }
  return value_of (builder, node->outputs[0], output);
}

/* XNNPACK takes int8 weights for symmetric and does not look at their zero points. */
static gboolean
is_shifted (const SlTensor *weights)
{
  for (guint i = 0; weights->dtype == SL_DTYPE_I8 && i < weights->quant.count; i++)
    if (weights->quant.zero_point[i] != 0)
      return TRUE;
  return FALSE;
}

/* Weights of convolutions and fully connected layers: 8-bit ones per tensor or, along @channel_dim,
 * per channel. */
static enum xnn_status
define_weights (Builder *builder, const SlNode *node, gsize channel_dim, uint32_t *id)
{
  const SlTensor *weights = sl_node_input (builder->graph, node, 1);
  size_t dims[SL_MAX_RANK];
  if (is_shifted (weights))
    return xnn_status_unsupported_parameter;
  if (weights->quant.count <= 1 || weights->dtype == SL_DTYPE_F32)
    return define_value (builder, weights, XNN_INVALID_VALUE_ID, 0, id);
  if (weights->dtype != SL_DTYPE_I8)
    return xnn_status_unsupported_parameter;
  copy_dims (weights, dims);
  return xnn_define_channelwise_quantized_tensor_value (
    builder->subgraph, xnn_datatype_qcint8, weights->quant.scale, weights->rank, channel_dim, dims,
    weights->data, XNN_INVALID_VALUE_ID, 0, id);
}

/* Bias: its scale is by definition input scale * weight scale, whatever the file says. */
static enum xnn_status
define_bias (Builder *builder, const SlNode *node, uint32_t *id)
{
  const SlTensor *input = sl_node_input (builder->graph, node, 0),
                 *weights = sl_node_input (builder->graph, node, 1);
  const SlTensor *bias = sl_node_input (builder->graph, node, 2);
  *id = XNN_INVALID_VALUE_ID;
  if (bias == NULL)
    return xnn_status_success;
  const size_t channels = bias->bytes / sl_dtype_size (bias->dtype);
  if (bias->dtype == SL_DTYPE_F32)
    return xnn_define_tensor_value (builder->subgraph, xnn_datatype_fp32, 1, &channels, bias->data,
                                    XNN_INVALID_VALUE_ID, 0, id);
  if (weights->quant.count == 1)
    return xnn_define_quantized_tensor_value (builder->subgraph, xnn_datatype_qint32, 0,
                                              sl_tensor_scale (input) * sl_tensor_scale (weights),
                                              1, &channels, bias->data, XNN_INVALID_VALUE_ID, 0,
                                              id);
  float *scale = sl_arena_alloc (builder->arena, channels * sizeof scale[0]);
  for (size_t i = 0; i < channels; i++)
    scale[i] = sl_tensor_scale (input) * weights->quant.scale[i];
  return xnn_define_channelwise_quantized_tensor_value (builder->subgraph, xnn_datatype_qcint32,
                                                        scale, 1, 0, &channels, bias->data,
                                                        XNN_INVALID_VALUE_ID, 0, id);
}

typedef struct
{
  float lo, hi;
} Limits;

static Limits
limits_of (SlActivation activation)
{
  static const Limits limits[] = {
    [SL_ACTIVATION_NONE] = { -INFINITY, INFINITY }, [SL_ACTIVATION_RELU] = { 0.0f, INFINITY },
    [SL_ACTIVATION_RELU_N1_TO_1] = { -1.0f, 1.0f }, [SL_ACTIVATION_RELU6] = { 0.0f, 6.0f },
    [SL_ACTIVATION_RELU_0_TO_1] = { 0.0f, 1.0f },
  };
  return limits[activation];
}

static enum xnn_status
define_conv (Builder *builder, const SlNode *node)
{
  const SlTensor *input = sl_node_input (builder->graph, node, 0),
                 *weights = sl_node_input (builder->graph, node, 1);
  const SlWindow *w = &node->params.window;
  const Limits limits = limits_of (w->activation);
  const uint32_t groups = (uint32_t) (input->dims[3] / weights->dims[3]);
  uint32_t in, out, filter, bias;
  enum xnn_status status = io_values (builder, node, 1, &in, &out);
  if (status == xnn_status_success)
    status = define_weights (builder, node, 0, &filter);
  if (status == xnn_status_success)
    status = define_bias (builder, node, &bias);
  if (status != xnn_status_success)
    return status;
  return xnn_define_convolution_2d (
    builder->subgraph, (uint32_t) w->pad_top, (uint32_t) w->pad_right, (uint32_t) w->pad_bottom,
    (uint32_t) w->pad_left, (uint32_t) weights->dims[1], (uint32_t) weights->dims[2],
    (uint32_t) w->stride_h, (uint32_t) w->stride_w, (uint32_t) w->dilation_h,
    (uint32_t) w->dilation_w, groups, (size_t) weights->dims[3], (size_t) weights->dims[0] / groups,
    limits.lo, limits.hi, in, filter, bias, out, 0);
}

static enum xnn_status
define_depthwise (Builder *builder, const SlNode *node)
{
  const SlTensor *input = sl_node_input (builder->graph, node, 0),
                 *weights = sl_node_input (builder->graph, node, 1);
  const SlWindow *w = &node->params.window;
  const Limits limits = limits_of (w->activation);
  uint32_t in, out, filter, bias;
  enum xnn_status status = io_values (builder, node, 1, &in, &out);
  if (status == xnn_status_success)
    status = define_weights (builder, node, 3, &filter);
  if (status == xnn_status_success)
    status = define_bias (builder, node, &bias);
  if (status != xnn_status_success)
    return status;
  return xnn_define_depthwise_convolution_2d (
    builder->subgraph, (uint32_t) w->pad_top, (uint32_t) w->pad_right, (uint32_t) w->pad_bottom,
    (uint32_t) w->pad_left, (uint32_t) weights->dims[1], (uint32_t) weights->dims[2],
    (uint32_t) w->stride_h, (uint32_t) w->stride_w, (uint32_t) w->dilation_h,
    (uint32_t) w->dilation_w, (uint32_t) w->depth_multiplier, (size_t) input->dims[3], limits.lo,
    limits.hi, in, filter, bias, out, 0);
}

static enum xnn_status
define_fully_connected (Builder *builder, const SlNode *node)
{
  const SlTensor *weights = sl_node_input (builder->graph, node, 1);
  const Limits limits = limits_of (node->params.fully_connected.activation);
  uint32_t in, out, filter, bias;
  if (weights->quant.count > 1)
    return xnn_status_unsupported_parameter;
  enum xnn_status status = io_values (builder, node, 1, &in, &out);
  if (status == xnn_status_success)
    status = define_weights (builder, node, 0, &filter);
  if (status == xnn_status_success)
    status = define_bias (builder, node, &bias);
  if (status != xnn_status_success)
    return status;
  return xnn_define_fully_connected (
    builder->subgraph, limits.lo, limits.hi, in, filter, bias, out,
    node->params.fully_connected.keep_dims ? 0 : XNN_FLAG_TENSORFLOW_RESHAPE_2D);
}

static enum xnn_status
define_binary (Builder *builder, const SlNode *node)
{
  const Limits limits = limits_of (node->params.binary.activation);
  uint32_t in[2], out;
  const enum xnn_status status = io_values (builder, node, 2, in, &out);
  if (status != xnn_status_success)
    return status;
  switch (node->op) {
    case SL_OP_ADD:
      return xnn_define_add2 (builder->subgraph, limits.lo, limits.hi, in[0], in[1], out, 0);
    case SL_OP_SUB:
      return xnn_define_subtract (builder->subgraph, limits.lo, limits.hi, in[0], in[1], out, 0);
    case SL_OP_MUL:
      return xnn_define_multiply2 (builder->subgraph, limits.lo, limits.hi, in[0], in[1], out, 0);
    default:
      return xnn_define_divide (builder->subgraph, limits.lo, limits.hi, in[0], in[1], out, 0);
  }
}

static enum xnn_status
define_plain_binary (Builder *builder, const SlNode *node)
{
  uint32_t in[2], out;
  const enum xnn_status status = io_values (builder, node, 2, in, &out);
  if (status != xnn_status_success)
    return status;
  switch (node->op) {
    case SL_OP_MAXIMUM:
      return xnn_define_maximum2 (builder->subgraph, in[0], in[1], out, 0);
    case SL_OP_MINIMUM:
      return xnn_define_minimum2 (builder->subgraph, in[0], in[1], out, 0);
    default:
      return xnn_define_squared_difference (builder->subgraph, in[0], in[1], out, 0);
  }
}

/* One slope a channel only. */
static enum xnn_status
define_prelu (Builder *builder, const SlNode *node)
{
  const SlTensor *input = sl_node_input (builder->graph, node, 0),
                 *slope = sl_node_input (builder->graph, node, 1);
  const size_t channels = input->rank > 0 ? (size_t) input->dims[input->rank - 1] : 0;
  uint32_t in, out, weights;
  if (input->dtype != SL_DTYPE_F32 || slope->data == NULL
      || slope->bytes != channels * sizeof (float)
      || slope->dims[slope->rank - 1] != input->dims[input->rank - 1] || slope->rank > input->rank)
    return xnn_status_unsupported_parameter;
  enum xnn_status status = io_values (builder, node, 1, &in, &out);
  if (status == xnn_status_success)
    status = xnn_define_tensor_value (builder->subgraph, xnn_datatype_fp32, 1, &channels,
                                      slope->data, XNN_INVALID_VALUE_ID, 0, &weights);
  return status == xnn_status_success ? xnn_define_prelu (builder->subgraph, in, weights, out, 0)
                                      : status;
}

/* Quantised values go to the plain kernel: same arithmetic, no table of four pointers for every
 * pixel. */
static enum xnn_status
define_resize (Builder *builder, const SlNode *node)
{
  if (sl_node_input (builder->graph, node, 0)->dtype != SL_DTYPE_F32 || node->params.resize.fused)
    return xnn_status_unsupported_parameter;
  const SlTensor *output = sl_node_output (builder->graph, node, 0);
  const uint32_t flags = node->params.resize.align_corners        ? XNN_FLAG_ALIGN_CORNERS
                         : node->params.resize.half_pixel_centers ? 0
                                                                  : XNN_FLAG_TENSORFLOW_LEGACY_MODE;
  uint32_t in, out;
  const enum xnn_status status = io_values (builder, node, 1, &in, &out);
  if (status != xnn_status_success)
    return status;
  return xnn_define_static_resize_bilinear_2d (builder->subgraph, (size_t) output->dims[1],
                                               (size_t) output->dims[2], in, out, flags);
}

static enum xnn_status
define_transpose_conv (Builder *builder, const SlNode *node)
{
  const SlTensor *weights = sl_node_input (builder->graph, node, 1),
                 *input = sl_node_input (builder->graph, node, 2);
  const SlTensor *bias = sl_node_input (builder->graph, node, 3);
  const SlWindow *w = &node->params.window;
  const Limits limits = limits_of (w->activation);
  const size_t channels = (size_t) weights->dims[0];
  uint32_t in, out, filter, add = XNN_INVALID_VALUE_ID;
  if (input->dtype != SL_DTYPE_F32 || weights->dtype != SL_DTYPE_F32)
    return xnn_status_unsupported_parameter;
  enum xnn_status status = value_of (builder, node->inputs[2], &in);
  if (status == xnn_status_success)
    status = value_of (builder, node->outputs[0], &out);
  if (status == xnn_status_success)
    status = define_value (builder, weights, XNN_INVALID_VALUE_ID, 0, &filter);
  if (status == xnn_status_success && bias != NULL)
    status = xnn_define_tensor_value (builder->subgraph, xnn_datatype_fp32, 1, &channels,
                                      bias->data, XNN_INVALID_VALUE_ID, 0, &add);
  if (status != xnn_status_success)
    return status;
  const gint32 *out_dims = sl_node_output (builder->graph, node, 0)->dims;
  const gint32 rest_h =
    out_dims[1]
    - ((input->dims[1] - 1) * w->stride_h + weights->dims[1] - w->pad_top - w->pad_bottom);
  const gint32 rest_w =
    out_dims[2]
    - ((input->dims[2] - 1) * w->stride_w + weights->dims[2] - w->pad_left - w->pad_right);
  if (rest_h < 0 || rest_w < 0 || rest_h >= w->stride_h || rest_w >= w->stride_w)
    return xnn_status_unsupported_parameter;
  return xnn_define_deconvolution_2d (
    builder->subgraph, (uint32_t) w->pad_top, (uint32_t) w->pad_right, (uint32_t) w->pad_bottom,
    (uint32_t) w->pad_left, (uint32_t) rest_h, (uint32_t) rest_w, (uint32_t) weights->dims[1],
    (uint32_t) weights->dims[2], (uint32_t) w->stride_h, (uint32_t) w->stride_w, 1, 1, 1,
    (size_t) weights->dims[3], channels, limits.lo, limits.hi, in, filter, add, out, 0);
}

static enum xnn_status
define_depth_to_space (Builder *builder, const SlNode *node)
{
  uint32_t in, out;
  const enum xnn_status status = io_values (builder, node, 1, &in, &out);
  if (status != xnn_status_success)
    return status;
  return xnn_define_depth_to_space (builder->subgraph, in, out, (uint32_t) node->params.block.size,
                                    0);
}

/* Averages of quantised values round differently in TensorFlow Lite, so only float ones go to
 * XNNPACK. */
static enum xnn_status
define_pool (Builder *builder, const SlNode *node)
{
  const SlWindow *w = &node->params.window;
  const Limits limits = limits_of (w->activation);
  uint32_t in, out;
  const enum xnn_status status = io_values (builder, node, 1, &in, &out);
  if (status != xnn_status_success)
    return status;
  if (node->op == SL_OP_MAX_POOL_2D)
    return xnn_define_max_pooling_2d (
      builder->subgraph, (uint32_t) w->pad_top, (uint32_t) w->pad_right, (uint32_t) w->pad_bottom,
      (uint32_t) w->pad_left, (uint32_t) w->filter_h, (uint32_t) w->filter_w,
      (uint32_t) w->stride_h, (uint32_t) w->stride_w, 1, 1, limits.lo, limits.hi, in, out, 0);
  if (sl_node_input (builder->graph, node, 0)->dtype != SL_DTYPE_F32)
    return xnn_status_unsupported_parameter;
  return xnn_define_average_pooling_2d (
    builder->subgraph, (uint32_t) w->pad_top, (uint32_t) w->pad_right, (uint32_t) w->pad_bottom,
    (uint32_t) w->pad_left, (uint32_t) w->filter_h, (uint32_t) w->filter_w, (uint32_t) w->stride_h,
    (uint32_t) w->stride_w, limits.lo, limits.hi, in, out, 0);
}

/* Newer versions drop reduced dimensions unless told not to; older ones keep them and know no such
 * flag. */
#ifdef XNN_FLAG_KEEP_DIMS
#define KEEP_DIMS XNN_FLAG_KEEP_DIMS
#else
#define KEEP_DIMS 0
#endif

/* MEAN over height and width that keeps four dimensions is global average pooling. */
static enum xnn_status
define_mean (Builder *builder, const SlNode *node)
{
  const SlTensor *input = sl_node_input (builder->graph, node, 0),
                 *output = sl_node_output (builder->graph, node, 0);
  uint32_t in, out;
  if (input->rank != 4 || output->rank != 4 || output->dims[1] != 1 || output->dims[2] != 1
      || output->dims[0] != input->dims[0] || output->dims[3] != input->dims[3])
    return xnn_status_unsupported_parameter;
  const enum xnn_status status = io_values (builder, node, 1, &in, &out);
  if (status != xnn_status_success)
    return status;
  return xnn_define_global_average_pooling_2d (builder->subgraph, -INFINITY, INFINITY, in, out,
                                               KEEP_DIMS);
}

/* Quantised values of these go through a table of the plain kernel, made once. */
static gboolean
floats_only (SlOpType op)
{
  return op == SL_OP_LEAKY_RELU || op == SL_OP_ELU || op == SL_OP_HARD_SWISH || op == SL_OP_ABS
         || op == SL_OP_NEG || op == SL_OP_FLOOR || op == SL_OP_CEIL || op == SL_OP_ROUND
         || op == SL_OP_SQRT || op == SL_OP_SQUARE;
}

static enum xnn_status
define_unary (Builder *builder, const SlNode *node)
{
  uint32_t in, out;
  if (floats_only (node->op) && sl_node_input (builder->graph, node, 0)->dtype != SL_DTYPE_F32)
    return xnn_status_unsupported_parameter;
  if (sl_node_input (builder->graph, node, 0)->rank == 0) /* XNNPACK aborts */
    return xnn_status_unsupported_parameter;
  const enum xnn_status status = io_values (builder, node, 1, &in, &out);
  if (status != xnn_status_success)
    return status;
  switch (node->op) {
    case SL_OP_LOGISTIC:
      return xnn_define_sigmoid (builder->subgraph, in, out, 0);
    case SL_OP_RELU:
      return xnn_define_clamp (builder->subgraph, 0.0f, INFINITY, in, out, 0);
    case SL_OP_RELU6:
      return xnn_define_clamp (builder->subgraph, 0.0f, 6.0f, in, out, 0);
    case SL_OP_RELU_N1_TO_1:
      return xnn_define_clamp (builder->subgraph, -1.0f, 1.0f, in, out, 0);
    case SL_OP_RELU_0_TO_1:
      return xnn_define_clamp (builder->subgraph, 0.0f, 1.0f, in, out, 0);
    case SL_OP_LEAKY_RELU:
      return xnn_define_leaky_relu (builder->subgraph, node->params.leaky_relu.alpha, in, out, 0);
    case SL_OP_ELU:
      return xnn_define_elu (builder->subgraph, 1.0f, in, out, 0);
    case SL_OP_HARD_SWISH:
      return xnn_define_hardswish (builder->subgraph, in, out, 0);
    case SL_OP_ABS:
      return xnn_define_abs (builder->subgraph, in, out, 0);
    case SL_OP_NEG:
      return xnn_define_negate (builder->subgraph, in, out, 0);
    case SL_OP_FLOOR:
      return xnn_define_floor (builder->subgraph, in, out, 0);
    case SL_OP_CEIL:
      return xnn_define_ceiling (builder->subgraph, in, out, 0);
    case SL_OP_ROUND:
      return xnn_define_bankers_rounding (builder->subgraph, in, out, 0);
    case SL_OP_SQRT:
      return xnn_define_square_root (builder->subgraph, in, out, 0);
    case SL_OP_SQUARE:
      return xnn_define_square (builder->subgraph, in, out, 0);
    default:
      return xnn_define_convert (builder->subgraph, in, out, 0);
  }
}

static enum xnn_status
define_softmax (Builder *builder, const SlNode *node)
{
  uint32_t in, out;
  if (node->params.softmax.beta != 1.0f
      || sl_node_input (builder->graph, node, 0)->dtype != SL_DTYPE_F32)
    return xnn_status_unsupported_parameter;
  const enum xnn_status status = io_values (builder, node, 1, &in, &out);
  return status != xnn_status_success ? status : xnn_define_softmax (builder->subgraph, in, out, 0);
}

static enum xnn_status
define_pad (Builder *builder, const SlNode *node)
{
  gint32 amounts[2 * SL_MAX_RANK];
  size_t before[SL_MAX_RANK], after[SL_MAX_RANK];
  guint count = 0;
  uint32_t in, out;
  const enum xnn_status status = io_values (builder, node, 1, &in, &out);
  if (status != xnn_status_success)
    return status;
  sl_constant_ints (sl_node_input (builder->graph, node, 1), amounts, 2 * SL_MAX_RANK, &count);
  for (guint i = 0; i < count / 2; i++) {
    before[i] = (size_t) amounts[2 * i];
    after[i] = (size_t) amounts[2 * i + 1];
  }
  return xnn_define_static_constant_pad (builder->subgraph, before, after, 0.0f, in, out, 0);
}

static const DefineFunction define_functions[SL_OP_COUNT] = {
  [SL_OP_ADD] = define_binary,
  [SL_OP_SUB] = define_binary,
  [SL_OP_MUL] = define_binary,
  [SL_OP_AVERAGE_POOL_2D] = define_pool,
  [SL_OP_MAX_POOL_2D] = define_pool,
  [SL_OP_CONV_2D] = define_conv,
  [SL_OP_DEPTHWISE_CONV_2D] = define_depthwise,
  [SL_OP_FULLY_CONNECTED] = define_fully_connected,
  [SL_OP_DEQUANTIZE] = define_unary,
  [SL_OP_QUANTIZE] = define_unary,
  [SL_OP_LOGISTIC] = define_unary,
  [SL_OP_MEAN] = define_mean,
  [SL_OP_PAD] = define_pad,
  [SL_OP_RELU] = define_unary,
  [SL_OP_RELU6] = define_unary,
  [SL_OP_SOFTMAX] = define_softmax,
  [SL_OP_DIV] = define_binary,
  [SL_OP_MAXIMUM] = define_plain_binary,
  [SL_OP_MINIMUM] = define_plain_binary,
  [SL_OP_SQUARED_DIFFERENCE] = define_plain_binary,
  [SL_OP_PRELU] = define_prelu,
  [SL_OP_TRANSPOSE_CONV] = define_transpose_conv,
  [SL_OP_RESIZE_BILINEAR] = define_resize,
  [SL_OP_DEPTH_TO_SPACE] = define_depth_to_space,
  [SL_OP_RELU_N1_TO_1] = define_unary,
  [SL_OP_RELU_0_TO_1] = define_unary,
  [SL_OP_LEAKY_RELU] = define_unary,
  [SL_OP_ELU] = define_unary,
  [SL_OP_HARD_SWISH] = define_unary,
  [SL_OP_ABS] = define_unary,
  [SL_OP_NEG] = define_unary,
  [SL_OP_FLOOR] = define_unary,
  [SL_OP_CEIL] = define_unary,
  [SL_OP_ROUND] = define_unary,
  [SL_OP_SQRT] = define_unary,
  [SL_OP_SQUARE] = define_unary,
};

gboolean
sl_xnn_init (GError **error)
{
  static gsize known; /* the status, and one */
  if (g_once_init_enter (&known))
    g_once_init_leave (&known, (gsize) xnn_initialize (NULL) + 1);
  const enum xnn_status status = (enum xnn_status) (known - 1);
  if (status == xnn_status_success)
    return TRUE;
  const char *otherwise =
    status == xnn_status_out_of_memory ? "it has no memory" : status_text (status);
  g_autofree char *problem = sl_xnn_start_problem ("", ON_ARM, otherwise);
  return sl_fail (error, SL_ERROR_BACKEND, "XNNPACK cannot run on this machine: %s", problem);
}

static enum xnn_status
builder_init (Builder *builder, const SlGraph *graph, guint n_externals)
{
  builder->graph = graph;
  builder->subgraph = NULL;
  builder->values = g_hash_table_new (NULL, NULL);
  builder->arena = sl_arena_new ();
  return xnn_create_subgraph (n_externals, 0, &builder->subgraph);
}

static void
builder_clear (Builder *builder)
{
  if (builder->subgraph != NULL)
    xnn_delete_subgraph (builder->subgraph);
  g_clear_pointer (&builder->values, g_hash_table_unref);
  g_clear_pointer (&builder->arena, sl_arena_free);
}

/* FALSE for NaN too. */
static gboolean
ratio_within (gfloat ratio, gfloat lowest, gfloat end)
{
  return ratio >= lowest && ratio < end;
}

/* XNNPACK aborts, or answers wrongly, instead of refusing, where ratios of scales leave the range
 * of its fixed-point arithmetic. */
static gboolean
scales_fit (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *a = sl_node_input (graph, node, 0), *b = sl_node_input (graph, node, 1),
                 *output = sl_node_output (graph, node, 0);
  const gfloat in = sl_tensor_scale (a), out = sl_tensor_scale (output);
  if (a->quant.count != 1 || output->quant.count != 1 || output->dtype == SL_DTYPE_F32)
    return TRUE;
  switch (node->op) {
    case SL_OP_CONV_2D:
    case SL_OP_DEPTHWISE_CONV_2D:
    case SL_OP_FULLY_CONNECTED:
      for (guint i = 0; i < b->quant.count; i++)
        if (!ratio_within (in * b->quant.scale[i] / out, 0x1p-32f, 0x1p+8f))
          return FALSE;
      return TRUE;
    case SL_OP_ADD:
    case SL_OP_SUB:
      return !node->params.binary.half_away && ratio_within (in / out, 0x1p-10f, 0x1p+8f)
             && ratio_within (sl_tensor_scale (b) / out, 0x1p-10f, 0x1p+8f);
    case SL_OP_MUL:
      return ratio_within (in * sl_tensor_scale (b) / out, 0x1p-16f, 0x1p+8f);
    case SL_OP_MEAN:
      return ratio_within (in / out, 0x1p-8f, 0x1p+8f)
             && (a->rank != 4
                 || ratio_within (in / (out * (gfloat) a->dims[1] * (gfloat) a->dims[2]), 0x1p-32f,
                                  0x1p+8f));
    case SL_OP_RELU:
    case SL_OP_RELU6:
    case SL_OP_RELU_N1_TO_1:
    case SL_OP_RELU_0_TO_1: /* clamps quantised values, whatever they stand for on the other side */
      return in == out && sl_tensor_zero_point (a) == sl_tensor_zero_point (output);
    case SL_OP_QUANTIZE:
      return ratio_within (in / out, 0x1p-8f, 0x1p+7f);
    default:
      return TRUE;
  }
}

/* XNNPACK fuses limits alone. */
gboolean
sl_xnn_supports (const SlGraph *graph, const SlNode *node)
{
  Builder builder;
  if (define_functions[node->op] == NULL || sl_activation_is_curve (sl_node_fused_activation (node))
      || !scales_fit (graph, node))
    return FALSE;
  enum xnn_status status = builder_init (&builder, graph, 0);
  if (status == xnn_status_success)
    status = define_functions[node->op](&builder, node);
  builder_clear (&builder);
  return status == xnn_status_success;
}

static enum xnn_status
define_all (Builder *builder, const SlStep *step)
{
  for (guint i = 0; i < step->operands->len; i++) {
    uint32_t id = XNN_INVALID_VALUE_ID;
    const gint32 tensor = g_array_index (step->operands, gint32, i);
    const uint32_t flags = g_array_index (step->is_output, gboolean, i)
                             ? XNN_VALUE_FLAG_EXTERNAL_OUTPUT
                             : XNN_VALUE_FLAG_EXTERNAL_INPUT;
    const enum xnn_status status =
      define_value (builder, sl_graph_tensor (builder->graph, tensor), i, flags, &id);
    if (status != xnn_status_success)
      return status;
    g_hash_table_insert (builder->values, GINT_TO_POINTER (tensor + 1), GUINT_TO_POINTER (id + 1));
  }
  for (guint i = 0; i < step->nodes->len; i++) {
    const SlNode *node = sl_graph_node (builder->graph, g_array_index (step->nodes, guint, i));
    const enum xnn_status status = define_functions[node->op](builder, node);
    if (status != xnn_status_success)
      return status;
  }
  return xnn_status_success;
}

SlXnnRuntime *
sl_xnn_runtime_new (const SlHost *host, const SlStep *step, SlXnnThreads threads, GError **error)
{
  Builder builder;
  xnn_runtime_t handle = NULL;
  enum xnn_status status = builder_init (&builder, host->graph, step->operands->len);
  if (status == xnn_status_success)
    status = define_all (&builder, step);
  if (status == xnn_status_success)
    status = (enum xnn_status) sl_xnn_make_runtime (host, builder.subgraph, threads, &handle);
  if (status != xnn_status_success) {
    const SlNode *first = sl_graph_node (host->graph, g_array_index (step->nodes, guint, 0));
    sl_fail (error, SL_ERROR_BACKEND, "XNNPACK refused %u nodes from node %u %s '%s' on: %s",
             step->nodes->len, first->index, sl_op_name (first->op), first->name,
             status_text (status));
    builder_clear (&builder);
    return NULL;
  }
  SlXnnRuntime *runtime = g_new0 (SlXnnRuntime, 1);
  runtime->runtime = handle;
  runtime->arena = g_steal_pointer (&builder.arena);
  runtime->n_externals = step->operands->len;
  runtime->externals = g_new0 (struct xnn_external_value, runtime->n_externals);
  for (guint i = 0; i < runtime->n_externals; i++)
    runtime->externals[i].id = i;
  builder_clear (&builder);
  return runtime;
}

void
sl_xnn_runtime_free (SlXnnRuntime *runtime)
{
  if (runtime == NULL)
    return;
  xnn_delete_runtime (runtime->runtime);
  sl_arena_free (runtime->arena);
  g_free (runtime->externals);
  g_free (runtime);
}

gboolean
sl_xnn_runtime_run (SlXnnRuntime *runtime, void *const *memory)
{
  gboolean changed = FALSE;
  for (guint i = 0; i < runtime->n_externals; i++) {
    changed |= runtime->externals[i].data != memory[i];
    runtime->externals[i].data = memory[i];
  }
  if (changed
      && xnn_setup_runtime (runtime->runtime, runtime->n_externals, runtime->externals)
           != xnn_status_success) {
    runtime->externals[0].data = NULL;
    return FALSE;
  }
  return xnn_invoke_runtime (runtime->runtime) == xnn_status_success;
}
