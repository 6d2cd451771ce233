/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MEAN: one sweep over the input, adding into 64-bit sums (codes) or doubles (floats) of the outputs. */
#include <string.h>

#include "core/kernels/kernels.h"

typedef union
{
  gint64 codes;
  gdouble reals;
} Sum;

typedef struct
{
  Sum *sums;
  gsize n_sums;
  gsize count;               /* inputs averaged into each output */
  gsize stride[SL_MAX_RANK]; /* output step for a step along each input dimension; 0 = averaged */
} Mean;

void *
sl_kernel_mean_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  Mean *mean = sl_arena_alloc (arena, sizeof *mean);
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 axes[SL_MAX_RANK];
  guint n_axes = 0, reduced = 0;
  gsize step = 1;
  sl_constant_ints (sl_node_input (graph, node, 1), axes, SL_MAX_RANK, &n_axes);
  for (guint i = 0; i < n_axes; i++)
    reduced |= 1u << (axes[i] < 0 ? axes[i] + (gint32) input->rank : axes[i]);
  mean->count = 1;
  for (guint i = input->rank; i-- > 0;) {
    if (reduced & (1u << i)) {
      mean->count *= (gsize) input->dims[i];
      continue;
    }
    mean->stride[i] = step;
    step *= (gsize) input->dims[i];
  }
  mean->n_sums = step;
  mean->sums = sl_arena_alloc (arena, step * sizeof mean->sums[0]);
  return mean;
}

static void
add_all (const SlKernelCall *call, Mean *mean)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0);
  gint32 position[SL_MAX_RANK] = { 0 };
  gsize elements = 0, at = 0;
  sl_tensor_elements (input, &elements);
  for (gsize i = 0; i < elements; i++) {
    if (input->dtype == SL_DTYPE_F32)
      mean->sums[at].reals += (gdouble) ((const gfloat *) call->inputs[0])[i];
    else
      mean->sums[at].codes += sl_load_code (call->inputs[0], input->dtype, i);
    for (guint k = input->rank; k-- > 0;) {
      at += mean->stride[k];
      if (++position[k] < input->dims[k])
        break;
      at -= mean->stride[k] * (gsize) input->dims[k];
      position[k] = 0;
    }
  }
}

void
sl_kernel_mean (const SlKernelCall *call)
{
  Mean *mean = call->state;
  const SlTensor *input = sl_node_input (call->graph, call->node, 0), *output = sl_node_output (call->graph, call->node, 0);
  memset (mean->sums, 0, mean->n_sums * sizeof mean->sums[0]);
  add_all (call, mean);
  if (input->dtype == SL_DTYPE_F32) {
    for (gsize i = 0; i < mean->n_sums; i++)
      ((gfloat *) call->outputs[0])[i] = (gfloat) (mean->sums[i].reals / (gdouble) mean->count);
    return;
  }
  SlClamp clamp;
  sl_clamp_for (&clamp, SL_ACTIVATION_NONE, output);
  const gfloat scale = sl_tensor_scale (input) / (sl_tensor_scale (output) * (gfloat) mean->count);
  const gint64 zeros = (gint64) sl_tensor_zero_point (input) * (gint64) mean->count;
  for (gsize i = 0; i < mean->n_sums; i++)
    sl_store_code (call->outputs[0], output->dtype, i,
                   sl_requantize ((gfloat) (mean->sums[i].codes - zeros) * scale, sl_tensor_zero_point (output), &clamp));
}
