/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deformable attention as exporters write it becomes one GRID_SAMPLE, on every instruction set of
 * this machine and on plain kernels: against its definition in double precision, which knows
 * neither taps nor passes. What differs from it is not joined, with the same results.
 */
#include <math.h>

#include "core/backends/float/float_layers.h"
#include "sightline/error.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define BATCH 2
#define ROWS 70
#define MAX_LEVELS 3
#define POINTS 4

/** @kept: the samples are an output, too; @turned: the weights are the product's first operand;
 * @other: one level has its own rule for borders; @keeps: the sum keeps the dimension */
typedef struct
{
  gint32 levels, channels;
  SlSampleMode mode;
  SlBorder border;
  gboolean align, keeps, turned, kept, other;
} Case;

static const Case cases[] = {
  { 3, 32, SL_SAMPLE_LINEAR, SL_BORDER_ZERO, FALSE, FALSE, FALSE, FALSE, FALSE },
  { 2, 5, SL_SAMPLE_LINEAR, SL_BORDER_EDGE, TRUE, TRUE, TRUE, FALSE, FALSE },
  { 1, 100, SL_SAMPLE_LINEAR, SL_BORDER_ZERO, TRUE, FALSE, FALSE, FALSE, FALSE },
  { 3, 17, SL_SAMPLE_NEAREST, SL_BORDER_ZERO, FALSE, FALSE, TRUE, FALSE, FALSE },
  { 2, 32, SL_SAMPLE_LINEAR, SL_BORDER_ZERO, FALSE, FALSE, FALSE, TRUE, FALSE },
  { 2, 8, SL_SAMPLE_LINEAR, SL_BORDER_ZERO, FALSE, FALSE, FALSE, FALSE, TRUE },
  { 2, 8, SL_SAMPLE_CUBIC, SL_BORDER_ZERO, FALSE, FALSE, FALSE, FALSE, FALSE },
};

static const gint32 sizes[MAX_LEVELS][2] = { { 9, 7 }, { 4, 5 }, { 1, 2 } };

static gboolean
is_fused (const Case *c)
{
  return !c->kept && !c->other && c->mode != SL_SAMPLE_CUBIC;
}

static SlBorder
border_of (const Case *c, gint32 level)
{
  return c->other && level == 0 ? SL_BORDER_EDGE : c->border;
}

/* Inputs: pictures and grids in turn, and the weights. */
static void
build (Check *check, const Case *c)
{
  const gint32 samples = c->levels * POINTS;
  gint32 pieces[MAX_LEVELS], joined;
  for (gint32 l = 0; l < c->levels; l++) {
    const gint32 picture[] = { BATCH, sizes[l][0], sizes[l][1], c->channels },
                 grid[] = { BATCH, ROWS, POINTS, 2 };
    const gint32 inputs[] = { check_input (check, SL_DTYPE_F32, 4, picture, 0, 0),
                              check_input (check, SL_DTYPE_F32, 4, grid, 0, 0) };
    const SlOpParams params = { .grid_sample = { c->mode, border_of (c, l), c->align } };
    const SlOpParams shape = { .reshape = { .count = 5,
                                            .dims = { BATCH, ROWS, 1, POINTS, c->channels } } };
    const gint32 sampled = check_middle (check, SL_DTYPE_F32, 0, 0);
    pieces[l] = check_middle (check, SL_DTYPE_F32, 0, 0);
    check_node (check, SL_OP_GRID_SAMPLE, inputs, 2, sampled, &params);
    check_node (check, SL_OP_RESHAPE, &sampled, 1, pieces[l], &shape);
  }
  const gint32 dims[] = { BATCH, ROWS, samples, 1 };
  const gint32 weights = check_input (check, SL_DTYPE_F32, 4, dims, 0, 0),
               y = check_output (check, SL_DTYPE_F32, 0, 0);
  const SlOpParams flat = { .reshape = { .count = 4,
                                         .dims = { BATCH, ROWS, samples, c->channels } } };
  joined = check_middle (check, SL_DTYPE_F32, 0, 0);
  check_node (check, SL_OP_CONCATENATION, pieces, (guint) c->levels, joined,
              &(SlOpParams){ .concat = { .axis = 2 } });
  const gint32 all = c->kept ? check_output (check, SL_DTYPE_F32, 0, 0)
                             : check_middle (check, SL_DTYPE_F32, 0, 0),
               product = check_middle (check, SL_DTYPE_F32, 0, 0);
  check_node (check, SL_OP_RESHAPE, &joined, 1, all, &flat);
  check_node (check, SL_OP_MUL, (gint32[]){ c->turned ? weights : all, c->turned ? all : weights },
              2, product, NULL);
  check_node (check, SL_OP_SUM, (gint32[]){ product, check_ints (check, 1, (gint32[]){ 2 }) }, 2, y,
              &(SlOpParams){ .reduce = { .keep_dims = c->keeps } });
  check_prepare (check);
}

/* How much pixel @pixel counts for a sample at @x, in pixels: a tent of width 2, or the cubic
 * convolution of PyTorch and ONNX. */
