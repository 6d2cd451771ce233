/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * NON_MAX_SUPPRESSION_V4 and V5 (soft): boxes [N,4] as two opposite corners, scores [N], then constants: the most
 * results, the overlap and the score from which boxes count, and for V5 sigma. Outputs have room for all results and
 * are zero behind the last.
 */
#include <string.h>

#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

static gfloat
constant_real (const SlGraph *graph, const SlNode *node, guint i)
{
  return *(const gfloat *) sl_node_input (graph, node, i)->data;
}

static gboolean
check_constants (const SlGraph *graph, const SlNode *node, GError **error)
{
  gint32 most = 0;
  guint count = 0;
  if (!sl_node_constant (graph, node, 2, "largest number of results", &most, 1, &count, error))
    return FALSE;
  if (count != 1 || most < 1)
    return sl_node_error (error, node, SL_ERROR_FORMAT, "the largest number of results is %d; expected at least 1", most);
  for (guint i = 3; i < node->n_inputs; i++) {
    const SlTensor *tensor = sl_node_input (graph, node, i);
    if (tensor->data == NULL || tensor->dtype != SL_DTYPE_F32 || tensor->bytes != sizeof (gfloat)) {
      g_autofree char *text = sl_tensor_describe (tensor);
      return sl_node_error (error, node, SL_ERROR_UNSUPPORTED, "input %u is %s%s; expected a constant of one float32", i,
                            tensor->data == NULL ? "variable " : "", text);
    }
  }
  return TRUE;
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *boxes = sl_node_input (graph, node, 0), *scores = sl_node_input (graph, node, 1);
  const guint32 f32 = SL_DTYPE_BIT (SL_DTYPE_F32), i32 = SL_DTYPE_BIT (SL_DTYPE_I32);
  for (guint i = 0; i < node->n_outputs; i++) {
    const gboolean is_scores = node->n_outputs == 3 && i == 1;
    if (!sl_node_check_dtype (node, "output", sl_node_output (graph, node, i), is_scores ? f32 : i32, error))
      return FALSE;
  }
  if (!sl_node_check_dtype (node, "boxes", boxes, f32, error) || !sl_node_check_dtype (node, "scores", scores, f32, error)
      || !check_constants (graph, node, error))
    return FALSE;
  if (boxes->rank == 2 && boxes->dims[1] == 4 && scores->rank == 1 && scores->dims[0] == boxes->dims[0])
    return TRUE;
  g_autofree char *b = sl_tensor_describe (boxes), *s = sl_tensor_describe (scores);
  return sl_node_error (error, node, SL_ERROR_SHAPE, "boxes %s and scores %s; expected [N,4] and [N]", b, s);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  gint32 most = 0;
  guint count = 0;
  sl_constant_ints (sl_node_input (graph, node, 2), &most, 1, &count);
  for (guint i = 0; i < node->n_outputs; i++)
    if (!sl_node_set_shape (graph, node, i, i + 1 < node->n_outputs ? 1 : 0, &most, error))
      return FALSE;
  return TRUE;
}

/** A box waiting; the list is sorted by score, then by index. */
typedef struct
{
  gint32 index, seen; /* seen: how many results it was compared with */
  gfloat score;
} Candidate;

static void *
prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  return sl_arena_alloc (arena, (gsize) sl_node_input (graph, node, 1)->dims[0] * sizeof (Candidate));
}

static gfloat
overlap (const gfloat *a, const gfloat *b)
{
  const gfloat ay0 = MIN (a[0], a[2]), ay1 = MAX (a[0], a[2]), ax0 = MIN (a[1], a[3]), ax1 = MAX (a[1], a[3]);
  const gfloat by0 = MIN (b[0], b[2]), by1 = MAX (b[0], b[2]), bx0 = MIN (b[1], b[3]), bx1 = MAX (b[1], b[3]);
  const gfloat area_a = (ay1 - ay0) * (ax1 - ax0), area_b = (by1 - by0) * (bx1 - bx0);
  const gfloat h = MIN (ay1, by1) - MAX (ay0, by0), w = MIN (ax1, bx1) - MAX (ax0, bx0);
  if (!(area_a > 0) || !(area_b > 0) || !(h > 0) || !(w > 0))
    return 0;
  return h * w / (area_a + area_b - h * w);
}

