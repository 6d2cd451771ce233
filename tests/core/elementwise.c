/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators, pooling, reductions, softmax and concatenation against double-precision
 * maths. */
#include <math.h>
#include <string.h>

#include "sightline/error.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

static const SlDtype dtypes[] = { SL_DTYPE_F32, SL_DTYPE_I8, SL_DTYPE_U8 };

static gint32
zero_for (SlDtype dtype, gint32 u8)
{
  return dtype == SL_DTYPE_U8 ? u8 : dtype == SL_DTYPE_I8 ? u8 - 128 : 0;
}

static gfloat
scale_for (SlDtype dtype, gfloat scale)
{
  return dtype == SL_DTYPE_F32 ? 0 : scale;
}

/* XNNPACK adds and multiplies 8-bit codes in fixed point: one code off at most; our own kernels
 * round the exact value. */
static double
tolerance_for (SlDtype dtype, double codes)
{
  return dtype == SL_DTYPE_F32 ? 1e-5 : codes;
}

typedef struct
{
  SlOpType op;
  guint rank_a, rank_b;
  gint32 a[4], b[4];
} Binary;

static const Binary binaries[] = {
  { SL_OP_ADD, 4, 4, { 1, 5, 7, 9 }, { 1, 5, 7, 9 } },
  { SL_OP_ADD, 4, 1, { 1, 5, 7, 9 }, { 9 } },
  { SL_OP_ADD, 4, 4, { 2, 1, 7, 3 }, { 1, 4, 1, 3 } },
  { SL_OP_SUB, 4, 4, { 1, 3, 3, 8 }, { 1, 3, 3, 8 } },
  { SL_OP_SUB, 2, 2, { 5, 1 }, { 1, 6 } },
  { SL_OP_MUL, 4, 4, { 1, 2, 3, 17 }, { 1, 2, 3, 17 } },
  { SL_OP_MUL, 3, 1, { 4, 3, 5 }, { 1 } },
};

static void
run_binary (const Binary *c, SlDtype dtype, guint32 seed)
{
  Check check;
  check_init (&check, seed);
  gint32 inputs[2];
  inputs[0] =
    check_input (&check, dtype, c->rank_a, c->a, scale_for (dtype, 0.03f), zero_for (dtype, 130));
  inputs[1] =
    check_input (&check, dtype, c->rank_b, c->b, scale_for (dtype, 0.021f), zero_for (dtype, 100));
  const SlOpParams params = { .binary = { seed % 2 ? SL_ACTIVATION_RELU : SL_ACTIVATION_NONE } };
  check_node (&check, c->op, inputs, 2,
              check_output (&check, dtype, scale_for (dtype, 0.045f), zero_for (dtype, 120)),
              &params);
  check_prepare (&check);
  const SlTensor *a = sl_graph_input_tensor (check.graph, 0),
                 *b = sl_graph_input_tensor (check.graph, 1);
  const SlTensor *y = sl_graph_output_tensor (check.graph, 0);
  gsize n = 0;
  sl_tensor_elements (y, &n);
  g_autofree double *expected = g_new (double, n);
  for (gsize i = 0; i < n; i++) {
    gsize rest = i, at_a = 0, at_b = 0, step_a = 1, step_b = 1;
    for (guint k = y->rank; k-- > 0;) {
      const gsize position = rest % (gsize) y->dims[k];
      rest /= (gsize) y->dims[k];
      if (k + a->rank >= y->rank) {
        const gsize dim = (gsize) a->dims[k + a->rank - y->rank];
        at_a += dim > 1 ? position * step_a : 0;
        step_a *= dim;
      }
      if (k + b->rank >= y->rank) {
        const gsize dim = (gsize) b->dims[k + b->rank - y->rank];
        at_b += dim > 1 ? position * step_b : 0;
        step_b *= dim;
      }
    }
    const double xa = check_real (a, check.input_data[0], at_a),
                 xb = check_real (b, check.input_data[1], at_b);
    const double value = c->op == SL_OP_ADD ? xa + xb : c->op == SL_OP_SUB ? xa - xb : xa * xb;
    expected[i] = seed % 2 ? fmax (value, 0) : value;
  }
  check_expect (&check, expected, tolerance_for (dtype, 1.01), tolerance_for (dtype, 0.501));
  check_clear (&check);
}

static void
test_binary (void)
{
  for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++)
    for (guint i = 0; i < G_N_ELEMENTS (binaries); i++)
      for (guint32 seed = 0; seed < 4; seed++)
        run_binary (&binaries[i], dtypes[t], seed);
}

