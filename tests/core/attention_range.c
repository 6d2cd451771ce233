/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attention without masks whose scores are near 0, far from it, and so far that floats hold no
 * parts of one there: every instruction set against double precision. Scores are multiples of
 * powers of two, so that sums of floats are exact. */
#include <math.h>

#include "core/backends/float/isa.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

/* Several blocks of keys; neither keys nor depth are whole registers. */
#define KEYS 701
#define DEPTH 41
#define ROWS_A_SIZE 8
#define BOUND 1e-5

static const gfloat sizes[] = { 0.5f, 4, 64, 16384, 1048576 };
#define QUERIES ((gint32) G_N_ELEMENTS (sizes) * ROWS_A_SIZE)

static void
fill (Check *check)
{
  gfloat *q = check->input_data[0], *k = check->input_data[1];
  for (gint32 i = 0; i < QUERIES * DEPTH; i++)
    q[i] = (gfloat) (i * 5 % 7 - 3) * sizes[i / DEPTH / ROWS_A_SIZE];
  for (gint32 i = 0; i < KEYS * DEPTH; i++)
    k[i] = (gfloat) ((i / DEPTH * 11 + i * 3 % 13) % 7 - 3) / 8;
}

static void
build (Check *check)
{
  check_init (check, 9);
  const gint32 q = check_input (check, SL_DTYPE_F32, 2, (gint32[]){ QUERIES, DEPTH }, 0, 0),
               k = check_input (check, SL_DTYPE_F32, 2, (gint32[]){ KEYS, DEPTH }, 0, 0),
               v = check_input (check, SL_DTYPE_F32, 2, (gint32[]){ KEYS, DEPTH }, 0, 0),
               scores = check_float_node (check, SL_OP_BATCH_MATMUL, q, k,
                                          &(SlOpParams){ .matmul = { .transpose_b = TRUE } }),
               shares = check_float_node (check, SL_OP_SOFTMAX, scores, -1,
                                          &(SlOpParams){ .softmax = { 1 } }),
               y = check_output (check, SL_DTYPE_F32, 0, 0);
  check_node (check, SL_OP_BATCH_MATMUL, (gint32[]){ shares, v }, 2, y, &(SlOpParams){ 0 });
  check_prepare (check);
  g_assert_cmpuint (sl_graph_n_nodes (check->graph), ==, 1);
  g_assert_cmpint (sl_graph_node (check->graph, 0)->op, ==, SL_OP_ATTENTION);
  fill (check);
}

static void
expected_row (const Check *check, gint32 row, double *y, double *size)
{
  const gfloat *q = check->input_data[0], *k = check->input_data[1], *v = check->input_data[2];
  double scores[KEYS], highest = -INFINITY, sum = 0;
  for (gint32 key = 0; key < KEYS; key++) {
    scores[key] = 0;
    for (gint32 d = 0; d < DEPTH; d++)
      scores[key] += (double) q[row * DEPTH + d] * (double) k[key * DEPTH + d];
    highest = fmax (highest, scores[key]);
  }
  for (gint32 key = 0; key < KEYS; key++)
    sum += exp (scores[key] - highest);
  for (gint32 d = 0; d < DEPTH; d++) {
    y[d] = size[d] = 0;
    for (gint32 key = 0; key < KEYS; key++) {
      const double part = exp (scores[key] - highest) / sum * (double) v[key * DEPTH + d];
      y[d] += part;
      size[d] += fabs (part);
    }
  }
}

static void
compare (const Check *check, const gfloat *got)
{
  double y[DEPTH], size[DEPTH];
  for (gint32 row = 0; row < QUERIES; row++) {
    expected_row (check, row, y, size);
    for (gint32 d = 0; d < DEPTH; d++)
      if (!(fabs ((double) got[row * DEPTH + d] - y[d]) <= BOUND * fmax (1, size[d])))
        g_error ("%s: query %d, channel %d: %.9g, expected %.9g", sl_float_isa ()->name, row, d,
                 (double) got[row * DEPTH + d], y[d]);
  }
}

static void
test_range (void)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n = sl_float_isas (isas);
  Check check;
  build (&check);
  for (guint i = 0; i < n; i++) {
    sl_float_isa_force (isas[i]);
    gfloat *out = check_run (&check, FALSE, 1 + i % 2);
    compare (&check, out);
    sl_tensor_buffer_free (out);
  }
  sl_float_isa_force (NULL);
  check_clear (&check);
}

/* A query with NaN spoils its own row alone, beside queries whose scores are near 0. */
static void
test_nan (void)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n = sl_float_isas (isas);
  Check check;
  build (&check);
  ((gfloat *) check.input_data[0])[2 * DEPTH + 40] = NAN;
  for (guint i = 0; i < n; i++) {
    sl_float_isa_force (isas[i]);
    gfloat *out = check_run (&check, FALSE, 1);
    for (gint32 k = 0; k < QUERIES * DEPTH; k++)
      g_assert_cmpint (isnan (out[k]) != 0, ==, k / DEPTH == 2);
    sl_tensor_buffer_free (out);
  }
  sl_float_isa_force (NULL);
  check_clear (&check);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/attention_range/sizes", test_range);
  g_test_add_func ("/core/attention_range/nan", test_nan);
  return g_test_run ();
}
