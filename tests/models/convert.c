/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Activations and borders as TensorFlow Lite can express them, against double precision. */
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

/* Quantised maxima of 3x3 with a border on all sides, which SAME is not for an even side. */
#define SIDE 4
#define POOLED 2

static GBytes *
write_pool (guint type)
{
  const gfloat scale = 0.5f;
  const guint8 zero_point = 40;
  SlOnnxWriter *w = sl_onnx_writer_new (13);
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, (const gint64[]){ 1, 1, SIDE, SIDE });
  sl_onnx_writer_floats (w, "s", 0, NULL, &scale);
  sl_onnx_message (w->graph, 5, sl_onnx_tensor ("z", type, 0, NULL, &zero_point, 1));
  sl_onnx_writer_node (w, "QuantizeLinear", "x,s,z", "a", NULL);
  sl_onnx_writer_node (w, "DequantizeLinear", "a,s,z", "b", NULL);
  sl_onnx_writer_node (w, "MaxPool", "b", "c", "kernel_shape I 3,3", "strides I 2,2",
                       "pads I 1,1,1,1", NULL);
  sl_onnx_writer_node (w, "QuantizeLinear", "c,s,z", "d", NULL);
  sl_onnx_writer_node (w, "DequantizeLinear", "d,s,z", "y", NULL);
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
  GBytes *bytes = sl_onnx_writer_finish (w);
  sl_onnx_writer_free (w);
  return bytes;
}

static double
highest (const gfloat *x, gint row, gint column)
{
  double best = -INFINITY;
  for (gint i = MAX (2 * row - 1, 0); i <= MIN (2 * row + 1, SIDE - 1); i++)
    for (gint k = MAX (2 * column - 1, 0); k <= MIN (2 * column + 1, SIDE - 1); k++)
      best = fmax (best, (double) x[SIDE * i + k]);
  return best;
}

static gboolean
pads (const SlGraph *graph)
{
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++)
    if (sl_graph_node (graph, i)->op == SL_OP_PADV2)
      return TRUE;
  return FALSE;
}

/* Every value is below zero, so that a border of zeros would be the highest. */
static void
check_pool (const SlModel *model)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  g_assert_no_error (error);
  gfloat *x = sl_tensor_buffer_new (SIDE * SIDE * sizeof *x),
         *y = sl_tensor_buffer_new (POOLED * POOLED * sizeof *y);
  for (gint i = 0; i < SIDE * SIDE; i++)
    x[i] = -0.5f * (gfloat) (1 + i * 7 % 16);
  g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                   SL_STATUS_OK);
  for (gint i = 0; i < POOLED * POOLED; i++)
    g_assert_cmpfloat ((double) y[i], ==, highest (x, i / POOLED, i % POOLED));
  sl_tensor_buffer_free (x);
  sl_tensor_buffer_free (y);
}

static void
test_quantised_border (void)
{
  static const guint types[] = { 3, 2 }; /* int8, uint8 */
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GBytes) onnx = write_pool (types[i]);
    g_autoptr (SlModel) source = load (onnx, "model.onnx");
    check_pool (source);
    g_autoptr (GBytes) tflite = sl_model_to_tflite (source, &error);
    g_assert_no_error (error);
    g_autoptr (SlModel) model = load (tflite, "model.tflite");
    g_assert_true (pads (sl_model_graph (model)));
    check_pool (model);
  }
}

/* Elements at computed places: their numbers. */
#define HEIGHT 5
#define WIDTH 7
#define PLACES 6

static void
run_converted (SlOnnxWriter *w, const gfloat *x, gsize n_x, const gfloat *second, gsize n_second,
               gfloat *y, gsize n_y)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) onnx = sl_onnx_writer_finish (w);
  g_autoptr (SlModel) source = load (onnx, "model.onnx");
  g_autoptr (GBytes) tflite = sl_model_to_tflite (source, &error);
  g_assert_no_error (error);
  g_autoptr (SlModel) model = load (tflite, "model.tflite");
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  g_assert_no_error (error);
  gfloat *in[2] = { sl_tensor_buffer_new (n_x * sizeof x[0]),
                    sl_tensor_buffer_new (n_second * sizeof x[0]) },
         *out = sl_tensor_buffer_new (n_y * sizeof y[0]);
  memcpy (in[0], x, n_x * sizeof x[0]);
  memcpy (in[1], second, n_second * sizeof x[0]);
  g_assert_cmpint (sl_session_run (session, (const void *[]){ in[0], in[1] }, (void *[]){ out }),
                   ==, SL_STATUS_OK);
  memcpy (y, out, n_y * sizeof y[0]);
  sl_tensor_buffer_free (in[0]);
  sl_tensor_buffer_free (in[1]);
  sl_tensor_buffer_free (out);
}

/* The second input holds indices as floats; some count from the end. */
static void
check_elements (guint axis)
{
  const gint64 x_dims[3] = { 2, HEIGHT, WIDTH },
               index_dims[3] = { 2, axis == 1 ? PLACES : HEIGHT, axis == 2 ? PLACES : WIDTH };
  const gsize n = (gsize) (index_dims[0] * index_dims[1] * index_dims[2]);
  const gint64 size = x_dims[axis];
  gfloat x[2 * HEIGHT * WIDTH], index[2 * PLACES * WIDTH], y[2 * PLACES * WIDTH];
  g_autofree char *attribute = g_strdup_printf ("axis i %u", axis);
  SlOnnxWriter *w = sl_onnx_writer_new (20);
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 3, x_dims);
  sl_onnx_writer_input (w, "i", SL_ONNX_FLOAT, 3, index_dims);
  sl_onnx_writer_node (w, "Cast", "i", "j", "to i 6", NULL);
  sl_onnx_writer_node (w, "GatherElements", "x,j", "y", attribute, NULL);
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
  for (guint i = 0; i < G_N_ELEMENTS (x); i++)
    x[i] = (gfloat) i;
  for (gsize i = 0; i < n; i++)
    index[i] = (gfloat) ((gint64) (i * 5 % (gsize) (2 * size)) - size);
  run_converted (w, x, G_N_ELEMENTS (x), index, n, y, n);
  for (gint64 i = 0; i < (gint64) n; i++) {
    const gint64 place[3] = { i / index_dims[2] / index_dims[1], i / index_dims[2] % index_dims[1],
                              i % index_dims[2] };
    const gint64 at = (gint64) index[i] < 0 ? (gint64) index[i] + size : (gint64) index[i];
    const gint64 row = axis == 1 ? at : place[1], column = axis == 2 ? at : place[2],
                 plane = axis == 0 ? at : place[0];
    g_assert_cmpfloat (y[i], ==, (gfloat) ((plane * HEIGHT + row) * WIDTH + column));
  }
  sl_onnx_writer_free (w);
}

static void
test_elements (void)
{
  for (guint axis = 0; axis < 3; axis++)
    check_elements (axis);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/convert/activations", test_activations);
  g_test_add_func ("/convert/elements", test_elements);
  g_test_add_func ("/convert/quantised-border", test_quantised_border);
  return g_test_run ();
}