static double
unary_value (SlOpType op, double x)
{
  switch (op) {
    case SL_OP_LOGISTIC:
      return 1 / (1 + exp (-x));
    case SL_OP_RELU:
      return fmax (x, 0);
    case SL_OP_RELU6:
      return fmin (fmax (x, 0), 6);
    default:
      return x;
  }
}

typedef struct
{
  SlOpType op;
  SlDtype in, out;
  gfloat in_scale, out_scale;
  gint32 in_zero, out_zero;
} Unary;

static const Unary unaries[] = {
  { SL_OP_LOGISTIC, SL_DTYPE_F32, SL_DTYPE_F32, 0, 0, 0, 0 },
  { SL_OP_LOGISTIC, SL_DTYPE_U8, SL_DTYPE_U8, 0.05f, 1 / 256.0f, 128, 0 },
  { SL_OP_LOGISTIC, SL_DTYPE_I8, SL_DTYPE_I8, 0.05f, 1 / 256.0f, 3, -128 },
  { SL_OP_LOGISTIC, SL_DTYPE_I8, SL_DTYPE_I8, 0.05f, 0.01f, 3, -10 },
  { SL_OP_RELU, SL_DTYPE_F32, SL_DTYPE_F32, 0, 0, 0, 0 },
  { SL_OP_RELU, SL_DTYPE_U8, SL_DTYPE_U8, 0.05f, 0.05f, 128, 128 },
  { SL_OP_RELU, SL_DTYPE_I8, SL_DTYPE_I8, 0.05f, 0.03f, 0, -128 },
  { SL_OP_RELU6, SL_DTYPE_F32, SL_DTYPE_F32, 0, 0, 0, 0 },
  { SL_OP_RELU6, SL_DTYPE_U8, SL_DTYPE_U8, 0.1f, 0.1f, 100, 100 },
  { SL_OP_QUANTIZE, SL_DTYPE_F32, SL_DTYPE_U8, 0, 0.015f, 0, 120 },
  { SL_OP_QUANTIZE, SL_DTYPE_F32, SL_DTYPE_I8, 0, 0.015f, 0, -3 },
  { SL_OP_QUANTIZE, SL_DTYPE_U8, SL_DTYPE_I8, 0.02f, 0.02f, 128, 0 },
  { SL_OP_QUANTIZE, SL_DTYPE_I8, SL_DTYPE_U8, 0.02f, 0.013f, 5, 90 },
  { SL_OP_DEQUANTIZE, SL_DTYPE_U8, SL_DTYPE_F32, 0.02f, 0, 77, 0 },
  { SL_OP_DEQUANTIZE, SL_DTYPE_I8, SL_DTYPE_F32, 0.02f, 0, -77, 0 },
};

static void
test_unary (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (unaries); i++) {
    const Unary *c = &unaries[i];
    const gint32 dims[] = { 1, 17, 31 };
    Check check;
    check_init (&check, i);
    const gint32 input = check_input (&check, c->in, 3, dims, c->in_scale, c->in_zero);
    check_node (&check, c->op, &input, 1, check_output (&check, c->out, c->out_scale, c->out_zero),
                NULL);
    check_prepare (&check);
    double expected[17 * 31];
    for (gsize k = 0; k < G_N_ELEMENTS (expected); k++)
      expected[k] = unary_value (
        c->op, check_real (sl_graph_input_tensor (check.graph, 0), check.input_data[0], k));
    /* From codes to codes the ratio of scales is rounded to 8 fractional bits: half a code more
     * over the whole range. */
    const double steps = c->op == SL_OP_QUANTIZE && c->in != SL_DTYPE_F32 ? 1.0 : 0.501;
    check_expect (&check, expected, c->out == SL_DTYPE_F32 ? 2e-6 : steps,
                  c->out == SL_DTYPE_F32 ? 2e-6 : steps);
    check_clear (&check);
  }
}

/* Averages of codes are whole: half a code and more rounds away from zero. */
static double
pooled (const SlTensor *x, const void *data, const SlWindow *window, gboolean highest, gint32 y,
        gint32 xx, gint32 c)
{
  double sum = 0, most = -INFINITY;
  gint32 count = 0;
  for (gint32 fy = 0; fy < window->filter_h; fy++)
    for (gint32 fx = 0; fx < window->filter_w; fx++) {
      const gint32 iy = y * window->stride_h - window->pad_top + fy,
                   ix = xx * window->stride_w - window->pad_left + fx;
      if (iy < 0 || iy >= x->dims[1] || ix < 0 || ix >= x->dims[2])
        continue;
      const gsize at = (gsize) ((iy * x->dims[2] + ix) * x->dims[3] + c);
      const double value = x->dtype == SL_DTYPE_F32  ? (double) ((const gfloat *) data)[at]
                           : x->dtype == SL_DTYPE_I8 ? ((const gint8 *) data)[at]
                                                     : ((const guint8 *) data)[at];
      sum += value;
      most = fmax (most, value);
      count++;
    }
  if (highest)
    return most;
  return x->dtype == SL_DTYPE_F32 ? sum / count : round (sum / count);
}

