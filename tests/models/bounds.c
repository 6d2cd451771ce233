/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small files that ask for much: chains of operators whose constant folding, packing or running
 * would take minutes or gigabytes. Each is loaded, or refused, with an amount of processor time
 * that a file of its size is worth; the bounds are a hundred times what it takes, and a hundredth
 * of what it would take.
 */
#include <string.h>
#include <time.h>

#include "sightline/error.h"
#include "core/runtime/session.h"
#include "core/graph/work.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

/* Of matrices that are folded and whose products are not. */
#define SIDE 1024
#define MANY 30000

static gdouble
processor_seconds (void)
{
  struct timespec t;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t);
  return (gdouble) t.tv_sec + (gdouble) t.tv_nsec / 1e9;
}

static gint32
add (SlTfliteWriter *w, SlDtype dtype, guint rank, const gint32 *dims)
{
  SlTfliteTensor tensor = { .name = "t", .dtype = dtype, .rank = rank };
  if (rank > 0)
    memcpy (tensor.dims, dims, rank * sizeof *dims);
  if (dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I8) {
    tensor.scale = 1.0f / 64;
    tensor.zero_point = dtype == SL_DTYPE_U8 ? 128 : 0;
  }
  return sl_tflite_writer_tensor (w, &tensor);
}

static gint32
add_op (SlTfliteWriter *w, SlOpType type, gint32 a, gint32 b, gint32 output)
{
  sl_tflite_writer_op (w, &(SlTfliteOp){ .op = type,
                                         .n_inputs = b >= 0 ? 2 : 1,
                                         .inputs = { a, b },
                                         .n_outputs = 1,
                                         .outputs = { output } });
  return output;
}

/* x + m*m*...*m, where m is a square matrix of ones that FILL and TILE make of a few bytes; @side a
 * power of 4. */
static SlTfliteWriter *
products (guint n, gint32 side)
{
  static const gint32 one = 1;
  static const gfloat value = 1;
  static const gint32 tiles[] = { 1, 4 };
  const gint32 small[] = { side, 4 }, square[] = { side, side };
  SlTfliteWriter *w = sl_tflite_writer_new ();
  const gint32 scalar = sl_tflite_writer_tensor (
    w, &(SlTfliteTensor){
         .name = "one", .dtype = SL_DTYPE_F32, .rank = 1, .dims = { one }, .data = &value });
  const gint32 shape = sl_tflite_writer_const_i32 (w, "shape", 2, small),
               counts = sl_tflite_writer_const_i32 (w, "tiles", 2, tiles);
  const gint32 x = add (w, SL_DTYPE_F32, 2, square), filled = add (w, SL_DTYPE_F32, 2, small),
               y = add (w, SL_DTYPE_F32, 2, square);
  const gint32 values = add (w, SL_DTYPE_F32, 0, NULL);
  sl_tflite_writer_op (w, &(SlTfliteOp){ .op = SL_OP_RESHAPE,
                                         .n_inputs = 1,
                                         .inputs = { scalar },
                                         .n_outputs = 1,
                                         .outputs = { values } });
  add_op (w, SL_OP_FILL, shape, values, filled);
  gint32 product = filled;
  for (gint32 columns = 16; columns <= side; columns *= 4)
    product = add_op (w, SL_OP_TILE, product, counts,
                      add (w, SL_DTYPE_F32, 2, (const gint32[]){ side, columns }));
  const gint32 matrix = product;
  for (guint i = 0; i < n; i++)
    product = add_op (w, SL_OP_BATCH_MATMUL, product, matrix, add (w, SL_DTYPE_F32, 2, square));
  add_op (w, SL_OP_ADD, x, product, y);
  sl_tflite_writer_io (w, 1, &x, 1, &y);
  return w;
}

/* Folding gives up; the products stay and are what the model computes. */
static void
test_folding (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) w = products (100, SIDE);
  const gdouble start = processor_seconds ();
  g_autoptr (SlModel) model = load_with_info (w, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (processor_seconds () - start, <, 20);
  const guint64 each = (guint64) SIDE * SIDE * SIDE;
  g_assert_cmpuint (sl_graph_multiply_adds (sl_model_graph (model)), ==, 100 * each);
  g_assert_cmpuint (sl_graph_work (sl_model_graph (model)), >=, 100 * each);
}

/* What the chain computes is the same, folded and not: the product of n matrices of ones is
 * side^(n-1) everywhere. */
static void
test_result (gconstpointer data)
{
  const gint32 side = GPOINTER_TO_INT (data);
  const gsize n = (gsize) side * (gsize) side, bytes = n * sizeof (gfloat);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) w = products (2, side);
  g_autoptr (SlModel) model = load_with_info (w, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true ((sl_graph_n_nodes (sl_model_graph (model)) == 1) == (side < 100));
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  g_assert_no_error (error);
  gfloat *x = sl_tensor_buffer_new (bytes), *y = sl_tensor_buffer_new (bytes);
  for (gsize i = 0; i < n; i++)
    x[i] = (gfloat) (i % 3);
  g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                   SL_STATUS_OK);
  for (gsize i = 0; i < n; i++)
    g_assert_cmpfloat (y[i], ==, (gdouble) side * side + (gdouble) (i % 3));
  sl_tensor_buffer_free (x);
  sl_tensor_buffer_free (y);
}

