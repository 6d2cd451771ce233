/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pooling. Averages of codes are rounded half away from zero, as TensorFlow Lite's integer kernels define
 * them; padding is left out of sums and counts.
 */
#include "core/kernels/kernels.h"

typedef struct
{
  gint32 y0, y1, x0, x1; /* the part of the window inside the input */
} Cut;

static Cut
cut_window (const SlWindow *window, const SlTensor *input, gint32 y, gint32 x)
{
  const gint32 top = y * window->stride_h - window->pad_top, left = x * window->stride_w - window->pad_left;
  return (Cut){ MAX (top, 0), MIN (top + window->filter_h, input->dims[1]), MAX (left, 0), MIN (left + window->filter_w, input->dims[2]) };
}

static gfloat
limit (gfloat value, const SlClamp *clamp)
{
  return value < clamp->lo_f ? clamp->lo_f : value > clamp->hi_f ? clamp->hi_f : value;
}

static void
pool_codes (const SlKernelCall *call, const SlClamp *clamp, const Cut *cut, gsize image, gint32 c, gsize at)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0);
  const gint32 count = (cut->y1 - cut->y0) * (cut->x1 - cut->x0);
  gint64 sum = 0;
  gint32 highest = G_MININT32;
  for (gint32 y = cut->y0; y < cut->y1; y++)
    for (gint32 x = cut->x0; x < cut->x1; x++) {
      const gsize from = ((image * (gsize) input->dims[1] + (gsize) y) * (gsize) input->dims[2] + (gsize) x) * (gsize) input->dims[3];
      const gint32 code = sl_load_code (call->inputs[0], input->dtype, from + (gsize) c);
      sum += code;
      highest = MAX (highest, code);
    }
  const gint64 half = sum >= 0 ? count / 2 : -(count / 2);
  const gint32 code = call->node->op == SL_OP_MAX_POOL_2D ? highest : (gint32) ((sum + half) / count);
  sl_store_code (call->outputs[0], input->dtype, at, CLAMP (code, clamp->lo, clamp->hi));
}

static void
pool_floats (const SlKernelCall *call, const SlClamp *clamp, const Cut *cut, gsize image, gint32 c, gsize at)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0);
  const gint32 count = (cut->y1 - cut->y0) * (cut->x1 - cut->x0);
  gfloat sum = 0, highest = -INFINITY;
  for (gint32 y = cut->y0; y < cut->y1; y++)
    for (gint32 x = cut->x0; x < cut->x1; x++) {
      const gsize from = ((image * (gsize) input->dims[1] + (gsize) y) * (gsize) input->dims[2] + (gsize) x) * (gsize) input->dims[3];
      const gfloat value = ((const gfloat *) call->inputs[0])[from + (gsize) c];
      sum += value;
      highest = value > highest ? value : highest;
    }
  const gfloat value = call->node->op == SL_OP_MAX_POOL_2D ? highest : sum / (gfloat) count;
  ((gfloat *) call->outputs[0])[at] = limit (value, clamp);
}

static void
pool (const SlKernelCall *call)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0), *output = sl_node_output (call->graph, call->node, 0);
  const SlWindow *window = &call->node->params.window;
  SlClamp clamp;
  gsize at = 0;
  sl_clamp_for (&clamp, window->activation, output);
  for (gint32 n = 0; n < output->dims[0]; n++)
    for (gint32 y = 0; y < output->dims[1]; y++)
      for (gint32 x = 0; x < output->dims[2]; x++) {
        const Cut cut = cut_window (window, input, y, x);
        for (gint32 c = 0; c < output->dims[3]; c++, at++) {
          if (input->dtype == SL_DTYPE_F32)
            pool_floats (call, &clamp, &cut, (gsize) n, c, at);
          else
            pool_codes (call, &clamp, &cut, (gsize) n, c, at);
        }
      }
}

void
sl_kernel_average_pool_2d (const SlKernelCall *call)
{
  pool (call);
}

void
sl_kernel_max_pool_2d (const SlKernelCall *call)
{
  pool (call);
}
