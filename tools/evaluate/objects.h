/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Average precision and recall of found objects, computed as in COCO's evaluation (pycocotools).
 * The caller computes the overlap of two objects: of boxes, masks or keypoints (overlap.h, runs.h).
 */
#pragma once

#include "tools/evaluate/curve.h"

/** Most objects of a class that count in a picture, the most confident ones: for boxes and masks;
 * for keypoints. */
#define SL_OBJECT_SCORE_MOST 100
#define SL_OBJECT_SCORE_MAX_POINTS 20
/** Number of overlap thresholds: 0.50, 0.55, ... 0.95. */
#define SL_OBJECT_SCORE_OVERLAPS 10

/** Ranges of the area of labelled objects, in pixels: all; up to 32 x 32; up to 96 x 96; above. A
 * limit belongs to both ranges. */
typedef enum
{
  SL_AREA_ALL,
  SL_AREA_SMALL,
  SL_AREA_MEDIUM,
  SL_AREA_LARGE,
  SL_AREAS
} SlAreaRange;

/**
 * SlEvalObject: a labelled ("true") object or a found object.
 * @confidence: only of a found object; finite
 * @area: in pixels of the picture; finite
 * @label: its class
 * @ignored: only of a true object: it need not be found, and a found object that matches it counts
 * as neither right nor wrong
 * @crowd: only of an ignored true object: several found objects may match it
 */
typedef struct
{
  gdouble confidence, area;
  gint32 label;
  gboolean ignored, crowd;
} SlEvalObject;

/** SlObjectFigures: @truths: number of true objects that count; @ap: average precision for each
 * area, mean over the ten overlaps; @ap50,
 *  @ap75: at overlap 0.5 and 0.75, for all areas; @ar: recall for each area, mean over the ten
 * overlaps; @ar50, @ar75: at overlap 0.5 and 0.75, for all areas; @ar1, @ar10: with at most one, or
 * ten, objects of a class in a picture, for all areas. 0..1, NaN without true objects. */
typedef struct
{
  gint32 label;
  guint truths, found;
  gdouble ap[SL_AREAS], ap50, ap75, ar[SL_AREAS], ar50, ar75, ar1, ar10;
} SlObjectFigures;

/** SlOverlap: the overlap, 0..1, of the found object @found and the true object @truth of a
 * picture. */
typedef gdouble (*SlOverlap) (guint found, guint truth, gconstpointer data);

typedef struct _SlObjectScore SlObjectScore;

/** sl_object_score_new: @most: most objects of a class that count in a picture. */
SlObjectScore *sl_object_score_new (guint most);
void sl_object_score_free (SlObjectScore *score);
/** sl_object_score_best: (transfer full) (element-type guint): indices of a picture's found objects
 * that count, the most confident of each class, in order. */
GArray *sl_object_score_best (const SlObjectScore *score, const SlEvalObject *found, guint n);
/** sl_object_score_add: adds the objects of a picture. With equal confidences the earlier object
 * comes first, within a picture and among pictures. */
void sl_object_score_add (SlObjectScore *score, const SlEvalObject *truth, guint n_truth,
                          const SlEvalObject *found, guint n_found, SlOverlap overlap,
                          gconstpointer data);
/** sl_object_score_figures: (transfer full) (element-type SlObjectFigures): figures of each class
 * with true or found objects, sorted by class number. @mean: mean over the classes with true
 * objects, label -1. */
GArray *sl_object_score_figures (SlObjectScore *score, SlObjectFigures *mean);

/** sl_object_score_answers: (transfer full) (element-type SlAnswer): found objects at overlap 0.5
 * that are right or wrong, sorted. */
GArray *sl_object_score_answers (const SlObjectScore *score);
/** sl_object_score_truths: (transfer none) (element-type guint): number of true objects that count,
 * for each picture in the order of adding. */
const GArray *sl_object_score_truths (const SlObjectScore *score);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlObjectScore, sl_object_score_free)
