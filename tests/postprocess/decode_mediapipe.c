/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MediaPipe's detectors: one box and its points against the formulas of its graphs, in each of
 * their layouts. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

/** @rows: of each tensor of boxes; @row: the one with a box, in the order of all; @x, @y: its
 * cell's centre in pixels */
typedef struct
{
  gint32 side, columns;
  gint32 rows[2];
  guint row;
  gfloat x, y;
  const char *label, *first_point;
} Form;

static const Form forms[] = {
  { 128, 16, { 512, 384 }, 2 * (3 * 16 + 5) + 1, 44, 28, "face", "right_eye" }, /* front: stride 8
                                                                                 */
  { 128,
    16,
    { 384, 512 },
    512 + 6 * (2 * 8 + 7) + 4,
    120,
    40,
    "face",
    "right_eye" }, /* the same, stride 16 first */
  { 128, 16, { 896 }, 512 + 6 * (2 * 8 + 7), 120, 40, "face", "right_eye" }, /* in one tensor */
  { 256, 16, { 896 }, 2 * (15 * 16 + 1), 24, 248, "face", "right_eye" },     /* back: stride 16 */
  { 192, 16, { 2304 }, 48 * 47 + 2, 10, 190, "face", "right_eye" }, /* full range: one anchor a cell
                                                                     */
  { 192, 18, { 2016 }, 1152 + 6 * (11 * 12 + 3) + 5, 56, 184, "palm", "wrist" },      /* palm */
  { 224, 12, { 2254 }, 1568 + 392 + 6 * (6 * 7 + 1) + 2, 48, 208, "person", "hips" }, /* BlazePose
                                                                                       */
};

static SlDecoderConfig
new_config (const Form *form)
{
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 10, .input_width = form->side, .input_height = form->side
  };
  for (guint i = 0; i < 2 && form->rows[i] > 0; i++) {
    config_add (&config, SL_DTYPE_F32, DIMS (1, form->rows[i], 1), 0, 0);
    config_add (&config, SL_DTYPE_F32, DIMS (1, form->rows[i], form->columns), 0, 0);
  }
  return config;
}

static void
check (const Form *form)
{
  SlDecoderConfig config = new_config (form);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "mediapipe");
  gfloat *data[4] = { NULL };
  guint row = form->row;
  /* The larger tensor has the smaller stride, whose rows come first. */
  const guint part = form->rows[1] == 0 ? 0 : (row < 512) == (form->rows[0] == 512) ? 0 : 1;
  row -= form->rows[1] > 0 && row >= 512 ? 512 : 0;
  for (guint i = 0; i < config.n_tensors; i++) {
    const gsize n = (gsize) form->rows[i / 2] * (gsize) (i % 2 == 0 ? 1 : form->columns);
    data[i] = g_new (gfloat, n);
    for (gsize k = 0; k < n; k++)
      data[i][k] = i % 2 == 0 ? -150 : NAN;
  }
  gfloat *numbers = data[2 * part + 1] + (gsize) row * (gsize) form->columns;
  data[2 * part][row] = 2;
  for (gint32 k = 0; k < form->columns; k++)
    numbers[k] = (gfloat) k - 5;
  numbers[2] = 40;
  numbers[3] = 20;
  const SlResult *result = sl_decoding_run (decoding, (const void *const *) data);
  g_assert_cmpuint (result->n_detections, ==, 1);
  const SlDetection *box = &result->detections[0];
  const gfloat side = (gfloat) form->side;
  g_assert_cmpfloat_with_epsilon (box->confidence, 1 / (1 + exp (-2)), 1e-6);
  /* A person: the square around the circle about the first point (-1, 0) that the second (1, 2) is
   * on. */
  const gboolean circled = form->columns == 12;
  const double x = form->x - (circled ? 1 : 5), y = form->y - (circled ? 0 : 4),
               w = circled ? hypot (2, 2) : 20, h = circled ? hypot (2, 2) : 10;
  g_assert_cmpfloat_with_epsilon (box->x_min * side, x - w, 1e-3);
  g_assert_cmpfloat_with_epsilon (box->x_max * side, x + w, 1e-3);
  g_assert_cmpfloat_with_epsilon (box->y_min * side, y - h, 1e-3);
  g_assert_cmpfloat_with_epsilon (box->y_max * side, y + h, 1e-3);
  g_assert_cmpint (box->label_id, ==, 0);
  g_assert_cmpuint (sl_decoding_classes (decoding), ==, 1);
  g_assert_cmpuint (box->n_keypoints, ==, (guint) (form->columns - 4) / 2);
  for (guint k = 0; k < box->n_keypoints; k++) {
    const SlDetectedPoint *point = &result->keypoints[box->first_keypoint + k];
    g_assert_cmpfloat_with_epsilon (point->x * side, form->x + (gfloat) (4 + 2 * k) - 5, 1e-3);
    g_assert_cmpfloat_with_epsilon (point->y * side, form->y + (gfloat) (5 + 2 * k) - 5, 1e-3);
  }
  g_assert_cmpstr (sl_decoding_names (decoding, NULL)[0], ==, form->label);
  g_assert_cmpstr (result->skeleton->names[0], ==, form->first_point);
  g_assert_cmpuint (result->skeleton->n_points, ==, box->n_keypoints);
  for (guint i = 0; i < config.n_tensors; i++)
    g_free (data[i]);
}

