/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SOFTMAX, LOG_SOFTMAX and L2_NORMALIZATION over the last dimension. For 8-bit inputs exp() of
 * every possible distance from the row's maximum is tabled when the session is made; results are
 * rounded half up, the arithmetic of TensorFlow Lite's kernel.
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/kernels/parallel.h"
#include "core/ops/kernels/simd/loops.h"

#define PART_ELEMENTS 8192

typedef struct
{
  SlSoftmax simd;
  gfloat exp[256]; /* exp (-beta * scale * (maximum - x)), by maximum - x */
} State;

void *
sl_kernel_softmax_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  const SlTensor *output = sl_node_output (graph, node, 0);
  State *state = sl_arena_alloc (arena, sizeof *state);
  const gfloat scale = -sl_tensor_scale (input) * node->params.softmax.beta;
  for (gint i = 0; i < 256; i++)
    state->exp[i] = expf (scale * (gfloat) i);
  state->simd.n = (gsize) input->dims[input->rank - 1];
  state->simd.flip = input->dtype == SL_DTYPE_I8 ? 0x80 : 0;
  state->simd.exp = state->exp;
  state->simd.scale = sl_tensor_scale (output);
  state->simd.zero_point = sl_tensor_zero_point (output) + state->simd.flip;
  return state;
}

static void
row_log_floats (const gfloat *in, gfloat *out, gint32 n)
{
  gfloat highest = -INFINITY;
  gdouble sum = 0;
  for (gint32 i = 0; i < n; i++)
    highest = in[i] > highest ? in[i] : highest;
  for (gint32 i = 0; i < n; i++)
    sum += (gdouble) expf (in[i] - highest);
  const gfloat rest = highest + (gfloat) log (sum);
  for (gint32 i = 0; i < n; i++)
    out[i] = in[i] - rest;
}

static void
row_l2_floats (const gfloat *in, gfloat *out, gint32 n)
{
  gfloat sum = 0;
  for (gint32 i = 0; i < n; i++)
    sum += in[i] * in[i];
  const gfloat inverse = 1.0f / sqrtf (MAX (sum, 1e-12f));
  for (gint32 i = 0; i < n; i++)
    out[i] = in[i] * inverse;
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

/* SOFTMAX of int16. */
static void
row_int16 (const SlKernelCall *call, gsize first, gint32 n)
{
  const SlTensor *output = sl_node_output (call->graph, call->node, 0);
  const gint16 *in = (const gint16 *) call->inputs[0] + first;
  const gdouble scale = (gdouble) sl_tensor_scale (sl_node_input (call->graph, call->node, 0))
                        * (gdouble) call->node->params.softmax.beta;
  gint16 highest = G_MININT16;
  gdouble sum = 0;
  SlClamp clamp;
  sl_clamp_for (&clamp, SL_ACTIVATION_NONE, output);
  for (gint32 i = 0; i < n; i++)
    highest = MAX (highest, in[i]);
  for (gint32 i = 0; i < n; i++)
    sum += exp (scale * (in[i] - highest));
  for (gint32 i = 0; i < n; i++) {
    const gdouble value =
      exp (scale * (in[i] - highest)) / sum / (gdouble) sl_tensor_scale (output);
    sl_store_16bit (call->outputs[0], SL_DTYPE_I16, first + (gsize) i,
                    sl_requantize ((gfloat) value, sl_tensor_zero_point (output), &clamp));
  }
}

/* LOG_SOFTMAX and L2_NORMALIZATION of quantised values, from double sums. */
static void
quantised_row_as_real (const SlKernelCall *call, gsize first, gint32 n)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *output = sl_node_output (call->graph, call->node, 0);
  const gboolean logs = call->node->op == SL_OP_LOG_SOFTMAX;
  const gfloat scale = sl_tensor_scale (input), inverse = 1.0f / sl_tensor_scale (output);
  const gint32 zero = sl_tensor_zero_point (input);
  gint32 highest = G_MININT32;
  gdouble sum = 0;
  SlClamp clamp;
  sl_clamp_for (&clamp, SL_ACTIVATION_NONE, output);
  for (gint32 i = 0; i < n; i++)
    highest = MAX (highest, sl_load_8bit (call->inputs[0], input->dtype, first + (gsize) i));
  for (gint32 i = 0; i < n; i++) {
    const gint32 quantised = sl_load_8bit (call->inputs[0], input->dtype, first + (gsize) i);
    sum += logs ? exp ((gdouble) scale * (quantised - highest))
                : (gdouble) (quantised - zero) * (quantised - zero);
  }
  const gfloat rest = logs ? (gfloat) log (sum) : (gfloat) (1.0 / sqrt (MAX (sum, 1e-6)));
  for (gint32 i = 0; i < n; i++) {
    const gint32 quantised = sl_load_8bit (call->inputs[0], input->dtype, first + (gsize) i);
    const gfloat value =
      logs ? (gfloat) (quantised - highest) * scale - rest : (gfloat) (quantised - zero) * rest;
    sl_store_8bit (call->outputs[0], output->dtype, first + (gsize) i,
                   sl_requantize (value * inverse, sl_tensor_zero_point (output), &clamp));
  }
}

typedef struct
{
  const SlKernelCall *call;
  gint32 n; /* elements in a row */
} Rows;

static void
run_rows (void *data, gsize first, gsize n_rows)
{
  const Rows *rows = data;
  const SlKernelCall *call = rows->call;
  const SlDtype dtype = sl_node_input (call->graph, call->node, 0)->dtype;
  const gboolean floats = dtype == SL_DTYPE_F32;
  if (call->node->op == SL_OP_SOFTMAX && (dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I8)) {
    const gsize at = first * (gsize) rows->n;
    const State *state = call->state;
    sl_simd_loops ()->softmax (&state->simd, (const guint8 *) call->inputs[0] + at,
                               (guint8 *) call->outputs[0] + at, n_rows);
    return;
  }
  for (gsize r = first; r < first + n_rows; r++) {
    const gsize at = r * (gsize) rows->n;
    if (call->node->op == SL_OP_SOFTMAX && floats)
      row_floats (call, at, rows->n);
    else if (call->node->op == SL_OP_SOFTMAX)
      row_int16 (call, at, rows->n);
    else if (!floats)
      quantised_row_as_real (call, at, rows->n);
    else if (call->node->op == SL_OP_LOG_SOFTMAX)
      row_log_floats ((const gfloat *) call->inputs[0] + at, (gfloat *) call->outputs[0] + at,
                      rows->n);
    else
      row_l2_floats ((const gfloat *) call->inputs[0] + at, (gfloat *) call->outputs[0] + at,
                     rows->n);
  }
}

void
sl_kernel_softmax (const SlKernelCall *call)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0);
  Rows rows = { call, input->dims[input->rank - 1] };
  const gsize elements = sl_tensor_count (input);
  sl_parallel (call, elements / (gsize) rows.n, PART_ELEMENTS / (gsize) rows.n + 1, run_rows,
               &rows);
}
