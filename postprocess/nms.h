/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Greedy non-maximum suppression: of boxes that overlap too much, the most confident one stays. The
 * cost is O(n k) for n sorted candidates of which k stay. The caller bounds both. Only
 * sl_nms_init() allocates.
 */
#pragma once

#include "postprocess/result.h"

/**
 * SlNms:
 * @iou: overlap above which a box goes, 0..1
 * @agnostic: whether boxes of different classes suppress each other
 * @max_results: 1..SL_MAX_RESULTS
 */
typedef struct
{
  gfloat iou;
  gboolean agnostic;
  guint max_results;
  /*< private: what has been kept, side by side >*/
  gfloat *x_min, *y_min, *x_max, *y_max, *area;
  gint32 *label;
} SlNms;

void sl_nms_init (SlNms *nms, gfloat iou, gboolean agnostic, guint max_results);
void sl_nms_clear (SlNms *nms);
/** sl_nms_run: @candidates best first, finite and not empty. Indices of those that stay go to
 * @kept, which has room for max_results. Returns how many. */
guint sl_nms_run (SlNms *nms, const SlDetection *candidates, guint n, guint *kept);
