/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Nodes -> XNNPACK subgraphs, by a table of operators; a node is supported when its row succeeds on
 * a scratch subgraph. Constants are referenced in place until XNNPACK packs them while the runtime
 * is created; inputs and outputs are the caller's memory, nothing is copied.
 */
#include "core/backends/xnnpack/xnn.h"

#include <math.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <xnnpack.h>

#include "core/base/fail.h"
#include "core/ops/ops.h"

#if defined(__aarch64__) || defined(__arm__)
#define ON_ARM TRUE
#else
#define ON_ARM FALSE
#endif

/* Packed weights of so many bytes are given back to the system when a runtime goes: the heap would
 * keep them, for each thread that loads a model. */
#define MANY_WEIGHTS 1048576

G_STATIC_ASSERT (XNN_EXTRA_BYTES <= SL_TENSOR_PADDING);

/** A subgraph being built. */
typedef struct
{
  const SlGraph *graph;
  xnn_subgraph_t subgraph;
  GHashTable *values;  /* tensor index + 1 -> value id + 1 */
  SlArena *arena;      /* outlives the runtime: XNNPACK keeps pointers to scales */
  uint32_t in[2], out; /* values of the node at hand */
} Builder;

typedef struct
{
  xnn_runtime_t runtime;
  SlArena *arena;
  guint n_externals;
  struct xnn_external_value *externals;
  gsize weights; /* bytes of the file's that it has packed */
} Runtime;

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

/* Weights of convolutions and fully connected layers: 8-bit ones per tensor or, along @channel_dim,
 * per channel. */
