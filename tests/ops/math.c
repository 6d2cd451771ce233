/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators, comparisons, reductions and casts against double-precision maths. */
#include <math.h>
#include <string.h>

#include "tests/ops/opmodel.h"
#include "tests/support/program.h"

typedef double (*Function) (double x);

static double
leaky (double x)
{
  return x < 0 ? x * (double) 0.1f : x;
}

static double
elu (double x)
{
  return x < 0 ? expm1 (x) : x;
}

static double
gelu (double x)
{
  return 0.5 * x * (1 + erf (x / sqrt (2.0)));
}

static double
gelu_tanh (double x)
{
  return 0.5 * x * (1 + tanh (sqrt (2 / G_PI) * (x + 0.044715 * x * x * x)));
}

static double
hard_swish (double x)
{
  return x * fmin (fmax (x + 3, 0), 6) / 6;
}

static double
negative (double x)
{
  return -x;
}

static double
sign (double x)
{
  return (x > 0) - (x < 0);
}

static double
inverse_root (double x)
{
  return 1 / sqrt (x);
}

static double
square (double x)
{
  return x * x;
}

static double
unit (double x)
{
  return fmin (fmax (x, -1), 1);
}

static double
zero_one (double x)
{
  return fmin (fmax (x, 0), 1);
}

static const struct
{
  SlOpType op;
  Function function;
  SlOpParams params;
  gboolean positive, floats_only;
} unaries[] = {
  { SL_OP_LEAKY_RELU, leaky, { .leaky_relu = { 0.1f } }, FALSE, FALSE },
  { SL_OP_ELU, elu, { { 0 } }, FALSE, FALSE },
  { SL_OP_GELU, gelu, { .gelu = { FALSE } }, FALSE, FALSE },
  { SL_OP_GELU, gelu_tanh, { .gelu = { TRUE } }, FALSE, FALSE },
  { SL_OP_HARD_SWISH, hard_swish, { { 0 } }, FALSE, FALSE },
  { SL_OP_TANH, tanh, { { 0 } }, FALSE, FALSE },
  { SL_OP_ABS, fabs, { { 0 } }, FALSE, FALSE },
  { SL_OP_NEG, negative, { { 0 } }, FALSE, FALSE },
  { SL_OP_SIGN, sign, { { 0 } }, FALSE, FALSE },
  { SL_OP_FLOOR, floor, { { 0 } }, FALSE, TRUE },
  { SL_OP_CEIL, ceil, { { 0 } }, FALSE, TRUE },
  { SL_OP_ROUND, rint, { { 0 } }, FALSE, TRUE },
  { SL_OP_EXP, exp, { { 0 } }, FALSE, FALSE },
  { SL_OP_LOG, log, { { 0 } }, TRUE, FALSE },
  { SL_OP_SQRT, sqrt, { { 0 } }, TRUE, FALSE },
  { SL_OP_RSQRT, inverse_root, { { 0 } }, TRUE, TRUE },
  { SL_OP_SQUARE, square, { { 0 } }, FALSE, FALSE },
  { SL_OP_SIN, sin, { { 0 } }, FALSE, FALSE },
  { SL_OP_COS, cos, { { 0 } }, FALSE, FALSE },
  { SL_OP_RELU_N1_TO_1, unit, { { 0 } }, FALSE, FALSE },
  { SL_OP_RELU_0_TO_1, zero_one, { { 0 } }, FALSE, FALSE },
};

