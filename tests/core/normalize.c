/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layer normalisation written out in the spellings of exporters becomes one node, and gives what
 * its definition says in double precision: every instruction set and the plain kernel. */
#include <math.h>

#include "core/backends/float/isa.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define EPSILON 1e-3f
#define MOST 800

typedef enum
{
  SQUARE,
  PRODUCT,
  POWER,
  DIFFERENCE
} Square;

/* How rows are divided by the root. */
typedef enum
{
  BY_ROOT,
  BY_POWER,
  TIMES_RSQRT,
  TIMES_QUOTIENT,
  TIMES_POWER
} Root;

/** @least: what rows begin with, which has no part in their spread */
typedef struct
{
  gint32 rows, width;
  Square square;
  gboolean centered;
  Root root;
  gboolean scale, shift;
  gfloat least;
} Case;

static const Case cases[] = {
  { 1, 1, SQUARE, TRUE, TIMES_RSQRT, TRUE, TRUE, 0 },
  { 5, 7, POWER, TRUE, BY_ROOT, TRUE, TRUE, 0 },
  { 9, 16, PRODUCT, TRUE, TIMES_RSQRT, FALSE, TRUE, 0 },
  { 50, 96, SQUARE, TRUE, TIMES_RSQRT, TRUE, FALSE, 30 },
  { 3, 100, DIFFERENCE, TRUE, TIMES_RSQRT, TRUE, TRUE, 0 },
  { 64, 768, POWER, TRUE, BY_ROOT, FALSE, FALSE, 0 },
  { 7, 65, SQUARE, FALSE, TIMES_RSQRT, TRUE, FALSE, 0 },
  { 4, 40, POWER, FALSE, BY_ROOT, TRUE, TRUE, 0 },
  { 6, 33, POWER, FALSE, TIMES_QUOTIENT, TRUE, FALSE, 0 },
  { 6, 48, PRODUCT, FALSE, TIMES_POWER, TRUE, FALSE, 0 },
  { 2, 17, SQUARE, FALSE, BY_POWER, FALSE, TRUE, 0 },
  { 8, 19, DIFFERENCE, TRUE, TIMES_QUOTIENT, TRUE, TRUE, 0 },
};

static gfloat scale[MOST], shift[MOST];
static const gfloat epsilon[1] = { EPSILON }, one[1] = { 1 }, two[1] = { 2 }, half[1] = { 0.5f },
                    less[1] = { -0.5f };

static gint32
number (Check *check, const gfloat *value)
{
  return check_constant (check, SL_DTYPE_F32, 0, NULL, NULL, 0, 0, 0, value);
}

static gint32
mean_of (Check *check, gint32 x, gint32 axis)
{
  return check_float_node (check, SL_OP_MEAN, x, check_ints (check, 1, &axis),
                           &(SlOpParams){ .reduce = { TRUE } });
}

static gint32
square_of (Check *check, const Case *c, gint32 x, gint32 mean, gint32 rows)
{
  switch (c->square) {
    case SQUARE:
      return check_float_node (check, SL_OP_SQUARE, rows, -1, NULL);
    case PRODUCT:
      return check_float_node (check, SL_OP_MUL, rows, rows, NULL);
    case POWER:
      return check_float_node (check, SL_OP_POW, rows, number (check, two), NULL);
    default:
      return check_float_node (check, SL_OP_SQUARED_DIFFERENCE, x, mean, NULL);
  }
}

/* The root of @sum, or 1 by it. */
static gint32
root_of (Check *check, Root root, gint32 sum)
{
  switch (root) {
    case BY_ROOT:
      return check_float_node (check, SL_OP_SQRT, sum, -1, NULL);
    case BY_POWER:
      return check_float_node (check, SL_OP_POW, sum, number (check, half), NULL);
    case TIMES_RSQRT:
      return check_float_node (check, SL_OP_RSQRT, sum, -1, NULL);
    case TIMES_QUOTIENT:
      return check_float_node (check, SL_OP_DIV, number (check, one),
                               check_float_node (check, SL_OP_SQRT, sum, -1, NULL), NULL);
    default:
      return check_float_node (check, SL_OP_POW, sum, number (check, less), NULL);
  }
}

