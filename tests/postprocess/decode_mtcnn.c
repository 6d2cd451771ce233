/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MTCNN's three nets against its formulas in double: where cells lie, what offsets and points mean,
 * in both orders and layouts. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define WIDTH 64 /* of the picture that P-Net sees; 27 x 18 cells: ceil ((64 - 2) / 2) - 4 */
#define HEIGHT 45
#define COLUMNS 27
#define ROWS 18
#define CELLS (COLUMNS * ROWS)

static SlDecoderConfig
map_config (gboolean channels_first)
{
  SlDecoderConfig config = {
    .threshold = 0.6f, .max_results = 200, .input_width = WIDTH, .input_height = HEIGHT
  };
  for (gint32 n = 4; n >= 2; n -= 2)
    if (channels_first)
      config_add (&config, SL_DTYPE_F32, DIMS (1, n, ROWS, COLUMNS), 0, 0);
    else
      config_add (&config, SL_DTYPE_F32, DIMS (1, ROWS, COLUMNS, n), 0, 0);
  return config;
}

static SlDecoderConfig
net_config (gint32 side)
{
  SlDecoderConfig config = {
    .threshold = 0.6f, .max_results = 10, .input_width = side, .input_height = side
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 2), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 4), 0, 0);
  if (side == 48)
    config_add (&config, SL_DTYPE_F32, DIMS (1, 10), 0, 0);
  return config;
}

static SlDecoding *
open_mtcnn (const char *name, const SlDecoderConfig *config, const char *label)
{
  g_autoptr (GError) error = NULL;
  SlDecoding *decoding = sl_decoding_new (name, config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "mtcnn");
  g_assert_cmpstr (sl_decoding_names (decoding, NULL)[0], ==, label);
  g_assert_cmpuint (sl_decoding_classes (decoding), ==, 1);
  return decoding;
}

static void
check_box (const SlDetection *box, double left, double top, double right, double bottom,
           double confidence)
{
  g_assert_cmpfloat_with_epsilon (box->x_min, left, 1e-6);
  g_assert_cmpfloat_with_epsilon (box->y_min, top, 1e-6);
  g_assert_cmpfloat_with_epsilon (box->x_max, right, 1e-6);
  g_assert_cmpfloat_with_epsilon (box->y_max, bottom, 1e-6);
  g_assert_cmpfloat_with_epsilon (box->confidence, confidence, 1e-6);
}

/* Two cells far from each other are faces; the others are not. */
static void
test_map (void)
{
  static const guint faces[2][2] = { { 3, 2 }, { 20, 15 } };
  static const double offsets[4] = { -0.125, 0.25, 0.5, -0.0625 };
  for (guint form = 0; form < 4; form++) {
    const gboolean channels_first = form & 1, swapped = form & 2;
    const guint step = channels_first ? CELLS : 1;
    SlDecoderConfig config = map_config (channels_first);
    g_autoptr (SlDecoding) decoding =
      open_mtcnn (swapped ? "mtcnn,order=yx" : NULL, &config, "proposal");
    gfloat scores[2 * CELLS], moves[4 * CELLS];
    for (guint i = 0; i < CELLS; i++)
      for (guint k = 0; k < 4; k++) {
        moves[channels_first ? k * step + i : 4 * i + k] = (gfloat) offsets[k];
        if (k < 2)
          scores[channels_first ? k * step + i : 2 * i + k] = k == 0 ? 1 : 0;
      }
    for (guint f = 0; f < 2; f++) {
      const guint i = faces[f][1] * COLUMNS + faces[f][0];
      scores[channels_first ? step + i : 2 * i + 1] = f == 0 ? 0.875f : 0.75f;
    }
    const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ moves, scores });
    g_assert_cmpuint (result->n_detections, ==, 2);
    for (guint f = 0; f < 2; f++) {
      const guint o = swapped ? 1 : 0;
      const double x = 2 * faces[f][0], y = 2 * faces[f][1];
      check_box (&result->detections[f], (x + 12 * offsets[o]) / WIDTH,
                 (y + 12 * offsets[o ^ 1]) / HEIGHT, (x + 12 + 12 * offsets[2 + o]) / WIDTH,
                 (y + 12 + 12 * offsets[2 + (o ^ 1)]) / HEIGHT, f == 0 ? 0.875 : 0.75);
    }
    g_assert_cmpuint (result->n_keypoints, ==, 0);
  }
}

/* R-Net and O-Net look at one square; logits get a softmax where the operators or the user say so.
 */
