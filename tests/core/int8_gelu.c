/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GELU before layers that round it to 8 bits: its loops on every instruction set against the error
 * function, and which nodes take them.
 */
#include <math.h>

#include "core/backends/backend.h"
#include "core/backends/int8/isa.h"
#include "tests/core/opcheck.h"
#include "tests/preprocess/guard.h"
#include "tests/support/program.h"

#define ROWS 5
#define DEPTH 37
#define CHANNELS 6
#define BOUND 2e-4

static double
gelu (double x)
{
  return x * 0.5 * erfc (-x / sqrt (2));
}

/* Every place of rows of any length, in place and not. */
static void
test_loops (gconstpointer data)
{
  const SlInt8Isa *isa = data;
  for (gsize n = 1; n < 200; n += n < 70 ? 1 : 13) {
    TestGuard from, to;
    test_guard_init (&from, n * sizeof (gfloat), TRUE);
    test_guard_init (&to, n * sizeof (gfloat), TRUE);
    gfloat *x = (gfloat *) (gpointer) from.data, *y = (gfloat *) (gpointer) to.data;
    for (gsize i = 0; i < n; i++)
      x[i] = (gfloat) (i % 2 == 0 ? 1 : -1) * (gfloat) ((i + n) % 101) / 12;
    isa->gelu (x, y, n);
    for (gsize i = 0; i < n; i++)
      g_assert_cmpfloat_with_epsilon ((double) y[i], gelu ((double) x[i]), BOUND);
    isa->gelu (x, x, n);
    g_assert_cmpmem (x, n * sizeof x[0], y, n * sizeof y[0]);
    test_guard_clear (&from);
    test_guard_clear (&to);
  }
}

/* Far from zero it is 0 or the number itself; NaN stays NaN. */
static void
test_far (gconstpointer data)
{
  const SlInt8Isa *isa = data;
  static const gfloat far[] = { 4, 4.1f, 9, 1e3f, 1e20f, G_MAXFLOAT, INFINITY };
  for (gsize i = 0; i < G_N_ELEMENTS (far); i++) {
    gfloat y[3];
    isa->gelu ((const gfloat[]){ far[i], -far[i], NAN }, y, 3);
    if (isinf (far[i]))
      g_assert_cmpfloat (y[0], ==, far[i]);
    else
      g_assert_cmpfloat_with_epsilon ((double) (y[0] / far[i]), 1, 1e-4);
    g_assert_cmpfloat_with_epsilon ((double) y[1], 0, BOUND);
    g_assert_true (isnan (y[2]));
  }
}

/** What reads GELU's results. */
typedef enum
{
  LAYER,
  LAYER_AND_OUTPUT,
  LAYER_AND_NODE,
  NODE,
  N_READERS
} Readers;

static gint32
layer (Check *check, gint32 x, const gint8 *weights)
{
  static const gfloat scale = 1.0f / 64;
  const gint32 y = check_output (check, SL_DTYPE_F32, 0, 0);
  const gint32 inputs[2] = { x, check_constant (check, SL_DTYPE_I8, 2,
                                                (const gint32[]){ CHANNELS, DEPTH }, &scale, 1, 0,
                                                0, weights) };
  check_node (check, SL_OP_FULLY_CONNECTED, inputs, 2, y,
              &(SlOpParams){ .fully_connected = { .dynamic = TRUE } });
  return y;
}

static void
build (Check *check, Readers readers, gboolean approximate, const gint8 *weights)
{
  check_init (check, 3);
  const gint32 x = check_input (check, SL_DTYPE_F32, 2, (const gint32[]){ ROWS, DEPTH }, 0, 0),
               g = readers == LAYER_AND_OUTPUT ? check_output (check, SL_DTYPE_F32, 0, 0)
                                               : check_middle (check, SL_DTYPE_F32, 0, 0);
  check_node (check, SL_OP_GELU, &x, 1, g, &(SlOpParams){ .gelu = { .approximate = approximate } });
  if (readers != NODE)
    layer (check, g, weights);
  if (readers >= LAYER_AND_NODE)
    check_node (check, SL_OP_NEG, &g, 1, check_output (check, SL_DTYPE_F32, 0, 0), NULL);
  check_prepare (check);
}

/* Only where layers that round rows are the only readers, and not of the other formula. */
static void
test_readers (void)
{
  gint8 weights[CHANNELS * DEPTH] = { 1 };
  for (guint i = 0; i < 2 * N_READERS; i++) {
    Check check;
    const Readers readers = i / 2;
    build (&check, readers, i % 2, weights);
    g_autofree const SlBackend **backends = sl_backends_choose (check.graph);
    const gboolean wanted = readers == LAYER && i % 2 == 0 && sl_int8_isa ()->gelu != NULL;
    g_assert_cmpint (sl_graph_node (check.graph, 0)->op, ==, SL_OP_GELU);
    g_assert_cmpint (backends[0] == &sl_backend_int8, ==, wanted);
    check_clear (&check);
  }
}

/* The layer's results are within what rounding the exact GELU may change. */
static void
test_layer (void)
{
  gint8 weights[CHANNELS * DEPTH];
  Check check;
  for (gsize i = 0; i < G_N_ELEMENTS (weights); i++)
    weights[i] = (gint8) (i * 37 % 255 - 127);
  build (&check, LAYER, FALSE, weights);
  gfloat *x = check.input_data[0];
  for (gsize i = 0; i < ROWS * DEPTH; i++)
    x[i] = (gfloat) (i * 29 % 97) / 12 - 4;
  for (guint threads = 1; threads <= 2; threads++) {
    gfloat *y = check_run (&check, FALSE, threads);
    for (gsize i = 0; i < ROWS * CHANNELS; i++) {
      double sum = 0, size = 0, most = 0;
      for (gsize k = 0; k < DEPTH; k++) {
        const double value = gelu ((double) x[i / CHANNELS * DEPTH + k]),
                     weight = weights[i % CHANNELS * DEPTH + k] / 64.0;
        sum += value * weight;
        size += fabs (weight);
        most = fmax (most, value);
      }
      g_assert_cmpfloat (fabs ((double) y[i] - sum), <=, size * ((most + 0.2) / 254 + BOUND));
    }
    sl_tensor_buffer_free (y);
  }
  check_clear (&check);
}

TEST_MAIN (int argc, char **argv)
{
  const SlInt8Isa *isas[SL_INT8_MAX_ISAS];
  g_test_init (&argc, &argv, NULL);
  const guint n = sl_int8_isas (isas);
  for (guint i = 0; i < n; i++) {
    /* Two encodings share a name. */
    g_autofree char *loops = g_strdup_printf ("/core/int8-gelu/loops/%u-%s", i, isas[i]->name),
                    *far = g_strdup_printf ("/core/int8-gelu/far/%u-%s", i, isas[i]->name);
    if (isas[i]->gelu == NULL)
      continue;
    g_test_add_data_func (loops, isas[i], test_loops);
    g_test_add_data_func (far, isas[i], test_far);
  }
  g_test_add_func ("/core/int8-gelu/readers", test_readers);
  g_test_add_func ("/core/int8-gelu/layer", test_layer);
  return g_test_run ();
}
