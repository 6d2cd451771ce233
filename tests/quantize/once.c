/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is learned in one pass, from pictures that come only once, against what two passes learn
 * from the same: limits and means are equal, and ranges lie within a few places of the histogram.
 */
#include "models/quantize/ranges.h"

#include <glib/gstdio.h>

#include "models/convert.h"
#include "models/model.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define SIDE 16
#define VALUES (3 * SIDE * SIDE)
#define LARGE 57
#define PICTURES 24

/* (transfer full): y = LeakyRelu (x), z = Relu (x): values on both sides of 0 and on one. */
static SlGraph *
make_graph (gint64 side)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("sightline-XXXXXX", NULL),
                  *path = g_build_filename (folder, "once.onnx", NULL);
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
  sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, 3, side, side });
  sl_onnx_writer_node (writer, "LeakyRelu", "x", "y", "alpha f 0.1", NULL);
  sl_onnx_writer_node (writer, "Relu", "x", "z", NULL);
  sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
  sl_onnx_writer_output (writer, "z", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  const SlModelSettings overrides = { .mean = "0", .std = "1" };
  SlModel *model = sl_model_load (path, &overrides, &error);
  g_assert_no_error (error);
  SlGraph *graph = sl_model_express (model, &error);
  g_assert_no_error (error);
  sl_model_unref (model);
  g_unlink (path);
  g_rmdir (folder);
  return graph;
}

/* Values of picture @i: a bell whose width is @widths[i % 4]; the first picture is nothing but 0.
 */
static void
draw (gfloat *picture, guint i, const gdouble *widths)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (i + 1);
  for (guint k = 0; k < VALUES; k++) {
    gdouble sum = -6;
    for (guint part = 0; part < 12; part++)
      sum += g_rand_double (random);
    picture[k] = i == 0 ? 0 : (gfloat) (widths[i % 4] * sum);
  }
}

static void
check (const gdouble *widths)
{
  g_autoptr (GError) error = NULL;
  SlGraph *graph = make_graph (SIDE);
  g_autoptr (SlActivationTrace) tape = sl_activation_trace_new (graph, 1, &error);
  g_assert_no_error (error);
  g_autoptr (SlRanges) twice = sl_ranges_new (graph);
  g_autoptr (SlRanges) once = sl_ranges_new (graph);
  gfloat picture[VALUES];
  for (guint pass = 0; pass < 2; pass++) {
    for (guint i = 0; i < PICTURES; i++) {
      draw (picture, i, widths);
      g_assert_true (sl_activation_trace_run (tape, picture, &error));
      if (pass == 0) {
        sl_ranges_limits (twice, tape);
        sl_ranges_once (once, tape);
      } else {
        sl_ranges_count (twice, tape);
      }
    }
  }
  sl_ranges_end (twice);
  sl_ranges_end (once);
  guint observed = 0;
  for (gint32 i = 0; i < (gint32) sl_graph_n_tensors (graph); i++) {
    const SlObserved *want = sl_ranges_get (twice, i), *got = sl_ranges_get (once, i);
    g_assert_cmpint (want == NULL, ==, got == NULL);
    if (want == NULL)
      continue;
    observed++;
    g_assert_cmpfloat (want->range.low, ==, got->range.low);
    g_assert_cmpfloat (want->range.high, ==, got->range.high);
    g_assert_cmpfloat (want->means[0], ==, got->means[0]);
    g_assert_cmpfloat (want->variances[0], ==, got->variances[0]);
    guint64 all = 0;
    for (guint b = 0; b < SL_RANGE_BINS; b++)
      all += got->bins[b];
    g_assert_cmpuint (all, ==, PICTURES * VALUES);
    for (SlRangeMethod method = SL_RANGE_MINMAX; method <= SL_RANGE_MSE; method++) {
      const SlRange a = sl_ranges_choose (&want, 1, method, 99, NULL),
                    b = sl_ranges_choose (&got, 1, method, 99, NULL);
      const gdouble near = (want->range.high - want->range.low) * 0.02;
      g_assert_cmpfloat_with_epsilon (a.low, b.low, near);
      g_assert_cmpfloat_with_epsilon (a.high, b.high, near);
      /* What counts is the error of the range. */
      g_assert_cmpfloat (sl_ranges_noise (want, b), <=, 1.02 * sl_ranges_noise (want, a));
    }
  }
  g_assert_cmpuint (observed, >=, 3);
  sl_graph_unref (graph);
}

/* Bins, means and variances of @n values of one picture, one value after the other. */
static void
check_one (const SlObserved *got, const gfloat *values, gsize n, guint channels)
{
  const gfloat low = (gfloat) got->range.low,
               per = (gfloat) (SL_RANGE_BINS / (got->range.high - got->range.low));
  const gdouble rows = (gdouble) (n / channels);
  g_autofree guint64 *bins = g_new0 (guint64, SL_RANGE_BINS);
  for (gsize i = 0; i < n; i++)
    bins[(guint) CLAMP ((values[i] - low) * per, 0, SL_RANGE_BINS - 1)]++;
  g_assert_cmpmem (bins, SL_RANGE_BINS * sizeof bins[0], got->bins, SL_RANGE_BINS * sizeof bins[0]);
  for (guint c = 0; c < channels; c++) {
    gdouble sum = 0, square = 0;
    for (gsize i = c; i < n; i += channels) {
      sum += (gdouble) values[i];
      square += (gdouble) values[i] * (gdouble) values[i];
    }
    g_assert_cmpfloat (got->means[c], ==, sum / rows);
    g_assert_cmpfloat (got->variances[c], ==, square / rows - (sum / rows) * (sum / rows));
  }
}

/* More values than several histograms side by side have bins, and channels that are no multiple of
 * a vector. */
static void
test_large (void)
{
  g_autoptr (GError) error = NULL;
  SlGraph *graph = make_graph (LARGE);
  g_autoptr (SlActivationTrace) tape = sl_activation_trace_new (graph, 1, &error);
  g_assert_no_error (error);
  g_autoptr (SlRanges) ranges = sl_ranges_new (graph);
  g_autoptr (GRand) random = g_rand_new_with_seed (9);
  gfloat picture[3 * LARGE * LARGE];
  for (guint i = 0; i < G_N_ELEMENTS (picture); i++)
    picture[i] = (gfloat) g_rand_double_range (random, -3, 5);
  g_assert_true (sl_activation_trace_run (tape, picture, &error));
  sl_ranges_limits (ranges, tape);
  sl_ranges_count (ranges, tape);
  sl_ranges_end (ranges);
  guint seen = 0;
  for (gint32 i = 0; i < (gint32) sl_graph_n_tensors (graph); i++) {
    const SlTensor *tensor = sl_graph_tensor (graph, i);
    const SlObserved *got = sl_ranges_get (ranges, i);
    if (got == NULL)
      continue;
    const guint channels = (guint) tensor->dims[tensor->rank - 1];
    check_one (got, sl_activation_trace_data (tape, i), tensor->bytes / sizeof (gfloat), channels);
    g_assert_cmpuint (channels, ==, LARGE);
    seen++;
  }
  g_assert_cmpuint (seen, ==, 3);
  sl_graph_unref (graph);
}

static void
test_alike (void)
{
  check ((const gdouble[]){ 1, 1, 1, 1 });
}

static void
test_growing (void)
{
  check ((const gdouble[]){ 100, 0.5, 2, 10 });
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/once/alike", test_alike);
  g_test_add_func ("/quantize/once/growing", test_growing);
  g_test_add_func ("/quantize/once/large", test_large);
  return g_test_run ();
}