static enum xnn_status
define_weights (Builder *builder, const SlNode *node, gsize channel_dim, uint32_t *id)
{
  const SlTensor *weights = sl_node_input (builder->graph, node, 1);
  size_t dims[SL_MAX_RANK];
  /* XNNPACK takes int8 weights for symmetric and does not look at their zero points. */
  if (weights->dtype == SL_DTYPE_I8 && sl_tensor_is_shifted (weights))
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

/* Weights, with channels along @channel_dim, and bias of a layer. */
static enum xnn_status
define_constants (Builder *builder, const SlNode *node, gsize channel_dim, uint32_t *filter,
                  uint32_t *bias)
{
  const enum xnn_status status = define_weights (builder, node, channel_dim, filter);
  return status == xnn_status_success ? define_bias (builder, node, bias) : status;
}

static enum xnn_status
define_conv (Builder *builder, const SlNode *node)
{
  const gboolean depthwise = node->op == SL_OP_DEPTHWISE_CONV_2D;
  const SlTensor *input = sl_node_input (builder->graph, node, 0),
                 *weights = sl_node_input (builder->graph, node, 1);
  const SlWindow *w = &node->params.window;
  const Limits limits = limits_of (w->activation);
  uint32_t filter, bias;
  const enum xnn_status status =
    define_constants (builder, node, depthwise ? 3 : 0, &filter, &bias);
  if (status != xnn_status_success)
    return status;
  if (depthwise)
    return xnn_define_depthwise_convolution_2d (
      builder->subgraph, (uint32_t) w->pad_top, (uint32_t) w->pad_right, (uint32_t) w->pad_bottom,
      (uint32_t) w->pad_left, (uint32_t) weights->dims[1], (uint32_t) weights->dims[2],
      (uint32_t) w->stride_h, (uint32_t) w->stride_w, (uint32_t) w->dilation_h,
      (uint32_t) w->dilation_w, (uint32_t) w->depth_multiplier, (size_t) input->dims[3], limits.lo,
      limits.hi, builder->in[0], filter, bias, builder->out, 0);
  const uint32_t groups = (uint32_t) (input->dims[3] / weights->dims[3]);
  return xnn_define_convolution_2d (
    builder->subgraph, (uint32_t) w->pad_top, (uint32_t) w->pad_right, (uint32_t) w->pad_bottom,
    (uint32_t) w->pad_left, (uint32_t) weights->dims[1], (uint32_t) weights->dims[2],
    (uint32_t) w->stride_h, (uint32_t) w->stride_w, (uint32_t) w->dilation_h,
    (uint32_t) w->dilation_w, groups, (size_t) weights->dims[3], (size_t) weights->dims[0] / groups,
    limits.lo, limits.hi, builder->in[0], filter, bias, builder->out, 0);
}

static enum xnn_status
define_fully_connected (Builder *builder, const SlNode *node)
{
  const Limits limits = limits_of (node->params.fully_connected.activation);
  uint32_t filter, bias;
  if (sl_node_input (builder->graph, node, 1)->quant.count > 1)
    return xnn_status_unsupported_parameter;
  const enum xnn_status status = define_constants (builder, node, 0, &filter, &bias);
  if (status != xnn_status_success)
    return status;
  return xnn_define_fully_connected (
    builder->subgraph, limits.lo, limits.hi, builder->in[0], filter, bias, builder->out,
    node->params.fully_connected.keep_dims ? 0 : XNN_FLAG_TENSORFLOW_RESHAPE_2D);
}

/* One slope a channel only. */
static enum xnn_status
define_prelu (Builder *builder, const SlNode *node)
{
  const SlTensor *input = sl_node_input (builder->graph, node, 0),
                 *slope = sl_node_input (builder->graph, node, 1);
  const size_t channels = input->rank > 0 ? (size_t) input->dims[input->rank - 1] : 0;
  uint32_t weights;
  if (input->dtype != SL_DTYPE_F32 || slope->data == NULL
      || slope->bytes != channels * sizeof (float)
      || slope->dims[slope->rank - 1] != input->dims[input->rank - 1] || slope->rank > input->rank)
    return xnn_status_unsupported_parameter;
  const enum xnn_status status =
    xnn_define_tensor_value (builder->subgraph, xnn_datatype_fp32, 1, &channels, slope->data,
                             XNN_INVALID_VALUE_ID, 0, &weights);
  if (status != xnn_status_success)
    return status;
  return xnn_define_prelu (builder->subgraph, builder->in[0], weights, builder->out, 0);
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
  return xnn_define_static_resize_bilinear_2d (builder->subgraph, (size_t) output->dims[1],
                                               (size_t) output->dims[2], builder->in[0],
                                               builder->out, flags);
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
  uint32_t filter, add = XNN_INVALID_VALUE_ID;
  if (input->dtype != SL_DTYPE_F32 || weights->dtype != SL_DTYPE_F32)
    return xnn_status_unsupported_parameter;
  enum xnn_status status = define_value (builder, weights, XNN_INVALID_VALUE_ID, 0, &filter);
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
    (size_t) weights->dims[3], channels, limits.lo, limits.hi, builder->in[0], filter, add,
    builder->out, 0);
}

static enum xnn_status
define_depth_to_space (Builder *builder, const SlNode *node)
{
  return xnn_define_depth_to_space (builder->subgraph, builder->in[0], builder->out,
                                    (uint32_t) node->params.block.size, 0);
}

/* Averages of quantised values round differently in TensorFlow Lite, so only float ones go to
 * XNNPACK. */
