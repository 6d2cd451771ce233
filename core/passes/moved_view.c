/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See the header. A view of the first tensor is moved as each of the nodes moves elements. */
#include "core/passes/moved_view.h"

#include "core/ops/ops.h"

gboolean
sl_pass_number (const SlGraph *graph, gint32 tensor, gdouble *value)
{
  const SlTensor *t = sl_graph_tensor (graph, tensor);
  if (t->data == NULL || t->dtype != SL_DTYPE_F32 || t->bytes != sizeof (gfloat))
    return FALSE;
  *value = *(const gfloat *) t->data;
  return TRUE;
}

gboolean
sl_pass_scaled (const SlGraph *graph, const SlNode *node, gint32 *tensor, gdouble *factor)
{
  if ((node->op != SL_OP_MUL && node->op != SL_OP_DIV)
      || node->params.binary.activation != SL_ACTIVATION_NONE)
    return FALSE;
  for (guint i = 0; i < (node->op == SL_OP_DIV ? 1 : 2); i++)
    if (sl_pass_number (graph, node->inputs[1 - i], factor)
        && sl_tensor_same_shape (sl_node_input (graph, node, i), sl_node_output (graph, node, 0))) {
      *factor = node->op == SL_OP_DIV ? 1 / *factor : *factor;
      *tensor = node->inputs[i];
      return TRUE;
    }
  return FALSE;
}

static gboolean
as_output (const SlTensor *output, SlStrided *view)
{
  return sl_strided_reshape (view, output->rank, output->dims);
}

static gboolean
slice (const SlGraph *graph, const SlNode *node, SlStrided *view)
{
  gint64 start[SL_MAX_RANK], step[SL_MAX_RANK], size[SL_MAX_RANK];
  if (!sl_slice_axes (graph, node, start, step, size))
    return FALSE;
  for (guint i = 0; i < view->rank; i++)
    if (!sl_strided_cut (view, i, start[i], step[i], (gint32) size[i]))
      return FALSE;
  return as_output (sl_node_output (graph, node, 0), view);
}

/* Output @which of a node that cuts its input along an axis. */
static gboolean
part (const SlGraph *graph, const SlNode *node, gint32 which, SlStrided *view)
{
  const guint axis = (guint) node->params.axis.axis;
  gint64 at = 0;
  gint32 size = 1;
  for (guint i = 0; i < node->n_outputs; i++) {
    const SlTensor *output = sl_node_output (graph, node, i);
    size = node->op == SL_OP_UNPACK ? 1 : output->dims[axis];
    if (node->outputs[i] == which)
      return sl_strided_cut (view, axis, at, 1, size) && as_output (output, view);
    at += size;
  }
  return FALSE;
}

/* One slice along an axis. */
static gboolean
gather (const SlGraph *graph, const SlNode *node, SlStrided *view)
{
  const guint axis = (guint) node->params.axis.axis;
  gint32 at = 0;
  guint n = 0;
  if (node->params.axis.batch_dims != 0
      || !sl_constant_ints (sl_node_input (graph, node, 1), &at, 1, &n) || n != 1)
    return FALSE;
  at += at < 0 && node->params.axis.indexing == SL_INDEX_FROM_END ? view->dims[axis] : 0;
  return at >= 0 && at < view->dims[axis] && sl_strided_cut (view, axis, at, 1, 1)
         && as_output (sl_node_output (graph, node, 0), view);
}

static gboolean
transpose (const SlGraph *graph, const SlNode *node, SlStrided *view)
{
  gint32 order[SL_MAX_RANK];
  guint n = 0;
  return sl_constant_ints (sl_node_input (graph, node, 1), order, SL_MAX_RANK, &n)
         && sl_strided_transpose (view, n, order);
}

/* @view of the node's input becomes that of its output @which. */
static gboolean
move (const SlGraph *graph, const SlNode *node, gint32 which, SlStrided *view)
{
  const SlTensor *output = sl_node_output (graph, node, 0);
  switch (node->op) {
    case SL_OP_RESHAPE:
    case SL_OP_SQUEEZE:
    case SL_OP_EXPAND_DIMS:
      return as_output (output, view);
    case SL_OP_TRANSPOSE:
      return transpose (graph, node, view);
    case SL_OP_SLICE:
    case SL_OP_STRIDED_SLICE:
      return slice (graph, node, view);
    case SL_OP_SPLIT:
    case SL_OP_SPLIT_V:
    case SL_OP_UNPACK:
      return part (graph, node, which, view);
    case SL_OP_GATHER:
      return gather (graph, node, view);
    case SL_OP_BROADCAST_TO:
      return sl_strided_broadcast (view, output->rank, output->dims);
    default:
      return FALSE;
  }
}

gboolean
sl_moved_view (SlGraph *graph, const SlPassIndex *index, gint32 tensor, guint back, gboolean scales,
               SlMoved *moved)
{
  const SlTensor *t = sl_graph_tensor (graph, tensor);
  if (back == 0) {
    *moved = (SlMoved){ .tensor = tensor, .factor = 1 };
    return sl_strided_whole (&moved->view, t->rank, t->dims);
  }
  const SlNode *node = sl_pass_producer (index, graph, tensor);
  gdouble factor = 1;
  gint32 from = -1;
  if (node == NULL)
    return FALSE;
  if (scales && sl_pass_scaled (graph, node, &from, &factor)) {
    if (!sl_moved_view (graph, index, from, back - 1, scales, moved))
      return FALSE;
    moved->factor *= factor;
    return TRUE;
  }
  const guint data = node->op == SL_OP_SPLIT ? 1 : 0;
  return node->n_inputs > data && node->inputs[data] >= 0
         && sl_moved_view (graph, index, node->inputs[data], back - 1, scales, moved)
         && move (graph, node, tensor, &moved->view);
}
