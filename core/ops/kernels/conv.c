/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolutions and fully connected layers, plain loops. 8-bit: int32 accumulators of (x - zx)(w -
 * zw) plus the bias, times input scale * weight scale / output scale in single precision, plus what
 * the bias is beside its whole number.
 */
#include <string.h>

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

/* Sums of products of one pixel's input channels, or of a row: of so many output channels at once,
 * and of so many inputs. */
#define CHANNELS 64
#define INPUTS 128

#define LANES 16

/* The compiler has vector instructions for runs of a length that it knows. */
static inline guint32
dot_8bit (const gint16 *x, const void *weights, gint32 n, gboolean is_signed)
{
  const gint8 *w = weights;
  const guint8 *u = weights;
  gint32 sum = 0, i = 0;
  for (; i + LANES <= n; i += LANES)
    for (gint32 lane = 0; lane < LANES; lane++)
      sum += x[i + lane] * (is_signed ? (gint16) w[i + lane] : (gint16) u[i + lane]);
  for (; i < n; i++)
    sum += x[i] * (is_signed ? (gint16) w[i] : (gint16) u[i]);
  return (guint32) sum;
}

/* Adds to @sums of @count channels the products of the same @n inputs, from @x0, and of each
 * channel's weights, from @w0 and @pitch apart. Whole numbers modulo 2^32, so in any order. */
static void
add_products (const SlKernelCall *call, gsize x0, gsize w0, gsize pitch, gint32 n, gint32 count,
              guint32 *sums)
{
  const Conv *conv = call->state;
  const SlDtype dtype = sl_node_input (call->graph, call->node, 0)->dtype;
  gint16 x[INPUTS];
  for (gint32 first = 0; first < n; first += INPUTS) {
    const gint32 some = MIN (n - first, INPUTS);
    const guint8 *w = (const guint8 *) call->inputs[1] + w0 + first;
    gint32 total = 0;
    for (gint32 i = 0; i < some; i++) {
      x[i] = (gint16) (sl_load_8bit (call->inputs[0], dtype, x0 + (gsize) (first + i))
                       - conv->input_zero_point);
      total += x[i];
    }
    const guint32 zero = (guint32) total * (guint32) conv->weight_zero_point;
    for (gint32 c = 0; c < count; c++, w += pitch)
      sums[c] +=
        (dtype == SL_DTYPE_I8 ? dot_8bit (x, w, some, TRUE) : dot_8bit (x, w, some, FALSE)) - zero;
  }
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

/* The same where each channel has an input of its own, and one weight: they lie side by side. */
static void
add_each (const SlKernelCall *call, gsize x0, gsize w0, gint32 count, guint32 *sums)
{
  const Conv *conv = call->state;
  const SlDtype dtype = sl_node_input (call->graph, call->node, 0)->dtype;
  const gint32 x_zero = conv->input_zero_point, w_zero = conv->weight_zero_point;
  for (gint32 c = 0; c < count; c++)
    sums[c] += (guint32) ((sl_load_8bit (call->inputs[0], dtype, x0 + (gsize) c) - x_zero)
                          * (sl_load_8bit (call->inputs[1], dtype, w0 + (gsize) c) - w_zero));
}

/* An output pixel, and channels of its window: @first to @first + @in of the input's, weights from
 * @w0 with @w_pixel between window positions. The next output channel has the input's channels
 * @step further on, and its weights @pitch. */
typedef struct
{
  gsize image;
  gint32 y, x, first, in, step;
  gsize w0, w_pixel, pitch;
} Place;

/* Where window position (fy, fx) has its inputs and weights; FALSE outside of the picture. */
static gboolean
place_at (const SlKernelCall *call, const Place *place, gint32 fy, gint32 fx, gsize *x0, gsize *w0)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *weights = sl_node_input (call->graph, call->node, 1);
  const SlWindow *window = &call->node->params.window;
  const gint32 h = input->dims[1], w = input->dims[2];
  const gint32 iy = place->y * window->stride_h - window->pad_top + fy * window->dilation_h,
               ix = place->x * window->stride_w - window->pad_left + fx * window->dilation_w;
  if (iy < 0 || iy >= h || ix < 0 || ix >= w)
    return FALSE;
  *x0 = ((place->image * (gsize) h + (gsize) iy) * (gsize) w + (gsize) ix) * (gsize) input->dims[3]
        + (gsize) place->first;
  *w0 = place->w0 + (gsize) (fy * weights->dims[2] + fx) * place->w_pixel;
  return TRUE;
}

