/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that ONNX's files have and TensorFlow Lite's do not, or in another form. Expected values are computed here, in double. */
#include <math.h>
#include <string.h>

#include "tests/ops/onnxmodel.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })

/* Sums along each dimension, of what a convolution's layout holds channels last, too. */
static void
test_cum_sum (void)
{
  const gint64 dims[4] = { 2, 3, 4, 5 }, strides[4] = { 60, 20, 5, 1 };
  for (gint64 axis = -4; axis < 4; axis++)
    for (guint mode = 0; mode < 8; mode++) {
      const gboolean exclusive = mode & 1, reverse = mode >> 1 & 1, pooled = mode >> 2;
      const gint64 d = axis < 0 ? axis + 4 : axis;
      g_autofree char *a = g_strdup_printf ("exclusive i %d", exclusive), *b = g_strdup_printf ("reverse i %d", reverse);
      double expected[120] = { 0 };
      OnnxModel m;
      onnx_model_init (&m, 14, mode);
      const gfloat *x = onnx_model_floats (&m, "x", 4, dims);
      sl_onnx_writer_ints (m.writer, "axis", 1, &axis);
      if (pooled)
        sl_onnx_writer_node (m.writer, "MaxPool", "x", "p", "kernel_shape I 1,1", NULL);
      sl_onnx_writer_node (m.writer, "CumSum", pooled ? "p,axis" : "x,axis", "y", a, b, NULL);
      for (gint64 i = 0; i < 120; i++)
        for (gint64 k = 0, at = i / strides[d] % dims[d]; k < dims[d]; k++)
          if ((reverse ? k > at : k < at) || (k == at && !exclusive))
            expected[i] += (double) x[i + (k - at) * strides[d]];
      onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 120, expected, 1e-5);
      onnx_model_clear (&m);
    }
}

static void
test_trilu (void)
{
  static const gint64 diagonals[] = { 0, 1, -2, 6, -9, G_MAXINT64, G_MININT64 };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (diagonals); i++) {
    const gint64 k = diagonals[i / 2];
    const gboolean upper = i & 1;
    double expected[2 * 4 * 6];
    OnnxModel m;
    onnx_model_init (&m, 14, i);
    const gfloat *x = onnx_model_floats (&m, "x", 3, DIMS (2, 4, 6));
    sl_onnx_writer_ints (m.writer, "k", 1, &k);
    sl_onnx_writer_node (m.writer, "Trilu", i == 0 ? "x" : "x,k", "y", upper ? "upper i 1" : "upper i 0", NULL);
    for (gint64 e = 0; e < 48; e++) {
      const gint64 beside = e % 6 - e / 6 % 4;
      expected[e] = (upper ? beside >= k : beside <= k) ? (double) x[e] : 0;
    }
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 48, expected, 0);
    onnx_model_clear (&m);
  }
}

/* A mask that is a constant, as transformers have it, of whole numbers. */
static void
test_trilu_constant (void)
{
  OnnxModel m;
  double expected[9] = { 0 };
  onnx_model_init (&m, 14, 1);
  const gint64 *x = onnx_model_ints (&m, "x", 2, DIMS (3, 3), -5, 5);
  sl_onnx_writer_ints (m.writer, "shape", 2, DIMS (3, 3));
  sl_onnx_writer_node (m.writer, "ConstantOfShape", "shape", "zeros", NULL);
  sl_onnx_writer_node (m.writer, "Cast", "zeros", "whole", "to i 7", NULL);
  sl_onnx_writer_ints (m.writer, "one", 1, DIMS (1));
  sl_onnx_writer_node (m.writer, "Add", "whole,one", "ones", NULL);
  sl_onnx_writer_node (m.writer, "Trilu", "ones,one", "mask", NULL);
  sl_onnx_writer_node (m.writer, "Mul", "x,mask", "y", NULL);
  for (gsize i = 0; i < 9; i++)
    expected[i] = i % 3 > i / 3 ? (double) x[i] : 0;
  onnx_model_expect (&m, "y", SL_ONNX_INT64, 9, expected, 0);
  onnx_model_clear (&m);
}

static void
test_not_finite (void)
{
  static const char *const forms[] = { "unused i 0", "detect_negative i 0", "detect_positive i 0" };
  for (guint form = 0; form < 4; form++) {
    double expected[6];
    OnnxModel m;
    onnx_model_init (&m, 13, 1);
    gfloat *x = onnx_model_floats (&m, "x", 1, DIMS (6));
    memcpy (x, ((const gfloat[]){ NAN, INFINITY, -INFINITY, 0, G_MAXFLOAT, -1 }), 6 * sizeof x[0]);
    if (form < 3)
      sl_onnx_writer_node (m.writer, "IsInf", "x", "y", forms[form], NULL);
    else
      sl_onnx_writer_node (m.writer, "IsInf", "x", "y", forms[1], forms[2], NULL);
    for (guint i = 0; i < 6; i++)
      expected[i] = isinf (x[i]) && form < 3 && (x[i] > 0 ? form != 2 : form != 1);
    onnx_model_expect (&m, "y", SL_ONNX_BOOL, 6, expected, 0);
    if (form == 0)
      sl_onnx_writer_node (m.writer, "IsNaN", "x", "z", NULL);
    for (guint i = 0; i < 6; i++)
      expected[i] = i == 0;
    if (form == 0)
      onnx_model_expect (&m, "z", SL_ONNX_BOOL, 6, expected, 0);
    onnx_model_clear (&m);
  }
}

static void
test_tan (void)
{
  OnnxModel m;
  double expected[50];
  onnx_model_init (&m, 13, 3);
  gfloat *x = onnx_model_floats (&m, "x", 1, DIMS (50));
  sl_onnx_writer_node (m.writer, "Tan", "x", "y", NULL);
  for (guint i = 0; i < 50; i++)
    expected[i] = tan ((double) (x[i] *= 0.7f));
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 50, expected, 1e-5);
  onnx_model_clear (&m);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx-ops/cum-sum", test_cum_sum);
  g_test_add_func ("/onnx-ops/trilu", test_trilu);
  g_test_add_func ("/onnx-ops/trilu-constant", test_trilu_constant);
  g_test_add_func ("/onnx-ops/not-finite", test_not_finite);
  g_test_add_func ("/onnx-ops/tan", test_tan);
  return g_test_run ();
}
