/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolutions and fully connected layers of int16 activations and int8 weights, plain loops:
 * 64-bit sums of products plus the bias (int32 or int64), times one scale a channel. Both zero
 * points are zero by specification.
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/kernels/parallel.h"

typedef struct
{
  const SlTensor *input, *weights, *output, *bias;
  gdouble *scale; /* per output channel */
  SlClamp clamp;
} Conv16;

void *
sl_kernel_conv16_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  Conv16 *p = sl_arena_alloc (arena, sizeof *p);
  const SlActivation activation = sl_node_fused_activation (node);
  p->input = sl_node_input (graph, node, 0);
  p->weights = sl_node_input (graph, node, 1);
  p->bias = sl_node_input (graph, node, 2);
  p->output = sl_node_output (graph, node, 0);
  sl_clamp_for (&p->clamp, activation, p->output);
  const gint32 channels = p->output->dims[p->output->rank - 1];
  p->scale = sl_arena_alloc (arena, (gsize) channels * sizeof p->scale[0]);
  for (gint32 i = 0; i < channels; i++)
    p->scale[i] = (gdouble) sl_tensor_scale (p->input)
                  * (gdouble) p->weights->quant.scale[p->weights->quant.count > 1 ? i : 0]
                  / (gdouble) sl_tensor_scale (p->output);
  return p;
}

static gint64
dot (const gint16 *x, const gint8 *w, gsize n)
{
  gint64 sum = 0;
  for (gsize i = 0; i < n; i++)
    sum += x[i] * w[i];
  return sum;
}

static void
store (const SlKernelCall *call, const Conv16 *p, gsize channel, gsize at, gint64 sum)
{
  if (p->bias != NULL)
    sum += p->bias->dtype == SL_DTYPE_I64 ? ((const gint64 *) call->inputs[2])[channel]
                                          : ((const gint32 *) call->inputs[2])[channel];
  const gfloat value = (gfloat) ((gdouble) sum * p->scale[channel]);
  ((gint16 *) call->outputs[0])[at] = (gint16) sl_requantize (value, 0, &p->clamp);
}

/* Sum over the window of output pixel (y, x) for channel @c. */
static gint64
window_sum (const SlKernelCall *call, const Conv16 *p, gsize image, gint32 y, gint32 x, gint32 c)
{
  const SlWindow *window = &call->node->params.window;
  const gint32 *in = p->input->dims, *f = p->weights->dims;
  const gboolean depthwise = call->node->op == SL_OP_DEPTHWISE_CONV_2D;
  const gint32 out_group =
    depthwise ? window->depth_multiplier : p->output->dims[3] / (in[3] / f[3]);
  const gint32 first = depthwise ? c / out_group : c / out_group * f[3];
  gint64 sum = 0;
  for (gint32 fy = 0; fy < f[1]; fy++) {
    const gint32 iy = y * window->stride_h - window->pad_top + fy * window->dilation_h;
    for (gint32 fx = 0; fx < f[2] && iy >= 0 && iy < in[1]; fx++) {
      const gint32 ix = x * window->stride_w - window->pad_left + fx * window->dilation_w;
      if (ix < 0 || ix >= in[2])
        continue;
      const gint16 *from =
        (const gint16 *) call->inputs[0]
        + ((image * (gsize) in[1] + (gsize) iy) * (gsize) in[2] + (gsize) ix) * (gsize) in[3]
        + first;
      const gsize place = (gsize) fy * (gsize) f[2] + (gsize) fx;
      const gsize at = depthwise ? place * (gsize) f[3] + (gsize) c
                                 : ((gsize) c * (gsize) f[1] * (gsize) f[2] + place) * (gsize) f[3];
      sum += dot (from, (const gint8 *) call->inputs[1] + at, depthwise ? 1 : (gsize) f[3]);
    }
  }
  return sum;
}

static void
conv_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const Conv16 *p = call->state;
  const gsize h = (gsize) p->output->dims[1], w = (gsize) p->output->dims[2],
              channels = (gsize) p->output->dims[3];
  for (gsize row = first; row < first + n; row++)
    for (gsize x = 0; x < w; x++)
      for (gsize c = 0; c < channels; c++)
        store (call, p, c, (row * w + x) * channels + c,
               window_sum (call, p, row / h, (gint32) (row % h), (gint32) x, (gint32) c));
}

static void
dense_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const Conv16 *p = call->state;
  const gsize depth = (gsize) p->weights->dims[1], channels = (gsize) p->weights->dims[0];
  for (gsize row = first; row < first + n; row++)
    for (gsize c = 0; c < channels; c++)
      store (call, p, c, row * channels + c,
             dot ((const gint16 *) call->inputs[0] + row * depth,
                  (const gint8 *) call->inputs[1] + c * depth, depth));
}

void
sl_kernel_conv16 (const SlKernelCall *call)
{
  const Conv16 *p = call->state;
  const gsize elements = sl_tensor_count (p->output);
  if (call->node->op == SL_OP_FULLY_CONNECTED)
    sl_parallel (call, elements / (gsize) p->weights->dims[0], 1, dense_rows, (void *) call);
  else
    sl_parallel (call, (gsize) p->output->dims[0] * (gsize) p->output->dims[1], 1, conv_rows,
                 (void *) call);
}
