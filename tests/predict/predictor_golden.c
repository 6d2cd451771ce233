/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlPredictor on real models against LiteRT's outputs: frames of the model's own size are what
 * LiteRT was given, so labels, boxes, keypoints and masks follow from its output files by the
 * definition of each model's tensors. Skipped without shared data.
 */
#include "tests/predict/models.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"

typedef struct
{
  SlPredictor *predictor;
  SlPredictions *predictions;
} Fixture;

static char *
shared (const char *folder, const char *name, const char *ending)
{
  g_autofree char *relative = g_strdup_printf ("%s/%s%s", folder, name, ending);
  return sl_test_data (relative);
}

/* The golden output @index of @name; asserted to have @bytes, unless these are 0. */
static guint8 *
output (const char *name, guint index, gsize bytes)
{
  g_autofree char *ending = g_strdup_printf (".xnn.out%u.bin", index);
  g_autofree char *path = shared ("golden", name, ending);
  char *data = NULL;
  gsize n;
  g_assert_true (g_file_get_contents (path, &data, &n, NULL));
  g_assert_cmpuint (n, ==, bytes);
  return (guint8 *) data;
}

/* Predicts on golden input @name with its model's default settings; FALSE when the data is not
 * there. */
static gboolean
predict (Fixture *f, const char *model, const char *picture, const char *format, guint side)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_strdup_printf ("%s.%s", model, picture);
  g_autofree char *model_path = shared ("models", model, ".tflite");
  g_autofree char *input_path = model_path != NULL ? shared ("golden", name, ".in") : NULL;
  char *pixels = NULL;
  gsize n;
  if (input_path == NULL)
    return FALSE;
  g_assert_true (g_file_get_contents (input_path, &pixels, &n, NULL));
  g_autoptr (GBytes) data = g_bytes_new_take (pixels, n);
  f->predictor = sl_predictor_new (model_path, &error);
  g_assert_no_error (error);
  g_object_set (f->predictor, "fit", "stretch", "threshold", 0.0, "top-k", 2u, NULL);
  f->predictions = sl_predictor_predict_bytes (f->predictor, format, side, side, data, &error);
  g_assert_no_error (error);
  return TRUE;
}

static void
clear (Fixture *f)
{
  g_clear_pointer (&f->predictions, sl_predictions_unref);
  g_clear_object (&f->predictor);
}

static void
test_classes (void)
{
  const char *const pictures[] = { "grace_hopper", "cat", "prng" };
  for (guint i = 0; i < G_N_ELEMENTS (pictures); i++) {
    Fixture f = { 0 };
    if (!predict (&f, "mobilenet_v2_1.0_224_quant", pictures[i], "RGB", 224))
      return;
    g_autofree char *name = g_strdup_printf ("mobilenet_v2_1.0_224_quant.%s", pictures[i]);
    g_autofree guint8 *codes = output (name, 0, 1001);
    guint best = 0;
    for (guint k = 1; k < 1001; k++)
      best = codes[k] > codes[best] ? k : best;
    g_assert_cmpuint (sl_test_length (sl_predictions_get_labels (f.predictions)), ==, 2);
    g_assert_cmpfloat_with_epsilon (
      sl_label_get_confidence (sl_predictions_get_labels (f.predictions)[0]), codes[best] / 256.0,
      1e-6);
    g_assert_cmpuint (codes[sl_label_get_id (sl_predictions_get_labels (f.predictions)[0])], ==,
                      codes[best]);
    if (i < 2)
      g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (f.predictions)[0]), ==,
                       i == 0 ? "military uniform" : "Egyptian cat");
    clear (&f);
  }
}

static double
clip (float value)
{
  return CLAMP ((double) value, 0, 1);
}

