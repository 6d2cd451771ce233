/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Float layers whose weights are kept in 16 or 8 bits, against sums in double precision of the
 * rounded weights, and of rounded activations where these are multiplied in 16 bits: every
 * instruction set of this machine, one thread and two. What a precision does not name stays as it
 * is, bit by bit.
 */
#include <math.h>
#include <string.h>

#include "core/base/half.h"
#include "core/backends/float/float_layers.h"
#include "sightline/error.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define TOLERANCE 1e-5
/* Of sums of 32 products in binary16. */
#define HALVES_TOLERANCE 4e-3
/* Of sums of weights that are rounded. */
#define TILES_TOLERANCE 5e-4
/* Of sums in binary16 relative to results, both the root of their mean square. */
#define DEEP_TOLERANCE 1.3e-3

/* A convolution, or with @size 0 a fully connected layer of as many rows as @images. */
typedef struct
{
  gint32 images, size, in, out, fh, fw, stride, groups;
} Case;

static gint32
between (GRand *rand, gint32 lo, gint32 hi)
{
  return g_rand_int_range (rand, lo, hi + 1);
}

/* The nearest number with @bits of fraction that is a multiple of two to the @floor, of two the
 * even one. */
static double
nearest (double value, int bits, int floor)
{
  int exponent;
  frexp (value, &exponent);
  const double unit = ldexp (1, MAX (exponent - bits, floor));
  return rint (value / unit) * unit;
}

static double
rounded (SlPrecision precision, double value)
{
  return precision == SL_PRECISION_FP16   ? nearest (value, 11, -24)
         : precision == SL_PRECISION_BF16 ? nearest (value, 8, -133)
                                          : value;
}

static void
build (Check *check, const Case *c, SlPrecision precision, const gfloat *weights,
       const gfloat *bias)
{
  const gboolean connected = c->size == 0;
  const gint32 x_dims[] = { c->images, connected ? c->in : c->size, c->size, c->in };
  const gint32 w_dims[] = { c->out, connected ? c->in : c->fh, c->fw, c->in / c->groups };
  const SlOpParams params = { .window = { .padding = SL_PADDING_SAME,
                                          .stride_h = c->stride,
                                          .stride_w = c->stride,
                                          .dilation_h = 1,
                                          .dilation_w = 1 } };
  const gint32 x = check_input (check, SL_DTYPE_F32, connected ? 2 : 4, x_dims, 0, 0);
  const gint32 w =
    check_constant (check, SL_DTYPE_F32, connected ? 2 : 4, w_dims, NULL, 0, 0, 0, weights);
  const gint32 b = check_constant (check, SL_DTYPE_F32, 1, &c->out, NULL, 0, 0, 0, bias);
  sl_graph_set_precision (check->graph, precision);
  check_node (check, connected ? SL_OP_FULLY_CONNECTED : SL_OP_CONV_2D, (gint32[]){ x, w, b }, 3,
              check_output (check, SL_DTYPE_F32, 0, 0), connected ? NULL : &params);
  check_prepare (check);
  check_random (check, SL_DTYPE_F32,
                sl_graph_input_tensor (check->graph, 0)->bytes / sizeof (gfloat),
                check->input_data[0]);
}

/* A value of the output, and the sum of its terms' magnitudes. */
static double
expected (const Check *check, const Case *c, SlPrecision weights, SlPrecision activations, gsize at,
          double *magnitude)
{
  const SlNode *node = sl_graph_node (check->graph, 0);
  const gfloat *x = check->input_data[0], *w = sl_node_input (check->graph, node, 1)->data;
  const gboolean connected = c->size == 0;
  const gint32 *y = sl_graph_output_tensor (check->graph, 0)->dims, size = connected ? 1 : c->size;
  const gint32 out_w = connected ? 1 : y[2], out_h = connected ? 1 : y[1],
               channel = (gint32) (at % (gsize) c->out);
  const gint32 pixel = (gint32) (at / (gsize) c->out), ox = pixel % out_w,
               oy = pixel / out_w % out_h, image = pixel / out_w / out_h;
  const gint32 depth = c->in / c->groups, first = channel / (c->out / c->groups) * depth;
  const gint32 top = connected ? 0 : node->params.window.pad_top,
               left = connected ? 0 : node->params.window.pad_left;
  double sum = ((const gfloat *) sl_node_input (check->graph, node, 2)->data)[channel];
  *magnitude = fabs (sum) + 1e-3;
  for (gint32 fy = 0; fy < c->fh; fy++)
    for (gint32 fx = 0; fx < c->fw; fx++)
      for (gint32 k = 0; k < depth; k++) {
        const gint32 iy = oy * c->stride - top + fy, ix = ox * c->stride - left + fx;
        if (iy < 0 || iy >= size || ix < 0 || ix >= size)
          continue;
        const double product =
          rounded (activations, x[((image * size + iy) * size + ix) * c->in + first + k])
          * rounded (weights, w[((channel * c->fh + fy) * c->fw + fx) * depth + k]);
        sum += product;
        *magnitude += fabs (product);
      }
  return sum;
}

