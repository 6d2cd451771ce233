/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rewrites: how often each changed a graph, and that the graph still gives what double-precision
 * maths says. */
#include <math.h>
#include <string.h>

#include "core/passes/prepare.h"
#include "sightline/error.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define N 300

static guint
changes_of (const SlGraph *graph, const char *pass)
{
  for (guint i = 0; i < sl_graph_n_passes (graph); i++) {
    guint changes;
    if (g_strcmp0 (sl_graph_pass (graph, i, &changes), pass) == 0)
      return changes;
  }
  g_error ("no pass %s", pass);
}

static double
code_of (double real, double scale, gint32 zero, gint32 lo, gint32 hi)
{
  return fmin (fmax (nearbyint (real / scale) + zero, lo), hi);
}

/* uint8 CAST to float, QUANTIZE, SUB a constant, TANH: one table. */
static void
test_table_chain (void)
{
  const gint32 dims[1] = { N };
  const gfloat scale = 0.004f;
  const gint8 constant = 100;
  Check check;
  gint32 t[4], in[2];
  double expected[N];
  check_init (&check, 3);
  in[0] = check_input (&check, SL_DTYPE_U8, 1, dims, 0, 0);
  t[0] = check_middle (&check, SL_DTYPE_F32, 0, 0);
  t[1] = check_middle (&check, SL_DTYPE_I8, 1.0f, -128);
  t[2] = check_middle (&check, SL_DTYPE_I8, 0.02f, -100);
  t[3] = check_output (&check, SL_DTYPE_I8, 1 / 128.0f, 0);
  check_node (&check, SL_OP_CAST, &in[0], 1, t[0], NULL);
  check_node (&check, SL_OP_QUANTIZE, &t[0], 1, t[1], NULL);
  in[0] = t[1];
  in[1] = check_constant (&check, SL_DTYPE_I8, 0, NULL, &scale, 1, 0, 0, &constant);
  check_node (&check, SL_OP_SUB, in, 2, t[2], NULL);
  check_node (&check, SL_OP_TANH, &t[2], 1, t[3], NULL);
  check_prepare (&check);
  g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, 1);
  g_assert_cmpint (sl_graph_node (check.graph, 0)->op, ==, SL_OP_LOOKUP);
  g_assert_cmpuint (changes_of (check.graph, "fold_table"), >, 0);
  g_assert_cmpuint (changes_of (check.graph, "dead_code"), >, 0);
  for (gsize i = 0; i < N; i++) {
    const double x = code_of (((const guint8 *) check.input_data[0])[i], 1, -128, -128, 127) + 128;
    const double y = code_of (x - 100 * (double) 0.004f, 0.02, -100, -128, 127);
    expected[i] = tanh ((y + 100) * (double) 0.02f);
  }
  check_expect (&check, expected, 0.51, 0.51);
  check_clear (&check);
}

/* x * LOGISTIC (x) of codes: one table, rounded twice as the nodes would. */
static void
test_table_silu (void)
{
  const gint32 dims[1] = { N };
  Check check;
  gint32 in[2], middle;
  double expected[N];
  check_init (&check, 4);
  in[0] = check_input (&check, SL_DTYPE_I8, 1, dims, 0.05f, 3);
  in[1] = middle = check_middle (&check, SL_DTYPE_I8, 1 / 256.0f, -128);
  check_node (&check, SL_OP_LOGISTIC, in, 1, middle, NULL);
  check_node (&check, SL_OP_MUL, in, 2, check_output (&check, SL_DTYPE_I8, 0.04f, -120), NULL);
  check_prepare (&check);
  g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, 1);
  for (gsize i = 0; i < N; i++) {
    const double x = check_real (sl_graph_input_tensor (check.graph, 0), check.input_data[0], i);
    expected[i] = x * (code_of (1 / (1 + exp (-x)), 1 / 256.0, -128, -128, 127) + 128) / 256;
  }
  check_expect (&check, expected, 0.51, 0.51);
  check_clear (&check);
}

/* A constant that is not the same everywhere is no function of a byte. */
static void
test_table_refused (void)
{
  const gint32 dims[2] = { 4, 3 }, row[1] = { 3 };
  const gfloat scale = 0.05f;
  const gint8 constant[3] = { 1, 1, 2 };
  Check check;
  gint32 in[2], middle;
  check_init (&check, 5);
  in[0] = check_input (&check, SL_DTYPE_I8, 2, dims, 0.05f, 0);
  in[1] = check_constant (&check, SL_DTYPE_I8, 1, row, &scale, 1, 0, 0, constant);
  middle = check_middle (&check, SL_DTYPE_I8, 0.1f, 0);
  check_node (&check, SL_OP_ADD, in, 2, middle, NULL);
  check_node (&check, SL_OP_TANH, &middle, 1, check_output (&check, SL_DTYPE_I8, 1 / 128.0f, 0),
              NULL);
  check_prepare (&check);
  g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, 2);
  g_assert_cmpint (sl_graph_node (check.graph, 0)->op, ==, SL_OP_ADD);
  check_clear (&check);
}

/* Codes to float and back to the same codes, then two transpositions that undo each other: only
 * views are left. */
