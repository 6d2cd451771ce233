/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small files that ask for large things: shapes whose scratch memory or work has no measure are
 * refused when the model loads, scales far apart still give the right codes.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "core/ops/ops.h"
#include "core/runtime/session.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

/* An input or result of 8-bit codes. */
static gint32
add_codes (SlTfliteWriter *w, const char *name, guint rank, const gint32 *dims, gfloat scale)
{
  SlTfliteTensor tensor = {
    .name = name, .dtype = SL_DTYPE_U8, .rank = rank, .scale = scale, .zero_point = 128
  };
  memcpy (tensor.dims, dims, rank * sizeof dims[0]);
  return sl_tflite_writer_tensor (w, &tensor);
}

static gint32
add_floats (SlTfliteWriter *w, gint32 rows, gint32 columns, const gfloat *data)
{
  return sl_tflite_writer_tensor (
    w, &(SlTfliteTensor){
         .name = "f", .dtype = SL_DTYPE_F32, .rank = 2, .dims = { rows, columns }, .data = data });
}

static void
expect_refused (SlTfliteWriter *writer, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (load_with_info (writer, NULL, NULL, &error));
  expect_error (&error, SL_ERROR_LIMIT, "model.tflite: node ", text, NULL);
}

static void
test_detection (void)
{
  static const gint32 boxes[] = { 1, 6000000, 4 }, scores[] = { 1, 6000000, 3 }, one[] = { 1 };
  g_autoptr (SlTfliteWriter) w = sl_tflite_writer_new ();
  SlTfliteOp op = { .op = SL_OP_DETECTION_POSTPROCESS, .n_inputs = 3, .n_outputs = 4 };
  op.params.detection = (SlDetectionParams){ .max_detections = 10,
                                             .max_classes_per_detection = 1,
                                             .detections_per_class = 10,
                                             .num_classes = 2,
                                             .nms_score_threshold = 0.1f,
                                             .nms_iou_threshold = 0.5f,
                                             .scale_y = 1,
                                             .scale_x = 1,
                                             .scale_h = 1,
                                             .scale_w = 1 };
  op.inputs[0] = add_codes (w, "boxes", 3, boxes, 1);
  op.inputs[1] = add_codes (w, "scores", 3, scores, 1);
  op.inputs[2] = add_codes (w, "anchors", 2, boxes + 1, 1);
  for (guint i = 0; i < 4; i++)
    op.outputs[i] = sl_tflite_writer_tensor (
      w, &(SlTfliteTensor){ .name = "o", .dtype = SL_DTYPE_F32, .rank = 1, .dims = { one[0] } });
  sl_tflite_writer_op (w, &op);
  sl_tflite_writer_io (w, 3, op.inputs, 4, op.outputs);
  expect_refused (
    w, "TFLite_Detection_PostProcess 'o': 6000000 boxes of 3 scores are over the limit of 16777216 "
       "scores");
}

static void
test_mean (void)
{
  static const gint32 dims[] = { 70000000, 2 }, axis = 1;
  g_autoptr (SlTfliteWriter) w = sl_tflite_writer_new ();
  const gint32 x = add_codes (w, "x", 2, dims, 1),
               a = sl_tflite_writer_const_i32 (w, "axis", 1, &axis),
               y = add_codes (w, "y", 1, dims, 1);
  sl_tflite_writer_op (
    w, &(SlTfliteOp){
         .op = SL_OP_MEAN, .n_inputs = 2, .inputs = { x, a }, .n_outputs = 1, .outputs = { y } });
  sl_tflite_writer_io (w, 1, &x, 1, &y);
  expect_refused (w, "MEAN 'y': 70000000 averages are over the limit of 67108864");
}

