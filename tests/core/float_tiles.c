/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolutions of three by three, stride 1, by Winograd's tiles: every instruction set of this
 * machine against sums in double precision written here. Whatever tiles are taken, the error is at
 * most four times that of a plain sum of floats.
 */
#include <math.h>
#include <string.h>

#include "core/backends/float/float_layers.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

/* Of a random layer; what is allowed is of the root of the mean square, or the largest of all. */
#define MOST_ERROR 4
/* Bytes of packed weights by those of the model: 36 matrices are four times nine. */
#define SIX 3.9

typedef struct
{
  gint32 images, h, w, in, out, top, left, bottom, right;
} Case;

/* @plain: the sum of floats in the order of the window */
typedef struct
{
  double exact;
  gfloat plain;
} Sum;

static gint32
between (GRand *rand, gint32 lo, gint32 hi)
{
  return g_rand_int_range (rand, lo, hi + 1);
}

/* Free it with g_free(). */
static Sum *
sums_of (const Case *c, const gfloat *x, const gfloat *weights, const gfloat *bias, gsize *n)
{
  const gint32 h = c->h + c->top + c->bottom - 2, w = c->w + c->left + c->right - 2;
  *n = (gsize) (c->images * h * w * c->out);
  Sum *sums = g_new (Sum, *n);
  for (gsize i = 0; i < *n; i++) {
    const gint32 channel = (gint32) (i % (gsize) c->out), pixel = (gint32) (i / (gsize) c->out);
    const gint32 y0 = pixel / w % h - c->top, x0 = pixel % w - c->left;
    sums[i] = (Sum){ bias[channel], bias[channel] };
    for (gint32 tap = 0; tap < 9; tap++) {
      const gint32 iy = y0 + tap / 3, ix = x0 + tap % 3;
      const gfloat *from = x + ((pixel / w / h * c->h + iy) * c->w + ix) * c->in,
                   *by = weights + (channel * 9 + tap) * c->in;
      for (gint32 k = 0; k < c->in && iy >= 0 && iy < c->h && ix >= 0 && ix < c->w; k++) {
        sums[i].exact += (double) from[k] * (double) by[k];
        sums[i].plain = fmaf (from[k], by[k], sums[i].plain);
      }
    }
  }
  return sums;
}

/* Of the tensor @x. */
static void
build (Check *check, const Case *c, gint32 x, const gfloat *weights, const gfloat *bias)
{
  const gint32 w_dims[] = { c->out, 3, 3, c->in };
  const SlOpParams params = { .window = { .padding = SL_PADDING_EXPLICIT,
                                          .pad_top = c->top,
                                          .pad_bottom = c->bottom,
                                          .pad_left = c->left,
                                          .pad_right = c->right,
                                          .stride_h = 1,
                                          .stride_w = 1,
                                          .dilation_h = 1,
                                          .dilation_w = 1 } };
  const gint32 inputs[] = {
    x,
    check_constant (check, SL_DTYPE_F32, 4, w_dims, NULL, 0, 0, 0, weights),
    check_constant (check, SL_DTYPE_F32, 1, &c->out, NULL, 0, 0, 0, bias),
  };
  check_node (check, SL_OP_CONV_2D, inputs, 3, check_output (check, SL_DTYPE_F32, 0, 0), &params);
  check_prepare (check);
}

static gint32
add_input (Check *check, const Case *c)
{
  const gint32 dims[] = { c->images, c->h, c->w, c->in };
  return check_input (check, SL_DTYPE_F32, 4, dims, 0, 0);
}

/* Whether the session of the instruction set in force packs 36 matrices. */
static gboolean
takes_six (const Check *check, const Case *c)
{
  SlSessionStats stats;
  g_autoptr (GError) error = NULL;
  g_autoptr (SlSession) session = sl_session_new (check->graph, 1, &error);
  g_assert_no_error (error);
  sl_session_stats (session, &stats);
  return (double) stats.packed_bytes > SIX * 9 * sizeof (gfloat) * c->in * c->out;
}