/* Boxes of a detector, best first, as its last operator wrote them: y0 x0 y1 x1, class, score. */
static void
test_objects (void)
{
  const char *const pictures[] = { "bus", "dog", "cat" };
  for (guint i = 0; i < G_N_ELEMENTS (pictures); i++) {
    Fixture f = { 0 };
    if (!predict (&f, "ssd_mobilenet_v1", pictures[i], "RGB", 300))
      return;
    g_autofree char *name = g_strdup_printf ("ssd_mobilenet_v1.%s", pictures[i]);
    g_autofree guint8 *boxes = output (name, 0, 160), *classes = output (name, 1, 40),
                      *scores = output (name, 2, 40);
    g_assert_cmpuint (sl_predictions_get_n_objects (f.predictions), ==, 10);
    for (guint k = 0; k < 10; k++) {
      const float *box = (const float *) (gconstpointer) boxes + 4 * k;
      SlObject *object = sl_predictions_get_object (f.predictions, k);
      const SlBox *relative = sl_object_get_relative_box (object),
                  *pixels = sl_object_get_box (object);
      g_assert_cmpfloat_with_epsilon (relative->y, clip (box[0]), 1e-6);
      g_assert_cmpfloat_with_epsilon (relative->x, clip (box[1]), 1e-6);
      g_assert_cmpfloat_with_epsilon (relative->y + relative->height, clip (box[2]), 1e-6);
      g_assert_cmpfloat_with_epsilon (relative->x + relative->width, clip (box[3]), 1e-6);
      g_assert_cmpfloat_with_epsilon (pixels->x, 300 * relative->x, 1e-6);
      g_assert_cmpfloat_with_epsilon (pixels->height, 300 * relative->height, 1e-6);
      g_assert_cmpfloat_with_epsilon (sl_object_get_confidence (object),
                                      ((const float *) (gconstpointer) scores)[k], 1e-6);
      g_assert_cmpint (sl_object_get_label_id (object), ==,
                       (gint) ((const float *) (gconstpointer) classes)[k]);
    }
    g_assert_cmpstr (sl_object_get_label (sl_predictions_get_object (f.predictions, 0)), ==,
                     i == 0   ? "person"
                     : i == 1 ? "bicycle"
                              : "cat");
    clear (&f);
  }
}

/* Seventeen points y, x, score. */
static void
test_keypoints (void)
{
  Fixture f = { 0 };
  if (!predict (&f, "movenet_single_pose_lightning_ptq", "person", "RGB", 192))
    return;
  g_autofree guint8 *data = output ("movenet_single_pose_lightning_ptq.person", 0, 204);
  const float *points = (const float *) (gconstpointer) data;
  g_assert_cmpuint (sl_predictions_get_n_objects (f.predictions), ==, 1);
  SlKeypoint *const *found = sl_object_get_keypoints (sl_predictions_get_object (f.predictions, 0));
  g_assert_cmpuint (sl_test_length (found), ==, 17);
  for (guint k = 0; k < 17; k++) {
    g_assert_cmpfloat_with_epsilon (sl_keypoint_get_y (found[k]), 192 * (double) points[3 * k],
                                    1e-3);
    g_assert_cmpfloat_with_epsilon (sl_keypoint_get_x (found[k]), 192 * (double) points[3 * k + 1],
                                    1e-3);
    g_assert_cmpfloat_with_epsilon (sl_keypoint_get_confidence (found[k]),
                                    (double) points[3 * k + 2], 1e-5);
  }
  g_assert_cmpstr (sl_keypoint_get_name (found[0]), ==, "nose");
  g_assert_cmpuint (sl_predictions_get_n_bones (f.predictions), >, 10);
  clear (&f);
}

/* The class of every pixel, as 64-bit integers. */
static void
test_mask (void)
{
  const guint side = 513;
  Fixture f = { 0 };
  if (!predict (&f, "deeplabv3_mnv2_dm05_pascal_quant", "dog_segmentation", "RGB", side))
    return;
  g_autofree guint8 *data =
    output ("deeplabv3_mnv2_dm05_pascal_quant.dog_segmentation", 0, (gsize) side * side * 8);
  const gint64 *classes = (const gint64 *) (gconstpointer) data;
  gsize n_cells;
  const SlMask *mask = sl_predictions_get_class_mask (f.predictions);
  const guint8 *cells = sl_mask_get_cells (mask, &n_cells);
  g_assert_cmpuint (sl_mask_get_width (mask), ==, side);
  g_assert_cmpuint (sl_mask_get_height (mask), ==, side);
  g_assert_cmpuint (n_cells, ==, side * side);
  gsize dog = 0;
  for (gsize k = 0; k < (gsize) side * side; k++) {
    g_assert_cmpint (cells[k], ==, classes[k]);
    dog += classes[k] == 12;
  }
  for (guint k = 0; k < sl_predictions_get_n_mask_classes (f.predictions); k++) {
    gint id;
    gdouble fraction;
    sl_predictions_get_mask_class (f.predictions, k, &id, &fraction);
    if (id == 12)
      g_assert_cmpfloat_with_epsilon (fraction, (double) dog / side / side, 1e-9);
  }
  clear (&f);
}

/* Heads of exporters whose metadata says nothing of them: two objects in a frame of 128x96, at
 * 16,24 32x48 and 80,12 32x24. */
