/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions of floats by plain kernels, and of what was transposed before. */
#include <math.h>

#include "tests/core/opcheck.h"
#include "tests/support/program.h"

/* Sums of what was transposed: along the dimensions before it. */
static void
test_sunk_transpose (gconstpointer data)
{
  const gboolean keeps = GPOINTER_TO_INT (data);
  const gint32 dims[4] = { 2, 3, 4, 5 }, order[4] = { 3, 0, -2, 1 }, axes[2] = { 1, -2 };
  Check check;
  gint32 in[2], turned, y;
  double expected[15] = { 0 };
  check_init (&check, 8);
  in[0] = check_input (&check, SL_DTYPE_F32, 4, dims, 0, 0);
  in[1] = check_ints (&check, 4, order);
  turned = check_middle (&check, SL_DTYPE_F32, 0, 0);
  check_node (&check, SL_OP_TRANSPOSE, in, 2, turned, NULL);
  in[0] = turned; /* [5,2,4,3] */
  in[1] = check_ints (&check, 2, axes);
  y = check_output (&check, SL_DTYPE_F32, 0, 0);
  check_node (&check, SL_OP_SUM, in, 2, y, &(SlOpParams){ .reduce = { keeps } });
  check_prepare (&check);
  g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, 2);
  g_assert_cmpint (sl_graph_node (check.graph, 0)->op, ==, SL_OP_SUM);
  const SlTensor *output = sl_graph_output_tensor (check.graph, 0);
  g_assert_cmpuint (output->rank, ==, keeps ? 4 : 2);
  g_assert_cmpint (output->dims[0], ==, 5);
  g_assert_cmpint (output->dims[output->rank - 1], ==, 3);
  for (guint i = 0; i < 120; i++)
    expected[i % 5 * 3 + i / 20 % 3] += (double) ((const gfloat *) check.input_data[0])[i];
  check_expect (&check, expected, 1e-5, 1e-5);
  check_clear (&check);
}

/* The largest and the least of rows, and NaN where one is. */
static void
test_extremes (gconstpointer data)
{
  const SlOpType op = GPOINTER_TO_INT (data);
  const gint32 dims[2] = { 4, 9 }, axis = 1;
  Check check;
  gint32 in[2];
  check_init (&check, 9);
  in[0] = check_input (&check, SL_DTYPE_F32, 2, dims, 0, 0);
  in[1] = check_ints (&check, 1, &axis);
  check_node (&check, op, in, 2, check_output (&check, SL_DTYPE_F32, 0, 0),
              &(SlOpParams){ .reduce = { FALSE } });
  check_prepare (&check);
  gfloat *x = check.input_data[0];
  x[9] = NAN;
  x[26] = NAN;
  gfloat *out = check_run (&check, TRUE, 1);
  for (guint r = 0; r < 4; r++) {
    gfloat most = x[r * 9];
    for (guint i = 1; i < 9; i++)
      most = op == SL_OP_REDUCE_MAX ? fmaxf (most, x[r * 9 + i]) : fminf (most, x[r * 9 + i]);
    if (r == 1 || r == 2)
      g_assert_true (isnan (out[r]));
    else
      g_assert_cmpfloat (out[r], ==, most);
  }
  sl_tensor_buffer_free (out);
  check_clear (&check);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/reductions/sunk-transpose", GINT_TO_POINTER (FALSE), test_sunk_transpose);
  g_test_add_data_func ("/reductions/sunk-transpose-kept", GINT_TO_POINTER (TRUE),
                        test_sunk_transpose);
  g_test_add_data_func ("/reductions/largest", GINT_TO_POINTER (SL_OP_REDUCE_MAX), test_extremes);
  g_test_add_data_func ("/reductions/least", GINT_TO_POINTER (SL_OP_REDUCE_MIN), test_extremes);
  return g_test_run ();
}