static enum xnn_status
define_pool (Builder *builder, const SlNode *node)
{
  const SlWindow *w = &node->params.window;
  const Limits limits = limits_of (w->activation);
  if (node->op == SL_OP_MAX_POOL_2D)
    return xnn_define_max_pooling_2d (
      builder->subgraph, (uint32_t) w->pad_top, (uint32_t) w->pad_right, (uint32_t) w->pad_bottom,
      (uint32_t) w->pad_left, (uint32_t) w->filter_h, (uint32_t) w->filter_w,
      (uint32_t) w->stride_h, (uint32_t) w->stride_w, 1, 1, limits.lo, limits.hi, builder->in[0],
      builder->out, 0);
  if (sl_node_input (builder->graph, node, 0)->dtype != SL_DTYPE_F32)
    return xnn_status_unsupported_parameter;
  return xnn_define_average_pooling_2d (
    builder->subgraph, (uint32_t) w->pad_top, (uint32_t) w->pad_right, (uint32_t) w->pad_bottom,
    (uint32_t) w->pad_left, (uint32_t) w->filter_h, (uint32_t) w->filter_w, (uint32_t) w->stride_h,
    (uint32_t) w->stride_w, limits.lo, limits.hi, builder->in[0], builder->out, 0);
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
  if (input->rank != 4 || output->rank != 4 || output->dims[1] != 1 || output->dims[2] != 1
      || output->dims[0] != input->dims[0] || output->dims[3] != input->dims[3])
    return xnn_status_unsupported_parameter;
  return xnn_define_global_average_pooling_2d (builder->subgraph, -INFINITY, INFINITY,
                                               builder->in[0], builder->out, KEEP_DIMS);
}

static enum xnn_status
define_softmax (Builder *builder, const SlNode *node)
{
  if (node->params.softmax.beta != 1.0f
      || sl_node_input (builder->graph, node, 0)->dtype != SL_DTYPE_F32)
    return xnn_status_unsupported_parameter;
  return xnn_define_softmax (builder->subgraph, builder->in[0], builder->out, 0);
}

static enum xnn_status
define_pad (Builder *builder, const SlNode *node)
{
  gint32 amounts[2 * SL_MAX_RANK];
  size_t before[SL_MAX_RANK], after[SL_MAX_RANK];
  guint count = 0;
  sl_constant_ints (sl_node_input (builder->graph, node, 1), amounts, 2 * SL_MAX_RANK, &count);
  for (guint i = 0; i < count / 2; i++) {
    before[i] = (size_t) amounts[2 * i];
    after[i] = (size_t) amounts[2 * i + 1];
  }
  return xnn_define_static_constant_pad (builder->subgraph, before, after, 0.0f, builder->in[0],
                                         builder->out, 0);
}

static enum xnn_status
define_clamp (Builder *builder, const SlNode *node)
{
  const Limits limits = limits_of (sl_op_clamp (node->op));
  return xnn_define_clamp (builder->subgraph, limits.lo, limits.hi, builder->in[0], builder->out,
                           0);
}

static enum xnn_status
define_leaky_relu (Builder *builder, const SlNode *node)
{
  return xnn_define_leaky_relu (builder->subgraph, node->params.leaky_relu.alpha, builder->in[0],
                                builder->out, 0);
}

static enum xnn_status
define_elu (Builder *builder, const SlNode *node)
{
  return xnn_define_elu (builder->subgraph, 1.0f, builder->in[0], builder->out, 0);
}

/* How an operator is defined: by one of the four functions. @n_inputs from input @first on are
 * values, and the output is; other inputs are constants. @floats: only floats; quantised values go
 * through a table of the plain kernel, made once. @tensors: inputs without dimensions make XNNPACK
 * abort. */
