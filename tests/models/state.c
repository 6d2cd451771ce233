/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State from run to run: sums and a GRU against double precision, pairs by name and as stated, what
 * the first run gets, and what is refused. */
#include <math.h>
#include <string.h>

#include "core/runtime/session.h"
#include "models/state.h"
#include "tests/models/helpers.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define RUNS 6
#define HIDDEN 3
#define SEEN 2

static const gint64 four[] = { 1, 4 };

/* (transfer full) (nullable) */
static SlModel *
load (SlOnnxWriter *writer, const SlModelLoadOptions *options, GError **error)
{
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  g_autofree char *path =
    write_temp ("model.onnx", g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  SlModel *model = sl_model_load_with (path, NULL, options, error);
  sl_tflite_remove_temp (path);
  return model;
}

/* @out = @in + x, y = 2 @out, @second - x = @second_out. The outputs' order is @out, y,
 * @second_out. */
static SlOnnxWriter *
sum_model (const char *in, const char *out, const char *second, const char *second_out)
{
  SlOnnxWriter *writer = sl_onnx_writer_new (13);
  g_autofree char *pair = g_strdup_printf ("%s,x", in),
                  *doubled = g_strdup_printf ("%s,%s", out, out);
  sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 2, four);
  sl_onnx_writer_input (writer, in, SL_ONNX_FLOAT, 2, four);
  sl_onnx_writer_node (writer, "Add", pair, out, NULL);
  sl_onnx_writer_node (writer, "Add", doubled, "y", NULL);
  sl_onnx_writer_output (writer, out, SL_ONNX_FLOAT);
  sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
  if (second == NULL)
    return writer;
  g_autofree char *other = g_strdup_printf ("%s,x", second);
  sl_onnx_writer_input (writer, second, SL_ONNX_FLOAT, 2, four);
  sl_onnx_writer_node (writer, "Sub", other, second_out, NULL);
  sl_onnx_writer_output (writer, second_out, SL_ONNX_FLOAT);
  return writer;
}

static void
fill (gfloat *x, gsize n, guint run, guint seed)
{
  for (gsize i = 0; i < n; i++)
    x[i] = (gfloat) ((run * 7 + i * 3 + seed) % 11) / 8.0f - 0.5f;
}

typedef struct
{
  SlModel *model;
  guint seed;
} Stream;

/* A session of its own: sums, and again after state was forgotten. */
static gpointer
run_sums (gpointer data)
{
  const Stream *stream = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (stream->model), 1, &error);
  g_assert_no_error (error);
  for (guint round = 0; round < 2; round++) {
    gdouble sum[4] = { 0 };
    for (guint run = 0; run < RUNS; run++) {
      gfloat x[4 + SL_TENSOR_PADDING] = { 0 }, y[4 + SL_TENSOR_PADDING];
      const void *inputs[] = { x };
      void *outputs[] = { y };
      fill (x, 4, run, stream->seed);
      g_assert_cmpint (sl_session_run (session, inputs, outputs), ==, SL_STATUS_OK);
      for (guint i = 0; i < 4; i++) {
        sum[i] += (gdouble) x[i];
        g_assert_cmpfloat (y[i], ==, 2 * sum[i]); /* eighths are exact */
      }
    }
    sl_session_forget (session);
  }
  return NULL;
}

/* Streams that share a graph have a state each. */
static void
check_sums (SlModel *model)
{
  g_assert_cmpuint (sl_graph_n_inputs (sl_model_graph (model)), ==, 1);
  g_assert_cmpuint (sl_graph_n_outputs (sl_model_graph (model)), ==, 1);
  g_assert_cmpstr (sl_graph_output_tensor (sl_model_graph (model), 0)->name, ==, "y");
  const Stream streams[2] = { { model, 0 }, { model, 5 } };
  GThread *other = g_thread_new ("other", run_sums, (gpointer) &streams[1]);
  run_sums ((gpointer) &streams[0]);
  g_thread_join (other);
}

