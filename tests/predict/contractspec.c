/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures by contracts: the fit, which is stated or which the decoder of the outputs expects, and
 * whole numbers of more than 8 bits. */
#include <glib/gstdio.h>

#include "models/model.h"
#include "predict/contractspec.h"
#include "predict/opendecoding.h"
#include "tests/predict/models.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define SIDE 128
#define ROWS 896

/* (transfer full): the file */
static char *
write_model (const SlOnnxWriter *writer)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  char *path = NULL;
  const gint fd = g_file_open_tmp ("sightline-XXXXXX.onnx", &path, &error);
  g_assert_no_error (error);
  g_close (fd, NULL);
  g_file_set_contents (path, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes),
                       &error);
  g_assert_no_error (error);
  return path;
}

/* Rows @from to @to of the pixels in 16 columns, of which it has the first @columns. */
static void
add_rows (SlOnnxWriter *writer, const char *name, gint64 columns)
{
  g_autofree char *inputs = g_strdup_printf ("rows,from,%s_to,axes", name),
                  *to = g_strdup_printf ("%s_to", name);
  sl_onnx_writer_ints (writer, to, 2, (const gint64[]){ ROWS, columns });
  sl_onnx_writer_node (writer, "Slice", inputs, name, NULL);
  sl_onnx_writer_output (writer, name, SL_ONNX_FLOAT);
}

/* The outputs of BlazeFace's front model, @columns a box, made of pixels. (transfer full): the file
 */
static char *
write_detector (gint64 columns)
{
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
  sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 4, (const gint64[]){ 1, 3, SIDE, SIDE });
  sl_onnx_writer_ints (writer, "shape", 3, (const gint64[]){ 1, -1, 16 });
  sl_onnx_writer_ints (writer, "from", 2, (const gint64[]){ 0, 0 });
  sl_onnx_writer_ints (writer, "axes", 2, (const gint64[]){ 1, 2 });
  sl_onnx_writer_node (writer, "Reshape", "x,shape", "rows", NULL);
  add_rows (writer, "boxes", columns);
  add_rows (writer, "logits", 1);
  return write_model (writer);
}

static void
test_decoder_expects (void)
{
  static const struct
  {
    gint64 columns;
    SlModelSettings stated;
    SlFit fit;
    gint32 pad;
    const char *decoder;
  } rows[] = {
    { 16, { 0 }, SL_FIT_LETTERBOX, 0, "mediapipe" },
    { 16, { .pad_value = "9" }, SL_FIT_LETTERBOX, 9, "mediapipe" },
    { 16, { .fit = "stretch" }, SL_FIT_STRETCH, 0, "mediapipe" },
    { 16, { .decoder = "none" }, SL_FIT_STRETCH, SL_PAD_VALUE, NULL },
    { 16, { .decoder = "no-such-decoder" }, SL_FIT_STRETCH, SL_PAD_VALUE, NULL },
    { 15, { 0 }, SL_FIT_STRETCH, SL_PAD_VALUE, NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = write_detector (rows[i].columns);
    g_autoptr (SlModel) model = sl_model_load (path, &rows[i].stated, &error);
    g_assert_no_error (error);
    g_unlink (path);
    const SlContract *contract = sl_model_contract (model);
    const SlContractFit fit = sl_contract_fit (contract);
    SlNormalizeSpec spec = { 0 };
    g_assert_true (sl_contract_spec (contract, &spec));
    g_assert_cmpint (spec.fit, ==, rows[i].fit);
    g_assert_cmpint (spec.pad_value, ==, rows[i].pad);
    g_assert_cmpint (fit.fit, ==, rows[i].fit);
    g_assert_cmpstr (fit.decoder, ==, rows[i].decoder);
    g_assert_cmpint (fit.expected, ==, rows[i].decoder != NULL ? SL_FIT_LETTERBOX : SL_FIT_STRETCH);
  }
}

/* A decoder that the model does not know of got stretched pictures. */
static void
test_fit_doubt (void)
{
  static const struct
  {
    const char *fit;
    SlAffine map;
    const char *doubt;
  } rows[] = {
    { NULL,
      { .xx = 4, .yy = 3 },
      "state decoder=mediapipe where the model is stated (slinfer, or MODEL.modelinfo), or "
      "fit=letterbox of slnormalize" },
    { NULL, { .xx = 3, .yy = 3.01 }, NULL },
    { NULL,
      { .xy = 3, .yx = -4 },
      "decoder mediapipe is for pictures with fit=letterbox, and these are stretched" },
    { "stretch", { .xx = 4, .yy = 3 }, NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlLabels) labels = NULL;
    g_autofree char *path = write_detector (16);
    const SlModelSettings stated = { .decoder = "none", .fit = (char *) rows[i].fit };
    g_autoptr (SlModel) model = sl_model_load (path, &stated, &error);
    g_assert_no_error (error);
    g_unlink (path);
    SlContract *contract = sl_model_contract (model);
    const SlDecodingSettings settings = { .decoder = "mediapipe",
                                          .threshold = -1,
                                          .max_results = 1 };
    g_autoptr (SlDecoding) decoding = sl_decoding_open (
      contract, contract->outputs, contract->n_outputs, &settings, &labels, &error);
    g_assert_no_error (error);
    g_autofree char *doubt = sl_contract_fit_doubt (contract, decoding, &rows[i].map);
    if (rows[i].doubt == NULL)
      g_assert_null (doubt);
    else if (doubt == NULL || strstr (doubt, rows[i].doubt) == NULL)
      g_error ("%s", doubt);
  }
}

/* A picture's bytes reach a model that takes them as int32 or int64; the mean of each channel
 * leaves it. */
static void
test_whole_numbers (void)
{
  static const guint types[] = { SL_ONNX_INT32, SL_ONNX_INT64 };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (types); i++) {
    const gboolean planar = i % 2 == 0;
    g_autoptr (GError) error = NULL;
    g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
    sl_onnx_writer_input (writer, "x", types[i / 2], 4,
                          planar ? (const gint64[]){ 1, 3, 6, 9 } : (const gint64[]){ 1, 6, 9, 3 });
    sl_onnx_writer_node (writer, "Cast", "x", "real", "to i 1", NULL);
    sl_onnx_writer_node (writer, "ReduceMean", "real", "y", planar ? "axes I 2,3" : "axes I 1,2",
                         "keepdims i 0", NULL);
    sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
    g_autofree char *path = write_model (writer);
    g_autoptr (SlPredictor) predictor = sl_predictor_new (path, &error);
    g_assert_no_error (error);
    g_object_set (predictor, "decoder", "vector", NULL);
    g_autoptr (SlFrame) frame = plain_frame (20, 10, 0, 128, 255);
    g_autoptr (SlPredictions) predictions = sl_predictor_predict (predictor, frame, &error);
    g_assert_no_error (error);
    g_unlink (path);
    guint n = 0;
    const gfloat *values = sl_predictions_get_values (predictions, &n);
    g_assert_cmpuint (n, ==, 3);
    g_assert_cmpfloat (values[0], ==, 0);
    g_assert_cmpfloat (values[1], ==, 128);
    g_assert_cmpfloat (values[2], ==, 255);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predict/contractspec/decoder_expects", test_decoder_expects);
  g_test_add_func ("/predict/contractspec/fit_doubt", test_fit_doubt);
  g_test_add_func ("/predict/contractspec/whole_numbers", test_whole_numbers);
  return g_test_run ();
}
