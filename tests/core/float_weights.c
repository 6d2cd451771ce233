/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many weights are not zero, counted one by one here: blocks and what is left of them, floats
 * at any address and binary16, numbers that are nearly zero or none. How much memory packed weights
 * of convolutions take. */
#include "core/backends/float/weights.h"

#include "core/backends/float/isa.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/runtime/session.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define MOST 10000

static const gsize sizes[] = { 1, 63, 64, 65, 200, 4096, 4097, MOST };

/* That @found of @source's values are not zero: no fewer, and no more. */
static void
expect_count (const SlFloatSource *source, gsize found)
{
  const gdouble n = (gdouble) source->n;
  for (gsize most = found > 1 ? found - 1 : 0; most <= found + 1; most++)
    if (most < source->n)
      g_assert_cmpint (sl_float_source_full (source, ((gdouble) most + 0.5) / n), ==, found > most);
}

static void
test_floats (void)
{
  static const gfloat special[] = { 0, -0.0f, FLT_MIN / 4, -1e-30f, NAN, INFINITY, 3 };
  g_autofree guint8 *memory = g_malloc (MOST * sizeof (gfloat) + 1);
  for (guint zeros = 2; zeros <= 5; zeros++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
      gsize found = 0;
      for (gsize i = 0; i < sizes[s]; i++) {
        const gfloat value = special[i * 13 % (zeros * G_N_ELEMENTS (special)) < 7 ? i % 7 : i % 2];
        memcpy (memory + 1 + i * sizeof value, &value, sizeof value);
        found += fpclassify (value) != FP_ZERO;
      }
      expect_count (&(SlFloatSource){ .values = memory + 1, .n = sizes[s], .turned = TRUE }, found);
    }
}

static void
test_halves (void)
{
  static const guint16 special[] = { 0, 0x8000, 1, 0x8001, 0x7e00, 0xfc00, 0x3c00 };
  g_autofree guint16 *values = g_new (guint16, MOST);
  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    gsize found = 0;
    for (gsize i = 0; i < sizes[s]; i++) {
      values[i] = special[i * 13 % 21 < 7 ? i % 7 : i % 2];
      found += values[i] != 0 && values[i] != 0x8000;
    }
    const SlFloatSource source = {
      .values = values, .n = sizes[s], .turned = TRUE, .halves = TRUE
    };
    expect_count (&source, found);
  }
}

/* Factors of channels may be zero. */
static void
test_factors (void)
{
  static const gfloat by[5] = { 1, 0, 2, -3, 0 };
  g_autofree gfloat *values = g_new (gfloat, MOST);
  for (gsize i = 0; i < MOST; i++)
    values[i] = i % 10 == 0 ? 0 : 0.5f;
  const SlFloatSource source = {
    .values = values, .by = by, .n = MOST, .channels = 5, .turned = TRUE
  };
  expect_count (&source, MOST / 2); /* three of five, of which one of two in the first is zero */
}

/* A layer's packed bytes, by those of its @n weights. Clears @check. */
static double
share_of (Check *check, SlOpType op, const gint32 *inputs, const SlOpParams *params, gsize n)
{
  g_autoptr (GError) error = NULL;
  SlSessionStats stats;
  check_node (check, op, inputs, 3, check_output (check, SL_DTYPE_F32, 0, 0), params);
  check_prepare (check);
  g_autoptr (SlSession) session = sl_session_new (check->graph, 1, &error);
  g_assert_no_error (error);
  sl_session_stats (session, &stats);
  check_clear (check);
  return (double) stats.packed_bytes / (double) (n * sizeof (gfloat));
}

/* Of a convolution of three by three, packed, by bytes of the model's. @steps: its activations are
 * rounded to 8 bits */
