/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SHAPE, RANK, FILL, RANGE and ZEROS_LIKE: results that do not depend on any picture. They are
 * folded into constants while the graph is prepared, so that the shapes computed from them are
 * known.
 */
#include <string.h>

#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

static gboolean
index_check (SlGraph *graph, SlNode *node, GError **error)
{
  const guint32 types = node->op == SL_OP_RANK ? SL_DTYPE_BIT (SL_DTYPE_I32) : SL_DTYPES_INDEX;
  return sl_node_check_outputs (graph, node, types, error);
}

static gboolean
index_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  const gint32 rank = (gint32) input->rank;
  if (node->op == SL_OP_SHAPE && rank == 0)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "the shape of a scalar is empty, which is not supported");
  return sl_node_set_shape (graph, node, 0, node->op == SL_OP_SHAPE ? 1 : 0, &rank, error);
}

static void
shape_run (const SlKernelCall *call)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *output = sl_node_output (call->graph, call->node, 0);
  for (guint i = 0; i < input->rank; i++) {
    if (output->dtype == SL_DTYPE_I32)
      ((gint32 *) call->outputs[0])[i] = input->dims[i];
    else
      ((gint64 *) call->outputs[0])[i] = input->dims[i];
  }
}

static void
rank_run (const SlKernelCall *call)
{
  *(gint32 *) call->outputs[0] = (gint32) sl_node_input (call->graph, call->node, 0)->rank;
}

static gboolean
fill_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *value = sl_node_input (graph, node, 1);
  gint32 dims[SL_MAX_RANK];
  guint count = 0;
  gsize elements = 0;
  if (!sl_node_check_copy (graph, node, 1, 0, error)
      || !sl_node_constant (graph, node, 0, "shape", dims, SL_MAX_RANK, &count, error))
    return FALSE;
  if (sl_tensor_elements (value, &elements) && elements == 1)
    return TRUE;
  g_autofree char *text = sl_tensor_describe (value);
  return sl_node_error (error, node, SL_ERROR_SHAPE, "the value '%s' is %s; expected one element",
                        value->name, text);
}

static gboolean
fill_infer (SlGraph *graph, SlNode *node, GError **error)
{
  gint32 dims[SL_MAX_RANK];
  guint count = 0;
  sl_constant_ints (sl_node_input (graph, node, 0), dims, SL_MAX_RANK, &count);
  return sl_node_set_shape (graph, node, 0, count, dims, error);
}

static void
fill_run (const SlKernelCall *call)
{
  const SlTensor *output = sl_node_output (call->graph, call->node, 0);
  const gsize size = sl_dtype_size (output->dtype);
  for (gsize at = 0; at < output->bytes; at += size)
    memcpy ((guint8 *) call->outputs[0] + at, call->inputs[1], size);
}

static gboolean
zeros_check (SlGraph *graph, SlNode *node, GError **error)
{
  return sl_node_check_copy (graph, node, 0, 0, error);
}

static void
zeros_run (const SlKernelCall *call)
{
  const SlTensor *output = sl_node_output (call->graph, call->node, 0);
  const gboolean quantised = output->dtype == SL_DTYPE_I8 || output->dtype == SL_DTYPE_U8;
  memset (call->outputs[0], quantised ? sl_tensor_zero_point (output) : 0, output->bytes);
}

/* Start, limit and step as real numbers; int32 fits them exactly. */
static gdouble
range_value (const SlGraph *graph, const SlNode *node, guint i)
{
  const SlTensor *tensor = sl_node_input (graph, node, i);
  return tensor->dtype == SL_DTYPE_F32 ? (gdouble) * (const gfloat *) tensor->data
                                       : *(const gint32 *) tensor->data;
}

static gboolean
range_check (SlGraph *graph, SlNode *node, GError **error)
{
  for (guint i = 0; i < 3; i++) {
    const SlTensor *tensor = sl_node_input (graph, node, i);
    if (!sl_node_check_dtype (node, "input", tensor,
                              SL_DTYPE_BIT (SL_DTYPE_F32) | SL_DTYPE_BIT (SL_DTYPE_I32), error)
        || !sl_node_check_copy (graph, node, i, 0, error))
      return FALSE;
    if (tensor->data == NULL || tensor->bytes != 4)
      return sl_node_error (
        error, node, SL_ERROR_UNSUPPORTED,
        "start, limit and step must be constants of one element; input %u is not", i);
  }
  const gdouble step = range_value (graph, node, 2);
  if (step != 0 && isfinite (step) && isfinite (range_value (graph, node, 0))
      && isfinite (range_value (graph, node, 1)))
    return TRUE;
  return sl_node_error (error, node, SL_ERROR_FORMAT,
                        "the range from %g to %g in steps of %g has no end",
                        range_value (graph, node, 0), range_value (graph, node, 1), step);
}

static gboolean
range_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const gdouble n = ceil ((range_value (graph, node, 1) - range_value (graph, node, 0))
                          / range_value (graph, node, 2));
  if (!(n <= G_MAXINT32))
    return sl_node_error (error, node, SL_ERROR_LIMIT, "the range has %g elements", n);
  const gint32 dim = n < 1 ? 0 : (gint32) n;
  return sl_node_set_shape (graph, node, 0, 1, &dim, error);
}

static void
range_run (const SlKernelCall *call)
{
  const SlTensor *output = sl_node_output (call->graph, call->node, 0);
  const gdouble start = range_value (call->graph, call->node, 0),
                step = range_value (call->graph, call->node, 2);
  for (gint32 i = 0; i < output->dims[0]; i++) {
    if (output->dtype == SL_DTYPE_F32)
      ((gfloat *) call->outputs[0])[i] = (gfloat) (start + i * step);
    else
      ((gint32 *) call->outputs[0])[i] = (gint32) (start + i * step);
  }
}

const SlOp sl_op_shape = { SL_OP_ROW (SHAPE, 1, 1, 1, index_check, index_infer, NULL, shape_run),
                           .is_static = TRUE };

const SlOp sl_op_rank = { SL_OP_ROW (RANK, 1, 1, 1, index_check, index_infer, NULL, rank_run),
                          .is_static = TRUE };

const SlOp sl_op_fill = { SL_OP_ROW (FILL, 2, 2, 1, fill_check, fill_infer, NULL, fill_run) };

const SlOp sl_op_range = { SL_OP_ROW (RANGE, 3, 3, 1, range_check, range_infer, NULL, range_run) };

const SlOp sl_op_zeros_like = { SL_OP_ROW (ZEROS_LIKE, 1, 1, 1, zeros_check,
                                           sl_node_same_shape_infer, NULL, zeros_run),
                                .is_static = TRUE };
