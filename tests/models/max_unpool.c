/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MediaPipe's custom operators MaxPoolingWithArgmax2D and MaxUnpooling2D, in models that are
 * written here, against maxima written out. */
#include <math.h>
#include <string.h>

#include "core/passes/prepare.h"
#include "core/runtime/session.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

#define POOL "MaxPoolingWithArgmax2D"
#define UNPOOL "MaxUnpooling2D"
#define PICTURES 2
#define ROWS 5
#define COLUMNS 7
#define CHANNELS 3
#define ELEMENTS (PICTURES * ROWS * COLUMNS * CHANNELS)

typedef struct
{
  guint32 padding, stride_w, stride_h, filter_w, filter_h, activation, computed[2];
} Options;

static void
add_op (SlTfliteWriter *writer, const char *name, const Options *options, gsize n,
        const gint32 *inputs, guint n_inputs, const gint32 *outputs, guint n_outputs)
{
  g_autoptr (GBytes) custom = g_bytes_new (options, n);
  SlTfliteOp op = {
    .custom = name, .custom_options = custom, .n_inputs = n_inputs, .n_outputs = n_outputs
  };
  memcpy (op.inputs, inputs, n_inputs * sizeof inputs[0]);
  memcpy (op.outputs, outputs, n_outputs * sizeof outputs[0]);
  sl_tflite_writer_op (writer, &op);
}

static gint32
add_tensor (SlTfliteWriter *writer, const char *name, gint32 rows, gint32 columns)
{
  return sl_tflite_writer_tensor (
    writer, &(SlTfliteTensor){ name, SL_DTYPE_F32, 4, { PICTURES, rows, columns, CHANNELS } });
}

static void
run_graph (SlGraph *graph, const void *const *in, gfloat *const *out)
{
  void *inputs[2] = { NULL }, *outputs[2] = { NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (SlSession) session = sl_session_new (graph, 2, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++) {
    inputs[i] = sl_tensor_buffer_new (sl_graph_input_tensor (graph, i)->bytes);
    memcpy (inputs[i], in[i], sl_graph_input_tensor (graph, i)->bytes);
  }
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes);
  g_assert_cmpint (sl_session_run (session, (const void *const *) inputs, outputs), ==,
                   SL_STATUS_OK);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    memcpy (out[i], outputs[i], sl_graph_output_tensor (graph, i)->bytes);
  for (guint i = 0; i < 2; i++) {
    sl_tensor_buffer_free (inputs[i]);
    sl_tensor_buffer_free (outputs[i]);
  }
}

static gsize
at (gint32 rows, gint32 columns, gint32 picture, gint32 y, gint32 x, gint32 c)
{
  return (gsize) (((picture * rows + y) * columns + x) * CHANNELS + c);
}

/* The greatest of a window of @filter with its top left corner at @top and @left, and where in the
 * window it is. */
static gfloat
greatest (const gfloat *in, gint32 filter, gint32 picture, gint32 top, gint32 left, gint32 c,
          gint32 *place)
{
  gfloat most = -INFINITY;
  for (gint32 i = 0; i < filter * filter; i++) {
    const gint32 y = top + i / filter, x = left + i % filter;
    if (y < 0 || y >= ROWS || x < 0 || x >= COLUMNS
        || in[at (ROWS, COLUMNS, picture, y, x, c)] <= most)
      continue;
    most = in[at (ROWS, COLUMNS, picture, y, x, c)];
    *place = i;
  }
  return most;
}

/* Windows of @filter every second pixel, then back into a picture. */
static void
check_values (guint32 filter, gboolean same)
{
  const Options options = { same ? 1 : 2, 2, 2, filter, filter, 0, { 0 } };
  const gint32 f = (gint32) filter, rows = same ? (ROWS + 1) / 2 : (ROWS - f) / 2 + 1;
  const gint32 columns = same ? (COLUMNS + 1) / 2 : (COLUMNS - f) / 2 + 1;
  const gint32 top = same ? ((rows - 1) * 2 + f - ROWS) / 2 : 0,
               left = same ? ((columns - 1) * 2 + f - COLUMNS) / 2 : 0;
  gfloat in[ELEMENTS], places[ELEMENTS], back[PICTURES * 9 * ELEMENTS],
    expected[PICTURES * 9 * ELEMENTS] = { 0 };
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < ELEMENTS; i++)
    in[i] = (gfloat) ((gint) (i * 83 % 211) - 105);
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  const gint32 x = add_tensor (writer, "x", ROWS, COLUMNS);
  const gint32 pooled[2] = { add_tensor (writer, "most", rows, columns),
                             add_tensor (writer, "places", rows, columns) };
  const gint32 y = add_tensor (writer, "y", rows * f, columns * f), outputs[2] = { pooled[1], y };
  add_op (writer, POOL, &options, sizeof options, &x, 1, pooled, 2);
  add_op (writer, UNPOOL, &options, 24, pooled, 2, &y, 1);
  sl_tflite_writer_io (writer, 1, &x, 2, outputs);
  g_autoptr (SlGraph) graph = read_graph (writer, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sl_graph_prepare (graph, &error));
  run_graph (graph, (const void *[]){ in }, (gfloat *[]){ places, back });
  for (gint32 i = 0; i < PICTURES * rows * columns * CHANNELS; i++) {
    const gint32 c = i % CHANNELS, column = i / CHANNELS % columns,
                 row = i / CHANNELS / columns % rows, picture = i / CHANNELS / columns / rows;
    const gint32 pad_y = MAX ((rows - 1) * 2 + f - rows * f, 0) / 2,
                 pad_x = MAX ((columns - 1) * 2 + f - columns * f, 0) / 2;
    gint32 place = 0;
    const gfloat most = greatest (in, f, picture, row * 2 - top, column * 2 - left, c, &place);
    g_assert_cmpfloat (places[i], ==, (gfloat) place);
    expected[at (rows * f, columns * f, picture, row * 2 - pad_y + place / f,
                 column * 2 - pad_x + place % f, c)] = most;
  }
  g_assert_cmpmem (back, (gsize) (PICTURES * rows * columns * CHANNELS * f * f) * sizeof (gfloat),
                   expected,
                   (gsize) (PICTURES * rows * columns * CHANNELS * f * f) * sizeof (gfloat));
}

