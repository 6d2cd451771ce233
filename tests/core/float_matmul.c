/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products of matrices, both variable or one constant, by float kernels, against sums in double
 * precision: every instruction set, one thread and two. */
#include <math.h>

#include "core/backends/float/float_layers.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

/** @shared: one second matrix for all of the first ones. */
typedef struct
{
  gint32 batch, heads, rows, depth, columns;
  gboolean by_column, shared;
} Case;

static const Case cases[] = {
  { 1, 1, 2, 1, 1, FALSE, FALSE },       { 1, 1, 7, 5, 3, TRUE, FALSE },
  { 2, 3, 49, 32, 49, TRUE, FALSE },     { 2, 3, 49, 49, 32, FALSE, FALSE },
  { 3, 2, 9, 17, 50, FALSE, TRUE },      { 1, 1, 197, 64, 197, TRUE, TRUE },
  { 1, 2, 33, 4096, 49, TRUE, FALSE },   { 2, 1, 100, 300, 97, FALSE, TRUE },
  { 1, 1, 3, 4097, 5, FALSE, FALSE },    { 1, 1, 1, 40, 60, TRUE, FALSE },
  { 1, 1, 2, 1, 1500000, FALSE, FALSE },
};

static gfloat *
random_floats (const gint32 *dims, guint rank, guint32 seed)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  gsize n = 1;
  for (guint i = 0; i < rank; i++)
    n *= (gsize) dims[i];
  gfloat *numbers = sl_tensor_buffer_new (n * sizeof *numbers);
  for (gsize i = 0; i < n; i++)
    numbers[i] = (gfloat) g_rand_double_range (random, -1, 1);
  return numbers;
}

/* @constant: which of the two is a constant, 2 = none. */
static void
check_case (const Case *c, guint32 seed, guint constant)
{
  const gint32 a_dims[4] = { c->batch, c->heads, c->rows, c->depth };
  const gint32 b_dims[4] = { c->batch, c->shared ? 1 : c->heads,
                             c->by_column ? c->columns : c->depth,
                             c->by_column ? c->depth : c->columns };
  Check check;
  check_init (&check, seed);
  gfloat *fixed = random_floats (constant == 0 ? a_dims : b_dims, constant == 2 ? 0 : 4, seed);
  gint32 inputs[2];
  for (guint i = 0; i < 2; i++)
    inputs[i] =
      i == constant
        ? check_constant (&check, SL_DTYPE_F32, 4, i == 0 ? a_dims : b_dims, NULL, 0, 0, 0, fixed)
        : check_input (&check, SL_DTYPE_F32, 4, i == 0 ? a_dims : b_dims, 0, 0);
  const gint32 y = check_output (&check, SL_DTYPE_F32, 0, 0);
  check_node (&check, SL_OP_BATCH_MATMUL, inputs, 2, y,
              &(SlOpParams){ .matmul = { .transpose_b = c->by_column } });
  check_prepare (&check);
  g_assert_cmpint (sl_float_matmul_supports (check.graph, sl_graph_node (check.graph, 0)), ==,
                   c->rows > 1 && c->depth <= 4096);
  const gfloat *a = constant == 0 ? fixed : check.input_data[0],
               *b = constant == 1 ? fixed : check.input_data[constant == 0 ? 0 : 1];
  for (guint threads = 1; threads <= 2; threads++) {
    gfloat *out = check_run (&check, FALSE, threads);
    for (gint32 i = 0; i < c->batch * c->heads * c->rows * c->columns; i++) {
      const gint32 matrix = i / c->columns / c->rows, row = i / c->columns, column = i % c->columns;
      const gint32 second = (c->shared ? matrix / c->heads : matrix) * c->depth * c->columns;
      double sum = 0, size = 0;
      for (gint32 k = 0; k < c->depth; k++) {
        const double product =
          (double) a[row * c->depth + k]
          * (double) b[second + (c->by_column ? column * c->depth + k : k * c->columns + column)];
        sum += product;
        size += fabs (product);
      }
      g_assert_cmpfloat (fabs ((double) out[i] - sum), <=, 1e-5 * size);
    }
    sl_tensor_buffer_free (out);
  }
  check_clear (&check);
  sl_tensor_buffer_free (fixed);
}

static void
test_cases (void)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n = sl_float_isas (isas);
  for (guint i = 0; i < n; i++) {
    g_test_message ("%s", isas[i]->name);
    sl_float_isa_force (isas[i]);
    for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
      for (guint constant = 0; constant <= 2; constant++)
        check_case (&cases[k], k, constant);
  }
  sl_float_isa_force (NULL);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/float-matmul", test_cases);
  return g_test_run ();
}
