/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layer normalisation written out becomes NORMALIZE: rows less their mean, or as they are, by the
 * root of their mean square. Constants by channel that are multiplied or added behind it become its
 * inputs.
 */
#include <math.h>

#include "core/ops/ops.h"
#include "core/passes/moved_view.h"

typedef struct
{
  SlGraph *graph;
  SlPassIndex *index;
} Fuse;

/* (nullable): the node @op, without an activation, that makes @tensor. */
static const SlNode *
made_by (const Fuse *fuse, gint32 tensor, SlOpType op)
{
  const SlNode *node = tensor >= 0 ? sl_pass_producer (fuse->index, fuse->graph, tensor) : NULL;
  return node != NULL && node->op == op && sl_node_fused_activation (node) == SL_ACTIVATION_NONE
           ? node
           : NULL;
}

/* What @tensor is the mean of, along the last dimension; -1 where it is not that. */
static gint32
behind_mean (const Fuse *fuse, gint32 tensor)
{
  const SlNode *node = made_by (fuse, tensor, SL_OP_MEAN);
  gint32 axis = 0;
  guint n = 0;
  if (node == NULL || !node->params.reduce.keep_dims
      || !sl_constant_ints (sl_node_input (fuse->graph, node, 1), &axis, 1, &n) || n != 1)
    return -1;
  const gint32 rank = (gint32) sl_node_input (fuse->graph, node, 0)->rank;
  return axis + (axis < 0 ? rank : 0) == rank - 1 ? node->inputs[0] : -1;
}

/* What @tensor is less its mean; -1 where it is not that. */
static gint32
behind_center (const Fuse *fuse, gint32 tensor)
{
  const SlNode *node = made_by (fuse, tensor, SL_OP_SUB);
  return node != NULL && behind_mean (fuse, node->inputs[1]) == node->inputs[0] ? node->inputs[0]
                                                                                : -1;
}

/* What @tensor is to the power of @exponent; -1 where it is not that. */
static gint32
behind_power (const Fuse *fuse, gint32 tensor, gdouble exponent)
{
  const SlNode *node = made_by (fuse, tensor, SL_OP_POW);
  gdouble by = 0;
  return node != NULL && sl_pass_number (fuse->graph, node->inputs[1], &by) && by == exponent
           ? node->inputs[0]
           : -1;
}

/* Whether @tensor is the square of @of, or of @x less its mean, -1 = none. */
static gboolean
is_square (const Fuse *fuse, gint32 tensor, gint32 of, gint32 x)
{
  const SlNode *node = tensor >= 0 ? sl_pass_producer (fuse->index, fuse->graph, tensor) : NULL;
  if (node == NULL || sl_node_fused_activation (node) != SL_ACTIVATION_NONE)
    return FALSE;
  switch (node->op) {
    case SL_OP_SQUARED_DIFFERENCE:
      return x >= 0 && node->inputs[0] == x && behind_mean (fuse, node->inputs[1]) == x;
    case SL_OP_SQUARE:
      break;
    case SL_OP_MUL:
      if (node->inputs[1] != node->inputs[0])
        return FALSE;
      break;
    case SL_OP_POW:
      if (behind_power (fuse, tensor, 2) < 0)
        return FALSE;
      break;
    default:
      return FALSE;
  }
  return node->inputs[0] == of || (x >= 0 && behind_center (fuse, node->inputs[0]) == x);
}

/* What @tensor is the root of, or with @inverse, 1 by the root of; -1 where it is not that. */
static gint32
behind_root (const Fuse *fuse, gint32 tensor, gboolean inverse)
{
  const SlNode *node = made_by (fuse, tensor, inverse ? SL_OP_RSQRT : SL_OP_SQRT);
  gdouble one = 0;
  if (node != NULL)
    return node->inputs[0];
  node = inverse ? made_by (fuse, tensor, SL_OP_DIV) : NULL;
  if (node != NULL && sl_pass_number (fuse->graph, node->inputs[0], &one) && one == 1)
    return behind_root (fuse, node->inputs[1], FALSE);
  return behind_power (fuse, tensor, inverse ? -0.5 : 0.5);
}

/* Whether @root is 1 by the root of, or without @inverse the root of, the mean square of @of, or of
 * @x less its mean, and epsilon. */
