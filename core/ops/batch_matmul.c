/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BATCH_MATMUL of float32, int8 or int16 tensors; the dimensions before the last two broadcast.
 * Rows of floats times a matrix of int8 are rounded to 8 bits by their own range. */
#include <string.h>

#include "core/ops/kernels/kernels.h"
#include "core/ops/kernels/parallel.h"
#include "core/ops/kernels/row_codes.h"
#include "core/ops/kernels/simd/loops.h"
#include "core/ops/ops.h"

/** One product of matrices: rows, columns and depth, and steps between elements of both operands.
 */
typedef struct
{
  gsize rows, columns, depth;
  gsize a_row, a_depth, b_depth, b_column;
  const SlTensor *a, *b, *output;
  gfloat scale; /* quantised values: of a product in units of the output */
  SlClamp clamp;
} MatMul;

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const guint32 types =
    SL_DTYPE_BIT (SL_DTYPE_F32) | SL_DTYPE_BIT (SL_DTYPE_I8) | SL_DTYPE_BIT (SL_DTYPE_I16);
  const SlTensor *a = sl_node_input (graph, node, 0), *b = sl_node_input (graph, node, 1),
                 *output = sl_node_output (graph, node, 0);
  const gboolean hybrid =
    a->dtype == SL_DTYPE_F32 && b->dtype == SL_DTYPE_I8 && b->quant.count == 1;
  if (!sl_node_check_dtype (node, "input", a, types, error)
      || (!hybrid && !sl_node_check_same_dtype (node, a, b, error))
      || !sl_node_check_same_dtype (node, a, output, error)
      || !sl_node_check_quant (node, "input", a, error)
      || !sl_node_check_quant (node, "input", b, error)
      || !sl_node_check_quant (node, "output", output, error))
    return FALSE;
  if (a->rank >= 2 && b->rank >= 2)
    return TRUE;
  g_autofree char *text_a = sl_tensor_describe (a), *text_b = sl_tensor_describe (b);
  return sl_node_error (error, node, SL_ERROR_SHAPE,
                        "%s times %s; expected at least 2 dimensions each", text_a, text_b);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  SlTensor a = *sl_node_input (graph, node, 0), b = *sl_node_input (graph, node, 1);
  const gboolean ta = node->params.matmul.transpose_a, tb = node->params.matmul.transpose_b;
  const gint32 rows = a.dims[a.rank - (ta ? 1 : 2)], depth = a.dims[a.rank - (ta ? 2 : 1)];
  const gint32 columns = b.dims[b.rank - (tb ? 2 : 1)], depth_b = b.dims[b.rank - (tb ? 1 : 2)];
  gint32 dims[SL_MAX_RANK];
  guint rank = 0;
  if (depth != depth_b)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "matrices of %dx%d and %dx%d do not multiply", rows, depth, depth_b,
                          columns);
  if (node->params.matmul.flat) {
    gsize elements = 0;
    if (!sl_tensor_elements (&a, &elements) || elements / (gsize) MAX (depth, 1) > G_MAXINT32)
      return sl_node_error (error, node, SL_ERROR_LIMIT, "%" G_GSIZE_FORMAT " numbers are too many",
                            elements);
    return sl_node_set_shape (
      graph, node, 0, 2, (const gint32[]){ (gint32) (elements / (gsize) depth), columns }, error);
  }
  a.rank -= 2;
  b.rank -= 2;
  if (!sl_node_broadcast (node, &a, &b, dims, &rank, error))
    return FALSE;
  dims[rank] = rows;
  dims[rank + 1] = columns;
  return sl_node_set_shape (graph, node, 0, rank + 2, dims, error);
}

static void *
prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  MatMul *p = sl_arena_alloc (arena, sizeof *p);
  const gboolean ta = node->params.matmul.transpose_a, tb = node->params.matmul.transpose_b;
  p->a = sl_node_input (graph, node, 0);
  p->b = sl_node_input (graph, node, 1);
  p->output = sl_node_output (graph, node, 0);
  p->rows = (gsize) p->output->dims[p->output->rank - 2];
  p->columns = (gsize) p->output->dims[p->output->rank - 1];
  p->depth = (gsize) p->a->dims[p->a->rank - (ta ? 2 : 1)];
  p->a_row = ta ? 1 : p->depth;
  p->a_depth = ta ? p->rows : 1;
  p->b_depth = tb ? 1 : p->columns;
  p->b_column = tb ? p->depth : 1;
  sl_clamp_for (&p->clamp, SL_ACTIVATION_NONE, p->output);
  if (p->a->dtype != SL_DTYPE_F32)
    p->scale = sl_tensor_scale (p->a) * sl_tensor_scale (p->b) / sl_tensor_scale (p->output);
  return p;
}

gsize
sl_matmul_operand (const SlTensor *operand, const SlTensor *output, gsize i)
{
  gsize at = 0, step = 1;
  for (guint k = output->rank - 2; k-- > 0; i /= (gsize) output->dims[k]) {
    if (k + operand->rank < output->rank)
      continue;
    const gsize dim = (gsize) operand->dims[k + operand->rank - output->rank];
    at += dim > 1 ? i % (gsize) output->dims[k] * step : 0;
    step *= dim;
  }
  return at;
}

