/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolutions and fully connected layers, plain loops. 8-bit: int32 accumulators of (x - zx)(w -
 * zw) plus the bias, times input scale * weight scale / output scale in single precision, plus what
 * the bias is beside its whole number.
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/kernels/row_codes.h"
#include "core/ops/ops.h"

typedef struct
{
  gfloat *scale;      /* per output channel; NULL for float */
  const gfloat *rest; /* (nullable): per output channel */
  gint32 input_zero_point, weight_zero_point, output_zero_point;
  SlClamp clamp;
  SlActivation activation;
} Conv;

/* Output channels are dimension 0 of the weights, 3 of depthwise ones: the last dimension of the
 * output either way. */
void *
sl_kernel_conv_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  if (sl_node_input (graph, node, 0)->dtype == SL_DTYPE_I16)
    return sl_kernel_conv16_prepare (graph, node, arena);
  Conv *conv = sl_arena_alloc (arena, sizeof *conv);
  const SlTensor *input = sl_node_input (graph, node, 0), *weights = sl_node_input (graph, node, 1);
  const SlTensor *output = sl_node_output (graph, node, 0);
  const SlActivation activation = sl_node_fused_activation (node);
  sl_clamp_for (&conv->clamp, activation, output);
  conv->activation = activation;
  if (input->dtype == SL_DTYPE_F32)
    return conv;
  const gint32 channels = output->dims[output->rank - 1];
  conv->rest = sl_node_bias_rest (node);
  conv->scale = sl_arena_alloc (arena, (gsize) channels * sizeof conv->scale[0]);
  for (gint32 i = 0; i < channels; i++)
    conv->scale[i] = sl_node_sum_scale (graph, node, 0, i);
  conv->input_zero_point = sl_tensor_zero_point (input);
  conv->weight_zero_point = weights->quant.count > 1 ? 0 : sl_tensor_zero_point (weights);
  conv->output_zero_point = sl_tensor_zero_point (output);
  return conv;
}

/* One output value: @n products of a run of inputs and a run of weights. */
static gint32
dot_quantised (const void *x, gsize x0, const void *w, gsize w0, gint32 n, SlDtype dtype,
               const Conv *conv)
{
  guint32 sum = 0;
  for (gint32 i = 0; i < n; i++)
    sum += (guint32) ((sl_load_8bit (x, dtype, x0 + (gsize) i) - conv->input_zero_point)
                      * (sl_load_8bit (w, dtype, w0 + (gsize) i) - conv->weight_zero_point));
  return (gint32) sum;
}

static void
store (const SlKernelCall *call, const Conv *conv, gint32 channel, gsize at, gint32 acc,
       gfloat acc_f)
{
  const SlTensor *output = sl_node_output (call->graph, call->node, 0);
  if (conv->scale == NULL) {
    const gfloat value =
      acc_f + (call->inputs[2] != NULL ? ((const gfloat *) call->inputs[2])[channel] : 0.0f);
    gfloat *to = (gfloat *) call->outputs[0] + at;
    *to = value < conv->clamp.lo_f   ? conv->clamp.lo_f
          : value > conv->clamp.hi_f ? conv->clamp.hi_f
                                     : value;
    sl_activate_float (conv->activation, sl_node_slope (call->node), to);
    return;
  }
  const guint32 bias =
    call->inputs[2] != NULL ? (guint32) ((const gint32 *) call->inputs[2])[channel] : 0;
  const gfloat value = (gfloat) (gint32) ((guint32) acc + bias) * conv->scale[channel]
                       + (conv->rest != NULL ? conv->rest[channel] : 0.0f);
  sl_store_8bit (call->outputs[0], output->dtype, at,
                 sl_requantize (value, conv->output_zero_point, &conv->clamp));
}

/* Window sum at output (y, x) of channel @out: @n input channels from @first, weights at @w0 with
 * @w_pixel between window positions. */
static void
window_sum (const SlKernelCall *call, const Conv *conv, gsize image, gint32 y, gint32 x,
            gint32 first, gint32 n, gsize w0, gsize w_pixel, gint32 *acc, gfloat *acc_f)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *weights = sl_node_input (call->graph, call->node, 1);
  const SlWindow *window = &call->node->params.window;
  const gint32 h = input->dims[1], w = input->dims[2], channels = input->dims[3];
  guint32 sum = 0;
  gfloat sum_f = 0;
  for (gint32 fy = 0; fy < weights->dims[1]; fy++) {
    const gint32 iy = y * window->stride_h - window->pad_top + fy * window->dilation_h;
    for (gint32 fx = 0; fx < weights->dims[2]; fx++) {
      const gint32 ix = x * window->stride_w - window->pad_left + fx * window->dilation_w;
      if (iy < 0 || iy >= h || ix < 0 || ix >= w)
        continue;
      const gsize x0 =
        ((image * (gsize) h + (gsize) iy) * (gsize) w + (gsize) ix) * (gsize) channels
        + (gsize) first;
      const gsize at = w0 + (gsize) (fy * weights->dims[2] + fx) * w_pixel;
      if (conv->scale == NULL)
        sum_f += sl_dot_floats ((const gfloat *) call->inputs[0] + x0,
                                (const gfloat *) call->inputs[1] + at, n);
      else
        sum +=
          (guint32) dot_quantised (call->inputs[0], x0, call->inputs[1], at, n, input->dtype, conv);
    }
  }
  *acc = (gint32) sum;
  *acc_f = sum_f;
}

