/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layers of few rows whose weights are several chunks: later weights are prefetched while a tile is
 * multiplied. Every instruction set of this machine, layers with and without windows, against sums
 * in double precision written here.
 */
#include <math.h>

#include "core/backends/float/isa.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define CHANNELS 330
/* Of the sum of a value's products' magnitudes. */
#define TOLERANCE 1e-5

/* Depths that no block of Strassen's algorithm has. @size: of a picture's side, of rows if @window
 * is 0; @window: of a window without padding. */
typedef struct
{
  gint32 size, depth, window;
} Case;

static const Case cases[] = {
  { 1, 601, 0 },  { 2, 601, 0 },  { 9, 601, 0 },  { 17, 601, 0 }, { 49, 601, 0 },
  { 50, 601, 0 }, { 61, 601, 0 }, { 80, 601, 0 }, { 7, 150, 2 },  { 9, 150, 2 },
};

static void
expect (const Case *c, const SlFloatIsa *isa, const gfloat *x, const gfloat *weights,
        const gfloat *got)
{
  const gint32 taps = MAX (c->window, 1), side = c->window > 0 ? c->size - c->window + 1 : c->size,
               rows = c->window > 0 ? side * side : side;
  for (gint32 i = 0; i < rows * CHANNELS; i++) {
    const gint32 row = i / CHANNELS;
    double exact = 0, magnitude = 0;
    for (gint32 k = 0; k < taps * taps * c->depth; k++) {
      const gint32 tap = k / c->depth, y = row / side + tap / taps,
                   column = row % side + tap % taps,
                   pixel = c->window > 0 ? y * c->size + column : row;
      const double product = (double) x[pixel * c->depth + k % c->depth]
                             * (double) weights[i % CHANNELS * taps * taps * c->depth + k];
      exact += product;
      magnitude += fabs (product);
    }
    if (!(fabs ((double) got[i] - exact) <= TOLERANCE * magnitude))
      g_error ("%s, %d x %d: value %d is %g, expected %g", isa->name, c->size, c->depth, i,
               (double) got[i], exact);
  }
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  const gint32 x_dims[] = { c->size, c->depth }, w_dims[] = { CHANNELS, c->depth },
               x_window[] = { 1, c->size, c->size, c->depth },
               w_window[] = { CHANNELS, c->window, c->window, c->depth };
  const SlOpParams dense = { .fully_connected = { .activation = SL_ACTIVATION_NONE } },
                   window = { .window = { .stride_h = 1,
                                          .stride_w = 1,
                                          .dilation_h = 1,
                                          .dilation_w = 1,
                                          .padding = SL_PADDING_VALID } };
  const gint32 taps = MAX (c->window, 1);
  const gsize n = (gsize) (CHANNELS * taps * taps * c->depth);
  const gint rank = c->window > 0 ? 4 : 2;
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  g_autofree gfloat *weights = g_new (gfloat, n);
  Check check;
  check_init (&check, 11);
  check_random (&check, SL_DTYPE_F32, n, weights);
  const gint32 inputs[3] = {
    check_input (&check, SL_DTYPE_F32, (guint) rank, c->window > 0 ? x_window : x_dims, 0, 0),
    check_constant (&check, SL_DTYPE_F32, (guint) rank, c->window > 0 ? w_window : w_dims, NULL, 0,
                    0, 0, weights),
    -1
  };
  check_node (&check, c->window > 0 ? SL_OP_CONV_2D : SL_OP_FULLY_CONNECTED, inputs, 3,
              check_output (&check, SL_DTYPE_F32, 0, 0), c->window > 0 ? &window : &dense);
  check_prepare (&check);
  for (guint i = 0; i < n_isas; i++)
    for (guint threads = 1; threads <= 2; threads++) {
      sl_float_isa_force (isas[i]);
      gfloat *got = check_run (&check, FALSE, threads);
      sl_float_isa_force (NULL);
      expect (c, isas[i], check.input_data[0], weights, got);
      sl_tensor_buffer_free (got);
    }
  check_clear (&check);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("SIGHTLINE_BACKEND", "float", TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path =
      g_strdup_printf ("/float_ahead/%d-%d-%d", cases[i].size, cases[i].depth, cases[i].window);
    g_test_add_data_func (path, &cases[i], test_case);
  }
  return g_test_run ();
}
