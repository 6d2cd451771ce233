/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A convolution, a depthwise one and a convolution, whose channels are 400 times apart: the same
 * results after it, and channels alike. */
#include "models/quantize/equalize.h"

#include <math.h>

#include "core/graph/tensor.h"
#include "models/quantize/activation_trace.h"
#include "tests/support/program.h"

#define SIDE 6
#define CHANNELS 8

static gint32
add_constant (SlGraph *graph, const char *name, guint rank, const gint32 *dims,
              const gfloat *values, gsize n)
{
  SlTensor tensor = {
    .name = name, .dtype = SL_DTYPE_F32, .rank = rank, .bytes = n * sizeof values[0]
  };
  gfloat *data = sl_tensor_alloc (sl_graph_arena (graph), tensor.bytes);
  for (gsize i = 0; i < n; i++)
    data[i] = values[i];
  for (guint i = 0; i < rank; i++)
    tensor.dims[i] = dims[i];
  tensor.data = data;
  return sl_graph_add_tensor (graph, &tensor, NULL);
}

static gint32
add_map (SlGraph *graph, const char *name, gint32 channels)
{
  const SlTensor tensor = { .name = name,
                            .dtype = SL_DTYPE_F32,
                            .rank = 4,
                            .dims = { 1, SIDE, SIDE, channels },
                            .bytes = SIDE * SIDE * (gsize) channels * sizeof (gfloat) };
  return sl_graph_add_tensor (graph, &tensor, NULL);
}

/* Weights of a layer, those of each channel that it makes as large as @sizes say. */
static gint32
add_weights (SlGraph *graph, GRand *random, const gint32 *dims, const gfloat *sizes, gboolean last)
{
  const gsize n = (gsize) dims[0] * (gsize) dims[1] * (gsize) dims[2] * (gsize) dims[3],
              inner = n / (gsize) dims[0];
  g_autofree gfloat *values = g_new (gfloat, n);
  for (gsize i = 0; i < n; i++)
    values[i] =
      (gfloat) g_rand_double_range (random, -1, 1) * sizes[last ? i % (gsize) dims[3] : i / inner];
  return add_constant (graph, "weights", 4, dims, values, n);
}

