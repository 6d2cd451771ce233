/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Average precision and recall of found objects, as COCO's evaluation (pycocotools) computes it. How much two objects overlap is the
 * caller's: boxes, masks or keypoints (overlap.h, runs.h).
 */
#ifndef SL_EVALUATE_OBJECTS_H
#define SL_EVALUATE_OBJECTS_H

#include <glib.h>

G_BEGIN_DECLS

/** Objects of a class that count in a picture, the most confident: boxes and masks; keypoints. */
#define SL_OBJECT_SCORE_MOST 100
#define SL_OBJECT_SCORE_MAX_POINTS 20
/** Overlaps that a found object must reach: 0.50, 0.55, ... 0.95. */
#define SL_OBJECT_SCORE_OVERLAPS 10

/** Areas of true objects, pixels: any; below 32 x 32; up to 96 x 96; above. A limit itself belongs to both sides. */
typedef enum
{
  SL_AREA_ALL,
  SL_AREA_SMALL,
  SL_AREA_MEDIUM,
  SL_AREA_LARGE,
  SL_AREAS
} SlAreaRange;

/**
 * SlEvalObject: a true or a found object.
 * @confidence: of a found object; finite
 * @area: in pixels of the picture; finite
 * @label: its class
 * @ignored: of a true object: it need not be found, and who finds it is neither right nor wrong
 * @crowd: of a true object that is ignored: many may find it
 */
typedef struct
{
  gdouble confidence, area;
  gint32 label;
  gboolean ignored, crowd;
} SlEvalObject;

/** SlObjectFigures: @truths: true objects that count; @ap: by area, mean over the ten overlaps; @ap50, @ap75: at 0.5 and 0.75, of all
 *  areas; @ar: by area, mean recall over the ten overlaps; @ar50, @ar75: at 0.5 and 0.75, of all areas; @ar1, @ar10: where one, or ten,
 *  objects of a class count in a picture, of all areas. 0..1, not a number without true objects. */
typedef struct
{
  gint32 label;
  guint truths, found;
  gdouble ap[SL_AREAS], ap50, ap75, ar[SL_AREAS], ar50, ar75, ar1, ar10;
} SlObjectFigures;

/** SlOverlap: 0..1: how far found object @found and true object @truth of a picture are the same. */
typedef gdouble (*SlOverlap) (guint found, guint truth, gconstpointer data);

typedef struct _SlObjectScore SlObjectScore;

/** sl_object_score_new: @most: objects of a class that count in a picture. */
SlObjectScore *sl_object_score_new (guint most);
void sl_object_score_free (SlObjectScore *score);
/** sl_object_score_best: (transfer full) (element-type guint): which of a picture's found objects count, the most confident of each class,
 *  in order. */
GArray *sl_object_score_best (const SlObjectScore *score, const SlEvalObject *found, guint n);
/** sl_object_score_add: a picture's objects. Of equal confidences the earlier comes first, within a picture and among pictures. */
void sl_object_score_add (SlObjectScore *score, const SlEvalObject *truth, guint n_truth, const SlEvalObject *found, guint n_found,
                          SlOverlap overlap, gconstpointer data);
/** sl_object_score_figures: (transfer full) (element-type SlObjectFigures): of each class that was true or found, by number; @mean: over
 *  those with true objects, its label -1. */
GArray *sl_object_score_figures (SlObjectScore *score, SlObjectFigures *mean);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlObjectScore, sl_object_score_free)

G_END_DECLS

#endif