/* Errors by that of the plain sum: the root of the mean square, and the largest. */
static void
compare (const Case *c, const SlFloatIsa *isa, const Sum *sums, const gfloat *got, gsize n)
{
  double square = 0, plain_square = 0, most = 0, plain_most = 0;
  for (gsize i = 0; i < n; i++) {
    const double error = fabs (got[i] - sums[i].exact),
                 plain = fabs (sums[i].plain - sums[i].exact);
    square += error * error;
    plain_square += plain * plain;
    most = MAX (most, error);
    plain_most = MAX (plain_most, plain);
  }
  if (!(sqrt (square) <= MOST_ERROR * sqrt (plain_square)) || !(most <= MOST_ERROR * plain_most))
    g_error ("%s, %dx%dx%dx%d to %d, padding %d %d %d %d: error %.3g, largest %.3g; of the plain "
             "sum %.3g, %.3g",
             isa->name, c->images, c->h, c->w, c->in, c->out, c->top, c->left, c->bottom, c->right,
             sqrt (square / (double) n), most, sqrt (plain_square / (double) n), plain_most);
}

/* Odd sizes, any borders, and channels that fill no register, one panel, or many. */
static void
random_case (GRand *rand, Case *c)
{
  *c = (Case){ .images = between (rand, 1, 2),
               .h = between (rand, 13, 22),
               .w = between (rand, 13, 22),
               .in = between (rand, 6, between (rand, 0, 2) ? 40 : 90),
               .out = between (rand, 6, between (rand, 0, 2) ? 40 : 70),
               .top = between (rand, 0, 2),
               .left = between (rand, 0, 2),
               .bottom = between (rand, 0, 2),
               .right = between (rand, 0, 2) };
}

/* @c of random @weights and @bias. */
static void
begin (Check *check, guint32 seed, const Case *c, gfloat *weights, gfloat *bias)
{
  check_init (check, seed);
  check_random (check, SL_DTYPE_F32, (gsize) (c->out * 9 * c->in), weights);
  check_random (check, SL_DTYPE_F32, (gsize) c->out, bias);
  build (check, c, add_input (check, c), weights, bias);
}

static void
test_error (void)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  g_autoptr (GRand) rand = g_rand_new_with_seed (36);
  guint six = 0;
  for (guint round = 0; round < 24; round++) {
    Case c;
    Check check;
    gsize n;
    random_case (rand, &c);
    g_autofree gfloat *weights = g_new (gfloat, c.out * 9 * c.in), *bias = g_new (gfloat, c.out);
    begin (&check, g_rand_int (rand), &c, weights, bias);
    g_autofree Sum *sums = sums_of (&c, check.input_data[0], weights, bias, &n);
    for (guint i = 0; i < n_isas; i++)
      for (guint threads = 1; threads <= 2; threads++) {
        sl_float_isa_force (isas[i]);
        gfloat *got = check_run (&check, FALSE, threads);
        six += threads == 1 && takes_six (&check, &c);
        sl_float_isa_force (NULL);
        compare (&c, isas[i], sums, got, n);
        sl_tensor_buffer_free (got);
      }
    check_clear (&check);
  }
  g_assert_cmpuint (six, >=, 18 * n_isas);
}

/* A NaN in one pixel reaches all windows over it, and nothing outside of the tiles with these. */
static void
test_nan (void)
{
  enum
  {
    SIZE = 18,
    CHANNELS = 16
  };
  const Case c = { 1, SIZE, SIZE, CHANNELS, CHANNELS, 1, 1, 1, 1 };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  gfloat weights[CHANNELS * 9 * CHANNELS], bias[CHANNELS];
  Check check;
  begin (&check, 4, &c, weights, bias);
  gfloat *x = check.input_data[0];
  for (guint k = 0; k < n_isas; k++)
    for (gint32 pixel = 0; pixel < SIZE * SIZE; pixel += 7) {
      const gint32 py = pixel / SIZE, px = pixel % SIZE;
      for (gint32 i = 0; i < SIZE * SIZE * CHANNELS; i++)
        x[i] = i / CHANNELS == pixel ? NAN : 1;
      sl_float_isa_force (isas[k]);
      g_assert_true (takes_six (&check, &c));
      gfloat *got = check_run (&check, FALSE, 1);
      sl_float_isa_force (NULL);
      for (gint32 i = 0; i < SIZE * SIZE * CHANNELS; i++) {
        const gint32 y = i / CHANNELS / SIZE, column = i / CHANNELS % SIZE;
        const gint32 from_y = y / 4 * 4 - 1, from_x = column / 4 * 4 - 1;
        const gboolean covers = ABS (y - py) <= 1 && ABS (column - px) <= 1,
                       under = py >= from_y && py < from_y + 6 && px >= from_x && px < from_x + 6;
        if (covers ? isfinite (got[i]) : !under && !isfinite (got[i]))
          g_error ("%s: pixel %d, %d is %g with NaN in pixel %d, %d", isas[k]->name, y, column,
                   got[i], py, px);
      }
      sl_tensor_buffer_free (got);
    }
  check_clear (&check);
}

