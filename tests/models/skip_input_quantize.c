/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * @skip_input_quantize of sl_model_load_with(): models that start by quantising their input, asked
 * for the quantised values behind it. Those of every byte are compared with what the whole model
 * makes of it, by arithmetic in the test and by running the model.
 */
#include <math.h>
#include <string.h>

#include "core/runtime/session.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

#define SIDE 16 /* one pixel a byte */
#define PIXELS (SIDE * SIDE)

typedef struct
{
  const char *name;
  SlDtype dtype;
  gfloat scale;
  gint32 zero_point;
  SlDtype quantized_dtype;
  gfloat quantized_scale;
  gint32 quantized_zero_point;
  const char *info;
  gboolean skips, exact;
} Case;

#define RANGE(text) "[modelinfo]\nversion=1.0\n[sightline]\n" text "\n"

static const Case cases[] = {
  { "uint8-int8", SL_DTYPE_U8, 1 / 127.5f, 127, SL_DTYPE_I8, 1 / 127.5f, -1, NULL, TRUE, TRUE },
  { "uint8-int8-other-zero", SL_DTYPE_U8, 0.5f, 3, SL_DTYPE_I8, 0.5f, -100, NULL, TRUE, TRUE },
  { "int8-uint8", SL_DTYPE_I8, 1 / 255.0f, -128, SL_DTYPE_U8, 1 / 255.0f, 0, NULL, TRUE, TRUE },
  { "uint8-stated", SL_DTYPE_U8, 1 / 128.0f, 128, SL_DTYPE_I8, 1 / 128.0f, 0,
    RANGE ("mean=127.5\nstd=127.5"), TRUE, TRUE },
  { "coarser", SL_DTYPE_U8, 1 / 127.5f, 127, SL_DTYPE_I8, 1 / 63.0f, 3, NULL, TRUE, FALSE },
  { "finer", SL_DTYPE_U8, 1 / 255.0f, 0, SL_DTYPE_I8, 1 / 320.0f, -128, NULL, TRUE, FALSE },
  { "float", SL_DTYPE_F32, 0, 0, SL_DTYPE_I8, 1 / 255.0f, -128, RANGE ("mean=0\nstd=255"), TRUE,
    FALSE },
  { "float-imagenet", SL_DTYPE_F32, 0, 0, SL_DTYPE_I8, 0.0187f, -14,
    RANGE ("mean=123.7,116.3,103.5\nstd=58.4,57.1,57.4"), TRUE, FALSE },
  { "float-uint8", SL_DTYPE_F32, 0, 0, SL_DTYPE_U8, 1 / 127.5f, 128,
    RANGE ("mean=127.5\nstd=127.5"), TRUE, FALSE },
  { "float-range-unknown", SL_DTYPE_F32, 0, 0, SL_DTYPE_I8, 1 / 255.0f, -128, NULL, FALSE, FALSE },
  /* Values that the input's own range would have cut off, and steps of two values. */
  { "cut-off", SL_DTYPE_U8, 1 / 127.5f, 127, SL_DTYPE_I8, 1 / 127.5f, 30,
    RANGE ("mean=200\nstd=40"), FALSE, FALSE },
  { "steps", SL_DTYPE_U8, 1 / 64.0f, 0, SL_DTYPE_I8, 1 / 255.0f, -128, NULL, FALSE, FALSE },
  { "int16", SL_DTYPE_F32, 0, 0, SL_DTYPE_I16, 1 / 255.0f, 0, RANGE ("mean=0\nstd=255"), FALSE,
    FALSE },
};