static void
test_window (void)
{
  static const gint32 dims[] = { 1, 4096, 4096, 1 };
  g_autoptr (SlTfliteWriter) w = sl_tflite_writer_new ();
  const gint32 x = add_codes (w, "x", 4, dims, 1), y = add_codes (w, "y", 4, dims, 1);
  SlTfliteOp op = {
    .op = SL_OP_MAX_POOL_2D, .n_inputs = 1, .inputs = { x }, .n_outputs = 1, .outputs = { y }
  };
  op.params.window = (SlWindow){
    .padding = SL_PADDING_VALID, .stride_h = 1, .stride_w = 1, .filter_h = 3, .filter_w = 3
  };
  sl_tflite_writer_op (w, &op);
  sl_tflite_writer_io (w, 1, &x, 1, &y);
  expect_refused (
    w, "MAX_POOL_2D 'y': a 3x3 window at 4094x4094 places is over the limit of 134217728 reads a "
       "channel");
}

static void
test_total (void)
{
  g_autoptr (SlTfliteWriter) w = sl_tflite_writer_new ();
  const gint32 x = add_floats (w, 1, 75000000, NULL);
  gint32 from = x;
  for (guint i = 0; i < 4; i++) {
    const gint32 to = add_floats (w, 1, 75000000, NULL);
    sl_tflite_writer_op (
      w,
      &(SlTfliteOp){
        .op = SL_OP_RELU, .n_inputs = 1, .inputs = { from }, .n_outputs = 1, .outputs = { to } });
    from = to;
  }
  sl_tflite_writer_io (w, 1, &x, 1, &from);
  /* What one layer reads and the next one writes over counts once: three of the five tensors are
   * there at once. */
  g_autofree char *path = sl_tflite_writer_save_temp (w, "model.tflite", NULL);
  g_autoptr (GError) error = NULL;
  g_assert_null (
    sl_model_load_with (path, NULL, &(SlModelLoadOptions){ .tensor_limit = 700000000 }, &error));
  expect_error (&error, SL_ERROR_LIMIT, path, "RELU 'f': ",
                "need more than 700000000 bytes at once; set tensor-limit (MiB) higher",
                ": tensor-limit=859 would do", NULL);
  g_assert_null (
    sl_model_load_with (path, NULL, &(SlModelLoadOptions){ .tensor_limit = 1000 }, &error));
  expect_error (&error, SL_ERROR_LIMIT,
                "input 'f' is float32[1,75000000]: over the limit of 1000 bytes; set tensor-limit",
                NULL);
  SlModel *model =
    sl_model_load_with (path, NULL, &(SlModelLoadOptions){ .tensor_limit = 901000000 }, &error);
  sl_model_unref (model);
  g_assert_no_error (error);
  sl_tflite_remove_temp (path);
}

/* Behind a layer over the limit of all tensors, what would do is counted: nodes there are proven as
 * those before it are. */
static void
test_behind (void)
{
  static gfloat ones[65536];
  for (SlOpType type = 1; type < SL_OP_COUNT; type++) {
    const SlOp *op = sl_op_get (type);
    for (guint present = 0; op != NULL && present < op->required; present++) {
      g_autoptr (SlTfliteWriter) w = sl_tflite_writer_new ();
      g_autoptr (GError) error = NULL;
      const gint32 x = add_floats (w, 65536, 1, NULL), c = add_floats (w, 1, 65536, ones),
                   big = add_floats (w, 65536, 65536, NULL);
      sl_tflite_writer_op (
        w,
        &(SlTfliteOp){
          .op = SL_OP_ADD, .n_inputs = 2, .inputs = { x, c }, .n_outputs = 1, .outputs = { big } });
      SlTfliteOp lacking = { .op = type, .n_inputs = op->required, .n_outputs = op->n_outputs };
      for (guint i = 0; i < op->required; i++)
        lacking.inputs[i] = i < present ? big : -1;
      for (guint i = 0; i < op->n_outputs; i++)
        lacking.outputs[i] = add_floats (w, 1, 4, NULL);
      sl_tflite_writer_op (w, &lacking);
      sl_tflite_writer_io (w, 1, &x, 1, &lacking.outputs[0]);
      g_assert_null (load_with_info (w, NULL, NULL, &error));
      if (g_error_matches (error, SL_ERROR, SL_ERROR_LIMIT))
        expect_error (&error, SL_ERROR_LIMIT, "node 0 ADD: tensor ",
                      "over the limit of 1073741824 bytes", NULL);
    }
  }
}

