/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Comparisons, logic, SELECT and WHERE. The number of results of WHERE depends on its input, so
 * only a constant condition can be planned for; such a node is folded away while the graph is
 * prepared.
 */

#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

#define BOOL_BIT SL_DTYPE_BIT (SL_DTYPE_BOOL)
#define COMPARED (SL_DTYPES_ACTIVATION | SL_DTYPE_BIT (SL_DTYPE_I16) | SL_DTYPES_INDEX)

static gboolean
compare_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *a = sl_node_input (graph, node, 0), *b = sl_node_input (graph, node, 1);
  const gboolean logic =
    node->op == SL_OP_LOGICAL_AND || node->op == SL_OP_LOGICAL_OR || node->op == SL_OP_LOGICAL_NOT;
  const gboolean equality = node->op == SL_OP_EQUAL || node->op == SL_OP_NOT_EQUAL;
  if (!sl_node_check_dtype (node, "input", a,
                            logic ? BOOL_BIT : COMPARED | (equality ? BOOL_BIT : 0), error)
      || !sl_node_check_outputs (graph, node, BOOL_BIT, error))
    return FALSE;
  return b == NULL || sl_node_check_same_dtype (node, a, b, error);
}

static gboolean
select_check (SlGraph *graph, SlNode *node, GError **error)
{
  return sl_node_check_dtype (node, "condition", sl_node_input (graph, node, 0), BOOL_BIT, error)
         && sl_node_check_copy (graph, node, 1, 0, error)
         && sl_node_check_copy (graph, node, 2, 0, error);
}

static gboolean
select_infer (SlGraph *graph, SlNode *node, GError **error)
{
  SlTensor values = *sl_node_input (graph, node, 1);
  gint32 dims[SL_MAX_RANK];
  guint rank = 0;
  return sl_node_broadcast (node, sl_node_input (graph, node, 1), sl_node_input (graph, node, 2),
                            values.dims, &values.rank, error)
         && sl_node_broadcast (node, sl_node_input (graph, node, 0), &values, dims, &rank, error)
         && sl_node_set_shape (graph, node, 0, rank, dims, error);
}

static gboolean
where_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *condition = sl_node_input (graph, node, 0);
  if (!sl_node_check_dtype (node, "condition", condition, BOOL_BIT, error)
      || !sl_node_check_outputs (graph, node, SL_DTYPE_BIT (SL_DTYPE_I64), error))
    return FALSE;
  if (condition->data != NULL)
    return TRUE;
  return sl_node_error (
    error, node, SL_ERROR_UNSUPPORTED,
    "condition '%s' is computed, so the number of results is not known before; expected a constant "
    "(use SELECT)",
    condition->name);
}

static gboolean
where_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *condition = sl_node_input (graph, node, 0);
  gint32 dims[2] = { 0, (gint32) condition->rank };
  for (gsize i = 0; i < condition->bytes; i++)
    dims[0] += ((const guint8 *) condition->data)[i] != 0;
  if (dims[0] == 0)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "condition '%s' is false everywhere; an empty result is not supported",
                          condition->name);
  return sl_node_set_shape (graph, node, 0, 2, dims, error);
}

static void
where_run (const SlKernelCall *call)
{
  const SlTensor *condition = sl_node_input (call->graph, call->node, 0);
  gint64 *out = call->outputs[0];
  for (gsize i = 0; i < condition->bytes; i++) {
    if (((const guint8 *) call->inputs[0])[i] == 0)
      continue;
    gsize rest = i;
    for (guint k = condition->rank; k-- > 0; rest /= (gsize) condition->dims[k])
      out[k] = (gint64) (rest % (gsize) condition->dims[k]);
    out += condition->rank;
  }
}

#define COMPARE(symbol, op)                                                             \
  const SlOp symbol = { SL_OP_ROW (op, 2, 2, 1, compare_check, sl_node_infer_broadcast, \
                                   sl_kernel_compare_prepare, sl_kernel_broadcast) }

COMPARE (sl_op_equal, EQUAL);
COMPARE (sl_op_not_equal, NOT_EQUAL);
COMPARE (sl_op_less, LESS);
COMPARE (sl_op_less_equal, LESS_EQUAL);
COMPARE (sl_op_greater, GREATER);
COMPARE (sl_op_greater_equal, GREATER_EQUAL);
COMPARE (sl_op_logical_and, LOGICAL_AND);
COMPARE (sl_op_logical_or, LOGICAL_OR);

const SlOp sl_op_logical_not = { SL_OP_ROW (LOGICAL_NOT, 1, 1, 1, compare_check,
                                            sl_node_same_shape_infer, sl_kernel_compare_prepare,
                                            sl_kernel_broadcast) };

const SlOp sl_op_select = { SL_OP_ROW (SELECT, 3, 3, 1, select_check, select_infer,
                                       sl_kernel_select_prepare, sl_kernel_broadcast) };

const SlOp sl_op_where = { SL_OP_ROW (WHERE, 1, 1, 1, where_check, where_infer, NULL, where_run) };