static void
test_names (void)
{
  static const struct
  {
    const char *in, *out;
    gboolean found;
  } rows[] = {
    { "s_in", "s_out", TRUE },
    { "r1i", "r1o", TRUE },
    { "h0", "hn", TRUE },
    { "h_0", "h_n", TRUE },
    { "state", "stateN", TRUE },
    { "h", "hn", TRUE },
    { "in_h", "out_h", TRUE },
    { "past_a", "present_a", TRUE },
    { "prev_a", "next_a", TRUE },
    { "initial_h", "Y_h", TRUE },
    { "raw_inputs/h", "raw_outputs/h", TRUE },
    { "mask", "mask_out", TRUE },
    { "ai", "ao", FALSE },
    { "mask", "other", FALSE },
    { "h1", "hn", FALSE },
    { "i", "o", FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlOnnxWriter) writer = sum_model (rows[i].in, rows[i].out, NULL, NULL);
    g_autoptr (SlModel) model = load (writer, &(SlModelLoadOptions){ 0 }, &error);
    g_assert_no_error (error);
    g_test_message ("%s", rows[i].in);
    g_assert_cmpuint (sl_graph_n_inputs (sl_model_graph (model)), ==, rows[i].found ? 1 : 2);
    g_autofree char *said = sl_state_describe (sl_model_graph (model), TRUE);
    g_autofree char *expected =
      rows[i].found ? g_strdup_printf ("%s=%s", rows[i].in, rows[i].out) : NULL;
    g_assert_cmpstr (said, ==, expected);
    if (rows[i].found)
      check_sums (model);
    else
      g_assert_cmpuint (sl_graph_n_outputs (sl_model_graph (model)), ==, 2);
  }
}

/* Where names leave doubt, or only state would come out, nothing is carried unless it is stated. */
static void
test_doubt (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlOnnxWriter) two = sum_model ("h", "h_out", NULL, NULL);
  sl_onnx_writer_node (two, "Neg", "x", "hn", NULL);
  sl_onnx_writer_output (two, "hn", SL_ONNX_FLOAT);
  g_autoptr (SlModel) doubtful = load (two, &(SlModelLoadOptions){ 0 }, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sl_graph_n_held (sl_model_graph (doubtful)), ==, 0);

  g_autoptr (SlOnnxWriter) only = sl_onnx_writer_new (13);
  sl_onnx_writer_input (only, "x", SL_ONNX_FLOAT, 2, four);
  sl_onnx_writer_input (only, "s_in", SL_ONNX_FLOAT, 2, four);
  sl_onnx_writer_node (only, "Add", "s_in,x", "s_out", NULL);
  sl_onnx_writer_output (only, "s_out", SL_ONNX_FLOAT);
  g_autoptr (SlModel) whole = load (only, &(SlModelLoadOptions){ 0 }, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sl_graph_n_inputs (sl_model_graph (whole)), ==, 2);
  g_autoptr (SlModel) model = load (only, &(SlModelLoadOptions){ .state = "s_in=s_out" }, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sl_graph_n_outputs (sl_model_graph (model)), ==, 1);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  for (guint run = 1; run <= 3; run++) {
    gfloat x[4 + SL_TENSOR_PADDING] = { 1, 2, 3, 4 }, y[4 + SL_TENSOR_PADDING];
    g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                     SL_STATUS_OK);
    g_assert_cmpfloat (y[3], ==, 4 * run);
  }

  g_autoptr (SlOnnxWriter) named = sum_model ("s_in", "s_out", NULL, NULL);
  g_autoptr (SlModel) none = load (named, &(SlModelLoadOptions){ .state = "none" }, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sl_graph_n_inputs (sl_model_graph (none)), ==, 2);
  g_assert_cmpuint (sl_graph_n_outputs (sl_model_graph (none)), ==, 2);
}

/* Two states around the output; the first starts as it is stated, and @x was given by number. */
static void
test_stated (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlOnnxWriter) writer = sum_model ("a", "b", "c", "d");
  const SlModelLoadOptions options = { .state = " 1 = b, c=2 ", .fixed_inputs = "a=0.5" };
  g_autoptr (SlModel) model = load (writer, &options, &error);
  g_assert_no_error (error);
  const SlGraph *graph = sl_model_graph (model);
  g_autofree char *names = sl_state_describe (graph, TRUE),
                  *numbers = sl_state_describe (graph, FALSE);
  g_assert_cmpstr (names, ==, "a=b,c=d");
  g_assert_cmpstr (numbers, ==, "#1=#0,#2=#2");
  g_assert_cmpstr (sl_graph_output_tensor (graph, 0)->name, ==, "y");
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  gfloat *held = NULL;
  for (guint run = 1; run <= 3; run++) {
    gfloat x[4 + SL_TENSOR_PADDING] = { 1, 2, 3, 4 }, y[4 + SL_TENSOR_PADDING];
    g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                     SL_STATUS_OK);
    held = sl_session_held (session, 1);
    g_assert_cmpfloat (y[1], ==, 2 * (0.5 + 2 * run));
    g_assert_cmpfloat (held[1], ==, -2.0 * run);
  }
  sl_session_reset (session);
  g_assert_cmpfloat (((gfloat *) sl_session_held (session, 0))[3], ==, 0.5);
  g_assert_cmpfloat (((gfloat *) sl_session_held (session, 1))[3], ==, 0);
}

