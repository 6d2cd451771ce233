/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * NON_MAX_SUPPRESSION_V4 and V5 (soft): boxes [N,4] as two opposite corners, scores [N], then
 * constants: the most results, the overlap and the score from which boxes count, and for V5 sigma.
 * Outputs have room for all results and are zero behind the last. NON_MAX_SUPPRESSION_BATCH is
 * ONNX's form: boxes [B,N,4] and scores [B,C,N], of which each class is suppressed by itself;
 * results are rows of batch, class and box, and -1 behind the last.
 */
#include <math.h>
#include <string.h>

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
    return sl_node_error (error, node, SL_ERROR_FORMAT,
                          "the largest number of results is %d; expected at least 1", most);
  for (guint i = 3; i < node->n_inputs; i++) {
    const SlTensor *tensor = sl_node_input (graph, node, i);
    if (tensor->data == NULL || tensor->dtype != SL_DTYPE_F32 || tensor->bytes != sizeof (gfloat)) {
      g_autofree char *text = sl_tensor_describe (tensor);
      return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                            "input %u is %s%s; expected a constant of one float32", i,
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
    if (!sl_node_check_dtype (node, "output", sl_node_output (graph, node, i),
                              is_scores ? f32 : i32, error))
      return FALSE;
  }
  if (!sl_node_check_dtype (node, "boxes", boxes, f32, error)
      || !sl_node_check_dtype (node, "scores", scores, f32, error)
      || !check_constants (graph, node, error))
    return FALSE;
  if (boxes->rank == 2 && boxes->dims[1] == 4 && scores->rank == 1
      && scores->dims[0] == boxes->dims[0])
    return TRUE;
  g_autofree char *b = sl_tensor_describe (boxes), *s = sl_tensor_describe (scores);
  return sl_node_error (error, node, SL_ERROR_SHAPE,
                        "boxes %s and scores %s; expected [N,4] and [N]", b, s);
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
  return sl_arena_alloc (arena,
                         (gsize) sl_node_input (graph, node, 1)->dims[0] * sizeof (Candidate));
}

static gfloat
overlap (const gfloat *a, const gfloat *b)
{
  const gfloat ay0 = MIN (a[0], a[2]), ay1 = MAX (a[0], a[2]), ax0 = MIN (a[1], a[3]),
               ax1 = MAX (a[1], a[3]);
  const gfloat by0 = MIN (b[0], b[2]), by1 = MAX (b[0], b[2]), bx0 = MIN (b[1], b[3]),
               bx1 = MAX (b[1], b[3]);
  const gfloat area_a = (ay1 - ay0) * (ax1 - ax0), area_b = (by1 - by0) * (bx1 - bx0);
  const gfloat h = MIN (ay1, by1) - MAX (ay0, by0), w = MIN (ax1, bx1) - MAX (ax0, bx0);
  if (!(area_a > 0) || !(area_b > 0) || !(h > 0) || !(w > 0))
    return 0;
  return h * w / (area_a + area_b - h * w);
}

static void
sift_down (Candidate *heap, gsize n, gsize at)
{
  for (;;) {
    gsize best = at;
    for (gsize child = 2 * at + 1; child <= 2 * at + 2 && child < n; child++)
      if (heap[child].score > heap[best].score
          || (heap[child].score == heap[best].score && heap[child].index < heap[best].index))
        best = child;
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
  const gfloat iou_limit = constant_real (call->graph, call->node, 3),
               score_limit = constant_real (call->graph, call->node, 4);
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

static gboolean
batch_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *boxes = sl_node_input (graph, node, 0), *scores = sl_node_input (graph, node, 1);
  const guint32 f32 = SL_DTYPE_BIT (SL_DTYPE_F32);
  const gfloat iou = node->params.nms.iou_limit;
  if (!sl_node_check_dtype (node, "boxes", boxes, f32, error)
      || !sl_node_check_dtype (node, "scores", scores, f32, error)
      || !sl_node_check_dtype (node, "output", sl_node_output (graph, node, 0),
                               SL_DTYPE_BIT (SL_DTYPE_I32), error))
    return FALSE;
  if (node->params.nms.most < 1 || !(iou >= 0 && iou <= 1) || isnan (node->params.nms.score_limit))
    return sl_node_error (
      error, node, SL_ERROR_FORMAT,
      "%d boxes of a class, overlaps up to %g and scores from %g; expected at least 1, 0..1 "
      "and a number",
      node->params.nms.most, (gdouble) iou, (gdouble) node->params.nms.score_limit);
  if (boxes->rank == 3 && scores->rank == 3 && boxes->dims[2] == 4
      && boxes->dims[0] == scores->dims[0] && boxes->dims[1] == scores->dims[2])
    return TRUE;
  g_autofree char *b = sl_tensor_describe (boxes), *s = sl_tensor_describe (scores);
  return sl_node_error (error, node, SL_ERROR_SHAPE,
                        "boxes %s and scores %s; expected [B,N,4] and [B,C,N]", b, s);
}

static gboolean
batch_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *scores = sl_node_input (graph, node, 1);
  const gdouble rows =
    (gdouble) scores->dims[0] * scores->dims[1] * MIN (node->params.nms.most, scores->dims[2]);
  if (rows > G_MAXINT32)
    return sl_node_error (error, node, SL_ERROR_LIMIT, "there can be %g results", rows);
  return sl_node_set_shape (graph, node, 0, 2, (const gint32[]){ (gint32) rows, 3 }, error);
}