/* Heaviest first; a binary heap, since soft suppression puts boxes back. */
static gboolean
before (const Candidate *a, const Candidate *b)
{
  return a->score > b->score || (a->score == b->score && a->index < b->index);
}

static void
sift_down (Candidate *heap, gsize n, gsize at)
{
  for (;;) {
    gsize best = at;
    for (gsize child = 2 * at + 1; child <= 2 * at + 2 && child < n; child++)
      best = before (&heap[child], &heap[best]) ? child : best;
    if (best == at)
      return;
    const Candidate swap = heap[at];
    heap[at] = heap[best];
    heap[best] = swap;
    at = best;
  }
}

static void
run (const SlKernelCall *call)
{
  const gfloat *boxes = call->inputs[0], *scores = call->inputs[1];
  const gfloat iou_limit = constant_real (call->graph, call->node, 3), score_limit = constant_real (call->graph, call->node, 4);
  const gfloat sigma = call->node->n_inputs > 5 ? constant_real (call->graph, call->node, 5) : 0;
  const gsize n_boxes = (gsize) sl_node_input (call->graph, call->node, 1)->dims[0];
  const gint32 most = sl_node_output (call->graph, call->node, 0)->dims[0];
  Candidate *heap = call->state;
  gint32 *indices = call->outputs[0], found = 0;
  gfloat *kept_scores = call->node->n_outputs == 3 ? call->outputs[1] : NULL;
  gsize n = 0;
  memset (indices, 0, (gsize) most * sizeof indices[0]);
  if (kept_scores != NULL)
    memset (kept_scores, 0, (gsize) most * sizeof kept_scores[0]);
  for (gsize i = 0; i < n_boxes; i++)
    if (scores[i] > score_limit)
      heap[n++] = (Candidate){ (gint32) i, 0, scores[i] };
  for (gsize i = n / 2; i-- > 0;)
    sift_down (heap, n, i);
  while (n > 0 && found < most) {
    Candidate next = heap[0];
    const gfloat was = next.score;
    for (gint32 k = found; k-- > next.seen && next.score > score_limit;) {
      const gfloat iou = overlap (boxes + 4 * next.index, boxes + 4 * indices[k]);
      if (iou >= iou_limit)
        next.score = -INFINITY;
      else if (sigma > 0)
        next.score *= expf (-0.5f * iou * iou / sigma);
    }
    next.seen = found;
    if (next.score == was) {
      if (kept_scores != NULL)
        kept_scores[found] = next.score;
      indices[found++] = next.index;
    }
    heap[0] = next.score != was && next.score > score_limit ? next : heap[--n];
    sift_down (heap, n, 0);
  }
  *(gint32 *) call->outputs[call->node->n_outputs - 1] = found;
}

const SlOp sl_op_non_max_suppression_v4 = {
  .type = SL_OP_NON_MAX_SUPPRESSION_V4,
  .name = "NON_MAX_SUPPRESSION_V4",
  .min_inputs = 5,
  .max_inputs = 5,
  .required = 5,
  .n_outputs = 2,
  .check = check,
  .infer = infer,
  .prepare = prepare,
  .run = run,
};

const SlOp sl_op_non_max_suppression_v5 = {
  .type = SL_OP_NON_MAX_SUPPRESSION_V5,
  .name = "NON_MAX_SUPPRESSION_V5",
  .min_inputs = 6,
  .max_inputs = 6,
  .required = 6,
  .n_outputs = 3,
  .check = check,
  .infer = infer,
  .prepare = prepare,
  .run = run,
};
