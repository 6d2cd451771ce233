/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A 1x1 convolution of joined channels, some of them made larger before, is a sum of convolutions:
 * against its definition in double precision. */
#include <math.h>

#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define SIDE 8
#define OUTPUTS 40
#define CHANNELS (16 + 32 + 48)

/** @first: the part that is large already comes first, else last; @sides: of the small ones */
typedef struct
{
  SlOpType resize;
  gboolean first, bias;
  SlActivation activation;
  gint32 sides[2];
  guint convolutions;
} Case;

static const Case cases[] = {
  { SL_OP_RESIZE_BILINEAR, TRUE, TRUE, SL_ACTIVATION_RELU, { 4, 2 }, 3 },
  { SL_OP_RESIZE_BILINEAR, FALSE, TRUE, SL_ACTIVATION_NONE, { 2, 4 }, 3 },
  { SL_OP_RESIZE_NEAREST_NEIGHBOR, TRUE, FALSE, SL_ACTIVATION_RELU6, { 4, 4 }, 3 },
  { SL_OP_RESIZE_BILINEAR, TRUE, TRUE, SL_ACTIVATION_NONE, { 8, 7 }, 1 },
};

static const gint32 part_channels[3] = { 16, 32, 48 };
static gfloat weights[OUTPUTS * CHANNELS], bias[OUTPUTS];
static const gint32 large[2] = { SIDE, SIDE };

static void
build (Check *check, const Case *c, guint32 seed)
{
  const gint32 dims[4] = { OUTPUTS, 1, 1, CHANNELS }, n_outputs = OUTPUTS;
  SlOpParams params = { .resize = { .half_pixel_centers = TRUE } };
  gint32 parts[3], ordered[3];
  check_init (check, seed);
  for (guint i = 0; i < 3; i++) {
    const gint32 side = i == 0 ? SIDE : c->sides[i - 1];
    const gint32 shape[4] = { 1, side, side, part_channels[i] };
    parts[i] = check_input (check, SL_DTYPE_F32, 4, shape, 0, 0);
    if (i == 0)
      continue;
    const gint32 inputs[2] = { parts[i], check_ints (check, 2, large) };
    parts[i] = check_middle (check, SL_DTYPE_F32, 0, 0);
    check_node (check, c->resize, inputs, 2, parts[i], &params);
  }
  for (guint i = 0; i < 3; i++)
    ordered[i] = parts[c->first ? i : (i + 1) % 3];
  const gint32 joined = check_middle (check, SL_DTYPE_F32, 0, 0);
  check_node (check, SL_OP_CONCATENATION, ordered, 3, joined,
              &(SlOpParams){ .concat = { .axis = 3 } });
  const gint32 inputs[3] = {
    joined, check_constant (check, SL_DTYPE_F32, 4, dims, NULL, 0, 0, 0, weights),
    c->bias ? check_constant (check, SL_DTYPE_F32, 1, &n_outputs, NULL, 0, 0, 0, bias) : -1
  };
  params = (SlOpParams){ .window = { .stride_h = 1,
                                     .stride_w = 1,
                                     .dilation_h = 1,
                                     .dilation_w = 1,
                                     .activation = c->activation } };
  check_node (check, SL_OP_CONV_2D, inputs, 3, check_output (check, SL_DTYPE_F32, 0, 0), &params);
  check_prepare (check);
}

/* A pixel of part @i made larger: the nearest one, or between four with centres at halves. */
static double
pixel (const Check *check, const Case *c, guint i, gint32 y, gint32 x, gint32 channel)
{
  const gint32 side = i == 0 ? SIDE : c->sides[i - 1], n = part_channels[i];
  const gfloat *data = check->input_data[i];
  const double scale = (double) side / SIDE;
  double at[2] = { (y + 0.5) * scale - 0.5, (x + 0.5) * scale - 0.5 }, sum = 0;
  for (guint k = 0; k < 2; k++)
    at[k] = c->resize == SL_OP_RESIZE_BILINEAR ? fmin (fmax (at[k], 0), side - 1)
                                               : floor (((k == 0 ? y : x) + 0.5) * scale);
  for (guint k = 0; k < 4; k++) {
    const gint32 row = MIN ((gint32) at[0] + (gint32) (k / 2), side - 1),
                 column = MIN ((gint32) at[1] + (gint32) (k % 2), side - 1);
    const double below = at[0] - floor (at[0]), right = at[1] - floor (at[1]);
    sum += (k / 2 ? below : 1 - below) * (k % 2 ? right : 1 - right)
           * (double) data[(row * side + column) * n + channel];
  }
  return sum;
}

static double *
expected_of (const Check *check, const Case *c)
{
  double *y = g_new (double, SIDE *SIDE *OUTPUTS);
  for (gint32 i = 0; i < SIDE * SIDE * OUTPUTS; i++) {
    const gint32 o = i % OUTPUTS, x = i / OUTPUTS % SIDE, row = i / OUTPUTS / SIDE;
    double sum = c->bias ? (double) bias[o] : 0;
    const gfloat *w = weights + o * CHANNELS;
    for (guint k = 0; k < 3; k++) {
      const guint part = c->first ? k : (k + 1) % 3;
      for (gint32 channel = 0; channel < part_channels[part]; channel++)
        sum += (double) *w++ * pixel (check, c, part, row, x, channel);
    }
    y[i] = c->activation == SL_ACTIVATION_NONE   ? sum
           : c->activation == SL_ACTIVATION_RELU ? fmax (sum, 0)
                                                 : fmin (fmax (sum, 0), 6);
  }
  return y;
}

static void
test_cases (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (weights); i++)
    weights[i] = (gfloat) (i * 7 % 31) / 100 - 0.15f;
  for (guint i = 0; i < OUTPUTS; i++)
    bias[i] = (gfloat) i / 10 - 2;
  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    Check check;
    guint n = 0;
    build (&check, &cases[k], k);
    for (guint i = 0; i < sl_graph_n_nodes (check.graph); i++)
      n += sl_graph_node (check.graph, i)->op == SL_OP_CONV_2D;
    g_assert_cmpuint (n, ==, cases[k].convolutions);
    g_autofree double *expected = expected_of (&check, &cases[k]);
    check_expect (&check, expected, 1e-5, 1e-5);
    check_clear (&check);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/split-concat", test_cases);
  return g_test_run ();
}
