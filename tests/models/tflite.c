/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The TFLite reader: every operator's options, tensors, quantisation, constants in place; and the
 * real models. */
#include <string.h>

#include "tests/models/helpers.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"

static const SlWindow conv_window = { .padding = SL_PADDING_VALID,
                                      .stride_h = 2,
                                      .stride_w = 3,
                                      .dilation_h = 4,
                                      .dilation_w = 5,
                                      .activation = SL_ACTIVATION_RELU6 };
static const SlWindow depthwise_window = { .padding = SL_PADDING_SAME,
                                           .stride_h = 1,
                                           .stride_w = 2,
                                           .dilation_h = 1,
                                           .dilation_w = 1,
                                           .depth_multiplier = 2,
                                           .activation = SL_ACTIVATION_RELU };
static const SlWindow pool_window = { .padding = SL_PADDING_VALID,
                                      .stride_h = 2,
                                      .stride_w = 3,
                                      .dilation_h = 1,
                                      .dilation_w = 1,
                                      .filter_h = 4,
                                      .filter_w = 5,
                                      .activation = SL_ACTIVATION_RELU_N1_TO_1 };
static const SlDetectionParams detection = { .max_detections = 10,
                                             .max_classes_per_detection = 2,
                                             .detections_per_class = 100,
                                             .use_regular_nms = TRUE,
                                             .num_classes = 90,
                                             .nms_score_threshold = 0.25f,
                                             .nms_iou_threshold = 0.5f,
                                             .scale_y = 10,
                                             .scale_x = 11,
                                             .scale_h = 5,
                                             .scale_w = 6 };

static const struct
{
  SlOpType op;
  guint n_inputs, n_outputs;
  SlOpParams params;
} ops[] = {
  { SL_OP_ADD, 2, 1, { .binary.activation = SL_ACTIVATION_RELU } },
  { SL_OP_SUB, 2, 1, { .binary.activation = SL_ACTIVATION_RELU6 } },
  { SL_OP_MUL, 2, 1, { .binary.activation = SL_ACTIVATION_NONE } },
  { SL_OP_CONCATENATION, 3, 1, { .concat = { -1, SL_ACTIVATION_RELU } } },
  { SL_OP_FULLY_CONNECTED,
    3,
    1,
    { .fully_connected = { .activation = SL_ACTIVATION_RELU6, .keep_dims = TRUE } } },
  { SL_OP_DEQUANTIZE, 1, 1, { .reduce.keep_dims = 0 } },
  { SL_OP_QUANTIZE, 1, 1, { .reduce.keep_dims = 0 } },
  { SL_OP_LOGISTIC, 1, 1, { .reduce.keep_dims = 0 } },
  { SL_OP_MEAN, 2, 1, { .reduce.keep_dims = TRUE } },
  { SL_OP_PAD, 2, 1, { .reduce.keep_dims = 0 } },
  { SL_OP_RELU, 1, 1, { .reduce.keep_dims = 0 } },
  { SL_OP_RELU6, 1, 1, { .reduce.keep_dims = 0 } },
  { SL_OP_RESHAPE, 1, 1, { .reshape = { 3, { 1, -1, 4 } } } },
  { SL_OP_SQUEEZE, 1, 1, { .squeeze = { 2, { 1, -1 } } } },
  { SL_OP_EXPAND_DIMS, 2, 1, { .reduce.keep_dims = 0 } },
  { SL_OP_SOFTMAX, 1, 1, { .softmax.beta = 1.5f } },
};

/* A model of one operator over float tensors; nothing need fit, because the graph is read but not
 * prepared. */
