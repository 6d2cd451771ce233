/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * make_models DIRECTORY: writes tiny models with known answers, for tests of the program and for a
 * first look at Sightline without a real model.
 *
 *   brightest_channel.tflite  uint8[1,8,8,3] -> the mean of red, green and blue, named so
 *   many_pixels.tflite        float32[1,1024,1024,3] -> the mean of each channel of every 16th pixel,
 *                             by a convolution that 8 bits can hold
 *   large_tensor.tflite       uint8[1,256,256,3] -> the mean of each channel, by two operators
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
 */
#include <stdio.h>
#include <string.h>

#include "tests/support/pt2_writer.h"
#include "tests/support/tflite_writer.h"

#define SIDE 8
/* Numbers that style transfer takes. */
#define STYLE 100

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
make_one_box (const char *directory)
{
  const SlDetectionParams params = { .max_detections = 1,
                                     .max_classes_per_detection = 1,
                                     .detections_per_class = 1,
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
  gint32 scores = add_tensor (writer, "scores", SL_DTYPE_F32, 3, (const gint32[]){ 1, 1, 3 });
  gint32 encodings = add_constant (writer, "encodings", 3, (const gint32[]){ 1, 1, 4 },
                                   (const gfloat[]){ 0, 0, 0, 0 });
  gint32 anchors = add_constant (writer, "anchors", 2, (const gint32[]){ 1, 4 },
                                 (const gfloat[]){ 0.5f, 0.25f, 0.5f, 0.5f });
  const gint32 outputs[] = {
    add_tensor (writer, "boxes", SL_DTYPE_F32, 3, (const gint32[]){ 1, 1, 4 }),
    add_tensor (writer, "classes", SL_DTYPE_F32, 2, (const gint32[]){ 1, 1 }),
    add_tensor (writer, "best scores", SL_DTYPE_F32, 2, (const gint32[]){ 1, 1 }),
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
  save (writer, directory, "one_box.tflite");
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
  g_autofree char *path = g_build_filename (directory, name, NULL);
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_file_set_contents (path, data, (gssize) size, NULL);
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
  make_one_box (argv[1]);
  make_add (argv[1]);
  make_paint (argv[1]);
  make_style_numbers (argv[1]);
  make_running_sum (argv[1], "running_sum.tflite", 2);
  make_running_sum (argv[1], "offset.tflite", 1);
  make_unknown_op (argv[1]);
  make_hostile (argv[1], "hostile.tflite", FALSE);
  make_hostile (argv[1], "hostile_bad.tflite", TRUE);
  make_large_tensor (argv[1]);
  make_channels (argv[1], "channels.pt2", FALSE);
  make_channels (argv[1], "channels.v0.pt2", TRUE);
  make_many_pixels (argv[1]);
  return 0;
}
