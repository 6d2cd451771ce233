/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MediaPipe's custom operator Convolution2DTransposeBias, in models that are written here, against
 * sums written out. */
#include <string.h>

#include "core/passes/prepare.h"
#include "core/runtime/session.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

#define NAME "Convolution2DTransposeBias"

/* [1,2,3,1] spread by windows of 3x2 to two channels, with @options. @weights_rank is 4 in a good
 * model. */
static SlTfliteWriter *
model (const guint8 *options, gsize n, guint weights_rank, const gfloat *weights,
       const gfloat *bias)
{
  SlTfliteWriter *writer = sl_tflite_writer_new ();
  const gint32 x =
    sl_tflite_writer_tensor (writer, &(SlTfliteTensor){ "x", SL_DTYPE_F32, 4, { 1, 2, 3, 1 } });
  const gint32 w = sl_tflite_writer_tensor (writer, &(SlTfliteTensor){ .name = "w",
                                                                       .dtype = SL_DTYPE_F32,
                                                                       .rank = weights_rank,
                                                                       .dims = { 2, 3, 2, 1 },
                                                                       .data = weights });
  const gint32 b = sl_tflite_writer_tensor (
    writer, &(SlTfliteTensor){
              .name = "b", .dtype = SL_DTYPE_F32, .rank = 1, .dims = { 2 }, .data = bias });
  const gint32 y =
    sl_tflite_writer_tensor (writer, &(SlTfliteTensor){ "y", SL_DTYPE_F32, 4, { 1, 1, 1, 2 } });
  g_autoptr (GBytes) custom = g_bytes_new (options, n);
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .custom = NAME,
                                              .custom_options = custom,
                                              .n_inputs = 3,
                                              .inputs = { x, w, b },
                                              .n_outputs = 1,
                                              .outputs = { y } });
  sl_tflite_writer_io (writer, 1, &x, 1, &y);
  return writer;
}

static void
fill (gfloat *values, guint n)
{
  for (guint i = 0; i < n; i++)
    values[i] = (gfloat) ((gint) (i * 37 % 23) - 11) / 8;
}

/* @same: SAME, where the output is the input times the strides and the windows of the first pixels
 * begin before it. */
static void
check_values (gboolean same)
{
  static const guint8 options[2][12] = { { 2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0 },
                                         { 1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0 } };
  gfloat weights[12], bias[2] = { 0.5f, -3 }, in[6];
  const gint32 down = same ? 2 : 3, h = same ? 4 : 6, w = 6;
  fill (weights, 12);
  fill (in, 6);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) writer = model (options[same], 12, 4, weights, bias);
  g_autoptr (SlGraph) graph = read_graph (writer, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sl_graph_prepare (graph, &error));
  const SlTensor *output = sl_graph_output_tensor (graph, 0);
  g_assert_cmpint (output->dims[1], ==, h);
  g_assert_cmpint (output->dims[2], ==, w);
  g_assert_cmpint (output->dims[3], ==, 2);
  g_autoptr (SlSession) session = sl_session_new (graph, 1, &error);
  g_assert_no_error (error);
  void *x = sl_tensor_buffer_new (sizeof in), *y = sl_tensor_buffer_new (output->bytes);
  memcpy (x, in, sizeof in);
  g_assert_cmpint (sl_session_run (session, (const void *const *) &x, &y), ==, SL_STATUS_OK);
  for (gint32 at = 0; at < h * w * 2; at++) {
    const gint32 c = at % 2, ox = at / 2 % w, oy = at / 2 / w;
    double sum = bias[c];
    for (gint32 iy = 0; iy < 2; iy++)
      for (gint32 ix = 0; ix < 3; ix++) {
        const gint32 fy = oy - iy * down, fx = ox - ix * 2;
        if (fy >= 0 && fy < 3 && fx >= 0 && fx < 2)
          sum += (double) in[iy * 3 + ix] * weights[(c * 3 + fy) * 2 + fx];
      }
    g_assert_cmpfloat_with_epsilon (((const gfloat *) y)[at], sum, 1e-5);
  }
  sl_tensor_buffer_free (x);
  sl_tensor_buffer_free (y);
}

static void
test_values (void)
{
  check_values (FALSE);
  check_values (TRUE);
}

static void
refuse (const guint8 *options, gsize n, guint weights_rank, SlError code, const char *text)
{
  static const gfloat weights[12], bias[2];
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) writer = model (options, n, weights_rank, weights, bias);
  g_assert_null (read_graph (writer, NULL, &error));
  expect_error (&error, code, "node 0 TRANSPOSE_CONV", text, NULL);
}

static void
test_errors (void)
{
  static const guint8 good[12] = { 1, 0, 0, 0, 2, 0, 0, 0, 2 },
                      padding[12] = { 3, 0, 0, 0, 2, 0, 0, 0, 2 };
  static const guint8 none[12] = { 1, 0, 0, 0, 0, 0, 0, 0, 2 },
                      vast[12] = { 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1 };
  refuse (good, 8, 4, SL_ERROR_FORMAT,
          "its custom options have 8 bytes; expected padding and two strides, 12");
  refuse (
    padding, 12, 4, SL_ERROR_FORMAT,
    "state padding 3 and strides 2 and 2; expected 1 (SAME) or 2 (VALID), and strides from 1 to "
    "32767");
  refuse (none, 12, 4, SL_ERROR_FORMAT, "strides 0 and 2");
  refuse (vast, 12, 4, SL_ERROR_FORMAT, "strides 2 and 65536");
  refuse (good, 12, 3, SL_ERROR_SHAPE, "expected data and weights of 4 dimensions and a bias");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tflite/transpose-bias/values", test_values);
  g_test_add_func ("/tflite/transpose-bias/errors", test_errors);
  return g_test_run ();
}
