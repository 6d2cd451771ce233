/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SOFTMAX over the last dimension. For 8-bit inputs exp() of every possible distance from the row's maximum is
 * tabled when the session is made; results are rounded half up, the arithmetic of TensorFlow Lite's kernel.
 */
#include "core/kernels/kernels.h"

typedef struct
{
  gfloat exp[256]; /* exp (-beta * scale * (maximum - code)), by maximum - code */
} Table;

void *
sl_kernel_softmax_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  Table *table = sl_arena_alloc (arena, sizeof *table);
  const gfloat scale = -sl_tensor_scale (input) * node->params.softmax.beta;
  for (gint i = 0; i < 256; i++)
    table->exp[i] = expf (scale * (gfloat) i);
  return table;
}

static void
row_codes (const SlKernelCall *call, gsize first, gint32 n)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0), *output = sl_node_output (call->graph, call->node, 0);
  const Table *table = call->state;
  const SlDtype dtype = input->dtype;
  gint32 highest = G_MININT32, lo = 0, hi = 0;
  gfloat sum = 0;
  sl_dtype_code_range (dtype, &lo, &hi);
  for (gint32 i = 0; i < n; i++)
    highest = MAX (highest, sl_load_code (call->inputs[0], dtype, first + (gsize) i));
  for (gint32 i = 0; i < n; i++)
    sum += table->exp[highest - sl_load_code (call->inputs[0], dtype, first + (gsize) i)];
  const gfloat inverse = 1.0f / (sum * sl_tensor_scale (output));
  for (gint32 i = 0; i < n; i++) {
    const gfloat value = table->exp[highest - sl_load_code (call->inputs[0], dtype, first + (gsize) i)] * inverse + 0.5f;
    const gint32 code = (value < 65536.0f ? (gint32) value : 65536) + sl_tensor_zero_point (output);
    sl_store_code (call->outputs[0], dtype, first + (gsize) i, CLAMP (code, lo, hi));
  }
}

static void
row_floats (const SlKernelCall *call, gsize first, gint32 n)
{
  const gfloat *in = (const gfloat *) call->inputs[0] + first;
  gfloat *out = (gfloat *) call->outputs[0] + first;
  const gfloat beta = call->node->params.softmax.beta;
  gfloat highest = -INFINITY, sum = 0;
  for (gint32 i = 0; i < n; i++)
    highest = in[i] > highest ? in[i] : highest;
  for (gint32 i = 0; i < n; i++) {
    out[i] = expf ((in[i] - highest) * beta);
    sum += out[i];
  }
  for (gint32 i = 0; i < n; i++)
    out[i] /= sum;
}

void
sl_kernel_softmax (const SlKernelCall *call)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0);
  const gint32 n = input->dims[input->rank - 1];
  gsize elements = 0;
  sl_tensor_elements (input, &elements);
  for (gsize first = 0; first < elements; first += (gsize) n) {
    if (input->dtype == SL_DTYPE_F32)
      row_floats (call, first, n);
    else
      row_codes (call, first, n);
  }
}
