/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fully connected layers with weights of 2, 4 and 8 bits in blocks, against their definition in
 * double precision: every instruction set of this machine, one thread and two. No session of the
 * float kernels makes the float weights.
 */
#include <math.h>

#include "core/backends/float/float_layers.h"
#include "core/graph/constants.h"
#include "core/ops/ops.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define TOLERANCE 1e-5
#define CHANNELS 131
#define MOST_DEPTH 164

typedef enum
{
  MIDDLE, /* zero points: the middle of the range, or 0 of signed integers */
  PACKED,
  BYTES, /* of 8 bits, which may lie outside of the integers' range */
  REAL
} Zeros;

/** @by_column: neighbours in memory are of one column; @turned: the matrix is transposed by a node;
 * @scaled: a factor for each channel follows. */
typedef struct
{
  guint bits;
  gint32 rows, depth, size;
  Zeros zeros;
  gboolean is_signed, by_column, turned, scaled;
} Case;

typedef struct
{
  guint8 values[CHANNELS * MOST_DEPTH], zeros[CHANNELS * MOST_DEPTH];
  gfloat scales[CHANNELS * MOST_DEPTH], reals[CHANNELS * MOST_DEPTH], factors[CHANNELS];
} Data;

static const Case cases[] = {
  { 4, 5, 160, 16, MIDDLE, FALSE, FALSE, FALSE, FALSE },
  { 4, 1, 160, 32, PACKED, FALSE, FALSE, FALSE, FALSE },
  { 4, 70, 163, 32, PACKED, FALSE, FALSE, FALSE, TRUE },
  { 4, 33, 163, 64, REAL, FALSE, FALSE, FALSE, FALSE },
  { 4, 9, 164, 256, REAL, TRUE, TRUE, TRUE, FALSE },
  { 4, 9, 164, 32, PACKED, TRUE, TRUE, TRUE, FALSE },
  { 4, 9, 163, 163, MIDDLE, TRUE, TRUE, TRUE, TRUE },
  { 4, 9, 160, 32, BYTES, TRUE, FALSE, FALSE, FALSE },
  { 4, 9, 160, 32, BYTES, FALSE, FALSE, FALSE, FALSE },
  { 2, 9, 160, 16, PACKED, FALSE, FALSE, FALSE, FALSE },
  { 8, 5, 160, 32, PACKED, FALSE, FALSE, FALSE, FALSE },
  { 8, 70, 163, 163, MIDDLE, TRUE, FALSE, FALSE, TRUE },
  { 8, 70, 163, 163, REAL, TRUE, TRUE, TRUE, FALSE },
  { 8, 9, 160, 128, REAL, FALSE, TRUE, TRUE, FALSE },
};

/* Integer @i of those of @bits at @packed, with its sign. */
static gint
integer_of (const Case *c, const guint8 *packed, gsize i, guint bits)
{
  const gint range = 1 << bits, value = packed[i * bits / 8] >> i * bits % 8 & (range - 1);
  return c->is_signed && value >= range / 2 ? value - range : value;
}

static gint32
stride_of (const Case *c)
{
  return (c->depth + 3) / 4 * 4;
}

static guint
zero_bits (const Case *c)
{
  return c->zeros == BYTES ? 8 : c->bits;
}

static double
weight_of (const Case *c, const Data *data, gint32 channel, gint32 k)
{
  const gint32 blocks = (c->depth + c->size - 1) / c->size, block = channel * blocks + k / c->size;
  const gboolean packed = c->zeros == PACKED || c->zeros == BYTES;
  const double zero = packed             ? integer_of (c, data->zeros, (gsize) block, zero_bits (c))
                      : c->zeros == REAL ? (double) data->reals[block]
                      : c->is_signed     ? 0
                                         : 1 << (c->bits - 1);
  const gint32 at = c->by_column ? k * CHANNELS + channel : channel * stride_of (c) + k;
  return (integer_of (c, data->values, (gsize) at, c->bits) - zero) * (double) data->scales[block];
}

