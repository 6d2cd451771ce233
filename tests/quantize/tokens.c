/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A network of tokens: its fully connected layers take floats, have int8 weights by channel, and
 * round rows while the model runs. The normalisation before them stays float, the convolution at
 * its beginning does not. Attention's products have keys and values of int8.
 */
#include "models/quantize/quantize.h"
#include "core/graph/attention.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define SIDE 16
#define PATCH 4
#define TOKENS 16
#define WIDTH 32
#define INNER 64

static void
add_floats (SlOnnxWriter *w, GRand *rand, const char *name, guint rank, const gint64 *dims,
            gdouble low, gdouble high)
{
  gsize n = 1;
  for (guint i = 0; i < rank; i++)
    n *= (gsize) dims[i];
  g_autofree gfloat *values = g_new (gfloat, n);
  for (gsize i = 0; i < n; i++)
    values[i] = (gfloat) g_rand_double_range (rand, low, high);
  sl_onnx_writer_floats (w, name, rank, dims, values);
}

static void
add_nodes (SlOnnxWriter *w, GRand *rand, gint64 tokens)
{
  const gint64 rows[3] = { 1, WIDTH, tokens };
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, 3, SIDE, SIDE });
  add_floats (w, rand, "patch", 4, (gint64[]){ WIDTH, 3, PATCH, PATCH }, -0.2, 0.2);
  sl_onnx_writer_node (w, "Conv", "x,patch", "c", "strides I 4,4", NULL);
  if (tokens == 1)
    sl_onnx_writer_node (w, "GlobalAveragePool", "c", "pooled", NULL);
  sl_onnx_writer_ints (w, "rows", 3, rows);
  sl_onnx_writer_node (w, "Reshape", tokens == 1 ? "pooled,rows" : "c,rows", "r", NULL);
  sl_onnx_writer_node (w, "Transpose", "r", "t", "perm I 0,2,1", NULL);
  add_floats (w, rand, "gain", 1, (gint64[]){ WIDTH }, 0.5, 2);
  add_floats (w, rand, "shift", 1, (gint64[]){ WIDTH }, -1, 1);
  sl_onnx_writer_node (w, "LayerNormalization", "t,gain,shift", "n", NULL);
  add_floats (w, rand, "w1", 2, (gint64[]){ WIDTH, INNER }, -0.3, 0.3);
  add_floats (w, rand, "b1", 1, (gint64[]){ INNER }, -1, 1);
  add_floats (w, rand, "w2", 2, (gint64[]){ INNER, WIDTH }, -0.3, 0.3);
  sl_onnx_writer_node (w, "MatMul", "n,w1", "m1", NULL);
  sl_onnx_writer_node (w, "Add", "m1,b1", "a1", NULL);
  sl_onnx_writer_node (w, "Relu", "a1", "l", NULL);
  sl_onnx_writer_node (w, "MatMul", "l,w2", "m2", NULL);
  sl_onnx_writer_node (w, "Add", "m2,t", "y", NULL);
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
}

/* Attention of one head behind a convolution, with so many tokens at each @side. */
static void
add_attention (SlOnnxWriter *w, GRand *rand, gint side)
{
  static const char *const parts[] = { "q", "k", "v" };
  const gint64 rows[3] = { 1, WIDTH, side * side }, patch = SIDE / side;
  g_autofree char *strides = g_strdup_printf ("strides I %d,%d", SIDE / side, SIDE / side);
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, 3, SIDE, SIDE });
  add_floats (w, rand, "patch", 4, (gint64[]){ WIDTH, 3, patch, patch }, -0.2, 0.2);
  sl_onnx_writer_node (w, "Conv", "x,patch", "c", strides, NULL);
  sl_onnx_writer_ints (w, "rows", 3, rows);
  sl_onnx_writer_node (w, "Reshape", "c,rows", "r", NULL);
  sl_onnx_writer_node (w, "Transpose", "r", "t", "perm I 0,2,1", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    g_autofree char *weights = g_strdup_printf ("w%s", parts[i]),
                    *inputs = g_strdup_printf ("t,w%s", parts[i]);
    add_floats (w, rand, weights, 2, (gint64[]){ WIDTH, WIDTH }, -0.3, 0.3);
    sl_onnx_writer_node (w, "MatMul", inputs, parts[i], NULL);
  }
  sl_onnx_writer_floats (w, "scale", 0, NULL, (const gfloat[]){ 0.2f });
  sl_onnx_writer_node (w, "Transpose", "k", "kt", "perm I 0,2,1", NULL);
  sl_onnx_writer_node (w, "MatMul", "q,kt", "s", NULL);
  sl_onnx_writer_node (w, "Mul", "s,scale", "scaled", NULL);
  sl_onnx_writer_node (w, "Softmax", "scaled", "p", "axis i -1", NULL);
  sl_onnx_writer_node (w, "MatMul", "p,v", "y", NULL);
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
}

/* A decoder behind attention: two pointwise convolutions, both made twice as large, joined, and
 * convolved again. Channels of weights are outputs. */
