/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlPredictor on models whose answers follow from the picture: properties, formats, errors with
 * their messages.
 */
#include "tests/predict/models.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"
#include "tests/support/tflite_writer.h"

#include <math.h>

#include <glib/gstdio.h>

static SlPredictor *
new_predictor (const char *model)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = tiny_model (model);
  SlPredictor *predictor = sl_predictor_new (path, &error);
  g_assert_no_error (error);
  return predictor;
}

static SlPredictions *
predict (SlPredictor *predictor, SlFrame *frame)
{
  g_autoptr (GError) error = NULL;
  SlPredictions *predictions = sl_predictor_predict (predictor, frame, &error);
  g_assert_no_error (error);
  g_assert_nonnull (predictions);
  return predictions;
}

static void
test_labels (void)
{
  g_autoptr (SlPredictor) predictor = new_predictor ("brightest_channel.tflite");
  const guint sizes[][2] = { { 8, 8 }, { 1, 1 }, { 31, 17 }, { 3, 500 }, { 1920, 1080 } };
  g_object_set (predictor, "top-k", 3u, "source", "test", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autoptr (SlFrame) frame = plain_frame (sizes[i][0], sizes[i][1], 51, 204, 102);
    sl_frame_set_timestamp (frame, 1000 * i);
    g_autoptr (SlPredictions) p = predict (predictor, frame);
    g_assert_cmpuint (sl_test_length (sl_predictions_get_labels (p)), ==, 3);
    g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (p)[0]), ==, "green");
    g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (p)[1]), ==, "blue");
    g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (p)[2]), ==, "red");
    g_assert_cmpfloat_with_epsilon (sl_label_get_confidence (sl_predictions_get_labels (p)[0]), 0.8,
                                    0.005);
    g_assert_cmpfloat_with_epsilon (sl_label_get_confidence (sl_predictions_get_labels (p)[2]), 0.2,
                                    0.005);
    g_assert_cmpuint (sl_predictions_get_frame_number (p), ==, i);
    g_assert_cmpuint (sl_predictions_get_timestamp (p), ==, 1000 * i);
    g_assert_cmpuint (sl_predictions_get_width (p), ==, sizes[i][0]);
    g_assert_cmpuint (sl_predictions_get_height (p), ==, sizes[i][1]);
    g_assert_cmpstr (sl_predictions_get_source (p), ==, "test");
    gint64 age, preprocess, inference, decode;
    g_assert_true (sl_predictions_get_latency (p, &age, &preprocess, &inference, &decode));
    g_assert_cmpint (preprocess, >=, 0);
    g_assert_cmpint (age, ==, preprocess + inference + decode);
  }
}

/* A frame of 200x100: the box over x 0..0.5, y 0.25..0.75 of the picture. */
static void
test_box (void)
{
  g_autoptr (SlPredictor) predictor = new_predictor ("one_box.tflite");
  g_autoptr (SlFrame) frame = plain_frame (200, 100, 0, 51, 204);
  g_autoptr (SlPredictions) p = predict (predictor, frame);
  g_assert_cmpuint (sl_predictions_get_n_objects (p), ==, 1);
  g_assert_cmpstr (sl_object_get_label (sl_predictions_get_object (p, 0)), ==, "blue");
  g_assert_cmpint (sl_object_get_label_id (sl_predictions_get_object (p, 0)), ==, 1);
  g_assert_cmpfloat_with_epsilon (sl_object_get_confidence (sl_predictions_get_object (p, 0)), 0.8,
                                  0.02);
  const SlBox *box = sl_object_get_box (sl_predictions_get_object (p, 0));
  g_assert_cmpfloat_with_epsilon (box->x, 0, 1e-3);
  g_assert_cmpfloat_with_epsilon (box->y, 25, 1e-3);
  g_assert_cmpfloat_with_epsilon (box->width, 100, 1e-3);
  g_assert_cmpfloat_with_epsilon (box->height, 50, 1e-3);
}

/* The blue that a running sum has seen so far. */
static gdouble
sum_of_blue (SlPredictor *predictor)
{
  g_autoptr (SlFrame) frame = plain_frame (8, 8, 0, 0, 51);
  g_autoptr (SlPredictions) p = predict (predictor, frame);
  g_assert_cmpint (sl_label_get_id (sl_predictions_get_labels (p)[0]), ==, 2);
  return sl_label_get_confidence (sl_predictions_get_labels (p)[0]);
}

