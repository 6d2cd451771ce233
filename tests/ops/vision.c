/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resizing, searching, matrices, transposed and int16 convolutions, normalisations, LSTM,
 * suppression, static shapes. */
#include <math.h>
#include <string.h>

#include "tests/ops/opmodel.h"
#include "tests/support/program.h"

static double
source_place (gint32 i, gint32 in, gint32 out, guint mode)
{
  const double scale = mode == 1 && out > 1 ? (double) (in - 1) / (out - 1) : (double) in / out;
  return mode == 2 ? fmax ((i + 0.5) * scale - 0.5, 0) : i * scale;
}

static double
bilinear (const OpModel *m, const gint32 *p, guint mode)
{
  const SlTfliteTensor *x = &m->in[0];
  const double y = source_place (p[1], x->dims[1], m->out[0].dims[1], mode),
               z = source_place (p[2], x->dims[2], m->out[0].dims[2], mode);
  double sum = 0;
  for (gint32 dy = 0; dy < 2; dy++)
    for (gint32 dx = 0; dx < 2; dx++) {
      const gint32 iy = (gint32) y + dy, ix = (gint32) z + dx;
      const double wy = dy ? y - floor (y) : 1 - (y - floor (y)),
                   wx = dx ? z - floor (z) : 1 - (z - floor (z));
      sum +=
        wy * wx
        * om_real (
          m, 0, om_at (x, DIMS (p[0], MIN (iy, x->dims[1] - 1), MIN (ix, x->dims[2] - 1), p[3])));
    }
  return sum;
}

static double
nearest (const OpModel *m, const gint32 *p, guint mode)
{
  const SlTfliteTensor *x = &m->in[0];
  gint32 at[2];
  for (guint k = 0; k < 2; k++) {
    const gint32 in = x->dims[k + 1], out = m->out[0].dims[k + 1];
    const double scale = mode == 1 && out > 1 ? (double) (in - 1) / (out - 1) : (double) in / out;
    const double place = (p[k + 1] + (mode == 2 ? 0.5 : 0)) * scale;
    at[k] = (gint32) fmin (mode == 1 ? round (place) : floor (place), in - 1);
  }
  return om_real (m, 0, om_at (x, DIMS (p[0], at[0], at[1], p[3])));
}

static void
test_resize (void)
{
  static const gint32 sizes[][4] = {
    { 5, 7, 11, 13 }, { 3, 3, 3, 3 }, { 1, 1, 6, 4 }, { 8, 6, 4, 3 }, { 6, 6, 12, 12 }
  };
  static const SlDtype dtypes[] = { SL_DTYPE_F32, SL_DTYPE_I8, SL_DTYPE_U8, SL_DTYPE_I16 };
  for (guint op = 0; op < 2; op++)
    for (guint t = 0; t < 4; t++)
      for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
        for (guint mode = 0; mode < 3; mode++) {
          const gfloat scale = dtypes[t] == SL_DTYPE_F32 ? 0 : 0.1f;
          OpModel m;
          om_init (&m, op == 0 ? SL_OP_RESIZE_BILINEAR : SL_OP_RESIZE_NEAREST_NEIGHBOR,
                   &(SlOpParams){ .resize = { mode == 1, mode == 2 } }, s);
          om_input (&m, dtypes[t], 4, DIMS (2, sizes[s][0], sizes[s][1], 9), scale, 0);
          om_ints (&m, 2, sizes[s] + 2);
          om_output (&m, dtypes[t], 4, DIMS (2, sizes[s][2], sizes[s][3], 9), scale, 0);
          g_autofree double *expected = g_new (double, om_elements (&m.out[0]));
          for (gsize i = 0; i < om_elements (&m.out[0]); i++) {
            gint32 p[4];
            om_place (&m.out[0], i, p);
            expected[i] = op == 0 ? bilinear (&m, p, mode) : nearest (&m, p, mode);
          }
          om_expect (&m, 0, expected,
                     op == 1     ? 0
                     : t == 3    ? 0.55
                     : scale > 0 ? 0.63
                                 : 1e-5); /* weights have 11 bits, of words 24 */
          om_clear (&m);
        }
}

static void
test_arg_max (void)
{
  static const SlDtype dtypes[] = { SL_DTYPE_F32, SL_DTYPE_I8, SL_DTYPE_U8, SL_DTYPE_I32 };
  static const gint32 depths[] = { 1, 3, 15, 16, 17, 21, 40 };
  for (guint t = 0; t < 4; t++)
    for (guint d = 0; d < G_N_ELEMENTS (depths); d++)
      for (guint lowest = 0; lowest < 2; lowest++)
        for (guint last = 0; last < 2; last++) {
          const gint32 n = depths[d], in[2][3] = { { 4, n, 7 }, { 4, 7, n } };
          const gfloat scale = t == 1 || t == 2 ? 0.5f : 0;
          OpModel m;
          double expected[28];
          om_init (&m, lowest ? SL_OP_ARG_MIN : SL_OP_ARG_MAX, NULL, d);
          om_input (&m, dtypes[t], 3, in[last], scale, 0);
          om_scalar (&m, last ? -1 : 1);
          om_output (&m, last ? SL_DTYPE_I64 : SL_DTYPE_I32, 2, DIMS (4, 7), 0, 0);
          for (gint32 i = 0; i < 28; i++) {
            double best = -INFINITY;
            for (gint32 k = 0; k < n; k++) {
              const double x = om_real (
                &m, 0, om_at (&m.in[0], last ? DIMS (i / 7, i % 7, k) : DIMS (i / 7, k, i % 7)));
              if ((lowest ? -x : x) > best) {
                best = lowest ? -x : x;
                expected[i] = k;
              }
            }
          }
          om_expect (&m, 0, expected, 0);
          om_clear (&m);
        }
}

