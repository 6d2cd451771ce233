/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fully connected layers of many rows, of which blocks take Strassen's algorithm: every instruction
 * set of this machine against sums in double precision written here. The error is at most three
 * times that of a plain sum of floats. Large and infinite numbers and NaN of a row or of a channel
 * do not reach the others.
 */
#include <math.h>
#include <string.h>

#include "core/backends/float/float_layers.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

/* Of the root of the mean square, and the largest of all. */
#define MOST_ERROR 3
/* Where magnitudes of halves differ as much as blocks allow. */
#define MOST_ERROR_APART 12
/* Of the sum of a value's products' magnitudes. */
#define TOLERANCE 1e-5

typedef struct
{
  gint32 rows, depth, channels;
} Case;

/* @plain: the sum of floats in order; @magnitude: the sum of the magnitudes
 * of its bias and its products */
typedef struct
{
  double exact, magnitude;
  gfloat plain;
} Sum;

/** Change: of the weights of a layer of shape @c. */
typedef void Change (const Case *c, gfloat *weights, gfloat by);

/** Layer: one that is built, with what it computes. */
typedef struct
{
  Case c;
  Check check;
  gfloat *x, *weights, *bias;
  Sum *sums;
} Layer;

/* @change: (nullable): of its weights, by @by */
static void
build_changed (Layer *layer, guint32 seed, const Case *c, SlActivation activation, Change *change,
               gfloat by)
{
  const gint32 x_dims[] = { c->rows, c->depth }, w_dims[] = { c->channels, c->depth };
  const SlOpParams params = { .fully_connected = { .activation = activation } };
  Check *check = &layer->check;
  layer->c = *c;
  layer->weights = g_new (gfloat, c->channels * c->depth);
  layer->bias = g_new (gfloat, c->channels);
  layer->sums = g_new (Sum, c->rows * c->channels);
  check_init (check, seed);
  check_random (check, SL_DTYPE_F32, (gsize) (c->channels * c->depth), layer->weights);
  check_random (check, SL_DTYPE_F32, (gsize) c->channels, layer->bias);
  if (change != NULL)
    change (c, layer->weights, by);
  const gint32 inputs[] = {
    check_input (check, SL_DTYPE_F32, 2, x_dims, 0, 0),
    check_constant (check, SL_DTYPE_F32, 2, w_dims, NULL, 0, 0, 0, layer->weights),
    check_constant (check, SL_DTYPE_F32, 1, &c->channels, NULL, 0, 0, 0, layer->bias),
  };
  check_node (check, SL_OP_FULLY_CONNECTED, inputs, 3, check_output (check, SL_DTYPE_F32, 0, 0),
              &params);
  check_prepare (check);
  layer->x = check->input_data[0];
}

static void
build (Layer *layer, guint32 seed, const Case *c, SlActivation activation)
{
  build_changed (layer, seed, c, activation, NULL, 0);
}

static void
clear (Layer *layer)
{
  check_clear (&layer->check);
  g_free (layer->weights);
  g_free (layer->bias);
  g_free (layer->sums);
}

static void
sum_up (Layer *layer)
{
  const Case *c = &layer->c;
  for (gint32 i = 0; i < c->rows * c->channels; i++) {
    const gfloat *x = layer->x + i / c->channels * c->depth,
                 *w = layer->weights + i % c->channels * c->depth;
    const gfloat bias = layer->bias[i % c->channels];
    Sum sum = { bias, fabs ((double) bias), bias };
    for (gint32 k = 0; k < c->depth; k++) {
      const double product = (double) x[k] * (double) w[k];
      sum.exact += product;
      sum.magnitude += fabs (product);
      sum.plain = fmaf (x[k], w[k], sum.plain);
    }
    layer->sums[i] = sum;
  }
}

/* Errors by that of the plain sum. */
static void
compare (const Layer *layer, const SlFloatIsa *isa, const gfloat *got)
{
  const gint32 n = layer->c.rows * layer->c.channels;
  double square = 0, plain_square = 0, most = 0, plain_most = 0;
  for (gint32 i = 0; i < n; i++) {
    const Sum *sum = &layer->sums[i];
    const double error = fabs ((double) got[i] - sum->exact),
                 plain = fabs ((double) sum->plain - sum->exact);
    if (!(error <= TOLERANCE * sum->magnitude))
      g_error ("%s: value %d is %g, expected %g", isa->name, i, (double) got[i], sum->exact);
    square += error * error;
    plain_square += plain * plain;
    most = MAX (most, error);
    plain_most = MAX (plain_most, plain);
  }
  g_test_message ("%s, %d x %d x %d: %.2f, %.2f", isa->name, layer->c.rows, layer->c.depth,
                  layer->c.channels, sqrt (square / plain_square), most / plain_most);
  if (!(sqrt (square) <= MOST_ERROR * sqrt (plain_square)) || !(most <= MOST_ERROR * plain_most))
    g_error ("%s, %d x %d x %d: error %.3g, largest %.3g; of the plain sum %.3g, %.3g", isa->name,
             layer->c.rows, layer->c.depth, layer->c.channels, sqrt (square / n), most,
             sqrt (plain_square / n), plain_most);
}

