/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turned boxes: overlaps against counted points, and the rows of Ultralytics' oriented detectors in
 * all their forms. */
#include <math.h>

#include "postprocess/rotated.h"
#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define WIDTH 200
#define HEIGHT 100
#define CLASSES 3
#define ROWS 12

static gboolean
contains (const SlRotated *box, double x, double y)
{
  const double dx = x - box->x, dy = y - box->y, c = cos (box->angle), s = sin (box->angle);
  return fabs (dx * c + dy * s) <= box->w / 2.0 && fabs (-dx * s + dy * c) <= box->h / 2.0;
}

/* Intersection over union, by counting points of a grid. */
static double
count_overlap (const SlRotated *a, const SlRotated *b)
{
  guint both = 0, any = 0;
  for (double y = -60; y < 60; y += 0.25)
    for (double x = -60; x < 60; x += 0.25) {
      const gboolean in_a = contains (a, x, y), in_b = contains (b, x, y);
      both += in_a && in_b;
      any += in_a || in_b;
    }
  return (double) both / MAX (any, 1);
}

static void
test_overlap (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  for (guint i = 0; i < 60; i++) {
    SlRotated boxes[2];
    for (guint k = 0; k < 2; k++)
      boxes[k] = (SlRotated){ (gfloat) g_rand_double_range (rand, -12, 12),
                              (gfloat) g_rand_double_range (rand, -12, 12),
                              (gfloat) g_rand_double_range (rand, 5, 45),
                              (gfloat) g_rand_double_range (rand, 5, 45),
                              (gfloat) g_rand_double_range (rand, -4, 4) };
    const double overlap = sl_rotated_overlap (&boxes[0], &boxes[1]);
    g_assert_cmpfloat_with_epsilon (overlap, count_overlap (&boxes[0], &boxes[1]), 0.02);
    g_assert_cmpfloat_with_epsilon (overlap, sl_rotated_overlap (&boxes[1], &boxes[0]), 1e-9);
    g_assert_cmpfloat_with_epsilon (sl_rotated_overlap (&boxes[0], &boxes[0]), 1, 1e-6);
  }
  const SlRotated far = { 100, 0, 5, 5, 1 }, near = { 0, 0, 5, 5, 0 }, beside = { 5, 0, 5, 5, 0 };
  g_assert_cmpfloat (sl_rotated_overlap (&far, &near), ==, 0);
  g_assert_cmpfloat_with_epsilon (sl_rotated_overlap (&beside, &near), 0, 1e-9);
}

/* Boxes in pixels, best first: the second crosses the first and stays, the third is nearly the
 * first and goes. */
static const struct
{
  double x, y, w, h, angle, score;
  guint label;
} objects[] = {
  { 60, 50, 60, 10, 0.5, 0.9, 2 },
  { 60, 50, 60, 10, -0.9, 0.8, 2 },
  { 61, 50, 58, 10, 0.52, 0.7, 2 },
  { 150, 40, 30, 20, 2, 0.6, 0 },
};
static const guint found[] = { 0, 1, 3 };

