/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What operator rows share: messages, operand checks, shapes, sliding windows. */
#include "core/base/fail.h"
#include "core/ops/ops.h"

#include <math.h>
#include <string.h>

/* Most pixels that all places of a window may read together: XNNPACK keeps a pointer for each. */
#define MAX_READS (1 << 27)

gboolean
sl_node_error (GError **error, const SlNode *node, SlError code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  return sl_fail (error, code, "node %u %s '%s': %s", node->index, sl_op_name (node->op),
                  node->name, text);
}

gboolean
sl_node_set_shape (SlGraph *graph, const SlNode *node, guint i, guint rank, const gint32 *dims,
                   GError **error)
{
  SlTensor *tensor = sl_node_output (graph, node, i);
  if (tensor->data != NULL)
    return sl_node_error (error, node, SL_ERROR_FORMAT, "output %u '%s' is a constant", i,
                          tensor->name);
  if (rank > SL_MAX_RANK)
    return sl_node_error (error, node, SL_ERROR_LIMIT,
                          "output %u would have %u dimensions; at most %d are supported", i, rank,
                          SL_MAX_RANK);
  for (guint k = 0; k < rank; k++)
    if (dims[k] < 1)
      return sl_node_error (error, node, SL_ERROR_SHAPE,
                            "dimension %u of output %u would be %d; expected at least 1", k, i,
                            dims[k]);
  tensor->rank = rank;
  if (rank > 0)
    memcpy (tensor->dims, dims, rank * sizeof dims[0]);
  return TRUE;
}

gboolean
sl_node_check_dtype (const SlNode *node, const char *role, const SlTensor *tensor, guint32 mask,
                     GError **error)
{
  if (mask & SL_DTYPE_BIT (tensor->dtype))
    return TRUE;
  GString *expected = g_string_new (NULL);
  for (guint i = 1; i < SL_DTYPE_COUNT; i++)
    if (mask & SL_DTYPE_BIT (i))
      g_string_append_printf (expected, "%s%s", expected->len > 0 ? ", " : "",
                              sl_dtype_name ((SlDtype) i));
  sl_node_error (error, node, SL_ERROR_UNSUPPORTED, "%s '%s' is %s; supported: %s", role,
                 tensor->name, sl_dtype_name (tensor->dtype), expected->str);
  g_string_free (expected, TRUE);
  return FALSE;
}

gboolean
sl_node_check_outputs (const SlGraph *graph, const SlNode *node, guint32 mask, GError **error)
{
  for (guint i = 0; i < node->n_outputs; i++)
    if (!sl_node_check_dtype (node, "output", sl_node_output (graph, node, i), mask, error))
      return FALSE;
  return TRUE;
}

gboolean
sl_node_check_bias_dtype (const SlNode *node, const SlTensor *input, const SlTensor *bias,
                          GError **error)
{
  guint32 types = SL_DTYPE_BIT (SL_DTYPE_I32);
  if (input->dtype == SL_DTYPE_F32)
    types = SL_DTYPE_BIT (SL_DTYPE_F32);
  else if (input->dtype == SL_DTYPE_I16)
    types |= SL_DTYPE_BIT (SL_DTYPE_I64);
  return sl_node_check_dtype (node, "bias", bias, types, error);
}

gboolean
sl_node_check_quant (const SlNode *node, const char *role, const SlTensor *tensor, GError **error)
{
  if (tensor->dtype != SL_DTYPE_I8 && tensor->dtype != SL_DTYPE_U8 && tensor->dtype != SL_DTYPE_I16)
    return TRUE;
  if (tensor->quant.count != 1)
    return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                          "%s '%s' is %s with %u scales; expected one scale and zero point", role,
                          tensor->name, sl_dtype_name (tensor->dtype), tensor->quant.count);
  gint32 lo = 0, hi = 0;
  sl_dtype_range (tensor->dtype, &lo, &hi);
  if (tensor->quant.zero_point[0] < lo || tensor->quant.zero_point[0] > hi)
    return sl_node_error (error, node, SL_ERROR_FORMAT,
                          "%s '%s' has zero point %d; expected %d..%d for %s", role, tensor->name,
                          tensor->quant.zero_point[0], lo, hi, sl_dtype_name (tensor->dtype));
  return TRUE;
}

gboolean
sl_node_check_same_dtype (const SlNode *node, const SlTensor *a, const SlTensor *b, GError **error)
{
  if (a->dtype == b->dtype)
    return TRUE;
  return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                        "'%s' is %s but '%s' is %s; expected the same type", a->name,
                        sl_dtype_name (a->dtype), b->name, sl_dtype_name (b->dtype));
}