static void
run_unary (guint i, SlDtype dtype)
{
  const gboolean codes = dtype != SL_DTYPE_F32;
  const gfloat scale = dtype == SL_DTYPE_I16 ? 1e-4f : 0.02f;
  const gint32 zero = dtype == SL_DTYPE_U8 ? 120 : dtype == SL_DTYPE_I8 ? 3 : 0;
  OpModel m;
  double expected[7 * 41];
  om_init (&m, unaries[i].op, &unaries[i].params, i);
  om_input (&m, dtype, 2, DIMS (7, 41), codes ? scale : 0,
            unaries[i].positive && codes ? (dtype == SL_DTYPE_I8 ? -128 : 0) : zero);
  om_output (&m, dtype, 2, DIMS (7, 41), codes ? scale : 0, zero);
  for (gsize k = 0; k < G_N_ELEMENTS (expected); k++) {
    if (unaries[i].positive && dtype == SL_DTYPE_F32)
      ((gfloat *) m.data[0])[k] = fabsf (((gfloat *) m.data[0])[k]) + 0.01f;
    else if (unaries[i].positive && dtype == SL_DTYPE_I16)
      ((gint16 *) m.data[0])[k] = (gint16) (((gint16 *) m.data[0])[k] | 1) & 0x7fff;
    else if (unaries[i].positive)
      ((guint8 *) m.data[0])[k] =
        dtype == SL_DTYPE_U8 ? ((guint8 *) m.data[0])[k] | 1 : ((guint8 *) m.data[0])[k] & 0xfe;
    const double x = om_real (&m, 0, k);
    expected[k] = unaries[i].function (unaries[i].positive ? fmax (x, 0.01) : x);
    if (unaries[i].positive && x < 0.01)
      expected[k] = unaries[i].function (x);
  }
  /* A table rounds once; single precision may round the last bit differently. Fixed point of 8
   * bits, in fixedpoint_tables.c, is coarser. */
  const gboolean coarse =
    dtype != SL_DTYPE_I16
    && (unaries[i].op == SL_OP_HARD_SWISH || unaries[i].op == SL_OP_LEAKY_RELU);
  om_expect (&m, 0, expected, !codes ? 4e-6 : coarse ? 1.01 : 0.51);
  om_clear (&m);
}

static void
test_unary (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (unaries); i++) {
    run_unary (i, SL_DTYPE_F32);
    if (unaries[i].floats_only)
      continue;
    run_unary (i, SL_DTYPE_I8);
    run_unary (i, SL_DTYPE_U8);
    run_unary (i, SL_DTYPE_I16);
  }
}

static double
binary_value (SlOpType op, double a, double b)
{
  switch (op) {
    case SL_OP_ADD:
      return a + b;
    case SL_OP_SUB:
      return a - b;
    case SL_OP_MUL:
      return a * b;
    case SL_OP_DIV:
      return a / b;
    case SL_OP_MAXIMUM:
      return fmax (a, b);
    case SL_OP_MINIMUM:
      return fmin (a, b);
    case SL_OP_SQUARED_DIFFERENCE:
      return (a - b) * (a - b);
    case SL_OP_POW:
      return pow (a, b);
    case SL_OP_FLOOR_DIV:
      return floor (a / b);
    case SL_OP_FLOOR_MOD:
      return a - floor (a / b) * b;
    case SL_OP_BITWISE_XOR:
      return (double) ((gint64) a ^ (gint64) b);
    case SL_OP_ATAN2:
      return atan2 (a, b);
    case SL_OP_PRELU:
      return a < 0 ? a * b : a;
    case SL_OP_EQUAL:
      return a == b;
    case SL_OP_NOT_EQUAL:
      return a != b;
    case SL_OP_LESS:
      return a < b;
    case SL_OP_LESS_EQUAL:
      return a <= b;
    case SL_OP_GREATER:
      return a > b;
    case SL_OP_GREATER_EQUAL:
      return a >= b;
    case SL_OP_LOGICAL_AND:
      return a != 0 && b != 0;
    default:
      return a != 0 || b != 0;
  }
}