static void
compare (Check *check, const Case *c, const SlFloatIsa *isa, SlPrecision weights,
         SlPrecision activations, double tolerance)
{
  const gsize n = sl_graph_output_tensor (check->graph, 0)->bytes / sizeof (gfloat);
  for (guint threads = 1; threads <= 2; threads++) {
    gfloat *got = check_run (check, FALSE, threads);
    for (gsize i = 0; i < n; i++) {
      double magnitude;
      const double wanted = expected (check, c, weights, activations, i, &magnitude);
      if (!(fabs (got[i] - wanted) <= tolerance * magnitude))
        g_error ("%s, %u threads, %dx%dx%dx%d by %dx%d to %d, %d groups: value %" G_GSIZE_FORMAT
                 " is %.9g, expected %.9g",
                 isa->name, threads, c->images, c->size, c->size, c->in, c->fh, c->fw, c->out,
                 c->groups, i, got[i], wanted);
    }
    sl_tensor_buffer_free (got);
  }
}

static gsize
packed_bytes (const Check *check)
{
  SlSessionStats stats;
  g_autoptr (GError) error = NULL;
  g_autoptr (SlSession) session = sl_session_new (check->graph, 1, &error);
  g_assert_no_error (error);
  sl_session_stats (session, &stats);
  return stats.packed_bytes;
}

/* Sizes of which every instruction set makes tiles across channels. */
static void
random_case (GRand *rand, Case *c)
{
  *c = (Case){ .images = between (rand, 1, 2),
               .fh = 1,
               .fw = 1,
               .stride = 1,
               .groups = 1,
               .out = between (rand, 50, 140) };
  c->in = between (rand, 32, 300);
  if (between (rand, 0, 2) == 0) {
    c->images = between (rand, 1, 20);
    return;
  }
  c->size = between (rand, 3, 7);
  if (between (rand, 0, 1))
    return;
  c->fh = between (rand, 1, 4);
  c->fw = between (rand, 2, 4);
  c->stride = c->fh == 3 && c->fw == 3
                ? 2
                : between (rand, 1, 2); /* else Winograd's tiles may be taken, of floats */
  c->groups = between (rand, 1, 2);
  c->in = between (rand, 32 / (c->fh * c->fw) + 1, 300 / (c->fh * c->fw)) * c->groups;
  c->out = between (rand, 50, 140) * c->groups;
}

static void
test_rounded (gconstpointer data)
{
  const SlPrecision precision = (SlPrecision) GPOINTER_TO_INT (data);
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  g_autoptr (GRand) rand = g_rand_new_with_seed (16 + (guint32) precision);
  for (guint round = 0; round < 12; round++) {
    Case c;
    random_case (rand, &c);
    const gsize n = (gsize) (c.fh * c.fw) * (gsize) c.out * (gsize) c.in / (gsize) c.groups;
    const guint32 seed = g_rand_int (rand);
    g_autofree gfloat *weights = g_new (gfloat, n), *bias = g_new (gfloat, c.out);
    for (guint i = 0; i < 2 * n_isas; i++) {
      const SlFloatIsa *isa = isas[i / 2];
      const gboolean found = precision == SL_PRECISION_BF16 ? sl_float_pairs (isa) != NULL
                                                            : sl_float_halves (isa) != NULL;
      const gboolean pairs = i % 2 == 0 && c.groups == 1 && found, kept = isa->gemm_half != NULL;
      Check check, single;
      sl_float_isa_force (isa);
      sl_float_pairs_forbid (!pairs);
      check_init (&check, seed);
      check_random (&check, SL_DTYPE_F32, n, weights);
      check_random (&check, SL_DTYPE_F32, (gsize) c.out, bias);
      build (&check, &c, precision, weights, bias);
      compare (&check, &c, isa, kept ? precision : SL_PRECISION_FLOAT,
               pairs ? precision : SL_PRECISION_FLOAT,
               pairs && precision == SL_PRECISION_FP16 ? HALVES_TOLERANCE : TOLERANCE);
      check_init (&single, seed);
      build (&single, &c, SL_PRECISION_FLOAT, weights, bias);
      if (kept)
        g_assert_cmpuint (packed_bytes (&check) * 3, <, packed_bytes (&single) * 2);
      else
        g_assert_cmpuint (packed_bytes (&check), ==, packed_bytes (&single));
      check_clear (&single);
      check_clear (&check);
      sl_float_pairs_forbid (FALSE);
      sl_float_isa_force (NULL);
    }
  }
}

