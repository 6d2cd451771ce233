/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types of the inputs, outputs and states of torch.export's programs are those of the file, as far
 * as a picture's element types allow. */
#include <string.h>

#include "tests/models/pt2_run.h"
#include "tests/support/program.h"

#define X PT2_TENSOR_ARG ("self", "x")

/* 1, -2, 0.5 and 65280. */
static const guint16 halves[] = { 0x3c00, 0xc000, 0x3800, 0x7bf8 },
                     positive_halves[] = { 0x3c00, 0, 0x3800, 0x7bf8 };
static const gdouble doubles[] = { 1, -2, 0.5, 65280 }, positive_doubles[] = { 1, 0, 0.5, 65280 };

/* y = relu (x), both of @dtype. */
static SlModel *
load_relu (guint dtype, const char *sizes)
{
  SlPt2Writer *w = sl_pt2_writer_new (TRUE);
  sl_pt2_input (w, "x", dtype, sizes);
  sl_pt2_state_type (w, "y", dtype, sizes);
  sl_pt2_node (w, "torch.ops.aten.relu.default", X, "y");
  sl_pt2_output (w, "y", NULL);
  return load_good_pt2 (w, NULL);
}

/* A frame: @input gives @output, bit by bit. */
static void
expect_bytes (SlSession *session, const SlModel *model, const void *input, const void *output,
              gsize size)
{
  const SlGraph *graph = sl_model_graph (model);
  g_assert_cmpuint (sl_graph_input_tensor (graph, 0)->bytes, ==, size);
  g_assert_cmpuint (sl_graph_output_tensor (graph, 0)->bytes, ==, size);
  void *from = sl_tensor_buffer_new (size), *to = sl_tensor_buffer_new (size);
  memcpy (from, input, size);
  g_assert_cmpint (sl_session_run (session, (const void *[]){ from }, (void *[]){ to }), ==,
                   SL_STATUS_OK);
  g_assert_cmpmem (to, size, output, size);
  sl_tensor_buffer_free (from);
  sl_tensor_buffer_free (to);
}

static void
expect_types (const SlModel *model, SlDtype input, SlDtype output)
{
  const SlGraph *graph = sl_model_graph (model);
  g_assert_cmpstr (sl_dtype_name (sl_graph_input_tensor (graph, 0)->dtype), ==,
                   sl_dtype_name (input));
  g_assert_cmpstr (sl_dtype_name (sl_graph_output_tensor (graph, 0)->dtype), ==,
                   sl_dtype_name (output));
}

static void
test_edges (void)
{
  static const struct
  {
    guint dtype;
    SlDtype expected;
    const void *x, *y;
    gsize size;
  } rows[] = {
    { SL_PT2_HALF, SL_DTYPE_F16, halves, positive_halves, sizeof halves },
    { SL_PT2_DOUBLE, SL_DTYPE_F64, doubles, positive_doubles, sizeof doubles },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlModel) model = load_relu (rows[i].dtype, "1,4");
    expect_types (model, rows[i].expected, rows[i].expected);
    g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
    g_assert_no_error (error);
    expect_bytes (session, model, rows[i].x, rows[i].y, rows[i].size);
  }
}

/* No camera's picture is prepared as float64, and nothing is as bfloat16. */
static void
test_pictures (void)
{
  g_autoptr (SlModel) half = load_relu (SL_PT2_HALF, "1,3,8,8");
  g_autoptr (SlModel) twice = load_relu (SL_PT2_DOUBLE, "1,3,8,8");
  g_autoptr (SlModel) brain = load_relu (SL_PT2_BFLOAT16, "1,4");
  expect_types (half, SL_DTYPE_F16, SL_DTYPE_F16);
  expect_types (twice, SL_DTYPE_F32, SL_DTYPE_F32);
  expect_types (brain, SL_DTYPE_F32, SL_DTYPE_F32);
}

/* A running sum in 16 bits: of 2048 and 1 it is 2048 again. */
static void
test_state (void)
{
  static const guint16 first[] = { 0x6800, 0, 0x3c00, 0 }, x[] = { 0x3c00, 0x3c00, 0x3c00, 0xbc00 },
                       sums[][4] = { { 0x6800, 0x3c00, 0x4000, 0xbc00 },
                                     { 0x6800, 0x4000, 0x4200, 0xc000 } };
  for (guint in_place = 0; in_place < 2; in_place++) {
    g_autoptr (GError) error = NULL;
    SlPt2Writer *w = sl_pt2_writer_new (TRUE);
    sl_pt2_weight (w, "buffer", "b_sum", "sum");
    sl_pt2_input (w, "x", SL_PT2_HALF, "4");
    sl_pt2_state_type (w, "y", SL_PT2_HALF, "4");
    sl_pt2_storage (w, "0", SL_PT2_HALF, first, sizeof first);
    sl_pt2_tensor (w, "sum", "0", 0, 1, (const gint64[]){ 4 }, NULL);
    sl_pt2_node (w, in_place ? "torch.ops.aten.add_.Tensor" : "torch.ops.aten.add.Tensor",
                 PT2_TENSOR_ARG ("self", "b_sum") "," PT2_TENSOR_ARG ("other", "x"), "add");
    sl_pt2_node (w, "torch.ops.aten.clone.default", PT2_TENSOR_ARG ("self", "add"), "y");
    if (!in_place)
      sl_pt2_output (w, "add", "sum");
    sl_pt2_output (w, "y", NULL);
    g_autoptr (SlModel) model = load_good_pt2 (w, NULL);
    expect_types (model, SL_DTYPE_F16, SL_DTYPE_F16);
    g_assert_cmpuint (sl_graph_n_held (sl_model_graph (model)), ==, 1);
    g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
    g_assert_no_error (error);
    for (guint frame = 0; frame < G_N_ELEMENTS (sums); frame++)
      expect_bytes (session, model, x, sums[frame], sizeof x);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/pt2-types/edges", test_edges);
  g_test_add_func ("/models/pt2-types/pictures", test_pictures);
  g_test_add_func ("/models/pt2-types/state", test_state);
  return g_test_run ();
}