static void
test_pool (void)
{
  static const gint32 shapes[][4] = {
    { 7, 7, 7, 1 }, { 6, 5, 2, 2 }, { 5, 9, 3, 2 }, { 4, 4, 3, 1 }
  };
  for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++)
    for (guint i = 0; i < 16; i++) {
      const gint32 *s = shapes[i % 4];
      const gboolean highest = i & 4;
      Check check;
      check_init (&check, i);
      const gint32 dims[4] = { 1, s[0], s[1], 10 };
      const gint32 input = check_input (&check, dtypes[t], 4, dims, scale_for (dtypes[t], 0.1f),
                                        zero_for (dtypes[t], 99));
      SlOpParams params = {
        .window = { .filter_h = s[2], .filter_w = s[2], .stride_h = s[3], .stride_w = s[3] }
      };
      params.window.padding = i & 8 ? SL_PADDING_SAME : SL_PADDING_VALID;
      check_node (
        &check, highest ? SL_OP_MAX_POOL_2D : SL_OP_AVERAGE_POOL_2D, &input, 1,
        check_output (&check, dtypes[t], scale_for (dtypes[t], 0.1f), zero_for (dtypes[t], 99)),
        &params);
      check_prepare (&check);
      const SlTensor *x = sl_graph_input_tensor (check.graph, 0),
                     *y = sl_graph_output_tensor (check.graph, 0);
      const SlWindow window = sl_graph_node (check.graph, 0)->params.window;
      double expected[10 * 100];
      gsize at = 0;
      for (gint32 oy = 0; oy < y->dims[1]; oy++)
        for (gint32 ox = 0; ox < y->dims[2]; ox++)
          for (gint32 c = 0; c < 10; c++) {
            const double code = pooled (x, check.input_data[0], &window, highest, oy, ox, c);
            expected[at++] = dtypes[t] == SL_DTYPE_F32
                               ? code
                               : (code - sl_tensor_zero_point (y)) * (double) sl_tensor_scale (y);
          }
      check_expect (&check, expected, tolerance_for (dtypes[t], 0.001),
                    tolerance_for (dtypes[t], 0.001));
      check_clear (&check);
    }
}

/* More channels, and wider rows, than are looked at together; windows that fall short of the last
 * ones' edge. */
static void
test_max_pool_parts (void)
{
  static const gint32 shapes[][4] = {
    { 4, 5, 2800, 1 }, { 5, 900, 10, 2 }, { 5, 700, 13, 1 }, { 6, 7, 2731, 3 }
  };
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    const gint32 *s = shapes[i], dims[4] = { 2, s[0], s[1], s[2] };
    Check check;
    check_init (&check, i);
    const gint32 input = check_input (&check, SL_DTYPE_F32, 4, dims, 0, 0);
    const SlWindow w = { SL_PADDING_EXPLICIT,
                         s[3],
                         s[3],
                         1,
                         1,
                         3,
                         5,
                         1,
                         2,
                         3,
                         0,
                         .activation = i % 2 ? SL_ACTIVATION_RELU6 : 0 };
    check_node (&check, SL_OP_MAX_POOL_2D, &input, 1, check_output (&check, SL_DTYPE_F32, 0, 0),
                &(SlOpParams){ .window = w });
    check_prepare (&check);
    const SlTensor *y = sl_graph_output_tensor (check.graph, 0);
    const gfloat *in = check.input_data[0];
    g_autofree double *expected = g_new (double, y->bytes / sizeof (gfloat));
    gsize at = 0;
    for (gint32 row = 0; row < 2 * y->dims[1]; row++)
      for (gint32 column = 0; column < y->dims[2]; column++)
        for (gint32 c = 0; c < s[2]; c++, at++) {
          expected[at] = i % 2 ? 0 : -INFINITY;
          for (gint32 k = 0; k < 15; k++) {
            const gint32 py = row % y->dims[1] * s[3] - 1 + k / 5, px = column * s[3] - 3 + k % 5;
            if (py >= 0 && px >= 0 && py < s[0] && px < s[1])
              expected[at] = fmax (
                expected[at], (double) in[((row / y->dims[1] * s[0] + py) * s[1] + px) * s[2] + c]);
          }
        }
    check_expect (&check, expected, 0, 0);
    check_clear (&check);
  }
}

