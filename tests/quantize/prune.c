/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Of each layer's weights the smallest become zero, exactly as many as asked for, and no others
 * change. */
#include "models/quantize/prune.h"

#include <math.h>
#include <string.h>

#include "core/graph/tensor.h"
#include "tests/support/program.h"

#define N 2048

static gint32
add (SlGraph *graph, guint rank, const gint32 *dims, const gfloat *values)
{
  SlTensor tensor = {
    .name = "t", .dtype = SL_DTYPE_F32, .rank = rank, .bytes = sizeof (gfloat), .data = values
  };
  for (guint i = 0; i < rank; i++) {
    tensor.dims[i] = dims[i];
    tensor.bytes *= (gsize) dims[i];
  }
  return sl_graph_add_tensor (graph, &tensor, NULL);
}

/* A pointwise convolution, a depthwise one, a small one, and one that shares the first one's
 * weights. */
static SlGraph *
make_graph (const gfloat *weights)
{
  static const gint32 x_dims[] = { 1, 2, 2, 32 }, y_dims[] = { 1, 2, 2, 64 },
                      w_dims[] = { 64, 1, 1, 32 }, d_dims[] = { 1, 8, 8, 32 },
                      s_dims[] = { 16, 1, 1, 32 };
  const SlOpParams params = { .window = {
                                .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1 } };
  SlGraph *graph = sl_graph_new (NULL);
  const gint32 x = add (graph, 4, x_dims, NULL), w = add (graph, 4, w_dims, weights),
               d = add (graph, 4, d_dims, weights), s = add (graph, 4, s_dims, weights);
  const SlOpType ops[] = { SL_OP_CONV_2D, SL_OP_DEPTHWISE_CONV_2D, SL_OP_CONV_2D, SL_OP_CONV_2D };
  const gint32 filters[] = { w, d, s, w };
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++) {
    const gint32 inputs[] = { x, filters[i] }, y = add (graph, 4, y_dims, NULL);
    g_assert_true (sl_graph_add_node (graph, ops[i], i, inputs, 2, &y, 1, &params, NULL));
  }
  return graph;
}

static void
check (const gfloat *weights, gdouble share)
{
  g_autoptr (SlGraph) graph = make_graph (weights);
  gsize zeros = 0;
  gfloat largest = 0, smallest = INFINITY;
  g_assert_cmpuint (sl_prune (graph, share, FALSE), ==, 1);
  const SlTensor *pruned = sl_node_input (graph, sl_graph_node (graph, 0), 1);
  const gfloat *after = pruned->data;
  g_assert_true (sl_node_input (graph, sl_graph_node (graph, 3), 1)->data == pruned->data);
  g_assert_true (sl_node_input (graph, sl_graph_node (graph, 1), 1)->data == weights);
  g_assert_true (sl_node_input (graph, sl_graph_node (graph, 2), 1)->data == weights);
  for (gsize i = 0; i < N; i++) {
    zeros += after[i] == 0;
    if (after[i] == 0)
      largest = MAX (largest, fabsf (weights[i]));
    else
      g_assert_cmpfloat (after[i], ==, weights[i]);
    if (after[i] != 0)
      smallest = MIN (smallest, fabsf (weights[i]));
  }
  g_assert_cmpuint (zeros, ==, (gsize) (share * N));
  g_assert_cmpfloat (largest, <=, smallest);
}

static void
test_shares (void)
{
  static const gdouble shares[] = { 0.001, 0.25, 0.5, 0.9, 1 };
  gfloat random[N], equal[N];
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  for (guint i = 0; i < N; i++) {
    random[i] = (gfloat) g_rand_double_range (rand, -1, 1);
    equal[i] = i % 2 ? 0.5f : -0.5f;
  }
  for (guint i = 0; i < G_N_ELEMENTS (shares); i++) {
    check (random, shares[i]);
    check (equal, shares[i]);
  }
}

/* Blocks are whole, and none that stays is smaller than one that goes. */
static void
test_blocks (void)
{
  gfloat weights[N];
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  gdouble gone = 0, stays = INFINITY;
  guint zeros = 0;
  for (guint i = 0; i < N; i++)
    weights[i] = (gfloat) g_rand_double_range (rand, -1, 1);
  g_autoptr (SlGraph) graph = make_graph (weights);
  g_assert_cmpuint (sl_prune (graph, 0.7, TRUE), ==, 1);
  const gfloat *after = sl_node_input (graph, sl_graph_node (graph, 0), 1)->data;
  for (guint i = 0; i < N; i += 4) {
    gdouble size = 0;
    for (guint k = i; k < i + 4; k++) {
      size += fabs ((gdouble) weights[k]);
      g_assert_cmpfloat (after[k], ==, after[i] == 0 ? 0 : weights[k]);
    }
    zeros += after[i] == 0;
    if (after[i] == 0)
      gone = MAX (gone, size);
    else
      stays = MIN (stays, size);
  }
  g_assert_cmpuint (zeros, ==, (guint) (0.7 * (N / 4)));
  g_assert_cmpfloat (gone, <=, stays);
}

/* Weights that are no numbers have no order. */
static void
test_not_finite (void)
{
  gfloat weights[N] = { NAN };
  g_autoptr (SlGraph) graph = make_graph (weights);
  g_assert_cmpuint (sl_prune (graph, 0.5, FALSE), ==, 0);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/prune/shares", test_shares);
  g_test_add_func ("/quantize/prune/blocks", test_blocks);
  g_test_add_func ("/quantize/prune/not-finite", test_not_finite);
  return g_test_run ();
}
