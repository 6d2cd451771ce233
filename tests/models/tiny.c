/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See tiny.h. What the models compute does not matter; that each stays valid, and small enough to
 * be damaged in thousands of ways within a second, does.
 */
#include "tests/models/tiny.h"

static const gint8 codes[256] = { 1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -16 };
static const gint32 biases[8] = { 10, -20, 30, -40 };
static const gfloat scales[4] = { 0.5f, 0.25f, 0.125f, 0.0625f };

/* A variable of per-tensor quantisation, 0.05 unless it is a float. */
static gint32
add_variable (SlTfliteWriter *w, const char *name, SlDtype dtype, guint rank, gint32 a, gint32 b,
              gint32 c, gint32 d)
{
  return sl_tflite_writer_tensor (
    w, &(SlTfliteTensor){ .name = name,
                          .dtype = dtype,
                          .rank = rank,
                          .dims = { a, b, c, d },
                          .scale = dtype == SL_DTYPE_F32 ? 0.0f : 0.05f,
                          .zero_point = dtype == SL_DTYPE_U8 ? 128 : 0 });
}

/* Weights of one scale, or with @channels one a channel of dimension @axis. */
static gint32
add_weights (SlTfliteWriter *w, const char *name, SlDtype dtype, guint rank, const gint32 *dims,
             guint channels, gint32 axis)
{
  SlTfliteTensor tensor = { .name = name, .dtype = dtype, .rank = rank, .data = codes };
  for (guint i = 0; i < rank; i++)
    tensor.dims[i] = dims[i];
  if (dtype == SL_DTYPE_I32)
    tensor.data = biases;
  tensor.scale = dtype == SL_DTYPE_I32 ? 0.05f * 0.5f : 0.5f;
  tensor.zero_point = dtype == SL_DTYPE_U8 ? 128 : 0;
  tensor.n_scales = channels;
  tensor.scales = scales;
  tensor.axis = axis;
  return sl_tflite_writer_tensor (w, &tensor);
}

static void
add_op (SlTfliteWriter *w, SlOpType op, const SlOpParams *params, guint n_inputs,
        const gint32 inputs[4], gint32 output)
{
  SlTfliteOp node = { .op = op, .n_inputs = n_inputs, .n_outputs = 1, .outputs = { output } };
  if (params != NULL)
    node.params = *params;
  for (guint i = 0; i < n_inputs; i++)
    node.inputs[i] = inputs[i];
  sl_tflite_writer_op (w, &node);
}

SlTfliteWriter *
tiny_classifier (void)
{
  static const SlOpParams conv = { .window = { .padding = SL_PADDING_SAME,
                                               .stride_h = 2,
                                               .stride_w = 2,
                                               .dilation_h = 1,
                                               .dilation_w = 1,
                                               .activation = SL_ACTIVATION_RELU6 } };
  static const SlOpParams pool = { .window = { .padding = SL_PADDING_VALID,
                                               .stride_h = 1,
                                               .stride_w = 1,
                                               .filter_h = 2,
                                               .filter_w = 2 } };
  static const SlOpParams full = { .fully_connected.activation = SL_ACTIVATION_NONE },
                          softmax = { .softmax.beta = 1 };
  SlTfliteWriter *w = sl_tflite_writer_new ();
  const gint32 x = add_variable (w, "image", SL_DTYPE_U8, 4, 1, 6, 6, 3);
  const gint32 k = add_weights (w, "kernel", SL_DTYPE_U8, 4, (const gint32[]){ 2, 3, 3, 3 }, 0, 0);
  const gint32 b = add_weights (w, "bias", SL_DTYPE_I32, 1, (const gint32[]){ 2 }, 0, 0);
  const gint32 c = add_variable (w, "conv", SL_DTYPE_U8, 4, 1, 3, 3, 2),
               p = add_variable (w, "pool", SL_DTYPE_U8, 4, 1, 2, 2, 2);
  const gint32 f = add_weights (w, "matrix", SL_DTYPE_U8, 2, (const gint32[]){ 4, 8 }, 0, 0);
  const gint32 g = add_weights (w, "offsets", SL_DTYPE_I32, 1, (const gint32[]){ 4 }, 0, 0);
  const gint32 l = add_variable (w, "logits", SL_DTYPE_U8, 2, 1, 4, 0, 0);
  const gint32 y = sl_tflite_writer_tensor (
    w,
    &(SlTfliteTensor){
      .name = "scores", .dtype = SL_DTYPE_U8, .rank = 2, .dims = { 1, 4 }, .scale = 1 / 256.0f });
  add_op (w, SL_OP_CONV_2D, &conv, 3, (const gint32[4]){ x, k, b }, c);
  add_op (w, SL_OP_MAX_POOL_2D, &pool, 1, (const gint32[4]){ c }, p);
  add_op (w, SL_OP_FULLY_CONNECTED, &full, 3, (const gint32[4]){ p, f, g }, l);
  add_op (w, SL_OP_SOFTMAX, &softmax, 1, (const gint32[4]){ l }, y);
  sl_tflite_writer_io (w, 1, &x, 1, &y);
  sl_tflite_writer_picture_metadata (w, &(SlTfliteMetadata){ .name = "tiny",
                                                             .n_mean = 1,
                                                             .mean = { 127.5f },
                                                             .std = { 127.5f },
                                                             .colour = 1,
                                                             .labels_file = "labels.txt" });
  sl_tflite_writer_member (w, "labels.txt", "ant\nbee\ncat\ndog\n", -1, TRUE);
  return w;
}

