/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pools over windows with gaps, against their definitions in double precision. */
#include <math.h>

#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })

enum
{
  CHANNELS = 3,
  H = 9,
  W = 8,
  KERNEL = 3
};

/** @pads: before and behind, of rows and columns; @out: what the specification's formula gives */
typedef struct
{
  const char *op, *more, *size;
  gint32 pads[4], stride[2], out[2];
  gboolean include;
} Case;

/* A window of 3 by 3 with gaps of 1 and 2. */
static double
window (const Case *c, const gfloat *x, gint32 y, gint32 column)
{
  const gboolean average = g_str_has_prefix (c->op, "Average");
  const double p =
    c->more != NULL && g_str_has_prefix (c->more, "p i ") ? g_ascii_strtod (c->more + 4, NULL) : 1;
  double sum = 0;
  guint n = 0;
  for (gint32 k = 0; k < KERNEL * KERNEL; k++) {
    const gint32 iy = y * c->stride[0] - c->pads[0] + k / KERNEL * 2,
                 ix = column * c->stride[1] - c->pads[1] + k % KERNEL * 3;
    const gboolean inside = iy >= 0 && iy < H && ix >= 0 && ix < W;
    const double value = inside ? (double) x[iy * W + ix] : 0;
    sum += average ? value : pow (fabs (value), p);
    n += inside
         || (c->include && iy >= -c->pads[0] && iy < H + c->pads[2] && ix >= -c->pads[1]
             && ix < W + c->pads[3]);
  }
  return average ? sum / n : pow (sum, 1 / p);
}

static void
test_dilated (void)
{
  static const Case cases[] = {
    { "AveragePool", NULL, NULL, { 0 }, { 1, 1 }, { 5, 2 }, FALSE },
    { "AveragePool", "pads I 1,2,2,1", NULL, { 1, 2, 2, 1 }, { 1, 1 }, { 8, 5 }, FALSE },
    { "AveragePool",
      "pads I 1,2,2,1",
      "count_include_pad i 1",
      { 1, 2, 2, 1 },
      { 1, 1 },
      { 8, 5 },
      TRUE },
    { "AveragePool", "pads I 1,2,2,1", "strides I 2,3", { 1, 2, 2, 1 }, { 2, 3 }, { 4, 2 }, FALSE },
    { "AveragePool", "auto_pad s SAME_UPPER", NULL, { 2, 3, 2, 3 }, { 1, 1 }, { 9, 8 }, FALSE },
    { "LpPool", "p i 1", "pads I 1,2,2,1", { 1, 2, 2, 1 }, { 1, 1 }, { 8, 5 }, FALSE },
    { "LpPool", "p i 3", "pads I 1,2,2,1", { 1, 2, 2, 1 }, { 1, 1 }, { 8, 5 }, FALSE },
    { "LpPool", "p i 2", "pads I 1,2,2,1", { 1, 2, 2, 1 }, { 1, 1 }, { 8, 5 }, FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Case *c = &cases[i];
    const guint pixels = (guint) (c->out[0] * c->out[1]);
    double expected[CHANNELS * H * W];
    OnnxModel m;
    onnx_model_init (&m, 19, i);
    const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (1, CHANNELS, H, W));
    const char *first = c->more != NULL ? c->more : "ceil_mode i 0";
    sl_onnx_writer_node (m.writer, c->op, "x", "y", "kernel_shape I 3,3", "dilations I 2,3", first,
                         c->size, NULL);
    for (guint k = 0; k < CHANNELS * pixels; k++)
      expected[k] = window (c, x + k / pixels * H * W, (gint32) (k % pixels) / c->out[1],
                            (gint32) (k % pixels) % c->out[1]);
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, CHANNELS * pixels, expected, 1e-5);
    onnx_model_clear (&m);
  }
}

/* A window that lies in the padding alone has no average: 0. */
static void
test_nothing_covered (void)
{
  OnnxModel m;
  onnx_model_init (&m, 19, 1);
  const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (1, 1, 1, 2));
  sl_onnx_writer_node (m.writer, "AveragePool", "x", "y", "kernel_shape I 1,2", "dilations I 1,3",
                       "pads I 0,2,0,2", NULL);
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 3, (const double[]){ (double) x[1], 0, (double) x[0] },
                     1e-6);
  onnx_model_clear (&m);
}

static void
test_too_large (void)
{
  OnnxModel m;
  onnx_model_init (&m, 19, 1);
  onnx_model_floats (&m, "x", 4, DIMS (1, 1, 4, 4));
  sl_onnx_writer_node (m.writer, "AveragePool", "x", "y", "kernel_shape I 3000,3000",
                       "dilations I 2,2", "pads I 3000,3000,3000,3000", NULL);
  sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
  onnx_model_refuse (&m, "a sum over 3000x3000 pixels of 1 channels is not supported");
  onnx_model_clear (&m);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/pool/dilated", test_dilated);
  g_test_add_func ("/onnx/pool/nothing-covered", test_nothing_covered);
  g_test_add_func ("/onnx/pool/too-large", test_too_large);
  return g_test_run ();
}