/* Makes second operands that are divided by, or exponents, harmless. */
static void
tame (OpModel *m, SlOpType op, guint input)
{
  const SlTfliteTensor *t = &m->in[input];
  const gboolean divides = op == SL_OP_DIV || op == SL_OP_FLOOR_DIV || op == SL_OP_FLOOR_MOD;
  for (gsize i = 0; i < om_elements (t) && (divides || op == SL_OP_POW); i++) {
    if (t->dtype == SL_DTYPE_F32) {
      gfloat *x = (gfloat *) m->data[input] + i;
      *x = op == SL_OP_POW ? fabsf (*x) + 0.1f : *x < 0 ? *x - 0.3f : *x + 0.3f;
    } else if (t->dtype == SL_DTYPE_I32) {
      gint32 *x = (gint32 *) m->data[input] + i;
      *x = op == SL_OP_POW ? ABS (*x) % 4 : *x == 0 ? -7 : *x;
    } else if (t->dtype == SL_DTYPE_I64) {
      gint64 *x = (gint64 *) m->data[input] + i;
      *x = op == SL_OP_POW ? ABS (*x) % 4 : *x == 0 ? -7 : *x;
    } else {
      ((guint8 *) m->data[input])[i] = (guint8) (((guint8 *) m->data[input])[i] & 63) + 64;
    }
  }
}

/* Of two operands. */
#define SHAPES 6

static void
run_binary (SlOpType op, SlDtype dtype, guint shape, double tolerance)
{
  static const gint32 shapes[][9] = { { 1, 3, 5, 7, 1, 3, 5, 7, 0 },  { 2, 3, 5, 7, 1, 1, 1, 7, 0 },
                                      { 2, 3, 5, 1, 2, 1, 1, 6, 0 },  { 1, 1, 1, 1, 2, 3, 4, 5, 0 },
                                      { 2, 5, 48, 2, 2, 5, 1, 2, 0 }, /* one vector an image */
                                      { 3, 1, 1, 6, 3, 7, 9, 6, 0 } };
  G_STATIC_ASSERT (G_N_ELEMENTS (shapes) == SHAPES);
  const gint32 *a = shapes[shape], *b = shapes[shape] + 4;
  const gboolean codes = dtype == SL_DTYPE_I8 || dtype == SL_DTYPE_U8,
                 compares = op >= SL_OP_EQUAL && op <= SL_OP_LOGICAL_OR;
  gint32 y[4];
  OpModel m;
  for (guint i = 0; i < 4; i++)
    y[i] = MAX (a[i], b[i]);
  om_init (&m, op, NULL, (guint32) op + shape);
  om_input (&m, dtype, 4, a, codes ? 0.03f : 0, codes ? 12 : 0);
  om_input (&m, dtype, 4, b, codes ? 0.021f : 0, codes ? 20 : 0);
  om_output (&m, compares ? SL_DTYPE_BOOL : dtype, 4, y, codes && !compares ? 0.07f : 0,
             codes && !compares ? 5 : 0);
  if (op == SL_OP_POW)
    tame (&m, op, 0);
  tame (&m, op, 1);
  g_autofree double *expected = g_new (double, om_elements (&m.out[0]));
  for (gsize i = 0; i < om_elements (&m.out[0]); i++) {
    gint32 p[4], pa[4], pb[4];
    om_place (&m.out[0], i, p);
    for (guint k = 0; k < 4; k++) {
      pa[k] = a[k] == 1 ? 0 : p[k];
      pb[k] = b[k] == 1 ? 0 : p[k];
    }
    expected[i] = binary_value (op, om_real (&m, 0, om_at (&m.in[0], pa)),
                                om_real (&m, 1, om_at (&m.in[1], pb)));
  }
  om_expect (&m, 0, expected, tolerance);
  om_clear (&m);
}

