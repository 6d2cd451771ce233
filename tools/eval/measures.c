/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/eval/measures.h"

#include <math.h>

#include "postprocess/predictions/object_mask_map.h"

/* Share from which on a cell belongs to its object. */
#define INSIDE 128

/** Objects of a picture for one measure, and what they are compared by. */
typedef struct
{
  GArray *truths, *found;               /* of SlEvalObject */
  GArray *truth_boxes, *found_boxes;    /* of SlEvalBox */
  GPtrArray *truth_parts, *found_parts; /* of SlRuns, or of SlEvalPoint[SL_EVAL_POINTS] */
} Pairing;

const char *
sl_measure_name (SlMeasure measure)
{
  static const char *const names[SL_MEASURES] = { "boxes", "masks", "keypoints" };
  return names[measure];
}

void
sl_measures_clear (SlMeasures *measures)
{
  for (guint i = 0; i < SL_MEASURES; i++)
    g_clear_pointer (&measures->scores[i], sl_object_score_free);
  g_clear_pointer (&measures->pairs, sl_object_pairs_free);
}

static gdouble
overlap_of_boxes (guint found, guint truth, gconstpointer data)
{
  const Pairing *p = data;
  return sl_eval_box_overlap (&g_array_index (p->found_boxes, SlEvalBox, found),
                              &g_array_index (p->truth_boxes, SlEvalBox, truth),
                              g_array_index (p->truths, SlEvalObject, truth).crowd);
}

static gdouble
overlap_of_masks (guint found, guint truth, gconstpointer data)
{
  const Pairing *p = data;
  return sl_runs_overlap (p->found_parts->pdata[found], p->truth_parts->pdata[truth],
                          g_array_index (p->truths, SlEvalObject, truth).crowd);
}

static gdouble
overlap_of_points (guint found, guint truth, gconstpointer data)
{
  const Pairing *p = data;
  return sl_eval_point_overlap (p->found_parts->pdata[found], p->truth_parts->pdata[truth],
                                &g_array_index (p->truth_boxes, SlEvalBox, truth),
                                g_array_index (p->truths, SlEvalObject, truth).area);
}

/* (transfer full): the pixels of a found object, which lie inside its box and the picture. */
static SlRuns *
runs_of (const SlResult *result, guint index, const SlEvalBox *box, const SlSight *sight,
         const SlAffine *back)
{
  const SlInstanceMask *mask = &result->masks[index];
  const guint x = (guint) floor (CLAMP (box->x_min, 0, sight->width)),
              y = (guint) floor (CLAMP (box->y_min, 0, sight->height));
  const guint right = (guint) ceil (CLAMP (box->x_max, 0, sight->width)),
              bottom = (guint) ceil (CLAMP (box->y_max, 0, sight->height));
  const guint w = right - x, h = bottom - y;
  g_autofree guint8 *cells = g_malloc0 ((gsize) w * h + 1);
  for (guint row = 0; row < h && mask->width > 0 && back != NULL; row++)
    for (guint column = 0; column < w; column++) {
      double tx, ty;
      sl_affine_apply (back, x + column + 0.5, y + row + 0.5, &tx, &ty);
      cells[(gsize) row * w + column] = sl_object_mask_share (
        mask, &result->detections[index], tx / sight->tensor_width, ty / sight->tensor_height);
    }
  return sl_runs_new_cells ((guint) sight->width, (guint) sight->height, x, y, w, h, cells, INSIDE);
}

/* (transfer full): keypoints of a found object, and its @area: that of the box around them. */
static SlEvalPoint *
points_of (const SlResult *result, guint index, const SlSight *sight, gdouble *area)
{
  const SlDetectedPoint *from = &result->keypoints[result->detections[index].first_keypoint];
  SlEvalPoint *points = g_new0 (SlEvalPoint, SL_EVAL_POINTS);
  SlEvalBox around = { INFINITY, INFINITY, -INFINITY, -INFINITY };
  for (guint i = 0; i < SL_EVAL_POINTS; i++) {
    sl_affine_apply (sight->map, (gdouble) from[i].x * sight->tensor_width,
                     (gdouble) from[i].y * sight->tensor_height, &points[i].x, &points[i].y);
    around = (SlEvalBox){ MIN (around.x_min, points[i].x), MIN (around.y_min, points[i].y),
                          MAX (around.x_max, points[i].x), MAX (around.y_max, points[i].y) };
  }
  *area = sl_eval_box_area (&around);
  return points;
}

/* The box of a found object in pixels of the picture, some of which may lie outside; FALSE for one
 * that has no pixels, or is no box. */
static gboolean
box_of (const SlDetection *one, const SlSight *sight, SlEvalBox *box)
{
  const gdouble w = sight->tensor_width, h = sight->tensor_height;
  const gdouble in[4] = { (gdouble) one->x_min * w, (gdouble) one->y_min * h,
                          (gdouble) one->x_max * w, (gdouble) one->y_max * h };
  gdouble out[4];
  sl_affine_box (sight->map, in, out);
  *box = (SlEvalBox){ out[0], out[1], out[2], out[3] };
  return one->x_max > one->x_min && one->y_max > one->y_min && isfinite (sl_eval_box_area (box));
}

/** Found objects that may count: @boxes, and @indices into the result's. */
typedef struct
{
  GArray *objects, *boxes, *indices; /* of SlEvalObject, SlEvalBox and guint */
} Candidates;

