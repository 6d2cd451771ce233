/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's Gather, GatherND, GatherElements and ScatterND by computed indices, and NonZero, which
 * computes them, by their formulas. */
#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })

/* Sizes of data that every test reads, and how far apart its elements are. */
static const gint64 sizes[4] = { 2, 3, 4, 5 }, strides[4] = { 60, 20, 5, 1 };

/* Data of those sizes under the name @name, from an operator that holds it channels last where
 * @pooled says so. */
static const gfloat *
add_data (OnnxModel *m, gboolean pooled, const char **name)
{
  const gfloat *x = onnx_model_floats (m, "x", 4, sizes);
  if (pooled)
    sl_onnx_writer_node (m->writer, "MaxPool", "x", "p", "kernel_shape I 1,1", NULL);
  *name = pooled ? "p" : "x";
  return x;
}

/* An index counted from the end when negative; -1 = outside. */
static gint64
place_of (gint64 index, gint64 size)
{
  const gint64 at = index < 0 ? index + size : index;
  return at >= 0 && at < size ? at : -1;
}

/* Indices of @rank dimensions that count from either end; some lie beyond both. */
static void
run_gather (gint64 axis, guint rank, gboolean pooled)
{
  const gint64 d = axis < 0 ? axis + 4 : axis, run = strides[d], outer = 120 / run / sizes[d];
  const gint64 dims[2] = { rank == 0 ? 1 : 3, 2 }, n = rank == 0 ? 1 : rank == 1 ? 3 : 6;
  g_autofree char *attribute = g_strdup_printf ("axis i %d", (int) axis);
  double expected[360];
  const char *data = NULL;
  OnnxModel m;
  onnx_model_init (&m, 13, 5 + rank);
  const gfloat *x = add_data (&m, pooled, &data);
  const gint64 *indices =
    onnx_model_ints (&m, "i", MAX (rank, 1), dims, (gint32) -sizes[d] - 1, (gint32) sizes[d] + 1);
  g_autofree char *inputs = g_strdup_printf (rank == 0 ? "%s,scalar" : "%s,i", data);
  if (rank == 0)
    sl_onnx_writer_node (m.writer, "Squeeze", "i", "scalar", NULL);
  sl_onnx_writer_node (m.writer, "Gather", inputs, "y", attribute, NULL);
  for (gint64 e = 0; e < outer * n * run; e++) {
    const gint64 at = place_of (indices[e / run % n], sizes[d]);
    expected[e] = at < 0 ? 0 : (double) x[(e / run / n * sizes[d] + at) * run + e % run];
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, (gsize) (outer * n * run), expected, 0);
  onnx_model_clear (&m);
}

static void
test_gather (void)
{
  for (gint64 axis = -4; axis < 4; axis++)
    for (guint rank = 0; rank < 3; rank++)
      for (guint pooled = 0; pooled < 2; pooled++)
        run_gather (axis, rank, (gboolean) pooled);
}

/* @n coordinates behind @batch_dims equal dimensions, as many times as the next dimension of the
 * indices says. */
static void
run_gather_nd (guint batch_dims, guint n, gboolean pooled)
{
  const gint64 times = 7, run = strides[batch_dims + n - 1];
  gint64 dims[4], batches = 1;
  g_autofree char *attribute = g_strdup_printf ("batch_dims i %u", batch_dims);
  const char *data = NULL;
  double expected[420];
  OnnxModel m;
  for (guint i = 0; i < batch_dims; i++)
    batches *= dims[i] = sizes[i];
  dims[batch_dims] = times;
  dims[batch_dims + 1] = n;
  onnx_model_init (&m, 13, batch_dims);
  const gfloat *x = add_data (&m, pooled, &data);
  const gint64 *indices = onnx_model_ints (&m, "i", batch_dims + 2, dims, -6, 6);
  g_autofree char *inputs = g_strdup_printf ("%s,i", data);
  sl_onnx_writer_node (m.writer, "GatherND", inputs, "y", attribute, NULL);
  for (gint64 e = 0; e < batches * times * run; e++) {
    const gint64 slice = e / run;
    gint64 from = slice / times;
    gboolean inside = TRUE;
    for (guint k = 0; k < n; k++) {
      const gint64 at = place_of (indices[slice * n + k], sizes[batch_dims + k]);
      inside &= at >= 0;
      from = from * sizes[batch_dims + k] + at;
    }
    expected[e] = inside ? (double) x[from * run + e % run] : 0;
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, (gsize) (batches * times * run), expected, 0);
  onnx_model_clear (&m);
}

static void
test_gather_nd (void)
{
  for (guint batch_dims = 0; batch_dims < 3; batch_dims++)
    for (guint n = 1; n <= 4 - batch_dims; n++)
      for (guint pooled = 0; pooled < 2; pooled++)
        run_gather_nd (batch_dims, n, (gboolean) pooled);
}

