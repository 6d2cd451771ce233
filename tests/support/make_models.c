/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * make_models DIRECTORY: writes tiny models with known answers, for tests of the program and for a
 * first look at Sightline without a real model.
 *
 *   brightest_channel.tflite  uint8[1,8,8,3] -> the mean of red, green and blue, named so
 *   many_pixels.tflite        float32[1,1024,1024,3] -> the mean of each channel of every 16th
 *                             pixel, by a convolution that 8 bits can hold
 *   large_tensor.tflite       uint8[1,256,256,3] -> the mean of each channel, by two operators
 *   moving_box.tflite         float32[1,8,8,3] -> one box that moves down with the mean of the
 *                             pixels, over the picture's edges unless that is near to 0.45
 *   one_box.tflite            uint8[1,8,8,3] -> one box over x 0..0.5, y 0.25..0.75 of the picture:
 *                             "green" or "blue",
 *                             whichever is brighter, with that brightness as confidence
 *   brightest_quarter.tflite  uint8[1,8,8,3] -> the brightest red, green and blue of each 2 x 2
 * pixels, [1,4,4,3]
 *   float_range.tflite        float32[1,8,8,3] -> likewise brightest_channel, but nothing says what
 *                             range it wants
 *   add.tflite                float32[1,4] + float32[1,4]
 *   paint.tflite              float32[1,8,8,3] * float32[1,3]: a picture in the colour that
 *                             float_range.tflite finds in another
 *   style_numbers.tflite      float32[1,8,8,3] -> the mean of each channel as the 100 numbers of a
 *                             style
 *   running_sum.tflite        float32[1,8,8,3] -> the mean of each channel, added to that of the
 *                             frames before: "colours"
 *   offset.tflite             the same without the sum as output: its second input is nothing but
 *                             added
 *   unknown_op.tflite         an operator that nobody has
 *   channels.pt2, channels.v0.pt2
 *                             float32[1,3,8,8] in 0..1 -> likewise brightest_channel, as PyTorch up
 *                             to 2.7 and from 2.8 on save it
 *   hostile.tflite            brightest_channel with a tensor's name of 4,000 bytes, and labels,
 *                             that command a terminal
 *   hostile_bad.tflite        the same, and an operator does not take its input
 *   trained_unit.tflite       float32[1,32,32,3] -> 32 numbers by a convolution of chance with a
 *                             bias, as batch normalisation leaves it in training with pixels of
 *                             0..1
 *   trained_signed.tflite     the same with pixels of -1..1
 *   trained_bytes.tflite      the same with pixels of 0..255
 *   trained_inside.tflite     the same, of float32[1,32,32,4], whose fourth channel is 1, and the
 *                             model makes -1..1 of 0..255
 *   trained_behind.tflite     trained_signed behind a layer that gives the picture on
 *   trained_red.tflite        trained_unit, with filters that look at the first channel most
 *   trained_blue.tflite       the same, and they look at the third channel most
 *   looks.onnx                float32[1,3,16,8] -> the mean colours of a grid of 2 x 4 cells, an
 *                             embedding
 *   letters.onnx              float32[1,3,8,48] -> six places of a text, letters_model.h; with a
 *                             file of formats, letters.formats
 *   normalised.onnx           float32[1,3,32,32] -> 32 numbers by a convolution of chance and batch
 *                             normalisation as in training with pixels of -1..1
 *   colour_words.onnx         int64[1,N] -> float32[1,3]: the sum of the colours that tokens stand
 *                             for: 3 red, 4 green, 5 blue, 6 yellow; others are black
 *   colour_words_wide.onnx    the same with a fourth number
 */
#include <stdio.h>
#include <string.h>

#include "tests/support/letters_model.h"
#include "tests/support/looks_model.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/pt2_writer.h"
#include "tests/support/tflite_writer.h"

#define SIDE 8
/* Numbers that style transfer takes. */
#define STYLE 100
/* Output channels of a trained layer, and places of its filter. */
#define TRAINED 32
#define FILTER 9
/* Channels of a layer that gives the three of a picture on: as many, so that the next one is the
 * same.
 */
#define COPIES 3

static gint32
add_tensor (SlTfliteWriter *writer, const char *name, SlDtype dtype, guint rank, const gint32 *dims)
{
  SlTfliteTensor tensor = { .name = name, .dtype = dtype, .rank = rank };
  memcpy (tensor.dims, dims, rank * sizeof *dims);
  if (dtype == SL_DTYPE_U8)
    tensor.scale = 1 / 255.f;
  return sl_tflite_writer_tensor (writer, &tensor);
}