static void
test_cumsum (void)
{
  static const SlDtype dtypes[] = { SL_DTYPE_F32, SL_DTYPE_I32, SL_DTYPE_I64 };
  const gint32 dims[] = { 3, 5, 7 };
  for (guint t = 0; t < G_N_ELEMENTS (dtypes); t++)
    for (gint32 axis = -3; axis < 3; axis++)
      for (guint mode = 0; mode < 4; mode++) {
        const gboolean exclusive = mode & 1, reverse = mode >> 1;
        double expected[3 * 5 * 7];
        OpModel m;
        om_init (&m, SL_OP_CUMSUM, &(SlOpParams){ .cumsum = { exclusive, reverse } }, mode);
        om_input (&m, dtypes[t], 3, dims, 0, 0);
        om_scalar (&m, axis);
        om_output (&m, dtypes[t], 3, dims, 0, 0);
        for (gsize i = 0; i < G_N_ELEMENTS (expected); i++) {
          const guint d = (guint) (axis < 0 ? axis + 3 : axis);
          gint32 p[3], last;
          om_place (&m.in[0], i, p);
          last = p[d];
          expected[i] = 0;
          for (p[d] = 0; p[d] < dims[d]; p[d]++)
            if ((reverse ? p[d] > last : p[d] < last) || (p[d] == last && !exclusive))
              expected[i] += om_real (&m, 0, om_at (&m.in[0], p));
        }
        om_expect (&m, 0, expected, dtypes[t] == SL_DTYPE_F32 ? 1e-5 : 0);
        om_clear (&m);
      }
}

static void
test_topk (void)
{
  OpModel m;
  double values[15], indices[15];
  om_init (&m, SL_OP_TOPK_V2, NULL, 5);
  om_input (&m, SL_DTYPE_U8, 2, DIMS (3, 50), 0.5f, 3);
  om_scalar (&m, 5);
  om_output (&m, SL_DTYPE_U8, 2, DIMS (3, 5), 0.5f, 3);
  om_output (&m, SL_DTYPE_I32, 2, DIMS (3, 5), 0, 0);
  for (gsize r = 0; r < 3; r++) {
    gboolean taken[50] = { FALSE };
    for (gsize k = 0; k < 5; k++) {
      gsize best = 50;
      for (gsize i = 0; i < 50; i++)
        if (!taken[i]
            && (best == 50 || om_real (&m, 0, r * 50 + i) > om_real (&m, 0, r * 50 + best)))
          best = i;
      taken[best] = TRUE;
      indices[r * 5 + k] = (double) best;
      values[r * 5 + k] = om_real (&m, 0, r * 50 + best);
    }
  }
  om_expect (&m, 0, values, 0);
  om_expect (&m, 1, indices, 0);
  om_clear (&m);
}

static void
run_matmul (SlDtype dtype, gboolean ta, gboolean tb)
{
  const gfloat scale = dtype == SL_DTYPE_F32 ? 0 : dtype == SL_DTYPE_I16 ? 1e-4f : 0.02f;
  const gboolean bytes = dtype == SL_DTYPE_I8;
  OpModel m;
  double expected[2 * 3 * 4 * 5];
  om_init (&m, SL_OP_BATCH_MATMUL, &(SlOpParams){ .matmul = { ta, tb } }, 3);
  om_input (&m, dtype, 4, ta ? DIMS (2, 1, 6, 4) : DIMS (2, 1, 4, 6), scale, bytes ? 5 : 0);
  om_input (&m, dtype, 3, tb ? DIMS (3, 5, 6) : DIMS (3, 6, 5), scale, bytes ? -3 : 0);
  om_output (&m, dtype, 4, DIMS (2, 3, 4, 5), scale > 0 ? 5 * scale : 0, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++) {
    gint32 p[4];
    om_place (&m.out[0], i, p);
    expected[i] = 0;
    for (gint32 k = 0; k < 6; k++)
      expected[i] +=
        om_real (&m, 0, om_at (&m.in[0], ta ? DIMS (p[0], 0, k, p[2]) : DIMS (p[0], 0, p[2], k)))
        * om_real (&m, 1, om_at (&m.in[1], tb ? DIMS (p[1], p[3], k) : DIMS (p[1], k, p[3])));
  }
  om_expect (&m, 0, expected, scale > 0 ? 0.51 : 1e-5);
  om_clear (&m);
}

