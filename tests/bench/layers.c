/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * 8-bit layers one by one, int8 per channel, one thread: the int8 kernels in turn with XNNPACK.
 * Multiplications and additions count as one operation each. The peak is what the dot product
 * instruction of the kernels' instruction set reaches with all operands in registers.
 *   bench-layers [BLOCKS [TEXT]]
 * times only the layers whose line begins with TEXT.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/layer.h"
#include "tools/bench/peak.h"
#include "tools/bench/timing.h"

#define RUNS 10

/* 3x3 and 1x1 of detectors; then the first blocks of mobilenet_v2, and the same layers of images
 * that fit the second cache. */
static const Layer layers[] = {
  { 320, 3, 16, 3, 2, FALSE },  { 160, 16, 32, 3, 2, FALSE }, { 80, 48, 48, 3, 1, FALSE },
  { 40, 64, 64, 3, 1, FALSE },  { 20, 96, 96, 3, 1, FALSE },  { 10, 128, 128, 3, 1, FALSE },
  { 40, 16, 64, 1, 1, FALSE },  { 40, 32, 64, 1, 1, FALSE },  { 40, 48, 96, 1, 1, FALSE },
  { 40, 64, 64, 1, 1, FALSE },  { 224, 3, 32, 3, 2, FALSE },  { 112, 32, 32, 3, 1, TRUE },
  { 28, 32, 32, 3, 1, TRUE },   { 112, 32, 16, 1, 1, FALSE }, { 28, 32, 16, 1, 1, FALSE },
  { 112, 16, 96, 1, 1, FALSE }, { 28, 16, 96, 1, 1, FALSE },  { 112, 96, 96, 3, 2, TRUE },
  { 28, 96, 96, 3, 2, TRUE },   { 56, 96, 24, 1, 1, FALSE },  { 28, 96, 24, 1, 1, FALSE },
  { 56, 24, 144, 1, 1, FALSE }, { 28, 24, 144, 1, 1, FALSE }, { 56, 144, 144, 3, 1, TRUE },
  { 28, 144, 144, 3, 1, TRUE }, { 56, 144, 24, 1, 1, FALSE }, { 28, 144, 24, 1, 1, FALSE },
};

/* Sums spread over some of the codes, as in trained layers. */
static void
layer_init (const Layer *layer, Check *check)
{
  check_init (check, 1);
  SlArena *arena = sl_graph_arena (check->graph);
  gint32 x_dims[4], w_dims[4];
  layer_shapes (layer, x_dims, w_dims);
  const gsize weights = (gsize) (w_dims[0] * w_dims[1] * w_dims[2] * w_dims[3]);
  gint8 *w = sl_arena_alloc (arena, weights);
  gint32 *bias = sl_arena_alloc (arena, (gsize) layer->out * sizeof bias[0]);
  gfloat *scales = sl_arena_alloc (arena, (gsize) layer->out * sizeof scales[0]);
  for (gsize i = 0; i < weights; i++)
    w[i] = (gint8) g_rand_int_range (check->rand, -127, 128);
  for (gint32 c = 0; c < layer->out; c++) {
    bias[c] = g_rand_int_range (check->rand, -2000, 2000);
    scales[c] = (gfloat) g_rand_double_range (check->rand, 0.002, 0.004);
  }
  const gint32 inputs[] = { check_input (check, SL_DTYPE_I8, 4, x_dims, 0.02f, -128),
                            check_constant (check, SL_DTYPE_I8, 4, w_dims, scales,
                                            (guint) layer->out, layer->depthwise ? 3 : 0, 0, w),
                            check_constant (check, SL_DTYPE_I32, 1, &layer->out, NULL, 0, 0, 0,
                                            bias) };
  layer_finish (layer, check, inputs, check_output (check, SL_DTYPE_I8, 6.0f / 255, -128));
}

static void
runner_init (LayerRunner *runner, Check *check, const char *backend)
{
  g_setenv ("SIGHTLINE_BACKEND", backend, TRUE);
  layer_runner_init (runner, check);
}

static void
time_layer (const Layer *layer, const char *name, guint runs, double peak)
{
  Check check;
  LayerRunner runners[2];
  layer_init (layer, &check);
  runner_init (&runners[0], &check, "int8");
  runner_init (&runners[1], &check, "xnnpack");
  g_autofree double *ours = g_new (double, runs), *theirs = g_new (double, runs);
  const SlTimed rows[] = { { name, layer_runner_turn, &runners[0], ours },
                           { name, layer_runner_turn, &runners[1], theirs } };
  sl_timing_in_turn (rows, 2, runs, RUNS, 0, NULL, NULL);
  const gsize bytes = sl_graph_output_tensor (check.graph, 0)->bytes;
  if (memcmp (runners[0].output, runners[1].output, bytes) != 0)
    printf ("%s: results differ\n", name);
  const double operations = layer_operations (layer);
  printf ("%-36s %8.1f us  %5.0f GOP/s", name, ours[0] * 1e3, operations / ours[0] / 1e6);
  if (peak > 0)
    printf ("  %.2f of the peak", operations / ours[0] / 1e6 / peak);
  printf ("  %.3f of XNNPACK's time\n", ours[0] / theirs[0]);
  for (guint i = 0; i < 2; i++)
    layer_runner_clear (&runners[i]);
  check_clear (&check);
}

static const char *
cpu_name (void)
{
  Check check;
  LayerRunner runner;
  SlBackendUse use;
  layer_init (&(Layer){ 8, 8, 8, 1, 1, FALSE }, &check);
  runner_init (&runner, &check, "int8");
  for (guint i = 0;
       sl_session_backend_use (runner.session, i, &use) && strcmp (use.name, "int8") != 0;)
    i++;
  layer_runner_clear (&runner);
  check_clear (&check);
  return use.cpu;
}

int
main (int argc, char **argv)
{
  const guint blocks = argc > 1 ? (guint) atoi (argv[1]) : 20;
  if (blocks < 1) {
    fprintf (stderr, "usage: %s [BLOCKS [TEXT]]\n", argv[0]);
    return 2;
  }
  const char *cpu = cpu_name ();
  const char *instruction;
  const double peak = sl_peak_measure (SL_PEAK_INT8, &instruction);
  printf ("int8 kernels for %s, one thread, least of %u runs", cpu, blocks * RUNS);
  if (peak > 0)
    printf ("; %s alone reach %.0f GOP/s", instruction, peak);
  printf ("\n");
  for (guint i = 0; i < G_N_ELEMENTS (layers); i++) {
    g_autofree char *name = layer_name (&layers[i]);
    if (argc < 3 || g_str_has_prefix (name, argv[2]))
      time_layer (&layers[i], name, blocks * RUNS, peak);
  }
  return 0;
}