static gint32
add_constant (SlTfliteWriter *writer, const char *name, guint rank, const gint32 *dims,
              const gfloat *values)
{
  SlTfliteTensor tensor = { .name = name, .dtype = SL_DTYPE_F32, .rank = rank, .data = values };
  memcpy (tensor.dims, dims, rank * sizeof *dims);
  return sl_tflite_writer_tensor (writer, &tensor);
}

/* picture -> MEAN over its area; returns the index of the [1,3] result. */
static gint32
add_mean (SlTfliteWriter *writer, SlDtype dtype, gint32 *picture)
{
  *picture = add_tensor (writer, "picture", dtype, 4, (const gint32[]){ 1, SIDE, SIDE, 3 });
  gint32 axes = sl_tflite_writer_const_i32 (writer, "axes", 2, (const gint32[]){ 1, 2 });
  gint32 mean = add_tensor (writer, "brightness", dtype, 2, (const gint32[]){ 1, 3 });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_MEAN,
                                              .n_inputs = 2,
                                              .inputs = { *picture, axes },
                                              .n_outputs = 1,
                                              .outputs = { mean } });
  return mean;
}

static void
add_labels (SlTfliteWriter *writer, const char *labels)
{
  sl_tflite_writer_picture_metadata (
    writer, &(SlTfliteMetadata){ .name = "test", .colour = 1, .labels_file = "labels.txt" });
  sl_tflite_writer_member (writer, "labels.txt", labels, -1, FALSE);
}

static void
save (SlTfliteWriter *writer, const char *directory, const char *name)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);
  sl_tflite_writer_save (writer, path);
}

static void
make_brightest_channel (const char *directory, const char *name, SlDtype dtype, const char *labels)
{
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  gint32 picture, mean = add_mean (writer, dtype, &picture);
  sl_tflite_writer_io (writer, 1, &picture, 1, &mean);
  if (labels != NULL)
    add_labels (writer, labels);
  save (writer, directory, name);
}

static void
make_brightest_quarter (const char *directory)
{
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  const gint32 picture =
    add_tensor (writer, "picture", SL_DTYPE_U8, 4, (const gint32[]){ 1, SIDE, SIDE, 3 });
  const gint32 quarter =
    add_tensor (writer, "quarter", SL_DTYPE_U8, 4, (const gint32[]){ 1, SIDE / 2, SIDE / 2, 3 });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_MAX_POOL_2D,
                                              .params.window = { .padding = SL_PADDING_VALID,
                                                                 .filter_h = 2,
                                                                 .filter_w = 2,
                                                                 .stride_h = 2,
                                                                 .stride_w = 2 },
                                              .n_inputs = 1,
                                              .inputs = { picture },
                                              .n_outputs = 1,
                                              .outputs = { quarter } });
  sl_tflite_writer_io (writer, 1, &picture, 1, &quarter);
  add_labels (writer, "red\ngreen\nblue\n");
  save (writer, directory, "brightest_quarter.tflite");
}

static void
save_bytes (const char *directory, const char *name, GBytes *bytes)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_file_set_contents (path, data, (gssize) size, NULL);
}

/* One box of one class, in each picture elsewhere: it is as far from the middle as the mean of the
 * pixels is from 0.45, eight times. */
