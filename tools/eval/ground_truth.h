/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The labels of a picture: objects with boxes, and masks and keypoints where the data set has them.
 */
#pragma once

#include "tools/evaluate/overlap.h"
#include "tools/evaluate/runs.h"

/**
 * SlGroundTruth: a true object.
 * @box: in pixels of the picture, or in 0..1 of it
 * @area: pixels; below 0 = that of the box
 * @label: index of its class
 * @ignored, @crowd: see SlEvalObject
 * @mask: (nullable)
 * @points: (nullable): SL_EVAL_POINTS; @labelled of them are
 */
typedef struct
{
  SlEvalBox box;
  gdouble area;
  gint32 label;
  gboolean ignored, crowd;
  SlRuns *mask;
  SlEvalPoint *points;
  guint labelled;
} SlGroundTruth;

/** sl_ground_truth_new: (transfer full) (element-type SlGroundTruth): none yet. */
GArray *sl_ground_truth_new (void);