/* Bit by bit what floats give: too little depth, and weights that 16 bits do not reach. */
static void
test_unchanged (gconstpointer data)
{
  const SlPrecision precision = (SlPrecision) GPOINTER_TO_INT (data);
  const Case cases[] = {
    { .images = 1, .size = 5, .in = 31, .out = 64, .fh = 1, .fw = 1, .stride = 1, .groups = 1 },
    { .images = 2, .size = 0, .in = 64, .out = 64, .fh = 1, .fw = 1, .stride = 1, .groups = 1 }
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Case *c = &cases[i];
    gfloat weights[64 * 64], bias[64], *got[2];
    Check check[2];
    for (guint k = 0; k < 2; k++) {
      check_init (&check[k], i);
      check_random (&check[k], SL_DTYPE_F32, G_N_ELEMENTS (weights), weights);
      check_random (&check[k], SL_DTYPE_F32, G_N_ELEMENTS (bias), bias);
      weights[77] = precision == SL_PRECISION_FP16 ? 65505 : 3.4e38f;
      build (&check[k], c, k == 0 ? precision : SL_PRECISION_FLOAT, weights, bias);
      got[k] = check_run (&check[k], FALSE, 1);
    }
    g_assert_cmpmem (got[0], sl_graph_output_tensor (check[0].graph, 0)->bytes, got[1],
                     sl_graph_output_tensor (check[1].graph, 0)->bytes);
    for (guint k = 0; k < 2; k++) {
      sl_tensor_buffer_free (got[k]);
      check_clear (&check[k]);
    }
  }
}

/* Weights that are numbers of 16 bits already are kept so where rows are few, and give what floats
 * of more rows give, bit by bit. */
static void
test_halves (void)
{
  enum
  {
    IN = 70,
    OUT = 60,
    FEW = 20,
    MANY = 80
  };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint i = 0; i < n_isas; i++) {
    const Case few = {
      .images = FEW, .in = IN, .out = OUT, .fh = 1, .fw = 1, .stride = 1, .groups = 1
    };
    Case many = few;
    gfloat weights[OUT * IN], bias[OUT];
    Check check[2];
    many.images = MANY;
    for (guint k = 0; k < 2; k++) {
      check_init (&check[k], 1);
      check_random (&check[k], SL_DTYPE_F32, G_N_ELEMENTS (weights), weights);
      for (guint w = 0; w < G_N_ELEMENTS (weights); w++)
        weights[w] = (gfloat) rounded (SL_PRECISION_FP16, (double) weights[w]);
      check_random (&check[k], SL_DTYPE_F32, G_N_ELEMENTS (bias), bias);
      build (&check[k], k == 0 ? &few : &many, SL_PRECISION_FLOAT, weights, bias);
    }
    memcpy (check[0].input_data[0], check[1].input_data[0], FEW * IN * sizeof (gfloat));
    sl_float_isa_force (isas[i]);
    gfloat *got = check_run (&check[0], FALSE, 1), *wide = check_run (&check[1], FALSE, 1);
    g_assert_cmpmem (got, FEW * OUT * sizeof (gfloat), wide, FEW * OUT * sizeof (gfloat));
    if (isas[i]->gemm_half != NULL)
      g_assert_cmpuint (packed_bytes (&check[0]) * 3, <, packed_bytes (&check[1]) * 2);
    sl_float_isa_force (NULL);
    sl_tensor_buffer_free (got);
    sl_tensor_buffer_free (wide);
    for (guint k = 0; k < 2; k++)
      check_clear (&check[k]);
  }
}

