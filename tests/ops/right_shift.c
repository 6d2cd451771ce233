/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RIGHT_SHIFT of TensorFlow Lite's files, BitShift of ONNX's to the right; torch's is in
 * tests/models. A shifted number is its quotient by a power of two, rounded down. */
#include <math.h>

#include "tests/ops/onnxmodel.h"
#include "tests/ops/opmodel.h"
#include "tests/support/program.h"

#define BUILTIN 161
#define N 24

static const gint32 distances[4] = { 0, 3, 31, 100 };

static double
quotient (double value, double distance)
{
  return floor (value / exp2 (distance));
}

static void
set_distance (void *data, SlDtype dtype, guint i, gint32 distance)
{
  if (dtype == SL_DTYPE_I64)
    ((gint64 *) data)[i] = distance;
  else if (dtype == SL_DTYPE_I32)
    ((gint32 *) data)[i] = distance;
  else if (dtype == SL_DTYPE_I16)
    ((gint16 *) data)[i] = (gint16) distance;
  else
    ((guint8 *) data)[i] = (guint8) distance;
}

/* One distance for each column; distances below zero count as the largest ones. */
static void
run (SlDtype dtype)
{
  double expected[N];
  OpModel m;
  om_init_builtin (&m, BUILTIN, 0, 0, NULL, 5);
  om_input (&m, dtype, 2, DIMS (6, 4), 0, 0);
  om_input (&m, dtype, 1, DIMS (4), 0, 0);
  om_output (&m, dtype, 2, DIMS (6, 4), 0, 0);
  for (guint below = 0; below < 2; below++) {
    for (guint i = 0; i < 4; i++)
      set_distance (m.data[1], dtype, i, below && i == 3 ? -1 : distances[i]);
    for (guint i = 0; i < N; i++)
      expected[i] = quotient (om_real (&m, 0, i), distances[i % 4]);
    om_expect (&m, 0, expected, 0);
  }
  om_clear (&m);
}

static void
test_tflite (void)
{
  static const SlDtype dtypes[] = { SL_DTYPE_I8, SL_DTYPE_U8, SL_DTYPE_I16, SL_DTYPE_I32,
                                    SL_DTYPE_I64 };
  for (guint i = 0; i < G_N_ELEMENTS (dtypes); i++)
    run (dtypes[i]);
}

static void
test_onnx (void)
{
  double expected[N];
  OnnxModel m;
  onnx_model_init (&m, 18, 7);
  const gint64 *a = onnx_model_ints (&m, "a", 2, (const gint64[]){ 6, 4 }, 0, 5000);
  gint64 *b = onnx_model_ints (&m, "b", 1, (const gint64[]){ 4 }, 0, 2);
  for (guint i = 0; i < 4; i++)
    b[i] = distances[i];
  sl_onnx_writer_node (m.writer, "BitShift", "a,b", "y", "direction s RIGHT", NULL);
  for (guint i = 0; i < N; i++)
    expected[i] = quotient ((double) a[i], distances[i % 4]);
  onnx_model_expect (&m, "y", SL_ONNX_INT64, N, expected, 0);
  onnx_model_clear (&m);
}

static void
refuse (SlDtype value, SlDtype distance, SlDtype result, const char *text)
{
  OpModel m;
  om_init_builtin (&m, BUILTIN, 0, 0, NULL, 5);
  om_input (&m, value, 1, DIMS (4), 0, 0);
  om_input (&m, distance, 1, DIMS (4), 0, 0);
  om_output (&m, result, 1, DIMS (4), 0, 0);
  om_refuse (&m, text);
  om_clear (&m);
}

static void
test_refused (void)
{
  refuse (SL_DTYPE_F32, SL_DTYPE_F32, SL_DTYPE_F32,
          "input 't' is float32; supported: int8, uint8, int16, int32, int64");
  refuse (SL_DTYPE_I32, SL_DTYPE_I64, SL_DTYPE_I32,
          "'t' is int32 but 't' is int64; expected the same type");
  refuse (SL_DTYPE_I32, SL_DTYPE_I32, SL_DTYPE_I64,
          "'t' is int32 but 't' is int64; expected the same type");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/right-shift/tflite", test_tflite);
  g_test_add_func ("/ops/right-shift/onnx", test_onnx);
  g_test_add_func ("/ops/right-shift/refused", test_refused);
  return g_test_run ();
}
