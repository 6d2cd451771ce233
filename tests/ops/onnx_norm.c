/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BatchNormalization by the file's statistics and by those of the batch, against the
 * specification's formula in double precision. */
#include <math.h>

#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })
#define BATCH 2
#define CHANNELS 3
#define PIXELS 20
#define N (BATCH * CHANNELS * PIXELS)

/** @outputs, @training: how the file says that it is exported for training: more outputs up to
 * opset 13, then an attribute. */
typedef struct
{
  guint opset;
  const char *outputs, *training;
  gboolean by_batch;
} Norm;

static void
statistics (const gfloat *x, guint channel, double *mean, double *variance)
{
  *mean = *variance = 0;
  for (guint i = 0; i < BATCH * PIXELS; i++)
    *mean += (double) x[(i / PIXELS * CHANNELS + channel) * PIXELS + i % PIXELS] / (BATCH * PIXELS);
  for (guint i = 0; i < BATCH * PIXELS; i++)
    *variance +=
      pow ((double) x[(i / PIXELS * CHANNELS + channel) * PIXELS + i % PIXELS] - *mean, 2)
      / (BATCH * PIXELS);
}

static void
check_norm (const Norm *norm)
{
  static const gfloat scale[CHANNELS] = { 1.5f, -0.5f, 2 }, bias[CHANNELS] = { 0.25f, 1, -3 };
  static const gfloat means[CHANNELS] = { 0.1f, -0.7f, 0 }, variances[CHANNELS] = { 0.5f, 2, 1 };
  double expected[N];
  OnnxModel m;
  onnx_model_init (&m, norm->opset, 3);
  const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (BATCH, CHANNELS, 4, 5));
  sl_onnx_writer_floats (m.writer, "scale", 1, DIMS (CHANNELS), scale);
  sl_onnx_writer_floats (m.writer, "bias", 1, DIMS (CHANNELS), bias);
  sl_onnx_writer_floats (m.writer, "mean", 1, DIMS (CHANNELS), means);
  sl_onnx_writer_floats (m.writer, "variance", 1, DIMS (CHANNELS), variances);
  sl_onnx_writer_node (m.writer, "BatchNormalization", "x,scale,bias,mean,variance", norm->outputs,
                       "epsilon f 0.01", norm->training, NULL);
  for (guint i = 0; i < N; i++) {
    const guint c = i / PIXELS % CHANNELS;
    double mean = (double) means[c], variance = (double) variances[c];
    if (norm->by_batch)
      statistics (x, c, &mean, &variance);
    expected[i] =
      ((double) x[i] - mean) / sqrt (variance + 0.01) * (double) scale[c] + (double) bias[c];
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, N, expected, 1e-5);
  onnx_model_clear (&m);
}

static void
test_batch_norm (void)
{
  static const Norm norms[] = {
    { 9, "y", NULL, FALSE },
    { 9, "y,a,b,c,d", NULL, TRUE },
    { 13, "y,a,b,c,d", NULL, TRUE },
    { 14, "y", "training_mode i 0", FALSE },
    { 15, "y,a,b", "training_mode i 1", TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (norms); i++)
    check_norm (&norms[i]);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/batch-norm", test_batch_norm);
  return g_test_run ();
}
