/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Indices of MaxPool, MaxUnpool and Col2Im against their definitions. */
#include <math.h>
#include <string.h>

#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })

enum
{
  BATCH = 2,
  CHANNELS = 3,
  H = 7,
  W = 8,
  PLANES = BATCH * CHANNELS
};

/** Of rows and columns; @pads: before both, then behind both. */
typedef struct
{
  const char *attributes[4];
  gint32 kernel[2], stride[2], dilation[2], pads[4], out[2];
} Case;

static const Case cases[] = {
  { { "kernel_shape I 2,2", "strides I 2,2" }, { 2, 2 }, { 2, 2 }, { 1, 1 }, { 0 }, { 3, 4 } },
  { { "kernel_shape I 3,3", "strides I 2,2", "pads I 1,1,1,1" },
    { 3, 3 },
    { 2, 2 },
    { 1, 1 },
    { 1, 1, 1, 1 },
    { 4, 4 } },
  { { "kernel_shape I 3,2", "strides I 2,1", "pads I 1,0,1,1", "dilations I 2,1" },
    { 3, 2 },
    { 2, 1 },
    { 2, 1 },
    { 1, 0, 1, 1 },
    { 3, 8 } },
  { { "kernel_shape I 1,1", "strides I 3,3" }, { 1, 1 }, { 3, 3 }, { 1, 1 }, { 0 }, { 3, 3 } },
};

/* The first of the largest under a window, as the number of an element of the whole input. */
static guint
largest (const Case *c, const gfloat *x, gint32 plane, gint32 y, gint32 column)
{
  gint32 best = -1;
  for (gint32 k = 0; k < c->kernel[0] * c->kernel[1]; k++) {
    const gint32 iy = y * c->stride[0] - c->pads[0] + k / c->kernel[1] * c->dilation[0];
    const gint32 ix = column * c->stride[1] - c->pads[1] + k % c->kernel[1] * c->dilation[1];
    const gint32 at = (plane * H + iy) * W + ix;
    if (iy >= 0 && iy < H && ix >= 0 && ix < W && (best < 0 || x[at] > x[best]))
      best = at;
  }
  return (guint) best;
}

/* Both layouts; whole numbers, so that many are equal, and pictures of nothing but minus infinity,
 * whose largest are not in the padding. */
static void
test_indices (void)
{
  for (guint i = 0; i < 4 * G_N_ELEMENTS (cases); i++) {
    const Case *c = &cases[i / 4];
    const gboolean empty = (i & 2) != 0;
    const gint32 pixels = c->out[0] * c->out[1], n = PLANES * pixels;
    double values[PLANES * H * W], places[PLANES * H * W];
    OnnxModel m;
    onnx_model_init (&m, 12, i);
    gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (BATCH, CHANNELS, H, W));
    for (guint k = 0; k < PLANES * H * W; k++)
      x[k] = empty ? -INFINITY : rintf (x[k]);
    if (i & 1)
      sl_onnx_writer_node (m.writer, "MaxPool", "x", "p", "kernel_shape I 1,1", NULL);
    sl_onnx_writer_node (m.writer, "MaxPool", i & 1 ? "p" : "x", "y,i", c->attributes[0],
                         c->attributes[1], c->attributes[2],
                         c->attributes[2] != NULL ? c->attributes[3] : NULL, NULL);
    for (gint32 k = 0; k < n; k++) {
      const guint at = largest (c, x, k / pixels, k % pixels / c->out[1], k % c->out[1]);
      values[k] = (double) x[at];
      places[k] = at;
    }
    if (!empty)
      onnx_model_expect (&m, "y", SL_ONNX_FLOAT, (gsize) n, values, 0);
    onnx_model_expect (&m, "i", SL_ONNX_INT64, (gsize) n, places, 0);
    onnx_model_clear (&m);
  }
}

/* Each number back at its place; one number twice, and one outside, which computed indices may say.
 */
static void
test_unpool (void)
{
  static const gint64 places[] = { 5, 7, 13, 2, 15, 15, -17, 99 };
  double expected[16] = { 0 };
  OnnxModel m;
  onnx_model_init (&m, 11, 1);
  const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (1, 2, 2, 2));
  gint64 *indices = onnx_model_ints (&m, "i", 4, DIMS (1, 2, 2, 2), 0, 1);
  memcpy (indices, places, sizeof places);
  sl_onnx_writer_ints (m.writer, "size", 4, DIMS (1, 2, 2, 4));
  sl_onnx_writer_node (m.writer, "MaxUnpool", "x,i,size", "y", "kernel_shape I 1,2",
                       "strides I 1,2", NULL);
  for (guint k = 0; k < 6; k++)
    expected[places[k]] = (double) x[k];
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 16, expected, 0);
  onnx_model_clear (&m);
}