static SlGraph *
read_one (SlOpType op, const SlOpParams *params, guint n_inputs, guint n_outputs,
          const SlTfliteQuirks *quirks)
{
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  g_autoptr (GError) error = NULL;
  SlTfliteOp node = { .op = op, .params = *params, .n_inputs = n_inputs, .n_outputs = n_outputs };
  for (guint i = 0; i < n_inputs + n_outputs; i++) {
    g_autofree char *name = g_strdup_printf ("t%u", i);
    const gint32 t = sl_tflite_writer_tensor (
      writer, &(SlTfliteTensor){ .name = name, .dtype = SL_DTYPE_F32, .rank = 1, .dims = { 4 } });
    if (i < n_inputs)
      node.inputs[i] = t;
    else
      node.outputs[i - n_inputs] = t;
  }
  sl_tflite_writer_op (writer, &node);
  sl_tflite_writer_io (writer, 1, node.inputs, 1, node.outputs);
  if (quirks != NULL)
    sl_tflite_writer_set_quirks (writer, quirks);
  SlGraph *graph = read_graph (writer, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sl_graph_n_nodes (graph), ==, 1);
  g_assert_cmpint (sl_graph_node (graph, 0)->op, ==, op);
  g_assert_cmpuint (sl_graph_node (graph, 0)->n_inputs, ==, n_inputs);
  g_assert_cmpuint (sl_graph_node (graph, 0)->n_outputs, ==, n_outputs);
  return graph;
}

static void
test_simple_ops (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++) {
    g_autoptr (SlGraph) graph =
      read_one (ops[i].op, &ops[i].params, ops[i].n_inputs, ops[i].n_outputs, NULL);
    const SlOpParams *got = &sl_graph_node (graph, 0)->params;
    g_assert_cmpmem (got, sizeof *got, &ops[i].params, sizeof *got);
  }
}

static void
expect_window (const SlWindow *got, const SlWindow *expected)
{
  g_assert_cmpint (got->padding, ==, expected->padding);
  g_assert_cmpint (got->stride_h, ==, expected->stride_h);
  g_assert_cmpint (got->stride_w, ==, expected->stride_w);
  g_assert_cmpint (got->dilation_h, ==, expected->dilation_h);
  g_assert_cmpint (got->dilation_w, ==, expected->dilation_w);
  g_assert_cmpint (got->filter_h, ==, expected->filter_h);
  g_assert_cmpint (got->filter_w, ==, expected->filter_w);
  g_assert_cmpint (got->depth_multiplier, ==, expected->depth_multiplier);
  g_assert_cmpint (got->activation, ==, expected->activation);
}

static void
test_window_ops (void)
{
  static const struct
  {
    SlOpType op;
    guint n_inputs;
    const SlWindow *window;
  } rows[] = { { SL_OP_CONV_2D, 3, &conv_window },
               { SL_OP_DEPTHWISE_CONV_2D, 3, &depthwise_window },
               { SL_OP_AVERAGE_POOL_2D, 1, &pool_window },
               { SL_OP_MAX_POOL_2D, 1, &pool_window } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const SlOpParams params = { .window = *rows[i].window };
    g_autoptr (SlGraph) graph = read_one (rows[i].op, &params, rows[i].n_inputs, 1, NULL);
    expect_window (&sl_graph_node (graph, 0)->params.window, rows[i].window);
  }
}

static void
test_detection (void)
{
  const SlOpParams params = { .detection = detection };
  g_autoptr (SlGraph) graph = read_one (SL_OP_DETECTION_POSTPROCESS, &params, 3, 4, NULL);
  const SlDetectionParams *got = &sl_graph_node (graph, 0)->params.detection;
  g_assert_cmpmem (got, sizeof *got, &detection, sizeof detection);
}

static void
test_codes (void)
{
  static const SlTfliteQuirks quirks[] = { { .old_codes = TRUE },
                                           { .new_codes = TRUE },
                                           { .extra_subgraphs = 2 } };
  const SlOpParams params = { .softmax.beta = 1.0f };
  for (guint i = 0; i < G_N_ELEMENTS (quirks); i++) {
    g_autoptr (SlGraph) graph = read_one (SL_OP_SOFTMAX, &params, 1, 1, &quirks[i]);
    g_assert_cmpfloat (sl_graph_node (graph, 0)->params.softmax.beta, ==, 1.0f);
  }
}