static void
test_square (void)
{
  static const gfloat shares[2] = { 0.25f, 0.75f }, logits[2] = { -1, 2 },
                      offsets[4] = { 0.125f, -0.25f, -0.125f, 0.5f };
  gfloat points[10];
  for (guint k = 0; k < 10; k++)
    points[k] = (gfloat) k / 16;
  SlDecoderConfig config = net_config (24);
  g_autoptr (SlDecoding) small = open_mtcnn (NULL, &config, "candidate");
  g_assert_nonnull (strstr (sl_decoding_note (small), "order=yx"));
  check_box (&sl_decoding_run (small, (const void *const[]){ shares, offsets })->detections[0],
             0.125, -0.25, 0.875, 1.5, 0.75);
  config.tensors[0].values = SL_VALUES_LOGITS;
  g_autoptr (SlDecoding) of_logits = open_mtcnn ("mtcnn,order=yx", &config, "candidate");
  g_assert_null (sl_decoding_note (of_logits));
  const double sure = exp (2) / (exp (2) + exp (-1));
  check_box (&sl_decoding_run (of_logits, (const void *const[]){ logits, offsets })->detections[0],
             -0.25, 0.125, 1.5, 0.875, sure);
  config = net_config (48);
  for (guint form = 0; form < 4; form++) {
    static const char *const names[] = { "mtcnn", "mtcnn,points=pairs", "mtcnn,order=yx",
                                         "mtcnn,points=pairs,order=yx" };
    g_autoptr (SlDecoding) decoding = open_mtcnn (names[form], &config, "face");
    const SlResult *result =
      sl_decoding_run (decoding, (const void *const[]){ shares, offsets, points });
    g_assert_cmpuint (result->detections[0].n_keypoints, ==, 5);
    for (guint k = 0; k < 5; k++) {
      const double x = (form & 1 ? 2 * k : k) / 16.0, y = (form & 1 ? 2 * k + 1 : 5 + k) / 16.0;
      g_assert_cmpfloat_with_epsilon (result->keypoints[k].x, form & 2 ? y : x, 1e-6);
      g_assert_cmpfloat_with_epsilon (result->keypoints[k].y, form & 2 ? x : y, 1e-6);
    }
    g_assert_nonnull (result->skeleton);
  }
}

static void
test_not_numbers (void)
{
  SlDecoderConfig config = net_config (48);
  gfloat odd[10], offsets[4] = { 0 }, shares[2] = { 0, 1 };
  for (guint k = 0; k < 10; k++)
    odd[k] = k % 2 == 0 ? NAN : INFINITY;
  g_autoptr (SlDecoding) decoding = open_mtcnn (NULL, &config, "face");
  g_assert_cmpuint (
    sl_decoding_run (decoding, (const void *const[]){ odd, offsets, odd })->n_detections, ==, 0);
  g_assert_cmpuint (
    sl_decoding_run (decoding, (const void *const[]){ shares, odd, odd })->n_detections, ==, 0);
  const SlResult *result =
    sl_decoding_run (decoding, (const void *const[]){ shares, offsets, odd });
  g_assert_cmpuint (result->n_detections, ==, 1);
  for (guint k = 0; k < 5; k++)
    g_assert_cmpfloat (result->keypoints[k].confidence, ==, 0);
}

static void
test_refused (void)
{
  SlDecoderConfig config = map_config (FALSE);
  config.input_width++;
  config.input_width++;
  g_autoptr (SlDecoding) other = sl_decoding_new (NULL, &config, NULL);
  g_assert_true (other == NULL || g_strcmp0 (sl_decoding_decoder (other)->name, "mtcnn") != 0);
  config.input_width = config.input_height = 0;
  assert_open_fails (
    "mtcnn", &config, SL_ERROR_ARGUMENT,
    "decoder mtcnn: cells are of 12 pixels of the model's input, whose size is not known: state "
    "imgsz=HEIGHT,WIDTH");
  assert_open_fails ("mtcnn,order=xz", &config, SL_ERROR_ARGUMENT, "order");
  assert_open_fails ("mtcnn,points=some", &config, SL_ERROR_ARGUMENT, "points");
  assert_open_fails ("mtcnn,activation=relu", &config, SL_ERROR_ARGUMENT, "activation");
  config.tensors[0].dims[1] = ROWS - 1;
  assert_open_fails ("mtcnn", &config, SL_ERROR_SHAPE,
                     "expected P-Net's probabilities [1,H,W,2] and offsets [1,H,W,4]");
  config = net_config (48);
  config.tensors[2].dims[1] = 8;
  assert_open_fails ("mtcnn", &config, SL_ERROR_SHAPE, "possibly points [1,10]");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_mtcnn/map", test_map);
  g_test_add_func ("/decode_mtcnn/square", test_square);
  g_test_add_func ("/decode_mtcnn/not_numbers", test_not_numbers);
  g_test_add_func ("/decode_mtcnn/refused", test_refused);
  return g_test_run ();
}
