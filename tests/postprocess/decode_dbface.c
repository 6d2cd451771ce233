/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DBFace's maps against its formulas in double, channels last and first. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define WIDTH 20
#define HEIGHT 12
#define CELLS (WIDTH * HEIGHT)

static const guint channels[3] = { 10, 1, 4 };

static SlDecoderConfig
new_config (gboolean channels_first)
{
  SlDecoderConfig config = {
    .threshold = 0.4f, .max_results = 50, .input_width = 4 * WIDTH, .input_height = 4 * HEIGHT
  };
  for (guint m = 0; m < 3; m++)
    if (channels_first)
      config_add (&config, SL_DTYPE_F32, DIMS (1, (gint32) channels[m], HEIGHT, WIDTH), 0, 0);
    else
      config_add (&config, SL_DTYPE_F32, DIMS (1, HEIGHT, WIDTH, (gint32) channels[m]), 0, 0);
  return config;
}

/* DBFace's exp: straight near 0, mirrored below it. */
static double
plain_exp (double v)
{
  return fabs (v) < 1 ? v * exp (1) : v > 0 ? exp (v) : -exp (-v);
}

static void
test_faces (void)
{
  static const guint faces[2][2] = { { 4, 5 }, { 15, 8 } };
  static const double sides[4] = { 2.5, 3, 1.25, 2 }, logits[2] = { 2, 1 };
  for (guint form = 0; form < 4; form++) {
    const gboolean channels_first = form & 1, of_logits = form & 2;
    SlDecoderConfig config = new_config (channels_first);
    gfloat *data[3]; /* points, heat, boxes */
    g_autoptr (GError) error = NULL;
    config.tensors[1].values = of_logits ? SL_VALUES_LOGITS : SL_VALUES_PROBABILITIES;
    g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "dbface");
    for (guint m = 0; m < 3; m++) {
      data[m] = g_new (gfloat, CELLS * channels[m]);
      for (guint i = 0; i < CELLS * channels[m]; i++)
        data[m][i] = m == 1 && of_logits ? -5 : 0;
    }
    for (guint f = 0; f < 2; f++) {
      const guint cell = faces[f][1] * WIDTH + faces[f][0];
      for (guint m = 0; m < 3; m++)
        for (guint c = 0; c < channels[m]; c++)
          data[m][channels_first ? c * CELLS + cell : cell * channels[m] + c] =
            m == 0   ? 0.09f * (gfloat) c - 0.4f
            : m == 2 ? (gfloat) sides[c]
                     : (gfloat) (of_logits ? logits[f] : 0.875 - 0.25 * f);
      data[1][cell + 1] =
        (of_logits ? (gfloat) logits[f] : 0.875f - 0.25f * (gfloat) f) - 0.125f; /* no peak */
    }
    const SlResult *result = sl_decoding_run (decoding, (const void *const *) data);
    g_assert_cmpuint (result->n_detections, ==, 2);
    for (guint f = 0; f < 2; f++) {
      const SlDetection *found = &result->detections[f];
      const double x = faces[f][0], y = faces[f][1];
      g_assert_cmpfloat_with_epsilon (found->x_min, (x - sides[0]) / WIDTH, 1e-6);
      g_assert_cmpfloat_with_epsilon (found->y_min, (y - sides[1]) / HEIGHT, 1e-6);
      g_assert_cmpfloat_with_epsilon (found->x_max, (x + sides[2]) / WIDTH, 1e-6);
      g_assert_cmpfloat_with_epsilon (found->y_max, (y + sides[3]) / HEIGHT, 1e-6);
      g_assert_cmpfloat_with_epsilon (
        found->confidence, of_logits ? 1 / (1 + exp (-logits[f])) : 0.875 - 0.25 * f, 1e-6);
      g_assert_cmpuint (found->n_keypoints, ==, 5);
      for (guint k = 0; k < 5; k++) {
        const SlDetectedPoint *point = &result->keypoints[found->first_keypoint + k];
        g_assert_cmpfloat_with_epsilon (point->x, (x + plain_exp (4 * (0.09 * k - 0.4))) / WIDTH,
                                        1e-5);
        g_assert_cmpfloat_with_epsilon (
          point->y, (y + plain_exp (4 * (0.09 * (k + 5) - 0.4))) / HEIGHT, 1e-5);
      }
    }
    for (guint m = 0; m < 3; m++)
      g_free (data[m]);
  }
}

static void
test_not_numbers (void)
{
  SlDecoderConfig config = new_config (FALSE);
  gfloat points[CELLS * 10], heat[CELLS] = { 0 }, boxes[CELLS * 4];
  for (guint i = 0; i < CELLS * 10; i++)
    points[i] = i % 2 == 0 ? NAN : INFINITY;
  for (guint i = 0; i < CELLS * 4; i++)
    boxes[i] = 1;
  heat[30] = 0.5f;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, NULL);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ points, heat, boxes });
  g_assert_cmpuint (result->n_detections, ==, 1);
  for (guint k = 0; k < 5; k++)
    g_assert_cmpfloat (result->keypoints[k].confidence, ==, 0);
  boxes[4 * 30] = NAN;
  g_assert_cmpuint (
    sl_decoding_run (decoding, (const void *const[]){ points, heat, boxes })->n_detections, ==, 0);
  for (guint i = 0; i < CELLS; i++)
    heat[i] = i % 2 == 0 ? NAN : -INFINITY;
  g_assert_cmpuint (
    sl_decoding_run (decoding, (const void *const[]){ points, heat, boxes })->n_detections, ==, 0);
}

static void
test_refused (void)
{
  SlDecoderConfig config = new_config (FALSE);
  assert_open_fails ("dbface,activation=relu", &config, SL_ERROR_ARGUMENT, "activation");
  config.tensors[2].dims[3] = 5;
  assert_open_fails ("dbface", &config, SL_ERROR_SHAPE,
                     "expected maps of middles [1,H,W,1], boxes [1,H,W,4] and points [1,H,W,10]");
  config = new_config (TRUE);
  config.input_width = 2 * WIDTH;
  g_autoptr (SlDecoding) other = sl_decoding_new (NULL, &config, NULL);
  g_assert_true (other == NULL || g_strcmp0 (sl_decoding_decoder (other)->name, "dbface") != 0);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_dbface/faces", test_faces);
  g_test_add_func ("/decode_dbface/not_numbers", test_not_numbers);
  g_test_add_func ("/decode_dbface/refused", test_refused);
  return g_test_run ();
}
