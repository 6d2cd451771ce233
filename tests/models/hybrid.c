/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layers of float activations with weights of 8 bits, in models that are written here:
 * activations are rounded as TensorFlow Lite does it. */
#include <math.h>
#include <string.h>

#include "core/backends/int8/isa.h"
#include "core/passes/prepare.h"
#include "core/runtime/session.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

#define PIXELS 3
#define CHANNELS 2
#define FILTERS 2

/* Two pictures of three pixels; the second one's numbers are all above zero. */
static const gfloat in[2][PIXELS][CHANNELS] = {
  { { -0.37f, 0.81f }, { 0.05f, 0.02f }, { 1.93f, -0.6f } },
  { { 0.011f, 0.029f }, { 0.3f, 0.1f }, { 0.033f, 0.2f } }
};
static const gint8 codes[FILTERS][2][CHANNELS] = { { { 127, -55 }, { -3, 100 } },
                                                   { { 17, 9 }, { -127, 1 } } };

/* [2,1,3,2] by windows one or two pixels wide, without padding. */
static SlTfliteWriter *
model (gint32 width, gboolean old)
{
  static const gfloat scales[FILTERS] = { 0.01f, 0.3f };
  gint8 weights[FILTERS * 2 * CHANNELS];
  for (gint32 i = 0; i < FILTERS * width * CHANNELS; i++)
    weights[i] = codes[i / (width * CHANNELS)][i / CHANNELS % width][i % CHANNELS];
  SlTfliteWriter *writer = sl_tflite_writer_new ();
  SlTfliteTensor w = { .name = "w",
                       .dtype = old ? SL_DTYPE_U8 : SL_DTYPE_I8,
                       .rank = 4,
                       .dims = { FILTERS, 1, width, CHANNELS },
                       .data = weights };
  w.scale = old ? scales[0] : 0;
  w.n_scales = old ? 0 : FILTERS;
  w.scales = scales;
  const gint32 inputs[2] = {
    sl_tflite_writer_tensor (writer,
                             &(SlTfliteTensor){ "x", SL_DTYPE_F32, 4, { 2, 1, PIXELS, CHANNELS } }),
    sl_tflite_writer_tensor (writer, &w)
  };
  const gint32 y = sl_tflite_writer_tensor (
    writer, &(SlTfliteTensor){ "y", SL_DTYPE_F32, 4, { 2, 1, PIXELS - width + 1, FILTERS } });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_CONV_2D,
                                              .params.window = { .padding = SL_PADDING_VALID,
                                                                 .stride_h = 1,
                                                                 .stride_w = 1,
                                                                 .dilation_h = 1,
                                                                 .dilation_w = 1 },
                                              .n_inputs = 2,
                                              .inputs = { inputs[0], inputs[1] },
                                              .n_outputs = 1,
                                              .outputs = { y } });
  sl_tflite_writer_io (writer, 1, inputs, 1, &y);
  return writer;
}

/* What 8 bits can say of @value, one of the @n numbers @row. */
static double
rounded (double value, const gfloat *row, guint n, gboolean old, double last)
{
  double least = 0, most = 0;
  for (guint i = 0; i < n; i++) {
    least = fmin (least, (double) row[i]);
    most = fmax (most, (double) row[i]);
  }
  if (old) {
    const double scale = fmax (-least, most) / 127;
    return rint (value / scale) * scale;
  }
  const double scale = (most - least) / last, zero = rint (-least / scale);
  return fmin (fmax (rint (value / scale) + zero, 0), last) * scale - zero * scale;
}

static void
check_values (gint32 width, gboolean old)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) writer = model (width, old);
  g_autoptr (SlGraph) graph = read_graph (writer, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sl_graph_prepare (graph, &error));
  g_autoptr (SlSession) session = sl_session_new (graph, 1, &error);
  g_assert_no_error (error);
  const gint32 outputs = PIXELS - width + 1;
  void *x = sl_tensor_buffer_new (sizeof in),
       *y = sl_tensor_buffer_new (sl_graph_output_tensor (graph, 0)->bytes);
  memcpy (x, in, sizeof in);
  g_assert_cmpint (sl_session_run (session, (const void *const *) &x, &y), ==, SL_STATUS_OK);
  for (gint32 at = 0; at < 2 * outputs * FILTERS; at++) {
    const gint32 filter = at % FILTERS, first = at / FILTERS % outputs,
                 picture = at / FILTERS / outputs;
    double sum = 0;
    for (gint32 p = 0; p < width; p++)
      for (gint32 c = 0; c < CHANNELS; c++) {
        const gboolean by_pixel = width == 1 && !old;
        const gfloat *row = by_pixel ? in[picture][first] : in[picture][0];
        sum += rounded ((double) in[picture][first + p][c], row,
                        by_pixel ? CHANNELS : PIXELS * CHANNELS, old, 255)
               * codes[filter][p][c] * (old || filter == 0 ? 0.01 : 0.3);
      }
    g_assert_cmpfloat_with_epsilon ((double) ((const gfloat *) y)[at], sum, 1e-5);
  }
  sl_tensor_buffer_free (x);
  sl_tensor_buffer_free (y);
}

