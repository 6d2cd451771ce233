/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fit of a model's pictures: what is stated, else what the decoder of its outputs expects. */
#include <glib/gstdio.h>

#include "models/model.h"
#include "predict/contractspec.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define SIDE 128
#define ROWS 896

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
  g_autoptr (GError) error = NULL;
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
  sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 4, (const gint64[]){ 1, 3, SIDE, SIDE });
  sl_onnx_writer_ints (writer, "shape", 3, (const gint64[]){ 1, -1, 16 });
  sl_onnx_writer_ints (writer, "from", 2, (const gint64[]){ 0, 0 });
  sl_onnx_writer_ints (writer, "axes", 2, (const gint64[]){ 1, 2 });
  sl_onnx_writer_node (writer, "Reshape", "x,shape", "rows", NULL);
  add_rows (writer, "boxes", columns);
  add_rows (writer, "logits", 1);
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

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predict/contractspec/decoder_expects", test_decoder_expects);
  return g_test_run ();
}
