/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RESAMPLE along one dimension: element i is the sum of the elements that row i of a table names,
 * by that row's weights. Inputs: the tensor, the places and the weights, both constants of
 * [elements, taps].
 */
#include <string.h>

#include "core/ops/kernels/parallel.h"
#include "core/ops/ops.h"

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *places = sl_node_input (graph, node, 1),
                 *weights = sl_node_input (graph, node, 2);
  if (!sl_node_check_dtype (node, "input", input, SL_DTYPE_BIT (SL_DTYPE_F32), error)
      || !sl_node_check_same_dtype (node, input, sl_node_output (graph, node, 0), error)
      || !sl_node_check_dtype (node, "places", places, SL_DTYPE_BIT (SL_DTYPE_I32), error)
      || !sl_node_check_dtype (node, "weights", weights, SL_DTYPE_BIT (SL_DTYPE_F32), error)
      || !sl_node_axis (node, &node->params.axis.axis, input->rank, error))
    return FALSE;
  if (places->data == NULL || weights->data == NULL || places->rank != 2
      || !sl_tensor_same_shape (places, weights)) {
    g_autofree char *text_a = sl_tensor_describe (places), *text_b = sl_tensor_describe (weights);
    return sl_node_error (
      error, node, SL_ERROR_SHAPE,
      "places %s and weights %s must be constants of one shape and 2 dimensions", text_a, text_b);
  }
  const gint32 dim = input->dims[node->params.axis.axis], *place = places->data;
  for (gsize i = 0; i < places->bytes / sizeof place[0]; i++)
    if (place[i] < 0 || place[i] >= dim)
      return sl_node_error (error, node, SL_ERROR_FORMAT, "place %d is outside 0..%d", place[i],
                            dim - 1);
  return TRUE;
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 dims[SL_MAX_RANK];
  memcpy (dims, input->dims, sizeof dims);
  dims[node->params.axis.axis] = sl_node_input (graph, node, 1)->dims[0];
  return sl_node_set_shape (graph, node, 0, input->rank, dims, error);
}

/* One element of the dimension at a time: @inner numbers in a row. */
static void
some_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *places = sl_node_input (call->graph, call->node, 1);
  const guint axis = (guint) call->node->params.axis.axis;
  const gsize out = (gsize) places->dims[0], taps = (gsize) places->dims[1],
              in = (gsize) input->dims[axis], inner = sl_tensor_span (input, axis + 1, input->rank);
  for (gsize row = first; row < first + n; row++) {
    const gint32 *place = (const gint32 *) call->inputs[1] + row % out * taps;
    const gfloat *weight = (const gfloat *) call->inputs[2] + row % out * taps;
    const gfloat *from = (const gfloat *) call->inputs[0] + row / out * in * inner;
    gfloat *to = (gfloat *) call->outputs[0] + row * inner;
    memset (to, 0, inner * sizeof to[0]);
    for (gsize k = 0; k < taps; k++) {
      const gfloat *x = from + (gsize) place[k] * inner, w = weight[k];
      if (w == 0)
        continue;
      for (gsize i = 0; i < inner; i++)
        to[i] += w * x[i];
    }
  }
}

static void
run (const SlKernelCall *call)
{
  const SlTensor *output = sl_node_output (call->graph, call->node, 0);
  sl_parallel (call, sl_tensor_span (output, 0, (guint) call->node->params.axis.axis + 1), 1,
               some_rows, (void *) call);
}

const SlOp sl_op_resample = { SL_OP_ROW (RESAMPLE, 3, 3, 1, check, infer, NULL, run) };
