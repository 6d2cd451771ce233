/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds, runs and compares models of one operator. */
#include "tests/ops/opmodel.h"

#include <math.h>
#include <string.h>

#include "core/passes/prepare.h"

/* Odd: cases go through axes, forms and types in powers of two. */
#define ONE_OF 5

void
om_init (OpModel *m, SlOpType op, const SlOpParams *params, guint32 seed)
{
  memset (m, 0, sizeof *m);
  m->writer = sl_tflite_writer_new ();
  m->rand = g_rand_new_with_seed (seed);
  m->op.op = op;
  if (params != NULL)
    m->op.params = *params;
}

void
om_init_builtin (OpModel *m, gint32 builtin, guint8 options, guint n, const gint32 *fields,
                 guint32 seed)
{
  om_init (m, SL_OP_INVALID, NULL, seed);
  m->op.builtin = builtin;
  m->op.options = options;
  m->op.n_fields = n;
  if (n > 0)
    memcpy (m->op.fields, fields, n * sizeof fields[0]);
}

static void
drop_results (OpModel *m)
{
  for (guint i = 0; i < m->n_outputs; i++)
    g_clear_pointer (&m->results[i], sl_tensor_buffer_free);
  g_clear_pointer (&m->graph, sl_graph_unref);
}

void
om_clear (OpModel *m)
{
  drop_results (m);
  for (guint i = 0; i < m->n_inputs; i++)
    sl_tensor_buffer_free (m->data[i]);
  sl_tflite_writer_free (m->writer);
  g_rand_free (m->rand);
}

static SlTfliteTensor
describe (SlDtype dtype, guint rank, const gint32 *dims, gfloat scale, gint32 zero_point)
{
  SlTfliteTensor t = {
    .name = "t", .dtype = dtype, .rank = rank, .scale = scale, .zero_point = zero_point
  };
  if (rank > 0)
    memcpy (t.dims, dims, rank * sizeof dims[0]);
  return t;
}

static void
add_operand (OpModel *m, gint32 index)
{
  g_assert_cmpuint (m->op.n_inputs, <, SL_TFLITE_OPERANDS);
  m->op.inputs[m->op.n_inputs++] = index;
}

gsize
om_elements (const SlTfliteTensor *t)
{
  gsize n = 1;
  for (guint i = 0; i < t->rank; i++)
    n *= (gsize) MAX (t->dims[i], 0);
  return n;
}

void
om_place (const SlTfliteTensor *t, gsize i, gint32 *position)
{
  for (guint k = t->rank; k-- > 0; i /= (gsize) t->dims[k])
    position[k] = (gint32) (i % (gsize) t->dims[k]);
}

gsize
om_at (const SlTfliteTensor *t, const gint32 *position)
{
  gsize at = 0;
  for (guint k = 0; k < t->rank; k++)
    at = at * (gsize) t->dims[k] + (gsize) position[k];
  return at;
}

static void
fill (OpModel *m, SlDtype dtype, gsize n, void *data)
{
  for (gsize i = 0; i < n; i++) {
    if (dtype == SL_DTYPE_F32)
      ((gfloat *) data)[i] = (gfloat) g_rand_double_range (m->rand, -2.0, 2.0);
    else if (dtype == SL_DTYPE_I32)
      ((gint32 *) data)[i] = g_rand_int_range (m->rand, -1000, 1000);
    else if (dtype == SL_DTYPE_I64)
      ((gint64 *) data)[i] = g_rand_int_range (m->rand, -1000, 1000);
    else if (dtype == SL_DTYPE_I16)
      ((gint16 *) data)[i] = (gint16) g_rand_int_range (m->rand, -32768, 32768);
    else if (dtype == SL_DTYPE_BOOL)
      ((guint8 *) data)[i] = (guint8) g_rand_int_range (m->rand, 0, 2);
    else
      ((guint8 *) data)[i] = (guint8) g_rand_int_range (m->rand, 0, 256);
  }
}