/* What others hand in stays when state is forgotten, and is as it was at first after a reset. */
static void
test_handed (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlOnnxWriter) writer = sum_model ("s_in", "s_out", "k", "difference");
  g_autoptr (SlModel) model = load (writer, &(SlModelLoadOptions){ .handed_inputs = "#2" }, &error);
  g_assert_no_error (error);
  const SlGraph *graph = sl_model_graph (model);
  g_autofree char *handed = sl_state_describe_handed (graph);
  g_assert_cmpstr (handed, ==, "#2");
  g_assert_cmpuint (sl_graph_n_held (graph), ==, 2);
  g_assert_cmpint (sl_graph_held (graph, 0)->output, ==, -1);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  const gfloat given[4] = { 10, 20, 30, 40 };
  memcpy (sl_session_held (session, 0), given, sizeof given);
  for (guint run = 1; run <= 2; run++) {
    gfloat x[4 + SL_TENSOR_PADDING] = { 1, 2, 3, 4 }, y[4 + SL_TENSOR_PADDING],
                 difference[4 + SL_TENSOR_PADDING];
    g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y, difference }),
                     ==, SL_STATUS_OK);
    g_assert_cmpfloat (y[3], ==, 8);
    g_assert_cmpfloat (difference[3], ==, 36);
    sl_session_forget (session);
  }
  sl_session_reset (session);
  g_assert_cmpfloat (((gfloat *) sl_session_held (session, 0))[3], ==, 0);
}

/* Of inputs that are called as numbers are, '#' says which are meant. */
static void
test_handed_numbers (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlOnnxWriter) writer = sum_model ("2", "sum", "1", "difference");
  static const struct
  {
    const char *handed, *expected;
  } rows[] = { { "#1", "#1" }, { "#2,#1", "#2,#1" }, { "1", "#2" } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlModel) model =
      load (writer, &(SlModelLoadOptions){ .handed_inputs = rows[i].handed }, &error);
    g_assert_no_error (error);
    g_autofree char *handed = sl_state_describe_handed (sl_model_graph (model));
    g_assert_cmpstr (handed, ==, rows[i].expected);
  }
}

static void
test_refused (void)
{
  static const struct
  {
    const char *state, *fixed, *message;
    SlError code;
  } rows[] = {
    { "a", NULL,
      "state: expected INPUT=OUTPUT with ',' between, each a number or a name, such as "
      "h0=hn,c0=cn, or none, got 'a'",
      SL_ERROR_ARGUMENT },
    { "a=", NULL, "state: expected INPUT=OUTPUT", SL_ERROR_ARGUMENT },
    { "a=b,", NULL, "state: expected INPUT=OUTPUT", SL_ERROR_ARGUMENT },
    { "e=b", NULL,
      "state: no input 'e'; the model has 0 'x' float32[1,4], 1 'a' float32[1,4], 2 'c' "
      "float32[1,4]",
      SL_ERROR_ARGUMENT },
    { "a=7", NULL,
      "state: no output '7'; the model has 0 'b' float32[1,4], 1 'y' float32[1,4], 2 'd' "
      "float32[1,4]",
      SL_ERROR_ARGUMENT },
    { "a=b,a=d", NULL, "state: 'a=b,a=d': an input or an output is stated twice",
      SL_ERROR_ARGUMENT },
    { "a=b,c=b", NULL, "an input or an output is stated twice", SL_ERROR_ARGUMENT },
    { "a=b,c=d,x=y", NULL, "expected one input to be left for pictures", SL_ERROR_ARGUMENT },
    { "a=b,c=d", "x=1",
      "fixed-inputs: input 'x' is the last one; expected one to be left for pictures",
      SL_ERROR_ARGUMENT },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlOnnxWriter) writer = sum_model ("a", "b", "c", "d");
    g_assert_null (
      load (writer, &(SlModelLoadOptions){ .state = rows[i].state, .fixed_inputs = rows[i].fixed },
            &error));
    expect_error (&error, rows[i].code, rows[i].message, NULL);
  }
  g_autoptr (GError) error = NULL;
  g_autoptr (SlOnnxWriter) writer = sum_model ("a", "b", NULL, NULL);
  sl_onnx_writer_input (writer, "wide", SL_ONNX_FLOAT, 2, (gint64[]){ 2, 4 });
  g_assert_null (load (writer, &(SlModelLoadOptions){ .state = "wide=y" }, &error));
  expect_error (
    &error, SL_ERROR_SHAPE,
    "state: input 'wide' is float32[2,4], and output 'y', which it gets, float32[1,4]: expected "
    "the same; sizes that the model leaves open are stated with input-shape, for each input",
    NULL);
}