/* What unfolding would read, added up where it would read it. */
static void
test_columns (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Case *c = &cases[i];
    const gint32 taps = c->kernel[0] * c->kernel[1], count = c->out[0] * c->out[1];
    double expected[PLANES * H * W] = { 0 };
    OnnxModel m;
    onnx_model_init (&m, 18, i);
    const gfloat *x = onnx_model_floats (&m, "x", 3, DIMS (BATCH, CHANNELS * taps, count));
    sl_onnx_writer_ints (m.writer, "image", 2, DIMS (H, W));
    sl_onnx_writer_ints (m.writer, "block", 2, DIMS (c->kernel[0], c->kernel[1]));
    sl_onnx_writer_node (m.writer, "Col2Im", "x,image,block", "y", c->attributes[1],
                         c->attributes[2], c->attributes[2] != NULL ? c->attributes[3] : NULL,
                         NULL);
    for (gint32 k = 0; k < PLANES * taps * count; k++) {
      const gint32 tap = k / count % taps, window = k % count;
      const gint32 iy =
        window / c->out[1] * c->stride[0] - c->pads[0] + tap / c->kernel[1] * c->dilation[0];
      const gint32 ix =
        window % c->out[1] * c->stride[1] - c->pads[1] + tap % c->kernel[1] * c->dilation[1];
      if (iy >= 0 && iy < H && ix >= 0 && ix < W)
        expected[(k / count / taps * H + iy) * W + ix] += (double) x[k];
    }
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, PLANES * H * W, expected, 1e-6);
    onnx_model_clear (&m);
  }
}

static void
test_errors (void)
{
  static const struct
  {
    const char *op, *inputs, *outputs, *attributes[2], *text;
  } wrong[] = {
    { "MaxPool",
      "x",
      "y,i",
      { "kernel_shape I 2,2", "storage_order i 1" },
      "attribute storage_order is 1; expected 0" },
    { "MaxPool",
      "x",
      "y,i",
      { "kernel_shape I 40,40", "pads I 30,30,30,30" },
      "a window of 40x40, dilated or with Indices, is not" },
    { "MaxPool",
      "v",
      "y,i",
      { "kernel_shape I 2,1,1", NULL },
      "Indices of an input of 5 dimensions are not supported" },
    { "MaxPool", "x", "y", { "strides I 2,2", NULL }, "attribute kernel_shape is missing" },
    { "MaxUnpool",
      "x,i",
      "y",
      { "kernel_shape I 2,2", NULL },
      "its input has 4 dimensions, its indices 3; expected at least 3, and equal" },
    { "MaxUnpool",
      "x,x",
      "y",
      { "kernel_shape I 2,2,2", NULL },
      "attribute kernel_shape has 3 numbers; expected at most 2" },
    { "MaxUnpool",
      "x,x",
      "y",
      { "kernel_shape I 2,2", "pads I 9,9,9,9" },
      "dimension 2 of its result would be -13" },
    { "MaxUnpool",
      "x,x",
      "y",
      { "kernel_shape I 2,2", "strides I 0,1" },
      "a window's size, stride and dilation are 2, 0 and 1" },
    { "MaxUnpool",
      "x,x,size",
      "y",
      { "kernel_shape I 2,2", NULL },
      "dimension 2 of its result would be 5; expected 1 or more, and as" },
    { "MaxUnpool",
      "x,x",
      "y",
      { "kernel_shape I 2,-2", NULL },
      "attribute kernel_shape has -2; expected 0..32767" },
    { "Col2Im",
      "i,image,block",
      "y",
      { NULL },
      "do not fit an image of 2 dimensions and a block of 2" },
    { "Col2Im",
      "i,image,size",
      "y",
      { NULL },
      "do not fit an image of 2 dimensions and a block of 4" },
    { "Col2Im",
      "i,image,block",
      "y",
      { "strides I 1", NULL },
      "attribute strides has 1 numbers; expected 2" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    OnnxModel m;
    onnx_model_init (&m, 18, i);
    onnx_model_floats (&m, "x", 4, DIMS (1, 2, 4, 4));
    onnx_model_floats (&m, "v", 5, DIMS (1, 2, 4, 2, 2));
    onnx_model_floats (&m, "i", 3, DIMS (1, 4, 4));
    sl_onnx_writer_ints (m.writer, "image", 2, DIMS (4, 4));
    sl_onnx_writer_ints (m.writer, "block", 2, DIMS (2, 2));
    sl_onnx_writer_ints (m.writer, "size", 4, DIMS (1, 2, 8, 8));
    sl_onnx_writer_node (m.writer, wrong[i].op, wrong[i].inputs, wrong[i].outputs,
                         wrong[i].attributes[0], wrong[i].attributes[1], NULL);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, wrong[i].text);
    onnx_model_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/unpool/indices", test_indices);
  g_test_add_func ("/onnx/unpool/unpool", test_unpool);
  g_test_add_func ("/onnx/unpool/columns", test_columns);
  g_test_add_func ("/onnx/unpool/errors", test_errors);
  return g_test_run ();
}