/* Weights that are computed: of a matrix, or with a bias of zeros of one more dimension. */
static void
run_dense_product (SlDtype dtype, gboolean bias, gboolean flat)
{
  static const gint32 zeros[5] = { 0 };
  OpModel m;
  double expected[15];
  const gfloat scale = dtype == SL_DTYPE_F32 ? 0 : 0.1f;
  om_init (&m, SL_OP_FULLY_CONNECTED, &(SlOpParams){ .fully_connected = { .keep_dims = !flat } },
           3);
  om_input (&m, dtype, bias ? 3 : 2, bias ? DIMS (1, 3, 6) : DIMS (3, 6), scale, scale > 0 ? 5 : 0);
  om_input (&m, dtype, 2, DIMS (5, 6), scale, scale > 0 ? -3 : 0);
  if (bias)
    om_constant (&m, dtype == SL_DTYPE_F32 ? SL_DTYPE_F32 : SL_DTYPE_I32, 1, DIMS (5), 0, 0, zeros);
  om_output (&m, dtype, bias && !flat ? 3 : 2, bias && !flat ? DIMS (1, 3, 5) : DIMS (3, 5),
             5 * scale, 0);
  for (gint32 i = 0; i < 15; i++) {
    expected[i] = 0;
    for (gint32 k = 0; k < 6; k++)
      expected[i] +=
        om_real (&m, 0, (gsize) (i / 5 * 6 + k)) * om_real (&m, 1, (gsize) (i % 5 * 6 + k));
  }
  om_expect (&m, 0, expected, scale > 0 ? 0.51 : 1e-5);
  om_clear (&m);
}

static void
test_matmul (void)
{
  for (guint i = 0; i < 2; i++) {
    run_dense_product (SL_DTYPE_F32, i, FALSE);
    run_dense_product (SL_DTYPE_I8, i, FALSE);
    run_dense_product (SL_DTYPE_I8, i, TRUE);
  }
  for (guint i = 0; i < 4; i++) {
    run_matmul (SL_DTYPE_F32, i & 1, i & 2);
    run_matmul (SL_DTYPE_I8, i & 1, i & 2);
    run_matmul (SL_DTYPE_I16, i & 1, i & 2);
  }
}

/* Scatters: every input pixel adds its window to the output. */
static void
run_transpose_conv (SlDtype dtype, SlPadding padding, gint32 stride, gint32 filter)
{
  const gint32 h = 4, w = 3, in = 5, out = 6;
  const gint32 oh =
    padding == SL_PADDING_SAME ? h * stride : (h - 1) * stride + MAX (filter, stride);
  const gint32 ow =
    padding == SL_PADDING_SAME ? w * stride : (w - 1) * stride + MAX (filter, stride);
  const gint32 before_h =
    padding == SL_PADDING_SAME ? MAX ((h - 1) * stride + filter - oh, 0) / 2 : 0;
  const gint32 before_w =
    padding == SL_PADDING_SAME ? MAX ((w - 1) * stride + filter - ow, 0) / 2 : 0;
  const gfloat scale = dtype == SL_DTYPE_F32 ? 0 : dtype == SL_DTYPE_I16 ? 1e-4f : 0.02f;
  gfloat weights[6 * 5 * 5 * 5], bias[6];
  gint8 codes[6 * 5 * 5 * 5];
  gint32 bias_codes[6];
  gint64 wide_bias[6];
  OpModel m;
  om_init (
    &m, SL_OP_TRANSPOSE_CONV,
    &(SlOpParams){ .window = { .padding = padding, .stride_h = stride, .stride_w = stride } }, 8);
  for (gint32 i = 0; i < out * filter * filter * in; i++) {
    codes[i] = (gint8) g_rand_int_range (m.rand, -100, 100);
    weights[i] = (gfloat) codes[i] * 0.01f;
  }
  for (gint32 i = 0; i < out; i++) {
    bias_codes[i] = g_rand_int_range (m.rand, -1000, 1000);
    bias[i] = (gfloat) bias_codes[i] * 0.01f * (scale > 0 ? scale : 0.02f);
    wide_bias[i] = bias_codes[i];
  }
  om_ints (&m, 4, DIMS (1, oh, ow, out));
  om_constant (&m, scale > 0 ? SL_DTYPE_I8 : SL_DTYPE_F32, 4, DIMS (out, filter, filter, in),
               scale > 0 ? 0.01f : 0, 0, scale > 0 ? (const void *) codes : weights);
  om_input (&m, dtype, 4, DIMS (1, h, w, in), scale, dtype == SL_DTYPE_I8 ? 7 : 0);
  if (dtype == SL_DTYPE_I16)
    om_constant (&m, SL_DTYPE_I64, 1, DIMS (out), 0.01f * scale, 0, wide_bias);
  else
    om_constant (&m, scale > 0 ? SL_DTYPE_I32 : SL_DTYPE_F32, 1, DIMS (out), 0.01f * scale, 0,
                 scale > 0 ? (const void *) bias_codes : bias);
  om_output (&m, dtype, 4, DIMS (1, oh, ow, out), 4 * scale, 0);
  g_autofree double *expected = g_new (double, om_elements (&m.out[0]));
  for (gsize i = 0; i < om_elements (&m.out[0]); i++)
    expected[i] = (double) bias[i % (gsize) out];
  for (gint32 y = 0; y < h; y++)
    for (gint32 x = 0; x < w; x++)
      for (gint32 fy = 0; fy < filter; fy++)
        for (gint32 fx = 0; fx < filter; fx++) {
          const gint32 oy = y * stride + fy - before_h, ox = x * stride + fx - before_w;
          for (gint32 o = 0; o < out && oy >= 0 && oy < oh && ox >= 0 && ox < ow; o++)
            for (gint32 c = 0; c < in; c++)
              expected[om_at (&m.out[0], DIMS (0, oy, ox, o))] +=
                om_real (&m, 0, om_at (&m.in[0], DIMS (0, y, x, c)))
                * (double) weights[((o * filter + fy) * filter + fx) * in + c];
        }
  om_expect (&m, 0, expected, scale > 0 ? 0.51 : 1e-5);
  om_clear (&m);
}

