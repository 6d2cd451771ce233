/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Points at the best cells of two lists, against a plain search. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define POINTS 17
#define WIDTH 24
#define HEIGHT 32

static gfloat columns[POINTS][2 * WIDTH], rows[POINTS][2 * HEIGHT];
static guint best_x[POINTS], best_y[POINTS];

static void
make_lists (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (17);
  for (guint k = 0; k < POINTS; k++) {
    best_x[k] = g_rand_int_range (rand, 0, 2 * WIDTH);
    best_y[k] = g_rand_int_range (rand, 0, 2 * HEIGHT);
    for (guint i = 0; i < 2 * WIDTH; i++)
      columns[k][i] = (gfloat) g_rand_double_range (rand, -0.2, 0.1);
    for (guint i = 0; i < 2 * HEIGHT; i++)
      rows[k][i] = (gfloat) g_rand_double_range (rand, -0.2, 0.1);
    columns[k][best_x[k]] = 0.4f + 0.03f * (gfloat) k;
    rows[k][best_y[k]] = 0.8f;
  }
}

static SlDecoderConfig
new_config (guint order)
{
  SlDecoderConfig config = {
    .threshold = 0.3f, .max_results = 10, .input_width = WIDTH, .input_height = HEIGHT
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, POINTS, order == 0 ? 2 * WIDTH : 2 * HEIGHT), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, POINTS, order == 0 ? 2 * HEIGHT : 2 * WIDTH), 0, 0);
  return config;
}

static void
test_points (void)
{
  make_lists ();
  for (guint order = 0; order < 2; order++) {
    SlDecoderConfig config = new_config (order);
    g_autoptr (GError) error = NULL;
    g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "simcc");
    const void *data[] = { order == 0 ? (void *) columns : (void *) rows,
                           order == 0 ? (void *) rows : (void *) columns };
    const SlResult *result = sl_decoding_run (decoding, data);
    double sum = 0;
    g_assert_cmpuint (result->n_detections, ==, 1);
    g_assert_cmpuint (result->detections[0].n_keypoints, ==, POINTS);
    for (guint k = 0; k < POINTS; k++) {
      const double confidence = MIN (0.4 + 0.03 * k, 0.8);
      g_assert_cmpfloat_with_epsilon (result->keypoints[k].x, best_x[k] / (2.0 * WIDTH), 1e-6);
      g_assert_cmpfloat_with_epsilon (result->keypoints[k].y, best_y[k] / (2.0 * HEIGHT), 1e-6);
      g_assert_cmpfloat_with_epsilon (result->keypoints[k].confidence, confidence, 1e-6);
      sum += confidence;
    }
    g_assert_cmpfloat_with_epsilon (result->detections[0].confidence, sum / POINTS, 1e-6);
    g_assert_true (result->skeleton == &sl_skeleton_person);
    g_assert_cmpstr (sl_decoding_names (decoding, NULL)[0], ==, "person");
  }
}

/* A square input: names tell the lists apart, and nothing else is taken unnamed. */
static void
test_square (void)
{
  static gfloat lists[2][POINTS][2 * WIDTH];
  SlDecoderConfig config = {
    .threshold = 0.3f, .max_results = 10, .input_width = WIDTH, .input_height = WIDTH
  };
  for (guint t = 0; t < 2; t++)
    config_add (&config, SL_DTYPE_F32, DIMS (1, POINTS, 2 * WIDTH), 0, 0);
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE, "no decoder takes the tensors");
  config.tensors[0].name = (char *) "simcc_y";
  config.tensors[1].name = (char *) "simcc_x";
  for (guint k = 0; k < POINTS; k++) {
    lists[0][k][k] = 1.5f;
    lists[1][k][2 * k] = 0.9f;
  }
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, NULL);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ lists[0], lists[1] });
  g_assert_cmpuint (result->n_detections, ==, 1);
  g_assert_cmpfloat_with_epsilon (result->keypoints[3].x, 6.0 / (2 * WIDTH), 1e-6);
  g_assert_cmpfloat_with_epsilon (result->keypoints[3].y, 3.0 / (2 * WIDTH), 1e-6);
  for (guint k = 0; k < POINTS; k++)
    for (guint i = 0; i < 2 * WIDTH; i++)
      lists[0][k][i] = k % 2 == 0 ? NAN : -INFINITY;
  g_assert_cmpuint (
    sl_decoding_run (decoding, (const void *const[]){ lists[0], lists[1] })->n_detections, ==, 0);
}

static void
test_refused (void)
{
  SlDecoderConfig config = new_config (0);
  assert_open_fails ("simcc,point-threshold=2", &config, SL_ERROR_ARGUMENT, "point-threshold");
  config.tensors[1].dims[1] = POINTS + 1;
  assert_open_fails ("simcc", &config, SL_ERROR_SHAPE,
                     "expected scores of the columns [1,K,r*width]");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_simcc/points", test_points);
  g_test_add_func ("/decode_simcc/square", test_square);
  g_test_add_func ("/decode_simcc/refused", test_refused);
  return g_test_run ();
}