static void
add_candidate (Candidates *candidates, SlMeasure measure, const SlResult *result, guint index,
               const SlSight *sight)
{
  const SlDetection *one = &result->detections[index];
  SlEvalObject object = { .confidence = (gdouble) one->confidence, .label = one->label_id };
  SlEvalBox box;
  if (!box_of (one, sight, &box)
      || (measure == SL_MEASURE_POINTS && one->n_keypoints != SL_EVAL_POINTS))
    return;
  object.area = sl_eval_box_area (&box);
  g_array_append_val (candidates->objects, object);
  g_array_append_val (candidates->boxes, box);
  g_array_append_val (candidates->indices, index);
}

/* Adds candidate @i, with its mask or its points. @back: (nullable): pixels of the picture ->
 * tensor pixels. */
static void
add_found (Pairing *p, SlMeasure measure, const SlResult *result, const Candidates *candidates,
           guint i, const SlSight *sight, const SlAffine *back)
{
  SlEvalObject object = g_array_index (candidates->objects, SlEvalObject, i);
  const SlEvalBox box = g_array_index (candidates->boxes, SlEvalBox, i);
  const guint index = g_array_index (candidates->indices, guint, i);
  if (measure == SL_MEASURE_MASKS) {
    SlRuns *runs = runs_of (result, index, &box, sight, back);
    object.area = (gdouble) sl_runs_area (runs);
    g_ptr_array_add (p->found_parts, runs);
  } else if (measure == SL_MEASURE_POINTS) {
    g_ptr_array_add (p->found_parts, points_of (result, index, sight, &object.area));
  }
  g_array_append_val (p->found, object);
  g_array_append_val (p->found_boxes, box);
}

/* Masks are made of those found objects alone that count. */
static void
add_all_found (Pairing *p, const SlObjectScore *score, SlMeasure measure, const SlResult *result,
               const SlSight *sight)
{
  g_autoptr (GArray) objects = g_array_new (FALSE, FALSE, sizeof (SlEvalObject)),
                     boxes = g_array_new (FALSE, FALSE, sizeof (SlEvalBox));
  g_autoptr (GArray) indices = g_array_new (FALSE, FALSE, sizeof (guint));
  Candidates candidates = { objects, boxes, indices };
  SlAffine back;
  const gboolean can = sl_affine_invert (sight->map, &back);
  for (guint i = 0; i < result->n_detections; i++)
    add_candidate (&candidates, measure, result, i, sight);
  g_autoptr (GArray) best =
    sl_object_score_best (score, (const SlEvalObject *) (void *) objects->data, objects->len);
  for (guint i = 0; i < best->len; i++)
    add_found (p, measure, result, &candidates, g_array_index (best, guint, i), sight,
               can ? &back : NULL);
}

static void
add_truth (Pairing *p, SlMeasure measure, const SlGroundTruth *truth)
{
  SlEvalObject object = { .label = truth->label, .ignored = truth->ignored, .crowd = truth->crowd };
  gpointer part = measure == SL_MEASURE_MASKS ? (gpointer) truth->mask : truth->points;
  if (measure != SL_MEASURE_BOXES && part == NULL)
    return;
  object.area = truth->area >= 0 ? truth->area : sl_eval_box_area (&truth->box);
  if (measure == SL_MEASURE_POINTS && truth->labelled == 0)
    object.ignored = TRUE;
  g_ptr_array_add (p->truth_parts, part);
  g_array_append_val (p->truths, object);
  g_array_append_val (p->truth_boxes, truth->box);
}

static void
add_measure (SlMeasures *measures, SlMeasure measure, const GArray *truths, const SlResult *result,
             const SlSight *sight)
{
  SlObjectScore *score = measures->scores[measure];
  static const SlOverlap overlaps[SL_MEASURES] = { overlap_of_boxes, overlap_of_masks,
                                                   overlap_of_points };
  g_autoptr (GArray) objects = g_array_new (FALSE, FALSE, sizeof (SlEvalObject)),
                     found = g_array_new (FALSE, FALSE, sizeof (SlEvalObject));
  g_autoptr (GArray) truth_boxes = g_array_new (FALSE, FALSE, sizeof (SlEvalBox)),
                     found_boxes = g_array_new (FALSE, FALSE, sizeof (SlEvalBox));
  g_autoptr (GPtrArray) truth_parts = g_ptr_array_new ();
  g_autoptr (GPtrArray) found_parts = g_ptr_array_new_with_free_func (
    measure == SL_MEASURE_MASKS ? (GDestroyNotify) sl_runs_free : g_free);
  Pairing p = { objects, found, truth_boxes, found_boxes, truth_parts, found_parts };
  for (guint i = 0; i < truths->len; i++)
    add_truth (&p, measure, &g_array_index (truths, SlGroundTruth, i));
  add_all_found (&p, score, measure, result, sight);
  sl_object_score_add (score, (const SlEvalObject *) (void *) objects->data, objects->len,
                       (const SlEvalObject *) (void *) found->data, found->len, overlaps[measure],
                       &p);
  if (measure == SL_MEASURE_BOXES && measures->pairs != NULL)
    sl_object_pairs_add (measures->pairs, (const SlEvalObject *) (void *) objects->data,
                         objects->len, (const SlEvalObject *) (void *) found->data, found->len,
                         overlaps[measure], &p);
}

void
sl_measures_add (SlMeasures *measures, const GArray *truths, const SlResult *result,
                 const SlSight *sight)
{
  for (guint i = 0; i < SL_MEASURES; i++)
    if (measures->scores[i] != NULL)
      add_measure (measures, (SlMeasure) i, truths, result, sight);
}