static void
make_moving_box (const char *directory)
{
  const SlDetectionParams params = { .max_detections = 1,
                                     .max_classes_per_detection = 1,
                                     .detections_per_class = 1,
                                     .num_classes = 1,
                                     .nms_score_threshold = 0.01f,
                                     .nms_iou_threshold = 0.5f,
                                     .scale_y = 1,
                                     .scale_x = 1,
                                     .scale_h = 1,
                                     .scale_w = 1 };
  const gfloat third = 8 / 0.5f / 3;
  const gfloat weights[] = { third, third, third, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
  const gfloat bias[] = { -0.45f * 8 / 0.5f, 0, 0, 0 };
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  gint32 picture, mean = add_mean (writer, SL_DTYPE_F32, &picture);
  const gint32 four = 4;
  const gint32 filters = add_constant (writer, "weights", 2, (const gint32[]){ 4, 3 }, weights),
               biases = add_constant (writer, "bias", 1, &four, bias);
  const gint32 moved = add_tensor (writer, "moved", SL_DTYPE_F32, 2, (const gint32[]){ 1, 4 }),
               encodings =
                 add_tensor (writer, "encodings", SL_DTYPE_F32, 3, (const gint32[]){ 1, 1, 4 });
  const gint32 shape = sl_tflite_writer_const_i32 (writer, "shape", 3, (const gint32[]){ 1, 1, 4 });
  const gint32 scores = add_constant (writer, "scores", 3, (const gint32[]){ 1, 1, 2 },
                                      (const gfloat[]){ 0, 1 }),
               anchors = add_constant (writer, "anchors", 2, (const gint32[]){ 1, 4 },
                                       (const gfloat[]){ 0.5f, 0.5f, 0.5f, 0.5f });
  const gint32 outputs[] = {
    add_tensor (writer, "boxes", SL_DTYPE_F32, 3, (const gint32[]){ 1, 1, 4 }),
    add_tensor (writer, "classes", SL_DTYPE_F32, 2, (const gint32[]){ 1, 1 }),
    add_tensor (writer, "best scores", SL_DTYPE_F32, 2, (const gint32[]){ 1, 1 }),
    add_tensor (writer, "count", SL_DTYPE_F32, 1, (const gint32[]){ 1 })
  };
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_FULLY_CONNECTED,
                                              .n_inputs = 3,
                                              .inputs = { mean, filters, biases },
                                              .n_outputs = 1,
                                              .outputs = { moved } });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_RESHAPE,
                                              .n_inputs = 2,
                                              .inputs = { moved, shape },
                                              .n_outputs = 1,
                                              .outputs = { encodings } });
  sl_tflite_writer_op (
    writer, &(SlTfliteOp){ .op = SL_OP_DETECTION_POSTPROCESS,
                           .params.detection = params,
                           .n_inputs = 3,
                           .inputs = { encodings, scores, anchors },
                           .n_outputs = 4,
                           .outputs = { outputs[0], outputs[1], outputs[2], outputs[3] } });
  sl_tflite_writer_io (writer, 1, &picture, 4, outputs);
  save (writer, directory, "moving_box.tflite");
}

/* @n boxes, one or two, each with the same score. */
static void
make_boxes (const char *directory, const char *name, gint32 n)
{
  const SlDetectionParams params = { .max_detections = n,
                                     .max_classes_per_detection = 1,
                                     .detections_per_class = n,
                                     .num_classes = 2,
                                     .nms_score_threshold = 0.01f,
                                     .nms_iou_threshold = 0.5f,
                                     .scale_y = 10,
                                     .scale_x = 10,
                                     .scale_h = 5,
                                     .scale_w = 5 };
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  gint32 picture, mean = add_mean (writer, SL_DTYPE_U8, &picture);
  gint32 shape = sl_tflite_writer_const_i32 (writer, "shape", 3, (const gint32[]){ 1, 1, 3 });
  gint32 codes = add_tensor (writer, "score codes", SL_DTYPE_U8, 3, (const gint32[]){ 1, 1, 3 });
  gint32 one = add_tensor (writer, "one's scores", SL_DTYPE_F32, 3, (const gint32[]){ 1, 1, 3 });
  gint32 scores = add_tensor (writer, "scores", SL_DTYPE_F32, 3, (const gint32[]){ 1, n, 3 });
  gint32 encodings = add_constant (writer, "encodings", 3, (const gint32[]){ 1, n, 4 },
                                   (const gfloat[]){ 0, 0, 0, 0, 0, 0, 0, 0 });
  gint32 anchors =
    add_constant (writer, "anchors", 2, (const gint32[]){ n, 4 },
                  (const gfloat[]){ 0.5f, 0.25f, 0.5f, 0.5f, 0.5f, 0.8f, 0.5f, 0.4f });
  const gint32 outputs[] = {
    add_tensor (writer, "boxes", SL_DTYPE_F32, 3, (const gint32[]){ 1, n, 4 }),
    add_tensor (writer, "classes", SL_DTYPE_F32, 2, (const gint32[]){ 1, n }),
    add_tensor (writer, "best scores", SL_DTYPE_F32, 2, (const gint32[]){ 1, n }),
    add_tensor (writer, "count", SL_DTYPE_F32, 1, (const gint32[]){ 1 })
  };
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_RESHAPE,
                                              .n_inputs = 2,
                                              .inputs = { mean, shape },
                                              .n_outputs = 1,
                                              .outputs = { codes } });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_DEQUANTIZE,
                                              .n_inputs = 1,
                                              .inputs = { codes },
                                              .n_outputs = 1,
                                              .outputs = { one } });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_CONCATENATION,
                                              .params.concat.axis = 1,
                                              .n_inputs = (guint) n,
                                              .inputs = { one, one },
                                              .n_outputs = 1,
                                              .outputs = { scores } });
  sl_tflite_writer_op (
    writer, &(SlTfliteOp){ .op = SL_OP_DETECTION_POSTPROCESS,
                           .params.detection = params,
                           .n_inputs = 3,
                           .inputs = { encodings, scores, anchors },
                           .n_outputs = 4,
                           .outputs = { outputs[0], outputs[1], outputs[2], outputs[3] } });
  sl_tflite_writer_io (writer, 1, &picture, 4, outputs);
  add_labels (writer, "green\nblue\n");
  save (writer, directory, name);
}

