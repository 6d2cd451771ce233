/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions over no dimension, of truth values, and to the last of equal numbers, against their
 * definitions in double precision. */
#include <math.h>

#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })
#define N 24

typedef struct
{
  const char *op;
  guint opset;
  double (*of_one) (double x);
} Row;

static double
same (double x)
{
  return x;
}

static double
square (double x)
{
  return x * x;
}

static const Row rows[] = {
  { "ReduceSum", 13, same },       { "ReduceSum", 18, same },         { "ReduceMean", 18, same },
  { "ReduceMax", 18, same },       { "ReduceMin", 18, same },         { "ReduceProd", 18, same },
  { "ReduceL1", 18, fabs },        { "ReduceL2", 18, fabs },          { "ReduceLogSum", 18, log },
  { "ReduceLogSumExp", 18, same }, { "ReduceSumSquare", 18, square },
};

/* Without axes, where that means none: what the operator does beside its sum is done to each
 * element, in either layout. */
static void
test_of_none (void)
{
  for (guint i = 0; i < 4 * G_N_ELEMENTS (rows); i++) {
    const Row *row = &rows[i / 4];
    const gboolean listed = i & 1, last = i & 2;
    double expected[N];
    OnnxModel m;
    onnx_model_init (&m, row->opset, i);
    gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (1, 2, 3, 4));
    if (listed)
      sl_onnx_writer_ints (m.writer, "axes", 0, NULL);
    if (last)
      sl_onnx_writer_node (m.writer, "MaxPool", "x", "p", "kernel_shape I 1,1", NULL);
    g_autofree char *inputs = g_strconcat (last ? "p" : "x", listed ? ",axes" : "", NULL);
    sl_onnx_writer_node (m.writer, row->op, inputs, "y", "noop_with_empty_axes i 1", NULL);
    for (guint k = 0; k < N; k++) {
      x[k] = row->of_one == log ? fabsf (x[k]) + 0.125f : x[k];
      expected[k] = row->of_one ((double) x[k]);
    }
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, N, expected, 1e-6);
    onnx_model_clear (&m);
  }
}

/* Whether any is set, and whether all are. */
static void
test_of_bool (void)
{
  for (guint i = 0; i < 4; i++) {
    const gboolean any = i & 1, keep = i & 2;
    double expected[8];
    OnnxModel m;
    onnx_model_init (&m, 20, i);
    const gfloat *x = onnx_model_floats (&m, "x", 3, DIMS (2, 3, 4));
    sl_onnx_writer_floats (m.writer, "limit", 0, NULL, (const gfloat[]){ any ? 1 : -1 });
    sl_onnx_writer_ints (m.writer, "axes", 1, DIMS (1));
    sl_onnx_writer_node (m.writer, "Greater", "x,limit", "set", NULL);
    sl_onnx_writer_node (m.writer, any ? "ReduceMax" : "ReduceMin", "set,axes", "y",
                         keep ? "keepdims i 1" : "keepdims i 0", NULL);
    for (guint k = 0; k < 8; k++) {
      guint set = 0;
      for (guint r = 0; r < 3; r++)
        set += x[k / 4 * 12 + r * 4 + k % 4] > (any ? 1 : -1);
      expected[k] = any ? set > 0 : set == 3;
    }
    onnx_model_expect (&m, "y", SL_ONNX_BOOL, 8, expected, 0);
    onnx_model_clear (&m);
  }
}

/* The last of equal numbers, in either layout. */
static void
test_last_index (void)
{
  for (guint i = 0; i < 16; i++) {
    const gboolean most = i & 1, keep = i & 2, last = i & 4, channels = i & 8;
    const guint dim = channels ? 3 : 5, step = channels ? 20 : 1, n = 60 / dim;
    double expected[20];
    OnnxModel m;
    onnx_model_init (&m, 13, i);
    gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (1, 3, 4, 5));
    for (guint k = 0; k < 60; k++)
      x[k] = rintf (x[k] / 2);
    if (last)
      sl_onnx_writer_node (m.writer, "MaxPool", "x", "p", "kernel_shape I 1,1", NULL);
    sl_onnx_writer_node (m.writer, most ? "ArgMax" : "ArgMin", last ? "p" : "x", "y",
                         channels ? "axis i 1" : "axis i -1",
                         keep ? "keepdims i 1" : "keepdims i 0", "select_last_index i 1", NULL);
    for (guint k = 0; k < n; k++) {
      const gfloat *first = x + (channels ? k : 5 * k);
      guint best = 0;
      for (guint d = 1; d < dim; d++)
        if (most ? first[d * step] >= first[best * step] : first[d * step] <= first[best * step])
          best = d;
      expected[k] = best;
    }
    onnx_model_expect (&m, "y", SL_ONNX_INT64, n, expected, 0);
    onnx_model_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/reduce/none", test_of_none);
  g_test_add_func ("/onnx/reduce/bool", test_of_bool);
  g_test_add_func ("/onnx/reduce/last-index", test_last_index);
  return g_test_run ();
}
