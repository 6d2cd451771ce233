/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A split for several convolutions whose outputs are joined: one convolution, with the sums of
 * double-precision maths. */
#include <string.h>

#include "core/passes/prepare.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

typedef struct
{
  SlDtype dtype;
  gint32 channels, outputs; /* of each of GROUPS parts */
  gboolean swapped, biased;
  guint changes;
} Groups;

#define GROUPS 3
#define SIDE 5

static guint
changes_of (const SlGraph *graph)
{
  guint changes = 0;
  for (guint i = 0; i < sl_graph_n_passes (graph); i++)
    if (g_strcmp0 (sl_graph_pass (graph, i, &changes), "join_groups") == 0)
      return changes;
  g_error ("no pass join_groups");
}

/* The double-precision sum of one output of a 3x3 window, zeros around. */
static double
window_sum (const Check *check, const gint32 weights, gint32 channels, gint32 first, gint32 out,
            gint32 y, gint32 x)
{
  const SlTensor *input = sl_graph_input_tensor (check->graph, 0),
                 *kernel = sl_graph_tensor (check->graph, weights);
  double sum = 0;
  for (gint32 dy = -1; dy <= 1; dy++)
    for (gint32 dx = -1; dx <= 1; dx++)
      for (gint32 c = 0; c < channels; c++) {
        if (y + dy < 0 || y + dy >= SIDE || x + dx < 0 || x + dx >= SIDE)
          continue;
        const gsize at = (gsize) (((y + dy) * SIDE + x + dx) * GROUPS * channels + first + c);
        const gsize weight = (gsize) (((out * 3 + dy + 1) * 3 + dx + 1) * channels + c);
        sum +=
          check_real (input, check->input_data[0], at) * check_real (kernel, kernel->data, weight);
      }
  return sum;
}

/* A split for several convolutions, whose outputs are joined, is one convolution, where it can be
 * and is faster. */
static void
test_join_groups (gconstpointer data)
{
  const Groups *c = data;
  const gboolean bytes = c->dtype == SL_DTYPE_I8;
  const gint32 dims[4] = { 1, SIDE, SIDE, GROUPS * c->channels },
               shape[4] = { c->outputs, 3, 3, c->channels }, three = 3;
  const gfloat in_scale = bytes ? 0.02f : 0, out_scale = bytes ? 0.11f : 0;
  gint32 kernels[GROUPS], parts[GROUPS], joined[GROUPS];
  union
  {
    gint8 codes[4 * 9 * 17];
    gfloat reals[4 * 9 * 17];
  } weights[GROUPS];
  gint32 biases[GROUPS][4];
  gfloat float_biases[GROUPS][4];
  Check check;
  check_init (&check, 7);
  const gint32 split[2] = { check_ints (&check, 1, &three),
                            check_input (&check, c->dtype, 4, dims, in_scale, bytes ? 4 : 0) };
  for (guint g = 0; g < GROUPS; g++)
    parts[g] = check_middle (&check, c->dtype, in_scale, bytes ? 4 : 0);
  g_assert_true (
    sl_graph_add_node (check.graph, SL_OP_SPLIT, 0, split, 2, parts, GROUPS, NULL, NULL));
  for (guint g = 0; g < GROUPS; g++) {
    const gfloat scale = 0.01f * (gfloat) (g + 1);
    const gint32 n = c->outputs;
    check_random (&check, c->dtype, (gsize) (c->outputs * 9 * c->channels), &weights[g]);
    kernels[g] =
      check_constant (&check, c->dtype, 4, shape, bytes ? &scale : NULL, bytes, 0, 0, &weights[g]);
    for (gint32 o = 0; o < n; o++) {
      biases[g][o] = (gint32) (100 * g) - 50 * o;
      float_biases[g][o] = (gfloat) biases[g][o] / 64;
    }
    const gint32 inputs[3] = {
      parts[c->swapped ? GROUPS - 1 - g : g], kernels[g],
      !c->biased ? -1
      : bytes    ? check_constant (&check, SL_DTYPE_I32, 1, &n, NULL, 0, 0, 0, biases[g])
                 : check_constant (&check, SL_DTYPE_F32, 1, &n, NULL, 0, 0, 0, float_biases[g])
    };
    const SlOpParams params = { .window = { .padding = SL_PADDING_SAME,
                                            .stride_h = 1,
                                            .stride_w = 1,
                                            .dilation_h = 1,
                                            .dilation_w = 1 } };
    joined[g] = check_middle (&check, c->dtype, out_scale, bytes ? -3 : 0);
    check_node (&check, SL_OP_CONV_2D, inputs, 3, joined[g], &params);
  }
  const SlOpParams last = { .concat = { .axis = 3 } };
  check_node (&check, SL_OP_CONCATENATION, joined, GROUPS,
              check_output (&check, c->dtype, out_scale, bytes ? -3 : 0), &last);
  check_prepare (&check);
  g_assert_cmpuint (changes_of (check.graph), ==, c->changes);
  g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, c->changes ? 1 : GROUPS + 2);
  if (c->changes > 0)
    g_assert_cmpint (sl_graph_node (check.graph, 0)->op, ==,
                     c->channels == 1 ? SL_OP_DEPTHWISE_CONV_2D : SL_OP_CONV_2D);
  g_autofree double *expected = g_new (double, SIDE *SIDE *GROUPS * c->outputs);
  for (gint32 i = 0; i < SIDE * SIDE * GROUPS * c->outputs; i++) {
    const gint32 o = i % (GROUPS * c->outputs), g = o / c->outputs,
                 from = c->swapped ? GROUPS - 1 - g : g;
    const double unit = bytes ? (double) in_scale * (double) (0.01f * (gfloat) (g + 1)) : 1.0 / 64;
    expected[i] = window_sum (&check, kernels[g], c->channels, from * c->channels, o % c->outputs,
                              i / (GROUPS * c->outputs) / SIDE, i / (GROUPS * c->outputs) % SIDE)
                  + (c->biased ? biases[g][o % c->outputs] * unit : 0);
  }
  check_expect (&check, expected, bytes ? 0.51 : 1e-4, bytes ? 0.51 : 1e-4);
  check_clear (&check);
}

static const Groups groups[] = {
  { SL_DTYPE_I8, 1, 1, FALSE, TRUE, 1 },   { SL_DTYPE_I8, 1, 1, FALSE, FALSE, 1 },
  { SL_DTYPE_I8, 1, 1, TRUE, TRUE, 0 },    { SL_DTYPE_F32, 1, 1, FALSE, TRUE, 1 },
  { SL_DTYPE_F32, 1, 4, FALSE, FALSE, 1 }, { SL_DTYPE_F32, 2, 3, FALSE, TRUE, 1 },
  { SL_DTYPE_F32, 16, 4, FALSE, TRUE, 1 }, { SL_DTYPE_F32, 17, 4, FALSE, TRUE, 0 },
  { SL_DTYPE_I8, 1, 2, FALSE, TRUE, 0 },   { SL_DTYPE_I8, 4, 1, FALSE, TRUE, 0 },
  { SL_DTYPE_I8, 4, 2, FALSE, TRUE, 0 },
};

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++) {
    g_autofree char *name = g_strdup_printf ("/join_groups/%u", i);
    g_test_add_data_func (name, &groups[i], test_join_groups);
  }
  return g_test_run ();
}