static void
test_work (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) w = products (5, 4096);
  g_autofree char *path = sl_tflite_writer_save_temp (w, "model.tflite", NULL);
  g_assert_null (sl_model_load (path, NULL, &error));
  expect_error (
    &error, SL_ERROR_LIMIT, path,
    ": a frame takes about 344.1 billion multiply-adds, or as much other work: over the limit of "
    "250;",
    "set work-limit (billions) higher if the model is meant to be that slow", NULL);
  const SlModelLoadOptions more = { .work_limit = G_GUINT64_CONSTANT (400000000000) },
                           less = { .work_limit = 1000 };
  g_autoptr (SlModel) model = sl_model_load_with (path, NULL, &more, &error);
  g_assert_no_error (error);
  g_assert_nonnull (model);
  g_assert_null (sl_model_load_with (path, NULL, &less, &error));
  expect_error (&error, SL_ERROR_LIMIT, "over the limit of 1e-06", NULL);
  sl_tflite_remove_temp (path);
}

typedef struct
{
  const char *name;
  SlOpType even, odd;
  SlDtype dtype;
} Chain;

static const Chain chains[] = {
  { "transpose", SL_OP_TRANSPOSE, SL_OP_TRANSPOSE, SL_DTYPE_F32 },
  { "float", SL_OP_SIN, SL_OP_RELU, SL_DTYPE_F32 },
  { "codes", SL_OP_TANH, SL_OP_LOGISTIC, SL_DTYPE_U8 },
};

static void
test_many_nodes (gconstpointer data)
{
  static const gint32 dims[] = { 1, 4, 4, 2 }, order[] = { 0, 2, 1, 3 };
  const Chain *chain = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) w = sl_tflite_writer_new ();
  const gint32 x = add (w, chain->dtype, 4, dims),
               axes = sl_tflite_writer_const_i32 (w, "order", 4, order);
  gint32 y = x;
  for (guint i = 0; i < MANY; i++) {
    const SlOpType type = i % 2 == 0 ? chain->even : chain->odd;
    y = add_op (w, type, y, type == SL_OP_TRANSPOSE ? axes : -1, add (w, chain->dtype, 4, dims));
  }
  sl_tflite_writer_io (w, 1, &x, 1, &y);
  const gdouble start = processor_seconds ();
  g_autoptr (SlModel) model = load_with_info (w, NULL, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  g_assert_no_error (error);
  g_assert_nonnull (session);
  g_assert_cmpfloat (processor_seconds () - start, <, 75);
}

/* One matrix of weights, read by thousands of layers, each of which would pack it; as codes under
 * floats each would make it floats too. */
static void
test_shared_weights (gconstpointer data)
{
  const SlDtype dtype = (SlDtype) GPOINTER_TO_INT (data);
  static const gint32 dims[] = { 1, 512 };
  g_autofree gint8 *codes = g_malloc0 (512 * 512);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) w = sl_tflite_writer_new ();
  const gint32 weights = sl_tflite_writer_tensor (w, &(SlTfliteTensor){ .name = "w",
                                                                        .dtype = SL_DTYPE_I8,
                                                                        .rank = 2,
                                                                        .dims = { 512, 512 },
                                                                        .scale = 1,
                                                                        .data = codes });
  const gint32 x = add (w, dtype, 2, dims);
  gint32 y = x;
  for (guint i = 0; i < 6000; i++)
    y = add_op (w, SL_OP_FULLY_CONNECTED, y, weights, add (w, dtype, 2, dims));
  sl_tflite_writer_io (w, 1, &x, 1, &y);
  g_assert_null (load_with_info (w, NULL, NULL, &error));
  expect_error (
    &error, SL_ERROR_LIMIT,
    "FULLY_CONNECTED 't': the model's tensors, and weights that layers share, need more than "
    "1073741824 bytes",
    "set tensor-limit (MiB) higher", NULL);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bounds/folding", test_folding);
  g_test_add_data_func ("/bounds/result/folded", GINT_TO_POINTER (64), test_result);
  g_test_add_data_func ("/bounds/result/left", GINT_TO_POINTER (SIDE), test_result);
  g_test_add_func ("/bounds/work", test_work);
  for (guint i = 0; i < G_N_ELEMENTS (chains); i++) {
    g_autofree char *name = g_strconcat ("/bounds/many-nodes/", chains[i].name, NULL);
    g_test_add_data_func (name, &chains[i], test_many_nodes);
  }
  g_test_add_data_func ("/bounds/shared-weights/float", GINT_TO_POINTER (SL_DTYPE_F32),
                        test_shared_weights);
  g_test_add_data_func ("/bounds/shared-weights/int8", GINT_TO_POINTER (SL_DTYPE_I8),
                        test_shared_weights);
  return g_test_run ();
}
