/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoder "torchvision" on hand-written tensors, good and hostile. */
#include <math.h>
#include <string.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define N 4

/* x_min, y_min, x_max, y_max in pixels of 200x100. */
static const gfloat boxes[N * 4] = {
  20, 10, 60, 80, 100, 0, 200, 100, -10, 5, 210, 95, 0, 0, 0, 0
};
static const gfloat scores[N] = { 0.5f, 0.75f, 0.25f, 0 };

/* In the order of the letters: boxes, labels, scores, and something else. */
static SlDecoderConfig
make_config (const char *order, gfloat threshold, gboolean batch, SlDtype labels)
{
  SlDecoderConfig config = {
    .threshold = threshold, .max_results = 10, .input_width = 200, .input_height = 100
  };
  for (; *order != '\0'; order++)
    if (*order == 'b' && batch)
      config_add (&config, SL_DTYPE_F32, DIMS (1, N, 4), 0, 0);
    else if (*order == 'b')
      config_add (&config, SL_DTYPE_F32, DIMS (N, 4), 0, 0);
    else if (*order == 'x')
      config_add (&config, SL_DTYPE_F32, DIMS (3, 100, 200), 0, 0);
    else if (batch)
      config_add (&config, *order == 'l' ? labels : SL_DTYPE_F32, DIMS (1, N), 0, 0);
    else
      config_add (&config, *order == 'l' ? labels : SL_DTYPE_F32, DIMS (N), 0, 0);
  return config;
}

static SlDecoding *
open_or_fail (SlDecoderConfig *config)
{
  g_autoptr (GError) error = NULL;
  SlDecoding *decoding = sl_decoding_new (NULL, config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "torchvision");
  g_assert_cmpuint (sl_decoding_decoder (decoding)->classes (config), ==, 0);
  config_clear (config);
  return decoding;
}

/* As torchvision's scripted models give them, as its SSD in ONNX, and behind something else. */
static void
test_orders (void)
{
  static const char *const orders[] = { "bls", "bsl", "xbls", "sxlb" };
  const gint64 wide[N] = { 7, 1, 2, 0 };
  const gint32 narrow[N] = { 7, 1, 2, 0 };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (orders); i++) {
    const char *order = orders[i / 2];
    SlDecoderConfig config =
      make_config (order, 0.3f, i % 2 == 1, i % 2 == 1 ? SL_DTYPE_I32 : SL_DTYPE_I64);
    g_autoptr (SlDecoding) decoding = open_or_fail (&config);
    const void *data[4];
    for (guint t = 0; order[t] != '\0'; t++)
      data[t] = order[t] == 'b'   ? (const void *) boxes
                : order[t] == 's' ? (const void *) scores
                : i % 2 == 1      ? (const void *) narrow
                                  : wide;
    const SlResult *result = sl_decoding_run (decoding, data);
    g_assert_cmpuint (result->n_detections, ==, 2);
    const SlDetection *first = &result->detections[0], *second = &result->detections[1];
    g_assert_cmpint (first->label_id, ==, 1);
    g_assert_cmpfloat (first->confidence, ==, 0.75f);
    g_assert_cmpfloat (first->x_min, ==, 0.5f);
    g_assert_cmpfloat (first->y_max, ==, 1);
    g_assert_cmpint (second->label_id, ==, 7);
    g_assert_cmpfloat (second->x_min, ==, 0.1f);
    g_assert_cmpfloat (second->y_min, ==, 0.1f);
    g_assert_cmpfloat (second->x_max, ==, 0.3f);
    g_assert_cmpfloat (second->y_max, ==, 0.8f);
  }
}

/* Rows behind the objects are zeros: not even a threshold of 0 reports them. */
static void
test_rows (void)
{
  static const struct
  {
    gint64 label;
    gfloat score, x_max;
  } bad[] = { { -1, 0.5f, 210 },     { G_MAXINT64, 0.5f, 210 }, { G_MININT64, 0.5f, 210 },
              { 1, NAN, 210 },       { 1, INFINITY, 210 },      { 1, 0.5f, NAN },
              { 1, 0.5f, INFINITY }, { 1, 0.5f, -10 },          { 1, -1, 210 } };
  SlDecoderConfig config = make_config ("bls", 0, FALSE, SL_DTYPE_I64);
  config_param (&config, "background-offset", "-1");
  g_autoptr (SlDecoding) decoding = open_or_fail (&config);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    gfloat rows[N * 4], s[N];
    gint64 labels[N] = { 7, 1, 2, 0 };
    memcpy (rows, boxes, sizeof boxes);
    memcpy (s, scores, sizeof scores);
    const void *const data[] = { rows, labels, s };
    g_assert_cmpuint (sl_decoding_run (decoding, data)->n_detections, ==, 3);
    labels[2] = bad[i].label;
    s[2] = bad[i].score;
    rows[10] = bad[i].x_max;
    const SlResult *result = sl_decoding_run (decoding, data);
    g_assert_cmpuint (result->n_detections, ==, 2);
    g_assert_cmpint (result->detections[0].label_id, ==, 0);
    g_assert_cmpint (result->detections[1].label_id, ==, 6);
  }
}

