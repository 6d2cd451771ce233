/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TFLite_Detection_PostProcess: decode centre-size boxes against anchors, then either one
 * non-maximum suppression over each anchor's best class ("fast") or one per class ("regular").
 * Candidates are taken from a heap, best first, ties in the anchors' order, until enough are kept,
 * and only boxes of those taken are decoded. NaN scores never pass the threshold.
 */
#include <string.h>

#include "core/ops/kernels/kernels.h"
#include "core/ops/kernels/simd/loops.h"

typedef struct
{
  gfloat y0, x0, y1, x1;
} Box;

typedef struct
{
  gint32 n_boxes, n_columns, offset; /* anchors; score columns; 1 when column 0 is background */
  Box *boxes;
  guint8 *decoded; /* by anchor: its box is */
  gfloat *scores;  /* dequantised, n_boxes x n_columns; unless by_quantised */
  gint32 *classes; /* best classes of each anchor, n_boxes x classes per anchor */
  SlCandidate *candidates, *kept;
  gboolean
    by_quantised; /* the best class is found among the bytes: the numbers they stand for ascend */
  gfloat values[256]; /* what they stand for, by the byte */
} Detection;

static void
values_new (Detection *d, const SlTensor *scores)
{
  const guint8 flip = scores->dtype == SL_DTYPE_I8 ? 0x80 : 0;
  gfloat last = -INFINITY;
  d->by_quantised = scores->dtype != SL_DTYPE_F32;
  for (gint i = 0; d->by_quantised && i < 256; i++) {
    const gfloat value =
      (gfloat) (i - flip - sl_tensor_zero_point (scores)) * sl_tensor_scale (scores);
    d->values[i ^ flip] = value;
    d->by_quantised = value > last;
    last = value;
  }
}

void *
sl_kernel_detection_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlDetectionParams *params = &node->params.detection;
  const SlTensor *scores = sl_node_input (graph, node, 1);
  Detection *d = sl_arena_alloc (arena, sizeof *d);
  const gsize n = (gsize) scores->dims[1];
  d->n_boxes = scores->dims[1];
  d->n_columns = scores->dims[2];
  d->offset = d->n_columns - params->num_classes;
  d->boxes = sl_arena_alloc (arena, n * sizeof d->boxes[0]);
  d->classes =
    sl_arena_alloc (arena, n * (gsize) MIN (params->max_classes_per_detection, params->num_classes)
                             * sizeof d->classes[0]);
  d->candidates = sl_arena_alloc (arena, n * sizeof d->candidates[0]);
  d->kept = sl_arena_alloc (
    arena, (gsize) (MAX (params->max_detections, 0) + MAX (params->detections_per_class, 0) + 1)
             * sizeof d->kept[0]);
  d->decoded = sl_arena_alloc (arena, n);
  values_new (d, scores);
  d->by_quantised &=
    !params->use_regular_nms && MIN (params->max_classes_per_detection, params->num_classes) == 1;
  if (!d->by_quantised)
    d->scores = sl_arena_alloc (arena, n * (gsize) d->n_columns * sizeof d->scores[0]);
  return d;
}

static gfloat
real_at (const SlKernelCall *call, guint input, gsize i)
{
  const SlTensor *tensor = sl_node_input (call->graph, call->node, input);
  if (tensor->dtype == SL_DTYPE_F32)
    return ((const gfloat *) call->inputs[input])[i];
  return (gfloat) (sl_load_8bit (call->inputs[input], tensor->dtype, i)
                   - sl_tensor_zero_point (tensor))
         * sl_tensor_scale (tensor);
}

static void
dequantize_scores (const SlKernelCall *call, gfloat *scores, gsize n)
{
  const SlTensor *tensor = sl_node_input (call->graph, call->node, 1);
  const gfloat scale = sl_tensor_scale (tensor);
  const gint32 zero_point = sl_tensor_zero_point (tensor);
  const guint8 *u8 = call->inputs[1];
  const gint8 *i8 = call->inputs[1];
  if (tensor->dtype == SL_DTYPE_F32)
    memcpy (scores, call->inputs[1], n * sizeof scores[0]);
  else if (tensor->dtype == SL_DTYPE_U8)
    for (gsize i = 0; i < n; i++)
      scores[i] = (gfloat) (u8[i] - zero_point) * scale;
  else
    for (gsize i = 0; i < n; i++)
      scores[i] = (gfloat) (i8[i] - zero_point) * scale;
}

