/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The overlap of two objects, computed as in pycocotools: intersection over union of boxes, and
 * object keypoint similarity (OKS).
 */
#pragma once

#include <glib.h>

/** Keypoints of COCO's persons. The similarity is defined only for these. */
#define SL_EVAL_POINTS 17

/** SlEvalBox: @x_min, @y_min, @x_max, @y_max: finite, in any unit that both boxes share. */
typedef struct
{
  gdouble x_min, y_min, x_max, y_max;
} SlEvalBox;

/** SlEvalPoint: a point in pixels. @visible: only of a true point: whether it was labelled. */
typedef struct
{
  gdouble x, y;
  gboolean visible;
} SlEvalPoint;

gdouble sl_eval_box_area (const SlEvalBox *box);
/** sl_eval_box_overlap: intersection over union. With @crowd, intersection over the area of @found,
 * because a crowd is larger than one object. */
gdouble sl_eval_box_overlap (const SlEvalBox *found, const SlEvalBox *truth, gboolean crowd);
/** sl_eval_point_overlap: object keypoint similarity of SL_EVAL_POINTS points each. @area: area of
 * the true object; @box: its box, which is used where no point is labelled: found points near it
 * count. */
gdouble sl_eval_point_overlap (const SlEvalPoint *found, const SlEvalPoint *truth,
                               const SlEvalBox *box, gdouble area);