static double
share (SlSampleMode mode, double x, gint32 pixel)
{
  const double d = fabs (x - pixel);
  if (mode == SL_SAMPLE_NEAREST)
    return nearbyint (x) == pixel;
  if (mode == SL_SAMPLE_LINEAR)
    return fmax (0, 1 - d);
  return d <= 1  ? ((2 - 0.75) * d - (3 - 0.75)) * d * d + 1
         : d < 2 ? ((-0.75 * d + 3.75) * d - 6) * d + 3
                 : 0;
}

/* Pixels outside are 0 or the nearest one: those that count are within two of the place. */
static double
sample (const Case *c, gint32 level, const gfloat *picture, const gfloat *place, gint32 channel)
{
  const gint32 h = sizes[level][0], w = sizes[level][1];
  const double x = c->align ? ((double) place[0] + 1) / 2 * (w - 1)
                            : (((double) place[0] + 1) * w - 1) / 2,
               y = c->align ? ((double) place[1] + 1) / 2 * (h - 1)
                            : (((double) place[1] + 1) * h - 1) / 2;
  double sum = 0;
  for (gint32 i = (gint32) floor (y) - 2; i <= (gint32) floor (y) + 3; i++)
    for (gint32 k = (gint32) floor (x) - 2; k <= (gint32) floor (x) + 3; k++) {
      const gint32 row = CLAMP (i, 0, h - 1), column = CLAMP (k, 0, w - 1);
      if (border_of (c, level) == SL_BORDER_ZERO && (row != i || column != k))
        continue;
      sum += share (c->mode, y, i) * share (c->mode, x, k)
             * (double) picture[(row * w + column) * c->channels + channel];
    }
  return sum;
}

static void
compute (const Check *check, const Case *c, double *expected)
{
  const gint32 samples = c->levels * POINTS;
  for (gint32 i = 0; i < BATCH * ROWS * c->channels; i++) {
    const gint32 row = i / c->channels;
    expected[i] = 0;
    for (gint32 s = 0; s < samples; s++) {
      const gint32 level = s / POINTS;
      const gfloat *picture = (const gfloat *) check->input_data[2 * level]
                              + row / ROWS * sizes[level][0] * sizes[level][1] * c->channels;
      const gfloat *place =
        (const gfloat *) check->input_data[2 * level + 1] + 2 * (row * POINTS + s % POINTS);
      expected[i] +=
        sample (c, level, picture, place, i % c->channels)
        * (double) ((const gfloat *) check->input_data[2 * c->levels])[row * samples + s];
    }
  }
}

/* Most places are inside, some outside, on pixels and on edges. */
static void
fill (Check *check, const Case *c)
{
  static const gfloat edges[] = { -1, 1, 0, -0.5f, 3.5f, -40 };
  for (gint32 l = 0; l < c->levels; l++) {
    gfloat *places = check->input_data[2 * l + 1];
    check_random (check, SL_DTYPE_F32, (gsize) (BATCH * sizes[l][0] * sizes[l][1] * c->channels),
                  check->input_data[2 * l]);
    check_random (check, SL_DTYPE_F32, BATCH * ROWS * POINTS * 2, places);
    for (gint32 i = 0; i < BATCH * ROWS * POINTS * 2; i++)
      places[i] = i % 11 == 0 ? edges[i / 11 % 6] : places[i] * 0.6f;
  }
  check_random (check, SL_DTYPE_F32, (gsize) (BATCH * ROWS * c->levels * POINTS),
                check->input_data[2 * c->levels]);
}

static void
test_cases (void)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    const Case *c = &cases[k];
    const gsize n = (gsize) (BATCH * ROWS * c->channels);
    g_autofree double *expected = g_new (double, n);
    guint found = 0;
    Check check;
    check_init (&check, k);
    build (&check, c);
    fill (&check, c);
    compute (&check, c, expected);
    for (guint i = 0; i < sl_graph_n_nodes (check.graph); i++)
      found += sl_graph_node (check.graph, i)->op == SL_OP_GRID_SAMPLE;
    g_assert_cmpuint (found, ==, is_fused (c) ? 1 : (guint) c->levels);
    for (guint i = 0; i < n_isas; i++) {
      sl_float_isa_force (isas[i]);
      check_expect (&check, expected, 2e-5, 2e-5);
    }
    sl_float_isa_force (NULL);
    check_clear (&check);
  }
}

/* Weights that are not one for each sample. */
static void
test_error (void)
{
  const gint32 picture[] = { 1, 4, 4, 3 }, grid[] = { 1, 5, 2, 2 }, weights[] = { 1, 5, 3 };
  Check check;
  check_init (&check, 1);
  const gint32 inputs[] = { check_input (&check, SL_DTYPE_F32, 4, picture, 0, 0),
                            check_input (&check, SL_DTYPE_F32, 4, grid, 0, 0),
                            check_input (&check, SL_DTYPE_F32, 3, weights, 0, 0) };
  check_node (&check, SL_OP_GRID_SAMPLE, inputs, 3, check_output (&check, SL_DTYPE_F32, 0, 0),
              &(SlOpParams){ .grid_sample = { SL_SAMPLE_LINEAR, SL_BORDER_ZERO, FALSE } });
  check_prepare_error (&check, SL_ERROR_SHAPE,
                       "3 inputs; expected pictures of the same batch and channels, grids of the "
                       "same rows, and a weight for each of at most 64 samples");
  check_clear (&check);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/fuse-samples", test_cases);
  g_test_add_func ("/core/fuse-samples/error", test_error);
  return g_test_run ();
}
