/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DYNAMIC_UPDATE_SLICE: a tensor with a box of it replaced, at a place that is computed. Inputs are
 * the tensor, the box, and the box's first place along each dimension. As in XLA, a place from
 * which the box would not fit is moved to the nearest from which it does.
 */
#include <string.h>

#include "core/ops/ops.h"

enum
{
  OPERAND,
  UPDATE,
  START
};

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *operand = sl_node_input (graph, node, OPERAND),
                 *update = sl_node_input (graph, node, UPDATE),
                 *start = sl_node_input (graph, node, START);
  if (!sl_node_check_copy (graph, node, OPERAND, 0, error)
      || !sl_node_check_copy (graph, node, UPDATE, 0, error)
      || !sl_node_check_dtype (node, "start", start, SL_DTYPES_INDEX, error))
    return FALSE;
  gboolean fits =
    update->rank == operand->rank && start->rank == 1 && start->dims[0] == (gint32) operand->rank;
  for (guint i = 0; fits && i < operand->rank; i++)
    fits = update->dims[i] <= operand->dims[i];
  if (fits)
    return TRUE;
  g_autofree char *a = sl_tensor_describe (operand), *b = sl_tensor_describe (update),
                  *c = sl_tensor_describe (start);
  return sl_node_error (error, node, SL_ERROR_SHAPE,
                        "update %s at %s of %s; expected an update of as many dimensions, none "
                        "larger, and a place along each",
                        b, c, a);
}

/* Where the box begins along dimension @i. */
static gsize
first_place (const SlKernelCall *call, guint i)
{
  const SlTensor *start = sl_node_input (call->graph, call->node, START);
  const gint64 stated = start->dtype == SL_DTYPE_I32 ? ((const gint32 *) call->inputs[START])[i]
                                                     : ((const gint64 *) call->inputs[START])[i];
  const gint32 last = sl_node_input (call->graph, call->node, OPERAND)->dims[i]
                      - sl_node_input (call->graph, call->node, UPDATE)->dims[i];
  return (gsize) CLAMP (stated, 0, last);
}

static void
run (const SlKernelCall *call)
{
  const SlTensor *operand = sl_node_input (call->graph, call->node, OPERAND),
                 *update = sl_node_input (call->graph, call->node, UPDATE);
  const gsize size = sl_dtype_size (operand->dtype);
  guint8 *out = call->outputs[0];
  guint rank = operand->rank; /* of rows: dimensions behind are whole */
  while (rank > 1 && update->dims[rank - 1] == operand->dims[rank - 1])
    rank--;
  memcpy (out, call->inputs[OPERAND], size * sl_tensor_span (operand, 0, operand->rank));
  const guint last = MAX (rank, 1) - 1;
  const gsize rows = sl_tensor_span (update, 0, last),
              bytes = size * sl_tensor_span (update, last, update->rank);
  for (gsize row = 0; row < rows; row++) {
    gsize at = rank > 0 ? first_place (call, last) : 0, left = row;
    for (guint i = last; i-- > 0; left /= (gsize) update->dims[i])
      at += (first_place (call, i) + left % (gsize) update->dims[i])
            * sl_tensor_span (operand, i + 1, rank);
    memcpy (out + at * size * sl_tensor_span (operand, rank, operand->rank),
            (const guint8 *) call->inputs[UPDATE] + row * bytes, bytes);
  }
}

const SlOp sl_op_dynamic_update_slice = { SL_OP_ROW (DYNAMIC_UPDATE_SLICE, 3, 3, 1, check,
                                                     sl_node_same_shape_infer, NULL, run) };
