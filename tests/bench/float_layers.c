/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Float layers one by one, one thread, and the share of the processor's peak that each reaches.
 *   bench-float-layers [BLOCKS [TEXT [ZEROS]]]
 * times only the layers whose line begins with TEXT, and with ZEROS (0..1) each in turn with itself
 * when that share of its weights, anywhere, is zero.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/layer.h"
#include "tools/bench/peak.h"
#include "tools/bench/timing.h"

#define RUNS 4

/* Super-resolution; heads of few channels; 3x3 and 1x1 of detectors; the first blocks of
 * MobileNetV2. */
static const Layer layers[] = {
  { 224, 1, 64, 5, 1, FALSE },   { 224, 64, 64, 3, 1, FALSE }, { 224, 64, 32, 3, 1, FALSE },
  { 224, 32, 9, 3, 1, FALSE },   { 56, 64, 1, 3, 1, FALSE },   { 40, 64, 2, 1, 1, FALSE },
  { 40, 64, 4, 3, 1, FALSE },    { 40, 80, 6, 1, 1, FALSE },   { 40, 96, 12, 1, 1, FALSE },
  { 224, 16, 3, 9, 1, FALSE },   { 224, 3, 32, 3, 2, FALSE },  { 320, 3, 16, 3, 2, FALSE },
  { 80, 48, 48, 3, 1, FALSE },   { 40, 64, 64, 3, 1, FALSE },  { 20, 96, 96, 3, 1, FALSE },
  { 10, 128, 128, 3, 1, FALSE }, { 40, 32, 64, 1, 1, FALSE },  { 40, 64, 64, 1, 1, FALSE },
  { 112, 16, 96, 1, 1, FALSE },  { 56, 24, 144, 1, 1, FALSE }, { 28, 144, 24, 1, 1, FALSE },
  { 28, 144, 40, 1, 1, FALSE },  { 28, 144, 56, 1, 1, FALSE }, { 28, 144, 16, 1, 1, FALSE },
  { 28, 192, 32, 1, 1, FALSE },  { 7, 160, 960, 1, 1, FALSE }, { 112, 32, 32, 3, 1, TRUE },
  { 56, 144, 144, 3, 1, TRUE },  { 28, 144, 144, 3, 2, TRUE },
};

static void
layer_init (const Layer *layer, double zeros, Check *check)
{
  check_init (check, 1);
  SlArena *arena = sl_graph_arena (check->graph);
  gint32 x_dims[4], w_dims[4];
  layer_shapes (layer, x_dims, w_dims);
  const gsize weights = (gsize) (w_dims[0] * w_dims[1] * w_dims[2] * w_dims[3]);
  gfloat *w = sl_arena_alloc (arena, weights * sizeof w[0]),
         *bias = sl_arena_alloc (arena, (gsize) layer->out * sizeof bias[0]);
  check_random (check, SL_DTYPE_F32, weights, w);
  for (gsize i = 0; i < weights; i++)
    if (g_rand_double (check->rand) < zeros)
      w[i] = 0;
  check_random (check, SL_DTYPE_F32, (gsize) layer->out, bias);
  const gint32 inputs[] = { check_input (check, SL_DTYPE_F32, 4, x_dims, 0, 0),
                            check_constant (check, SL_DTYPE_F32, 4, w_dims, NULL, 0, 0, 0, w),
                            check_constant (check, SL_DTYPE_F32, 1, &layer->out, NULL, 0, 0, 0,
                                            bias) };
  layer_finish (layer, check, inputs, check_output (check, SL_DTYPE_F32, 0, 0));
  check_random (check, SL_DTYPE_F32,
                sl_graph_input_tensor (check->graph, 0)->bytes / sizeof (gfloat),
                check->input_data[0]);
}

static void
time_layer (const Layer *layer, const char *name, guint runs, double peak, double zeros)
{
  Check check[2];
  LayerRunner runner[2];
  const guint n = zeros > 0 ? 2 : 1;
  g_autofree double *times = g_new (double, 2 * runs);
  SlTimed rows[2];
  for (guint i = 0; i < n; i++) {
    layer_init (layer, i * zeros, &check[i]);
    layer_runner_init (&runner[i], &check[i]);
    rows[i] = (SlTimed){ name, layer_runner_turn, &runner[i], times + i * runs };
  }
  sl_timing_in_turn (rows, n, runs, RUNS, 0, NULL, NULL);
  const double reached = layer_operations (layer) / times[0] / 1e6;
  printf ("%-38s %9.1f us %6.1f GFLOP/s  %.2f of the peak", name, times[0] * 1e3, reached,
          reached / peak);
  if (n > 1)
    printf ("  with zeros %9.1f us, %.2f of the time", times[runs] * 1e3, times[runs] / times[0]);
  printf ("\n");
  for (guint i = 0; i < n; i++) {
    layer_runner_clear (&runner[i]);
    check_clear (&check[i]);
  }
}

int
main (int argc, char **argv)
{
  const guint blocks = argc > 1 ? (guint) atoi (argv[1]) : 10;
  const double zeros = argc > 3 ? g_ascii_strtod (argv[3], NULL) : 0;
  if (blocks < 1 || zeros < 0 || zeros > 1) {
    fprintf (stderr, "usage: %s [BLOCKS [TEXT [ZEROS]]]\n", argv[0]);
    return 2;
  }
  const char *instruction;
  const double peak = sl_peak_measure (SL_PEAK_FLOAT, &instruction);
  printf ("float kernels, one thread, least of %u runs; %s alone reach %.0f GFLOP/s\n",
          blocks * RUNS, instruction, peak);
  for (guint i = 0; i < G_N_ELEMENTS (layers); i++) {
    g_autofree char *name = layer_name (&layers[i]);
    if (argc < 3 || g_str_has_prefix (name, argv[2]))
      time_layer (&layers[i], name, blocks * RUNS, peak, zeros);
  }
  return 0;
}