static gfloat *
run (Layer *layer, const SlFloatIsa *isa, guint threads)
{
  sl_float_isa_force (isa);
  gfloat *got = check_run (&layer->check, FALSE, threads);
  sl_float_isa_force (NULL);
  return got;
}

/* Rows and channels that fill blocks and pairs, and that do not; depths of one slice, of several,
 * and of slices that differ. Results are the same for any number of threads. */
static void
test_error (void)
{
  static const Case cases[] = {
    { 32, 256, 384 },  { 53, 384, 200 }, { 16, 768, 100 }, { 49, 512, 152 }, { 67, 160, 512 },
    { 114, 1120, 64 }, { 26, 3072, 96 }, { 18, 256, 284 }, { 14, 256, 92 },
  };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Layer layer;
    build (&layer, i + 1, &cases[i], SL_ACTIVATION_NONE);
    sum_up (&layer);
    for (guint k = 0; k < n_isas; k++) {
      gfloat *alone = run (&layer, isas[k], 1), *shared = run (&layer, isas[k], 2);
      compare (&layer, isas[k], alone);
      g_assert_cmpmem (alone, sizeof (gfloat) * (gsize) (cases[i].rows * cases[i].channels), shared,
                       sizeof (gfloat) * (gsize) (cases[i].rows * cases[i].channels));
      sl_tensor_buffer_free (alone);
      sl_tensor_buffer_free (shared);
    }
    clear (&layer);
  }
}

/* Blocks add up in another order than the plain tiles that fewer rows take, so that some results
 * differ in their last bits; without blocks none does. Whether layers of @isa have blocks. */
static gboolean
has_blocks (const SlFloatIsa *isa)
{
  const Case blocks = { 64, 256, 384 }, few = { 4, 256, 384 };
  Layer layer, rows;
  build (&layer, 6, &blocks, SL_ACTIVATION_NONE);
  build (&rows, 6, &few, SL_ACTIVATION_NONE);
  memcpy (rows.x, layer.x, sizeof (gfloat) * (gsize) (few.rows * few.depth));
  gfloat *together = run (&layer, isa, 1), *alone = run (&rows, isa, 1);
  const gboolean differ =
    memcmp (together, alone, sizeof (gfloat) * (gsize) (few.rows * few.channels)) != 0;
  sl_tensor_buffer_free (together);
  sl_tensor_buffer_free (alone);
  clear (&layer);
  clear (&rows);
  return differ;
}

static void
test_blocks (void)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint k = 0; k < n_isas; k++)
    g_assert_cmpint (has_blocks (isas[k]), ==, isas[k]->strassen != NULL);
}

/* Where additions take the multipliers' ports, sums in place of products gain nothing. */
static void
test_ports (void)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  sl_float_wide_force (TRUE);
  for (guint k = 0; k < n_isas; k++)
    g_assert_cmpint (has_blocks (isas[k]), ==, isas[k]->strassen != NULL && isas[k]->lanes < 16);
  sl_float_wide_force (FALSE);
}

/* Limits hold for results, and not for the products that they are made of. */
static void
test_limits (void)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  Layer layer;
  build (&layer, 3, &(Case){ 16, 256, 384 }, SL_ACTIVATION_RELU6);
  sum_up (&layer);
  for (guint k = 0; k < n_isas; k++) {
    gfloat *got = run (&layer, isas[k], 1);
    for (gint32 i = 0; i < layer.c.rows * layer.c.channels; i++)
      g_assert_cmpfloat_with_epsilon ((double) got[i], CLAMP (layer.sums[i].exact, 0, 6),
                                      TOLERANCE * layer.sums[i].magnitude);
    sl_tensor_buffer_free (got);
  }
  clear (&layer);
}

/* One row of numbers of another magnitude, or of none at all. */
static void
test_rows (void)
{
  static const gfloat factors[] = { 1e6f, 1e-6f, 0, INFINITY, NAN };
  enum
  {
    ROW = 5
  };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint f = 0; f < G_N_ELEMENTS (factors); f++) {
    Layer layer;
    build (&layer, 4, &(Case){ 32, 256, 384 }, SL_ACTIVATION_NONE);
    for (gint32 k = 0; k < layer.c.depth; k++)
      layer.x[ROW * layer.c.depth + k] *= factors[f];
    sum_up (&layer);
    for (guint k = 0; k < n_isas; k++) {
      gfloat *got = run (&layer, isas[k], 1);
      for (gint32 i = 0; i < layer.c.rows * layer.c.channels; i++) {
        const Sum *sum = &layer.sums[i];
        if (i / layer.c.channels == ROW && !isfinite (factors[f])) {
          g_assert_false (isfinite (got[i]));
          continue;
        }
        g_assert_cmpfloat_with_epsilon ((double) got[i], sum->exact, TOLERANCE * sum->magnitude);
      }
      sl_tensor_buffer_free (got);
    }
    clear (&layer);
  }
}

