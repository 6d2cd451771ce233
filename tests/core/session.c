/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sessions: arguments, the memory plan, views between runtimes, two outputs of one tensor, changing
 * buffers. */
#include <sched.h>
#include <string.h>

#include "sightline/error.h"
#include "core/graph/arena_plan.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

static const gint32 picture[4] = { 1, 4, 4, 8 };

/* RELU, a view of it, a kernel of our own (softmax of codes), and RELU again: three steps. */
static void
build_chain (Check *check)
{
  static const gint32 flat[] = { 1, 128 };
  gint32 reshape[2];
  check_init (check, 9);
  const gint32 input = check_input (check, SL_DTYPE_U8, 4, picture, 0.1f, 128);
  reshape[0] = check_middle (check, SL_DTYPE_U8, 0.1f, 128);
  reshape[1] = check_ints (check, 2, flat);
  const gint32 row = check_middle (check, SL_DTYPE_U8, 0.1f, 128),
               soft = check_middle (check, SL_DTYPE_U8, 1 / 256.0f, 0);
  const SlOpParams params = { .softmax = { 1.0f } };
  check_node (check, SL_OP_RELU, &input, 1, reshape[0], NULL);
  check_node (check, SL_OP_RESHAPE, reshape, 2, row, NULL);
  check_node (check, SL_OP_SOFTMAX, &row, 1, soft, &params);
  check_node (check, SL_OP_RELU, &soft, 1, check_output (check, SL_DTYPE_U8, 1 / 256.0f, 0), NULL);
}

static void
test_threads_range (void)
{
  static const guint bad[] = { 65, 10000 };
  Check check;
  build_chain (&check);
  check_prepare (&check);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *text = g_strdup_printf ("threads is %u; expected 1..64", bad[i]);
    g_assert_null (sl_session_new (check.graph, bad[i], &error));
    g_assert_error (error, SL_ERROR, SL_ERROR_ARGUMENT);
    g_assert_cmpstr (error->message, ==, text);
  }
  check_clear (&check);
}