SlTfliteWriter *
tiny_channels (void)
{
  static const SlOpParams conv = { .window = { .padding = SL_PADDING_VALID,
                                               .stride_h = 2,
                                               .stride_w = 2,
                                               .dilation_h = 1,
                                               .dilation_w = 1,
                                               .depth_multiplier = 1,
                                               .activation = SL_ACTIVATION_RELU } };
  static const SlOpParams pool = { .window = { .padding = SL_PADDING_VALID,
                                               .stride_h = 1,
                                               .stride_w = 1,
                                               .filter_h = 3,
                                               .filter_w = 3 } };
  static const SlOpParams point = { .window = { .padding = SL_PADDING_SAME,
                                                .stride_h = 1,
                                                .stride_w = 1,
                                                .dilation_h = 1,
                                                .dilation_w = 1 } };
  static const gint32 padding[] = { 0, 0, 1, 1, 1, 1, 0, 0 };
  SlTfliteWriter *w = sl_tflite_writer_new ();
  const gint32 x = add_variable (w, "image", SL_DTYPE_I8, 4, 1, 5, 5, 4),
               q = add_variable (w, "padded", SL_DTYPE_I8, 4, 1, 7, 7, 4);
  const gint32 n = sl_tflite_writer_tensor (
    w, &(SlTfliteTensor){
         .name = "paddings", .dtype = SL_DTYPE_I32, .rank = 2, .dims = { 4, 2 }, .data = padding });
  const gint32 k =
    add_weights (w, "depthwise kernel", SL_DTYPE_I8, 4, (const gint32[]){ 1, 3, 3, 4 }, 4, 3);
  const gint32 b = add_weights (w, "depthwise bias", SL_DTYPE_I32, 1, (const gint32[]){ 4 }, 4, 3);
  const gint32 d = add_variable (w, "depthwise", SL_DTYPE_I8, 4, 1, 3, 3, 4);
  const gint32 m = add_weights (w, "kernel", SL_DTYPE_I8, 4, (const gint32[]){ 2, 1, 1, 4 }, 2, 0);
  const gint32 c = add_variable (w, "conv", SL_DTYPE_I8, 4, 1, 3, 3, 2),
               p = add_variable (w, "pool", SL_DTYPE_I8, 4, 1, 1, 1, 2);
  const gint32 y = add_variable (w, "scores", SL_DTYPE_I8, 2, 1, 2, 0, 0);
  const SlOpParams squeeze = { .squeeze = { 2, { 1, 2 } } };
  add_op (w, SL_OP_PAD, NULL, 2, (const gint32[4]){ x, n }, q);
  add_op (w, SL_OP_DEPTHWISE_CONV_2D, &conv, 3, (const gint32[4]){ q, k, b }, d);
  add_op (w, SL_OP_CONV_2D, &point, 3, (const gint32[4]){ d, m, -1 }, c);
  add_op (w, SL_OP_AVERAGE_POOL_2D, &pool, 1, (const gint32[4]){ c }, p);
  add_op (w, SL_OP_SQUEEZE, &squeeze, 1, (const gint32[4]){ p }, y);
  sl_tflite_writer_io (w, 1, &x, 1, &y);
  return w;
}