static void
test_mean (void)
{
  static const gint32 axes[][2] = { { 1, 2 }, { -3, -2 }, { 3, 3 }, { 0, 1 } };
  for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++)
    for (guint i = 0; i < 8; i++) {
      const gint32 dims[4] = { 2, 7, 5, 12 };
      Check check;
      check_init (&check, i);
      gint32 inputs[2];
      inputs[0] = check_input (&check, dtypes[t], 4, dims, scale_for (dtypes[t], 0.02f),
                               zero_for (dtypes[t], 33));
      inputs[1] = check_ints (&check, 2, axes[i % 4]);
      const SlOpParams params = { .reduce = { i < 4 } };
      check_node (
        &check, SL_OP_MEAN, inputs, 2,
        check_output (&check, dtypes[t], scale_for (dtypes[t], 0.011f), zero_for (dtypes[t], 5)),
        &params);
      check_prepare (&check);
      const SlTensor *y = sl_graph_output_tensor (check.graph, 0);
      gsize n = 0;
      sl_tensor_elements (y, &n);
      g_assert_cmpuint (y->rank, ==, i < 4 ? 4 : i % 4 == 2 ? 3 : 2);
      g_autofree double *expected = g_new0 (double, n);
      g_autofree guint *count = g_new0 (guint, n);
      for (gsize k = 0; k < 2 * 7 * 5 * 12; k++) {
        gsize p[4] = { k / 420, k / 60 % 7, k / 12 % 5, k % 12 };
        p[(axes[i % 4][0] + 4) % 4] = p[(axes[i % 4][1] + 4) % 4] = 0;
        const gboolean drop0 = (axes[i % 4][0] + 4) % 4 == 0,
                       drop12 = (axes[i % 4][0] + 4) % 4 == 1, drop3 = axes[i % 4][0] == 3;
        const gsize at = drop0    ? p[2] * 12 + p[3]
                         : drop12 ? p[0] * 12 + p[3]
                         : drop3  ? (p[0] * 7 + p[1]) * 5 + p[2]
                                  : 0;
        expected[at] += check_real (sl_graph_input_tensor (check.graph, 0), check.input_data[0], k);
        count[at]++;
      }
      for (gsize k = 0; k < n; k++)
        expected[k] /= count[k];
      check_expect (&check, expected, tolerance_for (dtypes[t], 0.502),
                    tolerance_for (dtypes[t], 0.502));
      check_clear (&check);
    }
}

static void
test_softmax (void)
{
  for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++)
    for (guint i = 0; i < 4; i++) {
      const gint32 dims[2] = { 3, 100 };
      Check check;
      check_init (&check, i);
      const SlOpParams params = { .softmax = { i % 2 ? 1.0f : 0.5f } };
      const gint32 input = check_input (&check, dtypes[t], 2, dims, scale_for (dtypes[t], 0.06f),
                                        zero_for (dtypes[t], 60));
      check_node (&check, SL_OP_SOFTMAX, &input, 1,
                  check_output (&check, dtypes[t], scale_for (dtypes[t], 1 / 256.0f),
                                zero_for (dtypes[t], 0)),
                  &params);
      check_prepare (&check);
      double expected[300];
      for (gsize r = 0; r < 3; r++) {
        double sum = 0;
        for (gsize k = 0; k < 100; k++) {
          const double x =
            check_real (sl_graph_input_tensor (check.graph, 0), check.input_data[0], r * 100 + k);
          expected[r * 100 + k] = exp (x * (double) params.softmax.beta);
          sum += expected[r * 100 + k];
        }
        for (gsize k = 0; k < 100; k++)
          expected[r * 100 + k] /= sum;
      }
      check_expect (&check, expected, dtypes[t] == SL_DTYPE_F32 ? 1e-6 : 0.51,
                    dtypes[t] == SL_DTYPE_F32 ? 1e-6 : 0.51);
      check_clear (&check);
    }
}