static void
make_add (const char *directory)
{
  const gint32 dims[] = { 1, 4 };
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  const gint32 inputs[] = { add_tensor (writer, "a", SL_DTYPE_F32, 2, dims),
                            add_tensor (writer, "b", SL_DTYPE_F32, 2, dims) };
  gint32 sum = add_tensor (writer, "sum", SL_DTYPE_F32, 2, dims);
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_ADD,
                                              .n_inputs = 2,
                                              .inputs = { inputs[0], inputs[1] },
                                              .n_outputs = 1,
                                              .outputs = { sum } });
  sl_tflite_writer_io (writer, 2, inputs, 1, &sum);
  save (writer, directory, "add.tflite");
}

static void
make_paint (const char *directory)
{
  const gint32 dims[] = { 1, SIDE, SIDE, 3 };
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  const gint32 inputs[] = { add_tensor (writer, "content", SL_DTYPE_F32, 4, dims),
                            add_tensor (writer, "style", SL_DTYPE_F32, 2,
                                        (const gint32[]){ 1, 3 }) };
  gint32 painted = add_tensor (writer, "painted", SL_DTYPE_F32, 4, dims);
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_MUL,
                                              .n_inputs = 2,
                                              .inputs = { inputs[0], inputs[1] },
                                              .n_outputs = 1,
                                              .outputs = { painted } });
  sl_tflite_writer_io (writer, 2, inputs, 1, &painted);
  save (writer, directory, "paint.tflite");
}

/* Number k is (k % 7 - 3) / 4 of channel k % 3. */
static void
make_style_numbers (const char *directory)
{
  gfloat values[STYLE * 3] = { 0 };
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  gint32 picture, mean = add_mean (writer, SL_DTYPE_F32, &picture);
  for (gint i = 0; i < STYLE; i++)
    values[i * 3 + i % 3] = (gfloat) (i % 7 - 3) / 4;
  gint32 weights = add_constant (writer, "weights", 2, (const gint32[]){ STYLE, 3 }, values);
  gint32 style = add_tensor (writer, "style", SL_DTYPE_F32, 2, (const gint32[]){ 1, STYLE });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_FULLY_CONNECTED,
                                              .n_inputs = 3,
                                              .inputs = { mean, weights, -1 },
                                              .n_outputs = 1,
                                              .outputs = { style } });
  sl_tflite_writer_io (writer, 1, &picture, 1, &style);
  save (writer, directory, "style_numbers.tflite");
}

static void
make_running_sum (const char *directory, const char *file, guint n_outputs)
{
  const gint32 dims[] = { 1, 3 };
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  gint32 picture, mean = add_mean (writer, SL_DTYPE_F32, &picture),
                  before = add_tensor (writer, "sum_in", SL_DTYPE_F32, 2, dims);
  gint32 one = add_constant (writer, "one", 2, dims, (const gfloat[]){ 1, 1, 1 });
  const gint32 outputs[] = { add_tensor (writer, "colours", SL_DTYPE_F32, 2, dims),
                             add_tensor (writer, "sum_out", SL_DTYPE_F32, 2, dims) };
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_ADD,
                                              .n_inputs = 2,
                                              .inputs = { mean, before },
                                              .n_outputs = 1,
                                              .outputs = { outputs[1] } });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_MUL,
                                              .n_inputs = 2,
                                              .inputs = { outputs[1], one },
                                              .n_outputs = 1,
                                              .outputs = { outputs[0] } });
  sl_tflite_writer_io (writer, 2, (const gint32[]){ picture, before }, n_outputs, outputs);
  save (writer, directory, file);
}

