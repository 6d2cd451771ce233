/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators whose activations are int16 and whose weights, if any, are int8, against double
 * precision. */
#include <math.h>

#include "tests/ops/opmodel.h"
#include "tests/support/program.h"

#define SCALE 1e-4f

static const SlWindow window3 = { .padding = SL_PADDING_SAME,
                                  .stride_h = 2,
                                  .stride_w = 1,
                                  .dilation_h = 1,
                                  .dilation_w = 1,
                                  .filter_h = 3,
                                  .filter_w = 3,
                                  .depth_multiplier = 1 };

static void
fill_weights (OpModel *m, gint8 *weights, gsize n)
{
  for (gsize i = 0; i < n; i++)
    weights[i] = (gint8) g_rand_int_range (m->rand, -127, 128);
}

static void
test_binary (void)
{
  static const struct
  {
    SlOpType op;
    gfloat out;
  } ops[] = { { SL_OP_ADD, 2.5e-4f },   { SL_OP_SUB, 2.5e-4f },
              { SL_OP_MUL, 5e-4f },     { SL_OP_MAXIMUM, SCALE },
              { SL_OP_MINIMUM, SCALE }, { SL_OP_SQUARED_DIFFERENCE, 2e-3f } };
  for (guint k = 0; k < G_N_ELEMENTS (ops); k++) {
    const gboolean same = ops[k].out == SCALE;
    OpModel m;
    double expected[3 * 5 * 7];
    om_init (&m, ops[k].op, NULL, k);
    om_input (&m, SL_DTYPE_I16, 3, DIMS (3, 5, 7), SCALE, 0);
    om_input (&m, SL_DTYPE_I16, 3, DIMS (1, 1, 7), same ? SCALE : 1.7e-4f, 0);
    om_output (&m, SL_DTYPE_I16, 3, DIMS (3, 5, 7), ops[k].out, 0);
    for (gsize i = 0; i < G_N_ELEMENTS (expected); i++) {
      const double a = om_real (&m, 0, i), b = om_real (&m, 1, i % 7);
      expected[i] = ops[k].op == SL_OP_ADD       ? a + b
                    : ops[k].op == SL_OP_SUB     ? a - b
                    : ops[k].op == SL_OP_MUL     ? a * b
                    : ops[k].op == SL_OP_MAXIMUM ? fmax (a, b)
                    : ops[k].op == SL_OP_MINIMUM ? fmin (a, b)
                                                 : (a - b) * (a - b);
    }
    om_expect (&m, 0, expected, 0.51);
    om_clear (&m);
  }
}

/* With an int32 bias and with an int64 one. */
static void
test_fully_connected (void)
{
  for (guint k = 0; k < 2; k++) {
    gint8 weights[5 * 40];
    const gint64 wide[5] = { 90000, -90000, 7, 0, 1 };
    const gint32 narrow[5] = { 90000, -90000, 7, 0, 1 };
    OpModel m;
    double expected[3 * 5];
    om_init (&m, SL_OP_FULLY_CONNECTED, NULL, k);
    fill_weights (&m, weights, G_N_ELEMENTS (weights));
    om_input (&m, SL_DTYPE_I16, 2, DIMS (3, 40), SCALE, 0);
    om_constant (&m, SL_DTYPE_I8, 2, DIMS (5, 40), 0.01f, 0, weights);
    om_constant (&m, k == 0 ? SL_DTYPE_I32 : SL_DTYPE_I64, 1, DIMS (5), 0, 0,
                 k == 0 ? (const void *) narrow : (const void *) wide);
    om_output (&m, SL_DTYPE_I16, 2, DIMS (3, 5), 5e-4f, 0);
    for (gsize i = 0; i < G_N_ELEMENTS (expected); i++) {
      expected[i] = (double) wide[i % 5] * (double) SCALE * (double) 0.01f;
      for (gsize c = 0; c < 40; c++)
        expected[i] += om_real (&m, 0, i / 5 * 40 + c) * weights[i % 5 * 40 + c] * (double) 0.01f;
    }
    om_expect (&m, 0, expected, 0.51);
    om_clear (&m);
  }
}