static void
test_cancel (void)
{
  const gint32 dims[3] = { 4, 5, 6 };
  Check check;
  gint32 t[4], in[2];
  double expected[120];
  check_init (&check, 6);
  in[0] = check_input (&check, SL_DTYPE_U8, 3, dims, 0.1f, 7);
  for (guint i = 0; i < 3; i++)
    t[i] =
      check_middle (&check, i == 0 ? SL_DTYPE_F32 : SL_DTYPE_U8, i == 0 ? 0 : 0.1f, i == 0 ? 0 : 7);
  t[3] = check_output (&check, SL_DTYPE_U8, 0.1f, 7);
  check_node (&check, SL_OP_DEQUANTIZE, &in[0], 1, t[0], NULL);
  check_node (&check, SL_OP_QUANTIZE, &t[0], 1, t[1], NULL);
  in[0] = t[1];
  in[1] = check_ints (&check, 3, (gint32[]){ 2, 0, 1 });
  check_node (&check, SL_OP_TRANSPOSE, in, 2, t[2], NULL);
  in[0] = t[2];
  in[1] = check_ints (&check, 3, (gint32[]){ 1, 2, 0 });
  check_node (&check, SL_OP_TRANSPOSE, in, 2, t[3], NULL);
  check_prepare (&check);
  g_assert_cmpuint (changes_of (check.graph, "collapse_quantize"), ==, 1);
  g_assert_cmpuint (changes_of (check.graph, "cancel_layout"), >=, 2);
  for (guint i = 0; i < sl_graph_n_nodes (check.graph); i++)
    g_assert_cmpint (sl_graph_node (check.graph, i)->op, ==, SL_OP_RESHAPE);
  for (gsize i = 0; i < 120; i++)
    expected[i] = check_real (sl_graph_input_tensor (check.graph, 0), check.input_data[0], i);
  check_expect (&check, expected, 0, 0);
  check_clear (&check);
}

/* float16 weights through DEQUANTIZE, and int8 weights under float activations. */
static void
test_weights (void)
{
  const gint32 dims[2] = { 2, 4 }, shape[2] = { 3, 4 };
  const guint16 halves[12] = { 0x3c00, 0xc000, 0x0000, 0x3555, 0x3800, 0xbc00,
                               0x0001, 0x4200, 0x3c01, 0x8000, 0x7bff, 0x2e66 };
  const double reals[12] = {
    1, -2, 0, 0.333251953125, 0.5, -1, ldexp (1, -24), 3, 1.0009765625, 0, 65504, 0.0999755859375
  };
  const gint8 codes[12] = { 10, -20, 30, -40, 50, -60, 70, -80, 90, -100, 110, -120 };
  const gfloat scales[3] = { 0.01f, 0.02f, 0.03f };
  for (guint kind = 0; kind < 2; kind++) {
    Check check;
    gint32 in[2];
    double expected[6];
    check_init (&check, kind);
    in[0] = check_input (&check, SL_DTYPE_F32, 2, dims, 0, 0);
    if (kind == 0) {
      const gint32 stored = check_constant (&check, SL_DTYPE_F16, 2, shape, NULL, 0, 0, 0, halves);
      in[1] = check_middle (&check, SL_DTYPE_F32, 0, 0);
      check_node (&check, SL_OP_DEQUANTIZE, &stored, 1, in[1], NULL);
    } else {
      in[1] = check_constant (&check, SL_DTYPE_I8, 2, shape, scales, 3, 0, 0, codes);
    }
    check_node (&check, SL_OP_FULLY_CONNECTED, in, 2, check_output (&check, SL_DTYPE_F32, 0, 0),
                NULL);
    check_prepare (&check);
    g_assert_cmpuint (changes_of (check.graph, kind == 0 ? "constant_fold" : "dequantize_weights"),
                      ==, 1);
    g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, 1);
    for (gsize i = 0; i < 6; i++) {
      expected[i] = 0;
      for (gsize k = 0; k < 4; k++)
        expected[i] +=
          check_real (sl_graph_input_tensor (check.graph, 0), check.input_data[0], i / 3 * 4 + k)
          * (kind == 0 ? reals[i % 3 * 4 + k] : codes[i % 3 * 4 + k] * (double) scales[i % 3]);
    }
    check_expect (&check, expected, 2e-6, 2e-6);
    check_clear (&check);
  }
}

