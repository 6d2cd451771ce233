/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Greedy suppression. Kept boxes are held as one array a coordinate, so that a candidate meets many
 * of them in one vector instruction; compiled with full optimisation in every build.
 */
#include "postprocess/nms.h"

/* Kept boxes compared before looking whether one of them already overlaps. */
#define STRIDE 32

void
sl_nms_init (SlNms *nms, gfloat iou, gboolean agnostic, guint max_results)
{
  const gsize room = max_results + STRIDE;
  nms->iou = iou;
  nms->agnostic = agnostic;
  nms->max_results = max_results;
  nms->x_min = g_new0 (gfloat, room * 5);
  nms->y_min = nms->x_min + room;
  nms->x_max = nms->y_min + room;
  nms->y_max = nms->x_max + room;
  nms->area = nms->y_max + room;
  nms->label = g_new0 (gint32, room);
}

void
sl_nms_clear (SlNms *nms)
{
  g_clear_pointer (&nms->x_min, g_free);
  g_clear_pointer (&nms->label, g_free);
}

/* How many of @count kept boxes from @start on overlap the box too much. */
static guint
count_overlaps (const SlNms *nms, guint start, guint count, const SlDetection *box, gfloat area,
                gint32 label)
{
  const gfloat *restrict x_min = nms->x_min + start, *restrict y_min = nms->y_min + start;
  const gfloat *restrict x_max = nms->x_max + start, *restrict y_max = nms->y_max + start;
  const gfloat *restrict areas = nms->area + start;
  const gint32 *restrict labels = nms->label + start;
  const gfloat left = box->x_min, top = box->y_min, right = box->x_max, bottom = box->y_max,
               iou = nms->iou;
  gint32 overlaps = 0;
  for (guint i = 0; i < count; i++) {
    const gfloat x0 = x_min[i] > left ? x_min[i] : left, x1 = x_max[i] < right ? x_max[i] : right;
    const gfloat y0 = y_min[i] > top ? y_min[i] : top, y1 = y_max[i] < bottom ? y_max[i] : bottom;
    const gfloat w = x1 > x0 ? x1 - x0 : 0, h = y1 > y0 ? y1 - y0 : 0;
    overlaps += (w * h > iou * (area + areas[i] - w * h)) & (labels[i] == label);
  }
  return (guint) overlaps;
}

static gboolean
is_suppressed (const SlNms *nms, guint n_kept, const SlDetection *box, gfloat area, gint32 label)
{
  for (guint start = 0; start < n_kept; start += STRIDE)
    if (count_overlaps (nms, start, MIN (STRIDE, n_kept - start), box, area, label) > 0)
      return TRUE;
  return FALSE;
}

guint
sl_nms_run (SlNms *nms, const SlDetection *candidates, guint n, guint *kept)
{
  guint n_kept = 0;
  for (guint i = 0; i < n && n_kept < nms->max_results; i++) {
    const SlDetection *box = &candidates[i];
    const gfloat area = (box->x_max - box->x_min) * (box->y_max - box->y_min);
    const gint32 label = nms->agnostic ? 0 : box->label_id;
    if (is_suppressed (nms, n_kept, box, area, label))
      continue;
    nms->x_min[n_kept] = box->x_min;
    nms->y_min[n_kept] = box->y_min;
    nms->x_max[n_kept] = box->x_max;
    nms->y_max[n_kept] = box->y_max;
    nms->area[n_kept] = area;
    nms->label[n_kept] = label;
    kept[n_kept++] = i;
  }
  return n_kept;
}