/* Numbers of the channel @CHANNEL of another magnitude, or of none at all. */
enum
{
  CHANNEL = 7
};

static void
change_channel (const Case *c, gfloat *weights, gfloat by)
{
  for (gint32 k = 0; k < c->depth; k++)
    weights[CHANNEL * c->depth + k] *= by;
}

static void
test_channels (void)
{
  static const gfloat factors[] = { 1e6f, 1e-6f, 0, INFINITY, NAN };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint f = 0; f < G_N_ELEMENTS (factors); f++) {
    Layer layer;
    build_changed (&layer, 5, &(Case){ 32, 256, 384 }, SL_ACTIVATION_NONE, change_channel,
                   factors[f]);
    sum_up (&layer);
    for (guint k = 0; k < n_isas; k++) {
      gfloat *got = run (&layer, isas[k], 1);
      for (gint32 i = 0; i < layer.c.rows * layer.c.channels; i++) {
        const Sum *sum = &layer.sums[i];
        if (i % layer.c.channels == CHANNEL && !isfinite (factors[f]))
          g_assert_false (isfinite (got[i]));
        else
          g_assert_cmpfloat_with_epsilon ((double) got[i], sum->exact, TOLERANCE * sum->magnitude);
      }
      sl_tensor_buffer_free (got);
    }
    clear (&layer);
  }
}

static void
change_half (const Case *c, gfloat *weights, gfloat by)
{
  for (gint32 i = 0; i < c->channels * c->depth; i++)
    if (i % c->depth < c->depth / 2)
      weights[i] *= by;
}

static void
check_halves (gint32 depth, gfloat factor)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  Layer layer;
  build_changed (&layer, 6, &(Case){ 32, depth, 384 }, SL_ACTIVATION_NONE, change_half, factor);
  for (gint32 i = 0; i < layer.c.rows * depth; i++)
    if (i % depth < depth / 2)
      layer.x[i] /= factor;
  sum_up (&layer);
  for (guint k = 0; k < n_isas; k++) {
    gfloat *got = run (&layer, isas[k], 1);
    double square = 0, plain_square = 0;
    for (gint32 i = 0; i < layer.c.rows * layer.c.channels; i++) {
      const Sum *sum = &layer.sums[i];
      square += pow ((double) got[i] - sum->exact, 2);
      plain_square += pow ((double) sum->plain - sum->exact, 2);
    }
    g_assert_cmpfloat (sqrt (square), <=, MOST_ERROR_APART * sqrt (plain_square));
    sl_tensor_buffer_free (got);
  }
  clear (&layer);
}

/* Half of the activations are small, and their weights large: products are alike. Of the three
 * slices of the larger depth, only the second one's halves differ. */
static void
test_halves (void)
{
  static const gfloat factors[] = { 1.0f / 4096, 1.0f / 64, 4, 12, 64, 4096 };
  for (guint f = 0; f < G_N_ELEMENTS (factors); f++) {
    check_halves (256, factors[f]);
    check_halves (768, factors[f]);
  }
}

/* Of any channel, each sign is that of one half of the depth. */
static void
change_signs (const Case *c, gfloat *weights, gfloat by)
{
  for (gint32 i = 0; i < c->channels * c->depth; i++) {
    const gboolean first = i % c->depth < c->depth / 2,
                   odd = (guint32) (i / c->depth) * 2654435761u >> 31 != 0;
    weights[i] = (first == odd ? by : -by) + weights[i] / 64;
  }
}

/* Sums of rows times sums of weights would leave the range of floats. */
static void
test_range (void)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  Layer layer;
  build_changed (&layer, 7, &(Case){ 32, 256, 384 }, SL_ACTIVATION_NONE, change_signs, 3);
  for (gint32 i = 0; i < layer.c.rows * layer.c.depth; i++)
    layer.x[i] = 6e35f;
  sum_up (&layer);
  for (guint k = 0; k < n_isas; k++) {
    gfloat *got = run (&layer, isas[k], 1);
    for (gint32 i = 0; i < layer.c.rows * layer.c.channels; i++)
      g_assert_cmpfloat_with_epsilon ((double) got[i], layer.sums[i].exact,
                                      TOLERANCE * layer.sums[i].magnitude);
    sl_tensor_buffer_free (got);
  }
  clear (&layer);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("SIGHTLINE_BACKEND", "float", TRUE);
  sl_float_wide_force (FALSE); /* blocks are tested on every processor */
  g_test_add_func ("/float_strassen/error", test_error);
  g_test_add_func ("/float_strassen/blocks", test_blocks);
  g_test_add_func ("/float_strassen/ports", test_ports);
  g_test_add_func ("/float_strassen/limits", test_limits);
  g_test_add_func ("/float_strassen/rows", test_rows);
  g_test_add_func ("/float_strassen/channels", test_channels);
  g_test_add_func ("/float_strassen/halves", test_halves);
  g_test_add_func ("/float_strassen/range", test_range);
  return g_test_run ();
}