static void
row_of_floats (const MatMul *p, const gfloat *a, const gfloat *b, gfloat *out)
{
  if (p->b_column == 1) { /* whole rows of b at a time */
    memset (out, 0, p->columns * sizeof out[0]);
    for (gsize k = 0; k < p->depth; k++) {
      const gfloat x = a[k * p->a_depth];
      const gfloat *row = b + k * p->b_depth;
      for (gsize j = 0; j < p->columns; j++)
        out[j] += x * row[j];
    }
    return;
  }
  for (gsize j = 0; j < p->columns; j++) {
    gfloat sum = 0;
    for (gsize k = 0; p->a_depth > 1 && k < p->depth; k++)
      sum += a[k * p->a_depth] * b[j * p->b_column + k];
    out[j] = p->a_depth > 1 ? sum : sl_simd_loops ()->dot (a, b + j * p->b_column, p->depth);
  }
}

static void
quantised_row (const MatMul *p, const gint8 *a, const gint8 *b, gint8 *out)
{
  const gint32 za = sl_tensor_zero_point (p->a), zb = sl_tensor_zero_point (p->b);
  for (gsize j = 0; j < p->columns; j++) {
    guint32 sum = 0;
    for (gsize k = 0; k < p->depth; k++)
      sum += (guint32) ((a[k * p->a_depth] - za) * (b[j * p->b_column + k * p->b_depth] - zb));
    out[j] = (gint8) sl_requantize ((gfloat) (gint32) sum * p->scale,
                                    sl_tensor_zero_point (p->output), &p->clamp);
  }
}

static void
row_of_words (const MatMul *p, const gint16 *a, const gint16 *b, gint16 *out)
{
  const gint32 za = sl_tensor_zero_point (p->a), zb = sl_tensor_zero_point (p->b);
  for (gsize j = 0; j < p->columns; j++) {
    gint64 sum = 0;
    for (gsize k = 0; k < p->depth; k++)
      sum += (gint64) (a[k * p->a_depth] - za) * (b[j * p->b_column + k * p->b_depth] - zb);
    out[j] = (gint16) sl_requantize ((gfloat) ((gdouble) sum * (gdouble) p->scale),
                                     sl_tensor_zero_point (p->output), &p->clamp);
  }
}

/* A row that is rounded by its own range; NaN where some number is not finite. */
static void
rounded_row (const MatMul *p, const gfloat *a, const gint8 *b, gfloat *out)
{
  const gint32 zero = sl_tensor_zero_point (p->b);
  gfloat least = 0, most = 0, total = 0;
  for (gsize k = 0; k < p->depth; k++) {
    const gfloat value = a[k * p->a_depth];
    least = MIN (least, value);
    most = MAX (most, value);
    total += value * 0; /* NaN unless it is finite */
  }
  const gfloat poison = (most - least) * 0 + total;
  const SlRowCodes as = sl_row_codes (least, most, G_MAXUINT8, FALSE);
  const gfloat scale = as.scale * sl_tensor_scale (p->b);
  for (gsize j = 0; j < p->columns; j++) {
    gint64 sum = 0;
    for (gsize k = 0; poison == 0 && k < p->depth; k++)
      sum += (gint64) rintf (a[k * p->a_depth] * as.inverse)
             * (b[j * p->b_column + k * p->b_depth] - zero);
    out[j] = (gfloat) sum * scale + poison;
  }
}

static void
some_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const MatMul *p = call->state;
  for (gsize r = first; r < first + n; r++) {
    const gsize matrix = r / p->rows;
    const gsize a =
      sl_matmul_operand (p->a, p->output, matrix) * p->rows * p->depth + r % p->rows * p->a_row;
    const gsize b = sl_matmul_operand (p->b, p->output, matrix) * p->depth * p->columns;
    if (p->a->dtype != p->b->dtype)
      rounded_row (p, (const gfloat *) call->inputs[0] + a, (const gint8 *) call->inputs[1] + b,
                   (gfloat *) call->outputs[0] + r * p->columns);
    else if (p->a->dtype == SL_DTYPE_F32)
      row_of_floats (p, (const gfloat *) call->inputs[0] + a, (const gfloat *) call->inputs[1] + b,
                     (gfloat *) call->outputs[0] + r * p->columns);
    else if (p->a->dtype == SL_DTYPE_I16)
      row_of_words (p, (const gint16 *) call->inputs[0] + a, (const gint16 *) call->inputs[1] + b,
                    (gint16 *) call->outputs[0] + r * p->columns);
    else
      quantised_row (p, (const gint8 *) call->inputs[0] + a, (const gint8 *) call->inputs[1] + b,
                     (gint8 *) call->outputs[0] + r * p->columns);
  }
}

static void
run (const SlKernelCall *call)
{
  const MatMul *p = call->state;
  const gsize elements = sl_tensor_count (p->output);
  sl_parallel (call, elements / p->columns, 1, some_rows, (void *) call);
}

const SlOp sl_op_batch_matmul = { SL_OP_ROW (BATCH_MATMUL, 2, 2, 1, check, infer, prepare, run) };