static gboolean
is_root (const Fuse *fuse, gint32 root, gboolean inverse, gint32 of, gint32 x, gdouble *epsilon)
{
  const SlNode *sum = made_by (fuse, behind_root (fuse, root, inverse), SL_OP_ADD);
  for (guint i = 0; sum != NULL && i < 2; i++)
    if (sl_pass_number (fuse->graph, sum->inputs[1 - i], epsilon))
      return is_square (fuse, behind_mean (fuse, sum->inputs[i]), of, x);
  return FALSE;
}

static void
become (Fuse *fuse, SlNode *node, const gint32 *inputs, guint n, const SlOpParams *params)
{
  node->op = SL_OP_NORMALIZE;
  node->inputs = sl_arena_memdup (fuse->graph->arena, inputs, n * sizeof inputs[0]);
  node->n_inputs = n;
  node->params = *params;
}

/* @node multiplies rows by the inverse of a root, or divides them by the root. */
static gboolean
standardise (Fuse *fuse, SlNode *node)
{
  for (guint i = 0; i < (node->op == SL_OP_DIV ? 1 : 2); i++) {
    const gint32 of = node->inputs[i], x = behind_center (fuse, of);
    gdouble epsilon = 0;
    const SlTensor *rows = sl_graph_tensor (fuse->graph, of);
    if (rows->dtype != SL_DTYPE_F32
        || !sl_tensor_same_shape (rows, sl_node_output (fuse->graph, node, 0))
        || !is_root (fuse, node->inputs[1 - i], node->op == SL_OP_MUL, of, x, &epsilon))
      continue;
    const gint32 from = x >= 0 ? x : of;
    become (fuse, node, &from, 1, &(SlOpParams){ .normalize = { (gfloat) epsilon, x >= 0 } });
    fuse->index->consumers[from]++;
    return TRUE;
  }
  return FALSE;
}

/* Whether @tensor has a constant for each channel of @like. */
static gboolean
is_by_channel (const Fuse *fuse, gint32 tensor, const SlTensor *like)
{
  const SlTensor *t = sl_graph_tensor (fuse->graph, tensor);
  const gint32 channels = like->dims[like->rank - 1];
  return t->data != NULL && t->dtype == SL_DTYPE_F32 && t->rank > 0 && t->rank <= like->rank
         && t->dims[t->rank - 1] == channels && t->bytes == (gsize) channels * sizeof (gfloat);
}

/* @node multiplies or adds constants to what NORMALIZE alone makes for it. */
static gboolean
take_in (Fuse *fuse, SlNode *node)
{
  const guint place = node->op == SL_OP_MUL ? 1 : 2;
  for (guint i = 0; i < 2; i++) {
    const gint32 of = node->inputs[i], by = node->inputs[1 - i];
    SlNode *before =
      fuse->index->consumers[of] == 1 ? sl_pass_producer (fuse->index, fuse->graph, of) : NULL;
    if (before == NULL || before->op != SL_OP_NORMALIZE || before->n_inputs > place
        || !is_by_channel (fuse, by, sl_node_output (fuse->graph, node, 0)))
      continue;
    gint32 inputs[3] = { before->inputs[0], before->n_inputs > 1 ? before->inputs[1] : -1, -1 };
    inputs[place] = by;
    become (fuse, node, inputs, place + 1, &before->params);
    before->op = SL_OP_INVALID;
    return TRUE;
  }
  return FALSE;
}

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *node)
{
  Fuse fuse = { graph, index };
  const gboolean product = node->op == SL_OP_MUL || node->op == SL_OP_DIV;
  if (graph->apart || sl_op_get (SL_OP_NORMALIZE) == NULL || (!product && node->op != SL_OP_ADD)
      || node->params.binary.activation != SL_ACTIVATION_NONE
      || sl_node_output (graph, node, 0)->dtype != SL_DTYPE_F32
      || sl_node_output (graph, node, 0)->rank == 0)
    return 0;
  return (product && standardise (&fuse, node)) || (node->op != SL_OP_DIV && take_in (&fuse, node));
}

const SlPass sl_pass_fuse_norm = { "fuse_norm", .step = step };
