/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * NORMALIZE of floats, which a pass makes: rows of the last dimension, less their mean or not, by
 * the root of their mean square and epsilon, then by channel times the second input, plus the third
 * one. Either may be missing. The plain kernel sums in double precision.
 */
#include <math.h>

#include "core/ops/kernels/parallel.h"
#include "core/ops/ops.h"

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  static const char *const names[] = { "input", "scale", "shift" };
  const guint32 f32 = SL_DTYPE_BIT (SL_DTYPE_F32);
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlTensor *input = sl_node_input (graph, node, i);
    if (input != NULL && !sl_node_check_dtype (node, names[i], input, f32, error))
      return FALSE;
  }
  return sl_node_check_outputs (graph, node, f32, error);
}

static void
row (const SlNode *node, const gfloat *x, const gfloat *scale, const gfloat *shift, gfloat *y,
     gsize n)
{
  gdouble mean = 0, squares = 0;
  for (gsize i = 0; node->params.normalize.centered && i < n; i++)
    mean += (gdouble) x[i] / (gdouble) n;
  for (gsize i = 0; i < n; i++)
    squares += ((gdouble) x[i] - mean) * ((gdouble) x[i] - mean);
  const gdouble by = 1 / sqrt (squares / (gdouble) n + (gdouble) node->params.normalize.epsilon);
  for (gsize i = 0; i < n; i++)
    y[i] = (gfloat) (((gdouble) x[i] - mean) * by) * (scale != NULL ? scale[i] : 1)
           + (shift != NULL ? shift[i] : 0);
}

static void
some_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const SlTensor *output = sl_node_output (call->graph, call->node, 0);
  const gsize width = (gsize) output->dims[output->rank - 1];
  for (gsize r = first; r < first + n; r++)
    row (call->node, (const gfloat *) call->inputs[0] + r * width, call->inputs[1], call->inputs[2],
         (gfloat *) call->outputs[0] + r * width, width);
}

static void
run (const SlKernelCall *call)
{
  const SlTensor *output = sl_node_output (call->graph, call->node, 0);
  sl_parallel (call, sl_tensor_count (output) / (gsize) output->dims[output->rank - 1], 1,
               some_rows, (void *) call);
}

const SlOp sl_op_normalize = { SL_OP_NAMED_ROW (NORMALIZE, "NORMALIZE", 1, 3, 1, check,
                                                sl_node_same_shape_infer, NULL, run),
                               .in_place = TRUE };
