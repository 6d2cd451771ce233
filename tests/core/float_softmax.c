/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Softmax of rows of floats, against sums in double precision: every instruction set, short and
 * long rows, one thread and two. */
#include <math.h>
#include <string.h>

#include "core/backends/float/float_layers.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

/* Of a result, and of all of them. */
#define RELATIVE 1e-5
#define ABSOLUTE 1e-37

static const gsize lengths[] = { 1,  2,  3,  4,  5,  7,  8,  15,  16,  17,
                                 21, 31, 32, 33, 48, 63, 80, 197, 1000 };
static const gsize counts[] = { 1, 2, 15, 16, 33, 63, 64, 65, 131 };

static void
expect_row (const gchar *who, const gfloat *in, const gfloat *out, gsize n, gfloat beta)
{
  gdouble highest = -INFINITY, sum = 0;
  for (gsize i = 0; i < n; i++)
    highest = MAX (highest, (gdouble) in[i]);
  for (gsize i = 0; i < n; i++)
    sum += exp (((gdouble) in[i] - highest) * (gdouble) beta);
  for (gsize i = 0; i < n; i++) {
    const gdouble wanted = exp (((gdouble) in[i] - highest) * (gdouble) beta) / sum;
    if (!(fabs ((gdouble) out[i] - wanted) <= RELATIVE * wanted + ABSOLUTE))
      g_error ("%s, value %" G_GSIZE_FORMAT " of a row of %" G_GSIZE_FORMAT
               ", %.9g, is %.9g, expected %.9g",
               who, i, n, (gdouble) in[i], (gdouble) out[i], wanted);
  }
}

static void
test_rows (void)
{
  static const gfloat spans[] = { 0.01f, 3, 25 };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  for (guint l = 0; l < G_N_ELEMENTS (lengths); l++)
    for (guint c = 0; c < G_N_ELEMENTS (counts); c++) {
      const gsize n = lengths[l], all = n * counts[c];
      const gfloat span = spans[(l + c) % G_N_ELEMENTS (spans)], beta = c % 2 == 0 ? 1 : 0.7f;
      g_autofree gfloat *in = g_new (gfloat, all), *out = g_new (gfloat, all + 1);
      for (gsize i = 0; i < all; i++)
        in[i] = (gfloat) g_rand_double_range (rand, (gdouble) -span, (gdouble) span) + 100;
      if (n > 2)
        in[1] = -INFINITY;
      for (guint k = 0; k < n_isas; k++) {
        out[all] = 42;
        isas[k]->softmax (beta, in, out, n, counts[c]);
        for (gsize r = 0; r < counts[c]; r++)
          expect_row (isas[k]->name, in + r * n, out + r * n, n, beta);
        if (n > 2)
          g_assert_cmpfloat ((gdouble) out[1], ==, 0);
        g_assert_cmpfloat ((gdouble) out[all], ==, 42); /* it belongs to another thread */
        memcpy (out, in, all * sizeof in[0]);
        isas[k]->softmax (beta, out, out, n, counts[c]);
        for (gsize r = 0; r < counts[c]; r++)
          expect_row (isas[k]->name, in + r * n, out + r * n, n, beta);
      }
    }
}

/* A NaN makes its own row NaN, and no other row; nor do numbers that are far apart. */
static void
test_ends (void)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint k = 0; k < n_isas; k++)
    for (guint l = 1; l < G_N_ELEMENTS (lengths); l++)
      for (guint kind = 0; kind < 4; kind++) {
        const gsize n = lengths[l];
        gfloat rows[3000], out[3000];
        for (gsize i = 0; i < 3 * n; i++)
          rows[i] = (gfloat) (i % 5);
        for (gsize i = 0; i < n; i++)
          rows[n + i] = kind == 2 ? -INFINITY : kind == 3 ? -3e38f : rows[n + i];
        if (kind != 2)
          rows[2 * n - 1] = kind == 0 ? NAN : kind == 1 ? INFINITY : 3e38f;
        isas[k]->softmax (1, rows, out, n, 3);
        for (gsize i = 0; i < n; i++)
          if (kind == 3)
            g_assert_cmpfloat_with_epsilon ((gdouble) out[n + i], i + 1 == n ? 1 : 0, RELATIVE);
          else
            g_assert_true (isnan (out[n + i]));
        expect_row (isas[k]->name, rows, out, n, 1);
        expect_row (isas[k]->name, rows + 2 * n, out + 2 * n, n, 1);
      }
}

/* A model's, whose result is the same for any number of threads. */
static void
test_model (void)
{
  static const gint32 shapes[][3] = {
    { 1, 4420, 2 }, { 2, 5, 7 }, { 1, 3000, 21 }, { 3, 40, 1000 }, { 1, 1, 5 }
  };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint k = 0; k < n_isas; k++) {
    sl_float_isa_force (isas[k]);
    for (guint s = 0; s < G_N_ELEMENTS (shapes); s++) {
      Check check;
      gfloat *first = NULL;
      check_init (&check, s);
      const gint32 x = check_input (&check, SL_DTYPE_F32, 3, shapes[s], 0, 0);
      check_node (&check, SL_OP_SOFTMAX, &x, 1, check_output (&check, SL_DTYPE_F32, 0, 0),
                  &(SlOpParams){ .softmax = { .beta = 1 } });
      check_prepare (&check);
      g_assert_true (sl_float_supports (check.graph, sl_graph_node (check.graph, 0)));
      const gsize rows = (gsize) shapes[s][0] * (gsize) shapes[s][1], n = (gsize) shapes[s][2];
      for (guint threads = 1; threads <= 3; threads++) {
        gfloat *out = check_run (&check, FALSE, threads);
        for (gsize r = 0; r < rows; r++)
          expect_row (isas[k]->name, (const gfloat *) check.input_data[0] + r * n, out + r * n, n,
                      1);
        if (first == NULL)
          first = out;
        else {
          g_assert_cmpmem (first, rows * n * sizeof (gfloat), out, rows * n * sizeof (gfloat));
          sl_tensor_buffer_free (out);
        }
      }
      sl_tensor_buffer_free (first);
      check_clear (&check);
    }
  }
  sl_float_isa_force (NULL);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/float_softmax/rows", test_rows);
  g_test_add_func ("/float_softmax/ends", test_ends);
  g_test_add_func ("/float_softmax/model", test_model);
  return g_test_run ();
}