static void
test_transpose_conv (void)
{
  static const SlDtype dtypes[] = { SL_DTYPE_F32, SL_DTYPE_I8, SL_DTYPE_I16 };
  for (guint t = 0; t < 3; t++)
    for (gint32 stride = 1; stride < 4; stride++)
      for (gint32 filter = 1; filter < 6; filter++) {
        run_transpose_conv (dtypes[t], SL_PADDING_SAME, stride, filter);
        run_transpose_conv (dtypes[t], SL_PADDING_VALID, stride, filter);
      }
}

/* int16 activations, int8 weights, int64 bias. */
static void
test_conv16 (void)
{
  gint8 weights[4 * 3 * 3 * 3];
  gint64 bias[4] = { 100000, -100000, 7, 0 };
  OpModel m;
  double expected[6 * 5 * 4];
  om_init (&m, SL_OP_CONV_2D,
           &(SlOpParams){ .window = { .padding = SL_PADDING_SAME, .stride_h = 1, .stride_w = 1 } },
           6);
  for (gsize i = 0; i < G_N_ELEMENTS (weights); i++)
    weights[i] = (gint8) g_rand_int_range (m.rand, -127, 128);
  om_input (&m, SL_DTYPE_I16, 4, DIMS (1, 6, 5, 3), 1e-4f, 0);
  om_constant (&m, SL_DTYPE_I8, 4, DIMS (4, 3, 3, 3), 0.01f, 0, weights);
  om_constant (&m, SL_DTYPE_I64, 1, DIMS (4), 0, 0, bias);
  om_output (&m, SL_DTYPE_I16, 4, DIMS (1, 6, 5, 4), 4e-4f, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++) {
    gint32 p[4];
    om_place (&m.out[0], i, p);
    double sum = (double) bias[p[3]] * 1e-6;
    for (gint32 fy = 0; fy < 3; fy++)
      for (gint32 fx = 0; fx < 3; fx++)
        for (gint32 c = 0; c < 3; c++) {
          const gint32 y = p[1] + fy - 1, x = p[2] + fx - 1;
          if (y >= 0 && y < 6 && x >= 0 && x < 5)
            sum += om_real (&m, 0, om_at (&m.in[0], DIMS (0, y, x, c)))
                   * weights[((p[3] * 3 + fy) * 3 + fx) * 3 + c] * 0.01;
        }
    expected[i] = sum;
  }
  om_expect (&m, 0, expected, 0.51);
  om_clear (&m);
}

static void
test_normalisations (void)
{
  static const SlDtype dtypes[] = { SL_DTYPE_F32, SL_DTYPE_I8, SL_DTYPE_U8 };
  for (guint op = 0; op < 2; op++)
    for (guint t = 0; t < 3; t++) {
      const gfloat scale = t == 0 ? 0 : 0.05f;
      OpModel m;
      double expected[60];
      om_init (&m, op == 0 ? SL_OP_LOG_SOFTMAX : SL_OP_L2_NORMALIZATION, NULL, t);
      om_input (&m, dtypes[t], 2, DIMS (5, 12), scale, t == 0 ? 0 : 9);
      om_output (&m, dtypes[t], 2, DIMS (5, 12),
                 t == 0    ? 0
                 : op == 0 ? 16 / 256.0f
                           : 1 / 128.0f,
                 op == 0 && t > 0 ? (t == 1 ? 127 : 255)
                 : t == 2         ? 128
                                  : 0);
      for (gsize r = 0; r < 5; r++) {
        double sum = 0;
        for (gsize i = 0; i < 12; i++) {
          const double x = om_real (&m, 0, r * 12 + i);
          sum += op == 0 ? exp (x) : x * x;
        }
        for (gsize i = 0; i < 12; i++) {
          const double x = om_real (&m, 0, r * 12 + i);
          expected[r * 12 + i] = op == 0 ? x - log (sum) : x / sqrt (sum);
        }
      }
      om_expect (&m, 0, expected, t == 0 ? 2e-6 : 0.51);
      om_clear (&m);
    }
}