static void
test_forms (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    check (&forms[i]);
}

/* A person whose circle is not known is none. */
static void
test_no_circle (void)
{
  const Form *form = &forms[6];
  static const gfloat points[][4] = { { NAN, 0, 9, 9 }, { 0, 0, 9, INFINITY }, { 5, 5, 5, 5 } };
  SlDecoderConfig config = new_config (form);
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, NULL);
  g_autofree gfloat *logits = g_new (gfloat, form->rows[0]),
                    *boxes = g_new0 (gfloat, form->rows[0] * form->columns);
  for (gint32 i = 0; i < form->rows[0]; i++)
    logits[i] = -20;
  logits[form->row] = 4;
  gfloat *row = boxes + form->row * (guint) form->columns;
  row[2] = row[3] = 30;
  for (guint i = 0; i < G_N_ELEMENTS (points); i++) {
    memcpy (row + 4, points[i], sizeof points[i]);
    g_assert_cmpuint (
      sl_decoding_run (decoding, (const void *const[]){ logits, boxes })->n_detections, ==, 0);
  }
}

/* Two tensors of boxes with as many rows have logits each. */
static void
test_equal_parts (void)
{
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 10, .input_width = 128, .input_height = 64
  };
  for (guint i = 0; i < 2; i++) {
    config_add (&config, SL_DTYPE_F32, DIMS (1, 8, 1), 0, 0);
    config_add (&config, SL_DTYPE_F32, DIMS (1, 8, 16), 0, 0);
  }
  gfloat logits[2][8], boxes[2][8 * 16] = { { 0 } };
  for (guint i = 0; i < 16; i++)
    logits[i / 8][i % 8] = i == 3 || i == 12 ? 3 : -9;
  boxes[0][3 * 16 + 2] = boxes[0][3 * 16 + 3] = boxes[1][4 * 16 + 2] = boxes[1][4 * 16 + 3] = 10;
  /* Stride 32 has 4x2 cells with one anchor, stride 64 2x1 with four. */
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding =
    sl_decoding_new ("mediapipe,strides=32,64,64,64,64", &config, &error);
  g_assert_no_error (error);
  const SlResult *result =
    sl_decoding_run (decoding, (const void *const[]){ logits[0], boxes[0], logits[1], boxes[1] });
  g_assert_cmpuint (result->n_detections, ==, 2);
}

static void
test_refused (void)
{
  SlDecoderConfig config = new_config (&forms[2]);
  config.input_width = config.input_height = 0;
  assert_open_fails (
    "mediapipe", &config, SL_ERROR_ARGUMENT,
    "decoder mediapipe: the size of the model's input is not known, which anchors need: state "
    "imgsz=HEIGHT,WIDTH");
  config = new_config (&forms[2]);
  config.input_width = 64;
  assert_open_fails (
    "mediapipe", &config, SL_ERROR_SHAPE,
    "the strides of MediaPipe's models do not give the 896 rows of the tensors for an input of "
    "64x128; state strides=");
  config = new_config (&forms[2]);
  assert_open_fails ("mediapipe,strides=8", &config, SL_ERROR_SHAPE,
                     "these strides do not give the 896 rows");
  config = new_config (&forms[2]);
  assert_open_fails ("mediapipe,strides=8.5", &config, SL_ERROR_ARGUMENT,
                     "strides: expected whole numbers of pixels, got 8.5");
  config = new_config (&forms[2]);
  assert_open_fails ("mediapipe,imgsz=65536,65536,strides=1,1,1,1,1,1,1,1", &config, SL_ERROR_SHAPE,
                     "do not give the 896 rows");
  config = new_config (&forms[2]);
  config.tensors[0].dims[1] = 895;
  assert_open_fails ("mediapipe", &config, SL_ERROR_SHAPE,
                     "expected boxes[1,N,16] (face), [1,N,18] (palm) or [1,N,12] (person)");
  config = new_config (&forms[2]);
  g_autoptr (SlDecoding) stated = sl_decoding_new ("mediapipe,strides=8,16,16,16", &config, NULL);
  g_assert_nonnull (stated);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_mediapipe/forms", test_forms);
  g_test_add_func ("/decode_mediapipe/no_circle", test_no_circle);
  g_test_add_func ("/decode_mediapipe/equal_parts", test_equal_parts);
  g_test_add_func ("/decode_mediapipe/refused", test_refused);
  return g_test_run ();
}