static void
test_concat (void)
{
  for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++)
    for (gint32 axis = -1; axis < 3; axis++) {
      const gint at = (axis + 3) % 3;
      gint32 a[3] = { 2, 3, 4 }, b[3] = { 2, 3, 4 };
      b[at] = 5;
      Check check;
      check_init (&check, (guint32) (axis + 1));
      gint32 inputs[2];
      inputs[0] = check_input (&check, dtypes[t], 3, a, scale_for (dtypes[t], 0.04f),
                               zero_for (dtypes[t], 100));
      inputs[1] = check_input (&check, dtypes[t], 3, b, scale_for (dtypes[t], 0.03f),
                               zero_for (dtypes[t], 90));
      const SlOpParams params = { .concat = { axis, SL_ACTIVATION_NONE } };
      check_node (
        &check, SL_OP_CONCATENATION, inputs, 2,
        check_output (&check, dtypes[t], scale_for (dtypes[t], 0.04f), zero_for (dtypes[t], 100)),
        &params);
      check_prepare (&check);
      const SlTensor *y = sl_graph_output_tensor (check.graph, 0);
      double expected[200];
      gsize n = 0;
      for (gint32 i = 0; i < y->dims[0]; i++)
        for (gint32 j = 0; j < y->dims[1]; j++)
          for (gint32 k = 0; k < y->dims[2]; k++) {
            gint32 p[3] = { i, j, k };
            const gboolean second = p[at] >= a[at];
            p[at] -= second ? a[at] : 0;
            const gint32 *d = second ? b : a;
            expected[n++] =
              check_real (sl_graph_input_tensor (check.graph, second), check.input_data[second],
                          (gsize) ((p[0] * d[1] + p[1]) * d[2] + p[2]));
          }
      check_expect (&check, expected, tolerance_for (dtypes[t], 0.502),
                    tolerance_for (dtypes[t], 0.502));
      check_clear (&check);
    }
}

static void
test_pad (void)
{
  static const gint32 amounts[] = { 0, 1, 2, 0, 1, 3, 0, 2 };
  for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++) {
    const gint32 dims[4] = { 1, 3, 4, 5 };
    Check check;
    check_init (&check, t);
    gint32 inputs[2];
    inputs[0] = check_input (&check, dtypes[t], 4, dims, scale_for (dtypes[t], 0.04f),
                             zero_for (dtypes[t], 100));
    inputs[1] = check_ints (&check, 8, amounts);
    check_node (
      &check, SL_OP_PAD, inputs, 2,
      check_output (&check, dtypes[t], scale_for (dtypes[t], 0.04f), zero_for (dtypes[t], 100)),
      NULL);
    check_prepare (&check);
    double expected[2 * 5 * 8 * 7] = { 0 };
    for (gint32 y = 0; y < 3; y++)
      for (gint32 x = 0; x < 4; x++)
        for (gint32 c = 0; c < 5; c++)
          expected[((y + 2) * 8 + x + 1) * 7 + c] =
            check_real (sl_graph_input_tensor (check.graph, 0), check.input_data[0],
                        (gsize) ((y * 4 + x) * 5 + c));
    check_expect (&check, expected, 0.001, 0.001);
    check_clear (&check);
  }
}

/* A NaN is neither more nor less than any number, and stays: of two by our own kernels, and of
 * many. */
static void
test_nan (void)
{
  static const SlOpType ops[] = { SL_OP_MAXIMUM, SL_OP_MINIMUM, SL_OP_REDUCE_MAX,
                                  SL_OP_REDUCE_MIN };
  static const gint32 dims[] = { 3, 5 };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (ops); i++) {
    const SlOpType op = ops[i / 2];
    const gboolean pair = op == SL_OP_MAXIMUM || op == SL_OP_MINIMUM;
    const gint32 axis = 1;
    Check check;
    check_init (&check, i);
    const gint32 a = check_input (&check, SL_DTYPE_F32, 2, dims, 0, 0);
    const gint32 b =
      pair ? check_input (&check, SL_DTYPE_F32, 2, dims, 0, 0) : check_ints (&check, 1, &axis);
    check_node (&check, op, (gint32[]){ a, b }, 2, check_output (&check, SL_DTYPE_F32, 0, 0),
                &(SlOpParams){ 0 });
    check_prepare (&check);
    gfloat *values = check.input_data[pair && i % 2 ? 1 : 0];
    values[i % 2 ? 5 : 9] = NAN;
    gfloat *got = check_run (&check, TRUE, 1);
    for (guint k = 0; k < (pair ? 15 : 3); k++)
      g_assert_cmpint (isnan (got[k]) != 0, ==, pair ? k == (i % 2 ? 5 : 9) : k == 1);
    sl_tensor_buffer_free (got);
    check_clear (&check);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/elementwise/binary", test_binary);
  g_test_add_func ("/core/elementwise/unary", test_unary);
  g_test_add_func ("/core/elementwise/nan", test_nan);
  g_test_add_func ("/core/pool", test_pool);
  g_test_add_func ("/core/pool/parts", test_max_pool_parts);
  g_test_add_func ("/core/mean", test_mean);
  g_test_add_func ("/core/softmax", test_softmax);
  g_test_add_func ("/core/concat", test_concat);
  g_test_add_func ("/core/pad", test_pad);
  return g_test_run ();
}