/* Of constants alone, int8 weights under floats: no kernel may read them before they are float. */
static void
test_constant_weights (void)
{
  const gint32 dims[2] = { 2, 4 }, shape[2] = { 3, 4 }, sums[2] = { 2, 3 };
  const gfloat data[8] = { 1, 2, 3, 4, -1, 0.5f, 0, 2 }, scale = 0.5f;
  const gint8 codes[12] = { 10, -20, 30, -40, 50, -60, 70, -80, 90, -100, 110, -120 };
  Check check;
  double expected[6];
  check_init (&check, 0);
  const gint32 in = check_input (&check, SL_DTYPE_F32, 2, sums, 0, 0);
  const gint32 layer[2] = { check_constant (&check, SL_DTYPE_F32, 2, dims, NULL, 0, 0, 0, data),
                            check_constant (&check, SL_DTYPE_I8, 2, shape, &scale, 1, 0, 0,
                                            codes) };
  const gint32 sum[2] = { in, check_middle (&check, SL_DTYPE_F32, 0, 0) };
  check_node (&check, SL_OP_FULLY_CONNECTED, layer, 2, sum[1], NULL);
  check_node (&check, SL_OP_ADD, sum, 2, check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
  check_prepare (&check);
  for (gsize i = 0; i < 6; i++) {
    expected[i] = check_real (sl_graph_input_tensor (check.graph, 0), check.input_data[0], i);
    for (gsize k = 0; k < 4; k++)
      expected[i] += (double) data[i / 3 * 4 + k] * codes[i % 3 * 4 + k] * scale;
  }
  check_expect (&check, expected, 1e-4, 1e-5);
  check_clear (&check);
}

/* Where there is no room for one tensor more, such weights cannot become float. */
static void
test_no_room_for_weights (void)
{
  const gint32 dims[2] = { 1, 4 }, shape[2] = { 3, 4 };
  const gfloat scale = 0.5f;
  const gint8 codes[12] = { 1 };
  Check check;
  check_init (&check, 0);
  const gint32 in[2] = { check_input (&check, SL_DTYPE_F32, 2, dims, 0, 0),
                         check_constant (&check, SL_DTYPE_I8, 2, shape, &scale, 1, 0, 0, codes) };
  check_node (&check, SL_OP_FULLY_CONNECTED, in, 2, check_output (&check, SL_DTYPE_F32, 0, 0),
              NULL);
  while (sl_graph_n_tensors (check.graph) < SL_MAX_TENSORS)
    check_constant (&check, SL_DTYPE_I8, 2, shape, &scale, 1, 0, 0, codes);
  check_prepare_error (
    &check, SL_ERROR_LIMIT,
    "its weights of 8 bits become float, for which 65536 tensors leave no room; at most 65536");
  check_clear (&check);
}

/* A shape computed from a shape: SHAPE, STRIDED_SLICE, PACK, RESHAPE leave a view. */
static void
test_shapes (void)
{
  const gint32 dims[4] = { 1, 3, 4, 6 };
  Check check;
  gint32 in[4], t[3];
  check_init (&check, 8);
  const gint32 x = check_input (&check, SL_DTYPE_F32, 4, dims, 0, 0);
  for (guint i = 0; i < 3; i++)
    t[i] = check_middle (&check, SL_DTYPE_I32, 0, 0);
  check_node (&check, SL_OP_SHAPE, &x, 1, t[0], NULL);
  in[0] = t[0];
  in[1] = check_ints (&check, 1, (gint32[]){ 1 });
  in[2] = check_ints (&check, 1, (gint32[]){ 2 });
  in[3] = check_ints (&check, 1, (gint32[]){ 1 });
  check_node (&check, SL_OP_STRIDED_SLICE, in, 4, t[1],
              &(SlOpParams){ .slice = { .shrink_axis_mask = 1 } });
  const gint32 minus_one = -1;
  in[0] = t[1];
  in[1] = check_constant (&check, SL_DTYPE_I32, 0, NULL, NULL, 0, 0, 0, &minus_one);
  check_node (&check, SL_OP_PACK, in, 2, t[2], NULL);
  in[0] = x;
  in[1] = t[2];
  check_node (&check, SL_OP_RESHAPE, in, 2, check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
  check_prepare (&check);
  g_assert_cmpuint (changes_of (check.graph, "constant_fold"), ==, 3);
  g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, 1);
  g_assert_cmpint (sl_graph_output_tensor (check.graph, 0)->dims[0], ==, 3);
  g_assert_cmpint (sl_graph_output_tensor (check.graph, 0)->dims[1], ==, 24);
  check_clear (&check);
}

/* Elementwise nodes write over what nothing reads any more: two tensors of three are enough. */
static void
test_in_place (void)
{
  const gint32 dims[1] = { 4096 };
  Check check;
  g_autoptr (GError) error = NULL;
  gint32 in[2], t[4];
  SlSessionStats stats;
  check_init (&check, 9);
  const gint32 x = check_input (&check, SL_DTYPE_F32, 1, dims, 0, 0);
  for (guint i = 0; i < 4; i++)
    t[i] = check_middle (&check, SL_DTYPE_F32, 0, 0);
  check_node (&check, SL_OP_ABS, &x, 1, t[0], NULL);
  check_node (&check, SL_OP_SQUARE, &t[0], 1, t[1], NULL);
  check_node (&check, SL_OP_NEG, &t[1], 1, t[2], NULL);
  in[0] = t[2];
  in[1] = x;
  check_node (&check, SL_OP_ADD, in, 2, t[3], NULL);
  check_node (&check, SL_OP_EXP, &t[3], 1, check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
  check_prepare (&check);
  g_autoptr (SlSession) session = sl_session_new (check.graph, 1, &error);
  g_assert_no_error (error);
  sl_session_stats (session, &stats);
  g_assert_cmpuint (stats.in_place_nodes, ==, 3);
  g_assert_cmpuint (stats.arena_bytes, ==, stats.arena_lower_bound);
  g_assert_cmpuint (stats.arena_bytes, <=, 4096 * 4 + 128);
  double expected[4096];
  for (gsize i = 0; i < 4096; i++) {
    const double value =
      check_real (sl_graph_input_tensor (check.graph, 0), check.input_data[0], i);
    expected[i] = exp (value - value * value);
  }
  check_expect (&check, expected, 1e-5, 1e-5);
  check_clear (&check);
}

/* What starts with the QUANTIZE of the only input, read by nothing else, can start behind it. */
static void
test_skip_quantize (void)
{
  const gint32 dims[1] = { 256 };
  Check check;
  double expected[256];
  check_init (&check, 10);
  const gint32 x = check_input (&check, SL_DTYPE_U8, 1, dims, 0.02f, 127),
               q = check_middle (&check, SL_DTYPE_I8, 0.02f, -1);
  check_node (&check, SL_OP_QUANTIZE, &x, 1, q, NULL);
  check_node (&check, SL_OP_DEQUANTIZE, &q, 1, check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
  g_assert_null (sl_graph_quantized_input (check.graph)); /* not prepared */
  check_prepare (&check);
  const SlTensor *codes = sl_graph_quantized_input (check.graph);
  g_assert_cmpint (codes->dtype, ==, SL_DTYPE_I8);
  g_assert_true (sl_graph_declared_input_tensor (check.graph, 0)
                 == sl_graph_input_tensor (check.graph, 0));
  sl_graph_skip_input_quantize (check.graph);
  g_assert_true (sl_graph_input_tensor (check.graph, 0) == codes);
  g_assert_cmpint (sl_graph_declared_input_tensor (check.graph, 0)->dtype, ==, SL_DTYPE_U8);
  g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, 1);
  g_assert_null (sl_graph_quantized_input (check.graph));
  for (gint i = 0; i < 256; i++) {
    ((gint8 *) check.input_data[0])[i] = (gint8) (i - 128);
    expected[i] = (i - 127) * (double) 0.02f;
  }
  check_expect (&check, expected, 1e-6, 1e-6);
  check_clear (&check);
}

static void
test_skip_quantize_refused (void)
{
  const gint32 dims[1] = { 16 };
  for (guint kind = 0; kind < 4; kind++) {
    Check check;
    gint32 in[2];
    check_init (&check, 11);
    const gint32 x = check_input (&check, SL_DTYPE_F32, 1, dims, 0, 0),
                 q = check_middle (&check, SL_DTYPE_I8, 0.02f, -1);
    in[0] = x;
    if (kind == 3)
      check_node (&check, SL_OP_ABS, &x, 1, in[0] = check_middle (&check, SL_DTYPE_F32, 0, 0),
                  NULL);
    check_node (&check, SL_OP_QUANTIZE, in, 1,
                kind == 2 ? check_output (&check, SL_DTYPE_I8, 0.02f, -1) : q, NULL);
    if (kind != 2)
      check_node (&check, SL_OP_DEQUANTIZE, &q, 1, check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
    in[0] = x;
    if (kind == 0) /* another reader */
      check_node (&check, SL_OP_ABS, in, 1, check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
    if (kind == 1) { /* another input */
      in[1] = check_input (&check, SL_DTYPE_F32, 1, dims, 0, 0);
      check_node (&check, SL_OP_ABS, in + 1, 1, check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
    }
    check_prepare (&check);
    g_assert_null (sl_graph_quantized_input (check.graph));
    check_clear (&check);
  }
}

/* The code of one channel of a picture enlarged four times, corners aligned: its weights are exact.
 */
static double
enlarged (const SlTensor *in, const void *data, gint32 y, gint32 x, gint32 c)
{
  const gint32 top = y / 4, left = x / 4, bottom = MIN (top + 1, in->dims[1] - 1),
               right = MIN (left + 1, in->dims[2] - 1);
  const double v = y % 4 / 4.0, h = x % 4 / 4.0;
  const gint32 corners[4][2] = {
    { top, left }, { top, right }, { bottom, left }, { bottom, right }
  };
  const double weights[4] = { (1 - v) * (1 - h), (1 - v) * h, v * (1 - h), v * h };
  double sum = 0;
  for (guint i = 0; i < 4; i++) {
    const gsize at = (gsize) ((corners[i][0] * in->dims[2] + corners[i][1]) * in->dims[3] + c);
    sum += weights[i]
           * (in->dtype == SL_DTYPE_I8 ? ((const gint8 *) data)[at] : ((const guint8 *) data)[at]);
  }
  return floor (sum + 0.5);
}

/* @wide: indices of 64 bits. */
static void
check_arg_max (SlDtype dtype, gint32 channels, gboolean wide, guint threads)
{
  const gint32 dims[4] = { 1, 6, 31, channels }, size[2] = { 21, 121 };
  const SlOpParams params = { .resize = { TRUE, FALSE } };
  Check check;
  check_init (&check, (guint32) channels);
  const gint32 input = check_input (&check, dtype, 4, dims, 0.1f, 0),
               middle = check_middle (&check, dtype, 0.1f, 0);
  check_node (&check, SL_OP_RESIZE_BILINEAR, (gint32[]){ input, check_ints (&check, 2, size) }, 2,
              middle, &params);
  check_node (&check, SL_OP_ARG_MAX, (gint32[]){ middle, check_ints (&check, 1, (gint32[]){ 3 }) },
              2, check_output (&check, wide ? SL_DTYPE_I64 : SL_DTYPE_I32, 0, 0), NULL);
  check_prepare (&check);
  g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, 1);
  g_assert_cmpuint (changes_of (check.graph, "fuse_arg_max"), ==, 1);
  const SlTensor *in = sl_graph_input_tensor (check.graph, 0);
  void *out = check_run (&check, FALSE, threads);
  for (gint32 i = 0; i < size[0] * size[1]; i++) {
    gint64 found = 0;
    for (gint32 c = 1; c < channels; c++)
      if (enlarged (in, check.input_data[0], i / size[1], i % size[1], c)
          > enlarged (in, check.input_data[0], i / size[1], i % size[1], (gint32) found))
        found = c;
    g_assert_cmpint (wide ? ((gint64 *) out)[i] : ((gint32 *) out)[i], ==, found);
  }
  sl_tensor_buffer_free (out);
  check_clear (&check);
}

static void
test_arg_max (void)
{
  static const gint32 channels[] = { 1, 2, 9, 16, 21, 33, 1100 };
  for (guint i = 0; i < G_N_ELEMENTS (channels); i++) {
    check_arg_max (SL_DTYPE_U8, channels[i], i % 2 == 0, 1);
    check_arg_max (SL_DTYPE_I8, channels[i], i % 2 != 0, 2);
  }
}

/* A 1x1 convolution of two channels to two, times and plus one constant each; @shared: a second one
 * reads the same weights, and is not scaled; @read: the sums are an output, too. */
static void
check_scale (gboolean shared, gboolean read)
{
  static const gint32 dims[4] = { 1, 5, 4, 2 }, w_dims[4] = { 2, 1, 1, 2 }, two[1] = { 2 },
                      four[4] = { 1, 1, 1, 2 };
  static const gfloat weights[] = { 1, -2, 0.5f, 3 }, bias[] = { 0.25f, -1 }, by[] = { 2, -0.5f },
                      plus[] = { -1, 4 };
  SlOpParams params = { .window = { .padding = SL_PADDING_VALID,
                                    .stride_h = 1,
                                    .stride_w = 1,
                                    .dilation_h = 1,
                                    .dilation_w = 1 } };
  const SlOpParams relu = { .binary = { .activation = SL_ACTIVATION_RELU } };
  Check check;
  check_init (&check, 5);
  const gint32 x = check_input (&check, SL_DTYPE_F32, 4, dims, 0, 0);
  const gint32 w = check_constant (&check, SL_DTYPE_F32, 4, w_dims, NULL, 0, 0, 0, weights);
  const gint32 b = check_constant (&check, SL_DTYPE_F32, 1, two, NULL, 0, 0, 0, bias);
  const gint32 scale = check_constant (&check, SL_DTYPE_F32, 4, four, NULL, 0, 0, 0, by);
  const gint32 shift = check_constant (&check, SL_DTYPE_F32, 1, two, NULL, 0, 0, 0, plus);
  const gint32 y = check_output (&check, SL_DTYPE_F32, 0, 0);
  const gint32 sums =
    read ? check_output (&check, SL_DTYPE_F32, 0, 0) : check_middle (&check, SL_DTYPE_F32, 0, 0);
  const gint32 scaled = check_middle (&check, SL_DTYPE_F32, 0, 0);
  check_node (&check, SL_OP_CONV_2D, (gint32[]){ x, w, b }, 3, sums, &params);
  check_node (&check, SL_OP_MUL, (gint32[]){ scale, sums }, 2, scaled, NULL);
  check_node (&check, SL_OP_ADD, (gint32[]){ scaled, shift }, 2, y, &relu);
  if (shared)
    check_node (&check, SL_OP_CONV_2D, (gint32[]){ x, w }, 2,
                check_output (&check, SL_DTYPE_F32, 0, 0), &params);
  check_prepare (&check);
  g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, read ? 3 : shared ? 2 : 1);
  g_assert_cmpuint (changes_of (check.graph, "fold_scale"), ==, read ? 0 : 2);
  const gfloat *in = check.input_data[0];
  check_random (&check, SL_DTYPE_F32, 40, check.input_data[0]);
  double expected[40];
  for (gint32 i = 0; i < 40; i++) {
    const gint32 pixel = i / 2 * 2, c = i % 2;
    const double sum =
      (double) in[pixel] * weights[2 * c] + (double) in[pixel + 1] * weights[2 * c + 1] + bias[c];
    expected[i] = fmax (sum * by[c] + plus[c], 0);
  }
  check_expect (&check, expected, 1e-6, 1e-6);
  if (shared)
    g_assert_cmpfloat (
      ((const gfloat *) sl_node_input (check.graph, sl_graph_node (check.graph, 1), 1)->data)[0],
      ==, 1);
  check_clear (&check);
}

/* Two 1x1 convolutions of one channel each, joined, times and plus a constant for each channel.
 * @alone: the second is the input itself, and nothing is folded. */
static void
check_joined_scale (gboolean alone)
{
  static const gint32 dims[4] = { 1, 5, 4, 1 }, w_dims[4] = { 1, 1, 1, 1 }, two[1] = { 2 },
                      one[1] = { 1 };
  static const gfloat weights[] = { 3 }, bias[] = { 0.25f }, by[] = { 2, -0.5f },
                      plus[] = { -1, 4 };
  const SlOpParams params = { .window = { .padding = SL_PADDING_VALID,
                                          .stride_h = 1,
                                          .stride_w = 1,
                                          .dilation_h = 1,
                                          .dilation_w = 1 } };
  Check check;
  double expected[40];
  check_init (&check, 9);
  const gint32 x = check_input (&check, SL_DTYPE_F32, 4, dims, 0, 0);
  const gint32 w = check_constant (&check, SL_DTYPE_F32, 4, w_dims, NULL, 0, 0, 0, weights);
  const gint32 b = check_constant (&check, SL_DTYPE_F32, 1, one, NULL, 0, 0, 0, bias);
  const gint32 scale = check_constant (&check, SL_DTYPE_F32, 1, two, NULL, 0, 0, 0, by);
  const gint32 shift = check_constant (&check, SL_DTYPE_F32, 1, two, NULL, 0, 0, 0, plus);
  const gint32 first = check_middle (&check, SL_DTYPE_F32, 0, 0),
               second = check_middle (&check, SL_DTYPE_F32, 0, 0);
  const gint32 joined = check_middle (&check, SL_DTYPE_F32, 0, 0),
               scaled = check_middle (&check, SL_DTYPE_F32, 0, 0);
  check_node (&check, SL_OP_CONV_2D, (gint32[]){ x, w, b }, 3, first, &params);
  if (!alone)
    check_node (&check, SL_OP_CONV_2D, (gint32[]){ x, w }, 2, second, &params);
  check_node (&check, SL_OP_CONCATENATION, (gint32[]){ first, alone ? x : second }, 2, joined,
              &(SlOpParams){ .concat = { .axis = 3 } });
  check_node (&check, SL_OP_MUL, (gint32[]){ joined, scale }, 2, scaled, NULL);
  check_node (&check, SL_OP_ADD, (gint32[]){ shift, scaled }, 2,
              check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
  check_prepare (&check);
  g_assert_cmpuint (changes_of (check.graph, "fold_scale"), ==, alone ? 0 : 2);
  g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, alone ? 4 : 3);
  for (gint32 i = 0; i < 40; i++) {
    const double v = (double) ((const gfloat *) check.input_data[0])[i / 2];
    const double sum = i % 2 == 0 ? 3 * v + 0.25 : alone ? v : 3 * v;
    expected[i] = sum * by[i % 2] + plus[i % 2];
  }
  check_expect (&check, expected, 1e-6, 1e-6);
  check_clear (&check);
}

/* Pixels spread out by a transposed convolution without a bias, times and plus a constant for each
 * channel, limited: all one layer. */
static void
check_transposed_scale (void)
{
  static const gint32 dims[4] = { 1, 2, 3, 1 }, w_dims[4] = { 2, 2, 2, 1 }, two[1] = { 2 },
                      four[1] = { 4 }, size[4] = { 1, 4, 6, 2 };
  static const gfloat weights[] = { 1, 2, 3, 4, -1, 0.5f, 2, -3 }, by[] = { 2, -0.5f },
                      plus[] = { -1, 4 };
  const SlOpParams params = { .window = { .padding = SL_PADDING_VALID,
                                          .stride_h = 2,
                                          .stride_w = 2,
                                          .dilation_h = 1,
                                          .dilation_w = 1 } };
  Check check;
  double expected[48];
  check_init (&check, 9);
  const gint32 x = check_input (&check, SL_DTYPE_F32, 4, dims, 0, 0);
  const gint32 w = check_constant (&check, SL_DTYPE_F32, 4, w_dims, NULL, 0, 0, 0, weights);
  const gint32 shape = check_constant (&check, SL_DTYPE_I32, 1, four, NULL, 0, 0, 0, size);
  const gint32 scale = check_constant (&check, SL_DTYPE_F32, 1, two, NULL, 0, 0, 0, by);
  const gint32 shift = check_constant (&check, SL_DTYPE_F32, 1, two, NULL, 0, 0, 0, plus);
  const gint32 spread = check_middle (&check, SL_DTYPE_F32, 0, 0),
               scaled = check_middle (&check, SL_DTYPE_F32, 0, 0);
  const gint32 shifted = check_middle (&check, SL_DTYPE_F32, 0, 0);
  check_node (&check, SL_OP_TRANSPOSE_CONV, (gint32[]){ shape, w, x }, 3, spread, &params);
  check_node (&check, SL_OP_MUL, (gint32[]){ spread, scale }, 2, scaled, NULL);
  check_node (&check, SL_OP_ADD, (gint32[]){ shift, scaled }, 2, shifted, NULL);
  check_node (&check, SL_OP_RELU, &shifted, 1, check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
  check_prepare (&check);
  g_assert_cmpuint (changes_of (check.graph, "fold_scale"), ==, 2);
  g_assert_cmpuint (changes_of (check.graph, "fuse_activation"), ==, 1);
  g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, 1);
  check_random (&check, SL_DTYPE_F32, 6, check.input_data[0]);
  for (gint32 i = 0; i < 48; i++) {
    const gint32 c = i % 2, px = i / 2 % 6, py = i / 12;
    const double v = (double) ((const gfloat *) check.input_data[0])[py / 2 * 3 + px / 2];
    expected[i] = fmax (v * weights[4 * c + py % 2 * 2 + px % 2] * by[c] + plus[c], 0);
  }
  check_expect (&check, expected, 1e-6, 1e-6);
  check_clear (&check);
}

static void
test_scale (void)
{
  check_transposed_scale ();
  check_joined_scale (FALSE);
  check_joined_scale (TRUE);
  check_scale (FALSE, FALSE);
  check_scale (TRUE, FALSE);
  check_scale (FALSE, TRUE);
}

/* x times LOGISTIC of x is SILU; times that of another tensor, or where the gate is an output, it
 * is not. */
static void
test_silu (void)
{
  for (guint kind = 0; kind < 3; kind++) {
    static const gint32 dims[1] = { N };
    Check check;
    double expected[N];
    check_init (&check, 6);
    const gint32 x = check_input (&check, SL_DTYPE_F32, 1, dims, 0, 0);
    const gint32 other = kind == 1 ? check_input (&check, SL_DTYPE_F32, 1, dims, 0, 0) : x;
    const gint32 y = check_output (&check, SL_DTYPE_F32, 0, 0);
    const gint32 gate = kind == 2 ? check_output (&check, SL_DTYPE_F32, 0, 0)
                                  : check_middle (&check, SL_DTYPE_F32, 0, 0);
    check_node (&check, SL_OP_LOGISTIC, &x, 1, gate, NULL);
    check_node (&check, SL_OP_MUL, (gint32[]){ gate, other }, 2, y, NULL);
    check_prepare (&check);
    g_assert_cmpuint (changes_of (check.graph, "fuse_curve"), ==, kind == 0 ? 1 : 0);
    g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, kind == 0 ? 1 : 2);
    for (guint i = 0; i < (kind == 1 ? 2 : 1); i++)
      check_random (&check, SL_DTYPE_F32, N, check.input_data[i]);
    for (gsize i = 0; i < N; i++)
      expected[i] = (double) ((const gfloat *) check.input_data[kind == 1])[i]
                    / (1 + exp (-(double) ((const gfloat *) check.input_data[0])[i]));
    check_expect (&check, expected, 1e-6, 1e-6);
    check_clear (&check);
  }
}

/** How an activation is written out: products of x, of a gate and of numbers. */
typedef enum
{
  SWISH_BY_HARD_SIGMOID, /* x * limit (x / 6 + 1/2, 0, 1) */
  SWISH_DIVIDED_LAST,    /* x * limit (x + 3, 0, 6) / 6 */
  SWISH_GATE_DIVIDED,    /* (limit (x + 3, 0, 6) * 1/6) * x */
  GELU_HALF_LAST,        /* x * (erf (x / sqrt 2) + 1) * 1/2 */
  GELU_HALF_FIRST,       /* (1/2 * x) * (1 + erf (x * sqrt 1/2)) */
  GELU_BY_CUBE,          /* 1/2 * x * (1 + tanh (sqrt (2 / pi) * (x + 0.044715 * x^3))) */
  GELU_BY_SQUARE,        /* x * (1 + tanh (x * sqrt (2 / pi) * (1 + 0.044715 * x * x))) * 1/2 */
  MISH_OF_LOGARITHM,     /* x * tanh (log (1 + exp x)) */
  MISH_OF_SIZE,          /* tanh (max (x, 0) + log (1 + exp -|x|)) * x */
  SLOPE_OF_ONNX,         /* x * limit (x * 0.2 + 1/2, 0, 1), which is none */
  SPELLINGS
} Spelling;

static gint32
number (Check *check, gfloat *numbers, guint i, gfloat value)
{
  numbers[i] = value;
  return check_constant (check, SL_DTYPE_F32, 0, NULL, NULL, 0, 0, 0, &numbers[i]);
}

static gint32
combine (Check *check, SlOpType op, gint32 a, gint32 b, gint32 out)
{
  const gint32 to = out >= 0 ? out : check_middle (check, SL_DTYPE_F32, 0, 0);
  check_node (check, op, (gint32[]){ a, b }, b >= 0 ? 2 : 1, to, NULL);
  return to;
}

/* x * tanh (log (1 + exp x)) */
static void
spell_mish (Check *check, Spelling spelling, gint32 x, gint32 y, gfloat n[5])
{
  gint32 e = x;
  if (spelling == MISH_OF_SIZE)
    e = combine (check, SL_OP_NEG, combine (check, SL_OP_ABS, x, -1, -1), -1, -1);
  e = combine (
    check, SL_OP_LOG,
    combine (check, SL_OP_ADD, combine (check, SL_OP_EXP, e, -1, -1), number (check, n, 0, 1), -1),
    -1, -1);
  if (spelling == MISH_OF_SIZE)
    e = combine (check, SL_OP_ADD, combine (check, SL_OP_RELU, x, -1, -1), e, -1);
  combine (check, SL_OP_MUL, combine (check, SL_OP_TANH, e, -1, -1), x, y);
}

static void
spell_gelu_by_tangent (Check *check, Spelling spelling, gint32 x, gint32 y, gfloat n[5])
{
  gint32 sum;
  if (spelling == GELU_BY_CUBE) {
    sum = combine (check, SL_OP_POW, x, number (check, n, 0, 3), -1);
    sum = combine (check, SL_OP_ADD, x,
                   combine (check, SL_OP_MUL, sum, number (check, n, 1, 0.044715f), -1), -1);
    sum = combine (check, SL_OP_MUL, sum, number (check, n, 2, 0.7978845608f), -1);
  } else {
    sum = combine (check, SL_OP_MUL,
                   combine (check, SL_OP_MUL, number (check, n, 0, 0.044715f), x, -1), x, -1);
    sum = combine (check, SL_OP_ADD, sum, number (check, n, 1, 1), -1);
    sum = combine (check, SL_OP_MUL,
                   combine (check, SL_OP_MUL, x, number (check, n, 2, 0.7978845608f), -1), sum, -1);
  }
  sum = combine (check, SL_OP_ADD, combine (check, SL_OP_TANH, sum, -1, -1),
                 number (check, n, 3, 1), -1);
  const gint32 half = number (check, n, 4, 0.5f);
  if (spelling == GELU_BY_CUBE)
    combine (check, SL_OP_MUL, combine (check, SL_OP_MUL, half, x, -1), sum, y);
  else
    combine (check, SL_OP_MUL, combine (check, SL_OP_MUL, x, sum, -1), half, y);
}

static void
spell (Check *check, Spelling spelling, gint32 x, gint32 y, gfloat n[5])
{
  gint32 gate = -1;
  switch (spelling) {
    case SWISH_BY_HARD_SIGMOID:
    case SLOPE_OF_ONNX:
      gate = combine (check, SL_OP_MUL, x,
                      number (check, n, 0, spelling == SLOPE_OF_ONNX ? 0.2f : 1 / 6.0f), -1);
      gate = combine (check, SL_OP_RELU_0_TO_1,
                      combine (check, SL_OP_ADD, gate, number (check, n, 1, 0.5f), -1), -1, -1);
      combine (check, SL_OP_MUL, x, gate, y);
      return;
    case GELU_BY_CUBE:
    case GELU_BY_SQUARE:
      spell_gelu_by_tangent (check, spelling, x, y, n);
      return;
    case MISH_OF_LOGARITHM:
    case MISH_OF_SIZE:
      spell_mish (check, spelling, x, y, n);
      return;
    case SWISH_DIVIDED_LAST:
      gate = combine (check, SL_OP_RELU6,
                      combine (check, SL_OP_ADD, x, number (check, n, 0, 3), -1), -1, -1);
      combine (check, SL_OP_DIV, combine (check, SL_OP_MUL, x, gate, -1), number (check, n, 1, 6),
               y);
      return;
    case SWISH_GATE_DIVIDED:
      gate = combine (check, SL_OP_RELU6,
                      combine (check, SL_OP_ADD, number (check, n, 0, 3), x, -1), -1, -1);
      combine (check, SL_OP_MUL,
               combine (check, SL_OP_MUL, gate, number (check, n, 1, 1 / 6.0f), -1), x, y);
      return;
    case GELU_HALF_LAST:
      gate = combine (check, SL_OP_ERF,
                      combine (check, SL_OP_DIV, x, number (check, n, 0, 1.41421354f), -1), -1, -1);
      gate = combine (check, SL_OP_ADD, gate, number (check, n, 1, 1), -1);
      combine (check, SL_OP_MUL, combine (check, SL_OP_MUL, x, gate, -1),
               number (check, n, 2, 0.5f), y);
      return;
    default:
      gate = combine (check, SL_OP_ERF,
                      combine (check, SL_OP_MUL, x, number (check, n, 0, 0.70710677f), -1), -1, -1);
      gate = combine (check, SL_OP_ADD, number (check, n, 1, 1), gate, -1);
      combine (check, SL_OP_MUL, combine (check, SL_OP_MUL, number (check, n, 2, 0.5f), x, -1),
               gate, y);
  }
}

static void
test_curves (void)
{
  for (Spelling spelling = 0; spelling < SPELLINGS; spelling++) {
    static const gint32 dims[1] = { N };
    gfloat numbers[5];
    Check check;
    double expected[N];
    check_init (&check, 7);
    const gint32 x = check_input (&check, SL_DTYPE_F32, 1, dims, 0, 0);
    spell (&check, spelling, x, check_output (&check, SL_DTYPE_F32, 0, 0), numbers);
    check_prepare (&check);
    g_assert_cmpuint (changes_of (check.graph, "fuse_curve"), ==,
                      spelling == SLOPE_OF_ONNX ? 0 : 1);
    if (spelling != SLOPE_OF_ONNX)
      g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, 1);
    for (gsize i = 0; i < N; i++)
      ((gfloat *) check.input_data[0])[i] = (gfloat) i / 20 - 7;
    for (gsize i = 0; i < N; i++) {
      const double v = ((const gfloat *) check.input_data[0])[i];
      expected[i] = spelling == GELU_BY_CUBE || spelling == GELU_BY_SQUARE
                      ? 0.5 * v * (1 + tanh (sqrt (2 / G_PI) * (v + 0.044715 * v * v * v)))
                    : spelling == MISH_OF_LOGARITHM || spelling == MISH_OF_SIZE
                      ? v * tanh (log1p (exp (v)))
                    : spelling == SLOPE_OF_ONNX  ? v * CLAMP (v * (double) 0.2f + 0.5, 0, 1)
                    : spelling >= GELU_HALF_LAST ? 0.5 * v * (1 + erf (v / sqrt (2)))
                                                 : v * CLAMP (v + 3, 0, 6) / 6;
    }
    check_expect (&check, expected, 2e-6, 2e-6);
    check_clear (&check);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/table/chain", test_table_chain);
  g_test_add_func ("/passes/table/silu", test_table_silu);
  g_test_add_func ("/passes/table/refused", test_table_refused);
  g_test_add_func ("/passes/cancel", test_cancel);
  g_test_add_func ("/passes/weights", test_weights);
  g_test_add_func ("/passes/weights_of_constants", test_constant_weights);
  g_test_add_func ("/passes/weights_without_room", test_no_room_for_weights);
  g_test_add_func ("/passes/shapes", test_shapes);
  g_test_add_func ("/passes/in-place", test_in_place);
  g_test_add_func ("/passes/skip-quantize", test_skip_quantize);
  g_test_add_func ("/passes/skip-quantize-refused", test_skip_quantize_refused);
  g_test_add_func ("/passes/arg-max", test_arg_max);
  g_test_add_func ("/passes/scale", test_scale);
  g_test_add_func ("/passes/silu", test_silu);
  g_test_add_func ("/passes/curves", test_curves);
  return g_test_run ();
}