static const struct
{
  guint n_inputs, first;
  enum xnn_status (*define) (Builder *builder, const SlNode *node);
  gboolean tensors, floats;
  enum xnn_status (*unary) (xnn_subgraph_t, uint32_t, uint32_t, uint32_t);
  enum xnn_status (*binary) (xnn_subgraph_t, uint32_t, uint32_t, uint32_t, uint32_t);
  enum xnn_status (*limited) (xnn_subgraph_t, float, float, uint32_t, uint32_t, uint32_t, uint32_t);
} rows[SL_OP_COUNT] = {
  [SL_OP_ADD] = { 2, .limited = xnn_define_add2 },
  [SL_OP_SUB] = { 2, .limited = xnn_define_subtract },
  [SL_OP_MUL] = { 2, .limited = xnn_define_multiply2 },
  [SL_OP_DIV] = { 2, .limited = xnn_define_divide },
  [SL_OP_MAXIMUM] = { 2, .binary = xnn_define_maximum2 },
  [SL_OP_MINIMUM] = { 2, .binary = xnn_define_minimum2 },
  [SL_OP_SQUARED_DIFFERENCE] = { 2, .binary = xnn_define_squared_difference },
  [SL_OP_AVERAGE_POOL_2D] = { 1, 0, define_pool },
  [SL_OP_MAX_POOL_2D] = { 1, 0, define_pool },
  [SL_OP_CONV_2D] = { 1, 0, define_conv },
  [SL_OP_DEPTHWISE_CONV_2D] = { 1, 0, define_conv },
  [SL_OP_FULLY_CONNECTED] = { 1, 0, define_fully_connected },
  [SL_OP_MEAN] = { 1, 0, define_mean },
  [SL_OP_PAD] = { 1, 0, define_pad },
  [SL_OP_SOFTMAX] = { 1, 0, define_softmax },
  [SL_OP_PRELU] = { 1, 0, define_prelu },
  [SL_OP_TRANSPOSE_CONV] = { 1, 2, define_transpose_conv },
  [SL_OP_RESIZE_BILINEAR] = { 1, 0, define_resize },
  [SL_OP_DEPTH_TO_SPACE] = { 1, 0, define_depth_to_space },
  [SL_OP_RELU] = { 1, 0, define_clamp, TRUE },
  [SL_OP_RELU6] = { 1, 0, define_clamp, TRUE },
  [SL_OP_RELU_N1_TO_1] = { 1, 0, define_clamp, TRUE },
  [SL_OP_RELU_0_TO_1] = { 1, 0, define_clamp, TRUE },
  [SL_OP_LEAKY_RELU] = { 1, 0, define_leaky_relu, TRUE, TRUE },
  [SL_OP_ELU] = { 1, 0, define_elu, TRUE, TRUE },
  [SL_OP_DEQUANTIZE] = { 1, 0, NULL, TRUE, FALSE, xnn_define_convert },
  [SL_OP_QUANTIZE] = { 1, 0, NULL, TRUE, FALSE, xnn_define_convert },
  [SL_OP_LOGISTIC] = { 1, 0, NULL, TRUE, FALSE, xnn_define_sigmoid },
  [SL_OP_HARD_SWISH] = { 1, 0, NULL, TRUE, TRUE, xnn_define_hardswish },
  [SL_OP_ABS] = { 1, 0, NULL, TRUE, TRUE, xnn_define_abs },
  [SL_OP_NEG] = { 1, 0, NULL, TRUE, TRUE, xnn_define_negate },
  [SL_OP_FLOOR] = { 1, 0, NULL, TRUE, TRUE, xnn_define_floor },
  [SL_OP_CEIL] = { 1, 0, NULL, TRUE, TRUE, xnn_define_ceiling },
  [SL_OP_ROUND] = { 1, 0, NULL, TRUE, TRUE, xnn_define_bankers_rounding },
  [SL_OP_SQRT] = { 1, 0, NULL, TRUE, TRUE, xnn_define_square_root },
  [SL_OP_SQUARE] = { 1, 0, NULL, TRUE, TRUE, xnn_define_square },
};