static SlDecoding *
open_with (const gint32 *dims, const gint32 *more)
{
  SlDecoderConfig config = make_config ("bls", 0.3f, FALSE, SL_DTYPE_I64);
  config_add (&config, SL_DTYPE_F32, dims, 0, 0);
  if (more != NULL)
    config_add (&config, SL_DTYPE_F32, more, 0, 0);
  return open_or_fail (&config);
}

/* A mask's pixels are torchvision's paste_mask_in_image()'s, for a box of 20, 10, 60, 80 from pixel
 * 0 to 80 and from -13 to 103. */
static void
test_masks (void)
{
  const gint64 labels[N] = { 7, 1, 2, 0 };
  gfloat masks[N * 6] = { 0 };
  g_autoptr (SlDecoding) decoding = open_with (DIMS (N, 1, 3, 2), NULL);
  const gfloat first[6] = { 1, 0, 0, 0.25f, NAN, 4 };
  memcpy (masks, first, sizeof first);
  const void *const data[] = { boxes, labels, scores, masks };
  const SlResult *result = sl_decoding_run (decoding, data);
  g_assert_cmpuint (result->n_detections, ==, 2);
  g_assert_nonnull (result->masks);
  const SlInstanceMask *mask = &result->masks[1], *empty = &result->masks[0];
  g_assert_true (mask->is_cut);
  g_assert_cmpfloat_with_epsilon (mask->x_min, 0, 1e-6f);
  g_assert_cmpfloat_with_epsilon (mask->x_max, 81 / 200.0f, 1e-6f);
  g_assert_cmpfloat_with_epsilon (mask->y_min, 0, 1e-6f);
  g_assert_cmpfloat_with_epsilon (mask->y_max, 1, 1e-6f);
  g_assert_cmpuint (mask->width, ==, 81);
  g_assert_cmpuint (mask->height, ==, 100);
  for (guint i = 0; i < mask->width * mask->height; i++) {
    const double y = CLAMP ((i / mask->width + 0.5 - -13) * (5 / 117.0) - 0.5, 0, 4),
                 x = (i % mask->width + 0.5) * (4 / 81.0) - 0.5;
    double value = 0;
    for (gint k = 0; k < 6; k++)
      value += (k == 4 ? 0 : fmin ((double) first[k], 1)) * fmax (0, 1 - fabs (y - (k / 2 + 1)))
               * fmax (0, 1 - fabs (MAX (x, 0) - (k % 2 + 1)));
    g_assert_cmpfloat_with_epsilon (mask->cells[i], value * 255, 1);
    if (fabs (value - 0.5) > 1e-4)
      g_assert_cmpint (mask->cells[i] >= 128, ==, value > 0.5);
  }
  for (guint i = 0; i < empty->width * empty->height; i++)
    g_assert_cmpuint (empty->cells[i], ==, 0);
}