/* What the count finds of layers that follow: one that works is in it, one that reads what nothing
 * makes or whose result was made before ends it. */
static void
test_behind_counted (void)
{
  static const struct
  {
    gint32 input, output;
    gboolean counted;
  } rows[] = { { 2, 3, TRUE },  { 4, 3, FALSE }, { 3, 3, FALSE },
               { 2, 2, FALSE }, { 2, 1, FALSE }, { 2, 0, FALSE } };
  static gfloat ones[65536];
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlTfliteWriter) w = sl_tflite_writer_new ();
    g_autoptr (GError) error = NULL;
    const gint32 x = add_floats (w, 65536, 1, NULL), c = add_floats (w, 1, 65536, ones),
                 big = add_floats (w, 65536, 65536, NULL);
    for (guint more = 0; more < 2; more++)
      add_floats (w, 65536, 65536, NULL);
    sl_tflite_writer_op (
      w,
      &(SlTfliteOp){
        .op = SL_OP_ADD, .n_inputs = 2, .inputs = { x, c }, .n_outputs = 1, .outputs = { big } });
    SlTfliteOp op = { .op = SL_OP_RELU,
                      .n_inputs = 1,
                      .inputs = { rows[i].input },
                      .n_outputs = 1,
                      .outputs = { rows[i].output } };
    sl_tflite_writer_op (w, &op);
    sl_tflite_writer_io (w, 1, &x, 1, &rows[i].output);
    g_assert_null (load_with_info (w, NULL, NULL, &error));
    g_test_message ("%u: %s", i, error->message);
    g_assert_cmpint (strstr (error->message, "tensor-limit=32769 would do") != NULL, ==,
                     rows[i].counted);
    expect_error (&error, SL_ERROR_LIMIT, "node 0 ADD: tensor ",
                  "over the limit of 1073741824 bytes", NULL);
  }
}

/* Many results that wait for their sum: no limit that users may set is as large. */
static void
test_behind_most (void)
{
  g_autoptr (SlTfliteWriter) w = sl_tflite_writer_new ();
  g_autoptr (GError) error = NULL;
  gint32 waiting[4000], sum;
  const gint32 x = add_floats (w, 1, 75000000, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (waiting); i++) {
    waiting[i] = add_floats (w, 1, 75000000, NULL);
    sl_tflite_writer_op (w, &(SlTfliteOp){ .op = SL_OP_RELU,
                                           .n_inputs = 1,
                                           .inputs = { x },
                                           .n_outputs = 1,
                                           .outputs = { waiting[i] } });
  }
  sum = waiting[0];
  for (guint i = 1; i < G_N_ELEMENTS (waiting); i++) {
    const gint32 to = add_floats (w, 1, 75000000, NULL);
    sl_tflite_writer_op (w, &(SlTfliteOp){ .op = SL_OP_ADD,
                                           .n_inputs = 2,
                                           .inputs = { sum, waiting[i] },
                                           .n_outputs = 1,
                                           .outputs = { to } });
    sum = to;
  }
  sl_tflite_writer_io (w, 1, &x, 1, &sum);
  g_assert_null (load_with_info (w, NULL, NULL, &error));
  g_assert_null (strstr (error->message, "would do"));
  expect_error (&error, SL_ERROR_LIMIT,
                "the model's tensors need more than 1073741824 bytes at once", NULL);
}

/* One operator over the codes 0, 127, 128, 255 with zero point 128; @scale of input, @out of
 * output. */