static enum xnn_status
define_node (Builder *builder, const SlNode *node)
{
  const uint32_t *in = builder->in;
  const guint n_inputs = rows[node->op].n_inputs, first = rows[node->op].first;
  const SlTensor *input = sl_node_input (builder->graph, node, first);
  if ((rows[node->op].floats && input->dtype != SL_DTYPE_F32)
      || (rows[node->op].tensors && input->rank == 0))
    return xnn_status_unsupported_parameter;
  enum xnn_status status = xnn_status_success;
  for (guint i = 0; status == xnn_status_success && i < n_inputs; i++)
    status = value_of (builder, node->inputs[first + i], &builder->in[i]);
  if (status == xnn_status_success)
    status = value_of (builder, node->outputs[0], &builder->out);
  if (status != xnn_status_success)
    return status;
  if (rows[node->op].unary != NULL)
    return rows[node->op].unary (builder->subgraph, in[0], builder->out, 0);
  if (rows[node->op].binary != NULL)
    return rows[node->op].binary (builder->subgraph, in[0], in[1], builder->out, 0);
  if (rows[node->op].define != NULL)
    return rows[node->op].define (builder, node);
  const Limits limits = limits_of (node->params.binary.activation);
  return rows[node->op].limited (builder->subgraph, limits.lo, limits.hi, in[0], in[1],
                                 builder->out, 0);
}

gboolean
sl_xnn_init (GError **error)
{
  static gsize known; /* the status, and one */
  if (g_once_init_enter (&known))
    g_once_init_leave (&known, (gsize) sl_xnn_start () + 1);
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
  if (node->op == SL_OP_FULLY_CONNECTED && a->dtype != b->dtype)
    return FALSE;
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
/* Whether XNNPACK may compute @node with AMX, and wrongly: start.c. */
static gboolean
is_amx (const SlGraph *graph, const SlNode *node)
{
  return sl_xnn_has_amx ()
         && (node->op == SL_OP_CONV_2D || node->op == SL_OP_FULLY_CONNECTED
             || node->op == SL_OP_TRANSPOSE_CONV)
         && sl_node_output (graph, node, 0)->dtype != SL_DTYPE_F32;
}

gboolean
sl_xnn_supports (const SlGraph *graph, const SlNode *node)
{
  Builder builder;
  if (rows[node->op].n_inputs == 0 || sl_activation_is_curve (sl_node_fused_activation (node))
      || !scales_fit (graph, node) || is_amx (graph, node))
    return FALSE;
  enum xnn_status status = builder_init (&builder, graph, 0);
  if (status == xnn_status_success)
    status = define_node (&builder, node);
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
    const enum xnn_status status = define_node (builder, node);
    if (status != xnn_status_success)
      return status;
  }
  return xnn_status_success;
}

static gsize
weights_of (const SlGraph *graph, const SlStep *step)
{
  gsize bytes = 0;
  for (guint i = 0; i < step->nodes->len; i++) {
    const SlNode *node = sl_graph_node (graph, g_array_index (step->nodes, guint, i));
    for (guint k = 1; k < node->n_inputs; k++) {
      const SlTensor *tensor = sl_node_input (graph, node, k);
      bytes += tensor != NULL && tensor->data != NULL ? tensor->bytes : 0;
    }
  }
  return bytes;
}

gpointer
sl_xnn_runtime_new (SlHost *host, const SlStep *step, gpointer threads, GError **error)
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
  Runtime *runtime = g_new0 (Runtime, 1);
  runtime->runtime = handle;
  runtime->weights = weights_of (host->graph, step);
  runtime->arena = g_steal_pointer (&builder.arena);
  runtime->n_externals = step->operands->len;
  runtime->externals = g_new0 (struct xnn_external_value, runtime->n_externals);
  for (guint i = 0; i < runtime->n_externals; i++)
    runtime->externals[i].id = i;
  builder_clear (&builder);
  return runtime;
}

void
sl_xnn_runtime_free (gpointer prepared)
{
  Runtime *runtime = prepared;
  xnn_delete_runtime (runtime->runtime);
#ifdef __GLIBC__
  if (runtime->weights >= MANY_WEIGHTS)
    malloc_trim (0);
#endif
  sl_arena_free (runtime->arena);
  g_free (runtime->externals);
  g_free (runtime);
}

gboolean
sl_xnn_runtime_run (gpointer prepared, void *const *memory)
{
  Runtime *runtime = prepared;
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