static void
test_local_response (void)
{
  for (gint radius = 0; radius < 9; radius += 2) {
    OpModel m;
    double expected[60];
    const double bias = 2, alpha = 0.25, beta = radius == 2 ? 0.5 : 0.75;
    om_init (&m, SL_OP_LOCAL_RESPONSE_NORMALIZATION,
             &(SlOpParams){
               .local_response = { radius, radius, (gfloat) bias, (gfloat) alpha, (gfloat) beta } },
             (guint) radius);
    om_input (&m, SL_DTYPE_F32, 3, DIMS (2, 5, 6), 0, 0);
    om_output (&m, SL_DTYPE_F32, 3, DIMS (2, 5, 6), 0, 0);
    for (gint i = 0; i < 60; i++) {
      double sum = 0;
      for (gint c = MAX (i % 6 - radius, 0); c <= MIN (i % 6 + radius, 5); c++)
        sum += pow (om_real (&m, 0, (gsize) (i / 6 * 6 + c)), 2);
      expected[i] = om_real (&m, 0, (gsize) i) / pow (bias + alpha * sum, beta);
    }
    om_expect (&m, 0, expected, 2e-7);
    om_clear (&m);
  }
}

static void
test_l2_pool (void)
{
  OpModel m;
  double expected[2 * 2 * 3];
  const SlWindow window = {
    .padding = SL_PADDING_VALID, .stride_h = 2, .stride_w = 2, .filter_h = 2, .filter_w = 2
  };
  om_init (&m, SL_OP_L2_POOL_2D, &(SlOpParams){ .window = window }, 2);
  om_input (&m, SL_DTYPE_F32, 4, DIMS (1, 4, 4, 3), 0, 0);
  om_output (&m, SL_DTYPE_F32, 4, DIMS (1, 2, 2, 3), 0, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++) {
    gint32 p[4];
    double sum = 0;
    om_place (&m.out[0], i, p);
    for (gint32 k = 0; k < 4; k++)
      sum += pow (
        om_real (&m, 0, om_at (&m.in[0], DIMS (0, 2 * p[1] + k / 2, 2 * p[2] + k % 2, p[3]))), 2);
    expected[i] = sqrt (sum / 4);
  }
  om_expect (&m, 0, expected, 1e-6);
  om_clear (&m);
}

static double
sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

/* Three units over four steps, int8 or float weights, with or without a coupled input gate. */
static void
run_lstm (gboolean codes, gboolean coupled, gboolean time_major)
{
  enum
  {
    STEPS = 4,
    INPUTS = 5,
    UNITS = 3,
    BATCH = 2
  };
  gfloat w[4][UNITS * INPUTS], r[4][UNITS * UNITS], b[4][UNITS];
  gint8 wc[4][UNITS * INPUTS];
  double expected[BATCH * STEPS * UNITS];
  OpModel m;
  om_init (&m, SL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM,
           &(SlOpParams){
             .lstm = { .activation_is_tanh = TRUE, .cell_clip = 0.8f, .time_major = time_major } },
           5);
  for (guint g = 0; g < 4; g++) {
    for (guint i = 0; i < UNITS * INPUTS; i++) {
      wc[g][i] = (gint8) g_rand_int_range (m.rand, -127, 128);
      w[g][i] = (gfloat) wc[g][i] * 0.01f;
    }
    for (guint i = 0; i < UNITS * UNITS; i++)
      r[g][i] = (gfloat) g_rand_double_range (m.rand, -1, 1);
    for (guint i = 0; i < UNITS; i++)
      b[g][i] = (gfloat) g_rand_double_range (m.rand, -1, 1);
  }
  om_input (&m, SL_DTYPE_F32, 3,
            time_major ? DIMS (STEPS, BATCH, INPUTS) : DIMS (BATCH, STEPS, INPUTS), 0, 0);
  for (guint g = 0; g < 4; g++) {
    if (g == 0 && coupled)
      om_omitted (&m);
    else
      om_constant (&m, codes ? SL_DTYPE_I8 : SL_DTYPE_F32, 2, DIMS (UNITS, INPUTS),
                   codes ? 0.01f : 0, 0, codes ? (const void *) wc[g] : w[g]);
  }
  for (guint g = 0; g < 4; g++) {
    if (g == 0 && coupled)
      om_omitted (&m);
    else
      om_constant (&m, SL_DTYPE_F32, 2, DIMS (UNITS, UNITS), 0, 0, r[g]);
  }
  for (guint i = 0; i < 3; i++)
    om_omitted (&m);
  for (guint g = 0; g < 4; g++) {
    if (g == 0 && coupled)
      om_omitted (&m);
    else
      om_constant (&m, SL_DTYPE_F32, 1, DIMS (UNITS), 0, 0, b[g]);
  }
  om_omitted (&m);
  om_omitted (&m);
  for (guint i = 0; i < 2; i++) /* the state TFLite keeps */
    m.op.inputs[m.op.n_inputs++] =
      sl_tflite_writer_tensor (m.writer, &(SlTfliteTensor){ .name = "state",
                                                            .dtype = SL_DTYPE_F32,
                                                            .rank = 2,
                                                            .dims = { BATCH, UNITS },
                                                            .variable = TRUE });
  om_output (&m, SL_DTYPE_F32, 3,
             time_major ? DIMS (STEPS, BATCH, UNITS) : DIMS (BATCH, STEPS, UNITS), 0, 0);
  for (gsize n = 0; n < BATCH; n++) {
    double hidden[UNITS] = { 0 }, cell[UNITS] = { 0 }, gates[4][UNITS];
    for (gsize t = 0; t < STEPS; t++) {
      const gsize at = time_major ? t * BATCH + n : n * STEPS + t;
      for (guint g = 0; g < 4; g++)
        for (guint u = 0; u < UNITS; u++) {
          gates[g][u] = (double) b[g][u];
          for (guint i = 0; i < INPUTS; i++)
            gates[g][u] += (double) w[g][u * INPUTS + i] * om_real (&m, 0, at * INPUTS + i);
          for (guint i = 0; i < UNITS; i++)
            gates[g][u] += (double) r[g][u * UNITS + i] * hidden[i];
        }
      for (guint u = 0; u < UNITS; u++) {
        const double forget = sigmoid (gates[1][u]),
                     in = coupled ? 1 - forget : sigmoid (gates[0][u]);
        cell[u] = fmin (fmax (forget * cell[u] + in * tanh (gates[2][u]), -0.8), 0.8);
        expected[at * UNITS + u] = sigmoid (gates[3][u]) * tanh (cell[u]);
      }
      for (guint u = 0; u < UNITS; u++)
        hidden[u] = expected[at * UNITS + u];
    }
  }
  om_expect (&m, 0, expected, 2e-6);
  om_clear (&m);
}