/* Weights that a file keeps in 8 bits, times a step of their channel, are kept so where rows are
 * few. */
static void
test_bytes (void)
{
  static const struct
  {
    Case shape;
    gint32 most;
    SlPrecision precision;
    gboolean kept;
  } cases[] = {
    { { .images = 1, .in = 70, .out = 60, .fh = 1, .fw = 1, .stride = 1, .groups = 1 },
      127,
      SL_PRECISION_FLOAT,
      TRUE },
    { { .images = 61, .in = 133, .out = 50, .fh = 1, .fw = 1, .stride = 1, .groups = 1 },
      7,
      SL_PRECISION_FLOAT,
      TRUE },
    { { .images = 150, .in = 133, .out = 50, .fh = 1, .fw = 1, .stride = 1, .groups = 1 },
      127,
      SL_PRECISION_FLOAT,
      FALSE },
    { { .images = 150, .in = 133, .out = 50, .fh = 1, .fw = 1, .stride = 1, .groups = 1 },
      127,
      SL_PRECISION_FP16,
      TRUE },
    { { .images = 2, .size = 5, .in = 40, .out = 75, .fh = 3, .fw = 2, .stride = 2, .groups = 1 },
      127,
      SL_PRECISION_FLOAT,
      TRUE },
    { { .images = 1, .size = 6, .in = 64, .out = 128, .fh = 1, .fw = 3, .stride = 1, .groups = 2 },
      127,
      SL_PRECISION_FLOAT,
      TRUE },
    { { .images = 9, .in = 70, .out = 60, .fh = 1, .fw = 1, .stride = 1, .groups = 1 },
      127,
      SL_PRECISION_FP16,
      TRUE },
    { { .images = 9, .in = 70, .out = 60, .fh = 1, .fw = 1, .stride = 1, .groups = 1 },
      255,
      SL_PRECISION_FLOAT,
      FALSE },
    { { .images = 9, .in = 30, .out = 60, .fh = 1, .fw = 1, .stride = 1, .groups = 1 },
      127,
      SL_PRECISION_FLOAT,
      FALSE },
  };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    const Case *c = &cases[k].shape;
    const gint32 row = c->fh * c->fw * c->in / c->groups;
    const gsize n = (gsize) row * (gsize) c->out;
    g_autofree gfloat *whole = g_new (gfloat, n), *others = g_new (gfloat, n),
                      *bias = g_new (gfloat, c->out);
    for (gint32 channel = 0; channel < c->out; channel++) {
      const gfloat step = channel == 3 ? 1e-30f : (gfloat) g_rand_double_range (rand, 1e-4, 0.1);
      for (gint32 i = 0; i < row; i++)
        whole[channel * row + i] =
          channel == 2 ? 0 : (gfloat) between (rand, -cases[k].most, cases[k].most) * step;
      whole[channel * row] = (gfloat) (channel == 1 && cases[k].most == 127 ? -128 : cases[k].most)
                             * (channel == 2 ? 0 : step);
    }
    for (guint i = 0; i < n_isas; i++) {
      Check check, single;
      sl_float_isa_force (isas[i]);
      sl_float_pairs_forbid (TRUE);
      check_init (&check, k);
      check_random (&check, SL_DTYPE_F32, n, others);
      check_random (&check, SL_DTYPE_F32, (gsize) c->out, bias);
      build (&check, c, cases[k].precision, whole, bias);
      compare (&check, c, isas[i], SL_PRECISION_FLOAT, SL_PRECISION_FLOAT, TOLERANCE);
      check_init (&single, k);
      build (&single, c, SL_PRECISION_FLOAT, others, bias);
      if (cases[k].kept && isas[i]->gemm_bytes != NULL)
        g_assert_cmpuint (packed_bytes (&check) * 5, <, packed_bytes (&single) * 2);
      else
        g_assert_cmpuint (packed_bytes (&check), ==, packed_bytes (&single));
      check_clear (&single);
      check_clear (&check);
      sl_float_pairs_forbid (FALSE);
      sl_float_isa_force (NULL);
    }
  }
}

/* Arithmetic of binary16 where numbers are far outside of its range: each row as exact as others,
 * whatever its activations' magnitude, beside weights of up to 1000. */