/* State goes from frame to frame until it is reset, of each predictor by itself. */
static void
test_state (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = tiny_model ("running_sum.tflite");
  g_autoptr (SlPredictor) predictor = g_object_new (SL_TYPE_PREDICTOR, "model", path, "mean", "0",
                                                    "std", "255", "decoder", "labels", NULL);
  sl_predictor_reset (predictor); /* of a model that is not loaded yet */
  for (guint i = 1; i <= 3; i++)
    g_assert_cmpfloat_with_epsilon (sum_of_blue (predictor), 0.2 * i, 1e-6);
  g_autoptr (SlPredictor) other = sl_predictor_new_shared (predictor, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (sum_of_blue (other), 0.2, 1e-6);
  g_assert_cmpfloat_with_epsilon (sum_of_blue (predictor), 0.8, 1e-6);
  sl_predictor_reset (predictor);
  g_assert_cmpfloat_with_epsilon (sum_of_blue (predictor), 0.2, 1e-6);
  g_assert_cmpfloat_with_epsilon (sum_of_blue (other), 0.4, 1e-6);
}

/* The tensors themselves, which outlive the predictor. */
static void
test_outputs (void)
{
  g_autofree char *path = tiny_model ("one_box.tflite");
  SlPredictor *predictor = g_object_new (SL_TYPE_PREDICTOR, "model", path, "decoder", "none", NULL);
  g_autoptr (SlFrame) frame = plain_frame (200, 100, 0, 51, 204);
  SlPredictions *p = predict (predictor, frame);
  g_autofree char *text = sl_predictions_to_text (p);
  guint n_dims = 0;
  gsize size = 0;
  g_object_unref (predictor);
  SlOutput *const *all = sl_predictions_get_outputs (p);
  g_assert_true (all[3] != NULL && all[4] == NULL);
  g_autoptr (SlOutput) boxes = sl_output_ref (all[0]);
  g_assert_true (g_boxed_copy (SL_TYPE_OUTPUT, all[0]) == boxes);
  g_boxed_free (SL_TYPE_OUTPUT, boxes);
  sl_predictions_unref (p);
  const gint *shape = sl_output_get_shape (boxes, &n_dims);
  g_assert_cmpuint (n_dims, ==, 3);
  g_assert_true (shape[0] == 1 && shape[1] == 1 && shape[2] == 4);
  g_assert_cmpstr (sl_output_get_name (boxes), ==, "boxes");
  g_assert_cmpstr (sl_output_get_dtype (boxes), ==, "float32");
  g_assert_cmpfloat (sl_output_get_scale (boxes), ==, 0);
  g_assert_cmpint (sl_output_get_zero_point (boxes), ==, 0);
  const gfloat *values = (const gfloat *) (gpointer) sl_output_get_data (boxes, &size);
  g_assert_cmpuint (size, ==, 16);
  g_assert_cmpuint (sl_output_get_address (boxes), ==, (gsize) values);
  g_assert_cmpfloat_with_epsilon (values[0], 0.25, 1e-5);
  g_assert_cmpfloat_with_epsilon (values[3], 0.5, 1e-5);
  g_assert_true (g_str_has_prefix (text, "boxes float32[1,1,4]\n"));
}

/* Letterboxed into a square, 200x100 has borders above and below: the box covers y -0.5..1.5 of
 * half its height more. */
static void
test_fit (void)
{
  g_autofree char *path = tiny_model ("one_box.tflite");
  g_autoptr (SlPredictor) predictor =
    g_object_new (SL_TYPE_PREDICTOR, "model", path, "fit", "letterbox", "threshold", 0.1, NULL);
  g_autoptr (SlFrame) frame = plain_frame (200, 100, 0, 51, 204);
  g_autoptr (SlPredictions) p = predict (predictor, frame);
  const SlBox *box = sl_object_get_box (sl_predictions_get_object (p, 0));
  g_assert_cmpfloat_with_epsilon (box->y, 0, 1e-3);
  g_assert_cmpfloat_with_epsilon (box->height, 100, 1e-3);
}

/* Half of the central square of 200x100 is 50x50 at (75, 25): the box covers its left half, and its
 * middle half from top to bottom. */
static void
test_crop_share (void)
{
  static const char info[] = "[modelinfo]\nversion=1.0\n[sightline]\nfit=crop\ncrop-share=0.5\n";
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("sightline-XXXXXX", &error),
                  *from = tiny_model ("one_box.tflite"), *bytes = NULL;
  g_autofree char *path = g_build_filename (folder, "m.tflite", NULL),
                  *beside = g_strconcat (path, ".modelinfo", NULL);
  gsize size;
  g_assert_true (g_file_get_contents (from, &bytes, &size, NULL)
                 && g_file_set_contents (path, bytes, (gssize) size, NULL)
                 && g_file_set_contents (beside, info, -1, NULL));
  g_autoptr (SlPredictor) predictor =
    g_object_new (SL_TYPE_PREDICTOR, "model", path, "threshold", 0.1, NULL);
  g_autoptr (SlFrame) frame = plain_frame (200, 100, 0, 51, 204);
  g_autoptr (SlPredictions) p = predict (predictor, frame);
  const SlBox *box = sl_object_get_box (sl_predictions_get_object (p, 0));
  g_assert_cmpfloat_with_epsilon (box->x, 75, 1e-3);
  g_assert_cmpfloat_with_epsilon (box->y, 37.5, 1e-3);
  g_assert_cmpfloat_with_epsilon (box->width, 25, 1e-3);
  g_assert_cmpfloat_with_epsilon (box->height, 25, 1e-3);
  g_remove (beside);
  g_remove (path);
  g_rmdir (folder);
}

/* What a property changes counts for the next frame. */
static void
test_properties (void)
{
  g_autoptr (SlPredictor) predictor = new_predictor ("one_box.tflite");
  g_autoptr (SlFrame) frame = plain_frame (20, 10, 0, 51, 204);
  g_autofree char *other = tiny_model ("brightest_channel.tflite");
  g_autofree char *model = NULL, *labels = NULL, *names = NULL;
  gdouble threshold, overlap;
  guint top, most, threads;
  g_object_set (predictor, "threshold", 0.9, "iou-threshold", 0.3, "max-results", 5u, "threads", 0u,
                NULL);
  g_autoptr (SlPredictions) nothing = predict (predictor, frame);
  g_assert_cmpuint (sl_predictions_get_n_objects (nothing), ==, 0);
  g_object_set (predictor, "model", other, "threshold", -1.0, NULL);
  g_autoptr (SlPredictions) label = predict (predictor, frame);
  g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (label)[0]), ==, "blue");
  g_assert_true (g_file_open_tmp ("labelsXXXXXX", &names, NULL) >= 0);
  g_assert_true (g_file_set_contents (names, "a\nb\nc\n", -1, NULL));
  g_object_set (predictor, "labels", names, NULL);
  g_autoptr (SlPredictions) renamed = predict (predictor, frame);
  g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (renamed)[0]), ==, "c");
  g_object_get (predictor, "model", &model, "labels", &labels, "threshold", &threshold,
                "iou-threshold", &overlap, "max-results", &most, "top-k", &top, "threads", &threads,
                NULL);
  g_assert_cmpstr (model, ==, other);
  g_assert_cmpstr (labels, ==, names);
  g_assert_cmpfloat (threshold, ==, -1);
  g_assert_cmpfloat (overlap, ==, 0.3);
  g_assert_cmpuint (most, ==, 5);
  g_assert_cmpuint (top, ==, 1);
  g_assert_cmpuint (threads, ==, 0);
  g_assert_cmpint (g_remove (names), ==, 0);
}

