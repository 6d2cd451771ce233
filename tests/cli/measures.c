/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What `sightline eval` counts of a model's results: boxes wherever they are, and masks of those
 * objects alone that count. Figures follow from precision and recall by hand.
 */
#include "tools/eval/measures.h"

#include <math.h>

#include "postprocess/predictions/object_mask_map.h"

#define SIDE 100

static guint cells;

/* Each object fills its box: of the objects' own masks nothing is asked here. */
guint8
sl_object_mask_share (const SlInstanceMask *mask, const SlDetection *box, double x, double y)
{
  cells++;
  return 255;
}

static SlDetection
found (gfloat x_min, gfloat y_min, gfloat x_max, gfloat y_max, gfloat confidence)
{
  return (SlDetection){ x_min / SIDE, y_min / SIDE, x_max / SIDE,
                        y_max / SIDE, confidence,   .n_keypoints = 17 };
}

static SlGroundTruth
truth (gdouble x_min, gdouble y_min, gdouble x_max, gdouble y_max)
{
  return (SlGroundTruth){ .box = { x_min, y_min, x_max, y_max }, .area = -1 };
}

/* Figures by @measure of one picture, whose pixels are the tensor's. */
static SlObjectFigures
measured (SlMeasure measure, SlGroundTruth one, const SlDetection *detections, guint n,
          const SlInstanceMask *masks)
{
  SlMeasures measures = { 0 };
  SlObjectFigures mean;
  SlAffine map;
  measures.scores[measure] = sl_object_score_new (SL_OBJECT_SCORE_MOST);
  sl_affine_identity (&map);
  const SlSight sight = { &map, SIDE, SIDE, SIDE, SIDE };
  g_autoptr (GArray) truths = g_array_new (FALSE, FALSE, sizeof (SlGroundTruth));
  g_array_append_val (truths, one);
  g_autofree SlResult *result = g_new0 (SlResult, 1);
  result->n_detections = n;
  result->masks = masks;
  for (guint i = 0; i < n; i++)
    result->detections[i] = detections[i];
  sl_measures_add (&measures, truths, result, &sight);
  g_array_unref (sl_object_score_figures (measures.scores[measure], &mean));
  sl_measures_clear (&measures);
  return mean;
}

/* A box beside the picture is found, and wrong: precision is 1/2 where the true one is found behind
 * it. */
static void
test_outside (void)
{
  const SlDetection detections[] = { found (-20, -20, -10, -10, 0.9f),
                                     found (10, 10, 30, 30, 0.8f) };
  const SlObjectFigures figures =
    measured (SL_MEASURE_BOXES, truth (10, 10, 30, 30), detections, 2, NULL);
  g_assert_cmpuint (figures.found, ==, 2);
  g_assert_cmpfloat_with_epsilon (figures.ap[SL_AREA_ALL], 0.5, 1e-9);
}

/* What of a box lies beside the picture counts: 200 of 300 pixels are an overlap of 2/3. */
static void
test_partly_outside (void)
{
  const SlDetection one = found (-5, 0, 10, 20, 0.9f);
  const SlObjectFigures figures = measured (SL_MEASURE_BOXES, truth (0, 0, 10, 20), &one, 1, NULL);
  g_assert_cmpfloat_with_epsilon (figures.ap50, 1, 1e-9);
  g_assert_cmpfloat_with_epsilon (figures.ap[SL_AREA_ALL], 0.4, 1e-9);
}

static void
test_no_box (void)
{
  const SlDetection none[] = { found (10, 10, 10, 30, 0.9f), found (30, 30, 10, 10, 0.9f),
                               found (NAN, 0, 10, 10, 0.9f), found (0, 0, INFINITY, 10, 0.9f) };
  g_assert_cmpuint (measured (SL_MEASURE_BOXES, truth (10, 10, 30, 30), none, 4, NULL).found, ==,
                    0);
}

/* A person whose points lie together is found by these, wherever the box is. */
static void
test_points (void)
{
  SlEvalPoint points[SL_EVAL_POINTS];
  for (guint i = 0; i < SL_EVAL_POINTS; i++)
    points[i] = (SlEvalPoint){ 0, 0, TRUE };
  SlGroundTruth one = truth (0, 0, 10, 10);
  one.points = points;
  one.labelled = SL_EVAL_POINTS;
  const SlDetection beside = found (-40, -40, -20, -20, 0.9f);
  g_assert_cmpfloat_with_epsilon (measured (SL_MEASURE_POINTS, one, &beside, 1, NULL).ap50, 1,
                                  1e-9);
}

/* The hundred best of 150 masks of 2 x 2 pixels are made, and one beside the picture has no pixels.
 */
static void
test_masks (void)
{
  static const guint32 runs[] = { 0, 2, SIDE - 2, 2, SIDE * SIDE - SIDE - 2 };
  SlInstanceMask masks[150];
  SlRunsCost cost = { 0 };
  g_autoptr (SlRuns) mask = sl_runs_new_counts (SIDE, SIDE, runs, G_N_ELEMENTS (runs), &cost, NULL);
  SlGroundTruth one = truth (0, 0, 2, 2);
  one.mask = mask;
  SlDetection detections[G_N_ELEMENTS (masks)];
  for (guint i = 0; i < G_N_ELEMENTS (detections); i++) {
    masks[i] = (SlInstanceMask){ .width = 1, .height = 1 };
    detections[i] = i == 0   ? found (-20, -20, -10, -10, 0.99f)
                    : i == 1 ? found (0, 0, 2, 2, 0.9f)
                             : found (50, 50, 52, 52, 0.1f);
  }
  cells = 0;
  const SlObjectFigures figures =
    measured (SL_MEASURE_MASKS, one, detections, G_N_ELEMENTS (detections), masks);
  g_assert_cmpuint (cells, ==, 99 * 4);
  g_assert_cmpuint (figures.found, ==, 100);
  g_assert_cmpfloat_with_epsilon (figures.ap[SL_AREA_ALL], 0.5, 1e-9);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/eval/measures/outside", test_outside);
  g_test_add_func ("/eval/measures/partly-outside", test_partly_outside);
  g_test_add_func ("/eval/measures/no-box", test_no_box);
  g_test_add_func ("/eval/measures/points", test_points);
  g_test_add_func ("/eval/measures/masks", test_masks);
  return g_test_run ();
}
