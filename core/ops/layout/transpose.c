/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TRANSPOSE by a constant permutation; REVERSE_V2 along constant axes; TILE and BROADCAST_TO repeat
 * a tensor. All of them only move elements. */
#include "core/ops/kernels/moves.h"
#include "core/ops/ops.h"

static gboolean
transpose_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 order[SL_MAX_RANK];
  guint count = 0, seen = 0;
  if (!sl_node_check_copy (graph, node, 0, 0, error)
      || !sl_node_constant (graph, node, 1, "permutation", order, SL_MAX_RANK, &count, error))
    return FALSE;
  if (count != input->rank)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "the permutation has %u entries; expected %u", count, input->rank);
  for (guint i = 0; i < count; i++) {
    if (!sl_node_axis (node, &order[i], input->rank, error))
      return FALSE;
    if (seen & (1u << order[i]))
      return sl_node_error (error, node, SL_ERROR_FORMAT,
                            "the permutation names dimension %d twice", order[i]);
    seen |= 1u << order[i];
  }
  return TRUE;
}

static void
transpose_order (const SlGraph *graph, const SlNode *node, gint32 order[SL_MAX_RANK])
{
  guint count = 0;
  sl_constant_ints (sl_node_input (graph, node, 1), order, SL_MAX_RANK, &count);
  for (guint i = 0; i < count; i++)
    order[i] += order[i] < 0 ? (gint32) count : 0;
}

static gboolean
transpose_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 order[SL_MAX_RANK], dims[SL_MAX_RANK];
  transpose_order (graph, node, order);
  for (guint i = 0; i < input->rank; i++)
    dims[i] = input->dims[order[i]];
  return sl_node_set_shape (graph, node, 0, input->rank, dims, error);
}

static void *
transpose_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *output = sl_node_output (graph, node, 0);
  gint32 order[SL_MAX_RANK];
  gssize from[SL_MAX_RANK], to[SL_MAX_RANK];
  SlMove *move;
  SlMoves *moves = sl_moves_one (graph, node, arena, &move, from, to);
  transpose_order (graph, node, order);
  for (guint i = 0; i < output->rank; i++)
    sl_move_axis (move, (gsize) output->dims[i], from[order[i]], to[i]);
  return sl_moves_done (moves);
}

static gboolean
reverse_check (SlGraph *graph, SlNode *node, GError **error)
{
  gint32 axes[SL_MAX_RANK];
  guint count = 0;
  if (!sl_node_check_copy (graph, node, 0, 0, error)
      || !sl_node_constant (graph, node, 1, "axes", axes, SL_MAX_RANK, &count, error))
    return FALSE;
  for (guint i = 0; i < count; i++)
    if (!sl_node_axis (node, &axes[i], sl_node_input (graph, node, 0)->rank, error))
      return FALSE;
  return TRUE;
}

static void *
reverse_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 axes[SL_MAX_RANK];
  gssize from[SL_MAX_RANK], to[SL_MAX_RANK];
  guint count = 0;
  SlMove *move;
  SlMoves *moves = sl_moves_one (graph, node, arena, &move, from, to);
  sl_constant_ints (sl_node_input (graph, node, 1), axes, SL_MAX_RANK, &count);
  for (guint i = 0; i < count; i++) {
    const gint32 axis = axes[i] + (axes[i] < 0 ? (gint32) input->rank : 0);
    if (from[axis] < 0) /* an axis that is named twice is reversed once */
      continue;
    move->from_at += (gsize) (input->dims[axis] - 1) * (gsize) from[axis];
    from[axis] = -from[axis];
  }
  for (guint i = 0; i < input->rank; i++)
    sl_move_axis (move, (gsize) input->dims[i], from[i], to[i]);
  return sl_moves_done (moves);
}

static gboolean
tile_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 times[SL_MAX_RANK];
  guint count = 0;
  if (!sl_node_check_copy (graph, node, 0, 0, error)
      || !sl_node_constant (graph, node, 1, "multiples", times, SL_MAX_RANK, &count, error))
    return FALSE;
  if (count != input->rank)
    return sl_node_error (error, node, SL_ERROR_SHAPE, "%u multiples are given; expected %u", count,
                          input->rank);
  return TRUE;
}

static gboolean
tile_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 times[SL_MAX_RANK], dims[SL_MAX_RANK];
  guint count = 0;
  sl_constant_ints (sl_node_input (graph, node, 1), times, SL_MAX_RANK, &count);
  for (guint i = 0; i < count; i++) {
    const gint64 dim = (gint64) input->dims[i] * times[i];
    if (dim > G_MAXINT32)
      return sl_node_error (error, node, SL_ERROR_LIMIT, "dimension %u overflows", i);
    dims[i] = (gint32) MAX (dim, -1);
  }
  return sl_node_set_shape (graph, node, 0, input->rank, dims, error);
}

static void *
tile_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  gssize from[SL_MAX_RANK], to[SL_MAX_RANK];
  SlMove *move;
  SlMoves *moves = sl_moves_one (graph, node, arena, &move, from, to);
  for (guint i = 0; i < output->rank; i++) {
    sl_move_axis (move, (gsize) (output->dims[i] / input->dims[i]), 0, to[i] * input->dims[i]);
    sl_move_axis (move, (gsize) input->dims[i], from[i], to[i]);
  }
  return sl_moves_done (moves);
}

static gboolean
broadcast_check (SlGraph *graph, SlNode *node, GError **error)
{
  gint32 dims[SL_MAX_RANK];
  guint count = 0;
  return sl_node_check_copy (graph, node, 0, 0, error)
         && sl_node_constant (graph, node, 1, "shape", dims, SL_MAX_RANK, &count, error);
}

static gboolean
broadcast_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 dims[SL_MAX_RANK];
  guint count = 0;
  sl_constant_ints (sl_node_input (graph, node, 1), dims, SL_MAX_RANK, &count);
  gboolean fits = count >= input->rank;
  for (guint i = 0; fits && i < input->rank; i++)
    fits = input->dims[i] == 1 || input->dims[i] == dims[count - input->rank + i];
  if (!fits) {
    g_autofree char *text = sl_tensor_describe (input);
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "%s does not broadcast to the shape asked for", text);
  }
  return sl_node_set_shape (graph, node, 0, count, dims, error);
}

static void *
broadcast_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  gssize from[SL_MAX_RANK], to[SL_MAX_RANK];
  SlMove *move;
  SlMoves *moves = sl_moves_one (graph, node, arena, &move, from, to);
  for (guint i = 0; i < output->rank; i++) {
    const gboolean repeats =
      i + input->rank < output->rank || input->dims[i + input->rank - output->rank] == 1;
    sl_move_axis (move, (gsize) output->dims[i], repeats ? 0 : from[i + input->rank - output->rank],
                  to[i]);
  }
  return sl_moves_done (moves);
}

const SlOp sl_op_transpose = { SL_OP_ROW (TRANSPOSE, 2, 2, 1, transpose_check, transpose_infer,
                                          transpose_prepare, sl_kernel_moves) };

const SlOp sl_op_tile = { SL_OP_ROW (TILE, 2, 2, 1, tile_check, tile_infer, tile_prepare,
                                     sl_kernel_moves) };

const SlOp sl_op_broadcast_to = { SL_OP_ROW (BROADCAST_TO, 2, 2, 1, broadcast_check,
                                             broadcast_infer, broadcast_prepare, sl_kernel_moves) };

const SlOp sl_op_reverse_v2 = { SL_OP_ROW (
  REVERSE_V2, 2, 2, 1, reverse_check, sl_node_same_shape_infer, reverse_prepare, sl_kernel_moves) };
