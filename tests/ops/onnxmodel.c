/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds, runs and compares small ONNX models. */
#include "tests/ops/onnxmodel.h"

#include <math.h>
#include <string.h>

#include "core/passes/prepare.h"
#include "core/runtime/session.h"
#include "models/reader.h"
#include "tests/ops/opmodel.h"

/* Bytes behind an output that must stay as they are. */
#define GUARD 32

void
onnx_model_init (OnnxModel *m, guint opset, guint32 seed)
{
  memset (m, 0, sizeof *m);
  m->writer = sl_onnx_writer_new (opset);
  m->rand = g_rand_new_with_seed (seed);
}

void
onnx_model_clear (OnnxModel *m)
{
  for (guint i = 0; i < m->n_inputs; i++)
    sl_tensor_buffer_free (m->data[i]);
  sl_onnx_writer_free (m->writer);
  g_rand_free (m->rand);
}

static void *
add_input (OnnxModel *m, const char *name, guint type, guint rank, const gint64 *dims, gsize size,
           gsize *n)
{
  *n = 1;
  for (guint i = 0; i < rank; i++)
    *n *= (gsize) dims[i];
  g_assert_cmpuint (m->n_inputs, <, ONNX_MODEL_EDGES);
  sl_onnx_writer_input (m->writer, name, type, rank, dims);
  return m->data[m->n_inputs++] = sl_tensor_buffer_new (*n * size);
}

gfloat *
onnx_model_floats (OnnxModel *m, const char *name, guint rank, const gint64 *dims)
{
  gsize n = 0;
  gfloat *values = add_input (m, name, SL_ONNX_FLOAT, rank, dims, sizeof values[0], &n);
  for (gsize i = 0; i < n; i++)
    values[i] = (gfloat) g_rand_double_range (m->rand, -2.0, 2.0);
  return values;
}

gint64 *
onnx_model_ints (OnnxModel *m, const char *name, guint rank, const gint64 *dims, gint32 low,
                 gint32 high)
{
  gsize n = 0;
  gint64 *values = add_input (m, name, SL_ONNX_INT64, rank, dims, sizeof values[0], &n);
  for (gsize i = 0; i < n; i++)
    values[i] = g_rand_int_range (m->rand, low, high);
  return values;
}

static SlGraph *
load (const OnnxModel *m, GError **error)
{
  SlModelMetadata metadata = { 0 };
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (m->writer);
  g_autoptr (SlGraph) graph = sl_graph_new (bytes);
  const gboolean good =
    sl_reader_onnx.read (bytes, &(SlReaderSource){ .path = "memory" }, graph, &metadata, error)
    && sl_graph_prepare (graph, error);
  for (guint i = 0; good && i < sl_graph_n_nodes (graph); i++) /* a build for this model keeps it */
    g_assert_nonnull (sl_graph_may_need (graph, sl_graph_node (graph, i)->op));
  sl_model_metadata_clear (&metadata);
  return good ? g_steal_pointer (&graph) : NULL;
}

void
onnx_model_refuse (OnnxModel *m, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (load (m, &error));
  if (strstr (error->message, text) == NULL)
    g_error ("expected '%s' in: %s", text, error->message);
}

static double
value_at (const SlTensor *tensor, const void *data, gsize i)
{
  switch (tensor->dtype) {
    case SL_DTYPE_F32:
      return (double) ((const gfloat *) data)[i];
    case SL_DTYPE_I64:
      return (double) ((const gint64 *) data)[i];
    default:
      g_assert_cmpint (tensor->dtype, ==, SL_DTYPE_BOOL);
      return ((const guint8 *) data)[i];
  }
}

static void
run (const OnnxModel *m, guint output, SlGraph *graph, gboolean plain, guint threads, gsize n,
     const double *expected, double tolerance)
{
  g_autoptr (GError) error = NULL;
  void *results[ONNX_MODEL_EDGES];
  gsize elements = 0;
  if (plain)
    g_setenv ("SIGHTLINE_BACKEND", "plain", TRUE);
  g_autoptr (SlSession) session = sl_session_new (graph, threads, &error);
  g_unsetenv ("SIGHTLINE_BACKEND");
  g_assert_no_error (error);
  for (guint i = 0; i < m->n_outputs; i++) {
    const gsize bytes = sl_graph_output_tensor (graph, i)->bytes + SL_TENSOR_PADDING;
    results[i] = sl_tensor_buffer_new (bytes + GUARD);
    memset ((guint8 *) results[i] + bytes, 0xa5, GUARD);
  }
  for (guint times = 0; times < 2; times++)
    g_assert_cmpint (sl_session_run (session, (const void *const *) m->data, results), ==,
                     SL_STATUS_OK);
  const SlTensor *tensor = sl_graph_output_tensor (graph, output);
  g_assert_true (sl_tensor_elements (tensor, &elements));
  g_assert_cmpuint (elements, ==, n);
  for (gsize i = 0; i < n; i++) {
    const double got = value_at (tensor, results[output], i), want = expected[i];
    if (!(fabs (got - want) <= tolerance * fmax (1, fabs (want))) && !(isnan (got) && isnan (want))
        && got != want)
      g_error ("'%s' %s, %u threads: element %" G_GSIZE_FORMAT " is %.9g; expected %.9g within %g",
               tensor->name, plain ? "by plain kernels" : "", threads, i, got, want, tolerance);
  }
  for (guint i = 0; i < m->n_outputs; i++) {
    for (guint k = 0; k < GUARD; k++)
      g_assert_cmpuint (
        ((guint8 *) results[i])[sl_graph_output_tensor (graph, i)->bytes + SL_TENSOR_PADDING + k],
        ==, 0xa5);
    sl_tensor_buffer_free (results[i]);
  }
}

void
onnx_model_expect (OnnxModel *m, const char *name, guint type, gsize n, const double *expected,
                   double tolerance)
{
  g_autoptr (GError) error = NULL;
  g_assert_cmpuint (m->n_outputs, <, ONNX_MODEL_EDGES);
  sl_onnx_writer_output (m->writer, name, type);
  const guint output = m->n_outputs++;
  g_autoptr (SlGraph) graph = load (m, &error);
  g_assert_no_error (error);
  for (guint threads = 1; threads <= 2; threads++)
    for (guint plain = om_leaves_out (threads) ? 1 : 0; plain < 2; plain++)
      run (m, output, graph, plain, threads, n, expected, tolerance);
}