typedef struct
{
  Candidate *heap;
  gfloat *corners; /* of one picture's boxes */
} Batch;

static void *
batch_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const gsize n = (gsize) sl_node_input (graph, node, 1)->dims[2];
  Batch *batch = sl_arena_alloc (arena, sizeof *batch);
  batch->heap = sl_arena_alloc (arena, n * sizeof batch->heap[0]);
  batch->corners = sl_arena_alloc (arena, 4 * n * sizeof batch->corners[0]);
  return batch;
}

static void
to_corners (const SlNode *node, const gfloat *boxes, gfloat *corners, gsize n)
{
  if (!node->params.nms.centers) {
    memcpy (corners, boxes, 4 * n * sizeof boxes[0]);
    return;
  }
  for (gsize i = 0; i < 4 * n; i += 4)
    for (guint k = 0; k < 2; k++) {
      corners[i + k] = boxes[i + k] - boxes[i + k + 2] / 2;
      corners[i + k + 2] = boxes[i + k] + boxes[i + k + 2] / 2;
    }
}

/* One class of one picture, to @rows; how many there are. */
static gint32
suppress_class (const SlNode *node, const Batch *batch, const gfloat *scores, gsize n_boxes,
                gint32 picture, gint32 klass, gint32 *rows)
{
  Candidate *heap = batch->heap;
  gint32 found = 0;
  gsize n = 0;
  for (gsize i = 0; i < n_boxes; i++)
    if (scores[i] > node->params.nms.score_limit)
      heap[n++] = (Candidate){ (gint32) i, 0, scores[i] };
  for (gsize i = n / 2; i-- > 0;)
    sift_down (heap, n, i);
  while (n > 0 && found < node->params.nms.most) {
    const gint32 index = heap[0].index;
    gboolean kept = TRUE;
    for (gint32 k = 0; k < found && kept; k++)
      kept =
        !(overlap (batch->corners + 4 * (gsize) index, batch->corners + 4 * (gsize) rows[3 * k + 2])
          > node->params.nms.iou_limit);
    if (kept) {
      memcpy (rows + 3 * found, (const gint32[]){ picture, klass, index }, 3 * sizeof rows[0]);
      found++;
    }
    heap[0] = heap[--n];
    sift_down (heap, n, 0);
  }
  return found;
}

static void
batch_run (const SlKernelCall *call)
{
  const SlTensor *scores = sl_node_input (call->graph, call->node, 1),
                 *output = sl_node_output (call->graph, call->node, 0);
  const gsize n_boxes = (gsize) scores->dims[2];
  const gfloat *score = call->inputs[1];
  const Batch *batch = call->state;
  gint32 *row = call->outputs[0], *const end = row + 3 * (gsize) output->dims[0];
  for (gint32 picture = 0; picture < scores->dims[0]; picture++) {
    to_corners (call->node, (const gfloat *) call->inputs[0] + 4 * (gsize) picture * n_boxes,
                batch->corners, n_boxes);
    for (gint32 klass = 0; klass < scores->dims[1]; klass++, score += n_boxes)
      row += 3 * (gsize) suppress_class (call->node, batch, score, n_boxes, picture, klass, row);
  }
  while (row < end)
    *row++ = -1;
}

const SlOp sl_op_non_max_suppression_v4 = { SL_OP_ROW (NON_MAX_SUPPRESSION_V4, 5, 5, 2, check,
                                                       infer, prepare, run) };

const SlOp sl_op_non_max_suppression_v5 = { SL_OP_ROW (NON_MAX_SUPPRESSION_V5, 6, 6, 3, check,
                                                       infer, prepare, run) };

const SlOp sl_op_non_max_suppression_batch = { SL_OP_ROW (
  NON_MAX_SUPPRESSION_BATCH, 2, 2, 1, batch_check, batch_infer, batch_prepare, batch_run) };