static void
build (Check *check, const Case *c, gint32 axis, guint32 seed)
{
  check_init (check, seed);
  const gint32 dims[3] = { 1, c->rows, c->width };
  const gint32 x = check_input (check, SL_DTYPE_F32, 3, dims, 0, 0);
  const gint32 mean = c->centered ? mean_of (check, x, axis) : -1;
  const gint32 rows = c->centered ? check_float_node (check, SL_OP_SUB, x, mean, NULL) : x;
  const gint32 sum =
    check_float_node (check, SL_OP_ADD, number (check, epsilon),
                      mean_of (check, square_of (check, c, x, mean, rows), axis), NULL);
  gint32 y = check_float_node (check, c->root <= BY_POWER ? SL_OP_DIV : SL_OP_MUL, rows,
                               root_of (check, c->root, sum), NULL);
  if (c->scale)
    y = check_float_node (check, SL_OP_MUL,
                          check_constant (check, SL_DTYPE_F32, 1, &c->width, NULL, 0, 0, 0, scale),
                          y, NULL);
  if (c->shift)
    y = check_float_node (check, SL_OP_ADD, y,
                          check_constant (check, SL_DTYPE_F32, 1, &c->width, NULL, 0, 0, 0, shift),
                          NULL);
  check_node (check, SL_OP_ABS, &y, 1, check_output (check, SL_DTYPE_F32, 0, 0), NULL);
  check_prepare (check);
  gfloat *data = check->input_data[0];
  for (gint32 i = 0; i < c->rows * c->width; i++)
    data[i] += c->least;
}

static double *
expected_of (const Case *c, const gfloat *x)
{
  double *y = g_new (double, c->rows * c->width);
  for (gint32 r = 0; r < c->rows; r++) {
    const gfloat *row = x + r * c->width;
    double mean = 0, square = 0;
    for (gint32 i = 0; c->centered && i < c->width; i++)
      mean += (double) row[i] / c->width;
    for (gint32 i = 0; i < c->width; i++)
      square += ((double) row[i] - mean) * ((double) row[i] - mean) / c->width;
    for (gint32 i = 0; i < c->width; i++) {
      const double value = ((double) row[i] - mean) / sqrt (square + (double) EPSILON);
      y[r * c->width + i] =
        fabs (value * (c->scale ? (double) scale[i] : 1) + (c->shift ? (double) shift[i] : 0));
    }
  }
  return y;
}

static void
test_spellings (void)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n = sl_float_isas (isas);
  for (guint i = 0; i < MOST; i++) {
    scale[i] = (gfloat) (i % 13) / 4 - 1;
    shift[i] = (gfloat) (i % 7) / 8;
  }
  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    Check check;
    build (&check, &cases[k], -1, k);
    g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, 2);
    g_assert_cmpint (sl_graph_node (check.graph, 0)->op, ==, SL_OP_NORMALIZE);
    g_autofree double *expected = expected_of (&cases[k], check.input_data[0]);
    for (guint i = 0; i < n; i++) {
      sl_float_isa_force (isas[i]);
      check_expect (&check, expected, 1e-5, 1e-5);
    }
    sl_float_isa_force (NULL);
    check_clear (&check);
  }
}

/* Between codes: a row's mean and spread are no function of one of them. */
static void
test_codes (void)
{
  const gint32 dims[2] = { 6, 20 };
  Check check;
  gfloat x[120];
  check_init (&check, 11);
  const gint32 codes = check_input (&check, SL_DTYPE_U8, 2, dims, 0.01f, 120);
  const gint32 real = check_float_node (&check, SL_OP_DEQUANTIZE, codes, -1, NULL);
  const gint32 rows = check_float_node (&check, SL_OP_SUB, real, mean_of (&check, real, -1), NULL);
  const gint32 least = check_constant (&check, SL_DTYPE_F32, 0, NULL, NULL, 0, 0, 0, epsilon);
  const gint32 sum = check_float_node (
    &check, SL_OP_ADD, least,
    mean_of (&check, check_float_node (&check, SL_OP_SQUARE, rows, -1, NULL), -1), NULL);
  gint32 y = check_float_node (&check, SL_OP_MUL, rows,
                               check_float_node (&check, SL_OP_RSQRT, sum, -1, NULL), NULL);
  y = check_float_node (&check, SL_OP_ABS, y, -1, NULL);
  check_node (&check, SL_OP_QUANTIZE, &y, 1, check_output (&check, SL_DTYPE_U8, 0.02f, 0), NULL);
  check_prepare (&check);
  for (guint i = 0; i < G_N_ELEMENTS (x); i++)
    x[i] = (gfloat) check_real (sl_graph_input_tensor (check.graph, 0), check.input_data[0], i);
  const Case c = { 6, 20, SQUARE, TRUE, TIMES_RSQRT, FALSE, FALSE, 0 };
  g_autofree double *expected = expected_of (&c, x);
  check_expect (&check, expected, 0.51, 0.51);
  check_clear (&check);
}

/* Along another dimension it stays as it is. */
static void
test_other_axis (void)
{
  Check check;
  build (&check, &cases[4], 1, 3);
  for (guint i = 0; i < sl_graph_n_nodes (check.graph); i++)
    g_assert_cmpint (sl_graph_node (check.graph, i)->op, !=, SL_OP_NORMALIZE);
  check_clear (&check);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/normalize/spellings", test_spellings);
  g_test_add_func ("/core/normalize/codes", test_codes);
  g_test_add_func ("/core/normalize/other-axis", test_other_axis);
  return g_test_run ();
}