/* Adds @tensor as the second input of an ADD, so that it is used, and reads the model. */
static SlGraph *
read_with (const SlTfliteTensor *tensor, const SlTfliteQuirks *quirks, GError **error)
{
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  const SlTfliteTensor edge = { .name = "edge", .dtype = SL_DTYPE_F32, .rank = 1, .dims = { 4 } };
  const gint32 x = sl_tflite_writer_tensor (writer, &edge),
               t = sl_tflite_writer_tensor (writer, tensor);
  const gint32 y = sl_tflite_writer_tensor (writer, &edge);
  sl_tflite_writer_op (
    writer,
    &(SlTfliteOp){
      .op = SL_OP_ADD, .n_inputs = 2, .inputs = { x, t }, .n_outputs = 1, .outputs = { y } });
  sl_tflite_writer_io (writer, 1, &x, 1, &y);
  if (quirks != NULL)
    sl_tflite_writer_set_quirks (writer, quirks);
  return read_graph (writer, NULL, error);
}

static void
test_dtypes (void)
{
  for (SlDtype dtype = SL_DTYPE_F32; dtype < SL_DTYPE_COUNT; dtype++) {
    const SlTfliteTensor tensor = { .name = "t", .dtype = dtype, .rank = 3, .dims = { 2, 3, 4 } };
    g_autoptr (GError) error = NULL;
    g_autoptr (SlGraph) graph = read_with (&tensor, NULL, &error);
    g_assert_no_error (error);
    const SlTensor *got = sl_graph_tensor (graph, 1);
    g_assert_cmpint (got->dtype, ==, dtype);
    g_assert_cmpstr (got->name, ==, "t");
    g_assert_cmpuint (got->rank, ==, 3);
    g_assert_cmpint (got->dims[1], ==, 3);
    g_assert_null (got->data);
  }
}

static void
test_quantisation (void)
{
  static const gfloat scales[] = { 0.5f, 0.25f, 2.0f };
  static const gint64 zeros[] = { 1, -2, 3 };
  static const struct
  {
    SlTfliteTensor tensor;
    guint count;
    gint axis;
  } rows[] = {
    { { .dtype = SL_DTYPE_U8, .rank = 2, .dims = { 1, 4 }, .scale = 0.5f, .zero_point = 1 }, 1, 0 },
    { { .dtype = SL_DTYPE_I8,
        .rank = 4,
        .dims = { 3, 3, 3, 5 },
        .n_scales = 3,
        .scales = scales,
        .zero_points = zeros,
        .axis = 0 },
      3,
      0 },
    { { .dtype = SL_DTYPE_I8,
        .rank = 4,
        .dims = { 1, 3, 3, 3 },
        .n_scales = 3,
        .scales = scales,
        .zero_points = zeros,
        .axis = 3 },
      3,
      3 },
    /* the dimension is wrong in the file, and only one fits */
    { { .dtype = SL_DTYPE_I32,
        .rank = 1,
        .dims = { 3 },
        .n_scales = 3,
        .scales = scales,
        .zero_points = zeros,
        .axis = 3 },
      3,
      0 },
    { { .dtype = SL_DTYPE_I8,
        .rank = 4,
        .dims = { 1, 2, 2, 3 },
        .n_scales = 3,
        .scales = scales,
        .zero_points = zeros,
        .axis = 0 },
      3,
      3 },
    { { .dtype = SL_DTYPE_F32, .rank = 1, .dims = { 4 }, .scale = 0.5f }, 0, 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlGraph) graph = read_with (&rows[i].tensor, NULL, &error);
    g_assert_no_error (error);
    const SlQuant *got = &sl_graph_tensor (graph, 1)->quant;
    g_assert_cmpuint (got->count, ==, rows[i].count);
    if (got->count > 1)
      g_assert_cmpint (got->axis, ==, rows[i].axis);
    for (guint k = 0; k < got->count; k++) {
      g_assert_cmpfloat (got->scale[k], ==, scales[k]);
      g_assert_cmpint (got->zero_point[k], ==, zeros[k]);
    }
  }
}

