/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DYNAMIC_QUANTIZE: rounds a float tensor to the 256 codes that its own range divides into, zero among them. Outputs, all float32: each
 * code less the zero point, the scale, the zero point. Infinite numbers saturate; NaN gives the lowest code.
 */
#include <math.h>

#include "core/ops/kernels/parallel.h"
#include "core/ops/kernels/simd/loops.h"
#include "core/ops/ops.h"

#define PART_ELEMENTS 16384
#define CODES 255.0f

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  for (guint i = 0; i < node->n_outputs; i++)
    if (!sl_node_check_dtype (node, "output", sl_node_output (graph, node, i), SL_DTYPE_BIT (SL_DTYPE_F32), error))
      return FALSE;
  return sl_node_check_dtype (node, "input", sl_node_input (graph, node, 0), SL_DTYPE_BIT (SL_DTYPE_F32), error);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  return sl_node_set_shape (graph, node, 0, input->rank, input->dims, error) && sl_node_set_shape (graph, node, 1, 0, NULL, error)
         && sl_node_set_shape (graph, node, 2, 0, NULL, error);
}

static void
round_part (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const gfloat scale = *(const gfloat *) call->outputs[1], zero = *(const gfloat *) call->outputs[2];
  const gfloat *in = (const gfloat *) call->inputs[0] + first, lo = -zero, hi = CODES - zero;
  gfloat *out = (gfloat *) call->outputs[0] + first;
  sl_simd_loops ()->round (in, out, n, scale, lo, hi);
}

static void
run (const SlKernelCall *call)
{
  const gfloat *in = call->inputs[0];
  gfloat lo = 0, hi = 0;
  gsize elements = 0;
  sl_tensor_elements (sl_node_input (call->graph, call->node, 0), &elements);
  sl_simd_loops ()->widen (in, &lo, &hi, elements);
  const gfloat range = (hi - lo) / CODES, scale = range > 0 && isfinite (range) ? range : 1.0f;
  const gfloat zero = rintf (-lo / scale);
  *(gfloat *) call->outputs[1] = scale;
  *(gfloat *) call->outputs[2] = zero > 0 ? (zero < CODES ? zero : CODES) : 0;
  sl_parallel (call, elements, PART_ELEMENTS, round_part, (void *) call);
}

const SlOp sl_op_dynamic_quantize = {
  .type = SL_OP_DYNAMIC_QUANTIZE,
  .name = "DYNAMIC_QUANTIZE",
  .min_inputs = 1,
  .max_inputs = 1,
  .required = 1,
  .n_outputs = 3,
  .check = check,
  .infer = infer,
  .run = run,
};