gboolean
sl_node_check_activations (const SlGraph *graph, const SlNode *node, guint n_inputs, GError **error)
{
  return sl_node_check_typed (graph, node, n_inputs, SL_DTYPES_ACTIVATION, error);
}

gboolean
sl_node_check_typed (const SlGraph *graph, const SlNode *node, guint n_inputs, guint32 types,
                     GError **error)
{
  const SlTensor *first = sl_node_input (graph, node, 0);
  for (guint i = 0; i < n_inputs; i++) {
    const SlTensor *input = sl_node_input (graph, node, i);
    if (!sl_node_check_dtype (node, "input", input, types, error)
        || !sl_node_check_same_dtype (node, first, input, error)
        || !sl_node_check_quant (node, "input", input, error))
      return FALSE;
  }
  for (guint i = 0; i < node->n_outputs; i++) {
    const SlTensor *output = sl_node_output (graph, node, i);
    if (!sl_node_check_same_dtype (node, first, output, error)
        || !sl_node_check_quant (node, "output", output, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
sl_node_same_shape_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  for (guint i = 0; i < node->n_outputs; i++)
    if (!sl_node_set_shape (graph, node, i, input->rank, input->dims, error))
      return FALSE;
  return TRUE;
}

gboolean
sl_node_by_reciprocal (const SlNode *node)
{
  return node->op == SL_OP_FULLY_CONNECTED ? node->params.fully_connected.by_reciprocal
                                           : node->params.window.by_reciprocal;
}

const gfloat *
sl_node_bias_rest (const SlNode *node)
{
  return node->op == SL_OP_FULLY_CONNECTED ? node->params.fully_connected.rest
                                           : node->params.window.rest;
}

gfloat
sl_node_sum_scale (const SlGraph *graph, const SlNode *node, guint from, gint32 channel)
{
  const SlQuant *weights = &sl_node_input (graph, node, 1)->quant;
  const gfloat product = sl_tensor_scale (sl_node_input (graph, node, from))
                         * weights->scale[weights->count > 1 ? channel : 0];
  const gfloat output = sl_tensor_scale (sl_node_output (graph, node, 0));
  return sl_node_by_reciprocal (node) ? product * (1 / output) : product / output;
}

gint32
sl_add_shift (gfloat most, gboolean half_away)
{
  return (half_away && most >= 0x1p-2f ? 21 : 20) - ilogbf (most);
}

gboolean
sl_node_check_copy (const SlGraph *graph, const SlNode *node, guint from, guint i, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, from),
                 *output = sl_node_output (graph, node, i);
  if (!sl_node_check_same_dtype (node, input, output, error))
    return FALSE;
  if (sl_tensor_scale (input) == sl_tensor_scale (output)
      && sl_tensor_zero_point (input) == sl_tensor_zero_point (output))
    return TRUE;
  return sl_node_error (
    error, node, SL_ERROR_UNSUPPORTED,
    "input and output are quantised differently (scale %g, zero point %d and %g, %d); this "
    "operator keeps codes",
    (double) sl_tensor_scale (input), sl_tensor_zero_point (input),
    (double) sl_tensor_scale (output), sl_tensor_zero_point (output));
}

gboolean
sl_node_constant (const SlGraph *graph, const SlNode *node, guint i, const char *what,
                  gint32 *values, guint max, guint *count, GError **error)
{
  const SlTensor *tensor = sl_node_input (graph, node, i);
  if (sl_constant_ints (tensor, values, max, count))
    return TRUE;
  g_autofree char *text = tensor != NULL ? sl_tensor_describe (tensor) : g_strdup ("missing");
  return sl_node_error (
    error, node, SL_ERROR_UNSUPPORTED,
    "the %s, input %u, must be a constant of at most %u int32 or int64; got %s%s", what, i, max,
    tensor != NULL && tensor->data == NULL ? "variable " : "", text);
}

gboolean
sl_node_axis (const SlNode *node, gint32 *axis, guint rank, GError **error)
{
  if (*axis < -(gint32) rank || *axis >= (gint32) rank)
    return sl_node_error (error, node, SL_ERROR_FORMAT,
                          "axis %d is outside a tensor of %u dimensions", *axis, rank);
  if (*axis < 0)
    *axis += (gint32) rank;
  return TRUE;
}

gboolean
sl_node_constant_axis (const SlGraph *graph, const SlNode *node, guint i, gint32 *axis, guint rank,
                       GError **error)
{
  guint count = 0;
  if (!sl_node_constant (graph, node, i, "axis", axis, 1, &count, error))
    return FALSE;
  if (count != 1)
    return sl_node_error (error, node, SL_ERROR_SHAPE, "%u axes are given; expected one", count);
  return sl_node_axis (node, axis, rank, error);
}

gboolean
sl_node_broadcast (const SlNode *node, const SlTensor *a, const SlTensor *b, gint32 *dims,
                   guint *rank, GError **error)
{
  *rank = MAX (a->rank, b->rank);
  for (guint i = 0; i < *rank; i++) {
    const gint32 da = i + a->rank >= *rank ? a->dims[i + a->rank - *rank] : 1;
    const gint32 db = i + b->rank >= *rank ? b->dims[i + b->rank - *rank] : 1;
    if (da != db && da != 1 && db != 1) {
      g_autofree char *text_a = sl_tensor_describe (a), *text_b = sl_tensor_describe (b);
      return sl_node_error (error, node, SL_ERROR_SHAPE, "%s and %s do not broadcast", text_a,
                            text_b);
    }
    dims[i] = MAX (da, db);
  }
  return TRUE;
}

gboolean
sl_node_infer_broadcast (SlGraph *graph, SlNode *node, GError **error)
{
  gint32 dims[SL_MAX_RANK];
  guint rank = 0;
  return sl_node_broadcast (node, sl_node_input (graph, node, 0), sl_node_input (graph, node, 1),
                            dims, &rank, error)
         && sl_node_set_shape (graph, node, 0, rank, dims, error);
}

gboolean
sl_node_check_rank4 (const SlGraph *graph, const SlNode *node, guint i, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, i);
  if (input->rank == 4)
    return TRUE;
  g_autofree char *text = sl_tensor_describe (input);
  return sl_node_error (error, node, SL_ERROR_SHAPE,
                        "input '%s' is %s; expected 4 dimensions (NHWC)", input->name, text);
}

gboolean
sl_constant_ints (const SlTensor *tensor, gint32 *values, guint max, guint *count)
{
  gsize n = 0;
  if (tensor == NULL || tensor->data == NULL || !sl_tensor_elements (tensor, &n) || n > max)
    return FALSE;
  for (gsize i = 0; i < n; i++) {
    if (tensor->dtype == SL_DTYPE_I32) {
      values[i] = ((const gint32 *) tensor->data)[i];
    } else if (tensor->dtype == SL_DTYPE_I64) {
      const gint64 value = ((const gint64 *) tensor->data)[i];
      if (value < G_MININT32 || value > G_MAXINT32)
        return FALSE;
      values[i] = (gint32) value;
    } else {
      return FALSE;
    }
  }
  *count = (guint) n;
  return TRUE;
}

/* One dimension of a window: output size and paddings, as TensorFlow defines SAME and VALID. */
static gboolean
resolve_axis (SlPadding padding, gint32 in, gint32 filter, gint32 stride, gint32 dilation,
              gint32 *before, gint32 *after, gint32 *out)
{
  const gint64 extent = ((gint64) filter - 1) * dilation + 1;
  gint64 size;
  if (padding == SL_PADDING_SAME) {
    size = ((gint64) in + stride - 1) / stride;
    const gint64 total = MAX ((size - 1) * stride + extent - in, 0);
    if (total > G_MAXINT16)
      return FALSE;
    *before = (gint32) (total / 2);
    *after = (gint32) (total - total / 2);
  } else {
    if (padding == SL_PADDING_VALID)
      *before = *after = 0;
    const gint64 room = (gint64) in + *before + *after - extent;
    if (room < 0)
      return FALSE;
    size = room / stride + 1;
  }
  *out = (gint32) size;
  return TRUE;
}

gboolean
sl_window_resolve (const SlNode *node, SlWindow *window, gint32 in_h, gint32 in_w, gint32 filter_h,
                   gint32 filter_w, gint32 *out_h, gint32 *out_w, GError **error)
{
  const gint32 limits[] = { window->stride_h,   window->stride_w, window->dilation_h,
                            window->dilation_w, filter_h,         filter_w };
  static const char *const names[] = { "vertical stride",   "horizontal stride",
                                       "vertical dilation", "horizontal dilation",
                                       "filter height",     "filter width" };
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    if (limits[i] < 1 || limits[i] > G_MAXINT16)
      return sl_node_error (error, node, SL_ERROR_FORMAT, "%s is %d; expected 1..%d", names[i],
                            limits[i], G_MAXINT16);
  const gint32 pads[] = { window->pad_top, window->pad_bottom, window->pad_left,
                          window->pad_right };
  for (guint i = 0; window->padding == SL_PADDING_EXPLICIT && i < G_N_ELEMENTS (pads); i++)
    if (pads[i] < 0 || pads[i] > G_MAXINT16)
      return sl_node_error (error, node, SL_ERROR_FORMAT, "padding is %d; expected 0..%d", pads[i],
                            G_MAXINT16);
  if (!resolve_axis (window->padding, in_h, filter_h, window->stride_h, window->dilation_h,
                     &window->pad_top, &window->pad_bottom, out_h)
      || !resolve_axis (window->padding, in_w, filter_w, window->stride_w, window->dilation_w,
                        &window->pad_left, &window->pad_right, out_w))
    return sl_node_error (error, node, SL_ERROR_SHAPE, "a %dx%d window does not fit a %dx%d input",
                          filter_h, filter_w, in_h, in_w);
  if ((gdouble) filter_h * filter_w * *out_h * *out_w > MAX_READS)
    return sl_node_error (error, node, SL_ERROR_LIMIT,
                          "a %dx%d window at %dx%d places is over the limit of %d reads a channel",
                          filter_h, filter_w, *out_h, *out_w, MAX_READS);
  return TRUE;
}

gboolean
sl_op_is_layer (SlOpType op)
{
  return op == SL_OP_CONV_2D || op == SL_OP_DEPTHWISE_CONV_2D || op == SL_OP_FULLY_CONNECTED
         || op == SL_OP_TRANSPOSE_CONV;
}

SlActivation
sl_op_clamp (SlOpType op)
{
  static const SlActivation clamps[SL_OP_COUNT] = {
    [SL_OP_RELU] = SL_ACTIVATION_RELU,
    [SL_OP_RELU6] = SL_ACTIVATION_RELU6,
    [SL_OP_RELU_N1_TO_1] = SL_ACTIVATION_RELU_N1_TO_1,
    [SL_OP_RELU_0_TO_1] = SL_ACTIVATION_RELU_0_TO_1,
  };
  return clamps[op];
}

SlActivation *
sl_node_activation (SlNode *node)
{
  switch (node->op) {
    case SL_OP_CONV_2D:
    case SL_OP_DEPTHWISE_CONV_2D:
    case SL_OP_TRANSPOSE_CONV:
    case SL_OP_AVERAGE_POOL_2D:
    case SL_OP_MAX_POOL_2D:
      return &node->params.window.activation;
    case SL_OP_ADD:
    case SL_OP_SUB:
    case SL_OP_MUL:
    case SL_OP_DIV:
      return &node->params.binary.activation;
    case SL_OP_FULLY_CONNECTED:
      return &node->params.fully_connected.activation;
    default:
      return NULL;
  }
}

SlActivation
sl_node_fused_activation (const SlNode *node)
{
  SlNode copy = *node;
  const SlActivation *activation = sl_node_activation (&copy);
  return activation != NULL ? *activation : SL_ACTIVATION_NONE;
}

guint
sl_op_data_at (SlOpType op)
{
  return op == SL_OP_TRANSPOSE_CONV ? 2 : 0;
}

guint
sl_op_bias_at (SlOpType op)
{
  return op == SL_OP_TRANSPOSE_CONV ? 3 : 2;
}

gfloat
sl_node_slope (const SlNode *node)
{
  if (node->op == SL_OP_LEAKY_RELU)
    return node->params.leaky_relu.alpha;
  return node->op == SL_OP_FULLY_CONNECTED ? node->params.fully_connected.slope
                                           : node->params.window.slope;
}

void
sl_node_fuse (SlNode *node, SlActivation activation, gfloat slope)
{
  *sl_node_activation (node) = activation;
  if (activation == SL_ACTIVATION_LEAKY_RELU)
    *(node->op == SL_OP_FULLY_CONNECTED ? &node->params.fully_connected.slope
                                        : &node->params.window.slope) = slope;
}

SlActivation
sl_node_curve (const SlNode *node)
{
  static const SlActivation curves[SL_OP_COUNT] = {
    [SL_OP_LOGISTIC] = SL_ACTIVATION_LOGISTIC,
    [SL_OP_SILU] = SL_ACTIVATION_SILU,
    [SL_OP_HARD_SWISH] = SL_ACTIVATION_HARD_SWISH,
    [SL_OP_GELU] = SL_ACTIVATION_GELU,
    [SL_OP_TANH] = SL_ACTIVATION_TANH,
    [SL_OP_MISH] = SL_ACTIVATION_MISH,
    [SL_OP_LEAKY_RELU] = SL_ACTIVATION_LEAKY_RELU,
  };
  return node->op == SL_OP_GELU && node->params.gelu.approximate ? SL_ACTIVATION_GELU_TANH
                                                                 : curves[node->op];
}
