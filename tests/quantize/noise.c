/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The report's noise where results are NaN or infinite: a layer whose float results become
 * infinite, while 8 bits keep them finite, is the worst there is, and not the best.
 */
#include "models/quantize/quantize.h"

#include <glib/gstdio.h>
#include <math.h>

#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define SIDE 8
#define CHANNELS 16

/* (transfer full): a convolution of 3 x 3. */
static SlModel *
load_model (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("sightline-XXXXXX", NULL),
                  *path = g_build_filename (folder, "noise.onnx", NULL);
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
  g_autoptr (GRand) random = g_rand_new_with_seed (6);
  gfloat weights[CHANNELS * 3 * 3 * 3];
  for (guint i = 0; i < G_N_ELEMENTS (weights); i++)
    weights[i] = (gfloat) g_rand_double_range (random, 0.1, 1);
  sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, 3, SIDE, SIDE });
  sl_onnx_writer_floats (writer, "w", 4, (gint64[]){ CHANNELS, 3, 3, 3 }, weights);
  sl_onnx_writer_node (writer, "Conv", "x,w", "y", "pads I 1,1,1,1", NULL);
  sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  const SlModelSettings overrides = { .mean = "0", .std = "255" };
  SlModel *model = sl_model_load (path, &overrides, &error);
  g_assert_no_error (error);
  g_unlink (path);
  g_rmdir (folder);
  return model;
}

/* Learns from @picture, and compares on it with one value changed to @value. */
static void
check (gfloat value, gdouble low, gdouble high)
{
  g_autoptr (GError) error = NULL;
  SlModel *model = load_model ();
  const SlQuantizeOptions options = { .method = SL_RANGE_MINMAX, .threads = 1 };
  g_autoptr (SlQuantizer) quantizer = sl_quantizer_new (model, &options, &error);
  g_assert_no_error (error);
  gfloat picture[SIDE * SIDE * 3];
  SlQuantizeReport report;
  for (guint i = 0; i < G_N_ELEMENTS (picture); i++)
    picture[i] = (gfloat) (i % 13) / 13;
  for (guint pass = 0; pass < SL_QUANTIZE_PASSES; pass++)
    g_assert_true (sl_quantizer_learn (quantizer, pass, picture, &error));
  g_autoptr (GBytes) file = sl_quantizer_finish (quantizer, &error);
  g_assert_no_error (error);
  g_assert_nonnull (file);
  picture[5] = value;
  g_assert_true (sl_quantizer_compare (quantizer, picture, &error));
  sl_quantizer_report (quantizer, &report);
  g_assert_cmpuint (report.n_worst, >, 0);
  g_assert_true (report.output_snr >= low && report.output_snr <= high);
  g_assert_true (report.worst[0].snr >= low && report.worst[0].snr <= high);
  /* What is the worst is what becomes float first. */
  g_assert_cmpuint (sl_quantizer_keep (quantizer), >, 0);
  sl_model_unref (model);
}

static void
test_finite (void)
{
  check (0.5f, 20, 60);
}

static void
test_infinite (void)
{
  check (INFINITY, -200, -200);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/noise/finite", test_finite);
  g_test_add_func ("/quantize/noise/infinite", test_infinite);
  return g_test_run ();
}