static void
test_binary (void)
{
  static const SlOpType ops[] = { SL_OP_ADD,
                                  SL_OP_SUB,
                                  SL_OP_MUL,
                                  SL_OP_DIV,
                                  SL_OP_MAXIMUM,
                                  SL_OP_MINIMUM,
                                  SL_OP_SQUARED_DIFFERENCE,
                                  SL_OP_POW,
                                  SL_OP_FLOOR_DIV,
                                  SL_OP_FLOOR_MOD };
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    for (guint shape = 0; shape < SHAPES; shape++) {
      const gboolean floors = ops[i] == SL_OP_FLOOR_DIV || ops[i] == SL_OP_FLOOR_MOD;
      if (!floors) /* a quotient at a whole number may fall to either side in single precision */
        run_binary (ops[i], SL_DTYPE_F32, shape, 1e-5);
      if (ops[i] != SL_OP_DIV) {
        run_binary (ops[i], SL_DTYPE_I32, shape, 0);
        run_binary (ops[i], SL_DTYPE_I64, shape, 0);
      }
      if (!floors && ops[i] != SL_OP_POW) {
        run_binary (ops[i], SL_DTYPE_I8, shape, 1.01);
        run_binary (ops[i], SL_DTYPE_U8, shape, 1.01);
      }
    }
  for (guint shape = 0; shape < 2; shape++)
    run_binary (SL_OP_PRELU, SL_DTYPE_F32, shape, 1e-6);
  for (guint shape = 0; shape < SHAPES; shape++)
    run_binary (SL_OP_ATAN2, SL_DTYPE_F32, shape, 1e-6);
  for (guint shape = 0; shape < SHAPES; shape++) {
    run_binary (SL_OP_BITWISE_XOR, SL_DTYPE_I32, shape, 0);
    run_binary (SL_OP_BITWISE_XOR, SL_DTYPE_I64, shape, 0);
  }
}

static void
test_compare (void)
{
  for (SlOpType op = SL_OP_EQUAL; op <= SL_OP_GREATER_EQUAL; op++)
    for (guint shape = 0; shape < SHAPES; shape++) {
      run_binary (op, SL_DTYPE_F32, shape, 0);
      run_binary (op, SL_DTYPE_I32, shape, 0);
      run_binary (op, SL_DTYPE_I64, shape, 0);
      run_binary (op, SL_DTYPE_U8, shape, 0);
      run_binary (op, SL_DTYPE_I8, shape, 0);
    }
  for (guint shape = 0; shape < SHAPES; shape++) {
    run_binary (SL_OP_LOGICAL_AND, SL_DTYPE_BOOL, shape, 0);
    run_binary (SL_OP_LOGICAL_OR, SL_DTYPE_BOOL, shape, 0);
  }
  OpModel m;
  double expected[30];
  om_init (&m, SL_OP_LOGICAL_NOT, NULL, 4);
  om_input (&m, SL_DTYPE_BOOL, 1, DIMS (30), 0, 0);
  om_output (&m, SL_DTYPE_BOOL, 1, DIMS (30), 0, 0);
  for (gsize i = 0; i < 30; i++)
    expected[i] = om_real (&m, 0, i) == 0;
  om_expect (&m, 0, expected, 0);
  om_clear (&m);
}

static void
test_select (void)
{
  OpModel m;
  double expected[24];
  om_init (&m, SL_OP_SELECT, NULL, 9);
  om_input (&m, SL_DTYPE_BOOL, 2, DIMS (4, 1), 0, 0);
  om_input (&m, SL_DTYPE_F32, 2, DIMS (4, 6), 0, 0);
  om_input (&m, SL_DTYPE_F32, 1, DIMS (6), 0, 0);
  om_output (&m, SL_DTYPE_F32, 2, DIMS (4, 6), 0, 0);
  for (gsize i = 0; i < 24; i++)
    expected[i] = om_real (&m, 0, i / 6) != 0 ? om_real (&m, 1, i) : om_real (&m, 2, i % 6);
  om_expect (&m, 0, expected, 0);
  om_clear (&m);
}