static void
test_halves_range (void)
{
  enum
  {
    IN = 200,
    OUT = 70,
    ROWS = 13
  };
  const Case c = {
    .images = ROWS, .in = IN, .out = OUT, .fh = 1, .fw = 1, .stride = 1, .groups = 1
  };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  guint tried = 0;
  for (guint i = 0; i < n_isas; i++)
    for (gint most = -4; most <= 9; most += 13) {
      gfloat weights[OUT * IN], bias[OUT] = { 0 };
      Check check;
      if (sl_float_halves (isas[i]) == NULL)
        continue;
      sl_float_isa_force (isas[i]);
      check_init (&check, 2);
      check_random (&check, SL_DTYPE_F32, G_N_ELEMENTS (weights), weights);
      for (guint w = 0; w < G_N_ELEMENTS (weights); w++)
        weights[w] = ldexpf (weights[w], most - (gint) (w / IN % 4));
      build (&check, &c, SL_PRECISION_FP16, weights, bias);
      gfloat *x = check.input_data[0];
      for (gint32 k = 0; k < ROWS * IN; k++)
        x[k] = k / IN == 5 ? 0 : ldexpf (x[k], 10 * (k / IN - 6));
      gfloat *got = check_run (&check, FALSE, 2);
      for (gint32 k = 0; k < ROWS * OUT; k++) {
        double sum = 0, magnitude = 0;
        for (gint32 d = 0; d < IN; d++) {
          const double product = (double) x[k / OUT * IN + d] * (double) weights[k % OUT * IN + d];
          sum += product;
          magnitude += fabs (product);
        }
        if (!(fabs ((double) got[k] - sum) <= HALVES_TOLERANCE * magnitude))
          g_error ("row %d, channel %d: %.9g, expected %.9g of %.9g", k / OUT, k % OUT,
                   (double) got[k], sum, magnitude);
      }
      sl_tensor_buffer_free (got);
      check_clear (&check);
      sl_float_isa_force (NULL);
      tried++;
    }
  if (tried == 0)
    g_test_skip ("this processor has no arithmetic of binary16 that is used");
}

/* The error of sums in binary16 does not grow with their depth. Operands are numbers of binary16,
 * so only sums round. */
static void
test_halves_deep (void)
{
  enum
  {
    IN = 4096,
    OUT = 24,
    ROWS = 8
  };
  const Case c = {
    .images = ROWS, .in = IN, .out = OUT, .fh = 1, .fw = 1, .stride = 1, .groups = 1
  };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  g_autofree gfloat *weights = g_new (gfloat, OUT * IN);
  const gfloat bias[OUT] = { 0 };
  for (guint i = 0; i < n_isas; i++) {
    Check check;
    double errors = 0, squares = 0;
    sl_float_isa_force (isas[i]);
    check_init (&check, 4);
    check_random (&check, SL_DTYPE_F32, OUT * IN, weights);
    for (guint k = 0; k < OUT * IN; k++)
      weights[k] = sl_half_to_float (sl_half_from_float (weights[k]));
    build (&check, &c, SL_PRECISION_FP16, weights, bias);
    gfloat *x = check.input_data[0];
    for (guint k = 0; k < ROWS * IN; k++)
      x[k] = sl_half_to_float (sl_half_from_float (x[k]));
    gfloat *got = check_run (&check, FALSE, 1);
    for (gint32 k = 0; k < ROWS * OUT; k++) {
      double sum = 0;
      for (gint32 d = 0; d < IN; d++)
        sum += (double) x[k / OUT * IN + d] * (double) weights[k % OUT * IN + d];
      errors += (got[k] - sum) * (got[k] - sum);
      squares += sum * sum;
    }
    g_assert_cmpfloat (sqrt (errors / squares), <, DEEP_TOLERANCE);
    sl_tensor_buffer_free (got);
    check_clear (&check);
    sl_float_isa_force (NULL);
  }
}

/* A row by itself, which goes through several panels at once where sums are of binary16, has the
 * results that it has among others, bit by bit. */