static void
test_values (void)
{
  check_values (2, TRUE);
  check_values (2, FALSE);
  check_values (3, TRUE);
  check_values (3, FALSE);
}

/* A value, placed by numbers that no pooling gives: nothing outside is written. */
static void
test_places (void)
{
  const Options options = { 1, 2, 2, 2, 2, 0, { 0 } };
  static const struct
  {
    gfloat place;
    gint at; /* -1 = nowhere */
  } cases[] = { { 0, 0 },  { 3, 3 },      { 2.9f, 2 },       { -1, -1 },
                { 4, -1 }, { 1e30f, -1 }, { -INFINITY, -1 }, { NAN, -1 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gfloat in[PICTURES * CHANNELS] = { 7 }, places[PICTURES * CHANNELS] = { cases[i].place },
                         out[PICTURES * CHANNELS * 4];
    g_autoptr (GError) error = NULL;
    g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
    const gint32 inputs[2] = { add_tensor (writer, "x", 1, 1),
                               add_tensor (writer, "places", 1, 1) };
    const gint32 y = add_tensor (writer, "y", 2, 2);
    add_op (writer, UNPOOL, &options, sizeof options, inputs, 2, &y, 1);
    sl_tflite_writer_io (writer, 2, inputs, 1, &y);
    g_autoptr (SlGraph) graph = read_graph (writer, NULL, &error);
    g_assert_no_error (error);
    g_assert_true (sl_graph_prepare (graph, &error));
    run_graph (graph, (const void *[]){ in, places }, (gfloat *[]){ out });
    for (gint k = 0; k < 4; k++)
      g_assert_cmpfloat (out[k * CHANNELS], ==, cases[i].at == k ? 7 : 0);
  }
}

static void
refuse_rows (Options options, gsize n, gint32 value_rows, gint32 place_rows, SlError code,
             const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  const gint32 inputs[2] = { add_tensor (writer, "x", value_rows, 2),
                             add_tensor (writer, "places", place_rows, 2) };
  const gint32 y = add_tensor (writer, "y", 4, 4);
  add_op (writer, UNPOOL, &options, n, inputs, 2, &y, 1);
  sl_tflite_writer_io (writer, 2, inputs, 1, &y);
  g_autoptr (SlGraph) graph = read_graph (writer, NULL, &error);
  g_assert_false (graph != NULL && sl_graph_prepare (graph, &error));
  expect_error (&error, code, "node 0 " UNPOOL, text, NULL);
}

static void
refuse (Options options, gsize n, gint32 place_rows, SlError code, const char *text)
{
  refuse_rows (options, n, 2, place_rows, code, text);
}

static void
test_errors (void)
{
  refuse_rows ((Options){ 1, 2, 2, 2, 32767, 0, { 0 } }, 32, 70000, 70000, SL_ERROR_LIMIT,
               "32767x2 windows for 70000x2 pixels are over the limit");
  refuse ((Options){ 1, 2, 2, 2, 2, 0, { 0 } }, 20, 2, SL_ERROR_FORMAT,
          "its custom options have 20 bytes; expected padding, strides, window and activation, 24");
  refuse ((Options){ 0, 2, 2, 2, 2, 0, { 0 } }, 32, 2, SL_ERROR_FORMAT,
          "state padding 0 and activation 0; expected 1 (SAME) or 2 (VALID), and 0 to 3");
  refuse ((Options){ 1, 2, 2, 2, 2, 9, { 0 } }, 32, 2, SL_ERROR_FORMAT, "activation 9");
  refuse ((Options){ 1, 2, 0, 2, 2, 0, { 0 } }, 32, 2, SL_ERROR_FORMAT,
          "state a stride or window of 0; expected 1 to 32767");
  refuse ((Options){ 1, 2, 2, 2, 65536, 0, { 0 } }, 32, 2, SL_ERROR_FORMAT,
          "state a stride or window of 65536");
  refuse ((Options){ 1, 2, 2, 2, 2, 0, { 0 } }, 32, 3, SL_ERROR_SHAPE,
          "values are float32[2,2,2,3] and their places float32[2,3,2,3]; expected the same shape");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tflite/max-unpool/values", test_values);
  g_test_add_func ("/tflite/max-unpool/places", test_places);
  g_test_add_func ("/tflite/max-unpool/errors", test_errors);
  return g_test_run ();
}
