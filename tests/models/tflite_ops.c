/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The import table: names, and options with values outside the schema. */
#include "models/tflite/options.h"

#include <math.h>

#include "tests/models/helpers.h"
#include "models/tflite/flatbuffer_writer.h"
#include "tests/support/flexbuffer_writer.h"
#include "tests/support/program.h"

static void
test_names (void)
{
  static const struct
  {
    gint32 builtin;
    const char *name;
  } rows[] = { { 0, "ADD" },
               { 23, "RESIZE_BILINEAR" },
               { 32, "CUSTOM" },
               { 37, "BATCH_TO_SPACE_ND" },
               { 114, "QUANTIZE" },
               { 119, "WHILE" },
               { 126, "BATCH_MATMUL" },
               { 150, "GELU" },
               { 205, "REDUCE_WINDOW" },
               { -1, "UNKNOWN" },
               { 100000, "UNKNOWN" },
               { 97, "RESIZE_NEAREST_NEIGHBOR" },
               { 91, "REDUCE_ANY" },
               { 105, "REVERSE_V2" },
               { 140, "REDUCE_ALL" },
               { 156, "ATAN2" },
               { 160, "BITWISE_XOR" },
               { 162, "STABLEHLO_LOGISTIC" } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpstr (tfl_builtin_name (rows[i].builtin), ==, rows[i].name);
}

static void
test_find (void)
{
  g_assert_cmpint (tfl_op_find (3, NULL)->op, ==, SL_OP_CONV_2D);
  g_assert_cmpint (tfl_op_find (32, "TFLite_Detection_PostProcess")->op, ==,
                   SL_OP_DETECTION_POSTPROCESS);
  g_assert_cmpint (tfl_op_find (91, NULL)->op, ==, SL_OP_REDUCE_MAX);
  g_assert_cmpint (tfl_op_find (140, NULL)->op, ==, SL_OP_REDUCE_MIN);
  g_assert_null (tfl_op_find (32, NULL));
  g_assert_null (tfl_op_find (32, "Other"));
  g_assert_null (tfl_op_find (3, "Other"));
  g_assert_null (tfl_op_find (1000, NULL));
}

/* Parses the options of @builtin written as one table: @bytes and @ints by field number, 0 = field
 * left away. */
static gboolean
parse (gint32 builtin, const guint8 bytes[8], const gint32 ints[8], guint n_inputs,
       SlOpParams *params, GError **error)
{
  g_autoptr (FbWriter) writer = fb_writer_new ();
  FbNode *table = fb_table (writer);
  for (guint i = 0; i < 8; i++) {
    if (bytes[i] != 0)
      fb_u8 (table, i, bytes[i]);
    if (ints[i] != 0)
      fb_i32 (table, i, ints[i]);
  }
  g_autoptr (GByteArray) buffer = fb_finish (writer, table, "TEST");
  SlFlatBuffer fb;
  TflOptions options = { .n_inputs = n_inputs };
  sl_fb_init (&fb, buffer->data, buffer->len);
  options.options = sl_fb_root (&fb);
  *params = (SlOpParams){ 0 };
  return tfl_read_options (tfl_op_find (builtin, NULL), &options, params, error);
}

static void
test_options (void)
{
  static const struct
  {
    gint32 builtin;
    guint8 bytes[8];
    gint32 ints[8];
    SlError code;
    const char *text;
  } rows[] = {
    { 3, { 2 }, { 0, 1, 1 }, SL_ERROR_FORMAT, "option padding is 2; expected 0 SAME or 1 VALID" },
    { 3, { 1 }, { 0, 0, 1 }, SL_ERROR_FORMAT, "option stride_w is 0; expected 1 or more" },
    { 3, { 1 }, { 0, 1, -4 }, SL_ERROR_FORMAT, "option stride_h is -4; expected 1 or more" },
    { 3, { 1 }, { 0, 1, 1, 0, -1 }, SL_ERROR_FORMAT, "option dilation_w_factor is -1" },
    { 3,
      { 1, 0, 0, 4 },
      { 0, 1, 1 },
      SL_ERROR_UNSUPPORTED,
      "option fused_activation_function is 4; expected 0 NONE" },
    { 4, { 1 }, { 0, 1, 1, 1, 0, 0, -1 }, SL_ERROR_FORMAT, "option dilation_h_factor is -1" },
    { 1, { 1 }, { 0, 1, 1, 0, 2 }, SL_ERROR_FORMAT, "option filter_width is 0" },
    { 17, { 1 }, { 0, 1, 1, 2 }, SL_ERROR_FORMAT, "option filter_height is 0" },
    { 0, { 5 }, { 0 }, SL_ERROR_UNSUPPORTED, "option fused_activation_function is 5" },
    { 9, { 0, 1 }, { 0 }, SL_ERROR_UNSUPPORTED, "option weights_format is 1; expected 0 DEFAULT" },
    { 25, { 0 }, { 0x7fc00000 }, SL_ERROR_FORMAT, "option beta is not finite" },
    { 5, { 0 }, { 0 }, SL_ERROR_FORMAT, "option block_size is 0; expected 1 or more" },
    { 26, { 0 }, { -2 }, SL_ERROR_FORMAT, "option block_size is -2; expected 1 or more" },
    { 67, { 1 }, { 0, 1, 0 }, SL_ERROR_FORMAT, "option stride_h is 0; expected 1 or more" },
    { 100, { 2 }, { 0 }, SL_ERROR_FORMAT, "option mode is 2; expected 0 REFLECT or 1 SYMMETRIC" },
    { 42, { 6 }, { 0 }, SL_ERROR_UNSUPPORTED, "option fused_activation_function is 6" },
    { 44, { 5 }, { 0 }, SL_ERROR_UNSUPPORTED, "option fused_activation_function is 5" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    SlOpParams params;
    g_assert_false (parse (rows[i].builtin, rows[i].bytes, rows[i].ints, 1, &params, &error));
    expect_error (&error, rows[i].code, rows[i].text, NULL);
  }
}

/* Fields that a file leaves away have the schema's defaults. */
static void
test_defaults (void)
{
  static const guint8 bytes[8] = { 0 };
  static const gint32 ints[8] = { 0, 2, 3 }, none[8] = { 0 };
  g_autoptr (GError) error = NULL;
  SlOpParams params;
  g_assert_true (parse (3, bytes, ints, 3, &params, &error));
  g_assert_cmpint (params.window.padding, ==, SL_PADDING_SAME);
  g_assert_cmpint (params.window.stride_w, ==, 2);
  g_assert_cmpint (params.window.stride_h, ==, 3);
  g_assert_cmpint (params.window.dilation_w, ==, 1);
  g_assert_cmpint (params.window.dilation_h, ==, 1);
  g_assert_cmpint (params.window.activation, ==, SL_ACTIVATION_NONE);
  g_assert_true (parse (25, bytes, none, 1, &params, &error));
  g_assert_cmpfloat (params.softmax.beta, ==, 0);
}

static void
test_lists (void)
{
  static const gint32 shape[9] = { 1, -1, 3, 4, 5, 6, 7, 8, 9 };
  for (guint n = 0; n <= 9; n++) {
    g_autoptr (FbWriter) writer = fb_writer_new ();
    g_autoptr (GError) error = NULL;
    FbNode *table = fb_table (writer);
    fb_ref (table, 0, fb_vector (writer, shape, n, 4, 4, 0));
    g_autoptr (GByteArray) buffer = fb_finish (writer, table, "TEST");
    SlFlatBuffer fb;
    SlOpParams params = { 0 };
    TflOptions options = { .n_inputs = 1 };
    sl_fb_init (&fb, buffer->data, buffer->len);
    options.options = sl_fb_root (&fb);
    const gboolean good = tfl_read_options (tfl_op_find (22, NULL), &options, &params, &error);
    if (n == 9) {
      expect_error (&error, SL_ERROR_LIMIT,
                    "option new_shape has 9 entries; at most 8 are supported", NULL);
      continue;
    }
    g_assert_true (good);
    g_assert_cmpuint (params.reshape.count, ==, n);
    for (guint i = 0; i < n; i++)
      g_assert_cmpint (params.reshape.dims[i], ==, shape[i]);
    options.n_inputs = 2;
    params = (SlOpParams){ 0 };
    g_assert_true (tfl_read_options (tfl_op_find (22, NULL), &options, &params, &error));
    g_assert_cmpuint (params.reshape.count, ==, 0);
  }
}

static void
test_detection (void)
{
  static const struct
  {
    guint entry;
    gdouble value;
    const char *text;
  } rows[] = {
    { 0, 0, "custom option max_detections is 0; expected a whole number from 1" },
    { 0, 2.5, "custom option max_detections is 2.5" },
    { 0, 1e9, "custom option max_detections is 1e+09" },
    { 3, 0, "custom option y_scale is 0; expected a positive number" },
    { 4, (gdouble) INFINITY, "custom option nms_iou_threshold is inf" },
    { 5, (gdouble) NAN, "custom option nms_score_threshold is nan; expected a finite number" },
  };
  const FlexEntry entries[] = {
    { "max_detections", FLEX_FLOAT, 10 },
    { "max_classes_per_detection", FLEX_INT, 1 },
    { "num_classes", FLEX_INT, 90 },
    { "y_scale", FLEX_FLOAT, 10 },
    { "nms_iou_threshold", FLEX_FLOAT, 0.5 },
    { "nms_score_threshold", FLEX_FLOAT, 0.25 },
    { "x_scale", FLEX_FLOAT, 10 },
    { "h_scale", FLEX_FLOAT, 5 },
    { "w_scale", FLEX_FLOAT, 5 },
  };
  const TflOp *op = tfl_op_find (TFL_BUILTIN_CUSTOM, "TFLite_Detection_PostProcess");
  for (guint i = 0; i <= G_N_ELEMENTS (rows) + G_N_ELEMENTS (entries); i++) {
    FlexEntry copy[G_N_ELEMENTS (entries)];
    guint n = G_N_ELEMENTS (entries);
    g_autoptr (GError) error = NULL;
    SlOpParams params = { 0 };
    memcpy (copy, entries, sizeof entries);
    if (i >= 1 && i <= G_N_ELEMENTS (rows))
      copy[rows[i - 1].entry].value = rows[i - 1].value;
    else if (i > 0)
      copy[i - 1 - G_N_ELEMENTS (rows)] = copy[--n];
    g_autoptr (GBytes) bytes = flex_map (copy, n, 4);
    TflOptions options = { 0 };
    options.custom = g_bytes_get_data (bytes, &options.custom_size);
    const gboolean good = op->parse (&options, &params, &error);
    if (i == 0) {
      g_assert_true (good);
      g_assert_cmpint (params.detection.max_detections, ==, 10);
      g_assert_cmpint (params.detection.num_classes, ==, 90);
      g_assert_cmpint (params.detection.detections_per_class, ==, 100);
      g_assert_cmpfloat (params.detection.nms_score_threshold, ==, 0.25);
      g_assert_false (params.detection.use_regular_nms);
    } else if (i <= G_N_ELEMENTS (rows)) {
      expect_error (&error, SL_ERROR_FORMAT, rows[i - 1].text, NULL);
    } else {
      expect_error (&error, SL_ERROR_FORMAT, "custom option",
                    entries[i - 1 - G_N_ELEMENTS (rows)].key, "is missing", NULL);
    }
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tflite-ops/names", test_names);
  g_test_add_func ("/tflite-ops/find", test_find);
  g_test_add_func ("/tflite-ops/options", test_options);
  g_test_add_func ("/tflite-ops/defaults", test_defaults);
  g_test_add_func ("/tflite-ops/lists", test_lists);
  g_test_add_func ("/tflite-ops/detection", test_detection);
  return g_test_run ();
}