guint
om_input (OpModel *m, SlDtype dtype, guint rank, const gint32 *dims, gfloat scale,
          gint32 zero_point)
{
  const SlTfliteTensor t = describe (dtype, rank, dims, scale, zero_point);
  const guint at = m->n_inputs++;
  m->in[at] = t;
  m->inputs[at] = sl_tflite_writer_tensor (m->writer, &t);
  m->data[at] = sl_tensor_buffer_new (om_elements (&t) * sl_dtype_size (dtype));
  fill (m, dtype, om_elements (&t), m->data[at]);
  add_operand (m, m->inputs[at]);
  return at;
}

void
om_constant (OpModel *m, SlDtype dtype, guint rank, const gint32 *dims, gfloat scale,
             gint32 zero_point, const void *data)
{
  SlTfliteTensor t = describe (dtype, rank, dims, scale, zero_point);
  t.data = data;
  add_operand (m, sl_tflite_writer_tensor (m->writer, &t));
}

void
om_ints (OpModel *m, guint n, const gint32 *values)
{
  add_operand (m, sl_tflite_writer_const_i32 (m->writer, "ints", n, values));
}

void
om_scalar (OpModel *m, gint32 value)
{
  om_constant (m, SL_DTYPE_I32, 0, NULL, 0, 0, &value);
}

void
om_omitted (OpModel *m)
{
  add_operand (m, -1);
}

void
om_output (OpModel *m, SlDtype dtype, guint rank, const gint32 *dims, gfloat scale,
           gint32 zero_point)
{
  const guint at = m->n_outputs++;
  m->out[at] = describe (dtype, rank, dims, scale, zero_point);
  m->outputs[at] = sl_tflite_writer_tensor (m->writer, &m->out[at]);
  m->op.outputs[m->op.n_outputs++] = m->outputs[at];
}

/* SIGHTLINE_DUMP_MODELS=FOLDER keeps every model once, as seeds for the fuzz target. */
static void
dump (const OpModel *m, GBytes *bytes)
{
  const char *folder = g_getenv ("SIGHTLINE_DUMP_MODELS");
  if (folder == NULL)
    return;
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autofree char *sum = g_compute_checksum_for_bytes (G_CHECKSUM_SHA1, bytes);
  g_autofree char *path = g_strdup_printf ("%s/%s.tflite", folder, sum);
  g_file_set_contents (path, data, (gssize) size, NULL);
}

static SlGraph *
load (OpModel *m, GError **error)
{
  SlModelMetadata metadata = { 0 };
  if (!m->is_written) {
    sl_tflite_writer_op (m->writer, &m->op);
    sl_tflite_writer_io (m->writer, m->n_inputs, m->inputs, m->n_outputs, m->outputs);
    m->is_written = TRUE;
  }
  g_autoptr (GBytes) bytes = sl_tflite_writer_finish (m->writer);
  g_autoptr (SlGraph) graph = sl_graph_new (bytes);
  dump (m, bytes);
  const gboolean good =
    sl_reader_tflite.read (bytes, &(SlReaderSource){ .path = "memory", .keep_activations = TRUE },
                           graph, &metadata, error)
    && sl_graph_prepare (graph, error);
  for (guint i = 0; good && i < sl_graph_n_nodes (graph); i++) /* a build for this model keeps it */
    g_assert_nonnull (sl_graph_may_need (graph, sl_graph_node (graph, i)->op));
  sl_model_metadata_clear (&metadata);
  return good ? g_steal_pointer (&graph) : NULL;
}

void
om_refuse (OpModel *m, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (load (m, &error));
  if (strstr (error->message, text) == NULL)
    g_error ("expected '%s' in: %s", text, error->message);
}