static void
add_decoder (SlOnnxWriter *w, GRand *rand)
{
  static const gfloat scales[4] = { 1, 1, 2, 2 };
  static const char *const parts[][4] = { { "map,wa", "a", "a,,scales", "a2" },
                                          { "map,wb", "b", "b,,scales", "b2" } };
  add_attention (w, rand, 8);
  sl_onnx_writer_node (w, "Transpose", "y", "back", "perm I 0,2,1", NULL);
  sl_onnx_writer_ints (w, "square", 4, (const gint64[]){ 1, WIDTH, 8, 8 });
  sl_onnx_writer_node (w, "Reshape", "back,square", "map", NULL);
  sl_onnx_writer_floats (w, "scales", 1, (const gint64[]){ 4 }, scales);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    add_floats (w, rand, parts[i][0] + strlen ("map,"), 4, (gint64[]){ WIDTH, WIDTH, 1, 1 }, -0.3,
                0.3);
    sl_onnx_writer_node (w, "Conv", parts[i][0], parts[i][1], NULL);
    sl_onnx_writer_node (w, "Resize", parts[i][2], parts[i][3], "mode s linear",
                         "coordinate_transformation_mode s half_pixel", NULL);
  }
  sl_onnx_writer_node (w, "Concat", "a2,b2", "joined", "axis i 1", NULL);
  add_floats (w, rand, "wc", 4, (gint64[]){ WIDTH, 2 * WIDTH, 1, 1 }, -0.3, 0.3);
  sl_onnx_writer_node (w, "Conv", "joined,wc", "mixed", NULL);
  sl_onnx_writer_node (w, "Relu", "mixed", "z", NULL);
  sl_onnx_writer_output (w, "z", SL_ONNX_FLOAT);
}

/* (transfer full): the model of the file @name of @bytes; @kept: to make another model of it. */
static SlModel *
load (GBytes *bytes, const char *name, gboolean kept)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("sightline-XXXXXX", NULL),
                  *path = g_build_filename (folder, name, NULL);
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  const SlModelSettings overrides = { .mean = "0", .std = "255" };
  SlModelLoadOptions options = sl_model_load_options (&overrides);
  options.keep_activations = kept;
  SlModel *model = sl_model_load_with (path, &overrides, &options, &error);
  g_assert_no_error (error);
  g_unlink (path);
  g_rmdir (folder);
  return model;
}

/* (transfer full): the file of @quantizer, which learned from one picture and compared on it. */
static GBytes *
quantise (SlQuantizer *quantizer, SlQuantizeReport *report)
{
  g_autoptr (GError) error = NULL;
  gfloat picture[SIDE * SIDE * 3];
  for (guint i = 0; i < G_N_ELEMENTS (picture); i++)
    picture[i] = (gfloat) (i * i % 97) / 97;
  for (guint pass = 0; pass < SL_QUANTIZE_PASSES; pass++)
    g_assert_true (sl_quantizer_learn (quantizer, pass, picture, &error));
  GBytes *file = sl_quantizer_finish (quantizer, &error);
  g_assert_no_error (error);
  g_assert_true (sl_quantizer_compare (quantizer, picture, &error));
  sl_quantizer_report (quantizer, report);
  return file;
}

/* (transfer full): a quantizer of the model. */
static SlQuantizer *
quantizer_for (SlOnnxWriter *writer)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  SlModel *model = load (bytes, "tokens.onnx", TRUE);
  const SlQuantizeOptions options = { .method = SL_RANGE_MINMAX, .float_head = TRUE, .threads = 1 };
  SlQuantizer *quantizer = sl_quantizer_new (model, &options, &error);
  g_assert_no_error (error);
  sl_model_unref (model);
  return quantizer;
}

/* (transfer full): a quantizer of a model of so many @tokens. */
static SlQuantizer *
quantizer_of (gint64 tokens)
{
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (17);
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  add_nodes (writer, rand, tokens);
  return quantizer_for (writer);
}

/* Weights are at most 127, and 53 in the mean of a channel: those of this test are evenly spread,
 * so the mean decides, up to rounding. */
static void
check_weights (const SlTensor *weights)
{
  const gsize depth = (gsize) weights->dims[1];
  for (gsize c = 0; c < (gsize) weights->dims[0]; c++) {
    const gint8 *row = (const gint8 *) weights->data + c * depth;
    double sum = 0;
    gint most = 0;
    for (gsize k = 0; k < depth; k++) {
      sum += ABS (row[k]);
      most = MAX (most, ABS (row[k]));
    }
    g_assert_cmpfloat (sum / (double) depth, <=, 53.5);
    g_assert_true (most == 127 || sum / (double) depth >= 52.5);
  }
}

static void
check_node (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  if (node->op == SL_OP_CONV_2D) {
    g_assert_cmpint (input->dtype, ==, SL_DTYPE_I8);
    return;
  }
  /* Passes put DEQUANTIZE behind moves. */
  if (node->op == SL_OP_QUANTIZE || node->op == SL_OP_DEQUANTIZE || node->op == SL_OP_RESHAPE
      || node->op == SL_OP_TRANSPOSE)
    return;
  g_assert_cmpint (input->dtype, ==, SL_DTYPE_F32);
  if (node->op != SL_OP_FULLY_CONNECTED)
    return;
  const SlTensor *weights = sl_node_input (graph, node, 1);
  g_assert_true (node->params.fully_connected.dynamic);
  g_assert_cmpint (weights->dtype, ==, SL_DTYPE_I8);
  g_assert_cmpuint (weights->quant.count, ==, (guint) weights->dims[0]);
  check_weights (weights);
}

