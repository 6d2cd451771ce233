/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DETERMINANT: of square matrices, the last two dimensions, by elimination in double precision, the
 * largest of a column first. */
#include <math.h>

#include "core/ops/ops.h"

/* So that their copies in double precision stay small. */
#define MAX_ROWS 1024

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  const guint32 f32 = SL_DTYPE_BIT (SL_DTYPE_F32);
  if (!sl_node_check_dtype (node, "input", input, f32, error)
      || !sl_node_check_outputs (graph, node, f32, error))
    return FALSE;
  if (input->rank >= 2 && input->dims[input->rank - 1] == input->dims[input->rank - 2]
      && input->dims[input->rank - 1] <= MAX_ROWS)
    return TRUE;
  g_autofree char *text = sl_tensor_describe (input);
  return sl_node_error (error, node, SL_ERROR_SHAPE,
                        "the input is %s; expected square matrices of at most %d rows", text,
                        MAX_ROWS);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  return sl_node_set_shape (graph, node, 0, input->rank - 2, input->dims, error);
}

static void *
prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  const gsize n = (gsize) input->dims[input->rank - 1];
  return sl_arena_alloc (arena, n * n * sizeof (gdouble));
}

static gdouble
determinant (gdouble *m, gsize n)
{
  gdouble product = 1;
  for (gsize k = 0; k < n; k++) {
    gsize largest = k;
    for (gsize i = k + 1; i < n; i++)
      largest = fabs (m[i * n + k]) > fabs (m[largest * n + k]) ? i : largest;
    for (gsize j = 0; j < n && largest != k; j++) {
      const gdouble other = m[k * n + j];
      m[k * n + j] = m[largest * n + j];
      m[largest * n + j] = other;
    }
    product *= largest != k ? -m[k * n + k] : m[k * n + k];
    if (m[k * n + k] == 0)
      return 0;
    for (gsize i = k + 1; i < n; i++) {
      const gdouble factor = m[i * n + k] / m[k * n + k];
      for (gsize j = k + 1; j < n; j++)
        m[i * n + j] -= factor * m[k * n + j];
    }
  }
  return product;
}

static void
run (const SlKernelCall *call)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0);
  const gsize n = (gsize) input->dims[input->rank - 1];
  const gsize elements = sl_tensor_count (input);
  gdouble *scratch = call->state;
  for (gsize i = 0; i < elements / (n * n); i++) {
    for (gsize k = 0; k < n * n; k++)
      scratch[k] = (gdouble) ((const gfloat *) call->inputs[0])[i * n * n + k];
    ((gfloat *) call->outputs[0])[i] = (gfloat) determinant (scratch, n);
  }
}

const SlOp sl_op_determinant = { SL_OP_ROW (DETERMINANT, 1, 1, 1, check, infer, prepare, run) };