/* @peephole, @relu, @without_bias, @cell_scale, @weight_zero: what a good one has not; @refused:
 * what is said of that, NULL = it runs. */
typedef struct
{
  gboolean coupled, time_major, peephole, relu, without_bias;
  gfloat cell_scale;
  gint32 weight_zero;
  const char *refused;
} IntegerLstm;

/* The same of int8, 16 bits inside: as near to the numbers that the codes stand for as one and a
 * half codes of the output. */
static void
run_integer_lstm (const IntegerLstm *how)
{
  enum
  {
    STEPS = 6,
    INPUTS = 7,
    CELLS = 5,
    BATCH = 2
  };
  static const gfloat scale = 0.05f, input_scale = 0.02f, hidden_scale = 1.0f / 128;
  gint8 w[4][CELLS * INPUTS], r[4][CELLS * CELLS];
  gint32 b[4][CELLS];
  double expected[BATCH * STEPS * CELLS];
  OpModel m;
  om_init (&m, SL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM,
           &(SlOpParams){ .lstm = { .activation_is_tanh = !how->relu,
                                    .cell_clip = 2.5f,
                                    .time_major = how->time_major } },
           6);
  for (guint g = 0; g < 4; g++) {
    for (guint i = 0; i < CELLS * INPUTS; i++)
      w[g][i] = (gint8) g_rand_int_range (m.rand, -20, 21);
    for (guint i = 0; i < CELLS * CELLS; i++)
      r[g][i] = (gint8) g_rand_int_range (m.rand, -20, 21);
    for (guint i = 0; i < CELLS; i++)
      b[g][i] = g_rand_int_range (m.rand, -500, 500);
  }
  om_input (&m, SL_DTYPE_I8, 3,
            how->time_major ? DIMS (STEPS, BATCH, INPUTS) : DIMS (BATCH, STEPS, INPUTS),
            input_scale, -9);
  for (guint kind = 0; kind < 2; kind++)
    for (guint g = 0; g < 4; g++) {
      if (g == 0 && how->coupled)
        om_omitted (&m);
      else
        om_constant (&m, SL_DTYPE_I8, 2, kind == 0 ? DIMS (CELLS, INPUTS) : DIMS (CELLS, CELLS),
                     scale, how->weight_zero, kind == 0 ? w[g] : r[g]);
    }
  for (guint i = 0; i < 3; i++) {
    if (how->peephole)
      om_constant (&m, SL_DTYPE_I8, 1, DIMS (CELLS), scale, 0, w[0]);
    else
      om_omitted (&m);
  }
  for (guint g = 0; g < 4; g++) {
    if ((g == 0 && how->coupled) || how->without_bias)
      om_omitted (&m);
    else
      om_constant (&m, SL_DTYPE_I32, 1, DIMS (CELLS), scale * input_scale, 0, b[g]);
  }
  om_omitted (&m);
  om_omitted (&m);
  for (guint i = 0; i < 2; i++)
    m.op.inputs[m.op.n_inputs++] = sl_tflite_writer_tensor (
      m.writer, &(SlTfliteTensor){ .name = "state",
                                   .dtype = i == 0 ? SL_DTYPE_I8 : SL_DTYPE_I16,
                                   .rank = 2,
                                   .dims = { BATCH, CELLS },
                                   .scale = i == 0 ? hidden_scale : how->cell_scale,
                                   .variable = TRUE });
  om_output (&m, SL_DTYPE_I8, 3,
             how->time_major ? DIMS (STEPS, BATCH, CELLS) : DIMS (BATCH, STEPS, CELLS),
             hidden_scale, 3);
  if (how->refused != NULL) {
    om_refuse (&m, how->refused);
    om_clear (&m);
    return;
  }
  for (gsize n = 0; n < BATCH; n++) {
    double hidden[CELLS] = { 0 }, cell[CELLS] = { 0 }, gates[4][CELLS];
    for (gsize t = 0; t < STEPS; t++) {
      const gsize at = how->time_major ? t * BATCH + n : n * STEPS + t;
      for (guint g = 0; g < 4; g++)
        for (guint u = 0; u < CELLS; u++) {
          gates[g][u] = b[g][u] * (double) scale * (double) input_scale;
          for (guint i = 0; i < INPUTS; i++)
            gates[g][u] += w[g][u * INPUTS + i] * (double) scale * om_real (&m, 0, at * INPUTS + i);
          for (guint i = 0; i < CELLS; i++)
            gates[g][u] += r[g][u * CELLS + i] * (double) scale * hidden[i];
          gates[g][u] = fmin (fmax (gates[g][u], -8), 8);
        }
      for (guint u = 0; u < CELLS; u++) {
        const double forget = sigmoid (gates[1][u]),
                     in = how->coupled ? 1 - forget : sigmoid (gates[0][u]);
        cell[u] = fmin (fmax (forget * cell[u] + in * tanh (gates[2][u]), -2.5), 2.5);
        expected[at * CELLS + u] = sigmoid (gates[3][u]) * tanh (cell[u]);
      }
      for (guint u = 0; u < CELLS; u++) /* what flows back has eight bits */
        hidden[u] = fmin (fmax (rint (expected[at * CELLS + u] * 128), -131), 124) / 128;
    }
  }
  om_expect (&m, 0, expected, 1.5);
  om_clear (&m);
}