/* Sizes that a model leaves open, as RobustVideoMatting's do, are stated for each input. */
static void
test_open_sizes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
  const gint64 open[] = { 1, 2, 0, 0 };
  sl_onnx_writer_input (writer, "src", SL_ONNX_FLOAT, 4, open);
  sl_onnx_writer_input (writer, "r1i", SL_ONNX_FLOAT, 4, open);
  sl_onnx_writer_node (writer, "AveragePool", "src", "half", "kernel_shape I 2,2", "strides I 2,2",
                       NULL);
  sl_onnx_writer_node (writer, "Add", "half,r1i", "r1o", NULL);
  sl_onnx_writer_node (writer, "Neg", "r1o", "pha", NULL);
  sl_onnx_writer_output (writer, "pha", SL_ONNX_FLOAT);
  sl_onnx_writer_output (writer, "r1o", SL_ONNX_FLOAT);
  g_autoptr (SlModel) model =
    load (writer, &(SlModelLoadOptions){ .input_shape = "1,2,4,4;1,2,2,2" }, &error);
  g_assert_no_error (error);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  for (guint run = 1; run <= 3; run++) {
    gfloat src[32 + SL_TENSOR_PADDING] = { 0 }, pha[8 + SL_TENSOR_PADDING];
    for (guint i = 0; i < 32; i++)
      src[i] = (gfloat) (i / 16 + 1);
    g_assert_cmpint (sl_session_run (session, (const void *[]){ src }, (void *[]){ pha }), ==,
                     SL_STATUS_OK);
    g_assert_cmpfloat (pha[0], ==, -1.0 * run);
    g_assert_cmpfloat (pha[7], ==, -2.0 * run);
  }
  /* Sizes that do not meet carry nothing by name, and are an error where the pair is stated. */
  g_assert_null (load (
    writer, &(SlModelLoadOptions){ .input_shape = "1,2,4,4;1,2,1,1", .state = "r1i=r1o" }, &error));
  expect_error (
    &error, SL_ERROR_SHAPE,
    "state: input 'r1i' is float32[1,2,1,1], and output 'r1o', which it gets, float32[1,2,2,2]",
    NULL);
}

static gdouble
sigmoid (gdouble x)
{
  return 1 / (1 + exp (-x));
}

/* One step of ONNX's GRU (gates z, r, h; linear_before_reset 0; no bias) in double precision. */
static void
gru_step (const gfloat *w, const gfloat *r, const gfloat *x, gdouble *h)
{
  gdouble gate[3][HIDDEN], before[HIDDEN];
  memcpy (before, h, sizeof before);
  for (guint g = 0; g < 3; g++)
    for (guint i = 0; i < HIDDEN; i++) {
      const guint row = g * HIDDEN + i;
      gdouble sum = 0;
      for (guint k = 0; k < SEEN; k++)
        sum += (gdouble) w[row * SEEN + k] * (gdouble) x[k];
      for (guint k = 0; k < HIDDEN; k++)
        sum += (gdouble) r[row * HIDDEN + k] * (g == 2 ? gate[1][k] * before[k] : before[k]);
      gate[g][i] = g == 2 ? tanh (sum) : sigmoid (sum);
    }
  for (guint i = 0; i < HIDDEN; i++)
    h[i] = (1 - gate[0][i]) * gate[2][i] + gate[0][i] * before[i];
}

