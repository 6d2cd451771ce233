/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TRANSPOSE_CONV: each output pixel gathers the input pixels whose windows cover it. Quantised
 * values: int32 sums times input scale * weight scale / output scale in single precision; of int16
 * data 64-bit sums, in double precision.
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"
#include "core/ops/kernels/parallel.h"

typedef struct
{
  const SlTensor *weights, *input, *output, *bias;
  gfloat *scale; /* per output channel; NULL for float */
  gdouble *int16_scale;
  gint32 input_zero, weight_zero;
  SlClamp clamp;
} Deconv;

void *
sl_kernel_transpose_conv_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  Deconv *p = sl_arena_alloc (arena, sizeof *p);
  p->weights = sl_node_input (graph, node, 1);
  p->input = sl_node_input (graph, node, 2);
  p->output = sl_node_output (graph, node, 0);
  p->bias = sl_node_input (graph, node, 3);
  sl_clamp_for (&p->clamp, node->params.window.activation, p->output);
  if (p->input->dtype == SL_DTYPE_F32)
    return p;
  p->scale = sl_arena_alloc (arena, (gsize) p->output->dims[3] * sizeof p->scale[0]);
  p->int16_scale = sl_arena_alloc (arena, (gsize) p->output->dims[3] * sizeof p->int16_scale[0]);
  for (gint32 i = 0; i < p->output->dims[3]; i++) {
    const gfloat weight = p->weights->quant.scale[p->weights->quant.count > 1 ? i : 0];
    p->int16_scale[i] = (gdouble) sl_tensor_scale (p->input) * (gdouble) weight
                        / (gdouble) sl_tensor_scale (p->output);
    p->scale[i] = sl_node_sum_scale (graph, node, 2, i);
  }
  p->input_zero = sl_tensor_zero_point (p->input);
  p->weight_zero = p->weights->quant.count > 1 ? 0 : sl_tensor_zero_point (p->weights);
  return p;
}

static gint64
dot_quantised (const Deconv *p, const void *x, gsize x0, const void *w, gsize w0, gint32 n)
{
  gint64 sum = 0;
  for (gint32 i = 0; i < n; i++)
    sum += ((sl_load_16bit (x, p->input->dtype, x0 + (gsize) i) - p->input_zero)
            * (sl_load_8bit (w, p->weights->dtype, w0 + (gsize) i) - p->weight_zero));
  return sum;
}

static void
store (const SlKernelCall *call, const Deconv *p, gint32 channel, gsize at, gfloat real,
       gint64 whole)
{
  const void *bias = call->inputs[3];
  if (p->scale == NULL) {
    const gfloat value = real + (bias != NULL ? ((const gfloat *) bias)[channel] : 0.0f);
    ((gfloat *) call->outputs[0])[at] = value < p->clamp.lo_f   ? p->clamp.lo_f
                                        : value > p->clamp.hi_f ? p->clamp.hi_f
                                                                : value;
    return;
  }
  if (bias != NULL)
    whole += p->bias->dtype == SL_DTYPE_I64 ? ((const gint64 *) bias)[channel]
                                            : ((const gint32 *) bias)[channel];
  if (p->input->dtype == SL_DTYPE_I16) {
    sl_store_16bit (call->outputs[0], SL_DTYPE_I16, at,
                    sl_requantize ((gfloat) ((gdouble) whole * p->int16_scale[channel]),
                                   sl_tensor_zero_point (p->output), &p->clamp));
    return;
  }
  sl_store_8bit (call->outputs[0], p->output->dtype, at,
                 sl_requantize ((gfloat) (gint32) whole * p->scale[channel],
                                sl_tensor_zero_point (p->output), &p->clamp));
}

/* The input row or column that window position @f of an output at @at belongs to, -1 = none. */
static gint32
source (gint32 at, gint32 before, gint32 f, gint32 stride, gint32 size)
{
  const gint32 distance = at + before - f;
  return distance >= 0 && distance % stride == 0 && distance / stride < size ? distance / stride
                                                                             : -1;
}

static void
one_pixel (const SlKernelCall *call, const Deconv *p, gsize image, gint32 y, gint32 x, gsize at)
{
  const SlWindow *window = &call->node->params.window;
  const gint32 fh = p->weights->dims[1], fw = p->weights->dims[2], depth = p->input->dims[3];
  for (gint32 c = 0; c < p->output->dims[3]; c++) {
    gfloat real = 0;
    gint64 whole = 0;
    for (gint32 fy = 0; fy < fh; fy++) {
      const gint32 iy = source (y, window->pad_top, fy, window->stride_h, p->input->dims[1]);
      for (gint32 fx = 0; fx < fw && iy >= 0; fx++) {
        const gint32 ix = source (x, window->pad_left, fx, window->stride_w, p->input->dims[2]);
        if (ix < 0)
          continue;
        const gsize x0 =
          ((image * (gsize) p->input->dims[1] + (gsize) iy) * (gsize) p->input->dims[2]
           + (gsize) ix)
          * (gsize) depth;
        const gsize w0 =
          (((gsize) c * (gsize) fh + (gsize) fy) * (gsize) fw + (gsize) fx) * (gsize) depth;
        if (p->scale == NULL)
          real += sl_dot_floats ((const gfloat *) call->inputs[2] + x0,
                                 (const gfloat *) call->inputs[1] + w0, depth);
        else
          whole += dot_quantised (p, call->inputs[2], x0, call->inputs[1], w0, depth);
      }
    }
    store (call, p, c, at + (gsize) c, real, whole);
  }
}

static void
some_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const Deconv *p = call->state;
  const gsize h = (gsize) p->output->dims[1], w = (gsize) p->output->dims[2],
              channels = (gsize) p->output->dims[3];
  for (gsize row = first; row < first + n; row++)
    for (gsize x = 0; x < w; x++)
      one_pixel (call, p, row / h, (gint32) (row % h), (gint32) x, (row * w + x) * channels);
}

void
sl_kernel_transpose_conv (const SlKernelCall *call)
{
  const Deconv *p = call->state;
  sl_parallel (call, (gsize) p->output->dims[0] * (gsize) p->output->dims[1], 1, some_rows,
               (void *) call);
}
