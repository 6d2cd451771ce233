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

/* One distance for each column, which TensorFlow Lite clamps to the type's bits. */
static void
run (SlDtype dtype, gint32 bits)
{
  double expected[N];
  OpModel m;
  om_init_builtin (&m, BUILTIN, 0, 0, NULL, 5);
  om_input (&m, dtype, 2, DIMS (6, 4), 0, 0);
  om_input (&m, dtype, 1, DIMS (4), 0, 0);
  om_output (&m, dtype, 2, DIMS (6, 4), 0, 0);
  for (guint below = 0; below < (dtype == SL_DTYPE_U8 ? 1 : 2); below++) {
    for (guint i = 0; i < 4; i++)
      set_distance (m.data[1], dtype, i, below && i == 3 ? -1 : distances[i]);
    for (guint i = 0; i < N; i++) {
      const gint32 distance = below && i % 4 == 3 ? -1 : distances[i % 4];
      expected[i] = quotient (om_real (&m, 0, i), CLAMP (distance, 0, bits - 1));
    }
    om_expect (&m, 0, expected, 0);
  }
  om_clear (&m);
}

static void
test_tflite (void)
{
  run (SL_DTYPE_I8, 8);
  run (SL_DTYPE_U8, 8);
  run (SL_DTYPE_I16, 16);
  run (SL_DTYPE_I32, 32);
  run (SL_DTYPE_I64, 64);
}

/* ONNX shifts unsigned numbers: those with all bits but some of the lowest, and a few. */
static void
test_onnx (void)
{
  double expected[N];
  OnnxModel m;
  onnx_model_init (&m, 18, 7);
  const gint64 *a = onnx_model_ints (&m, "a", 2, (const gint64[]){ 6, 4 }, 0, 5000);
  gint64 *b = onnx_model_ints (&m, "b", 1, (const gint64[]){ 4 }, 0, 2);
  for (guint i = 0; i < 4; i++)
    b[i] = (const gint64[]){ 1, 4, 28, 31 }[i];
  sl_onnx_writer_node (m.writer, "Cast", "a", "few", "to i 12", NULL);
  sl_onnx_writer_node (m.writer, "Cast", "b", "by", "to i 12", NULL);
  sl_onnx_writer_node (m.writer, "BitwiseNot", "few", "all", NULL);
  sl_onnx_writer_node (m.writer, "BitShift", "all,by", "c", "direction s RIGHT", NULL);
  sl_onnx_writer_node (m.writer, "Cast", "c", "y", "to i 7", NULL);
  for (guint i = 0; i < N; i++)
    expected[i] = quotient ((double) (G_MAXUINT32 - (guint64) a[i]), (double) b[i % 4]);
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