static const Box *
box_of (const SlKernelCall *call, Detection *d, gint32 index)
{
  const SlDetectionParams *p = &call->node->params.detection;
  const gsize step = (gsize) sl_node_input (call->graph, call->node, 0)->dims[2], i = (gsize) index;
  gdouble encoding[4], anchor[4];
  if (d->decoded[i])
    return &d->boxes[i];
  for (guint k = 0; k < 4; k++) {
    encoding[k] = (gdouble) real_at (call, 0, i * step + k);
    anchor[k] = (gdouble) real_at (call, 2, i * 4 + k);
  }
  const gfloat yc = (gfloat) (encoding[0] / (gdouble) p->scale_y * anchor[2] + anchor[0]);
  const gfloat xc = (gfloat) (encoding[1] / (gdouble) p->scale_x * anchor[3] + anchor[1]);
  const gfloat half_h = (gfloat) (0.5 * exp (encoding[2] / (gdouble) p->scale_h) * anchor[2]);
  const gfloat half_w = (gfloat) (0.5 * exp (encoding[3] / (gdouble) p->scale_w) * anchor[3]);
  d->boxes[i] = (Box){ yc - half_h, xc - half_w, yc + half_h, xc + half_w };
  d->decoded[i] = 1;
  return &d->boxes[i];
}

static gfloat
overlap (const Box *a, const Box *b)
{
  const gfloat area_a = (a->y1 - a->y0) * (a->x1 - a->x0),
               area_b = (b->y1 - b->y0) * (b->x1 - b->x0);
  if (!(area_a > 0 && area_b > 0))
    return 0.0f;
  const gfloat h = MIN (a->y1, b->y1) - MAX (a->y0, b->y0),
               w = MIN (a->x1, b->x1) - MAX (a->x0, b->x0);
  const gfloat common = MAX (h, 0.0f) * MAX (w, 0.0f);
  return common / (area_a + area_b - common);
}

static gboolean
overlaps_any (const SlKernelCall *call, Detection *d, const SlCandidate *candidate,
              const SlCandidate *kept, gint32 n)
{
  const gfloat threshold = call->node->params.detection.nms_iou_threshold;
  const Box *box = box_of (call, d, candidate->place);
  for (gint32 i = 0; i < n; i++)
    if (overlap (&d->boxes[kept[i].place], box) > threshold)
      return TRUE;
  return FALSE;
}

/* Suppresses within the first @n candidates; writes at most @limit survivors to @out and returns
 * their number. */
static gint32
suppress (const SlKernelCall *call, Detection *d, gsize n, gint32 limit, SlCandidate *out)
{
  gint32 found = 0;
  sl_candidates_order (d->candidates, n);
  while (n > 0 && found < limit) {
    const SlCandidate best = sl_candidates_take (d->candidates, &n);
    if (!overlaps_any (call, d, &best, out, found))
      out[found++] = best;
  }
  return found;
}

/* The @n best classes of one anchor, best first, earlier classes first among equals. */
static void
best_classes (const gfloat *scores, gint32 n_classes, gint32 *best, gint32 n)
{
  if (n > 0)
    best[0] = 0;
  for (gint32 c = 1; n > 0 && c < n_classes; c++)
    if (scores[c] > scores[best[0]])
      best[0] = c;
  for (gint32 k = 1; k < n; k++) {
    gint32 top = -1;
    for (gint32 c = 0; c < n_classes; c++) {
      gboolean taken = FALSE;
      for (gint32 j = 0; j < k; j++)
        taken |= best[j] == c;
      if (!taken && (top < 0 || scores[c] > scores[top]))
        top = c;
    }
    best[k] = top;
  }
}

static void
write_detection (const SlKernelCall *call, const Detection *d, gint32 slot, gint32 anchor,
                 gint32 klass, gfloat score)
{
  memcpy ((gfloat *) call->outputs[0] + 4 * slot, &d->boxes[anchor], sizeof d->boxes[0]);
  ((gfloat *) call->outputs[1])[slot] = (gfloat) klass;
  ((gfloat *) call->outputs[2])[slot] = score;
}