/* A picture -> QUANTIZE -> RESHAPE: the outputs are the values. */
static SlTfliteWriter *
make_model (const Case *c)
{
  const gint32 dims[] = { 1, SIDE, SIDE, 3 };
  SlTfliteWriter *w = sl_tflite_writer_new ();
  SlTfliteTensor picture = {
    .name = "picture", .dtype = c->dtype, .rank = 4, .scale = c->scale, .zero_point = c->zero_point
  };
  SlTfliteTensor values = { .name = "values",
                            .dtype = c->quantized_dtype,
                            .rank = 4,
                            .scale = c->quantized_scale,
                            .zero_point = c->quantized_zero_point };
  memcpy (picture.dims, dims, sizeof dims);
  memcpy (values.dims, dims, sizeof dims);
  SlTfliteTensor flat = values;
  flat.name = "flat";
  flat.rank = 2;
  flat.dims[1] = PIXELS * 3;
  const gint32 x = sl_tflite_writer_tensor (w, &picture), q = sl_tflite_writer_tensor (w, &values),
               y = sl_tflite_writer_tensor (w, &flat);
  sl_tflite_writer_op (
    w, &(SlTfliteOp){
         .op = SL_OP_QUANTIZE, .n_inputs = 1, .inputs = { x }, .n_outputs = 1, .outputs = { q } });
  sl_tflite_writer_op (w, &(SlTfliteOp){ .op = SL_OP_RESHAPE,
                                         .params.reshape = { .count = 2, .dims = { 1, -1 } },
                                         .n_inputs = 1,
                                         .inputs = { q },
                                         .n_outputs = 1,
                                         .outputs = { y } });
  sl_tflite_writer_io (w, 1, &x, 1, &y);
  return w;
}

/* The tensor of a picture whose pixel i is byte i in every channel, by the contract. */
static void
fill (const SlContract *contract, void *data)
{
  const SlTensorInfo *input = &contract->inputs[0];
  const gdouble low = input->dtype == SL_DTYPE_I8 ? -128 : 0;
  for (gint i = 0; i < PIXELS * 3; i++) {
    const gdouble value = i / 3 * contract->image.gain[i % 3] + contract->image.offset[i % 3];
    if (input->dtype == SL_DTYPE_F32)
      ((gfloat *) data)[i] = (gfloat) value;
    else
      ((guint8 *) data)[i] = (guint8) (gint) CLAMP (nearbyint (value), low, low + 255);
  }
}

static void
run (SlModel *model, void *values)
{
  g_autoptr (GError) error = NULL;
  SlGraph *graph = sl_model_graph (model);
  g_autoptr (SlSession) session = sl_session_new (graph, 1, &error);
  g_assert_no_error (error);
  const SlTensor *output = sl_graph_output_tensor (graph, 0);
  void *in = sl_tensor_buffer_new (sl_graph_input_tensor (graph, 0)->bytes),
       *out = sl_tensor_buffer_new (output->bytes);
  g_assert_cmpuint (sl_graph_input_tensor (graph, 0)->bytes, ==,
                    sl_model_contract (model)->inputs[0].bytes);
  fill (sl_model_contract (model), in);
  g_assert_cmpint (sl_session_run (session, (const void *const *) &in, &out), ==, SL_STATUS_OK);
  memcpy (values, out, output->bytes);
  sl_tensor_buffer_free (in);
  sl_tensor_buffer_free (out);
}