static void
test_tokens (void)
{
  SlQuantizeReport report;
  g_autoptr (SlQuantizer) quantizer = quantizer_of (TOKENS);
  g_autoptr (GBytes) file = quantise (quantizer, &report);
  SlModel *model = load (file, "tokens.tflite", FALSE);
  const SlGraph *graph = sl_model_graph (model);
  guint layers = 0;
  g_assert_cmpuint (report.dynamic, ==, 2);
  g_assert_cmpuint (report.quantized, ==, 3);
  g_assert_cmpfloat (report.output_snr, >, 33);
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    check_node (graph, sl_graph_node (graph, i));
    layers += sl_graph_node (graph, i)->op == SL_OP_FULLY_CONNECTED;
  }
  g_assert_cmpuint (layers, ==, 2);
  sl_model_unref (model);
}

/* Few keys stay floats. */
static void
test_windows (void)
{
  SlQuantizeReport report;
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (17);
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  add_attention (writer, rand, 4);
  g_autoptr (SlQuantizer) quantizer = quantizer_for (writer);
  g_bytes_unref (quantise (quantizer, &report));
  g_assert_cmpuint (report.dynamic, ==, 3);
}

static void
test_attention (void)
{
  SlQuantizeReport report;
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (17);
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  add_attention (writer, rand, 8);
  g_autoptr (SlQuantizer) quantizer = quantizer_for (writer);
  g_autoptr (GBytes) file = quantise (quantizer, &report);
  SlModel *model = load (file, "attention.tflite", FALSE);
  const SlGraph *graph = sl_model_graph (model);
  guint found = 0;
  g_assert_cmpuint (report.dynamic, ==, 5);
  g_assert_cmpfloat (report.output_snr, >, 30);
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    g_assert_cmpint (node->op, !=, SL_OP_BATCH_MATMUL);
    if (node->op != SL_OP_ATTENTION)
      continue;
    g_assert_cmpfloat (node->params.attention->k_scale, >, 0);
    g_assert_cmpfloat (node->params.attention->v_scale, >, 0);
    found++;
  }
  g_assert_cmpuint (found, ==, 1);
  sl_model_unref (model);
}

/* Pointwise convolutions of floats round rows, too, each part of joined channels by itself before
 * it is made larger. */
static void
test_pointwise (void)
{
  SlQuantizeReport report;
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (17);
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  add_decoder (writer, rand);
  g_autoptr (SlQuantizer) quantizer = quantizer_for (writer);
  g_autoptr (GBytes) file = quantise (quantizer, &report);
  SlModel *model = load (file, "decoder.tflite", FALSE);
  const SlGraph *graph = sl_model_graph (model);
  guint layers = 0, convolutions = 0;
  g_assert_cmpuint (report.dynamic, ==, 9);
  g_assert_cmpfloat (report.output_snr, >, 30);
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    g_assert_cmpint (node->op, !=, SL_OP_CONCATENATION);
    layers += node->op == SL_OP_FULLY_CONNECTED && node->params.fully_connected.dynamic;
    convolutions += node->op == SL_OP_CONV_2D;
  }
  g_assert_cmpuint (layers, ==, 7);
  g_assert_cmpuint (convolutions, ==, 1);
  sl_model_unref (model);
}

/* Layers that are to be kept have float weights again. */
static void
test_kept (void)
{
  SlQuantizeReport report;
  g_autoptr (GError) error = NULL;
  g_autoptr (SlQuantizer) quantizer = quantizer_of (TOKENS);
  g_autoptr (GBytes) first = quantise (quantizer, &report);
  g_assert_cmpuint (sl_quantizer_keep (quantizer), ==, 1);
  g_autoptr (GBytes) second = sl_quantizer_finish (quantizer, &error);
  g_assert_no_error (error);
  sl_quantizer_report (quantizer, &report);
  g_assert_cmpuint (report.quantized, ==, 2);
  g_assert_cmpuint (g_bytes_get_size (second), >, g_bytes_get_size (first));
}

/* One row is a classifier's: its range is known before. */
static void
test_one_row (void)
{
  SlQuantizeReport report;
  g_autoptr (SlQuantizer) quantizer = quantizer_of (1);
  g_bytes_unref (quantise (quantizer, &report));
  g_assert_cmpuint (report.dynamic, ==, 0);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/tokens/layers", test_tokens);
  g_test_add_func ("/quantize/tokens/attention", test_attention);
  g_test_add_func ("/quantize/tokens/windows", test_windows);
  g_test_add_func ("/quantize/tokens/pointwise", test_pointwise);
  g_test_add_func ("/quantize/tokens/kept", test_kept);
  g_test_add_func ("/quantize/tokens/one-row", test_one_row);
  return g_test_run ();
}
