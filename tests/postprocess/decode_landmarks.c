/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Points of one face, hand or body: where they lie, whether there are any, and what is refused. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define WIDTH 200
#define HEIGHT 100

static SlDecoderConfig
new_config (gint32 numbers, SlValueKind presence)
{
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 10, .input_width = WIDTH, .input_height = HEIGHT
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, numbers), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 1), 0, 0);
  config.tensors[1].values = presence;
  return config;
}

static SlDecoding *
open_landmarks (const char *name, const SlDecoderConfig *config)
{
  g_autoptr (GError) error = NULL;
  SlDecoding *decoding = sl_decoding_new (name, config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "landmarks");
  return decoding;
}

static void
test_known (void)
{
  static const struct
  {
    gint32 numbers;
    guint size;
    const char *label;
  } rows[] = { { 1404, 3, "face" },
               { 1434, 3, "face" },
               { 63, 3, "hand" },
               { 195, 5, "person" },
               { 18, 2, "object" } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const guint n = (guint) rows[i].numbers / rows[i].size;
    const gfloat presence = 3;
    g_autofree gfloat *numbers = g_new0 (gfloat, rows[i].numbers);
    for (guint k = 0; k < n; k++) {
      numbers[k * rows[i].size] = (gfloat) k / 4;
      numbers[k * rows[i].size + 1] = 50 - (gfloat) k / 16;
      if (rows[i].size == 5)
        numbers[k * 5 + 3] = k == 0 ? -1 : 9;
    }
    SlDecoderConfig config = new_config (rows[i].numbers, SL_VALUES_LOGITS);
    g_autoptr (SlDecoding) decoding = open_landmarks (NULL, &config);
    const SlResult *result =
      sl_decoding_run (decoding, (const void *const[]){ numbers, &presence });
    g_assert_cmpuint (result->n_detections, ==, 1);
    const SlDetection *found = &result->detections[0];
    g_assert_cmpint (found->label_id, ==, 0);
    g_assert_cmpuint (sl_decoding_classes (decoding), ==, 1);
    g_assert_cmpstr (sl_decoding_names (decoding, NULL)[0], ==, rows[i].label);
    g_assert_cmpfloat_with_epsilon (found->confidence, 1 / (1 + exp (-3)), 1e-6);
    g_assert_cmpuint (found->n_keypoints, ==, n);
    g_assert_cmpfloat (found->x_min, ==, 0);
    g_assert_cmpfloat_with_epsilon (found->x_max, (n - 1) / 4.0 / WIDTH, 1e-6);
    g_assert_cmpfloat_with_epsilon (found->y_max, 0.5, 1e-6);
    g_assert_cmpfloat_with_epsilon (result->keypoints[7].x, 7 / 4.0 / WIDTH, 1e-6);
    g_assert_cmpfloat_with_epsilon (result->keypoints[7].y, (50 - 7 / 16.0) / HEIGHT, 1e-6);
    g_assert_cmpfloat_with_epsilon (result->keypoints[0].confidence,
                                    rows[i].size == 5 ? 1 / (1 + exp (1)) : found->confidence,
                                    1e-6);
    g_assert_true (result->skeleton == NULL || result->skeleton->n_points == n);
  }
}

/* The one number is a probability until one outside 0..1 comes, unless the operators or the user
 * say what it is. */
static void
test_presence (void)
{
  static const gfloat numbers[] = { 0.25f, 0.5f, 0.75f, 1 }, half = 0.4f, low = -2, high = 2,
                      nothing = NAN;
  SlDecoderConfig config = new_config (4, SL_VALUES_UNKNOWN);
  g_autoptr (SlDecoding) told = open_landmarks ("landmarks,units=normalised", &config);
  g_assert_cmpuint (sl_decoding_run (told, (const void *const[]){ numbers, &half })->n_detections,
                    ==, 0);
  g_assert_cmpuint (sl_decoding_run (told, (const void *const[]){ numbers, &low })->n_detections,
                    ==, 0);
  g_assert_cmpuint (sl_decoding_run (told, (const void *const[]){ numbers, &half })->n_detections,
                    ==, 1);
  g_assert_cmpuint (
    sl_decoding_run (told, (const void *const[]){ numbers, &nothing })->n_detections, ==, 0);
  const SlResult *result = sl_decoding_run (told, (const void *const[]){ numbers, &high });
  g_assert_cmpfloat (result->keypoints[1].x, ==, 0.75f);
  g_autoptr (SlDecoding) none =
    open_landmarks ("landmarks,units=normalised,activation=none", &config);
  g_assert_cmpfloat (
    sl_decoding_run (none, (const void *const[]){ numbers, &high })->detections[0].confidence, ==,
    1);
  config.n_tensors = 1;
  g_autoptr (SlDecoding) alone = open_landmarks ("landmarks,units=normalised", &config);
  g_assert_cmpfloat (
    sl_decoding_run (alone, (const void *const[]){ numbers })->detections[0].confidence, ==, 1);
  static const gfloat odd[] = { NAN, INFINITY, NAN, 0 };
  g_assert_cmpuint (sl_decoding_run (alone, (const void *const[]){ odd })->n_detections, ==, 0);
}

