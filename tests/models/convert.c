/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Activations as TensorFlow Lite can express them: alone and behind a layer, against double
 * precision. */
#include "models/convert.h"

#include <math.h>

#include "core/runtime/session.h"
#include "tests/models/helpers.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define N 8

static const gfloat inputs[N] = { -90, -20, -3.5f, -0.25f, 0, 0.75f, 4, 90 };

static double
mish (double x)
{
  return x * tanh (x > 30 ? x : log1p (exp (x)));
}

static double
gelu (double x)
{
  return x * 0.5 * (1 + erf (x / sqrt (2)));
}

static double
hard_swish (double x)
{
  return x * fmin (fmax (x + 3, 0), 6) / 6;
}

static double
logistic (double x)
{
  return 1 / (1 + exp (-x));
}

/* ONNX's slope where none is stated. */
static double
leaky_relu (double x)
{
  return x < 0 ? 0.01 * x : x;
}

static const struct
{
  const char *op;
  double (*formula) (double x);
} rows[] = { { "LeakyRelu", leaky_relu }, { "Mish", mish },        { "Gelu", gelu },
             { "HardSwish", hard_swish }, { "Sigmoid", logistic }, { "Tanh", tanh } };

/* The activation of x, or of x times the identity. */
static GBytes *
write_model (const char *op, gboolean layer)
{
  gfloat identity[N * N] = { 0 };
  for (guint i = 0; i < N; i++)
    identity[i * N + i] = 1;
  SlOnnxWriter *w = sl_onnx_writer_new (20);
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 2, (const gint64[]){ 1, N });
  sl_onnx_writer_floats (w, "w", 2, (const gint64[]){ N, N }, identity);
  if (layer)
    sl_onnx_writer_node (w, "MatMul", "x,w", "z", NULL);
  sl_onnx_writer_node (w, op, layer ? "z" : "x", "y", NULL);
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
  GBytes *bytes = sl_onnx_writer_finish (w);
  sl_onnx_writer_free (w);
  return bytes;
}

static SlModel *
load (GBytes *bytes, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path =
    write_temp (name, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  SlModel *model = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  sl_tflite_remove_temp (path);
  return model;
}

static void
check_row (guint row, gboolean layer)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) onnx = write_model (rows[row].op, layer);
  g_autoptr (SlModel) source = load (onnx, "model.onnx");
  g_autoptr (GBytes) tflite = sl_model_to_tflite (source, &error);
  g_assert_no_error (error);
  g_autoptr (SlModel) model = load (tflite, "model.tflite");
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  g_assert_no_error (error);
  gfloat *x = sl_tensor_buffer_new (sizeof inputs), *y = sl_tensor_buffer_new (sizeof inputs);
  memcpy (x, inputs, sizeof inputs);
  g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                   SL_STATUS_OK);
  for (guint i = 0; i < N; i++)
    if (!(fabs ((double) y[i] - rows[row].formula ((double) inputs[i])) <= 1e-5))
      g_error ("%s of %g is %g; expected %g", rows[row].op, (double) inputs[i], (double) y[i],
               rows[row].formula ((double) inputs[i]));
  sl_tensor_buffer_free (x);
  sl_tensor_buffer_free (y);
}

static void
test_activations (void)
{
  for (guint row = 0; row < G_N_ELEMENTS (rows); row++) {
    check_row (row, FALSE);
    check_row (row, TRUE);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/convert/activations", test_activations);
  return g_test_run ();
}