/* Reads, prepares and runs; on own kernels alone with @reference. */
static void
run_model (OpModel *m, gboolean reference, guint threads)
{
  g_autoptr (GError) error = NULL;
  drop_results (m);
  m->graph = load (m, &error);
  g_assert_no_error (error);
  if (reference)
    g_setenv ("SIGHTLINE_BACKEND", "plain", TRUE);
  g_autoptr (SlSession) session = sl_session_new (m->graph, threads, &error);
  g_unsetenv ("SIGHTLINE_BACKEND");
  g_assert_no_error (error);
  for (guint i = 0; i < m->n_outputs; i++) {
    const SlTensor *output = sl_graph_output_tensor (m->graph, i);
    g_assert_cmpuint (output->rank, ==, m->out[i].rank);
    for (guint k = 0; k < output->rank; k++)
      g_assert_cmpint (output->dims[k], ==, m->out[i].dims[k]);
    m->results[i] = sl_tensor_buffer_new (output->bytes + 32);
    memset ((guint8 *) m->results[i] + output->bytes + SL_TENSOR_PADDING, 0xa5, 32);
  }
  for (guint run = 0; run < 2; run++)
    g_assert_cmpint (sl_session_run (session, (const void *const *) m->data, m->results), ==,
                     SL_STATUS_OK);
  for (guint i = 0; i < m->n_outputs; i++)
    for (guint k = 0; k < 32; k++)
      g_assert_cmpuint (
        ((guint8 *)
           m->results[i])[sl_graph_output_tensor (m->graph, i)->bytes + SL_TENSOR_PADDING + k],
        ==, 0xa5);
}

static double
raw (const SlTfliteTensor *t, const void *data, gsize i)
{
  switch (t->dtype) {
    case SL_DTYPE_F32:
      return (double) ((const gfloat *) data)[i];
    case SL_DTYPE_I32:
      return ((const gint32 *) data)[i];
    case SL_DTYPE_I64:
      return (double) ((const gint64 *) data)[i];
    case SL_DTYPE_I16:
      return ((const gint16 *) data)[i];
    case SL_DTYPE_I8:
      return ((const gint8 *) data)[i];
    default:
      return ((const guint8 *) data)[i];
  }
}

double
om_real (const OpModel *m, guint input, gsize i)
{
  const SlTfliteTensor *t = &m->in[input];
  const double value = raw (t, m->data[input], i);
  return t->scale > 0 ? (value - (double) t->zero_point) * (double) t->scale : value;
}

static void
compare (const OpModel *m, guint output, const double *expected, double tolerance,
         const char *backend)
{
  const SlTfliteTensor *t = &m->out[output];
  for (gsize i = 0; i < om_elements (t); i++) {
    const double got = raw (t, m->results[output], i);
    double want = expected[i], allowed = tolerance;
    gint32 lo = 0, hi = 0;
    if (t->dtype == SL_DTYPE_F32)
      allowed *= fmax (1.0, fabs (want));
    if (t->scale > 0 && sl_dtype_range (t->dtype, &lo, &hi))
      want = fmin (fmax (want / (double) t->scale + (double) t->zero_point, lo), hi);
    if (!(fabs (got - want) <= allowed) && !(isnan (got) && isnan (want)) && got != want)
      g_error ("%s, %s: element %" G_GSIZE_FORMAT " of output %u is %.9g; expected %.9g within %g",
               sl_op_name (sl_graph_node (m->graph, 0)->op), backend, i, output, got, want,
               allowed);
  }
}

gboolean
om_leaves_out (guint threads)
{
  static guint asked = 0;
  return threads > 1 && asked++ % ONE_OF != 0;
}

void
om_expect (OpModel *m, guint output, const double *expected, double tolerance)
{
  for (guint threads = 1; threads <= 2; threads++) {
    if (!om_leaves_out (threads)) {
      run_model (m, FALSE, threads);
      compare (m, output, expected, tolerance, "xnnpack");
    }
    run_model (m, TRUE, threads);
    compare (m, output, expected, tolerance, "reference");
  }
}