static SlTfliteWriter *
single (SlOpType type, gfloat scale, gfloat out)
{
  static const gint32 dims[] = { 1, 1, 4, 1 }, kernel_dims[] = { 1, 1, 1, 1 },
                      matrix_dims[] = { 1, 1 }, axis = 3;
  static const guint8 weight = 129;
  SlTfliteWriter *w = sl_tflite_writer_new ();
  const gint32 x = add_codes (w, "x", 4, dims, scale), y = add_codes (w, "y", 4, dims, out);
  SlTfliteOp op = {
    .op = type, .n_inputs = 2, .inputs = { x, x }, .n_outputs = 1, .outputs = { y }
  };
  SlTfliteTensor weights = {
    .name = "w", .dtype = SL_DTYPE_U8, .rank = 4, .scale = 1, .zero_point = 128, .data = &weight
  };
  memcpy (weights.dims, kernel_dims, sizeof kernel_dims);
  if (type == SL_OP_CONV_2D || type == SL_OP_DEPTHWISE_CONV_2D)
    op.params.window = (SlWindow){
      .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .depth_multiplier = 1
    };
  if (type == SL_OP_FULLY_CONNECTED) {
    weights.rank = 2;
    memcpy (weights.dims, matrix_dims, sizeof matrix_dims);
    op.params.fully_connected.keep_dims = TRUE;
  }
  if (type == SL_OP_CONV_2D || type == SL_OP_DEPTHWISE_CONV_2D || type == SL_OP_FULLY_CONNECTED)
    op.inputs[1] = sl_tflite_writer_tensor (w, &weights);
  op.params.reduce.keep_dims = type == SL_OP_MEAN ? TRUE : op.params.reduce.keep_dims;
  if (type == SL_OP_MEAN)
    op.inputs[1] = sl_tflite_writer_const_i32 (w, "axis", 1, &axis);
  if (type == SL_OP_QUANTIZE || type == SL_OP_RELU || type == SL_OP_LOGISTIC)
    op.n_inputs = 1;
  sl_tflite_writer_op (w, &op);
  sl_tflite_writer_io (w, 1, &x, 1, &y);
  return w;
}

static gdouble
real_result (SlOpType type, gdouble x)
{
  switch (type) {
    case SL_OP_ADD:
      return x + x;
    case SL_OP_SUB:
      return 0;
    case SL_OP_MUL:
      return x * x;
    case SL_OP_RELU:
      return MAX (x, 0);
    case SL_OP_LOGISTIC:
      return 1 / (1 + exp (-x));
    default:
      return x;
  }
}