static void
test_integer_lstm (void)
{
  static const IntegerLstm bad[] = {
    { .cell_scale = 0.001f,
      .refused =
        "the scale of its cell state, input 19, is 0.001; expected a power of two from 2^-15 to "
        "1" },
    { .cell_scale = 0, .refused = "input 19, is 0; expected a power of two" },
    { .cell_scale = 4, .refused = "input 19, is 4; expected a power of two" },
    { .cell_scale = 0.25f, .without_bias = TRUE, .refused = "input 12 is missing" },
    { .cell_scale = 0.25f, .relu = TRUE, .refused = "its activation is not TANH" },
    { .cell_scale = 0.25f,
      .weight_zero = 3,
      .refused = "expected a constant int8[5,7] of one scale, zero point 0" },
    { .cell_scale = 0.25f,
      .peephole = TRUE,
      .refused =
        "input 9: integer LSTMs run without peepholes, projection and layer normalisation" },
  };
  for (guint i = 0; i < 4; i++)
    run_integer_lstm (
      &(IntegerLstm){ .coupled = i & 1, .time_major = i & 2, .cell_scale = 1.0f / 4096 });
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    run_integer_lstm (&bad[i]);
}

static void
test_lstm (void)
{
  for (guint i = 0; i < 8; i++)
    run_lstm (i & 1, i & 2, i & 4);
}

static void
run_nms (gfloat sigma, const double *indices, const double *scores, double found)
{
  static const gfloat boxes[] = { 0, 0, 1, 1, 0, 0.1f,  1, 1.1f, 0, 2,
                                  1, 3, 1, 3, 0, 2.05f, 5, 5,    6, 6 };
  static const gfloat given[] = { 0.9f, 0.8f, 0.7f, 0.75f, 0.05f };
  const gfloat iou = sigma > 0 ? 1.0f : 0.5f, limit = 0.1f;
  OpModel m;
  om_init (&m, sigma > 0 ? SL_OP_NON_MAX_SUPPRESSION_V5 : SL_OP_NON_MAX_SUPPRESSION_V4, NULL, 1);
  om_input (&m, SL_DTYPE_F32, 2, DIMS (5, 4), 0, 0);
  om_input (&m, SL_DTYPE_F32, 1, DIMS (5), 0, 0);
  memcpy (m.data[0], boxes, sizeof boxes);
  memcpy (m.data[1], given, sizeof given);
  om_scalar (&m, 4);
  om_constant (&m, SL_DTYPE_F32, 0, NULL, 0, 0, &iou);
  om_constant (&m, SL_DTYPE_F32, 0, NULL, 0, 0, &limit);
  if (sigma > 0)
    om_constant (&m, SL_DTYPE_F32, 0, NULL, 0, 0, &sigma);
  om_output (&m, SL_DTYPE_I32, 1, DIMS (4), 0, 0);
  if (sigma > 0)
    om_output (&m, SL_DTYPE_F32, 1, DIMS (4), 0, 0);
  om_output (&m, SL_DTYPE_I32, 0, NULL, 0, 0);
  om_expect (&m, 0, indices, 0);
  if (sigma > 0)
    om_expect (&m, 1, scores, 1e-6);
  om_expect (&m, m.n_outputs - 1, &found, 0);
  om_clear (&m);
}

