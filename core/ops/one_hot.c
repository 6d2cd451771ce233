/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONE_HOT: a new dimension of constant size, with one value at the place of each index and another
 * elsewhere. Inputs are indices, the size, and both values. An index outside has no place.
 */
#include <string.h>

#include "core/ops/kernels/parallel.h"
#include "core/ops/ops.h"

#define VALUES                                                                \
  (SL_DTYPE_BIT (SL_DTYPE_F32) | SL_DTYPES_INDEX | SL_DTYPE_BIT (SL_DTYPE_I8) \
   | SL_DTYPE_BIT (SL_DTYPE_U8) | SL_DTYPE_BIT (SL_DTYPE_I16) | SL_DTYPE_BIT (SL_DTYPE_BOOL))

enum
{
  INDICES,
  DEPTH,
  ON,
  OFF
};

static gboolean
check_value (const SlGraph *graph, const SlNode *node, guint i, GError **error)
{
  const SlTensor *value = sl_node_input (graph, node, i);
  gsize n = 0;
  if (!sl_node_check_dtype (node, "value", value, VALUES, error)
      || !sl_node_check_same_dtype (node, value, sl_node_output (graph, node, 0), error))
    return FALSE;
  if (sl_tensor_elements (value, &n) && n == 1)
    return TRUE;
  g_autofree char *text = sl_tensor_describe (value);
  return sl_node_error (error, node, SL_ERROR_SHAPE, "input %u is %s; expected one element", i,
                        text);
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *indices = sl_node_input (graph, node, INDICES);
  return sl_node_check_dtype (node, "indices", indices, SL_DTYPES_INDEX, error)
         && check_value (graph, node, ON, error) && check_value (graph, node, OFF, error)
         && sl_node_axis (node, &node->params.one_hot.axis, indices->rank + 1, error);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *indices = sl_node_input (graph, node, INDICES);
  const guint axis = (guint) node->params.one_hot.axis;
  gint32 depth = 0, dims[SL_MAX_RANK + 1];
  guint n = 0;
  if (!sl_node_constant (graph, node, DEPTH, "depth", &depth, 1, &n, error))
    return FALSE;
  for (guint i = 0; i <= indices->rank; i++)
    dims[i] = i < axis ? indices->dims[i] : i == axis ? depth : indices->dims[i - 1];
  return sl_node_set_shape (graph, node, 0, indices->rank + 1, dims, error);
}

static gint64
index_at (const SlKernelCall *call, SlDtype dtype, gsize i)
{
  return dtype == SL_DTYPE_I32 ? ((const gint32 *) call->inputs[INDICES])[i]
                               : ((const gint64 *) call->inputs[INDICES])[i];
}

/* Outputs of @n blocks of indices, one for each place in the dimensions before the new one. */
static void
some_blocks (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const SlTensor *indices = sl_node_input (call->graph, call->node, INDICES),
                 *output = sl_node_output (call->graph, call->node, 0);
  const guint axis = (guint) call->node->params.one_hot.axis;
  const gint64 depth = output->dims[axis];
  const gint64 wrap = call->node->params.one_hot.from_end ? depth : 0;
  const gsize inner = sl_tensor_span (indices, axis, indices->rank),
              size = sl_dtype_size (output->dtype);
  guint8 *out = (guint8 *) call->outputs[0] + first * (gsize) depth * inner * size;
  for (gsize block = first; block < first + n; block++)
    for (gint64 place = 0; place < depth; place++)
      for (gsize i = 0; i < inner; i++, out += size) {
        const gint64 index = index_at (call, indices->dtype, block * inner + i);
        const gboolean on = index == place || (index < 0 && index + wrap == place);
        memcpy (out, call->inputs[on ? ON : OFF], size);
      }
}

static void
run (const SlKernelCall *call)
{
  const SlTensor *indices = sl_node_input (call->graph, call->node, INDICES);
  sl_parallel (call, sl_tensor_span (indices, 0, (guint) call->node->params.one_hot.axis), 1,
               some_blocks, (void *) call);
}

const SlOp sl_op_one_hot = { SL_OP_ROW (ONE_HOT, 4, 4, 1, check, infer, NULL, run) };