static void
test_gather_nd_refused (void)
{
  static const struct
  {
    const char *attribute, *text;
    gint64 dims[3];
  } rows[] = {
    { "batch_dims i 1",
      "do not address float32[2,3,4,5] with batch_dims 1; expected as many equal dimensions",
      { 3, 4, 1 } },
    { "batch_dims i 3", "with batch_dims 3", { 2, 3, 4 } },
    { "batch_dims i -1", "with batch_dims -1", { 2, 3, 1 } },
    { "batch_dims i 9000000000", "with batch_dims 2147483647", { 2, 3, 1 } },
    { "batch_dims i 1", "then at most 3 coordinates in the last dimension", { 2, 3, 4 } },
    { "batch_dims i 0", "expected at most 4 coordinates in the last dimension", { 2, 3, 5 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    OnnxModel m;
    onnx_model_init (&m, 13, 1);
    onnx_model_floats (&m, "x", 4, sizes);
    onnx_model_ints (&m, "i", 3, rows[i].dims, 0, 1);
    sl_onnx_writer_node (m.writer, "GatherND", "x,i", "y", rows[i].attribute, NULL);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, rows[i].text);
    onnx_model_clear (&m);
  }
}

/* One box of three is found. By rows left open 0 is read, and nothing is written, whatever was
 * computed of them before. */
static void
test_open_rows (void)
{
  static const gfloat boxes[12] = { 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1 },
                      scores[3] = { 0.1f, 0.9f, 0.2f };
  OnnxModel m;
  onnx_model_init (&m, 13, 3);
  const gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (1, 3)),
               *u = onnx_model_floats (&m, "u", 1, DIMS (3));
  sl_onnx_writer_floats (m.writer, "b", 3, DIMS (1, 3, 4), boxes);
  sl_onnx_writer_floats (m.writer, "s", 3, DIMS (1, 1, 3), scores);
  sl_onnx_writer_floats (m.writer, "zero", 1, DIMS (1), (const gfloat[]){ 0 });
  sl_onnx_writer_ints (m.writer, "three", 1, DIMS (3));
  sl_onnx_writer_ints (m.writer, "column", 1, DIMS (2));
  sl_onnx_writer_ints (m.writer, "row", 2, DIMS (1, 3));
  sl_onnx_writer_ints (m.writer, "line", 1, DIMS (3));
  sl_onnx_writer_node (m.writer, "Mul", "u,zero", "none", NULL);
  sl_onnx_writer_node (m.writer, "ReduceSum", "none", "nothing", "keepdims i 0", NULL);
  sl_onnx_writer_node (m.writer, "Add", "s,nothing", "computed", NULL);
  sl_onnx_writer_node (m.writer, "NonMaxSuppression", "b,computed,three", "rows", NULL);
  sl_onnx_writer_node (m.writer, "Gather", "rows,column", "third", "axis i 1", NULL);
  sl_onnx_writer_node (m.writer, "Reshape", "third,row", "i", NULL);
  sl_onnx_writer_node (m.writer, "GatherElements", "x,i", "elements", "axis i 1", NULL);
  sl_onnx_writer_node (m.writer, "Reshape", "x,line", "flat", NULL);
  sl_onnx_writer_node (m.writer, "Reshape", "u,row", "updates", NULL);
  sl_onnx_writer_node (m.writer, "ScatterND", "flat,third,u", "scattered", NULL);
  sl_onnx_writer_node (m.writer, "ScatterElements", "x,i,updates", "written", "axis i 1", NULL);
  onnx_model_expect (&m, "elements", SL_ONNX_FLOAT, 3, (const double[]){ (double) x[1], 0, 0 }, 0);
  onnx_model_expect (&m, "scattered", SL_ONNX_FLOAT, 3,
                     (const double[]){ (double) x[0], (double) u[0], (double) x[2] }, 0);
  onnx_model_expect (&m, "written", SL_ONNX_FLOAT, 3,
                     (const double[]){ (double) x[0], (double) u[0], (double) x[2] }, 0);
  onnx_model_clear (&m);
}

/* Where numbers of three types are not 0: in order, and -1 behind the last. What is read there is
 * 0, and nothing is written. */
static void
test_non_zero (void)
{
  static const char *const names[] = { "x", "i", "b" };
  for (guint form = 0; form < 3; form++) {
    OnnxModel m;
    double places[3 * 24], values[24] = { 0 }, written[24];
    gsize found = 0;
    onnx_model_init (&m, 13, 11);
    gfloat *x = onnx_model_floats (&m, "x", 3, DIMS (2, 3, 4)),
           *u = onnx_model_floats (&m, "u", 1, DIMS (24));
    gint64 *i = onnx_model_ints (&m, "i", 3, DIMS (2, 3, 4), -1, 2);
    for (guint e = 0; e < 24; e++) {
      i[e] = form == 1 ? i[e] : x[e] > 0;
      x[e] = form == 0 && i[e] == 0 ? 0 : x[e];
      written[e] = i[e] != 0 ? (double) u[found] : (double) x[e];
      for (guint k = 0; k < 3; k++)
        places[24 * k + e] = -1;
      if (i[e] == 0)
        continue;
      places[found] = e / 12;
      places[24 + found] = e / 4 % 3;
      places[48 + found] = e % 4;
      values[found++] = (double) x[e];
    }
    g_assert_cmpuint (found, >, 0);
    g_assert_cmpuint (found, <, 24);
    sl_onnx_writer_node (m.writer, "Cast", "i", "b", "to i 9", NULL);
    sl_onnx_writer_node (m.writer, "NonZero", names[form], "places", NULL);
    sl_onnx_writer_node (m.writer, "Transpose", "places", "rows", NULL);
    sl_onnx_writer_node (m.writer, "GatherND", "x,rows", "values", NULL);
    sl_onnx_writer_node (m.writer, "ScatterND", "x,rows,u", "written", NULL);
    onnx_model_expect (&m, "places", SL_ONNX_INT64, 72, places, 0);
    onnx_model_expect (&m, "values", SL_ONNX_FLOAT, 24, values, 0);
    onnx_model_expect (&m, "written", SL_ONNX_FLOAT, 24, written, 0);
    onnx_model_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx-gather/gather", test_gather);
  g_test_add_func ("/onnx-gather/gather-nd", test_gather_nd);
  g_test_add_func ("/onnx-gather/gather-nd-refused", test_gather_nd_refused);
  g_test_add_func ("/onnx-gather/open-rows", test_open_rows);
  g_test_add_func ("/onnx-gather/non-zero", test_non_zero);
  return g_test_run ();
}