static SlFewBits
matrix_of (const Case *c, const Data *data)
{
  const gsize blocks = (gsize) ((c->depth + c->size - 1) / c->size);
  const gboolean packed = c->zeros == PACKED || c->zeros == BYTES;
  return (SlFewBits){
    .rows = CHANNELS,
    .columns = (gsize) c->depth,
    .bits = c->bits,
    .zero_bits = zero_bits (c),
    .is_signed = c->is_signed,
    .middle = c->is_signed ? 0 : 1 << (c->bits - 1),
    .size = { 1, (gsize) c->size },
    .values = data->values,
    .value_step = { c->by_column ? 1 : (gsize) stride_of (c), c->by_column ? CHANNELS : 1 },
    .value_bytes = sizeof data->values,
    .scales = data->scales,
    .scale_step = { blocks, 1 },
    .scale_bytes = sizeof data->scales,
    .zeros = packed ? data->zeros : NULL,
    .zero_step = { blocks, 1 },
    .zero_bytes = packed ? sizeof data->zeros : 0,
    .reals = c->zeros == REAL ? data->reals : NULL,
    .real_bytes = c->zeros == REAL ? sizeof data->reals : 0,
  };
}

static void
fill (Check *check, Data *data)
{
  check_random (check, SL_DTYPE_U8, sizeof data->values, data->values);
  check_random (check, SL_DTYPE_U8, sizeof data->zeros, data->zeros);
  check_random (check, SL_DTYPE_F32, G_N_ELEMENTS (data->reals), data->reals);
  check_random (check, SL_DTYPE_F32, CHANNELS, data->factors);
  for (guint i = 0; i < G_N_ELEMENTS (data->scales); i++)
    data->scales[i] = (gfloat) g_rand_double_range (check->rand, 0.001, 0.1);
}

/* Returns where the float weights will be. */
static const void *
build (Check *check, const Case *c, const SlFewBits *matrix, const Data *data)
{
  const gint32 channels = CHANNELS, x_dims[] = { c->rows, c->depth },
               w_dims[] = { (gint32) matrix->rows, (gint32) matrix->columns }, order[] = { 1, 0 };
  g_autoptr (GError) error = NULL;
  sl_graph_set_later (check->graph);
  const void *made = sl_graph_widen_later (check->graph, matrix, &error);
  g_assert_no_error (error);
  const gint32 x = check_input (check, SL_DTYPE_F32, 2, x_dims, 0, 0);
  const gint32 w = check_constant (check, SL_DTYPE_F32, 2, w_dims, NULL, 0, 0, 0, made);
  const gint32 weights = c->turned ? check_middle (check, SL_DTYPE_F32, 0, 0) : w;
  if (c->turned)
    check_node (check, SL_OP_TRANSPOSE, (gint32[]){ w, check_ints (check, 2, order) }, 2, weights,
                NULL);
  const gint32 sums = c->scaled ? check_middle (check, SL_DTYPE_F32, 0, 0) : -1,
               y = check_output (check, SL_DTYPE_F32, 0, 0);
  check_node (check, SL_OP_FULLY_CONNECTED, (gint32[]){ x, weights }, 2, c->scaled ? sums : y,
              NULL);
  if (c->scaled) {
    const gint32 by =
      check_constant (check, SL_DTYPE_F32, 1, &channels, NULL, 0, 0, 0, data->factors);
    check_node (check, SL_OP_MUL, (gint32[]){ sums, by }, 2, y, NULL);
  }
  check_prepare (check);
  return made;
}

static double *
expected_of (const Check *check, const Case *c, const Data *data, double **magnitudes)
{
  const gfloat *x = check->input_data[0];
  double *sums = g_new0 (double, (gsize) c->rows *CHANNELS);
  *magnitudes = g_new0 (double, (gsize) c->rows *CHANNELS);
  for (gint32 channel = 0; channel < CHANNELS; channel++)
    for (gint32 k = 0; k < c->depth; k++) {
      const double weight =
        weight_of (c, data, channel, k) * (c->scaled ? (double) data->factors[channel] : 1);
      for (gint32 row = 0; row < c->rows; row++) {
        const double product = weight * (double) x[row * c->depth + k];
        sums[row * CHANNELS + channel] += product;
        (*magnitudes)[row * CHANNELS + channel] += fabs (product);
      }
    }
  return sums;
}