/* The best class of each anchor, of quantised values. */
static gsize
quantised_candidates (const SlKernelCall *call, Detection *d)
{
  const SlDetectionParams *p = &call->node->params.detection;
  const guint8 flip = sl_node_input (call->graph, call->node, 1)->dtype == SL_DTYPE_I8 ? 0x80 : 0;
  gsize n = 0;
  for (gint32 i = 0; i < d->n_boxes; i++) {
    const guint8 *row =
      (const guint8 *) call->inputs[1] + (gsize) i * (gsize) d->n_columns + d->offset;
    sl_simd_loops ()->arg_max (row, (gsize) p->num_classes, 1, flip, &d->classes[i]);
    const gfloat score = d->values[row[d->classes[i]]];
    if (score >= p->nms_score_threshold)
      d->candidates[n++] = (SlCandidate){ score, i, d->classes[i] };
  }
  return n;
}

static gsize
candidates_of_scores (const SlKernelCall *call, Detection *d, gint32 per_anchor)
{
  const SlDetectionParams *p = &call->node->params.detection;
  gsize n = 0;
  dequantize_scores (call, d->scores, (gsize) d->n_boxes * (gsize) d->n_columns);
  for (gint32 i = 0; i < d->n_boxes; i++) {
    const gfloat *scores = d->scores + (gsize) i * (gsize) d->n_columns + d->offset;
    gint32 *best = d->classes + (gsize) i * (gsize) per_anchor;
    best_classes (scores, p->num_classes, best, per_anchor);
    if (scores[best[0]] >= p->nms_score_threshold)
      d->candidates[n++] = (SlCandidate){ scores[best[0]], i, best[0] };
  }
  return n;
}

static gint32
run_fast (const SlKernelCall *call, Detection *d)
{
  const SlDetectionParams *p = &call->node->params.detection;
  const gint32 per_anchor = MIN (p->max_classes_per_detection, p->num_classes);
  const gsize n =
    d->by_quantised ? quantised_candidates (call, d) : candidates_of_scores (call, d, per_anchor);
  const gint32 found = suppress (call, d, n, p->max_detections, d->kept);
  for (gint32 k = 0; k < found; k++) {
    const gint32 anchor = d->kept[k].place;
    for (gint32 c = 0; c < per_anchor; c++) {
      const gint32 klass = d->classes[anchor * per_anchor + c];
      const gfloat score =
        c == 0 ? d->kept[k].score
               : d->scores[(gsize) anchor * (gsize) d->n_columns + (gsize) (d->offset + klass)];
      write_detection (call, d, p->max_classes_per_detection * k + c, anchor, klass, score);
    }
  }
  return found;
}

static gint32
run_regular (const SlKernelCall *call, Detection *d)
{
  const SlDetectionParams *p = &call->node->params.detection;
  gint32 kept = 0;
  dequantize_scores (call, d->scores, (gsize) d->n_boxes * (gsize) d->n_columns);
  for (gint32 c = 0; c < p->num_classes; c++) {
    gsize n = 0;
    for (gint32 i = 0; i < d->n_boxes; i++) {
      const gfloat score = d->scores[(gsize) i * (gsize) d->n_columns + (gsize) (d->offset + c)];
      if (score >= p->nms_score_threshold)
        d->candidates[n++] = (SlCandidate){ score, i, c };
    }
    const gint32 found = suppress (call, d, n, p->detections_per_class, d->kept + kept);
    for (gint32 k = kept; k < kept + found; k++) {
      const SlCandidate item = d->kept[k];
      gint32 at = k;
      for (; at > 0 && d->kept[at - 1].score < item.score; at--)
        d->kept[at] = d->kept[at - 1];
      d->kept[at] = item;
    }
    kept = MIN (kept + found, p->max_detections);
  }
  for (gint32 k = 0; k < kept; k++)
    write_detection (call, d, k, d->kept[k].place, d->kept[k].klass, d->kept[k].score);
  return kept;
}

void
sl_kernel_detection (const SlKernelCall *call)
{
  Detection *d = call->state;
  for (guint i = 0; i < 4; i++)
    memset (call->outputs[i], 0, sl_node_output (call->graph, call->node, i)->bytes);
  memset (d->decoded, 0, (gsize) d->n_boxes);
  const gint32 found =
    call->node->params.detection.use_regular_nms ? run_regular (call, d) : run_fast (call, d);
  ((gfloat *) call->outputs[3])[0] = (gfloat) found;
}