static double
packed_share (gint32 size, gint32 channels, gboolean steps)
{
  const gint32 x_dims[4] = { 1, size, size, channels }, w_dims[4] = { channels, 3, 3, channels };
  const gsize n = (gsize) channels * 9 * (gsize) channels;
  const SlOpParams params = { .window = { .stride_h = 1,
                                          .stride_w = 1,
                                          .dilation_h = 1,
                                          .dilation_w = 1,
                                          .padding = SL_PADDING_SAME } };
  g_autofree gfloat *weights = g_new (gfloat, n);
  Check check;
  for (gsize i = 0; i < n; i++)
    weights[i] = (gfloat) (i % 11) + 1;
  check_init (&check, 1);
  const gint32 x = check_input (&check, SL_DTYPE_F32, 4, x_dims, 0, 0);
  const gint32 inputs[3] = {
    steps ? check_float_node (&check, SL_OP_FAKE_QUANTIZE, x, -1,
                              &(SlOpParams){ .fake_quantize = { .symmetric = FALSE } })
          : x,
    check_constant (&check, SL_DTYPE_F32, 4, w_dims, NULL, 0, 0, 0, weights), -1
  };
  return share_of (&check, SL_OP_CONV_2D, inputs, &params, n);
}

/* Winograd's matrices are 16/9 of the weights, or 36/9: large ones are not made for few tiles. */
static void
test_tiles (void)
{
  g_assert_cmpfloat (packed_share (10, 96, FALSE), >, 1.7);
  g_assert_cmpfloat (packed_share (10, 96, FALSE), <, 1.9);
  g_assert_cmpfloat (packed_share (20, 64, FALSE), >, 3.9);
  g_assert_cmpfloat (packed_share (20, 128, FALSE), <, 1.9);
  g_assert_cmpfloat (packed_share (40, 128, FALSE), >, 3.9);
  g_assert_cmpfloat (packed_share (40, 128, TRUE), <, 1.9);
  g_assert_cmpfloat (packed_share (10, 400, FALSE), <, 1.1);
  g_assert_cmpfloat (packed_share (12, 400, FALSE), >, 1.7);
}

/* Of a fully connected layer of 100 rows, by bytes of the model's. */
static double
dense_share (gint32 channels)
{
  const gint32 x_dims[2] = { 100, 144 }, w_dims[2] = { channels, 144 };
  const SlOpParams params = { .fully_connected = { .activation = SL_ACTIVATION_NONE } };
  const gsize n = (gsize) channels * 144;
  g_autofree gfloat *weights = g_new (gfloat, n);
  Check check;
  check_init (&check, 1);
  check_random (&check, SL_DTYPE_F32, n, weights);
  const gint32 inputs[3] = {
    check_input (&check, SL_DTYPE_F32, 2, x_dims, 0, 0),
    check_constant (&check, SL_DTYPE_F32, 2, w_dims, NULL, 0, 0, 0, weights), -1
  };
  return share_of (&check, SL_OP_FULLY_CONNECTED, inputs, &params, n);
}

/* 24 channels are three registers of 8 lanes, or two of 16 with 8 unused lanes. The latter are
 * faster if the processor multiplies as many of them in a cycle. */
static void
test_wide (void)
{
  if (sl_float_isa ()->lanes != 16) {
    g_test_skip ("this processor or this build has no registers of 16 floats");
    return;
  }
  sl_float_wide_force (FALSE);
  g_assert_cmpfloat (dense_share (24), <, 1.1);
  sl_float_wide_force (TRUE);
  g_assert_cmpfloat (dense_share (24), >, 1.3);
  g_assert_cmpfloat (dense_share (16), <, 1.2);
  sl_float_wide_force (-1);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/float_weights/floats", test_floats);
  g_test_add_func ("/float_weights/halves", test_halves);
  g_test_add_func ("/float_weights/factors", test_factors);
  g_setenv ("SIGHTLINE_BACKEND", "float", TRUE);
  g_test_add_func ("/float_weights/tiles", test_tiles);
  g_test_add_func ("/float_weights/wide", test_wide);
  return g_test_run ();
}