static void
make_unknown_op (const char *directory)
{
  const gint32 dims[] = { 1, 4 };
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  gint32 in = add_tensor (writer, "in", SL_DTYPE_F32, 2, dims),
         out = add_tensor (writer, "out", SL_DTYPE_F32, 2, dims);
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .custom = "Frobnicate",
                                              .n_inputs = 1,
                                              .inputs = { in },
                                              .n_outputs = 1,
                                              .outputs = { out } });
  sl_tflite_writer_io (writer, 1, &in, 1, &out);
  save (writer, directory, "unknown_op.tflite");
}

static void
make_hostile (const char *directory, const char *file, gboolean bad)
{
  static const char labels[] = "red\x1b[2J\xc2\x9b"
                               "31m\ngreen\xe2\x80\xae\x07\nblue\n";
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  g_autofree char *tail = g_strnfill (4000, 'n'), *name = g_strconcat ("p\x1b]0;pwned\x07\xc2\x9b"
                                                                       "2J\xff",
                                                                       tail, NULL);
  gint32 picture = add_tensor (writer, name, SL_DTYPE_U8, 4, (const gint32[]){ 1, SIDE, SIDE, 3 });
  gint32 axes = sl_tflite_writer_const_i32 (writer, "axes", 2, (const gint32[]){ 1, 2 });
  gint32 mean =
    add_tensor (writer, name, bad ? SL_DTYPE_F32 : SL_DTYPE_U8, 2, (const gint32[]){ 1, 3 });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_MEAN,
                                              .n_inputs = 2,
                                              .inputs = { picture, axes },
                                              .n_outputs = 1,
                                              .outputs = { mean } });
  sl_tflite_writer_io (writer, 1, &picture, 1, &mean);
  add_labels (writer, labels);
  save (writer, directory, file);
}

/* A tensor between two operators, large beside its model. */
static void
make_large_tensor (const char *directory)
{
  static const gint32 dims[] = { 1, 256, 256, 3 };
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  gint32 picture = add_tensor (writer, "picture", SL_DTYPE_U8, 4, dims),
         clamped = add_tensor (writer, "clamped", SL_DTYPE_U8, 4, dims);
  gint32 axes = sl_tflite_writer_const_i32 (writer, "axes", 2, (const gint32[]){ 1, 2 });
  gint32 mean = add_tensor (writer, "brightness", SL_DTYPE_U8, 2, (const gint32[]){ 1, 3 });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_RELU,
                                              .n_inputs = 1,
                                              .inputs = { picture },
                                              .n_outputs = 1,
                                              .outputs = { clamped } });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_MEAN,
                                              .n_inputs = 2,
                                              .inputs = { clamped, axes },
                                              .n_outputs = 1,
                                              .outputs = { mean } });
  sl_tflite_writer_io (writer, 1, &picture, 1, &mean);
  add_labels (writer, "red\ngreen\nblue\n");
  save (writer, directory, "large_tensor.tflite");
}

/* A number of chance with a mean of 0 and a spread of 1. */
static gfloat
normal (guint32 *state)
{
  gfloat sum = 0;
  for (guint i = 0; i < 12; i++) {
    *state = *state * 1664525u + 1013904223u;
    sum += (gfloat) (*state >> 8) / (1 << 24);
  }
  return sum - 6;
}

/* Weights of chance, and the bias that batch normalisation leaves where pixels are @unit * byte +
 * @zero with a mean of 114.5 for the byte; it gives channels other sizes. A fourth channel has a
 * byte of 1. The first channel has @lean times the weights, and the third as much less. */
static void
train (gfloat *weights, gfloat *bias, guint channels, gfloat unit, gfloat zero, gfloat lean)
{
  guint32 state = 1;
  for (guint o = 0; o < TRAINED; o++) {
    const gfloat scale = 0.4f * (1 + o % 4);
    bias[o] = scale * normal (&state);
    for (guint i = 0; i < FILTER * channels; i++) {
      const gfloat by = i % channels == 0 ? lean : i % channels == 2 ? 1 / lean : 1;
      const gfloat weight = by * scale * normal (&state) / (unit * 64 * 4);
      weights[o * FILTER * channels + i] = weight;
      bias[o] -= weight * (unit * (i % channels < 3 ? 114.5f : 1) + zero);
    }
  }
}

/* @picture * @unit + @zero */
static gint32
add_scaling (SlTfliteWriter *writer, gint32 picture, const gint32 *dims, gfloat unit, gfloat zero)
{
  const gint32 one = 1, scaled = add_tensor (writer, "scaled", SL_DTYPE_F32, 4, dims),
               moved = add_tensor (writer, "moved", SL_DTYPE_F32, 4, dims),
               units = add_constant (writer, "unit", 1, &one, &unit),
               zeros = add_constant (writer, "zero", 1, &one, &zero);
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_MUL,
                                              .n_inputs = 2,
                                              .inputs = { picture, units },
                                              .n_outputs = 1,
                                              .outputs = { scaled } });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_ADD,
                                              .n_inputs = 2,
                                              .inputs = { scaled, zeros },
                                              .n_outputs = 1,
                                              .outputs = { moved } });
  return moved;
}