static void
test_alone (void)
{
  enum
  {
    IN = 300,
    OUT = 83,
    ROWS = 3
  };
  const Case c[2] = {
    { .images = ROWS, .in = IN, .out = OUT, .fh = 1, .fw = 1, .stride = 1, .groups = 1 },
    { .images = 1, .in = IN, .out = OUT, .fh = 1, .fw = 1, .stride = 1, .groups = 1 }
  };
  g_autofree gfloat *weights = g_new (gfloat, OUT * IN);
  gfloat bias[OUT], *got[2];
  Check check[2];
  for (guint k = 0; k < 2; k++) {
    check_init (&check[k], 1);
    check_random (&check[k], SL_DTYPE_F32, OUT * IN, weights);
    check_random (&check[k], SL_DTYPE_F32, OUT, bias);
    build (&check[k], &c[k], SL_PRECISION_FP16, weights, bias);
  }
  memcpy (check[1].input_data[0], check[0].input_data[0], IN * sizeof (gfloat));
  for (guint k = 0; k < 2; k++)
    got[k] = check_run (&check[k], FALSE, 1);
  g_assert_cmpmem (got[0], OUT * sizeof (gfloat), got[1], OUT * sizeof (gfloat));
  for (guint k = 0; k < 2; k++) {
    sl_tensor_buffer_free (got[k]);
    check_clear (&check[k]);
  }
}

enum
{
  CHANNELS = 64 /* of tiles */
};

/* Windows of three by three that Winograd's tiles stand for. */
static Case
tiles_case (gint32 size)
{
  return (Case){ .images = 1,
                 .size = size,
                 .in = CHANNELS,
                 .out = CHANNELS,
                 .fh = 3,
                 .fw = 3,
                 .stride = 1,
                 .groups = 1 };
}

/* Weights of 16 bits are for less memory: they do not become those of the largest tiles. In
 * binary16 those of the others are less than the file's floats. */
static void
test_tiles (gconstpointer data)
{
  const Case c = tiles_case (40);
  const gsize n = 9 * CHANNELS * CHANNELS, file = n * sizeof (gfloat);
  g_autofree gfloat *weights = g_new (gfloat, n);
  gfloat bias[CHANNELS];
  gsize bytes[2];
  for (guint k = 0; k < 2; k++) {
    Check check;
    check_init (&check, 3);
    check_random (&check, SL_DTYPE_F32, n, weights);
    check_random (&check, SL_DTYPE_F32, CHANNELS, bias);
    build (&check, &c, k == 0 ? SL_PRECISION_FLOAT : (SlPrecision) GPOINTER_TO_INT (data), weights,
           bias);
    bytes[k] = packed_bytes (&check);
    check_clear (&check);
  }
  g_assert_cmpuint (bytes[0], >, 3 * file);
  g_assert_cmpuint (
    bytes[1], <,
    GPOINTER_TO_INT (data) == SL_PRECISION_FP16 && sl_float_isa ()->gemm_half ? file : 2 * file);
}

/* The sums of weights that tiles have in binary16 round as weights do. */
static void
test_tile_sums (void)
{
  const Case c = tiles_case (14);
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  const gsize n = 9 * CHANNELS * CHANNELS;
  g_autofree gfloat *weights = g_new (gfloat, n);
  gfloat bias[CHANNELS];
  for (guint i = 0; i < n_isas; i++) {
    Check check;
    sl_float_isa_force (isas[i]);
    check_init (&check, 3);
    check_random (&check, SL_DTYPE_F32, n, weights);
    check_random (&check, SL_DTYPE_F32, CHANNELS, bias);
    build (&check, &c, SL_PRECISION_FP16, weights, bias);
    compare (&check, &c, isas[i], SL_PRECISION_FLOAT, SL_PRECISION_FLOAT,
             sl_float_halves (isas[i]) != NULL ? HALVES_TOLERANCE : TILES_TOLERANCE);
    check_clear (&check);
    sl_float_isa_force (NULL);
  }
}

/* A NaN or an infinite value stays in its own pixel. */
static void
test_neighbours (gconstpointer data)
{
  const SlPrecision precision = (SlPrecision) GPOINTER_TO_INT (data);
  const Case c = {
    .images = 1, .size = 5, .in = 37, .out = 50, .fh = 1, .fw = 1, .stride = 1, .groups = 1
  };
  gfloat weights[37 * 50], bias[50];
  Check check;
  check_init (&check, 1);
  check_random (&check, SL_DTYPE_F32, G_N_ELEMENTS (weights), weights);
  check_random (&check, SL_DTYPE_F32, G_N_ELEMENTS (bias), bias);
  build (&check, &c, precision, weights, bias);
  for (gint32 pixel = 0; pixel < 25; pixel++) {
    gfloat *x = check.input_data[0];
    for (gint32 i = 0; i < 25 * 37; i++)
      x[i] = i / 37 == pixel ? (pixel % 2 ? NAN : INFINITY) : 1;
    gfloat *got = check_run (&check, FALSE, 1);
    for (gint32 i = 0; i < 25 * 50; i++)
      g_assert_cmpint (isfinite (got[i]) != 0, ==, i / 50 != pixel);
    sl_tensor_buffer_free (got);
  }
  check_clear (&check);
}