static void
convolve (const SlKernelCall *call)
{
  const Conv *conv = call->state;
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *weights = sl_node_input (call->graph, call->node, 1);
  const SlTensor *output = sl_node_output (call->graph, call->node, 0);
  const gboolean depthwise = call->node->op == SL_OP_DEPTHWISE_CONV_2D;
  const gint32 channels = output->dims[3], in_group = depthwise ? 1 : weights->dims[3],
               out_group = channels / (input->dims[3] / in_group);
  const gsize pixel = (gsize) weights->dims[3],
              filter = (gsize) weights->dims[1] * (gsize) weights->dims[2] * pixel;
  gsize at = 0;
  for (gint32 n = 0; n < output->dims[0]; n++)
    for (gint32 y = 0; y < output->dims[1]; y++)
      for (gint32 x = 0; x < output->dims[2]; x++)
        for (gint32 c = 0; c < channels; c++, at++) {
          gint32 acc;
          gfloat acc_f;
          window_sum (call, conv, (gsize) n, y, x, c / out_group * in_group, in_group,
                      (gsize) c * (depthwise ? 1 : filter), pixel, &acc, &acc_f);
          store (call, conv, c, at, acc, acc_f);
        }
}

static void
multiply (const SlKernelCall *call)
{
  const Conv *conv = call->state;
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *weights = sl_node_input (call->graph, call->node, 1);
  const gint32 depth = weights->dims[1], channels = weights->dims[0];
  const gsize elements = sl_tensor_count (input);
  const gsize rows = elements / (gsize) depth;
  for (gsize r = 0; r < rows; r++)
    for (gint32 c = 0; c < channels; c++) {
      const gsize x0 = r * (gsize) depth, w0 = (gsize) c * (gsize) depth;
      gint32 acc = 0;
      gfloat acc_f = 0;
      if (conv->scale == NULL)
        acc_f = sl_dot_floats ((const gfloat *) call->inputs[0] + x0,
                               (const gfloat *) call->inputs[1] + w0, depth);
      else
        acc = dot_quantised (call->inputs[0], x0, call->inputs[1], w0, depth, input->dtype, conv);
      store (call, conv, c, r * (gsize) channels + (gsize) c, acc, acc_f);
    }
}

/* A row of floats rounded to 8 bits by its own range, times weights of 8 bits. */
static void
multiply_dynamic (const SlKernelCall *call)
{
  const Conv *conv = call->state;
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *weights = sl_node_input (call->graph, call->node, 1);
  const gsize depth = (gsize) weights->dims[1], channels = (gsize) weights->dims[0],
              rows = sl_tensor_count (input) / depth;
  for (gsize r = 0; r < rows; r++) {
    const gfloat *row = (const gfloat *) call->inputs[0] + r * depth;
    gfloat least = 0, most = 0, total = 0;
    for (gsize i = 0; i < depth; i++) {
      least = MIN (least, row[i]);
      most = MAX (most, row[i]);
      total += row[i] * 0; /* NaN unless it is finite */
    }
    const gfloat poison = (most - least) * 0 + total;
    const SlRowCodes as =
      sl_row_codes (least, most, G_MAXUINT8, call->node->params.fully_connected.whole);
    for (gsize c = 0; c < channels; c++) {
      const gsize channel = weights->quant.count > 1 ? c : 0;
      const gint32 zero = weights->quant.zero_point[channel];
      gint64 sum = 0;
      for (gsize i = 0; poison == 0 && i < depth; i++)
        sum += (gint64) rintf (row[i] * as.inverse)
               * (sl_load_8bit (call->inputs[1], weights->dtype, c * depth + i) - zero);
      const gfloat scale = weights->quant.scale[channel];
      store (call, conv, (gint32) c, r * channels + c, 0, (gfloat) sum * scale * as.scale + poison);
    }
  }
}

void
sl_kernel_conv (const SlKernelCall *call)
{
  if (call->node->op == SL_OP_FULLY_CONNECTED && call->node->params.fully_connected.dynamic)
    multiply_dynamic (call);
  else if (sl_node_input (call->graph, call->node, 0)->dtype == SL_DTYPE_I16)
    sl_kernel_conv16 (call);
  else if (call->node->op == SL_OP_FULLY_CONNECTED)
    multiply (call);
  else
    convolve (call);
}
