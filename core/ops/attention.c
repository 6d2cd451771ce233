/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ATTENTION of floats, which a pass makes. The plain kernel computes scores twice, for their sum
 * and for the result, so it needs no memory.
 */
#include <math.h>

#include "core/ops/kernels/parallel.h"
#include "core/ops/kernels/row_codes.h"
#include "core/ops/ops.h"

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  static const char *const names[] = { "queries", "keys", "values" };
  const guint32 f32 = SL_DTYPE_BIT (SL_DTYPE_F32);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (!sl_node_check_dtype (node, names[i], sl_node_input (graph, node, i), f32, error))
      return FALSE;
  return sl_node_check_outputs (graph, node, f32, error);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlAttention *a = node->params.attention;
  return sl_node_set_shape (graph, node, 0, a->rank, a->dims, error);
}

gfloat
sl_attention_masked (const SlAttention *a, const void *const *inputs, gsize matrix, gsize query,
                     gsize key, gfloat score)
{
  for (guint i = 0; i < a->n_masks; i++) {
    const SlAttentionMask *mask = &a->masks[i];
    const gint64 at = mask->view.offset + sl_strided_at (&mask->view, 0, matrix)
                      + sl_strided_at (&mask->view, 1, query) + sl_strided_at (&mask->view, 2, key);
    if (!mask->is_truth)
      score += mask->factor * ((const gfloat *) inputs[3 + i])[at];
    else if ((((const guint8 *) inputs[3 + i])[at] != 0) != mask->keep)
      score = mask->fill;
  }
  return score;
}

/* Where row @row of matrix @matrix begins. */
static gint64
row_of (const SlStrided *view, gsize matrix, gsize row)
{
  return view->offset + sl_strided_at (view, 0, matrix) + sl_strided_at (view, 1, row);
}

/* A key or a value of 8 bits, in units of @scale. */
static gfloat
rounded (gfloat value, gfloat scale)
{
  const gfloat steps = rintf (value / scale);
  return steps > G_MININT8 ? MIN (steps, (gfloat) G_MAXINT8) : (gfloat) G_MININT8;
}

/* The sum of @n products of a query, rounded by its own range, and a key. */
static gfloat
rounded_product (const gfloat *q, const gfloat *k, gint64 step, gint32 n, gfloat scale)
{
  gfloat least = 0, most = 0, total = 0, sum = 0;
  for (gint32 i = 0; i < n; i++) {
    least = MIN (least, q[i]);
    most = MAX (most, q[i]);
    total += q[i] * 0; /* NaN unless it is finite */
  }
  const SlRowCodes as = sl_row_codes (least, most, G_MAXUINT8, FALSE);
  for (gint32 i = 0; i < n; i++)
    sum += rintf (q[i] * as.inverse) * rounded (k[i * step], scale);
  return sum * as.scale * scale + (most - least) * 0 + total;
}

static gfloat
score_of (const SlKernelCall *call, const SlAttention *a, gsize matrix, gsize query, gsize key)
{
  const gfloat *q = (const gfloat *) call->inputs[0] + row_of (&a->q, matrix, query),
               *k = (const gfloat *) call->inputs[1] + row_of (&a->k, matrix, key);
  gint64 step = 0;
  gfloat sum = 0;
  sl_strided_step (&a->k, 2, &step);
  if (sl_attention_is_rounded (a))
    sum = rounded_product (q, k, step, a->q.dims[2], a->k_scale);
  for (gint32 i = 0; !sl_attention_is_rounded (a) && i < a->q.dims[2]; i++)
    sum += q[i] * k[i * step];
  return sl_attention_masked (a, call->inputs, matrix, query, key, sum * a->scale);
}

static void
one_query (const SlKernelCall *call, const SlAttention *a, gsize matrix, gsize query)
{
  const gsize width = (gsize) a->v.dims[2],
              keys = (gsize) sl_attention_keys (a, (gint32) query, a->k.dims[1]);
  gfloat *y = (gfloat *) call->outputs[0] + row_of (&a->y, matrix, query);
  gfloat highest = -INFINITY;
  gdouble sum = 0;
  for (gsize k = 0; k < keys; k++) {
    const gfloat score = score_of (call, a, matrix, query, k), before = highest;
    highest = MAX (highest, score);
    const gfloat base = highest > -INFINITY ? highest : 0;
    sum = (highest > before ? sum * (gdouble) expf (before - base) : sum)
          + (gdouble) expf (score - base);
  }
  const gdouble steps = sl_attention_is_rounded (a) ? G_MAXUINT8 : 0; /* of the largest share */
  for (gsize d = 0; d < width; d++)
    y[d] = 0;
  for (gsize k = 0; k < keys; k++) {
    const gfloat *v = (const gfloat *) call->inputs[2] + row_of (&a->v, matrix, k);
    const gdouble part = (gdouble) expf (score_of (call, a, matrix, query, k) - highest);
    const gfloat share = (gfloat) ((steps > 0 ? rint (part * steps) / steps : part) / sum);
    for (gsize d = 0; d < width; d++)
      y[d] += share * (steps > 0 ? rounded (v[d], a->v_scale) * a->v_scale : v[d]);
  }
}

static void
some_queries (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const SlAttention *a = call->node->params.attention;
  const gsize queries = (gsize) a->q.dims[1];
  for (gsize i = first; i < first + n; i++)
    one_query (call, a, i / queries, i % queries);
}

static void
run (const SlKernelCall *call)
{
  const SlAttention *a = call->node->params.attention;
  sl_parallel (call, (gsize) a->q.dims[0] * (gsize) a->q.dims[1], 1, some_queries, (void *) call);
}

const SlOp sl_op_attention = { SL_OP_NAMED_ROW (
  ATTENTION, "ATTENTION", 3, 3 + SL_MAX_ATTENTION_MASKS, 1, check, infer, NULL, run) };