static void
expect_codes (SlOpType type, gfloat scale, gfloat out)
{
  static const guint8 codes[] = { 0, 127, 128, 255 };
  const gboolean meaningful =
    isfinite (scale / out) && isfinite (scale * scale / out) && isfinite (1 / out);
  g_autoptr (SlTfliteWriter) writer = single (type, scale, out);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = load_with_info (writer, NULL, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  g_assert_no_error (error);
  guint8 *input = sl_tensor_buffer_new (sizeof codes),
         *output = sl_tensor_buffer_new (sizeof codes);
  const void *inputs[] = { input };
  void *outputs[] = { output };
  memcpy (input, codes, sizeof codes);
  g_assert_cmpint (sl_session_run (session, inputs, outputs), ==, SL_STATUS_OK);
  for (guint i = 0; i < G_N_ELEMENTS (codes); i++) {
    const gdouble real = real_result (type, (codes[i] - 128) * (gdouble) scale);
    const gdouble expected = CLAMP (rint (real / (gdouble) out) + 128, 0, 255);
    if (output[i] != expected && meaningful)
      g_error ("%s of scales %g and %g: code %u became %u; expected %g", sl_op_name (type),
               (gdouble) scale, (gdouble) out, codes[i], output[i], expected);
  }
  sl_tensor_buffer_free (input);
  sl_tensor_buffer_free (output);
}

/* Results vanish or saturate; nothing between, where rounding would matter. Where a ratio of scales
 * is beyond a float, codes mean nothing and it is enough that none harms. */
static void
test_scales (void)
{
  static const SlOpType ops[] = { SL_OP_CONV_2D,
                                  SL_OP_DEPTHWISE_CONV_2D,
                                  SL_OP_FULLY_CONNECTED,
                                  SL_OP_ADD,
                                  SL_OP_SUB,
                                  SL_OP_MUL,
                                  SL_OP_MEAN,
                                  SL_OP_QUANTIZE,
                                  SL_OP_RELU,
                                  SL_OP_LOGISTIC };
  /* 0.75 and not 1: half a code is a tie, which XNNPACK's versions round differently. */
  static const gfloat scales[][2] = { { 1, 1e6f },       { 1, 1e12f },      { 1, 1e30f },
                                      { 1e-30f, 1e30f }, { 1e6f, 0.75f },   { 1e12f, 0.75f },
                                      { 1e18f, 1e-18f }, { 1e30f, 1e-30f }, { 1e-20f, 1e-38f },
                                      { 1e-41f, 0.75f }, { 1, 1e-41f },     { 3e38f, 0.75f } };
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    for (guint k = 0; k < G_N_ELEMENTS (scales); k++)
      expect_codes (ops[i], scales[k][0], scales[k][1]);
}

/* Layers of one weight each, and GELU before them: what each of them takes to load does not grow
 * with the others. Thirty thousand took 75 seconds of the processor when it did; the bound is for
 * an emulated one. */
static void
test_many_layers (void)
{
  enum
  {
    LAYERS = 30000,
    LONGEST_S = 40
  };
  static const gint8 weight = 1;
  SlTfliteOp layer = { .op = SL_OP_FULLY_CONNECTED,
                       .n_inputs = 2,
                       .n_outputs = 1,
                       .params = { .fully_connected = { .dynamic = TRUE } } },
             gelu = { .op = SL_OP_GELU, .n_inputs = 1, .n_outputs = 1 };
  g_autoptr (SlTfliteWriter) w = sl_tflite_writer_new ();
  g_autoptr (GError) error = NULL;
  const gint32 first = add_floats (w, 1, 1, NULL);
  gint32 last = first;
  layer.inputs[1] = sl_tflite_writer_tensor (w, &(SlTfliteTensor){ .name = "w",
                                                                   .dtype = SL_DTYPE_I8,
                                                                   .rank = 2,
                                                                   .dims = { 1, 1 },
                                                                   .scale = 1,
                                                                   .data = &weight });
  for (guint i = 0; i < LAYERS; i++) {
    gelu.inputs[0] = last;
    gelu.outputs[0] = layer.inputs[0] = add_floats (w, 1, 1, NULL);
    layer.outputs[0] = last = add_floats (w, 1, 1, NULL);
    sl_tflite_writer_op (w, &gelu);
    sl_tflite_writer_op (w, &layer);
  }
  sl_tflite_writer_io (w, 1, &first, 1, &last);
  const clock_t start = clock ();
  g_autoptr (SlModel) model = load_with_info (w, NULL, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (SlSession) session G_GNUC_UNUSED = sl_session_new (sl_model_graph (model), 1, &error);
  g_assert_no_error (error);
  g_test_message ("%.2f s", (double) (clock () - start) / CLOCKS_PER_SEC);
  g_assert_cmpint (clock () - start, <, LONGEST_S * CLOCKS_PER_SEC);
  g_assert_true (sl_graph_node (sl_model_graph (model), 0)->params.gelu.rounded);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/limits/detection", test_detection);
  g_test_add_func ("/limits/mean", test_mean);
  g_test_add_func ("/limits/window", test_window);
  g_test_add_func ("/limits/total", test_total);
  g_test_add_func ("/limits/behind", test_behind);
  g_test_add_func ("/limits/behind-counted", test_behind_counted);
  g_test_add_func ("/limits/behind-most", test_behind_most);
  g_test_add_func ("/limits/scales", test_scales);
  g_test_add_func ("/limits/many-layers", test_many_layers);
  return g_test_run ();
}