static void
compare (const Case *c, SlModel *skipping, SlModel *whole)
{
  const SlImageContract *image = &sl_model_contract (skipping)->image;
  const SlImageContract *before = &sl_model_contract (whole)->image;
  const gdouble low = c->quantized_dtype == SL_DTYPE_I8 ? -128 : 0;
  guint8 got[PIXELS * 3], want[PIXELS * 3];
  run (skipping, got);
  run (whole, want);
  for (gint i = 0; i < PIXELS * 3; i++) {
    const gint a = c->quantized_dtype == SL_DTYPE_I8 ? (gint8) got[i] : got[i],
               b = c->quantized_dtype == SL_DTYPE_I8 ? (gint8) want[i] : want[i];
    g_assert_cmpint (ABS (a - b), <=, c->exact ? 0 : 1);
    /* Normalised, then quantised. */
    const gdouble real = (i / 3 - before->mean[i % 3]) / before->std[i % 3];
    const gdouble value =
      CLAMP (real / (gdouble) c->quantized_scale + c->quantized_zero_point, low, low + 255);
    g_assert_cmpfloat (fabs (a - value), <=, 1.01);
    g_assert_cmpfloat_with_epsilon ((i / 3 - image->mean[i % 3]) / image->std[i % 3], real, 1e-9);
  }
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (SlTfliteWriter) writer = make_model (c);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) whole = load_with_info (writer, c->info, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (SlModel) skipping = load_skipping_with_info (writer, c->info, NULL, &error);
  g_assert_no_error (error);
  const SlContract *contract = sl_model_contract (skipping);
  g_assert_false (sl_model_contract (whole)->skips_input_quantize);
  g_assert_cmpuint (sl_graph_n_nodes (sl_model_graph (whole)), ==, 2);
  g_assert_cmpint (contract->skips_input_quantize, ==, c->skips);
  g_assert_cmpint (contract->inputs[0].dtype, ==, c->skips ? c->quantized_dtype : c->dtype);
  g_assert_cmpint (sl_graph_declared_input_tensor (sl_model_graph (skipping), 0)->dtype, ==,
                   c->dtype);
  if (!c->skips) {
    g_assert_cmpuint (sl_graph_n_nodes (sl_model_graph (skipping)), ==, 2);
    return;
  }
  g_autofree char *summary = sl_contract_summary (contract);
  g_assert_nonnull (strstr (summary, "already quantised"));
  g_assert_cmpstr (contract->inputs[0].name, ==, "picture");
  g_assert_cmpstr (contract->declared.name, ==, "picture");
  g_assert_cmpint (contract->declared.dtype, ==, c->dtype);
  g_assert_cmpfloat (contract->inputs[0].scale, ==, c->quantized_scale);
  g_assert_cmpint (contract->inputs[0].zero_point, ==, c->quantized_zero_point);
  g_assert_cmpuint (sl_graph_n_nodes (sl_model_graph (skipping)), ==, 1);
  compare (c, skipping, whole);
}

/* An input that is no picture is not made from one. */
static void
test_no_picture (void)
{
  g_autoptr (SlTfliteWriter) w = sl_tflite_writer_new ();
  g_autoptr (GError) error = NULL;
  const SlTfliteTensor values = { .name = "values",
                                  .dtype = SL_DTYPE_U8,
                                  .rank = 2,
                                  .dims = { 1, 7 },
                                  .scale = 1,
                                  .zero_point = 128 };
  SlTfliteTensor quantized = values;
  quantized.dtype = SL_DTYPE_I8;
  quantized.zero_point = 0;
  const gint32 x = sl_tflite_writer_tensor (w, &values),
               q = sl_tflite_writer_tensor (w, &quantized),
               y = sl_tflite_writer_tensor (w, &quantized);
  sl_tflite_writer_op (
    w, &(SlTfliteOp){
         .op = SL_OP_QUANTIZE, .n_inputs = 1, .inputs = { x }, .n_outputs = 1, .outputs = { q } });
  sl_tflite_writer_op (
    w, &(SlTfliteOp){
         .op = SL_OP_RELU, .n_inputs = 1, .inputs = { q }, .n_outputs = 1, .outputs = { y } });
  sl_tflite_writer_io (w, 1, &x, 1, &y);
  g_autoptr (SlModel) model = load_skipping_with_info (w, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (sl_model_contract (model)->skips_input_quantize);
  g_assert_cmpint (sl_model_contract (model)->inputs[0].dtype, ==, SL_DTYPE_U8);
}

/* Errors are those of sl_model_load(). */
static void
test_missing (void)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (sl_model_load_with ("/nowhere/model.tflite", NULL,
                                     &(SlModelLoadOptions){ .skip_input_quantize = TRUE }, &error));
  expect_error (&error, SL_ERROR_OPEN, "/nowhere/model.tflite: ", NULL);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strdup_printf ("/skip-input-quantize/%s", cases[i].name);
    g_test_add_data_func (path, &cases[i], test_case);
  }
  g_test_add_func ("/skip-input-quantize/no-picture", test_no_picture);
  g_test_add_func ("/skip-input-quantize/missing", test_missing);
  return g_test_run ();
}