/* Classes that do not count are neither among the results nor among the most of them; the names are
 * checked, the model is not loaded anew. */
static void
test_classes (void)
{
  g_autoptr (SlPredictor) predictor = new_predictor ("brightest_channel.tflite");
  g_autoptr (SlPredictor) boxes = new_predictor ("one_box.tflite");
  g_autoptr (SlFrame) frame = plain_frame (8, 8, 51, 204, 102);
  g_autoptr (GError) error = NULL;
  g_object_set (predictor, "classes", "red, blue", "top-k", 3u, NULL);
  g_autoptr (SlPredictions) two = predict (predictor, frame);
  g_assert_cmpuint (sl_test_length (sl_predictions_get_labels (two)), ==, 2);
  g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (two)[0]), ==, "blue");
  g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (two)[1]), ==, "red");
  g_object_set (predictor, "classes", "!green", "top-k", 1u, NULL);
  g_autoptr (SlPredictor) shared = sl_predictor_new_shared (predictor, &error);
  g_assert_no_error (error);
  g_autoptr (SlPredictions) best = predict (shared, frame);
  g_assert_cmpuint (sl_test_length (sl_predictions_get_labels (best)), ==, 1);
  g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (best)[0]), ==, "blue");
  g_object_set (predictor, "classes", "grene", NULL);
  g_assert_null (sl_predictor_predict (predictor, frame, &error));
  expect_message (&error, SL_ERROR_ARGUMENT, "grene");
  g_object_set (predictor, "classes", "red,,blue", NULL);
  g_assert_null (sl_predictor_predict (predictor, frame, &error));
  expect_message (&error, SL_ERROR_ARGUMENT, "red,,blue");
  g_object_set (predictor, "classes", NULL, "top-k", 3u, NULL);
  g_autoptr (SlPredictions) all = predict (predictor, frame);
  g_assert_cmpuint (sl_test_length (sl_predictions_get_labels (all)), ==, 3);
  for (guint i = 0; i < 2; i++) {
    g_object_set (boxes, "classes", i == 0 ? "!blue" : "blue", NULL);
    g_autoptr (SlFrame) blue = plain_frame (200, 100, 0, 51, 204);
    g_autoptr (SlPredictions) found = predict (boxes, blue);
    g_assert_cmpuint (sl_predictions_get_n_objects (found), ==, i);
  }
}

