/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What several nodes move becomes one STRIDED_SLICE if it is one: TRANSPOSE to the other layout,
 * RESHAPE, GATHER and TRANSPOSE back take every second channel of a pixel, as ShuffleNet's channel
 * shuffle is exported. The nodes between stay if others read their results.
 */
#include "core/ops/ops.h"
#include "core/passes/moved_view.h"

/** A slice by dimension, as STRIDED_SLICE states it. */
typedef struct
{
  gint32 begins[SL_MAX_RANK], ends[SL_MAX_RANK], strides[SL_MAX_RANK];
} Slice;

/* Whether @view of a tensor of @source's shape is a slice of it with dimensions in their order. */
static gboolean
as_slice (const SlStrided *view, const SlTensor *source, Slice *slice)
{
  gint64 apart = 1;
  if (view->rank != source->rank)
    return FALSE;
  for (guint i = source->rank; i-- > 0; apart *= source->dims[i]) {
    const gint64 begin = view->offset / apart % source->dims[i];
    gint64 step = apart;
    if (view->dims[i] > 1 && !sl_strided_step (view, i, &step))
      return FALSE;
    const gint64 stride = step / apart, end = begin + (view->dims[i] - 1) * stride + 1;
    if (stride < 1 || step % apart != 0 || end > source->dims[i])
      return FALSE;
    slice->begins[i] = (gint32) begin;
    slice->ends[i] = (gint32) end;
    slice->strides[i] = (gint32) stride;
  }
  return TRUE;
}

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *node)
{
  gint32 inputs[4] = { -1, -1, -1, -1 };
  Slice slice;
  if (node->op != SL_OP_TRANSPOSE || sl_op_get (SL_OP_STRIDED_SLICE) == NULL)
    return 0;
  for (guint back = 2; back <= SL_MAX_MOVES; back++) {
    SlMoved moved;
    Slice found;
    if (sl_moved_view (graph, index, node->outputs[0], back, FALSE, &moved)
        && as_slice (&moved.view, sl_graph_tensor (graph, moved.tensor), &found)) {
      inputs[0] = moved.tensor;
      slice = found;
    }
  }
  if (inputs[0] < 0)
    return 0;
  const guint rank = sl_graph_tensor (graph, inputs[0])->rank;
  inputs[1] = sl_pass_add_ints (graph, "begins", slice.begins, rank);
  inputs[2] = sl_pass_add_ints (graph, "ends", slice.ends, rank);
  inputs[3] = sl_pass_add_ints (graph, "strides", slice.strides, rank);
  if (inputs[1] < 0 || inputs[2] < 0 || inputs[3] < 0)
    return 0;
  node->op = SL_OP_STRIDED_SLICE;
  node->inputs = sl_arena_memdup (graph->arena, inputs, sizeof inputs);
  node->n_inputs = G_N_ELEMENTS (inputs);
  node->params = (SlOpParams){ 0 };
  return 1;
}

const SlPass sl_pass_become_slice = { "become_slice", .step = step };