/* The kind of the numbers is not stated: 0..1, -1..1 or pixels, and pixels stay pixels. */
static void
test_units (void)
{
  static const gfloat shares[] = { 0.25f, 0.5f, 0.75f, 0.875f },
                      centred[] = { -0.5f, -0.25f, 0.5f, 0.75f }, pixels[] = { 50, 25, 150, 75 },
                      small[] = { 0, 0.5f, 2, 1 }, here = 0.9f;
  SlDecoderConfig config = new_config (4, SL_VALUES_SHARES);
  g_autoptr (SlDecoding) told = open_landmarks ("landmarks", &config);
  const SlResult *result = sl_decoding_run (told, (const void *const[]){ shares, &here });
  g_assert_cmpfloat (result->keypoints[1].x, ==, 0.75f);
  g_assert_cmpfloat (result->keypoints[1].y, ==, 0.875f);
  sl_decoding_run (told, (const void *const[]){ centred, &here });
  g_assert_cmpfloat (result->keypoints[0].x, ==, 0.25f);
  g_assert_cmpfloat (result->keypoints[1].y, ==, 0.875f);
  sl_decoding_run (told, (const void *const[]){ pixels, &here });
  g_assert_cmpfloat (result->keypoints[0].x, ==, 0.25f);
  g_assert_cmpfloat (result->keypoints[1].y, ==, 0.75f);
  sl_decoding_run (told, (const void *const[]){ small, &here });
  g_assert_cmpfloat_with_epsilon (result->keypoints[1].x, 2.0 / WIDTH, 1e-6);
  g_autoptr (SlDecoding) stated = open_landmarks ("landmarks,units=centred", &config);
  g_assert_cmpfloat (
    sl_decoding_run (stated, (const void *const[]){ shares, &here })->keypoints[0].x, ==, 0.625f);
  g_autoptr (SlDecoding) of_pixels = open_landmarks ("landmarks,units=pixels", &config);
  g_assert_cmpfloat_with_epsilon (
    sl_decoding_run (of_pixels, (const void *const[]){ shares, &here })->keypoints[1].y, 0.00875,
    1e-6);
}

static void
test_refused (void)
{
  SlDecoderConfig config = new_config (136, SL_VALUES_UNKNOWN);
  g_assert_null (sl_decoding_new (NULL, &config, NULL));
  assert_open_fails ("landmarks,point-size=3", &config, SL_ERROR_ARGUMENT,
                     "136 numbers are no points of 3; state point-size=2, 3 or 5");
  assert_open_fails ("landmarks,point-size=4", &config, SL_ERROR_ARGUMENT,
                     "136 numbers are no points of 4");
  assert_open_fails ("landmarks,point-size=6", &config, SL_ERROR_ARGUMENT, "point-size");
  config.input_width = 0;
  assert_open_fails (
    "landmarks", &config, SL_ERROR_ARGUMENT,
    "decoder landmarks: points are in pixels of the model's input, whose size is not known: state "
    "imgsz=HEIGHT,WIDTH");
  config = new_config (1026, SL_VALUES_UNKNOWN);
  assert_open_fails ("landmarks", &config, SL_ERROR_ARGUMENT, "for at most 512 points");
  config = new_config (3, SL_VALUES_UNKNOWN);
  assert_open_fails ("landmarks", &config, SL_ERROR_SHAPE,
                     "expected a vector of points such as float32[1,1404]");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_landmarks/known", test_known);
  g_test_add_func ("/decode_landmarks/presence", test_presence);
  g_test_add_func ("/decode_landmarks/units", test_units);
  g_test_add_func ("/decode_landmarks/refused", test_refused);
  return g_test_run ();
}