static void
test_information (void)
{
  g_autoptr (SlPredictor) predictor = new_predictor ("brightest_channel.tflite");
  g_autoptr (SlPredictor) empty = g_object_new (SL_TYPE_PREDICTOR, NULL);
  g_autofree char *summary = sl_predictor_dup_summary (predictor);
  guint width, height;
  g_assert_true (sl_predictor_get_input_size (predictor, &width, &height));
  g_assert_cmpuint (width, ==, 8);
  g_assert_cmpuint (height, ==, 8);
  g_assert_nonnull (strstr (summary, "uint8[1,8,8,3] RGB"));
  g_assert_false (sl_predictor_get_input_size (empty, &width, &height));
  g_assert_cmpuint (width + height, ==, 0);
  g_assert_null (sl_predictor_dup_summary (empty));
}

/* The same gray in every format: all channels equal 126 by BT.601 and BT.709, limited and full
 * range. */
static void
test_formats (void)
{
  g_autoptr (SlPredictor) predictor = new_predictor ("brightest_channel.tflite");
  g_auto (GStrv) names = sl_frame_dup_formats ();
  g_object_set (predictor, "top-k", 3u, NULL);
  for (guint i = 0; names[i] != NULL; i++) {
    const gsize n = sl_frame_packed_size (names[i], 12, 10);
    const gboolean wide = g_str_has_suffix (names[i], "10LE");
    const gboolean yuv = wide || strchr ("NIYU", names[i][0]) != NULL;
    guint8 *bytes = g_malloc (n);
    for (gsize k = 0; k < n; k++) /* 128 in 8 bits, 512 in 10 */
      bytes[k] = !wide ? 128 : k % 2 == 0 ? 0 : strcmp (names[i], "P010_10LE") == 0 ? 128 : 2;
    g_autoptr (GBytes) data = g_bytes_new_take (bytes, n);
    g_autoptr (GError) error = NULL;
    g_autoptr (SlPredictions) p =
      sl_predictor_predict_bytes (predictor, names[i], 12, 10, data, &error);
    g_assert_no_error (error);
    const double expected = yuv ? (128 - 16) / 219.0 : 128 / 255.0;
    for (guint k = 0; k < 3; k++)
      g_assert_cmpfloat_with_epsilon (sl_label_get_confidence (sl_predictions_get_labels (p)[k]),
                                      expected, 0.005);
  }
}

/* A picture stored upside down, as in BMP files, with padding between rows that must not be read.
 */
static void
test_upside_down (void)
{
  g_autofree char *path = tiny_model ("one_box.tflite");
  g_autoptr (GError) error = NULL;
  g_autoptr (SlPredictor) predictor = sl_predictor_new (path, &error);
  g_autofree guint8 *rows = g_malloc (4 * 16);
  memset (rows, 255, 4 * 16);
  for (guint y = 0; y < 4; y++)
    for (guint x = 0; x < 4; x++) {
      rows[16 * y + 3 * x] = 204; /* blue, in BGR */
      rows[16 * y + 3 * x + 1] = rows[16 * y + 3 * x + 2] = 0;
    }
  g_autoptr (GBytes) data = g_bytes_new_static (rows, 4 * 16);
  g_autoptr (SlFrame) frame = sl_frame_new_with_layout (
    "BGR", 4, 4, data, (const gsize[]){ 3 * 16 }, (const gssize[]){ -16 }, 1, &error);
  g_assert_no_error (error);
  g_autoptr (SlPredictions) p = predict (predictor, frame);
  g_assert_cmpstr (sl_object_get_label (sl_predictions_get_object (p, 0)), ==, "blue");
  g_assert_cmpfloat_with_epsilon (sl_object_get_confidence (sl_predictions_get_object (p, 0)), 0.8,
                                  0.005);
}

