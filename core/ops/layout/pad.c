/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PAD (zeros; the zero point for quantised values), PADV2 (a constant value) and MIRROR_PAD around
 * a tensor; amounts are a constant [rank, 2].
 */
#include <string.h>

#include "core/ops/kernels/moves.h"
#include "core/ops/ops.h"

/* Most moves of a MIRROR_PAD: one for every choice of before, inside and after along each padded
 * dimension. */
#define MAX_MIRRORED 5

static gboolean
amounts_of (const SlGraph *graph, const SlNode *node, gint32 amounts[2 * SL_MAX_RANK])
{
  guint count = 0;
  return sl_constant_ints (sl_node_input (graph, node, 1), amounts, 2 * SL_MAX_RANK, &count)
         && count == 2 * sl_node_input (graph, node, 0)->rank;
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *value = sl_node_input (graph, node, 2);
  gint32 amounts[2 * SL_MAX_RANK];
  if (!sl_node_check_copy (graph, node, 0, 0, error))
    return FALSE;
  if (!amounts_of (graph, node, amounts))
    return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                          "the amounts must be a constant of %u int32 or int64", 2 * input->rank);
  for (guint i = 0; i < 2 * input->rank; i++)
    if (amounts[i] < 0 || amounts[i] > G_MAXINT16)
      return sl_node_error (error, node, SL_ERROR_FORMAT, "amount %d is outside 0..%d", amounts[i],
                            G_MAXINT16);
  if (value != NULL
      && (value->data == NULL || value->bytes != sl_dtype_size (input->dtype)
          || value->dtype != input->dtype)) {
    g_autofree char *text = sl_tensor_describe (value);
    return sl_node_error (
      error, node, SL_ERROR_UNSUPPORTED, "the value is %s%s; expected a constant of one %s",
      value->data == NULL ? "variable " : "", text, sl_dtype_name (input->dtype));
  }
  return TRUE;
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 amounts[2 * SL_MAX_RANK], dims[SL_MAX_RANK];
  amounts_of (graph, node, amounts);
  for (guint i = 0; i < input->rank; i++) {
    if (input->dims[i] > G_MAXINT32 - 2 * G_MAXINT16)
      return sl_node_error (error, node, SL_ERROR_LIMIT, "dimension %u overflows", i);
    dims[i] = input->dims[i] + amounts[2 * i] + amounts[2 * i + 1];
  }
  return sl_node_set_shape (graph, node, 0, input->rank, dims, error);
}

static gboolean
mirror_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 amounts[2 * SL_MAX_RANK];
  guint padded = 0;
  amounts_of (graph, node, amounts);
  for (guint i = 0; i < input->rank; i++) {
    const gint32 most = input->dims[i] - (node->params.mirror.symmetric ? 0 : 1);
    padded += amounts[2 * i] + amounts[2 * i + 1] > 0;
    if (amounts[2 * i] > most || amounts[2 * i + 1] > most)
      return sl_node_error (error, node, SL_ERROR_SHAPE,
                            "dimension %u of size %d cannot be mirrored by %d and %d; at most %d",
                            i, input->dims[i], amounts[2 * i], amounts[2 * i + 1], most);
  }
  if (padded > MAX_MIRRORED)
    return sl_node_error (error, node, SL_ERROR_LIMIT,
                          "%u dimensions are padded; at most %d are supported", padded,
                          MAX_MIRRORED);
  return infer (graph, node, error);
}

static void *
prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0),
                 *value = sl_node_input (graph, node, 2);
  gint32 amounts[2 * SL_MAX_RANK];
  gssize from[SL_MAX_RANK], to[SL_MAX_RANK];
  SlMove *move;
  SlMoves *moves = sl_moves_one (graph, node, arena, &move, from, to);
  amounts_of (graph, node, amounts);
  moves->fill = TRUE;
  if (value != NULL)
    memcpy (moves->fill_value, value->data, moves->size);
  else if (moves->size == 1)
    moves->fill_value[0] = (guint8) sl_tensor_zero_point (output);
  for (guint i = 0; i < input->rank; i++) {
    move->to_at += (gsize) amounts[2 * i] * (gsize) to[i];
    sl_move_axis (move, (gsize) input->dims[i], from[i], to[i]);
  }
  return sl_moves_done (moves);
}

/* A run of output elements along one dimension: @n from @to, read from @from onwards or, when
 * mirrored, backwards. */
typedef struct
{
  gint32 n, from, to;
  gboolean backwards;
} Run;

static guint
runs_of (gint32 dim, gint32 before, gint32 after, gboolean symmetric, Run runs[3])
{
  const gint32 edge = symmetric ? 0 : 1;
  const Run all[3] = { { before, before - 1 + edge, 0, TRUE },
                       { dim, 0, before, FALSE },
                       { after, dim - 1 - edge, before + dim, TRUE } };
  guint n = 0;
  for (guint i = 0; i < 3; i++)
    if (all[i].n > 0)
      runs[n++] = all[i];
  return n;
}

static void *
mirror_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  Run runs[SL_MAX_RANK][3];
  guint n_runs[SL_MAX_RANK], n_moves = 1;
  gint32 amounts[2 * SL_MAX_RANK];
  gssize from[SL_MAX_RANK], to[SL_MAX_RANK];
  amounts_of (graph, node, amounts);
  sl_tensor_strides (input, from);
  sl_tensor_strides (output, to);
  for (guint i = 0; i < input->rank; i++) {
    n_runs[i] = runs_of (input->dims[i], amounts[2 * i], amounts[2 * i + 1],
                         node->params.mirror.symmetric, runs[i]);
    n_moves *= n_runs[i];
  }
  SlMoves *moves = sl_moves_new (arena, input->dtype, n_moves);
  for (guint m = 0; m < n_moves; m++) {
    SlMove *move = sl_moves_add (moves, 0, 0);
    guint rest = m;
    for (guint i = 0; i < input->rank; rest /= n_runs[i], i++) {
      const Run *run = &runs[i][rest % n_runs[i]];
      move->from_at += (gsize) run->from * (gsize) from[i];
      move->to_at += (gsize) run->to * (gsize) to[i];
      sl_move_axis (move, (gsize) run->n, run->backwards ? -from[i] : from[i], to[i]);
    }
  }
  return sl_moves_done (moves);
}

const SlOp sl_op_pad = { SL_OP_ROW (PAD, 2, 2, 1, check, infer, prepare, sl_kernel_moves) };

const SlOp sl_op_padv2 = { SL_OP_ROW (PADV2, 3, 3, 1, check, infer, prepare, sl_kernel_moves) };

const SlOp sl_op_mirror_pad = { SL_OP_ROW (MIRROR_PAD, 2, 2, 1, check, mirror_infer, mirror_prepare,
                                           sl_kernel_moves) };