/* A condition of more dimensions than the values, and values that repeat in different ones. */
static void
test_select_ranks (void)
{
  static const gint32 dims[][3] = { { 1 }, { 3, 1 }, { 6 }, { 3, 6 } };
  static const guint ranks[] = { 1, 2, 1, 2 };
  for (guint i = 0; i < 16; i++) {
    const guint a = i / 4, b = i % 4;
    OpModel m;
    double expected[36];
    om_init (&m, SL_OP_SELECT, NULL, i);
    om_input (&m, SL_DTYPE_BOOL, 3, DIMS (2, 3, 6), 0, 0);
    om_input (&m, SL_DTYPE_F32, ranks[a], dims[a], 0, 0);
    om_input (&m, SL_DTYPE_F32, ranks[b], dims[b], 0, 0);
    om_output (&m, SL_DTYPE_F32, 3, DIMS (2, 3, 6), 0, 0);
    for (gsize e = 0; e < 36; e++) {
      const gsize row = e / 6 % 3, column = e % 6, at[] = { 0, row, column, row * 6 + column };
      expected[e] = om_real (&m, 0, e) != 0 ? om_real (&m, 1, at[a]) : om_real (&m, 2, at[b]);
    }
    om_expect (&m, 0, expected, 0);
    om_clear (&m);
  }
}

static void
run_reduce (SlOpType op, SlDtype dtype, const gint32 *axes, guint n_axes, gboolean keep)
{
  const gboolean codes = dtype == SL_DTYPE_I8 || dtype == SL_DTYPE_U8;
  const gint32 in[4] = { 2, 3, 4, 5 };
  gint32 out[4];
  guint rank = 0, reduced = 0, count = 1;
  for (guint i = 0; i < n_axes; i++)
    reduced |= 1u << ((axes[i] + 4) % 4);
  for (guint i = 0; i < 4; i++) {
    if (!(reduced & (1u << i)))
      out[rank++] = in[i];
    else {
      count *= (guint) in[i];
      if (keep)
        out[rank++] = 1;
    }
  }
  OpModel m;
  om_init (&m, op, &(SlOpParams){ .reduce = { keep } }, (guint32) op);
  om_input (&m, dtype, 4, in, codes ? 0.02f : 0, codes ? 10 : 0);
  om_ints (&m, n_axes, axes);
  om_output (&m, dtype, rank, out, codes ? 0.05f : 0, codes ? 3 : 0);
  g_autofree double *expected = g_new (double, om_elements (&m.out[0]));
  const double start = op == SL_OP_REDUCE_MAX    ? -INFINITY
                       : op == SL_OP_REDUCE_MIN  ? INFINITY
                       : op == SL_OP_REDUCE_PROD ? 1
                                                 : 0;
  for (gsize i = 0; i < om_elements (&m.out[0]); i++)
    expected[i] = start;
  for (gsize i = 0; i < om_elements (&m.in[0]); i++) {
    gint32 p[4], q[4] = { 0 };
    guint n = 0;
    om_place (&m.in[0], i, p);
    for (guint k = 0; k < 4; k++)
      if (!(reduced & (1u << k)))
        q[n++] = p[k];
      else if (keep)
        q[n++] = 0;
    double *sum = &expected[om_at (&m.out[0], q)];
    const double x = om_real (&m, 0, i);
    *sum = op == SL_OP_REDUCE_MAX    ? fmax (*sum, x)
           : op == SL_OP_REDUCE_MIN  ? fmin (*sum, x)
           : op == SL_OP_REDUCE_PROD ? *sum * x
                                     : *sum + x;
  }
  for (gsize i = 0; i < om_elements (&m.out[0]) && op == SL_OP_MEAN; i++)
    expected[i] = dtype == SL_DTYPE_I32 ? trunc (expected[i] / count) : expected[i] / count;
  om_expect (&m, 0, expected, codes ? 0.51 : dtype == SL_DTYPE_F32 ? 1e-5 : 0);
  om_clear (&m);
}