static void
test_constants (void)
{
  static const gint32 values[] = { 1, -2, 3, 4 };
  static const SlTfliteQuirks quirks[] = { { .version = 3 },
                                           { .outside_buffers = TRUE },
                                           { .misalign = 4 },
                                           { .misalign = 1 },
                                           { .outside_buffers = TRUE, .misalign = 3 } };
  for (guint i = 0; i < G_N_ELEMENTS (quirks); i++) {
    const SlTfliteTensor tensor = {
      .dtype = SL_DTYPE_I32, .rank = 2, .dims = { 2, 2 }, .data = values
    };
    g_autoptr (GError) error = NULL;
    g_autoptr (SlGraph) graph = read_with (&tensor, &quirks[i], &error);
    g_assert_no_error (error);
    const SlTensor *got = sl_graph_tensor (graph, 1);
    g_assert_cmpuint ((guintptr) got->data % 4, ==, 0);
    g_assert_cmpmem (got->data, got->bytes, values, sizeof values);
  }
}

/* Facts of the shared models, read with another decoder. */
static void
test_real (void)
{
  static const struct
  {
    const char *file;
    guint nodes, tensors;
    SlDtype in, out;
    gfloat scale;
    gint32 zero_point;
    SlOpType last;
  } rows[] = {
    { "models/mobilenet_v2_1.0_224_quant.tflite", 66, 174, SL_DTYPE_U8, SL_DTYPE_U8, 0.0078125f,
      128, SL_OP_SOFTMAX },
    { "models/tf2_mobilenet_v2_1.0_224_ptq.tflite", 68, 177, SL_DTYPE_U8, SL_DTYPE_U8,
      0.007843137718737125f, 127, SL_OP_QUANTIZE },
    { "models/person_detect.tflite", 31, 89, SL_DTYPE_I8, SL_DTYPE_I8, 0.007843137718737125f, -1,
      SL_OP_SOFTMAX },
    { "models/ssd_mobilenet_v1.tflite", 64, 176, SL_DTYPE_U8, SL_DTYPE_F32, 0.0078125f, 128,
      SL_OP_DETECTION_POSTPROCESS },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = sl_test_data (rows[i].file);
    g_autoptr (GError) error = NULL;
    SlModelMetadata metadata = { 0 };
    if (path == NULL)
      return;
    g_autoptr (GMappedFile) map = g_mapped_file_new (path, FALSE, &error);
    g_autoptr (GBytes) bytes = g_mapped_file_get_bytes (map);
    g_autoptr (SlGraph) graph = sl_graph_new (bytes);
    g_assert_true (sl_reader_tflite.probe (bytes));
    sl_reader_tflite.read (bytes, &(SlReaderSource){ .path = path }, graph, &metadata, &error);
    g_assert_no_error (error);
    const guint nodes = sl_graph_n_nodes (graph);
    g_assert_cmpuint (nodes, ==, rows[i].nodes);
    g_assert_cmpuint (sl_graph_n_tensors (graph), ==, rows[i].tensors);
    g_assert_cmpint (sl_graph_input_tensor (graph, 0)->dtype, ==, rows[i].in);
    g_assert_cmpint (sl_graph_output_tensor (graph, 0)->dtype, ==, rows[i].out);
    g_assert_cmpfloat_with_epsilon (sl_tensor_scale (sl_graph_input_tensor (graph, 0)),
                                    rows[i].scale, 1e-9);
    g_assert_cmpint (sl_tensor_zero_point (sl_graph_input_tensor (graph, 0)), ==,
                     rows[i].zero_point);
    g_assert_cmpint (sl_graph_node (graph, nodes - 1)->op, ==, rows[i].last);
    sl_model_metadata_clear (&metadata);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tflite/simple-ops", test_simple_ops);
  g_test_add_func ("/tflite/window-ops", test_window_ops);
  g_test_add_func ("/tflite/detection", test_detection);
  g_test_add_func ("/tflite/codes", test_codes);
  g_test_add_func ("/tflite/dtypes", test_dtypes);
  g_test_add_func ("/tflite/quantisation", test_quantisation);
  g_test_add_func ("/tflite/constants", test_constants);
  g_test_add_func ("/tflite/real", test_real);
  return g_test_run ();
}