/* Boxes that no picture has get no mask, and all masks together no more than their room. */
static void
test_mask_room (void)
{
  enum
  {
    ROWS = 300
  };
  g_autofree gfloat *corners = g_new (gfloat, ROWS * 4), *sure = g_new (gfloat, ROWS),
                    *masks = g_new (gfloat, ROWS * 4);
  g_autofree gint64 *labels = g_new0 (gint64, ROWS);
  SlDecoderConfig config = {
    .threshold = 0.3f, .max_results = ROWS, .input_width = 800, .input_height = 600
  };
  config_add (&config, SL_DTYPE_F32, DIMS (ROWS, 4), 0, 0);
  config_add (&config, SL_DTYPE_I64, DIMS (ROWS), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (ROWS), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (ROWS, 1, 2, 2), 0, 0);
  config_param (&config, "check", "no");
  g_autoptr (SlDecoding) decoding = open_or_fail (&config);
  for (guint i = 0; i < ROWS; i++) {
    sure[i] = 1 - (gfloat) i / 1000;
    for (guint k = 0; k < 4; k++) {
      masks[4 * i + k] = 1;
      corners[4 * i + k] = k < 2 ? -3e38f : 3e38f;
    }
    if (i > 0)
      memcpy (corners + 4 * i,
              i == 1 ? (const gfloat[]){ 900, 700, 1000, 800 }
                     : (const gfloat[]){ -50, -50, 900, 700 },
              4 * sizeof (gfloat));
  }
  const void *const data[] = { corners, labels, sure, masks };
  const SlResult *result = sl_decoding_run (decoding, data);
  g_assert_cmpuint (result->n_detections, ==, ROWS);
  guint64 cells = 0;
  for (guint i = 0; i < ROWS; i++) {
    const SlInstanceMask *mask = &result->masks[i];
    cells += (guint64) mask->width * mask->height;
    g_assert_cmpint (mask->width > 0, ==, i > 1);
    if (i > 1)
      g_assert_cmpuint (mask->cells[mask->height / 2 * mask->width + mask->width / 2], ==, 255);
  }
  g_assert_cmpuint (cells, <=, SL_MAX_OBJECT_CELLS);
  g_assert_cmpuint (cells, >, SL_MAX_OBJECT_CELLS / 2);
}

/* Keypoints in pixels; what heat maps had there, through a sigmoid, is how sure they are, else
 * their own third number. */
static void
test_keypoints (void)
{
  const gint64 labels[N] = { 1, 1, 1, 1 };
  gfloat points[N * 12] = { 100, 25, 1, NAN, 0, 1, -20, 150, 0, 1, 2, 1 },
                    sure[N * 4] = { 0, 3, -2, NAN };
  for (guint with = 0; with < 2; with++) {
    g_autoptr (SlDecoding) decoding = open_with (DIMS (N, 4, 3), with ? DIMS (N, 4) : NULL);
    const void *const data[] = { boxes, labels, scores, points, sure };
    const SlResult *result = sl_decoding_run (decoding, data);
    g_assert_cmpuint (result->n_detections, ==, 2);
    const SlDetection *found = &result->detections[1];
    g_assert_cmpuint (found->n_keypoints, ==, 4);
    g_assert_null (result->skeleton);
    const SlDetectedPoint *p = &result->keypoints[found->first_keypoint];
    g_assert_cmpfloat (p[0].x, ==, 0.5f);
    g_assert_cmpfloat (p[0].y, ==, 0.25f);
    g_assert_cmpfloat (p[0].confidence, ==, with ? 0.5f : 1);
    g_assert_cmpfloat (p[1].confidence, ==, 0);
    g_assert_cmpfloat_with_epsilon (p[2].x, -0.1f, 1e-6f);
    g_assert_cmpfloat_with_epsilon (p[2].y, 1.5f, 1e-6f);
    g_assert_cmpfloat_with_epsilon (p[2].confidence, with ? 0.1192029f : 0, 1e-6f);
    g_assert_cmpfloat (p[3].confidence, ==, with ? 0 : 1);
  }
}

static void
test_refused (void)
{
  SlDecoderConfig config = make_config ("bl", 0, FALSE, SL_DTYPE_I64);
  assert_open_fails (
    "torchvision", &config, SL_ERROR_SHAPE,
    "expected boxes float32[N,4], labels int32 or int64 [N] and scores float32[N], one of each");
  config = make_config ("bls", 0, FALSE, SL_DTYPE_U8);
  assert_open_fails ("torchvision", &config, SL_ERROR_SHAPE,
                     "got float32[4,4], uint8[4], float32[4]");
  config = make_config ("blss", 0, FALSE, SL_DTYPE_I64);
  assert_open_fails ("torchvision", &config, SL_ERROR_SHAPE, "one of each");
  config = make_config ("bls", 0, FALSE, SL_DTYPE_I64);
  config.input_width = 0;
  assert_open_fails ("torchvision", &config, SL_ERROR_SHAPE, "imgsz");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/torchvision/orders", test_orders);
  g_test_add_func ("/torchvision/rows", test_rows);
  g_test_add_func ("/torchvision/masks", test_masks);
  g_test_add_func ("/torchvision/mask-room", test_mask_room);
  g_test_add_func ("/torchvision/keypoints", test_keypoints);
  g_test_add_func ("/torchvision/refused", test_refused);
  return g_test_run ();
}