/* What a large activation leaves in windows of its tile that do not cover it is a small part of it.
 */
static void
test_large (void)
{
  enum
  {
    SIZE = 18,
    CHANNELS = 16,
    PIXEL = 8 * SIZE + 9
  };
  const Case c = { 1, SIZE, SIZE, CHANNELS, CHANNELS, 1, 1, 1, 1 };
  const gfloat large = 1e6f;
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  gfloat weights[CHANNELS * 9 * CHANNELS], bias[CHANNELS];
  gsize n;
  Check check;
  begin (&check, 8, &c, weights, bias);
  gfloat *x = check.input_data[0];
  x[PIXEL * CHANNELS] = large;
  g_autofree Sum *sums = sums_of (&c, x, weights, bias, &n);
  for (guint k = 0; k < n_isas; k++) {
    sl_float_isa_force (isas[k]);
    gfloat *got = check_run (&check, FALSE, 1);
    sl_float_isa_force (NULL);
    for (gsize i = 0; i < n; i++) {
      const gint32 y = (gint32) i / CHANNELS / SIZE - PIXEL / SIZE,
                   column = (gint32) i / CHANNELS % SIZE - PIXEL % SIZE;
      const gboolean near = ABS (y) < 6 && ABS (column) < 6;
      g_assert_cmpfloat (fabs (got[i] - sums[i].exact), <, near ? 1e-5 * (double) large : 1e-3);
    }
    sl_tensor_buffer_free (got);
  }
  check_clear (&check);
}

/* Sums of DYNAMIC_QUANTIZE's whole numbers are exact. Activations are 0 to 255, which stay. */
static void
test_whole (void)
{
  enum
  {
    SIZE = 20,
    CHANNELS = 32
  };
  const Case c = { 1, SIZE, SIZE, CHANNELS, CHANNELS, 1, 1, 1, 1 };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  gfloat weights[CHANNELS * 9 * CHANNELS], bias[CHANNELS];
  gsize n;
  Check check;
  g_autoptr (GError) error = NULL;
  check_init (&check, 7);
  const gint32 x = add_input (&check, &c);
  gint32 rounded[3];
  for (guint i = 0; i < G_N_ELEMENTS (rounded); i++)
    rounded[i] = check_middle (&check, SL_DTYPE_F32, 0, 0);
  g_assert_true (sl_graph_add_node (check.graph, SL_OP_DYNAMIC_QUANTIZE, 0, &x, 1, rounded, 3,
                                    &(SlOpParams){ 0 }, &error));
  g_assert_no_error (error);
  gfloat *values = check.input_data[0];
  for (gint32 i = 0; i < SIZE * SIZE * CHANNELS; i++)
    values[i] = (gfloat) (i < 2 ? 255 * i : between (check.rand, 0, 255));
  for (gsize i = 0; i < G_N_ELEMENTS (weights); i++)
    weights[i] = (gfloat) between (check.rand, -127, 127);
  for (gsize i = 0; i < CHANNELS; i++)
    bias[i] = (gfloat) between (check.rand, -1000, 1000);
  build (&check, &c, rounded[0], weights, bias);
  g_autofree Sum *sums = sums_of (&c, values, weights, bias, &n);
  for (guint k = 0; k < n_isas; k++) {
    sl_float_isa_force (isas[k]);
    gfloat *got = check_run (&check, FALSE, 1);
    sl_float_isa_force (NULL);
    for (gsize i = 0; i < n; i++)
      g_assert_cmpfloat (got[i], ==, sums[i].exact);
    sl_tensor_buffer_free (got);
  }
  check_clear (&check);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("SIGHTLINE_BACKEND", "float", TRUE);
  g_test_add_func ("/float_tiles/error", test_error);
  g_test_add_func ("/float_tiles/nan", test_nan);
  g_test_add_func ("/float_tiles/large", test_large);
  g_test_add_func ("/float_tiles/whole", test_whole);
  return g_test_run ();
}