static void
test_pictures (void)
{
  check_values (2, FALSE);
}

static void
test_pixels (void)
{
  check_values (1, FALSE);
}

static void
test_old (void)
{
  check_values (1, TRUE);
  check_values (2, TRUE);
}

/* Data without dimensions, which no convolution takes. */
static void
test_errors (void)
{
  static const gint8 weights[CHANNELS] = { 1, 2 };
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  const gint32 x =
    sl_tflite_writer_tensor (writer, &(SlTfliteTensor){ .name = "x", .dtype = SL_DTYPE_F32 });
  const gint32 y =
    sl_tflite_writer_tensor (writer, &(SlTfliteTensor){ .name = "y", .dtype = SL_DTYPE_F32 });
  const gint32 w =
    sl_tflite_writer_tensor (writer, &(SlTfliteTensor){ .name = "w",
                                                        .dtype = SL_DTYPE_I8,
                                                        .rank = 4,
                                                        .dims = { 1, 1, 1, CHANNELS },
                                                        .scale = 1,
                                                        .data = weights });
  const SlWindow window = {
    .padding = SL_PADDING_VALID, .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1
  };
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_CONV_2D,
                                              .params.window = window,
                                              .n_inputs = 2,
                                              .inputs = { x, w },
                                              .n_outputs = 1,
                                              .outputs = { y } });
  sl_tflite_writer_io (writer, 1, &x, 1, &y);
  g_autoptr (SlGraph) graph = read_graph (writer, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (sl_graph_prepare (graph, &error));
  expect_error (&error, SL_ERROR_SHAPE, "node 0 FAKE_QUANTIZE",
                "input is a single number; expected at least 1 dimension", NULL);
}

#define ROWS 5
#define DEPTH 37
#define WIDE 19

/** A fully connected layer's numbers. */
typedef struct
{
  gfloat x[ROWS][DEPTH], bias[WIDE], scales[WIDE];
  gint8 weights[WIDE][DEPTH];
} Full;

/* The first channels have mostly small weights, the others any. */
static void
fill (Full *f)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  for (gint32 i = 0; i < ROWS * DEPTH; i++)
    f->x[i / DEPTH][i % DEPTH] =
      (gfloat) g_rand_double_range (rand, i < DEPTH ? 0 : -1, 2) * (gfloat) (1 + i / DEPTH);
  for (gint32 o = 0; o < WIDE; o++) {
    f->bias[o] = (gfloat) g_rand_double_range (rand, -1, 1);
    f->scales[o] = 0.01f * (gfloat) (1 + o);
    for (gint32 i = 0; i < DEPTH; i++)
      f->weights[o][i] = o < 16 && g_rand_int_range (rand, 0, 20) != 0
                           ? (gint8) g_rand_int_range (rand, -50, 51)
                           : (gint8) g_rand_int_range (rand, -127, 128);
  }
}

static SlTfliteWriter *
full_model (const Full *f, gboolean dynamic, gboolean by_channel, SlActivation activation)
{
  SlTfliteWriter *writer = sl_tflite_writer_new ();
  SlTfliteTensor w = {
    .name = "w", .dtype = SL_DTYPE_I8, .rank = 2, .dims = { WIDE, DEPTH }, .data = f->weights
  };
  w.scale = by_channel ? 0 : f->scales[0];
  w.n_scales = by_channel ? WIDE : 0;
  w.scales = f->scales;
  const gint32 x = sl_tflite_writer_tensor (
                 writer, &(SlTfliteTensor){ "x", SL_DTYPE_F32, 2, { ROWS, DEPTH } }),
               weights = sl_tflite_writer_tensor (writer, &w);
  const gint32 bias = sl_tflite_writer_tensor (
    writer, &(SlTfliteTensor){
              .name = "b", .dtype = SL_DTYPE_F32, .rank = 1, .dims = { WIDE }, .data = f->bias });
  const gint32 y =
    sl_tflite_writer_tensor (writer, &(SlTfliteTensor){ "y", SL_DTYPE_F32, 2, { ROWS, WIDE } });
  sl_tflite_writer_op (
    writer,
    &(SlTfliteOp){ .op = SL_OP_FULLY_CONNECTED,
                   .params.fully_connected = { .dynamic = dynamic, .activation = activation },
                   .n_inputs = 3,
                   .inputs = { x, weights, bias },
                   .n_outputs = 1,
                   .outputs = { y } });
  sl_tflite_writer_io (writer, 1, &x, 1, &y);
  return writer;
}