/* Results of the last layer are read twice with @shared: it may not be changed then. */
static SlGraph *
make_graph (SlActivation activation, gboolean shared)
{
  static const gfloat wide[CHANNELS] = { 20, 0.05f, 1, 7, 0.3f, 12, 0.1f, 3 },
                      even[CHANNELS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
  static const gfloat bias[CHANNELS] = { 1, 0.1f, 0.5f, 2, 0.1f, 3, 0.2f, 1 };
  const SlOpParams params = { .window = { .padding = SL_PADDING_SAME,
                                          .stride_h = 1,
                                          .stride_w = 1,
                                          .dilation_h = 1,
                                          .dilation_w = 1,
                                          .activation = activation } };
  g_autoptr (GRand) random = g_rand_new_with_seed (4);
  SlGraph *graph = sl_graph_new (NULL);
  const gint32 channels = CHANNELS, input = add_map (graph, "input", 3),
               a = add_map (graph, "a", CHANNELS), b = add_map (graph, "b", CHANNELS),
               c = add_map (graph, "c", CHANNELS);
  const gint32 first[] = {
    input, add_weights (graph, random, (const gint32[]){ CHANNELS, 3, 3, 3 }, wide, FALSE),
    add_constant (graph, "bias", 1, &channels, bias, CHANNELS)
  };
  SlOpParams depthwise = params;
  depthwise.window.depth_multiplier = 1;
  const gint32 middle[] = {
    a, add_weights (graph, random, (const gint32[]){ 1, 3, 3, CHANNELS }, even, TRUE),
    add_constant (graph, "bias", 1, &channels, bias, CHANNELS)
  };
  const gint32 last[] = {
    b, add_weights (graph, random, (const gint32[]){ CHANNELS, 1, 1, CHANNELS }, even, FALSE),
    add_constant (graph, "bias", 1, &channels, bias, CHANNELS)
  };
  const gint32 outputs[] = { c, a };
  g_assert_true (sl_graph_add_node (graph, SL_OP_CONV_2D, 0, first, 3, &a, 1, &params, NULL));
  g_assert_true (
    sl_graph_add_node (graph, SL_OP_DEPTHWISE_CONV_2D, 1, middle, 3, &b, 1, &depthwise, NULL));
  g_assert_true (sl_graph_add_node (graph, SL_OP_CONV_2D, 2, last, 3, &c, 1, &params, NULL));
  g_assert_true (sl_graph_set_io (graph, &input, 1, outputs, shared ? 2 : 1, NULL));
  return graph;
}

/* How far apart the largest values of the channels of @tensor are. */
static gfloat
spread (const SlActivationTrace *tape, gint32 tensor)
{
  const gfloat *values = sl_activation_trace_data (tape, tensor);
  gfloat most[CHANNELS] = { 0 }, low = INFINITY, high = 0;
  for (guint i = 0; i < SIDE * SIDE * CHANNELS; i++)
    most[i % CHANNELS] = MAX (most[i % CHANNELS], fabsf (values[i]));
  for (guint i = 0; i < CHANNELS; i++) {
    low = MIN (low, most[i]);
    high = MAX (high, most[i]);
  }
  return high / low;
}

static void
check (SlActivation activation, gboolean shared, guint pairs)
{
  g_autoptr (GError) error = NULL;
  SlGraph *before = make_graph (activation, shared), *after = make_graph (activation, shared);
  gfloat picture[SIDE * SIDE * 3];
  g_autoptr (GRand) random = g_rand_new_with_seed (5);
  for (guint i = 0; i < G_N_ELEMENTS (picture); i++)
    picture[i] = (gfloat) g_rand_double_range (random, 0, 1);
  g_assert_cmpuint (sl_equalize (after), ==, pairs);
  g_autoptr (SlActivationTrace) one = sl_activation_trace_new (before, 1, &error),
                                two = sl_activation_trace_new (after, 1, &error);
  g_assert_no_error (error);
  g_assert_true (sl_activation_trace_run (one, picture, &error)
                 && sl_activation_trace_run (two, picture, &error));
  const gint32 output = sl_graph_output (before, 0);
  const gfloat *want = sl_activation_trace_data (one, output),
               *got = sl_activation_trace_data (two, output);
  gfloat most = 0;
  for (guint i = 0; i < SIDE * SIDE * CHANNELS; i++)
    most = MAX (most, fabsf (want[i]));
  for (guint i = 0; i < SIDE * SIDE * CHANNELS; i++)
    g_assert_cmpfloat (fabsf (want[i] - got[i]), <=, 1e-5f * most);
  /* The first layer's results are the second tensor of the graph. */
  const gfloat spread_before = spread (one, 1), spread_after = spread (two, 1);
  if (pairs == 2)
    g_assert_cmpfloat (spread_after, <, spread_before / 5);
  else
    g_assert_cmpfloat (spread_after, ==, spread_before);
  g_clear_pointer (&one, sl_activation_trace_free);
  g_clear_pointer (&two, sl_activation_trace_free);
  sl_graph_unref (before);
  sl_graph_unref (after);
}

static void
test_pairs (void)
{
  check (SL_ACTIVATION_NONE, FALSE, 2);
  check (SL_ACTIVATION_RELU, FALSE, 2);
}

static void
test_no_pairs (void)
{
  /* ReLU6 clips where the channel was, and a result of the model is what it is. */
  check (SL_ACTIVATION_RELU6, FALSE, 0);
  check (SL_ACTIVATION_RELU, TRUE, 1);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/equalize/pairs", test_pairs);
  g_test_add_func ("/quantize/equalize/no-pairs", test_no_pairs);
  return g_test_run ();
}