/* Layouts by chance: what is taken can be read to the last byte, as sanitizers and valgrind see. */
static void
test_random_layouts (void)
{
  g_autoptr (SlPredictor) predictor = new_predictor ("brightest_channel.tflite");
  g_auto (GStrv) names = sl_frame_dup_formats ();
  GRand *chance = g_rand_new_with_seed (1);
  guint taken = 0;
  for (guint i = 0; i < 5000; i++) {
    const char *format = names[g_rand_int_range (chance, 0, (gint) g_strv_length (names))];
    const guint width = (guint) g_rand_int_range (chance, 1, 20),
                height = (guint) g_rand_int_range (chance, 1, 12);
    const gsize n =
      sl_frame_packed_size (format, width, height) + (gsize) g_rand_int_range (chance, 0, 200);
    g_autoptr (GBytes) data = g_bytes_new_take (g_malloc0 (n), n);
    gsize offsets[3];
    gssize strides[3];
    for (guint p = 0; p < 3; p++) {
      offsets[p] = (gsize) g_rand_int_range (chance, 0, (gint) n + 2);
      strides[p] = g_rand_int_range (chance, -80, 80);
    }
    for (guint planes = 1; planes <= 3; planes++) {
      g_autoptr (SlFrame) frame =
        sl_frame_new_with_layout (format, width, height, data, offsets, strides, planes, NULL);
      if (frame != NULL)
        sl_predictions_unref (predict (predictor, frame));
      taken += frame != NULL;
    }
  }
  g_assert_cmpuint (taken, >, 100);
  g_rand_free (chance);
}

static void
expect_load_error (const char *model, const char *property, const char *value, int code,
                   const char *text)
{
  g_autofree char *path = model != NULL ? tiny_model (model) : NULL;
  g_autoptr (SlPredictor) predictor = g_object_new (SL_TYPE_PREDICTOR, "model", path, NULL);
  g_autoptr (SlFrame) frame = plain_frame (8, 8, 1, 2, 3);
  GError *error = NULL;
  if (property != NULL)
    g_object_set (predictor, property, value, NULL);
  g_assert_false (sl_predictor_load (predictor, &error));
  expect_message (&error, code, text);
  g_assert_null (sl_predictor_predict (predictor, frame, &error));
  expect_message (&error, code, text);
}

static void
test_errors (void)
{
  g_autofree char *stated = g_strdup (g_getenv ("SIGHTLINE_MODEL"));
  g_setenv ("SIGHTLINE_MODEL", "/nowhere.tflite", TRUE);
  expect_load_error (NULL, NULL, NULL, SL_ERROR_OPEN, "no model is named, and /nowhere.tflite");
  expect_load_error (NULL, "model", "", SL_ERROR_OPEN, ": no such file");
  if (stated != NULL)
    g_setenv ("SIGHTLINE_MODEL", stated, TRUE);
  else
    g_unsetenv ("SIGHTLINE_MODEL");
  expect_load_error ("missing.tflite", NULL, NULL, SL_ERROR_OPEN, "missing.tflite");
  expect_load_error ("add.tflite", NULL, NULL, SL_ERROR_CONTRACT,
                     "expected a model whose input is a picture");
  expect_load_error ("unknown_op.tflite", NULL, NULL, SL_ERROR_UNSUPPORTED, "Frobnicate");
  expect_load_error ("float_range.tflite", NULL, NULL, SL_ERROR_CONTRACT, "mean");
  expect_load_error ("one_box.tflite", "labels", "/nowhere/labels.txt", SL_ERROR_OPEN,
                     "/nowhere/labels.txt");
  expect_load_error ("one_box.tflite", "decoder", "nosuch", SL_ERROR_ARGUMENT, "nosuch");
  expect_load_error ("one_box.tflite", "fit", "squash", SL_ERROR_ARGUMENT,
                     "fit=squash: expected stretch, letterbox or crop");
  expect_load_error ("one_box.tflite", "colour", "CMYK", SL_ERROR_ARGUMENT,
                     "colour=CMYK: expected RGB, BGR or GRAY");
  expect_load_error ("one_box.tflite", "layout", "CHWN", SL_ERROR_ARGUMENT,
                     "layout=CHWN: expected NHWC or NCHW");
  expect_load_error ("one_box.tflite", "precision", "double", SL_ERROR_ARGUMENT,
                     "precision=double: expected float, bf16 or fp16");
  expect_load_error ("one_box.tflite", "input-shape", "9", SL_ERROR_ARGUMENT,
                     "input-shape is '9', but input 'picture' is uint8[1,8,8,3]");
  expect_load_error ("one_box.tflite", "fixed-inputs", "7=0", SL_ERROR_ARGUMENT,
                     "fixed-inputs: no input '7'");
  expect_load_error ("running_sum.tflite", "state", "none", SL_ERROR_CONTRACT,
                     "beside 'picture' the model has 1 input, 'sum_in'");
  expect_load_error ("one_box.tflite", "filter", "lanczos", SL_ERROR_ARGUMENT,
                     "filter=lanczos: expected nearest, bilinear, area or auto");
}

