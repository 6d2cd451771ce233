/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Other decoders than yolo check their numbers, too: what they say about tensors that are not
 * theirs, and what the check costs.
 */
#include <math.h>

#include "tests/postprocess/evidence.h"
#include "tests/support/program.h"

/* Other decoders that are named for what is not theirs. */
static void
test_other_decoders (void)
{
  static gfloat boxes[100][4], scores[100][2], logits[100][3];
  for (guint i = 0; i < 100; i++) {
    memcpy (boxes[i], (const gfloat[]){ 40, 30, 100, 130 }, sizeof boxes[i]);
    scores[i][0] = i == 7 ? 0.9f : 0.01f;
    scores[i][1] = 0.02f;
    logits[i][0] = i == 7 ? 700 : 1;
  }
  SlDecoderConfig config = table_config (DIMS (1, 100, 4));
  config_add (&config, SL_DTYPE_F32, DIMS (1, 100, 2), 0, 0);
  assert_asks ("detr", &config, (const void *const[]){ boxes, scores },
               "no middles and sizes of 0..1", "state decoder=detections");
  for (guint i = 0; i < 100; i++)
    memcpy (boxes[i], (const gfloat[]){ (gfloat) i / 200, 0.1f, (gfloat) i / 200 + 0.3f, 0.4f },
            sizeof boxes[i]);
  assert_asks ("detr,activation=none", &config, (const void *const[]){ boxes, scores },
               "no middles and sizes", "decoder=detections for corners");
  for (guint i = 0; i < 100; i++)
    memcpy (boxes[i], (const gfloat[]){ 40, 30, 100, 130 }, sizeof boxes[i]);
  const gfloat count = 100;
  gfloat classes[100] = { 0 }, confidences[100] = { 0.9f };
  config = table_config (DIMS (1, 100, 4));
  config_add (&config, SL_DTYPE_F32, DIMS (1, 100), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 100), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1), 0, 0);
  assert_asks ("ssd", &config, (const void *const[]){ boxes, classes, confidences, &count },
               "boxes reach to", "state decoder=detections");
  classes[3] = 17;
  confidences[3] = 0.5f;
  for (guint i = 0; i < 100; i++)
    memcpy (boxes[i], (const gfloat[]){ 0.1f, 0.1f, 0.5f, 0.5f }, sizeof boxes[i]);
  assert_asks ("ssd,order=boxes,scores,classes,count", &config,
               (const void *const[]){ boxes, classes, confidences, &count },
               "tensor 1, taken for scores, holds numbers 0..17",
               "state order= of decoder=ssd with tensor 2 as scores");
  gint64 wide[100] = { 0 };
  config = table_config (DIMS (100, 4));
  config_add (&config, SL_DTYPE_I64, DIMS (100), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (100), 0, 0);
  assert_asks ("torchvision", &config, (const void *const[]){ boxes, wide, confidences },
               "fractions of 0..1", "state decoder=detections,units=normalised");
  for (guint i = 0; i < 100; i++)
    memcpy (boxes[i], (const gfloat[]){ 40, 30, 100, 230 }, sizeof boxes[i]);
  assert_asks ("torchvision", &config, (const void *const[]){ boxes, wide, confidences },
               "in an input of 320x192 pixels", "orig_target_sizes");
  config = table_config (DIMS (1, 100, 4));
  config_add (&config, SL_DTYPE_F32, DIMS (1, 100, 3), 0, 0);
  assert_asks ("detections,activation=none", &config, (const void *const[]){ boxes, logits },
               "taken for scores, holds", "activation=sigmoid");
}

/* A decoder that does not take the numbers either is not proposed: boxes far off any picture. */
static void
test_proposals_hold (void)
{
  static gfloat boxes[100][4], classes[100], confidences[100];
  const gfloat count = 100;
  static const char rest[] =
    "; expected another decoder (docs/predictions.md lists them; sightline infer gives the "
    "numbers)";
  SlDecoderConfig config = table_config (DIMS (1, 100, 4));
  config_add (&config, SL_DTYPE_F32, DIMS (1, 100), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 100), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1), 0, 0);
  for (guint i = 0; i < 100; i++) {
    memcpy (boxes[i], (const gfloat[]){ 4000, 3000, 5000, 4000 }, sizeof boxes[i]);
    confidences[i] = 0.9f;
    classes[i] = (gfloat) (i % 3);
  }
  const void *const data[] = { boxes, classes, confidences, &count };
  assert_asks ("ssd", &config, data, "boxes reach to", rest);
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("ssd", &config, NULL);
  sl_decoding_run (decoding, data);
  g_assert_null (strstr (sl_decoding_contradiction (decoding), "state decoder"));
  config = table_config (DIMS (1, 100, 4));
  config_add (&config, SL_DTYPE_F32, DIMS (1, 100, 2), 0, 0);
  static gfloat scores[100][2];
  for (guint i = 0; i < 100; i++)
    scores[i][0] = 0.9f;
  assert_asks ("detr", &config, (const void *const[]){ boxes, scores },
               "no middles and sizes of 0..1", rest);
}