/* A layer that gives each channel of @picture on as it is, and tells nothing of the pixels. */
static gint32
add_copy (SlTfliteWriter *writer, gint32 picture)
{
  gfloat weights[COPIES * 3] = { 0 };
  static const gfloat bias[COPIES];
  const gint32 copies = COPIES;
  for (guint o = 0; o < COPIES; o++)
    weights[o * 3 + o % 3] = 1;
  const gint32 filters =
                 add_constant (writer, "copy", 4, (const gint32[]){ COPIES, 1, 1, 3 }, weights),
               biases = add_constant (writer, "nothing", 1, &copies, bias),
               copied = add_tensor (writer, "copied", SL_DTYPE_F32, 4,
                                    (const gint32[]){ 1, 32, 32, COPIES });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_CONV_2D,
                                              .params.window = { .padding = SL_PADDING_VALID,
                                                                 .stride_h = 1,
                                                                 .stride_w = 1,
                                                                 .dilation_h = 1,
                                                                 .dilation_w = 1 },
                                              .n_inputs = 3,
                                              .inputs = { picture, filters, biases },
                                              .n_outputs = 1,
                                              .outputs = { copied } });
  return copied;
}

/* What is special about a trained network: the model makes @unit * byte + @zero itself, and has a
 * fourth channel; or the trained layer is behind another one. */
typedef enum
{
  PLAIN,
  INSIDE,
  BEHIND
} Trained;

static void
make_trained (const char *directory, const char *name, gfloat unit, gfloat zero, Trained kind,
              gfloat lean)
{
  const gboolean inside = kind == INSIDE, behind = kind == BEHIND;
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  const gint32 channels = inside ? 4 : 3, trained = TRAINED;
  const gint32 dims[] = { 1, 32, 32, channels };
  gfloat weights[TRAINED * FILTER * 4], bias[TRAINED];
  train (weights, bias, (guint) channels, unit, zero, lean);
  const gint32 picture = add_tensor (writer, "picture", SL_DTYPE_F32, 4, dims),
               seen = inside   ? add_scaling (writer, picture, dims, unit, zero)
                      : behind ? add_copy (writer, picture)
                               : picture;
  const gint32 filters = add_constant (writer, "weights", 4,
                                       (const gint32[]){ TRAINED, 3, 3, channels }, weights),
               biases = add_constant (writer, "bias", 1, &trained, bias);
  const gint32 sums =
    add_tensor (writer, "sums", SL_DTYPE_F32, 4, (const gint32[]){ 1, 15, 15, TRAINED });
  const gint32 axes = sl_tflite_writer_const_i32 (writer, "axes", 2, (const gint32[]){ 1, 2 });
  const gint32 numbers =
    add_tensor (writer, "numbers", SL_DTYPE_F32, 2, (const gint32[]){ 1, TRAINED });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_CONV_2D,
                                              .params.window = { .padding = SL_PADDING_VALID,
                                                                 .stride_h = 2,
                                                                 .stride_w = 2,
                                                                 .dilation_h = 1,
                                                                 .dilation_w = 1,
                                                                 .activation = SL_ACTIVATION_RELU },
                                              .n_inputs = 3,
                                              .inputs = { seen, filters, biases },
                                              .n_outputs = 1,
                                              .outputs = { sums } });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_MEAN,
                                              .n_inputs = 2,
                                              .inputs = { sums, axes },
                                              .n_outputs = 1,
                                              .outputs = { numbers } });
  sl_tflite_writer_io (writer, 1, &picture, 1, &numbers);
  save (writer, directory, name);
}

/* The mean and the spread of pixels of -1..1 in photographs, where three channels tell much the
 * same. */
#define PIXEL_MEAN -0.1f
#define PIXEL_SPREAD 0.5f

/* A layer of points, behind it batch normalisation that its file keeps as it was trained with such
 * pixels. The layer has a bias of its own, which normalisation takes away. */