/* The input's pixel of a 3x3 window; FALSE in the padding of window3 on 6x5 pixels. */
static gboolean
under (const gint32 *p, gint32 fy, gint32 fx, gint32 *y, gint32 *x)
{
  *y = p[1] * 2 + fy;
  *x = p[2] + fx - 1;
  return *y < 6 && *x >= 0 && *x < 5;
}

static void
test_depthwise (void)
{
  gint8 weights[3 * 3 * 4];
  const gint64 bias[4] = { 90000, -90000, 7, 0 };
  OpModel m;
  double expected[3 * 5 * 4];
  om_init (&m, SL_OP_DEPTHWISE_CONV_2D, &(SlOpParams){ .window = window3 }, 5);
  fill_weights (&m, weights, G_N_ELEMENTS (weights));
  om_input (&m, SL_DTYPE_I16, 4, DIMS (1, 6, 5, 4), SCALE, 0);
  om_constant (&m, SL_DTYPE_I8, 4, DIMS (1, 3, 3, 4), 0.01f, 0, weights);
  om_constant (&m, SL_DTYPE_I64, 1, DIMS (4), 0, 0, bias);
  om_output (&m, SL_DTYPE_I16, 4, DIMS (1, 3, 5, 4), 3e-4f, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++) {
    gint32 p[4], y, x;
    om_place (&m.out[0], i, p);
    expected[i] = (double) bias[p[3]] * (double) SCALE * (double) 0.01f;
    for (gint32 k = 0; k < 9; k++)
      if (under (p, k / 3, k % 3, &y, &x))
        expected[i] += om_real (&m, 0, om_at (&m.in[0], DIMS (0, y, x, p[3])))
                       * weights[k * 4 + p[3]] * (double) 0.01f;
  }
  om_expect (&m, 0, expected, 0.51);
  om_clear (&m);
}

static void
test_pool (void)
{
  for (guint k = 0; k < 2; k++) {
    OpModel m;
    double expected[3 * 5 * 4];
    om_init (&m, k == 0 ? SL_OP_AVERAGE_POOL_2D : SL_OP_MAX_POOL_2D,
             &(SlOpParams){ .window = window3 }, k);
    om_input (&m, SL_DTYPE_I16, 4, DIMS (1, 6, 5, 4), SCALE, 0);
    om_output (&m, SL_DTYPE_I16, 4, DIMS (1, 3, 5, 4), SCALE, 0);
    for (gsize i = 0; i < G_N_ELEMENTS (expected); i++) {
      gint32 p[4], y, x;
      double sum = 0, most = -INFINITY, count = 0;
      om_place (&m.out[0], i, p);
      for (gint32 t = 0; t < 9; t++)
        if (under (p, t / 3, t % 3, &y, &x)) {
          const double value = om_real (&m, 0, om_at (&m.in[0], DIMS (0, y, x, p[3])));
          sum += value;
          most = fmax (most, value);
          count++;
        }
      expected[i] = k == 0 ? sum / count : most;
    }
    om_expect (&m, 0, expected, k == 0 ? 0.51 : 0.01);
    om_clear (&m);
  }
}

static void
test_softmax (void)
{
  OpModel m;
  double expected[6 * 30];
  om_init (&m, SL_OP_SOFTMAX, &(SlOpParams){ .softmax = { 1.5f } }, 8);
  om_input (&m, SL_DTYPE_I16, 2, DIMS (6, 30), 2e-4f, 0);
  om_output (&m, SL_DTYPE_I16, 2, DIMS (6, 30), 1 / 32768.0f, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++) {
    double sum = 0;
    for (gsize c = 0; c < 30; c++)
      sum += exp (1.5 * om_real (&m, 0, i / 30 * 30 + c));
    expected[i] = exp (1.5 * om_real (&m, 0, i)) / sum;
  }
  om_expect (&m, 0, expected, 0.51);
  om_clear (&m);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/int16/binary", test_binary);
  g_test_add_func ("/int16/fully-connected", test_fully_connected);
  g_test_add_func ("/int16/depthwise", test_depthwise);
  g_test_add_func ("/int16/pool", test_pool);
  g_test_add_func ("/int16/softmax", test_softmax);
  return g_test_run ();
}
