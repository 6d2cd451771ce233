/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LOCAL_RESPONSE_NORMALIZATION: each value is divided by a power of the sum of squares over
 * neighbouring channels, which are the last dimension. AlexNet, GoogLeNet and networks of Caffe
 * have it.
 */
#include <math.h>

#include "core/ops/kernels/parallel.h"
#include "core/ops/ops.h"

/* Values for which a thread is worth its while. */
#define PART_ELEMENTS 4096

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  if (!sl_node_check_typed (graph, node, 1, SL_DTYPE_BIT (SL_DTYPE_F32), error))
    return FALSE;
  if (sl_node_input (graph, node, 0)->rank < 1)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "input is a scalar; expected at least one dimension");
  const gint32 before = node->params.local_response.before,
               after = node->params.local_response.after;
  if (before < 0 || after < 0)
    return sl_node_error (error, node, SL_ERROR_FORMAT, "radius is %d; expected 0 or more",
                          MIN (before, after));
  if (!isfinite (node->params.local_response.bias) || !isfinite (node->params.local_response.alpha)
      || !isfinite (node->params.local_response.beta))
    return sl_node_error (error, node, SL_ERROR_FORMAT,
                          "bias, alpha or beta is not a finite number");
  return TRUE;
}

typedef struct
{
  const SlKernelCall *call;
  gint32 n; /* channels */
} Rows;

static gfloat
power (gdouble base, gfloat beta)
{
  if (beta == 0.75f)
    return (gfloat) (1 / (sqrt (base) * sqrt (sqrt (base))));
  return (gfloat) pow (base, -(gdouble) beta);
}

static void
run_rows (void *data, gsize first, gsize n_rows)
{
  const Rows *rows = data;
  const SlOpParams *params = &rows->call->node->params;
  const gint32 n = rows->n, before = MIN (params->local_response.before, n),
               after = MIN (params->local_response.after, n);
  for (gsize r = first; r < first + n_rows; r++) {
    const gfloat *in = (const gfloat *) rows->call->inputs[0] + r * (gsize) n;
    gfloat *out = (gfloat *) rows->call->outputs[0] + r * (gsize) n;
    for (gint32 i = 0; i < n; i++) {
      gdouble sum = 0;
      for (gint32 k = MAX (i - before, 0); k <= MIN (i + after, n - 1); k++)
        sum += (gdouble) in[k] * (gdouble) in[k];
      const gdouble base =
        (gdouble) params->local_response.bias + (gdouble) params->local_response.alpha * sum;
      out[i] = in[i] * power (base, params->local_response.beta);
    }
  }
}

static void
run (const SlKernelCall *call)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0);
  Rows rows = { call, input->dims[input->rank - 1] };
  const gsize elements = sl_tensor_count (input);
  sl_parallel (call, elements / (gsize) rows.n, PART_ELEMENTS / (gsize) rows.n + 1, run_rows,
               &rows);
}

const SlOp sl_op_local_response_normalization = { SL_OP_ROW (
  LOCAL_RESPONSE_NORMALIZATION, 1, 1, 1, check, sl_node_same_shape_infer, NULL, run) };