SlTfliteWriter *
tiny_float (void)
{
  static const SlOpParams relu = { .binary.activation = SL_ACTIVATION_RELU },
                          concat = { .concat.axis = 1 };
  static const SlOpParams mean = { .reduce.keep_dims = FALSE },
                          reshape = { .reshape = { 2, { -1, 4 } } };
  static const SlOpType unary[] = { SL_OP_RELU, SL_OP_LOGISTIC, SL_OP_RELU6 };
  static const SlOpType binary[] = { SL_OP_ADD, SL_OP_SUB, SL_OP_MUL };
  SlTfliteWriter *w = sl_tflite_writer_new ();
  const gint32 inputs[] = { add_variable (w, "a", SL_DTYPE_F32, 2, 1, 4, 0, 0),
                            add_variable (w, "b", SL_DTYPE_F32, 2, 1, 4, 0, 0) };
  const gint32 one = sl_tflite_writer_const_i32 (w, "axis", 1, (const gint32[]){ 1 });
  gint32 last = inputs[0];
  for (guint i = 0; i < 3; i++) {
    const gint32 t = add_variable (w, "binary", SL_DTYPE_F32, 2, 1, 4, 0, 0),
                 u = add_variable (w, "unary", SL_DTYPE_F32, 2, 1, 4, 0, 0);
    add_op (w, binary[i], &relu, 2, (const gint32[4]){ last, inputs[1] }, t);
    add_op (w, unary[i], NULL, 1, (const gint32[4]){ t }, u);
    last = u;
  }
  const gint32 r = add_variable (w, "reshaped", SL_DTYPE_F32, 2, 1, 4, 0, 0),
               c = add_variable (w, "joined", SL_DTYPE_F32, 2, 1, 8, 0, 0);
  const gint32 e = add_variable (w, "expanded", SL_DTYPE_F32, 3, 1, 1, 8, 0),
               m = add_variable (w, "mean", SL_DTYPE_F32, 1, 1, 0, 0, 0);
  const gint32 outputs[] = { e, m };
  add_op (w, SL_OP_RESHAPE, &reshape, 1, (const gint32[4]){ last }, r);
  add_op (w, SL_OP_CONCATENATION, &concat, 2, (const gint32[4]){ r, inputs[0] }, c);
  add_op (w, SL_OP_EXPAND_DIMS, NULL, 2, (const gint32[4]){ c, one }, e);
  add_op (w, SL_OP_MEAN, &mean, 2, (const gint32[4]){ c, one }, m);
  sl_tflite_writer_io (w, 2, inputs, 2, outputs);
  return w;
}

SlTfliteWriter *
tiny_detector (gint32 num_classes)
{
  static const gfloat numbers[12] = { 0.5f, 0.5f,  0.25f, 0.25f, 0.25f, 0.5f,
                                      0.5f, 0.25f, 0.75f, 0.25f, 0.5f,  0.5f };
  SlTfliteOp op = { .op = SL_OP_DETECTION_POSTPROCESS, .n_inputs = 3, .n_outputs = 4 };
  SlTfliteWriter *w = sl_tflite_writer_new ();
  op.params.detection = (SlDetectionParams){ .max_detections = 2,
                                             .max_classes_per_detection = 1,
                                             .detections_per_class = 2,
                                             .num_classes = num_classes,
                                             .nms_score_threshold = 0.1f,
                                             .nms_iou_threshold = 0.5f,
                                             .scale_y = 10,
                                             .scale_x = 10,
                                             .scale_h = 5,
                                             .scale_w = 5 };
  const gint32 x = add_variable (w, "codes", SL_DTYPE_U8, 3, 1, 3, 4, 0);
  op.inputs[0] = add_variable (w, "boxes", SL_DTYPE_F32, 3, 1, 3, 4, 0);
  op.inputs[1] = sl_tflite_writer_tensor (
    w,
    &(SlTfliteTensor){
      .name = "scores", .dtype = SL_DTYPE_F32, .rank = 3, .dims = { 1, 3, 3 }, .data = numbers });
  op.inputs[2] = sl_tflite_writer_tensor (
    w, &(SlTfliteTensor){
         .name = "anchors", .dtype = SL_DTYPE_F32, .rank = 2, .dims = { 3, 4 }, .data = numbers });
  op.outputs[0] = add_variable (w, "locations", SL_DTYPE_F32, 3, 1, 2, 4, 0);
  op.outputs[1] = add_variable (w, "classes", SL_DTYPE_F32, 2, 1, 2, 0, 0);
  op.outputs[2] = add_variable (w, "confidences", SL_DTYPE_F32, 2, 1, 2, 0, 0);
  op.outputs[3] = add_variable (w, "count", SL_DTYPE_F32, 1, 1, 0, 0, 0);
  add_op (w, SL_OP_DEQUANTIZE, NULL, 1, (const gint32[4]){ x }, op.inputs[0]);
  sl_tflite_writer_op (w, &op);
  sl_tflite_writer_io (w, 1, &x, 4, op.outputs);
  return w;
}