/* Every number of 16 bits and back, and what lies between them. */
static void
test_numbers (void)
{
  for (guint i = 0; i <= G_MAXUINT16; i++) {
    const gfloat half = sl_half_to_float ((guint16) i), wide = sl_bfloat_to_float ((guint16) i);
    if (isfinite (half))
      g_assert_true (sl_half_holds (half));
    if (isfinite (wide))
      g_assert_cmpuint (sl_bfloat_from_float (wide), ==, i);
    else
      g_assert_cmpint (isnan (sl_bfloat_to_float (sl_bfloat_from_float (wide))) != 0, ==,
                       isnan (wide) != 0);
  }
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  for (guint i = 0; i < 100000; i++) {
    const gfloat value =
      (gfloat) ldexp (g_rand_double_range (rand, -1, 1), between (rand, -30, 15));
    g_assert_cmpfloat (sl_bfloat_to_float (sl_bfloat_from_float (value)), ==,
                       nearest ((double) value, 8, -133));
    g_assert_cmpint (sl_half_holds (value), ==,
                     nearest ((double) value, 11, -24) == (double) value);
  }
  g_assert_cmpfloat (sl_bfloat_to_float (sl_bfloat_from_float (SL_BFLOAT_MOST)), ==,
                     SL_BFLOAT_MOST);
  g_assert_true (isinf (sl_bfloat_to_float (sl_bfloat_from_float (3.4e38f))));
  g_assert_false (sl_half_holds (NAN));
  g_assert_false (sl_half_holds (INFINITY));
  g_assert_false (sl_half_holds (65536));
}

static void
test_names (void)
{
  static const char *const names[] = { "float", "bf16", "fp16" };
  SlPrecision precision;
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_assert_true (sl_precision_parse (names[i], &precision, NULL));
    g_assert_cmpint (precision, ==, i);
    g_assert_cmpstr (sl_precision_name (precision), ==, names[i]);
  }
  g_assert_true (sl_precision_parse (NULL, &precision, NULL) && precision == SL_PRECISION_FLOAT);
  g_assert_true (sl_precision_parse ("", &precision, NULL) && precision == SL_PRECISION_FLOAT);
  g_assert_false (sl_precision_parse ("half\n", &precision, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_ARGUMENT);
  g_assert_cmpstr (error->message, ==, "precision=half\\n: expected float, bf16 or fp16");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("SIGHTLINE_BACKEND", "float", TRUE);
  g_test_add_data_func ("/precision/bf16", GINT_TO_POINTER (SL_PRECISION_BF16), test_rounded);
  g_test_add_data_func ("/precision/fp16", GINT_TO_POINTER (SL_PRECISION_FP16), test_rounded);
  g_test_add_data_func ("/precision/unchanged/bf16", GINT_TO_POINTER (SL_PRECISION_BF16),
                        test_unchanged);
  g_test_add_data_func ("/precision/unchanged/fp16", GINT_TO_POINTER (SL_PRECISION_FP16),
                        test_unchanged);
  g_test_add_data_func ("/precision/neighbours/bf16", GINT_TO_POINTER (SL_PRECISION_BF16),
                        test_neighbours);
  g_test_add_data_func ("/precision/neighbours/fp16", GINT_TO_POINTER (SL_PRECISION_FP16),
                        test_neighbours);
  g_test_add_func ("/precision/halves", test_halves);
  g_test_add_func ("/precision/bytes", test_bytes);
  g_test_add_func ("/precision/halves/range", test_halves_range);
  g_test_add_func ("/precision/halves/deep", test_halves_deep);
  g_test_add_func ("/precision/alone", test_alone);
  g_test_add_data_func ("/precision/tiles/bf16", GINT_TO_POINTER (SL_PRECISION_BF16), test_tiles);
  g_test_add_data_func ("/precision/tiles/fp16", GINT_TO_POINTER (SL_PRECISION_FP16), test_tiles);
  g_test_add_func ("/precision/tiles/sums", test_tile_sums);
  g_test_add_func ("/precision/numbers", test_numbers);
  g_test_add_func ("/precision/names", test_names);
  return g_test_run ();
}
