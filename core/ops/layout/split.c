/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPLIT, SPLIT_V and UNPACK cut a tensor along one axis; PACK joins tensors along a new one. */
#include <string.h>

#include "core/ops/kernels/moves.h"
#include "core/ops/ops.h"

static gboolean
check_outputs (const SlGraph *graph, const SlNode *node, guint from, GError **error)
{
  for (guint i = 0; i < node->n_outputs; i++)
    if (!sl_node_check_copy (graph, node, from, i, error))
      return FALSE;
  return TRUE;
}

/* SPLIT has the axis first; SPLIT_V the tensor, the sizes and the axis. */
static gboolean
split_check (SlGraph *graph, SlNode *node, GError **error)
{
  const guint data = node->op == SL_OP_SPLIT ? 1 : 0;
  gint32 axis = 0;
  if (!check_outputs (graph, node, data, error)
      || !sl_node_constant_axis (graph, node, node->op == SL_OP_SPLIT ? 0 : 2, &axis,
                                 sl_node_input (graph, node, data)->rank, error))
    return FALSE;
  node->params.axis.axis = axis;
  return TRUE;
}

static gboolean
split_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 1);
  const gint32 whole = input->dims[node->params.axis.axis], n = (gint32) node->n_outputs;
  gint32 dims[SL_MAX_RANK];
  if (whole % n != 0)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "dimension %d of size %d does not divide into %d", node->params.axis.axis,
                          whole, n);
  memcpy (dims, input->dims, sizeof dims);
  dims[node->params.axis.axis] = whole / n;
  for (guint i = 0; i < node->n_outputs; i++)
    if (!sl_node_set_shape (graph, node, i, input->rank, dims, error))
      return FALSE;
  return TRUE;
}

static gboolean
split_v_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 sizes[SL_MAX_OUTPUTS], dims[SL_MAX_RANK];
  gint64 rest = input->dims[node->params.axis.axis];
  guint count = 0, open = SL_MAX_OUTPUTS;
  if (!sl_node_constant (graph, node, 1, "sizes", sizes, SL_MAX_OUTPUTS, &count, error))
    return FALSE;
  if (count != node->n_outputs)
    return sl_node_error (error, node, SL_ERROR_SHAPE, "%u sizes are given for %u outputs", count,
                          node->n_outputs);
  for (guint i = 0; i < count; i++) {
    if (sizes[i] == -1 && open == SL_MAX_OUTPUTS)
      open = i;
    else
      rest -= sizes[i];
  }
  if (open < SL_MAX_OUTPUTS && rest > 0) {
    sizes[open] = (gint32) rest;
    rest = 0;
  }
  if (rest != 0)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "the sizes do not add up to dimension %d of size %d",
                          node->params.axis.axis, input->dims[node->params.axis.axis]);
  memcpy (dims, input->dims, sizeof dims);
  for (guint i = 0; i < count; i++) {
    dims[node->params.axis.axis] = sizes[i];
    if (!sl_node_set_shape (graph, node, i, input->rank, dims, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
unpack_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 *axis = &node->params.axis.axis;
  if (!check_outputs (graph, node, 0, error) || !sl_node_axis (node, axis, input->rank, error))
    return FALSE;
  if (input->dims[*axis] == (gint32) node->n_outputs)
    return TRUE;
  return sl_node_error (error, node, SL_ERROR_SHAPE,
                        "dimension %d has size %d; expected %u, one for each output", *axis,
                        input->dims[*axis], node->n_outputs);
}

static gboolean
unpack_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 dims[SL_MAX_RANK];
  guint rank = 0;
  for (guint i = 0; i < input->rank; i++)
    if ((gint32) i != node->params.axis.axis)
      dims[rank++] = input->dims[i];
  for (guint i = 0; i < node->n_outputs; i++)
    if (!sl_node_set_shape (graph, node, i, rank, dims, error))
      return FALSE;
  return TRUE;
}

/* Cuts: output i is a run along the axis, whatever its own rank. */
static void *
cut_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const guint data = node->op == SL_OP_SPLIT ? 1 : 0, axis = (guint) node->params.axis.axis;
  const SlTensor *input = sl_node_input (graph, node, data);
  SlMoves *moves = sl_moves_new (arena, input->dtype, node->n_outputs);
  const gsize outer = sl_tensor_span (input, 0, axis);
  gssize from[SL_MAX_RANK], at = 0;
  sl_tensor_strides (input, from);
  for (guint i = 0; i < node->n_outputs; i++) {
    SlMove *move = sl_moves_add (moves, data, i);
    const gssize run = node->op == SL_OP_UNPACK ? 1 : sl_node_output (graph, node, i)->dims[axis];
    move->from_at = (gsize) (at * from[axis]);
    sl_move_axis (move, outer, from[axis] * input->dims[axis], run * from[axis]);
    sl_move_axis (move, (gsize) (run * from[axis]), 1, 1);
    at += run;
  }
  return sl_moves_done (moves);
}