static void
test_gru (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (14);
  gfloat w[3 * HIDDEN * SEEN], r[3 * HIDDEN * HIDDEN];
  gdouble h[HIDDEN] = { 0 };
  fill (w, G_N_ELEMENTS (w), 3, 1);
  fill (r, G_N_ELEMENTS (r), 4, 2);
  sl_onnx_writer_floats (writer, "W", 3, (gint64[]){ 1, 3 * HIDDEN, SEEN }, w);
  sl_onnx_writer_floats (writer, "R", 3, (gint64[]){ 1, 3 * HIDDEN, HIDDEN }, r);
  sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 3, (gint64[]){ 1, 1, SEEN });
  sl_onnx_writer_input (writer, "h0", SL_ONNX_FLOAT, 3, (gint64[]){ 1, 1, HIDDEN });
  sl_onnx_writer_node (writer, "GRU", "x,W,R,,,h0", "y,hn", "hidden_size i 3", NULL);
  sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
  sl_onnx_writer_output (writer, "hn", SL_ONNX_FLOAT);
  g_autoptr (SlModel) model = load (writer, &(SlModelLoadOptions){ 0 }, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sl_graph_n_inputs (sl_model_graph (model)), ==, 1);
  g_autoptr (SlSession) session = sl_session_new (
    sl_model_graph (model), 0, &error); /* runs that measure leave no state behind */
  for (guint run = 0; run < 3 * RUNS; run++) {
    gfloat x[SEEN + SL_TENSOR_PADDING] = { 0 }, y[HIDDEN + SL_TENSOR_PADDING];
    fill (x, SEEN, run, 0);
    gru_step (w, r, x, h);
    g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                     SL_STATUS_OK);
    for (guint i = 0; i < HIDDEN; i++)
      g_assert_cmpfloat_with_epsilon (y[i], h[i], 1e-5);
  }
}

/* The zeros of an 8-bit state are its zero point; the key file states the pair. */
static void
test_quantised (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  const SlTfliteTensor like = {
    .dtype = SL_DTYPE_I8, .rank = 2, .dims = { 1, 4 }, .scale = 0.5f, .zero_point = 3
  };
  gint32 index[3];
  for (guint i = 0; i < 3; i++) {
    static const char *const names[] = { "x", "kept", "sum" };
    SlTfliteTensor tensor = like;
    tensor.name = names[i];
    index[i] = sl_tflite_writer_tensor (writer, &tensor);
  }
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_ADD,
                                              .n_inputs = 2,
                                              .inputs = { index[0], index[1] },
                                              .n_outputs = 1,
                                              .outputs = { index[2] } });
  sl_tflite_writer_io (writer, 2, index, 1, &index[2]);
  g_autoptr (SlModel) model =
    load_with_info (writer, "[modelinfo]\nversion=1.0\n[sightline]\nstate=kept=0\n", NULL, &error);
  g_assert_no_error (error);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  gint8 x[4 + SL_TENSOR_PADDING] = { 5, 5, 1, 3 }, y[4 + SL_TENSOR_PADDING]; /* 1, 1, -1, 0 */
  for (gint run = 1; run <= 3; run++) {
    g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                     SL_STATUS_OK);
    g_assert_cmpint (y[0], ==, 3 + 2 * run);
    g_assert_cmpint (y[2], ==, 3 - 2 * run);
    g_assert_cmpint (y[3], ==, 3);
  }
  g_assert_false (sl_state_refuse (sl_model_graph (model), "this is no place", &error));
  expect_error (&error, SL_ERROR_UNSUPPORTED,
                "the model carries state from frame to frame (kept=sum), and this is no place",
                NULL);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/state/names", test_names);
  g_test_add_func ("/state/doubt", test_doubt);
  g_test_add_func ("/state/stated", test_stated);
  g_test_add_func ("/state/handed", test_handed);
  g_test_add_func ("/state/handed-numbers", test_handed_numbers);
  g_test_add_func ("/state/refused", test_refused);
  g_test_add_func ("/state/open-sizes", test_open_sizes);
  g_test_add_func ("/state/gru", test_gru);
  g_test_add_func ("/state/quantised", test_quantised);
  return g_test_run ();
}