/* A model that only reshapes, called one that makes pictures. */
static void
test_pictures (void)
{
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  SlTfliteTensor tensor = {
    .name = "in", .dtype = SL_DTYPE_U8, .rank = 4, .dims = { 1, 4, 4, 3 }, .scale = 1 / 255.f
  };
  const gint32 in = sl_tflite_writer_tensor (writer, &tensor);
  tensor.name = "out";
  tensor.dims[1] = 2;
  tensor.dims[2] = 8;
  const gint32 out = sl_tflite_writer_tensor (writer, &tensor);
  const gint32 shape =
    sl_tflite_writer_const_i32 (writer, "shape", 4, (const gint32[]){ 1, 2, 8, 3 });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_RESHAPE,
                                              .n_inputs = 2,
                                              .inputs = { in, shape },
                                              .n_outputs = 1,
                                              .outputs = { out } });
  sl_tflite_writer_io (writer, 1, &in, 1, &out);
  g_autofree char *folder = g_dir_make_tmp ("modelXXXXXX", NULL),
                  *path = g_build_filename (folder, "pictures.tflite", NULL);
  sl_tflite_writer_save (writer, path);
  g_autoptr (SlPredictor) predictor =
    g_object_new (SL_TYPE_PREDICTOR, "model", path, "decoder", "image", NULL);
  GError *error = NULL;
  g_assert_false (sl_predictor_load (predictor, &error));
  expect_message (
    &error, SL_ERROR_UNSUPPORTED,
    "pictures.tflite: makes pictures; expected a model that finds or names something");
  g_remove (path);
  g_rmdir (folder);
}

static void
test_recovers (void)
{
  g_autofree char *good = tiny_model ("brightest_channel.tflite"),
                  *bad = tiny_model ("unknown_op.tflite");
  g_autoptr (SlPredictor) predictor = new_predictor ("brightest_channel.tflite");
  g_autoptr (SlFrame) frame = plain_frame (8, 8, 200, 0, 0);
  g_autoptr (GBytes) few = g_bytes_new_static ("abc", 3);
  GError *error = NULL;
  g_assert_null (sl_predictor_new (bad, &error));
  expect_message (&error, SL_ERROR_UNSUPPORTED, "Frobnicate");
  g_object_set (predictor, "model", bad, NULL);
  g_assert_null (sl_predictor_predict (predictor, frame, &error));
  expect_message (&error, SL_ERROR_UNSUPPORTED, "Frobnicate");
  g_assert_null (sl_predictor_new_shared (predictor, &error));
  expect_message (&error, SL_ERROR_UNSUPPORTED, "Frobnicate");
  g_object_set (predictor, "model", good, NULL);
  g_assert_null (sl_predictor_predict_bytes (predictor, "RGB", 8, 8, few, &error));
  expect_message (&error, SL_ERROR_SHAPE, "expected 192 bytes");
  g_autoptr (SlPredictions) p = predict (predictor, frame);
  g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (p)[0]), ==, "red");
}

/* A range that the model does not state, from properties: 0..1, so that the brightest channel is
 * 200 / 255. */
static void
test_range (void)
{
  g_autofree char *path = tiny_model ("float_range.tflite");
  g_autoptr (SlPredictor) predictor =
    g_object_new (SL_TYPE_PREDICTOR, "model", path, "mean", "0", "std", "255", "decoder", "labels",
                  "top-k", 1u, NULL);
  g_autoptr (SlFrame) frame = plain_frame (8, 8, 0, 0, 200);
  g_autoptr (SlPredictions) p = predict (predictor, frame);
  g_assert_cmpint (sl_label_get_id (sl_predictions_get_labels (p)[0]), ==, 2);
  g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (p)[0]), ==, "2");
  g_assert_cmpfloat_with_epsilon (sl_label_get_confidence (sl_predictions_get_labels (p)[0]),
                                  200 / 255.0, 1e-5);
}