static void
test_rows (void)
{
  for (guint form = 0; form < 4; form++) {
    const gboolean end_to_end = form == 3, transposed = form < 2, normalised = form == 1;
    const guint channels = end_to_end ? 7 : 4 + CLASSES + 1;
    gfloat data[ROWS * 8] = { 0 };
    for (guint i = 0; i < G_N_ELEMENTS (objects); i++) {
      gfloat row[8] = { (gfloat) objects[i].x, (gfloat) objects[i].y, (gfloat) objects[i].w,
                        (gfloat) objects[i].h };
      for (guint k = 0; k < 4 && normalised; k++)
        row[k] /= k % 2 == 0 ? WIDTH : HEIGHT;
      if (end_to_end) {
        row[4] = (gfloat) objects[i].score;
        row[5] = (gfloat) objects[i].label;
      } else {
        row[4 + objects[i].label] = (gfloat) objects[i].score;
      }
      row[channels - 1] = (gfloat) objects[i].angle;
      for (guint c = 0; c < channels; c++)
        data[transposed ? c * ROWS + i + 1 : (i + 1) * channels + c] = row[c];
    }
    SlDecoderConfig config = { .threshold = 0.5f,
                               .max_results = 10,
                               .n_labels = CLASSES,
                               .input_width = WIDTH,
                               .input_height = HEIGHT };
    config_add (&config, SL_DTYPE_F32,
                transposed ? DIMS (1, (gint32) channels, ROWS) : DIMS (1, ROWS, (gint32) channels),
                0, 0);
    config_param (&config, "task", "obb");
    g_autoptr (GError) error = NULL;
    g_autoptr (SlDecoding) decoding =
      sl_decoding_new (form == 2    ? "yolo,transposed=no,objectness=no"
                       : end_to_end ? "yolo,end-to-end=yes"
                                    : NULL,
                       &config, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "yolo");
    const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ data });
    config_clear (&config);
    g_assert_cmpuint (result->n_detections, ==,
                      end_to_end ? G_N_ELEMENTS (objects) : G_N_ELEMENTS (found));
    g_assert_cmpstr (result->skeleton->names[3], ==, "corner_4");
    for (guint d = 0; d < result->n_detections; d++) {
      const SlDetection *box = &result->detections[d];
      const guint o = end_to_end ? d : found[d];
      double x_max = 0, y_max = 0;
      g_assert_cmpint (box->label_id, ==, (gint) objects[o].label);
      g_assert_cmpfloat_with_epsilon (box->confidence, objects[o].score, 1e-6);
      g_assert_cmpuint (box->n_keypoints, ==, 4);
      for (guint k = 0; k < 4; k++) {
        /* As the training framework has it: middle + v1 + v2, + v1 - v2, - v1 - v2, - v1 + v2. */
        const double c = cos (objects[o].angle), s = sin (objects[o].angle), v = k < 2 ? 0.5 : -0.5,
                     u = k == 0 || k == 3 ? 0.5 : -0.5;
        const double x = objects[o].x + v * objects[o].w * c - u * objects[o].h * s,
                     y = objects[o].y + v * objects[o].w * s + u * objects[o].h * c;
        const SlDetectedPoint *point = &result->keypoints[box->first_keypoint + k];
        g_assert_cmpfloat_with_epsilon (point->x * WIDTH, x, 1e-3);
        g_assert_cmpfloat_with_epsilon (point->y * HEIGHT, y, 1e-3);
        x_max = MAX (x_max, x);
        y_max = MAX (y_max, y);
      }
      g_assert_cmpfloat_with_epsilon (box->x_max * WIDTH, x_max, 1e-3);
      g_assert_cmpfloat_with_epsilon (box->y_max * HEIGHT, y_max, 1e-3);
    }
  }
}

/* Thousands of boxes over each other, of any number: no frame takes long, and boxes without a size
 * are dropped. */
static void
test_hostile (void)
{
  const guint n = 1500;
  g_autofree gfloat *data = g_new (gfloat, n * 6);
  const gfloat odd[] = { NAN, INFINITY, -INFINITY, 1e38f, 0, -1 };
  for (guint i = 0; i < n; i++) {
    for (guint c = 0; c < 6; c++)
      data[c * n + i] = c == 4 ? 0.9f : c == 5 ? (gfloat) i : c < 2 ? 50 : 20;
    if (i < G_N_ELEMENTS (odd) * 6)
      data[(i % 6) * n + i] = odd[i / 6];
  }
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = SL_MAX_RESULTS, .input_width = WIDTH, .input_height = HEIGHT
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 6, (gint32) n), 0, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (
    "yolo,preset=v8,angle=yes,units=pixels,iou-threshold=1,check=no", &config, &error);
  g_assert_no_error (error);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ data });
  g_assert_cmpuint (result->n_detections, >, 0);
  for (guint d = 0; d < result->n_detections; d++)
    g_assert_true (isfinite (result->detections[d].x_min)
                   && isfinite (result->detections[d].y_max));
}

static void
test_refused (void)
{
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 10, .input_width = WIDTH, .input_height = HEIGHT
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 24, 100), 0, 0);
  assert_open_fails ("yolo,angle=yes,keypoints=3,2", &config, SL_ERROR_ARGUMENT,
                     "boxes that are turned are decoded ones without keypoints");
  assert_open_fails ("yolo,angle=maybe", &config, SL_ERROR_ARGUMENT,
                     "expected one of no, false, 0, yes, true, 1, got 'maybe'");
  config.tensors[0].dims[1] = 5;
  assert_open_fails ("yolo,angle=yes,transposed=yes,objectness=no", &config, SL_ERROR_SHAPE,
                     "5 channels are too few for 4 of a box, 1 behind the classes");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rotated/overlap", test_overlap);
  g_test_add_func ("/rotated/rows", test_rows);
  g_test_add_func ("/rotated/hostile", test_hostile);
  g_test_add_func ("/rotated/refused", test_refused);
  return g_test_run ();
}