static void
test_reduce (void)
{
  static const SlOpType ops[] = { SL_OP_MEAN, SL_OP_SUM, SL_OP_REDUCE_MAX, SL_OP_REDUCE_MIN };
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    for (guint keep = 0; keep < 2; keep++) {
      static const SlDtype dtypes[] = { SL_DTYPE_F32, SL_DTYPE_I8, SL_DTYPE_U8, SL_DTYPE_I32 };
      for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++) {
        run_reduce (ops[i], dtypes[t], DIMS (1, 2), 2, keep);
        run_reduce (ops[i], dtypes[t], DIMS (-1), 1, keep);
        run_reduce (ops[i], dtypes[t], DIMS (0, 2), 2, keep);
        run_reduce (ops[i], dtypes[t], DIMS (0, 1, 2, 3), 4, keep);
      }
    }
  run_reduce (SL_OP_REDUCE_PROD, SL_DTYPE_F32, DIMS (1), 1, FALSE);
  for (guint i = 2; i < G_N_ELEMENTS (ops); i++) { /* whether any is true, and all are */
    run_reduce (ops[i], SL_DTYPE_BOOL, DIMS (1, 2), 2, FALSE);
    run_reduce (ops[i], SL_DTYPE_BOOL, DIMS (-1), 1, TRUE);
  }
}

static void
test_cast (void)
{
  static const struct
  {
    SlDtype from, to;
    double in[4], out[4];
  } rows[] = {
    { SL_DTYPE_F32, SL_DTYPE_I32, { 1.9, -1.9, 3e9, -3e9 }, { 1, -1, G_MAXINT32, G_MININT32 } },
    { SL_DTYPE_F32, SL_DTYPE_U8, { 254.7, -3, 300, 0.5 }, { 254, 0, 255, 0 } },
    { SL_DTYPE_F32, SL_DTYPE_I8, { 127.9, -128.9, -129, 200 }, { 127, -128, -128, 127 } },
    { SL_DTYPE_F32, SL_DTYPE_I64, { 1e6, -1e6, 0, 0.9 }, { 1e6, -1e6, 0, 0 } },
    { SL_DTYPE_F32, SL_DTYPE_BOOL, { 0, 0.25, -1, 0 }, { 0, 1, 1, 0 } },
    { SL_DTYPE_U8, SL_DTYPE_F32, { 0, 7, 200, 255 }, { 0, 7, 200, 255 } },
    { SL_DTYPE_I8, SL_DTYPE_I32, { -128, -1, 5, 127 }, { -128, -1, 5, 127 } },
    { SL_DTYPE_I32, SL_DTYPE_F32, { -5, 0, 12345, 7 }, { -5, 0, 12345, 7 } },
    { SL_DTYPE_I32, SL_DTYPE_I64, { -5, 0, 12345, 7 }, { -5, 0, 12345, 7 } },
    { SL_DTYPE_BOOL, SL_DTYPE_F32, { 0, 1, 1, 0 }, { 0, 1, 1, 0 } },
  };
  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    OpModel m;
    om_init (&m, SL_OP_CAST, NULL, r);
    om_input (&m, rows[r].from, 1, DIMS (4), 0, 0);
    om_output (&m, rows[r].to, 1, DIMS (4), 0, 0);
    for (gsize i = 0; i < 4; i++) {
      if (rows[r].from == SL_DTYPE_F32)
        ((gfloat *) m.data[0])[i] = (gfloat) rows[r].in[i];
      else if (rows[r].from == SL_DTYPE_I32)
        ((gint32 *) m.data[0])[i] = (gint32) rows[r].in[i];
      else
        ((guint8 *) m.data[0])[i] = (guint8) (gint) rows[r].in[i];
    }
    om_expect (&m, 0, rows[r].out, 0);
    om_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/unary", test_unary);
  g_test_add_func ("/ops/binary", test_binary);
  g_test_add_func ("/ops/compare", test_compare);
  g_test_add_func ("/ops/select", test_select);
  g_test_add_func ("/ops/select-ranks", test_select_ranks);
  g_test_add_func ("/ops/reduce", test_reduce);
  g_test_add_func ("/ops/cast", test_cast);
  return g_test_run ();
}