/* A runtime that the key file beside the model states, with a fallback, and that is not there: a
 * warning, and predictions all the same. */
static void
test_falls_back (void)
{
  static const char info[] =
    "[modelinfo]\nversion=1.0\ngroup-id=x\n[sightline]\nbackend=tflite\nfallback=true\n";
  g_autofree char *from = tiny_model ("brightest_channel.tflite"),
                  *folder = g_dir_make_tmp ("modelXXXXXX", NULL), *data = NULL;
  g_autofree char *path = g_build_filename (folder, "m.tflite", NULL),
                  *key_file = g_strconcat (path, ".modelinfo", NULL);
  gsize length = 0;
  g_assert_true (g_file_get_contents (from, &data, &length, NULL)
                 && g_file_set_contents (path, data, (gssize) length, NULL));
  g_assert_true (g_file_set_contents (key_file, info, -1, NULL));
  g_setenv ("SIGHTLINE_TFLITE", "/nowhere/lite.so", TRUE);
  g_test_expect_message (
    NULL, G_LOG_LEVEL_WARNING,
    "*m.tflite: Sightline runs the model on the CPU instead: /nowhere/lite.so, which*");
  g_autoptr (GError) error = NULL;
  g_autoptr (SlPredictor) predictor = sl_predictor_new (path, &error);
  g_assert_no_error (error);
  g_test_assert_expected_messages ();
  g_autoptr (SlFrame) frame = plain_frame (8, 8, 0, 200, 0);
  g_autoptr (SlPredictions) p = predict (predictor, frame);
  g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (p)[0]), ==, "green");
  g_remove (key_file);
  g_remove (path);
  g_remove (folder);
}

/* The same, stated by properties. */
static void
test_falls_back_by_property (void)
{
  g_autofree char *path = tiny_model ("brightest_channel.tflite");
  g_autoptr (GError) error = NULL;
  g_setenv ("SIGHTLINE_TFLITE", "/nowhere/lite.so", TRUE);
  g_autoptr (SlPredictor) predictor =
    g_object_new (SL_TYPE_PREDICTOR, "model", path, "backend", "tflite", NULL);
  g_assert_false (sl_predictor_load (predictor, &error));
  expect_message (&error, SL_ERROR_UNSUPPORTED, "/nowhere/lite.so");
  g_test_expect_message (
    NULL, G_LOG_LEVEL_WARNING,
    "*brightest_channel.tflite: Sightline runs the model on the CPU instead: /nowhere*");
  g_object_set (predictor, "fallback", TRUE, NULL);
  g_assert_true (sl_predictor_load (predictor, &error));
  g_assert_no_error (error);
  g_test_assert_expected_messages ();
}

/* A picture of 12 MiB as floats, in a model that leaves its size open. */
static void
test_limits (void)
{
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
  sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 4, (const gint64[]){ 1, 3, -1, -1 });
  sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
  sl_onnx_writer_node (writer, "GlobalAveragePool", "x", "p", NULL);
  sl_onnx_writer_node (writer, "Flatten", "p", "y", NULL);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  g_autofree char *dir = g_dir_make_tmp ("sightline-XXXXXX", NULL),
                  *path = g_build_filename (dir, "open.onnx", NULL);
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  g_autoptr (GError) error = NULL;
  guint width = 0, height = 0;
  g_autoptr (SlPredictor) predictor =
    g_object_new (SL_TYPE_PREDICTOR, "model", path, "mean", "0", "std", "255", "decoder", "labels",
                  "input-shape", "1,3,1024,1024", NULL);
  g_assert_true (sl_predictor_load (predictor, &error));
  g_assert_no_error (error);
  g_assert_true (sl_predictor_get_input_size (predictor, &width, &height) && width == 1024
                 && height == 1024);
  g_object_set (predictor, "tensor-limit", 4, NULL);
  g_assert_false (sl_predictor_load (predictor, &error));
  expect_message (&error, SL_ERROR_LIMIT, "tensor-limit");
  g_object_set (predictor, "tensor-limit", 1024, NULL);
  g_assert_true (sl_predictor_load (predictor, &error));
  g_unlink (path);
  g_rmdir (dir);
}

/* What slinfer has of a model's settings the predictor has, too; each can be set when it is made.
 */