static void
test_heads (void)
{
  static const struct
  {
    const char *folder, *model, *labels, *first;
    guint n;
    gint second;
  } cases[] = {
    { "deepstream_yolo_head", "two.onnx", NULL, "0", 2, 1 },
    { "deepstream_yolo_head", "two.onnx", "two.txt", "cat", 2, 1 },
    { "deepstream_yolo_head", "one.onnx", "one.txt", "cat", 2, 0 },
    { "ultralytics_rtdetr", "new.onnx", NULL, "cat", 2, 1 },
    { "ultralytics_rtdetr", "old_two_classes.onnx", NULL, "cat", 2, 1 },
    { "ultralytics_rtdetr", "old_three_classes.onnx", NULL, "cat", 2, 1 },
    { "rfdetr_labels", "rfdetr.onnx", "labels.txt", "cat", 1, -1 },
    { "yolov7_end2end_rows", "yolov7.onnx", "two.txt", "cat", 2, 1 },
    { "yolov7_end2end_rows", "yolov7.onnx", "three.txt", "cat", 2, 1 },
    { "yolov7_end2end_rows", "yolov7.onnx", NULL, "0", 2, 1 },
    { "yolo_nas", "yolonas.onnx", NULL, "0", 2, 1 },
    { "efficient_nms", "effnms.onnx", NULL, "0", 2, 1 },
    { "mmdeploy", "mmdeploy.onnx", NULL, "0", 2, 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *folder = g_strdup_printf ("bugs/%s", cases[i].folder);
    g_autofree char *model = shared (folder, cases[i].model, "");
    if (model == NULL)
      return;
    g_autofree char *labels = cases[i].labels != NULL ? shared (folder, cases[i].labels, "") : NULL;
    g_autoptr (GError) error = NULL;
    g_autoptr (SlFrame) frame = plain_frame (128, 96, 10, 20, 30);
    g_autoptr (SlPredictor) predictor =
      g_object_new (SL_TYPE_PREDICTOR, "model", model, "labels", labels, "mean", "0", "std", "255",
                    "fit", "stretch", NULL);
    g_autoptr (SlPredictions) predictions = sl_predictor_predict (predictor, frame, &error);
    g_assert_no_error (error);
    SlObject *const *objects = sl_predictions_get_objects (predictions);
    g_test_message ("%s %s", cases[i].folder, cases[i].model);
    g_assert_cmpuint (sl_predictions_get_n_objects (predictions), ==, cases[i].n);
    const SlBox *box = sl_object_get_box (objects[0]);
    g_assert_cmpstr (sl_object_get_label (objects[0]), ==, cases[i].first);
    g_assert_cmpfloat_with_epsilon (sl_object_get_confidence (objects[0]), 0.9, 0.005);
    g_assert_cmpfloat_with_epsilon (box->x, 16, 0.01);
    g_assert_cmpfloat_with_epsilon (box->y, 24, 0.01);
    g_assert_cmpfloat_with_epsilon (box->width, 32, 0.01);
    g_assert_cmpfloat_with_epsilon (box->height, 48, 0.01);
    if (cases[i].n == 1)
      continue;
    box = sl_object_get_box (objects[1]);
    g_assert_cmpint (sl_object_get_label_id (objects[1]), ==, cases[i].second);
    g_assert_cmpfloat_with_epsilon (sl_object_get_confidence (objects[1]), 0.8, 0.005);
    g_assert_cmpfloat_with_epsilon (box->x, 80, 0.01);
    g_assert_cmpfloat_with_epsilon (box->width, 32, 0.01);
  }
}

/* The same model where a stated decoder contradicts its numbers: an error that says what to state,
 * each time. */
static void
test_contradiction (void)
{
  g_autofree char *model = shared ("bugs/deepstream_yolo_head", "two.onnx", "");
  if (model == NULL)
    return;
  g_autoptr (SlFrame) frame = plain_frame (128, 96, 10, 20, 30);
  g_autoptr (SlPredictor) predictor =
    g_object_new (SL_TYPE_PREDICTOR, "model", model, "decoder", "yolo,preset=v5", "mean", "0",
                  "std", "255", NULL);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (sl_predictor_predict (predictor, frame, &error));
    expect_message (
      &error, SL_ERROR_CONTRACT,
      "two.onnx: decoder yolo: column 5 holds whole numbers 0..1, which are no scores: state "
      "decoder=yolo,columns=x1y1x2y2,score,class");
  }
  g_object_set (predictor, "decoder", "yolo,columns=x1y1x2y2,score,class", NULL);
  g_autoptr (SlPredictions) predictions = sl_predictor_predict (predictor, frame, NULL);
  g_assert_cmpuint (sl_predictions_get_n_objects (predictions), ==, 2);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictor/golden/classes", test_classes);
  g_test_add_func ("/predictor/golden/objects", test_objects);
  g_test_add_func ("/predictor/golden/keypoints", test_keypoints);
  g_test_add_func ("/predictor/golden/mask", test_mask);
  g_test_add_func ("/predictor/golden/heads", test_heads);
  g_test_add_func ("/predictor/golden/contradiction", test_contradiction);
  return g_test_run ();
}