/* A graph of another runtime's, of which nodes are not known. */
static void
test_whole (void)
{
  g_autoptr (GError) error = NULL;
  Check check;
  build_chain (&check);
  g_assert_true (sl_graph_set_whole (check.graph, "onnxruntime", NULL));
  g_assert_null (sl_session_new (check.graph, 1, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED);
  g_assert_cmpstr (error->message, ==, "only onnxruntime runs it, see backend");
  check_clear (&check);
}

/* What is measured cannot be foretold, but for one processor; and the result is that of one thread.
 */
static void
test_threads_measured (void)
{
  Check check;
  build_chain (&check);
  check_prepare (&check);
  const gsize bytes = sl_graph_output_tensor (check.graph, 0)->bytes;
  void *outputs[3];
  cpu_set_t all, one;
  g_assert_cmpint (sched_getaffinity (0, sizeof all, &all), ==, 0);
  CPU_ZERO (&one);
  for (int i = 0; CPU_COUNT (&one) == 0; i++)
    if (CPU_ISSET (i, &all))
      CPU_SET (i, &one);
  for (guint i = 0; i < G_N_ELEMENTS (outputs); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_cmpint (sched_setaffinity (0, sizeof all, i == 1 ? &one : &all), ==, 0);
    g_autoptr (SlSession) session = sl_session_new (check.graph, i == 2, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_session_threads (session), >=, 1);
    g_assert_cmpuint (sl_session_threads (session), <=, i == 0 ? MIN (CPU_COUNT (&all), 4) : 1);
    outputs[i] = sl_tensor_buffer_new (bytes);
    const void *input = check.input_data[0];
    g_assert_cmpint (sl_session_run (session, &input, &outputs[i]), ==, SL_STATUS_OK);
  }
  g_assert_cmpmem (outputs[0], bytes, outputs[2], bytes);
  g_assert_cmpmem (outputs[1], bytes, outputs[2], bytes);
  for (guint i = 0; i < G_N_ELEMENTS (outputs); i++)
    sl_tensor_buffer_free (outputs[i]);
  check_clear (&check);
}

static void
test_stats (void)
{
  g_autoptr (GError) error = NULL;
  Check check;
  SlSessionStats stats;
  build_chain (&check);
  check_prepare (&check);
  g_autoptr (SlSession) session = sl_session_new (check.graph, 1, &error);
  g_assert_no_error (error);
  sl_session_stats (session, &stats);
  g_assert_cmpuint (stats.nodes, ==, 3);
  g_assert_cmpuint (stats.steps, ==, 3);
  g_assert_cmpstr (sl_session_backend (session, 0), ==, "xnnpack");
  g_assert_cmpstr (sl_session_backend (session, 1), ==, "view");
  g_assert_cmpstr (sl_session_backend (session, 2), ==, "plain");
  g_assert_cmpuint (stats.arena_bytes, >=, stats.arena_lower_bound);
  check_clear (&check);
}

typedef struct
{
  SlGraph *graph;
  const guint8 *input;
  guint8 *output;
  gsize packed;
} Sharer;

static gpointer
run_sharer (gpointer data)
{
  Sharer *sharer = data;
  SlSessionStats stats;
  g_autoptr (SlSession) session = sl_session_new (sharer->graph, 1, NULL);
  const void *inputs[] = { sharer->input };
  void *outputs[] = { sharer->output };
  g_assert_cmpint (sl_session_run (session, inputs, outputs), ==, SL_STATUS_OK);
  sl_session_stats (session, &stats);
  sharer->packed = stats.packed_bytes;
  return NULL;
}

enum
{
  SIDE = 12,
  CHANNELS = 48,
  BYTES = SIDE * SIDE * CHANNELS,
  THREADS = 6
};

/* Sessions on @backend, made by several threads at the same time, pack a layer's weights once, and
 * all compute what a lone one does. The layers share their weights, but not the zero points that
 * are folded into what is packed. Returns how much that is; the result goes to @output. */
static gsize
share_weights (const char *backend, guint8 *output)
{
  const gint32 dims[4] = { 1, SIDE, SIDE, CHANNELS }, kernel[4] = { CHANNELS, 1, 1, CHANNELS };
  const SlOpParams params = { .window = { .padding = SL_PADDING_SAME,
                                          .stride_h = 1,
                                          .stride_w = 1,
                                          .dilation_h = 1,
                                          .dilation_w = 1 } };
  const gfloat scale = 0.01f;
  g_autofree guint8 *weights = g_malloc (CHANNELS * CHANNELS);
  Sharer sharers[THREADS + 1];
  GThread *threads[THREADS];
  Check check, lone;
  guint8 *input = sl_tensor_buffer_new (BYTES);
  for (guint i = 0; i < CHANNELS * CHANNELS; i++)
    weights[i] = (guint8) (i * 2654435761u >> 24);
  for (guint i = 0; i < BYTES; i++)
    input[i] = (guint8) (i * 2246822519u >> 24);
  g_setenv ("SIGHTLINE_BACKEND", backend, TRUE);
  for (guint k = 0; k < 2; k++) {
    Check *made = k == 0 ? &check : &lone;
    check_init (made, 3);
    gint32 tensor = check_input (made, SL_DTYPE_U8, 4, dims, 0.05f, 128);
    for (guint i = 0; i < 4; i++) {
      const gint32 in[2] = { tensor, check_constant (made, SL_DTYPE_U8, 4, kernel, &scale, 1, 0,
                                                     128, weights) };
      tensor = i < 3 ? check_middle (made, SL_DTYPE_U8, 0.05f, 90 + 20 * (gint32) i)
                     : check_output (made, SL_DTYPE_U8, 0.05f, 128);
      check_node (made, SL_OP_CONV_2D, in, 2, tensor, &params);
    }
    check_prepare (made);
  }
  for (guint i = 0; i <= THREADS; i++)
    sharers[i] =
      (Sharer){ i < THREADS ? check.graph : lone.graph, input, sl_tensor_buffer_new (BYTES), 0 };
  for (guint i = 0; i < THREADS; i++)
    threads[i] = g_thread_new ("sharer", run_sharer, &sharers[i]);
  for (guint i = 0; i < THREADS; i++)
    g_thread_join (threads[i]);
  run_sharer (&sharers[THREADS]);
  g_unsetenv ("SIGHTLINE_BACKEND");
  for (guint i = 0; i <= THREADS; i++) {
    g_assert_cmpuint (sharers[i].packed, ==, sharers[THREADS].packed);
    g_assert_cmpmem (sharers[i].output, BYTES, sharers[THREADS].output, BYTES);
    memcpy (output, sharers[i].output, BYTES);
    sl_tensor_buffer_free (sharers[i].output);
  }
  sl_tensor_buffer_free (input);
  check_clear (&check);
  check_clear (&lone);
  return sharers[THREADS].packed;
}

static void
test_shared_weights (void)
{
  g_autofree guint8 *own = g_malloc (BYTES), *xnnpack = g_malloc (BYTES);
  g_assert_cmpuint (share_weights ("int8", own), >=, 4 * CHANNELS * CHANNELS);
  const gsize packed = share_weights ("xnnpack", xnnpack);
  g_assert_cmpmem (own, BYTES, xnnpack, BYTES);
  if (packed == 0)
    g_test_skip ("this XNNPACK packs weights for every runtime");
  else
    g_assert_cmpuint (packed, >=, 4 * CHANNELS * CHANNELS);
}

/* Moving the caller's buffers between runs must not leave a runtime reading the old ones. */
static void
test_changing_buffers (void)
{
  g_autoptr (GError) error = NULL;
  Check check;
  build_chain (&check);
  check_prepare (&check);
  g_autoptr (SlSession) session = sl_session_new (check.graph, 1, &error);
  g_assert_no_error (error);
  guint8 *outputs[2] = { sl_tensor_buffer_new (128), sl_tensor_buffer_new (128) };
  guint8 *inputs[2] = { sl_tensor_buffer_new (128), sl_tensor_buffer_new (128) };
  memset (inputs[0], 0, 128);
  memset (inputs[1], 0, 128);
  inputs[0][3] = inputs[1][100] = 255;
  for (guint run = 0; run < 6; run++) {
    const void *in[] = { inputs[run % 2] };
    void *out[] = { outputs[run / 2 % 2] };
    g_assert_cmpint (sl_session_run (session, in, out), ==, SL_STATUS_OK);
    for (guint i = 0; i < 128; i++)
      g_assert_cmpuint (((guint8 *) out[0])[i] > 200, ==, i == (run % 2 ? 100u : 3u));
  }
  for (guint i = 0; i < 2; i++) {
    sl_tensor_buffer_free (inputs[i]);
    sl_tensor_buffer_free (outputs[i]);
  }
  check_clear (&check);
}

/* A tensor and a view of it both as outputs: one is written in place, the other copied. */
static void
test_two_outputs_of_one (void)
{
  static const gint32 flat[] = { 128 };
  Check check;
  check_init (&check, 4);
  gint32 reshape[2];
  const gint32 input = check_input (&check, SL_DTYPE_F32, 4, picture, 0, 0);
  reshape[0] = check_output (&check, SL_DTYPE_F32, 0, 0);
  reshape[1] = check_ints (&check, 1, flat);
  check_node (&check, SL_OP_RELU, &input, 1, reshape[0], NULL);
  check_node (&check, SL_OP_RESHAPE, reshape, 2, check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
  check_prepare (&check);
  g_autoptr (SlSession) session = sl_session_new (check.graph, 1, NULL);
  gfloat *outputs[2] = { sl_tensor_buffer_new (512), sl_tensor_buffer_new (512) };
  sl_session_run (session, (const void *const *) check.input_data, (void *const *) outputs);
  for (guint i = 0; i < 128; i++) {
    const gfloat x = ((gfloat *) check.input_data[0])[i];
    g_assert_cmpfloat (outputs[0][i], ==, MAX (x, 0));
    g_assert_cmpfloat (outputs[1][i], ==, MAX (x, 0));
  }
  sl_tensor_buffer_free (outputs[0]);
  sl_tensor_buffer_free (outputs[1]);
  check_clear (&check);
}

static void
check_block (const SlBlock *block, gsize size)
{
  g_assert_cmpuint (block->offset % SL_TENSOR_ALIGN, ==, 0);
  g_assert_cmpuint (block->offset + block->bytes + SL_TENSOR_PADDING, <=, size);
}

static gboolean
are_apart (const SlBlock *a, const SlBlock *b)
{
  return a->first > b->last || b->first > a->last
         || a->offset + a->bytes + SL_TENSOR_PADDING <= b->offset
         || b->offset + b->bytes + SL_TENSOR_PADDING <= a->offset;
}

/* Random lifetimes: nothing alive together overlaps, and the plan is never below the largest live
 * set. */
static void
test_plan (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  for (guint round = 0; round < 200; round++) {
    SlBlock blocks[40];
    gsize lower = 0;
    const guint n = (guint) g_rand_int_range (rand, 0, 40),
                steps = (guint) g_rand_int_range (rand, 1, 30);
    for (guint i = 0; i < n; i++) {
      blocks[i].bytes = (gsize) g_rand_int_range (rand, 1, 5000);
      blocks[i].first = (guint) g_rand_int_range (rand, 0, (gint32) steps);
      blocks[i].last = (guint) g_rand_int_range (rand, (gint32) blocks[i].first, (gint32) steps);
    }
    const gsize least = sl_arena_plan (blocks, n, steps, FALSE, &lower, NULL);
    const gsize size = round % 2 ? sl_arena_plan (blocks, n, steps, TRUE, &lower, NULL) : least;
    g_assert_cmpuint (size, >=, lower);
    g_assert_cmpuint (size, <=, least + least / 4);
    for (guint i = 0; i < n; i++) {
      check_block (&blocks[i], size);
      for (guint k = 0; k < i; k++)
        g_assert_true (are_apart (&blocks[i], &blocks[k]));
    }
  }
}

/* Models of thousands of nodes are planned as soon as others, and blocks that end are used again.
 */
static void
test_plan_many (void)
{
  enum
  {
    MANY = 20000,
    LONGEST = 40
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  g_autofree SlBlock *blocks = g_new0 (SlBlock, MANY);
  for (guint halves = 0; halves < 2; halves++) {
    gsize lower = 0;
    for (guint i = 0; i < MANY; i++) {
      const guint last = i + (guint) g_rand_int_range (rand, 0, LONGEST);
      blocks[i] = (SlBlock){ .bytes = (gsize) g_rand_int_range (rand, 1, 5000),
                             .first = i,
                             .last = MIN (last, MANY - 1) };
    }
    const gsize size = sl_arena_plan (blocks, MANY, MANY, halves != 0, &lower, NULL);
    g_assert_cmpuint (size, >=, lower);
    g_assert_cmpuint (size, <=, 4 * lower);
    for (guint i = 0; i < MANY; i++) {
      check_block (&blocks[i], size);
      for (guint k = i > LONGEST ? i - LONGEST : 0; k < i; k++)
        g_assert_true (are_apart (&blocks[i], &blocks[k]));
    }
  }
}

/* Two blocks at a time, each as another's input: those that take turns have one middle, where there
 * is room. */
static void
test_plan_halves (void)
{
  SlBlock blocks[] = { { 64000, 0, 1, 0 },
                       { 16000, 1, 2, 0 },
                       { 40000, 2, 3, 0 },
                       { 12000, 3, 4, 0 },
                       { 20000, 4, 4, 0 } };
  gsize lower = 0;
  sl_arena_plan (blocks, G_N_ELEMENTS (blocks), 5, TRUE, &lower, NULL);
  for (guint i = 2; i < G_N_ELEMENTS (blocks); i++) {
    const gssize middle = (gssize) (blocks[i].offset + blocks[i].bytes / 2),
                 other = (gssize) (blocks[i - 2].offset + blocks[i - 2].bytes / 2);
    g_assert_cmpint (ABS (middle - other), <, SL_TENSOR_ALIGN);
  }
}

/* A convolution after a mean that keeps its dimensions: inside one XNNPACK subgraph the mean must
 * say that it has four. */
static void
test_convolution_of_mean (void)
{
  static const gint32 axes[] = { 1, 2 }, x_dims[] = { 1, 3, 4, 64 }, w_dims[] = { 2, 1, 1, 64 };
  gfloat weights[128];
  double expected[2] = { 0, 0 };
  Check check;
  check_init (&check, 5);
  check_random (&check, SL_DTYPE_F32, G_N_ELEMENTS (weights), weights);
  const gint32 reduced[] = { check_input (&check, SL_DTYPE_F32, 4, x_dims, 0, 0),
                             check_ints (&check, 2, axes) };
  const gint32 mean = check_middle (&check, SL_DTYPE_F32, 0, 0);
  const SlOpParams keep = { .reduce = { TRUE } };
  const SlOpParams params = { .window = {
                                .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1 } };
  const gint32 convolved[] = {
    mean, check_constant (&check, SL_DTYPE_F32, 4, w_dims, NULL, 0, 0, 0, weights), -1
  };
  check_node (&check, SL_OP_MEAN, reduced, 2, mean, &keep);
  check_node (&check, SL_OP_CONV_2D, convolved, 3, check_output (&check, SL_DTYPE_F32, 0, 0),
              &params);
  check_prepare (&check);
  for (guint k = 0; k < 3 * 4 * 64; k++)
    for (guint o = 0; o < 2; o++)
      expected[o] += check_real (sl_graph_input_tensor (check.graph, 0), check.input_data[0], k)
                     / 12 * (double) weights[o * 64 + k % 64];
  check_expect (&check, expected, 1e-5, 1e-5);
  check_clear (&check);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/session/threads-range", test_threads_range);
  g_test_add_func ("/core/session/whole", test_whole);
  g_test_add_func ("/core/session/threads-measured", test_threads_measured);
  g_test_add_func ("/core/session/stats", test_stats);
  g_test_add_func ("/core/session/shared-weights", test_shared_weights);
  g_test_add_func ("/core/session/changing-buffers", test_changing_buffers);
  g_test_add_func ("/core/session/two-outputs-of-one", test_two_outputs_of_one);
  g_test_add_func ("/core/session/plan", test_plan);
  g_test_add_func ("/core/session/plan-many", test_plan_many);
  g_test_add_func ("/core/session/plan-halves", test_plan_halves);
  g_test_add_func ("/core/session/convolution-of-mean", test_convolution_of_mean);
  return g_test_run ();
}