/* @isa: (nullable): plain kernels */
static void
compare (Check *check, const Case *c, const double *expected, const double *magnitudes,
         const SlFloatIsa *isa)
{
  const gsize n = sl_graph_output_tensor (check->graph, 0)->bytes / sizeof (gfloat);
  for (guint threads = 1; threads <= 2; threads++) {
    sl_float_isa_force (isa);
    gfloat *got = check_run (check, isa == NULL, threads);
    sl_float_isa_force (NULL);
    for (gsize i = 0; i < n; i++)
      if (!(fabs ((double) got[i] - expected[i]) <= TOLERANCE * magnitudes[i] + 1e-6))
        g_error ("%s, %u threads, case %d: value %" G_GSIZE_FORMAT " is %.9g, expected %.9g",
                 isa != NULL ? isa->name : "plain", threads, (gint) (c - cases), i, (double) got[i],
                 expected[i]);
    sl_tensor_buffer_free (got);
  }
}

static void
test_layers (void)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  g_autofree Data *data = g_new (Data, 1);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Case *c = &cases[i];
    Check check;
    SlMadeOf of;
    check_init (&check, 100 + i);
    fill (&check, data);
    SlFewBits matrix = matrix_of (c, data);
    if (c->turned)
      matrix = sl_few_bits_transposed (&matrix);
    const void *made = build (&check, c, &matrix, data);
    check_random (&check, SL_DTYPE_F32, (gsize) (c->rows * c->depth), check.input_data[0]);
    g_autofree double *magnitudes = NULL;
    g_autofree double *expected = expected_of (&check, c, data, &magnitudes);
    for (guint k = n_isas; k > 0 && isas[k - 1]->faster; k--)
      compare (&check, c, expected, magnitudes, isas[k - 1]);
    if (sl_float_isa ()->faster)
      g_assert_true (sl_graph_is_pending (check.graph, made, &of));
    compare (&check, c, expected, magnitudes, isas[0]);
    compare (&check, c, expected, magnitudes, NULL);
    check_clear (&check);
  }
}

/* Panels of more floats than are worth it: the weights become floats once. All channels are the
 * same row by scales of their own. */
static void
test_deep (void)
{
  enum
  {
    DEPTH = 32770,
    OUTPUTS = 128 /* whole registers, which then lie along the channels */
  };
  const Case c = { 4, 1, DEPTH, DEPTH, MIDDLE, FALSE, FALSE, FALSE, FALSE };
  g_autofree Data *data = g_new (Data, 1);
  g_autofree double *expected = g_new (double, OUTPUTS), *magnitudes = g_new (double, OUTPUTS);
  double sum = 0, magnitude = 0;
  Check check;
  SlMadeOf of;
  check_init (&check, 1);
  fill (&check, data);
  SlFewBits matrix = matrix_of (&c, data);
  matrix.value_step.row = 0;
  matrix.rows = OUTPUTS;
  const void *made = build (&check, &c, &matrix, data);
  check_random (&check, SL_DTYPE_F32, DEPTH, check.input_data[0]);
  for (gsize k = 0; k < DEPTH; k++) {
    const double product =
      (integer_of (&c, data->values, k, 4) - 8) * (double) ((gfloat *) check.input_data[0])[k];
    sum += product;
    magnitude += fabs (product);
  }
  for (guint i = 0; i < OUTPUTS; i++) {
    expected[i] = sum * (double) data->scales[i];
    magnitudes[i] = magnitude * (double) data->scales[i];
  }
  compare (&check, &c, expected, magnitudes, sl_float_isa ());
  g_assert_false (sl_graph_is_pending (check.graph, made, &of));
  check_clear (&check);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/few-bits/layers", test_layers);
  g_test_add_func ("/few-bits/deep", test_deep);
  return g_test_run ();
}