static void
make_normalised (const char *directory)
{
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  gfloat weights[TRAINED * 3], own[TRAINED], scale[TRAINED], bias[TRAINED], mean[TRAINED],
    variance[TRAINED];
  guint32 state = 7;
  for (guint o = 0; o < TRAINED; o++) {
    gfloat sum = 0;
    for (guint c = 0; c < 3; c++)
      sum += weights[o * 3 + c] = 1 + normal (&state) / 4;
    own[o] = normal (&state);
    scale[o] = 0.4f * (1 + o % 4);
    bias[o] = scale[o] * normal (&state);
    mean[o] = own[o] + sum * PIXEL_MEAN;
    variance[o] = sum * PIXEL_SPREAD * sum * PIXEL_SPREAD;
  }
  const gint64 trained = TRAINED;
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, (const gint64[]){ 1, 3, 32, 32 });
  sl_onnx_writer_floats (w, "w", 4, (const gint64[]){ TRAINED, 3, 1, 1 }, weights);
  sl_onnx_writer_floats (w, "own", 1, &trained, own);
  sl_onnx_writer_floats (w, "scale", 1, &trained, scale);
  sl_onnx_writer_floats (w, "bias", 1, &trained, bias);
  sl_onnx_writer_floats (w, "mean", 1, &trained, mean);
  sl_onnx_writer_floats (w, "variance", 1, &trained, variance);
  sl_onnx_writer_node (w, "Conv", "x,w,own", "sums", NULL);
  sl_onnx_writer_node (w, "BatchNormalization", "sums,scale,bias,mean,variance", "same", NULL);
  sl_onnx_writer_node (w, "Relu", "same", "seen", NULL);
  sl_onnx_writer_node (w, "GlobalAveragePool", "seen", "pooled", NULL);
  sl_onnx_writer_node (w, "Flatten", "pooled", "numbers", NULL);
  sl_onnx_writer_output (w, "numbers", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (w);
  save_bytes (directory, "normalised.onnx", bytes);
}

static void
make_looks (const char *directory)
{
  g_autoptr (GBytes) bytes = looks_model (1);
  save_bytes (directory, "looks.onnx", bytes);
}

static void
make_letters (const char *directory)
{
  g_autoptr (GBytes) bytes = letters_model (1),
                     formats = g_bytes_new_static (LETTERS_FORMATS, strlen (LETTERS_FORMATS));
  save_bytes (directory, "letters.onnx", bytes);
  save_bytes (directory, "letters.formats", formats);
}