static gfloat
window_floats (const SlKernelCall *call, const Place *place)
{
  const SlTensor *weights = sl_node_input (call->graph, call->node, 1);
  gfloat sum = 0;
  gsize x0, w0;
  for (gint32 fy = 0; fy < weights->dims[1]; fy++)
    for (gint32 fx = 0; fx < weights->dims[2]; fx++)
      if (place_at (call, place, fy, fx, &x0, &w0))
        sum += sl_dot_floats ((const gfloat *) call->inputs[0] + x0,
                              (const gfloat *) call->inputs[1] + w0, place->in);
  return sum;
}

static void
window_sums (const SlKernelCall *call, const Place *place, gint32 count, guint32 *sums)
{
  const SlTensor *weights = sl_node_input (call->graph, call->node, 1);
  gsize x0, w0;
  memset (sums, 0, (gsize) count * sizeof *sums);
  for (gint32 fy = 0; fy < weights->dims[1]; fy++)
    for (gint32 fx = 0; fx < weights->dims[2]; fx++)
      if (place_at (call, place, fy, fx, &x0, &w0)) {
        if (place->step > 0)
          add_each (call, x0, w0, count, sums);
        else
          add_products (call, x0, w0, place->pitch, place->in, count, sums);
      }
}

/* @count channels from @channel to @at. */
static void
convolve_channels (const SlKernelCall *call, Place *place, gint32 channel, gint32 count, gsize at)
{
  const Conv *conv = call->state;
  guint32 sums[CHANNELS];
  place->w0 = (gsize) channel * place->pitch;
  if (conv->scale != NULL)
    window_sums (call, place, count, sums);
  for (gint32 c = 0; c < count; c++, place->w0 += place->pitch, place->first += place->step)
    store (call, conv, channel + c, at + (gsize) c, conv->scale != NULL ? (gint32) sums[c] : 0,
           conv->scale == NULL ? window_floats (call, place) : 0);
}

static void
convolve (const SlKernelCall *call)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *weights = sl_node_input (call->graph, call->node, 1);
  const SlTensor *output = sl_node_output (call->graph, call->node, 0);
  const gboolean depthwise = call->node->op == SL_OP_DEPTHWISE_CONV_2D;
  const gint32 channels = output->dims[3], in_group = depthwise ? 1 : weights->dims[3],
               out_group = channels / (input->dims[3] / in_group);
  const gsize pixel = (gsize) weights->dims[3],
              filter = (gsize) weights->dims[1] * (gsize) weights->dims[2] * pixel;
  const gboolean each = depthwise && out_group == 1;
  Place place = {
    .in = in_group, .step = each ? 1 : 0, .w_pixel = pixel, .pitch = depthwise ? 1 : filter
  };
  gsize at = 0;
  for (gint32 n = 0; n < output->dims[0]; n++)
    for (place.y = 0; place.y < output->dims[1]; place.y++)
      for (place.x = 0; place.x < output->dims[2]; place.x++, at += (gsize) channels)
        for (gint32 c = 0, count; c < channels; c += count) {
          const gint32 group = c / out_group, end = each ? channels : (group + 1) * out_group;
          count = MIN (CHANNELS, end - c);
          place.image = (gsize) n;
          place.first = group * in_group;
          convolve_channels (call, &place, c, count, at + (gsize) c);
        }
}

/* @count channels from @channel of row @row. */
static void
multiply_channels (const SlKernelCall *call, gsize row, gint32 channel, gint32 count)
{
  const Conv *conv = call->state;
  const SlTensor *weights = sl_node_input (call->graph, call->node, 1);
  const gint32 depth = weights->dims[1];
  const gsize x0 = row * (gsize) depth, channels = (gsize) weights->dims[0];
  guint32 sums[CHANNELS] = { 0 };
  if (conv->scale != NULL)
    add_products (call, x0, (gsize) channel * (gsize) depth, (gsize) depth, depth, count, sums);
  for (gint32 c = channel; c < channel + count; c++) {
    const gfloat sum =
      conv->scale == NULL
        ? sl_dot_floats ((const gfloat *) call->inputs[0] + x0,
                         (const gfloat *) call->inputs[1] + (gsize) c * (gsize) depth, depth)
        : 0;
    store (call, conv, c, row * channels + (gsize) c, (gint32) sums[c - channel], sum);
  }
}

static void
multiply (const SlKernelCall *call)
{
  const SlTensor *weights = sl_node_input (call->graph, call->node, 1);
  const gsize rows =
    sl_tensor_count (sl_node_input (call->graph, call->node, 0)) / (gsize) weights->dims[1];
  for (gsize r = 0; r < rows; r++)
    for (gint32 c = 0; c < weights->dims[0]; c += CHANNELS)
      multiply_channels (call, r, c, MIN (CHANNELS, weights->dims[0] - c));
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