/* Boxes 0 and 1 overlap by 0.9 / 1.1, boxes 3 and 2 by 0.95. */
static void
test_nms (void)
{
  const double hard[] = { 0, 3, 0, 0 };
  const double second = 0.8 * exp (-0.5 * pow (0.9 / 1.1, 2) / 0.5),
               third = 0.7 * exp (-0.5 * 0.95 * 0.95 / 0.5);
  const double soft[] = { 0, 3, 1, 2 }, scores[] = { 0.9, 0.75, second, third };
  g_assert_cmpfloat (second, >, third);
  run_nms (0, hard, NULL, 2);
  run_nms (0.5f, soft, scores, 4);
}

/* SHAPE, RANK, FILL, RANGE, ZEROS_LIKE and WHERE become constants; the graph adds them to something
 * variable. */
static void
test_static (void)
{
  OpModel m;
  const double shape[] = { 2, 3, 4 }, rank = 3, filled[] = { 7, 7, 7, 7 }, range[] = { 2, 5, 8 },
               zeros[24] = { 0 };
  const double places[] = { 0, 1, 1, 0, 1, 1 };
  const guint8 condition[] = { 0, 1, 1, 1 };
  om_init (&m, SL_OP_SHAPE, NULL, 1);
  om_input (&m, SL_DTYPE_F32, 3, DIMS (2, 3, 4), 0, 0);
  om_output (&m, SL_DTYPE_I32, 1, DIMS (3), 0, 0);
  om_expect (&m, 0, shape, 0);
  om_clear (&m);
  om_init (&m, SL_OP_RANK, NULL, 1);
  om_input (&m, SL_DTYPE_F32, 3, DIMS (2, 3, 4), 0, 0);
  om_output (&m, SL_DTYPE_I32, 0, NULL, 0, 0);
  om_expect (&m, 0, &rank, 0);
  om_clear (&m);
  om_init (&m, SL_OP_ZEROS_LIKE, NULL, 1);
  om_input (&m, SL_DTYPE_F32, 3, DIMS (2, 3, 4), 0, 0);
  om_output (&m, SL_DTYPE_F32, 3, DIMS (2, 3, 4), 0, 0);
  om_expect (&m, 0, zeros, 0);
  om_clear (&m);
  for (guint i = 0; i < 3; i++) {
    om_init (&m, i == 0 ? SL_OP_FILL : i == 1 ? SL_OP_RANGE : SL_OP_WHERE, NULL, 1);
    if (i == 0)
      om_ints (&m, 2, DIMS (2, 2));
    if (i == 2)
      om_constant (&m, SL_DTYPE_BOOL, 2, DIMS (2, 2), 0, 0, condition);
    else
      om_scalar (&m, i == 0 ? 7 : 2);
    if (i == 1) {
      om_scalar (&m, 10);
      om_scalar (&m, 3);
    }
    /* a model has at least one input */
    const gint32 unused = sl_tflite_writer_tensor (
      m.writer, &(SlTfliteTensor){ .name = "x", .dtype = SL_DTYPE_F32, .rank = 1, .dims = { 1 } });
    m.inputs[0] = unused;
    m.data[0] = sl_tensor_buffer_new (4);
    m.n_inputs = 1;
    om_output (&m, i == 2 ? SL_DTYPE_I64 : SL_DTYPE_I32, i == 1 ? 1 : 2,
               i == 0   ? DIMS (2, 2)
               : i == 1 ? DIMS (3)
                        : DIMS (3, 2),
               0, 0);
    om_expect (&m, 0, i == 0 ? filled : i == 1 ? range : places, 0);
    om_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/resize", test_resize);
  g_test_add_func ("/ops/arg-max", test_arg_max);
  g_test_add_func ("/ops/cumsum", test_cumsum);
  g_test_add_func ("/ops/topk", test_topk);
  g_test_add_func ("/ops/matmul", test_matmul);
  g_test_add_func ("/ops/transpose-conv", test_transpose_conv);
  g_test_add_func ("/ops/conv16", test_conv16);
  g_test_add_func ("/ops/normalisations", test_normalisations);
  g_test_add_func ("/ops/l2-pool", test_l2_pool);
  g_test_add_func ("/ops/local-response", test_local_response);
  g_test_add_func ("/ops/lstm", test_lstm);
  g_test_add_func ("/ops/integer-lstm", test_integer_lstm);
  g_test_add_func ("/ops/nms", test_nms);
  g_test_add_func ("/ops/static", test_static);
  return g_test_run ();
}