/* Pictures are no classes of cells, and no boxes. */
static void
test_pictures (void)
{
  SlDecoderConfig config = table_config (DIMS (1, 1, 3 * HEIGHT, 3 * WIDTH));
  assert_open_fails (
    NULL, &config, SL_ERROR_SHAPE,
    "one number a pixel and a whole multiple of the input's size are a gray picture, as super "
    "resolution gives it (decoder=image,range=0,1); sightline infer");
  config = table_config (DIMS (1, HEIGHT, WIDTH));
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE, "may be depth (decoder=image,range=frame)");
  config = table_config (DIMS (1, HEIGHT, WIDTH, 7));
  g_autofree gfloat *data = g_new (gfloat, HEIGHT * WIDTH * 7);
  for (guint i = 0; i < HEIGHT * WIDTH * 7; i++)
    data[i] = (gfloat) (i % 97) / 97;
  assert_asks (NULL, &config, (const void *const[]){ data }, "they may be a picture or maps",
               "decoder=segmentation,activation=none");
  for (guint i = 0; i < HEIGHT * WIDTH * 7; i++)
    data[i] = i % 7 == 3 ? 0.94f : 0.01f;
  g_autoptr (SlDecoding) shares = sl_decoding_new (NULL, &config, NULL);
  g_assert_cmpuint (sl_decoding_run (shares, (const void *const[]){ data })->mask.width, ==, WIDTH);
  g_assert_cmpstr (sl_decoding_contradiction (shares), ==, NULL);
}

/* YuNet of 2021 on 160x120: a face of the second size of the second stride, written by its formulas
 * backwards. */
static void
test_yunet_2021 (void)
{
  enum
  {
    ROWS = 1076, /* 20x15 cells of 3 sizes, 10x7 of 2, 5x3 of 2, 2x1 of 3 */
    ROW = 900 + (4 * 10 + 6) * 2 + 1
  };
  static gfloat loc[ROWS][14], conf[ROWS][2], iou[ROWS];
  const double side = 48, x = 6.5 * 16, y = 4.5 * 16, box[4] = { 100, 70, 40, 60 };
  conf[ROW][1] = 0.81f;
  iou[ROW] = 1.3f; /* limited to 1 */
  for (guint k = 0; k < 2; k++) {
    loc[ROW][k] = (gfloat) ((box[k] - (k == 0 ? x : y)) / 0.1 / side);
    loc[ROW][2 + k] = (gfloat) (log (box[2 + k] / side) / 0.2);
  }
  for (guint k = 0; k < 5; k++) {
    loc[ROW][4 + 2 * k] = (gfloat) ((90 + 4 * k - x) / 0.1 / side);
    loc[ROW][5 + 2 * k] = (gfloat) ((50 + 5 * k - y) / 0.1 / side);
  }
  SlDecoderConfig config = {
    .threshold = SL_OWN_THRESHOLD, .max_results = 10, .input_width = 160, .input_height = 120
  };
  config_add (&config, SL_DTYPE_F32, DIMS (ROWS, 14), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, ROWS, 1), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, ROWS, 2), 0, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "yunet-2021");
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ loc, iou, conf });
  g_assert_cmpuint (result->n_detections, ==, 1);
  const SlDetection *face = &result->detections[0];
  g_assert_cmpfloat_with_epsilon (face->confidence, 0.9, 1e-6);
  g_assert_cmpfloat_with_epsilon (face->x_min * 160, 80, 1e-3);
  g_assert_cmpfloat_with_epsilon (face->y_min * 120, 40, 1e-3);
  g_assert_cmpfloat_with_epsilon (face->x_max * 160, 120, 1e-3);
  g_assert_cmpfloat_with_epsilon (face->y_max * 120, 100, 1e-3);
  for (guint k = 0; k < 5; k++) {
    g_assert_cmpfloat_with_epsilon (result->keypoints[k].x * 160, 90 + 4 * k, 1e-3);
    g_assert_cmpfloat_with_epsilon (result->keypoints[k].y * 120, 50 + 5 * k, 1e-3);
  }
  config.input_width = 320;
  assert_open_fails ("yunet-2021", &config, SL_ERROR_SHAPE, "for an input of 320x120");
}

/* A frame of 8400 rows of 84 numbers: what looking at it takes, and that nobody looks later on. */
static void
test_cost (void)
{
  g_autofree gfloat *data = g_new0 (gfloat, 84 * 8400);
  for (guint i = 0; i < 4 * 8400; i++)
    data[i] = 100 + (gfloat) (i % 400);
  data[4 * 8400 + 77] = 0.9f;
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 10, .n_labels = 80, .input_width = 640, .input_height = 640
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 84, 8400), 0, 0);
  gint64 best[2] = { G_MAXINT64, G_MAXINT64 };
  for (guint check = 0; check < 2; check++) {
    g_autoptr (SlDecoding) decoding =
      sl_decoding_new (check ? "yolo" : "yolo,check=no", &config, NULL);
    for (guint i = 0; i < 20; i++) {
      const gint64 start = g_get_monotonic_time ();
      g_assert_cmpuint (sl_decoding_run (decoding, (const void *const[]){ data })->n_detections, ==,
                        1);
      best[check] = MIN (best[check], g_get_monotonic_time () - start);
    }
  }
  g_test_message ("a frame takes %" G_GINT64_FORMAT
                  " us, with a look at its numbers %" G_GINT64_FORMAT " us",
                  best[0], best[1]);
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("yolo,preset=v8", &config, NULL);
  for (guint i = 0; i < 30; i++)
    sl_decoding_run (decoding, (const void *const[]){ data });
  data[5 * 8400 + 78] = 700;
  sl_decoding_run (decoding, (const void *const[]){ data });
  g_assert_cmpstr (sl_decoding_contradiction (decoding), ==, NULL);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/evidence/other_decoders", test_other_decoders);
  g_test_add_func ("/evidence/proposals_hold", test_proposals_hold);
  g_test_add_func ("/evidence/pictures", test_pictures);
  g_test_add_func ("/evidence/yunet_2021", test_yunet_2021);
  g_test_add_func ("/evidence/cost", test_cost);
  return g_test_run ();
}