static void
test_settings (void)
{
  static const char *const names[] = { "model",
                                       "labels",
                                       "decoder",
                                       "mean",
                                       "std",
                                       "colour",
                                       "layout",
                                       "fit",
                                       "backend",
                                       "provider",
                                       "provider-options",
                                       "delegate",
                                       "provider-library",
                                       "device",
                                       "fallback",
                                       "precision",
                                       "state",
                                       "threads",
                                       "tensor-limit",
                                       "work-limit",
                                       "input-shape",
                                       "fixed-inputs" };
  g_autoptr (SlPredictor) predictor =
    g_object_new (SL_TYPE_PREDICTOR, "tensor-limit", 7, "state", "none", NULL);
  g_autofree char *state = NULL;
  gint tensor_limit = 0, work_limit = 0;
  gboolean fallback = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const GParamSpec *spec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (predictor), names[i]);
    g_test_message ("%s", names[i]);
    g_assert_true (spec != NULL && (spec->flags & G_PARAM_CONSTRUCT) != 0);
  }
  g_object_get (predictor, "tensor-limit", &tensor_limit, "work-limit", &work_limit, "state",
                &state, "fallback", &fallback, NULL);
  g_assert_cmpint (tensor_limit, ==, 7);
  g_assert_cmpint (work_limit, ==, 250);
  g_assert_cmpstr (state, ==, "none");
  g_assert_false (fallback);
}

/* float16 from the picture to the shares: the softmax of a picture's mean colours. */
static void
test_float16 (void)
{
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
  sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT16, 4, (const gint64[]){ 1, 3, 8, 8 });
  sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT16);
  sl_onnx_writer_node (writer, "GlobalAveragePool", "x", "p", NULL);
  sl_onnx_writer_node (writer, "Flatten", "p", "f", NULL);
  sl_onnx_writer_node (writer, "Softmax", "f", "y", NULL);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  g_autofree char *dir = g_dir_make_tmp ("sightline-XXXXXX", NULL),
                  *path = g_build_filename (dir, "half.onnx", NULL);
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  g_autoptr (SlPredictor) predictor =
    g_object_new (SL_TYPE_PREDICTOR, "model", path, "mean", "0", "std", "255", "top-k", 3u, NULL);
  g_autoptr (SlFrame) frame = plain_frame (8, 8, 255, 51, 102);
  g_autoptr (SlPredictions) found = predict (predictor, frame);
  const gdouble powers[] = { exp (1.0), exp (0.2), exp (0.4) },
                sum = powers[0] + powers[1] + powers[2];
  g_assert_cmpuint (sl_test_length (sl_predictions_get_labels (found)), ==, 3);
  g_assert_cmpfloat_with_epsilon (sl_label_get_confidence (sl_predictions_get_labels (found)[0]),
                                  powers[0] / sum, 1e-3);
  g_assert_cmpfloat_with_epsilon (sl_label_get_confidence (sl_predictions_get_labels (found)[1]),
                                  powers[2] / sum, 1e-3);
  g_assert_cmpfloat_with_epsilon (sl_label_get_confidence (sl_predictions_get_labels (found)[2]),
                                  powers[1] / sum, 1e-3);
  g_unlink (path);
  g_rmdir (dir);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictor/float16", test_float16);
  g_test_add_func ("/predictor/labels", test_labels);
  g_test_add_func ("/predictor/box", test_box);
  g_test_add_func ("/predictor/state", test_state);
  g_test_add_func ("/predictor/outputs", test_outputs);
  g_test_add_func ("/predictor/fit", test_fit);
  g_test_add_func ("/predictor/crop_share", test_crop_share);
  g_test_add_func ("/predictor/properties", test_properties);
  g_test_add_func ("/predictor/classes", test_classes);
  g_test_add_func ("/predictor/information", test_information);
  g_test_add_func ("/predictor/formats", test_formats);
  g_test_add_func ("/predictor/upside-down", test_upside_down);
  g_test_add_func ("/predictor/random-layouts", test_random_layouts);
  g_test_add_func ("/predictor/errors", test_errors);
  g_test_add_func ("/predictor/pictures", test_pictures);
  g_test_add_func ("/predictor/recovers", test_recovers);
  g_test_add_func ("/predictor/range", test_range);
  g_test_add_func ("/predictor/falls-back", test_falls_back);
  g_test_add_func ("/predictor/falls-back-by-property", test_falls_back_by_property);
  g_test_add_func ("/predictor/limits", test_limits);
  g_test_add_func ("/predictor/settings", test_settings);
  return g_test_run ();
}