/* (transfer full): what the layer makes of @f's rows. */
static gfloat *
run_full (const Full *f, gboolean dynamic, gboolean by_channel, SlActivation activation,
          guint threads)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) writer = full_model (f, dynamic, by_channel, activation);
  g_autoptr (SlGraph) graph = read_graph (writer, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sl_graph_prepare (graph, &error));
  g_autoptr (SlSession) session = sl_session_new (graph, threads, &error);
  g_assert_no_error (error);
  void *x = sl_tensor_buffer_new (sizeof f->x),
       *y = sl_tensor_buffer_new (sl_graph_output_tensor (graph, 0)->bytes);
  memcpy (x, f->x, sizeof f->x);
  g_assert_cmpint (sl_session_run (session, (const void *const *) &x, &y), ==, SL_STATUS_OK);
  gfloat *copy = g_memdup2 (y, sizeof (gfloat) * ROWS * WIDE);
  sl_tensor_buffer_free (x);
  sl_tensor_buffer_free (y);
  return copy;
}

static void
check_full (const Full *f, gboolean dynamic, gboolean by_channel, SlActivation activation,
            guint threads, gint32 last)
{
  g_autofree gfloat *y = run_full (f, dynamic, by_channel, activation, threads);
  for (gint32 r = 0; r < ROWS; r++)
    for (gint32 o = 0; o < WIDE; o++) {
      double sum = 0;
      for (gint32 i = 0; i < DEPTH; i++)
        sum += f->weights[o][i]
               * (dynamic ? rounded ((double) f->x[r][i], f->x[r], DEPTH, FALSE, last)
                          : (double) f->x[r][i]);
      sum = sum * (double) f->scales[by_channel ? o : 0] + (double) f->bias[o];
      if (activation == SL_ACTIVATION_RELU)
        sum = fmax (sum, 0);
      g_assert_cmpfloat_with_epsilon ((double) y[r * WIDE + o], sum, 2e-3);
    }
}

/* Rows of fully connected layers, by every instruction set and by the plain kernel. */
static void
test_rows (void)
{
  Full f;
  const SlInt8Isa *isas[SL_INT8_MAX_ISAS];
  const guint n = sl_int8_isas (isas);
  fill (&f);
  check_full (&f, FALSE, TRUE, SL_ACTIVATION_NONE, 1, 0);
  for (guint i = 0; i < n; i++) {
    const gint32 last = isas[i]->bytes != NULL ? isas[i]->bytes->last : isas[i]->last;
    sl_int8_isa_force (isas[i]);
    check_full (&f, TRUE, TRUE, SL_ACTIVATION_NONE, 1, last);
    check_full (&f, TRUE, FALSE, SL_ACTIVATION_RELU, 2, last);
  }
  sl_int8_isa_force (NULL);
  g_setenv ("SIGHTLINE_BACKEND", "plain", TRUE);
  check_full (&f, TRUE, TRUE, SL_ACTIVATION_RELU, 1, 255);
  g_unsetenv ("SIGHTLINE_BACKEND");
}

/* NaN stays in its row. */
static void
test_row_of_nan (void)
{
  Full f;
  fill (&f);
  f.x[2][5] = NAN;
  for (gint plain = 0; plain < 2; plain++) {
    if (plain)
      g_setenv ("SIGHTLINE_BACKEND", "plain", TRUE);
    g_autofree gfloat *y = run_full (&f, TRUE, TRUE, SL_ACTIVATION_RELU, 1);
    for (gint32 i = 0; i < ROWS * WIDE; i++)
      g_assert_cmpint (isnan (y[i]) != 0, ==, i / WIDE == 2);
  }
  g_unsetenv ("SIGHTLINE_BACKEND");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/hybrid/pictures", test_pictures);
  g_test_add_func ("/hybrid/pixels", test_pixels);
  g_test_add_func ("/hybrid/old", test_old);
  g_test_add_func ("/hybrid/errors", test_errors);
  g_test_add_func ("/hybrid/rows", test_rows);
  g_test_add_func ("/hybrid/row-of-nan", test_row_of_nan);
  return g_test_run ();
}