static gboolean
pack_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *first = sl_node_input (graph, node, 0);
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlTensor *input = sl_node_input (graph, node, i);
    if (input == NULL)
      return sl_node_error (error, node, SL_ERROR_FORMAT, "input %u is missing", i);
    if (!sl_node_check_copy (graph, node, i, 0, error))
      return FALSE;
    if (sl_tensor_same_shape (first, input))
      continue;
    g_autofree char *text_a = sl_tensor_describe (first), *text_b = sl_tensor_describe (input);
    return sl_node_error (error, node, SL_ERROR_SHAPE, "input %u is %s; expected %s", i, text_b,
                          text_a);
  }
  return sl_node_axis (node, &node->params.axis.axis, first->rank + 1, error);
}

static gboolean
pack_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *first = sl_node_input (graph, node, 0);
  const guint axis = (guint) node->params.axis.axis;
  gint32 dims[SL_MAX_RANK + 1];
  for (guint i = 0; i <= first->rank; i++)
    dims[i] = i < axis ? first->dims[i] : i == axis ? (gint32) node->n_inputs : first->dims[i - 1];
  return sl_node_set_shape (graph, node, 0, first->rank + 1, dims, error);
}

static void *
pack_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *output = sl_node_output (graph, node, 0);
  const guint axis = (guint) node->params.axis.axis;
  SlMoves *moves = sl_moves_new (arena, output->dtype, node->n_inputs);
  const gsize outer = sl_tensor_span (output, 0, axis);
  gssize to[SL_MAX_RANK];
  sl_tensor_strides (output, to);
  for (guint i = 0; i < node->n_inputs; i++) {
    SlMove *move = sl_moves_add (moves, i, 0);
    move->to_at = i * (gsize) to[axis];
    sl_move_axis (move, outer, to[axis], to[axis] * output->dims[axis]);
    sl_move_axis (move, (gsize) to[axis], 1, 1);
  }
  return sl_moves_done (moves);
}

const SlOp sl_op_split = { SL_OP_ROW (SPLIT, 2, 2, 1, split_check, split_infer, cut_prepare,
                                      sl_kernel_moves),
                           .max_outputs = SL_MAX_OUTPUTS };

const SlOp sl_op_split_v = { SL_OP_ROW (SPLIT_V, 3, 3, 1, split_check, split_v_infer, cut_prepare,
                                        sl_kernel_moves),
                             .max_outputs = SL_MAX_OUTPUTS };

const SlOp sl_op_unpack = { SL_OP_ROW (UNPACK, 1, 1, 1, unpack_check, unpack_infer, cut_prepare,
                                       sl_kernel_moves),
                            .max_outputs = SL_MAX_OUTPUTS };

const SlOp sl_op_pack = { SL_OP_ROW (PACK, 1, SL_MAX_OPERANDS, 1, pack_check, pack_infer,
                                     pack_prepare, sl_kernel_moves) };