/* A text model that belongs to brightest_channel: colours of tokens. */
static void
make_colour_words (const char *directory, const char *name, guint length)
{
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  gfloat colours[8 * 4] = { 0 };
  for (guint c = 0; c < 3; c++)
    colours[(3 + c) * length + c] = 1;
  colours[6 * length] = colours[6 * length + 1] = 1;
  sl_onnx_writer_input (w, "input_ids", SL_ONNX_INT64, 2, (const gint64[]){ 1, 0 });
  sl_onnx_writer_floats (w, "colours", 2, (const gint64[]){ 8, length }, colours);
  sl_onnx_writer_ints (w, "words", 1, (const gint64[]){ 1 });
  sl_onnx_writer_node (w, "Gather", "colours,input_ids", "each", NULL);
  sl_onnx_writer_node (w, "ReduceSum", "each,words", "text_embeds", "keepdims i 0", NULL);
  sl_onnx_writer_output (w, "text_embeds", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (w);
  save_bytes (directory, name, bytes);
}

/* The mean of each channel, times the matrix that changes nothing. */
static void
make_channels (const char *directory, const char *name, gboolean since_28)
{
  static const char labels[] = "red\ngreen\nblue\n", info[] =
                                                       "[modelinfo]\nversion=1.0\ngroup-id=x\n"
                                                       "[sightline]\nmean=0\nstd=255\n";
  static const gfloat same[] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  static const gint64 dims[] = { 3, 3 };
  SlPt2Writer *w = sl_pt2_writer_new (since_28);
  sl_pt2_weight (w, "parameter", "p_same", "same.weight");
  sl_pt2_input (w, "picture", SL_PT2_FLOAT, "1,3,8,8");
  sl_pt2_storage (w, "0", SL_PT2_FLOAT, same, sizeof same);
  sl_pt2_tensor (w, "same.weight", "0", 0, 2, dims, NULL);
  sl_pt2_node (w, "torch.ops.aten.mean.dim",
               PT2_TENSOR_ARG ("self", "picture") "," PT2_ARG ("dim", "{\"as_ints\":[2,3]}"),
               "mean");
  sl_pt2_node (w, "torch.ops.aten.linear.default",
               PT2_TENSOR_ARG ("input", "mean") "," PT2_TENSOR_ARG ("weight", "p_same"), "linear");
  sl_pt2_output (w, "linear", NULL);
  sl_pt2_member (w, since_28 ? "extra/labels.txt" : "extra_files/labels.txt", labels,
                 strlen (labels));
  sl_pt2_member (w, since_28 ? "extra/net.modelinfo" : "extra_files/net.modelinfo", info,
                 strlen (info));
  g_autoptr (GBytes) bytes = sl_pt2_writer_finish (w);
  save_bytes (directory, name, bytes);
}

/* A large picture, and little to compute. */
static void
make_many_pixels (const char *directory)
{
  static const gfloat identity[] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, none[3];
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  gint32 picture =
    add_tensor (writer, "picture", SL_DTYPE_F32, 4, (const gint32[]){ 1, 1024, 1024, 3 });
  gint32 some = add_tensor (writer, "some", SL_DTYPE_F32, 4, (const gint32[]){ 1, 64, 64, 3 });
  gint32 filter = add_constant (writer, "filter", 4, (const gint32[]){ 3, 1, 1, 3 }, identity);
  gint32 bias = add_constant (writer, "bias", 1, (const gint32[]){ 3 }, none);
  gint32 axes = sl_tflite_writer_const_i32 (writer, "axes", 2, (const gint32[]){ 1, 2 });
  gint32 mean = add_tensor (writer, "brightness", SL_DTYPE_F32, 2, (const gint32[]){ 1, 3 });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_CONV_2D,
                                              .params.window = { .padding = SL_PADDING_VALID,
                                                                 .stride_h = 16,
                                                                 .stride_w = 16,
                                                                 .dilation_h = 1,
                                                                 .dilation_w = 1 },
                                              .n_inputs = 3,
                                              .inputs = { picture, filter, bias },
                                              .n_outputs = 1,
                                              .outputs = { some } });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_MEAN,
                                              .n_inputs = 2,
                                              .inputs = { some, axes },
                                              .n_outputs = 1,
                                              .outputs = { mean } });
  sl_tflite_writer_io (writer, 1, &picture, 1, &mean);
  save (writer, directory, "many_pixels.tflite");
}

int
main (int argc, char **argv)
{
  if (argc != 2) {
    fprintf (stderr, "usage: make_models DIRECTORY\n");
    return 2;
  }
  make_brightest_channel (argv[1], "brightest_channel.tflite", SL_DTYPE_U8, "red\ngreen\nblue\n");
  make_brightest_channel (argv[1], "float_range.tflite", SL_DTYPE_F32, NULL);
  make_brightest_quarter (argv[1]);
  make_boxes (argv[1], "one_box.tflite", 1);
  make_boxes (argv[1], "two_boxes.tflite", 2);
  make_moving_box (argv[1]);
  make_add (argv[1]);
  make_paint (argv[1]);
  make_style_numbers (argv[1]);
  make_running_sum (argv[1], "running_sum.tflite", 2);
  make_running_sum (argv[1], "offset.tflite", 1);
  make_unknown_op (argv[1]);
  make_hostile (argv[1], "hostile.tflite", FALSE);
  make_hostile (argv[1], "hostile_bad.tflite", TRUE);
  make_large_tensor (argv[1]);
  make_trained (argv[1], "trained_unit.tflite", 1 / 255.f, 0, PLAIN, 1);
  make_trained (argv[1], "trained_signed.tflite", 2 / 255.f, -1, PLAIN, 1);
  make_trained (argv[1], "trained_bytes.tflite", 1, 0, PLAIN, 1);
  make_trained (argv[1], "trained_inside.tflite", 2 / 255.f, -1, INSIDE, 1);
  make_trained (argv[1], "trained_behind.tflite", 2 / 255.f, -1, BEHIND, 1);
  make_trained (argv[1], "trained_red.tflite", 1 / 255.f, 0, PLAIN, 1.5f);
  make_trained (argv[1], "trained_blue.tflite", 1 / 255.f, 0, PLAIN, 1 / 1.5f);
  make_normalised (argv[1]);
  make_letters (argv[1]);
  make_looks (argv[1]);
  make_colour_words (argv[1], "colour_words.onnx", 3);
  make_colour_words (argv[1], "colour_words_wide.onnx", 4);
  make_channels (argv[1], "channels.pt2", FALSE);
  make_channels (argv[1], "channels.v0.pt2", TRUE);
  make_many_pixels (argv[1]);
  return 0;
}
